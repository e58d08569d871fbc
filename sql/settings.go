package sql

import (
	"context"
	"strconv"
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// initSettings gives a session the values of its database, its role and its startup packet.
func (s *Session) initSettings() error {
	s.set = s.srv.set.NewSession()
	s.set.Superuser = s.user.Super
	for _, d := range []struct {
		db, role catalog.OID
		src      settings.Source
	}{
		{s.database.OID, 0, settings.SourceDatabase},
		{0, s.user.OID, settings.SourceUser},
		{s.database.OID, s.user.OID, settings.SourceDatabaseUser},
	} {
		if err := s.roleSettings(d.db, d.role, d.src); err != nil {
			return err
		}
	}
	for _, o := range s.opts.Settings {
		if err := s.set.SetDefault(o.Name, o.Value, settings.SourceClient); err != nil {
			e := pgerr.From(err)
			e.Severity = pgerr.SeverityFatal
			return e
		}
	}
	onOff := map[bool]string{true: "on", false: "off"}
	if err := s.set.SetInternal(settings.IsSuperuser, onOff[s.user.Super]); err != nil {
		return err
	}
	if err := s.set.SetInternal(settings.SessionAuthorization, s.user.Name); err != nil {
		return err
	}
	s.set.Ready = true
	s.settingsChanged()
	return nil
}

// roleSettings applies what ALTER DATABASE or ALTER ROLE ... SET stored.
func (s *Session) roleSettings(db, role catalog.OID, src settings.Source) error {
	rows, err := s.eng.Catalog().Rows(catalog.PgDbRoleSetting,
		catalog.Eq{Col: catalog.DbRoleSettingSetdatabase, Value: types.OIDDatum(db)},
		catalog.Eq{Col: catalog.DbRoleSettingSetrole, Value: types.OIDDatum(role)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		arr := row[catalog.DbRoleSettingSetconfig]
		if arr.Null {
			continue
		}
		a := arr.Array()
		for _, d := range a.Elems(nil) {
			name, value, _ := strings.Cut(d.String(), "=")
			if err := s.set.SetDefault(name, value, src); err != nil {
				s.log.Sugar().Warnf("stored setting %s: %v", name, err)
			}
		}
	}
	return nil
}

// cachedSettings are values read on hot paths.
type cachedSettings struct {
	gen               uint64
	standardStrings   bool
	asyncCommit       bool
	statementTimeout  time.Duration
	lockTimeout       time.Duration
	idleInTransaction time.Duration
	idleSession       time.Duration
	workMem           int64
	hashMultiplier    float64
}

// refreshSettings takes over a reload, between statements.
func (s *Session) refreshSettings() {
	s.set.Refresh()
	if s.set.Generation() != s.cached.gen {
		s.settingsChanged()
	}
}

// settingsChanged recomputes what is kept of the settings.
func (s *Session) settingsChanged() {
	if s.set == nil || s.cached.gen == s.set.Generation() && s.cached.gen != 0 {
		return
	}
	s.unreported = true
	s.cached = cachedSettings{
		gen:               s.set.Generation(),
		standardStrings:   s.set.Bool(settings.StandardConformingStrings),
		asyncCommit:       s.set.Str(settings.SynchronousCommit) == "off",
		statementTimeout:  time.Duration(s.set.Int(settings.StatementTimeout)) * time.Millisecond,
		lockTimeout:       time.Duration(s.set.Int(settings.LockTimeout)) * time.Millisecond,
		idleInTransaction: time.Duration(s.set.Int(settings.IdleInTransactionSessionTimeout)) * time.Millisecond,
		idleSession:       time.Duration(s.set.Int(settings.IdleSessionTimeout)) * time.Millisecond,
		workMem:           s.set.Bytes(settings.WorkMem),
		hashMultiplier:    s.set.Real(settings.HashMemMultiplier),
	}
	s.activity.setApplication(s.set.Str(settings.ApplicationName))
	s.path.valid = false
	s.plans.clear()
	s.updateEnv()
	s.updateExtend()
	s.eng.Locks().SetDeadlockTimeout(time.Duration(s.set.Int(settings.DeadlockTimeout)) * time.Millisecond)
	if tx := s.eng.Tx(); tx != nil {
		tx.SetLockTimeout(s.cached.lockTimeout)
	}
}

// updateEnv derives what input and output functions depend on.
func (s *Session) updateEnv() {
	e := &s.env
	style, order, _ := strings.Cut(s.set.Str(settings.DateStyle), ",")
	e.DateStyle = map[string]types.DateStyle{
		"ISO": types.DateISO, "SQL": types.DateSQL, "Postgres": types.DatePostgres, "German": types.DateGerman,
	}[strings.TrimSpace(style)]
	e.DateOrder = map[string]types.DateOrder{
		"MDY": types.OrderMDY, "DMY": types.OrderDMY, "YMD": types.OrderYMD,
	}[strings.TrimSpace(order)]
	e.IntervalStyle = map[string]types.IntervalStyle{
		"postgres": types.IntervalPostgres, "postgres_verbose": types.IntervalPostgresVerbose,
		"sql_standard": types.IntervalSQLStandard, "iso_8601": types.IntervalISO8601,
	}[s.set.Str(settings.IntervalStyle)]
	e.ExtraFloatDigits = int(s.set.Int(settings.ExtraFloatDigits))
	e.ByteaEscape = s.set.Str(settings.ByteaOutput) == "escape"
	if zone, _, ok := types.ParseZone(s.set.Str(settings.TimeZone)); ok {
		e.TimeZone = zone
	}
	e.Types = s.eng.Catalog().Types()
}

// updateExtend hands the relation extension settings to the storage layer.
func (s *Session) updateExtend() {
	x := s.eng.ExtendSettings()
	x.Policy = storage.ExtendPolicy(s.set.Int(settings.RelationExtensionPolicy))
	x.Blocks = int(s.set.Int(settings.RelationExtensionBlocks))
	x.PrepareUnder = s.set.Str(settings.RelationExtensionPrepare) == "under"
	x.PublishSelf = s.set.Str(settings.RelationExtensionPublish) == "self"
	x.Recheck = s.set.Bool(settings.RelationExtensionRecheck)
	s.eng.SetLeafLock(btree.LeafLock(s.set.Int(settings.BtreeLeafLock)), s.set.Bool(settings.BtreeFastpath),
		s.set.Bool(settings.BtreeCombine))
}

func (s *Session) standardStrings() bool           { return s.cached.standardStrings }
func (s *Session) asyncCommit() bool               { return s.cached.asyncCommit }
func (s *Session) statementTimeout() time.Duration { return s.cached.statementTimeout }
func (s *Session) lockTimeout() time.Duration      { return s.cached.lockTimeout }

// setting is a value as text, "" for an unknown name.
func (s *Session) setting(name string) string {
	v, err := s.set.Show(name)
	if err != nil {
		return ""
	}
	return v
}

func (s *Session) boolSetting(name string) bool {
	p := settings.Lookup(name)
	return p != nil && s.set.Bool(p.ID())
}

func (s *Session) defaultIsolation() engine.Isolation {
	level, _ := parseIsolation(s.set.Str(settings.DefaultTransactionIsolation))
	return level
}

func (s *Session) defaultReadOnly() bool { return s.set.Bool(settings.DefaultTransactionReadOnly) }

// noticeWanted applies client_min_messages.
func (s *Session) noticeWanted(severity string) bool {
	rank := map[string]int{
		"debug5": 1, "debug4": 2, "debug3": 3, "debug2": 4, "debug1": 5, "debug": 5, "log": 6, "notice": 7, "warning": 8,
		"error": 9,
	}
	if severity == pgerr.SeverityInfo {
		return true
	}
	return rank[strings.ToLower(severity)] >= rank[s.set.Str(settings.ClientMinMessages)]
}

// ReportSettings sends a ParameterStatus for each setting the client knows of that changed, to a new
// session for all of them. PostgreSQL does so before each ReadyForQuery.
func (s *Session) ReportSettings(w ResultWriter) {
	if s.unreported {
		s.unreported = false
		s.set.Changes(w.ParameterStatus)
	}
}

// set carries out SET, RESET and SET TRANSACTION.
func (u *utility) set(n *pg_query.VariableSetStmt) (string, error) {
	s := u.s
	if n.IsLocal && s.state == txImplicit && s.block.statements <= 1 {
		s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.NoActiveSQLTransaction, "SET LOCAL can only be used in transaction blocks"))
	}
	defer s.settingsChanged()
	switch n.Kind {
	case pg_query.VariableSetKind_VAR_SET_VALUE:
		return "SET", u.setValue(n)
	case pg_query.VariableSetKind_VAR_SET_CURRENT:
		v, err := s.set.Show(n.Name)
		if err != nil {
			return "", err
		}
		return "SET", s.assign(n.Name, v, n.IsLocal)
	case pg_query.VariableSetKind_VAR_SET_DEFAULT:
		return "SET", s.reset(n.Name, n.IsLocal)
	case pg_query.VariableSetKind_VAR_RESET:
		return "RESET", s.reset(n.Name, false)
	case pg_query.VariableSetKind_VAR_RESET_ALL:
		s.set.ResetAll()
		return "RESET", nil
	case pg_query.VariableSetKind_VAR_SET_MULTI:
		return "SET", u.setMulti(n)
	}
	return "", pgerr.New(pgerr.FeatureNotSupported, "this form of SET is not supported")
}

func (u *utility) setValue(n *pg_query.VariableSetStmt) error {
	if n.Name == "timezone" && len(n.Args) == 1 {
		if tc := n.Args[0].GetTypeCast(); tc != nil {
			v, err := u.intervalZone(tc)
			if err != nil {
				return err
			}
			return u.s.assign(n.Name, v, n.IsLocal)
		}
	}
	args := make([]string, 0, len(n.Args))
	for _, a := range n.Args {
		v, err := settingArg(n.Name, a)
		if err != nil {
			return err
		}
		args = append(args, v)
	}
	value := strings.Join(args, ", ")
	if p := settings.Lookup(n.Name); p != nil {
		var err error
		if value, err = p.FlattenArgs(args); err != nil {
			return err
		}
	} else if len(args) > 1 {
		return pgerr.New(pgerr.InvalidParameterValue, "SET %s takes only one argument", n.Name)
	}
	return u.s.assign(n.Name, value, n.IsLocal)
}

func settingArg(name string, a *pg_query.Node) (string, error) {
	c := a.GetAConst()
	if c == nil {
		return "", pgerr.New(pgerr.FeatureNotSupported, "SET %s with this kind of value is not supported", name)
	}
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return strconv.Itoa(int(v.Ival.Ival)), nil
	case *pg_query.A_Const_Fval:
		return v.Fval.Fval, nil
	case *pg_query.A_Const_Sval:
		return v.Sval.Sval, nil
	case *pg_query.A_Const_Boolval:
		return strconv.FormatBool(v.Boolval.Boolval), nil
	}
	return "", pgerr.New(pgerr.SyntaxError, "unrecognized value for %s", name)
}

// intervalZone is SET TIME ZONE INTERVAL '...' HOUR TO MINUTE.
func (u *utility) intervalZone(tc *pg_query.TypeCast) (string, error) {
	return "INTERVAL '" + tc.Arg.GetAConst().GetSval().GetSval() + "'", nil
}

// assign sets a parameter; those that are part of the transaction or the role go their own way.
func (s *Session) assign(name, value string, local bool) error {
	switch strings.ToLower(name) {
	case "transaction_isolation":
		return s.setIsolation(strings.ToLower(value))
	case "transaction_read_only":
		on, err := parseOnOff(name, value)
		if err != nil {
			return err
		}
		return s.setReadOnly(on)
	case "transaction_deferrable":
		on, err := parseOnOff(name, value)
		s.block.deferrable = on
		return err
	case "role":
		return s.setRole(value, local)
	case "session_authorization":
		return s.setAuthorization(value, local)
	case "default_tablespace":
		if err := s.checkTablespace(value); err != nil {
			return err
		}
	case "client_encoding":
		if !isUTF8(value) {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter \"client_encoding\": \"%s\"", value)
		}
	}
	return s.set.Set(name, value, settings.SetOptions{Local: local})
}

func isUTF8(name string) bool {
	var b []byte
	for _, c := range []byte(strings.ToLower(name)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b = append(b, c)
		}
	}
	return string(b) == "utf8" || string(b) == "unicode"
}

func parseOnOff(name, value string) (bool, error) {
	v, err := settings.ByID(settings.TransactionReadOnly).Parse(name, value)
	return v.I != 0, err
}

func (s *Session) reset(name string, local bool) error {
	switch strings.ToLower(name) {
	case "role":
		return s.setRole("none", local)
	case "session_authorization":
		return s.setAuthorization(s.opts.User, local)
	case "transaction_isolation", "transaction_read_only", "transaction_deferrable":
		return pgerr.New(pgerr.FeatureNotSupported, "parameter \"%s\" cannot be reset", name)
	}
	return s.set.Reset(name, settings.SetOptions{Local: local})
}

// setMulti is SET TRANSACTION and SET SESSION CHARACTERISTICS.
func (u *utility) setMulti(n *pg_query.VariableSetStmt) error {
	s := u.s
	switch n.Name {
	case "TRANSACTION":
		if s.state != txBlock {
			s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks"))
			return nil
		}
		for _, a := range n.Args {
			if err := s.transactionOption(a.GetDefElem()); err != nil {
				return err
			}
		}
		return nil
	case "SESSION CHARACTERISTICS":
		for _, a := range n.Args {
			d := a.GetDefElem()
			value, err := settingArg(d.Defname, d.Arg)
			if err != nil {
				return err
			}
			if err := s.set.Set("default_"+d.Defname, value, settings.SetOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
	return pgerr.New(pgerr.FeatureNotSupported, "SET %s is not supported", n.Name)
}

// setRole is SET ROLE.
func (s *Session) setRole(name string, local bool) error {
	role := s.user
	if name != "none" {
		var err error
		if role, err = s.eng.Catalog().RoleByName(name); err != nil {
			return err
		}
		if role == nil {
			return pgerr.New(pgerr.InvalidParameterValue, "role \"%s\" does not exist", name)
		}
		if !s.user.Super && role.OID != s.user.OID {
			member, err := s.isMember(s.user.OID, role.OID)
			if err != nil {
				return err
			}
			if !member {
				return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to set role \"%s\"", name)
			}
		}
	}
	if err := s.set.Set("role", name, settings.SetOptions{Local: local, Allowed: true}); err != nil {
		return err
	}
	s.role = role
	return s.roleChanged()
}

func (s *Session) setAuthorization(name string, local bool) error {
	role, err := s.eng.Catalog().RoleByName(name)
	if err != nil {
		return err
	}
	if role == nil {
		return pgerr.New(pgerr.InvalidParameterValue, "role \"%s\" does not exist", name)
	}
	if name != s.opts.User && !s.user.Super {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to set session authorization")
	}
	if err := s.set.Set("session_authorization", name, settings.SetOptions{Local: local, Allowed: true}); err != nil {
		return err
	}
	s.user, s.role = role, role
	return s.roleChanged()
}

func (s *Session) roleChanged() error {
	s.set.Superuser = s.role.Super
	s.path.valid = false
	s.plans.clear()
	v := "off"
	if s.role.Super {
		v = "on"
	}
	return s.set.SetInternal(settings.IsSuperuser, v)
}

// isMember tells whether role member belongs to role group, directly or not.
func (s *Session) isMember(member, group catalog.OID) (bool, error) {
	seen := map[catalog.OID]bool{member: true}
	queue := []catalog.OID{member}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if m == group {
			return true, nil
		}
		list, err := s.eng.Catalog().Memberships(m)
		if err != nil {
			return false, err
		}
		for _, x := range list {
			if !seen[x.Role] {
				seen[x.Role] = true
				queue = append(queue, x.Role)
			}
		}
	}
	return false, nil
}

func (s *Session) showColumns(n *pg_query.VariableShowStmt) []Column {
	if strings.EqualFold(n.Name, "all") {
		return []Column{textColumn("name"), textColumn("setting"), textColumn("description")}
	}
	name := n.Name
	if p := settings.Lookup(name); p != nil {
		name = p.Name
	}
	return []Column{textColumn(name)}
}

// show carries out SHOW.
func (u *utility) show(n *pg_query.VariableShowStmt) (string, error) {
	cols := u.s.showColumns(n)
	if len(cols) == 3 {
		var rows [][]string
		for _, info := range u.s.set.All() {
			desc := ""
			value := info.Value
			if info.Param != nil {
				desc = info.Desc
				value = u.s.setting(info.Name)
			}
			rows = append(rows, []string{info.Name, value, desc})
		}
		return "SHOW", u.textRows(cols, rows)
	}
	v, err := u.s.showSetting(n.Name)
	if err != nil {
		return "", err
	}
	return "SHOW", u.textRows(cols, [][]string{{v}})
}

// showSetting is SHOW's value, of the transaction where the parameter is part of it.
func (s *Session) showSetting(name string) (string, error) {
	switch strings.ToLower(name) {
	case "transaction_isolation":
		if s.state == txIdle {
			return s.set.Str(settings.DefaultTransactionIsolation), nil
		}
		return isolationNames[s.block.isolation], nil
	case "transaction_read_only":
		if s.block.readOnly && s.state != txIdle {
			return "on", nil
		}
		return "off", nil
	case "transaction_deferrable":
		if s.block.deferrable && s.state != txIdle {
			return "on", nil
		}
		return "off", nil
	}
	return s.set.Show(name)
}

var isolationNames = map[engine.Isolation]string{
	engine.ReadCommitted: "read committed", engine.RepeatableRead: "repeatable read", engine.Serializable: "serializable",
}

// alterSystem carries out ALTER SYSTEM.
func (u *utility) alterSystem(n *pg_query.AlterSystemStmt) (string, error) {
	s := u.s
	if err := s.preventInBlock("ALTER SYSTEM"); err != nil {
		return "", err
	}
	if !s.role.Super {
		return "", pgerr.New(pgerr.InsufficientPrivilege, "must be superuser to execute ALTER SYSTEM command")
	}
	st := n.Setstmt
	switch st.Kind {
	case pg_query.VariableSetKind_VAR_RESET_ALL:
		return "ALTER SYSTEM", s.srv.set.AlterSystemResetAll()
	case pg_query.VariableSetKind_VAR_RESET, pg_query.VariableSetKind_VAR_SET_DEFAULT:
		return "ALTER SYSTEM", s.srv.set.AlterSystem(st.Name, nil)
	}
	args := make([]string, 0, len(st.Args))
	for _, a := range st.Args {
		v, err := settingArg(st.Name, a)
		if err != nil {
			return "", err
		}
		args = append(args, v)
	}
	value := strings.Join(args, ", ")
	if p := settings.Lookup(st.Name); p != nil {
		var err error
		if value, err = p.FlattenArgs(args); err != nil {
			return "", err
		}
	}
	return "ALTER SYSTEM", s.srv.set.AlterSystem(st.Name, &value)
}

// discard carries out DISCARD.
func (u *utility) discard(n *pg_query.DiscardStmt) (string, error) {
	s := u.s
	switch n.Target {
	case pg_query.DiscardMode_DISCARD_PLANS:
		s.plans.clear()
		return "DISCARD PLANS", nil
	case pg_query.DiscardMode_DISCARD_SEQUENCES:
		s.eng.ForgetSequences()
		return "DISCARD SEQUENCES", nil
	case pg_query.DiscardMode_DISCARD_TEMP:
		s.dropTemp()
		return "DISCARD TEMP", nil
	}
	if err := s.preventInBlock("DISCARD ALL"); err != nil {
		return "", err
	}
	for name := range s.portals {
		if u.p == nil || s.portals[name] != u.p {
			s.closePortal(name)
		}
	}
	if err := s.setAuthorization(s.opts.User, false); err != nil {
		return "", err
	}
	s.set.ResetAll()
	clear(s.prepared)
	s.eng.Locks().ReleaseAll()
	s.plans.clear()
	s.dropTemp()
	s.eng.ForgetSequences()
	s.settingsChanged()
	return "DISCARD ALL", nil
}

// ReloadConf reads the configuration files again (SIGHUP, pg_reload_conf).
func (srv *Server) ReloadConf(context.Context) {
	for _, err := range srv.set.Reload() {
		srv.log.Sugar().Warnf("configuration: %v", err)
	}
	srv.loaded = srv.now()
}
