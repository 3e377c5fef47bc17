#!/usr/bin/env python3
"""Parallel transport tractography against Trekker 0.9, the program of the method's author: straight bundles, rings and crossings, and the phantom.

Usage: trekker.py GLSLINES WORK [--paper]    --paper: also the reference of ptt_paper.py on the scenes, both rules twice (an hour). Needs Trekker 0.9 from PyPI, which exists for Python 3.8 to 3.11 (status 77 without), numpy, scipy and nibabel.
Both programs start at the same places in the same directions, and no mask ends streamlines. Trekker runs twice: what the runs differ by is chance. It has a rule of its own: in place of the
amplitude at a probe's start it counts the one at the end of the probe that was chosen for the step before, which is less where that one bends. So glslines is held to what the reference
makes of the paper's rule, Trekker to what it makes of Trekker's, and what is left to both is chance and the lookup of ODFs, which both do at the nearest of some directions. Known of
Trekker besides: its two halves join over a step of 0.95 mm; probeRadius sets probeLength; its limits of trials change nothing."""
import json
import os
import subprocess
import sys

try:
    import nibabel as nib
    import numpy as np
    import Trekker
    from ptt_paper import Field, track
    from scipy.special import factorial, lpmv
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ORDER, SHARPNESS = 8, 12
STEP, SUBSTEP = 0.5, 0.05
SEEDS = 100
# bounds of the difference from the reference: chance (standard errors), and the lookup of ODFs at the nearest direction
# (relative; millimetres)
CHANCE, LOOKUP, LOOKUP_MM = 4, 0.03, 0.5
# results of ptt_paper.py, two runs: mean length and its error, mm; turn in a step and its error, degrees; by the paper's rule,
# then by Trekker's
REFERENCE = {
    "straight, threshold 0.1": (43.68, 0.01, 2.322, 0.008, 43.08, 0.02, 2.252, 0.012),
    "straight, threshold 0.3": (43.44, 0.02, 2.299, 0.008, 43.05, 0.02, 2.236, 0.012),
    "straight, threshold 0.5": (43.09, 0.01, 2.325, 0.008, 42.37, 0.02, 2.087, 0.011),
    "ring of 15 mm, radius of 5 mm at least, threshold 0.3": (48.75, 0.88, 2.040, 0.007, 61.15, 1.42, 1.976, 0.008),
    "ring of 15 mm, radius of 20 mm at least, threshold 0.3": (15.92, 0.04, 0.579, 0.005, 16.24, 0.05, 0.616, 0.007),
    "crossing of 90 degrees": (43.64, 0.02, 2.337, 0.012, 43.07, 0.02, 2.258, 0.012),
    "crossing of 40 degrees": (43.81, 0.09, 2.354, 0.012, 43.13, 0.02, 2.314, 0.012),
    "crossing of 40 degrees, voxels of 1 x 1.6 x 2.5 mm": (43.74, 0.08, 2.352, 0.012, 43.30, 0.09, 2.297, 0.012),
    "crossing of 40 degrees, the same on an oblique grid": (47.18, 0.06, 2.345, 0.012, 46.64, 0.05, 2.296, 0.012),
    "edge of a bundle, threshold 0.1": (39.61, 0.03, 2.962, 0.012, 39.07, 0.03, 2.728, 0.016),
    "edge of a bundle, threshold 0.4": (34.85, 0.39, 2.817, 0.012, 34.50, 0.54, 2.267, 0.014),
}
# the same with directions rounded to DIPY's 724: if only a thin part of the disc has support, the lookup decides, and a result
# lies between the two
ROUNDED = {"ring of 15 mm, radius of 20 mm at least, threshold 0.3": (14.65, 0.07, 0.451, 0.006, 14.55, 0.09, 0.475, 0.006)}


def real_sh(directions):
    """Returns MRtrix3's basis, whose odd orders have the sign of scipy's. Rows are directions."""
    d = np.atleast_2d(directions)
    phi = np.arctan2(d[:, 1], d[:, 0])
    columns = []
    for l in range(0, ORDER + 1, 2):
        for m in range(-l, l + 1):
            a = abs(m)
            y = np.sqrt((2 * l + 1) / (4 * np.pi) * factorial(l - a) / factorial(l + a)) * lpmv(a, l, d[:, 2])
            columns.append(y if m == 0 else np.sqrt(2) * y * (np.sin(a * phi) if m < 0 else np.cos(a * phi)))
    return np.array(columns).T


def spread_directions(n=4000):
    i = np.arange(n) + 0.5
    z, phi = 1 - i / n, i * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    return np.c_[r * np.cos(phi), r * np.sin(phi), z]


SPREAD = spread_directions()
BASIS = real_sh(SPREAD)
INVERSE = np.linalg.pinv(BASIS)


def lobes(directions):
    """Returns the SH of lobes along the directions, and the factor that makes the largest amplitude 1."""
    c = INVERSE @ sum(np.exp(SHARPNESS * ((SPREAD @ d) ** 2 - 1)) for d in directions)
    scale = 1 / (BASIS @ c).max()
    return c * scale, scale


def lobe_polynomial():
    """Returns one lobe before it is scaled: a sum of even zonal harmonics, which is a polynomial of the squared cosine."""
    c = INVERSE @ np.exp(SHARPNESS * (SPREAD[:, 2] ** 2 - 1))
    angle = np.linspace(0, np.pi / 2, 50)
    return np.polyfit(np.cos(angle) ** 2, real_sh(np.c_[np.sin(angle), 0 * angle, np.cos(angle)]) @ c, ORDER // 2)


def make_scene(shape, field, affine=None):
    """Makes a scene with voxels of 1 mm; world mm are voxel indices, unless there is an affine. field: the fibre directions at
    a place, mm from the middle of the grid. Returns SH, affine and the input of the paper's reference."""
    affine = np.eye(4) if affine is None else affine
    sh, known = np.zeros((*shape, BASIS.shape[1]), np.float32), {}
    fibres, scale = np.zeros((*shape, 2, 3)), np.zeros(shape)
    for v in np.ndindex(*shape):
        directions = field(affine[:3, :3] @ (np.array(v, float) - (np.array(shape) - 1) / 2))
        if not directions:
            continue
        key = tuple(np.round(np.concatenate(directions), 6))
        if key not in known:
            known[key] = lobes(directions)
        sh[v], scale[v] = known[key]
        fibres[v][: len(directions)] = directions
    return sh, affine, Field(fibres, scale, lobe_polynomial(), affine)


def straight(d):
    return [np.array([1.0, 0, 0])] if np.hypot(d[1], d[2]) <= 5 else []


def ring(d):
    r = np.hypot(d[0], d[1])
    return [np.array([-d[1] / r, d[0] / r, 0])] if abs(r - 15) <= 3 and abs(d[2]) <= 3 and not (d[0] < 0 and abs(d[1]) < 3) else []


def crossing(degrees):
    a = np.radians(degrees)
    both = [np.array([1.0, 0, 0]), np.array([np.cos(a), np.sin(a), 0])]
    return lambda d: [f for f in both if np.hypot(f[0] * d[1] - f[1] * d[0], d[2]) <= 4]


def edge(d):
    """Returns a field with fibres only on one side of a plane."""
    return [np.array([1, 0.1, 0]) / np.hypot(1, 0.1)] if d[1] < 0 else []


def grid(sizes, angle, middle):
    """Returns an affine with these voxel sizes, turned round z; the voxel in the middle lies at the origin."""
    a = np.eye(4)
    a[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    a[:3, :3] = a[:3, :3] @ np.diag(sizes)
    a[:3, 3] = -a[:3, :3] @ middle
    return a


class Scene:
    def __init__(self, name, sh, affine, field, seeds, directions, **options):
        self.name, self.sh, self.affine, self.field, self.seeds, self.directions = name, sh, affine, field, seeds, directions
        self.options = {"radius": 2.0, "probe": 1.0, "quality": 4, "threshold": 0.1, "step": STEP, "substep": SUBSTEP, **options}


def scenes():
    rng = np.random.default_rng(1)
    along_x = np.tile([1.0, 0, 0], (SEEDS, 1))
    box = lambda low, high: rng.uniform(low, high, (SEEDS, 3))
    scene = make_scene((44, 15, 15), straight)
    for threshold in (0.1, 0.3, 0.5):
        yield Scene(f"straight, threshold {threshold}", *scene, box((15, 6, 6), (28, 8, 8)), along_x, threshold=threshold)
    scene = make_scene((40, 40, 9), ring)
    angle = rng.uniform(-0.5, 0.5, SEEDS)
    seeds = np.c_[19.5 + 15 * np.cos(angle), 19.5 + 15 * np.sin(angle), np.full(SEEDS, 4.0)]
    for radius in (5.0, 20.0):
        yield Scene(f"ring of 15 mm, radius of {radius:g} mm at least, threshold 0.3", *scene, seeds, np.c_[-np.sin(angle), np.cos(angle), 0 * angle],
                    radius=radius, threshold=0.3, probe=2.0)
    for degrees in (90, 40):
        yield Scene(f"crossing of {degrees} degrees", *make_scene((44, 36, 13), crossing(degrees)), box((4, 16, 5), (8, 19, 7)), along_x)
    for name, angle in (("voxels of 1 x 1.6 x 2.5 mm", 0), ("the same on an oblique grid", 0.4)):
        shape = np.array((44, 24, 7)) if angle == 0 else np.array((44, 34, 7))
        affine = grid((1, 1.6, 2.5), angle, (shape - 1) / 2)
        yield Scene(f"crossing of 40 degrees, {name}", *make_scene(tuple(shape), crossing(40), affine), box((-16, -1.5, -1), (-12, 1.5, 1)), along_x)
    tilted = np.tile(edge((0, -1, 0))[0], (SEEDS, 1))
    for threshold in (0.1, 0.4):
        yield Scene(f"edge of a bundle, threshold {threshold}", *make_scene((40, 16, 16), edge), box((8, 5, 6), (30, 7, 9)), tilted, threshold=threshold, radius=1.5)


def phantom_scene(glslines, work):
    """Returns CSD of the built-in phantom, scaled so that the largest amplitude of each voxel is 1; and seeds with one peak,
    along it."""
    data = os.path.join(work, "phantom")
    run = lambda *a: subprocess.run([glslines, *a, "-q", "--force"], check=True)
    run("phantom", data)
    files = [os.path.join(data, f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
    run("fit", *files, os.path.join(work, "csd"), "--model", "csd", "--sh-order", str(ORDER))
    image = nib.load(os.path.join(work, "csd_sh.nii.gz"))
    sh = image.get_fdata()
    peak_image = nib.load(os.path.join(data, "peaks.nii.gz")).get_fdata()
    amplitude = sh.reshape(-1, sh.shape[-1]) @ BASIS.T.astype(np.float32)
    best = amplitude.argmax(1)
    largest = amplitude[np.arange(len(best)), best]
    sh = sh / np.where(largest > 0, largest, 1).reshape(sh.shape[:3])[..., None]
    roi = nib.load(os.path.join(data, "roi.nii.gz")).get_fdata() > 0
    single = np.argwhere(roi & (np.abs(peak_image[..., 7]) == 0 if peak_image.shape[-1] > 7 else roi))
    voxel = single[np.random.default_rng(2).integers(len(single), size=SEEDS)]
    seeds = nib.affines.apply_affine(image.affine, voxel)
    directions = SPREAD[best.reshape(sh.shape[:3])[tuple(voxel.T)]]
    return Scene("phantom", sh.astype(np.float32), image.affine, None, seeds, directions, radius=1.0, probe=0.5, step=1.0, substep=0.05, threshold=0.067)


def track_trekker(path, s):
    """Runs Trekker twice, in a process of its own, because a process reads only one image."""
    o = s.options
    job = {"fod": path, "seeds": s.seeds.tolist(), "directions": s.directions.tolist(), **o}
    out = subprocess.run([sys.executable, __file__, "--child"], input=json.dumps(job), capture_output=True, text=True, check=True).stdout
    return [[np.array(line) for line in run] for run in json.loads(out[out.index("LINES") + 5:])]


def child():
    job = json.load(sys.stdin)
    t = Trekker.initialize(job["fod"].encode())
    t.numberOfThreads(1)
    t.stepSize(job["substep"])
    t.writeInterval(round(job["step"] / job["substep"]))
    t.minRadiusOfCurvature(job["radius"])
    t.probeLength(job["probe"])
    t.probeQuality(job["quality"])
    t.minFODamp(job["threshold"] * (job["quality"] - 1) / job["quality"])
    t.minLength(0)
    t.maxLength(500)
    t.atMaxLength(b"stop")
    t.seed_coordinates_with_directions(job["seeds"], job["directions"])
    t.seed_maxTrials(20)  # Trekker's default is 100,000, which takes minutes for a few seeds
    runs = [t.run() for i in range(2)]
    print("LINES" + json.dumps([[np.array(line).T.tolist() if len(line) == 3 else line for line in lines] for lines in runs]))
    sys.stdout.flush()
    os._exit(0)


def track_glslines(glslines, work, path, s):
    o = s.options
    text, ones, out = (os.path.join(work, f) for f in ("seeds.txt", "ones.nii.gz", "out.tck"))
    np.savetxt(text, s.seeds)
    nib.save(nib.Nifti1Image(np.ones(s.sh.shape[:3], np.float32), s.affine), ones)
    options = {"--sh": path, "--fa": ones, "--roi": ones, "--seeds": text, "--seed-space": "world", "--dg": "ptt", "--max-directions-per-seed": 1, "--step-size": f"{o['step']}mm",
               "--ptt-substep": f"{o['substep']}mm", "--probe-length": f"{o['probe']}mm", "--probe-quality": o["quality"] - 1, "--pmf-threshold": o["threshold"],
               "--min-radius-of-curvature": f"{o['radius']}mm", "--max-length": 500, "-o": out}
    subprocess.run([glslines, "track", "--preset", "gpustreamlines", "-q", "--force", *(str(x) for pair in options.items() for x in pair)], check=True)
    return list(nib.streamlines.load(out).streamlines)


def measure(lines):
    """Returns means and their standard errors: length, and degrees turned in a step."""
    length, turn = [], []
    for line in lines:
        d = np.diff(line, axis=0)
        n = np.linalg.norm(d, axis=1)
        length.append(n.sum())
        # all steps have the same length except the last one, and the two at the seed
        n = np.where((n > 0.98 * np.median(n)) & (n < 1.02 * np.median(n)), n, np.nan) if len(n) else n
        u = d / n[:, None]
        cosine = np.clip((u[1:] * u[:-1]).sum(1), -1, 1)
        turn += np.degrees(np.arccos(cosine))[np.isfinite(cosine)].tolist()
    turn = np.array(turn) ** 2
    rms = np.sqrt(turn.mean())
    return len(lines), np.mean(length), np.std(length) / np.sqrt(len(length)), rms, turn.std() / np.sqrt(len(turn)) / 2 / rms


def is_apart(measured, one, other):
    """Returns the bounds from both references, and from the space between them."""
    def beyond(k, slack):
        low, high = sorted((one[k], other[k]))
        most = slack + LOOKUP * high + CHANCE * np.hypot(measured[k + 1], max(one[k + 1], other[k + 1]))
        return not low - most <= measured[k] <= high + most
    return beyond(0, LOOKUP_MM) or beyond(2, 0)


def main():
    glslines, work, paper = sys.argv[1], sys.argv[2], sys.argv[3:] == ["--paper"]
    os.makedirs(work, exist_ok=True)
    bad = 0
    print("| Scene | Program | Streamlines | Mean length, mm | Turn in a step, degrees |\n|---|---|---|---|---|")
    for s in [*scenes(), phantom_scene(glslines, work)]:
        path = os.path.join(work, "fod.nii.gz")
        nib.save(nib.Nifti1Image(s.sh, s.affine), path)
        rows = dict(zip(("Trekker", "Trekker again"), map(measure, track_trekker(path, s))))
        rows["glslines"] = measure(track_glslines(glslines, work, path, s))
        if paper and s.field:
            for rule in ("the paper", "Trekker's rule"):
                for again in (1, 2):
                    rows[f"{rule}, {again}"] = measure(track(s.field, s.seeds, s.directions, s.options, again, rule != "the paper"))
        for name, (n, length, length_error, turn, turn_error) in rows.items():
            print(f"| {s.name} | {name} | {n} | {length:.2f} ± {length_error:.2f} | {turn:.3f} ± {turn_error:.3f} |", flush=True)
        if s.field:
            known, rounded = REFERENCE[s.name], ROUNDED.get(s.name, REFERENCE[s.name])
            apart = [name for name, part in (("glslines", slice(4)), ("Trekker", slice(4, 8)), ("Trekker again", slice(4, 8)))
                     if is_apart(rows[name][1:], known[part], rounded[part])]
        else:
            apart = ["glslines"] * is_apart(rows["glslines"][1:], rows["Trekker"][1:], rows["Trekker again"][1:])
        for name in apart:
            print(f"{s.name}: {name} is apart")
        bad += len(apart)
    return bad > 0


if __name__ == "__main__":
    sys.exit(child() if sys.argv[1:2] == ["--child"] else main())
