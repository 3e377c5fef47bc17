#!/usr/bin/env python3
"""Runs the commands that MRtrix3 tests itself with (tckedit, tckresample, tcksample, tckmap, tck2connectome) and those of
glslines that stand for them, and compares what they write.

usage: tracts_commands.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np

import tracts
from tracts import glslines, path, random_lines, report, run, save_tck
from checks import outcome

DISTANCE = 2e-5  # mm
SHARE = 1e-5


def lines_of(name):
    return [np.asarray(line) for line in nib.streamlines.load(path(name)).streamlines]


def compare_lines(name, n_points=None):
    a, b = ([line[:n_points] for line in lines_of(file)] for file in ("mine.tck", "theirs.tck"))
    other = abs(len(a) - len(b)) + sum(len(p) != len(q) for p, q in zip(a, b))
    worst = max(np.abs(p - q).max() for p, q in zip(a, b)) if other == 0 and len(b) > 0 else np.inf
    report(name, worst < DISTANCE, f"{len(b)} streamlines, {worst:.1e} mm" if other == 0 else f"{len(a)} and {len(b)} streamlines, {other} differ")


def compare_numbers(name, mine, theirs, bound):
    a, b = (np.asarray(values, np.float64).ravel() for values in (mine, theirs))
    if len(a) != len(b) or not np.array_equal(np.isnan(a), np.isnan(b)) or np.nanmax(np.abs(b)) == 0:
        report(name, False, f"{len(a)} and {len(b)} numbers, {np.isnan(a).sum()} and {np.isnan(b).sum()} of them none")
        return
    worst = np.nanmax(np.abs(a - b) / np.maximum(np.abs(b), 1e-3))
    report(name, worst <= bound, f"{worst:.1e} of {len(b)} numbers")


def make_images():
    # the mask is wider than the streamlines; for tckedit, everything outside the image of a mask is outside the mask, too
    shape, affine = (90, 88, 70), np.diag([2.0, 2.0, 2.5, 1.0])
    affine[:3, 3] = -90, -88, -87
    at = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1) @ affine[:3, :3].T + affine[:3, 3]
    rng = np.random.default_rng(4)
    parts = {
        "upper": (at[..., 2] > 4).astype(np.uint8),
        "lower": (at[..., 2] < 4).astype(np.uint8),
        "mask": ((np.abs(at) < (17, 60, 60)).all(-1)).astype(np.uint8),
        "fa": rng.random(shape).astype(np.float32),
        "nodes": rng.integers(0, 60, tuple(-(-n // 6) for n in shape)).repeat(6, 0).repeat(6, 1).repeat(6, 2)[: shape[0], : shape[1], : shape[2]].astype(np.int16),
    }
    for name, data in parts.items():
        nib.save(nib.Nifti1Image(data, affine), path(f"{name}.nii"))


def check_edit():
    """The 16 lines."""
    for words in (
        "-include upper", "-include lower", "-exclude upper", "-exclude lower",
        "-include upper -inverse", "-include lower -inverse", "-exclude upper -inverse", "-exclude lower -inverse",
        "-minlength 30", "-maxlength 30",
        "-mask mask", "-mask mask -inverse",
        "-include upper -mask mask", "-include lower -mask mask", "-include upper -mask mask -inverse", "-include lower -mask mask -inverse",
    ):
        theirs, mine = [], []
        for word in words.split():
            theirs.append(f"{word}.nii" if word in ("upper", "lower", "mask") else word)
            if word == "-mask":
                mine.append("--crop")
            elif word == "mask":
                mine.append("mask.nii")
            else:
                mine.append(f"-{word}" if word[0] == "-" else theirs[-1])
        run("tckedit", "tracks.tck", "theirs.tck", *theirs, "-force", "-quiet")
        glslines("edit", "tracks.tck", "mine.tck", "--roi-test", "vertex", "--crop-at", "vertex", *mine)
        compare_lines(f"tckedit {words}")


def check_resample():
    for theirs, mine in (
        ("-upsample 2", "--upsample 2"), ("-downsample 2", "--downsample 2"), ("-step_size 0.9", "--step-size 0.9 --step-from middle"),
        ("-num_points 10", "--points 10"), ("-endpoints", "--endpoints"),
    ):
        run("tckresample", "tracks.tck", "theirs.tck", *theirs.split(), "-force", "-quiet")
        glslines("edit", "tracks.tck", "mine.tck", "--interp", "hermite", *mine.split())
        # the last of tckresample's equal distances misses the end by the rounding of its float32 length
        ends = "-num_points" in theirs
        compare_lines(f"tckresample {theirs}", -1 if ends else None)
        if ends:
            report("its last point is the end", all(np.array_equal(p[-1], q[-1]) for p, q in zip(lines_of("mine.tck"), lines_of("tracks.tck"))), f"{len(lines_of('mine.tck'))} streamlines")


def check_sample():
    run("tcksample", "tracks.tck", "fa.nii", "theirs.tsf", "-force", "-quiet")
    glslines("sample", "tracks.tck", "fa.nii", "--tsf", "mine.tsf", "--outside", "zero")
    values = [np.fromfile(path(name), "<f4", offset=int(open(path(name), "rb").read(4000).split(b"file: . ")[1].split()[0])) for name in ("mine.tsf", "theirs.tsf")]
    values[0] = values[0][:-1]  # leave out the mark at the end, which tcksample does not write
    ends = [np.flatnonzero(~np.isfinite(v)) for v in values]
    same = np.array_equal(ends[0], ends[1])
    worst = np.abs(values[0][np.isfinite(values[0])] - values[1][np.isfinite(values[1])]).max() if same else np.inf
    report("tcksample to a track scalar file", worst < SHARE, f"{worst:.1e} of {len(values[0])} numbers")
    for stat in ("mean", "median", "min", "max"):
        run("tcksample", "tracks.tck", "fa.nii", "theirs.csv", "-stat_tck", stat, "-force", "-quiet")
        glslines("sample", "tracks.tck", "fa.nii", "-o", "mine.txt", "--stat-tck", stat, "--outside", "zero")
        compare_numbers(f"tcksample -stat_tck {stat}", np.loadtxt(path("mine.txt")), np.loadtxt(path("theirs.csv"), comments="#", delimiter=","), SHARE)


def check_maps():
    for theirs, mine, bound in (
        ("-template fa.nii", "--template fa.nii", 0), ("-vox 1", "--voxel-size 1", 0), ("-template fa.nii -dec", "--template fa.nii --dec", SHARE),
    ):
        run("tckmap", "tracks.tck", "theirs.nii", *theirs.split(), "-force", "-quiet")
        glslines("density", "tracks.tck", "mine.nii", "--like", "mrtrix", *mine.split())
        a, b = nib.load(path("mine.nii")), nib.load(path("theirs.nii"))
        same = a.shape == b.shape and np.abs(a.affine - b.affine).max() < 1e-4
        compare_numbers(f"tckmap {theirs}", a.dataobj if same else [], b.dataobj, bound)


def check_connectome():
    run("tck2connectome", "tracks.tck", "nodes.nii", "theirs.csv", "-out_assignments", "theirs.txt", "-force", "-quiet")
    glslines("connectome", "tracks.tck", "nodes.nii", "mine.csv", "--labels", "raw", "--assignments", "mine.txt")
    compare_numbers("tck2connectome", np.genfromtxt(path("mine.csv"), delimiter=","), np.genfromtxt(path("theirs.csv"), delimiter=","), 0)
    compare_numbers("tck2connectome -out_assignments", np.loadtxt(path("mine.txt")), np.loadtxt(path("theirs.txt")), 0)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tracts.tool, tracts.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(tracts.work, exist_ok=True)
    make_images()
    save_tck("tracks.tck", [line for line in random_lines(1500, 1.0, 21) if len(line) > 3], step_size=1.0, timestamp="1700000000.5")
    check_edit()
    check_resample()
    check_sample()
    check_maps()
    check_connectome()
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
