#!/usr/bin/env python3
"""Peaks against MRtrix3 and DIPY: fact against tckgen's FACT and eudx against DIPY's eudx_tracking, streamline by streamline; fact along a TOM, whose
many short steps cross many voxels; fact with random first directions against two runs of tckgen; the peaks of FODs against sh2peaks.

Usage: peak_tracking.py GLSLINES WORK [--seeds N]
The FODs are those of a fit to the phantom, its peaks those of sh2peaks; then the same on a grid whose voxels have three different sides and whose axes
are turned. Parts without their program are left out; status 77 where both are missing."""
import argparse
import json
import os
import re
import shutil
import sys
import time

import nibabel as nib
import numpy as np
from dipy.reconst.shm import real_sh_tournier
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from checks import check, outcome, run, turned
from tracked import by_seed, compare, compare_chance, image, lines_of


class Case:
    def __init__(self, name, fod, mask, roi, fa, work):
        self.name, self.fod, self.mask, self.roi, self.fa, self.at = name, fod, mask, roi, fa, os.path.join(work, name + "_")
        self.peaks = self.at + "peaks.nii"
        run("sh2peaks", "-quiet", "-force", fod, self.peaks)

    def glslines(self, getter, path, *options):
        start = time.time()
        run(tool, "track", "--peaks", self.peaks, "--dg", getter, "-o", path, "--precision", "float", "--force", "-q", *options)
        self.counts = json.load(open(re.sub(r"\.tck$", ".json", path)))["counts"]
        return time.time() - start


# --- the peaks of FODs ---------------------------------------------------------


def compare_peaks(case):
    """Compares amplitude and direction of the peaks that both programs find. Peaks that only one finds are due to chance or to
    the peer's 60 starts."""
    run(tool, "peaks", case.fod, "-o", case.at + "own.nii", "--force", "-q")
    ours, theirs = (image(p).reshape(*image(p).shape[:3], 3, 3) for p in (case.at + "own.nii", case.peaks))
    there = np.isfinite(ours[..., 0]), np.isfinite(theirs[..., 0])
    check(np.array_equal(there[0].any(-1), there[1].any(-1)), f"{case.name}: the same {there[1].any(-1).sum()} voxels have peaks")
    found = there[1].sum()
    size = np.linalg.norm(theirs, axis=-1)
    # compare each of the peer's peaks with the nearest of ours
    cosine = np.abs(np.einsum("...ia,...ja->...ij", np.nan_to_num(theirs), np.nan_to_num(ours)))
    cosine /= np.maximum(size[..., :, None] * np.linalg.norm(ours, axis=-1)[..., None, :], 1e-30)
    cosine = np.nan_to_num(cosine)
    best = cosine.argmax(-1)
    partner = np.take_along_axis(np.nan_to_num(ours), best[..., None], axis=-2)
    together = there[1] & (cosine.max(-1) > np.cos(np.radians(0.5)))
    apart = np.abs(np.linalg.norm(partner, axis=-1) - size)[together]
    strong = there[1] & (size > 0.1)
    check(apart.max() <= 1e-4, f"{case.name}: amplitudes differ by {apart.max():.2g} at most where both have the peak")
    check(together.sum() >= 0.95 * found and (together & strong).sum() >= 0.995 * strong.sum(),
          f"{case.name}: {together.sum() / found:.4f} of sh2peaks' {found} peaks are found, {(together & strong).sum() / strong.sum():.5f} of those above 0.1")
    check(np.nanmin(np.where(there[0], np.linalg.norm(ours, axis=-1), np.nan)[..., :1] + 1e-6 -
                    np.where(there[0], np.linalg.norm(ours, axis=-1), np.nan)[..., 1:]) >= 0, f"{case.name}: the strongest come first")


def compare_random(work):
    """Finds all maxima of random positive functions. Each maximum that either program finds, the other should find, too."""
    degree = np.concatenate([np.full(2 * l + 1, l) for l in range(0, 9, 2)])
    sh = np.random.default_rng(1).normal(size=(16, 16, 16, 45)) * np.exp(-0.02 * degree * (degree + 1))
    sh[..., 0] = 12
    fod, own, peer = (os.path.join(work, f"random_{name}.nii") for name in ("fod", "own", "peer"))
    nib.save(nib.Nifti1Image(sh.astype("f4"), np.diag([-2.0, 2, 2, 1])), fod)
    run(tool, "peaks", fod, "-o", own, "--number", 16, "--force", "-q")
    run("sh2peaks", "-quiet", "-force", "-num", "16", fod, peer)
    ours, theirs = (np.nan_to_num(image(p)).reshape(-1, 16, 3) for p in (own, peer))
    size = np.linalg.norm(ours, axis=-1), np.linalg.norm(theirs, axis=-1)
    near = np.abs(np.einsum("via,vja->vij", ours, theirs)) > np.cos(np.radians(3)) * size[0][:, :, None] * size[1][:, None, :]
    near &= (size[0] > 0)[:, :, None] & (size[1] > 0)[:, None, :]
    # a search that has not converged leaves points on ridges, which have a higher neighbour and are no maxima
    missed = (size[1] > 0) & ~near.any(1)
    ends = np.array([not has_higher_neighbour(sh.reshape(-1, 45)[v], theirs[v, j] / size[1][v, j]) for v, j in np.argwhere(missed)], bool)
    maxima = (size[1] > 0).sum() - (~ends).sum()
    check(ends.sum() <= 0.0005 * maxima, f"random functions: {maxima - ends.sum()} of sh2peaks' {maxima} maxima are found")
    shared = near.any(2).sum() / (size[0] > 0).sum()
    check(shared >= 0.985, f"random functions: sh2peaks finds {shared:.5f} of the {(size[0] > 0).sum()} maxima")


def has_higher_neighbour(sh, d):
    """Whether the function is higher somewhere on a circle of 1 degree about d."""
    side = np.linalg.svd(d[None])[2][1:]
    turn = np.linspace(0, 2 * np.pi, 64, endpoint=False)[:, None]
    around = np.vstack([d, d + np.tan(np.radians(1)) * (np.cos(turn) * side[0] + np.sin(turn) * side[1])])
    around /= np.linalg.norm(around, axis=1)[:, None]
    values = real_sh_tournier(8, np.arccos(around[:, 2]), np.arctan2(around[:, 1], around[:, 0]), legacy=False)[0] @ sh
    return values[1:].max() > values[0]


# --- FACT ------------------------------------------------------------------------


def compare_fact(case, direction):
    step = 0.2
    theirs, ours = case.at + "fact_peer.tck", case.at + "fact.tck"
    towards = ",".join(map(str, direction))
    run("tckgen", case.peaks, theirs, "-force", "-algorithm", "FACT", "-seed_grid_per_voxel", case.roi, 1, "-seed_direction", towards, "-mask", case.mask,
        "-step", step, "-minlength", 0.1, "-maxlength", 300, "-select", 0, "-nthreads", 0, "-output_seeds", theirs + ".seeds")
    case.glslines("fact", ours, "--seed-grid", 1, "--seed-direction", towards, "--mask", case.mask, "--roi", case.roi, "--step-size", f"{step}mm",
                  "--min-length", 0.1, "--max-length", 300, "--output-seeds", ours + ".seeds")
    compare(f"{case.name} fact along {towards}", by_seed(ours), by_seed(theirs), 0.99, 1e-3, 0.01)


def random_starts(case, n):
    paths = [f"{case.at}random_{number}.tck" for number in (1, 2, 3)]
    for number in (1, 2):
        run("tckgen", case.peaks, paths[number - 1], "-force", "-algorithm", "FACT", "-seed_image", case.roi, "-mask", case.mask, "-seeds", n, "-select", 0,
            "-nthreads", 0, MRTRIX_RNG_SEED=str(number))
    case.glslines("fact", paths[2], "--mask", case.mask, "--roi", case.roi, "--nseeds", n)
    compare_chance(f"{case.name} fact, random starts", paths[:2], paths[2], n, case.mask)


def compare_tom(work):
    """Compares FACT along an image as TractSeg's TOMs, one peak in each voxel of a bundle, on the grid of its images: 1.25 mm, with voxels far from the
    first. Steps of 0.125 mm are so many that the rounding of float, added up, puts points at the faces of voxels on the other side: without remainders of
    positions 98.3 % have as many points. tckgen rounds to float, too, but in mm, near 0."""
    affine, shape = np.array([[-1.25, 0, 0, 90], [0, 1.25, 0, -126], [0, 0, 1.25, -72], [0, 0, 0, 1.0]]), (145, 174, 145)
    t, generator = np.linspace(0, 1, 2000)[:, None], np.random.default_rng(3)
    way = np.hstack([8 + 30 * t**2 + 4 * np.sin(6 * t), -30 + 14 * np.sin(3 * t), -55 + 125 * t - 12 * np.sin(np.pi * t) ** 2])
    grid = np.indices(shape).reshape(3, -1).T
    distance, at = cKDTree(way).query(nib.affines.apply_affine(affine, grid), distance_upper_bound=5)
    inside = np.isfinite(distance)
    bend = np.stack([gaussian_filter(generator.normal(size=shape).astype(np.float32), 2) for _ in range(3)], -1).reshape(-1, 3)[inside]
    along = np.gradient(way, axis=0)[at[inside]]
    along = along / np.linalg.norm(along, axis=1)[:, None] + 0.1 * bend / bend.std()
    tom = np.zeros(grid.shape, np.float32)
    tom[inside] = along / np.linalg.norm(along, axis=1)[:, None] * generator.uniform(0.8, 1, (len(along), 1))
    image_of, mask_of, theirs, ours = (os.path.join(work, "tom" + end) for end in (".nii", "_mask.nii", "_peer.tck", ".tck"))
    nib.save(nib.Nifti1Image(tom.reshape(*shape, 3), affine), image_of)
    nib.save(nib.Nifti1Image(inside.reshape(shape).astype(np.uint8), affine), mask_of)
    run("tckgen", image_of, theirs, "-quiet", "-force", "-algorithm", "FACT", "-seed_grid_per_voxel", mask_of, 1, "-seed_direction", "0.1,0.1,1", "-mask", mask_of, "-minlength", 40,
        "-maxlength", 250, "-select", 0, "-nthreads", 0, "-output_seeds", theirs + ".seeds")
    run(tool, "track", "--peaks", image_of, "--dg", "fact", "-o", ours, "--precision", "float", "--force", "-q", "--seed-grid", 1, "--seed-direction", "0.1,0.1,1", "--mask", mask_of, "--roi",
        mask_of, "--min-length", 40, "--max-length", 250, "--output-seeds", ours + ".seeds")
    compare("fact along a TOM", by_seed(ours), by_seed(theirs), (0.99, 0.93), 1e-3, 0.001)


# --- EuDX ------------------------------------------------------------------------


def compare_eudx(case, n):
    """Moves peaks to the vertices of DIPY's sphere, which DIPY needs; voxel axes."""
    from dipy.data import default_sphere
    from dipy.direction.peaks import PeaksAndMetrics
    from dipy.tracking.stopping_criterion import ThresholdStoppingCriterion
    from dipy.tracking.tracker import eudx_tracking

    affine = nib.load(case.peaks).affine
    peaks = np.nan_to_num(image(case.peaks)).reshape(*image(case.peaks).shape[:3], 3, 3).astype(float)
    values = np.linalg.norm(peaks, axis=-1)
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    indices = np.abs((peaks @ axes) @ default_sphere.vertices.T).argmax(-1)
    order = np.argsort(-values, axis=-1, kind="stable")
    values, indices = np.take_along_axis(values, order, -1), np.take_along_axis(indices, order, -1)
    pam = PeaksAndMetrics()
    pam.affine, pam.sphere = affine, default_sphere
    pad = [(0, 0)] * 3 + [(0, 2)]
    pam.peak_values, pam.peak_indices = np.pad(values, pad), np.pad(np.where(values > 0, indices, -1), pad, constant_values=-1).astype(np.int32)
    pam.peak_dirs = np.where(pam.peak_values[..., None] > 0, default_sphere.vertices[pam.peak_indices], 0)
    vertices = np.where(values[..., None] > 0, default_sphere.vertices[indices], 0)
    moved = case.at + "vertices.nii"
    nib.save(nib.Nifti1Image((vertices * values[..., None]).reshape(*values.shape[:3], 9).astype(np.float32), affine), moved)
    fa = image(case.fa)
    generator = np.random.default_rng(4)
    inside = np.argwhere(image(case.roi) > 0)
    seeds = inside[generator.integers(len(inside), size=n)] + generator.uniform(-0.5, 0.5, (n, 3))
    # some lie between voxels, where halves are rounded to even numbers, and some outside the image, whose halves end at once
    seeds[:n // 3] = np.floor(seeds[:n // 3]) + 0.5
    outside = n // 3 + np.arange(n // 15)
    seeds[outside, 0] = np.where(outside % 2, -0.6, values.shape[0] - 0.4)
    world = seeds @ affine[:3, :3].T + affine[:3, 3]
    found = list(eudx_tracking(world, ThresholdStoppingCriterion(fa.astype(float), 0.15), affine, pam=pam, sphere=default_sphere, step_size=0.5, nbr_threads=1,
                               max_len=400))
    table, path = case.at + "eudx_seeds.txt", case.at + "eudx.tck"
    np.savetxt(table, world, fmt="%.9f")
    plain = case.peaks
    case.peaks = moved
    case.glslines("eudx", path, "--peaks-frame", "image", "--fa", case.fa, "--fa-threshold", 0.15, "--seeds", table, "--seed-space", "world", "--max-length", 400)
    case.peaks = plain

    def key(lines):
        """Returns the streamlines of each seed. The seed is one of their points; several streamlines may have it."""
        tree, groups = cKDTree(world), {}
        for line in lines:
            line = np.asarray(line, float)
            distance, at = tree.query(line)
            seed = int(at[distance.argmin()])
            groups.setdefault(seed, []).append(line)
        return {(seed, k): line for seed, group in groups.items() for k, line in enumerate(group)}

    ours, theirs = key(lines_of(path)), key(found)
    check(not {seed for seed, _ in (*ours, *theirs)} & set(outside), f"{case.name} eudx: no streamline from {len(outside)} seeds outside the image, DIPY has none either")
    # pairs, for one seed, each streamline with the one that is most like it
    paired = {}
    for (seed, k), line in theirs.items():
        candidates = [(abs(len(other) - len(line)), np.abs(other[0] - line[0]).sum(), name) for name, other in ours.items() if name[0] == seed]
        if candidates:
            paired[seed, k] = ours[min(candidates, key=lambda c: (c[0], c[1]))[2]]
    check(abs(len(ours) - len(theirs)) <= 0.01 * len(theirs), f"{case.name} eudx: {len(ours)} streamlines, DIPY's {len(theirs)}")
    compare(f"{case.name} eudx", paired, theirs, 0.98, 0.01, 0.01)


class Walk:
    """Runs EuDX in double precision along one axis for each voxel. A step of `step` mm goes along the mean, weighted by
    distance, of those axes of the eight voxels around that are longer than `least` and within 60 degrees."""

    def __init__(self, axis, length, mask, affine, least=0.2, step=0.5):
        self.axis, self.length, self.mask, self.least = axis, length, mask, least
        self.step, self.inverse = step / np.linalg.norm(affine[:3, :3], axis=0), np.linalg.inv(affine)
        self.affine = affine

    def direction(self, p, d):
        total, mean, low = 0.0, np.zeros(3), np.floor(p).astype(int)
        for corner in np.ndindex(2, 2, 2):
            v = tuple(low + corner)
            if min(v) < 0 or any(a >= n for a, n in zip(v, self.length.shape)) or self.length[v] <= self.least:
                continue
            cosine = self.axis[v] @ d
            if abs(cosine) >= np.cos(np.radians(60)):
                weight = np.prod(np.where(corner, p - low, 1 - (p - low)))
                total, mean = total + weight, mean + weight * np.sign(cosine) * self.axis[v]
        return mean / np.linalg.norm(mean) if total >= 0.5 and mean.any() else None

    def line(self, seed):
        """Returns the streamline in mm; None: the voxel of the seed has no axis."""
        start = self.inverse[:3, :3] @ seed + self.inverse[:3, 3]
        v = tuple(np.clip(np.rint(start).astype(int), 0, np.array(self.length.shape) - 1))
        if not self.length[v] > 0:
            return None
        halves, first = [], self.axis[v]
        for sign in (1, -1):
            d, p, points = sign * first, start, []
            while (e := self.direction(p, d)) is not None:
                d, p = e, p + e * self.step
                near = np.floor(p + 0.5).astype(int)
                if (near < 0).any() or (near >= self.length.shape).any() or not self.mask[tuple(near)]:
                    break
                if sign > 0 and not points:
                    first = d
                points.append(p)
            halves.append(points)
        return np.array([*halves[1][::-1], start, *halves[0]]) @ self.affine[:3, :3].T + self.affine[:3, 3]


def compare_eudx_of_tensors(work, n):
    """Compares eudx of a series with a walk along the main axes of DIPY's tensors."""
    from dipy.core.gradients import gradient_table
    from dipy.io.gradients import read_bvals_bvecs
    from dipy.reconst.dti import TensorModel

    dwi, bval, bvec, mask, roi = (os.path.join(work, "phantom", f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz"))
    bvals, bvecs = read_bvals_bvecs(bval, bvec)
    inside, affine = image(mask) > 0, nib.load(dwi).affine
    fit = TensorModel(gradient_table(bvals, bvecs=bvecs), fit_method="WLS").fit(image(dwi).astype(float), mask=inside)
    walk = Walk(fit.evecs[..., 0], np.where(inside, fit.fa, 0), inside, affine)
    generator = np.random.default_rng(5)
    voxels = np.argwhere(image(roi) > 0)
    seeds = (voxels[generator.integers(len(voxels), size=n)] + generator.uniform(-0.5, 0.5, (n, 3))) @ affine[:3, :3].T + affine[:3, 3]
    table, path = os.path.join(work, "tensor_seeds.txt"), os.path.join(work, "tensor_eudx.tck")
    np.savetxt(table, seeds, fmt="%.9f")
    run(tool, "track", dwi, bval, bvec, mask, "--dg", "eudx", "-o", path, "--precision", "float", "--force", "-q", "--seeds", table, "--seed-space", "world",
        "--output-seeds", path + ".seeds")
    lines = {tuple(np.round(np.float32(seed).astype(float), 3)): walk.line(seed) for seed in seeds}
    theirs = {seed: line for seed, line in lines.items() if line is not None and 0.5 * (len(line) - 1) >= 2}
    compare("eudx along tensors", by_seed(path), theirs, 0.98, 0.01, 0.02)


def phantom(work):
    data = os.path.join(work, "phantom")
    run(tool, "phantom", data, "--shape", 30, 36, 30, "--voxel-size", 2.5, "--bvals", 3000, "--directions", 60, "--force")
    files = [os.path.join(data, f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
    prefix = os.path.join(work, "fod")
    run(tool, "fit", *files, prefix, "--model", "csd", "--sh-order", 8, "--force", "-q")
    return prefix + "_sh.nii.gz", files[3], os.path.join(data, "roi.nii.gz"), prefix + "_fa.nii.gz"


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tool")
parser.add_argument("work")
parser.add_argument("--seeds", type=int, default=6000)
arguments = parser.parse_args()
if not shutil.which("tckgen"):
    print("no MRtrix3, whose sh2peaks makes the peaks")
    sys.exit(77)
tool = os.path.abspath(arguments.tool)
os.makedirs(arguments.work, exist_ok=True)
files = phantom(arguments.work)
cases = [Case("phantom", *files, arguments.work), Case("turned", *turned(arguments.work, files), arguments.work)]
for case in cases:
    for direction in ((1, 0.2, 0.1), (0, 1, 0.3), (0.2, -0.4, 1)):
        compare_fact(case, direction)
    random_starts(case, arguments.seeds)
compare_tom(arguments.work)
try:
    compare_eudx(cases[0], 300)
    compare_eudx_of_tensors(arguments.work, 300)
except ImportError:
    print("no DIPY")
for case in cases:
    compare_peaks(case)
compare_random(arguments.work)
sys.exit(outcome())
