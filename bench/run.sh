#!/bin/sh
# bench/run.sh [all] [FLAGS]: minipg and PostgreSQL 15 in turn, with the same durability and memory, and a Markdown
# table of the ratios. Without "all" the built-in scripts of pgbench at 8 clients, in every protocol; with it every
# row. --help lists the flags.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh test
. scripts/env.sh
if [ "${1:-}" = all ]; then
	shift
else
	set -- --builtin "$@"
fi
go build -buildvcs=false -o .bin/bench ./bench
exec .bin/bench "$@"
