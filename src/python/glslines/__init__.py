"""Diffusion MRI tractography in OpenGL compute shaders: Python interface of libglslines.

    import glslines
    glslines.track("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz", "wm.nii.gz", "tracks.trx", nseeds=10000)

or on arrays:

    odf = glslines.ODF.from_amplitudes(amplitudes, sphere, affine=affine)
    with glslines.Tracker("auto", glslines.Params(dg="prob", step_size="0.5mm"), odf=odf, stop_map=fa) as tracker:
        result = tracker.run(glslines.Seeds.random(wm, 10000, affine=affine))

Messages go to the logger "glslines".
"""

import os as _os

from . import _library

# in a build folder, the functions of commands lie beside the library
if _os.path.isfile(_os.path.join(_os.path.dirname(_library.path), "python", "commands.py")):
    __path__.append(_os.path.join(_os.path.dirname(_os.path.abspath(_library.path)), "python"))

from ._arrays import load_image, load_labels, save_image, save_labels
from ._errors import (ArgumentError, CancelledError, ConvergenceError, DeviceError, EmptyError, Error, FormatWarning,
                      InputError, OutOfMemoryError, OutputError, UnsupportedError)
from .devices import Device, devices
from ._exchange import Files, Tracked
from . import commands
from .commands import *
from .files import load
from .models import ODF, Gradients, QBall, Sphere, csd, fit_tensor
from .pictures import Picture
from .streamlines import Batch, Result
from .tracking import Seeds, Tracker
from .window import Window, view

__version__ = _library.version

__all__ = ["ArgumentError", "Batch", "CancelledError", "ConvergenceError", "Device", "DeviceError", "EmptyError",
           "Error", "Files", "FormatWarning", "Gradients", "InputError", "ODF", "OutOfMemoryError", "OutputError", "Picture",
           "QBall", "Result", "Seeds", "Sphere", "Tracked", "Tracker", "UnsupportedError", "Window", "csd", "devices", "fit_tensor", "load",
           "load_image", "load_labels", "save_image", "save_labels", "view"]
__all__ += commands.__all__
