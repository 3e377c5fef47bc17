"""How a row of suites.py compares what both programs made. A comparison is a function of a Trial, and answers with a word and
a detail: agree, differ, or fail where the difference is larger than the row says.

Files are theirs.* and mine.*, in the folder of the row."""
import collections
import glob
import os
import re

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap
from scipy.stats import ks_2samp

Row = collections.namedtuple("Row", "of name peer ours how reason")


def group(of, peer, ours, cases):
    """Returns the rows of one command of the peer: for each its name, the text that both lines contain, how both are compared,
    and a reason."""
    return [Row(of, name, peer.format(theirs), ours.format(mine), how, reason[0] if reason else None) for name, theirs, mine, how, *reason in cases]


def found(stem):
    """Returns the file of this name, whatever its suffix."""
    names = sorted(name for name in glob.glob(stem + ".*") if not name.endswith((".json", "_nodes.tsv")))
    if not names:
        raise FileNotFoundError(f"there is no {stem}")
    return names[0]


def voxels(name):
    image = nib.as_closest_canonical(nib.load(name))
    return np.squeeze(np.asarray(image.dataobj, float)), image.affine


def numbers(name):
    """Returns the numbers of a text file, row by row; commas, tabs and blanks separate them."""
    with open(name) as file:
        lines = [re.split(r"[,\s]+", line.strip(" \t\n,")) for line in file if not line.startswith("#") and line.strip()]
    return [[float(word) for word in line] for line in lines]


def points(name):
    if name.endswith(".trx"):
        return [np.array(line) for line in trxmap.load(name).streamlines]
    return [np.asarray(line) for line in nib.streamlines.load(name).streamlines]


def verdict(off, bound, most, text):
    """Answers agree up to `bound`, else differ up to `most`, else fail."""
    word = "agree" if off <= bound else "differ" if off <= most else "fail"
    return word, text


def apart(a, b):
    """Returns the largest difference; it is not finite if NaN or infinity stand at different places."""
    if a.shape != b.shape:
        return np.inf
    ok = np.isfinite(b)
    if not np.array_equal(np.isfinite(a), ok) or not np.array_equal(a[~ok], b[~ok], equal_nan=True):
        return np.inf
    return np.abs(a - b)[ok].max(initial=0)


# --- files of both ---


def image(bound=0, most=np.inf, mine="mine", theirs="theirs", volumes=None, inside=None, zero=False, rare=0):
    """Compares values on the same grid, relative to the largest. volumes: of ours, in the order of theirs; inside: a mask;
    zero: all are 0; rare: number of voxels in which values may differ more."""

    def how(trial):
        (a, at), (b, bt) = (voxels(found(stem)) for stem in (mine, theirs))
        if volumes is not None:
            a = a[..., volumes]
        if inside:
            within = voxels(inside)[0] > 0
            a, b = a[within], b[within]
        if np.abs(at - bt).max() > 1e-4:
            return "fail", f"other grids: {at.tolist()} {bt.tolist()}"
        if a.shape != b.shape or (np.nanmax(np.abs(b)) > 0) == zero:
            return "fail", f"shapes {a.shape} {b.shape}, largest {np.nanmax(np.abs(b))}"
        if rare:
            at = np.argsort(-np.abs(a - b).reshape(len(a), -1).max(1))[:rare]
            a, b = np.delete(a, at, 0), np.delete(b, at, 0)
        off = apart(a, b) / (1 if zero else np.abs(b[np.isfinite(b)]).max())
        return verdict(off, bound, most, f"{off:.1e} of the largest value")

    return how


def lines(bound=0, most=np.inf, mine="mine", theirs="theirs", empty=False):
    """Streamlines, point by point."""

    def how(trial):
        a, b = (points(found(stem)) for stem in (mine, theirs))
        if not b and not empty:
            return "fail", "the peer's file is empty"
        if len(a) != len(b) or any(len(x) != len(y) for x, y in zip(a, b)):
            return verdict(np.inf, bound, most, f"{len(a)} and {len(b)} streamlines, {sum(map(len, a))} and {sum(map(len, b))} points")
        off = max((np.abs(x - y).max(initial=0) for x, y in zip(a, b)), default=0)
        return verdict(off, bound, most, f"{len(b)} streamlines, {off:.1e} mm apart")

    return how


def text(bound=0, most=np.inf, mine="mine", theirs="theirs", rare=0):
    """Compares numbers of text files, relative to the largest. rare: number of values that may differ more."""

    def how(trial):
        a, b = (numbers(found(stem)) for stem in (mine, theirs))
        a, b = (np.concatenate([np.ravel(row) for row in rows]) if rows else np.zeros(0) for rows in (a, b))
        if not len(b):
            return "fail", "the peer's file is empty"
        largest = np.abs(b[np.isfinite(b)]).max(initial=1e-30)
        if rare and a.shape == b.shape:
            apart_at = np.argsort(-np.abs(a - b))[:rare]
            a, b = np.delete(a, apart_at), np.delete(b, apart_at)
        off = apart(a, b) / largest
        return verdict(off, bound, most, f"{len(a)} and {len(b)} numbers, {off:.1e} apart")

    return how


def correlated(least, mine="mine", theirs="theirs"):
    """Compares numbers of which a few may differ: by their correlation, and by the median of their ratio."""

    def how(trial):
        a, b = (np.concatenate([np.ravel(row) for row in numbers(found(stem))]) for stem in (mine, theirs))
        if len(a) != len(b):
            return "fail", f"{len(a)} and {len(b)} numbers"
        r, size = np.corrcoef(a, b)[0, 1], np.median(a[b > 0] / b[b > 0])
        return "agree" if r >= least and abs(size - 1) < 1e-3 else "fail", f"r {r:.7f}, median ratio {size:.6f}"

    return how


def fixels(bound):
    """Compares the number and density of the fixels of each voxel, in fod2fixel's folder and ours, whose first axis may be
    reversed."""

    def how(trial):
        a, b = (nib.as_closest_canonical(nib.load(os.path.join(folder, "index.nii"))) for folder in ("mine", "theirs"))
        counts = [np.asarray(i.dataobj)[..., 0] for i in (a, b)]
        other = np.count_nonzero(counts[0] != counts[1])
        sums = []
        for folder in ("mine", "theirs"):
            data = nib.load(os.path.join(folder, "fd.nii"))
            sums.append(np.asarray(data.dataobj, float).sum())
        off = abs(sums[0] / sums[1] - 1)
        good = other <= counts[1].size / 4000 and off <= bound and counts[1].sum() > 100
        return "agree" if good else "fail", f"{counts[0].sum()} and {counts[1].sum()} fixels, {other} voxels differ; sum of densities {off:.1e} apart"

    return how


def directions(bound, mine="mine", theirs="theirs", inside=None):
    """Compares axes in each voxel: the 99th percentile of the degrees between them."""

    def how(trial):
        a, b = (voxels(found(stem))[0] for stem in (mine, theirs))
        within = voxels(inside)[0] > 0
        a, b = (v[within] / np.maximum(np.linalg.norm(v[within], axis=1, keepdims=True), 1e-9) for v in (a, b))
        off = np.quantile(np.degrees(np.arccos(np.minimum(1, np.abs((a * b).sum(1))))), 0.99)
        return "agree" if off <= bound and within.sum() > 100 else "fail", f"{within.sum()} voxels, {off:.2f} degrees at the 99th percentile"

    return how


def overlap(least, mine="mine", theirs="theirs"):
    """Compares masks: twice the number of voxels in both, divided by the sum of the numbers in each."""

    def how(trial):
        a, b = (voxels(found(stem))[0] > 0 for stem in (mine, theirs))
        dice = 2 * (a & b).sum() / (a.sum() + b.sum())
        return "agree" if dice >= least and b.any() else "fail", f"Dice {dice:.4f}"

    return how


# --- streamlines that chance makes ---


def density(sets, template="mask.nii"):
    grid = nib.load(template)
    inverse = np.linalg.inv(grid.affine)
    maps = []
    for these in sets:
        out = np.zeros(grid.shape[:3])
        for line in these:
            at = np.unique(np.rint(line @ inverse[:3, :3].T + inverse[:3, 3]).astype(int), axis=0)
            at = at[np.all((at >= 0) & (at < out.shape), axis=1)]
            out[tuple(at.T)] += 1
        maps.append(out.ravel())
    return maps


def chance(seeds=None, most=4.5):
    """Compares random streamlines. theirs and again are two runs of the peer, whose difference is chance. Ours may differ by
    4.5 standard deviations in the share of seeds that is kept, in mean length, and in a Kolmogorov-Smirnov test of lengths, and
    its map of density by little more than both runs. seeds: their number; None: the number of streamlines is fixed."""

    def how(trial):
        sets = [points(found(stem)) for stem in ("mine", "theirs", "again")]
        length = [np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in s]) for s in sets]
        if min(map(len, sets)) < 50:
            return "fail", f"{[len(s) for s in sets]} streamlines are too few"
        n = seeds or len(sets[1])

        def z(i, j):
            shares = [len(sets[k]) / n for k in (i, j)]
            share = np.clip(np.mean(shares), 1 / n, 1 - 1 / n)
            kept = (shares[0] - shares[1]) / np.sqrt(2 * share * (1 - share) / n)
            spread = np.sqrt(sum(length[k].var() / len(length[k]) for k in (i, j)) + 1e-12)
            return abs(kept), abs(length[i].mean() - length[j].mean()) / (spread + 1e-3), ks_2samp(length[i].round(2), length[j].round(2)).pvalue

        maps = density(sets)
        r, r0 = np.corrcoef(maps[0], maps[1])[0, 1], np.corrcoef(maps[1], maps[2])[0, 1]
        (kept, mean, p), (kept0, mean0, p0) = z(0, 1), z(2, 1)
        if seeds is None and len(sets[0]) != len(sets[1]):
            return "fail", f"{len(sets[0])} and {len(sets[1])} streamlines"
        good = kept < most and mean < most and p > 1e-5 and 1 - r < 1.5 * (1 - r0) + 0.01
        return "agree" if good else "differ", (f"{len(sets[0])} and {len(sets[1])} streamlines, {kept:.1f} sd (chance {kept0:.1f}); mean {length[0].mean():.2f} and {length[1].mean():.2f} mm, "
                                               f"{mean:.1f} sd ({mean0:.1f}); p of lengths {p:.1e} ({p0:.1e}); density {r:.4f} ({r0:.4f})")

    return how


# --- what is refused ---


def both_refuse(*words, code=(2, 3, 4, 7), left=None):
    """Checks that both programs refuse, ours with these words. left: the file whose copy was there before, and must still be
    there."""

    def how(trial):
        said = trial.ours.err.lower()
        good = trial.peer.code != 0 and trial.ours.code in code and all(word.lower() in said for word in words)
        made = glob.glob("mine*")
        good &= len(made) == 1 and open(made[0], "rb").read() == open(left, "rb").read() if left else not made
        return "agree" if good else "fail", f"exit codes {trial.ours.code} and {trial.peer.code}: {trial.ours.err.strip()} {made or ''}"

    how.refuses = True
    return how


def we_refuse(*words, code=(2, 3, 7)):
    """Checks that the peer accepts, and that ours refuses with these words."""

    def how(trial):
        good = trial.peer.code == 0 and trial.ours.code in code and all(word.lower() in trial.ours.err.lower() for word in words)
        return "differ" if good and not glob.glob("mine*") else "fail", f"exit codes {trial.ours.code} and {trial.peer.code}: {trial.ours.err.strip()}"

    how.refuses = True
    return how


def they_refuse(check):
    """Checks that the peer refuses, and that ours works as `check` says."""

    def how(trial):
        word, detail = check(trial)
        good = trial.peer.code != 0 and trial.ours.code == 0 and word == "agree"
        return "differ" if good else "fail", f"exit codes {trial.ours.code} and {trial.peer.code}, {detail}"

    how.refuses = True
    return how


def said(pattern, theirs=None, bound=0):
    """Compares a number that ours prints with one that the peer prints."""

    def how(trial):
        a, b = (re.search(p, result.out + result.err, re.S) for p, result in ((pattern, trial.ours), (theirs or pattern, trial.peer)))
        if not a or not b:
            return "fail", f"{trial.ours.out}{trial.ours.err} / {trial.peer.out}{trial.peer.err}"
        a, b = ([float(word) for word in match.groups()] for match in (a, b))
        off = max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))
        return "agree" if off <= bound else "differ", f"{a} and {b}"

    return how


def held(*checks):
    """Makes several comparisons of one row."""

    def how(trial):
        results = [check(trial) for check in checks]
        word = next((w for w in ("fail", "differ") if any(r[0] == w for r in results)), "agree")
        return word, "; ".join(r[1] for r in results)

    return how
