#!/bin/sh
# Follows README.md on a machine that has nothing yet: every block of shell commands, in the order of the file, in a new Debian (or Ubuntu) that debootstrap makes.
# There is no terminal and no /dev/pts, the source lies in a path with blanks, and the account is root, or a user who has sudo.
# Usage: sh test/guest/fresh.sh [SUITE] [user|root] [make]      SUITE: trixie (default), bookworm, sid ...; make: the system alone, for one later call; GLS_JOBS: parallel jobs
# As root or with sudo; 3 GB of disk, which are given back. GLS_DEBIAN_MIRROR: where packages come from, else from where apt of this machine has them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
suite=${1:-trixie}
account=${2:-user}
work=$root/build/fresh
. "$root/test/setup.sh"

# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES
mkdir -p "$work"
chroot=$work/$suite
place="/srv/source of glslines"
trap 'as_root rm -rf "$chroot"' EXIT
trap 'exit 1' INT TERM
begun=$(date +%s)

inside() { # ACCOUNT COMMAND: runs a command with /proc, and without this machine's environment
    as_root unshare -m sh -c 'mount -t proc proc "$1/proc" && exec setsid env -i ${4:+GLS_JOBS="$4"} PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" \
        sh -c "export HOME=\$(getent passwd $2 | cut -d: -f 6); $3"' sh "$chroot" "$1" "$2" "${GLS_JOBS:-}" < /dev/null
}

make_system() {
    as_root rm -rf "$chroot"
    mirror=${GLS_DEBIAN_MIRROR:-$(debian_mirror)}
    # shellcheck disable=SC2086
    as_root debootstrap --variant=minbase "$suite" "$chroot" $mirror > "$work/$suite.log" 2>&1 || { tail -n 5 "$work/$suite.log" >&2; say "error: no system of $suite"; return 1; }
    # a mirror that is a snapshot may be past the date up to which its lists are valid
    echo 'Acquire::Check-Valid-Until "false";' | as_root tee "$chroot/etc/apt/apt.conf.d/90snapshot" > /dev/null
    # every machine knows its own name, and sudo asks for it
    echo "127.0.0.1 localhost $(uname -n)" | as_root tee "$chroot/etc/hosts" > /dev/null
    [ "$account" = user ] || return 0
    inside root "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends sudo" > "$work/$suite.log" 2>&1 || { tail -n 5 "$work/$suite.log" >&2; return 1; }
    inside root "useradd -m -s /bin/sh someone && echo 'someone ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/someone"
}

# a system is used once, because the commands of README change it
if [ -d "$chroot" ] && [ "$(cat "$work/$suite.made" 2> /dev/null)" = "$account" ]; then
    rm "$work/$suite.made"
else
    make_system
    echo "$suite: $(sed -n 's/^PRETTY_NAME=//p' "$chroot/etc/os-release"), made in $(($(date +%s) - begun)) s"
fi
if [ "${3:-}" = make ]; then
    echo "$account" > "$work/$suite.made"
    trap - EXIT
    exit 0
fi

# the source as git has it
as_root mkdir -p "$chroot$place"
git -C "$root" archive HEAD | as_root tar -x -C "$chroot$place"

# Writes every block of shell commands of README.md as one script. "Your own data" is the phantom here, in a folder of its own; the C program is that
# of README.
awk '
    BEGIN { print "set -eu\nsource=$PWD\nstep() { echo \"--- $(($(date +%s) - begun)) s: $*\"; }\nbegun=$(date +%s)" }
    /^```c$/ { c = 1; print "cat > fa.c << \"END_OF_PROGRAM\""; next }
    /^```sh$/ { shell = 1; next }
    /^```$/ { if (c) print "END_OF_PROGRAM"; c = shell = 0; next }
    c { print; next }
    shell {
        if (/dwi\.nii\.gz/ && !data) { data = 1; print "mkdir -p \"$HOME/data\" && cd \"$HOME/data\" && glslines phantom . -q" }
        quoted = $0
        gsub(/\047/, "\047\\\047\047", quoted)
        if (!continued) print "step \047" quoted "\047" # a command may go on in the next line
        continued = /\\$/
        print
    }' "$root/README.md" | as_root tee "$chroot/srv/readme.sh" > /dev/null

if [ "$account" = user ]; then
    inside root "chown -R someone '$place'"
    run="setpriv --reuid someone --regid someone --init-groups sh /srv/readme.sh"
    name=someone
else
    run="sh /srv/readme.sh"
    name=root
fi
begun=$(date +%s)
status=0
inside "$name" "cd '$place' && $run" > "$work/$suite-$account.log" 2>&1 || status=$?
grep -E '^--- |passed,|^FAIL|\*\*\*Failed' "$work/$suite-$account.log" || true
if [ $status -ne 0 ]; then
    tail -n 60 "$work/$suite-$account.log"
    say "FAILED: README on a fresh $suite as $account, status $status"
    exit 1
fi
echo "README on a fresh $suite as $account: $(($(date +%s) - begun)) s"
