"""Decides whether a changed file is read as it was meant, refused, or read with other values; for inputs.py and
inputs_tables.py. GLSLINES_LIBRARY names the library."""

import os
import subprocess
import sys

import numpy as np

from checks import report

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
import glslines  # noqa: E402


class Refused(Exception):
    """Raised when one of the two programs refuses a file, with its message."""


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True)
    if done.returncode:
        raise Refused(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def no_reading(path):
    """Refuses to read: for changes after which the other program reads something else than the file was meant to be."""
    raise Refused(path)


def close(a, b):
    """Whether two arrays, or two lists of arrays, are equal to rounding."""
    a, b = ([np.asarray(x, float) for x in (v if isinstance(v, list) else [v])] for v in (a, b))
    return len(a) == len(b) and all(
        x.shape == y.shape and np.allclose(x, y, atol=2e-4, equal_nan=True) for x, y in zip(a, b)
    )


def finite(value):
    return all(np.isfinite(np.asarray(x, float)).all() for x in (value if isinstance(value, list) else [value]))


def judge(name, path, ours, theirs, truth, strict=True):
    """Judges one file. strict: False if the other program makes up values in place of missing ones, and says so; refusing the
    file is right, too, then."""
    try:
        want = theirs(path)
    except Exception:  # the other program may raise any exception for a file that it does not read
        want = None
    if want is not None and not finite(want):
        want = None  # no way to read the file is right
    if want is None and name.endswith("as it was written"):
        report(name + ": the other program reads it", False)
    try:
        got = ours(path)
    except (Refused, glslines.Error) as error:
        text = str(error)
        clear = os.path.basename(path).split("/")[0] in text and "\n" not in text
        report(
            name, clear and (want is None or not strict), ("refused by both: " if want is None else "refused: ") + text
        )
        return
    if want is None:
        report(name, close(got, truth), "only the other program refuses it")
    else:
        report(
            name, close(got, want), "" if close(got, want) else f"other values: {str(got)[:200]} and {str(want)[:200]}"
        )


def put(name, data, what=None, before=None):
    """Writes a file. Fails if the change left it as it was."""
    if data == before and what != "as it was written":
        report(f"{what}: {name} is changed", False)
    with open(name, "wb") as out:
        out.write(data)
    return name
