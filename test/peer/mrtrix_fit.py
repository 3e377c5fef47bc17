#!/usr/bin/env python3
"""`glslines fit` for MRtrix3: sh2peaks on the written image against the peaks of the same fit, written for DIPY and evaluated with DIPY's basis.

Usage: mrtrix_fit.py GLSLINES WORK    On an oblique RAS grid, where FSL's rule, the voxel axes and the scanner axes all differ. Status 77 without MRtrix3."""
import json
import os
import shutil
import subprocess
import sys
import warnings

import nibabel as nib
import numpy as np
from dipy.reconst.shm import real_sh_descoteaux_from_index, sph_harm_ind_list

BOUND = 2.0  # degrees


def dense_directions(n):
    i = np.arange(n) + 0.5
    z, phi = i / n, i * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    return np.c_[r * np.cos(phi), r * np.sin(phi), z]


def strongest(sh, order):
    """Returns the direction of the largest value, along the axes of the coefficients, among directions that are a degree
    apart."""
    d = dense_directions(15000)
    m, l = sph_harm_ind_list(order)
    basis = real_sh_descoteaux_from_index(m, l, np.arccos(d[:, 2:]), np.arctan2(d[:, 1:2], d[:, :1]), legacy=True)
    return d[np.concatenate([(part @ basis.T).argmax(1) for part in np.array_split(sh, 1 + len(sh) // 2000)])]


def compare(tool, work, data, model, order):
    prefix, other = os.path.join(work, model), os.path.join(work, model + "_image")
    options = ["--model", model, "--sh-order", str(order), "-q", "--force"]
    subprocess.run([tool, "fit", *data, prefix, *options], check=True)
    subprocess.run([tool, "fit", *data, other, *options, "--sh-basis", "descoteaux07_legacy", "--sh-frame", "image"], check=True)
    peaks = prefix + "_peaks.nii.gz"
    subprocess.run(["sh2peaks", "-quiet", "-force", "-num", "1", "-mask", data[3], prefix + "_sh.nii.gz", peaks], check=True)
    image = nib.load(other + "_sh.nii.gz")
    inside = (nib.load(data[3]).get_fdata() > 0) & (nib.load(prefix + "_fa.nii.gz").get_fdata() > 0.3)
    ours = strongest(image.get_fdata()[inside], order)
    axes = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
    ours = ours @ axes.T
    theirs = nib.load(peaks).get_fdata()[inside][:, :3]
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    angle = np.degrees(np.arccos(np.minimum(1, np.abs((ours * theirs).sum(1)))))
    good = len(angle) > 1000 and np.mean(angle < BOUND) > 0.995
    side = json.load(open(prefix + ".json"))
    good &= side["sh"]["basis"] == "tournier07" and side["sh"]["frame"] == "world"
    print(f"{'ok  ' if good else 'FAIL'} {model} order {order}: peaks of {len(angle)} voxels against sh2peaks: median {np.median(angle):.2f}, largest {angle.max():.2f} degrees, "
          f"{100 * np.mean(angle < BOUND):.2f} % within {BOUND:g}")
    return good


def main():
    tool, work = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which("sh2peaks"):
        return 77
    warnings.filterwarnings("ignore")
    os.makedirs(work, exist_ok=True)
    phantom = os.path.join(work, "phantom")
    subprocess.run([tool, "phantom", phantom, "--shape", "30", "28", "26", "--orientation", "RAS", "--oblique", "20", "10", "35", "-q", "--force"], check=True)
    data = [os.path.join(phantom, name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
    good = True
    for model, order in (("csd", 8), ("csd", 4), ("opdt", 4), ("csa", 6)):
        good &= compare(tool, work, data, model, order)
    mrinfo = subprocess.run(["mrinfo", "-quiet", "-size", os.path.join(work, "csd_tensor.nii.gz")], capture_output=True, text=True)
    good &= mrinfo.stdout.split() == ["30", "28", "26", "6"]
    return 0 if good else 1


sys.exit(main())
