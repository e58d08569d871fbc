#!/bin/sh
# goldens.sh: records all goldens anew from a PostgreSQL 15.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh test
. scripts/env.sh
sh scripts/with-postgres.sh sh -c '
	go test ./tests/goldens -count=1 -run TestPostgreSQL -rewrite &&
	go test ./tests/e2e -count=1 -run "TestWire|TestPsql$" -rewrite'
