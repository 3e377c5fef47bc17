"""scilpy's OpenCL tracker on the data of `glslines bench`: seconds, streamlines and points.

    scilpy_tracker.py DIRECTORY prob|det SEEDS [BATCH]

DIRECTORY was written by `build/test/glslines_bench bench --model csd`. The FODs, the mask, the seeds, the step and the largest angle are those of the benchmark; scilpy samples the FODs
with its 724 directions, and keeps all points of a batch in an array of full length. What is timed is its tracker from its creation to the last streamline; the first batch compiles.
It takes the first GPU that OpenCL has; SCILPY_DEVICE=cpu takes the first CPU, such as that of pocl."""

import json
import os
import sys
import time
from pathlib import Path

import nibabel as nib
import numpy as np
from scilpy.gpuparallel import opencl_utils
from scilpy.tracking.tracker import GPUTracker

if len(sys.argv) not in (4, 5):
    sys.exit(__doc__)
if os.environ.get("SCILPY_DEVICE") == "cpu":
    named = opencl_utils.cl_device_type
    opencl_utils.cl_device_type = lambda _: named("cpu")
directory, algorithm, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
job = json.loads((directory / "job.json").read_text())
MAX_POINTS = 1001  # 500 mm in steps of 0.5 mm
fods = np.asarray(nib.load(directory / "fod.nii").dataobj, dtype=np.float32)
mask = np.asarray(nib.load(directory / "track_mask.nii").dataobj) > 0
seeds = np.load(directory / "seeds.npy")
seeds = np.tile(seeds, (-(-n // len(seeds)), 1))[:n]
for turn in range(2):  # run twice: the compiler and the memory of the driver are warm in the second run
    start = time.perf_counter()
    tracker = GPUTracker(fods, mask, seeds, job["step_size_voxels"], MAX_POINTS, theta=job["max_angle"], sh_basis="tournier07", is_legacy=False,
                         batch_size=int(sys.argv[4]) if len(sys.argv) == 5 else 100000, rng_seed=1, algo=algorithm)
    lengths = np.array([len(points) for points, _ in tracker])
    seconds = time.perf_counter() - start
    print(f"scilpy {algorithm}: {n} seeds, {np.count_nonzero(lengths > 1)} streamlines, {lengths[lengths > 1].sum()} points, {seconds:.3f} s, "
          f"{lengths[lengths > 1].sum() / seconds / 1e6:.2f} million points/s")
