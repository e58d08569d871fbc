package sql

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/types"
)

// prepare carries out PREPARE.
func (u *utility) prepare(n *pg_query.PrepareStmt) (string, error) {
	s := u.s
	if n.Name == "" {
		return "", pgerr.New(pgerr.InvalidPstatementDefinition, "invalid statement name: must not be empty")
	}
	if _, dup := s.prepared[n.Name]; dup {
		return "", pgerr.New(pgerr.DuplicatePstatement, "prepared statement \"%s\" already exists", n.Name)
	}
	p := &prepared{name: n.Name, text: u.statementText(), fromSQL: true, created: s.srv.now()}
	p.stmt = &parse.Stmt{Node: n.Query, Start: u.stmt.Start, End: u.stmt.End}
	for _, a := range n.Argtypes {
		typ, _, err := analyze.ResolveType(s.analyzeContext(u.ctx, nil), a.GetTypeName(), u.text)
		if err != nil {
			return "", err
		}
		p.declared = append(p.declared, typ)
	}
	if !hasPlan(n.Query) {
		return "", unsupported(n.Query)
	}
	params := &analyze.ParamTypes{Types: append([]types.OID(nil), p.declared...), Variable: true}
	c, err := s.compile(u.ctx, n.Query, u.text, params, nil)
	if err != nil {
		return "", err
	}
	p.c, p.params, p.cols = c, c.params, c.cols
	s.prepared[n.Name] = p
	return "PREPARE", nil
}

// statementText is the statement's own part of the text.
func (u *utility) statementText() string {
	if u.stmt == nil || u.stmt.End > len(u.text) {
		return u.text
	}
	text := u.text[u.stmt.Start:u.stmt.End]
	if u.stmt.End < len(u.text) && u.text[u.stmt.End] == ';' {
		text = u.text[u.stmt.Start : u.stmt.End+1]
	}
	return text
}

// execute carries out EXECUTE.
func (u *utility) execute(n *pg_query.ExecuteStmt) (string, error) {
	s := u.s
	p, err := s.statement(n.Name)
	if err != nil {
		return "", err
	}
	params, err := u.executeParams(p, n.Params)
	if err != nil {
		return "", err
	}
	if p.c == nil {
		return "", s.runUtility(u.ctx, u.w, p.stmt.Node, p.text, p.stmt, nil)
	}
	if err := s.freshen(u.ctx, p); err != nil {
		return "", err
	}
	if err := s.checkWrite(p.c); err != nil {
		return "", err
	}
	cols := p.c.cols
	if p.c.rows {
		cols = u.begin(cols)
	} else {
		cols = nil
	}
	n2, err := s.runProgram(u.ctx, u.w, p.c, params, cols)
	if err != nil {
		return "", err
	}
	return p.c.tag + itoa(n2), nil
}

// runProgram runs a compiled statement to its end under a fresh snapshot.
func (s *Session) runProgram(ctx context.Context, w ResultWriter, c *compiled, params []types.Datum, cols []Column) (int64, error) {
	var sink rowSink
	sink.reset(w, cols, &s.env)
	st := exec.ExecState{Session: s.eng, Fn: &s.fn, Clock: s.srv.now, Temp: s.state0.Temp, Params: params}
	s.prepareState(&st)
	s.block.used = true
	st.Snapshot = s.eng.TakeSnapshot()
	defer s.eng.ReleaseSnapshot(st.Snapshot)
	return c.prog.Run(ctx, &st, &sink)
}

// executeParams evaluates the arguments of EXECUTE as the statement's parameter types.
func (u *utility) executeParams(p *prepared, args []*pg_query.Node) ([]types.Datum, error) {
	if len(args) != len(p.params) {
		return nil, pgerr.New(pgerr.SyntaxError, "wrong number of parameters for prepared statement \"%s\"", p.name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(args))
	}
	out := make([]types.Datum, len(args))
	for i, a := range args {
		e, err := analyze.ValueExpr(u.s.analyzeContext(u.ctx, nil), a, u.text, p.params[i], i+1)
		if err != nil {
			return nil, err
		}
		if out[i], err = u.s.evaluate(u.ctx, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evaluate computes an expression over no row.
func (s *Session) evaluate(ctx context.Context, e analyze.Expr) (types.Datum, error) {
	q := &analyze.Query{
		Command: analyze.Select, Result: -1, Targets: []analyze.TargetEntry{{Expr: e, Name: "value"}},
		HasSubLinks: true,
	}
	ac := s.analyzeContext(ctx, nil)
	c, err := s.compileQuery(ctx, q, nil, ac, nil)
	if err != nil {
		return types.Datum{}, err
	}
	st := exec.ExecState{Session: s.eng, Fn: &s.fn, Clock: s.srv.now, Temp: s.state0.Temp}
	s.prepareState(&st)
	st.Snapshot = s.eng.TakeSnapshot()
	defer s.eng.ReleaseSnapshot(st.Snapshot)
	out := types.NullDatum
	_, err = c.prog.Run(ctx, &st, exec.SinkFunc(func(b *types.Batch) error {
		if rows := b.Rows(); rows.Len() > 0 {
			out = b.Cols[0].Datum(rows.At(0)).Clone()
		}
		return nil
	}))
	return out, err
}

func (u *utility) deallocate(n *pg_query.DeallocateStmt) (string, error) {
	if n.Name == "" {
		clear(u.s.prepared)
		return "DEALLOCATE ALL", nil
	}
	if _, ok := u.s.prepared[n.Name]; !ok {
		return "", pgerr.New(pgerr.InvalidSQLStatementName, "prepared statement \"%s\" does not exist", n.Name)
	}
	delete(u.s.prepared, n.Name)
	return "DEALLOCATE", nil
}
