#!/usr/bin/env python3
"""Checks TCK files: tck.py same A B FRACTION (of streamlines alike to 0.1 mm), tck.py along FILE X Y Z (all steps parallel to this world direction).
tck.py ends FILE A B prints how many streamlines there are, and of how many the two ends are the first points with x below A and above B.
Exits with 1 where a check fails. Standard library only."""
import math
import re
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    at = int(re.search(rb"file: \. (\d+)", data).group(1))
    values = struct.unpack(f"<{(len(data) - at) // 4}f", data[at:])
    lines, line = [], []
    for i in range(0, len(values) - 2, 3):
        point = values[i : i + 3]
        if math.isfinite(point[0]):
            line.append(point)
        elif line:
            lines.append(line)
            line = []
    return lines


def same(a, b, fraction):
    a, b = read(a), read(b)
    alike = sum(len(x) == len(y) and all(math.dist(u, v) < 0.1 for u, v in zip(x, y)) for x, y in zip(a, b))
    return len(a) == len(b) > 0 and alike >= float(fraction) * len(a)


def along(path, *direction):
    direction = [float(c) for c in direction]
    steps = [[q - p for p, q in zip(u, v)] for line in read(path) for u, v in zip(line, line[1:])]
    cosines = [abs(sum(p * q for p, q in zip(step, direction))) / (math.hypot(*step) * math.hypot(*direction)) for step in steps]
    return len(steps) > 0 and min(cosines) > 0.9999


def ends(path, below, above):
    lines = read(path)
    first = lambda before, x: before >= float(below) > x or before <= float(above) < x
    print(len(lines), sum(first(line[1][0], line[0][0]) and first(line[-2][0], line[-1][0]) for line in lines))
    return True


if __name__ == "__main__":
    sys.exit(0 if {"same": same, "along": along, "ends": ends}[sys.argv[1]](*sys.argv[2:]) else 1)
