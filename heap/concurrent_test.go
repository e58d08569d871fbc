package heap

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

const (
	bankAccounts = 24
	bankWriters  = 8
	bankMoves    = 150
	bankBalance  = 1000
)

// bank moves money between the rows of a heap, as many writers at a time as wait for each other,
// while readers see that none is lost, and VACUUM runs.
type bank struct {
	e     *env
	index [bankAccounts]struct {
		sync.Mutex
		tids []TID
	}
	deadlocks, retries atomic.Int64
}

func account(id, balance int) []byte {
	b := make([]byte, 100)
	binary.LittleEndian.PutUint64(b, uint64(id))
	binary.LittleEndian.PutUint64(b[8:], uint64(balance))
	return b
}

// find fetches an account through its index entries.
func (b *bank) find(s *session, snap *txn.Snapshot, id int) (TID, int, error) {
	b.index[id].Lock()
	tids := append([]TID(nil), b.index[id].tids...)
	b.index[id].Unlock()
	for _, tid := range tids {
		data, ok, err := b.e.h.Fetch(snap, tid, &s.buf)
		if err != nil {
			return tid, 0, err
		}
		if key, balance := rowKey(string(data) + string(make([]byte, 16))); ok && key == id {
			return s.buf.TID, balance, nil
		}
	}
	return InvalidTID, 0, fmt.Errorf("account %d is not found through %v", id, tids)
}

// add changes a balance as UPDATE in read committed does: where the row changed meanwhile, it is
// locked in its newest version and looked at again.
func (b *bank) add(ctx context.Context, s *session, id, amount int, rng *rand.Rand) error {
	snap := s.tx.TakeSnapshot()
	defer s.tx.ReleaseSnapshot(snap)
	tid, balance, err := b.find(s, snap, id)
	if err != nil {
		return err
	}
	for {
		opts := UpdateOptions{HotAllowed: rng.IntN(4) != 0, Mode: NoKeyUpdate}
		newTID, hot, res, err := b.e.h.Update(ctx, s.w, snap, tid, account(id, balance+amount), opts)
		switch {
		case err != nil:
			return err
		case res.Status == Ok:
			if !hot {
				b.index[id].Lock()
				b.index[id].tids = append(b.index[id].tids, newTID)
				b.index[id].Unlock()
			}
			s.next()
			return nil
		case res.Status != Updated:
			return fmt.Errorf("update of account %d: %v", id, res.Status)
		}
		b.retries.Add(1)
		if res, err = b.e.h.LockTuple(ctx, s.w, snap, tid, LockOptions{Mode: NoKeyUpdate, FollowUpdates: true}, &s.buf); err != nil {
			return err
		}
		if res.Status != Ok {
			return fmt.Errorf("lock of account %d: %v", id, res.Status)
		}
		tid = res.TID
		_, balance = rowKey(string(s.buf.Data))
	}
}

func (b *bank) move(ctx context.Context, s *session, rng *rand.Rand) error {
	from, to, amount := rng.IntN(bankAccounts), rng.IntN(bankAccounts), rng.IntN(50)
	s.tx.Start()
	if rng.IntN(4) == 0 { // a shared lock, as a foreign key takes it
		snap := s.tx.TakeSnapshot()
		tid, _, err := b.find(s, snap, rng.IntN(bankAccounts))
		if err == nil {
			_, err = b.e.h.LockTuple(ctx, s.w, snap, tid, LockOptions{Mode: KeyShare, FollowUpdates: true}, nil)
		}
		s.tx.ReleaseSnapshot(snap)
		if err != nil {
			s.abort()
			return err
		}
	}
	s.tx.Savepoint("s")
	err := b.add(ctx, s, from, -amount, rng)
	if err == nil && rng.IntN(8) == 0 {
		s.tx.RollbackTo("s")
		err = b.add(ctx, s, from, -amount, rng)
	}
	if err == nil {
		err = b.add(ctx, s, to, amount, rng)
	}
	if err != nil || rng.IntN(10) == 0 {
		s.abort()
		return err
	}
	return s.tx.Commit(txn.CommitInfo{DB: testDB, Async: true})
}

func (b *bank) writer(ctx context.Context, s *session, seed int) error {
	rng := rand.New(rand.NewPCG(uint64(seed), 11))
	for range bankMoves {
		err := b.move(ctx, s, rng)
		switch {
		case pgerr.HasCode(err, pgerr.TRDeadlockDetected):
			b.deadlocks.Add(1)
		case err != nil:
			return err
		}
	}
	return nil
}

// total reads every account in one snapshot.
func (b *bank) total(s *session) (sum int, err error) {
	s.tx.Start()
	defer s.abort()
	snap := s.tx.TakeSnapshot()
	defer s.tx.ReleaseSnapshot(snap)
	n := 0
	scan := b.e.h.NewScan(snap, ScanOptions{})
	defer scan.Close()
	for {
		p, ok, err := scan.NextPage()
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		for i := range p.N {
			_, balance := rowKey(string(p.Data(i)))
			sum += balance
			n++
		}
	}
	if n != bankAccounts {
		return 0, fmt.Errorf("%d accounts", n)
	}
	return sum, nil
}

func TestBank(t *testing.T) {
	e := newEnv(t, envConfig{buffers: 128, deadlock: 5 * time.Millisecond})
	b := &bank{e: e}
	s := e.session().begin()
	for id := range bankAccounts {
		b.index[id].tids = []TID{s.insert(account(id, bankBalance))}
	}
	s.commit()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var writers, others sync.WaitGroup
	done := make(chan struct{})
	fail := func(err error) {
		if err != nil {
			t.Error(err)
			cancel()
		}
	}
	for i := range bankWriters {
		s := e.session()
		writers.Go(func() { fail(b.writer(ctx, s, i)) })
	}
	running := func() bool {
		select {
		case <-done:
			return false
		default:
			return !t.Failed()
		}
	}
	for range 2 {
		s := e.session()
		others.Go(func() {
			for running() {
				if sum, err := b.total(s); err != nil || sum != bankAccounts*bankBalance {
					fail(fmt.Errorf("the accounts hold %d, %w", sum, err))
				}
			}
		})
	}
	v := e.session()
	others.Go(func() {
		for running() {
			_, err := e.h.Vacuum(ctx, v.w, VacuumOptions{RemoveIndexEntries: b.unindex})
			fail(err)
		}
	})
	writers.Wait()
	close(done)
	others.Wait()
	t.Logf("%d deadlocks, %d re-evaluations", b.deadlocks.Load(), b.retries.Load())
	if sum, err := b.total(s); err != nil || sum != bankAccounts*bankBalance {
		t.Errorf("in the end: %d, %v", sum, err)
	}
	e.check()
	if n := e.pool.Pinned(); n != 0 {
		t.Errorf("%d buffers stay pinned", n)
	}
}

func (b *bank) unindex(_ context.Context, dead []TID) error {
	for id := range b.index {
		x := &b.index[id]
		x.Lock()
		kept := x.tids[:0:0]
		for _, tid := range x.tids {
			if !ContainsTID(dead, tid) {
				kept = append(kept, tid)
			}
		}
		x.tids = kept
		x.Unlock()
	}
	return nil
}

// Writers that fill a relation at the same time, under every extension policy.
func TestConcurrentInserts(t *testing.T) {
	for _, settings := range []storage.ExtendSettings{
		{Policy: storage.ExtendFixed, Blocks: 1},
		{Policy: storage.ExtendFixed, Blocks: 10, PublishSelf: true},
		{Policy: storage.ExtendWaiters, Recheck: true},
		{Policy: storage.ExtendBulk},
		{Policy: storage.ExtendGroup},
	} {
		t.Run(fmt.Sprintf("%v-%d", settings.Policy, settings.Blocks), func(t *testing.T) {
			e := newEnv(t, envConfig{buffers: 512})
			const writers, batches, perBatch = 8, 10, 30
			var wg sync.WaitGroup
			for i := range writers {
				s := e.session()
				s.w.Ext.Settings = settings
				wg.Go(func() {
					s.tx.Start()
					for j := range batches {
						var rows [][]byte
						for k := range perBatch {
							rows = append(rows, row((i*batches+j)*perBatch+k, 1, 300))
						}
						if _, err := s.multiInsert(context.Background(), rows, InsertOptions{}); err != nil {
							t.Error(err)
						}
					}
					if err := s.tx.Commit(txn.CommitInfo{DB: testDB}); err != nil {
						t.Error(err)
					}
					e.pool.ReleaseExtendState(s.w.Ext)
				})
			}
			wg.Wait()
			s := e.session().begin()
			if n := len(s.rows()); n != writers*batches*perBatch {
				t.Errorf("%d rows", n)
			}
			s.commit()
			e.check()
			if n := e.pool.Pinned(); n != 0 {
				t.Errorf("%d buffers stay pinned", n)
			}
		})
	}
}
