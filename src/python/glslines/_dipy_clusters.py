"""Computes DIPY's clusters of streamlines, and its search for neighbours, with the library; see glslines.dipy."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import _clusters, _library
from ._names import nearest


def _metric_of(metric: Any) -> Tuple[int, str]:
    """Returns the number of points to which a metric resamples streamlines (0: it does not), and how it reverses them."""
    if isinstance(metric, str):
        if metric != "MDF_12points":
            raise ValueError("Unknown metric: %s" % metric)
        return 12, "RESAMPLED"
    from dipy.segment import featurespeed, metricspeed

    if isinstance(metric, metricspeed.MinimumAverageDirectFlipMetric):
        raise ValueError("Use AveragePointwiseEuclideanMetric instead")
    if type(metric) is not metricspeed.AveragePointwiseEuclideanMetric:
        raise ValueError("metric: %s is not computed here; MDF_12points and AveragePointwiseEuclideanMetric are"
                         % type(metric).__name__)
    if type(metric.feature) is featurespeed.ResampleFeature:
        return int(metric.feature.infer_shape(np.zeros((7, 3), dtype=np.float32))[0]), "RESAMPLED"
    if type(metric.feature) is featurespeed.IdentityFeature:
        return 0, "COPIED"
    raise ValueError("metric: its feature %s is not computed here; ResampleFeature and IdentityFeature are"
                     % type(metric.feature).__name__)


def _cluster(kind: Any, centroid: Any, indices: Any, number: int = 0, **members: Any) -> Any:
    """Makes a cluster of DIPY and sets its members directly, because its constructor takes longer than the clustering itself."""
    from dipy.segment.clustering import Identity

    made = kind.__new__(kind)
    made.__dict__.update(id=number, refdata=Identity(), indices=indices, centroid=centroid.copy(), new_centroid=centroid.copy(),
                         **members)
    return made


class QuickBundles:
    """DIPY's QuickBundles: the same clusters, members and centroids, to the bit.

    Parameters
    ----------
    threshold : float
        A streamline joins the nearest cluster if its distance from the centroid is below this, mm.
    metric : str or Metric
        "MDF_12points", or an AveragePointwiseEuclideanMetric with a ResampleFeature or without one.
    max_nb_clusters : int, optional
        Once there are so many clusters, streamlines join the nearest one, however far.
    """

    def __init__(self, threshold: float, *, metric: Any = "MDF_12points", max_nb_clusters: Optional[int] = None) -> None:
        self.threshold, self.metric, self.max_nb_clusters = threshold, metric, max_nb_clusters
        self._points, self._reverse = _metric_of(metric)

    def cluster(self, streamlines: Any, *, ordering: Any = None) -> Any:
        """Returns the clusters as a ClusterMapCentroid of DIPY. ordering: numbers of the streamlines to cluster, in this order."""
        from dipy.segment.clustering import ClusterCentroid, ClusterMapCentroid

        ordering = None if ordering is None else list(ordering)
        ((members, centroids),) = _clusters.find(streamlines, [self.threshold], "QUICKBUNDLES", self._points,
                                                 self._reverse, ordering, self.max_nb_clusters)
        found = ClusterMapCentroid()
        for k, (centroid, indices) in enumerate(zip(centroids, _clusters.lists(members, len(centroids), ordering))):
            found.add_cluster(_cluster(ClusterCentroid, centroid, indices, k))
        found.refdata = streamlines
        return found


class QuickBundlesX:
    """DIPY's QuickBundlesX: the same tree of clusters, members and centroids of all levels below the root to the bit.

    Parameters
    ----------
    thresholds : list of float
        Falling thresholds, mm.
    metric : str or Metric
        As for QuickBundles.
    """

    def __init__(self, thresholds: Any, *, metric: Any = "MDF_12points") -> None:
        self.thresholds, self.metric = list(thresholds), metric
        self._points, self._reverse = _metric_of(metric)

    def cluster(self, streamlines: Any, *, ordering: Any = None) -> Any:
        """Returns the clusters as a TreeClusterMap of DIPY. ordering: numbers of the streamlines to cluster, in this order.

        The centroid of the root, which DIPY does not use, is the mean of the clusters of the first level."""
        from dipy.segment.clustering import TreeCluster, TreeClusterMap

        ordering = None if ordering is None else list(ordering)
        levels = _clusters.find(streamlines, self.thresholds, "QUICKBUNDLESX", self._points, self._reverse, ordering)
        order = list(range(len(streamlines))) if ordering is None else ordering
        first = levels[0][1]
        root = TreeCluster(self.thresholds[0], first.mean(axis=0) if len(first) else first, indices=np.asarray(order))
        above, above_members = [root], np.zeros(len(streamlines), dtype=np.uint32)
        below = [*self.thresholds[1:], 0.0]
        for (members, centroids), threshold in zip(levels, below):
            nodes = []
            for centroid, indices in zip(centroids, _clusters.lists(members, len(centroids), order)):
                node = _cluster(TreeCluster, centroid, indices, threshold=threshold, parent=None, children=[])
                above[above_members[indices[0]]].add(node)
                nodes.append(node)
            above, above_members = nodes, members
        tree = TreeClusterMap(root)
        tree.refdata = streamlines
        return tree


@nearest
def qbx_and_merge(streamlines: Any, thresholds: Any, *, nb_pts: int = 20, select_randomly: Optional[int] = None,
                  rng: Any = None, verbose: bool = False) -> Any:
    """DIPY's qbx_and_merge: for the same rng the same clusters, members and centroids, to the bit.

    Parameters
    ----------
    streamlines : sequence of array_like
        Streamlines, (n, 3) each.
    thresholds : sequence of float
        Falling thresholds, mm.
    nb_pts : int
        Points to which streamlines are resampled.
    select_randomly : int, optional
        Cluster only this many streamlines, drawn at random.
    rng : numpy.random.Generator, optional
        Generator that draws the orders; None: a new one.
    verbose : bool
        Has no effect.

    Returns
    -------
    ClusterMapCentroid
        The merged clusters.
    """
    del verbose
    rng = np.random.default_rng() if rng is None else rng
    members, centroids = _clusters.merged(streamlines, thresholds, nb_pts, rng, select_randomly)
    return map_of(streamlines, members, centroids)


def map_of(streamlines: Any, members: Any, centroids: Any) -> Any:
    """Clusters as a ClusterMapCentroid of DIPY."""
    from dipy.segment.clustering import ClusterCentroid, ClusterMapCentroid

    found = ClusterMapCentroid()
    for indices, centroid in zip(members, centroids):
        found.add_cluster(_cluster(ClusterCentroid, centroid, indices))
    found.refdata = streamlines
    return found


class FastStreamlineSearch:
    """DIPY's FastStreamlineSearch: the same neighbours, each pair once.

    DIPY lists a pair twice if both senses are within the radius; here the pair is listed once, in the nearer sense.

    Parameters
    ----------
    ref_streamlines : sequence of array_like
        References, (n, 3) each, or a StatefulTractogram.
    max_radius : float
        Largest radius of a search, mm.
    nb_mpts, bin_size
        Have no effect: in DIPY, too, they do not change the result.
    resampling : int
        Points to which streamlines are resampled.
    bidirectional : bool
        True: compare in both senses, and take the nearer one. False is not computed here.
    """

    def __init__(self, ref_streamlines: Any, max_radius: float, *, nb_mpts: int = 4, bin_size: float = 20.0,
                 resampling: int = 24, bidirectional: bool = True) -> None:
        if not max_radius > 0:
            raise ValueError("max_radius needs to be a positive value")
        if resampling % nb_mpts != 0:
            raise ValueError("nb_mpts needs to be a factor of resampling")
        if not bidirectional:
            raise ValueError("bidirectional: False is not computed here: turn streamlines one way and take DIPY's")
        self._references = getattr(ref_streamlines, "streamlines", ref_streamlines)
        self.max_radius, self.nb_mpts, self.bin_size = max_radius, nb_mpts, bin_size
        self.resampling, self.bidirectional = resampling, bidirectional
        self.ref_nb_slines = len(self._references)
        self._handles: Dict[float, _library.Handle] = {}

    def radius_search(self, streamlines: Any, radius: float, *, use_negative: bool = True) -> Any:
        """Returns the distances from each streamline to the references within the radius, a coo_array, (streamlines, references).

        use_negative: distances of reversed neighbours are negative."""
        from scipy.sparse import coo_array

        if radius > self.max_radius:
            raise ValueError("radius should be smaller or equal to the given 'max_radius' in FastStreamlineSearch init")
        lines = getattr(streamlines, "streamlines", streamlines)
        if radius not in self._handles:
            self._handles[radius] = _clusters.references(self._references, radius, self.resampling)
        rows, found = _clusters.neighbours(self._handles[radius], lines)
        distance = found["distance"].copy()
        if use_negative:
            distance[found["reversed"]] *= -1
        return coo_array((distance, (rows, found["reference"].astype(np.int64))), shape=(len(lines), self.ref_nb_slines))
