"""Writes commands.py of the package: a function for each command, with the options as the program and the library
describe them. CMake runs it: generate.py PROGRAM LIBRARY OUTPUT."""

import ctypes
import json
import keyword
import re
import subprocess
import sys
import textwrap

# For each command: the arguments of its function, the kind of its result (a key of _exchange.KINDS), the type of the result
# and its description.
SERIES = [("dwi", "ImageLike", None), ("bval", "Any", "None"),
          ("bvec", "Union[PathLike, ArrayLike, None]", "None")]
ONE, SEVERAL = [("tracks", "TracksLike", None)], [("tracks", "Union[TracksLike, List[TracksLike]]", None)]
OUT = [("out", "Optional[PathLike]", "None")]
SH = [("sh", "ImageLike", None)]
IMAGES = [("images", "Union[ImageLike, List[ImageLike]]", None)]
IMAGE = "ImageData", "Values, (x, y, z) or (x, y, z, n), float32, and the affine from voxels to world mm, (4, 4)."
FILES = "Files", "Files that were written, by the part of their names behind the prefix; each is read when its key is used."
TABLE = "List[Dict[str, Any]]", "A row for each line of the table."
COMMANDS = {
    "fit": (SERIES + OUT, "images", *FILES),
    "response": (SERIES + OUT, "images", *FILES),
    "phantom": (OUT, "folder", "Files", "The images and tables of the folder, by their names."),
    "score": ([("tracks", "Optional[TracksLike]", "None")] + OUT, "json", "Dict[str, Any]",
              "Scores: of the tractogram with truth or against, else of every method on the phantom."),
    "edit": (SEVERAL + OUT, "tracks", "Result", "The streamlines; with out, they are read from the file at their first use."),
    "convert": (ONE + OUT, "tracks", "Result", "The streamlines; with out, they are read from the file at their first use."),
    "segment": (ONE + [("bundles_table", "PathLike", None)] + OUT, "tracks of option", "Result",
                "Streamlines of all bundles; groups has for each bundle the numbers of its streamlines."),
    "cluster": (ONE + OUT, "tracks of option", "Result",
                "The streamlines; dps has a column cluster, the number of the cluster of each streamline."),
    "recognize": (ONE + [("atlas", "PathLike", None)] + OUT, "tracks of option", "Result",
                  "The streamlines; groups has for each bundle the numbers of its streamlines."),
    "similarity": ([("bundles", "Union[PathLike, List[PathLike]]", None)] + OUT, "table", "List[Dict[str, Any]]",
                   "A row for each bundle and pair of inputs; with matrix, one for each bundle and input."),
    "atlas": ([("bundles", "List[PathLike]", None)] + OUT, "tracks of option", "Result",
              "The streamlines of the atlas; groups has for each bundle their numbers."),
    "clean": (ONE + OUT, "tracks", "Result",
              "The streamlines that stay; with out, they are read from the file at their first use."),
    "search": (ONE + [("references", "TracksLike", None)] + OUT, "table", "List[Dict[str, Any]]",
               "A row for each pair of neighbours."),
    "sample": (ONE + IMAGES + OUT, "values", "NDArray[np.float64]",
               "A value for each streamline, (N,); with several statistics, images or volumes (N, k)."),
    "profile": (ONE + IMAGES + OUT, "table", *TABLE),
    "stats": (SEVERAL + OUT, "table", *TABLE),
    "info": (ONE + OUT, "json", "Dict[str, Any]", "A description of the tractogram."),
    "density": (ONE + OUT, "image", *IMAGE),
    "connectome": (ONE + [("labels", "ImageLike", None)] + OUT, "matrix", "Any",
                   "Streamlines between each pair of regions, (n, n); with metric a dict of such matrices, by the names that "
                   "metrics have in names of files."),
    "edges": (ONE + [("assignments", "Union[PathLike, ImageLike, ArrayLike]", None)] + OUT, "tracks", "Any",
              "Result whose groups are the edges, such as 3-7; with files=\"per_edge\" or \"per_node\" Files: the streamlines "
              "of each, by the part of the names behind the prefix."),
    "permute": ([("files", "Union[PathLike, List[Union[PathLike, ArrayLike]]]", None), ("design", "Union[PathLike, ArrayLike]", None),
                 ("contrasts", "Union[PathLike, ArrayLike]", None)] + OUT, "images of option", *FILES),
    "weights": (ONE + SH + OUT, "vector", "NDArray[np.float64]", "The weight of each streamline, (N,)."),
    "fixels": (SH + OUT, "folder", "Any", "Files: the images of the fixel directory, by their names; with tracks an image with a "
               "value for each fixel, or with afd a number."),
    "register": ([("moving", "Union[ImageLike, TracksLike]", None), ("fixed", "Union[ImageLike, TracksLike]", None)] + OUT,
                 "images of option", *FILES),
    "transform": ([("moving", "Union[ImageLike, TracksLike]", None),
                   ("transform", "Union[TransformLike, List[TransformLike]]", None)] + OUT, "as moving", "Any",
                  "If moving is an image, its values, (x, y, z) or (x, y, z, n), and affine, (4, 4); if a tractogram, a Result."),
    "anat": ([("t1", "ImageLike", None)] + OUT, "folder of option", "Files",
             "The images, transforms and tables of the folder, by their names."),
    "peaks": (SH + OUT, "image of option", "ImageData",
              "Peaks, (x, y, z, 3 n), vectors whose lengths are amplitudes, and the affine, (4, 4)."),
}
TRACK_OUT = "Tractogram to write, TRX, TRK, TCK or VTK by its suffix. Default: no file is kept."
PICTURE_OUT = "PNG file to write. Default: none; a notebook shows the picture."
REPORT_OUT = "HTML file to write. Default: the name of the tractogram with .html."
ARGUMENTS = {
    "dwi": "Diffusion series, (x, y, z, n): a file, an image of nibabel, or (array, affine).",
    "bval": "b-values in s/mm2, (n,), their file, or a GradientTable of DIPY. Default: beside the file dwi.",
    "bvec": "Gradient directions in FSL's axes, (n, 3) or (3, n), or their file. Default: beside the file dwi.",
    "tracks": "Tractogram: a file, a Result, or one of nibabel, DIPY or trx-python.",
    "out": "File, or prefix of files, to write. Default: no file is kept.",
    "sh": "FODs as spherical harmonics, (x, y, z, k): a file, an image of nibabel, or (array, affine).",
    "images": "Images, (x, y, z) or (x, y, z, n): files, images of nibabel, or (array, affine).",
    "assignments": "Labels of the regions that each streamline joins, (N, 2), or their file; or an image of labels, (x, y, z), of "
                   "which each end gets the nearest: a file, an image of nibabel, or (array, affine).",
    "files": "A connectome, (n, n), or with type=\"vector\" a vector for each subject, or its file; or a file that lists files.",
    "design": "Rows of the subjects, columns of the variables, (N, p), or their file.",
    "contrasts": "A row for each t-test, (r, p), or their file.",
    "labels": "Whole numbers of regions, (x, y, z), 0 for none, or with rows=\"soft\" or \"max\" probabilities of regions, "
              "(x, y, z, n): a file, an image of nibabel, or (array, affine).",
    "atlas": "Folder of tractograms, each a bundle; a folder of such folders; or a TRX file whose groups are bundles.",
    "bundles": "Inputs to compare: folders of tractograms, each a bundle, TRX files whose groups are bundles, or tractograms, "
               "each a single bundle.",
    "bundles_table": "File with a row for each bundle.",
    "moving": "Image or tractogram to bring to the fixed space: a file, or an image or tractogram in memory.",
    "fixed": "Image to which the moving image is brought: a file, an image of nibabel, or (array, affine).",
    "transform": "Transform that maps points of the fixed image to the moving image: a file, with ,inverse and the like "
                 "behind its name as on the command line, or a matrix from world mm to world mm, (4, 4) or (3, 4). "
                 "A list is a chain, in the order in which points of the fixed image pass it.",
    "t1": "T1 image of the subject: a file, an image of nibabel, or (array, affine).",
    "references": "Tractogram in the same space: a file, a Result, or one of nibabel, DIPY or trx-python.",
    "reference": "Image on whose grid the streamlines lie, for files that have none.",
    "recover": "Leave out the last streamline of a TCK file that was cut off.",
    "bids_dir": "Data set of preprocessed diffusion images, such as the output of QSIPrep.",
    "out_dir": "Data set of tractograms, made where it does not exist.",
    "level": "participant: track. group: write tables and pages of all tractograms.",
    "progress": "None: a bar where there is a terminal or a notebook. False: nothing. Or a function of phase, done,\n"
                "total, streamlines and points, which may return False to stop.",
}
#: parameters of options whose names are those of arguments
RENAMED = {("connectome", "labels"): "rows"}
#: options that only the program has, and that no function takes
HIDDEN = {"quiet", "verbose", "progress", "progress-file", "notify", "help", "version", "json", "output", "launcher"}
PATHS = {"dwi", "bval", "bvec", "dwi-mask", "template-mask", "mask", "act", "template", "weights", "scale-file", "reference", "image", "response", "transform",
         "fixed-mask", "moving-mask", "lesion-mask", "init", "exemplars"}


def parameter(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def may_be_left_out(option):
    """Whether the option may be given without a value; in Python, True then stands for the value."""
    return (option["metavar"] or "").startswith("[")


def type_of(option):
    if may_be_left_out(option):
        return "Union[%s, bool, None]" % type_of({**option, "metavar": None})[len("Optional["):-1]
    kind = option["type"]
    if kind == "choice":
        return "Optional[Literal[%s]]" % ", ".join(json.dumps(word) for word in option["choices"])
    if kind == "strings":
        return "Union[PathLike, ImageLike, List[ImageLike], None]"
    if option["metavar"] == "TRACKS":
        return "Optional[TracksLike]"
    if kind == "string":
        return "Union[ImageLike, ArrayLike, None]" if option["name"] in PATHS else "Optional[PathLike]"
    return {"flag": "bool", "count": "Optional[int]", "integer": "Optional[int]", "number": "Optional[float]",
            "seed": "Union[int, str, None]", "length": "Union[float, str, None]",
            "numbers": "Union[float, Sequence[float], None]", "options": "Optional[Dict[str, Any]]"}[kind]


#: options of all commands, by name
OPTIONS = {}


def in_python(text):
    """Returns the text of a help in which options have their names in Python. Commands in quotes stay as they are."""
    def argument(match):
        name, value = match.groups()
        found = "out" if name == "output" else parameter(name)
        if value is None:
            return found
        if value in (OPTIONS.get(name, {}).get("choices") or []):
            return '%s="%s"' % (found, value)
        return "%s%s%s" % (found, "=" if value[0].isdigit() else " ", value)

    parts = re.split(r"('glslines [^']*'|`glslines [^`]*`)", text)
    option = re.compile(r"(?<![-\w])--([a-z][a-z0-9-]*[a-z0-9])(?:[ =]([a-z0-9][a-z0-9_]*(?:[.-]\w+)*)(?!\w))?")
    return "".join(part if i % 2 else option.sub(argument, part) for i, part in enumerate(parts))


def clean(text):
    return in_python(re.sub(r"\s+", " ", text)).replace("\\", "\\\\").strip()


def entry(name, type_, text):
    lines = [part for piece in text.split("\n") for part in textwrap.wrap(piece, 104)]
    return ["%s : %s" % (name, type_)] + ["    " + line for line in lines]


def numpydoc_type(option):
    words = {"flag": "bool", "strings": "list of str", "string": "str or os.PathLike", "integer": "int", "count": "int",
             "number": "float", "seed": "int", "length": "float or str", "numbers": "sequence of float", "options": "dict"}
    kind = option["type"]
    return ("{%s}" % ", ".join(option["choices"]) if kind == "choice" else words[kind]) + ", optional"


def option_entry(option):
    extras = ["in %s" % option["unit"]] if option["unit"] and option["unit"] not in (option["range"] or "") else []
    extras += [option["range"]] if option["range"] else []
    extras += ["default: %s" % option["default"]] if option["default"] else []
    text = clean(option["help"]) + (" True gives the option without a value." if may_be_left_out(option) else "") + (" [%s]" % "; ".join(clean(e) for e in extras) if extras else "")
    return entry(parameter(option["name"]), numpydoc_type(option), text)


def documentation(summary, description, arguments, options, returns, indent=4, progress=False):
    lines = [clean(summary) + ".", ""] + textwrap.wrap(clean(description), 108) + ["", "Parameters", "----------"]
    for name, type_, _ in arguments:
        lines += entry(name, type_.replace("Optional[PathLike]", "str or os.PathLike, optional"), ARGUMENTS[name])
    for option in options:
        lines += option_entry(option)
    if progress:
        lines += entry("progress", "None, bool or callable, optional", ARGUMENTS["progress"])
    if returns:
        lines += ["", "Returns", "-------", returns[0]] + ["    " + line for line in textwrap.wrap(returns[1], 104)]
    text = "\n".join((" " * indent + line).rstrip() for line in lines).strip()
    return '%s"""%s\n%s"""' % (" " * indent, text, " " * indent)


def signature(name, arguments, options, returns, indent=0, first=(), progress=True):
    parts = list(first) + ["%s: %s%s" % (a, t, "" if d is None else " = " + d) for a, t, d in arguments] + ["*"]
    parts += ["%s: %s = %s" % (parameter(o["name"]), type_of(o), "False" if o["type"] == "flag" else "None")
              for o in options]
    parts += ["progress: Progress = None"] if progress else []
    pad = " " * indent
    decorator = pad + "@_nearest\n"
    return decorator + "%sdef %s(\n%s\n%s) -> %s:" % (pad, name, "\n".join("%s    %s," % (pad, part) for part in parts), pad, returns)


def function(command, spec):
    arguments, kind, type_, text = spec
    taken = {a for a, _, _ in arguments}
    own = [(dict(o, name=RENAMED.get((command["name"], o["name"]), o["name"])), o["name"]) for o in command["options"]]
    names = {parameter(o["name"]): name for o, name in own if name not in HIDDEN and parameter(o["name"]) not in taken}
    options = [o for o, _ in own if parameter(o["name"]) in names]
    return "\n".join([
        signature(command["name"], arguments, options, type_),
        documentation(command["summary"], command["description"], arguments, options, (type_, text), progress=True),
        "    result: %s = _call(%r, %r, locals(), %s)" % (type_, command["name"], kind, "_" + command["name"].upper()),
        "    return result", "", "",
        "_%s = {\n%s\n}" % (command["name"].upper(), "\n".join("    %r: %r," % item for item in names.items()))])


def params_class(rows):
    options = [dict(o, name=o["name"]) for o in rows]
    return "\n".join([
        "class Params(_Params):",
        documentation("Parameters of a Tracker: the options of tracking of `glslines track`",
                      "What is not given has the default of the preset, the direction getter and the model. Lengths are "
                      "numbers of voxels (of the smallest side), or texts such as \"0.5mm\".", [], options, None), "",
        signature("__init__", [], options, "None", 4, ["self"], False),
        "        super().__init__(**_given(locals()))"])


def track_function(command, job):
    arguments = [("dwi", "Optional[ImageLike]", "None"), *SERIES[1:], ("mask", "Optional[ImageLike]", "None"),
                 ("roi", "Optional[ImageLike]", "None"), ("out", "Optional[PathLike]", "None")]
    texts = dict(ARGUMENTS)
    ARGUMENTS.update(mask="Brain mask, a file, an image of nibabel, or (array, affine). Default: made.",
                     roi="Seed mask, like mask. Default: made.", out=TRACK_OUT)
    taken = {a for a, _, _ in arguments}
    options = [o for o in command["options"] if o["name"].replace("-", "_") in job and
               parameter(o["name"]) not in taken | {"output"}]
    text = "\n".join([
        signature("track", arguments, options, "Tracked"),
        documentation(command["summary"], command["description"], arguments, options,
                      ("Tracked", "The streamlines; they are read at their first use. stats has the counts and times of the "
                       "run, as the sidecar; output and sidecar name the files."), progress=True),
        "    result: Tracked = _files.track(**_given(locals()))", "    return result"])
    ARGUMENTS.clear()
    ARGUMENTS.update(texts)
    return text


def picture_function(command, called):
    """Returns the source of a function that calls one of pictures.py. It takes tractogram files, or tractograms in memory, which
    it first writes to files."""
    several = command["name"] == "render"
    gives = ("Picture", "A picture that notebooks show; counts and sizes by their names.") if several else (
        "Dict[str, Any]", "Counts, sizes, and the name of the file that was written.")
    arguments = (SEVERAL if several else ONE) + OUT + [("reference", "ImageLike", "None"), ("recover", "bool", "False")]
    texts = dict(ARGUMENTS)
    ARGUMENTS.update(out=PICTURE_OUT if several else REPORT_OUT)
    taken = {a for a, _, _ in arguments}
    options = [o for o in command["options"] if o["name"] not in HIDDEN | {"nthreads", "vtk-space"}
               and parameter(o["name"]) not in taken]
    text = "\n".join([
        signature(command["name"], arguments, options, gives[0], progress=False),
        documentation(command["summary"], command["description"], arguments, options, gives),
        "    result: %s = _of_tracks(_pictures.%s, **_given(locals()))" % (gives[0], called),
        "    return result"])
    ARGUMENTS.update(texts)
    return text


def bids_function(command):
    arguments = [("bids_dir", "PathLike", None), ("out_dir", "PathLike", None),
                 ("level", 'Literal["participant", "group"]', '"participant"')]
    options = [o for o in command["options"] if o["name"] not in HIDDEN | {"list"}]
    behind = [{"name": "track", "type": "options", "help": "Options of `track`, such as {\"nseeds\": 100000}.",
               "metavar": None, "unit": None, "range": None, "default": None}]
    names = {parameter(o["name"]): o["name"] for o in options}
    return "\n".join([
        signature("bids", arguments, options + behind, "str"),
        documentation(command["summary"], command["description"], arguments, options + behind,
                      ("str", "What the program prints."), progress=True),
        "    return _bids(locals(), _BIDS)", "", "",
        "_BIDS = {\n%s\n}" % "\n".join("    %r: %r," % item for item in names.items())])


HEAD = '''"""A function for each command of glslines. This file is made by generate.py when glslines is built."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import files as _files
from . import pictures as _pictures
from ._exchange import Files, ImageData, ImageLike, PathLike, Tracked, TracksLike, TransformLike
from ._exchange import bids as _bids
from ._exchange import call as _run
from ._exchange import of_tracks as _of_tracks
from ._names import nearest as _nearest
from ._program import Progress
from .params import Params as _Params
from .pictures import Picture
from .streamlines import Result


def _given(values: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in values.items()
            if value is not None and value is not False and name not in ("self", "__class__") or name == "progress"}


def _call(command: str, kind: str, values: Dict[str, Any], names: Dict[str, str]) -> Any:
    return _run(command, kind, dict(values), names)
'''


def main():
    program, library, output = sys.argv[1:4]
    manual = json.loads(subprocess.run([program, "help", "--format", "json"], capture_output=True, text=True,
                                       check=True).stdout)
    commands = {command["name"]: command for command in manual["commands"]}
    dll = ctypes.CDLL(library)
    dll.gls_abi_describe.restype = ctypes.c_char_p
    rows = {row["name"]: row["of"] for row in json.loads(dll.gls_abi_describe())["options"]}
    OPTIONS.update({option["name"]: option for command in commands.values() for option in command["options"]})
    track = commands["track"]
    of_tracker = [o for o in track["options"] if rows.get(o["name"]) == "TRACK" or o["name"] == "preset"]
    job = {name.replace("-", "_") for name, of in rows.items() if of != "COMMAND"} | {"picture", "report"}
    pictures = "render", "report"
    names = sorted(["Params", "bids", "track", *pictures, *COMMANDS])
    parts = [HEAD + "\n\n__all__ = [%s]\n" % textwrap.fill(", ".join('"%s"' % name for name in names), 108, subsequent_indent=" " * 11),
             params_class(of_tracker), track_function(track, job)]
    parts += [picture_function(commands[name], name) for name in pictures]
    parts.append(bids_function(commands["bids"]))
    parts += [function(commands[name], spec) for name, spec in COMMANDS.items()]
    with open(output, "w") as file:
        file.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
