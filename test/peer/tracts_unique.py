#!/usr/bin/env python3
"""Compares glslines segment --unique with a numpy model of what it says: random bundles, each streamline goes to the
nearest of those whose regions it meets.

usage: tracts_unique.py GLSLINES WORK_DIR [TABLES]

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np
import tracts as t
from checks import outcome
from scipy.ndimage import distance_transform_edt
from tracts import glslines, path, report
from tracts_edit import Region


class Rule:
    """A region of a rule. Finds whether a streamline meets it, and how far the streamline is from it and from its centre."""

    def __init__(self, text, tolerance):
        self.wide = Region(text, tolerance)
        self.tolerance = tolerance
        if self.wide.sphere is not None:
            self.centre = self.wide.sphere[:3]
            return
        image = nib.load(path(text))
        drawn = np.asarray(image.dataobj) > 0
        self.centre = image.affine[:3, :3] @ np.argwhere(drawn).mean(0) + image.affine[:3, 3]
        self.mm = distance_transform_edt(~drawn, sampling=np.linalg.norm(image.affine[:3, :3], axis=0))

    def meets(self, line):
        return any(inside for _, _, inside in self.wide.stretches(line))

    def distance(self, line):
        """Returns the distance from the region as it is drawn: over the voxels of the pieces of the line."""
        if self.wide.sphere is not None:
            return max(0.0, self.from_centre(line) - (self.wide.sphere[3] - self.tolerance)) if self.tolerance else 0.0
        least = np.inf
        inverse = self.wide.inverse
        line = line.astype(float)
        pieces = [line[:1]]
        for a, b in zip(line, line[1:]):
            p, q = (x @ inverse[:3, :3].T + inverse[:3, 3] + 0.5 for x in (a, b))
            cuts = [0.0, 1.0]
            for axis in range(3):
                low, high = sorted((p[axis], q[axis]))
                if high > low:
                    cuts += list((np.arange(np.floor(low) + 1, np.ceil(high)) - p[axis]) / (q[axis] - p[axis]))
            cuts = np.sort(cuts)
            pieces.append(np.array([a + 0.5 * (s + u) * (b - a) for s, u in zip(cuts, cuts[1:]) if u > s]).reshape(-1, 3))
        points = np.concatenate(pieces[1:] if len(line) > 1 else pieces)
        v = np.floor(points @ inverse[:3, :3].T + inverse[:3, 3] + 0.5).astype(int)
        v = v[np.all((v >= 0) & (v < self.mm.shape), axis=1)]
        if len(v):
            least = self.mm[tuple(v.T)].min()
        return min(least, self.tolerance)

    def from_centre(self, line):
        line = line.astype(float)
        least = np.linalg.norm(line - self.centre, axis=1).min()
        for a, b in zip(line, line[1:]):
            square = (b - a) @ (b - a)
            if square > 0:
                share = np.clip((self.centre - a) @ (b - a) / square, 0, 1)
                least = min(least, np.linalg.norm(a + share * (b - a) - self.centre))
        return least


def judge(rule, line):
    """Returns (sum of distances, mean distance of centres) for the better sense that the rule allows; None: no sense fits."""
    include, any_of, start, end = rule
    if not all(region.meets(line) for region in include) or (any_of and not any(region.meets(line) for region in any_of)):
        return None
    ways = []
    for first, last in ((line[:1], line[-1:]), (line[-1:], line[:1])):
        pairs = [(region, at) for region, at in ((start, first), (end, last)) if region]
        if all(region.wide.has(at)[0] for region, at in pairs):
            ways.append(pairs)
    if not ways:
        return None
    # if both senses are allowed, the include regions decide: the line goes from the first to the last
    if len(ways) == 2 and len(include) >= 2:
        at = [min(mm for mm, _, inside in region.wide.stretches(line) if inside) for region in (include[0], include[-1])]
        if at[0] != at[1]:
            ways = [ways[0] if at[0] < at[1] else ways[1]]
    found = []
    for pairs in ways:
        nearest = min(any_of, key=lambda region: (region.distance(line), region.from_centre(line))) if any_of else None
        pairs = [(region, line) for region in [*include, *([nearest] if nearest else [])]] + pairs
        if not pairs:
            return (np.inf, np.inf)
        found.append((sum(region.distance(at) for region, at in pairs), np.mean([region.from_centre(at) for region, at in pairs])))
    sums, centres = min(found)
    return (round(sums * 1e4), round(centres * 1e4))


def draw_region(rng, name, shape, affine):
    """Returns a sphere, or an image of a box of voxels with holes."""
    low = rng.integers(0, np.array(shape) - 6)
    size = rng.integers(4, 14, 3)
    mask = np.zeros(shape, np.uint8)
    mask[tuple(slice(a, a + b) for a, b in zip(low, size))] = 1
    mask &= rng.random(shape) < 0.9
    if rng.random() < 0.25:
        centre = affine[:3, :3] @ (low + size / 2) + affine[:3, 3]
        return ",".join(f"{v:.3f}" for v in (*centre, rng.uniform(6, 14)))
    nib.save(nib.Nifti1Image(mask, affine), path(name))
    return name


def compare(number, lines, shape, affine):
    """Checks a random table. Returns how many streamlines fit several bundles, how many of them the first of these does not
    get, and how many went to another bundle than in the model."""
    rng = np.random.default_rng(number)
    rows, rules = ["bundle\tinclude\tinclude_any\tstart\tend\tinclude_tolerance\tend_tolerance"], []
    for b in range(int(rng.integers(3, 7))):
        near, at_end = (float(rng.choice([0, 0, 3.0, 5.5])) for _ in range(2))
        texts = [draw_region(rng, f"u{number}_{b}_{k}.nii", shape, affine) for k in range(6)]
        n, with_start, with_end = int(rng.integers(0, 3)), rng.random() < 0.5, rng.random() < 0.4
        of = texts[4 : 4 + int(rng.integers(0, 3))]
        rows.append("\t".join([f"B{b}", ";".join(texts[:n]), ";".join(of), texts[2] * with_start, texts[3] * with_end, f"{near:g}", f"{at_end:g}"]))
        rules.append(([Rule(text, near) for text in texts[:n]], [Rule(text, near) for text in of], with_start and Rule(texts[2], at_end), with_end and Rule(texts[3], at_end)))
    with open(path("unique.tsv"), "w") as file:
        file.write("\n".join(rows) + "\n")
    nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), path("reference.nii"))
    glslines("segment", "unique.tck", "unique.tsv", "-o", "unique.trx", "--keep-all", "--unique", "--reference", "reference.nii")
    groups = t.trxmap.load(path("unique.trx")).groups
    ours = np.full(len(lines), -1)
    for b in range(len(rules)):
        ids = np.asarray(groups.get(f"B{b}", []), int)
        if (ours[ids] >= 0).any():
            raise SystemExit("a streamline is in two bundles")
        ours[ids] = b
    several = later = wrong = 0
    for i, line in enumerate(lines):
        found = [(judge(rule, line), b) for b, rule in enumerate(rules)]
        found = [pair for pair in found if pair[0] is not None]
        several += len(found) > 1
        want = min(found)[1] if found else -1
        later += bool(found) and want != found[0][1]
        wrong += want != ours[i]
    return several, later, wrong


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    t.tool, t.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(t.work, exist_ok=True)
    tables = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    for name, (shape, affine) in t.grids().items():
        lines = t.random_lines(300, 1.5, 7)
        t.save_tck("unique.tck", lines)
        results = [compare(number, lines, shape, affine) for number in range(tables)]
        several, later, wrong = (sum(r[k] for r in results) for k in range(3))
        report(f"segment --unique, {name}", wrong == 0 and later > tables, f"{wrong} of {several} streamlines that several bundles want differ; {later} go to another one than the first")
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
