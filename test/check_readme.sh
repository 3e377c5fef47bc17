#!/bin/sh
# Checks that README.md is what the program says: option tables and exit codes between their markers, the C example compiles, linked files exist.
# Usage: sh test/check_readme.sh GLSLINES [--update]      --update: writes the tables anew instead of comparing them
set -eu
[ $# -ge 1 ] || { echo "usage: sh test/check_readme.sh GLSLINES [--update]" >&2 && exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mode=${2:-}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0

note() {
    echo "FAIL README.md: $*"
    code=1
}

for command in track merge fit score phantom bench devices; do "$program" help --markdown "$command" > "$work/options: $command"; done
python3 test/bench/table.py > "$work/speed" || note "test/bench/table.py failed"
# the lines "  2    usage: ..." under "Exit codes:"
"$program" help | awk 'BEGIN { print "| code | meaning |"; print "|---|---|" }
    /^Exit codes:/ { inside = 1; next }
    /^$/ { inside = 0 }
    inside { code = $1; sub(/^ *[0-9]+ +/, ""); print "| " code " | " $0 " |" }' > "$work/exit codes"

# Each "<!-- NAME -->" whose table was made is followed by it up to "<!-- end of NAME -->".
awk -v work="$work" '
    !name && /^<!-- .* -->$/ {
        name = substr($0, 6, length($0) - 9)
        print
        if ((getline line < (work "/" name)) <= 0) { name = ""; next }
        do print line; while ((getline line < (work "/" name)) > 0)
        print name > (work "/found")
        next
    }
    name && $0 == "<!-- end of " name " -->" { name = "" }
    !name { print }
    END { if (name) { print "no end of " name > "/dev/stderr"; exit 1 } }' README.md > "$work/README.md"
for table in "options: track" "options: merge" "options: fit" "options: score" "options: phantom" "options: bench" speed "options: devices" "exit codes"; do
    grep -qxF "$table" "$work/found" 2> /dev/null || note "no place for '$table'"
done
if [ "$mode" = --update ]; then
    cmp -s "$work/README.md" README.md || cp "$work/README.md" README.md
elif ! diff -u README.md "$work/README.md"; then
    note "tables differ from what the program says; write them anew with: sh test/check_readme.sh GLSLINES --update"
fi

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md > "$work/example.c"
[ -s "$work/example.c" ] || note "no C example"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/example.c" || note "the C example does not compile"

grep -oE '\]\([^)# ]+|src="[^"]+' README.md | sed -e 's/^](//' -e 's/^src="//' | grep -v '://' > "$work/links"
while read -r link; do
    [ -e "$link" ] || note "there is no $link"
done < "$work/links"

[ $code -ne 0 ] || echo "ok   README.md"
exit $code
