#!/bin/sh
# Whether programs that were linked with the last release of the same soname run with this library: abidiff against that release, built from the last tag v*,
# or, where there is no such tag, against the description kept from it. abidiff 2.2 finds members that were added to structs between libraries, not always
# between descriptions: the tag goes before.
# Usage: sh test/packaging/abi.sh BUILD_FOLDER [--update]      BUILD_FOLDER: built here, with debug information; --update: at a release, keeps the description
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
build=$(cd "$1" && pwd)

# describe SOURCE BUILD: builds the library and sets soname and description
describe() {
    cmake -S "$1" -B "$2" -G Ninja -DGLS_TESTS=OFF -DGLS_UNITY=OFF -DGLS_WEBSOCKETS=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo > "$2.configure.log"
    cmake --build "$2" --target libglslines.so > "$2.build.log" || { cat "$2.build.log"; exit 1; }
    soname=$(readelf -d "$2/libglslines.so" | sed -n 's/.*SONAME.*\[libglslines\.so\.\(.*\)\]/\1/p')
    description=$2/libglslines-$soname.abi
    abidw --headers-dir "$1/include" --no-corpus-path --no-comp-dir-path --drop-private-types --out-file "$description" "$2/libglslines.so"
}

tag=$(git describe --tags --abbrev=0 --match 'v*' 2> /dev/null || true)
release=
if [ -n "$tag" ] && [ "${2:-}" != --update ]; then
    rm -rf "$build/release"
    mkdir "$build/release"
    git archive "$tag" | tar -x -C "$build/release"
    mkdir -p "$build/old"
    describe "$build/release" "$build/old"
    release=$soname
fi
describe . "$build"
kept=test/packaging/abi/libglslines-$soname.abi
raise="libglslines.so.$soname is not compatible with its release: restore what changed, or raise the soname"
if [ "${2:-}" = --update ]; then
    mkdir -p test/packaging/abi
    cp "$description" "$kept"
elif [ "$release" = "$soname" ]; then
    abidiff --no-added-syms --hd1 "$build/release/include" --hd2 include "$build/old/libglslines.so" "$build/libglslines.so" || { echo "$raise"; exit 1; }
elif [ -e "$kept" ]; then
    abidiff --no-added-syms "$kept" "$description" || { echo "$raise"; exit 1; }
else
    # there is no release of this soname yet, so the check itself is tested
    abidiff --no-added-syms --hd1 include --hd2 include "$build/libglslines.so" "$build/libglslines.so"
    echo "no release with the soname libglslines.so.$soname yet"
fi
