package goldens

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const (
	statementTimeout = 20 * time.Second
	blockedAfter     = 300 * time.Millisecond

	// firstUserOID is the first OID that differs from run to run.
	firstUserOID = 16384
)

// runner runs the blocks of one script against one server.
type runner struct {
	dsn   string // with the script's database
	types *pgtype.Map
	conns map[string]*connection
}

type connection struct {
	*pgconn.PgConn
	notices []*pgconn.Notice
	pending chan []string // the answer of a statement that blocks
}

func newRunner(dsn string) *runner {
	return &runner{dsn: dsn, types: pgtype.NewMap(), conns: make(map[string]*connection)}
}

func (r *runner) close() {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	for _, c := range r.conns {
		_ = c.Close(ctx)
	}
}

func (r *runner) conn(ctx context.Context, name string) (*connection, error) {
	if c := r.conns[name]; c != nil && !c.IsClosed() {
		return c, nil
	}
	cfg, err := pgconn.ParseConfig(r.dsn)
	if err != nil {
		return nil, err
	}
	c := &connection{}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { c.notices = append(c.notices, n) }
	cfg.RuntimeParams = map[string]string{
		"TimeZone": "UTC", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres",
		"application_name": "goldens", "client_encoding": "UTF8",
	}
	if c.PgConn, err = pgconn.ConnectConfig(ctx, cfg); err != nil {
		return nil, err
	}
	r.conns[name] = c
	return c, nil
}

// run runs a block and returns the answer, one text a line.
func (r *runner) run(b *block) []string {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	c, err := r.conn(ctx, b.value("conn"))
	if err != nil {
		cancel()
		return []string{"no connection: " + err.Error()}
	}
	if b.flag("join") {
		defer cancel()
		return c.join(ctx)
	}
	if !b.flag("blocks") {
		defer cancel()
		return r.answer(ctx, c, b)
	}
	c.pending = make(chan []string, 1)
	go func() {
		defer cancel()
		c.pending <- r.answer(ctx, c, b)
	}()
	select {
	case got := <-c.pending:
		return append([]string{"did not wait"}, got...)
	case <-time.After(blockedAfter):
		return []string{"waits"}
	}
}

func (c *connection) join(ctx context.Context) []string {
	if c.pending == nil {
		return []string{"nothing waits"}
	}
	defer func() { c.pending = nil }()
	select {
	case got := <-c.pending:
		return got
	case <-ctx.Done():
		return []string{"still waits"}
	}
}

func (r *runner) answer(ctx context.Context, c *connection, b *block) []string {
	c.notices = nil
	var out []string
	var err error
	switch {
	case b.flag("extended"):
		out, err = r.extended(ctx, c, b)
	case b.flag("copyin"):
		var tag pgconn.CommandTag
		data := strings.Join(b.input, "\n")
		if data != "" {
			data += "\n"
		}
		tag, err = c.CopyFrom(ctx, strings.NewReader(data), b.sql)
		out = append(out, tag.String())
	case b.flag("copyout"):
		var tag pgconn.CommandTag
		var data bytes.Buffer
		tag, err = c.CopyTo(ctx, &data, b.sql)
		for line := range strings.Lines(data.String()) {
			out = append(out, "> "+strings.TrimSuffix(line, "\n"))
		}
		out = append(out, tag.String())
	default:
		out, err = r.simple(ctx, c, b)
	}
	if err != nil {
		if n := len(out); n > 0 && out[n-1] == "" {
			out = out[:n-1]
		}
		out = append(out, errorLines(err)...)
	}
	if len(out) == 0 {
		out = []string{"(empty)"}
	}
	if status := c.TxStatus(); status != 'I' && !c.IsClosed() {
		out[len(out)-1] += fmt.Sprintf(" [%c]", status)
	}
	var notices []string
	for _, n := range c.notices {
		notices = append(notices, errorLines((*pgconn.PgError)(n))...)
	}
	out = append(notices, out...)
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
		if out[i] == "" {
			out[i] = `\` // the block would end here
		}
	}
	return out
}

func (r *runner) simple(ctx context.Context, c *connection, b *block) ([]string, error) {
	var out []string
	results := c.Exec(ctx, b.sql)
	for results.NextResult() {
		rr := results.ResultReader()
		out = append(out, r.read(rr, b)...)
	}
	err := results.Close()
	return out, err
}

func (r *runner) extended(ctx context.Context, c *connection, b *block) ([]string, error) {
	sd, err := c.Prepare(ctx, "", b.sql, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	if len(sd.ParamOIDs) > 0 {
		names := make([]string, len(sd.ParamOIDs))
		for i, oid := range sd.ParamOIDs {
			names[i] = r.typeName(oid)
		}
		out = append(out, "parameters: "+strings.Join(names, " "))
	}
	if len(b.input) < len(sd.ParamOIDs) { // only described
		if len(sd.Fields) > 0 {
			out = append(out, r.header(sd.Fields))
		}
		return out, nil
	}
	params := make([][]byte, len(b.input))
	for i, p := range b.input {
		if p != `\N` {
			params[i] = []byte(strings.ReplaceAll(p, `""`, ""))
		}
	}
	rr := c.ExecStatement(ctx, sd, params, nil, nil)
	lines := r.read(rr, b)
	_, err = rr.Close()
	return append(out, lines...), err
}

// read is the answer of one statement: columns, rows, tag.
func (r *runner) read(rr *pgconn.ResultReader, b *block) []string {
	var out, rows []string
	fields := slices.Clone(rr.FieldDescriptions())
	for rr.NextRow() {
		values := make([]string, len(rr.Values()))
		for i, v := range rr.Values() {
			values[i] = escape(v)
		}
		rows = append(rows, strings.Join(values, " | "))
	}
	if len(fields) == 0 {
		fields = rr.FieldDescriptions()
	}
	tag, err := rr.Close()
	if err != nil && len(rows) == 0 {
		return nil // whether columns came before the error tells when constants are folded
	}
	if len(fields) > 0 {
		out = append(out, r.header(fields))
	} else if len(rows) > 0 {
		out = append(out, "(no columns)")
	}
	if b.flag("unordered") {
		slices.Sort(rows)
	}
	for i := range rows {
		if rows[i] == "" {
			rows[i] = "(no columns)"
		}
	}
	out = append(out, rows...)
	if err == nil && tag.String() != "" {
		out = append(out, tag.String())
	}
	return out
}

func (r *runner) header(fields []pgconn.FieldDescription) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = escape([]byte(f.Name)) + ":" + r.typeName(f.DataTypeOID)
		if f.TypeModifier != -1 {
			names[i] += "/" + strconv.Itoa(int(f.TypeModifier))
		}
	}
	return strings.Join(names, " | ")
}

func (r *runner) typeName(oid uint32) string {
	if t, ok := r.types.TypeForOID(oid); ok {
		return t.Name
	}
	if oid >= firstUserOID {
		return "user"
	}
	return strconv.FormatUint(uint64(oid), 10)
}

var escapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "|", `\|`)

func escape(v []byte) string {
	if v == nil {
		return `\N`
	}
	if len(v) == 0 {
		return `""`
	}
	s := escapes.Replace(string(v))
	if strings.HasPrefix(s, `"`) {
		s = `\` + s
	}
	if trimmed := strings.TrimRight(s, " "); len(trimmed) < len(s) {
		s = trimmed + strings.Repeat(`\s`, len(s)-len(trimmed))
	}
	return s
}

// errorLines writes an error or a notice with every field it has.
func errorLines(err error) []string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if errors.Is(err, context.DeadlineExceeded) {
			return []string{"no answer in time"}
		}
		return []string{"connection broken: " + err.Error()}
	}
	head := fmt.Sprintf("%s %s", e.Severity, e.Code)
	if e.Position != 0 {
		head += fmt.Sprintf(" at %d", e.Position)
	}
	out := []string{head + ": " + escape([]byte(e.Message))}
	add := func(name, value string) {
		if value != "" {
			out = append(out, "  "+name+": "+escape([]byte(value)))
		}
	}
	add("detail", e.Detail)
	add("hint", e.Hint)
	add("where", e.Where)
	add("query", e.InternalQuery)
	if e.InternalPosition != 0 {
		add("at", strconv.Itoa(int(e.InternalPosition)))
	}
	var names []string
	for _, f := range []struct{ name, value string }{
		{"schema", e.SchemaName},
		{"table", e.TableName},
		{"column", e.ColumnName},
		{"type", e.DataTypeName},
		{"constraint", e.ConstraintName},
	} {
		if f.value != "" {
			names = append(names, f.name+"="+escape([]byte(f.value)))
		}
	}
	add("about", strings.Join(names, " "))
	return out
}

var numbers = regexp.MustCompile(`\d+`)

// same compares an answer with the one wanted.
func (b *block) same(got, want []string) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		g, w := got[i], want[i]
		if b.flag("mask") {
			g, w = numbers.ReplaceAllString(g, "#"), numbers.ReplaceAllString(w, "#")
		}
		if g != w {
			return false
		}
	}
	return true
}
