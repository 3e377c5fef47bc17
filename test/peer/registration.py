"""Registration of heads of formulas, whose maps are known, beside ANTs on the same images.

    registration.py PROGRAM WORK_FOLDER

Needs antspyx."""

import os
import shutil
import subprocess
import sys

import ants
import nibabel as nib
import numpy as np
import pandas
from scipy.ndimage import map_coordinates

program, work = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)
failed = []

SHAPE, MM = (54, 66, 52), 3.0
AFFINE = np.diag([MM, MM, MM, 1.0])
AFFINE[:3, 3] = -MM * (np.array(SHAPE) - 1) / 2
VOXELS = np.stack(np.meshgrid(*[np.arange(n) for n in SHAPE], indexing="ij"), -1)
CENTRES = VOXELS @ AFFINE[:3, :3].T + AFFINE[:3, 3]
TISSUE = {False: (0, 40, 100, 150, 40), True: (0, 250, 110, 80, 250)}  # outside, rim, cortex, white matter, ventricles


def head(p, other):
    """Values at points, in one of two contrasts."""
    q = p / [66, 84, 62]
    r = np.linalg.norm(q, axis=-1)
    u = q / np.maximum(r, 1e-6)[..., None]
    ripple = np.sin(7 * u[..., 0] + 1) * np.sin(6 * u[..., 1]) * np.sin(8 * u[..., 2] + 2)
    kind = np.where(r > 1.1, 0, np.where(r > 1 + 0.05 * ripple, 1, np.where(r > 0.86 + 0.08 * ripple, 2, 3)))
    for centre, axes in (((-20, 0, 8), (9, 30, 10)), ((18, 10, 4), (11, 24, 12))):
        kind[((((p - centre) / axes) ** 2).sum(-1) < 1) & (kind > 1)] = 4
    waves = np.sin(p[..., 0] / 3.1 + p[..., 1] / 7) + np.sin(p[..., 1] / 3.3 - p[..., 2] / 6) + np.sin(p[..., 2] / 2.9 + p[..., 0] / 8)
    return np.array(TISSUE[other], float)[kind] + 5 * waves * (kind > 1)


def save(name, move, other, seed):
    total = 0
    for k in range(8):
        total = total + head(move(CENTRES + MM * (0.25 - 0.5 * np.array([k & 1, k >> 1 & 1, k >> 2]))), other)
    noise = np.random.default_rng(seed).normal(size=(2,) + SHAPE) * 3
    nib.save(nib.Nifti1Image(np.hypot(total / 8 + noise[0], noise[1]).astype(np.float32), AFFINE), name)


def check(name, value, bar):
    print("%-4s %-62s %.3f of %.3f" % ("ok" if value <= bar else "FAIL", name, value, bar), flush=True)
    if not value <= bar:
        failed.append(name)


def register(*words):
    done = subprocess.run([program, "register", "moving.nii", "fixed.nii", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)


def ants_points(transforms):
    """Where ANTs' chain takes the centres of voxels: it is asked for points of the fixed image."""
    lps = (CENTRES.reshape(-1, 3) * [-1, -1, 1])
    moved = ants.apply_transforms_to_points(3, pandas.DataFrame(lps, columns=["x", "y", "z"]), transforms)
    return (moved[["x", "y", "z"]].to_numpy() * [-1, -1, 1]).reshape(CENTRES.shape)


def errors(found, truth):
    return np.linalg.norm(found - truth, axis=-1)[INSIDE]


INSIDE = np.linalg.norm(CENTRES / [66, 84, 62], axis=-1) < 1
LINEAR = np.array([[0.99751, -0.158, 0.0138, 9], [0.1584, 0.9937, -0.0871, -7], [0, 0.0889, 1.026, 5]])


def turned(p):
    return p @ LINEAR[:, :3].T + LINEAR[:, 3]


def bent(p):
    return np.stack([p[..., r] + 6 * np.sin(p[..., (r + 1) % 3] / 17 + r) * np.cos(p[..., (r + 2) % 3] / 23) for r in range(3)], -1)


save("moving.nii", lambda p: p, True, 1)
save("fixed.nii", turned, False, 2)
register("-o", "linear", "--type", "affine")
m = np.loadtxt("linear_affine.txt")
mine = errors(CENTRES @ m[:3, :3].T + m[:3, 3], turned(CENTRES))
check("affine, two contrasts: mean error, mm", mine.mean(), 0.5)
check("affine, two contrasts: largest error, mm", mine.max(), 1.0)

def field(name):
    """Displacements of a field of ITK, RAS mm, on the grid of these images."""
    image = nib.load(name)
    assert image.shape[:3] == SHAPE and np.allclose(image.affine, AFFINE)
    return np.asarray(image.dataobj, dtype=float)[..., 0, :] * [-1, -1, 1]


def at(shift, p):
    """Displacements at points, interpolated linearly, constant beyond the border."""
    v = np.moveaxis((p - AFFINE[:3, 3]) / MM, -1, 0)
    return np.stack([map_coordinates(shift[..., r], v, order=1, mode="nearest") for r in range(3)], -1)


def waves(amplitude, wave, seed):
    """A smooth map that can be inverted: four plane waves."""
    rng = np.random.default_rng(seed)
    k, a = rng.normal(size=(2, 4, 3))
    k *= (2 * np.pi / wave / rng.uniform(1, 2, 4) / np.linalg.norm(k, axis=1))[:, None]
    a *= (amplitude / 4 / np.linalg.norm(a, axis=1))[:, None]
    phase = rng.uniform(0, 2 * np.pi, 4)
    return lambda p: p + np.sin(p @ k.T + phase) @ a


# --- a known rigid map, of one contrast ---
save("moving.nii", lambda p: p, False, 5)
rigid = np.eye(4)
rigid[:3, :3] = np.array([[np.cos(0.2), -np.sin(0.2), 0], [np.sin(0.2), np.cos(0.2), 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, np.cos(0.1), -np.sin(0.1)], [0, np.sin(0.1), np.cos(0.1)]])
rigid[:3, 3] = 7, -5, 4
save("fixed.nii", lambda p: p @ rigid[:3, :3].T + rigid[:3, 3], False, 6)
register("-o", "rigid", "--type", "rigid")
m = np.loadtxt("rigid_affine.txt")
check("rigid map: mean error, voxel", errors(CENTRES @ m[:3, :3].T + m[:3, 3], CENTRES @ rigid[:3, :3].T + rigid[:3, 3]).mean() / MM, 0.05)

# --- Dice of labels beside ANTs' and numpy's, of labels that `transform` moved ---
def labels(p):
    q = p / [66, 84, 62]
    r = np.linalg.norm(q, axis=-1)
    return np.where(r > 1, 0, np.where(r > 0.8, 1035, 10 + (p[..., 0] > 0) + 2 * (p[..., 1] > 0))).astype(np.int32)


nib.save(nib.Nifti1Image(labels(CENTRES), AFFINE), "labels_moving.nii")
nib.save(nib.Nifti1Image(labels(CENTRES @ rigid[:3, :3].T + rigid[:3, 3]), AFFINE), "labels_fixed.nii")
register("-o", "dice", "--type", "rigid", "--labels", "labels_moving.nii,labels_fixed.nii")
subprocess.run([program, "transform", "labels_moving.nii", "-t", "dice_affine.txt", "--template", "labels_fixed.nii", "--interpolation", "label", "-o", "labels_moved.nii"],
               check=True)
ours = pandas.read_csv("dice_dice.tsv", sep="\t").set_index("index")["dice"]
a, b = (np.asarray(nib.load(name).dataobj) for name in ("labels_fixed.nii", "labels_moved.nii"))
counted = {k: 2 * ((a == k) & (b == k)).sum() / ((a == k).sum() + (b == k).sum()) for k in ours.index}
theirs = ants.label_overlap_measures(ants.image_read("labels_moved.nii"), ants.image_read("labels_fixed.nii"))
theirs = {int(float(k)): d for k, d in zip(theirs["Label"], theirs["MeanOverlap"]) if k not in ("All", 0, "0")}
check("Dice of labels, difference from numpy's", max(abs(ours[k] - counted[k]) for k in ours.index), 1e-4)
check("Dice of labels, difference from ANTs'", max(abs(ours[k] - theirs[k]) for k in ours.index), 1e-4)
check("Dice of labels of a known rigid map, 1 - least", 1 - ours.min(), 0.05)

# --- known warps, and inverses ---
save("moving.nii", lambda p: p, False, 3)
for name, warp, bar in (("bent by 6 mm", bent, 0.35), ("waves of 6 mm, 60 mm long", waves(6, 60, 1), 0.35), ("waves of 8 mm, 45 mm long", waves(8, 45, 2), 0.35)):
    save("fixed.nii", warp, False, 4)
    register("-o", "bent", "--force")
    m = np.loadtxt("bent_affine.txt")
    forth, back = field("bent_warp.nii.gz"), field("bent_inverse_warp.nii.gz")
    through = CENTRES + forth
    found = errors(through @ m[:3, :3].T + m[:3, 3], warp(CENTRES)) / MM
    unmoved = errors(CENTRES, warp(CENTRES)) / MM
    print("%s: error median %.3f, 90 %% %.3f voxel, without registration %.3f; " % (name, np.median(found), np.percentile(found, 90), np.median(unmoved)), end="")
    gradient = np.stack([np.stack(np.gradient(forth[..., r], MM), -1) for r in range(3)], -2) + np.eye(3)
    jacobian = np.linalg.det(gradient)
    print("Jacobian %.2f to %.2f" % (jacobian.min(), jacobian.max()))
    check(name + ": median error, voxel", np.median(found), bar)
    check(name + ": folded voxels", (jacobian <= 0).sum(), 0)
    inverse = errors(through + at(back, through), CENTRES) / MM
    check(name + ": error of the inverse, median, voxel", np.median(inverse), 0.03)
    check(name + ": error of the inverse, 99 %, voxel", np.percentile(inverse, 99), 0.15)
    theirs = ants.registration(ants.image_read("fixed.nii"), ants.image_read("moving.nii"), "SyNOnly", initial_transform="identity", syn_metric="CC", syn_sampling=2,
                               reg_iterations=(60, 40, 20))
    peer = np.median(errors(ants_points(theirs["fwdtransforms"]), warp(CENTRES))) / MM
    check(name + ": median error beside that of ANTs' SyN, voxel", np.median(found), peer + 0.1)
sys.exit("failed: " + ", ".join(failed) if failed else 0)
