package sql

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

// discard is a client that reads nothing; it counts the rows.
type discard struct{ rows int }

func (*discard) RowDescription([]Column)                  {}
func (d *discard) DataRow([][]byte) error                 { d.rows++; return nil }
func (*discard) CommandComplete([]byte)                   {}
func (*discard) EmptyQuery()                              {}
func (*discard) PortalSuspended()                         {}
func (*discard) NoData()                                  {}
func (*discard) ParameterDescription([]types.OID)         {}
func (*discard) ParseComplete()                           {}
func (*discard) BindComplete()                            {}
func (*discard) CloseComplete()                           {}
func (*discard) Notice(*pgerr.Error)                      {}
func (*discard) ParameterStatus(string, string)           {}
func (*discard) CopyIn(int16, []int16) error              { return nil }
func (*discard) CopyRead(context.Context) ([]byte, error) { return nil, io.EOF }
func (*discard) CopyOut(int16, []int16)                   {}
func (*discard) CopyData([]byte) error                    { return nil }
func (*discard) CopyDone()                                {}

// benchRows are the rows of the table accounts of a benchmark's session.
const benchRows = 1000

// benchSession is a session of a server in memory that has a table of accounts.
func benchSession(b *testing.B) *Session {
	b.Helper()
	ctx := context.Background()
	fsys := faultfs.New(faultfs.Options{})
	set, err := settings.NewServer(fsys, "data", nil)
	if err != nil {
		b.Fatal(err)
	}
	m := metrics.New()
	eng, err := engine.Open(ctx, engine.Config{
		FS: fsys, Dir: "data", Logger: zap.NewNop(), Metrics: m,
		Options: engine.Options{SharedBuffers: 2048, Autovacuum: func() bool { return false }},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := eng.Close(ctx, engine.CloseImmediate); err != nil {
			b.Error(err)
		}
	})
	srv := NewServer(ServerConfig{Engine: eng, Settings: set, Logger: zap.NewNop(), Metrics: m})
	s, err := srv.Connect(ctx, ConnectOptions{User: "postgres", Database: "postgres", PID: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	for _, text := range []string{
		"CREATE TABLE accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
		"INSERT INTO accounts SELECT g, 1, 0, '' FROM generate_series(1, " + strconv.Itoa(benchRows) + ") g",
		"ANALYZE accounts",
	} {
		if err := s.Query(&discard{}, text); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// benchTexts are texts of one statement that differ in their literal, as pgbench sends them.
func benchTexts() []string {
	texts := make([]string, benchRows)
	for i := range texts {
		texts[i] = "SELECT abalance FROM accounts WHERE aid = " + strconv.Itoa(i+1) + ";"
	}
	return texts
}

// BenchmarkPlanCacheHit finds the plan of a text that differs from those before in its literal.
func BenchmarkPlanCacheHit(b *testing.B) {
	s := benchSession(b)
	ctx := s.begin(&discard{})
	defer s.end()
	if err := s.ensureTransaction(); err != nil {
		b.Fatal(err)
	}
	texts := benchTexts()
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		c, err := s.cachedPlan(ctx, texts[i%benchRows])
		if c == nil || err != nil {
			b.Fatal(c, err)
		}
		i++
	}
}

// BenchmarkKeySelect runs pgbench's -S without the network: a message with its text, or with a prepared statement.
func BenchmarkKeySelect(b *testing.B) {
	b.Run("protocol=simple", func(b *testing.B) {
		s, w, texts := benchSession(b), &discard{}, benchTexts()
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Query(w, texts[i%benchRows]); err != nil {
				b.Fatal(err)
			}
			i++
		}
		if w.rows != i {
			b.Errorf("%d rows of %d statements", w.rows, i)
		}
	})
	b.Run("protocol=prepared", func(b *testing.B) {
		s, w := benchSession(b), &discard{}
		if err := s.Parse(w, "q", "SELECT abalance FROM accounts WHERE aid = $1", nil); err != nil {
			b.Fatal(err)
		}
		keys := make([][]byte, benchRows)
		for i := range keys {
			keys[i] = strconv.AppendInt(nil, int64(i+1), 10)
		}
		m := &BindMessage{Statement: "q", Params: make([][]byte, 1)}
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			m.Params[0] = keys[i%benchRows]
			if err := s.Bind(w, m); err != nil {
				b.Fatal(err)
			}
			if err := s.Execute(w, "", 0); err != nil {
				b.Fatal(err)
			}
			if err := s.Sync(w); err != nil {
				b.Fatal(err)
			}
			i++
		}
		if w.rows != i {
			b.Errorf("%d rows of %d statements", w.rows, i)
		}
	})
}

// BenchmarkRowSink encodes the rows of a batch for the client.
func BenchmarkRowSink(b *testing.B) {
	for _, format := range []struct {
		name string
		code int16
	}{{"text", 0}, {"binary", 1}} {
		b.Run("format="+format.name, func(b *testing.B) {
			s := benchSession(b)
			cols := []Column{
				{Name: "aid", Type: types.Int4, Format: format.code},
				{Name: "bid", Type: types.Int4, Format: format.code},
				{Name: "filler", Type: types.Text, Format: format.code},
			}
			const rows = 100
			batch := types.NewBatch([]types.OID{types.Int4, types.Int4, types.Text}, rows)
			for i := range rows {
				batch.Cols[0].W[i], batch.Cols[1].W[i] = uint64(i), 1
				batch.Cols[2].B[i] = []byte("a filler of some thirty bytes")
			}
			batch.N = rows
			var sink rowSink
			w := &discard{}
			sink.reset(w, cols, &s.env)
			b.ReportAllocs()
			for b.Loop() {
				if err := sink.Batch(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(w.rows), "ns/row")
		})
	}
}

// feeder is a client that sends data for COPY in messages of the size psql makes.
type feeder struct {
	discard
	data []byte
	at   int
}

func (f *feeder) CopyRead(context.Context) ([]byte, error) {
	const message = 8 << 10
	if f.at == len(f.data) {
		return nil, io.EOF
	}
	from := f.at
	f.at = min(from+message, len(f.data))
	return f.data[from:f.at], nil
}

// BenchmarkCopyFrom loads rows of one short value, and pgbench's.
func BenchmarkCopyFrom(b *testing.B) {
	const rows = 50000
	blank := strings.Repeat(" ", 84)
	for _, c := range []struct {
		name, columns string
		line          func(i int) string
	}{
		{"int", "a int", strconv.Itoa},
		{"text", "a text", func(i int) string { return strconv.Itoa(i%9000 + 1000) }},
		{"accounts", "aid int NOT NULL, bid int, abalance int, filler char(84)", func(i int) string {
			return strconv.Itoa(i) + "\t1\t0\t" + blank
		}},
	} {
		for _, format := range []string{"text", "binary"} {
			b.Run("row="+c.name+"/format="+format, func(b *testing.B) {
				s := benchSession(b)
				run := func(w ResultWriter, text string) {
					if err := s.Query(w, text); err != nil {
						b.Fatal(err)
					}
				}
				run(&discard{}, "CREATE TABLE loaded ("+c.columns+")")
				var lines []byte
				for i := range rows {
					lines = append(append(lines, c.line(i)...), '\n')
				}
				f := &feeder{data: lines}
				if format == "binary" {
					run(f, "COPY loaded FROM STDIN")
					k := &keeper{}
					run(k, "COPY loaded TO STDOUT (FORMAT binary)")
					f.data = k.data
				}
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					run(&discard{}, "TRUNCATE loaded")
					f.at = 0
					b.StartTimer()
					run(f, "COPY loaded FROM STDIN (FORMAT "+format+")")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
			})
		}
	}
}

// keeper is a client that keeps what COPY TO sends.
type keeper struct {
	discard
	data []byte
}

func (k *keeper) CopyData(data []byte) error {
	k.data = append(k.data, data...)
	return nil
}
