package txn

import "github.com/minipg/minipg/pgerr/assert"

// comboCIDs stand for pairs of commands: a tuple has room for one number, and a
// transaction that deletes what it inserted needs both.
type comboCIDs struct {
	pairs []comboPair
	byCID map[comboPair]CID
}

type comboPair struct{ cmin, cmax CID }

func (c *comboCIDs) reset() {
	if len(c.pairs) > 0 {
		c.pairs, c.byCID = nil, nil
	}
}

// Combo returns the combo command for a tuple made at cmin and deleted at cmax,
// both of this transaction.
func (tx *Tx) Combo(cmin, cmax CID) CID {
	p := comboPair{cmin, cmax}
	if cid, ok := tx.combos.byCID[p]; ok {
		return cid
	}
	if tx.combos.byCID == nil {
		tx.combos.byCID = make(map[comboPair]CID)
	}
	cid := CID(len(tx.combos.pairs))
	tx.combos.pairs = append(tx.combos.pairs, p)
	tx.combos.byCID[p] = cid
	return cid
}

// ResolveCombo returns what Combo was given.
func (tx *Tx) ResolveCombo(combo CID) (cmin, cmax CID) {
	assert.That(int(combo) < len(tx.combos.pairs), "combo command %d of %d", combo, len(tx.combos.pairs))
	p := tx.combos.pairs[combo]
	return p.cmin, p.cmax
}
