"""Runs a program that was written for cuslines: `python -m glslines.cuslines [--device NAME] [--api API] PROGRAM
[ARGUMENTS]`. PROGRAM is a .py file, or a console script by its name."""

import argparse
import importlib.metadata
import os
import runpy
import sys

from . import install


def _console_script(name):
    scripts = importlib.metadata.entry_points()
    if hasattr(scripts, "select"):
        found = list(scripts.select(group="console_scripts", name=name))
    else:  # Python 3.9
        found = [script for script in scripts.get("console_scripts", []) if script.name == name]
    return found[0] if found else None


def main():
    parser = argparse.ArgumentParser(prog="python -m glslines.cuslines", description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--api", default="auto", choices=["auto", "gl", "gles"])
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    install(options.device, options.api)
    sys.argv = [options.program] + options.arguments
    if os.path.isfile(options.program):
        sys.path.insert(0, os.path.dirname(os.path.abspath(options.program)))
        runpy.run_path(options.program, run_name="__main__")
        return 0
    script = _console_script(options.program)
    if script is None:
        parser.error("%s: neither a file nor a console script" % options.program)
    return script.load()()


if __name__ == "__main__":
    sys.exit(main())
