"""The devices that can compute: GPUs, and the CPU through Mesa's llvmpipe."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Literal, Union

from . import _library
from ._library import call, encode, one_of, structs
from ._names import nearest, nearest_in

_GRAPHICS = {"auto": "GLS_GRAPHICS_AUTO", "gl": "GLS_GRAPHICS_GL", "gles": "GLS_GRAPHICS_GLES"}
_PLATFORMS = ("gbm", "egl_device", "surfaceless")


def _describe(info):
    row = {name: getattr(info, name) for name, _ in info._fields_ if not name.startswith("_")}
    for name, value in row.items():
        if isinstance(value, bytes):
            row[name] = value.decode(errors="replace")
    row["platform"] = _PLATFORMS[row["platform"]]
    return row


@nearest
def devices(api: str = "auto") -> List[Dict[str, Any]]:
    """Returns a dict for each device, the best device first."""
    pointer, n = ctypes.c_void_p(), ctypes.c_size_t()
    call.gls_device_list(one_of(_GRAPHICS, api, "api"), ctypes.byref(pointer), ctypes.byref(n), None, None)
    try:
        rows = (structs["gls_device_info"] * n.value).from_address(pointer.value) if n.value else []
        return [_describe(row) for row in rows]
    finally:
        call.gls_free(pointer)


class _Context(_library.OfProcess, _library.Handle):
    kind = "device"


@nearest_in
class Device(_library.OfProcess):
    """An open device, or `count` devices that share the work. It is a context manager.

    name: "auto", an index of devices(), a render node, "llvmpipe", or a part of the renderer's name.
    """

    kind = "device"

    def __init__(self, name: Union[str, int] = "auto", api: str = "auto", count: int = 1) -> None:
        self.count = _library.integer(count, "count", 1, 4096)
        array = (ctypes.c_void_p * self.count)()
        call.gls_device_open_several(encode(str(name)), one_of(_GRAPHICS, api, "api"), self.count,
                                     ctypes.cast(array, ctypes.POINTER(ctypes.c_void_p)))
        self._handles = [_Context(pointer, call.gls_device_close) for pointer in array]

    @property
    def info(self) -> Dict[str, Any]:
        """The name, properties and limits of the device, or of the first one if there are several."""
        context = self._handles[0].pointer
        return _describe(structs["gls_device_info"].from_address(call.gls_device_get_info(context)))

    @property
    def pointers(self):
        """The objects of the library. A device is open as long as its object exists."""
        return [handle.pointer for handle in self._handles]

    @property
    def is_closed(self) -> bool:
        return self._handles[0].is_closed

    def close(self) -> None:
        """Closes the device as soon as no tracker uses it any more."""
        for handle in self._handles:
            handle.close()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        self.close()
        return False

    def __repr__(self) -> str:
        return "Device(%s)" % ("closed" if self.is_closed else self.info["renderer"])
