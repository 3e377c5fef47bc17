"""Checks the built-in phantom with DIPY's tensor, on grids of different handedness.

usage: phantom_check.py GLSLINES

Every check is against the truth that the phantom writes beside its data: fibre directions, tissue fractions, bundles.
"""
import os
import subprocess
import sys
import tempfile

import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.io.gradients import read_bvals_bvecs
from dipy.reconst.dti import TensorModel

failures = 0


def check(name, value, ok):
    global failures
    failures += not ok
    print(f"{name}: {value}: {'ok' if ok else 'FAILED'}")


def load(folder, name):
    image = nib.load(f"{folder}/{name}.nii.gz")
    return image.get_fdata(dtype=np.float32), image.affine


def canonical(folder, name):
    """Returns the data with the voxel axes turned to RAS."""
    return nib.as_closest_canonical(nib.load(f"{folder}/{name}.nii.gz")).get_fdata(dtype=np.float32)


def bundles(folder):
    return sorted(f[:-4] for f in os.listdir(f"{folder}/bundles") if f.endswith(".txt"))


def fit(folder):
    """Returns FA and the principal direction in the world. The vectors follow FSL's rule."""
    data, affine = load(folder, "dwi")
    bvals, bvecs = read_bvals_bvecs(f"{folder}/dwi.bval", f"{folder}/dwi.bvec")
    if np.linalg.det(affine[:3, :3]) > 0:
        bvecs = bvecs * [-1, 1, 1]
    table = gradient_table(bvals, bvecs=bvecs)
    result = TensorModel(table, fit_method="WLS").fit(data, mask=load(folder, "mask")[0] > 0)
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    return np.nan_to_num(result.fa), result.evecs[..., 0] @ axes.T


def check_tensor(folder, name, snr):
    fa, direction = fit(folder)
    peaks = load(folder, "peaks")[0].reshape(fa.shape + (3, 4))
    tissue = load(folder, "tissue")[0]
    single = peaks[..., 0, 3] > 0.999
    inside = single | ((peaks[..., 0, 3] + peaks[..., 1, 3] + peaks[..., 2, 3] > 0.999))
    cosine = np.abs((direction[single] * peaks[single][:, 0, :3]).sum(-1)).clip(0, 1)
    angle = np.degrees(np.arccos(cosine))
    check(f"{name}: voxels of one fibre population", single.sum(), single.sum() > 1000)
    check(f"{name}: share of them with FA > 0.1", f"{(fa[single] > 0.1).mean():.4f}", (fa[single] > 0.1).mean() >= 0.97)
    check(f"{name}: share with FA > 0.1 of all filled with fibres, crossings too", f"{(fa[inside] > 0.1).mean():.4f}", (fa[inside] > 0.1).mean() >= 0.97)
    check(f"{name}: median angle to the true direction", f"{np.median(angle):.2f} degrees", np.median(angle) < 4)
    check(f"{name}: share within 10 degrees", f"{(angle < 10).mean():.4f}", (angle < 10).mean() >= (0.99 if snr else 1))
    grey, csf, mixed = tissue[..., 1] == 1, tissue[..., 2] == 1, (tissue[..., 0] == 1) & (peaks[..., 0, 3] == 0)
    for kind, where in (("grey matter", grey), ("CSF", csf), ("white matter between bundles", mixed)):
        bound, share = (0.15, 0.97) if snr else (0.01, 1)
        within = (fa[where] < bound).mean()
        check(f"{name}: share of {where.sum()} voxels of {kind} with FA < {bound}", f"{within:.4f}", where.sum() > 300 and within >= share)


def check_grids(reference, other, name):
    """Compares anatomy, bundles and (without noise) signal, which must be the same. Sample points on a surface may fall to
    either side."""
    for image in ("dwi", "tissue", "mask", "roi"):
        a, b = canonical(reference, image), canonical(other, image)
        same = (np.abs(a - b) <= (1 if image == "dwi" else 1e-5)).mean()
        check(f"{name}: share of equal values in {image}", f"{same:.6f}", a.shape == b.shape and same > 0.999)
    check(f"{name}: bundles", len(bundles(other)), bundles(reference) == bundles(other) and len(bundles(other)) >= 8)
    worst, name_of_worst = 1, ""
    for bundle in bundles(reference):
        for part in ("", "_end0", "_end1"):
            a, b = (canonical(folder, f"bundles/{bundle}{part}") > 0 for folder in (reference, other))
            dice = 2 * (a & b).sum() / (a.sum() + b.sum())
            if dice < worst:
                worst, name_of_worst = dice, bundle + part
        lines = [np.loadtxt(f"{folder}/bundles/{bundle}.txt") for folder in (reference, other)]
        if lines[0].shape != lines[1].shape or np.abs(lines[0] - lines[1]).max() > 1e-3:
            worst, name_of_worst = 0, bundle + ".txt"
    check(f"{name}: smallest Dice overlap of bundles and ends", f"{worst:.4f} {name_of_worst}", worst > 0.97)


def main(tool):
    with tempfile.TemporaryDirectory() as root:
        def make(name, *options):
            folder = f"{root}/{name}"
            subprocess.run([tool, "phantom", folder, *options], check=True, stdout=subprocess.DEVNULL)
            return folder

        las, ras = make("las"), make("ras", "--orientation", "RAS")
        check_tensor(las, "LAS, SNR 30", 30)
        check_tensor(ras, "RAS, SNR 30", 30)
        las, ras, pir = (make(code.lower() + "0", "--snr", "0", "--orientation", code, "--shape", *shape)
                         for code, shape in (("LAS", ("40", "52", "38")), ("RAS", ("40", "52", "38")), ("PIR", ("52", "38", "40"))))
        check_tensor(las, "LAS, no noise", 0)
        check_grids(ras, las, "LAS and RAS")
        check_grids(ras, pir, "PIR and RAS")
        check_tensor(make("oblique", "--snr", "0", "--oblique", "10", "-20", "30", "--voxel-size", "2", "2", "2.5"), "oblique, no noise", 0)
        check_tensor(make("shells", "--bvals", "700", "2000", "--directions", "32"), "two shells, SNR 30", 30)
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
