"""Holds streamlines in memory: batches from the library, and results of runs and files. Writes results to files, and converts
them to the tractograms of other packages."""

from __future__ import annotations

import base64
import ctypes
import operator
import os
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import grid_like, is_pair, numbers
from ._errors import Error, FormatWarning
from ._library import call, constants, encode, made, structs, utf8
from ._names import nearest_in

PathLike = Union[str, "os.PathLike[str]"]
#: for each group, its values by name
GroupData = Dict[str, Dict[str, NDArray[Any]]]
_NUMPY_NAMES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bool": np.bool_}
#: for each type of numpy, its number in the library
_TYPES = {np.dtype(_NUMPY_NAMES.get(name[9:].lower(), name[9:].lower())): value
          for name, value in constants.items() if name.startswith("GLS_TYPE_")}
_DTYPES = {value: dtype for dtype, value in _TYPES.items()}


def _column(column, rows):
    array = _copied(column.data, rows * column.components, _DTYPES[column.type])
    return array.reshape(rows, column.components) if column.components > 1 else array


def _copied(address, n, dtype):
    """Returns a copy of n values at an address. The library frees the values after the call that hands them over."""
    array = np.empty(n, dtype=dtype)
    if n:
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


def group_data(info):
    """Returns the values that belong to whole groups in a gls_tractogram_info."""
    found: GroupData = {}
    rows = (structs["gls_group_data"] * info.n_dpg).from_address(info.dpg) if info.n_dpg else []
    for row in rows:
        group, name = (ctypes.string_at(text).decode() for text in (row.group, row.column.name))
        found.setdefault(group, {})[name] = _column(row.column, 1).ravel()
    return found


class Batch:
    """A block of streamlines: points float32 (P, 3) in world mm, offsets uint64 (N + 1), and columns by name: dps with a row for
    each streamline, dpv with a row for each point, groups with True for each member."""

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


class Collector:
    """Collects batches in memory, and joins them at the end."""

    def __init__(self):
        self._batches = []
        self._empty = {"dps": {}, "dpv": {}, "groups": {}}

    def __call__(self, batch):
        self._batches.append(batch)

    def expect(self, info):
        """Notes the columns and groups of a gls_tractogram_info, so that the result has them even if no streamline comes."""
        for kind in self._empty:
            pointer, n = getattr(info, kind.rstrip("s") if kind == "groups" else kind), getattr(info, "n_" + kind)
            self._empty[kind] = Batch._columns(pointer, n, 0)

    def _joined(self, kind):
        columns = dict(self._empty[kind])
        if self._batches:
            columns = {name: np.concatenate([getattr(batch, kind)[name] for batch in self._batches])
                       for name in getattr(self._batches[0], kind)}
        return columns

    def result(self, stats, grid, space="world", dpg=None):
        """Joins the batches into a Result. stats: counts and times of the run; None: only count streamlines and points."""
        lengths = [np.diff(batch.offsets) for batch in self._batches]
        points = np.concatenate([batch.points for batch in self._batches]) if lengths else np.empty((0, 3), np.float32)
        for batch in self._batches:
            del batch.points
        offsets = np.zeros(sum(map(len, lengths)) + 1, dtype=np.int64)
        np.cumsum(np.concatenate(lengths) if lengths else [], out=offsets[1:], dtype=np.int64)
        groups = {name: np.flatnonzero(members) for name, members in self._joined("groups").items()}
        return Result(points, offsets, self._joined("dps"), stats, grid, space, groups, self._joined("dpv"), dpg)


@nearest_in
class Result:
    """Streamlines and what the run did.

    points float32 (P, 3) in `space` ("world" mm, RAS+, or "voxel"); offsets int64 (N + 1): streamline i is
    points[offsets[i]:offsets[i + 1]]. By name: dps, columns with a row for each streamline ("seeds" in world mm,
    "seed_index"); dpv, columns with a row for each point; groups, the numbers of the streamlines of each group; dpg, for
    each group the values that belong to it as a whole. stats: counts and times.

    result[3] is a streamline; result[3:9], result[[1, 4]] and result[mask] are results, with columns and groups of those
    streamlines. result + other has the streamlines of both.
    """

    points: NDArray[np.float32]
    offsets: NDArray[np.int64]
    dps: Dict[str, NDArray[Any]]
    dpv: Dict[str, NDArray[Any]]
    groups: Dict[str, NDArray[np.int64]]
    dpg: GroupData
    stats: Dict[str, Any]

    def __init__(self, points, offsets, dps, stats, grid, space="world", groups=None, dpv=None, dpg=None):
        self.points, self.offsets, self.dps, self.dpv = points, offsets, dps, dpv or {}
        self.stats = {"streamlines": len(offsets) - 1, "points": len(points)} if stats is None else stats
        self.space, self._grid, self.groups, self.dpg = space, grid, groups or {}, dpg or {}
        if space == "voxel":
            inverse = np.linalg.inv(self.affine)
            self.points = (points @ inverse[:3, :3].T.astype(np.float64) + inverse[:3, 3]).astype(np.float32)

    @property
    def affine(self) -> NDArray[np.float64]:
        """The affine from voxels to world mm, (4, 4)."""
        affine = np.eye(4)
        affine[:3] = np.array(self._grid.affine).reshape(3, 4)
        return affine

    @classmethod
    def from_arrays(cls, points: ArrayLike, offsets: ArrayLike, dps: Optional[Mapping[str, ArrayLike]] = None, ref: Any = None,
                    dpv: Optional[Mapping[str, ArrayLike]] = None, groups: Optional[Mapping[str, ArrayLike]] = None,
                    dpg: Optional[Mapping[str, Mapping[str, ArrayLike]]] = None) -> Result:
        """Makes a Result from arrays, whatever program made them.

        Parameters
        ----------
        points : ndarray
            Points in world mm, RAS+, (P, 3). They are not copied if they are float32 in C order.
        offsets : array_like
            Streamline i is points[offsets[i]:offsets[i + 1]], (N + 1,).
        dps : dict, optional
            Columns with a row for each streamline.
        ref : image (file, nibabel's, or (array, affine)), or (shape, affine), optional
            The grid to which the streamlines belong.
        dpv : dict, optional
            Columns with a row for each point.
        groups : dict, optional
            For each group the numbers of its streamlines.
        dpg : dict of dict, optional
            For each group the values that belong to it as a whole.

        Returns
        -------
        Result
        """
        points = points_of(points)
        offsets = np.ascontiguousarray(_offsets(offsets, len(points)), dtype=np.int64)
        rows = {"dps": len(offsets) - 1, "dpv": len(points)}
        columns = {kind: {name: _values(kind, name, column, rows[kind]) for name, column in _named(kind, given).items()}
                   for kind, given in (("dps", dps), ("dpv", dpv))}
        members = {name: _members(name, given, len(offsets) - 1) for name, given in _named("groups", groups).items()}
        whole = {group: {name: _values("dpg", name, np.ravel(value)[np.newaxis], 1)[0] for name, value in _named("dpg", given).items()}
                 for group, given in _named("dpg", dpg).items()}
        _require_groups(members, whole)
        grid = grid_like(ref if ref is not None else ((1, 1, 1), np.eye(4)))
        return cls(points, offsets, columns["dps"], None, grid, "world", members, columns["dpv"], whole)

    def __repr__(self) -> str:
        return "<%s of %d streamlines, %d points, %s>" % (type(self).__name__, len(self), len(self.points), self.space)

    def _repr_html_(self) -> str:
        """Draws the streamlines from above, from behind and from the left, for Jupyter."""
        import html

        text = html.escape(repr(self))
        try:
            with tempfile.TemporaryDirectory(prefix="glslines-") as folder:
                from .pictures import render

                tracks, picture = os.path.join(folder, "tracks.trx"), os.path.join(folder, "picture.png")
                bare = Result(self._in_world(), self.offsets, {}, {}, self._grid)
                bare.save(tracks)
                render(tracks, picture, max_streamlines=5000, fit="streamlines", tile="300x320", palette=True)
                with open(picture, "rb") as file:
                    data = base64.b64encode(file.read()).decode()
        except Error as error:
            return "<p>%s</p><p>%s</p>" % (text, html.escape(str(error)))
        return '<p>%s</p><img alt="%s" src="data:image/png;base64,%s">' % (text, text, data)

    @property
    def seed_index(self) -> Optional[NDArray[Any]]:
        """The index of the seed of each streamline."""
        return self.dps.get("seed_index")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, i: int) -> NDArray[np.float32]: ...

    @overload
    def __getitem__(self, i: Union[slice, List[int], List[bool], NDArray[Any]]) -> Result: ...

    def __getitem__(self, i: Union[int, slice, List[int], List[bool], NDArray[Any]]) -> Union[NDArray[np.float32], Result]:
        if isinstance(i, (slice, list)) or (isinstance(i, np.ndarray) and i.ndim > 0):
            return self._part(np.arange(len(self))[i if not isinstance(i, list) or i else slice(0)])
        k = operator.index(i)
        if not -len(self) <= k < len(self):
            raise IndexError("streamline %d of %d" % (k, len(self)))
        k %= len(self)
        return self.points[self.offsets[k]:self.offsets[k + 1]]

    def _part(self, chosen):
        """Returns the streamlines with these numbers, in this order."""
        if chosen.ndim != 1:
            raise IndexError("streamlines are chosen by an index of one dimension, not of %d" % chosen.ndim)
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths)
        part = Result(self.points[rows], offsets, {name: np.asarray(c)[chosen] for name, c in self.dps.items()}, None, self._grid)
        part.space, part.dpg = self.space, {group: dict(values) for group, values in self.dpg.items()}
        part.dpv = {name: np.asarray(column)[rows] for name, column in self.dpv.items()}
        part.groups = {name: np.flatnonzero(_is_member(name, members, len(self))[chosen]) for name, members in self.groups.items()}
        return part

    def __add__(self, other: Result) -> Result:
        """Joins the streamlines of two results, which need the same columns and grid. Groups of the same name become one group."""
        if not isinstance(other, Result):
            return NotImplemented
        if not len(self) or not len(other):  # files without streamlines have no columns
            return (other if not len(self) else self)[:]
        for kind in ("dps", "dpv"):
            alone = set(getattr(self, kind)) ^ set(getattr(other, kind))
            if alone:
                raise ValueError("%s: both need the same columns, and one alone has %s" % (kind, ", ".join(sorted(alone))))
        grid = other._grid if tuple(self._grid.dim) == (1, 1, 1) else self._grid
        if tuple(other._grid.dim) != (1, 1, 1):
            call.gls_grid_require_equal(ctypes.byref(grid), b"the first", ctypes.byref(other._grid), b"the second")
        columns = {kind: {name: np.concatenate([column, getattr(other, kind)[name]]) for name, column in getattr(self, kind).items()}
                   for kind in ("dps", "dpv")}
        groups = {name: np.concatenate([self.groups.get(name, np.empty(0, np.int64)),
                                        np.asarray(other.groups.get(name, np.empty(0, np.int64))) + len(self)])
                  for name in {**self.groups, **other.groups}}
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        points = np.concatenate([self._in_world(), other._in_world()])
        return Result(points, offsets, columns["dps"], None, grid, self.space, groups, columns["dpv"], _both(self.dpg, other.dpg))

    def _in_world(self):
        if self.space == "world":
            return self.points
        return (self.points @ self.affine[:3, :3].T + self.affine[:3, 3]).astype(np.float32)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return (self[i] for i in range(len(self)))

    def as_list(self) -> List[NDArray[np.float32]]:
        """Returns a list of arrays, one for each streamline; they are views of points."""
        return list(self)

    @property
    def streamlines(self) -> Any:
        """The same as array_sequence(), under the name that tractograms of nibabel and DIPY use."""
        return self.array_sequence()

    def array_sequence(self) -> Any:
        """Returns an ArraySequence of nibabel over the same points, without a copy."""
        return self._sequence(self.points)

    def _sequence(self, rows):
        from nibabel.streamlines import ArraySequence

        sequence = ArraySequence()
        sequence._data = rows
        sequence._offsets = self.offsets[:-1].copy()
        sequence._lengths = np.diff(self.offsets)
        return sequence

    def _columns_of_nibabel(self, package):
        """Returns the columns as data per streamline and per point. A warning names the groups, for which the
        package has no place."""
        self._warn("tractograms of " + package, ["group " + name for name in self.groups] + _names_of(self.dpg))

        def table(column):  # -1 in place of the product would fail without streamlines
            return np.reshape(column, (len(column), int(np.prod(np.shape(column)[1:]))))

        return {"data_per_streamline": {name: table(column) for name, column in self.dps.items()},
                "data_per_point": {name: self._sequence(table(column)) for name, column in self.dpv.items()}}

    @staticmethod
    def _warn(where: str, lost: Sequence[str]) -> None:
        if lost:
            warnings.warn("%s cannot hold %s" % (where, ", ".join(lost)), FormatWarning, stacklevel=5)

    def to_nibabel(self) -> Any:
        """Returns a Tractogram of nibabel, with the columns as data per streamline and per point. It has no groups: a FormatWarning
        names those that are left out."""
        from nibabel.streamlines import Tractogram

        affine = np.eye(4) if self.space == "world" else self.affine
        return Tractogram(self.array_sequence(), affine_to_rasmm=affine, **self._columns_of_nibabel("nibabel"))

    def to_stateful(self, ref: Any = None) -> Any:
        """Returns a StatefulTractogram of DIPY, with the columns as data per streamline and per point. ref: the reference image; by
        default, the grid that was tracked. It has no groups: a FormatWarning names those that are left out."""
        import nibabel
        from dipy.io.stateful_tractogram import Space, StatefulTractogram

        if ref is None or is_pair(ref):
            grid = self._grid if ref is None else grid_like(ref)
            ref = nibabel.Nifti1Image(np.zeros(tuple(grid.dim), np.uint8), self.affine if ref is None else ref[1])
        if not isinstance(ref, (str, os.PathLike)) and not any(hasattr(ref, name) for name in ("affine", "get_best_affine", "header")):
            raise TypeError("ref: a file, an image of nibabel or a pair (array, affine) is needed, not %s" % type(ref).__name__)
        space = Space.RASMM if self.space == "world" else Space.VOX
        return StatefulTractogram(self.array_sequence(), ref, space, **self._columns_of_nibabel("DIPY"))

    def to_trx(self) -> Any:
        """Returns a TrxFile of trx-python in world mm, with all columns and groups. It is mapped from a temporary file, which is
        removed with it."""
        from trx.io import get_trx_tmp_dir

        folder = get_trx_tmp_dir()
        path = os.path.join(folder.name, "streamlines.trx")
        self.save(path)
        return mapped(path, folder)

    def save(self, path: PathLike, ref: Any = None, half: bool = False, overwrite: bool = False) -> None:
        """Writes a tractogram with its columns and groups; the suffix decides on the format: TRX, TRK, TCK or VTK. A FormatWarning
        names the columns and groups that the format cannot hold; TRX holds all.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        ref : image (file, nibabel's, or (array, affine)), or (shape, affine), optional
            The grid to which the streamlines belong. Default: the grid that was tracked.
        half : bool, optional
            Write positions as float16; only for TRX.
        overwrite : bool, optional
            Replace a file that exists.
        """
        grid = self._grid if ref is None else grid_like(ref)
        _require_groups(self.groups, self.dpg)
        writer = Writer(path, grid, half, overwrite, self.dpg)
        try:
            writer.append(self._in_world(), self.offsets, self.dps, self.dpv, self.groups)
            lost = writer.lost
        except BaseException:
            call.gls_sink_abort(ctypes.byref(writer.sink))
            raise
        call.gls_sink_finish(ctypes.byref(writer.sink))
        if lost:
            warnings.warn("%s: its format cannot hold %s" % (os.fspath(path), lost), FormatWarning, stacklevel=3)


def mapped(path, folder):
    """Returns a TrxFile of a file in a temporary folder. The TrxFile keeps the folder."""
    from trx.trx_file_memmap import load

    trx = load(path)
    trx._uncompressed_folder_handle = folder
    return trx


def _names_of(dpg):
    return ["dpg %s/%s" % (group, name) for group, values in dpg.items() for name in values]


def _both(dpg, other):
    """Joins the data of groups of two results. A value that differs between the two is left out, with a warning."""
    both = {group: dict(values) for group, values in dpg.items()}
    for group, values in other.items():
        for name, value in values.items():
            if not np.array_equal(both.setdefault(group, {}).setdefault(name, value), value):
                del both[group][name]
                warnings.warn("dpg %s/%s: differs between the two, and is left out" % (group, name), FormatWarning, stacklevel=3)
    return both


class Writer:
    """Writes a tractogram file through its sink, which the caller has to finish or abort."""

    def __init__(self, path, grid, half=False, overwrite=False, dpg=None):
        format_ = ctypes.c_int()
        call.gls_tractogram_format_parse(encode(path), ctypes.byref(format_))
        options = call.gls_tractogram_options_default()
        options.precision = constants["GLS_PRECISION_HALF" if _library.switch(half, "half") else "GLS_PRECISION_FLOAT"]
        options.overwrite = _library.switch(overwrite, "overwrite")
        self._keep = []
        rows = [(group, name, value) for group, values in (dpg or {}).items() for name, value in values.items()]
        self._dpg = (structs["gls_group_data"] * max(1, len(rows)))()
        for row, (group, name, value) in zip(self._dpg, rows):
            row.group = self._text("dpg", group)
            row.column = self._column("dpg", name, np.reshape(value, (1, -1)), 1)
        options.dpg, options.n_dpg = ctypes.addressof(self._dpg), len(rows)
        self._pointer = made(call.gls_tractogram_writer_create, encode(path), format_, ctypes.byref(grid),
                             ctypes.byref(options), destroy=self._abort)
        self.sink = call.gls_tractogram_writer_sink(self._pointer)

    @staticmethod
    def _abort(writer):
        call.gls_sink_abort(ctypes.byref(call.gls_tractogram_writer_sink(writer)))

    @property
    def lost(self) -> str:
        """The names of the columns and groups that the format cannot hold."""
        return (call.gls_tractogram_writer_lost(self._pointer) or b"").decode(errors="replace")

    def _text(self, kind, name):
        if not isinstance(name, str):
            raise ValueError("%s: %r is no name" % (kind, name))
        text = ctypes.create_string_buffer(utf8(name))
        self._keep.append(text)
        return ctypes.addressof(text)

    def _column(self, kind, name, values, n):
        """Makes a column of the library over the values. The values are kept until the file is written."""
        column = structs["gls_column"]()
        column.name = self._text(kind, name)
        values = np.require(_values(kind, name, values, n), requirements="CA")
        self._keep.append(values)
        column.type, column.data = _TYPES[values.dtype], values.ctypes.data
        column.components = values.shape[1] if values.ndim > 1 else 1
        return column

    def append(self, points, offsets, dps, dpv, groups):
        points = np.require(points_of(points), np.float32, "CA")
        offsets = np.require(_offsets(offsets, len(points)), np.uint64, "CA")
        n = len(offsets) - 1
        struct = structs["gls_streamlines"]()
        struct.n, struct.offset, struct.point = n, offsets.ctypes.data, points.ctypes.data
        member = {name: _is_member(name, members, n) for name, members in groups.items()}
        tables = []
        for kind, at, columns, rows in (("dps", "dps", dps, n), ("dpv", "dpv", dpv, len(points)), ("groups", "group", member, n)):
            table = (structs["gls_column"] * max(1, len(columns)))(*(self._column(kind, *item, rows) for item in columns.items()))
            tables.append(table)
            setattr(struct, "n_" + kind, len(columns))
            setattr(struct, at, ctypes.addressof(table))
        call.gls_sink_append(ctypes.byref(self.sink), ctypes.byref(struct))


def points_of(points: ArrayLike) -> NDArray[np.float32]:
    """Returns points as float32, (n, 3)."""
    array = numbers(points, "points", np.float32)
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


def _named(kind, given):
    if given is not None and not isinstance(given, Mapping):
        raise TypeError("%s: a dict is needed, not %s" % (kind, type(given).__name__))
    return dict(given or {})


def _values(kind, name, column, n):
    """Returns a column of n rows, in this machine's byte order. Refuses types that the library does not have."""
    if not isinstance(name, str):
        raise ValueError("%s: %r is no name of a column" % (kind, name))
    if np.ma.is_masked(column):
        raise ValueError("%s %s: a masked array; the values behind its mask would count: give filled(0) of it" % (kind, name))
    array = np.asarray(column)
    if array.ndim not in (1, 2) or len(array) != n:
        raise ValueError("%s %s: a row for each of %d %s is needed, the shape is %s"
                         % (kind, name, n, "points" if kind == "dpv" else "streamlines", array.shape))
    if array.dtype.newbyteorder("=") not in _TYPES:
        raise ValueError("%s %s: values of the type %s cannot be kept" % (kind, name, array.dtype))
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _members(name, given, n):
    """Returns the numbers of the streamlines of a group as int64. Refuses numbers outside 0 to n - 1."""
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or (array.size and not 0 <= array.min() <= array.max() < n):
        raise ValueError("groups: %s needs the numbers of its streamlines, from 0 to %d" % (name, n - 1))
    return array.astype(np.int64)


def _is_member(name, members, n):
    """Returns an array of n values, True for each streamline of the group."""
    member = np.zeros(n, np.bool_)
    member[_members(name, members, n)] = True
    return member


def _require_groups(groups, dpg):
    absent = [group for group in dpg if group not in groups]
    if absent:
        raise ValueError("dpg: there is no group %s" % absent[0])
