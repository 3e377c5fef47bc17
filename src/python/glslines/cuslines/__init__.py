"""Stands in for the package cuslines (GPUStreamlines), so that programs written for it run on any GPU with OpenGL.

    import glslines.cuslines
    glslines.cuslines.install()      # before the program imports cuslines

or, for a program as it is:

    python -m glslines.cuslines run_gpu_streamlines.py ARGUMENTS
    python -m glslines.cuslines pyAFQ config.toml
"""

import importlib.machinery
import sys
import types

from .getters import BootDirectionGetter, ProbDirectionGetter, PttDirectionGetter
from .tracker import Tracker, device_options


class _Backend(str):
    """The name of this back end. It compares equal to the names of cuslines' back ends, because programs compare these names, and
    this package stands in for all of them."""

    _SERVED = ("glslines", "cuda", "metal", "webgpu", "numba")

    def __eq__(self, other):
        return str.__eq__(self, other) or other in self._SERVED

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


BACKEND = _Backend("glslines")

__all__ = ["BACKEND", "BootDirectionGetter", "ProbDirectionGetter", "PttDirectionGetter", "Tracker", "install"]

# Modules of cuslines, and the prefixes of the names of their trackers and getters.
_MODULES = {
    "cuslines": ("", ""),
    "cuslines.cuda_python": ("GPU", ""),
    "cuslines.metal": ("MetalGPU", "Metal"),
    "cuslines.webgpu": ("WebGPU", "WebGPU"),
    "cuslines.numba": ("CPU", "CPU"),
}


def _module(name, tracker, getter):
    module = types.ModuleType(name, "glslines in place of " + name)
    module.__path__ = []
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.BACKEND = BACKEND
    # older programs use the name GPUTracker with every back end
    module.Tracker = module.GPUTracker = Tracker
    setattr(module, tracker + "Tracker", Tracker)
    for kind in (BootDirectionGetter, ProbDirectionGetter, PttDirectionGetter):
        setattr(module, kind.__name__, kind)
        setattr(module, getter + kind.__name__, kind)
    return module


def install(device="auto", api="auto"):
    """From now on, `import cuslines` gives the classes of this package, and so does the import of cuslines' modules.

    device, api: the arguments of glslines.Device.
    """
    device_options.update(name=device, api=api)
    for name, prefixes in _MODULES.items():
        sys.modules[name] = _module(name, *prefixes)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, sys.modules[name])
