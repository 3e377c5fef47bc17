"""Diffusion MRI tractography in OpenGL compute shaders: Python interface of libglslines.

    import glslines
    glslines.track("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "wm.nii.gz", "tracks.trx", nseeds=10000)

or on arrays:

    odf = glslines.ODF.from_amplitudes(amplitudes, sphere, affine=affine)
    with glslines.Tracker("auto", glslines.Params(dg="prob", step_size="0.5mm"), odf=odf, stop_map=fa) as tracker:
        result = tracker.run(glslines.Seeds.random(wm, 10000, affine=affine))

Messages go to the logger "glslines".
"""

from ._arrays import load_image
from ._errors import (ArgumentError, CancelledError, ConvergenceError, DeviceError, EmptyError, Error, InputError,
                      OutOfMemoryError, OutputError, UnsupportedError)
from ._library import version as __version__
from .devices import Device, devices
from .files import load, track
from .models import ODF, Gradients, QBall, Sphere, csd, fit_tensor
from .params import Params
from .pictures import render, report
from .tracking import Batch, Result, Seeds, Tracker

__all__ = ["ArgumentError", "Batch", "CancelledError", "ConvergenceError", "Device", "DeviceError", "EmptyError", "Error", "Gradients",
           "InputError", "ODF", "OutOfMemoryError", "OutputError", "Params", "QBall", "Result", "Seeds", "Sphere",
           "Tracker", "UnsupportedError", "csd", "devices", "fit_tensor", "load", "load_image",
           "render", "report", "track"]
