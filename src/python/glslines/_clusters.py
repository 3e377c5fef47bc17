"""Finds clusters and neighbours of arrays of points with the library."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._library import call, constants, made, structs

#: number of streamlines that the library gets at a time
_BLOCK = 16384
#: clusters of streamlines: for each streamline the number of its cluster, and the centroids, (n, points, 3)
Clusters = Tuple[NDArray[np.uint32], NDArray[np.float32]]


def block_of(streamlines: Sequence[Any]) -> Tuple[Any, List[Any]]:
    """All streamlines as a struct, and the arrays that it points to."""
    return _blocks(streamlines, 0, len(streamlines))


def _blocks(streamlines: Sequence[Any], first: int, most: int = _BLOCK) -> Tuple[Any, List[Any]]:
    """Streamlines from number `first` on as a struct, and the arrays that it points to."""
    lines = [np.asarray(streamlines[i], dtype=np.float32) for i in range(first, min(first + most, len(streamlines)))]
    for i, line in enumerate(lines):
        if line.ndim != 2 or line.shape[1] != 3:
            raise ValueError("streamline %d has the shape %s, not (n, 3)" % (first + i, line.shape))
    offset = np.zeros(len(lines) + 1, dtype=np.uint64)
    np.cumsum([len(line) for line in lines], out=offset[1:])
    point = np.ascontiguousarray(np.concatenate(lines) if lines else np.zeros((0, 3)), dtype=np.float32)
    block = structs["gls_streamlines"](n=len(lines), offset=offset.ctypes.data, point=point.ctypes.data)
    return block, [offset, point]


def find(streamlines: Sequence[Any], thresholds: Sequence[float], method: str, points: int, reverse: str,
         ordering: Optional[Sequence[int]] = None, max_clusters: Optional[int] = None,
         last: bool = False) -> List[Clusters]:
    """Returns a list of clusters: one entry for each threshold of a tree (method QUICKBUNDLESX), or one for the only threshold.
    last: return only the entry of the last threshold.

    points: number of points to which streamlines are resampled; 0: they keep their points. reverse: RESAMPLED or COPIED."""
    options = call.gls_cluster_options_default()
    levels = np.ascontiguousarray(thresholds, dtype=np.float64)
    options.method = constants["GLS_CLUSTER_" + method]
    options.threshold, options.n_thresholds = levels.ctypes.data, len(levels)
    options.points, options.reverse = points, constants["GLS_CLUSTER_REVERSE_" + reverse]
    if max_clusters is not None:
        options.max_clusters = max_clusters
    if ordering is not None:
        order = np.asarray(list(ordering), dtype=np.int64)
        if (order < 0).any():
            raise IndexError("ordering: %d is no number of a streamline" % order.min())
        order = order.astype(np.uint64)
        options.order = constants["GLS_CLUSTER_ORDER_LIST"]
        options.list, options.n_list = order.ctypes.data, len(order)
    pointer = made(call.gls_clusters_create, ctypes.byref(options), destroy=call.gls_clusters_destroy)
    handle = _library.Handle(pointer, call.gls_clusters_destroy)
    append(call.gls_clusters_sink(handle.pointer), streamlines)
    call.gls_clusters_complete(handle.pointer)
    found = []
    for level in range(len(levels) - 1 if last else 0, len(levels)):
        if method == "QUICKBUNDLESX":
            call.gls_clusters_set_level(handle.pointer, level)
        found.append(_taken(handle.pointer, len(streamlines)))
    return found


class Draws:
    """A generator of numpy as the source of random choices of the library."""

    def __init__(self, rng: Any) -> None:
        self._raised: Optional[BaseException] = None

        @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p)
        def draw(user: Any, n: int, k: int, out: Any) -> None:
            try:
                drawn = np.ascontiguousarray(rng.choice(n, k, replace=False), dtype=np.uint64)
                ctypes.memmove(out, drawn.ctypes.data, 8 * k)
            except BaseException as exception:
                self._raised = exception

        self._draw = draw
        self._struct = structs["gls_draws"](draw=ctypes.cast(draw, ctypes.c_void_p))
        self.address = ctypes.addressof(self._struct)

    def run(self, function: Any, *arguments: Any) -> Any:
        """Calls a function of the library, which draws. What the generator raises comes out."""
        self._raised = None
        try:
            return function(*arguments)
        finally:
            if self._raised is not None:
                raise self._raised


def append(sink: Any, streamlines: Sequence[Any]) -> None:
    """Hands streamlines to a sink of the library."""
    for first in range(0, len(streamlines), _BLOCK):
        block, arrays = _blocks(streamlines, first)
        call.gls_sink_append(ctypes.byref(sink), ctypes.byref(block))
        del arrays


def merged(streamlines: Sequence[Any], thresholds: Sequence[float], points: int, rng: Any,
           most: Optional[int] = None) -> Tuple[List[List[int]], NDArray[np.float32]]:
    """The members of merged clusters, in DIPY's order, and the centroids. most: number of streamlines that are taken."""
    options, draws = call.gls_cluster_options_default(), Draws(rng)
    levels = np.ascontiguousarray(thresholds, dtype=np.float64)
    options.method, options.order = constants["GLS_CLUSTER_MERGED"], constants["GLS_CLUSTER_ORDER_RANDOM"]
    options.threshold, options.n_thresholds = levels.ctypes.data, len(levels)
    options.points, options.reverse = points, constants["GLS_CLUSTER_REVERSE_COPIED"]
    options.draws, options.most = draws.address, most or 0
    pointer = made(call.gls_clusters_create, ctypes.byref(options), destroy=call.gls_clusters_destroy)
    handle = _library.Handle(pointer, call.gls_clusters_destroy)
    append(call.gls_clusters_sink(handle.pointer), streamlines)
    draws.run(call.gls_clusters_complete, handle.pointer)
    return found(handle.pointer, len(streamlines))


def found(pointer: Any, n: int) -> Tuple[List[List[int]], NDArray[np.float32]]:
    """The members of clusters of n streamlines, in their order, and the centroids."""
    first = np.zeros(call.gls_clusters_count(pointer) + 1, dtype=np.uint64)
    line = np.zeros(n + 1, dtype=np.uint64)
    call.gls_clusters_list(pointer, first.ctypes.data, line.ctypes.data)
    members = np.split(line[:int(first[-1])].astype(np.int64), first[1:-1].astype(np.int64)) if len(first) > 1 else []
    return [part.tolist() for part in members], _taken(pointer, 0)[1]


def _taken(pointer: Any, n: int) -> Clusters:
    """Returns copies of the members and centroids of the clusters."""
    members = np.zeros(n, dtype=np.uint32)
    if n:
        ctypes.memmove(members.ctypes.data, call.gls_clusters_members(pointer), members.nbytes)
    centroids = np.zeros((call.gls_clusters_count(pointer), call.gls_clusters_points(pointer), 3), dtype=np.float32)
    for k in range(len(centroids)):
        call.gls_clusters_centroid(pointer, k, centroids[k].ctypes.data)
    return members, centroids


def lists(members: NDArray[np.uint32], n: int, ordering: Optional[Sequence[int]] = None) -> List[List[int]]:
    """Returns for each of n clusters the numbers of its streamlines, in the order in which they were clustered."""
    order = np.arange(len(members)) if ordering is None else np.asarray(list(ordering), dtype=np.int64)
    cluster = members[order]
    order, cluster = order[cluster < n], cluster[cluster < n]
    by_cluster = np.argsort(cluster, kind="stable")
    ends = np.cumsum(np.bincount(cluster, minlength=n))[:-1] if n else []
    return [part.tolist() for part in np.split(order[by_cluster], ends)] if n else []


def references(streamlines: Sequence[Any], radius: float, points: int, nearest: int = 0) -> _library.Handle:
    """Makes a search for the references that lie within the radius of a streamline. nearest: largest number of references for
    each streamline; 0: all."""
    options = call.gls_neighbours_options_default()
    options.radius, options.points, options.nearest = radius, points, nearest
    pointer = made(call.gls_neighbours_create, ctypes.byref(options), destroy=call.gls_neighbours_destroy)
    handle = _library.Handle(pointer, call.gls_neighbours_destroy)
    append(call.gls_neighbours_references(handle.pointer), streamlines)
    return handle


def neighbours(handle: _library.Handle, streamlines: Sequence[Any]) -> Tuple[NDArray[np.int64], NDArray[Any]]:
    """Returns the pairs of neighbours as two arrays: the numbers of the streamlines, and for each its neighbour: the reference, the
    distance and whether it is reversed."""
    kind = np.dtype(structs["gls_neighbour"])
    rows, found = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=kind)]
    for at in range(0, len(streamlines), _BLOCK):
        block, arrays = _blocks(streamlines, at)
        first, pairs = ctypes.c_void_p(), ctypes.c_void_p()
        call.gls_neighbours_find(handle.pointer, ctypes.byref(block), ctypes.byref(first), ctypes.byref(pairs))
        del arrays
        ends = np.frombuffer(ctypes.string_at(first.value, 8 * (block.n + 1)), dtype=np.uint64).astype(np.int64)
        rows.append(np.repeat(np.arange(at, at + block.n), np.diff(ends)))
        if ends[-1]:
            found.append(np.frombuffer(ctypes.string_at(pairs.value, kind.itemsize * int(ends[-1])), dtype=kind))
    return np.concatenate(rows), np.concatenate(found)
