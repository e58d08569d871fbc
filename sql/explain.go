package sql

import (
	"strings"
	"time"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/ddl"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// explainFormat is the FORMAT option.
type explainFormat string

const (
	explainText explainFormat = "text"
	explainJSON explainFormat = "json"
	explainYAML explainFormat = "yaml"
	explainXML  explainFormat = "xml"
)

// explainOptions are the options of EXPLAIN.
type explainOptions struct {
	analyze, verbose, costs, timing, summary bool
	buffers, wal, settings                   bool
	format                                   explainFormat
}

// explainColumns is the one column of EXPLAIN's result.
func explainColumns(n *pg_query.ExplainStmt) []Column {
	c := textColumn("QUERY PLAN")
	for _, o := range n.Options {
		if d := o.GetDefElem(); d.GetDefname() == "format" {
			switch explainFormat(strings.ToLower(d.Arg.GetString_().GetSval())) {
			case explainJSON:
				c.Type = types.Json
			case explainXML:
				c.Type = types.Xml
			}
		}
	}
	return []Column{c}
}

// explainOptions reads the options. Follows ExplainQuery.
func (u *utility) explainOptions(n *pg_query.ExplainStmt) (o explainOptions, err error) {
	o = explainOptions{costs: true, format: explainText}
	var timingSet, summarySet bool
	for _, node := range n.Options {
		d := node.GetDefElem()
		var target *bool
		switch d.Defname {
		case "analyze":
			target = &o.analyze
		case "verbose":
			target = &o.verbose
		case "costs":
			target = &o.costs
		case "buffers":
			target = &o.buffers
		case "settings":
			target = &o.settings
		case "wal":
			target = &o.wal
		case "timing":
			target, timingSet = &o.timing, true
		case "summary":
			target, summarySet = &o.summary, true
		case "format":
			if o.format, err = u.explainFormat(d); err != nil {
				return o, err
			}
			continue
		default:
			return o, pgerr.New(pgerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", d.Defname).WithPosition(u.position(d))
		}
		if *target, err = boolOption(d); err != nil {
			return o, err
		}
	}
	if !timingSet {
		o.timing = o.analyze
	}
	if !summarySet {
		o.summary = o.analyze
	}
	switch {
	case o.wal && !o.analyze:
		err = pgerr.New(pgerr.InvalidParameterValue, "EXPLAIN option WAL requires ANALYZE")
	case o.timing && !o.analyze:
		err = pgerr.New(pgerr.InvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE")
	// Blocks and log records are counted for the whole server, not for each node of a plan.
	case o.buffers && o.analyze:
		err = pgerr.New(pgerr.FeatureNotSupported, "EXPLAIN option BUFFERS is not supported with ANALYZE")
	case o.wal:
		err = pgerr.New(pgerr.FeatureNotSupported, "EXPLAIN option WAL is not supported")
	}
	return o, err
}

func (u *utility) explainFormat(d *pg_query.DefElem) (explainFormat, error) {
	text := d.Arg.GetString_().GetSval()
	switch f := explainFormat(text); f {
	case explainText, explainJSON, explainYAML, explainXML:
		return f, nil
	}
	return "", pgerr.New(pgerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"%s\": \"%s\"", d.Defname, text).
		WithPosition(u.position(d))
}

// position is where an option stands, in characters from 1.
func (u *utility) position(d *pg_query.DefElem) int {
	if loc := int(d.Location); loc >= 0 && loc <= len(u.text) {
		return utf8.RuneCountInString(u.text[:loc]) + 1
	}
	return 0
}

// boolOption reads an option that is on or off, on if it has no value. Follows defGetBoolean.
func boolOption(d *pg_query.DefElem) (bool, error) {
	if d.Arg == nil {
		return true, nil
	}
	var text string
	switch v := d.Arg.Node.(type) {
	case *pg_query.Node_Integer:
		switch v.Integer.Ival {
		case 0:
			return false, nil
		case 1:
			return true, nil
		}
	case *pg_query.Node_Boolean:
		return v.Boolean.Boolval, nil
	case *pg_query.Node_String_:
		text = strings.ToLower(v.String_.Sval)
	}
	switch text {
	case "true", "on":
		return true, nil
	case "false", "off":
		return false, nil
	}
	return false, pgerr.New(pgerr.SyntaxError, "%s requires a Boolean value", d.Defname)
}

// explain carries out EXPLAIN.
func (u *utility) explain(n *pg_query.ExplainStmt) (string, error) {
	o, err := u.explainOptions(n)
	if err != nil {
		return "", err
	}
	query, create := u.createAsOf(n.Query)
	if create != nil {
		skip, err := ddl.CreateTableAsSkips(u.s.ddlEnv(u.ctx), create.Into, create.IfNotExists)
		if err != nil {
			return "", err
		}
		if skip {
			return "EXPLAIN", u.textRows(explainColumns(n), nil)
		}
	}
	start := u.s.srv.now()
	c, params, err := u.explained(query)
	if err != nil {
		return "", err
	}
	x := &explainer{s: u.s, ctx: u.ctx, o: o, plan: c.prog.Plan(), values: params, planning: u.s.srv.now().Sub(start)}
	if o.analyze {
		if err := x.run(c, params, create); err != nil {
			return "", err
		}
	}
	text, err := x.text()
	if err != nil {
		return "", err
	}
	lines := []string{text}
	if o.format == explainText {
		lines = strings.Split(text, "\n")
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		rows[i] = []string{l}
	}
	return "EXPLAIN", u.textRows(explainColumns(n), rows)
}

// explained compiles the statement to explain, with the values of its parameters.
func (u *utility) explained(query *pg_query.Node) (c *compiled, params []types.Datum, err error) {
	s := u.s
	switch n := query.GetNode().(type) {
	case *pg_query.Node_ExecuteStmt:
		p, err := s.statement(n.ExecuteStmt.Name)
		if err != nil {
			return nil, nil, err
		}
		if p.c == nil {
			return nil, nil, unsupported(query)
		}
		if params, err = u.executeParams(p, n.ExecuteStmt.Params); err != nil {
			return nil, nil, err
		}
		err = s.freshen(u.ctx, p)
		return p.c, params, err
	case *pg_query.Node_DeclareCursorStmt:
		query = n.DeclareCursorStmt.Query
	}
	if !hasPlan(query) {
		return nil, nil, pgerr.New(pgerr.FeatureNotSupported, "EXPLAIN of %s is not supported", statementName(query))
	}
	for range maxReplans {
		if c, err = s.compile(u.ctx, query, u.text, nil, nil); err != nil {
			return nil, nil, err
		}
		valid, err := s.lockAll(u.ctx, c)
		if err != nil || valid {
			return c, nil, err
		}
	}
	return nil, nil, pgerr.New(pgerr.InternalError, "the catalog keeps changing")
}

// run executes the statement for EXPLAIN ANALYZE; its rows go nowhere, or into the table that create, unless nil, makes.
func (x *explainer) run(c *compiled, params []types.Datum, create *pg_query.CreateTableAsStmt) error {
	s := x.s
	if err := s.checkWrite(c); err != nil {
		return err
	}
	st := exec.ExecState{
		Session: s.eng, Fn: &s.fn, Clock: s.srv.now, Temp: s.state0.Temp, Params: params, Instrument: exec.InstrumentRows,
	}
	if x.o.timing {
		st.Instrument = exec.InstrumentTiming
	}
	s.prepareState(&st)
	s.block.used = true
	start := s.srv.now()
	st.Snapshot = s.eng.TakeSnapshot()
	defer s.eng.ReleaseSnapshot(st.Snapshot)
	run := c.prog.Start(&st)
	defer run.Close()
	if err := x.fetch(run, c, create); err != nil {
		return err
	}
	x.execution = s.srv.now().Sub(start)
	x.stats = make(map[plan.Node]exec.NodeStats)
	x.eachNode(func(n plan.Node) {
		if st := run.Stats(n); st != nil {
			x.stats[n] = *st
		}
	})
	return nil
}

func (x *explainer) fetch(run *exec.Execution, c *compiled, create *pg_query.CreateTableAsStmt) error {
	if create == nil {
		nowhere := exec.SinkFunc(func(*types.Batch) error { return nil })
		_, _, err := run.Fetch(x.ctx, 0, nowhere)
		return err
	}
	u := &utility{s: x.s, ctx: x.ctx}
	rel, err := u.newTable(create, c)
	if err != nil || rel == nil || create.Into.SkipData {
		return err
	}
	sink, err := u.tableSink(rel)
	if err != nil {
		return err
	}
	if _, _, err := run.Fetch(x.ctx, 0, sink); err != nil {
		return err
	}
	return sink.flush()
}

// milliseconds is a time as EXPLAIN shows it.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
