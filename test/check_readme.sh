#!/bin/sh
# Checks that README.md and the manual in src/doc say what the program does: length of the README, generated tables (options, exit codes, speed) between
# their markers, C examples, links, and every command line of glslines in them.
# Usage: sh test/check_readme.sh GLSLINES [--update]      --update: writes the tables anew instead of comparing them
set -eu
[ $# -ge 1 ] || { echo "usage: sh test/check_readme.sh GLSLINES [--update]" >&2 && exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mode=${2:-}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
texts="README.md $(echo src/doc/*.md)"
commands=$("$program" help --format json | python3 -c 'import json, sys; print(*(c["name"] for c in json.load(sys.stdin)["commands"]))')

note() {
    echo "FAIL $*"
    code=1
}

[ "$(wc -l < README.md)" -le 170 ] || note "README.md: more than 170 lines; it says what a new user needs, the rest belongs to src/doc"
# shellcheck disable=SC2086
if LC_ALL=C grep -n '[^ -~]' $texts; then note "characters that are not ASCII: the manual is shown in any terminal"; fi
# a blank line cuts a table in two, and the second part has no header
# shellcheck disable=SC2086
broken=$(awk '
    FNR == 1 { before = ""; begins = 0 }
    begins && $0 !~ /^\|[-:| ]+\|$/ { print FILENAME ":" FNR - 1 }
    { begins = /^\|/ && before !~ /^\|/; before = $0 }' $texts)
[ -z "$broken" ] || note "a table without header and rule: $broken"

# --- generated tables ---
for command in $commands; do "$program" help --format markdown "$command" > "$work/options: $command"; done
awk -F ' [|] ' 'BEGIN { print "| option | meaning |\n|---|---|" } $1 ~ /REGION`|`--stop`|`--mask-stop / { print $1 " | " $4 }' \
    "$work/options: track" > "$work/regions"
"$program" cite --format markdown > "$work/papers"
python3 test/bench/table.py > "$work/speed" || note "test/bench/table.py failed"
# options of other programs, program by program, from the rows of src/options/bridge.c
python3 - > "$work/other programs" << 'END' || note "src/options/bridge.c: no rows"
import re
rows = re.findall(r'\{"([^"]*)", "([^"]*)",\s*"([^"]*)"\}', open("src/options/bridge.c").read().split("values[]")[0])
assert len(rows) > 20
print("| program | option | here |\n|---|---|---|")
for program, option, here in rows:
    print(f"| {program} | `{option.replace('|', '`, `')}` | {here} |")
END
# their values
python3 - > "$work/other values" << 'END' || note "src/options/bridge.c: no values"
import re
rows = re.findall(r'\{"([^"]*)", "([^"]*)", ("[^"]*"|NULL),\s*"([^"]*)"\}', open("src/options/bridge.c").read().split("values[]")[1])
assert len(rows) > 10
print("| value | here |\n|---|---|")
for option, value, word, here in rows:
    print(f"| `--{option} {value}` | {here if word != 'NULL' else 'refused; here it is ' + here} |")
END
# defaults by preset, getter and model, from the rows of src/record/defaults.def
python3 - > "$work/defaults" << 'END' || note "src/record/defaults.def: no rows"
import re
text = open("src/record/defaults.def").read()
params = {m[0]: (m[1], m[2]) for m in re.findall(r'GLS_PARAM\(\w+, \w+, \w+, (\w+),\s*"([^"]+)", \S+, \S+,\s*("[^"]*"|NULL)', re.sub(r"\s+", " ", open("include/glslines/params.def").read()))}
rows = re.findall(r'DEFAULT\(([A-Z |]+), ([A-Za-z0-9 |]+), ([A-Z |_]+), (\w+), ([^,]+), (true|false),\s*"([^"]*)"\)', re.sub(r"\s+", " ", text).replace("_PRESETS", "").replace("_GETTERS", ""))
assert len(rows) == text.count("\nDEFAULT("), (len(rows), text.count("\nDEFAULT("))
words = lambda names, of: "all" if names.startswith("ALL") else ", ".join(n.strip().lower() for n in names.split("|")).replace("plain", "default")
print("| preset | getter | model | option | value | reason |\n|---|---|---|---|---|---|")
for presets, getters, models, field, value, mm, reason in rows:
    option, unit = params[field]
    value = value.split("_")[-1].lower() if value.startswith("GLS_") else value
    if value.startswith("-"):
        value = value[1:] + " voxels"
    elif mm == "true":
        value += " mm"
    elif unit != "NULL":
        value += " " + unit.strip('"')
    print(f"| {words(presets, 'preset')} | {words(getters, 'getter')} | {words(models, 'model')} | `--{option}` | {value} | {reason} |")
END
# the lines "  2    usage: ..." under "Exit codes:"
COLUMNS=120 "$program" help | awk 'BEGIN { print "| code | meaning |"; print "|---|---|" }
    /^Exit codes:/ { inside = 1; next }
    /^$/ { inside = 0 }
    inside { code = $1; sub(/^ *[0-9]+ +/, ""); print "| " code " | " $0 " |" }' > "$work/exit codes"

# Each "<!-- NAME -->" whose table was made is followed by the table and by "<!-- end of NAME -->".
for text in $texts; do
    awk -v work="$work" '
        !name && /^<!-- .* -->$/ {
            name = substr($0, 6, length($0) - 9)
            print
            if ((getline line < (work "/" name)) <= 0) { name = ""; next }
            do print line; while ((getline line < (work "/" name)) > 0)
            close(work "/" name)
            print name >> (work "/found")
            next
        }
        name && $0 == "<!-- end of " name " -->" { name = "" }
        !name { print }
        END { if (name) { print "no end of " name > "/dev/stderr"; exit 1 } }' "$text" > "$work/text"
    if [ "$mode" = --update ]; then
        cmp -s "$work/text" "$text" || cp "$work/text" "$text"
    elif ! diff -u "$text" "$work/text"; then
        note "$text: tables differ from what the program says; write them anew with: sh test/check_readme.sh GLSLINES --update"
    fi
done
for table in "$work/options: "* "$work/regions" "$work/speed" "$work/exit codes" "$work/other programs" "$work/other values" "$work/defaults" "$work/papers"; do
    table=${table##*/}
    places=$(grep -cxF "$table" "$work/found" 2> /dev/null) || note "no place for '$table'"
    [ "${places:-0}" -le 1 ] || note "'$table' has $places places"
done

# --- examples in C, links, topics ---
for text in $texts; do
    folder=$(dirname "$text")
    awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$text" > "$work/example.c"
    [ ! -s "$work/example.c" ] || ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/example.c" || note "$text: the C example does not compile"
    { grep -oE '\]\([^)# ]+' "$text" || true; } | sed 's/^](//' | { grep -v '://' || true; } > "$work/links"
    while read -r link; do
        [ -e "$folder/$link" ] || note "$text: there is no $link"
    done < "$work/links"
    # paths of the repository that stand in the text
    { grep -oE '\b(src|test|glsl|include|third_party_notes)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]' "$text" || true; } | sort -u > "$work/paths"
    while read -r path; do
        # shellcheck disable=SC2086
        [ "$path" = test/bench_matmul ] || ls -d $path > "$work/listing" 2>&1 || note "$text: there is no $path"
    done < "$work/paths"
done
for topic in src/doc/*.md; do
    name=$(basename "$topic" .md)
    case $name in README) continue ;; esac
    grep -qF "]($name.md)" src/doc/README.md || note "src/doc/README.md: $name.md is not listed"
done
# messages that troubleshooting quotes stand in the source
grep '^Printed: `' src/doc/troubleshooting.md | sed 's/^Printed: `\(.*\)`$/\1/' > "$work/printed"
[ "$(wc -l < "$work/printed")" -ge 10 ] || note "src/doc/troubleshooting.md: hardly any line of what is printed"
while read -r text; do
    grep -rqF -e "$text" --include=*.c src || note "src/doc/troubleshooting.md: nothing in src prints '$text'"
done < "$work/printed"
version=$("$program" --version | cut -d ' ' -f 2)
grep -qx "version: $version" src/doc/CITATION.cff || note "src/doc/CITATION.cff: another version than $version"
python3 - "$version" << 'END' || note ".zenodo.json: not what CITATION.cff says"
import json, re, sys
record, citation = json.load(open(".zenodo.json")), open("src/doc/CITATION.cff").read()
assert record["version"] == sys.argv[1] and record["title"] == re.search('^title: "(.*)"', citation, re.M)[1], record
assert record["license"] == re.search("^license: (.*)", citation, re.M)[1] and record["upload_type"] == "software"
assert record["creators"][0]["name"] == re.search('name: "(.*)"', citation)[1] and record["keywords"] == re.findall("^  - ([^\\n:]*)$", citation, re.M)
END
# the heading Unreleased stands for this version; without it the newest entry has to be this version
grep '^## ' src/doc/CHANGELOG.md | head -n 1 | grep -qE "^## (Unreleased|$version, [0-9]{4}-[0-9]{2}-[0-9]{2})$" ||
    note "src/doc/CHANGELOG.md: the newest entry is neither '## Unreleased' nor '## $version, DATE'"
grep -q "^## $version, " src/doc/CHANGELOG.md && grep -qx '## Unreleased' src/doc/CHANGELOG.md &&
    note "CMakeLists.txt: version $version is released already: raise it with the first entry under Unreleased"

# the packages of README.md are those of test/setup.sh
# shellcheck disable=SC2016
sh -c '. test/setup.sh; printf "%s\n" $BUILD_PACKAGES' | sort > "$work/packages"
sed -n '/^sudo apt-get install/,/[^\\]$/p' README.md | sed 's/^sudo apt-get install -y//' | tr -d '\\' | tr -s ' \n' '\n' | grep . | sort > "$work/named"
diff "$work/packages" "$work/named" || note "README.md: other packages than BUILD_PACKAGES of test/setup.sh"

# --- command lines: each command exists, and so does each of its options; options behind -- are those of track ---
words=$(echo "$commands" | tr ' ' '|')
# shellcheck disable=SC2086
sed -e ':join' -e '/\\$/{N;s/ *\\\n */ /;bjoin' -e '}' $texts | grep -oE '(^|[ `(/])glslines ('"$words"')( [^`|)]*)?' | sed 's/^[ `(/]//' > "$work/lines" || true
[ "$(wc -l < "$work/lines")" -ge 200 ] || note "hardly any command line in README.md and src/doc"
while read -r name command rest; do
    for word in $rest; do
        [ "$word" != -- ] || command=track
        option=$(printf '%s\n' "$word" | sed -n 's/^\(--[a-z][a-z0-9-]*\).*/\1/p')
        [ -z "$option" ] || grep -qE "^\| \`(-[a-zA-Z], )?${option}[ \`]" "$work/options: $command" || note "$name $command has no option $option"
    done
done < "$work/lines"
# an option that is named alone is one of some command, or of a program that is named beside it
cat "$work/options: "* | grep -oE '^\| `[^`]*`' | grep -oE -e '--[a-z][a-z-]*' | sort -u > "$work/known"
printf '%s\n' --version --quick --paper --update --build --install --dpi --group-add --gpus --bind --contain --nv --cores --array --cflags --libs --static --ntasks --job-name --rm --network --cpus --mem --no-deps --variable --row >> "$work/known"
# shellcheck disable=SC2086
cat $texts | grep -oE '(^|[ `(])--[a-z][a-z-]+' | sed 's/^[ `(]//' | sort -u > "$work/options"
[ "$(wc -l < "$work/options")" -ge 200 ] || note "hardly any option in README.md and src/doc"
grep -vxF -f "$work/known" "$work/options" > "$work/unknown" || true
[ ! -s "$work/unknown" ] || note "no command has the option $(tr '\n' ' ' < "$work/unknown")"

[ $code -ne 0 ] || echo "ok   README.md and src/doc"
exit $code
