#!/bin/sh
# bench/run.sh [SECONDS [ROUNDS]]: pgbench's built-in scripts in every protocol against minipg and
# PostgreSQL 15, in turn, with the same durability and memory; prints both medians and their ratio
# (minipg / PostgreSQL, transactions a second). SCALE and CLIENTS are 20 and 8 unless set.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh test
. scripts/env.sh
seconds=${1:-15}
rounds=${2:-3}
scale=${SCALE:-20}
clients=${CLIENTS:-8}
pgbin=/usr/lib/postgresql/15/bin
dir=$(mktemp -d)
minipg= postgres=
stop() {
	[ -z "$minipg" ] || kill "$minipg" 2>/dev/null || :
	[ -z "$postgres" ] || kill -INT "$postgres" 2>/dev/null || :
	wait
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

# PostgreSQL does not start as root.
as=
if [ "$(id -u)" = 0 ]; then
	as="setpriv --reuid=postgres --regid=postgres --clear-groups"
	chown postgres "$dir"
fi

go build -buildvcs=false -o "$dir/minipg" ./cmd/minipg
"$dir/minipg" -D "$dir/m" -h "" -p 5441 -k "$dir" -c shared_buffers=1GB -c max_wal_size=8GB \
	--metrics-listen "" 2>"$dir/minipg.log" &
minipg=$!
$as $pgbin/initdb -D "$dir/p" -U postgres -A trust --locale=C.UTF-8 -E UTF8 >/dev/null
$as $pgbin/postgres -D "$dir/p" -p 5442 -k "$dir" -h "" -c shared_buffers=1GB -c max_wal_size=8GB \
	>"$dir/postgres.log" 2>&1 &
postgres=$!
for port in 5441 5442; do
	tries=0
	until $pgbin/pg_isready -q -h "$dir" -p $port; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { cat "$dir"/*.log >&2; exit 1; }
		sleep 0.1
	done
	$pgbin/pgbench -q -h "$dir" -p $port -U postgres -i -s "$scale" postgres 2>/dev/null
done

tps() { # PORT ARGUMENTS...
	port=$1
	shift
	$pgbin/pgbench -h "$dir" -p "$port" -U postgres -c "$clients" -j 2 -T "$seconds" -n "$@" postgres |
		sed -n 's/^tps = \([0-9]*\).*/\1/p'
}
median() { sort -n "$1" | awk '{a[NR]=$1} END {print a[int((NR+1)/2)]}'; }

printf '%-14s %-9s %10s %10s %6s\n' script protocol minipg postgres ratio
for script in tpcb-like simple-update select-only; do
	for protocol in simple extended prepared; do
		: >"$dir/1"
		: >"$dir/2"
		round=0
		while [ $round -lt "$rounds" ]; do
			tps 5441 -b $script -M $protocol >>"$dir/1"
			tps 5442 -b $script -M $protocol >>"$dir/2"
			round=$((round + 1))
		done
		m=$(median "$dir/1")
		p=$(median "$dir/2")
		printf '%-14s %-9s %10s %10s %6s\n' $script $protocol "$m" "$p" "$(awk "BEGIN {printf \"%.2f\", $m / $p}")"
	done
done
