// Command gen writes the table of configuration parameters: their shape as a PostgreSQL 15 reports it
// in pg_settings, and from words.txt what minipg does with each (I implemented, H harmless, L locale
// names only, D default only) and its description. It runs by go generate in the folder above; PGHOST and
// the like choose the server.
package main

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// own are minipg's parameters, in the order of the columns below.
var own = [][]string{
	{"relation_extension_lock", "enum", "", "postmaster", "", "", "table", "table,heavyweight", extension, "The lock under which relations grow: a light table of words or the lock manager."},
	{"relation_extension_lock_entries", "integer", "", "postmaster", "1", "65536", "1024", "", extension, "Entries of the light table of extension locks."},
	{"relation_extension_policy", "enum", "", "user", "", "", "bulk", "fixed,waiters,bulk,group", extension, "How many blocks a relation grows by, and for whom."},
	{"relation_extension_blocks", "integer", "", "user", "1", "4096", "1", "", extension, "Blocks that the policy \"fixed\" extends by."},
	{"relation_extension_prepare", "enum", "", "user", "", "", "before", "before,under", extension, "Whether buffers are found and cleaned before the extension lock or under it."},
	{"relation_extension_publish", "enum", "", "user", "", "", "fsm", "fsm,self", extension, "Who gets the surplus blocks: all through the free space map, or the session that extended."},
	{"relation_extension_recheck", "bool", "", "user", "", "", "on", "", extension, "Whether the free space map is searched again after waiting for the extension lock."},
	{"btree_leaf_lock", "enum", "", "user", "", "", "exclusive", "exclusive,upgrade", indexes, "Whether an insertion latches the leaf exclusively at once or after a shared look."},
	{"btree_combine", "bool", "", "user", "", "", "off", "", indexes, "Whether a session that finds the rightmost leaf latched leaves its entry with another that waits for it."},
	{"btree_fastpath", "bool", "", "user", "", "", "on", "", indexes, "Whether the rightmost leaf is kept at hand for ascending keys."},
	{"metrics_listen", "string", "", "postmaster", "", "", "127.0.0.1:9187", "", server, "Address of the page of metrics and health; empty for none."},
	{"max_message_size", "integer", "kB", "sighup", "64", "1048576", "1048576", "", server, "Largest message a client may send."},
	{"wait_history_threshold", "real", "ms", "sighup", "0", "86400000", "10", "", server, "Shortest wait kept in minipg_wait_history."},
}

const (
	extension = "minipg / Relation Extension"
	indexes   = "minipg / Indexes"
	server    = "minipg / Server"
)

// defaults differ from PostgreSQL's boot values: what initdb or the build would have set.
var defaults = map[string]string{
	"TimeZone": "Etc/UTC", "log_timezone": "Etc/UTC", "client_encoding": "UTF8", "server_encoding": "UTF8",
	"lc_collate": "C.UTF-8", "lc_ctype": "C.UTF-8", "lc_messages": "C.UTF-8", "lc_monetary": "C.UTF-8",
	"lc_numeric": "C.UTF-8", "lc_time": "C.UTF-8", "data_checksums": "on", "server_version": "15.18 (minipg)",
	"default_text_search_config": "pg_catalog.english", "max_stack_depth": "2048", "krb_server_keyfile": "",
	"unix_socket_directories": "/tmp", "ssl_library": "", "jit_provider": "", "listen_addresses": "127.0.0.1",
	"session_authorization": "", "dynamic_library_path": "$libdir",
}

// hidden are known to SHOW and SET but not listed (GUC_NO_SHOW_ALL).
var hidden = [][]string{
	{"role", "string", "", "user", "", "", "none", "", "Ungrouped", "The role whose privileges the session uses."},
	{"session_authorization", "string", "", "user", "", "", "", "", "Ungrouped", "The user the session acts as."},
	{"is_superuser", "bool", "", "internal", "", "", "off", "", "Ungrouped", "Whether the present user is a superuser."},
	{"seed", "real", "", "user", "-1", "1", "0", "", "Ungrouped", "Seed of random()."},
}

var reported = []string{
	"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
	"IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization",
	"standard_conforming_strings", "TimeZone",
}

// lists are parameters whose value is a list of names (GUC_LIST_INPUT), quoted ones with a q.
var lists = map[string]string{
	"DateStyle": "l", "search_path": "q", "temp_tablespaces": "q", "local_preload_libraries": "q",
	"session_preload_libraries": "q", "shared_preload_libraries": "q", "log_destination": "l", "listen_addresses": "l",
	"unix_socket_directories": "q", "synchronous_standby_names": "l", "wal_consistency_checking": "l",
	"restrict_nonsystem_relation_kind": "l",
}

// superuserOnly are shown to superusers and pg_read_all_settings alone.
var superuserOnly = []string{
	"dynamic_library_path", "session_preload_libraries", "shared_preload_libraries", "local_preload_libraries", "krb_server_keyfile",
	"log_directory", "log_filename", "unix_socket_directories", "data_directory", "config_file", "hba_file", "ident_file",
	"external_pid_file", "ssl_passphrase_command", "primary_conninfo",
}

type param struct {
	fields  []string // name, vartype, unit, context, min, max, boot, enums, category, desc
	support string
	flags   string
	hidden  bool
}

func main() {
	log.SetFlags(0)
	words := readWords()
	var params []param
	for _, r := range query(`SELECT name, vartype, coalesce(unit, ''), context, coalesce(min_val, ''), coalesce(max_val, ''),
			coalesce(boot_val, ''), array_to_string(enumvals, ','), category, '', array_to_string(pg_settings_get_flags(name), ',')
		FROM pg_settings WHERE name !~ '\.'`) {
		w, ok := words[r[0]]
		if !ok {
			log.Fatalf("words.txt lacks %s", r[0])
		}
		r[9] = w[1]
		params = append(params, param{fields: r[:10], support: w[0], flags: r[10]})
	}
	for _, o := range own {
		params = append(params, param{fields: o, support: "I"})
	}
	for _, h := range hidden {
		params = append(params, param{fields: h, support: "I", flags: "NO_SHOW_ALL", hidden: true})
	}
	slices.SortFunc(params, func(a, b param) int {
		return strings.Compare(strings.ToLower(a.fields[0]), strings.ToLower(b.fields[0]))
	})
	write(params)
}

func readWords() map[string][2]string {
	data, err := os.ReadFile("gen/words.txt")
	if err != nil {
		log.Fatal(err)
	}
	out := map[string][2]string{}
	for _, l := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.SplitN(l, "|", 3)
		out[f[0]] = [2]string{f[1], f[2]}
	}
	return out
}

func query(sql string) [][]string {
	ctx := context.Background()
	cfg, err := pgx.ParseConfig("dbname=template1 user=postgres")
	if err != nil {
		log.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	res, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	var out [][]string
	for _, r := range res[0].Rows {
		var row []string
		for _, c := range r {
			row = append(row, string(c))
		}
		out = append(out, row)
	}
	return out
}

func write(params []param) {
	var b bytes.Buffer
	b.WriteString("// Code generated by settings/gen from PostgreSQL 15 and words.txt; DO NOT EDIT.\n\npackage settings\n\nimport \"math\"\n\n")
	b.WriteString("// The parameters. An ID is the position in the table.\nconst (\n")
	for i, p := range params {
		fmt.Fprintf(&b, "%s", camel(p.fields[0]))
		if i == 0 {
			b.WriteString(" ID = iota")
		}
		b.WriteString("\n")
	}
	b.WriteString("\nnumParams\n)\n\n// params are sorted by their names in lower case.\nvar params = [...]Param{\n")
	kinds := map[string]string{"bool": "Bool", "integer": "Int", "real": "Real", "string": "String", "enum": "Enum"}
	support := map[string]string{"I": "Implemented", "H": "Harmless", "D": "DefaultOnly", "L": "LocaleC"}
	for _, p := range params {
		f := p.fields
		fmt.Fprintf(&b, "{Name: %q, Kind: %s, Context: %s, Category: %q, Desc: %q, id: %s", f[0], kinds[f[1]], camel(f[3]), f[8], f[9], camel(f[0]))
		if f[2] != "" {
			fmt.Fprintf(&b, ", Unit: %q", f[2])
		}
		if f[4] != "" {
			fmt.Fprintf(&b, ", Min: %s, Max: %s", number(f[4]), number(f[5]))
		}
		if f[6] != "" {
			fmt.Fprintf(&b, ", Boot: %q", f[6])
		}
		if d, ok := defaults[f[0]]; ok && d != f[6] {
			fmt.Fprintf(&b, ", hasDefault: true, dflt: %q", d)
		}
		if f[1] == "enum" {
			fmt.Fprintf(&b, ", Enums: %#v", strings.Split(strings.ReplaceAll(f[7], `"`, ""), ","))
		}
		flag := func(cond bool, name string) {
			if cond {
				fmt.Fprintf(&b, ", %s: true", name)
			}
		}
		flag(slices.Contains(reported, f[0]), "Report")
		flag(p.hidden, "NoShowAll")
		flag(strings.Contains(p.flags, "NO_RESET_ALL"), "NoResetAll")
		flag(strings.Contains(p.flags, "EXPLAIN"), "Explain")
		flag(strings.Contains(p.flags, "NOT_IN_SAMPLE"), "NotInSample")
		flag(strings.Contains(p.flags, "RUNTIME_COMPUTED"), "RuntimeComputed")
		flag(slices.Contains(superuserOnly, f[0]), "SuperuserOnly")
		flag(lists[f[0]] != "", "List")
		flag(lists[f[0]] == "q", "ListQuote")
		if s := support[p.support]; s != "Implemented" {
			fmt.Fprintf(&b, ", Support: %s", s)
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("params_gen.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
}

func number(s string) string {
	if strings.HasPrefix(s, "1.79769e+308") {
		return "math.MaxFloat64"
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		log.Fatal(err)
	}
	return s
}

func camel(s string) string {
	var b strings.Builder
	for _, p := range strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(p[:1]) + p[1:])
	}
	return b.String()
}
