"""Probabilistic, deterministic and closest-peak tracking by DIPY and by glslines on the phantom, with the same ODFs, stop map, directions and seeds.

    dipy_odf_tracking.py [--glslines PROGRAM] [--work DIR] [--nseeds N] [--processes N] [--noise] [glslines options]

DIPY's two trackers are compared: LocalTracking, of amplitudes and of SH coefficients between the voxels, and dipy.tracking.tracker, which starts at the strongest
peak of each seed only. DIPY's results are kept in DIR under names made from all that they depend on. Options not known here are handed to `glslines track`. Exits with 1 where a bound is not met."""

import argparse
import hashlib
import multiprocessing
import os
import sys
import time
import warnings
from pathlib import Path

import dipy_tracking as base  # limits the threads of numpy; set it before numpy is loaded

import dipy
import nibabel as nib
import numpy as np
from dipy.core.sphere import HemiSphere
from dipy.direction import ClosestPeakDirectionGetter, DeterministicMaximumDirectionGetter, ProbabilisticDirectionGetter
from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel, auto_response_ssst
from dipy.tracking import tracker
from dipy.tracking.local_tracking import LocalTracking
from dipy.tracking.stopping_criterion import ThresholdStoppingCriterion

from compare_tractograms import Tractogram, compare, compare_pairs, from_lines, load, print_pairs, print_table

MAX_ANGLE = 30.0
FA_THRESHOLD = 0.1
PMF_THRESHOLD = 0.1
STEP = 0.5  # voxels
ORDER = 8
N_COEFFICIENTS = 15  # of the SH images, order 4; with directions from a file, llvmpipe takes 20 s to compile for the 45 of order 8
MAX_POINTS = 2000  # a limit that is never reached, because DIPY's trackers treat longer streamlines differently
SEEDS_PER_TASK = 2500
FEWER = 4  # where nothing is drawn, each streamline is compared with that of the same seed, so a fourth of the seeds is enough
PAIR_TOLERANCE = 0.1  # voxels
MIN_IDENTICAL = 0.95
# relative peak threshold, separation in degrees, largest number of directions of a seed
RULES = {"LocalTracking": (0.25, 45.0, 32), "LocalTracking of SH": (0.25, 45.0, 32), "tracker": (0.5, 25.0, 1)}
GETTERS = {"prob": ProbabilisticDirectionGetter, "det": DeterministicMaximumDirectionGetter, "closest": ClosestPeakDirectionGetter}
TRACKERS = {"prob": tracker.probabilistic_tracking, "det": tracker.deterministic_tracking, "closest": tracker.closestpeak_tracking}

problem = None  # set before the workers fork, so that they share the arrays


def fit_part(part):
    model, data = problem.model, problem.data[problem.mask]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(data[part])
        return fit.odf(problem.hemisphere), fit.shm_coeff[:, :N_COEFFICIENTS]


class Problem(base.Problem):
    """Makes the input of both programs, and adds the ODFs, which DIPY's deconvolution makes."""

    def __init__(self, glslines, work, nseeds, processes):
        global problem
        super().__init__(glslines, work, nseeds)
        problem = self
        self.hemisphere = HemiSphere(xyz=self.sphere)
        self.all_seeds = self.seeds
        h = hashlib.sha256(f"{dipy.__version__} csd {ORDER} {N_COEFFICIENTS}".encode())
        for array in (self.data, self.table.bvals, self.table.bvecs, self.sphere, self.mask):
            h.update(np.ascontiguousarray(array).tobytes())
        self.odf_path, self.sh_path = (work / f"{what}-{h.hexdigest()[:16]}.nii.gz" for what in ("odf", "sh"))
        if not (self.odf_path.exists() and self.sh_path.exists()):
            self.make_odf(processes)
        self.pmf, self.sh = (np.asarray(nib.load(path).dataobj).astype(float) for path in (self.odf_path, self.sh_path))
        self.directions_path = work / "directions.txt"
        np.savetxt(self.directions_path, self.sphere, fmt="%.17g")

    def make_odf(self, processes):
        response, _ = auto_response_ssst(self.table, self.data, roi_radii=10, fa_thr=0.7)
        self.model = ConstrainedSphericalDeconvModel(self.table, response, sh_order_max=ORDER)
        n = int(self.mask.sum())
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            parts = pool.map(fit_part, [slice(i, i + 2000) for i in range(0, n, 2000)])
        for i, path in enumerate((self.odf_path, self.sh_path)):
            values = np.concatenate([part[i] for part in parts])
            image = np.zeros(self.shape + values.shape[1:], np.float32)
            image[self.mask] = values.clip(min=0) if path == self.odf_path else values
            partial = path.with_name("part-" + path.name)
            nib.save(nib.Nifti1Image(image, self.affine), partial)
            partial.rename(path)

    def take_seeds(self, n):
        """Returns the first n of all seeds, for both programs."""
        self.seeds, self.seeds_path = self.all_seeds[:n], self.seeds_path.with_name(f"seeds-{n}.txt")
        np.savetxt(self.seeds_path, self.seeds, fmt="%.6f")

    def key(self, getter, rules):
        settings = (dipy.__version__, getter, rules, RULES[rules], MAX_ANGLE, FA_THRESHOLD, PMF_THRESHOLD, STEP, MAX_POINTS)
        h = hashlib.sha256(repr(settings).encode())
        for array in (self.sphere, self.fa, self.seeds, self.sh if "SH" in rules else self.pmf, self.affine):
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()[:16]


def local_tracking(getter, rules, part, stream):
    relative, separation, _ = RULES[rules]
    settings = {"max_angle": MAX_ANGLE, "pmf_threshold": PMF_THRESHOLD, "relative_peak_threshold": relative, "min_separation_angle": separation}
    # the getter changes the signs of its sphere's vertices, so each getter gets a sphere of its own
    sphere = HemiSphere(xyz=problem.sphere)
    if "SH" in rules:
        directions = GETTERS[getter].from_shcoeff(problem.sh, sphere=sphere, basis_type="descoteaux07", legacy=True, **settings)
    else:
        directions = GETTERS[getter].from_pmf(problem.pmf, sphere=sphere, **settings)
    np.random.seed((stream, part.start))
    criterion = ThresholdStoppingCriterion(problem.fa, FA_THRESHOLD)
    # random_seed sets DIPY's own generator from the position of each seed
    random_seed = 1 + stream
    tracking = LocalTracking(
        directions,
        criterion,
        problem.seeds[part],
        np.eye(4),
        STEP,
        max_cross=RULES[rules][2],
        maxlen=MAX_POINTS,
        random_seed=random_seed,
        save_seeds=True,
    )
    return [(nib.affines.apply_affine(problem.affine, line), seed) for line, seed in tracking]


def modern_tracking(getter, part, stream):
    step = STEP * problem.voxel
    seeds = problem.seeds[part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = TRACKERS[getter](
            nib.affines.apply_affine(problem.affine, seeds),
            ThresholdStoppingCriterion(problem.fa, FA_THRESHOLD),
            problem.affine,
            sf=problem.pmf,
            sphere=HemiSphere(xyz=problem.sphere),
            min_len=0,
            max_len=MAX_POINTS * step,
            step_size=step,
            voxel_size=np.full(3, problem.voxel),
            max_angle=MAX_ANGLE,
            pmf_threshold=PMF_THRESHOLD,
            nbr_threads=1,
            random_seed=1000003 + stream,  # a large number: DIPY multiplies it by a position, and the whole part of the product is the seed of the generator
            save_seeds=True,
        )
        inverse = np.linalg.inv(problem.affine)
        return [(np.asarray(line), nib.affines.apply_affine(inverse, seed)) for line, seed in lines]


def track_part(task):
    """Tracks one slice of the seeds with DIPY. Returns the streamlines of more than one point, world mm, and the index of the
    seed of each."""
    getter, rules, stream, first = task
    part = slice(first, min(first + SEEDS_PER_TASK, len(problem.seeds)))
    pairs = modern_tracking(getter, part, stream) if rules == "tracker" else local_tracking(getter, rules, part, stream)
    pairs = [(np.asarray(line), seed) for line, seed in pairs if len(line) > 1]
    seeds = problem.seeds[part]
    index = [first + int(np.abs(seeds - seed).sum(axis=1).argmin()) for _, seed in pairs]
    return [line for line, _ in pairs], index


def track_dipy(work, processes, getter, rules, stream):
    """Returns DIPY's streamlines and the seconds that they took. stream: selects other random numbers."""
    path = work / f"dipy-{getter}-{problem.key(getter, rules)}-{stream}.npz"
    if path.exists():
        stored = np.load(path)
        return Tractogram(stored["points"], stored["offsets"], stored["seed_index"]), float(stored["seconds"])
    start = time.monotonic()
    tasks = [(getter, rules, stream, first) for first in range(0, len(problem.seeds), SEEDS_PER_TASK)]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        parts = pool.map(track_part, tasks, chunksize=1)
    seconds = time.monotonic() - start
    result = from_lines([line for lines, _ in parts for line in lines])
    index = np.array([i for _, indices in parts for i in indices], dtype=np.int64)
    order = np.argsort(index, kind="stable")
    result.seed_index = index
    if not np.array_equal(order, np.arange(len(order))):
        result = result.select(order)
    partial = path.with_suffix(".part.npz")
    np.savez_compressed(partial, points=result.points, offsets=result.offsets, seed_index=result.seed_index, seconds=seconds)
    partial.rename(path)
    return result, seconds


def track_glslines(glslines, work, getter, rules, extra):
    d = problem.directory
    relative, separation, most = RULES[rules]
    out = work / f"glslines-{getter}-{rules.replace(' ', '-')}.trx"
    command = [glslines, "track", "--preset", "gpustreamlines", "-o", out, "--force", "-q", "--dg", getter, "--sphere", problem.directions_path]
    command += ["--sh", problem.sh_path, "--sh-basis", "descoteaux07_legacy"] if "SH" in rules else ["--odf", problem.odf_path]
    command += ["--mask-stop", "interpolated"]
    command += ["--sh-frame", "image", "--fa", problem.fa_path, "--mask", d / "mask.nii.gz", "--roi", d / "roi.nii.gz"]
    command += ["--seeds", problem.seeds_path, "--seed-space", "voxel", "--fa-threshold", FA_THRESHOLD, "--step-size", STEP]
    command += ["--max-angle", MAX_ANGLE, "--pmf-threshold", PMF_THRESHOLD, "--relative-peak-threshold", relative]
    command += ["--min-separation-angle", separation, "--max-directions-per-seed", most, "--max-length", MAX_POINTS * STEP * problem.voxel]
    start = time.monotonic()
    base.run(*command, *extra)
    return load(out), time.monotonic() - start


def compare_one(args, extra, getter, rules):
    """Prints the table of one getter under the rules of one of DIPY's trackers. Returns whether all bounds are met."""
    problem.take_seeds(args.nseeds if getter == "prob" else args.nseeds // FEWER)
    ours, ours_seconds = track_glslines(args.glslines, args.work, getter, rules, extra)
    theirs, dipy_seconds = track_dipy(args.work, args.processes, getter, rules, 0)
    table = compare(theirs, ours, problem.affine, problem.mask)
    good = all(row[-1] for row in table)
    print(f"\n{getter}, the rules of DIPY's {rules}, {len(problem.seeds)} seeds")
    print_table(table, (f"DIPY {dipy.__version__}", "glslines"))
    if getter != "prob":
        result = compare_pairs(theirs, ours, PAIR_TOLERANCE * problem.voxel)
        print_pairs(result, ("DIPY", "glslines"))
        same = result["identical_share"] > MIN_IDENTICAL
        print(f"  bound                   > {100 * MIN_IDENTICAL:g} %{'' if same else '  FAILED'}")
        good &= same
    print(f"DIPY {dipy_seconds:.0f} s with {args.processes} processes (or kept from then), glslines {ours_seconds:.1f} s with reading and writing")
    if args.noise and getter == "prob":
        other, _ = track_dipy(args.work, args.processes, getter, rules, 1)
        print("The same between two runs of DIPY with different random numbers:")
        print_table(compare(theirs, other, problem.affine, problem.mask), ("one", "other"))
    return good


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--glslines", type=Path, default=root / "build/glslines")
    parser.add_argument("--work", type=Path, default=root / "build/peer")
    parser.add_argument("--nseeds", type=int, default=20000, help="10,000 leave the density maps of two runs of DIPY itself at a correlation of 0.977")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--noise", action="store_true", help="also compare two runs of DIPY, which shows how much chance contributes")
    parser.add_argument("--rules", choices=list(RULES), help="of one of DIPY's trackers alone")
    parser.add_argument("--getters", default=",".join(GETTERS), help="of these alone")
    args, extra = parser.parse_known_args()
    args.glslines = args.glslines.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    Problem(args.glslines, args.work, args.nseeds, args.processes)
    print(f"{args.nseeds} seeds, phantom of {' x '.join(map(str, problem.shape))} voxels, ODFs on {len(problem.sphere)} pairs of directions")
    met = [compare_one(args, extra, getter, rules) for rules in ([args.rules] if args.rules else RULES) for getter in args.getters.split(",")]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
