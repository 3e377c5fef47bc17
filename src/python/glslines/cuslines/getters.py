"""Direction getters with the names and arguments of cuslines 2.2.3. They hold settings; the tracker does the work."""

import numpy as np


class ProbDirectionGetter:
    """A draw from the ODF inside the cone."""

    _dg = "prob"

    def __init__(self):
        pass


class PttDirectionGetter(ProbDirectionGetter):
    """Parallel transport. probe_length is the length of one of the probe_quality steps of the probe, in voxels;
    target_short_step is in voxels. odf_lut_res has no effect: the ODF is looked up on the sphere itself."""

    _dg = "ptt"

    def __init__(self, odf_lut_res=128, probe_length=0.25, target_short_step=0.025, probe_quality=8):
        super().__init__()
        self.odf_lut_res = odf_lut_res
        self.probe_length = probe_length
        self.target_short_step = target_short_step
        self.probe_quality = probe_quality


class BootDirectionGetter:
    """Residual bootstrap over a q-ball model; made by from_dipy_opdt() or from_dipy_csa()."""

    _dg = "boot"

    def __init__(self, model_type, min_signal, H, R, delta_b, delta_q, sampling_matrix, b0s_mask):
        raise NotImplementedError("matrices of a model are not taken: use BootDirectionGetter.from_dipy_opdt() or "
                                  "BootDirectionGetter.from_dipy_csa(), which take the gradient table")

    @classmethod
    def _make(cls, model, gtab, sphere, sh_order_max, full_basis, sh_lambda, min_signal):
        if full_basis:
            raise NotImplementedError("full_basis=True: the models of the bootstrap are symmetric")
        getter = cls.__new__(cls)
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
        """The table with its vectors along the voxel axes as they are, which is how cuslines takes them."""
        from ..models import Gradients

        b0s = np.asarray(self.gtab.b0s_mask, dtype=bool)
        bvals = np.asarray(self.gtab.bvals, dtype=np.float64)
        threshold = getattr(self.gtab, "b0_threshold", None)
        if threshold is None:
            threshold = bvals[b0s].max() if b0s.any() else 0
        return Gradients(bvals, self.gtab.bvecs, affine, "image", threshold)
