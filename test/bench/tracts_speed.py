#!/usr/bin/env python3
"""Times the commands on tractograms beside the programs of MRtrix3, in pairs, with the same number of threads.

usage: tracts_speed.py GLSLINES WORK_DIR [--threads N] [--pairs N] [--nseeds N]

Makes a tractogram of the built-in phantom, about 100,000 streamlines of 1 mm steps, and images on its grid; then runs
each command and its peer in turn. Prints wall time and CPU time (user and system, of all threads), the medians over the
pairs, and how many times the peer's the speed is. Run it on an idle machine.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

import nibabel as nib
import numpy as np


def measure(words, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(words, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_data(tool, nseeds):
    if not os.path.exists("tracks.tck"):
        subprocess.run([tool, "phantom", "phantom", "-q", "--force"], check=True)
        subprocess.run([tool, "track", "--phantom", "--nseeds", str(nseeds), "--dg", "det", "--step-size", "0.5", "-o", "tracks.tck", "-q", "--force"], check=True)
    mask = nib.load("phantom/mask.nii.gz")
    shape, affine = mask.shape, mask.affine
    rng = np.random.default_rng(0)
    at = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1) @ affine[:3, :3].T + affine[:3, 3]
    labels, nearest = np.zeros(shape, np.int16), np.full(shape, 9.0)
    for label, centre in enumerate(rng.uniform(at.reshape(-1, 3).min(0), at.reshape(-1, 3).max(0), (161, 3)), 1):
        distance = np.linalg.norm(at - centre, axis=-1)
        labels[distance < nearest] = label
        nearest = np.minimum(nearest, distance)
    labels = np.unique(labels, return_inverse=True)[1].reshape(shape).astype(np.int16)
    for name, data in (("labels", labels), ("region", (np.linalg.norm(at, axis=-1) < 12).astype(np.uint8)), ("fa", rng.random(shape).astype(np.float32))):
        nib.save(nib.Nifti1Image(data, affine), f"{name}.nii")


def pairs(tool, threads):
    """Returns for each row its name, the command, the command of the peer, and how many times faster ours shall be"""
    quiet, template = ["-q", "--force"], ["--template", "fa.nii"]
    mrtrix = ["-force", "-quiet", "-nthreads", str(threads)]
    tracks = "tracks.tck"
    return [
        ("density, tckmap", [tool, "density", tracks, "a.nii", *template, *quiet], ["tckmap", tracks, "b.nii", "-template", "fa.nii", *mrtrix], 4),
        ("density like tckmap, tckmap", [tool, "density", tracks, "a.nii", *template, "--like", "mrtrix", *quiet], ["tckmap", tracks, "b.nii", "-template", "fa.nii", *mrtrix], 1),
        ("density --mapping length, tckmap -precise", [tool, "density", tracks, "a.nii", *template, "--mapping", "length", *quiet], ["tckmap", tracks, "b.nii", "-template", "fa.nii", "-precise", *mrtrix], 6),
        ("density --dec, tckmap -dec", [tool, "density", tracks, "a.nii", *template, "--dec", *quiet], ["tckmap", tracks, "b.nii", "-template", "fa.nii", "-dec", *mrtrix], 5),
        ("density --voxel 1, tckmap -vox 1", [tool, "density", tracks, "a.nii", "--voxel-size", "1", *quiet], ["tckmap", tracks, "b.nii", "-vox", "1", *mrtrix], 4),
        ("connectome, tck2connectome", [tool, "connectome", tracks, "labels.nii", "a.csv", *quiet], ["tck2connectome", tracks, "labels.nii", "b.csv", *mrtrix], 1.5),
        ("sample, tcksample mean", [tool, "sample", tracks, "fa.nii", "-o", "a.txt", *quiet], ["tcksample", tracks, "fa.nii", "b.txt", "-stat_tck", "mean", *mrtrix], 2),
        ("edit, tckedit -include -minlength", [tool, "edit", tracks, "a.tck", "--include", "region.nii", "--min-length", "40", *quiet], ["tckedit", tracks, "b.tck", "-include", "region.nii", "-minlength", "40", *mrtrix], 2),
        ("edit --points 100, tckresample", [tool, "edit", tracks, "a.tck", "--points", "100", *quiet], ["tckresample", tracks, "b.tck", "-num_points", "100", *mrtrix], 1),
        ("stats, tckstats", [tool, "stats", tracks, *quiet], ["tckstats", tracks, *mrtrix], 1),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("work")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--nseeds", type=int, default=84000)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    make_data(tool, options.nseeds)
    env = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    load = os.getloadavg()[0]
    size = os.path.getsize("tracks.tck")
    print(f"{options.threads} threads, {options.pairs} pairs, load {load:.1f}, tractogram of {size / 1e6:.0f} MB")
    print(f"{'':44s} {'wall s':>8s} {'peer':>8s} {'times':>6s} {'goal':>5s} {'CPU s':>8s} {'peer':>8s} {'times':>6s}")
    for name, mine, theirs, goal in pairs(tool, options.threads):
        figures = []
        for _ in range(options.pairs):
            figures.append((*measure(mine, env), *measure(theirs, env)))
        wall, cpu, peer_wall, peer_cpu = (statistics.median(column) for column in zip(*figures))
        print(f"{name:44s} {wall:8.3f} {peer_wall:8.3f} {peer_wall / wall:6.2f} {goal:5g} {cpu:8.3f} {peer_cpu:8.3f} {peer_cpu / cpu:6.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
