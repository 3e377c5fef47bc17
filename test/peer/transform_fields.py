"""Fields of FSL: where they take points, against fslpy, the Python library of FSL's authors.

    transform_fields.py PROGRAM WORK_FOLDER

Needs fslpy. If nitransforms is installed, the field in its wheel is compared, which FSL wrote."""

import importlib.util
import os
import shutil
import sys

import nibabel as nib
import numpy as np
from transform_scene import grid, run

try:
    from fsl.data.image import Image
    from fsl.transform import fnirt, nonlinear
except ImportError:
    print("skipped: fslpy is not installed")
    sys.exit(77)

program, work = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)
failed = []
rng = np.random.default_rng(5)
FIXED, MOVING = (24, 22, 20), (22, 24, 21)


def check(name, ours, theirs, bar=1e-4):
    largest = np.abs(ours - theirs).max()
    print("%-4s %-60s %.2g of %.2g mm" % ("ok" if largest <= bar else "FAIL", name, largest, bar))
    if not largest <= bar:
        failed.append(name)


def points_in(shape, affine):
    """Centres of 200 voxels, so that no rule for values between voxels matters."""
    return (rng.integers(2, np.array(shape) - 2, (200, 3)) @ affine[:3, :3].T + affine[:3, 3]).astype(np.float32)


def moved(points, text):
    """Where glslines takes points of the fixed image: those of streamlines go by the inverse, so that the inverse is given."""
    nib.streamlines.save(nib.streamlines.Tractogram([points], affine_to_rasmm=np.eye(4)), "points.tck")
    run(program, "transform", "points.tck", "-t", text + ",inverse", "-o", "moved.tck", "--outside", "drop", "--force", "-q")
    return nib.streamlines.load("moved.tck").streamlines[0]


# --- FSL: both frames of both images, displacements and positions ---
for mirrored in np.ndindex(2, 2):
    fixed, moving = grid(FIXED, (3, 3.2, 3.5), (0.1, -0.15, 0.2), (2, -3, 4), mirrored[0]), grid(MOVING, (3.1, 3, 3.3), (-0.1, 0.1, 0.05), (-2, 4, 1), mirrored[1])
    for name, shape, affine in (("fixed.nii", FIXED, fixed), ("moving.nii", MOVING, moving)):
        nib.save(nib.Nifti1Image(np.ones(shape, np.float32), affine), name)
    centres = np.stack(np.meshgrid(*[np.arange(n) for n in FIXED], indexing="ij"), -1) @ fixed[:3, :3].T + fixed[:3, 3]
    places = centres + np.stack([4 * np.sin(centres[..., 1] / 14), 3 * np.cos(centres[..., 2] / 12), 2 * np.sin(centres[..., 0] / 16)], -1)
    ref, src = Image("fixed.nii"), Image("moving.nii")
    field = fnirt.toFnirt(nonlinear.DeformationField(places.astype(np.float32), src=src, ref=ref, srcSpace="world", refSpace="world",
                                                     defType="absolute", header=ref.header))
    field.save("absolute.nii.gz")
    nonlinear.DeformationField(nonlinear.convertDeformationType(field, "relative"), src=src, ref=ref, srcSpace="fsl", refSpace="fsl",
                               defType="relative", header=field.header).save("relative.nii.gz")
    for kind in "absolute", "relative":
        points = points_in(FIXED, fixed)
        theirs = fnirt.fromFnirt(fnirt.readFnirt(kind + ".nii.gz", src=src, ref=ref), "world", "world").transform(points, "world", "world")
        check("fslpy: %s, fixed %s, moving %s" % (kind, *("mirrored" if m else "as it is" for m in mirrored)),
              moved(points, kind + ".nii.gz,moving=moving.nii"), theirs)
        assert np.abs(theirs - points).max() > 3
wheel = importlib.util.find_spec("nitransforms")
if wheel:
    path = os.path.join(os.path.dirname(wheel.origin), "tests", "data", "ds-005_sub-01_from-OASIS_to-T1_warp_fsl.nii.gz")
    image = nib.load(path)
    points = points_in(image.shape[:3], image.affine)
    for name in "moving.nii", path:  # a grid of its own, and that of the field
        src = Image(name) if name != path else Image(np.zeros(image.shape[:3]), xform=image.affine)
        if name == path:
            src.save("same.nii")
        theirs = fnirt.fromFnirt(fnirt.readFnirt(path, src=src, ref=Image(path)), "world", "world").transform(points, "world", "world")
        check("fslpy: a field that FSL wrote, moving %s" % ("on its grid" if name == path else "on another"),
              moved(points, "%s,moving=%s" % (path, "same.nii" if name == path else name)), theirs)

print("%d failed" % len(failed) if failed else "all ok")
sys.exit(bool(failed))
