#!/usr/bin/env python3
"""Every command that writes, without room: a full disk, files that may not grow, little address space, standard
descriptors that are closed, signals at random moments, inputs that are pipes which nobody writes to. Each run ends with
all of its files or none, with a documented exit code and at most one line of an error, and at the first signal. By hand: some minutes; as root, for the full disk.

Usage: hardship.py GLSLINES WORK_FOLDER [COMMAND]      The commands are those of outputs.py. Standard library only
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import outputs

r = random.Random(14)
CODES = (0, 1, 3, 4, 5, 6, 7, 8)


def line_of(base, rest):
    words = f"{base} {rest}".split()
    needed = sorted(set(re.findall(r"<([^>]+)>", " ".join(words))))
    return [re.sub(r"[<>{}]", "", word) for word in words], needed


def make_folder(needed, place):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    for name in needed:
        shutil.copy(f"{outputs.inputs_made}/{name}", f"{place}/{name}")
    for name in outputs.beside(needed):
        shutil.copy(f"{outputs.inputs_made}/{name}", place)


def files_of(place):
    return {name: what for name, what in outputs.print_of(place).items() if what[0] != 0o040000}


def judge(told, place, before, whole, code, error, signalled=False):
    after = files_of(place)
    lines = [text for text in error.splitlines() if text.startswith("glslines: ") and not text.startswith("glslines: warning: ")]
    made = set(after) - set(before)
    problem = ""
    if any(after.get(name) != what for name, what in before.items()):
        problem = "an input changed"
    elif code in (0, 8) and made != whole:
        problem = f"exit code {code} with {sorted(made)}, not {sorted(whole)}"
    elif code not in (0, 8) and made and not (signalled and made == whole):
        problem = f"exit code {code}, left: {sorted(made)}"
    elif code not in CODES and not signalled:
        problem = f"exit code {code}"
    elif code not in (0, 8) and not signalled and len(lines) != 1:
        problem = f"{len(lines)} lines"
    if problem:
        print(f"FAIL: {told}: {problem}: {' '.join(lines)[:200]}", flush=True)
    return bool(problem)


def wait_for_nothing(name, line, needed, place, seconds):
    """Replaces each input by a pipe that has no writer, or a silent one. The run ends by itself, or at the first SIGINT."""
    bad = runs = 0
    for one in needed + outputs.beside(needed):
        for silent in (False, True):
            make_folder(needed, place)
            os.unlink(f"{place}/{one}")
            os.mkfifo(f"{place}/{one}")
            before = files_of(place)
            writer = os.open(f"{place}/{one}", os.O_RDWR) if silent else -1
            process = subprocess.Popen([outputs.program, *line, "-q"], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            told = f"{name}, {one} is a {'silent ' if silent else ''}pipe"
            try:
                process.wait(seconds + 1)
                stopped = False
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                stopped = True
            try:
                error = process.communicate(timeout=20)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                error = process.communicate()[1] + "glslines: goes on after a signal"
            if stopped and process.returncode != 130:
                print(f"FAIL: {told}: exit code {process.returncode} after SIGINT: {error.strip()[-200:]}", flush=True)
                bad += 1
            else:
                whole = set(files_of(place)) - set(before) if process.returncode == 0 else set()
                bad += judge(told, place, before, whole, process.returncode, error, stopped)
            if os.environ.get("VERBOSE"):
                print(f"{told}: {process.returncode}: {error.strip()[-160:]}", flush=True)
            runs += 1
            if silent:
                os.close(writer)
    return bad, runs


def main():
    outputs.prepare()
    bad = runs = 0
    for name, (base, rest, options) in outputs.COMMANDS.items():
        if outputs.only and name != outputs.only or name == "weights_in_place":
            continue
        # an option that names a file is given once
        more = {one.split(" ")[0]: one for one in options if not one.startswith(("--report", "--picture"))}.values()
        line, needed = line_of(base.replace(":1,2", ":1"), " ".join([rest, *more]))
        place = f"{outputs.work}/hard"
        make_folder(needed, place)
        before = files_of(place)
        start = time.monotonic()
        done = outputs.run([*line, "-q"], place)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            print(f"{name}: exit code {done.returncode}: {done.stderr.strip()[-200:]}")
            continue
        whole = set(files_of(place)) - set(before)
        quoted = " ".join([outputs.program, *line, "-q"])

        def shell(told, text, where=place):
            nonlocal bad, runs
            done = subprocess.run(["sh", "-c", text], cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
            bad += judge(f"{name}, {told}", where, before, whole, done.returncode, done.stderr)
            runs += 1

        for blocks in (0, 1, 4, 16):
            make_folder(needed, place)
            shell(f"ulimit -f {blocks}", f"ulimit -f {blocks}; exec {quoted}")
        for kb in (120000, 150000, 300000): # below 110000 the libraries (also those of a desktop) end the process before main
            make_folder(needed, place)
            shell(f"ulimit -v {kb}", f"ulimit -v {kb}; exec timeout 60 {quoted}")
        make_folder(needed, place)
        shell("closed descriptors", f"exec {quoted} <&- 2>&-")
        for spare in (0, 8, 40):
            small = f"{outputs.work}/small"
            os.makedirs(small, exist_ok=True)
            size = sum(os.path.getsize(f"{outputs.inputs_made}/{one}") // 4096 + 1 for one in needed + outputs.beside(needed)) * 4 + spare
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", small], check=True)
            try:
                for one in needed + outputs.beside(needed):
                    shutil.copy(f"{outputs.inputs_made}/{one}", f"{small}/{one}")
                shell(f"disk with {spare} kB", f"exec {quoted}", small)
            finally:
                subprocess.run(["umount", small], check=True)
        for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, signal.SIGUSR1, signal.SIGPIPE):
            make_folder(needed, place)
            process = subprocess.Popen([outputs.program, *line, "-q"], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(r.random() * seconds)
            process.send_signal(kind)
            error = process.communicate()[1]
            bad += judge(f"{name}, {kind.name}", place, before, whole, process.returncode, error, True)
            runs += 1
        found, tried = wait_for_nothing(name, line, needed, place, seconds)
        bad += found
        runs += tried
    print(f"{runs} runs, {bad} failures")
    sys.exit(bad > 0)


main()
