-- The system views of pg_catalog. Each is a SELECT after a line "--- name"; names are resolved
-- with pg_catalog alone in the search path. Columns and types are PostgreSQL 15's (pg_attribute).

--- pg_roles
SELECT a.rolname, a.rolsuper, a.rolinherit, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin, a.rolreplication,
       a.rolconnlimit, text '********' AS rolpassword, a.rolvaliduntil, a.rolbypassrls,
       d.setconfig AS rolconfig, a.oid
FROM pg_authid a
LEFT JOIN pg_db_role_setting d ON d.setrole = a.oid AND d.setdatabase = 0

--- pg_shadow
SELECT a.rolname AS usename, a.oid AS usesysid, a.rolcreatedb AS usecreatedb, a.rolsuper AS usesuper,
       a.rolreplication AS userepl, a.rolbypassrls AS usebypassrls, a.rolpassword AS passwd,
       a.rolvaliduntil AS valuntil, d.setconfig AS useconfig
FROM pg_authid a
LEFT JOIN pg_db_role_setting d ON d.setrole = a.oid AND d.setdatabase = 0
WHERE a.rolcanlogin

--- pg_group
SELECT g.rolname AS groname, g.oid AS grosysid,
       ARRAY(SELECT m.member FROM pg_auth_members m WHERE m.roleid = g.oid) AS grolist
FROM pg_authid g
WHERE NOT g.rolcanlogin

--- pg_user
SELECT usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls,
       text '********' AS passwd, valuntil, useconfig
FROM pg_shadow

--- pg_policies
SELECT n.nspname AS schemaname, c.relname AS tablename, p.polname AS policyname,
       CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS permissive,
       CASE WHEN p.polroles = '{0}' THEN string_to_array('public', '')::name[]
            ELSE ARRAY(SELECT r.rolname FROM pg_authid r WHERE r.oid = ANY (p.polroles) ORDER BY r.rolname) END AS roles,
       CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
            WHEN '*' THEN 'ALL' END AS cmd,
       pg_get_expr(p.polqual, p.polrelid) AS qual,
       pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
FROM pg_policy p
JOIN pg_class c ON c.oid = p.polrelid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace

--- pg_rules
SELECT n.nspname AS schemaname, c.relname AS tablename, r.rulename, pg_get_ruledef(r.oid) AS definition
FROM pg_rewrite r
JOIN pg_class c ON c.oid = r.ev_class
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rulename <> '_RETURN'

--- pg_views
SELECT n.nspname AS schemaname, c.relname AS viewname, pg_get_userbyid(c.relowner) AS viewowner,
       pg_get_viewdef(c.oid) AS definition
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v'

--- pg_tables
SELECT n.nspname AS schemaname, c.relname AS tablename, pg_get_userbyid(c.relowner) AS tableowner,
       s.spcname AS tablespace, c.relhasindex AS hasindexes, c.relhasrules AS hasrules,
       c.relhastriggers AS hastriggers, c.relrowsecurity AS rowsecurity
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE c.relkind IN ('r', 'p')

--- pg_matviews
SELECT n.nspname AS schemaname, c.relname AS matviewname, pg_get_userbyid(c.relowner) AS matviewowner,
       s.spcname AS tablespace, c.relhasindex AS hasindexes, c.relispopulated AS ispopulated,
       pg_get_viewdef(c.oid) AS definition
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE c.relkind = 'm'

--- pg_indexes
SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname, s.spcname AS tablespace,
       pg_get_indexdef(i.oid) AS indexdef
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid AND c.relkind IN ('r', 'm', 'p')
JOIN pg_class i ON i.oid = x.indexrelid AND i.relkind IN ('i', 'I')
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_tablespace s ON s.oid = i.reltablespace

--- pg_sequences
SELECT n.nspname AS schemaname, c.relname AS sequencename, pg_get_userbyid(c.relowner) AS sequenceowner,
       s.seqtypid::regtype AS data_type, s.seqstart AS start_value, s.seqmin AS min_value, s.seqmax AS max_value,
       s.seqincrement AS increment_by, s.seqcycle AS cycle, s.seqcache AS cache_size,
       CASE WHEN has_sequence_privilege(c.oid, 'SELECT,USAGE'::text) THEN pg_sequence_last_value(c.oid) END AS last_value
FROM pg_sequence s
JOIN pg_class c ON c.oid = s.seqrelid AND c.relkind = 'S'
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT pg_is_other_temp_schema(n.oid)

--- pg_stats
SELECT n.nspname AS schemaname, c.relname AS tablename, a.attname, s.stainherit AS inherited,
       s.stanullfrac AS null_frac, s.stawidth AS avg_width, s.stadistinct AS n_distinct,
       CASE 1 WHEN stakind1 THEN stavalues1 WHEN stakind2 THEN stavalues2 WHEN stakind3 THEN stavalues3
              WHEN stakind4 THEN stavalues4 WHEN stakind5 THEN stavalues5 END AS most_common_vals,
       CASE 1 WHEN stakind1 THEN stanumbers1 WHEN stakind2 THEN stanumbers2 WHEN stakind3 THEN stanumbers3
              WHEN stakind4 THEN stanumbers4 WHEN stakind5 THEN stanumbers5 END AS most_common_freqs,
       CASE 2 WHEN stakind1 THEN stavalues1 WHEN stakind2 THEN stavalues2 WHEN stakind3 THEN stavalues3
              WHEN stakind4 THEN stavalues4 WHEN stakind5 THEN stavalues5 END AS histogram_bounds,
       CASE 3 WHEN stakind1 THEN stanumbers1[1] WHEN stakind2 THEN stanumbers2[1] WHEN stakind3 THEN stanumbers3[1]
              WHEN stakind4 THEN stanumbers4[1] WHEN stakind5 THEN stanumbers5[1] END AS correlation,
       CASE 4 WHEN stakind1 THEN stavalues1 WHEN stakind2 THEN stavalues2 WHEN stakind3 THEN stavalues3
              WHEN stakind4 THEN stavalues4 WHEN stakind5 THEN stavalues5 END AS most_common_elems,
       CASE 4 WHEN stakind1 THEN stanumbers1 WHEN stakind2 THEN stanumbers2 WHEN stakind3 THEN stanumbers3
              WHEN stakind4 THEN stanumbers4 WHEN stakind5 THEN stanumbers5 END AS most_common_elem_freqs,
       CASE 5 WHEN stakind1 THEN stanumbers1 WHEN stakind2 THEN stanumbers2 WHEN stakind3 THEN stanumbers3
              WHEN stakind4 THEN stanumbers4 WHEN stakind5 THEN stanumbers5 END AS elem_count_histogram
FROM pg_statistic s
JOIN pg_class c ON c.oid = s.starelid
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.staattnum
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT a.attisdropped
  AND has_column_privilege(c.oid, a.attnum, 'select'::text)
  AND (NOT c.relrowsecurity OR NOT row_security_active(c.oid))

--- pg_stats_ext
SELECT n.nspname AS schemaname, c.relname AS tablename, sn.nspname AS statistics_schemaname,
       s.stxname AS statistics_name, pg_get_userbyid(s.stxowner) AS statistics_owner,
       (SELECT array_agg(a.attname ORDER BY a.attnum)
          FROM unnest(s.stxkeys) k(num)
          JOIN pg_attribute a ON a.attrelid = s.stxrelid AND a.attnum = k.num) AS attnames,
       pg_get_statisticsobjdef_expressions(s.oid) AS exprs,
       s.stxkind AS kinds, d.stxdinherit AS inherited, d.stxdndistinct AS n_distinct,
       d.stxddependencies AS dependencies, m.most_common_vals, m.most_common_val_nulls,
       m.most_common_freqs, m.most_common_base_freqs
FROM pg_statistic_ext s
JOIN pg_class c ON c.oid = s.stxrelid
JOIN pg_statistic_ext_data d ON d.stxoid = s.oid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_namespace sn ON sn.oid = s.stxnamespace
LEFT JOIN LATERAL (
       SELECT array_agg(i.values) AS most_common_vals, array_agg(i.nulls) AS most_common_val_nulls,
              array_agg(i.frequency) AS most_common_freqs, array_agg(i.base_frequency) AS most_common_base_freqs
       FROM pg_mcv_list_items(d.stxdmcv) i) m ON d.stxdmcv IS NOT NULL
WHERE NOT EXISTS (SELECT FROM unnest(s.stxkeys) k(num)
                  JOIN pg_attribute a ON a.attrelid = s.stxrelid AND a.attnum = k.num
                  WHERE NOT has_column_privilege(c.oid, a.attnum, 'select'::text))
  AND (NOT c.relrowsecurity OR NOT row_security_active(c.oid))

--- pg_stats_ext_exprs
SELECT n.nspname AS schemaname, c.relname AS tablename, sn.nspname AS statistics_schemaname,
       s.stxname AS statistics_name, pg_get_userbyid(s.stxowner) AS statistics_owner,
       e.expr, d.stxdinherit AS inherited,
       (e.st).stanullfrac AS null_frac, (e.st).stawidth AS avg_width, (e.st).stadistinct AS n_distinct,
       CASE 1 WHEN (e.st).stakind1 THEN (e.st).stavalues1 WHEN (e.st).stakind2 THEN (e.st).stavalues2
              WHEN (e.st).stakind3 THEN (e.st).stavalues3 WHEN (e.st).stakind4 THEN (e.st).stavalues4
              WHEN (e.st).stakind5 THEN (e.st).stavalues5 END AS most_common_vals,
       CASE 1 WHEN (e.st).stakind1 THEN (e.st).stanumbers1 WHEN (e.st).stakind2 THEN (e.st).stanumbers2
              WHEN (e.st).stakind3 THEN (e.st).stanumbers3 WHEN (e.st).stakind4 THEN (e.st).stanumbers4
              WHEN (e.st).stakind5 THEN (e.st).stanumbers5 END AS most_common_freqs,
       CASE 2 WHEN (e.st).stakind1 THEN (e.st).stavalues1 WHEN (e.st).stakind2 THEN (e.st).stavalues2
              WHEN (e.st).stakind3 THEN (e.st).stavalues3 WHEN (e.st).stakind4 THEN (e.st).stavalues4
              WHEN (e.st).stakind5 THEN (e.st).stavalues5 END AS histogram_bounds,
       CASE 3 WHEN (e.st).stakind1 THEN (e.st).stanumbers1[1] WHEN (e.st).stakind2 THEN (e.st).stanumbers2[1]
              WHEN (e.st).stakind3 THEN (e.st).stanumbers3[1] WHEN (e.st).stakind4 THEN (e.st).stanumbers4[1]
              WHEN (e.st).stakind5 THEN (e.st).stanumbers5[1] END AS correlation,
       CASE 4 WHEN (e.st).stakind1 THEN (e.st).stavalues1 WHEN (e.st).stakind2 THEN (e.st).stavalues2
              WHEN (e.st).stakind3 THEN (e.st).stavalues3 WHEN (e.st).stakind4 THEN (e.st).stavalues4
              WHEN (e.st).stakind5 THEN (e.st).stavalues5 END AS most_common_elems,
       CASE 4 WHEN (e.st).stakind1 THEN (e.st).stanumbers1 WHEN (e.st).stakind2 THEN (e.st).stanumbers2
              WHEN (e.st).stakind3 THEN (e.st).stanumbers3 WHEN (e.st).stakind4 THEN (e.st).stanumbers4
              WHEN (e.st).stakind5 THEN (e.st).stanumbers5 END AS most_common_elem_freqs,
       CASE 5 WHEN (e.st).stakind1 THEN (e.st).stanumbers1 WHEN (e.st).stakind2 THEN (e.st).stanumbers2
              WHEN (e.st).stakind3 THEN (e.st).stanumbers3 WHEN (e.st).stakind4 THEN (e.st).stanumbers4
              WHEN (e.st).stakind5 THEN (e.st).stanumbers5 END AS elem_count_histogram
FROM pg_statistic_ext s
JOIN pg_class c ON c.oid = s.stxrelid
LEFT JOIN pg_statistic_ext_data d ON d.stxoid = s.oid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_namespace sn ON sn.oid = s.stxnamespace
JOIN LATERAL (SELECT unnest(pg_get_statisticsobjdef_expressions(s.oid)) AS expr, unnest(d.stxdexpr) AS st) e
     ON e.expr IS NOT NULL

--- pg_publication_tables
SELECT p.pubname, n.nspname AS schemaname, c.relname AS tablename,
       (SELECT array_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = g.relid AND a.attnum > 0 AND NOT a.attisdropped
           AND (g.attrs IS NULL OR a.attnum = ANY (g.attrs))) AS attnames,
       pg_get_expr(g.qual, g.relid) AS rowfilter
FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname::text) g(relid, attrs, qual)
JOIN pg_class c ON c.oid = g.relid
JOIN pg_namespace n ON n.oid = c.relnamespace

--- pg_locks
SELECT l.locktype, l.database, l.relation, l.page, l.tuple, l.virtualxid, l.transactionid, l.classid, l.objid, l.objsubid,
       l.virtualtransaction, l.pid, l.mode, l.granted, l.fastpath, l.waitstart
FROM pg_lock_status() l

--- pg_stat_lock
SELECT l.locktype, l.waits, l.wait_time, l.fastpath_exceeded, l.stats_reset
FROM pg_stat_get_lock() l

--- minipg_stat_latch
SELECT l.class, l.mode, l.acquisitions, l.waits, l.wait_time, l.stats_reset
FROM minipg_stat_get_latch() l

--- minipg_stat_extension
SELECT e.relid, n.nspname AS schemaname, c.relname, e.fork, e.extends, e.blocks, e.waits, e.fsm_hits_after_wait, e.stats_reset
FROM minipg_stat_get_extension() e
JOIN pg_class c ON c.oid = e.relid
JOIN pg_namespace n ON n.oid = c.relnamespace

--- minipg_wait_history
SELECT w.waiter, w.holder, w.wait_event_type, w.wait_event, w.object, w.mode, w.database, w.relation, w.block, w.duration, w.time
FROM minipg_get_wait_history() w

--- pg_cursors
SELECT c.name, c.statement, c.is_holdable, c.is_binary, c.is_scrollable, c.creation_time
FROM pg_cursor() c

--- pg_available_extensions
SELECT a.name, a.default_version, x.extversion AS installed_version, a.comment
FROM pg_available_extensions() a
LEFT JOIN pg_extension x ON x.extname = a.name

--- pg_available_extension_versions
SELECT a.name, a.version, x.extname IS NOT NULL AS installed, a.superuser, a.trusted, a.relocatable,
       a.schema, a.requires, a.comment
FROM pg_available_extension_versions() a
LEFT JOIN pg_extension x ON x.extname = a.name AND x.extversion = a.version

--- pg_prepared_xacts
SELECT x.transaction, x.gid, x.prepared, r.rolname AS owner, d.datname AS database
FROM pg_prepared_xact() x
LEFT JOIN pg_authid r ON r.oid = x.ownerid
LEFT JOIN pg_database d ON d.oid = x.dbid

--- pg_prepared_statements
SELECT p.name, p.statement, p.prepare_time, p.parameter_types, p.from_sql, p.generic_plans, p.custom_plans
FROM pg_prepared_statement() p

--- pg_seclabels
SELECT l.objoid, l.classoid, l.objsubid,
       CASE WHEN l.objsubid <> 0 THEN 'column'
            WHEN c.relkind IN ('r', 'p') THEN 'table' WHEN c.relkind = 'v' THEN 'view'
            WHEN c.relkind = 'm' THEN 'materialized view' WHEN c.relkind = 'S' THEN 'sequence'
            WHEN c.relkind = 'f' THEN 'foreign table' END AS objtype,
       c.relnamespace AS objnamespace,
       CASE WHEN pg_table_is_visible(c.oid) THEN quote_ident(c.relname)
            ELSE quote_ident(n.nspname) || '.' || quote_ident(c.relname) END
       || CASE WHEN l.objsubid <> 0 THEN '.' || quote_ident(a.attname) ELSE '' END AS objname,
       l.provider, l.label
FROM pg_seclabel l
JOIN pg_class c ON l.classoid = 'pg_class'::regclass AND c.oid = l.objoid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = l.objsubid
UNION ALL
SELECT l.objoid, l.classoid, l.objsubid, o.type, NULL::oid, o.identity, l.provider, l.label
FROM pg_seclabel l, LATERAL pg_identify_object(l.classoid, l.objoid, l.objsubid) o
WHERE l.classoid <> 'pg_class'::regclass
UNION ALL
SELECT l.objoid, l.classoid, 0, o.type, NULL::oid, o.identity, l.provider, l.label
FROM pg_shseclabel l, LATERAL pg_identify_object(l.classoid, l.objoid, 0) o

--- pg_settings
SELECT s.name, s.setting, s.unit, s.category, s.short_desc, s.extra_desc, s.context, s.vartype, s.source, s.min_val, s.max_val,
       s.enumvals, s.boot_val, s.reset_val, s.sourcefile, s.sourceline, s.pending_restart
FROM pg_show_all_settings() s

--- pg_file_settings
SELECT s.sourcefile, s.sourceline, s.seqno, s.name, s.setting, s.applied, s.error
FROM pg_show_all_file_settings() s

--- pg_hba_file_rules
SELECT h.line_number, h.type, h.database, h.user_name, h.address, h.netmask, h.auth_method, h.options, h.error
FROM pg_hba_file_rules() h

--- pg_ident_file_mappings
SELECT i.line_number, i.map_name, i.sys_name, i.pg_username, i.error
FROM pg_ident_file_mappings() i

--- pg_timezone_abbrevs
SELECT z.abbrev, z.utc_offset, z.is_dst FROM pg_timezone_abbrevs() z

--- pg_timezone_names
SELECT z.name, z.abbrev, z.utc_offset, z.is_dst FROM pg_timezone_names() z

--- pg_config
SELECT c.name, c.setting FROM pg_config() c

--- pg_shmem_allocations
SELECT s.name, s.off, s.size, s.allocated_size FROM pg_get_shmem_allocations() s

--- pg_backend_memory_contexts
SELECT m.name, m.ident, m.parent, m.level, m.total_bytes, m.total_nblocks, m.free_bytes, m.free_chunks, m.used_bytes
FROM pg_get_backend_memory_contexts() m

--- pg_stat_all_tables
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
       pg_stat_get_numscans(c.oid) AS seq_scan, pg_stat_get_tuples_returned(c.oid) AS seq_tup_read,
       i.scans AS idx_scan, i.fetched + pg_stat_get_tuples_fetched(c.oid) AS idx_tup_fetch,
       pg_stat_get_tuples_inserted(c.oid) AS n_tup_ins, pg_stat_get_tuples_updated(c.oid) AS n_tup_upd,
       pg_stat_get_tuples_deleted(c.oid) AS n_tup_del, pg_stat_get_tuples_hot_updated(c.oid) AS n_tup_hot_upd,
       pg_stat_get_live_tuples(c.oid) AS n_live_tup, pg_stat_get_dead_tuples(c.oid) AS n_dead_tup,
       pg_stat_get_mod_since_analyze(c.oid) AS n_mod_since_analyze,
       pg_stat_get_ins_since_vacuum(c.oid) AS n_ins_since_vacuum,
       pg_stat_get_last_vacuum_time(c.oid) AS last_vacuum,
       pg_stat_get_last_autovacuum_time(c.oid) AS last_autovacuum,
       pg_stat_get_last_analyze_time(c.oid) AS last_analyze,
       pg_stat_get_last_autoanalyze_time(c.oid) AS last_autoanalyze,
       pg_stat_get_vacuum_count(c.oid) AS vacuum_count, pg_stat_get_autovacuum_count(c.oid) AS autovacuum_count,
       pg_stat_get_analyze_count(c.oid) AS analyze_count, pg_stat_get_autoanalyze_count(c.oid) AS autoanalyze_count
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT sum(pg_stat_get_numscans(x.indexrelid))::bigint AS scans,
                           sum(pg_stat_get_tuples_fetched(x.indexrelid))::bigint AS fetched
                    FROM pg_index x WHERE x.indrelid = c.oid) i
WHERE c.relkind IN ('r', 't', 'm', 'p')

--- pg_stat_xact_all_tables
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
       pg_stat_get_xact_numscans(c.oid) AS seq_scan, pg_stat_get_xact_tuples_returned(c.oid) AS seq_tup_read,
       i.scans AS idx_scan, i.fetched + pg_stat_get_xact_tuples_fetched(c.oid) AS idx_tup_fetch,
       pg_stat_get_xact_tuples_inserted(c.oid) AS n_tup_ins, pg_stat_get_xact_tuples_updated(c.oid) AS n_tup_upd,
       pg_stat_get_xact_tuples_deleted(c.oid) AS n_tup_del, pg_stat_get_xact_tuples_hot_updated(c.oid) AS n_tup_hot_upd
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT sum(pg_stat_get_xact_numscans(x.indexrelid))::bigint AS scans,
                           sum(pg_stat_get_xact_tuples_fetched(x.indexrelid))::bigint AS fetched
                    FROM pg_index x WHERE x.indrelid = c.oid) i
WHERE c.relkind IN ('r', 't', 'm', 'p')

--- pg_stat_sys_tables
SELECT * FROM pg_stat_all_tables
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

--- pg_stat_xact_sys_tables
SELECT * FROM pg_stat_xact_all_tables
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

--- pg_stat_user_tables
SELECT * FROM pg_stat_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

--- pg_stat_xact_user_tables
SELECT * FROM pg_stat_xact_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

--- pg_statio_all_tables
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
       pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS heap_blks_read,
       pg_stat_get_blocks_hit(c.oid) AS heap_blks_hit,
       i.reads AS idx_blks_read, i.hits AS idx_blks_hit,
       pg_stat_get_blocks_fetched(t.oid) - pg_stat_get_blocks_hit(t.oid) AS toast_blks_read,
       pg_stat_get_blocks_hit(t.oid) AS toast_blks_hit,
       ti.reads AS tidx_blks_read, ti.hits AS tidx_blks_hit
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
CROSS JOIN LATERAL (SELECT sum(pg_stat_get_blocks_fetched(x.indexrelid) - pg_stat_get_blocks_hit(x.indexrelid))::bigint AS reads,
                           sum(pg_stat_get_blocks_hit(x.indexrelid))::bigint AS hits
                    FROM pg_index x WHERE x.indrelid = c.oid) i
CROSS JOIN LATERAL (SELECT sum(pg_stat_get_blocks_fetched(x.indexrelid) - pg_stat_get_blocks_hit(x.indexrelid))::bigint AS reads,
                           sum(pg_stat_get_blocks_hit(x.indexrelid))::bigint AS hits
                    FROM pg_index x WHERE x.indrelid = t.oid) ti
WHERE c.relkind IN ('r', 't', 'm')

--- pg_statio_sys_tables
SELECT * FROM pg_statio_all_tables
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

--- pg_statio_user_tables
SELECT * FROM pg_statio_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

--- pg_stat_all_indexes
SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname, i.relname AS indexrelname,
       pg_stat_get_numscans(i.oid) AS idx_scan, pg_stat_get_tuples_returned(i.oid) AS idx_tup_read,
       pg_stat_get_tuples_fetched(i.oid) AS idx_tup_fetch
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 't', 'm')

--- pg_stat_sys_indexes
SELECT * FROM pg_stat_all_indexes
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

--- pg_stat_user_indexes
SELECT * FROM pg_stat_all_indexes
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

--- pg_statio_all_indexes
SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname, i.relname AS indexrelname,
       pg_stat_get_blocks_fetched(i.oid) - pg_stat_get_blocks_hit(i.oid) AS idx_blks_read,
       pg_stat_get_blocks_hit(i.oid) AS idx_blks_hit
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 't', 'm')

--- pg_statio_sys_indexes
SELECT * FROM pg_statio_all_indexes
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

--- pg_statio_user_indexes
SELECT * FROM pg_statio_all_indexes
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

--- pg_statio_all_sequences
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
       pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS blks_read,
       pg_stat_get_blocks_hit(c.oid) AS blks_hit
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S'

--- pg_statio_sys_sequences
SELECT * FROM pg_statio_all_sequences
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

--- pg_statio_user_sequences
SELECT * FROM pg_statio_all_sequences
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

--- pg_stat_activity
SELECT s.datid, d.datname, s.pid, s.leader_pid, s.usesysid, r.rolname AS usename, s.application_name, s.client_addr,
       s.client_hostname, s.client_port, s.backend_start, s.xact_start, s.query_start, s.state_change, s.wait_event_type,
       s.wait_event, s.state, s.backend_xid, s.backend_xmin, s.query_id, s.query, s.backend_type
FROM pg_stat_get_activity(NULL) s
LEFT JOIN pg_database d ON d.oid = s.datid
LEFT JOIN pg_authid r ON r.oid = s.usesysid

--- pg_stat_replication
SELECT s.pid, s.usesysid, r.rolname AS usename, s.application_name, s.client_addr, s.client_hostname, s.client_port,
       s.backend_start, s.backend_xmin, w.state, w.sent_lsn, w.write_lsn, w.flush_lsn, w.replay_lsn, w.write_lag,
       w.flush_lag, w.replay_lag, w.sync_priority, w.sync_state, w.reply_time
FROM pg_stat_get_activity(NULL) s
JOIN pg_stat_get_wal_senders() w ON w.pid = s.pid
LEFT JOIN pg_authid r ON r.oid = s.usesysid

--- pg_stat_slru
SELECT s.name, s.blks_zeroed, s.blks_hit, s.blks_read, s.blks_written, s.blks_exists, s.flushes, s.truncates, s.stats_reset
FROM pg_stat_get_slru() s

--- pg_stat_wal_receiver
SELECT r.pid, r.status, r.receive_start_lsn, r.receive_start_tli, r.written_lsn, r.flushed_lsn, r.received_tli,
       r.last_msg_send_time, r.last_msg_receipt_time, r.latest_end_lsn, r.latest_end_time, r.slot_name, r.sender_host,
       r.sender_port, r.conninfo
FROM pg_stat_get_wal_receiver() r
WHERE r.pid IS NOT NULL

--- pg_stat_recovery_prefetch
SELECT p.stats_reset, p.prefetch, p.hit, p.skip_init, p.skip_new, p.skip_fpw, p.skip_rep, p.wal_distance,
       p.block_distance, p.io_depth
FROM pg_stat_get_recovery_prefetch() p

--- pg_stat_subscription
SELECT s.oid AS subid, s.subname, t.pid, t.relid, t.received_lsn, t.last_msg_send_time, t.last_msg_receipt_time,
       t.latest_end_lsn, t.latest_end_time
FROM pg_subscription s
LEFT JOIN pg_stat_get_subscription(NULL) t ON t.subid = s.oid

--- pg_stat_ssl
SELECT s.pid, s.ssl, s.sslversion AS version, s.sslcipher AS cipher, s.sslbits AS bits, s.ssl_client_dn AS client_dn,
       s.ssl_client_serial AS client_serial, s.ssl_issuer_dn AS issuer_dn
FROM pg_stat_get_activity(NULL) s
WHERE s.client_port IS NOT NULL

--- pg_stat_gssapi
SELECT s.pid, s.gss_auth AS gss_authenticated, s.gss_princ AS principal, s.gss_enc AS encrypted
FROM pg_stat_get_activity(NULL) s
WHERE s.client_port IS NOT NULL

--- pg_replication_slots
SELECT s.slot_name, s.plugin, s.slot_type, s.datoid, d.datname AS database, s.temporary, s.active, s.active_pid, s.xmin,
       s.catalog_xmin, s.restart_lsn, s.confirmed_flush_lsn, s.wal_status, s.safe_wal_size, s.two_phase
FROM pg_get_replication_slots() s
LEFT JOIN pg_database d ON d.oid = s.datoid

--- pg_stat_replication_slots
SELECT t.slot_name, t.spill_txns, t.spill_count, t.spill_bytes, t.stream_txns, t.stream_count, t.stream_bytes, t.total_txns,
       t.total_bytes, t.stats_reset
FROM pg_replication_slots s, LATERAL pg_stat_get_replication_slot(s.slot_name::text) t
WHERE s.datoid IS NOT NULL

--- pg_stat_database
SELECT d.oid AS datid, d.datname,
       CASE WHEN d.oid = 0 THEN 0 ELSE pg_stat_get_db_numbackends(d.oid) END AS numbackends,
       pg_stat_get_db_xact_commit(d.oid) AS xact_commit, pg_stat_get_db_xact_rollback(d.oid) AS xact_rollback,
       pg_stat_get_db_blocks_fetched(d.oid) - pg_stat_get_db_blocks_hit(d.oid) AS blks_read,
       pg_stat_get_db_blocks_hit(d.oid) AS blks_hit,
       pg_stat_get_db_tuples_returned(d.oid) AS tup_returned, pg_stat_get_db_tuples_fetched(d.oid) AS tup_fetched,
       pg_stat_get_db_tuples_inserted(d.oid) AS tup_inserted, pg_stat_get_db_tuples_updated(d.oid) AS tup_updated,
       pg_stat_get_db_tuples_deleted(d.oid) AS tup_deleted, pg_stat_get_db_conflict_all(d.oid) AS conflicts,
       pg_stat_get_db_temp_files(d.oid) AS temp_files, pg_stat_get_db_temp_bytes(d.oid) AS temp_bytes,
       pg_stat_get_db_deadlocks(d.oid) AS deadlocks, pg_stat_get_db_checksum_failures(d.oid) AS checksum_failures,
       pg_stat_get_db_checksum_last_failure(d.oid) AS checksum_last_failure,
       pg_stat_get_db_blk_read_time(d.oid) AS blk_read_time, pg_stat_get_db_blk_write_time(d.oid) AS blk_write_time,
       pg_stat_get_db_session_time(d.oid) AS session_time, pg_stat_get_db_active_time(d.oid) AS active_time,
       pg_stat_get_db_idle_in_transaction_time(d.oid) AS idle_in_transaction_time,
       pg_stat_get_db_sessions(d.oid) AS sessions, pg_stat_get_db_sessions_abandoned(d.oid) AS sessions_abandoned,
       pg_stat_get_db_sessions_fatal(d.oid) AS sessions_fatal, pg_stat_get_db_sessions_killed(d.oid) AS sessions_killed,
       pg_stat_get_db_stat_reset_time(d.oid) AS stats_reset
FROM (SELECT oid '0' AS oid, NULL::name AS datname UNION ALL SELECT b.oid, b.datname FROM pg_database b) d

--- pg_stat_database_conflicts
SELECT d.oid AS datid, d.datname,
       pg_stat_get_db_conflict_tablespace(d.oid) AS confl_tablespace, pg_stat_get_db_conflict_lock(d.oid) AS confl_lock,
       pg_stat_get_db_conflict_snapshot(d.oid) AS confl_snapshot, pg_stat_get_db_conflict_bufferpin(d.oid) AS confl_bufferpin,
       pg_stat_get_db_conflict_startup_deadlock(d.oid) AS confl_deadlock
FROM pg_database d

--- pg_stat_user_functions
SELECT p.oid AS funcid, n.nspname AS schemaname, p.proname AS funcname, pg_stat_get_function_calls(p.oid) AS calls,
       pg_stat_get_function_total_time(p.oid) AS total_time, pg_stat_get_function_self_time(p.oid) AS self_time
FROM pg_proc p
LEFT JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prolang <> 12 AND pg_stat_get_function_calls(p.oid) IS NOT NULL

--- pg_stat_xact_user_functions
SELECT p.oid AS funcid, n.nspname AS schemaname, p.proname AS funcname, pg_stat_get_xact_function_calls(p.oid) AS calls,
       pg_stat_get_xact_function_total_time(p.oid) AS total_time, pg_stat_get_xact_function_self_time(p.oid) AS self_time
FROM pg_proc p
LEFT JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prolang <> 12 AND pg_stat_get_xact_function_calls(p.oid) IS NOT NULL

--- pg_stat_archiver
SELECT a.archived_count, a.last_archived_wal, a.last_archived_time, a.failed_count, a.last_failed_wal, a.last_failed_time,
       a.stats_reset
FROM pg_stat_get_archiver() a

--- pg_stat_bgwriter
SELECT pg_stat_get_bgwriter_timed_checkpoints() AS checkpoints_timed,
       pg_stat_get_bgwriter_requested_checkpoints() AS checkpoints_req,
       pg_stat_get_checkpoint_write_time() AS checkpoint_write_time,
       pg_stat_get_checkpoint_sync_time() AS checkpoint_sync_time,
       pg_stat_get_bgwriter_buf_written_checkpoints() AS buffers_checkpoint,
       pg_stat_get_bgwriter_buf_written_clean() AS buffers_clean,
       pg_stat_get_bgwriter_maxwritten_clean() AS maxwritten_clean,
       pg_stat_get_buf_written_backend() AS buffers_backend,
       pg_stat_get_buf_fsync_backend() AS buffers_backend_fsync,
       pg_stat_get_buf_alloc() AS buffers_alloc,
       pg_stat_get_bgwriter_stat_reset_time() AS stats_reset

--- pg_stat_wal
SELECT w.wal_records, w.wal_fpi, w.wal_bytes, w.wal_buffers_full, w.wal_write, w.wal_sync, w.wal_write_time, w.wal_sync_time,
       w.stats_reset
FROM pg_stat_get_wal() w

--- pg_stat_progress_analyze
SELECT s.pid, s.datid, d.datname, s.relid,
       (ARRAY['initializing', 'acquiring sample rows', 'acquiring inherited sample rows', 'computing statistics',
              'computing extended statistics', 'finalizing analyze'])[s.param1 + 1] AS phase,
       s.param2 AS sample_blks_total, s.param3 AS sample_blks_scanned, s.param4 AS ext_stats_total,
       s.param5 AS ext_stats_computed, s.param6 AS child_tables_total, s.param7 AS child_tables_done,
       s.param8::oid AS current_child_table_relid
FROM pg_stat_get_progress_info('ANALYZE') s
LEFT JOIN pg_database d ON d.oid = s.datid

--- pg_stat_progress_vacuum
SELECT s.pid, s.datid, d.datname, s.relid,
       (ARRAY['initializing', 'scanning heap', 'vacuuming indexes', 'vacuuming heap', 'cleaning up indexes',
              'truncating heap', 'performing final cleanup'])[s.param1 + 1] AS phase,
       s.param2 AS heap_blks_total, s.param3 AS heap_blks_scanned, s.param4 AS heap_blks_vacuumed,
       s.param5 AS index_vacuum_count, s.param6 AS max_dead_tuples, s.param7 AS num_dead_tuples
FROM pg_stat_get_progress_info('VACUUM') s
LEFT JOIN pg_database d ON d.oid = s.datid

--- pg_stat_progress_cluster
SELECT s.pid, s.datid, d.datname, s.relid,
       (ARRAY['CLUSTER', 'VACUUM FULL'])[s.param1] AS command,
       (ARRAY['initializing', 'seq scanning heap', 'index scanning heap', 'sorting tuples', 'writing new heap',
              'swapping relation files', 'rebuilding index', 'performing final cleanup'])[s.param2 + 1] AS phase,
       s.param3::oid AS cluster_index_relid, s.param4 AS heap_tuples_scanned, s.param5 AS heap_tuples_written,
       s.param6 AS heap_blks_total, s.param7 AS heap_blks_scanned, s.param8 AS index_rebuild_count
FROM pg_stat_get_progress_info('CLUSTER') s
LEFT JOIN pg_database d ON d.oid = s.datid

--- pg_stat_progress_create_index
SELECT s.pid, s.datid, d.datname, s.relid, s.param7::oid AS index_relid,
       (ARRAY['CREATE INDEX', 'CREATE INDEX CONCURRENTLY', 'REINDEX', 'REINDEX CONCURRENTLY'])[s.param1] AS command,
       CASE WHEN s.param10 = 2
            THEN 'building index' || coalesce(': ' || pg_indexam_progress_phasename(s.param9::oid, s.param11), '')
            ELSE (ARRAY['initializing', 'waiting for writers before build', NULL, 'waiting for writers before validation',
                        'index validation: scanning index', 'index validation: sorting tuples',
                        'index validation: scanning table', 'waiting for old snapshots',
                        'waiting for readers before marking dead', 'waiting for readers before dropping'])[s.param10 + 1]
       END AS phase,
       s.param4 AS lockers_total, s.param5 AS lockers_done, s.param6 AS current_locker_pid, s.param16 AS blocks_total,
       s.param17 AS blocks_done, s.param12 AS tuples_total, s.param13 AS tuples_done, s.param14 AS partitions_total,
       s.param15 AS partitions_done
FROM pg_stat_get_progress_info('CREATE INDEX') s
LEFT JOIN pg_database d ON d.oid = s.datid

--- pg_stat_progress_basebackup
SELECT s.pid,
       (ARRAY['initializing', 'waiting for checkpoint to finish', 'estimating backup size', 'streaming database files',
              'waiting for wal archiving to finish', 'transferring wal files'])[s.param1 + 1] AS phase,
       CASE WHEN s.param2 <> -1 THEN s.param2 END AS backup_total, s.param3 AS backup_streamed,
       s.param4 AS tablespaces_total, s.param5 AS tablespaces_streamed
FROM pg_stat_get_progress_info('BASEBACKUP') s

--- pg_stat_progress_copy
SELECT s.pid, s.datid, d.datname, s.relid, (ARRAY['COPY FROM', 'COPY TO'])[s.param5] AS command,
       (ARRAY['FILE', 'PROGRAM', 'PIPE', 'CALLBACK'])[s.param6] AS type,
       s.param1 AS bytes_processed, s.param2 AS bytes_total, s.param3 AS tuples_processed, s.param4 AS tuples_excluded
FROM pg_stat_get_progress_info('COPY') s
LEFT JOIN pg_database d ON d.oid = s.datid

--- pg_user_mappings
SELECT m.oid AS umid, s.oid AS srvid, s.srvname, m.umuser,
       CASE WHEN m.umuser = 0 THEN 'public' ELSE r.rolname END AS usename,
       CASE WHEN (m.umuser <> 0 AND r.rolname = current_user
                  AND (pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE')))
                 OR (m.umuser = 0 AND pg_has_role(s.srvowner, 'USAGE'))
                 OR (SELECT u.rolsuper FROM pg_authid u WHERE u.rolname = current_user)
            THEN m.umoptions END AS umoptions
FROM pg_user_mapping m
JOIN pg_foreign_server s ON s.oid = m.umserver
LEFT JOIN pg_authid r ON r.oid = m.umuser

--- pg_replication_origin_status
SELECT o.local_id, o.external_id, o.remote_lsn, o.local_lsn FROM pg_show_replication_origin_status() o

--- pg_stat_subscription_stats
SELECT t.subid, s.subname, t.apply_error_count, t.sync_error_count, t.stats_reset
FROM pg_subscription s, LATERAL pg_stat_get_subscription_stats(s.oid) t
