#!/bin/sh
# Drivers that crash, hang or end the process when a device is opened or counted: a stand-in for one beside Mesa's. Each is one line in the list and in a run, another device is
# taken, and later runs know it without another process. drivers.sh TOOL WORK_DIR STAND_IN
stand_in=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
. "$(dirname "$0")/common.sh"
mesa=$(ls /usr/share/glvnd/egl_vendor.d/*mesa*.json /etc/glvnd/egl_vendor.d/*mesa*.json 2> /dev/null | head -n 1)
[ -n "$mesa" ] || { echo "no Mesa: skipped"; exit 77; }
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s"}}' "$stand_in" > "$work/stand_in.json"
# what Mesa itself compiled before may stay
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-$work}/.cache}}"
export __EGL_VENDOR_LIBRARY_FILENAMES="$work/stand_in.json:$mesa" GLSLINES_CHECKED=
ulimit -c 0
# a crash must end the process by its signal; leaks of the stand-in do not count
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:detect_leaks=0" UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:handle_segv=0"

note() {
    failures=$((failures + 1))
    echo "FAIL: $GLS_TEST_DRIVER: $1"
    head -n 8 stdout stderr
}

# run CODE ARGUMENTS...
run() {
    code=$1
    shift
    checks=$((checks + 1))
    timeout -k 5 100 "$tool" "$@" > stdout 2> stderr
    got=$?
    [ $got -eq "$code" ] || note "exit code $got, not $code: $*"
}

says() {
    checks=$((checks + 1))
    [ "$(grep -Ec -e "$1" "$2")" -eq 1 ] || note "not one line of $2 says '$1'"
}

# opens the device of a run
try() {
    run "$1" track --phantom --model opdt --dg det --nseeds 5 -o x.trx --force --dry-run "$2" "$3"
}

# columns: driver; seconds that it gets, which only a driver that hangs uses up; what is left out; why
while IFS='|' read -r driver seconds place reason; do
    export GLSLINES_PROBE="$seconds" GLS_TEST_DRIVER="$driver" XDG_CACHE_HOME="$work/cache-$driver"
    # the first run that meets this driver
    try 0 --device auto
    says "^glslines: warning: $place is left out: $reason" stderr
    says '^device: software renderer' stderr
    [ "$driver" != open-hang ] || continue
    run 0 devices --json
    python3 - "$place" "$reason" << 'END' || note "the JSON list is another"
import json, re, sys
entries = json.load(open("stdout"))
assert entries[0]["software"] and len(entries) == 2
assert entries[1]["not_usable"] == sys.argv[1] and re.fullmatch(sys.argv[2], entries[1]["reason"]), entries[1]
END
done << 'CASES'
open-crash|100|/dev/dri/renderD255|the driver crashed .signal 11.
count-exit|100|EGL device enumeration|the driver ended the process
open-hang|4|/dev/dri/renderD255|the driver did not answer within 4 s
CASES

export GLSLINES_PROBE=100 GLS_TEST_DRIVER=open-crash XDG_CACHE_HOME="$work/cache-open-crash"
run 0 track --phantom --model opdt --dg det --nseeds 5 -o x.trx
[ -s x.trx ] || note "nothing was tracked"
run 0 devices --doctor
says '^  \[--\] /dev/dri/renderD255: the driver crashed' stdout
says '^/dev/dri/renderD255: not usable: the driver crashed' stdout
says '^0: .*software' stdout
try 0 --device llvmpipe
! grep -q 'is left out' stderr || note "it is told of to someone who wants no GPU"
try 5 --device gpu
says '^glslines: no GPU offers' stderr
try 5 --device /dev/dri/renderD255
says '^glslines: /dev/dri/renderD255: the driver crashed' stderr
# a driver that works again is used again after 'glslines devices' has tried it
export GLS_TEST_DRIVER=none
try 0 --device auto
says 'renderD255 is left out' stderr
run 0 devices
! grep -q 'not usable' stdout || note "what works is not usable"
try 0 --device auto
! grep -q 'is left out' stderr || note "what works is left out"
# the finding is valid for these drivers, and until the machine restarts; in another state the driver is tried again
sed -i '1s/.*/0123456789abcdef/; 2i /dev/dri/renderD255\tthe driver crashed (signal 11)' "$work"/cache-open-crash/glslines/drivers/*
try 0 --device auto
! grep -q 'is left out' stderr || note "an old note is believed"

# the stored finding is used: a run that has it starts no other process, so that a crash would end this one
export GLS_TEST_DRIVER=open-crash
timeout 100 "$tool" track --phantom --model opdt --dry-run --nseeds 5 -o y.trx > stdout 2> stderr
[ $? -eq 139 ] || note "a driver that is known to work is tried in another process"
GLSLINES_PROBE=0 timeout 100 "$tool" devices > stdout 2> stderr
[ $? -eq 139 ] || note "GLSLINES_PROBE=0 still tries drivers in another process"
GLSLINES_PROBE=soon
export GLSLINES_PROBE
run 2 devices
says "^glslines: GLSLINES_PROBE: 'soon' is no number of seconds" stderr
[ -z "$(find . -name 'core*')" ] || note "a core file is left"
echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
