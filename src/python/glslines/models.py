"""Gradient tables, models (tensor, q-ball, constrained spherical deconvolution), and ODFs of other programs."""

from __future__ import annotations

import copy
import ctypes
import os
from typing import Any, Callable, Dict, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import Image, affine_of, is_placed, numbers, reals, require_same_affine, require_shape, taken
from ._library import call, encode, made, one_of, structs
from ._names import nearest, nearest_in

PathLike = Union[str, "os.PathLike[str]"]
FRAMES = {"fsl": "GLS_BVEC_FSL", "image": "GLS_BVEC_IMAGE", "world": "GLS_BVEC_WORLD"}
RULES = {"dipy": "GLS_CSD_RULE_DIPY", "mrtrix": "GLS_CSD_RULE_MRTRIX"}
MODELS = {"opdt": "GLS_QBALL_OPDT", "csa": "GLS_QBALL_CSA"}


def _gradients_options(frame, b0_threshold):
    options = call.gls_gradients_options_default()
    options.b0_threshold = _library.real(b0_threshold, "b0_threshold", low=0)
    options.frame = one_of(FRAMES, frame, "frame")
    return options


@nearest_in
class Gradients(_library.Handle):
    """A gradient table: b-values (n,) in s/mm2 and vectors (n, 3) or (3, n).

    frame names the axes of the vectors: "fsl" (voxel axes, x negated if the determinant of the affine is positive: FSL's
    rule), "image" (voxel axes as they are, as DIPY takes them) or "world" (scanner axes, RAS+).
    """

    kind = "gradient table"

    def __init__(self, bvals: ArrayLike, bvecs: ArrayLike, affine: Optional[ArrayLike] = None, frame: str = "fsl",
                 b0_threshold: float = 50) -> None:
        bvals = reals(bvals, "bvals", "Gradients.read() reads it").ravel()
        bvecs = reals(bvecs, "bvecs", "Gradients.read() reads it")
        if bvecs.ndim == 2 and bvecs.shape[0] == 3 and bvecs.shape != (3, 3):
            bvecs = bvecs.T
        if bvecs.shape != (len(bvals), 3):
            raise ValueError("%d b-values and vectors of the shape %s" % (len(bvals), bvecs.shape))
        if affine is None and frame != "image":
            raise ValueError("frame '%s' needs the affine of the series" % frame)
        bvecs = np.ascontiguousarray(bvecs)
        # the frame depends on the axes alone, not on how many voxels there are
        grid = None if affine is None else _grid_of_axes(affine)
        options = _gradients_options(frame, b0_threshold)
        self._own(made(call.gls_gradients_create, bvals.ctypes.data, bvecs.ctypes.data, len(bvals),
                       ctypes.byref(options), _library.reference(grid), destroy=call.gls_gradients_destroy))

    @classmethod
    def read_table(cls, path: PathLike, affine: ArrayLike, n_volumes: int, b0_threshold: float = 50) -> Gradients:
        """Reads a table from one file: MRtrix's table x y z b (.b), JSON with dw_scheme, or the header of a .mif."""
        table = cls.__new__(cls)
        grid = _grid_of_axes(affine)
        options = _gradients_options("world", b0_threshold)
        table._own(made(call.gls_gradients_read_table, encode(path), ctypes.byref(options), ctypes.byref(grid),
                        _library.integer(n_volumes, "n_volumes", 1, 2**31 - 1), destroy=call.gls_gradients_destroy))
        return table

    def _own(self, pointer):
        super().__init__(pointer, call.gls_gradients_destroy)

    @property
    def made_by(self):
        table = self._struct
        return _table_of, (type(self), self.bvals, self.bvecs, table.b0_threshold, table.x_flipped, table.scaled)

    @classmethod
    def read(cls, bval: PathLike, bvec: PathLike, affine: ArrayLike, n_volumes: int, frame: str = "fsl",
             b0_threshold: float = 50) -> Gradients:
        """Reads a table from two text files, for a series of n_volumes with this affine."""
        table = cls.__new__(cls)
        grid = _grid_of_axes(affine)
        options = _gradients_options(frame, b0_threshold)
        table._own(made(call.gls_gradients_read, encode(bval), encode(bvec), ctypes.byref(options), ctypes.byref(grid),
                        _library.integer(n_volumes, "n_volumes", 1, 2**31 - 1), destroy=call.gls_gradients_destroy))
        return table

    @classmethod
    def from_dipy(cls, gtab: Any, affine: Optional[ArrayLike], frame: str = "fsl") -> Gradients:
        """Makes a table from a GradientTable of DIPY. DIPY keeps the vectors of a file as they are, and those of an FSL file are
        along FSL's axes; so the default frame is "fsl". "image" takes them as DIPY does."""
        if not hasattr(gtab, "bvals") or not hasattr(gtab, "bvecs"):
            raise TypeError("gtab: a GradientTable of DIPY is needed, not %s" % type(gtab).__name__)
        return cls(gtab.bvals, gtab.bvecs, affine, frame, getattr(gtab, "b0_threshold", 50))

    @property
    def _struct(self):
        return _contents("gls_gradients", self.pointer)

    def __len__(self) -> int:
        return self._struct.n

    @property
    def bvals(self) -> NDArray[np.float64]:
        table = self._struct
        return np.ctypeslib.as_array((ctypes.c_double * table.n).from_address(table.bval)).copy()

    @property
    def bvecs(self) -> NDArray[np.float64]:
        """Unit vectors along the voxel axes, (n, 3)."""
        table = self._struct
        flat = np.ctypeslib.as_array((ctypes.c_double * (3 * table.n)).from_address(table.bvec))
        return flat.reshape(-1, 3).copy()

    @property
    def b0s_mask(self) -> NDArray[np.bool_]:
        table = self._struct
        return np.ctypeslib.as_array((ctypes.c_bool * table.n).from_address(table.is_b0)).copy()


def _table_of(kind, bvals, bvecs, b0_threshold, x_flipped, scaled):
    """Makes a table that has exactly these numbers. The vectors are copied, because normalising them again would change their last
    bits."""
    table = kind(bvals, bvecs, None, "image", b0_threshold)
    struct = table._struct
    ctypes.memmove(struct.bvec, bvecs.ctypes.data, bvecs.nbytes)
    struct.x_flipped, struct.scaled = x_flipped, scaled
    return table


def _contents(name, pointer):
    """Returns the struct at a pointer. The object lives as long as the struct does."""
    struct = structs[name].from_address(pointer.value)
    struct.owner = pointer
    return struct


def _grid_of_axes(affine):
    from ._arrays import grid_of

    return grid_of((1, 1, 1), affine)


def _require_table(gradients):
    if not isinstance(gradients, Gradients):
        raise TypeError("gradients: Gradients are needed, not %s" % type(gradients).__name__)


def _series(dwi, gradients, affine):
    _require_table(gradients)
    series = Image(dwi, affine_of(dwi, default=affine), "dwi", 4)
    if series.shape[3] != len(gradients):
        raise ValueError("dwi has %d volumes, the gradient table %d" % (series.shape[3], len(gradients)))
    return series


def _mask(mask, series, affine, name="mask"):
    if mask is None:
        return None
    image = Image(mask, affine_of(mask, default=affine), name)
    require_shape(image.array, series.array, name, "the series")
    return image


def _pointer(handle):
    return None if handle is None else handle.pointer


@nearest
def fit_tensor(dwi: Any, gradients: Gradients, mask: Any = None,
               affine: Optional[ArrayLike] = None) -> Dict[str, NDArray[np.float32]]:
    """Fits tensors by weighted least squares. Returns a dict of arrays: fa (x, y, z), tensor (x, y, z, 6: Dxx Dxy Dyy Dxz Dyz
    Dzz, mm2/s, voxel axes) and evals (x, y, z, 3, descending)."""
    require_same_affine(affine, dwi=dwi, mask=mask)
    affine = affine_of(dwi, mask, default=affine)
    series = _series(dwi, gradients, affine)
    inside = _mask(mask, series, affine)
    out = [ctypes.c_void_p() for _ in range(3)]
    with _library.destroyed_if_raised(call.gls_image_destroy, *out):
        call.gls_tensor_fit(series.pointer, gradients.pointer, _pointer(inside), None, *(ctypes.byref(o) for o in out))
    return dict(zip(("fa", "tensor", "evals"), (taken(o.value) for o in out)))


def tensor_peaks(dwi, gradients, mask, affine):
    """Returns the peaks for a Tracker along tensors, (x, y, z, 3): vectors along the main axis of each tensor, as long as
    FA."""
    series = _series(dwi, gradients, affine)
    out = [ctypes.c_void_p() for _ in range(2)]
    with _library.destroyed_if_raised(call.gls_image_destroy, *out):
        call.gls_peaks_of_tensors(series.pointer, gradients.pointer, _pointer(_mask(mask, series, affine)),
                                  *(ctypes.byref(o) for o in out))
    return [taken(o.value) for o in out][1]


def read_bedpostx(folder, mask=None):
    """Reads the samples in a folder of bedpostX. mask: file of a mask; None: the mask in the folder. Returns the mask, the peaks of
    all samples, the number of samples and the affine."""
    out, n = [ctypes.c_void_p() for _ in range(2)], ctypes.c_uint32()
    with _library.destroyed_if_raised(call.gls_image_destroy, *out):
        call.gls_bedpostx_read(encode(folder, "bedpostx"), encode(mask, "mask") if mask is not None else None, None, None, *(ctypes.byref(o) for o in out),
                               ctypes.byref(n))
    affine = np.eye(4)
    affine[:3] = np.array(structs["gls_image"].from_address(out[0].value).grid.affine).reshape(3, 4)
    mask, peaks = (taken(o.value) for o in out)
    return mask, peaks, n.value, affine


@nearest_in
class QBall(_library.Handle):
    """A q-ball model for the bootstrap, "opdt" or "csa"."""

    kind = "q-ball model"

    def __init__(self, gradients: Gradients, model: str = "opdt", sh_order: int = 4, smooth: float = 0.006,
                 min_signal: float = 1.0, require_single_shell: bool = False) -> None:
        options = call.gls_qball_options_default()
        options.model = one_of(MODELS, model, "model")
        options.sh_order = _library.even_order(sh_order, "sh_order", 8)
        options.smooth = _library.real(smooth, "smooth", low=0)
        options.min_signal = _library.real(min_signal, "min_signal", above=0)
        _require_table(gradients)
        self.gradients = copy.copy(gradients)  # a copy: the caller may close the given table
        super().__init__(made(call.gls_qball_create, gradients.pointer, ctypes.byref(options),
                              _library.switch(require_single_shell, "require_single_shell"), destroy=call.gls_qball_destroy),
                         call.gls_qball_destroy, gradients)
        self.made_by = type(self), (self.gradients, model, sh_order, smooth, min_signal, require_single_shell)

    def fit(self, dwi: Any, mask: Any = None, affine: Optional[ArrayLike] = None) -> NDArray[np.float32]:
        """Returns SH coefficients (x, y, z, k) in the basis descoteaux07_legacy, along the voxel axes."""
        require_same_affine(affine, dwi=dwi, mask=mask)
        affine = affine_of(dwi, mask, default=affine)
        series = _series(dwi, self.gradients, affine)
        inside = _mask(mask, series, affine)
        return taken(made(call.gls_qball_fit_image, self.pointer, series.pointer, self.gradients.pointer,
                          _pointer(inside), destroy=call.gls_image_destroy))


_CSD_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


@nearest
def csd(dwi: Any, gradients: Gradients, mask: Any = None, sh_order: int = 8, shell: float = 0, response: Any = None,
        affine: Optional[ArrayLike] = None, progress: Optional[Callable[[int, int], Optional[bool]]] = None,
        rule: str = "dipy", directions: Optional[ArrayLike] = None) -> NDArray[np.float32]:
    """Fits constrained spherical deconvolution to one shell. Returns SH coefficients (x, y, z, k) in the basis descoteaux07_legacy,
    along the voxel axes. shell: a b-value that names the shell; 0: it is chosen. response: l1, l2, S0 (mm2/s, signal), or the
    name of a file, such as one of MRtrix3's dwi2response; None: it is estimated. rule: "dipy", or "mrtrix" for the method of
    dwi2fod csd; see 'glslines help models'. directions: (n, 3) along the scanner axes, in which ODFs must not be negative;
    None: those of the rule. progress(done, total) may return False to stop."""
    require_same_affine(affine, dwi=dwi, mask=mask)
    affine = affine_of(dwi, mask, default=affine)
    series = _series(dwi, gradients, affine)
    inside = _mask(mask, series, affine)
    bval, chosen, volume = ctypes.c_double(), ctypes.c_void_p(), ctypes.c_void_p()
    sh_order = _library.even_order(sh_order, "sh_order", 12)
    call.gls_csd_choose_shell(gradients.pointer, _library.real(shell, "shell", low=0), sh_order, ctypes.byref(bval))
    call.gls_gradients_select_shell(gradients.pointer, bval.value, ctypes.byref(chosen), ctypes.byref(volume))
    table = _library.Handle(chosen.value, call.gls_gradients_destroy)
    volumes = _library.Handle(volume.value, call.gls_free)
    found = structs["gls_response"]()
    options = call.gls_csd_options_default()
    options.rule = one_of(RULES, rule, "rule")
    options.sh_order = sh_order
    if isinstance(response, (str, os.PathLike)):
        call.gls_response_read(encode(response), 0 if rule == "mrtrix" else sh_order, gradients.pointer, bval.value,
                               ctypes.byref(found))
    elif response is None:
        how = call.gls_response_options_default()
        how.mask = _pointer(inside)
        call.gls_response_estimate(series.pointer, table.pointer, volumes.pointer, ctypes.byref(how),
                                   ctypes.byref(found))
    else:
        three = np.ravel(response)
        if len(three) != 3:
            raise ValueError("response: l1, l2 and S0 are needed, or the name of a file, not %d values" % len(three))
        found.evals[0], found.evals[1], found.s0 = (_library.real(v, "response") for v in three)
    if directions is not None:
        unit = numbers(directions, "directions").copy()
        if unit.ndim != 2 or unit.shape[1] != 3:
            raise ValueError("directions of the shape %s instead of (n, 3)" % (unit.shape,))
        norms = np.linalg.norm(unit, axis=1, keepdims=True)
        if not (np.isfinite(norms) & (norms > 0)).all():
            raise ValueError("directions: one has no finite length above 0")
        unit /= norms
        options.direction, options.n_directions = unit.ctypes.data, len(unit)
    watch, out = _library.Watch(_CSD_PROGRESS, progress), ctypes.c_void_p()
    with _library.destroyed_if_raised(call.gls_image_destroy, out):
        watch.run(call.gls_csd_fit, series.pointer, table.pointer, volumes.pointer, _pointer(inside),
                  ctypes.byref(found), ctypes.byref(options), watch.pointer, None, ctypes.byref(out))
    return taken(out.value)


@nearest_in
class Sphere(_library.Handle):
    """Directions: a built-in set ("default", "small", "repulsion724", ...), a DIPY sphere, or an array (n, 3)."""

    kind = "sphere"

    def __init__(self, directions: Any = "default") -> None:
        if isinstance(directions, str):
            pointer = made(call.gls_sphere_create, encode(directions), destroy=call.gls_sphere_destroy)
        else:
            array = vertices_of(directions)
            out = ctypes.c_void_p()
            with _library.destroyed_if_raised(call.gls_sphere_destroy, out):
                call.gls_sphere_create_guess(array.ctypes.data, len(array), ctypes.byref(out), None)
            pointer = out.value
            directions = array.copy()
        super().__init__(pointer, call.gls_sphere_destroy)
        self.made_by = type(self), (directions,)

    @property
    def vertices(self) -> NDArray[np.float64]:
        sphere = _contents("gls_sphere", self.pointer)
        flat = np.ctypeslib.as_array((ctypes.c_double * (3 * sphere.n)).from_address(sphere.vertex))
        return flat.reshape(-1, 3).copy()

    @property
    def is_antipodal(self) -> bool:
        """Whether one vertex stands for both ends of a pair of opposite directions."""
        return _contents("gls_sphere", self.pointer).antipodal


def vertices_of(directions):
    array = numbers(getattr(directions, "vertices", directions), "directions")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError("directions have the shape (n, 3), not %s" % (array.shape,))
    return array


@nearest_in
class ODF(_library.Handle):
    """ODFs to track along, with prob, det or ptt for example. `ODF.from_sh` or `ODF.from_amplitudes` makes them."""

    kind = "ODF"

    def __init__(self, pointer, image, placed, *keep):
        super().__init__(pointer, call.gls_odf_source_destroy, image, *keep)
        self.image, self.is_placed = image, placed

    def _made(self, method, *arguments, stop_map, stop_threshold):
        """Stores the class method that made this object and its arguments, for copies and pickles. Returns the object."""
        affine = _affine(self.image) if self.is_placed else None
        stop_map = None if stop_map is None else stop_map.array
        self.made_by = method, (self.image.array, *arguments, affine, stop_map, stop_threshold)
        return self

    @classmethod
    def from_sh(cls, sh: Any, basis: str = "descoteaux07_legacy", frame: str = "image", sphere: Any = "default",
                affine: Optional[ArrayLike] = None, stop_map: Any = None, stop_threshold: float = 0.0) -> ODF:
        """Makes ODFs from SH coefficients. sh: (x, y, z, k), even or full basis. frame: axes of the coefficients ("image", "fsl",
        "world"). ODFs are 0 where stop_map is below stop_threshold."""
        require_same_affine(affine, sh=sh, stop_map=stop_map)
        image = Image(sh, affine_of(sh, stop_map, default=affine), "sh", 4)
        number = ctypes.c_int()
        call.gls_sh_basis_parse(encode(basis), ctypes.byref(number))
        sphere = sphere if isinstance(sphere, Sphere) else Sphere(sphere)
        options, keep = _odf_options(image, stop_map, stop_threshold)
        pointer = made(call.gls_odf_source_create_sh, image.pointer, b"sh", number, one_of(FRAMES, frame, "frame"),
                       sphere.pointer, ctypes.byref(options), destroy=call.gls_odf_source_destroy)
        made_here = cls(pointer, image, is_placed(sh, stop_map, affine=affine), sphere, keep)
        return made_here._made(cls.from_sh, basis, frame, copy.copy(sphere), stop_map=keep, stop_threshold=stop_threshold)

    @classmethod
    def from_amplitudes(cls, odf: Any, sphere: Any, frame: str = "image", affine: Optional[ArrayLike] = None,
                        stop_map: Any = None, stop_threshold: float = 0.0) -> ODF:
        """Makes ODFs from their values. odf: (x, y, z, n), a value for each of the n directions of sphere, which is a sphere of
        DIPY or an array (n, 3)."""
        require_same_affine(affine, odf=odf, stop_map=stop_map)
        image = Image(odf, affine_of(odf, stop_map, default=affine), "odf", 4)
        vertices = vertices_of(sphere)
        if len(vertices) != image.shape[3]:
            raise ValueError("odf has %d values a voxel, sphere %d directions" % (image.shape[3], len(vertices)))
        options, keep = _odf_options(image, stop_map, stop_threshold)
        pointer = made(call.gls_odf_source_create_amplitudes, image.pointer, b"odf", vertices.ctypes.data,
                       len(vertices), b"sphere", one_of(FRAMES, frame, "frame"), ctypes.byref(options),
                       destroy=call.gls_odf_source_destroy)
        made_here = cls(pointer, image, is_placed(odf, stop_map, affine=affine), keep)
        return made_here._made(cls.from_amplitudes, vertices.copy(), frame, stop_map=keep, stop_threshold=stop_threshold)

    def _at(self, affine):
        """Makes the same ODFs with an affine, if their array has none."""
        self.pointer  # raises RuntimeError if the ODF is closed
        method, (*before, _, stop_map, stop_threshold) = self.made_by
        return method(*before, affine, stop_map, stop_threshold)

    def sample(self) -> NDArray[np.float32]:
        """Returns the amplitudes on the sphere that tracking uses, (x, y, z, n)."""
        return taken(made(call.gls_odf_sample, self.pointer, destroy=call.gls_image_destroy))


def _odf_options(image, stop_map, stop_threshold):
    options = call.gls_odf_options_default()
    keep = _mask(stop_map, image, _affine(image), "stop_map")
    if keep is not None:
        options.stop_map = keep.pointer
        options.stop_threshold = _library.real(stop_threshold, "stop_threshold")
    return options, keep


def _affine(image):
    affine = np.eye(4)
    affine[:3] = np.array(image.grid.affine).reshape(3, 4)
    return affine
