#!/bin/sh
# Packages on systems that this machine does not run, each in a folder of its own that debootstrap fills:
#   recipe      all commands of both stages of Containerfile, for machines without podman or registries of images
#   tarball     built on Debian 11, run on Debian 11, 12 and 13
#   wheel       of manylinux.sh, on Debian 11
#   sdist       on Debian 13 without a compiler: what it says is missing, and that it builds once that was typed
#   deb         built on Debian 12, 13 and sid, installed by apt on a new system of each
# What was made and works there is kept in WORK_FOLDER/made.
# Usage: sh test/packaging/chroots.sh WORK_FOLDER [recipe] [tarball] [wheel] [sdist] [deb]      As root; 3 GB. Stage packages runs wheel and sdist, releases deb.
# GLS_DEBIAN_MIRROR: where Debian comes from, else from where apt of this machine has it.
set -eu
cd "$(dirname "$0")/../.."
. test/setup.sh
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
recipe=test/packaging/Containerfile
need_packages $CHROOT_PACKAGES
mirror=${GLS_DEBIAN_MIRROR:-$(debian_mirror)}

# keep FILE [NAME]: keeps an artifact that was tried
keep() {
    mkdir -p "$work/made"
    cp "$1" "$work/made/${2:-$(basename "$1")}"
}

# base SUITE: makes a fresh system, once
base() {
    [ -e "$work/$1.complete" ] && return
    rm -rf "${work:?}/$1"
    # shellcheck disable=SC2086
    debootstrap --variant=minbase "$1" "$work/$1" $mirror > "$work/$1.log" 2>&1 || { tail -n 3 "$work/$1.log"; exit 1; }
    # a mirror that is a snapshot may be past the date up to which its lists are valid
    echo 'Acquire::Check-Valid-Until "false";' > "$work/$1/etc/apt/apt.conf.d/90snapshot"
    touch "$work/$1.complete"
}

# root NAME SUITE PACKAGE...: makes a copy of a fresh system with these packages
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

# inside NAME COMMAND: runs a command with /proc and the null device, and without this machine's environment
inside() {
    unshare -m sh -c 'mount -t proc proc "$1/proc" && exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" sh -c "$2"' sh "$work/$1" "$2"
}

# source NAME: copies the tree as git has it
source_to() {
    mkdir -p "$work/$1/source"
    git archive HEAD | tar -x -C "$work/$1/source"
}

# packages STAGE: prints the packages that the recipe installs in its first or second stage
packages() {
    awk -v wanted="$1" '/^FROM/ { stage++ } stage == wanted { sub(/\\$/, ""); printf "%s ", $0 }' $recipe |
        sed 's/.*--no-install-recommends//; s/&&.*//; s/ COPY.*//; s/ RUN.*//'
}

# runs STAGE: prints the commands of the recipe's first or second stage, a RUN a line, each of which ends the shell if it fails
runs() {
    awk -v wanted="$1" '/^FROM/ { stage++ } stage == wanted && (/^RUN / || more) { sub(/^RUN /, ""); more = sub(/\\$/, ""); printf "%s%s", $0, more ? "" : "\n" }' $recipe | sed 's/.*/( & ) || exit 1/'
}

# newer_cmake NAME: installs PyPI's CMake, which runs on old systems. This machine fetches it, because the fresh system need not have certificates and
# proxies
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
    root recipe-build trixie
    source_to recipe-build
    runs 1 > "$work/recipe-build/runs.sh"
    inside recipe-build "sh -e /runs.sh" > "$work/recipe-build.log" 2>&1 || { tail -n 5 "$work/recipe-build.log"; exit 1; }
    # COPY stands behind the first RUN of the second stage
    root recipe-run trixie
    runs 2 | head -n 1 > "$work/recipe-run/first.sh"
    runs 2 | tail -n +2 > "$work/recipe-run/rest.sh"
    inside recipe-run "sh -e /first.sh" > "$work/recipe-run.log" 2>&1 || { tail -n 5 "$work/recipe-run.log"; exit 1; }
    cp -a "$work/recipe-build/usr/local/." "$work/recipe-run/usr/local/"
    inside recipe-run "sh -e /rest.sh"
    grep -q libEGL_nvidia "$work/recipe-run/usr/share/glvnd/egl_vendor.d/10_nvidia.json" || { echo "FAIL: the driver of NVIDIA's GPUs is not named"; exit 1; }
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
    # without a driver the program starts, and says what is missing
    root tarball-bare bullseye
    tar -xJf "$tarball" -C "$work/tarball-bare/opt"
    inside tarball-bare "/opt/glslines-*/bin/glslines --version"
    ! inside tarball-bare "/opt/glslines-*/bin/glslines track --phantom -q -o /tmp/t.trx" || { echo "FAIL: tracked without a driver"; exit 1; }
    floor=$(objdump -T "$work"/tarball-bare/opt/glslines-*/bin/glslines "$work"/tarball-bare/opt/glslines-*/lib/lib*.so* | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    [ "$(printf '%s\nGLIBC_2.31\n' "$floor" | sort -V | tail -n 1)" = GLIBC_2.31 ] || { echo "FAIL: needs $floor"; exit 1; }
    keep "$tarball"
    echo "ok   tarball needs $floor, $(du -m "$tarball" | cut -f 1) MB"
}

# fetch NAME VERSION PACKAGE...: downloads packages from PyPI on this machine, for that version of Python and that system
fetch() {
    name=$1 version=$2
    shift 2
    [ -x "$work/tools/bin/pip" ] || { need_packages python3-venv && rm -rf "$work/tools" && python3 -m venv "$work/tools"; }
    rm -rf "$work/$name/packages"
    "$work/tools/bin/pip" download -q --disable-pip-version-check --only-binary :all: --python-version "$version" --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
        --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 -d "$work/$name/packages" "$@"
}

# pip_install NAME FILE: installs into a virtual environment there, only from downloaded packages
pip_install() {
    inside "$1" "[ -d /venv ] || python3 -m venv /venv; /venv/bin/pip install --disable-pip-version-check --no-index --find-links /packages /packages/$2"
}

test_wheel() {
    rm -rf "$work/wheels"
    sh test/packaging/manylinux.sh python3 "$work/wheels" "$work/manylinux" > "$work/manylinux.log" 2>&1 || { tail -n 20 "$work/manylinux.log"; exit 1; }
    wheel=$(basename "$work"/wheels/glslines-*-manylinux_2_28_x86_64.whl)
    root wheel-run bullseye python3 python3-venv libegl1 libopengl0 libgles2 libegl-mesa0 libgl1-mesa-dri
    fetch wheel-run 3.9 numpy
    cp "$work/wheels/$wheel" "$work/wheel-run/packages/"
    pip_install wheel-run "$wheel" > "$work/wheel-run.log" 2>&1 || { tail -n 5 "$work/wheel-run.log"; exit 1; }
    tracks wheel-run /venv/bin/glslines
    # the window: the program serves its page
    inside wheel-run "cd /tmp && /venv/bin/python -c '
import glslines, urllib.request as web
page = web.build_opener(web.HTTPCookieProcessor())
with glslines.view(\"t.trx\") as window:
    page.open(window.address).read()
    assert b\"view.js\" in page.open(window.address.partition(\"?\")[0]).read()'"
    inside wheel-run "cd /tmp && /venv/bin/python -c '
import filecmp, glslines
glslines.track(phantom=True, out=\"python.trx\", nseeds=100, force=True)
assert len(glslines.load(\"python.trx\")) > 50 and filecmp.cmp(\"t.trx\", \"python.trx\", shallow=False)'"
    find "$work"/wheel-run/venv/lib/python3*/site-packages/glslines* -type f \( -name '*.so*' -o -path '*/bin/glslines' \) > "$work/wheel-files"
    [ "$(wc -l < "$work/wheel-files")" -ge 4 ] || { echo "FAIL: the wheel holds too few libraries"; exit 1; }
    floor=$(xargs objdump -T < "$work/wheel-files" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    [ "$(printf '%s\nGLIBC_2.28\n' "$floor" | sort -V | tail -n 1)" = GLIBC_2.28 ] || { echo "FAIL: needs $floor"; exit 1; }
    python3 -m zipfile -l "$work/wheels/$wheel" | grep -q 'LICENSE' || { echo "FAIL: the wheel has no licence"; exit 1; }
    keep "$work/wheels/$wheel"
    echo "ok   wheel on Debian 11, needs $floor, $(du -m "$work/wheels/$wheel" | cut -f 1) MB"
}

test_sdist() {
    root sdist-run trixie python3 python3-venv
    [ -x "$work/tools/bin/pip" ] || { need_packages python3-venv && rm -rf "$work/tools" && python3 -m venv "$work/tools"; }
    rm -rf "$work/sdist"
    sh test/packaging/wheel.sh "$work/tools/bin/python" "$work/sdist" sdist > "$work/sdist.log" 2>&1 || { tail -n 5 "$work/sdist.log"; exit 1; }
    sdist=$(basename "$work"/sdist/glslines-*.tar.gz)
    fetch sdist-run 3.13 'scikit-build-core>=0.10' cmake ninja numpy
    cp "$work/sdist/$sdist" "$work/sdist-run/packages/"
    ! pip_install sdist-run "$sdist" > "$work/sdist-run.log" 2>&1 || { echo "FAIL: built without a compiler"; exit 1; }
    said=$(grep 'glslines cannot be built: not found: a C compiler.*type: sudo apt-get install' "$work/sdist-run.log") || { cat "$work/sdist-run.log"; echo "FAIL: what is missing is not said"; exit 1; }
    [ "$(echo "$said" | wc -l)" = 1 ] || { echo "FAIL: said more than once: $said"; exit 1; }
    # the packages that the message names are enough
    inside sdist-run "DEBIAN_FRONTEND=noninteractive ${said##*type: sudo } -q -y --no-install-recommends" > "$work/sdist-run.log" 2>&1 &&
        pip_install sdist-run "$sdist" >> "$work/sdist-run.log" 2>&1 || { tail -n 20 "$work/sdist-run.log"; exit 1; }
    tracks sdist-run /venv/bin/glslines
    keep "$work/sdist/$sdist"
    echo "ok   sdist on Debian 13: $said"
}

test_deb() {
    for suite in bookworm trixie sid; do
        # shellcheck disable=SC2086
        root deb-build $suite $BUILD_PACKAGES dpkg-dev file
        source_to deb-build
        inside deb-build "cd /source && cmake -S . -B /build -G Ninja -DGLS_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr && cmake --build /build && cd /build && cpack -G DEB -B /out" \
            > "$work/deb-build.log" 2>&1 || { tail -n 5 "$work/deb-build.log"; exit 1; }
        package=$(basename "$work"/deb-build/out/*.deb)
        root deb-run $suite
        cp "$work/deb-build/out/$package" "$work/deb-run/tmp/"
        inside deb-run "apt-get update -qq && cd /tmp && DEBIAN_FRONTEND=noninteractive apt-get install -q -y ./$package" > "$work/deb-run.log" 2>&1 || { tail -n 5 "$work/deb-run.log"; exit 1; }
        tracks deb-run glslines
        keep "$work/deb-build/out/$package" "${package%.deb}_$suite.deb"
        echo "ok   $package on $suite: $(dpkg-deb -f "$work/deb-build/out/$package" Depends)"
    done
}

for what in "${@:-recipe tarball}"; do
    for one in $what; do "test_$one"; done
done
