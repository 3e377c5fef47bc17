"""Devices that can compute: GPUs, and the CPU through Mesa's llvmpipe."""

import ctypes

from . import _library
from ._library import call, encode, one_of, structs

_GRAPHICS = {"auto": "GLS_GRAPHICS_AUTO", "gl": "GLS_GRAPHICS_GL", "gles": "GLS_GRAPHICS_GLES"}
_PLATFORMS = ("gbm", "egl_device", "surfaceless")


def _describe(info):
    row = {name: getattr(info, name) for name, _ in info._fields_ if not name.startswith("_")}
    for name, value in row.items():
        if isinstance(value, bytes):
            row[name] = value.decode(errors="replace")
    row["platform"] = _PLATFORMS[row["platform"]]
    return row


def devices(api="auto"):
    """Every device, best first, as dicts."""
    pointer, n = ctypes.c_void_p(), ctypes.c_size_t()
    call.gls_device_list(one_of(_GRAPHICS, api, "api"), ctypes.byref(pointer), ctypes.byref(n), None, None)
    try:
        rows = (structs["gls_device_info"] * n.value).from_address(pointer.value) if n.value else []
        return [_describe(row) for row in rows]
    finally:
        call.gls_free(pointer)


class Device:
    """An open device, or `count` of them that share the work; a context manager.

    name: "auto", an index of devices(), a render node, "llvmpipe", or a part of the renderer's name.
    """

    def __init__(self, name="auto", api="auto", count=1):
        if count < 1:
            raise ValueError("count: %d devices, at least 1" % count)
        self._array = (ctypes.c_void_p * count)()
        self.count = count
        call.gls_device_open_several(encode(str(name)), one_of(_GRAPHICS, api, "api"), count,
                                     ctypes.cast(self._array, ctypes.POINTER(ctypes.c_void_p)))
        self._handles = [_library.Handle(pointer, call.gls_device_close) for pointer in self._array]

    @property
    def info(self):
        """What the (first) device is and can do."""
        return _describe(structs["gls_device_info"].from_address(call.gls_device_get_info(self.pointers[0])))

    @property
    def pointers(self):
        if not self._handles:
            raise RuntimeError("the device is closed")
        return self._array

    def close(self):
        for handle in self._handles:
            handle.close()
        self._handles = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
        return False

    def __repr__(self):
        return "Device(%s)" % (self.info["renderer"] if self._handles else "closed")
