#!/usr/bin/env python3
"""Checks that other programs read our tractograms and images as meant: nibabel, trx-python, MRtrix3's tckinfo and niivue.

usage: readers.py PEER_WRITE_TRACTOGRAM WORK_DIR [NODE_MODULES]

NODE_MODULES is the folder in which npm has put @niivue/niivue; without it niivue is left out. One line per check; exits with 1 if one fails.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap

import affines
from checks import outcome, report

TOLERANCE = 1e-4  # mm


def grids():
    oblique = affines.rotation([12, -17, 23]) @ np.diag([-1, -1, 1]) @ np.diag([1.7, 2.0, 3.1])
    permuted = np.array([[0, 0, 2.5], [-1.5, 0, 0], [0, 2.0, 0]])
    return {
        "RAS": ((81, 106, 76), affines.affine(np.diag([2, 2, 2]), (-80, -110, -60))),
        "LAS": ((81, 106, 76), affines.affine(np.diag([-2, 2, 2]), (80.25, -110, -60))),
        "oblique": ((91, 109, 61), affines.affine(oblique, (70.1, 95.7, -52.3))),
        "permuted": ((90, 70, 64), affines.affine(permuted, (-78.5, 66.25, -70))),
    }


def make_lines(dim, n):
    rng = np.random.default_rng(5)
    counts = [5, 1, 9] + list(rng.integers(1, 60, n - 3)) if n else []
    return [rng.uniform(-0.4, np.array(dim) - 0.6, (c, 3)) for c in counts]


def write(tool, work, name, dim, affine, lines, suffix, half=False):
    spec, out = os.path.join(work, name + ".txt"), os.path.join(work, name + suffix)
    with open(spec, "w") as f:
        print(*dim, *affine[:3].ravel().tolist(), len(lines), file=f)
        for line in lines:
            print(len(line), *line.ravel().tolist(), file=f)
    subprocess.run([tool, "lines", spec, out] + (["half"] if half else []), check=True)
    return out


def compare(name, lines, truth, tolerance=TOLERANCE):
    if len(lines) != len(truth) or any(len(a) != len(b) for a, b in zip(lines, truth)):
        report(name, False, f"{len(lines)} streamlines of other lengths, {len(truth)} expected")
        return
    worst = max(np.abs(np.asarray(a, float) - b).max() for a, b in zip(lines, truth))
    report(name, worst <= tolerance, f"{len(lines)} streamlines, largest difference {worst:.2g} mm")


def check_values(name, values, truth, tolerance=0.0):
    values, truth = np.asarray(values, float), np.asarray(truth, float)
    same = values.size == truth.size
    worst = np.abs(values.ravel() - truth.ravel()).max(initial=0) if same else np.inf
    report(name, same and worst <= tolerance, f"{values.size} values, largest difference {worst:.2g}")


def read_niivue(modules, path):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "niivue_read.mjs")
    run = subprocess.run(["node", script, modules, path], check=True, stdout=subprocess.PIPE, text=True)
    data = json.loads(run.stdout.strip().splitlines()[-1])
    points, first = np.reshape(data["pts"], (-1, 3)), data["offsets"]
    lines = [points[a:b] for a, b in zip(first, first[1:])]
    while lines and len(lines[-1]) == 0:  # niivue closes the offsets of a TRX file once more
        lines.pop()
    return lines, data["dps"]


def check_trx(tool, work, name, dim, affine, voxel, truth, modules, seeds, index):
    path = write(tool, work, name, dim, affine, voxel, ".trx")
    t = trxmap.load(path)
    compare(f"{name} trx trx-python", list(t.streamlines), truth)
    check_values(f"{name} trx trx-python affine", t.header["VOXEL_TO_RASMM"], affine, 1e-5)
    check_values(f"{name} trx trx-python dimensions", t.header["DIMENSIONS"], dim)
    check_values(f"{name} trx trx-python seeds", t.data_per_streamline["seeds"], seeds, TOLERANCE)
    check_values(f"{name} trx trx-python seed_index", t.data_per_streamline["seed_index"], index)
    t.close()
    with zipfile.ZipFile(path) as z:
        bad = z.testzip()
        report(f"{name} trx checksums", bad is None, f"{len(z.namelist())} entries: {' '.join(z.namelist())}" if bad is None else f"{bad} is damaged")
    if modules:
        lines, dps = read_niivue(modules, path)
        compare(f"{name} trx niivue", lines, truth)
        check_values(f"{name} trx niivue seed_index", dps["seed_index"], index)
    half_path = write(tool, work, name + "_half", dim, affine, voxel, ".trx", half=True)
    half = trxmap.load(half_path)
    expected = [np.asarray(line, np.float32).astype(np.float16).astype(float) for line in truth]
    # the writer rounds float positions, this script rounds doubles: they differ by one unit in the last place at most
    compare(f"{name} trx float16", list(half.streamlines), expected, 0.125)
    report(f"{name} trx float16 type", half.streamlines._data.dtype == np.float16, str(half.streamlines._data.dtype))
    half.close()
    if modules:
        compare(f"{name} trx float16 niivue", read_niivue(modules, half_path)[0], expected, 0.125)


def check_trk(tool, work, name, dim, affine, voxel, truth, modules, seeds, index):
    path = write(tool, work, name, dim, affine, voxel, ".trk")
    t = nib.streamlines.load(path)
    compare(f"{name} trk nibabel", list(t.streamlines), truth)
    h = t.header
    codes = "".join(nib.aff2axcodes(affine))
    report(f"{name} trk voxel order", h["voxel_order"].decode() == codes, f"{h['voxel_order'].decode()}, {codes} expected")
    check_values(f"{name} trk affine", h["voxel_to_rasmm"], affine, 1e-5)
    check_values(f"{name} trk dimensions", h["dimensions"], dim)
    report(f"{name} trk count", h["nb_streamlines"] == len(truth), str(h["nb_streamlines"]))
    if len(truth):
        check_values(f"{name} trk nibabel seeds", t.tractogram.data_per_streamline["seeds"], seeds, TOLERANCE)
        check_values(f"{name} trk nibabel seed_index", t.tractogram.data_per_streamline["seed_index"], index)
    if modules and len(truth):
        compare(f"{name} trk niivue", read_niivue(modules, path)[0], truth)


def check_tck(tool, work, name, dim, affine, voxel, truth):
    path = write(tool, work, name, dim, affine, voxel, ".tck")
    t = nib.streamlines.load(path)
    compare(f"{name} tck nibabel", list(t.streamlines), truth) if truth else report(f"{name} tck nibabel", len(t.streamlines) == 0, "0 streamlines")
    if shutil.which("tckinfo"):
        text = subprocess.run(["tckinfo", "-count", "-quiet", path], check=True, stdout=subprocess.PIPE, text=True).stdout
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        actual = text.split("actual count in file:")[1].split()[0]
        ok = int(actual) == len(truth) and int(fields["    count"]) == len(truth) and fields["    method"].strip() == "test"
        report(f"{name} tck tckinfo", ok, f"{actual} streamlines, header {fields['    count'].strip()}")
    if shutil.which("tckconvert") and truth:
        # MRtrix3 rewrites the file, which shows what it has understood
        out = os.path.join(work, name + "_mrtrix.tck")
        subprocess.run(["tckconvert", "-quiet", "-force", path, out], check=True)
        compare(f"{name} tck tckconvert", list(nib.streamlines.load(out).streamlines), truth)


def check_empty(tool, work):
    dim, affine = grids()["LAS"]
    t = trxmap.load(write(tool, work, "empty", dim, affine, [], ".trx"))
    report("empty trx trx-python", len(t.streamlines) == 0, f"{len(t.streamlines)} streamlines")
    t.close()
    t = nib.streamlines.load(write(tool, work, "empty", dim, affine, [], ".trk"))
    report("empty trk nibabel", len(t.streamlines) == 0, f"{len(t.streamlines)} streamlines")
    check_tck(tool, work, "empty", dim, affine, [], [])


def check_images(tool, work):
    rng = np.random.default_rng(6)
    dim, affine = grids()["oblique"]
    shape = (21, 19, 17, 5)
    for dtype in ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"):
        for order, suffix, kind in (("<", ".nii.gz", nib.Nifti1Image), (">", ".nii", nib.Nifti1Image), ("<", ".nii", nib.Nifti2Image), (">", ".hdr", nib.Nifti1Pair)):
            source, out = os.path.join(work, f"in_{dtype}{suffix}"), os.path.join(work, f"out_{dtype}.nii.gz")
            data = rng.normal(0, 50, shape).astype(dtype) if "float" in dtype else rng.integers(0, 100, shape).astype(dtype)
            header = kind.header_class(endianness=order)
            image = kind(data, affine, header)
            image.set_data_dtype(np.dtype(dtype))
            image.header.set_slope_inter(0.5, 3.0)
            nib.save(image, source)
            subprocess.run([tool, "copy", source, out, "float32"], check=True)
            truth, result = nib.load(source), nib.load(out)
            same = result.shape == shape and np.allclose(result.get_fdata(), truth.get_fdata(), rtol=1e-6, atol=1e-6)
            apart = np.abs(result.affine - truth.affine).max()
            report(f"image {dtype} {order}{suffix} {kind.__name__}", same and apart < 1e-5, f"affines {apart:.2g} apart")
    for dtype in ("int16", "uint8"):
        for suffix in (".nii", ".nii.gz"):
            source, out = os.path.join(work, "in.nii.gz"), os.path.join(work, f"out_{dtype}{suffix}")
            data = (rng.normal(0, 30000, (180, 190, 40)) if dtype == "int16" else rng.normal(100, 100, (180, 190, 40))).astype(np.float32)
            nib.save(nib.Nifti1Image(data, affine), source)
            subprocess.run([tool, "copy", source, out, dtype], check=True)
            limits = np.iinfo(dtype)
            result = nib.load(out)
            expected = np.clip(np.rint(data), limits.min, limits.max)
            apart = max(np.abs(result.affine - affine).max(), np.abs(result.get_qform() - affine).max())
            report(f"image written as {dtype}{suffix}", np.array_equal(result.get_fdata(), expected) and apart < 1e-4, f"sform and qform within {apart:.2g}")
            if suffix == ".nii.gz":
                with gzip.open(out) as f:
                    report(f"gzip {dtype}", len(f.read()) == 352 + data.size * limits.bits // 8, "one member, checksum right")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    tool, work = sys.argv[1], sys.argv[2]
    modules = sys.argv[3] if len(sys.argv) > 3 else None
    if not modules:
        print("note: niivue is left out")
    os.makedirs(work, exist_ok=True)
    for name, (dim, affine) in grids().items():
        voxel = make_lines(dim, 3000)
        truth = [line @ affine[:3, :3].T + affine[:3, 3] for line in voxel]
        seeds, index = np.array([line[0] for line in truth]), 10.0 * np.arange(len(truth))
        check_trx(tool, work, name, dim, affine, voxel, truth, modules, seeds, index)
        check_trk(tool, work, name, dim, affine, voxel, truth, modules, seeds, index)
        check_tck(tool, work, name, dim, affine, voxel, truth)
    check_empty(tool, work)
    check_images(tool, work)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
