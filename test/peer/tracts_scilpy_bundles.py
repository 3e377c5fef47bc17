#!/usr/bin/env python3
"""Compares glslines segment and score with scil_tractogram_segment_with_ROI_and_score on one JSON of bundles.

usage: tracts_scilpy_bundles.py GLSLINES WORK_DIR SCILPY

SCILPY: the folder "scilpy" of its wheel (pip download --no-deps scilpy; unzip). The script runs as scilpy has it; what
it imports must be there, with numpy below 2. Run by hand. One line per check; exits with 1 if one fails.
"""
import csv
import json
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np
from scipy.ndimage import binary_dilation

from checks import outcome, report

tool, work, scilpy = (os.path.abspath(word) for word in sys.argv[1:4])
os.makedirs(work, exist_ok=True)
os.chdir(work)

def glslines(*words):
    subprocess.run([tool, *map(str, words), "-q", "--force"], check=True)


def scil(tracks, config, folder, *words):
    shutil.rmtree(folder, ignore_errors=True)
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(scilpy))
    module = "scilpy.cli.scil_tractogram_segment_with_ROI_and_score"
    code = f"import sys; import {module} as m; sys.argv[0] = 'scil'; m.main()"
    subprocess.run([sys.executable, "-c", code, tracks, config, folder, "--no_bbox_check", *words], check=True, env=environment)
    with open(f"{folder}/results.json") as file:
        results = json.load(file)
    with open(f"{folder}/processing_stats.json") as file:
        return results, json.load(file)


def write(config, name):
    with open(name, "w") as file:
        json.dump(config, file, indent=2)


def lines(tracks):
    return sorted(min(np.round(x, 2).tobytes(), np.round(x[::-1], 2).tobytes()) for x in nib.streamlines.load(tracks).streamlines)


def save(mask, affine, name):
    nib.save(nib.Nifti1Image(mask.astype(np.uint8), affine), name)


glslines("phantom", "phantom")
glslines("track", "--phantom", "--model", "opdt", "--nseeds", 6000, "--dg", "prob", "--step-size", "0.5", "-o", "tracks.trk")
names = ["arcuate_left", "arcuate_right", "corpus_callosum_body", "corticospinal_left"]
config = {}
for name in names:
    parts = [nib.load(f"phantom/bundles/{name}{part}.nii.gz") for part in ("", "_end0", "_end1")]
    mask, first, last = (np.asarray(image.dataobj) > 0 for image in parts)
    affine = parts[0].affine
    first, last = binary_dilation(first, iterations=2) & ~binary_dilation(last), binary_dilation(last, iterations=2)
    save(mask, affine, f"{name}.nii.gz")
    save(first, affine, f"{name}_head.nii.gz")
    save(last & ~first, affine, f"{name}_tail.nii.gz")
    save(binary_dilation(mask | first | last, iterations=2), affine, f"{name}_all.nii.gz")
    save(binary_dilation(mask, iterations=1), affine, f"{name}_any.nii.gz")
    config[name] = {"gt_mask": f"{name}.nii.gz", "head": f"{name}_head.nii.gz", "tail": f"{name}_tail.nii.gz"}
glslines("convert", "tracks.trk", "alone.trk")
cases = {"ends only": {}}
cases["masks"] = {name: {"all_mask": f"{name}_all.nii.gz", "any_mask": f"{name}_any.nii.gz"} for name in names}
cases["angle"] = {name: {"angle": angle} for name, angle in zip(names, (240, 250, 330, 220))}
cases["length"] = {name: {"length": [20.25, 60.25]} for name in names}
cases["axes"] = {names[0]: {"length_y": [10, 45]}, names[1]: {"length_y_abs": [30, 70]}, names[2]: {"length_x": [20, 60], "length_z": [0.001, 30]},
                 names[3]: {"length_z_abs": [30, 52], "length_x_abs": [1, 25]}}
cases["all"] = {name: {key: value for case in list(cases.values())[1:] for key, value in case[name].items()} for name in names}
for case, more in cases.items():
    write({name: {**config[name], **more.get(name, {})} for name in names}, "config.json")
    theirs, stats = scil("tracks.trk", "config.json", "scil")
    glslines("segment", "tracks.trk", "config.json", "-o", "ours.trx", "--table", "ours.tsv")
    with open("ours.tsv") as file:
        ours = {row["bundle"]: int(row["count"]) for row in csv.DictReader(file, delimiter="\t")}
    for name in names:
        joined = stats[name]["Initial count head to tail"]
        report(f"{case}: {name}", ours[name] == stats[name]["VS"], f"{ours[name]} streamlines, {stats[name]['VS']} of scilpy, {joined} by their ends")
    for name in names:
        if ours[name] == 0:
            continue
        glslines("edit", "ours.trx", "one.trk", "--group", name, "--fields", "none")
        report(f"{case}: {name}, streamlines", lines("one.trk") == lines(f"scil/segmented_VB/{name}_VS.trk"), "the same ones")
    theirs, _ = scil("tracks.trk", "config.json", "scil", "--unique", "--save_wpc_separately", "--compute_ic")
    glslines("score", "tracks.trk", "--truth", "config.json", "--json", "score.json")
    with open("score.json") as file:
        score = json.load(file)["score"]
    pairs = [("VS", "valid"), ("WPC", "wrong_path"), ("IC", "invalid_connections"), ("NC", "no_connections"), ("VB", "valid_bundles"), ("IB", "invalid_bundles")]
    report(f"{case}: score", all(theirs[a] == score[b] for a, b in pairs), ", ".join(f"{a} {theirs[a]} {score[b]}" for a, b in pairs))
    worst = 0
    for bundle in score["bundles"]:
        them = theirs["bundle_wise"][bundle["name"]]
        for a, b in (("OL", "overlap"), ("OR_pct_vs", "overreach"), ("OR_pct_gt", "overreach_gt"), ("f1", "f1")):
            worst = max(worst, abs(them[a] - bundle[b]))
    report(f"{case}: overlap, overreach, f1", worst < 1e-12, f"differ by {worst:.1e} at most")

# endpoints in one image, a tractogram for a mask, and names in a folder
os.makedirs("folder", exist_ok=True)
name = names[0]
image = nib.load(f"{name}_head.nii.gz")
both = (np.asarray(image.dataobj) + np.asarray(nib.load(f"{name}_tail.nii.gz").dataobj)) > 0
save(both, image.affine, f"folder/{name}_ends.nii.gz")
write({name: {"gt_mask": f"{name}.nii.gz", "head": f"{name}_head.nii.gz", "tail": f"{name}_tail.nii.gz", "all_mask": f"{name}_all.nii.gz"}}, "first.json")
glslines("segment", "tracks.trk", "first.json", "-o", "ones.trk")
shutil.copy("ones.trk", "folder/ones.trk")
write({name: {"gt_mask": "ones.trk", "all_mask": "ones.trk", "endpoints": f"{name}_ends.nii.gz"}}, "config.json")
theirs, stats = scil("tracks.trk", "config.json", "scil", "--gt_dir", "folder", "--unique", "--save_wpc_separately")
glslines("segment", "tracks.trk", "config.json", "--folder", "folder", "--table", "ours.tsv")
glslines("score", "tracks.trk", "--truth", "config.json", "--folder", "folder", "--json", "score.json")
with open("ours.tsv") as file:
    ours = {row["bundle"]: int(row["count"]) for row in csv.DictReader(file, delimiter="\t")}
with open("score.json") as file:
    score = json.load(file)["score"]
report("endpoints, tractogram, folder", ours[name] == stats[name]["VS"] == score["valid"] > 0, f"{ours[name]} streamlines, {stats[name]['VS']} of scilpy")
them = theirs["bundle_wise"][name]
report("endpoints, tractogram, folder: overlap", abs(them["OL"] - score["bundles"][0]["overlap"]) < 1e-12, f"{them['OL']:.6f}")
sys.exit(outcome())
