#!/bin/sh
# The library from files to a tractogram gives the program's file: library.sh TOOL WORK_DIR EXAMPLE, with EXAMPLE built from test/examples/track_files.c.
set -u
tool=$1
work=$2
example=$3
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
case $example in /*) ;; *) example=$PWD/$example ;; esac
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1

fail() {
    echo "FAIL: $1"
    exit 1
}

# the pkg-config file names the folders beside it, wherever the library was installed; below /usr it names the system's folders, which commands need
# not name
build=$(dirname "$tool")
# folders PC_DIR PREFIX: checks the folders that the file there names
folders() {
    ! grep // "$1/glslines.pc" || fail "glslines.pc has a double slash"
    for folder in prefix=$2 libdir=$2/lib64 includedir=$2/include; do
        found=$(PKG_CONFIG_LIBDIR=$1 pkg-config --variable="${folder%%=*}" glslines)
        [ "$(realpath -m "$found")" = "$(realpath -m "${folder#*=}")" ] || fail "$1/glslines.pc: ${folder%%=*} is $found"
    done
}
if [ -e "$build/glslines.pc" ] && command -v pkg-config > /dev/null; then
    source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
    # the file of this build, in another place
    libraries=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
    mkdir -p "root/$libraries/pkgconfig"
    cp "$build/glslines.pc" "root/$libraries/pkgconfig"
    found=$(PKG_CONFIG_LIBDIR=$PWD/root/$libraries/pkgconfig pkg-config --variable=includedir glslines)
    [ "$(realpath -m "$found")" = "$PWD/root/include" ] || fail "glslines.pc of this build: headers in $found"
    # also if CMake is given the whole path of the library folder
    for choice in "$PWD/first $PWD/first/lib64" "/usr /usr/lib64" "/usr lib64"; do
        prefix=${choice% *}
        cmake -S "$source" -B configured -DGLS_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR="${choice#* }" > configure.log 2>&1 || { cat configure.log; fail "not configured"; }
        DESTDIR=$PWD/stage cmake --install configured --component pkgconfig > install.log || fail "not installed for $choice"
        [ "$prefix" = /usr ] || prefix=$PWD/stage$prefix
        folders "$PWD/stage${choice% *}/lib64/pkgconfig" "$prefix"
    done
    # the file of that build in another place, and in the folder of a package
    cmake --install configured --prefix "$PWD/moved" --component pkgconfig > install.log || fail "not installed elsewhere"
    folders "$PWD/moved/lib64/pkgconfig" "$PWD/moved"
    cmake --install configured --prefix "$PWD/package/usr" --component pkgconfig > install.log || fail "not installed for a package"
    folders "$PWD/package/usr/lib64/pkgconfig" /usr
    libraries=$(PKG_CONFIG_LIBDIR=$PWD/package/usr/lib64/pkgconfig PKG_CONFIG_SYSTEM_LIBRARY_PATH=/usr/lib64 pkg-config --libs glslines | tr -d ' ')
    [ "$libraries" = -lglslines ] || fail "glslines.pc below /usr: $libraries"
fi

"$tool" phantom data --shape 18 20 18 --voxel-size 4 -q || fail "no phantom"
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz
for suffix in trx trk tck; do
    "$tool" track "$@" --device llvmpipe --nseeds 200 -o "tool.$suffix" -q || fail "the program, $suffix"
    "$example" "$@" "library.$suffix" llvmpipe 200 > stdout 2> stderr || fail "the library, $suffix: $(cat stderr)"
    cmp "tool.$suffix" "library.$suffix" || fail "$suffix: the library's file is not the program's"
    [ -s "library.$suffix.json" ] || [ -s library.json ] || fail "$suffix: no sidecar of the library"
    [ ! -s stderr ] || fail "the library printed: $(cat stderr)"
done
grep -q ' streamlines of ' stdout || fail "the example told nothing"
python3 - << 'END' || fail "sidecars differ"
import json
a, b = json.load(open("tool.json")), json.load(open("library.json"))
for record in (a, b):
    for key in ("command_line", "run", "seconds"):
        del record[key]
    for key in ("output", "sidecar"):
        del record["parameters"][key]
    del record["output"]["path"], record["outputs"]["tractogram"]["file"]
assert a == b, [key for key in a if a[key] != b.get(key)]
END
"$example" missing.nii data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz none.trx 2> stderr && fail "a missing file is no failure"
grep -q '^missing.nii: cannot be read' stderr || fail "the message: $(cat stderr)"
[ ! -e none.trx ] || fail "a file after a failure"
echo ok
