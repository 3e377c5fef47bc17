"""Transforms of NiftyReg against its own programs: reg_transform says where 200 points go by affine maps, fields, splines and
velocities, some of which reg_f3d has found here.

    transform_niftyreg.py PROGRAM WORK_FOLDER

Needs nibabel, scipy, and reg_transform, reg_f3d in PATH or in the package niftyreg of this Python."""

import os
import shutil
import sys

import nibabel as nib
import numpy as np
from scipy.ndimage import gaussian_filter
from transform_scene import grid, run

try:
    from niftyreg import bin_path
    os.environ["PATH"] = "%s:%s" % (bin_path, os.environ["PATH"])
except ImportError:
    if not shutil.which("reg_f3d"):
        print("skipped: neither the package niftyreg nor reg_f3d in PATH")
        sys.exit(77)

program, work = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)
failed = []
rng = np.random.default_rng(12)
BOUND = 1e-4  # mm
# NiftyReg rounds positions and its matrices to float, by up to 8e-6 mm here, and each of six squarings doubles that. Smaller grids, near the
# origin, are within BOUND (test/cli/niftyreg.py).
ROUNDED = 1e-3


SHAPE = {"ref": (38, 36, 34), "flo": (36, 38, 35)}
AFFINE = {"ref": grid(SHAPE["ref"], (3, 3.2, 3.5), (0.1, -0.15, 0.2), (2, -3, 4), True),
          "flo": grid(SHAPE["flo"], (3.1, 3, 3.3), (-0.1, 0.1, 0.05), (-2, 4, 1))}
spots = np.random.default_rng(8).uniform(-35, 35, (40, 3))
for name in SHAPE:
    p = np.stack(np.meshgrid(*[np.arange(n) for n in SHAPE[name]], indexing="ij"), -1) @ AFFINE[name][:3, :3].T + AFFINE[name][:3, 3]
    if name == "ref":
        p = p * 1.03 + 3 * np.sin(p[..., ::-1] / 15) + [1, -1, 2]
    head = sum((20 + 9 * i) * np.exp(-((p - c) ** 2).sum(-1) / 200) for i, c in enumerate(spots))
    nib.save(nib.Nifti1Image(head.astype(np.float32), AFFINE[name]), name + ".nii")
np.savetxt("affine.txt", np.array([[1.04, 0.05, -0.03, 2.5], [-0.06, 0.97, 0.04, -1.5], [0.02, -0.05, 1.02, 3], [0, 0, 0, 1]]))


def points_in(name, between=True):
    """200 points of an image, as float has them: anywhere, or centres of voxels."""
    at = rng.uniform(3, np.array(SHAPE[name]) - 4, (200, 3))
    return ((at if between else np.round(at)) @ AFFINE[name][:3, :3].T + AFFINE[name][:3, 3]).astype(np.float32)


def ours(points, *texts):
    """Where glslines takes points of the fixed image: those of streamlines go by the inverse, so that the inverse is given."""
    nib.streamlines.save(nib.streamlines.Tractogram([points], affine_to_rasmm=np.eye(4)), "points.tck")
    chain = [word for text in reversed(texts) for word in ("-t", text + ",inverse")]
    run(program, "transform", "points.tck", *chain, "-o", "moved.tck", "--outside", "drop", "--force", "-q")
    return nib.streamlines.load("moved.tck").streamlines[0]


def theirs(points, transform, ref="ref.nii"):
    np.savetxt("points.txt", points, fmt="%.9g")
    run("reg_transform", "-ref", ref, "-land", transform, "points.txt", "there.txt")
    return np.loadtxt("there.txt")


def check(what, a, b, bound=BOUND):
    error = np.abs(a - b).max()
    print("%-6s %s: %.2g mm" % ("ok" if error < bound else "FAILED", what, error))
    if error >= bound:
        failed.append(what)
    return error


def fields(name, what, ref="ref", needs="", bound=BOUND):
    """Compares points anywhere, and the values of the field at the centres of voxels."""
    points = points_in(ref)
    there = theirs(points, name, ref + ".nii")
    assert np.abs(there - points).max() > 2
    check(what + ", points", ours(points, name + needs), there, bound)
    run("reg_transform", "-ref", ref + ".nii", "-def", name, "def.nii")
    image = nib.load("def.nii")
    at = rng.integers(1, np.array(SHAPE[ref]) - 1, (200, 3))
    values = np.asarray(image.dataobj).reshape(SHAPE[ref] + (3,))[tuple(at.T)]
    check(what + ", voxels", ours((at @ AFFINE[ref][:3, :3].T + AFFINE[ref][:3, 3]).astype(np.float32), name + needs), values, bound)


# --- affine maps and fields of both meanings ---
fields("affine.txt", "affine map")
cpp = "cpp.nii"
run("reg_f3d", "-ref", "ref.nii", "-flo", "flo.nii", "-aff", "affine.txt", "-cpp", cpp, "-res", "res.nii", "-maxit", "30", "-ln", "2", "-omp", "1")
fields(cpp, "control points of reg_f3d", needs=",fixed=ref.nii")
for kind in "def", "disp":
    run("reg_transform", "-ref", "ref.nii", "-" + kind, cpp, kind + "_of_cpp.nii.gz")
    fields(kind + "_of_cpp.nii.gz", "field of reg_transform -" + kind)

# --- a spline of larger and rougher moves, on a lattice that reg_f3d made ---
lattice = nib.load(cpp)
moves = gaussian_filter(rng.normal(size=lattice.shape), (1, 1, 1, 0, 0))
values = np.asarray(lattice.dataobj) + 6 * moves / np.abs(moves).max()
nib.save(nib.Nifti1Image(values.astype(np.float32), lattice.affine, lattice.header), "rough.nii.gz")
fields("rough.nii.gz", "control points of a rough spline", needs=",fixed=ref.nii")

# --- symmetric splines and velocities, both directions, with an affine map behind the header and without ---
for kind, words in ("symmetric spline", ["-sym"]), ("velocity", ["-vel"]):
    for affine in [], ["-aff", "affine.txt"]:
        run("reg_f3d", "-ref", "ref.nii", "-flo", "flo.nii", *affine, "-cpp", "v.nii", "-res", "res.nii", "-maxit", "30", "-ln", "2", "-omp", "1", *words)
        text = "%s %s an affine map" % (kind, "with" if affine else "without")
        for name, ref, way in ("v.nii", "ref", ""), ("v_backward.nii", "flo", ", backward"):
            fields(name, text + way, ref, ",fixed=%s.nii" % ref, ROUNDED if kind == "velocity" else BOUND)
        if kind == "velocity":
            run("reg_transform", "-ref", "ref.nii", "-flow", "v.nii", "flow.nii.gz")
            fields("flow.nii.gz", text + ", as a flow", bound=ROUNDED)

# --- chains: reg_transform -comp A B takes A first ---
run("reg_transform", "-ref", "ref.nii", "-ref2", "ref.nii", "-comp", "def_of_cpp.nii.gz", "affine.txt", "chain.nii")
points = points_in("ref", False)
check("reg_transform -comp", ours(points, "def_of_cpp.nii.gz", "affine.txt"), theirs(points, "chain.nii"))
run("reg_transform", "-invAff", "affine.txt", "back.txt")
check("reg_transform -invAff", ours(points, "affine.txt,inverse"), theirs(points, "back.txt"))

# --- what is written for NiftyReg ---
run(program, "transform", "compose", "-t", "affine.txt", "--to", "niftyreg", "-o", "written.txt")
check("compose --to niftyreg, matrix", theirs(points, "written.txt"), theirs(points, "affine.txt"))
run(program, "transform", "compose", "-t", "def_of_cpp.nii.gz", "-t", "affine.txt", "--to", "niftyreg", "-o", "written.nii.gz")
check("compose --to niftyreg, field", theirs(points, "written.nii.gz"), ours(points, "def_of_cpp.nii.gz", "affine.txt"))

print("%d failed" % len(failed) if failed else "all ok")
sys.exit(bool(failed))
