package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// The files of a data directory.
const (
	ConfFile = "minipg.conf"
	AutoFile = "minipg.auto.conf"
)

// Values lie in pages so that a session that changes one parameter copies little: ten thousand
// sessions share all they did not set.
const (
	pageShift = 4
	pageSize  = 1 << pageShift
	numPages  = (int(numParams) + pageSize - 1) / pageSize
)

type page [pageSize]Value

type pages [numPages]*page

func (p *pages) get(id ID) *Value { return &p[id>>pageShift][id&(pageSize-1)] }

// origin is where the server's value of a parameter comes from.
type origin struct {
	source  Source
	file    string
	line    int
	pending bool // a restart would change it
}

// base is the server's set of values. It is immutable.
type base struct {
	pages   pages
	origins map[ID]origin     // of those not at their default
	custom  map[string]string // placeholders
	gen     uint64
}

// Hook validates a value that only a higher package can judge, and returns its canonical form. A nil session
// means the value comes from a file or the command line.
type Hook func(s *Session, name, value string) (string, error)

// Server holds the values from files and command line. It is safe for concurrent use.
type Server struct {
	fs    storage.FS
	dir   string
	cmd   []Assignment
	hooks map[ID]Hook
	cur   atomic.Pointer[base]
	mu    struct {
		sync.Mutex // serialises Reload and AlterSystem
		dynamic    map[ID]string
	}
}

// NewServer starts with the defaults. A fs of nil means no files. cmd are the settings of the command line.
func NewServer(fsys storage.FS, dir string, cmd []Assignment) (*Server, error) {
	s := &Server{fs: fsys, dir: dir, cmd: cmd, hooks: map[ID]Hook{}}
	s.mu.dynamic = map[ID]string{}
	b, problems := s.build(nil, nil)
	s.cur.Store(b)
	return s, errors.Join(problems...)
}

// SetHook registers a check. Only before the server serves.
func (s *Server) SetHook(id ID, h Hook) { s.hooks[id] = h }

// SetDynamicDefault changes the default of a parameter to what the server found out (data_directory, server_encoding ...).
func (s *Server) SetDynamicDefault(id ID, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.dynamic[id] = value
	p := ByID(id)
	v, err := p.Parse(p.Name, value)
	if err != nil {
		return err
	}
	old := s.cur.Load()
	if o, ok := old.origins[id]; ok && o.source > SourceDynamicDefault {
		return nil
	}
	b := *old
	b.gen++
	b.origins = maps.Clone(old.origins)
	b.origins[id] = origin{source: SourceOverride}
	b.set(id, v)
	s.cur.Store(&b)
	return nil
}

// set replaces one value of a base that is being made.
func (b *base) set(id ID, v Value) {
	pg := *b.pages[id>>pageShift]
	pg[id&(pageSize-1)] = v
	b.pages[id>>pageShift] = &pg
}

// Load reads the configuration files at the start; any error in them ends it.
func (s *Server) Load() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.readFiles()
	if err != nil {
		return err
	}
	b, problems := s.build(list, nil)
	if len(problems) > 0 {
		return problems[0]
	}
	s.cur.Store(b)
	return nil
}

// Reload reads the files again. What cannot change while the server runs stays, and is reported with
// the other problems; what is valid takes effect.
func (s *Server) Reload() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.readFiles()
	if err != nil {
		return []error{err}
	}
	b, problems := s.build(list, s.cur.Load())
	s.cur.Store(b)
	return problems
}

func (s *Server) readFiles() ([]Assignment, error) {
	if s.fs == nil {
		return nil, nil
	}
	var out []Assignment
	for _, name := range []string{ConfFile, AutoFile} {
		file := path.Join(s.dir, name)
		text, err := readFile(s.fs, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", file, err)
		}
		list, err := ParseConf(file, text)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// build makes a base of the defaults, the files' values and the command line's. With old, parameters that
// need a restart keep its values.
func (s *Server) build(files []Assignment, old *base) (*base, []error) {
	b := &base{origins: map[ID]origin{}, custom: map[string]string{}}
	if old != nil {
		b.gen = old.gen + 1
	}
	for i := range b.pages {
		b.pages[i] = new(page)
	}
	for i := range params {
		p := &params[i]
		v, err := p.Parse(p.Name, p.Default())
		if err != nil {
			// The defaults are ours: this cannot be.
			panic(fmt.Sprintf("default of %s: %v", p.Name, err))
		}
		*b.pages.get(p.id) = v
	}
	for id, text := range s.mu.dynamic {
		if v, err := ByID(id).Parse(ByID(id).Name, text); err == nil {
			*b.pages.get(id) = v
			b.origins[id] = origin{source: SourceOverride}
		}
	}
	var problems []error
	add := func(list []Assignment, src Source) {
		for i := range list {
			if err := s.assign(b, &list[i], src); err != nil {
				problems = append(problems, err)
			}
		}
	}
	add(files, SourceFile)
	add(s.cmd, SourceCommandLine)
	if old != nil {
		problems = append(problems, b.keepPostmaster(old)...)
	}
	return b, problems
}

func (s *Server) assign(b *base, a *Assignment, src Source) error {
	where := func(err error) error {
		if a.File == "" {
			return err
		}
		e := pgerr.From(err)
		return pgerr.New(e.Code, "%s in file \"%s\" line %d", e.Message, a.File, a.Line)
	}
	p := Lookup(a.Name)
	if p == nil {
		if !IsCustom(a.Name) {
			return where(errUnknown(a.Name))
		}
		b.custom[strings.ToLower(a.Name)] = a.Value
		return nil
	}
	if p.Context == Internal {
		return where(pgerr.New(pgerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed", p.Name))
	}
	v, err := s.check(nil, p, p.Name, a.Value, p.Default(), p.Default())
	if err != nil {
		return where(err)
	}
	*b.pages.get(p.id) = v
	b.origins[p.id] = origin{source: src, file: a.File, line: a.Line}
	return nil
}

// keepPostmaster takes the old values of what only a restart may change.
func (b *base) keepPostmaster(old *base) []error {
	var problems []error
	for i := range params {
		p := &params[i]
		if p.Context != Postmaster || *b.pages.get(p.id) == *old.pages.get(p.id) {
			continue
		}
		*b.pages.get(p.id) = *old.pages.get(p.id)
		o := old.origins[p.id]
		o.pending = true
		b.origins[p.id] = o
		problems = append(problems, pgerr.New(pgerr.CantChangeRuntimeParam,
			"parameter \"%s\" cannot be changed without restarting the server", p.Name))
	}
	return problems
}

// check parses and judges a value, whoever sets it.
func (s *Server) check(sess *Session, p *Param, name, text, current, reset string) (Value, error) {
	v, err := p.parse(name, text, current, reset)
	if err != nil {
		return Value{}, err
	}
	if h := s.hooks[p.id]; h != nil {
		canonical, err := h(sess, name, p.Setting(v))
		if err != nil {
			return Value{}, err
		}
		if v, err = p.parse(name, canonical, current, reset); err != nil {
			return Value{}, err
		}
	}
	return v, p.supported(v)
}

// supported refuses what minipg does not do. Invariant 4.
func (p *Param) supported(v Value) error {
	if p.id == DefaultTransactionIsolation && p.Setting(v) == "serializable" {
		return p.errUnsupported(v) // every transaction would fail
	}
	if p.Support != DefaultOnly {
		return nil
	}
	for _, ok := range []string{p.Default(), p.Boot} {
		if d, err := p.Parse(p.Name, ok); err == nil && d == v {
			return nil
		}
	}
	return p.errUnsupported(v)
}

func (p *Param) errUnsupported(v Value) error {
	return pgerr.New(pgerr.FeatureNotSupported, "setting parameter \"%s\" to \"%s\" is not supported", p.Name, p.Setting(v))
}

func errUnknown(name string) error {
	return pgerr.New(pgerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
}

// errUnknownOrInvalid is for SET of a name that is not known.
func errUnknownOrInvalid(name string) error {
	if strings.Contains(name, ".") && !IsCustom(name) {
		return pgerr.New(pgerr.InvalidName, "invalid configuration parameter name \"%s\"", name).
			WithDetail("Custom parameter names must be two or more simple identifiers separated by dots.")
	}
	return errUnknown(name)
}

// Bool is the server's value, for background work.
func (s *Server) Bool(id ID) bool { return s.cur.Load().pages.get(id).I != 0 }

// Int is the server's value in the base unit; for an enum the position in Enums.
func (s *Server) Int(id ID) int64 { return s.cur.Load().pages.get(id).I }

// Real is the server's value in the base unit.
func (s *Server) Real(id ID) float64 { return s.cur.Load().pages.get(id).Real() }

// Str is the server's value as text: of an enum its name.
func (s *Server) Str(id ID) string { return ByID(id).Setting(*s.cur.Load().pages.get(id)) }

// Bytes is a memory parameter's value.
func (s *Server) Bytes(id ID) int64 { return inBytes(ByID(id), s.Int(id)) }

// inBytes turns base units into bytes; negative values stay as they are.
func inBytes(p *Param, v int64) int64 {
	if v < 0 {
		return v
	}
	switch p.Unit {
	case "kB":
		return v << 10
	case "8kB":
		return v << 13
	case "MB":
		return v << 20
	}
	return v
}

// AlterSystem writes a value to the file of ALTER SYSTEM, or with value nil takes it out. It takes effect with
// the next Reload.
func (s *Server) AlterSystem(name string, value *string) error {
	p := Lookup(name)
	switch {
	case p == nil && !IsCustom(name):
		return errUnknownOrInvalid(name)
	case p == nil:
	case p.Context == Internal || p.NoShowAll || p.id == DataDirectory || p.id == ConfigFile:
		return pgerr.New(pgerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed", name)
	case value != nil:
		if _, err := s.check(nil, p, name, *value, p.Default(), p.Default()); err != nil {
			return err
		}
	}
	if value != nil && strings.Contains(*value, "\n") {
		return pgerr.New(pgerr.InvalidParameterValue, "parameter value for ALTER SYSTEM must not contain a newline")
	}
	if p != nil {
		name = p.Name
	}
	return s.editAuto(func(list []Assignment) []Assignment {
		list = slices.DeleteFunc(list, func(a Assignment) bool { return strings.EqualFold(a.Name, name) })
		if value != nil {
			list = append(list, Assignment{Name: name, Value: *value})
		}
		return list
	})
}

// AlterSystemResetAll empties the file of ALTER SYSTEM.
func (s *Server) AlterSystemResetAll() error {
	return s.editAuto(func([]Assignment) []Assignment { return nil })
}

func (s *Server) editAuto(edit func([]Assignment) []Assignment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fs == nil {
		return pgerr.New(pgerr.FeatureNotSupported, "ALTER SYSTEM is not supported without a data directory")
	}
	file := path.Join(s.dir, AutoFile)
	text, err := readFile(s.fs, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %q: %w", file, err)
	}
	list, err := ParseConf(file, text)
	if err != nil {
		return err
	}
	return writeFile(s.fs, s.dir, AutoFile, formatAuto(edit(list)))
}

func readFile(fsys storage.FS, name string) (string, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil {
		return "", err
	}
	if size > maxConfSize {
		return "", pgerr.New(pgerr.ProgramLimitExceeded, "configuration file \"%s\" is larger than %d bytes", name, maxConfSize)
	}
	buf := make([]byte, size)
	if size > 0 {
		if _, err := f.ReadAt(buf, 0); err != nil {
			return "", err
		}
	}
	return string(buf), nil
}

const maxConfSize = 16 << 20

// writeFile replaces a file so that a crash leaves the old or the new one.
func writeFile(fsys storage.FS, dir, name, text string) error {
	tmp := path.Join(dir, name+".tmp")
	f, err := fsys.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %q: %w", tmp, err)
	}
	if err := fsys.Rename(tmp, path.Join(dir, name)); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// FileSetting is a row of pg_file_settings.
type FileSetting struct {
	Assignment
	Applied bool
	Error   string
}

// FileSettings is what the files say now, whether or not it took effect.
func (s *Server) FileSettings() ([]FileSetting, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.readFiles()
	if err != nil {
		return nil, err
	}
	cur := s.cur.Load()
	last := map[string]int{}
	for i, a := range list {
		last[strings.ToLower(a.Name)] = i
	}
	out := make([]FileSetting, len(list))
	for i, a := range list {
		out[i].Assignment = a
		p := Lookup(a.Name)
		switch {
		case p == nil && !IsCustom(a.Name):
			out[i].Error = errUnknown(a.Name).Error()
		case p == nil:
			out[i].Applied = last[strings.ToLower(a.Name)] == i
		default:
			v, err := p.Parse(p.Name, a.Value)
			if err != nil {
				out[i].Error = pgerr.From(err).Message
			} else {
				out[i].Applied = last[strings.ToLower(a.Name)] == i && *cur.pages.get(p.id) == v
			}
		}
	}
	return out, nil
}

// byCategory orders the parameters as a file lists them.
func byCategory() []*Param {
	out := make([]*Param, len(params))
	for i := range params {
		out[i] = &params[i]
	}
	slices.SortStableFunc(out, func(a, b *Param) int { return cmp.Compare(a.Category, b.Category) })
	return out
}
