#!/usr/bin/env bash
# venv.sh NAME FOLDER SIZE [OPTION...] puts the Python packages of
# FOLDER/requirements.txt into a virtual environment of their own, .deps/NAME, for
# tests that run Python programs (internal/pythontest). SIZE is what it takes, for
# those who wait; OPTIONs are pip's. Run again, it does nothing, unless the
# requirements have changed.
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1 requirements=$2/requirements.txt size=$3
shift 3
venv=.deps/$name
stamp=$venv/requirements.txt # a copy, written last, so that all is there or nothing

fail() {
	echo "$name: $1" >&2
	echo "hint: $2" >&2
	exit 1
}

if cmp -s "$requirements" "$stamp" && "$venv/bin/python" -c '' 2>/dev/null; then
	exit 0
fi
command -v python3 >/dev/null || fail "python3 is missing" "install Python 3.11 or later (Debian: apt install python3 python3-venv)"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
	fail "python3 is $(python3 -V 2>&1)" "what these tests run needs Python 3.11 or later"
echo "$name: installing what tests run (once, about $size)"
rm -rf "$venv"
python3 -m venv "$venv" || fail "python3 cannot make a virtual environment" "install its venv module (Debian: apt install python3-venv)"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: "$@" -r "$requirements"
cp "$requirements" "$stamp"
echo "$name: ready in $venv"
