"""DIPY's registration of streamlines and its RecoBundles. The library computes their clusters, distances and registrations;
see glslines.dipy."""

from __future__ import annotations

import ctypes
import weakref
from itertools import chain
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np
from dipy.align import streamlinear as _peer  # type: ignore[attr-defined, import-not-found, unused-ignore]
from dipy.segment import bundles as _bundles  # type: ignore[attr-defined, import-not-found, unused-ignore]
from dipy.tracking.streamline import (  # type: ignore[attr-defined, import-not-found, unused-ignore]
    Streamlines,
    length,
    select_random_set_of_streamlines,
    set_number_of_points,
    transform_streamlines,
)
from numpy.typing import NDArray

from . import _clusters, _library, _slr
from ._dipy_clusters import map_of, qbx_and_merge
from ._library import call, made, structs
from ._names import nearest

#: bounds of the parameters of the registration in RecoBundles
_LOCAL = [(-30, 30)] * 3 + [(-45, 45)] * 3 + [(0.8, 1.2)] * 3 + [(-10, 10)] * 3


def bundles_distances_mdf(tracksA: Any, tracksB: Any) -> NDArray[np.float32]:  # noqa: N803
    """Returns the distance (MDF) of all pairs of streamlines, mm, (len(tracksA), len(tracksB)), as DIPY's function of this
    name. All streamlines need the same number of points."""
    a, b = list(tracksA), list(tracksB)
    found = np.zeros((len(a), len(b)), dtype=np.float32)
    if a and b:
        rows, pairs = _clusters.neighbours(_clusters.references(b, np.inf, 0, nearest=len(b)), a)
        found[rows, pairs["reference"]] = pairs["distance"]
    return found


def _stacked(streamlines: Any, name: str, points: Optional[int] = None) -> NDArray[np.float32]:
    """Returns streamlines that all have the same number of points as one array."""
    counts = {len(line) for line in streamlines}
    if len(counts) != 1 or (points is not None and counts != {points}):
        raise ValueError("%s streamlines need to have the same number of points. Use set_number_of_points from "
                         "dipy.tracking.streamline" % name)
    return np.array([np.asarray(line) for line in streamlines], dtype=np.float32)


#: metrics of DIPY, and their names in the library
_METRICS = {_peer.BundleMinDistanceMetric: "symmetric", _peer.BundleMinDistanceAsymmetricMetric: "asymmetric",
            _peer.BundleSumDistanceMatrixMetric: "sum"}


class StreamlineLinearRegistration(_peer.StreamlineLinearRegistration):  # type: ignore[misc]
    """DIPY's StreamlineLinearRegistration with an analytic gradient: the same minimum of the bundle minimum distance.

    Parameters are DIPY's. metric: None, a BundleMinDistanceMetric, a BundleMinDistanceAsymmetricMetric or a BundleSumDistanceMatrixMetric; method: L-BFGS-B; evolution: False. Others are
    refused. options: maxiter, ftol and gtol have an effect.
    """

    def check(self) -> None:
        """Refuses what is not computed here."""
        if type(self.metric) not in _METRICS:
            raise NotImplementedError("metric: %s is not computed here; %s are"
                                      % (type(self.metric).__name__, ", ".join(m.__name__ for m in _METRICS)))
        if self.method != "L-BFGS-B" or self.evolution:
            raise NotImplementedError("method: L-BFGS-B without evolution is computed here")

    def optimize(self, static: Any, moving: Any, *, mat: Any = None) -> Any:
        """The transform as a StreamlineRegistrationMap of DIPY."""
        self.check()
        fixed = _stacked(static, "Static")
        before = np.eye(4) if mat is None else np.asarray(mat, dtype=np.float64)
        first = _stacked(moving if mat is None else transform_streamlines(moving, before), "Moving", fixed.shape[1])
        options = {k: v for k, v in (self.options or {}).items() if k in ("maxiter", "ftol", "gtol")}
        result, matrix, parameters = _slr.find(fixed, first, len(self.x0), self.bounds, self.x0, progressive=False,
                                               centred=mat is None,
                                               metric=_METRICS[type(self.metric)], **options)
        return _peer.StreamlineRegistrationMap(matrix @ before, parameters, result.after, [], result.evaluations,
                                               result.iterations)


@nearest
def slr_with_qbx(static: Any, moving: Any, *, x0: str = "affine", rm_small_clusters: int = 50, maxiter: int = 100,
                 select_random: Optional[int] = None, verbose: bool = False, greater_than: float = 50,
                 less_than: float = 250, qbx_thr: Sequence[float] = (40, 30, 20, 15), nb_pts: int = 20,
                 progressive: bool = True, rng: Any = None, num_threads: Optional[int] = None) -> Tuple[Any, Any, Any, Any]:
    """DIPY's slr_with_qbx: registers tractograms by the centroids of their clusters.

    Parameters are DIPY's; verbose and num_threads have no effect. For the same rng the centroids are DIPY's to the bit.

    Returns
    -------
    moved : Streamlines
        All streamlines of moving, mapped into the space of static.
    matrix : ndarray
        Affine from moving to static, (4, 4).
    static_centroids, moving_centroids : Streamlines
        The centroids that were registered.
    """
    del verbose, num_threads
    if x0 not in _slr.TYPES:
        raise ValueError("Incorrect SLR transform")
    rng = np.random.default_rng() if rng is None else rng
    centroids = []
    for name, lines in (("static", static), ("moving", moving)):
        some = Streamlines(lines[np.array([(length(s) > greater_than) & (length(s) < less_than) for s in lines])])
        if len(some) == 0:
            raise ValueError("No streamlines remain in '%s' after length filtering. All streamlines have length outside the "
                             "range (%s, %s). Please adjust the 'greater_than' and 'less_than' parameters."
                             % (name, greater_than, less_than))
        if select_random is not None:
            some = select_random_set_of_streamlines(some, select_random, rng=rng)
        found = qbx_and_merge(set_number_of_points(some, nb_points=nb_pts), qbx_thr, rng=rng)
        kept = Streamlines(c.centroid for c in found if len(c) >= rm_small_clusters)
        if not len(kept):
            raise ValueError("No cluster centroids found in %s Streamlines. Please decrease  the value of rm_small_clusters."
                             % name.capitalize())
        centroids.append(kept)
    fixed, first = (_stacked(lines, name) for lines, name in zip(centroids, ("Static", "Moving")))
    n = _slr.TYPES[x0]
    matrix = _slr.find(fixed, first, n, _peer.DEFAULT_BOUNDS[:n] if progressive else None, progressive=progressive,
                       maxiter=100 if progressive else maxiter)[1]
    return transform_streamlines(moving, matrix), matrix, centroids[0], centroids[1]


class RecoBundles(_bundles.RecoBundles):  # type: ignore[misc]
    """DIPY's RecoBundles. For the same rng it finds the same clusters and neighbourhoods. The bundles differ from DIPY's only
    because the registration ends in a slightly different minimum.

    Parameters and methods are DIPY's. Distances are mdf; mam is refused, as are other metrics and methods of the
    registration than the defaults.
    """

    def __init__(self, streamlines: Any, *, cluster_map: Any = None, rng: Any = None, **options: Any) -> None:
        self._draws = _clusters.Draws(_Later(self))
        super().__init__(streamlines, cluster_map=cluster_map, rng=rng, **options)
        if cluster_map is None:
            return
        self._open(15)
        first = np.cumsum([0] + [len(members) for members in self.indices]).astype(np.uint64)
        line = np.array(list(chain(*self.indices)), dtype=np.uint64)
        centroids = _stacked(self.centroids, "Centroids of", 20) if len(self.centroids) else np.zeros((0, 20, 3), np.float32)
        call.gls_recobundles_take_clusters(self._own.pointer, len(centroids), centroids.ctypes.data, first.ctypes.data,
                                           line.ctypes.data)

    def _open(self, clust_thr: float) -> None:
        """Hands the streamlines, whose lengths DIPY has looked at, to the library."""
        options = call.gls_recobundles_options_default()
        options.min_length, options.max_length, options.cluster = 0, np.inf, clust_thr
        options.draws = self._draws.address
        pointer = made(call.gls_recobundles_create, ctypes.byref(options), destroy=call.gls_recobundles_destroy)
        self._own = _library.Handle(pointer, call.gls_recobundles_destroy, self._draws)
        _clusters.append(call.gls_recobundles_sink(self._own.pointer), self.streamlines)

    def _cluster_streamlines(self, clust_thr: float, nb_pts: int) -> None:
        if nb_pts != 20:
            raise ValueError("nb_pts: models have 20 points, so clusters of %s cannot be compared with them" % nb_pts)
        self._open(clust_thr)
        self._draws.run(call.gls_recobundles_complete, self._own.pointer)
        members, centroids = _clusters.found(call.gls_recobundles_clusters(self._own.pointer), len(self.streamlines))
        self.cluster_map = map_of(self.streamlines, members, centroids)
        self.centroids = self.cluster_map.centroids
        self.nb_centroids = len(self.centroids)
        self.indices = [cluster.indices for cluster in self.cluster_map]

    def _cluster_model_bundle(self, model_bundle: Any, model_clust_thr: float, *, nb_pts: int = 20,
                              select_randomly: int = 500000) -> Any:
        return qbx_and_merge(model_bundle, [*self.start_thr, model_clust_thr], nb_pts=nb_pts,
                             select_randomly=select_randomly, rng=self.rng).centroids

    def _find(self, model: Any, around: Any, model_clust_thr: float, given: Dict[str, Any]) -> Tuple[Any, Any]:
        """The bundle of a model and the numbers of its streamlines."""
        for name in ("reduction_distance", "pruning_distance"):
            if given[name].lower() != "mdf":
                raise NotImplementedError("%s: %s is not computed here; mdf is" % (name, given[name]))
        metric = None if given["slr_metric"] == "symmetric" else given["slr_metric"]
        peer = StreamlineLinearRegistration(metric=metric, method=given["slr_method"],
                                            x0="similarity" if given["slr_x0"] is None else given["slr_x0"])
        peer.check()
        bounds = _LOCAL[:len(peer.x0)] if given["slr_bounds"] is None else given["slr_bounds"]
        slr, keep = _slr.options(len(peer.x0), bounds, peer.x0, progressive=False)
        options, result = call.gls_recobundles_model_default(), structs["gls_recobundles_result"]()
        options.model_cluster, options.reduction, options.pruning = model_clust_thr, given["reduction_thr"], given["pruning_thr"]
        options.stays, options.slr = not given["slr"], ctypes.addressof(slr)
        options.select_model, options.select_near = given["slr_select"]
        blocks = [_clusters.block_of(model), _clusters.block_of([] if around is None else around)]
        self._draws.run(call.gls_recobundles_recognize, self._own.pointer, ctypes.byref(options), ctypes.byref(blocks[0][0]),
                        None if around is None else ctypes.byref(blocks[1][0]), ctypes.byref(result))
        del keep, blocks
        if not result.n:
            return Streamlines([]), []
        labels = np.frombuffer(ctypes.string_at(result.line, 8 * result.n), dtype=np.uint64).astype(np.int64)
        found = self.streamlines[labels]
        if result.registered:
            found = transform_streamlines(found, np.array(result.slr.matrix, dtype=np.float64).reshape(4, 4))
        return found, self.filtered_indices[labels]

    @nearest
    def recognize(self, model_bundle: Any, model_clust_thr: float, *, reduction_thr: float = 10,
                  reduction_distance: str = "mdf", slr: bool = True, num_threads: Optional[int] = None, slr_metric: Any = None,
                  slr_x0: Any = None, slr_bounds: Any = None, slr_select: Tuple[int, int] = (400, 600),
                  slr_method: str = "L-BFGS-B", pruning_thr: float = 5, pruning_distance: str = "mdf") -> Tuple[Any, Any]:
        """The bundle of a model in its space, and the numbers of its streamlines. Parameters are DIPY's; num_threads has
        no effect."""
        return self._find(model_bundle, None, model_clust_thr, locals())

    @nearest
    def refine(self, model_bundle: Any, pruned_streamlines: Any, model_clust_thr: float, *, reduction_thr: float = 14,
               reduction_distance: str = "mdf", slr: bool = True, slr_metric: Any = None, slr_x0: Any = None,
               slr_bounds: Any = None, slr_select: Tuple[int, int] = (400, 600), slr_method: str = "L-BFGS-B",
               pruning_thr: float = 6, pruning_distance: str = "mdf") -> Tuple[Any, Any]:
        """The bundle once more, around what was recognised. Parameters are DIPY's."""
        return self._find(model_bundle, pruned_streamlines, model_clust_thr, locals())


class _Later:
    """The generator that a RecoBundles has when it draws."""

    def __init__(self, owner: RecoBundles) -> None:
        self._owner = weakref.ref(owner)

    def choice(self, n: int, size: int, replace: bool) -> Any:
        owner = self._owner()
        assert owner is not None
        return owner.rng.choice(n, size, replace=replace)
