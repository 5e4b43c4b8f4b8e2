#!/usr/bin/env bash
# Puts the two native libraries that `-tags onnx` needs into .deps/:
#
#   lib/libonnxruntime.so  ONNX Runtime, out of its own Python wheel
#   lib/libtokenizers.a    Hugging Face tokenizers with a C face, built with cargo
#                          from the source inside the Go module daulet/tokenizers
#
# Run again, it does nothing. With TOKENIZERS_ARCHIVE=FILE (libtokenizers.a, or a
# .tar.gz that holds it) cargo is not needed.
# The versions, and why they are pinned: docs/decisions/0002-native-parts.md.
set -euo pipefail
cd "$(dirname "$0")/.."

ort_version=1.32.0
tokenizers_version=v1.24.0
tokenizers_symbol=tokenizers_version_1_23_0 # what the Go module links against

deps=.deps
lib=$deps/lib
machine=$(uname -m)

fail() {
	echo "deps: $1" >&2
	[ $# -lt 2 ] || echo "hint: $2" >&2
	exit 1
}

need() { # command, what to install
	command -v "$1" >/dev/null || fail "$1 is missing" "$2"
}

# A stamp is written last, so a part is either whole or not there.
stamped() { [ "$(cat "$lib/$1.stamp" 2>/dev/null)" = "$2" ] && [ -e "$lib/lib$1".* ]; }
stamp() { echo "$2" >"$lib/$1.stamp"; }

fetch_onnxruntime() {
	local platform digest
	case "$(uname -s) $machine" in
	"Linux x86_64")
		platform=manylinux_2_28_x86_64
		digest=5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d
		;;
	"Linux aarch64")
		platform=manylinux_2_28_aarch64
		digest=2303372a85299b6757b0e11e1cbf13e410ddf7e10c37f4b37e99d1c90e7daf7c
		;;
	*)
		fail "no ONNX Runtime is pinned for $(uname -s) $machine" \
			"install ONNX Runtime 1.24 or later and place its shared library in $lib, with '$ort_stamp' in $lib/onnxruntime.stamp"
		;;
	esac
	need python3 "install Python 3 (Debian: apt install python3 python3-pip)"
	python3 -m pip --version >/dev/null 2>&1 ||
		fail "python3 has no pip" "install it (Debian: apt install python3-pip)"
	echo "deps: fetching ONNX Runtime $ort_version"
	# Named by platform and not by this Python, whose version does not matter.
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--python-version 311 --implementation cp --platform "$platform" \
		--dest "$work/wheel" "onnxruntime==$ort_version"
	python3 - "$work/wheel" "$work/ort" "$digest" "$ort_version" <<'PY'
import glob, hashlib, os, sys, zipfile

folder, out, want, version = sys.argv[1:]
(wheel,) = glob.glob(os.path.join(folder, "*.whl"))
with open(wheel, "rb") as f:
    got = hashlib.sha256(f.read()).hexdigest()
if got != want:
    sys.exit(f"deps: {os.path.basename(wheel)} has sha256 {got}, want {want}: nothing was installed")
os.mkdir(out)
with zipfile.ZipFile(wheel) as z:
    for member, name in {
        f"onnxruntime/capi/libonnxruntime.so.{version}": "libonnxruntime.so",
        "onnxruntime/LICENSE": "LICENSE",
        "onnxruntime/ThirdPartyNotices.txt": "ThirdPartyNotices.txt",
    }.items():
        with open(os.path.join(out, name), "wb") as f:
            f.write(z.read(member))
PY
	mkdir -p "$deps/share/onnxruntime"
	mv "$work/ort/LICENSE" "$work/ort/ThirdPartyNotices.txt" "$deps/share/onnxruntime/"
	mv "$work/ort/libonnxruntime.so" "$lib/libonnxruntime.so"
	stamp onnxruntime "$ort_stamp"
}

unpack_tokenizers() { # a given archive -> $work/libtokenizers.a
	[ -f "$TOKENIZERS_ARCHIVE" ] || fail "TOKENIZERS_ARCHIVE: no file \"$TOKENIZERS_ARCHIVE\""
	case "$TOKENIZERS_ARCHIVE" in
	*.a) cp "$TOKENIZERS_ARCHIVE" "$work/libtokenizers.a" ;;
	*.tar.gz | *.tgz) tar -xzf "$TOKENIZERS_ARCHIVE" -C "$work" ;;
	*) fail "TOKENIZERS_ARCHIVE \"$TOKENIZERS_ARCHIVE\": want a .a or a .tar.gz" ;;
	esac
	[ -f "$work/libtokenizers.a" ] || fail "\"$TOKENIZERS_ARCHIVE\" holds no libtokenizers.a"
}

build_tokenizers() { # source of the Go module -> $work/libtokenizers.a
	need go "install Go 1.26 or later"
	need cargo "install Rust (rustup or your distribution), or set TOKENIZERS_ARCHIVE to a prebuilt libtokenizers.a"
	command -v cc >/dev/null || command -v gcc >/dev/null ||
		fail "a C compiler is missing" "install one (Debian: apt install build-essential)"
	echo "deps: building tokenizers $tokenizers_version (a few minutes, once)"
	go mod download github.com/daulet/tokenizers
	local src=$work/tokenizers
	cp -R "$(go list -m -f '{{.Dir}}' github.com/daulet/tokenizers)" "$src"
	chmod -R u+w "$src"
	# The manifest names a fork of tiktoken-rs by its git branch, which cannot be
	# pinned; Waymark never calls that part, so the registry's release does.
	sed -i.orig 's|^tiktoken-rs = .*|tiktoken-rs = "0.7"|' "$src/Cargo.toml"
	cp scripts/tokenizers/Cargo.lock "$src/Cargo.lock"
	(cd "$src" && CARGO_TARGET_DIR=target cargo build --release --locked --quiet)
	mv "$src/target/release/libtokenizers.a" "$work/libtokenizers.a"
	if command -v strip >/dev/null; then
		strip --strip-debug "$work/libtokenizers.a"
	fi
}

install_tokenizers() {
	grep -q "github.com/daulet/tokenizers $tokenizers_version\$" go.mod ||
		fail "go.mod wants another github.com/daulet/tokenizers than $tokenizers_version" \
			"raise the version in scripts/deps.sh and renew scripts/tokenizers/Cargo.lock"
	if [ -n "${TOKENIZERS_ARCHIVE:-}" ]; then
		unpack_tokenizers
	else
		build_tokenizers
	fi
	grep -aq "$tokenizers_symbol" "$work/libtokenizers.a" ||
		fail "libtokenizers.a lacks the symbol $tokenizers_symbol" \
			"it belongs to another release than daulet/tokenizers $tokenizers_version"
	mv "$work/libtokenizers.a" "$lib/libtokenizers.a"
	stamp tokenizers "$tokenizers_stamp"
}

ort_stamp="onnxruntime $ort_version $machine"
tokenizers_stamp="tokenizers $tokenizers_version $machine"
if stamped onnxruntime "$ort_stamp" && stamped tokenizers "$tokenizers_stamp"; then
	exit 0
fi
mkdir -p "$lib"
# Inside .deps, so that each mv above is a rename; gone however this ends.
work=$(mktemp -d "$deps/build.XXXXXX")
work=$PWD/$work
trap 'rm -rf "$work"' EXIT
stamped onnxruntime "$ort_stamp" || fetch_onnxruntime
stamped tokenizers "$tokenizers_stamp" || install_tokenizers
echo "deps: ready in $lib"
