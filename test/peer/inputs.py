#!/usr/bin/env python3
"""Files that other programs wrote, and what becomes of them when their headers are changed: case, blanks, line ends, NUL bytes, byte order marks, comments,
the order of keys, numbers that are not finite. Where the other program reads a changed file, it has to be read with the same values; where the other one
refuses it, it is read as the file was meant or refused in one line that names it. Never with other values.

usage: inputs.py GLSLINES LIBRARY PEER_READ_TRACTOGRAM WORK_DIR

MRtrix3, nibabel and trx-python write and read; VTK (the package vtk) where it is there. One line per check; exits with 1 if one fails.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap

import tractograms
from checks import outcome, report

program, os.environ["GLSLINES_LIBRARY"], tractograms.tool = (os.path.abspath(path) for path in sys.argv[1:4])
tractograms.work = work = os.path.abspath(sys.argv[4])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
import glslines  # noqa: E402

shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)

AFFINE = np.array([[-1.9, 0.2, 0.1, 20], [0.2, 1.9, -0.1, -15], [0.1, 0.1, 2.5, -7], [0, 0, 0, 1]])
SHAPE = (5, 6, 7)
rng = np.random.default_rng(3)
LINES = [rng.uniform(-8, 8, (n, 3)).astype(np.float32) for n in (4, 1, 7)]
LINES = [np.round(line, 2) for line in LINES]
BOM = b"\xef\xbb\xbf"


class Refused(Exception):
    """Of one of the two programs, with what it said."""


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True)
    if done.returncode:
        raise Refused(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def no_reading(path):
    """For changes of which the other program makes something else than the file was meant to be."""
    raise Refused(path)


def close(a, b):
    """Lists of arrays, or one array."""
    a, b = ([np.asarray(x, float) for x in (v if isinstance(v, list) else [v])] for v in (a, b))
    return len(a) == len(b) and all(x.shape == y.shape and np.allclose(x, y, atol=2e-4, equal_nan=True) for x, y in zip(a, b))


def finite(value):
    return all(np.isfinite(np.asarray(x, float)).all() for x in (value if isinstance(value, list) else [value]))


def judge(name, path, ours, theirs, truth, strict=True):
    """strict: False where the other program makes up values in place of those that are missing (and says so): refusing is right then, too."""
    try:
        want = theirs(path)
    except Exception:  # whatever the other program raises for a file that it does not read
        want = None
    if want is not None and not finite(want):
        want = None  # no reading of it is right
    try:
        got = ours(path)
    except (Refused, glslines.Error) as error:
        text = str(error)
        clear = os.path.basename(path).split("/")[0] in text and "\n" not in text
        report(name, clear and (want is None or not strict), ("refused by both: " if want is None else "refused: ") + text)
        return
    if want is None:
        report(name, close(got, truth), "only the other program refuses it")
    else:
        report(name, close(got, want), "" if close(got, want) else f"other values: {str(got)[:200]} and {str(want)[:200]}")


def put(name, data):
    with open(name, "wb") as out:
        out.write(data)
    return name


# --- headers of text: MRtrix3 ---

def lines_of(head):
    return [line for line in head.split(b"\n") if line]


def each(change, only=None):
    """Changes the lines between the first and END, of these keys alone."""
    def all_of(lines):
        return [lines[0]] + [change(line) if not only or line.split(b":")[0] in only else line for line in lines[1:-1]] + lines[-1:]
    return all_of


def add(*more, at=1):
    return lambda lines: lines[:at] + list(more) + lines[at:]


def key(change):
    return lambda line: change(line.split(b":")[0]) + b":" + line.split(b":", 1)[1]


def value(change):
    return lambda line: line.split(b":")[0] + b":" + change(line.split(b":", 1)[1])


HEADERS = {  # name: (change of the lines, what stands between them)
    "as it was written": (lambda lines: lines, b"\n"),
    "keys in capitals": (each(key(bytes.upper), (b"dim", b"vox", b"layout", b"datatype", b"transform", b"scaling")), b"\n"),
    "all keys in capitals": (each(key(bytes.upper)), b"\n"),
    "types in small letters": (each(value(bytes.lower), (b"datatype",)), b"\n"),
    "types in capitals": (each(value(bytes.upper), (b"datatype",)), b"\n"),
    "blanks before lines": (each(lambda line: b"  \t" + line), b"\n"),
    "blanks behind lines": (lambda lines: [line + b"  \t" for line in lines], b"\n"),
    "no blanks behind colons": (each(lambda line: line.replace(b": ", b":", 1)), b"\n"),
    "blanks around colons": (each(lambda line: line.replace(b": ", b" :   ", 1)), b"\n"),
    "line ends of Windows": (lambda lines: lines, b"\r\n"),
    "line ends of old Macs": (lambda lines: lines, b"\r"),
    "NUL bytes in a line": (add(b"comments: tag \0\0\0 of another program", b"tags: \0"), b"\n"),
    "NUL bytes behind lines": (lambda lines: [line + b"\0\0" for line in lines], b"\n"),
    "a line of NUL bytes": (add(b"\0\0\0"), b"\n"),
    "NUL bytes before values": (each(lambda line: line.replace(b": ", b": \0", 1), (b"dim", b"vox", b"datatype")), b"\n"),
    "a byte order mark": (lambda lines: [BOM + lines[0]] + lines[1:], b"\n"),
    "lines in another order": (lambda lines: lines[:1] + sorted(lines[1:-1], reverse=True, key=lambda x: x.split(b":")[0]) + lines[-1:], b"\n"),
    "comments behind values": (each(lambda line: line + b" # of no account"), b"\n"),
    "lines of comments": (add(b"# dim: 1,1,1", b"#", at=2), b"\n"),
    "empty lines": (each(lambda line: line + b"\n"), b"\n"),
    "a line without a colon": (add(b"no pair at all"), b"\n"),
    "a line without a key": (add(b": no key"), b"\n"),
    "colons in a value": (add(b"comments: a: b: c"), b"\n"),
    "letters beyond ASCII": (add("comments: \u00e9\u4e2d\ufffd".encode() + b"\xff\xfe"), b"\n"),
    "a key that begins with END": (add(b"ENDING: no end"), b"\n"),
    "END with blanks": (lambda lines: lines[:-1] + [b"  END \t"], b"\n"),
    "END with a comment": (lambda lines: lines[:-1] + [b"END # of it"], b"\n"),
    "end in small letters": (lambda lines: lines[:-1] + [b"end"], b"\n"),
    "no END": (lambda lines: lines[:-1], b"\n"),
    "more in the first line": (lambda lines: [lines[0].rstrip() + b" of somebody"] + lines[1:], b"\n"),
    "first line in capitals": (lambda lines: [lines[0].upper()] + lines[1:], b"\n"),
    "blanks before the first line": (lambda lines: [b" " + lines[0]] + lines[1:], b"\n"),
    "no type": (lambda lines: [line for line in lines if not line.startswith(b"datatype")], b"\n"),
    "an unknown type": (each(value(lambda x: b" Float31LE"), (b"datatype",)), b"\n"),
    "no place of the data": (lambda lines: [line for line in lines if not line.startswith(b"file")], b"\n"),
    "data at byte 0": (each(value(lambda x: b" . 0"), (b"file",)), b"\n"),
    "data without an offset": (each(value(lambda x: b" ."), (b"file",)), b"\n"),
    "several blanks before the offset": (each(value(lambda x: x.replace(b". ", b".  \t")), (b"file",)), b"\n"),
}
IMAGES = {  # of images alone
    "no signs in the layout": (each(value(lambda x: x.replace(b"+", b"")), (b"layout",)), b"\n"),
    "blanks behind commas": (each(value(lambda x: x.replace(b",", b", ")), (b"dim", b"vox", b"transform")), b"\n"),
    "blanks behind commas of the layout": (each(value(lambda x: x.replace(b",", b", ")), (b"layout",)), b"\n"),
    "blanks in place of commas": (each(value(lambda x: x.strip().replace(b",", b" ")), (b"vox",)), b"\n"),
    "two lines dim": (lambda lines: lines[:1] + [b"dim: 9,9,9,9"] + lines[1:], b"\n"),
    "vox nan behind the third": (each(value(lambda x: b" 2,2,2.5,nan"), (b"vox",)), b"\n"),
    "vox nan": (each(value(lambda x: b" nan,2,2.5,1"), (b"vox",)), b"\n"),
    "vox inf": (each(value(lambda x: b" inf,2,2.5,1"), (b"vox",)), b"\n"),
    "vox 0": (each(value(lambda x: b" 0,2,2.5,1"), (b"vox",)), b"\n"),
    "transform nan": (each(value(lambda x: b" nan,0,0,0"), (b"transform",)), b"\n"),
    "no transform": (lambda lines: [line for line in lines if not line.startswith(b"transform")], b"\n"),
    "scaling nan": (add(b"scaling: nan,1"), b"\n"),
}
MADE_UP = {"vox nan", "vox inf", "vox 0", "transform nan", "no transform", "scaling nan", "data at byte 0", "data without an offset", "no END",
           "end in small letters"}  # by MRtrix3, or read out of the data


def mutate(head, change, between, start=4096):
    """The header with the data at byte start; head: the lines with END, changed."""
    lines = [re.sub(rb"^file: \. \d+", b"file: . %d" % start, line) for line in lines_of(head)]
    made = between.join(change(lines)) + between
    assert len(made) < start
    return made.ljust(start, b"\0")


def split_file(path):
    data = open(path, "rb").read()
    start = int(re.search(rb"\nfile: \. (\d+)", data).group(1))
    return data[:data.index(b"\nEND\n") + 5], data[start:]


def in_world(array, affine):
    """Values in the order of places, whatever the order of the axes, and the places."""
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
        path = put("changed.mif", mutate(head, change, between) + body)
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
        path = put("changed.tck", mutate(head, change, between) + body)
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
        path = put("changed.tsf", mutate(head, change, between) + body)
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
    for name, kind in (("a.nii", nib.Nifti1Image), ("a.nii.gz", nib.Nifti1Image), ("b.nii", nib.Nifti2Image), ("a.hdr", nib.Nifti1Pair), ("a.img", nib.Nifti1Pair)):
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
        "sform alone": [no_qform], "qform alone": [no_sform],
        "sform nan": [("f", 280, nan)], "sform inf": [("f", 292, inf)],
        "quaternion nan, sform": [("f", 256, nan)], "quaternion nan": [no_sform, ("f", 256, nan)],
        "offset nan": [no_sform, ("f", 268, nan)], "offset inf": [no_sform, ("f", 276, inf)],
        "pixdim nan, sform": [("f", 80, nan)], "pixdim nan": [no_sform, ("f", 80, nan)], "pixdim inf": [no_sform, ("f", 88, inf)],
        "pixdim negative": [no_sform, ("f", 80, -1.9)], "pixdim 0": [no_sform, ("f", 84, 0)],
        "qfac nan": [no_sform, ("f", 76, nan)], "qfac 0": [no_sform, ("f", 76, 0)],
        "pixdim[4] nan": [("f", 92, nan)],
        "slope 2, inter 3": [("f", 112, (2, 3))], "slope 0, inter 3": [("f", 112, (0, 3))],
        "slope nan, inter nan": [("f", 112, (nan, nan))], "slope nan, inter 3": [("f", 112, (nan, 3))],
        "slope 2, inter nan": [("f", 112, (2, nan))], "slope 2, inter inf": [("f", 112, (2, inf))], "slope inf": [("f", 112, (inf, 0))],
        "magic in capitals": [("4s", 344, b"N+1\0")], "magic with a blank": [("4s", 344, b"n+1 ")], "no magic": [("4s", 344, b"\0\0\0\0")],
        "data at byte 0": [("f", 108, 0)], "data at nan": [("f", 108, nan)], "data at -1": [("f", 108, -1)],
        "sform code 5": [("h", 254, 5)], "sform code 77": [("h", 254, 77)], "sform code -1": [("h", 254, -1)],
        "0 dimensions": [("h", 40, 0)], "8 dimensions": [("h", 40, 8)], "4 dimensions, the last 1": [("h", 40, 4)], "a negative dimension": [("h", 44, -6)],
        "type 0": [("h", 70, 0)], "description without end": [("80s", 148, b"x" * 80)],
    }
    for name, fields in changes.items():
        width = [(str(len(what)) + kind if isinstance(what, tuple) else kind, at, what) for kind, at, what in fields]
        # nibabel reads values out of the header, and takes the qform where the code of the sform has no meaning
        theirs = no_reading if name in ("data at byte 0", "sform code 77") else their_nifti
        judge("NIfTI: " + name, put("changed.nii", patch(file, *width)), our_image, theirs, truth)


def their_streamlines(path):
    return list(nib.streamlines.load(path).streamlines)


def check_trk():
    from nibabel.streamlines import Tractogram, TrkFile
    header = {"voxel_to_rasmm": AFFINE, "dimensions": (30, 31, 32), "voxel_sizes": np.linalg.norm(AFFINE[:3, :3], axis=0), "voxel_order": "LAS"}
    TrkFile(Tractogram(LINES, affine_to_rasmm=np.eye(4)), header).save("a.trk")
    judge("TRK of nibabel", "a.trk", our_tracks, their_streamlines, LINES)
    file = open("a.trk", "rb").read()
    nan = float("nan")
    changes = {
        "order in small letters": [("4s", 948, b"las\0")], "order in mixed letters": [("4s", 948, b"LaS\0")],
        "other order in small letters": [("4s", 948, b"lps\0")], "other order": [("4s", 948, b"RAS\0")], "permuted order": [("4s", 948, b"ALS\0")],
        "no order": [("4s", 948, b"\0\0\0\0")], "order of a blank behind": [("4s", 948, b"LAS ")], "order of two letters": [("4s", 948, b"LA\0\0")],
        "order of other letters": [("4s", 948, b"xyz\0")], "order twice the same": [("4s", 948, b"LLS\0")],
        "magic in small letters": [("5s", 0, b"track")], "magic with a blank": [("6s", 0, b"TRACK ")],
        "affine nan": [("f", 440, nan)], "affine offset inf": [("f", 452, float("inf"))], "affine 0": [("16f", 440, (0,) * 16)],
        "affine singular": [("4f", 440, (0, 0, 0, 0))], "last element 0": [("f", 500, 0)],
        "voxel size nan": [("f", 12, nan)], "voxel size 0": [("f", 12, 0)], "voxel size negative": [("f", 12, -2)],
        "dimensions 0": [("3h", 6, (0, 0, 0))], "a dimension of -1": [("h", 6, -1)],
        "count 0": [("i", 988, 0)], "count 2": [("i", 988, 2)], "count 9": [("i", 988, 9)],
        "version 1": [("i", 992, 1)], "version 3": [("i", 992, 3)], "version 7": [("i", 992, 7)],
        "size of the header 0": [("i", 996, 0)],
    }
    made_up = {"affine 0", "last element 0", "affine singular", "version 1", "voxel size negative", "count 9"}
    for name, fields in changes.items():
        judge("TRK: " + name, put("changed.trk", patch(file, *fields)), our_tracks, their_streamlines, LINES, name not in made_up)


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
    t = trxmap.TrxFile.from_tractogram(Tractogram(LINES, affine_to_rasmm=np.eye(4)), nib.Nifti1Image(np.zeros((30, 31, 32), np.uint8), AFFINE))
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
        "pretty": json.dumps(header, indent=4).encode(), "line ends of Windows": json.dumps(header, indent=1).encode().replace(b"\n", b"\r\n") + b"\r\n",
        "blanks around": b" \t\n" + text + b" \n\n", "a byte order mark": BOM + text, "keys in another order": json.dumps(dict(reversed(header.items()))).encode(),
        "more keys": json.dumps({"A": {"b": [1]}, **header, "z": None}).encode(), "keys in small letters": json.dumps({k.lower(): v for k, v in header.items()}).encode(),
        "NUL bytes behind": text + b"\0\0", "a comment": b"// of no account\n" + text, "a comma behind the last": text[:-1] + b",}",
        "counts with a point": re.sub(rb'("NB_\w+": \d+)', rb"\1.0", text), "counts as text": re.sub(rb'("NB_\w+": )(\d+)', rb'\1"\2"', text),
        "affine NaN": text.replace(b"-1.9", b"NaN", 1), "affine null": text.replace(b"-1.9", b"null", 1), "no affine": json.dumps({k: v for k, v in header.items() if k != "VOXEL_TO_RASMM"}).encode(),
        "cut off": text[:-9], "empty": b"", "count of streamlines 9": re.sub(rb'("NB_STREAMLINES": )\d+', rb"\g<1>9", text),
    }
    for name, made in changes.items():
        shutil.rmtree("changed", ignore_errors=True)
        shutil.copytree("folder", "changed")
        put("changed/header.json", made)
        with zipfile.ZipFile("changed.trx", "w") as z:
            for part, content in parts.items():
                z.writestr(part, made if part == "header.json" else content)
        for path in ("changed.trx", "changed"):
            judge(f"TRX, {path}: {name}", path, our_tracks, their_trx, LINES, name not in ("no affine", "affine null", "counts as text", "count of streamlines 9"))


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
        return [at[[out.GetCell(i).GetPointId(k) for k in range(out.GetCell(i).GetNumberOfPoints())]] for i in range(out.GetNumberOfCells())]

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
            "keywords in small letters": words_to(bytes.lower), "keywords in capitals": words_to(bytes.upper),
            "axes in small letters": file.replace(b"SPACE=RAS", b"space=ras"), "a byte order mark": BOM + file,
            "first line in small letters": file.replace(b"# vtk DataFile Version", b"# vtk datafile version"),
            "blanks behind the first line": file.replace(b"\n", b"   \n", 1), "NUL bytes in the title": file.replace(b"lines SPACE", b"l\0nes SPACE", 1),
            "blanks behind keywords": file.replace(b"POLYDATA\n", b"POLYDATA  \n"), "cut off": file[:len(file) * 2 // 3],
        }
        if kind == "text":
            changes.update({"line ends of Windows": file.replace(b"\n", b"\r\n"), "no end of the last line": file.rstrip(b"\n"), "empty lines": file.replace(b"\nLINES", b"\n\n\nLINES"),
                            "a number that is nan": file.replace(b"\nLINES", b" \nLINES").replace(b"%.9g" % float(LINES[0][0][0]), b"nan", 1)})
        for name, made in changes.items():
            judge(f"VTK, {kind}: {name}", put("changed.vtk", made), our_tracks, theirs, LINES, name not in ("cut off", "NUL bytes in the title"))
    mesh = vtk.vtkSphereSource()
    mesh.Update()
    for version in (42, 51):
        write("mesh.vtk", False, version, mesh.GetOutput())
        judge(f"VTK {version / 10}: a mesh", "mesh.vtk", our_tracks, theirs, None)
    write("a.vtp", True, 0, poly, vtk.vtkXMLPolyDataWriter)
    judge("VTK: a file of XML", "a.vtp", our_tracks, theirs, None)


# --- tables of text ---

TEXT = {  # name: change of a file of lines of numbers
    "as it was written": lambda t: t, "line ends of Windows": lambda t: t.replace(b"\n", b"\r\n"), "line ends of old Macs": lambda t: t.replace(b"\n", b"\r"),
    "no end of the last line": lambda t: t.rstrip(b"\n"), "empty lines": lambda t: b"\n" + t.replace(b"\n", b"\n\n"), "blanks before lines": lambda t: b"  " + t.replace(b"\n", b"\n  "),
    "blanks behind lines": lambda t: t.replace(b"\n", b"  \t\n"), "tabs": lambda t: t.replace(b" ", b"\t"), "several blanks": lambda t: t.replace(b" ", b"   "),
    "commas": lambda t: t.replace(b" ", b","), "commas and blanks": lambda t: t.replace(b" ", b", "), "a byte order mark": lambda t: BOM + t,
    "comments": lambda t: b"# of no account\n" + t.replace(b"\n", b" # 1 2 3\n"), "NUL bytes behind": lambda t: t + b"\0\0", "NUL bytes in a line": lambda t: t.replace(b" ", b" \0 ", 1),
    "plus signs": lambda t: re.sub(rb"(?<![\d.-])(\d)", rb"+\1", t), "exponents": lambda t: re.sub(rb"(?<=\d)(?=[ \n])", b"e0", t),
    "exponents of Fortran": lambda t: re.sub(rb"(?<=\d)(?=[ \n])", b"D0", t), "decimal commas": lambda t: t.replace(b".", b","),
    "a word": lambda t: t.replace(b" ", b" x ", 1), "nan": lambda t: re.sub(rb"(?<= )[\d.-]+", b"nan", t, count=1), "semicolons": lambda t: t.replace(b" ", b";"),
    "empty": lambda t: b"", "one number less": lambda t: t.rstrip().rsplit(b" ", 1)[0] + b"\n", "UTF-16": lambda t: t.decode().encode("utf-16"),
}


def check_gradients():
    world = rng.normal(size=(8, 3))
    world /= np.linalg.norm(world, axis=1)[:, None]
    world[0] = 0
    b = np.array([0.0] + [1000] * 7)
    nib.save(nib.Nifti1Image(rng.uniform(1, 9, SHAPE + (8,)).astype(np.float32), AFFINE), "dwi.nii")
    np.savetxt("table.b", np.c_[world, b], fmt="%.6f")
    run("mrconvert", "-quiet", "-force", "dwi.nii", "dwi.mif", "-grad", "table.b")
    run("mrinfo", "-quiet", "-force", "dwi.mif", "-export_grad_fsl", "a.bvec", "a.bval", "-export_grad_mrtrix", "a.b")
    turn, _, other = np.linalg.svd(AFFINE[:3, :3])
    turn = turn @ other

    def theirs(*option):
        text = run("mrinfo", "-quiet", "dwi.nii", *option, "-dwgrad")
        return np.array([line.split() for line in text.splitlines()], float)

    def ours(table):
        scale = AFFINE[:3, :3] / np.linalg.norm(AFFINE[:3, :3], axis=0)
        return np.c_[table.bvecs @ scale.T, table.bvals]

    truth = theirs("-grad", "a.b")
    spare = {name: open(name, "rb").read() for name in ("a.b", "a.bval", "a.bvec")}

    def fsl(bval, bvec):
        return ours(glslines.Gradients.read(bval, bvec, AFFINE, 8))

    for name, change in TEXT.items():
        # MRtrix3 passes over lines that begin with no number or takes 0 for words: what it makes of them is no reading
        lax = name in ("a word", "nan", "exponents of Fortran", "decimal commas", "semicolons", "UTF-16", "NUL bytes in a line")
        judge(".b: " + name, put("changed.b", change(spare["a.b"])), lambda p: ours(glslines.Gradients.read_table(p, AFFINE, 8)), lambda p: theirs("-grad", p), truth, not lax)
        judge("bvec: " + name, put("changed.bvec", change(spare["a.bvec"])), lambda p: fsl("a.bval", p), lambda p: theirs("-fslgrad", p, "a.bval"), truth, not lax)
        judge("bval: " + name, put("changed.bval", change(spare["a.bval"])), lambda p: fsl(p, "a.bvec"), lambda p: theirs("-fslgrad", "a.bvec", p), truth, not lax)
    columns = np.loadtxt("a.bvec").T
    np.savetxt("column.bvec", columns, fmt="%.8f")
    np.savetxt("column.bval", b, fmt="%g")
    judge("bvec in columns", "column.bvec", lambda p: fsl("column.bval", p), lambda p: theirs("-fslgrad", p, "column.bval"), truth)


def check_weights():
    text = b"0.5\n1.25\n3\n"
    changes = {name: change for name, change in TEXT.items() if name not in ("nan", "a word", "one number less", "semicolons", "commas and blanks", "several blanks", "NUL bytes in a line")}
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
        lax = name in ("exponents of Fortran", "decimal commas", "a word", "nan", "one number less", "one number more", "UTF-16", "line ends of old Macs")
        judge("weights: " + name, put("changed.txt", change(text)), ours, theirs, np.array([0.5, 1.25, 3]), not lax)


def check_tables_of_labels():
    """The names that glslines connectome and MRtrix3's labelconvert find: labelconvert goes from one table to another by the names."""
    labels = np.zeros((20, 20, 20), np.int16)
    labels[:10] = 3
    labels[10:] = 17
    nib.save(nib.Nifti1Image(labels, nib.load("scalar.nii").affine), "labels.nii")
    fixed = b"0 Unknown 0 0 0 0\n3 Left 10 20 30 255\n17 Right_Hippocampus 40 50 60 255\n"
    put("plain.txt", b"1 Left 10 20 30 255\n2 Right_Hippocampus 40 50 60 255\n")
    wanted = ["Left", "Right_Hippocampus"]
    changes = {name: TEXT[name] for name in ("as it was written", "line ends of Windows", "line ends of old Macs", "no end of the last line", "empty lines", "blanks before lines",
                                              "blanks behind lines", "tabs", "several blanks", "a byte order mark", "NUL bytes behind", "UTF-16", "empty")}
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
        judge("colour table: " + name, put("changed.txt", change(fixed)), ours, theirs, np.array([1, 2]), name not in ("UTF-16", "line ends of old Macs", "NUL bytes in a line"))


check_mif()
check_tck()
check_tsf()
check_nifti()
check_trk()
check_trx()
check_vtk()
check_gradients()
check_weights()
check_tables_of_labels()
sys.exit(outcome())
