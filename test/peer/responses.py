#!/usr/bin/env python3
"""`glslines response` against MRtrix3's dwi2response: the same voxels and coefficients, of all algorithms.

Usage: responses.py GLSLINES WORK    dwi2response does not let one choose the directions of the constraint, so it runs from a copy of MRtrix3's folder whose
dwi2fod gets them added. On a phantom of two shells; tissues also from a finer grid. Status 77 without MRtrix3."""
import os
import shutil
import sys

import numpy as np

from checks import check, failed
from msmt import directions, image, run, table


def mrtrix_with_directions(folder, dirs):
    """Copies MRtrix3's tree by links, because scripts look for programs in their own folder."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("dwi2response"))))
    home = home if os.path.isdir(os.path.join(home, "lib", "mrtrix3", "dwi2response")) else "/usr/lib/mrtrix3"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(home, "lib", "mrtrix3"), os.path.join(folder, "lib", "mrtrix3"))
    os.mkdir(os.path.join(folder, "bin"))
    for name in os.listdir(os.path.join(home, "bin")):
        source, target = os.path.join(home, "bin", name), os.path.join(folder, "bin", name)
        if name in ("dwi2response", "mrtrix3.py"):
            shutil.copy(source, target)
        elif name == "dwi2fod":
            with open(target, "w") as script:
                script.write(f'#!/bin/sh\nexec "{source}" "$@" -directions "{dirs}"\n')
            os.chmod(target, 0o755)
        elif os.path.isfile(source):
            os.symlink(source, target)
    return os.path.join(folder, "bin", "dwi2response")


def compare(what, own, theirs, names, own_voxels, their_voxels, n, limit=1e-6):
    """Compares responses. names: of the responses; their_voxels: volumes in the opposite order, if there are several."""
    a = image(own_voxels).reshape(image(own_voxels).shape[:3] + (-1,)) > 0
    b = image(their_voxels).reshape(a.shape)[..., ::-1] > 0
    for i, (x, y, name) in enumerate(zip(own, theirs, names)):
        x, y = table(x), table(y)
        off = np.abs(x - y).max() / y[0, 0] if x.shape == y.shape else np.inf
        same = (a[..., i] & b[..., i]).sum()
        check(a[..., i].sum() == b[..., i].sum() == same and same >= n and off < limit,
              f"{what}: {name}: {a[..., i].sum()} and {b[..., i].sum()} voxels, {same} in both; largest difference / first coefficient {off:.1e}")


def main():
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not shutil.which("dwi2response"):
        return 77
    os.makedirs(work, exist_ok=True)
    at = lambda name: os.path.join(work, name)
    run(tool, "phantom", at("phantom"), "--shape", 26, 26, 26, "--bvals", 1000, 2500, "--directions", 30, "--force", "-q")
    dwi, bval, bvec, mask, five = (at("phantom/" + f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "5tt.nii.gz"))
    run("mrconvert", "-quiet", "-force", dwi, "-fslgrad", bvec, bval, at("dwi.mif"))
    run("mrgrid", five, "regrid", "-voxel", "1.7", "-interp", "linear", at("fine.nii"), "-quiet", "-force")
    directions(at("dirs.txt"))
    dwi2response = mrtrix_with_directions(at("mrtrix"), at("dirs.txt"))
    tissues = ("wm", "gm", "csf")
    of = lambda name: [at(f"{name}_{t}.txt") for t in tissues]
    cases = {
        "dhollander": ([], [], []),
        "msmt_5tt": ([at("fine.nii")], ["-pvf", 0.5, "-wm_algo", "fa"], ["--act", at("fine.nii"), "--pvf", 0.5, "--wm-algorithm", "fa"]),
        "tournier": ([], [], []),
        "fa": ([], ["-threshold", 0.6], ["--fa-threshold", 0.6, "--erode", 0]),
    }
    for name, (files, theirs, own) in cases.items():
        single = name in ("tournier", "fa")
        out = [at(name + ".txt")] if single else of(name)
        run(dwi2response, name, at("dwi.mif"), *files, *out, "-mask", mask, "-voxels", at(name + "_voxels.nii"), *theirs, "-quiet", "-force", "-scratch", work)
        constraint = [] if name == "fa" else ["--csd-directions", at("dirs.txt")]
        run(tool, "response", dwi, bval, bvec, mask, at("own_" + name), "--algorithm", name, *own, *constraint, "--force", "-q")
        got = [at(f"own_{name}_response.txt")] if single else of("own_" + name)
        compare(name, got, out, ["single fibres"] if single else tissues, at(f"own_{name}_voxels.nii.gz"), at(name + "_voxels.nii"), 2)
    # shells: MRtrix3 gets those of -shells, and computes mask and tensor from them, too
    for name, theirs, own in (("fa", ["-threshold", 0.6], ["--fa-threshold", 0.6, "--erode", 0]), ("tournier", [], ["--csd-directions", at("dirs.txt")])):
        for b in (1000, 2500):
            files = [at(f"{name}_{b}.txt"), at(f"{name}_{b}_voxels.nii")]
            run(dwi2response, name, at("dwi.mif"), files[0], "-shells", f"0,{b}" if name == "fa" else b, "-mask", mask, "-voxels", files[1], *theirs, "-quiet", "-force", "-scratch", work)
            run(tool, "response", dwi, bval, bvec, mask, at(f"own_{name}_{b}"), "--algorithm", name, "--shells", b, *own, "--force", "-q")
            compare(f"{name} -shells {b}", [at(f"own_{name}_{b}_response.txt")], [files[0]], ["single fibres"], at(f"own_{name}_{b}_voxels.nii.gz"), files[1], 2)
    # of three shells, two for tissues
    run(tool, "phantom", at("three"), "--shape", 22, 22, 22, "--bvals", 700, 1500, 2500, "--directions", 30, "--force", "-q")
    run("mrconvert", "-quiet", "-force", at("three/dwi.nii.gz"), "-fslgrad", at("three/dwi.bvec"), at("three/dwi.bval"), at("three.mif"))
    run(dwi2response, "dhollander", at("three.mif"), *of("three"), "-shells", "0,700,2500", "-mask", at("three/mask.nii.gz"), "-voxels", at("three_voxels.nii"), "-quiet", "-force", "-scratch", work)
    run(tool, "response", *(at("three/" + f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")), at("own_three"), "--shells", 700, 2500, "--csd-directions", at("dirs.txt"), "--force", "-q")
    compare("dhollander -shells 0,700,2500", of("own_three"), of("three"), tissues, at("own_three_voxels.nii.gz"), at("three_voxels.nii"), 1)
    # with noise, the axes of tournier (mean directions of lobes) show that MRtrix3's integration weights depend on rounded
    # directions
    run(tool, "phantom", at("noisy"), "--shape", 20, 20, 20, "--bvals", 2000, "--directions", 60, "--snr", 10, "--force", "-q")
    dwi, bval, bvec, mask = (at("noisy/" + f) for f in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz"))
    run("mrconvert", "-quiet", "-force", dwi, "-fslgrad", bvec, bval, at("noisy.mif"))
    run(dwi2response, "tournier", at("noisy.mif"), at("noisy.txt"), "-mask", mask, "-voxels", at("noisy_voxels.nii"), "-quiet", "-force", "-scratch", work)
    run(tool, "response", dwi, bval, bvec, mask, at("own_noisy"), "--algorithm", "tournier", "--csd-directions", at("dirs.txt"), "--force", "-q")
    compare("tournier, SNR 10", [at("own_noisy_response.txt")], [at("noisy.txt")], ["single fibres"], at("own_noisy_voxels.nii.gz"), at("noisy_voxels.nii"), 2, 1e-5)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
