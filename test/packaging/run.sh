#!/bin/sh
# Builds the packages and tracks the phantom from each. Usage: sh test/packaging/run.sh WORK_FOLDER
set -eu
cd "$(dirname "$0")/../.."
rm -rf "$1/out" "$1/deb"
mkdir -p "$1/out" "$1/deb"
work=$(cd "$1" && pwd)

track() { # PROGRAM NAME
    "$1" track --phantom -q --device llvmpipe --nseeds 100 -o "$work/out/$2.trx" --force
}

window=
if pkg-config --exists libwebsockets; then window=libwebsockets; fi
opens() { # PROGRAM: the window is there where libwebsockets is: the program asks for the file, and not for a library
    code=0
    "$1" view none.trx 2> "$work/window.log" || code=$?
    [ -z "$window" ] || [ $code -eq 3 ] || { cat "$work/window.log"; echo "FAIL: $1 view: exit code $code"; exit 1; }
}

# --- tarball ---
sh test/packaging/tarball.sh "$work/tarball" "$work/out" > "$work/tarball.log" 2>&1 || { cat "$work/tarball.log"; exit 1; }
(cd "$work/out" && sha256sum -c SHA256SUMS)
mkdir "$work/out/elsewhere"
tar -xJf "$work"/out/glslines-*.tar.xz -C "$work/out/elsewhere"
root=$(echo "$work"/out/elsewhere/glslines-*)
env -i HOME="$work" PATH=/usr/bin:/bin "$root/bin/glslines" --version
track "$root/bin/glslines" tarball
opens "$root/bin/glslines"
if ls "$root"/lib | grep -E 'lib(EGL|GL|gbm|drm|c\.so)'; then
    echo "FAIL: the tarball holds libraries of the system"
    exit 1
fi
for library in $(for file in "$root/bin/glslines" "$root"/lib/libglslines_blas.so.*; do ldd "$file"; done | awk '/openblas|lapack|nifti|epoxy|gomp/ { print $3 }'); do
    case $library in "$root"/*) ;; *) echo "FAIL: $library is not the tarball's" && exit 1 ;; esac
done
for file in lib/libglslines.so share/man/man1/glslines.1 share/bash-completion/completions/glslines share/doc/glslines/LICENSE share/doc/glslines/libraries/libgomp1; do
    [ -e "$root/$file" ] || { echo "FAIL: no $file"; exit 1; }
done
ls "$root"/share/modulefiles/glslines/*.lua > /dev/null
sh test/rpath.sh "$root"
echo "ok   tarball, needs $(objdump -T "$root/bin/glslines" "$root"/lib/libglslines.so | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)"

# --- Debian package ---
cmake -S . -B "$work/deb/build" -G Ninja -DGLS_TESTS=OFF -DGLS_UNITY=OFF -DCMAKE_INSTALL_PREFIX=/usr > "$work/deb.log"
cmake --build "$work/deb/build" >> "$work/deb.log"
(cd "$work/deb/build" && cpack -G DEB -B "$work/deb") >> "$work/deb.log" 2>&1 || { cat "$work/deb.log"; exit 1; }
package=$(ls "$work"/deb/*.deb)
dpkg-deb -f "$package" Package Version Depends Recommends
for library in libopenblas0 liblapacke $window; do
    dpkg-deb -f "$package" Depends | grep -q "$library" || { echo "FAIL: the Debian package does not depend on $library"; exit 1; }
done
lintian --allow-root --fail-on error "$package"
dpkg-deb -x "$package" "$work/deb/root"
cmake --install "$work/deb/build" --prefix "$work/deb/installed" > "$work/install.log"
sh test/rpath.sh "$work/deb/build/glslines" "$work/deb/root" "$work/deb/installed"
header=$(PKG_CONFIG_LIBDIR=$(dirname "$(find "$work/deb/root" -name glslines.pc)") pkg-config --variable=includedir glslines)/glslines/glslines.h
[ "$header" = /usr/include/glslines/glslines.h ] && [ -e "$work/deb/root$header" ] || { echo "FAIL: glslines.pc of the Debian package names $header"; exit 1; }
track "$work/deb/root/usr/bin/glslines" deb
opens "$work/deb/root/usr/bin/glslines"
cmp "$work/out/deb.trx" "$work/out/tarball.trx"
echo "ok   $(basename "$package")"

# --- inside another project ---
sh test/packaging/subdirectory.sh "$work/subdirectory" --build
echo "ok   add_subdirectory"

# --- RPM package, where there is rpmbuild ---
if command -v rpmbuild > /dev/null; then
    (cd "$work/deb/build" && cpack -G RPM -B "$work/deb") > "$work/rpm.log" 2>&1 || { cat "$work/rpm.log"; exit 1; }
    package=$(ls "$work"/deb/*.rpm)
    rpm -qp --requires "$package" | grep -q 'libEGL.so.1()(64bit)' || { echo "FAIL: the RPM package does not need EGL"; exit 1; }
    mkdir -p "$work/deb/rpm" && (cd "$work/deb/rpm" && rpm2cpio "$package" | cpio -id --quiet)
    sh test/rpath.sh "$work/deb/rpm"
    track "$work/deb/rpm/usr/bin/glslines" rpm
    cmp "$work/out/rpm.trx" "$work/out/tarball.trx"
    echo "ok   $(basename "$package")"
else
    echo "no rpmbuild here: no RPM package was built"
fi

# --- interface ---
sh test/packaging/abi.sh "$work/abi"
echo "ok   ABI"

# --- image ---
if command -v podman > /dev/null; then
    podman build -q -f test/packaging/Containerfile -t glslines-test . > /dev/null
    podman run --rm glslines-test devices
    echo "ok   image"
else
    echo "no podman here: test/packaging/Containerfile was not built"
fi
