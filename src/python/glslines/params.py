"""Parameters of a run. Their names are those of the options of `glslines track`, with underscores."""

import ctypes
import re
from typing import Any

from . import _library
from ._names import unknown

_ROWS = {row["name"].replace("-", "_"): row for row in _library.options if row["of"] != "COMMAND"}
_OF_PROGRAM = [row["name"].replace("-", "_") for row in _library.options if row["of"] == "COMMAND"]
#: options of `glslines track` that glslines.track() carries out itself, after the run
AFTER_RUN = ("picture", "report")
#: options that only the program has, and why
PROGRAM_ONLY = {"dry_run": "it prints what a run would do", "json": "it prints what a run would do",
                "trace": "it is the timeline of the program's process"}
#: a name for the image of tissue: defaults depend on whether there is such an image
_TISSUE = ctypes.create_string_buffer(b"tissue")
_SCALARS = {"INT": ctypes.c_int, "UINT64": ctypes.c_uint64, "SEED": ctypes.c_uint64, "DOUBLE": ctypes.c_double}


def names(of=None):
    """Returns the names of all parameters, or only those of the tracker (of="TRACK") or of the program (of="COMMAND")."""
    if of == "COMMAND":
        return list(_OF_PROGRAM)
    return [name for name, row in _ROWS.items() if of is None or row["of"] == of]


def choice(name, word, shown):
    """Returns the number that the library has for a word of a parameter with choices. shown: name of the parameter in the
    message."""
    words = _ROWS[name]["choices"].split("|")
    if not isinstance(word, str) or word not in words:
        raise ValueError("%s: '%s' is none of %s" % (shown, word, ", ".join(words)))
    return words.index(word)


def _out_of_range(name, value, row):
    low, high = row["min"], row["max"]
    text = "%s: %s is out of range:" % (name, value)
    if low is not None:
        text += " %s %g" % ("above" if row["min_open"] else "at least", low)
    if high is not None:
        text += "%s at most %g" % (" and" if low is not None else "", high)
    return ValueError(text)


def _check_range(name, value, row):
    low, high = row["min"], row["max"]
    if (low is not None and (value <= low if row["min_open"] else value < low)) or (high is not None and value > high):
        raise _out_of_range(name, value, row)


def left_out(name, value):
    """Returns the value that an option has if it is given without one, if the value is True: 0.1 for compress, whose help has
    "[L=0.1]", sift2 for weights, whose help has "[sift2|commit]"; if the value of such a choice is False, its first word.
    Returns any other value as it is."""
    row = _ROWS[name]
    metavar = row["metavar"] or ""
    if _library.is_switch(value) and metavar.startswith("["):
        if row["type"] == "CHOICE":
            return metavar.strip("[]").split("|")[0] if value else row["choices"].split("|")[0]
        if value and "=" in metavar:
            return metavar.strip("[]").partition("=")[2]
    return value


def _length(name, value):
    """Returns a length and whether it is in mm. value: a number of voxels, or text such as "0.5mm" or "0.5vox"."""
    match = re.fullmatch(r"\s*([-+0-9.eE]+)\s*(mm|vox|)\s*", value) if isinstance(value, str) else None
    if isinstance(value, str) and not match:
        raise ValueError("%s: '%s' is no length such as 0.5mm or 0.5vox" % (name, value))
    return (_library.real(match[1], name), match[2] == "mm") if match else (_library.real(value, name), False)


def _without_unit(value, unit):
    """Returns the text of a number without its unit, which the program accepts, too: "20" for "20mm"."""
    text = value.strip() if isinstance(value, str) else value
    return text[:-len(unit)] if unit and isinstance(text, str) and text.endswith(unit) else value


class Options:
    """A gls_job_options whose members are set by name. It keeps the texts to which the members point."""

    def __init__(self, of=None, **values):
        self.struct = _library.call.gls_job_options_default()
        self._of = of
        self._keep = []
        self.given = {}
        for name, value in values.items():
            self.set(name, value)

    def _row(self, name):
        row = _ROWS.get(name)
        if name in _OF_PROGRAM and not self._of:
            raise TypeError("'%s' is an option of the program alone%s" % (
                name, ": " + PROGRAM_ONLY[name] if name in PROGRAM_ONLY else ""))
        if row is None or (self._of and row["of"] != self._of):
            raise unknown("no parameter", name, names(self._of))
        return row

    def _at(self, kind, offset):
        return kind.from_buffer(self.struct, offset)

    def set(self, name: str, value: Any) -> None:
        row = self._row(name)
        kind = row["type"]
        given, value = value, left_out(name, value)
        if kind in _SCALARS:
            if kind == "DOUBLE":
                number = _library.real(_without_unit(value, row.get("unit")), name)
            else:
                number = _library.integer(value, name, *((-2**31, 2**31 - 1) if kind == "INT" else (0, 2**64 - 1)))
            if kind != "SEED":
                _check_range(name, number, row)
            self._at(_SCALARS[kind], row["offset"]).value = number
        elif kind == "LENGTH":
            number, is_mm = _length(name, value)
            if is_mm:
                _check_range(name, number, row)
            elif not number >= 0:
                raise _out_of_range(name, number, row)
            self._at(ctypes.c_double, row["offset"]).value = number
            self._at(ctypes.c_bool, row["mm_offset"]).value = is_mm
        elif kind == "FLAG":
            self._at(ctypes.c_bool, row["offset"]).value = _library.switch(value, name)
        elif kind == "CHOICE":
            number = ctypes.c_bool if row["size"] == 1 else ctypes.c_int
            self._at(number, row["offset"]).value = choice(name, value, name)
        elif kind == "STRING":
            self._at(ctypes.c_void_p, row["offset"]).value = self._text(value, name)
        elif kind == "NUMBERS":
            self._set_list(name, _library.structs["gls_numbers"], row, value,
                           lambda entry: _library.real(entry, name))
        else:
            self._set_list(name, _library.structs["gls_strings"], row, value,
                           lambda entry: self._text(entry, name))
        self.given[name] = given

    def _text(self, value, name):
        text = ctypes.create_string_buffer(_library.encode(value, name))
        self._keep.append(text)
        return ctypes.addressof(text)

    def _set_list(self, name, struct, row, value, convert):
        value = value.tolist() if hasattr(value, "tolist") else value  # of numpy
        entries = list(value) if isinstance(value, (list, tuple)) else [value]
        target = self._at(struct, row["offset"])
        if len(entries) > len(target.value):
            raise ValueError("%s: %d values, at most %d" % (name, len(entries), len(target.value)))
        for i, entry in enumerate(entries):
            target.value[i] = convert(entry)
        target.n = len(entries)

    def completed(self, tissue=False):
        """Returns a copy of the struct in which all members that were not given have the default of the preset, getter and model.
        tissue: use the defaults of a run with tissue."""
        copy = type(self.struct).from_buffer_copy(self.struct)
        if tissue:
            ctypes.c_void_p.from_buffer(copy, _ROWS["act"]["offset"]).value = ctypes.addressof(_TISSUE)
        _library.call.gls_job_options_set_defaults(ctypes.byref(copy), self._names())
        return copy

    def for_run(self):
        """Returns a copy of the struct that names the given members: the run completes the others."""
        copy = type(self.struct).from_buffer_copy(self.struct)
        names = self._names()
        self._keep.append(names)
        copy.given = ctypes.addressof(names)
        return copy

    def _names(self):
        named = [_ROWS[name]["name"].encode() for name in self.given]
        return (ctypes.c_char_p * (len(named) + 1))(*named, None)

    def set_path(self, member, value):
        """Sets a member that is no parameter: dwi, bval, bvec."""
        setattr(self.struct, member, self._text(value, member))


def default_getter(sources, preset=None):
    """Returns the getter that `glslines track` uses by default, as a word. sources: the options that give directions (odf, peaks,
    bedpostx); none: the getter tracks along the series itself."""
    options = Options(**{name: "array" for name in sources} if sources else {"model": "opdt"})
    if sources and preset is not None:
        options.set("preset", preset)
    row = _ROWS["dg"]
    return row["choices"].split("|")[ctypes.c_int.from_buffer(options.completed(), row["offset"]).value]


def _again(kind, values):
    return kind(**values)


class Params(Options):
    """Parameters of a Tracker: `Params(dg="prob", step_size="0.5mm", max_angle=45)`.

    Names and defaults are those of the options of `glslines track`, with underscores, preset among them; lengths are
    numbers in voxels (of the smallest side) or text such as "0.5mm".
    """

    def __init__(self, **values: Any) -> None:
        preset = values.pop("preset", None)
        super().__init__(of="TRACK", **values)
        if preset is not None:
            self._of = None
            self.set("preset", preset)
            self._of = "TRACK"

    def __reduce__(self):
        return _again, (type(self), dict(self.given))

    def __repr__(self) -> str:
        return "Params(%s)" % ", ".join("%s=%r" % item for item in self.given.items())

    @property
    def _getter(self) -> int:
        return self._at(ctypes.c_int, _ROWS["dg"]["offset"]).value

    @property
    def dg(self) -> str:
        return _ROWS["dg"]["choices"].split("|")[self._getter]

    @property
    def act_rule(self) -> str:
        """The default rule for tissue of a run with these parameters: cmc with pft, else act."""
        row = _ROWS["act_rule"]
        return row["choices"].split("|")[ctypes.c_int.from_buffer(self.completed(), row["offset"]).value]

    def in_mm(self, voxel, cube=None, tissue=False):
        """Returns the struct of the tracker, with lengths in mm. voxel: side of a voxel, mm. cube: cube root of the volume of a
        voxel, the unit of negative lengths. tissue: use the defaults of a run with tissue."""
        copy = self.completed(tissue)
        for row in _ROWS.values():
            if row["of"] == "TRACK" and row["type"] == "LENGTH":
                if not ctypes.c_bool.from_buffer(copy, row["mm_offset"]).value:
                    length = ctypes.c_double.from_buffer(copy, row["offset"])
                    length.value *= voxel if length.value > 0 else 1
        for name in ("step_size", "min_length", "max_length"):
            length = ctypes.c_double.from_buffer(copy, _ROWS[name]["offset"])
            if length.value < 0:
                length.value *= -(cube or voxel)
        return _library.structs["gls_track_params"].from_buffer_copy(copy, type(copy).track.offset)
