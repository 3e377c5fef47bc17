#!/usr/bin/env python3
"""Deconvolution of one shell by MRtrix3's rule against dwi2fod csd, and how far the rules and the directions of the constraint matter.

Usage: mrtrix_csd.py GLSLINES WORK [PACKAGES]    On phantoms; with PACKAGES on DIPY's crops of brains ($GLS_TEST_DATA, else those of the installed package), noise
with broken values, and voxels of the brain that peer/brains fetched into PACKAGES, where it is there. Orders 4 to 12, so that some are above what response and directions
determine. Status 77 without MRtrix3."""
import os
import shutil
import sys

import nibabel as nib
import numpy as np

from checks import check, outcome, run
from msmt import directions

BOUND = 1e-6  # relative to the largest coefficient of the voxel; files have float32
BRAIN = "mappertrac/data/example_inputs/sub-011591/dwi/sub-011591_dwi"
VOXELS = 2500  # number of voxels of a brain or a phantom; each voxel is solved by itself


class Data:
    """Writes a series with its mask as files for both programs, and a response of MRtrix3."""

    def __init__(self, work, name, dwi, bval, bvec, mask=None, voxels=None):
        self.name, self.dwi, self.at = name, dwi, os.path.join(work, name.replace(" ", "_") + "_")
        self.bval, self.bvec, self.mask = self.at + "bval", self.at + "bvec", self.at + "mask.nii"
        vectors = np.nan_to_num(np.loadtxt(bvec))
        np.savetxt(self.bval, np.loadtxt(bval).reshape(1, -1))
        np.savetxt(self.bvec, vectors if len(vectors) == 3 else vectors.T)
        grid = nib.load(dwi)
        inside = np.ones(grid.shape[:3], bool) if mask is None else np.asarray(nib.load(mask).dataobj) > 0
        self.whole = self.save("whole.nii", inside, grid.affine)
        if voxels:
            inside.flat[np.random.default_rng(1).permutation(np.flatnonzero(inside))[voxels:]] = False
        self.inside = inside
        self.save("mask.nii", inside, grid.affine)

    def save(self, name, inside, affine):
        nib.save(nib.Nifti1Image(inside.astype(np.uint8), affine), self.at + name)
        return self.at + name

    def respond(self, algorithm, *options):
        """Estimates a response by the program under test, which finds the same as dwi2response, see responses.py."""
        run(tool, "response", self.dwi, self.bval, self.bvec, self.whole, self.at + algorithm, "--algorithm", algorithm, "--force", "-q", *options)
        return f"{self.at}{algorithm}_response.txt"

    def own(self, response, *options):
        run(tool, "fit", self.dwi, self.bval, self.bvec, self.mask, self.at + "own", "--response", response, "--force", "-q", *options)
        return self.read(self.at + "own_sh.nii.gz")

    def theirs(self, response, *options):
        run("dwi2fod", "csd", self.dwi, "-fslgrad", self.bvec, self.bval, "-mask", self.mask, response, self.at + "fod.nii", "-quiet", "-force", *options)
        return self.read(self.at + "fod.nii")

    def read(self, path):
        return np.asarray(nib.as_closest_canonical(nib.load(path)).dataobj, dtype=float)[np.asarray(nib.as_closest_canonical(nib.load(self.mask)).dataobj) > 0]


def off(a, b):
    """Returns for each voxel with a solution the largest difference, divided by the largest coefficient."""
    largest = np.abs(b).max(1)
    return (np.abs(a - b).max(1)[largest > 0] / largest[largest > 0])


def correlation(a, b):
    some = np.abs(b).max(1) > 0
    return (a * b).sum(1)[some] / np.linalg.norm(a[some], axis=1) / np.linalg.norm(b[some], axis=1)


def compare(data, response, orders=(4, 6, 8, 10, 12), what="", own=(), theirs=()):
    for order in orders:
        a = data.own(response, "--csd-rule", "mrtrix", "--sh-order", order, "--csd-directions", dirs, *own)
        b = data.theirs(response, "-lmax", order, "-directions", dirs, *theirs)
        d = off(a, b)
        same_empty = np.array_equal(np.abs(a).max(1) == 0, np.abs(b).max(1) == 0)
        check(len(d) > 0 and d.max() < BOUND and same_empty, f"{data.name}{what}, order {order}: {len(d)} of {len(b)} voxels: median {np.median(d):.1e}, largest {d.max():.1e}")


def defaults(data, response, order):
    """Checks that without an order both programs take that of the response, at most 8."""
    a = data.own(response, "--csd-rule", "mrtrix", "--csd-directions", dirs)
    b = data.theirs(response, "-directions", dirs)
    check(a.shape == b.shape == (len(b), (order + 1) * (order + 2) // 2) and off(a, b).max() < BOUND, f"{data.name}, no order given: {a.shape[1]} and {b.shape[1]} coefficients")


def figures(data, response, orders=(4, 6, 8)):
    """Compares directions that differ, and rules that differ, as src/doc/models.md describes."""
    for order in orders:
        o = ["--sh-order", order]
        mrtrix, theirs = data.own(response, *o, "--csd-rule", "mrtrix"), data.theirs(response, "-lmax", order)
        others = data.theirs(response, "-lmax", order, "-directions", generated)
        dipy, sphere724 = data.own(response, *o), data.own(response, *o, "--csd-directions", "repulsion724")
        own, spread, dipys = (100 * np.median(off(*pair)) for pair in ((mrtrix, theirs), (others, theirs), (dipy, sphere724)))
        apart, r = 100 * np.median(off(dipy, theirs)), np.median(correlation(dipy, theirs))
        check(own < 1.2 * spread, f"{data.name}, order {order}, medians: repulsion600 for MRtrix3's 300 directions {own:.2f} %, 300 others of dirgen {spread:.2f} %")
        check(0.9 < r < 1 and apart > 1, f"{data.name}, order {order}, medians: dipy's rule against dwi2fod {apart:.1f} %, correlation {r:.4f}; small against repulsion724 by dipy's rule {dipys:.2f} %")


def noise(work, like):
    """Returns noise of both signs, whole numbers, constants and values that are not finite."""
    image, random = nib.load(like.dwi), np.random.default_rng(2)
    values = random.normal(0, 100, image.shape).astype(np.float32)
    values[1] = np.abs(values[1])
    values[2] = random.integers(0, 300, values[2].shape)
    values[0, 0, 0], values[0, 0, 2] = 0, -5
    values[0, 0, 1, 5], values[0, 0, 3, 7] = np.nan, np.inf
    mask = np.zeros(image.shape[:3], np.uint8)
    mask[:3] = mask[5:, ::2] = 1
    for name, array in (("noise.nii", values), ("noise_in.nii", mask)):
        nib.save(nib.Nifti1Image(array, image.affine), os.path.join(work, name))
    return Data(work, "noise", os.path.join(work, "noise.nii"), like.bval, like.bvec, os.path.join(work, "noise_in.nii"))


def cut(response, n, path):
    values = np.loadtxt(response).ravel()[:n]
    np.savetxt(path, values[None], fmt="%.15g")
    return path


def phantom(work, name, *options):
    at = os.path.join(work, name.replace(" ", "_"))
    run(tool, "phantom", at, "--shape", 24, 22, 20, "--orientation", "RAS", "--oblique", 20, 10, 35, "--force", "-q", *options)
    return Data(work, name, *(os.path.join(at, f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")), voxels=VOXELS)


def phantoms(work):
    many = phantom(work, "phantom of 64 directions", "--directions", 64)
    response = many.respond("tournier")
    compare(many, response)
    defaults(many, response, 8)
    figures(many, response)
    for n in (2, 3, 4):
        short = cut(response, n, os.path.join(work, "short.txt"))
        compare(many, short, (4, 12), f", response of order {2 * n - 2}")
        defaults(many, short, 2 * n - 2)
    for n in (30, 20, 12):
        compare(phantom(work, f"phantom of {n} directions", "--directions", n), response, (4, 8, 12))
    shells = phantom(work, "phantom of two shells", "--directions", 30, "--bvals", 1000, 2500)
    compare(shells, response, (8,), ", b = 1000", ["--shells", 1000], ["-shells", "1000"])


def brains(work, packages):
    folder = os.environ.get("GLS_TEST_DATA")
    if not folder:
        import dipy.data

        folder = os.path.join(os.path.dirname(dipy.data.__file__), "files")
    for name, suffix in (("small_64D", ".nii"), ("small_25", ".nii.gz")):
        stem = os.path.join(folder, name)
        if not os.path.exists(stem + suffix):
            print(f"skip {name}: not in {folder}")
            continue
        crop = Data(work, name, stem + suffix, stem + ".bval", stem + ".bvec")
        for algorithm, options in (("fa", ["--voxels", 30, "--erode", 0]), ("tournier", ["--voxels", 30])):
            response = crop.respond(algorithm, *options)
            compare(crop, response, what=f", response by {algorithm}")
        if name == "small_64D":
            figures(crop, response)
            compare(noise(work, crop), response)
    brain = os.path.join(packages, BRAIN)
    if os.path.exists(brain + ".nii.gz"):
        run("dwi2mask", brain + ".nii.gz", "-fslgrad", brain + ".bvec", brain + ".bval", os.path.join(work, "brain.nii"), "-quiet", "-force")
        data = Data(work, "mappertrac", brain + ".nii.gz", brain + ".bval", brain + ".bvec", os.path.join(work, "brain.nii"), VOXELS)
        response = data.respond("tournier")
        compare(data, response, (6, 8, 10))
        figures(data, response)
    else:
        print("skip mappertrac: no packages")


def main():
    global tool, dirs, generated
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not shutil.which("dwi2fod"):
        return 77
    os.makedirs(work, exist_ok=True)
    dirs, generated = os.path.join(work, "dirs.txt"), os.path.join(work, "generated.txt")
    directions(dirs)
    # one start is as good as the best of ten, because any spread directions are good enough
    run("dirgen", "300", generated, "-restarts", "1", "-quiet", "-force", MRTRIX_RNG_SEED="1")
    if len(sys.argv) > 3:
        brains(work, sys.argv[3])
    else:
        phantoms(work)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
