package settings

import (
	"cmp"
	"slices"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
)

// Session is what one session sees. It belongs to that session and has no lock.
//
// A change is undone with the (sub)transaction that made it: each writes what was before to a log.
// Besides the value in effect, an override keeps the one that outlives the transaction, which SET LOCAL
// does not touch.
type Session struct {
	srv   *Server
	base  *base
	pages pages
	owned [numPages]bool
	// defaults are the values of database, role and client, which RESET goes back to.
	defaults map[ID]preset
	over     map[ID]override
	custom   map[string]customValue
	log      []undo
	gen      uint64
	reported map[ID]string
	// Superuser tells whether the session may set parameters of the context superuser.
	Superuser bool
	// Ready is set when the connection is made: what a client may only choose at its start is then closed.
	Ready bool
	// Owner is whatever the hooks need to find the session's other parts.
	Owner any
}

type preset struct {
	value  Value
	source Source
}

type override struct {
	cur Value
	// kept is what is left when the transaction commits, if has; else the parameter is reset.
	kept   Value
	has    bool
	source Source
}

// customValue is a placeholder's value; set tells it from the default.
type customValue struct {
	cur, kept string
	has, set  bool
	reset     string
}

// undo restores a parameter: a known one by id, a placeholder by name.
type undo struct {
	id     ID
	name   string
	over   override
	custom customValue
	had    bool
}

// NewSession starts with the server's values.
func (s *Server) NewSession() *Session {
	b := s.cur.Load()
	return &Session{srv: s, base: b, pages: b.pages}
}

// Generation changes whenever a value in effect may have.
func (s *Session) Generation() uint64 { return s.gen }

// Refresh takes the values of a reload, between statements.
func (s *Session) Refresh() {
	b := s.srv.cur.Load()
	if b == s.base {
		return
	}
	s.base, s.pages, s.owned = b, b.pages, [numPages]bool{}
	for id, d := range s.defaults {
		s.put(id, d.value)
	}
	for id, o := range s.over {
		s.put(id, o.cur)
	}
	s.gen++
}

// put changes a value in effect, on a page of the session's own.
func (s *Session) put(id ID, v Value) {
	n := id >> pageShift
	if !s.owned[n] {
		pg := *s.pages[n]
		s.pages[n], s.owned[n] = &pg, true
	}
	s.pages[n][id&(pageSize-1)] = v
	s.gen++
}

// Bool is a value in effect.
func (s *Session) Bool(id ID) bool { return s.pages.get(id).I != 0 }

// Int is a value in effect in the base unit; of an enum the position in Enums.
func (s *Session) Int(id ID) int64 { return s.pages.get(id).I }

// Real is a value in effect in the base unit.
func (s *Session) Real(id ID) float64 { return s.pages.get(id).Real() }

// Str is a value in effect as text: of an enum its name.
func (s *Session) Str(id ID) string {
	p := ByID(id)
	if p.Kind == String {
		return s.pages.get(id).S
	}
	return p.Setting(*s.pages.get(id))
}

// Bytes is a memory parameter's value in effect.
func (s *Session) Bytes(id ID) int64 { return inBytes(ByID(id), s.Int(id)) }

// resetValue is what RESET goes back to.
func (s *Session) resetValue(id ID) (Value, Source) {
	if d, ok := s.defaults[id]; ok {
		return d.value, d.source
	}
	return *s.base.pages.get(id), s.base.origins[id].source
}

// SetOptions say how a value is set.
type SetOptions struct {
	// Local is SET LOCAL: until the end of the transaction.
	Local bool
	// Allowed overrides Superuser for a parameter the role was granted SET on.
	Allowed bool
	// Source is SourceSession when zero.
	Source Source
}

// Set changes a parameter as SET does.
func (s *Session) Set(name, text string, opt SetOptions) error {
	p := Lookup(name)
	if p == nil {
		return s.setCustom(name, text, opt)
	}
	if err := s.mayChange(p, name, opt); err != nil {
		return err
	}
	v, err := s.checked(p, name, text)
	if err != nil {
		return err
	}
	s.assign(p.id, v, opt)
	return nil
}

// Check judges a value as Set would, without setting it (ALTER ROLE ... SET).
func (s *Session) Check(name, text string) error {
	p := Lookup(name)
	if p == nil {
		if !IsCustom(name) {
			return errUnknownOrInvalid(name)
		}
		return nil
	}
	if p.Context == Internal || p.NoShowAll {
		return pgerr.New(pgerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed", name)
	}
	_, err := s.checked(p, name, text)
	return err
}

func (s *Session) checked(p *Param, name, text string) (Value, error) {
	if p.id == DateStyle {
		reset, _ := s.resetValue(p.id)
		return s.srv.check(s, p, name, text, s.Str(p.id), reset.S)
	}
	return s.srv.check(s, p, name, text, "", "")
}

// mayChange applies the parameter's context, with PostgreSQL's errors.
func (s *Session) mayChange(p *Param, name string, opt SetOptions) error {
	refuse := func(how string) error {
		return pgerr.New(pgerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be %s", name, how)
	}
	switch p.Context {
	case Internal:
		return refuse("changed")
	case Postmaster:
		return refuse("changed without restarting the server")
	case Sighup:
		return refuse("changed now")
	case SuperuserBackend, Backend:
		if s.Ready {
			return refuse("set after connection start")
		}
		if p.Context == Backend {
			return nil
		}
		fallthrough
	case Superuser:
		if !s.Superuser && !opt.Allowed {
			return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to set parameter \"%s\"", name)
		}
	}
	return nil
}

func (s *Session) assign(id ID, v Value, opt SetOptions) {
	old, had := s.over[id]
	s.log = append(s.log, undo{id: id, over: old, had: had})
	o := old
	o.cur, o.source = v, cmp.Or(opt.Source, SourceSession)
	if !opt.Local {
		o.kept, o.has = v, true
	}
	if s.over == nil {
		s.over = map[ID]override{}
	}
	s.over[id] = o
	s.put(id, v)
}

// SetInternal changes a parameter without asking: the server's own doing (transaction_isolation, is_superuser,
// role ...). It is not undone.
func (s *Session) SetInternal(id ID, text string) error {
	p := ByID(id)
	v, err := p.Parse(p.Name, text)
	if err != nil {
		return err
	}
	s.SetValue(id, v)
	return nil
}

// SetValue is SetInternal with a parsed value.
func (s *Session) SetValue(id ID, v Value) {
	if *s.pages.get(id) == v {
		return
	}
	if s.over == nil {
		s.over = map[ID]override{}
	}
	s.over[id] = override{cur: v, kept: v, has: true, source: SourceOverride}
	s.put(id, v)
}

// SetDefault gives a parameter the value of the database, the role or the client's startup packet: where
// RESET goes back to. A higher source wins whatever the order of calls.
func (s *Session) SetDefault(name, text string, src Source) error {
	p := Lookup(name)
	if p == nil {
		if !IsCustom(name) {
			return errUnknownOrInvalid(name)
		}
		s.setCustomDefault(name, text)
		return nil
	}
	if src == SourceClient {
		if err := s.mayChange(p, name, SetOptions{}); err != nil {
			return err
		}
	}
	v, err := s.checked(p, name, text)
	if err != nil {
		return err
	}
	if d, ok := s.defaults[p.id]; ok && d.source > src {
		return nil
	}
	if s.defaults == nil {
		s.defaults = map[ID]preset{}
	}
	s.defaults[p.id] = preset{v, src}
	if _, ok := s.over[p.id]; !ok {
		s.put(p.id, v)
	}
	return nil
}

// Reset puts a parameter back, as RESET or SET ... TO DEFAULT do.
func (s *Session) Reset(name string, opt SetOptions) error {
	p := Lookup(name)
	if p == nil {
		return s.resetCustom(name, opt)
	}
	if err := s.mayChange(p, name, opt); err != nil {
		return err
	}
	v, src := s.resetValue(p.id)
	opt.Source = src
	if opt.Local {
		s.assign(p.id, v, opt)
		return nil
	}
	s.drop(p.id)
	return nil
}

// drop takes the override away.
func (s *Session) drop(id ID) {
	old, had := s.over[id]
	if !had {
		return
	}
	s.log = append(s.log, undo{id: id, over: old, had: had})
	delete(s.over, id)
	v, _ := s.resetValue(id)
	s.put(id, v)
}

// ResetAll is RESET ALL.
func (s *Session) ResetAll() {
	ids := make([]ID, 0, len(s.over))
	for id, o := range s.over {
		p := ByID(id)
		if !p.NoResetAll && !p.NoShowAll && p.Context >= Superuser && o.source != SourceOverride {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		s.drop(id)
	}
	for name, c := range s.custom {
		if c.set {
			s.log = append(s.log, undo{name: name, custom: c, had: true})
			s.custom[name] = customValue{cur: c.reset, kept: c.reset, reset: c.reset}
		}
	}
}

func (s *Session) setCustom(name, text string, opt SetOptions) error {
	if !IsCustom(name) {
		return errUnknownOrInvalid(name)
	}
	key := strings.ToLower(name)
	old, had := s.customOf(key)
	s.log = append(s.log, undo{name: key, custom: old, had: had})
	c := old
	c.cur, c.set = text, true
	if !opt.Local {
		c.kept, c.has = text, true
	}
	if s.custom == nil {
		s.custom = map[string]customValue{}
	}
	s.custom[key] = c
	s.gen++
	return nil
}

func (s *Session) setCustomDefault(name, text string) {
	if s.custom == nil {
		s.custom = map[string]customValue{}
	}
	s.custom[strings.ToLower(name)] = customValue{cur: text, kept: text, reset: text}
}

// customOf finds a placeholder in the session or the server's files.
func (s *Session) customOf(key string) (customValue, bool) {
	if c, ok := s.custom[key]; ok {
		return c, true
	}
	v, ok := s.base.custom[key]
	return customValue{cur: v, kept: v, reset: v}, ok
}

func (s *Session) resetCustom(name string, opt SetOptions) error {
	c, ok := s.customOf(strings.ToLower(name))
	if !ok {
		if !IsCustom(name) {
			return errUnknownOrInvalid(name)
		}
		// PostgreSQL makes the placeholder, empty.
		return s.setCustom(name, "", opt)
	}
	return s.setCustom(name, c.reset, opt)
}

// Mark is a point to roll back to: the start of a (sub)transaction or of a function with SET options.
func (s *Session) Mark() int { return len(s.log) }

// RollbackTo undoes the changes since the mark.
func (s *Session) RollbackTo(mark int) {
	assert.That(mark <= len(s.log), "settings mark %d of %d", mark, len(s.log))
	for len(s.log) > mark {
		u := s.log[len(s.log)-1]
		s.log = s.log[:len(s.log)-1]
		if u.name != "" {
			if u.had {
				s.custom[u.name] = u.custom
			} else {
				// The placeholder stays known, as in PostgreSQL, but empty.
				s.custom[u.name] = customValue{}
			}
			s.gen++
			continue
		}
		if u.had {
			s.over[u.id] = u.over
			s.put(u.id, u.over.cur)
			continue
		}
		delete(s.over, u.id)
		v, _ := s.resetValue(u.id)
		s.put(u.id, v)
	}
}

// Commit ends a transaction: the values of SET LOCAL go, those of SET stay.
func (s *Session) Commit() {
	for _, u := range s.log {
		if u.name != "" {
			c := s.custom[u.name]
			if !c.has {
				c.cur, c.set = c.reset, false
			} else {
				c.cur = c.kept
			}
			s.custom[u.name] = c
			s.gen++
			continue
		}
		o, ok := s.over[u.id]
		switch {
		case !ok:
		case !o.has:
			delete(s.over, u.id)
			v, _ := s.resetValue(u.id)
			s.put(u.id, v)
		case o.cur != o.kept:
			o.cur = o.kept
			s.over[u.id] = o
			s.put(u.id, o.cur)
		}
	}
	s.log = s.log[:0]
}

// Abort ends a transaction that failed.
func (s *Session) Abort() { s.RollbackTo(0) }

// Show is a parameter's value as SHOW prints it.
func (s *Session) Show(name string) (string, error) {
	p := Lookup(name)
	if p == nil {
		if c, ok := s.customOf(strings.ToLower(name)); ok {
			return c.cur, nil
		}
		return "", errUnknown(name)
	}
	return p.Show(*s.pages.get(p.id)), nil
}

// Exists tells whether Show would find the parameter.
func (s *Session) Exists(name string) bool {
	if Lookup(name) != nil {
		return true
	}
	_, ok := s.customOf(strings.ToLower(name))
	return ok
}

// Changes calls fn with each parameter to report to the client (GUC_REPORT) whose value is not the one
// reported last; the first time with all of them.
func (s *Session) Changes(fn func(name, value string)) {
	if s.reported == nil {
		s.reported = map[ID]string{}
	}
	for i := range params {
		p := &params[i]
		if !p.Report {
			continue
		}
		v := p.Show(*s.pages.get(p.id))
		if old, ok := s.reported[p.id]; ok && old == v {
			continue
		}
		s.reported[p.id] = v
		fn(p.Name, v)
	}
}

// Changed lists the parameters plans depend on (GUC_EXPLAIN) that are not at their defaults, as SHOW prints them.
func (s *Session) Changed() []Info {
	var out []Info
	for i := range params {
		p := &params[i]
		if v := *s.pages.get(p.id); p.Explain && p.Setting(v) != p.Default() {
			out = append(out, Info{Param: p, Name: p.Name, Value: p.Show(v)})
		}
	}
	return out
}

// Info is a row of pg_settings.
type Info struct {
	*Param         // nil for a placeholder
	Name, Value    string
	Source         Source
	ResetValue     string
	File           string
	Line           int
	PendingRestart bool
}

// All lists the parameters that SHOW ALL and pg_settings show, placeholders included.
func (s *Session) All() []Info {
	out := make([]Info, 0, len(params)+len(s.custom))
	for i := range params {
		p := &params[i]
		if p.NoShowAll {
			continue
		}
		reset, src := s.resetValue(p.id)
		if o, ok := s.over[p.id]; ok {
			src = o.source
		}
		org := s.base.origins[p.id]
		info := Info{
			Param: p, Name: p.Name, Value: p.Setting(*s.pages.get(p.id)), Source: src, ResetValue: p.Setting(reset),
			PendingRestart: org.pending,
		}
		if src == SourceFile {
			info.File, info.Line = org.file, org.line
		}
		out = append(out, info)
	}
	names := map[string]bool{}
	for n := range s.custom {
		names[n] = true
	}
	for n := range s.base.custom {
		names[n] = true
	}
	for n := range names {
		c, _ := s.customOf(n)
		src := SourceDefault
		if c.set {
			src = SourceSession
		}
		out = append(out, Info{Name: n, Value: c.cur, Source: src, ResetValue: c.reset})
	}
	slices.SortFunc(out, func(a, b Info) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return out
}
