"""Rows of suites.py: files of streamlines that nibabel, trx-python and DIPY write, and functions of DIPY with a counterpart. What
stands after 'python: ' is run among the names of this file, in the folder of the row."""
import copy
import os
import struct
import zipfile

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap
from dipy.io.stateful_tractogram import Space, StatefulTractogram
from dipy.io.streamline import load_tractogram, save_tractogram
from dipy.stats.analysis import afq_profile, gaussian_weights
from dipy.tracking.distances import approx_polygon_track
from dipy.tracking.metrics import winding
from dipy.tracking.streamline import (Streamlines, length, orient_by_streamline, select_by_rois, set_number_of_points, transform_streamlines, values_from_volume)
from dipy.tracking.streamlinespeed import compress_streamlines
from dipy.tracking.utils import connectivity_matrix, density_map, target, target_line_based
from nibabel.streamlines import TckFile, Tractogram, TrkFile
from nibabel.streamlines.trk import header_2_dtype

import suites_how as h
from suites_how import Row, group

rng = np.random.default_rng(8)
LINES = [np.round(rng.uniform(-20, 20, (n, 3)), 2).astype(np.float32) for n in (4, 2, 7, 1, 3, 30, 12)]
FEW = [line for line in LINES if len(line) > 1]
PAIR = np.round(rng.normal(0, 1, (len(LINES), 2)), 3).astype(np.float32)
SCALARS = [np.round(rng.normal(0, 1, (len(line), 1)), 3).astype(np.float32) for line in LINES]
COLOURS = [rng.integers(0, 255, (len(line), 3)).astype(np.float32) for line in LINES]


# --- writers ---


def tractogram(lines=LINES, **data):
    return Tractogram(lines, affine_to_rasmm=np.eye(4), **data)


def trk_header(grid="mask.nii", **values):
    image = nib.load(grid)
    header = TrkFile.create_empty_header()
    header["dimensions"], header["voxel_sizes"], header["voxel_to_rasmm"] = image.shape[:3], image.header.get_zooms()[:3], image.affine
    header["voxel_order"] = "".join(nib.aff2axcodes(image.affine))
    for key, value in values.items():
        header[key] = value
    return header


def trk(name="x.trk", lines=LINES, grid="mask.nii", data=None, **header):
    TrkFile(tractogram(lines, **(data or {})), header=trk_header(grid, **header)).save(name)


def tck(name="x.tck", lines=LINES, **header):
    TckFile(tractogram(lines), header={key: str(value) for key, value in header.items()}).save(name)


def header_of(name, **values):
    """Changes the header of a TRK file in place."""
    data = bytearray(open(name, "rb").read())
    header = np.frombuffer(data, header_2_dtype, count=1)
    for key, value in values.items():
        header[key] = value
    data[:1000] = header.tobytes()
    open(name, "wb").write(data)


def big_endian(name):
    data = open(name, "rb").read()
    header = np.frombuffer(data, header_2_dtype, count=1)
    open(name, "wb").write(header.astype(header_2_dtype.newbyteorder(">")).tobytes() + np.frombuffer(data[1000:], "<u4").astype(">u4").tobytes())


def raw_tck(name, kind, lines=LINES, end="\n", extra="", count=True, finish=True):
    """Writes a TCK file with this type of numbers."""
    dtype = {"Float32LE": "<f4", "Float32BE": ">f4", "Float64LE": "<f8", "Float64BE": ">f8"}[kind]
    rows = np.concatenate([part for line in lines for part in (line, np.full((1, 3), np.nan))] + ([np.full((1, 3), np.inf)] if finish else []))
    head = end.join(filter(None, ["mrtrix tracks", f"count: {len(lines)}" if count else "", f"datatype: {kind}", extra, "file: . 400", "END"])) + end
    open(name, "wb").write(head.encode().ljust(400, b"\0") + rows.astype(dtype).tobytes())


def cut(name, n):
    data = open(name, "rb").read()
    open(name, "wb").write(data[:len(data) - n])


def trx(name="x.trx", lines=LINES, positions="float32", offsets="uint32", compressed=False, folder=False, dps=None, dpv=None, groups=None, dpg=None, grid="mask.nii"):
    """Writes a TRX file with trx-python. Columns have the types of the arrays."""
    image = nib.load(grid)
    out = trxmap.TrxFile(nb_vertices=sum(map(len, lines)), nb_streamlines=len(lines))
    out.header["VOXEL_TO_RASMM"], out.header["DIMENSIONS"] = image.affine.tolist(), list(image.shape[:3])
    sequence = nib.streamlines.ArraySequence(lines)
    out.streamlines._data = sequence._data.astype(positions) if len(lines) else np.zeros((0, 3), positions)
    out.streamlines._offsets = np.asarray(sequence._offsets, offsets)
    out.streamlines._lengths = np.asarray(sequence._lengths, "uint32")
    for key, value in (dps or {}).items():
        out.data_per_streamline[key] = np.asarray(value).reshape(len(lines), -1 if lines else 1)
    for key, value in (dpv or {}).items():
        columns = nib.streamlines.ArraySequence(value)
        columns._data, columns._offsets, columns._lengths = np.concatenate(value), out.streamlines._offsets, out.streamlines._lengths
        out.data_per_vertex[key] = columns
    out.groups = {key: np.asarray(value, "uint32") for key, value in (groups or {}).items()}
    out.data_per_group = {key: {k: np.asarray(v) for k, v in value.items()} for key, value in (dpg or {}).items()}
    trxmap.save(out, "folder.trx" if folder else name, compression_standard=zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED)


def save_lines(lines, name="theirs.tck"):
    TckFile(tractogram([np.asarray(line, np.float32) for line in lines])).save(name)


def again(name):
    """Returns the content that the peer reads from the file."""
    if name.endswith(".trx"):
        return save_lines(np.asarray(line, np.float32) for line in trxmap.load(name).streamlines)
    return save_lines(nib.streamlines.load(name).streamlines)


# --- what is compared besides points ---


def columns(mine="mine.trk"):
    """Compares the columns of a TRK file with those of x.trk, both read by nibabel."""

    def how(trial):
        a, b = (nib.streamlines.load(name).tractogram for name in (mine, "x.trk"))
        for of in ("data_per_streamline", "data_per_point"):
            x, y = getattr(a, of), getattr(b, of)
            if sorted(x) != sorted(y):
                return "fail", f"{sorted(x)} {sorted(y)}"
            for key in y:
                if any(not np.array_equal(p, q) for p, q in zip(x[key], y[key])):
                    return "fail", key
        return "agree", f"{len(b.data_per_streamline)} columns of streamlines, {len(b.data_per_point)} of points"

    return how


def whole(trial, mine="mine.trx", theirs="x.trx"):
    """Compares all of a TRX file with another one, both read by trx-python."""
    a, b = (trxmap.load(name) for name in (mine, theirs))
    if not all(np.array_equal(np.float32(p), np.float32(q)) for p, q in zip(a.streamlines, b.streamlines)) or len(a) != len(b):
        return "fail", "points differ"
    for of in ("data_per_streamline", "data_per_vertex", "groups"):
        x, y = getattr(a, of), getattr(b, of)
        if sorted(x) != sorted(y):
            return "fail", f"{of}: {sorted(x)} {sorted(y)}"
        for key in y:
            p, q = (np.asarray(getattr(v[key], "_data", v[key])) for v in (x, y))
            if p.dtype != q.dtype or not np.array_equal(p.reshape(q.shape), q):
                return "fail", f"{of}: {key}: {p.dtype} {q.dtype}"
    return "agree", f"{len(b.data_per_streamline)} columns of streamlines, {len(b.data_per_vertex)} of points, {len(b.groups)} groups"


def read(of, cases, bound=2e-5):
    """Rows of files that the peer writes and reads again, and that we read."""
    rows = []
    for name, write, file, *rest in cases:
        how, reason = (rest + [None, None])[:2] if rest else (None, None)
        words = "--reference mask.nii" if "no affine" in name else ""
        made = write if write.startswith("python: ") else "python: " + write
        rows.append(Row(of, name, f"{made}; again({file!r})", f"glslines convert {file} mine.tck {words}".strip(), how or h.lines(bound, empty="empty" in name), reason))
    return rows


def as_made(trial):
    mine = h.points("mine.tck")
    good = len(mine) == len(LINES) and all(np.abs(a - b).max() < 1e-5 for a, b in zip(mine, LINES))
    return "agree" if good else "fail", f"{len(mine)} streamlines"


def nibabel_files():
    rows = read("nibabel TRK", [
        ("streamlines of some points", "trk()", "x.trk"),
        ("an oblique grid", "trk(grid='oblique.nii')", "x.trk"),
        ("turned axes", "trk(grid='axes.nii')", "x.trk"),
        ("voxels of three sides", "trk(grid='fine.nii')", "x.trk"),
        ("left to right", "trk(grid='las.nii')", "x.trk"),
        ("an empty file", "trk(lines=[])", "x.trk"),
        ("one-point streamlines", "trk(lines=[line[:1] for line in LINES])", "x.trk"),
        ("big-endian", "trk(); big_endian('x.trk')", "x.trk"),
        ("big-endian with columns", "trk(data=dict(data_per_streamline={'pair': PAIR}, data_per_point={'s': SCALARS})); big_endian('x.trk')", "x.trk"),
        ("a number of streamlines of 0", "trk(); header_of('x.trk', nb_streamlines=0)", "x.trk"),
        ("version 1, no affine", "trk(grid='mask.nii'); header_of('x.trk', version=1, voxel_to_rasmm=0)", "x.trk", h.lines(2e-5, np.inf), "no-affine-trk"),
        ("no affine", "trk(); header_of('x.trk', voxel_to_rasmm=0)", "x.trk", h.lines(2e-5, np.inf), "no-affine-trk"),
        ("streamlines without points", "trk(lines=LINES[:2] + [np.zeros((0, 3), np.float32)] + LINES[2:])", "x.trk"),
        ("a file that was cut off", "trk(); cut('x.trk', 6)", "x.trk", h.both_refuse("x.trk")),
        ("a header that was cut off", "trk(); cut('x.trk', 500 + os.path.getsize('x.trk') - 1000)", "x.trk", h.both_refuse("x.trk")),
    ])
    rows += group("nibabel TRK", "python: trk(data={})", "glslines convert x.trk mine.trk{}", [
        (name, data, "", columns()) for name, data in (
            ("a column of streamlines", "dict(data_per_streamline={'pair': PAIR})"),
            ("a column of points", "dict(data_per_point={'fa': SCALARS})"),
            ("colours of points", "dict(data_per_point={'colour': COLOURS})"),
            ("several columns", "dict(data_per_streamline={'pair': PAIR, 'one': PAIR[:, :1]}, data_per_point={'fa': SCALARS, 'colour': COLOURS})"),
            ("ten columns of points", "dict(data_per_point={f's{i}': SCALARS for i in range(10)})"),
            ("a name of 18 letters", "dict(data_per_streamline={'abcdefghijklmnopqr': PAIR})"),
        )])
    rows += read("nibabel TCK", [
        ("streamlines of some points", "tck()", "x.tck"),
        ("an empty file", "tck(lines=[])", "x.tck"),
        ("one-point streamlines", "tck(lines=[line[:1] for line in LINES])", "x.tck"),
        ("keys of the header", "tck(a_key='a value of words', other='1 2 3')", "x.tck"),
        *[(f"type {kind}", f"raw_tck('x.tck', '{kind}')", "x.tck") for kind in ("Float32LE", "Float32BE")],
        *[(f"type {kind}", f"raw_tck('x.tck', '{kind}')", "x.tck", h.they_refuse(as_made), "float64") for kind in ("Float64LE", "Float64BE")],
        ("no count", "raw_tck('x.tck', 'Float32LE', count=False)", "x.tck"),
        ("a wrong count", "raw_tck('x.tck', 'Float32LE', count=False, extra='count: 99')", "x.tck"),
        ("line ends of Windows", "raw_tck('x.tck', 'Float32LE', end='\\r\\n')", "x.tck", h.lines(0, np.inf)),
        ("no end", "raw_tck('x.tck', 'Float32LE', finish=False)", "x.tck", h.they_refuse(as_made), "cut-off"),
        ("a file that was cut off", "tck(); cut('x.tck', 20)", "x.tck", h.both_refuse("x.tck")),
    ])
    write = "python: tck(); nib.streamlines.save(nib.streamlines.load('x.tck').tractogram, 'theirs.{}', **({{'header': trk_header()}} if '{}' == 'trk' else {{}}))"
    for suffix in ("trk", "tck"):
        rows.append(Row(f"nibabel {suffix.upper()}", "what we write", write.format(suffix, suffix), f"glslines convert x.tck mine.{suffix} --reference mask.nii", h.lines(2e-5), None))
    return rows


def trx_files():
    kinds = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
    rows = read("trx-python", [
        ("positions of float32", "trx()", "x.trx"),
        ("positions of float16", "trx(positions='float16')", "x.trx"),
        ("positions of float64", "trx(positions='float64')", "x.trx"),
        ("offsets of uint64", "trx(offsets='uint64')", "x.trx"),
        ("packed", "trx(compressed=True)", "x.trx"),
        ("a folder", "trx(folder=True)", "folder.trx"),
        ("an oblique grid", "trx(grid='oblique.nii')", "x.trx"),
        ("one-point streamlines", "trx(lines=[line[:1] for line in LINES])", "x.trx"),
        ("an empty file", "trx(lines=[])", "x.trx"),
    ])
    cases = [(f"columns of {kind}", f"dps={{'v': np.abs(PAIR * 20).astype('{kind}')}}, dpv={{'w': [np.abs(v * 20).astype('{kind}') for v in SCALARS]}}") for kind in kinds]
    cases += [
        ("columns of three numbers", "dps={'v': np.tile(PAIR[:, :1], (1, 3))}, dpv={'c': COLOURS}"),
        ("groups", "groups={'left': [0, 2, 5], 'right': [1, 3]}"),
        ("a group of nothing and one of all", "groups={'none': [], 'all': range(7)}"),
        ("groups that overlap, and columns", "groups={'a': [0, 1, 2], 'b': [2, 3, 4]}, dps={'w': PAIR[:, :1]}, dpv={'s': SCALARS}"),
        ("columns of an empty file", "lines=[], dps={'w': np.zeros((0, 1), 'float32')}"),
    ]
    rows += group("trx-python", "python: trx({})", "glslines convert x.trx mine.trx{}", [(name, words, "", whole) for name, words in cases])
    join = "trx('a.trx', {0}); trx('b.trx', {0}, lines=LINES[::-1])"
    rows += group("trx-python", "python: " + join.format("{0}") + "; trxmap.save(trxmap.concatenate([trxmap.load('a.trx'), trxmap.load('b.trx')], preallocation=False), 'x.trx')",
                  "glslines edit a.trx b.trx mine.trx{}", [("two files joined", "dps={'w': PAIR}", "", whole)])
    return rows + group("trx-python", "python: trx(dps={{'w': PAIR}}, groups={{'g': [1, 4]}}); trxmap.save(trxmap.load('x.trx').select(np.array([{0}])), 'theirs.trx')",
                        "printf '{0}' > ids.txt && glslines edit x.trx mine.trx --ids ids.txt", [
        ("some streamlines by number", "1, 2, 5", "1\\n2\\n5\\n", h.lines(0)),
    ])


def dipy():
    few = "lines = nib.streamlines.load('lines.tck').streamlines; image = nib.load('{}'); at = image.affine; volume = np.asarray(image.dataobj, float); "
    fa, mask = few.format("fa.nii"), few.format("a.nii")
    lines = h.lines(3e-5)
    rows = [
        ("density_map", "python: " + fa + "nib.save(nib.Nifti1Image(density_map(lines, at, volume.shape).astype(np.float32), at), 'theirs.nii')", "glslines density lines.tck mine.nii --template fa.nii --like dipy", h.image(0)),
        ("density_map of an oblique grid", "python: " + few.format("fa_oblique.nii") + "keep = [l for l in lines if np.all((v := nib.affines.apply_affine(np.linalg.inv(at), l)) > -0.5) and np.all(v < np.array(volume.shape) - 0.5)]; save_lines(keep, 'k.tck'); "
         "nib.save(nib.Nifti1Image(density_map(keep, at, volume.shape).astype(np.float32), at), 'theirs.nii')",
         "glslines density k.tck mine.nii --template fa_oblique.nii --like dipy", h.image(0)),
        ("connectivity_matrix", "python: " + few.format("labels.nii") + "np.savetxt('theirs.csv', connectivity_matrix(lines, at, volume.astype(int))[1:, 1:], '%d', ',')", "glslines connectome lines.tck labels.nii mine.csv --assign end --labels raw --symmetric", h.text(0)),
        ("connectivity_matrix of whole streamlines", "python: " + few.format("labels.nii") + "np.savetxt('theirs.csv', np.minimum(1, connectivity_matrix(lines, at, volume.astype(int), inclusive=True)[1:, 1:]), '%d', ',')",
         "glslines connectome lines.tck labels.nii m.csv --assign all --roi-test vertex --labels raw --symmetric --zero-diagonal && tr ',' '\\n' < m.csv > mine.csv", met),
        ("target", "python: " + mask + "save_lines(target(lines, at, volume > 0))", "glslines edit lines.tck mine.tck --include a.nii --like dipy", lines),
        ("target that excludes", "python: " + mask + "save_lines(target(lines, at, volume > 0, include=False))", "glslines edit lines.tck mine.tck --exclude a.nii --like dipy", lines),
        ("target_line_based", "python: " + mask + "save_lines(target_line_based([np.array(l) for l in lines], at, volume > 0))", "glslines edit lines.tck mine.tck --include a.nii", lines),
        ("target_line_based that excludes", "python: " + mask + "save_lines(target_line_based([np.array(l) for l in lines], at, volume > 0, include=False))", "glslines edit lines.tck mine.tck --exclude a.nii", lines),
        ("set_number_of_points", "python: " + fa + "save_lines(set_number_of_points(lines, 17))", "glslines edit lines.tck mine.tck --points 17", lines),
        ("set_number_of_points of more", "python: " + fa + "save_lines(set_number_of_points(lines[:200], 150))", "glslines edit lines.tck mine.tck --number 200 --points 150", lines),
        ("length", "python: " + fa + "np.savetxt('theirs.txt', length(Streamlines(lines)))", "glslines stats lines.tck --dump mine.txt", h.text(1e-6)),
        ("compress_streamlines", "python: " + fa + "save_lines(compress_streamlines(Streamlines(lines), tol_error=0.1, max_segment_length=10))", "glslines edit lines.tck mine.tck --compress 0.1", lines),
        ("compress_streamlines, more", "python: " + fa + "save_lines(compress_streamlines(Streamlines(lines), tol_error=0.5, max_segment_length=5))", "glslines edit lines.tck mine.tck --compress 0.5 --max-segment 5", lines),
        ("orient_by_streamline", "python: " + fa + "save_lines(orient_by_streamline(Streamlines(lines), lines[5]))", "tckedit lines.tck one_line.tck -skip 5 -number 1 && glslines edit lines.tck mine.tck --orient one_line.tck", lines),
        ("transform_streamlines", "python: " + fa + "save_lines(transform_streamlines(lines, np.loadtxt('turn.txt')))", "glslines edit lines.tck mine.tck --transform turn.txt --invalid keep", lines),
        ("values_from_volume", "python: " + fa + "np.savetxt('theirs.txt', [np.mean(v) for v in values_from_volume(volume, lines, at)])", "glslines sample lines.tck fa.nii --like dipy -o mine.txt", h.text(1e-6)),
        ("winding", "python: " + fa + "save_lines([l for l in lines if winding(l) <= 200])", "glslines edit lines.tck mine.tck --max-winding 200", h.lines(3e-5, np.inf), "winding"),
        ("save_tractogram as TRK", "python: " + fa + "save_tractogram(StatefulTractogram(lines, image, Space.RASMM), 'x.trk', bbox_valid_check=False); save_lines(load_tractogram('x.trk', 'same', bbox_valid_check=False).streamlines)",
         "glslines convert lines.tck y.trk --reference fa.nii && glslines convert y.trk mine.tck", h.lines(3e-5)),
        ("save_tractogram as TRX", "python: " + fa + "save_tractogram(StatefulTractogram(lines, image, Space.RASMM), 'x.trx', bbox_valid_check=False); save_lines(load_tractogram('x.trx', 'same', bbox_valid_check=False).streamlines)",
         "glslines convert x.trx mine.tck", h.lines(3e-5)),
        ("afq_profile", "python: " + fa + "b = orient_by_streamline(Streamlines(lines[:40]), lines[0]); np.savetxt('theirs.txt', afq_profile(volume, b, at, weights=gaussian_weights))",
         "tckedit lines.tck b.tck -number 40 && tckedit lines.tck o.tck -number 1 && glslines profile b.tck fa.nii --like dipy --orient o.tck -o m.csv && cut -d, -f$(head -n 1 m.csv | tr ',' '\\n' | grep -n '^fa$' | cut -d: -f1) m.csv | tail -n +2 > mine.txt", h.text(1e-5)),
    ]
    return [Row("DIPY", name, theirs, ours, how, reason[0] if reason else None) for name, theirs, ours, how, *reason in rows]


def met(trial):
    """Compares which regions are joined at all. DIPY's diagonal counts only streamlines within one region."""
    theirs = np.array(h.numbers("theirs.csv"))
    mine = np.minimum(1, np.ravel(h.numbers("mine.csv"))).reshape(theirs.shape)
    off = np.count_nonzero((mine != theirs)[~np.eye(len(mine), dtype=bool)])
    return "agree" if off == 0 and theirs.sum() > 50 else "fail", f"{off} cells of {theirs.size} differ"


def rows():
    return [*nibabel_files(), *trx_files(), *dipy()]
