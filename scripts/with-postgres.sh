#!/bin/sh
# with-postgres.sh COMMAND...: runs a command with MINIPG_ORACLE, the DSN of a PostgreSQL 15 of its own that lives
# as long as the command.
set -eu

pgbin=${PGBIN:-/usr/lib/postgresql/15/bin}
dir=$(mktemp -d "${TMPDIR:-/tmp}/minipg-pg.XXXXXX")
as=
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
	chown postgres "$dir"
	as="runuser -u postgres --"
fi
stop() {
	(cd / && $as "$pgbin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1) || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

here=$PWD
cd /
$as "$pgbin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
cat >>"$dir/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$dir'
fsync = off
timezone = 'UTC'
END
$as "$pgbin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null || {
	cat "$dir/log" >&2
	exit 1
}
cd "$here"
MINIPG_ORACLE="host=$dir port=5432 user=postgres dbname=postgres" "$@"
