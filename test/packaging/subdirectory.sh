#!/bin/sh
# The library inside another CMake project, by add_subdirectory(): the other project links glslines::glslines, and gets no flag, test, package or
# installed file of it; what is missing is named in one line, and found once it is there.
# Usage: sh test/packaging/subdirectory.sh WORK_FOLDER [--build]      --build: builds and runs the other project, too.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1/parent"
cd "$1"

fail() {
    echo "FAIL: $1"
    exit 1
}

cat > parent/CMakeLists.txt << END_OF_FILE
cmake_minimum_required(VERSION 3.22)
project(parent VERSION 7.8.9 LANGUAGES C)
enable_testing()
add_subdirectory($root glslines EXCLUDE_FROM_ALL)
add_executable(app app.c)
target_link_libraries(app PRIVATE glslines::glslines)
add_executable(alone alone.c)
target_link_libraries(alone PRIVATE glslines::compute)
add_test(NAME parents_own COMMAND app)
install(TARGETS app)
include(CPack)
END_OF_FILE
# with -Wall -Werror this code would not compile
cat > parent/app.c << 'END_OF_FILE'
#include <glslines/glslines.h>
#include <stdio.h>
static int unused;
int main(void)
{
    int never_read;
    gls_job_options options = gls_job_options_default();
    printf("glslines %s, %g degrees\n", gls_version(), options.track.max_angle);
    return 0;
}
END_OF_FILE

# the compute library without the tracker
cat > parent/alone.c << 'END_OF_FILE'
#include <glslines/compute.h>
int main(void)
{
    return gls_type_stored(GLS_TYPE_FLOAT64) != GLS_TYPE_FLOAT32;
}
END_OF_FILE

cmake -S parent -B build -G Ninja -DGLS_WERROR=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > configure.log 2>&1 || { cat configure.log; fail "the other project is not configured"; }
python3 - << 'END_OF_FILE' || fail "compiler flags"
import json
commands = {c["file"].rsplit("/", 1)[-1]: c["command"] for c in json.load(open("build/compile_commands.json"))}
assert "-Werror" in commands["run.c"] and "-O3" in commands["run.c"], commands["run.c"]
ours = [word for word in commands["app.c"].split() if word.startswith(("-W", "-f", "-D", "-O", "-std"))]
assert not ours, ours
assert not any(name in commands for name in ("main.c", "cmd_track.c")), "the program is built, too"
END_OF_FILE
[ "$(ctest --test-dir build -N | grep -c 'Test *#')" = 1 ] || fail "tests of glslines are tests of the other project"
grep -q 'CPACK_PACKAGE_NAME "parent"' build/CPackConfig.cmake || fail "the package of the other project is named otherwise"
! grep -rlE '^ *file\(INSTALL' build/glslines --include=cmake_install.cmake > installs || fail "rules for installation: $(cat installs)"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' build/CMakeCache.txt || fail "the other project's build type is set"

lacks() { # FOLDER WHAT: says so, and how to install it
    # shellcheck disable=SC2016
    line=$(grep -c "not found: $2.*type: sudo apt-get install gcc libc6-dev .* libopenblas-dev .* libgl1-mesa-dri\$" "$1.log") || { cat "$1.log"; fail "what is missing is not named"; }
    [ "$line" = 1 ] || fail "what is missing is named $line times"
}
! CC=$PWD/no-compiler cmake -S "$root" -B bare -G Ninja > bare.log 2>&1 || fail "configured without a compiler"
lacks bare "a C compiler with its headers"
! PKG_CONFIG_LIBDIR=$PWD cmake -S "$root" -B bare -G Ninja > bare.log 2>&1 || fail "configured without libraries"
lacks bare "epoxy, egl, lapacke, libcjson, libxxhash, gbm, openblas"
cmake -S "$root" -B bare -G Ninja -DGLS_TESTS=OFF > bare.log 2>&1 || { cat bare.log; fail "not configured once everything is there"; }

if [ "${2:-}" = --build ]; then
    cmake --build build --parallel > build.log 2>&1 || { cat build.log; fail "the other project is not built"; }
    ./build/app | grep -q '^glslines 0\.[0-9.]*, [0-9]* degrees$' || fail "the program prints: $(./build/app)"
    ./build/alone || fail "the program on the compute library fails"
    ! ldd build/alone | grep -q libglslines.so || fail "the program on the compute library needs the tracker"
    cmake --install build --prefix "$PWD/installed" > install.log
    [ "$(find installed -type f)" = installed/bin/app ] || fail "installed besides: $(find installed -type f)"
fi
echo ok
