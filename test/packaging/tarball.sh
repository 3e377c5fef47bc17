#!/bin/sh
# A tarball that runs where it is unpacked: program, library, what they need besides the C library and the driver, headers, manual, completions, module file.
# Usage: sh test/packaging/tarball.sh BUILD_FOLDER OUTPUT_FOLDER      It runs on systems with a C library as new as this one's.
set -eu
cd "$(dirname "$0")/../.."
. test/setup.sh
mkdir -p "$1" "$2"
build=$(cd "$1" && pwd)
output=$(cd "$2" && pwd)
version=$(sed -n 's/^project(glslines VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=glslines-$version-$(uname -m)
stage=$output/$name

# an old-style rpath also holds for what the bundled libraries need themselves
cmake -S . -B "$build" -G Ninja -DGLS_TESTS=OFF -DGLS_UNITY=OFF -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_INSTALL_RPATH=\$ORIGIN/../lib" -DCMAKE_INSTALL_RPATH_USE_LINK_PATH=OFF \
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags" "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags"
cmake --build "$build"
rm -rf "$stage"
cmake --install "$build" --strip --prefix "$stage"
rm -f "$stage"/lib/*.a

# copy the libraries that the program, the library and the part of it that is loaded later need, except the C library and those of drivers, which have
# to be the system's
for file in "$stage/bin/glslines" "$stage"/lib/libglslines*.so.*; do ldd "$file"; done | awk '$2 == "=>" { print $3 }' | sort -u | while read -r library; do
    case $(basename "$library") in
    libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | ld-linux* | libEGL* | libGL* | libOpenGL* | libgbm* | libdrm* | libwayland* | libglslines*) ;;
    *) cp -L "$library" "$stage/lib/" && copy_licences "$stage/share/doc/glslines/libraries" "$library" ;;
    esac
done

mkdir -p "$stage/share/modulefiles/glslines" "$stage/share/doc/glslines"
sed "s/@VERSION@/$version/" test/packaging/modulefile.lua.in > "$stage/share/modulefiles/glslines/$version.lua"
cp LICENSE README.md "$stage/share/doc/glslines/"
cp -r third_party_notes "$stage/share/doc/glslines/"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}" -C "$output" -cJf "$output/$name.tar.xz" "$name"
(cd "$output" && sha256sum "$name.tar.xz" > SHA256SUMS)
echo "$output/$name.tar.xz"
