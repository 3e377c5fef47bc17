#!/usr/bin/env python3
"""Tissue, regions and back-tracking against tckgen -act and DIPY's stopping criteria on the phantom.

Usage: anatomy.py GLSLINES WORK [--seeds N]

Tracking is random, so the peer runs twice, and counts may differ by what chance makes of them. ifod1 against tckgen's iFOD1 without and with -act, with
-backtrack, -crop_at_gmwmi and deep grey matter: streamlines kept, seeds rejected, bad ends, and why halves ended. Every streamline of glslines is then followed
from its seed with the rules in double precision: none may go on behind an end, and every end has to be one. prob against DIPY's LocalTracking with
ActStoppingCriterion and CmcStoppingCriterion: streamlines kept, and their points. Status 77 without MRtrix3."""
import argparse
import json
import os
import re
import shutil
import sys

import nibabel as nib
import numpy as np

from checks import check, failed, run

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tool")
parser.add_argument("work")
parser.add_argument("--seeds", type=int, default=1000)
arguments = parser.parse_args()
tool, work, N = os.path.abspath(arguments.tool), os.path.abspath(arguments.work), arguments.seeds


def at(name):
    return os.path.join(work, name)


def allowed(share, n, runs=2):
    """Returns a bound: four standard deviations of a share of n against the mean of so many runs of n, plus one or two
    streamlines."""
    return 4 * np.sqrt((1 + 1 / runs) * share * (1 - share) / n) + 2 / n


# --- the tissue in double precision --------------------------------------------------------------------------------


class Tissue:
    def __init__(self, path):
        image = nib.load(path)
        self.value, self.to_voxels = np.asarray(image.dataobj, float), np.linalg.inv(image.affine)

    def __call__(self, points):
        """Returns which points have tissue, and the five fractions there."""
        q = nib.affines.apply_affine(self.to_voxels, points)
        n = np.array(self.value.shape[:3])
        inside = np.all((q > -0.5) & (q < n - 0.5), axis=1)
        low, part = np.floor(q).astype(int), np.zeros((len(q), 5))
        for corner in np.ndindex(2, 2, 2):
            index = np.clip(low + corner, 0, n - 1)
            weight = np.prod(np.where(corner, q - low, 1 - (q - low)), axis=1)
            part += weight[:, None] * self.value[tuple(index.T)]
        nearest = self.value[tuple(np.clip(np.floor(q + 0.5).astype(int), 0, n - 1).T)]
        return inside & nearest.any(axis=1) & (part.sum(axis=1) >= 0.5), part


SLACK = 1e-3  # fractions are kept in half precision


def faults(tissue, path, seeds, kept_by_deep_grey):
    """Counts halves that go on where they had to end, and ends that are no ends by the rules."""
    lines, place = list(nib.streamlines.load(path).streamlines), np.loadtxt(seeds, delimiter=",", usecols=(0, 1), ndmin=2).astype(int)
    passed = wrong = 0
    for (number, seed), line in zip(place, lines):
        for half in (line[seed + 1 :], line[:seed][::-1]):
            if len(half) == 0:
                continue
            ok, v = tissue(half.astype(float))
            cgm, sgm, wm, csf, path_ = v.T
            grey = cgm + sgm
            cortex = (grey >= wm + SLACK) & (grey > csf + SLACK) & (grey > path_ + SLACK) & (cgm >= sgm + SLACK)
            ventricle = csf >= np.max(v[:, [0, 1, 2, 4]], axis=1) + SLACK
            passed += (cortex | ventricle | ~ok)[:-1].any()
            near = (grey[-1] >= wm[-1] - SLACK) and grey[-1] > csf[-1] - SLACK and grey[-1] > path_[-1] - SLACK
            beyond = half[-1] + (half[-1] - (half[-2] if len(half) > 1 else line[seed]))  # a point outside is a good end, and is left out
            wrong += not (near or path_[-1] > 0.3 or (kept_by_deep_grey and sgm[-1] > 0.2) or not tissue(beyond[None].astype(float))[0][0])
    return len(lines), passed, wrong


# --- MRtrix3 ---------------------------------------------------------------------------------------------------------

ENDS = {"Entered cortical grey matter": "cortical_grey", "Entered CSF": "csf", "Diffusion model sub-threshold": "no_direction",
        "Terminated in subcortex": "deep_grey", "Exiting sub-cortical GM": "deep_grey_exit"}


def tckgen(name, options, number):
    path = at(f"{name}_{number}.tck")
    text = run("tckgen", sh, path, "-force", "-info", "-algorithm", "iFOD1", "-seed_image", roi, "-mask", mask, "-seeds", N, "-select", 0, "-cutoff", 0.05,
               "-minlength", 4, "-maxlength", 250, "-downsample", 1, "-nthreads", 0, *options, MRTRIX_RNG_SEED=str(1000 * number))
    text = re.sub(r"\x1b\[[0-9;]*[a-zA-Z]", "", text)
    count = lambda words: int((re.search(words + r": (\d+)", text) or [0, 0])[1])
    ends = {ours: float((re.search(theirs + r": ([\d.e-]+)%", text) or [0, 0])[1]) / 100 for theirs, ours in ENDS.items()}
    return {"kept": len(nib.streamlines.load(path).streamlines), "seeds": count("Invalid seed point"),
            "poor": count("Poor structural termination"), "ends": ends}


def glslines(name, options):
    path, table = at(name + "_glslines.tck"), at(name + ".csv")
    run(tool, "track", "--sh", sh, "--mask", mask, "--roi", roi, "--dg", "ifod1", "--nseeds", N, "--cutoff", 0.05, "--min-length", 4, "--max-length", 250,
        "--seed-seed", 1, "--output-seeds", table, "-o", path, "-q", "--force", *options)
    c = json.load(open(path.replace(".tck", ".json")))["counts"]
    halves = sum(c["half_streamline_ends"].values()) - c["half_streamline_ends"]["not_tracked"]
    return {"kept": c["streamlines"], "seeds": c["seeds_rejected"], "poor": c["rejected"]["poor_end"],
            "ends": {end: c["half_streamline_ends"][end] / halves for end in ENDS.values()}}, path, table


def against_tckgen(name, theirs, ours, tissue):
    one, two = tckgen(name, theirs, 1), tckgen(name, theirs, 2)
    mine, path, table = glslines(name, ours)
    for what in ("kept", "seeds", "poor"):
        share = (one[what] + two[what]) / 2 / N
        check(abs(mine[what] / N - share) <= allowed(share, N), f"{name}: {what} {mine[what]}, tckgen's {one[what]} and {two[what]} of {N}")
    for end in ENDS.values() if tissue else ():
        share = (one["ends"][end] + two["ends"][end]) / 2
        check(abs(mine["ends"][end] - share) <= max(allowed(share, 2 * N), 0.01),
              f"{name}: halves that end as {end} {100 * mine['ends'][end]:.2f} %, tckgen's {100 * one['ends'][end]:.2f} and {100 * two['ends'][end]:.2f}")
    if tissue and "-crop_at_gmwmi" not in theirs:
        n, passed, wrong = faults(Tissue(tissue), path, table, "sgm" in name)
        check(n == mine["kept"] and passed == wrong == 0, f"{name}: {n} streamlines, {passed} halves go on behind an end, {wrong} ends are none")
    return mine


# --- DIPY ------------------------------------------------------------------------------------------------------------


def against_dipy():
    from dipy.core.sphere import HemiSphere
    from dipy.data import get_sphere
    from dipy.direction import ProbabilisticDirectionGetter
    from dipy.reconst.shm import sh_to_sf
    from dipy.tracking.local_tracking import LocalTracking
    from dipy.tracking.stopping_criterion import ActStoppingCriterion, CmcStoppingCriterion

    sphere = HemiSphere.from_sphere(get_sphere(name="repulsion200"))
    image = nib.load(sh)
    pmf = sh_to_sf(np.asarray(image.dataobj), sphere, sh_order_max=6, basis_type="tournier07", legacy=False).clip(min=0).astype(np.float32)
    nib.save(nib.Nifti1Image(pmf, image.affine), at("odf.nii.gz"))
    np.savetxt(at("directions.txt"), sphere.vertices, fmt="%.17g")
    nib.save(nib.Nifti1Image(np.ones(pmf.shape[:3], np.float32), image.affine), at("ones.nii.gz"))
    five = np.asarray(nib.load(act).dataobj, float)
    gm, wm, csf = five[..., 0], five[..., 2], five[..., 3]
    for name, volume in (("wm", wm), ("gm", gm), ("csf", csf)):
        nib.save(nib.Nifti1Image(volume.astype(np.float32), image.affine), at(name + ".nii.gz"))
    random = np.random.default_rng(7)
    voxels = np.argwhere(wm > 0.9)
    seeds = voxels[random.integers(len(voxels), size=N // 2)] + random.uniform(-0.5, 0.5, (N // 2, 3))
    np.savetxt(at("seeds.txt"), seeds, fmt="%.9g")
    include = np.where(wm + gm + csf == 0, 1.0, gm)
    criteria = {"pve": lambda: ActStoppingCriterion(include, csf), "cmc": lambda: CmcStoppingCriterion(include, csf, step_size=0.5, average_voxel_size=1)}
    for rule, criterion in criteria.items():
        theirs = []
        for number in (1, 2):
            directions = ProbabilisticDirectionGetter.from_pmf(pmf.astype(float), max_angle=30, sphere=HemiSphere(xyz=sphere.vertices), pmf_threshold=0.1,
                                                               relative_peak_threshold=0.5, min_separation_angle=25)
            np.random.seed(number)
            theirs.append(np.array([len(line) for line in LocalTracking(directions, criterion(), seeds, np.eye(4), 0.5, max_cross=1, maxlen=2000,
                                                                        return_all=False, random_seed=number)]))
        path = at(rule + ".trk")
        run(tool, "track", "--odf", at("odf.nii.gz"), "--sphere", at("directions.txt"), "--sh-frame", "image", "--fa", at("ones.nii.gz"), "--seeds", at("seeds.txt"),
            "--dg", "prob", "--max-angle", 30, "--pmf-threshold", 0.1, "--relative-peak-threshold", 0.5, "--min-separation-angle", 25,
            "--max-directions-per-seed", 1, "--step-size", 0.5, "--min-length", 0, "--max-length", 1000, "--precision", "float", "--pve-wm", at("wm.nii.gz"),
            "--pve-gm", at("gm.nii.gz"), "--pve-csf", at("csf.nii.gz"), "--act-rule", rule, "-o", path, "-q", "--force")
        mine = np.array([len(line) for line in nib.streamlines.load(path).streamlines]) - 2  # DIPY leaves out the points at which halves end
        share, n = (len(theirs[0]) + len(theirs[1])) / 2 / len(seeds), len(seeds)
        check(abs(len(mine) / n - share) <= allowed(share, n), f"{rule}: {len(mine)} streamlines, DIPY's {len(theirs[0])} and {len(theirs[1])} of {n} seeds")
        both = np.concatenate(theirs)
        error = np.sqrt(mine.var() / len(mine) + both.var() / len(both))
        check(abs(mine.mean() - both.mean()) <= 4 * error + 0.2,
              f"{rule}: {mine.mean():.2f} points, DIPY's {theirs[0].mean():.2f} and {theirs[1].mean():.2f}, standard error {error:.2f}")


if not shutil.which("tckgen"):
    print("no MRtrix3")
    sys.exit(77)
os.makedirs(work, exist_ok=True)
data = at("phantom")
run(tool, "phantom", data, "--force", "-q")
dwi, bval, bvec, mask, roi, act = (os.path.join(data, f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz", "5tt.nii.gz"))
run(tool, "fit", dwi, bval, bvec, mask, at("fit"), "--model", "csd", "--sh-order", 6, "--force", "-q")
sh = at("fit_sh.nii.gz")
image = nib.load(act)
deep = np.asarray(image.dataobj, np.float32)
world = nib.affines.apply_affine(image.affine, np.stack(np.meshgrid(*map(np.arange, deep.shape[:3]), indexing="ij"), -1))
near = ((world - [0, -10, 5]) ** 2).sum(-1) <= 26**2
deep[..., 1], deep[..., 0] = np.where(near, deep[..., 0], 0), np.where(near, 0, deep[..., 0])
sgm = at("5tt_sgm.nii.gz")
nib.save(nib.Nifti1Image(deep, image.affine), sgm)

against_tckgen("free", [], [], None)
plain = against_tckgen("act", ["-act", act], ["--act", act], act)
back = against_tckgen("act_backtrack", ["-act", act, "-backtrack"], ["--act", act, "--backtrack"], act)
check(back["kept"] > 1.2 * plain["kept"], f"back-tracking: {back['kept']} streamlines in place of {plain['kept']}")
against_tckgen("act_crop", ["-act", act, "-crop_at_gmwmi"], ["--act", act, "--crop-at-gmwmi"], act)
against_tckgen("sgm", ["-act", sgm], ["--act", sgm], sgm)
against_tckgen("sgm_backtrack", ["-act", sgm, "-backtrack"], ["--act", sgm, "--backtrack"], sgm)
against_dipy()
sys.exit(1 if failed else 0)
