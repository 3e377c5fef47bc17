"""Images and gradient tables that MRtrix3 writes: every order and direction of axes, every type, scaling, packed and in
two files, and that tracking from them gives what NIfTI gives.

    mif.py PROGRAM LIBRARY WORK_FOLDER"""

import filecmp
import itertools
import json
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np

program, os.environ["GLSLINES_LIBRARY"], work = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
import glslines  # noqa: E402

shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
failed = []


def path(name):
    return os.path.join(work, name)


def run(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != code:
        print("\n".join(map(str, words)), done.stdout, done.stderr)
        failed.append("exit code %d of %s" % (done.returncode, words[0]))
    return done


def check(name, good):
    print("%-4s %s" % ("ok" if good else "FAIL", name))
    if not good:
        failed.append(name)


def mrconvert(*words):
    run("mrconvert", "-quiet", "-force", *words)


def same(name, want, affine, exact=True):
    """Whether each voxel that is read lies where the original has the same value."""
    array, found = glslines.load_image(path(name))
    to_index = np.linalg.inv(affine) @ found
    index = to_index[:3, :3] @ np.indices(array.shape[:3]).reshape(3, -1) + to_index[:3, 3:]
    nearest = np.rint(index).astype(int)
    if np.abs(index - nearest).max() > 1e-3 or np.unique(nearest, axis=1).shape[1] != want[..., 0].size:
        return False
    expected = want[tuple(nearest)]
    values = array.reshape(expected.shape)
    return np.array_equal(values, expected) if exact else np.allclose(values, expected, atol=1e-3)


# --- orders and directions of axes ---
rng = np.random.default_rng(1)
series = rng.integers(-1000, 1000, (5, 6, 7, 3)).astype(np.float32)
turn = np.eye(4)
turn[:3, :3] = np.array([[0.98, -0.17, 0.05], [0.17, 0.98, 0.02], [-0.053, -0.011, 0.998]]) * [2, 1.5, 3]
turn[:3, 3] = -20, 11, 7
nib.save(nib.Nifti1Image(series, turn), path("series.nii"))
good = 0
for order in itertools.permutations((1, 2, 3)):
    for signs in itertools.product((1, -1), repeat=3):
        strides = ",".join(str(o * s) for o, s in zip(order, signs))
        for volumes in (",4", ",0"):
            mrconvert(path("series.nii"), path("turned.mif"), "-strides", strides + volumes)
            good += same("turned.mif", series, turn)
mrconvert(path("series.nii"), path("turned.mif"), "-strides", "2,3,4,1")
good += same("turned.mif", series, turn)
check("%d of 97 orders of axes" % good, good == 97)

# --- types of values ---
small = np.abs(series[..., :1]) % 100
nib.save(nib.Nifti1Image(small, turn), path("small.nii"))
for kind in ("int8", "uint8", "int16le", "int16be", "uint16le", "uint16be", "int32le", "int32be", "uint32le",
             "uint32be", "int64le", "int64be", "uint64le", "uint64be", "float32le", "float32be", "float64le",
             "float64be"):
    mrconvert(path("small.nii"), path("kind.mif"), "-datatype", kind)
    check("type " + kind, same("kind.mif", small, turn))
nib.save(nib.Nifti1Image((small > 50).astype(np.uint8), turn), path("mask.nii"))
mrconvert(path("mask.nii"), path("kind.mif"), "-datatype", "bit")
check("type bit", same("kind.mif", (small > 50).astype(np.float32), turn))
mrconvert(path("small.nii"), path("kind.mif.gz"))
check("packed", same("kind.mif.gz", small, turn))
mrconvert(path("small.nii"), path("two.mih"))
check("two files", same("two.mih", small, turn))
mrconvert(path("small.nii"), path("kind.mif"), "-datatype", "int16", "-scaling", "3,0.25")
text = open(path("kind.mif"), "rb").read()
check("scaling is in the file", b"scaling: 3,0.25" in text)
check("scaling", same("kind.mif", small, turn, exact=False))
mrconvert(path("small.nii"), path("kind.mif"), "-datatype", "cfloat32")
check("complex values are refused", "complex" in run(program, "track", path("kind.mif"), "-", "-", path("mask.nii"),
                                                      path("mask.nii"), "-o", path("no.trx"), code=7).stderr)

# --- gradient tables, and tracking ---
run(program, "phantom", path("phantom"), "--shape", "20", "24", "20", "--directions", "32", "-q")
files = [os.path.join(path("phantom"), name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz",
                                                          "roi.nii.gz")]
mrconvert(files[0], "-fslgrad", files[2], files[1], path("dwi.mif"))
run("mrinfo", "-quiet", path("dwi.mif"), "-export_grad_mrtrix", path("dwi.b"), "-json_all", path("dwi.json"))
affine = nib.load(files[0]).affine
n = nib.load(files[0]).shape[3]
want = glslines.Gradients.read(files[1], files[2], affine, n)
for name in ("dwi.mif", "dwi.b", "dwi.json"):
    if name == "dwi.json":
        header = json.load(open(path(name)))
        json.dump({"dw_scheme": header["keyval"]["dw_scheme"]}, open(path(name), "w"))
    table = glslines.Gradients.read_table(path(name), affine, n)
    check("table of " + name, np.allclose(table.bvecs, want.bvecs, atol=1e-5) and
          np.allclose(table.bvals, want.bvals, atol=1e-2))
few = ["--nseeds", "300", "--force", "--sidecar", "none", "--device", "llvmpipe"]
options = ["--model", "opdt", *few]
run(program, "track", *files, "-o", path("nifti.tck"), *options)
run(program, "track", path("dwi.mif"), *files[1:], "-o", path("mif.tck"), *options)
check("same bytes from .mif as from NIfTI", filecmp.cmp(path("nifti.tck"), path("mif.tck"), shallow=False))
run(program, "track", path("dwi.mif"), "-", "-", *files[3:], "-o", path("own.tck"), *options)
run(program, "track", files[0], path("dwi.b"), "-", *files[3:], "-o", path("b.tck"), *options)
check("same bytes from the header's table as from .b", filecmp.cmp(path("own.tck"), path("b.tck"), shallow=False))
run(program, "fit", path("dwi.mif"), "-", "-", files[3], path("fit"), "--force", "--model", "opdt")
check("fit of a .mif", os.path.exists(path("fit_sh.nii.gz")))
run(program, "response", path("dwi.mif"), "-", "-", files[3], path("own"), "--algorithm", "tournier", "--force")
run(program, "response", files[0], path("dwi.b"), "-", files[3], path("b"), "--algorithm", "tournier", "--force")
check("response of a .mif", filecmp.cmp(path("own_response.txt"), path("b_response.txt"), shallow=False))
rules = [json.load(open(path(name)))["gradients"]["rule"] for name in ("fit.json", "own.json")]
check("sidecars tell the frame of the header's table", rules == ["world", "world"])
for table in (("-", files[2]), ("-", "-")):
    series = path("dwi.mif") if table[1] != "-" else files[0]
    done = run(program, "fit", series, *table, files[3], path("bad"), code=2)
    check("a table that is in no header", "no b-values" in done.stderr and not os.path.exists(path("bad.json")))

# --- lengths of vectors scale b as in MRtrix ---
mrconvert(files[0], "-coord", "3", "0:7", path("few.nii"))
rows = np.array([[0, 0, 0, 0]] * 3 + [[1, 0, 0, 1000], [0, 0.5, 0, 1000], [0, 0, 0.7071, 1000], [0.6, 0.8, 0, 900],
                                      [0, 0.6, -0.8, 1000]])
np.savetxt(path("few.b"), rows)
mrconvert(path("few.nii"), "-grad", path("few.b"), path("few.mif"))
theirs = np.array([line.split() for line in run("mrinfo", "-quiet", "-dwgrad", path("few.mif")).stdout.splitlines()],
                  dtype=float)
ours = glslines.Gradients.read_table(path("few.b"), affine, 8)
check("b-values by the lengths of vectors", np.allclose(theirs[:, 3], ours.bvals, rtol=1e-5))

# --- grids that differ by flips and orders of axes ---
for codes in ("PSR", "IRA", "RAS"):
    for i in (3, 4):
        image = nib.load(files[i])
        turned = image.as_reoriented(nib.orientations.ornt_transform(nib.io_orientation(image.affine),
                                                                     nib.orientations.axcodes2ornt(codes)))
        nib.save(turned, path("turned%d.nii" % i))
    run(program, "track", *files[:3], path("turned3.nii"), path("turned4.nii"), "-o", path("flips.tck"), *options)
    check("mask and region on axes " + codes, filecmp.cmp(path("nifti.tck"), path("flips.tck"), shallow=False))
run("dwi2response", "fa", "-quiet", "-force", path("dwi.mif"), path("response.txt"), "-mask", files[3], "-nocleanup",
    "-scratch", path("scratch"))
run("dwi2fod", "csd", "-quiet", "-force", path("dwi.mif"), path("response.txt"), path("fod.mif"), "-mask", files[3],
    "-lmax", "6")
mrconvert(path("fod.mif"), path("fod.nii"), "-strides", "-1,2,3,4")
run(program, "fit", *files[:4], path("fa"), "--force", "--model", "opdt")
for name in ("fod.mif", "fod.nii"):
    run(program, "track", "--sh", path(name), "--fa", path("fa_fa.nii.gz"), "--mask", files[3], "--roi", files[4],
        "-o", path(name + ".tck"), *few)
check("ODFs of dwi2fod from .mif as from NIfTI", filecmp.cmp(path("fod.mif.tck"), path("fod.nii.tck"), shallow=False))

# --- images that glslines writes as .mif: MRtrix3 reads the same voxels at the same places ---
run(program, "fit", *files[:4], path("nii"), "--force", "--tensor-maps")
for suffix in (".mif", ".mif.gz"):
    run(program, "fit", *files[:4], path("mrtrix" + suffix), "--force", "--tensor-maps")
    for kind in ("fa", "tensor", "wm", "rgb"):
        mine = path("mrtrix_%s%s" % (kind, suffix))
        mrconvert(mine, path("back.nii"), "-strides", "1,2,3,4" if kind != "fa" else "1,2,3")
        back = nib.load(path("back.nii"))
        want = nib.load(path("nii_%s.nii.gz" % kind))
        mrconvert(path("nii_%s.nii.gz" % kind), path("want.nii"), "-strides", "1,2,3,4" if kind != "fa" else "1,2,3")
        want = nib.load(path("want.nii"))
        check("mrconvert reads %s%s" % (kind, suffix), np.array_equal(back.get_fdata(), want.get_fdata()) and
              np.allclose(back.affine, want.affine, atol=1e-5))
    run(program, "density", path("nifti.tck"), path("density" + suffix), "--template", path("mrtrix_fa" + suffix),
        "--force")
    run(program, "density", path("nifti.tck"), path("density.nii"), "--template", files[3], "--force")
    mrconvert(path("density" + suffix), path("back.nii"), "-strides", nib.aff2axcodes(nib.load(files[3]).affine)[0] ==
              "L" and "-1,2,3" or "1,2,3")
    check("mrconvert reads density" + suffix, np.array_equal(nib.load(path("back.nii")).get_fdata(),
                                                             nib.load(path("density.nii")).get_fdata()))

# --- damaged files ---
header = open(path("dwi.mif"), "rb").read(65536)
head = header[:header.index(b"\nEND") + 5]
for name, data in (("no END", head[:-5]), ("size 0", head.replace(b"dim: 20", b"dim: 0")),
                   ("offset behind the end", head.replace(b"file: . ", b"file: . 99999999")),
                   ("unknown type", head.replace(b"Int16LE", b"Int17LE")),
                   ("no layout", head.replace(b"layout", b"layuot")),
                   ("too short a table", head.replace(b"dw_scheme: 0,0,0,0\n", b"", 1) + bytes(2 * 20 * 24 * 20 * n))):
    with open(path("bad.mif"), "wb") as out:
        out.write(data)
    done = run(program, "track", path("bad.mif"), "-", "-", *files[3:], "-o", path("bad.tck"), code=3)
    check("damaged: " + name, done.stderr.count("bad.mif") == 1)

print("%d failed" % len(failed) if failed else "all ok")
sys.exit(bool(failed))
