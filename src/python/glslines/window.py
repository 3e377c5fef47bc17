"""The window in the browser, `glslines view`, from Python: it runs beside the interpreter until it is closed."""

from __future__ import annotations

import html
import os
import subprocess
import weakref
from typing import Any, List, Optional, Sequence, Tuple, Union

from . import _program
from ._errors import ArgumentError
from ._exchange import _safe

__all__ = ["Window", "view"]

PathLike = Union[str, "os.PathLike[str]"]


def _end(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


class Window:
    """A window that is open: its address, for a browser of this machine, and read_only_address, for pages that follow the others
    and change nothing. close(), the end of a with block, and the end of the interpreter close it. A notebook shows the address as
    a link."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, read_only_address: str) -> None:
        self.address = address
        self.read_only_address = read_only_address
        self._end = weakref.finalize(self, _end, process)

    @property
    def is_open(self) -> bool:
        """Whether the window is open: it was not closed, and has not ended by idle."""
        found = self._end.peek()
        return found is not None and found[2][0].poll() is None

    def close(self) -> None:
        """Ends the window; its pages say so."""
        self._end()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a window belongs to the process that opened it")

    def __str__(self) -> str:
        return self.address

    def __repr__(self) -> str:
        return "Window(%r)" % self.address

    def _repr_html_(self) -> str:
        return '<a href="%s" target="_blank" rel="noreferrer">glslines view</a>' % html.escape(self.address)


def view(files: Union[PathLike, Sequence[PathLike]] = (), track: Sequence[str] = (), *, atlas: Optional[PathLike] = None,
         lut: Optional[PathLike] = None, save_to: Optional[PathLike] = None, port: Optional[int] = None,
         idle: Optional[float] = None, max_streamlines: Optional[int] = None,
         seed_sphere: Optional[Tuple[float, float, float, float]] = None, nseeds: Optional[int] = None,
         seed_seed: Optional[int] = None, reference: Optional[PathLike] = None, odf: Optional[PathLike] = None,
         sh_basis: Optional[str] = None, sh_frame: Optional[str] = None, open: bool = False, listen: Optional[PathLike] = None,
         transform: Optional[Sequence[PathLike]] = None, vtk_space: Optional[str] = None, recover: bool = False) -> Window:
    """Opens the window in the browser and returns it; its address is the attribute address.

    files: tractograms and images, or the folder of a data set. track: words of the command line of `glslines track`, whose
    streamlines follow a sphere of seeds. The other arguments are options of `glslines view`. Raises UnsupportedError,
    which says what to install, if the program was built without libwebsockets."""
    given: List[PathLike] = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if isinstance(track, str) or not all(isinstance(word, str) for word in track):
        raise TypeError("track: a list of words is needed: %r" % (track,))
    if not all(isinstance(os.fspath(file), str) for file in given):
        raise TypeError("files: names are needed: %r" % (files,))
    options = {"atlas": atlas, "lut": lut, "save_to": save_to, "port": port, "idle": idle, "max_streamlines": max_streamlines,
               "seed_sphere": seed_sphere, "nseeds": nseeds, "seed_seed": seed_seed, "reference": reference, "odf": odf, "sh_basis": sh_basis,
               "sh_frame": sh_frame, "open": open, "listen": listen, "transform": [transform] if isinstance(transform, (str, os.PathLike)) else transform,
               "vtk_space": vtk_space, "recover": recover}
    words = _program.words_of(options, {name: name.replace("_", "-") for name in options})
    process, address = _program.start("view", [_safe(file) for file in given] + words, list(track))
    if not address.startswith("http://"):
        _end(process)
        raise ArgumentError("track: %r do not open a window" % (list(track),))
    assert process.stdout is not None
    return Window(process, address, process.stdout.readline().strip().replace("read-only: ", "", 1))
