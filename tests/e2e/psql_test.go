package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPsql feeds scripts to stock psql and compares all it prints, byte for byte, with what it
// printed on PostgreSQL 15. Each runs in a database of its own.
func TestPsql(t *testing.T) {
	dsn := subject(t)
	scripts, err := filepath.Glob("testdata/psql/*.psql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".psql")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			database := "psql_" + name
			query(t, dsn, "DROP DATABASE IF EXISTS "+database)
			query(t, dsn, "CREATE DATABASE "+database)
			t.Cleanup(func() { query(t, dsn, "DROP DATABASE "+database) })
			dir := t.TempDir()
			in := strings.ReplaceAll(string(text), "@DIR@", dir)
			out, err := command(t, in, dsn+" dbname="+database, "psql", "-X", "-a", "-v", "ON_ERROR_STOP=0")
			if err != nil {
				t.Errorf("psql: %v", err)
			}
			out = strings.ReplaceAll(out, dir, "@DIR@")
			golden(t, "psql/"+name+".golden", tempSchema.ReplaceAllString(out, "pg_temp_N"))
		})
	}
}

// TestPsqlExitStatus: psql tells by its status what happened.
func TestPsqlExitStatus(t *testing.T) {
	if *rewrite {
		t.Skip("nothing is recorded")
	}
	dsn := subject(t)
	if out, err := command(t, "", dsn, "psql", "-X", "-Atc", "SELECT 1"); err != nil || out != "1\n" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := command(t, "", dsn, "psql", "-X", "-c", "SELECT nothing"); err == nil {
		t.Errorf("no error: %s", out)
	}
	if out, err := command(t, "", dsn+" dbname=nothing", "psql", "-X", "-c", "SELECT 1"); err == nil ||
		!strings.Contains(out, `FATAL:  database "nothing" does not exist`) {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := command(t, "", dsn, "pg_isready"); err != nil {
		t.Errorf("pg_isready: %s, %v", out, err)
	}
}
