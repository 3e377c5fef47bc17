#!/usr/bin/env python3
"""Processor time of clusters by glslines.dipy and by DIPY: the same streamlines, calls and results.

usage: GLSLINES_LIBRARY=build/libglslines.so clusters.py TRACKS|NUMBER

NUMBER: so many curves of 20 to 120 mm, drawn all over a ball of the size of a brain; hardly two run alike, so that there are
many clusters.

With OMP_NUM_THREADS=1 both compute on one core.
"""
import os
import sys
import time

import nibabel as nib
import numpy as np
from dipy.segment import clustering as peer
from dipy.tracking.streamline import Streamlines

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "python"))
import glslines.dipy as own  # noqa: E402


def curves(n):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(n):
        points, direction = rng.integers(20, 120), rng.normal(0, 1, 3)
        at = np.linspace(0, rng.uniform(20, 120), points)[:, None]
        start, bend = rng.normal(0, 30, 3), rng.normal(0, 0.003, 3)
        lines.append((start + at * direction / np.linalg.norm(direction) + bend * at**2).astype(np.float32))
    return lines


def seconds(call, runs):
    """Returns the least processor time of some runs, and the result."""
    best = np.inf
    for _ in range(runs):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def main():
    lines = curves(int(sys.argv[1])) if sys.argv[1].isdigit() else nib.streamlines.load(sys.argv[1]).streamlines
    lines = Streamlines([np.asarray(line, np.float32) for line in lines])
    print(f"{len(lines)} streamlines")
    calls = [(f"QuickBundles, {mm} mm", lambda module, mm=mm: module.QuickBundles(float(mm)).cluster(lines)) for mm in (20, 10, 5)]
    calls += [("qbx_and_merge 40, 30, 20, 10", lambda module: module.qbx_and_merge(lines, [40, 30, 20, 10], rng=np.random.default_rng(0)))]
    for name, call in calls:
        (ours, mine), (theirs, other) = (seconds(lambda: call(module), runs) for module, runs in ((own, 3), (peer, 1)))
        same = all(list(a.indices) == list(b.indices) and a.centroid.tobytes() == b.centroid.tobytes() for a, b in zip(mine.clusters, other.clusters))
        print(f"{name}: {len(other)} clusters, {'the same' if same and len(mine) == len(other) else 'OTHER'}; glslines {ours:.3f} s, DIPY {theirs:.3f} s", flush=True)


if __name__ == "__main__":
    main()
