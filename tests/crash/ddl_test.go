package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/storage/faultfs"
)

// TestDDLBetweenLogAndApply lets a checkpoint begin while a transaction with DDL syncs its commit record,
// that is before the catalog has what the record says, and cuts the power at each of the next operations.
func TestDDLBetweenLogAndApply(t *testing.T) {
	acknowledged := 0
	for after := int64(1); after <= 60; after++ {
		acked, err := crashInCommit(after)
		if err != nil {
			t.Fatalf("power cut %d operations after the commit began: %v", after, err)
		}
		if acked {
			acknowledged++
		}
	}
	if acknowledged == 0 || acknowledged == 60 {
		t.Errorf("%d of 60 commits were acknowledged: the cuts do not lie around the commit", acknowledged)
	}
}

func crashInCommit(after int64) (acked bool, err error) {
	rng := rand.New(rand.NewPCG(uint64(after), 3))
	cfg := config(rng, engine.Unsafe{})
	s, err := open(faultfs.New(faultfs.Options{}), cfg, "a", "b")
	if err != nil {
		return false, err
	}
	a, b := s.clients[0], s.clients[1]
	for _, text := range []string{
		"CREATE TABLE old (k int PRIMARY KEY, v text)", "INSERT INTO old SELECT g, 'x' FROM generate_series(1, 100) g",
		"BEGIN", "CREATE TABLE made (k serial PRIMARY KEY, v text)", "INSERT INTO made (v) SELECT 'made' FROM generate_series(1, 50)",
		"CREATE INDEX made_v ON made (v, k)", "ALTER TABLE old ADD COLUMN added int DEFAULT 5", "UPDATE old SET v = 'y' WHERE k <= 10",
		"SAVEPOINT s", "DROP TABLE old", "ROLLBACK TO s", "ALTER TABLE old RENAME TO renamed",
	} {
		if err := a.query("%s", text); err != nil {
			return false, err
		}
	}
	var began atomic.Bool // only the commit's own sync begins one
	checkpointed := make(chan error, 1)
	redo := s.eng.Log().RedoPoint()
	s.fs.Inject(faultfs.Rule{Ops: faultfs.OpsSyncing, Hook: func(faultfs.Op, string) {
		began.Store(true)
		go func() { checkpointed <- b.query("CHECKPOINT") }()
		// It chooses its redo point, and waits for the commit; or fails, where the power went before.
		for deadline := time.Now().Add(time.Second); s.eng.Log().RedoPoint() == redo && time.Now().Before(deadline); {
			runtime.Gosched()
		}
	}})
	s.fs.CrashAt(after)
	err = a.query("COMMIT")
	if err != nil && !errors.Is(err, faultfs.ErrCrashed) {
		return false, err
	}
	acked = err == nil
	if began.Load() {
		if err := <-checkpointed; err != nil && !errors.Is(err, faultfs.ErrCrashed) {
			return acked, fmt.Errorf("checkpoint: %w", err)
		}
	}
	s.abandon()
	s, err = open(s.powerCut(rng), cfg, "a")
	if err != nil {
		return acked, fmt.Errorf("recovery: %w", err)
	}
	if err := verifyDDL(s.clients[0], acked); err != nil {
		return acked, err
	}
	var first error
	_, err = s.eng.Check(background, func(p engine.Problem) {
		if first == nil {
			first = errors.New("check: " + p.String())
		}
	})
	return acked, errors.Join(first, err, s.close())
}

// verifyDDL: all of the transaction is there, or, where it was not acknowledged, perhaps none of it.
func verifyDDL(c *client, acked bool) error {
	if err := c.query("SELECT to_regclass('made') IS NOT NULL, to_regclass('renamed') IS NOT NULL, to_regclass('old') IS NOT NULL, " +
		"to_regclass('made_k_seq') IS NOT NULL, to_regclass('made_v') IS NOT NULL"); err != nil {
		return err
	}
	state := fmt.Sprint(c.rows[0])
	const all, none = "[t t f t t]", "[f f t f f]"
	if state != all && (acked || state != none) {
		return fmt.Errorf("acknowledged: %t, but found %s", acked, state)
	}
	if state == none {
		return c.want("SELECT count(*) FILTER (WHERE v = 'x') FROM old", "100")
	}
	return errors.Join(
		c.want("SELECT count(*) FILTER (WHERE v = 'made') FROM made", "50"),
		c.want("SELECT count(*) FILTER (WHERE added = 5) FROM renamed", "100"),
		c.want("SELECT count(*) FROM renamed WHERE v = 'y'", "10"),
		c.query("INSERT INTO made (v) VALUES ('after')"),
		c.query("INSERT INTO renamed VALUES (1000, 'after')"),
	)
}

func (c *client) want(text, want string) error {
	if err := c.query("%s", text); err != nil {
		return err
	}
	if got := c.rows[0][0]; got != want {
		return fmt.Errorf("%s: %s, want %s", text, got, want)
	}
	return nil
}
