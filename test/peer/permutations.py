#!/usr/bin/env python3
"""Compares glslines permute with connectomestats and vectorstats of MRtrix3, with the same permutations; and counts false
alarms of data without an effect.

usage: permutations.py GLSLINES WORK_DIR

One line per check; exits with 1 if one fails.
"""
import os
import subprocess
import sys

import numpy as np
from scipy import stats

from checks import outcome, report

NODES, SUBJECTS, SHUFFLES = 12, 20, 60


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")


def numbers(name):
    with open(name) as file:
        rows = [line.replace(",", " ").split() for line in file if line.strip() and not line.startswith("#")]
    return np.array(rows, float)


def compare(name, prefix, pairs, hypothesis, upper):
    """Compares files."""
    for what, bound in pairs:
        suffix = "txt" if what == "null_dist" else "csv"
        mine = numbers(f"own_{what}_{hypothesis}.{suffix}")
        peer = next(f for f in (f"{prefix}{what}_{hypothesis}.{end}" for end in ("csv", "txt")) if os.path.exists(f))
        theirs = numbers(peer)
        if upper and what != "null_dist":
            mine, theirs = mine[np.triu_indices(NODES)], theirs[np.triu_indices(NODES)]
        mine, theirs = mine.ravel(), theirs.ravel()
        worst = np.abs(mine - theirs).max() / max(np.abs(theirs).max(), 1e-30) if mine.shape == theirs.shape else np.inf
        report(f"permute: {name} {what}_{hypothesis}", worst <= bound and np.ptp(theirs) > 0, f"{worst:.1e} of the largest value {theirs.max():.4g}")


def write_study(rng, effect):
    """Writes the connectomes of subjects of two groups, with age beside, as matrices and as vectors."""
    upper = np.triu_indices(NODES)
    design = np.c_[np.ones(SUBJECTS), np.arange(SUBJECTS) % 2, rng.normal(size=SUBJECTS)]
    y = rng.gamma(4, 2, size=(SUBJECTS, len(upper[0])))
    y[design[:, 1] == 1] += effect * ((upper[0] < 4) & (upper[1] < 5))
    for k in range(SUBJECTS):
        matrix = np.zeros((NODES, NODES))
        matrix[upper] = y[k]
        np.savetxt(f"s{k:02d}.csv", matrix, delimiter=",")
        np.savetxt(f"v{k:02d}.txt", y[k])
    for name, form in (("matrices.txt", "s%02d.csv"), ("vectors.txt", "v%02d.txt")):
        with open(name, "w") as file:
            file.writelines(form % k + "\n" for k in range(SUBJECTS))
    np.savetxt("design.txt", design)


def clear():
    """Removes the results of both, so that none of the run before is compared where one writes less, or with another suffix."""
    for name in os.listdir("."):
        if name.startswith(("peer_", "own_")):
            os.remove(name)


def check_peers(tool, rng):
    write_study(rng, 4)
    same = np.arange(SUBJECTS)
    np.savetxt("shuffles.txt", np.array([same] + [rng.permutation(SUBJECTS) for _ in range(SHUFFLES - 1)]).T, "%d")
    np.savetxt("contrasts.txt", [[0, 1, 0], [0, -1, 0]])
    tested = [("Zstat", 1e-5), ("null_dist", 1e-4), ("fwe_1mpvalue", 1e-9), ("uncorrected_pvalue", 1e-9), ("null_contributions", 0)]
    effects = [("abs_effect", 1e-6), ("std_effect", 1e-6)]
    for kind, options in (("tfnbs", []), ("nbs", ["-threshold", "2"]), ("none", [])):
        clear()
        run("connectomestats", "matrices.txt", kind, "design.txt", "contrasts.txt", "peer_", "-permutations", "shuffles.txt", "-force", "-quiet", *options)
        run(tool, "permute", "matrices.txt", "design.txt", "contrasts.txt", "-o", "own", "--enhance", kind, "--permutations", "shuffles.txt", "-q", "--force", *("-" + word if word[0] == "-" else word for word in options))
        for hypothesis in ("t1", "t2") if kind != "nbs" else ("t1",):  # no edge of t2 reaches the threshold
            compare(kind, "peer_", [("tvalue", 1e-5), *tested] + ([("enhanced", 1e-4)] if kind != "none" else []), hypothesis, True)
    for name in ("contrasts.txt", "both.txt"):
        np.savetxt("both.txt", [[0, 1, 0], [0, 0, 1]])
        np.savetxt("ftests.txt", [[1, 1]], "%d")
        words = ["-ftests", "ftests.txt"] if name == "both.txt" else []
        clear()
        run("vectorstats", "vectors.txt", "design.txt", name, "peer_", "-permutations", "shuffles.txt", "-force", "-quiet", *words)
        run(tool, "permute", "vectors.txt", "design.txt", name, "-o", "own", "--type", "vector", "--permutations", "shuffles.txt", "-q", "--force", *("-" + word if word[0] == "-" else word for word in words))
        for hypothesis in ("t1", "F1") if words else ("t1", "t2"):
            compare("vectors", "peer_", [("Fvalue" if hypothesis == "F1" else "tvalue", 1e-5), *tested] + (effects if hypothesis != "F1" else []), hypothesis, False)


def check_chance(tool, rng):
    """Of data without an effect, at most some of a hundred studies may have an edge with p < 0.05."""
    np.savetxt("contrast.txt", [[0, 1, 0]])
    found = 0
    for seed in range(60):
        write_study(rng, 0)
        run(tool, "permute", "matrices.txt", "design.txt", "contrast.txt", "-o", "chance", "--enhance", "tfnbs", "--nshuffles", 200, "--rng-seed", seed, "-q", "--force")
        found += numbers("chance_fwe_1mpvalue_t1.csv").max() > 0.95
    least, most = stats.binom.ppf([0.001, 0.999], 60, 0.05)
    report("permute: studies without an effect", least <= found <= most, f"{found} of 60 have an edge with p < 0.05, {least:.0f} to {most:.0f} by chance")
    write_study(rng, 12)
    run(tool, "permute", "matrices.txt", "design.txt", "contrast.txt", "-o", "found", "--enhance", "tfnbs", "--nshuffles", 500, "-q", "--force")
    p = numbers("found_fwe_1mpvalue_t1.csv")[np.triu_indices(NODES)]
    upper = np.triu_indices(NODES)
    effect = (upper[0] < 4) & (upper[1] < 5)
    report("permute: an effect", (p[effect] > 0.95).mean() > 0.8, f"{(p[effect] > 0.95).sum()} of {effect.sum()} edges with it, {(p[~effect] > 0.95).sum()} of {(~effect).sum()} others")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool = os.path.abspath(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    os.chdir(sys.argv[2])
    rng = np.random.default_rng(3)
    check_peers(tool, rng)
    check_chance(tool, rng)
    return outcome()


if __name__ == "__main__":
    sys.exit(main())
