"""Exceptions for the failures of the library. Their text is the message of the library, one line."""


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
    """There is no device, or the device or its driver failed."""


class UnsupportedError(Error, NotImplementedError):
    """The request is valid, but this build or this device cannot do it."""


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

#: for each exit code of the program; any other code raises Error, or CancelledError if a signal ended the program
BY_EXIT_CODE = {
    2: ArgumentError,
    3: InputError,
    4: OutputError,
    5: DeviceError,
    6: EmptyError,
    7: UnsupportedError,
    8: ConvergenceError,
}
