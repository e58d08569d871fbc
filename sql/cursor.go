package sql

import (
	"math"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/parse"
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

// heldRows are rows of a cursor that were read already, so that it can go back.
type heldRows struct {
	rows [][]types.Datum
}

func (h *heldRows) close() {}

func (h *heldRows) add(b *types.Batch, cols int) {
	rows := b.Rows()
	for k := range rows.Len() {
		row := make([]types.Datum, cols)
		for c := range cols {
			row[c] = b.Cols[c].Datum(rows.At(k)).Clone()
		}
		h.rows = append(h.rows, row)
	}
}

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
	c, err := s.compile(u.ctx, n.Query, u.text, nil, nil)
	if err != nil {
		return "", err
	}
	if c.writes && (hold || n.Options&(cursorScroll|cursorInsensitive) != 0) {
		what := "SCROLL"
		switch {
		case hold:
			what = "WITH HOLD"
		case n.Options&cursorInsensitive != 0:
			what = "INSENSITIVE"
		}
		return "", pgerr.New(pgerr.FeatureNotSupported, "DECLARE %s CURSOR ... FOR UPDATE is not supported", what)
	}
	if _, err := s.lockAll(u.ctx, c); err != nil {
		return "", err
	}
	p := &portal{
		name: n.Portalname, c: c, declared: true, hold: hold, binary: n.Options&cursorBinary != 0,
		scroll: n.Options&cursorNoScroll == 0, noScroll: n.Options&cursorNoScroll != 0, created: s.srv.now(),
		level: len(s.block.savepoints), held: &heldRows{},
		stmt: &prepared{text: text, stmt: stmt, c: c, cols: c.cols},
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

// pull reads rows of the cursor until at least n are held, or all are.
func (u *utility) pull(p *portal, n int64) error {
	if p.failed {
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", p.name)
	}
	for int64(len(p.held.rows)) < n && !p.done {
		want := n - int64(len(p.held.rows))
		if want > math.MaxInt32 {
			want = 0
		}
		sink := holdSink{p}
		_, done, err := p.run.Fetch(u.ctx, want, sink)
		if err != nil {
			p.failed = true
			u.s.finishPortal(p)
			return err
		}
		if done {
			p.done = true
			u.s.finishPortal(p)
		}
	}
	return nil
}

type holdSink struct{ p *portal }

func (h holdSink) Batch(b *types.Batch) error {
	h.p.held.add(b, len(h.p.cols))
	return nil
}

// fetch moves a cursor and, unless it is MOVE, sends the rows it passes.
func (u *utility) fetch(n *pg_query.FetchStmt) (string, error) {
	p, ok := u.s.portals[n.Portalname]
	if !ok || !p.declared && p.held == nil {
		return "", pgerr.New(pgerr.InvalidCursorName, "cursor \"%s\" does not exist", n.Portalname)
	}
	if !n.Ismove {
		u.begin(p.cols)
	}
	sent, err := u.moveCursor(p, n)
	if err != nil {
		return "", err
	}
	if n.Ismove {
		return countTag("MOVE", sent), nil
	}
	return countTag("FETCH", sent), nil
}

// A cursor's position is that of the row it is on: 0 before the first, length+1 behind the last.
func (u *utility) moveCursor(p *portal, n *pg_query.FetchStmt) (int64, error) {
	const all = math.MaxInt64
	count := n.HowMany
	if count == all || count > math.MaxInt32*int64(1000) {
		count = math.MaxInt32 * int64(1000)
	}
	forward := func(k int64) (int64, error) { return u.walk(p, k, 1, n.Ismove) }
	backward := func(k int64) (int64, error) {
		if k > 0 && !p.scroll {
			return 0, errNoScroll()
		}
		return u.walk(p, k, -1, n.Ismove)
	}
	switch n.Direction {
	case pg_query.FetchDirection_FETCH_FORWARD:
		switch {
		case count > 0:
			return forward(count)
		case count < 0:
			return backward(-count)
		}
		return u.refetch(p, n.Ismove)
	case pg_query.FetchDirection_FETCH_BACKWARD:
		switch {
		case count > 0:
			return backward(count)
		case count < 0:
			return forward(-count)
		}
		return u.refetch(p, n.Ismove)
	case pg_query.FetchDirection_FETCH_ABSOLUTE:
		return u.absolute(p, n.HowMany, n.Ismove)
	}
	return u.absolute(p, p.position+n.HowMany, n.Ismove)
}

func errNoScroll() error {
	return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// walk passes k rows in a direction and ends on the last, or beside the end if there are fewer.
func (u *utility) walk(p *portal, k, step int64, quiet bool) (int64, error) {
	var n int64
	for n < k {
		next := p.position + step
		if step > 0 {
			chunk := next
			if left := k - n; left < 4096 {
				chunk = next + left - 1
			} else {
				chunk = next + 4095
			}
			if err := u.pull(p, chunk); err != nil {
				return n, err
			}
		}
		if next < 1 {
			p.position = 0
			return n, nil
		}
		if next > int64(len(p.held.rows)) {
			p.position = int64(len(p.held.rows)) + 1
			return n, nil
		}
		p.position = next
		n++
		if !quiet {
			if err := u.sendHeld(p, next-1); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (u *utility) refetch(p *portal, quiet bool) (int64, error) {
	if p.position < 1 || p.position > int64(len(p.held.rows)) {
		return 0, nil
	}
	if !quiet {
		return 1, u.sendHeld(p, p.position-1)
	}
	return 1, nil
}

func (u *utility) absolute(p *portal, at int64, quiet bool) (int64, error) {
	if at < 0 {
		if err := u.pull(p, math.MaxInt64); err != nil {
			return 0, err
		}
		at = int64(len(p.held.rows)) + 1 + at
	}
	if at <= p.position && !p.scroll && at != 0 {
		return 0, errNoScroll()
	}
	if at < 1 {
		p.position = 0
		return 0, nil
	}
	p.position = at - 1
	if err := u.pull(p, at); err != nil {
		return 0, err
	}
	if at > int64(len(p.held.rows)) {
		p.position = int64(len(p.held.rows)) + 1
		return 0, nil
	}
	p.position = at
	if quiet {
		return 1, nil
	}
	return 1, u.sendHeld(p, at-1)
}

// sendHeld sends a row that was read before.
func (u *utility) sendHeld(p *portal, at int64) error {
	values := make([][]byte, len(p.cols))
	for i, d := range p.held.rows[at] {
		if d.Null {
			continue
		}
		if p.cols[i].Format == 1 {
			values[i] = types.Send(p.cols[i].Type, d, []byte{}, &u.s.env)
		} else {
			values[i] = types.Out(p.cols[i].Type, d, []byte{}, &u.s.env)
		}
	}
	return u.w.DataRow(values)
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

// holdCursors reads the holdable cursors to their end before their transaction commits.
func (s *Session) holdCursors(u *utility) error {
	for _, p := range s.portals {
		if p.hold && !p.done && p.run != nil {
			if err := u.pull(p, math.MaxInt64); err != nil {
				return err
			}
		}
	}
	return nil
}
