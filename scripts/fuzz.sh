#!/usr/bin/env bash
# Runs every fuzz target of the module for the time given, such as 5m.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:?usage: fuzz.sh TIME}
go list -tags onnx -f '{{.Dir}} {{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}' ./... | while read -r dir files; do
	for file in $files; do
		for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir/$file"); do
			echo "fuzz: $target in ${dir#"$PWD"/} for $time"
			go test -tags onnx -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir"
		done
	done
done
