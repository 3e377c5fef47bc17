# Sourced by scripts with their arguments GLSLINES WORK_FOLDER: a new work folder, checks, and $failed.
set -u
. "$(cd "$(dirname "$0")/.." && pwd)/have.sh"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rm -rf "$2"
mkdir -p "$2"
cd "$2" || exit 1
failed=0

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" > check.log 2>&1; then
        echo "ok   $name"
    else
        echo "FAIL $name"
        cat check.log
        failed=1
    fi
}

# exits CODE TEXT COMMAND...: checks the exit code, and a text on standard error
exits() {
    wanted=$1 text=$2
    shift 2
    "$@" > exits.out 2> exits.err
    code=$?
    if [ $code -eq "$wanted" ] && grep -q "$text" exits.err; then
        echo "ok   $text"
    else
        echo "FAIL $text: exit code $code"
        cat exits.err
        failed=1
    fi
}
