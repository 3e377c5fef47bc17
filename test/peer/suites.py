#!/usr/bin/env python3
"""What the commands of MRtrix3, DIPY, nibabel and trx-python are tested for in their own suites, with counterparts here: each
row has the peer's command, ours, and how both are compared.

usage: suites.py GLSLINES WORK_DIR [--only TEXT] [--update]

A row agrees, differs for a reason of the list REASONS, which names the page of the manual that says so, or fails: also one that
has a reason and agrees. The table of agreement in src/doc/accuracy.md has to be that of the rows; --update writes it there and
runs nothing.
--only: rows whose command and name this regular expression finds. Exits with 1 if a row fails or the table is old, with 77 without MRtrix3.

suites_scene.py makes the data, suites_how.py compares, suites_images.py, suites_tracks.py, suites_tracking.py and suites_files.py
have the rows."""
import argparse
import collections
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor

import suites_files
import suites_images
import suites_scene
import suites_tracking
import suites_tracks
from suites_reasons import REASONS

DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/doc")
Result = collections.namedtuple("Result", "code out err")
Trial = collections.namedtuple("Trial", "peer ours")
Outcome = collections.namedtuple("Outcome", "row word detail")
LIMIT = 120  # seconds of a command
MODULES = (suites_images, suites_tracks, suites_tracking, suites_files)


def execute(command):
    """Runs a line of the shell, or of Python after 'python: '."""
    if not command.startswith("python: "):
        # in a process group of its own, which is killed as a whole when its time is over
        with subprocess.Popen(["sh", "-ec", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return Result(process.returncode, out, err)
    try:
        exec(command[len("python: "):], vars(suites_files))
    except Exception:
        return Result(1, "", traceback.format_exc())
    return Result(0, "", "")


def judge(number):
    row = rows[number]
    folder = os.path.join(work, "rows", f"{number:03d}")
    os.makedirs(folder)
    for name in os.listdir(os.path.join(work, "data")):
        os.symlink(os.path.join("../../data", name), os.path.join(folder, name))
    os.chdir(folder)
    try:
        trial = Trial(execute(row.peer), execute(row.ours))
        refuses = getattr(row.how, "refuses", False)
        for who, result in zip(("the peer", "glslines"), trial):
            if result.code and not refuses:
                return "fail", f"{who}: exit code {result.code}: {result.err.strip()[-600:]}"
            if result.code < 0:
                return "fail", f"{who}: killed by signal {-result.code}"
        return row.how(trial)
    except Exception as error:
        return "fail", f"{type(error).__name__}: {error}"


def word_of(row, word):
    """Returns the outcome of a row. A reason is needed for a difference, and only for a difference."""
    if word == "differ":
        return "differs" if row.reason else "FAIL"
    return "ok" if word == "agree" and not row.reason else "FAIL"


def run():
    # the worker processes have the rows already, because functions cannot be sent to them
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        outcomes = []
        for row, (word, detail) in zip(rows, pool.map(judge, range(len(rows)))):
            outcomes.append(Outcome(row, word_of(row, word), detail))
            note = f" [{row.reason}]" if row.reason else ""
            print(f"{outcomes[-1].word:<7} {row.of}: {row.name}{note}: {detail}", flush=True)
            if outcomes[-1].word == "FAIL":
                print(f"        {row.peer}\n        {row.ours}", flush=True)
        return outcomes


def table():
    """Returns the rows by command, and the reasons in the order of their first row. A row that does not come out as it says
    fails."""
    reasons = list(dict.fromkeys(row.reason for row in rows if row.reason))
    out = ["| command of the peer | rows | agree | differ by decision | reasons |", "|---|---|---|---|---|"]
    for name in [*dict.fromkeys(row.of for row in rows), "all"]:
        of = [row for row in rows if name in (row.of, "all")]
        differ = [row.reason for row in of if row.reason]
        here = ", ".join(str(reasons.index(reason) + 1) for reason in dict.fromkeys(differ)) if name != "all" else ""
        out.append(f"| {name} | {len(of)} | {len(of) - len(differ)} | {len(differ)} | {here} |")
    out += ["", "Reasons of the differences:", ""]
    for i, reason in enumerate(reasons):
        words, page, _ = REASONS[reason]
        title = page.split("#")[0]
        out += textwrap.wrap(f"{i + 1}. {words} See [{title}]({title}.md{page[len(title):]}).", 118, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(out)


def manual(update):
    """Whether the table of the manual has these rows."""
    path = os.path.join(DOC, "accuracy.md")
    with open(path) as file:
        page = file.read()
    new = re.sub(r"(<!-- suites -->\n).*?(<!-- end of suites -->)", lambda m: m[1] + table() + "\n" + m[2], page, flags=re.S)
    if update and new != page:
        with open(path, "w") as file:
            file.write(new)
    return new == page or update


def unsaid():
    """Returns the reasons that the pages which they name do not give."""
    for reason, (_, page, said) in REASONS.items():
        with open(os.path.join(DOC, page.split("#")[0] + ".md")) as file:
            if said not in re.sub(r"\s+", " ", file.read()):
                yield f"{reason}: src/doc/{page} has no words '{said}'"


def main():
    global tool, work, rows
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("work")
    parser.add_argument("--only")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep-data", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ.update(suites_scene.environment(os.path.abspath(args.tool)))
    tool, work = os.path.abspath(args.tool), os.path.abspath(args.work)
    if not shutil.which("tckgen"):
        print("MRtrix3 is not there")
        return 77
    rows = [row for module in MODULES for row in module.rows()]
    for reason in {row.reason for row in rows if row.reason} ^ REASONS.keys():
        sys.exit(f"{reason}: a reason of no row, or not among REASONS")
    if len({(row.peer, row.ours) for row in rows}) != len(rows):
        sys.exit("a row stands twice")
    for text in unsaid():
        sys.exit(text)
    if not manual(args.update):
        sys.exit(f"src/doc/accuracy.md has another table: {sys.argv[0]} GLSLINES WORK_DIR --update")
    if args.update:
        return 0
    shutil.rmtree(os.path.join(work, "rows"), ignore_errors=True)
    if not (args.keep_data and os.path.isdir(os.path.join(work, "data"))):
        shutil.rmtree(os.path.join(work, "data"), ignore_errors=True)
        suites_scene.make(tool, os.path.join(work, "data"))
    if args.only:
        rows = [row for row in rows if re.search(args.only, f"{row.of}: {row.name}")]
    outcomes = run()
    bad = [o for o in outcomes if o.word == "FAIL"]
    for o in bad:
        print(f"failed: {o.row.of}: {o.row.name}")
    print(f"{len(outcomes)} rows, {len(bad)} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
