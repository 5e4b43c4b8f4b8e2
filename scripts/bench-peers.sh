#!/usr/bin/env bash
# Measures Waymark beside its peers and prints Markdown tables: bench-peers.sh [PART...],
# of encode, store and pipeline; none means all. What is compared goes into .deps/peers
# the first time. TEXTS names the folder whose words are encoded; OPTIONS go to the
# programs, bench/peers/PART.py.
set -euo pipefail
cd "$(dirname "$0")/.."

work=.waymark/peers
python=.deps/peers/bin/python

scripts/venv.sh peers bench/peers "6 GB" --no-deps
(cd bench/peers && go build -tags onnx,ORT -o ../../bin/peers/ ./encoders ./stores ./gopipeline)
mkdir -p "$work"
echo "Waymark $(git describe --always --dirty 2>/dev/null || echo unknown), $(go env GOVERSION), $("$python" -V), $(nproc) cores of: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
for part in ${*:-encode store pipeline}; do
	printf '\n## %s\n' "$part"
	case $part in
	encode) "$python" bench/peers/encode.py --encoders bin/peers/encoders --folder "$work/backbone" --texts "${TEXTS:-docs}" ${OPTIONS:-} ;;
	store) "$python" bench/peers/store.py --stores bin/peers/stores ${OPTIONS:-} ;;
	pipeline) "$python" bench/peers/pipeline.py --waymark bin/waymark --gopipeline bin/peers/gopipeline --folder "$work/backbone" --texts "${TEXTS:-docs}" ${OPTIONS:-} ;;
	*)
		echo "bench-peers: there is no part $part" >&2
		echo "hint: PEERS is of encode, store and pipeline" >&2
		exit 1
		;;
	esac
done
