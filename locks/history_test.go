package locks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Every sleep is told of once it is over, with who held the lock.
func TestWaitsAreTold(t *testing.T) {
	for _, table := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var told []Wait
			cfg := Config{OnWait: func(w Wait) { told = append(told, w) }}
			if table {
				cfg.ExtensionTable = NewExtensionTable(16, nil)
			}
			m := NewManager(cfg)
			holder, waiter := m.NewSession(7), m.NewSession(8)
			ctx := context.Background()
			must := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			must(holder.Extension().Lock(ctx, 5, 99))
			done := make(chan error)
			go func() { done <- waiter.Extension().Lock(ctx, 5, 99) }()
			synctest.Wait()
			if typ, name := waiter.WaitEvent(); typ != "Lock" || name != "extend" {
				t.Errorf("the waiter shows %s %s", typ, name)
			}
			time.Sleep(20 * time.Millisecond)
			holder.Extension().Unlock(5, 99)
			must(<-done)
			waiter.Extension().Unlock(5, 99)

			must(holder.Lock(ctx, RelationTag(5, 16384), AccessExclusive, LockOptions{}))
			go func() {
				done <- waiter.Lock(ctx, RelationTag(5, 16384), RowExclusive, LockOptions{Timeout: time.Second})
			}()
			if err := <-done; err == nil {
				t.Error("no timeout")
			}
			want := []Wait{
				{Tag: ExtendTag(5, 99), Mode: Exclusive, PID: 8, Holder: 7, Duration: 20 * time.Millisecond},
				{Tag: RelationTag(5, 16384), Mode: RowExclusive, PID: 8, Holder: 7, Duration: time.Second},
			}
			if len(told) != len(want) {
				t.Fatalf("told of %d waits: %+v", len(told), told)
			}
			for i := range want {
				told[i].Start = time.Time{}
				if told[i] != want[i] {
					t.Errorf("told of %+v, want %+v", told[i], want[i])
				}
			}
			if typ, _ := waiter.WaitEvent(); typ != "" {
				t.Errorf("the waiter still shows %s", typ)
			}
			holder.ReleaseTransaction()
		})
	}
}

func TestFastPathExceeded(t *testing.T) {
	m := NewManager(Config{})
	s := m.NewSession(1)
	for i := range uint32(numSlots + 3) {
		if err := s.Lock(context.Background(), RelationTag(5, 16384+i), AccessShare, LockOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.metrics.LockFastPathExceeded.Value(); n != 3 {
		t.Errorf("counted %d locks over the fast path's slots, want 3", n)
	}
	s.ReleaseAll()
}
