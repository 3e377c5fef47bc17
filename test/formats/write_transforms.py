#!/usr/bin/env python3
"""Writes the folder transforms beside this script again: small spatial transforms by the programs that write them, and
points.tsv, where these programs say that points go. test/unit/transform.c reads them.

usage: write_transforms.py          in an environment with SimpleITK, antspyx, nitransforms, DIPY, nibabel, h5py, and MRtrix3 in PATH

A row of points.tsv: the transform as `glslines transform -t` takes it, a point of the fixed image, and where it goes in the
moving image, RAS mm.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import ants
import h5py
import nibabel as nib
import numpy as np
import SimpleITK as sitk
from dipy.align import write_mapping
from dipy.align.imwarp import SymmetricDiffeomorphicRegistration
from dipy.align.metrics import SSDMetric
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
# --- composite transforms in HDF5: of SimpleITK, whose values are plain, and of ANTs, which packs them ---
euler = sitk.Euler3DTransform((4, -6, 2), 0.3, -0.2, 0.4, (3, 1, -2))
composite = sitk.CompositeTransform([affine, euler, field])
sitk.WriteTransform(composite, "itk_composite.h5")
add("itk_composite.h5", through(composite))
back = sitk.CompositeTransform([affine.GetInverse(), euler.GetInverse()])
sitk.WriteTransform(sitk.CompositeTransform([euler, affine]), "itk_two.h5")
add("itk_two.h5,inverse", through(back))


def blobs(shape, grid, move):
    """An image of smooth spots."""
    p = move(np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1) @ grid[:3, :3].T + grid[:3, 3])
    spots = np.random.default_rng(8).uniform(-12, 12, (12, 3))
    return sum((20 + 9 * i) * np.exp(-((p - c) ** 2).sum(-1) / 60) for i, c in enumerate(spots)).astype(np.float32)


plain = np.diag([3.0, 3.2, 3.5, 1])
plain[:3, 3] = -17, -18, -19
shape, here_and_there = (12, 12, 11), np.diag([2.9, 3.1, 3.4, 1])
here_and_there[:3, 3] = -15, -18, -17
images = [blobs((12, 11, 12), plain, lambda p: p), blobs(shape, here_and_there, lambda p: p * 1.05 + 1.5 * np.sin(p[..., ::-1] / 9) + [1, -1, 2])]
inner = (rng.uniform(2, np.array(shape) - 3, (8, 3)) @ here_and_there[:3, :3].T + here_and_there[:3, 3]).astype(np.float32)
points = inner
with tempfile.TemporaryDirectory() as folder:
    for name, image, grid in (("moving.nii", images[0], plain), ("fixed.nii", images[1], here_and_there)):
        nib.save(nib.Nifti1Image(image, grid), os.path.join(folder, name))
    fixed, moving = (ants.image_read(os.path.join(folder, name)) for name in ("fixed.nii", "moving.nii"))
    done = ants.registration(fixed, moving, "SyN", reg_iterations=(5,), aff_iterations=(20,), aff_shrink_factors=(1,), aff_smoothing_sigmas=(0,),
                             write_composite_transform=True, outprefix=os.path.join(folder, "ants"))
    shutil.copy(done["fwdtransforms"], "ants_composite.h5")
    read = sitk.ReadTransform("ants_composite.h5")
    add("ants_composite.h5", through(read))

    # --- MRtrix3: both directions in one file. Its own program makes a field of positions, whose values at voxels are compared ---
    for name in ("moving", "fixed"):
        run("mrgrid", "-quiet", os.path.join(folder, name + ".nii"), "regrid", "-voxel", "4.5", os.path.join(folder, name + ".mif"))
    run("mrregister", "-quiet", folder + "/moving.mif", folder + "/fixed.mif", "-type", "affine_nonlinear", "-nl_niter", "3,3", "-nl_scale", "0.5,1",
        "-nl_warp_full", folder + "/full.mif")
    run("mrconvert", "-quiet", "-force", folder + "/full.mif", "mrtrix_warpfull.mif.gz", "-clear_property", "command_history")
    for one, other, name, inverse in (("1", "fixed.nii", "positions.nii", ""), ("2", "moving.nii", "back.nii", ",inverse")):
        run("warpconvert", "-quiet", "mrtrix_warpfull.mif.gz", "warpfull2deformation", "-from", one, "-template", os.path.join(folder, other), os.path.join(folder, name))
        image = nib.load(os.path.join(folder, name))
        voxels = rng.integers(3, np.array(image.shape[:3]) - 3, (8, 3))
        points = (voxels @ image.affine[:3, :3].T + image.affine[:3, 3]).astype(np.float32)
        add("mrtrix_warpfull.mif.gz" + inverse, np.asarray(image.dataobj)[tuple(voxels.T)])

# --- DIPY: both directions in one file, and the map that the registration began with behind it ---
first = np.eye(4)
first[:3] += rng.normal(size=(3, 4)) * [0.02, 0.02, 0.02, 1]
np.savetxt("dipy_affine.txt", first)
mapping = SymmetricDiffeomorphicRegistration(SSDMetric(3), level_iters=[5, 5]).optimize(
    images[1].astype(float), images[0].astype(float), static_grid2world=here_and_there, moving_grid2world=plain, prealign=first)
write_mapping(mapping, "dipy_mapping.nii.gz")
points = inner
eye = np.eye(4)
add("dipy_mapping.nii.gz;dipy_affine.txt", mapping._warp_coordinates_backward(points.astype(float), coord2world=eye, world2coord=eye))
add("dipy_affine.txt,inverse;dipy_mapping.nii.gz,inverse", mapping._warp_coordinates_forward(points.astype(float), coord2world=eye, world2coord=eye))

# --- a composite transform in the old form of HDF5: tables of symbols, no sums, and values in several chunks ---
rng = np.random.default_rng(6)
size = 6, 5, 4
origin, spacing = np.array([-14.0, -11, -9]), np.array([5.0, 5.5, 6])
points = rng.uniform(origin + spacing, origin + spacing * (np.array(size) - 2), (8, 3)).astype(np.float32) * LPS.astype(np.float32)
with h5py.File("itk_old.h5", "w", libver="earliest") as out:
    parts = ("CompositeTransform_double_3_3", [], []), ("AffineTransform_double_3_3", [*lps[:3, :3].ravel(), 2, -1, 3], [5, -3, 8]), (
        "DisplacementFieldTransform_double_3_3", rng.normal(size=3 * np.prod(size)), [*size, *origin, *spacing, 1, 0, 0, 0, 1, 0, 0, 0, 1])
    for number, (kind, values, fixed) in enumerate(parts):
        group = out.create_group("TransformGroup/%d" % number)
        group.create_dataset("TransformType", data=[kind], dtype=h5py.string_dtype("ascii"))
        for name, numbers in (("TransformParameters", values), ("TransformFixedParameters", fixed)):
            packed = {"chunks": (100,), "compression": "gzip", "shuffle": True} if len(numbers) > 100 else {}
            group.create_dataset(name, data=np.array(numbers, dtype=float), **packed)
add("itk_old.h5", through(sitk.ReadTransform("itk_old.h5")))

with open("points.tsv", "w") as out:
    out.write("\n".join(rows) + "\n")
print(len(rows), "points", file=sys.stderr)
