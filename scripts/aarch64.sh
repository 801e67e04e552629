#!/usr/bin/env bash
# The workspace for aarch64, on a Debian 12 of x86-64: the compiler and the standard library of a later Debian in target/aarch64, unpacked and not installed; Debian 12's linker for
# that processor; its emulator.
#
#   aarch64.sh check            whether all but LLVM builds for it
#   aarch64.sh test [ARGS...]   the Rust tests under emulation, what cargo test takes behind it
set -euo pipefail
cd "$(dirname "$0")/.."

FOLDER=$PWD/target/aarch64
SUITE=forky
PACKAGES=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)
CRATES=(-p tierup-core -p tierup-tier0 -p tierup-runtime)

fetch() {
    local work=$FOLDER.fetched mirror package
    command -v apt-get >/dev/null || { echo "aarch64: this is no Debian" >&2; exit 1; }
    rm -rf "$work"
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$FOLDER"
    : > "$work/status"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sed -n 1p || true)
    [ -n "$mirror" ] || { echo "aarch64: this machine has no package lists: run apt-get update" >&2; exit 1; }
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $SUITE main" > "$work/sources.list"
    local apt=(apt-get -q -o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache::archives=$work/archives" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
        -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o APT::Architectures::=amd64 -o APT::Architectures::=arm64)
    "${apt[@]}" update
    "${apt[@]}" install -y --download-only --no-install-recommends rustc libstd-rust-dev libstdc++6
    (cd "$work/archives" && "${apt[@]}" download libstd-rust-dev:arm64)
    for package in "$work"/archives/*.deb; do dpkg -x "$package" "$FOLDER"; done
    rm -r "$work"
    # The compiler runs with its own C library.
    cat > "$FOLDER/rustc" <<EOF
#!/bin/sh
libraries=$FOLDER/usr/lib/x86_64-linux-gnu
exec \$libraries/ld-linux-x86-64.so.2 --library-path \$libraries $FOLDER/usr/bin/rustc --sysroot $FOLDER/usr "\$@"
EOF
    chmod +x "$FOLDER/rustc"
}

[ -x "$FOLDER/rustc" ] || fetch
for program in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v "$program" >/dev/null || { echo "aarch64: run as root: apt-get install ${PACKAGES[*]}" >&2; exit 1; }
done
export RUSTC=$FOLDER/rustc CARGO_TARGET_DIR=$FOLDER/built CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" PYO3_CROSS_PYTHON_VERSION=3.11
unset PYO3_PYTHON
case "${1:-}" in
    check) cargo check --target aarch64-unknown-linux-gnu "${CRATES[@]}" -p tierup-pybind ;;
    test) shift; cargo test --target aarch64-unknown-linux-gnu "${CRATES[@]}" "$@" ;;
    *) echo "aarch64: unknown command '${1:-}': check or test" >&2; exit 1 ;;
esac
