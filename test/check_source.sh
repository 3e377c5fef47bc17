#!/bin/sh
# Checks what no compiler checks: tiers, who calls GL, what the library exports and calls, sizes of files. Usage: sh test/check_source.sh [BUILD_FOLDER]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
failed=$(mktemp) errors=$(mktemp)
trap 'cat "$errors"; rm -f "$failed" "$errors"' EXIT
# what a command writes here, such as that a file or the command itself is missing, fails the check that it belongs to
exec 2> "$errors"

# expect_none WHAT: standard input has to be empty, and no command before it has complained
expect_none() {
    found=$(cat - "$errors")
    : > "$errors"
    if [ -z "$found" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1:"
        printf '%s\n' "$found" | sed 's/^/    /'
        echo "$1" >> "$failed" # a variable would be lost at the end of the pipe
    fi
}

# a check whose input is missing must not pass
seen=$(failed=/dev/null && nm "$build/no_such_file" | expect_none "a missing file")
{
    case $seen in "FAIL a missing file:"*no_such_file*) ;; *) echo "$seen" ;; esac
} | expect_none "a check without its input fails"

# without the rights of root, the message names the program that needs them
{
    # shellcheck disable=SC2123 # no program is to be found
    heard=$(. test/setup.sh && id() { echo 1000; } && PATH=/none && apt_update_once 2>&1) || true
    [ "$heard" = "error: apt-get needs root; run this script as root or install sudo" ] || echo "as_root: $heard"
} | expect_none "without root the program that needs it is named"

# if another package manager is at work, the script waits for it, says so once, and gives up in the end
locked() { # N: apt-get for which the first N tries find the lock
    tries=$(mktemp)
    (
        . test/setup.sh
        LOCK_PATIENCE=2 LOCK_PAUSE=1
        as_root() {
            echo >> "$tries"
            [ "$(wc -l < "$tries")" -le "$found_locked" ] || return 0
            echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 42 (apt-get)" >&2
            return 100
        }
        found_locked=$1
        apt_update_once 2>&1 && echo "updated after $(wc -l < "$tries")"
    ) || true
    rm "$tries"
}
{
    note="note: another package manager is at work; waiting up to 0 minutes for it (E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 42 (apt-get))"
    heard=$(locked 2)
    [ "$heard" = "$note
updated after 3" ] || echo "a lock that is released: $heard"
    heard=$(locked 9)
    case $heard in "$note"*"error: another package manager is still at work; run this again when it has finished") ;; *) echo "a lock that stays: $heard" ;; esac
} | expect_none "installing waits for another package manager"

# prints includes in TIER of other folders of src than the allowed ones
upward() {
    tier=$1
    shift
    allowed=$(echo "$tier $*" | tr ' ' '|')
    grep -rnE '#include "[a-z]+/' "src/$tier" --include='*.[ch]' | grep -vE "#include \"($allowed|layout)/" || true
}
# every room that has code, in src or in a folder of it, is checked
unlisted() { # FOLDER WORD: rooms of FOLDER for which no line of this script has the word
    find "$1" -mindepth 2 -maxdepth 2 -name '*.[ch]' | cut -d/ -f$(($(echo "$1" | tr -cd / | wc -c) + 2)) | sort -u | while read -r room; do
        grep -qE "^ +$2 $room( |\$)" test/check_source.sh || echo "$1/$room is not listed"
    done
}
{
    unlisted src upward
    upward util
    upward blas util
    upward gpu util
    upward compute util gpu
    upward image util
    upward dwi util gpu image transform
    upward transform util image streamlines
    upward registration util gpu image transform
    upward anat util gpu image transform registration dwi
    upward phantom util image dwi
    upward streamlines util
    upward tractogram util image transform streamlines
    upward track util gpu image dwi phantom streamlines
    upward tracts util gpu image dwi transform phantom streamlines tractogram track
    upward geometry util gpu transform streamlines tracts
    upward weights util gpu image dwi transform streamlines track
    upward record util image dwi transform tractogram track tracts
    upward sinks util gpu image dwi transform streamlines tractogram track tracts geometry weights record
    upward tools util gpu image dwi transform registration anat streamlines tractogram track tracts geometry weights record
    upward run util gpu image dwi transform registration anat phantom streamlines tractogram track tracts weights record sinks
    upward bids util image transform dwi anat phantom tracts weights record tools run
     upward render util gpu image dwi transform registration anat streamlines tractogram tracts weights record run bids
    upward bench util image dwi track streamlines tractogram tracts record tools run
    upward check util gpu track tracts
    upward options util record
    upward view util image dwi transform streamlines tractogram tracts record run render
    upward cmd util gpu phantom track record check sinks tools run bids render bench options view
} | expect_none "tiers: util <- gpu, image, streamlines <- transform <- compute, dwi, registration, tractogram <- anat, phantom <- track <- tracts, weights <- geometry <- record <- sinks, tools <- run <- bids <- render, bench, check, options <- view <- cmd"

# the rooms inside src/track: prints what a folder there includes of other folders, and of the files beside them
inside() {
    room=$1
    shift
    allowed=$(echo "$room $*" | tr ' ' '|')
    grep -nE '#include "track/' "src/track/$room"/*.[ch] | grep -vE "#include \"track/(($allowed)/|tracker\.h\"|track_params\.h\"|seeds\.h\")" || true
    [ "$room" = run ] || [ "$room" = check ] || grep -n '#include "track/tracker.h"' "src/track/$room"/*.[ch] || true
}
{
    unlisted src/track inside
    inside shader
    inside field shader
    inside getter shader field
    inside guide shader
    inside engine shader field getter guide
    inside run engine
    inside check getter run
} | expect_none "rooms of the tracker: shader <- field <- getter, guide <- engine <- tracker.c <- run <- check <- tracker_create.c"

# prints quoted includes as pairs "file included", with whole paths; tsort names the files on a circle
circles() {
    tsort "$1" 2>&1 > /dev/null | sed 's/^tsort: //' || true
}
pairs=$(mktemp)
grep -rnE '^ *#include "' src glsl --include='*.h' --include='*.glsl' --include='*.comp' --include='*.def' |
    sed -E 's@^(glsl/)([^:]*):[0-9]+: *#include "([^"]*)".*@\2 \3@; s@^src/([^:]*):[0-9]+: *#include "([^"]*)".*@\1 \2@' > "$pairs"
circles "$pairs" | expect_none "no circle of includes among headers and among shaders"
# a unit is NAME.c with NAME.h: what it includes, it depends on
grep -rnE '^ *#include "' src --include='*.[ch]' |
    sed -E 's@^src/([^:]*)\.[ch]:[0-9]+: *#include "([^"]*)\.h".*@\1 \2@' | awk '$1 != $2' > "$pairs"
circles "$pairs" | expect_none "no circle of files"
rm -f "$pairs"

# src/util/text.h -> GLS_UTIL_TEXT_H, include/glslines/type.h -> GLSLINES_TYPE_H; headers without a guard are included several times
grep -rnE '^#ifndef GLS' src include --include='*.h' | while IFS=: read -r header _ guard; do
    want=$(echo "${header#*/}" | sed 's@^glslines/@GLSLINES_@; t; s@^@GLS_@' | tr 'a-z/.' 'A-Z__')
    [ "$guard" = "#ifndef $want" ] || echo "$header: ${guard#\#ifndef }, not $want"
done | expect_none "include guards follow the paths of headers"

# glsl/slots.txt against the sources
slots() {
    grep -vE '^#|^$' glsl/slots.txt
}
{
    for slot in $(grep -rhoE '^#include <[^>]+>' glsl | sed 's/.*<//; s/>.*//' | sort -u); do
        slots | grep -q "^$slot |" || echo "<$slot> is not listed"
    done
    for slot in $(slots | cut -d' ' -f1); do grep -rq "^#include <$slot>" glsl || echo "<$slot> is listed and never included"; done
    for slot in $(grep -rhoE 'gls_define_(slot|file|loops)\([^,]+, "[a-z_]+"' src | sed 's/.*"\(.*\)"/\1/' | sort -u); do
        slots | grep -q "^$slot |" || echo "<$slot> is filled by the host and not listed"
    done
    for file in $(slots | cut -d'|' -f2 | tr ' ' '\n' | grep '\.glsl$' | sort -u); do
        [ -e "glsl/$file" ] || echo "$file is listed and does not exist"
        case $file in *_unrolled.glsl) slots | grep -q "${file%_unrolled.glsl}_looped.glsl" || echo "$file has no looped twin" ;; esac
    done
    for file in $(grep -hoE '\.(shader|initial) = "[^"]+"' src/track/getter/*.c src/track/guide/*.c | cut -d'"' -f2 | sort -u); do
        [ -e "glsl/$file" ] || echo "$file is named in a row and does not exist"
    done
} | expect_none "glsl/slots.txt names every slot and its candidates"

# prints the code without comments and strings, so that the name of a function in a message does not count as a call
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
library=$(find src -name '*.[ch]' -not -path 'src/cmd/*' -not -path 'src/check/*' -not -path 'src/bench/*' -not -name main.c)
# shellcheck disable=SC2086
code $others | { grep -E '\b(e?gl[A-Z][A-Za-z]+ *\(|(GL|EGL)_[A-Z])|epoxy' || true; } | expect_none "GL and EGL only in src/gpu"
# shellcheck disable=SC2086
# a copy of the process ends itself (src/util/child.c)
code $library | { grep -vE '^src/util/child\.c:[0-9]+: .*\b_exit\(' || true; } | { grep -E '\b(exit|_exit|abort|printf|puts|putchar|perror) *\(|\b(v?fprintf|fputs|fputc|fwrite) *\([^;]*std(out|err)' || true; } | expect_none "the library neither prints nor exits"
{ grep -rn 'gl_GlobalInvocationID' src || true; } | expect_none "no shader text in C"

# points in numbers and letters of ASCII, whatever locale the calling program has set: src/util/plain.h and json_text.h;
# asprintf(), because gls_asprintf() leaves NULL behind where it fails
locale_calls='strto(d|f|ld)(_l)?|atof|is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(lower|upper)'
locale_calls="$locale_calls|strn?casecmp|strcasestr|strcoll|v(sn|s|as|d|f)?printf|asprintf|(new|use|set)locale|localeconv|cJSON_(Print|Parse)[A-Za-z]*"
# shellcheck disable=SC2086
{
    code $(find src -name '*.[ch]' -not -name plain.c -not -path src/util/json_text.c) | grep -E "(^|[^A-Za-z_])($locale_calls) *\(" || true
    # prints calls of printf()'s family that print a number with a point; the program alone prints, and sets no locale
    grep -rPzo '\n[^\n]*(?<!\w)(s|sn|as|d|f)printf(\((?:[^"()]|"(?:[^"\\]|\\.)*"|(?2))*\))' src --include='*.[ch]' --exclude=plain.c |
        tr '\n\0' ' \n' | sed -E 's/" *PRI[a-zA-Z0-9]+/d"/g; s/%%//g' | { grep -E "%[-+ #0-9.*']*[hlL]*[aefgAEFG]" || true; }
} | expect_none "numbers and letters do not depend on the locale"

# comments in plain English: words that this project once used in a sense of its own. Each has a plain one: describe, warn, know (tell); repair (mend);
# store, write, add (put); converge, decide (settle); block or batch (parcel, courier); completion count (receipt); counts (tally); inputs (study)
rooms="src glsl"
# prints only the text of comments
comments() {
    for file in "$@"; do
        sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's@//\(.*\)@/*\1*/@' "$file" | awk -v file="$file" '
            { line = $0; out = ""
              while (line != "") {
                  if (inside) { end = index(line, "*/"); if (!end) { out = out line; line = "" } else { out = out substr(line, 1, end - 1); line = substr(line, end + 2); inside = 0 } }
                  else { start = index(line, "/*"); if (!start) { line = "" } else { line = substr(line, start + 2); inside = 1 } }
              }
              if (out != "") print file ":" FNR ": " out }'
    done
}
{
    # shellcheck disable=SC2046,SC2086
    comments $(find $rooms -name '*.[ch]' -o -name '*.def' -o -name '*.glsl' -o -name '*.comp') |
        grep -wE 'tell|tells|told|mend|mends|mended|put|puts|settle|settles|settled|parcels?|couriers?|receipts?|tally|study' || true
    # texts that users see, names, and the manual
    grep -rnwE '[Tt]ells?|[Tt]old' src include --include='*.[ch]' --include='*.def' --include='*.md' || true
    # shellcheck disable=SC2086
    grep -rnE '\b(MOST|LEAST|FEWEST)_[A-Z]+\b' $rooms --include='*.[ch]' --include='*.glsl' --include='*.comp' || true
    # shellcheck disable=SC2086
    grep -rnE '\bstatus [!=]= GLS_OK\b' $rooms --include='*.[ch]' || true
} | expect_none "no private words, MAX_ and MIN_, one test of a status"

# _exit is left out, because the source is searched for it above
nm -D --defined-only "$build/libglslines.so" | awk '$2 ~ /[TDBRVW]/ && $3 !~ /^gls_/ { print $3 }' | expect_none "the shared library exports gls_* only"
nm -D --undefined-only "$build/libglslines.so" | awk '{ sub(/@.*/, "", $NF) } $NF ~ /^(exit|abort|v?printf|puts|putchar|perror)$/ { print $NF }' | expect_none "the shared library calls no exit, abort or printf"

# only files of this build, not of other builds below it
{ find "$build" "$build/test" -maxdepth 1 -type f \( -perm -100 -o -name '*.so' -o -name '*.so.*' \) -exec sh test/rpath.sh {} + 2>&1 || true; } |
    expect_none "no library is loaded from the current folder"

# a file is one subject; tables may be long, and so may a single subject
find src glsl include test -name '*.[ch]' -o -name '*.glsl' -o -name '*.comp' | xargs wc -l | awk '$2 != "total" && $1 > 800 { print "     note: " $2 " has " $1 " lines: is it one subject?" }'

find glsl -type f -not -name slots.txt | xargs awk 'length > 120 { print FILENAME ":" FNR ": " length " columns" }' | expect_none "shader lines up to 120 columns"

# one layout for all C files; releases of clang-format differ in details, so only the one that made it judges
# a list that clang-format took for running text has the gap behind a member in the middle of a line, and the rest of a broken line of an example stands at the margin
grep -nE '^ \*.*[[:alnum:].,)]   [[:alnum:]]|^ \* [^ ]+;$' include/glslines/*.h | grep -v '^include/glslines/compute.h:' | expect_none "lists of public headers are lists (clang-format off, or lines that it leaves)"
if clang-format --version 2> /dev/null | grep -q 'version 14\.'; then
    git ls-files -co --exclude-standard '*.[ch]' | grep -v '/corpus/' | xargs -r clang-format --dry-run 2>&1 | grep 'warning' | cut -d: -f1 | sort -u |
        expect_none "clang-format"
else
    echo "     clang-format 14 is not here: layout not checked"
fi

# a bare true or false in a call says nothing to its reader
cat include/glslines/*.h | tr '\n' ' ' | grep -oE 'GLS_API [^;{]*;' | { grep -E '[(,] *bool [a-z_]+ *[,)]' || true; } | expect_none "functions of the public headers take names instead of bool"

# every public header compiles alone as C11 and as C++
for header in include/glslines/*.h; do
    printf '#include <glslines/%s>\n' "$(basename "$header")" | gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c - 2>&1
    printf '#include <glslines/%s>\n' "$(basename "$header")" | g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c++ - 2>&1
done | expect_none "public headers compile alone"

true | expect_none "the commands of this script run"
[ ! -s "$failed" ]
