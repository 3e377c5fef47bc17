# Sourced by the scripts beside it. Package lists and helpers that install what is missing, by apt-get, for Debian 12 or newer and Ubuntu 22.04 or newer.

BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config zlib1g-dev libegl-dev libgles-dev libgbm-dev libepoxy-dev libnifti2-dev liblapacke-dev libopenblas-dev
    libcjson-dev libxxhash-dev libegl1 libegl-mesa0 libgl1-mesa-dri"
# the launcher's progress bar, which newer releases may not have, fast unpacking, which not every architecture has, the server of view
OPTIONAL_PACKAGES="libunity-dev libisal-dev libwebsockets-dev"
QUICK_PACKAGES="libcmocka-dev libglvnd-core-dev g++ python3"
# clang's own runtimes (sanitizers, libFuzzer) are a package of its version; programs that read manual pages and completions
CLANG_VERSION=$(apt-cache depends clang 2> /dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\).*/\1/p' | head -n 1)
SANITIZE_PACKAGES="clang${CLANG_VERSION:+ libclang-rt-$CLANG_VERSION-dev} libomp-dev mandoc groff-base zsh fish locales bsdutils"
SOURCE_PACKAGES="clang-format glslang-tools binutils python3"
ANALYSE_PACKAGES="clang clang-tidy libomp-dev shellcheck python3-venv"
PEER_PACKAGES="python3 python3-venv mrtrix3"
REPORT_PACKAGES="chromium python3 tidy"
GUEST_PACKAGES="qemu-system-x86 busybox-static cpio xz-utils zstd"
CHROOT_PACKAGES="debootstrap"
MESA_PACKAGES="meson ninja-build bison flex gcc g++ pkg-config libdrm-dev libexpat1-dev zlib1g-dev python3-mako dpkg-dev"
ARM64_PACKAGES="gcc-aarch64-linux-gnu qemu-user-static"
# packages of the arm64 root, in which no package is installed
ARM64_LIBRARIES="libc6-dev libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0 libgles2 libgbm1 libepoxy0 libgomp1 zlib1g-dev libegl-dev libgles-dev libgbm-dev libepoxy-dev libnifti2-dev
    liblapacke-dev libopenblas-dev libcjson-dev libxxhash-dev libcmocka-dev"
PACKAGE_PACKAGES="dpkg-dev file xz-utils abigail-tools binutils lintian"
CLUSTER_PACKAGES="slurm-wlm munge python3 python3-venv"

say() { printf '%s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo > /dev/null 2>&1; then
        sudo "$@"
    else
        # env VARIABLE=VALUE PROGRAM ...
        for program in "$@"; do
            case $program in env | *=*) ;; *) break ;; esac
        done
        say "error: $program needs root; run this script as root or install sudo"
        return 1
    fi
}

installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null | grep -qx installed; }

missing_packages() {
    for package in "$@"; do
        installed "$package" || printf '%s ' "$package"
    done
}

# How long apt_get waits for another package manager, and between two tries, in seconds.
LOCK_PATIENCE=600
LOCK_PAUSE=5

# Runs apt-get. Waits while another package manager is at work, as after the first boot of a cloud image. $apt_said: its errors and warnings.
apt_get() {
    waited=0
    while :; do
        { apt_said=$(as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Install-Recommends=false "$@" 2>&1 >&3 < /dev/null); } 3>&1 && return 0
        case $apt_said in
            *"Could not get lock"* | *"Unable to acquire the dpkg"* | *"Unable to lock"*) ;;
            *) return 1 ;;
        esac
        [ $waited -gt 0 ] || say "note: another package manager is at work; waiting up to $((LOCK_PATIENCE / 60)) minutes for it ($(printf '%s\n' "$apt_said" | head -n 1))"
        if [ $waited -ge $LOCK_PATIENCE ]; then
            apt_said="$apt_said
error: another package manager is still at work; run this again when it has finished"
            return 1
        fi
        sleep $LOCK_PAUSE
        waited=$((waited + LOCK_PAUSE))
    done
}

apt_update_once() {
    [ -z "${apt_updated:-}" ] || return 0
    apt_get update || { say "$apt_said"; return 1; }
    [ -z "$apt_said" ] || say "$apt_said"
    apt_updated=1
}

# Installs those of the named packages that are missing. Waits for the process $fetching, if there is one, which installs, too.
need_packages() {
    if ! command -v apt-get > /dev/null 2>&1 || ! command -v dpkg-query > /dev/null 2>&1; then
        say "note: no apt-get here; expecting these to be present: $*"
        return 0
    fi
    missing=$(missing_packages "$@")
    if [ -n "$missing" ] && [ -n "${fetching:-}" ]; then
        # only one apt-get can run at a time
        wait "$fetching"
        fetching=
        missing=$(missing_packages "$@")
    fi
    [ -n "$missing" ] || return 0
    say "installing: $missing"
    apt_update_once || return 1
    # shellcheck disable=SC2086
    if ! apt_get install $missing > /dev/null; then
        say "$apt_said"
        say "error: apt-get could not install: $missing"
        return 1
    fi
}

# Does the same, but goes on without packages that cannot be had.
want_packages() {
    command -v apt-get > /dev/null 2>&1 || return 0
    for package in $(missing_packages "$@"); do
        apt_update_once || return 0
        apt_get install "$package" > /dev/null || say "note: going on without $package"
    done
}

# Makes a locale that does not exist yet.
need_locale() {
    normal=$(printf '%s' "$1" | sed 's/UTF-8/utf8/')
    locale -a 2> /dev/null | grep -qixe "$1" -e "$normal" && return 0
    as_root localedef -i "${1%%.*}" -f "${1#*.}" "$1" || {
        say "error: the locale $1 cannot be made"
        return 1
    }
}

# Prints where this machine's apt has Debian from; nothing if it is no Debian.
debian_mirror() {
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2> /dev/null | head -n 1
}

# Copies the licences of libraries of Debian packages, each under the name of its package.
copy_licences() { # FOLDER LIBRARY...
    folder=$1
    shift
    mkdir -p "$folder"
    for library in "$@"; do
        # the file itself, as packages have it with /usr in front or without: cross-compilers bring others of its name
        file=$(readlink -f "$library")
        package=$(dpkg-query -S "$file" "${file#/usr}" 2> /dev/null | sed -n 's/[:,].*//p' | head -n 1)
        cp "/usr/share/doc/${package:-$library}/copyright" "$folder/${package:-$(basename "$library")}" || { say "error: no licence of $library"; return 1; }
    done
}
