#!/usr/bin/env bash
# gofmt, go vet and staticcheck with and without native code, and govulncheck
# where its database can be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "lint: run gofmt -w on:" >&2
	echo "$unformatted" >&2
	exit 1
fi
export CGO_LDFLAGS=-L$PWD/.deps/lib
for tags in "" onnx,browser,llama,clients; do
	go vet -tags "$tags" ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags "$tags" ./...
done
(cd bench/peers && go vet -tags onnx,ORT ./...) # a module of its own
echo "lint: gofmt, vet and staticcheck found nothing"

if out=$(go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -tags onnx ./... 2>&1); then
	echo "lint: govulncheck found nothing"
elif grep -q 'fetching vulnerabilities' <<<"$out"; then
	echo "lint: govulncheck NOT RUN: its database cannot be reached from here"
else
	echo "$out"
	exit 1
fi
