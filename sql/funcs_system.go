package sql

import (
	"strconv"
	"strings"
	"time"

	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// systemFuncs is fn.System: functions that show the server's state as rows.
type systemFuncs struct{ s *Session }

// rowSet is a Set over rows that are there already.
type rowSet struct {
	rows [][]types.Datum
	next int
}

// Next satisfies fn.Set.
func (r *rowSet) Next(_ *fn.Context, row []types.Datum) (bool, error) {
	if r.next >= len(r.rows) {
		return false, nil
	}
	copy(row, r.rows[r.next])
	r.next++
	return true, nil
}

// Rows satisfies fn.System.
func (f systemFuncs) Rows(_ *fn.Context, prosrc string, args []types.Datum) (fn.Set, error) {
	switch prosrc {
	case "show_all_settings":
		return f.allSettings()
	case "show_all_file_settings":
		return f.fileSettings()
	case "pg_lock_status":
		return f.locks()
	case "pg_stat_get_activity":
		return f.activity(args)
	case "pg_cursor":
		return f.cursors()
	case "pg_prepared_statement":
		return f.prepared()
	case "pg_stat_get_wal":
		return f.wal()
	case "pg_stat_get_archiver": // nothing is archived
		row := nulls(7)
		row[0], row[3] = types.Int64Datum(0), types.Int64Datum(0)
		row[6] = f.statsReset(metrics.GroupWAL)
		return &rowSet{rows: [][]types.Datum{row}}, nil
	case "pg_stat_get_lock":
		return f.statLock()
	case "minipg_stat_get_latch":
		return f.statLatch()
	case "minipg_stat_get_extension":
		return f.statExtension()
	case "pg_tablespace_databases":
		return f.tablespaceDatabases(args[0].OID())
	case "minipg_get_wait_history":
		return f.waitHistory()
	case "pg_prepared_xact", "pg_stat_get_wal_senders", "pg_stat_get_progress_info", "pg_hba_file_rules",
		"pg_stat_get_wal_receiver", "pg_stat_get_subscription", "pg_get_replication_slots", "pg_ident_file_mappings",
		"pg_stat_get_replication_slot", "pg_get_backend_memory_contexts", "pg_get_shmem_allocations",
		"pg_stat_get_recovery_prefetch", "pg_available_extensions", "pg_available_extension_versions",
		"pg_get_publication_tables", "pg_show_replication_origin_status", "pg_config", "pg_stat_get_slru",
		"pg_partition_ancestors", "pg_partition_tree":
		return &rowSet{}, nil // there are none of these
	}
	return nil, pgerr.New(pgerr.FeatureNotSupported, "function %s is not supported", prosrc)
}

func text(s string) types.Datum { return types.TextDatum(s) }

func textOrNull(s string) types.Datum {
	if s == "" {
		return types.NullDatum
	}
	return types.TextDatum(s)
}

func timeOrNull(t time.Time) types.Datum {
	if t.IsZero() {
		return types.NullDatum
	}
	return types.Int64Datum(types.TimestampFromTime(t))
}

func (f systemFuncs) allSettings() (fn.Set, error) {
	out := &rowSet{}
	for _, info := range f.s.set.All() {
		row := nulls(17)
		row[0], row[1] = text(info.Name), text(info.Value)
		row[8] = text(info.Source.String())
		row[13] = text(info.ResetValue)
		row[16] = types.BoolDatum(info.PendingRestart)
		if info.Param == nil {
			row[3], row[4], row[6], row[7] = text("Customized Options"), text(""), text("user"), text("string")
			out.rows = append(out.rows, row)
			continue
		}
		p := info.Param
		row[2], row[3], row[4] = textOrNull(p.Unit), text(p.Category), text(p.Desc)
		row[6], row[7] = text(p.Context.String()), text(p.Kind.String())
		if p.Kind == settings.Int || p.Kind == settings.Real {
			row[9], row[10] = text(bound(p, p.Min)), text(bound(p, p.Max))
		}
		if p.Kind == settings.Enum {
			elems := make([]types.Datum, len(p.Enums))
			for i, e := range p.Enums {
				elems[i] = text(e)
			}
			row[11] = types.MakeArray(types.Text, elems)
		}
		row[12] = text(p.Default())
		if info.File != "" {
			row[14], row[15] = text(info.File), types.Int64Datum(int64(info.Line))
		}
		out.rows = append(out.rows, row)
	}
	return out, nil
}

// bound is a bound of a parameter as pg_settings shows it.
func bound(p *settings.Param, f float64) string {
	if p.Kind == settings.Int {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

func nulls(n int) []types.Datum {
	row := make([]types.Datum, n)
	for i := range row {
		row[i] = types.NullDatum
	}
	return row
}

func (f systemFuncs) fileSettings() (fn.Set, error) {
	list, err := f.s.srv.set.FileSettings()
	if err != nil {
		return nil, err
	}
	out := &rowSet{}
	for i, st := range list {
		out.rows = append(out.rows, []types.Datum{
			text(st.File), types.Int64Datum(int64(st.Line)), types.Int64Datum(int64(i + 1)), text(st.Name), text(st.Value),
			types.BoolDatum(st.Applied), textOrNull(st.Error),
		})
	}
	return out, nil
}

func (f systemFuncs) locks() (fn.Set, error) {
	out := &rowSet{}
	for _, l := range f.s.srv.eng.Locks().Snapshot() {
		row := nulls(16)
		row[0] = text(l.Tag.Type.String())
		switch l.Tag.Type {
		case locks.TypeRelation, locks.TypeExtend, locks.TypeDatabase:
			row[1], row[2] = types.Uint64Datum(l.Tag.F1), types.Uint64Datum(l.Tag.F2)
		case locks.TypePage:
			row[1], row[2], row[3] = types.Uint64Datum(l.Tag.F1), types.Uint64Datum(l.Tag.F2), types.Uint64Datum(l.Tag.F3)
		case locks.TypeTuple:
			block, offset := l.Tag.F3>>16&0xFFFFFFFF, l.Tag.F3&0xFFFF
			row[1], row[2] = types.Uint64Datum(uint64(l.Tag.Database())), types.Uint64Datum(uint64(l.Tag.Relation()))
			row[3], row[4] = types.Uint64Datum(block), types.Int64Datum(int64(offset))
		case locks.TypeTransactionID:
			row[6] = types.Uint64Datum(l.Tag.F2 & 0xFFFFFFFF)
		case locks.TypeVirtualXID:
			row[5] = text(strconv.FormatUint(l.Tag.F1, 10) + "/" + strconv.FormatUint(l.Tag.F2, 10))
		case locks.TypeAdvisory:
			row[1] = types.Uint64Datum(l.Tag.F1)
			row[7], row[8] = types.Uint64Datum(l.Tag.F2>>32), types.Uint64Datum(l.Tag.F2&0xFFFFFFFF)
			row[9] = types.Int64Datum(int64(l.Tag.F3))
		default:
			row[1], row[7], row[8] = types.Uint64Datum(l.Tag.F1), types.Uint64Datum(l.Tag.F2), types.Uint64Datum(l.Tag.F3)
			row[9] = types.Int64Datum(0)
		}
		row[10] = text(strconv.Itoa(int(l.PID)) + "/1")
		row[11] = types.Int64Datum(int64(l.PID))
		row[12] = text(l.Mode.String())
		row[13], row[14] = types.BoolDatum(l.Granted), types.BoolDatum(l.FastPath)
		row[15] = timeOrNull(l.WaitStart)
		out.rows = append(out.rows, row)
	}
	return out, nil
}

func (f systemFuncs) activity(args []types.Datum) (fn.Set, error) {
	out := &rowSet{}
	f.s.srv.each(func(o *Session) {
		if len(args) > 0 && !args[0].Null && args[0].Int64() != int64(o.opts.PID) {
			return
		}
		out.rows = append(out.rows, o.activityRow())
	})
	return out, nil
}

// activityRow is a session's row of pg_stat_get_activity. It may be called from another session.
func (s *Session) activityRow() []types.Datum {
	row := nulls(31)
	a := &s.activity
	a.mu.Lock()
	state, query := a.mu.state, a.mu.query
	xact, started, backend, change := a.mu.xactStart, a.mu.queryStart, a.mu.backendStart, a.mu.stateChange
	app := a.mu.application
	a.mu.Unlock()
	row[0] = types.OIDDatum(s.database.OID)
	row[1] = types.Int64Datum(int64(s.opts.PID))
	row[2] = types.OIDDatum(s.loginRole)
	row[3] = text(app)
	row[4], row[5] = text(state), text(query)
	if typ, event := s.eng.Locks().WaitEvent(); typ != "" {
		row[6], row[7] = text(typ), text(event)
	} else if state != "active" {
		row[6], row[7] = text("Client"), text("ClientRead")
	}
	row[8], row[9], row[10], row[11] = timeOrNull(xact), timeOrNull(started), timeOrNull(backend), timeOrNull(change)
	if s.opts.RemoteHost != "" {
		row[12] = text(s.opts.RemoteHost)
		row[14] = types.Int64Datum(int64(s.opts.RemotePort))
	} else {
		row[14] = types.Int64Datum(-1)
	}
	row[17] = text(s.opts.BackendType)
	row[18] = types.BoolDatum(false)
	row[25], row[27] = types.BoolDatum(false), types.BoolDatum(false)
	return row
}

func (f systemFuncs) cursors() (fn.Set, error) {
	out := &rowSet{}
	for _, p := range f.s.portals {
		if p.stmt == nil || p.stmt.stmt == nil {
			continue
		}
		out.rows = append(out.rows, []types.Datum{
			text(p.name), text(p.stmt.text), types.BoolDatum(p.hold), types.BoolDatum(p.binary),
			types.BoolDatum(p.declared && p.scroll), timeOrNull(p.created),
		})
	}
	return out, nil
}

func (f systemFuncs) prepared() (fn.Set, error) {
	out := &rowSet{}
	for _, name := range f.s.preparedNames() {
		p := f.s.prepared[name]
		params := make([]types.Datum, len(p.params))
		for i, t := range p.params {
			params[i] = types.OIDDatum(t)
		}
		out.rows = append(out.rows, []types.Datum{
			text(p.name), text(p.text), timeOrNull(p.created), types.MakeArray(types.Regtype, params),
			types.BoolDatum(p.fromSQL), types.Int64Datum(p.generic), types.Int64Datum(0),
		})
	}
	return out, nil
}

func (f systemFuncs) wal() (fn.Set, error) {
	m := f.s.srv.metrics
	_, seconds, _ := m.WALFlushSeconds.Snapshot()
	bytes, err := types.In(types.Numeric, -1, []byte(strconv.FormatInt(m.WALBytes.Value(), 10)), nil)
	if err != nil {
		return nil, err
	}
	return &rowSet{rows: [][]types.Datum{{
		types.Int64Datum(m.WALRecords.Value()), types.Int64Datum(m.WALFullPages.Value()), bytes,
		types.Int64Datum(m.WALBuffersFull.Value()), types.Int64Datum(m.WALFlushes.Value()),
		types.Int64Datum(m.WALFlushes.Value()), types.Float64Datum(0), types.Float64Datum(seconds * 1000),
		f.statsReset(metrics.GroupWAL),
	}}}, nil
}

// backendFuncs is fn.Backends.
type backendFuncs struct{ s *Session }

func (f backendFuncs) target(pid int32) (*Session, error) {
	o := f.s.srv.session(pid)
	if o == nil {
		f.s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.Warning, "PID %d is not a PostgreSQL backend process", pid))
		return nil, nil
	}
	if !f.s.role.Super && o.loginRole != f.s.role.OID {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "must be a member of the role whose query is being canceled or member of pg_signal_backend")
	}
	return o, nil
}

func (f backendFuncs) CancelBackend(pid int32) (bool, error) {
	o, err := f.target(pid)
	if err != nil || o == nil {
		return false, err
	}
	o.Cancel()
	return true, nil
}

func (f backendFuncs) TerminateBackend(pid int32, timeout time.Duration) (bool, error) {
	o, err := f.target(pid)
	if err != nil || o == nil {
		return false, err
	}
	o.Terminate()
	return true, nil
}

func (f backendFuncs) ReloadConf() error {
	f.s.srv.ReloadConf(f.s.ctx)
	return nil
}

// BlockingPIDs are the sessions a session waits for.
func (f backendFuncs) BlockingPIDs(pid int32) []int32 { return f.s.srv.eng.Locks().Blocking(pid) }

// Stat is a statistics function of one object.
func (f backendFuncs) Stat(prosrc string, args []types.Datum) (types.Datum, bool, error) {
	m := f.s.srv.metrics
	count := func(v int64) (types.Datum, bool, error) { return types.Int64Datum(v), true, nil }
	switch prosrc {
	case "pg_stat_get_bgwriter_timed_checkpoints":
		return count(m.Checkpoints[0].Value())
	case "pg_stat_get_bgwriter_requested_checkpoints":
		return count(m.Checkpoints[1].Value())
	case "pg_stat_get_bgwriter_buf_written_checkpoints":
		return count(m.BlocksCheckpoint.Value())
	case "pg_stat_get_bgwriter_buf_written_clean":
		return count(m.BlocksBackground.Value())
	case "pg_stat_get_buf_written_backend":
		return count(m.BlocksWrittenBack.Value())
	case "pg_stat_get_db_numbackends":
		if len(args) > 0 {
			return count(int64(f.s.srv.DatabaseInUse(args[0].OID(), nil)))
		}
	case "pg_stat_get_db_xact_commit":
		return count(m.Commits.Value())
	case "pg_stat_get_db_xact_rollback":
		return count(m.Rollbacks.Value())
	case "pg_stat_get_db_blocks_fetched":
		return count(m.BufferHits.Value() + m.BufferMisses.Value())
	case "pg_stat_get_db_blocks_hit":
		return count(m.BufferHits.Value())
	case "pg_stat_get_db_deadlocks":
		return count(m.Deadlocks.Value())
	case "pg_stat_get_db_tuples_returned":
		return count(m.TuplesReturned.Value())
	case "pg_stat_get_db_tuples_fetched":
		return count(m.TuplesFetched.Value())
	case "pg_stat_get_db_tuples_inserted":
		return count(m.TuplesInserted.Value())
	case "pg_stat_get_db_tuples_updated":
		return count(m.TuplesUpdated.Value())
	case "pg_stat_get_db_tuples_deleted":
		return count(m.TuplesDeleted.Value())
	}
	if len(args) > 0 && !args[0].Null {
		if d, ok := f.tableStat(prosrc, args[0].OID()); ok {
			return d, true, nil
		}
	}
	if strings.HasSuffix(prosrc, "_time") || strings.HasSuffix(prosrc, "_stat_reset_time") {
		return types.NullDatum, false, nil
	}
	return types.Int64Datum(0), true, nil
}

// tableStat is a counter of one table.
func (f backendFuncs) tableStat(prosrc string, rel types.OID) (types.Datum, bool) {
	st := f.s.srv.eng.TableStats(f.s.database.OID, rel)
	counters := map[string]int64{
		"pg_stat_get_numscans": st.SeqScans + st.IndexScans, "pg_stat_get_tuples_returned": st.SeqTuples,
		"pg_stat_get_tuples_fetched": st.IndexFetches, "pg_stat_get_tuples_inserted": st.Inserted,
		"pg_stat_get_tuples_updated": st.Updated, "pg_stat_get_tuples_deleted": st.Deleted,
		"pg_stat_get_tuples_hot_updated": st.HotUpdated, "pg_stat_get_live_tuples": st.Live,
		"pg_stat_get_dead_tuples": st.Dead, "pg_stat_get_mod_since_analyze": st.ModifiedSinceAnalyze,
		"pg_stat_get_ins_since_vacuum": st.InsertedSinceVacuum, "pg_stat_get_vacuum_count": st.VacuumCount,
		"pg_stat_get_autovacuum_count": st.AutovacuumCount, "pg_stat_get_analyze_count": st.AnalyzeCount,
		"pg_stat_get_autoanalyze_count": st.AutoanalyzeCount,
	}
	if v, ok := counters[prosrc]; ok {
		return types.Int64Datum(v), true
	}
	times := map[string]int64{
		"pg_stat_get_last_vacuum_time": st.LastVacuum, "pg_stat_get_last_autovacuum_time": st.LastAutovacuum,
		"pg_stat_get_last_analyze_time": st.LastAnalyze, "pg_stat_get_last_autoanalyze_time": st.LastAutoanalyze,
	}
	if v, ok := times[prosrc]; ok && v != 0 {
		return types.Int64Datum(types.TimestampFromTime(time.UnixMicro(v))), true
	}
	return types.Datum{}, false
}
