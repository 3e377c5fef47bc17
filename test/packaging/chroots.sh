#!/bin/sh
# Packages on systems that this machine does not run: the recipe of Containerfile, both of its stages, and the tarball built on Debian 11 and run on Debian 11, 12
# and 13, each in a folder of its own that debootstrap fills. For machines without podman or registries of images.
# Usage: sh test/packaging/chroots.sh WORK_FOLDER [recipe] [tarball]      As root, with debootstrap; 3 GB, a quarter of an hour; by hand.
# GLS_DEBIAN_MIRROR: where Debian comes from, else from where apt of this machine has it.
set -eu
cd "$(dirname "$0")/../.."
. test/setup.sh
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
recipe=test/packaging/Containerfile
mirror=${GLS_DEBIAN_MIRROR:-$(debian_mirror)}

# base SUITE: a fresh system, made once
base() {
    [ -e "$work/$1.complete" ] && return
    rm -rf "$work/$1"
    # shellcheck disable=SC2086
    debootstrap --variant=minbase "$1" "$work/$1" $mirror > "$work/$1.log" 2>&1 || { tail -n 3 "$work/$1.log"; exit 1; }
    touch "$work/$1.complete"
}

# root NAME SUITE PACKAGE...: a copy of a fresh system with these packages
root() {
    name=$1 suite=$2
    shift 2
    base "$suite"
    rm -rf "${work:?}/$name"
    cp -a "$work/$suite" "$work/$name"
    cp /etc/resolv.conf "$work/$name/etc/" 2> /dev/null || true
    [ $# -eq 0 ] || chroot "$work/$name" sh -c "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $*" > "$work/$name.log" 2>&1 ||
        { tail -n 3 "$work/$name.log"; exit 1; }
}

# inside NAME COMMAND: with /proc and the null device, and nothing of this machine's environment
inside() {
    unshare -m sh -c 'mount -t proc proc "$1/proc" && exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" sh -c "$2"' sh "$work/$1" "$2"
}

# source NAME: the tree as git has it
source_to() {
    mkdir -p "$work/$1/source"
    git archive HEAD | tar -x -C "$work/$1/source"
}

# packages STAGE: those that the recipe installs in its first or second stage
packages() {
    awk -v wanted="$1" '/^FROM/ { stage++ } stage == wanted { sub(/\\$/, ""); printf "%s ", $0 }' $recipe |
        sed 's/.*--no-install-recommends//; s/&&.*//; s/ COPY.*//; s/ RUN.*//'
}

# newer_cmake NAME: PyPI's CMake, which runs on old systems, fetched by this machine: the fresh system need not know its certificates and proxies
newer_cmake() {
    rm -rf "$work/cmake" "$work/$1/opt/cmake"
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$work/cmake" 'cmake>=3.22,<4'
    python3 -m zipfile -e "$work"/cmake/cmake-*.whl "$work/cmake"
    mv "$work/cmake/cmake/data" "$work/$1/opt/cmake"
    chmod +x "$work/$1"/opt/cmake/bin/*
}

tracks() { # NAME PROGRAM
    inside "$1" "cd /tmp && $2 track --phantom --nseeds 100 -q -o /tmp/t.trx --force && $2 info /tmp/t.trx | grep -i streamlines | head -n 1"
}

test_recipe() {
    # shellcheck disable=SC2046
    root recipe-build trixie $(packages 1)
    source_to recipe-build
    # the RUN line that builds
    sed -n '/^RUN cmake/,/[^\\]$/p' $recipe | sed 's/^RUN //; s/\\$//' | tr '\n' ' ' > "$work/recipe-build/build.sh"
    inside recipe-build "sh -e /build.sh" > "$work/recipe-build.log" 2>&1 || { tail -n 5 "$work/recipe-build.log"; exit 1; }
    # shellcheck disable=SC2046
    root recipe-run trixie $(packages 2)
    cp -a "$work/recipe-build/usr/local/." "$work/recipe-run/usr/local/"
    inside recipe-run "ldconfig && glslines --version"
    tracks recipe-run glslines
    inside recipe-run "glslines devices" | sed -n 1,2p
    ! inside recipe-run "command -v gcc cmake" || { echo "FAIL: a compiler in the second stage"; exit 1; }
    echo "ok   both stages of the recipe; the second has $(du -sxm "$work/recipe-run" | cut -f 1) MB"
}

test_tarball() {
    # shellcheck disable=SC2046
    root tarball-build bullseye $(packages 1) xz-utils binutils
    source_to tarball-build
    newer_cmake tarball-build
    inside tarball-build "cd /source && PATH=/opt/cmake/bin:\$PATH SOURCE_DATE_EPOCH=0 sh test/packaging/tarball.sh /build /out" > "$work/tarball-build.log" 2>&1 ||
        { tail -n 5 "$work/tarball-build.log"; exit 1; }
    tarball=$(ls "$work"/tarball-build/out/glslines-*.tar.xz)
    for suite in bullseye bookworm trixie; do
        # the dispatcher of Debian 11, which the tarball brings, opens libGL.so.1
        root "tarball-$suite" $suite libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri
        tar -xJf "$tarball" -C "$work/tarball-$suite/opt"
        tracks "tarball-$suite" "/opt/glslines-*/bin/glslines"
        echo "ok   tarball on $suite"
    done
    # no driver at all: the program starts, and says what is missing
    root tarball-bare bullseye
    tar -xJf "$tarball" -C "$work/tarball-bare/opt"
    inside tarball-bare "/opt/glslines-*/bin/glslines --version"
    ! inside tarball-bare "/opt/glslines-*/bin/glslines track --phantom -q -o /tmp/t.trx" || { echo "FAIL: tracked without a driver"; exit 1; }
    floor=$(objdump -T "$work"/tarball-bare/opt/glslines-*/bin/glslines "$work"/tarball-bare/opt/glslines-*/lib/lib*.so* | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    [ "$(printf '%s\nGLIBC_2.31\n' "$floor" | sort -V | tail -n 1)" = GLIBC_2.31 ] || { echo "FAIL: needs $floor"; exit 1; }
    echo "ok   tarball needs $floor, $(du -m "$tarball" | cut -f 1) MB"
}

for what in "${@:-recipe tarball}"; do
    for one in $what; do "test_$one"; done
done
