"""Direction getters with the names and arguments of cuslines 2.2.3. They hold settings; the tracker does the work."""

import logging

import numpy as np

from .. import _library
from .._names import near, nearest_in

logger = logging.getLogger("GPUStreamlines")


class Settings:
    """An object whose settings are those in _settings. Any other name is refused, because it would have no effect."""

    _settings = ()

    def __setattr__(self, name, value):
        if name not in self._settings and not name.startswith("_"):
            raise AttributeError("%s has no setting '%s'%s" % (type(self).__name__, name, near(name, self._settings)))
        if name == "angular_weight" and not 0 <= _library.real(value, name) <= 1:
            raise ValueError("angular_weight: %r is not between 0 and 1" % value)
        super().__setattr__(name, value)


class ProbDirectionGetter(Settings):
    """Draws each direction at random from the ODF inside the cone. angular_weight: preference for directions near the last one,
    0 to 1."""

    _dg = "prob"
    _settings = ("angular_weight",)

    def __init__(self):
        self.angular_weight = 0.0


@nearest_in
class PttDirectionGetter(ProbDirectionGetter):
    """Tracks by parallel transport. The probe has probe_quality steps, each of the length probe_length, in voxels;
    target_short_step is in voxels, too. odf_lut_res has no effect, because the ODF is looked up on the sphere itself; a
    warning says so."""

    _dg = "ptt"
    _settings = ("odf_lut_res", "probe_length", "target_short_step", "probe_quality")

    def __init__(self, odf_lut_res=128, probe_length=0.25, target_short_step=0.025, probe_quality=8):
        if odf_lut_res != 128:
            logger.warning("glslines: odf_lut_res=%s has no effect: the ODF is looked up on the sphere itself", odf_lut_res)
        self.odf_lut_res = odf_lut_res
        self.probe_length = probe_length
        self.target_short_step = target_short_step
        self.probe_quality = probe_quality


@nearest_in
class BootDirectionGetter(Settings):
    """Tracks by residual bootstrap of a q-ball model. from_dipy_opdt() and from_dipy_csa() make it. angular_weight: preference
    for directions near the last one, 0 to 1."""

    _dg = "boot"
    _settings = ("model", "gtab", "sphere", "sh_order_max", "sh_lambda", "min_signal", "angular_weight")

    def __init__(self, model_type, min_signal, H, R, delta_b, delta_q, sampling_matrix, b0s_mask):
        raise NotImplementedError("matrices of a model are not taken: use BootDirectionGetter.from_dipy_opdt() or "
                                  "BootDirectionGetter.from_dipy_csa(), which take the gradient table")

    @classmethod
    def _make(cls, model, gtab, sphere, sh_order_max, full_basis, sh_lambda, min_signal):
        if full_basis:
            raise NotImplementedError("full_basis=True: the models of the bootstrap are symmetric")
        getter = cls.__new__(cls)
        getter.angular_weight = 0.0
        getter.model = model
        getter.gtab = gtab
        getter.sphere = sphere
        getter.sh_order_max = int(sh_order_max)
        getter.sh_lambda = float(sh_lambda)
        getter.min_signal = float(min_signal)
        return getter

    @classmethod
    def from_dipy_opdt(cls, gtab, sphere, sh_order_max=6, full_basis=False, sh_lambda=0.006, min_signal=1):
        return cls._make("opdt", gtab, sphere, sh_order_max, full_basis, sh_lambda, min_signal)

    @classmethod
    def from_dipy_csa(cls, gtab, sphere, sh_order_max=6, full_basis=False, sh_lambda=0.006, min_signal=1):
        return cls._make("csa", gtab, sphere, sh_order_max, full_basis, sh_lambda, min_signal)

    def _gradients(self, affine):
        """Returns the gradient table. Its vectors are taken to be along the voxel axes, as cuslines takes them."""
        from ..models import Gradients

        b0s = np.asarray(self.gtab.b0s_mask, dtype=bool)
        bvals = np.asarray(self.gtab.bvals, dtype=np.float64)
        threshold = getattr(self.gtab, "b0_threshold", None)
        if threshold is None:
            threshold = bvals[b0s].max() if b0s.any() else 0
        return Gradients(bvals, self.gtab.bvecs, affine, "image", threshold)
