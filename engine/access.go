package engine

import (
	"path"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/storage"
)

// FS is the file system the engine works on.
func (e *Engine) FS() storage.FS { return e.fs }

// DatabaseSize adds up the files of a database, in bytes.
func (e *Engine) DatabaseSize(db catalog.OID) (int64, error) {
	file := storage.RelPath(storage.RelFile{Tablespace: uint32(catalog.TablespaceDefault), Database: uint32(db)}, storage.MainFork)
	return e.dirSize(path.Dir(file))
}

// TablespaceSize adds up the files of a tablespace, in bytes.
func (e *Engine) TablespaceSize(ts catalog.OID) (int64, error) {
	if ts == catalog.TablespaceGlobal {
		return e.dirSize(globalDir)
	}
	return e.dirSize(baseDir)
}

// dirSize adds up the files below a directory of the data directory; what vanishes meanwhile does not count.
func (e *Engine) dirSize(dir string) (int64, error) {
	names, err := e.fs.List(e.path(dir))
	if err != nil {
		return 0, err
	}
	var size int64
	for _, name := range names {
		st, err := e.fs.Stat(e.path(dir, name))
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
