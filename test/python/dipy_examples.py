"""The tracking examples that come with the source of DIPY, as they are and with one import changed: what they write agrees
but for chance.

    dipy_examples.py PROGRAM WORK_FOLDER FOLDER_OF_EXAMPLES

The scripts fetch a head over the network and draw with fury and matplotlib: a phantom under the same names takes the place
of the first, nothing that of the second. Fits, seeds, stopping criteria and files are the scripts'."""

import contextlib
import io
import logging
import os
import subprocess
import sys
import time
import types
import unittest
import unittest.mock
import warnings

import nibabel as nib
import numpy as np

PROGRAM, WORK, EXAMPLES = (os.path.abspath(name) for name in sys.argv[1:4])
TRACKER = "from dipy.tracking.tracker import"
#: one voxel in this number of voxels of the phantom's seed mask is a seed voxel
ONE_IN = 24
#: standard errors that two means may differ by; the border of DIPY's criteria is found by asking them
SIGMAS, MARGIN = 4, 0.03
#: files of each script, and what it differs in besides the import, for both: a CSD model is not fitted at each step here,
#: DIPY draws residuals of a fit of order 4 whatever the model has, and the border of its criterion in a map as noisy as that
#: of GFA takes the criterion that keeps the map
SCRIPTS = {
    "tracking_probabilistic": (["tractogram_probabilistic_sf.trx", "tractogram_probabilistic_sh.trx",
                                "tractogram_probabilistic_sh_pfm.trx"], {}),
    "tracking_deterministic": (["tractogram_deterministic.trx"], {}),
    "tracking_bootstrap_peaks": (["tractogram_bootstrap_dg.trx", "closest_peak_dg_CSD.trx"], {
        "model=csd_model": "model=csa_model", "csa_model = CsaOdfModel(gtab, sh_order_max=6)": "csa_model = CsaOdfModel(gtab, sh_order_max=4)",
        "from dipy.tracking.stopping_criterion import Thr": "from glslines.dipy import Thr"}),
    "tracking_introduction_eudx": (["tractogram_EuDX.trx"], {}),
    "tracking_stopping_criterion": (["tractogram_probabilistic_thresh_all.trx", "tractogram_deterministic_binary_all.trx",
                                     "tractogram_deterministic_act_all.trx", "tractogram_deterministic_act_valid.trx"], {}),
    "tracking_pft": (["tractogram_pft.trx", "tractogram_probabilistic_cmc.trx"], {}),
    "tracking_rumba": (["tractogram_probabilistic_rumba.trx"], {}),
    "tracking_ptt": (["tractogram_ptt.trx"], {}),
}


class Head:
    """Puts the phantom in place of the head that the scripts fetch."""

    def __init__(self, folder, voxel_size=2):
        subprocess.run([PROGRAM, "phantom", folder, "--shape", "24", "28", "24", "--voxel-size", "2", "--force", "-q"], check=True)
        self.series = [os.path.join(folder, name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec")]
        image, five = (nib.load(os.path.join(folder, name)) for name in ("dwi.nii.gz", "5tt.nii.gz"))
        roi, fractions = nib.load(os.path.join(folder, "roi.nii.gz")).get_fdata() > 0, five.get_fdata()
        self.shape, self.affine = image.shape[:3], np.diag([voxel_size / 2] * 3 + [1]) @ image.affine
        self.series[0] = os.path.join(folder, "stand_in_dwi.nii.gz")
        nib.save(nib.Nifti1Image(image.get_fdata(dtype=np.float32), self.affine), self.series[0])
        white = fractions[..., 2] > 0.5
        labels = white.astype(np.uint8)
        seeds = np.argwhere(roi & white)[::ONE_IN]
        labels[tuple(seeds.T)] = 2
        maps = {"labels": labels, "csf": fractions[..., 3], "gm": fractions[..., 0] + fractions[..., 1], "wm": fractions[..., 2],
                "t1": image.get_fdata()[..., 0]}
        self.names = {}
        for name, values in maps.items():
            self.names[name] = os.path.join(folder, "stand_in_%s.nii.gz" % name)
            nib.save(nib.Nifti1Image(np.asarray(values, values.dtype if values.dtype == np.uint8 else np.float32), self.affine),
                     self.names[name])

    def get_fnames(self, name):
        one = {"stanford_hardi": tuple(self.series), "stanford_labels": self.names["labels"], "stanford_t1": self.names["t1"],
               "stanford_pve_maps": tuple(self.names[name] for name in ("csf", "gm", "wm"))}
        return one[name]


def again():
    """Gives DIPY's functions a random seed, which the scripts do not set."""
    import functools

    from dipy.tracking import tracker

    module = types.ModuleType("dipy_again")
    for name in dir(tracker):
        if name.endswith("_tracking"):
            setattr(module, name, functools.partial(lambda *a, function, **k: function(*a, **dict(k, random_seed=4321)),
                                                    function=getattr(tracker, name)))
    return module


def run(script, module, head):
    """Runs a script whose tracker functions come from this module. Returns the streamlines of its files, and the seconds."""
    import dipy.data

    files, changes = SCRIPTS[script]
    with open(os.path.join(EXAMPLES, script + ".py")) as file:
        text = file.read()
    for old, new in ((TRACKER, "from %s import" % module), *changes.items()):
        assert text.count(old) == 1, "%s has '%s' %d times" % (script, old, text.count(old))
        text = text.replace(old, new)
    folder = os.path.join(WORK, script, module)
    os.makedirs(folder, exist_ok=True)
    before, begun = os.getcwd(), time.monotonic()
    pictures = unittest.mock.MagicMock()
    viz = types.SimpleNamespace(has_fury=False, actor=pictures, window=pictures, colormap=pictures)
    drawing = {"matplotlib": pictures, "matplotlib.pyplot": pictures, "dipy.viz": viz}
    os.chdir(folder)
    try:
        with unittest.mock.patch.object(dipy.data, "get_fnames", head.get_fnames), unittest.mock.patch.dict(sys.modules, drawing), \
                warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            exec(compile(text, script, "exec"), {"__name__": "__main__"})
    finally:
        os.chdir(before)
    lines = {}
    for name in files:
        import glslines
        lines[name] = [np.array(line) for line in glslines.load(os.path.join(folder, name))]
    return lines, time.monotonic() - begun


def lengths(lines):
    return np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines])


def density(lines, head):
    inverse = np.linalg.inv(head.affine)
    points = np.concatenate(lines) @ inverse[:3, :3].T + inverse[:3, 3]
    found = np.clip(np.round(points).astype(int), 0, np.array(head.shape) - 1)
    counts = np.zeros(head.shape)
    np.add.at(counts, tuple(found.T), 1)
    return counts.ravel()


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.head = Head(os.path.join(WORK, "head"))
        sys.modules["dipy_again"] = again()

    def agree(self, head, name, ours, theirs, second):
        a, b, c = (lengths(lines) for lines in (ours, theirs, second))
        error = np.hypot(a.std() / np.sqrt(len(a)), b.std() / np.sqrt(len(b)))
        where = [density(lines, head) for lines in (ours, theirs, second)]
        same, chance = (np.corrcoef(one, where[1])[0, 1] for one in (where[0], where[2]))
        print("%-45s %5d %5d %5d streamlines, %.2f %.2f %.2f mm (error %.2f), density %.4f (DIPY again %.4f)"
              % (name, len(ours), len(theirs), len(second), a.mean(), b.mean(), c.mean(), error, same, chance), file=sys.stderr)
        with self.subTest(name):
            self.assertLess(abs(len(ours) - len(theirs)), SIGMAS * np.sqrt(len(theirs)) * 0.5 + MARGIN * len(theirs))
            self.assertLess(abs(a.mean() - b.mean()), SIGMAS * error + MARGIN * b.mean())
            self.assertGreater(same, chance - 0.05)

    def both_ways(self, script):
        # in voxels of other sizes than 1 mm, DIPY's parallel transport does not look as far ahead as it says
        head = Head(os.path.join(WORK, "small_head"), 1) if script == "tracking_ptt" else self.head
        (theirs, t), (second, _), (ours, o) = (run(script, m, head) for m in ("dipy.tracking.tracker", "dipy_again", "glslines.dipy"))
        print("%s: %.1f s with DIPY, %.1f s with glslines.dipy" % (script, t, o), file=sys.stderr)
        for name in theirs:
            self.agree(head, name, ours[name], theirs[name], second[name])


for _script in SCRIPTS:
    setattr(Examples, "test_" + _script, lambda self, script=_script: self.both_ways(script))

if __name__ == "__main__":
    logging.getLogger("glslines").setLevel(logging.ERROR)
    os.makedirs(WORK, exist_ok=True)
    import glslines.dipy
    glslines.dipy.device = "llvmpipe"
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
