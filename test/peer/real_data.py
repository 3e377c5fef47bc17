#!/usr/bin/env python3
"""Tracks the real crops that tests may use, from the files to TRX, TRK and TCK, and reads the results with nibabel and trx-python.

Usage: real_data.py GLSLINES WORK    The crops are looked for in $GLS_TEST_DATA; status 77 where they are absent.
"""
import json
import os
import subprocess
import sys

import nibabel as nib
import numpy as np
from trx import trx_file_memmap

CROPS = {"small_64D": "small_64D.nii", "small_101D": "small_101D.nii.gz"}


def write_masks(data, name, work):
    """Writes the masks of a crop. The brain is where the first volume is bright; seeds lie in the whole brain."""
    image = nib.load(os.path.join(data, CROPS[name]))
    first = np.asarray(image.dataobj[..., 0])
    mask = (first > 0.2 * np.percentile(first, 99)).astype(np.uint8)
    path = os.path.join(work, name + "_mask.nii.gz")
    nib.save(nib.Nifti1Image(mask, image.affine), path)
    return path, image


def read_points(path):
    if path.endswith(".trx"):
        trx = trx_file_memmap.load(path)
        lines = [np.array(s) for s in trx.streamlines]
        trx.close()
        return lines
    return [np.array(s) for s in nib.streamlines.load(path).tractogram.streamlines]


def check(condition, text):
    print(("ok   " if condition else "FAIL ") + text)
    return bool(condition)


def track(tool, data, name, work):
    mask, image = write_masks(data, name, work)
    stem = os.path.join(data, name)
    good, lines = True, {}
    for suffix in ("trx", "trk", "tck"):
        output = os.path.join(work, f"{name}.{suffix}")
        command = [tool, "track", "--preset", "gpustreamlines", os.path.join(data, CROPS[name]), stem + ".bval", stem + ".bvec", mask, mask, "--nseeds", "500", "--fa-threshold", "0.15", "-o", output, "--force", "-q"]
        subprocess.run(command, check=True)
        lines[suffix] = read_points(output)
    counts = json.load(open(os.path.join(work, name + ".json")))["counts"]
    good &= check(counts["streamlines"] > 100, f"{name}: {counts['streamlines']} streamlines, {counts['points']} points from {counts['seeds']} seeds")
    for suffix in ("trk", "tck"):
        same = len(lines[suffix]) == len(lines["trx"]) and all(a.shape == b.shape and np.abs(a - b).max() < 1e-4 for a, b in zip(lines["trx"], lines[suffix]))
        good &= check(same, f"{name}: the {suffix.upper()} file holds the same world coordinates as the TRX file")
    voxels = nib.affines.apply_affine(np.linalg.inv(image.affine), np.concatenate(lines["trx"]))
    good &= check((voxels > -0.5001).all() and (voxels < np.array(image.shape[:3]) - 0.4999).all(), f"{name}: all points lie inside the image")
    return good


def main():
    tool, work = os.path.abspath(sys.argv[1]), sys.argv[2]
    data = os.environ.get("GLS_TEST_DATA", "")
    if not os.path.isfile(os.path.join(data, CROPS["small_64D"])):
        print("the real crops are not here")
        return 77
    os.makedirs(work, exist_ok=True)
    return 0 if all([track(tool, data, name, work) for name in CROPS]) else 1


if __name__ == "__main__":
    sys.exit(main())
