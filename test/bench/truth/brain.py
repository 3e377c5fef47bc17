#!/usr/bin/env python3
"""Rows of truths.py on a human brain: how much of the white matter streamlines cover, and how well two runs with other random seeds agree.

    brain.py GLSLINES WORK [--seeds N] [--update getters.md]

The brain is that of the package mappertrac 1.3.1 (pip download): one shell, b = 1000, 64 directions. Mask by glslines, seeds where FA is above 0.2, 20,000 unless given. "Covered" are the voxels
of that region that a run visits. "Density" is the correlation of the densities of two runs over the region, "connectome" that of their matrices, of logarithms of counts + 1, between 120 regions
of equal volume in the outermost 8 mm of the mask."""
import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import nibabel as nib
import numpy as np
from scipy import ndimage
from scipy.cluster.vq import kmeans2

SUBJECT = "mappertrac/data/example_inputs/sub-011591/dwi/sub-011591_dwi"
ROWS = {"default": [], "msmt ifod2 --power 1": ["--model", "msmt", "--dg", "ifod2", "--power", "1"], "msmt ifod2 --power 0.25 (tckgen's rule)": ["--model", "msmt", "--dg", "ifod2", "--power", "0.25"],
        "csd det": ["--model", "csd", "--dg", "det"], "csd prob": ["--model", "csd", "--dg", "prob"], "msmt det": ["--model", "msmt", "--dg", "det"]}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stderr}")
    return done.stdout


def prepare(tool, work):
    if not (work / "dwi.nii.gz").exists():
        if not list(work.glob("mappertrac*.whl")):
            run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, "mappertrac==1.3.1")
        package = zipfile.ZipFile(next(work.glob("mappertrac*.whl")))
        for end in ("bval", "bvec", "nii.gz"):
            (work / f"dwi.{end}").write_bytes(package.read(f"{SUBJECT}.{end}"))
    if not (work / "labels.nii.gz").exists():
        run(tool, "fit", work / "dwi.nii.gz", work / "fit", "--model", "opdt", "-q", "--force")
        (work / "fit_mask.nii.gz").rename(work / "mask.nii.gz")
        image = nib.load(work / "mask.nii.gz")
        mask, fa = np.asarray(image.dataobj) > 0, np.asarray(nib.load(work / "fit_fa.nii.gz").dataobj)
        white = ndimage.binary_erosion(mask, iterations=2) & (fa > 0.2)
        depth = ndimage.distance_transform_edt(mask) * image.header.get_zooms()[0]
        rim = np.argwhere(mask & (depth <= 8))
        number = kmeans2(rim.astype(float), 120, seed=1, minit="++")[1]
        labels = np.zeros(mask.shape, np.int16)
        labels[tuple(rim.T)] = number + 1
        nib.save(nib.Nifti1Image(white.astype(np.uint8), image.affine), work / "white.nii.gz")
        nib.save(nib.Nifti1Image(labels, image.affine), work / "labels.nii.gz")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("glslines", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seeds", type=int, default=20000)
    parser.add_argument("--update", type=Path)
    o = parser.parse_args()
    tool, work = o.glslines.resolve(), o.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    prepare(tool, work)
    white = np.asarray(nib.load(work / "white.nii.gz").dataobj) > 0
    lines = ["| method | streamlines of a seed | mean length, mm | median | covered, % | density | connectome | seconds to track |", "|" + "---|" * 8]
    for name, options in ROWS.items():
        density, matrix, covered, length, kept, seconds = [], [], [], [], [], []
        for number in (0, 1):
            at = work / f"run{number}"
            run(tool, "track", work / "dwi.nii.gz", work / "dwi.bval", work / "dwi.bvec", work / "mask.nii.gz", work / "white.nii.gz", "--nseeds", o.seeds, "--rng-seed", number, "--seed-seed", number,
                "-o", f"{at}.trx", "--density", f"{at}_density.nii.gz", "--connectome", f"{work}/labels.nii.gz:{at}.csv", "--cache-dir", work / "fits", "--device", "cpu", "-q", "--force", *options)
            record = json.loads(Path(f"{at}.json").read_text())
            values = np.asarray(nib.load(f"{at}_density.nii.gz").dataobj)[white]
            counts = np.loadtxt(f"{at}.csv", delimiter=",", ndmin=2)
            density.append(values), matrix.append(np.log1p(counts[np.triu_indices(len(counts), 1)])), covered.append(100 * (values > 0).mean())
            kept.append(record["counts"]["streamlines"] / o.seeds), length.append(record["lengths"]), seconds.append(record["seconds"]["track"])
        same = min(len(m) for m in matrix)
        text = (f"| {name} | {np.mean(kept):.2f} | {np.mean([x['mean_mm'] for x in length]):.1f} | {np.mean([x['median_mm'] for x in length]):.1f} | {np.mean(covered):.1f} | {np.corrcoef(*density)[0, 1]:.3f} | "
                f"{np.corrcoef(matrix[0][:same], matrix[1][:same])[0, 1]:.3f} | {np.mean(seconds):.0f} |")
        print(text, flush=True)
        lines.append(text)
    if o.update:
        begin, end = "<!-- brain of truths -->\n", "<!-- end of brain of truths -->\n"
        head, rest = o.update.read_text().split(begin)
        o.update.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
