package engine

import (
	"fmt"
	"path"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/storage"
)

// FS is the file system the engine works on.
func (e *Engine) FS() storage.FS { return e.fs }

// DatabaseSize adds up the files of a database, in bytes.
func (e *Engine) DatabaseSize(db catalog.OID) (int64, error) {
	size, err := e.dirSize(e.path(baseDir, fmt.Sprint(db)))
	files := e.pool.Files()
	for _, space := range files.Tablespaces() {
		dir, _ := files.TablespacePath(space)
		more, err := e.dirSize(path.Join(dir, fmt.Sprint(db)))
		if err == nil {
			size += more
		}
	}
	return size, err
}

// TablespaceSize adds up the files of a tablespace, in bytes.
func (e *Engine) TablespaceSize(ts catalog.OID) (int64, error) {
	switch dir, ok := e.pool.Files().TablespacePath(uint32(ts)); {
	case ok:
		return e.dirSize(dir)
	case ts == catalog.TablespaceGlobal:
		return e.dirSize(e.path(globalDir))
	}
	return e.dirSize(e.path(baseDir))
}

// dirSize adds up the files below a directory; what vanishes meanwhile does not count.
func (e *Engine) dirSize(dir string) (int64, error) {
	names, err := e.fs.List(dir)
	if err != nil {
		return 0, err
	}
	var size int64
	for _, name := range names {
		st, err := e.fs.Stat(path.Join(dir, name))
		if err != nil {
			continue
		}
		if !st.IsDir() {
			size += st.Size()
			continue
		}
		sub, err := e.dirSize(path.Join(dir, name))
		if err != nil {
			continue
		}
		size += sub
	}
	return size, nil
}
