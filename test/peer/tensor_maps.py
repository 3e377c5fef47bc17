"""Maps of tensors of `fit --tensor-maps` against DIPY's weighted fit, and against dwi2tensor and tensor2metric of MRtrix3.

usage: tensor_maps.py GLSLINES FOLDER

On a phantom of two shells, all and one of them, and on the crops of brains that DIPY brings. Bar: 1e-5 of the largest number of a map; vectors by |cosine|, where the eigenvalues lie apart."""

import os
import subprocess
import sys

import dipy.data
import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.reconst.dti import TensorModel, color_fa

program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
SERIES = [f"ph/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
NAMES = ("fa", "md", "ad", "rd", "evals", "rgb", "v1", "v2", "v3")
failed = 0


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read(path):
    return nib.load(path).get_fdata()


def check(what, value, bar):
    global failed
    good = value <= bar
    failed += not good
    print(f"{'ok  ' if good else 'FAIL'} {what}: {value:.1e} (bar {bar:.0e})")


def ours(method):
    run(program, "fit", *SERIES, method, "--no-model", "--tensor-maps", "--tensor", method, "--force", "-q")
    return {name: read(f"{method}_{name}.nii.gz") for name in NAMES}


def compare(who, mine, theirs, inside):
    for name, image in theirs.items():
        if name.startswith("v"):
            # the vectors of equal eigenvalues are any two vectors in their plane
            k, gap = int(name[1]) - 1, np.diff(-mine["evals"], axis=-1)
            apart = np.minimum(gap[..., max(k - 1, 0)], gap[..., min(k, 1)]) > 0.05 * mine["md"]
            at = inside & apart & (mine["fa"] < 0.999)
            cosine = np.abs((mine[name] * image).sum(-1))[at]
            check(f"{who}: {name} in {at.sum()} voxels, 1 - |cosine|", 1 - cosine.min(), 1e-5)
        else:
            a, b = mine[name][inside], image[inside]
            check(f"{who}: {name}", np.abs(a - b).max() / np.abs(b).max(), 1e-5)


run(program, "phantom", "ph", "--shape", "20", "26", "20", "--directions", "32", "--b0s", "3", "--force", "-q")
data, mask = read(SERIES[0]), read(SERIES[3]) > 0
bvals, bvecs = np.loadtxt(SERIES[1]), np.loadtxt(SERIES[2]).T
table = gradient_table(bvals, bvecs=bvecs / np.maximum(np.linalg.norm(bvecs, axis=1), 1e-9)[:, None], b0_threshold=50)
fit = TensorModel(table, fit_method="WLS", min_signal=1e-4).fit(data, mask=mask)
# DIPY takes b-vectors as they are; the determinant of the phantom is negative, for which FSL's rule does the same
theirs = {"fa": fit.fa, "md": fit.md, "ad": fit.ad, "rd": fit.rd, "evals": fit.evals, "rgb": color_fa(fit.fa, fit.evecs)}
theirs.update({f"v{k + 1}": fit.evecs[..., k] for k in range(3)})
compare("DIPY", ours("dipy"), theirs, mask)

METHODS = (("mrtrix", ()), ("ols", ("-ols", "-iter", "0")))


def mrtrix(series, options, mask, extract=()):
    """Maps by MRtrix3, vectors along the axes of the voxels."""
    run("mrconvert", "-quiet", "-force", series[0], "-fslgrad", series[2], series[1], "series.mif")
    if extract:
        run("dwiextract", "-quiet", "-force", "series.mif", "extracted.mif", "-shells", *extract)
    run("dwi2tensor", "-quiet", "-force", "extracted.mif" if extract else "series.mif", "dt.mif", "-mask", mask, *options)
    metrics = ["-fa", "fa.nii", "-adc", "md.nii", "-ad", "ad.nii", "-rd", "rd.nii", "-vector", "v.nii", "-num", "1,2,3", "-modulate", "none"]
    run("tensor2metric", "-quiet", "-force", "dt.mif", *metrics, "-mask", mask)
    theirs = {name: read(f"{name}.nii") for name in ("fa", "md", "ad", "rd")}
    affine = nib.load(series[0]).affine[:3, :3]
    vectors = read("v.nii")
    vectors = vectors.reshape(vectors.shape[:3] + (3, 3)) @ (affine / np.linalg.norm(affine, axis=0))
    theirs.update({f"v{k + 1}": vectors[..., k, :] for k in range(3)})
    return theirs


for method, options in METHODS:
    compare(f"dwi2tensor {' '.join(options)}".strip(), ours(method), mrtrix(SERIES, options, SERIES[3]), mask)

def compare_methods(name, files, mask, shells=()):
    for method, options in METHODS:
        run(program, "fit", *files, mask, method, "--no-model", "--tensor-maps", "--tensor", method, "--force", "-q", *(("--shells",) + shells if shells else ()))
        mine = {what: read(f"{method}_{what}.nii.gz") for what in NAMES}
        theirs = mrtrix(files, options, mask, ("0," + ",".join(shells),) if shells else ())
        # where noise makes an eigenvalue negative, MRtrix3 has FA above 1
        inside = (read(mask) > 0) & (mine["evals"] > 0).all(-1)
        check(f"{name}: share of voxels with negative eigenvalues", 1 - inside.sum() / (read(mask) > 0).sum(), 0.1)
        compare(f"{name} {' '.join(shells)}, dwi2tensor {' '.join(options)}".strip(), mine, theirs, inside)


run(program, "phantom", "two", "--shape", "18", "20", "18", "--bvals", "700", "2000", "--directions", "20", "--oblique", "10", "5", "-20", "--force", "-q")
compare_methods("shell", [f"two/dwi.{suffix}" for suffix in ("nii.gz", "bval", "bvec")], "two/mask.nii.gz", ("700",))
crops = os.path.join(os.path.dirname(dipy.data.__file__), "files")
for name, suffix in (("small_64D", ".nii"), ("small_101D", ".nii.gz")):
    image = nib.load(os.path.join(crops, name + suffix))
    inside = (image.get_fdata() > 0).all(-1)  # of a signal of 0 the programs take different logarithms
    nib.save(nib.Nifti1Image(inside.astype(np.uint8), image.affine), "inside.nii")
    bvecs = np.loadtxt(os.path.join(crops, name + ".bvec"))
    np.savetxt("crop.bvec", np.nan_to_num(bvecs if len(bvecs) == 3 else bvecs.T))  # of b = 0 it is NaN, with which MRtrix3 computes
    compare_methods(name, [os.path.join(crops, name + suffix), os.path.join(crops, name + ".bval"), "crop.bvec"], "inside.nii")
sys.exit(failed > 0)
