#!/usr/bin/env bash
# Wheels for the Pythons that this machine has: target/wheels/slim without LLVM, target/wheels/full with it. Each is then installed into an empty environment, where the
# README's first example must give its answer.
#
#   wheels.sh [VERSION...]   all versions where none is named
set -euo pipefail
cd "$(dirname "$0")/.."

WHEELS=$PWD/target/wheels
LIBRARY=pybind/python/tierup/libtierup_tier1.so
MOST_FULL=40 MOST_SLIM=9 # megabytes

say() { printf '\033[1m==\033[0m %s\n' "$*"; }
die() { printf 'wheels: %s\n' "$*" >&2; exit 1; }

# The first example of the README and what the text below it says that it prints.
example() { .venv/bin/python -c "
import re
program, answer = re.search(r'## A first example\n\n\`\`\`python\n(.*?)\`\`\`\n\n\`\`\`text\n(.*?)\`\`\`', open('README.md', encoding='utf-8').read(), re.S).groups()
open('$WHEELS/example.py', 'w').write(program)
open('$WHEELS/answer.txt', 'w').write(answer)"; }

try_out() {
    local wheel=$1 python=$2 most=$3 venv
    local bytes size
    bytes=$(stat -c %s "$wheel")
    size=$((bytes / 1000000)).$((bytes / 100000 % 10))
    [ "$bytes" -le $((most * 1000000)) ] || die "$wheel has $size MB, and may have $most"
    venv=$(mktemp -d)
    "$python" -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check "$wheel"
    (cd "$venv" && ./bin/python "$WHEELS/example.py") | diff - "$WHEELS/answer.txt" || die "$wheel: the first example gives something else"
    # What LLVM makes is kept, if the library with it is known again on disk, whatever was done to it for the wheel.
    if [ "$most" = "$MOST_FULL" ]; then
        (cd "$venv" && TIERUP_TIER=1 TIERUP_CACHE_DIR=$venv/cache ./bin/python "$WHEELS/example.py" >/dev/null)
        (cd "$venv" && TIERUP_CACHE_DIR=$venv/cache ./bin/python -m tierup cache list) | grep -q -v '^0 entries' || die "$wheel: the code cache stays empty"
    fi
    rm -r "$venv"
    say "$(basename "$(dirname "$wheel")")/$(basename "$wheel"): $size MB, the first example runs"
}

build() {
    local version=$1 python=$2 work slim full
    work=$(mktemp -d)
    say "Python $version: wheels"
    PYO3_PYTHON=$python .venv/bin/maturin build --profile wheel --quiet --interpreter "$python" --out "$work/slim"
    slim=$(echo "$work"/slim/*.whl)
    cp "$slim" "$WHEELS/slim/"
    try_out "$WHEELS/slim/$(basename "$slim")" "$python" "$MOST_SLIM"
    if [ -e "$LIBRARY" ]; then
        .venv/bin/python -m wheel unpack --dest "$work/unpacked" "$slim" >/dev/null
        strip -o "$(echo "$work"/unpacked/*)/tierup/libtierup_tier1.so" "$LIBRARY"
        mkdir "$work/full"
        .venv/bin/python -m wheel pack --dest-dir "$work/full" "$work"/unpacked/* >/dev/null
        # The library with LLVM may want a later C library than the extension, whose tag stands there.
        .venv/bin/python -m wheel tags --remove --platform-tag linux_x86_64 "$work"/full/*.whl >/dev/null
        # Puts libraries that not every machine has beside ours, and says which machines it is for.
        PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m auditwheel repair --wheel-dir "$work/repaired" "$work"/full/*.whl >/dev/null 2>&1
        full=$(echo "$work"/repaired/*.whl)
        cp "$full" "$WHEELS/full/"
        try_out "$WHEELS/full/$(basename "$full")" "$python" "$MOST_FULL"
    fi
    rm -r "$work"
}

.venv/bin/python -m pip install -q --disable-pip-version-check -r requirements/wheel.txt
rm -rf "$WHEELS"
mkdir -p "$WHEELS/slim" "$WHEELS/full"
example
scripts/pythons.sh list | while read -r version python; do
    if [ $# -eq 0 ] || [[ " $* " == *" $version "* ]]; then build "$version" "$python" </dev/null; fi
done
