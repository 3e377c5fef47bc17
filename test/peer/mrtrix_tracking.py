#!/usr/bin/env python3
"""ifod2, ifod1 and sdstream against tckgen's iFOD2, iFOD1 and SD_STREAM, on the same FODs, mask and seed region.

Usage: mrtrix_tracking.py GLSLINES WORK [--seeds N] [--first N] [--sh FILE --mask FILE --roi FILE]

Streamlines are random, so tckgen runs twice, with two random seeds: what differs between its two runs is the measure of what may differ from it. Each
run has one thread, so that it gives the same streamlines whenever the test runs; --first tries other random seeds. Compared are how many seeds
start and how many streamlines are kept, lengths, bends between steps, and maps of density. On a phantom; then on the same FODs on a grid whose voxels
have three different sides and whose axes are turned. --sh: on files of one's own instead. Status 77 without MRtrix3."""
import argparse
import json
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import nibabel as nib
import numpy as np
from scipy import stats

from checks import check, failed, run, turned

ALGORITHMS = {"ifod2": "iFOD2", "ifod1": "iFOD1", "sdstream": "SD_STREAM"}


class Tracks:
    """Statistics of a file."""

    def __init__(self, path, template, started, seconds):
        lines = list(nib.streamlines.load(path).streamlines)
        steps = [np.diff(line.astype(float), axis=0) for line in lines]
        self.started, self.kept, self.seconds = started, len(lines), seconds
        self.lengths = np.array([np.linalg.norm(s, axis=1).sum() for s in steps])
        bends = []
        for s in steps:
            s = s[1:-1] / np.linalg.norm(s[1:-1], axis=1)[:, None]  # leave out the first and the last step, which may be shorter than others
            bends.append(np.degrees(2 * np.arcsin(np.minimum(1, np.linalg.norm(np.diff(s, axis=0), axis=1) / 2))))
        self.bends = np.concatenate(bends)
        # the bends within a streamline are not independent, those of different streamlines are
        apart = np.array([(b - self.bends.mean()).sum() for b in bends])
        self.bend_error = np.sqrt((apart**2).sum()) / len(self.bends)
        run("tckmap", "-quiet", "-force", "-template", template, path, path + ".nii")
        self.density = np.asarray(nib.load(path + ".nii").dataobj, dtype=float)

    def text(self):
        return (f"{self.started} started, {self.kept} kept; length {self.lengths.mean():.2f} {np.median(self.lengths):.2f} "
                f"{self.lengths.std():.2f}; bend {self.bends.mean():.3f}; {self.seconds:.1f} s")


def tckgen(case, algorithm, n, number):
    path = f"{case.at}{algorithm}_{number}.tck"
    random = str(arguments.first + number)
    start = time.time()
    log = run("tckgen", case.sh, path, "-force", "-info", "-algorithm", ALGORITHMS[algorithm], "-seed_image", case.roi, "-mask", case.mask, "-seeds", n,
              "-select", 0, "-cutoff", case.cutoff, "-nthreads", 0, MRTRIX_RNG_SEED=random)
    seconds = time.time() - start
    started = [int(n) for n in re.findall(r"\d+ seeds, +(\d+) streamlines", log)]
    return Tracks(path, case.mask, started[-1] if started else -1, seconds)


def glslines(case, getter, n):
    path = f"{case.at}{getter}_glslines.tck"
    start = time.time()
    run(tool, "track", "--sh", case.sh, "--mask", case.mask, "--roi", case.roi, "--dg", getter, "--nseeds", n, "--cutoff", case.cutoff, "--rng-seed", arguments.first,
        "-o", path, "-q", "--force")
    seconds = time.time() - start
    counts = json.load(open(path.replace(".tck", ".json")))["counts"]
    return Tracks(path, case.mask, counts["directions"], seconds)


def correlation(a, b):
    either = (a.density > 0) | (b.density > 0)
    return np.corrcoef(a.density[either], b.density[either])[0, 1]


def dice(a, b):
    return 2 * ((a.density > 0) & (b.density > 0)).sum() / ((a.density > 0).sum() + (b.density > 0).sum())


def compare(case, getter, n):
    with ThreadPoolExecutor(2) as both:
        one, two = both.map(lambda number: tckgen(case, getter, n, number), (1, 2))
    ours = glslines(case, getter, n)
    name = f"{case.name} {getter}"
    for who, tracks in (("tckgen", one), ("tckgen", two), ("glslines", ours)):
        print(f"     {name}: {who:9s} {tracks.text()}")
    share = (one.kept + two.kept) / 2 / n
    difference = abs(ours.kept / n - share)
    check(difference <= 4 * np.sqrt(1.5 * share * (1 - share) / n) + 1e-3, f"{name}: kept share {ours.kept / n:.4f}, tckgen's {share:.4f}")
    # the lengths of streamlines from one seed region are independent
    both = np.concatenate([one.lengths, two.lengths])
    error = np.sqrt(both.var() / len(both) + ours.lengths.var() / ours.kept)
    check(abs(ours.lengths.mean() - both.mean()) <= 4 * error,
          f"{name}: mean length {ours.lengths.mean():.2f}, tckgen's {both.mean():.2f} mm, standard error of the difference {error:.2f}")
    p = stats.ks_2samp(ours.lengths, both).pvalue
    check(p > 1e-3, f"{name}: lengths of one distribution, p = {p:.3f} (tckgen's two runs: {stats.ks_2samp(one.lengths, two.lengths).pvalue:.3f})")
    bends = (one.bends.mean() + two.bends.mean()) / 2
    error = np.sqrt(ours.bend_error**2 + (one.bend_error**2 + two.bend_error**2) / 4)
    bound = max(0.01 * bends, 4 * error)
    check(abs(ours.bends.mean() - bends) <= bound, f"{name}: mean bend {ours.bends.mean():.3f} degrees, tckgen's {bends:.3f}, bound {bound:.3f}")
    among = correlation(one, two)
    with_one, with_two = correlation(ours, one), correlation(ours, two)
    # the fewer streamlines a voxel has, the more of its count is chance
    check((with_one + with_two) / 2 >= among - 0.01 - 0.1 * (1 - among),
          f"{name}: density maps correlate by {with_one:.4f} and {with_two:.4f}, tckgen's by {among:.4f}")
    overlap = (dice(ours, one) + dice(ours, two)) / 2
    check(overlap >= dice(one, two) - 0.01, f"{name}: density maps overlap by {overlap:.4f} (Dice), tckgen's by {dice(one, two):.4f}")


class Case:
    def __init__(self, name, sh, mask, roi, cutoff, work):
        self.name, self.sh, self.mask, self.roi, self.cutoff, self.at = name, sh, mask, roi, cutoff, os.path.join(work, name + "_")


def phantom(work):
    data = os.path.join(work, "phantom")
    run(tool, "phantom", data, "--shape", 30, 36, 30, "--voxel-size", 2.5, "--bvals", 3000, "--directions", 60, "--force")
    files = [os.path.join(data, f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
    prefix = os.path.join(work, "fod")
    run(tool, "fit", *files, prefix, "--model", "csd", "--sh-order", 8, "--force", "-q")
    return prefix + "_sh.nii.gz", files[3], os.path.join(data, "roi.nii.gz")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tool")
parser.add_argument("work")
parser.add_argument("--seeds", type=int, default=4000)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--sh")
parser.add_argument("--mask")
parser.add_argument("--roi")
arguments = parser.parse_args()
if not shutil.which("tckgen"):
    print("no MRtrix3")
    sys.exit(77)
tool = os.path.abspath(arguments.tool)
os.makedirs(arguments.work, exist_ok=True)
if arguments.sh:
    cases = [Case("files", arguments.sh, arguments.mask, arguments.roi, 0.1, arguments.work)]
else:
    files = phantom(arguments.work)
    cases = [Case("phantom", *files, 0.1, arguments.work), Case("turned", *turned(arguments.work, files), 0.1, arguments.work)]
for case in cases:
    for getter in ALGORITHMS:
        compare(case, getter, arguments.seeds)
sys.exit(1 if failed else 0)
