package fn

import (
	"strings"
	"time"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func nameDatum(s string) types.Datum { return types.Datum{B: types.TruncateName([]byte(s))} }

// identity makes a function of Identity.
func identityFn(f func(id Identity) types.Datum) Func {
	return func(c *Context, _ []types.Datum) (types.Datum, error) {
		if c.Identity == nil {
			return types.Datum{}, errNoState("the session's identity")
		}
		return f(c.Identity), nil
	}
}

func registerIdentity(r *registry) {
	r.fn("current_user", identityFn(func(id Identity) types.Datum { return nameDatum(id.CurrentUser()) }))
	r.fn("session_user", identityFn(func(id Identity) types.Datum { return nameDatum(id.SessionUser()) }))
	r.fn("current_database", identityFn(func(id Identity) types.Datum { return nameDatum(id.CurrentDatabase()) }))
	r.fn("current_query", identityFn(func(id Identity) types.Datum {
		if q := id.CurrentQuery(); q != "" {
			return types.TextDatum(q)
		}
		return types.NullDatum
	}))
	r.fn("current_schema", identityFn(func(id Identity) types.Datum {
		if s := id.CurrentSchemas(false); len(s) > 0 {
			return nameDatum(s[0])
		}
		return types.NullDatum
	}))
	r.fn("current_schemas", func(c *Context, a []types.Datum) (types.Datum, error) {
		if c.Identity == nil {
			return types.Datum{}, errNoState("the search path")
		}
		list := c.Identity.CurrentSchemas(a[0].Bool())
		elems := make([]types.Datum, len(list))
		for i, s := range list {
			elems[i] = nameDatum(s)
		}
		return types.MakeArray(types.Name, elems), nil
	})
	r.fn("pgsql_version", identityFn(func(id Identity) types.Datum { return types.TextDatum(id.ServerVersion()) }))
	r.fn("pg_backend_pid", identityFn(func(id Identity) types.Datum { return types.Int64Datum(int64(id.BackendPID())) }))
	stamp := func(t time.Time) types.Datum { return types.Int64Datum(types.TimestampFromTime(t)) }
	r.fn("pg_postmaster_start_time", identityFn(func(id Identity) types.Datum { return stamp(id.PostmasterStart()) }))
	r.fn("pg_conf_load_time", identityFn(func(id Identity) types.Datum { return stamp(id.ConfLoad()) }))
	r.fn("inet_client_port", identityFn(func(id Identity) types.Datum {
		if _, port, ok := id.ClientAddr(); ok {
			return types.Int64Datum(int64(port))
		}
		return types.NullDatum
	}))
	r.fn("inet_server_port", identityFn(func(id Identity) types.Datum {
		if _, port, ok := id.ServerAddr(); ok {
			return types.Int64Datum(int64(port))
		}
		return types.NullDatum
	}))
	null := func(*Context, []types.Datum) (types.Datum, error) { return types.NullDatum, nil }
	no := func(*Context, []types.Datum) (types.Datum, error) { return types.BoolDatum(false), nil }
	r.fn("pg_jit_available", no)
	r.fn("pg_current_logfile", null)
	r.fn("pg_current_logfile_1arg", null)
	r.fn("pg_trigger_depth", func(*Context, []types.Datum) (types.Datum, error) { return types.Int64Datum(0), nil })
	r.fn("get_current_ts_config", func(*Context, []types.Datum) (types.Datum, error) { return types.OIDDatum(3748), nil })
	r.fn("pg_partition_root", null)
	r.fn("pg_last_xact_replay_timestamp", null)
	r.fn("pg_last_wal_receive_lsn", null)
	r.fn("pg_last_wal_replay_lsn", null)
	r.fn("pg_notification_queue_usage", func(*Context, []types.Datum) (types.Datum, error) { return types.Float64Datum(0), nil })
	r.set("pg_listening_channels", func(*Context, []types.Datum) (Set, error) { return &datumSet{}, nil })
}

func currentSetting(c *Context, name string, missingOK bool) (types.Datum, error) {
	if c.Settings == nil {
		return types.Datum{}, errNoState("settings")
	}
	v, ok := c.Settings.Setting(name)
	if !ok {
		if missingOK {
			return types.NullDatum, nil
		}
		return types.Datum{}, pgerr.New(pgerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
	}
	return types.TextDatum(v), nil
}

func registerSettings(r *registry) {
	r.fn("show_config_by_name", func(c *Context, a []types.Datum) (types.Datum, error) {
		return currentSetting(c, a[0].String(), false)
	})
	r.fn("show_config_by_name_missing_ok", func(c *Context, a []types.Datum) (types.Datum, error) {
		return currentSetting(c, a[0].String(), a[1].Bool())
	})
	r.fn("set_config_by_name", func(c *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.Datum{}, pgerr.New(pgerr.NullValueNotAllowed, "SET requires parameter name")
		}
		if c.Settings == nil {
			return types.Datum{}, errNoState("settings")
		}
		value := ""
		if !a[1].Null {
			value = a[1].String()
		}
		v, err := c.Settings.SetSetting(a[0].String(), value, !a[2].Null && a[2].Bool())
		return types.TextDatum(v), err
	})
}

func registerSequences(r *registry) {
	with := func(f func(c *Context, s Sequences, a []types.Datum) (int64, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if c.Sequences == nil {
				return types.Datum{}, errNoState("sequences")
			}
			return int64Result(f(c, c.Sequences, a))
		}
	}
	r.fn("nextval_oid", with(func(c *Context, s Sequences, a []types.Datum) (int64, error) { return s.Nextval(c.Ctx, a[0].OID()) }))
	r.fn("currval_oid", with(func(_ *Context, s Sequences, a []types.Datum) (int64, error) { return s.Currval(a[0].OID()) }))
	r.fn("lastval", with(func(_ *Context, s Sequences, _ []types.Datum) (int64, error) { return s.Lastval() }))
	r.fn("setval_oid", with(func(c *Context, s Sequences, a []types.Datum) (int64, error) {
		return a[1].Int64(), s.Setval(c.Ctx, a[0].OID(), a[1].Int64(), true)
	}))
	r.fn("setval3_oid", with(func(c *Context, s Sequences, a []types.Datum) (int64, error) {
		return a[1].Int64(), s.Setval(c.Ctx, a[0].OID(), a[1].Int64(), a[2].Bool())
	}))
	r.fn("pg_sequence_last_value", func(c *Context, a []types.Datum) (types.Datum, error) {
		if c.Sequences == nil {
			return types.Datum{}, errNoState("sequences")
		}
		v, ok, err := c.Sequences.LastValue(a[0].OID())
		if err != nil || !ok {
			return types.NullDatum, err
		}
		return types.Int64Datum(v), nil
	})
	// pg_sequence_parameters gives one row, as a record.
	r.fn("pg_sequence_parameters", func(c *Context, a []types.Datum) (types.Datum, error) {
		if c.Sequences == nil {
			return types.Datum{}, errNoState("sequences")
		}
		start, lo, hi, inc, cycle, cache, typ, err := c.Sequences.SequenceParameters(a[0].OID())
		if err != nil {
			return types.Datum{}, err
		}
		return recordOf([]string{"start_value", "minimum_value", "maximum_value", "increment", "cycle_option", "cache_size", "data_type"},
			[]types.OID{types.Int8, types.Int8, types.Int8, types.Int8, types.Bool, types.Int8, types.Oid},
			[]types.Datum{
				types.Int64Datum(start), types.Int64Datum(lo), types.Int64Datum(hi), types.Int64Datum(inc), types.BoolDatum(cycle),
				types.Int64Datum(cache), types.OIDDatum(typ),
			}), nil
	})
}

// recordOf makes a record of built-in types.
func recordOf(names []string, typs []types.OID, values []types.Datum) types.Datum {
	fields := make([]types.RecordField, len(typs))
	for i, t := range typs {
		fields[i] = types.RecordField{Name: names[i], Attr: types.AttrOf(t, -1, nil)}
	}
	return types.RecordDatum(types.Record, fields, values)
}

func advisoryKey(a []types.Datum) AdvisoryKey {
	if len(a) == 2 {
		return AdvisoryKey{Key1: uint32(a[0].W), Key2: uint32(a[1].W), Pair: true}
	}
	return AdvisoryKey{Key1: uint32(a[0].W >> 32), Key2: uint32(a[0].W)}
}

func registerAdvisory(r *registry) {
	for _, size := range []string{"_int8", "_int4"} {
		for _, shared := range []bool{false, true} {
			mode := ""
			if shared {
				mode = "_shared"
			}
			for _, xact := range []bool{false, true} {
				scope := "pg_%sadvisory_lock"
				if xact {
					scope = "pg_%sadvisory_xact_lock"
				}
				for _, try := range []bool{false, true} {
					prefix := ""
					if try {
						prefix = "try_"
					}
					r.fn(strings.Replace(scope, "%s", prefix, 1)+mode+size, func(c *Context, a []types.Datum) (types.Datum, error) {
						if c.Advisory == nil {
							return types.Datum{}, errNoState("advisory locks")
						}
						ok, err := c.Advisory.AdvisoryLock(c.Ctx, advisoryKey(a), shared, xact, try)
						return types.BoolDatum(ok && try), err
					})
				}
			}
			r.fn("pg_advisory_unlock"+mode+size, func(c *Context, a []types.Datum) (types.Datum, error) {
				if c.Advisory == nil {
					return types.Datum{}, errNoState("advisory locks")
				}
				return types.BoolDatum(c.Advisory.AdvisoryUnlock(advisoryKey(a), shared)), nil
			})
		}
	}
	r.fn("pg_advisory_unlock_all", func(c *Context, _ []types.Datum) (types.Datum, error) {
		if c.Advisory == nil {
			return types.Datum{}, errNoState("advisory locks")
		}
		c.Advisory.AdvisoryUnlockAll()
		return types.Datum{}, nil
	})
}

// sleep waits for seconds or until the statement is cancelled.
func (c *Context) sleep(secs float64) error {
	if !(secs > 0) {
		return nil
	}
	const most = 1e9
	t := time.NewTimer(time.Duration(min(secs, most) * float64(time.Second)))
	defer t.Stop()
	if c.Waits != nil {
		c.Waits.SetWait("Timeout", "PgSleep")
		defer c.Waits.ClearWait()
	}
	select {
	case <-t.C:
		return nil
	case <-c.Ctx.Done():
		return pgerr.From(c.Ctx.Err())
	}
}

func registerSleep(r *registry) {
	r.fn("pg_sleep", func(c *Context, a []types.Datum) (types.Datum, error) { return types.Datum{}, c.sleep(a[0].Float64()) })
	r.sql(3935, "pg_sleep_for", func(c *Context, a []types.Datum) (types.Datum, error) {
		now := types.TimestampFromTime(c.clock())
		end, err := timestamptzPlus(now, a[0].Interval(), c.location())
		if err != nil {
			return types.Datum{}, err
		}
		return types.Datum{}, c.sleep(float64(end-now) / 1e6)
	})
	r.sql(3936, "pg_sleep_until", func(c *Context, a []types.Datum) (types.Datum, error) {
		return types.Datum{}, c.sleep(float64(a[0].Int64()-types.TimestampFromTime(c.clock())) / 1e6)
	})
}

func registerXacts(r *registry) {
	with := func(f func(x Xacts, a []types.Datum) (types.Datum, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if c.Xacts == nil {
				return types.Datum{}, errNoState("the transaction's number")
			}
			return f(c.Xacts, a)
		}
	}
	current := func(ifAssigned bool) Func {
		return with(func(x Xacts, _ []types.Datum) (types.Datum, error) {
			id, err := x.CurrentXID(ifAssigned)
			if err != nil || id == 0 {
				return types.NullDatum, err
			}
			return types.Datum{W: id}, nil
		})
	}
	r.fn("pg_current_xact_id", current(false))
	r.fn("pg_current_xact_id_if_assigned", current(true))
	r.fn("pg_current_snapshot", with(func(x Xacts, _ []types.Datum) (types.Datum, error) {
		lo, hi, running := x.Snapshot()
		return types.Datum{B: snapshotText(lo, hi, running)}, nil
	}))
	bounds := func(i int) Func {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.In(types.Xid8, -1, []byte(strings.Split(a[0].String(), ":")[i]), nil)
		}
	}
	r.fn("pg_snapshot_xmin", bounds(0))
	r.fn("pg_snapshot_xmax", bounds(1))
	r.set("pg_snapshot_xip", func(_ *Context, a []types.Datum) (Set, error) {
		s := &datumSet{}
		for _, x := range strings.Split(strings.Split(a[0].String(), ":")[2], ",") {
			if x != "" {
				d, _ := types.In(types.Xid8, -1, []byte(x), nil)
				s.values = append(s.values, d)
			}
		}
		return s, nil
	})
	r.fn("pg_visible_in_snapshot", func(_ *Context, a []types.Datum) (types.Datum, error) {
		p := strings.Split(a[1].String(), ":")
		lo, _ := types.In(types.Xid8, -1, []byte(p[0]), nil)
		hi, _ := types.In(types.Xid8, -1, []byte(p[1]), nil)
		switch {
		case a[0].W < lo.W:
			return types.BoolDatum(true), nil
		case a[0].W >= hi.W:
			return types.BoolDatum(false), nil
		}
		want := string(types.Out(types.Xid8, a[0], nil, nil))
		for _, x := range strings.Split(p[2], ",") {
			if x == want {
				return types.BoolDatum(false), nil
			}
		}
		return types.BoolDatum(true), nil
	})
	r.fn("pg_xact_status", with(func(x Xacts, a []types.Datum) (types.Datum, error) {
		s, err := x.XIDStatus(a[0].W)
		if err != nil || s == "" {
			return types.NullDatum, err
		}
		return types.TextDatum(s), nil
	}))
	r.fn("xid_age", with(func(x Xacts, a []types.Datum) (types.Datum, error) {
		return types.Int64Datum(int64(x.Age(uint32(a[0].W)))), nil
	}))
	r.fn("mxid_age", func(*Context, []types.Datum) (types.Datum, error) { return types.Int64Datum(0), nil })
}

func snapshotText(lo, hi uint64, running []uint64) []byte {
	out := types.Out(types.Xid8, types.Datum{W: lo}, nil, nil)
	out = types.Out(types.Xid8, types.Datum{W: hi}, append(out, ':'), nil)
	out = append(out, ':')
	for i, x := range running {
		if i > 0 {
			out = append(out, ',')
		}
		out = types.Out(types.Xid8, types.Datum{W: x}, out, nil)
	}
	return out
}

func registerBackends(r *registry) {
	with := func(f func(c *Context, b Backends, a []types.Datum) (types.Datum, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			if c.Backends == nil {
				return types.Datum{}, errNoState("server administration")
			}
			return f(c, c.Backends, a)
		}
	}
	r.fn("pg_cancel_backend", with(func(_ *Context, b Backends, a []types.Datum) (types.Datum, error) {
		ok, err := b.CancelBackend(int32(a[0].W))
		return types.BoolDatum(ok), err
	}))
	r.fn("pg_terminate_backend", with(func(_ *Context, b Backends, a []types.Datum) (types.Datum, error) {
		wait := time.Duration(0)
		if len(a) > 1 {
			if a[1].Int64() < 0 {
				return types.Datum{}, pgerr.New(pgerr.NumericValueOutOfRange, "\"timeout\" must not be negative")
			}
			wait = time.Duration(a[1].Int64()) * time.Millisecond
		}
		ok, err := b.TerminateBackend(int32(a[0].W), wait)
		return types.BoolDatum(ok), err
	}))
	r.fn("pg_reload_conf", with(func(_ *Context, b Backends, _ []types.Datum) (types.Datum, error) {
		return types.BoolDatum(true), b.ReloadConf()
	}))
	r.fn("pg_blocking_pids", with(func(_ *Context, b Backends, a []types.Datum) (types.Datum, error) {
		var elems []types.Datum
		for _, p := range b.BlockingPIDs(int32(a[0].W)) {
			elems = append(elems, types.Int64Datum(int64(p)))
		}
		return types.MakeArray(types.Int4, elems), nil
	}))
	r.fn("pg_safe_snapshot_blocking_pids", func(*Context, []types.Datum) (types.Datum, error) {
		return types.MakeArray(types.Int4, nil), nil
	})
	for _, name := range []string{"pg_stat_reset", "pg_stat_reset_shared", "pg_stat_reset_single_table_counters", "pg_stat_reset_single_function_counters", "pg_stat_reset_slru", "pg_stat_reset_replication_slot", "pg_stat_reset_subscription_stats", "pg_stat_clear_snapshot", "pg_stat_force_next_flush"} {
		r.fn(name, with(func(c *Context, b Backends, a []types.Datum) (types.Datum, error) {
			target := ""
			if len(a) > 0 && !a[0].Null {
				target = string(c.textOf(0, a[0], nil))
			}
			return types.Datum{}, b.StatReset(name, target)
		}))
	}
	for _, name := range strings.Fields(statFunctions) {
		r.fn(name, with(func(_ *Context, b Backends, a []types.Datum) (types.Datum, error) {
			d, ok, err := b.Stat(name, a)
			if err != nil || !ok {
				return types.NullDatum, err
			}
			return d, nil
		}))
	}
	for _, name := range []string{"pg_stat_get_wal", "pg_stat_get_archiver", "pg_stat_get_wal_receiver"} {
		r.fn(name, systemRecord(name))
	}
	for _, name := range strings.Fields(systemSets) {
		r.set(name, func(c *Context, a []types.Datum) (Set, error) {
			if c.System == nil {
				return nil, errNoState("function " + name)
			}
			return c.System.Rows(c, name, a)
		})
	}
}

// systemRecord is a function that gives one row of what the server knows, all null if there is none.
func systemRecord(name string) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		if c.System == nil || c.Call == nil {
			return types.Datum{}, errNoState("function " + name)
		}
		set, err := c.System.Rows(c, name, a)
		if err != nil {
			return types.Datum{}, err
		}
		row := make([]types.Datum, len(c.Call.Columns))
		if ok, err := set.Next(c, row); err != nil || !ok {
			return types.NullDatum, err
		}
		return types.RecordDatum(types.Record, recordFields(c.Call.Columns, c.Env.Types), row), nil
	}
}

// statFunctions are the counters of the statistics views.
const statFunctions = `pg_stat_get_analyze_count pg_stat_get_autoanalyze_count pg_stat_get_autovacuum_count pg_stat_get_backend_activity
pg_stat_get_backend_activity_start pg_stat_get_backend_client_addr pg_stat_get_backend_client_port pg_stat_get_backend_dbid pg_stat_get_backend_pid
pg_stat_get_backend_start pg_stat_get_backend_userid pg_stat_get_backend_wait_event pg_stat_get_backend_wait_event_type pg_stat_get_backend_xact_start
pg_stat_get_bgwriter_buf_written_checkpoints pg_stat_get_bgwriter_buf_written_clean pg_stat_get_bgwriter_maxwritten_clean
pg_stat_get_bgwriter_requested_checkpoints pg_stat_get_bgwriter_stat_reset_time pg_stat_get_bgwriter_timed_checkpoints pg_stat_get_blocks_fetched
pg_stat_get_blocks_hit pg_stat_get_buf_alloc pg_stat_get_buf_fsync_backend pg_stat_get_buf_written_backend pg_stat_get_checkpoint_sync_time
pg_stat_get_checkpoint_write_time pg_stat_get_db_active_time pg_stat_get_db_blk_read_time pg_stat_get_db_blk_write_time pg_stat_get_db_blocks_fetched
pg_stat_get_db_blocks_hit pg_stat_get_db_checksum_failures pg_stat_get_db_checksum_last_failure pg_stat_get_db_conflict_all
pg_stat_get_db_conflict_bufferpin pg_stat_get_db_conflict_lock pg_stat_get_db_conflict_snapshot pg_stat_get_db_conflict_startup_deadlock
pg_stat_get_db_conflict_tablespace pg_stat_get_db_deadlocks pg_stat_get_db_idle_in_transaction_time pg_stat_get_db_numbackends
pg_stat_get_db_session_time pg_stat_get_db_sessions pg_stat_get_db_sessions_abandoned pg_stat_get_db_sessions_fatal pg_stat_get_db_sessions_killed
pg_stat_get_db_stat_reset_time pg_stat_get_db_temp_bytes pg_stat_get_db_temp_files pg_stat_get_db_tuples_deleted pg_stat_get_db_tuples_fetched
pg_stat_get_db_tuples_inserted pg_stat_get_db_tuples_returned pg_stat_get_db_tuples_updated pg_stat_get_db_xact_commit pg_stat_get_db_xact_rollback
pg_stat_get_dead_tuples pg_stat_get_function_calls pg_stat_get_function_self_time pg_stat_get_function_total_time pg_stat_get_ins_since_vacuum
pg_stat_get_last_analyze_time pg_stat_get_last_autoanalyze_time pg_stat_get_last_autovacuum_time pg_stat_get_last_vacuum_time pg_stat_get_live_tuples
pg_stat_get_mod_since_analyze pg_stat_get_numscans pg_stat_get_replication_slot pg_stat_get_snapshot_timestamp pg_stat_get_subscription_stats
pg_stat_get_tuples_deleted pg_stat_get_tuples_fetched pg_stat_get_tuples_hot_updated pg_stat_get_tuples_inserted pg_stat_get_tuples_returned
pg_stat_get_tuples_updated pg_stat_get_vacuum_count pg_stat_get_xact_blocks_fetched pg_stat_get_xact_blocks_hit
pg_stat_get_xact_function_calls pg_stat_get_xact_function_self_time pg_stat_get_xact_function_total_time pg_stat_get_xact_numscans
pg_stat_get_xact_tuples_deleted pg_stat_get_xact_tuples_fetched pg_stat_get_xact_tuples_hot_updated pg_stat_get_xact_tuples_inserted
pg_stat_get_xact_tuples_returned pg_stat_get_xact_tuples_updated pg_stat_have_stats`

// systemSets are the functions whose rows the server knows.
const systemSets = `pg_available_extension_versions pg_available_extensions pg_config pg_cursor pg_extension_update_paths
pg_get_backend_memory_contexts pg_get_catalog_foreign_keys pg_get_multixact_members pg_get_publication_tables pg_get_replication_slots
pg_get_shmem_allocations pg_get_wal_resource_managers pg_hba_file_rules pg_ident_file_mappings pg_lock_status pg_ls_archive_statusdir pg_ls_dir pg_ls_dir_1arg
pg_ls_logdir pg_ls_logicalmapdir pg_ls_logicalsnapdir pg_ls_replslotdir pg_ls_tmpdir_1arg pg_ls_tmpdir_noargs pg_ls_waldir
pg_partition_ancestors pg_partition_tree pg_prepared_statement pg_prepared_xact pg_show_replication_origin_status pg_stat_get_activity
pg_stat_get_backend_idset pg_stat_get_progress_info pg_stat_get_recovery_prefetch pg_stat_get_slru pg_stat_get_subscription pg_stat_get_wal_senders
pg_stats_ext_mcvlist_items pg_tablespace_databases show_all_file_settings show_all_settings ts_parse_byid ts_parse_byname ts_token_type_byid
ts_token_type_byname pg_event_trigger_ddl_commands pg_event_trigger_dropped_objects
pg_stat_get_lock minipg_stat_get_latch minipg_stat_get_extension minipg_get_wait_history`

// registerRecovery registers the functions of a standby; we are none.
func registerRecovery(r *registry) {
	for _, name := range []string{"pg_wal_replay_pause", "pg_wal_replay_resume", "pg_is_wal_replay_paused", "pg_get_wal_replay_pause_state", "pg_promote"} {
		r.fn(name, func(*Context, []types.Datum) (types.Datum, error) {
			return types.Datum{}, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "recovery is not in progress").
				WithHint("Recovery control functions can only be executed during recovery.")
		})
	}
}
