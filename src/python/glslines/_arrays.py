"""Hands numpy arrays, nibabel images and grids to the library. Arrays that already have its layout are not copied."""

from __future__ import annotations

import ctypes
import logging
import os
from typing import Any, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._library import call, made, structs
from ._names import nearest

LARGE = 1 << 30
logger = logging.getLogger("glslines")


def is_pair(value: Any) -> bool:
    """Whether the value is a pair (array, affine), the form in which the functions of commands return images."""
    return isinstance(value, tuple) and len(value) == 2 and not isinstance(value[1], tuple) and np.ndim(value[1]) == 2


def own_affine(image: Any) -> Any:
    """Returns the affine that an image has; None: it has none."""
    return image[1] if is_pair(image) else getattr(image, "affine", None)


def affine_of(*images: Any, default: Any = None) -> NDArray[np.float64]:
    """Returns the affine of the first image that has one, else the default, else the identity."""
    for image in images:
        affine = own_affine(image)
        if affine is not None:
            return affine_numbers(affine)
    return np.eye(4) if default is None else affine_numbers(default)


def is_same_affine(affine, own):
    return np.allclose(affine_numbers(affine)[:3], affine_numbers(own)[:3], rtol=1e-4, atol=1e-4)


def require_same_affine(affine, **images):
    """Refuses an affine that differs from the affine of an image, because the affine of the image would be used."""
    for name, image in images.items():
        own = own_affine(image)
        if affine is None or own is None:
            continue
        if not is_same_affine(affine, own):
            raise ValueError("affine: is another than that of %s, which has its own: leave it out" % name)


def is_placed(*images, affine=None):
    """Whether the place of the images in space is known: an affine is given, or one of them has its own."""
    return affine is not None or any(own_affine(image) is not None for image in images)


def values(image, name, ndim):
    """Returns the values of an image as float32 in Fortran order, x fastest."""
    refuse_name(image, name, "load_image() reads it")
    data = image[0] if is_pair(image) else getattr(image, "dataobj", image)
    array = np.asanyarray(data)
    if np.ma.is_masked(array):
        raise ValueError("%s: a masked array; the values behind its mask would count: give filled(0) of it" % name)
    if array.ndim == ndim - 1 and ndim == 4:
        array = array[..., np.newaxis]
    if array.ndim == ndim + 1 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim != ndim:
        raise ValueError("%s: an array of %d dimensions is needed, this one has the shape %s"
                         % (name, ndim, array.shape))
    if 0 in array.shape:
        raise ValueError("%s: the array is empty, shape %s" % (name, array.shape))
    if array.dtype.kind not in "biuf":
        raise ValueError("%s: values of the type %s are no numbers for an image" % (name, array.dtype))
    converted = np.require(array, np.float32, "FA")
    if array.dtype.kind in "iu" and not np.array_equal(converted, array):
        logger.warning("%s: has whole numbers above 16777216, which are rounded here, as values are float32: if they are "
                       "labels, renumber them", name)
    if converted is not array and converted.nbytes > LARGE:
        logger.info("%s: copied, %.1f GiB, as float32 in Fortran order", name, converted.nbytes / LARGE)
    return converted


def label_values(image, name):
    """Returns labels as int32 in Fortran order, because float32, the type of other images, holds whole numbers only up to 2^24."""
    refuse_name(image, name, "load_labels() reads it")
    array = np.asanyarray(image[0] if is_pair(image) else getattr(image, "dataobj", image))
    if np.ma.is_masked(array):
        raise ValueError("%s: a masked array; the values behind its mask would count: give filled(0) of it" % name)
    if array.ndim == 4 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError("%s: an array of 3 dimensions is needed, this one has the shape %s" % (name, array.shape))
    if array.dtype.kind not in "biuf":
        raise ValueError("%s: values of the type %s are no numbers for an image" % (name, array.dtype))
    # a float type with a mantissa of n bits may have rounded larger numbers
    exact = 2**31 - 1 if array.dtype.kind != "f" else min(2**31 - 1, 2 ** (np.finfo(array.dtype).nmant + 1) - 1)
    wrong = ~((array >= 0) & (array <= exact))
    if array.dtype.kind == "f":
        wrong |= array != np.floor(array)
    if wrong.any():
        value = array[wrong][0]
        reason = "labels are whole numbers from 0 to %d" % (2**31 - 1)
        if exact < value < 2**31:
            reason = "as %s it may have been rounded: give labels as integers" % array.dtype
        raise ValueError("%s: has the value %s, but %s" % (name, value, reason))
    return np.require(array, np.int32, "FA")


def is_rounded(image: Any) -> bool:
    """Whether an image holds whole numbers that can be labels, but not exactly as float32."""
    array = np.asanyarray(image[0] if is_pair(image) else getattr(image, "dataobj", image))
    return bool(array.ndim == 3 and array.dtype.kind in "iu" and array.dtype.itemsize >= 4 and array.size > 0
                and array.min() >= 0 and 2**24 < array.max() < 2**31)


def refuse_name(value, name, remedy):
    """Refuses the name of a file, because numpy would make an array without dimensions from it."""
    if isinstance(value, (str, os.PathLike)):
        raise TypeError("%s: %r is the name of a file, but values are needed: %s" % (name, os.fspath(value), remedy))


def numbers(given: Any, name: str, dtype: Any = np.float64) -> NDArray[Any]:
    """Returns real numbers in C order. Refuses complex arrays, whose imaginary part numpy would drop, and masked arrays."""
    array = np.asanyarray(given)
    if np.ma.is_masked(array):
        raise ValueError("%s: a masked array; the numbers behind its mask would count: leave them out" % name)
    if array.dtype.kind not in "biuf":
        raise ValueError("%s: values of the type %s are no real numbers" % (name, array.dtype))
    return np.ascontiguousarray(array, dtype=dtype)


def reals(given, name, remedy):
    """Returns numbers as float64 in C order. remedy: end of the message that refuses the name of a file."""
    refuse_name(given, name, remedy)
    return numbers(given, name)


def affine_numbers(affine):
    """Returns the numbers of an affine, (4, 4) or (3, 4)."""
    given = numbers(affine, "affine")
    if given.shape not in ((4, 4), (3, 4)):
        raise ValueError("affine: has the shape %s, not (4, 4)" % (given.shape,))
    if given.shape == (4, 4) and not np.allclose(given[3], (0, 0, 0, 1), rtol=0, atol=1e-6):
        raise ValueError("affine: its last row is %s, not 0 0 0 1: is it transposed?" % (given[3],))
    _grid((1, 1, 1), given)
    return given


def _grid(dim, affine):
    """Returns a grid of the library, which refuses affines that are singular, not finite or too large."""
    grid = structs["gls_grid"]()
    call.gls_grid_init(ctypes.byref(grid), (ctypes.c_int32 * 3)(*dim), np.ascontiguousarray(affine[:3]).ctypes.data)
    return grid


def grid_of(shape, affine):
    if len(shape) < 3:
        raise ValueError("a grid has three dimensions, not the shape %s" % (tuple(shape),))
    return _grid([_library.integer(n, "shape", 1, 2**31 - 1) for n in shape[:3]], affine_numbers(affine))


def grid_like(ref):
    """Returns the grid of an image: a file, an image of nibabel, or a pair (array or shape, affine)."""
    if isinstance(ref, (str, os.PathLike)):
        ref = load_image(ref)
    if isinstance(ref, tuple) and len(ref) == 2:
        return grid_of(np.shape(ref[0]) if np.ndim(ref[0]) > 1 else ref[0], ref[1])
    if getattr(ref, "affine", None) is None or len(getattr(ref, "shape", ())) < 3:
        raise TypeError("as reference a file, an image with shape and affine, or a pair of them is needed")
    return grid_of(ref.shape, ref.affine)


class Image(_library.Handle):
    """An image of the library around a numpy array."""

    def __init__(self, image, affine, name, ndim=3):
        self.array = values(image, name, ndim)
        self.shape = self.array.shape
        self.grid = grid_of(self.shape, affine)
        n = self.shape[3] if ndim == 4 else 1
        pointer = made(call.gls_image_wrap, ctypes.byref(self.grid), n, self.array.ctypes.data,
                       destroy=call.gls_image_destroy)
        super().__init__(pointer, call.gls_image_destroy, self.array)


def taken(pointer):
    """Returns the values of an image that the library made as an array. The image is freed with the array."""
    image = structs["gls_image"].from_address(pointer)
    dim = tuple(image.grid.dim)
    n = image.n_volumes
    shape = dim if n == 1 else dim + (n,)
    block = (ctypes.c_float * int(np.prod(shape))).from_address(image.data)
    block.owner = _library.Handle(pointer, call.gls_image_destroy)
    return np.ctypeslib.as_array(block).reshape(shape, order="F")


@nearest
def load_image(path: Union[str, os.PathLike[str]]) -> Tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Reads an image file, NIfTI or MRtrix's .mif, as (array, affine): float32, (x, y, z) or (x, y, z, n).

    The axes of a .mif are those in which it is stored, to which FSL's gradient tables refer."""
    pointer = made(call.gls_image_read, _library.encode(path), 0, destroy=call.gls_image_destroy)
    affine = np.eye(4)
    affine[:3] = np.array(structs["gls_image"].from_address(pointer).grid.affine).reshape(3, 4)
    return taken(pointer), affine


def load_labels(path: Union[str, os.PathLike[str]]) -> Tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Reads an image of labels as (array, affine). The array is int32, which holds labels up to 2^31 - 1 exactly;
    load_image() returns float32, which rounds labels above 2^24."""
    pointer = made(call.gls_labels_read, _library.encode(path), destroy=call.gls_labels_destroy)
    labels = structs["gls_labels"].from_address(pointer)
    affine = np.eye(4)
    affine[:3] = np.array(labels.grid.affine).reshape(3, 4)
    shape = tuple(labels.grid.dim)
    block = (ctypes.c_int32 * int(np.prod(shape))).from_address(labels.data)
    block.owner = _library.Handle(pointer, call.gls_labels_destroy)
    return np.ctypeslib.as_array(block).reshape(shape, order="F"), affine


def save_labels(path: Union[str, os.PathLike[str]], array: Any, affine: ArrayLike) -> None:
    """Writes an image of labels as int32. array: whole numbers from 0 to 2^31 - 1, (x, y, z), or an image of nibabel.
    affine: from voxels to world mm, (4, 4). A file that exists is replaced."""
    require_same_affine(affine, array=array)
    write_labels(path, array, affine, "array")


def write_labels(path: Union[str, os.PathLike[str]], array: Any, affine: ArrayLike, name: str) -> None:
    """Does what save_labels() does. name: name of the array in messages."""
    values_ = label_values(array, name)
    grid = grid_of(values_.shape, affine)
    pointer = made(call.gls_labels_wrap, ctypes.byref(grid), values_.ctypes.data, destroy=call.gls_labels_destroy)
    handle = _library.Handle(pointer, call.gls_labels_destroy)
    call.gls_labels_write(_library.encode(path), handle.pointer)


def require_shape(array, like, name, name_like):
    if tuple(array.shape[:3]) != tuple(like.shape[:3]):
        raise ValueError("%s has the shape %s, %s %s" % (name, array.shape[:3], name_like, like.shape[:3]))


@nearest
def save_image(path: Union[str, os.PathLike[str]], array: Any, affine: ArrayLike) -> None:
    """Writes an image file, NIfTI (.nii or .nii.gz), as float32.

    Parameters
    ----------
    path : str or os.PathLike
        The file; one that exists is replaced.
    array : array_like
        Values, (x, y, z) or (x, y, z, n), or an image of nibabel.
    affine : array_like
        From voxels to world mm, (4, 4).
    """
    require_same_affine(affine, array=array)
    n_dimensions = 4 if np.ndim(array[0] if is_pair(array) else getattr(array, "dataobj", array)) == 4 else 3
    image = Image(array, affine, "array", n_dimensions)
    call.gls_image_write(_library.encode(path), image.pointer, _library.constants["GLS_IMAGE_FLOAT32"])
