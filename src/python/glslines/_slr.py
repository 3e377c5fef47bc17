"""Registers streamlines, given as arrays of points, with the library."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._library import call, structs

#: number of parameters of each type of transform
TYPES = {"translation": 3, "rigid": 6, "similarity": 7, "scaling": 9, "affine": 12}


def options(n: int, bounds: Optional[Sequence[Tuple[float, float]]] = None, start: Optional[ArrayLike] = None,
            progressive: bool = True, centred: bool = True, maxiter: int = 100, ftol: float = 1e-7,
            gtol: float = 1e-5, metric: str = "symmetric") -> Tuple[Any, Any]:
    """The options of n parameters, and the array that they point to."""
    made = call.gls_slr_options_default()
    made.type, made.progressive, made.centred = n, progressive, centred
    made.metric = ("symmetric", "asymmetric", "sum").index(metric)
    made.max_iterations, made.value_tolerance, made.gradient_tolerance = maxiter, ftol, gtol
    limits = [(-np.inf, np.inf)] * n if bounds is None else list(bounds)
    if len(limits) != n:
        raise ValueError("bounds: %d parameters need as many pairs, not %d" % (n, len(limits)))
    for k, (low, high) in enumerate(limits):
        made.low[k], made.high[k] = -np.inf if low is None else low, np.inf if high is None else high
    first = None if start is None else np.ascontiguousarray(start, dtype=np.float64)
    if first is not None:
        made.start = first.ctypes.data
    return made, first


def find(fixed: ArrayLike, moving: ArrayLike, n: int, bounds: Optional[Sequence[Tuple[float, float]]] = None,
         start: Optional[ArrayLike] = None, **more: Any) -> Tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """The result, the matrix and the n parameters. fixed, moving: (streamlines, points, 3); more: as of options()."""
    made, first = options(n, bounds, start, **more)
    result = structs["gls_slr_result"]()
    sets = [np.ascontiguousarray(lines, dtype=np.float32) for lines in (fixed, moving)]
    call.gls_slr_find(ctypes.byref(made), sets[0].ctypes.data, len(sets[0]), sets[1].ctypes.data, len(sets[1]),
                      sets[0].shape[1], ctypes.byref(result))
    del first
    return result, np.array(result.matrix, dtype=np.float64).reshape(4, 4), np.array(result.parameter[:n])
