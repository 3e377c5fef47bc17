"""The Python package: lifetimes of objects, bounds of values, and calls that wait.

    lifetimes.py PROGRAM WORK_FOLDER"""

import copy
import decimal
import gc
import inspect
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import glslines
from api import WORK, Phantom, path
from glslines import _arrays, _library


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
        with self.assertLogs("glslines") as log:  # a method of an object that is gone would cause an error in it
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
                    tracker.close()  # the threads of the renderer do not exist in the child, and waiting for their end would never return
                    gc.collect()
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertGreater(len(tracker.run(phantom.seeds)), 0)

    def in_fork(self, function):
        """Returns the result of a function in a copy of this process, as a text."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                os.write(into, str(function()).encode())
            finally:
                os._exit(0)
        os.close(into)
        with os.fdopen(out) as file:
            text = file.read()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        return text

    def test_fork_while_other_threads_work(self):
        def works():
            glslines.Gradients(phantom.gradients.bvals, phantom.gradients.bvecs, frame="image")

        def work_and_log():
            while not ended.is_set():
                works()

        def in_child():
            works()
            return glslines.fit_tensor(phantom.dwi, phantom.gradients, phantom.mask)["fa"].sum()

        before, ended = _library.logger.level, threading.Event()
        _library.logger.setLevel("DEBUG")
        thread = threading.Thread(target=work_and_log)
        thread.start()
        try:
            for _ in range(10):
                self.assertEqual(self.in_fork(in_child), str(phantom.fa.sum()))
        finally:
            ended.set()
            thread.join()
            _library.logger.setLevel(before)

    def test_fork_and_devices(self):
        with glslines.Device("llvmpipe"):
            pass

        def opens(make):
            try:
                make()
            except glslines.DeviceError as error:
                return error

        for make in (lambda: glslines.Device("llvmpipe"), glslines.devices,
                     lambda: glslines.track(phantom=True, model='opdt', out=path("forked.trx"), nseeds=10, force=True)):
            self.assertIn("a copy, made by fork()", self.in_fork(lambda: opens(make)))
        self.assertFalse(os.path.exists(path("forked.trx")))

    def test_made_when_interrupted(self):
        destroyed = []

        def makes(out):
            out._obj.value = 4096
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            _library.made(makes, destroy=lambda out: destroyed.append(out.value))
        self.assertEqual(destroyed, [4096])
        with self.assertRaises(glslines.InputError):  # a call that makes nothing leaves nothing to destroy
            _library.made(_library.call.gls_image_read, b"absent.nii", 0, destroy=lambda out: destroyed.append(0))
        self.assertEqual(destroyed, [4096])


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


def contents(thing):
    """Returns the content of an object of the package, as arrays and numbers."""
    if isinstance(thing, glslines.Gradients):
        return [thing.bvals, thing.bvecs, thing.b0s_mask, thing._struct.b0_threshold, thing._struct.x_flipped,
                thing._struct.scaled]
    if isinstance(thing, glslines.Sphere):
        return [thing.vertices, thing.is_antipodal]
    if isinstance(thing, glslines.QBall):
        return [thing.fit(phantom.dwi, phantom.mask)]
    if isinstance(thing, glslines.ODF):
        return [thing.sample(), thing.is_placed]
    if isinstance(thing, glslines.Seeds):
        return [*thing, bytes(thing._grid) if thing._grid else None]
    if isinstance(thing, glslines.Params):
        return [bytes(thing.in_mm(2.0)), thing.given]
    if isinstance(thing, glslines.Picture):
        return [sorted(thing.items()), thing.png]
    if isinstance(thing, glslines.Batch):
        return [thing.points, thing.offsets, *thing.dps.values(), list(thing.dps)]
    return [thing.points, thing.offsets, *thing.dps.values(), list(thing.dps), thing.stats, thing.affine, thing.space]


class Copies(unittest.TestCase):
    """Copies and pickles of every class give an equal object that needs nothing of the other one, or are refused."""

    @classmethod
    def setUpClass(cls):
        sh = np.random.default_rng(0).random((6, 5, 4, 15), np.float32)
        stop_map = np.random.default_rng(1).random((6, 5, 4), np.float32)
        batches = []
        with phantom.tracker(dg="boot") as tracker:
            result = tracker.run(phantom.seeds)
            tracker.run(phantom.seeds, sink=batches.append)
        many = np.random.default_rng(2).normal(size=(40, 3))
        tracked = glslines.track(phantom=True, model="opdt", out=path("made.trx"), nseeds=10, force=True)
        cls.made = {
            glslines.Gradients: [
                phantom.gradients,
                glslines.Gradients(np.r_[0, np.full(39, 1000.0)], many, phantom.affine, "world", 10),
                glslines.Gradients.from_dipy(phantom.gradients, phantom.affine)],
            glslines.Sphere: [glslines.Sphere(), glslines.Sphere("small"), glslines.Sphere(many)],
            glslines.QBall: [phantom.qball, glslines.QBall(phantom.gradients, "csa", 6, 0.01)],
            glslines.ODF: [
                glslines.ODF.from_sh(sh), glslines.ODF.from_sh(sh, affine=phantom.affine),
                glslines.ODF.from_sh(sh, "tournier07", "world", glslines.Sphere("small"), phantom.affine, stop_map, 0.5),
                glslines.ODF.from_amplitudes(sh, many[:15], affine=phantom.affine, stop_map=stop_map, stop_threshold=0.5)],
            glslines.Seeds: [
                phantom.seeds, glslines.Seeds.per_voxel(stop_map - 0.5, 2, seed=7),
                glslines.Seeds.points(many), glslines.Seeds.points(many, "world")],
            glslines.Params: [
                glslines.Params(), glslines.Params(dg="prob", step_size="0.5mm", max_angle=45),
                glslines.Params(preset="gpustreamlines", chunk_size=100)],
            glslines.Batch: batches[:1],
            glslines.Result: [result, glslines.Result(result.points, result.offsets, {}, {}, result._grid, "voxel")],
            glslines.Tracked: [tracked],
            glslines.Picture: [glslines.render(path("made.trx")), glslines.render(path("made.trx"), path("made.png"), force=True)],
        }

    def assert_equal(self, thing, other):
        self.assertIs(type(other), type(thing))
        for one, two in zip(contents(thing), contents(other), strict=True):
            np.testing.assert_array_equal(one, two)

    def test_every_class_is_here(self):
        public = {getattr(glslines, name) for name in glslines.__all__}
        classes = {thing for thing in public if inspect.isclass(thing) and not issubclass(thing, Exception)}
        self.assertEqual(classes, set(self.made) | {glslines.Device, glslines.Files, glslines.Tracker, glslines.Window})

    def test_equal(self):
        for kind, things in self.made.items():
            for thing in things:
                for again in (copy.copy, copy.deepcopy, pickled, lambda t: pickled(copy.deepcopy(pickled(t)))):
                    with self.subTest(kind=kind):
                        self.assert_equal(thing, again(thing))

    def test_without_the_other(self):
        for again in (copy.copy, copy.deepcopy, pickled):
            for kind, things in self.made.items():
                if not issubclass(kind, _library.Handle):
                    continue
                thing = pickled(things[0])
                other = again(thing)
                thing.close()
                with self.assertRaisesRegex(RuntimeError, "is closed"):
                    again(thing)
                del thing
                gc.collect()
                np.random.rand(100000)
                self.assert_equal(things[0], other)
                other.close()

    def test_in_another_process(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            for things in self.made.values():
                for thing in things:
                    self.assert_equal(thing, pool.apply(copy.deepcopy, (thing,)))

    def test_tracks_the_same(self):
        qball, params, seeds = (pickled(thing) for thing in (phantom.qball, glslines.Params(dg="boot"), phantom.seeds))
        with phantom.tracker(dg="boot") as tracker:
            before = tracker.run(phantom.seeds)
        with glslines.Tracker("llvmpipe", params, stop_map=phantom.fa, dwi=phantom.dwi, qball=qball,
                              mask=phantom.mask) as tracker:
            self.assert_equal_streamlines(before, tracker.run(seeds))

    def assert_equal_streamlines(self, one, two):
        for a, b in zip(contents(one)[:-3], contents(two)[:-3]):
            if isinstance(a, np.ndarray):
                np.testing.assert_array_equal(a, b)

    def test_refused(self):
        image = _arrays.Image(np.ones((3, 3, 3)), np.eye(4), "image")
        with phantom.tracker(dg="boot") as tracker:
            for thing, text in ((tracker, "the tracker can be neither copied nor pickled, because it is open in one"),
                                (tracker.device, "the device can be neither"), (tracker._handle, "the tracker can be"),
                                (image, "can be neither"), (image.pointer, "an address"),
                                (tracker.params.struct, "a gls_job_options holds addresses")):
                for again in (copy.copy, copy.deepcopy, pickle.dumps):
                    with self.assertRaisesRegex(TypeError, text):
                        again(thing)

    def test_exceptions(self):
        for error in (glslines.InputError("damaged"), glslines.OutputError("full"), glslines.OutOfMemoryError("much")):
            error.status = "a status"
            again = pickled(error)
            self.assertEqual((type(again), str(again), again.status), (type(error), str(error), "a status"))

    def test_batches_outlive_their_call(self):
        kept, copies = [], []

        def keep(batch):
            kept.append(batch)
            copies.append(pickled(batch))

        with phantom.tracker(dg="boot", chunk_size=100) as tracker:
            tracker.run(phantom.seeds, sink=keep)
        self.assertGreater(len(kept), 2)
        for one, two in zip(kept, copies):
            self.assert_equal(one, two)


class Ends(unittest.TestCase):
    """The interpreter ends while a daemon thread is in the library."""

    def ends(self, call, before=""):
        program = ("import glslines, numpy as np, queue, sys, threading, time\n"
                   "pipe, out = sys.argv[1:]\n"
                   "aff, sh = np.diag([2, 2, 2, 1.]), np.zeros((20, 20, 20, 15), np.float32)\n"
                   "sh[..., 0], sh[..., 3] = 1, 0.5\n"
                   "def tracker(**options):\n"
                   "    return glslines.Tracker('llvmpipe', glslines.Params(dg='det', **options), stop_map=np.ones((20, 20, 20)),\n"
                   "                            odf=glslines.ODF.from_sh(sh, affine=aff), affine=aff)\n"
                   "seeds = np.random.default_rng(0).random((2000000, 3)) * 19\n"
                   "%s\n"
                   "begun = threading.Event()\n"
                   "def work():\n"
                   "    while True:\n"
                   "        begun.set()\n"
                   "        %s\n"
                   "threading.Thread(target=work, daemon=True).start()\n"
                   "begun.wait(); time.sleep(0.5); sys.exit(42)" % (before, call))
        if not os.path.exists(path("silent.nii")):
            os.mkfifo(path("silent.nii"))
        child = subprocess.run([sys.executable, "-c", program, path("silent.nii"), path("ended.trx")],
                               capture_output=True, text=True, timeout=120)
        self.assertEqual((child.returncode, child.stderr), (42, ""))
        self.assertFalse(os.path.exists(path("ended.trx")))

    def test_run(self):
        self.ends("t.run(seeds)", "t = tracker()")

    def test_sink_that_does_not_return(self):
        self.ends("t.run(seeds, sink=q.put)", "t, q = tracker(chunk_size=1000), queue.Queue(1)")

    def test_track(self):
        self.ends("glslines.track(phantom=True, model='opdt', out=out, nseeds=2000000, force=True, device='llvmpipe')")

    def test_open_and_close(self):
        self.ends("tracker().close()")

    def test_small_calls(self):
        self.ends("sphere.vertices, list(points), glslines.Sphere('small')",
                  "sphere, points = glslines.Sphere(), glslines.Seeds.random(np.ones((50, 50, 50)), 1000000)")

    def test_pipe(self):
        self.ends("glslines.load_image(pipe)")

    def test_call_at_the_end(self):
        program = ("import atexit, os, sys\n"
                   "def last():\n"
                   "    import glslines\n"
                   "    os._exit(42 if len(glslines.Sphere().vertices) == 362 else 1)\n"
                   "atexit.register(last)\n"
                   "import glslines\n")
        child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual((child.returncode, child.stderr), (42, ""))


    def test_call_when_nothing_calls_back(self):
        """ctypes makes no callbacks while modules are torn down, so a run would seem to have no streamlines."""
        program = ("import glslines, numpy as np, os, sys\n"
                   "aff, sh = np.diag([2, 2, 2, 1.]), np.zeros((9, 9, 9, 15), np.float32)\n"
                   "sh[..., 0], sh[..., 3] = 1, 0.5\n"
                   "class Late:\n"
                   "    def __init__(self, *kept):\n"
                   "        self.kept = kept\n"
                   "    def __del__(self):\n"
                   "        tracker, seeds, end = self.kept\n"
                   "        try:\n"
                   "            tracker.run(seeds)\n"
                   "            end(1)\n"
                   "        except RuntimeError as error:\n"
                   "            end(42 if 'the interpreter ends' in str(error) else 2)\n"
                   "def holder(): pass\n"
                   "tracker = glslines.Tracker('llvmpipe', glslines.Params(dg='det'), stop_map=np.ones((9, 9, 9)),\n"
                   "                           odf=glslines.ODF.from_sh(sh, affine=aff), affine=aff)\n"
                   "holder.late = Late(tracker, glslines.Seeds.random(np.ones((9, 9, 9)), 50), os._exit)\n"
                   "sys.modules['holder'] = holder\n")
        child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual((child.returncode, child.stderr), (42, ""))


class Bounds(unittest.TestCase):
    """Values that C would convert to others, and arrays that are shorter than the library reads, are refused."""

    def test_numbers(self):
        for call in (lambda: glslines.Seeds.random(phantom.roi, -1), lambda: glslines.Seeds.random(phantom.roi, 2**64),
                     lambda: glslines.Seeds.per_voxel(phantom.roi, 2**32 + 1),
                     lambda: glslines.Seeds.random(phantom.roi, 10, seed=-1),
                     lambda: glslines.Seeds.random(phantom.roi, 1.5), lambda: glslines.Device("llvmpipe", count=0),
                     lambda: glslines.Params(rng_seed=-1), lambda: glslines.Params(rng_seed=2**64),
                     lambda: glslines.Params(chunk_size=2**64 + 100), lambda: glslines.Params(retries=2**32 + 1),
                     lambda: glslines.render("absent.trx", "none.png", max_streamlines=-1),
                     lambda: glslines.render("absent.trx", "none.png", turn=2**32 + 8),
                     lambda: glslines.Params(retries=float("inf")), lambda: glslines.Params(retries=float("nan")),
                     lambda: glslines.Params(retries="3.5"),
                     lambda: glslines.QBall(phantom.gradients, sh_order=2**32 + 4)):
            with self.assertRaisesRegex(ValueError, "whole number"):
                call()
        for three in (3, "3", 3.0, np.float32(3), np.int8(3), decimal.Decimal(3)):
            self.assertIn("retries", glslines.Params(retries=three).given)
            self.assertEqual(len(glslines.Seeds.random(phantom.roi, three)), 3)

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
        # arrays that are not aligned, not of this machine's byte order, not writable, or not in a usual order
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

    def test_names_of_columns_are_utf8(self):
        # files have UTF-8, whatever the encoding of the file system is
        program = ("import glslines, numpy as np, sys; from glslines import _arrays\n"
                   "name = 'Dicke_\\u00e4'\n"
                   "dps = {name: np.zeros(2, np.float32)}\n"
                   "glslines.Result(np.zeros((5, 3), np.float32), np.array((0, 2, 5)), dps, {}, "
                   "_arrays.grid_of((4, 4, 4), np.eye(4))).save(sys.argv[1], overwrite=True)\n"
                   "sys.exit(42 if list(glslines.load(sys.argv[1]).dps) == [name] else 1)")
        environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
                       "PYTHONIOENCODING": "utf-8"}
        child = subprocess.run([sys.executable, "-c", program, path("names.trx")], capture_output=True, text=True,
                               env=environment)
        self.assertEqual(child.returncode, 42, child.stderr)


class Waiting(unittest.TestCase):
    """Ctrl-C comes while the library waits for a pipe without data."""

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
                       "odf=glslines.ODF.from_sh(np.ones((4, 4, 4, 15)), affine=np.eye(4)))")

    def test_interrupt_that_leaves_the_call(self):
        # A second Ctrl-C ends even the wait for the call, which then works on alone.
        class Left(_library.Call):
            def _wait(self, done):
                self.done, self._raised = done, KeyboardInterrupt()
                raise self._raised

        begun, go_on, call = threading.Event(), threading.Event(), Left()
        with self.assertRaises(KeyboardInterrupt):
            call.run(lambda: (begun.set(), go_on.wait(60)))
        begun.wait(60)
        self.assertFalse(_library._waits_on(None))
        go_on.set()
        self.assertTrue(call.done.wait(60))
        self.assertTrue(_library._waits_on(None))  # nothing is left of the call: other calls wait as before

    def test_thread_of_the_program(self):
        # a wait on another thread ends, too, when the call of the main thread ends
        self.interrupt("import threading; t = threading.Thread(target=lambda: glslines.load_image(pipe), daemon=True); "
                       "t.start(); glslines.load_image(pipe)")


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    phantom = Phantom()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
