"""Seeds and the tracker."""

from __future__ import annotations

import ctypes
import os
import re
import threading
from typing import Any, Callable, Literal, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _library
from ._arrays import Image, affine_of, is_pair, is_placed, is_same_affine, own_affine, reals, require_same_affine, require_shape
from ._errors import CancelledError
from ._library import call, constants, encode, made, structs
from ._names import nearest_in
from .devices import Device
from .models import ODF, Gradients, QBall, Sphere, _affine, _pointer, read_bedpostx, tensor_peaks
from .params import Params, choice, default_getter
from .streamlines import Batch, Collector, Result


@nearest_in
class Seeds:
    """The points where streamlines start. `Seeds.random`, `Seeds.per_voxel` or `Seeds.points` makes them.

    `len(seeds)` is their number. Iteration gives blocks of voxel coordinates (n, 3), with voxel centres at whole numbers.
    """

    def __init__(self, handle=None, points=None, world=False, shape=None, grid=None, made_by=None):
        self._handle, self._points, self._world = handle, points, world
        #: shape and grid of the image in which the seeds lie; the grid is None if the image has no affine
        self._shape, self._grid = shape, grid
        self._made_by = made_by

    def __reduce__(self):
        if self._handle is None:
            return type(self).points, (self._points, "world" if self._world else "voxel")
        return self._made_by

    @classmethod
    def _in(cls, method, function, roi, n, most, seed, mask, affine):
        require_same_affine(affine, roi=roi, mask=mask)
        placed = is_placed(roi, mask, affine=affine)
        affine = affine_of(roi, mask, default=affine)
        region = Image(roi, affine, "roi")
        inside = None if mask is None else Image(mask, affine_of(mask, default=affine), "mask")
        if inside is not None:
            require_shape(inside.array, region.array, "mask", "roi")
        n, seed = _library.integer(n, "n", 1, most), _library.integer(seed, "seed", 0, 2**64 - 1)
        pointer = made(function, region.pointer, _pointer(inside), n, seed, destroy=call.gls_seeds_destroy)
        voxels = _voxels_of(region.array) if inside is None else _voxels_of(region.array) & _voxels_of(inside.array)
        made_by = _seeds_in, (getattr(cls, method), np.packbits(voxels), region.shape, affine if placed else None, n, seed)
        return cls(_library.Handle(pointer, call.gls_seeds_destroy), shape=region.shape,
                   grid=region.grid if placed else None, made_by=made_by)

    @classmethod
    def random(cls, roi: Any, n: int, seed: int = 0, mask: Any = None, affine: Optional[ArrayLike] = None) -> Seeds:
        """Makes n random seeds in the voxels where roi (and mask) is above 0. Each voxel gets the same number, or one more."""
        return cls._in("random", call.gls_seeds_create_random, roi, n, 2**64 - 1, seed, mask, affine)

    @classmethod
    def per_voxel(cls, roi: Any, n: int, seed: int = 0, mask: Any = None,
                  affine: Optional[ArrayLike] = None) -> Seeds:
        """Makes n random seeds in each voxel where roi (and mask) is above 0."""
        return cls._in("per_voxel", call.gls_seeds_create_per_voxel, roi, n, 2**32 - 1, seed, mask, affine)

    @classmethod
    def points(cls, xyz: ArrayLike, space: str = "voxel") -> Seeds:
        """Takes a list of seeds (n, 3), in voxels (with centres at whole numbers) or in world mm."""
        array = reals(xyz, "seeds", "numpy.loadtxt() reads it")
        if space not in ("voxel", "world"):
            raise ValueError("space: '%s' is none of voxel, world" % space)
        if array.ndim != 2 or array.shape[1] != 3:
            raise ValueError("seeds have the shape (n, 3), not %s" % (array.shape,))
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            raise ValueError("seeds: %d of %d are not finite, the first is number %d" % (len(bad), len(array), bad[0]))
        return cls(points=array, world=space == "world")

    def __len__(self) -> int:
        return len(self._points) if self._handle is None else call.gls_seeds_count(self._handle.pointer)

    def __iter__(self):
        block = 65536
        for first in range(0, len(self), block):
            n = min(block, len(self) - first)
            if self._handle is None:
                yield self._points[first:first + n].astype(np.float32)
                continue
            points = np.empty((n, 3), dtype=np.float32)
            call.gls_seeds_get(self._handle.pointer, first, n, points.ctypes.data)
            yield points

    def _on(self, grid, placed):
        """Returns the seeds of the library on a grid; None if there is no seed. placed: the affine of the grid is known."""
        if self._handle is not None:
            if self._shape != tuple(grid.dim):
                raise ValueError("the seeds lie in an image of the shape %s, the tracker's is %s"
                                 % (self._shape, tuple(grid.dim)))
            if self._grid is not None and placed:
                call.gls_grid_require_equal(ctypes.byref(self._grid), b"roi", ctypes.byref(grid), b"stop_map")
            return self._handle
        if len(self._points) == 0:
            return None
        pointer = made(call.gls_seeds_create_list, self._points.ctypes.data, len(self._points), self._world,
                       ctypes.byref(grid), destroy=call.gls_seeds_destroy)
        return _library.Handle(pointer, call.gls_seeds_destroy)


def _voxels_of(region):
    """Returns an array that is True for each voxel in which the library makes seeds."""
    return (region > 0) & np.isfinite(region)


def _seeds_in(method, bits, shape, affine, n, seed):
    voxels = np.unpackbits(bits, count=int(np.prod(shape))).reshape(shape)
    return method(voxels, n, seed, affine=affine)


_APPEND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Sink:
    """A sink of the library that calls a function with each batch. reraise() raises the exception that the function raised."""

    def __init__(self, function):
        self.exception = None

        def append(user, streamlines):
            try:
                with _library.called_back():
                    function(Batch(structs["gls_streamlines"].from_address(streamlines)))
                return constants["GLS_OK"]
            except BaseException as exception:  # no exception may pass through C
                self.exception = exception
                return constants["GLS_ERR_CANCELLED"]

        self._append = _APPEND(append)
        self.struct = structs["gls_sink"]()
        self.struct.append = ctypes.cast(self._append, ctypes.c_void_p).value
        self.struct.callback = self._append  # keeps the callback as long as the struct is in use

    def reraise(self):
        if self.exception is not None:
            raise self.exception


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64,
                             ctypes.c_uint64)


def stats_of(result):
    """Returns a gls_track_result as a dict, with the counts of ends and verdicts by name."""
    stats = {}
    for name, _ in result._fields_:
        value = getattr(result, name)
        if name == "ends":
            value = {call.gls_end_name(i).decode(): n for i, n in enumerate(value)}
        elif name == "verdicts":
            value = {call.gls_verdict_name(i).decode(): n for i, n in enumerate(value)}
        elif name == "mapping":
            value = call.gls_mapping_name(value).decode()
        elif name == "precision":
            value = ("half", "float")[value]
        elif name == "met" or name.startswith("_"):
            continue
        elif isinstance(value, ctypes.Structure):
            value = {field: getattr(value, field) for field, _ in value._fields_ if not field.startswith("_")}
        stats[name] = value
    return stats


# the roles of regions and their numbers in the library: "include": 0, and so on
_REGION_ROLES = {name[len("GLS_REGION_"):].lower(): value
                 for name, value in sorted(constants.items()) if name.startswith("GLS_REGION_")}
_SPHERE = re.compile(r"[-+.,\deE\s]+")  # a sphere, x,y,z,radius; any other text names the file of a region


class _Object(_library.OfProcess, _library.Handle):
    kind = "tracker"


@nearest_in
class Tracker(_library.OfProcess):
    """Tracks on arrays in memory: `Tracker(device, params, stop_map=fa, odf=odf).run(seeds)`. It is a context manager.

    device: a Device, or the name that Device takes. stop_map (x, y, z): streamlines end where it is at or below the parameter
    fa_threshold. For dg="boot": dwi (x, y, z, n), qball and its gradients, and a sphere. For prob, det, closest, ptt and
    ifod1, ifod2, sdstream: odf. For fact and eudx: peaks (x, y, z, 3 n), vectors along the voxel axes whose length is the
    amplitude; 0 or nan: there is no peak. For tensordet and tensorprob, and for eudx along tensors: dwi and gradients.
    For bedpost: bedpostx, a folder of FSL's bedpostX, whose nodif_brain_mask is then the default of mask and stop_map;
    a folder without it needs the name of a file as mask. nulldist1, nulldist2 and seedtest need the stop map only.
    tissue: fractions of cortical and deep grey matter, white matter, CSF and pathology, (x, y, z, 5), on any grid, and
    tissue_rule, as act_rule of `glslines track`: an end elsewhere than in grey matter, or by the stop map where
    fa_threshold is given, is a bad one. Defaults are those of runs with tissue then; with pft the rule is cmc.
    mask and regions, by the names of the options of `glslines track` (include, exclude, tracking_mask, stop_at ...):
    one or a list of images, or of texts as the options take them.
    """

    kind = "tracker"

    def __init__(self, device: Union[Device, str, int] = "auto", params: Optional[Params] = None, *, stop_map: Any = None,
                 odf: Optional[ODF] = None, dwi: Any = None, qball: Optional[QBall] = None, sphere: Any = "default",
                 affine: Optional[ArrayLike] = None, mask: Any = None, peaks: Any = None,
                 bedpostx: Optional[Union[str, os.PathLike[str]]] = None, gradients: Optional[Gradients] = None, include: Any = None,
                 include_any: Any = None, include_ordered: Any = None, exclude: Any = None, tracking_mask: Any = None, stop_at: Any = None, stop_leaving: Any = None,
                 include_end: Any = None, include_both_ends: Any = None, exclude_end: Any = None,
                 tissue: Any = None, tissue_rule: Optional[str] = None) -> None:
        regions = {name: value for name, value in locals().items() if name in _REGION_ROLES and name != "mask"}
        self._own_device = not isinstance(device, Device)
        if params is not None and not isinstance(params, Params):
            raise TypeError("params: Params are needed, not %s" % type(params).__name__)
        given = dict(params.given) if params is not None else {}
        sources = [name for name, value in (("odf", odf), ("peaks", peaks), ("bedpostx", bedpostx)) if value is not None]
        if "dg" not in given:
            given["dg"] = default_getter(sources, given.get("preset"))
        if given["dg"] == "eudx" and peaks is None and bedpostx is None and dwi is not None:
            given.setdefault("cutoff", 0.2)  # of FA
            peaks = tensor_peaks(dwi, gradients, mask, affine_of(dwi, stop_map, mask, default=affine))
        self.params = Params(**given) if params is None or given != params.given else params
        samples = 0
        if bedpostx is not None:
            if peaks is not None or given["dg"] != "bedpost":
                raise ValueError("bedpostx: is for dg='bedpost', without peaks")
            of_file = isinstance(mask, (str, os.PathLike))
            inside, peaks, samples, of_files = read_bedpostx(bedpostx, mask if of_file else None)
            if affine is not None and not is_same_affine(affine, of_files):
                raise ValueError("affine: is another than that of bedpostx: leave it out")
            affine, mask = of_files, inside if mask is None or of_file else mask
            stop_map = (inside > 0).astype(np.float32) if stop_map is None else stop_map
        if stop_map is None:
            raise ValueError("stop_map is needed: streamlines end where it is at or below fa_threshold")
        require_same_affine(affine, dwi=dwi, peaks=peaks, stop_map=stop_map)
        if odf is not None and not isinstance(odf, ODF):
            raise TypeError("odf: an ODF is needed, as ODF.from_sh or ODF.from_amplitudes makes it, not %s" % type(odf).__name__)
        if odf is not None and odf.is_placed:
            if affine is not None and not is_same_affine(affine, _affine(odf.image)):
                raise ValueError("affine: is another than that of odf: give it to ODF.from_sh or ODF.from_amplitudes")
            affine = _affine(odf.image)
        self._is_placed = is_placed(dwi, peaks, stop_map, mask, affine=affine)
        affine = affine_of(dwi, peaks, stop_map, mask, default=affine)
        self._stop_map = Image(stop_map, affine_of(stop_map, default=affine), "stop_map")
        self.grid = self._stop_map.grid
        self._input = structs["gls_track_input"]()
        self._input.stop_map = self._stop_map.pointer
        self._input.peak_samples = samples
        source = call.gls_getter_source_of(self.params._getter)
        if source == constants["GLS_FROM_QBALL"]:
            self._use_series(dwi, qball, sphere, affine)
        elif source == constants["GLS_FROM_PEAKS"]:
            self._use_peaks(peaks, affine)
        elif source == constants["GLS_FROM_SERIES"]:
            self._use_signals(dwi, gradients, affine)
        elif source == constants["GLS_FROM_ODF"]:
            self._use_odf(odf, affine)
        self._regions = self._make_regions(mask, regions, affine)
        self._input.regions = _pointer(self._regions)
        sides = list(self.grid.voxel_size)
        mm = self.params.in_mm(min(sides), round((sides[0] * sides[1] * sides[2]) ** (1 / 3), 6), tissue is not None)
        self._tissue = self._make_tissue(tissue, tissue_rule or self.params.act_rule, affine)
        self._input.tissue = _pointer(self._tissue)
        self.device = Device(device) if self._own_device else device
        try:
            contexts = self.device.pointers
            array = (ctypes.c_void_p * len(contexts))(*(context.value for context in contexts))
            pointer = made(call.gls_tracker_create_group, array, len(contexts), ctypes.byref(mm),
                           ctypes.byref(self._input), destroy=call.gls_tracker_destroy)
        except BaseException:
            if self._own_device:
                self.device.close()
            raise
        self._handle = _Object(pointer, call.gls_tracker_destroy, contexts, self._input, self._stop_map, self._regions,
                               self._tissue, getattr(self, "_used", None), self.params)
        self._at_work = threading.Lock()

    def _use_series(self, dwi, qball, sphere, affine):
        if dwi is None or not isinstance(qball, QBall):
            raise ValueError("dg='boot' needs dwi and a QBall")
        series = Image(dwi, affine_of(dwi, default=affine), "dwi", 4)
        require_shape(series.array, self._stop_map.array, "dwi", "stop_map")
        if series.shape[3] != len(qball.gradients):
            raise ValueError("dwi has %d volumes, the gradient table %d" % (series.shape[3], len(qball.gradients)))
        sphere = sphere if isinstance(sphere, Sphere) else Sphere(sphere)
        self._used = (series, qball, sphere)
        self._input.dwi, self._input.gradients = series.pointer, qball.gradients.pointer
        self._input.qball, self._input.sphere = qball.pointer, sphere.pointer

    def _use_signals(self, dwi, gradients, affine):
        if dwi is None or not isinstance(gradients, Gradients):
            raise ValueError("dg='%s' needs dwi and Gradients" % self.params.dg)
        series = Image(dwi, affine_of(dwi, default=affine), "dwi", 4)
        require_shape(series.array, self._stop_map.array, "dwi", "stop_map")
        if series.shape[3] != len(gradients):
            raise ValueError("dwi has %d volumes, the gradient table %d" % (series.shape[3], len(gradients)))
        self._used = (series, gradients)
        self._input.dwi, self._input.gradients = series.pointer, gradients.pointer

    def _use_odf(self, odf, affine):
        if not isinstance(odf, ODF):
            raise ValueError("dg='%s' needs an ODF" % self.params.dg)
        require_shape(odf.image.array, self._stop_map.array, "odf", "stop_map")
        self._used = odf if odf.is_placed or not self._is_placed else odf._at(affine)
        self._input.odf = self._used.pointer

    def _use_peaks(self, peaks, affine):
        if peaks is None:
            raise ValueError("dg='%s' needs peaks" % self.params.dg)
        image = Image(peaks, affine_of(peaks, default=affine), "peaks", 4)
        require_shape(image.array, self._stop_map.array, "peaks", "stop_map")
        if image.shape[3] % 3:
            raise ValueError("peaks has %d volumes: three are needed for each peak" % image.shape[3])
        self._used = image
        self._input.peaks = image.pointer

    def _require_place(self, name, images, affine):
        """Refuses images that have an affine if the stop map has none: their place relative to it is not known."""
        for image in images if not self._is_placed else ():
            is_file = isinstance(image, str) and not _SPHERE.fullmatch(image)
            own = own_affine(image)
            if is_file or (own is not None and not is_same_affine(affine, own)):
                raise ValueError("%s: has an affine, but the stop map has none: give affine=" % name)

    def _make_regions(self, mask, regions, affine):
        inside = None if mask is None else Image(mask, affine_of(mask, default=affine), "mask")
        given = {name: value if isinstance(value, (list, tuple)) and not is_pair(value) else [value]
                 for name, value in {"mask": mask, **regions}.items() if value is not None}
        for name, entries in given.items():
            self._require_place(name, entries, affine)
        roles = {_REGION_ROLES[name]: entries for name, entries in given.items()}
        if not any(roles.values()):
            return None
        regions = _library.Handle(made(call.gls_regions_create, ctypes.byref(self.grid),
                                       destroy=call.gls_regions_destroy), call.gls_regions_destroy)
        if inside is not None:
            require_shape(inside.array, self._stop_map.array, "mask", "stop_map")
            call.gls_grid_require_equal(ctypes.byref(inside.grid), b"mask", ctypes.byref(self.grid), b"stop_map")
        for role, entries in sorted(roles.items()):
            for entry in entries:
                if isinstance(entry, str):
                    call.gls_regions_add(regions.pointer, role, encode(entry), _pointer(inside))
                else:
                    image = Image(entry, affine_of(entry, default=affine), "region")
                    call.gls_regions_add_image(regions.pointer, role, image.pointer, b"region", _pointer(inside))
        call.gls_regions_complete(regions.pointer)
        return regions

    def _make_tissue(self, tissue, rule, affine):
        rule = choice("act_rule", rule, "tissue_rule")
        precision = choice("precision", self.params.given.get("precision", "half"), "precision")
        if tissue is None:
            return None
        self._require_place("tissue", [tissue], affine)
        image = Image(tissue, affine_of(tissue, default=affine), "tissue", 4)
        return _library.Handle(made(call.gls_tissue_create, ctypes.byref(self.grid), image.pointer, b"tissue", rule,
                                    precision, destroy=call.gls_tissue_destroy), call.gls_tissue_destroy, image)

    def run(self, seeds: Any, sink: Optional[Callable[[Batch], None]] = None,
            progress: Optional[Callable[[int, int, int, int], Optional[bool]]] = None, space: str = "world") -> Result:
        """Tracks all seeds (Seeds, or an array (n, 3) in voxels). progress(seeds_done, seeds_total, streamlines,
        points) may return False to stop; it runs on another thread. If there is a sink, sink(batch) gets each Batch, and the
        result has no streamlines."""
        if space not in ("world", "voxel"):
            raise ValueError("space: '%s' is none of world, voxel" % space)
        collector = Collector() if sink is None else None
        target = Sink(collector if sink is None else sink)
        stats = self.run_to(target.struct, seeds, progress, target)
        return (collector or Collector()).result(stats, self.grid, space)

    def run_to(self, sink, seeds, progress=None, *may_raise):
        """Tracks all seeds into a sink of the library (a struct), and neither finishes nor aborts it. Returns stats."""
        tracker = self._handle.pointer
        seeds = seeds if isinstance(seeds, Seeds) else Seeds.points(seeds)
        result = structs["gls_track_result"]()
        handle = seeds._on(self.grid, self._is_placed)
        if handle is None:
            return stats_of(result)
        watch = _library.Watch(_PROGRESS, progress)
        try:
            watch.run(self._run_alone, tracker, handle.pointer, ctypes.byref(sink), watch.pointer, None,
                      ctypes.byref(result))
        except CancelledError:
            for cause in may_raise:
                cause.reraise()
            raise
        return stats_of(result)

    def _run_alone(self, *arguments):
        if not self._at_work.acquire(blocking=False):
            raise RuntimeError("the tracker is at work: it makes one run at a time")
        try:
            call.gls_tracker_run(*arguments)
        finally:
            self._at_work.release()

    def close(self) -> None:
        """Closes the tracker as soon as a run on another thread has ended."""
        self._handle.close()
        if self._own_device:
            self.device.close()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        self.close()
        return False
