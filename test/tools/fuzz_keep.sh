#!/bin/sh
# Keeps what fuzzing found: of the inputs in NEW_FOLDER/TARGET those that reach code that no kept one reaches go into test/fuzz/found.tar.xz, with what is there
# and is still worth keeping. Tests replay them, and the next fuzzing begins with them.
# Usage: sh test/tools/fuzz_keep.sh LIBFUZZER NEW_FOLDER      LIBFUZZER: target libfuzzer of cmake -DGLS_FUZZ=ON -DGLS_TESTS=ON with clang
set -eu
program=$(realpath "$1") new=$(realpath "$2")
cd "$(dirname "$0")/../fuzz"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/old" "$work/found"
[ ! -f found.tar.xz ] || tar -C "$work/old" -xJf found.tar.xz
for corpus in corpus/*/; do
    name=$(basename "$corpus")
    mkdir -p "$work/merged" "$work/old/$name" "$work/found/$name" "$work/new"
    [ ! -d "$new/$name" ] || cp -r "$new/$name/." "$work/new/"
    # the corpus itself comes first, so that inputs which reach only its code are not kept
    cp "$corpus"/* "$work/merged/"
    GLS_FUZZ_TARGET=$name ASAN_OPTIONS=allocator_may_return_null=1 "$program" -merge=1 -max_len=65536 "$work/merged" "$work/old/$name" "$work/new" > "$work/log" 2>&1 || {
        cat "$work/log"
        exit 1
    }
    number=0
    for file in "$work/merged"/*; do
        [ ! -f "$corpus/$(basename "$file")" ] || continue
        number=$((number + 1))
        mv "$file" "$work/found/$name/$number"
    done
    rm -rf "$work/merged" "$work/new"
    echo "$name: $number inputs"
done
tar -C "$work/found" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . | xz -9e > "$work/found.tar.xz"
mv "$work/found.tar.xz" found.tar.xz
echo "found.tar.xz: $(wc -c < found.tar.xz) bytes"
