#!/usr/bin/env python3
"""Files that other programs wrote, and what becomes of them when their headers are changed: case, blanks, line ends, NUL
bytes, byte order marks, comments, the order of keys, numbers that are not finite. Where the other program reads a changed
file, it has to be read with the same values; where the other one refuses it, it is read as the file was meant or refused
in one line that names it. Never with other values. changes.py has the table of changes.

usage: inputs.py GLSLINES LIBRARY PEER_READ_TRACTOGRAM WORK_DIR

MRtrix3, nibabel and trx-python write and read; VTK (the package vtk) where it is there. One line per check; exits with 1
if one fails.
"""

import json
import os
import re
import shutil
import struct
import sys
import zipfile

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap

import tractograms
from changes import BOM, HEADERS, IMAGES, MADE_UP, lines_of
from checks import outcome, report

program, os.environ["GLSLINES_LIBRARY"], tractograms.tool = (os.path.abspath(path) for path in sys.argv[1:4])
tractograms.work = work = os.path.abspath(sys.argv[4])
from judged import Refused, close, glslines, judge, no_reading, put, run  # noqa: E402

if not shutil.which("mrconvert"):
    print("MRtrix3 is not there")
    sys.exit(77)
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)

AFFINE = np.array([[-1.9, 0.2, 0.1, 20], [0.2, 1.9, -0.1, -15], [0.1, 0.1, 2.5, -7], [0, 0, 0, 1]])
SHAPE = (5, 6, 7)
rng = np.random.default_rng(3)
LINES = [rng.uniform(-8, 8, (n, 3)).astype(np.float32) for n in (4, 1, 7)]
LINES = [np.round(line, 2) for line in LINES]


# --- headers of text: MRtrix3 ---


def mutate(head, change, between, start=4096):
    """Returns the header for data at byte `start`. head: the lines with END, changed."""
    lines = [re.sub(rb"^file: \. \d+", b"file: . %d" % start, line) for line in lines_of(head)]
    made = between.join(change(lines)) + between
    assert len(made) < start
    return made.ljust(start, b"\0")


def split_file(path):
    data = open(path, "rb").read()
    start = int(re.search(rb"\nfile: \. (\d+)", data).group(1))
    return data[: data.index(b"\nEND\n") + 5], data[start:]


def in_world(array, affine):
    """Returns the values in the order of their places, whatever the order of the axes, and the places."""
    array = np.asarray(array, float).reshape(array.shape[:3] + (-1,))
    at = np.indices(array.shape[:3]).reshape(3, -1).T @ affine[:3, :3].T + affine[:3, 3]
    order = np.lexsort(np.round(at.T, 1))
    return [at[order], array.reshape(-1, array.shape[3])[order]]


def our_image(path):
    return in_world(*glslines.load_image(path))


def their_mif(path):
    run("mrconvert", "-quiet", "-force", path, "theirs.nii")
    image = nib.load("theirs.nii")
    return in_world(image.get_fdata(), image.affine)


def check_mif():
    data = rng.integers(-900, 900, SHAPE + (3,)).astype(np.int16)
    nib.save(nib.Nifti1Image(data, AFFINE), "source.nii")
    truth = in_world(data, AFFINE)
    for strides in ("1,2,3,4", "3,-1,-2,4", "-2,4,3,1"):
        for name in ("a.mif", "a.mif.gz", "a.mih"):
            run("mrconvert", "-quiet", "-force", "source.nii", name, "-strides", strides)
            judge(f"{name} of mrconvert, strides {strides}", name, our_image, their_mif, truth)
    run("mrconvert", "-quiet", "-force", "source.nii", "a.mif", "-strides", "3,-1,-2,4")
    head, body = split_file("a.mif")
    for name, (change, between) in {**HEADERS, **IMAGES}.items():
        path = put(
            "changed.mif", mutate(head, change, between) + body, name, mutate(head, lambda lines: lines, b"\n") + body
        )
        judge(".mif: " + name, path, our_image, their_mif, truth, name not in MADE_UP)


# --- tracks and track scalars ---


def our_tracks(path):
    got = tractograms.Read(path)
    if not got.ok:
        raise Refused([line for line in got.text.splitlines() if line.startswith("error: ")][0][7:])
    return got.lines


def their_tracks(path):
    run("tckconvert", "-quiet", "-force", path, "theirs.tck")
    return list(nib.streamlines.load("theirs.tck").streamlines)


def check_tck():
    nib.streamlines.save(nib.streamlines.Tractogram(LINES, affine_to_rasmm=np.eye(4)), "nibabel.tck")
    judge("TCK of nibabel", "nibabel.tck", our_tracks, lambda path: list(nib.streamlines.load(path).streamlines), LINES)
    run("tckconvert", "-quiet", "-force", "nibabel.tck", "a.tck")
    head, body = split_file("a.tck")
    for name, (change, between) in HEADERS.items():
        path = put(
            "changed.tck", mutate(head, change, between) + body, name, mutate(head, lambda lines: lines, b"\n") + body
        )
        judge("TCK: " + name, path, our_tracks, their_tracks, LINES, name not in MADE_UP)


def check_tsf():
    grid = np.array([[1, 0, 0, -10], [0, 1, 0, -10], [0, 0, 1, -10], [0, 0, 0, 1.0]])
    nib.save(nib.Nifti1Image(rng.uniform(0, 9, (20, 20, 20)).astype(np.float32), grid), "scalar.nii")
    run("tcksample", "-quiet", "-force", "a.tck", "scalar.nii", "a.tsf")

    def their_scalars(path):
        shutil.rmtree("ascii", ignore_errors=True)
        os.makedirs("ascii")
        run("tsfinfo", "-quiet", path, "-ascii", "ascii/t")
        return [np.loadtxt(os.path.join("ascii", name), ndmin=1) for name in sorted(os.listdir("ascii"))]

    def our_scalars(path):
        run(program, "convert", "a.tck", "with.trx", "--reference", "scalar.nii", "--tsf", path + "=v", "--force", "-q")
        got = tractograms.Read("with.trx")
        ends = np.cumsum([len(line) for line in got.lines])
        return [np.ravel(part) for part in np.split(got.dpv["v"], ends[:-1])]

    truth = their_scalars("a.tsf")
    report("three streamlines in the track scalar file", [len(t) for t in truth] == [4, 1, 7])
    head, body = split_file("a.tsf")
    for name, (change, between) in HEADERS.items():
        path = put(
            "changed.tsf", mutate(head, change, between) + body, name, mutate(head, lambda lines: lines, b"\n") + body
        )
        judge("TSF: " + name, path, our_scalars, their_scalars, truth, name not in MADE_UP)
    run(program, "convert", "with.trx", "back.tck", "--force", "-q")
    report("TSF: MRtrix3 reads ours", close(their_scalars("back_v.tsf"), truth))
    run("tckconvert", "-quiet", "-force", "back.tck", "theirs.tck")
    report("TCK: MRtrix3 reads ours", close(list(nib.streamlines.load("theirs.tck").streamlines), LINES))


# --- binary headers: NIfTI, TRK ---


def patch(data, *fields, order="<"):
    out = bytearray(data)
    for kind, at, what in fields:
        struct.pack_into(order + kind, out, at, *(what if isinstance(what, tuple) else (what,)))
    return bytes(out)


def their_nifti(path):
    image = nib.load(path)
    return in_world(image.get_fdata(), image.affine)


def check_nifti():
    nan, inf = float("nan"), float("inf")
    data = rng.integers(1, 900, SHAPE).astype(np.int16)
    truth = in_world(data, AFFINE)
    image = nib.Nifti1Image(data, AFFINE)
    image.set_qform(AFFINE, 1)
    image.set_sform(AFFINE, 1)
    for name, kind in (
        ("a.nii", nib.Nifti1Image),
        ("a.nii.gz", nib.Nifti1Image),
        ("b.nii", nib.Nifti2Image),
        ("a.hdr", nib.Nifti1Pair),
        ("a.img", nib.Nifti1Pair),
    ):
        nib.save(kind(data, AFFINE), name)
        judge(f"{kind.__name__} of nibabel, {name}", name, our_image, their_nifti, truth)
    big = nib.Nifti1Image(data, AFFINE, nib.Nifti1Header(endianness=">"))
    nib.save(big, "big.nii")
    judge("NIfTI of the other byte order", "big.nii", our_image, their_nifti, truth)
    image.header.set_slope_inter(1, 0)
    nib.save(image, "a.nii")
    file = open("a.nii", "rb").read()
    no_sform, no_qform = ("h", 254, 0), ("h", 252, 0)
    changes = {
        "sform alone": [no_qform],
        "qform alone": [no_sform],
        "sform nan": [("f", 280, nan)],
        "sform inf": [("f", 292, inf)],
        "quaternion nan, sform": [("f", 256, nan)],
        "quaternion nan": [no_sform, ("f", 256, nan)],
        "offset nan": [no_sform, ("f", 268, nan)],
        "offset inf": [no_sform, ("f", 276, inf)],
        "pixdim nan, sform": [("f", 80, nan)],
        "pixdim nan": [no_sform, ("f", 80, nan)],
        "pixdim inf": [no_sform, ("f", 88, inf)],
        "pixdim negative": [no_sform, ("f", 80, -1.9)],
        "pixdim 0": [no_sform, ("f", 84, 0)],
        "qfac nan": [no_sform, ("f", 76, nan)],
        "qfac 0": [no_sform, ("f", 76, 0)],
        "pixdim[4] nan": [("f", 92, nan)],
        "slope 2, inter 3": [("f", 112, (2, 3))],
        "slope 0, inter 3": [("f", 112, (0, 3))],
        "slope nan, inter nan": [("f", 112, (nan, nan))],
        "slope nan, inter 3": [("f", 112, (nan, 3))],
        "slope 2, inter nan": [("f", 112, (2, nan))],
        "slope 2, inter inf": [("f", 112, (2, inf))],
        "slope inf": [("f", 112, (inf, 0))],
        "magic in capitals": [("4s", 344, b"N+1\0")],
        "magic with a blank": [("4s", 344, b"n+1 ")],
        "no magic": [("4s", 344, b"\0\0\0\0")],
        "data at byte 0": [("f", 108, 0)],
        "data at nan": [("f", 108, nan)],
        "data at -1": [("f", 108, -1)],
        "sform code 5": [("h", 254, 5)],
        "sform code 77": [("h", 254, 77)],
        "sform code -1": [("h", 254, -1)],
        "0 dimensions": [("h", 40, 0)],
        "8 dimensions": [("h", 40, 8)],
        "4 dimensions, the last 1": [("h", 40, 4)],
        "a negative dimension": [("h", 44, -6)],
        "type 0": [("h", 70, 0)],
        "description without end": [("80s", 148, b"x" * 80)],
    }
    for name, fields in changes.items():
        width = [(str(len(what)) + kind if isinstance(what, tuple) else kind, at, what) for kind, at, what in fields]
        # nibabel also reads values that only the header has, and takes the qform if the code of the sform has no meaning
        theirs = no_reading if name in ("data at byte 0", "sform code 77") else their_nifti
        judge("NIfTI: " + name, put("changed.nii", patch(file, *width), name, file), our_image, theirs, truth)


def their_streamlines(path):
    return list(nib.streamlines.load(path).streamlines)


def check_trk():
    from nibabel.streamlines import Tractogram, TrkFile

    header = {
        "voxel_to_rasmm": AFFINE,
        "dimensions": (30, 31, 32),
        "voxel_sizes": np.linalg.norm(AFFINE[:3, :3], axis=0),
        "voxel_order": "LAS",
    }
    TrkFile(Tractogram(LINES, affine_to_rasmm=np.eye(4)), header).save("a.trk")
    judge("TRK of nibabel", "a.trk", our_tracks, their_streamlines, LINES)
    file = open("a.trk", "rb").read()
    nan = float("nan")
    changes = {
        "order in small letters": [("4s", 948, b"las\0")],
        "order in mixed letters": [("4s", 948, b"LaS\0")],
        "other order in small letters": [("4s", 948, b"lps\0")],
        "other order": [("4s", 948, b"RAS\0")],
        "permuted order": [("4s", 948, b"ALS\0")],
        "no order": [("4s", 948, b"\0\0\0\0")],
        "order of a blank behind": [("4s", 948, b"LAS ")],
        "order of two letters": [("4s", 948, b"LA\0\0")],
        "order of other letters": [("4s", 948, b"xyz\0")],
        "order twice the same": [("4s", 948, b"LLS\0")],
        "magic in small letters": [("5s", 0, b"track")],
        "magic with a blank": [("6s", 0, b"TRACK ")],
        "affine nan": [("f", 440, nan)],
        "affine offset inf": [("f", 452, float("inf"))],
        "affine 0": [("16f", 440, (0,) * 16)],
        "affine singular": [("4f", 440, (0, 0, 0, 0))],
        "last element 0": [("f", 500, 0)],
        "voxel size nan": [("f", 12, nan)],
        "voxel size 0": [("f", 12, 0)],
        "voxel size negative": [("f", 12, -2)],
        "dimensions 0": [("3h", 6, (0, 0, 0))],
        "a dimension of -1": [("h", 6, -1)],
        "count 0": [("i", 988, 0)],
        "count 2": [("i", 988, 2)],
        "count 9": [("i", 988, 9)],
        "version 1": [("i", 992, 1)],
        "version 3": [("i", 992, 3)],
        "version 7": [("i", 992, 7)],
        "size of the header 0": [("i", 996, 0)],
    }
    made_up = {"affine 0", "last element 0", "affine singular", "version 1", "voxel size negative", "count 9"}
    for name, fields in changes.items():
        judge(
            "TRK: " + name,
            put("changed.trk", patch(file, *fields), name, file),
            our_tracks,
            their_streamlines,
            LINES,
            name not in made_up,
        )


# --- TRX ---


def their_trx(path):
    t = trxmap.load(path)
    lines = [np.array(line) for line in t.streamlines]
    if not np.isfinite(np.asarray(t.header["VOXEL_TO_RASMM"], float)).all():
        raise ValueError("no affine")
    t.close()
    return lines


def check_trx():
    from nibabel.streamlines import Tractogram

    t = trxmap.TrxFile.from_tractogram(
        Tractogram(LINES, affine_to_rasmm=np.eye(4)), nib.Nifti1Image(np.zeros((30, 31, 32), np.uint8), AFFINE)
    )
    for name, pack in (("stored.trx", zipfile.ZIP_STORED), ("packed.trx", zipfile.ZIP_DEFLATED)):
        trxmap.save(t, name, pack)
        judge(f"TRX of trx-python, {name}", name, our_tracks, their_trx, LINES)
    trxmap.save(t, "folder")
    judge("TRX of trx-python, a folder", "folder", our_tracks, their_trx, LINES)
    with zipfile.ZipFile("stored.trx") as z:
        parts = {name: z.read(name) for name in z.namelist()}
    header = json.loads(parts["header.json"])
    text = json.dumps(header).encode()
    changes = {
        "pretty": json.dumps(header, indent=4).encode(),
        "line ends of Windows": json.dumps(header, indent=1).encode().replace(b"\n", b"\r\n") + b"\r\n",
        "blanks around": b" \t\n" + text + b" \n\n",
        "a byte order mark": BOM + text,
        "keys in another order": json.dumps(dict(reversed(header.items()))).encode(),
        "more keys": json.dumps({"A": {"b": [1]}, **header, "z": None}).encode(),
        "keys in small letters": json.dumps({k.lower(): v for k, v in header.items()}).encode(),
        "NUL bytes behind": text + b"\0\0",
        "a comment": b"// of no account\n" + text,
        "a comma behind the last": text[:-1] + b",}",
        "counts with a point": re.sub(rb'("NB_\w+": \d+)', rb"\1.0", text),
        "counts as text": re.sub(rb'("NB_\w+": )(\d+)', rb'\1"\2"', text),
        "affine NaN": re.sub(rb"(TO_RASMM\": \[\[)[^,]+", rb"\1NaN", text),
        "affine null": re.sub(rb"(TO_RASMM\": \[\[)[^,]+", rb"\1null", text),
        "no affine": json.dumps({k: v for k, v in header.items() if k != "VOXEL_TO_RASMM"}).encode(),
        "cut off": text[:-9],
        "empty": b"",
        "count of streamlines 9": re.sub(rb'("NB_STREAMLINES": )\d+', rb"\g<1>9", text),
    }
    for name, made in changes.items():
        shutil.rmtree("changed", ignore_errors=True)
        shutil.copytree("folder", "changed")
        put("changed/header.json", made, name, text)
        with zipfile.ZipFile("changed.trx", "w") as z:
            for part, content in parts.items():
                z.writestr(part, made if part == "header.json" else content)
        for path in ("changed.trx", "changed"):
            judge(
                f"TRX, {path}: {name}",
                path,
                our_tracks,
                their_trx,
                LINES,
                name not in ("no affine", "affine null", "counts as text", "count of streamlines 9"),
            )


# --- VTK ---


def check_vtk():
    try:
        import vtk
        from vtk.util.numpy_support import vtk_to_numpy
    except ImportError as error:
        print(f"skip VTK: {error}")
        return
    vtk.vtkObject.GlobalWarningDisplayOff()
    poly, points, cells = vtk.vtkPolyData(), vtk.vtkPoints(), vtk.vtkCellArray()
    for line in LINES:
        cells.InsertNextCell(len(line))
        for p in line:
            cells.InsertCellPoint(points.InsertNextPoint(*map(float, p)))
    poly.SetPoints(points)
    poly.SetLines(cells)

    def write(name, ascii_, version, data=poly, writer=vtk.vtkPolyDataWriter):
        w = writer()
        w.SetFileName(name)
        w.SetInputData(data)
        if writer is vtk.vtkPolyDataWriter:
            w.SetHeader("lines SPACE=RAS")
            w.SetFileVersion(version)
            w.SetFileTypeToASCII() if ascii_ else w.SetFileTypeToBinary()
        w.Write()

    def theirs(path):
        r = vtk.vtkPolyDataReader()
        r.SetFileName(path)
        if not r.OpenVTKFile() or not r.ReadHeader():
            raise ValueError("no VTK file")
        r.CloseVTKFile()
        r.Update()
        out = r.GetOutput()
        if r.GetErrorCode() or not out.GetNumberOfLines():
            raise ValueError("no lines")
        at = vtk_to_numpy(out.GetPoints().GetData())
        return [
            at[[out.GetCell(i).GetPointId(k) for k in range(out.GetCell(i).GetNumberOfPoints())]]
            for i in range(out.GetNumberOfCells())
        ]

    for version in (42, 51):
        for ascii_ in (True, False):
            write("a.vtk", ascii_, version)
            judge(f"VTK {version / 10} {'ASCII' if ascii_ else 'BINARY'} of VTK", "a.vtk", our_tracks, theirs, LINES)
    write("binary.vtk", False, 42)
    write("text.vtk", True, 42)
    for kind in ("text", "binary"):
        file = open(kind + ".vtk", "rb").read()
        words = (b"ASCII", b"BINARY", b"DATASET", b"POLYDATA", b"POINTS", b"LINES", b"float")

        def words_to(change):
            out = file
            for word in words:
                out = out.replace(word, change(word), 1)
            return out

        changes = {
            "keywords in small letters": words_to(bytes.lower),
            "keywords in capitals": words_to(bytes.upper),
            "axes in small letters": file.replace(b"SPACE=RAS", b"space=ras"),
            "a byte order mark": BOM + file,
            "first line in small letters": file.replace(b"# vtk DataFile Version", b"# vtk datafile version"),
            "blanks behind the first line": file.replace(b"\n", b"   \n", 1),
            "NUL bytes in the title": file.replace(b"lines SPACE", b"l\0nes SPACE", 1),
            "blanks behind keywords": file.replace(b"POLYDATA\n", b"POLYDATA  \n"),
            "cut off": file[: len(file) * 2 // 3],
        }
        if kind == "text":
            changes.update(
                {
                    "line ends of Windows": file.replace(b"\n", b"\r\n"),
                    "no end of the last line": file.rstrip(b"\n"),
                    "empty lines": file.replace(b"\nLINES", b"\n\n\nLINES"),
                    "a number that is nan": file.replace(b"\nLINES", b" \nLINES").replace(
                        b"%.9g" % float(LINES[0][0][0]), b"nan", 1
                    ),
                }
            )
        for name, made in changes.items():
            judge(
                f"VTK, {kind}: {name}",
                put("changed.vtk", made, name, file),
                our_tracks,
                theirs,
                LINES,
                name != "cut off",
            )
    mesh = vtk.vtkSphereSource()
    mesh.Update()
    for version in (42, 51):
        write("mesh.vtk", False, version, mesh.GetOutput())
        judge(f"VTK {version / 10}: a mesh", "mesh.vtk", our_tracks, theirs, None)
    write("a.vtp", True, 0, poly, vtk.vtkXMLPolyDataWriter)
    judge("VTK: a file of XML", "a.vtp", our_tracks, theirs, None)


check_mif()
check_tck()
check_tsf()
check_nifti()
check_trk()
check_trx()
check_vtk()
sys.exit(outcome())
