package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The tablespaces, as servers call them.
const (
	spaceA = "minipg_lab_a"
	spaceB = "minipg_lab_b"
)

// imageBytes is the size of a file system on a loop device: what a run may write, and room to spare. The
// image has holes, so it takes no more than is written.
const imageBytes = 6 << 30

// makeSpaces finds places for the tablespaces: those the command line names; else, as root, new file
// systems on loop devices; else directories.
func (l *lab) makeSpaces() error {
	l.spaces = map[string]string{}
	for name, use := range map[string]struct{ letter, fs string }{spaceA: {"A", "ext4"}, spaceB: {"B", "xfs"}} {
		dir := filepath.Join(l.work, "space-"+use.letter)
		if given := l.opts.Spaces[use.letter]; given != "" {
			made, err := os.MkdirTemp(given, "minipg-lab-")
			if err != nil {
				return err
			}
			l.cleanups = append(l.cleanups, func() error { return os.RemoveAll(made) })
			dir = made
		} else {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return err
			}
			if err := l.mountImage(dir, use.fs); err != nil {
				l.note("tablespace %s is a directory without a file system of its own: %v", use.letter, err)
			}
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		l.spaces[name] = abs
		l.addFileSystem("tablespace "+use.letter, abs)
	}
	return nil
}

func (l *lab) mountImage(dir, fs string) error {
	if os.Getuid() != 0 {
		return errors.New("only root can make one")
	}
	mkfs, err := exec.LookPath("mkfs." + fs)
	if err != nil {
		if fs == "ext4" {
			return errors.New("mkfs.ext4 is not there (Debian's package e2fsprogs)")
		}
		l.note("mkfs.%s is not there (Debian's package xfsprogs): ext4 instead", fs)
		return l.mountImage(dir, "ext4")
	}
	image := dir + ".img"
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(imageBytes), f.Close()); err != nil {
		return err
	}
	for _, cmd := range [][]string{{mkfs, "-q", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", filepath.Base(cmd[0]), err, firstLines(string(out), 2))
		}
	}
	l.cleanups = append(l.cleanups, func() error {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("umount %s: %w: %s", dir, err, firstLines(string(out), 2))
		}
		return nil
	})
	return nil
}

// addSpaces makes the tablespaces of a new minipg.
func (l *lab) addSpaces(s *instance) []string {
	var sql []string
	for _, space := range []string{spaceA, spaceB} {
		dir := filepath.Join(l.spaces[space], filepath.Base(s.dir))
		s.spaces = append(s.spaces, dir)
		sql = append(sql, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", space, dir))
	}
	return sql
}
