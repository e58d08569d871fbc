package settings

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

var rewrite = flag.Bool("rewrite", false, "record goldens from the PostgreSQL 15 of MINIPG_TEST_PG")

func testServer(t *testing.T) *Server {
	t.Helper()
	s, err := NewServer(nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func superuser(t *testing.T) *Session {
	t.Helper()
	s := testServer(t).NewSession()
	s.Superuser, s.Ready = true, true
	return s
}

// TestSetLikePostgres runs the lines of testdata/set.txt in one session. The answers were recorded from
// PostgreSQL 15; parameters that minipg does not implement are not in the file.
func TestSetLikePostgres(t *testing.T) {
	lines := readLines(t, "testdata/set.txt")
	if *rewrite {
		record(t, lines)
	}
	want := readLines(t, "testdata/set.golden")
	if len(want) != len(lines) {
		t.Fatalf("%d answers for %d lines", len(want), len(lines))
	}
	s := superuser(t)
	for i, l := range lines {
		name, value := splitSet(l)
		err := s.Set(name, value, SetOptions{})
		got := "ok"
		if err != nil {
			got = errText(pgerr.From(err))
		} else if v, err := s.Show(name); err == nil {
			got = v
		}
		s.Commit()
		if got = l + " -> " + got; got != want[i] {
			t.Errorf("\n got %s\nwant %s", got, want[i])
		}
	}
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		out = append(out, sc.Text())
	}
	return out
}

func splitSet(l string) (name, value string) {
	name, value, _ = strings.Cut(l, " = ")
	if u := strings.Trim(name, `"`); u != name {
		name = u
	} else {
		name = strings.ToLower(name)
	}
	return name, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'"), "''", "'")
}

func errText(e *pgerr.Error) string {
	return fmt.Sprintf("%s %s|%s|%s", e.Code, e.Message, e.Detail, e.Hint)
}

func record(t *testing.T, lines []string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv("MINIPG_TEST_PG"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var out strings.Builder
	for _, l := range lines {
		name, value := splitSet(l)
		got := ""
		err := conn.QueryRow(ctx, "SELECT set_config($1, $2, false)", pgx.QueryExecModeExec, name, value).Scan(&got)
		var pe *pgconn.PgError
		switch {
		case errors.As(err, &pe):
			got = fmt.Sprintf("%s %s|%s|%s", pe.Code, pe.Message, pe.Detail, pe.Hint)
		case err != nil:
			t.Fatal(err)
		default:
			if err := conn.QueryRow(ctx, "SELECT current_setting($1)", pgx.QueryExecModeExec, name).Scan(&got); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&out, "%s -> %s\n", l, got)
	}
	if err := os.WriteFile("testdata/set.golden", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryParameterIsSorted(t *testing.T) {
	for i := range params {
		p := &params[i]
		if p.id != ID(i) || Lookup(strings.ToUpper(p.Name)) != p {
			t.Errorf("%s is not found", p.Name)
		}
		if p.Desc == "" || p.Category == "" {
			t.Errorf("%s has no description", p.Name)
		}
	}
}

// set is Set or a failed test.
func set(t *testing.T, s *Session, name, value string, local bool) {
	t.Helper()
	if err := s.Set(name, value, SetOptions{Local: local}); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, s *Session, name, value string) {
	t.Helper()
	got, err := s.Show(name)
	if err != nil || got != value {
		t.Errorf("%s is %q (%v), want %q", name, got, err, value)
	}
}

func TestSetLocalEndsWithTransaction(t *testing.T) {
	s := superuser(t)
	set(t, s, "work_mem", "8MB", false)
	s.Commit()
	set(t, s, "work_mem", "16MB", true)
	set(t, s, "a.b", "x", true)
	want(t, s, "work_mem", "16MB")
	want(t, s, "a.b", "x")
	s.Commit()
	want(t, s, "work_mem", "8MB")
	want(t, s, "a.b", "")
}

func TestSetThenSetLocalKeepsTheFirst(t *testing.T) {
	s := superuser(t)
	set(t, s, "work_mem", "8MB", false)
	set(t, s, "work_mem", "16MB", true)
	s.Commit()
	want(t, s, "work_mem", "8MB")
}

func TestAbortUndoesSet(t *testing.T) {
	s := superuser(t)
	set(t, s, "work_mem", "8MB", false)
	set(t, s, "datestyle", "german", false)
	s.Abort()
	want(t, s, "work_mem", "4MB")
	want(t, s, "DateStyle", "ISO, MDY")
}

func TestSavepointsNest(t *testing.T) {
	s := superuser(t)
	set(t, s, "work_mem", "8MB", false)
	a := s.Mark()
	set(t, s, "work_mem", "16MB", false)
	b := s.Mark()
	set(t, s, "work_mem", "32MB", true)
	if err := s.Reset("datestyle", SetOptions{}); err != nil {
		t.Fatal(err)
	}
	s.RollbackTo(b)
	want(t, s, "work_mem", "16MB")
	s.RollbackTo(a)
	want(t, s, "work_mem", "8MB")
	s.Commit()
	want(t, s, "work_mem", "8MB")
}

func TestResetGoesBackToRoleThenDatabase(t *testing.T) {
	s := superuser(t)
	for _, d := range []struct {
		value string
		src   Source
	}{{"5MB", SourceUser}, {"6MB", SourceDatabase}} {
		if err := s.SetDefault("work_mem", d.value, d.src); err != nil {
			t.Fatal(err)
		}
	}
	want(t, s, "work_mem", "5MB")
	set(t, s, "work_mem", "9MB", false)
	s.ResetAll()
	want(t, s, "work_mem", "5MB")
	s.Abort()
	want(t, s, "work_mem", "5MB")
}

func TestPrivilegesAndContexts(t *testing.T) {
	s := testServer(t).NewSession()
	s.Ready = true
	err := s.Set("log_statement", "all", SetOptions{})
	if !pgerr.HasCode(err, pgerr.InsufficientPrivilege) {
		t.Errorf("log_statement: %v", err)
	}
	if err := s.Set("log_statement", "all", SetOptions{Allowed: true}); err != nil {
		t.Error(err)
	}
	if err := s.Set("ssl", "on", SetOptions{}); !pgerr.HasCode(err, pgerr.CantChangeRuntimeParam) {
		t.Errorf("ssl: %v", err)
	}
}

func TestUnsupportedValueIsRefused(t *testing.T) {
	s := superuser(t)
	for _, c := range [][2]string{{"session_replication_role", "replica"}, {"default_table_access_method", "zheap"}} {
		if err := s.Set(c[0], c[1], SetOptions{}); !pgerr.HasCode(err, pgerr.FeatureNotSupported) {
			t.Errorf("%s: %v", c[0], err)
		}
		if err := s.Set(c[0], Lookup(c[0]).Default(), SetOptions{}); err != nil {
			t.Errorf("%s at its default: %v", c[0], err)
		}
	}
}

func TestChangesAreReportedOnce(t *testing.T) {
	s := superuser(t)
	count := func() []string {
		var out []string
		s.Changes(func(n, v string) { out = append(out, n+"="+v) })
		return out
	}
	if n := len(count()); n != 13 {
		t.Errorf("%d parameters reported at the start", n)
	}
	set(t, s, "timezone", "Europe/Berlin", false)
	set(t, s, "work_mem", "8MB", false)
	if got := count(); !slices.Equal(got, []string{"TimeZone=Europe/Berlin"}) {
		t.Errorf("got %v", got)
	}
	s.Abort()
	if got := count(); !slices.Equal(got, []string{"TimeZone=Etc/UTC"}) {
		t.Errorf("got %v", got)
	}
}

func TestFilesAndReload(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ConfFile, "work_mem = 8MB # memory\nshared_buffers '256MB'\n\n  search_path = '\"$user\", x''y'\nmy.own = 1\n")
	s, err := NewServer(storage.OSFS{}, dir, []Assignment{{Name: "port", Value: "6000"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	x := s.NewSession()
	x.Superuser, x.Ready = true, true
	want(t, x, "work_mem", "8MB")
	want(t, x, "search_path", `"$user", x'y`)
	want(t, x, "port", "6000")
	want(t, x, "my.own", "1")
	if s.Bytes(SharedBuffers) != 256<<20 {
		t.Error(s.Bytes(SharedBuffers))
	}

	v := "12MB"
	if err := s.AlterSystem("WORK_MEM", &v); err != nil {
		t.Fatal(err)
	}
	write(ConfFile, "work_mem = 9MB\nshared_buffers = 512MB\nnonsense = 1\n")
	problems := s.Reload()
	if len(problems) != 2 {
		t.Errorf("problems: %v", problems)
	}
	want(t, x, "work_mem", "8MB")
	x.Refresh()
	want(t, x, "work_mem", "12MB")
	want(t, x, "shared_buffers", "256MB")
	i := slices.IndexFunc(x.All(), func(i Info) bool { return i.Name == "shared_buffers" })
	if !x.All()[i].PendingRestart {
		t.Error("shared_buffers does not wait for a restart")
	}
	if err := s.AlterSystem("work_mem", nil); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	x.Refresh()
	want(t, x, "work_mem", "9MB")
}

func TestConfErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a b c", `syntax error in file "f" line 1, near token "c"`},
		{"\n= 3", `syntax error in file "f" line 2, near token "="`},
		{"work_mem", `syntax error in file "f" line 1, near end of line`},
		{"work_mem = 'x", `syntax error in file "f" line 1, near token "'x"`},
		{"include 'other.conf'", `directive "include" in file "f" line 1 is not supported`},
	} {
		_, err := ParseConf("f", c.text)
		if err == nil || pgerr.From(err).Message != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestSampleConfIsValid(t *testing.T) {
	lines := strings.Split(SampleConf(), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "#") && strings.Contains(l, " = ") && !strings.HasPrefix(l, "# ") {
			lines[i] = l[1:]
		}
	}
	list, err := ParseConf("sample", strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 100 {
		t.Errorf("only %d parameters", len(list))
	}
	s := testServer(t)
	b, problems := s.build(list, nil)
	for _, p := range problems {
		t.Error(p)
	}
	for i := range params {
		if *b.pages.get(ID(i)) != *s.cur.Load().pages.get(ID(i)) {
			t.Errorf("%s is not at its default", params[i].Name)
		}
	}
}

func BenchmarkInt(b *testing.B) {
	srv, err := NewServer(nil, "", nil)
	if err != nil {
		b.Fatal(err)
	}
	s := srv.NewSession()
	b.ReportAllocs()
	var sum int64
	for b.Loop() {
		sum += s.Int(WorkMem)
	}
	_ = sum
}
