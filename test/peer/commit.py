#!/usr/bin/env python3
"""Compares weights --method commit with dmri-commit 2.4.2, which is run as an installed program.

usage: commit.py GLSLINES WORK_DIR PEER_PYTHON     PEER_PYTHON: a Python with dmri-commit, MRtrix3 is on the path

One line per check; exits with 1 if one fails.
"""
import json
import os
import subprocess
import sys

import nibabel as nib
import numpy as np

from checks import outcome, report

PEER = """
import sys, numpy as np, amico, commit
from commit import trk2dictionary
tol, groups, share = float(sys.argv[1]), sys.argv[2], float(sys.argv[3])
amico.lut.precompute_rotation_matrices(12, 500)
np.savetxt("directions.txt", amico.lut.load_directions(500), fmt="%.17g")
amico.util.fsl2scheme("data/dwi.bval", "data/dwi.bvec", "dwi.scheme")
trk2dictionary.run(filename_tractogram="t.tck", filename_peaks="peaks.nii", filename_mask="mask.nii", TCK_ref_image="dwi.nii",
                   path_out="COMMIT", fiber_shift=0.5, flip_peaks=[True, False, False], ndirs=500, n_threads=2, verbose=1)
m = commit.Evaluation(".", ".")
m.set_verbose(1)
m.load_data("dwi.nii", "dwi.scheme")
m.set_model("StickZeppelinBall")
m.model.set(1.7e-3, [0.51e-3], [1.7e-3, 3e-3])
m.generate_kernels(regenerate=True, ndirs=500)
m.load_kernels()
m.load_dictionary()
m.set_threads(2)
m.build_operator()
m.fit(tol_fun=tol, max_iter=1000)
if share > 0:
    label = np.loadtxt(groups).astype(int)
    index = np.empty(len(np.unique(label)), object)
    for i, k in enumerate(np.unique(label)):
        index[i] = np.flatnonzero(label == k).astype(np.int32)
    m.set_regularisation(regularisers=("group_lasso", None, None), lambdas=(share, None, None), params=(
        {"group_idx": index, "group_weights_cardinality": True, "group_weights_adaptive": True}, None, None))
    m.fit(tol_fun=tol, max_iter=1000)
d = m.CONFIG["optimization"]["fit_details"]
m.save_results()
np.savez("peer.npz", weights=m.get_coeffs()[0], objective=d["cost_function"], iterations=d["iterations"])
"""


def glslines(*words):
    subprocess.run([tool, *map(str, words), "-q", "--force"], check=True, cwd=work)


def peer(*words):
    open(os.path.join(work, "peer.py"), "w").write(PEER)
    subprocess.run([python, "peer.py", *map(str, words)], check=True, cwd=work, stdout=subprocess.DEVNULL)
    return np.load(os.path.join(work, "peer.npz"))


def ours(*words):
    glslines("weights", "t.tck", "dwi.nii", "-o", "own.txt", "--method", "commit", "--mask", "mask.nii", "--peaks", "peaks.nii",
             "--bval", "data/dwi.bval", "--bvec", "data/dwi.bvec", "--maps", "own", *words)
    lines = [line for line in open(os.path.join(work, "own.txt")) if not line.startswith("#")]
    return (np.array([float(x) for line in lines for x in line.split()]),
            json.load(open(os.path.join(work, "own.json")))["model"])


def compare(what, theirs, weights, model, objective, r_limit):
    r = np.corrcoef(theirs["weights"], weights)[0, 1]
    off = model["objective"] / float(theirs["objective"]) - 1
    report(what, abs(off) <= objective and r >= r_limit and abs(model["iterations"] - int(theirs["iterations"])) <= 2,
           f"objective off by {off:.1e}, weights r {r:.4f}, iterations {int(theirs['iterations'])} and {model['iterations']}")


def main():
    glslines("phantom", "data", "--shape", 24, 28, 24, "--bvals", 1000, 2000, "--directions", 32)
    glslines("fit", "data/dwi.nii.gz", "data/dwi.bval", "data/dwi.bvec", "data/mask.nii.gz", "fod", "--model", "msmt")
    glslines("track", "--sh", "fod_wm.nii.gz", "--dg", "ifod2", "--select", 4000, "--rng-seed", 1, "--mask", "data/mask.nii.gz",
             "--roi", "data/roi.nii.gz", "-o", "t.tck")
    subprocess.run(["sh2peaks", "-quiet", "-force", "-num", "3", "fod_wm.nii.gz", "nan.nii"], check=True, cwd=work)
    for name, to in (("nan.nii", "peaks.nii"), ("data/dwi.nii.gz", "dwi.nii"), ("data/mask.nii.gz", "mask.nii")):
        image = nib.load(os.path.join(work, name))
        values = np.nan_to_num(image.get_fdata()).astype(np.float32)
        nib.save(nib.Nifti1Image(values, image.affine), os.path.join(work, to))
    theirs = peer(1e-3, "-", 0)
    weights, model = ours("--directions", "directions.txt")
    compare("its 500 directions", theirs, weights, model, 1e-3, 0.99)
    for name in ("IC", "EC", "ISO"):
        folder = os.path.join(work, "COMMIT", "Results_StickZeppelinBall")
        a = nib.load(os.path.join(folder, f"compartment_{name}.nii.gz")).get_fdata()
        b = nib.load(os.path.join(work, f"own_{name.lower()}.nii.gz")).get_fdata()
        # the peer's map of balls has only the first ball
        if name != "ISO":
            report(f"map {name}", np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.999, f"r {np.corrcoef(a.ravel(), b.ravel())[0, 1]:.5f}")
    weights, model = ours()
    compare("1281 directions", theirs, weights, model, 5e-3, 0.98)
    weights, model = ours("--walk", "visits")
    compare("visits", theirs, weights, model, 2e-2, 0.96)
    label = np.arange(4000) % 61
    np.savetxt(os.path.join(work, "groups.txt"), label, fmt="%d")
    theirs = peer(1e-3, "groups.txt", 5e-4)
    weights, model = ours("--directions", "directions.txt", "--groups", "groups.txt", "--lambda", 5e-4, "--group-rule", "peer")
    compare("groups", theirs, weights, model, 1e-3, 0.99)
    return outcome()


tool, work, python = (os.path.abspath(path) if os.sep in path else path for path in sys.argv[1:4])
os.makedirs(work, exist_ok=True)
sys.exit(main())
