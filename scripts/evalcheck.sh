#!/usr/bin/env bash
# Compares the metrics of waymark eval with those of trec_eval, through pytrec_eval,
# on the same runs: evalcheck.sh SET..., three BEIR folders or more. The reference
# tool goes into .deps/evalcheck the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

out=.waymark/evalcheck
systems=${SYSTEMS:-bm25,chunk,both+bm25}

if [ $# -eq 0 ]; then
	echo "evalcheck: no set to check on" >&2
	echo "hint: make eval-check SETS='DIR DIR DIR', each a BEIR folder" >&2
	exit 1
fi
scripts/venv.sh evalcheck scripts/evalcheck "80 MB" --no-deps
rm -rf "$out"
bin/waymark eval --system "$systems" --out "$out" ${QUERIES:+--queries "$QUERIES"} "$@" >/dev/null
for set; do
	for values in "$out/$(basename "$set")"/*.tsv; do
		.deps/evalcheck/bin/python scripts/evalcheck/score.py --check "$values" "$set/qrels/test.tsv" "${values%.tsv}.trec"
	done
done
echo "evalcheck: all equal"
