package e2e

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"

	"github.com/minipg/minipg/minipgtest"
)

var rewrite = flag.Bool("rewrite", false, "record from the PostgreSQL 15 of MINIPG_ORACLE")

const wireTimeout = 10 * time.Second

// subject is the server the recorded tests run on: minipg, or PostgreSQL to record from.
func subject(t *testing.T, options ...minipgtest.Option) (dsn string) {
	t.Helper()
	if *rewrite {
		if dsn = os.Getenv("MINIPG_ORACLE"); dsn == "" {
			t.Fatal("-rewrite needs MINIPG_ORACLE")
		}
		return dsn
	}
	return minipgtest.New(t, append(options, minipgtest.InMemory())...).DSN("postgres")
}

// golden compares got with a file of testdata, or records it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: %s", name, difference(string(want), got))
	}
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(w), len(g)) && w[i] == g[i] {
		i++
	}
	part := func(lines []string) string {
		return strings.Join(lines[min(i, len(lines)):min(i+8, len(lines))], "\n  ")
	}
	return fmt.Sprintf("line %d: want\n  %s\ngot\n  %s", i+1, part(w), part(g))
}

// wire is a connection that writes down what comes back.
type wire struct {
	t     *testing.T
	conn  net.Conn
	front *pgproto3.Frontend
	trace strings.Builder
}

func dial(t *testing.T, dsn string) net.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", net.JoinHostPort(cfg.Host, fmt.Sprint(cfg.Port))
	if strings.HasPrefix(cfg.Host, "/") {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", cfg.Host, cfg.Port)
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(3 * wireTimeout)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// connect connects and reads up to the first ReadyForQuery, which is not written down.
func connect(t *testing.T, dsn string) *wire {
	t.Helper()
	w := &wire{t: t, conn: dial(t, dsn)}
	w.front = pgproto3.NewFrontend(pgproto3.NewChunkReader(w.conn), w.conn)
	w.send(&pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersionNumber,
		Parameters:      map[string]string{"user": "postgres", "database": "postgres", "timezone": "UTC"},
	})
	w.until(1)
	w.trace.Reset()
	return w
}

// encode makes bytes of a message; those of the tests are all encodable.
func encode(m pgproto3.FrontendMessage) []byte {
	out, err := m.Encode(nil)
	if err != nil {
		panic(err)
	}
	return out
}

func (w *wire) send(messages ...pgproto3.FrontendMessage) {
	w.t.Helper()
	var out []byte
	for _, m := range messages {
		out = append(out, encode(m)...)
	}
	if _, err := w.conn.Write(out); err != nil {
		w.t.Fatal(err)
	}
}

// until writes down messages up to the n-th ReadyForQuery.
func (w *wire) until(n int) {
	w.t.Helper()
	for n > 0 {
		m, err := w.front.Receive()
		if err != nil {
			w.t.Fatalf("after\n%s: %v", w.trace.String(), err)
		}
		w.trace.WriteString(describe(m) + "\n")
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			n--
		}
	}
}

// messages writes down the next n messages.
func (w *wire) messages(n int) {
	w.t.Helper()
	for range n {
		m, err := w.front.Receive()
		if err != nil {
			w.t.Fatalf("after\n%s: %v", w.trace.String(), err)
		}
		w.trace.WriteString(describe(m) + "\n")
	}
}

// step sends messages, writes a line about it, and reads n answers.
func (w *wire) step(ready int, title string, messages ...pgproto3.FrontendMessage) {
	w.t.Helper()
	w.trace.WriteString("# " + title + "\n")
	w.send(messages...)
	w.until(ready)
}

func describe(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.RowDescription:
		var fields []string
		for _, f := range m.Fields {
			fields = append(fields, fmt.Sprintf("%s type=%d size=%d mod=%d format=%d", f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.Format))
		}
		return "RowDescription " + strings.Join(fields, ", ")
	case *pgproto3.DataRow:
		var values []string
		for _, v := range m.Values {
			if v == nil {
				values = append(values, "null")
			} else {
				values = append(values, fmt.Sprintf("%q", v))
			}
		}
		return "DataRow " + strings.Join(values, " ")
	case *pgproto3.CommandComplete:
		return "CommandComplete " + string(m.CommandTag)
	case *pgproto3.ReadyForQuery:
		return fmt.Sprintf("ReadyForQuery %c", m.TxStatus)
	case *pgproto3.ErrorResponse:
		return fmt.Sprintf("ErrorResponse %s %s %s %q %s", m.Severity, m.SeverityUnlocalized, m.Code, m.Message, errorFields(m))
	case *pgproto3.NoticeResponse:
		return fmt.Sprintf("NoticeResponse %s %s %q", m.Severity, m.Code, m.Message)
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("ParameterDescription ", m.ParameterOIDs)
	case *pgproto3.ParameterStatus:
		return fmt.Sprintf("ParameterStatus %s=%s", m.Name, m.Value)
	case *pgproto3.CopyData:
		return fmt.Sprintf("CopyData %q", m.Data)
	case *pgproto3.CopyInResponse:
		return fmt.Sprint("CopyInResponse ", m.OverallFormat, " ", m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprint("CopyOutResponse ", m.OverallFormat, " ", m.ColumnFormatCodes)
	case *pgproto3.BackendKeyData:
		return "BackendKeyData"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")
}

func errorFields(m *pgproto3.ErrorResponse) string {
	var out []string
	for _, f := range []struct{ name, value string }{
		{"detail", m.Detail},
		{"hint", m.Hint},
		{"where", m.Where},
		{"schema", m.SchemaName},
		{"table", m.TableName},
		{"column", m.ColumnName},
		{"type", m.DataTypeName},
		{"constraint", m.ConstraintName},
	} {
		if f.value != "" {
			out = append(out, fmt.Sprintf("%s=%q", f.name, f.value))
		}
	}
	if m.Position != 0 {
		out = append(out, fmt.Sprint("position=", m.Position))
	}
	return strings.Join(out, " ")
}

func q(sql string) *pgproto3.Query { return &pgproto3.Query{String: sql} }

func parse(name, sql string, oids ...uint32) *pgproto3.Parse {
	return &pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: oids}
}

func bind(portal, statement string, params ...string) *pgproto3.Bind {
	b := &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement}
	for _, p := range params {
		b.Parameters = append(b.Parameters, []byte(p))
	}
	return b
}

var (
	syncMessage    = &pgproto3.Sync{}
	describePortal = &pgproto3.Describe{ObjectType: 'P'}
	executeAll     = &pgproto3.Execute{}
)

func describeStatement(name string) *pgproto3.Describe {
	return &pgproto3.Describe{ObjectType: 'S', Name: name}
}

func binaryResult(b *pgproto3.Bind) *pgproto3.Bind {
	b.ResultFormatCodes = []int16{1}
	return b
}

// tempSchema is named after the session's slot.
var tempSchema = regexp.MustCompile(`pg_temp_\d+`)

// TestWire compares conversations with PostgreSQL's, message by message.
func TestWire(t *testing.T) {
	dsn := subject(t)
	for _, test := range []struct {
		name string
		run  func(w *wire)
	}{
		{"simple", wireSimple},
		{"extended", wireExtended},
		{"portals", wirePortals},
		{"pipeline", wirePipeline},
		{"discard", wireDiscard},
		{"formats", wireFormats},
		{"statements", wireStatements},
		{"repeated", wireRepeated},
		{"copy", wireCopy},
		{"transactions", wireTransactions},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := connect(t, dsn)
			test.run(w)
			golden(t, "wire/"+test.name+".txt", tempSchema.ReplaceAllString(w.trace.String(), "pg_temp_N"))
		})
	}
}

func wireSimple(w *wire) {
	w.step(1, "a row", q("SELECT 1 AS a, 'x'::text AS b, NULL AS c"))
	w.step(1, "nothing", q(""))
	w.step(1, "only a semicolon", q(";"))
	w.step(1, "only a comment", q("-- nothing"))
	w.step(1, "several statements", q("SELECT 1; SELECT 2; SELECT 3"))
	w.step(1, "an error between", q("SELECT 1; SELECT nothing; SELECT 3"))
	w.step(1, "an error later", q("SELECT 1; SELECT 1 / g FROM generate_series(-1, 1) g; SELECT 3"))
	w.step(1, "a syntax error hides all", q("SELECT 1; SELEC"))
	w.step(1, "a notice", q("DROP TABLE IF EXISTS nothing"))
	w.step(1, "no columns", q("SELECT"))
	w.step(1, "no rows", q("SELECT 1 WHERE false"))
	w.step(1, "a parameter's status", q("SET application_name = 'wire'"))
	w.step(1, "and again, unchanged", q("SET application_name = 'wire'"))
	w.step(1, "several at once", q("SET TimeZone = 'Europe/Berlin'; SET DateStyle = 'German'"))
	w.step(1, "reset", q("RESET ALL"))
	w.step(1, "rolled back", q("BEGIN; SET application_name = 'gone'; ROLLBACK"))
	w.step(1, "not UTF-8", q("SELECT '\xff'"))
	w.step(1, "every error field", q("CREATE TEMP TABLE k (a int PRIMARY KEY, b int NOT NULL CHECK (b > 0)); INSERT INTO k VALUES (1, 1); INSERT INTO k VALUES (1, 1)"))
}

func wireExtended(w *wire) {
	w.step(1, "unnamed", parse("", "SELECT $1::int + 1 AS a, $2 || 'x' AS b"), bind("", "", "41", "y"), describePortal, executeAll, syncMessage)
	w.step(1, "described before", parse("", "SELECT $1 + 1.5, $2 FROM generate_series(1, 1)"), describeStatement(""), syncMessage)
	w.step(1, "given types", parse("", "SELECT $1, $2", 23, 25), describeStatement(""), bind("", "", "5", "z"), executeAll, syncMessage)
	w.step(1, "an unknown type", parse("", "SELECT $1", 705), describeStatement(""), syncMessage)
	w.step(1, "no such type", parse("", "SELECT $1", 999999), syncMessage)
	w.step(1, "named", parse("s1", "SELECT $1::text"), syncMessage)
	w.step(1, "named again", parse("s1", "SELECT 1"), syncMessage)
	w.step(1, "used twice", bind("", "s1", "a"), executeAll, bind("", "s1", "b"), executeAll, syncMessage)
	w.step(1, "too few parameters", bind("", "s1"), syncMessage)
	w.step(1, "bad text", parse("", "SELECT $1::int"), bind("", "", "x"), syncMessage)
	w.step(1, "no such statement", bind("", "nothing"), syncMessage)
	w.step(1, "no such portal", &pgproto3.Execute{Portal: "nothing"}, syncMessage)
	w.step(1, "describe nothing", describeStatement("nothing"), syncMessage)
	w.step(1, "describe no portal", &pgproto3.Describe{ObjectType: 'P', Name: "nothing"}, syncMessage)
	w.step(1, "closed", &pgproto3.Close{ObjectType: 'S', Name: "s1"}, syncMessage)
	w.step(1, "closed again", &pgproto3.Close{ObjectType: 'S', Name: "s1"}, &pgproto3.Close{ObjectType: 'P', Name: "x"}, syncMessage)
	w.step(1, "gone", bind("", "s1", "a"), syncMessage)
	w.step(1, "empty", parse("", ""), bind("", ""), describePortal, executeAll, syncMessage)
	w.step(1, "no rows to describe", parse("", "BEGIN"), describeStatement(""), bind("", ""), describePortal, executeAll, syncMessage)
	w.step(1, "and back", parse("", "ROLLBACK"), bind("", ""), executeAll, syncMessage)
	w.step(1, "two statements", parse("", "SELECT 1; SELECT 2"), syncMessage)
	w.step(1, "syntax", parse("", "SELEC $1"), syncMessage)
	w.step(1, "a gap in the parameters", parse("", "SELECT $2::int"), syncMessage)
	w.step(1, "utility", parse("", "CREATE TEMP TABLE e (a int, b text)"), bind("", ""), describePortal, executeAll, syncMessage)
	w.step(1, "insert", parse("", "INSERT INTO e VALUES ($1, $2), ($1 + 1, $2) RETURNING a, b"), describeStatement(""), bind("", "", "1", "x"), describePortal, executeAll, syncMessage)
	w.step(1, "update", parse("", "UPDATE e SET b = $1"), describeStatement(""), bind("", "", "y"), executeAll, syncMessage)
	w.step(1, "show", parse("", "SHOW search_path"), describeStatement(""), bind("", ""), executeAll, syncMessage)
	w.step(1, "simple between", parse("keep", "SELECT 1"), bind("", "keep"), q("SELECT 2"))
	w.step(1, "the statement is kept, the portal is not", bind("", "keep"), executeAll, syncMessage)
}

func wirePortals(w *wire) {
	w.step(1, "a transaction", q("BEGIN"))
	w.step(1, "rows in parts", parse("s", "SELECT g, 'r' || g FROM generate_series(1, 5) g"), bind("p", "s"),
		&pgproto3.Execute{Portal: "p", MaxRows: 2}, syncMessage)
	w.step(1, "two more", &pgproto3.Execute{Portal: "p", MaxRows: 2}, syncMessage)
	w.step(1, "the last", &pgproto3.Execute{Portal: "p", MaxRows: 2}, syncMessage)
	w.step(1, "none left", &pgproto3.Execute{Portal: "p", MaxRows: 2}, syncMessage)
	w.step(1, "exactly all", bind("q", "s"), &pgproto3.Execute{Portal: "q", MaxRows: 5}, syncMessage)
	w.step(1, "two at once", bind("r1", "s"), bind("r2", "s"), &pgproto3.Execute{Portal: "r1", MaxRows: 1},
		&pgproto3.Execute{Portal: "r2", MaxRows: 2}, &pgproto3.Execute{Portal: "r1", MaxRows: 1}, syncMessage)
	w.step(1, "the name is taken", bind("r1", "s"), syncMessage)
	w.step(1, "over", q("ROLLBACK"))
	w.step(1, "portals end with the transaction", &pgproto3.Execute{Portal: "r2"}, syncMessage)
	w.step(1, "outside a block a portal ends at Sync", bind("p", "s"), &pgproto3.Execute{Portal: "p", MaxRows: 1}, syncMessage)
	w.step(1, "gone", &pgproto3.Execute{Portal: "p", MaxRows: 1}, syncMessage)
	w.step(1, "DML in parts runs at once", q("CREATE TEMP TABLE d (a int); BEGIN"))
	w.step(1, "insert", parse("", "INSERT INTO d SELECT generate_series(1, 3) RETURNING a"), bind("ins", ""), &pgproto3.Execute{Portal: "ins", MaxRows: 1}, syncMessage)
	w.step(1, "all rows are there", q("SELECT count(*) FROM d"))
	w.step(1, "the rest", &pgproto3.Execute{Portal: "ins"}, syncMessage)
	w.step(1, "closed", bind("c", "s"), &pgproto3.Close{ObjectType: 'P', Name: "c"}, &pgproto3.Execute{Portal: "c"}, syncMessage)
	w.step(1, "end", q("ROLLBACK"))
	w.step(1, "cursors are portals", q("BEGIN; DECLARE cur CURSOR FOR SELECT generate_series(1, 3)"))
	w.step(1, "executed", &pgproto3.Describe{ObjectType: 'P', Name: "cur"}, &pgproto3.Execute{Portal: "cur", MaxRows: 2}, syncMessage)
	w.step(1, "fetched", q("FETCH ALL FROM cur"))
	w.step(1, "end", q("COMMIT"))
}

func wirePipeline(w *wire) {
	w.step(1, "table", q("CREATE TEMP TABLE pl (a int PRIMARY KEY)"))
	w.step(1, "one transaction", parse("", "INSERT INTO pl VALUES ($1)"), bind("", "", "1"), executeAll, bind("", "", "2"), executeAll, syncMessage)
	w.step(1, "an error undoes all before the Sync", bind("", "", "3"), executeAll, bind("", "", "1"), executeAll, bind("", "", "4"), executeAll, syncMessage)
	w.step(1, "as seen", q("SELECT a FROM pl ORDER BY a"))
	w.step(3, "three Syncs", parse("i", "INSERT INTO pl VALUES ($1)"), bind("", "i", "5"), executeAll, syncMessage,
		bind("", "i", "1"), executeAll, syncMessage, bind("", "i", "6"), executeAll, syncMessage)
	w.step(1, "as seen", q("SELECT a FROM pl ORDER BY a"))
	w.step(1, "with a block in it", parse("", "BEGIN"), bind("", ""), executeAll, bind("", "i", "7"), executeAll,
		parse("", "COMMIT"), bind("", ""), executeAll, bind("", "i", "1"), executeAll, syncMessage)
	w.step(1, "as seen", q("SELECT a FROM pl ORDER BY a"))
	w.step(4, "simple ones too", q("SELECT 1"), q("SELECT nothing"), q("BEGIN; SELECT 2"), q("COMMIT"))
	w.step(2, "mixed", bind("", "i", "8"), executeAll, syncMessage, q("SELECT count(*) FROM pl"))
}

func wireDiscard(w *wire) {
	w.step(1, "all but Sync is discarded", parse("", "SELECT nothing"), bind("", ""), describePortal, executeAll,
		parse("x", "SELECT 1"), &pgproto3.Flush{}, syncMessage)
	w.step(1, "x was not made", bind("", "x"), syncMessage)
	w.step(1, "a Query too", parse("", "SELEC"), q("SELECT 'not run'"), syncMessage)
	w.step(1, "the state is good again", q("SELECT 1"))
	w.trace.WriteString("# the error comes before the Sync\n")
	w.send(parse("", "SELECT nothing"))
	w.messages(1)
	w.step(1, "then the Sync", syncMessage)
	w.trace.WriteString("# Flush sends what there is\n")
	w.send(parse("", "SELECT 1"), bind("", ""), &pgproto3.Flush{})
	w.messages(2)
	w.step(1, "then the rest", executeAll, syncMessage)
	w.step(1, "in a block", q("BEGIN"))
	w.step(1, "failed", parse("", "SELECT nothing"), syncMessage)
	w.step(1, "refused", parse("", "SELECT 1"), syncMessage)
	w.step(1, "ROLLBACK may be prepared", parse("", "ROLLBACK"), bind("", ""), executeAll, syncMessage)
}

func wireFormats(w *wire) {
	for _, v := range []string{
		"true", "1::int2", "1::int4", "-1::int8", "1.5::float4", "-1.5::float8", "123.4500::numeric", "-0.000123::numeric",
		"'NaN'::numeric", "'Infinity'::numeric", "12345678901234567890.5::numeric", "0::numeric", "'ab'::text", "'ab'::varchar(5)", "'ab'::char(4)",
		"'ab'::name", `'a'::"char"`, `'\x00ff'::bytea`, "'2024-02-29'::date", "'infinity'::date", "'10:11:12.5'::time", "'10:11:12+02'::timetz",
		"'2024-02-29 10:11:12.123456'::timestamp", "'2024-02-29 10:11:12+00'::timestamptz", "'1 year 2 mons 3 days 04:05:06.7'::interval",
		"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "4000000000::oid", "'pg_class'::regclass", "'int4'::regtype", "'5'::xid", "'(1,2)'::tid",
		"ARRAY[1, NULL, 3]", "ARRAY['a', NULL, 'b,c']", "'[2:3]={1,2}'::int[]", "'{{1,2},{3,4}}'::int8[]", "'{}'::text[]", "ROW(1, 'a', NULL)",
		"NULL::int", "''::text",
	} {
		w.step(1, v, parse("", "SELECT "+v+" AS v"), describeStatement(""), binaryResult(bind("", "")), describePortal, executeAll, syncMessage)
	}
	param := func(oid uint32, value []byte) {
		b := &pgproto3.Bind{ParameterFormatCodes: []int16{1}, Parameters: [][]byte{value}}
		w.step(1, fmt.Sprintf("a binary parameter of type %d: %x", oid, value), parse("", "SELECT $1 AS v", oid), b, executeAll, syncMessage)
	}
	param(16, []byte{1})
	param(21, []byte{0xff, 0xfe})
	param(23, []byte{0, 0, 1, 0})
	param(20, []byte{0x80, 0, 0, 0, 0, 0, 0, 0})
	param(700, []byte{0x3f, 0xc0, 0, 0})
	param(701, []byte{0xbf, 0xf8, 0, 0, 0, 0, 0, 0})
	param(1700, []byte{0, 2, 0, 0, 0, 0, 0, 2, 0, 123, 17, 148})
	param(25, []byte("text"))
	param(25, []byte{0xff})
	param(17, []byte{0, 1, 2})
	param(1082, []byte{0, 0, 0x22, 0x6a})
	param(1114, []byte{0, 2, 0xb5, 0x7e, 0, 0, 0, 0})
	param(1186, []byte{0, 0, 0, 0, 0, 15, 66, 64, 0, 0, 0, 1, 0, 0, 0, 2})
	param(2950, []byte("0123456789abcdef"))
	param(1007, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 8})
	param(23, []byte{0, 1})
	param(1007, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 1})
	w.step(1, "a format each", parse("", "SELECT 1, 2, 3"), &pgproto3.Bind{ResultFormatCodes: []int16{1, 0, 1}}, describePortal, executeAll, syncMessage)
	w.step(1, "too many formats", parse("", "SELECT 1, 2, 3"), &pgproto3.Bind{ResultFormatCodes: []int16{1, 0}}, syncMessage)
	w.step(1, "formats of parameters", parse("", "SELECT $1::int, $2::int"),
		&pgproto3.Bind{ParameterFormatCodes: []int16{1, 0}, Parameters: [][]byte{{0, 0, 0, 5}, []byte("6")}}, executeAll, syncMessage)
	w.step(1, "too many of those", parse("", "SELECT $1::int"),
		&pgproto3.Bind{ParameterFormatCodes: []int16{1, 0}, Parameters: [][]byte{{0, 0, 0, 5}}}, syncMessage)
}

func wireStatements(w *wire) {
	w.step(1, "table", q("CREATE TEMP TABLE st (a int, b text)"))
	w.step(1, "prepared in SQL", q("PREPARE sq AS SELECT a, b FROM st WHERE a = $1"))
	w.step(1, "used by the protocol", describeStatement("sq"), bind("", "sq", "1"), executeAll, syncMessage)
	w.step(1, "prepared by the protocol", parse("pr", "SELECT $1::int + 1"), syncMessage)
	w.step(1, "used in SQL", q("EXECUTE pr (5)"))
	w.step(1, "as listed", q("SELECT name, statement, parameter_types::text, from_sql FROM pg_prepared_statements ORDER BY 1"))
	w.step(1, "the result's type changes", parse("all", "SELECT * FROM st"), syncMessage)
	w.step(1, "now", q("ALTER TABLE st ADD COLUMN c int"))
	w.step(1, "and is refused", bind("", "all"), executeAll, syncMessage)
	w.step(1, "the table goes", q("DROP TABLE st"))
	w.step(1, "and is missed", bind("", "sq", "1"), executeAll, syncMessage)
	w.step(1, "all gone", q("DEALLOCATE ALL"))
	w.step(1, "truly", bind("", "pr", "1"), syncMessage)
}

// wireRepeated parses one text again and again while what it means changes.
func wireRepeated(w *wire) {
	again := func(title, sql string, oids ...uint32) {
		w.step(1, title, parse("", sql, oids...), describeStatement(""), bind("", "", "1"), executeAll, syncMessage)
	}
	const sql = "SELECT a, a + $1 AS sum FROM rep"
	w.step(1, "tables", q("CREATE TEMP TABLE rep (a int); INSERT INTO rep VALUES (5)"))
	again("first", sql)
	again("again", sql)
	again("as bigint", sql, 20)
	again("as numeric", sql, 1700)
	again("as integer again", sql)
	w.step(1, "the type changes", q("ALTER TABLE rep ALTER a TYPE bigint"))
	again("seen at once", sql)
	w.step(1, "changed in a block", q("BEGIN; ALTER TABLE rep ALTER a TYPE numeric"))
	again("seen in the block", sql)
	w.step(1, "rolled back", q("ROLLBACK"))
	again("as before", sql)
	w.step(1, "the table goes", q("DROP TABLE rep"))
	again("and is missed", sql)
	w.step(1, "in another schema", q("CREATE SCHEMA rep_other; CREATE TABLE rep_other.rep (a text); INSERT INTO rep_other.rep VALUES ('x')"))
	again("not in the path", "SELECT a || $1 FROM rep")
	w.step(1, "in the path", q("SET search_path = rep_other"))
	again("found", "SELECT a || $1 FROM rep")
	w.step(1, "the path as it was", q("RESET search_path"))
	again("not found", "SELECT a || $1 FROM rep")
	w.step(1, "read only", q("BEGIN READ ONLY"))
	w.step(1, "refused", parse("", "DELETE FROM rep_other.rep WHERE a = $1"), bind("", "", "1"), executeAll, syncMessage)
	w.step(1, "and in a failed block", parse("", "DELETE FROM rep_other.rep WHERE a = $1"), syncMessage)
	w.step(1, "end", q("ROLLBACK"))
	w.step(1, "allowed", parse("", "DELETE FROM rep_other.rep WHERE a = $1"), bind("", "", "x"), executeAll, syncMessage)
	w.step(1, "with a comment", parse("", "/* first */ BEGIN"), bind("", ""), executeAll, syncMessage)
	w.step(1, "and again", parse("", "/* last */ ROLLBACK"), bind("", ""), executeAll, syncMessage)
	w.step(1, "all gone", q("SET client_min_messages = warning; DROP SCHEMA rep_other CASCADE"))
}

func wireCopy(w *wire) {
	w.step(1, "table", q("CREATE TEMP TABLE cp (a int, b text)"))
	in := func(title, sql string, data ...pgproto3.FrontendMessage) {
		w.trace.WriteString("# " + title + "\n")
		w.send(q(sql))
		w.messages(1)
		w.send(data...)
		w.until(1)
	}
	in("in", "COPY cp FROM STDIN", &pgproto3.CopyData{Data: []byte("1\tone\n2\t")}, &pgproto3.CopyData{Data: []byte("two\n")}, &pgproto3.CopyDone{})
	in("the end marked as well", "COPY cp FROM STDIN", &pgproto3.CopyData{Data: []byte("3\tthree\n\\.\n")}, &pgproto3.CopyDone{})
	in("given up", "COPY cp FROM STDIN", &pgproto3.CopyData{Data: []byte("4\tfour\n")}, &pgproto3.CopyFail{Message: "changed my mind"})
	in("wrong", "COPY cp FROM STDIN", &pgproto3.CopyData{Data: []byte("x\tfour\n")}, &pgproto3.CopyDone{})
	in("Flush and Sync are let through", "COPY cp FROM STDIN", &pgproto3.Flush{}, syncMessage, &pgproto3.CopyData{Data: []byte("5\tfive\n")}, &pgproto3.CopyDone{})
	in("no data", "COPY cp FROM STDIN", &pgproto3.CopyDone{})
	in("between statements", "INSERT INTO cp VALUES (8, 'a'); COPY cp FROM STDIN; SELECT count(*) FROM cp", &pgproto3.CopyData{Data: []byte("9\tb\n")}, &pgproto3.CopyDone{})
	w.step(1, "out", q("COPY (SELECT a, b FROM cp ORDER BY a) TO STDOUT"))
	w.step(1, "out in binary", q("COPY (SELECT a, b FROM cp WHERE a < 3 ORDER BY a) TO STDOUT (FORMAT binary)"))
	w.step(1, "out as CSV", q("COPY (SELECT a, b FROM cp WHERE a < 3 ORDER BY a) TO STDOUT CSV HEADER"))
	w.step(1, "by the extended protocol", parse("", "COPY (SELECT 1) TO STDOUT"), bind("", ""), describePortal, executeAll, syncMessage)
	w.trace.WriteString("# in, by the extended protocol\n")
	w.send(parse("", "COPY cp FROM STDIN"), bind("", ""), executeAll, syncMessage)
	w.messages(3)
	w.send(&pgproto3.CopyData{Data: []byte("7\tseven\n")}, &pgproto3.CopyDone{}, syncMessage)
	w.until(1)
	w.step(1, "stray copy messages mean nothing", &pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, q("SELECT count(*) FROM cp"))
	var b []byte
	b = append(b, "PGCOPY\n\xff\r\n\x00"...)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	row := func(n int32, s string) {
		b = append(b, 0, 2, 0, 0, 0, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	row(100, "bin")
	b = append(b, 0, 2, 255, 255, 255, 255, 255, 255, 255, 255)
	b = append(b, 0xff, 0xff)
	in("in binary", "COPY cp FROM STDIN (FORMAT binary)", &pgproto3.CopyData{Data: b[:20]}, &pgproto3.CopyData{Data: b[20:]}, &pgproto3.CopyDone{})
	in("not binary", "COPY cp FROM STDIN (FORMAT binary)", &pgproto3.CopyData{Data: []byte("text")}, &pgproto3.CopyDone{})
	w.step(1, "as seen", q("SELECT * FROM cp WHERE a IS NULL OR a > 5 ORDER BY a"))
}

func wireTransactions(w *wire) {
	w.step(1, "begin", q("BEGIN"))
	w.step(1, "failed", q("SELECT nothing"))
	w.step(1, "refused", q("SELECT 1"))
	w.step(1, "commit is rollback", q("COMMIT"))
	w.step(1, "outside", q("COMMIT"))
	w.step(1, "begin twice", q("BEGIN; BEGIN"))
	w.step(1, "savepoint", q("SAVEPOINT a"))
	w.step(1, "failed", q("SELECT nothing"))
	w.step(1, "back", q("ROLLBACK TO a"))
	w.step(1, "end", q("END"))
	w.step(1, "implicit, with an error", q("CREATE TEMP TABLE tt (a int); INSERT INTO tt VALUES (1); SELECT nothing"))
	w.step(1, "all undone", q("SELECT * FROM tt"))
	w.step(1, "implicit, with a block", q("CREATE TEMP TABLE tt (a int); BEGIN; INSERT INTO tt VALUES (1)"))
	w.step(1, "the block is open", q("SELECT * FROM tt"))
	w.step(1, "and undone", q("ROLLBACK; SELECT 1"))
	w.step(1, "not in a transaction block", q("SELECT 1; VACUUM"))
	w.step(1, "nor in a block", q("BEGIN; VACUUM"))
	w.step(1, "end", q("ROLLBACK"))
}

// TestStartup: the first messages, which PostgreSQL's differ from in version numbers only.
func TestStartup(t *testing.T) {
	dsn := minipgtest.New(t, minipgtest.InMemory()).DSN("postgres")
	startup := func(version uint32, params map[string]string) *pgproto3.StartupMessage {
		params["user"], params["database"] = "postgres", "postgres"
		return &pgproto3.StartupMessage{ProtocolVersion: version, Parameters: params}
	}
	const protocol3 = pgproto3.ProtocolVersionNumber
	t.Run("parameters", func(t *testing.T) {
		w := &wire{t: t, conn: dial(t, dsn)}
		w.front = pgproto3.NewFrontend(pgproto3.NewChunkReader(w.conn), w.conn)
		w.send(startup(protocol3, map[string]string{"application_name": "x", "DateStyle": "ISO", "options": "-c work_mem=5MB"}))
		w.until(1)
		for _, want := range []string{
			"application_name=x", "client_encoding=UTF8", "DateStyle=ISO, MDY", "default_transaction_read_only=off",
			"in_hot_standby=off", "integer_datetimes=on", "IntervalStyle=postgres", "is_superuser=on",
			"server_encoding=UTF8", "server_version=15", "session_authorization=postgres",
			"standard_conforming_strings=on", "TimeZone=",
		} {
			if !strings.Contains(w.trace.String(), "ParameterStatus "+want) {
				t.Errorf("no ParameterStatus %s in\n%s", want, w.trace.String())
			}
		}
		if n := strings.Count(w.trace.String(), "ParameterStatus"); n != 13 {
			t.Errorf("%d ParameterStatus messages, want 13", n)
		}
		w.trace.Reset()
		w.step(1, "an option", q("SHOW work_mem"))
		if !strings.Contains(w.trace.String(), `"5MB"`) {
			t.Error(w.trace.String())
		}
	})
	t.Run("encryption is refused", func(t *testing.T) {
		conn := dial(t, dsn)
		for _, m := range []pgproto3.FrontendMessage{&pgproto3.GSSEncRequest{}, &pgproto3.SSLRequest{}} {
			if _, err := conn.Write(encode(m)); err != nil {
				t.Fatal(err)
			}
			var answer [1]byte
			if _, err := io.ReadFull(conn, answer[:]); err != nil || answer[0] != 'N' {
				t.Fatalf("%T: %q, %v", m, answer, err)
			}
		}
		w := &wire{t: t, conn: conn, front: pgproto3.NewFrontend(pgproto3.NewChunkReader(conn), conn)}
		w.send(startup(protocol3, map[string]string{}))
		w.until(1)
	})
	t.Run("newer protocol", func(t *testing.T) {
		for _, m := range []*pgproto3.StartupMessage{
			startup(protocol3+2, map[string]string{}), startup(protocol3, map[string]string{"_pq_.future": "1"}),
			startup(protocol3+7, map[string]string{"_pq_.a": "1", "_pq_.b": "2"}),
		} {
			conn := dial(t, dsn)
			if _, err := conn.Write(encode(m)); err != nil {
				t.Fatal(err)
			}
			head := make([]byte, 5)
			if _, err := io.ReadFull(conn, head); err != nil || head[0] != 'v' {
				t.Fatalf("%q, %v; want NegotiateProtocolVersion", head, err)
			}
			body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
			if _, err := io.ReadFull(conn, body); err != nil {
				t.Fatal(err)
			}
			options := 0
			for name := range m.Parameters {
				if strings.HasPrefix(name, "_pq_.") {
					options++
					if !strings.Contains(string(body), name+"\x00") {
						t.Errorf("%q does not name %s", body, name)
					}
				}
			}
			if n := binary.BigEndian.Uint32(body[4:]); int(n) != options {
				t.Errorf("%d options, want %d", n, options)
			}
			w := &wire{t: t, conn: conn, front: pgproto3.NewFrontend(pgproto3.NewChunkReader(conn), conn)}
			w.until(1)
		}
	})
	t.Run("refused", func(t *testing.T) {
		for name, test := range map[string]struct {
			m    *pgproto3.StartupMessage
			want string
		}{
			"an old protocol": {startup(2<<16, map[string]string{}), "0A000"},
			"no such database": {&pgproto3.StartupMessage{ProtocolVersion: protocol3, Parameters: map[string]string{
				"user": "postgres", "database": "nothing",
			}}, "3D000"},
			"no such role": {&pgproto3.StartupMessage{ProtocolVersion: protocol3, Parameters: map[string]string{
				"user": "nobody", "database": "postgres",
			}}, "28000"},
			"no user":            {&pgproto3.StartupMessage{ProtocolVersion: protocol3, Parameters: map[string]string{"database": "postgres"}}, "28000"},
			"an unknown setting": {startup(protocol3, map[string]string{"nothing": "1"}), "42704"},
			"a bad value":        {startup(protocol3, map[string]string{"work_mem": "x"}), "22023"},
		} {
			w := &wire{t: t, conn: dial(t, dsn)}
			w.front = pgproto3.NewFrontend(pgproto3.NewChunkReader(w.conn), w.conn)
			w.send(test.m)
			for {
				m, err := w.front.Receive()
				if err != nil {
					t.Errorf("%s: %v", name, err)
					break
				}
				if e, ok := m.(*pgproto3.ErrorResponse); ok {
					if e.Code != test.want || e.SeverityUnlocalized != "FATAL" {
						t.Errorf("%s: %s %s %s, want FATAL %s", name, e.SeverityUnlocalized, e.Code, e.Message, test.want)
					}
					break
				}
				if _, ok := m.(*pgproto3.ReadyForQuery); ok {
					t.Errorf("%s: accepted", name)
					break
				}
			}
		}
	})
}

// TestCancel cancels what computes and what waits.
func TestCancel(t *testing.T) {
	dsn := minipgtest.New(t, minipgtest.InMemory()).DSN("postgres")
	query(t, dsn, "CREATE TABLE locked (a int PRIMARY KEY); INSERT INTO locked VALUES (1)")
	holder := connect(t, dsn)
	holder.step(1, "hold", q("BEGIN; UPDATE locked SET a = 1; SELECT pg_advisory_lock(5)"))
	for name, sql := range map[string]string{
		"sleep": "SELECT pg_sleep(60)", "series": "SELECT count(*) FROM generate_series(1, 1000000000000)",
		"join": "SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b",
		"sort": "SELECT g FROM generate_series(1, 100000000) g ORDER BY -g",
		"row":  "UPDATE locked SET a = 2", "table": "LOCK TABLE locked", "advisory": "SELECT pg_advisory_lock(5)",
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{t: t, conn: dial(t, dsn)}
			w.front = pgproto3.NewFrontend(pgproto3.NewChunkReader(w.conn), w.conn)
			w.send(&pgproto3.StartupMessage{
				ProtocolVersion: pgproto3.ProtocolVersionNumber, Parameters: map[string]string{"user": "postgres", "database": "postgres"},
			})
			var key pgproto3.BackendKeyData
			for ready := false; !ready; {
				m, err := w.front.Receive()
				if err != nil {
					t.Fatal(err)
				}
				switch m := m.(type) {
				case *pgproto3.BackendKeyData:
					key = *m
				case *pgproto3.ReadyForQuery:
					ready = true
				}
			}
			w.step(1, "in a block", q("BEGIN"))
			w.send(q(sql))
			waitActive(t, dsn, key.ProcessID, sql)
			wrong := dial(t, dsn)
			cancel(t, wrong, key.ProcessID, key.SecretKey+1)
			began := time.Now()
			cancel(t, dial(t, dsn), key.ProcessID, key.SecretKey)
			w.trace.Reset()
			w.until(1)
			if !strings.Contains(w.trace.String(), "57014") || !strings.HasSuffix(w.trace.String(), "ReadyForQuery E\n") {
				t.Errorf("after a cancel:\n%s", w.trace.String())
			}
			if d := time.Since(began); d > 2*time.Second {
				t.Errorf("the cancel took %v", d)
			}
			w.step(1, "goes on", q("ROLLBACK; SELECT 1"))
		})
	}
}

// waitActive returns when a session runs sql.
func waitActive(t *testing.T, dsn string, pid uint32, sql string) {
	t.Helper()
	running := fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active' AND query = '%s'", pid, sql)
	for deadline := time.Now().Add(10 * time.Second); query(t, dsn, running) != "1"; {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not run", sql)
		}
	}
}

// cancel sends a request to cancel and returns when the server has dealt with it.
func cancel(t *testing.T, conn net.Conn, pid, key uint32) {
	t.Helper()
	if _, err := conn.Write(encode(&pgproto3.CancelRequest{ProcessID: pid, SecretKey: key})); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("a cancel request was answered")
	}
}
