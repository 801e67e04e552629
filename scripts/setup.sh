#!/usr/bin/env bash
# Brings a bare Debian 12 machine with Rust and Python 3.11 or later to where the build starts. Called by the Makefile, safe to repeat.
#
#   setup.sh python                 prints a Python that works: $PYTHON, else the oldest that Tierup compiles on
#   setup.sh pythons                the versions that Tierup compiles on, oldest first
#   setup.sh llvm                   1 where LLVM is installed or can be, else 0; brings package lists up to date where they may be why not
#   setup.sh without-llvm           says what to do where there is none
#   setup.sh system                 system packages: installed where we may, else one line says what to install
#   setup.sh venv DIR FILE...       a virtual environment with the pinned packages of the requirement files
#   setup.sh without-deps DIR FILE  packages without their own requirements: programs written for Numba run without it
set -euo pipefail

say() { printf '\033[1m==\033[0m %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# The versions whose bytecode there is a decoder for, oldest first.
known_pythons() { local file; for file in core/src/bytecode/decode/v3*.rs; do basename "$file" .rs | sed 's/^v3/3./'; done | sort -V; }

find_python() {
    local candidate known
    known=$(known_pythons | tr '\n' ' ')
    for candidate in "${PYTHON:-}" $(for version in $known; do echo "python$version /usr/bin/python$version /usr/local/bin/python$version"; done) python3 python; do
        [ -n "$candidate" ] || continue
        # A version manager's shim may exist for a version that is not there: ask it.
        if "$candidate" -c 'import sys; raise SystemExit("%d.%d" % sys.version_info[:2] not in sys.argv[1:])' $known >/dev/null 2>&1; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    return 1
}

has_llvm() { [ -x "${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}/bin/llvm-config" ]; }

# What runs as root; fails where nothing may.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"; else return 1; fi
}

# A fresh container has no package lists at all, and old ones lack new packages. Once a day is enough: a list that has no LLVM will not have it a minute later.
LISTS=target/.stamp-package-lists
update_lists() {
    [ -z "$(find "$LISTS" -mtime -1 2>/dev/null)" ] || return 1
    command -v apt-get >/dev/null || return 1
    say "package lists: bringing them up to date" >&2
    as_root apt-get update -q >&2 || return 1
    mkdir -p target && touch "$LISTS"
}

listed() { command -v apt-cache >/dev/null && apt-cache show llvm-22-dev >/dev/null 2>&1; }

# Adding another source of packages to a machine is its owner's decision.
can_have_llvm() { has_llvm || listed || { update_lists && listed; }; }

say_without_llvm() {
    say "without LLVM: everything ran on tier 0, which is a part of Tierup. For tier 1 give this machine a package source that has llvm-22-dev and libpolly-22-dev, or set LLVM_SYS_221_PREFIX to an LLVM 22, and run this again."
}

install_system() {
    command -v cargo >/dev/null || die "Rust is missing: install rustc and cargo 1.95 or later, then run this again"
    local missing=() python
    # rustc links with cc; the benchmarks compile a C extension with the same compiler.
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    if python=$(find_python); then
        local version
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        "$python" -c 'import ensurepip' >/dev/null 2>&1 || missing+=("python$version-venv")
        "$python" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || missing+=("python$version-dev")
    else
        missing+=(python3.11 python3.11-venv python3.11-dev)
    fi
    # Tier 1. `.cargo/config.toml` says where it is looked for.
    if [ "${LLVM:-1}" != 0 ] && ! has_llvm; then
        missing+=(llvm-22-dev libpolly-22-dev zlib1g-dev libzstd-dev g++)
    fi
    [ ${#missing[@]} -eq 0 ] && { say "system packages: nothing missing"; return; }
    command -v apt-get >/dev/null || die "install these Debian packages or their like: ${missing[*]}"
    as_root true || die "run as root: apt-get install ${missing[*]}"
    say "system packages: installing ${missing[*]}"
    update_lists || true
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

make_venv() {
    local dir=$1 python
    shift
    python=$(find_python) || die "a Python of these versions is missing: $(known_pythons | tr '\n' ' ')"
    if ! "$dir/bin/python" -c 'import pip' >/dev/null 2>&1; then
        say "$dir: creating it with $python"
        rm -rf "$dir"
        "$python" -m venv "$dir"
    fi
    local args=() file
    for file in "$@"; do args+=(-r "$file"); done
    say "$dir: installing $*"
    "$dir/bin/python" -m pip install -q --disable-pip-version-check "${args[@]}"
}

cd "$(dirname "$0")/.."
case "${1:-}" in
    python) find_python || die "a Python of these versions is missing: $(known_pythons | tr '\n' ' ')" ;;
    pythons) known_pythons ;;
    llvm) if can_have_llvm; then echo 1; else echo 0; fi ;;
    without-llvm) say_without_llvm ;;
    system) install_system ;;
    venv) shift; make_venv "$@" ;;
    without-deps) say "$2: installing $3"; "$2/bin/python" -m pip install -q --disable-pip-version-check --no-deps -r "$3" ;;
    *) die "unknown command '${1:-}': python, pythons, llvm, without-llvm, system, venv or without-deps" ;;
esac
