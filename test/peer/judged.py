"""Whether a file that was changed is read as it was meant, refused, or read with other values: for inputs.py and
inputs_tables.py. GLSLINES_LIBRARY names the library."""

import os
import subprocess
import sys

import numpy as np

from checks import report

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
import glslines  # noqa: E402


class Refused(Exception):
    """Of one of the two programs, with what it said."""


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True)
    if done.returncode:
        raise Refused(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def no_reading(path):
    """For changes of which the other program makes something else than the file was meant to be."""
    raise Refused(path)


def close(a, b):
    """Lists of arrays, or one array."""
    a, b = ([np.asarray(x, float) for x in (v if isinstance(v, list) else [v])] for v in (a, b))
    return len(a) == len(b) and all(
        x.shape == y.shape and np.allclose(x, y, atol=2e-4, equal_nan=True) for x, y in zip(a, b)
    )


def finite(value):
    return all(np.isfinite(np.asarray(x, float)).all() for x in (value if isinstance(value, list) else [value]))


def judge(name, path, ours, theirs, truth, strict=True):
    """strict: False where the other program makes up values in place of those that are missing (and says so), where
    refusing is right, too."""
    try:
        want = theirs(path)
    except Exception:  # whatever the other program raises for a file that it does not read
        want = None
    if want is not None and not finite(want):
        want = None  # no reading of it is right
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
    """Writes a file. What was to be changed must not be as before."""
    if data == before and what != "as it was written":
        report(f"{what}: {name} is changed", False)
    with open(name, "wb") as out:
        out.write(data)
    return name
