#!/bin/sh
# Validates composed shaders with glslangValidator. Usage: sh test/check_shaders.sh FOLDER... (as filled by GLSLINES_DUMP_SHADERS)
set -eu
checked=0 failures=0
for folder in "$@"; do
    for shader in "$folder"/*.comp; do
        [ -e "$shader" ] || { echo "FAIL no shader in $folder"; exit 1; }
        checked=$((checked + 1))
        # subgroup operations exist in glslang only for a SPIR-V of version 1.3 or newer, and that asks for explicit locations
        options=
        if grep -q GL_KHR_shader_subgroup "$shader"; then options="-G --target-env spirv1.3 --auto-map-locations --auto-map-bindings -o /dev/null"; fi
        # shellcheck disable=SC2086
        output=$(glslangValidator $options -S comp "$shader" 2>&1) || {
            failures=$((failures + 1))
            printf 'FAIL %s\n%s\n' "$shader" "$output" | head -n 20
        }
    done
done
echo "glslangValidator: $((checked - failures)) of $checked shaders accepted"
[ "$failures" -eq 0 ]
