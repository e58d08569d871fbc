package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// foreignDatabase is the one database the lab uses in a PostgreSQL. Invariant 4.
const foreignDatabase = "minipg_lab"

// foreign is a PostgreSQL somebody else started.
type foreign struct {
	admin      *pgx.Conn
	conn       string
	postmaster int // 0 if it is not on this machine
	dirs       []string
	spaces     bool
}

// connectForeign makes the lab's database in a PostgreSQL.
func connectForeign(ctx context.Context, dsn string) (*foreign, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	admin, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	f := &foreign{admin: admin, conn: withDatabase(dsn, foreignDatabase)}
	var pid int
	if err := admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return nil, err
	}
	if _, _, parent, ok := processTimes(pid); ok && strings.HasPrefix(cmdline(pid), "postgres") {
		f.postmaster = parent
	}
	if err := f.clean(ctx); err != nil { // of what an earlier run may have left
		return nil, err
	}
	return f, execAll(ctx, admin, "CREATE DATABASE "+foreignDatabase)
}

func cmdline(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(data)
}

// withDatabase replaces the database of a connection string of either kind.
func withDatabase(dsn, name string) string {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " dbname=" + name // the last one counts
	}
	base, query, _ := strings.Cut(dsn, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	out := scheme + "://" + host + "/" + name
	if query != "" {
		out += "?" + query
	}
	return out
}

// foreignSettings are those a reader wants to know.
var foreignSettings = []string{
	"shared_buffers", "max_wal_size", "max_connections", "synchronous_commit", "fsync", "full_page_writes",
	"data_checksums", "wal_sync_method", "wal_compression", "autovacuum", "checkpoint_timeout",
}

func (f *foreign) describe(ctx context.Context) (*PostgreSQL, error) {
	var p PostgreSQL
	if err := f.admin.QueryRow(ctx, "SELECT version()").Scan(&p.Version); err != nil {
		return nil, err
	}
	for _, name := range foreignSettings {
		var value string
		if err := f.admin.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return nil, err
		}
		p.Settings = append(p.Settings, Setting{name, value})
	}
	return &p, nil
}

// makeSpaces makes the tablespaces in directories that PostgreSQL's user owns.
func (f *foreign) makeSpaces(ctx context.Context, dirs map[string]string) error {
	if f.spaces {
		return nil
	}
	var data string
	if err := f.admin.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
		return err
	}
	owner, err := os.Stat(data)
	if err != nil {
		return fmt.Errorf("tablespaces need a PostgreSQL on this machine: %w", err)
	}
	f.spaces = true
	for _, space := range []string{spaceA, spaceB} {
		dir := filepath.Join(dirs[space], "postgresql")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		f.dirs = append(f.dirs, dir)
		if st, ok := owner.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
			if err := os.Chown(dir, int(st.Uid), int(st.Gid)); err != nil {
				return err
			}
		}
		if err := execAll(ctx, f.admin, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", space, dir)); err != nil {
			return err
		}
	}
	return nil
}

func (f *foreign) dsn() string { return f.conn }

func (f *foreign) counters(context.Context) (*Counters, error) { return nil, nil }

func (f *foreign) cpu() (float64, bool) {
	if f.postmaster == 0 {
		return 0, false
	}
	return familyCPU(f.postmaster)
}

func (f *foreign) clean(ctx context.Context) error {
	return execAll(ctx, f.admin, "DROP DATABASE IF EXISTS "+foreignDatabase+" WITH (FORCE)",
		"DROP TABLESPACE IF EXISTS "+spaceA, "DROP TABLESPACE IF EXISTS "+spaceB)
}

// stop drops what the lab made.
func (f *foreign) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := []error{f.clean(ctx), f.admin.Close(ctx)}
	for _, dir := range f.dirs {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}
