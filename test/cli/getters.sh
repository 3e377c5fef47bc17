#!/bin/sh
# Tests of properties of every direction getter: getters.sh TOOL WORK_DIR. Each is tracked in small batches, ended by a signal and resumed; and in two
# shards, which are merged. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 0 phantom data --shape 18 20 18 --voxel-size 3 --bvals 1000 --directions 20 -q
# the first run of few seeds on a machine has kernels with loops, the second written-out ones: the same bytes
fitted="data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz --roi data/roi.nii.gz --nseeds 300 --device llvmpipe"
for getter in prob det closest; do
    for run in first second; do
        XDG_CACHE_HOME="$work/notes" expect 0 track $fitted --model opdt --dg $getter -o $getter-$run.tck -vv
        if [ $run = first ]; then says 'kernels with loops'; else ! grep -q 'kernels with loops' stderr || note "$getter: loops again"; fi
    done
    same $getter-first.tck $getter-second.tck
done
XDG_CACHE_HOME="$work/many" expect 0 track $fitted --model opdt --nseeds 4001 --dg det -o none --density many.nii -vv
! grep -q 'kernels with loops' stderr || note '4001 seeds: loops'

python3 - "$tool" <<'END' || failures=$((failures + 1))
import gzip, json, os, signal, struct, subprocess, sys, time

tool = sys.argv[1]
images = [f"data/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
opdt, csd = "--model opdt --sphere small".split(), "--model csd --sh-order 4 --response-radius 0 --response-voxels 30".split()
options = json.loads(subprocess.run([tool, "help", "--format", "json"], capture_output=True, check=True).stdout)
names = next(o["choices"] for c in options["commands"] if c["name"] == "track" for o in c["options"] if o["name"] == "dg")
assert len(names) >= 16, names
# further options that a getter needs; a row without a getter of its name is another way to track with one
needs = {name: opdt for name in names}
needs.update({name: csd for name in ("ifod1", "ifod2", "sdstream")})
needs.update({name: [] for name in ("tensordet", "tensorprob", "nulldist1", "nulldist2", "seedtest")})
needs["pft"] = opdt + "--dg prob --pft --act data/5tt.nii.gz --act-rule cmc".split()
needs["halves"] = opdt + "--dg bedpost --region-rule halves --exclude 0,0,0,6 --loop-check".split()
needs["one_way"] = opdt + "--dg bedpost --region-rule halves-one-way --include 0,0,0,12 --stop-by-fraction --start-fibre any".split()
needs["leaving"] = opdt + "--dg prob --act data/5tt.nii.gz --backtrack --stop-leaving 0,0,0,9 --stop-leaving 9,0,0,6 --exclude-end 0,0,15,6".split()
needs["noise"] = opdt + "--dg fact --step-noise 0.15 --retries 3".split()
needs["rk4"] = "--dg tensorprob --rk4".split()
# the words of a report about the getter
told_of = {"closest": "by the closest peaks of orientation distributions", "bedpost": "samples of the directions of fibres", "halves": "<td>halves</td>", "seedtest": "no steps: they are the points of their seeds",
           "pft": "by tissue, according to the continuous map criterion", "leaving": "the rules of anatomically-constrained tractography (Smith et al., 2012), with back-tracking"}
ended, faults = 0, []
labels = bytearray(gzip.open("data/mask.nii.gz").read())
first = int(struct.unpack_from("<f", labels, 108)[0])
for i in range(first, len(labels)):
    labels[i] = labels[i] and 1 + (i - first) % 18 // 9
open("labels.nii", "wb").write(labels)


def run(*words, ok=(0,)):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    if done.returncode not in ok:
        faults.append(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr[-300:]}")


def same(name, *pair):
    texts = [open(p, "rb").read() if os.path.exists(p) else str(i) for i, p in enumerate(pair)]
    if texts[0] != texts[1]:
        faults.append(f"{name}: {pair[0]} and {pair[1]} differ")


def size(path):
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def tell_to_end(words, journal):
    """Ends a run by a signal once it has written to its journal; whether it was not over before."""
    with open("told.txt", "w+") as told:
        process = subprocess.Popen([tool, *words], stderr=told, stdout=subprocess.DEVNULL)
        while process.poll() is None and size(journal) <= 2000:
            time.sleep(.001)
        process.send_signal(signal.SIGTERM)
        code = process.wait()
        if code not in (0, 143):
            told.seek(0)
            faults.append(f"{' '.join(words)}: exit code {code}, told to end: {told.read()[-3000:]}")
    return code == 143


run("fit", *images[:4], "fod", "--model", "csd", "--sh-order", "4", "-q")
for name, how in needs.items():
    words = ["track", "--device", "llvmpipe", *images, "--nseeds", "150", *how]
    words += [] if "--dg" in how else ["--dg", name]
    words += [] if name == "seedtest" else ["--min-length", "6"]
    maps = lambda to: ["--density", f"{to}.nii", "--connectome", f"labels.nii:{to}.csv"]

    whole = [*words, "--chunk-size", "7", "--resume", "-o", f"{name}.trx", *maps(name)]
    if tell_to_end(whole, f"{name}.trx.resume"):
        ended += 1
        run(*whole)
    run("density", f"{name}.trx", f"{name}_again.nii")
    same(name, f"{name}.nii", f"{name}_again.nii")

    # weights and reports of getters for which no other test makes any
    if name in ("closest", "bedpost", "pft"):
        # so few streamlines need regularised weights
        run("weights", f"{name}.trx", "fod_sh.nii.gz", "-o", f"{name}.txt", "-q", "--device", "cpu", "--reg-tikhonov", "1")
        if sum(len(line.split()) for line in open(f"{name}.txt") if not line.startswith("#")) != json.load(open(f"{name}.json"))["counts"]["streamlines"]:
            faults.append(f"{name}: not a weight for each streamline")
    if name in told_of:
        run("report", f"{name}.trx", "-o", f"{name}.html", "-q")
        html = open(f"{name}.html").read()
        faults.extend(f"{name}.html: says nothing of \"{text}\"" for text in ("Why half-streamlines ended", told_of[name]) if text not in html)

    # batches as large as the shards
    for part in ("1/2", "2/2"):
        run(*words, "--shard", part, "-o", f"{name}_part.trx", *maps(name + "_part"))
    for kind in ("trx", "nii", "csv"):
        run("merge", f"{name}_part_shard-1of2.{kind}", f"{name}_part_shard-2of2.{kind}", "-o", f"{name}_merged.{kind}")
        same(name, f"{name}.{kind}", f"{name}_merged.{kind}")

    if not os.path.exists(f"{name}.json"):
        continue
    whole, parts = (json.load(open(f"{n}.json")) for n in (name, name + "_merged"))
    # the median of measured lengths cannot be computed from those of the shards
    if parts["lengths"]["median_mm"] is None:
        whole["lengths"]["median_mm"] = None
    for what in "counts", "lengths":
        if whole[what] != parts[what]:
            faults.append(f"{name}: other {what} than those of the shards: {whole[what]} {parts[what]}")
    one = whole["counts"]
    if one["directions"] != one["streamlines"] + sum(one["rejected"].values()):
        faults.append(f"{name}: streamlines and rejected ones are not all: {one}")
    if sum(one["half_streamline_ends"].values()) != 2 * one["directions"] or one["streamlines"] == 0:
        faults.append(f"{name}: not two ends for each: {one}")

print(f"{len(needs)} ways to track, {ended} told to end")
if ended < len(needs) // 3:
    faults.append("most runs were over before they were told to end")
for fault in faults:
    print("FAIL:", fault)
sys.exit(len(faults) > 0)
END
finish "getters"
