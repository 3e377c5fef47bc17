#!/bin/sh
# Whether programs that were linked with the last release of the same soname run with this library: abidiff against the description kept from that release.
# Usage: sh test/packaging/abi.sh BUILD_FOLDER [--update]      BUILD_FOLDER: built here, with debug information; --update: at a release, keeps the description
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
build=$(cd "$1" && pwd)
cmake -S . -B "$build" -G Ninja -DGLS_TESTS=OFF -DGLS_UNITY=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo > "$build/configure.log"
cmake --build "$build" --target libglslines.so > "$build/build.log" || { cat "$build/build.log"; exit 1; }
soname=$(readelf -d "$build/libglslines.so" | sed -n 's/.*SONAME.*\[libglslines\.so\.\(.*\)\]/\1/p')
new=$build/libglslines-$soname.abi
kept=test/packaging/abi/libglslines-$soname.abi
abidw --headers-dir include --no-corpus-path --no-comp-dir-path --drop-private-types --out-file "$new" "$build/libglslines.so"
if [ "${2:-}" = --update ]; then
    mkdir -p test/packaging/abi
    cp "$new" "$kept"
elif [ ! -e "$kept" ]; then
    # no release of this soname yet: the check itself is tested
    abidiff --no-added-syms "$new" "$build/libglslines.so" --hd2 include
    echo "no release with the soname libglslines.so.$soname yet"
else
    abidiff --no-added-syms "$kept" "$new" || { echo "libglslines.so.$soname is not compatible with its release: restore what changed, or raise the soname"; exit 1; }
fi
