#!/bin/sh
# Checks whose input or tool is missing must fail, not pass. Usage: sh test/no_input.sh
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# refuses TEXT COMMAND...: the command has to fail, and to print the text
refuses() {
    text=$1
    shift
    if ! "$@" > "$work/log" 2>&1 && grep -qF -e "$text" "$work/log"; then
        echo "ok   $text"
    else
        echo "FAIL $text: $*"
        sed 's/^/    /' "$work/log"
        failed=1
    fi
}

# a folder with the programs that a check needs, but one
mkdir "$work/bin" "$work/empty"
for program in dirname find gcc as; do ln -s "$(command -v $program)" "$work/bin/$program"; done
without="env PATH=$work/bin GLS_TEST_REQUIRE_GPU=1 /bin/sh"
# a program whose help lists no command
printf '#!/bin/sh\n' > "$work/glslines"
chmod +x "$work/glslines"

refuses "0 of 0 checks passed" sh test/check_shaders.sh
refuses "has no objects of this tree" python3 test/tools/house.py "$work/empty" --check
refuses "readelf is missing" $without test/rpath.sh /bin/ls
refuses "c++ is not installed" $without test/header/alone.sh gcc include image.h
refuses "the help lists only these commands" sh -c '. test/cli/common.sh; list_commands; exit $failures' test/cli/alone.sh "$work/glslines" "$work/out"
exit $failed
