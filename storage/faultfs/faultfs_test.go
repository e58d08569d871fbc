package faultfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/minipg/minipg/storage/vfs"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func create(t testing.TB, f vfs.FS, name string) vfs.File {
	t.Helper()
	h, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func write(t testing.TB, h vfs.File, off int64, b []byte) {
	t.Helper()
	if _, err := h.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, f vfs.FS, name string) []byte {
	t.Helper()
	h, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	size, err := h.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	if n, err := h.ReadAt(b, 0); int64(n) != size || err != nil && err != io.EOF {
		t.Fatalf("read %d of %d, %v", n, size, err)
	}
	return b
}

func exists(f vfs.FS, name string) bool {
	_, err := f.Stat(name)
	return err == nil
}

func syncFile(t testing.TB, h vfs.File) {
	t.Helper()
	if err := h.Sync(); err != nil {
		t.Fatal(err)
	}
}

func syncDir(t testing.TB, f vfs.FS, dir string) {
	t.Helper()
	if err := f.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
}

// The same operations on the real file system and on this one give the same answers.
func TestLikeTheRealOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "faultfs")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		osfs, mem := vfs.OSFS{}, New(Options{})
		names := []string{"a", "b", "d/a", "d/b", "x/y/z"}
		type pair struct{ real, mem vfs.File }
		var open []pair
		defer func() {
			for _, p := range open {
				p.real.Close()
			}
		}()
		name := func(t *rapid.T) string { return rapid.SampledFrom(names).Draw(t, "name") }
		same := func(t *rapid.T, what string, a, b error) {
			t.Helper()
			var ea, eb syscall.Errno
			errors.As(a, &ea)
			errors.As(b, &eb)
			if (a == nil) != (b == nil) || ea != eb && ea != syscall.EISDIR {
				t.Fatalf("%s: real %v, ours %v", what, a, b)
			}
		}
		handle := func(t *rapid.T) pair {
			if len(open) == 0 {
				t.Skip()
			}
			return rapid.SampledFrom(open).Draw(t, "handle")
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				n := name(t)
				flag := os.O_RDWR | rapid.SampledFrom([]int{0, os.O_CREATE, os.O_CREATE | os.O_EXCL, os.O_CREATE | os.O_TRUNC}).Draw(t, "flag")
				a, ea := osfs.OpenFile(filepath.Join(dir, n), flag, 0o600)
				b, eb := mem.OpenFile(n, flag, 0o600)
				same(t, "open "+n, ea, eb)
				if ea == nil {
					open = append(open, pair{a, b})
				}
			},
			"mkdir": func(t *rapid.T) {
				d := rapid.SampledFrom([]string{"d", "x/y"}).Draw(t, "dir")
				same(t, "mkdir "+d, osfs.MkdirAll(filepath.Join(dir, d), 0o700), mem.MkdirAll(d, 0o700))
			},
			"remove": func(t *rapid.T) {
				n := rapid.SampledFrom(append(names, "d", "x/y", "x")).Draw(t, "name")
				same(t, "remove "+n, osfs.Remove(filepath.Join(dir, n)), mem.Remove(n))
			},
			"rename": func(t *rapid.T) {
				from, to := name(t), name(t)
				same(t, "rename", osfs.Rename(filepath.Join(dir, from), filepath.Join(dir, to)), mem.Rename(from, to))
			},
			"link": func(t *rapid.T) {
				from, to := name(t), name(t)
				same(t, "link", osfs.Link(filepath.Join(dir, from), filepath.Join(dir, to)), mem.Link(from, to))
			},
			"write": func(t *rapid.T) {
				p := handle(t)
				off := rapid.Int64Range(0, 20000).Draw(t, "off")
				b := bytes.Repeat([]byte{byte(off)}, rapid.IntRange(0, 9000).Draw(t, "n"))
				_, ea := p.real.WriteAt(b, off)
				_, eb := p.mem.WriteAt(b, off)
				same(t, "write", ea, eb)
			},
			"truncate": func(t *rapid.T) {
				p := handle(t)
				n := rapid.Int64Range(0, 30000).Draw(t, "n")
				same(t, "truncate", p.real.Truncate(n), p.mem.Truncate(n))
			},
			"allocate": func(t *rapid.T) {
				p := handle(t)
				off, n := rapid.Int64Range(0, 30000).Draw(t, "off"), rapid.Int64Range(1, 9000).Draw(t, "n")
				same(t, "allocate", p.real.Allocate(off, n), p.mem.Allocate(off, n))
			},
			"sync": func(t *rapid.T) {
				p := handle(t)
				same(t, "sync", p.real.Datasync(), p.mem.Datasync())
			},
			"": func(t *rapid.T) {
				for _, d := range []string{".", "d", "x", "x/y"} {
					a, ea := osfs.List(filepath.Join(dir, d))
					b, eb := mem.List(d)
					same(t, "list "+d, ea, eb)
					if !slices.Equal(a, b) {
						t.Fatalf("list %s: %v, %v", d, a, b)
					}
				}
				for _, p := range open {
					a, b := make([]byte, 40000), make([]byte, 40000)
					na, ea := p.real.ReadAt(a, 0)
					nb, eb := p.mem.ReadAt(b, 0)
					if na != nb || ea != eb || !bytes.Equal(a, b) {
						t.Fatalf("read %d, %v and %d, %v", na, ea, nb, eb)
					}
				}
			},
		})
	})
}

// Sectors written since the last sync are old or new, each on its own; synced ones stay.
func TestCrashTearsBySector(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		seen := make(map[string]bool)
		for seed := range uint64(200) {
			f := New(Options{SectorSize: sector})
			h := create(t, f, "a")
			write(t, h, 0, bytes.Repeat([]byte("o"), 16384))
			syncFile(t, h)
			syncDir(t, f, "/")
			write(t, h, 0, bytes.Repeat([]byte("n"), 8192))
			got := content(t, f.Crash(rng(seed)), "a")
			if len(got) != 16384 || !bytes.Equal(got[8192:], bytes.Repeat([]byte("o"), 8192)) {
				t.Fatalf("seed %d: synced bytes changed", seed)
			}
			news := 0
			for at := 0; at < 8192; at += sector {
				s := got[at : at+sector]
				if bytes.Count(s, s[:1]) != sector {
					t.Fatalf("seed %d: a sector is torn", seed)
				}
				if s[0] == 'n' {
					news++
				}
			}
			switch news {
			case 0:
				seen["lost"] = true
			case 8192 / sector:
				seen["kept"] = true
			default:
				seen["torn"] = true
			}
		}
		if len(seen) != 3 {
			t.Errorf("200 crashes showed only %v", seen)
		}
	}
}

func TestCrash(t *testing.T) {
	// outcomes collects what many seeds leave.
	outcomes := func(build func(f *FS), look func(f *FS) string) map[string]bool {
		seen := make(map[string]bool)
		for seed := range uint64(100) {
			f := New(Options{})
			build(f)
			seen[look(f.Crash(rng(seed)))] = true
		}
		return seen
	}
	synced := func(f *FS, name, s string) vfs.File {
		h := create(t, f, name)
		write(t, h, 0, []byte(s))
		syncFile(t, h)
		return h
	}
	names := func(f *FS) string {
		l, _ := f.List("/")
		return fmt.Sprint(l)
	}
	tests := []struct {
		name  string
		build func(f *FS)
		look  func(f *FS) string
		want  []string
	}{
		{"a new name is lost or kept", func(f *FS) { synced(f, "a", "x") }, names, []string{"[]", "[a]"}},
		{"a synced name is kept", func(f *FS) { synced(f, "a", "x"); syncDir(t, f, "/") }, names, []string{"[a]"}},
		{"a removed name may come back, with its bytes", func(f *FS) {
			synced(f, "a", "x")
			syncDir(t, f, "/")
			f.Remove("a")
		}, func(f *FS) string {
			if exists(f, "a") {
				return string(content(t, f, "a"))
			}
			return "gone"
		}, []string{"x", "gone"}},
		{"a rename is old or new, never both or neither", func(f *FS) {
			synced(f, "a", "x")
			syncDir(t, f, "/")
			f.Rename("a", "b")
		}, names, []string{"[a]", "[b]"}},
		{"a rename over another is old or new", func(f *FS) {
			synced(f, "a", "old")
			synced(f, "t", "new")
			syncDir(t, f, "/")
			f.Rename("t", "a")
		}, func(f *FS) string { return names(f) + string(content(t, f, "a")) }, []string{"[a t]old", "[a]new"}},
		{"a rename across directories", func(f *FS) {
			f.MkdirAll("d", 0)
			synced(f, "a", "x")
			syncDir(t, f, "/")
			f.Rename("a", "d/a")
		}, func(f *FS) string { return fmt.Sprint(exists(f, "a"), exists(f, "d/a")) }, []string{"true false", "false true"}},
		{"a directory is lost with what is in it", func(f *FS) {
			f.MkdirAll("d", 0)
			synced(f, "d/a", "x")
			syncDir(t, f, "d")
		}, func(f *FS) string { return fmt.Sprint(exists(f, "d"), exists(f, "d/a")) }, []string{"false false", "true true"}},
		{"an extension is lost, kept or in part", func(f *FS) {
			h := synced(f, "a", "")
			syncDir(t, f, "/")
			write(t, h, 0, make([]byte, 1024))
		}, func(f *FS) string { return fmt.Sprint(len(content(t, f, "a"))) }, []string{"0", "512", "1024"}},
		{"a truncation is lost or kept, whole", func(f *FS) {
			h := synced(f, "a", "0123456789")
			syncDir(t, f, "/")
			h.Truncate(4)
		}, func(f *FS) string { return string(content(t, f, "a")) }, []string{"0123456789", "0123"}},
		{"a hard link keeps the bytes shared", func(f *FS) {
			h := synced(f, "a", "x")
			f.Link("a", "b")
			syncDir(t, f, "/")
			write(t, h, 0, []byte("y"))
		}, func(f *FS) string {
			a, b := content(t, f, "a"), content(t, f, "b")
			if !bytes.Equal(a, b) {
				return "torn apart"
			}
			return string(a)
		}, []string{"x", "y"}},
		{"datasync keeps the size, too", func(f *FS) {
			h := create(t, f, "a")
			syncDir(t, f, "/")
			write(t, h, 0, make([]byte, 700))
			h.Datasync()
		}, func(f *FS) string { return fmt.Sprint(len(content(t, f, "a"))) }, []string{"700"}},
		{"the write before the last one may be what is left", func(f *FS) {
			h := synced(f, "a", "1")
			syncDir(t, f, "/")
			write(t, h, 0, []byte("2"))
			write(t, h, 0, []byte("3"))
		}, func(f *FS) string { return string(content(t, f, "a")) }, []string{"1", "2", "3"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			seen := outcomes(tc.build, tc.look)
			for _, w := range tc.want {
				if !seen[w] {
					t.Errorf("never saw %q", w)
				}
				delete(seen, w)
			}
			if len(seen) > 0 {
				t.Errorf("saw also %v", seen)
			}
		})
	}
}

// What a failed sync covered is lost, and the next sync does not bring it back.
func TestFailedSyncLosesThePages(t *testing.T) {
	f := New(Options{})
	h := create(t, f, "a")
	write(t, h, 0, []byte("old"))
	syncFile(t, h)
	syncDir(t, f, "/")
	write(t, h, 0, []byte("new"))
	f.Inject(Rule{Ops: OpsSyncing, Err: syscall.EIO})
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	syncFile(t, h)
	if got := content(t, f, "a"); string(got) != "new" {
		t.Errorf("the running system sees %q", got)
	}
	if got := content(t, f.Crash(rng(1)), "a"); string(got) != "old" {
		t.Errorf("after the crash %q", got)
	}
}

func TestSameSeedSameImage(t *testing.T) {
	image := func() string {
		f := New(Options{})
		r := rng(5)
		for range 50 {
			h := create(t, f, fmt.Sprint("f", r.IntN(10)))
			write(t, h, r.Int64N(50000), bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(20000)))
			if r.IntN(5) == 0 {
				syncFile(t, h)
			}
			if r.IntN(5) == 0 {
				syncDir(t, f, "/")
			}
		}
		after := f.Crash(r)
		var b bytes.Buffer
		names, _ := after.List("/")
		for _, n := range names {
			fmt.Fprintf(&b, "%s:%x\n", n, content(t, after, n))
		}
		return b.String()
	}
	if a, b := image(), image(); a != b {
		t.Error("two runs of one seed differ")
	}
}

func TestCrashAt(t *testing.T) {
	f := New(Options{})
	h := create(t, f, "a")
	syncFile(t, h)
	syncDir(t, f, "/")
	f.CrashAt(3)
	write(t, h, 0, []byte("1"))
	write(t, h, 0, []byte("2"))
	select {
	case <-f.Crashed():
		t.Fatal("too early")
	default:
	}
	if _, err := h.WriteAt([]byte("3"), 0); !errors.Is(err, ErrCrashed) {
		t.Errorf("got %v", err)
	}
	<-f.Crashed()
	for name, err := range map[string]error{
		"sync": h.Sync(), "remove": f.Remove("a"), "list": second(f.List("/")), "open": second(f.OpenFile("a", os.O_RDWR, 0)),
	} {
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s after the crash: %v", name, err)
		}
	}
	if got := content(t, f.Crash(rng(1)), "a"); len(got) > 1 || bytes.Equal(got, []byte("3")) {
		t.Errorf("got %q", got)
	}
}

func second[T any](_ T, err error) error { return err }

func TestKill(t *testing.T) {
	f := New(Options{})
	h := create(t, f, "a")
	write(t, h, 0, []byte("unsynced"))
	if _, err := f.Lock("lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lock("lock"); err == nil {
		t.Fatal("locked twice")
	}
	f.Kill()
	if _, err := h.WriteAt([]byte("x"), 0); !errors.Is(err, ErrCrashed) {
		t.Errorf("a dead process wrote: %v", err)
	}
	if got := content(t, f, "a"); string(got) != "unsynced" {
		t.Errorf("the kernel lost %q", got)
	}
	l, err := f.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := f.Lock("lock"); err != nil {
		t.Error(err)
	}
}

func TestInjection(t *testing.T) {
	f := New(Options{})
	a, b := create(t, f, "a"), create(t, f, "b")
	hooked := 0
	remove := f.Inject(Rule{Ops: OpWrite, Path: "a", Skip: 1, Most: 2, Err: syscall.EIO, Short: true, Hook: func(Op, string) { hooked++ }})
	var got []string
	for range 4 {
		n, err := a.WriteAt([]byte("1234"), 0)
		got = append(got, fmt.Sprint(n, errors.Is(err, syscall.EIO)))
	}
	if want := []string{"4 false", "2 true", "2 true", "4 false"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := b.WriteAt([]byte("x"), 0); err != nil || hooked != 2 {
		t.Errorf("%v, hook ran %d times", err, hooked)
	}
	remove()
	var pe *fs.PathError
	f.Inject(Rule{Ops: OpRead, Err: syscall.EIO})
	if _, err := b.ReadAt(make([]byte, 1), 0); !errors.As(err, &pe) || pe.Path != "b" {
		t.Errorf("got %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	f := New(Options{Capacity: 10 * chunkSize})
	a, b := create(t, f, "a"), create(t, f, "b")
	if err := a.Allocate(0, 6*chunkSize); err != nil {
		t.Fatal(err)
	}
	if n, err := b.WriteAt(make([]byte, 6*chunkSize), 0); !errors.Is(err, syscall.ENOSPC) || n != 4*chunkSize {
		t.Errorf("wrote %d, %v", n, err)
	}
	write(t, a, 0, make([]byte, 6*chunkSize)) // what is allocated cannot fail
	if err := a.Truncate(chunkSize); err != nil {
		t.Fatal(err)
	}
	write(t, b, 4*chunkSize, make([]byte, 5*chunkSize))
	if err := f.Remove("b"); err != nil {
		t.Fatal(err)
	}
	if f.Used() != chunkSize {
		t.Errorf("%d bytes in use", f.Used())
	}
	f.SetCapacity(0)
	write(t, a, 0, make([]byte, 100*chunkSize))
}
