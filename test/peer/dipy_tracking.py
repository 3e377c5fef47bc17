"""Bootstrap tracking by DIPY and by glslines on the phantom, with the same data, stop map, directions and seeds.

    dipy_tracking.py [--glslines PROGRAM] [--work DIR] [--nseeds N] [--processes N] [--noise] [glslines options]

DIPY's LocalTracking with BootDirectionGetter is slow, so its result is kept in DIR under a name made from all that it depends on.
Options not known here are handed to `glslines track`, e.g. --device or --mapping. Exits with 1 where a bound is not met."""

import argparse
import ctypes
import hashlib
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import dipy
import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.core.sphere import HemiSphere
from dipy.direction import BootDirectionGetter
from dipy.io.gradients import read_bvals_bvecs
from dipy.reconst.dti import TensorModel
from dipy.reconst.shm import OpdtModel
from dipy.tracking.local_tracking import LocalTracking
from dipy.tracking.stopping_criterion import ThresholdStoppingCriterion

from compare_tractograms import Tractogram, compare, load, print_table

MAX_ANGLE = 60.0
FA_THRESHOLD = 0.1
STEP = 0.5  # voxels
RELATIVE_PEAK = 0.25
SEPARATION = 45.0
MIN_SIGNAL = 1.0
ORDER = 4
SMOOTH = 0.006
MAX_POINTS = 4000  # limit for each half, which is never reached; glslines gets the same length in mm
SEEDS_PER_TASK = 100


def run(*command, **kwargs):
    # a child tracks with all cores, whatever number of threads this process uses
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    return subprocess.run([str(c) for c in command], check=True, env=environment, **kwargs)


def default_sphere(library):
    """Returns the vertices of the built-in sphere, one of each antipodal pair, from the shared library beside the program."""

    class Sphere(ctypes.Structure):
        _fields_ = [("n", ctypes.c_size_t), ("vertex", ctypes.POINTER(ctypes.c_double))]  # the first members

    gls = ctypes.CDLL(str(library))
    sphere = ctypes.POINTER(Sphere)()
    if gls.gls_sphere_create(b"default", ctypes.byref(sphere)) != 0:
        raise RuntimeError("no default sphere")
    vertices = np.ctypeslib.as_array(sphere.contents.vertex, (sphere.contents.n, 3)).copy()
    gls.gls_sphere_destroy(sphere)
    return vertices


class Problem:
    """What both programs track."""

    def __init__(self, glslines, work, nseeds):
        self.directory = work / "phantom"
        run(glslines, "phantom", self.directory, "--force", stdout=subprocess.DEVNULL)
        image = nib.load(self.directory / "dwi.nii.gz")
        self.affine, self.shape = image.affine, image.shape[:3]
        self.voxel = float(image.header.get_zooms()[0])
        self.data = np.asarray(image.dataobj, dtype=float)
        bvals, bvecs = read_bvals_bvecs(str(self.directory / "dwi.bval"), str(self.directory / "dwi.bvec"))
        if np.linalg.det(self.affine) > 0:
            bvecs = bvecs * [-1, 1, 1]  # FSL's rule, which DIPY leaves to its caller
        self.table = gradient_table(bvals, bvecs=bvecs, b0_threshold=50)
        self.mask = np.asarray(nib.load(self.directory / "mask.nii.gz").dataobj) > 0
        self.sphere = default_sphere(glslines.parent / "libglslines.so")
        self.fa = TensorModel(self.table, fit_method="WLS").fit(self.data, mask=self.mask).fa.astype(np.float32)
        self.fa_path = work / "fa.nii.gz"
        nib.save(nib.Nifti1Image(self.fa, self.affine), self.fa_path)
        voxels = np.argwhere(np.asarray(nib.load(self.directory / "roi.nii.gz").dataobj) > 0)
        rng = np.random.default_rng(1)
        seeds = voxels[rng.integers(len(voxels), size=nseeds)] + rng.uniform(-0.5, 0.5, (nseeds, 3))
        self.seeds_path = work / "seeds.txt"
        np.savetxt(self.seeds_path, seeds, fmt="%.6f")
        self.seeds = np.loadtxt(self.seeds_path)

    def key(self):
        h = hashlib.sha256(f"{dipy.__version__} {MAX_ANGLE} {FA_THRESHOLD} {STEP} {RELATIVE_PEAK} {SEPARATION} {MIN_SIGNAL} {ORDER} {SMOOTH} {MAX_POINTS}".encode())
        for array in (self.data, self.table.bvals, self.table.bvecs, self.sphere, self.fa, self.seeds):
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()[:16]


problem = None  # set before the workers fork, so that they share the arrays


def track_part(task):
    """Tracks one slice of the seeds with DIPY. Returns the streamlines of more than one point, in voxel coordinates."""
    part, stream = task
    sphere = HemiSphere(xyz=problem.sphere)
    model = OpdtModel(problem.table, ORDER, smooth=SMOOTH, min_signal=MIN_SIGNAL)
    getter = BootDirectionGetter.from_data(
        problem.data, model, max_angle=MAX_ANGLE, sphere=sphere, sh_order=ORDER, relative_peak_threshold=RELATIVE_PEAK, min_separation_angle=SEPARATION
    )
    np.random.seed((stream, part))
    seeds = problem.seeds[part * SEEDS_PER_TASK : (part + 1) * SEEDS_PER_TASK]
    lines = LocalTracking(getter, ThresholdStoppingCriterion(problem.fa, FA_THRESHOLD), seeds, np.eye(4), step_size=STEP, maxlen=MAX_POINTS)
    return [np.asarray(line) for line in lines if len(line) > 1]


def track_dipy(work, processes, stream):
    """Returns all of DIPY's streamlines in world mm, the seconds that they took and whether they were stored. stream: selects
    other random numbers."""
    path = work / f"dipy-{problem.key()}-{stream}.npz"
    cached = path.exists()
    if cached:
        stored = np.load(path)
        points, counts, seconds = stored["points"], stored["counts"], float(stored["seconds"])
    else:
        start = time.monotonic()
        tasks = [(part, stream) for part in range(-(-len(problem.seeds) // SEEDS_PER_TASK))]
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            lines = [line for part in pool.imap(track_part, tasks) for line in part]
        seconds = time.monotonic() - start
        points, counts = np.concatenate(lines), [len(line) for line in lines]
        partial = path.with_suffix(".part.npz")
        np.savez_compressed(partial, points=points, counts=counts, seconds=seconds)
        partial.rename(path)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Tractogram(nib.affines.apply_affine(problem.affine, points), offsets), seconds, cached


def track_glslines(glslines, work, extra):
    d = problem.directory
    out = work / "glslines.trx"
    # the rules of DIPY's bootstrap: initial directions from the fit of the measured signal, no threshold on the ODF, and
    # another sample only if a sample has no peak
    command = [glslines, "track", "--preset", "gpustreamlines", d / "dwi.nii.gz", d / "dwi.bval", d / "dwi.bvec", d / "mask.nii.gz", d / "roi.nii.gz", "-o", out, "--force", "-q"]
    command += ["--fa", problem.fa_path, "--fa-threshold", FA_THRESHOLD, "--seeds", problem.seeds_path, "--seed-space", "voxel"]
    command += ["--boot-start", "fit", "--boot-retry", "peak", "--pmf-threshold", 0, "--max-directions-per-seed", 32]
    command += ["--max-angle", MAX_ANGLE, "--step-size", STEP, "--min-signal", MIN_SIGNAL, "--sh-order", ORDER, "--sm-lambda", SMOOTH]
    command += ["--mask-stop", "interpolated"]
    command += ["--relative-peak-threshold", RELATIVE_PEAK, "--min-separation-angle", SEPARATION, "--max-length", 2 * MAX_POINTS * STEP * problem.voxel]
    start = time.monotonic()
    run(*command, *extra)
    return load(out), time.monotonic() - start


def main():
    global problem
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--glslines", type=Path, default=root / "build/glslines")
    parser.add_argument("--work", type=Path, default=root / "build/peer")
    parser.add_argument("--nseeds", type=int, default=10000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--noise", action="store_true", help="also compare two runs of DIPY, which shows how much chance contributes")
    args, extra = parser.parse_known_args()
    args.glslines = args.glslines.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    problem = Problem(args.glslines, args.work, args.nseeds)
    ours, ours_seconds = track_glslines(args.glslines, args.work, extra)
    theirs, dipy_seconds, cached = track_dipy(args.work, args.processes, 0)
    table = compare(theirs, ours, problem.affine, problem.mask)
    print(f"{args.nseeds} seeds, phantom of {' x '.join(map(str, problem.shape))} voxels, {len(problem.table.bvals)} volumes")
    print_table(table, (f"DIPY {dipy.__version__}", "glslines"))
    print(f"DIPY {dipy_seconds:.0f} s with {args.processes} processes{' (kept from an earlier run)' if cached else ''}, glslines {ours_seconds:.1f} s with reading and writing")
    if args.noise:
        other, _, _ = track_dipy(args.work, args.processes, 1)
        print("The same between two runs of DIPY with different random numbers:")
        print_table(compare(theirs, other, problem.affine, problem.mask), ("one", "other"))
    return 0 if all(row[-1] for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
