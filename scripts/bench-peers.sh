#!/usr/bin/env bash
# Measures Waymark beside its peers and prints Markdown tables: bench-peers.sh [PART...],
# of encode, store and pipeline; none means all. What is compared goes into .deps/peers
# the first time. TEXTS names the folder whose words are encoded; OPTIONS go to the
# programs, bench/peers/PART.py; INTO=docs/peers.md puts the tables in that page.
set -euo pipefail
cd "$(dirname "$0")/.."

work=.waymark/peers
python=.deps/peers/bin/python
texts=${TEXTS:-docs}

measure() {
	echo "Waymark $(git describe --always --dirty), $(go env GOVERSION), $("$python" -V), $(nproc) cores of $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(date +%F)."
	case $1 in
	encode) "$python" bench/peers/encode.py --encoders bin/peers/encoders --folder "$work/backbone" --texts "$texts" ${OPTIONS:-} ;;
	store) "$python" bench/peers/store.py --stores bin/peers/stores ${OPTIONS:-} ;;
	pipeline) "$python" bench/peers/pipeline.py --waymark bin/waymark --gopipeline bin/peers/gopipeline --folder "$work/backbone" --texts "$texts" ${OPTIONS:-} ;;
	*)
		echo "bench-peers: there is no part $1" >&2
		echo "hint: PEERS is of encode, store and pipeline" >&2
		return 1
		;;
	esac
}

scripts/venv.sh peers bench/peers "6 GB" --no-deps
(cd bench/peers && go build -tags onnx,ORT -o ../../bin/peers/ ./encoders ./stores ./gopipeline)
mkdir -p "$work"
for part in ${*:-encode store pipeline}; do
	measure "$part" | tee "$work/$part.md"
	[ -z "${INTO:-}" ] || "$python" bench/peers/insert.py "$INTO" "$part" <"$work/$part.md"
done
