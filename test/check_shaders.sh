#!/bin/sh
# Validates composed shaders with glslangValidator. Usage: sh test/check_shaders.sh FOLDER... (as filled by GLSLINES_DUMP_SHADERS, or by the program dump_shaders;
# with "least" in the name: for a device with no more than OpenGL ES 3.1 demands)
set -eu
checked=0 failures=0

refuse() { # FILE TEXT
    failures=$((failures + 1))
    printf 'FAIL %s\n%s\n' "$1" "$2" | head -n 20
}

# Checks that a shader uses no more storage blocks than OpenGL ES demands: four, at the bindings 0 to 3.
check_blocks() { # FILE
    checked=$((checked + 1))
    bindings=$(grep -oE '^layout\(std430, binding = [0-9]+\)' "$1" | grep -oE '[0-9]+\)' | tr -d ')' | sort -n | tr '\n' ' ')
    if [ -z "$bindings" ] || ! printf '%s' "$bindings" | grep -qE '^(0 )?(1 )?(2 )?(3 )?$'; then refuse "$1" "storage blocks at $bindings"; fi
}

for folder in "$@"; do
    for shader in "$folder"/*.comp; do
        [ -e "$shader" ] || { echo "FAIL no shader in $folder"; exit 1; }
        checked=$((checked + 1))
        # glslang has subgroup operations only in SPIR-V 1.3 or newer, which needs explicit locations
        options=
        if grep -q GL_KHR_shader_subgroup "$shader"; then options="-G --target-env spirv1.3 --auto-map-locations --auto-map-bindings -o /dev/null"; fi
        # shellcheck disable=SC2086
        output=$(glslangValidator $options -S comp "$shader" 2>&1) || refuse "$shader" "$output"
        case $folder in *least*) check_blocks "$shader" ;; esac
    done
done
echo "glslangValidator: $((checked - failures)) of $checked checks passed"
[ "$checked" -gt 0 ] && [ "$failures" -eq 0 ]
