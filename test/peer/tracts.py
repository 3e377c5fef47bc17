#!/usr/bin/env python3
"""Compares the commands on tractograms with MRtrix3, DIPY, nibabel and plain numpy.

usage: tracts.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import json
import os
import subprocess
import sys

import nibabel as nib
import numpy as np
import trx.trx_file_memmap as trxmap
from dipy.tracking.utils import density_map

import affines
from checks import outcome, report


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, cwd=work)


def glslines(*words):
    run(tool, *words, "-q", "--force")


def path(name):
    return os.path.join(work, name)


def grids():
    """Returns shape and affine of grids: voxels of one size with flipped x, oblique voxels of three sizes, and axes in another
    order."""
    oblique = affines.rotation([12, -17, 23]) @ np.diag([-1, 1, 1]) @ np.diag([1.7, 2.0, 2.6])
    permuted = np.array([[0, 0, 2.5], [-1.5, 0, 0], [0, -2.0, 0]])
    return {
        "LAS": ((24, 30, 22), affines.affine(np.diag([-2, 2, 2]), (23, -29, -21))),
        "oblique": ((28, 30, 18), affines.affine(oblique, (20.3, -31.1, -25.2))),
        "permuted": ((38, 22, 20), affines.affine(permuted, (-24.5, 27.25, 21))),
    }


def random_lines(n, step, seed):
    """Returns smooth random walks around the origin, float32. Some leave every grid, some have one or two points."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        count = (1, 2, 3)[i % 3] if i % 50 < 3 else int(rng.integers(4, 70))
        d = np.cumsum(rng.normal(0, 0.25, (count, 3)), axis=0) + rng.normal(0, 1, 3)
        d *= step / np.linalg.norm(d, axis=1, keepdims=True)
        lines.append((rng.uniform(-22, 22, 3) + np.cumsum(d, axis=0)).astype(np.float32))
    return lines


def save_tck(name, lines, **header):
    tractogram = nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))
    nib.streamlines.TckFile(tractogram, header={key: str(value) for key, value in header.items()}).save(path(name))


def load(name):
    if name.endswith(".trx"):
        return [np.array(line) for line in trxmap.load(path(name)).streamlines]
    return [np.asarray(line) for line in nib.streamlines.load(path(name)).streamlines]


def check_info(lines):
    glslines("info", "lines.tck", "--count", "--json", "info.json")
    with open(path("info.json")) as f:
        (info,) = json.load(f)["tractograms"]
    counted = info["counted"]
    lengths = np.array([np.linalg.norm(np.diff(line.astype(float), axis=0), axis=1).sum() for line in lines])
    expected = {"mean": lengths.mean(), "sd": lengths.std(ddof=1), "min": lengths.min(), "max": lengths.max(), **dict(zip(("quartile_1", "median", "quartile_3"), np.quantile(lengths, [0.25, 0.5, 0.75])))}
    worst = max(abs(counted["length_mm"][key] - value) / max(abs(value), 1) for key, value in expected.items())
    report("info: lengths against numpy", worst < 1e-9, f"relative difference {worst:.1e}")
    box = max(np.abs(np.array(counted["low_mm"]) - np.concatenate(lines).min(0)).max(), np.abs(np.array(counted["high_mm"]) - np.concatenate(lines).max(0)).max())
    report("info: box against numpy", box == 0, f"{box} mm")
    out = subprocess.run(["tckinfo", path("lines.tck"), "-count", "-quiet"], capture_output=True, text=True, check=True).stdout
    count = int(out.split("actual count in file:")[1].split()[0])
    report("info: count against tckinfo", count == counted["streamlines"], f"{count} and {counted['streamlines']}")


def check_convert(lines):
    glslines("convert", "lines.tck", "lines.trx", "--reference", "LAS.nii.gz")
    glslines("convert", "lines.trx", "lines.trk")
    glslines("convert", "lines.trk", "again.tck")
    for name in ("lines.trx", "lines.trk", "again.tck"):
        got = load(name)
        same = len(got) == len(lines) and all(len(a) == len(b) for a, b in zip(got, lines))
        worst = max(np.abs(a - b).max() for a, b in zip(got, lines)) if same else np.inf
        report(f"convert: {name}", worst < 1e-4, f"{worst:.1e} mm")
    run("tckconvert", "lines.tck", "lines.vtk", "-force", "-quiet")
    glslines("convert", "lines.vtk", "vtk.tck", "--vtk-space", "ras")
    worst = max(np.abs(a - b).max() for a, b in zip(load("vtk.tck"), lines))
    report("convert: VTK of MRtrix3", worst < 1e-3, f"{worst:.1e} mm")
    values = np.random.default_rng(3).random((len(lines), 2)).astype(np.float32)
    scalars = [np.arange(len(line), dtype=np.float32)[:, None] for line in lines]
    tractogram = nib.streamlines.Tractogram(lines, data_per_streamline={"pair": values}, data_per_point={"fa": scalars}, affine_to_rasmm=np.eye(4))
    header = nib.streamlines.trk.TrkFile.create_empty_header()
    shape, affine = grids()["LAS"]
    header["dimensions"], header["voxel_sizes"], header["voxel_to_rasmm"], header["voxel_order"] = shape, (2, 2, 2), affine, b"LAS"
    nib.streamlines.TrkFile(tractogram, header=header).save(path("fields.trk"))
    glslines("convert", "fields.trk", "fields.trx")
    got = trxmap.load(path("fields.trx"))
    same = np.array_equal(np.asarray(got.data_per_streamline["pair"]), values) and np.array_equal(np.asarray(got.data_per_vertex["fa"]._data).ravel(), np.concatenate(scalars).ravel())
    report("convert: columns of a TRK file", same, "pair and fa are equal" if same else "pair or fa differs")


def check_map(name, mine, theirs):
    mine, theirs = (np.asarray(nib.load(path(image)).dataobj, np.float64) if isinstance(image, str) else image for image in (mine, theirs))
    differ = np.count_nonzero(mine != theirs)
    report(f"density: {name}", differ == 0 and theirs.sum() > 0, f"{differ} of {np.count_nonzero(theirs)} voxels differ")


def traverse(lines, shape, affine):
    """Counts the streamlines in each voxel and their mm, by cutting every segment at all planes between voxels."""
    inverse = np.linalg.inv(affine)
    count, mm = np.zeros(shape), np.zeros(shape)
    for line in lines:
        p = line.astype(float)
        c = p @ inverse[:3, :3].T + inverse[:3, 3] + 0.5
        seen = {}
        if len(c) == 1:
            seen[tuple(np.floor(c[0]).astype(int))] = 0
        for a, b, length in zip(c, c[1:], np.linalg.norm(np.diff(p, axis=0), axis=1)):
            cuts = [0.0, 1.0]
            for axis in range(3):
                low, high = sorted((a[axis], b[axis]))
                if high > low:
                    cuts += list((np.arange(np.floor(low) + 1, np.ceil(high)) - a[axis]) / (b[axis] - a[axis]))
            cuts = np.sort(cuts)
            for t, u in zip(cuts, cuts[1:]):
                if u > t:
                    voxel = tuple(np.floor(a + 0.5 * (t + u) * (b - a)).astype(int))
                    seen[voxel] = seen.get(voxel, 0) + length * (u - t)
        for voxel, length in seen.items():
            if all(0 <= v < n for v, n in zip(voxel, shape)):
                count[voxel] += 1
                mm[voxel] += length
    return count, mm


def check_density(lines):
    rng = np.random.default_rng(9)
    weights = rng.random(len(lines))
    np.savetxt(path("weights.txt"), weights, "%.17g")
    for name, (shape, affine) in grids().items():
        image = f"{name}.nii.gz"
        affine = nib.load(path(image)).affine  # float32 in the file
        for option, peer in (("mrtrix", ()), ("dipy", ("-upsample", "1"))):
            glslines("density", "lines.tck", "mine.nii.gz", "--template", image, "--like", option)
            run("tckmap", "lines.tck", "theirs.nii", "-template", image, "-force", "-quiet", *peer)
            check_map(f"{name}, --like {option} against tckmap {' '.join(peer)}", "mine.nii.gz", "theirs.nii")
        glslines("density", "lines.tck", "mine.nii.gz", "--template", image, "--mapping", "ends")
        run("tckmap", "lines.tck", "theirs.nii", "-template", image, "-force", "-quiet", "-ends_only")
        check_map(f"{name}, ends against tckmap -ends_only", "mine.nii.gz", "theirs.nii")
        few = lines[:400]
        save_tck("few.tck", few)
        count, mm = traverse(few, shape, affine)
        glslines("density", "few.tck", "mine.nii.gz", "--template", image)
        check_map(f"{name}, segments against numpy", "mine.nii.gz", count)
        glslines("density", "few.tck", "mine.nii.gz", "--template", image, "--mapping", "length")
        worst = np.abs(np.asarray(nib.load(path("mine.nii.gz")).dataobj) - mm).max() / mm.max()
        report(f"density: {name}, length against numpy", worst < 1e-7, f"{worst:.1e} of the largest value")
        glslines("density", "lines.tck", "mine.nii.gz", "--template", image, "--like", "mrtrix", "--weights", "weights.txt")
        run("tckmap", "lines.tck", "theirs.nii", "-template", image, "-force", "-quiet", "-tck_weights_in", "weights.txt")
        mine, theirs = (np.asarray(nib.load(path(file)).dataobj, np.float64) for file in ("mine.nii.gz", "theirs.nii"))
        worst = np.abs(mine - theirs).max() / theirs.max()
        report(f"density: {name}, weights against tckmap", worst < 1e-6, f"{worst:.1e} of the largest value")
    inner = [line for line in lines if np.all(np.abs(line) < 18)]
    save_tck("inner.tck", inner)
    shape, affine = grids()["LAS"]
    glslines("density", "inner.tck", "mine.nii.gz", "--template", "LAS.nii.gz", "--like", "dipy")
    check_map("against DIPY", "mine.nii.gz", density_map(inner, affine, shape).astype(float))


def check_connectome(lines):
    np.savetxt(path("weights.txt"), np.random.default_rng(2).random(len(lines)), "%.9g")
    for name, (shape, affine) in grids().items():
        # balls of several sizes, labels from 1 without gaps
        rng = np.random.default_rng(4)
        labels = np.zeros(shape, np.int16)
        at = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1) @ affine[:3, :3].T + affine[:3, 3]
        for label in range(1, 41):
            labels[np.linalg.norm(at - rng.uniform(-20, 20, 3), axis=-1) < rng.uniform(2, 6)] = label
        labels = (np.unique(labels, return_inverse=True)[1].reshape(shape)).astype(np.int16)
        nib.save(nib.Nifti1Image(labels, affine), path("labels.nii.gz"))
        for mine, theirs, bound in (
            ([], [], 0),
            (["--radius", "2"], ["-assignment_radial_search", "2"], 0),
            (["--assign", "end"], ["-assignment_end_voxels"], 0),
            (["--symmetric", "--zero-diagonal"], ["-symmetric", "-zero_diagonal"], 0),
            (["--keep-unassigned"], ["-keep_unassigned"], 0),
            (["--scale", "length", "--stat-edge", "mean"], ["-scale_length", "-stat_edge", "mean"], 1e-5),
            (["--scale", "length", "--stat-edge", "min"], ["-scale_length", "-stat_edge", "min"], 1e-5),
            (["--scale", "length", "--stat-edge", "max"], ["-scale_length", "-stat_edge", "max"], 1e-5),
            (["--scale", "invnodevol"], ["-scale_invnodevol"], 1e-6),
            (["--scale", "length", "--scale", "invnodevol", "--labels", "raw"], ["-scale_length", "-scale_invnodevol"], 1e-5),
            (["--weights", "weights.txt"], ["-tck_weights_in", "weights.txt"], 1e-6),
            (["--assign", "reverse"], ["-assignment_reverse_search", "0"], 0),
            (["--assign", "reverse", "--radius", "5"], ["-assignment_reverse_search", "5"], 0),
            (["--assign", "forward"], ["-assignment_forward_search", "3"], 0),
            (["--assign", "forward", "--radius", "5"], ["-assignment_forward_search", "5"], 0),
            (["--assign", "all", "--roi-test", "vertex"], ["-assignment_all_voxels"], 0),
            (["--assign", "all", "--roi-test", "vertex", "--scale", "invnodevol"], ["-assignment_all_voxels", "-scale_invnodevol"], 1e-6),
        ):
            glslines("connectome", "many.tck", "labels.nii.gz", "mine.csv", *mine, "--assignments", "mine.txt")
            run("tck2connectome", "many.tck", "labels.nii.gz", "theirs.csv", "-force", "-quiet", *theirs, "-out_assignments", "theirs.txt")
            a, b = ([line for line in open(path(file)).read().splitlines() if not line.startswith("#")] for file in ("mine.txt", "theirs.txt"))
            differ = sum(x.split() != y.split() for x, y in zip(a, b)) + abs(len(a) - len(b))
            report(f"connectome: {name} {' '.join(mine)}, assignments", differ == 0, f"{differ} of {len(b)} differ")
            a, b = (np.genfromtxt(path(file), delimiter=",") for file in ("mine.csv", "theirs.csv"))
            same = a.shape == b.shape and np.array_equal(np.isnan(a), np.isnan(b))
            worst = np.nanmax(np.abs(a - b)) / np.nanmax(b) if same else np.inf
            report(f"connectome: {name} {' '.join(mine)}", worst <= bound and np.nanmax(b) > 0, f"{worst:.1e} of the largest cell")
        np.savetxt(path("weights.txt"), np.random.default_rng(8).random(len(load("many.tck"))), "%.9g")
        for mine, theirs in (([], []), (["--keep-unassigned", "--assign", "end", "--weights", "weights.txt"], ["-keep_unassigned", "-assignment_end_voxels", "-tck_weights_in", "weights.txt"]),
                             (["--stat-edge", "mean", "--scale", "length"], ["-stat_edge", "mean", "-scale_length"])):
            glslines("connectome", "many.tck", "labels.nii.gz", "mine.csv", "--labels", "raw", "--vector", *mine)
            run("tck2connectome", "many.tck", "labels.nii.gz", "theirs.csv", "-force", "-quiet", "-vector", *theirs)
            a, b = (np.genfromtxt(path(file), delimiter=",") for file in ("mine.csv", "theirs.csv"))
            worst = np.abs(a - b).max() / b.max() if a.shape == b.shape else np.inf
            report(f"connectome: {name} --vector {' '.join(mine)}", worst <= 1e-6 and a.ndim == 1 and (b > 0).sum() > 2, f"{worst:.1e} of the largest cell")
    check_metrics(labels, affine)
    check_tracked()


def check_tracked():
    """--vector of track against tck2connectome -vector of its tractogram."""
    words = ("track", "--phantom", "--dg", "eudx", "--nseeds", 500, "--device", "llvmpipe", "-o", "run.tck")
    glslines(*words)
    points = np.concatenate(load("run.tck"))
    low, size = points.min(axis=0), (np.ptp(points, axis=0).max() + 1) / 4
    # 64 cubes, a number each
    affine = affines.affine(np.diag([size] * 3), low + size / 2)
    nib.save(nib.Nifti1Image(np.arange(1, 65, dtype=np.int16).reshape(4, 4, 4), affine), path("cubes.nii.gz"))
    glslines(*words, "--connectome", "cubes.nii.gz:mine.csv", "--labels", "raw", "--vector")
    run("tck2connectome", "run.tck", "cubes.nii.gz", "theirs.csv", "-force", "-quiet", "-vector")
    a, b = (np.genfromtxt(path(file), delimiter=",") for file in ("mine.csv", "theirs.csv"))
    report("connectome: track --vector", a.shape == b.shape == (64,) and np.array_equal(a, b) and (b > 0).sum() > 3, f"{b.sum():.0f} streamlines in {(b > 0).sum()} regions")


def check_metrics(labels, affine):
    """Several metrics in one reading, each against its own run of tck2connectome; the median against numpy."""
    rng = np.random.default_rng(5)
    nib.save(nib.Nifti1Image(rng.random(labels.shape).astype(np.float32), affine), path("noise.nii.gz"))
    inside = [line for line in load("many.tck") if len(line) > 1 and np.all(np.abs(np.round(nib.affines.apply_affine(np.linalg.inv(affine), line)) - (np.array(labels.shape) - 1) / 2) < (np.array(labels.shape) - 1) / 2)]
    save_tck("inside.tck", inside)
    np.savetxt(path("some.txt"), rng.random(len(inside)), "%.9g")
    run("tcksample", "inside.tck", "noise.nii.gz", "noise.txt", "-stat_tck", "mean", "-force", "-quiet")
    peers = {"count": [], "weight": ["-tck_weights_in", "some.txt"], "length": ["-scale_length", "-stat_edge", "mean"], "invlength": ["-scale_invlength"], "invnodevol": ["-scale_invnodevol"], "mean_noise": ["-scale_file", "noise.txt", "-stat_edge", "mean"]}
    words = [word for name in [*peers, "median_noise"] for word in ("--metric", name.replace("_noise", ":noise.nii.gz"))]
    glslines("connectome", "inside.tck", "labels.nii.gz", "all.csv", *words, "--weights", "some.txt")
    for name, options in peers.items():
        run("tck2connectome", "inside.tck", "labels.nii.gz", "theirs.csv", "-force", "-quiet", *options, "-out_assignments", "theirs.txt")
        a, b = (np.genfromtxt(path(file), delimiter=",") for file in (f"all_{name}.csv", "theirs.csv"))
        worst = np.abs(a - b).max() / b.max()
        report(f"connectome: --metric {name}", worst <= (0 if name == "count" else 1e-6) and (b > 0).sum() > 10, f"{worst:.1e} of the largest cell")
    pairs = np.sort(np.loadtxt(path("theirs.txt"), dtype=int), axis=1)
    values = np.array(open(path("noise.txt")).read().split()[-len(pairs):], float)
    median = np.genfromtxt(path("all_median_noise.csv"), delimiter=",")
    own = {tuple(pair): np.median(values[(pairs == pair).all(1)]) for pair in np.unique(pairs[pairs[:, 0] > 0], axis=0)}
    worst = max(abs(median[i - 1, k - 1] - value) for (i, k), value in own.items())
    mean = np.genfromtxt(path("all_mean_noise.csv"), delimiter=",")
    apart = max(abs(mean[i - 1, k - 1] - value) for (i, k), value in own.items())
    report("connectome: --metric median", worst < 1e-5 and apart > 1e-3 and np.isfinite(median[np.triu_indices(len(median))]).sum() == len(own), f"{worst:.1e} off numpy's; the mean {apart:.1e}")


def main():
    global tool, work
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(work, exist_ok=True)
    lines = random_lines(3000, 1.0, 5)
    save_tck("lines.tck", lines, step_size=1.0)
    for name, (shape, affine) in grids().items():
        nib.save(nib.Nifti1Image(np.zeros(shape, np.uint8), affine), path(f"{name}.nii.gz"))
    check_info(lines)
    check_convert(lines)
    check_density(lines)
    lines = [line for line in random_lines(12000, 1.0, 8) if len(line) > 1]
    save_tck("many.tck", lines, step_size=1.0)
    check_connectome(lines)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
