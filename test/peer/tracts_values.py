#!/usr/bin/env python3
"""Compares glslines sample, stats and profile with tcksample, tckstats, DIPY and numpy.

usage: tracts_values.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np
import tracts as t
from tracts import glslines, load, path, report, run, save_tck


def trilinear(vol, v, edge):
    n = np.array(vol.shape[:3])
    reach = 1 if edge == "zero" else 0.5
    ok = np.all((v > -reach) & (v < n - 1 + reach), axis=1)
    f = np.floor(v).astype(int)
    out = np.zeros(len(v))
    for corner in np.ndindex(2, 2, 2):
        w = np.prod(np.where(np.array(corner) == 1, v - f, 1 - (v - f)), axis=1)
        i = f + corner
        if edge == "zero":
            w = np.where(np.all((i >= 0) & (i < n), axis=1), w, 0)
        out += w * vol[tuple(np.clip(i, 0, n - 1).T)]
    out[~ok] = np.nan
    return out


def steps(line):
    return np.linalg.norm(np.diff(line.astype(float), axis=0), axis=1)


def table(name, delimiter="\t"):
    return np.genfromtxt(path(name), delimiter=delimiter, names=True, dtype=None, encoding="utf8")


def check_sample(lines):
    for name, (shape, _) in t.grids().items():
        image = f"smooth_{name}.nii"
        volume = np.random.default_rng(3).random(shape).astype(np.float32)
        affine = nib.load(path(f"{name}.nii.gz")).affine
        nib.save(nib.Nifti1Image(volume, affine), path(image))
        inverse = np.linalg.inv(affine)
        values = [trilinear(volume.astype(float), line.astype(float) @ inverse[:3, :3].T + inverse[:3, 3], "clamp") for line in lines]
        glslines("sample", "plain.tck", image, "-o", "all.tsv", *[w for s in ("mean", "median", "min", "max", "sum", "std") for w in ("--stat-tck", s)])
        got = table("all.tsv")
        worst = 0
        for row, line, v in zip(got, lines, values):
            w = 0.5 * (np.append(0, steps(line)) + np.append(steps(line), 0))
            ok = np.isfinite(v)
            if not ok.any():
                worst = max(worst, 0 if np.isnan(row[1]) else np.inf)
                continue
            mean = (w * v)[ok].sum() / w[ok].sum()
            model = (mean, np.median(v[ok]), v[ok].min(), v[ok].max(), v[ok].sum(), np.sqrt((w * (v - mean) ** 2)[ok].sum() / w[ok].sum()))
            worst = max(worst, *[abs(row[k + 1] - m) / max(1, abs(m)) for k, m in enumerate(model)])
        report(f"sample: {name}, statistics against numpy", worst < 1e-9, f"{worst:.1e}")
        inside = [i for i, v in enumerate(values) if np.isfinite(v).all()]
        save_tck("inside.tck", [lines[i] for i in inside], timestamp="1234.5")
        for stat in ("mean", "median", "min", "max"):
            glslines("sample", "inside.tck", image, "--like", "mrtrix", "--stat-tck", stat, "-o", "mine.txt")
            run("tcksample", "inside.tck", image, "theirs.txt", "-stat_tck", stat, "-force", "-quiet")
            a, b = np.loadtxt(path("mine.txt")), np.loadtxt(path("theirs.txt")).ravel()
            if stat == "median":  # tcksample takes one of the two in the middle
                odd = np.array([len(lines[i]) % 2 == 1 for i in inside])
                a, b = a[odd], b[odd]
            worst = np.abs(a - b).max()
            report(f"sample: {name}, {stat} against tcksample", len(a) == len(b) > 20 and worst < 5e-6, f"{worst:.1e}")
        glslines("sample", "inside.tck", image, "--tsf", "mine.tsf")
        run("tcksample", "inside.tck", image, "theirs.tsf", "-force", "-quiet")
        for file in ("mine", "theirs"):
            run("tsfinfo", f"{file}.tsf", "-ascii", f"{file}_", "-force", "-quiet")
        a, b = (np.concatenate([np.loadtxt(path(f"{file}_-{i:06d}.txt"), ndmin=1) for i in range(len(inside))]) for file in ("mine", "theirs"))
        report(f"sample: {name}, track scalars against tcksample", len(a) == len(b) and np.abs(a - b).max() < 1e-5, f"{np.abs(a - b).max():.1e}")
        glslines("sample", "plain.tck", image, "--to-dpv", "v", "--stat-tck", "mean", "--to-dps", "m", "--trx", "with.trx", "--reference", image)
        glslines("convert", "with.trx", "with.trk")
        got = nib.streamlines.load(path("with.trk")).tractogram.data_per_point["v"]
        worst = max(np.nanmax(np.abs(np.ravel(a) - v), initial=0) for a, v in zip(got, values))
        report(f"sample: {name}, columns", worst < 1e-6, f"{worst:.1e}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    t.tool, t.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(t.work, exist_ok=True)
    for name, (shape, affine) in t.grids().items():
        nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), path(f"{name}.nii.gz"))
    lines = [line for line in t.random_lines(800, 1.0, 8) if len(line) > 3]
    save_tck("plain.tck", lines)
    check_sample(lines)
    print(f"{t.failures} checks failed" if t.failures else "all checks passed")
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
