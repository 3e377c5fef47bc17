#!/usr/bin/env python3
"""Writes the folder transforms beside this script again: small spatial transforms by the programs that write them, and
points.tsv, where these programs say that points go. test/unit/transform.c reads them.

usage: write_transforms.py          in an environment with SimpleITK, antspyx, nitransforms, nibabel, and MRtrix3 in PATH

A row of points.tsv: the transform as `glslines transform -t` takes it, a point of the fixed image, and where it goes in the
moving image, RAS mm.
"""

import os
import subprocess
import sys

import ants
import nibabel as nib
import numpy as np
import SimpleITK as sitk
from nitransforms.io import afni, fsl, lta

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transforms")
os.makedirs(here, exist_ok=True)
os.chdir(here)
LPS = np.array([-1, -1, 1.0])
rng = np.random.default_rng(5)
FIXED, MOVING = np.eye(4), np.eye(4)
FIXED[:3, :3] = np.linalg.qr([[1, 0.1, 0.05], [-0.1, 1, 0.15], [0.02, -0.1, 1]])[0] * [4.1, 3.8, 5]
FIXED[:3, 0] *= np.sign(FIXED[0, 0]) * -1
FIXED[:3, 1:3] *= np.sign(np.diag(FIXED)[1:3])
FIXED[:3, 3] = 18, -14, -15
MOVING[:3, :3] = np.linalg.qr([[1, -0.1, 0.1], [0.1, 1, -0.05], [-0.1, 0.1, 1]])[0] * [3, 3.5, 4]
MOVING[:3, :3] *= np.sign(np.diag(MOVING)[:3])
MOVING[:3, 3] = -16, -13, -9
SHAPE_FIXED, SHAPE_MOVING = (9, 8, 7), (10, 9, 8)
RAS = np.eye(4)
RAS[:3, :3] += rng.normal(size=(3, 3)) * 0.1
RAS[:3, 3] = 4, -6, 3
voxels = np.stack(np.meshgrid(*[np.arange(n) for n in SHAPE_FIXED], indexing="ij"), -1)
centres = voxels @ FIXED[:3, :3].T + FIXED[:3, 3]
points = (rng.uniform(1.2, np.array(SHAPE_FIXED) - 2.2, (8, 3)) @ FIXED[:3, :3].T + FIXED[:3, 3]).astype(np.float32)
shift = np.stack([3 * np.sin(centres[..., 1] / 11), 2 + 2 * np.cos(centres[..., 2] / 9), 2 * np.sin(centres[..., 0] / 13)], -1)
rows = []


def run(*words):
    subprocess.run(words, check=True)


def add(text, moved):
    for p, q in zip(points, np.asarray(moved)):
        rows.append("\t".join([text] + ["%.9g" % v for v in (*p, *q)]))


def through(transform):
    """Moves points through a transform of SimpleITK."""
    return [np.array(transform.TransformPoint(tuple((p * LPS).astype(float)))) * LPS for p in points]


for name, shape, affine in (("fixed.nii.gz", SHAPE_FIXED, FIXED), ("moving.nii.gz", SHAPE_MOVING, MOVING)):
    nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), name)

# --- ITK: affine maps as text and as MATLAB 4, rotations by angles in both orders ---
lps = np.diag([-1, -1, 1, 1.0]) @ RAS @ np.diag([-1, -1, 1, 1.0])
affine = sitk.AffineTransform(3)
affine.SetCenter((5, -3, 8))
affine.SetMatrix(lps[:3, :3].ravel())
affine.SetTranslation(lps[:3, 3])
sitk.WriteTransform(affine, "itk_affine.txt")
add("itk_affine.txt", through(affine))
add("itk_affine.txt,inverse", through(affine.GetInverse()))
ants.write_transform(ants.read_transform("itk_affine.txt"), "ants_affine.mat")
add("ants_affine.mat", [np.array(ants.apply_ants_transform_to_point(ants.read_transform("ants_affine.mat"), p * LPS)) * LPS for p in points.astype(float)])
for zyx in (False, True):
    euler = sitk.Euler3DTransform((4, -6, 2), 0.3, -0.2, 0.4, (3, 1, -2))
    euler.SetComputeZYX(zyx)
    name = "itk_euler%s.tfm" % ("_zyx" if zyx else "")
    sitk.WriteTransform(euler, name)
    add(name, through(euler))

# --- ITK: a field, alone and in front of an affine map ---
image = sitk.GetImageFromArray((shift * LPS).transpose(2, 1, 0, 3), isVector=True)
spacing = np.linalg.norm(FIXED[:3, :3], axis=0)
image.SetSpacing(spacing)
image.SetOrigin(FIXED[:3, 3] * LPS)
image.SetDirection(((FIXED[:3, :3] / spacing) * LPS[:, None]).ravel())
sitk.WriteImage(sitk.Cast(image, sitk.sitkVectorFloat32), "itk_field.nii.gz")
field = sitk.DisplacementFieldTransform(sitk.ReadImage("itk_field.nii.gz", sitk.sitkVectorFloat64))
add("itk_field.nii.gz", through(field))
add("itk_field.nii.gz;itk_affine.txt", through(sitk.CompositeTransform([affine, field])))

# --- FSL, AFNI and FreeSurfer by nitransforms; MRtrix3's maps ---
fsl.FSLLinearTransform.from_ras(RAS, moving="moving.nii.gz", reference="fixed.nii.gz").to_filename("flirt.mat")
expected = points @ RAS[:3, :3].T + RAS[:3, 3]
run("transformconvert", "-quiet", "-force", "flirt.mat", "moving.nii.gz", "fixed.nii.gz", "flirt_import", "mrtrix_linear.txt")
mrtrix = np.loadtxt("mrtrix_linear.txt")
assert np.abs(mrtrix - RAS).max() < 1e-4
add("mrtrix_linear.txt", points @ mrtrix[:3, :3].T + mrtrix[:3, 3])
add("flirt.mat,moving=moving.nii.gz,fixed=fixed.nii.gz", points @ mrtrix[:3, :3].T + mrtrix[:3, 3])
afni.AFNILinearTransform.from_ras(RAS).to_filename("afni.aff12.1D")
add("afni.aff12.1D", expected)
for kind, name in ((1, "freesurfer_ras.lta"), (0, "freesurfer_voxel.lta")):
    volume = {}
    for key, shape, grid in (("src", SHAPE_MOVING, MOVING), ("dst", SHAPE_FIXED, FIXED)):
        size = np.linalg.norm(grid[:3, :3], axis=0)
        volume[key] = shape, size, grid[:3, :3] / size, grid[:3, :3] @ (np.array(shape) / 2) + grid[:3, 3]
    matrix = np.linalg.inv(RAS) if kind else np.linalg.inv(FIXED) @ np.linalg.inv(RAS) @ MOVING
    with open(name, "w") as out:
        out.write("# transform file\ntype      = %d\nnxforms   = 1\nmean      = 0.0 0.0 0.0\nsigma     = 1.0\n1 4 4\n" % kind)
        out.writelines(" ".join("%.15e" % v for v in row) + " \n" for row in matrix)
        for key, (shape, size, axes, centre) in volume.items():
            out.write("%s volume info\nvalid = 1  # volume info valid\nfilename = %s.mgz\nvolume = %d %d %d\n" % (key, key, *shape))
            out.write("voxelsize = %.15e %.15e %.15e\n" % tuple(size))
            for letter, column in zip("xyz", axes.T):
                out.write("%sras   = %.15e %.15e %.15e\n" % (letter, *column))
            out.write("cras   = %.15e %.15e %.15e\n" % tuple(centre))
    add(name, expected)
read = lta.FSLinearTransform.from_filename("freesurfer_ras.lta")
assert np.abs(np.linalg.inv(read.to_ras()) - RAS).max() < 1e-4 or np.abs(read.to_ras() - RAS).max() < 1e-4

# --- MRtrix3: a field of positions, by its own program for points ---
nib.save(nib.Nifti1Image(shift.astype(np.float32), FIXED), "displacements.nii")
run("warpconvert", "-quiet", "-force", "displacements.nii", "displacement2deformation", "mrtrix_deformation.mif")
nib.streamlines.save(nib.streamlines.Tractogram([points], affine_to_rasmm=np.eye(4)), "points.tck")
run("tcktransform", "-quiet", "-force", "points.tck", "mrtrix_deformation.mif", "moved.tck")
add("mrtrix_deformation.mif", nib.streamlines.load("moved.tck").streamlines[0])
for name in ("points.tck", "moved.tck", "displacements.nii"):
    os.unlink(name)
with open("points.tsv", "w") as out:
    out.write("\n".join(rows) + "\n")
print(len(rows), "points", file=sys.stderr)
