package heap

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"testing"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
)

// TestRedoMakesTheSamePages replays a whole log into an empty relation. What comes out must be what
// the server had, but for what is not logged: hints, commands, and the hint when to prune.
func TestRedoMakesTheSamePages(t *testing.T) {
	for seed := range 20 {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 3))
			e := newEnv(t, envConfig{buffers: 128, fs: faultfs.New(faultfs.Options{})})
			m := newModel(t, e, rng)
			for range 300 {
				m.step()
			}
			for len(m.open) > 0 {
				m.end(0, false)
			}
			if err := e.log.Flush(e.log.InsertLSN()); err != nil {
				t.Fatal(err)
			}
			replica := newEnv(t, envConfig{fs: copyLog(t, e.fs), buffers: 128})
			comparePages(t, e, replica)
			replica.check()
		})
	}
}

// copyLog copies the log alone into a new file system.
func copyLog(t *testing.T, from storage.FS) storage.FS {
	to := faultfs.New(faultfs.Options{})
	if err := to.MkdirAll("pg_wal", 0o700); err != nil {
		t.Fatal(err)
	}
	names, err := from.List("pg_wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		src, err := from.OpenFile(path.Join("pg_wal", name), os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		size, _ := src.Size()
		data := make([]byte, size)
		if _, err := src.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		dst, err := to.OpenFile(path.Join("pg_wal", name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dst.WriteAt(data, 0); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func comparePages(t *testing.T, e, replica *env) {
	n, err := e.h.NBlocks()
	if err != nil {
		t.Fatal(err)
	}
	have, err := replica.h.NBlocks()
	if err != nil || have > n {
		t.Fatalf("%d blocks, the server has %d; %v", have, n, err)
	}
	var vm, vmReplica VMBuf
	defer vm.Release()
	defer vmReplica.Release()
	for block := range n {
		want := maskedPage(t, e, block)
		if block >= have {
			if !bytes.Equal(want, make([]byte, len(want))) {
				t.Errorf("block %d is missing", block)
			}
			continue
		}
		got := maskedPage(t, replica, block)
		if !bytes.Equal(got, want) {
			at := 0
			for got[at] == want[at] {
				at++
			}
			t.Errorf("block %d differs from byte %d on:\n%x\n%x", block, at, got[at:at+40], want[at:at+40])
		}
		a, _ := e.pool.VM().Get(testRel, block, &vm.vm)
		b, _ := replica.pool.VM().Get(testRel, block, &vmReplica.vm)
		if a != b {
			t.Errorf("block %d: map bits %b, want %b", block, b, a)
		}
	}
}

// maskedPage returns a block without what redo need not restore.
func maskedPage(t *testing.T, e *env, block storage.BlockNumber) []byte {
	buf, err := e.h.read(block, nil)
	if err != nil {
		t.Fatal(err)
	}
	buf.LockShared(storage.ClassHeap)
	defer buf.ReleaseShared()
	page := storage.Page(bytes.Clone(buf.Page()))
	if page.IsNew() || page.ItemCount() == 0 {
		return make([]byte, storage.PageSize)
	}
	page.SetPruneXID(0)
	page.ClearFlags(storage.PageFull | storage.PageHasFreeLines)
	clear(page[8:12]) // the checksum
	for off := uint16(1); int(off) <= page.ItemCount(); off++ {
		if page := normalTuple(page, off); page != nil {
			page.setCID(0)
			page.setFlags(page.flags() &^ (flagsHint | FlagComboCID))
		}
	}
	hole, n := page.Hole()
	clear(page[hole : hole+n])
	return page
}
