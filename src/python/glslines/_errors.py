"""Failures of the library as exceptions: the text is the library's one line."""


class Error(Exception):
    """Any failure of the library; ``status`` is its name, such as "input error"."""

    status: str = ""


class ArgumentError(Error, ValueError):
    """An argument or option is out of range or contradicts another."""


class InputError(Error, ValueError):
    """Data or a file is missing, damaged, or does not fit the rest."""


class OutputError(Error, OSError):
    """A file cannot be written, or exists already."""


class OutOfMemoryError(Error, MemoryError):
    """The memory of the host or of the device ran out."""


class DeviceError(Error, RuntimeError):
    """No device, or the device or its driver failed."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but beyond what this build or this device can do."""


class EmptyError(Error):
    """A valid run had no result, but one was required."""


class CancelledError(Error):
    """The progress function asked to stop."""


class ConvergenceError(Error):
    """An iteration did not converge; the results are those of its best step."""


class FormatWarning(UserWarning):
    """A file format or another package has no place for a part of a tractogram, which is left out."""


CLASSES = {
    "GLS_ERR_ARGUMENT": ArgumentError,
    "GLS_ERR_INPUT": InputError,
    "GLS_ERR_OUTPUT": OutputError,
    "GLS_ERR_MEMORY": OutOfMemoryError,
    "GLS_ERR_DEVICE": DeviceError,
    "GLS_ERR_UNSUPPORTED": UnsupportedError,
    "GLS_ERR_EMPTY": EmptyError,
    "GLS_ERR_CANCELLED": CancelledError,
    "GLS_ERR_LOST": DeviceError,
    "GLS_ERR_DEVICE_MEMORY": OutOfMemoryError,
    "GLS_ERR_CONVERGENCE": ConvergenceError,
}

#: of the program; other codes are Error, or of a signal CancelledError
BY_EXIT_CODE = {
    2: ArgumentError,
    3: InputError,
    4: OutputError,
    5: DeviceError,
    6: EmptyError,
    7: UnsupportedError,
    8: ConvergenceError,
}
