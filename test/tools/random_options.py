#!/usr/bin/env python3
"""Random combinations of options that give a result, each run in two ways that may not change it, compared by bytes.

A pair differs by the size of batches, the number of devices, the number of shards, a kept fit, a journal, a run that is killed, the pace of
the writer, other outputs, where a map is counted; maps without a tractogram are compared with those of it; a third way writes another format, whose points are compared. The
first way is told to skip what exists, which it has to do, and not after a change. By hand: about 6 s of one core a combination.

Usage: random_options.py GLSLINES WORK_FOLDER [COMBINATIONS [SEED [JOBS]]]
GLS_PROOF_DEVICE: on which device, else llvmpipe. GLS_PROOF_ONLY: combinations that have this among their options.     Standard library only
"""
import concurrent.futures
import gzip
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import zipfile

program = os.path.abspath(sys.argv[1])
work = os.path.abspath(sys.argv[2])
number = int(sys.argv[3]) if len(sys.argv) > 3 else 300
first_seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
jobs = int(sys.argv[5]) if len(sys.argv) > 5 else 2
device = os.environ.get("GLS_PROOF_DEVICE", "llvmpipe")
folder = f"{work}/in"
files = [f"{folder}/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
# samples of bedpostX, and other files on their grid
scenes = f"{work}/scenes"
GETTERS = ("boot", "prob", "prob", "det", "ptt", "ifod1", "ifod2", "sdstream", "fact", "eudx", "tensordet", "tensorprob", "closest", "bedpost", "bedpost", "nulldist1", "nulldist2", "seedtest")


class Refused(Exception):
    """The program refused options that exclude each other."""


def run(arguments, where, environment=None, code=0):
    done = subprocess.run([program, *arguments], cwd=where, env={**os.environ, **(environment or {})}, stderr=subprocess.PIPE, text=True, timeout=900)
    if done.returncode == 2:
        raise Refused(done.stderr.strip()[-300:])
    if done.returncode not in (0, code):
        raise RuntimeError(f"exit code {done.returncode}: {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    return done.returncode


def pick(r, name, *values):
    """Returns nothing, or the option with one of the values."""
    return [] if r.random() < 0.6 else [name, str(r.choice(values))]


def inputs(r, getter):
    """Returns the images, and whether they are those of the scenes."""
    if getter == "bedpost" and r.random() < 0.7:
        scene = r.choice(("crossing", "even", "turn1", "second"))
        return ["--bedpostx", f"{scenes}/{scene}", "--roi", f"{scenes}/block.nii", *pick(r, "--seed-radius", 0.4), *pick(r, "--start-fibre", "any", "by-f", "all")]
    if getter in ("fact", "eudx") and r.random() < 0.4:
        return ["--peaks", f"{folder}/peaks.nii.gz", "--mask", files[3], "--roi", files[4]]
    return files


def getter_options(r, getter, series):
    order = r.choice((4, 4, 6, 8))
    o = []
    if getter == "boot":
        o += ["--model", r.choice(("opdt", "csa")), "--sh-order", str(min(order, 6))]
        o += pick(r, "--boot-retry", "cone", "peak") + pick(r, "--boot-start", "sample", "fit") + pick(r, "--angular-weight", 0.3)
    elif getter in ("tensordet", "tensorprob"):
        o += pick(r, "--cutoff", 0.05, 0.2) + (["--rk4"] if r.random() < 0.4 else [])
    elif getter == "closest":
        o += ["--model", r.choice(("opdt", "csd")), "--sh-order", str(order)]
    elif getter in ("prob", "det"):
        o += ["--model", r.choice(("opdt", "csa", "csd", "msmt")), "--sh-order", str(order)]
        o += pick(r, "--pmf-threshold", 0.02, 0.2) + pick(r, "--angular-weight", 0.3) + pick(r, "--odf-interpolation", "amplitudes", "coefficients")
    elif getter == "ptt":
        o += ["--model", r.choice(("csd", "csa")), "--sh-order", "4", "--max-angle", "30"] + pick(r, "--probe-count", 1, 2) + pick(r, "--probe-quality", 3, 5)
    elif getter not in ("nulldist1", "nulldist2", "seedtest"):
        o += (["--model", r.choice(("csd", "msmt")), "--sh-order", str(order)] if series else []) + pick(r, "--cutoff", 0.05, 0.2)
    if getter == "fact":
        o += pick(r, "--step-noise", "0.15", "0.4mm")
    if getter == "bedpost":
        o += [word for word in ("--loop-check", "--stop-by-fraction") if r.random() < 0.4]
    if getter != "ptt":
        o += pick(r, "--max-angle", 20, 45, 70)
    if getter in ("boot", "prob", "det", "ptt", "closest", "fact"):
        o += pick(r, "--max-directions-per-seed", 1, 3)
    if getter in ("boot", "prob", "det", "ptt", "closest"):
        o += pick(r, "--fa-threshold", 0.05, 0.2)
    return o


def tissue_options(r, getter):
    rule = r.choice(("act", "act", "cmc", "pve"))
    o = ["--act", f"{folder}/5tt.nii.gz", "--act-rule", rule]
    if rule == "act":
        if getter in ("boot", "prob", "ifod1", "ifod2", "bedpost") and r.random() < 0.6:
            return [*o, "--backtrack"]
        o += ["--crop-at-gmwmi"] if r.random() < 0.3 else []
    elif getter in ("prob", "det") and r.random() < 0.8:
        o += ["--pft", *pick(r, "--pft-back", 1, 3), *pick(r, "--pft-front", 0, 2), *pick(r, "--pft-particles", 1, 4, 33), *pick(r, "--pft-trials", 1, 5), *pick(r, "--pft-min-wm", 0.8)]
    return o + (["--keep-all-ends"] if r.random() < 0.2 else []) + (["--seed-gmwmi", "auto"] if r.random() < 0.2 else [])


def region_options(r, tissue, in_scenes):
    """Returns one or two regions, and their rule."""
    spheres = ("18,3,3,2", "5,3,3,1.5", "14,3,3,3") if in_scenes else ("0,0,0,8", "8,0,4,5", "-6,5,0,9")
    o = []
    for sphere in r.sample(spheres, r.choice((1, 1, 2, 3))):
        o += [r.choice(("--include", "--include-any", "--exclude", "--stop-at", "--include-end", "--stop-leaving", "--stop-leaving", "--exclude-end")), sphere]
    if "--pft" in tissue:
        o = [word.replace("--stop-leaving", "--stop-at") for word in o]
    if not tissue and ("--include" in o or "--exclude" in o):
        o += pick(r, "--region-rule", "halves", "halves-any", "halves-one-way", "halves-ordered")
    return o


def result_options(r):
    """Returns the images, options on which the bytes depend, and further results."""
    getter = r.choice(GETTERS)
    images = inputs(r, getter)
    in_scenes = images[0] == "--bedpostx"
    o = ["--dg", getter, "--rng-seed", str(r.randrange(10**6)), "--sphere", r.choice(("small", "small", "small", "default"))]
    o += ["--seeds-per-voxel", str(r.choice((1, 4, 9)))] if in_scenes else ["--nseeds", str(r.choice((1, 37, 100, 250)))]
    o += getter_options(r, getter, images == files)
    tissue = tissue_options(r, getter) if not in_scenes and r.random() < 0.35 else []
    if "--seed-gmwmi" not in tissue and not in_scenes and r.random() < 0.1:
        o += ["--seed-sphere", "0,0,0,9"]
    o += tissue
    if getter != "seedtest":
        o += pick(r, "--step-size", "0.3", "1mm", "0.8vox") + pick(r, "--min-length", "4", "20") + pick(r, "--max-length", "30", "90")
    o += pick(r, "--mask-stop", "nearest", "interpolated") if getter in ("boot", "prob", "det", "ptt", "closest") and not tissue else []
    o += pick(r, "--seed-seed", 5) + pick(r, "--precision", "half", "float")
    o += ["--keep-single-points"] if r.random() < 0.15 else []
    o += pick(r, "--retries", 1, 7) if r.random() < 0.4 else []
    o += region_options(r, tissue, in_scenes) if r.random() < 0.4 else []
    o += pick(r, "--mapping", "single", "group") + pick(r, "--api", "gl", "gles")
    if r.random() < 0.2:
        o += ["--seed-unidirectional"] if r.random() < 0.5 else ["--seed-direction", "1,0.2,0"]
    if r.random() < 0.15:
        o += ["--select", str(r.choice((1, 20, 90)))]
    if r.random() < 0.1:
        o += ["--preset", r.choice(("gpustreamlines", "dipy", "tckgen", "qsirecon", "pyafq"))]
    if r.random() < 0.3 and "--model" in o and o[o.index("--model") + 1] in ("csd", "msmt"):
        o += ["--weights"]
    return images, o, fdt_results(r, o, in_scenes)


# results of probtrackx2: option, LABELS or MASK, files, whether the parts of a run add up
FDT = (("--fdt-paths", None, ("p.nii.gz",), True), ("--fdt-lengths", None, ("l.nii.gz",), False), ("--waytotal", None, ("w.txt",), False),
       ("--fdt-network", "labels", ("n.txt",), False), ("--fdt-matrix1", None, ("1.dot", "coords_for_1"), False),
       ("--fdt-matrix2", "mask", ("2.dot", "coords_for_2", "tract_space_coords_for_2", "lookup_tractspace_2.nii.gz"), False), ("--fdt-matrix3", "mask", ("3.dot", "coords_for_3"), False),
       ("--fdt-targets", "labels", ("t.nii.gz",), True))


def fdt_results(r, options, in_scenes):
    """Returns options of results of probtrackx2, their files, and those files whose parts add up, if all do."""
    masked = "--seed-gmwmi" not in options and "--seed-sphere" not in options
    rows = [row for row in FDT if r.random() < 0.4 and (masked or row[0] not in ("--fdt-matrix1", "--fdt-matrix2", "--fdt-network", "--fdt-targets"))]
    if r.random() < 0.6 or not rows:
        return [], [], []
    on_grid = {"labels": f"{scenes}/labels.nii", "mask": f"{scenes}/four.nii"} if in_scenes else {"labels": f"{work}/labels.nii", "mask": files[3]}
    o = [word for option, image, made, _ in rows for word in (option, f"{on_grid[image]}:{made[0]}" if image else made[0])]
    names = [name for row in rows for name in row[2]]
    if "3.dot" in names and r.random() < 0.5:
        o += ["--fdt-lrtarget3", f"{scenes}/coarse.nii" if in_scenes else files[4]]
        names.append("tract_space_coords_for_3")
    distance = r.random() < 0.4 and any(option not in ("--fdt-lengths", "--waytotal") for option, *_ in rows)
    o += ["--distance-correction"] if distance else []
    return o, names, names if not distance and all(row[3] for row in rows) and "--select" not in options else []


def way(r, options, results):
    """Returns options on which the bytes do not depend, and how the run is made."""
    o = pick(r, "--chunk-size", 1, 7, 33, 100, 25000)
    o += r.choice((["--device", device], ["--device", device], ["--device", f"{device},{device}"], ["--device", f"{device},{device},{device}"]))
    many = "--nseeds" not in options or options[options.index("--nseeds") + 1] in ("100", "250")
    if many and "--chunk-size" in o and o[o.index("--chunk-size") + 1] == "1":
        o[o.index("--chunk-size") + 1] = "11"
    if r.random() < 0.2 and "--model" in options:
        o += ["--cache-dir", "fits"]
    environment = {}
    if r.random() < 0.4:
        o += ["--density", "d.nii.gz"]
        environment = {"GLSLINES_MAP": r.choice(("device", "host"))}
    kind = r.choice(("plain", "plain", "shards", "resume", "killed"))
    if kind == "shards" and ("--weights" in options or ("--select" in options and "--density" in o) or (results[0] and not results[2])):
        kind = "plain"
    return o, kind, environment


def make(images, options, results, o, kind, environment, r, suffix, where):
    os.makedirs(where)
    base = ["track", *images, "-q", "-o", f"a.{suffix}", *options, *o, *results[0]]
    if kind == "shards":
        n = r.choice((2, 3, 5))
        for i in range(n):
            run([*base, "--shard", f"{i + 1}/{n}"], where, environment)
        for name in (f"a.{suffix}", *results[2]):
            stem, _, end = name.partition(".")
            run(["merge", "-q", "-o", name, *[f"{stem}_shard-{i + 1}of{n}.{end}" for i in range(n)]], where)
    elif kind == "killed":
        for _ in range(2):
            process = subprocess.Popen([program, *base, "--resume"], cwd=where, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
            try:
                process.wait(r.random() * 4)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # if a run was killed when its outputs had their names and the journal was still there, the same command completes it,
        # too
        if not os.path.exists(f"{where}/a.json") or os.path.exists(f"{where}/a.{suffix}.resume"):
            run([*base, "--resume"], where, environment)
    else:
        run([*base, *(["--resume"] if kind == "resume" else [])], where, environment)
    with open(f"{where}/a.{suffix}", "rb") as file:
        return file.read()


def contents(path):
    """Returns the content of a file, of an image without its compression."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


def skips(images, options, results, o, suffix, where):
    """Checks that a complete run is skipped, and another one is not. Returns what is wrong, or nothing."""
    base = ["track", *images, "-q", "-o", f"a.{suffix}", *options, *o, *results[0], "--skip-existing"]
    times = {name: os.stat(f"{where}/{name}").st_mtime_ns for name in os.listdir(where)}
    run(base, where)
    if times != {name: os.stat(f"{where}/{name}").st_mtime_ns for name in os.listdir(where)}:
        return "FAIL: made anew what exists"
    at = options.index("--rng-seed") + 1
    others = {word: word.replace("labels.nii", "changed.nii").replace("four.nii", "changed.nii").replace("mask.nii.gz", "roi.nii.gz") for word in results[0]}
    changes = [("--rng-seed", ["1" if k == at else word for k, word in enumerate(options)], results[0])]
    # an image of results is another one at a time
    changes += [(word, options, [new if w == word else w for w in results[0]]) for word, new in others.items() if word != new]
    for what, new, names in changes:
        if run(["track", *images, "-q", "-o", f"a.{suffix}", *new, *o, *names, "--skip-existing"], where, code=4) == 0:
            return f"FAIL: skipped in spite of another {what}"
    return None


def points(path):
    """Returns the coordinates in the file, one streamline behind the other, as bytes."""
    if path.endswith(".trx"):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("positions")]
            return archive.read(names[0]) if names else b""
    with open(path, "rb") as file:
        data = file.read()
    start = int(data[data.index(b"file: . ") + 8:].split()[0])
    nan = struct.pack("<3f", *[float("nan")] * 3)
    return b"".join(data[at:at + 12] for at in range(start, len(data) - 12, 12) if data[at:at + 12] != nan)


def maps_alone(images, options, r, tractogram, where):
    """Compares maps of a run that writes no tractogram with maps of the tractogram. Returns the difference, or nothing."""
    os.makedirs(where)
    o, _, environment = way(r, options, ([], [], []))
    o = [word for word in o if word not in ("--density", "d.nii.gz")]
    labels = f"{scenes}/labels.nii" if images[0] == "--bedpostx" else files[3]
    outputs = ["--density", "d.nii.gz", "--connectome", f"{labels}:c.csv"]
    kept = outputs if r.random() < 0.5 else outputs[:2]
    run(["track", *images, "-q", "-o", "none", *kept, *options, *o], where, {"GLSLINES_MAP": r.choice(("device", "device", "host")), **environment})
    run(["density", "-q", tractogram, "file.nii.gz"], where)
    run(["connectome", "-q", tractogram, labels, "file.csv"], where)
    if contents(f"{where}/d.nii.gz") != contents(f"{where}/file.nii.gz"):
        return "FAIL: another map without a tractogram"
    if len(kept) == 4 and contents(f"{where}/c.csv") != contents(f"{where}/file.csv"):
        return "FAIL: another connectome without a tractogram"
    return None


def compare(place, ways, results, options):
    """Compares the results of both ways besides the tractogram. Returns the difference, or nothing."""
    names = results[1] + [name for name in ("d.nii.gz", "a_weights.txt") if all(os.path.exists(f"{place}/{k}/{name}") for k in range(2))]
    for name in names:
        if contents(f"{place}/0/{name}") != contents(f"{place}/1/{name}"):
            return f"FAIL: another {name}"
    one, two = (json.load(open(f"{place}/{k}/a.json")) for k in range(2))
    # streamlines that were tracked beyond a selection are counted, too; their number differs
    if one["lengths"]["median_mm"] is None or two["lengths"]["median_mm"] is None:  # shards do not have this number
        one["lengths"]["median_mm"] = two["lengths"]["median_mm"] = None
    for key in ("counts", "lengths") if "--select" not in options else ():
        if one[key] != two[key]:
            return f"FAIL: other {key}: {one[key]} {two[key]}"
    silent = [word for word in options if word.startswith("--") and one["parameters"].get(word[2:].replace("-", "_"), one["parameters"]) is None]
    return f"FAIL: the sidecar has no {silent}" if silent else None


def combination(seed):
    r = random.Random(seed)
    images, options, results = result_options(r)
    place = f"{work}/{seed}"
    ways = [way(r, options, results) for _ in range(2)]
    suffix = r.choice(("trx", "trx", "trk", "tck"))
    told = f"{seed}: {' '.join((*images[:2], *options, *results[0]))} | {suffix} | " + " | ".join(f"{kind} {' '.join(o)} {' '.join(environment.values())}" for o, kind, environment in ways)
    if os.environ.get("GLS_PROOF_ONLY", "") not in told:
        return told, "left out"
    try:
        made = [make(images, options, results, o, kind, environment, r, suffix, f"{place}/{k}") for k, (o, kind, environment) in enumerate(ways)]
        if made[0] != made[1]:
            return told, f"FAIL: other bytes ({len(made[0])} and {len(made[1])})"
        outcome = compare(place, ways, results, options)
        if not outcome and suffix in ("trx", "tck"):
            other = "tck" if suffix == "trx" else "trx"
            make(images, options, results, way(r, options, results)[0], "plain", None, r, other, f"{place}/other")
            if points(f"{place}/0/a.{suffix}") != points(f"{place}/other/a.{other}"):
                outcome = f"FAIL: other points in {other}"
        if not outcome and suffix == "trx" and "--weights" not in options:
            outcome = maps_alone(images, options, random.Random(-seed), f"{place}/0/a.trx", f"{place}/alone")
        if not outcome and ways[0][1] != "shards":
            outcome = skips(images, options, results, ways[0][0], suffix, f"{place}/0")
        left = [name for k in range(2) for name in os.listdir(f"{place}/{k}") if name.endswith(".resume") or ".part" in name]
        if left:
            return told, f"FAIL: left behind: {left}"
        if outcome:
            return told, outcome
        shutil.rmtree(place)
        return told, f"same, {len(made[0])} bytes"
    except Refused as refused:
        return told, f"refused: {refused}"
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        # a combination that is refused has to be refused every time
        return told, f"FAIL: {error}"


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
subprocess.run([program, "phantom", folder, "--shape", "16", "18", "16", "--directions", "45", "--bvals", "1000,2500", "-q"], check=True)
os.makedirs(scenes)
subprocess.run([sys.executable, f"{os.path.dirname(os.path.abspath(__file__))}/../cli/bedpost.py", "write"], cwd=scenes, check=True)
# the mask, numbered by rows, as labels; and their changes
for name, every in ((f"{work}/labels.nii", 9), (f"{work}/changed.nii", 6)):
    image = bytearray(contents(files[3]))
    first = int(struct.unpack_from("<f", image, 108)[0])
    image[first:] = bytes(value and 1 + i % 18 // every for i, value in enumerate(image[first:]))
    with open(name, "wb") as file:
        file.write(image)
with open(f"{scenes}/labels.nii", "rb") as file:
    image = bytearray(file.read())
struct.pack_into("<f", image, 352, 3)
with open(f"{scenes}/changed.nii", "wb") as file:
    file.write(image)
failed = refused = 0
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for told, outcome in pool.map(combination, range(first_seed, first_seed + number)):
        failed += outcome.startswith("FAIL")
        refused += outcome.startswith("refused")
        print(f"{outcome}: {told}", flush=True)
print(f"{number} combinations, {refused} refused, {failed} failures")
sys.exit(failed > 0)
