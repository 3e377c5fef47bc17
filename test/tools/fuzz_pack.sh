#!/bin/sh
# Packs the fuzz targets for a machine without compilers and without this machine's libraries: the program with its sanitizers inside, the shared libraries that it loads, the
# corpora, and the script that runs them.
# Usage: sh test/tools/fuzz_pack.sh BUILD_FOLDER ARCHIVE.tar.xz      BUILD_FOLDER: of cmake -DGLS_FUZZ=ON -DGLS_TESTS=ON with clang, target libfuzzer
set -eu
build=$1 archive=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/fuzz/lib"
objcopy --strip-debug "$build/test/libfuzzer" "$work/fuzz/libfuzzer"
ldd "$build/test/libfuzzer" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do cp -L "$library" "$work/fuzz/lib/"; done
sed -n 's/TARGET(\(.*\))/\1/p' "$build/test/fuzz_targets.def" > "$work/fuzz/targets"
cp -r "$root/test/fuzz/corpus" "$work/fuzz/"
tar -C "$work/fuzz/corpus" -xJf "$root/test/fuzz/found.tar.xz"
cp "$root/test/tools/fuzz_long.sh" "$work/fuzz/"
tar -C "$work" -cJf "$archive" fuzz
echo "$archive: $(($(wc -c < "$archive") / 1000000)) MB, unpacked $(($(du -sk "$work/fuzz" | cut -f 1) / 1000)) MB"
