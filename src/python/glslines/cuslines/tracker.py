"""The tracker with the arguments and methods of cuslines 2.2.3."""

import ctypes
import logging
import os
from math import degrees, radians

import numpy as np

from .. import _library, tracking
from .._arrays import grid_like
from .._library import call, structs
from ..devices import Device
from .._names import nearest_in
from ..models import ODF, QBall, Sphere, vertices_of
from ..params import Params
from ..streamlines import Collector, Writer, mapped
from .getters import Settings

logger = logging.getLogger("GPUStreamlines")

#: arguments of Device, which install() sets
device_options = {"name": "auto", "api": "auto"}

#: largest number of steps of a half-streamline if max_pts is infinite
ENDLESS_STEPS = 10000
KEY = 0x9E3779B97F4A7C15


def _shape_error(name, array, wanted):
    return ValueError("%s: the shape %s, needed is %s" % (name, np.shape(array), wanted))


def _antipodal(vertices):
    """Whether each vertex has an opposite vertex in the set."""
    found = np.abs(vertices @ vertices.T + 1) < 1e-6
    return bool(found.any(axis=1).all())


@nearest_in
class Tracker(Settings):
    """Tracks on the devices that install() named. It is a context manager:
    `with Tracker(dg, dataf, stop_map, threshold, vertices, edges, ...) as t: t.generate_sft(...)`.

    Angles are in radians, steps in voxels, seeds in voxel coordinates with centres at whole numbers.
    """

    _settings = ("dg", "dataf", "metric_map", "tc_threshold", "sphere_vertices", "sphere_symm", "max_angle", "step_size", "min_pts",
                 "max_pts", "relative_peak_thresh", "min_separation_angle", "ngpus", "chunk_size", "rng_seed", "rng_offset", "device",
                 "pos_dtype", "linearize", "tol_error", "max_segment_length")

    def __init__(self, dg, dataf, stop_map, stop_threshold, sphere_vertices, sphere_edges, sphere_symm=False,
                 max_angle=radians(60), step_size=0.5, min_pts=0, max_pts=np.inf, relative_peak_thresh=0.25,
                 min_separation_angle=radians(45), ngpus=1, rng_seed=0, rng_offset=0, chunk_size=25000):
        if np.ndim(dataf) != 4:
            raise _shape_error("dataf", dataf, "(x, y, z, n)")
        if np.shape(stop_map) != np.shape(dataf)[:3]:
            raise _shape_error("stop_map", stop_map, "%s, that of dataf" % (np.shape(dataf)[:3],))
        if np.ndim(sphere_edges) != 2 or len(sphere_edges) == 0:
            raise _shape_error("sphere_edges", sphere_edges, "(n, 2) with n > 0")
        self.sphere_vertices = vertices_of(sphere_vertices)
        if dg._dg != "boot" and len(self.sphere_vertices) != np.shape(dataf)[3]:
            raise ValueError("Number of sphere vertices (%d) must match last dimension of dataf (%d), because dataf "
                             "should be an ODF when using prob or ptt tracking" % (len(self.sphere_vertices),
                                                                                   np.shape(dataf)[3]))
        self.dg = dg
        self.dataf, self.metric_map = dataf, stop_map
        self.tc_threshold = float(stop_threshold)
        self.sphere_symm = bool(sphere_symm)
        self.max_angle, self.step_size = float(max_angle), float(step_size)
        self.min_pts, self.max_pts = min_pts, max_pts
        self.relative_peak_thresh = float(relative_peak_thresh)
        self.min_separation_angle = float(min_separation_angle)
        self.ngpus, self.chunk_size = int(ngpus), int(chunk_size)
        self.rng_seed, self.rng_offset = int(rng_seed), int(rng_offset)
        self.set_compression_parameters()
        self.device = None
        self._closed = False
        if not self.sphere_symm and _antipodal(self.sphere_vertices):
            logger.info("glslines: the sphere has both ends of each direction, of which one is tracked: half as many "
                        "streamlines as with cuslines are expected")

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, exc_type, exc, tb):
        if self.device is not None:
            self.device.close()
        self.device, self._closed = None, True
        return False

    def _open(self):
        if self._closed:
            raise RuntimeError("the tracker is closed: its with block has ended")
        if self.device is None:
            self.device = Device(count=self.ngpus, **device_options)

    def set_compression_parameters(self, pos_dtype=np.float32, linearize=False, tol_error=0.1, max_segment_length=10):
        """Sets how generate_trx() stores points. pos_dtype: type of the positions. linearize: leave out points that lie within
        tol_error mm of the line between their neighbours; the points that stay are at most max_segment_length mm apart."""
        if np.dtype(pos_dtype) not in (np.float16, np.float32, np.float64):
            raise ValueError("pos_dtype: %s is none of float16, float32, float64" % np.dtype(pos_dtype))
        self.pos_dtype = np.dtype(pos_dtype)
        self.linearize = bool(linearize)
        self.tol_error, self.max_segment_length = float(tol_error), float(max_segment_length)

    def generate_sft(self, seeds, ref_img):
        """Tracks, and returns a DIPY StatefulTractogram in voxel space."""
        from dipy.io.stateful_tractogram import Space, StatefulTractogram

        collector = Collector()
        target = tracking.Sink(collector)
        self._run(seeds, ref_img, target.struct, target)
        result = collector.result({}, self._grid, "voxel")
        return StatefulTractogram(result.array_sequence(), ref_img, Space.VOX)

    def generate_trx(self, seeds, ref_img):
        """Tracks, and returns a TrxFile of trx-python in world mm. It is mapped from a temporary file, which is removed with it."""
        from trx.io import get_trx_tmp_dir

        folder = get_trx_tmp_dir()
        path = os.path.join(folder.name, "streamlines.trx")
        half = self.pos_dtype == np.float16
        sink = Writer(path, self._reference(ref_img), half).sink
        if self.linearize:
            sink = _before(sink, call.gls_filter_compress_create, self.tol_error, self.max_segment_length)
        sink = _before(sink, call.gls_filter_columns_create, None, 0)
        self._run(seeds, ref_img, sink)
        trx = mapped(path, folder)
        if self.pos_dtype == np.float64:
            trx.streamlines._data = trx.streamlines._data.astype(np.float64)
        trx.streamlines._offsets = trx.streamlines._offsets.astype(np.uint64)
        return trx

    def _reference(self, ref_img):
        grid = grid_like(ref_img)
        if tuple(grid.dim) != tuple(np.shape(self.dataf)[:3]):
            raise ValueError("ref_img has %s voxels, dataf %s" % (tuple(grid.dim), np.shape(self.dataf)[:3]))
        return grid

    def _run(self, seeds, ref_img, sink, *may_raise):
        """Tracks into a sink, and then finishes the sink, or aborts it after a failure."""
        try:
            self._grid = self._reference(ref_img)
            seeds = _inside(seeds, self._grid)
            highest = (1 << 63) if np.isinf(self.max_pts) else max(0, int(self.max_pts))
            lowest = max(0, int(np.ceil(self.min_pts)))
            if highest < lowest:
                lowest = highest = 0  # nothing can pass
            sink = _before(sink, call.gls_filter_vertices_create, lowest, highest, None)
        except BaseException:
            call.gls_sink_abort(ctypes.byref(sink))
            raise
        bar = _bar(len(seeds))
        try:
            if len(seeds):
                self._open()
                with self._tracker(np.asarray(ref_img.affine, dtype=np.float64)) as tracker:
                    tracker.run_to(sink, seeds, bar.step, *may_raise)
        except BaseException:
            call.gls_sink_abort(ctypes.byref(sink))
            raise
        finally:
            bar.close()
        call.gls_sink_finish(ctypes.byref(sink))

    def _tracker(self, affine):
        params = self._params(float(np.mean(self._grid.voxel_size)))
        if self.dg._dg == "boot":
            gradients = self.dg._gradients(affine)
            qball = QBall(gradients, self.dg.model, self.dg.sh_order_max, self.dg.sh_lambda, self.dg.min_signal)
            return tracking.Tracker(self.device, params, stop_map=self.metric_map, dwi=self.dataf, qball=qball,
                                    sphere=Sphere(self.sphere_vertices), affine=affine)
        odf = ODF.from_amplitudes(self.dataf, self.sphere_vertices, "image", affine)
        return tracking.Tracker(self.device, params, stop_map=self.metric_map, odf=odf, affine=affine)

    def _params(self, voxel):
        step = self.step_size * voxel
        most = ENDLESS_STEPS if np.isinf(self.max_pts) else int(self.max_pts) + 1
        params = Params(preset="gpustreamlines", dg=self.dg._dg, step_size="%.17gmm" % step, max_angle=degrees(self.max_angle),
                        fa_threshold=self.tc_threshold, relative_peak_threshold=self.relative_peak_thresh,
                        min_separation_angle=degrees(self.min_separation_angle), max_length=step * max(1, most),
                        rng_seed=(self.rng_seed + KEY * self.rng_offset) % (1 << 64), chunk_size=self.chunk_size)
        for name, value in params_of(self.dg, voxel).given.items():
            params.set(name, value)
        return params


def params_of(dg, voxel):
    """Returns the parameters that the settings of a getter stand for. voxel: mean side of a voxel, mm."""
    params = Params(dg=dg._dg)
    if dg._dg == "ptt":
        params.set("probe_length", "%.17gmm" % (dg.probe_length * dg.probe_quality * voxel))
        params.set("probe_quality", int(round(dg.probe_quality)))
        params.set("ptt_substep", "%.17gmm" % (dg.target_short_step * voxel))
    elif dg.angular_weight:
        params.set("angular_weight", float(dg.angular_weight))
    return params


def _before(sink, create, *arguments):
    """Makes a filter that passes streamlines on to the sink. Returns the sink of the filter. A failure aborts the given sink."""
    filtered = structs["gls_sink"]()
    try:
        create(*arguments, ctypes.byref(sink), ctypes.byref(filtered))
    except _library._errors.Error:
        call.gls_sink_abort(ctypes.byref(sink))
        raise
    return filtered


def _inside(seeds, grid):
    """Returns the seeds, or none if all lie outside the grid. The library would refuse such seeds, but cuslines returns no
    streamlines for them."""
    seeds = np.asarray(seeds, dtype=np.float64)
    if seeds.size == 0:
        return np.empty((0, 3))
    if seeds.ndim != 2 or seeds.shape[1] != 3:
        raise _shape_error("seeds", seeds, "(n, 3)")
    bad = np.flatnonzero(~np.isfinite(seeds).all(axis=1))
    if len(bad):
        raise ValueError("seeds: %d of %d are not finite, the first is number %d" % (len(bad), len(seeds), bad[0]))
    inside = ((seeds >= -0.5) & (seeds <= np.array(grid.dim) - 0.5)).all(axis=1)
    return seeds if inside.any() else np.empty((0, 3))


class _bar:
    """A progress bar of tqdm over the seeds, if tqdm is installed."""

    def __init__(self, total):
        try:
            from tqdm import tqdm

            self._bar = tqdm(total=total)
        except ImportError:
            self._bar = None

    def step(self, done, total, streamlines, points):
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        return True

    def close(self):
        if self._bar is not None:
            self._bar.close()
