#!/bin/sh
# Programs and libraries that would load libraries from the current folder: the search path in the file has an empty or a relative entry. Prints them; status 1 if there are any.
# Usage: sh test/rpath.sh FILE_OR_FOLDER...      Of a folder every program and shared library in it.
set -eu
[ $# -gt 0 ] || { echo "no file to check" >&2; exit 2; }
command -v readelf > /dev/null || { echo "readelf is missing: install binutils" >&2; exit 2; }
files=$(find "$@" -type f \( -perm -100 -o -name '*.so' -o -name '*.so.*' \))
[ -n "$files" ] || { echo "no program and no library: $*" >&2; exit 2; }
found=$(printf '%s\n' "$files" | while IFS= read -r file; do
    { readelf -dW "$file" 2> /dev/null || true; } | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]$/\2/p' | while IFS= read -r path; do
        ! printf '%s\n' "$path" | tr ':' '\n' | grep -qvE '^(/|\$(ORIGIN|\{ORIGIN\})(/|$))' || printf '%s: [%s]\n' "$file" "$path"
    done
done)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
