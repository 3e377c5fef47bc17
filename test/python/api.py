"""The Python package on the phantom: layouts, parameters, files and arrays against the program, errors, callbacks.

    api.py PROGRAM WORK_FOLDER"""

import filecmp
import gc
import inspect
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

import nibabel as nib
import numpy as np

import glslines
from glslines import _arrays, _library, params, pictures

PROGRAM, WORK = sys.argv[1], sys.argv[2]
NSEEDS = 400


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def path(name):
    return os.path.join(WORK, name)


class Phantom:
    """The phantom's files and what is made of them."""

    def __init__(self):
        run("phantom", path("phantom"), "--force")
        self.names = [os.path.join(path("phantom"), name)
                      for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz")]
        self.dwi, self.mask, self.roi = (nib.load(self.names[i]) for i in (0, 3, 4))
        self.affine = self.dwi.affine
        self.gradients = glslines.Gradients.read(self.names[1], self.names[2], self.affine, self.dwi.shape[3])
        self.fa = glslines.fit_tensor(self.dwi, self.gradients, self.mask)["fa"]
        self.qball = glslines.QBall(self.gradients)
        self.seeds = glslines.Seeds.random(self.roi, NSEEDS, mask=self.mask)

    def tracker(self, **options):
        return glslines.Tracker("llvmpipe", glslines.Params(**options), stop_map=self.fa, dwi=self.dwi,
                                qball=self.qball, mask=self.mask)


def options_of(command):
    """The options that the help of a command lists, without those that all commands have."""
    text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
    sections = re.split(r"^(\w.*):\n", text, flags=re.M)
    return {name for title, section in zip(sections[1::2], sections[2::2]) if title not in ("General", "Examples")
            for name in re.findall(r"^ {2,6}(?:-\w, )?--([a-z0-9][-a-z0-9]*)", section, re.M)}


class Layout(unittest.TestCase):
    def test_options_are_those_of_the_program(self):
        described = {row["name"] for row in _library.options}
        self.assertEqual(described, options_of("track"))
        settable, alone = set(params.names()), set(params.names("COMMAND"))
        self.assertEqual({name.replace("-", "_") for name in described}, settable | alone)
        # what the program alone has is done after the run, or is left out for a reason
        self.assertEqual(alone, set(params.AFTER_RUN) | set(params.PROGRAM_ONLY))
        self.assertLessEqual(set(params.AFTER_RUN), set(inspect.signature(glslines.track).parameters))
        with self.assertRaisesRegex(TypeError, "of the program alone"):
            glslines.track(dry_run=True)

    def test_options_of_pictures_and_reports(self):
        tractogram = {"output", "reference", "vtk-space", "recover"}
        for command, struct in (("render", "gls_render_options"), ("report", "gls_report_options")):
            there = {name.replace("_", "-") for name in pictures.names(struct)}
            self.assertEqual(there | tractogram, options_of(command) | tractogram)
        with self.assertRaisesRegex(TypeError, "there is views"):
            glslines.render("absent.trx", "none.png", view="left")
        with self.assertRaisesRegex(ValueError, "none of tubes, lines"):
            glslines.render("absent.trx", "none.png", style="ribbons")

    def test_defaults_by_value(self):
        self.assertEqual(_library.call.gls_csd_options_default().max_iterations, 50)
        options = _library.call.gls_odf_options_default()
        self.assertTrue(options.clip)
        self.assertEqual(_library.call.gls_qball_options_default().smooth, 0.006)

    def test_unknown_and_bad_parameters(self):
        with self.assertRaisesRegex(TypeError, "max_angle"):
            glslines.Params(maxangle=3)
        with self.assertRaisesRegex(TypeError, "no parameter 'nseeds'"):
            glslines.Params(nseeds=3)
        for bad in ({"max_angle": 91}, {"step_size": "0.5m"}, {"dg": "best"}, {"max_directions_per_seed": 33},
                    {"step_size": "-1mm"}, {"max_angle": float("nan")}):
            with self.assertRaises(ValueError, msg=str(bad)):
                glslines.Params(**bad)


class Files(unittest.TestCase):
    def test_same_bytes_as_the_program(self):
        for options in ({"dg": "boot"}, {"dg": "prob", "model": "csa", "step_size": "0.7mm"}, {"model": "csd"}):
            words = [w for name, value in options.items() for w in ("--" + name.replace("_", "-"), value)]
            run("track", *phantom.names, "-o", path("cli.trx"), "--force", "--nseeds", NSEEDS, *words)
            stats = glslines.track(*phantom.names, path("python.trx"), force=True, nseeds=NSEEDS, **options)
            self.assertGreater(stats["streamlines"], NSEEDS / 4)
            self.assertTrue(filecmp.cmp(path("cli.trx"), path("python.trx"), shallow=False), options)

    def test_file_that_exists(self):
        glslines.track(phantom=True, out=path("twice.tck"), nseeds=10, force=True)
        with self.assertRaisesRegex(glslines.OutputError, "exists already"):
            glslines.track(phantom=True, out=path("twice.tck"), nseeds=10)

    def test_missing_input(self):
        with self.assertRaisesRegex(ValueError, "no input files"):
            glslines.track(out=path("none.trx"))
        with self.assertRaisesRegex(glslines.InputError, "absent.nii"):
            glslines.track("absent.nii", *phantom.names[1:], path("none.trx"))

    def test_pictures(self):
        stats = glslines.track(phantom=True, out=path("shown.trx"), nseeds=200, force=True, picture=path("shown.png"),
                               report=path("shown.html"))
        run("track", "--phantom", "--nseeds", 200, "-o", path("shown_cli.trx"), "--force")
        run("render", path("shown.trx"), "-o", path("shown_cli.png"), "--force")
        self.assertTrue(filecmp.cmp(path("shown.png"), path("shown_cli.png"), shallow=False))
        with open(path("shown.html"), encoding="utf-8") as file:
            self.assertIn('id="glslines"', file.read())
        drawn = glslines.render([path("shown.trx"), path("shown_cli.trx")], path("two.png"), views=("left", "slab"),
                                slab="axial:2", range=(0, 50), color="length", force=True)
        self.assertEqual(drawn["total"], 2 * stats["streamlines"])
        told = glslines.report(path("shown.trx"), no_view=True, max_streamlines=50, force=True)
        self.assertEqual((told["output"], told["streamlines"]), (path("shown.html"), stats["streamlines"]))
        with self.assertRaisesRegex(glslines.OutputError, "exists already"):
            glslines.render(path("shown.trx"), path("two.png"))
        with self.assertRaisesRegex(glslines.InputError, "absent.trx"):
            glslines.render(path("absent.trx"), path("absent.png"))
        with self.assertLogs("glslines", "WARNING") as log:  # a run has its result, whatever becomes of its picture
            glslines.track(phantom=True, out=path("plain.trx"), nseeds=20, force=True, picture=path("absent/plain.png"))
        self.assertIn("no picture", log.output[-1])

    def test_load_and_save(self):
        glslines.track(phantom=True, out=path("one.trx"), nseeds=100, force=True)
        result = glslines.load(path("one.trx"))
        result.save(path("two.trx"), overwrite=True)
        self.assertTrue(filecmp.cmp(path("one.trx"), path("two.trx"), shallow=False))
        with self.assertRaises(glslines.OutputError):
            result.save(path("two.trx"))
        result.save(path("three.trk"), ref=phantom.dwi, overwrite=True)
        loaded = nib.streamlines.load(path("three.trk")).streamlines
        self.assertEqual(len(loaded), len(result))
        self.assertLess(np.abs(loaded[7] - result[7]).max(), 1e-4)


class Arrays(unittest.TestCase):
    def test_same_streamlines_as_from_files(self):
        stats = glslines.track(*phantom.names, path("files.trx"), force=True, nseeds=NSEEDS, device="llvmpipe")
        files = glslines.load(path("files.trx"))
        with phantom.tracker(dg="boot") as tracker:
            result = tracker.run(phantom.seeds)
            again = tracker.run(phantom.seeds, space="voxel")
        np.testing.assert_array_equal(result.offsets, files.offsets)
        np.testing.assert_array_equal(result.points, files.points)
        np.testing.assert_array_equal(result.seed_index, files.seed_index)
        self.assertEqual(result.stats["ends"], stats["ends"])
        self.assertEqual(sum(result.stats["verdicts"].values()), result.stats["directions"])
        back = again.points @ phantom.affine[:3, :3].T + phantom.affine[:3, 3]
        self.assertLess(np.abs(back - result.points).max(), 1e-4)

    def test_orders_and_types(self):
        data = np.asanyarray(phantom.dwi.dataobj)
        results = []
        for array in (data.astype(np.float64), np.ascontiguousarray(data), np.asfortranarray(data, np.float32)):
            with glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=array,
                                  qball=phantom.qball, affine=phantom.affine) as tracker:
                results.append(tracker.run(phantom.seeds).points)
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])

    def test_odf(self):
        sh = phantom.qball.fit(phantom.dwi, phantom.mask)
        odf = glslines.ODF.from_sh(sh, affine=phantom.affine)
        amplitudes = odf.sample()
        directions = glslines.Sphere().vertices
        self.assertEqual(amplitudes.shape, phantom.fa.shape + (len(directions),))
        given = glslines.ODF.from_amplitudes(amplitudes, directions, affine=phantom.affine)
        for dg in ("prob", "det", "ptt"):
            points = []
            for source in (odf, given):
                options = {} if dg == "ptt" else {"odf_interpolation": "amplitudes"}
                with glslines.Tracker("llvmpipe", glslines.Params(dg=dg, **options), stop_map=phantom.fa,
                                      odf=source) as tracker:
                    points.append(tracker.run(phantom.seeds))
            self.assertGreater(len(points[0]), NSEEDS / 4)
            self.assertLess(abs(len(points[0]) - len(points[1])), 0.05 * NSEEDS)

    def test_csd_against_the_program(self):
        run("fit", *phantom.names[:4], path("fit"), "--model", "csd", "--sh-order", 4, "--sh-basis",
            "descoteaux07_legacy", "--sh-frame", "image", "--force")
        written = np.asanyarray(nib.load(path("fit_sh.nii.gz")).dataobj)
        sh = glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, sh_order=4)
        np.testing.assert_allclose(sh, written, atol=1e-5)

    def test_seeds(self):
        blocks = np.concatenate(list(phantom.seeds))
        self.assertEqual(blocks.shape, (NSEEDS, 3))
        inside = np.asanyarray(phantom.roi.dataobj)[tuple(np.floor(blocks + 0.5).astype(int).T)]
        self.assertTrue((inside > 0).all())
        with phantom.tracker(dg="boot") as tracker:
            self.assertEqual(len(tracker.run(np.empty((0, 3)))), 0)
            listed = tracker.run(glslines.Seeds.points(blocks))
            world = blocks @ phantom.affine[:3, :3].T + phantom.affine[:3, 3]
            moved = tracker.run(glslines.Seeds.points(world, "world"))
            drawn = tracker.run(phantom.seeds)
        self.assertEqual(len(listed), len(drawn))
        self.assertLess(abs(len(moved) - len(drawn)), 0.1 * NSEEDS)
        for bad in (np.zeros((3, 4)), np.full((2, 3), np.nan), np.zeros(3)):
            with self.assertRaises(ValueError):
                glslines.Seeds.points(bad)

    def test_seeds_of_another_grid(self):
        def seeds(array, affine=None):
            return glslines.Seeds.random(array, 50, affine=affine)

        with phantom.tracker(dg="boot") as tracker:
            for bad in (seeds(np.ones((4, 4, 4))), seeds(np.ones(phantom.fa.shape), 2 * phantom.affine)):
                with self.assertRaisesRegex(ValueError, "the seeds lie in|roi"):
                    tracker.run(bad)
            # voxels of an array whose place is not told are those of the tracker
            self.assertGreater(len(tracker.run(seeds(np.asanyarray(phantom.roi.dataobj)))), 0)
        with self.assertRaisesRegex(ValueError, "mask has the shape"):
            glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                             qball=phantom.qball, mask=np.ones((3, 3, 3)))

    def test_conversions(self):
        with phantom.tracker(dg="boot") as tracker:
            result = tracker.run(phantom.seeds)
        self.assertEqual(len(result.as_list()), len(result))
        tractogram = result.to_nibabel()
        self.assertEqual(len(tractogram), len(result))
        stateful = result.to_stateful(phantom.dwi)
        self.assertTrue(stateful.is_bbox_in_vox_valid())
        np.testing.assert_allclose(stateful.streamlines[3], result[3], atol=1e-4)
        np.testing.assert_allclose(tractogram.data_per_streamline["seeds"][:, 0], result.dps["seeds"][:, 0])

    def test_regions(self):
        left = np.zeros(phantom.fa.shape, np.uint8)
        left[: left.shape[0] // 2] = 1
        with glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                              qball=phantom.qball, mask=phantom.mask, exclude=left) as tracker:
            result = tracker.run(phantom.seeds, space="voxel")
        self.assertGreater(len(result), 0)
        self.assertTrue((np.floor(result.points[:, 0] + 0.5) >= left.shape[0] // 2).all())
        with glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                              qball=phantom.qball, mask=phantom.mask, include_both_ends=[1 - left]) as tracker:
            result = tracker.run(phantom.seeds, space="voxel")
        self.assertGreater(len(result), 0)
        for line in result.as_list():
            self.assertTrue((np.floor(line[[0, -1], 0] + 0.5) >= left.shape[0] // 2).all())
        with self.assertRaisesRegex(TypeError, "'avoid'.*include_ordered"):
            glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                             qball=phantom.qball, avoid=left)

    def test_shapes(self):
        with self.assertRaisesRegex(ValueError, "4 dimensions.*shape"):
            glslines.fit_tensor(np.zeros((4, 4)), phantom.gradients)
        with self.assertRaisesRegex(ValueError, "7 volumes"):
            glslines.fit_tensor(np.zeros((4, 4, 4, 7)), phantom.gradients)
        with self.assertRaisesRegex(ValueError, "shape"):
            glslines.Tracker("llvmpipe", stop_map=phantom.fa[1:], dwi=phantom.dwi, qball=phantom.qball)
        with self.assertRaisesRegex(ValueError, "directions"):
            glslines.ODF.from_amplitudes(np.zeros((4, 4, 4, 7)), np.eye(3))


class Callbacks(unittest.TestCase):
    def test_sink(self):
        batches = []
        with phantom.tracker(dg="boot", chunk_size=100) as tracker:
            whole = tracker.run(phantom.seeds)
            tracker.run(phantom.seeds, sink=lambda batch: batches.append(batch.points.copy()))
        self.assertGreater(len(batches), 1)
        np.testing.assert_array_equal(np.concatenate(batches), whole.points)

    def test_exceptions_come_through(self):
        def fails(*arguments):
            raise KeyError("mine")

        with phantom.tracker(dg="boot", chunk_size=100) as tracker:
            with self.assertRaises(KeyError):
                tracker.run(phantom.seeds, sink=fails)
            with self.assertRaises(KeyError):
                tracker.run(phantom.seeds, progress=fails)
            with self.assertRaises(glslines.CancelledError):
                tracker.run(phantom.seeds, progress=lambda *counts: False)
            self.assertGreater(len(tracker.run(phantom.seeds)), 0)
        with self.assertRaises(KeyError):
            glslines.track(phantom=True, out=path("stopped.trx"), nseeds=1000, force=True, progress=fails)
        self.assertFalse(os.path.exists(path("stopped.trx")))

    def test_closed(self):
        with phantom.tracker(dg="boot") as tracker:
            pass
        with self.assertRaises(RuntimeError):
            tracker.run(phantom.seeds)

    def test_interrupt(self):
        program = ("import glslines, signal, sys\n"
                   "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it\n"
                   "try: glslines.track(phantom=True, out=sys.argv[1], nseeds=3000000, force=True, progress=lambda *c: "
                   "print(c[0], flush=True))\n"
                   "except KeyboardInterrupt: sys.exit(42)")
        child = subprocess.Popen([sys.executable, "-c", program, path("long.trx")], stdout=subprocess.PIPE, text=True)
        while child.stdout.readline().strip() != "track":
            self.assertIsNone(child.poll())
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 42)
        self.assertLess(time.monotonic() - begun, 20)  # a batch of a CPU renderer on a busy machine
        self.assertFalse(os.path.exists(path("long.trx")))

    def test_lock_is_released(self):
        turns, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                turns[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        with phantom.tracker(dg="boot") as tracker:
            thread.start()
            tracker.run(phantom.seeds)
            stop.set()
            thread.join()
        self.assertGreater(turns[0], 5)

    def test_memory_does_not_grow(self):
        def once():
            with glslines.Tracker(device, glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                                  qball=phantom.qball) as tracker:
                tracker.run(few)
            gc.collect()

        few = glslines.Seeds.random(phantom.roi, 20)
        with glslines.Device("llvmpipe") as device:
            for _ in range(10):
                once()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(30):
                once()
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 20 * 1024)


class Lifetimes(unittest.TestCase):
    """Objects that are closed, freed or in use, in any order."""

    def test_device_closed_before_its_tracker(self):
        device = glslines.Device("llvmpipe")
        tracker = glslines.Tracker(device, glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                                   qball=phantom.qball, mask=phantom.mask)
        before = tracker.run(phantom.seeds)
        device.close()
        for closed in (lambda: device.info, lambda: glslines.Tracker(device, stop_map=phantom.fa, dwi=phantom.dwi,
                                                                     qball=phantom.qball)):
            with self.assertRaisesRegex(RuntimeError, "the device is closed"):
                closed()
        np.testing.assert_array_equal(tracker.run(phantom.seeds).points, before.points)
        tracker.close()
        with self.assertLogs("glslines") as log:  # one of an object that is gone would be an error in it
            tracker.close()
            device.close()
            gc.collect()
            _library.logger.warning("nothing else")
        self.assertEqual([record.getMessage() for record in log.records], ["nothing else"])

    def test_parts_closed_before_their_tracker(self):
        qball, sphere = glslines.QBall(phantom.gradients), glslines.Sphere()
        with glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                              qball=qball, sphere=sphere) as tracker:
            before = tracker.run(phantom.seeds)
            qball.close()
            sphere.close()
            gc.collect()
            np.testing.assert_array_equal(tracker.run(phantom.seeds).points, before.points)
        with self.assertRaisesRegex(RuntimeError, "the sphere is closed"):
            sphere.vertices
        with self.assertRaisesRegex(RuntimeError, "the q-ball model is closed"):
            qball.fit(phantom.dwi)

    def test_freed_in_a_cycle(self):
        program = ("import gc, sys, glslines, numpy as np\n"
                   "class Knot: pass\n"
                   "sh = np.zeros((4, 4, 4, 15), np.float32); sh[..., 0] = 1\n"
                   "for _ in range(3):\n"
                   "    knot = Knot(); knot.self = knot\n"
                   "    knot.device = glslines.Device('llvmpipe')\n"
                   "    knot.odf = glslines.ODF.from_sh(sh)\n"
                   "    knot.tracker = glslines.Tracker(knot.device, stop_map=np.ones((4, 4, 4)), odf=knot.odf)\n"
                   "    del knot; gc.collect()\n"
                   "device = glslines.Device('llvmpipe')\n"
                   "tracker = glslines.Tracker(device, stop_map=np.ones((4, 4, 4)), odf=glslines.ODF.from_sh(sh))\n"
                   "sys.exit(42)\n")
        child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
        self.assertEqual((child.returncode, child.stderr), (42, ""))

    def test_one_run_at_a_time_and_closed_meanwhile(self):
        failures, begun, go_on = [], threading.Event(), threading.Event()

        def sink(batch):
            begun.set()
            go_on.wait(60)

        def second():
            begun.wait(60)
            try:
                tracker.run(phantom.seeds)
            except RuntimeError as error:
                failures.append(str(error))
            tracker.close()
            device.close()
            gc.collect()
            go_on.set()

        device = glslines.Device("llvmpipe")
        tracker = glslines.Tracker(device, glslines.Params(dg="boot", chunk_size=100), stop_map=phantom.fa,
                                   dwi=phantom.dwi, qball=phantom.qball)
        thread = threading.Thread(target=second)
        thread.start()
        tracker.run(phantom.seeds, sink=sink)
        thread.join()
        self.assertEqual(failures, ["the tracker is at work: it makes one run at a time"])
        with self.assertRaisesRegex(RuntimeError, "the tracker is closed"):
            tracker.run(phantom.seeds)

    def test_fork(self):
        with phantom.tracker(dg="boot") as tracker:
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                code = 1
                try:
                    tracker.run(phantom.seeds)
                except RuntimeError as error:
                    code = 0 if "another process" in str(error) else 2
                try:
                    tracker.close()  # threads of the renderer are not there: its end would be waited for for ever
                    gc.collect()
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertGreater(len(tracker.run(phantom.seeds)), 0)


class Bounds(unittest.TestCase):
    """Values that C would take for others, and arrays that are shorter than what is read of them."""

    def test_numbers(self):
        for call in (lambda: glslines.Seeds.random(phantom.roi, -1), lambda: glslines.Seeds.random(phantom.roi, 2**64),
                     lambda: glslines.Seeds.per_voxel(phantom.roi, 2**32 + 1),
                     lambda: glslines.Seeds.random(phantom.roi, 10, seed=-1),
                     lambda: glslines.Seeds.random(phantom.roi, 1.5), lambda: glslines.Device("llvmpipe", count=0),
                     lambda: glslines.Params(rng_seed=-1), lambda: glslines.Params(rng_seed=2**64),
                     lambda: glslines.Params(chunk_size=2**64 + 100), lambda: glslines.Params(retries=2**32 + 1),
                     lambda: glslines.render("absent.trx", "none.png", max_streamlines=-1),
                     lambda: glslines.render("absent.trx", "none.png", turn=2**32 + 8),
                     lambda: glslines.QBall(phantom.gradients, sh_order=2**32 + 4)):
            with self.assertRaisesRegex(ValueError, "whole number"):
                call()

    def test_texts(self):
        for call in (lambda: glslines.load("a.trx\0b"), lambda: glslines.render("a.trx", "a.png\0b"),
                     lambda: glslines.track(out="a.trx\0b", phantom=True), lambda: glslines.load_image("a.nii\0")):
            with self.assertRaisesRegex(ValueError, "null character"):
                call()

    def test_affines_and_values(self):
        for affine in (np.eye(3), np.eye(4)[0], np.eye(5), 1.0):
            with self.assertRaisesRegex(ValueError, "affine"):
                glslines.Seeds.random(np.ones((4, 4, 4)), 10, affine=affine)
        for values in (np.ones((4, 4, 4), complex), np.ones((4, 4, 4), object), np.full((4, 4, 4), "1")):
            with self.assertRaisesRegex(ValueError, "type"):
                glslines.Seeds.random(values, 10)
        # neither aligned, nor of this machine's byte order, nor writable, nor in any usual order
        plain = np.random.RandomState(0).rand(6, 5, 4) > 0.5
        raw = np.zeros(plain.size * 4 + 1, np.uint8)
        odd = raw[1:].view(np.float32).reshape(plain.shape)
        odd[:] = plain
        swapped = plain.astype(">f4")
        swapped.flags.writeable = False
        wide = np.zeros((12, 10, 8), np.float32)
        wide[::2, ::2, ::2] = plain
        backward = np.ascontiguousarray(plain[::-1])[::-1]
        seeds = [np.concatenate(list(glslines.Seeds.random(roi, 100)))
                 for roi in (plain, odd, swapped, wide[::2, ::2, ::2], backward)]
        for other in seeds[1:]:
            np.testing.assert_array_equal(other, seeds[0])

    def test_results_that_do_not_fit_themselves(self):
        def result(points=np.zeros((5, 3), np.float32), offsets=(0, 2, 5), **dps):
            return glslines.Result(points, np.array(offsets), dps, {}, _arrays.grid_of((4, 4, 4), np.eye(4)))

        result().save(path("fits.trx"), overwrite=True)
        if os.path.exists(path("misfit.trx")):
            os.remove(path("misfit.trx"))
        for bad in (result(offsets=(0, 2, 500)), result(offsets=(0, 4, 2, 5)), result(offsets=(1, 5)),
                    result(offsets=(0, -3, 5)), result(offsets=(0.0, 5.0)), result(points=np.zeros((5, 2))),
                    result(points=np.zeros(15)), result(fa=np.zeros(1, np.float32)),
                    result(fa=np.zeros((2, 2, 2), np.float32)), result(fa=np.zeros(2, complex))):
            with self.assertRaises(ValueError):
                bad.save(path("misfit.trx"), overwrite=True)
            self.assertFalse(os.path.exists(path("misfit.trx")))

    def test_batches_are_read_only(self):
        def change(batch):
            batch.points[0] = 0

        with phantom.tracker(dg="boot") as tracker, self.assertRaisesRegex(ValueError, "read-only"):
            tracker.run(phantom.seeds, sink=change)


class Waiting(unittest.TestCase):
    """Ctrl-C while the library waits for a pipe that says nothing."""

    def interrupt(self, call):
        program = ("import glslines, numpy as np, os, signal, sys\n"
                   "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it\n"
                   "pipe = sys.argv[1]\n"
                   "print('waits', flush=True)\n"
                   "try: %s\n"
                   "except KeyboardInterrupt: print('ended', flush=True)\n"
                   "glslines.Sphere()  # goes on to work\n"
                   "sys.exit(42)" % call)
        pipe = path("silent.nii")
        if not os.path.exists(pipe):
            os.mkfifo(pipe)
        child = subprocess.Popen([sys.executable, "-c", program, pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        try:
            child.stdout.readline()
            time.sleep(1)
            child.send_signal(signal.SIGINT)
            out, messages = child.communicate(timeout=20)
        finally:
            child.kill()
        self.assertEqual((child.returncode, out), (42, "ended\n"), messages)
        self.assertNotIn("ignored", messages)

    def test_image(self):
        self.interrupt("glslines.load_image(pipe)")

    def test_gradients(self):
        self.interrupt("glslines.Gradients.read(pipe, pipe, np.eye(4), 30)")

    def test_picture(self):
        self.interrupt("glslines.render('absent.trx', %r, colors=pipe)" % path("never.png"))
        self.assertFalse(os.path.exists(path("never.png")))

    def test_regions(self):
        self.interrupt("glslines.Tracker('llvmpipe', stop_map=np.ones((4, 4, 4)), exclude=pipe, "
                       "odf=glslines.ODF.from_sh(np.ones((4, 4, 4, 15))))")

    def test_thread_of_the_program(self):
        # a wait on another thread ends, too, when the main thread's call is told to
        self.interrupt("import threading; t = threading.Thread(target=lambda: glslines.load_image(pipe), daemon=True); "
                       "t.start(); glslines.load_image(pipe)")


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    phantom = Phantom()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
