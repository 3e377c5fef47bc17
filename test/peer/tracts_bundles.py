#!/usr/bin/env python3
"""The phantom's bundles found by `glslines segment` from masks, against the valid streamlines of `glslines score`.

usage: tracts_bundles.py GLSLINES WORK_DIR

A streamline is valid for the score where both ends lie within one voxel of the end regions of a bundle and all of it
within two voxels of bundle and ends: here these masks are made with scipy, and the table of bundles says the same.
One line per bundle; exits with 1 if one fails.
"""
import glob
import json
import os
import sys

import nibabel as nib
import numpy as np
from scipy.ndimage import binary_dilation

import tracts
from tracts import glslines, path, report
from checks import outcome


def widen(mask, voxels):
    return binary_dilation(mask, np.ones((3, 3, 3)), voxels)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tracts.tool, tracts.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(tracts.work, exist_ok=True)
    glslines("phantom", "data")
    glslines("track", "--phantom", "--model", "opdt", "--nseeds", "6000", "--dg", "prob", "--step-size", "0.25", "-o", "tracks.trx")
    truth, bundles = ["bundle\tstart\tend\ttruth"], ["bundle\tstart\tend\tall"]
    for file in sorted(glob.glob(path("data/bundles/*_end0.nii.gz"))):
        name = os.path.basename(file)[: -len("_end0.nii.gz")]
        images = [nib.load(path(f"data/bundles/{name}{part}.nii.gz")) for part in ("", "_end0", "_end1")]
        inside = [np.asarray(image.dataobj) > 0 for image in images]
        wide = [widen(inside[0] | inside[1] | inside[2], 2), widen(inside[1], 1), widen(inside[2], 1)]
        for part, mask in zip(("all", "start", "end"), wide):
            nib.save(nib.Nifti1Image(mask.astype(np.uint8), images[0].affine), path(f"{name}_{part}.nii.gz"))
        truth.append(f"{name}\tdata/bundles/{name}_end0.nii.gz\tdata/bundles/{name}_end1.nii.gz\tdata/bundles/{name}.nii.gz")
        bundles.append(f"{name}\t{name}_start.nii.gz\t{name}_end.nii.gz\t{name}_all.nii.gz")
    for name, rows in (("truth.tsv", truth), ("bundles.tsv", bundles)):
        with open(path(name), "w") as file:
            file.write("\n".join(rows) + "\n")
    glslines("score", "tracks.trx", "--truth", "truth.tsv", "--json", "score.json")
    glslines("segment", "tracks.trx", "bundles.tsv", "-o", "segmented.trx", "--table", "table.tsv")
    with open(path("score.json")) as file:
        valid = {bundle["name"]: bundle["valid"] for bundle in json.load(file)["score"]["bundles"]}
    table = np.genfromtxt(path("table.tsv"), delimiter="\t", names=True, dtype=None, encoding=None)
    found = {row["bundle"]: row["count"] for row in table}
    for name, n in valid.items():
        report(f"segment: {name}", found[name] == n, f"{found[name]} streamlines, {n} valid ones")
    report("segment: all", sum(valid.values()) > 1000 and sorted(valid) == sorted(found), f"{sum(valid.values())} valid streamlines of {len(valid)} bundles")
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
