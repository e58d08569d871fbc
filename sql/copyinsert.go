package sql

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/ddl"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

const (
	// copyBatchRows is how many rows COPY FROM collects before it inserts them.
	copyBatchRows  = 1000
	copyBatchBytes = 256 << 10 // or as soon as they are this long
	// copyFirstRows, copyMostRows and copyEncodedBytes bound batches of rows that are only kept encoded: waking the other goroutine
	// takes as long as some thousand short rows, but a small COPY is to keep two goroutines busy, too.
	copyFirstRows    = 4096
	copyMostRows     = 16384
	copyEncodedBytes = 512 << 10
	// copyBatches are on their way at a time: one being read, two waiting, one being inserted.
	copyBatches = 4
)

// copyBatch is some rows of COPY FROM on their way into the table.
type copyBatch struct {
	n         int
	bytes     int    // of data they were read from
	firstLine int64  // of the first row
	arena     []byte // the rows' values
	encoded   engine.EncodedRows
	plain     bool // encoded holds all rows
	// kept tells that rows and lines hold the rows; else row is the one being read, and they are encoded only.
	kept  bool
	row   []types.Datum
	rows  [][]types.Datum
	lines []int64 // of each row
	// err is why the batch could not be inserted, failedLine the line of the row at fault, if one is.
	err        error
	failedLine int64
	panicked   any
}

// keep makes room for rows that are kept.
func (b *copyBatch) keep() {
	b.kept = true
	if b.rows != nil {
		return
	}
	b.lines = make([]int64, copyBatchRows)
	columns := len(b.row)
	backing := make([]types.Datum, copyBatchRows*columns)
	for i := range copyBatchRows {
		row := backing[i*columns : (i+1)*columns]
		copy(row, b.row)
		b.rows = append(b.rows, row)
	}
}

func (b *copyBatch) reset(kept bool) {
	b.n, b.bytes, b.arena, b.kept, b.plain = 0, 0, b.arena[:0], kept, false
	b.encoded.Reset()
	b.err, b.failedLine = nil, 0
}

// line is that of row i.
func (b *copyBatch) line(i int) int64 {
	if b.kept {
		return b.lines[i]
	}
	return b.firstLine + int64(i) // each line is a row
}

// copyInsert is the table COPY FROM fills. Where reading a row takes nothing of the session that
// inserting one does, a second goroutine inserts a batch while the next is read and encoded.
type copyInsert struct {
	u     *utility
	rel   *catalog.Relation
	table *engine.Table
	check *rowChecker
	where ddl.RowFunc // nil: every row
	opts  engine.InsertOptions
	atts  []int
	cur   *copyBatch // being filled
	// failedLine is that of the row that could not be inserted, 0 if the fault is not a row's.
	failedLine int64
	freeze     bool
	tids       []engine.TID
	total      int64

	alone  bool            // rows are read without the session
	kept   bool            // rows are needed beside their encoded form
	most   int             // rows of a batch that keeps none
	work   chan *copyBatch // to the inserting goroutine; nil while there is none
	done   chan *copyBatch // and back
	made   []*copyBatch
	mem    *copyMemory
	failed error // of a batch; nothing is inserted after it
}

func (u *utility) newCopyInsert(rel *catalog.Relation, atts []int, o *copyOptions) (*copyInsert, error) {
	s := u.s
	t, err := s.eng.OpenTable(u.ctx, rel)
	if err != nil {
		return nil, err
	}
	c := &copyInsert{u: u, rel: rel, table: t, atts: atts, freeze: o.freeze, mem: copyMemories.Get().(*copyMemory)}
	c.opts.Frozen = o.freeze
	c.opts.Ring = s.srv.eng.Pool().NewRing(storage.RingBulkWrite)
	c.check, err = s.newRowChecker(u.ctx, rel, atts)
	return c, err
}

// begin makes ready for the first row.
func (c *copyInsert) begin() {
	c.alone = c.where == nil && c.readsAlone()
	c.kept = !c.alone || c.table.HasIndexes()
	c.most = copyFirstRows
	c.cur = c.newBatch()
}

func (c *copyInsert) newBatch() *copyBatch {
	b := &copyBatch{row: c.check.emptyRow()}
	before := c.cur
	c.made = append(c.made, b)
	if c.kept {
		b.keep()
		return b
	}
	b.encoded.Rows = c.mem.take()
	if cap(b.encoded.Bytes) == 0 && before != nil { // was full, and so will be this one
		b.encoded.Bytes = make([]byte, 0, cap(before.encoded.Bytes))
		b.encoded.Ends = make([]int32, 0, cap(before.encoded.Ends))
	}
	return b
}

// checkFreeze refuses FREEZE where other transactions could see the rows too early.
func (c *copyInsert) checkFreeze() error {
	if c.freeze && !c.u.s.eng.MadeHere(c.rel.File) {
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState,
			"cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction")
	}
	return nil
}

// readsAlone tells whether no expression is computed for a row and no type's input looks anything up.
func (c *copyInsert) readsAlone() bool {
	if !c.check.constant() || !c.table.InsertsAlone() {
		return false
	}
	for _, att := range c.atts {
		if !readsNothing(c.rel.Attrs[att].Type) {
			return false
		}
	}
	return true
}

// readsNothing tells whether reading a value of a type looks into no catalog.
func readsNothing(t types.OID) bool {
	switch t {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Text,
		types.Varchar, types.Bpchar, types.Bytea, types.Date, types.Time, types.Timestamp, types.Timestamptz,
		types.Interval, types.Uuid:
		return true
	}
	return false
}

// row is the row to fill in next, with the defaults of columns that are not copied.
func (c *copyInsert) row() ([]types.Datum, error) {
	b := c.cur
	if !b.kept {
		b.arena = b.arena[:0]
		return b.row, nil
	}
	row := b.rows[b.n]
	if c.alone { // there are none but nulls, and it has these
		return row, nil
	}
	return row, c.check.defaults(c.u.ctx, row)
}

// room returns n bytes that last until the batch is inserted, or the row is encoded.
func (c *copyInsert) room(n int) []byte {
	b := c.cur
	if len(b.arena)+n > cap(b.arena) {
		size := 16 << 10
		if b.kept {
			size = 2 * copyBatchBytes
		}
		b.arena = make([]byte, 0, max(size, n)) // rows go on using the old one
	}
	at := len(b.arena)
	b.arena = b.arena[:at+n]
	return b.arena[at : at+n : at+n]
}

// keep copies bytes into memory that lasts as long as room's.
func (c *copyInsert) keep(b []byte) []byte {
	to := c.room(len(b))
	copy(to, b)
	return to
}

// padded is keep of bytes with blanks behind them up to n.
func (c *copyInsert) padded(b []byte, n int) []byte {
	to := c.room(n)
	for rest := to[copy(to, b):]; len(rest) > 0; {
		rest = rest[copy(rest, blanks):]
	}
	return to
}

// blanks are some to copy from.
const blanks = "                                                                "

// keepLine is keep of bytes that last until the next line is read.
func (c *copyInsert) keepLine(b []byte) []byte {
	if !c.cur.kept {
		return b
	}
	return c.keep(b)
}

// add takes the row that was filled in, from a line.
func (c *copyInsert) add(row []types.Datum, size int, line int64) error {
	if c.where != nil {
		d, err := c.where(c.u.ctx, row)
		if err != nil {
			return err
		}
		if d.Null || !d.Bool() {
			return nil
		}
	}
	if !c.alone || !c.check.checker.Holds(row) {
		if err := c.check.row(c.u.ctx, row); err != nil {
			return err
		}
	}
	b := c.cur
	c.total++
	if !b.kept {
		return c.addEncoded(b, row, size, line)
	}
	b.lines[b.n] = line
	b.n++
	b.bytes += size
	if b.n == len(b.rows) || b.bytes >= copyBatchBytes {
		return c.flush()
	}
	return nil
}

// addEncoded adds a row to a batch that keeps none.
func (c *copyInsert) addEncoded(b *copyBatch, row []types.Datum, size int, line int64) error {
	if !c.table.Encode(&b.encoded, row) {
		return c.addLong(row, size, line)
	}
	if b.n == 0 {
		b.firstLine = line
	}
	b.n++
	if b.n >= c.most || len(b.encoded.Bytes) >= copyEncodedBytes {
		c.most = min(2*c.most, copyMostRows)
		return c.flush()
	}
	return nil
}

// addLong adds a row that is to be made shorter when it is inserted: those before it are a batch of their own, and
// the next ones stay beside it, for there may be many like it.
func (c *copyInsert) addLong(row []types.Datum, size int, line int64) error {
	before := c.cur
	if before.n > 0 {
		held := make([]types.Datum, len(row))
		for i := range row {
			held[i] = row[i].Clone() // before and its memory are given away
		}
		row = held
		if err := c.flush(); err != nil {
			return err
		}
	}
	b := c.cur
	b.keep()
	to := b.rows[0]
	for i := range row {
		to[i] = row[i]
		if row[i].B != nil {
			to[i].B = c.keep(row[i].B)
		}
	}
	b.lines[0], b.n, b.bytes = line, 1, size
	if size >= copyBatchBytes {
		return c.flush()
	}
	return nil
}

// flush inserts the batch, or has it inserted; the error may be an earlier batch's then.
func (c *copyInsert) flush() error {
	b := c.cur
	if !c.alone {
		c.insert(c.u.ctx, b)
		return c.take(b)
	}
	c.encode(b)
	if c.work == nil {
		c.start()
	}
	c.work <- b
	if len(c.made) < copyBatches {
		c.cur = c.newBatch()
		return nil
	}
	return c.take(<-c.done)
}

// encode encodes the rows that are not yet.
func (c *copyInsert) encode(b *copyBatch) {
	b.plain = true
	if !b.kept {
		return
	}
	b.encoded.Reset()
	for _, row := range b.rows[:b.n] {
		if !c.table.Encode(&b.encoded, row) {
			b.plain = false
			return
		}
	}
}

// start starts the inserting goroutine; stop ends it.
func (c *copyInsert) start() {
	c.work, c.done = make(chan *copyBatch, copyBatches), make(chan *copyBatch, copyBatches)
	go func(ctx context.Context, work <-chan *copyBatch, done chan<- *copyBatch) {
		defer close(done)
		defer c.u.s.eng.Lend()()
		failed := false
		for b := range work {
			if !failed {
				c.insertGuarded(ctx, b)
			}
			failed = failed || b.err != nil || b.panicked != nil
			done <- b
		}
	}(c.u.ctx, c.work, c.done)
}

// insertGuarded is insert on a goroutine whose panic nobody else would meet.
func (c *copyInsert) insertGuarded(ctx context.Context, b *copyBatch) {
	defer func() { b.panicked = recover() }()
	c.insert(ctx, b)
}

// insert inserts a batch and notes in it what came of that.
func (c *copyInsert) insert(ctx context.Context, b *copyBatch) {
	failed := -1
	opts := c.opts
	opts.FailedRow = &failed
	var rows [][]types.Datum
	if b.kept {
		rows = b.rows[:b.n]
	}
	if b.plain {
		c.tids, b.err = c.table.InsertEncoded(ctx, c.u.s.eng, &b.encoded, rows, c.tids[:0], opts)
	} else {
		c.tids, b.err = c.table.InsertBatch(ctx, c.u.s.eng, rows, c.tids[:0], opts)
	}
	if b.err != nil && failed >= 0 {
		b.failedLine = b.line(failed)
	}
}

// take takes a batch back that was inserted, to be filled again.
func (c *copyInsert) take(b *copyBatch) error {
	if b.panicked != nil {
		panic(b.panicked) // in the goroutine that answers for the session
	}
	err := b.err
	c.failedLine = b.failedLine
	b.reset(c.kept)
	c.cur = b
	c.failed = err
	return err
}

// finish waits for what is being inserted and, if all was read, inserts the rest. An error is that of
// the first batch that failed.
func (c *copyInsert) finish(all bool) error {
	if c.failed != nil {
		return nil // has been reported
	}
	if all && c.cur.n > 0 {
		if c.alone {
			c.encode(c.cur)
		}
		if c.work == nil {
			c.insert(c.u.ctx, c.cur)
			return c.take(c.cur)
		}
		c.work <- c.cur
	}
	if c.work == nil {
		return nil
	}
	close(c.work)
	c.work = nil
	var err error
	for b := range c.done { // until the goroutine has ended
		if err == nil {
			err = c.take(b)
		}
	}
	return err
}

// stop ends the inserting goroutine, if there is one.
func (c *copyInsert) stop() {
	if c.work == nil {
		return
	}
	close(c.work)
	c.work = nil
	var panicked any
	for b := range c.done { // until the goroutine has ended
		if b.panicked != nil {
			panicked = b.panicked
		}
	}
	if panicked != nil {
		panic(panicked)
	}
}
