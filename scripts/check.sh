#!/bin/sh
# check.sh: the fast loop. Build, vet, staticcheck, gofumpt, unit tests.
set -eu
cd "$(dirname "$0")/.."
. scripts/env.sh

step build
go build -buildvcs=false ./...
step vet
go vet ./...
step staticcheck
sh scripts/tools.sh
staticcheck ./...
step gofumpt
unformatted=$(git ls-files -z '*.go' 2>/dev/null | xargs -0 -r gofumpt -l)
if [ -n "$unformatted" ]; then
	echo "not formatted by gofumpt:" >&2
	echo "$unformatted" >&2
	exit 1
fi
step unit tests
go list ./... | grep -v /tests/ | xargs go test
