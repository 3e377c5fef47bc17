"""Remembers files that a run wrote and that are read later. A file is read only if it has not changed since."""

from __future__ import annotations

import os
from typing import Tuple, Union

from ._errors import InputError


class Written:
    """A file that a run wrote. path: its absolute name, which is valid even if the current folder changes."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._identity = self._now()

    def _now(self) -> Tuple[int, int, int]:
        status = os.stat(self.path)
        return status.st_ino, status.st_size, status.st_mtime_ns

    def same(self) -> str:
        """Returns the name of the file. Raises InputError if the file has changed since the run."""
        try:
            changed = self._now() != self._identity
        except OSError as error:
            raise InputError("%s: cannot be read any more: %s" % (self.path, error.strerror)) from None
        if changed:
            raise InputError("%s: has changed since the run that wrote it: run again with another name, or read the file as it "
                             "is now by its name" % self.path)
        return self.path
