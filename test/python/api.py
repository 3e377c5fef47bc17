"""The Python package on the phantom: layouts, parameters, files and arrays against the program, errors, callbacks.

    api.py PROGRAM WORK_FOLDER"""

import filecmp
import gc
import inspect
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import nibabel as nib
import numpy as np

import glslines
from glslines import _library, params, pictures

PROGRAM, WORK = sys.argv[1], sys.argv[2]
NSEEDS = 400


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def path(name):
    return os.path.join(WORK, name)

#: doubles all places
TWICE = np.diag([2.0, 2, 2, 1])


class Phantom:
    """The phantom's files and the data that are made from them."""

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
    """Returns the options that the help of a command lists, without those that all commands have."""
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
        # options that only the program has are carried out after the run, or are left out for a reason
        self.assertEqual(alone, set(params.AFTER_RUN) | set(params.PROGRAM_ONLY))
        self.assertLessEqual(set(params.AFTER_RUN), set(inspect.signature(glslines.track).parameters))
        with self.assertRaisesRegex(TypeError, "dry_run"):
            glslines.track(dry_run=True)

    def test_options_of_pictures_and_reports(self):
        tractogram = {"output", "reference", "vtk-space", "recover"}
        for command, struct in (("render", "gls_render_options"), ("report", "gls_report_options")):
            there = {name.replace("_", "-") for name in pictures.names(struct)}
            self.assertEqual(there | tractogram, options_of(command) | tractogram)
        with self.assertRaisesRegex(TypeError, "view"):
            glslines.render("absent.trx", "none.png", view="left")
        with self.assertRaisesRegex(ValueError, "none of tubes, lines"):
            glslines.render("absent.trx", "none.png", style="ribbons")

    def test_defaults_by_value(self):
        self.assertEqual(_library.call.gls_csd_options_default().max_iterations, 50)
        options = _library.call.gls_odf_options_default()
        self.assertTrue(options.clip)
        self.assertEqual(_library.call.gls_qball_options_default().smooth, 0.006)

    def test_default_getter(self):
        """A Tracker has the direction getter that the program chooses for the same directions and preset."""
        self.assertEqual(params.default_getter([]), "boot")
        sh, peaks = path("default_sh.nii.gz"), path("default_peaks.nii.gz")
        run("fit", *phantom.names[:4], path("default"), "--model", "csd", "--sh-order", 4, "--force")
        run("peaks", sh, "-o", peaks, "--force")
        for source, preset in (("sh", None), ("sh", "tckgen"), ("sh", "dipy"), ("peaks", None)):
            command = [PROGRAM, "track", "--" + source, sh if source == "sh" else peaks, "--mask", phantom.names[3], "--roi", phantom.names[4],
                       "--fa", phantom.names[3], "-o", "none", "--density", path("default_d.nii.gz"), "--dry-run", "--json"]
            told = subprocess.run(command + (["--preset", preset] if preset else []), check=True, capture_output=True, text=True).stdout
            given = {"odf": glslines.ODF.from_sh(glslines.load_image(sh))} if source == "sh" else {"peaks": np.ones(phantom.fa.shape + (3,))}
            options = glslines.Params(preset=preset) if preset else None
            with glslines.Tracker("llvmpipe", options, stop_map=phantom.mask, affine=phantom.affine, **given) as tracker:
                self.assertEqual(tracker.params.dg, json.loads(told)["parameters"]["dg"])

    def test_unknown_and_bad_parameters(self):
        with self.assertRaisesRegex(TypeError, "maxangle"):
            glslines.Params(maxangle=3)
        with self.assertRaisesRegex(TypeError, "nseeds"):
            glslines.Params(nseeds=3)
        for bad in ({"max_angle": 91}, {"step_size": "0.5m"}, {"dg": "best"}, {"max_directions_per_seed": 33},
                    {"step_size": "-1mm"}, {"max_angle": float("nan")}, {"fa_threshold": float("nan")}, {"max_angle": "x"},
                    {"max_angle": [30]}, {"compress": {}}, {"max_angle": True}, {"retries": True}, {"rk4": float("nan")},
                    {"rk4": "no"}, {"rk4": np.ones(2)}, {"dg": np.ones(2)}, {"step_size": np.ones(2)}):
            with self.assertRaisesRegex(ValueError, "^%s: .*[^:]$" % next(iter(bad))):
                glslines.Params(**bad)
        self.assertEqual(len(glslines.Params(max_angle="30", min_length="20mm", rk4=np.True_, seed_unidirectional=0).given), 4)

    def test_bad_arguments(self):
        """Values that are no numbers, wrong shapes, and places that contradict each other are refused, by the name of the
        argument."""
        nan, p = float("nan"), phantom
        fa = glslines.fit_tensor(p.dwi, p.gradients, p.mask)["fa"]
        sh = glslines.QBall(p.gradients).fit(p.dwi, p.mask)
        odf = glslines.ODF.from_sh(sh, affine=p.dwi.affine)
        points = np.ones((4, 3))
        inside, peaks, tissue = np.asanyarray(p.mask.dataobj), np.ones(fa.shape + (3,)), (np.ones(fa.shape + (5,)), p.affine)

        def mirrored(image):
            array, affine = image if isinstance(image, tuple) else (np.asarray(image.dataobj), image.affine)
            return array[::-1], affine @ np.diag([-1, 1, 1, 1])

        for name, call in (
                ("b0_threshold", lambda: glslines.Gradients([0, 1000], np.eye(3)[:2], frame="image", b0_threshold=nan)),
                ("smooth", lambda: glslines.QBall(p.gradients, smooth=-1)), ("min_signal", lambda: glslines.QBall(p.gradients, min_signal=0)),
                ("sh_order", lambda: glslines.QBall(p.gradients, sh_order=5)), ("gradients", lambda: glslines.QBall(None)),
                ("sh_order", lambda: glslines.csd(p.dwi, p.gradients, sh_order=3)), ("shell", lambda: glslines.csd(p.dwi, p.gradients, shell=nan)),
                ("response", lambda: glslines.csd(p.dwi, p.gradients, response=(1, 2))),
                ("directions", lambda: glslines.csd(p.dwi, p.gradients, response=(.0017, .0003, 100), directions=np.zeros((50, 3)))),
                ("stop_threshold", lambda: glslines.ODF.from_sh(sh, affine=p.dwi.affine, stop_map=fa, stop_threshold=nan)),
                ("frame", lambda: glslines.ODF.from_sh(sh, frame=[], affine=p.dwi.affine)), ("n", lambda: glslines.Seeds.random(p.roi, 0)),
                ("affine", lambda: glslines.fit_tensor(p.dwi, p.gradients, affine=TWICE @ p.dwi.affine)),
                ("affine", lambda: glslines.Seeds.random(p.roi, 5, affine=np.eye(4))),
                ("affine", lambda: glslines.Tracker("llvmpipe", odf=odf, stop_map=fa, affine=np.eye(4))),
                ("the series has no signal", lambda: glslines.Tracker("llvmpipe", stop_map=fa, dwi=np.zeros(p.dwi.shape), affine=p.affine,
                                                                      qball=glslines.QBall(p.gradients))),
                ("the stop map", lambda: glslines.Tracker("llvmpipe", odf=odf, stop_map=fa * np.float32(nan))),
                ("tracking_mask: has an affine", lambda: glslines.Tracker("llvmpipe", stop_map=fa, peaks=peaks, tracking_mask=p.mask)),
                ("mask.*name of a file", lambda: glslines.Tracker("llvmpipe", stop_map=fa, peaks=peaks, mask=p.names[3])),
                ("include: has an affine", lambda: glslines.Tracker("llvmpipe", stop_map=fa, peaks=peaks, include=p.names[4])),
                ("tissue: has an affine", lambda: glslines.Tracker("llvmpipe", stop_map=fa, peaks=peaks, tissue=tissue)),
                ("mask and stop_map are on different grids", lambda: glslines.Tracker("llvmpipe", stop_map=(fa, p.affine), peaks=peaks,
                                                                                     mask=(inside, TWICE @ p.affine))),
                ("affine: is another than that of mask", lambda: glslines.Seeds.random(inside, 5, mask=p.mask, affine=np.eye(4))),
                ("the seed region and the mask are on different grids", lambda: glslines.Seeds.random(p.roi, 5, mask=mirrored(p.mask))),
                ("the series and the stop map are on different grids", lambda: glslines.Tracker("llvmpipe", glslines.Params(
                    dg="tensordet"), dwi=p.dwi, gradients=p.gradients, stop_map=mirrored((fa, p.affine)))),
                ("seeds: a masked", lambda: glslines.Seeds.points(np.ma.masked_less(np.arange(6.).reshape(2, 3), 1))),
                ("bvals: .* name of a file", lambda: glslines.Gradients(p.names[1], p.names[2], p.affine)),
                ("sh: .* name of a file", lambda: glslines.ODF.from_sh("sh.nii.gz")), ("'float'", lambda: glslines.Result.from_arrays(points, [0, 4])[0.5]),
                ("points", lambda: glslines.Result.from_arrays(np.ones((6, 2)), [0, 2, 4])),
                ("offsets", lambda: glslines.Result.from_arrays(points, [0, 2.5, 4])), ("offsets", lambda: glslines.Result.from_arrays(points, [])),
                ("dps", lambda: glslines.Result.from_arrays(points, [0, 2, 4], {"a": np.ones(3)})),
                ("dps", lambda: glslines.Result.from_arrays(points, [0, 2, 4], {3: np.ones(2)}))):
            with self.assertRaisesRegex((ValueError, TypeError), "^%s" % name):
                call()


class Files(unittest.TestCase):
    def test_same_bytes_as_the_program(self):
        for options in ({"dg": "boot"}, {"dg": "prob", "model": "csa", "step_size": "0.7mm"}, {"model": "csd"}):
            words = [w for name, value in options.items() for w in ("--" + name.replace("_", "-"), value)]
            run("track", *phantom.names, "-o", path("cli.trx"), "--force", "--nseeds", NSEEDS, *words)
            stats = glslines.track(*phantom.names, path("python.trx"), force=True, nseeds=NSEEDS, **options)
            self.assertGreater(stats["streamlines"], NSEEDS / 4)
            self.assertTrue(filecmp.cmp(path("cli.trx"), path("python.trx"), shallow=False), options)

    def test_file_that_exists(self):
        glslines.track(phantom=True, model="opdt", out=path("twice.tck"), nseeds=10, force=True)
        with self.assertRaisesRegex(glslines.OutputError, "exists already"):
            glslines.track(phantom=True, model="opdt", out=path("twice.tck"), nseeds=10)

    def test_given_options(self):
        """A run completes what is not given, and refuses what has no effect or contradicts, by the name of the option."""
        for name, options in (("--write-method", {"write_method": "trk"}), ("--ngpus 3", {"device": "llvmpipe,llvmpipe", "ngpus": 3}),
                              ("--nseeds and --seed-grid", {"nseeds": 5, "seed_grid": 2}), ("--rk4: only", {"dg": "det", "rk4": True})):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                glslines.track(phantom=True, out=path("given.trx"), **options)

    def test_missing_input(self):
        with self.assertRaisesRegex(ValueError, "no input files"):
            glslines.track(out=path("none.trx"))
        with self.assertRaisesRegex(glslines.InputError, "absent.nii"):
            glslines.track("absent.nii", *phantom.names[1:], path("none.trx"))

    def test_pictures(self):
        stats = glslines.track(phantom=True, model="opdt", out=path("shown.trx"), nseeds=200, force=True, picture=path("shown.png"),
                               report=path("shown.html"))
        run("track", "--phantom", "--model", "opdt", "--nseeds", 200, "-o", path("shown_cli.trx"), "--force")
        run("render", path("shown.trx"), "-o", path("shown_cli.png"), "--force")
        self.assertTrue(filecmp.cmp(path("shown.png"), path("shown_cli.png"), shallow=False))
        with open(path("shown.html"), encoding="utf-8") as file:
            self.assertIn('id="glslines"', file.read())
        drawn = glslines.render([path("shown.trx"), path("shown_cli.trx")], path("two.png"), views=("left", "slab"),
                                slab="axial:2", range=(0, 50), color="length", force=True)
        self.assertEqual(drawn["total"], 2 * stats["streamlines"])
        with open(path("shift.txt"), "w", encoding="utf-8") as file:
            file.write("1 0 0 9\n0 1 0 0\n0 0 1 0\n")
        look = {"image": phantom.names[3], "views": "left,axial", "fit": "150", "tile": "200x200"}
        bare, moved, back = (glslines.render(path("shown.trx"), transform=chain, **look).png
                             for chain in (None, path("shift.txt"), [path("shift.txt"), path("shift.txt,inverse")]))
        self.assertNotEqual(bare, moved)
        self.assertEqual(bare, back)
        page = glslines.report(path("shown.trx"), no_view=True, max_streamlines=50, force=True)
        self.assertEqual((page["output"], page["streamlines"]), (os.path.abspath(path("shown.html")), stats["streamlines"]))
        with self.assertRaisesRegex(glslines.OutputError, "exists already"):
            glslines.render(path("shown.trx"), path("two.png"))
        with self.assertRaisesRegex(glslines.InputError, "absent.trx"):
            glslines.render(path("absent.trx"), path("absent.png"))
        with self.assertLogs("glslines", "WARNING") as log:  # a run has its result, even if its picture fails
            glslines.track(phantom=True, model="opdt", out=path("plain.trx"), nseeds=20, force=True, picture=path("absent/plain.png"))
        self.assertIn("the picture was not made", log.output[-1])

    def test_load_and_save(self):
        glslines.track(phantom=True, model="opdt", out=path("one.trx"), nseeds=100, force=True)
        result = glslines.load(path("one.trx"))
        result.save(path("two.trx"), overwrite=True)
        self.assertTrue(filecmp.cmp(path("one.trx"), path("two.trx"), shallow=False))
        with self.assertRaises(glslines.OutputError):
            result.save(path("two.trx"))
        result.save(path("three.trk"), ref=phantom.dwi, overwrite=True)
        loaded = nib.streamlines.load(path("three.trk")).streamlines
        self.assertEqual(len(loaded), len(result))
        self.assertLess(np.abs(loaded[7] - result[7]).max(), 1e-4)
        for reference in (phantom.names[0], glslines.load_image(phantom.names[0])):
            result.save(path("four.trk"), ref=reference, overwrite=True)
            self.assertTrue(filecmp.cmp(path("three.trk"), path("four.trk"), shallow=False))
            self.assertGreater(len(glslines.render(result, reference=reference).png), 1000)
        self.assertEqual([len(line) for line in result[-3:]], [len(line) for line in result.as_list()[-3:]])
        self.assertEqual(len(result[5:1:-2]), 2)

    def test_list_of_arrays(self):
        line = np.array([[0, 0, 0], [4, 0, 0]], np.float32)
        for lines in ([line], [line, line + 1, line + 2]):
            self.assertEqual(glslines.stats(lines)[0]["count"], len(lines))
            self.assertEqual(glslines.render(lines)["total"], len(lines))
        self.assertEqual(len(glslines.stats([[line], [line, line]])), 2)


class Arrays(unittest.TestCase):
    def test_same_streamlines_as_from_files(self):
        stats = glslines.track(*phantom.names, path("files.trx"), force=True, nseeds=NSEEDS, model="opdt", device="llvmpipe")
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
        # a pair (array, affine), as commands return it, has its affine
        with glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=(phantom.fa, phantom.affine), qball=phantom.qball,
                              dwi=(data, phantom.affine), tracking_mask=glslines.load_image(phantom.names[3])) as tracker:
            results.append(tracker.run(glslines.Seeds.random(glslines.load_image(phantom.names[4]), NSEEDS)).points)
        for other in results[1:3]:
            np.testing.assert_array_equal(results[0], other)
        self.assertGreater(len(results[3]), 0)

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

    def test_peaks(self):
        run("fit", *phantom.names[:4], path("peaks"), "--model", "csd", "--sh-order", 6, "--force")
        run("peaks", path("peaks_sh.nii.gz"), "-o", path("peaks.nii.gz"), "--force")
        world = np.asanyarray(nib.load(path("peaks.nii.gz")).dataobj)
        axes = phantom.affine[:3, :3] / np.linalg.norm(phantom.affine[:3, :3], axis=0)
        peaks = (world.reshape(world.shape[:3] + (3, 3)) @ axes).reshape(world.shape)
        for dg in ("fact", "eudx"):
            options = {"dg": dg, "step_size": "0.5mm", "max_directions_per_seed": 3}
            with glslines.Tracker("llvmpipe", glslines.Params(**options), stop_map=phantom.mask, peaks=peaks,
                                  affine=phantom.affine, mask=phantom.mask) as tracker:
                from_array = tracker.run(phantom.seeds)
            stats = glslines.track(peaks=[path("peaks.nii.gz")], mask=phantom.names[3], roi=phantom.names[4],
                                   out=path(dg + ".trx"), nseeds=NSEEDS, device="llvmpipe", force=True, **options)
            self.assertGreater(len(from_array), NSEEDS / 5)
            # directions of arrays are rounded once more
            self.assertLess(abs(len(from_array) - stats["streamlines"]), 0.02 * NSEEDS)
        with self.assertRaisesRegex(ValueError, "dg='fact' needs peaks"):
            glslines.Tracker("llvmpipe", glslines.Params(dg="fact"), stop_map=phantom.fa)
        with self.assertRaisesRegex(ValueError, "three are needed"):
            glslines.Tracker("llvmpipe", stop_map=phantom.fa, peaks=peaks[..., :4], affine=phantom.affine)

    def test_samples(self):
        """Writes files of bedpostX with the phantom's true directions, along the voxel axes."""
        folder = path("samples.bedpostX")
        os.makedirs(folder, exist_ok=True)
        shutil.copy(phantom.names[3], os.path.join(folder, "nodif_brain_mask.nii.gz"))
        truth = np.asanyarray(nib.load(os.path.join(path("phantom"), "peaks.nii.gz")).dataobj)
        axes = phantom.affine[:3, :3] / np.linalg.norm(phantom.affine[:3, :3], axis=0)
        for fibre in (1, 2):
            x, y, z = np.moveaxis(truth[..., 4 * fibre - 4:4 * fibre - 1] @ axes, -1, 0)
            for name, value in (("th", np.arccos(np.clip(z, -1, 1))), ("ph", np.arctan2(y, x)), ("f", truth[..., 4 * fibre - 1])):
                both = np.stack([value, value], axis=-1).astype(np.float32)
                nib.save(nib.Nifti1Image(both, phantom.affine), os.path.join(folder, "merged_%s%dsamples.nii.gz" % (name, fibre)))
        with glslines.Tracker("llvmpipe", bedpostx=folder) as tracker:
            self.assertEqual(tracker.params.dg, "bedpost")
            samples = tracker.run(phantom.seeds)
        stats = glslines.track(bedpostx=folder, roi=phantom.names[4], out=path("samples.trx"), nseeds=NSEEDS, device="llvmpipe", force=True)
        self.assertEqual((len(samples), len(samples.points)), (stats["streamlines"], stats["points"]))
        self.assertGreater(len(samples.points), 20 * NSEEDS)
        for arguments, message in (({"peaks": truth}, "without peaks"), ({"params": glslines.Params(dg="fact")}, "is for dg='bedpost'"),
                                   ({"affine": np.eye(4)}, "affine: is another"), ({"affine": np.eye(3)}, "affine: has the shape")):
            with self.assertRaisesRegex(ValueError, message):
                glslines.Tracker("llvmpipe", bedpostx=folder, **arguments)
        with self.assertRaisesRegex(ValueError, "stop_map is needed"):
            glslines.Tracker("llvmpipe", peaks=truth[..., :3], affine=phantom.affine)
        os.remove(os.path.join(folder, "nodif_brain_mask.nii.gz"))
        with self.assertRaisesRegex(glslines.InputError, "has no nodif_brain_mask.nii.gz: give the file of a mask"):
            glslines.Tracker("llvmpipe", bedpostx=folder, mask=phantom.mask)
        with glslines.Tracker("llvmpipe", bedpostx=folder, mask=phantom.names[3]) as tracker:
            np.testing.assert_array_equal(tracker.run(phantom.seeds).points, samples.points)
        with self.assertRaisesRegex(glslines.InputError, "has no merged_th1samples"):
            glslines.Tracker("llvmpipe", bedpostx=path("phantom"))

    def test_tissue(self):
        """Defaults of a run with tissue, and of particle filtering, are those of the program."""
        run("fit", *phantom.names[:4], path("tissue"), "--model", "csd", "--sh-order", 4, "--force")
        act = os.path.join(path("phantom"), "5tt.nii.gz")
        odf = glslines.ODF.from_sh(nib.load(path("tissue_sh.nii.gz")), "tournier07", "world")
        for options, rule in (({}, "act"), ({"pft": True}, "cmc"), ({"pft": True, "preset": "dipy"}, "cmc")):
            given = glslines.Params(dg="prob", **options)
            self.assertEqual(given.act_rule, rule)
            with glslines.Tracker("llvmpipe", given, stop_map=phantom.fa, odf=odf, tissue=nib.load(act), mask=phantom.mask) as tracker:
                from_arrays = tracker.run(phantom.seeds)
            stats = glslines.track(sh=path("tissue_sh.nii.gz"), mask=phantom.names[3], roi=phantom.names[4], act=act, dg="prob", nseeds=NSEEDS,
                                   out=path("tissue.trx"), device="llvmpipe", force=True, **options)
            self.assertEqual((len(from_arrays), from_arrays.stats["filter"]["runs"]), (stats["streamlines"], stats["filter"]["runs"]))
            self.assertGreater(len(from_arrays), NSEEDS / 5)

    def test_tensors(self):
        for dg in ("tensordet", "tensorprob", "eudx", "nulldist1"):
            signals = {} if dg == "nulldist1" else {"dwi": phantom.dwi, "gradients": phantom.gradients}
            with glslines.Tracker("llvmpipe", glslines.Params(dg=dg, step_size="0.5mm"), stop_map=phantom.mask,
                                  affine=phantom.affine, mask=phantom.mask, **signals) as tracker:
                from_arrays = tracker.run(phantom.seeds)
            stats = glslines.track(*phantom.names, out=path(dg + ".trx"), nseeds=NSEEDS, device="llvmpipe", dg=dg,
                                   step_size="0.5mm", force=True)
            self.assertEqual(len(from_arrays), stats["streamlines"])
        with self.assertRaisesRegex(ValueError, "dg='tensordet' needs dwi and Gradients"):
            glslines.Tracker("llvmpipe", glslines.Params(dg="tensordet"), stop_map=phantom.fa, dwi=phantom.dwi)

    def test_counts_of_the_particle_filter(self):
        stats = glslines.track(*phantom.names, out=path("pft.trx"), nseeds=NSEEDS, device="llvmpipe", model="opdt", dg="prob",
                               pft=True, act=os.path.join(path("phantom"), "5tt.nii.gz"), force=True)
        with open(path("pft.json")) as file:
            counts = json.load(file)["counts"]["particle_filter"]
        self.assertEqual(stats["filter"], {"streamlines": counts["streamlines_taken_back"], "runs": counts["runs"],
                                           "lost": counts["no_particle_left"], "exhausted": counts["trials_used_up"]})
        self.assertGreater(stats["filter"]["runs"], stats["filter"]["lost"])

    def test_other_trackers(self):
        for dg in ("closest", "bedpost", "nulldist2", "seedtest"):
            model = {"model": "opdt"} if dg in ("closest", "bedpost") else {}
            stats = glslines.track(*phantom.names, out=path(dg + ".trx"), nseeds=NSEEDS, device="llvmpipe", dg=dg,
                                   force=True, **model)
            self.assertGreater(stats["streamlines"], NSEEDS / 10)
            self.assertEqual(stats["filter"]["runs"], 0)

    def test_csd_against_the_program(self):
        run("fit", *phantom.names[:4], path("fit"), "--model", "csd", "--sh-order", 4, "--sh-basis",
            "descoteaux07_legacy", "--sh-frame", "image", "--force")
        written = np.asanyarray(nib.load(path("fit_sh.nii.gz")).dataobj)
        with self.assertRaisesRegex(glslines.InputError, "divide eigenvalues in um2/ms by 1000"):
            glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, sh_order=4, response=(1.7, 0.3, 1000))
        sh = glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, sh_order=4)
        np.testing.assert_allclose(sh, written, atol=1e-5)
        # the rule of MRtrix3, its form of a response, directions from an array
        directions = np.random.default_rng(1).normal(size=(60, 3))
        np.savetxt(path("directions.txt"), directions)
        with open(path("zonal.txt"), "w") as file:
            file.write("900 -400 100\n")
        run("fit", *phantom.names[:4], path("fit"), "--csd-rule", "mrtrix", "--sh-order", 6, "--response",
            path("zonal.txt"), "--csd-directions", path("directions.txt"), "--sh-basis", "descoteaux07_legacy",
            "--sh-frame", "image", "--force")
        written = np.asanyarray(nib.load(path("fit_sh.nii.gz")).dataobj)
        sh = glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, sh_order=6, response=path("zonal.txt"),
                          rule="mrtrix", directions=directions)
        np.testing.assert_allclose(sh, written, atol=1e-5)
        with self.assertRaisesRegex(ValueError, "rule: 'fsl' is none of dipy, mrtrix"):
            glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, rule="fsl")
        with self.assertRaisesRegex(glslines.Error, "--csd-rule mrtrix"):
            glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, response=path("zonal.txt"))
        with self.assertRaisesRegex(ValueError, "directions of the shape"):
            glslines.csd(phantom.dwi, phantom.gradients, phantom.mask, directions=directions.T)

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
            for bad in (seeds(np.ones((4, 4, 4))), seeds(np.ones(phantom.fa.shape), TWICE @ phantom.affine)):
                with self.assertRaisesRegex(ValueError, "the seeds lie in|roi"):
                    tracker.run(bad)
            # if the place of an array is not given, its voxels are those of the tracker
            self.assertGreater(len(tracker.run(seeds(np.asanyarray(phantom.roi.dataobj)))), 0)
        # so are the voxels of an image, if the place of the tracker is not given
        sh = np.ones(phantom.fa.shape + (1,))
        with glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa,
                              dwi=np.asanyarray(phantom.dwi.dataobj), qball=phantom.qball) as tracker:
            self.assertGreater(len(tracker.run(phantom.seeds)), 0)
        for placed, affine in ((False, None), (True, TWICE @ phantom.affine)):
            odf = glslines.ODF.from_sh(sh, affine=affine)
            with glslines.Tracker("llvmpipe", stop_map=phantom.fa, odf=odf) as tracker:
                if placed:
                    with self.assertRaisesRegex(ValueError, "roi"):
                        tracker.run(phantom.seeds)
                else:
                    tracker.run(phantom.seeds)
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
        with self.assertRaisesRegex(TypeError, "'avoid'"):
            glslines.Tracker("llvmpipe", glslines.Params(dg="boot"), stop_map=phantom.fa, dwi=phantom.dwi,
                             qball=phantom.qball, avoid=left)

    def test_array_takes_the_place_of_the_image_beside_it(self):
        p = phantom
        dwi, mask, roi = (np.asanyarray(image.dataobj) for image in (p.dwi, p.mask, p.roi))
        fit, peaks = glslines.fit_tensor(p.dwi, p.gradients, p.mask), np.nan_to_num(glslines.models.tensor_peaks(p.dwi, p.gradients, p.mask, None))
        sh = p.qball.fit(p.dwi, p.mask)
        np.testing.assert_array_equal(glslines.fit_tensor(dwi, p.gradients, p.mask)["tensor"], fit["tensor"])
        np.testing.assert_array_equal(p.qball.fit(dwi, p.mask), sh)
        options = {"sh_order": 4, "response": (.0017, .0003, 100)}
        np.testing.assert_array_equal(glslines.csd(dwi, p.gradients, p.mask, **options), glslines.csd(p.dwi, p.gradients, p.mask, **options))

        def tracked(seeds, **inputs):
            with glslines.Tracker("llvmpipe", stop_map=inputs.pop("stop_map", p.fa), **inputs) as tracker:
                result = tracker.run(seeds)
            self.assertGreater(len(result), 0)
            return result.points

        seeds = glslines.Seeds.random(p.roi, 50, mask=p.mask)
        # also for arrays of seeds, because the tracker would refuse another place than its own
        of_mask = glslines.Seeds.random(roi, 50, mask=p.mask)
        for source, placed in (({"peaks": peaks}, {"peaks": (peaks, p.affine)}),
                               ({"odf": glslines.ODF.from_sh(sh)}, {"odf": glslines.ODF.from_sh(sh, affine=p.affine)}),
                               ({"odf": glslines.ODF.from_sh(sh, stop_map=(p.fa, p.affine), stop_threshold=0.1)},
                                {"odf": glslines.ODF.from_sh(sh, affine=p.affine, stop_map=p.fa, stop_threshold=0.1)})):
            expected = tracked(seeds, mask=mask, **placed)
            for inputs in ({"mask": p.mask}, {"mask": mask, "affine": p.affine}, {"mask": mask, "stop_map": (p.fa, p.affine)},
                           {"tracking_mask": p.mask, "mask": p.mask}):
                np.testing.assert_array_equal(tracked(of_mask, **source, **inputs), expected)
        closed = glslines.ODF.from_sh(sh)
        closed.close()
        with self.assertRaisesRegex(RuntimeError, "ODF is closed"):
            tracked(of_mask, odf=closed, mask=p.mask)

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
            glslines.track(phantom=True, model="opdt", out=path("stopped.trx"), nseeds=1000, force=True, progress=fails)
        self.assertFalse(os.path.exists(path("stopped.trx")))

    def test_closed(self):
        with phantom.tracker(dg="boot") as tracker:
            pass
        with self.assertRaises(RuntimeError):
            tracker.run(phantom.seeds)

    def test_interrupt(self):
        program = ("import glslines, signal, sys\n"
                   "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it\n"
                   "try: glslines.track(phantom=True, model='opdt', out=sys.argv[1], nseeds=3000000, force=True, progress=lambda *c: "
                   "print(c[0], flush=True))\n"
                   "except KeyboardInterrupt: sys.exit(42)")
        child = subprocess.Popen([sys.executable, "-c", program, path("long.trx")], stdout=subprocess.PIPE, text=True)
        while child.stdout.readline().strip() != "track":
            self.assertIsNone(child.poll())
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 42)
        self.assertLess(time.monotonic() - begun, 20)  # time for a batch of a CPU renderer on a busy machine
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

        few, peak = glslines.Seeds.random(phantom.roi, 20), []
        with glslines.Device("llvmpipe") as device:
            for _ in range(4):
                for _ in range(20):
                    once()
                peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        # the allocator takes memory for a thread in steps, at any time; what is lost in each run shows in every part
        self.assertLess(min(later - earlier for earlier, later in zip(peak, peak[1:])), 4 * 1024)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    phantom = Phantom()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
