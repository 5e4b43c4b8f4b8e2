#!/usr/bin/env bash
# Puts Qdrant's engine for tests into .deps/qdrant: a Python environment for
# internal/qdranttest/engine, about 180 MB. Run again, it does nothing, unless the
# requirements have changed.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=internal/qdranttest/engine/requirements.txt
venv=.deps/qdrant
stamp=$venv/requirements.txt # a copy, written last, so that all is there or nothing

fail() {
	echo "qdrant: $1" >&2
	echo "hint: $2" >&2
	exit 1
}

if cmp -s "$requirements" "$stamp" && "$venv/bin/python" -c '' 2>/dev/null; then
	exit 0
fi
command -v python3 >/dev/null || fail "python3 is missing" "install Python 3.11 or later (Debian: apt install python3 python3-venv)"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
	fail "python3 is $(python3 -V 2>&1)" "Qdrant's engine for tests needs Python 3.11 or later"
echo "qdrant: installing the engine for tests (once, about 180 MB)"
rm -rf "$venv"
python3 -m venv "$venv" || fail "python3 cannot make a virtual environment" "install its venv module (Debian: apt install python3-venv)"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: -r "$requirements"
cp "$requirements" "$stamp"
echo "qdrant: ready in $venv"
