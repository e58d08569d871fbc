#!/bin/sh
# tools.sh: installs the linters, of the versions named here, into .bin.
set -eu
cd "$(dirname "$0")/.."
. scripts/env.sh

get() { # NAME MODULE VERSION
	if ! [ -e "$tools/$1-$3" ]; then
		GOBIN=$tools GOFLAGS= go install "$2@$3"
		touch "$tools/$1-$3"
	fi
}
get gofumpt mvdan.cc/gofumpt v0.12.0
get staticcheck honnef.co/go/tools/cmd/staticcheck v0.8.2
