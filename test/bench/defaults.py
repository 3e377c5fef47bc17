#!/usr/bin/env python3
"""What the defaults make of a human brain and of the phantom, beside DIPY and MRtrix3: the tables of src/doc/presets.md.

Usage: defaults.py GLSLINES WORK [--only TEXT] [--again TEXT] [--update presets.md]
The brain is that of the package mappertrac 1.3.1 (pip download); masks, FODs and, by DIPY, tissues of its T1 image are made once in
WORK. Rows are kept in WORK/rows.json and made again where --again names a part of them; --only makes rows of which it is a part. Needs MRtrix3,
nibabel, scipy and DIPY. All rows take about half an hour on two cores.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import zipfile

import nibabel as nib
import numpy as np
from scipy import ndimage

PACKAGE = "mappertrac==1.3.1"
SUBJECT = "mappertrac/data/example_inputs/sub-011591/"
STEM, SEGMENT = (11.3, 20.7, -4.6, 8), (14, 40, 50, 16)  # spheres of a corticospinal tract, mm
SEEDS, SHORTEST = 5000, 12
SLOW = {"DIPY boot": 1000}  # seeds for methods that take minutes

TCKGEN = {"tckgen iFOD2": ["-algorithm", "iFOD2"], "tckgen iFOD1": ["-algorithm", "iFOD1"], "tckgen SD_STREAM": ["-algorithm", "SD_STREAM"],
          "tckgen iFOD2 -act": ["-algorithm", "iFOD2", "-act", "5tt.nii.gz"], "tckgen iFOD1 -act": ["-algorithm", "iFOD1", "-act", "5tt.nii.gz"]}
DIPY = ["DIPY prob", "DIPY det", "DIPY ptt", "DIPY boot"]
CSD = ["--model", "csd"]
OWN = {
    "prob csd": CSD + ["--dg", "prob"],
    "det csd": CSD + ["--dg", "det"],
    "ptt csd": CSD + ["--dg", "ptt"],
    "boot opdt": ["--model", "opdt", "--dg", "boot"],
    "boot csa": ["--model", "csa", "--dg", "boot"],
    "ifod2 csd": CSD + ["--dg", "ifod2"],
    "ifod1 csd": CSD + ["--dg", "ifod1"],
    "sdstream csd": CSD + ["--dg", "sdstream"],
    "prob csd, --sh-order 4": CSD + ["--dg", "prob", "--sh-order", "4"],
    "det csd, --sh-order 4": CSD + ["--dg", "det", "--sh-order", "4"],
    "ptt csd, --sh-order 4": CSD + ["--dg", "ptt", "--sh-order", "4"],
    "prob csd, --csd-rule mrtrix": CSD + ["--dg", "prob", "--csd-rule", "mrtrix"],
    "det csd, --csd-rule mrtrix": CSD + ["--dg", "det", "--csd-rule", "mrtrix"],
    "ptt csd, --csd-rule mrtrix": CSD + ["--dg", "ptt", "--csd-rule", "mrtrix"],
    "ifod2 csd, --csd-rule mrtrix": CSD + ["--dg", "ifod2", "--csd-rule", "mrtrix"],
    "ifod1 csd, --csd-rule mrtrix": CSD + ["--dg", "ifod1", "--csd-rule", "mrtrix"],
    "sdstream csd, --csd-rule mrtrix": CSD + ["--dg", "sdstream", "--csd-rule", "mrtrix"],
    "ifod2 csd, --response": CSD + ["--dg", "ifod2", "--response", "resp.txt"],
    "ifod2 csd, --response --csd-rule mrtrix": CSD + ["--dg", "ifod2", "--response", "resp.txt", "--csd-rule", "mrtrix"],
    "prob csd, one direction a seed": CSD + ["--dg", "prob", "--max-directions-per-seed", "1"],
    "prob csd, --preset gpustreamlines": CSD + ["--dg", "prob", "--preset", "gpustreamlines"],
    "det csd, --preset gpustreamlines": CSD + ["--dg", "det", "--preset", "gpustreamlines"],
    "boot opdt, --preset gpustreamlines": ["--model", "opdt", "--dg", "boot", "--preset", "gpustreamlines"],
    "boot csa, --preset gpustreamlines": ["--model", "csa", "--dg", "boot", "--preset", "gpustreamlines"],
    "prob csd, --preset dipy": CSD + ["--dg", "prob", "--preset", "dipy"],
    "det csd, --preset dipy": CSD + ["--dg", "det", "--preset", "dipy"],
    "ptt csd, --preset dipy": CSD + ["--dg", "ptt", "--preset", "dipy"],
    "boot opdt, --preset dipy": ["--model", "opdt", "--dg", "boot", "--preset", "dipy"],
    "prob csd, --act": CSD + ["--dg", "prob", "--act", "5tt.nii.gz"],
    "det csd, --act": CSD + ["--dg", "det", "--act", "5tt.nii.gz"],
    "ptt csd, --act": CSD + ["--dg", "ptt", "--act", "5tt.nii.gz"],
    "boot opdt, --act": ["--model", "opdt", "--dg", "boot", "--act", "5tt.nii.gz"],
    "boot csa, --act": ["--model", "csa", "--dg", "boot", "--act", "5tt.nii.gz"],
    "ifod2 csd, --act": CSD + ["--dg", "ifod2", "--act", "5tt.nii.gz"],
    "ifod1 csd, --act": CSD + ["--dg", "ifod1", "--act", "5tt.nii.gz"],
}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stderr}")
    return done.stdout


def make(path, what):
    """Calls what() unless the file exists."""
    if not os.path.exists(path):
        start = time.time()
        what()
        print(f"made {path} in {time.time() - start:.0f} s", flush=True)


def fetch():
    run(sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", ".", PACKAGE)
    package = zipfile.ZipFile([f for f in os.listdir() if f.startswith("mappertrac") and f.endswith(".whl")][0])
    for to, name in (("dwi.nii.gz", "dwi/sub-011591_dwi.nii.gz"), ("dwi.bval", "dwi/sub-011591_dwi.bval"), ("dwi.bvec", "dwi/sub-011591_dwi.bvec"), ("t1.nii.gz", "anat/sub-011591_T1w.nii.gz")):
        with open(to, "wb") as file:
            file.write(package.read(SUBJECT + name))


def seed_region():
    mask = nib.load("mask.nii.gz")
    inside = ndimage.binary_erosion(np.asarray(mask.dataobj) > 0, iterations=2)
    fa = np.asarray(nib.load("fa.nii.gz").dataobj)
    nib.save(nib.Nifti1Image((inside & (fa > 0.2)).astype(np.uint8), mask.affine), "wm.nii.gz")


def registration():
    from dipy.align import affine_registration

    series, bval, t1 = nib.load("dwi.nii.gz"), np.loadtxt("dwi.bval"), nib.load("t1.nii.gz")
    b0 = np.asarray(series.dataobj, dtype=np.float32)[..., bval < 50].mean(-1)
    to_t1 = affine_registration(np.asarray(t1.dataobj, dtype=np.float32), b0, moving_affine=t1.affine, static_affine=series.affine,
                                pipeline=["center_of_mass", "translation", "rigid"], level_iters=[1000, 200, 50], nbins=32)[1]
    np.savetxt("t1_to_dwi.txt", to_t1)


def tissues():
    """Computes fractions of CSF, grey and white matter on a grid of 1.6 mm over the series, after a correction of slow
    brightness."""
    from dipy.segment.tissue import TissueClassifierHMRF

    t1, mask, size = nib.load("t1.nii.gz"), nib.load("mask.nii.gz"), 1.6
    sides = np.array(mask.header.get_zooms()[:3], dtype=float)
    shape = tuple(int(np.ceil(n * s / size)) for n, s in zip(mask.shape, sides))
    affine = mask.affine.copy()
    affine[:3, :3] = mask.affine[:3, :3] / sides * size
    way = np.linalg.inv(t1.affine) @ np.loadtxt("t1_to_dwi.txt") @ affine
    brightness = ndimage.affine_transform(np.asarray(t1.dataobj, dtype=np.float32), way[:3, :3], way[:3, 3], output_shape=shape, order=1)
    way = np.linalg.inv(mask.affine) @ affine
    inside = ndimage.affine_transform((np.asarray(mask.dataobj) > 0).astype(np.float32), way[:3, :3], way[:3, 3], output_shape=shape, order=1) > 0.5
    slow = ndimage.gaussian_filter(np.where(inside, brightness, 0), 20 / size) / np.maximum(ndimage.gaussian_filter(inside.astype(float), 20 / size), 1e-3)
    fractions = TissueClassifierHMRF(verbose=False).classify(np.where(inside, brightness / np.maximum(slow, 1), 0), 3, 0.1, max_iter=12)[2]
    for i, name in enumerate(("csf", "gm", "wm")):
        nib.save(nib.Nifti1Image(fractions[..., i].astype(np.float32), affine), f"p_{name}.nii.gz")


def five_tissues():
    """Writes the image of five tissues. Deep grey matter stays 0, because these classes do not distinguish it; fractions add up to 1 where there is tissue"""
    part = {t: nib.load(f"p_{t}.nii.gz") for t in ("gm", "wm", "csf")}
    gm, wm, csf = (np.asarray(part[t].dataobj) for t in ("gm", "wm", "csf"))
    total, none = gm + wm + csf, np.zeros_like(gm)
    image = np.stack([gm, none, wm, csf, none], -1) / np.where(total > 0.5, total, 1)[..., None] * (total > 0.5)[..., None]
    nib.save(nib.Nifti1Image(image.astype(np.float32), part["gm"].affine), "5tt.nii.gz")


def dipy_fods():
    """Runs single-shell deconvolution of order 8 as DIPY's own commands do, in DIPY's basis."""
    from dipy.core.gradients import gradient_table
    from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel, auto_response_ssst

    series, mask = nib.load("dwi.nii.gz"), np.asarray(nib.load("mask.nii.gz").dataobj) > 0
    table = gradient_table(np.loadtxt("dwi.bval"), bvecs=dipy_vectors())
    data = np.asarray(series.dataobj, dtype=np.float32)
    response = auto_response_ssst(table, data, roi_radii=10, fa_thr=0.7)[0]
    fit = ConstrainedSphericalDeconvModel(table, response, sh_order_max=8).fit(data, mask=mask)
    nib.save(nib.Nifti1Image(fit.shm_coeff.astype(np.float32), series.affine), "dipy_sh.nii.gz")


def dipy_vectors():
    """DIPY takes b-vectors as they are, so FSL's tables are turned to voxel axes"""
    bvec = np.loadtxt("dwi.bvec")
    bvec = bvec if bvec.shape[1] == 3 else bvec.T
    if np.linalg.det(nib.load("dwi.nii.gz").affine[:3, :3]) > 0:
        bvec = bvec * [-1, 1, 1]
    return bvec


def prepare():
    make("dwi.nii.gz", fetch)
    make("dwi.mif", lambda: run("mrconvert", "-quiet", "dwi.nii.gz", "-fslgrad", "dwi.bvec", "dwi.bval", "dwi.mif"))
    make("mask.nii.gz", lambda: run("dwi2mask", "-quiet", "dwi.mif", "mask.nii.gz"))
    make("dt.mif", lambda: run("dwi2tensor", "-quiet", "dwi.mif", "-mask", "mask.nii.gz", "dt.mif"))
    make("fa.nii.gz", lambda: run("tensor2metric", "-quiet", "dt.mif", "-fa", "fa.nii.gz"))
    make("wm.nii.gz", seed_region)
    make("resp.txt", lambda: run("dwi2response", "tournier", "-quiet", "dwi.mif", "resp.txt", "-mask", "mask.nii.gz", "-nthreads", 2))
    make("fod.nii.gz", lambda: run("dwi2fod", "csd", "-quiet", "dwi.mif", "resp.txt", "fod.nii.gz", "-mask", "mask.nii.gz", "-nthreads", 2))
    make("t1_to_dwi.txt", registration)
    make("p_gm.nii.gz", tissues)
    make("5tt.nii.gz", five_tissues)
    make("dipy_sh.nii.gz", dipy_fods)


class Brain:
    """Figures of a tractogram."""

    def __init__(self):
        mask, grey = nib.load("mask.nii.gz"), nib.load("p_gm.nii.gz")
        self.middle = nib.affines.apply_affine(mask.affine, np.argwhere(np.asarray(mask.dataobj) > 0))[:, 0].mean()
        self.near_grey = ndimage.maximum_filter(np.asarray(grey.dataobj), 3) > 0.5
        self.to_grey = np.linalg.inv(grey.affine)

    def figures(self, lines, counted):
        length = np.array([np.linalg.norm(np.diff(s, axis=0), axis=1).sum() for s in lines])
        lines, length = [s for s, l in zip(lines, length) if l >= SHORTEST], length[length >= SHORTEST]
        meets = lambda s, sphere: (((s - np.array(sphere[:3])) ** 2).sum(1) < sphere[3] ** 2).any()
        tract = [l for s, l in zip(lines, length) if meets(s, STEM) and meets(s, SEGMENT)]
        turns = [np.sign(np.where(abs(s[:, 0] - self.middle) < 2.5, 0, s[:, 0] - self.middle)) for s in lines]
        crossings = np.array([np.count_nonzero(np.diff(t[t != 0])) for t in turns])
        voxel = np.rint(nib.affines.apply_affine(self.to_grey, np.array([p for s in lines for p in (s[0], s[-1])]))).astype(int)
        inside = ((voxel >= 0) & (voxel < self.near_grey.shape)).all(1)
        grey = np.zeros(len(voxel), bool)
        grey[inside] = self.near_grey[tuple(voxel[inside].T)]
        return {"seeds": counted, "n": len(length), "mean": length.mean(), "median": float(np.median(length)), "long": 100 * (length > 250).mean(),
                "cross": 100 * (crossings > 0).mean(), "twice": 100 * (crossings > 1).mean(), "tract n": len(tract),
                "tract": float(np.mean(tract)) if tract else 0, "grey": 100 * grey.reshape(-1, 2).all(1).mean()}


def load(path):
    return list(nib.streamlines.load(path).streamlines)


def track_own(tool, name):
    run(tool, "track", "dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "wm.nii.gz", "--nseeds", SEEDS, "-o", "own.tck", "--force", "-q", "--device", "cpu", "--cache-dir", "cache", *OWN[name])
    return load("own.tck")


def track_tckgen(name):
    run("tckgen", "fod.nii.gz", "tckgen.tck", "-seed_image", "wm.nii.gz", "-mask", "mask.nii.gz", "-seeds", SEEDS, "-select", 0, "-nthreads", 2, "-quiet", "-force", *TCKGEN[name])
    return load("tckgen.tck")


def dipy_seeds(n):
    """Draws seeds as glslines does: uniform over the voxels of the region, and inside each voxel."""
    region = nib.load("wm.nii.gz")
    voxels, random = np.argwhere(np.asarray(region.dataobj) > 0), np.random.default_rng(1)
    return nib.affines.apply_affine(region.affine, voxels[random.integers(len(voxels), size=n)] + random.random((n, 3)) - 0.5)


def track_dipy(name):
    from dipy.data import get_sphere
    from dipy.tracking import tracker
    from dipy.tracking.stopping_criterion import ThresholdStoppingCriterion

    series, seeds = nib.load("dwi.nii.gz"), dipy_seeds(SLOW.get(name, SEEDS))
    stop = ThresholdStoppingCriterion(np.asarray(nib.load("fa.nii.gz").dataobj).astype(float) * (np.asarray(nib.load("mask.nii.gz").dataobj) > 0), 0.2)
    if name == "DIPY boot":
        from dipy.core.gradients import gradient_table
        from dipy.direction import BootDirectionGetter
        from dipy.reconst.shm import OpdtModel
        from dipy.tracking.local_tracking import LocalTracking

        table = gradient_table(np.loadtxt("dwi.bval"), bvecs=dipy_vectors())
        getter = BootDirectionGetter.from_data(np.asarray(series.dataobj, dtype=float), OpdtModel(table, sh_order_max=4), max_angle=60, sphere=get_sphere(name="repulsion724"))
        return list(LocalTracking(getter, stop, seeds, series.affine, step_size=0.5, max_cross=1, random_seed=1))
    what = {"prob": tracker.probabilistic_tracking, "det": tracker.deterministic_tracking, "ptt": tracker.ptt_tracking}[name.split()[1]]
    sh = np.asarray(nib.load("dipy_sh.nii.gz").dataobj).astype(float)
    return list(what(seeds, stop, series.affine, sh=sh, sphere=get_sphere(name="repulsion724"), random_seed=1, nbr_threads=2, return_all=False))


def on_phantom(tool, name):
    """Returns the scores of the same options on the phantom."""
    if not os.path.exists("phantom/dwi.nii.gz"):
        run(tool, "phantom", "phantom", "-q")
    if not os.path.exists("phantom/truth.tsv"):
        at = "phantom/bundles/"
        names = sorted(f[: -len(".txt")] for f in os.listdir(at) if f.endswith(".txt"))
        with open("phantom/truth.tsv", "w") as file:
            file.write("bundle\tstart\tend\ttruth\n")
            file.writelines(f"{n}\t{at}{n}_end0.nii.gz\t{at}{n}_end1.nii.gz\t{at}{n}.nii.gz\n" for n in names)
    at = "phantom/"
    if not os.path.exists("phantom/resp.txt"):
        run(tool, "response", at + "dwi.nii.gz", at + "dwi.bval", at + "dwi.bvec", at + "mask.nii.gz", at + "own", "--algorithm", "tournier", "-q")
        os.rename(at + "own_response.txt", at + "resp.txt")
    options = [at + o if o in ("5tt.nii.gz", "resp.txt") else o for o in OWN[name]]
    run(tool, "track", at + "dwi.nii.gz", at + "dwi.bval", at + "dwi.bvec", at + "mask.nii.gz", at + "roi.nii.gz", "--nseeds", 2000, "-o", "phantom.tck", "--force", "-q", "--device", "cpu", "--cache-dir", "phantom_cache", "--min-length", "10", *options)
    run(tool, "score", "phantom.tck", "--truth", at + "truth.tsv", "--template", at + "mask.nii.gz", "--json", "score.json", "--force", "-q")
    score = json.load(open("score.json"))
    score = score["methods"][0] if "methods" in score else score.get("score", score)
    return {"valid": 100 * score["valid"] / score["streamlines"], "invalid": 100 * score["invalid_connections"] / score["streamlines"], "f1": 100 * score["mean_f1"]}


def table(rows):
    lines = ["| method | streamlines of a seed | mean length, mm | median | over 250 mm, % | through the middle, % | twice, % | CST, mm (streamlines) | grey, % | phantom: valid, % | invalid, % | f1, % |", "|" + "---|" * 12]
    for name in [*TCKGEN, *DIPY, *OWN]:
        r = rows.get(name)
        if not r:
            continue
        score = [f"{r[k]:.1f}" if k in r else "" for k in ("valid", "invalid", "f1")]
        shown = f"**{name}**" if name in OWN and "--" not in name and "one" not in name else name
        cells = [shown, f"{r['n'] / r['seeds']:.2f}", f"{r['mean']:.1f}", f"{r['median']:.1f}", f"{r['long']:.1f}", f"{r['cross']:.1f}", f"{r['twice']:.1f}", f"{r['tract']:.0f} ({r['tract n']})", f"{r['grey']:.0f}", *score]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ("tool", "work"):
        parser.add_argument(name)
    for name in ("--only", "--again", "--update"):
        parser.add_argument(name)
    given = parser.parse_args()
    tool, page = os.path.abspath(given.tool), given.update and os.path.abspath(given.update)
    os.makedirs(given.work, exist_ok=True)
    os.chdir(given.work)
    prepare()
    brain = Brain()
    rows = json.load(open("rows.json")) if os.path.exists("rows.json") else {}
    for name in [*TCKGEN, *DIPY, *OWN]:
        if (given.only and given.only not in name) or (name in rows and not (given.again and given.again in name)):
            continue
        start = time.time()
        lines = track_own(tool, name) if name in OWN else track_dipy(name) if name in DIPY else track_tckgen(name)
        row = brain.figures(lines, SLOW.get(name, SEEDS))
        row["seconds"] = time.time() - start
        if name in OWN:
            row.update(on_phantom(tool, name))
        rows[name] = row
        print(name, {k: round(float(v), 1) for k, v in row.items()}, flush=True)
        with open("rows.json", "w") as file:
            json.dump(rows, file, indent=1, default=float)
    print(table(rows))
    if page:
        begin, end = "<!-- brain -->\n", "<!-- end of brain -->\n"
        head, rest = open(page).read().split(begin)
        with open(page, "w") as file:
            file.write(head + begin + table(rows) + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
