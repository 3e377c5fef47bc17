"""Compares FA, eigenvalues and tensors with DIPY's weighted least squares.

usage: dipy_tensor.py PEER_FIT_DUMP [DATA_FOLDER]    the folder defaults to $GLS_TEST_DATA; exit status 77 where it is absent
       dipy_tensor.py --golden                       prints the golden numbers of test/unit/tensor.c
"""
import os
import subprocess
import sys
import tempfile

import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.io.gradients import read_bvals_bvecs
from dipy.reconst.dti import TensorModel, design_matrix, wls_fit_tensor

FA_BOUND = 2e-6  # bounds for float32 files, and for vectors that DIPY does not normalise


def dipy_fit(data, bvals, bvecs):
    """Returns FA, the tensor as fitted (DIPY's own accessor rebuilds it from clipped eigenvalues) and the eigenvalues."""
    data = np.asarray(data, float)
    table = gradient_table(bvals, bvecs=bvecs)
    fit = TensorModel(table, fit_method="WLS").fit(data)
    tensor, _ = wls_fit_tensor(design_matrix(table), np.maximum(data, 1e-4).reshape(-1, data.shape[-1]), return_lower_triangular=True)
    return fit.fa, tensor[:, :6].reshape(data.shape[:-1] + (6,)), fit.evals


def compare(name, expected, prefix):
    fa, tensor, evals = (nib.load(f"{prefix}_{what}.nii.gz").get_fdata() for what in ("fa", "tensor", "evals"))
    scale = np.maximum(np.abs(expected[1]).max(axis=-1, keepdims=True), 1e-9)  # all-zero voxels have only rounding errors
    worst = [np.abs(fa - expected[0]).max(), (np.abs(tensor - expected[1]) / scale).max(), (np.abs(evals - expected[2]) / scale).max()]
    ok = worst[0] < FA_BOUND and worst[1] < 1e-5 and worst[2] < 1e-5 and np.isfinite(fa).all()
    print(f"{name}: largest difference in FA {worst[0]:.1e}, in the tensor {worst[1]:.1e}, in the eigenvalues {worst[2]:.1e} of the largest entry: {'ok' if ok else 'FAILED'}")
    return ok


def run(tool, dwi, bval, bvec, prefix, frame):
    subprocess.run([tool, "tensor", dwi, bval, bvec, prefix, frame], check=True, stderr=subprocess.DEVNULL)
    return prefix


def rotation(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def real_data(tool, folder, work):
    ok = True
    for name, image in (("small_64D", "small_64D.nii"), ("small_101D", "small_101D.nii.gz")):
        files = [os.path.join(folder, image), os.path.join(folder, name + ".bval"), os.path.join(folder, name + ".bvec")]
        data = nib.load(files[0]).get_fdata()
        bvals, bvecs = read_bvals_bvecs(*files[1:])
        bvecs[np.isnan(bvecs)] = 0
        ok &= compare(f"{name}, image frame", dipy_fit(data, bvals, bvecs), run(tool, *files, os.path.join(work, name), "image"))
        # Compares the same voxels under oblique affines of either handedness.
        for sign in (1, -1):
            turn = rotation((1, 2, 3), 0.4)
            affine = np.eye(4)
            affine[:3, :3] = turn @ np.diag([sign * 2.0, 1.5, 2.5])
            dwi = os.path.join(work, "turned.nii.gz")
            nib.save(nib.Nifti1Image(data.astype(np.float32), affine), dwi)
            flipped = bvecs * [-sign, 1, 1]
            ok &= compare(f"{name}, FSL frame, determinant {'+' if sign > 0 else '-'}", dipy_fit(data, bvals, flipped),
                          run(tool, dwi, *files[1:], os.path.join(work, "turned"), "fsl"))
            axes = turn @ np.diag([sign, 1, 1])
            np.savetxt(os.path.join(work, "world.bvec"), (bvecs @ axes.T).T, fmt="%.17g")
            ok &= compare(f"{name}, world frame, determinant {'+' if sign > 0 else '-'}", dipy_fit(data, bvals, bvecs),
                          run(tool, dwi, files[1], os.path.join(work, "world.bvec"), os.path.join(work, "turned"), "world"))
    return ok


def scheme(rng, shells, n, n_b0):
    bvals = np.concatenate([np.zeros(n_b0)] + [np.full(n, b) for b in shells]).astype(float)
    bvecs = rng.normal(size=(bvals.size, 3))
    bvecs /= np.linalg.norm(bvecs, axis=1, keepdims=True)
    bvecs[bvals == 0] = 0
    return bvals, bvecs


def noise(tool, work):
    """Compares data like background, in which zeros give weights over many orders of magnitude, and signals below zero."""
    rng = np.random.default_rng(7)
    ok = True
    for shells in ([1000], [1000, 2000, 3000]):
        bvals, bvecs = scheme(rng, shells, 45, 5)
        data = np.rint(np.abs(rng.normal(0, 3, size=(11, 7, 9, bvals.size)))) - 1
        data[:, :, :4] += 100 * (bvals == 0)
        data[0] = 0
        paths = [os.path.join(work, "noise" + end) for end in (".nii.gz", ".bval", ".bvec")]
        nib.save(nib.Nifti1Image(data.astype(np.float32), np.diag([-2.0, 2, 2, 1])), paths[0])
        np.savetxt(paths[1], bvals[None], fmt="%g")
        np.savetxt(paths[2], bvecs.T, fmt="%.17g")
        ok &= compare(f"background noise, b = {shells}", dipy_fit(data, bvals, bvecs), run(tool, *paths, os.path.join(work, "noise"), "image"))
    return ok


def golden():
    """Returns a table of 3 b0 and 12 directions (half of the vertices of an icosahedron, two shells), and voxels of
    integers."""
    g = (1 + 5**0.5) / 2
    half = np.array([[0, 1, g], [0, -1, g], [1, g, 0], [-1, g, 0], [g, 0, 1], [g, 0, -1]]) / np.sqrt(1 + g * g)
    bvals = np.array([0, 0, 45] + [1000] * 6 + [2500] * 6, float)
    bvecs = np.concatenate([np.zeros((3, 3)), half, half])
    data = np.array([
        [1000, 990, 985, 310, 620, 540, 480, 700, 290, 60, 300, 210, 160, 420, 50],
        [900, 905, 870, 300, 302, 299, 305, 301, 300, 70, 72, 69, 71, 70, 68],
        [500, 510, 490, 200, 210, 3, 190, 250, 205, 40, -5, 60, 0, 55, 45],
        [0] * 15,
        [40, 0, 35, 0, 0, 12, 0, 700, 0, 0, 0, 3, 0, 0, 900],
        [40000, 0, 35, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 20000],
    ], float)
    fa, tensor, evals = dipy_fit(data, bvals, bvecs)
    for voxel in range(len(data)):
        print("    {{%s}," % ", ".join(f"{x:.0f}" for x in data[voxel]))
        print("     %.12g," % fa[voxel])
        print("     {%s}," % ", ".join(f"{x:.12g}" for x in tensor[voxel]))
        print("     {%s}}," % ", ".join(f"{x:.12g}" for x in evals[voxel]))


def main():
    if sys.argv[1:] == ["--golden"]:
        return golden()
    tool, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.environ.get("GLS_TEST_DATA", "")
    with tempfile.TemporaryDirectory() as work:
        ok = noise(tool, work)
        if not os.path.exists(os.path.join(folder, "small_64D.nii")):
            print("real data absent: skipped")
            sys.exit(77 if ok else 1)
        ok &= real_data(tool, folder, work)
    sys.exit(not ok)


main()
