"""Converts the arguments and results of commands between arrays and files. A file name is handed on as it is; any other
argument is written to a file in a temporary folder. An output without a name is written there, too, and read back."""

from __future__ import annotations

import copy
import csv
import json
import os
import re
import shutil
import tempfile
import weakref
import zlib
from typing import Any, Dict, Iterable, Iterator, KeysView, List, Mapping, Optional, Tuple, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _program
from ._arrays import affine_of, is_pair, is_rounded, load_image, numbers, save_image, write_labels
from ._errors import Error, InputError
from ._written import Written
from .files import load
from .streamlines import Result, points_of

PathLike = Union[str, "os.PathLike[str]"]
#: values (x, y, z) or (x, y, z, n), and the affine from voxels to world mm
ImageData = Tuple[NDArray[np.float32], NDArray[np.float64]]
#: a file, ImageData, or an image of nibabel
ImageLike = Union[PathLike, ImageData, Any]
#: a file, a Result, or a tractogram of nibabel, DIPY or trx-python
TracksLike = Union[PathLike, Result, Any]
#: a file, or a matrix from world mm to world mm
TransformLike = Union[PathLike, ArrayLike]


class Files(Mapping[str, Any]):
    """Files that a command wrote. Keys are the parts of their names behind the prefix. Images are read as (array, affine),
    tractograms as Result, responses and tables as arrays (response_wm beside an image wm), the sidecar as a dict. A file is read
    whenever its key is used.

    paths: names of the files.
    """

    def __init__(self, files: Dict[str, Written], keep: Any = None) -> None:
        self._files, self._keep = files, keep

    @property
    def paths(self) -> Dict[str, str]:
        return {name: file.path for name, file in self._files.items()}

    def __getitem__(self, key: str) -> Any:
        path = self._files[key].same()
        return read_table(path) if path.endswith(".tsv") else read(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return "Files(%s)" % ", ".join(self._files)

    def __reduce__(self) -> Any:
        if self._keep is not None and self._keep.path:
            raise TypeError("files of a temporary folder can be neither copied nor pickled: give out=")
        return Files, (self._files,)


def files_of_prefix(prefix: str, outputs: List[str], keep: Any = None) -> Files:
    """Returns the files that a command wrote under a prefix."""
    stem = os.path.basename(prefix)
    files: Dict[str, Written] = {}
    for path in sorted(outputs):
        name = os.path.basename(path)
        key = "sidecar" if name == stem + ".json" else name[len(stem) + 1:].split(".")[0]
        files[key if key not in files else "response_" + key] = Written(path)
    return Files(files, keep)


def files_of_edges(out: str, outputs: List[str], keep: Any = None) -> Files:
    """Returns the files of edges or regions, by what stands in their names where out has its suffix. The sidecar is left out."""
    stem = re.sub(r"\.(trx|trk|tck|vtk|vtp)$", "", os.path.basename(out))
    return Files({os.path.basename(path)[len(stem):].split(".")[0]: Written(path) for path in sorted(outputs)
                  if not path.endswith(".json")}, keep)


def files_of_folder(folder: str, outputs: List[str], keep: Any = None) -> Files:
    """Returns the files that a command wrote directly into a folder. Files in folders inside it are left out."""
    inside = [path for path in sorted(outputs) if os.path.realpath(os.path.dirname(path) or ".") == os.path.realpath(folder)]
    return Files({os.path.basename(path).replace(".gz", "").replace(".nii", ""): Written(path) for path in inside}, keep)


#: members of a Result that are read from its file
_OF_FILE = ("points", "offsets", "dps", "dpv", "groups", "dpg", "stats", "space", "_grid")


class FileResult(Result):
    """A Result of a tractogram file, which is read when a member that lies in it is first used.

    path: name of the file. If the file has changed before it is read, InputError is raised.
    """

    def __init__(self, path: PathLike) -> None:
        self._file: Optional[Written] = Written(path) if path else None

    @property
    def path(self) -> str:
        return self._file.path if self._file is not None else ""

    def _same(self) -> str:
        if self._file is None:
            raise InputError("the run wrote no tractogram")
        return self._file.same()

    def __getattr__(self, name: str) -> Any:
        if name in _OF_FILE:
            found = vars(load(self._same()))
            self._as_read = _sum_of(found)
            self.__dict__.update({**found, **self.__dict__})
            return self.__dict__[name]
        raise AttributeError(name)

    def unchanged(self) -> Optional[str]:
        """Returns the name of the file; None: the caller has changed the arrays that were read from it."""
        own = {name: value for name, value in vars(self).items() if name in _OF_FILE and name != "stats"}
        return self._same() if not own or _sum_of(own) == getattr(self, "_as_read", None) else None


def _sum_of(content: Dict[str, Any]) -> int:
    """Returns a checksum of streamlines, columns and groups."""
    total = 0
    for name in ("points", "offsets", "dps", "dpv", "groups", "dpg"):
        for key, array in _arrays_in(name, content.get(name)):
            array = np.ascontiguousarray(array)
            text = "%s %s %s" % (key, array.dtype, array.shape)
            total = zlib.crc32(array.reshape(-1).view(np.uint8).data if array.size else b"", zlib.crc32(text.encode(), total))
    return total


def _arrays_in(key: str, content: Any) -> Iterator[Tuple[str, Any]]:
    if isinstance(content, dict):
        for name, value in content.items():
            yield from _arrays_in("%s/%s" % (key, name), value)
    else:
        yield key, np.atleast_1d(content)


class Tracked(FileResult):
    """The tractogram of a run. Its streamlines are read at their first use: tracked[0] is the first streamline. stats has the
    counts and times of the run; tracked["streamlines"] is stats["streamlines"].

    output, sidecar: names of the files; None: the run wrote no such file.
    """

    def __init__(self, stats: Dict[str, Any], keep: Any = None) -> None:
        self.stats, self._keep = stats, keep
        for name in ("output", "sidecar"):
            stats[name] = os.path.abspath(stats[name]) if stats[name] else stats[name]
        super().__init__(stats["output"] or "")

    @property
    def output(self) -> Optional[str]:
        return self.stats["output"] or None

    @property
    def sidecar(self) -> Optional[str]:
        return self.stats["sidecar"] or None

    def __len__(self) -> int:
        return int(self.stats["streamlines"])

    @overload
    def __getitem__(self, i: int) -> NDArray[np.float32]: ...

    @overload
    def __getitem__(self, i: Union[slice, List[int], List[bool], NDArray[Any]]) -> Result: ...

    @overload
    def __getitem__(self, i: str) -> Any: ...

    def __getitem__(self, i: Union[int, slice, List[int], List[bool], NDArray[Any], str]) -> Any:
        return self.stats[i] if isinstance(i, str) else super().__getitem__(i)

    def __contains__(self, name: object) -> bool:
        return name in self.stats

    def keys(self) -> KeysView[str]:
        return self.stats.keys()

    def get(self, name: str, default: Any = None) -> Any:
        return self.stats.get(name, default)

    def __repr__(self) -> str:
        length = "" if not len(self) else ", mean length %.1f mm" % self.stats["mean_length"]
        kept = self.output if self._keep is None and self.output else "no file"
        return "<%d streamlines of %d seeds%s, %s>" % (len(self), self.stats["seeds"], length, kept)

    def __reduce__(self) -> Any:
        if self._keep is not None and self.output:
            return Result, (self.points, self.offsets, self.dps, self.stats, self._grid, self.space, self.groups, self.dpv, self.dpg)
        return _tracked_again, (vars(self),)


def _tracked_again(content: Dict[str, Any]) -> Tracked:
    tracked = Tracked.__new__(Tracked)
    tracked.__dict__.update(content)
    return tracked


def read(path: str) -> Any:
    """Reads a file: an image, a tractogram, a sidecar, or else a table of numbers; the suffix decides."""
    if path.endswith((".nii", ".nii.gz")):
        return load_image(path)
    if path.endswith((".trx", ".trk", ".tck", ".vtk", ".vtp")):
        return load(path)
    if path.endswith(".json"):
        with open(path) as file:
            return json.load(file)
    return np.atleast_1d(np.squeeze(np.loadtxt(path, delimiter="," if path.endswith(".csv") else None, ndmin=2)))


def _read_matrix(path: str, named: bool) -> Any:
    """Reads the matrix of a connectome. named: it has a header line and a first column."""
    if not named:
        return read(path)
    with open(path, newline="") as file:
        rows = list(csv.reader(file, delimiter={".csv": ",", ".tsv": "\t"}.get(path[-4:], " ")))[1:]
    return np.array([[float("nan" if text == "n/a" else text) for text in row[1:]] for row in rows])


def _read_metrics(target: str, outputs: List[str], named: bool) -> Dict[str, Any]:
    """Reads the matrices of the metrics of a connectome, by the names of the metrics. Names of files are made of target as
    the command makes them."""
    stem, end = os.path.splitext(target)
    stem += "_"
    if target.endswith("_relmat.tsv"):
        stem, end = target[:-len("_relmat.tsv")] + "_meas-", "_relmat.tsv"
    others = (stem + "nodes.tsv", *(path for path in outputs if path.endswith(".json")))
    return {path[len(stem):len(path) - len(end)]: _read_matrix(path, named) for path in outputs
            if path.startswith(stem) and path.endswith(end) and path not in others}


def _number(text: str, kind: Any) -> Any:
    try:
        return kind(text) if text else None
    except ValueError:
        return text


def read_table(path: str) -> List[Dict[str, Any]]:
    """Reads the rows of a table. Columns that have only whole numbers, such as counts, become int; other numbers become float."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if path.endswith(".tsv") else ","))
    whole = {key for key in (rows[0] if rows else ()) if all(re.fullmatch(r"-?\d+", row[key] or "") for row in rows)}
    return [{key: _number(text, int if key in whole else float) for key, text in row.items()} for row in rows]


class Folder:
    """A temporary folder for values that are written to files. The folder is removed together with this object."""

    def __init__(self) -> None:
        self.path = ""

    def name(self, name: str) -> str:
        if not self.path:
            self.path = tempfile.mkdtemp(prefix="glslines-")
            self._finalizer = weakref.finalize(self, shutil.rmtree, self.path, True)
        return os.path.join(self.path, name)

    def tracks(self, value: TracksLike, name: str) -> str:
        if isinstance(value, (str, os.PathLike)):
            return _safe(value)
        as_read = value.unchanged() if isinstance(value, FileResult) else None
        if as_read is not None:
            return as_read
        path = self.name(name + ".trx")
        try:
            result_of(value).save(path)
        except Error as error:
            raise type(error)(str(error).replace(path, name)) from None
        return path

    def image(self, value: ImageLike, name: str) -> str:
        if isinstance(value, (str, os.PathLike)):
            return _safe(value)
        path = self.name(name + ".nii")
        pair = is_pair(value)
        if not pair and getattr(value, "affine", None) is None:
            raise TypeError("%s: a file, an image of nibabel or a pair (array, affine) is needed, not %s: an array alone "
                            "does not say where it lies" % (name.rstrip("0123456789"), type(value).__name__))
        array, affine = value if pair else (value, affine_of(value))
        if name.rstrip("0123456789") == "labels":
            write_labels(path, array, affine, "labels")
        elif is_rounded(array):
            write_labels(path, array, affine, name)
        else:
            save_image(path, array, affine)
        return path

    def numbers(self, value: Any, name: str) -> str:
        if isinstance(value, (str, os.PathLike)):
            return _safe(value)
        path, array = self.name(name + ".txt"), np.atleast_1d(numbers(value, name))
        if array.ndim > 2:
            raise ValueError("%s: numbers in rows are needed, not the shape %s" % (name.rstrip("0123456789"), array.shape))
        np.savetxt(path, array, fmt="%.17g")
        return path

    def listed(self, value: Any, name: str) -> str:
        """Returns the name of a file that lists files, or writes one of a list of files and arrays."""
        if isinstance(value, (str, os.PathLike)):
            return _safe(value)
        paths = [os.path.abspath(self.numbers(one, "%s%d" % (name, i))) for i, one in enumerate(value)]
        for path in paths:
            if path != path.strip() or "\n" in path:
                raise ValueError("%s: the program cannot list a name with a line end, or with blanks at its end: %r" % (name, path))
        with open(self.name(name + ".txt"), "w") as file:
            file.writelines(path + "\n" for path in paths)
        return self.name(name + ".txt")

    def transform(self, value: TransformLike, name: str) -> str:
        """Returns the name of a file, which may have options such as ,inverse behind it, or writes a matrix to a file."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        matrix = numbers(value, "transform")
        if matrix.shape not in ((4, 4), (3, 4)):
            raise ValueError("transform: a file or a matrix (4, 4) is needed, not the shape %s" % (matrix.shape,))
        return self.numbers(matrix, name)

    def option(self, value: Any, name: str) -> Any:
        """Returns the value of an option for the command line. Images are written to files, and so are tables if the option takes
        a file."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return value.item()
        if name == "transform" and isinstance(value, (list, tuple)) and np.ndim(value[0] if value else 0) != 1:
            # a chain; a list of rows is a matrix
            return [self.transform(one, "%s%d" % (name, i)) for i, one in enumerate(value)]
        if name in _TABLES and isinstance(value, (list, tuple, np.ndarray)):
            # a response has a row for each b-value; an array of a single row may have one dimension
            return self.numbers(np.atleast_2d(value) if name in ("response", "response_wm") else value, name)
        if is_pair(value) or hasattr(value, "dataobj"):
            return self.image(value, name)
        if isinstance(value, (list, tuple)) and any(
                is_pair(v) or hasattr(v, "dataobj") or np.ndim(v) > 0 for v in value):
            return [self.option(v, "%s%d" % (name, i)) for i, v in enumerate(value)]
        if isinstance(value, np.ndarray):
            return self.image(value, name) if value.ndim > 1 else value.tolist()
        return value


#: options that take a file of numbers
_TABLES = ("assignments", "bval", "bvec", "csd_directions", "ids", "response", "response_csf", "response_gm", "response_wm",
           "scale_file", "seeds", "transform", "weights", "ftests", "permutations")


def _safe(path: PathLike) -> str:
    """Returns a file name that the program does not take for an option: ./ is added before a minus sign."""
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def result_of(tracks: Any) -> Result:
    """Returns a tractogram of nibabel, DIPY or trx-python as a Result with its columns and groups. Points that are float32 in
    world mm are not copied."""
    if isinstance(tracks, Result):
        return tracks
    shape: Any = (1, 1, 1)
    affine: Any = np.eye(4)
    if hasattr(tracks, "tractogram"):  # a file that nibabel has loaded; a TRK file has a grid in its header
        shape = tracks.header.get("dimensions", shape)
        affine = tracks.header.get("voxel_to_rasmm", affine)
        tracks = tracks.tractogram
    if hasattr(tracks, "to_rasmm"):  # DIPY
        shape, affine = tracks.dimensions, tracks.affine
        if tracks.space.name != "RASMM" or tracks.origin.name != "NIFTI":
            tracks = copy.deepcopy(tracks)
            tracks.to_rasmm()
            tracks.to_center()
    elif hasattr(tracks, "to_world"):  # nibabel
        tracks = tracks.to_world(lazy=False) if not np.array_equal(tracks.affine_to_rasmm, np.eye(4)) else tracks
    elif isinstance(getattr(tracks, "header", None), dict):  # trx-python
        shape, affine = tracks.header["DIMENSIONS"], tracks.header["VOXEL_TO_RASMM"]
    lines = getattr(tracks, "streamlines", tracks)
    rows, lengths = _rows_of(lines, points_of)
    points = points_of(rows if len(rows) else np.empty((0, 3), np.float32))
    per_point = getattr(tracks, "data_per_point", None) or getattr(tracks, "data_per_vertex", None) or {}
    dpv = {name: _squeezed(_rows_of(column, np.atleast_1d)[0]) for name, column in dict(per_point).items()}
    dps = {name: _squeezed(np.asarray(column)) for name, column in dict(getattr(tracks, "data_per_streamline", {})).items()}
    groups = {name: np.ravel(members) for name, members in dict(getattr(tracks, "groups", {})).items()}
    dpg = {group: dict(values) for group, values in dict(getattr(tracks, "data_per_group", {})).items() if len(values)}
    return Result.from_arrays(points, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), dps, (shape, affine), dpv, groups, dpg)


def _rows_of(lines: Any, convert: Any) -> Tuple[NDArray[Any], NDArray[np.int64]]:
    """Returns the rows of all streamlines in one array, and the number of rows of each streamline."""
    if not hasattr(lines, "_data") or not hasattr(lines, "_offsets"):
        if isinstance(lines, (bytes, bytearray, Mapping)) or not isinstance(lines, Iterable):
            raise TypeError("tracks: a file, a Result, a tractogram of nibabel, DIPY or trx-python, or a list of arrays (n, 3) is "
                            "needed, not %s" % type(lines).__name__)
        arrays = [convert(line) for line in lines]
        return np.concatenate(arrays) if arrays else np.empty(0), np.array([len(a) for a in arrays], dtype=np.int64)
    lengths = np.asarray(lines._lengths, dtype=np.int64).ravel()  # get_data() would copy the rows
    if not np.array_equal(np.asarray(lines._offsets, dtype=np.int64).ravel()[:len(lengths)], np.cumsum(lengths) - lengths):
        return np.concatenate([np.asarray(line) for line in lines]), lengths
    return lines._data[:lengths.sum()], lengths


def _squeezed(column: NDArray[Any]) -> NDArray[Any]:
    return column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column


def table(bval: Any, bvec: Any) -> Tuple[Any, Any]:
    """Returns b-values and vectors. bval may be a GradientTable of DIPY, which has both."""
    if bvec is None and hasattr(bval, "bvals") and hasattr(bval, "bvecs"):
        return bval.bvals, bval.bvecs
    return bval, bvec


def series(folder: Folder, values: Dict[str, Any]) -> List[str]:
    """Returns the arguments DWI BVAL BVEC. Vectors in arrays are along FSL's axes, as those in files are."""
    dwi, bval, bvec = (values.pop(name) for name in ("dwi", "bval", "bvec"))
    bval, bvec = table(bval, bvec)
    if (bval is None) != (bvec is None):
        raise ValueError("bval and bvec: both or none are needed")
    words = [folder.image(dwi, "dwi")]
    if bval is not None:
        words += [folder.numbers(bval, "bval"), folder.numbers(bvec, "bvec")]
    return words


def many(value: Any) -> List[Any]:
    """Returns a list of values, also if there is only one. An image is a tuple, and therefore one value."""
    return list(value) if isinstance(value, list) else [value]


def tractograms(value: Any) -> List[Any]:
    """Returns a list of tractograms, also if there is only one. A list of arrays, or an empty list, is one tractogram, whose
    streamlines are the arrays."""
    return [value] if isinstance(value, list) and (not value or isinstance(value[0], np.ndarray)) else many(value)


def is_image(value: Any) -> bool:
    """Whether the value is an image and not a tractogram. The suffix of a file decides."""
    if isinstance(value, (str, os.PathLike)):
        return bool(re.search(r"\.(nii|hdr|img|mif|mih)(\.gz)?$", os.fspath(value), re.IGNORECASE))
    return is_pair(value) or hasattr(value, "dataobj")


def of_tracks(function: Any, tracks: Any, **options: Any) -> Any:
    """Calls a function of tractogram files. Tractograms and options that are no files are written to temporary files first."""
    folder = Folder()
    paths = [folder.tracks(t, "tracks%d" % i) for i, t in enumerate(tractograms(tracks))]
    options = {name: folder.option(value, name) for name, value in options.items()}
    return function(paths[0] if len(paths) == 1 else paths, **options)


def call(command: str, kind: str, values: Dict[str, Any], names: Mapping[str, str]) -> Any:
    """Runs a command with the arguments of its function. kind: key of KINDS. names: for each parameter the name of its option."""
    folder = Folder()
    words: List[str] = []
    progress = values.pop("progress")
    out: Optional[PathLike] = values.pop("out", None)
    if "dwi" in values and "dwi" not in names:
        words += series(folder, values)
    for name in ("tracks", "tracks_all"):  # options of fixels
        if name in names and values.get(name) is not None:
            values[name] = folder.tracks(values[name], name)
            kind = "numbers" if values["afd"] else "image"
    if "tracks" in values and "tracks" not in names:
        given = tractograms(values.pop("tracks"))
        if any(t is None for t in given) and command != "score":
            raise TypeError("tracks: None is no tractogram")
        words += [folder.tracks(t, "tracks%d" % i) for i, t in enumerate(given) if t is not None]
    if "references" in values:
        words += [folder.tracks(t, "references") for t in tractograms(values.pop("references"))]
    if "fixed" in values:
        for name in ("moving", "fixed"):
            one = values.pop(name)
            words.append((folder.image if is_image(one) else folder.tracks)(one, name))
    if "moving" in values:
        moving = values.pop("moving")
        kind = "image of option" if is_image(moving) else "tracks of option"
        words.append((folder.image if is_image(moving) else folder.tracks)(moving, "moving"))
        words += ["--transform=" + folder.transform(t, "transform%d" % i) for i, t in enumerate(many(values.pop("transform")))]
    for name in ("t1", "labels", "images", "sh"):
        if name in values and name not in names:
            shown = "probabilities" if name == "labels" and values.get("rows") in ("soft", "max") else name
            words += [folder.image(i, "%s%d" % (shown, n)) for n, i in enumerate(many(values.pop(name)))]
    if command == "permute":
        words.append(folder.listed(values.pop("files"), "files"))
        words += [folder.numbers(np.atleast_2d(given) if not isinstance(given, (str, os.PathLike)) else given, name)
                  for name in ("design", "contrasts") for given in (values.pop(name),)]
    if "assignments" in values and "assignments" not in names:
        given = values.pop("assignments")
        words.append((folder.image if is_image(given) else folder.numbers)(given, "labels" if is_image(given) else "assignments"))
        if values.get("files") in ("per_edge", "per_node"):
            kind = "edges"
    words += [_safe(path) for name in ("bundles_table", "atlas", "bundles") if name in values and name not in names
              for path in many(values.pop(name))]
    suffix, option = KINDS[kind]
    target = _safe(out) if out is not None else folder.name("out" + suffix)
    for name in list(values):
        values[name] = folder.option(values[name], name)
    options = _program.words_of(values, names)
    if option:
        options += ["--%s=%s" % (option, target)]
    else:
        words.append(target)
    done = _program.run(command, [*words, *options], progress, folder=folder.path)
    if kind == "edges":
        return files_of_edges(target, done.outputs, folder)
    if kind.startswith(("images", "folder")):
        return (files_of_folder if kind.startswith("folder") else files_of_prefix)(target, done.outputs, folder)
    if kind.startswith("tracks"):
        return FileResult(target) if out is not None else load(target)
    if kind == "table":
        return read_table(target)
    if kind == "matrix":
        named = bool(values.get("header") or values.get("bids"))
        return _read_metrics(target, done.outputs, named) if values.get("metric") else _read_matrix(target, named)
    return load_image(target) if kind.startswith("image") else read(target)


def bids(values: Dict[str, Any], names: Mapping[str, str]) -> str:
    """Runs `glslines bids`, with the options of track behind its own."""
    places = [_safe(values["bids_dir"]), _safe(values["out_dir"]), values["level"]]
    if not isinstance(values["level"], str):
        raise TypeError("level: participant or group is needed, not %r" % (values["level"],))
    track = values["track"] if values["track"] is not None else {}
    if not isinstance(track, Mapping) or not all(isinstance(name, str) for name in track):
        raise TypeError("track: a dict of options of track is needed, not %r" % (track,))
    behind = _program.words_of(track, {name: name.replace("_", "-") for name in track})
    own = {name: values[name] for name in names}
    return _program.run("bids", [*places, *_program.words_of(own, names)], values["progress"], behind).text


#: for each kind of result: the suffix of its file, and the option that names the file; "": the file is the last argument
KINDS = {
    "image": (".nii", ""),
    "image of option": (".nii", "output"),
    "images": ("", ""),
    "images of option": ("", "output"),
    "folder": ("", ""),
    "folder of option": ("", "output"),
    "matrix": (".csv", ""),
    "vector": (".txt", "output"),
    "numbers": (".txt", ""),
    "values": (".txt", "output"),
    "table": (".csv", "output"),
    "tracks": (".trx", ""),
    "tracks of option": (".trx", "output"),
    "edges": (".trx", ""),
    "json": (".json", "json"),
}
