#!/bin/sh
# Tests of two batches in flight, as on GPUs: flight.sh TOOL WORK_DIR. A software renderer stands for the GPU.
. "$(dirname "$0")/common.sh"
few="track --phantom --device auto --mapping group --dg det --sphere small --nseeds 250 --force -q"

# run NAME OPTIONS...: under $inject and $limits, with the bytes that one batch after the other gives
run() {
    name=$1
    shift
    # shellcheck disable=SC2086
    GLSLINES_FORCE_LIMITS=software=0${limits:+,$limits} GLSLINES_INJECT=${inject:-} GLSLINES_IN_FLIGHT=${flight:-1} \
        "$tool" $few "$@" -o "$name.trx" > stdout 2> stderr
    got=$?
    [ $got -eq "${code:-0}" ] || note "$*: exit code $got, not ${code:-0}"
}
# counts NAME WORD NUMBER
counts() {
    grep -qE "\"$2\":[[:space:]]*$3(,|\$)" "$1.json" || note "$1: $2 is not $3"
}

flight=0 run plain
for chunk in 90 40; do
    run chunk --chunk-size $chunk
    same chunk.trx plain.trx
done
counts chunk batches 7
# a pool that is too small: several rounds a batch
limits=storage_bytes=400000 run rounds --chunk-size 90
same rounds.trx plain.trx
flight=0 run thin --compress 0.1
run chunk --chunk-size 60 --compress 0.1
same chunk.trx thin.trx
# what regions make of a streamline depends on its own seed, and not on one of the batch that was begun meanwhile
rules="--exclude 0,0,0,20 --include -20,0,0,22"
# shellcheck disable=SC2086
flight=0 run ruled $rules
for chunk in 90 40; do
    # shellcheck disable=SC2086
    run chunk --chunk-size $chunk $rules
    same chunk.trx ruled.trx
done
cmp -s plain.trx ruled.trx && note "the regions changed nothing"
flight=0 run some --select 100
run chunk --chunk-size 30 --select 100
same chunk.trx some.trx

# the device is lost, or out of memory, while two batches are on their way
inject=reset:150 run lost --chunk-size 40
same lost.trx plain.trx
counts lost resumes 1
for call in 6 7; do
    inject=readback:$call run smaller --chunk-size 40
    same smaller.trx plain.trx
    counts smaller halvings 1
done
# a failure that cannot be mended; the journal has what was committed
code=5 inject=dispatch:14 run broken --chunk-size 40 --resume
[ ! -e broken.trx ] || note "a file in spite of a failure"
[ -s broken.trx.resume ] || note "no journal"
run broken --chunk-size 40 --resume
same broken.trx plain.trx
finish "two batches in flight"
