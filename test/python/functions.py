"""The functions of the Python package for commands: each on files and on arrays, against the program; signatures, types,
errors, progress, threads.

    functions.py PROGRAM WORK_FOLDER"""

import concurrent.futures
import copy
import filecmp
import gc
import inspect
import json
import os
import pickle
import re
import stat
import subprocess
import sys
import types
import unittest
import urllib.request

import nibabel as nib
import numpy as np

import glslines
from glslines import _exchange, _program, tracking

PROGRAM, WORK = sys.argv[1], sys.argv[2]


def path(name):
    return os.path.join(WORK, name)


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Scene:
    """A small phantom, a fit and streamlines."""

    def __init__(self):
        folder = path("scene")
        run("phantom", folder, "--shape", "30", "36", "30", "--force")
        self.dwi, self.bval, self.bvec, self.mask, self.roi, self.act = (
            os.path.join(folder, name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "roi.nii.gz", "5tt.nii.gz"))
        run("fit", self.dwi, "--mask", self.mask, "--model", "csd", path("fit"), "--force")
        self.sh, self.fa = path("fit_sh.nii.gz"), path("fit_fa.nii.gz")
        run("track", "--sh", self.sh, "--fa", self.fa, "--mask", self.mask, "--roi", self.roi, "--nseeds", "600",
            "--device", "llvmpipe", "-o", path("t.trx"), "--force")
        self.tracks, self.lines = path("t.trx"), glslines.load(path("t.trx"))
        labels = np.ones(nib.load(self.dwi).shape[:3], np.float32)
        labels[15:] = 2
        self.labels = (labels, nib.load(self.dwi).affine)
        nib.save(nib.Nifti1Image(*self.labels), path("labels.nii.gz"))
        with open(path("bundles.tsv"), "w") as table:
            table.write("bundle\tinclude\nmiddle\t0,0,0,30\n")


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = Scene()

    def test_public_face(self):
        """Every argument of a function has a name, and every function has a document."""
        for name in glslines.__all__:
            value = getattr(glslines, name)
            self.assertTrue(value.__doc__, name)
            if inspect.isfunction(value) or name in ("Params", "Tracker", "Device", "Seeds", "Sphere"):
                kinds = {p.kind for p in inspect.signature(value).parameters.values()}
                self.assertFalse(kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}, name)
        regions = set(tracking._REGION_ROLES) - {"mask"}
        self.assertLessEqual(regions, set(inspect.signature(glslines.Tracker).parameters))

    def test_same_bytes(self):
        """A function on files writes the files that the program writes; on arrays it returns the same values."""
        s = self.scene
        glslines.density(s.tracks, path("a.nii"), voxel_size=2.0, force=True)
        run("density", s.tracks, path("b.nii"), "--voxel-size", "2", "--force")
        self.assertTrue(filecmp.cmp(path("a.nii"), path("b.nii"), shallow=False))
        array, affine = glslines.density(s.lines, voxel_size=2.0)
        self.assertTrue(np.array_equal(array, nib.load(path("b.nii")).get_fdata()))
        self.assertTrue(np.allclose(affine, nib.load(path("b.nii")).affine))
        run("connectome", s.tracks, path("labels.nii.gz"), path("m.csv"), "--symmetric", "--force")
        matrix = glslines.connectome(s.lines, s.labels, symmetric=True)
        self.assertTrue(np.array_equal(matrix, np.loadtxt(path("m.csv"), delimiter=",")) and matrix.sum() > 100)
        both = glslines.connectome(s.lines, s.labels, symmetric=True, metric=["count", "length"], out=path("metric.tsv"))
        self.assertTrue(sorted(both) == ["count", "length"] and np.array_equal(both["count"], matrix) and both["length"].max() > 4)
        for out, named in (("of_relmat.tsv", {"bids": True}), ("named.csv", {"header": True}), ("plain", {"header": True}), ("bare", {})):
            one = glslines.connectome(s.lines, s.labels, symmetric=True, metric="count", out=path(out), **named)
            self.assertTrue(list(one) == ["count"] and np.array_equal(one["count"], matrix), out)
        self.assertTrue(np.array_equal(glslines.connectome(s.lines, s.labels, symmetric=True, header=True), matrix))
        labels, affine = np.asarray(s.labels[0] if isinstance(s.labels, tuple) else s.labels.dataobj), s.labels[1] if isinstance(s.labels, tuple) else s.labels.affine
        volumes = np.stack([labels == k for k in range(1, int(labels.max()) + 1)], -1).astype(np.float32)
        largest = glslines.connectome(s.lines, (volumes, affine), rows="max", symmetric=True)
        self.assertTrue(np.array_equal(largest[np.ix_(largest.any(0), largest.any(0))], matrix[np.ix_(matrix.any(0), matrix.any(0))]))
        run("edges", s.tracks, path("labels.nii.gz"), path("edges.trx"), "--force")
        edges, expected = glslines.edges(s.lines, s.labels), glslines.load(path("edges.trx"))
        self.assertTrue(np.array_equal(edges.points, expected.points) and 0 < len(edges) < len(s.lines))
        self.assertEqual({name: list(rows) for name, rows in edges.groups.items()}, {name: list(rows) for name, rows in expected.groups.items()})
        run("weights", s.tracks, s.sh, "-o", path("w.txt"), "--force")
        weights = glslines.weights(s.lines, nib.load(s.sh))
        self.assertTrue(np.allclose(weights, np.loadtxt(path("w.txt")), rtol=1e-6) and len(weights) == len(s.lines))
        run("weights", s.tracks, s.dwi, "-o", path("c.txt"), "--method", "commit", "--d-iso", "0.002,0.003", "--force")
        weights = glslines.weights(s.lines, s.dwi, method="commit", d_iso=[0.002, 0.003])
        self.assertTrue(np.allclose(weights, np.loadtxt(path("c.txt")), rtol=1e-6) and (weights > 0).any())
        run("edit", s.tracks, path("e.trx"), "--min-length", "40", "--force")
        part, expected = glslines.edit(s.lines, min_length=40), glslines.load(path("e.trx"))
        self.assertTrue(np.array_equal(part.points, expected.points) and 0 < len(part) < len(s.lines))

    def test_fit_and_response(self):
        s = self.scene
        image = nib.load(s.dwi)
        table = np.loadtxt(s.bval), np.loadtxt(s.bvec)
        for model, name in (("csd", "sh"), ("opdt", "sh"), ("csa", "sh"), ("msmt", "wm")):
            fits = glslines.fit(image, *table, mask=nib.load(s.mask), model=model)
            self.assertEqual(fits[name][0].shape[:3], image.shape[:3])
            self.assertTrue(np.allclose(fits[name][1], image.affine))
            if model == "csd":
                self.assertTrue(np.allclose(fits["sh"][0], nib.load(s.sh).get_fdata(), atol=1e-6))
                again = glslines.fit(image, *table, mask=nib.load(s.mask), model=model, response=fits["response"])
                self.assertTrue(np.allclose(fits["sh"][0], again["sh"][0], atol=1e-5))
        self.assertEqual(fits["response_wm"].ndim, 2)
        responses = {name: fits[name] for name in fits if name.startswith("response_")}
        again = glslines.fit(image, *table, mask=nib.load(s.mask), model="msmt", **responses)
        self.assertTrue(np.allclose(fits["wm"][0], again["wm"][0], atol=1e-5))
        kept = glslines.fit(s.dwi, out=path("kept"), mask=s.mask, model="opdt", force=True)
        self.assertTrue(os.path.isfile(path("kept_sh.nii.gz")) and "sidecar" in kept and "Files(" in repr(kept))
        again = pickle.loads(pickle.dumps(kept))
        self.assertTrue(np.array_equal(again["fa"][0], kept["fa"][0]) and list(again) == list(kept))
        with self.assertRaisesRegex(TypeError, "give out="):
            copy.copy(fits)
        response = glslines.response((image.get_fdata(), image.affine), *table, mask=s.mask, algorithm="tournier")
        self.assertGreater(response["response"][0], 0)

    def test_the_others(self):
        s = self.scene
        fa, affine = glslines.load_image(s.fa)
        values = glslines.sample(s.lines, (fa, affine))
        self.assertEqual(values.shape, (len(s.lines),))
        self.assertEqual(glslines.sample(s.lines, [s.fa, path("labels.nii.gz")]).shape, (len(s.lines), 2))
        self.assertGreaterEqual(len(glslines.profile(s.lines, s.fa)), 10)
        self.assertEqual(glslines.stats([s.tracks, s.lines])[1]["count"], len(s.lines))
        self.assertIn("tractograms", glslines.info(s.lines))
        bundle = glslines.segment(s.lines, path("bundles.tsv"))
        self.assertEqual(len(bundle.groups["middle"]), len(bundle))
        self.assertGreater(len(bundle), 0)
        clusters = glslines.cluster(s.lines, threshold=8)
        self.assertEqual(len(clusters), len(s.lines))
        self.assertEqual(len(np.unique(clusters.dps["cluster"])), clusters.dps["cluster"].max() + 1)
        pairs = glslines.search(s.lines, clusters, radius=0.5)
        self.assertEqual({row["streamline"] for row in pairs if row["streamline"] == row["reference"]}, set(range(len(s.lines))))
        cleaned = glslines.clean(s.lines, method="cci", drop=25)
        self.assertEqual(len(cleaned), len(s.lines) - int(len(s.lines) * 0.25 + 0.5))
        os.makedirs(path("atlas"), exist_ok=True)
        bundle.save(path("atlas/middle.trx"), ref=nib.load(s.dwi), overwrite=True)
        found = glslines.recognize(s.lines, path("atlas"), no_local=True, threshold=1)
        rows = glslines.similarity([path("atlas"), path("atlas")])
        self.assertTrue(rows and all(float(row["dice_voxels"]) == 1 and float(row["bmd"]) == 0 for row in rows))
        self.assertEqual(len(found), len(s.lines))
        self.assertTrue((found.dps["bundle_distance"][found.groups["middle"]] < 1).all() and len(found.groups["middle"]) >= len(bundle))
        move = np.eye(4)
        move[:3, 3] = affine[:3, 0]  # one voxel
        np.savetxt(path("move.txt"), move)
        fixed = glslines.transform((fa, affine), move)
        self.assertLess(np.abs(fixed[0][:-1] - fa[1:]).max(), 1e-5)
        back = glslines.transform((fa, affine), [move, path("move.txt") + ",inverse"], out=path("back.nii"), force=True)
        self.assertLess(np.abs(back[0] - fa).max(), 1e-5)
        found = glslines.register((fa, affine), fixed, type="rigid", init="header", search="none", levels=[2.0], header="trust", warped=True)
        self.assertEqual(sorted(found), ["affine", "sidecar", "warped"])
        self.assertEqual(found["warped"][0].shape, fixed[0].shape)
        moved = glslines.transform(s.lines, move, template=(fa, affine))
        self.assertTrue(np.allclose(moved.points, s.lines.points - move[:3, 3], atol=1e-4) and sorted(moved.dps) == sorted(s.lines.dps))
        with self.assertRaisesRegex(ValueError, "transform: a file or a matrix"):
            glslines.transform(s.lines, np.eye(3), template=s.fa)
        self.assertEqual(glslines.peaks(s.sh)[0].shape[3] % 3, 0)
        self.assertIn("directions", glslines.fixels(glslines.load_image(s.sh), path("followed"), force=True))
        counts, _ = glslines.fixels(path("followed"), tracks=s.tracks, step_size=1)
        afd = glslines.fixels(s.sh, tracks=s.lines, step_size=1, afd=True)
        self.assertTrue(counts.sum() > 100 and afd.size == 1 and afd > 0)
        self.assertEqual(glslines.render(s.lines, path("p.png"), tile="100x100", force=True)["total"], len(s.lines))
        self.assertTrue(os.path.isfile(glslines.report(s.tracks, path("r.html"), no_view=True, force=True)["output"]))
        glslines.convert(s.lines, path("c.tck"), force=True)
        self.assertTrue(np.array_equal(glslines.load(path("c.tck")).points, s.lines.points))

    def test_anat(self):
        """The folder of `glslines anat` from arrays has the images that the program writes from files."""
        s = self.scene
        five, mask = nib.load(s.act), nib.load(s.mask)
        t1 = five.get_fdata() @ (100, 112, 150, 40, 0), five.affine
        glslines.save_image(path("t1.nii"), *t1)
        glslines.save_labels(path("regions.nii"), *s.labels)
        with open(path("regions.txt"), "w") as table:
            table.write("1 left\n2 right-thalamus\n")
        options = {"labels": path("regions.nii") + "," + path("regions.txt"), "template_name": "Own", "device": "cpu", "force": True}
        run("anat", path("t1.nii"), "--dwi", s.dwi, "--dwi-mask", s.mask, "--template", path("t1.nii"), "--labels", options["labels"],
            "--template-name", "Own", "--device", "cpu", "-o", path("anat"), "--force")
        made = glslines.anat(t1, path("kept_anat"), dwi=nib.load(s.dwi), bval=np.loadtxt(s.bval), bvec=np.loadtxt(s.bvec), dwi_mask=mask, template=t1, **options)
        self.assertTrue(np.array_equal(made["space-dwi_desc-5tt_probseg"][0], nib.load(path("anat/space-dwi_desc-5tt_probseg.nii.gz")).get_fdata()))
        self.assertEqual([row["name"] for row in made["space-dwi_seg-regions_dseg.tsv"]], ["left", "right-thalamus"])
        self.assertEqual(made["from-T1w_to-dwi_mode-image_xfm.txt"].shape, (4, 4))
        self.assertTrue(made["space-dwi_desc-5tt_probseg.json"]["parameters"])
        self.assertTrue(os.path.isfile(path("kept_anat/space-dwi_desc-brain_mask.nii.gz")))

    def test_bids(self):
        """Tracks a data set of the phantom with options of `track`; the function's own options are those of `glslines bids`."""
        files = glslines.phantom(path("data"), bids="01", shape=[18, 20, 18], force=True)
        self.assertIn("dataset_description.json", files)
        glslines.bids(path("data"), path("out"), participant_label="01", no_report=True, force=True,
                      track={"nseeds": 50, "model": "opdt", "device": "llvmpipe"})
        found = [name for _, _, names in os.walk(path("out")) for name in names if name.endswith(".trx")]
        self.assertEqual(len(found), 1)
        with self.assertRaises(glslines.ArgumentError):
            glslines.bids(path("data"), path("out"), track={"nseed": 50})
        with self.assertRaisesRegex(glslines.InputError, "no T1w image"):
            glslines.bids(path("data"), path("out"), t1=True, atlas="template.nii,labels.nii")

    def test_other_programs(self):
        """Tractograms of nibabel, DIPY and trx-python are accepted; points are returned as views."""
        from trx.trx_file_memmap import load

        s = self.scene
        s.lines.save(path("other.trk"), ref=nib.load(s.dwi), overwrite=True)
        s.lines.save(path("other.tck"), overwrite=True)
        files = [nib.streamlines.load(path(name)) for name in ("other.trk", "other.tck")]
        for other in (s.lines.to_nibabel(), s.lines.to_stateful(), load(s.tracks), *files):
            found = _exchange.result_of(other)
            self.assertTrue(np.allclose(found.points, s.lines.points, atol=1e-4), type(other))
            self.assertEqual(len(glslines.edit(other, max_length=30)), len(glslines.edit(s.lines, max_length=30)))
        self.assertTrue(np.shares_memory(s.lines.to_nibabel().streamlines[0], s.lines.points))
        self.assertTrue(np.shares_memory(_exchange.result_of(s.lines.to_nibabel()).points, s.lines.points))

    def test_results(self):
        s = self.scene
        self.assertIn("%d streamlines" % len(s.lines), repr(s.lines))
        self.assertIn("data:image/png;base64,", s.lines._repr_html_())
        empty = glslines.Result.from_arrays(np.empty((0, 3)), [0])
        self.assertIn("0 streamlines", empty._repr_html_())
        self.assertEqual(glslines.density([], template=s.mask)[0].sum(), 0)

    def test_indices(self):
        """Streamlines can be selected like elements of an array: by slices, lists and arrays of indices, and truth values."""
        lines = self.scene.lines
        n = len(lines)
        for index in (slice(1, 9, 3), slice(None, None, -1), [0, 2, -1], [], np.array([3, 1]), np.arange(n) % 2 == 0):
            chosen, numbers = lines[index], np.arange(n)[index]
            self.assertEqual(len(chosen), len(numbers))
            self.assertTrue(all(np.array_equal(a, lines[int(k)]) for a, k in zip(chosen, numbers)))
        for index in (n, -n - 1, [0, n], np.ones(n + 1, bool)):
            self.assertRaises(IndexError, lambda: lines[index])

    def test_large_labels(self):
        """Labels of 2^24 and more are regions of their own, in arrays of integers and of float64, and in files."""
        s = self.scene
        labels, affine = s.labels
        small = glslines.connectome(s.lines, s.labels, symmetric=True)
        small = np.asarray(small[0] if isinstance(small, tuple) else small)
        for pair in ((16777216, 16777217), (2**31 - 2, 2**31 - 1)):
            for kind in (np.int32, np.int64, np.uint32, np.float64):
                large = np.where(labels == 1, kind(pair[0]), kind(pair[1])).astype(kind)
                matrix = glslines.connectome(s.lines, (large, affine), symmetric=True)
                self.assertTrue(np.array_equal(np.asarray(matrix[0] if isinstance(matrix, tuple) else matrix), small), kind)
            glslines.save_labels(path("large.nii.gz"), large, affine)
            back, own = glslines.load_labels(path("large.nii.gz"))
            self.assertEqual(back.dtype, np.int32)
            self.assertTrue(np.array_equal(back, large) and np.allclose(own, affine))
        with self.assertRaisesRegex(ValueError, "as float32 it may have been rounded"):
            glslines.connectome(s.lines, (np.full(labels.shape, 16777216, np.float32), affine))
        # such an array is a file of integers for other commands, too; if a command reads it as float32, the log says it
        large = np.where(labels == 1, 16777217, 2**31 - 1).astype(np.int64)
        glslines.transform((large, affine), transform=np.eye(4), out=path("turned.nii"))
        self.assertTrue(np.array_equal(glslines.load_labels(path("turned.nii"))[0], large))
        for rounding in (lambda: glslines.load_image(path("turned.nii")), lambda: glslines.save_image(path("x.nii"), large, affine)):
            with self.assertLogs("glslines", "WARNING") as log:
                rounding()
            self.assertIn("whole numbers above 16777216", log.output[0])
        with self.assertRaisesRegex(ValueError, "labels: has the value -1"):
            glslines.connectome(s.lines, (np.full(labels.shape, -1), affine))

    def test_names_in_messages(self):
        """Messages name the argument, not a file in a temporary folder."""
        s = self.scene
        labels, affine = s.labels
        for call, name in ((lambda: glslines.connectome(s.lines, (labels + 0.5, affine)), "labels"),
                           (lambda: glslines.density([np.full((2, 3), np.nan)], template=s.mask), "tracks0"),
                           (lambda: glslines.density(s.lines, template=s.mask, weights=np.ones(3)), "weights.txt")):
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertTrue(str(caught.exception).startswith(name + ": "), str(caught.exception))

    def test_errors(self):
        s = self.scene
        for kind, call in (
                (glslines.InputError, lambda: glslines.density(path("none.trx"))),
                (glslines.OutputError, lambda: glslines.density(s.tracks, path("no/folder/a.nii"))),
                (glslines.ArgumentError, lambda: glslines.edit(s.tracks, min_length=-3)),
                (TypeError, lambda: glslines.edit(s.tracks, minimum_length=3))):
            with self.assertRaises(kind):
                call()
        with self.assertRaisesRegex(glslines.InputError, "^[^ ]*none.trx: cannot open"):
            glslines.density(path("none.trx"))
        for name in ("two\nlines.csv", "blank.csv "):
            with self.assertRaisesRegex(ValueError, "files: the program cannot list"):
                glslines.permute([path(name)], np.ones((1, 1)), [[1]])

    def test_what_arguments_are(self):
        """Arrays that do not say where they lie are refused; lists and arrays of numbers and of images reach the right
        option."""
        s = self.scene
        fa, image = glslines.load_image(s.fa), nib.load(s.fa)
        for call in (lambda: glslines.sample(s.lines, fa[0]), lambda: glslines.connectome(s.lines, s.labels[0]),
                     lambda: glslines.edit(s.lines, include=fa[0]), lambda: glslines.edit(s.lines, include=list(fa)),
                     lambda: glslines.fit(nib.load(s.dwi).get_fdata()), lambda: glslines.fit(s.dwi, mask=fa[0])):
            with self.assertRaisesRegex(TypeError, "an array alone does not say where it lies"):
                call()
        with self.assertRaisesRegex(ValueError, "masked array"):
            glslines.sample(s.lines, (np.ma.masked_less(fa[0], 0.2), fa[1]))
        for lines in ([np.ones((3, 2))], [np.ones(3)]):
            with self.assertRaisesRegex(ValueError, r"points have the shape \(n, 3\)"):
                glslines.stats(lines)
        for both in [image, fa], [fa, image], (fa, fa):
            self.assertEqual(len(glslines.edit(s.lines, include=both)), len(glslines.edit(s.lines, include=s.fa)))
        for ids in np.arange(3), [0, 1, 2]:
            self.assertEqual(len(glslines.edit(s.lines, ids=ids)), 3)
        moved = glslines.edit(s.lines, transform=np.eye(4).tolist())
        self.assertTrue(np.allclose(moved.points, s.lines.points, atol=1e-4))
        weights = np.arange(len(s.lines)) % 3 + 1.0
        maps = [glslines.density(s.lines, weights=w, voxel_size=v)[0]
                for w, v in ((weights, 3), (list(weights), np.float32(3)), (tuple(weights), np.full(3, 3.0)))]
        self.assertTrue(all(np.array_equal(maps[0], m) for m in maps) and maps[0].sum() > 0)
        glslines.density(s.lines, path("switch.nii"), force=np.True_)

    def test_files_of_this_run(self):
        """The result has the files that the run wrote, and no files of earlier runs under the same prefix or in the same
        folder."""
        s = self.scene
        options = {"mask": s.mask, "force": True}
        before = glslines.fit(s.dwi, out=path("same"), model="msmt", **options)
        self.assertIn("wm", before)
        after = glslines.fit(s.dwi, out=path("same"), model="csd", **options)
        self.assertTrue(os.path.isfile(before.paths["wm"]) and {"sh", "fa", "response", "sidecar"} <= set(after) and "wm" not in after)
        glslines.response(s.dwi, out=path("tissues"), algorithm="dhollander", **options)
        os.remove(path("tissues.json"))  # the sidecar of the earlier files is still there
        self.assertEqual(sorted(glslines.response(s.dwi, out=path("tissues"), algorithm="tournier", **options)), ["response", "sidecar", "voxels"])
        os.makedirs(path("fixels"), exist_ok=True)
        with open(path("fixels/older.txt"), "w") as file:
            file.write("1\n")
        made = glslines.fixels(s.sh, path("fixels"), force=True)
        self.assertTrue("directions" in made and "older.txt" not in made and "fixels.json" in made, made)

    def test_results_are_those_of_their_run(self):
        """Names are absolute. A file that has changed since the run is refused, and not read."""
        s = self.scene
        here = os.getcwd()
        program = _program.find
        os.makedirs(path("moved"), exist_ok=True)
        tracks, sh = os.path.abspath(s.tracks), os.path.abspath(s.sh)
        absolute = os.path.abspath(_program.find())
        _program.find = lambda: absolute
        os.chdir(path("moved"))
        try:
            made = {"edit": glslines.edit(tracks, out="a.trx", max_length=40, force=True), "peaks": glslines.fixels(sh, "f", force=True),
                    "picture": glslines.render(tracks, "p.png", tile="100x100", views="left", force=True),
                    "track": glslines.track(phantom=True, model="opdt", nseeds=30, out="t.trx", device="llvmpipe", force=True)}
            os.chdir("/")
            reads = {"edit": lambda: made["edit"].points, "peaks": lambda: made["peaks"]["directions"], "picture": lambda: made["picture"].png,
                     "track": lambda: glslines.density(made["track"])}
            again = pickle.loads(pickle.dumps(made["edit"]))
            for read in reads.values():
                read()
            os.chdir(os.path.join(here, path("moved")))
            lazy = {"edit": glslines.edit(tracks, out="a.trx", max_length=40, force=True)}
            glslines.edit(tracks, out="a.trx", min_length=40, force=True)
            glslines.fixels(sh, "f", force=True)
            glslines.render(tracks, "p.png", tile="120x100", views="left", force=True)
            os.remove("t.trx")
            for read in (lambda: lazy["edit"].points, lambda: again.dps, lambda: glslines.stats(lazy["edit"]), reads["peaks"], reads["picture"],
                         reads["track"]):
                with self.assertRaisesRegex(glslines.InputError, "has changed since the run that wrote it|cannot be read any more"):
                    read()
            self.assertGreater(len(made["edit"].points), 0)  # was read before
        finally:
            _program.find = program
            os.chdir(here)

    def test_options_without_a_value(self):
        s = self.scene
        small, same = glslines.edit(s.lines, compress=True), glslines.edit(s.lines, compress=0.1)
        self.assertTrue(np.array_equal(small.points, same.points) and len(small.points) < len(s.lines.points))
        self.assertEqual(len(glslines.convert(s.lines, compress=np.True_).points), len(small.points))
        options = {"phantom": True, "model": "opdt", "nseeds": 40, "device": "llvmpipe", "force": True}
        one, two = (glslines.track(out=path(name), compress=value, report=True, **options) for name, value in (("one.trx", True), ("two.trx", 0.1)))
        self.assertTrue(np.array_equal(one.points, two.points))
        self.assertTrue(os.path.isfile(path("one.html")) and os.path.isfile(path("two.html")))
        self.assertEqual(copy.copy(glslines.Params(compress=True)).given, {"compress": True})
        with self.assertRaisesRegex(ValueError, "^max_angle"):
            glslines.Params(max_angle=True)

    def test_window(self):
        """The window serves its page at the address that it returns, until it is closed."""
        with self.assertRaises(glslines.InputError):
            try:
                glslines.view("absent.trx")
            except glslines.UnsupportedError as error:
                self.skipTest(str(error))
        with glslines.view(self.scene.tracks, max_streamlines=20, idle=1.5) as window:
            self.assertRegex(str(window), r"^http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}$")
            self.assertIn(window.address, window._repr_html_())
            self.assertRegex(window.read_only_address, r"^http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}$")
            self.assertNotEqual(window.read_only_address, window.address)
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            self.assertIn(b"url=/", opener.open(window.address).read())  # the page of the token leads to that of the window
            self.assertIn(b"glslines view: " + os.path.basename(self.scene.tracks).encode(), opener.open(window.address.split("?")[0]).read())
            self.assertTrue(window.is_open)
            with self.assertRaisesRegex(TypeError, "belongs to the process"):
                pickle.dumps(window)
        self.assertFalse(window.is_open)
        with self.assertRaises(OSError):
            opener.open(window.address)
        for call, text in ((lambda: glslines.view(track="--sh"), "^track"), (lambda: glslines.view([b"x"]), "^files")):
            with self.assertRaisesRegex(TypeError, text):
                call()
        with self.assertRaisesRegex(glslines.ArgumentError, "write|writes"):
            glslines.view(self.scene.tracks, ["--sh", "absent.nii", "--output", "x.trx"])
        with self.assertRaisesRegex(glslines.InputError, "--help"):
            glslines.view("--help")
        with self.assertRaises(glslines.ArgumentError):
            glslines.view(self.scene.tracks, ["--help"])
        with glslines.view(self.scene.tracks, listen="./window.sock", recover=True) as window:
            self.assertTrue(stat.S_ISSOCK(os.lstat("window.sock").st_mode) and window.address.startswith("http://localhost:"))
        self.assertFalse(os.path.exists("window.sock"))
        for wrong, text in (({"listen": "0.0.0.0"}, "127.0.0.1"), ({"open": True, "listen": "./x.sock"}, "socket"), ({"transform": "x.txt"}, "image")):
            with self.assertRaisesRegex(glslines.ArgumentError, text):
                glslines.view(self.scene.tracks, **wrong)
        with glslines.view(self.scene.tracks) as window:
            self.assertNotEqual(os.getpgid(window._end.peek()[2][0].pid), os.getpgid(0), "Ctrl-C in Python would close the window")

    def test_names_are_those_of_python(self):
        """Documents and errors use Python's names of arguments, not options of the command line; the error for a wrong name
        lists the nearest names."""
        for name in glslines.__all__:
            documents = [(name, getattr(glslines, name).__doc__)]
            documents += [(name + "." + m, v.__doc__) for m, v in vars(getattr(glslines, name)).items() if not m.startswith("_") and v.__doc__] \
                if inspect.isclass(getattr(glslines, name)) else []
            for where, text in documents:
                self.assertNotRegex(re.sub(r"'glslines [^']*'|`glslines [^`]*`|'--", "", text), r"--[a-z]", where)
        self.assertIn('act_rule="cmc"', glslines.track.__doc__)
        for call, text in ((lambda: glslines.track(nseed=3), r"track\(\) has no argument 'nseed'; there is nseeds"),
                           (lambda: glslines.edit(self.scene.tracks, minlength=3), "there is min_length"),
                           (lambda: glslines.Params(maxangle=3), "there is max_angle"), (lambda: glslines.Device(nam="x"), "there is name"),
                           (lambda: glslines.Seeds.random(None, count=3), r"Seeds.random\(\) has no argument 'count'"),
                           (lambda: glslines.Tracker(stopmap=3), "there is stop_map")):
            with self.assertRaisesRegex(TypeError, text):
                call()

    def test_bar(self):
        """The last state of a bar is the end."""
        program = "import glslines, sys; glslines.fit(sys.argv[1], mask=sys.argv[2], model='msmt', progress=True)"
        shown = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
        done = subprocess.run([sys.executable, "-c", program, self.scene.dwi, self.scene.mask], capture_output=True, text=True, check=True,
                              env=shown)
        bars = [line for line in done.stderr.replace("\n", "\r").split("\r") if "%|" in line]
        self.assertTrue(bars and "100%" in bars[-1], done.stderr)
        program = """import glslines
bar = glslines._program.Bar("track")  # one batch: no event says that all is done
for event in (("fit", 9, 9, 0, 0), ("fit", 0, 9, 0, 0), ("track", 0, 5, 0, 0)):
    bar(*event)
last = bar._bar
bar.finish()
print(last.n, last.total)"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=shown)
        self.assertEqual(done.stdout.split(), ["5", "5"])

    def test_progress_and_threads(self):
        s = self.scene
        seen = []
        glslines.fit(s.dwi, mask=s.mask, model="msmt", progress=lambda *now: seen.append(now))
        self.assertTrue(seen and all(len(now) == 5 for now in seen))
        with self.assertRaises(glslines.CancelledError):
            glslines.fit(s.dwi, mask=s.mask, model="msmt", progress=lambda *now: False)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            maps = list(pool.map(lambda size: glslines.density(s.lines, voxel_size=size)[0], (2.0, 2.0, 3.0, 3.0)))
        self.assertTrue(np.array_equal(maps[0], maps[1]) and np.array_equal(maps[2], maps[3]))
        self.assertTrue(os.path.isfile(_program.find()))

    def test_method_of_the_data(self):
        """A tracker takes the getter of its data, whatever else is given."""
        s = self.scene
        odf = glslines.ODF.from_sh(glslines.load_image(s.sh)[0], "tournier07", "world", affine=s.labels[1])
        with glslines.Tracker("llvmpipe", glslines.Params(max_angle=30), odf=odf, stop_map=nib.load(s.fa)) as tracker:
            self.assertEqual(tracker.params.dg, "prob")
        stats = glslines.track(s.dwi, mask=s.mask, roi=s.roi, out=path("auto.trx"), nseeds=50, device="llvmpipe", force=True)
        self.assertGreater(stats["streamlines"], 0)
        self.assertEqual(glslines.info(path("auto.trx"))["tractograms"][0]["path"], path("auto.trx"))

        def method(*series, **options):
            glslines.track(*series, mask=s.mask, roi=s.roi, out=path("auto.trx"), nseeds=20, device="llvmpipe", force=True, **options)
            with open(path("auto.json")) as file:
                run = json.load(file)
            return run["parameters"]["dg"], run["model"]["name"]

        bval, bvec = (np.loadtxt(s.dwi.replace(".nii.gz", end)) for end in (".bval", ".bvec"))
        image = nib.load(s.dwi)
        for series in ((s.dwi,), (image, bval, bvec)):
            self.assertEqual(method(*series), ("det", "csd"))
        self.assertEqual(method(image, bval / 2, bvec), ("ifod2", "msmt"))
        self.assertEqual(method(s.dwi, dg="ifod2", power=3), ("ifod2", "msmt"))
        self.assertEqual(method(s.dwi, dg="ifod2", rk4=False), ("ifod2", "msmt"))
        with self.assertRaisesRegex(ValueError, "power: only --?dg.ifod2 can use it: the default for this series"):
            method(s.dwi, power=3)

    def test_what_track_gives(self):
        """The result is a tractogram that other functions take and notebooks show, with counts by their names; without out no
        file is kept."""
        s = self.scene
        options = {"mask": s.mask, "roi": s.roi, "nseeds": 100, "model": "opdt", "device": "llvmpipe"}
        before = sorted(os.listdir("."))
        lines, kept = glslines.track(s.dwi, **options), glslines.track(s.dwi, out=path("tracked.trx"), force=True, **options)
        self.assertEqual(sorted(os.listdir(".")), before)
        names = [os.path.abspath(path(name)) for name in ("tracked.trx", "tracked.trx", "tracked.json")]
        self.assertEqual([kept.output, kept["output"], kept.sidecar], names)
        self.assertEqual(len(lines), lines["streamlines"])
        self.assertEqual(lines.stats["points"], len(lines.points))
        self.assertTrue(np.array_equal(lines.points, kept.points) and np.array_equal(lines[0], next(iter(kept))))
        self.assertTrue(np.array_equal(glslines.density(lines)[0], glslines.density(kept)[0]))
        self.assertEqual(dict(lines)["seeds"], 100)
        self.assertTrue(np.array_equal(lines.streamlines[:2][1], lines[1]))
        self.assertTrue("seeds" in lines and "absent" not in lines and lines.get("absent") is None)
        for each in (lines, kept):
            self.assertTrue(np.array_equal(pickle.loads(pickle.dumps(each)).points, lines.points))
        folder = os.path.dirname(lines.output)
        self.assertTrue(os.path.isdir(folder))
        picture = glslines.render(kept, tile="100x100", views="left")
        self.assertEqual(picture._repr_png_()[:4], b"\x89PNG")
        self.assertEqual(picture["total"], len(lines))
        named = glslines.render(kept, path("tracked.png"), tile="100x100", views="left", palette=True, force=True)
        self.assertEqual(named.png, picture.png)
        both = [glslines.render(kept, views="slab", slab="axial:1", tile="100x100", image=image) for image in (s.fa, glslines.load_image(s.fa))]
        self.assertEqual(both[0].png, both[1].png)
        with self.assertRaisesRegex(ValueError, "resume: needs out"):
            glslines.track(s.dwi, resume=True, **options)
        del lines
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_track_of_arrays(self):
        """Images, arrays and a table like DIPY's give the same streamlines as files."""
        s = self.scene
        options = {"nseeds": 100, "model": "opdt", "device": "llvmpipe", "force": True}
        files = glslines.track(s.dwi, mask=s.mask, roi=s.roi, out=path("files.trx"), **options)
        image = nib.load(s.dwi)
        bvals, bvecs = (np.loadtxt(s.dwi.replace("dwi.nii.gz", name)) for name in ("dwi.bval", "dwi.bvec"))
        table = types.SimpleNamespace(bvals=bvals, bvecs=bvecs.T)
        for dwi, tables in ((image, (bvals, bvecs)), ((image.get_fdata(dtype=np.float32), image.affine), (table,))):
            made = glslines.track(dwi, *tables, mask=nib.load(s.mask), roi=glslines.load_image(s.roi), out=path("arrays.trx"), **options)
            self.assertEqual(made["output"], os.path.abspath(path("arrays.trx")))
            both = [glslines.load(name).points for name in (files["output"], made["output"])]
            self.assertTrue(np.array_equal(*both))
        self.assertEqual(sorted(glslines.fit(image, table, mask=s.mask, model="csd")), sorted(glslines.fit(s.dwi, mask=s.mask, model="csd")))
        with self.assertRaisesRegex(TypeError, "None is no tractogram"):
            glslines.density(None)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
