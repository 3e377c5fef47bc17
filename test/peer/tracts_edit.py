#!/usr/bin/env python3
"""Compares glslines edit with a numpy model under random options, and with tckedit, tckresample and DIPY.

usage: tracts_edit.py GLSLINES WORK_DIR [OPTION_SETS]

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np
import tracts as t
from checks import outcome
from dipy.tracking.streamline import Streamlines, orient_by_streamline, set_number_of_points
from dipy.tracking.streamlinespeed import compress_streamlines
from tracts import glslines, load, path, report, run, save_tck


class Region:
    """Returns a region: a sphere x,y,z,r, or the voxels of a mask, perhaps widened."""

    def __init__(self, text, distance=0):
        self.sphere = None
        if text.count(",") == 3:
            self.sphere = np.array([float(v) for v in text.split(",")])
            self.sphere[3] += distance
            return
        image = nib.load(path(text))
        self.inverse = np.linalg.inv(image.affine)
        self.mask = np.asarray(image.dataobj) > 0
        if distance:
            from scipy.ndimage import distance_transform_edt
            self.mask = distance_transform_edt(~self.mask, sampling=image.header.get_zooms()[:3]) <= distance * (1 + 1e-9)

    def has(self, points):
        points = np.asarray(points, float)
        if self.sphere is not None:
            return ((points - self.sphere[:3]) ** 2).sum(1) <= self.sphere[3] ** 2
        v = np.floor(points @ self.inverse[:3, :3].T + self.inverse[:3, 3] + 0.5).astype(int)
        ok = np.all((v >= 0) & (v < self.mask.shape), axis=1)
        out = np.zeros(len(points), bool)
        out[ok] = self.mask[tuple(v[ok].T)]
        return out

    def far(self, line):
        """Whether no piece of the line can lie inside, by its points and the longest step, or by the box of voxels around
        it."""
        if self.sphere is not None:
            longest = np.linalg.norm(np.diff(line, axis=0), axis=1).max(initial=0)
            return np.linalg.norm(line - self.sphere[:3], axis=1).min() > self.sphere[3] + longest
        v = np.floor(line @ self.inverse[:3, :3].T + self.inverse[:3, 3] + 0.5).astype(int)
        return not self.mask[tuple(slice(max(a - 1, 0), max(b + 2, 0)) for a, b in zip(v.min(0), v.max(0)))].any()

    def stretches(self, line):
        """Returns (mm at its start, mm, inside) for each piece of the polyline, cut at faces or the sphere; one piece if the
        region is far away."""
        line = line.astype(float)
        if self.far(line):
            return [(0.0, np.linalg.norm(np.diff(line, axis=0), axis=1).sum(), False)]
        out, at = [], 0.0
        for a, b in zip(line, line[1:]):
            mm = np.linalg.norm(b - a)
            if mm == 0:
                continue
            cuts = [0.0, 1.0]
            if self.sphere is not None:
                d, c = b - a, a - self.sphere[:3]
                root = (d @ c) ** 2 - (d @ d) * (c @ c - self.sphere[3] ** 2)
                if root >= 0:
                    cuts += [s for s in ((-(d @ c) - root ** 0.5) / (d @ d), (-(d @ c) + root ** 0.5) / (d @ d)) if 0 < s < 1]
            else:
                p, q = (x @ self.inverse[:3, :3].T + self.inverse[:3, 3] + 0.5 for x in (a, b))
                for axis in range(3):
                    low, high = sorted((p[axis], q[axis]))
                    if high > low:
                        cuts += list((np.arange(np.floor(low) + 1, np.ceil(high)) - p[axis]) / (q[axis] - p[axis]))
            cuts = np.sort(cuts)
            middles = np.array([a + 0.5 * (s + u) * (b - a) for s, u in zip(cuts, cuts[1:])])
            for s, u, inside in zip(cuts, cuts[1:], self.has(middles)):
                if u > s:
                    out.append((at + mm * s, mm * (u - s), inside))
            at += mm
        return out or [(0.0, 0.0, self.has(line[:1])[0])]

    def hits(self, line, vertex):
        """Returns the mm or points at which each stretch inside begins, in order."""
        if vertex:
            return [(float(i), 1.0, inside) for i, inside in enumerate(self.has(line))]
        return self.stretches(line)


def in_order(regions, line, vertex):
    """Whether the regions are met in order. At each place the lowest region counts; it has to be the next one or the last one
    again."""
    events = sorted({at for region in regions for at, _, _ in region.hits(line, vertex)})
    states = []
    for region in regions:
        hits = region.hits(line, vertex)
        starts = np.array([at for at, _, _ in hits])
        states.append([hits[max(np.searchsorted(starts, at, "right") - 1, 0)][2] for at in events])
    want, before = 0, None
    for state in zip(*states):
        if state == before:
            continue
        before = state
        if True not in state:
            continue
        first = state.index(True)
        if first == want:
            want += 1
        elif first != want - 1:
            return False
    return want == len(regions)


def keeps(line, o, regions, weight):
    """Computes the selection by the model."""
    step = np.diff(line.astype(float), axis=0)
    mm = np.linalg.norm(step, axis=1)
    length = mm.sum()
    if weight < o.get("min-weight", -np.inf) or weight > o.get("max-weight", np.inf):
        return False
    if len(line) < o.get("min-points", 0):
        return False
    if length < o.get("min-length", 0) - 1e-4 or length > o.get("max-length", np.inf) + 1e-4:
        return False
    d = step[mm > 0] / mm[mm > 0][:, None]
    turns = np.degrees(np.arccos(np.clip((d[1:] * d[:-1]).sum(1), -1, 1)))
    if len(turns) and turns.max() > o.get("max-angle", np.inf) or turns.sum() > o.get("max-winding", np.inf):
        return False
    vertex = o.get("roi-test") == "vertex"
    ends = np.array([line[0], line[-1]])
    two = [region.has(ends) for region in regions["include-end"]]
    if len(two) == 1 and not two[0].any():
        return False
    if len(two) == 2 and not (two[0][0] and two[1][1]) and not (two[0][1] and two[1][0]):
        return False
    if regions["include-both-ends"] and not np.any([region.has(ends) for region in regions["include-both-ends"]], axis=0).all():
        return False
    if any(region.has(ends).any() for region in regions["exclude-end"]):
        return False
    if not all(any(hit[2] for hit in region.hits(line, vertex)) for region in regions["include"]):
        return False
    if regions["include-any"] and not any(any(hit[2] for hit in region.hits(line, vertex)) for region in regions["include-any"]):
        return False
    if any(any(hit[2] for hit in region.hits(line, vertex)) for region in regions["exclude"]):
        return False
    if not all(all(hit[2] for hit in region.hits(line, vertex)) for region in regions["all"]):
        return False
    ordered = regions["include-ordered"]
    return not ordered or in_order(ordered, line, vertex) or ("either-way" in o and in_order(ordered, line[::-1], vertex))


ROLES = ("include", "include-any", "exclude", "include-ordered", "include-end", "exclude-end", "include-both-ends", "all")


def random_options(rng):
    o = {}

    def region():
        if rng.random() < 0.5:
            return ",".join(f"{v:.3f}" for v in [*rng.uniform(-15, 15, 3), rng.uniform(3, 14)])
        return f"mask{rng.integers(4)}.nii.gz"

    for role in ROLES:
        if rng.random() < {"include": 0.6, "include-any": 0.3, "include-ordered": 0.3}.get(role, 0.15):
            o[role] = [region() for _ in range(rng.integers(1, 4 if role == "include-any" else 3))]
    if "include-ordered" in o and rng.random() < 0.5:
        o["either-way"] = True
    for name, share, value in (("min-length", 0.3, lambda: rng.uniform(0, 30)), ("max-length", 0.2, lambda: rng.uniform(20, 60)),
                               ("min-points", 0.1, lambda: int(rng.integers(2, 20))), ("max-angle", 0.1, lambda: rng.uniform(20, 60)),
                               ("max-winding", 0.1, lambda: rng.uniform(100, 600)), ("min-weight", 0.2, lambda: rng.uniform(0, 0.5)),
                               ("max-weight", 0.2, lambda: rng.uniform(0.4, 1)), ("distance", 0.1, lambda: rng.uniform(1, 5))):
        if rng.random() < share:
            o[name] = value()
    for least, most in (("min-length", "max-length"), ("min-weight", "max-weight")):
        if least in o and most in o:  # a range without numbers in it is refused
            o[least], o[most] = sorted((o[least], o[most]))
    if rng.random() < 0.4:
        o["roi-test"] = "vertex"
    if rng.random() < 0.15 and o.keys() - {"roi-test", "distance", "either-way"}:
        o["inverse"] = True
    return o


def check_model(sets):
    rng = np.random.default_rng(12)
    lines = t.random_lines(120, 2.5, 21)
    save_tck("few.tck", lines)
    weights = rng.random(len(lines))
    np.savetxt(path("few.txt"), weights, "%.17g")
    for i, (name, (shape, affine)) in enumerate([*t.grids().items(), *t.grids().items()][:4]):
        at = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1) @ affine[:3, :3].T + affine[:3, 3]
        mask = np.linalg.norm(at - rng.uniform(-8, 8, 3), axis=-1) < rng.uniform(5, 14)
        nib.save(nib.Nifti1Image((mask & (rng.random(shape) < 0.9)).astype(np.uint8), affine), path(f"mask{i}.nii.gz"))
    differ = kept = 0
    for _ in range(sets):
        o = random_options(rng)
        words = []
        for name, value in o.items():
            for v in value if isinstance(value, list) else [value]:
                words += [f"--{name}"] + ([] if v is True else [str(v)])
        glslines("edit", "few.tck", "out.tck", "--weights", "few.txt", *words)
        regions = {role: [Region(text, o.get("distance", 0)) for text in o.get(role, [])] for role in ROLES}
        model = [i for i, line in enumerate(lines) if keeps(line, o, regions, weights[i]) != ("inverse" in o)]
        mine = np.atleast_1d(np.loadtxt(path("out_weights.txt"))) if model or os.path.exists(path("out_weights.txt")) else np.array([])
        if os.path.exists(path("out_weights.txt")):
            os.remove(path("out_weights.txt"))
        if len(mine) != len(model) or not np.array_equal(mine, weights[model]):
            differ += 1
            print("    ", " ".join(words), len(mine), len(model))
        kept += len(model)
    report(f"edit: {sets} random option sets against numpy", differ == 0 and kept > 10 * sets, f"{differ} differ, {kept} streamlines kept")


def same_lines(a, b):
    return len(a) == len(b) and all(len(p) == len(q) and np.abs(p - q).max() < 3e-5 for p, q in zip(a, b))


def check_tckedit():
    for name, mine, theirs in (
        ("include, exclude", ["--include", "mask0.nii.gz", "--include", "0,0,0,9", "--exclude", "mask1.nii.gz"], ["-include", "mask0.nii.gz", "-include", "0,0,0,9", "-exclude", "mask1.nii.gz"]),
        ("ordered", ["--include-ordered", "mask0.nii.gz", "--include-ordered", "5,5,5,9"], ["-include_ordered", "mask0.nii.gz", "-include_ordered", "5,5,5,9"]),
        ("skip, number", ["--include", "mask2.nii.gz", "--skip", "3", "--number", "40"], ["-include", "mask2.nii.gz", "-skip", "3", "-number", "40"]),
        ("inverse", ["--include", "mask3.nii.gz", "--inverse"], ["-include", "mask3.nii.gz", "-inverse"]),
        *[(f"mask, {region}", ["--crop", region], ["-mask", region]) for region in ("mask0.nii.gz", "mask3.nii.gz", "0,0,0,9")],
        *[(f"mask, {region}, inverse", ["--crop", region, "--inverse"], ["-mask", region, "-inverse"]) for region in ("mask0.nii.gz", "mask3.nii.gz", "0,0,0,9")],
        ("mask and tests, inverse", ["--include", "mask3.nii.gz", "--exclude", "mask1.nii.gz", "--max-length", "50.41", "--crop", "mask0.nii.gz", "--inverse"], ["-include", "mask3.nii.gz", "-exclude", "mask1.nii.gz", "-maxlength", "50.41", "-mask", "mask0.nii.gz", "-inverse"]),
        ("lengths", ["--min-length", "21.37", "--max-length", "50.41"], ["-minlength", "21.37", "-maxlength", "50.41"]),
    ):
        glslines("edit", "plain.tck", "mine.tck", "--like", "mrtrix", *mine)
        run("tckedit", "plain.tck", "theirs.tck", "-force", "-quiet", *theirs)
        a, b = load("mine.tck"), load("theirs.tck")
        report(f"edit: {name} against tckedit", same_lines(a, b) and len(b) > 0, f"{len(a)} and {len(b)} streamlines")
    for name, mine, theirs in (
        ("points", ["--points", "30"], ["-num_points", "30"]),
        ("downsample", ["--downsample", "4"], ["-downsample", "4"]),
        ("upsample", ["--upsample", "3"], ["-upsample", "3"]),
        ("endpoints", ["--endpoints"], ["-endpoints"]),
    ):
        glslines("edit", "plain.tck", "mine.tck", "--like", "mrtrix", *mine)
        run("tckresample", "plain.tck", "theirs.tck", "-force", "-quiet", *theirs)
        a, b = load("mine.tck"), load("theirs.tck")
        report(f"edit: {name} against tckresample", same_lines(a, b), f"{len(a)} and {len(b)} streamlines")


def check_length_slack():
    """Checks limits of length for the step of the header, of one file and of several."""
    straight = [np.array([[0, 0, 0], [length / 2, 0, 0], [length, 0, 0]], np.float32) for length in np.arange(8.025, 12, 0.05)]
    headers = {"bare": {}, "one": {"step_size": "1"}, "down": {"step_size": "1", "downsample_factor": "2"}, "two": {"step_size": "2"}}
    for name, header in headers.items():
        nib.streamlines.TckFile(nib.streamlines.Tractogram(straight, affine_to_rasmm=np.eye(4)), header=header).save(path(name + ".tck"))
    for names in ("bare", "one", "down", "two", "one one", "one two", "bare one", "one bare"):
        files = [name + ".tck" for name in names.split()]
        glslines("edit", *files, "mine.tck", "--like", "mrtrix", "--minlength", "9", "--maxlength", "11")
        run("tckedit", *files, "theirs.tck", "-minlength", "9", "-maxlength", "11", "-force", "-quiet")
        report(f"edit: limits of length against tckedit, {names}", same_lines(load("mine.tck"), load("theirs.tck")))


def check_dipy(lines):
    glslines("edit", "plain.tck", "mine.tck", "--points", "25")
    worst = max(np.abs(a - b).max() for a, b in zip(load("mine.tck"), set_number_of_points(Streamlines(lines), 25)))
    report("edit: points against DIPY", worst < 5e-6, f"{worst:.1e} mm")
    glslines("edit", "plain.tck", "mine.tck", "--compress", "0.1")
    theirs = compress_streamlines(Streamlines(lines), tol_error=0.1, max_segment_length=10)
    report("edit: compress against DIPY", same_lines(load("mine.tck"), list(theirs)), f"{sum(map(len, theirs))} points")
    save_tck("standard.tck", lines[7:8])
    glslines("edit", "plain.tck", "mine.tck", "--orient", "standard.tck")
    theirs = orient_by_streamline(Streamlines(lines), lines[7])
    report("edit: orient against DIPY", same_lines(load("mine.tck"), list(theirs)), f"{len(lines)} streamlines")


def check_sets(lines):
    save_tck("a.tck", lines[:200] + lines[:50])
    save_tck("b.tck", [line[::-1] for line in lines[100:150]] + lines[300:400])
    for name, words, expected in (
        ("unique", ["--unique"], lines[:200]),
        ("minus", ["--minus", "b.tck", "--either-way"], lines[:100] + lines[150:200] + lines[:50]),
        ("and", ["--and", "b.tck", "--either-way"], lines[100:150]),
        ("and, one way", ["--and", "b.tck"], []),
    ):
        glslines("edit", "a.tck", "mine.tck", *words)
        report(f"edit: {name}", same_lines(load("mine.tck"), expected), f"{len(load('mine.tck'))} streamlines")
    glslines("edit", "a.tck", "mine.tck", "--random", "30", "--rng-seed", "5")
    got = load("mine.tck")
    report("edit: random", len(got) == 30, f"{len(got)} streamlines")
    glslines("edit", "a.tck", "b.tck", "mine.trx", "--group-by-file", "--reference", "LAS.nii.gz")
    glslines("edit", "mine.trx", "a2.tck", "--group", "a")
    report("edit: groups by file", same_lines(load("a2.tck"), lines[:200] + lines[:50]), f"{len(load('a2.tck'))} streamlines")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    t.tool, t.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(t.work, exist_ok=True)
    for name, (shape, affine) in t.grids().items():
        nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), path(f"{name}.nii.gz"))
    check_model(int(sys.argv[3]) if len(sys.argv) > 3 else 200)
    lines = [line for line in t.random_lines(1500, 1.0, 8) if len(line) > 3]
    save_tck("plain.tck", lines)
    check_tckedit()
    check_length_slack()
    check_dipy(lines)
    check_sets(lines)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
