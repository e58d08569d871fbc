package txn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

const (
	clogDir          = "pg_xact"
	clogPageBytes    = 8192
	clogPageXIDs     = clogPageBytes * 4
	clogSegmentPages = 32
	clogWordXIDs     = 32
	clogGroupXIDs    = 64 // that share an LSN
	defaultClogPages = 256

	bitsCommitted = 1
	bitsAborted   = 2
)

// clog is the commit log: two bits an XID. Pages are cached, each in the one slot its
// number picks.
type clog struct {
	fs    storage.FS
	dir   string
	flush func(storage.LSN) error
	slots []clogSlot

	// covered is the last page that is known to be in its file; under the lock of flushAll's caller.
	covered int64

	files struct {
		sync.Mutex
		unsynced map[int64]struct{} // segments written since the last sync
		newNames bool               // a segment was created since
	}
}

type clogSlot struct {
	page atomic.Pointer[clogPage]
	mu   sync.Mutex // changes of the page's bits, and of which page it is
	io   sync.Mutex // reads and writes of the slot's pages; taken before mu
}

type clogPage struct {
	no    int64
	words [clogPageXIDs / clogWordXIDs]atomic.Uint64
	// lsns are those of the newest record that set bits of a group of XIDs, for hint bits.
	lsns  [clogPageXIDs / clogGroupXIDs]atomic.Uint64
	dirty bool        // under mu
	lsn   storage.LSN // the newest of lsns; under mu
}

func openClog(fs storage.FS, dir string, pages int, flush func(storage.LSN) error) (*clog, error) {
	if pages == 0 {
		pages = defaultClogPages
	}
	c := &clog{fs: fs, dir: path.Join(dir, clogDir), flush: flush, slots: make([]clogSlot, pages)}
	c.files.unsynced = make(map[int64]struct{})
	if err := fs.MkdirAll(c.dir, 0o700); err != nil {
		return nil, clogError(err, "create directory", c.dir)
	}
	return c, nil
}

func (c *clog) slot(no int64) *clogSlot { return &c.slots[no%int64(len(c.slots))] }

// get returns the bits of xid.
func (c *clog) get(xid XID) (uint8, error) {
	no := int64(xid) / clogPageXIDs
	s := c.slot(no)
	p := s.page.Load()
	if p == nil || p.no != no {
		var err error
		if p, err = c.load(s, no); err != nil {
			return 0, err
		}
	}
	at := uint64(xid) % clogPageXIDs
	return uint8(p.words[at/clogWordXIDs].Load()>>(at%clogWordXIDs*2)) & 3, nil
}

// set records bits for xid; lsn is that of the record that says so.
func (c *clog) set(xid XID, bits uint64, lsn storage.LSN) error {
	no := int64(xid) / clogPageXIDs
	s := c.slot(no)
	for {
		s.mu.Lock()
		if p := s.page.Load(); p != nil && p.no == no {
			at := uint64(xid) % clogPageXIDs
			p.lsn = max(p.lsn, lsn)
			if group := &p.lsns[at/clogGroupXIDs]; group.Load() < uint64(lsn) {
				group.Store(uint64(lsn))
			}
			w := &p.words[at/clogWordXIDs]
			shift := at % clogWordXIDs * 2
			w.Store(w.Load()&^(3<<shift) | bits<<shift)
			p.dirty = true
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		if _, err := c.load(s, no); err != nil {
			return err
		}
	}
}

// load brings page no into its slot.
func (c *clog) load(s *clogSlot, no int64) (*clogPage, error) {
	s.io.Lock()
	defer s.io.Unlock()
	if p := s.page.Load(); p != nil {
		if p.no == no {
			return p, nil
		}
		if err := c.writeBack(s); err != nil {
			return nil, err
		}
	}
	p, err := c.read(no)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.page.Load(); old != nil && old.dirty {
		// Somebody set bits after the write: write again, with nobody let in.
		if err := c.writeLocked(old); err != nil {
			return nil, err
		}
	}
	s.page.Store(p)
	return p, nil
}

// writeBack writes the slot's page if it is dirty. s.io is held.
func (c *clog) writeBack(s *clogSlot) error {
	s.mu.Lock()
	p := s.page.Load()
	if p == nil || !p.dirty {
		s.mu.Unlock()
		return nil
	}
	lsn, image := p.lsn, p.image()
	p.dirty = false
	s.mu.Unlock()
	if err := c.write(p.no, lsn, image); err != nil {
		s.mu.Lock()
		p.dirty = true
		s.mu.Unlock()
		return err
	}
	return nil
}

func (c *clog) writeLocked(p *clogPage) error {
	if err := c.write(p.no, p.lsn, p.image()); err != nil {
		return err
	}
	p.dirty = false
	return nil
}

func (p *clogPage) image() []byte {
	b := make([]byte, 0, clogPageBytes)
	for i := range p.words {
		b = binary.LittleEndian.AppendUint64(b, p.words[i].Load())
	}
	return b
}

// write is Invariant 6: the log first.
func (c *clog) write(no int64, lsn storage.LSN, image []byte) error {
	if err := c.flush(lsn); err != nil {
		return err
	}
	seg := no / clogSegmentPages
	name := c.segmentPath(seg)
	f, err := c.fs.OpenFile(name, os.O_RDWR, 0o600)
	created := errors.Is(err, fs.ErrNotExist)
	if created {
		f, err = c.fs.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return clogError(err, "open file", name)
	}
	_, err = f.WriteAt(image, no%clogSegmentPages*clogPageBytes)
	if err = errors.Join(err, f.Close()); err != nil {
		return clogError(err, "write to file", name)
	}
	c.files.Lock()
	c.files.unsynced[seg] = struct{}{}
	c.files.newNames = c.files.newNames || created
	c.files.Unlock()
	return nil
}

func (c *clog) read(no int64) (*clogPage, error) {
	p := &clogPage{no: no}
	name := c.segmentPath(no / clogSegmentPages)
	f, err := c.fs.OpenFile(name, os.O_RDONLY, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, clogError(err, "open file", name)
	}
	var b [clogPageBytes]byte
	_, err = f.ReadAt(b[:], no%clogSegmentPages*clogPageBytes)
	if errors.Is(err, io.EOF) {
		err = nil // what is not there yet is zero
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, clogError(err, "read file", name)
	}
	for i := range p.words {
		p.words[i].Store(binary.LittleEndian.Uint64(b[i*8:]))
	}
	return p, nil
}

// require sees that all pages of the XIDs before next, which a checkpoint left behind, are there: without
// them committed rows would look like those of transactions that never ended.
func (c *clog) require(next XID) error {
	c.covered = -1
	if next <= FirstXID {
		return nil
	}
	c.covered = int64(next-1) / clogPageXIDs
	for seg := int64(0); seg <= c.covered/clogSegmentPages; seg++ {
		pages := min(c.covered-seg*clogSegmentPages+1, clogSegmentPages)
		name := c.segmentPath(seg)
		first := max(uint64(seg)*clogSegmentPages*clogPageXIDs, uint64(FirstXID))
		info, err := c.fs.Stat(name)
		if err != nil {
			cause := pgerr.From(storage.FileError(err, "Could not open file \"%s\"", name))
			return pgerr.Wrap(err, cause.Code, "could not access status of transaction %d", first).WithDetail("%s.", cause.Message)
		}
		if info.Size() < pages*clogPageBytes {
			return pgerr.New(pgerr.DataCorrupted, "could not access status of transaction %d", first).
				WithDetail("File \"%s\" has %d bytes and should have %d.", name, info.Size(), pages*clogPageBytes)
		}
	}
	return nil
}

// cover has the pages of all XIDs before next written, also those in which no bit was ever set.
func (c *clog) cover(next XID) error {
	if next <= FirstXID {
		return nil
	}
	for last := int64(next-1) / clogPageXIDs; c.covered < last; c.covered++ {
		no := c.covered + 1
		s := c.slot(no)
		for dirty := false; !dirty; {
			if _, err := c.load(s, no); err != nil {
				return err
			}
			s.mu.Lock()
			if p := s.page.Load(); p.no == no {
				p.dirty, dirty = true, true
			}
			s.mu.Unlock()
		}
	}
	return nil
}

// flushAll makes every page durable, for a checkpoint; next is the first XID not yet given out. One call at a time.
func (c *clog) flushAll(next XID) error {
	if err := c.cover(next); err != nil {
		return err
	}
	for i := range c.slots {
		s := &c.slots[i]
		s.io.Lock()
		err := c.writeBack(s)
		s.io.Unlock()
		if err != nil {
			return err
		}
	}
	c.files.Lock()
	segs, newNames := c.files.unsynced, c.files.newNames
	c.files.unsynced, c.files.newNames = make(map[int64]struct{}), false
	c.files.Unlock()
	for seg := range segs {
		if err := c.syncSegment(seg); err != nil {
			return err
		}
	}
	if newNames {
		if err := c.fs.SyncDir(c.dir); err != nil {
			return clogError(err, "fsync directory", c.dir)
		}
	}
	return nil
}

func (c *clog) syncSegment(seg int64) error {
	name := c.segmentPath(seg)
	f, err := c.fs.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		return clogError(err, "open file", name)
	}
	err = f.Sync()
	if err = errors.Join(err, f.Close()); err != nil {
		return clogError(err, "fsync file", name)
	}
	return nil
}

// clearFrom forgets all bits from xid on in its page: nothing up there happened.
func (c *clog) clearFrom(xid XID) error {
	no := int64(xid) / clogPageXIDs
	s := c.slot(no)
	if _, err := c.load(s, no); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.page.Load()
	for at := uint64(xid) % clogPageXIDs; at < clogPageXIDs; at++ {
		w := &p.words[at/clogWordXIDs]
		if old := w.Load(); old>>(at%clogWordXIDs*2)&3 != 0 {
			w.Store(old &^ (3 << (at % clogWordXIDs * 2)))
			p.dirty = true
		}
	}
	return nil
}

func (c *clog) segmentPath(seg int64) string { return path.Join(c.dir, fmt.Sprintf("%08X", seg)) }

func clogError(err error, doing, name string) error {
	return storage.FileError(err, "could not %s \"%s\"", doing, name)
}
