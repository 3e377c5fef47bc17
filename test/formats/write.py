#!/usr/bin/env python3
"""Writes the files beside this script again: small ones of every format that glslines reads, by the programs that write
them. test/unit/formats.c reads them and knows the numbers in them.

usage: write.py          in an environment with nibabel, trx-python, DIPY, VTK, and with MRtrix3 in PATH

All images show one scene: the voxel (i, j, k) of volume t of AFFINE has the value 1 + i + 4 j + 20 k + 60 t, whatever
the order in which a file stores its axes. All tractograms hold the same three streamlines, see LINES.
"""

import os
import shutil
import subprocess
import tempfile

import nibabel as nib
import numpy as np
import vtk
from dipy.core.sphere import Sphere
from dipy.reconst.shm import sf_to_sh, sh_to_sf
from trx.trx_file_memmap import TrxFile, save
from vtk.util.numpy_support import numpy_to_vtk

here = os.path.dirname(os.path.abspath(__file__))
AFFINE = np.array([[-1.9, 0.2, 0.1, 20], [0.2, 1.9, -0.1, -15], [0.1, 0.1, 2.5, -7], [0, 0, 0, 1]])
SHAPE = (4, 5, 3)
VALUES = np.fromfunction(lambda i, j, k, t: 1 + i + 4 * j + 20 * k + 60 * t, SHAPE + (3,)).astype(np.int16)
# streamline s: 4 - s % 2 * 3 + s // 2 * 3 points; point p at (s + p / 4, 2 s - p / 2, p + 1 / 8)
LINES = [np.array([(s + p / 4, 2 * s - p / 2, p + 0.125) for p in range(n)], np.float32) for s, n in enumerate((4, 1, 7))]
# x y z b along the scanner axes: two without weighting, three directions of each of two shells
third = 3**-0.5
TABLE = [(0, 0, 0, 0), (1, 0, 0, 1000), (0, 1, 0, 1000), (0, 0, 1, 1000), (0, 0, 0, 0), (third, third, third, 2500), (0.6, 0.8, 0, 2500), (0, -0.6, 0.8, 2500)]
# an ODF in each of 2 x 1 x 1 voxels along these directions: 1 + (direction . axis)^2 + 4 (direction . axis)^4
golden = np.pi * (3 - 5**0.5)
DIRECTIONS = [(np.sqrt(1 - z * z) * np.cos(golden * n), np.sqrt(1 - z * z) * np.sin(golden * n), z) for n in range(60) for z in [(n + 0.5) / 60]]
AXES = np.array([(0.6, 0, 0.8), (0, 1, 0)])


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def keep(*names):
    for name in names:
        shutil.copy(name, here)


def images():
    nib.save(nib.Nifti1Image(VALUES, AFFINE), "source.nii")
    scaled = nib.Nifti1Image(2 * VALUES - 6, AFFINE)
    scaled.header.set_slope_inter(0.5, 3)
    scaled.set_qform(AFFINE, 1)
    scaled.set_sform(None, 0)
    nib.save(scaled, "nibabel_scaled_qform.nii")
    nib.save(nib.Nifti2Image(VALUES.astype(">f8"), AFFINE, nib.Nifti2Header(endianness=">")), "nibabel_2_big.nii.gz")
    nib.save(nib.Nifti1Pair(VALUES.astype(np.uint8), AFFINE), "nibabel_pair.img")
    keep("nibabel_scaled_qform.nii", "nibabel_2_big.nii.gz", "nibabel_pair.img", "nibabel_pair.hdr")
    for name, strides, datatype in (
        ("mrtrix.nii.gz", "-1,2,3,4", "float32le"),
        ("mrtrix_packed.nii", "2,3,1,4", "uint16be"),
        ("mrtrix.mif", "3,-1,-2,4", "float32le"),
        ("mrtrix_volumes_first.mif.gz", "2,3,4,1", "int16be"),
        ("mrtrix.mih", "-2,4,3,1", "float64le"),
    ):
        run("mrconvert", "-quiet", "-force", "source.nii", name, "-strides", strides, "-datatype", datatype)
        keep(name)
    keep("mrtrix.dat")
    run("mrthreshold", "-quiet", "-force", "source.nii", "-abs", "100", "mrtrix_bits.mif")
    keep("mrtrix_bits.mif")
    run("mrcalc", "-quiet", "-force", "source.nii", "30", "-div", "-floor", "-datatype", "uint32", "labels.mif")
    run("mrconvert", "-quiet", "-force", "labels.mif", "mrtrix_labels.mif", "-coord", "3", "0", "-axes", "0,1,2")
    keep("mrtrix_labels.mif")


def tissue():
    """Writes an image of tissues: grey matter of the cortex at i = 0, deep grey matter at 1, white matter at 2, CSF and
    pathology by halves at 3."""
    parts = np.zeros(SHAPE + (5,), np.float32)
    for i, volumes in enumerate(((0,), (1,), (2,), (3, 4))):
        parts[i, :, :, volumes] = 1 / len(volumes)
    nib.save(nib.Nifti1Image(parts, AFFINE), "parts.nii")
    run("mrconvert", "-quiet", "-force", "parts.nii", "parts.mif")
    run("5ttcheck", "-quiet", "parts.mif")
    run("mrconvert", "-quiet", "-force", "parts.mif", "mrtrix_5tt.mif", "-strides", "2,3,4,1", "-datatype", "float32le")
    keep("mrtrix_5tt.mif")


def tables():
    np.savetxt("table.b", TABLE, fmt="%.12f")
    nib.save(nib.Nifti1Image(np.resize(VALUES, SHAPE + (8,)), AFFINE), "series.nii")
    run("mrconvert", "-quiet", "-force", "series.nii", "-grad", "table.b", "mrtrix_scheme.mif", "-export_grad_mrtrix", "mrtrix.b",
        "-export_grad_fsl", "mrtrix.bvec", "mrtrix.bval", "-coord", "0", "0:1", "-datatype", "uint8")
    keep("mrtrix_scheme.mif", "mrtrix.b", "mrtrix.bvec", "mrtrix.bval")
    run("mrconvert", "-quiet", "-force", "mrtrix_scheme.mif", "mrtrix_scheme.nii.gz", "-json_export", "mrtrix_scheme.json")
    keep("mrtrix_scheme.json")


def responses():
    """Writes the signal of a fibre along x in all voxels, exp(-b (0.3e-3 + 1.4e-3 (g . x)^2)), and of a tissue without
    directions."""
    directions = [(x, y, z, b) for b in (1000, 2500) for x, y, z in DIRECTIONS]
    grad = np.array([(0, 0, 0, 0), (0, 0, 0, 0)] + directions)
    series = np.broadcast_to(900 * np.exp(-grad[:, 3] * (0.3e-3 + 1.4e-3 * grad[:, 0] ** 2)), (2, 2, 2, len(grad))).astype(np.float32)
    nib.save(nib.Nifti1Image(series, np.eye(4)), "fibres.nii")
    np.savetxt("fibres.b", grad, fmt="%.12f")
    run("mrconvert", "-quiet", "-force", "fibres.nii", "-grad", "fibres.b", "fibres.mif")
    along = np.zeros((2, 2, 2, 3), np.float32)
    along[..., 0] = 1
    nib.save(nib.Nifti1Image(along, np.eye(4)), "along.nii")
    nib.save(nib.Nifti1Image(np.ones((2, 2, 2), np.uint8), np.eye(4)), "mask.nii")
    for name, more in (("mrtrix_fibres.txt", ["-lmax", "0,8,8"]), ("mrtrix_isotropic.txt", ["-isotropic"])):
        run("amp2response", "-quiet", "-force", "fibres.mif", "mask.nii", "along.nii", name, *more)
        keep(name)


def harmonics():
    directions = np.array(DIRECTIONS)
    cosine = AXES @ directions.T
    amplitudes = (1 + cosine**2 + 4 * cosine**4).reshape(2, 1, 1, -1).astype(np.float32)
    nib.save(nib.Nifti1Image(amplitudes, np.eye(4)), "amplitudes.nii")
    np.savetxt("directions.txt", directions)
    run("amp2sh", "-quiet", "-force", "amplitudes.nii", "mrtrix_sh.mif", "-lmax", "4", "-directions", "directions.txt")
    keep("mrtrix_sh.mif")
    sphere = Sphere(xyz=directions)
    for name, basis, legacy in (("dipy_legacy_sh", "descoteaux07", True), ("dipy_sh", "descoteaux07", False), ("dipy_tournier_legacy_sh", "tournier07", True)):
        sh = sf_to_sh(amplitudes, sphere, sh_order_max=4, basis_type=basis, legacy=legacy)
        assert np.abs(sh_to_sf(sh, sphere, sh_order_max=4, basis_type=basis, legacy=legacy) - amplitudes).max() < 1e-5
        nib.save(nib.Nifti1Image(sh.astype(np.float32), np.eye(4)), name + ".nii.gz")
        keep(name + ".nii.gz")


def tractograms():
    tractogram = nib.streamlines.Tractogram(
        LINES, {"weight": [[0.5], [1.5], [2.5]]}, {"fa": [np.arange(len(line), dtype=np.float32)[:, None] / 8 + s for s, line in enumerate(LINES)]}, np.eye(4)
    )
    nib.streamlines.save(nib.streamlines.Tractogram(LINES, affine_to_rasmm=np.eye(4)), "nibabel.tck")
    header = {"voxel_to_rasmm": AFFINE, "voxel_sizes": nib.affines.voxel_sizes(AFFINE), "dimensions": SHAPE, "voxel_order": "".join(nib.aff2axcodes(AFFINE))}
    nib.streamlines.save(tractogram, "nibabel.trk", header=header)
    run("tckconvert", "-quiet", "-force", "nibabel.tck", "mrtrix.tck")
    run("tckconvert", "-quiet", "-force", "nibabel.tck", "mrtrix.vtk")
    keep("nibabel.tck", "nibabel.trk", "mrtrix.tck", "mrtrix.vtk")
    for name, kind, offsets, deflated in (("trx.trx", np.float32, np.uint32, False), ("trx_half_packed.trx", np.float16, np.uint64, True)):
        t = TrxFile(nb_vertices=12, nb_streamlines=3)
        t.header["VOXEL_TO_RASMM"], t.header["DIMENSIONS"] = AFFINE, np.array(SHAPE, np.uint16)
        t.streamlines._data = np.concatenate(LINES).astype(kind)
        t.streamlines._offsets = np.array([0, 4, 5], offsets)
        t.streamlines._lengths = np.array([4, 1, 7], np.uint32)
        t.data_per_streamline["weight"] = np.array([[0.5], [1.5], [2.5]], np.float32)
        fa = nib.streamlines.ArraySequence()
        fa._data = np.concatenate(list(tractogram.data_per_point["fa"])).astype(np.float16)
        fa._offsets, fa._lengths = t.streamlines._offsets, t.streamlines._lengths
        t.data_per_vertex["fa"] = fa
        t.groups["ends"] = np.array([0, 2], np.uint32)
        save(t, name, compression_standard=8 if deflated else 0)
        keep(name)
    points, cells = vtk.vtkPoints(), vtk.vtkCellArray()
    points.SetData(numpy_to_vtk(np.concatenate(LINES), deep=True))
    begin = 0
    for line in LINES:
        cells.InsertNextCell(len(line))
        for p in range(len(line)):
            cells.InsertCellPoint(begin + p)
        begin += len(line)
    poly = vtk.vtkPolyData()
    poly.SetPoints(points)
    poly.SetLines(cells)
    fa = numpy_to_vtk(np.concatenate(list(tractogram.data_per_point["fa"])).ravel(), deep=True)
    fa.SetName("fa")
    poly.GetPointData().AddArray(fa)
    for name, text, version in (("vtk_42.vtk", False, 42), ("vtk_51.vtk", False, 51), ("vtk_51_text.vtk", True, 51)):
        writer = vtk.vtkPolyDataWriter()
        writer.SetFileName(name)
        writer.SetInputData(poly)
        writer.SetFileVersion(version)
        writer.SetHeader("SPACE=RAS")
        (writer.SetFileTypeToASCII if text else writer.SetFileTypeToBinary)()
        writer.Write()
        keep(name)
    label = numpy_to_vtk(np.array([4, 5, 6], np.int16), deep=True)
    label.SetName("label of <a> line")
    poly.GetCellData().AddArray(label)
    for name, mode, coded, packed, order, wide in (
        ("vtk_text.vtp", "Ascii", False, False, "LittleEndian", False),
        ("vtk_base64.vtp", "Binary", False, False, "LittleEndian", True),
        ("vtk_base64_packed.vtp", "Binary", False, True, "LittleEndian", False),
        ("vtk_raw.vtp", "Appended", False, False, "LittleEndian", True),
        ("vtk_appended_packed.vtp", "Appended", True, True, "BigEndian", False),
    ):
        space = vtk.vtkStringArray()
        space.SetName("SPACE")
        space.InsertNextValue("LPS" if mode == "Appended" else "RAS")
        turned = np.concatenate(LINES) * ([-1, -1, 1] if mode == "Appended" else [1, 1, 1])
        points.SetData(numpy_to_vtk(turned.astype(np.float64 if coded else np.float32), deep=True))
        poly.GetFieldData().Initialize()
        poly.GetFieldData().AddArray(space)
        writer = vtk.vtkXMLPolyDataWriter()
        writer.SetFileName(name)
        writer.SetInputData(poly)
        getattr(writer, "SetDataModeTo" + mode)()
        writer.SetEncodeAppendedData(coded)
        (writer.SetCompressorTypeToZLib if packed else writer.SetCompressorTypeToNone)()
        (writer.SetHeaderTypeToUInt64 if wide else writer.SetHeaderTypeToUInt32)()
        getattr(writer, "SetByteOrderTo" + order)()
        writer.SetBlockSize(40)
        writer.Write()
        keep(name)


def without_places():
    """Cuts the commands that MRtrix3 writes into headers, because they have the names of folders."""
    for name in os.listdir(here):
        if name.endswith((".mif", ".mih", ".tck", ".txt", ".b", ".json")):
            data = open(os.path.join(here, name), "rb").read()
            assert os.getcwd().encode() not in data, name


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (images, tissue, tables, responses, harmonics, tractograms):
        part()
    without_places()
    os.chdir(here)
