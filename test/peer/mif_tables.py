"""Gradient tables of MRtrix3 images whose axes are stored in any order and direction: what mrconvert -export_grad_fsl
writes is read as the same world directions, by the Python package, fit, response and track; of a header and a file that
differ a warning tells.

    mif_tables.py PROGRAM LIBRARY WORK_FOLDER"""

import itertools
import json
import os
import shutil
import sys

import nibabel as nib
import numpy as np

from affines import affine, rotation
from checks import check, outcome, run

program, os.environ["GLSLINES_LIBRARY"], work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
import glslines  # noqa: E402

if not shutil.which("mrconvert"):
    print("MRtrix3 is not there")
    sys.exit(77)
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)

GRID = affine(rotation([8, -12, 20]) @ np.diag([-2, 2.2, 1.8]), (12, -9, -7))
TURN = GRID[:3, :3] / np.linalg.norm(GRID[:3, :3], axis=0)
AXIS = np.array([1, 2, 0.5]) / np.linalg.norm([1, 2, 0.5])  # direction of the only bundle, along the scanner axes


def glslines_run(*words):
    return run(program, *words, "--force")


def spread(n):
    i = np.arange(n) + 0.5
    z, turn = i / n, np.pi * (1 + 5**0.5) * i
    return np.c_[np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z] @ rotation([31, 17, 5])


def make_series():
    world = np.concatenate([np.zeros((3, 3)), spread(30)])
    b = np.array([0.0] * 3 + [1000] * 30)
    data = np.zeros((10, 8, 9, len(b)), np.float32)
    data[...] = 1000 * np.exp(-1e-3 * b)
    data[1:-1, 2:6, 3:7] = 1000 * np.exp(-b * (0.3e-3 + 1.4e-3 * (world @ AXIS) ** 2))
    nib.save(nib.Nifti1Image(data, GRID), "dwi.nii")
    nib.save(nib.Nifti1Image(np.ones((10, 8, 9), np.uint8), GRID), "mask.nii")
    bundle = np.zeros((10, 8, 9), np.uint8)
    bundle[1:-1, 2:6, 3:7] = 1
    nib.save(nib.Nifti1Image(bundle, GRID), "bundle.nii")
    np.savetxt("dwi.b", np.c_[world, b], fmt="%.9f")
    run("mrconvert", "-quiet", "dwi.nii", "dwi.mif", "-grad", "dwi.b")
    return world, b


def world_axes(prefix):
    """Returns the direction of the largest diffusivity in each voxel of the bundle."""
    fa, tensor = nib.load(prefix + "_fa.nii.gz"), nib.load(prefix + "_tensor.nii.gz").get_fdata()
    t = tensor[fa.get_fdata() > 0.6]
    full = np.zeros((len(t), 3, 3))
    for n, (i, j) in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]):
        full[:, i, j] = full[:, j, i] = t[:, n]
    turn = fa.affine[:3, :3] / np.linalg.norm(fa.affine[:3, :3], axis=0)
    return np.linalg.eigh(full)[1][:, :, 2] @ turn.T


def every_order(world, b):
    """Returns all signed permutations of the axes, with volumes first and last, forwards and backwards."""
    tables = fits = grids = theirs = 0
    for order in itertools.permutations((1, 2, 3)):
        for signs in itertools.product((1, -1), repeat=3):
            axes = ",".join(str(o * s) for o, s in zip(order, signs))
            volumes = (",4", ",0", ",-4")[tables % 3]
            run(
                "mrconvert",
                "-quiet",
                "-force",
                "dwi.mif",
                "own.mif",
                "-strides",
                axes + volumes,
                "-export_grad_fsl",
                "own.bvec",
                "own.bval",
                "-export_grad_mrtrix",
                "own.b",
            )
            run(
                "mrconvert",
                "-quiet",
                "-force",
                "own.mif",
                "bare.mif",
                "-clear_property",
                "dw_scheme",
                "-strides",
                axes + volumes,
            )
            run("mrconvert", "-quiet", "-force", "own.mif", "own.nii", "-strides", axes + ",4")
            image, grid = glslines.load_image("bare.mif")
            nifti = nib.load("own.nii")
            grids += np.abs(grid - nifti.affine).max() < 1e-5 and np.array_equal(
                image, nifti.get_fdata(dtype=np.float32)
            )
            turn = grid[:3, :3] / np.linalg.norm(grid[:3, :3], axis=0)
            table = glslines.Gradients.read("own.bval", "own.bvec", grid, len(b))
            tables += np.abs(table.bvecs @ turn.T - np.loadtxt("own.b")[:, :3]).max() < 1e-5 and np.allclose(
                table.bvals, b
            )
            glslines_run("fit", "bare.mif", "own.bval", "own.bvec", "mask.nii", "bare", "--model", "opdt", "-q")
            found = world_axes("bare")
            fits += len(found) == 128 and np.abs(found @ AXIS).min() > 0.999
            if volumes == ",4":
                run(
                    "dwi2tensor",
                    "-quiet",
                    "-force",
                    "bare.mif",
                    "-fslgrad",
                    "own.bvec",
                    "own.bval",
                    "-mask",
                    "mask.nii",
                    "dt.mif",
                )
                run("tensor2metric", "-quiet", "-force", "dt.mif", "-vector", "v.nii", "-modulate", "none")
                v = nib.as_closest_canonical(nib.load("v.nii")).get_fdata()[1:-1, 2:6, 3:7].reshape(-1, 3)
                theirs += np.abs(v @ AXIS).min() > 0.999
    check(grids == 48, f"{grids} of 48 orders: the grid and the values that mrconvert gives to NIfTI")
    check(tables == 48, f"{tables} of 48 orders: world directions of mrconvert -export_grad_fsl")
    check(fits == 48, f"{fits} of 48 orders: fit finds the bundle's axis with the exported table")
    check(theirs == 16, f"{theirs} of 16 orders: so does dwi2tensor")


def commands():
    """Checks that response and track give the same results with the table of the header and with the exported one."""
    run(
        "mrconvert",
        "-quiet",
        "-force",
        "dwi.mif",
        "own.mif",
        "-strides",
        "3,-1,-2,4",
        "-export_grad_fsl",
        "own.bvec",
        "own.bval",
    )
    run("mrconvert", "-quiet", "-force", "own.mif", "bare.mif", "-clear_property", "dw_scheme", "-strides", "3,-1,-2,4")
    glslines_run("response", "own.mif", "-", "-", "bundle.nii", "own_r", "--algorithm", "fa", "-q")
    glslines_run("response", "bare.mif", "own.bval", "own.bvec", "bundle.nii", "bare_r", "--algorithm", "fa", "-q")
    a, b = np.loadtxt("own_r_response.txt"), np.loadtxt("bare_r_response.txt")
    check(np.allclose(a, b, rtol=1e-4), "response of the exported table")
    seeds = np.zeros((10, 8, 9), np.uint8)
    seeds[3:7, 3:5, 4:6] = 1
    nib.save(nib.Nifti1Image(seeds, GRID), "seeds.nii")
    options = [
        "--nseeds",
        "100",
        "--sidecar",
        "none",
        "--device",
        "llvmpipe",
        "--dg",
        "det",
        "--model",
        "opdt",
        "--min-length",
        "2",
        "-q",
    ]
    lines = []
    for name, table in (("own", ("-", "-")), ("bare", ("own.bval", "own.bvec"))):
        glslines_run("track", name + ".mif", *table, "mask.nii", "seeds.nii", "-o", name + ".tck", *options)
        lines.append(nib.streamlines.load(name + ".tck").streamlines)
    along = [(s[-1] - s[0]) / np.linalg.norm(s[-1] - s[0]) @ AXIS for s in lines[1] if len(s) > 5]
    check(
        len(along) > 50 and np.abs(along).min() > 0.98,
        f"track with the exported table: {len(along)} streamlines along the bundle",
    )
    close = len(lines[0]) == len(lines[1]) and all(
        len(p) == len(q) and np.abs(p - q).max() < 0.05 for p, q in zip(*lines)
    )
    check(close, "track: the same streamlines as with the table of the header")


def spherical_harmonics():
    """Checks that FSL's axes of coefficients are the stored axes of the data."""
    glslines_run(
        "fit", "dwi.nii", "dwi.b", "-", "mask.nii", "sh", "--model", "opdt", "--sh-basis", "descoteaux07", "-q"
    )
    run("mrconvert", "-quiet", "-force", "sh_sh.nii.gz", "sh.nii", "-strides", "3,-1,-2,4")
    options = [
        "--fa",
        "sh_fa.nii.gz",
        "--roi",
        "seeds.nii",
        "--mask",
        "mask.nii",
        "--nseeds",
        "50",
        "--sidecar",
        "none",
        "--device",
        "llvmpipe",
        "--dg",
        "det",
        "--sh-frame",
        "fsl",
        "--sh-basis",
        "descoteaux07",
        "-q",
        "--min-length",
        "2",
    ]
    run("mrconvert", "-quiet", "-force", "sh.nii", "sh.mif")
    for name in ("sh.nii", "sh.mif"):
        glslines_run("track", "--sh", name, "-o", name + ".tck", *options)
    a, b = (nib.streamlines.load(name).streamlines.get_data() for name in ("sh.nii.tck", "sh.mif.tck"))
    check(
        len(a) > 100 and a.shape == b.shape and np.abs(a - b).max() < 1e-4,
        "--sh-frame fsl: a .mif as NIfTI of the same strides",
    )


def warnings(world, b):
    """Checks a header that has its own table beside one that is named or found."""

    def say(*words):
        mask = ["mask.nii"] if len(words) > 1 else []
        return glslines_run("fit", *words, *mask, "out", "--model", "opdt")

    run(
        "mrconvert",
        "-quiet",
        "-force",
        "dwi.mif",
        "a.mif",
        "-strides",
        "3,-1,-2,4",
        "-export_grad_fsl",
        "a.bvec",
        "a.bval",
    )
    text = say("a.mif")
    check(
        "the table in the header of a.mif" in text and "differ" not in text,
        "of a header and files that agree the header's is taken, without a warning",
    )
    check("differ" not in say("a.mif", "a.bval", "a.bvec"), "no warning where a named table agrees")
    check("differ" not in say("a.mif", "dwi.b", "-"), "no warning where a named table of one file agrees")
    run(
        "mrconvert",
        "-quiet",
        "-force",
        "dwi.mif",
        "other.mif",
        "-strides",
        "1,2,3,4",
        "-export_grad_fsl",
        "other.bvec",
        "other.bval",
    )
    exported, own = np.loadtxt("other.bvec"), np.loadtxt("a.bvec")
    angle = np.degrees(np.arccos(np.minimum(1, np.abs((exported * own).sum(0))[3:]))).max()
    text = say("a.mif", "other.bval", "other.bvec")
    check(
        f"the table in the header of a.mif and other.bvec differ by up to {angle:.1f} degrees; the latter is taken"
        in text,
        "a named table that differs: the angle is told",
    )
    shutil.copy("other.bvec", "a.bvec")
    text = say("a.mif")
    check(
        f"a.bvec and the table in the header of a.mif differ by up to {angle:.1f} degrees; the latter is taken" in text,
        "a table found beside that differs",
    )
    glslines_run(
        "track",
        "a.mif",
        "other.bval",
        "other.bvec",
        "mask.nii",
        "seeds.nii",
        "-o",
        "warned.tck",
        "--nseeds",
        "1",
        "--dg",
        "det",
        "--model",
        "opdt",
        "--device",
        "llvmpipe",
    )
    check(
        any("differ by up to" in line for line in json.load(open("warned.json"))["warnings"]),
        "the sidecar of track keeps the warning",
    )
    np.savetxt("half.bval", b[None] / 2, fmt="%g")
    text = say("other.mif", "half.bval", "other.bvec")
    check("b-values differ by up to 500 s/mm2" in text and "degrees" not in text, "b-values that differ")
    np.savetxt("short.b", np.c_[world, b][:-1], fmt="%.9f")
    run(
        "mrconvert",
        "-quiet",
        "-force",
        "dwi.mif",
        "short.mif",
        "-clear_property",
        "dw_scheme",
        "-set_property",
        "dw_scheme",
        "\n".join(",".join(map(str, row)) for row in np.c_[world, b][:-1]),
    )
    text = say("short.mif", "other.bval", "other.bvec")
    check(
        "the table in the header of short.mif is not used: " in text and "32 rows" in text,
        "a header's table of another length",
    )
    for suffix in (".mif", ".mif.gz", ".mih"):
        run(
            "mrconvert",
            "-quiet",
            "-force",
            "other.mif",
            "bare" + suffix,
            "-clear_property",
            "dw_scheme",
            "-strides",
            "3,-1,-2,4",
        )
        for kind in ("bval", "bvec"):
            shutil.copy("own." + kind, "bare." + kind)
        say("bare" + suffix)
        check(np.abs(world_axes("out") @ AXIS).min() > 0.999, f"the table beside a {suffix} without one")


world, b = make_series()
every_order(world, b)
commands()
spherical_harmonics()
warnings(world, b)
sys.exit(outcome())
