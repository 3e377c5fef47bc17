#!/bin/sh
# Tests of several batches in flight, as on GPUs: flight.sh TOOL WORK_DIR. A software renderer stands for the GPU.
. "$(dirname "$0")/common.sh"
few="track --phantom --model opdt --device auto --mapping group --dg det --sphere small --nseeds 250 --force -q"

# run NAME OPTIONS...: runs under $inject and $limits, and compares with the bytes of one batch after the other
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
# same_counts NAME NAME: compares the numbers of seeds, streamlines and ends
same_counts() {
    python3 - "$1.json" "$2.json" 2> stderr << 'END' || note "$1 and $2: $(tail -1 stderr)"
import json, sys
got, want = (json.load(open(name))["counts"] for name in sys.argv[1:])
assert got == want, (got, want)
END
}
# kernels NAME KERNEL: checks that only this kernel tracked, by the timeline NAME.trace
kernels() {
    python3 - "$1.trace" "$2" 2> stderr << 'END' || note "$1: $(tail -1 stderr)"
import json, sys
names = {e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"}
assert names & {"track.comp", "step.comp"} == {sys.argv[2]}, names
END
}

flight=0 run plain
for chunk in 90 40; do
    run chunk --chunk-size $chunk
    same chunk.trx plain.trx
done
counts chunk batches 7
# in a timeline, two phases of a thread or device lie one in the other or apart, and each batch has its own phases
run timed --chunk-size 40 --trace timed.trace
same timed.trx plain.trx
python3 - 2> stderr << 'END' || note "--trace: $(tail -1 stderr)"
import json
events = json.load(open("timed.trace"))["traceEvents"]
lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
phases = [e for e in events if e["ph"] == "X"]
assert phases and all(e["ts"] >= 0 and e["dur"] >= 0 and e["tid"] in lanes for e in phases)
for lane in lanes:
    open_until = []
    for e in sorted((e for e in phases if e["tid"] == lane), key=lambda e: (e["ts"], -e["dur"])):
        end = round(e["ts"] + e["dur"], 3)
        while open_until and open_until[-1] <= round(e["ts"], 3):
            open_until.pop()
        assert not open_until or end <= open_until[-1], (lanes[lane], e)
        open_until.append(end)
batches = list(range(0, 250, 40))
for name in ("begin pass 1", "list", "begin pass 2", "wait for pass 2", "place", "begin gather", "read points", "commit", "hand over"):
    seeds = {e["args"]["seed"] for e in phases if e["name"] == name}
    assert seeds >= set(batches), (name, seeds)
device = [lane for lane, name in lanes.items() if name.endswith("device 1") and not name.startswith("host")]
kernels = [e["name"] for e in phases if e["tid"] in device]
assert all(kernels.count(name) >= len(batches) for name in ("initial.comp", "track.comp", "gather.comp")), kernels
# each kernel ran once without work before the first seeds came
begin = min(e["ts"] for e in phases if e["name"] == "begin pass 1")
early = {e["name"] for e in phases if e["tid"] in device and e["ts"] < begin}
assert "rehearse" in {e["name"] for e in phases} and early >= {"initial.comp", "track.comp", "gather.comp"}, early
# the device got the second batch's pass 2 before the first one had ended
ends = {e["args"]["seed"]: e["ts"] + e["dur"] for e in phases if e["name"] == "wait for pass 2"}
begins = {e["args"]["seed"]: e["ts"] for e in phases if e["name"] == "begin pass 2"}
assert all(begins[b] < ends[a] for a, b in zip(batches[2:], batches[3:])), (begins, ends)
END
# the sidecar has this name
code=4 run timed --trace timed.json
# few seeds need only small buffers
run short
same short.trx plain.trx
counts short batch_seeds 250
# the pool is too small, so that a batch takes several rounds
limits=storage_bytes=400000 run rounds --chunk-size 90
same rounds.trx plain.trx
flight=0 run thin --compress 0.1
run chunk --chunk-size 60 --compress 0.1
same chunk.trx thin.trx
# the effect of regions on a streamline depends on its own seed, and not on a seed of the batch that was begun meanwhile
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

# the device is lost, or out of memory, while two batches are under way; results that were not committed are not counted
inject=reset:150 run lost --chunk-size 40
same lost.trx plain.trx
same_counts lost plain
counts lost resumes 1
for call in 6 7; do
    inject=readback:$call run smaller --chunk-size 40
    same smaller.trx plain.trx
    same_counts smaller plain
    counts smaller halvings 1
done
# a failure before the first seeds is left to tracking
inject=readback:1 run early --chunk-size 40
same early.trx plain.trx
counts early halvings 0
# a failure from which the run cannot recover; the journal has the committed results
code=5 inject=dispatch:14 run broken --chunk-size 40 --resume
[ ! -e broken.trx ] || note "a file in spite of a failure"
[ -s broken.trx.resume ] || note "no journal"
run broken --chunk-size 40 --resume
same broken.trx plain.trx

# a getter of one lane, which tracks all half-streamlines in one dispatch on GPUs, too
few="track --phantom --device auto --dg nulldist1 --nseeds 250 --force -q"
flight=0 run alone
run chunk --chunk-size 40 --trace chunk.trace
same chunk.trx alone.trx
counts chunk batches 7
kernels chunk track.comp
# lanes of boards, and half-streamlines that may have too many steps for that
mkdir shaders
export GLSLINES_DUMP_SHADERS=shaders
run es --api gles
unset GLSLINES_DUMP_SHADERS
[ -e shaders/step.comp.comp ] && [ ! -e shaders/track.comp.comp ] || note "--api gles: $(ls shaders)"
run whole --max-length 100000
run long --max-length 100000 --chunk-size 40 --trace long.trace
same long.trx whole.trx
kernels long step.comp
# one lane for a getter whose steps lanes could share
few="track --phantom --model opdt --device auto --dg closest --sphere small --nseeds 50 --force -q"
run shared --mapping single --trace shared.trace
kernels shared step.comp
finish "several batches in flight"
