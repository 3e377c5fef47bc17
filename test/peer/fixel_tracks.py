#!/usr/bin/env python3
"""Compares streamlines of fixels, values of fixels along streamlines and the density along bundles with MRtrix3 (tck2fixel,
fixel2tsf, afdconnectivity).

usage: fixel_tracks.py GLSLINES WORK_DIR
"""
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np

from checks import outcome, report


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, cwd=work).stdout


def glslines(*words):
    run(tool, *words, "-q", "--force")


def mrtrix(*words):
    return run(*words, "-quiet", "-force")


def values_of(name):
    """Reads a data file of a fixel directory, whose first axis may be reversed."""
    image = nib.load(os.path.join(work, name))
    data = np.squeeze(np.asarray(image.dataobj))
    return data[::-1] if image.affine[0, 0] < 0 else data


def scalars(name):
    raw = open(os.path.join(work, name), "rb").read()
    header = raw[:raw.index(b"END")].decode()
    at = int(next(line for line in header.split("\n") if line.startswith("file:")).split()[2])
    values = np.frombuffer(raw[at:], "<f4")
    return values[np.isfinite(values)]


def check_counts(angle):
    mrtrix("tck2fixel", "t.tck", "fix", "fix", f"theirs_{angle}.nii", "-angle", angle)
    glslines("fixels", "fix", f"mine_{angle}.nii", "--tracks", "t.tck", "--angle", angle)
    a, b = values_of(f"mine_{angle}.nii").astype(int), values_of(f"fix/theirs_{angle}.nii").astype(int)
    differ = (a != b).sum()
    shuffled = (a != np.random.default_rng(1).permutation(b)).sum()
    report(f"fixels --tracks --angle {angle}", differ <= len(b) / 2000 and b.sum() > 10000 < 10 * shuffled,
           f"{differ} of {len(b)} counts differ, {shuffled} by chance; {a.sum()} and {b.sum()} in all")


def check_values(angle):
    mrtrix("fixel2tsf", "fix/afd.nii", "t.tck", "theirs.tsf", "-angle", angle)
    glslines("sample", "t.tck", "fix/afd.nii", "--fixels", "--angle", angle, "--tsf", "mine.tsf")
    a, b = scalars("mine.tsf"), scalars("theirs.tsf")
    differ = (np.abs(a - b) > 1e-6).sum() if a.shape == b.shape else len(b)
    report(f"sample --fixels --angle {angle}", differ <= len(b) / 2000 and (b > 0).mean() > 0.5, f"{differ} of {len(b)} values differ, {(b > 0).mean():.2f} have a fixel")


def check_density(mine, theirs):
    glslines("fixels", "sh.nii.gz", "afd.txt", "--tracks", "bundle.tck", "--afd", *mine)
    a, b = float(np.loadtxt(os.path.join(work, "afd.txt"))), float(mrtrix("afdconnectivity", "sh.nii.gz", "bundle.tck", *theirs))
    report(f"fixels --afd {' '.join(mine)}", abs(a / b - 1) < 2e-5, f"{a:.6g} and {b:.6g}")
    return b


def main():
    os.makedirs(work, exist_ok=True)
    shutil.rmtree(os.path.join(work, "fix"), ignore_errors=True)
    glslines("phantom", "data", "--shape", "20", "24", "20", "--directions", "40")
    glslines("fit", "data/dwi.nii.gz", "data/dwi.bval", "data/dwi.bvec", "data/mask.nii.gz", "fod", "--model", "csd", "--sh-order", "6")
    shutil.copy(os.path.join(work, "fod_sh.nii.gz"), os.path.join(work, "sh.nii.gz"))
    glslines("track", "--sh", "sh.nii.gz", "--mask", "data/mask.nii.gz", "--roi", "data/roi.nii.gz", "--dg", "ifod2", "--select", "2000", "--nseeds", "0", "--device", "llvmpipe", "-o", "t.tck")
    glslines("edit", "t.tck", "bundle.tck", "--random", "300")
    mrtrix("fod2fixel", "sh.nii.gz", "fix", "-afd", "afd.nii", "-nii")
    for angle in ("45", "20"):
        check_counts(angle)
        check_values(angle)
    one = check_density([], [])
    every = check_density(["--all-fixels"], ["-all_fixels"])
    part = check_density(["--tracks-all", "t.tck"], ["-wbft", "t.tck"])
    report("the three densities differ", every > 1.05 * one and part < 0.9 * one, f"{one:.4g}, {every:.4g}, {part:.4g}")
    return outcome()


if __name__ == "__main__":
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    sys.exit(main())
