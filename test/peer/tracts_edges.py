#!/usr/bin/env python3
"""Compares glslines edges with connectome2tck of MRtrix3, and connectomes of probabilistic parcellations with numpy.

usage: tracts_edges.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import glob
import os
import sys

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap

import tracts
from checks import outcome, report
from tracts import glslines, grids, load, path, random_lines, run, save_tck

#: options of connectome2tck, and ours
CHOICES = (([], []), (["-keep_self"], ["--keep-self"]), (["-keep_unassigned"], ["--keep-unassigned"]),
           (["-nodes", "2,3,7"], ["--nodes", "2-3,7"]), (["-nodes", "2,3,7", "-exclusive"], ["--nodes", "2,3,7", "--exclusive"]),
           (["-nodes", "2,3,7", "-exclusive", "-keep_self"], ["--nodes", "2,3,7", "--exclusive", "--keep-self"]),
           (["-nodes", "0", "-keep_self"], ["--nodes", "0", "--keep-self"]))


def files(prefix):
    """Returns the streamlines and weights of each file that has any, by the labels in its name."""
    found = {}
    for name in sorted(glob.glob(path(f"{prefix}*.tck"))):
        lines = load(os.path.basename(name))
        weights = [f for f in (name[:-4] + "_weights.txt", name[:-4] + ".csv") if os.path.exists(f)]
        if lines:
            found[os.path.basename(name)[len(prefix):-4]] = lines, np.loadtxt(weights[0]).ravel() if weights else None
        os.remove(name)
        for other in weights:
            os.remove(other)
    return found


def largest(mine, theirs):
    """Returns the largest difference of coordinates or weights of two results of files(); infinity if files or numbers of
    points differ."""
    worst = 0.0 if set(mine) == set(theirs) and theirs else np.inf
    for name in set(mine) & set(theirs):
        (a, v), (b, w) = mine[name], theirs[name]
        if len(a) != len(b) or any(len(p) != len(q) for p, q in zip(a, b)):
            return np.inf
        worst = max([worst] + [float(np.abs(p - q).max()) for p, q in zip(a, b)])
        worst = max(worst, float(np.abs(v - w).max()) if v is not None and w is not None else np.inf if (v is None) != (w is None) else 0)
    return worst


def check_files(assignments, choices=CHOICES, kinds=("per_edge", "per_node", "single")):
    for theirs, mine in choices:
        for kind in kinds:
            if "0" in theirs and kind == "per_edge":
                continue  # connectome2tck names edges with 0 by -keep_unassigned alone
            for old in glob.glob(path("peer*")) + glob.glob(path("own*")):
                os.remove(old)
            run("connectome2tck", "lines.tck", assignments, "peer", "-files", kind, *theirs, "-tck_weights_in", "weights.txt", "-prefix_tck_weights_out", "peer", "-force", "-quiet")
            glslines("edges", "lines.tck", assignments, "own.tck", "--files", kind, *mine, "--weights", "weights.txt")
            a, b = files("own"), files("peer")
            # the peer writes an edge of two labels under both names, or with -nodes under one of them
            b = {"-".join(sorted(name.split("-"), key=int)) if "-" in name else name: value for name, value in b.items()}
            worst = largest(a, b)
            total = sum(len(lines) for lines, _ in b.values())
            report(f"edges: {assignments} {kind} {' '.join(mine)}", worst < 1e-6, f"{len(b)} files, {total} streamlines: {worst:.1e}")


def check_exemplars():
    for words, ours in ((["-tck_weights_in", "weights.txt"], ["--weights", "weights.txt"]), ([], []), (["-nodes", "2,3", "-exclusive"], ["--nodes", "2,3", "--exclusive"])):
        for name in ("lines", "header"):
            run("connectome2tck", f"{name}.tck", "pairs.txt", "theirs.tck", "-files", "single", "-exemplars", "labels.nii.gz", *words, "-force", "-quiet")
            glslines("edges", f"{name}.tck", "pairs.txt", "mine.tck", "--files", "single", "--exemplars", "labels.nii.gz", *ours)
            # the peer has an empty streamline for each region with itself
            a, b = load("mine.tck"), [line for line in load("theirs.tck") if len(line) > 0]
            same = len(a) == len(b) > 0 and all(len(p) == len(q) for p, q in zip(a, b))
            worst = max(float(np.abs(p - q).max()) for p, q in zip(a, b)) if same else np.inf
            away = max(float(np.abs(p[::-1] - q).max()) for p, q in zip(a, b)) if same else 0
            # six halvings find a point: where rounding decides one otherwise, it lies 1/64 of a segment off
            report(f"edges: --exemplars of {name}.tck {' '.join(ours)}", worst < 1e-2 < away, f"{len(b)} lines, {sum(len(q) > 2 for q in b)} of streamlines: {worst:.1e} mm; turned round {away:.1f} mm")


def check_groups():
    glslines("edges", "lines.tck", "pairs.txt", "own.tck", "--files", "per_edge")
    own = files("own")
    glslines("edges", "lines.tck", "labels.nii.gz", "mine.trx", "--reference", "labels.nii.gz")
    tractogram = trxmap.load(path("mine.trx"))
    groups = {name: [np.asarray(tractogram.streamlines[i]) for i in members] for name, members in tractogram.groups.items()}
    same = set(groups) == set(own) and all(len(groups[n]) == len(own[n][0]) and all(np.array_equal(p, q) for p, q in zip(groups[n], own[n][0])) for n in own)
    report("edges: groups of labels against files of assignments", same, f"{len(groups)} groups")
    glslines("edges", "lines.tck", "pairs.txt", "means.trx", "--exemplars", "labels.nii.gz", "--reference", "labels.nii.gz")
    means = trxmap.load(path("means.trx"))
    named = [f"{a}-{b}" for a, b in np.asarray(means.data_per_streamline["edge"])]
    counts = dict(zip(named, np.asarray(means.data_per_streamline["count"]).ravel()))
    wanted = {name: len(lines) for name, (lines, _) in own.items()}
    report("edges: counts of exemplars against files", {n: int(c) for n, c in counts.items() if c} == wanted and len(counts) == 12 * 11 // 2, f"{len(counts)} exemplars")


def corners(image, world):
    """Returns the trilinear value of each volume at points in world mm; voxels outside the image are 0."""
    data, affine = np.asarray(image.dataobj, np.float64), image.affine
    v = nib.affines.apply_affine(np.linalg.inv(affine), world)
    low = np.floor(v).astype(int)
    out = np.zeros((len(world), data.shape[3]))
    for corner in np.ndindex(2, 2, 2):
        at = low + corner
        inside = np.all((at >= 0) & (at < data.shape[:3]), axis=1)
        weight = np.prod(np.where(corner, v - low, 1 - (v - low)), axis=1)
        out[inside] += weight[inside, None] * data[tuple(at[inside].T)]
    return out


def shares(image, world, radius):
    """Returns the probabilities of regions at points, by the definition; behind them what is left to 1."""
    data = np.asarray(image.dataobj, np.float64)
    p = corners(image, world)
    sums = data.sum(3)
    candidates = np.argwhere(sums >= 0.01)
    centres = nib.affines.apply_affine(image.affine, candidates)
    for i in np.flatnonzero(p.sum(1) < 0.01) if radius else ():
        away = np.linalg.norm(centres - world[i], axis=1)
        if away.min() < radius:
            p[i] = data[tuple(candidates[away.argmin()])]
    p /= np.maximum(p.sum(1, keepdims=True), 1)
    return np.concatenate([1 - p.sum(1, keepdims=True), p], axis=1)


def soft_matrix(image, lines, weights, radius):
    a, b = (shares(image, np.array([line[k] for line in lines], np.float64), radius) for k in (0, -1))
    full = (a * weights[:, None]).T @ b
    return np.triu(full + full.T - np.diag(np.diag(full)))


def check_soft(lines, weights):
    """Probabilities of regions, some with sums above 1, on an oblique grid; and images of 0 and 1."""
    shape, affine = grids()["oblique"]
    rng = np.random.default_rng(4)
    at = nib.affines.apply_affine(affine, np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1))
    centres = nib.affines.apply_affine(affine, rng.uniform(0.15, 0.85, (9, 3)) * shape)
    p = np.stack([np.exp(-((np.linalg.norm(at - centre, axis=-1) / rng.uniform(4, 9)) ** 2)) for centre in centres], -1)
    p[p < 0.05] = 0
    soft = nib.Nifti1Image(p.astype(np.float32), affine)
    nib.save(soft, path("soft.nii.gz"))
    for words, radius in ((["--assign", "end"], 0), ([], 4), (["--radius", "9"], 9)):
        glslines("connectome", "lines.tck", "soft.nii.gz", "soft.csv", "--labels", "soft", "--keep-unassigned", "--weights", "weights.txt", *words)
        mine, expected = np.loadtxt(path("soft.csv"), delimiter=","), soft_matrix(soft, lines, weights, radius)
        turned = soft_matrix(nib.Nifti1Image(p[..., ::-1], affine), lines, weights, radius)
        worst = np.abs(mine - expected).max() / expected.max()
        report(f"connectome: --labels soft {' '.join(words)} against numpy", worst < 1e-6, f"{worst:.1e} of the largest value, of regions in another order {np.abs(turned - expected).max() / expected.max():.1g}; sum {mine.sum():.3f} of {weights.sum():.3f}")
    glslines("connectome", "lines.tck", "soft.nii.gz", "max.csv", "--labels", "max")
    largest = np.where(p.max(3) > 0, p.argmax(3) + 1, 0).astype(np.int16)
    assert largest.max() == 9
    nib.save(nib.Nifti1Image(largest, affine), path("largest.nii.gz"))
    run("tck2connectome", "lines.tck", "largest.nii.gz", "peer.csv", "-force", "-quiet")
    same = np.array_equal(np.loadtxt(path("max.csv"), delimiter=","), np.loadtxt(path("peer.csv"), delimiter=","))
    report("connectome: --labels max against tck2connectome of the largest", same, f"sum {np.loadtxt(path('max.csv'), delimiter=',').sum():.0f}")
    # ends at centres of voxels, and one volume of 0 and 1 for each label
    labels = nib.load(path("labels.nii.gz"))
    data = np.asarray(labels.dataobj)
    nib.save(nib.Nifti1Image(np.stack([data == k for k in range(1, 13)], -1).astype(np.uint8), labels.affine), path("onehot.nii.gz"))
    centred = []
    for line in lines:
        line = line.copy()
        line[[0, -1]] = np.round((line[[0, -1]] + 126) / 4) * 4 - 126
        centred.append(line)
    save_tck("centred.tck", centred)
    for mine, theirs, words in (("--labels soft --assign end", "-assignment_end_voxels", []), ("--labels soft", "-assignment_radial_search", ["4"]), ("--labels max", "-assignment_radial_search", ["4"]), ("--labels max --assign reverse", "-assignment_reverse_search", ["0"])):
        glslines("connectome", "centred.tck", "onehot.nii.gz", "one.csv", *mine.split())
        run("tck2connectome", "centred.tck", "labels.nii.gz", "peer.csv", theirs, *words, "-force", "-quiet")
        a, b = (np.loadtxt(path(name), delimiter=",") for name in ("one.csv", "peer.csv"))
        worst = np.abs(a - b).max() if a.shape == b.shape else np.inf
        report(f"connectome: volumes of 0 and 1, {mine}, against tck2connectome {theirs}", worst < 1e-4 and b.sum() > 100, f"{worst:.1e}, sum {b.sum():.0f}")
    halves = np.zeros((3, 3, 3, 2), np.float32)
    halves[..., 0] = halves[..., 1] = 0.5
    nib.save(nib.Nifti1Image(halves, np.eye(4)), path("halves.nii.gz"))
    save_tck("one.tck", [np.array([[0.5, 1, 1], [1.2, 1, 1]], np.float32)])
    glslines("connectome", "one.tck", "halves.nii.gz", "halves.csv", "--labels", "soft", "--assign", "end")
    quarters = np.loadtxt(path("halves.csv"), delimiter=",")
    report("connectome: two halves at both ends", np.allclose(quarters, [[0.25, 0.5], [0, 0.25]], atol=1e-6), f"{quarters.tolist()}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tracts.tool, tracts.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(tracts.work, exist_ok=True)
    lines = [line for line in random_lines(1500, 1.0, 5) if len(line) > 3]
    save_tck("lines.tck", lines)
    save_tck("header.tck", lines, step_size=1.5, max_dist=120)
    weights = np.round(np.random.default_rng(12).random(len(lines)), 4)
    np.savetxt(path("weights.txt"), weights, "%.6g")
    affine = np.diag([4.0, 4, 4, 1])
    affine[:3, 3] = -126
    at = np.stack(np.meshgrid(*[np.arange(64)] * 3, indexing="ij"), -1) * 4.0 - 126
    labels = np.zeros((64, 64, 64), np.int16)
    for label in range(1, 13):
        labels[np.linalg.norm(at - np.random.default_rng(label).uniform(-40, 40, 3), axis=-1) < 18] = label
    nib.save(nib.Nifti1Image(labels, affine), path("labels.nii.gz"))
    run("tck2connectome", "lines.tck", "labels.nii.gz", "matrix.csv", "-out_assignments", "pairs.txt", "-force", "-quiet")
    run("tck2connectome", "lines.tck", "labels.nii.gz", "matrix.csv", "-assignment_all_voxels", "-out_assignments", "lists.txt", "-force", "-quiet")
    check_files("pairs.txt")
    # lists of labels: the peer's other rules for them make no sense to us, see the help
    check_files("lists.txt", [CHOICES[0], CHOICES[2]], ["per_edge"])
    check_groups()
    check_exemplars()
    check_soft(lines, weights)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
