#!/bin/sh
# The manual in the program: topics as text at any width, manual pages that mandoc accepts, completions that their shells accept and that complete.
# Usage: sh test/cli/manual.sh TOOL WORK_FOLDER. Uses mandoc, zsh and fish, which may be absent unless GLS_TEST_REQUIRE_GPU is set.
. "$(dirname "$0")/common.sh"
source=$(cd "$here/../.." && pwd)

"$tool" help > overview || note "help"
list_commands
topics=$(awk '/^Topics/ { inside = 1; next } /^$/ { inside = 0 } inside && /^  [a-z]/ { print $1 }' overview)
[ "$(echo "$topics" | wc -l)" -ge 15 ] || note "only these topics: $topics"
grep -q -e --version overview || note "--version is not in the help"
[ "$(printf '%s\n%s\n' "$commands" "$topics" | sort | uniq -d)" = "" ] || note "a topic has the name of a command, which hides it"
for file in "$source"/src/doc/*.md; do
    name=$(basename "$file" .md | tr '[:upper:]' '[:lower:]')
    case $name in readme | options) continue ;; esac
    echo "$topics" | grep -qx "$name" || note "src/doc/$name.md is no topic"
done

# --- text: only code may be wider than the terminal; no marks of Markdown are left ---
for topic in $topics; do
    for width in 60 80 120; do
        COLUMNS=$width "$tool" help "$topic" > text || note "help $topic"
        awk -v width=$width 'length > width && !/^    / { exit 1 }' text || note "help $topic: wider than $width columns"
        [ -s text ] || note "help $topic: empty"
    done
    if grep -nE '^(#+ |\||```|<!--)|\]\(|\*\*' text | grep -vE '^[0-9]+:#(!|SBATCH)'; then note "help $topic: marks are left"; fi
    "$tool" help --format markdown "$topic" | head -n 1 | grep -q '^# ' || note "help --format markdown $topic"
done

# --- for programs ---
"$tool" help --format json > all.json || note "help --format json"
for name in $commands $topics; do "$tool" help --format json "$name" > "one_$name.json" || note "help --format json $name"; done
python3 - $commands << 'PYTHON' || note "help --format json: not what the help says"
import json, subprocess, sys
every = json.load(open("all.json"))
assert [c["name"] for c in every["commands"]] == sys.argv[1:], "commands"
assert len(every["topics"]) > 15 and len(every["exit_codes"]) > 5 and every["version"]
for command in every["commands"]:
    assert command == json.load(open(f"one_{command['name']}.json")), command["name"]
track = {o["name"]: o for o in every["commands"][0]["options"]}
assert track["dg"]["choices"][:3] == ["boot", "prob", "det"] and track["max-angle"]["unit"] == "degrees" and "25 degrees" in track["max-angle"]["default"]
assert track["output"]["letter"] == "o" and track["force"]["type"] == "flag"
assert track["t1"]["since"] == "0.2.0" and track["dg"]["since"] is None and {c["name"]: c["since"] for c in every["commands"]}["anat"] == "0.2.0"
for topic in every["topics"]:
    assert json.load(open(f"one_{topic['name']}.json"))["text"].startswith("# ")
PYTHON

# --- what to cite ---
"$tool" cite > list || note cite
[ "$(wc -l < list)" -ge 38 ] || note "cite: $(wc -l < list) lines"
grep -q "PhD thesis, University of Cambridge, 2012" list && ! grep -q " :" list || note "cite: a thesis"
"$tool" cite --format bibtex > all.bib || note "cite --format bibtex"
[ "$(grep -c '^@' all.bib)" = "$(wc -l < list)" ] && [ "$(grep -o '[{]' all.bib | wc -l)" = "$(grep -o '[}]' all.bib | wc -l)" ] || note "cite: braces of BibTeX"
"$tool" cite --format cff | cmp -s - "$source/src/doc/CITATION.cff" || note "cite --format cff"
expect 3 cite no_such_run.json
echo '{"software": {"name": "another", "version": "1"}}' > "$work/another.json"
expect 3 cite another.json
"$tool" track --phantom --model opdt --nseeds 20 --device llvmpipe -q -o cited.trx --dg ptt || note "a run to cite"
"$tool" cite cited.trx > list || note "cite RUN"
{ [ "$(wc -l < list)" -eq 6 ] && grep -q Aydogan list && grep -q Tristan list && grep -q Basser list && grep -q Salmon list; } || note "cite RUN: $(cat list)"
"$tool" help bundles | grep -qxF '[Picture: The bundles of the phantom in colours, with their names and numbers]' || note "a picture in a topic: $("$tool" help bundles | grep -n 'phantom in colours')"
"$tool" cite cited.json --format bibtex | grep -q '^@article{ptt,' || note "cite RUN --format bibtex"

# --- manual pages ---
# words: all of them, in any case, in options and in paragraphs
"$tool" help --search ODFs GLYPHS > found || note "help --search"
grep -q -e 'render --odf: ' found && grep -q '^  pictures, ' found || note "help --search: $(cat found)"
words=$("$tool" help --help | sed -n 's/^    glslines help --search //p')
# shellcheck disable=SC2086
[ -n "$words" ] && "$tool" help --search $words > found || note "help --search $words, the example of its help"
"$tool" help --search glyphs nowhere-at-all > found 2> errors
[ $? -eq 2 ] && [ ! -s found ] && [ "$(wc -l < errors)" -eq 1 ] || note "help --search of a word that is nowhere"
"$tool" help --directory share || note "help --directory"
# existing files, and the targets of links, stay unless --force is given; then all of them are replaced, or none
find share -type f -exec cksum {} + | sort > pages
echo mine > mine
ln -sf "$PWD/mine" share/man/man7/glslines-speed.7
"$tool" help --directory share 2> errors
{ [ $? -eq 4 ] && grep -q 'exists already and is not overwritten' errors && [ "$(cat mine)" = mine ]; } || note "help --directory over files: $(cat errors)"
rm share/man/man7/glslines-speed.7
mkdir share/man/man7/glslines-speed.7
rm share/man/man1/glslines.1
"$tool" help --directory share --force 2> errors
{ [ $? -eq 4 ] && grep -q 'glslines-speed.7: cannot create: is a directory' errors && [ ! -e share/man/man1/glslines.1 ]; } || note "help --directory --force, in part: $(cat errors)"
rmdir share/man/man7/glslines-speed.7
"$tool" help --directory share --force || note "help --directory --force"
find share -type f -exec cksum {} + | sort | cmp -s - pages || note "help --directory --force writes other files"
"$tool" help --force 2> errors
[ $? -eq 2 ] || note "help --force"
# a name that is too long gives an error, and no folder is made
"$tool" help --directory "$(printf 'deep%0196d/' 1 2 3 4 5 6 7 8 9)" 2> errors
{ [ $? -eq 4 ] && grep -q 'the name is too long' errors && [ -z "$(find . -name "deep*")" ]; } || note "help --directory of a name that is too long: $(cat errors)"
for command in $commands; do
    "$tool" help --format man "$command" | cmp -s - "share/man/man1/glslines-$command.1" || note "manual page of $command"
done
for topic in $topics; do
    "$tool" help --format man "$topic" | cmp -s - "share/man/man7/glslines-$topic.7" || note "manual page of $topic"
done
"$tool" help --format man | cmp -s - share/man/man1/glslines.1 || note "glslines.1"
if have mandoc; then
    mandoc -T lint -W warning share/man/man*/* > lint || note "mandoc: $(head -n 5 lint)"
    mandoc -T ascii share/man/man1/glslines-track.1 | col -b > page
    grep -q -e '--max-angle A' page || note "no --max-angle in glslines-track.1"
    mandoc -T ascii share/man/man7/glslines-clusters.7 | col -b | grep -q '#SBATCH --ntasks=8' || note "no job script in glslines-clusters.7"
fi

# the pages ask for tbl in their first line, which man follows, and so it does with the width of the terminal; groff has to be told
if have groff; then
    printf '.pl 10000i\n' > endless # one page for all pages, so that no table happens to meet the end of a page
    groff -t -man -rLL=78n -rcR=1 -ww -T ascii endless share/man/man*/* > page 2> lint || note "groff"
    [ ! -s lint ] || note "groff: $(head -n 3 lint)"
fi
python3 - $commands << 'PYTHON' || note "a manual page without an option that the help has"
import json, sys
for command in json.load(open("all.json"))["commands"]:
    page = open(f"share/man/man1/glslines-{command['name']}.1").read().replace("\\-", "-")
    assert all("--" + option["name"] in page for option in command["options"]), command["name"]
PYTHON

# --- completions ---
bash_file=share/bash-completion/completions/glslines
bash -n $bash_file || note "bash does not accept its completion file"
cat > complete.bash <<'BASH'
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_glslines
printf '%s\n' "${COMPREPLY[@]}"
BASH

# completes EXPECTED WORDS...: checks the completions of the last word
completes() {
    expected=$1
    shift
    found=$(bash complete.bash $bash_file "$@" | sort | tr '\n' ' ')
    [ "$found" = "$expected" ] || note "completion of '$*': '$found', not '$expected'"
}
mkdir folder && touch folder/dwi.nii.gz folder/dwi.bval
completes "track transform " glslines tr
completes "csa csd " glslines track --model cs
completes "--max-angle --max-attempts-per-seed --max-directions-per-seed --max-length " glslines track --max-
completes "folder/dwi.bval folder/dwi.nii.gz " glslines track folder/dwi
completes "folder/dwi.nii.gz " glslines track --fa folder/dwi.n
completes "default " glslines track --sphere de
completes "folder " glslines track --cache-dir fol
completes "getters getting-started " glslines help get
completes " " glslines track --max-angle ""
completes " " glslines track --phantom --model opdt --phant
completes "--include --include-any --include-both-ends --include-end --include-ordered " glslines track --include a.nii --include
completes "auto " glslines track --device au
mkdir folder/sub && touch folder/a.trx folder/b.tck
completes "folder/a.trx folder/b.tck folder/sub " glslines render folder/
completes "folder/a.trx folder/b.tck folder/sub " glslines convert folder/
completes "folder/a.trx folder/b.tck folder/dwi.bval folder/dwi.nii.gz folder/sub " glslines info folder/
if have zsh; then zsh -n share/zsh/site-functions/_glslines || note "zsh does not accept its completion file"; fi
if have fish; then
    HOME=$PWD fish -c 'source share/fish/vendor_completions.d/glslines.fish; complete -C "glslines track --model c"' > fish.out 2> fish.err
    grep -q '^csd' fish.out && [ ! -s fish.err ] || note "fish does not complete --model: $(head -n 2 fish.err)"
fi

[ $failures -eq 0 ] && echo "ok   manual: $(echo "$topics" | wc -l) topics, $(echo "$commands" | wc -l) commands"
[ $failures -eq 0 ]
