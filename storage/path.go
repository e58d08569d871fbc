package storage

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/minipg/minipg/pgerr"
)

// TablespaceDir is the directory in a tablespace's location, named as PostgreSQL names its own, so that
// both can have tablespaces in one place.
const TablespaceDir = "MINIPG_1"

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// relPath returns the path of the first segment of a fork, relative to the data directory,
// as pg_relation_filepath shows it.
func relPath(r RelFile, fork Fork) string {
	b := append(appendDir(make([]byte, 0, 48), r.Tablespace, r.Database), '/')
	return string(appendName(b, r.Number, fork))
}

func appendName(b []byte, n FileNumber, fork Fork) []byte {
	b = strconv.AppendUint(b, uint64(n), 10)
	switch fork {
	case FSMFork:
		b = append(b, "_fsm"...)
	case VMFork:
		b = append(b, "_vm"...)
	}
	return b
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
		b = append(b, "/"+TablespaceDir+"/"...)
	}
	return strconv.AppendUint(b, uint64(db), 10)
}

// parseName takes a file name apart: number, fork, segment.
func parseName(name string) (n FileNumber, fork Fork, seg int, ok bool) {
	name, segment, hasSegment := strings.Cut(name, ".")
	if hasSegment {
		s, err := strconv.ParseUint(segment, 10, 31)
		if err != nil || s == 0 {
			return 0, 0, 0, false
		}
		seg = int(s)
	}
	switch base, suffix, _ := strings.Cut(name, "_"); {
	case suffix == "" && base == name:
	case suffix == "fsm":
		name, fork = base, FSMFork
	case suffix == "vm":
		name, fork = base, VMFork
	default:
		return 0, 0, 0, false
	}
	number, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return 0, 0, 0, false
	}
	return FileNumber(number), fork, seg, true
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// FileError gives a file system's error the SQLSTATE and the words PostgreSQL does.
func FileError(err error, format string, args ...any) error {
	code := pgerr.IoError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = pgerr.UndefinedFile
	case errors.Is(err, fs.ErrPermission):
		code = pgerr.InsufficientPrivilege
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code = pgerr.DiskFull
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		code = pgerr.InsufficientResources
	}
	e := pgerr.Wrap(err, code, format+": %s", append(args, reason(err))...)
	if code == pgerr.DiskFull {
		e = e.WithHint("Check free disk space.")
	}
	return e
}

// reason is what strerror says, in C's spelling.
func reason(err error) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		if errors.Is(err, fs.ErrNotExist) {
			errno = syscall.ENOENT
		} else {
			return err.Error()
		}
	}
	s := errno.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}
