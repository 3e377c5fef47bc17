"""Loads the shared library. The library describes the layout of its structs (gls_abi_describe); ctypes classes are made from
that description, so that no offset is written here. Calls release the interpreter's lock; callbacks take it."""

import atexit
import contextlib
import ctypes
import ctypes.util
import json
import logging
import math
import os
import threading
import time
import weakref
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from sys import is_finalizing

from . import _errors

logger = logging.getLogger("glslines")


def _find():
    """Returns the path of the library: that in GLSLINES_LIBRARY, else that of the wheel, else an installed one."""
    named = os.environ.get("GLSLINES_LIBRARY")
    if named:
        return named
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(folder)):
        if name.startswith("libglslines.so"):
            return os.path.join(folder, name)
    found = ctypes.util.find_library("glslines")
    if found:
        return found
    raise ImportError("libglslines.so is neither in %s nor installed; GLSLINES_LIBRARY may name it" % folder)


path = _find()
_dll = ctypes.CDLL(path)
_dll.gls_abi_describe.restype = c_char_p
_description = json.loads(_dll.gls_abi_describe().decode())
version = _description["version"]
#: enumerators by name
constants = _description["constants"]
#: parameters of a run: rows of the library's table of options
options = _description["options"]

_TYPES = {
    "bool": c_bool,
    "char": ctypes.c_char,
    "int": c_int,
    "uint8_t": ctypes.c_uint8,
    "int32_t": ctypes.c_int32,
    "uint32_t": c_uint32,
    "size_t": c_size_t,
    "uint64_t": c_uint64,
    "double": c_double,
    "float": ctypes.c_float,
    "pointer": c_void_p,
}


class _Struct(ctypes.Structure):
    """Copies and pickles of a struct are its bytes, where none of them is an address."""

    def __reduce__(self):
        name = type(self).__name__
        if _has_address(name):
            raise TypeError("a %s holds addresses, which mean nothing in a copy or in another process" % name)
        return _struct_of, (name, bytes(self))


def _has_address(name):
    kinds = [field["type"] for field in _description["structs"][name]["fields"]]
    return any(kind == "pointer" or (kind in _description["structs"] and _has_address(kind)) for kind in kinds)


def _struct_of(name, content):
    kind = structs[name]
    if len(content) != ctypes.sizeof(kind):
        raise ValueError("this %s was pickled with another version of libglslines" % name)
    return kind.from_buffer_copy(content)


def _class(name):
    if name in structs:
        return structs[name]
    row = _description["structs"][name]
    fields = []
    at = 0
    for i, field in enumerate(row["fields"]):
        kind = field["type"]
        if kind in _TYPES:
            kind = _TYPES[kind]
        elif kind in _description["structs"]:
            kind = _class(kind)
        else:
            kind = c_int  # an enum
        if field["offset"] > at:
            fields.append(("_before_%d" % i, ctypes.c_char * (field["offset"] - at)))
        at = field["offset"] + field["size"]
        n = field["size"] // ctypes.sizeof(kind)
        fields.append((field["name"], kind if n == 1 else kind * n))
    if row["size"] > at:
        fields.append(("_after", ctypes.c_char * (row["size"] - at)))
    # members lie where the library says; the bytes between them are members, too, so that ctypes inserts no padding
    made = type(name, (_Struct,), {"_pack_": 1, "_layout_": "ms", "_fields_": fields})
    if ctypes.sizeof(made) != row["size"]:
        raise ImportError("%s: %d bytes here, %d in the library" % (name, ctypes.sizeof(made), row["size"]))
    structs[name] = made
    return made


#: ctypes classes by name
structs = {}
for _name in _description["structs"]:
    _class(_name)


def error(status):
    """Makes the exception for a status of the library, with its last message."""
    name = next((n for n, value in constants.items() if value == status and n.startswith("GLS_ERR")), "")
    made = _errors.CLASSES.get(name, _errors.Error)(_dll.gls_last_error().decode(errors="replace"))
    made.status = _dll.gls_status_name(status).decode()
    return made


def _check(result, function, arguments):
    if result != 0:
        raise error(result)
    return result


# Letters of signatures: p pointer, P pointer to pointer, s text, i int, u uint32, q uint64, n size_t, d double, b bool;
# the first is the result: t a status, v nothing.
_LETTERS = {
    "p": c_void_p,
    "P": POINTER(c_void_p),
    "s": c_char_p,
    "i": c_int,
    "u": c_uint32,
    "q": c_uint64,
    "n": c_size_t,
    "d": c_double,
    "b": c_bool,
    "v": None,
}
_SIGNATURES = {
    "gls_status_name": "si",
    "gls_last_error": "s",
    "gls_free": "vp",
    "gls_log_set": "vppi",
    "gls_set_wait": "vpp",
    "gls_type_name": "si",
    "gls_mapping_name": "si",
    "gls_end_name": "si",
    "gls_verdict_name": "si",
    "gls_grid_init": "tppp",
    "gls_grid_require_equal": "tpsps",
    "gls_image_wrap": "tpnpP",
    "gls_image_read": "tsiP",
    "gls_image_write": "tspi",
    "gls_image_destroy": "vp",
    "gls_labels_wrap": "tppP",
    "gls_labels_read": "tsP",
    "gls_labels_write": "tsp",
    "gls_labels_destroy": "vp",
    "gls_gradients_create": "tppnppP",
    "gls_gradients_read": "tssppnP",
    "gls_gradients_read_table": "tsppnP",
    "gls_gradients_destroy": "vp",
    "gls_gradients_select_shell": "tpdPP",
    "gls_csd_choose_shell": "tpdip",
    "gls_tensor_fit": "tppppPPP",
    "gls_peaks_of_tensors": "tpppPP",
    "gls_bedpostx_read": "tsspsPPp",
    "gls_qball_create": "tppiP",
    "gls_qball_destroy": "vp",
    "gls_qball_fit_image": "tppppP",
    "gls_response_estimate": "tppppp",
    "gls_response_read": "tsipdp",
    "gls_csd_fit": "tppppppppP",
    "gls_sphere_create": "tsP",
    "gls_sphere_create_guess": "tpnPp",
    "gls_sphere_destroy": "vp",
    "gls_sh_basis_parse": "tsp",
    "gls_odf_source_create_sh": "tpsiippP",
    "gls_odf_source_create_amplitudes": "tpspnsipP",
    "gls_odf_source_destroy": "vp",
    "gls_odf_sample": "tpP",
    "gls_seeds_create_random": "tppqqP",
    "gls_seeds_create_per_voxel": "tppuqP",
    "gls_seeds_create_around_centres": "tppudqP",
    "gls_seeds_create_list": "tpnipP",
    "gls_seeds_destroy": "vp",
    "gls_getter_source_of": "ii",
    "gls_seeds_count": "qp",
    "gls_seeds_get": "vpqnp",
    "gls_regions_create": "tpP",
    "gls_regions_destroy": "vp",
    "gls_regions_add": "tpisp",
    "gls_regions_add_image": "tpipsp",
    "gls_regions_complete": "tp",
    "gls_tissue_create": "tppsiiP",
    "gls_tissue_destroy": "vp",
    "gls_device_list": "tiPppp",
    "gls_device_open_several": "tsinP",
    "gls_device_close": "vp",
    "gls_device_get_info": "pp",
    "gls_tracker_create_group": "tPnppP",
    "gls_tracker_destroy": "vp",
    "gls_tracker_run": "tpppppp",
    "gls_sink_append": "tpp",
    "gls_sink_finish": "tp",
    "gls_sink_abort": "vp",
    "gls_filter_vertices_create": "tqqppp",
    "gls_filter_compress_create": "tddpp",
    "gls_filter_columns_create": "tPnpp",
    "gls_clusters_create": "tpP",
    "gls_clusters_destroy": "vp",
    "gls_clusters_complete": "tp",
    "gls_clusters_count": "np",
    "gls_clusters_points": "np",
    "gls_clusters_centroid": "vpnp",
    "gls_clusters_members": "pp",
    "gls_clusters_set_level": "tpn",
    "gls_clusters_list": "tppp",
    "gls_recobundles_create": "tpP",
    "gls_recobundles_destroy": "vp",
    "gls_recobundles_complete": "tp",
    "gls_recobundles_take_clusters": "tpnppp",
    "gls_recobundles_clusters": "pp",
    "gls_recobundles_recognize": "tppppp",
    "gls_neighbours_create": "tpP",
    "gls_neighbours_destroy": "vp",
    "gls_neighbours_find": "tppPP",
    "gls_slr_find": "tppnpnnp",
    "gls_tractogram_format_parse": "tsp",
    "gls_tractogram_writer_create": "tsippP",
    "gls_tractogram_writer_lost": "sp",
    "gls_tractogram_reader_open": "tspP",
    "gls_tractogram_reader_info": "pp",
    "gls_tractogram_reader_next": "tpp",
    "gls_tractogram_reader_close": "vp",
    "gls_job_create": "tppP",
    "gls_job_open": "tp",
    "gls_job_fit": "tp",
    "gls_job_track": "tp",
    "gls_job_get_result": "pp",
    "gls_job_destroy": "vp",
    "gls_render_files": "tPnspp",
    "gls_report_files": "tspPp",
}
# Functions that read files, which may be pipes, or that compute for a long time.
_PATIENT = ("gls_image_read", "gls_labels_read", "gls_gradients_read", "gls_gradients_read_table", "gls_tensor_fit", "gls_qball_create",
            "gls_qball_fit_image", "gls_response_estimate", "gls_response_read", "gls_sphere_create",
            "gls_odf_source_create_sh", "gls_odf_source_create_amplitudes", "gls_odf_sample", "gls_regions_add",
            "gls_regions_complete", "gls_device_list", "gls_device_open_several", "gls_tracker_create_group",
            "gls_tractogram_reader_open", "gls_tractogram_reader_next", "gls_peaks_of_tensors", "gls_bedpostx_read")
_DEFAULTS = {
    "gls_gradients_options_default": "gls_gradients_options",
    "gls_qball_options_default": "gls_qball_options",
    "gls_csd_options_default": "gls_csd_options",
    "gls_response_options_default": "gls_response_options",
    "gls_odf_options_default": "gls_odf_options",
    "gls_job_options_default": "gls_job_options",
    "gls_tractogram_options_default": "gls_tractogram_options",
    "gls_tractogram_read_options_default": "gls_tractogram_read_options",
    "gls_render_options_default": "gls_render_options",
    "gls_report_options_default": "gls_report_options",
    "gls_cluster_options_default": "gls_cluster_options",
    "gls_neighbours_options_default": "gls_neighbours_options",
    "gls_slr_options_default": "gls_slr_options",
    "gls_recobundles_options_default": "gls_recobundles_options",
    "gls_recobundles_model_default": "gls_recobundles_model",
}
for _name, _letters in _SIGNATURES.items():
    _function = getattr(_dll, _name)
    _function.argtypes = [_LETTERS[letter] for letter in _letters[1:]]
    if _letters[0] == "t":
        _function.restype, _function.errcheck = c_int, _check
    else:
        _function.restype = _LETTERS[_letters[0]]
for _name, _struct in _DEFAULTS.items():
    getattr(_dll, _name).argtypes = []
    getattr(_dll, _name).restype = structs[_struct]
_dll.gls_job_options_set_defaults.argtypes = [c_void_p, c_void_p]
_dll.gls_job_options_set_defaults.restype = None
_dll.gls_neighbours_references.argtypes = [c_void_p]
_dll.gls_neighbours_references.restype = structs["gls_sink"]
_dll.gls_clusters_sink.argtypes = [c_void_p]
_dll.gls_clusters_sink.restype = structs["gls_sink"]
_dll.gls_recobundles_sink.argtypes = [c_void_p]
_dll.gls_recobundles_sink.restype = structs["gls_sink"]
_dll.gls_tractogram_writer_sink.argtypes = [c_void_p]
_dll.gls_tractogram_writer_sink.restype = structs["gls_sink"]

#: the functions
call = _dll


class Pointer(c_void_p):
    """An object of the library as an argument of its functions. The object is destroyed when nothing refers to it any
    more: neither its handle, nor an object that was made with it, nor a call that works on it."""

    def __reduce__(self):
        raise TypeError("an address means nothing in a copy or in another process")


def _destroy(destroy, pointer, process, keep):
    with _counted(object()):
        # do nothing in a child process that fork() made: it lacks the threads that the object may have
        if process == os.getpid() and not _ended:
            destroy(pointer)
    del keep


def _pointers(things):
    """Returns what an object needs. A handle is replaced by its object, which therefore lives on when the handle is closed."""
    for thing in things:
        if isinstance(thing, (list, tuple)):
            yield from _pointers(thing)
        else:
            yield thing._object if isinstance(thing, Handle) else thing


class OfProcess:
    """Base of objects that can be neither copied nor pickled, because they are open in one process: devices, trackers."""

    #: name of the object in messages
    kind = "object"

    def __reduce__(self):
        raise TypeError("the %s can be neither copied nor pickled, because it is open in one process: "
                        "make one in each process" % self.kind)


class Handle:
    """A handle of an object of the library. The object lives until close(), and longer if another object needs it."""

    #: name of the object in messages
    kind = "object"
    #: a function and its arguments that make an equal object, for copies and pickles; None: the object cannot be copied
    made_by = None

    def __init__(self, pointer, destroy, *keep):
        self._process = os.getpid()
        self._object = Pointer(pointer)
        # the objects in `keep` are released after this object, because it needs them until it is destroyed
        finalizer = weakref.finalize(self._object, _destroy, destroy, pointer, self._process, list(_pointers(keep)))
        finalizer.atexit = False  # do not destroy at exit: threads may work on the object until the process ends

    @property
    def pointer(self):
        held = self._object  # another thread may call close() meanwhile
        if held is None:
            raise RuntimeError("the %s is closed" % self.kind)
        if isinstance(self, OfProcess) and self._process != os.getpid():
            raise RuntimeError("the %s belongs to another process, of which this one is a copy" % self.kind)
        return held

    @property
    def is_closed(self):
        return self._object is None

    def close(self):
        self._object = None

    def __copy__(self):
        """Makes another handle of the same object. Closing one handle leaves the other one open."""
        self.__reduce__()  # raises TypeError if the object cannot be copied
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __reduce__(self):
        if self.made_by is None:
            raise TypeError("the %s can be neither copied nor pickled" % self.kind)
        self.pointer  # raises RuntimeError if the object is closed
        return self.made_by


@contextlib.contextmanager
def destroyed_if_raised(destroy, *outs):
    """Destroys the objects that a call has stored in `outs` if an exception such as Ctrl-C comes before a handle owns them."""
    try:
        yield
    except BaseException:
        for out in outs:
            if out.value:
                destroy(out)
        raise


def made(function, *arguments, destroy):
    """Calls a function that makes an object and stores it in its last argument. Returns the object."""
    out = c_void_p()
    with destroyed_if_raised(destroy, out):
        function(*arguments, ctypes.byref(out))
        return out.value


def one_of(words, word, name):
    """Returns the value of the constant that a word stands for."""
    if not isinstance(word, str) or word not in words:
        raise ValueError("%s: %r is none of %s" % (name, word, ", ".join(words)))
    return constants[words[word]]


def reference(struct):
    return None if struct is None else ctypes.byref(struct)


def _whole(raw, text):
    if b"\0" in raw:
        raise ValueError("%r: a text with a null character" % text)
    return raw


def encode(text, name="path"):
    """Encodes a file name, or a text that may have one in it, for the library. name: name of the argument in messages."""
    try:
        raw = os.fsencode(text)
    except TypeError:
        raise TypeError("%s: a text or the name of a file is needed, not %s" % (name, type(text).__name__)) from None
    return _whole(raw, text)


def utf8(text):
    """Encodes a text that is no file name as UTF-8, whatever the encoding of file names is."""
    return _whole(text.encode(), text)


def is_switch(value):
    """Whether the value is True or False, of Python or numpy. Python takes them for numbers; here they are no numbers."""
    return type(value).__name__ in ("bool", "bool_")


def integer(value, name, low, high):
    """Returns the value if it is a whole number from low to high, else raises ValueError. ctypes would change a number that does
    not fit into its C type, and raise no error."""
    try:
        number = None if is_switch(value) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or (number != value and not isinstance(value, str)) or not low <= number <= high:
        raise ValueError("%s: %s is no whole number from %d to %d" % (name, value, low, high))
    return number


def real(value, name, low=None, above=None):
    """Returns the value as a float. Raises ValueError if it is no number or NaN, or, where a bound is given, if it is infinite or
    outside. low: smallest number; above: bound that the number must exceed. The text of a number is accepted, too."""
    try:
        number = math.nan if is_switch(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise ValueError("%s: %r is no number" % (name, value))
    if low is not None and not low <= number < math.inf:
        raise ValueError("%s: %r is not at least %g and finite" % (name, value, low))
    if above is not None and not above < number < math.inf:
        raise ValueError("%s: %r is not above %g and finite" % (name, value, above))
    return number


def even_order(value, name, most):
    """Returns the value if it is an even order of spherical harmonics from 2 to `most`, else raises ValueError."""
    order = integer(value, name, 2, most)
    if order % 2:
        raise ValueError("%s: %d is odd: must be even, 2 to %d" % (name, order, most))
    return order


def switch(value, name):
    """Returns True or False for True, False, 1 or 0. Refuses other values that have a truth value in Python: an array,
    "no", NaN."""
    try:
        number = value if isinstance(value, bool) else int(value) if value == int(value) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number not in (0, 1) or isinstance(value, str):
        raise ValueError("%s: %r is neither True nor False" % (name, value))
    return bool(number)


# Calls into the library that have not returned yet, on any thread, and calls from the library to functions of the user. Each
# thread adds and removes its own.
_at_work = set()
_called_back = set()
_ending = _ended = False
#: when the interpreter ends, it waits this many seconds for functions of the user that the library has called
PATIENCE = 1


def _forget_others():
    # a child process that fork() made has only the thread that called fork()
    _at_work.clear()
    _called_back.clear()


os.register_at_fork(after_in_child=_forget_others)


@contextlib.contextmanager
def _counted(token):
    _at_work.add(token)
    try:
        yield
    finally:
        _at_work.discard(token)


@contextlib.contextmanager
def called_back():
    """Marks, while its block runs, that the library has called a function of the user."""
    token = object()
    _called_back.add(token)
    try:
        yield
    finally:
        _called_back.discard(token)


def _wait_for_others():
    since = time.monotonic()
    while _at_work and not (_called_back and time.monotonic() - since > PATIENCE):
        time.sleep(0.01)


def _end():
    """Ends the calls of daemon threads when the interpreter ends, because they must not run on while the process is torn down."""
    global _ending, _ended
    _ending = True
    _wait_for_others()
    _ended = True
    _wait_for_others()  # for calls that began between the two lines above


class Call:
    """A call that may take a long time. Ctrl-C ends it, and so does the end of the interpreter.

    A call from the main thread runs on a thread of its own. Python raises KeyboardInterrupt wherever the main thread is; in a
    callback from C the exception would be lost."""

    def __init__(self):
        self._lock = threading.Lock()
        self._state = None  # None, "begun", or "given up" before it began
        self._raised = None  # exception that a signal raised in the main thread
        self._outcome = None
        self._at_end = _ending and threading.current_thread() is threading.main_thread()

    @property
    def _is_left(self):
        """Whether the interpreter ends, and another thread than the one that ends it made this call."""
        return _ending and not self._at_end

    @property
    def interrupted(self):
        return self._raised is not None or self._is_left

    def _work(self, function, *arguments):
        if is_finalizing():  # ctypes makes no callbacks any more, so that results would be empty
            raise RuntimeError("the interpreter ends: nothing can be computed any more")
        with _counted(self):
            if self._is_left:
                raise SystemExit  # SystemExit ends the thread and prints nothing
            try:
                return function(*arguments)
            except _errors.CancelledError:
                if self._is_left:
                    raise SystemExit from None
                raise

    def run(self, function, *arguments):
        """Calls a function of the library, or one that calls the library, and returns its result."""
        if self._at_end or threading.current_thread() is not threading.main_thread():
            return self._work(function, *arguments)
        done = threading.Event()

        def work():
            try:
                with self._lock:
                    if self._state is None:
                        self._state = "begun"
                if self._state == "begun":
                    self._outcome = True, self._work(function, *arguments)
            except BaseException as exception:
                self._outcome = False, exception
            finally:
                done.set()

        try:
            threading.Thread(target=work, name="glslines").start()
        except BaseException as exception:
            # the thread may have started or not
            self._raised = exception
            with self._lock:
                if self._state is None:
                    self._state = "given up"
                    raise
        self._wait(done)
        if self._raised is not None:
            raise self._raised
        well, result = self._outcome
        if not well:
            raise result
        return result

    def _wait(self, done):
        # Wait in short steps: if another thread receives the signal, it does not wake this one.
        while True:
            try:
                while not done.wait(0.1):
                    pass
                return
            except BaseException as exception:
                self._raised = exception  # do nothing else here: a second Ctrl-C may interrupt it


class Watch(Call):
    """A call with a progress function. `pointer` is the callback for the library. If the function raises an exception, the call
    ends, and run() raises that exception."""

    def __init__(self, prototype, function, convert=lambda *counts: counts):
        super().__init__()
        self.exception = None

        def step(*arguments):
            if self.interrupted:
                return False
            try:
                with called_back():
                    return function is None or function(*convert(*arguments[1:])) is not False
            except BaseException as exception:
                self.exception = exception
                return False

        self._step = prototype(step)
        self.pointer = ctypes.cast(self._step, c_void_p)

    def run(self, function, *arguments):
        try:
            result = super().run(function, *arguments)
        except _errors.CancelledError:
            if self.exception is None:
                raise
        if self.exception is not None:
            raise self.exception
        return result


def _patient(function):
    """Returns a function that makes the same call in a way that Ctrl-C can end."""
    return lambda *arguments: Call().run(function, *arguments)


for _name in _PATIENT:
    setattr(_dll, _name, _patient(getattr(_dll, _name)))


# The library calls this, on any thread, while it waits for data. False: wait no longer.
@ctypes.CFUNCTYPE(c_bool, c_void_p)
def _waits_on(user):
    return not any(isinstance(call, Call) and call.interrupted for call in tuple(_at_work))


_dll.gls_set_wait(ctypes.cast(_waits_on, c_void_p), None)
atexit.register(_dll.gls_set_wait, None, None)


# Messages of the library go to the logger "glslines".
_LEVELS = [logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG, logging.DEBUG]


@ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
def _log(user, level, line):
    logger.log(_LEVELS[min(level, 4)], "%s", line.decode(errors="replace"))


_dll.gls_log_set(ctypes.cast(_log, c_void_p), None, constants["GLS_LOG_INFO"])
atexit.register(_dll.gls_log_set, None, None, 0)
atexit.register(_end)  # register this last, because it has to run first
