#!/usr/bin/env python3
"""Runs the commands on tractograms on a file of many streamlines and tells the memory that they need.

usage: tracts_large.py GLSLINES WORK_DIR [--streamlines N] [--points N]

Makes a TCK file of N random streamlines (10,000,000 of 12 points: 1.6 GB; delete it afterwards) and one of a hundredth of
them, and runs each command on both. The largest resident set of the two has to differ by less than 64 MB and N / 8 bytes;
exits with 1 if one does not.
"""
import argparse
import os
import subprocess
import sys
import time

import nibabel as nib
import numpy as np


def make_tracks(name, n, points):
    rng = np.random.default_rng(1)
    header = f"mrtrix tracks\ndatatype: Float32LE\ncount: {n}\nstep_size: 1\nfile: . 128\nEND\n".encode()
    with open(name, "wb") as file:
        file.write(header + bytes(128 - len(header)))
        for first in range(0, n, 100000):
            m = min(100000, n - first)
            lines = np.full((m, points + 1, 3), np.nan, np.float32)
            steps = np.cumsum(rng.normal(0, 0.25, (m, points, 3)), 1) + rng.normal(0, 1, (m, 1, 3))
            steps /= np.linalg.norm(steps, axis=2, keepdims=True)
            lines[:, :points] = rng.uniform(-40, 40, (m, 1, 3)) + np.cumsum(steps, 1)
            file.write(lines.tobytes())
        file.write(np.full(3, np.inf, np.float32).tobytes())


def run(words):
    """Returns wall time and largest resident set, MB. GNU time starts the command, because the memory of this process would
    count for its own child."""
    start = time.perf_counter()
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return time.perf_counter() - start, int(done.stderr.split()[-1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("work")
    parser.add_argument("--streamlines", type=int, default=10_000_000)
    parser.add_argument("--points", type=int, default=12)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    n = options.streamlines
    make_tracks("few.tck", n // 100, options.points)
    make_tracks("many.tck", n, options.points)
    affine = np.diag([2.0, 2, 2, 1])
    affine[:3, 3] = -60
    labels = np.random.default_rng(2).integers(0, 80, (15, 15, 15)).repeat(4, 0).repeat(4, 1).repeat(4, 2).astype(np.int16)
    nib.save(nib.Nifti1Image(labels, affine), "labels.nii")
    commands = {
        "info --count": ["info", "{}", "--count"],
        "stats": ["stats", "{}", "-o", "out.tsv"],
        "density": ["density", "{}", "out.nii", "--template", "labels.nii"],
        "density --contrast": ["density", "{}", "out.nii", "--template", "labels.nii", "--contrast", "length", "--stat-vox", "mean"],
        "connectome": ["connectome", "{}", "labels.nii", "out.csv"],
        "sample": ["sample", "{}", "labels.nii", "-o", "out.txt"],
        "edit": ["edit", "{}", "out.tck", "--include", "0,0,0,15", "--min-length", "5"],
        "convert": ["convert", "{}", "out.trx", "--reference", "labels.nii"],
    }
    limit, failures = 64 + n / 8 / 2**20, 0
    print(f"{n} streamlines of {options.points} points, {os.path.getsize('many.tck') / 1e9:.2f} GB; limit {limit:.0f} MB more than for a hundredth")
    for name, words in commands.items():
        memory = []
        for tracks in ("few.tck", "many.tck"):
            seconds, mb = run([tool, *(word.format(tracks) for word in words), "-q", "--force"])
            memory.append(mb)
        failures += memory[1] - memory[0] > limit
        print(f"{'ok  ' if memory[1] - memory[0] <= limit else 'FAIL'} {name:20s} {memory[0]:6.1f} MB, {memory[1]:6.1f} MB; {seconds:.1f} s", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
