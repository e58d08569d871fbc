#!/bin/sh
# setup.sh build|test: installs what is missing on a Debian machine, and nothing else.
#   build: a C compiler (the SQL grammar is C) and psql
#   test:  also PostgreSQL 15, for pgbench and to compare with, and Prometheus, to read the metrics
set -eu

what=${1:-build}
pgbin=/usr/lib/postgresql/15/bin

if ! command -v go >/dev/null 2>&1 && [ -x /usr/local/go/bin/go ]; then
	PATH=$PATH:/usr/local/go/bin
fi
if ! command -v go >/dev/null 2>&1; then
	echo "setup: Go is not installed: see https://go.dev/doc/install" >&2
	exit 1
fi

missing=
if ! command -v gcc >/dev/null 2>&1 || ! [ -e /usr/include/stdlib.h ]; then
	missing="$missing gcc libc6-dev"
fi
if ! [ -x $pgbin/psql ]; then
	missing="$missing postgresql-client-15"
fi
if [ "$what" = test ]; then
	if ! [ -x $pgbin/postgres ] || ! [ -x $pgbin/pgbench ]; then
		missing="$missing postgresql-15"
	fi
	if ! [ -x /usr/bin/time ] && ! command -v ps >/dev/null 2>&1; then
		missing="$missing procps"
	fi
fi
# Prometheus is taken out of its package, which would start a service. It goes where env.sh looks for tools.
prometheus=
if [ "$what" = test ] && ! command -v prometheus >/dev/null 2>&1 && ! [ -x .bin/prometheus ]; then
	prometheus=yes
fi
[ -n "$missing$prometheus" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	[ -n "$missing" ] || exit 0 # the tests that want prometheus say that they did not run
	echo "setup: install these (Debian's names) and start again:$missing" >&2
	exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
	root=sudo
fi
echo "setup: installing$missing${prometheus:+ prometheus (in .bin)}" >&2
install() {
	$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}
$root apt-get update -qq || [ -z "$missing" ]
case $missing in
*postgresql-15*)
	# Its packages start a server of their own on port 5432, which is not wanted here.
	install postgresql-common
	conf=/etc/postgresql-common/createcluster.conf
	if [ -e $conf ]; then
		$root sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' $conf
	fi
	;;
esac
if [ -n "$missing" ]; then
	# shellcheck disable=SC2086 # a list of words
	install $missing
fi
if [ -n "$prometheus" ]; then
	unpacked=$(mktemp -d)
	trap 'rm -rf "$unpacked"' EXIT
	mkdir -p .bin
	if (cd "$unpacked" && apt-get download -qq prometheus && dpkg -x prometheus_*.deb .) >/dev/null 2>&1; then
		mv "$unpacked/usr/bin/prometheus" .bin/
	else
		echo "setup: no prometheus: the test of the dashboard will say that it did not run" >&2
	fi
fi
