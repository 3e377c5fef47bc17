"""Compares tractograms of two programs: streamline by streamline from the same seeds, and as distributions if chance
decides."""
import numpy as np
import nibabel as nib

from checks import check, run


def image(path):
    return np.asarray(nib.load(path).dataobj, dtype=np.float32)


def lines_of(path):
    return [np.asarray(line, float) for line in nib.streamlines.load(path).streamlines]


def lengths_of(path):
    """Returns rounded lengths, so that streamlines that were cut at the same length are equal."""
    return np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines_of(path)]).round(1)


def by_seed(path):
    """Returns the streamlines by their seeds, which a table of --output-seeds has, with the number of the seed among the
    points."""
    rows = [line.replace(",", " ").split() for line in open(path + ".seeds") if line.strip() and not line.startswith("#")]
    return {tuple(np.round([float(x) for x in row[-3:]], 3)): line for row, line in zip(rows, lines_of(path))}


def compare(name, ours, theirs, points, near, limit):
    """Checks the share of streamlines that have the same number of points, and among those the share that lies within `near`
    mm: at least `points`, or two numbers."""
    points, closest = points if isinstance(points, tuple) else (points, points)
    both = [(ours[seed], theirs[seed]) for seed in theirs if seed in ours]
    missing = len(set(theirs) ^ set(ours))
    same = [(a, b) for a, b in both if len(a) == len(b)]
    # the two halves may come in either order
    apart = [min(np.abs(a - b).max(), np.abs(a - b[::-1]).max()) for a, b in same]
    share, close = len(same) / max(1, len(both)), float(np.mean(np.array(apart) <= near)) if apart else 0
    check(len(theirs) > 50 and missing <= limit * len(theirs), f"{name}: {len(theirs)} streamlines of the peer, {missing} of one side alone")
    check(share >= points and close >= closest,
          f"{name}: {share:.4f} have as many points, {close:.4f} of these lie within {near} mm; the largest distance of them {max(a for a in apart if a <= near):.2g} mm")


def density(path, template):
    run("tckmap", "-quiet", "-force", "-template", template, path, path + ".nii")
    return image(path + ".nii")


def correlation(a, b):
    either = (a > 0) | (b > 0)
    return np.corrcoef(a[either], b[either])[0, 1]


def compare_chance(name, peers, path, n, template, of_density=0.03):
    """Compares lengths and density of a run on n seeds with two runs of the peer. They may differ by as much as chance lets
    those differ. Streamlines that were cut at the largest length count as equally long, because the peer goes on for up to
    three steps."""
    from scipy import stats

    lengths = [lengths_of(p) for p in (*peers, path)]
    longest = 0.98 * min(x.max() for x in lengths)
    lengths = [np.minimum(x, longest) for x in lengths]
    kept = [len(x) for x in lengths]
    share = (kept[0] + kept[1]) / 2 / n
    bound = max(1, 3 * np.sqrt(2 * n * share * (1 - share)))
    check(abs(kept[2] - (kept[0] + kept[1]) / 2) <= bound, f"{name}: {kept[2]} of {n} kept, the peer's runs {kept[0]} and {kept[1]}, bound {bound:.0f}")
    limit = 1.63 * np.sqrt(2 / min(kept))
    ks = [stats.ks_2samp(lengths[2], x).statistic for x in lengths[:2]]
    check(max(ks) <= limit, f"{name}: KS of lengths {ks[0]:.4f} and {ks[1]:.4f}, the peer's runs {stats.ks_2samp(*lengths[:2]).statistic:.4f}, limit {limit:.4f}")
    mean = [x.mean() for x in lengths]
    error = 3 * np.hypot(lengths[0].std(), lengths[2].std()) / np.sqrt(min(kept))
    check(abs(mean[2] - (mean[0] + mean[1]) / 2) <= error, f"{name}: mean length {mean[2]:.2f}, the peer's {mean[0]:.2f} and {mean[1]:.2f} mm, bound {error:.2f}")
    maps = [density(p, template) for p in (*peers, path)]
    among, ours = correlation(*maps[:2]), [correlation(maps[2], m) for m in maps[:2]]
    check(min(ours) >= among - of_density, f"{name}: density correlates by {ours[0]:.3f} and {ours[1]:.3f}, the peer's runs by {among:.3f}")
