#!/usr/bin/env python3
"""Checks that tractograms of other programs are read as they mean them (nibabel, trx-python, MRtrix3's tckconvert, DIPY), and filters against DIPY.

usage: tractograms.py PEER_READ_TRACTOGRAM WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap
from dipy.tracking.streamline import set_number_of_points
from dipy.tracking.streamlinespeed import compress_streamlines

from checks import outcome, report

TOLERANCE = 1e-4  # mm; nibabel moves points by float32 matrices
DIM, AFFINE = (91, 109, 61), np.array([[-1.62, 0.3, 0.4, 80.1], [0.35, 1.9, -0.5, -95.7], [0.4, 0.5, 3.0, -52.3], [0, 0, 0, 1.0]])
tool, work = None, None


def make_lines(n, seed=5):
    rng = np.random.default_rng(seed)
    counts = [5, 1, 9] + list(rng.integers(2, 60, n - 3))
    lines = []
    for c in counts:
        turn = np.cumsum(rng.normal(0, 0.08, (c, 3)), axis=0) + rng.normal(0, 1, 3)
        steps = turn / np.linalg.norm(turn, axis=1)[:, None] * rng.uniform(0.4, 1.2, (c, 1))
        lines.append((np.cumsum(steps, axis=0) + rng.uniform(-40, 40, 3)).astype(np.float32))
    return lines


class Read:
    """Returns the content of a file as the library has understood it."""

    def __init__(self, path, *options):
        folder = os.path.join(work, "dump")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        run = subprocess.run([tool, path, folder, *map(str, options)], stdout=subprocess.PIPE, text=True, errors="replace")
        self.text, self.ok = run.stdout, run.returncode == 0
        self.dps, self.dpv, self.group, self.dpg, self.lines, self.header = {}, {}, {}, {}, [], ""
        if not self.ok:
            return
        offset = np.fromfile(os.path.join(folder, "offset.uint64"), np.uint64).astype(int)
        point = np.fromfile(os.path.join(folder, "point.float32"), np.float32).reshape(-1, 3)
        self.lines = [point[a:b] for a, b in zip(offset, offset[1:])]
        for name in os.listdir(folder):
            if name == "header.txt":
                self.header = open(os.path.join(folder, name), errors="replace").read()
            pieces = name.split(".")
            if len(pieces) < 4:
                continue
            kind, column, n, dtype = pieces[0], ".".join(pieces[1:-2]), int(pieces[-2]), pieces[-1]
            data = np.fromfile(os.path.join(folder, name), np.dtype(dtype)).reshape(-1, n)
            getattr(self, kind.split("-")[0])[column if kind[:4] != "dpg-" else kind[4:] + "/" + column] = data


def compare(name, got, truth, tolerance=TOLERANCE):
    if not got.ok or len(got.lines) != len(truth) or any(len(a) != len(b) for a, b in zip(got.lines, truth)):
        report(name, False, f"{len(got.lines)} streamlines or points of others, {len(truth)} expected. {got.text.strip()}")
        return
    worst = max((np.abs(np.asarray(a, float) - b).max() for a, b in zip(got.lines, truth) if len(a)), default=0)
    report(name, worst <= tolerance, f"{len(truth)} streamlines, largest difference {worst:.2g} mm")


def same(name, columns, key, truth, dtype=None):
    got = columns.get(key)
    truth = np.asarray(truth)
    ok = got is not None and got.size == truth.size and np.array_equal(got.ravel(), truth.ravel()) and (dtype is None or got.dtype == dtype)
    report(name, ok, "" if ok else f"{key} in {sorted(columns)}")


def check_trx(lines):
    dtypes = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bool"]
    reference = nib.Nifti1Image(np.zeros(DIM, np.uint8), AFFINE)
    rng = np.random.default_rng(7)
    for positions in ("float16", "float32", "float64"):
        t = trxmap.TrxFile(nb_vertices=sum(map(len, lines)), nb_streamlines=len(lines), reference=reference)
        offsets = np.cumsum([0] + [len(line) for line in lines])
        t.streamlines._data = np.concatenate(lines).astype(positions)
        t.streamlines._offsets = offsets[:-1].astype(np.uint32)
        t.streamlines._lengths = np.diff(offsets).astype(np.uint32)
        dps = {d: rng.integers(0, 2 if d == "bool" else 100, (len(lines), 1 + i % 3)).astype(d) for i, d in enumerate(dtypes)}
        dpv = {d: rng.integers(0, 2 if d == "bool" else 100, (offsets[-1], 1 + i % 2)).astype(d) for i, d in enumerate(dtypes)}
        t.data_per_streamline.update({"s_" + d: v for d, v in dps.items()})
        for d, v in dpv.items():
            t.data_per_vertex["v_" + d] = nib.streamlines.ArraySequence()
            t.data_per_vertex["v_" + d]._data, t.data_per_vertex["v_" + d]._offsets, t.data_per_vertex["v_" + d]._lengths = v, t.streamlines._offsets, t.streamlines._lengths
        members = {"AF_L": rng.permutation(len(lines))[:100].astype(np.uint32), "CST_R": np.arange(3, 40, dtype=np.uint32)}
        t.groups.update(members)
        t.data_per_group["AF_L"] = {"mean": np.array([[1.5, 2.5]], np.float32)}
        truth = [line.astype(positions).astype(float) for line in lines]
        for kind in ("stored", "deflated", "folder"):
            path = os.path.join(work, f"{positions}_{kind}" + ("" if kind == "folder" else ".trx"))
            if os.path.isdir(path):
                shutil.rmtree(path)
            import zipfile
            trxmap.save(t, path, **({} if kind == "folder" else {"compression_standard": zipfile.ZIP_DEFLATED if kind == "deflated" else zipfile.ZIP_STORED}))
            got = Read(path)
            name = f"trx {positions} {kind}"
            compare(name, got, truth)
            for d in dtypes:
                same(f"{name} dps {d}", got.dps, "s_" + d, dps[d], np.dtype(d))
                same(f"{name} dpv {d}", got.dpv, "v_" + d, dpv[d], np.dtype(d))
            for group, ids in members.items():
                flags = np.zeros(len(lines), bool)
                flags[ids] = True
                same(f"{name} group {group}", got.group, group, flags)
            same(f"{name} dpg", got.dpg, "AF_L/mean", [1.5, 2.5])
        check_written(positions, path, t, dps, dpv, members, truth)


def check_written(positions, path, t, dps, dpv, members, truth):
    """Writes all columns and groups with our writers, and reads them with trx-python and nibabel."""
    name, out = f"{positions} written", os.path.join(work, "written")
    report(f"trx {name}", Read(path, "write", out + ".trx").ok)
    w = trxmap.load(out + ".trx")
    worst = max(np.abs(np.asarray(a, float) - b).max() for a, b in zip(w.streamlines, truth))
    report(f"trx {name} points", len(w.streamlines) == len(truth) and worst <= 1e-5, f"largest difference {worst:.2g} mm")
    for d, v in dps.items():
        same(f"trx {name} dps {d}", w.data_per_streamline, "s_" + d, v, np.dtype(d))
    for d, v in dpv.items():
        same(f"trx {name} dpv {d}", {k: a._data for k, a in w.data_per_vertex.items()}, "v_" + d, v, np.dtype(d))
    for group, ids in members.items():
        same(f"trx {name} group {group}", w.groups, group, np.sort(ids))
    same(f"trx {name} dpg", w.data_per_group["AF_L"], "mean", [1.5, 2.5])
    w.close()
    report(f"trk {name}", Read(path, "write", out + ".trk").ok)
    k = nib.streamlines.load(out + ".trk")
    worst = max(np.abs(np.asarray(a, float) - b).max() for a, b in zip(k.streamlines, truth))
    report(f"trk {name} points", len(k.streamlines) == len(truth) and worst <= TOLERANCE, f"largest difference {worst:.2g} mm")
    kept = sorted(k.tractogram.data_per_streamline.keys())
    report(f"trk {name} has ten names of each", len(kept) == 10 and len(k.tractogram.data_per_point) == 10)
    for key in kept:
        same(f"trk {name} property {key}", dict(k.tractogram.data_per_streamline), key, dps[key[2:]].astype(np.float32))
    for key, value in k.tractogram.data_per_point.items():
        same(f"trk {name} scalar {key}", {key: value.get_data()}, key, dpv[key[2:]].astype(np.float32))


def check_trk(lines):
    header = {"voxel_sizes": np.linalg.norm(AFFINE[:3, :3], axis=0).astype(np.float32), "dimensions": np.array(DIM, np.int16), "voxel_to_rasmm": AFFINE.astype(np.float32),
              "voxel_order": "".join(nib.aff2axcodes(AFFINE))}
    rng = np.random.default_rng(8)
    t = nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))
    t.data_per_streamline["w"] = rng.random((len(lines), 1)).astype(np.float32)
    t.data_per_streamline["seeds"] = rng.random((len(lines), 3)).astype(np.float32)
    t.data_per_point["fa"] = [rng.random((len(line), 1)).astype(np.float32) for line in lines]
    t.data_per_point["rgb"] = [rng.random((len(line), 3)).astype(np.float32) for line in lines]
    path = os.path.join(work, "values.trk")
    nib.streamlines.TrkFile(t, header).save(path)

    def check(name, path):
        read = nib.streamlines.load(path)
        got = Read(path)
        compare(name, got, [np.asarray(line, float) for line in read.streamlines])
        for key, value in read.tractogram.data_per_streamline.items():
            same(f"{name} property {key}", got.dps, key, np.asarray(value))
        for key, value in read.tractogram.data_per_point.items():
            same(f"{name} scalar {key}", got.dpv, key, value.get_data())
        return got

    check("trk little-endian", path)
    data = bytearray(open(path, "rb").read())
    big = bytearray(np.frombuffer(bytes(data[:1000]), nib.streamlines.trk.header_2_dtype).byteswap().tobytes()) + bytearray(np.frombuffer(bytes(data[1000:]), "<u4").byteswap().tobytes())
    variants = {"trk big-endian": big, "trk n_count 0": data[:988] + bytes(4) + data[992:], "trk no voxel order": data[:948] + bytes(4) + data[952:]}
    for order in ("RAS", "LPS", "RPI", "PSR", "ARS", "ILA"):
        variants["trk voxel order " + order] = data[:948] + order.encode() + bytes(1) + data[952:]
    for i, (name, content) in enumerate(variants.items()):
        path = os.path.join(work, f"variant{i}.trk")
        with open(path, "wb") as f:
            f.write(content)
        got = check(name, path)
        if "voxel order" in name:
            report(f"{name} is told", "contradicts its affine" in got.text)
    with open(path, "wb") as f:
        f.write(data[:440] + bytes(64) + data[504:992] + b"\1\0\0\0" + data[996:])
    got = Read(path)
    report("trk of version 1 needs a reference", not got.ok and "reference" in got.text, got.text.strip())


def check_tck(lines):
    path = os.path.join(work, "plain.tck")
    nib.streamlines.TckFile(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), {"method": "test"}).save(path)
    got = Read(path)
    compare("tck of nibabel", got, lines, 0)
    report("tck header", "method=test" in got.header)
    if shutil.which("tckconvert"):
        for suffix in (".tck", ".vtk"):
            out = os.path.join(work, "mrtrix" + suffix)
            subprocess.run(["tckconvert", "-quiet", "-force", path, out], check=True)
            compare(f"{suffix[1:]} of tckconvert", Read(out, *(["ras"] if suffix == ".vtk" else [])), lines, 0 if suffix == ".tck" else 1e-3)
    nan, inf = np.full((1, 3), np.nan), np.full((1, 3), np.inf)
    data = np.concatenate([part for line in lines for part in (line, nan)] + [inf])
    for dtype, name in (("<f4", "Float32LE"), (">f4", "Float32BE"), ("<f8", "Float64LE"), (">f8", "Float64BE")):
        head = f"mrtrix tracks\ncount: {len(lines)}\nroi: a\nroi: b\ndatatype: {name}\nfile: . 256\nEND\n".encode().ljust(256, b"\0")
        with open(path, "wb") as f:
            f.write(head + data.astype(dtype).tobytes())
        got = Read(path)
        compare(f"tck {name}", got, lines, 0)
        report(f"tck {name} header", "roi=a\nb\n" in got.header)
    with open(os.path.join(work, "far.dat"), "wb") as f:
        f.write(bytes(40) + data.astype("<f4").tobytes())
    with open(path, "wb") as f:
        f.write("mrtrix tracks\ncount: 1\ndatatype: Float32LE\nfile: far.dat 40\nEND\n".encode())
    got = Read(path)
    compare("tck with data in another file", got, lines, 0)
    report("tck with a wrong count is told", f"has {len(lines)} streamlines, but its header says 1" in got.text)


def check_vtk(lines):
    try:
        from dipy.io.vtk import save_vtk_streamlines
    except ImportError:
        print("note: vtk is not installed; DIPY's VTK files are left out")
        return
    for binary in (True, False):
        path = os.path.join(work, "dipy.vtk")
        try:
            save_vtk_streamlines(lines, path, to_lps=True, binary=binary)
        except Exception as e:  # DIPY needs the package vtk
            print(f"note: DIPY writes no VTK here: {e}")
            return
        compare(f"vtk of DIPY {'binary' if binary else 'ascii'}", Read(path, "lps"), lines, 1e-4)


def check_by_hand():
    """VTK of three versions as the format's description has them; tckconvert writes ASCII of version 1 only."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
    import fuzz_tractograms as made
    lps = [line * np.array([-1, -1, 1]) for line in made.LINES]
    for name, data, truth in (("ascii 3.0", made.vtk_ascii(), made.LINES), ("binary 4.2", made.vtk_binary(), lps), ("binary 5.1", made.vtk_binary("5.1"), lps)):
        path = os.path.join(work, "hand.vtk")
        with open(path, "wb") as f:
            f.write(data)
        got = Read(path)
        compare(f"vtk {name}", got, truth, 1e-3 if "ascii" in name else 0)
        if "ascii" in name:
            same(f"vtk {name} dpv", got.dpv, "fa", np.arange(8), np.float32)
            same(f"vtk {name} dps", got.dps, "w x", np.arange(1, 7), np.int32)
        else:
            same(f"vtk {name} dps", got.dps, "w", [1, 2, 3], np.uint8)


def check_filters(lines):
    path = os.path.join(work, "filters.tck")
    lines = [line for line in lines if len(line) > 1]
    nib.streamlines.TckFile(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))).save(path)
    for n in (2, 3, 12, 100):
        compare(f"points {n} against DIPY", Read(path, "points", n), set_number_of_points(lines, nb_points=n), 2e-5)
    for tolerance in (0.01, 0.1, 1.0):
        compare(f"compress {tolerance} against DIPY", Read(path, "compress", tolerance), compress_streamlines(lines, tol_error=tolerance, max_segment_length=10), 0)
    repeated = [np.repeat(line, 1 + i % 4, axis=0) for i, line in enumerate(lines)]
    nib.streamlines.TckFile(nib.streamlines.Tractogram(repeated, affine_to_rasmm=np.eye(4))).save(path)
    truth = compress_streamlines(repeated, tol_error=0.1, max_segment_length=10)
    compare("compress points that are repeated against DIPY", Read(path, "compress", 0.1), truth, 0)
    nib.streamlines.TckFile(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))).save(path)
    lengths = [np.linalg.norm(np.diff(line.astype(float), axis=0), axis=1).sum() for line in lines]
    compare("length", Read(path, "length", 20), [line for line, length in zip(lines, lengths) if length >= 20], 0)
    compare("every", Read(path, "every", 7), lines[::7], 0)
    expected = []
    for line, length in zip(lines, lengths):
        along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line.astype(float), axis=0), axis=1))])
        at = np.append(np.arange(0, length - 1e-6, 0.7), length)
        expected.append(np.stack([np.interp(at, along, line[:, a].astype(float)) for a in range(3)], axis=1))
    compare("step", Read(path, "step", 0.7), expected, 2e-5)


def main():
    global tool, work
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, work = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(work, exist_ok=True)
    lines = make_lines(2000)
    check_trx(lines)
    check_trk(lines)
    check_tck(lines)
    check_vtk(lines)
    check_by_hand()
    check_filters(lines)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
