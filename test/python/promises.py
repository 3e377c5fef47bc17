"""What GPUStreamlines' README files promise, each on the stand-in for cuslines: it runs, or it is refused by name; nothing is taken
and ignored.

    promises.py PROGRAM WORK_FOLDER [SCRIPT]     SCRIPT: run_gpu_streamlines.py of cuslines' source package

The README files at the top and in cuslines/metal and cuslines/webgpu, of 2026: command lines, the attribute angular_weight, classes."""

import inspect
import os
import subprocess
import sys
import unittest

import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.data import get_sphere
from dipy.io import read_bvals_bvecs

import glslines
import glslines.cuslines

PROGRAM, WORK = sys.argv[1], sys.argv[2]
SCRIPT = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
glslines.cuslines.install("llvmpipe")


def path(name):
    return os.path.join(WORK, name)


class Promises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([PROGRAM, "phantom", path("phantom"), "--shape", "24", "28", "24", "--force", "-q"], check=True)
        cls.names = [os.path.join(path("phantom"), name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
        cls.image = nib.load(cls.names[0])
        bvals, bvecs = read_bvals_bvecs(cls.names[1], cls.names[2])
        cls.gtab, cls.sphere = gradient_table(bvals, bvecs=bvecs), get_sphere(name="repulsion724")
        gradients = glslines.Gradients(bvals, bvecs, cls.image.affine, "image")
        cls.fa = glslines.fit_tensor(cls.image, gradients, nib.load(cls.names[3]))["fa"]
        cls.seeds = np.concatenate(list(glslines.Seeds.random(nib.load(cls.names[4]), 300)))

    def boot(self):
        from cuslines import BootDirectionGetter

        return BootDirectionGetter.from_dipy_opdt(self.gtab, self.sphere)

    def tracked(self, dg):
        from cuslines import Tracker

        with Tracker(dg, self.image.get_fdata(), self.fa, 0.1, self.sphere.vertices, self.sphere.edges) as tracker:
            return tracker.generate_sft(self.seeds, self.image).streamlines

    def test_angular_weight(self):
        """README of Metal: dg.angular_weight = 0.5 is the value of the program; the default is 0."""
        plain, none, half = self.boot(), self.boot(), self.boot()
        none.angular_weight, half.angular_weight = 0.0, 0.5
        self.assertEqual(self.boot().angular_weight, 0)
        first, second, third = (self.tracked(dg) for dg in (plain, none, half))
        np.testing.assert_array_equal(first._data, second._data)
        self.assertFalse(np.array_equal(first._data, third._data))
        self.assertEqual(glslines.cuslines.tracker.params_of(half, 2.0).given["angular_weight"], 0.5)
        for bad in (2, -1, float("nan"), "x"):
            with self.assertRaisesRegex(ValueError, "angular_weight"):
                half.angular_weight = bad

    def test_attributes(self):
        """A name that a getter or tracker does not know is refused, because it would have no effect."""
        from cuslines import ProbDirectionGetter, PttDirectionGetter, Tracker

        odf = np.ones(self.fa.shape + (len(self.sphere.vertices),), np.float32)
        tracker = Tracker(ProbDirectionGetter(), odf, self.fa, 0.1, self.sphere.vertices, self.sphere.edges)
        for thing in (self.boot(), ProbDirectionGetter(), PttDirectionGetter(), tracker):
            with self.assertRaisesRegex(AttributeError, "no setting 'angular_wieght'"):
                thing.angular_wieght = 0.5
        with self.assertRaisesRegex(AttributeError, "there is max_angle"):
            tracker.maxangle = 0.5
        with self.assertRaisesRegex(AttributeError, "PttDirectionGetter has no setting 'angular_weight'"):
            PttDirectionGetter().angular_weight = 0.5
        tracker.max_angle, ptt = 0.3, PttDirectionGetter()
        ptt.probe_quality = 4
        self.assertEqual(glslines.cuslines.tracker.params_of(ptt, 2.0).given["probe_quality"], 4)
        with self.assertLogs("GPUStreamlines", "WARNING") as log:
            PttDirectionGetter(odf_lut_res=64)
        self.assertIn("odf_lut_res", log.output[0])

    def test_wrong_arguments(self):
        from cuslines import PttDirectionGetter, Tracker

        with self.assertRaisesRegex(TypeError, "there is probe_length"):
            PttDirectionGetter(probe_len=1)
        with self.assertRaisesRegex(TypeError, "there is chunk_size"):
            Tracker(None, None, None, 0, None, None, chunksize=3)

    def test_classes(self):
        """The modules and classes that the files name exist, with the same interface."""
        import importlib

        for module, name in (("metal", "MetalGPUTracker"), ("webgpu", "WebGPUTracker"), ("cuda_python", "GPUTracker"), ("numba", "CPUTracker")):
            kind = getattr(importlib.import_module("cuslines." + module), name)
            self.assertTrue({"generate_sft", "generate_trx", "set_compression_parameters"} <= set(dir(kind)))
            self.assertLessEqual({"ngpus", "chunk_size"}, set(inspect.signature(kind).parameters))

    def test_benchmark_is_refused_by_name(self):
        """python -m cuslines.webgpu.benchmark is no part of the stand-in."""
        with self.assertRaisesRegex(ImportError, "cuslines.webgpu.benchmark"):
            import cuslines.webgpu.benchmark  # noqa: F401

    @unittest.skipUnless(SCRIPT, "no run_gpu_streamlines.py")
    def test_command_lines(self):
        """Each command line of the files works, with the data of the phantom in place of the data set that it would fetch."""
        common = ["--nseeds", "100", "--cache-dir", WORK]
        for number, words in enumerate((["--ngpus", "1"], ["--device=metal"], ["--device", "webgpu"], ["--device", "gpu", "--write-method", "trk"],
                                        ["--max-angle", "45", "--step-size", "0.4", "--fa-threshold", "0.15", "--model", "csa", "--dg", "boot"],
                                        ["--chunk-size", "40", "--model", "csd", "--dg", "prob"])):
            prefix = path("script%d" % number)
            for suffix in ("trx", "trk"):
                if os.path.exists(prefix + "." + suffix):
                    os.remove(prefix + "." + suffix)
            done = subprocess.run([sys.executable, "-m", "glslines.cuslines", "--device", "llvmpipe", SCRIPT, *self.names, *words, *common,
                                   "--output-prefix", prefix], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            self.assertGreater(len(glslines.load(prefix + (".trk" if "trk" in words else ".trx"))), 20)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], warnings="ignore")
