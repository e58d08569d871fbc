package catalog

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/minipg/minipg/pgerr"
)

// A payload is one byte of version and then operations: a kind and, for puts, key and
// value; for deletes, the key; for touched, a database and the OIDs of the relations whose
// descriptors changed. Lengths and numbers are uvarints.
const (
	payloadVersion = 1

	payloadPut     = 'P'
	payloadDelete  = 'D'
	payloadTouched = 'T'
)

// Batch is the payload of the commit record, nil if nothing changed.
func (t *Txn) Batch() []byte {
	if t.over.n == 0 {
		return nil
	}
	b := []byte{payloadVersion}
	for oid := range t.touched {
		b = append(b, payloadTouched)
		b = binary.AppendUvarint(b, uint64(t.db))
		b = binary.AppendUvarint(b, uint64(oid))
	}
	t.over.ascend("", func(e *entry) {
		kind := byte(payloadPut)
		if e.op == opDelete {
			kind = payloadDelete
		}
		b = append(b, kind)
		b = binary.AppendUvarint(b, uint64(len(e.key)))
		b = append(b, e.key...)
		if kind == payloadPut {
			b = binary.AppendUvarint(b, uint64(len(e.val)))
			b = append(b, e.val...)
		}
	})
	return b
}

// Apply makes a payload of Txn.Batch part of the committed state. Replay calls it too.
func (c *Catalog) Apply(payload []byte) error {
	if len(payload) == 0 {
		return nil
	}
	c.applyMu.Lock()
	defer c.applyMu.Unlock()
	batch := c.db.NewBatch()
	defer func() { _ = batch.Close() }()
	var inv invalidation
	err := readPayload(payload, func(kind byte, key, val []byte) error {
		inv.key(key)
		if kind == payloadDelete {
			return batch.Delete(key, nil)
		}
		return batch.Set(key, val, nil)
	}, inv.touched)
	if err != nil {
		return err
	}
	if err := batch.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("apply catalog changes: %w", err)
	}
	// Invariant 2: the rows are there, now the counter moves.
	c.cache.invalidate(c, &inv)
	return nil
}

func readPayload(p []byte, op func(kind byte, key, val []byte) error, touched func(db, rel OID)) error {
	if p[0] != payloadVersion {
		return errPayload()
	}
	p = p[1:]
	num := func() (uint64, bool) {
		v, n := binary.Uvarint(p)
		if n <= 0 {
			return 0, false
		}
		p = p[n:]
		return v, true
	}
	bytes := func() ([]byte, bool) {
		n, ok := num()
		if !ok || n > uint64(len(p)) {
			return nil, false
		}
		b := p[:n:n]
		p = p[n:]
		return b, true
	}
	for len(p) > 0 {
		kind := p[0]
		p = p[1:]
		if kind == payloadTouched {
			db, ok := num()
			rel, ok2 := num()
			if !ok || !ok2 {
				return errPayload()
			}
			touched(OID(db), OID(rel))
			continue
		}
		key, ok := bytes()
		if !ok || len(key) < keyPrefixLen || kind != payloadPut && kind != payloadDelete {
			return errPayload()
		}
		var val []byte
		if kind == payloadPut {
			if val, ok = bytes(); !ok {
				return errPayload()
			}
		}
		if err := op(kind, key, val); err != nil {
			return err
		}
	}
	return nil
}

func errPayload() error {
	return pgerr.New(pgerr.DataCorrupted, "invalid catalog payload in commit record")
}
