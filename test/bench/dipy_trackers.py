"""DIPY on the data of `glslines bench`: peers.py runs this script and reads the JSON that it prints.

    dipy_trackers.py DIRECTORY SECONDS | --check

DIRECTORY holds job.json and what that names, written by build/test/glslines_bench; --check prints the version of DIPY. Everything lies in voxel coordinates, so that no affine is involved. Each
tracker gets seeds from the front of the list, part by part, and from the front again, until its time is over; what counts is points per second. Streamlines of one point are left
out, as glslines leaves them out."""

import json
import os
import sys
import time
import warnings
from pathlib import Path

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
# one core means one core: numpy reads these variables when it is loaded
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

try:
    import dipy
    import nibabel as nib
    import numpy as np
except ImportError as error:
    sys.exit(f"{sys.executable}: {error}; install dipy")
if sys.argv[1] == "--check":
    print(dipy.__version__)
    sys.exit()
from dipy.core.gradients import gradient_table
from dipy.core.sphere import HemiSphere
from dipy.direction import BootDirectionGetter, DeterministicMaximumDirectionGetter, ProbabilisticDirectionGetter, PTTDirectionGetter
from dipy.reconst.shm import CsaOdfModel, OpdtModel
from dipy.tracking import tracker
from dipy.tracking.local_tracking import LocalTracking
from dipy.tracking.stopping_criterion import ThresholdStoppingCriterion

warnings.filterwarnings("ignore")
directory = Path(sys.argv[1])
job = json.loads((directory / "job.json").read_text())
MAX_POINTS = 4000  # largest number of points of a half-streamline; none has so many
PART = 10  # seeds between two looks at the clock, for the slow trackers


def image(name):
    return np.asarray(nib.load(directory / name).dataobj)


sphere = HemiSphere(xyz=np.load(directory / "sphere.npy"))
stop = ThresholdStoppingCriterion(image("fa.nii").astype(float), job["fa_threshold"])
seeds = np.load(directory / "seeds.npy")
seconds_each = float(sys.argv[2])
step, substep, substeps = job["step_size_voxels"], job["ptt_substep_voxels"], job["ptt_substeps"]
peaks = {"relative_peak_threshold": job["relative_peak_threshold"], "min_separation_angle": job["min_separation_angle"]}
results = []


def count(lines):
    lengths = [len(line) for line in lines]
    return sum(n for n in lengths if n > 1), sum(n > 1 for n in lengths)


def measure(name, dg, threads, track, part, points_per_point=1):
    """Runs track(seeds) on one part of the seeds after the other, until the time is over. Begins at the front again when the
    list is over."""
    done = points = streamlines = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds_each:
        first = done % len(seeds)
        some = seeds[first : first + part]
        n_points, n_lines = count(track(some))
        done, points, streamlines = done + len(some), points + n_points, streamlines + n_lines
    seconds = time.perf_counter() - start
    results.append({"name": name, "dg": dg, "threads": threads, "seeds": done, "streamlines": streamlines, "points": round(points / points_per_point), "seconds": seconds})


def local(getter, length=step, maxlen=MAX_POINTS):
    return lambda part: LocalTracking(getter, stop, part, np.eye(4), step_size=length, maxlen=maxlen)


def boot():
    table = np.load(directory / "gradients.npy")
    gradients = gradient_table(table[:, 0], bvecs=table[:, 1:], b0_threshold=job["b0_threshold"])
    model_class = {"opdt": OpdtModel, "csa": CsaOdfModel}[job["model"]]
    model = model_class(gradients, job["sh_order"], smooth=job["sm_lambda"], min_signal=job["min_signal"])
    getter = BootDirectionGetter.from_data(image("dwi.nii").astype(float), model, max_angle=job["max_angle"], sphere=sphere, sh_order=job["sh_order"], **peaks)
    measure("LocalTracking", "boot", 1, local(getter), PART)


def sh_getter(kind, **more):
    return kind.from_shcoeff(sh(), max_angle=job["max_angle"], sphere=sphere, pmf_threshold=job["pmf_threshold"], basis_type="descoteaux07", legacy=True, **more)


def sh():
    return image("sh.nii").astype(float)


def generic(dg, track, name, length, points_per_point=1, **more):
    """The trackers of dipy.tracking.tracker, which are compiled and have threads of their own."""
    coefficients = sh()

    def run(part, threads):
        lines = track(part, stop, np.eye(4), sh=coefficients, basis_type="descoteaux07", legacy=True, sphere=sphere, step_size=length, voxel_size=np.ones(3),
                      max_angle=job["max_angle"], pmf_threshold=job["pmf_threshold"], min_len=0, max_len=MAX_POINTS, nbr_threads=threads, random_seed=0, **more)
        return lines.streamlines if hasattr(lines, "streamlines") else lines

    part = max(100, len(seeds) // 20) if dg != "ptt" else 2 * PART
    for threads in sorted({1, 2, os.cpu_count()} if dg == "prob" else {os.cpu_count()}):
        measure(name, dg, threads, lambda s, threads=threads: run(s, threads), part, points_per_point)


def prob():
    measure("LocalTracking, SH", "prob", 1, local(sh_getter(ProbabilisticDirectionGetter, **peaks)), PART)
    from dipy.reconst.shm import sh_to_sf

    # amplitudes take 1.9 GB for the default phantom
    amplitudes = np.clip(sh_to_sf(sh(), sphere, sh_order_max=job["sh_order"], basis_type="descoteaux07", legacy=True), 0, None)
    getter = ProbabilisticDirectionGetter.from_pmf(amplitudes, max_angle=job["max_angle"], sphere=sphere, pmf_threshold=job["pmf_threshold"], **peaks)
    measure("LocalTracking, amplitudes", "prob", 1, local(getter), PART)
    del amplitudes, getter
    generic("prob", tracker.probabilistic_tracking, "probabilistic_tracking", step)


def det():
    measure("LocalTracking, SH", "det", 1, local(sh_getter(DeterministicMaximumDirectionGetter, **peaks)), PART)
    generic("det", tracker.deterministic_tracking, "deterministic_tracking", step)


def ptt():
    # glslines draws a curve after every short step; DIPY with that step makes substeps points where glslines stores one
    probe = {"probe_length": job["probe_length_voxels"], "probe_radius": 0, "probe_quality": job["probe_quality"] + 1, "probe_count": 1, "data_support_exponent": 1}
    getter = sh_getter(PTTDirectionGetter, **probe)
    measure("LocalTracking, short steps", "ptt", 1, local(getter, substep, MAX_POINTS * substeps), 1, substeps)
    measure("LocalTracking, one curve a step", "ptt", 1, local(getter), PART)


for name, measured in {"boot": boot, "prob": prob, "det": det, "ptt": ptt}.items():
    if name in job["dg"]:
        measured()
print(json.dumps({"dipy": dipy.__version__, "numpy": np.__version__, "python": sys.version.split()[0], "results": results}))
