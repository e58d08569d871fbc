package pebblefs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/storage/pebblefs"
)

func open(t *testing.T, fs storage.FS, dir string) *pebble.DB {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FS: pebblefs.New(fs), Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return, and must not end the test: dead databases call it too.
func (quiet) Fatalf(string, ...any) { select {} }

func TestOnTheRealFileSystem(t *testing.T) {
	dir := t.TempDir()
	db := open(t, storage.OSFS{}, dir)
	if err := db.Set([]byte("k"), []byte("v"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, storage.OSFS{}, dir)
	defer db.Close()
	v, closer, err := db.Get([]byte("k"))
	if err != nil || string(v) != "v" {
		t.Fatalf("got %q, %v", v, err)
	}
	closer.Close()
}

// What was synced survives a power cut at any moment; what was not may or may not.
func TestPebbleSurvivesPowerCuts(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			fs := faultfs.New(faultfs.Options{})
			synced := make(map[string]string)
			for range 3 {
				fs = crashOnce(t, fs, rng, synced)
			}
		})
	}
}

func crashOnce(t *testing.T, fs *faultfs.FS, rng *rand.Rand, synced map[string]string) *faultfs.FS {
	if err := fs.MkdirAll("catalog", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fs.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	db := open(t, fs, "catalog")
	for k, want := range synced {
		v, closer, err := db.Get([]byte(k))
		if err != nil || string(v) != want {
			t.Fatalf("key %s: got %q, %v, want %q", k, v, err, want)
		}
		closer.Close()
	}
	pending := make(map[string]string)
	for i := range 200 {
		k, v := fmt.Sprint(rng.IntN(100)), fmt.Sprint(rng.Uint64())
		opt := pebble.NoSync
		if i%10 == 9 {
			opt = pebble.Sync
		}
		if err := db.Set([]byte(k), []byte(v), opt); err != nil {
			t.Fatal(err)
		}
		pending[k] = v
		if i%10 == 9 {
			for k, v := range pending {
				synced[k] = v
			}
			clear(pending)
		}
		if i%50 == 30 {
			if err := db.Flush(); err != nil {
				t.Fatal(err)
			}
			for k, v := range pending {
				synced[k] = v
			}
			clear(pending)
		}
	}
	for i := range 50 { // unsynced, under keys nothing is known of
		if err := db.Set([]byte(fmt.Sprint("lost", i)), []byte("x"), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	// The dead machine's database is left as it stands: it cannot close.
	return fs.Crash(rng)
}
