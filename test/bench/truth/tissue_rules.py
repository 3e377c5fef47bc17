#!/usr/bin/env python3
"""Compares tissue that follows from the fit of the series itself, in place of that of a T1: rules by which its fractions become tissues, on phantoms whose bundles are known. It makes the
table of experiments.md.

    tissue_rules.py GLSLINES WORK [--seeds N] [--runs N]

WORK keeps phantoms and fits. Truths: shells, the built-in phantom of three shells; isbi2013, of one shell, whose fit has white matter and fluid alone; isbishells, the same of two shells
with grey matter as in brains. SNR 30. The fractions are those of the coefficients of order 0, over their sum; a voxel whose sum is below a tenth of the median is fluid."""
import argparse
from pathlib import Path

import nibabel as nib
import numpy as np

import phantoms
from truths import Bench, run

GETTERS = {"msmt ifod2": ["--model", "msmt", "--dg", "ifod2"], "csd det": ["--model", "csd", "--dg", "det"]}


def make(bench, name):
    """Makes a phantom that is not there."""
    folder = bench.work / name
    if not (folder / "truth.tsv").exists() and name == "shells":
        phantoms.make_own(bench.tool, 30, folder, "--bvals", "1000", "2000", "3000", "--directions", "32")
    elif not (folder / "truth.tsv").exists():
        phantoms.make(name, 30, folder)
    if not (folder / "fit_wm.nii.gz").exists():
        run(bench.tool, "fit", "dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "fit", "--model", "msmt", "-q", "--force", folder=folder)
    return folder


def write_rules(folder):
    """Writes an image for each rule. Returns for each the options of `glslines track`."""
    load = lambda name: np.asarray(nib.load(folder / name).dataobj, dtype=float)
    mask, three = load("mask.nii.gz") > 0, (folder / "fit_gm.nii.gz").exists()
    first = lambda x: np.maximum(x[..., 0] if x.ndim == 4 else x, 0)
    white, grey, fluid = (first(load(f"fit_{t}.nii.gz")) if t != "gm" or three else np.zeros(mask.shape) for t in ("wm", "gm", "csf"))
    total = white + grey + fluid
    white, grey, fluid = (np.where(total > 0, x / np.where(total > 0, total, 1), 0) * mask for x in (white, grey, fluid))
    weak = mask & (total < 0.1 * np.median(total[mask]))
    white[weak] = grey[weak] = 0
    fluid[weak] = 1
    tissues = {"the sum of both tissues": (fluid, white + grey, 0 * fluid)}  # what is no fluid is white matter, and fluid ends streamlines as grey matter does
    if three:
        tissues["all three"] = (grey, white, fluid)
    fa = load("fit_fa.nii.gz")
    for limit in (0.1, 0.2):
        part = (grey if three else 1 - fluid) * (fa < limit) * mask
        tissues[f"grey matter where FA < {limit}"] = (part, np.maximum(mask - part - fluid, 0), fluid)
    affine, rules = nib.load(folder / "mask.nii.gz").affine, {"none": [], "the true tissue": ["--act", "5tt.nii.gz"], "fluid alone": ["--exclude", "fluid.nii.gz"]}
    nib.save(nib.Nifti1Image(((fluid > 0.5) & mask).astype(np.uint8), affine), folder / "fluid.nii.gz")
    for k, (name, (gm, wm, csf)) in enumerate(tissues.items()):
        nib.save(nib.Nifti1Image(np.stack([gm, 0 * gm, wm, csf, 0 * gm], -1).astype(np.float32), affine), folder / f"rule{k}.nii.gz")
        rules[name] = ["--act", f"rule{k}.nii.gz"]
    return rules


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("glslines", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("work", type=lambda path: Path(path).resolve())
    parser.add_argument("--seeds", type=int, default=1500)
    parser.add_argument("--runs", type=int, default=2)
    o = parser.parse_args()
    phantoms.GEOMETRIES["isbishells"] = lambda: {**phantoms.isbi2013grey(), "shells": [(1000, 32), (3000, 64)]}
    bench = Bench(o.glslines, o.work, o.seeds)
    for truth in ("shells", "isbi2013", "isbishells"):
        rules = write_rules(make(bench, truth))
        for getter, options in GETTERS.items():
            for rule, more in rules.items():
                scores = []
                for k in range(o.runs):
                    bench.own(truth, [*options, *more], k, bench.work / "tracks.tck")
                    scores.append(bench.score(truth, bench.work / "tracks.tck"))
                mean = lambda key: np.mean([s[key] for s in scores])
                print(f"| {truth} | {getter} | {rule} | {mean('streamlines'):.0f} | {mean('valid'):.1f} | {mean('invalid') + mean('wrong_path'):.1f} | {mean('none'):.1f} | {mean('f1'):.1f} |", flush=True)


if __name__ == "__main__":
    main()
