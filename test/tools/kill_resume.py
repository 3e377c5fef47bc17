#!/usr/bin/env python3
"""Kills runs with --resume at random moments, up to three times each, and compares what the last one writes with an undisturbed run.

Takes turns with formats, one, two and three devices, maps and --select. By hand. Usage: kill_resume.py GLSLINES WORK_FOLDER [ROUNDS [SEED]]
GLS_PROOF_DEVICE: on which device, else llvmpipe.      Standard library only
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

program, work = (os.path.abspath(name) for name in sys.argv[1:3])
device = os.environ.get("GLS_PROOF_DEVICE", "llvmpipe")
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100
scale = 1 if device == "llvmpipe" else 40
r = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
inputs = [f"{work}/in/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
cases = [(suffix, devices, more) for suffix in ("trx", "trk", "tck") for devices, more in
         ((1, ()), (2, ()), (3, ("--density", "d.nii.gz")), (1, ("--density", "d.nii.gz", "--dg", "prob", "--model", "csa")), (2, ("--select", str(1500 * scale))))]


def command(suffix, more):
    return [program, "track", *inputs, "--sphere", "small", "-q", "--nseeds", str(6000 * scale), *more, "-o", f"a.{suffix}", "--sidecar", "none"]


def contents(folder):
    return {name: open(f"{folder}/{name}", "rb").read() for name in os.listdir(folder)}


shutil.rmtree(work, ignore_errors=True)
os.makedirs(f"{work}/whole")
subprocess.run([program, "phantom", f"{work}/in", "--shape", "24", "26", "22", "--directions", "30", "-q"], check=True)
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
    run = [*command(suffix, more), "--resume", "--chunk-size", str(scale * r.choice((50, 100, 200, 400))), "--device", ",".join([device] * devices)]
    problem, ended = "", False
    for _ in range(r.randint(1, 3)):
        process = subprocess.Popen(run, cwd=folder, stderr=subprocess.PIPE, text=True)
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
            ended = True # all was done but the end of the process
            break
        if f"a.{suffix}" not in left and left not in ([], [f"a.{suffix}.resume"]):
            problem = f"left behind: {left}"
    # most kills shall come between the first batch and the last, however fast the machine is at the moment
    if ended:
        over += 1
        seconds[more] *= 0.9
    elif not problem:
        journal = f"{folder}/a.{suffix}.resume"
        went_on = os.path.exists(journal) and os.path.getsize(journal) > 1000
        behind += went_on
        seconds[more] *= 1 if went_on else 1.1
        last = subprocess.run(run, cwd=folder, stderr=subprocess.PIPE, text=True)
        problem = "" if last.returncode == 0 else f"exit code {last.returncode}: {last.stderr}"
    if not problem and contents(folder) != whole[suffix, more]:
        problem = f"other files: {sorted(os.listdir(folder))}"
    if problem:
        failures += 1
        print(f"FAIL {number}: {suffix}, {devices} devices, {' '.join(more)}: {problem}", flush=True)
    if number % 10 == 9:
        print(f"{number + 1} rounds", flush=True)
print(f"{rounds} rounds, {kills} kills, {behind} went on behind what was journaled, {over} were over before a kill: {failures} failures")
sys.exit(failures > 0)
