"""`glslines bench` beside DIPY and MRtrix3 on the same data and seeds: the record of the benchmark, with the other programs' figures under "peers".

    peers.py GLSLINES RECORD.json [--seconds T] [--without dipy|mrtrix] [options of glslines bench]

This Python has to have DIPY (dipy_trackers.py), PATH has to have tckgen, unless left out. Each tracker gets as many seeds from the
front of the list as T seconds take; what is compared is points per second."""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

here = Path(__file__).resolve().parent
DEFAULTS = {"step": 0.5, "angle": 60, "length": 500}


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["(no message)"]
        sys.exit(f"{command[0]} ended with status {done.returncode}: {lines[-1]}")
    return done.stdout


def tck_count(path):
    """Returns the numbers of streamlines and points of a TCK file of float32, from its header and its size."""
    header = path.open("rb").read(4096).split(b"END")[0].decode()
    fields = dict(line.split(": ", 1) for line in header.splitlines() if ": " in line)
    rows = (path.stat().st_size - int(fields["file"].split()[1])) // struct.calcsize("3f")
    streamlines = int(fields["count"])
    return streamlines, rows - streamlines - 1  # there is a row behind each streamline, and one at the end of the file


def dipy(folder, seconds):
    version = run(sys.executable, here / "dipy_trackers.py", "--check").strip()
    for r in json.loads(run(sys.executable, here / "dipy_trackers.py", folder, seconds))["results"]:
        yield {"program": "DIPY", "version": version, "tracker": r["name"], **{key: r[key] for key in ("dg", "threads", "seeds", "streamlines", "points", "seconds")}}


def tckgen(folder, cutoff, step_mm, threads, seeds):
    out = folder / "out.tck"
    start = time.perf_counter()
    run("tckgen", folder / "fod.nii", out, "-algorithm", "iFOD1", "-seed_image", folder / "seed_mask.nii", "-mask", folder / "track_mask.nii", "-select", 0, "-seeds", seeds,
        "-step", step_mm, "-angle", DEFAULTS["angle"], "-cutoff", cutoff, "-minlength", 0, "-maxlength", DEFAULTS["length"], "-nthreads", threads, "-quiet", "-force")
    return time.perf_counter() - start, *tck_count(out)


def mrtrix(folder, cutoff, step_mm, nseeds, wanted):
    """Times the trackers. The time of a run of one seed, which reads the same files, is subtracted. Fast machines get more
    seeds, so that the rest can be measured."""
    version = run("tckgen", "-version").split()[2]
    for threads in sorted({2, max(2, os.cpu_count())}):
        loading = tckgen(folder, cutoff, step_mm, threads, 1)[0]
        seeds = nseeds
        seconds, streamlines, points = tckgen(folder, cutoff, step_mm, threads, seeds)
        if seconds - loading < wanted / 2:
            seeds = min(100 * nseeds, int(seeds * wanted / max(seconds - loading, wanted / 100)))
            seconds, streamlines, points = tckgen(folder, cutoff, step_mm, threads, seeds)
        yield {"program": "MRtrix3", "version": version, "tracker": "tckgen iFOD1", "dg": "prob", "threads": threads, "seeds": seeds, "streamlines": streamlines, "points": points,
               "seconds": max(seconds - loading, 1e-6)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("glslines")
    parser.add_argument("record", type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--without", action="append", default=[], choices=["dipy", "mrtrix"])
    o, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="glslines-peers-") as name:
        folder = Path(name)
        os.environ["GLSLINES_BENCH_DATA"] = name
        print(run(o.glslines, "bench", "--json", o.record, *options))
        record = json.loads(o.record.read_text())
        columns, job = record["columns"], json.loads((folder / "job.json").read_text())
        if "mrtrix" not in o.without and "prob" not in job["dg"]:
            sys.exit("tckgen's iFOD1 is compared with --dg prob, which is not asked for; --without mrtrix")
        record["mrtrix_cutoff"] = job["mrtrix_cutoff"]
        peers = [] if "dipy" in o.without else list(dipy(folder, o.seconds))
        if "mrtrix" not in o.without:
            nseeds = max(column["seeds"] for column in columns)
            peers += mrtrix(folder, job["mrtrix_cutoff"], columns[0]["parameters"]["step_size_mm"], nseeds, o.seconds)
    for peer in peers:
        peer["points_per_second"] = round(peer["points"] / peer["seconds"])
        ratios = [column["points_per_second"] for column in record["columns"] if column["dg"] == peer["dg"] and peer["points_per_second"] > 0]
        text = "  ".join(f"{r['kernels_and_transfers'] / peer['points_per_second']:.3g} x ({r['whole'] / peer['points_per_second']:.3g} x)" for r in ratios)
        print(f"{peer['program'] + ' ' + peer['tracker']:46} {peer['dg']:5} {peer['threads']:3} threads {peer['seeds']:10} seeds {peer['points_per_second']:12} points/s  {text}")
    print("ratios: glslines, kernels and transfers (whole)")
    record["peers"] = peers
    o.record.write_text(json.dumps(record, indent="\t") + "\n")


main()
