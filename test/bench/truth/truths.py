#!/usr/bin/env python3
"""The bench of truths: all models, getters and filters of glslines, and live peers, on phantoms whose bundles are known. It makes the tables of src/doc/accuracy.md.

    truths.py GLSLINES WORK [--truth NAME] [--row TEXT] [--seeds N] [--runs N] [--again] [--device NAME] [--records FILE] [--update accuracy.md] [--why]

WORK keeps the phantoms, fits and the records of rows that were run; a row that is there is not run again unless --again is given. --truth and --row take the truths and rows whose names
have the text, --row the one row that has just this name; both may be repeated. --device (cpu) tracks on another device. --records writes the records of all rows to FILE, --update the tables into a page (accuracy.md: all rows; getters.md: single parameters). --why prints where streamlines end; --weights runs rows whose records lack the
share of weights on valid streamlines, and has it.
Truths: isbi2013-30, -20, -10, phantom-30, fibercup-30, isbi2013grey-30; the number is the SNR. Needs numpy, scipy, nibabel; rows of peers need MRtrix3, DIPY and scilpy's commands on the path, and are
left out where these are not there. PHANTOM:B:DIRECTIONS-30 (SHELLS) is a phantom of another shell; it is run only where --truth has a colon.

All rows get as many seeds, in voxels of at least half white matter; rows of tissue get the phantom's. `glslines score` judges every row by the same truth. A bundle's voxels are those of
which it has more than 0.1."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nibabel as nib
import numpy as np
from scipy.ndimage import map_coordinates, maximum_filter
from scipy.spatial import cKDTree

import phantoms

SHELLS = [f"{kind}:{b}:{n}-30" for kind in ("isbi2013", "isbi2013grey", "phantom", "fibercup") for n in (64, 45, 30) for b in (1000, 1500, 2000, 2500, 3000)]
TRUTHS = ["isbi2013-30", "phantom-30", "fibercup-30", "isbi2013grey-30", "isbi2013-20", "isbi2013-10"]
PVE = ["--pve-wm", "p_wm.nii.gz", "--pve-gm", "p_gm.nii.gz", "--pve-csf", "p_csf.nii.gz"]

TOURNIER = ["--response-wm", "responses/wm.txt", "--response-csf", "responses/csf.txt"]

SCAN = {  # one parameter at a time of ifod2 over msmt, with tckgen's power; run on the truths of SCANNED
    "--max-angle 30": ["--max-angle", "30"], "--max-angle 60": ["--max-angle", "60"], "--step-size 0.25": ["--step-size", "0.25"], "--step-size 1": ["--step-size", "1"],
    "--cutoff 0.05": ["--cutoff", "0.05"], "--cutoff 0.2": ["--cutoff", "0.2"], "--sh-order 6": ["--sh-order", "6"], "--no-normalise": ["--no-normalise"], "--min-length 4": ["--min-length", "4"],
    "--response-wm of tournier": TOURNIER,
}
SCANNED = ["isbi2013-30"]


def own_rows():
    """Returns the rows of glslines: the name of each, and its options of `glslines track`"""
    rows = {"default": [], "default, --act": ["--act", "5tt.nii.gz"]}
    for model in ("opdt", "csa"):
        for getter in ("boot", "det"):
            rows[f"{model} {getter}"] = ["--model", model, "--dg", getter]
    for model in ("csd", "msmt"):
        for getter in ("det", "closest", "ptt", "prob", "ifod2", "ifod1", "sdstream", "fact", "eudx"):
            rows[f"{model} {getter}"] = ["--model", model, "--dg", getter]
    for getter in ("tensordet", "tensorprob", "eudx", "nulldist1", "nulldist2"):
        rows[getter] = ["--dg", getter]
    rows["csd bedpost"] = ["--model", "csd", "--dg", "bedpost"]
    for power in ("1", "2", "4"):
        rows[f"msmt ifod2 --power {power}"] = ["--model", "msmt", "--dg", "ifod2", "--power", power]
        rows[f"csd ifod2 --power {power}"] = ["--model", "csd", "--dg", "ifod2", "--power", power]
    rows["msmt ifod2 --power 0.25"] = ["--model", "msmt", "--dg", "ifod2", "--power", "0.25"]
    for getter in ("ifod2", "det"):
        rows[f"msmt {getter}, response of tournier"] = ["--model", "msmt", "--dg", getter, *TOURNIER]
    for model, getter in (("csd", "det"), ("csd", "prob"), ("msmt", "ifod2"), ("csa", "boot"), ("csd", "ptt"), ("csd", "fact"), ("msmt", "fact")):
        rows[f"{model} {getter} --act"] = ["--model", model, "--dg", getter, "--act", "5tt.nii.gz"]
    rows["msmt ifod2 --act --backtrack"] = ["--model", "msmt", "--dg", "ifod2", "--act", "5tt.nii.gz", "--backtrack"]
    rows["msmt ifod2 --power 2 --act --backtrack"] = ["--model", "msmt", "--dg", "ifod2", "--power", "2", "--act", "5tt.nii.gz", "--backtrack"]
    for getter in ("det", "prob"):
        rows[f"csd {getter} cmc"] = ["--model", "csd", "--dg", getter, *PVE, "--act-rule", "cmc"]
        rows[f"csd {getter} --pft"] = ["--model", "csd", "--dg", getter, *PVE, "--pft"]
    return rows


COMMIT = ["--method", "commit", "--d-iso", "0.0002,0.003"]  # the diffusivities of grey matter and fluid in the phantoms
WEIGHTED = {"SIFT2": [], "SIFT2 --act": ["--act", "5tt.nii.gz"], "COMMIT": COMMIT,
            **{f"groups, --lambda {x}": [*COMMIT, "--groups", "edges:regions.nii.gz", "--lambda", x] for x in ("0.02", "0.05", "0.1")}}
LAMBDAS = {name: [*COMMIT, "--groups", f"edges:{labels}.nii.gz", "--lambda", *name.split()[2:]]  # more strengths, the table of which is turned round
           for labels, words, strengths in (("regions", "groups, --lambda", ("0.005", "0.01", "0.015", "0.02", "0.02 --debias", "0.025", "0.03", "0.04", "0.05", "0.1")), ("parcels", "parcels, --lambda", ("0.005", "0.01", "0.02", "0.03")))
           for name in (f"{words} {x}" for x in strengths)}
N_PARCELS = 100
TCKGEN = {"tckgen iFOD2": "iFOD2", "tckgen iFOD1": "iFOD1", "tckgen SD_STREAM": "SD_STREAM", "tckgen FACT": "FACT"}
DIPY = ["prob", "det", "closest", "ptt", "PFT"]
SCILPY = {"scilpy prob": ["local", "prob"], "scilpy det": ["local", "det"], "scilpy ptt": ["local", "ptt", "--step", "0.1"], "scilpy eudx": ["local", "eudx"], "scilpy PFT prob": ["pft", "prob"],
          "scilpy PFT det": ["pft", "det"]}


def run(*command, folder=None, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=folder, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(c) for c in command)}\n{done.stderr[-2000:]}")
    return done


def responses(tool, folder):
    """Writes the response of single fibres of one shell by tournier's rule, with the responses of dhollander at b = 0 and of fluid."""
    if not (folder / "responses/wm.txt").exists():
        (folder / "responses").mkdir(exist_ok=True)
        for algorithm in ("tournier", "dhollander"):
            run(tool, "response", "dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", f"responses/{algorithm}", "--algorithm", algorithm, "-q", "--force", folder=folder)
        rows = lambda name: (folder / "responses" / name).read_text().splitlines()
        (folder / "responses/csf.txt").write_text("\n".join(rows("dhollander_csf.txt")) + "\n")
        (folder / "responses/wm.txt").write_text("\n".join([*rows("dhollander_wm.txt")[:-1], rows("tournier_response.txt")[-1]]) + "\n")


def parcels(folder):
    """Writes a parcellation that knows no bundle: N_PARCELS cells, of about the same size, of the voxels of less than 0.75 white matter that lie next to white matter."""
    image = nib.load(folder / "p_wm.nii.gz")
    white, mask = np.asarray(image.dataobj), np.asarray(nib.load(folder / "mask.nii.gz").dataobj) > 0
    voxel = np.argwhere(mask & (white < 0.75) & maximum_filter(white > 0.25, 3))
    chosen, distance = [0], np.full(len(voxel), np.inf)
    for _ in range(N_PARCELS):
        distance = np.minimum(distance, ((voxel - voxel[chosen[-1]]) ** 2).sum(1))
        chosen.append(int(distance.argmax()))
    labels = np.zeros(white.shape, np.int16)
    labels[tuple(voxel.T)] = 1 + cKDTree(voxel[chosen[:N_PARCELS]]).query(voxel)[1]
    nib.save(nib.Nifti1Image(labels, image.affine), folder / "parcels.nii.gz")


class Bench:
    def __init__(self, tool, work, seeds, device="cpu"):
        self.tool, self.work, self.seeds, self.device = tool, work, seeds, device
        work.mkdir(parents=True, exist_ok=True)
        self.version = run(tool, "--version").stdout.split("\n")[0].strip()

    def truth(self, name):
        """Returns the folder of a phantom, which is made if it does not exist."""
        folder = self.work / name
        if not (folder / "truth.tsv").exists():
            kind, snr = name.rsplit("-", 1)
            kind, *shell = kind.split(":")  # phantom:b:directions
            if kind == "phantom":
                phantoms.make_own(self.tool, float(snr), folder, *(["--bvals", shell[0], "--directions", shell[1]] if shell else []))
            else:
                phantoms.make(kind, float(snr), folder, [tuple(int(x) for x in shell)] if shell else None)
        return folder

    def own(self, truth, options, run_number, to):
        folder = self.truth(truth)
        if "--response-wm" in options:
            responses(self.tool, folder)
        longest = ["--max-length", "300"] if truth.startswith("fibercup") else []  # its arch has 285 mm; the default of some getters, 250 mm, is for brains, and the peers' is 300 mm here
        run(self.tool, "track", "dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz", "--nseeds", self.seeds, "--rng-seed", run_number, "--seed-seed", run_number, "-o", to,
            "--device", self.device, "--cache-dir", self.work / "fits", "-q", "--force", *longest, *options, folder=folder)
        return json.loads(to.with_suffix(".json").read_text())["counts"]["half_streamline_ends"]

    def mrtrix(self, truth):
        """Computes FODs and peaks as MRtrix3's manual makes them from one shell: white matter and fluid, normalised."""
        folder = self.truth(truth) / "mrtrix"
        if not (folder / "peaks.nii.gz").exists():
            folder.mkdir(exist_ok=True)
            run("mrconvert", "../dwi.nii.gz", "-fslgrad", "../dwi.bvec", "../dwi.bval", "dwi.mif", "-force", folder=folder)
            erode = 3 if min(nib.load(folder / "../mask.nii.gz").shape) > 10 else 1  # do not erode: nothing would be left of five slices
            run("dwi2response", "dhollander", "dwi.mif", "wm.txt", "gm.txt", "csf.txt", "-mask", "../mask.nii.gz", "-erode", erode, "-force", "-nthreads", "2", folder=folder)
            run("dwi2fod", "msmt_csd", "dwi.mif", "wm.txt", "raw.mif", "csf.txt", "rawcsf.mif", "-mask", "../mask.nii.gz", "-force", "-nthreads", "2", folder=folder)
            run("mtnormalise", "raw.mif", "fod.mif", "rawcsf.mif", "csf.mif", "-mask", "../mask.nii.gz", "-force", folder=folder)
            run("sh2peaks", "fod.mif", "peaks.nii.gz", "-force", "-nthreads", "2", folder=folder)
        return folder

    def tckgen(self, truth, algorithm, act, run_number, to):
        folder = self.mrtrix(truth)
        options = ["-act", "../5tt.nii.gz"] + (["-backtrack"] if algorithm.startswith("iFOD") else []) if act else []
        log = run("tckgen", "peaks.nii.gz" if algorithm == "FACT" else "fod.mif", to, "-algorithm", algorithm, "-seed_image", "../roi.nii.gz", "-mask", "../mask.nii.gz", "-seeds", self.seeds,
                  "-select", "0", "-nthreads", "2", "-force", "-info", *options, folder=folder, MRTRIX_RNG_SEED=str(run_number + 1)).stderr
        return {"log": [line.split("]", 1)[-1].strip() for line in log.splitlines() if "%" in line and "INFO" in line]}

    def dipy_fods(self, truth):
        from dipy.core.gradients import gradient_table
        from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel, auto_response_ssst
        from dipy.reconst.dti import TensorModel

        folder = self.truth(truth)
        if not (folder / "dipy_fa.nii.gz").exists():
            series, mask = nib.load(folder / "dwi.nii.gz"), np.asarray(nib.load(folder / "mask.nii.gz").dataobj) > 0
            vectors = np.loadtxt(folder / "dwi.bvec").T * ([-1, 1, 1] if np.linalg.det(series.affine[:3, :3]) > 0 else [1, 1, 1])  # DIPY takes voxel axes
            table = gradient_table(np.loadtxt(folder / "dwi.bval"), bvecs=vectors)
            data = np.asarray(series.dataobj, dtype=np.float32)
            fa = np.nan_to_num(TensorModel(table).fit(data, mask=mask).fa)
            for limit in (0.7, 0.6, 0.5, 0.4):  # limit of the tutorial, or the highest value that voxels reach
                if (fa > limit).sum() >= 100:
                    break
            response = auto_response_ssst(table, data, roi_radii=max(data.shape), fa_thr=limit)[0]
            where = mask & ((fa > 0.1) | (np.asarray(nib.load(folder / "p_wm.nii.gz").dataobj) > 0))  # streamlines do not leave the mask
            fods = ConstrainedSphericalDeconvModel(table, response, sh_order_max=8).fit(data, mask=where).shm_coeff
            nib.save(nib.Nifti1Image(fods.astype(np.float32), series.affine), folder / "dipy_fod.nii.gz")
            nib.save(nib.Nifti1Image((fa * mask).astype(np.float32), series.affine), folder / "dipy_fa.nii.gz")
        return folder

    def dipy(self, truth, getter, run_number, to):
        from dipy.data import get_sphere
        from dipy.tracking import tracker
        from dipy.tracking.stopping_criterion import CmcStoppingCriterion, ThresholdStoppingCriterion

        folder = self.dipy_fods(truth)
        roi = nib.load(folder / "roi.nii.gz")
        voxel, random = np.argwhere(np.asarray(roi.dataobj) > 0), np.random.default_rng(run_number)
        seeds = nib.affines.apply_affine(roi.affine, voxel[random.integers(len(voxel), size=self.seeds)] + random.random((self.seeds, 3)) - 0.5)
        sh, sphere = np.asarray(nib.load(folder / "dipy_fod.nii.gz").dataobj).astype(float), get_sphere(name="repulsion724")
        more = {"sh": sh, "sphere": sphere, "random_seed": run_number + 1}
        if getter == "PFT":
            tissue = [np.asarray(nib.load(folder / f"p_{t}.nii.gz").dataobj).astype(float) for t in ("wm", "gm", "csf")]
            stop = CmcStoppingCriterion.from_pve(*tissue, step_size=0.2, average_voxel_size=abs(roi.affine[0, 0]))
            lines = tracker.pft_tracking(seeds, stop, roi.affine, max_cross=1, return_all=False, **more)
        else:
            what = {"prob": tracker.probabilistic_tracking, "det": tracker.deterministic_tracking, "closest": tracker.closestpeak_tracking, "ptt": tracker.ptt_tracking}[getter]
            stop = ThresholdStoppingCriterion(np.asarray(nib.load(folder / "dipy_fa.nii.gz").dataobj).astype(float), 0.2)
            lines = what(seeds, stop, roi.affine, **({"nbr_threads": 2} if getter != "closest" else {}), **more)
        lines = [s.astype(np.float32) for s in lines if len(s) > 1]
        nib.streamlines.save(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), str(to))
        return {}

    def scilpy_fods(self, truth):
        """Computes scilpy's FODs of one shell of order 8, and its maps of particle filtering."""
        folder = self.truth(truth) / "scilpy"
        if not (folder / "exclude.nii.gz").exists():
            folder.mkdir(exist_ok=True)
            series = nib.load(folder / "../dwi.nii.gz")
            flip = [-1, 1, 1] if np.linalg.det(series.affine[:3, :3]) > 0 else [1, 1, 1]
            np.savetxt(folder / "bvec", np.loadtxt(folder / "../dwi.bvec") * np.array(flip)[:, None])  # scilpy takes voxel axes
            table = ["../dwi.nii.gz", "../dwi.bval", "bvec"]
            run("scil_frf_ssst", *table, "frf.txt", "--mask", "../mask.nii.gz", "--roi_radii", max(series.shape), "--min_fa_thresh", "0.4", "--min_nvox", "100", "-f", folder=folder)
            run("scil_fodf_ssst", *table, "frf.txt", "fodf.nii.gz", "--mask", "../mask.nii.gz", "-f", folder=folder)
            run("scil_tracking_pft_maps", *(f"../p_{t}.nii.gz" for t in ("wm", "gm", "csf")), "--include", "include.nii.gz", "--exclude", "exclude.nii.gz", "--interface", "interface.nii.gz", "-f",
                folder=folder)
        return folder

    def scilpy(self, truth, rule, algorithm, *options, run_number, to):
        """Runs scilpy's trackers; those that take no tissue stay in the white matter in which seeds lie, as in TractoFlow."""
        folder = self.scilpy_fods(truth)
        where = ["include.nii.gz", "exclude.nii.gz"] if rule == "pft" else ["../roi.nii.gz"]
        run(f"scil_tracking_{rule}", "fodf.nii.gz", "../roi.nii.gz", *where, to, "--algo", algorithm, "--nt", self.seeds, "--seed", run_number + 1, "-f", *options, folder=folder)
        return {}

    def score(self, truth, tracks):
        folder = self.truth(truth)
        run(self.tool, "score", tracks, "--truth", "truth.tsv", "--template", "mask.nii.gz", "--json", self.work / "score.json", "--force", "-q", folder=folder)
        s = json.loads((self.work / "score.json").read_text())["score"]
        n = max(1, s["streamlines"])
        share = {k: round(100 * s[j] / n, 2) for k, j in (("valid", "valid"), ("wrong_path", "wrong_path"), ("invalid", "invalid_connections"), ("none", "no_connections"))}
        return {"streamlines": s["streamlines"], **share, "bundles": s["valid_bundles"], "of": s["bundles_in_truth"], "invalid_bundles": s["invalid_bundles"],
                **{k: round(100 * s["mean_" + k], 2) for k in ("overlap", "overreach", "f1")}}

    def places(self, truth, tracks):
        """Returns the shares of the ends of all streamlines by the place where they lie."""
        folder = self.truth(truth)
        load = lambda name: np.asarray(nib.load(folder / name).dataobj)
        affine = np.linalg.inv(nib.load(folder / "mask.nii.gz").affine)
        white, mask, fibres = load("p_wm.nii.gz").astype(float), load("mask.nii.gz") > 0, load("fibres.nii.gz")
        target = np.zeros(mask.shape, bool)
        for row in (folder / "truth.tsv").read_text().splitlines()[1:]:
            for end in row.split("\t")[1:3]:
                target |= load(end) > 0
        target = maximum_filter(target, 3)
        point = np.array([p for s in nib.streamlines.load(tracks).streamlines for p in (s[0], s[-1])])
        at = nib.affines.apply_affine(affine, point)
        voxel = tuple(np.clip(np.rint(at).astype(int), 0, np.array(mask.shape) - 1).T)
        share, inside = map_coordinates(white, at.T, order=1), map_coordinates(mask.astype(float), at.T, order=1)
        several = (fibres[voxel] > 0.1).sum(1) > 1
        kind = np.select([target[voxel], inside < 0.95, share < 0.25, share < 0.75, several], ["target", "edge of the mask", "beside bundles", "border of a bundle", "crossing"], "inside a bundle")
        return {k: round(100 * float((kind == k).mean()), 1) for k in PLACES}


    def weights(self, truth, tracks):
        """Returns the share of valid streamlines and the number of their bundles, and for each method of WEIGHTED the share of the weights
        that lies on valid streamlines, %, and the number of bundles that keep weight. A streamline is valid by the rule of the score: both ends within a voxel of those of a bundle, all points within two voxels of it."""
        folder, fods = self.truth(truth), self.work / truth / "weights_wm.nii.gz"
        if not fods.exists():
            run(self.tool, "fit", "dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", self.work / truth / "weights", "--model", "msmt", "-q", "--force", folder=folder)
        bundles, ends = [], []
        wider = lambda region, n: maximum_filter(region, 2 * n + 1)
        for row in (folder / "truth.tsv").read_text().splitlines()[1:]:
            a, b, voxels = (np.asarray(nib.load(folder / name).dataobj) > 0 for name in row.split("\t")[1:4])
            bundles.append((wider(a, 1), wider(b, 1), wider(a | b | voxels, 2)))
            ends += [a, b]
        regions = np.max([(i + 1) * wider(end, 1) for i, end in enumerate(ends)], axis=0).astype(np.int16)  # bundles that share an end share its region
        nib.save(nib.Nifti1Image(regions, nib.load(folder / "mask.nii.gz").affine), folder / "regions.nii.gz")
        parcels(folder)
        affine = np.linalg.inv(nib.load(folder / "mask.nii.gz").affine)
        valid = []
        for line in nib.streamlines.load(tracks).streamlines:
            v = tuple(np.clip(np.rint(nib.affines.apply_affine(affine, line)).astype(int), 0, np.array(regions.shape) - 1).T)
            first, last = tuple(x[0] for x in v), tuple(x[-1] for x in v)
            valid.append({i for i, (a, b, route) in enumerate(bundles) if ((a[first] and b[last]) or (b[first] and a[last])) and route[v].all()})

        def judged(weight):
            right = float(sum(w for w, of in zip(weight, valid) if of))
            return [round(100 * right / max(float(np.sum(weight)), 1e-30), 1), len(set().union(*(of for w, of in zip(weight, valid) if w > 0)))]

        share, file = {"streamlines": judged(np.ones(len(valid)))}, self.work / "weights.txt"
        for name, options in {**WEIGHTED, **LAMBDAS}.items():
            file.unlink(missing_ok=True)
            try:
                run(self.tool, "weights", tracks, "dwi.nii.gz" if "commit" in options else fods, file, "--force", "-q", *options, folder=folder)
            except RuntimeError as error:  # weights that did not converge within 1000 iterations are written, too
                if not file.exists():
                    raise error
            share[name] = judged(np.loadtxt(file))
        return share


def row_list(there=shutil.which):
    """Returns the rows whose programs are there: name, kind and options of each"""
    rows = [(name, "own", options) for name, options in own_rows().items()]
    for power in ("0.25", "2"):
        rows += [(f"scan: --power {power} {name}", "scan", ["--model", "msmt", "--dg", "ifod2", "--power", power, *options]) for name, options in SCAN.items()]
    if there("tckgen"):
        for name, algorithm in TCKGEN.items():
            rows += [(name, "tckgen", (algorithm, False)), (name + " -act" + (" -backtrack" if algorithm.startswith("iFOD") else ""), "tckgen", (algorithm, True))]
    if there("dipy_track"):
        rows += [(f"DIPY {getter}", "dipy", getter) for getter in DIPY]
    if there("scil_tracking_local"):
        rows += [(name, "scilpy", what) for name, what in SCILPY.items()]
    return rows


def versions(kind, bench):
    if kind in ("own", "scan"):
        return bench.version
    if kind == "tckgen":
        return "MRtrix3 " + run("tckgen", "-version").stdout.split()[2]
    if kind == "scilpy":
        return "scilpy " + run("scil_tracking_local", "--help").stdout.split()[-1]
    import dipy

    return "DIPY " + dipy.__version__


def tables(records):
    """Returns a table for each truth: the means over the runs, and valid and f1 of each run. Of a phantom with several SNR there is the
    table of the first, and one of the means of all."""
    text, several = [], {}
    of = lambda row, key: [r["score"][key] for r in row]
    for truth in TRUTHS:
        rows = {}
        for r in records:
            if r["truth"] == truth and r["kind"] != "scan":
                rows.setdefault((r["kind"] != "own", r["row"]), []).append(r)
        if not rows:
            continue
        kind, snr = truth.rsplit("-", 1)
        several.setdefault(kind, {})[snr] = rows
        if len(several[kind]) > 1:
            continue
        n = next(iter(rows.values()))[0]
        text.append(f"**{kind}**, SNR {snr}, {n['seeds']} seeds:\n\n| method | valid % | invalid % | no connection % | bundles of {n['score']['of']} | overlap % | f1 % |\n" + "|---" * 7 + "|")
        for (peer, name), row in sorted(rows.items(), key=lambda item: (item[0][0], -np.mean(of(item[1], "f1")))):
            mark = "**" if name == "default" else ""
            both = lambda key: ", ".join(f"{x:.1f}" for x in of(row, key))
            invalid = np.add(of(row, "invalid"), of(row, "wrong_path"))
            text.append(f"| {mark}{name}{mark} | {both('valid')} | {np.mean(invalid):.1f} | {np.mean(of(row, 'none')):.1f} | {', '.join(str(x) for x in of(row, 'bundles'))} | {np.mean(of(row, 'overlap')):.1f} | {both('f1')} |")
        text.append("")
    for kind, noise in several.items():
        if len(noise) < 2:
            continue
        level = sorted(noise, key=lambda snr: -float(snr))
        head = [f"{what} % at SNR {snr}" for what in ("valid", "f1") for snr in level]
        text.append(f"**{kind}** by SNR, means of one or two runs:\n\n| method | " + " | ".join(head) + " |\n" + "|---" * (1 + len(head)) + "|")
        mean = lambda snr, key, what: np.mean(of(noise[snr][key], what)) if key in noise[snr] else None
        whole = [key for key in noise[level[0]] if sum(key in noise[snr] for snr in level) > 1]
        for key in sorted(whole, key=lambda key: (key[0], -mean(level[0], key, "f1"))):
            mark = "**" if key[1] == "default" else ""
            cells = [mean(snr, key, what) for what in ("valid", "f1") for snr in level]
            text.append(f"| {mark}{key[1]}{mark} | " + " | ".join("" if x is None else f"{x:.1f}" for x in cells) + " |")
        text.append("")
    return "\n".join(text)


PLACES = ["target", "edge of the mask", "beside bundles", "border of a bundle", "crossing", "inside a bundle"]


def scan_table(records):
    """Returns the tables of single parameters, and of the places where the ends of half-streamlines lie."""
    head = ["row", "valid %", "invalid %", "no connection %", "bundles", "f1 %", "near a target %", *(f"{p} %" for p in PLACES[1:])]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows = {}
    for r in records:
        wanted = r["kind"] == "scan" or r["row"] in ("csd det", "csd prob", "csd ifod2", "csd ifod2 --power 2", "msmt det", "msmt prob", "msmt sdstream", "tckgen iFOD2", "tckgen SD_STREAM") or r["row"].startswith("msmt ifod2 --power")
        if r["truth"] in SCANNED and wanted and "-act" not in r["row"]:
            rows.setdefault(r["row"], []).append(r)
    for name, row in rows.items():
        of = lambda key: float(np.mean([r["score"][key] for r in row]))
        cells = [name.replace("scan: ", "msmt ifod2 "), *(f"{x:.1f}" for x in (of("valid"), of("invalid") + of("wrong_path"), of("none"))), f"{of('bundles'):.0f}", f"{of('f1'):.1f}"]
        lines.append("| " + " | ".join(cells + [f"{np.mean([r['places'][p] for r in row]):.1f}" for p in PLACES]) + " |")
    return "\n".join(lines)


def weights_table(records):
    """Returns the shares of valid streamlines and of weights on them, and in brackets the number of their bundles, means of the runs."""
    rows = {}
    for r in records:
        if "weights" in r:
            rows.setdefault((r["truth"], r["row"]), []).append(r["weights"])
    lines = ["| row | streamlines | " + " | ".join(WEIGHTED) + " |", "|" + "---|" * (2 + len(WEIGHTED))]
    for (truth, name), row in rows.items():
        lines.append(f"| {truth}, {name} | " + " | ".join("{:.1f} ({:.0f})".format(*np.mean([w[key] for w in row], axis=0)) for key in ("streamlines", *WEIGHTED)) + " |")
    return "\n".join(lines)


def strengths_table(records):
    """Returns the same shares and numbers of bundles of COMMIT with groups by the strength of the penalty, a column for each truth."""
    columns = {}
    for r in records:
        if r["row"] == "csd det" and all(name in r.get("weights", {}) for name in LAMBDAS):
            columns.setdefault(r["truth"], []).append(r["weights"])
    lines = ["| weights | " + " | ".join(columns) + " |", "|" + "---|" * (1 + len(columns))]
    for name in ("streamlines", "COMMIT", *LAMBDAS):
        cells = ["{:.1f} ({})".format(np.mean([w[name][0] for w in runs]), ", ".join(str(w[name][1]) for w in runs)) for runs in columns.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def shells_table(records):
    """Returns f1 and valid % of the two defaults by phantom, b-value and number of directions, means of the runs, and the lowest and the highest f1."""
    rows = {}
    for r in records:
        if r["truth"] in SHELLS:
            rows.setdefault(tuple(r["truth"].rsplit("-", 1)[0].split(":")), {}).setdefault(r["row"], []).append(r["score"])
    lines = ["| phantom | b | directions | csd det: f1 % | msmt ifod2: f1 % | csd det: valid % | msmt ifod2: valid % |", "|---" * 7 + "|"]
    for key, of in rows.items():
        f1 = ["{:.1f} ({:.1f} to {:.1f})".format(np.mean(x), min(x), max(x)) for x in ([s["f1"] for s in of[row]] for row in ("csd det", "msmt ifod2"))]
        lines.append("| " + " | ".join([*key, *f1, *(f"{np.mean([s['valid'] for s in of[row]]):.1f}" for row in ("csd det", "msmt ifod2"))]) + " |")
    return "\n".join(lines)


def leaders_table(records):
    """Returns for each truth the default's mean f1, valid % and number of bundles, and beside each the best row of the peers and of glslines."""
    lines = ["| truth | " + " | ".join(f"{what}: default | best peer | best of glslines" for what in ("f1 %", "valid %", "bundles")) + " |", "|---" * 10 + "|"]
    for truth in TRUTHS:
        rows = {}
        for r in records:
            if r["truth"] == truth and r["kind"] != "scan":
                rows.setdefault((r["kind"] != "own", r["row"]), []).append(r["score"])
        cells = []
        for what in ("f1", "valid", "bundles"):
            mean = {key: float(np.mean([s[what] for s in runs])) for key, runs in rows.items()}
            best = lambda peer: max((key for key in mean if key[0] == peer), key=lambda key: mean[key])
            cells += [f"{mean[False, 'default']:.1f}", *(f"{mean[key]:.1f}" + (f" ({key[1]})" if what != "bundles" else "") for key in (best(True), best(False)))]
        lines.append(f"| {truth} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("glslines", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--truth", action="append")
    parser.add_argument("--row", action="append")
    parser.add_argument("--seeds", type=int, default=1500)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--update", type=Path)
    parser.add_argument("--why", action="store_true")
    parser.add_argument("--weights", action="store_true")
    o = parser.parse_args()
    bench = Bench(o.glslines.resolve(), o.work.resolve(), o.seeds, o.device)
    rows, kept = row_list(), {}
    names = {name for name, _, _ in rows}
    log = bench.work / "records.jsonl"
    for line in log.read_text().splitlines() if log.exists() else []:
        r = json.loads(line)
        kept[r["truth"], r["row"], r["run"]] = r
    for truth in TRUTHS + SHELLS:
        if not any(t in truth for t in o.truth or TRUTHS) or (truth in SHELLS and not any(":" in t for t in o.truth or [])):
            continue
        for number in range(o.runs):
            for name, kind, what in rows:
                key = truth, name, number
                if (o.row and not any(t == name if t in names else t in name for t in o.row)) or (key in kept and not o.again and not (o.weights and "weights" not in kept[key])) or (kind == "scan" and truth not in SCANNED):
                    continue
                tracks, start = bench.work / "tracks.tck", time.time()
                tracks.unlink(missing_ok=True)
                try:
                    if kind in ("own", "scan"):
                        ends = bench.own(truth, what, number, tracks)
                    elif kind == "tckgen":
                        ends = bench.tckgen(truth, *what, number, tracks)
                    elif kind == "scilpy":
                        ends = bench.scilpy(truth, *what, run_number=number, to=tracks)
                    else:
                        ends = bench.dipy(truth, what, number, tracks)
                    record = {"truth": truth, "row": name, "run": number, "kind": kind, "options": what, "seeds": o.seeds, "version": versions(kind, bench), "score": bench.score(truth, tracks), "ends": ends, "places": bench.places(truth, tracks)}
                    if o.weights:
                        record["weights"] = bench.weights(truth, tracks)
                        print(truth, name, number, record["weights"], flush=True)
                except RuntimeError as error:
                    print(f"{truth} {name}: {str(error).strip().splitlines()[-1]}", file=sys.stderr, flush=True)
                    continue
                kept[key] = record
                with log.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                s = record["score"]
                print(f"{truth} | {name} | {number} | {s['valid']:.1f} | {s['invalid']:.1f} | {s['none']:.1f} | {s['bundles']} of {s['of']} | {s['overlap']:.1f} | {s['f1']:.1f} | {time.time() - start:.0f} s", flush=True)
    order = {name: i for i, (name, _, _) in enumerate(row_list(there=bool))}
    records = sorted((r for r in kept.values() if r["row"] in order), key=lambda r: ((TRUTHS + SHELLS).index(r["truth"]), order[r["row"]], r["run"]))
    if o.records:
        o.records.write_text("".join(json.dumps(r) + "\n" for r in records))
    if o.update:
        page = o.update.read_text()
        for what, make in (("truths", tables), ("scan of truths", scan_table), ("weights of truths", weights_table), ("strengths of truths", strengths_table), ("shells of truths", shells_table), ("leaders of truths", leaders_table)):
            begin, end = f"<!-- {what} -->\n", f"<!-- end of {what} -->\n"
            if begin in page:
                page = page.split(begin)[0] + begin + make(records) + "\n" + end + page.split(end)[1]
        o.update.write_text(page)
    if o.why:
        for r in records:
            print(f"| {r['truth']} | {r['row']} | " + " | ".join(f"{k} {v}" for k, v in r["places"].items()) + " |")


if __name__ == "__main__":
    main()
