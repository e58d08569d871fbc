package lab

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/minipg/minipg"
	"github.com/minipg/minipg/storage/vfs"
)

// Serve is the server process of a run: minipg as it is, but for the file system, which may be slow in
// one directory.
func Serve(opts minipg.Options, stalled string, delay time.Duration) error {
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	opts.Logger = zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.Lock(os.Stderr), zap.InfoLevel))
	if stalled != "" {
		opts.FS = stallFS{dir: strings.TrimSuffix(stalled, "/") + "/", delay: delay}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	ctx := context.Background()
	srv, err := minipg.Open(ctx, opts)
	if err != nil {
		return err
	}
	if _, err := fmt.Println("port", srv.Port()); err != nil {
		return err
	}
	mode := minipg.Fast
	if <-signals == syscall.SIGQUIT {
		mode = minipg.Immediate
	}
	return srv.Close(ctx, mode)
}

// stallFS delays whatever makes a file below a directory longer, which is what happens under the lock on
// extending a relation. Reads and other writes are not delayed: they happen under no lock the
// experiment is about, but under latches and in the checkpointer, which would blur it.
type stallFS struct {
	vfs.OSFS
	dir   string // with a slash at its end
	delay time.Duration
}

// OpenFile implements vfs.FS.
func (s stallFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.OSFS.OpenFile(name, flag, perm)
	if err != nil || !strings.HasPrefix(name, s.dir) {
		return f, err
	}
	return &stalledFile{File: f, delay: s.delay}, nil
}

type stalledFile struct {
	vfs.File
	delay time.Duration
}

// WriteAt implements vfs.File.
func (f *stalledFile) WriteAt(p []byte, off int64) (int, error) {
	if size, err := f.Size(); err != nil || off+int64(len(p)) > size {
		time.Sleep(f.delay)
	}
	return f.File.WriteAt(p, off)
}

// Allocate implements vfs.File.
func (f *stalledFile) Allocate(off, n int64) error {
	time.Sleep(f.delay)
	return f.File.Allocate(off, n)
}
