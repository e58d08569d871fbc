package sql

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// compiled is a statement that has a plan, ready to run. It is immutable.
type compiled struct {
	prog    *exec.Program
	cols    []Column
	params  []types.OID
	version uint64 // catalog version it was made at
	kind    int    // metrics.StatementSelect ...
	tag     string // "SELECT ", "INSERT 0 " ...
	rows    bool   // it returns rows
	writes  bool   // not allowed in a read-only transaction
	slots   []literalSlot
	pinned  []int // literals the plan is good for one value of only
	lifted  int   // length of ExecState.Lifted
}

// literalSlot tells how literal number Literal becomes ExecState.Lifted[Literal].
type literalSlot struct {
	literal int
	typ     types.OID
	typmod  int32
	negate  bool
}

// liftState follows the literals of one statement through its analysis.
type liftState struct {
	literals []parse.Literal
	pinned   []bool
	noticed  bool // analysis had something to say
}

// index gives 1 + the number of the literal at an offset, equal ones having one number.
func (l *liftState) index(offset int) int {
	for i := range l.literals {
		if l.literals[i].Start == offset {
			if same := l.literals[i].Same; !l.pinned[same] {
				return same + 1
			}
			return 0
		}
	}
	return 0
}

func (l *liftState) pin(offset int) {
	for i := range l.literals {
		if l.literals[i].Start == offset {
			l.pinned[l.literals[i].Same] = true
		}
	}
}

// analyzeContext is what analysis of one statement works in. A nil lift keeps all literals.
func (s *Session) analyzeContext(ctx context.Context, lift *liftState) *analyze.Context {
	c := &analyze.Context{
		Catalog: s.eng.Catalog(), SearchPath: s.searchPath(), TempNamespace: s.temp, UserOID: s.role.OID,
		Database: s.database.Name, Env: &s.env, Parse: parseOne, Notice: s.notice,
		TransformNullEquals: s.boolSetting("transform_null_equals"),
		QuoteAllIdentifiers: s.boolSetting("quote_all_identifiers"),
		Lock: func(rel types.OID, mode uint8) error {
			return s.lockRelation(ctx, rel, locks.Mode(mode))
		},
	}
	if lift != nil {
		// A cached plan would keep its notices to itself.
		c.Notice = func(*pgerr.Error) { lift.noticed = true }
		c.LiteralIndex = lift.index
		c.PinLiteral = lift.pin
	}
	return c
}

// parseOne parses text the catalog stores, which is one statement.
func parseOne(sql string) (*pg_query.Node, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(stmts) != 1 {
		return nil, pgerr.New(pgerr.SyntaxError, "one statement expected, not %d", len(stmts))
	}
	return stmts[0].Node, nil
}

// maxReplans bounds how often a statement is compiled again because the catalog changed meanwhile.
const maxReplans = 16

// compile analyses and plans a statement. It is done again when the catalog changes between the
// look-up of a relation and its lock.
func (s *Session) compile(ctx context.Context, stmt *pg_query.Node, text string, params *analyze.ParamTypes, lift *liftState) (*compiled, error) {
	return s.compileWith(func() (*compiled, error) { return s.compileOnce(ctx, stmt, text, params, lift) })
}

// compileWith compiles until the catalog stays as it is meanwhile.
func (s *Session) compileWith(once func() (*compiled, error)) (*compiled, error) {
	for range maxReplans {
		version := s.eng.Catalog().Version()
		c, err := once()
		if s.eng.Catalog().Version() != version {
			continue
		}
		if c != nil {
			c.version = version
		}
		return c, err
	}
	return nil, pgerr.New(pgerr.InternalError, "the catalog keeps changing")
}

func (s *Session) compileOnce(ctx context.Context, stmt *pg_query.Node, text string, params *analyze.ParamTypes, lift *liftState) (*compiled, error) {
	ac := s.analyzeContext(ctx, lift)
	q, err := analyze.Analyze(ac, stmt, text, params)
	if err != nil {
		return nil, err
	}
	return s.compileQuery(ctx, q, params, ac, lift)
}

// compileQuery plans an analysed query and makes its program.
func (s *Session) compileQuery(ctx context.Context, q *analyze.Query, params *analyze.ParamTypes, ac *analyze.Context, lift *liftState) (*compiled, error) {
	c := &compiled{kind: statementKind(q.Command), rows: q.Command == analyze.Select || len(q.Returning) > 0}
	p, err := plan.Build(s.planContext(ctx, ac, lift), q)
	if err != nil {
		return nil, err
	}
	c.prog, err = exec.Compile(p, s.execDeps(ctx, ac))
	if err != nil {
		return nil, err
	}
	if params != nil {
		c.params = append([]types.OID(nil), params.Types...)
	}
	c.writes = !p.ReadOnly
	c.tag = commandTags[p.Command]
	c.cols = s.columns(p.Columns)
	return c, nil
}

var commandTags = map[analyze.Command]string{
	analyze.Select: "SELECT ", analyze.Insert: "INSERT 0 ", analyze.Update: "UPDATE ", analyze.Delete: "DELETE ",
}

func statementKind(c analyze.Command) int {
	switch c {
	case analyze.Insert:
		return metrics.StatementInsert
	case analyze.Update:
		return metrics.StatementUpdate
	case analyze.Delete:
		return metrics.StatementDelete
	}
	return metrics.StatementSelect
}

func (s *Session) columns(out []plan.OutputColumn) []Column {
	cols := make([]Column, len(out))
	for i, o := range out {
		typ, typmod := s.baseType(o.Type, o.Typmod)
		cols[i] = Column{
			Name: o.Name, Table: o.Table, Attno: int16(o.Attno), Type: typ, Typmod: typmod, Len: s.typeLen(typ),
		}
	}
	return cols
}

// baseType is what clients are told of a domain: the type below it.
func (s *Session) baseType(typ types.OID, typmod int32) (types.OID, int32) {
	for types.Builtin(typ) == nil {
		t, err := s.eng.Catalog().TypeByOID(typ)
		if err != nil || t == nil || t.Kind != 'd' {
			break
		}
		typ, typmod = t.BaseType, t.Typmod
	}
	return typ, typmod
}

func (s *Session) typeLen(typ types.OID) int16 {
	if t := types.Lookup(typ, s.eng.Catalog().Types()); t != nil {
		return t.Len
	}
	return -1
}

// lockRelation takes a table lock for the transaction.
func (s *Session) lockRelation(ctx context.Context, rel types.OID, mode locks.Mode) error {
	return s.eng.Locks().Lock(ctx, locks.RelationTag(uint32(s.database.OID), uint32(rel)), mode, s.lockOptions())
}

func (s *Session) lockOptions() locks.LockOptions {
	return locks.LockOptions{Timeout: s.lockTimeout()}
}

// lockAll takes the locks of a compiled statement and tells whether it may still be used.
func (s *Session) lockAll(ctx context.Context, c *compiled) (valid bool, err error) {
	for i := range c.prog.Plan().Relations {
		r := &c.prog.Plan().Relations[i]
		if err := s.lockRelation(ctx, r.OID, locks.Mode(r.Mode)); err != nil {
			return false, err
		}
	}
	return c.version == s.eng.Catalog().Version(), nil
}
