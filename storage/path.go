package storage

import "strconv"

// relPath returns the path of the first segment of a fork, relative to the data directory,
// for relations of the tablespaces every directory has; others live under pg_tblspc.
func relPath(r RelFile, fork Fork) string {
	b := make([]byte, 0, 48)
	b = append(appendDir(b, r.Tablespace, r.Database), '/')
	b = strconv.AppendUint(b, uint64(r.Number), 10)
	switch fork {
	case FSMFork:
		b = append(b, "_fsm"...)
	case VMFork:
		b = append(b, "_vm"...)
	}
	return string(b)
}

func appendDir(b []byte, tablespace, db uint32) []byte {
	switch tablespace {
	case GlobalTablespace:
		return append(b, "global"...)
	case DefaultTablespace:
		b = append(b, "base/"...)
	default:
		b = append(b, "pg_tblspc/"...)
		b = strconv.AppendUint(b, uint64(tablespace), 10)
		b = append(b, '/')
	}
	return strconv.AppendUint(b, uint64(db), 10)
}
