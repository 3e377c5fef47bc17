"""The tracker functions of DIPY 1.12, its clusters of streamlines and its RecoBundles, on any GPU. In a program that has the line

    from dipy.tracking.tracker import probabilistic_tracking

write this line in its place, and leave the rest as it is:

    from glslines.dipy import probabilistic_tracking

Signatures and defaults are DIPY's. Streamlines come in the order of the seeds, in world mm, as views of one array. DIPY draws
other random numbers; so results agree as those of two random seeds of DIPY do, and not to the byte.

DIPY hides the image of its stopping criteria. For a BinaryStoppingCriterion, the criterion is asked at each voxel centre; the
maps of anatomical criteria can be read. ThresholdStoppingCriterion of this module is DIPY's, but keeps the image, which is
then used as it is. DIPY's own ThresholdStoppingCriterion is asked at points near the border, which is found to a tenth of a
voxel.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Tuple, Union

import numpy as np
from dipy.tracking import stopping_criterion as _criteria  # type: ignore[attr-defined, import-not-found, unused-ignore]
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import numbers
from ._dipy_clusters import FastStreamlineSearch, QuickBundles, QuickBundlesX, qbx_and_merge
from ._names import nearest
from ._recognition import RecoBundles, StreamlineLinearRegistration, bundles_distances_mdf, slr_with_qbx
from .devices import Device
from .models import ODF, Gradients, QBall, Sphere
from .params import Params
from .streamlines import Result
from .tracking import Seeds, Tracker

__all__ = ["BinaryStoppingCriterion", "FastStreamlineSearch", "QuickBundles", "QuickBundlesX", "RecoBundles",
           "StreamlineLinearRegistration", "ThresholdStoppingCriterion", "bootstrap_tracking", "bundles_distances_mdf",
           "closestpeak_tracking", "deterministic_tracking", "eudx_tracking", "pft_tracking", "probabilistic_tracking",
           "ptt_tracking", "qbx_and_merge", "slr_with_qbx"]

Streamline = NDArray[np.float32]
#: streamlines or, with save_seeds, pairs of a streamline and its seed
Streamlines = Iterator[Union[Streamline, Tuple[Streamline, NDArray[np.float64]]]]

#: device on which the functions track: a Device, or the name that Device takes
device: Union[Device, str, int] = "auto"
#: for each basis its name with legacy=False and with legacy=True
_BASES = {"descoteaux07": ("descoteaux07", "descoteaux07_legacy"), "tournier07": ("tournier07", "tournier07_legacy")}
#: parameters of the functions that begin streamlines along all peaks of a seed, as DIPY's direction getters do
_ALL_PEAKS = {"relative_peak_threshold": 0.5, "min_separation_angle": 25.0, "max_directions_per_seed": 32}
#: number of points along a side of a voxel at which a criterion is asked
_SUBSAMPLES = 4


class ThresholdStoppingCriterion(_criteria.ThresholdStoppingCriterion):  # type: ignore[misc]
    """DIPY's criterion, which also keeps the image: streamlines end where metric_map is at or below threshold."""

    def __init__(self, metric_map: NDArray[Any], threshold: float) -> None:
        self.stop_map, self.threshold = metric_map, float(threshold)


BinaryStoppingCriterion = _criteria.BinaryStoppingCriterion


def _tissue(sc: Any, shape: Tuple[int, ...]) -> Optional[Dict[str, Any]]:
    """Returns the arguments tissue and tissue_rule of a Tracker that stand for an anatomical criterion; None: the criterion is
    not anatomical."""
    if not isinstance(sc, _criteria.AnatomicalStoppingCriterion):
        return None
    rules = {"ActStoppingCriterion": "pve", "CmcStoppingCriterion": "cmc"}
    rule = next((rules[kind.__name__] for kind in type(sc).__mro__ if kind.__name__ in rules), None)
    if rule is None:
        raise NotImplementedError("sc: %s is neither an ActStoppingCriterion nor a CmcStoppingCriterion" % type(sc).__name__)
    voxels = [np.array(v, dtype=np.float64) for v in np.ndindex(*shape)]
    good, bad = (np.array([ask(v) for v in voxels], dtype=np.float32).reshape(shape) for ask in (sc.get_include, sc.get_exclude))
    nothing = np.zeros_like(good)
    between = np.clip(1 - good - bad, 0, None)
    return {"tissue": np.stack([good, nothing, between, bad, nothing], axis=-1), "tissue_rule": rule}


def _mask(sc: Any, shape: Tuple[int, ...]) -> NDArray[np.float32]:
    """Returns the mask of a binary criterion, which is asked at each voxel centre."""
    inside = _criteria.StreamlineStatus.TRACKPOINT
    centres = [sc.check_point(np.array(v, dtype=np.float64)) == inside for v in np.ndindex(*shape)]
    return np.array(centres, dtype=np.float32).reshape(shape)


def _stop_map(sc: Any, shape: Tuple[int, ...]) -> Tuple[NDArray[Any], float]:
    """Returns the image and the threshold of a criterion. If it does not keep them, the image has the share of each voxel in which
    streamlines go on."""
    if hasattr(sc, "stop_map"):
        return sc.stop_map, sc.threshold
    if not hasattr(sc, "check_point"):
        raise TypeError("sc: a stopping criterion is needed, of glslines.dipy or DIPY, not %s" % type(sc).__name__)
    inside = _criteria.StreamlineStatus.TRACKPOINT
    centres = np.array([sc.check_point(np.array(v, dtype=np.float64)) == inside for v in np.ndindex(*shape)])
    filled = centres.reshape(shape).astype(np.float32)
    # the border can only pass through voxels that have a neighbour on its other side
    padded = np.pad(filled, 1, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3))
    divided = around.min(axis=(3, 4, 5)) != around.max(axis=(3, 4, 5))
    steps = (np.arange(_SUBSAMPLES) + 0.5) / _SUBSAMPLES - 0.5
    offsets = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    for voxel in np.argwhere(divided):
        filled[tuple(voxel)] = np.mean([sc.check_point(point) == inside for point in voxel + offsets])
    return filled, 0.5


def _directions(sh: Any, sf: Any, sphere: Any, basis_type: Optional[str], legacy: bool, affine: ArrayLike) -> ODF:
    if (sh is None) == (sf is None):
        raise ValueError("one of sh and sf is needed; pam has peaks, which eudx_tracking follows")
    name, coefficients = ("sh", sh) if sf is None else ("sf", sf)
    if np.ndim(coefficients) != 4:
        raise ValueError("%s: an array of 4 dimensions is needed, not of %d" % (name, np.ndim(coefficients)))
    if sf is not None:
        if sphere is None or isinstance(sphere, str):
            raise ValueError("sf needs the sphere of its values: one of DIPY, or its vertices, (n, 3)")
        return ODF.from_amplitudes(sf, sphere, "image", affine)
    basis = _BASES.get(basis_type or "descoteaux07")
    if basis is None:
        raise ValueError("basis_type: '%s' is none of %s" % (basis_type, ", ".join(_BASES)))
    return ODF.from_sh(sh, basis[bool(legacy)], "image", "default" if sphere is None else Sphere(sphere), affine)


def _track(dg: str, seed_positions: ArrayLike, sc: Any, affine: ArrayLike, shape: Tuple[int, ...],
           inputs: Dict[str, Any], options: Dict[str, Any], seed_directions: Any, return_all: bool,
           save_seeds: bool) -> Streamlines:
    if seed_directions is not None:
        raise NotImplementedError("seed_directions: streamlines begin along the largest direction of their seed")
    if affine is None:
        raise ValueError("affine: from voxels to world mm, (4, 4), is needed")
    tissue = _tissue(sc, shape)
    if tissue is not None:
        stop_map, threshold = np.zeros(shape, np.float32), -1.0  # it ends nothing
        inputs, options = {**inputs, **tissue}, {**options, "keep_all_ends": bool(return_all)}
    elif return_all and isinstance(sc, _criteria.BinaryStoppingCriterion):
        # the nearest voxel decides
        inputs = {**inputs, "tracking_mask": _mask(sc, shape)}
        stop_map, threshold = np.zeros(shape, np.float32), -1.0
    elif return_all:
        stop_map, threshold = _stop_map(sc, shape)
    else:
        raise NotImplementedError("return_all=False: only with an anatomical criterion, an ActStoppingCriterion or a "
                                  "CmcStoppingCriterion")
    options = {name: "%.17gmm" % _library.real(value, name) if name in ("step_size", "probe_length", "probe_radius") else value
               for name, value in options.items()}
    params = Params(preset="dipy", dg=dg, fa_threshold=threshold, **options)
    with Tracker(device, params, stop_map=np.asarray(stop_map), affine=affine, **inputs) as tracker:
        result = tracker.run(Seeds.points(numbers(seed_positions, "seed_positions"), "world"))
    return _each(result, save_seeds)


def _each(result: Result, save_seeds: bool) -> Streamlines:
    seeds = result.dps.get("seeds")
    for i, line in enumerate(result):
        yield (line, np.asarray(seeds[i], dtype=np.float64)) if save_seeds and seeds is not None else line


_PARAMETERS = """

    Parameters
    ----------
    seed_positions : ndarray
        Seeds in world mm, (n, 3).
    sc : StoppingCriterion
        Threshold or binary, of this module or of DIPY; an ActStoppingCriterion or CmcStoppingCriterion of DIPY.
    affine : ndarray
        From voxels to world mm, (4, 4).
    sh : ndarray, optional
        Coefficients of spherical harmonics, (x, y, z, k); basis_type and legacy are those of DIPY.
    sf : ndarray, optional
        Amplitudes on the vertices of sphere, (x, y, z, n).
    min_len, max_len, step_size : float, optional
        In mm.
    max_angle : float, optional
        In degrees.
    pmf_threshold : float, optional
        Amplitudes below this part of the largest are 0.
    random_seed : int, optional
        The same number gives the same streamlines, 0 too.
    return_all : bool, optional
        With anatomical criteria, False gives streamlines alone whose ends are good.
    seed_directions
        Only as the default is.
    nbr_threads, seed_buffer_fraction, voxel_size
        Change nothing: batches are as large as the device allows, sides of voxels are those of the affine.
    save_seeds : bool, optional
        Give pairs of a streamline and its seed in world mm.

    Yields
    ------
    ndarray
        A streamline in world mm, (p, 3), float32.
    """


def probabilistic_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, sh: Any = None,
        pam: Any = None, sf: Any = None, min_len: float = 2, max_len: float = 500, step_size: float = 0.2,
        voxel_size: Any = None, max_angle: float = 20, pmf_threshold: float = 0.1, sphere: Any = None,
        basis_type: Optional[str] = None, legacy: bool = True, nbr_threads: int = 0, random_seed: int = 0,
        seed_buffer_fraction: float = 1.0, return_all: bool = True, save_seeds: bool = False) -> Streamlines:
    """Draws each direction at random from the ODF in the cone, as DIPY's function of this name."""
    return _along_odf("prob", locals())


def deterministic_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, sh: Any = None,
        pam: Any = None, sf: Any = None, min_len: float = 2, max_len: float = 500, step_size: float = 0.2,
        voxel_size: Any = None, max_angle: float = 20, pmf_threshold: float = 0.1, sphere: Any = None,
        basis_type: Optional[str] = None, legacy: bool = True, nbr_threads: int = 0, random_seed: int = 0,
        seed_buffer_fraction: float = 1.0, return_all: bool = True, save_seeds: bool = False) -> Streamlines:
    """Follows the largest value of the ODF in the cone, as DIPY's function of this name."""
    return _along_odf("det", locals())


def ptt_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, sh: Any = None,
        pam: Any = None, sf: Any = None, min_len: float = 2, max_len: float = 500, step_size: float = 0.5,
        voxel_size: Any = None, max_angle: float = 10, pmf_threshold: float = 0.1, probe_length: float = 1.5,
        probe_radius: float = 0, probe_quality: int = 7, probe_count: int = 1, data_support_exponent: float = 1,
        sphere: Any = None, basis_type: Optional[str] = None, legacy: bool = True, nbr_threads: int = 0,
        random_seed: int = 0, seed_buffer_fraction: float = 1.0, return_all: bool = True,
        save_seeds: bool = False) -> Streamlines:
    """Tracks by parallel transport, as DIPY's function of this name. max_angle: largest angle of a step."""
    given = locals()
    if data_support_exponent != 1:
        raise NotImplementedError("data_support_exponent: only 1 is here")
    return _along_odf("ptt", given, probe_length=probe_length, probe_quality=probe_quality, probe_count=probe_count,
                      probe_radius=probe_radius)


def closestpeak_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, sh: Any = None,
        sf: Any = None, min_len: float = 2, max_len: float = 500, step_size: float = 0.5, voxel_size: Any = None,
        max_angle: float = 60, pmf_threshold: float = 0.1, sphere: Any = None, basis_type: Optional[str] = None,
        legacy: bool = True, nbr_threads: int = 0, random_seed: int = 0, seed_buffer_fraction: float = 1.0,
        return_all: bool = True, save_seeds: bool = False) -> Streamlines:
    """Follows the peak of the ODF that is closest to the last direction, as DIPY's function of this name."""
    return _along_odf("closest", locals(), **_ALL_PEAKS, **_lengths(locals()))


def pft_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, sh: Any = None,
        sf: Any = None, pam: Any = None, max_cross: Optional[int] = None, min_len: float = 2, max_len: float = 500,
        step_size: float = 0.2, voxel_size: Any = None, max_angle: float = 20, pmf_threshold: float = 0.1,
        sphere: Any = None, basis_type: Optional[str] = None, legacy: bool = True, nbr_threads: int = 0,
        random_seed: int = 0, seed_buffer_fraction: float = 1.0, return_all: bool = True,
        pft_back_tracking_dist: float = 2, pft_front_tracking_dist: float = 1, pft_max_trial: int = 20,
        particle_count: int = 15, save_seeds: bool = False, min_wm_pve_before_stopping: float = 0,
        unidirectional: bool = False, randomize_forward_direction: bool = False) -> Streamlines:
    """Tracks by particle filtering, as DIPY's function of this name. sc has to be an anatomical criterion."""
    given = locals()
    if not isinstance(sc, _criteria.AnatomicalStoppingCriterion):
        raise ValueError("sc: an ActStoppingCriterion or a CmcStoppingCriterion of DIPY is needed, not %s" % type(sc).__name__)
    if randomize_forward_direction and not unidirectional:
        raise NotImplementedError("randomize_forward_direction: only with unidirectional=True is here")
    if unidirectional and not randomize_forward_direction:
        raise NotImplementedError("unidirectional=True: only with randomize_forward_direction=True is here")
    most = {"max_directions_per_seed": max_cross} if max_cross is not None else {}
    return _along_odf("prob", given, **{**_ALL_PEAKS, **most, **_lengths(given)}, pft=True, pft_back=pft_back_tracking_dist,
                      pft_front=pft_front_tracking_dist, pft_trials=pft_max_trial, pft_particles=particle_count,
                      pft_min_wm=min_wm_pve_before_stopping, seed_unidirectional=unidirectional)


def _lengths(given: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the limits of length of DIPY's LocalTracking, which counts points. With return_all, all streamlines are kept, also
    single points."""
    if given["return_all"]:
        return {"min_length": 0, "keep_single_points": True}
    return {"min_length": max(0, int(given["min_len"] / given["step_size"]) - 1) * given["step_size"]}


def _along_odf(dg: str, given: Dict[str, Any], **more: Any) -> Streamlines:
    if given.get("pam") is not None:
        raise NotImplementedError("pam: give sh=pam.shm_coeff, or sf=pam.odf with sphere=pam.sphere")
    odf = _directions(given["sh"], given["sf"], given["sphere"], given["basis_type"], given["legacy"], given["affine"])
    return _track(dg, given["seed_positions"], given["sc"], given["affine"], odf.image.shape[:3], {"odf": odf},
                  {**_common(given), "pmf_threshold": given["pmf_threshold"], **more}, given["seed_directions"],
                  given["return_all"], given["save_seeds"])


def _common(given: Dict[str, Any]) -> Dict[str, Any]:
    return {"step_size": given["step_size"], "min_length": given["min_len"], "max_length": given["max_len"],
            "max_angle": given["max_angle"], "rng_seed": given["random_seed"]}


def bootstrap_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, data: Any = None,
        model: Any = None, sh: Any = None, sf: Any = None, min_len: float = 2, max_len: float = 500,
        step_size: float = 0.5, voxel_size: Any = None, max_angle: float = 60, pmf_threshold: float = 0.1,
        sphere: Any = None, basis_type: Optional[str] = None, legacy: bool = True, nbr_threads: int = 0,
        random_seed: int = 0, seed_buffer_fraction: float = 1.0, return_all: bool = True,
        save_seeds: bool = False) -> Streamlines:
    """Tracks by residual bootstrap, as DIPY's function of this name. data: the series, (x, y, z, n). model: an OpdtModel or
    CsaOdfModel of DIPY, whose table and order are used; its smoothing has to be the default. As in DIPY, sphere and
    pmf_threshold have no effect."""
    names = {"OpdtModel": "opdt", "CsaOdfModel": "csa"}
    kind = names.get(type(model).__name__)
    if data is None or kind is None:
        raise ValueError("data and model are needed, the latter an %s: others are not fitted at each step here"
                         % " or ".join(names))
    gradients = Gradients.from_dipy(model.gtab, affine, "image")
    qball = QBall(gradients, kind, int(np.max(model.l_values)), min_signal=float(getattr(model, "min_signal", 1)))
    inputs = {"dwi": data, "qball": qball, "sphere": "default"}
    return _track("boot", seed_positions, sc, affine, np.shape(data)[:3], inputs,
                  {**_common(locals()), "pmf_threshold": 0.0, **_ALL_PEAKS, **_lengths(locals())}, seed_directions, return_all, save_seeds)


def eudx_tracking(
        seed_positions: ArrayLike, sc: Any, affine: ArrayLike, *, seed_directions: Any = None, sh: Any = None,
        sf: Any = None, pam: Any = None, max_cross: Optional[int] = None, min_len: float = 2, max_len: float = 500,
        step_size: float = 0.5, voxel_size: Any = None, max_angle: float = 60, pmf_threshold: float = 0.0239,
        sphere: Any = None, basis_type: Optional[str] = None, legacy: bool = True, nbr_threads: int = 0,
        random_seed: int = 0, seed_buffer_fraction: float = 1.0, return_all: bool = True,
        save_seeds: bool = False) -> Streamlines:
    """Tracks along peaks, as DIPY's function of this name. pam: a PeaksAndMetrics of DIPY, whose peak_dirs and peak_values are
    used."""
    if pam is None:
        raise ValueError("pam is needed: peaks_from_model of DIPY makes one")
    dirs, sizes = (np.asarray(getattr(pam, name, None)) for name in ("peak_dirs", "peak_values"))
    if dirs.ndim != 5 or dirs.shape[4] != 3 or sizes.shape != dirs.shape[:4]:
        raise ValueError("pam: peak_dirs, (x, y, z, n, 3), and peak_values, (x, y, z, n), are needed, not of the shapes "
                         "%s and %s" % (dirs.shape, sizes.shape))
    vectors = dirs * sizes[..., np.newaxis]
    peaks = np.asarray(vectors, dtype=np.float32).reshape(*vectors.shape[:3], -1)
    most = max_cross if max_cross is not None else vectors.shape[3]
    return _track("eudx", seed_positions, sc, affine, peaks.shape[:3], {"peaks": peaks},
                  {**_common(locals()), "cutoff": pmf_threshold, "max_directions_per_seed": most}, seed_directions,
                  return_all, save_seeds)


for _name in __all__:
    if _name.endswith("_tracking"):
        _function = globals()[_name]
        _function.__doc__ = (_function.__doc__ or "") + _PARAMETERS
        globals()[_name] = nearest(_function)
