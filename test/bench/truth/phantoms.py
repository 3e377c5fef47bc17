"""Phantoms with a known truth for truths.py: a series of images, the fractions of its tissues, and for each bundle its voxels and its two ends.

isbi2013: the 27 bundles of the ISBI 2013 HARDI challenge (isbi2013.json, from phantomas). Each fibre is a smooth curve through its control points, which begins and ends at right
angles to a sphere; a bundle is what lies within its radius. isbi2013grey: the same, whose grey matter diffuses as in brains. fibercup: seven bundles in a plane, with the crossings, the touch, the fork and the bends of the FiberCup; their fibres
hold back water less, so that no voxel has an FA above 0.7.
A voxel is the mean of 4 x 4 x 4 points. In each point the bundles that hold it share it. A fibre is an axially symmetric tensor whose axis is spread around its direction
(von Mises and Fisher, concentration 50). Noise is Rician; SNR is that of white matter at b = 0."""
import json
import subprocess
from pathlib import Path

import nibabel as nib
import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial import cKDTree

HERE = Path(__file__).resolve().parent
CONCENTRATION, PARTS = 50, 4
GREY, FLUID = 0.2e-3, 3.0e-3  # diffusivities, mm2/s, as in phantomas
ECHO, REPETITION = 0.09, 5.0  # s
RELAXATION = {"wm": (0.832, 0.0796, 0.65), "gm": (1.331, 0.110, 0.8), "csf": (4.163, 2.9, 1.0)}  # T1 and T2 at 3 T (Wansapura et al. 1999), s; density of protons


def signal_at_b0(tissue):
    t1, t2, density = RELAXATION[tissue]
    return density * (1 - np.exp(-REPETITION / t1)) * np.exp(-ECHO / t2)


class Bundle:
    def __init__(self, name, control, tangents, radius):
        """Returns the curve through the control points, whose parameter is proportional to the distances between them."""
        control = np.asarray(control, float)
        way = np.r_[0, np.cumsum(np.linalg.norm(np.diff(control, axis=0), axis=1))]
        ahead, behind = control[2:] - control[1:-1], control[1:-1] - control[:-2]
        middle = {"symmetric": ahead + behind, "incoming": behind, "outgoing": ahead}[tangents]
        slope = np.vstack([-control[0], middle, control[-1]])
        if tangents == "symmetric" and not control[:, 2].any():  # in the plane, the ends go along the first and the last pair of points
            slope[0], slope[-1] = control[1] - control[0], control[-1] - control[-2]
        slope /= np.linalg.norm(slope, axis=1)[:, None]
        curve, at = CubicHermiteSpline(way, control, slope), np.linspace(0, way[-1], 600)
        self.name, self.radius, self.point, self.tangent = name, radius, curve(at), curve(at, 1)
        self.tangent /= np.linalg.norm(self.tangent, axis=1)[:, None]


def isbi2013():
    geometry = json.loads((HERE / "isbi2013.json").read_text())
    bundles = [Bundle(name, np.reshape(f["control_points"], (-1, 3)), f["tangents"], f["radius"]) for name, f in geometry["fiber_geometries"].items()]
    radius = np.linalg.norm(bundles[0].point[0])
    fluid = [(np.array(r["center"]), r["radius"]) for r in geometry["isotropic_regions"].values()]
    n = int(2.2 * radius / 2)
    return {"bundles": bundles, "voxel": 2.0, "shape": (n, n, n), "fluid": fluid, "inside": lambda p: (p**2).sum(-1) < radius**2,
            "shells": [(3000, 64)], "diffusivity": (1.7e-3, 0.2e-3)}


FIBERCUP = {  # mm in the plane; the numbers are those of the real phantom's bundles, the places are like its
    "1_arch": ([(-72, -40), (-66, 10), (-40, 50), (0, 66), (40, 50), (66, 10), (72, -40)], 6),
    "2_upright": ([(-22, -78), (-21, -40), (-19, 0), (-20, 40), (-28, 84)], 6),
    "3_slope": ([(-80, -8), (-40, -16), (0, -22), (40, -18), (84, 4)], 6),
    "4_fork": ([(-22, -78), (-20, -50), (-8, -28), (14, -2), (30, 30), (44, 78)], 5),
    "5_bend": ([(30, -82), (27, -52), (36, -36), (56, -38), (78, -44)], 5),
    "6_touch": ([(-6, -82), (2, -62), (16, -50), (18, -62), (10, -84)], 4),
    "7_hook": ([(-78, 44), (-58, 46), (-46, 58), (-42, 80)], 5),
}


def fibercup():
    bundles = [Bundle(name, [(x, y, 0) for x, y in plane], "symmetric", radius) for name, (plane, radius) in FIBERCUP.items()]
    return {"bundles": bundles, "voxel": 3.0, "shape": (64, 64, 5), "fluid": [], "inside": lambda p: ((p[..., 0] ** 2 + p[..., 1] ** 2) < 96**2) & (abs(p[..., 2]) < 7.5),
            "shells": [(1500, 64)], "diffusivity": (1.5e-3, 0.5e-3)}


def isbi2013grey():
    return {**isbi2013(), "grey": 0.8e-3}


GEOMETRIES = {"isbi2013": isbi2013, "isbi2013grey": isbi2013grey, "fibercup": fibercup}


def directions(n):
    """Returns directions that are nearly even over the half sphere; every second one is turned round."""
    i = np.arange(n) + 0.5
    z, turn = i / n, np.pi * (1 + 5**0.5) * i
    d = np.c_[np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z]
    d[::2] *= -1
    return d


def fibre_signal(b, along, across):
    """Returns the signal of a spread fibre at 0, 0.001 .. 1, the cosine of the angle between its direction and the gradient."""
    share = (np.arange(200) + 0.5) / 200
    tilt = 1 + np.log(share + (1 - share) * np.exp(-2 * CONCENTRATION)) / CONCENTRATION
    turn = 2 * np.pi * (np.arange(48) + 0.5) / 48
    cosine = np.linspace(0, 1, 1001)
    to_axis = cosine[:, None, None] * tilt[:, None] + np.sqrt((1 - cosine**2))[:, None, None] * np.sqrt(1 - tilt**2)[:, None] * np.cos(turn)
    return np.exp(-b * (across + (along - across) * to_axis**2)).mean((1, 2))


def ends(scene, centre):
    """Returns two masks for each bundle: the voxels at the border of the phantom that are nearest to its ends. Bundles whose
    ends overlap share their voxels."""
    bundles = scene["bundles"]
    point = np.array([p for b in bundles for p in (b.point[0], b.point[-1])])
    radius = np.repeat([b.radius for b in bundles], 2)
    inside = scene["inside"](centre)
    distance = np.linalg.norm(centre[:, None] - point, axis=2) - radius
    nearest = distance.argmin(1)
    near = inside & (distance.min(1) < 0.5 * scene["voxel"])
    # the part of the bundle beyond a plane across its end: the last 1.5 voxels
    tangent = np.array([t for b in bundles for t in (-b.tangent[0], b.tangent[-1])])
    beyond = ((centre - point[nearest]) * tangent[nearest]).sum(1) > -1.5 * scene["voxel"]
    own = [near & beyond & (nearest == e) for e in range(len(point))]
    group = list(range(len(point)))
    for a in range(len(point)):
        for b in range(a):
            if np.linalg.norm(point[a] - point[b]) < radius[a] + radius[b]:
                group = [group[b] if g == group[a] else g for g in group]
    joint = {g: np.any([own[e] for e in range(len(point)) if group[e] == g], axis=0) for g in set(group)}
    return [(joint[group[2 * i]], joint[group[2 * i + 1]]) for i in range(len(bundles))]


def make(name, snr, folder, shells=None):
    """Writes the phantom to a folder. shells: pairs of a b-value and a number of directions, in place of the phantom's own."""
    scene = GEOMETRIES[name]()
    scene["shells"] = shells or scene["shells"]
    bundles, size, shape = scene["bundles"], scene["voxel"], scene["shape"]
    affine = np.diag([size, size, size, 1.0])
    affine[:3, 3] = -0.5 * size * (np.array(shape) - 1)
    centre = np.indices(shape).reshape(3, -1).T * size + affine[:3, 3]
    offset = ((np.indices((PARTS,) * 3).reshape(3, -1).T + 0.5) / PARTS - 0.5) * size
    trees = [cKDTree(b.point) for b in bundles]
    n_b0 = max(1, sum(n for _, n in scene["shells"]) // 10)
    bval = np.r_[np.zeros(n_b0), np.concatenate([np.full(n, b) for b, n in scene["shells"]])]
    bvec = np.vstack([np.zeros((n_b0, 3))] + [directions(n) for _, n in scene["shells"]])
    table = {b: fibre_signal(b, *scene["diffusivity"]) for b, _ in scene["shells"]}
    inside, fluid = np.zeros(len(centre)), np.zeros(len(centre))
    part = np.zeros((len(centre), len(bundles)), np.float32)
    signal = np.zeros((len(centre), len(bval)), np.float32)
    held_by = np.column_stack([t.query(centre, distance_upper_bound=b.radius + size)[0] < np.inf for t, b in zip(trees, bundles)])
    for start in range(0, len(centre), 4000):
        block = np.arange(start, min(start + 4000, len(centre)))
        point = centre[block][:, None] + offset
        within = scene["inside"](point)
        inside[block] = within.mean(1)
        for middle, radius in scene["fluid"]:
            fluid[block] = np.maximum(fluid[block], (within & (((point - middle) ** 2).sum(-1) < radius**2)).mean(1))
        holds, at = np.zeros(point.shape[:2] + (len(bundles),), bool), np.zeros(point.shape[:2] + (len(bundles),), np.int32)
        for j, (tree, bundle) in enumerate(zip(trees, bundles)):
            rows = np.flatnonzero(held_by[block, j])
            if len(rows):
                distance, index = tree.query(point[rows].reshape(-1, 3), distance_upper_bound=bundle.radius)
                holds[rows, :, j] = (distance < np.inf).reshape(len(rows), -1) & within[rows]
                at[rows, :, j] = np.minimum(index, len(bundle.point) - 1).reshape(len(rows), -1)
        share = holds / np.maximum(holds.sum(-1, keepdims=True), 1) / len(offset)
        part[block] = share.sum(1)
        for j, bundle in enumerate(bundles):
            row, sub = np.nonzero(holds[:, :, j])
            if not len(row):
                continue
            cosine = np.abs(bundle.tangent[at[row, sub, j]] @ bvec.T)
            value = np.ones(cosine.shape)
            for b in table:
                value[:, bval == b] = np.interp(cosine[:, bval == b], np.linspace(0, 1, 1001), table[b])
            np.add.at(signal, block[row], (share[row, sub, j, None] * value).astype(np.float32))
    total = part.sum(1)
    white = np.minimum(total, 1 - fluid)
    signal[total > 0] *= (white[total > 0] / total[total > 0])[:, None]
    grey = np.clip(inside - white - fluid, 0, 1)
    series = signal_at_b0("wm") * signal
    series += signal_at_b0("gm") * grey[:, None] * np.exp(-bval * scene.get("grey", GREY)) + signal_at_b0("csf") * fluid[:, None] * np.exp(-bval * FLUID)
    noise, spread = np.random.default_rng(7), signal_at_b0("wm") / snr
    series = np.sqrt((series + spread * noise.normal(size=series.shape)) ** 2 + (spread * noise.normal(size=series.shape)) ** 2)
    folder = Path(folder)
    (folder / "bundles").mkdir(parents=True, exist_ok=True)

    def save(path, values, kind=np.float32):
        nib.save(nib.Nifti1Image(np.ascontiguousarray(values.reshape(shape + values.shape[1:])).astype(kind), affine), folder / (path + ".nii.gz"))

    save("dwi", 1000 * series)
    save("mask", inside > 0.5, np.uint8)
    save("roi", white > 0.5, np.uint8)
    for tissue, values in (("wm", white), ("gm", grey), ("csf", fluid)):
        save("p_" + tissue, values)
    save("5tt", np.column_stack([grey, 0 * grey, white, fluid, 0 * grey]))
    save("fibres", part)
    np.savetxt(folder / "dwi.bval", bval[None], fmt="%g")
    np.savetxt(folder / "dwi.bvec", (bvec * [-1, 1, 1]).T, fmt="%.8f")  # FSL's rule: x is negated on a grid whose determinant is positive
    rows = ["bundle\tstart\tend\ttruth\n"]
    for bundle, values, both in zip(bundles, part.T, ends(scene, centre)):
        save("bundles/" + bundle.name, values > 0.1, np.uint8)
        for e in range(2):
            save(f"bundles/{bundle.name}_end{e}", both[e], np.uint8)
        at = f"bundles/{bundle.name}"
        rows.append(f"{bundle.name}\t{at}_end0.nii.gz\t{at}_end1.nii.gz\t{at}.nii.gz\n")
    (folder / "truth.tsv").write_text("".join(rows))


def make_own(tool, snr, folder, *options):
    """Makes the built-in phantom. options: others of `glslines phantom`."""
    folder = Path(folder)
    subprocess.run([tool, "phantom", folder, "--snr", str(snr), *options, "-q", "--force"], check=True)
    tissue = nib.load(folder / "tissue.nii.gz")
    for i, name in enumerate(("wm", "gm", "csf")):
        nib.save(nib.Nifti1Image(np.asarray(tissue.dataobj)[..., i].astype(np.float32), tissue.affine), folder / f"p_{name}.nii.gz")
    names = sorted(f.stem for f in (folder / "bundles").glob("*.txt"))
    masks = [nib.load(folder / "bundles" / f"{n}.nii.gz") for n in names]
    nib.save(nib.Nifti1Image(np.stack([np.asarray(m.dataobj) for m in masks], -1).astype(np.float32), masks[0].affine), folder / "fibres.nii.gz")
    at = [f"bundles/{n}" for n in names]
    (folder / "truth.tsv").write_text("bundle\tstart\tend\ttruth\n" + "".join(f"{n}\t{a}_end0.nii.gz\t{a}_end1.nii.gz\t{a}.nii.gz\n" for n, a in zip(names, at)))
