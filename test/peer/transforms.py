"""Images and streamlines brought to another space, against MRtrix3: mrtransform and tcktransform. Cubic interpolation is
compared with SciPy's splines, because mrtransform's -interp cubic is another curve, which needs no filter.

    transforms.py PROGRAM WORK_FOLDER"""

import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np
from scipy import ndimage

program, work = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)
failed = []


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        print(words, done.stdout, done.stderr)
        failed.append(words[0])


def check(name, largest, bar):
    good = largest <= bar
    print("%-4s %-60s %.2g of %.2g" % ("ok" if good else "FAIL", name, largest, bar))
    if not good:
        failed.append(name)


def grid(shape, sizes, angles, origin):
    cx, cy, cz = np.cos(angles)
    sx, sy, sz = np.sin(angles)
    turn = (np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]) @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]) @
            np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]))
    affine = np.eye(4)
    affine[:3, :3] = turn * sizes
    affine[:3, 3] = np.array(origin) - affine[:3, :3] @ (np.array(shape) / 2)
    return affine


rng = np.random.default_rng(3)
SHAPE = (30, 28, 26)
MOVING, FIXED = grid((32, 30, 28), (2.1, 2, 2.2), (0.1, -0.2, 0.3), (3, -4, 5)), grid(SHAPE, (2, 2.1, 2.3), (-0.1, 0.1, 0), (0, 0, 0))
values = rng.normal(size=(32, 30, 28)).astype(np.float32)
nib.save(nib.Nifti1Image(values, MOVING), "moving.nii")
nib.save(nib.Nifti1Image(rng.integers(0, 9, (32, 30, 28)).astype(np.int16), MOVING), "labels.nii")
linear = np.eye(4)
linear[:3, :3] += rng.normal(size=(3, 3)) * 0.06
linear[:3, 3] = 2, -3, 1
np.savetxt("linear.txt", linear)
# FODs are turned on a grid of few voxels, because mrtransform takes milliseconds for each
FEW = (14, 12, 13)
for shape, affine, fixed, warp in ((SHAPE, FIXED, "fixed.nii", "warp.nii"), (FEW, grid(FEW, (2, 2.1, 2.3), (-0.1, 0.1, 0), (0, 0, 0)), "few.nii", "few_warp.nii")):
    nib.save(nib.Nifti1Image(np.zeros(shape, np.float32), affine), fixed)
    centres = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1) @ affine[:3, :3].T + affine[:3, 3]
    shift = np.stack([3 * np.sin(centres[..., 1] / 14), 2 * np.cos(centres[..., 2] / 12), 2 * np.sin(centres[..., 0] / 16)], -1)
    nib.save(nib.Nifti1Image((centres + shift).astype(np.float32), affine), warp)


def compare(name, ours, theirs, bar, share=0):
    """Compares images in world space, because mrtransform writes the axes in the order of its input."""
    run("mrconvert", "-quiet", "-force", theirs, "straight.nii", "-strides", ",".join(
        "%d" % s for s in np.array(nib.io_orientation(nib.load(ours).affine)[:, 1] * (nib.io_orientation(nib.load(ours).affine)[:, 0] + 1))))
    a, b = nib.load(ours), nib.load("straight.nii")
    assert np.allclose(a.affine, b.affine, atol=1e-4), (a.affine, b.affine)
    x, y = a.get_fdata(), b.get_fdata()
    both = (x != 0) & (y != 0)
    check(name + ", voxels of one alone", np.mean((x != 0) != (y != 0)), 1e-3)
    differ = np.abs(x - y)[both]
    check(name, np.mean(differ > 0) if share else differ.max(), share or bar)


for name, theirs, ours in (("a linear transform", ["-linear", "linear.txt"], ["-t", "linear.txt"]),
                           ("its inverse", ["-linear", "linear.txt", "-inverse"], ["-t", "linear.txt,inverse"]),
                           ("a deformation field", ["-warp", "warp.nii"], ["-t", "warp.nii"])):
    run("mrtransform", "-quiet", "-force", "moving.nii", *theirs, "-template", "fixed.nii", "-interp", "linear", "theirs.nii",
        *(["-oversample", "1,1,1"] if "-linear" in theirs else []))
    run(program, "transform", "moving.nii", *ours, "--template", "fixed.nii", "-o", "ours.nii", "--force", "-q")
    compare("linear: " + name, "ours.nii", "theirs.nii", 2e-5)
    run("mrtransform", "-quiet", "-force", "labels.nii", *theirs, "-template", "fixed.nii", "-interp", "nearest", "theirs.nii")
    run(program, "transform", "labels.nii", *ours, "--template", "fixed.nii", "-o", "ours.nii", "--interpolation", "nearest",
        "--force", "-q")
    compare("nearest: " + name, "ours.nii", "theirs.nii", 0, share=1e-3)

# Compares splines with those of SciPy, cut to the range of the 64 voxels around.
for name, chain in (("a linear transform", "linear.txt"), ("a deformation field", "warp.nii")):
    run(program, "transform", "moving.nii", "-t", chain, "--template", "fixed.nii", "-o", "ours.nii", "--interpolation", "cubic",
        "--force", "-q")
    at = np.stack(np.meshgrid(*[np.arange(n) for n in SHAPE], indexing="ij"), -1) @ FIXED[:3, :3].T + FIXED[:3, 3]
    at = nib.load("warp.nii").get_fdata() if chain == "warp.nii" else at @ linear[:3, :3].T + linear[:3, 3]
    back = np.linalg.inv(MOVING)
    at = np.moveaxis(at @ back[:3, :3].T + back[:3, 3], -1, 0)
    last = np.array(values.shape)[:, None, None, None] - 1
    inside = np.all((at >= -0.499) & (at <= last + 0.499), 0)
    at = np.clip(at, 0, last)
    want, low = ndimage.map_coordinates(values.astype(float), at, order=3, mode="mirror"), np.floor(at).astype(int)
    around = []
    for k in np.ndindex(4, 4, 4):
        near = np.abs(low + np.array(k)[:, None, None, None] - 1)
        around.append(values[tuple(np.where(near > last, 2 * last - near, near))])
    free = (want > np.min(around, 0)) & (want < np.max(around, 0))
    ours = nib.load("ours.nii").get_fdata()
    check("cubic: %s, share that is cut" % name, np.mean(~free), 0.01)
    check("cubic: " + name, np.abs(ours - np.clip(want, np.min(around, 0), np.max(around, 0)))[inside].max() / np.ptp(values), 1e-4)

# Compares FODs of each order, turned by the same directions.
golden = np.pi * (3 - 5**0.5)
z = (np.arange(300) + 0.5) / 300
np.savetxt("directions.txt", np.c_[golden * np.arange(300), np.arccos(z)])  # azimuth and inclination
for order, n, ways in ((2, 6, ("none",)), (4, 15, ("none", "fod", "jac")), (8, 45, ("none",))):
    sh = rng.normal(size=(32, 30, 28, n)).astype(np.float32)
    sh[..., 0] = 3 + np.abs(sh[..., 0])
    nib.save(nib.Nifti1Image(sh, MOVING), "fod.nii")
    for how in ways:
        more = [] if how == "none" else ["-modulate", how]
        run("mrtransform", "-quiet", "-force", "fod.nii", "-warp", "few_warp.nii", "-template", "few.nii", "-interp", "linear",
            "-reorient_fod", "yes", "-directions", "directions.txt", "theirs.nii", *more)
        run(program, "transform", "fod.nii", "-t", "few_warp.nii", "--template", "few.nii", "--fod", "--modulate", how, "-o",
            "ours.nii", "--force", "-q")
        run("mrconvert", "-quiet", "-force", "theirs.nii", "straight.nii", "-strides", "1,2,3,4")
        a, b = nib.load("ours.nii").get_fdata(), nib.load("straight.nii").get_fdata()
        inside = (slice(2, -2),) * 3
        both = (a[inside][..., 0] > 0) & (b[inside][..., 0] > 0)
        check("FODs of order %d, modulate %s" % (order, how), np.abs(a - b)[inside][both].max() / np.abs(b).max(), 1e-4)

# tcktransform maps points by the warp as it is, which takes our streamlines back to where they came from
lines = [(rng.uniform(8, 18, (1, 3)) + np.cumsum(rng.normal(size=(25, 3)) * 0.2, 0)) @ FIXED[:3, :3].T + FIXED[:3, 3] for _ in range(40)]
nib.streamlines.save(nib.streamlines.Tractogram([l.astype(np.float32) for l in lines], affine_to_rasmm=np.eye(4)), "lines.tck")
run("tcktransform", "-quiet", "-force", "lines.tck", "warp.nii", "moved.tck")
run(program, "transform", "moved.tck", "-t", "warp.nii", "-o", "back.tck", "-q")
run(program, "transform", "lines.tck", "-t", "warp.nii,inverse", "-o", "forth.tck", "-q")
for name, one, other in (("there by tcktransform, back by the inverse", "lines.tck", "back.tck"),
                         ("the inverse of the inverse against tcktransform", "moved.tck", "forth.tck")):
    a, b = nib.streamlines.load(one).streamlines, nib.streamlines.load(other).streamlines
    check("streamlines: " + name, np.abs(a.get_data() - b.get_data()).max() if len(a) == len(b) else np.inf, 1e-4)
print("%d failed" % len(failed) if failed else "all ok")
sys.exit(bool(failed))
