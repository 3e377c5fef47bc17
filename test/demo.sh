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
cmake -S "$root" -B "$root/build" -G Ninja -DGLS_TESTS=OFF > "$root/build.log" 2>&1 && cmake --build "$root/build" >> "$root/build.log" 2>&1 || {
    cat "$root/build.log" >&2
    exit 1
}
rm -f "$root/build.log"

case ${1:-} in
    "" | -*) output=$root/build/phantom.trx ;;
    *) output=$1 && shift ;;
esac
"$root/build/glslines" track --phantom -o "$output" --force "$@"
say "
The tractogram is in $output, all settings and counts are in ${output%.*}.json.
Look at it with a viewer of TRX files such as niivue, or run 'sh test/demo.sh phantom.tck' for MRtrix3's mrview; build/glslines track --help shows the options."
