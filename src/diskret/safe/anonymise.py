"""Categorical microdata to a k-anonymous file that keeps its tables."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.model.given import By, classifications, whole
from diskret.model.hierarchy import Hierarchy
from diskret.model.older import with_older
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.checkpoint import LadderState, RunSize, load_checkpoint, run_mark, save_checkpoint
from diskret.safe.clock import Clock
from diskret.safe.control import Control, control_tables, weight_borders, weight_classes
from diskret.safe.control_cells import ControlCells, control_cells, refuse_too_many
from diskret.safe.field import Field
from diskret.safe.history import History
from diskret.safe.ladder import LadderRun
from diskret.safe.options import AnonymiseOptions, LadderSearch, PrintedSearch, SearchOptions, chosen_search, silent
from diskret.safe.printed import PrintedRun
from diskret.safe.start import rounded_start, with_fictitious
from diskret.tabulation.combinations import Combinations, count_combinations

SAVE_EVERY = 60.0
"""Seconds between two checkpoints."""
MOST_K = 100
USUAL = AnonymiseOptions()


def anonymise(
    data: object,
    attributes: By,
    *,
    control: Control | None = None,
    k: int = 3,
    search: str | SearchOptions = "ladder",
    seed: int = 1,
    options: AnonymiseOptions = USUAL,
    **older: Any,
) -> Anonymisation:
    """Make a file in which every combination of the attributes occurs not at all or at least ``k`` times.

    ``attributes`` maps columns to hierarchies (None: flat, from the data). ``control`` says which tables are to be
    kept, and how closely: by default all up to three dimensions over all key levels. ``search`` is "ladder", "printed",
    or one of the two with its options. The same data, options and seed give the same file, unless a time limit ends
    the search. Ctrl-C ends it too, with the best anonymous file so far. `AnonymiseOptions` says how the data are read
    and the search is run; its keywords, and ``weights`` of `Control`, may still be given here for one version.

    >>> persons = {"sex": ["m", "w"] * 10, "age": ["old"] * 11 + ["young"] * 9}
    >>> anon = anonymise(persons, ["sex", "age"])
    >>> anon.objects, int(anon.distinct["frequency"].min()) >= 3
    (20, True)
    """
    moved = {name: older.pop(name) for name in ("weights",) if name in older}
    asked = with_older(control or Control(), moved, "anonymise", "control")
    options = with_older(options, older, "anonymise")
    wanted = chosen_search(search)
    by = classifications(attributes)
    _refuse_bad_options(by, k, wanted, seed, options)
    weight_borders(asked.weights)
    begun, clock, history = time.monotonic(), Clock(limit=options.time_limit), History(watch=options.watch)
    found = count_combinations(
        data, by=by, missing=options.missing, engine=options.engine, threads=options.threads,
        memory_limit=options.memory_limit, progress=options.progress, categorical=True,
    )  # fmt: skip
    if found.objects < k:
        hint = "a file needs at least k rows; lower k."
        raise BadOption(f"{found.objects} objects cannot be made {k}-anonymous", hint=hint)
    tables = control_tables(asked, found.by)
    refuse_too_many(len(found), len(tables))
    found = with_fictitious(found, options.fictitious, seed)
    cells = control_cells(found, tables, options.progress or silent)
    task = _Search(
        found=found, cells=cells, control=asked, k=k, seed=seed, options=options, clock=clock, history=history
    )
    with clock.listening():
        frequency, groups = task.printed(wanted) if isinstance(wanted, PrintedSearch) else task.ladder(wanted)
    _refuse_unsafe(frequency, found.objects, k)
    cut_short = clock.stopped or clock.timed_out
    if cut_short:
        why = "stopped by the user" if clock.stopped else "time was over"
        warnings.warn(
            f"the search was cut short ({why}): the file is anonymous, but its tables could be kept better",
            ProtectionWarning,
            stacklevel=2,
        )
    return Anonymisation(
        attributes=found.by, codes=found.codes, original=found.frequency, frequency=frequency, control=cells, k=k,
        weights=asked.weights, search="printed" if isinstance(wanted, PrintedSearch) else "ladder", groups=groups,
        seconds=time.monotonic() - begun, complete=not cut_short, stopped=clock.stopped, history=tuple(history.moments),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class _Search:
    """Everything a search starts from; both give anonymous frequencies and the number of groups tested."""

    found: Combinations
    cells: ControlCells
    control: Control
    k: int
    seed: int
    options: AnonymiseOptions
    clock: Clock
    history: History

    @property
    def _weight(self) -> npt.NDArray[np.int32]:
        return weight_classes(self.cells.original, self.control.weights)

    def printed(self, wanted: PrintedSearch) -> tuple[Ints, int]:
        """The printed method."""
        run = PrintedRun(
            cells=self.cells, k=self.k, options=wanted, weight=self._weight, x=self.found.frequency.astype(np.int64),
            clock=self.clock, say=self.options.progress or silent, history=self.history,
        )  # fmt: skip
        return run.search(), run.groups

    def ladder(self, wanted: LadderSearch) -> tuple[Ints, int]:
        """The default search, from its checkpoint if there is one."""
        path, found = self.options.checkpoint, self.found
        parts = [str(t) for t in self.cells.tables], self.k, weight_borders(self.control.weights), self.seed
        mark = run_mark(found.codes, found.frequency, *parts, astuple(wanted))
        size = RunSize(
            seed=self.seed, rows=len(found), objects=found.objects, k=self.k, cells=self.cells.size,
            dimensions=int(self.cells.dimension.max()),
        )  # fmt: skip
        state = load_checkpoint(path, mark, size) if path is not None else None
        if state is None:
            start = rounded_start(found.frequency, self.k).astype(np.int32)
            state = LadderState(seed=self.seed, x=start, best=start.copy())
        if len(found) < 3:
            return state.best.astype(np.int64), 0
        saved, last = time.monotonic(), state.copy()

        def save(now: LadderState) -> None:
            nonlocal saved, last
            if path is None:
                return
            last = now.copy()
            if time.monotonic() - saved >= SAVE_EVERY:
                save_checkpoint(path, last, mark)
                saved = time.monotonic()

        best = LadderRun(
            field=Field(found, self.cells, self._weight, self.k, wanted, self.seed), state=state, options=wanted,
            clock=self.clock, threads=self.options.threads or len(os.sched_getaffinity(0)),
            say=self.options.progress or silent, save=save, history=self.history,
        ).search()  # fmt: skip
        if path is not None and state.stage == "done":
            Path(path).unlink(missing_ok=True)
        elif path is not None:  # the last moment between two rounds: everything follows as if nothing had happened
            save_checkpoint(path, last, mark)
        return best.astype(np.int64), state.groups


def _refuse_bad_options(
    by: Mapping[str, Hierarchy | None], k: int, wanted: SearchOptions, seed: int, options: AnonymiseOptions
) -> None:
    whole("k", k, 2, f"every combination at least k times: 2 to {MOST_K}.")
    whole("seed", seed, 0, "a whole number from 0 to 2147483647.")
    if k > MOST_K:
        raise BadOption(f"k = {k}", hint=f"every combination at least k times: 2 to {MOST_K}.")
    if options.time_limit is not None and not options.time_limit > 0:
        raise BadOption("time_limit must be above 0 seconds", hint="leave it out for no limit.")
    if seed >= 2**31:
        raise BadOption("seed is out of range", hint="a whole number from 0 to 2147483647.")
    if options.checkpoint is not None and isinstance(wanted, PrintedSearch):
        raise BadOption("the printed search has no checkpoint", hint='use search = "ladder", or a time limit.')
    if not by:
        raise BadOption("there is no attribute", hint="name the categorical columns to be anonymised.")


def _refuse_unsafe(frequency: Ints, objects: int, k: int) -> None:
    """Nothing leaves that is not anonymous, whatever went wrong before."""
    if int(frequency.sum()) != objects or bool(((frequency != 0) & (frequency < k)).any()):
        raise AssertionError("the search broke its own promise")
