#!/bin/sh
# Installs what is needed, builds glslines and tracks the built-in phantom.
# Usage: sh test/demo.sh [OUTPUT.trx|.trk|.tck] [options of glslines track]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/test/setup.sh"

# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES
want_packages $OPTIONAL_PACKAGES
say "building glslines in $root/build"
log=$root/build.log
cmake -S "$root" -B "$root/build" -G Ninja -DGLS_TESTS=OFF > "$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
# ninja prints "[12/345] ..." for each file: print a line for each tenth, and the log if it fails
{ cmake --build "$root/build" 2>&1 || echo "the build failed"; } | awk -v log_file="$log" '
    { print >> log_file }
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
        split(substr($0, 2, RLENGTH - 2), n, "/")
        tenth = int(10 * n[1] / n[2])
        if (tenth > last) print "  " 10 * tenth " % built"
        if (tenth > last) last = tenth
        fflush()
    }
    $0 == "the build failed" { failed = 1 }
    END { exit failed }' >&2 || {
    cat "$log" >&2
    exit 1
}
rm -f "$log"

case ${1:-} in
    "" | -*) output=$root/build/phantom.trx ;;
    *) output=$1 && shift ;;
esac
"$root/build/glslines" track --phantom -o "$output" --force "$@"
say "
The tractogram is in $output, all settings and counts are in ${output%.*}.json.
A picture of it:        $root/build/glslines render $output ${output%.*}.png
For MRtrix3's mrview:   $root/build/glslines convert $output ${output%.*}.tck
niivue and other viewers of TRX files show it as it is; '$root/build/glslines help' lists commands and the manual."
