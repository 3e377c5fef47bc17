#!/usr/bin/env python3
"""Peaks as scilpy writes them: in which axes they lie, how long they are, and streamlines along them.

Usage: scilpy_peaks.py GLSLINES WORK SCILPY

SCILPY: the folder of scilpy's commands. They fit the FODs of the phantom and write their peaks, once as shares of the largest of the voxel and once as unit
vectors. Run by hand, because scilpy's requirements are many. One line for each check."""
import os
import sys

import nibabel as nib
import numpy as np

from checks import check, outcome, run

tool, work, scilpy = (os.path.abspath(word) for word in sys.argv[1:4])
os.makedirs(work, exist_ok=True)
os.chdir(work)


def scil(command, *words):
    run(os.path.join(scilpy, command), *words, "-f")


def peaks_of(path):
    values = np.asarray(nib.load(path).dataobj, float)
    return values.reshape(*values.shape[:3], -1, 3)


def mean_length(path, frame, *options):
    run(tool, "track", "--peaks", path, "--peaks-frame", frame, "--mask", "data/mask.nii.gz", "--roi", "data/roi.nii.gz", "--nseeds", 2000, "-o", "tracks.tck",
        "--force", "-q", *options)
    lines = nib.streamlines.load("tracks.tck").streamlines
    return np.mean([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines])


run(tool, "phantom", "data", "--shape", 24, 30, 24, "--voxel-size", 2.5, "--bvals", 2000, "--directions", 45, "--force", "-q")
series = ["data/dwi.nii.gz", "data/dwi.bval", "data/dwi.bvec"]
scil("scil_frf_ssst", *series, "frf.txt", "--mask", "data/mask.nii.gz", "--mask_wm", "data/roi.nii.gz")
scil("scil_fodf_ssst", *series, "frf.txt", "fod.nii.gz", "--mask", "data/mask.nii.gz", "--sh_order", 6)
metrics = ["scil_fodf_metrics", "fod.nii.gz", "--not_all", "--mask", "data/mask.nii.gz"]
scil(*metrics, "--peaks", "shares.nii.gz")
scil(*metrics, "--peaks", "units.nii.gz", "--abs_peaks_and_values")

# lengths
shares, units = peaks_of("shares.nii.gz"), peaks_of("units.nii.gz")
size, unit = np.linalg.norm(shares, axis=-1), np.linalg.norm(units, axis=-1)
there = size[..., 0] > 0
check(shares.shape[3] == 5 and there.sum() > 1000, f"{there.sum()} voxels have peaks, up to {shares.shape[3]}")
check(np.allclose(size[there][:, 0], 1, atol=1e-5) and (np.diff(size[there]) <= 1e-6).all(), "the first peak is 1 long, the others are shares of it")
check(np.allclose(unit[unit > 0], 1, atol=1e-5), "unit vectors with --abs_peaks_and_values")

# compare the axes with the fibres of which the phantom is made, in scanner axes; its x is mirrored
image = nib.load("data/peaks.nii.gz")
truth = np.nan_to_num(np.asarray(image.dataobj, float))
mirror = np.sign(np.diag(image.affine)[:3])
single = there & (truth[..., 3] > 0.5)
cosine = {name: np.median(np.abs((shares[single][:, 0] * axes * truth[single][:, :3]).sum(-1))) for name, axes in (("image", mirror), ("world", np.ones(3)))}
check(mirror[0] < 0 and cosine["image"] > 0.99 > cosine["world"], f"median cosine of the angle to the true fibre: {cosine['image']:.4f} in voxel axes, {cosine['world']:.4f} in scanner axes")
for name, options in (("shares.nii.gz", ("--cutoff", 0.1)), ("units.nii.gz", ())):
    lengths = {frame: mean_length(name, frame, *options) for frame in ("image", "world")}
    check(lengths["image"] > 1.08 * lengths["world"], f"{name}: mean length {lengths['image']:.1f} mm in voxel axes, {lengths['world']:.1f} in scanner axes")
sys.exit(outcome())
