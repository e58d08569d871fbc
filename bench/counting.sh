#!/bin/sh
# bench/counting.sh [SECONDS [BLOCKS]]: what counting costs. Builds minipg as it is and with the tag
# minipg_nocount, which compiles the counts of waits and latches out, and runs pgbench -S and the
# experiment E7 (INSERT into an unlogged table with a serial key) against both in blocks of
# counted, not, not, counted and the other way round. Each block has two servers of its own, for a process keeps the luck it has with its memory
# all its life, and they have one core and pgbench another, for where the kernel moves them is most of the noise
# otherwise. For each script it prints the transactions a second, the server's CPU time a
# transaction, the mean loss over the blocks, and the bound the loss is below with 95 % confidence
# (one-sided, Student's t on the blocks' log ratios). SCALE, CLIENTS and E7CLIENTS are 10, 8 and 64 unless set,
# SCRIPTS "-S E7".
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh test
. scripts/env.sh
seconds=${1:-2}
blocks=${2:-25}
scale=${SCALE:-10}
clients=${CLIENTS:-8}
e7clients=${E7CLIENTS:-64}
pgbin=/usr/lib/postgresql/15/bin
hertz=$(getconf CLK_TCK)
dir=$(mktemp -d)
on= off=
stop() {
	for pid in $on $off; do kill -INT "$pid" 2>/dev/null || :; done
	wait
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

[ "$(nproc)" -ge 2 ] || { echo "counting.sh: the server and pgbench need a core each" >&2; exit 1; }
serve() { # NAME PORT
	taskset -c 0 "$dir/$1" -D "$dir/$1.data" -h "" -p "$2" -k "$dir" -c shared_buffers=512MB -c max_wal_size=8GB \
		-c max_connections=300 -c synchronous_commit=off --metrics-listen "" 2>"$dir/$1.log" &
}
run_sql() { psql -qAtX -v ON_ERROR_STOP=1 -h "$dir" -p "$1" -U postgres -c "$2" >/dev/null; }

go build -buildvcs=false -o "$dir/on" ./cmd/minipg
go build -buildvcs=false -tags minipg_nocount -o "$dir/off" ./cmd/minipg
start() { # ORDER of the two
	for build in $1; do
		case $build in
		on) serve on 5451 && on=$! ;;
		off) serve off 5452 && off=$! ;;
		esac
	done
	for port in 5451 5452; do
		tries=0
		until $pgbin/pg_isready -q -h "$dir" -p $port; do
			tries=$((tries + 1))
			[ $tries -lt 100 ] || { cat "$dir"/*.log >&2; exit 1; }
			sleep 0.1
		done
	done
}
finish() {
	kill -INT "$on" "$off"
	wait "$on" "$off"
	on= off=
}
start "on off"
for port in 5451 5452; do
	$pgbin/pgbench -q -h "$dir" -p $port -U postgres -i -s "$scale" postgres 2>/dev/null
	run_sql $port "CREATE UNLOGGED TABLE ordered (id serial primary key, value text not null)"
done
finish
echo "INSERT INTO ordered (value) VALUES ('abcdefghijklmnoprsqtuvwxyz');" >"$dir/e7.sql"

cpu() { sed 's/.*) //' "/proc/$1/stat" | awk '{print $12 + $13}'; }

# once runs one script and prints transactions a second and CPU microseconds a transaction.
once() { # on|off SCRIPT SECONDS
	time=$3
	port=5451 pid=$on
	[ "$1" = on ] || { port=5452 pid=$off; }
	if [ "$2" = E7 ]; then
		run_sql $port "TRUNCATE ordered RESTART IDENTITY"
		set -- -f "$dir/e7.sql" -c "$e7clients"
	else
		set -- -S -c "$clients"
	fi
	run_sql $port CHECKPOINT
	before=$(cpu "$pid")
	taskset -c 1 $pgbin/pgbench -h "$dir" -p $port -U postgres -n -M prepared -j 2 -T "$time" "$@" postgres >"$dir/out" 2>&1 ||
		{ cat "$dir/out" >&2; exit 1; }
	after=$(cpu "$pid")
	awk -v ticks=$((after - before)) -v hz="$hertz" '
		/^number of transactions actually processed/ {n = $6 + 0}
		/^number of failed/ && $5 + 0 > 0 {print "failed transactions" >"/dev/stderr"; exit 1}
		/^tps/ {printf "%s %.3f\n", $3, ticks / hz * 1e6 / n}' "$dir/out"
}

for script in ${SCRIPTS:--S E7}; do
	: >"$dir/runs"
	block=0
	while [ $block -lt "$blocks" ]; do
		# Who is first is so in every other block.
		order="on off" runs="on off off on"
		[ $((block % 2)) = 0 ] || order="off on" runs="off on on off"
		start "$order"
		for build in $order; do once $build $script 1 >/dev/null; done # warm
		for build in $runs; do
			echo "$block $build $(once $build $script "$seconds")" >>"$dir/runs"
		done
		finish
		block=$((block + 1))
	done
	awk -v script="$script" -v seconds="$seconds" '
		# t95 approximates the 0.95 quantile of t with f degrees of freedom (Cornish-Fisher; within 1 % from 3 on).
		function t95(f, z) {
			z = 1.6448536
			if (f == 1) return 6.3138
			if (f == 2) return 2.9200
			return z + (z^3 + z) / (4 * f) + (5 * z^5 + 16 * z^3 + 3 * z) / (96 * f^2) + (3 * z^7 + 19 * z^5 + 17 * z^3 - 15 * z) / (384 * f^3)
		}
		function show(what, d, blocks, sum, sq, i, mean, sd, bound) {
			for (i = 0; i < blocks; i++) {sum += d[i]; sq += d[i]^2}
			mean = sum / blocks
			sd = blocks > 1 ? sqrt((sq - blocks * mean^2 > 0 ? sq - blocks * mean^2 : 0) / (blocks - 1)) : 0
			if (blocks < 2) {printf "%-3s %-22s loss %6.2f %%, no bound from one block\n", script, what, 100 * (1 - exp(-mean)); return}
			bound = mean + t95(blocks - 1) * sd / sqrt(blocks)
			printf "%-3s %-22s loss %6.2f %%, with 95 %% confidence below %6.2f %%\n", script, what, 100 * (1 - exp(-mean)), 100 * (1 - exp(-bound))
		}
		{
			n++
			blocks = $1 + 1
			sign = $2 == "on" ? 1 : -1
			tps[$1] -= sign * log($3) / 2
			cpu[$1] += sign * log($4) / 2
			mean[$2] += $3; used[$2] += $4; count[$2]++
		}
		END {
			printf "%-3s %d runs of %d s: %.0f transactions/s counted, %.0f not; CPU %.2f us a transaction, %.2f\n", script, n, seconds,
				mean["on"] / count["on"], mean["off"] / count["off"], used["on"] / count["on"], used["off"] / count["off"]
			show("transactions a second:", tps, blocks)
			show("CPU time:", cpu, blocks)
		}' "$dir/runs"
done
