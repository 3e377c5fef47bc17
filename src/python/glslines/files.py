"""Tracks from files to files, as the program does, and reads tractogram files."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Optional, Union

import numpy as np

from . import _library
from ._errors import EmptyError, Error
from ._library import call, encode, made, structs
from ._names import nearest
from ._program import Bar, Progress, progress_of
from .params import Options
from .pictures import render, report as write_report
from .streamlines import Batch, Collector, Result, group_data
from .tracking import stats_of

PathLike = Union[str, "os.PathLike[str]"]
_STEP = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
#: options of track() that need the name of the output, because they concern files of other runs
_NEED_A_NAME = ("resume", "shard", "skip_existing")
PHASES = ("fit", "track", "merge", "write", "test")


def _counts(progress):
    p = structs["gls_progress"].from_address(progress)
    return PHASES[p.phase], p.done, p.total, p.streamlines, p.points


def _run(options, monitor, names):
    """Runs all steps of a job. Adds the names of the tractogram and of its sidecar to `names`; None: there is no such file."""
    job = _library.Handle(made(call.gls_job_create, ctypes.byref(options), ctypes.byref(monitor),
                               destroy=call.gls_job_destroy), call.gls_job_destroy)
    try:
        for step in (call.gls_job_open, call.gls_job_fit, call.gls_job_track):
            step(job.pointer)
        result = structs["gls_job_result"].from_address(call.gls_job_get_result(job.pointer))
        names += [os.fsdecode(ctypes.string_at(name)) if name else None for name in (result.output, result.sidecar)]
        copy = structs["gls_job_result"].from_buffer_copy(result)
    finally:
        job.close()
    return copy


def _after(make, kind, *arguments, **options):
    """Makes a picture or report after a run. If this fails, a warning is logged, because the run itself has its result."""
    try:
        make(*arguments, **options)
    except Error as error:
        _library.logger.warning("the %s was not made: %s", kind, error)


def track(dwi: Any = None, bval: Any = None, bvec: Any = None,
          mask: Any = None, roi: Any = None, out: Optional[PathLike] = None,
          progress: Progress = None, picture: Optional[PathLike] = None, report: Optional[PathLike] = None,
          **options: Any) -> Any:
    """Runs `glslines track` on files, images or arrays. Returns the tractogram, a Tracked of _exchange.py. Without out, no file
    is kept. bval may be a GradientTable of DIPY. glslines.track() lists all options in its signature.

    Options are those of the command line with underscores, e.g. nseeds=10000, dg="prob", step_size="0.5mm",
    include=["a.nii.gz"]. phantom=True tracks the built-in phantom in place of files.
    progress(phase, done, total, streamlines, points) may return False to stop. picture, report: files that render()
    and report() make from the tractogram after the run.
    """
    from ._exchange import Folder, Tracked, table  # imported here, because _exchange imports load() from this file

    given, folder = Options(), Folder()
    kept = None if out is not None else Folder()
    if kept is not None:
        for name in _NEED_A_NAME:
            if options.get(name):
                raise ValueError("%s: needs out, the name of the tractogram" % name)
        out = kept.name("tracks.trx")
    if dwi is not None:
        given.set_path("dwi", folder.image(dwi, "dwi"))
    for member, value in zip(("bval", "bvec"), table(bval, bvec)):
        if value is not None:
            given.set_path(member, folder.numbers(value, member))
    options = {name: folder.option(value, name) for name, value in options.items()}
    images = {name: folder.image(value, name) for name, value in (("mask", mask), ("roi", roi)) if value is not None}
    paths: Dict[str, Any] = {**images, "output": out}
    for name, value in paths.items():
        if value is not None:
            given.set(name, value)
    for name, value in options.items():
        given.set(name, value)
    listener = progress_of(progress, "track")
    watch = _library.Watch(_STEP, listener, _counts)
    monitor, made_files = structs["gls_monitor"](), []
    monitor.step = watch.pointer.value
    try:
        result = watch.run(_run, given.for_run(), monitor, made_files)
        if isinstance(listener, Bar):
            listener.finish()
    finally:
        if isinstance(listener, Bar):
            listener.close()
    stats = stats_of(result.track)
    if options.get("fail_if_empty") and stats["streamlines"] == 0:
        raise EmptyError("%s: has no streamline (fail_if_empty)" % made_files[0])
    shown = {name: options[name] for name in ("device", "api", "force") if name in options}
    shown["image"] = options.get("fa")
    if picture is not None:
        _after(render, "picture", made_files[0], picture, **shown)
    if report is not None:
        page = None if _library.is_switch(report) else report  # True: beside the tractogram
        _after(write_report, "report", made_files[1] or made_files[0], page, **shown)
    stats.update({name: getattr(result, name) for name, _ in result._fields_ if name.startswith("seconds_")})
    stats.update(output=made_files[0], sidecar=made_files[1])
    return Tracked(stats, kept)


@nearest
def load(path: PathLike) -> Result:
    """Reads a tractogram file of any program (TRX, TRK, TCK, VTK). Returns a Result with points in world mm, columns and groups."""
    reader = _library.Handle(made(call.gls_tractogram_reader_open, encode(path), None,
                                  destroy=call.gls_tractogram_reader_close), call.gls_tractogram_reader_close)
    info = structs["gls_tractogram_info"].from_address(call.gls_tractogram_reader_info(reader.pointer))
    grid = structs["gls_grid"].from_buffer_copy(info.grid) if info.has_grid else _unit_grid()
    collector, block = Collector(), structs["gls_streamlines"]()
    collector.expect(info)
    dpg = group_data(info)
    while True:
        call.gls_tractogram_reader_next(reader.pointer, ctypes.byref(block))
        if block.n == 0:
            break
        collector(Batch(block))
    reader.close()
    return collector.result(None, grid, dpg=dpg)


def _unit_grid():
    from ._arrays import grid_of

    return grid_of((1, 1, 1), np.eye(4))
