#!/usr/bin/env python3
"""Compares maps of values of streamlines, and copies of tractograms, with MRtrix3.

usage: tracts_maps.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import sys

import nibabel as nib
import numpy as np

import tracts
from tracts import glslines, grids, path, random_lines, report, run, save_tck, traverse
from checks import outcome


def load(name):
    image = nib.load(path(name))
    return np.asarray(image.dataobj, np.float64), image.affine


def compare(name, bound, mine="mine.nii.gz", theirs="theirs.nii"):
    """Returns the largest difference, divided by the largest value of the peer. The grids have to agree, too."""
    (a, at), (b, bt) = load(mine), load(theirs)
    same = a.shape == b.shape and np.abs(at - bt).max() < 1e-4
    worst = np.abs(a - b).max() / np.abs(b).max() if same else np.inf
    report(f"density: {name}", worst <= bound and np.abs(b).max() > 0, f"{worst:.1e} of the largest value" if same else f"grids differ: {a.shape} {b.shape} {at.tolist()} {bt.tolist()}")


def check_values(name, shape):
    template = f"{name}.nii.gz"
    mine = ["--template", template, "--like", "mrtrix"]
    theirs = ["-template", template, "-force", "-quiet"]
    glslines("density", "lines.tck", "mine.nii.gz", *mine, "--dec")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-dec")
    compare(f"{name}, --dec against tckmap -dec", 1e-5)
    for vox in ("sum", "mean", "min", "max"):
        for contrast in ("length", "invlength"):
            glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", contrast, "--stat-vox", vox)
            run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", contrast, "-stat_vox", vox)
            compare(f"{name}, {contrast} {vox}", 1e-5)
    for stat in ("mean", "sum", "min", "max", "median", "mean_nonzero", "ends_min", "ends_max", "ends_mean", "ends_prod"):
        glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", "scalar_map", "--image", "values.nii.gz", "--stat-tck", stat)
        run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", "scalar_map", "-image", "values.nii.gz", "-stat_tck", stat, "-stat_vox", "sum")
        compare(f"{name}, scalar_map {stat}", 1e-5)
    glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", "scalar_map_count", "--image", "values.nii.gz")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", "scalar_map_count", "-image", "values.nii.gz")
    compare(f"{name}, scalar_map_count", 1e-5)
    glslines("density", "lines.tck", "mine.nii.gz", *mine, "--contrast", "length", "--stat-vox", "mean", "--weights", "weights.txt")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-contrast", "length", "-stat_vox", "mean", "-tck_weights_in", "weights.txt")
    compare(f"{name}, weighted mean length", 1e-5)
    glslines("density", "lines.tck", "mine.nii.gz", "--template", template, "--mapping", "precise")
    run("tckmap", "lines.tck", "theirs.nii", *theirs, "-precise")
    (a, _), (b, _) = load("mine.nii.gz"), load("theirs.nii")
    side = min(nib.load(path(template)).header.get_zooms()[:3])
    worst, total = np.abs(a - b).max() / side, abs(a.sum() / b.sum() - 1)
    report(f"density: {name}, --mapping precise against tckmap -precise", worst < 0.01 and total < 1e-5, f"{worst:.1e} of a voxel side, sum {total:.1e}")


def check_grids():
    for side in ((1.0,), (1.5, 2.0, 3.1)):
        mrtrix = ",".join(map(str, side))
        glslines("density", "lines.tck", "mine.nii.gz", "--voxel-size", *side, "--like", "mrtrix")
        run("tckmap", "lines.tck", "theirs.nii", "-vox", mrtrix, "-force", "-quiet")
        compare(f"--voxel-size {mrtrix} against tckmap -vox", 0)
    glslines("density", "lines.tck", "mine.nii.gz", "--template", "LAS.nii.gz", "--voxel-size", 1, "--like", "mrtrix")
    a, affine = load("mine.nii.gz")
    shape, old = grids()["LAS"]
    first = old[:3, 3] - 0.5 * old[:3, :3].sum(1)
    report("density: --template with --voxel-size", a.shape == tuple(2 * n for n in shape) and np.allclose(affine[:3, 3] - 0.5 * affine[:3, :3].sum(1), first), "the corner of the first voxel stays")


def points(name):
    return [np.asarray(line) for line in nib.streamlines.load(path(name)).streamlines]


def compare_lines(name, mine, theirs, bound):
    a, b = (points(lines) if isinstance(lines, str) else lines for lines in (mine, theirs))
    same = len(a) == len(b) > 0 and all(len(x) == len(y) for x, y in zip(a, b))
    worst = max(np.abs(x - y).max() for x, y in zip(a, b)) if same else np.inf
    detail = f"{worst:.1e} mm" if same else f"{len(a)} and {len(b)} streamlines, {sum(len(x) != len(y) for x, y in zip(a, b))} of other lengths"
    report(name, worst <= bound, detail)


def check_edit(lines):
    affine = np.diag([4.0, 4, 4, 1])
    affine[:3, 3] = -126
    at = np.stack(np.meshgrid(*[np.arange(64)] * 3, indexing="ij"), -1) * 4.0 - 126
    warp = at + 3 * np.sin(at[..., ::-1] / 20)
    nib.save(nib.Nifti1Image(warp.astype(np.float32), affine), path("warp.nii.gz"))
    glslines("edit", "lines.tck", "mine.tck", "--warp", "warp.nii.gz")
    run("tcktransform", "lines.tck", "warp.nii.gz", "theirs.tck", "-force", "-quiet")
    compare_lines("edit: --warp against tcktransform", "mine.tck", "theirs.tck", 1e-4)
    for step in (0.7, 2.5):
        glslines("edit", "lines.tck", "mine.tck", "--step-size", step, "--step-from", "middle", "--interp", "hermite")
        run("tckresample", "lines.tck", "theirs.tck", "-step_size", step, "-force", "-quiet")
        compare_lines(f"edit: --step-size {step} --step-from middle against tckresample -step_size", "mine.tck", "theirs.tck", 2e-5)
    labels = np.zeros((64, 64, 64), np.int16)
    for label in range(1, 13):
        labels[np.linalg.norm(at - np.random.default_rng(label).uniform(-40, 40, 3), axis=-1) < 18] = label
    nib.save(nib.Nifti1Image(labels, affine), path("labels.nii.gz"))
    glslines("connectome", "lines.tck", "labels.nii.gz", "c.csv", "--assignments", "c.txt", "--edges", "c.tsv", "--labels", "raw")
    matrix = np.genfromtxt(path("c.csv"), delimiter=",")
    a, b = max(((i, j) for i in range(12) for j in range(i + 1, 12)), key=lambda cell: matrix[cell])
    glslines("edit", "lines.tck", "mine.tck", "--connect", f"{b + 1},{a + 1}", "--assignments", "c.txt")
    run("connectome2tck", "lines.tck", "c.txt", "theirs.tck", "-nodes", f"{a + 1},{b + 1}", "-exclusive", "-files", "single", "-force", "-quiet")
    compare_lines("edit: --connect against connectome2tck", [line for line in points("mine.tck")], [line for line in points("theirs.tck")], 0) if matrix[a, a] == matrix[b, b] == 0 else report("edit: --connect", len(points("mine.tck")) == matrix[a, b], f"{matrix[a, b]:.0f} streamlines")
    glslines("edit", "lines.tck", "mine.trx", "--edges-to-groups", "--assignments", "c.txt", "--min-count", 2, "--reference", "labels.nii.gz")
    import trx.trx_file_memmap as trxmap
    groups = {name: len(members) for name, members in trxmap.load(path("mine.trx")).groups.items()}
    expected = {f"{i + 1}-{j + 1}": int(matrix[i, j]) for i in range(len(matrix)) for j in range(i, len(matrix)) if matrix[i, j] >= 2}
    report("edit: --edges-to-groups against the matrix", groups == expected, f"{len(groups)} of {len(expected)} groups")
    edges = np.genfromtxt(path("c.tsv"), delimiter="\t", names=True, dtype=None, encoding=None)
    report("connectome: --edges against the matrix", all(matrix[e["a"] - 1, e["b"] - 1] == e["count"] == e["sum"] for e in edges), f"{len(edges)} rows")


def check_vtk(lines):
    glslines("edit", "lines.tck", "mine.trx", "--reference", "LAS.nii.gz", "--weights", "weights.txt")
    glslines("sample", "mine.trx", "values.nii.gz", "--to-dpv", "v a", "--trx", "values.trx")
    glslines("convert", "values.trx", "mine.vtk")
    run("tckconvert", "mine.vtk", "theirs.tck", "-force", "-quiet")
    compare_lines("convert: VTK in MRtrix3", lines, "theirs.tck", 0)
    glslines("convert", "mine.vtk", "again.trx", "--reference", "LAS.nii.gz")
    import trx.trx_file_memmap as trxmap
    a, b = (trxmap.load(path(name)) for name in ("values.trx", "again.trx"))
    same = np.array_equal(np.asarray(a.streamlines._data), np.asarray(b.streamlines._data)) and np.array_equal(a.data_per_streamline["weights"], b.data_per_streamline["weights"]) and np.array_equal(a.data_per_vertex["v a"]._data, b.data_per_vertex["v a"]._data, equal_nan=True)
    report("convert: TRX, VTK, TRX", same, "points, weights and values are equal" if same else "they differ")


def check_samples(lines):
    series = np.random.default_rng(3).random((64, 64, 64, 6)).astype(np.float32)
    affine = np.diag([3.0, 3, 3, 1])
    affine[:3, 3] = -94.5
    nib.save(nib.Nifti1Image(series, affine), path("series.nii.gz"))
    glslines("sample", "lines.tck", "series.nii.gz", "-o", "corr.txt", "--stat-tck", "ends_corr")
    glslines("sample", "lines.tck", "series.nii.gz", "--to-dpv", "s", "--trx", "s.trx", "--reference", "LAS.nii.gz")
    import trx.trx_file_memmap as trxmap
    values = trxmap.load(path("s.trx")).data_per_vertex["s"]
    expected = np.array([np.corrcoef(v[0], v[-1])[0, 1] for v in values])
    worst = np.abs(np.loadtxt(path("corr.txt")) - expected).max()
    report("sample: ends_corr against numpy", worst < 1e-5, f"{worst:.1e}")
    glslines("sample", "lines.tck", "values.nii.gz", "-o", "mine.txt", "--by", "voxel", "--fraction")
    run("tcksample", "lines.tck", "values.nii.gz", "theirs.txt", "-precise", "-use_tdi_fraction", "-stat_tck", "mean", "-force", "-quiet")
    a, b = np.loadtxt(path("mine.txt")), np.loadtxt(path("theirs.txt"), comments="#").ravel()
    both = np.isfinite(a) & np.isfinite(b)
    r, size = np.corrcoef(a[both], b[both])[0, 1], np.abs(a[both]).sum() / np.abs(b[both]).sum()
    # tcksample measures along its spline, which is up to a thousandth longer than the line between points
    report("sample: --fraction against tcksample -precise -use_tdi_fraction", both.mean() > 0.99 and r > 0.999 and abs(size - 1) < 2e-3, f"r {r:.6f}, {size:.4f} times as large, {both.mean():.3f} compared")


def check_fraction(lines):
    """Computes the mm of each streamline in each voxel, by cutting it at all planes, and means by their definition."""
    image = nib.load(path("values.nii.gz"))
    values = np.asarray(image.dataobj, np.float64)
    few = lines[:150]
    mm = [traverse([line], values.shape, image.affine)[1] for line in few]
    total = sum(mm)
    save_tck("few.tck", few)
    for words in ([], ["--fraction"]):
        glslines("sample", "few.tck", "values.nii.gz", "-o", "mine.txt", "--by", "voxel", *words)
        parts = [m / np.where(total > 0, total, 1) if words else 1 for m in mm]
        expected = np.array([(m * values * part).sum() / m.sum() for m, part in zip(mm, parts)])
        worst = np.abs(np.loadtxt(path("mine.txt")) - expected).max()
        report(f"sample: --by voxel {' '.join(words)} against numpy", worst < 1e-9, f"{worst:.1e}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tracts.tool, tracts.work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(tracts.work, exist_ok=True)
    rng = np.random.default_rng(12)
    lines = [line for line in random_lines(2000, 1.0, 5) if len(line) > 3]
    save_tck("lines.tck", lines, step_size=1.0)
    np.savetxt(path("weights.txt"), rng.random(len(lines)), "%.9g")
    # an image that is larger than the box of the streamlines, with voxels of 0 and of both signs
    values = np.round(rng.normal(0, 1, (64, 64, 64)), 2).astype(np.float32)
    values[rng.random(values.shape) < 0.2] = 0
    affine = np.diag([3.0, 3, 3, 1])
    affine[:3, 3] = -94.5
    nib.save(nib.Nifti1Image(values, affine), path("values.nii.gz"))
    for name, (shape, affine) in grids().items():
        nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), path(f"{name}.nii.gz"))
        check_values(name, shape)
    check_grids()
    check_edit(lines)
    check_vtk(lines)
    check_samples(lines)
    check_fraction(lines)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
