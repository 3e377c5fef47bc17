# Checks that the tests of the command line share. Sourced with the arguments TOOL WORK_DIR ...; then the work folder, which is new and empty, is the
# current one. Every failure of the tool has to give the documented exit code, one line that names the culprit, and no file.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../have.sh"
tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
unset GLSLINES_DESKTOP_ID GLSLINES_FORCE_LIMITS GLSLINES_INJECT GLSLINES_PROBE GLSLINES_SHADER_DIR
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
work=$PWD
: > stdout
: > stderr
failures=0
checks=0

note() {
    failures=$((failures + 1))
    echo "FAIL: $*"
    # prints the first lines, the error, and the report of a sanitizer
    sed 's/^/    | /' "$work/stderr" | awk 'NR <= 5 || /glslines: |Sanitizer|runtime error|    #[0-9]/' | head -n 40
}

# list_commands: sets $commands to the names of all commands, as the help lists them
list_commands() {
    commands=$("$tool" help | awk '/^Commands:/ { inside = 1; next } /^$/ { inside = 0 } inside && /^  [a-z]/ { print $1 }')
    [ "$(echo "$commands" | wc -l)" -ge 30 ] || note "the help lists only these commands: $commands"
}

# errors: prints how many error lines the last command printed
errors() {
    grep '^glslines: ' "$work/stderr" | grep -vc '^glslines: warning: '
}

# files: prints names and contents of all files of the work folder
files() {
    find . -type f ! -name 'std*' -print0 | sort -z | xargs -0 cksum
}

# expect CODE ARGUMENTS...: checks that a failure has one line and changes no file, unless an iteration failed (8)
expect() {
    code=$1
    shift
    checks=$((checks + 1))
    [ "$code" -eq 0 ] || before=$(files)
    "$tool" "$@" > stdout 2> stderr
    got=$?
    [ $got -eq "$code" ] || note "$*: exit code $got, not $code"
    [ "$code" -eq 0 ] && return
    [ "$(errors)" -eq 1 ] || note "$*: not one line"
    [ "$code" -eq 8 ] || [ "$before" = "$(files)" ] || note "$*: other files than before"
}

# says TEXT: checks that the last command printed the text
says() {
    cat stdout stderr | grep -qF -e "$1" || note "no \"$1\" in the output"
}

# contains FILE TEXT
contains() {
    grep -qF -e "$2" "$1" || note "$1: no \"$2\""
}

# same FILE FILE
same() {
    cmp -s "$1" "$2" || note "$1 and $2 differ"
}

# finish WHAT: ends the test, with the name WHAT
finish() {
    [ $failures -eq 0 ] || { echo "FAIL $1: $failures failures"; exit 1; }
    echo "ok   $1"
    exit 0
}
