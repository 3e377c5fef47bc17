#!/usr/bin/env python3
"""Makes src/dwi/sphere_data.c: evenly spread directions that are closed under x -> -x, y -> -y and z -> -z.

The points minimise the electrostatic energy sum 1 / |xi - xj| under that symmetry. A set of V points is made of general orbits (8 points), orbits on a
coordinate plane (4) and points on the axes (2). How many of each, and the start of the descent, come from a random search, or from a subdivided icosahedron.

  make_spheres.py             the sets of RECIPES, written to src/dwi/sphere_data.c
  make_spheres.py --dipy      DIPY's sets of directions, one of each antipodal pair, written there (needs dipy)
  make_spheres.py --check     whether the points in sphere_data.c are minima of the energy, and their figures
  make_spheres.py --search V SECONDS [FIRST]   tries recipes for V points; random starts count from FIRST

Rounding to 1e-9 before the points are normalised makes the file independent of the rounding of the last steps of the descent; the way there from a random
start is not, so another version of numpy may end in another minimum. --check holds everywhere.
"""

import os
import re
import sys
import textwrap
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

# for each name: (general orbits, orbits in the planes x = 0, y = 0, z = 0, points on the axes x, y, z, random start or None for
# the icosahedron)
RECIPES = {
    "default": (77, (7, 9, 11), (0, 0, 0), 1587),
    "small": (37, (5, 5, 5), (1, 1, 1), None),
    "repulsion600": (60, (9, 10, 10), (0, 1, 1), 105),
}
DIPY = ("repulsion724", "symmetric362")
SUBDIVISION = 6
SIGNS = np.array([[1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1]], float)
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "dwi", "sphere_data.c")


class Orbits:
    """Returns representatives of the orbits: which coordinates are free, and how many antipodal pairs each stands for."""

    def __init__(self, general, planes, axes):
        free = [[1, 1, 1]] * general
        for axis in range(3):
            free += [[int(a != axis) for a in range(3)]] * planes[axis]
        for axis in range(3):
            free += [[int(a == axis) for a in range(3)]] * axes[axis]
        self.free = np.array(free, float)
        self.pairs = np.array([{3: 4, 2: 2, 1: 1}[int(f.sum())] for f in self.free])
        self.rows, self.signs = [], []
        for r, f in enumerate(self.free):
            kept = []
            for s in SIGNS:
                t = s * f
                if not any(np.array_equal(t, u) or np.array_equal(t, -u) for u in kept):
                    kept.append(t)
                    self.rows.append(r)
                    self.signs.append(s)
        self.rows, self.signs = np.array(self.rows), np.array(self.signs)
        self.own = [int(np.argmax(self.rows == r)) for r in range(len(self.free))]

    def start(self, rng):
        x = np.abs(rng.standard_normal(self.free.shape)) * self.free
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def expand(self, x):
        """Returns one point of every antipodal pair."""
        return x[self.rows] * self.signs

    def energy(self, x):
        """Returns the energy of the whole set and its gradient for the representatives, tangential to the sphere."""
        full = self.expand(x)
        g = x @ full.T
        own = (np.arange(len(x)), self.own)
        near, far = 2 - 2 * g, 2 + 2 * g
        near[own] = np.inf
        near, far = 1 / np.sqrt(np.maximum(near, 1e-12)), 1 / np.sqrt(np.maximum(far, 1e-12))
        energy = float(self.pairs @ (near + far).sum(1))
        w = near**3 - far**3
        w[own] = 0
        force = 2 * self.pairs[:, None] * (w @ full) * self.free
        return energy, force - (force * x).sum(1, keepdims=True) * x

    def descend(self, x, iterations, tolerance=1e-9):
        def f(v):
            y = v.reshape(-1, 3)
            r = np.linalg.norm(y, axis=1, keepdims=True)
            e, g = self.energy(y / r)
            return e, (g / r).ravel()

        result = minimize(
            f, x.ravel(), jac=True, method="L-BFGS-B", options=dict(maxiter=iterations, maxfun=2 * iterations, gtol=tolerance, ftol=1e-15, maxcor=20)
        )
        y = result.x.reshape(-1, 3)
        return y / np.linalg.norm(y, axis=1, keepdims=True), result.fun

    def polish(self, x, steps=4):
        """Runs Newton's method in tangential coordinates, which finds the minimum to rounding."""
        for _ in range(steps):
            rows, basis = self.tangents(x)

            def gradient(t):
                return (self.energy(self.move(x, rows, basis, t))[1][rows] * basis).sum(1)

            n, h = len(rows), 1e-5
            hessian = np.array([(gradient(h * e) - gradient(-h * e)) / (2 * h) for e in np.eye(n)])
            t = np.linalg.lstsq((hessian + hessian.T) / 2, -gradient(np.zeros(n)), rcond=1e-10)[0]
            x = self.move(x, rows, basis, t)
            if np.abs(t).max() < 1e-11:
                break
        return x

    def tangents(self, x):
        """Returns the directions in which the points may move, and the point of each."""
        rows, basis = [], []
        for r, f in enumerate(self.free):
            if f.sum() == 3:
                vectors = list(np.linalg.svd(x[r : r + 1])[2][1:])
            else:
                vectors = [np.cross(x[r], 1 - f)] if f.sum() == 2 else []
            rows += [r] * len(vectors)
            basis += vectors
        return np.array(rows), np.array(basis)

    @staticmethod
    def move(x, rows, basis, t):
        y = x.copy()
        np.add.at(y, rows, t[:, None] * basis)
        return y / np.linalg.norm(y, axis=1, keepdims=True)


def figures(points):
    """Returns energy, nearest-neighbour angle (min, mean, max) and covering radius in degrees. points: one for each pair."""
    full = np.vstack([points, -points])
    d = np.linalg.norm(full[:, None] - full[None], axis=2)
    np.fill_diagonal(d, np.inf)
    near = np.degrees(2 * np.arcsin(d.min(1) / 2))
    covering = np.degrees(np.arccos(-ConvexHull(full).equations[:, 3].max()))
    return (1 / d).sum() / 2, near.min(), near.mean(), near.max(), covering


def geodesic(frequency):
    """Returns the vertices without a negative coordinate of an icosahedron whose faces are cut into frequency^2 triangles."""
    golden = (1 + np.sqrt(5)) / 2
    corner = np.array([np.roll([0, s, t * golden], r) for r in range(3) for s in (1, -1) for t in (1, -1)])
    adjacent = np.abs(np.linalg.norm(corner[:, None] - corner, axis=2) - 2) < 0.1
    points = set()
    for i in range(12):
        for j in range(i):
            for k in range(j):
                if adjacent[i, j] and adjacent[j, k] and adjacent[i, k]:
                    for a in range(frequency + 1):
                        for b in range(frequency + 1 - a):
                            p = a * corner[i] + b * corner[j] + (frequency - a - b) * corner[k]
                            points.add(tuple(np.round(p / np.linalg.norm(p), 12) + 0.0))
    points = np.array(sorted(points))
    points = points[(points >= 0).all(1)]
    parts = [points[(points > 0).all(1)]]
    for count in (2, 1):
        for axis in range(3):
            lone = (points[:, axis] == 0) if count == 2 else (points[:, axis] > 0)
            parts.append(points[((points > 0).sum(1) == count) & lone])
    return np.vstack(parts)


def start_of(orbits, start):
    return geodesic(SUBDIVISION) if start is None else orbits.start(np.random.default_rng(start))


def solve(general, planes, axes, start):
    orbits = Orbits(general, planes, axes)
    x, _ = orbits.descend(start_of(orbits, start), 120, 1e-3)
    x, _ = orbits.descend(x, 3000)
    return orbits, np.abs(x)


def recipe(points, rng):
    """Draws random numbers of orbits: rows of points along a coordinate plane, across it, or something between."""
    row = np.sqrt(points) * 0.45
    while True:
        axes = rng.integers(0, 2, 3)
        planes = rng.integers(0, int(row) + 2, 3)
        rest = points // 2 - axes.sum() - 2 * planes.sum()
        if rest > 0 and rest % 4 == 0:
            return int(rest // 4), tuple(int(p) for p in planes), tuple(int(a) for a in axes)


def vary(points, spec, rng):
    """Returns a recipe with up to one orbit more or less in each plane."""
    planes = np.maximum(np.array(spec[1]) + rng.integers(-1, 2, 3), 0)
    rest = points // 2 - sum(spec[2]) - 2 * planes.sum()
    return (int(rest // 4), tuple(int(p) for p in planes), spec[2]) if rest % 4 == 0 else spec


def search(points, seconds, first):
    tried, best_of, seed, begin = [], {}, first, time.time()
    while time.time() < begin + seconds:
        rng = np.random.default_rng(seed)
        spec = recipe(points, rng)
        # after a quarter of the time, try mostly the recipes that did best, or their neighbours
        if best_of and time.time() > begin + seconds / 4 and seed % 4:
            ranked = sorted(best_of, key=best_of.get)[:12]
            spec = ranked[rng.integers(len(ranked))]
            if seed % 2:
                spec = vary(points, spec, rng)
        orbits = Orbits(*spec)
        _, energy = orbits.descend(start_of(orbits, seed), 120, 1e-3)
        best_of[spec] = min(energy, best_of.get(spec, np.inf))
        tried.append((energy, seed, spec))
        seed += 1
    print(f"{seed - first} starts; energy, nearest-neighbour angle min mean max, covering radius: recipe")
    final = []
    for _, start, spec in sorted(tried)[:30]:
        orbits, x = solve(*spec, start)
        final.append((figures(orbits.expand(x)), spec, start))
    for numbers, spec, start in sorted(final):
        print(" ".join(f"{v:.3f}" for v in numbers), (*spec, start))


def normalised(x):
    """Rounds to 1e-9 and normalises with elementary operations, which give the same result on all machines."""
    x = np.round(x, 9) + 0.0
    return x / np.sqrt(x[:, :1] * x[:, :1] + x[:, 1:2] * x[:, 1:2] + x[:, 2:] * x[:, 2:])


def read():
    """Returns the points of sphere_data.c: {name: array}."""
    with open(DATA, encoding="ascii") as f:
        text = f.read()
    arrays = re.findall(r"double (\w+)_points\[\] = \{\n(.*?)\n\};", text, re.S)
    return {name: np.array([float(c) for c in body.replace(",", " ").split()]).reshape(-1, 3) for name, body in arrays}


def write(new):
    """Writes sphere_data.c with these arrays, which replace those of the same names."""
    sets = {**read(), **new}
    out = [
        "/* Built-in sets of directions. The first ones are closed under reflection in the three coordinate planes and have a",
        " * low electrostatic energy, found by the random search of test/peer/make_spheres.py: their arrays hold x, y, z of one",
        " * direction of each orbit under these reflections. Those of DIPY hold one of each antipodal pair. */",
        '#include "dwi/sphere_data.h"',
        "",
        "/* clang-format off */",
    ]
    for name, x in sets.items():
        out.append(f"static const double {name}_points[] = {{")
        out += textwrap.wrap(", ".join(repr(float(c)).removesuffix(".0") for c in x.flat) + ",", 120, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        out += ["};", ""]
    out.append("const struct gls_sphere_data gls_sphere_data[] = {")
    for name, x in sets.items():
        pairs = len(x) if name in DIPY else orbits_of(x).pairs.sum()
        out.append(f'    {{"{name}", {pairs}, {len(x)}, {name}_points}},')
    out += ["};", "/* clang-format on */", "", "const size_t gls_sphere_data_count = sizeof gls_sphere_data / sizeof *gls_sphere_data;", ""]
    with open(DATA, "w", encoding="ascii") as f:
        f.write("\n".join(out))


def of_dipy():
    """Returns DIPY's vertices in their order, without those whose antipode came before."""
    from dipy.data import get_sphere

    sets = {}
    for name in DIPY:
        v = get_sphere(name=name).vertices
        kept = [i for i in range(len(v)) if not (np.abs(v[:i] + v[i]).max(1) < 1e-3).any()]
        assert 2 * len(kept) == len(v)
        sets[name] = v[kept]
    return sets


def orbits_of(x):
    zero = x == 0
    planes = [int(((zero.sum(1) == 1) & zero[:, a]).sum()) for a in range(3)]
    axes = [int(((zero.sum(1) == 2) & ~zero[:, a]).sum()) for a in range(3)]
    return Orbits(int((~zero.any(1)).sum()), planes, axes)


def report(name, orbits, x):
    energy, low, mean, high, covering = figures(orbits.expand(x))
    _, gradient = orbits.energy(x)
    general, planar, axial = ((orbits.pairs == n).sum() for n in (4, 2, 1))
    print(f"{name}: {2 * orbits.pairs.sum()} points, {general} general orbits, {planar} on planes, {axial} on axes, energy {energy:.3f}")
    print(f"  nearest neighbour {low:.2f} / {mean:.2f} / {high:.2f} deg, covering radius {covering:.2f} deg, largest gradient {np.abs(gradient).max():.1e}")
    return np.abs(gradient).max()


def main(arguments):
    if arguments[:1] == ["--search"]:
        search(int(arguments[1]), float(arguments[2]), int(arguments[3]) if len(arguments) > 3 else 0)
        return 0
    if arguments == ["--dipy"]:
        write(of_dipy())
        return 0
    if arguments == ["--check"]:
        sets, worst = read(), 0
        for name in RECIPES:
            x = sets[name]
            orbits = orbits_of(x)
            worst = max(worst, report(name, orbits, x), np.abs(orbits.polish(x) - x).max() * 1e4)
        return int(worst > 1e-4)
    if arguments:
        print(__doc__)
        return 2
    sets = {}
    for name, spec in RECIPES.items():
        orbits, x = solve(*spec)
        x = normalised(np.abs(orbits.polish(x)))
        sets[name] = x
        report(name, orbits, x)
    write(sets)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
