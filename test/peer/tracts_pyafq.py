#!/usr/bin/env python3
"""Compares glslines profile with pyAFQ's clean_bundle() and gaussian_weights() on real bundles, and the files of glslines
segment with those that pyAFQ makes of the same bundles; the table of a study with pyAFQ's, which AFQ-Browser has to take
where that is installed.

usage: tracts_pyafq.py GLSLINES WORK_DIR

The bundles are those that come with DIPY: left arcuate, right corticospinal tract and forceps major of five brains. All
of a kind are taken as one, so that there are outliers. Run by hand; needs dipy, nibabel, pyAFQ. One line per check;
exits with 1 if one fails.
"""
import json
import os
import subprocess
import sys
import zipfile

import dipy
import nibabel as nib
import numpy as np
import pandas as pd
from AFQ._fixes import gaussian_weights
from AFQ.api.group import combine_list_of_profiles
from AFQ.recognition.cleaning import clean_bundle
from AFQ.tasks.segmentation import export_bundles, export_sl_counts
from dipy.tracking.streamline import Streamlines, set_number_of_points
from scipy.ndimage import map_coordinates

from checks import outcome, report

tool = os.path.abspath(sys.argv[1])
os.makedirs(sys.argv[2], exist_ok=True)
os.chdir(sys.argv[2])
zipfile.ZipFile(os.path.join(os.path.dirname(dipy.__file__), "data/files/minimal_bundles.zip")).extractall()


def glslines(*words):
    subprocess.run([tool, *map(str, words), "-q", "--force"], check=True)


affine = np.diag([2.0, 2, 2, 1])
affine[:3, 3] = -130
x, y, z = np.meshgrid(*[np.arange(130)] * 3, indexing="ij")
smooth = (np.sin(x / 9) + np.cos(y / 7) * np.sin(z / 11)).astype(np.float32)
nib.save(nib.Nifti1Image(smooth, affine), "image.nii")

brains = sorted(name for name in os.listdir(".") if name.startswith("sub_"))
for bundle in ("AF_L", "CST_R", "CC_ForcepsMajor"):
    glslines("edit", *[f"{brain}/{bundle}.trk" for brain in brains], "all.trk")
    glslines("edit", "all.trk", "tracks.tck", "--step-size", 1.5)
    lines = Streamlines(nib.streamlines.load("tracks.tck").streamlines)
    for distance, z in ((4, 4), (3, 4), (2.6, 2), (2, 1)):
        kept, ids = clean_bundle(lines, distance_threshold=distance, length_threshold=z, return_idx=True)
        glslines("profile", "tracks.tck", "image.nii", "-o", "p.csv", "--stats", "--orient", "none", "--clean", "--clean-distance", distance, "--clean-length-z", z, "--clean-length", "points")
        table = np.genfromtxt("p.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
        nodes = np.array(set_number_of_points(Streamlines(kept), 100)).astype(float)
        weights = gaussian_weights(nodes, n_points=None)
        values = map_coordinates(smooth.astype(float), ((nodes + 130) / 2).reshape(-1, 3).T, order=1).reshape(nodes.shape[:2])
        theirs = np.sum(weights * values, axis=0) / np.sum(weights, axis=0)
        off = np.max(np.abs(theirs - table["image"]))
        ok = np.all(table["image_n"] == len(ids)) and off < 1e-6
        report(f"{bundle}, distance {distance}, length {z}", ok, f"{len(ids)} of {len(lines)} stay, {int(table['image_n'][0])} here; profiles differ by {off:.1e}")

# pyAFQ's own export of the bundles that glslines found, beside --counts and --each
glslines("phantom", "phantom")
glslines("track", "--phantom", "--model", "opdt", "--nseeds", 5000, "-o", "tracks.trx")
names = sorted(name[: -len("_end0.nii.gz")] for name in os.listdir("phantom/bundles") if name.endswith("_end0.nii.gz"))
with open("rules.tsv", "w") as file:
    file.write("bundle\tstart\tend\tend_tolerance\n")
    for name in names:
        file.write(f"{name}\tphantom/bundles/{name}_end0.nii.gz\tphantom/bundles/{name}_end1.nii.gz\t2\n")
for folder in ("theirs/bundles", "theirs/stats", "ours"):
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(f"{folder}/{name}") if os.path.isfile(f"{folder}/{name}") else None
glslines("segment", "tracks.trx", "rules.tsv", "-o", "found.trx", "--unique", "--each", "ours/sub-01_desc-{}_tractography.trx", "--counts", "ours/sub-01_desc-slCount_tractography.csv")
arguments = dict(base_fname="theirs/sub-01", output_dir="theirs", bundles="found.trx", tracking_params={"trx": True})
counts = export_sl_counts(**arguments)
counts = counts[0] if isinstance(counts, tuple) else counts
export_bundles(**arguments)
with open(counts) as theirs, open("ours/sub-01_desc-slCount_tractography.csv") as ours:
    theirs, ours = theirs.read(), ours.read()
report("counts", sorted(theirs.splitlines()) == sorted(ours.splitlines()) and theirs.splitlines()[0] == ours.splitlines()[0], ours.replace("\n", " "))
files = sorted(name for name in os.listdir("theirs/bundles") if name.endswith(".trx"))
report("names of files", files == sorted(name for name in os.listdir("ours") if name.endswith(".trx")) and len(files) > 3, " ".join(files))
for name in files:
    glslines("convert", f"theirs/bundles/{name}", "a.tck", "--fields", "none")
    glslines("convert", f"ours/{name}", "b.tck", "--fields", "none")
    a, b = (nib.streamlines.load(part).streamlines for part in ("a.tck", "b.tck"))
    off = max(np.max(np.abs(x - y)) for x, y in zip(a, b)) if [len(x) for x in a] == [len(x) for x in b] else np.inf
    report(name, off < 0.04, f"{len(b)} streamlines, {len(a)} of pyAFQ, which writes half precision: {off:.1e} mm apart at most")

# one table of all participants: profiles of glslines, and one as pyAFQ writes it, with numbers of rows
tables = []
for number, (who, index) in enumerate((("sub-01/ses-1/dwi/sub-01_ses-1", False), ("sub-01/ses-2/dwi/sub-01_ses-2", False), ("sub-02/ses-1/dwi/sub-02_ses-1", True))):
    tables.append(os.path.abspath(f"study/{who}_desc-profiles_tractography.csv"))
    os.makedirs(os.path.dirname(tables[-1]), exist_ok=True)
    glslines("edit", "found.trx", "part.trx", "--random", 1000 + 500 * number)
    glslines("profile", "part.trx", "image.nii", "-o", tables[-1])
    if index:
        pd.read_csv(tables[-1]).to_csv(tables[-1])
subprocess.run([tool, "bids", ".", "study", "group", "-q"], check=True)
ours, theirs = pd.read_csv("study/tract_profiles.csv"), combine_list_of_profiles(tables)
theirs.to_csv("theirs.csv", index=False)
theirs = pd.read_csv("theirs.csv")
keys = ["tractID", "nodeID", "subjectID", "sessionID"]
same = list(ours) == list(theirs) and ours[keys].equals(theirs[keys]) and np.allclose(ours["image"], theirs["image"], rtol=1e-12, atol=0, equal_nan=True)
report("table of a study", same, f"{len(ours)} rows, {', '.join(list(ours)[:3])} ... {', '.join(list(ours)[-2:])}")
try:
    from afqbrowser.browser import _copy_nodes_table, _validate
except ImportError:
    print("skip AFQ-Browser: it is not installed")
else:
    os.makedirs("browser", exist_ok=True)
    nodes, subjects, _ = _copy_nodes_table("study/tract_profiles.csv", out_path="browser")
    with open("browser/streamlines.json", "w") as file:
        json.dump({name: {"coreFiber": [[0, 0, 0]] * 100} for name in dict.fromkeys(ours["tractID"])}, file)
    errors = _validate(nodes, subjects, "browser/streamlines.json")
    report("AFQ-Browser takes it", not errors and list(pd.read_csv(subjects)["subjectID"]) == [1, 2], errors or open(subjects).read().replace("\n", " "))
sys.exit(outcome())
