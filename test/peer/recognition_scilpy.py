#!/usr/bin/env python3
"""Compares recognised bundles with those of scilpy, and both with bundles that are known.

usage: recognition_scilpy.py GLSLINES WORK_DIR [SUBJECTS]

Runs in a Python that has scilpy. The subjects and the atlas are those of test/bench/recognition_truth.py. scilpy's commands
scil_tractogram_segment_with_bundleseg, at thresholds of 8 and 4 mm, and scil_tractogram_segment_with_recobundles, with its
defaults, get what `recognize` gets. One line per check; exits with 1 if one fails.
"""
import glob
import json
import os
import sys
import time
from unittest import mock

os.environ["OMP_NUM_THREADS"] = "1"  # DIPY's threads wait busily
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import nibabel as nib
import numpy as np
import recognition_truth as truth
from checks import outcome, report
from recognition_truth import dice, groups, path, run

SUBJECTS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
#: a grid that holds all subjects
SIDE, CORNER = 200, -200.0


def save(lines, name):
    """Writes a TRK file on the grid that all files share."""
    affine = np.diag([2.0, 2, 2, 1])
    affine[:3, 3] = CORNER
    header = {"voxel_to_rasmm": affine, "dimensions": (SIDE,) * 3, "voxel_sizes": (2.0,) * 3, "voxel_order": b"RAS"}
    os.makedirs(os.path.dirname(name), exist_ok=True)
    nib.streamlines.save(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), name, header=header)


def scilpy(module, *words):
    """Runs a command of scilpy in this process, whose imports take seconds, and returns its processor seconds."""
    command = __import__("scilpy.cli." + module, fromlist=["main"])
    begun = time.process_time()
    with mock.patch.object(sys, "argv", [module, *map(str, words)]):
        command.main()
    return time.process_time() - begun


def bundleseg(number, threshold):
    out = path(f"bundleseg{number}")
    seconds = scilpy("scil_tractogram_segment_with_bundleseg", path(f"subject{number}.trk"), path(f"config{threshold}.json"),
                     path("scilpy_atlases"), path("identity.txt"), "--out_dir", out, "-f")
    with open(os.path.join(out, "results.json")) as file:
        return {os.path.splitext(name)[0]: set(one["indices"]) for name, one in json.load(file).items()}, seconds


def recobundles(number, names):
    """Runs scilpy's command for each bundle, with the 8 mm of its help, which it has only if they are given."""
    found, seconds = {}, 0.0
    lines = nib.streamlines.load(path(f"subject{number}.trk")).streamlines
    index = {line.tobytes(): i for i, line in enumerate(lines)}
    for name in names:
        out = path(f"recobundles{number}.trk")
        seconds += scilpy("scil_tractogram_segment_with_recobundles", path(f"subject{number}.trk"), path("scilpy_atlases", "one", name + ".trk"),
                          path("identity.txt"), out, "--tractogram_clustering_thr", 8, "--seed", 0, "-f")
        found[name] = {index[line.tobytes()] for line in nib.streamlines.load(out).streamlines}
    return found, seconds


def own(number, *options):
    begun = os.times()
    run("recognize", path(f"subject{number}.trk"), path("atlas"), "-o", path("own.trx"), *options)
    ended = os.times()
    return groups(path("own.trx")), ended.children_user - begun.children_user


#: for each of our methods, the one of scilpy that gets the same
PEERS = {"search, 8 mm": "BundleSeg, 8 mm", "search, 4 mm": "BundleSeg, 4 mm", "recobundles": "RecoBundles"}


def main():
    os.makedirs(truth.WORK, exist_ok=True)
    bundles = truth.atlas()
    for file in glob.glob(path("atlas", "*.tck")):
        save(nib.streamlines.load(file).streamlines, path("scilpy_atlases", "one", os.path.basename(file)[:-3] + "trk"))
    for threshold in (8, 4):
        with open(path(f"config{threshold}.json"), "w") as file:
            json.dump({name + ".trk": float(threshold) for name in bundles}, file)
    np.savetxt(path("identity.txt"), np.eye(4))
    rows = {}
    for number in range(1, SUBJECTS + 1):
        known = truth.subject(number)[0]
        save(nib.streamlines.load(path(f"subject{number}.tck")).streamlines, path(f"subject{number}.trk"))
        found = {"search, 8 mm": own(number), "search, 4 mm": own(number, "--threshold", 4),
                 "recobundles": own(number, "--method", "recobundles", "--min-length", 1, "--clust-thr", 8, "--model-clust-thr", 4,
                                    "--reduction-thr", 10, "--threshold", 6),
                 "BundleSeg, 8 mm": bundleseg(number, 8), "BundleSeg, 4 mm": bundleseg(number, 4), "RecoBundles": recobundles(number, bundles)}
        for method, (sets, seconds) in found.items():
            for name in bundles:
                a, b = sets.get(name, set()), known.get(name, set())
                if b:
                    rows.setdefault(method, []).append((dice(a, b), len(a & b) / len(b), len(a & b) / max(1, len(a)),
                                                        dice(a, found[PEERS.get(method, method)][0].get(name, set())), seconds / len(bundles)))
    print("method\tDice with truth\tsensitivity\tprecision\tDice with scilpy\tprocessor s a bundle")
    mean = {method: np.mean(values, 0) for method, values in rows.items()}
    for method, (with_truth, sensitivity, precision, with_peer, seconds) in mean.items():
        print(method, *(f"{v:.3f}" for v in (with_truth, sensitivity, precision)), f"{with_peer:.3f}" if method in PEERS else "", f"{seconds:.3f}", sep="\t")
    for mine, theirs in PEERS.items():
        report(f"{mine}: Dice with truth, beside scilpy's {theirs}", mean[mine][0] >= mean[theirs][0] - 0.01,
               f"{mean[mine][0]:.3f}, scilpy {mean[theirs][0]:.3f}, of {len(rows[mine])} bundles")
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
