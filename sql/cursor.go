package sql

import (
	"context"
	"math"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// The bits of DeclareCursorStmt.options.
const (
	cursorBinary      = 0x0001
	cursorScroll      = 0x0002
	cursorNoScroll    = 0x0004
	cursorInsensitive = 0x0008
	cursorHold        = 0x0020
)

// declare makes a cursor.
func (u *utility) declare(n *pg_query.DeclareCursorStmt) (string, error) {
	s := u.s
	hold := n.Options&cursorHold != 0
	if !hold {
		if err := s.inBlock("DECLARE CURSOR"); err != nil {
			return "", err
		}
	}
	if n.Options&cursorScroll != 0 && n.Options&cursorNoScroll != 0 {
		return "", pgerr.New(pgerr.InvalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL")
	}
	if n.Portalname == "" {
		return "", pgerr.New(pgerr.InvalidCursorName, "invalid cursor name: must not be empty")
	}
	if _, dup := s.portals[n.Portalname]; dup {
		return "", pgerr.New(pgerr.DuplicateCursor, "cursor \"%s\" already exists", n.Portalname)
	}
	stmt := &parse.Stmt{Node: n.Query, Start: u.stmt.Start, End: u.stmt.End}
	text := u.statementText()
	c, marks, err := s.compileCursor(u.ctx, n.Query, u.text)
	if err != nil {
		return "", err
	}
	if err := cursorAllowed(c, n.Options); err != nil {
		return "", err
	}
	if _, err := s.lockAll(u.ctx, c); err != nil {
		return "", err
	}
	p := &portal{
		name: n.Portalname, c: c, declared: true, hold: hold, binary: n.Options&cursorBinary != 0,
		scroll: n.Options&cursorScroll != 0, created: s.srv.now(), level: len(s.block.savepoints),
		marks: marks,
		stmt:  &prepared{text: text, stmt: stmt, c: c, cols: c.cols},
	}
	if n.Options&(cursorScroll|cursorNoScroll) == 0 {
		p.scroll = !c.writes && scansBackward(c.prog.Plan().Root)
	}
	if p.scroll {
		p.held = s.newRowBuffer(c)
	}
	format := int16(0)
	if p.binary {
		format = 1
	}
	if err := p.setFormats(c.cols, []int16{format}); err != nil {
		return "", err
	}
	s.portals[n.Portalname] = p
	s.openPortal(p)
	return "DECLARE CURSOR", nil
}

// cursorAllowed refuses cursors over what changes rows, and over locked rows those that PostgreSQL refuses.
func cursorAllowed(c *compiled, options int32) error {
	p := c.prog.Plan()
	if p.HasModifyingCTE {
		return pgerr.New(pgerr.FeatureNotSupported, "DECLARE CURSOR must not contain data-modifying statements in WITH")
	}
	if !c.writes {
		return nil
	}
	var what, kind string
	code, fault := pgerr.FeatureNotSupported, "supported"
	switch {
	case options&cursorHold != 0:
		what, kind = "CURSOR WITH HOLD", "Holdable"
	case options&cursorScroll != 0:
		what, kind = "SCROLL CURSOR", "Scrollable"
	case options&cursorInsensitive != 0:
		what, kind = "INSENSITIVE CURSOR", "Insensitive"
		code, fault = pgerr.InvalidCursorDefinition, "valid"
	default:
		return nil
	}
	return pgerr.New(code, "DECLARE %s ... %s is not %s", what, lockClause(p.Root), fault).
		WithDetail("%s cursors must be READ ONLY.", kind)
}

// lockClause names the first row lock of a plan.
func lockClause(n plan.Node) string {
	if l, ok := n.(*plan.LockRows); ok {
		return [...]string{
			analyze.ForKeyShare: "FOR KEY SHARE", analyze.ForShare: "FOR SHARE",
			analyze.ForNoKeyUpdate: "FOR NO KEY UPDATE", analyze.ForUpdate: "FOR UPDATE",
		}[l.Marks[0].Strength]
	}
	for _, in := range n.Inputs() {
		if name := lockClause(in); name != "" {
			return name
		}
	}
	return ""
}

// scansBackward tells whether PostgreSQL could run a plan like n backward, and so makes its cursor scrollable
// though nobody asked. Follows ExecSupportsBackwardScan.
func scansBackward(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.SeqScan, *plan.CatalogScan, *plan.IndexScan, *plan.TidScan, *plan.FunctionScan, *plan.ValuesScan,
		*plan.CTEScan, *plan.Material, *plan.Sort:
		return true
	case *plan.Result, *plan.Append, *plan.SubqueryScan, *plan.Limit:
		for _, in := range n.Inputs() {
			if !scansBackward(in) {
				return false
			}
		}
		return len(n.Inputs()) > 0
	}
	return false
}

func (s *Session) newRowBuffer(c *compiled) *exec.RowBuffer {
	return c.prog.NewRowBuffer(s.tempFiles(), s.cached.workMem)
}

// cursor is a FETCH or MOVE under way. A portal is at its start, on the row number position, or at its end,
// where position is that of the last row. Follows DoPortalRunFetch.
type cursor struct {
	s    *Session
	ctx  context.Context //nolint:containedctx // lives as long as the statement
	p    *portal
	sink *rowSink // nil for MOVE
}

// allRows as a count.
const allRows = math.MaxInt64

// fetch moves a cursor and, unless it is MOVE, sends the rows it passes.
func (u *utility) fetch(n *pg_query.FetchStmt) (string, error) {
	p, ok := u.s.portals[n.Portalname]
	if !ok || p.c == nil {
		return "", pgerr.New(pgerr.InvalidCursorName, "cursor \"%s\" does not exist", n.Portalname)
	}
	c := &cursor{s: u.s, ctx: u.ctx, p: p}
	if !n.Ismove {
		c.sink = &rowSink{}
		c.sink.reset(u.w, u.begin(p.cols), &u.s.env)
	}
	count, err := c.fetch(n.Direction, n.HowMany)
	if err != nil {
		return "", err
	}
	if n.Ismove {
		return countTag("MOVE", count), nil
	}
	return countTag("FETCH", count), nil
}

func (c *cursor) fetch(direction pg_query.FetchDirection, count int64) (int64, error) {
	switch direction {
	case pg_query.FetchDirection_FETCH_BACKWARD:
		count = -count
	case pg_query.FetchDirection_FETCH_ABSOLUTE:
		return c.absolute(count)
	case pg_query.FetchDirection_FETCH_RELATIVE:
		return c.relative(count)
	}
	switch {
	case count > 0:
		return c.forward(count, c.sink)
	case count < 0:
		return c.backward(-count, c.sink)
	}
	return c.again()
}

func (c *cursor) absolute(count int64) (int64, error) {
	p := c.p
	switch {
	case count < 0:
		if _, err := c.forward(allRows, nil); err != nil {
			return 0, err
		}
		if count < -1 {
			if _, err := c.backward(-count-1, nil); err != nil {
				return 0, err
			}
		}
		return c.backward(1, c.sink)
	case count == 0:
		return 0, c.rewind()
	case count-1 <= p.position/2:
		if err := c.rewind(); err != nil {
			return 0, err
		}
		if _, err := c.forward(count-1, nil); err != nil {
			return 0, err
		}
		return c.forward(1, c.sink)
	}
	at := p.position
	if p.atEnd {
		at++
	}
	var err error
	if count <= at {
		_, err = c.backward(at-count+1, nil)
	} else {
		_, err = c.forward(count-at-1, nil)
	}
	if err != nil {
		return 0, err
	}
	return c.forward(1, c.sink)
}

func (c *cursor) relative(count int64) (int64, error) {
	step := c.forward
	if count < 0 {
		step, count = c.backward, -count
	}
	if count == 0 {
		return c.again()
	}
	if count > 1 {
		if _, err := step(count-1, nil); err != nil {
			return 0, err
		}
	}
	return step(1, c.sink)
}

// again fetches the row the cursor is on.
func (c *cursor) again() (int64, error) {
	p := c.p
	if p.position == 0 || p.atEnd {
		return 0, nil
	}
	if c.sink == nil {
		return 1, nil
	}
	if _, err := c.backward(1, nil); err != nil {
		return 0, err
	}
	return c.forward(1, c.sink)
}

func (c *cursor) rewind() error {
	p := c.p
	if p.position == 0 && !p.atEnd {
		return nil
	}
	if !p.scroll {
		return errNoScroll()
	}
	p.position, p.atEnd = 0, false
	return nil
}

func errNoScroll() error {
	return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// forward passes count rows, and tells how many there were.
func (c *cursor) forward(count int64, sink *rowSink) (int64, error) {
	p := c.p
	if p.atEnd || count <= 0 {
		return 0, nil
	}
	var n int64
	var err error
	if p.held == nil {
		n, err = c.stream(count, sink)
	} else {
		n, err = c.passHeld(count, sink)
	}
	if err != nil {
		return 0, err
	}
	p.atEnd = n < count
	p.position += n
	return n, nil
}

// stream reads rows that nobody will ask for again.
func (c *cursor) stream(count int64, sink *rowSink) (int64, error) {
	if count == allRows {
		count = 0
	}
	return c.read(count, exec.SinkFunc(func(b *types.Batch) error {
		c.p.marks.note(b)
		if sink == nil {
			return nil
		}
		return sink.Batch(b)
	}))
}

// passHeld passes rows that are, or will be, held.
func (c *cursor) passHeld(count int64, sink *rowSink) (n int64, err error) {
	p := c.p
	for n < count {
		at := p.position + n - p.heldFrom
		if missing := at + min(count-n, heldAhead) - p.held.Len(); missing > 0 && !p.done {
			if _, err := c.read(missing, p.held); err != nil {
				return 0, err
			}
		}
		b, err := p.held.Rows(at, count-n)
		if err != nil {
			return 0, err
		}
		if b == nil {
			return n, nil
		}
		if sink != nil {
			if err := sink.Batch(b); err != nil {
				return 0, err
			}
		}
		n += int64(b.Len())
	}
	return n, nil
}

// heldAhead is how many rows are read at once into what is held.
const heldAhead = 1024

// read runs the plan for at most count more rows, all of them if count is 0.
func (c *cursor) read(count int64, sink exec.Sink) (int64, error) {
	p := c.p
	if p.failed {
		return 0, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", p.name)
	}
	if p.done {
		return 0, nil
	}
	c.s.openPortal(p)
	n, done, err := p.run.Fetch(c.ctx, count, sink)
	if err != nil {
		p.failed = true
		c.s.finishPortal(p)
		return 0, err
	}
	if done {
		p.done = true
		c.s.finishPortal(p)
	}
	return n, nil
}

// backward passes count rows in the other direction.
func (c *cursor) backward(count int64, sink *rowSink) (int64, error) {
	p := c.p
	if !p.scroll {
		return 0, errNoScroll()
	}
	next := p.position // the row before the one the cursor is on
	if !p.atEnd {
		next--
	}
	n := max(0, min(count, next))
	if sink != nil {
		for i := range n {
			b, err := p.held.Rows(next-1-i, 1)
			if err != nil {
				return 0, err
			}
			if err := sink.Batch(b); err != nil {
				return 0, err
			}
		}
	}
	p.atEnd = false
	if p.position = next - n + 1; n < count {
		p.position = 0
	}
	return n, nil
}

func (u *utility) closeCursor(n *pg_query.ClosePortalStmt) (string, error) {
	if n.Portalname == "" {
		for name := range u.s.portals {
			u.s.closePortal(name)
		}
		return "CLOSE CURSOR ALL", nil
	}
	if _, ok := u.s.portals[n.Portalname]; !ok {
		return "", pgerr.New(pgerr.InvalidCursorName, "cursor \"%s\" does not exist", n.Portalname)
	}
	u.s.closePortal(n.Portalname)
	return "CLOSE CURSOR", nil
}

// holdCursors keeps what the holdable cursors have yet to show, before their transaction commits.
func (s *Session) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if !p.hold || p.kept {
			continue
		}
		if p.held == nil {
			p.held, p.heldFrom = s.newRowBuffer(p.c), p.position
		}
		c := &cursor{s: s, ctx: ctx, p: p}
		if _, err := c.read(0, p.held); err != nil {
			return err
		}
		p.kept = true
	}
	return nil
}
