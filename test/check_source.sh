#!/bin/sh
# Checks what no compiler checks: tiers, who calls GL, what the library exports and calls, sizes of files. Usage: sh test/check_source.sh [BUILD_FOLDER]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT

# expect_none WHAT: standard input has to be empty
expect_none() {
    found=$(cat)
    if [ -z "$found" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1:"
        printf '%s\n' "$found" | sed 's/^/    /'
        echo "$1" >> "$failed" # a variable would be lost at the end of the pipe
    fi
}

# includes in TIER of other folders of src than those allowed
upward() {
    tier=$1
    shift
    allowed=$(echo "$tier $*" | tr ' ' '|')
    grep -rnE '#include "[a-z]+/' "src/$tier" --include='*.[ch]' | grep -vE "#include \"($allowed|layout)/" || true
}
{
    upward util
    upward gpu util
    upward compute util gpu
    upward image util
    upward dwi util gpu image
    upward phantom util image dwi
    upward tractogram util image
    upward track util gpu image dwi tractogram
    upward tracts util gpu image dwi phantom tractogram track
    upward workflow util image dwi phantom tractogram track tracts
    upward bench util track workflow
    upward cmd util track workflow bench
} | expect_none "tiers: util <- gpu, image <- compute, dwi, tractogram <- phantom, track <- tracts <- workflow <- bench <- cmd"

# without comments and strings, so that naming a function in a message is no call
code() {
    for file in "$@"; do
        sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's@//.*@@' "$file" | awk -v file="$file" '
            { line = $0; out = ""
              while (line != "") {
                  if (inside) { end = index(line, "*/"); if (!end) { line = "" } else { line = substr(line, end + 2); inside = 0 } }
                  else { start = index(line, "/*"); if (!start) { out = out line; line = "" } else { out = out substr(line, 1, start - 1); line = substr(line, start + 2); inside = 1 } }
              }
              if (out != "") print file ":" FNR ": " out }'
    done
}
others=$(find src -name '*.[ch]' -not -path 'src/gpu/*')
library=$(find src -name '*.[ch]' -not -path 'src/cmd/*' -not -path 'src/bench/*' -not -name main.c)
# shellcheck disable=SC2086
code $others | { grep -E '\b(e?gl[A-Z][A-Za-z]+ *\(|(GL|EGL)_[A-Z])|epoxy' || true; } | expect_none "GL and EGL only in src/gpu"
# shellcheck disable=SC2086
code $library | { grep -E '\b(exit|_exit|abort|printf|puts|putchar|perror) *\(|\b(v?fprintf|fputs|fputc|fwrite) *\([^;]*std(out|err)' || true; } | expect_none "the library neither prints nor exits"
{ grep -rn 'gl_GlobalInvocationID' src || true; } | expect_none "no shader text in C"

[ -e "$build/libglslines.so" ] || echo "$build/libglslines.so is not built" | expect_none "the shared library"
nm -D --defined-only "$build/libglslines.so" | awk '$2 ~ /[TDBRVW]/ && $3 !~ /^gls_/ { print $3 }' | expect_none "the shared library exports gls_* only"
nm -D --undefined-only "$build/libglslines.so" | awk '{ sub(/@.*/, "", $NF) } $NF ~ /^(_?exit|abort|v?printf|puts|putchar|perror)$/ { print $NF }' | expect_none "the shared library calls no exit, abort or printf"

find src glsl include test -name '*.[ch]' -o -name '*.glsl' -o -name '*.comp' | xargs wc -l | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }' | expect_none "files up to 500 lines"
{ find src/cmd -name "*.[ch]" -not -name "manual*" -exec cat {} + | wc -l | awk '$1 > 4000 { print $1 " lines" }'; } | expect_none "src/cmd without the manual has up to 4000 lines"

# every public header compiles alone as C11 and as C++
for header in include/glslines/*.h; do
    printf '#include <glslines/%s>\n' "$(basename "$header")" | gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c - 2>&1
    printf '#include <glslines/%s>\n' "$(basename "$header")" | g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c++ - 2>&1
done | expect_none "public headers compile alone"

[ ! -s "$failed" ]
