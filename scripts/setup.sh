#!/bin/sh
# setup.sh build|test: installs what is missing on a Debian machine, and nothing else.
#   build: a C compiler (the SQL grammar is C) and psql
#   test:  also PostgreSQL 15, for pgbench and to compare with
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
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: install these (Debian's names) and start again:$missing" >&2
	exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
	root=sudo
fi
echo "setup: installing$missing" >&2
install() {
	$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}
$root apt-get update -qq
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
# shellcheck disable=SC2086 # a list of words
install $missing
