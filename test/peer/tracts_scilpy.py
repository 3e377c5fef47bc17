#!/usr/bin/env python3
"""Compares glslines density with compute_tract_counts_map() of scilpy.

usage: tracts_scilpy.py GLSLINES WORK_DIR SCILPY

SCILPY: the folder "scilpy" of its wheel (pip download --no-deps scilpy; unzip). Only its compiled traversal is used,
so that none of its requirements need be there. Run by hand; needs nibabel and numpy below 2. One line per check; exits
with 1 if one fails.
"""
import glob
import importlib.util
import os
import subprocess
import sys

import nibabel as nib
import numpy as np

tool, work, scilpy = (os.path.abspath(word) for word in sys.argv[1:4])
os.makedirs(work, exist_ok=True)
os.chdir(work)
module = glob.glob(f"{scilpy}/tractanalysis/streamlines_metrics.*.so")[0]
spec = importlib.util.spec_from_file_location("scilpy.tractanalysis.streamlines_metrics", module)
metrics = importlib.util.module_from_spec(spec)
spec.loader.exec_module(metrics)
failures = 0


def glslines(*words):
    subprocess.run([tool, *map(str, words), "-q", "--force"], check=True)


def compare(name, tracks, template):
    global failures
    image = nib.load(template)
    glslines("density", tracks, "ours.nii", "--template", template)
    ours = np.asarray(nib.load("ours.nii").dataobj)
    inverse = np.linalg.inv(image.affine)
    lines = [line.astype(float) @ inverse[:3, :3].T + inverse[:3, 3] + 0.5 for line in nib.streamlines.load(tracks).streamlines if len(line) > 1]
    theirs = metrics.compute_tract_counts_map(lines, image.shape[:3])
    different = int(np.sum(ours != theirs))
    failures += different != 0
    print(f"{'ok  ' if different == 0 else 'FAIL'} {name}: {len(lines)} streamlines, {int(theirs.sum())} visits, {different} voxels differ", flush=True)


def wander(rng, shape, n, step):
    """Returns lines that stay inside the grid, in voxel coordinates."""
    for _ in range(n):
        at, way, line = rng.uniform(1, np.array(shape) - 2), rng.normal(size=3), []
        for _ in range(int(rng.integers(2, 120))):
            line.append(at)
            way = 0.8 * way + 0.6 * rng.normal(size=3)
            to = at + step * way / np.linalg.norm(way)
            if np.any(to < 0) or np.any(to > np.array(shape) - 1):
                way = -way
                continue
            at = to
        yield np.array(line)


glslines("phantom", "phantom")
for name, options in (("phantom, LAS, det", ["--dg", "det"]), ("phantom, LAS, prob, steps of 2.3 mm", ["--dg", "prob", "--step-size", "2.3"]), ("phantom, LAS, prob, compressed", ["--dg", "prob", "--compress", "0.1"])):
    glslines("track", "--phantom", "--model", "opdt", "--nseeds", 4000, "-o", "tracks.tck", *options)
    compare(name, "tracks.tck", "phantom/mask.nii.gz")
oblique = np.array([[-1.6, 0.31, 0.42, 31.7], [0.28, 1.93, -0.5, -22.1], [-0.44, 0.47, 2.4, 12.9], [0, 0, 0, 1]])
permuted = np.array([[0, 0, 2.6, -20], [-1.7, 0, 0, 30], [0, 2, 0, -11], [0, 0, 0, 1]])
for name, affine in (("oblique", oblique), ("permuted axes", permuted)):
    for step in (0.3, 1, 4):
        rng = np.random.default_rng(int(10 * step))
        shape = (31, 24, 28)
        nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), "grid.nii")
        lines = [(v @ affine[:3, :3].T + affine[:3, 3]).astype(np.float32) for v in wander(rng, shape, 3000, step)]
        nib.streamlines.save(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), "tracks.tck")
        compare(f"{name}, steps of {step} voxels", "tracks.tck", "grid.nii")
sys.exit(failures > 0)
