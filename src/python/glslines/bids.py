"""A whole BIDS data set: `glslines bids`."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from . import _exchange, _program
from ._exchange import PathLike
from ._program import Progress


def bids(
    bids_dir: PathLike,
    out_dir: PathLike,
    level: str = "participant",
    *,
    participant_label: Union[str, List[str], None] = None,
    session_label: Union[str, List[str], None] = None,
    filter: Union[str, List[str], None] = None,
    bids_filter_file: Optional[PathLike] = None,
    raw: bool = False,
    unit: Optional[str] = None,
    shard: Optional[str] = None,
    derivatives: Union[PathLike, List[PathLike], None] = None,
    seed_region: Optional[str] = None,
    seed_fa: Optional[float] = None,
    jobs: Optional[int] = None,
    no_report: bool = False,
    atlas: Union[str, List[str], None] = None,
    fit_outputs: bool = False,
    legacy_names: bool = False,
    force: bool = False,
    stop_on_error: bool = False,
    track: Optional[Dict[str, Any]] = None,
    progress: Progress = None,
) -> str:
    """Track a whole BIDS data set into another: `glslines bids`, whose options these are.

    Parameters
    ----------
    bids_dir : str or os.PathLike
        Data set of preprocessed diffusion images, such as the output of QSIPrep.
    out_dir : str or os.PathLike
        Data set of tractograms, made where it does not exist.
    level : {participant, group}
        participant: track. group: write tables and pages of all tractograms.
    track : dict, optional
        Options of `track`, such as {"nseeds": 100000, "dg": "prob"}.
    progress : None, bool or callable, optional
        None: a bar where there is a terminal or a notebook. False: nothing. Or a function of phase, done, total,
        streamlines and points, which may return False to stop.

    Returns
    -------
    str
        What the program prints.
    """
    own = {name: value for name, value in locals().items()
           if name not in ("bids_dir", "out_dir", "level", "track", "progress")}
    words = _program.words_of(own, {name: name.replace("_", "-") for name in own})
    behind = _program.words_of(track or {}, {name: name.replace("_", "-") for name in track or {}})
    places: List[str] = [_exchange._safe(bids_dir), _exchange._safe(out_dir), level]
    return _program.run("bids", [*places, *words], progress, behind)
