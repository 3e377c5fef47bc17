#!/usr/bin/env python3
"""Measures how well atlases that `glslines atlas` makes recognise a subject who took no part in them.

usage: atlas_truth.py GLSLINES WORK_DIR [SUBJECTS] [OPTION ...]

The subjects are those of recognition_truth.py, each moved and bent. For each of them an atlas is made of the others, and beside it
each of the others alone is the atlas. OPTION: of `atlas`.
"""
import numpy as np
import recognition_truth as truth
from recognition_truth import OPTIONS, SUBJECTS, dice, groups, path, run


def score(number, atlas, known, *options):
    run("recognize", path(f"subject{number}.tck"), atlas, "-o", path("found.trx"), "--reference", path("subject0", "dwi.nii.gz"), *options)
    found = groups(path("found.trx"))
    return [dice(found.get(name, set()), members) for name, members in known.items() if members]


def main():
    all_bundles = {s: truth.atlas(s, f"bundles{s}") for s in range(1, SUBJECTS + 1)}
    rows = {}
    for number, known in all_bundles.items():
        others = [s for s in all_bundles if s != number]
        made = path(f"made_without{number}.trx")
        run("atlas", *(path(f"bundles{s}") for s in others), "-o", made, "--config", path("made.json"), "--reference",
            path("subject0", "dwi.nii.gz"), *OPTIONS)
        for threshold in (8, 4):
            words = ["--threshold", threshold]
            rows.setdefault(f"made of the others, {threshold} mm", []).extend(score(number, made, known, *words))
            for s in others:
                rows.setdefault(f"one of the others, {threshold} mm", []).extend(score(number, path(f"bundles{s}"), known, *words))
        rows.setdefault("made of the others, --config", []).extend(score(number, made, known, "--config", path("made.json")))
    for name, values in rows.items():
        print(f"{name}\t{len(values)} bundles\tmean Dice {np.mean(values):.3f}")


main()
