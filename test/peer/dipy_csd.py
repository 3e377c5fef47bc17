#!/usr/bin/env python3
"""Compares responses, CSD coefficients and sampled ODFs with DIPY and MRtrix3.

usage: dipy_csd.py PEER_FIT_DUMP GLSLINES [DATA_FOLDER]   the folder defaults to $GLS_TEST_DATA; its part is left out where it is absent, that of MRtrix3
                                                          where sh2amp is not installed
"""

import os
import shutil
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.core.sphere import HemiSphere, Sphere
from dipy.data import get_sphere, small_sphere
from dipy.io.gradients import read_bvals_bvecs
from dipy.reconst.csdeconv import AxSymShResponse, ConstrainedSphericalDeconvModel, auto_response_ssst
from dipy.reconst.shm import sh_to_sf

failures = 0
work = tempfile.mkdtemp(prefix="glslines_csd_")
tool = ""


def check(what, value, limit):
    global failures
    failures += not value <= limit
    print(f"{'ok  ' if value <= limit else 'FAIL'} {what}: {value:.3g} (limit {limit:g})")


def path(name):
    return os.path.join(work, name)


def dump(*arguments):
    result = subprocess.run([tool, *map(str, arguments)], stderr=subprocess.PIPE, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {result.stderr}")
    return result.stderr


def save(name, data, affine):
    nib.save(nib.Nifti1Image(np.asarray(data, np.float32), affine), path(name))
    return path(name)


def load(name):
    return nib.load(path(name)).get_fdata()


def relative(a, b):
    """Returns the largest difference in a voxel, divided by its largest coefficient."""
    return (np.abs(a - b).max(-1) / np.abs(b).max(-1).clip(1e-12)).max()


def compare_csd(name, dwi, bval, bvec, data, voxels):
    """Compares the response and the coefficients of one data set. voxels: flat indices that DIPY fits."""
    bvals, bvecs = read_bvals_bvecs(bval, bvec)
    unit = bvecs / np.linalg.norm(bvecs, axis=1, keepdims=True).clip(1e-9)  # the library normalises vectors
    table = gradient_table(bvals, bvecs=unit * (bvals > 50)[:, None], b0_threshold=50)
    (evals, s0), _ = auto_response_ssst(table, data, roi_radii=10, fa_thr=0.7)
    np.savetxt(path("sphere.txt"), small_sphere.vertices, fmt="%.17g")
    with open(path("response.txt"), "w") as file:
        print(*(f"{x:.17g}" for x in (*evals, s0)), file=file)
    signal = data.reshape(-1, len(bvals))[voxels][:, None, None].astype(float)
    for order in (4, 6, 8):
        dump("csd", dwi, bval, bvec, "-", "auto", order, path("auto"), path("sphere.txt"))
        found = np.loadtxt(path("auto_response.txt"))
        if order == 4:
            check(f"{name} response, eigenvalues", np.abs(found[:3] / evals - 1).max(), 1e-6)
            check(f"{name} response, S0", abs(found[3] / s0 - 1), 1e-6)
        model = ConstrainedSphericalDeconvModel(table, (evals, s0), sh_order_max=order)
        expected = model.fit(signal).shm_coeff[:, 0, 0]
        count = expected.shape[-1]
        check(f"{name} CSD order {order}, own response", relative(load("auto_sh.nii").reshape(-1, count)[voxels], expected), 1e-4)
        dump("csd", dwi, bval, bvec, "-", path("response.txt"), order, path("given"), path("sphere.txt"))
        check(f"{name} CSD order {order}, DIPY's response", relative(load("given_sh.nii").reshape(-1, count)[voxels], expected), 1e-6)
        # a response of zonal coefficients
        zonal = np.loadtxt(path("given_zonal.txt"))
        model = ConstrainedSphericalDeconvModel(table, AxSymShResponse(0, zonal), sh_order_max=order)
        expected = model.fit(signal).shm_coeff[:, 0, 0]
        dump("csd", dwi, bval, bvec, "-", path("given_zonal.txt"), order, path("zonal"), path("sphere.txt"))
        check(f"{name} CSD order {order}, zonal response", relative(load("zonal_sh.nii").reshape(-1, count)[voxels], expected), 1e-6)
        # with the built-in sphere instead of DIPY's the constraint differs a little
        dump("csd", dwi, bval, bvec, "-", path("response.txt"), order, path("small"))
        small = load("small_sh.nii").reshape(-1, count)[voxels]
        given = load("given_sh.nii").reshape(-1, count)[voxels]
        norm = np.linalg.norm(small, axis=1) * np.linalg.norm(given, axis=1)
        keep = norm > 0
        angular = (small * given).sum(1)[keep] / norm[keep]
        check(f"{name} CSD order {order}, built-in sphere: 1 - median correlation", 1 - np.median(angular), 0.03)


def rotation(axis, angle):
    axis = np.array(axis, float) / np.linalg.norm(axis)
    cross = np.cross(np.eye(3), axis)
    return np.cos(angle) * np.eye(3) - np.sin(angle) * cross + (1 - np.cos(angle)) * np.outer(axis, axis)


def affine(mirrored):
    matrix = np.eye(4)
    matrix[:3, :3] = rotation([1, 2, 3], 0.5) @ np.diag([-1.5 if mirrored else 1.5, 2, 2.5])
    matrix[:3, 3] = [10, -20, 5]
    return matrix


def compare_sampling():
    """Compares SH images in all bases, even and full, with DIPY's sh_to_sf."""
    rng = np.random.default_rng(3)
    for full in (False, True):
        for basis, legacy in (("descoteaux07", True), ("descoteaux07", False), ("tournier07", True), ("tournier07", False)):
            worst = 0
            for order in (3, 4, 7, 8) if full else (2, 4, 8, 12):
                count = (order + 1) ** 2 if full else (order + 1) * (order + 2) // 2
                sh = rng.standard_normal((3, 4, 2, count))
                save("random.nii", sh, affine(False))
                dump("sh", path("random.nii"), basis + ("_legacy" if legacy else ""), "image", "default", path("random"))
                vertices = np.loadtxt(path("random_vertices.txt"))
                assert len(vertices) == (724 if full else 362)
                expected = sh_to_sf(sh.astype(np.float32), Sphere(xyz=vertices), sh_order_max=order, basis_type=basis, full_basis=full, legacy=legacy)
                worst = max(worst, np.abs(load("random_odf.nii") - expected).max() / np.abs(expected).max())
            check(f"sampled {'full' if full else 'even'} {basis}{' legacy' if legacy else ''}", worst, 2e-6)


def compare_amplitudes():
    """Compares amplitudes on DIPY's spheres, in DIPY's order."""
    rng = np.random.default_rng(4)
    for name in ("repulsion724", "symmetric362"):
        sphere = get_sphere(name=name)
        half = HemiSphere.from_sphere(sphere)
        for what, vertices, symmetric in (("symmetric", sphere.vertices, True), ("asymmetric", sphere.vertices, False), ("hemisphere", half.vertices, True)):
            direction = rng.standard_normal(3)
            odf = np.exp(3 * rng.random((3, 3, 3, 1)) * (vertices @ direction / np.linalg.norm(direction)) ** (2 if symmetric else 1))
            save("amplitudes.nii", odf, affine(True))
            np.savetxt(path("directions.txt"), vertices, fmt="%.17g")
            dump("amplitudes", path("amplitudes.nii"), path("directions.txt"), "image", path("amplitudes"))
            found, where = load("amplitudes_odf.nii"), np.loadtxt(path("amplitudes_vertices.txt"))
            assert len(where) == (len(half.vertices) if symmetric else len(vertices))
            nearest = np.argmax(where @ vertices.T, axis=1)
            check(f"{what} amplitudes on {name}: samples", np.abs(found - odf[..., nearest]).max() / odf.max(), 1e-6)
            check(f"{what} amplitudes on {name}: vertices", np.abs(where - vertices[nearest]).max(), 1e-14)


def mrtrix(*arguments):
    subprocess.run([*map(str, arguments), "-quiet", "-force"], check=True)


def compare_mrtrix(dwi, bval, bvec, mask):
    """Compares images in the scanner frame on oblique grids: amplitudes of sh2amp, peaks of sh2peaks."""
    rng = np.random.default_rng(5)
    dense = np.array([[np.sqrt(1 - z * z) * np.cos(p), np.sqrt(1 - z * z) * np.sin(p), z] for z, p in zip(1 - (np.arange(8000) + 0.5) / 8000, np.arange(8000) * 2.399963229728653)])
    for mirrored in (False, True):
        grid = affine(mirrored)
        axes = grid[:3, :3] / np.linalg.norm(grid[:3, :3], axis=0)
        save("mr.nii", rng.standard_normal((4, 3, 5, 45)), grid)
        dump("sh", path("mr.nii"), "tournier07", "world", "small", path("mr"))
        world = np.loadtxt(path("mr_vertices.txt")) @ axes.T
        angles = np.c_[np.arctan2(world[:, 1], world[:, 0]), np.arccos(world[:, 2].clip(-1, 1))]
        np.savetxt(path("angles.txt"), angles, fmt="%.12g")
        mrtrix("sh2amp", path("mr.nii"), path("angles.txt"), path("mr_amp.nii"))
        expected = load("mr_amp.nii")
        check(f"sh2amp on {'mirrored' if mirrored else 'right-handed'} oblique grid", np.abs(load("mr_odf.nii") - expected).max() / np.abs(expected).max(), 3e-6)

        # CSD of the phantom's voxels on the oblique grid, converted for MRtrix3, and its peaks
        data = nib.load(dwi).get_fdata(dtype=np.float32)[10:22, 12:24, 10:22]
        inside = nib.load(mask).get_fdata()[10:22, 12:24, 10:22] > 0
        save("block.nii", data, grid)
        dump("csd", path("block.nii"), bval, bvec, "-", path("response.txt"), 8, path("block"))
        dump("convert", path("block_sh.nii"), "descoteaux07_legacy", "image", "tournier07", "world", path("block_mr.nii"))
        dump("convert", path("block_mr.nii"), "tournier07", "world", "descoteaux07_legacy", "image", path("block_back.nii"))
        back, sh = load("block_back.nii"), load("block_sh.nii")
        check("conversion to MRtrix3's basis and frame and back", np.abs(back - sh).max() / np.abs(sh).max(), 1e-6)
        mrtrix("sh2peaks", path("block_mr.nii"), path("peaks.nii"), "-num", 1)
        peaks = load("peaks.nii")
        height = np.linalg.norm(peaks, axis=-1)
        np.savetxt(path("dense.txt"), dense, fmt="%.12g")
        dump("sh", path("block_sh.nii"), "descoteaux07_legacy", "image", path("dense.txt"), path("dense"))
        samples, vertices = load("dense_odf.nii"), np.loadtxt(path("dense_vertices.txt"))
        best = vertices[samples.argmax(-1)] @ axes.T
        keep = inside & (height > 0.3) & (samples.max(-1) > 0.3)
        cosine = np.abs((peaks * best).sum(-1) / height.clip(1e-9))[keep].clip(0, 1)
        # if two peaks are equally high, the search may find either
        check(f"sh2peaks in {keep.sum()} voxels: 99th percentile of the angle to the largest sample, degrees", np.degrees(np.quantile(np.arccos(cosine), 0.99)), 2)
        check("sh2peaks: median height against the largest sample", abs(np.median(height[keep] / samples.max(-1)[keep]) - 1), 0.01)


def main():
    global tool
    if len(sys.argv) not in (3, 4):
        print(__doc__)
        return 2
    tool = os.path.abspath(sys.argv[1])
    folder = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("GLS_TEST_DATA", "")
    try:
        phantom = path("phantom")
        subprocess.run([os.path.abspath(sys.argv[2]), "phantom", phantom, "-q"], check=True, stderr=subprocess.DEVNULL)
        dwi, bval, bvec, mask = (f"{phantom}/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz"))
        compare_sampling()
        compare_amplitudes()
        rng = np.random.default_rng(6)
        if os.path.exists(f"{folder}/small_64D.nii"):
            data = nib.load(f"{folder}/small_64D.nii").get_fdata()
            compare_csd("small_64D", *(f"{folder}/small_64D.{s}" for s in ("nii", "bval", "bvec")), data, np.arange(1000))
        else:
            print("skip small_64D: no data folder")
        inside = np.flatnonzero(nib.load(mask).get_fdata() > 0)
        compare_csd("phantom", dwi, bval, bvec, nib.load(dwi).get_fdata(), rng.permutation(inside)[:1500])
        if shutil.which("sh2amp"):
            compare_mrtrix(dwi, bval, bvec, mask)
        else:
            print("skip MRtrix3: sh2amp is not installed")
    finally:
        shutil.rmtree(work)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
