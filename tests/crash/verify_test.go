package crash

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/minipg/minipg/engine"
)

// verify compares what is there with what was acknowledged, a commit in flight being free to have
// happened or not, and takes it for the new truth.
func (sim *simulation) verify() error {
	for _, a := range sim.actors {
		want := a.acked.recovered()
		problem := a.differs(want)
		if problem != nil && a.doubt != nil {
			want = a.doubt.recovered()
			if a.differs(want) == nil {
				problem = nil
			}
		}
		if problem != nil {
			return fmt.Errorf("after recovery: %w", problem)
		}
		want.seq = max(want.seq, a.acked.seq)
		a.acked, a.now, a.doubt = want, want, nil
		if err := a.nextval(); err != nil {
			return fmt.Errorf("after recovery: %w", err)
		}
	}
	var first error
	_, err := sim.server.eng.Check(background, func(p engine.Problem) {
		if first == nil {
			first = errors.New("check: " + p.String())
		}
	})
	return errors.Join(first, err)
}

// differs looks for the state in the database.
func (a *actor) differs(want *state) error {
	if err := a.query("SELECT relname, relpersistence FROM pg_class WHERE relkind = 'r' AND relname ~ '^%s[0-9]+$'", a.name); err != nil {
		return err
	}
	for _, row := range a.rows {
		if want.tables[row[0]] == nil {
			return fmt.Errorf("table %s is there and should not be", row[0])
		}
	}
	if len(a.rows) != len(want.tables) {
		return fmt.Errorf("%d tables, want %d", len(a.rows), len(want.tables))
	}
	for _, t := range want.tables {
		if err := a.tableDiffers(t); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	if err := a.query("SELECT k, v FROM shared WHERE who = '%s'", a.name); err != nil {
		return err
	}
	if err := compare(a.rows, want.shared); err != nil {
		return fmt.Errorf("table shared: %w", err)
	}
	return nil
}

func (a *actor) tableDiffers(t *table) error {
	// By the table and by the index: both must have all.
	for _, setting := range []string{"enable_indexscan = off", "enable_seqscan = off"} {
		err := a.query("BEGIN; SET LOCAL enable_bitmapscan = off; SET LOCAL %s; SELECT k, v FROM %s WHERE k >= 0; COMMIT", setting, t.name)
		if err != nil {
			return errors.Join(err, a.query("ROLLBACK"))
		}
		if err := compare(a.rows, t.rows); err != nil {
			return fmt.Errorf("with %s: %w", setting, err)
		}
	}
	// Also what no row shows, so that a commit in flight is told from its absence.
	if err := a.query("SELECT count(*) FROM pg_attribute WHERE attrelid = '%s'::regclass AND attname ~ '^x[0-9]'", t.name); err != nil {
		return err
	}
	if want := strconv.Itoa(t.added); a.rows[0][0] != want {
		return fmt.Errorf("%s added columns, want %s", a.rows[0][0], want)
	}
	if t.added > 0 {
		if err := a.query("SELECT count(*) FROM %s WHERE x1 IS DISTINCT FROM 7 OR x%d IS DISTINCT FROM 7", t.name, t.added); err != nil {
			return err
		}
		if a.rows[0][0] != "0" {
			return fmt.Errorf("%s rows without an added column's default", a.rows[0][0])
		}
	}
	if err := a.query("SELECT count(*) FROM pg_index WHERE indrelid = '%s'::regclass", t.name); err != nil {
		return err
	}
	if want := strconv.Itoa(1 + t.indexes); a.rows[0][0] != want {
		return fmt.Errorf("%s indexes, want %s", a.rows[0][0], want)
	}
	return nil
}

func compare(rows [][]string, want map[int]string) error {
	seen := make(map[int]bool, len(rows))
	for _, row := range rows {
		key, err := strconv.Atoi(row[0])
		if err != nil {
			return err
		}
		v, ok := want[key]
		switch {
		case !ok:
			return fmt.Errorf("key %d is there and should not be", key)
		case seen[key]:
			return fmt.Errorf("key %d is there twice", key)
		case v != row[1]:
			return fmt.Errorf("key %d has %.40q, want %.40q", key, row[1], v)
		}
		seen[key] = true
	}
	for key := range want {
		if !seen[key] {
			return fmt.Errorf("key %d is lost", key)
		}
	}
	return nil
}
