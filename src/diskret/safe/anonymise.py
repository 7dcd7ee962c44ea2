"""Categorical microdata to a k-anonymous file that keeps its tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.model.given import By, classifications, whole
from diskret.model.hierarchy import Hierarchy
from diskret.model.older import with_older
from diskret.model.processes import cores
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.chance import BITS, drawn_seed
from diskret.safe.checkpoint import Keeper, LadderState, RunSize, load_checkpoint, run_mark, seed_of
from diskret.safe.clock import Clock
from diskret.safe.control import Control, control_tables, weight_borders, weight_classes
from diskret.safe.control_cells import ControlCells, control_cells, refuse_too_many
from diskret.safe.exhaustive import drawn_file, few_files
from diskret.safe.field import Field
from diskret.safe.history import History
from diskret.safe.ladder import LEGS, LadderRun, first_stage, floor_of
from diskret.safe.options import AnonymiseOptions, LadderSearch, PrintedSearch, SearchOptions, chosen_search, silent
from diskret.safe.printed import PrintedRun
from diskret.safe.start import rounded_start, with_fictitious
from diskret.tabulation.combinations import Combinations, count_combinations

MOST_K = 100
SEEDS = f"a long whole number below 2^{BITS}, kept secret; left out, one is drawn."
USUAL = AnonymiseOptions()


def anonymise(
    data: object,
    attributes: By,
    *,
    control: Control | None = None,
    k: int = 3,
    search: str | SearchOptions = "ladder",
    seed: int | None = None,
    options: AnonymiseOptions = USUAL,
    **older: Any,
) -> Anonymisation:
    """Make a file in which every combination of the attributes occurs not at all or at least ``k`` times.

    ``attributes`` maps columns to hierarchies (None: flat, from the data). ``control`` says which tables are to be
    kept, and how closely: by default all up to three dimensions over all key levels. ``search`` is "ladder", "printed",
    or one of the two with its options. The same data, options and seed give the same file, unless a time limit or
    Ctrl-C ends the search, with the best anonymous file so far. The seed is secret: whoever knows it can run the search
    on every file that might be the original. Left out, one is drawn; the result keeps it. `AnonymiseOptions` says how
    the data are read and the search is run; its keywords, and ``weights`` of `Control`, may still be given here for
    one version.

    >>> persons = {"sex": ["m", "w"] * 10, "age": ["old"] * 11 + ["young"] * 9}
    >>> anon = anonymise(persons, ["sex", "age"], seed=2718281828459045)
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
    clock, history = Clock(limit=options.time_limit, steps=options.steps), History(watch=options.watch)
    found = count_combinations(
        data, by=by, missing=options.missing, engine=options.engine, threads=options.threads,
        memory_limit=options.memory_limit, progress=options.progress, categorical=True,
    )  # fmt: skip
    if found.objects < k:
        hint = "a file needs at least k rows; lower k."
        raise BadOption(f"{found.objects} objects cannot be made {k}-anonymous", hint=hint)
    tables = control_tables(asked, found.by)
    refuse_too_many(len(found), tables)
    chosen = _seed(seed, options)
    found = with_fictitious(found, options.fictitious, chosen)
    cells = control_cells(found, tables, options.progress or silent)
    task = _Search(
        found=found, cells=cells, control=asked, k=k, seed=seed, chosen=chosen, options=options, clock=clock,
        history=history,
    )  # fmt: skip
    with clock.listening():
        done = task.printed(wanted) if isinstance(wanted, PrintedSearch) else task.ladder(wanted)
    _refuse_unsafe(done.frequency, found.objects, k)
    if not done.complete:
        why = "stopped by the user" if clock.stopped else f"its limit was reached after step {clock.done:,}"
        warnings.warn(
            f"the search was cut short ({why}): the file is anonymous, but its tables could be kept better",
            ProtectionWarning,
            stacklevel=2,
        )
    return Anonymisation(
        attributes=found.by, codes=found.codes, original=found.frequency, frequency=done.frequency, control=cells, k=k,
        limits=done.limits, weights=asked.weights,
        search="printed" if isinstance(wanted, PrintedSearch) else "ladder", groups=done.groups, seconds=clock.seconds,
        complete=done.complete, stopped=clock.stopped, history=tuple(history.moments), seed=chosen,
        steps=clock.done, listed=frozenset(_listed(by, options)), fictitious=bool((found.frequency == 0).any()),
    )  # fmt: skip


def _listed(by: Mapping[str, Hierarchy | None], options: AnonymiseOptions) -> set[str]:
    """Attributes whose codes were given as a list, and not taken from the data."""
    return {name for name, given in by.items() if given is not None} - {*options.from_data}


def _seed(given: int | None, options: AnonymiseOptions) -> int:
    """The seed given, that of an interrupted run, or a new one."""
    if given is not None:
        return given
    begun = None if options.checkpoint is None else seed_of(options.checkpoint)
    return drawn_seed() if begun is None else begun


def ignored(now: LadderState) -> None:
    """A run that is not kept."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Found:
    """Anonymous frequencies, the limits within which they were drawn, groups tested, whether the search was ended."""

    frequency: Ints
    limits: tuple[int, ...]
    groups: int
    complete: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class _Search:
    """Everything a search starts from."""

    found: Combinations
    cells: ControlCells
    control: Control
    k: int
    seed: int | None
    """As it was given."""
    chosen: int
    options: AnonymiseOptions
    clock: Clock
    history: History

    @property
    def _weight(self) -> npt.NDArray[np.int32]:
        return weight_classes(self.cells.original, self.control.weights)

    def printed(self, wanted: PrintedSearch) -> _Found:
        """The printed method; what it found then wanders within the limits it reached, like every file."""
        run = PrintedRun(
            cells=self.cells, k=self.k, options=wanted, weight=self._weight, x=self.found.frequency.astype(np.int64),
            clock=self.clock, say=self.options.progress or silent, history=self.history,
        )  # fmt: skip
        x = run.search().astype(np.int32)
        complete = not (self.clock.stopped or self.clock.timed_out)
        if len(x) < 3:  # too few for a group that could wander
            return self._drawn(LadderSearch())
        x, limits = self._ladder(LadderState(seed=self.chosen, x=x, best=x), LadderSearch()).wandered(x)
        return _Found(frequency=x.astype(np.int64), limits=limits, groups=run.groups, complete=complete)

    def _drawn(self, wanted: LadderSearch) -> _Found:
        """One of all anonymous files, where there are few."""
        floor = np.array(floor_of(self.cells, wanted, self.k))
        x, limits = drawn_file(self.found.frequency, self.cells, self._weight, self.k, floor, self.chosen)
        return _Found(frequency=x, limits=limits, groups=0, complete=True)

    def ladder(self, wanted: LadderSearch) -> _Found:
        """The default search, from its checkpoint if there is one; tiny files are looked at one and all."""
        path, found = self.options.checkpoint, self.found
        if few_files(found.frequency, self.k):
            return self._drawn(wanted)
        parts = [str(t) for t in self.cells.tables], self.k, weight_borders(self.control.weights)
        mark = run_mark(found.codes, found.frequency, *parts, astuple(wanted))
        size = RunSize(
            seed=self.seed, rows=len(found), objects=found.objects, k=self.k, cells=self.cells.places_size,
            legs=len(LEGS), dimensions=int(self.cells.dimension.max()),
        )  # fmt: skip
        state = load_checkpoint(path, mark, size) if path is not None else None
        if state is None:
            start = rounded_start(found.frequency, self.k).astype(np.int32)
            first = 0 if self.clock.limited else len(LEGS) - 1
            stage = first_stage(found.frequency)
            state = LadderState(seed=self.chosen, x=start, best=start.copy(), leg=first, stage=stage)
        self.clock.done = state.round
        keeper = None if path is None else Keeper(path=path, mark=mark, last=state.moment())
        best, limits = self._ladder(state, wanted, ignored if keeper is None else keeper.keep).search()
        if keeper is not None and state.stage == "done":
            keeper.done()
        elif keeper is not None:  # a moment between two rounds: everything follows as if nothing had happened
            keeper.write()
        done = state.stage == "done"
        return _Found(frequency=best.astype(np.int64), limits=limits, groups=state.groups, complete=done)

    def _ladder(
        self, state: LadderState, wanted: LadderSearch, save: Callable[[LadderState], None] = ignored
    ) -> LadderRun:
        return LadderRun(
            field=Field(self.found, self.cells, self._weight, self.k, wanted, state.seed), state=state, options=wanted,
            clock=self.clock, threads=self.options.threads or cores(),
            say=self.options.progress or silent, save=save, history=self.history,
        )  # fmt: skip


def _refuse_bad_options(
    by: Mapping[str, Hierarchy | None], k: int, wanted: SearchOptions, seed: int | None, options: AnonymiseOptions
) -> None:
    whole("k", k, 2, f"every combination at least k times: 2 to {MOST_K}.")
    if seed is not None:
        whole("seed", seed, 0, SEEDS)
    if k > MOST_K:
        raise BadOption(f"k = {k}", hint=f"every combination at least k times: 2 to {MOST_K}.")
    if options.time_limit is not None and not options.time_limit > 0:
        raise BadOption("time_limit must be above 0 seconds", hint="leave it out for no limit.")
    if options.steps is not None:
        whole("steps", options.steps, 1, "leave it out for no limit.")
    if seed is not None and seed >= 1 << BITS:
        raise BadOption("seed is out of range", hint=SEEDS)
    if options.checkpoint is not None and isinstance(wanted, PrintedSearch):
        raise BadOption("the printed search has no checkpoint", hint='use search = "ladder", or a time limit.')
    if not by:
        raise BadOption("there is no attribute", hint="name the categorical columns to be anonymised.")


def _refuse_unsafe(frequency: Ints, objects: int, k: int) -> None:
    """Nothing leaves that is not anonymous, whatever went wrong before."""
    if int(frequency.sum()) != objects or bool(((frequency != 0) & (frequency < k)).any()):
        raise AssertionError("the search broke its own promise")
