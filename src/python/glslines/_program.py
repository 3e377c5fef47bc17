"""Runs the program glslines, which has every command. Arguments of Python become files and options; events of the program
become calls of the progress function, log records and exceptions. Several threads may run it at a time."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _library
from ._errors import BY_EXIT_CODE, CancelledError, Error

logger = logging.getLogger("glslines")

#: how a function shows its progress. None: a bar if there is a terminal or a notebook. False: nothing. Or a function of
#: (phase, done, total, streamlines, points), which may return False to stop
Progress = Union[None, bool, Callable[[str, int, int, int, int], Optional[bool]]]


def find() -> str:
    """Returns the path of the program: that of the wheel, else that beside the library, else an installed one."""
    beside = os.path.dirname(os.path.abspath(_library.path))
    for folder in (os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin"), beside,
                   os.path.join(beside, os.pardir, "bin"), os.path.join(beside, os.pardir, os.pardir, "bin")):
        name = os.path.join(folder, "glslines")
        if os.path.isfile(name) and os.access(name, os.X_OK):
            return name
    name = shutil.which("glslines") or ""
    if not name:
        raise ImportError("the program glslines is neither in the package, nor beside %s, nor in PATH" % _library.path)
    return name


class Bar:
    """A progress bar of tqdm, if that is installed. In notebooks, too, it is text and no widget, because a saved notebook keeps
    only the first state of a widget, which is 0 %."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: Any = None
        self._stage = "", 0

    @staticmethod
    def is_watched() -> bool:
        return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())

    def __call__(self, phase: str, done: int, total: int, streamlines: int, points: int) -> Optional[bool]:
        try:
            from tqdm.std import tqdm  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            return None
        if self._bar is None or (phase, total) != self._stage or done < self._bar.n:
            self.finish()  # the stage before is complete when the next one begins
            self._bar, self._stage = tqdm(total=total, desc="%s: %s" % (self._name, phase), unit_scale=True), (phase, total)
        self._bar.update(done - self._bar.n)
        return None

    def finish(self) -> None:
        """Completes and closes the bar of a stage, even if no event reported the end of the stage."""
        if self._bar is not None:
            self._bar.update(self._bar.total - self._bar.n)
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def progress_of(progress: Progress, name: str) -> Any:
    """Returns the function that receives the progress; None: nothing receives it."""
    if callable(progress):
        return progress
    return Bar(name) if progress is True or (progress is None and Bar.is_watched()) else None


def _interrupt(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)


class _Events:
    """Reads the events that the program writes while it runs, a JSON object on each line."""

    def __init__(self, listener: Any, folder: str) -> None:
        self._folder = os.path.join(folder, "") if folder else ""
        self.error, self.stopped, self._listener = "", False, listener
        #: lines that are no events, and files that the program wrote
        self.other: List[str] = []
        self.outputs: List[str] = []

    def take(self, line: str, process: "subprocess.Popen[str]") -> None:
        try:
            event: Dict[str, Any] = json.loads(line)
        except ValueError:
            self.other.append(line.strip())
            return
        if "text" in event and self._folder:  # messages leave out the temporary folder, which the caller does not know
            event["text"] = event["text"].replace(self._folder, "")
        kind = event.get("event")
        if kind == "error":
            self.error = event["text"]
        elif kind == "warning":
            logger.warning("%s", event["text"])
        elif kind == "info":
            logger.info("%s", event["text"])
        elif kind == "end":
            self.outputs = event["output"]
        elif kind == "progress" and self._listener is not None:
            go_on = self._listener(event["phase"], int(event["done"]), int(event["total"]),
                               int(event.get("streamlines", 0)), int(event.get("points", 0)))
            if go_on is False:
                self.stopped = True
                _interrupt(process)


class Done(NamedTuple):
    """The text that the program printed, and the files that it wrote."""

    text: str
    outputs: List[str]


def run(command: str, arguments: List[str], progress: Progress = None, behind: Optional[List[str]] = None,
        folder: str = "") -> Done:
    """Runs a command; if it fails, raises the exception of its exit code. folder: a temporary folder, which messages leave out of
    the names of files."""
    listener = progress_of(progress, command)
    events = _Events(listener, folder)
    words = [find(), command, *arguments, "--progress", "json", *(["--", *behind] if behind else [])]
    with tempfile.TemporaryFile("w+", errors="surrogateescape") as printed:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE, text=True,
                              errors="replace") as process:
            try:
                assert process.stderr is not None
                for line in process.stderr:
                    events.take(line, process)
                code = process.wait()
                if isinstance(listener, Bar) and code == 0:
                    listener.finish()
            except BaseException:
                _interrupt(process)
                process.wait()
                raise
            finally:
                if isinstance(listener, Bar):
                    listener.close()
        printed.seek(0)
        text = printed.read()
    if events.stopped:  # the caller asked to stop, so raise even if the program had finished before the signal came
        raise CancelledError("%s: stopped by the progress function" % command)
    if code == 0:
        return Done(text, events.outputs)
    raise _failure(command, code, events.error or (events.other[-1] if events.other else ""))


def _failure(command: str, code: int, message: str) -> Error:
    """The exception of an exit code."""
    kind = BY_EXIT_CODE.get(code, CancelledError if code < 0 or code > 128 else Error)
    message = message or "%s: exit code %d" % (command, code)
    return kind(message[len("glslines: "):] if message.startswith("glslines: ") else message)


def start(command: str, arguments: List[str], behind: List[str]) -> "Tuple[subprocess.Popen[str], str]":
    """Starts a command that goes on until it is ended, and returns it with the line that it prints when it is ready."""
    words = [find(), command, *arguments, "--quiet", *(["--", *behind] if behind else [])]
    with tempfile.TemporaryFile("w+", errors="surrogateescape") as said:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True,
                                   errors="replace", start_new_session=True)  # Ctrl-C ends what Python does, not the command
        assert process.stdout is not None
        try:
            line = process.stdout.readline().strip()
        except BaseException:
            _interrupt(process)
            process.wait()
            raise
        if line:
            return process, line
        process.stdout.close()
        code = process.wait()
        said.seek(0)
        lines = said.read().strip().splitlines()
    raise _failure(command, code, lines[-1] if lines else "")


def words_of(options: Mapping[str, Any], names: Mapping[str, str]) -> List[str]:
    """Returns options as words of the command line. names: for each parameter the name of its option."""
    words: List[str] = []
    for parameter, value in options.items():
        if type(value).__name__ in ("bool", "bool_"):  # of numpy, too
            value = bool(value)
        if value is None or value is False:
            continue
        option = "--" + names[parameter]
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)) and any(isinstance(v, (str, os.PathLike)) for v in value):
            if not all(isinstance(v, (str, os.PathLike)) for v in value):
                raise TypeError("%s: a list of texts or names of files is needed: %r" % (parameter, value))
            words += ["%s=%s" % (option, os.fspath(v) if isinstance(v, os.PathLike) else v) for v in value]
        elif isinstance(value, (list, tuple)):
            try:
                words.append("%s=%s" % (option, ",".join("%.17g" % v for v in value)))
            except TypeError:
                raise TypeError("%s: neither numbers nor names of files: %r" % (parameter, value)) from None
        else:
            words.append("%s=%s" % (option, os.fspath(value) if isinstance(value, os.PathLike) else value))
    return words


def main() -> None:
    """Runs the program in place of this process: the console script of the wheel."""
    program = find()
    os.execv(program, [program] + sys.argv[1:])
