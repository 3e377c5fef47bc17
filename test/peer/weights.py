#!/usr/bin/env python3
"""Compares fixels and weights of streamlines with MRtrix3 (fod2fixel, tcksift2, tcksift, tck2connectome), and seeds that
follow densities with tckgen -seed_dynamic.

usage: weights.py GLSLINES WORK_DIR [scenes] [options] [sift] [seeds]     all unless some are named

One line per check; exits with 1 if one fails.
"""
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np

from checks import outcome, report


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, cwd=work)


def glslines(*words):
    run(tool, *words, "-q", "--force")


def mrtrix(*words):
    run(*words, "-force", "-quiet")


def path(name):
    return os.path.join(work, name)


def numbers(name):
    lines = [line for line in open(path(name)) if not line.startswith("#")]
    return np.array([float(word) for line in lines for word in line.replace(",", " ").split()])


def make_scene(name, seeds, *options):
    """Makes a phantom, its FODs, a five-tissue image of another grid, streamlines and regions, as files NAME_*."""
    glslines("phantom", f"{name}_data", *options)
    series = [f"{name}_data/dwi.nii.gz", f"{name}_data/dwi.bval", f"{name}_data/dwi.bvec", f"{name}_data/mask.nii.gz"]
    glslines("fit", *series, name, "--model", "csd", "--sh-order", 8)
    glslines("track", "--preset", "gpustreamlines", *series, f"{name}_data/roi.nii.gz", "--sh", f"{name}_sh.nii.gz", "--dg", "prob", "--nseeds", seeds,
             "--step-size", "1mm", "--max-angle", 45, "--min-length", 10, "-o", f"{name}.tck")
    mrtrix("mrconvert", f"{name}_sh.nii.gz", f"{name}_sh.nii", "-strides", "1,2,3,4")
    tissue = nib.load(path(f"{name}_data/tissue.nii.gz"))
    values = np.asarray(tissue.dataobj, np.float32)
    values[~np.isfinite(values)] = 0
    # fractions of white matter, grey matter and CSF; grey matter is half cortical
    five = np.stack([values[..., 1] / 2, values[..., 1] / 2, values[..., 0], values[..., 2], 0 * values[..., 0]], -1)
    nib.save(nib.Nifti1Image(five, tissue.affine), path(f"{name}_5tt_own.nii"))
    mrtrix("mrgrid", f"{name}_5tt_own.nii", "regrid", "-voxel", "1.6", "-interp", "linear", f"{name}_5tt.nii")
    x, y, z = np.indices(values.shape[:3])
    half = [n / 2 for n in values.shape[:3]]
    mask = np.asarray(nib.load(path(f"{name}_data/mask.nii.gz")).dataobj) > 0
    labels = (1 + (x > half[0]) + 2 * (y > half[1]) + 4 * (z > half[2])) * mask
    nib.save(nib.Nifti1Image(labels.astype(np.int16), tissue.affine), path(f"{name}_labels.nii"))


def values_of(name):
    """Reads a data file of a fixel directory, whose first axis may be reversed."""
    image = nib.load(path(name))
    data = np.squeeze(np.asarray(image.dataobj))
    return data[::-1] if image.affine[0, 0] < 0 else data


def compare_fixels(name):
    mrtrix("fod2fixel", f"{name}_sh.nii", f"{name}_fix", "-afd", "afd.nii", "-peak_amp", "peak.nii", "-nii")
    glslines("fixels", f"{name}_sh.nii.gz", f"{name}_own")
    a, b = nib.load(path(f"{name}_fix/index.nii")), nib.load(path(f"{name}_own/index.nii"))
    to = nib.orientations.ornt_transform(nib.io_orientation(a.affine), nib.io_orientation(b.affine))
    ia = nib.orientations.apply_orientation(np.asarray(a.dataobj), to)
    ib = np.asarray(b.dataobj)
    same = ia[..., 0] == ib[..., 0]
    report(f"{name}: fixels by voxel", (~same).sum() <= max(2, same.sum() / 2000),
           f"{ia[..., 0].sum()} and {ib[..., 0].sum()}, {(~same).sum()} voxels differ")
    fd = {}
    for value, other in (("fd", "afd"), ("peak", "peak")):
        va, vb = values_of(f"{name}_fix/{other}.nii"), values_of(f"{name}_own/{value}.nii")
        pairs = [(np.sort(va[p[1]:p[1] + p[0]]), np.sort(vb[q[1]:q[1] + q[0]]))
                 for p, q in zip(ia[same], ib[same]) if p[0] > 0]
        fd[value] = (np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs]))
    for value, limit, tail in (("fd", 3e-4, 6e-3), ("peak", 1e-4, 1e-2)):
        va, vb = fd[value]
        d = np.abs(vb / va - 1)[fd["fd"][0] > 0.1]
        report(f"{name}: {value}", np.median(d) <= limit and np.quantile(d, 0.99) <= tail,
               f"median {np.median(d):.1e}, 99 % {np.quantile(d, 0.99):.1e}")
    glslines("fixels", f"{name}_sh.nii.gz", f"{name}_own")
    mrtrix("fixel2voxel", f"{name}_own/fd.nii", "count", f"{name}_count.nii")
    count = nib.load(path(f"{name}_count.nii"))
    to = nib.orientations.ornt_transform(nib.io_orientation(count.affine), nib.io_orientation(b.affine))
    count = nib.orientations.apply_orientation(np.asarray(count.dataobj), to)
    report(f"{name}: MRtrix3 reads the directory", (np.squeeze(count) == ib[..., 0]).all(), "fixel2voxel counts")


def compare_weights(name, what, theirs, ours, limits=(0.99999, 2e-4, 5e-3), cost_limit=1e-4):
    mrtrix("tcksift2", f"{name}.tck", f"{name}_sh.nii", "w.txt", "-csv", "it.csv", "-out_mu", "mu.txt", "-nthreads", 1,
           *theirs)
    glslines("weights", f"{name}.tck", f"{name}_sh.nii.gz", "-o", "own.txt", "--csv", "own.csv", "--mu", "own_mu.txt",
             "--single-visit", "keep", *ours)
    a, b = numbers("w.txt"), numbers("own.txt")
    if len(a) != len(b):
        return report(f"{name}, {what}", False, f"{len(a)} and {len(b)} weights")
    both = (a > 0) & (b > 0)
    d = np.abs(b[both] / a[both] - 1)
    r = np.corrcoef(a, b)[0, 1]
    report(f"{name}, {what}: weights",
           r >= limits[0] and np.median(d) <= limits[1] and np.quantile(d, 0.99) <= limits[2]
           and abs(both.sum() - (b > 0).sum()) <= len(a) / 1000,
           f"r {r:.8f}, median {np.median(d):.1e}, 99 % {np.quantile(d, 0.99):.1e}, largest {d.max():.1e}")
    mu = numbers("own_mu.txt")[0] / numbers("mu.txt")[0] - 1
    report(f"{name}, {what}: mu", abs(mu) <= 2e-5, f"off by {mu:.1e}")
    x, y = (np.genfromtxt(path(f), delimiter=",", skip_header=1) for f in ("it.csv", "own.csv"))
    n = min(len(x), len(y))
    cost = np.abs(y[:n, 5] / x[:n, 5] - 1).max()
    report(f"{name}, {what}: iterations", abs(len(x) - len(y)) <= 1 and cost <= cost_limit,
           f"{len(x) - 1} and {len(y) - 1}, cost off by {cost:.1e} at most")


def compare_linear(name):
    mrtrix("tcksift2", f"{name}.tck", f"{name}_sh.nii", "w.txt", "-linear", "-nthreads", 1)
    glslines("weights", f"{name}.tck", f"{name}_sh.nii.gz", "-o", "own.txt", "--method", "linear")
    a, b = numbers("w.txt"), numbers("own.txt")
    r = np.corrcoef(a, b)[0, 1]
    d = np.abs(b[a > 0] / a[a > 0] - 1)
    report(f"{name}, linear: weights", r >= 0.99999 and np.median(d) <= 1e-4, f"r {r:.8f}, median {np.median(d):.1e}")


def compare_connectome(name):
    """Compares by the weights that compare_weights() has written."""
    mrtrix("tck2connectome", f"{name}.tck", f"{name}_labels.nii", "c.csv", "-tck_weights_in", "w.txt")
    glslines("connectome", f"{name}.tck", f"{name}_labels.nii", "own_c.csv", "--weights", "own.txt")
    a, b = numbers("c.csv"), numbers("own_c.csv")
    big = a > 0.01 * a.max()
    d = np.abs(b[big] / a[big] - 1).max()
    report(f"{name}: connectome of weights", d <= 1e-3, f"off by {d:.1e} in entries above 1 % of the largest")


def compare_sift(name, number, runs=4):
    """Compares filtering. Which streamlines stay depends on a long chain of choices: FODs that differ by 1e-4 give other
    streamlines, in both programs. So both filter by FODs with as much noise, several times, and the means are compared."""
    image = nib.load(path(f"{name}_sh.nii"))
    values = np.asarray(image.dataobj, dtype=np.float32)
    found = []
    for k in range(runs):
        noise = 1 + 1e-4 * np.random.default_rng(k).standard_normal(values.shape)
        nib.save(nib.Nifti1Image((values * noise).astype(np.float32), image.affine), path("noisy.nii"))
        mrtrix("tcksift", f"{name}.tck", "noisy.nii", "sift.tck", "-csv", "sift.csv", *(["-term_number", number] if number else []))
        glslines("weights", f"{name}.tck", "noisy.nii", "-o", "own.tck", "--method", "sift", "--mu", "own_mu.txt", "--selection",
                 "own_selection.txt", *(["--term-number", number] if number else []))
        last = open(path("sift.csv")).readlines()[-1].split(",")
        found.append((int(last[3]), float(last[6]), numbers("own_selection.txt").sum(), numbers("own_mu.txt")[0]))
    mean, spread = np.mean(found, 0), np.std(found, 0)
    kept, mu = mean[2] / mean[0] - 1, mean[3] / mean[1] - 1
    report(f"{name}, sift {number or 'without target'}", abs(kept) <= 0.03 and abs(mu) <= 0.03,
           f"{mean[0]:.1f} (spread {spread[0]:.1f}) and {mean[2]:.1f} ({spread[2]:.1f}) streamlines, mu {100 * mu:.2f} % apart "
           f"(spread {100 * spread[1] / mean[1]:.2f} and {100 * spread[3] / mean[3]:.2f} %)")


def check_scenes():
    make_scene("small", *SMALL)
    make_scene("oblique", 3000, "--shape", 24, 28, 22, "--voxel-size", 2.1, 2.4, 2.8, "--orientation", "PSR", "--oblique",
               10, -15, 25)
    for name in ("small", "oblique"):
        compare_fixels(name)
        compare_weights(name, "default", [], [])
        if name == "small":
            compare_connectome(name)
        compare_weights(name, "five tissues", ["-act", f"{name}_5tt.nii"], ["--act", f"{name}_5tt.nii"])
    compare_weights("small", "five tissues of its grid", ["-act", "small_5tt_own.nii"], ["--act", "small_5tt_own.nii"])
    compare_linear("small")


def check_options():
    # the time of tcksift2 grows with the number of voxels; half of them show most options as well
    make_scene("few", 2500, "--shape", 20, 24, 20)
    make_scene("small", *SMALL)
    compare_weights("few", "less density in grey matter", ["-act", "few_5tt.nii", "-fd_scale_gm"],
                    ["--act", "few_5tt.nii", "--fd-scale-gm"])
    compare_weights("few", "regularisation", ["-reg_tikhonov", 0.2, "-reg_tv", 0.05],
                    ["--reg-tikhonov", 0.2, "--reg-tv", 0.05])
    compare_weights("small", "smallest weight", ["-min_factor", 0.3], ["--min-factor", 0.3])
    compare_weights("few", "largest weight", ["-max_factor", 2], ["--max-factor", 2], limits=(0.999, 1e-3, 5e-2))
    compare_weights("few", "small steps", ["-max_coeff_step", 0.1, "-min_td_frac", 0.3, "-min_cf_decrease", 1e-6],
                    ["--max-coeff-step", 0.1, "--min-td-frac", 0.3, "--min-cf-decrease", 1e-6])
    compare_weights("few", "fixels of some density", ["-fd_thresh", 0.1], ["--fd-threshold", 0.1])
    compare_weights("few", "fixels with streamlines", ["-remove_untracked"], ["--remove-untracked"])
    compare_weights("few", "directions of lobes alone", ["-no_dilate_lut"], ["--no-dilate"])


def check_sift():
    make_scene("small", *SMALL)
    compare_sift("small", 0)
    compare_sift("small", 2500, 1)


def densities(track, name):
    """Of each fixel the density of streamlines over that of its FOD, and whether it has a streamline; of 0.1 and more."""
    glslines("weights", track, f"{name}_sh.nii", "--method", "linear", "-o", "all.txt", "--fixels", "all_fixels")
    fd, td = values_of("all_fixels/fd.nii"), values_of("all_fixels/td_first.nii")
    big = fd >= 0.1
    return td[big] / fd[big] * fd[big].sum() / td[big].sum(), td[big]


def check_seeds():
    """Streamlines of dynamic seeds fit the densities of FODs as those of tckgen do; those of a mask do not."""
    glslines("phantom", "dyn_data", "--shape", 20, 24, 20, "--bvals", 1000, 2000, "--directions", 32)
    glslines("fit", *[f"dyn_data/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")], "dyn", "--model", "msmt", "--sh-order", 8)
    mrtrix("mrconvert", "dyn_wm.nii.gz", "dyn_sh.nii", "-strides", "1,2,3,4")
    number = 2500
    own = "track", "--preset", "tckgen", "--dg", "ifod2", "--sh", "dyn_sh.nii", "--select", number
    for k in RUNS:  # one thread: several take seeds in an order that differs from run to run
        os.environ["MRTRIX_RNG_SEED"] = str(k)
        mrtrix("tckgen", "dyn_sh.nii", f"peer{k}.tck", "-seed_dynamic", "dyn_sh.nii", "-select", number, "-nthreads", 0)
        batch = ["--dynamic-batch", 200] if k % 2 else []
        glslines(*own, "--seed-dynamic", "auto", *batch, "--rng-seed", k, "--seed-seed", k, "-o", f"own{k}.tck")
    glslines(*own, "--roi", "dyn_data/roi.nii.gz", "-o", "even.tck")
    ratio, td = {}, {}
    for key in *(f"{kind}{k}" for kind in ("peer", "own") for k in RUNS), "even":
        ratio[key], td[key] = densities(f"{key}.tck", "dyn")
    width = {key: np.subtract(*np.percentile(r, (75, 25))) for key, r in ratio.items()}
    missing = {key: (r == 0).sum() for key, r in ratio.items()}
    error = {key: np.mean((r - 1) ** 2) for key, r in ratio.items()}
    of_peers = np.mean([np.corrcoef(td[f"peer{k}"], td[f"peer{n}"])[0, 1] for k in RUNS for n in RUNS if k < n])
    r = np.mean([np.corrcoef(td[f"own{k}"], td[f"peer{n}"])[0, 1] for k in RUNS for n in RUNS])
    report("dynamic seeds: densities", r >= of_peers - 0.02, f"r {r:.3f} with the peers', {of_peers:.3f} between them")
    # single runs scatter by 2 to 3 % of the spread and of the number, by 5 % of the error; the means of six of each were 3, 1 and 1 % apart
    for what, value, bound in ("spread", width, 0.08), ("fixels without streamlines", missing, 0.08), ("error", error, 0.12):
        mine, theirs = (np.mean([value[f"{kind}{k}"] for k in RUNS]) for kind in ("own", "peer"))
        report(f"dynamic seeds: {what}", abs(mine / theirs - 1) <= bound, f"{mine:.4g}, of the peers {theirs:.4g}")
    r = np.corrcoef(td["even"], td["peer1"])[0, 1]
    report("seeds of a mask do not fit as well", r < of_peers - 0.05 and width["even"] > 1.2 * width["own1"],
           f"r {r:.3f}, spread {width['even']:.3f}")


def main():
    for part in sys.argv[3:] or PARTS:
        PARTS[part]()
    sys.exit(outcome())


RUNS = 1, 2, 3, 4
SMALL = 4000, "--shape", 26, 30, 24
PARTS = {"scenes": check_scenes, "options": check_options, "sift": check_sift, "seeds": check_seeds}
if __name__ == "__main__":
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)  # fod2fixel does not write into a directory that exists
    os.makedirs(work)
    main()
