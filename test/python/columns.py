"""Columns, groups and their data survive every function of the package that takes or returns tracks, and a warning names what a
format cannot hold.

    columns.py PROGRAM WORK_FOLDER
"""

import copy
import inspect
import os
import pickle
import sys
import unittest
import warnings

import nibabel as nib
import numpy as np

import glslines
from glslines import _exchange

WORK = sys.argv[2]
LONG = "a_name_that_is_too_long_for_trk"
#: functions of commands that have a parameter tracks or moving; the test below gives each of them a full tractogram
TESTED = {"edit", "convert", "segment", "sample", "profile", "stats", "info", "density", "connectome", "edges", "weights", "render", "report",
          "score", "cluster", "search", "recognize", "clean", "transform", "register", "fixels"}


def path(name):
    return os.path.join(WORK, name)


class Scene:
    """Streamlines of the phantom with columns of several types, groups, and data of groups."""

    def __init__(self):
        files = glslines.phantom(path("phantom"), shape=[24, 28, 24], force=True)
        self.image = nib.load(files.paths["mask"])
        found = glslines.track(files.paths["dwi"], roi=files.paths["roi"], mask=files.paths["mask"], model="opdt", nseeds=150,
                               device="llvmpipe")
        rng = np.random.default_rng(1)
        n, n_points = len(found), len(found.points)
        groups = {"AF_L": np.arange(0, n, 3), "CST": np.arange(5, n, 2), "one": np.array([n - 1]), "Bündel": np.arange(2)}
        self.lines = glslines.Result.from_arrays(
            found.points, found.offsets, ref=self.image, groups=groups,
            dps={**found.dps, "weight": rng.random(n).astype(np.float32), LONG: rng.random((n, 3)), "id": np.arange(n, dtype=np.int16)},
            dpv={"fa": rng.random(n_points).astype(np.float32), "rgb": rng.integers(0, 255, (n_points, 3)).astype(np.uint8)},
            dpg={"AF_L": {"mean_fa": np.array([0.5], np.float32), "color": np.array([1, 2, 3], np.uint8)}, "CST": {"mean_fa": [0.25]}})
        with open(path("bundles.tsv"), "w") as table:
            table.write("bundle\tinclude\nall\t0,0,0,1000\n")
        self.sh = glslines.fit(files.paths["dwi"], mask=files.paths["mask"], model="csd")["sh"]
        self.labels = (np.ones(self.image.shape, np.float32), self.image.affine)


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = Scene()

    def assert_same(self, one, two, kinds=("dps", "dpv", "groups", "dpg"), exact=True):
        self.assertTrue(np.allclose(one.points, two.points, atol=1e-4) and np.array_equal(one.offsets, two.offsets))
        for kind in kinds:
            a, b = getattr(one, kind), getattr(two, kind)
            self.assertEqual(sorted(a), sorted(b), kind)
            for name in a:
                if kind == "dpg":
                    self.assertEqual(sorted(a[name]), sorted(b[name]))
                    for value in a[name]:
                        np.testing.assert_array_equal(a[name][value], b[name][value])
                    continue
                np.testing.assert_allclose(a[name], b[name], rtol=0 if exact else 1e-6, err_msg=name)
                if exact and kind != "groups":
                    self.assertEqual(a[name].dtype, b[name].dtype, name)

    def test_formats(self):
        """TRX holds everything; a warning names what other formats do not hold."""
        lines = self.scene.lines
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lines.save(path("full.trx"), overwrite=True)
        self.assert_same(glslines.load(path("full.trx")), lines)
        for suffix, lost, kept in (("tck", ("dps weight", "dps " + LONG, "dpv fa", "dpv rgb", "group AF_L", "dpg AF_L/color"), ()),
                                   ("trk", ("dps " + LONG, "dpg CST/mean_fa"), ("weight", "fa", "rgb")),
                                   ("vtk", ("group CST", "dpg AF_L/mean_fa"), ("weight", "fa", "rgb", LONG))):
            with self.assertWarnsRegex(glslines.FormatWarning, "full.%s: its format cannot hold" % suffix) as caught:
                lines.save(path("full." + suffix), overwrite=True)
            self.assertEqual(caught.filename, __file__)
            for name in lost:
                self.assertIn(name, str(caught.warning))
            again = glslines.load(path("full." + suffix))
            for name in kept:
                self.assertIn(name, {**again.dps, **again.dpv})
        # the program, too, warns of what it leaves out
        for suffix, lost in (("tck", "group AF_L"), ("trk", "dps " + LONG), ("vtk", "dpg AF_L/color")):
            with self.assertLogs("glslines", "WARNING") as log:
                glslines.edit(lines, out=path("edited." + suffix), force=True)
            self.assertIn(lost, "\n".join(log.output))

    def test_a_file_without_streamlines(self):
        none = self.scene.lines[[]]
        self.assertEqual((len(none), list(none.dps), list(none.dpv), list(none.groups)),
                         (0, list(self.scene.lines.dps), list(self.scene.lines.dpv), list(self.scene.lines.groups)))
        for other in (none.to_nibabel(), none.to_stateful(self.scene.image)):
            self.assertEqual({name: values.shape for name, values in other.data_per_streamline.items()},
                             {name: np.shape(values.reshape(0, values.shape[1] if values.ndim > 1 else 1)) for name, values in none.dps.items()})
        none.save(path("none.trx"), overwrite=True)
        for both in (["none.trx", "full.trx"], ["full.trx", "none.trx"]):
            self.scene.lines.save(path("full.trx"), overwrite=True)
            with self.assertLogs("glslines", "WARNING") as log:
                joined = glslines.edit([path(name) for name in both])
            self.assert_same(joined, self.scene.lines, ("dps", "dpv", "groups"))
            self.assertIn("leaves out the data of groups (dpg)", "\n".join(log.output))
        for both in (glslines.load(path("none.trx")) + self.scene.lines, self.scene.lines + none):
            self.assert_same(both, self.scene.lines)

    def test_every_function(self):
        """Each function of a command takes a tractogram with everything, and returns everything if it returns tracks."""
        s, lines = self.scene, self.scene.lines
        takes = {name for name in glslines.__all__ if inspect.isfunction(getattr(glslines, name))
                 and {"tracks", "moving"} & set(inspect.signature(getattr(glslines, name)).parameters)}
        self.assertEqual(takes, TESTED)
        self.assert_same(glslines.edit(lines), lines)
        self.assert_same(glslines.edit(lines, out=path("e.trx"), force=True), lines)
        self.assert_same(glslines.convert(lines), lines)
        self.assert_same(glslines.convert(glslines.convert(lines, out=path("c.trx"), force=True)), lines)
        found = glslines.segment(lines, path("bundles.tsv"))
        self.assertEqual(len(found.groups["all"]), len(lines))
        for k, number in enumerate(found.dps["id"]):  # segment orients streamlines, and the values of their points with them
            for way in (slice(None), slice(None, None, -1)):
                if np.allclose(found[k], lines[int(number)][way]):
                    break
            np.testing.assert_array_equal(found[[k]].dpv["rgb"], lines[[number]].dpv["rgb"][way])
        table = glslines.stats(lines, groups=True)
        counts = {row["name"]: row["count"] for row in table}
        self.assertTrue(all(isinstance(row[name], int) for row in table for name in ("count", "points")))
        self.assertTrue(all(isinstance(row["mean_mm"], float) for row in table))
        self.assertEqual({name: counts[name] for name in lines.groups}, {name: len(members) for name, members in lines.groups.items()})
        info = glslines.info(lines)["tractograms"][0]
        self.assertTrue(all(name in str(info) for name in (*lines.dps, *lines.dpv, *lines.groups)), info)
        self.assertEqual(glslines.density(lines, groups=True, template=s.image)[0].shape[3], len(lines.groups))
        pictures = [glslines.render(lines, tile="100x100", views="left", color=color).png for color in ("groups", "dps:weight", "dpv:fa")]
        self.assertEqual(len(set(pictures)), 3)
        profiles = glslines.profile(lines, (np.ones(s.image.shape, np.float32), s.image.affine))
        self.assertEqual({row["tractID"] for row in profiles}, set(lines.groups))
        self.assertEqual(len(glslines.sample(lines, s.labels)), len(lines))
        self.assertEqual(glslines.connectome(lines, s.labels).sum(), len(lines))
        pairs = np.arange(2 * len(lines)).reshape(-1, 2) % 5 + 1
        edges = glslines.edges(lines, pairs, weights="dps:weight")
        self.assertEqual(sorted(edges.groups), sorted({"%d-%d" % (min(pair), max(pair)) for pair in pairs}))
        self.assertEqual(sum(len(members) for members in edges.groups.values()), len(lines))
        self.assert_same(edges, lines, ("dps", "dpv"))
        files = glslines.edges(lines, pairs, files="per_edge")
        self.assertEqual(sorted(files), sorted(edges.groups))
        self.assertEqual({name: len(files[name]) for name in files}, {name: len(members) for name, members in edges.groups.items()})
        slabs = np.broadcast_to(5 * np.arange(s.image.shape[0])[:, None, None] // s.image.shape[0] + 1, s.image.shape).copy()
        means = glslines.edges(lines, pairs, exemplars=(slabs, s.image.affine))
        self.assertEqual((sorted(means.dps), len(means)), (["count", "edge", "weights"], 10))
        self.assertTrue(glslines.report(lines, path("r.html"), force=True, no_view=True)["streamlines"])
        self.assertEqual(len(glslines.weights(lines, s.sh, method="sift")), len(lines))
        lines.save(path("bundle.trx"), overwrite=True)
        along = []
        for tracks in (lines, path("bundle.trx")):
            glslines.fixels(s.sh, path("afd.txt"), tracks=tracks, afd=True, step_size=1, force=True)
            with open(path("afd.txt")) as text:
                along.append(float(text.read()))
        self.assertTrue(along[0] > 0 and along[0] == along[1], along)
        clustered = glslines.cluster(lines)
        self.assertEqual(sorted(clustered.dps), sorted([*lines.dps, "cluster", "cluster_distance"]))
        self.assert_same(clustered, lines, ("dpv", "groups", "dpg"))
        self.assertEqual(len(glslines.search(lines, lines, nearest=1)), len(lines))
        with self.assertLogs("glslines", "WARNING") as log:
            cleaned = glslines.clean(lines, method="cci", min_cci=0)
        self.assertIn("leaves out the data of groups (dpg)", "\n".join(log.output))
        self.assertEqual(sorted(cleaned.dps), sorted([*lines.dps, "clean_score"]))
        self.assert_same(cleaned, lines, ("dpv", "groups"))
        there = glslines.transform(lines, np.eye(4), template=s.image)
        self.assert_same(there, lines)
        self.assertGreaterEqual(glslines.fixels(s.sh, tracks=lines, step_size=1, afd=True), 0)
        with self.assertLogs("glslines", "WARNING"):  # the streamlines make few clusters
            found = glslines.register(lines, lines, type="rigid", min_length=0, moved=path("moved.trx"), force=True)
        self.assertTrue(np.allclose(found["affine"], np.eye(4), atol=1e-3), found["affine"])
        self.assert_same(glslines.load(path("moved.trx")), lines)
        lines.save(path("other.trx"), overwrite=True)
        self.assertTrue(glslines.score(lines, against=path("other.trx")))

    def test_filters(self):
        """A selection keeps the rows, groups and data of its streamlines."""
        lines = self.scene.lines
        lengths = np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines])
        chosen = lengths < np.median(lengths)
        for part in (glslines.edit(lines, max_length=float(np.median(lengths)) - 1e-3), lines[chosen], lines[np.flatnonzero(chosen)],
                     lines[list(np.flatnonzero(chosen))]):
            self.assertIsInstance(part, glslines.Result)
            np.testing.assert_array_equal(part.dps["id"], np.flatnonzero(chosen))
            np.testing.assert_array_equal(part.dpv["fa"], lines.dpv["fa"][np.repeat(chosen, np.diff(lines.offsets))])
            for name, members in lines.groups.items():
                np.testing.assert_array_equal(part.dps["id"][part.groups[name]], [k for k in members if chosen[k]])
        backwards = lines[::-1]
        np.testing.assert_array_equal(backwards.dps["id"], np.arange(len(lines))[::-1])
        self.assert_same(backwards[::-1], lines)
        self.assertEqual([len(lines[k]) for k in (0, -1)], [len(lines.as_list()[k]) for k in (0, -1)])
        twice = lines[[3, 3]]
        self.assertEqual((len(twice), len(twice.groups["AF_L"])), (2, 2))

    def test_joined(self):
        lines = self.scene.lines
        first, second = lines[:40], lines[40:]
        self.assert_same(first + second, lines)
        both = glslines.edit([first, second])
        self.assert_same(both, lines, ("dps", "dpv", "groups"))
        with self.assertRaisesRegex(ValueError, "dps: both need the same columns.*weight"):
            first + glslines.Result.from_arrays(second.points, second.offsets, ref=self.scene.image)
        other = lines[40:]
        other.dpg["CST"]["mean_fa"] = np.array([0.75])
        with self.assertWarnsRegex(glslines.FormatWarning, "CST/mean_fa"):
            self.assertEqual(list((first + other).dpg["CST"]), [])

    def test_other_packages(self):
        """Converts to tractograms of nibabel, DIPY and trx-python, and back, also through their files."""
        from dipy.io.streamline import load_tractogram, save_tractogram
        from trx.trx_file_memmap import load as load_trx
        from trx.trx_file_memmap import save as save_trx

        lines = self.scene.lines
        for convert in (lines.to_nibabel, lambda: lines.to_stateful(self.scene.image)):
            with self.assertWarnsRegex(glslines.FormatWarning, "cannot hold group AF_L.*dpg AF_L/mean_fa") as caught:
                other = convert()
            self.assertEqual(caught.filename, __file__)
            self.assertEqual(sorted(other.data_per_point), ["fa", "rgb"])
            self.assert_same(_exchange.result_of(other), lines, ("dps", "dpv"))
            self.assert_same(glslines.convert(other), lines, ("dps", "dpv"))
        bare = lines[:]
        bare.groups, bare.dpg = {}, {}
        with warnings.catch_warnings():
            warnings.simplefilter("error", glslines.FormatWarning)
            bare.to_nibabel()
        for name in (LONG, "id"):
            del bare.dps[name]
        save_tractogram(bare.to_stateful(self.scene.image), path("dipy.trk"), bbox_valid_check=False)
        self.assert_same(_exchange.result_of(load_tractogram(path("dipy.trk"), "same", bbox_valid_check=False)), bare, ("dps", "dpv"), False)
        self.assert_same(_exchange.result_of(nib.streamlines.load(path("dipy.trk"))), bare, ("dps", "dpv"), False)
        trx = lines.to_trx()
        self.assertEqual(sorted(trx.groups), sorted(lines.groups))
        for found in (_exchange.result_of(trx), glslines.edit(trx), glslines.convert(trx, out=path("of_trx.trx"), force=True)):
            self.assert_same(found, lines)
        save_trx(trx, path("python.trx"))
        self.assert_same(glslines.load(path("python.trx")), lines)
        self.assert_same(glslines.edit(load_trx(path("python.trx"))), lines)

    def test_copies(self):
        lines = self.scene.lines
        for again in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
            self.assert_same(again(lines), lines)
        kept = glslines.edit(lines, out=path("kept.trx"), force=True)
        self.assert_same(pickle.loads(pickle.dumps(kept)), lines)
        voxels = lines[:]
        inverse = np.linalg.inv(lines.affine)
        voxels.points, voxels.space = (lines.points @ inverse[:3, :3].T + inverse[:3, 3]).astype(np.float32), "voxel"
        self.assert_same(glslines.edit(voxels), lines)

    def test_what_is_changed_is_what_counts(self):
        """If the columns of a result of a file were changed in memory, they are used as they are now, not as the file has
        them."""
        lines = glslines.edit(self.scene.lines, out=path("changed.trx"), force=True)
        self.assertEqual(lines.unchanged(), os.path.abspath(path("changed.trx")))
        self.assertGreater(len(lines.points), 0)
        self.assertEqual(lines.unchanged(), os.path.abspath(path("changed.trx")))
        lines.dps["new"] = np.arange(len(lines), dtype=np.float32)
        self.assertIsNone(lines.unchanged())
        self.assertIn("new", glslines.edit(lines).dps)
        del lines.dps["new"]
        lines.points += 1
        self.assertTrue(np.allclose(glslines.edit(lines).points, self.scene.lines.points + 1, atol=1e-4))

    def test_what_does_not_fit(self):
        lines = self.scene.lines
        n, points, offsets = len(lines), lines.points, lines.offsets
        for text, options in (("dpv fa: a row for each of %d points" % len(points), {"dpv": {"fa": np.ones(3)}}),
                              ("groups: a needs the numbers", {"groups": {"a": [n]}}), ("groups: a needs the numbers", {"groups": {"a": [-1]}}),
                              ("groups: a needs the numbers", {"groups": {"a": [0.5]}}), ("dpg: there is no group b", {"dpg": {"b": {"x": [1]}}}),
                              ("dps: a dict", {"dps": [1]}), ("dps x: values of the type complex", {"dps": {"x": np.ones(n, complex)}}),
                              ("dps x: a masked", {"dps": {"x": np.ma.masked_less(np.arange(n), 2)}})):
            with self.assertRaisesRegex((ValueError, TypeError), text):
                glslines.Result.from_arrays(points, offsets, **options)
        with self.assertRaisesRegex(ValueError, "complex"):
            glslines.Result.from_arrays(points + 1j, offsets)
        swapped = glslines.Result.from_arrays(points, offsets, {"a": np.arange(n, dtype=">i4")}, self.scene.image)
        np.testing.assert_array_equal(glslines.edit(swapped).dps["a"], np.arange(n))


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
