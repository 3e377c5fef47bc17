"""Compares tractograms: counts, lengths, density maps, and streamline by streamline.

    compare_tractograms.py A B [--mask IMAGE] [--pairs] [--tolerance VOXELS] [--limits]

A and B are TRX, TRK or TCK files. --limits exits with 1 where the bounds for two runs of one method are not met.
--pairs also compares line with line, paired by seed and order, for two runs that drew the same random numbers."""

import argparse
import sys
from dataclasses import dataclass

import nibabel as nib
import numpy as np

# Bounds within which two samples of 10,000 seeds count as drawn by the same method.
COUNT_BOUND = 0.02
LENGTH_BOUND = 0.03
KS_BOUND = 0.04
DENSITY_BOUND = 0.98


@dataclass
class Tractogram:
    """Streamlines in world mm; line i is points[offsets[i]:offsets[i + 1]]."""

    points: np.ndarray
    offsets: np.ndarray
    seed_index: np.ndarray | None = None
    seeds: np.ndarray | None = None

    def __len__(self):
        return len(self.offsets) - 1

    def line(self, i):
        return self.points[self.offsets[i] : self.offsets[i + 1]]

    def counts(self):
        return np.diff(self.offsets)

    def lengths(self):
        """Returns the arc length of each line, mm."""
        if len(self.points) == 0:
            return np.zeros(len(self))
        step = np.zeros(len(self.points))
        step[1:] = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        inner = self.offsets[:-1][self.offsets[:-1] < len(self.points)]
        step[inner] = 0
        total = np.concatenate([[0.0], np.cumsum(step)])
        return total[self.offsets[1:]] - total[self.offsets[:-1]]

    def select(self, keep):
        chosen = np.flatnonzero(keep)
        lines = [self.line(i) for i in chosen]
        result = from_lines(lines)
        if self.seed_index is not None:
            result.seed_index = self.seed_index[chosen]
        if self.seeds is not None:
            result.seeds = self.seeds[chosen]
        return result


def from_lines(lines):
    counts = np.array([len(line) for line in lines], dtype=np.int64)
    points = np.concatenate(lines).astype(float) if len(lines) else np.zeros((0, 3))
    return Tractogram(points, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


def load(path):
    """Reads a TRX, TRK or TCK file."""
    if str(path).lower().endswith(".trx"):
        from trx.trx_file_memmap import load as load_trx

        trx = load_trx(str(path))
        try:
            n = len(trx.streamlines)
            points = np.array(trx.streamlines._data, dtype=float).reshape(-1, 3)
            start = np.array(trx.streamlines._offsets, dtype=np.int64)[:n]
            result = Tractogram(points, np.append(start, len(points)).astype(np.int64))
            dps = trx.data_per_streamline
            if "seed_index" in dps:
                result.seed_index = np.array(dps["seed_index"]).reshape(-1).astype(np.int64)
            if "seeds" in dps:
                result.seeds = np.array(dps["seeds"], dtype=float).reshape(-1, 3)
            return result
        finally:
            trx.close()
    tractogram = nib.streamlines.load(str(path)).tractogram
    result = from_lines(list(tractogram.streamlines))
    if "seed_index" in tractogram.data_per_streamline:
        result.seed_index = np.array(tractogram.data_per_streamline["seed_index"]).reshape(-1).astype(np.int64)
    return result


def kolmogorov_smirnov(a, b):
    """Returns the largest distance between two empirical distributions."""
    if len(a) == 0 or len(b) == 0:
        return 1.0
    a, b = np.sort(a), np.sort(b)
    at = np.concatenate([a, b])
    return float(np.abs(np.searchsorted(a, at, "right") / len(a) - np.searchsorted(b, at, "right") / len(b)).max())


def density(tractogram, affine, shape):
    """Counts the streamlines that visit each voxel."""
    voxel = np.rint(nib.affines.apply_affine(np.linalg.inv(affine), tractogram.points)).astype(np.int64)
    inside = np.all((voxel >= 0) & (voxel < np.array(shape)), axis=1)
    line = np.repeat(np.arange(len(tractogram)), tractogram.counts())
    flat = np.ravel_multi_index(voxel[inside].T, shape)
    visit = np.unique(line[inside] * np.int64(np.prod(shape)) + flat) % np.prod(shape)
    return np.bincount(visit, minlength=int(np.prod(shape))).reshape(shape)


def density_correlation(a, b, affine, mask):
    """Returns the Pearson correlation of the density maps over the voxels of a mask."""
    x, y = (density(t, affine, mask.shape)[mask] for t in (a, b))
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def compare(a, b, affine=None, mask=None):
    """Returns rows (name, value of a, value of b, difference, bound or None, whether it holds). mask: voxels in which density
    maps are compared."""
    la, lb = a.lengths(), b.lengths()

    def relative(x, y):
        return abs(x - y) / max(abs(x), 1e-30)

    rows = [("streamlines", len(a), len(b), relative(len(a), len(b)), COUNT_BOUND)]
    for name, f in (("mean length (mm)", np.mean), ("median length (mm)", np.median)):
        x, y = (float(f(v)) if len(v) else 0.0 for v in (la, lb))
        rows.append((name, x, y, relative(x, y), LENGTH_BOUND))
    rows.append(("longest (mm)", max(la, default=0.0), max(lb, default=0.0), None, None))
    rows.append(("mean points", a.counts().mean() if len(a) else 0.0, b.counts().mean() if len(b) else 0.0, None, None))
    table = [row + (row[4] is None or row[3] <= row[4],) for row in rows]
    # equal steps make lengths discrete; without rounding, float32 coordinates would make equal lengths differ
    ks = kolmogorov_smirnov(np.round(la, 2), np.round(lb, 2))
    table.append(("length distributions, KS", None, None, ks, KS_BOUND, ks < KS_BOUND))
    if affine is not None:
        r = density_correlation(a, b, affine, mask)
        table.append(("density maps, correlation", None, None, r, DENSITY_BOUND, r > DENSITY_BOUND))
    return table


def print_table(table, names=("A", "B"), stream=sys.stdout):
    def number(x):
        if x is None:
            return ""
        return f"{x:d}" if isinstance(x, (int, np.integer)) else f"{x:.3f}"

    print(f"{'':28}{names[0]:>12}{names[1]:>12}{'difference':>12}{'bound':>10}", file=stream)
    for name, x, y, d, bound, holds in table:
        if d is None:
            shown = limit = ""
        elif name.startswith("density"):
            shown, limit = f"r {d:.4f}", f"> {bound:g}"
        elif name.startswith("length dist"):
            shown, limit = f"{d:.4f}", f"< {bound:g}"
        else:
            shown, limit = f"{100 * d:.2f} %", f"{100 * bound:g} %"
        print(f"{name:28}{number(x):>12}{number(y):>12}{shown:>12}{limit:>10}{'' if holds else '  FAILED'}", file=stream)


def pair(a, b):
    """Returns index pairs of lines that have the same seed and the same place among the lines of that seed."""
    if a.seed_index is None or b.seed_index is None:
        n = min(len(a), len(b))
        return np.stack([np.arange(n), np.arange(n)], axis=1)

    def keys(t):
        first = np.concatenate([[True], np.diff(t.seed_index) != 0])
        start = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
        return {(s, k): i for i, (s, k) in enumerate(zip(t.seed_index, np.arange(len(first)) - start))}

    kb = keys(b)
    return np.array([(i, kb[k]) for k, i in keys(a).items() if k in kb], dtype=np.int64).reshape(-1, 2)


def agreement(x, y, seed, tolerance):
    """Returns whether two lines agree, and the number of points, counted outwards from the seed, that agree in each half."""
    jx, jy = (int(np.linalg.norm(line - seed, axis=1).argmin()) for line in (x, y))
    halves = []
    for hx, hy in ((x[jx:], y[jy:]), (x[: jx + 1][::-1], y[: jy + 1][::-1])):
        n = min(len(hx), len(hy))
        far = np.linalg.norm(hx[:n] - hy[:n], axis=1) > tolerance
        halves.append((int(far.argmax()) if far.any() else n, len(hx) == len(hy) and not far.any()))
    return all(same for _, same in halves), [n for n, _ in halves]


def compare_pairs(a, b, tolerance):
    """Returns statistics of paired lines. tolerance: mm."""
    pairs = pair(a, b)
    same = 0
    worst = 0.0
    agreed = []
    for i, j in pairs:
        x, y = a.line(i), b.line(j)
        seed = a.seeds[i] if a.seeds is not None else x[0]
        equal, n = agreement(x, y, seed, tolerance)
        same += equal
        if equal:
            worst = max(worst, float(np.linalg.norm(x - y, axis=1).max()))
        else:
            agreed.append(sum(n) / max(len(x), 1))
    total = max(len(a), len(b), 1)
    return {
        "lines": total,
        "paired": len(pairs),
        "identical": same,
        "identical_share": same / total,
        "largest_difference_mm": worst,
        "mean_common_share_of_parted": float(np.mean(agreed)) if agreed else 0.0,
    }


def print_pairs(r, names):
    print(f"{names[0]} and {names[1]}: {r['lines']} streamlines, {r['paired']} paired by seed")
    print(f"  identical            {r['identical']:8d}  {100 * r['identical_share']:.2f} % (largest difference {r['largest_difference_mm']:.2e} mm)")
    parted = r["paired"] - r["identical"]
    print(f"  part at another peak {parted:8d}  after {100 * r['mean_common_share_of_parted']:.0f} % of their points on average")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--mask", help="image in whose voxels > 0 the density maps are compared")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--tolerance", type=float, default=0.01, help="voxels within which points count as equal (default %(default)s)")
    parser.add_argument("--min-identical", type=float, help="fail below this share of identical lines")
    parser.add_argument("--limits", action="store_true")
    args = parser.parse_args()
    a, b = load(args.a), load(args.b)
    affine = mask = None
    voxel = 1.0
    if args.mask:
        image = nib.load(args.mask)
        affine, mask = image.affine, np.asarray(image.dataobj) > 0
        voxel = float(nib.affines.voxel_sizes(affine).min())
    table = compare(a, b, affine, mask)
    print_table(table)
    bad = args.limits and not all(row[-1] for row in table)
    if args.pairs:
        result = compare_pairs(a, b, args.tolerance * voxel)
        print_pairs(result, ("A", "B"))
        bad |= args.min_identical is not None and result["identical_share"] < args.min_identical
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
