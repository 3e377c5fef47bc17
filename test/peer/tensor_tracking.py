#!/usr/bin/env python3
"""Tensors against MRtrix3: tensordet against tckgen's Tensor_Det streamline by streamline, and from random seeds; tensorprob, whose bootstrap is drawn,
against two runs of Tensor_Prob; nulldist1 and nulldist2, which look at no data, against two of NullDist1 and NullDist2; seedtest.

Usage: tensor_tracking.py GLSLINES WORK [--seeds N]
The series is the phantom's; then the same on a grid whose voxels have three different sides and whose axes are turned."""
import argparse
import os
import shutil
import sys

import numpy as np
from scipy.spatial import cKDTree

from checks import check, outcome, run, turned
from tracked import by_seed, compare, compare_chance, lines_of


class Case:
    def __init__(self, name, dwi, mask, roi, table, work):
        self.name, self.dwi, self.mask, self.roi, self.table, self.at = name, dwi, mask, roi, table, os.path.join(work, name + "_")
        self.peer_image = dwi

    def tckgen(self, algorithm, path, *options, seed="1"):
        bval, bvec = self.table
        run("tckgen", self.peer_image, path, "-force", "-algorithm", algorithm, "-fslgrad", bvec, bval, "-mask", self.mask, "-select", 0, "-nthreads", 0, *options,
            MRTRIX_RNG_SEED=seed)

    def glslines(self, getter, path, *options):
        run(tool, "track", self.dwi, *self.table, self.mask, self.roi, "--dg", getter, "-o", path, "--force", "-q", *options)


def equal(case, cutoff, rk4=False):
    """Compares streamlines from a grid of seeds. The sign of the first direction is the peer's own."""
    theirs, ours = case.at + "det_peer.tck", case.at + "det.tck"
    step, peers, own = (0.5, ["-rk4"], ["--rk4"]) if rk4 else (0.2, [], [])
    lengths = [("minlength", "min-length", 0.1), ("maxlength", "max-length", 300), ("cutoff", "cutoff", cutoff)]
    case.tckgen("Tensor_Det", theirs, "-seed_grid_per_voxel", case.roi, 1, "-output_seeds", theirs + ".seeds", "-step", step, *peers,
                *(x for peer, _, value in lengths for x in ("-" + peer, value)))
    case.glslines("tensordet", ours, "--precision", "float", "--seed-grid", 1, "--output-seeds", ours + ".seeds", "--step-size", f"{step}mm", *own,
                  *(x for _, name, value in lengths for x in ("--" + name, value)))
    compare(f"{case.name} tensordet{' by Runge and Kutta' if rk4 else ''}, cutoff {cutoff}", by_seed(ours), by_seed(theirs), 0.99, 0.01, 0.01)


def chance(case, getter, algorithm, n, of_density=0.03):
    paths = [f"{case.at}{getter}_{number}.tck" for number in (1, 2, 3)]
    for number in (1, 2):
        case.tckgen(algorithm, paths[number - 1], "-seed_image", case.roi, "-seeds", n, seed=str(number))
    case.glslines(getter, paths[2], "--nseeds", n)
    compare_chance(f"{case.name} {getter}", paths[:2], paths[2], n, case.mask, of_density)


def seeds_alone(case):
    """Checks that each seed gives a streamline of one point."""
    theirs, ours = case.at + "seeds_peer.tck", case.at + "seeds.tck"
    case.tckgen("SeedTest", theirs, "-seed_grid_per_voxel", case.roi, 1)
    case.glslines("seedtest", ours, "--seed-grid", 1)
    points = [np.array([line[0] for line in lines_of(path) if len(line) == 1]) for path in (theirs, ours)]
    same = len(points[0]) == len(points[1]) > 1000
    largest = max(cKDTree(a).query(b)[0].max() for a, b in (points, points[::-1])) if same else np.inf
    check(same and largest < 1e-3, f"{case.name} seedtest: {len(points[1])} seeds, the peer's {len(points[0])}; the largest distance {largest:.2g} mm")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tool")
parser.add_argument("work")
parser.add_argument("--seeds", type=int, default=3000)
arguments = parser.parse_args()
if not shutil.which("tckgen"):
    print("no MRtrix3")
    sys.exit(77)
tool = os.path.abspath(arguments.tool)
os.makedirs(arguments.work, exist_ok=True)
data = os.path.join(arguments.work, "phantom")
run(tool, "phantom", data, "--shape", 30, 36, 30, "--voxel-size", 2.5, "--bvals", 2000, "--directions", 60, "--force")
files = [os.path.join(data, f) for f in ("dwi.nii.gz", "mask.nii.gz", "roi.nii.gz")]
table = [os.path.join(data, f) for f in ("dwi.bval", "dwi.bvec")]
cases = [Case("phantom", *files, table, arguments.work), Case("turned", *turned(arguments.work, files), table, arguments.work)]
for case in cases:
    equal(case, 0.1)
    equal(case, 0.1, True)
    chance(case, "tensorprob", "Tensor_Prob", arguments.seeds)
    seeds_alone(case)
# on the other grid, these methods differ from tensorprob in nothing that depends on a grid
chance(cases[0], "tensordet", "Tensor_Det", arguments.seeds)
chance(cases[0], "nulldist1", "NullDist1", arguments.seeds // 2)
equal(cases[0], 0.3)
# the peer's arcs need an image of spherical harmonics, but do not use it
prefix = os.path.join(arguments.work, "fod")
run(tool, "fit", files[0], *table, files[1], prefix, "--model", "csd", "--sh-order", 6, "--force", "-q")
fods = Case("phantom", *files, table, arguments.work)
fods.peer_image = prefix + "_sh.nii.gz"
chance(fods, "nulldist2", "NullDist2", arguments.seeds // 2)
sys.exit(outcome())
