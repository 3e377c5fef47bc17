#!/usr/bin/env python3
"""Compares clusters with DIPY's: members and centroids to the bit, of the classes of glslines.dipy and of the command.

usage: clusters.py GLSLINES LIBRARY WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np
from checks import outcome, report, run
from dipy.segment import clustering as peer
from dipy.segment.featurespeed import ResampleFeature
from dipy.segment.metricspeed import AveragePointwiseEuclideanMetric
from dipy.tracking.streamline import Streamlines

TOOL, LIBRARY, WORK = (os.path.abspath(word) for word in sys.argv[1:4])
os.environ["GLSLINES_LIBRARY"] = LIBRARY
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "python"))
import glslines.dipy as own  # noqa: E402

LEVELS = [40, 30, 20, 10]


def path(name):
    return os.path.join(WORK, name)


def phantom():
    """Returns streamlines of the phantom, enlarged to the size of a brain."""
    run(TOOL, "phantom", path("phantom"), "--shape", "30", "36", "30", "--force", "-q")
    data = [path(os.path.join("phantom", name)) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec")]
    run(TOOL, "track", *data, path("phantom/mask.nii.gz"), path("phantom/roi.nii.gz"), "--dg", "prob", "--nseeds", "1500",
        "--device", "cpu", "--force", "-q", "-o", path("phantom.tck"))
    return [np.array(line * 1.75, np.float32) for line in nib.streamlines.load(path("phantom.tck")).streamlines]


def curves(n):
    """Returns streamlines along 40 curves in both senses, with few and many points."""
    rng = np.random.default_rng(1)
    at = np.linspace(0, 1, 80)[:, None]
    core = [rng.normal(0, 35, 3) + rng.normal(0, 40, 3) * at + rng.normal(0, 20, 3) * np.sin(np.pi * at) for _ in range(40)]
    lines = []
    for _ in range(n):
        here, points = core[rng.integers(40)], rng.integers(3, 80)
        where = np.linspace(rng.uniform(0, 0.1), rng.uniform(0.85, 1), points) * 79
        line = np.array([np.interp(where, np.arange(80), here[:, k]) for k in range(3)]).T
        line += rng.normal(0, 4, 3) + np.cumsum(rng.normal(0, 0.3, (points, 3)), axis=0)
        lines.append((line[::-1] if rng.random() < 0.5 else line).astype(np.float32))
    return lines


def alike(mine, theirs):
    """Whether two lists of clusters have the same members in the same order, and the same centroids to the bit."""
    return len(mine) == len(theirs) and all(
        a.id == b.id and list(a.indices) == list(b.indices) and a.centroid.tobytes() == b.centroid.tobytes() for a, b in zip(mine, theirs))


def check_classes(name, lines):
    rng = np.random.default_rng(2)
    order = rng.permutation(len(lines))[: len(lines) * 3 // 4].tolist()
    nine = AveragePointwiseEuclideanMetric(ResampleFeature(nb_points=9))
    cases = [("5 mm", 5.0, {}, None), ("10 mm", 10.0, {}, None), ("20 mm", 20.0, {}, None), ("an order", 10.0, {}, order),
             ("9 points", 10.0, {"metric": nine}, None), ("30 clusters at most", 8.0, {"max_nb_clusters": 30}, None)]
    for text, threshold, options, ordering in cases:
        mine = own.QuickBundles(threshold, **options).cluster(lines, ordering=ordering)
        theirs = peer.QuickBundles(threshold, **options).cluster(lines, ordering=ordering)
        same = alike(mine.clusters, theirs.clusters) and vars(mine[0]).keys() == vars(theirs[0]).keys() and np.array_equal(mine[0][0], theirs[0][0])
        report(f"{name}: QuickBundles, {text}", same, f"{len(theirs)} clusters")
    for ordering in (None, order):
        mine = own.QuickBundlesX(LEVELS).cluster(lines, ordering=ordering)
        theirs = peer.QuickBundlesX(LEVELS).cluster(lines, ordering=ordering)
        for level in range(1, len(LEVELS) + 1):
            a, b = mine.get_clusters(level), theirs.get_clusters(level)
            report(f"{name}: QuickBundlesX, level {level}", alike(a.clusters, b.clusters) and [c.threshold for c in a] == [c.threshold for c in b]
                   and vars(a[0]).keys() == vars(b[0]).keys(),
                   f"{len(b)} clusters")
    for levels in (LEVELS, [45, 35, 25, 12]):
        for some in (None, len(lines) // 2):
            a, b = (module.qbx_and_merge(Streamlines(lines), levels, select_randomly=some, rng=np.random.default_rng(5)) for module in (own, peer))
            report(f"{name}: qbx_and_merge {levels}, {some or 'all'}", alike(a.clusters, b.clusters), f"{len(b)} clusters")


def check_command(lines):
    tractogram = nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))
    nib.streamlines.save(tractogram, path("lines.tck"))
    run(TOOL, "cluster", path("lines.tck"), "--threshold", "10", "-o", path("clusters.tck"), "--centroids", path("centroids.tck"), "--force", "-q")
    theirs = peer.QuickBundles(10.0).cluster(lines)
    table = np.genfromtxt(path("clusters_dps.tsv"), names=True)
    expected = np.zeros(len(lines))
    for k, cluster in enumerate(theirs):
        expected[cluster.indices] = k
    report("cluster: the column", np.array_equal(table["cluster"], expected))
    centroids = nib.streamlines.load(path("centroids.tck")).streamlines
    report("cluster: the centroids", len(centroids) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(centroids, theirs.centroids)))
    from dipy.tracking.distances import bundles_distances_mdf
    from dipy.tracking.streamline import set_number_of_points

    some = range(0, len(lines), 29)
    mdf = [bundles_distances_mdf([set_number_of_points(lines[i], nb_points=12)], [theirs[int(expected[i])].centroid])[0, 0] for i in some]
    report("cluster: the distances", np.allclose(table["cluster_distance"][list(some)], mdf, atol=2e-5))
    order = np.random.default_rng(3).permutation(len(lines))
    np.savetxt(path("order.txt"), order, fmt="%d")
    run(TOOL, "cluster", path("lines.tck"), "--threshold", "10", "--order", path("order.txt"), "-o", path("ordered.tck"), "--force", "-q")
    expected = np.zeros(len(lines))
    for k, cluster in enumerate(peer.QuickBundles(10.0).cluster(lines, ordering=order.tolist())):
        expected[cluster.indices] = k
    report("cluster: an order from a file", np.array_equal(np.genfromtxt(path("ordered_dps.tsv"), names=True)["cluster"], expected))


def depth_scores(lines):
    """Computes scilpy's score of outliers from its description, by DIPY's QuickBundles and numpy's random numbers."""
    every = np.concatenate(lines)
    first, levels = np.min(every.max(0) - every.min(0)) / 2, []
    while first / 1.2 ** len(levels) >= 0.5:
        levels.append(first / 1.2 ** len(levels))
    rng, order, depth = np.random.RandomState(1234), np.arange(len(lines)), np.zeros((29, len(lines)))
    for run_depth in depth:
        rng.shuffle(order)
        todo = [order.tolist()]
        for threshold in levels:
            clusters = [list(c.indices) for part in todo for c in peer.QuickBundles(threshold).cluster(lines, ordering=part)]
            for members in clusters:
                run_depth[members] += 1
            todo = [members for members in clusters if len(members) > 10]
    return depth.mean(0) / depth.max()


def check_clean(lines):
    """Compares scores of outliers of one bundle with stray streamlines."""
    from dipy.tracking.streamline import cluster_confidence

    theirs = peer.QuickBundles(20.0).cluster(lines)
    bundle = [lines[i] for i in max(theirs, key=len).indices][:120] + lines[:5]
    nib.streamlines.save(nib.streamlines.Tractogram(bundle, affine_to_rasmm=np.eye(4)), path("bundle.tck"))
    scores = {"qb": depth_scores(bundle), "cci": cluster_confidence(bundle, override=True)}
    for method, limit in (("qb", 0.6), ("cci", 1.0)):
        run(TOOL, "clean", path("bundle.tck"), path("cleaned.tck"), "--method", method, "--keep-all", "--force", "-q")
        own_scores = np.genfromtxt(path("cleaned_dps.tsv"), names=True)["clean_score"]
        report(f"clean: {method}", np.allclose(own_scores, scores[method], rtol=1e-6, atol=1e-6),
               f"largest difference {np.abs(own_scores - scores[method]).max():.1e}")
        run(TOOL, "clean", path("bundle.tck"), path("cleaned.tck"), "--method", method, "--rejected", path("rest.tck"), "--force", "-q")
        kept, rest = (len(nib.streamlines.load(path(name)).streamlines) for name in ("cleaned.tck", "rest.tck"))
        report(f"clean: {method} drops outliers", rest == (scores[method] < limit).sum() > 0 and kept + rest == len(bundle), f"{rest} of {len(bundle)}")


def check_shapes():
    """Compares loops and sharp turns with the rules of scilpy, by DIPY's functions."""
    from dipy.tracking import metrics

    rng = np.random.default_rng(3)
    at, bundle = np.linspace(0, 1, 60)[:, None], []
    for k, bend in enumerate((0, 5, 10, 40, 60)):
        core = np.hstack([at * 90, k * 60 + bend * np.sin(np.pi * at), 0 * at])
        bundle += [core + rng.normal(0, 1, 3) + np.cumsum(rng.normal(0, 0.05, (60, 3)), axis=0) for _ in range(30)]
    for _ in range(30):
        turn, radius = at * rng.uniform(2, 9.5), rng.uniform(8, 20)
        bundle.append(np.hstack([radius * np.cos(turn), radius * np.sin(turn), turn * 2]) + rng.normal(0, 3, 3) + [200, 0, 0])
    bundle = [line.astype(np.float32) for line in bundle]
    nib.streamlines.save(nib.streamlines.Tractogram(bundle, affine_to_rasmm=np.eye(4)), path("shapes.tck"))
    clusters = peer.qbx_and_merge(Streamlines(bundle), [40, 30, 20, 15.0], rng=np.random.RandomState(0), verbose=False)
    curvature = [metrics.mean_curvature(centroid) for centroid in clusters.centroids]
    straight = [i for k, cluster in enumerate(clusters) if curvature[k] <= sum(curvature) / len(curvature) for i in cluster.indices]
    for name, option, theirs in (("loops", "360", [i for i, line in enumerate(bundle) if metrics.winding(line) < 360]),
                                 ("sharp-turns", "15", sorted(straight))):
        run(TOOL, "clean", path("shapes.tck"), path("shaped.tck"), "--method", "none", f"--{name}", option, "--force", "-q")
        kept = {line.tobytes() for line in nib.streamlines.load(path("shaped.tck")).streamlines}
        mine = [i for i, line in enumerate(bundle) if line.tobytes() in kept]
        report(f"clean: {name}", mine == theirs and 0 < len(mine) < len(bundle), f"{len(mine)} of {len(bundle)} stay, of scilpy's rule {len(theirs)}")


def check_search(lines):
    """Compares neighbours, of which DIPY lists some twice."""
    from dipy.segment.fss import FastStreamlineSearch

    references, queries = lines[:600], lines[600:]
    mine = own.FastStreamlineSearch(references, 8.0).radius_search(queries, 8.0)
    theirs = FastStreamlineSearch(references, 8.0).radius_search(queries, 8.0)
    least = {}
    for i, j, d in zip(theirs.row, theirs.col, theirs.data):
        if abs(d) < abs(least.get((i, j), np.inf)):
            least[i, j] = d
    found = dict(zip(zip(mine.row, mine.col), mine.data))
    # in float32 a pair may lie on either side of the radius
    odd = [pair for pair in set(least) ^ set(found) if abs(abs(least.get(pair, found.get(pair))) - 8) > 1e-5]
    worst = max(abs(least[pair] - found[pair]) for pair in set(least) & set(found) if min(abs(least[pair]), 1) > 0)
    report("FastStreamlineSearch", not odd and len(found) == len(mine.data) > 100 and worst < 2e-5,
           f"{len(found)} pairs, of DIPY {len(theirs.data)} entries; largest difference {worst:.1e} mm")


def check_refusals():
    from dipy.segment.featurespeed import VectorOfEndpointsFeature
    from dipy.segment.metricspeed import CosineMetric, MinimumAverageDirectFlipMetric

    for metric in ("cosine", CosineMetric(VectorOfEndpointsFeature()), MinimumAverageDirectFlipMetric()):
        try:
            own.QuickBundles(10.0, metric=metric)
            report(f"{metric} is refused", False)
        except ValueError as error:
            report(f"{type(metric).__name__} is refused", True, str(error))


def main():
    os.makedirs(WORK, exist_ok=True)
    lines = curves(1500)
    check_classes("curves", lines)
    check_command(lines)
    check_clean(lines)
    check_shapes()
    check_search(lines)
    check_classes("phantom", phantom())
    check_refusals()
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
