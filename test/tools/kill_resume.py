#!/usr/bin/env python3
"""Kills runs with --resume at random moments, up to three times each, and compares what the last one writes with an undisturbed run.

Takes turns with formats, one, two and three devices, maps, connectomes, weights, values, bundles and --select. By hand. Usage: kill_resume.py GLSLINES WORK_FOLDER [ROUNDS [SEED [SEEDS]]]
GLS_PROOF_DEVICE: on which device, else llvmpipe. GLS_PROOF_ONLY: runs that have this among their options.     Standard library only
"""
import gzip
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

program, work = (os.path.abspath(name) for name in sys.argv[1:3])
device = os.environ.get("GLS_PROOF_DEVICE", "llvmpipe")
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100
scale = 1 if device == "llvmpipe" else 40
seeds = int(sys.argv[5]) if len(sys.argv) > 5 else 6000 * scale
r = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
inputs = [f"{work}/in/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
MAP, MATRIX = ("--density", "d.nii.gz"), ("--connectome", f"{work}/in/labels.nii:c.csv")
SINKS = ((1, ()), (2, ()), (3, MAP), (1, (*MAP, "--dg", "prob", "--model", "csa")), (2, ("--select", str(seeds // 4))),
         (1, (*MATRIX, "--dg", "prob", "--model", "csd")), (2, ("--weights", *MAP, *MATRIX, "--dg", "prob", "--model", "csd")),
         (1, ("--weights", "--dg", "prob", "--model", "csd")), (3, (*MAP, *MATRIX, "--dg", "ptt", "--model", "csd", "--max-angle", "30")),
         (2, ("--dec", "e.nii.gz", "--sample", f"{work}/in/labels.nii:v.tsv", "--segment", f"{work}/in/bundles.tsv:b.tsv", "--dg", "prob", "--model", "csa")))
COLUMNS = ("--sample", f"{work}/in/labels.nii", "--stat-tck", "median", "--stat-tck", "max", "--segment", f"{work}/in/bundles.tsv", "--weights", "--dg", "prob", "--model", "csd")
cases = [(suffix, devices, more) for suffix in ("trx", "trk", "tck") for devices, more in SINKS] + [("trx", 2, COLUMNS)]
if os.environ.get("GLS_PROOF_ONLY"):
    cases = [case for case in cases if os.environ["GLS_PROOF_ONLY"] in " ".join(case[2])]


def command(suffix, more):
    return [program, "track", *inputs, "--sphere", "small", "-q", "--nseeds", str(seeds), *more, "-o", f"a.{suffix}", "--sidecar", "none"]


def contents(folder):
    return {name: open(f"{folder}/{name}", "rb").read() for name in os.listdir(folder)}


shutil.rmtree(work, ignore_errors=True)
os.makedirs(f"{work}/whole")
subprocess.run([program, "phantom", f"{work}/in", "--shape", "24", "26", "22", "--directions", "30", "-q"], check=True)
# the mask, numbered by slices, as labels
with gzip.open(f"{work}/in/mask.nii.gz") as file:
    mask = bytearray(file.read())
start = int(struct.unpack("<f", mask[108:112])[0])
shape = struct.unpack("<3h", mask[42:48])
bytes_each = struct.unpack("<h", mask[72:74])[0] // 8
for z in range(shape[2]):
    for at in range(start + z * shape[0] * shape[1] * bytes_each, start + (z + 1) * shape[0] * shape[1] * bytes_each, bytes_each):
        mask[at] *= 1 + z // 4
with open(f"{work}/in/labels.nii", "wb") as file:
    file.write(mask)
with open(f"{work}/in/bundles.tsv", "w") as file:
    rows = (("low", (2,)), ("high", (4,)), ("both", (2, 3)))
    file.write("bundle\tinclude\n" + "".join(f"{name}\t{';'.join(f'{work}/in/labels.nii:{label}' for label in labels)}\n" for name, labels in rows))
whole, seconds = {}, {}
for suffix, devices, more in cases:
    if (suffix, more) in whole:
        continue
    folder = f"{work}/whole/{len(whole)}"
    os.makedirs(folder)
    start = time.monotonic()
    subprocess.run([*command(suffix, more), "--device", device], cwd=folder, check=True)
    seconds[more] = time.monotonic() - start
    whole[suffix, more] = contents(folder)
failures = kills = behind = over = 0
for number in range(rounds):
    suffix, devices, more = cases[number % len(cases)]
    folder = f"{work}/out"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = {**os.environ, "GLSLINES_MAP": r.choice(("device", "host"))}
    run = [*command(suffix, more), "--resume", "--chunk-size", str(max(1, seeds // r.choice((120, 60, 30, 15)))), "--device", ",".join([device] * devices)]
    problem, ended = "", False
    for _ in range(r.randint(1, 3)):
        process = subprocess.Popen(run, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
        try:
            error = process.communicate(timeout=(0.2 + 0.8 * r.random()) * seconds[more])[1]
            ended = process.returncode == 0
            problem = problem or ("" if ended else f"exit code {process.returncode}: {error}")
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            kills += 1
            process.communicate()
        left = os.listdir(folder)
        if f"a.{suffix}" in left and f"a.{suffix}.resume" not in left:
            ended = True # the run was complete except for the end of the process
            break
        if f"a.{suffix}" not in left and left not in ([], [f"a.{suffix}.resume"]):
            problem = f"left behind: {left}"
    # most kills shall come between the first batch and the last one, however fast the machine is at the moment
    if ended:
        over += 1
        seconds[more] *= 0.9
    elif not problem:
        journal = f"{folder}/a.{suffix}.resume"
        went_on = os.path.exists(journal) and os.path.getsize(journal) > 1000
        behind += went_on
        seconds[more] *= 1 if went_on else 1.1
        last = subprocess.run(run, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
        problem = "" if last.returncode == 0 else f"exit code {last.returncode}: {last.stderr}"
    if not problem and contents(folder) != whole[suffix, more]:
        problem = f"other files: {sorted(name for name, what in contents(folder).items() if whole[suffix, more].get(name) != what)} of {sorted(os.listdir(folder))}"
    if problem:
        failures += 1
        print(f"FAIL {number}: {suffix}, {devices} devices, {' '.join(more)}: {problem}", flush=True)
    if number % 10 == 9:
        print(f"{number + 1} rounds", flush=True)
print(f"{rounds} rounds, {kills} kills, {behind} went on behind what was journaled, {over} were over before a kill: {failures} failures")
sys.exit(failures > 0)
