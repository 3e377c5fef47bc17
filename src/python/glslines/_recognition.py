"""DIPY's registration of streamlines and its RecoBundles. The library computes their clusters, distances and registrations;
see glslines.dipy."""

from __future__ import annotations

from itertools import chain
from typing import Any, Optional, Sequence, Tuple

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

from . import _clusters, _slr
from ._dipy_clusters import qbx_and_merge
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


class StreamlineLinearRegistration(_peer.StreamlineLinearRegistration):  # type: ignore[misc]
    """DIPY's StreamlineLinearRegistration with an analytic gradient: the same minimum of the bundle minimum distance.

    Parameters are DIPY's. metric: None or a BundleMinDistanceMetric; method: L-BFGS-B; evolution: False. Others are
    refused. options: maxiter, ftol and gtol have an effect.
    """

    def optimize(self, static: Any, moving: Any, *, mat: Any = None) -> Any:
        """Returns the transform as a StreamlineRegistrationMap of DIPY."""
        if type(self.metric) is not _peer.BundleMinDistanceMetric:
            raise NotImplementedError("metric: %s is not computed here; BundleMinDistanceMetric is" % type(self.metric).__name__)
        if self.method != "L-BFGS-B" or self.evolution:
            raise NotImplementedError("method: L-BFGS-B without evolution is computed here")
        fixed = _stacked(static, "Static")
        before = np.eye(4) if mat is None else np.asarray(mat, dtype=np.float64)
        first = _stacked(moving if mat is None else transform_streamlines(moving, before), "Moving", fixed.shape[1])
        options = {k: v for k, v in (self.options or {}).items() if k in ("maxiter", "ftol", "gtol")}
        result, matrix, parameters = _slr.find(fixed, first, len(self.x0), self.bounds, self.x0, progressive=False,
                                               centred=mat is None, **options)
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

    Parameters and methods are DIPY's. The distance is mdf; mam is refused.
    """

    def _cluster_streamlines(self, clust_thr: float, nb_pts: int) -> None:
        self.cluster_map = qbx_and_merge(self.streamlines, [*self.start_thr, clust_thr], nb_pts=nb_pts, rng=self.rng)
        self.centroids = self.cluster_map.centroids
        self.nb_centroids = len(self.centroids)
        self.indices = [cluster.indices for cluster in self.cluster_map]

    def _cluster_model_bundle(self, model_bundle: Any, model_clust_thr: float, *, nb_pts: int = 20,
                              select_randomly: int = 500000) -> Any:
        return qbx_and_merge(model_bundle, [*self.start_thr, model_clust_thr], nb_pts=nb_pts,
                             select_randomly=select_randomly, rng=self.rng).centroids

    def _reduce_search_space(self, model_centroids: Any, *, reduction_thr: float = 20, reduction_distance: str = "mdf") -> Any:
        near = _near(self.centroids, model_centroids, reduction_thr, "reduction", reduction_distance)
        clusters = [self.cluster_map[int(k)] for k in near]
        if not clusters:
            return Streamlines([]), []
        return Streamlines(chain(*clusters)), [cluster.indices for cluster in clusters]

    def _register_neighb_to_model(self, model_bundle: Any, neighb_streamlines: Any, *, metric: Any = None, x0: Any = None,
                                  bounds: Any = None, select_model: int = 400, select_target: int = 600,
                                  method: str = "L-BFGS-B", nb_pts: int = 20, num_threads: Optional[int] = None) -> Any:
        if metric == "symmetric":
            metric = None
        static, moving = (set_number_of_points(select_random_set_of_streamlines(lines, n, rng=self.rng), nb_points=nb_pts)
                          for lines, n in ((model_bundle, select_model), (neighb_streamlines, select_target)))
        x0 = "similarity" if x0 is None else x0
        own = StreamlineLinearRegistration(metric=metric, x0=x0, method=method)
        own.bounds = _LOCAL[:len(own.x0)] if bounds is None else bounds
        found = own.optimize(static, moving)
        return transform_streamlines(neighb_streamlines, found.matrix), found.fopt

    def _prune_what_not_in_model(self, model_centroids: Any, transf_streamlines: Any, neighb_indices: Any, *, mdf_thr: float = 5,
                                 pruning_thr: float = 10, pruning_distance: str = "mdf") -> Any:
        found = qbx_and_merge(transf_streamlines, [40, 30, 20, 10, mdf_thr], nb_pts=20, select_randomly=500000, rng=self.rng)
        near = _near(found.centroids, model_centroids, pruning_thr, "pruning", pruning_distance)
        kept = list(chain(*(found[int(k)].indices for k in near)))
        if not kept:
            return Streamlines([]), []
        initial = list(chain(*neighb_indices))
        return transf_streamlines[np.array(kept)], [initial[i] for i in kept]


def _near(centroids: Any, model: Any, radius: float, name: str, distance: str) -> NDArray[np.int64]:
    """Returns the numbers of the centroids that lie within the radius of a centroid of the model."""
    if distance.lower() != "mdf":
        raise NotImplementedError("%s_distance: %s is not computed here; mdf is" % (name, distance))
    if not len(model) or not len(centroids):
        return np.zeros(0, dtype=np.int64)
    # as in DIPY, a distance that equals the radius counts as within it
    within = float(np.nextafter(np.float64(radius), np.inf))
    rows, _ = _clusters.neighbours(_clusters.references(list(model), within, 0), list(centroids))
    return np.unique(rows)
