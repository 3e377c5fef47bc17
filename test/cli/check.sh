#!/bin/sh
# glslines devices --check: check.sh TOOL WORK_DIR PART. compilers: kernels are compiled (long, and most of it is the driver's); faults: compilers that fail, crash, hang or say nothing
# are injected, and what is kept is looked at; computing and mistakes: devices that compute wrongly are shaders with a mistake (long, and nothing in it that a sanitizer could find); unknown: a renderer of which nothing is known is
# tested before its first run.
. "$(dirname "$0")/common.sh"
part=$3
shaders=$here/../../glsl
# Mesa finds what it compiled before, but where compiling is what is looked at: 'devices --check' tells drivers to compile anew, so that they print what they made
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-$work}/.cache}}"
[ "$part" = compilers ] || export MESA_SHADER_CACHE_DISABLE=false
export GLSLINES_CHECKED="$work/devices.json" XDG_CACHE_HOME="$work/cache"
# a crash must end the process by its signal, because a sanitizer's handler would turn it into an exit
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0" UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:handle_segv=0"

note() {
    failures=$((failures + 1))
    echo "FAIL: $1"
    head -n 8 stdout stderr
}

# expect CODE ARGUMENTS... : checks the exit code of a check on llvmpipe
expect() {
    code=$1
    shift
    timeout -k 5 600 "$tool" devices --device llvmpipe "$@" > stdout 2> stderr
    got=$?
    checks=$((checks + 1))
    [ $got -eq "$code" ] || note "exit code $got, not $code: ${GLSLINES_INJECT:-} $*"
}

says() {
    checks=$((checks + 1))
    grep -Eq -e "$1" stdout stderr || note "nothing says '$1'"
}

if [ "$part" = compilers ]; then

# all kinds in all mappings are compiled by the stage drivers, for 22 GPUs
for variant in boot4 ptt4:group closest:single pft:group; do
    expect 0 --check --compile-only --variant $variant
    says "^${variant%:*} +(single|group) +step\.comp +[0-9.]+ s"
    [ $variant != boot4 ] || says '^boot4 +group'
done
[ ! -e devices.json ] || note "--compile-only kept something"
# the seconds are CPU time: time in which the system stops the process does not count as compiling
python3 - "$tool" << 'END' || note "--compile-only counts time in which nothing ran"
import os, signal, subprocess, sys, time

check = subprocess.Popen([sys.argv[1], "devices", "--check", "--compile-only", "--variant", "prob4:group"], stdout=subprocess.PIPE, text=True, start_new_session=True)
lines = []
for line in check.stdout:
    lines.append(line)
    if len(lines) == 3:  # of the first kernel
        os.killpg(check.pid, signal.SIGSTOP)
        time.sleep(2)
        os.killpg(check.pid, signal.SIGCONT)
seconds = [float(line.split()[3]) for line in lines[2:]]
assert check.wait() == 0 and len(seconds) == 2 and 0 < max(seconds) < 2, lines
END

elif [ "$part" = faults ]; then

# --- compilers -----------------------------------------------------------------------------------------------------------------------------------

expect 0 --check --compile-only --variant prob4
says '^prob4 +single +step\.comp +[0-9.]+ s'
says '^prob4 +group'
[ ! -e devices.json ] || note "--compile-only kept something"

# fault; seconds for a kernel; variant; what is said. Only a hang waits for the limit, and for one after a kernel the limit must leave time for that kernel: in one mapping alone.
while IFS='|' read -r fault seconds variant message; do
    GLSLINES_INJECT=$fault
    export GLSLINES_INJECT
    expect 5 --check --compile-only --variant "$variant" --seconds "$seconds"
    says "^prob4 +single +.*$message"
    [ "$variant" != prob4 ] || says "^prob4 +group +.*$message"
    says "^glslines: .*: --variant $variant failed"
    unset GLSLINES_INJECT
done << 'CASES'
crash:2|60|prob4|the driver crashed, signal 11, after that
hang:2|10|prob4:single|not done after 10 s, after that
silent:2|60|prob4|does not compile: the driver does not say why
compile:2|60|prob4|FAILED: shader .* does not compile: 
crash:1|60|prob4|the driver crashed, signal 11, at the first kernel
hang:1|2|prob4|not done after 2 s, at the first kernel
CASES
[ "$(find . -name 'core*' | wc -l)" -eq 0 ] || note "a core file is left"

expect 2 --check --variant prob5
says "has no 'prob5'"
expect 2 --check --variant prob4:subgroup
expect 2 --variant prob4
expect 2 --check --seconds 0
expect 2 --compile-only
says 'compile-only: has no effect without --check'
expect 2 --variant prob4:single --seconds 1
says 'seconds: has no effect without --check'
expect 2 --check --doctor
says 'doctor: has no effect with --check'

# --- stored results -----------------------------------------------------------------------------------------------------------------------------

prob=$(printf 'llvmpipe%s' "$("$tool" devices --json | python3 -c '
import json, sys
d = next(d for d in json.load(sys.stdin) if "llvmpipe" in d["renderer"])
print(d["renderer"][len("llvmpipe"):], d["version"], sep=" | ")')")
printf '{"%s | glslines %s": {"prob4": "group"}}' "$prob" "$("$tool" --version | sed 's/^glslines //;q')" > devices.json
# --mapping auto takes the stored mapping
"$tool" track --phantom --model opdt --device llvmpipe --dg prob --nseeds 20 -o a.trx -q
grep -q '"mapping":.*"group"' a.json || note "--mapping auto does not take what was found: $(cat devices.json)"
GLSLINES_CHECKED='' "$tool" track --phantom --model opdt --device llvmpipe --dg prob --nseeds 20 -o b.trx -q
grep -q '"mapping":.*"single"' b.json || note "what was found is taken although nothing is to be known"
cmp -s a.trx b.trx || note "the mappings differ"
# but for notes of the kernels that were asked for
[ -z "$(find cache/glslines -type f ! -path '*/compiled/*' 2> /dev/null)" ] || note "something is kept in the cache folder"

elif [ "$part" = computing ] || [ "$part" = mistakes ]; then

# --- computing -----------------------------------------------------------------------------------------------------------------------------------

# wrong FILE FROM TO VARIANT... : checks that a mistake in a shader is found
wrong() {
    rm -rf shaders
    mkdir -p "shaders/$(dirname "$1")"
    sed "s|$2|$3|" "$shaders/$1" > "shaders/$1"
    ! cmp -s "$shaders/$1" "shaders/$1" || note "no mistake in $1: $2"
    export GLSLINES_SHADER_DIR="$work/shaders"
    shift 3
    for variant in "$@"; do
        expect 5 --check --variant "$variant"
        says 'the device does not compute right'
    done
    unset GLSLINES_SHADER_DIR
}
if [ "$part" = computing ]; then
for variant in boot4 prob4:group det8:single ptt4 ifod1:single ifod2:single sdstream:single fact:single eudx:single tensordet:single tensorprob:single nulldist1:single \
    nulldist2:single; do
    expect 0 --check --variant $variant
    says '[0-9]+ of [0-9]+ half-streamlines as they must be'
done
[ ! -e devices.json ] || note "the check of a part kept something"
# random numbers
wrong base/philox.glsl '0xD2511F53u' '0xD2511F55u' boot4:single prob4:single ptt4:single

else
# positions of samples, the stop map, half a sample too far, a slightly longer step
wrong base/textures.glsl '(q + 0.5) \*' '(q + 0.75) *' boot4:single prob4:group det4:single
wrong guide/stop_map.glsl '(p + 0.5)' '(p + 0.75)' det4:single
wrong kernel/half.glsl 'params.step_x' '1.02 * params.step_x' det4:single ptt4:group
fi

else

# --- a renderer of which nothing is known, which is what llvmpipe counts for here ----------------------------------------------------------------

# first CODE TRACKS OPTIONS... : a run
first() {
    code=$1 tracks=$2
    shift 2
    "$tool" track --phantom --device llvmpipe --nseeds 40 --sphere small --model opdt -v -o "$tracks" --force "$@" > stdout 2> stderr
    got=$?
    checks=$((checks + 1))
    [ $got -eq "$code" ] || note "exit code $got, not $code: $*"
}
quiet() {
    checks=$((checks + 1))
    ! grep -Eq -e "$1" stderr || note "somebody says '$1'"
}
tested='nobody has tracked on this renderer yet'
for dg in boot det prob ptt; do
    first 0 plain.tck --dg $dg
    quiet "$tested"
    GLSLINES_SELF_TEST=1 first 0 tested.tck --dg $dg
    says "$tested"
    cmp -s plain.tck tested.tck || note "other streamlines after the test: $dg"
done
# once
GLSLINES_SELF_TEST=1 first 0 tested.tck --dg ptt
quiet "$tested"
rm -f devices.json

# a mistake in one mapping leads to another, a mistake in all to an error; a mapping that is asked for is taken
first 0 plain.tck --dg prob
rm -rf shaders
mkdir -p shaders/base
sed 's/^#define SLOT gl_LocalInvocationIndex$/#define SLOT min(gl_LocalInvocationIndex, 3u)/' "$shaders/base/lanes_single.glsl" > shaders/base/lanes_single.glsl
! cmp -s "$shaders/base/lanes_single.glsl" shaders/base/lanes_single.glsl || note "no mistake in lanes_single.glsl"
export GLSLINES_SHADER_DIR="$work/shaders" GLSLINES_SELF_TEST=1
first 0 other.tck --dg prob
says "the mapping 'single' of prob gives wrong streamlines: 'group' is tried"
cmp -s plain.tck other.tck || note "other streamlines in the mapping that is right"
first 0 other.tck --dg prob
quiet "wrong streamlines"
rm -f devices.json
sed 's|0xD2511F53u|0xD2511F55u|' "$shaders/base/philox.glsl" > shaders/base/philox.glsl
first 5 none.tck --dg prob
says 'prob gives wrong streamlines on this renderer in every mapping'
[ ! -e none.tck ] || note "a tractogram is left"
first 0 asked.tck --dg prob --mapping single

fi
echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
