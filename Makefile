.PHONY: build run test check fmt lint bench lab goldens

build:
	go build -buildvcs=false -o bin/minipg ./cmd/minipg

# Does all set-up, builds, and starts the server on ./minipg-data.
run:
	./run

# Does all set-up and runs every test.
test:
	./test

# The fast loop: build, vet, staticcheck, gofumpt, unit tests.
check:
	sh scripts/check.sh

fmt:
	sh scripts/tools.sh
	git ls-files -z '*.go' | xargs -0 .bin/gofumpt -w

# With golangci-lint, where it is installed.
lint:
	golangci-lint run ./...

# pgbench side by side against minipg and PostgreSQL 15.
bench:
	./bench/run.sh

# The experiments; docs/lab.md says what to do with it.
lab:
	go build -o bin/minipg-lab ./cmd/minipg-lab

# Records the goldens anew from a PostgreSQL 15 that the script starts.
goldens:
	sh scripts/goldens.sh
