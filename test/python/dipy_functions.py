"""The same script with DIPY's tracker functions and with those of glslines.dipy: one import differs, what they say agrees
but for chance.

    dipy_functions.py PROGRAM WORK_FOLDER"""

import copy
import inspect
import os
import subprocess
import sys
import types
import unittest
import warnings

import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.data import default_sphere
from dipy.direction import peaks_from_model
from dipy.reconst.shm import CsaOdfModel
from dipy.tracking import tracker
from dipy.tracking.stopping_criterion import BinaryStoppingCriterion, ThresholdStoppingCriterion

import glslines
import glslines.dipy

PROGRAM, WORK = sys.argv[1], sys.argv[2]
FUNCTIONS = [name for name in glslines.dipy.__all__ if name.endswith("_tracking")]
NSEEDS = 600
#: standard errors by which two means may differ, and the share that the border of the stop map may add, because it is found by
#: asking
SIGMAS, MARGIN = 4, 0.02
#: the program of a user; MODULE is dipy.tracking.tracker or glslines.dipy
SCRIPT = """
from MODULE import FUNCTION
streamlines = list(FUNCTION(seeds, criterion, affine, random_seed=random, **arguments))
"""
glslines.dipy.device = "llvmpipe"


class Scene:
    """The phantom with noise, a fit of DIPY, and the data that each function needs."""

    def __init__(self):
        folder = os.path.join(WORK, "scene")
        subprocess.run([PROGRAM, "phantom", folder, "--shape", "30", "36", "30", "--force", "-q"], check=True)
        image = nib.load(os.path.join(folder, "dwi.nii.gz"))
        mask, roi = (nib.load(os.path.join(folder, name)).get_fdata() > 0 for name in ("mask.nii.gz", "roi.nii.gz"))
        self.affine, data = image.affine, image.get_fdata()
        bvals, bvecs = (np.loadtxt(os.path.join(folder, name)) for name in ("dwi.bval", "dwi.bvec"))
        self.table = gradient_table(bvals, bvecs=bvecs)
        gradients = glslines.Gradients.from_dipy(self.table, self.affine, "image")
        self.fa = glslines.fit_tensor(image, gradients, mask)["fa"].astype(np.float64)
        self.sh = glslines.csd(image, gradients, mask, sh_order=8)
        model = CsaOdfModel(self.table, 4)
        pam = peaks_from_model(model, data, default_sphere, 0.5, 25, mask=mask & (self.fa > 0.1), npeaks=5)
        voxels = np.argwhere(roi & (self.fa > 0.3))
        random = np.random.default_rng(3)
        seeds = voxels[random.integers(len(voxels), size=NSEEDS)] + random.uniform(-0.5, 0.5, (NSEEDS, 3))
        self.seeds = seeds @ self.affine[:3, :3].T + self.affine[:3, 3]
        odf = {"sh": self.sh, "sphere": default_sphere}
        self.arguments = {name: odf for name in FUNCTIONS}
        self.arguments["bootstrap_tracking"] = {"data": data, "model": model, "sphere": default_sphere}
        self.arguments["eudx_tracking"] = {"pam": pam}


def run(module, function, scene, criterion, seeds=None, random=7):
    names = {"random": random, "seeds": scene.seeds if seeds is None else seeds, "criterion": criterion, "affine": scene.affine,
             "arguments": scene.arguments[function]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(SCRIPT.replace("MODULE", module).replace("FUNCTION", function), names)
    return [np.asarray(line) for line in names["streamlines"]]


def lengths(lines):
    return np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines])


def density(lines, scene):
    inverse = np.linalg.inv(scene.affine)
    points = np.concatenate(lines) @ inverse[:3, :3].T + inverse[:3, 3]
    found = np.clip(np.round(points).astype(int), 0, np.array(scene.fa.shape) - 1)
    counts = np.zeros(scene.fa.shape)
    np.add.at(counts, tuple(found.T), 1)
    return counts


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = Scene()

    def test_signatures(self):
        for name in FUNCTIONS:
            ours, theirs = (inspect.signature(getattr(module, name)).parameters.values() for module in (glslines.dipy, tracker))
            self.assertEqual([(p.name, p.default, p.kind) for p in ours], [(p.name, p.default, p.kind) for p in theirs], name)

    def agree(self, function, n):
        """Compares numbers, mean lengths and places of streamlines; they may differ as much as with another random seed of
        DIPY."""
        scene, seeds = self.scene, self.scene.seeds[:n]
        criterion = ThresholdStoppingCriterion(scene.fa, 0.2)
        theirs, again = (run("dipy.tracking.tracker", function, scene, criterion, seeds, r) for r in (7, 8))
        ours = run("glslines.dipy", function, scene, criterion, seeds)
        a, b = lengths(ours), lengths(theirs)
        error = np.hypot(a.std() / np.sqrt(len(a)), b.std() / np.sqrt(len(b)))
        same, chance = (np.corrcoef(density(lines, scene).ravel(), density(theirs, scene).ravel())[0, 1] for lines in (ours, again))
        print("%-24s %5d and %5d streamlines, %.2f and %.2f mm (error %.2f), density %.4f (DIPY again %.4f)"
              % (function, len(ours), len(theirs), a.mean(), b.mean(), error, same, chance), file=sys.stderr)
        self.assertLess(abs(len(ours) - len(theirs)), SIGMAS * np.sqrt(len(theirs)) * 0.5 + MARGIN * len(theirs), function)
        self.assertLess(abs(a.mean() - b.mean()), SIGMAS * error + MARGIN * b.mean(), function)
        self.assertGreater(same, chance - 0.05, function)

    def test_probabilistic(self):
        self.agree("probabilistic_tracking", 600)

    def test_deterministic(self):
        self.agree("deterministic_tracking", 300)

    def test_bootstrap(self):
        self.agree("bootstrap_tracking", 100)

    def test_eudx(self):
        self.agree("eudx_tracking", 300)

    def test_ptt(self):
        """Compares parallel transport in voxels of 1 mm, from few seeds, because DIPY evaluates harmonics at each place of its
        probe. DIPY multiplies these places by the side of a voxel, where it has to divide: voxels of 2 mm make its probe four
        times as long as probe_length, and its streamlines longer."""
        full = self.scene
        try:
            self.scene = copy.copy(full)
            half = np.diag([0.5, 0.5, 0.5, 1.0])
            self.scene.affine, self.scene.seeds = half @ full.affine, full.seeds / 2
            self.scene.arguments = {"ptt_tracking": {"sh": full.sh, "sphere": default_sphere, "step_size": 0.25,
                                                     "probe_length": 0.75, "max_len": 250, "min_len": 1}}
            self.agree("ptt_tracking", 80)
        finally:
            del self.scene
        theirs, ours = (run(m, "ptt_tracking", full, ThresholdStoppingCriterion(full.fa, 0.2), full.seeds[:80])
                        for m in ("dipy.tracking.tracker", "glslines.dipy"))
        self.assertGreater(lengths(theirs).mean(), 1.05 * lengths(ours).mean(), "DIPY's probe is as long as it says: tell so")

    def test_criteria(self):
        """A criterion that keeps its image and one that is asked give nearly the same streamlines; seeds come with their
        streamlines."""
        scene = self.scene
        means = []
        for criterion in (ThresholdStoppingCriterion(scene.fa, 0.2), glslines.dipy.ThresholdStoppingCriterion(scene.fa, 0.2)):
            means.append(lengths(run("glslines.dipy", "deterministic_tracking", scene, criterion)).mean())
        self.assertLess(abs(means[0] - means[1]), 0.02 * means[1])
        for kind in (BinaryStoppingCriterion, glslines.dipy.BinaryStoppingCriterion):
            self.assertGreater(len(run("glslines.dipy", "deterministic_tracking", scene, kind(scene.fa > 0.2))), NSEEDS / 2)
        pairs = list(glslines.dipy.deterministic_tracking(scene.seeds[:50], criterion, scene.affine, sh=scene.sh, save_seeds=True))
        for line, seed in pairs:
            self.assertLess(np.linalg.norm(line - seed, axis=1).min(), 1e-3)
        again = [list(glslines.dipy.probabilistic_tracking(scene.seeds[:50], criterion, scene.affine, sh=scene.sh))
                 for _ in range(2)]
        self.assertTrue(all(np.array_equal(x, y) for x, y in zip(*again)))

    def test_refusals(self):
        scene, criterion = self.scene, glslines.dipy.BinaryStoppingCriterion(self.scene.fa > 0.2)
        for wrong, kind in (({}, ValueError), ({"sf": scene.sh}, ValueError), ({"sh": scene.sh, "basis_type": "x"}, ValueError),
                            ({"sh": scene.sh[..., 0]}, ValueError), ({"sf": scene.sh, "sphere": "default"}, ValueError),
                            ({"sh": scene.sh, "return_all": False}, NotImplementedError),
                            ({"sh": scene.sh, "seed_directions": scene.seeds}, NotImplementedError)):
            with self.assertRaises(kind, msg=str(list(wrong))):
                list(glslines.dipy.probabilistic_tracking(scene.seeds, criterion, scene.affine, **wrong))
        for none in (None, scene.fa):
            with self.assertRaisesRegex(TypeError, "sc: a stopping criterion"):
                list(glslines.dipy.probabilistic_tracking(scene.seeds, none, scene.affine, sh=scene.sh))
        for affine, step, name in ((None, 0.2, "affine"), (scene.affine, None, "step_size"), (scene.affine, float("nan"), "step_size")):
            with self.assertRaisesRegex(ValueError, "^" + name):
                list(glslines.dipy.deterministic_tracking(scene.seeds, criterion, affine, sh=scene.sh, step_size=step))
        shape = scene.fa.shape
        for dirs, sizes in (((*shape, 5, 3), (*shape, 4)), ((*shape[1:], 5, 3), (*shape[1:], 5)), ((*shape, 3), shape)):
            pam = types.SimpleNamespace(peak_dirs=np.ones(dirs), peak_values=np.ones(sizes))
            with self.assertRaisesRegex(ValueError, "pam: peak_dirs"):
                list(glslines.dipy.eudx_tracking(scene.seeds, criterion, scene.affine, pam=pam))


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
