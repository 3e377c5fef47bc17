"""The program of the wheel, as a console script."""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "glslines")
    os.execv(program, [program] + sys.argv[1:])
