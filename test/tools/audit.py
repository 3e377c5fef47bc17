#!/usr/bin/env python3
"""Every streamline of every direction getter against rules in double precision that were written apart from this program.

Usage: audit.py GLSLINES WORK_FOLDER RULES_FOLDER [SEEDS [GETTER...]]      RULES_FOLDER: has act_rules.py, regions.py, cmc.py; without it status 77
GLS_PROOF_DEVICE: on which device, else llvmpipe.      By hand: about 15 minutes for 800 seeds. Needs numpy and nibabel

tissue: no half goes on behind an end, every end is one, seeds are rejected as the rules say; with deep grey matter one half of a seed there leaves it
crop:   ends are those of the run without --crop-at-gmwmi, moved as the rules say
pve, cmc: every decision, cmc's from the same random numbers
regions: the run with regions is the run without, less what the rules reject, byte for byte
beginnings: each half is the beginning of the one that nothing ends"""
import json
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np

tool, work, rules = (os.path.abspath(path) for path in sys.argv[1:4])
SEEDS = int(sys.argv[4]) if len(sys.argv) > 4 else 800
if not os.path.isfile(f"{rules}/act_rules.py"):
    print(f"no rules in {rules}")
    sys.exit(77)
sys.path.insert(0, rules)
import act_rules  # noqa: E402
import cmc as cmc_rules  # noqa: E402
import regions as region_rules  # noqa: E402

# step in mm, number of places that a step passes, substeps of a stored point
GETTERS = {"boot": (1, 1, 1), "prob": (1, 1, 1), "det": (1, 1, 1), "ptt": (1, 1, 4), "ifod1": (1, 1, 1), "ifod2": (1, 3, 1), "sdstream": (1, 1, 1), "fact": (1, 1, 1),
           "eudx": (1, 1, 1), "tensordet": (1, 1, 1), "tensorprob": (1, 1, 1), "nulldist1": (1, 1, 1), "nulldist2": (1, 3, 1), "closest": (1, 1, 1)}
ONE = ["--max-directions-per-seed", 1]
CUTOFF = ["--cutoff", 0.05]  # set, because the default with tissue is another one
OPTIONS = {"boot": ONE, "prob": ONE, "det": ONE, "ptt": [*ONE, "--ptt-substep", "0.25mm"], "ifod1": CUTOFF, "ifod2": CUTOFF, "sdstream": CUTOFF, "fact": CUTOFF,
           "eudx": [*ONE, *CUTOFF], "tensordet": CUTOFF, "tensorprob": CUTOFF, "nulldist1": [], "nulldist2": [], "closest": ONE}
BACKTRACK = ("boot", "prob", "ifod1", "ifod2", "nulldist1", "nulldist2")
RNG_SEED = 9
TIE = 1e-5  # tolerance: kernels decide in single precision
faults = {}
seen = {}


def at(name):
    return f"{work}/{name}"


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")


def track(name, getter, *options):
    """Returns streamlines in world mm, the index of the point that is the seed, the number of the seed, and the sidecar."""
    series = [f"{data}/{f}" for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "mask.nii.gz")]
    model = ["--model", "opdt", "--sh-order", 4] if getter == "boot" else [] if getter[:4] in ("tens", "null") else ["--model", "csd", "--sh-order", 6]
    run(tool, "track", *series, "--dg", getter, *model, "--seeds", at("seeds.txt"), "--seed-space", "world",
        "--step-size", f"{GETTERS[getter][0]}mm", "--min-length", 4, "--max-length", 400, "--rng-seed", RNG_SEED, "--precision", "float",
        "--cache-dir", at("fits"), "--device", os.environ.get("GLS_PROOF_DEVICE", "llvmpipe"), "--output-seeds", at(f"{name}.csv"), "-o", at(f"{name}.tck"),
        "-q", "--force", *OPTIONS.get(getter, ()), *options)
    lines = [line.astype(float) for line in nib.streamlines.load(at(f"{name}.tck")).streamlines]
    rows = [row.split(",") for row in open(at(f"{name}.csv")) if row[0] != "#"]
    place = [int(row[1]) for row in rows]
    number = [int(np.argmin(((seeds - np.array(row[2:5], float)) ** 2).sum(1))) for row in rows]
    assert len(lines) == len(rows) == len(set(number))
    return lines, place, number, json.load(open(at(f"{name}.json")))


def halves_of(line, place):
    return line[place + 1:], line[:place][::-1]


def halves(line, place):
    return [half for half in halves_of(line, place) if len(half)]


def note(getter, what, n, wrong):
    """Adds up the findings. wrong: a list of texts."""
    seen.setdefault((getter, what), 0)
    seen[getter, what] += n
    faults.setdefault((getter, what), []).extend(wrong)


# --- tissue -----------------------------------------------------------------------------------------------------------


def near_outside(tissue, p, before, step):
    """Whether some step from p, in a direction near the last one, leads out of the mask, the image or all tissue."""
    d = act_rules.unit(p - before)
    side = act_rules.unit(np.cross(d, np.eye(3)[np.argmin(abs(d))]))
    other = np.cross(d, side)
    for bend in np.radians((0, 15, 30, 45, 60)):
        for turn in np.radians(range(0, 360, 30)):
            q = p + step * (np.cos(bend) * d + np.sin(bend) * (np.cos(turn) * side + np.sin(turn) * other))
            if not tissue(q)[0] or not in_mask(q[None])[0]:
                return True
    return False


def audit_tissue(tissue, getter, what, lines, place, number):
    wrong = []
    step = GETTERS[getter][0]
    for line, k, i in zip(lines, place, number):
        ok, deep = act_rules.seed_ok(tissue, line[k])
        if not ok:
            wrong.append(f"seed {i}: not to be accepted")
        left = []
        for half in halves(line, k):
            before = half[-2] if len(half) > 1 else line[k]
            r = act_rules.run_half(tissue, line[k], half, method_end="open", mode="ours", seed_in_sgm=deep, sgm_to_wm=False)
            left.append(r["sgm_to_wm"])
            if r["end"] in (act_rules.ENTER_CSF, act_rules.EXIT_IMAGE, act_rules.EXIT_SGM) or len(r["points"]) != len(half) + 1:
                wrong.append(f"seed {i}: goes on behind {r['end']}, {len(r['points'])} of {len(half) + 1} points")
            elif r["end"] in ("open", act_rules.TERM_IN_SGM):
                _, v = tissue(half[-1])
                depth = r["end"] == act_rules.TERM_IN_SGM
                if not depth and not act_rules.is_path(v) and not near_outside(tissue, half[-1], before, step):
                    wrong.append(f"seed {i}: open end in tissue {v.round(3)}")
        if deep and sum(left) != 1:
            wrong.append(f"seed {i}: {sum(left)} halves leave deep grey matter")
    note(getter, what, len(lines), wrong)


def audit_seeds(tissue, getter, told):
    """Counts the seeds that are rejected, those outside the mask among them; one or two ties may differ."""
    sure = unsure = 0
    for p in seeds:
        values = [act_rules.seed_ok(tissue, p + d)[0] for d in np.vstack([np.zeros(3), 1e-4 * np.eye(3), -1e-4 * np.eye(3)])]
        unsure += len(set(values)) > 1
        sure += not any(values)
    rejected = told["counts"]["seeds_rejected"]
    note(getter, "seeds", len(seeds), [] if sure <= rejected <= sure + unsure else [f"{rejected} seeds rejected, not {sure} to {sure + unsure}"])


def audit_crop(tissue, getter, plain, cropped):
    """Compares with the run without the option: the streamlines are the same, except ends in cortical grey matter, and
    streamlines that become too short."""
    lines, place, number, _ = plain
    whole = dict(zip(number, zip(lines, place)))
    wrong = []
    kept = set(cropped[2])
    for line, k, i in zip(*cropped[:3]):
        if i not in whole or whole[i][1] != k or len(whole[i][0]) != len(line):
            wrong.append(f"seed {i}: other points")
            continue
        full = whole[i][0]
        want = full.copy()
        in_deep_grey = act_rules.seed_ok(tissue, full[k])[1]
        for end, half in ((-1, full[k:]), (0, full[:k + 1][::-1])):
            if len(half) > 1 and act_rules.run_half(tissue, half[0], half[1:], method_end="open", seed_in_sgm=in_deep_grey)["end"] == act_rules.ENTER_CGM:
                want[end] = act_rules.crop_end(tissue, list(full if end else full[::-1]))
        if len(line) > 4 and abs(want - line).max() > 3e-3:
            wrong.append(f"seed {i}: an end is {abs(want - line).max():.4f} mm off")
    for i in set(number) - kept:
        full = whole[i][0]
        if np.linalg.norm(np.diff(full, axis=0), axis=1).sum() > 4 + 2 * GETTERS[getter][0]:
            wrong.append(f"seed {i}: is missing")
    note(getter, "crop", len(cropped[0]), wrong)


# --- maps of partial volumes ------------------------------------------------------------------------------------------


class Maps:
    """Returns include and exclude at points of world mm, and whether the points lie in the image."""

    def __init__(self, five, affine):
        include, exclude = cmc_rules.maps(five[..., 2], five[..., 0] + five[..., 1], five[..., 3])
        self.value, self.inverse = np.stack([include, exclude], -1), np.linalg.inv(affine)
        self.side = np.sqrt((affine[:3, :3] ** 2).sum(0)).mean()

    def __call__(self, points):
        q = points @ self.inverse[:3, :3].T + self.inverse[:3, 3]
        n = np.array(self.value.shape[:3])
        low, out = np.floor(q).astype(int), np.zeros((len(q), 2))
        for corner in np.ndindex(2, 2, 2):
            index = np.clip(low + corner, 0, n - 1)
            out += np.prod(np.where(corner, q - low, 1 - (q - low)), axis=1)[:, None] * self.value[tuple(index.T)]
        return np.all((q > -0.5) & (q < n - 0.5), axis=1), out


def philox(counter, key):
    """Computes Philox4x32-10 of Salmon et al. 2011."""
    c, k, mask = [int(x) for x in counter], [key & 0xFFFFFFFF, key >> 32], 0xFFFFFFFF
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & mask, (a >> 32) ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def uniforms(seed, turn, backward, part):
    word = philox((0xF000 + part, turn | (0x80000000 if backward else 0), seed, 0x80000000), RNG_SEED)
    return (word[0] >> 8) / 2**24, (word[1] >> 8) / 2**24


def decisions(getter, rule, maps, value, seed, k, backward, parts):
    """Returns the set of decisions that are right at point k (from 1) of a half; more than one, if rounding may decide."""
    step, n_parts, substeps = GETTERS[getter]
    include, exclude = value
    found = set()
    for di, de in ((0, 0), (TIE, 0), (-TIE, 0), (0, TIE), (0, -TIE)):
        i, e = max(include + di, 0), max(exclude + de, 0)
        if rule == "pve":
            found.add(cmc_rules.act(i, e))
            continue
        for part in parts:
            u1, u2 = uniforms(seed, k * substeps, backward, part)
            found.add(cmc_rules.cmc(i, e, step / n_parts, maps.side, u1, u2))
    return found


def audit_maps(maps, getter, rule, lines, place, number):
    wrong = []
    n_parts = GETTERS[getter][1]
    for line, k, i in zip(lines, place, number):
        for half, backward in ((line[k + 1:], False), (line[:k][::-1], True)):
            inside, values = maps(half) if len(half) else ((), ())
            for j, value in enumerate(values):
                last = j + 1 == len(half)
                found = decisions(getter, rule, maps, value, i, j + 1, backward, range(n_parts) if last else [n_parts - 1])
                before = half[j - 1] if j else line[k]
                if not inside[j] or ("go" not in found if not last else "end" not in found and not leaves(maps, half[j], before, GETTERS[getter][0])):
                    wrong.append(f"seed {i}, point {j + 1} of {len(half)}: {found}")
    note(getter, rule, len(lines), wrong)


def leaves(maps, p, before, step):
    """Whether the half ends well without a point there: the next point is out of the image or the mask."""
    d = act_rules.unit(p - before)
    spread = np.random.default_rng(1).normal(size=(200, 3))
    ways = d + 0.5 * spread / np.linalg.norm(spread, axis=1)[:, None]
    q = p + step * ways / np.linalg.norm(ways, axis=1)[:, None]
    return (~maps(q)[0] | ~in_mask(q)).any()


# --- regions ----------------------------------------------------------------------------------------------------------

NAMES = {"include": "--include", "ordered": "--include-ordered", "exclude": "--exclude", "both_ends": "--include-both-ends", "end": "--include-end",
         "exclude_end": "--exclude-end"}


def region_cases():
    bundle = f"{data}/bundles/corticospinal_left"
    whole, end0, end1 = bundle + ".nii.gz", bundle + "_end0.nii.gz", bundle + "_end1.nii.gz"
    gm = at("gm.nii.gz")
    both = [["include", "0,-10,5,25"], ["include", whole, "include", "0,-10,5,30"], ["exclude", whole], ["include", "0,-10,5,30", "exclude", "20,0,0,15"],
            ["end", gm], ["end", "0,0,40,30", "end", "0,0,-30,40"], ["both_ends", gm], ["exclude_end", gm], ["include", end0, "exclude_end", end1],
            ["include", "-15,0,20,20", "exclude", "15,0,20,12", "exclude", "0,-50,0,10", "end", gm]]
    one = [["ordered", "0,-10,5,30", "ordered", "0,0,40,25"], ["ordered", "0,0,40,25", "ordered", "0,-10,5,20", "include", "0,-10,0,40"]]
    return [(c, []) for c in both] + [(c, ["--seed-unidirectional"]) for c in one]


def audit_regions(getter):
    # regions are tested at every place that ifod2 passes; the file has the ends of arcs, and with two samples these are all
    # places
    arcs = ["--samples", 2] if getter == "ifod2" else []
    act = ["--act", f"{data}/5tt.nii.gz"]
    # regions for ends are tested at ends that were moved or cut, all other regions at the points before that
    for what, options in (("regions", []), ("regions, act", act), ("ends, crop", [*act, "--crop-at-gmwmi"]), ("ends, cut", ["--max-length", 30])):
        wrong, n, base = [], 0, {}
        for case, more in region_cases():
            if what.startswith("ends") and not all("end" in role for role in case[::2]):
                continue
            key = tuple(more)
            if key not in base:
                base[key] = track(f"{getter}_free", getter, *arcs, *options, *more)
            chosen = [(case[j], region_rules.Region(case[j + 1])) for j in range(0, len(case), 2)]
            keep = [j for j, line in enumerate(base[key][0]) if region_rules.keep(line, chosen)]
            given = [word for j in range(0, len(case), 2) for word in (NAMES[case[j]], case[j + 1])]
            lines, _, number, _ = track(f"{getter}_regions", getter, *arcs, *options, *more, *given)
            n += len(lines)
            if number != [base[key][2][j] for j in keep] or not all(np.array_equal(line, base[key][0][j]) for line, j in zip(lines, keep)):
                wrong.append(f"{' '.join(case)}: {len(lines)} streamlines, {len(keep)} by the rules, of {len(base[key][0])}")
        note(getter, what, n, wrong)


def audit_beginnings(getter):
    """Tissue and masks end a half and change nothing before its end: its points are the first points of the half without
    them."""
    lines, place, number, _ = track(f"{getter}_free", getter, "--fa-threshold", 0, "--min-length", 0)
    free = {i: halves_of(line, k) for i, line, k in zip(number, lines, place)}
    for what, options in (("beginnings, act", ["--act", f"{data}/5tt.nii.gz"]), ("beginnings, mask", ["--fa-threshold", 0, "--tracking-mask", "0,0,10,28"])):
        lines, place, number, _ = track(f"{getter}_part", getter, *options)
        wrong = []
        for line, k, i in zip(lines, place, number):
            for part, whole in zip(halves_of(line, k), free.get(i, ([], []))):
                # the last step of ifod2 may be a part of an arc
                same = len(part) - (getter == "ifod2")
                if len(part) > len(whole) or not np.array_equal(part[:same], whole[:same]):
                    wrong.append(f"seed {i}: {len(part)} points are not the first of {len(whole)}")
        note(getter, what, len(lines), wrong)


# --- the run ----------------------------------------------------------------------------------------------------------

shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
data = at("phantom")
run(tool, "phantom", data, "-q")
image = nib.load(f"{data}/5tt.nii.gz")
five = np.asarray(image.dataobj, float)
world = nib.affines.apply_affine(image.affine, np.stack(np.meshgrid(*map(np.arange, five.shape[:3]), indexing="ij"), -1))
near = ((world - [0, -10, 5]) ** 2).sum(-1) <= 26**2
deep = five.copy()
deep[..., 1], deep[..., 0] = np.where(near, five[..., 0], 0), np.where(near, 0, five[..., 0])
# pathology instead of white matter in a block
deep_path = deep.copy()
block = ((world - [25, 20, 20]) ** 2).sum(-1) <= 15**2
deep_path[..., 4], deep_path[..., 2] = np.where(block, deep[..., 2], 0), np.where(block, 0, deep[..., 2])
images = {"act": five, "sgm": deep, "sgm and pathology": deep_path}
files = {}
for name, value in images.items():
    files[name] = at(name.replace(" ", "_") + ".nii.gz")
    nib.save(nib.Nifti1Image(value.astype(np.float32), image.affine), files[name])
nib.save(nib.Nifti1Image((five[..., 0] > 0.5).astype(np.float32), image.affine), at("gm.nii.gz"))
mask_image = nib.load(f"{data}/mask.nii.gz")
mask, mask_inverse = np.asarray(mask_image.dataobj) > 0, np.linalg.inv(mask_image.affine)


def in_mask(points):
    i = np.floor(points @ mask_inverse[:3, :3].T + mask_inverse[:3, 3] + 0.5).astype(int)
    inside = np.all((i >= 0) & (i < mask.shape), axis=1)
    return inside & mask[tuple(np.clip(i, 0, np.array(mask.shape) - 1).T)]


random = np.random.default_rng(5)
voxels = np.argwhere(mask)
seeds = nib.affines.apply_affine(mask_image.affine, voxels[random.integers(len(voxels), size=SEEDS)] + random.uniform(-0.5, 0.5, (SEEDS, 3))).astype(np.float32)
np.savetxt(at("seeds.txt"), seeds, fmt="%.9g")
seeds = seeds.astype(float)
tissues = {name: act_rules.FiveTT(nib.load(path).get_fdata(), image.affine) for name, path in files.items()}
maps = Maps(nib.load(files["act"]).get_fdata(), image.affine)
for getter in sys.argv[5:] or GETTERS:
    for name, path in files.items():
        plain = track(f"{getter}_act", getter, "--act", path)
        audit_tissue(tissues[name], getter, name, *plain[:3])
        audit_seeds(tissues[name], getter, plain[3])
        audit_crop(tissues[name], getter, plain, track(f"{getter}_crop", getter, "--act", path, "--crop-at-gmwmi"))
        if getter in BACKTRACK:
            audit_tissue(tissues[name], getter, f"{name}, back-tracking", *track(f"{getter}_back", getter, "--act", path, "--backtrack")[:3])
    for rule in ("pve", "cmc"):
        audit_maps(maps, getter, rule, *track(f"{getter}_{rule}", getter, "--act", files["act"], "--act-rule", rule)[:3])
    audit_regions(getter)
    audit_beginnings(getter)
    for (name, what), wrong in faults.items():
        if name == getter:
            print(f"{name:<9} {what:<32} {seen[name, what]:>6}  {len(wrong)} faults", flush=True)
            for text in wrong[:5]:
                print(f"    {text}", flush=True)
n_faults = sum(map(len, faults.values()))
print(f"{sum(seen.values())} streamlines and seeds, {n_faults} faults")
sys.exit(n_faults > 0)
