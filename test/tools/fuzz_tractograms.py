#!/usr/bin/env python3
"""Writes the small tractograms of test/fuzz/corpus/tractogram: each format in its variants, by nibabel and by hand.

usage: fuzz_tractograms.py FOLDER
"""
import io
import json
import os
import struct
import sys
import zipfile

import nibabel as nib
import numpy as np

rng = np.random.default_rng(1)
LINES = [rng.normal(0, 20, (n, 3)).astype(np.float32) for n in (3, 1, 4)]
POINTS = np.concatenate(LINES)
AFFINE = np.array([[-2, 0, 0, 8], [0, 2, 0, -7], [0, 0, 2, -6], [0, 0, 0, 1.0]])


def trx(offsets="uint32", positions="float32", method=zipfile.ZIP_STORED, sentinel=True, extra=()):
    header = {"VOXEL_TO_RASMM": AFFINE.tolist(), "DIMENSIONS": [10, 11, 12], "NB_STREAMLINES": 3, "NB_VERTICES": len(POINTS), "COMMENT": "by hand"}
    starts = np.cumsum([0] + [len(line) for line in LINES])[: None if sentinel else -1]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in [("header.json", json.dumps(header).encode()), (f"positions.3.{positions}", POINTS.astype(positions).tobytes()),
                           (f"offsets.{offsets}", starts.astype(offsets).tobytes()), *extra]:
            z.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def trk(order="<", scalars=False):
    t = nib.streamlines.Tractogram([line + 30 for line in LINES], affine_to_rasmm=np.eye(4))
    if scalars:
        t.data_per_point["fa"] = [np.arange(len(line), dtype=np.float32)[:, None] for line in LINES]
        t.data_per_point["rgb"] = [np.ones((len(line), 3), np.float32) for line in LINES]
        t.data_per_streamline["w"] = np.arange(6, dtype=np.float32).reshape(3, 2)
    out = io.BytesIO()
    header = {"voxel_sizes": np.full(3, 2, np.float32), "dimensions": np.array([10, 11, 12], np.int16), "voxel_to_rasmm": AFFINE.astype(np.float32), "voxel_order": "LAS"}
    nib.streamlines.TrkFile(t, header).save(out)
    data = bytearray(out.getvalue())
    if order == ">":
        dtype = nib.streamlines.trk.header_2_dtype
        data[:1000] = np.frombuffer(bytes(data[:1000]), dtype).byteswap().tobytes()
        data[1000:] = np.frombuffer(bytes(data[1000:]), "<u4").byteswap().tobytes()
    return bytes(data)


def tck(dtype="<f4", name="Float32LE", end=True, start=128):
    head = f"mrtrix tracks\ncount: 0000000003\nroi: seed a.mif\nroi: include b.mif\ndatatype: {name}\nfile: . {start}\nEND\n".encode()
    nan, inf = np.full((1, 3), np.nan), np.full((1, 3), np.inf)
    data = np.concatenate([part for line in LINES for part in (line, nan)] + [inf] * end).astype(dtype)
    return head.ljust(start, b"\0") + data.tobytes()


def vtk_ascii():
    index, cells = 0, []
    for line in LINES:
        cells.append(" ".join(map(str, [len(line), *range(index, index + len(line))])))
        index += len(line)
    return ("# vtk DataFile Version 3.0\nby hand SPACE=RAS\nASCII\nDATASET POLYDATA\n" f"POINTS {len(POINTS)} float\n" + "\n".join(" ".join(f"{x:.6g}" for x in p) for p in POINTS)
            + f"\nLINES 3 {3 + len(POINTS)}\n" + "\n".join(cells) + f"\nPOINT_DATA {len(POINTS)}\nSCALARS fa float 1\nLOOKUP_TABLE default\n" + " ".join(map(str, range(len(POINTS))))
            + "\nCELL_DATA 3\nFIELD FieldData 1\nw%20x 2 3 int\n1 2 3 4 5 6\n").encode()


def vtk_binary(version="4.2"):
    starts = np.cumsum([0] + [len(line) for line in LINES])
    out = f"# vtk DataFile Version {version}\nby hand SPACE=LPS\nBINARY\nDATASET POLYDATA\nPOINTS {len(POINTS)} double\n".encode() + POINTS.astype(">f8").tobytes()
    if version[0] == "5":
        out += f"\nMETADATA\nINFORMATION 0\n\nLINES 4 {len(POINTS)}\nOFFSETS vtktypeint64\n".encode() + starts.astype(">i8").tobytes()
        out += b"\nCONNECTIVITY vtktypeint64\n" + np.arange(len(POINTS)).astype(">i8").tobytes()
    else:
        cells = np.concatenate([np.concatenate([[b - a], np.arange(a, b)]) for a, b in zip(starts, starts[1:])])
        out += f"\nLINES 3 {len(cells)}\n".encode() + cells.astype(">i4").tobytes()
    return out + b"\nCELL_DATA 3\nSCALARS w unsigned_char 1\nLOOKUP_TABLE default\n\1\2\3\n"


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    n = len(POINTS)
    extra = [("dps/w.float64", np.arange(3.0).tobytes()), ("dps/rgb.3.uint8", bytes(9)), ("dpv/fa.float16", np.zeros(n, np.float16).tobytes()), ("dpv/flag.bit", bytes(n)),
             ("groups/a.uint32", struct.pack("<2I", 2, 0)), ("groups/b.int32", b""), ("dpg/a/mean.2.int16", bytes(4))]
    v1 = bytearray(trk())
    v1[440:504], v1[948:952], v1[992:996] = bytes(64), bytes(4), struct.pack("<i", 1)
    count0 = bytearray(trk())
    count0[988:992] = bytes(4)
    turned = bytearray(trk())
    turned[948:952] = b"SPR\0"
    files = {
        "plain.trx": trx(), "wide.trx": trx("uint64", "float64", sentinel=False), "packed.trx": trx("uint32", "float16", zipfile.ZIP_DEFLATED, extra=extra), "columns.trx": trx(extra=extra),
        "plain.trk": trk(), "big.trk": trk(">", True), "values.trk": trk("<", True), "v1.trk": bytes(v1), "count0.trk": bytes(count0), "turned.trk": bytes(turned),
        "plain.tck": tck(), "big.tck": tck(">f4", "Float32BE"), "wide.tck": tck(">f8", "Float64BE"), "open.tck": tck(end=False), "cut.tck": tck()[:-20],
        "ascii.vtk": vtk_ascii(), "v42.vtk": vtk_binary(), "v51.vtk": vtk_binary("5.1"),
    }
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
