#!/usr/bin/env python3
"""Measures how well bundles of the built-in phantom are recognised in other subjects, beside what chance gives.

usage: recognition_truth.py GLSLINES WORK_DIR [SUBJECTS] [OPTION ...]

A subject is a phantom whose noise has a seed of its own, tracked by prob and enlarged to the size of a brain. Its truth are
the bundles that `segment --unique` finds by the two end regions and 0.9 of the voxels of each. The bundles of subject 0 are the
atlas. The others are turned, scaled, moved and bent before they are recognised, so that the atlas does not lie where they do.
OPTION: of `recognize`. Needs nibabel, numpy and trx-python.
"""
import csv
import os
import subprocess
import sys

import nibabel as nib
import numpy as np
from trx import trx_file_memmap as trx

if len(sys.argv) < 3:
    sys.exit(__doc__)
TOOL, WORK = (os.path.abspath(word) for word in sys.argv[1:3])
SUBJECTS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
OPTIONS = sys.argv[4:]
SCALE = 1.75  # from the phantom to a brain


def path(*names):
    return os.path.join(WORK, *names)


def run(*words):
    subprocess.run([TOOL, *map(str, words), "-q", "--force"], check=True)


def groups(name):
    """Returns the streamlines of each group of a TRX file, as sets of numbers."""
    return {key: set(map(int, value)) for key, value in trx.load(name).groups.items()}


def move(points, subject):
    """Returns points of another subject: turned by up to 5 degrees, scaled by up to 6 %, moved by up to 6 mm, bent by 2.5 mm."""
    rng = np.random.default_rng(subject)
    x, y, z = np.radians(rng.uniform(-5, 5, 3))
    turn = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
    turn = turn @ [[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]
    turn = turn @ [[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]]
    points = points @ turn.T * rng.uniform(0.94, 1.06) + rng.uniform(-6, 6, 3)
    phase = rng.uniform(0, 2 * np.pi, 3)
    return points + 2.5 * np.sin(points[:, [1, 2, 0]] / 25 + phase)


def subject(number):
    """Makes the tractogram of a subject. Returns its bundles and its number of streamlines."""
    at = path(f"subject{number}")
    if not os.path.exists(at + ".tck"):
        run("phantom", at, "--rng-seed", number)
        data = [os.path.join(at, name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
        run("track", *data, "--dg", "prob", "--nseeds", 8000, "--rng-seed", number, "--min-length", 20, "-o", at + "_tracked.trx")
        names = sorted({name.split("_end")[0].split(".")[0] for name in os.listdir(os.path.join(at, "bundles"))})
        with open(at + ".tsv", "w") as table:
            print("bundle", "start", "end", "all", "all_fraction", sep="\t", file=table)
            for name in names:
                print(name, name + "_end0.nii.gz", name + "_end1.nii.gz", name + ".nii.gz", 0.9, sep="\t", file=table)
        # with --keep-all the numbers of streamlines are those of the tractogram
        run("segment", at + "_tracked.trx", at + ".tsv", "--folder", os.path.join(at, "bundles"), "--unique", "--keep-all", "-o", at + "_truth.trx")
        run("convert", at + "_truth.trx", at + "_native.tck")
        lines = nib.streamlines.load(at + "_native.tck").streamlines
        moved = [move(line * SCALE, number) if number > 0 else line * SCALE for line in lines]
        nib.streamlines.save(nib.streamlines.Tractogram(moved, affine_to_rasmm=np.eye(4)), at + ".tck")
    return groups(at + "_truth.trx"), len(nib.streamlines.load(at + ".tck").streamlines)


def atlas(number=0, folder="atlas"):
    """Writes the bundles of a subject that have 10 streamlines or more as a folder, and returns them."""
    bundles = {name: members for name, members in subject(number)[0].items() if len(members) >= 10}
    os.makedirs(path(folder), exist_ok=True)
    lines = nib.streamlines.load(path(f"subject{number}.tck")).streamlines
    for name, members in bundles.items():
        one = [lines[i] for i in sorted(members)]
        nib.streamlines.save(nib.streamlines.Tractogram(one, affine_to_rasmm=np.eye(4)), path(folder, name + ".tck"))
    return bundles


def dice(a, b):
    return 2 * len(a & b) / max(1, len(a) + len(b))


def main():
    os.makedirs(WORK, exist_ok=True)
    bundles = atlas()
    rows, bounds = [], []
    for number in range(1, SUBJECTS + 1):
        truth, n = subject(number)
        run("recognize", path(f"subject{number}.tck"), path("atlas"), "-o", path("found.trx"), "--table", path("found.tsv"),
            "--reference", path(f"subject{number}", "dwi.nii.gz"), *OPTIONS)
        found = groups(path("found.trx"))
        bounds += [int(row["at_bound"]) for row in csv.DictReader(open(path("found.tsv")), delimiter="\t")]
        for name in bundles:
            a, b = found.get(name, set()), truth.get(name, set())
            if b:
                # chance: as many streamlines, drawn from the whole tractogram
                rows.append((name, number, len(a), len(b), dice(a, b), 2 * len(a) * len(b) / n / (len(a) + len(b)),
                             len(a & b) / len(b), len(a & b) / max(1, len(a))))
    print("bundle\tmodel\ttruth\tfound\tDice\tchance\tsensitivity\tprecision")
    for name in bundles:
        mine = np.array([row[2:] for row in rows if row[0] == name], float)
        if len(mine):
            mean = mine.mean(0)
            print(f"{name}\t{len(bundles[name])}\t{mean[1]:.0f}\t{mean[0]:.0f}\t" + "\t".join(f"{v:.3f}" for v in mean[2:]))
    all_rows = np.array([row[4:] for row in rows])
    print("mean\t\t\t\t" + "\t".join(f"{v:.3f}" for v in all_rows.mean(0)))
    print(f"{len(rows)} bundles of {SUBJECTS} subjects; {sum(bounds)} of {len(bounds)} models at a bound")


if __name__ == "__main__":
    main()
