"""Files of transforms against the programs that write and read them: SimpleITK, ANTs, nitransforms, DIPY and MRtrix3 say where 200
points go, or read what `glslines transform compose` has written.

    transform_formats.py PROGRAM WORK_FOLDER

Needs antspyx, SimpleITK, nitransforms, dipy, and MRtrix3 in PATH."""

import json
import os
import shutil
import sys

import ants
import nibabel as nib
import nitransforms
import numpy as np
import pandas
import SimpleITK as sitk
from dipy.align import write_mapping
from dipy.align.imwarp import SymmetricDiffeomorphicRegistration
from dipy.align.metrics import SSDMetric
from nitransforms.io import afni, fsl, itk, lta
from transform_scene import grid, run

program, work = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)
failed = []
LPS, EYE = np.array([-1, -1, 1.0]), np.eye(4)
rng = np.random.default_rng(11)


FIXED, MOVING = (24, 22, 20), (22, 24, 21)
AFFINES = {"fixed": grid(FIXED, (3, 3.2, 3.5), (0.1, -0.15, 0.2), (2, -3, 4), True), "moving": grid(MOVING, (3.1, 3, 3.3), (-0.1, 0.1, 0.05), (-2, 4, 1)),
           "straight": np.diag([3.0, 3.2, 3.5, 1])}
AFFINES["straight"][:3, 3] = -34, -33, -30
SHAPES = {"fixed": FIXED, "moving": MOVING, "straight": FIXED}
centres = np.stack(np.meshgrid(*[np.arange(n) for n in FIXED], indexing="ij"), -1) @ AFFINES["fixed"][:3, :3].T + AFFINES["fixed"][:3, 3]
spots = np.random.default_rng(8).uniform(-25, 25, (25, 3))


def head(p):
    return sum((20 + 9 * i) * np.exp(-((p - c) ** 2).sum(-1) / 150) for i, c in enumerate(spots)).astype(np.float32)


for name, affine in AFFINES.items():
    p = np.stack(np.meshgrid(*[np.arange(n) for n in SHAPES[name]], indexing="ij"), -1) @ affine[:3, :3].T + affine[:3, 3]
    nib.save(nib.Nifti1Image(head(p if name == "moving" else p * 1.03 + 2 * np.sin(p[..., ::-1] / 15) + [1, -1, 2]), affine), name + ".nii")
# points of the fixed image, as float has them
points = (rng.uniform(4, np.array(FIXED) - 5, (200, 3)) @ AFFINES["fixed"][:3, :3].T + AFFINES["fixed"][:3, 3]).astype(np.float32).astype(float)


def moved(*chain, at=None):
    """Where glslines takes the points: those of streamlines go by the inverse, so that the inverse of the chain is given."""
    given = points if at is None else at
    nib.streamlines.save(nib.streamlines.Tractogram([given.astype(np.float32)], affine_to_rasmm=EYE), "points.tck")
    turned = [word for text in reversed(chain) for word in ("-t", text[:-8] if text.endswith(",inverse") else text + ",inverse")]
    run(program, "transform", "points.tck", *turned, "-o", "moved.tck", "--outside", "drop", "--force", "-q")
    return nib.streamlines.load("moved.tck").streamlines[0]


def positions(template, *chain):
    """Where glslines takes the centres of all voxels of an image: a field of positions is composed of the chain."""
    run(program, "transform", "compose", *[w for t in chain for w in ("-t", t)], "--template", template, "--to", "mrtrix", "-o", "positions.nii", "--force", "-q")
    return np.asarray(nib.load("positions.nii").dataobj, dtype=float)


def check(name, ours, theirs, bar=1e-4):
    largest = np.abs(np.asarray(ours) - np.asarray(theirs)).max() if np.shape(ours) == np.shape(theirs) else np.inf
    print("%-4s %-74s %.1e of %.0e mm; without it %.1f" % ("ok" if largest <= bar else "FAIL", name, largest, bar, np.abs(np.asarray(theirs) - points).max()
                                                          if np.shape(theirs) == np.shape(points) else np.nan), flush=True)
    if not largest <= bar:
        failed.append(name)


def by_itk(transform, at=None):
    return np.array([transform.TransformPoint(tuple(map(float, p * LPS))) for p in (points if at is None else at)]) * LPS


def by_matrix(m, at=None):
    p = points if at is None else at
    return p @ m[:3, :3].T + m[:3, 3]


RAS = np.eye(4)
RAS[:3, :3] += rng.normal(size=(3, 3)) * 0.05
RAS[:3, 3] = 2, -3, 1.5

# --- ITK and ANTs ---
affine = sitk.AffineTransform(3)
affine.SetCenter((5, -3, 8))
affine.SetMatrix((np.eye(3) + rng.normal(size=(3, 3)) * 0.05).ravel())
affine.SetTranslation((2, -1, 3))
shift = np.stack([2 * np.sin(centres[..., 1] / 11), 1 + 2 * np.cos(centres[..., 2] / 9), 2 * np.sin(centres[..., 0] / 13)], -1)
image = sitk.GetImageFromArray((shift * LPS).transpose(2, 1, 0, 3), isVector=True)
sizes = np.linalg.norm(AFFINES["fixed"][:3, :3], axis=0)
image.SetSpacing(sizes)
image.SetOrigin(AFFINES["fixed"][:3, 3] * LPS)
image.SetDirection((AFFINES["fixed"][:3, :3] / sizes * LPS[:, None]).ravel())
sitk.WriteImage(sitk.Cast(image, sitk.sitkVectorFloat32), "field.nii.gz")
field = sitk.DisplacementFieldTransform(sitk.ReadImage("field.nii.gz", sitk.sitkVectorFloat64))
for suffix in ("txt", "tfm", "h5"):
    sitk.WriteTransform(affine, "affine." + suffix)
    check("SimpleITK: affine map, ." + suffix, moved("affine." + suffix), by_itk(affine))
eulers = []
for zyx in (False, True):
    euler = sitk.Euler3DTransform((4, -6, 2), 0.1, -0.07, 0.12, (1, 1, -2))
    euler.SetComputeZYX(zyx)
    sitk.WriteTransform(euler, "euler%d.tfm" % zyx)
    check("SimpleITK: Euler3D, order %d" % zyx, moved("euler%d.tfm" % zyx), by_itk(euler))
    eulers.append(euler)
ants.write_transform(ants.read_transform("affine.txt"), "affine.mat")
table = pandas.DataFrame(points * LPS, columns=["x", "y", "z"])
by_ants = lambda files, invert=None: ants.apply_transforms_to_points(3, table, files, whichtoinvert=invert)[["x", "y", "z"]].to_numpy() * LPS
check("ANTs: affine map, .mat", moved("affine.mat"), by_ants(["affine.mat"]))
check("SimpleITK: field", moved("field.nii.gz"), by_itk(field))
check("ANTs: field, then an affine map", moved("field.nii.gz", "affine.mat"), by_ants(["field.nii.gz", "affine.mat"]))
check("ANTs: field, then the inverse of an affine map", moved("field.nii.gz", "affine.mat,inverse"), by_ants(["field.nii.gz", "affine.mat"], [False, True]))
composite = sitk.CompositeTransform([affine, eulers[1], field])
sitk.WriteTransform(composite, "composite.h5")
check("SimpleITK: composite transform, .h5", moved("composite.h5"), by_itk(composite))
fixed, moving = ants.image_read("fixed.nii"), ants.image_read("moving.nii")
done = ants.registration(fixed, moving, "SyN", reg_iterations=(10,), write_composite_transform=True, outprefix="ants")
check("antsRegistration: composite transform, .h5", moved(done["fwdtransforms"]), by_itk(sitk.ReadTransform(done["fwdtransforms"])))
check("antsRegistration: its inverse", moved(done["invtransforms"]), by_itk(sitk.ReadTransform(done["invtransforms"])))
wheel = os.path.join(os.path.dirname(nitransforms.__file__), "tests", "data")
path = os.path.join(wheel, "affine-antsComposite.h5")
check("nitransforms: its composite .h5", moved(path), by_matrix(itk.ITKCompositeH5.from_filename(path)[0].to_ras()))

# --- FSL, AFNI, FreeSurfer by nitransforms ---
names = {"moving": "moving.nii", "reference": "fixed.nii"}
fsl.FSLLinearTransform.from_ras(RAS, **names).to_filename("flirt.mat")
check("nitransforms: FLIRT", moved("flirt.mat,moving=moving.nii,fixed=fixed.nii"), by_matrix(RAS))
afni.AFNILinearTransform.from_ras(RAS).to_filename("map.aff12.1D")
check("nitransforms: AFNI", moved("map.aff12.1D"), by_matrix(RAS))
folder = os.path.join(wheel, "regressions")
for twin in ("from-fsnative_to-bold_mode-image", "from-scanner_to-bold_mode-image", "from-scanner_to-fsnative_mode-image"):
    twins = os.path.join(folder, twin)
    check("FreeSurfer: %s.lta beside its .tfm" % twin.replace("_mode-image", ""), moved(twins + ".lta"), by_itk(sitk.ReadTransform(twins + ".tfm")))

# --- MRtrix3 ---
np.savetxt("linear.txt", RAS)
run("transformconvert", "-quiet", "-force", "affine.txt", "itk_import", "imported.txt")
check("transformconvert: its import of ITK's map", moved("imported.txt"), by_itk(affine))
run("transformconvert", "-quiet", "-force", "flirt.mat", "moving.nii", "fixed.nii", "flirt_import", "imported.txt")
check("transformconvert: its import of FLIRT's map", moved("imported.txt"), moved("flirt.mat,moving=moving.nii,fixed=fixed.nii"))
nib.save(nib.Nifti1Image(shift.astype(np.float32), AFFINES["fixed"]), "displacements.nii")
run("warpconvert", "-quiet", "-force", "displacements.nii", "displacement2deformation", "deformation.mif")
nib.streamlines.save(nib.streamlines.Tractogram([points.astype(np.float32)], affine_to_rasmm=EYE), "given.tck")
run("tcktransform", "-quiet", "-force", "given.tck", "deformation.mif", "theirs.tck")
check("tcktransform: deformation field", moved("deformation.mif"), nib.streamlines.load("theirs.tck").streamlines[0])
run("mrregister", "-quiet", "-force", "moving.nii", "fixed.nii", "-type", "affine_nonlinear", "-nl_niter", "5,5", "-nl_scale", "0.5,1", "-nl_warp_full", "full.mif")
for image, other, text in (("1", "fixed", "full.mif"), ("2", "moving", "full.mif,inverse")):
    run("warpconvert", "-quiet", "-force", "full.mif", "warpfull2deformation", "-from", image, "-template", other + ".nii", "d.nii")
    d = nib.load("d.nii")
    inner = (slice(4, -4),) * 3
    check("warpconvert -from %s: both directions in one file, at voxels" % image, positions(other + ".nii", text)[inner], np.asarray(d.dataobj)[inner])

# --- DIPY ---
mapping = SymmetricDiffeomorphicRegistration(SSDMetric(3), level_iters=[10, 10]).optimize(
    *[nib.load(n).get_fdata() for n in ("fixed.nii", "moving.nii")], static_grid2world=AFFINES["fixed"], moving_grid2world=AFFINES["moving"], prealign=RAS)
write_mapping(mapping, "mapping.nii.gz")
inner = (slice(5, -5),) * 3
flat = centres.reshape(-1, 3)
check("DIPY: mapping, then the map it began with, at voxels", positions("fixed.nii", "mapping.nii.gz", "linear.txt")[inner],
      np.reshape(mapping._warp_coordinates_backward(flat, coord2world=EYE, world2coord=EYE), centres.shape)[inner])
check("DIPY: its other direction", positions("fixed.nii", "linear.txt,inverse", "mapping.nii.gz,inverse")[inner],
      np.reshape(mapping._warp_coordinates_forward(flat, coord2world=EYE, world2coord=EYE), centres.shape)[inner])
run(program, "transform", "moving.nii", "-t", "mapping.nii.gz", "-t", "linear.txt", "--template", "fixed.nii", "-o", "by_us.nii", "--interpolation", "linear", "-q")
theirs = mapping.transform(nib.load("moving.nii").get_fdata())
check("DIPY: transform() of an image, shares of its sd", nib.load("by_us.nii").get_fdata()[inner] / theirs.std(), theirs[inner] / theirs.std(), 1e-3)

# --- what is written: each choice of --to that the program has, read by the program whose format it is ---
choices = [o for c in json.loads(run(program, "help", "--format", "json"))["commands"] if c["name"] == "transform" for o in c["options"] if o["name"].strip("-") == "to"]
words = choices[0]["choices"]


def compose(to, name, *chain):
    grids = {"fsl": ("--moving", "moving.nii", "--template", "fixed.nii"), "lta": ("--moving", "moving.nii", "--template", "fixed.nii")}
    if len(chain) > 1:
        grids[to] = ("--template", "fixed.nii")
    run(program, "transform", "compose", *[w for t in chain for w in ("-t", t)], "--to", to, *grids.get(to, ()), "-o", name, "--force", "-q")
    return name


affine_readers = {
    "auto": lambda name: by_matrix(np.loadtxt(name)),
    "mrtrix": lambda name: by_matrix(np.loadtxt(name)),
    # reg_transform is not among the programs here: test/peer/transform_niftyreg.py has it
    "niftyreg": lambda name: by_matrix(np.loadtxt(name)),
    "itk": lambda name: by_itk(sitk.ReadTransform(name)),
    "fsl": lambda name: by_matrix(fsl.FSLLinearTransform.from_filename(name).to_ras(**names)),
    "afni": lambda name: by_matrix(afni.AFNILinearTransform.from_filename(name).to_ras()),
    "lta": lambda name: by_matrix(lta.FSLinearTransform.from_filename(name).to_ras()),
}
suffixes = {"itk": "tfm", "fsl": "mat", "afni": "aff12.1D", "lta": "lta"}
for to in words:
    check("--to %s, read by its program" % to, affine_readers[to](compose(to, "written_%s.%s" % (to, suffixes.get(to, "txt")), "linear.txt")), by_matrix(RAS))
chain = sitk.CompositeTransform([affine, field])
on_grid = centres[4:-4, 4:-4, 4:-4].reshape(-1, 3)[::40].astype(np.float32).astype(float)
compose("itk", "written.nii.gz", "field.nii.gz", "affine.txt")
written = sitk.DisplacementFieldTransform(sitk.ReadImage("written.nii.gz", sitk.sitkVectorFloat64))
check("--to itk: a chain as one field, read by SimpleITK, at centres of voxels", by_itk(written, on_grid), by_itk(chain, on_grid))
compose("mrtrix", "written.mif", "field.nii.gz", "affine.txt")
nib.streamlines.save(nib.streamlines.Tractogram([on_grid.astype(np.float32)], affine_to_rasmm=EYE), "given.tck")
run("tcktransform", "-quiet", "-force", "given.tck", "written.mif", "theirs.tck")
check("--to mrtrix: the same, read by tcktransform", nib.streamlines.load("theirs.tck").streamlines[0], by_itk(chain, on_grid))

# --- streamlines there and back ---
forth = moved("field.nii.gz", "affine.mat")
nib.streamlines.save(nib.streamlines.Tractogram([forth], affine_to_rasmm=EYE), "forth.tck")
run(program, "transform", "forth.tck", "-t", "field.nii.gz", "-t", "affine.mat", "-o", "back.tck", "--force", "-q")
check("streamlines there and back", nib.streamlines.load("back.tck").streamlines[0], points, 1e-3)

# --- gradient tables: mrtransform turns that of a series ---
table = rng.normal(size=(30, 3))
table /= np.linalg.norm(table, axis=1)[:, None]
np.savetxt("grad.b", np.c_[table, np.full(30, 1000.0)])
nib.save(nib.Nifti1Image(rng.normal(size=MOVING + (30,)).astype(np.float32), AFFINES["moving"]), "dwi.nii")
run("mrconvert", "-quiet", "-force", "dwi.nii", "-grad", "grad.b", "dwi.mif", "-export_grad_fsl", "dwi.bvec", "dwi.bval")
turn = np.eye(4)
turn[:3, :3] = np.linalg.qr(np.eye(3) + rng.normal(size=(3, 3)) * 0.4)[0]
turn[:3, :3] *= np.sign(np.diag(turn[:3, :3]))
turn[:3, :3] *= np.sign(np.linalg.det(turn[:3, :3]))
turn[:3, 3] = 3, -2, 4
np.savetxt("turn.txt", turn)
run("mrtransform", "-quiet", "-force", "dwi.mif", "-linear", "turn.txt", "-template", "fixed.nii", "turned.mif")
run("mrinfo", "-quiet", "-force", "turned.mif", "-export_grad_mrtrix", "turned.b", "-export_grad_fsl", "turned.bvec", "turned.bval")
run("mrconvert", "-quiet", "-force", "turned.mif", "turned.nii")
run(program, "transform", "grad.b", "-t", "turn.txt", "-o", "ours.b", "-q")
run(program, "transform", "dwi.bvec", "-t", "turn.txt", "--moving", "dwi.nii", "--template", "turned.nii", "-o", "ours.bvec", "-q")
for name in ("b", "bvec"):
    ours, theirs = np.loadtxt("ours." + name), np.loadtxt("turned." + name)
    check("mrtransform: gradient table, .%s; not turned: %.2f" % (name, np.abs(np.loadtxt({"b": "grad.b", "bvec": "dwi.bvec"}[name]) - theirs).max()),
          ours, theirs, 1e-5)
print("%d failed" % len(failed) if failed else "all ok")
sys.exit(bool(failed))
