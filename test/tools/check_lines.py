#!/usr/bin/env python3
"""Writes src/track/check/known_lines.c: what 'glslines devices --check' expects of the half-streamlines of its scene.

llvmpipe, which the tests hold against a reference in double precision, tracks the scene as it is and with textures that
round as those of GPUs do: positions between voxels to 8 bits by several rules, values to 11 bits. Of each half only the
points count that are the same every time: what follows hangs on a random choice or a comparison that rounding decides.

Usage: python3 test/tools/check_lines.py PROGRAM src/track/check/known_lines.c
       python3 test/tools/check_lines.py PROGRAM --try: how many halves of the table come out with other roundings
"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap

VARIANTS = ("boot4", "boot8", "prob4", "prob8", "det4", "det8", "ptt4", "ifod1", "ifod2", "sdstream", "fact", "eudx", "tensordet", "tensorprob", "nulldist1",
            "nulldist2", "closest", "bedpost", "pft")
SHADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "glsl")
TOLERANCE = 0.002  # mm

# Rounds texture coordinates q, in voxels, as hardware does.
NOISE = """#ifndef ROUNDING
#define ROUNDING
float rounding_noise(vec3 q, float k) { return fract(sin(dot(q, vec3(12.9898, 78.233, 37.719)) + k) * 43758.5453); }
vec3 rounding_shift(vec3 q) { return vec3(rounding_noise(q, 1.0 + SEED), rounding_noise(q, 2.0 + SEED), rounding_noise(q, 3.0 + SEED)); }
vec4 rounding_values(vec4 v, vec3 q)
{
    vec4 u = vec4(rounding_noise(q, 4.0 + SEED), rounding_noise(q, 5.0 + SEED), rounding_noise(q, 6.0 + SEED), rounding_noise(q, 7.0 + SEED));
    return v * (1.0 + (2.0 * u - 1.0) * VALUES);
}
#endif
"""
# for each name: rounding of a position, relative error of a value, number of a random sequence
ROUNDINGS = {
    "as it is": None,
    "nearest": ("floor({q} * 256.0 + 0.5) / 256.0", 0, 0),
    "down": ("floor({q} * 256.0) / 256.0", 0, 0),
    "up": ("ceil({q} * 256.0) / 256.0", 0, 0),
    "random": ("{q} + (rounding_shift({q}) - 0.5) / 256.0", 1 / 2048, 0),
    "random 2": ("{q} + (rounding_shift({q}) - 0.5) / 128.0", 1 / 2048, 50),
    "random 3": ("{q} + (rounding_shift({q}) - 0.5) / 128.0", 1 / 2048, 60),
    "values": ("{q}", 1 / 1024, 70),
}
# this one is not used for the table
OTHERS = {
    "other random": ("{q} + (rounding_shift({q}) - 0.5) / 256.0", 1 / 2048, 110),
    "other values": ("{q}", 1 / 2048, 120),
    "7 bits": ("floor({q} * 128.0 + 0.5) / 128.0", 0, 0),
    "6 bits": ("floor({q} * 64.0 + 0.5) / 64.0", 0, 0),
}


def replace_once(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def write_shaders(folder, rounding):
    """Writes the shaders that sample textures, with other roundings."""
    position, values, seed = rounding
    noise = NOISE.replace("SEED", f"{float(seed)}").replace("VALUES", f"{float(values)}")
    for name in ("base/textures.glsl", "guide/stop_map.glsl"):
        os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(SHADERS, name)) as file:
            text = file.read()
        if name.startswith("base"):
            q = "clamp(p, vec3(0.0), GRID - 1.0)"
            text = replace_once(text, f"floor({q} * VOLUME_ROUNDING + 0.5) * (1.0 / VOLUME_ROUNDING)", position.format(q=f"({q})"))
            found = re.search(r"texture\(volume\[i\], (.*)\)$", text, re.M)
            text = text.replace(found.group(0), f"rounding_values({found.group(0)}, {found.group(1)})")
        else:
            text = replace_once(text, "texture(stop_map, (p + 0.5) / GRID).r",
                                f"texture(stop_map, ({position.format(q='p')} + 0.5) / GRID).r")
        with open(os.path.join(folder, name), "w") as file:
            file.write(noise + text)


def track(program, variant, rounding, folder):
    """Returns {seed: [(back, forward)]}; each half is a list of points from the seed on."""
    env = dict(os.environ)
    if rounding:
        write_shaders(folder, rounding)
        # parallel transport reads cells by arithmetic if it can; make it sample textures, which round more
        env.update(GLSLINES_SHADER_DIR=folder, GLSLINES_ODF_CELLS="0")
    text = subprocess.run([program, "devices", "--device", "llvmpipe", "--variant", f"lines:{variant}:single"], env=env,
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = {}
    for line in text.splitlines():
        if not line.startswith("line\t"):
            continue
        seed, at, *points = line.split("\t")[1:]
        points = [tuple(map(float, point.split())) for point in points]
        assert int(at) < len(points), "a streamline without its seed"
        lines.setdefault(int(seed), []).append((points[int(at)::-1], points[int(at):]))
    return lines


def certain(halves):
    """Returns the number of points behind the seed that all runs have, negative if all end there; and the last of them."""
    n = 0
    while all(len(half) > n + 1 for half in halves) and all(
            max(abs(a - b) for a, b in zip(half[n + 1], halves[0][n + 1])) < TOLERANCE for half in halves):
        n += 1
    ends = all(len(half) == n + 1 for half in halves)
    return (-n if ends else n), halves[0][n]


def row(numbers):
    return "{" + ",".join(map(str, numbers)) + "},"


def write(tables, path):
    """Writes the file of known lines: the rows of each variant, and their numbers."""
    with open(path, "w") as file:
        print("/* Known streamlines of the check scene, a gls_known_line each, in the order of variants: their last points that do not\n"
              " * depend on how a device rounds. Generated by test/tools/check_lines.py, which describes the method. */\n"
              '#include "track/check/known_lines.h"\n\n/* clang-format off */\nconst gls_known_line gls_known_lines[] = {', file=file)
        rows = " ".join(row for rows in tables.values() for row in rows)
        print(*textwrap.wrap(rows, 120, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False), sep="\n", file=file)
        print("};\nconst uint16_t gls_known_line_counts[] =", row(map(len, tables.values())).replace("},", "};"), file=file)


def table(runs):
    rows, points = [], 0
    for seed in sorted(runs[0]):
        if any(len(run.get(seed, ())) != len(runs[0][seed]) for run in runs):
            continue
        for i in range(len(runs[0][seed])):
            (n0, end0), (n1, end1) = (certain([run[seed][i][half] for run in runs]) for half in range(2))
            points += abs(n0) + abs(n1)
            rows.append(row([seed, n0, n1, *(round(1000 * x) for end in (end0, end1) for x in end)]))
    return rows, points


def main():
    program, trial = sys.argv[1], "--try" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        if trial:
            for name, rounding in OTHERS.items():
                write_shaders(folder, rounding)
                for variant in VARIANTS:
                    text = subprocess.run([program, "devices", "--device", "llvmpipe", "--variant", f"{variant}:single"],
                                          env=dict(os.environ, GLSLINES_SHADER_DIR=folder, GLSLINES_ODF_CELLS="0"),
                                          check=True, stdout=subprocess.PIPE, text=True).stdout
                    print(name, variant, *re.search(r"tracked\t(\d+)\t(\d+)", text).groups())
            return
        tables = {}
        for variant in VARIANTS:
            runs = [track(program, variant, rounding, folder) for rounding in ROUNDINGS.values()]
            tables[variant], points = table(runs)
            whole = sum(len(half) - 1 for lines in runs[0].values() for line in lines for half in line)
            print(f"{variant}: {len(tables[variant])} streamlines, {points} of {whole} points", file=sys.stderr)
    write(tables, sys.argv[2])


main()
