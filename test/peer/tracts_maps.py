#!/usr/bin/env python3
"""Compares maps of values of streamlines, and copies of tractograms, with MRtrix3.

usage: tracts_maps.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np

import tracts
from tracts import glslines, grids, path, random_lines, report, run, save_tck


def load(name):
    image = nib.load(path(name))
    return np.asarray(image.dataobj, np.float64), image.affine


def compare(name, bound, mine="mine.nii.gz", theirs="theirs.nii"):
    """Largest difference over the largest value of the peer; grids have to agree, too."""
    (a, at), (b, bt) = load(mine), load(theirs)
    same = a.shape == b.shape and np.abs(at - bt).max() < 1e-4
    worst = np.abs(a - b).max() / np.abs(b).max() if same else np.inf
    report(f"density: {name}", worst <= bound and np.abs(b).max() > 0, f"{worst:.1e} of the largest value" if same else f"grids differ: {a.shape} {b.shape} {at.tolist()} {bt.tolist()}")


def check_values(name, shape):
    template = f"{name}.nii.gz"
    mine = ["--template", template, "--like", "mrtrix"]
    theirs = ["-template", template, "-force", "-quiet"]
    glslines("density", "lines.tck", "mine.nii.gz", *mine, "--dec")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-dec")
    compare(f"{name}, --dec against tckmap -dec", 1e-5)
    for vox in ("sum", "mean", "min", "max"):
        for contrast in ("length", "invlength"):
            glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", contrast, "--stat-vox", vox)
            run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", contrast, "-stat_vox", vox)
            compare(f"{name}, {contrast} {vox}", 1e-5)
    for stat in ("mean", "sum", "min", "max", "median", "mean_nonzero", "ends_min", "ends_max", "ends_mean", "ends_prod"):
        glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", "scalar_map", "--image", "values.nii.gz", "--stat-tck", stat)
        run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", "scalar_map", "-image", "values.nii.gz", "-stat_tck", stat, "-stat_vox", "sum")
        compare(f"{name}, scalar_map {stat}", 1e-5)
    glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", "scalar_map_count", "--image", "values.nii.gz")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", "scalar_map_count", "-image", "values.nii.gz")
    compare(f"{name}, scalar_map_count", 1e-5)
    glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", "length", "--stat-vox", "mean", "--weights", "weights.txt")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", "length", "-stat_vox", "mean", "-tck_weights_in", "weights.txt")
    compare(f"{name}, weighted mean length", 1e-5)
    glslines("density", "lines.tck", "mine.nii.gz", "--template", template, "--mapping", "precise")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-precise")
    (a, _), (b, _) = load("mine.nii.gz"), load("theirs.nii")
    side = min(nib.load(path(template)).header.get_zooms()[:3])
    worst, total = np.abs(a - b).max() / side, abs(a.sum() / b.sum() - 1)
    report(f"density: {name}, --mapping precise against tckmap -precise", worst < 0.01 and total < 1e-5, f"{worst:.1e} of a voxel side, sum {total:.1e}")


def check_grids():
    for side in ((1.0,), (1.5, 2.0, 3.1)):
        mrtrix = ",".join(map(str, side))
        glslines("density", "lines.tck", "mine.nii.gz", "--voxel", *side, "--like", "mrtrix")
        run("tckmap", "lines.tck", "theirs.nii", "-vox", mrtrix, "-force", "-quiet")
        compare(f"--voxel {mrtrix} against tckmap -vox", 0)
    glslines("density", "lines.tck", "mine.nii.gz", "--template", "LAS.nii.gz", "--voxel", 1, "--like", "mrtrix")
    a, affine = load("mine.nii.gz")
    shape, old = grids()["LAS"]
    first = old[:3, 3] - 0.5 * old[:3, :3].sum(1)
    report("density: --template with --voxel", a.shape == tuple(2 * n for n in shape) and np.allclose(affine[:3, 3] - 0.5 * affine[:3, :3].sum(1), first), "the corner of the first voxel stays")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tracts.tool, tracts.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(tracts.work, exist_ok=True)
    rng = np.random.default_rng(12)
    lines = [line for line in random_lines(2000, 1.0, 5) if len(line) > 3]
    save_tck("lines.tck", lines, step_size=1.0)
    np.savetxt(path("weights.txt"), rng.random(len(lines)), "%.9g")
    # larger than the box of the streamlines, with voxels of 0 and of both signs
    values = np.round(rng.normal(0, 1, (64, 64, 64)), 2).astype(np.float32)
    values[rng.random(values.shape) < 0.2] = 0
    affine = np.diag([3.0, 3, 3, 1])
    affine[:3, 3] = -94.5
    nib.save(nib.Nifti1Image(values, affine), path("values.nii.gz"))
    for name, (shape, affine) in grids().items():
        nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), path(f"{name}.nii.gz"))
        check_values(name, shape)
    check_grids()
    print(f"{tracts.failures} checks failed" if tracts.failures else "all checks passed")
    return 1 if tracts.failures else 0


if __name__ == "__main__":
    sys.exit(main())
