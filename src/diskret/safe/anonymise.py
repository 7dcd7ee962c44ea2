"""Categorical microdata to a k-anonymous file that keeps its tables."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.model.hierarchy import Hierarchy
from diskret.safe.cells import ControlCells, control_cells, refuse_too_many
from diskret.safe.checkpoint import fingerprint, load_checkpoint, save_checkpoint
from diskret.safe.clock import Clock
from diskret.safe.control import Control, control_tables
from diskret.safe.fictitious import with_fictitious
from diskret.safe.field import Field
from diskret.safe.history import History, Watch
from diskret.safe.ladder import search_ladder
from diskret.safe.ladder_state import LadderState
from diskret.safe.options import LadderSearch, PrintedSearch, SearchOptions, chosen_search
from diskret.safe.printed import search_printed
from diskret.safe.result import Anonymisation
from diskret.safe.start import rounded_start
from diskret.safe.weights import Weights, weight_borders, weight_classes
from diskret.tabulation.combinations import Combinations, count_combinations

Progress = Callable[[str, int, int], None]
SAVE_EVERY = 60.0
MOST_K = 100


def anonymise(
    data: object,
    attributes: Mapping[str, Hierarchy | None] | Sequence[str],
    *,
    control: Control | None = None,
    k: int = 3,
    search: str | SearchOptions = "ladder",
    weights: Weights = 0,
    fictitious: object = None,
    missing: Mapping[str, str] | None = None,
    seed: int = 1,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    engine: object = "duckdb",
    threads: int | None = None,
    memory_limit: str = "2GB",
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Anonymisation:
    """Make a file in which every combination of the attributes occurs not at all or at least ``k`` times.

    ``attributes`` maps columns to hierarchies (None: flat, from the data). ``control`` says which tables are to be
    kept: by default all up to three dimensions over all key levels. ``weights`` allow large cells a larger deviation:
    0 none, 1 and 2 the printed variants, or the counts from which it is one more. ``fictitious`` adds rows that do not
    occur: data with such rows, or how many to make. ``search`` is "ladder", "printed", or one of the two with its
    options. The same data, options and seed give the same file for any number of ``threads``, unless ``time_limit``
    (seconds) ends the search. ``watch`` is told every moment of the search: cases and bounds. Ctrl-C ends it too, with
    the best anonymous file so far. With a ``checkpoint`` the ladder search can be interrupted and goes on where it
    stood when called again.

    >>> persons = {"sex": ["m", "w"] * 10, "age": ["old"] * 11 + ["young"] * 9}
    >>> anon = anonymise(persons, ["sex", "age"])
    >>> anon.objects, int(anon.distinct["frequency"].min()) >= 3
    (20, True)
    """
    say = progress or (lambda what, done, of: None)
    wanted = chosen_search(search)
    if not 2 <= k <= MOST_K:
        raise BadOption(f"k = {k}", hint=f"every combination at least k times: 2 to {MOST_K}.")
    if time_limit is not None and not time_limit > 0:
        raise BadOption("time_limit must be above 0 seconds", hint="leave it out for no limit.")
    if not 0 <= seed < 2**31:
        raise BadOption("seed is out of range", hint="a whole number from 0 to 2147483647.")
    if checkpoint is not None and isinstance(wanted, PrintedSearch):
        raise BadOption("the printed search has no checkpoint", hint='use search = "ladder", or a time limit.')
    weight_borders(weights)
    by = dict(attributes) if isinstance(attributes, Mapping) else dict.fromkeys(attributes)
    if not by:
        raise BadOption("there is no attribute", hint="name the categorical columns to be anonymised.")
    begun, clock, history = time.monotonic(), Clock(time_limit), History(watch)
    found = count_combinations(
        data, by=by, missing=missing, engine=engine, threads=threads, memory_limit=memory_limit, progress=progress,
        categorical=True,
    )  # fmt: skip
    if found.objects < k:
        raise BadOption(
            f"{found.objects} objects cannot be made {k}-anonymous", hint="a file needs at least k rows; lower k."
        )
    asked = control or Control()
    tables = control_tables(asked, found.by)
    refuse_too_many(len(found), len(tables))
    found = with_fictitious(found, fictitious, seed)
    cells = control_cells(found.codes, found.frequency, found.by, tables, progress)
    g = weight_classes(cells.original, weights)
    with clock.listening():
        if isinstance(wanted, PrintedSearch):
            frequency, run = search_printed(cells, found.frequency, k, g, wanted, clock, say, history)
            groups, name = run.groups, "printed"
        else:
            parts = [str(t) for t in tables], k, weight_borders(weights), seed, astuple(wanted)
            mark = fingerprint(found.codes, found.frequency, *parts)
            frequency, groups = _ladder(
                found, cells, g, k, wanted, seed, clock, threads, checkpoint, mark, say, history
            )
            name = "ladder"
    _refuse_unsafe(frequency, found.objects, k)
    if clock.stopped or clock.timed_out:
        why = "stopped by the user" if clock.stopped else "time was over"
        warnings.warn(
            f"the search was cut short ({why}): the file is anonymous, but its tables could be kept better",
            ProtectionWarning,
            stacklevel=2,
        )
    return Anonymisation(
        found.by, found.codes, found.frequency, frequency, cells, k, weights, name, groups,
        time.monotonic() - begun, not (clock.stopped or clock.timed_out), tuple(history.moments),
    )  # fmt: skip


def _ladder(
    found: Combinations, cells: ControlCells, g: npt.NDArray[np.int32], k: int, wanted: LadderSearch, seed: int,
    clock: Clock, threads: int | None, checkpoint: str | Path | None, mark: str, say: Progress, history: History,
) -> tuple[Ints, int]:  # fmt: skip
    state = load_checkpoint(checkpoint, mark) if checkpoint is not None else None
    if state is None:
        start = rounded_start(found.frequency, k).astype(np.int32)
        state = LadderState(seed, start, start.copy())
    if len(found) < 3:
        return state.best.astype(np.int64), 0
    field = Field(cells, found.codes, found.by, g, k, wanted, seed)
    saved, last = time.monotonic(), state.copy()

    def save(now: LadderState) -> None:
        nonlocal saved, last
        if checkpoint is None:
            return
        last = now.copy()
        if time.monotonic() - saved >= SAVE_EVERY:
            save_checkpoint(checkpoint, last, mark)
            saved = time.monotonic()

    best = search_ladder(field, state, wanted, clock, threads or len(os.sched_getaffinity(0)), say, save, history)
    if checkpoint is not None:
        if state.stage == "done":
            Path(checkpoint).unlink(missing_ok=True)
        else:  # the last moment between two rounds, from which everything follows as if nothing had happened
            save_checkpoint(checkpoint, last, mark)
    return best.astype(np.int64), state.groups


def _refuse_unsafe(frequency: Ints, objects: int, k: int) -> None:
    """Nothing leaves that is not anonymous, whatever went wrong before."""
    if int(frequency.sum()) != objects or bool(((frequency != 0) & (frequency < k)).any()):
        raise AssertionError("the search broke its own promise")
