"""The stand-in for cuslines: signatures, modules, the real cuslines on the same data, the unmodified script of
GPUStreamlines, and pyAFQ's own tracking.

    dropin.py PROGRAM WORK_FOLDER [SCRIPT]     SCRIPT: run_gpu_streamlines.py of cuslines' source package"""

import faulthandler
import inspect
import logging
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from math import radians

import nibabel as nib
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.data import get_sphere
from dipy.io import read_bvals_bvecs
from dipy.reconst.shm import sh_to_sf

import glslines
import glslines.cuslines

PROGRAM, WORK = sys.argv[1], sys.argv[2]
SCRIPT = sys.argv[3] if len(sys.argv) > 3 else None
HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = 6
#: a process counts as hung after this many seconds, twenty times what the longest takes on two idle cores
LIMIT = 600
glslines.cuslines.install("llvmpipe")


def path(name):
    return os.path.join(WORK, name)


def python(*words):
    """Runs another Python. Its messages appear only if it fails. If it hangs, the place of each of its threads is printed."""
    with open(path("messages.txt"), "w+") as messages:
        child = subprocess.Popen([sys.executable, "-X", "faulthandler", *words], stdout=messages, stderr=messages)
        try:
            code = child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGABRT)
            child.wait()
            code = f"not done after {LIMIT} s"
        messages.seek(0)
        if code != 0:
            raise AssertionError(f"{words}: {code}\n{messages.read()[-8000:]}")


class Phantom:
    def __init__(self):
        subprocess.run([PROGRAM, "phantom", path("phantom"), "--force", "-q"], check=True)
        self.names = [os.path.join(path("phantom"), name)
                      for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
        self.image = nib.load(self.names[0])
        self.data = self.image.get_fdata()
        bvals, bvecs = read_bvals_bvecs(self.names[1], self.names[2])
        self.gtab = gradient_table(bvals, bvecs=bvecs)
        self.mask, self.roi = (nib.load(name).get_fdata() for name in self.names[3:])
        gradients = glslines.Gradients(bvals, bvecs, self.image.affine, "image")
        self.fa = glslines.fit_tensor(self.image, gradients, self.mask)["fa"]
        self.sh = glslines.csd(self.image, gradients, self.mask, sh_order=ORDER)
        self.seeds = np.concatenate(list(glslines.Seeds.random(self.roi, 1000)))
        self.sphere = get_sphere(name="repulsion724")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.odf = sh_to_sf(self.sh, self.sphere, sh_order_max=ORDER, legacy=True).clip(min=0)


class Names(unittest.TestCase):
    def test_modules(self):
        import cuslines
        import cuslines.cuda_python
        import cuslines.metal
        import cuslines.numba
        import cuslines.webgpu

        self.assertEqual(cuslines.BACKEND, "glslines")
        for module, names in ((cuslines, ("Tracker", "BootDirectionGetter")),
                              (cuslines.cuda_python, ("GPUTracker", "ProbDirectionGetter", "PttDirectionGetter")),
                              (cuslines.metal, ("MetalGPUTracker", "MetalProbDirectionGetter",
                                                "MetalPttDirectionGetter")),
                              (cuslines.webgpu, ("WebGPUTracker", "WebGPUProbDirectionGetter",
                                                 "WebGPUPttDirectionGetter")),
                              (cuslines.numba, ("CPUTracker", "CPUProbDirectionGetter", "CPUPttDirectionGetter"))):
            for name in names:
                self.assertTrue(getattr(module, name).__module__.startswith("glslines.cuslines"), name)

    def test_signatures(self):
        from cuslines import BootDirectionGetter, ProbDirectionGetter, PttDirectionGetter, Tracker

        def defaults(function):
            return {p.name: p.default for p in inspect.signature(function).parameters.values()}

        none = inspect.Parameter.empty
        self.assertEqual(defaults(Tracker), dict(
            dg=none, dataf=none, stop_map=none, stop_threshold=none, sphere_vertices=none, sphere_edges=none,
            sphere_symm=False, max_angle=radians(60), step_size=0.5, min_pts=0, max_pts=np.inf,
            relative_peak_thresh=0.25, min_separation_angle=radians(45), ngpus=1, rng_seed=0, rng_offset=0,
            chunk_size=25000))
        self.assertEqual(defaults(ProbDirectionGetter), {})
        self.assertEqual(defaults(PttDirectionGetter), dict(odf_lut_res=128, probe_length=0.25,
                                                            target_short_step=0.025, probe_quality=8))
        wanted = dict(gtab=none, sphere=none, sh_order_max=6, full_basis=False, sh_lambda=0.006, min_signal=1)
        self.assertEqual(defaults(BootDirectionGetter.from_dipy_opdt), wanted)
        self.assertEqual(defaults(BootDirectionGetter.from_dipy_csa), wanted)
        self.assertEqual(list(defaults(BootDirectionGetter)), ["model_type", "min_signal", "H", "R", "delta_b",
                                                               "delta_q", "sampling_matrix", "b0s_mask"])
        self.assertEqual(list(inspect.signature(Tracker.set_compression_parameters).parameters)[1:],
                         ["pos_dtype", "linearize", "tol_error", "max_segment_length"])
        with self.assertRaisesRegex(NotImplementedError, "from_dipy"):
            BootDirectionGetter(*range(8))


class Tracking(unittest.TestCase):
    def tracker(self, dg=None, **options):
        from cuslines import ProbDirectionGetter, Tracker

        return Tracker(dg or ProbDirectionGetter(), phantom.odf, phantom.fa, 0.1, phantom.sphere.vertices,
                       phantom.sphere.edges, max_angle=radians(30), **options)

    def test_sft_and_trx(self):
        with self.tracker() as tracker:
            sft = tracker.generate_sft(phantom.seeds, phantom.image)
            trx = tracker.generate_trx(phantom.seeds, phantom.image)
            tracker.set_compression_parameters(pos_dtype=np.float16, linearize=True)
            small = tracker.generate_trx(phantom.seeds, phantom.image)
            nothing = tracker.generate_trx(np.empty((0, 3)), phantom.image)
            outside = tracker.generate_sft(np.full((5, 3), -50.0), phantom.image)
        self.assertEqual((len(nothing), len(outside)), (0, 0))
        self.assertEqual(len(sft), len(trx))
        self.assertEqual(len(small), len(trx))
        self.assertLess(len(small.streamlines._data), len(trx.streamlines._data))
        self.assertEqual((trx.streamlines._data.dtype, small.streamlines._data.dtype), (np.float32, np.float16))
        self.assertEqual(trx.streamlines._offsets.dtype, np.uint64)
        self.assertTrue(sft.is_bbox_in_vox_valid())
        sft.to_rasmm()
        for i in (0, 100, len(sft) - 1):
            np.testing.assert_allclose(sft.streamlines[i], trx.streamlines[i], atol=1e-3)
        with self.assertRaises(RuntimeError):
            tracker.generate_sft(phantom.seeds, phantom.image)

    def test_numbers_of_points(self):
        with self.tracker() as tracker:
            all_of_them = tracker.generate_sft(phantom.seeds, phantom.image)
        with self.tracker(min_pts=20, max_pts=50) as tracker:
            some = tracker.generate_sft(phantom.seeds, phantom.image)
        kept = [line for line in all_of_them.streamlines if 20 <= len(line) <= 50]
        self.assertGreater(len(kept), 50)
        self.assertEqual(len(some), len(kept))

    def test_random_numbers(self):
        lines = {}
        for name, options in (("a", {}), ("chunks", {"chunk_size": 100}), ("seed", {"rng_seed": 5}),
                              ("offset", {"rng_offset": 5}), ("devices", {"ngpus": 2})):
            with self.tracker(**options) as tracker:
                lines[name] = tracker.generate_sft(phantom.seeds[:200], phantom.image).streamlines
        np.testing.assert_array_equal(lines["a"]._data, lines["chunks"]._data)
        np.testing.assert_array_equal(lines["a"]._data, lines["devices"]._data)
        for other in ("seed", "offset"):
            self.assertFalse(np.array_equal(lines["a"]._data, lines[other]._data))

    def test_boot_is_that_of_the_program(self):
        from cuslines import BootDirectionGetter, Tracker

        np.savetxt(path("seeds.txt"), phantom.seeds, fmt="%.9g")
        fa = path("fa.nii.gz")
        nib.save(nib.Nifti1Image(phantom.fa, phantom.image.affine), fa)
        for model in ("opdt", "csa"):
            glslines.track(*phantom.names[:3], roi=phantom.names[4], out=path("boot.trx"), force=True, model=model,
                           preset="gpustreamlines", seeds=path("seeds.txt"), fa=fa, bvec_frame="image", sh_order=6, device="llvmpipe",
                           sphere=write_sphere())
            program = glslines.load(path("boot.trx"))
            getter = getattr(BootDirectionGetter, "from_dipy_" + model)(phantom.gtab, phantom.sphere)
            with Tracker(getter, phantom.data, phantom.fa, 0.1, phantom.sphere.vertices,
                         phantom.sphere.edges) as tracker:
                trx = tracker.generate_trx(phantom.seeds, phantom.image)
            self.assertLess(abs(len(trx) - len(program)), 0.05 * len(program))
            mean = len(trx.streamlines._data) / len(trx), len(program.points) / len(program)
            self.assertLess(abs(mean[0] - mean[1]), 0.1 * mean[1])

    def test_bad_input(self):
        from cuslines import ProbDirectionGetter, Tracker

        vertices, edges = phantom.sphere.vertices, phantom.sphere.edges
        for data, stop, v, e, text in ((phantom.odf[..., 0], phantom.fa, vertices, edges, "dataf"),
                                       (phantom.odf, phantom.fa[1:], vertices, edges, "stop_map"),
                                       (phantom.odf, phantom.fa, vertices, edges[:0], "sphere_edges"),
                                       (phantom.odf, phantom.fa, vertices[:-1], edges, "723.*724"),
                                       (phantom.odf, phantom.fa, vertices.T, edges, "directions")):
            with self.assertRaisesRegex(ValueError, text):
                Tracker(ProbDirectionGetter(), data, stop, 0.1, v, e)
        wrong = nib.Nifti1Image(np.zeros((4, 5, 6), np.uint8), np.eye(4))
        with self.tracker() as tracker:
            for seeds, image, text in ((phantom.seeds[:4].T, phantom.image, "seeds"),
                                       (np.full((2, 3), np.nan), phantom.image, "not finite"),
                                       (phantom.seeds, wrong, "4, 5, 6")):
                for generate in (tracker.generate_sft, tracker.generate_trx):
                    with self.assertRaisesRegex(ValueError, text):
                        generate(seeds, image)


def write_sphere():
    np.savetxt(path("repulsion724.txt"), phantom.sphere.vertices, fmt="%.17g")
    return path("repulsion724.txt")


class Programs(unittest.TestCase):
    def test_real_cuslines(self):
        np.savez(path("input.npz"), fa=phantom.fa, affine=phantom.image.affine, odf=phantom.odf.astype(np.float32),
                 seeds=np.concatenate(list(glslines.Seeds.random(phantom.roi, 6000))))
        found = {}
        for which in ("real", "glslines"):
            python(os.path.join(HERE, "cuslines_run.py"), which, path("input.npz"), path(which + ".npz"))
            found[which] = np.load(path(which + ".npz"))
        real, ours = found["real"], found["glslines"]
        # the sphere has both ends of each direction, which the real cuslines tracks twice
        ratio = 2 * int(ours["n"]) / int(real["n"])
        lengths = float(ours["mean"] / real["mean"])
        correlation = np.corrcoef(real["density"].ravel(), ours["density"].ravel())[0, 1]
        print("cuslines %d streamlines, stand-in %d; ratio of mean lengths %.3f; correlation of densities %.3f"
              % (real["n"], ours["n"], lengths, correlation))
        self.assertLess(abs(ratio - 1), 0.05)
        self.assertLess(abs(lengths - 1), 0.1)
        self.assertGreater(correlation, 0.97)

    @unittest.skipUnless(SCRIPT, "no run_gpu_streamlines.py")
    def test_unmodified_script(self):
        for dg in ("boot", "prob", "ptt"):
            suffix = "trk" if dg == "prob" else "trx"
            prefix = path("script_" + dg)
            python("-m", "glslines.cuslines", "--device", "llvmpipe", SCRIPT, *phantom.names, "--dg", dg, "--nseeds",
                   "200", "--cache-dir", WORK, "--write-method", suffix, "--output-prefix", prefix)
            self.assertGreater(len(glslines.load(prefix + "." + suffix)), 100)

    def test_pyafq(self):
        logging.getLogger("AFQ").setLevel(logging.ERROR)
        from AFQ.tractography.tractography import track

        affine = phantom.image.affine
        sh = nib.Nifti1Image(phantom.sh, affine)
        tissue = np.zeros(phantom.fa.shape + (3,))
        tissue[..., 2] = phantom.fa > 0.2
        tissue[..., 1] = (phantom.fa <= 0.2) & (phantom.mask > 0)
        tissue[..., 0] = phantom.mask == 0
        common = dict(seed_mask=phantom.roi, n_seeds=500, random_seeds=True, rng_seed=3, minlen=5, odf_model="CSD")
        for directions, backend, trx in (("prob", "numba", True), ("prob", "cuda", False), ("ptt", "webgpu", True),
                                         ("ptt", "auto", False), ("prob", "metal", True)):
            result = track(sh, nib.Nifti1Image(tissue, affine), 0, directions=directions, trx=trx,
                           jit_backend=backend, **common)
            self.assertGreater(len(result), 100)
            self.assertGreaterEqual(min(map(len, result.streamlines)), 10)
            self.assertEqual(type(result).__name__, "TrxFile" if trx else "StatefulTractogram")
        from trx.io import save

        n = len(result)  # trx-python empties a TrxFile that it has saved
        save(result, path("afq.trx"))
        self.assertEqual(len(glslines.load(path("afq.trx"))), n)

    def test_console_script(self):
        done = subprocess.run([sys.executable, "-m", "glslines.cuslines", "no-such-program"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither a file nor a console script", done.stderr)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    tempfile.tempdir = WORK
    # print the places of the threads of this process, too, and end it
    faulthandler.dump_traceback_later(3 * LIMIT, exit=True)
    phantom = Phantom()
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], warnings="ignore")
