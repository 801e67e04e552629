#!/usr/bin/env bash
# Tests on other Pythons than the one in .venv.
#
#   pythons.sh list                  the versions that this machine has, a line each: number, with a t where it has no GIL, and executable
#   pythons.sh test VERSION SHARE    builds the extension for that version and runs one test of SHARE on it
#   pythons.sh newest SHARE          the same on the newest version that the machine has, if there is one beside the one in .venv
#   pythons.sh check-free            whether the extension builds for a Python without a GIL, which the machine need not have
#   pythons.sh all                   every version: all tests on the newest, one of ten on the others; what the machine lacks comes from a later Debian, as a package or built
set -euo pipefail
cd "$(dirname "$0")/.."

# The first that PyO3 knows without a GIL is 3.14; the newest version comes last.
mapfile -t VERSIONS < <({ scripts/setup.sh pythons; echo 3.14t; } | sort -V)
FOLDER=target/pythons

say() { printf '\033[1m==\033[0m %s\n' "$*"; }
die() { printf 'pythons: %s\n' "$*" >&2; exit 1; }

# An executable of that version which has what the build needs.
works() { [ -n "$1" ] && "$1" -c "
import ensurepip, os, sys, sysconfig
now = '%d.%d' % sys.version_info[:2] + 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED'))
raise SystemExit(now != '$2' or not os.path.exists(sysconfig.get_path('include') + '/Python.h'))" >/dev/null 2>&1; }

python_of() {
    local version=$1 candidate
    # Those of a version manager are sorted so that the last patch comes first.
    for candidate in "python$version" $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/${version%t}".*/bin/python "$FOLDER/debian-$version/usr/bin/python$version" 2>/dev/null | sort -rV); do
        if works "$candidate" "$version"; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    return 1
}

list() {
    local version python
    for version in "${VERSIONS[@]}"; do
        if python=$(python_of "$version"); then echo "$version $python"; fi
    done
}

test_on() {
    local version=$1 share=$2 python
    local venv=$PWD/$FOLDER/$version
    python=$(python_of "$version") || die "Python $version with its headers and venv is missing"
    if [ ! -e "$venv/.stamp-packages" ] || [ requirements/test.txt -nt "$venv/.stamp-packages" ]; then
        PYTHON=$python scripts/setup.sh venv "$venv" requirements/test.txt
        touch "$venv/.stamp-packages"
    fi
    say "Python $version: extension"
    VIRTUAL_ENV=$venv PYO3_PYTHON=$venv/bin/python "$venv/bin/maturin" develop --release
    say "Python $version: tests, one of $share"
    TIERUP_TEST_SHARE=$share "$venv/bin/python" -m pytest -n "${JOBS:-$(nproc)}" --dist worksteal
}

# Whether the extension builds for a Python without a GIL, which the machine need not have: PyO3 is told what it is.
check_free() {
    local config=$PWD/$FOLDER/3.14t.txt
    mkdir -p "$FOLDER"
    printf '%s\n' implementation=CPython version=3.14 shared=true abi3=false pointer_width=64 build_flags=Py_GIL_DISABLED suppress_build_script_link_lines=true > "$config"
    say "Python 3.14t: extension, checked"
    env -u PYO3_PYTHON PYO3_CONFIG_FILE="$config" cargo check -q -p tierup-pybind
}

ours() { .venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

case "${1:-}" in
    list) list ;;
    test) test_on "$2" "${3:-1}" ;;
    newest)
        newest=$(list | cut -d' ' -f1 | grep -v t | tail -n 1)
        if [ "$newest" = "$(ours)" ]; then
            say "Python $newest is the newest here: other versions are not tested"
        else
            test_on "$newest" "${2:-1}"
        fi
        ;;
    check-free) check_free ;;
    all)
        check_free
        for version in "${VERSIONS[@]}"; do
            python_of "$version" >/dev/null || scripts/debian_python.sh "$version" "$FOLDER/debian-$version" || say "Python $version is left out"
        done
        newest=$(list | cut -d' ' -f1 | grep -v t | tail -n 1)
        for version in $(list | cut -d' ' -f1); do
            [ "$version" = "$newest" ] && share=1 || share=10
            test_on "$version" "$share"
        done
        ;;
    *) die "unknown command '${1:-}': list, test, newest, check-free or all" ;;
esac
