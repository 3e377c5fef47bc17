"""Makes pictures of tractograms and reports on them, as `glslines render` and `glslines report` do."""

import ctypes
import os
import tempfile
from typing import Any, Dict, Optional

from . import _library
from ._library import call, encode, structs
from ._names import unknown
from ._written import Written

_GO_ON = ctypes.CFUNCTYPE(ctypes.c_bool)
_APIS = ("auto", "gl", "gles")
_WORDS = {
    "gls_render_options": {
        "api": _APIS,
        "style": ("tubes", "lines"),
        "convention": ("neurological", "radiological"),
        "colormap": ("viridis", "cividis", "inferno", "grey", "redblue", "hot"),
        "sh_basis": ("descoteaux07_legacy", "descoteaux07", "tournier07_legacy", "tournier07"),
        "sh_frame": ("auto", "fsl", "image", "world"),
    },
    "gls_report_options": {"api": _APIS},
}
_OWN = ("size", "read", "go_on", "image_data")


def names(struct):
    """Returns the names of the members of a struct that are options."""
    return [name for name, _ in structs[struct]._fields_ if not name.startswith("_") and name not in _OWN]


class _Options:
    """A struct of options whose members are set by name. It keeps the texts to which the members point."""

    def __init__(self, struct, values):
        self.struct = getattr(call, struct + "_default")()
        self._name, self._keep = struct, []
        for name, value in values.items():
            if value is not None:
                self._set(name, value)

    def _set(self, name, value):
        if name not in names(self._name):
            raise unknown("no option", name, names(self._name))
        words = _WORDS[self._name].get(name)
        kind = dict(self.struct._fields_)[name]
        if words and not (isinstance(value, str) and value in words):
            raise ValueError("%s: '%s' is none of %s" % (name, value, ", ".join(words)))
        if words:
            setattr(self.struct, name, words.index(value))
        elif kind is structs["gls_numbers"]:
            self._set_numbers(name, list(value))
        elif kind is structs["gls_strings"]:
            self._set_texts(name, list(value) if isinstance(value, (list, tuple)) else [value])
        elif kind is ctypes.c_void_p:
            listed = isinstance(value, (list, tuple))
            self._keep.append(ctypes.create_string_buffer(encode(",".join(map(str, value)) if listed else value)))
            setattr(self.struct, name, ctypes.addressof(self._keep[-1]))
        elif kind is ctypes.c_bool:
            setattr(self.struct, name, _library.switch(value, name))
        elif kind is ctypes.c_double:
            setattr(self.struct, name, _library.real(value, name))
        else:
            bits = 8 * ctypes.sizeof(kind)
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind(-1).value < 0 else (0, (1 << bits) - 1)
            setattr(self.struct, name, _library.integer(value, name, low, high))

    def _set_numbers(self, name, entries):
        numbers = getattr(self.struct, name)
        if len(entries) > len(numbers.value):
            raise ValueError("%s: %d values, at most %d" % (name, len(entries), len(numbers.value)))
        for i, entry in enumerate(entries):
            numbers.value[i] = _library.real(entry, name)
        numbers.n = len(entries)

    def _set_texts(self, name, entries):
        texts = getattr(self.struct, name)
        if len(entries) > len(texts.value):
            raise ValueError("%s: %d values, at most %d" % (name, len(entries), len(texts.value)))
        for i, entry in enumerate(entries):
            self._keep.append(ctypes.create_string_buffer(encode(entry)))
            texts.value[i] = ctypes.addressof(self._keep[-1])
        texts.n = len(entries)


def _read_options(options, reference, recover):
    """Sets the options for reading tractograms. Returns the grid of the reference, which must live until the call ends."""
    from ._arrays import grid_like

    grid = None
    if reference is not None:
        grid = grid_like(reference)
        options.read.reference = ctypes.addressof(grid)
    options.read.recover = recover
    return grid


def _call(struct, values, reference, recover, function):
    options = _Options(struct, values)
    grid = _read_options(options.struct, reference, recover)
    watch = _library.Watch(_GO_ON, None)
    options.struct.go_on = watch.pointer.value
    watch.run(function, options.struct)
    del grid


class Picture(Dict[str, Any]):
    """A picture, which notebooks show. It is a dict of the numbers of shown, of all and of invalid streamlines, mm_per_pixel,
    width and height."""

    _data = b""
    _file: Optional[Written] = None

    @property
    def path(self) -> str:
        """The name of the file; "": there is none."""
        return self._file.path if self._file is not None else ""

    @property
    def png(self) -> bytes:
        """The bytes of the PNG file."""
        if self._file is not None:
            with open(self._file.same(), "rb") as file:
                return file.read()
        return self._data

    def _repr_png_(self) -> bytes:
        return self.png


def render(tractograms, out=None, reference=None, recover=False, **options):
    """Runs `glslines render`: draws a tractogram, or a list of them as bundles, into a PNG file; no display is needed.

    Options are those of the command line with underscores, e.g. views="superior,left", image="fa.nii.gz",
    color="dpv:fa". Returns a Picture; without out, no file is kept.
    """
    if out is None:
        options.setdefault("palette", True)  # makes the picture a third as large, because notebooks store it
        with tempfile.TemporaryDirectory(prefix="glslines-") as folder:
            picture = render(tractograms, os.path.join(folder, "picture.png"), reference, recover, **options)
            picture._data, picture._file = picture.png, None
        return picture
    paths = [tractograms] if isinstance(tractograms, (str, os.PathLike)) else list(tractograms)
    texts = [ctypes.create_string_buffer(encode(path)) for path in paths]
    table = (ctypes.c_void_p * max(1, len(texts)))(*(ctypes.addressof(text) for text in texts))
    result = structs["gls_render_result"]()
    _call("gls_render_options", options, reference, recover,
          lambda struct: call.gls_render_files(table, len(texts), encode(out), ctypes.byref(struct),
                                               ctypes.byref(result)))
    picture = Picture({name: getattr(result, name) for name in names("gls_render_result")})
    picture._file = Written(out)
    return picture


def report(tractogram, out=None, reference=None, recover=False, **options):
    """Runs `glslines report`: writes an HTML file on a tractogram. Give the tractogram or its sidecar; the other one is found.

    out: by default, the name of the input with .html. Options: image, transform, mqc, max_streamlines, no_view, device, api, force.
    Returns a dict: the output's name, its bytes, streamlines, and the number of warnings.
    """
    result, name = structs["gls_report_result"](), ctypes.c_void_p()
    _call("gls_report_options", dict(options, output=out), reference, recover,
          lambda struct: call.gls_report_files(encode(tractogram), ctypes.byref(struct), ctypes.byref(name),
                                               ctypes.byref(result)))
    stats = {key: getattr(result, key) for key in names("gls_report_result")}
    stats["output"] = os.path.abspath(os.fsdecode(ctypes.string_at(name.value)))
    call.gls_free(name)
    return stats
