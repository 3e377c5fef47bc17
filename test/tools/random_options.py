#!/usr/bin/env python3
"""Random combinations of options that give a result, each run in two ways that may not change it, compared by bytes.

A pair differs by the size of batches, the number of devices, the number of shards, a kept fit, a journal, a run that is killed, the pace of
the writer, other outputs, where a map is counted; maps without a tractogram are compared with those of it; a third way writes another format, whose points are compared. By hand: about 6 s of one core a combination.

Usage: random_options.py GLSLINES WORK_FOLDER [COMBINATIONS [SEED [JOBS]]]
GLS_PROOF_DEVICE: on which device, else llvmpipe.      Standard library only
"""
import concurrent.futures
import gzip
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


def run(arguments, where, environment=None):
    done = subprocess.run([program, *arguments], cwd=where, env={**os.environ, **(environment or {})}, stderr=subprocess.PIPE, text=True, timeout=900)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {' '.join(arguments)}: {done.stderr.strip()[-300:]}")


def pick(r, name, *values):
    """Nothing, or the option with one of the values."""
    return [] if r.random() < 0.6 else [name, str(r.choice(values))]


def result_options(r):
    """Options on which the bytes depend, and whether a fit can be kept."""
    getter = r.choice(("boot", "prob", "det", "ptt", "prob", "boot", "ifod2", "ifod1", "sdstream", "fact", "eudx", "tensordet", "tensorprob", "nulldist1", "nulldist2", "closest"))
    order = r.choice((4, 4, 6, 8))
    o = ["--dg", getter, "--nseeds", str(r.choice((1, 37, 100, 250))), "--rng-seed", str(r.randrange(10**6)), "--sphere", r.choice(("small", "small", "small", "default"))]
    if getter == "boot":
        o += ["--model", r.choice(("opdt", "csa")), "--sh-order", str(min(order, 6))]
        o += pick(r, "--boot-retry", "cone", "peak") + pick(r, "--boot-start", "sample", "fit") + pick(r, "--angular-weight", 0.3)
    elif getter in ("tensordet", "tensorprob"):
        o += pick(r, "--cutoff", 0.05, 0.2)
    elif getter in ("nulldist1", "nulldist2"):
        pass
    elif getter == "closest":
        o += ["--model", r.choice(("opdt", "csd")), "--sh-order", str(order)] + pick(r, "--angular-weight", 0.3)
    elif getter in ("prob", "det"):
        o += ["--model", r.choice(("opdt", "csa", "csd", "msmt")), "--sh-order", str(order)]
        o += pick(r, "--pmf-threshold", 0.02, 0.2) + pick(r, "--angular-weight", 0.3) + pick(r, "--odf-interpolation", "amplitudes", "coefficients")
    elif getter == "ptt":
        o += ["--model", r.choice(("csd", "csa")), "--sh-order", "4", "--max-angle", "30"] + pick(r, "--probe-count", 1, 2) + pick(r, "--probe-quality", 3, 5)
    else:
        o += ["--model", r.choice(("csd", "msmt")), "--sh-order", str(order)] + pick(r, "--cutoff", 0.05, 0.2)
    if getter not in ("ptt",):
        o += pick(r, "--max-angle", 20, 45, 70)
    o += pick(r, "--step-size", "0.3", "1mm", "0.8vox") + pick(r, "--min-length", "4", "20") + pick(r, "--max-length", "30", "90")
    if getter in ("boot", "prob", "det", "ptt"):
        o += pick(r, "--max-directions-per-seed", 1, 3)
    o += pick(r, "--mask-stop", "nearest", "interpolated") + pick(r, "--seed-seed", 5)
    o += pick(r, "--precision", "half", "float") + ([] if r.random() < 0.8 else ["--keep-single-points"] if getter in ("boot", "prob", "det") else [])
    if getter in ("boot", "prob", "det", "ptt"):
        o += pick(r, "--fa-threshold", 0.05, 0.2)
    if r.random() < 0.3:
        o += [r.choice(("--include", "--exclude", "--stop-at", "--include-end")), r.choice(("0,0,0,8", "8,0,4,5", "-6,5,0,9"))]
    o += pick(r, "--mapping", "single", "group") + pick(r, "--api", "gl", "gles")
    if r.random() < 0.15:
        o += ["--seed-unidirectional"]
    if r.random() < 0.15:
        o += ["--select", str(r.choice((1, 20, 90)))]
    if r.random() < 0.3 and "--model" in o and o[o.index("--model") + 1] in ("csd", "msmt"):
        o += ["--weights"]
    return o


def way(r, options):
    """Options on which the bytes may not depend, and how the run is made."""
    o = pick(r, "--chunk-size", 1, 7, 33, 100, 25000)
    o += r.choice((["--device", device], ["--device", device], ["--device", f"{device},{device}"], ["--device", f"{device},{device},{device}"]))
    if options[options.index("--nseeds") + 1] in ("100", "250") and "--chunk-size" in o and o[o.index("--chunk-size") + 1] == "1":
        o[o.index("--chunk-size") + 1] = "11"
    if r.random() < 0.2:
        o += ["--cache-dir", "fits"]
    environment = {}
    if r.random() < 0.4:
        o += ["--density", "d.nii.gz"]
        environment = {"GLSLINES_MAP": r.choice(("device", "host"))}
    kind = r.choice(("plain", "plain", "shards", "resume", "killed"))
    if kind == "shards" and ("--select" in options or "--weights" in options):
        kind = "plain"
    return o, kind, environment


def make(options, o, kind, environment, r, suffix, where):
    os.makedirs(where)
    base = ["track", *files, "-q", "-o", f"a.{suffix}", *options, *o]
    if kind == "shards":
        n = r.choice((2, 3, 5))
        for i in range(n):
            run([*base, "--shard", f"{i + 1}/{n}"], where, environment)
        run(["merge", "-q", "-o", f"a.{suffix}", *[f"a_shard-{i + 1}of{n}.{suffix}" for i in range(n)]], where)
    elif kind == "killed":
        for _ in range(2):
            process = subprocess.Popen([program, *base, "--resume"], cwd=where, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
            try:
                process.wait(r.random() * 4)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # one that was killed when its outputs had their names and the journal was still there ends by the same command, too
        if not os.path.exists(f"{where}/a.json") or os.path.exists(f"{where}/a.{suffix}.resume"):
            run([*base, "--resume"], where, environment)
    else:
        run([*base, *(["--resume"] if kind == "resume" else [])], where, environment)
    with open(f"{where}/a.{suffix}", "rb") as file:
        return file.read()


def points(path):
    """Coordinates as the file has them, one streamline behind the other, as bytes."""
    if path.endswith(".trx"):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("positions")]
            return archive.read(names[0]) if names else b""
    with open(path, "rb") as file:
        data = file.read()
    start = int(data[data.index(b"file: . ") + 8:].split()[0])
    nan = struct.pack("<3f", *[float("nan")] * 3)
    return b"".join(data[at:at + 12] for at in range(start, len(data) - 12, 12) if data[at:at + 12] != nan)


def maps_alone(options, r, tractogram, where):
    """Maps of a run that writes no tractogram against those of the tractogram. What differs, or nothing."""
    os.makedirs(where)
    o, _, environment = way(r, options)
    o = [word for word in o if word not in ("--density", "d.nii.gz")]
    outputs = ["--density", "d.nii.gz", "--connectome", f"{files[3]}:c.csv"]
    kept = outputs if r.random() < 0.5 else outputs[:2]
    run(["track", *files, "-q", "-o", "none", *kept, *options, *o], where, {"GLSLINES_MAP": r.choice(("device", "device", "host")), **environment})
    run(["density", "-q", tractogram, "file.nii.gz"], where)
    run(["connectome", "-q", tractogram, files[3], "file.csv"], where)
    if gzip.open(f"{where}/d.nii.gz").read() != gzip.open(f"{where}/file.nii.gz").read():
        return "FAIL: another map without a tractogram"
    if len(kept) == 4 and open(f"{where}/c.csv").read() != open(f"{where}/file.csv").read():
        return "FAIL: another connectome without a tractogram"
    return None


def combination(seed):
    r = random.Random(seed)
    options = result_options(r)
    place = f"{work}/{seed}"
    ways = [way(r, options) for _ in range(2)]
    suffix = r.choice(("trx", "trx", "trk", "tck"))
    told = f"{seed}: {' '.join(options)} | {suffix} | " + " | ".join(f"{kind} {' '.join(o)} {' '.join(environment.values())}" for o, kind, environment in ways)
    try:
        made = [make(options, o, kind, environment, r, suffix, f"{place}/{k}") for k, (o, kind, environment) in enumerate(ways)]
        maps = [f"{place}/{k}/d.nii.gz" for k in range(2) if "--density" in ways[k][0] and ways[k][1] != "shards"]
        if made[0] != made[1]:
            return told, f"FAIL: other bytes ({len(made[0])} and {len(made[1])})"
        if len(maps) == 2 and gzip.open(maps[0]).read() != gzip.open(maps[1]).read():
            return told, "FAIL: other maps"
        if suffix in ("trx", "tck"):
            other = "tck" if suffix == "trx" else "trx"
            make(options, way(r, options)[0], "plain", None, r, other, f"{place}/other")
            if points(f"{place}/0/a.{suffix}") != points(f"{place}/other/a.{other}"):
                return told, f"FAIL: other points in {other}"
        if suffix == "trx" and "--weights" not in options:
            outcome = maps_alone(options, random.Random(-seed), f"{place}/0/a.trx", f"{place}/alone")
            if outcome:
                return told, outcome
        texts = [f"{place}/{k}/a_weights.txt" for k in range(2) if os.path.exists(f"{place}/{k}/a_weights.txt")]
        if len(texts) == 2 and open(texts[0]).read() != open(texts[1]).read():
            return told, "FAIL: other weights"
        left = [name for k in range(2) for name in os.listdir(f"{place}/{k}") if name.endswith(".resume") or ".part" in name]
        if left:
            return told, f"FAIL: left behind: {left}"
        shutil.rmtree(place)
        return told, f"same, {len(made[0])} bytes"
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        # what is refused has to be refused every time
        return told, f"FAIL: {error}"


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
subprocess.run([program, "phantom", folder, "--shape", "16", "18", "16", "--directions", "45", "--bvals", "1000,2500", "-q"], check=True)
failed = 0
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for told, outcome in pool.map(combination, range(first_seed, first_seed + number)):
        failed += outcome.startswith("FAIL")
        print(f"{outcome}: {told}", flush=True)
print(f"{number} combinations, {failed} failures")
sys.exit(failed > 0)
