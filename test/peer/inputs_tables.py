#!/usr/bin/env python3
"""Tables of text that other programs wrote, changed as inputs.py changes headers: gradient tables, weights of streamlines,
tables of labels, beside MRtrix3.

usage: inputs_tables.py GLSLINES LIBRARY PEER_READ_TRACTOGRAM WORK_DIR

One line per check; exits with 1 if one fails.
"""

import os
import shutil
import sys

import nibabel as nib
import numpy as np

import tractograms
from affines import affine, rotation
from changes import BOM, TEXT
from checks import outcome

program, os.environ["GLSLINES_LIBRARY"], tractograms.tool = (os.path.abspath(path) for path in sys.argv[1:4])
tractograms.work = work = os.path.abspath(sys.argv[4])
from judged import glslines, judge, put, run  # noqa: E402

if not shutil.which("mrconvert"):
    print("MRtrix3 is not there")
    sys.exit(77)
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)

SHAPE = (5, 6, 7)
rng = np.random.default_rng(3)


def make_files():
    """Writes three streamlines, and an image around them."""
    lines = [rng.uniform(-8, 8, (n, 3)).astype(np.float32) for n in (4, 1, 7)]
    nib.streamlines.save(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), "a.tck")
    grid = affine(np.eye(3), (-10, -10, -10))
    nib.save(nib.Nifti1Image(rng.uniform(0, 9, (20, 20, 20)).astype(np.float32), grid), "scalar.nii")


def check_gradients():
    world = rng.normal(size=(8, 3))
    world /= np.linalg.norm(world, axis=1)[:, None]
    world[0] = 0
    b = np.array([0.0] + [1000] * 7)
    grid = affine(rotation([12, -8, 31]) @ np.diag([-1.9, 2, 2.5]), (20, -15, -7))  # the vectors turn with the axes, so there is no shear
    turn = grid[:3, :3] / np.linalg.norm(grid[:3, :3], axis=0)
    nib.save(nib.Nifti1Image(rng.uniform(1, 9, SHAPE + (8,)).astype(np.float32), grid), "dwi.nii")
    np.savetxt("table.b", np.c_[world, b], fmt="%.6f")
    run("mrconvert", "-quiet", "-force", "dwi.nii", "dwi.mif", "-grad", "table.b")
    run("mrinfo", "-quiet", "-force", "dwi.mif", "-export_grad_fsl", "a.bvec", "a.bval", "-export_grad_mrtrix", "a.b")

    def theirs(*option):
        text = run("mrinfo", "-quiet", "dwi.nii", *option, "-dwgrad")
        return np.array([line.split() for line in text.splitlines()], float)

    def ours(table):
        return np.c_[table.bvecs @ turn.T, table.bvals]

    truth = theirs("-grad", "a.b")
    spare = {name: open(name, "rb").read() for name in ("a.b", "a.bval", "a.bvec")}

    def fsl(bval, bvec):
        return ours(glslines.Gradients.read(bval, bvec, grid, 8))

    for name, change in TEXT.items():
        # MRtrix3 skips lines that begin with no number, or reads words as 0; its result then is no reading
        lax = name in (
            "a word",
            "nan",
            "exponents of Fortran",
            "decimal commas",
            "semicolons",
            "UTF-16",
            "NUL bytes in a line",
        )
        judge(
            ".b: " + name,
            put("changed.b", change(spare["a.b"]), name, spare["a.b"]),
            lambda p: ours(glslines.Gradients.read_table(p, grid, 8)),
            lambda p: theirs("-grad", p),
            truth,
            not lax,
        )
        judge(
            "bvec: " + name,
            put("changed.bvec", change(spare["a.bvec"]), name, spare["a.bvec"]),
            lambda p: fsl("a.bval", p),
            lambda p: theirs("-fslgrad", p, "a.bval"),
            truth,
            not lax,
        )
        judge(
            "bval: " + name,
            put("changed.bval", change(spare["a.bval"]), name, spare["a.bval"]),
            lambda p: fsl(p, "a.bvec"),
            lambda p: theirs("-fslgrad", "a.bvec", p),
            truth,
            not lax,
        )
    columns = np.loadtxt("a.bvec").T
    np.savetxt("column.bvec", columns, fmt="%.8f")
    np.savetxt("column.bval", b, fmt="%g")
    judge(
        "bvec in columns",
        "column.bvec",
        lambda p: fsl("column.bval", p),
        lambda p: theirs("-fslgrad", p, "column.bval"),
        truth,
    )


def check_weights():
    text = b"0.5\n1.25\n3\n"
    changes = {
        name: change
        for name, change in TEXT.items()
        if name
        not in (
            "nan",
            "a word",
            "tabs",
            "one number less",
            "semicolons",
            "commas and blanks",
            "several blanks",
            "NUL bytes in a line",
        )
    }
    changes["one row"] = lambda t: t.replace(b"\n", b" ").rstrip() + b"\n"
    changes["a word"] = lambda t: t.replace(b"1.25", b"x")
    changes["nan"] = lambda t: t.replace(b"1.25", b"nan")
    changes["one number less"] = lambda t: b"0.5\n1.25\n"
    changes["one number more"] = lambda t: t + b"7\n"
    changes["commas"] = lambda t: t.replace(b"\n", b",").rstrip(b",") + b"\n"

    def theirs(path):
        run("tckedit", "-quiet", "-force", "a.tck", "out.tck", "-tck_weights_in", path, "-tck_weights_out", "out.txt")
        return np.loadtxt("out.txt", ndmin=1)

    def ours(path):
        run(program, "convert", "a.tck", "with.trx", "--reference", "scalar.nii", "--weights", path, "--force", "-q")
        return np.ravel(tractograms.Read("with.trx").dps["weights"])

    for name, change in changes.items():
        lax = name in (
            "exponents of Fortran",
            "decimal commas",
            "a word",
            "nan",
            "one number less",
            "one number more",
            "UTF-16",
            "line ends of old Macs",
        )
        judge(
            "weights: " + name,
            put("changed.txt", change(text), name, text),
            ours,
            theirs,
            np.array([0.5, 1.25, 3]),
            not lax,
        )


def check_tables_of_labels():
    """Returns the names that glslines connectome and MRtrix3's labelconvert find; labelconvert goes from one table to another
    by the names."""
    labels = np.zeros((20, 20, 20), np.int16)
    labels[:10] = 3
    labels[10:] = 17
    nib.save(nib.Nifti1Image(labels, nib.load("scalar.nii").affine), "labels.nii")
    fixed = b"0 Unknown 0 0 0 0\n3 Left 10 20 30 255\n17 Right_Hippocampus 40 50 60 255\n"
    put("plain.txt", b"1 Left 10 20 30 255\n2 Right_Hippocampus 40 50 60 255\n")
    wanted = ["Left", "Right_Hippocampus"]
    changes = {
        name: TEXT[name]
        for name in (
            "as it was written",
            "line ends of Windows",
            "line ends of old Macs",
            "no end of the last line",
            "empty lines",
            "blanks before lines",
            "blanks behind lines",
            "tabs",
            "several blanks",
            "a byte order mark",
            "NUL bytes behind",
            "UTF-16",
            "empty",
        )
    }
    changes["lines of comments"] = lambda t: b"# No. Name R G B A\n\n" + t
    changes["a byte order mark before a comment"] = lambda t: BOM + b"# No. Name R G B A\n" + t
    changes["a byte order mark before a label"] = lambda t: BOM + t.split(b"\n", 1)[1]
    changes["NUL bytes in a line"] = lambda t: t.replace(b" 0 0 0 0", b" 0 \0 0 0 0", 1)
    changes["lines in another order"] = lambda t: b"\n".join(reversed(t.strip().split(b"\n"))) + b"\n"

    def theirs(path):
        run("labelconvert", "-quiet", "-force", "labels.nii", path, "plain.txt", "converted.nii")
        out = np.asarray(nib.load("converted.nii").dataobj)
        return np.array([out[labels == 3].max(), out[labels == 17].max()])

    def ours(path):
        run(program, "connectome", "a.tck", "labels.nii", "net", "--lut", path, "--force", "-q")
        names = [line.split("\t") for line in open("net_nodes.tsv", encoding="utf-8").read().splitlines()]
        column = names[0].index("name")
        found = {int(row[names[0].index("label")]): row[column] for row in names[1:]}
        return np.array([wanted.index(found[label]) + 1 if found.get(label) in wanted else 0 for label in (3, 17)])

    for name, change in changes.items():
        judge(
            "colour table: " + name,
            put("changed.txt", change(fixed), name, fixed),
            ours,
            theirs,
            np.array([1, 2]),
            name not in ("UTF-16", "line ends of old Macs", "NUL bytes in a line"),
        )


make_files()
check_gradients()
check_weights()
check_tables_of_labels()
sys.exit(outcome())
