#!/bin/sh
# Writes src/bench/check_lines.c: the streamlines that 'glslines devices --check' expects, as llvmpipe tracks them.
# Usage: sh test/tools/check_lines.sh PROGRAM > src/bench/check_lines.c
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
variants="boot4 boot8 prob4 prob8 det4 det8 ptt4"
cat << 'END'
/* The streamlines of the known scene, as the check of a device compares them. From llvmpipe, which the
 * tests hold against a reference in double precision step by step; written by test/tools/check_lines.sh. */
#include "bench/check.h"

/* clang-format off */
END
for variant in $variants; do
    "$program" devices --device llvmpipe --variant "lines:$variant:single" > "$work/lines" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
    echo "static const check_line $variant[] = {"
    sed -n 's/^line\t/    /p' "$work/lines"
    echo "};"
done
echo "/* clang-format on */"
echo
echo "#define LINES(name) {name, sizeof name / sizeof *name}"
echo "const check_expected check_scene_lines[CHECK_VARIANTS] = {"
for variant in $variants; do echo "    LINES($variant),"; done
echo "};"
