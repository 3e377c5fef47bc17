#!/usr/bin/env python3
"""Compares registration of streamlines and recognition of bundles with DIPY's, and the command with bundles that are known.

usage: recognition.py GLSLINES LIBRARY WORK_DIR

One line per check; exits with 1 if one fails.
"""
import csv
import json
import os
import sys

# DIPY's threads wait busily for each other: beside other work its registrations take many times as long
os.environ["OMP_NUM_THREADS"] = "1"
import nibabel as nib
import numpy as np
from checks import outcome, report, run
from dipy.align import streamlinear as peer
from dipy.segment.bundles import RecoBundles as PeerRecoBundles
from dipy.tracking.distances import bundles_distances_mdf
from dipy.tracking.streamline import Streamlines
from trx import trx_file_memmap as trx_mm

TOOL, LIBRARY, WORK = (os.path.abspath(word) for word in sys.argv[1:4])
os.environ["GLSLINES_LIBRARY"] = LIBRARY
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "python"))
import glslines.dipy as own  # noqa: E402

TYPES = {"translation": 3, "rigid": 6, "similarity": 7, "scaling": 9, "affine": 12}
BUNDLES = 6


def path(name):
    return os.path.join(WORK, name)


def bundle(number, n, subject):
    """Makes streamlines of one bundle of a brain, in both senses. The core belongs to the bundle, the rest to the subject."""
    core, rng = np.random.default_rng(number), np.random.default_rng(1000 * subject + number)
    at = np.linspace(0, 1, 40)[:, None]
    start, along, bend = core.normal(0, 30, 3), core.normal(0, 1, 3), core.normal(0, 22, 3)
    along *= 80 / np.linalg.norm(along)
    lines = []
    for _ in range(n):
        side = np.cumsum(rng.normal(0, 0.15, (40, 3)), axis=0) + rng.normal(0, 2.5, 3)
        line = start + along * at * rng.uniform(0.9, 1.05) + bend * np.sin(np.pi * at) + side
        lines.append((line[::-1] if rng.random() < 0.5 else line).astype(np.float32))
    return lines


def moved(lines, parameters):
    """Moves streamlines by a similarity around the origin, and bends them by 1.5 mm."""
    m = peer.compose_matrix44(np.array(parameters))
    out = [line @ m[:3, :3].T + m[:3, 3] for line in lines]
    return [(line + 1.5 * np.sin(line[:, [1, 2, 0]] / 20)).astype(np.float32) for line in out]


def brain(subject, each=60):
    """Returns the bundles of a subject, shuffled, with streamlines of no bundle between them; and the bundle of each, -1 for
    none."""
    rng = np.random.default_rng(subject)
    lines, truth = [], []
    for k in range(BUNDLES):
        lines += bundle(k, each, subject)
        truth += [k] * each
    for k in range(100, 140):
        lines += bundle(k, 3, subject)
        truth += [-1] * 3
    order = rng.permutation(len(lines))
    return [lines[i] for i in order], np.array(truth)[order]


def dice(a, b):
    return 2 * len(set(a) & set(b)) / max(1, len(a) + len(b))


def resampled(lines, points=20):
    from dipy.tracking.streamline import set_number_of_points

    return set_number_of_points(Streamlines(lines), nb_points=points)


def check_registration():
    static = resampled(bundle(0, 30, 1) + bundle(1, 25, 1))
    # each type is tried on a motion of its own, which has one clear minimum
    motion = {3: [5, -4, 3], 6: [5, -4, 3, 4, -3, 5], 7: [5, -4, 3, 4, -3, 5, 1.04], 9: [5, -4, 3, 4, -3, 5, 1.04, 0.97, 1.02],
              12: [5, -4, 3, 4, -3, 5, 1.04, 0.97, 1.02, 0.02, -0.01, 0.03]}
    for name, n in TYPES.items():
        moving = resampled(moved(bundle(0, 25, 1) + bundle(1, 35, 1), motion[n]))
        bounds = peer.DEFAULT_BOUNDS[:n]
        a, b = (module.StreamlineLinearRegistration(x0=name, bounds=bounds).optimize(static, moving) for module in (own, peer))
        far = max(np.linalg.norm(x - y, axis=1).max() for x, y in zip(a.transform(moving), b.transform(moving)))
        report(f"registration: {name}", a.fopt <= b.fopt * 1.01 and (far < 1.5 or a.fopt < b.fopt),
               f"BMD {a.fopt:.4f}, DIPY {b.fopt:.4f}, {far:.3f} mm apart, {a.funcs} evaluations, DIPY {b.funcs}")
        # both functions are the same: this is DIPY's value for the parameters that were found
        metric = peer.BundleMinDistanceMetric()
        metric.setup(peer.center_streamlines(static)[0], peer.center_streamlines(moving)[0])
        report(f"registration: {name}, its value is DIPY's", np.isclose(metric.distance(a.xopt), a.fopt, rtol=1e-5))
    moving = resampled(moved(bundle(0, 25, 1) + bundle(1, 35, 1) + bundle(2, 10, 1), motion[6]))
    for name, metric in (("asymmetric", peer.BundleMinDistanceAsymmetricMetric), ("sum", peer.BundleSumDistanceMatrixMetric)):
        a, b = (module.StreamlineLinearRegistration(x0="rigid", metric=metric()).optimize(static, moving) for module in (own, peer))
        theirs = metric()
        theirs.setup(peer.center_streamlines(static)[0], peer.center_streamlines(moving)[0])
        report(f"registration: {name}", a.fopt <= b.fopt * 1.01 and np.isclose(theirs.distance(a.xopt), a.fopt, rtol=1e-5),
               f"distance {a.fopt:.4f}, DIPY {b.fopt:.4f}")
    moving = resampled(moved(bundle(0, 25, 1) + bundle(1, 35, 1), motion[6]))
    start = np.array([3.0, 1, -2, 2, 0, 1])
    mat = peer.compose_matrix44(np.array([8.0, 2, 1]))
    a, b = (module.StreamlineLinearRegistration(x0=start).optimize(static, moving, mat=mat) for module in (own, peer))
    report("registration: from a matrix and first parameters", a.fopt <= b.fopt * 1.01, f"BMD {a.fopt:.4f}, DIPY {b.fopt:.4f}")
    lines = [Streamlines(bundle(k % BUNDLES, 40, s)) for s in (1, 2) for k in range(3)]
    static, moving = (Streamlines([line for part in lines[i:i + 3] for line in part]) for i in (0, 3))
    moving = Streamlines(moved(moving, [5, -4, 3, 4, -3, 5, 1.04]))
    for kind in ("similarity", "affine"):
        a, b = (module.slr_with_qbx(static, moving, x0=kind, rm_small_clusters=1, rng=np.random.default_rng(3)) for module in (own, peer))
        same = all(np.array_equal(np.concatenate(x), np.concatenate(y)) for x, y in zip(a[2:], b[2:]))
        value = [bmd(static, result[0]) for result in (a, b)]
        report(f"slr_with_qbx: {kind}", same and value[0] <= value[1] * 1.05, f"BMD of all streamlines {value[0]:.3f}, DIPY {value[1]:.3f}")
    x, y = resampled(bundle(0, 7, 1)), resampled(bundle(2, 9, 1))
    report("bundles_distances_mdf", np.allclose(own.bundles_distances_mdf(x, y), bundles_distances_mdf(x, y), atol=2e-5))
    for wrong in ({"method": "Powell"}, {"metric": peer.JointBundleMinDistanceMetric()}):
        try:
            own.StreamlineLinearRegistration(**wrong).optimize(x, y)
            report(f"registration: {wrong} is refused", False)
        except NotImplementedError:
            report(f"registration: {next(iter(wrong))} is refused", True)


def bmd(static, moving):
    d = bundles_distances_mdf(resampled(static), resampled(moving))
    return (d.min(0).mean() + d.min(1).mean()) ** 2 / 4


def check_recobundles():
    lines, truth = brain(2)
    lines = Streamlines(moved(lines, [5, -4, 3, 4, -3, 5, 1.04]))
    scores = []
    for seed in (0, 1):
        mine, theirs = (kind(lines, greater_than=20, rng=np.random.default_rng(seed)) for kind in (own.RecoBundles, PeerRecoBundles))
        same = [list(c.indices) for c in mine.cluster_map] == [list(c.indices) for c in theirs.cluster_map]
        report(f"RecoBundles, seed {seed}: clusters", same, f"{len(theirs.cluster_map)}")
        for k in range(3 if seed == 0 else 1):
            model = Streamlines(bundle(k, 30, 1))
            found = [b.recognize(model, 2.5, reduction_thr=15, pruning_thr=8, slr_select=(25, 40))[1] for b in (mine, theirs)]
            scores.append(dice(*found))
            report(f"RecoBundles, seed {seed}: bundle {k}", scores[-1] >= 0.98,
                   f"{len(found[0])}, DIPY {len(found[1])}, Dice {scores[-1]:.4f}; with truth {dice(found[0], np.flatnonzero(truth == k)):.3f}")
    report("RecoBundles: mean Dice", np.mean(scores) >= 0.995, f"{np.mean(scores):.4f}")
    model = Streamlines(bundle(0, 30, 1))
    found = []
    for kind in (own.RecoBundles, PeerRecoBundles):
        reco = kind(lines, greater_than=20, rng=np.random.default_rng(2))
        pruned, _ = reco.recognize(model, 2.5, reduction_thr=15, pruning_thr=8, slr_select=(25, 40))
        found.append(reco.refine(model, pruned, 2.5, slr_select=(25, 40))[1])
    report("RecoBundles: refined", dice(*found) >= 0.98, f"{len(found[0])}, DIPY {len(found[1])}, Dice {dice(*found):.4f}")
    clusters = PeerRecoBundles(lines, greater_than=20, rng=np.random.default_rng(4)).cluster_map
    found = []
    for kind in (own.RecoBundles, PeerRecoBundles):
        reco = kind(lines, greater_than=20, cluster_map=clusters, rng=np.random.default_rng(4))
        bundle_found, labels = reco.recognize(model, 2.5, reduction_thr=15, pruning_thr=8, slr=False)
        found.append((labels.tolist(), np.concatenate(bundle_found).tobytes()))
    report("RecoBundles: given clusters, no registration", found[0] == found[1] and len(found[0][0]) > 0, f"{len(found[0][0])}")
    for wrong in ({"pruning_distance": "mam"}, {"slr_method": "Powell"}):
        try:
            own.RecoBundles(lines, rng=np.random.default_rng(0)).recognize(model, 2.5, **wrong)
            report(f"RecoBundles: {next(iter(wrong))} is refused", False)
        except NotImplementedError:
            report(f"RecoBundles: {next(iter(wrong))} is refused", True)


def save(lines, name):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    nib.streamlines.save(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), path(name))


def columns(name):
    with open(path(name)) as table:
        return {key: np.array([float(row[key]) for row in rows]) for rows in [list(csv.DictReader(table, delimiter="\t"))] for key in rows[0]}


def check_command():
    """Runs the command on a subject that is moved, with two atlases, one of which lacks a bundle."""
    lines, truth = brain(3)
    save(moved(lines, [4, -3, 2, 3, -2, 4, 1.03]), "subject.tck")
    for a in (1, 2):
        for k in range(BUNDLES):
            if (a, k) != (2, 5):
                save(bundle(k, 30, a), f"atlases/{a}/bundle_{k}.{'tck' if k % 2 else 'trk'}")
    config = {f"bundle_{k}.trk": 8.0 for k in range(BUNDLES)}
    with open(path("config.json"), "w") as file:
        json.dump(config, file)
    run(TOOL, "recognize", path("subject.tck"), path("atlases"), "--config", path("config.json"), "-o", path("found.tck"),
        "--each", path("each_{}.tck"), "--table", path("table.tsv"), "--force", "-q")
    found = columns("found_dps.tsv")
    scores = [dice(np.flatnonzero(found["bundle"] == k), np.flatnonzero(truth == k)) for k in range(BUNDLES)]
    report("recognize: bundles of a moved subject", min(scores) >= 0.95, "Dice with truth " + " ".join(f"{s:.3f}" for s in scores))
    taken = found["bundle"] < 65535
    report("recognize: distances", (found["bundle_distance"][taken] < 8).all() and np.isnan(found["bundle_distance"][~taken]).all())
    report("recognize: votes", set(found["bundle_votes"][taken]) <= {1.0, 2.0} and (found["bundle_votes"][found["bundle"] == 5] == 1).all())
    with open(path("table.tsv")) as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    better = all(float(row["bmd_after"]) < float(row["bmd_before"]) for row in rows)
    coverage = [max(float(row["coverage"]) for row in rows if row["bundle"] == f"bundle_{k}") for k in range(BUNDLES)]
    report("recognize: the table", len(rows) == 2 * BUNDLES - 1 and better and min(coverage) > 0.7, " ".join(f"{c:.2f}" for c in coverage))
    sizes = [len(nib.streamlines.load(path(f"each_bundle_{k}.tck")).streamlines) for k in range(BUNDLES)]
    counts = {row["bundle"]: int(row["streamlines"]) for row in rows}
    report("recognize: a file for each bundle", sizes == [counts[f"bundle_{k}"] for k in range(BUNDLES)])
    # without registration, distances are those of a search in double precision
    run(TOOL, "recognize", path("subject.tck"), path("atlases/1"), "--no-local", "-o", path("still.tck"), "--force", "-q")
    still, subject = columns("still_dps.tsv"), resampled(nib.streamlines.load(path("subject.tck")).streamlines, 12)
    least = np.stack([bundles_distances_mdf(subject, resampled(bundle(k, 30, 1), 12)).min(1) for k in range(BUNDLES)], 1)
    inside = least.min(1) < 8
    clear = np.abs(least.min(1) - 8) > 1e-4
    report("recognize: without registration", np.array_equal((still["bundle"] < 65535)[clear], inside[clear])
           and np.allclose(still["bundle_distance"][inside & clear], least.min(1)[inside & clear], atol=1e-4), f"{inside.sum()} of {len(inside)}")


def check_recobundles_command():
    """RecoBundles of the command against DIPY's, each with random draws of its own, and DIPY's with other draws."""
    lines, truth = brain(3)
    lines = moved(lines, [4, -3, 2, 3, -2, 4, 1.03])
    save(lines, "subject.tck")
    names = [f"bundle_{k}" for k in range(BUNDLES)]
    for k, name in enumerate(names):
        save(bundle(k, 30, 1), f"atlas/{name}.trk")
    nib.save(nib.Nifti1Image(np.zeros((20, 20, 20), np.uint8), np.diag([20.0, 20, 20, 1]) - 200 * np.eye(4, k=3)), path("grid.nii.gz"))
    found = {}
    for text, more in (("once", []), ("refined", ["--refine"])):
        run(TOOL, "recognize", path("subject.tck"), path("atlas"), "--method", "recobundles", "--min-length", "20",
            "--reference", path("grid.nii.gz"), "-o", path(f"{text}.trx"), "--table", path(f"{text}.tsv"), "--force", "-q", *more)
        groups = trx_mm.load(path(f"{text}.trx")).groups
        found[text] = [np.sort(groups[name]).tolist() if name in groups else [] for name in names]
    peers = []
    for seed in (0, 1):
        reco = PeerRecoBundles(Streamlines(lines), greater_than=20, rng=np.random.default_rng(seed))
        peers.append([reco.recognize(Streamlines(bundle(k, 30, 1)), 2.5, reduction_thr=15, pruning_thr=8)[1] for k in range(BUNDLES)])
    rows = [[dice(a, b) for a, b in zip(*pair)] for pair in ((found["once"], peers[0]), peers)]
    report("recognize --method recobundles: with DIPY", all(a >= b - 0.05 for a, b in zip(*rows)) and np.mean(rows[0]) >= np.mean(rows[1]) - 0.02,
           f"Dice {np.mean(rows[0]):.4f}, of two seeds of DIPY {np.mean(rows[1]):.4f}")
    scores = {name: [dice(found_, np.flatnonzero(truth == k)) for k, found_ in enumerate(lists)]
              for name, lists in (*found.items(), ("DIPY", peers[0]))}
    report("recognize --method recobundles: with truth", np.mean(scores["once"]) >= np.mean(scores["DIPY"]) - 0.01
           and np.mean(scores["refined"]) >= np.mean(scores["DIPY"]) - 0.01,
           ", ".join(f"{name} {np.mean(values):.4f}" for name, values in scores.items()))
    sizes = [int(row["streamlines"]) for row in csv.DictReader(open(path("once.tsv")), delimiter="\t")]
    report("recognize --method recobundles: the table", sizes == [len(lines_) for lines_ in found["once"]])


def check_similarity():
    """The measures of similarity from DIPY's clusters and distances, and from numpy on maps of density."""
    a, b = bundle(0, 60, 1), bundle(0, 45, 2)
    save(a, "pair/a.trk")
    save(b, "pair/b.trk")
    corner = np.floor(np.concatenate(a + b).min(0)) - 2.5  # no point lies at the face of a voxel
    grid = nib.Nifti1Image(np.zeros(np.ceil((np.concatenate(a + b).max(0) - corner) / 2 + 2).astype(int), np.uint8), np.diag([2.0, 2, 2, 1]))
    grid.affine[:3, 3] = corner
    nib.save(grid, path("grid_2mm.nii.gz"))
    run(TOOL, "similarity", path("pair/a.trk"), path("pair/b.trk"), "-o", path("pair.tsv"), "--template", path("grid_2mm.nii.gz"), "--force", "-q")
    row = next(iter(csv.DictReader(open(path("pair.tsv")), delimiter="\t")))
    maps = []
    for lines in (a, b):
        at = [np.round(nib.affines.apply_affine(np.linalg.inv(grid.affine), line)).astype(int) for line in lines]
        ends = np.zeros(grid.shape)
        for voxels in at:
            for end in (0, -1):
                ends[tuple(voxels[end])] += 1
        save(lines, "one.tck")
        run(TOOL, "density", path("one.tck"), path("one.nii.gz"), "--template", path("grid_2mm.nii.gz"), "--force", "-q")
        maps.append((np.asarray(nib.load(path("one.nii.gz")).dataobj, dtype=float), ends))
    for name, (x, y) in (("", [m[0] for m in maps]), ("_endpoints", [m[1] for m in maps])):
        p, q = x > 0, y > 0
        expected = {"dice_voxels": 2 * (p & q).sum() / (p.sum() + q.sum()), "w_dice_voxels": (x + y)[p & q].sum() / (x + y).sum(),
                    "volume_overlap": 8 * (p & q).sum(), "volume_overreach": 8 * (p ^ q).sum(),
                    "density_correlation": max(0, np.corrcoef(x[p | q], y[p | q])[0, 1])}
        far = {k: abs(float(row[k + name]) - v) for k, v in expected.items() if not abs(float(row[k + name]) - v) <= 1e-9 * max(1, v)}
        report(f"similarity: voxels{name}", not far and expected["dice_voxels"] > 0, str(far or {k: round(v, 4) for k, v in expected.items()}))
    from scipy.spatial import cKDTree

    points = [np.argwhere(m[0] > 0) * 2.0 for m in maps]
    expected = np.mean([cKDTree(points[k]).query(points[1 - k])[0].mean() for k in (0, 1)])
    report("similarity: distance of voxels", np.isclose(float(row["bundle_adjacency_voxels"]), expected, rtol=1e-9), f"{expected:.4f} mm")
    expected = max(cKDTree(points[k]).query(points[1 - k])[0].max() for k in (0, 1))
    report("similarity: hausdorff", np.isclose(float(row["hausdorff"]), expected, rtol=1e-9), f"{expected:.4f} mm")
    # the clusters of a bundle and of the same one moved by half a mm are the same, moved
    save([line + np.float32([0.5, 0, 0]) for line in a], "pair/moved.trk")
    run(TOOL, "similarity", path("pair/a.trk"), path("pair/moved.trk"), "-o", path("half.tsv"), "--force", "-q")
    half = next(iter(csv.DictReader(open(path("half.tsv")), delimiter="\t")))
    report("similarity: distance of streamlines that are moved", np.isclose(float(half["bundle_adjacency_streamlines"]), 0.5, atol=1e-4)
           and np.isclose(float(half["bmd"]), 0.25, atol=1e-4) and float(half["ba"]) == 1)
    # centroids depend on the random order; those of the peer by two orders show by how much
    from dipy.segment.bundles import bundle_adjacency
    from dipy.segment.clustering import qbx_and_merge

    wide, fine = [], []
    for seed in (0, 1, 2):
        rng = np.random.default_rng(seed)
        c = [qbx_and_merge(Streamlines(lines), [32, 24, 12, 6], rng=rng).centroids for lines in (a, b)]
        d = bundles_distances_mdf(*c)
        wide.append((d.min(0).mean() + d.min(1).mean()) / 2)
        fine.append(bundle_adjacency(*(qbx_and_merge(Streamlines(lines), [5, 3, 1.5], rng=rng).centroids for lines in (a, b)), 6))
    slack = max(np.ptp(wide), 0.2)
    mine = float(row["bundle_adjacency_streamlines"])
    report("similarity: distance of streamlines", min(wide) - slack <= mine <= max(wide) + slack and np.isclose(float(row["bmd"]), mine**2),
           f"{mine:.3f} mm, DIPY's clusters {np.round(wide, 3)}")
    report("similarity: ba", min(fine) - 0.05 <= float(row["ba"]) <= max(fine) + 0.05, f"{float(row['ba']):.3f}, DIPY {np.round(fine, 3)}")


def pencils(subject):
    """Makes a bundle of narrow parts far from each other, so that clusters do not depend on the order. Some parts of a subject
    are moved: its bundle is like another one in part."""
    rng = np.random.default_rng(50 + subject)
    at = np.linspace(0, 1, 40)[:, None]
    lines = []
    for k in range(8):
        aside = np.array([0, 22.0 * (k % 3), 22.0 * (k // 3)]) + (subject - 1) * np.array([0, 3.2 if k % 4 == 3 else 0.3, 0])
        for _ in range(6):
            line = aside + [70, 0, 0] * at + [0, 0, 12] * np.sin(np.pi * at) + rng.normal(0, 0.05, 3)
            lines.append((line[::-1] if rng.random() < 0.5 else line).astype(np.float32))
    return lines


#: values of scil_bundle_pairwise_comparison 2.3.0 for pencils(1), (2) and (3), each pair: made once by
#: `scil_bundle_pairwise_comparison several/[123].trk out.json -f` of the files that check_similarity_of_several() writes.
#: Volumes are in mm3, distances in voxels of 2 mm. Its ends are the last three points, so that they are left out here.
SCILPY = {
    "bundle_adjacency_voxels": [0.512533, 0.764128, 0.260399],
    "bundle_adjacency_streamlines": [0.511649, 1.019448, 0.510121],
    "dice_voxels": [0.736453, 0.736453, 0.742647],
    "w_dice_voxels": [0.744792, 0.746311, 0.74783],
    "volume_overlap": [2392, 2392, 2424],
    "volume_overreach": [1712, 1712, 1680],
    "density_correlation": [0, 0, 0],
}


def check_similarity_of_several():
    """Each pair of three bundles: the matrix of DIPY's BundleShapeAnalysis, and values that scilpy gave."""
    from dipy.segment.bundles import bundle_shape_similarity
    from dipy.segment.clustering import qbx_and_merge

    bundles = [pencils(s) for s in (1, 2, 3)]
    files = [path(f"several/{s}.trk") for s in (1, 2, 3)]
    corner = np.array([-10.13, -20.17, -20.19])
    grid = nib.Nifti1Image(np.zeros((60, 60, 60), np.uint8), np.diag([2.0, 2, 2, 1]))
    grid.affine[:3, 3] = corner
    os.makedirs(path("several"), exist_ok=True)
    nib.save(grid, path("several/grid.nii.gz"))
    header = {"voxel_to_rasmm": grid.affine, "dimensions": grid.shape, "voxel_sizes": (2.0,) * 3, "voxel_order": b"RAS"}
    for lines, file in zip(bundles, files):
        nib.streamlines.save(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), file, header=header)
    run(TOOL, "similarity", *files, "-o", path("ba.tsv"), "--matrix", "ba", "--force", "-q")
    run(TOOL, "similarity", *files, "-o", path("several.tsv"), "--template", path("several/grid.nii.gz"), "--force", "-q")
    mine = np.array([[float(row[f]) for f in files] for row in csv.DictReader(open(path("ba.tsv")), delimiter="\t")])
    rng = np.random.default_rng(0)
    theirs = np.array([[bundle_shape_similarity(Streamlines(a), Streamlines(b), rng) for b in bundles] for a in bundles])
    report("similarity: matrix of ba", np.array_equal(mine, mine.T) and np.allclose(mine, theirs) and 0 < theirs[0, 2] < theirs[0, 1] <= 1,
           f"{mine[np.triu_indices(3)].tolist()}, DIPY {theirs[np.triu_indices(3)].tolist()}")
    rows = list(csv.DictReader(open(path("several.tsv")), delimiter="\t"))
    clusters = [qbx_and_merge(Streamlines(lines), [32, 24, 12, 6], rng=np.random.RandomState(0)).centroids for lines in bundles]
    for row, (i, j) in zip(rows, ((0, 1), (0, 2), (1, 2))):
        d = bundles_distances_mdf(clusters[i], clusters[j])
        expected = (d.min(0).mean() + d.min(1).mean()) / 2
        report(f"similarity: distance of bundles {i} and {j}", np.isclose(float(row["bundle_adjacency_streamlines"]), expected, atol=0.02), f"{float(row['bundle_adjacency_streamlines']):.4f} mm, DIPY {expected:.4f}")
    for name, values in SCILPY.items():
        unit = 2 if name.startswith("bundle_adjacency") else 1
        ours = np.array([float(row[name]) for row in rows])
        report(f"similarity: {name} of scilpy", len(values) == len(ours) and np.allclose(ours, np.array(values) * unit, rtol=1e-4),
               f"{ours.round(4).tolist()}")


def check_profiles():
    """Profiles and disks by the nodes of a model that lies in another space: DIPY's buan_profile() and assignment_map()."""
    from dipy.stats.analysis import assignment_map, buan_profile

    nodes, rng = 50, np.random.default_rng(5)
    to_subject = np.array([[1.02, 0.03, 0, 3], [-0.02, 0.98, 0.01, -2], [0.01, 0, 1.01, 1], [0, 0, 0, 1]])
    model, lines = bundle(3, 30, 1), bundle(3, 50, 2)
    lines = [nib.affines.apply_affine(to_subject, line).astype(np.float32) for line in lines]
    affine = np.diag([2.0, 2, 2, 1])
    affine[:3, 3] = np.floor(np.concatenate(lines).min(0)) - 5
    image = rng.random((90, 90, 90)).astype(np.float32)
    nib.save(nib.Nifti1Image(image, affine), path("noise.nii.gz"))
    save(model, "model.tck")
    save(lines, "profiled.tck")
    np.savetxt(path("to_subject.txt"), to_subject)
    words = ["profile", path("profiled.tck"), path("noise.nii.gz"), "--assign", path("model.tck"), "--atlas-transform", path("to_subject.txt"),
             "--nodes", nodes, "--orient", "none", "--force", "-q"]
    run(TOOL, *words, "-o", path("profile.csv"))
    run(TOOL, *words, "-o", path("disks.csv"), "--mode", "buan")
    run(TOOL, *words[:3], *words[7:], "-o", path("own_disks.csv"), "--mode", "buan")
    common = Streamlines([nib.affines.apply_affine(np.linalg.inv(to_subject), line) for line in lines])
    theirs = buan_profile(Streamlines(model), common, Streamlines(lines), image, affine, no_disks=nodes)
    mine = np.array([float(row["noise"]) for row in csv.DictReader(open(path("profile.csv")))])
    report("profile --assign: buan_profile", np.allclose(mine, theirs, atol=1e-6, equal_nan=True) and np.isfinite(mine).sum() > 40,
           f"largest difference {np.nanmax(np.abs(mine - theirs)):.1e} of values from {np.nanmin(mine):.2f} to {np.nanmax(mine):.2f}")
    disks, own_disks = (np.array([int(row["disk"]) for row in csv.DictReader(open(path(name)))]) for name in ("disks.csv", "own_disks.csv"))
    theirs = assignment_map(common, Streamlines(model), nodes)[1] + 1
    report("profile --assign: assignment_map", np.array_equal(disks, theirs), f"{len(theirs)} points; by the bundle's own mean {np.mean(own_disks == theirs):.2f} are alike")


def check_register_command():
    """`glslines register` of two subjects of which one is moved: as near to each other as DIPY brings them."""
    similarity = [5, -4, 3, 4, -3, 5, 1.04]
    static, moving = brain(1)[0], moved(brain(2)[0], similarity)
    save(static, "static.tck")
    save(moving, "moving.tck")
    for kind in ("rigid", "similarity", "affine"):
        run(TOOL, "register", path("moving.tck"), path("static.tck"), "--type", kind, "--min-size", 1, "-o", path("brain"), "--moved",
            path("brain.tck"), "--force", "-q")
        mine = bmd(static, nib.streamlines.load(path("brain.tck")).streamlines)
        theirs = [bmd(static, peer.slr_with_qbx(Streamlines(static), Streamlines(moving), x0=kind, rm_small_clusters=1,
                                                rng=np.random.default_rng(seed))[0]) for seed in range(3)]
        said = json.load(open(path("brain.json")))["streamlines"]
        stages = list(said["distance_by_stage_mm2"].items())
        report(f"register: stages, {kind}", [name for name, _ in stages] == [name for name in TYPES if TYPES[name] <= TYPES[kind]]
               and all(x[1] >= y[1] for x, y in zip(stages, stages[1:])) and stages[-1][1] == said["distance_after_mm2"],
               " ".join(f"{name} {value:.3f}" for name, value in stages))
        report(f"register: a brain, {kind}", mine <= np.mean(theirs) * 1.01,
               f"BMD {mine:.3f}, DIPY with three seeds {min(theirs):.3f} to {max(theirs):.3f}; before {bmd(static, moving):.3f}")
    for kind in ("rigid", "affine"):
        static, moving = bundle(0, 60, 1), moved(bundle(0, 80, 2), similarity)
        save(static, "static.tck")
        save(moving, "moving.tck")
        run(TOOL, "register", path("moving.tck"), path("static.tck"), "--type", kind, "--compare", "streamlines", "-o", path("bundle"),
            "--moved", path("bundle.tck"), "--force", "-q")
        mine = bmd(static, nib.streamlines.load(path("bundle.tck")).streamlines)
        found = peer.StreamlineLinearRegistration(x0=kind).optimize(resampled(static), resampled(moving))
        theirs, said = bmd(static, found.transform(moving)), json.load(open(path("bundle.json")))["streamlines"]
        report(f"register: a bundle, {kind}", mine <= theirs * 1.01 and np.isclose(said["distance_before_mm2"], bmd(static, moving), rtol=1e-5)
               and np.isclose(said["distance_after_mm2"], mine, rtol=0.01),  # resampled after the transform, not before
               f"BMD {mine:.3f}, DIPY {theirs:.3f}, before {bmd(static, moving):.3f}")
    # the same subject in another order: the map that is known
    known = np.array(peer.compose_matrix44(np.array(similarity)))
    save(static := brain(1)[0], "static.tck")
    save([nib.affines.apply_affine(known, line).astype(np.float32) for line in static[::-1]], "moving.tck")
    run(TOOL, "register", path("moving.tck"), path("static.tck"), "--type", "similarity", "--min-size", 1, "-o", path("known"), "--force", "-q")
    found = np.loadtxt(path("known_affine.txt"))
    points = np.concatenate(static)
    far, before = (np.linalg.norm(nib.affines.apply_affine(known, points) - nib.affines.apply_affine(m, points), axis=1).max()
                   for m in (found, np.eye(4)))
    report("register: a map that is known", far < 0.5, f"at most {far:.3f} mm off, without it {before:.1f} mm")


def check_groupwise():
    """The registration of `glslines atlas` against groupwise_slr: subjects moved by known maps come as near to each other."""
    lines = []
    for subject, motion in enumerate(([0] * 6 + [1], [8, -6, 4, 5, -4, 6, 1.05], [-6, 5, -3, -4, 6, -5, 0.95], [3, 7, -6, 6, 3, -4, 1.03])):
        parts = [moved(bundle(k, 30, subject + 1), motion) for k in range(2)]
        for k in range(2):
            save(parts[k], f"group/{subject}/bundle_{k}.trk")
        lines.append(parts[0] + parts[1])

    def apart(subjects):
        return np.mean([bmd(subjects[i], subjects[j]) for i in range(4) for j in range(i)])

    # with clusters of a single streamline, of any number of subjects, all streamlines are in the atlas, subject after subject
    run(TOOL, "atlas", *[path(f"group/{k}") for k in range(4)], "-o", path("group.trx"), "--threshold", 0.001, "--min-share", 0.01, "--force", "-q")
    mine = list(trx_mm.load(path("group.trx")).streamlines)
    own_distance = apart([mine[60 * k:60 * k + 60] for k in range(4)])
    theirs = []
    for seed in range(2):
        np.random.seed(seed)
        found = peer.groupwise_slr([Streamlines(part) for part in lines], x0="affine", rng=np.random.default_rng(seed))[0]
        theirs.append(apart([list(part) for part in found]))
    size = [np.linalg.norm(np.concatenate(part) - np.concatenate(part).mean(0), axis=1).mean() for part in (mine, sum(lines, []))]
    report("atlas: groupwise_slr", len(mine) == 240 and own_distance <= max(theirs) * 1.05 and 0.8 < size[0] / size[1] < 1.2,
           f"BMD {own_distance:.3f}, DIPY with two seeds {min(theirs):.3f} to {max(theirs):.3f}; before {apart(lines):.3f}")


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    check_registration()
    check_register_command()
    check_recobundles()
    check_command()
    check_recobundles_command()
    check_similarity()
    check_similarity_of_several()
    check_profiles()
    check_groupwise()
    sys.exit(outcome())
