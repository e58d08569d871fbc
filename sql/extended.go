package sql

import (
	"bytes"
	"context"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// prepared is a prepared statement.
type prepared struct {
	name     string
	text     string // as pg_prepared_statements shows it
	stmt     *parse.Stmt
	declared []types.OID
	params   []types.OID // after analysis
	c        *compiled   // nil for a utility statement
	cols     []Column
	fromSQL  bool
	created  time.Time
	generic  int64
}

// portal is a bound statement on its way.
type portal struct {
	name   string
	stmt   *prepared
	c      *compiled
	params []types.Datum
	cols   []Column // with their formats
	state  exec.ExecState
	run    *exec.Execution
	snap   *txn.Snapshot
	done   bool
	failed bool
	level  int // savepoints there were when it was made
	rows   int64

	// of a cursor
	declared bool
	scroll   bool
	hold     bool
	kept     bool // of one that holds: it outlived its transaction
	binary   bool
	created  time.Time
	held     *exec.RowBuffer // rows read so far, where it can go back or outlives its transaction
	heldFrom int64           // rows that were passed before the first one held
	position int64           // see cursor
	atEnd    bool
	marks    rowMarks
	started  time.Time
}

// Parse makes a prepared statement.
func (s *Session) Parse(w ResultWriter, name, text string, declared []types.OID) (err error) {
	ctx := s.begin(w)
	s.activity.running(s, text)
	defer s.end()
	defer s.recoverBug(&err)
	p, err := s.prepare(ctx, name, text, declared)
	if err != nil {
		return s.fail(ctx, err)
	}
	if name == "" {
		s.unnamed = p
	} else {
		s.prepared[name] = p
	}
	w.ParseComplete()
	return nil
}

func (s *Session) prepare(ctx context.Context, name, text string, declared []types.OID) (*prepared, error) {
	if name == "" {
		s.dropUnnamed()
	} else if _, dup := s.prepared[name]; dup {
		return nil, pgerr.New(pgerr.DuplicatePstatement, "prepared statement %q already exists", name)
	}
	p := &prepared{name: name, text: text, declared: declared, created: s.srv.now()}
	e, err := s.statementEntry(text, declared)
	if err != nil {
		return nil, err
	}
	if e != nil {
		if found, err := s.preparedBefore(ctx, p, e); found || err != nil {
			return p, err
		}
		s.srv.metrics.PlanCacheMisses.Inc()
	}
	stmts, err := s.parseText(text)
	if err != nil {
		return nil, err
	}
	if len(stmts) > 1 {
		return nil, pgerr.New(pgerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	if len(stmts) == 0 {
		return p, nil
	}
	p.stmt = &stmts[0]
	if s.state == txFailed && !endsBlock(p.stmt.Node) {
		return nil, errFailedBlock
	}
	if err := s.ensureTransactionFor(p.stmt.Node); err != nil {
		return nil, err
	}
	if !hasPlan(p.stmt.Node) {
		p.params = declared
		p.cols, err = s.utilityColumns(ctx, p.stmt.Node)
		return p, err
	}
	types := &analyze.ParamTypes{Types: append([]types.OID(nil), declared...), Variable: true}
	p.c, err = s.compile(ctx, p.stmt.Node, text, types, nil)
	if err != nil {
		return nil, err
	}
	p.params = p.c.params
	p.cols = p.c.cols
	if e != nil && !s.eng.Catalog().Changed() {
		e.putStatement(p.c, p.stmt)
	}
	return p, nil
}

// preparedBefore fills p in from the plan of the same text, if there is one that may still be used.
// The relations are locked here as analysis would have: between Parse and Bind none may change.
func (s *Session) preparedBefore(ctx context.Context, p *prepared, e *planEntry) (found bool, err error) {
	c, stmt := e.statement(s.eng.Catalog().Version())
	if c == nil {
		return false, nil
	}
	if valid, err := s.lockAll(ctx, c); err != nil || !valid {
		return false, err
	}
	s.srv.metrics.PlanCacheHits.AddAt(s.hint(), 1)
	p.c, p.stmt, p.params, p.cols = c, stmt, c.params, c.cols
	return true, nil
}

func (s *Session) ensureTransactionFor(n *pg_query.Node) error {
	if isTransactionControl(n) {
		return nil
	}
	return s.ensureTransaction()
}

func (s *Session) dropUnnamed() {
	s.unnamed = nil
	if len(s.portals) > 0 {
		s.closePortal("")
	}
}

func (s *Session) statement(name string) (*prepared, error) {
	if name == "" {
		if s.unnamed == nil {
			return nil, pgerr.New(pgerr.InvalidSQLStatementName, "unnamed prepared statement does not exist")
		}
		return s.unnamed, nil
	}
	p, ok := s.prepared[name]
	if !ok {
		return nil, pgerr.New(pgerr.InvalidSQLStatementName, "prepared statement %q does not exist", name)
	}
	return p, nil
}

// BindMessage is what Bind carries; its slices alias the message.
type BindMessage struct {
	Portal, Statement string
	ParamFormats      []int16
	Params            [][]byte
	ResultFormats     []int16
}

// Bind makes a portal.
func (s *Session) Bind(w ResultWriter, m *BindMessage) (err error) {
	ctx := s.begin(w)
	s.arrive()
	defer s.end()
	defer s.recoverBug(&err)
	if err := s.bind(ctx, m); err != nil {
		return s.fail(ctx, err)
	}
	w.BindComplete()
	return nil
}

func (s *Session) bind(ctx context.Context, m *BindMessage) error {
	stmt, err := s.statement(m.Statement)
	if err != nil {
		return err
	}
	if n := len(m.ParamFormats); n > 1 && n != len(m.Params) {
		return pgerr.New(pgerr.ProtocolViolation,
			"bind message has %d parameter formats but %d parameters", n, len(m.Params))
	}
	if len(m.Params) != len(stmt.params) {
		return pgerr.New(pgerr.ProtocolViolation,
			"bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(m.Params), m.Statement, len(stmt.params))
	}
	if s.state == txFailed && (stmt.stmt != nil && !endsBlock(stmt.stmt.Node) || len(m.Params) > 0) {
		return errFailedBlock
	}
	if stmt.stmt != nil {
		if err := s.ensureTransactionFor(stmt.stmt.Node); err != nil {
			return err
		}
	}
	p, err := s.newPortal(m.Portal)
	if err != nil {
		return err
	}
	p.stmt = stmt
	p.level = len(s.block.savepoints)
	if err := s.bindParams(p, m); err != nil {
		return err
	}
	if stmt.c != nil {
		if err := s.freshen(ctx, stmt); err != nil {
			return err
		}
	}
	p.c = stmt.c
	if err := p.setFormats(stmt.cols, m.ResultFormats); err != nil {
		return err
	}
	s.portals[m.Portal] = p
	return nil
}

// newPortal gives an empty portal, the unnamed one again if it is free.
func (s *Session) newPortal(name string) (*portal, error) {
	if old, ok := s.portals[name]; ok {
		if name != "" {
			return nil, pgerr.New(pgerr.DuplicateCursor, "cursor %q already exists", name)
		}
		s.finishPortal(old)
		params, cols := old.params[:0], old.cols[:0]
		*old = portal{params: params, cols: cols, state: old.state}
		return old, nil
	}
	return &portal{name: name}, nil
}

// freshen compiles a prepared statement again if the catalog has changed since.
func (s *Session) freshen(ctx context.Context, p *prepared) error {
	for range maxReplans {
		valid, err := s.lockAll(ctx, p.c)
		if err != nil {
			return err
		}
		if valid {
			return nil
		}
		types := &analyze.ParamTypes{Types: append([]types.OID(nil), p.params...)}
		c, err := s.compile(ctx, p.stmt.Node, p.text, types, nil)
		if err != nil {
			return err
		}
		if !sameColumns(c.cols, p.cols) {
			return pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
		}
		p.c = c
	}
	return pgerr.New(pgerr.InternalError, "the catalog keeps changing")
}

func sameColumns(a, b []Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Type != b[i].Type || a[i].Typmod != b[i].Typmod {
			return false
		}
	}
	return true
}

func (s *Session) bindParams(p *portal, m *BindMessage) error {
	p.params = p.params[:0]
	for i, raw := range m.Params {
		typ := p.stmt.params[i]
		if raw == nil {
			p.params = append(p.params, types.NullDatum)
			continue
		}
		format := int16(0)
		switch len(m.ParamFormats) {
		case 0:
		case 1:
			format = m.ParamFormats[0]
		default:
			format = m.ParamFormats[i]
		}
		d, err := s.param(typ, format, raw)
		if err != nil {
			e := pgerr.From(err)
			where := "unnamed portal parameter $" + strconv.Itoa(i+1)
			if m.Portal != "" {
				where = "portal \"" + m.Portal + "\" parameter $" + strconv.Itoa(i+1)
			}
			if format == 0 {
				where += " = '...'" // log_parameter_max_length_on_error is 0
			}
			return e.AppendWhere("%s", where)
		}
		p.params = append(p.params, d)
	}
	return nil
}

func (s *Session) param(typ types.OID, format int16, raw []byte) (types.Datum, error) {
	switch format {
	case 0:
		if err := checkEncoding(raw); err != nil {
			return types.Datum{}, err
		}
		d, err := types.In(typ, -1, raw, &s.env)
		return d.Clone(), err
	case 1:
		d, err := types.Recv(typ, -1, raw, &s.env)
		return d.Clone(), err
	}
	return types.Datum{}, pgerr.New(pgerr.InvalidParameterValue, "unsupported format code: %d", format)
}

// checkEncoding refuses text that is not UTF-8 without NUL.
func checkEncoding(raw []byte) error {
	if utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 {
		return nil
	}
	return parse.InvalidEncoding(string(raw))
}

func (p *portal) setFormats(cols []Column, formats []int16) error {
	if len(formats) > 1 && len(formats) != len(cols) {
		return pgerr.New(pgerr.ProtocolViolation,
			"bind message has %d result formats but query has %d columns", len(formats), len(cols))
	}
	p.cols = append(p.cols[:0], cols...)
	for i := range p.cols {
		switch len(formats) {
		case 0:
			p.cols[i].Format = 0
		case 1:
			p.cols[i].Format = formats[0]
		default:
			p.cols[i].Format = formats[i]
		}
		if f := p.cols[i].Format; f != 0 && f != 1 {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid format code: %d", f)
		}
	}
	return nil
}

// DescribeStatement answers Describe of a prepared statement.
func (s *Session) DescribeStatement(w ResultWriter, name string) (err error) {
	ctx := s.begin(w)
	defer s.end()
	defer s.recoverBug(&err)
	p, err := s.statement(name)
	if err == nil && s.state == txFailed && len(p.cols) > 0 {
		err = errFailedBlock
	}
	if err != nil {
		return s.fail(ctx, err)
	}
	w.ParameterDescription(p.params)
	describe(w, p.cols, p.c != nil && p.c.rows)
	return nil
}

func describe(w ResultWriter, cols []Column, rows bool) {
	if len(cols) == 0 && !rows {
		w.NoData()
		return
	}
	w.RowDescription(cols)
}

// DescribePortal answers Describe of a portal.
func (s *Session) DescribePortal(w ResultWriter, name string) (err error) {
	ctx := s.begin(w)
	defer s.end()
	defer s.recoverBug(&err)
	p, ok := s.portals[name]
	if !ok {
		return s.fail(ctx, noPortal(name))
	}
	describe(w, p.cols, p.c != nil && p.c.rows)
	return nil
}

func noPortal(name string) error {
	return pgerr.New(pgerr.InvalidCursorName, "portal \"%s\" does not exist", name)
}

// Execute runs a portal, up to max rows if max is over 0.
func (s *Session) Execute(w ResultWriter, name string, max int64) (err error) {
	ctx := s.begin(w)
	defer s.end()
	defer s.recoverBug(&err)
	s.startTimer()
	if err := s.execute(ctx, w, name, max); err != nil {
		return s.fail(ctx, err)
	}
	return nil
}

func (s *Session) execute(ctx context.Context, w ResultWriter, name string, max int64) error {
	p, ok := s.portals[name]
	if !ok {
		return noPortal(name)
	}
	if p.stmt.stmt == nil {
		w.EmptyQuery()
		return nil
	}
	s.activity.running(s, p.stmt.text)
	if s.state == txFailed && !endsBlock(p.stmt.stmt.Node) {
		return errFailedBlock
	}
	if p.failed {
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", name)
	}
	s.block.statements++
	if p.c == nil {
		if p.done {
			return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", name)
		}
		p.done = true
		return s.runUtility(ctx, w, p.stmt.stmt.Node, p.stmt.text, p.stmt.stmt, p)
	}
	return s.executePlan(ctx, w, p, max)
}

// executePlan runs a portal whose statement has a plan.
func (s *Session) executePlan(ctx context.Context, w ResultWriter, p *portal, max int64) error {
	if err := s.checkWrite(p.c); err != nil {
		return err
	}
	if p.declared || p.position > 0 || p.held != nil {
		return s.executeCursor(ctx, w, p, max)
	}
	if p.done && p.run == nil {
		if p.c.rows && p.rows >= 0 {
			s.completeTag(w, p, 0)
			return nil
		}
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", p.name)
	}
	if max > 0 && p.run == nil && p.c.rows && p.c.tag != "SELECT " {
		if err := s.hold(ctx, p); err != nil {
			return err
		}
		return s.executeCursor(ctx, w, p, max)
	}
	s.openPortal(p)
	s.sink.reset(w, p.cols, &s.env)
	n, done, err := p.run.Fetch(ctx, max, &s.sink)
	if err != nil {
		p.failed = true
		s.finishPortal(p)
		return err
	}
	if !done && p.c.rows {
		w.PortalSuspended()
		return nil
	}
	if !p.c.rows || p.c.tag != "SELECT " {
		n = p.run.Affected()
	}
	p.done = true
	s.finishPortal(p)
	s.statementEnd(p.c.kind, p.started)
	s.completeTag(w, p, n)
	return nil
}

// hold runs a portal to its end and keeps its rows: what changes rows does so at once, however
// few of those it returns are asked for.
func (s *Session) hold(ctx context.Context, p *portal) error {
	p.held = s.newRowBuffer(p.c)
	s.openPortal(p)
	_, _, err := p.run.Fetch(ctx, 0, p.held)
	p.done, p.failed = err == nil, err != nil
	s.finishPortal(p)
	if err == nil {
		s.statementEnd(p.c.kind, p.started)
	}
	return err
}

// executeCursor runs a portal that SQL made or moved, or whose rows are held.
func (s *Session) executeCursor(ctx context.Context, w ResultWriter, p *portal, max int64) error {
	if max == 0 {
		max = allRows
	}
	s.sink.reset(w, p.cols, &s.env)
	n, err := (&cursor{s: s, ctx: ctx, p: p}).forward(max, &s.sink)
	if err != nil {
		return err
	}
	if !p.atEnd {
		w.PortalSuspended()
		return nil
	}
	s.completeTag(w, p, n)
	return nil
}

func (s *Session) completeTag(w ResultWriter, p *portal, n int64) {
	s.tag = strconv.AppendInt(append(s.tag[:0], p.c.tag...), n, 10)
	w.CommandComplete(s.tag)
}

// openPortal starts a portal's execution unless it is under way.
func (s *Session) openPortal(p *portal) {
	if p.run != nil {
		return
	}
	s.block.used, p.started = true, s.since
	p.state.Session, p.state.Fn, p.state.Clock, p.state.Temp = s.eng, &s.fn, s.srv.now, s.state0.Temp
	p.state.Params, p.state.Lifted = p.params, nil
	s.prepareState(&p.state)
	p.snap = s.eng.TakeSnapshot()
	p.state.Snapshot = p.snap
	p.run = p.c.prog.Start(&p.state)
}

// finishPortal ends a portal's execution; the portal stays.
func (s *Session) finishPortal(p *portal) {
	if p.run != nil {
		p.run.Close()
		p.run = nil
	}
	if p.snap != nil {
		s.eng.ReleaseSnapshot(p.snap)
		p.snap = nil
	}
}

func (s *Session) closePortal(name string) {
	if p, ok := s.portals[name]; ok {
		s.finishPortal(p)
		p.held.Close()
		delete(s.portals, name)
	}
}

// closePortals closes all portals at the end of a transaction but those that outlive it.
func (s *Session) closePortals() {
	for name, p := range s.portals {
		if p.kept {
			continue
		}
		s.closePortal(name)
	}
}

// closePortalsFrom closes portals made inside savepoint number level or deeper.
func (s *Session) closePortalsFrom(level int) {
	for name, p := range s.portals {
		if p.level >= level && !p.kept {
			s.closePortal(name)
		}
	}
}

func (s *Session) reparentPortals(level int) {
	for _, p := range s.portals {
		p.level = min(p.level, level)
	}
}

func (s *Session) dropPortalsOfFailed() {
	for _, p := range s.portals {
		if p.kept {
			continue
		}
		s.finishPortal(p)
		p.failed = true
	}
}

// CloseStatement forgets a prepared statement; one that does not exist is no error.
func (s *Session) CloseStatement(w ResultWriter, name string) {
	if name == "" {
		s.unnamed = nil
	} else {
		delete(s.prepared, name)
	}
	w.CloseComplete()
}

// ClosePortal forgets a portal.
func (s *Session) ClosePortal(w ResultWriter, name string) {
	s.closePortal(name)
	w.CloseComplete()
}

// Sync ends an implicit transaction: committed, or after an error already rolled back.
func (s *Session) Sync(w ResultWriter) (err error) {
	ctx := s.begin(w)
	defer s.end()
	defer s.recoverBug(&err)
	s.block.statements = 0
	if err := s.finishImplicit(ctx); err != nil {
		return s.fail(ctx, err)
	}
	return nil
}

// preparedNames lists the prepared statements in order.
func (s *Session) preparedNames() []string {
	names := make([]string, 0, len(s.prepared))
	for name := range s.prepared {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
