package btree

import (
	"context"
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// The meta page's content, behind the page header.
const (
	metaMagic   = storage.PageHeaderSize
	metaVersion = metaMagic + 4
	metaRoot    = metaVersion + 4
	metaLevel   = metaRoot + 4
	metaEnd     = metaLevel + 4

	magic   = 0x5472_6565
	version = 1

	metaBlock storage.BlockNumber = 0
	firstRoot storage.BlockNumber = 1
)

func initMeta(p page, root storage.BlockNumber, level uint16, flags pageFlags) {
	initPage(p, 0, flagMeta|flags&flagPayload)
	binary.LittleEndian.PutUint32(p[metaMagic:], magic)
	binary.LittleEndian.PutUint32(p[metaVersion:], version)
	setMetaRoot(p, root, level)
	// Images leave out what lies between the bounds.
	asPage(p).SetBounds(metaEnd, specialStart)
}

func setMetaRoot(p page, root storage.BlockNumber, level uint16) {
	binary.LittleEndian.PutUint32(p[metaRoot:], uint32(root))
	binary.LittleEndian.PutUint32(p[metaLevel:], uint32(level))
}

func metaRootOf(p page) (root storage.BlockNumber, level uint16) {
	return storage.BlockNumber(binary.LittleEndian.Uint32(p[metaRoot:])),
		uint16(binary.LittleEndian.Uint32(p[metaLevel:]))
}

func isMeta(p page) bool {
	return hasSpecial(p) && flagsOf(p)&flagMeta != 0 &&
		binary.LittleEndian.Uint32(p[metaMagic:]) == magic &&
		binary.LittleEndian.Uint32(p[metaVersion:]) == version
}

// readMeta returns where the root is.
func (t *Tree) readMeta() (root storage.BlockNumber, level uint16, err error) {
	buf, err := t.read(metaBlock)
	if err != nil {
		return none, 0, err
	}
	buf.LockShared(storage.ClassBTreeMeta)
	defer buf.ReleaseShared()
	p := pageOf(buf)
	if !isMeta(p) {
		return none, 0, t.corrupted("index %q is not a btree", t.c.Name)
	}
	root, level = metaRootOf(p)
	t.root.Store(uint64(root) | uint64(level)<<32)
	return root, level, nil
}

// Create makes the meta page and an empty root in an existing main fork that
// nobody else knows of.
func Create(ctx context.Context, d Deps, c Config, w *Writer) (*Tree, error) {
	t := Open(d, c)
	b, err := t.newBuilder(ctx, w)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return t, b.finish()
}

// reserve sees to it that the log has room for a record about n pages, outside
// of the critical section.
func (t *Tree) reserve(pages int) error {
	if !t.logged {
		return nil
	}
	return t.d.Log.Reserve(pages*storage.PageSize + 1024)
}

// begin starts a record of the tree.
func (t *Tree) begin(w *Writer, kind wal.Kind) {
	if t.logged {
		w.Builder.Reset(wal.RMBTree, kind, w.xid(), t.c.DB)
	}
}

// log inserts w's record and stamps the pages it changed.
func (t *Tree) log(w *Writer, bufs ...*storage.Buffer) {
	if !t.logged {
		return
	}
	lsn := t.d.Log.Insert(w.Builder)
	for _, buf := range bufs {
		if buf != nil {
			buf.Page().SetLSN(lsn)
		}
	}
}

// register enters a buffer in w's record.
func (t *Tree) register(w *Writer, i int, buf *storage.Buffer, flags wal.BufferFlags) {
	if t.logged {
		w.Builder.RegisterBuffer(i, buf, flags)
	}
}
