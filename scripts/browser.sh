#!/usr/bin/env bash
# Sees that the tests of the web page have what they need: Chromium, and axe-core
# in .deps/axe-core. Run again, it does nothing. In CI, as root on a Debian, it
# installs Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

version=4.14.1
digest=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745 # of the package's archive

fail() {
	echo "browser: $1" >&2
	echo "hint: $2" >&2
	exit 1
}

chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v chrome; }

if ! chromium >/dev/null && [ -n "${CI:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "browser: installing Chromium"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-noto-core >/dev/null
fi
chromium >/dev/null || fail "Chromium is missing" "install it (Debian: apt install chromium)"

dir=.deps/axe-core
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$version" ] || exit 0
command -v npm >/dev/null || fail "npm is missing" "install Node.js with npm (Debian: apt install npm), for axe-core"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "browser: fetching axe-core $version"
(cd "$work" && npm pack --silent "axe-core@$version" >/dev/null)
echo "$digest  $work/axe-core-$version.tgz" | sha256sum --check --quiet ||
	fail "axe-core $version is not what was pinned" "compare scripts/browser.sh with the registry, and do not run it before"
tar -xzf "$work/axe-core-$version.tgz" -C "$work" package/axe.min.js package/LICENSE
mkdir -p "$dir"
mv "$work/package/axe.min.js" "$work/package/LICENSE" "$dir/"
echo "$version" >"$dir/stamp" # last, so that all is there or nothing
