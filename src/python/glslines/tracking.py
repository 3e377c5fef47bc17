"""Seeds, the tracker, and what a run gives."""

from __future__ import annotations

import base64
import ctypes
import operator
import os
import re
import tempfile
import threading
from typing import Any, Callable, Dict, Iterator, List, Literal, Optional, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import Image, affine_of, grid_like, is_pair, is_placed, is_same_affine, own_affine, reals, require_same_affine, require_shape
from ._errors import CancelledError, Error
from ._library import call, constants, encode, made, structs, utf8
from .devices import Device
from .models import ODF, Gradients, QBall, Sphere, _affine, _pointer, read_bedpostx, tensor_peaks
from .params import Params, choice

_TYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bool": np.bool_}


class Seeds:
    """Where streamlines start: `Seeds.random`, `Seeds.per_voxel` or `Seeds.points`.

    `len(seeds)`; iteration gives blocks of voxel coordinates (n, 3), voxel centres at whole numbers.
    """

    def __init__(self, handle=None, points=None, world=False, shape=None, grid=None, made_by=None):
        self._handle, self._points, self._world = handle, points, world
        self._shape, self._grid = shape, grid  # of the image in which they lie; grid: where its affine is known
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
        """n seeds in the voxels of roi (and mask) above 0, spread evenly over them."""
        return cls._in("random", call.gls_seeds_create_random, roi, n, 2**64 - 1, seed, mask, affine)

    @classmethod
    def per_voxel(cls, roi: Any, n: int, seed: int = 0, mask: Any = None,
                  affine: Optional[ArrayLike] = None) -> Seeds:
        """n seeds in each voxel of roi (and mask) above 0."""
        return cls._in("per_voxel", call.gls_seeds_create_per_voxel, roi, n, 2**32 - 1, seed, mask, affine)

    @classmethod
    def points(cls, xyz: ArrayLike, space: str = "voxel") -> Seeds:
        """A list (n, 3) of points, in voxels (centres at whole numbers) or in world mm."""
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
        """The library's list for a grid, placed where its affine is known; None if there is no seed."""
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
    """Those in which the library puts seeds."""
    return (region > 0) & np.isfinite(region)


def _seeds_in(method, bits, shape, affine, n, seed):
    voxels = np.unpackbits(bits, count=int(np.prod(shape))).reshape(shape)
    return method(voxels, n, seed, affine=affine)


def _column(column, rows):
    name = call.gls_type_name(column.type).decode()
    dtype = np.dtype(_TYPES.get(name, name))
    n = rows * column.components
    array = _copied(column.data, n, dtype)
    return array.reshape(rows, column.components) if column.components > 1 else array


def _copied(address, n, dtype):
    """n values of the library as an array of their own: those of the library end with the call that hands them over."""
    array = np.empty(n, dtype=dtype)
    if n:
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


class Batch:
    """Some streamlines: points float32 (P, 3) in world mm, offsets uint64 (N + 1), and columns by name: dps per
    streamline, dpv per point."""

    def __init__(self, struct):
        self.n = struct.n
        self.offsets = _copied(struct.offset, self.n + 1, np.uint64) if struct.offset else np.zeros(1, np.uint64)
        n_points = int(self.offsets[-1])
        self.points = _copied(struct.point, 3 * n_points, np.float32).reshape(-1, 3)
        self.dps = self._columns(struct.dps, struct.n_dps, self.n)
        self.dpv = self._columns(struct.dpv, struct.n_dpv, n_points)
        self.groups = self._columns(struct.group, struct.n_groups, self.n)

    @staticmethod
    def _columns(pointer, n, rows):
        if not n:
            return {}
        columns = (structs["gls_column"] * n).from_address(pointer)
        return {ctypes.string_at(column.name).decode(): _column(column, rows) for column in columns}

    def __len__(self) -> int:
        return self.n


_APPEND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Sink:
    """A function of batches as a sink of the library; what it raises comes through reraise()."""

    def __init__(self, function):
        self.exception = None

        def append(user, streamlines):
            try:
                with _library.called_back():
                    function(Batch(structs["gls_streamlines"].from_address(streamlines)))
                return constants["GLS_OK"]
            except BaseException as exception:  # nothing may pass through C
                self.exception = exception
                return constants["GLS_ERR_CANCELLED"]

        self._append = _APPEND(append)
        self.struct = structs["gls_sink"]()
        self.struct.append = ctypes.cast(self._append, ctypes.c_void_p).value
        self.struct.callback = self._append  # as long as the struct is in use

    def reraise(self):
        if self.exception is not None:
            raise self.exception


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64,
                             ctypes.c_uint64)


def stats_of(result):
    """A gls_track_result as a dict, with the counts of ends and verdicts by name."""
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


class Collector:
    """Batches in memory, joined at the end."""

    def __init__(self):
        self.points, self.lengths, self.dps, self.groups = [], [], {}, {}

    def __call__(self, batch):
        self.points.append(batch.points)
        self.lengths.append(np.diff(batch.offsets))
        for name, column in batch.dps.items():
            self.dps.setdefault(name, []).append(column)
        for name, column in batch.groups.items():
            self.groups.setdefault(name, []).append(column)

    def joined_groups(self):
        """Numbers of the streamlines of each group."""
        return {name: np.flatnonzero(np.concatenate(parts)) for name, parts in self.groups.items()}

    def joined(self):
        points = np.concatenate(self.points) if self.points else np.empty((0, 3), np.float32)
        self.points = []
        lengths = np.concatenate(self.lengths) if self.lengths else np.empty(0, np.uint64)
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:], dtype=np.int64)
        return points, offsets, {name: np.concatenate(parts) for name, parts in self.dps.items()}


class Result:
    """Streamlines and what the run did.

    points float32 (P, 3) in `space` ("world" mm, RAS+, or "voxel"); offsets int64 (N + 1): streamline i is
    points[offsets[i]:offsets[i + 1]]; dps: columns per streamline ("seeds" in world mm, "seed_index"); groups: numbers of
    the streamlines of each group; stats: counts and times.
    """

    points: NDArray[np.float32]
    offsets: NDArray[np.int64]
    dps: Dict[str, NDArray[Any]]
    groups: Dict[str, NDArray[np.int64]]
    stats: Dict[str, Any]

    def __init__(self, points, offsets, dps, stats, grid, space="world", groups=None):
        self.points, self.offsets, self.dps, self.stats = points, offsets, dps, stats
        self.space, self._grid, self.groups = space, grid, groups or {}
        if space == "voxel":
            inverse = np.linalg.inv(self.affine)
            self.points = (points @ inverse[:3, :3].T.astype(np.float64) + inverse[:3, 3]).astype(np.float32)

    @property
    def affine(self) -> NDArray[np.float64]:
        """From voxels to world mm, (4, 4)."""
        affine = np.eye(4)
        affine[:3] = np.array(self._grid.affine).reshape(3, 4)
        return affine

    @classmethod
    def from_arrays(cls, points: ArrayLike, offsets: ArrayLike, dps: Optional[Dict[str, NDArray[Any]]] = None,
                    ref: Any = None) -> Result:
        """Streamlines of any origin.

        Parameters
        ----------
        points : ndarray
            Points in world mm, RAS+, (P, 3); not copied where they are float32 in C order.
        offsets : array_like
            Streamline i is points[offsets[i]:offsets[i + 1]], (N + 1,).
        dps : dict, optional
            Columns with a row for each streamline.
        ref : image (file, nibabel's, or (array, affine)), or (shape, affine), optional
            The grid to which they belong.

        Returns
        -------
        Result
        """
        points = _points(points)
        offsets = np.ascontiguousarray(_offsets(offsets, len(points)), dtype=np.int64)
        for name, column in (dps or {}).items():
            _require_rows(name, np.asarray(column), len(offsets) - 1)
        grid = grid_like(ref if ref is not None else ((1, 1, 1), np.eye(4)))
        stats = {"streamlines": len(offsets) - 1, "points": len(points)}
        return cls(points, offsets, dict(dps or {}), stats, grid)

    def __repr__(self) -> str:
        return "<%s of %d streamlines, %d points, %s>" % (type(self).__name__, len(self), len(self.points), self.space)

    def _repr_html_(self) -> str:
        """A picture from above, from behind and from the left, as Jupyter shows it."""
        import html

        text = html.escape(repr(self))
        try:
            with tempfile.TemporaryDirectory(prefix="glslines-") as folder:
                from .pictures import render

                tracks, picture = os.path.join(folder, "tracks.trx"), os.path.join(folder, "picture.png")
                self.save(tracks)
                render(tracks, picture, max_streamlines=5000, fit="streamlines", tile="300x320", palette=True)
                with open(picture, "rb") as file:
                    data = base64.b64encode(file.read()).decode()
        except Error as error:
            return "<p>%s</p><p>%s</p>" % (text, html.escape(str(error)))
        return '<p>%s</p><img alt="%s" src="data:image/png;base64,%s">' % (text, text, data)

    @property
    def seed_index(self) -> Optional[NDArray[Any]]:
        """Of each streamline the index of its seed."""
        return self.dps.get("seed_index")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, i: int) -> NDArray[np.float32]: ...

    @overload
    def __getitem__(self, i: Union[slice, List[int], NDArray[Any]]) -> List[NDArray[np.float32]]: ...

    def __getitem__(self, i: Union[int, slice, List[int], NDArray[Any]]) -> Union[NDArray[np.float32], List[NDArray[np.float32]]]:
        if isinstance(i, (slice, list)) or (isinstance(i, np.ndarray) and i.ndim > 0):
            return [self[int(k)] for k in np.arange(len(self))[i]]
        k = operator.index(i)
        if not -len(self) <= k < len(self):
            raise IndexError("streamline %d of %d" % (k, len(self)))
        k %= len(self)
        return self.points[self.offsets[k]:self.offsets[k + 1]]

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return (self[i] for i in range(len(self)))

    def as_list(self) -> List[NDArray[np.float32]]:
        """A list of arrays, views of points."""
        return list(self)

    @property
    def streamlines(self) -> Any:
        """array_sequence(), by the name that tractograms of nibabel and DIPY give it."""
        return self.array_sequence()

    def array_sequence(self) -> Any:
        """nibabel's ArraySequence over the same points, not copied."""
        from nibabel.streamlines import ArraySequence

        sequence = ArraySequence()
        sequence._data = self.points
        sequence._offsets = self.offsets[:-1].copy()
        sequence._lengths = np.diff(self.offsets)
        return sequence

    def to_nibabel(self) -> Any:
        """A nibabel Tractogram, with seeds as data per streamline."""
        from nibabel.streamlines import Tractogram

        affine = np.eye(4) if self.space == "world" else self.affine
        return Tractogram(self.array_sequence(), data_per_streamline=self._two_dimensional(), affine_to_rasmm=affine)

    def to_stateful(self, ref: Any = None) -> Any:
        """A DIPY StatefulTractogram for a reference image (default: the grid that was tracked)."""
        import nibabel
        from dipy.io.stateful_tractogram import Space, StatefulTractogram

        if ref is None:
            ref = nibabel.Nifti1Image(np.zeros(tuple(self._grid.dim), np.uint8), self.affine)
        space = Space.RASMM if self.space == "world" else Space.VOX
        return StatefulTractogram(self.array_sequence(), ref, space, data_per_streamline=self._two_dimensional())

    def _two_dimensional(self):
        return {name: column.reshape(len(self), -1) for name, column in self.dps.items()}

    def save(self, path: Union[str, os.PathLike[str]], ref: Any = None, half: bool = False,
             overwrite: bool = False) -> None:
        """Writes TRX, TRK or TCK by the suffix. ref: image (file, nibabel's, or (array, affine)), or (shape,
        affine), to which the streamlines belong (default: the grid that was tracked)."""
        points = self.points
        if self.space == "voxel":
            points = points @ self.affine[:3, :3].T + self.affine[:3, 3]
        grid = self._grid if ref is None else grid_like(ref)
        writer_sink = Writer(path, grid, half, overwrite).sink
        try:
            append(writer_sink, points, self.offsets, self.dps)
        except BaseException:
            call.gls_sink_abort(ctypes.byref(writer_sink))
            raise
        call.gls_sink_finish(ctypes.byref(writer_sink))


class Writer:
    """A file that is being written, as a sink that has to be finished or aborted."""

    def __init__(self, path, grid, half=False, overwrite=False):
        format_ = ctypes.c_int()
        call.gls_tractogram_format_parse(encode(path), ctypes.byref(format_))
        options = call.gls_tractogram_options_default()
        options.precision = constants["GLS_PRECISION_HALF" if half else "GLS_PRECISION_FLOAT"]
        options.overwrite = bool(overwrite)
        writer = made(call.gls_tractogram_writer_create, encode(path), format_, ctypes.byref(grid),
                      ctypes.byref(options), destroy=self._abort)
        self.sink = call.gls_tractogram_writer_sink(writer)

    @staticmethod
    def _abort(writer):
        call.gls_sink_abort(ctypes.byref(call.gls_tractogram_writer_sink(writer)))


def _points(points: ArrayLike) -> NDArray[np.float32]:
    array = np.ascontiguousarray(points, dtype=np.float32)
    if array.size == 0:
        return array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError("points have the shape (n, 3), not %s" % (array.shape,))
    return array


def _offsets(offsets, n_points):
    array = np.asarray(offsets)
    if (array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu" or array[0] != 0 or
            array[-1] != n_points or (array[1:] < array[:-1]).any()):
        raise ValueError("offsets are whole numbers that rise from 0 to %d, the number of points" % n_points)
    return array


def _require_rows(name, column, n):
    if not isinstance(name, str):
        raise ValueError("dps: %r is no name of a column" % (name,))
    if column.ndim not in (1, 2) or len(column) != n:
        raise ValueError("dps %s: a row for each of %d streamlines is needed, the shape is %s" % (name, n, column.shape))


def append(sink, points, offsets, dps):
    """Hands arrays to a sink."""
    points = np.require(_points(points), np.float32, "CA")
    offsets = np.require(_offsets(offsets, len(points)), np.uint64, "CA")
    types = {np.dtype(_TYPES.get(name[9:].lower(), name[9:].lower())): value
             for name, value in constants.items() if name.startswith("GLS_TYPE_")}
    columns = (structs["gls_column"] * max(1, len(dps)))()
    keep = []
    for column, (name, values) in zip(columns, dps.items()):
        values = np.require(values, requirements="CA")
        if values.dtype not in types:
            raise ValueError("dps %s: values of the type %s cannot be kept" % (name, values.dtype))
        _require_rows(name, values, len(offsets) - 1)
        text = ctypes.create_string_buffer(utf8(name))
        keep += [values, text]
        column.name = ctypes.addressof(text)
        column.type = types[values.dtype]
        column.components = values.shape[1] if values.ndim > 1 else 1
        column.data = values.ctypes.data
    struct = structs["gls_streamlines"]()
    struct.n = len(offsets) - 1
    struct.offset, struct.point = offsets.ctypes.data, points.ctypes.data
    struct.n_dps, struct.dps = len(dps), ctypes.addressof(columns)
    call.gls_sink_append(ctypes.byref(sink), ctypes.byref(struct))


# "include": 0 ... by the library's own list
_REGION_ROLES = {name[len("GLS_REGION_"):].lower(): value
                 for name, value in sorted(constants.items()) if name.startswith("GLS_REGION_")}
_SPHERE = re.compile(r"[-+.,\deE\s]+")  # x,y,z,radius: any other text of a region names a file


class _Object(_library.OfProcess, _library.Handle):
    kind = "tracker"


class Tracker(_library.OfProcess):
    """Tracks on arrays in memory; a context manager. `Tracker(device, params, stop_map=fa, odf=odf).run(seeds)`.

    device: a Device, or what Device takes. stop_map (x, y, z): streamlines end where it is at or below the parameter
    fa_threshold. For dg="boot": dwi (x, y, z, n), qball and its gradients, and a sphere. For prob, det, closest, ptt and
    ifod1, ifod2, sdstream: odf. For fact and eudx: peaks (x, y, z, 3 n), vectors along the voxel axes whose length is the
    amplitude, 0 or nan where there is none. For tensordet and tensorprob, and for eudx along tensors: dwi and gradients.
    For bedpost: bedpostx, a folder of FSL's bedpostX, whose nodif_brain_mask is then the default of mask and stop_map;
    a folder without it needs the name of a file as mask. nulldist1, nulldist2 and seedtest look at the stop map alone.
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
                 include_ordered: Any = None, exclude: Any = None, tracking_mask: Any = None, stop_at: Any = None, stop_leaving: Any = None,
                 include_end: Any = None, include_both_ends: Any = None, exclude_end: Any = None,
                 tissue: Any = None, tissue_rule: Optional[str] = None) -> None:
        regions = {name: value for name, value in locals().items() if name in _REGION_ROLES and name != "mask"}
        self._own_device = not isinstance(device, Device)
        # the getter follows from what is given, as with `glslines track`
        given = dict(params.given) if params is not None else {}
        given.setdefault("dg", "bedpost" if bedpostx is not None else "fact" if peaks is not None else
                         "boot" if odf is None else "prob")
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
        """Images on any grid lie right only where the tracker's place in space is known."""
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
        points) may return False to stop, and runs on another thread; sink(batch) gets each
        Batch in place of the result's arrays."""
        if space not in ("world", "voxel"):
            raise ValueError("space: '%s' is none of world, voxel" % space)
        collector = Collector() if sink is None else None
        target = Sink(collector if sink is None else sink)
        stats = self.run_to(target.struct, seeds, progress, target)
        points, offsets, dps = (collector or Collector()).joined()
        return Result(points, offsets, dps, stats, self.grid, space)

    def run_to(self, sink, seeds, progress=None, *may_raise):
        """The same to a sink of the library (a struct), which is neither finished nor aborted; returns stats."""
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
        """Closes it, once a run on another thread has ended."""
        self._handle.close()
        if self._own_device:
            self.device.close()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        self.close()
        return False
