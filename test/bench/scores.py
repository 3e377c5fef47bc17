#!/usr/bin/env python3
"""Scores of every model and getter on the phantom, with today's defaults and with those of GPUStreamlines: the table of src/doc/accuracy.md.

Usage: scores.py GLSLINES WORK [--update accuracy.md]     A few minutes on a software renderer.
"""
import json
import os
import subprocess
import sys

COMMANDS = {"defaults": [], "gpustreamlines": ["--preset", "gpustreamlines"]}


def rows(tool, work, name):
    path = os.path.join(work, name + ".json")
    command = [tool, "score", "--model", "all", "--nseeds", "2000", "--device", "cpu", "--json", path, "--force", "-q", *COMMANDS[name]]
    print(" ".join(command), flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(path) as file:
        return json.load(file)["methods"]


def cells(row):
    share = lambda key: f"{100 * row[key] / row['streamlines']:.1f}"
    bundles = f"{row['valid_bundles']}/29"
    means = [f"{100 * row[key]:.1f}" for key in ("mean_overlap", "mean_overreach", "mean_f1")]
    return [share("valid"), share("wrong_path"), share("invalid_connections"), share("no_connections"), bundles, str(row["invalid_bundles"]), *means]


def main():
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(work, exist_ok=True)
    today, before = (rows(tool, work, name) for name in COMMANDS)
    old = {(r["model"], r["dg"]): r for r in before}
    lines = ["| method | VS % | WPC % | IC % | NC % | VB | IB | OL % | OR % | f1 % | gpustreamlines: VS % | IC % | f1 % |", "|" + "---|" * 13]
    for row in today:
        was = cells(old[row["model"], row["dg"]]) if (row["model"], row["dg"]) in old else [""] * 9
        lines.append("| " + " | ".join([f"{row['model']} {row['dg']}", *cells(row), was[0], was[2], was[8]]) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    if "--update" in sys.argv:
        page = sys.argv[sys.argv.index("--update") + 1]
        begin, end = "<!-- scores -->\n", "<!-- end of scores -->\n"
        head, rest = open(page).read().split(begin)
        with open(page, "w") as file:
            file.write(head + begin + text + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
