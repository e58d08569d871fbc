package sql

import (
	"context"
	"strings"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// identity is fn.Identity.
type identity struct{ s *Session }

func (f identity) CurrentUser() string           { return f.s.role.Name }
func (f identity) SessionUser() string           { return f.s.user.Name }
func (f identity) CurrentDatabase() string       { return f.s.database.Name }
func (f identity) CurrentDatabaseOID() types.OID { return f.s.database.OID }
func (f identity) BackendPID() int32             { return f.s.opts.PID }

func (f identity) CurrentSchemas(implicit bool) []string {
	f.s.resolvePath()
	list := f.s.path.explicit
	if implicit {
		list = f.s.path.list
	}
	names := make([]string, 0, len(list))
	for _, oid := range list {
		if ns, err := f.s.eng.Catalog().NamespaceByOID(oid); err == nil && ns != nil {
			names = append(names, ns.Name)
		}
	}
	return names
}

func (f identity) CurrentQuery() string {
	a := &f.s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.query
}

func (f identity) ServerVersion() string { return f.s.srv.VersionText() }

// VersionText is version()'s result.
func (srv *Server) VersionText() string {
	return "PostgreSQL " + settings.ByID(settings.ServerVersion).Default() + " (minipg " + srv.version + ") on x86_64-pc-linux-gnu, compiled by Go, 64-bit"
}

func (f identity) ClientAddr() (host string, port int, ok bool) {
	return f.s.opts.RemoteHost, f.s.opts.RemotePort, f.s.opts.RemoteHost != ""
}

func (f identity) ServerAddr() (host string, port int, ok bool) {
	return f.s.opts.LocalHost, f.s.opts.LocalPort, f.s.opts.LocalHost != ""
}

func (f identity) PostmasterStart() time.Time { return f.s.srv.started }
func (f identity) ConfLoad() time.Time        { return f.s.srv.loaded }

// settingFuncs is fn.Settings.
type settingFuncs struct{ s *Session }

func (f settingFuncs) Setting(name string) (string, bool) {
	v, err := f.s.showSetting(name)
	return v, err == nil
}

func (f settingFuncs) SetSetting(name, value string, local bool) (string, error) {
	if err := f.s.assign(name, value, local); err != nil {
		return "", err
	}
	f.s.settingsChanged()
	return f.s.showSetting(name)
}

// sequenceFuncs is fn.Sequences.
type sequenceFuncs struct{ s *Session }

func (f sequenceFuncs) sequence(oid types.OID) (*catalog.Relation, error) {
	rel, err := f.s.eng.Catalog().RelationByOID(oid)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, pgerr.New(pgerr.UndefinedTable, "could not open relation with OID %d", oid)
	}
	if rel.Kind != catalog.KindSequence {
		return nil, pgerr.New(pgerr.WrongObjectType, "\"%s\" is not a sequence", rel.Name)
	}
	return rel, nil
}

func (f sequenceFuncs) writable(command string) error {
	if f.s.block.readOnly {
		return readOnlyError(command)
	}
	return nil
}

func (f sequenceFuncs) Nextval(ctx context.Context, seq types.OID) (int64, error) {
	if err := f.writable("nextval()"); err != nil {
		return 0, err
	}
	rel, err := f.sequence(seq)
	if err != nil {
		return 0, err
	}
	if err := f.s.lockRelation(ctx, seq, locks.RowExclusive); err != nil {
		return 0, err
	}
	return f.s.eng.Nextval(ctx, rel)
}

func (f sequenceFuncs) Currval(seq types.OID) (int64, error) {
	rel, err := f.sequence(seq)
	if err != nil {
		return 0, err
	}
	return f.s.eng.Currval(rel)
}

func (f sequenceFuncs) Lastval() (int64, error) { return f.s.eng.Lastval() }

func (f sequenceFuncs) Setval(ctx context.Context, seq types.OID, value int64, called bool) error {
	if err := f.writable("setval()"); err != nil {
		return err
	}
	rel, err := f.sequence(seq)
	if err != nil {
		return err
	}
	if q := rel.Sequence; value < q.Min || value > q.Max {
		return pgerr.New(pgerr.NumericValueOutOfRange,
			"setval: value %d is out of bounds for sequence \"%s\" (%d..%d)", value, rel.Name, q.Min, q.Max)
	}
	if err := f.s.lockRelation(ctx, seq, locks.RowExclusive); err != nil {
		return err
	}
	return f.s.eng.Setval(ctx, rel, value, called)
}

func (f sequenceFuncs) SequenceParameters(seq types.OID) (start, minimum, maximum, increment int64, cycle bool, cache int64, typ types.OID, err error) {
	rel, err := f.sequence(seq)
	if err != nil {
		return 0, 0, 0, 0, false, 0, 0, err
	}
	q := rel.Sequence
	return q.Start, q.Min, q.Max, q.Increment, q.Cycle, q.Cache, q.Type, nil
}

func (f sequenceFuncs) LastValue(seq types.OID) (int64, bool, error) {
	rel, err := f.sequence(seq)
	if err != nil {
		return 0, false, err
	}
	last, _, called, err := f.s.eng.SequenceState(f.s.ctx, rel)
	return last, called, err
}

// advisoryFuncs is fn.Advisory.
type advisoryFuncs struct{ s *Session }

func (f advisoryFuncs) tag(key fn.AdvisoryKey) locks.Tag {
	db := uint32(f.s.database.OID)
	if key.Pair {
		return locks.AdvisoryPairTag(db, int32(key.Key1), int32(key.Key2))
	}
	return locks.AdvisoryTag(db, int64(key.Key1)<<32|int64(key.Key2))
}

func (f advisoryFuncs) AdvisoryLock(ctx context.Context, key fn.AdvisoryKey, shared, xact, try bool) (bool, error) {
	mode := locks.Exclusive
	if shared {
		mode = locks.Share
	}
	opts := f.s.lockOptions()
	opts.Session, opts.NoWait = !xact, try
	err := f.s.eng.Locks().Lock(ctx, f.tag(key), mode, opts)
	if try && pgerr.HasCode(err, pgerr.LockNotAvailable) {
		return false, nil
	}
	return err == nil, err
}

func (f advisoryFuncs) AdvisoryUnlock(key fn.AdvisoryKey, shared bool) bool {
	mode, name := locks.Exclusive, "ExclusiveLock"
	if shared {
		mode, name = locks.Share, "ShareLock"
	}
	if f.s.eng.Locks().UnlockSession(f.tag(key), mode) {
		return true
	}
	f.s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.Warning, "you don't own a lock of type %s", name))
	return false
}

func (f advisoryFuncs) AdvisoryUnlockAll() { f.s.eng.Locks().ReleaseSessionAdvisory() }

// xactFuncs is fn.Xacts.
type xactFuncs struct{ s *Session }

func (f xactFuncs) CurrentXID(ifAssigned bool) (uint64, error) {
	tx := f.s.eng.Tx()
	if ifAssigned && !tx.HasXID() {
		return 0, nil
	}
	if f.s.block.readOnly && !tx.HasXID() {
		return uint64(tx.TopXID()), nil
	}
	tx.XID()
	return uint64(tx.TopXID()), nil
}

// Snapshot is the present one. What runs in between is found by asking each transaction.
func (f xactFuncs) Snapshot() (xmin, xmax uint64, xip []uint64) {
	m := f.s.srv.eng.Transactions()
	xmax = uint64(m.NextXID())
	xmin = uint64(m.OldestActive())
	for xid := xmin; xid < xmax && xid-xmin < maxSnapshotXIDs; xid++ {
		if st, _ := m.Status(txn.XID(xid)); st == txn.InProgress && uint64(m.TopXID(txn.XID(xid))) == xid {
			xip = append(xip, xid)
		}
	}
	if len(xip) > 0 {
		xmin = xip[0]
	} else {
		xmin = xmax
	}
	return xmin, xmax, xip
}

const maxSnapshotXIDs = 1 << 20

func (f xactFuncs) XIDStatus(xid uint64) (string, error) {
	m := f.s.srv.eng.Transactions()
	if xid >= uint64(m.NextXID()) {
		return "", pgerr.New(pgerr.InvalidParameterValue, "transaction ID %d is in the future", xid)
	}
	switch st, _ := m.Status(txn.XID(xid)); st {
	case txn.Committed:
		return "committed", nil
	case txn.Aborted:
		return "aborted", nil
	}
	return "in progress", nil
}

func (f xactFuncs) Age(xid uint32) int32 {
	if xid < 3 {
		return 1<<31 - 1
	}
	return int32(uint32(f.s.srv.eng.Transactions().NextXID()) - xid)
}

// regNames turns names into OIDs and back for the reg* types.
type regNames struct{ s *Session }

// RegIn resolves a name as the input function of a reg* type does.
func (r regNames) RegIn(typ types.OID, text string) (types.OID, error) {
	oid, ok, err := catalogFuncs(r).ToReg(typ, text)
	if err != nil || ok {
		return oid, err
	}
	if err := r.schemaOf(typ, text); err != nil {
		return 0, err
	}
	return 0, undefinedReg(typ, text)
}

// schemaOf is the error for a name whose schema is missing already. Operators are looked for in no such way.
func (r regNames) schemaOf(typ types.OID, text string) error {
	switch typ {
	case types.Regoper, types.Regoperator:
		return nil
	case types.Regprocedure:
		text, _, _ = strings.Cut(text, "(")
	}
	names, err := splitName(text)
	if err != nil || len(names) < 2 {
		return nil
	}
	if len(names) == 3 && names[0] != r.s.database.Name {
		return pgerr.New(pgerr.FeatureNotSupported, "cross-database references are not implemented: \"%s\"", strings.Join(names, "."))
	}
	name := names[len(names)-2]
	oid, err := r.s.schema(name)
	if err == nil && oid == 0 {
		err = pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", name)
	}
	return err
}

func undefinedReg(typ types.OID, text string) error {
	shown := strings.TrimSpace(text)
	switch typ {
	case types.Regclass:
		return pgerr.New(pgerr.UndefinedTable, "relation \"%s\" does not exist", unquoted(shown))
	case types.Regtype:
		return pgerr.New(pgerr.UndefinedObject, "type \"%s\" does not exist", unquoted(shown))
	case types.Regnamespace:
		return pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", unquoted(shown))
	case types.Regrole:
		return pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", unquoted(shown))
	case types.Regproc, types.Regprocedure:
		return pgerr.New(pgerr.UndefinedFunction, "function \"%s\" does not exist", shown)
	case types.Regoper, types.Regoperator:
		return pgerr.New(pgerr.UndefinedFunction, "operator does not exist: %s", shown)
	case types.Regcollation:
		return pgerr.New(pgerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", unquoted(shown))
	}
	return pgerr.New(pgerr.UndefinedObject, "text search object \"%s\" does not exist", unquoted(shown))
}

// unquoted is a possibly qualified name as messages show it.
func unquoted(text string) string {
	names, err := splitName(text)
	if err != nil {
		return text
	}
	return strings.Join(names, ".")
}

// splitName takes a possibly qualified and quoted name apart.
func splitName(text string) ([]string, error) {
	var names []string
	rest := strings.TrimSpace(text)
	for {
		name, after, err := oneName(rest)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		after = strings.TrimSpace(after)
		if after == "" {
			return names, nil
		}
		if after[0] != '.' {
			return nil, pgerr.New(pgerr.InvalidName, "invalid name syntax")
		}
		rest = strings.TrimSpace(after[1:])
	}
}

func oneName(s string) (name, rest string, err error) {
	bad := pgerr.New(pgerr.InvalidName, "invalid name syntax")
	if s == "" {
		return "", "", bad
	}
	if s[0] != '"' {
		i := 0
		for i < len(s) && s[i] != '.' && s[i] != ' ' && s[i] != '(' && s[i] != '"' {
			i++
		}
		if i == 0 {
			return "", "", bad
		}
		return strings.ToLower(s[:i]), s[i:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		if b.Len() == 0 {
			return "", "", bad
		}
		return b.String(), s[i+1:], nil
	}
	return "", "", bad
}

// RegOut names an object as the output function of a reg* type does.
func (r regNames) RegOut(typ types.OID, oid types.OID) (string, bool) {
	s, cat := r.s, r.s.eng.Catalog()
	f := catalogFuncs{s}
	switch typ {
	case types.Regclass:
		rel, err := cat.RelationByOID(oid)
		if err != nil || rel == nil {
			return "", false
		}
		visible, _ := f.Visible(fn.ObjTable, oid)
		return s.qualified(rel.Namespace, rel.Name, visible), true
	case types.Regtype:
		if t, err := cat.TypeByOID(oid); err != nil || t == nil {
			return "", false
		}
		return f.typeName(oid), true
	case types.Regnamespace:
		ns, err := cat.NamespaceByOID(oid)
		if err != nil || ns == nil {
			return "", false
		}
		return fn.QuoteIdent(ns.Name), true
	case types.Regrole:
		name, ok := f.RoleName(oid)
		return fn.QuoteIdent(name), ok
	case types.Regproc, types.Regprocedure:
		return s.procName(oid, typ == types.Regprocedure)
	case types.Regoper, types.Regoperator:
		return s.operatorName(oid, typ == types.Regoperator)
	case types.Regcollation:
		c, err := cat.CollationByOID(oid)
		if err != nil || c == nil {
			return "", false
		}
		visible, _ := f.Visible(fn.ObjCollation, oid)
		return s.qualified(c.Namespace, c.Name, visible), true
	}
	return s.textSearchName(typ, oid)
}

// qualified is a name with its schema unless it is visible without.
func (s *Session) qualified(schema types.OID, name string, visible bool) string {
	if visible {
		return fn.QuoteIdent(name)
	}
	ns, err := s.eng.Catalog().NamespaceByOID(schema)
	if err != nil || ns == nil {
		return fn.QuoteIdent(name)
	}
	return fn.QuoteIdent(ns.Name) + "." + fn.QuoteIdent(name)
}

func (s *Session) procName(oid types.OID, args bool) (string, bool) {
	cat := s.eng.Catalog()
	p, err := cat.ProcByOID(oid)
	if err != nil || p == nil {
		return "", false
	}
	f := catalogFuncs{s}
	visible, _ := f.Visible(fn.ObjFunction, oid)
	if !args {
		if list, err := cat.ProcsByName(p.Name); err == nil && len(list) > 1 && visible {
			visible = visible && s.onlyVisible(list, oid)
		}
		return s.qualified(p.Namespace, p.Name, visible), true
	}
	text := s.qualified(p.Namespace, p.Name, visible) + "("
	for i, a := range p.Args {
		if i > 0 {
			text += ","
		}
		text += f.typeName(a)
	}
	return text + ")", true
}

// onlyVisible tells whether a function's name alone names it, as regproc's output asks.
func (s *Session) onlyVisible(list []*catalog.Proc, oid types.OID) bool {
	for _, p := range list {
		if p.OID != oid && contains(s.searchPath(), p.Namespace) {
			return false
		}
	}
	return true
}

func (s *Session) operatorName(oid types.OID, args bool) (string, bool) {
	cat := s.eng.Catalog()
	o, err := cat.OperatorByOID(oid)
	if err != nil || o == nil {
		return "", false
	}
	f := catalogFuncs{s}
	name := o.Name
	if visible, _ := f.Visible(fn.ObjOperator, oid); !visible {
		if ns, err := cat.NamespaceByOID(o.Namespace); err == nil && ns != nil {
			name = fn.QuoteIdent(ns.Name) + "." + name
		}
	}
	if !args {
		if list, err := cat.OperatorsByName(o.Name); err == nil && len(list) > 1 {
			name = "pg_catalog." + o.Name
		}
		return name, true
	}
	left := "NONE"
	if o.Left != 0 {
		left = f.typeName(o.Left)
	}
	right := "NONE"
	if o.Right != 0 {
		right = f.typeName(o.Right)
	}
	return name + "(" + left + "," + right + ")", true
}

// textSearchName names configurations and dictionaries of text search.
func (s *Session) textSearchName(typ, oid types.OID) (string, bool) {
	rel, nameCol, nsCol := catalog.PgTsConfig, catalog.TsConfigCfgname, catalog.TsConfigCfgnamespace
	if typ == types.Regdictionary {
		rel, nameCol, nsCol = catalog.PgTsDict, catalog.TsDictDictname, catalog.TsDictDictnamespace
	}
	row, err := s.eng.Catalog().Get(rel, types.OIDDatum(oid))
	if err != nil || row == nil {
		return "", false
	}
	return s.qualified(row[nsCol].OID(), row[nameCol].String(), row[nsCol].OID() == pgCatalogSchema), true
}
