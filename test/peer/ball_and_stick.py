#!/usr/bin/env python3
"""Tracking along samples of real data, in the files that bedpostX writes: a ball and sticks in each voxel, drawn by Metropolis and Hastings (Behrens et al. 2007), and
a walk along them in NumPy by the rules of probtrackx2, twice.

Usage: ball_and_stick.py GLSLINES WORK [SERIES BVAL BVEC X0 X1 Y0 Y1 Z0 Z1]
The series is DIPY's crop small_64D, or the part of another one between these voxels. WORK/real.bedpostX is kept. Status 77 where DIPY is missing."""
import json
import os
import sys

import nibabel as nib
import numpy as np

from checks import check, outcome, run
from tracked import correlation

FIBRES, SAMPLES, EVERY, BURN_IN, STEP, PER_SEED = 2, 50, 10, 300, 0.5, 500


def axes(theta, phi):
    return np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)


def tensor_axis(signal, b, g):
    """Returns the main axis and the FA of a tensor that is fitted to logarithms."""
    design = np.c_[b * g[:, 0] ** 2, b * g[:, 1] ** 2, b * g[:, 2] ** 2, 2 * b * g[:, 0] * g[:, 1], 2 * b * g[:, 0] * g[:, 2], 2 * b * g[:, 1] * g[:, 2], -np.ones(len(b))]
    t = -np.log(np.maximum(signal, 1)) @ np.linalg.pinv(design).T
    values, vectors = np.linalg.eigh(t[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3))
    off = values - values.mean(1, keepdims=True)
    return vectors[:, :, 2], np.sqrt(1.5 * (off**2).sum(1) / np.maximum((values**2).sum(1), 1e-30)), values.mean(1)


class Chain:
    """Runs one Markov chain in each voxel. The signal is S0 (f0 exp(-b d) + sum of f exp(-b d cos^2)), f0 = 1 less all f. Noise
    is Gaussian, of unknown size; the fractions of further fibres have a prior of 1 / f, which removes fibres without evidence;
    directions are uniform on the sphere."""

    def __init__(self, signal, b, g, random):
        self.signal, self.b, self.g, self.random = signal, b, g, random
        first, fa, mean = tensor_axis(signal, b, g)
        n = len(signal)
        self.p = {"s0": signal[:, b < 50].mean(1), "d": np.clip(mean, 1e-4, 5e-3)}
        for k in range(FIBRES):
            v = first if k == 0 else np.roll(first, k, 1)
            self.p |= {f"f{k}": np.clip(fa, 0.05, 0.6) if k == 0 else np.full(n, 0.05), f"th{k}": np.arccos(np.clip(v[:, 2], -1, 1)), f"ph{k}": np.arctan2(v[:, 1], v[:, 0])}
        self.width = {name: np.abs(value) * 0.1 if name[:2] not in ("th", "ph") else np.full(n, 0.2) for name, value in self.p.items()}
        self.taken = {name: np.zeros(n) for name in self.p}
        self.energy = self.energy_of(self.p)

    def energy_of(self, p):
        f = [p[f"f{k}"] for k in range(FIBRES)]
        share = (1 - sum(f))[:, None] * np.exp(-self.b * p["d"][:, None])
        for k in range(FIBRES):
            cosine = axes(p[f"th{k}"], p[f"ph{k}"]).astype(np.float32) @ self.g.T
            share += f[k][:, None] * np.exp(-self.b * p["d"][:, None] * cosine**2)
        misfit = ((self.signal - p["s0"][:, None] * share) ** 2).sum(1)
        energy = 0.5 * len(self.b) * np.log(misfit)
        for k in range(FIBRES):
            energy -= np.log(np.abs(np.sin(p[f"th{k}"])) + 1e-12)
            if k:
                energy += np.log(np.maximum(f[k], 1e-12))
        wrong = (sum(f) >= 1) | (p["d"] <= 0) | (p["d"] > 0.01) | (p["s0"] <= 0) | np.any(np.array(f) <= 1e-4, axis=0)
        return np.where(wrong, np.inf, energy)

    def jump(self):
        for name in self.p:
            trial = dict(self.p)
            trial[name] = self.p[name] + self.width[name] * self.random.normal(size=len(self.signal))
            energy = self.energy_of(trial)
            with np.errstate(invalid="ignore"):
                takes = np.log(self.random.random(len(energy))) < self.energy - energy
            self.p[name] = np.where(takes, trial[name], self.p[name])
            self.energy = np.where(takes, energy, self.energy)
            self.taken[name] += takes

    def adapt(self, jumps):
        """Adapts the widths of the jumps so that half of them are accepted."""
        for name, taken in self.taken.items():
            self.width[name] *= np.sqrt((taken + 1) / (jumps - taken + 1))
            taken[:] = 0


def draw(signal, b, g):
    """Returns angles and fractions, each (fibre, sample, voxel), with fibres in the order of their mean fraction."""
    chain = Chain(signal.astype(np.float32), b.astype(np.float32), g.astype(np.float32), np.random.default_rng(1))
    for jump in range(BURN_IN):
        chain.jump()
        if jump % 20 == 19:
            chain.adapt(20)
    kept = []
    for _ in range(SAMPLES):
        for _ in range(EVERY):
            chain.jump()
        kept.append([[chain.p[f"{name}{k}"] for name in ("th", "ph", "f")] for k in range(FIBRES)])
    kept = np.array(kept).transpose(2, 1, 0, 3)  # name, fibre, sample, voxel
    order = np.argsort(-kept[2].mean(1), axis=0)
    return np.take_along_axis(kept, order[None, :, None, :], 1)


def write(folder, drawn, mask, affine):
    os.makedirs(folder, exist_ok=True)
    for name, fibres in zip(("th", "ph", "f"), drawn):
        for k, values in enumerate(fibres, 1):
            image = np.zeros(mask.shape + (SAMPLES,), np.float32)
            image[mask] = values.T
            nib.save(nib.Nifti1Image(image, affine), f"{folder}/merged_{name}{k}samples.nii.gz")
    nib.save(nib.Nifti1Image(mask.astype(np.uint8), affine), folder + "/nodif_brain_mask.nii.gz")


# --- The walk. -----------------------------------------------------------------------


def at(image, voxel):
    inside = np.all((voxel >= 0) & (voxel < image.shape[-3:]), axis=1)
    x, y, z = np.where(inside[:, None], voxel, 0).T
    return np.where(inside, image[..., x, y, z], 0)


def nearest(p):
    return np.trunc(p + np.copysign(0.5, p)).astype(int)


def half(axis, f, mask, seeds, before, sides, random, visits):
    """Walks until all have ended. Notes visits as (walker, voxel); returns the first directions and the numbers of points."""
    p, last, live, first = seeds.astype(np.float32), before.copy(), np.arange(len(seeds)), np.zeros_like(before)
    points = np.zeros(len(seeds), int)
    for step in range(1000):
        here = nearest(p[live])
        live = live[at(mask, here) > 0]
        if len(live) == 0:
            break
        here = nearest(p[live])
        points[live] += 1
        visits.append(np.c_[live, here])
        low = np.floor(p[live])
        voxel = (low + (random.random((len(live), 3)) < p[live] - low)).astype(int)
        sample = nearest(random.random(len(live)) * (SAMPLES - 1))
        known = at(mask, voxel) > 0
        live, voxel, sample = live[known], voxel[known], sample[known]
        x, y, z = voxel.T
        v, fraction = axis[:, sample, x, y, z], f[:, sample, x, y, z]  # fibre first
        k = np.zeros(len(live), int)
        if step:
            k = np.where(fraction > 0.01, np.abs((v * last[live]).sum(-1)), 0).argmax(0)
        d = v[k, np.arange(len(live))]
        cosine = (d * last[live]).sum(1)
        side = np.where(cosine > 0, 1, -1) if step or sides is None else sides[live]
        goes = (np.abs(cosine) > 0.2) | np.all(last[live] == 0, axis=1)
        live, d = live[goes], (d * side[:, None])[goes]
        if step == 0:
            first[live] = d
        last[live] = d
        p[live] += (STEP * d / SIZE).astype(np.float32)
    return first, points


def walk(axis, f, mask, seeds, number):
    """Returns the visits of each voxel, counted once for each walker, and the mean length."""
    random, visits = np.random.default_rng(number), []
    seeds = np.repeat(seeds, PER_SEED, 0)
    sides = np.where(random.random(len(seeds)) > 0.5, 1, -1)
    first, forward = half(axis, f, mask, seeds, np.zeros(seeds.shape), sides, random, visits)
    _, backward = half(axis, f, mask, seeds, -first, None, random, visits)
    met = np.unique(np.concatenate(visits), axis=0)[:, 1:]
    count = np.zeros(mask.shape)
    np.add.at(count, tuple(met.T), 1)
    return count, STEP * (forward + backward - 2).mean()


tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
os.makedirs(work, exist_ok=True)
if len(sys.argv) > 3:
    series, bval, bvec, *box = sys.argv[3:]
    part = tuple(slice(int(a), int(b)) for a, b in zip(box[::2], box[1::2]))
else:
    try:
        import dipy.data
    except ImportError:
        print("no DIPY, whose package has the crop")
        sys.exit(77)
    stem = os.path.join(os.path.dirname(dipy.data.__file__), "files", "small_64D")
    series, bval, bvec, part = stem + ".nii", stem + ".bval", stem + ".bvec", (slice(0, None),) * 3
image = nib.load(series).slicer[part]
data, affine = np.asarray(image.dataobj, float), image.affine
SIZE = np.linalg.norm(affine[:3, :3], axis=0)
b, g = np.loadtxt(bval).ravel(), np.nan_to_num(np.loadtxt(bvec))
g = g.T if g.shape[0] == 3 else g
low = data[..., b < 50].mean(-1)
mask = (low > 0.05 * np.percentile(low, 99)) & (data.min(-1) > 0)
folder = os.path.join(work, "real.bedpostX")
if not os.path.exists(folder + "/nodif_brain_mask.nii.gz"):
    write(folder, draw(data[mask], b, g), mask, affine)
drawn = [np.stack([np.asarray(nib.load(f"{folder}/merged_{name}{k}samples.nii.gz").dataobj, float) for k in range(1, FIBRES + 1)]) for name in ("th", "ph", "f")]
main, fa, _ = tensor_axis(data[mask], b, g)
one = axes(drawn[0][0][mask], drawn[1][0][mask])
mean = np.linalg.eigh(np.einsum("vsi,vsj->vij", one, one))[1][:, :, 2]
off = np.degrees(np.arccos(np.minimum(1, np.abs((mean * main).sum(1)))))[fa > 0.3]
check(len(off) > 50 and np.median(off) < 5, f"{mask.sum()} voxels: the first fibre is {np.median(off):.1f} degrees off the axis of a tensor in the median of {len(off)} with FA above 0.3")

# the 27 voxels whose FA is the highest; the axes of the walk are those of voxels
chosen = np.zeros(mask.shape)
chosen[mask] = fa
around = np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)])
whole = np.array([v for v in np.argwhere(mask) if at(mask, v + around).all()])
seeds = max((v + around for v in whole), key=lambda v: at(chosen, v).sum())
region = np.zeros(mask.shape, np.uint8)
region[tuple(seeds.T)] = 1
nib.save(nib.Nifti1Image(region, affine), work + "/seeds.nii.gz")
axis, f = np.moveaxis(axes(drawn[0], drawn[1]), 4, 1), np.moveaxis(drawn[2], 4, 1)
if np.linalg.det(affine[:3, :3]) > 0:
    axis = axis * (-1, 1, 1)
theirs = [walk(axis, f, mask, seeds, number) for number in (1, 2)]
ours = []
for number in (1, 2):
    name = f"{work}/paths_{number}"
    run(tool, "track", "--bedpostx", folder, "--roi", work + "/seeds.nii.gz", "--seeds-per-voxel", PER_SEED, "--rng-seed", number, "-o", name + ".tck", "--fdt-paths",
        name + ".nii", "--waytotal", name + ".txt", "--force", "-q")
    ours.append((np.asarray(nib.load(name + ".nii").dataobj, float), json.load(open(name + ".json"))["lengths"]["mean_mm"]))
    check(int(open(name + ".txt").read()) == PER_SEED * len(seeds), f"waytotal is {PER_SEED} for each of {len(seeds)} seeds")
lengths = [x[1] for x in theirs + ours]
check(min(lengths) > 5 and abs(np.mean(lengths[:2]) - np.mean(lengths[2:])) < 0.5, f"mean length {lengths[2]:.2f} and {lengths[3]:.2f} mm; of the walk {lengths[0]:.2f} and {lengths[1]:.2f}")
maps = [x[0] for x in theirs + ours]
logs = [np.log1p(m) for m in maps]
own, across = correlation(*maps[:2]), [correlation(a, c) for a in maps[:2] for c in maps[2:]]
own_log, across_log = correlation(*logs[:2]), [correlation(a, c) for a in logs[:2] for c in logs[2:]]
check(min(across) >= 0.999 and min(across_log) >= min(0.94, own_log - 0.01), f"maps correlate by {min(across):.5f} at least, those of the walk by {own:.5f}; logarithms by {min(across_log):.4f} and {own_log:.4f}")
often = np.minimum(*maps[:2]) > 100
spread = [((a - c) / np.sqrt(np.maximum(a + c, 1)))[often].std() for a, c in ((maps[0], maps[1]), (maps[0], maps[2]), (maps[1], maps[3]))]
check(max(spread[1:]) < 1.25 * max(spread[0], 0.8), f"{often.sum()} voxels with more than 100: differences are {spread[1]:.2f} and {spread[2]:.2f} of the root of the sum, between two walks {spread[0]:.2f}")
sys.exit(outcome())
