-- The views of information_schema. Each is a SELECT after a line "--- name"; names are resolved with
-- information_schema, then pg_catalog in the search path. Columns and types are PostgreSQL 15's (pg_attribute).

--- information_schema_catalog_name
SELECT current_database()::sql_identifier AS catalog_name

--- applicable_roles
SELECT member.rolname::sql_identifier AS grantee, granted.rolname::sql_identifier AS role_name,
       (CASE WHEN m.admin_option THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
FROM (SELECT am.member, am.roleid, am.admin_option FROM pg_auth_members am
      UNION
      -- Membership in pg_database_owner is by ownership.
      SELECT d.datdba, r.oid, false FROM pg_database d, pg_authid r
      WHERE d.datname = current_database() AND r.rolname = 'pg_database_owner') m
JOIN pg_authid member ON member.oid = m.member
JOIN pg_authid granted ON granted.oid = m.roleid
WHERE pg_has_role(member.oid, 'USAGE')

--- administrable_role_authorizations
SELECT grantee, role_name, is_grantable FROM applicable_roles WHERE is_grantable = 'YES'

--- attributes
SELECT current_database()::sql_identifier AS udt_catalog, n.nspname::sql_identifier AS udt_schema,
       c.relname::sql_identifier AS udt_name, a.attname::sql_identifier AS attribute_name,
       a.attnum::cardinal_number AS ordinal_position,
       pg_get_expr(d.adbin, d.adrelid)::character_data AS attribute_default,
       (CASE WHEN a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) THEN 'NO' ELSE 'YES' END)::yes_or_no AS is_nullable,
       (CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN nb.nspname = 'pg_catalog' THEN format_type(b.oid, NULL)
             ELSE 'USER-DEFINED' END)::character_data AS data_type,
       _pg_char_max_length(m.typ, m.mod)::cardinal_number AS character_maximum_length,
       _pg_char_octet_length(m.typ, m.mod)::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema, co.collname::sql_identifier AS collation_name,
       _pg_numeric_precision(m.typ, m.mod)::cardinal_number AS numeric_precision,
       _pg_numeric_precision_radix(m.typ, m.mod)::cardinal_number AS numeric_precision_radix,
       _pg_numeric_scale(m.typ, m.mod)::cardinal_number AS numeric_scale,
       _pg_datetime_precision(m.typ, m.mod)::cardinal_number AS datetime_precision,
       _pg_interval_type(m.typ, m.mod)::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       current_database()::sql_identifier AS attribute_udt_catalog, nb.nspname::sql_identifier AS attribute_udt_schema,
       b.typname::sql_identifier AS attribute_udt_name,
       NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality, a.attnum::sql_identifier AS dtd_identifier,
       'NO'::yes_or_no AS is_derived_reference_attribute
FROM pg_attribute a
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'c'
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
JOIN pg_namespace nb ON nb.oid = b.typnamespace
LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
     ON co.oid = a.attcollation AND (nco.nspname, co.collname) <> ('pg_catalog', 'default')
CROSS JOIN LATERAL (SELECT b.oid AS typ, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS mod) m
WHERE a.attnum > 0 AND NOT a.attisdropped
  AND (pg_has_role(c.relowner, 'USAGE') OR has_type_privilege(c.reltype, 'USAGE'))

--- character_sets
SELECT NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       getdatabaseencoding()::sql_identifier AS character_set_name,
       (CASE WHEN getdatabaseencoding() = 'UTF8' THEN 'UCS' ELSE getdatabaseencoding() END)::sql_identifier AS character_repertoire,
       getdatabaseencoding()::sql_identifier AS form_of_use,
       current_database()::sql_identifier AS default_collate_catalog,
       nc.nspname::sql_identifier AS default_collate_schema, c.collname::sql_identifier AS default_collate_name
FROM pg_database d
LEFT JOIN (pg_collation c JOIN pg_namespace nc ON nc.oid = c.collnamespace)
     ON c.collcollate = d.datcollate AND c.collctype = d.datctype AND d.datlocprovider = c.collprovider
WHERE d.datname = current_database()
ORDER BY char_length(c.collname) DESC, c.collname ASC
LIMIT 1

--- check_constraint_routine_usage
SELECT DISTINCT current_database()::sql_identifier AS constraint_catalog, nc.nspname::sql_identifier AS constraint_schema,
       c.conname::sql_identifier AS constraint_name, current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name
FROM pg_constraint c
JOIN pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid AND d.refclassid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = d.refobjid
JOIN pg_namespace np ON np.oid = p.pronamespace
WHERE c.contype = 'c' AND pg_has_role(p.proowner, 'USAGE')

--- check_constraints
SELECT current_database()::sql_identifier AS constraint_catalog, n.nspname::sql_identifier AS constraint_schema,
       con.conname::sql_identifier AS constraint_name,
       substring(pg_get_constraintdef(con.oid), 7)::character_data AS check_clause
FROM pg_constraint con
LEFT JOIN pg_namespace n ON n.oid = con.connamespace
LEFT JOIN pg_class c ON c.oid = con.conrelid
LEFT JOIN pg_type t ON t.oid = con.contypid
WHERE con.contype = 'c' AND pg_has_role(coalesce(c.relowner, t.typowner), 'USAGE')
UNION
SELECT current_database()::sql_identifier, n.nspname::sql_identifier,
       (n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || '_not_null')::sql_identifier,
       (a.attname || ' IS NOT NULL')::character_data
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND c.relkind IN ('r', 'p')
  AND pg_has_role(c.relowner, 'USAGE')

--- collations
SELECT current_database()::sql_identifier AS collation_catalog, n.nspname::sql_identifier AS collation_schema,
       c.collname::sql_identifier AS collation_name, 'NO PAD'::character_data AS pad_attribute
FROM pg_collation c
JOIN pg_namespace n ON n.oid = c.collnamespace
WHERE c.collencoding IN (-1, (SELECT d.encoding FROM pg_database d WHERE d.datname = current_database()))

--- collation_character_set_applicability
SELECT current_database()::sql_identifier AS collation_catalog, n.nspname::sql_identifier AS collation_schema,
       c.collname::sql_identifier AS collation_name, NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema, getdatabaseencoding()::sql_identifier AS character_set_name
FROM pg_collation c
JOIN pg_namespace n ON n.oid = c.collnamespace
WHERE c.collencoding IN (-1, (SELECT d.encoding FROM pg_database d WHERE d.datname = current_database()))

--- column_column_usage
SELECT DISTINCT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name,
       g.attname::sql_identifier AS dependent_column
FROM pg_attrdef f
JOIN pg_class c ON c.oid = f.adrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
                AND d.refobjid = c.oid
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
JOIN pg_attribute g ON g.attrelid = c.oid AND g.attnum = f.adnum
WHERE g.attgenerated <> '' AND a.attnum <> g.attnum AND pg_has_role(c.relowner, 'USAGE')

--- column_domain_usage
SELECT current_database()::sql_identifier AS domain_catalog, nt.nspname::sql_identifier AS domain_schema,
       t.typname::sql_identifier AS domain_name, current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema, c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_namespace nt ON nt.oid = t.typnamespace
WHERE t.typtype = 'd' AND c.relkind IN ('r', 'v', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped
  AND pg_has_role(t.typowner, 'USAGE')

--- column_privileges
SELECT grantor.rolname::sql_identifier AS grantor, grantee.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       x.relname::sql_identifier AS table_name, x.attname::sql_identifier AS column_name,
       x.prtype::character_data AS privilege_type,
       (CASE WHEN pg_has_role(x.grantee, x.relowner, 'USAGE') OR x.grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
FROM (SELECT p.grantor, p.grantee, a.attname, c.relname, c.relnamespace, p.privilege_type AS prtype,
             p.is_grantable AS grantable, c.relowner
      FROM pg_class c
      CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) p
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relkind IN ('r', 'v', 'f', 'p')
      UNION
      SELECT p.grantor, p.grantee, a.attname, c.relname, c.relnamespace, p.privilege_type, p.is_grantable, c.relowner
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'v', 'f', 'p')
      CROSS JOIN LATERAL aclexplode(coalesce(a.attacl, acldefault('c', c.relowner))) p
      WHERE a.attnum > 0 AND NOT a.attisdropped) x
JOIN pg_namespace n ON n.oid = x.relnamespace
JOIN pg_authid grantor ON grantor.oid = x.grantor
JOIN (SELECT r.oid, r.rolname FROM pg_authid r UNION ALL SELECT oid '0', name 'PUBLIC') grantee ON grantee.oid = x.grantee
WHERE x.prtype IN ('INSERT', 'SELECT', 'UPDATE', 'REFERENCES')
  AND (pg_has_role(grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR grantee.rolname = 'PUBLIC')

--- column_udt_usage
SELECT current_database()::sql_identifier AS udt_catalog, nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name, current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema, c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
JOIN pg_namespace nb ON nb.oid = b.typnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(b.typowner, 'USAGE')

--- columns
SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name,
       a.attnum::cardinal_number AS ordinal_position,
       (CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END)::character_data AS column_default,
       (CASE WHEN a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) THEN 'NO' ELSE 'YES' END)::yes_or_no AS is_nullable,
       (CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN nb.nspname = 'pg_catalog' THEN format_type(b.oid, NULL)
             ELSE 'USER-DEFINED' END)::character_data AS data_type,
       _pg_char_max_length(m.typ, m.mod)::cardinal_number AS character_maximum_length,
       _pg_char_octet_length(m.typ, m.mod)::cardinal_number AS character_octet_length,
       _pg_numeric_precision(m.typ, m.mod)::cardinal_number AS numeric_precision,
       _pg_numeric_precision_radix(m.typ, m.mod)::cardinal_number AS numeric_precision_radix,
       _pg_numeric_scale(m.typ, m.mod)::cardinal_number AS numeric_scale,
       _pg_datetime_precision(m.typ, m.mod)::cardinal_number AS datetime_precision,
       _pg_interval_type(m.typ, m.mod)::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema, co.collname::sql_identifier AS collation_name,
       (CASE WHEN t.typtype = 'd' THEN current_database() END)::sql_identifier AS domain_catalog,
       (CASE WHEN t.typtype = 'd' THEN nt.nspname END)::sql_identifier AS domain_schema,
       (CASE WHEN t.typtype = 'd' THEN t.typname END)::sql_identifier AS domain_name,
       current_database()::sql_identifier AS udt_catalog, nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality, a.attnum::sql_identifier AS dtd_identifier,
       'NO'::yes_or_no AS is_self_referencing,
       (CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_identity,
       (CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END)::character_data AS identity_generation,
       s.seqstart::character_data AS identity_start, s.seqincrement::character_data AS identity_increment,
       s.seqmax::character_data AS identity_maximum, s.seqmin::character_data AS identity_minimum,
       (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::yes_or_no AS identity_cycle,
       (CASE WHEN a.attgenerated <> '' THEN 'ALWAYS' ELSE 'NEVER' END)::character_data AS is_generated,
       (CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END)::character_data AS generation_expression,
       (CASE WHEN c.relkind IN ('r', 'p') OR (c.relkind IN ('v', 'f') AND pg_column_is_updatable(c.oid, a.attnum, false))
             THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_updatable
FROM pg_attribute a
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_namespace nt ON nt.oid = t.typnamespace
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
JOIN pg_namespace nb ON nb.oid = b.typnamespace
LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
     ON co.oid = a.attcollation AND (nco.nspname, co.collname) <> ('pg_catalog', 'default')
LEFT JOIN (pg_depend p JOIN pg_sequence s ON p.classid = 'pg_class'::regclass AND p.objid = s.seqrelid AND p.deptype = 'i')
     ON p.refclassid = 'pg_class'::regclass AND p.refobjid = c.oid AND p.refobjsubid = a.attnum
CROSS JOIN LATERAL (SELECT b.oid AS typ, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS mod) m
WHERE NOT pg_is_other_temp_schema(n.oid) AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')
  AND (pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'))

--- constraint_column_usage
SELECT DISTINCT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       r.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name,
       current_database()::sql_identifier AS constraint_catalog, nc.nspname::sql_identifier AS constraint_schema,
       c.conname::sql_identifier AS constraint_name
FROM pg_constraint c
JOIN pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_class r ON r.oid = CASE WHEN c.contype = 'f' THEN c.confrelid ELSE c.conrelid END
JOIN pg_namespace n ON n.oid = r.relnamespace
JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = ANY (CASE WHEN c.contype = 'f' THEN c.confkey ELSE c.conkey END)
WHERE c.contype IN ('c', 'p', 'u', 'f') AND r.relkind IN ('r', 'p') AND NOT a.attisdropped
  AND pg_has_role(r.relowner, 'USAGE')

--- constraint_table_usage
SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       r.relname::sql_identifier AS table_name, current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema, c.conname::sql_identifier AS constraint_name
FROM pg_constraint c
JOIN pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_class r ON r.oid = CASE WHEN c.contype = 'f' THEN c.confrelid ELSE c.conrelid END
JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE c.contype IN ('f', 'p', 'u') AND r.relkind IN ('r', 'p') AND pg_has_role(r.relowner, 'USAGE')

--- domain_constraints
SELECT current_database()::sql_identifier AS constraint_catalog, nc.nspname::sql_identifier AS constraint_schema,
       c.conname::sql_identifier AS constraint_name, current_database()::sql_identifier AS domain_catalog,
       n.nspname::sql_identifier AS domain_schema, t.typname::sql_identifier AS domain_name,
       (CASE WHEN c.condeferrable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deferrable,
       (CASE WHEN c.condeferred THEN 'YES' ELSE 'NO' END)::yes_or_no AS initially_deferred
FROM pg_constraint c
JOIN pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_type t ON t.oid = c.contypid
JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE')

--- domain_udt_usage
SELECT current_database()::sql_identifier AS udt_catalog, nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name, current_database()::sql_identifier AS domain_catalog,
       n.nspname::sql_identifier AS domain_schema, t.typname::sql_identifier AS domain_name
FROM pg_type t
JOIN pg_namespace n ON n.oid = t.typnamespace
JOIN pg_type b ON b.oid = t.typbasetype
JOIN pg_namespace nb ON nb.oid = b.typnamespace
WHERE t.typtype = 'd' AND pg_has_role(b.typowner, 'USAGE')

--- domains
SELECT current_database()::sql_identifier AS domain_catalog, n.nspname::sql_identifier AS domain_schema,
       t.typname::sql_identifier AS domain_name,
       (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nb.nspname = 'pg_catalog' THEN format_type(t.typbasetype, NULL)
             ELSE 'USER-DEFINED' END)::character_data AS data_type,
       _pg_char_max_length(t.typbasetype, t.typtypmod)::cardinal_number AS character_maximum_length,
       _pg_char_octet_length(t.typbasetype, t.typtypmod)::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema, co.collname::sql_identifier AS collation_name,
       _pg_numeric_precision(t.typbasetype, t.typtypmod)::cardinal_number AS numeric_precision,
       _pg_numeric_precision_radix(t.typbasetype, t.typtypmod)::cardinal_number AS numeric_precision_radix,
       _pg_numeric_scale(t.typbasetype, t.typtypmod)::cardinal_number AS numeric_scale,
       _pg_datetime_precision(t.typbasetype, t.typtypmod)::cardinal_number AS datetime_precision,
       _pg_interval_type(t.typbasetype, t.typtypmod)::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision, t.typdefault::character_data AS domain_default,
       current_database()::sql_identifier AS udt_catalog, nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality, 1::sql_identifier AS dtd_identifier
FROM pg_type t
JOIN pg_namespace n ON n.oid = t.typnamespace
JOIN pg_type b ON b.oid = t.typbasetype
JOIN pg_namespace nb ON nb.oid = b.typnamespace
LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
     ON co.oid = t.typcollation AND (nco.nspname, co.collname) <> ('pg_catalog', 'default')
WHERE t.typtype = 'd' AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'))

--- enabled_roles
SELECT r.rolname::sql_identifier AS role_name FROM pg_authid r WHERE pg_has_role(r.oid, 'USAGE')

--- key_column_usage
SELECT current_database()::sql_identifier AS constraint_catalog, k.conschema::sql_identifier AS constraint_schema,
       k.conname::sql_identifier AS constraint_name, current_database()::sql_identifier AS table_catalog,
       k.relschema::sql_identifier AS table_schema, k.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name, (k.pair).n::cardinal_number AS ordinal_position,
       (CASE WHEN k.contype = 'f' THEN _pg_index_position(k.conindid, k.confkey[(k.pair).n]) END)::cardinal_number
         AS position_in_unique_constraint
FROM (SELECT r.oid AS relid, r.relname, r.relowner, nr.nspname AS relschema, nc.nspname AS conschema, c.conname, c.contype,
             c.conindid, c.confkey, _pg_expandarray(c.conkey) AS pair
      FROM pg_constraint c
      JOIN pg_namespace nc ON nc.oid = c.connamespace
      JOIN pg_class r ON r.oid = c.conrelid
      JOIN pg_namespace nr ON nr.oid = r.relnamespace
      WHERE c.contype IN ('p', 'u', 'f') AND r.relkind IN ('r', 'p') AND NOT pg_is_other_temp_schema(nr.oid)) k
JOIN pg_attribute a ON a.attrelid = k.relid AND a.attnum = (k.pair).x
WHERE NOT a.attisdropped
  AND (pg_has_role(k.relowner, 'USAGE') OR has_column_privilege(k.relid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'))

--- parameters
SELECT current_database()::sql_identifier AS specific_catalog, q.nspname::sql_identifier AS specific_schema,
       nameconcatoid(q.proname, q.oid)::sql_identifier AS specific_name, (q.pair).n::cardinal_number AS ordinal_position,
       (CASE WHEN q.modes IS NULL THEN 'IN'
             ELSE CASE q.modes[(q.pair).n] WHEN 'i' THEN 'IN' WHEN 'o' THEN 'OUT' WHEN 'b' THEN 'INOUT' WHEN 'v' THEN 'IN'
                       WHEN 't' THEN 'OUT' END END)::character_data AS parameter_mode,
       'NO'::yes_or_no AS is_result, 'NO'::yes_or_no AS as_locator,
       nullif(q.names[(q.pair).n], '')::sql_identifier AS parameter_name,
       (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nt.nspname = 'pg_catalog' THEN format_type(t.oid, NULL)
             ELSE 'USER-DEFINED' END)::character_data AS data_type,
       NULL::cardinal_number AS character_maximum_length, NULL::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name, NULL::sql_identifier AS collation_catalog,
       NULL::sql_identifier AS collation_schema, NULL::sql_identifier AS collation_name,
       NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
       NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
       NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
       current_database()::sql_identifier AS udt_catalog, nt.nspname::sql_identifier AS udt_schema,
       t.typname::sql_identifier AS udt_name, NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name, NULL::cardinal_number AS maximum_cardinality,
       (q.pair).n::sql_identifier AS dtd_identifier,
       (CASE WHEN pg_has_role(q.proowner, 'USAGE') THEN pg_get_function_arg_default(q.oid, (q.pair).n) END)::character_data
         AS parameter_default
FROM (SELECT n.nspname, p.oid, p.proname, p.proowner, p.proargnames AS names, p.proargmodes AS modes,
             _pg_expandarray(coalesce(p.proallargtypes, p.proargtypes::oid[])) AS pair
      FROM pg_proc p
      JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE')) q
JOIN pg_type t ON t.oid = (q.pair).x
JOIN pg_namespace nt ON nt.oid = t.typnamespace

--- referential_constraints
SELECT current_database()::sql_identifier AS constraint_catalog, nc.nspname::sql_identifier AS constraint_schema,
       c.conname::sql_identifier AS constraint_name,
       (CASE WHEN nu.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS unique_constraint_catalog,
       nu.nspname::sql_identifier AS unique_constraint_schema, u.conname::sql_identifier AS unique_constraint_name,
       (CASE c.confmatchtype WHEN 'f' THEN 'FULL' WHEN 'p' THEN 'PARTIAL' WHEN 's' THEN 'NONE' END)::character_data AS match_option,
       (CASE c.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT'
             WHEN 'a' THEN 'NO ACTION' END)::character_data AS update_rule,
       (CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT'
             WHEN 'a' THEN 'NO ACTION' END)::character_data AS delete_rule
FROM pg_constraint c
JOIN pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_class r ON r.oid = c.conrelid
LEFT JOIN pg_constraint u ON u.conindid = c.conindid AND u.contype IN ('p', 'u') AND u.conrelid = c.confrelid
LEFT JOIN pg_namespace nu ON nu.oid = u.connamespace
WHERE c.contype = 'f'
  AND (pg_has_role(r.relowner, 'USAGE')
       OR has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       OR has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES'))

--- role_column_grants
SELECT grantor, grantee, table_catalog, table_schema, table_name, column_name, privilege_type, is_grantable
FROM column_privileges
WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles)

--- routine_column_usage
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog, np.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name, current_database()::sql_identifier AS routine_catalog,
       np.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
       current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name
FROM pg_proc p
JOIN pg_namespace np ON np.oid = p.pronamespace
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
JOIN pg_class c ON c.oid = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
WHERE c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE')

--- routine_privileges
SELECT grantor.rolname::sql_identifier AS grantor, grantee.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS specific_catalog, n.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name, current_database()::sql_identifier AS routine_catalog,
       n.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
       'EXECUTE'::character_data AS privilege_type,
       (CASE WHEN pg_has_role(grantee.oid, p.proowner, 'USAGE') OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace
CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
JOIN pg_authid grantor ON grantor.oid = x.grantor
JOIN (SELECT r.oid, r.rolname FROM pg_authid r UNION ALL SELECT oid '0', name 'PUBLIC') grantee ON grantee.oid = x.grantee
WHERE x.privilege_type = 'EXECUTE'
  AND (pg_has_role(grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR grantee.rolname = 'PUBLIC')

--- role_routine_grants
SELECT grantor, grantee, specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name,
       privilege_type, is_grantable
FROM routine_privileges
WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles)

--- routine_routine_usage
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog, np.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name, current_database()::sql_identifier AS routine_catalog,
       n1.nspname::sql_identifier AS routine_schema, nameconcatoid(p1.proname, p1.oid)::sql_identifier AS routine_name
FROM pg_proc p
JOIN pg_namespace np ON np.oid = p.pronamespace
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_proc'::regclass
JOIN pg_proc p1 ON p1.oid = d.refobjid
JOIN pg_namespace n1 ON n1.oid = p1.pronamespace
WHERE p.prokind IN ('f', 'p') AND p1.prokind IN ('f', 'p') AND pg_has_role(p1.proowner, 'USAGE')

--- routine_sequence_usage
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog, np.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name, current_database()::sql_identifier AS routine_catalog,
       np.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
       current_database()::sql_identifier AS sequence_catalog, n.nspname::sql_identifier AS sequence_schema,
       c.relname::sql_identifier AS sequence_name
FROM pg_proc p
JOIN pg_namespace np ON np.oid = p.pronamespace
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'S'
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE pg_has_role(c.relowner, 'USAGE')

--- routine_table_usage
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog, np.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name, current_database()::sql_identifier AS routine_catalog,
       np.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
       current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name
FROM pg_proc p
JOIN pg_namespace np ON np.oid = p.pronamespace
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
JOIN pg_class c ON c.oid = d.refobjid AND c.relkind IN ('r', 'v', 'f', 'p')
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE pg_has_role(c.relowner, 'USAGE')

--- routines
SELECT current_database()::sql_identifier AS specific_catalog, n.nspname::sql_identifier AS specific_schema,
       nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name, current_database()::sql_identifier AS routine_catalog,
       n.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
       (CASE p.prokind WHEN 'f' THEN 'FUNCTION' WHEN 'p' THEN 'PROCEDURE' END)::character_data AS routine_type,
       NULL::sql_identifier AS module_catalog, NULL::sql_identifier AS module_schema, NULL::sql_identifier AS module_name,
       NULL::sql_identifier AS udt_catalog, NULL::sql_identifier AS udt_schema, NULL::sql_identifier AS udt_name,
       (CASE WHEN p.prokind = 'p' THEN NULL WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY'
             WHEN nt.nspname = 'pg_catalog' THEN format_type(t.oid, NULL) ELSE 'USER-DEFINED' END)::character_data AS data_type,
       NULL::cardinal_number AS character_maximum_length, NULL::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name, NULL::sql_identifier AS collation_catalog,
       NULL::sql_identifier AS collation_schema, NULL::sql_identifier AS collation_name,
       NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
       NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
       NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
       (CASE WHEN nt.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS type_udt_catalog,
       nt.nspname::sql_identifier AS type_udt_schema, t.typname::sql_identifier AS type_udt_name,
       NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality, (CASE WHEN p.prokind <> 'p' THEN 0 END)::sql_identifier AS dtd_identifier,
       (CASE WHEN l.lanname = 'sql' THEN 'SQL' ELSE 'EXTERNAL' END)::character_data AS routine_body,
       (CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN p.prosrc END)::character_data AS routine_definition,
       (CASE WHEN l.lanname = 'c' THEN p.prosrc END)::character_data AS external_name,
       upper(l.lanname)::character_data AS external_language, 'GENERAL'::character_data AS parameter_style,
       (CASE WHEN p.provolatile = 'i' THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deterministic,
       'MODIFIES'::character_data AS sql_data_access,
       (CASE WHEN p.prokind <> 'p' THEN CASE WHEN p.proisstrict THEN 'YES' ELSE 'NO' END END)::yes_or_no AS is_null_call,
       NULL::character_data AS sql_path, 'YES'::yes_or_no AS schema_level_routine,
       0::cardinal_number AS max_dynamic_result_sets, NULL::yes_or_no AS is_user_defined_cast,
       NULL::yes_or_no AS is_implicitly_invocable,
       (CASE WHEN p.prosecdef THEN 'DEFINER' ELSE 'INVOKER' END)::character_data AS security_type,
       NULL::sql_identifier AS to_sql_specific_catalog, NULL::sql_identifier AS to_sql_specific_schema,
       NULL::sql_identifier AS to_sql_specific_name, 'NO'::yes_or_no AS as_locator, NULL::time_stamp AS created,
       NULL::time_stamp AS last_altered, NULL::yes_or_no AS new_savepoint_level, 'NO'::yes_or_no AS is_udt_dependent,
       NULL::character_data AS result_cast_from_data_type, NULL::yes_or_no AS result_cast_as_locator,
       NULL::cardinal_number AS result_cast_char_max_length, NULL::cardinal_number AS result_cast_char_octet_length,
       NULL::sql_identifier AS result_cast_char_set_catalog, NULL::sql_identifier AS result_cast_char_set_schema,
       NULL::sql_identifier AS result_cast_char_set_name, NULL::sql_identifier AS result_cast_collation_catalog,
       NULL::sql_identifier AS result_cast_collation_schema, NULL::sql_identifier AS result_cast_collation_name,
       NULL::cardinal_number AS result_cast_numeric_precision, NULL::cardinal_number AS result_cast_numeric_precision_radix,
       NULL::cardinal_number AS result_cast_numeric_scale, NULL::cardinal_number AS result_cast_datetime_precision,
       NULL::character_data AS result_cast_interval_type, NULL::cardinal_number AS result_cast_interval_precision,
       NULL::sql_identifier AS result_cast_type_udt_catalog, NULL::sql_identifier AS result_cast_type_udt_schema,
       NULL::sql_identifier AS result_cast_type_udt_name, NULL::sql_identifier AS result_cast_scope_catalog,
       NULL::sql_identifier AS result_cast_scope_schema, NULL::sql_identifier AS result_cast_scope_name,
       NULL::cardinal_number AS result_cast_maximum_cardinality, NULL::sql_identifier AS result_cast_dtd_identifier
FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_language l ON l.oid = p.prolang
LEFT JOIN pg_type t ON t.oid = p.prorettype AND p.prokind <> 'p'
LEFT JOIN pg_namespace nt ON nt.oid = t.typnamespace
WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE')

--- schemata
SELECT current_database()::sql_identifier AS catalog_name, n.nspname::sql_identifier AS schema_name,
       r.rolname::sql_identifier AS schema_owner, NULL::sql_identifier AS default_character_set_catalog,
       NULL::sql_identifier AS default_character_set_schema, NULL::sql_identifier AS default_character_set_name,
       NULL::character_data AS sql_path
FROM pg_namespace n
JOIN pg_authid r ON r.oid = n.nspowner
WHERE pg_has_role(n.nspowner, 'USAGE') OR has_schema_privilege(n.oid, 'CREATE, USAGE')

--- sequences
SELECT current_database()::sql_identifier AS sequence_catalog, n.nspname::sql_identifier AS sequence_schema,
       c.relname::sql_identifier AS sequence_name, format_type(s.seqtypid, NULL)::character_data AS data_type,
       _pg_numeric_precision(s.seqtypid, -1)::cardinal_number AS numeric_precision, 2::cardinal_number AS numeric_precision_radix,
       0::cardinal_number AS numeric_scale, s.seqstart::character_data AS start_value, s.seqmin::character_data AS minimum_value,
       s.seqmax::character_data AS maximum_value, s.seqincrement::character_data AS increment,
       (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::yes_or_no AS cycle_option
FROM pg_sequence s
JOIN pg_class c ON c.oid = s.seqrelid AND c.relkind = 'S'
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT pg_is_other_temp_schema(n.oid)
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'i')
  AND (pg_has_role(c.relowner, 'USAGE') OR has_sequence_privilege(c.oid, 'SELECT, UPDATE, USAGE'))

--- table_constraints
SELECT current_database()::sql_identifier AS constraint_catalog, nc.nspname::sql_identifier AS constraint_schema,
       c.conname::sql_identifier AS constraint_name, current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema, r.relname::sql_identifier AS table_name,
       (CASE c.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE'
             END)::character_data AS constraint_type,
       (CASE WHEN c.condeferrable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deferrable,
       (CASE WHEN c.condeferred THEN 'YES' ELSE 'NO' END)::yes_or_no AS initially_deferred, 'YES'::yes_or_no AS enforced,
       (CASE WHEN c.contype = 'u'
             THEN CASE WHEN (SELECT NOT x.indnullsnotdistinct FROM pg_index x WHERE x.indexrelid = c.conindid)
                       THEN 'YES' ELSE 'NO' END END)::yes_or_no AS nulls_distinct
FROM pg_constraint c
JOIN pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_class r ON r.oid = c.conrelid
JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE c.contype NOT IN ('t', 'x') AND r.relkind IN ('r', 'p') AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(r.relowner, 'USAGE')
       OR has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       OR has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES'))
UNION ALL
SELECT current_database()::sql_identifier, n.nspname::sql_identifier,
       (n.oid::text || '_' || r.oid::text || '_' || a.attnum::text || '_not_null')::sql_identifier,
       current_database()::sql_identifier, n.nspname::sql_identifier, r.relname::sql_identifier, 'CHECK'::character_data,
       'NO'::yes_or_no, 'NO'::yes_or_no, 'YES'::yes_or_no, NULL::yes_or_no
FROM pg_attribute a
JOIN pg_class r ON r.oid = a.attrelid
JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p') AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(r.relowner, 'USAGE')
       OR has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       OR has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES'))

--- table_privileges
SELECT grantor.rolname::sql_identifier AS grantor, grantee.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name, x.privilege_type::character_data AS privilege_type,
       (CASE WHEN pg_has_role(grantee.oid, c.relowner, 'USAGE') OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable,
       (CASE WHEN x.privilege_type = 'SELECT' THEN 'YES' ELSE 'NO' END)::yes_or_no AS with_hierarchy
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
JOIN pg_authid grantor ON grantor.oid = x.grantor
JOIN (SELECT r.oid, r.rolname FROM pg_authid r UNION ALL SELECT oid '0', name 'PUBLIC') grantee ON grantee.oid = x.grantee
WHERE c.relkind IN ('r', 'v', 'f', 'p')
  AND x.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER')
  AND (pg_has_role(grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR grantee.rolname = 'PUBLIC')

--- role_table_grants
SELECT grantor, grantee, table_catalog, table_schema, table_name, privilege_type, is_grantable, with_hierarchy
FROM table_privileges
WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles)

--- tables
SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       (CASE WHEN n.oid = pg_my_temp_schema() THEN 'LOCAL TEMPORARY' WHEN c.relkind IN ('r', 'p') THEN 'BASE TABLE'
             WHEN c.relkind = 'v' THEN 'VIEW' WHEN c.relkind = 'f' THEN 'FOREIGN' END)::character_data AS table_type,
       NULL::sql_identifier AS self_referencing_column_name, NULL::character_data AS reference_generation,
       (CASE WHEN t.typname IS NOT NULL THEN current_database() END)::sql_identifier AS user_defined_type_catalog,
       nt.nspname::sql_identifier AS user_defined_type_schema, t.typname::sql_identifier AS user_defined_type_name,
       (CASE WHEN c.relkind IN ('r', 'p') OR (c.relkind IN ('v', 'f') AND pg_relation_is_updatable(c.oid, false) & 8 = 8)
             THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_insertable_into,
       (CASE WHEN t.typname IS NOT NULL THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_typed,
       NULL::character_data AS commit_action
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_type t ON t.oid = c.reloftype
LEFT JOIN pg_namespace nt ON nt.oid = t.typnamespace
WHERE c.relkind IN ('r', 'v', 'f', 'p') AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(c.relowner, 'USAGE')
       OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))

--- transforms
SELECT current_database()::sql_identifier AS udt_catalog, nt.nspname::sql_identifier AS udt_schema,
       t.typname::sql_identifier AS udt_name, current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema, nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
       l.lanname::sql_identifier AS group_name, 'FROM SQL'::character_data AS transform_type
FROM pg_type t
JOIN pg_transform x ON x.trftype = t.oid
JOIN pg_language l ON l.oid = x.trflang
JOIN pg_proc p ON p.oid = x.trffromsql
JOIN pg_namespace nt ON nt.oid = t.typnamespace
JOIN pg_namespace np ON np.oid = p.pronamespace
UNION
SELECT current_database()::sql_identifier, nt.nspname::sql_identifier, t.typname::sql_identifier,
       current_database()::sql_identifier, np.nspname::sql_identifier, nameconcatoid(p.proname, p.oid)::sql_identifier,
       l.lanname::sql_identifier, 'TO SQL'::character_data
FROM pg_type t
JOIN pg_transform x ON x.trftype = t.oid
JOIN pg_language l ON l.oid = x.trflang
JOIN pg_proc p ON p.oid = x.trftosql
JOIN pg_namespace nt ON nt.oid = t.typnamespace
JOIN pg_namespace np ON np.oid = p.pronamespace
ORDER BY udt_catalog, udt_schema, udt_name, group_name, transform_type

--- triggered_update_columns
SELECT current_database()::sql_identifier AS trigger_catalog, n.nspname::sql_identifier AS trigger_schema,
       t.tgname::sql_identifier AS trigger_name, current_database()::sql_identifier AS event_object_catalog,
       n.nspname::sql_identifier AS event_object_schema, c.relname::sql_identifier AS event_object_table,
       a.attname::sql_identifier AS event_object_column
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL unnest(t.tgattr) k(num)
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num
WHERE NOT t.tgisinternal AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'INSERT, UPDATE, REFERENCES'))

--- triggers
SELECT current_database()::sql_identifier AS trigger_catalog, n.nspname::sql_identifier AS trigger_schema,
       t.tgname::sql_identifier AS trigger_name, e.word::character_data AS event_manipulation,
       current_database()::sql_identifier AS event_object_catalog, n.nspname::sql_identifier AS event_object_schema,
       c.relname::sql_identifier AS event_object_table,
       rank() OVER (PARTITION BY n.nspname::sql_identifier, c.relname::sql_identifier, e.bit, t.tgtype & 1, t.tgtype & 66
                    ORDER BY t.tgname)::cardinal_number AS action_order,
       (CASE WHEN pg_has_role(c.relowner, 'USAGE')
             THEN (regexp_match(pg_get_triggerdef(t.oid), E'.{35,} WHEN \\((.+)\\) EXECUTE FUNCTION'))[1] END)::character_data
         AS action_condition,
       substring(pg_get_triggerdef(t.oid), position('EXECUTE FUNCTION' IN substring(pg_get_triggerdef(t.oid), 48)) + 47)::character_data
         AS action_statement,
       (CASE t.tgtype & 1 WHEN 1 THEN 'ROW' ELSE 'STATEMENT' END)::character_data AS action_orientation,
       (CASE t.tgtype & 66 WHEN 2 THEN 'BEFORE' WHEN 64 THEN 'INSTEAD OF' ELSE 'AFTER' END)::character_data AS action_timing,
       t.tgoldtable::sql_identifier AS action_reference_old_table, t.tgnewtable::sql_identifier AS action_reference_new_table,
       NULL::sql_identifier AS action_reference_old_row, NULL::sql_identifier AS action_reference_new_row,
       NULL::time_stamp AS created
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN (VALUES (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE')) e(bit, word) ON t.tgtype & e.bit <> 0
WHERE NOT t.tgisinternal AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(c.relowner, 'USAGE')
       OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'))

--- udt_privileges
SELECT grantor.rolname::sql_identifier AS grantor, grantee.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS udt_catalog, n.nspname::sql_identifier AS udt_schema,
       t.typname::sql_identifier AS udt_name, 'TYPE USAGE'::character_data AS privilege_type,
       (CASE WHEN pg_has_role(grantee.oid, t.typowner, 'USAGE') OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
FROM pg_type t
JOIN pg_namespace n ON n.oid = t.typnamespace
CROSS JOIN LATERAL aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) x
JOIN pg_authid grantor ON grantor.oid = x.grantor
JOIN (SELECT r.oid, r.rolname FROM pg_authid r UNION ALL SELECT oid '0', name 'PUBLIC') grantee ON grantee.oid = x.grantee
WHERE t.typtype = 'c' AND x.privilege_type = 'USAGE'
  AND (pg_has_role(grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR grantee.rolname = 'PUBLIC')

--- role_udt_grants
SELECT grantor, grantee, udt_catalog, udt_schema, udt_name, privilege_type, is_grantable
FROM udt_privileges
WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles)

--- usage_privileges
WITH grantees AS (SELECT r.oid, r.rolname FROM pg_authid r UNION ALL SELECT oid '0', name 'PUBLIC'),
     items AS (
       SELECT n.nspname, t.typname AS name, 'DOMAIN' AS kind, t.typowner AS owner, x.*
       FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
       CROSS JOIN LATERAL aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) x
       WHERE t.typtype = 'd'
       UNION ALL
       SELECT '', f.fdwname, 'FOREIGN DATA WRAPPER', f.fdwowner, x.*
       FROM pg_foreign_data_wrapper f
       CROSS JOIN LATERAL aclexplode(coalesce(f.fdwacl, acldefault('F', f.fdwowner))) x
       UNION ALL
       SELECT '', s.srvname, 'FOREIGN SERVER', s.srvowner, x.*
       FROM pg_foreign_server s
       CROSS JOIN LATERAL aclexplode(coalesce(s.srvacl, acldefault('S', s.srvowner))) x
       UNION ALL
       SELECT n.nspname, c.relname, 'SEQUENCE', c.relowner, x.*
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
       WHERE c.relkind = 'S')
SELECT r.rolname::sql_identifier AS grantor, 'PUBLIC'::sql_identifier AS grantee,
       current_database()::sql_identifier AS object_catalog, n.nspname::sql_identifier AS object_schema,
       c.collname::sql_identifier AS object_name, 'COLLATION'::character_data AS object_type, 'USAGE'::character_data AS privilege_type,
       'NO'::yes_or_no AS is_grantable
FROM pg_collation c
JOIN pg_authid r ON r.oid = c.collowner
JOIN pg_namespace n ON n.oid = c.collnamespace
WHERE c.collencoding IN (-1, (SELECT d.encoding FROM pg_database d WHERE d.datname = current_database()))
UNION ALL
SELECT grantor.rolname::sql_identifier, grantee.rolname::sql_identifier, current_database()::sql_identifier,
       i.nspname::sql_identifier, i.name::sql_identifier, i.kind::character_data, 'USAGE'::character_data,
       (CASE WHEN pg_has_role(grantee.oid, i.owner, 'USAGE') OR i.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no
FROM items i
JOIN pg_authid grantor ON grantor.oid = i.grantor
JOIN grantees grantee ON grantee.oid = i.grantee
WHERE i.privilege_type = 'USAGE'
  AND (pg_has_role(grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR grantee.rolname = 'PUBLIC')

--- role_usage_grants
SELECT grantor, grantee, object_catalog, object_schema, object_name, object_type, privilege_type, is_grantable
FROM usage_privileges
WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles)

--- user_defined_types
SELECT current_database()::sql_identifier AS user_defined_type_catalog, n.nspname::sql_identifier AS user_defined_type_schema,
       c.relname::sql_identifier AS user_defined_type_name, 'STRUCTURED'::character_data AS user_defined_type_category,
       'YES'::yes_or_no AS is_instantiable, NULL::yes_or_no AS is_final, NULL::character_data AS ordering_form,
       NULL::character_data AS ordering_category, NULL::sql_identifier AS ordering_routine_catalog,
       NULL::sql_identifier AS ordering_routine_schema, NULL::sql_identifier AS ordering_routine_name,
       NULL::character_data AS reference_type, NULL::character_data AS data_type,
       NULL::cardinal_number AS character_maximum_length, NULL::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name, NULL::sql_identifier AS collation_catalog,
       NULL::sql_identifier AS collation_schema, NULL::sql_identifier AS collation_name,
       NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
       NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
       NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
       NULL::sql_identifier AS source_dtd_identifier, NULL::sql_identifier AS ref_dtd_identifier
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.typrelid = c.oid
WHERE c.relkind = 'c' AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'))

--- view_column_usage
SELECT DISTINCT current_database()::sql_identifier AS view_catalog, nv.nspname::sql_identifier AS view_schema,
       v.relname::sql_identifier AS view_name, current_database()::sql_identifier AS table_catalog,
       nt.nspname::sql_identifier AS table_schema, t.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
FROM pg_class v
JOIN pg_namespace nv ON nv.oid = v.relnamespace
JOIN pg_depend dv ON dv.refclassid = 'pg_class'::regclass AND dv.refobjid = v.oid AND dv.classid = 'pg_rewrite'::regclass
                 AND dv.deptype = 'i'
JOIN pg_depend dt ON dt.classid = 'pg_rewrite'::regclass AND dt.objid = dv.objid AND dt.refclassid = 'pg_class'::regclass
                 AND dt.refobjid <> v.oid
JOIN pg_class t ON t.oid = dt.refobjid AND t.relkind IN ('r', 'v', 'f', 'p')
JOIN pg_namespace nt ON nt.oid = t.relnamespace
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = dt.refobjsubid
WHERE v.relkind = 'v' AND pg_has_role(t.relowner, 'USAGE')

--- view_routine_usage
SELECT DISTINCT current_database()::sql_identifier AS table_catalog, nv.nspname::sql_identifier AS table_schema,
       v.relname::sql_identifier AS table_name, current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema, nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name
FROM pg_class v
JOIN pg_namespace nv ON nv.oid = v.relnamespace
JOIN pg_depend dv ON dv.refclassid = 'pg_class'::regclass AND dv.refobjid = v.oid AND dv.classid = 'pg_rewrite'::regclass
                 AND dv.deptype = 'i'
JOIN pg_depend dp ON dp.classid = 'pg_rewrite'::regclass AND dp.objid = dv.objid AND dp.refclassid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = dp.refobjid
JOIN pg_namespace np ON np.oid = p.pronamespace
WHERE v.relkind = 'v' AND pg_has_role(p.proowner, 'USAGE')

--- view_table_usage
SELECT DISTINCT current_database()::sql_identifier AS view_catalog, nv.nspname::sql_identifier AS view_schema,
       v.relname::sql_identifier AS view_name, current_database()::sql_identifier AS table_catalog,
       nt.nspname::sql_identifier AS table_schema, t.relname::sql_identifier AS table_name
FROM pg_class v
JOIN pg_namespace nv ON nv.oid = v.relnamespace
JOIN pg_depend dv ON dv.refclassid = 'pg_class'::regclass AND dv.refobjid = v.oid AND dv.classid = 'pg_rewrite'::regclass
                 AND dv.deptype = 'i'
JOIN pg_depend dt ON dt.classid = 'pg_rewrite'::regclass AND dt.objid = dv.objid AND dt.refclassid = 'pg_class'::regclass
                 AND dt.refobjid <> v.oid
JOIN pg_class t ON t.oid = dt.refobjid AND t.relkind IN ('r', 'v', 'f', 'p')
JOIN pg_namespace nt ON nt.oid = t.relnamespace
WHERE v.relkind = 'v' AND pg_has_role(t.relowner, 'USAGE')

--- views
SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       (CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN pg_get_viewdef(c.oid) END)::character_data AS view_definition,
       (CASE WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED' WHEN 'check_option=local' = ANY (c.reloptions)
             THEN 'LOCAL' ELSE 'NONE' END)::character_data AS check_option,
       (CASE WHEN pg_relation_is_updatable(c.oid, false) & 20 = 20 THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_updatable,
       (CASE WHEN pg_relation_is_updatable(c.oid, false) & 8 = 8 THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_insertable_into,
       (CASE WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgtype & 81 = 81)
             THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_updatable,
       (CASE WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgtype & 73 = 73)
             THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_deletable,
       (CASE WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgtype & 69 = 69)
             THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_insertable_into
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(c.relowner, 'USAGE')
       OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))

--- data_type_privileges
SELECT current_database()::sql_identifier AS object_catalog, x.objschema AS object_schema, x.objname AS object_name,
       x.objtype::character_data AS object_type, x.dtd AS dtd_identifier
FROM (SELECT udt_schema, udt_name, 'USER-DEFINED TYPE'::text, dtd_identifier FROM attributes
      UNION ALL
      SELECT table_schema, table_name, 'TABLE'::text, dtd_identifier FROM columns
      UNION ALL
      SELECT domain_schema, domain_name, 'DOMAIN'::text, dtd_identifier FROM domains
      UNION ALL
      SELECT specific_schema, specific_name, 'ROUTINE'::text, dtd_identifier FROM parameters
      UNION ALL
      SELECT specific_schema, specific_name, 'ROUTINE'::text, dtd_identifier FROM routines
     ) x(objschema, objname, objtype, dtd)

--- element_types
SELECT current_database()::sql_identifier AS object_catalog, n.nspname::sql_identifier AS object_schema,
       x.objname::sql_identifier AS object_name, x.objtype::character_data AS object_type,
       x.dtd::sql_identifier AS collection_type_identifier,
       (CASE WHEN nb.nspname = 'pg_catalog' THEN format_type(b.oid, NULL) ELSE 'USER-DEFINED' END)::character_data AS data_type,
       NULL::cardinal_number AS character_maximum_length, NULL::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema, co.collname::sql_identifier AS collation_name,
       NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
       NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
       NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision, NULL::character_data AS domain_default,
       current_database()::sql_identifier AS udt_catalog, nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name, NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name, NULL::cardinal_number AS maximum_cardinality,
       ('a' || x.dtd::text)::sql_identifier AS dtd_identifier
FROM (SELECT c.relnamespace, c.relname, CASE WHEN c.relkind = 'c' THEN 'USER-DEFINED TYPE' ELSE 'TABLE' END, a.attnum::int,
             a.atttypid, a.attcollation
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relkind IN ('r', 'v', 'f', 'c', 'p') AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT t.typnamespace, t.typname, 'DOMAIN', 1, t.typbasetype, t.typcollation FROM pg_type t WHERE t.typtype = 'd'
      UNION ALL
      SELECT q.pronamespace, nameconcatoid(q.proname, q.oid), 'ROUTINE', (q.pair).n, (q.pair).x, 0
      FROM (SELECT p.pronamespace, p.proname, p.oid,
                   _pg_expandarray(coalesce(p.proallargtypes, p.proargtypes::oid[])) AS pair FROM pg_proc p) q
      UNION ALL
      SELECT p.pronamespace, nameconcatoid(p.proname, p.oid), 'ROUTINE', 0, p.prorettype, 0 FROM pg_proc p
     ) x(objns, objname, objtype, dtd, typ, coll)
JOIN pg_namespace n ON n.oid = x.objns
JOIN pg_type arr ON arr.oid = x.typ AND arr.typelem <> 0 AND arr.typlen = -1
JOIN pg_type b ON b.oid = arr.typelem
JOIN pg_namespace nb ON nb.oid = b.typnamespace
LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
     ON co.oid = x.coll AND (nco.nspname, co.collname) <> ('pg_catalog', 'default')
WHERE (n.nspname::text, x.objname::text, x.objtype, x.dtd::text) IN
      (SELECT object_schema::text, object_name::text, object_type::text, dtd_identifier::text FROM data_type_privileges)

--- _pg_foreign_table_columns
SELECT n.nspname, c.relname, a.attname, a.attfdwoptions
FROM pg_foreign_table f
JOIN pg_class c ON c.oid = f.ftrelid AND c.relkind = 'f'
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES')

--- column_options
SELECT current_database()::sql_identifier AS table_catalog, c.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name, c.attname::sql_identifier AS column_name,
       o.option_name::sql_identifier AS option_name, o.option_value::character_data AS option_value
FROM _pg_foreign_table_columns c, LATERAL pg_options_to_table(c.attfdwoptions) o

--- _pg_foreign_data_wrappers
SELECT w.oid, w.fdwowner, w.fdwoptions, current_database()::sql_identifier AS foreign_data_wrapper_catalog,
       w.fdwname::sql_identifier AS foreign_data_wrapper_name, r.rolname::sql_identifier AS authorization_identifier,
       'c'::character_data AS foreign_data_wrapper_language
FROM pg_foreign_data_wrapper w
JOIN pg_authid r ON r.oid = w.fdwowner
WHERE pg_has_role(w.fdwowner, 'USAGE') OR has_foreign_data_wrapper_privilege(w.oid, 'USAGE')

--- foreign_data_wrapper_options
SELECT w.foreign_data_wrapper_catalog, w.foreign_data_wrapper_name, o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
FROM _pg_foreign_data_wrappers w, LATERAL pg_options_to_table(w.fdwoptions) o

--- foreign_data_wrappers
SELECT foreign_data_wrapper_catalog, foreign_data_wrapper_name, authorization_identifier, NULL::character_data AS library_name,
       foreign_data_wrapper_language
FROM _pg_foreign_data_wrappers

--- _pg_foreign_servers
SELECT s.oid, s.srvoptions, current_database()::sql_identifier AS foreign_server_catalog,
       s.srvname::sql_identifier AS foreign_server_name, current_database()::sql_identifier AS foreign_data_wrapper_catalog,
       w.fdwname::sql_identifier AS foreign_data_wrapper_name, s.srvtype::character_data AS foreign_server_type,
       s.srvversion::character_data AS foreign_server_version, r.rolname::sql_identifier AS authorization_identifier
FROM pg_foreign_server s
JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
JOIN pg_authid r ON r.oid = s.srvowner
WHERE pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE')

--- foreign_server_options
SELECT s.foreign_server_catalog, s.foreign_server_name, o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
FROM _pg_foreign_servers s, LATERAL pg_options_to_table(s.srvoptions) o

--- foreign_servers
SELECT foreign_server_catalog, foreign_server_name, foreign_data_wrapper_catalog, foreign_data_wrapper_name, foreign_server_type,
       foreign_server_version, authorization_identifier
FROM _pg_foreign_servers

--- _pg_foreign_tables
SELECT current_database()::sql_identifier AS foreign_table_catalog, n.nspname::sql_identifier AS foreign_table_schema,
       c.relname::sql_identifier AS foreign_table_name, f.ftoptions, current_database()::sql_identifier AS foreign_server_catalog,
       s.srvname::sql_identifier AS foreign_server_name, r.rolname::sql_identifier AS authorization_identifier
FROM pg_foreign_table f
JOIN pg_foreign_server s ON s.oid = f.ftserver
JOIN pg_class c ON c.oid = f.ftrelid AND c.relkind = 'f'
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_authid r ON r.oid = c.relowner
WHERE pg_has_role(c.relowner, 'USAGE')
   OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
   OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')

--- foreign_table_options
SELECT f.foreign_table_catalog, f.foreign_table_schema, f.foreign_table_name, o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
FROM _pg_foreign_tables f, LATERAL pg_options_to_table(f.ftoptions) o

--- foreign_tables
SELECT foreign_table_catalog, foreign_table_schema, foreign_table_name, foreign_server_catalog, foreign_server_name
FROM _pg_foreign_tables

--- _pg_user_mappings
SELECT m.oid, m.umoptions, m.umuser,
       (CASE WHEN m.umuser = 0 THEN 'PUBLIC' ELSE r.rolname END)::sql_identifier AS authorization_identifier,
       s.foreign_server_catalog, s.foreign_server_name, s.authorization_identifier AS srvowner
FROM pg_user_mapping m
LEFT JOIN pg_authid r ON r.oid = m.umuser
JOIN _pg_foreign_servers s ON s.oid = m.umserver

--- user_mapping_options
SELECT m.authorization_identifier, m.foreign_server_catalog, m.foreign_server_name, o.option_name::sql_identifier AS option_name,
       (CASE WHEN (m.umuser <> 0 AND m.authorization_identifier = current_user)
                  OR (m.umuser = 0 AND pg_has_role(m.srvowner::name, 'USAGE'))
                  OR (SELECT r.rolsuper FROM pg_authid r WHERE r.rolname = current_user)
             THEN o.option_value END)::character_data AS option_value
FROM _pg_user_mappings m, LATERAL pg_options_to_table(m.umoptions) o

--- user_mappings
SELECT authorization_identifier, foreign_server_catalog, foreign_server_name FROM _pg_user_mappings
