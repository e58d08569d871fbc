package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/minipg/minipg/pgerr"
)

// A payload is one byte of version and then operations: a kind and, for puts, key and
// value; for patches, key, value and the set of columns that changed; for deletes, the key; for touched, a database and the OIDs of the relations whose
// descriptors changed. Lengths and numbers are uvarints.
const (
	payloadVersion = 1

	payloadPut     = 'P'
	payloadPatch   = 'U'
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
		switch {
		case e.op == opDelete:
			kind = payloadDelete
		case e.cols != 0:
			kind = payloadPatch
		}
		b = append(b, kind)
		b = binary.AppendUvarint(b, uint64(len(e.key)))
		b = append(b, e.key...)
		if kind != payloadDelete {
			b = binary.AppendUvarint(b, uint64(len(e.val)))
			b = append(b, e.val...)
		}
		if kind == payloadPatch {
			b = binary.AppendUvarint(b, e.cols)
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
	err := readPayload(payload, func(kind byte, key, val []byte, cols uint64) error {
		inv.key(key)
		switch kind {
		case payloadDelete:
			return batch.Delete(key, nil)
		case payloadPatch:
			var err error
			if val, err = c.merge(key, val, cols); err != nil || val == nil {
				return err
			}
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

// merge puts the changed columns of a row into the row as it is committed now: transactions that change
// different columns of one row without a lock (GRANT, CREATE INDEX, VACUUM) do not undo each other. It
// returns nil if the row is gone. Applying patches again, in order, over a later state gives that state
// again, since the last patch of each column is among them.
func (c *Catalog) merge(key, val []byte, cols uint64) ([]byte, error) {
	def := defOf(OID(binary.BigEndian.Uint32(key[4:])))
	if def == nil {
		return nil, errPayload()
	}
	row := make(Row, len(def.cols))
	if err := decodeRow(def, val, row); err != nil {
		return nil, err
	}
	stored, closer, err := c.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		// The first override of a built-in row, or a dropped row.
		if builtin, err := c.isBuiltin(def, row); err != nil || !builtin {
			return nil, err
		}
		return val, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	defer func() { _ = closer.Close() }()
	if stored[0] == rowDeleted {
		return nil, nil
	}
	now := make(Row, len(def.cols))
	if err := decodeRow(def, stored, now); err != nil {
		return nil, err
	}
	for i := range now {
		if cols&(1<<i) != 0 {
			now[i] = row[i]
		}
	}
	return appendRow(nil, def, now), nil
}

func readPayload(p []byte, op func(kind byte, key, val []byte, cols uint64) error, touched func(db, rel OID)) error {
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
		if !ok || len(key) < keyPrefixLen || kind != payloadPut && kind != payloadPatch && kind != payloadDelete {
			return errPayload()
		}
		var val []byte
		var cols uint64
		if kind != payloadDelete {
			if val, ok = bytes(); !ok {
				return errPayload()
			}
		}
		if kind == payloadPatch {
			if cols, ok = num(); !ok {
				return errPayload()
			}
		}
		if err := op(kind, key, val, cols); err != nil {
			return err
		}
	}
	return nil
}

func errPayload() error {
	return pgerr.New(pgerr.DataCorrupted, "invalid catalog payload in commit record")
}
