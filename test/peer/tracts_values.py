#!/usr/bin/env python3
"""Compares glslines sample, stats and profile with tcksample, tckstats, DIPY and numpy.

usage: tracts_values.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import json
import os
import subprocess
import sys

import nibabel as nib
import numpy as np
import tracts as t
from checks import outcome
from tracts import glslines, path, report, run, save_tck


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


def make_holes(shape, affine, nan):
    """Writes an image with voxels that are NaN or infinite. At the lower border tcksample turns infinity into NaN."""
    rng = np.random.default_rng(11)
    volume = rng.random(shape).astype(np.float32) - 0.3
    for value, share, margin in ((np.nan, nan, 0), (np.inf, 0.002, 1), (-np.inf, 0.002, 1)):
        inner = np.pad(np.ones(np.array(shape) - 2 * margin, bool), margin)
        volume[(rng.random(shape) < share) & inner] = value
    nib.save(nib.Nifti1Image(volume, affine), path("holes.nii"))


def check_not_finite(lines):
    """Compares every statistic of streamlines that leave the image, by points and by voxels."""
    for name, (shape, _) in t.grids().items():
        affine = nib.load(path(f"{name}.nii.gz")).affine
        inverse = np.linalg.inv(affine)
        inside = [np.all((v > -0.45) & (v < np.array(shape) - 0.55), axis=1).any() for v in (line.astype(float) @ inverse[:3, :3].T + inverse[:3, 3] for line in lines)]
        save_tck("holes.tck", lines)
        # tcksample -precise returns a value from uninitialised memory as the median of no voxel
        save_tck("inside.tck", [line for line, ok in zip(lines, inside) if ok])
        kinds = [([], "holes.tck", []), (["--interp", "nearest"], "holes.tck", ["-nointerp"]), (["--by", "voxel"], "inside.tck", ["-precise"])]
        kinds.append(([*kinds[2][0], "--fraction"], "inside.tck", [*kinds[2][2], "-use_tdi_fraction"]))
        for words, file, flags in kinds:
            precise = "-precise" in flags
            for stat in ("mean", "median", "min", "max"):
                # tcksample -precise sorts NaN among the numbers
                make_holes(shape, affine, 0 if precise and stat == "median" else 0.01)
                glslines("sample", file, "holes.nii", "--like", "mrtrix", *words, "--stat-tck", stat, "-o", "mine.txt")
                run("tcksample", file, "holes.nii", "theirs.txt", "-stat_tck", stat, *flags, "-force", "-quiet")
                a, b = np.loadtxt(path("mine.txt")), np.loadtxt(path("theirs.txt")).ravel()
                nan = np.isnan(b).sum()
                off = ((np.isnan(a) != np.isnan(b)) | (np.abs(a - b) > 1e-5)).sum()
                # whether a voxel is touched at its corner depends on rounding
                same = len(a) == len(b) > 300 and off <= 2 * precise
                report(f"sample: {name}, {stat} with holes against tcksample {' '.join(flags)}", same and (stat != "mean" or nan > 20), f"{nan} of {len(b)} nan, {off} others, median difference {np.nanmedian(np.abs(a - b)):.1e}")


def check_quartiles(lines):
    """Compares statistics of an even and an odd number of lengths, in the table and in the summary."""
    save_tck("some.tck", lines)
    glslines("stats", "some.tck", "-o", "some.tsv")
    glslines("info", "some.tck", "--count", "--json", "some.json")
    row, lengths = table("some.tsv"), [steps(line).sum() for line in lines]
    with open(path("some.json")) as f:
        info = json.load(f)["tractograms"][0]["counted"]["length_mm"]
    theirs = float(subprocess.run(["tckstats", path("some.tck"), "-quiet", "-output", "median"], capture_output=True, text=True, check=True).stdout)
    report(f"stats: median of {len(lines)} against tckstats", abs(row["median_mm"] / theirs - 1) < 1e-5, f"{row['median_mm']:.6g} and {theirs:.6g} mm")
    for name, keys, values in (("stats", ("q25_mm", "median_mm", "q75_mm"), row), ("info", ("quartile_1", "median", "quartile_3"), info)):
        worst = np.abs(np.array([float(values[key]) for key in keys]) / np.quantile(lengths, [0.25, 0.5, 0.75]) - 1).max()
        report(f"{name}: quartiles of {len(lines)} against numpy", worst < 1e-9, f"{worst:.1e}")


def check_stats(lines):
    glslines("stats", "plain.tck", "-o", "stats.tsv")
    row = table("stats.tsv")
    out = subprocess.run(["tckstats", path("plain.tck"), "-quiet", "-output", "mean", "-output", "std", "-output", "min", "-output", "max", "-output", "count"], capture_output=True, text=True, check=True).stdout.split()
    mine = [float(row[key]) for key in ("mean_mm", "sd_mm", "min_mm", "max_mm", "count")]
    worst = max(abs(a - float(b)) / max(1, abs(a)) for a, b in zip(mine, out))
    report("stats: against tckstats", worst < 1e-4, f"{worst:.1e}")
    for n in (len(lines) // 2 * 2, len(lines) // 2 * 2 - 1, 2):
        check_quartiles(lines[:n])
    glslines("stats", "plain.tck", "--shape", "--template", "oblique.nii.gz", "-o", "shape.tsv")
    row = table("shape.tsv")
    image = nib.load(path("oblique.nii.gz"))
    count, _ = t.traverse(lines, image.shape, image.affine)
    inside = count > 0
    side = np.sqrt((image.affine[:3, :3] ** 2).sum(0))
    length, span = (np.mean(v) for v in ([steps(line).sum() for line in lines], [np.linalg.norm(line[-1].astype(float) - line[0]) for line in lines]))
    volume = inside.sum() * abs(np.linalg.det(image.affine[:3, :3]))
    area = sum(np.abs(np.diff(np.pad(inside, [(1, 1) if k == d else (0, 0) for k in range(3)]).astype(int), axis=d)).sum() * np.prod(np.delete(side, d)) for d in range(3))
    diameter = 2 * np.sqrt(volume / (np.pi * length))
    model = {"volume_mm3": volume, "span_mm": span, "curl": length / span, "diameter_mm": diameter, "elongation": length / diameter, "surface_area_mm2": area, "irregularity": area / (np.pi * diameter * length)}
    worst = max(abs(float(row[key]) / value - 1) for key, value in model.items())
    report("stats: shape against numpy", worst < 1e-9, f"{worst:.1e}")


def between(line, spheres):
    """Returns the part of a line from where it first enters one of the spheres to where it last leaves one."""
    p = line.astype(float)
    mm = np.r_[0, np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))]
    inside = []
    for centre, radius in spheres:
        for i, (a, d) in enumerate(zip(p, np.diff(p, axis=0))):
            root = np.roots([d @ d, 2 * d @ (a - centre), (a - centre) @ (a - centre) - radius**2])
            if np.isreal(root).all():
                low, high = np.clip(np.sort(root.real), 0, 1)
                if high > low:
                    inside += [mm[i] + low * (mm[i + 1] - mm[i]), mm[i] + high * (mm[i + 1] - mm[i])]
    first, last = min(inside), max(inside)
    at = np.r_[first, mm[(mm > first) & (mm < last)], last]
    return np.stack([np.interp(at, mm, p[:, r]) for r in range(3)], 1).astype(np.float32)


def check_clip(bundle, oriented, volume, image):
    from dipy.tracking.streamline import Streamlines, set_number_of_points
    spheres = [(np.mean([line[k] for line in oriented], 0).round(1), 5.0) for k in (12, 42)]
    with open(path("clip.tsv"), "w") as file:
        texts = [",".join(f"{x:g}" for x in [*centre, radius]) for centre, radius in spheres]
        file.write(f"bundle\tinclude\narc\t{texts[0]};{texts[1]}\n")
    words = ["bundle.tck", "smooth_LAS.nii", "--bundles", "clip.tsv", "--orient", "standard.tck", "--weights", "mean"]
    glslines("profile", *words, "--clip", "-o", "mine.csv")
    mine = table("mine.csv", ",")["smooth_LAS"]
    glslines("profile", *words, "-o", "whole.csv")
    inverse = np.linalg.inv(image.affine)
    kept = [line for line in oriented if all(np.linalg.norm(line - centre, axis=1).min() < radius for centre, radius in spheres)]
    nodes = np.array(set_number_of_points(Streamlines([between(line, spheres) for line in kept]), 100))
    values = [trilinear(volume, nodes[:, k].astype(float) @ inverse[:3, :3].T + inverse[:3, 3], "clamp") for k in range(100)]
    worst = np.nanmax(np.abs([np.nanmean(v) for v in values] - mine))
    whole = np.nanmax(np.abs(table("whole.csv", ",")["smooth_LAS"] - mine))
    report("profile: --clip against numpy", worst < 1e-5 < whole and len(kept) > 20, f"{worst:.1e}, of {len(kept)} streamlines; {whole:.1e} without it")


def check_profile():
    """Returns a bundle of noisy arcs, half of them reversed."""
    from dipy.stats.analysis import afq_profile, gaussian_weights
    from dipy.tracking.streamline import Streamlines, orient_by_streamline, set_number_of_points
    rng = np.random.default_rng(7)
    angle = np.linspace(0, np.pi * 0.6, 60)
    arc = 14 * np.stack([np.cos(angle) - 0.3, np.sin(angle) - 0.5, 0.3 * angle], 1)
    bundle = [(arc[rng.integers(0, 4):60 - rng.integers(0, 4)] + rng.normal(0, 1.2, 3)).astype(np.float32)[::rng.choice([-1, 1])] for _ in range(60)]
    save_tck("bundle.tck", bundle)
    save_tck("standard.tck", [bundle[0]])
    image = nib.load(path("smooth_LAS.nii"))
    volume = np.asarray(image.dataobj, np.float64)
    oriented = orient_by_streamline(Streamlines(bundle), bundle[0])
    glslines("profile", "bundle.tck", "smooth_LAS.nii", "--like", "dipy", "--orient", "standard.tck", "-o", "mine.csv")
    theirs = afq_profile(volume, oriented, image.affine, weights=gaussian_weights)
    mine = table("mine.csv", ",")["smooth_LAS"]
    report("profile: --like dipy against afq_profile", np.nanmax(np.abs(mine - theirs)) < 1e-6, f"{np.nanmax(np.abs(mine - theirs)):.1e}")
    holes = np.where(rng.random(volume.shape) < 0.01, np.nan, volume)
    nib.save(nib.Nifti1Image(holes.astype(np.float32), image.affine), path("profile_holes.nii"))
    glslines("profile", "bundle.tck", "profile_holes.nii", "--like", "dipy", "--orient", "standard.tck", "-o", "mine.csv")
    theirs, mine = afq_profile(holes, oriented, image.affine, weights=gaussian_weights), table("mine.csv", ",")["profile_holes"]
    nan = np.isnan(theirs)
    report("profile: --like dipy with NaN voxels against afq_profile", np.array_equal(np.isnan(mine), nan) and 0 < nan.sum() < 100 and np.abs(mine - theirs)[~nan].max() < 1e-6, f"{nan.sum()} of 100 nodes nan")
    for name, lines in (("equal", [bundle[0]] * 3), ("meeting", [bundle[0], bundle[0] + [0.5, 0.25, 0], bundle[0] - [0.25, 0, 0.5]])):
        lines = [np.vstack([bundle[0][:1], line[1:]]).astype(np.float32) for line in lines]
        save_tck("degenerate.tck", lines)
        glslines("profile", "degenerate.tck", "smooth_LAS.nii", "--like", "dipy", "--orient", "none", "-o", "mine.csv")
        theirs, mine = afq_profile(volume, Streamlines(lines), image.affine, weights=gaussian_weights), table("mine.csv", ",")["smooth_LAS"]
        report(f"profile: --like dipy of {name} streamlines against afq_profile", np.isfinite(theirs).all() and np.abs(mine - theirs).max() < 1e-6, f"{np.abs(mine - theirs).max():.1e}")
    glslines("profile", "bundle.tck", "smooth_LAS.nii", "--orient", "standard.tck", "-o", "mine.csv")
    mine = table("mine.csv", ",")["smooth_LAS"]
    nodes = np.array(set_number_of_points(oriented, 100))
    inverse = np.linalg.inv(image.affine)
    worst = 0
    for k in range(100):
        x = nodes[:, k].astype(float)
        d = x - x.mean(0)
        w = 1 / np.sqrt(np.einsum("ij,jk,ik->i", d, np.linalg.pinv(d.T @ d / len(d)), d))
        v = trilinear(volume, x @ inverse[:3, :3].T + inverse[:3, 3], "clamp")
        ok = np.isfinite(v)
        worst = max(worst, abs((w * v)[ok].sum() / w[ok].sum() - mine[k]))
    report("profile: Mahalanobis weights against numpy", worst < 1e-5, f"{worst:.1e}")
    check_clip(bundle, oriented, volume, image)
    glslines("profile", "bundle.tck", "smooth_LAS.nii", "-o", "auto.csv", "--stats")
    run(t.tool, "edit", "bundle.tck", "turned.tck", "--orient", "x", "-q", "--force")
    glslines("profile", "turned.tck", "smooth_LAS.nii", "-o", "auto2.csv", "--stats")
    a, b = table("auto.csv", ","), table("auto2.csv", ",")
    worst = np.nanmax(np.abs(a["smooth_LAS"] - b["smooth_LAS"]))
    report("profile: the direction does not depend on that of the file", worst < 1e-5, f"{worst:.1e}")


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
    check_not_finite(lines)
    check_stats(lines)
    check_profile()
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
