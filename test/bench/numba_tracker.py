"""GPUStreamlines' CPU tracker, which numba compiles, on the data of `glslines bench`: seconds, streamlines and points.

    numba_tracker.py DIRECTORY SEEDS [THREADS]

DIRECTORY was written by `build/test/glslines_bench bench --dg prob`. The amplitudes on the half sphere, the stop map, the seeds, the step and the largest angle are those of the
benchmark. "track" is both passes, "streamlines" also the list of streamlines, which a user waits for; seeds are taken in parts of 2,000, since the tracker keeps 1,002 points for
each streamline. The first turn compiles, and is not timed. Needs cuslines, numba, DIPY and trx-python, and a machine on which cuslines finds no GPU."""

import json
import sys
import time
from pathlib import Path

import nibabel as nib
import numba
import numpy as np
from cuslines import BACKEND, ProbDirectionGetter, Tracker
from dipy.core.sphere import HemiSphere
from dipy.reconst.shm import sh_to_sf

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
if BACKEND is not None:
    sys.exit(f"cuslines takes its back end {BACKEND} here")
directory, n = Path(sys.argv[1]), int(sys.argv[2])
if len(sys.argv) == 4:
    numba.set_num_threads(int(sys.argv[3]))
job = json.loads((directory / "job.json").read_text())


def image(name):
    return np.asarray(nib.load(directory / name).dataobj, dtype=np.float32)


sphere = HemiSphere(xyz=np.load(directory / "sphere.npy"))
amplitudes = np.clip(sh_to_sf(image("sh.nii"), sphere, sh_order_max=job["sh_order"], basis_type="descoteaux07", legacy=True), 0, None)
seeds = np.load(directory / "seeds.npy")[:n]
tracker = Tracker(ProbDirectionGetter(), amplitudes, image("fa.nii"), job["fa_threshold"], sphere.vertices, sphere.edges, sphere_symm=True,
                  max_angle=np.radians(job["max_angle"]), step_size=job["step_size_voxels"], relative_peak_thresh=job["relative_peak_threshold"],
                  min_separation_angle=np.radians(job["min_separation_angle"]), chunk_size=2000)
tracker.seed_propagator.propagate(seeds[:10])
for turn in range(3):
    tracking, lengths, start = 0, [], time.perf_counter()
    for first in range(0, len(seeds), tracker.chunk_size):
        begin = time.perf_counter()
        tracker.seed_propagator.propagate(seeds[first:first + tracker.chunk_size])
        tracking += time.perf_counter() - begin
        lengths += [len(points) for points in tracker.seed_propagator.as_array_sequence()]
    seconds, lengths = time.perf_counter() - start, np.array(lengths)
    points = lengths[lengths > 1].sum()
    print(f"cuslines on numba, {numba.get_num_threads()} threads: {len(seeds)} seeds, {np.count_nonzero(lengths > 1)} streamlines, {points} points, track {tracking:.3f} s, "
          f"{points / tracking / 1e6:.3f} million points/s, streamlines {seconds:.3f} s")
