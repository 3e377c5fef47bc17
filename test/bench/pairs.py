#!/usr/bin/env python3
"""Runs two programs in turn on the same data, getter by getter, and says where the second one is slower: what became slower is a fault.

Usage: pairs.py OLD NEW FOLDER [--getters prob,ptt,...] [--seeds 100000,1000000] [--runs N] [--device D] [--limit PERCENT]
FOLDER holds dwi.nii(.gz), dwi.bval, dwi.bvec, mask.nii(.gz) and roi.nii(.gz): a folder of `glslines phantom`, or of tubes.py, whose streamlines are
long. The FODs of order 8 and their peaks are made there once, by NEW. Prints for each getter the least wall time of tracking (s) of N runs of each
program, the points, whether both made the same map of density, and the ratio. Exit status 1: some getter is more than PERCENT (5) slower, or its map
is another one. Needs Python alone.
"""
import argparse
import gzip
import hashlib
import json
import os
import subprocess
import sys

# options that each getter needs besides the FODs
MODELS = {"boot": ["--model", "csa", "--sh-order", "8"], "tensordet": [], "tensorprob": []}
VOXELS = 352  # offset of the voxels in a NIfTI-1 file
ALL = "prob det closest ptt ifod2 ifod1 sdstream boot fact tensordet tensorprob"


def find(folder, name):
    for suffix in ".nii", ".nii.gz":
        if os.path.exists(os.path.join(folder, name + suffix)):
            return os.path.join(folder, name + suffix)
    sys.exit(f"error: {folder}: has no {name}.nii or {name}.nii.gz")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)}: {done.stderr.strip().splitlines()[-1:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folder")
    parser.add_argument("--getters", default=ALL.replace(" ", ","))
    parser.add_argument("--seeds", default="100000,1000000")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--options", default="--preset gpustreamlines", help="further options of track")
    a = parser.parse_args()
    series = [find(a.folder, "dwi"), os.path.join(a.folder, "dwi.bval"), os.path.join(a.folder, "dwi.bvec"), find(a.folder, "mask")]
    fit = os.path.join(a.folder, "pairs")
    if not os.path.exists(fit + "_peaks.nii.gz"):
        run([a.new, "fit", *series, fit, "--model", "csd", "--sh-order", "8", "--force", "-q"])
        run([a.new, "peaks", fit + "_sh.nii.gz", "-o", fit + "_peaks.nii.gz", "--force", "-q"])
    given = ["--fa", fit + "_fa.nii.gz", "--mask", series[3], "--roi", find(a.folder, "roi")]
    slower = []
    print("%-11s %9s %10s %8s %8s %7s  map" % ("getter", "seeds", "points", "old", "new", "new/old"))
    for getter in a.getters.split(","):
        for seeds in a.seeds.split(","):
            least, maps, points = {}, {}, 0
            for _ in range(a.runs):
                for program in a.old, a.new:
                    out = os.path.join(a.folder, "pairs_out")
                    data = series + [given[5]] + MODELS[getter] if getter in MODELS else given + (
                        ["--peaks", fit + "_peaks.nii.gz"] if getter == "fact" else ["--sh", fit + "_sh.nii.gz"])
                    run([program, "track", *data, *a.options.split(), "--dg", getter, "--nseeds", seeds, "--device", a.device, "-o", "none",
                         "--density", out + ".nii.gz", "--sidecar", out + ".json", "--force", "-q"])
                    with open(out + ".json", encoding="utf-8") as file:
                        sidecar = json.load(file)
                    with gzip.open(out + ".nii.gz", "rb") as file:
                        maps[program] = hashlib.sha256(file.read()[VOXELS:]).hexdigest()  # leave out the header, which names the version of the program
                    least[program] = min(least.get(program, 1e9), sidecar["seconds"]["track"])
                    points = sidecar["counts"]["points"]
            ratio, same = least[a.new] / least[a.old], maps[a.old] == maps[a.new]
            print("%-11s %9s %10d %8.3f %8.3f %7.2f  %s" % (getter, seeds, points, least[a.old], least[a.new], ratio, "same" if same else "OTHER"), flush=True)
            if ratio > 1 + a.limit / 100 or not same:
                slower.append(f"{getter} {seeds}")
    if slower:
        sys.exit("slower, or another map: " + ", ".join(slower))


if __name__ == "__main__":
    main()
