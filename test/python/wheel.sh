#!/bin/sh
# The wheel in an environment of its own: what it holds, and that package and program track without anything of this tree. Usage: sh test/python/wheel.sh PYTHON WORK_FOLDER
set -eu
python=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$work/dist" "$work/clean"
GLS_WHEEL_BUILD=$work/build sh "$root/test/packaging/wheel.sh" "$python" "$work/dist"
wheel=$(ls "$work"/dist/*.whl)

names=$("$python" -c 'import sys, zipfile; print("\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))' "$wheel")
if echo "$names" | grep -E 'lib(EGL|GL|GLX|OpenGL|GLES|GLdispatch|gbm|drm)'; then
    echo "FAIL: the wheel holds libraries of the driver"
    exit 1
fi
for file in LICENSE third_party_notes/openblas_lapacke.md libraries/.*gomp; do
    echo "$names" | grep -q "dist-info/licenses/$file" || { echo "FAIL: no licences/$file in the wheel"; exit 1; }
done
bytes=$(wc -c < "$wheel")
# two thirds of it are OpenBLAS and LAPACK; the program itself passed 20 MiB with registration and recognition
[ "$bytes" -le 25165824 ] || { echo "FAIL: $bytes bytes, over 24 MiB"; exit 1; }

"$python" -m venv "$work/clean"
"$work/clean/bin/python" -m pip install -q --disable-pip-version-check "$wheel"
sh "$root/test/rpath.sh" "$work"/clean/lib/python3*/site-packages/glslines*
cd "$work"
unset PYTHONPATH GLSLINES_LIBRARY
"$work/clean/bin/glslines" track --phantom -q --device llvmpipe --nseeds 100 -o program.trx --force
"$work/clean/bin/python" -c '
import filecmp, importlib.metadata, glslines
assert importlib.metadata.version("glslines") == glslines.__version__, glslines.__version__
assert glslines._library.path.startswith(glslines.__path__[0]), glslines._library.path
glslines.track(phantom=True, out="python.trx", nseeds=100, device="llvmpipe", force=True)
assert len(glslines.load("python.trx")) > 50
assert filecmp.cmp("program.trx", "python.trx", shallow=False)'
# the window: libwebsockets is in the wheel where it was there, else the error says what to do
window=no
if pkg-config --exists libwebsockets; then window=yes; fi
"$work/clean/bin/python" -c '
import sys, urllib.request, glslines
try:
    with glslines.view("program.trx") as window:
        assert sys.argv[1] == "yes" and b"glslines view" in urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(window.address).read()
except glslines.UnsupportedError as error:
    assert sys.argv[1] == "no" and "libwebsockets-dev" in str(error) and "Debian package" in str(error), error' $window
# types of the public face: what a scientist types, and the functions themselves
"$python" -m pip install -q --disable-pip-version-check mypy numpy ruff
"$python" -m ruff check -q --no-cache --config "$root/src/python/pyproject.toml" "$root/src/python" "$root/test/python"
mkdir -p "$work/types"
"$python" -m mypy --strict --python-executable "$work/clean/bin/python" --cache-dir "$work/types" "$root/test/python/client.py"
for module in commands _program _exchange; do
    "$python" -m mypy --strict --python-executable "$work/clean/bin/python" --cache-dir "$work/types" -m "glslines.$module"
done
echo "ok: $(basename "$wheel"), $bytes bytes"
