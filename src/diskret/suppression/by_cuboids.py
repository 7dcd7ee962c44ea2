"""One run of the cuboid method over a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.processes import cores
from diskret.model.promise import Promise
from diskret.model.sparse import SparseTable
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.workers import Threads, Workers
from diskret.moves.persons import alone_in, owned, persons_of
from diskret.suppression._corner_kernels import HIDDEN, PRIMARY, SINGLE, USABLE, Asked
from diskret.suppression.cuboid.boxes import boxes_of
from diskret.suppression.cuboid.engine import Outcome, secure
from diskret.suppression.cuboid.expanded import expanded
from diskret.suppression.cuboid.subtables import Segments
from diskret.suppression.cuboid.task import SubtableTask
from diskret.suppression.cuboid.thinning import thin as thin_pattern
from diskret.suppression.methods import Cuboids, Progress, Zeros
from diskret.suppression.objective import barrier_signs, prices
from diskret.suppression.result import Suppression, Unprotected

LARGEST = 20_000_000
"""Cells of the largest subtable of a sparse table, empty ones too: it is secured with all of them, in 3 GB. Nor may
there be more subtables."""


def by_cuboids(
    table: Table, promise: Promise, method: Cuboids = Cuboids(), progress: Progress | None = None,
    workers: Workers | None = None,
) -> Suppression:  # fmt: skip
    """Secure every pivot of every subtable, then open again what nobody needs."""
    _refuse(table, method)
    segments = _segments(table, method.non_additive)
    occupied = table.occupied if isinstance(table, SparseTable) else None
    task = _task(table, promise, method)
    primaries = np.flatnonzero(task.state & PRIMARY)
    thinning = method.thin and method.carry == "off" and occupied is None
    notes = [] if primaries.size else ["no cell is primary: nothing to protect"]
    if method.thin and not thinning:
        carried = method.carry != "off"
        notes.append(f"nothing is opened again {'where intervals are carried' if carried else 'in a sparse table'}")
    too_close = task.up + task.down <= task.needs.range
    too_close |= (task.up < task.needs.up) | (task.down < task.needs.down)
    hopeless = primaries[too_close[primaries]]
    if occupied is not None:
        task = _and_an_empty_one(task, occupied.possible)
    outcome = secure(task, segments, workers or Threads(method.threads or cores()), progress, occupied)
    moves = np.concatenate(outcome.moves) if outcome.moves else np.empty((0, 6))
    if thinning and len(moves):
        moves = thin_pattern(task, segments, moves, table.hidden.reshape(-1))
        # a secondary that could not be protected, and was opened again, needs no protection
        outcome.failures = {c: r for c, r in outcome.failures.items() if task.state[c] & HIDDEN}
    status, state, creator = table.status.copy().reshape(-1), task.state[: table.size], task.creator[: table.size]
    status[(state & HIDDEN > 0) & (status != Status.PRIMARY)] = Status.SECONDARY
    protected = replace(table, status=status.reshape(table.shape), creator=creator.reshape(table.shape))
    unprotected = _unprotected(table, outcome, {int(c) for c in hopeless}, task.needs.range)
    _warn(protected, unprotected, outcome, method.non_additive)
    return Suppression(
        table=protected, before=table, promise=promise, moves=expanded(moves, table), unprotected=unprotected,
        passes=outcome.passes, notes=tuple(notes),
    )  # fmt: skip


def _refuse(table: Table, method: Cuboids) -> None:
    """Refuse what is no product of trees, and a sparse table with subtables too large to look at their empty cells."""
    if not isinstance(table, SparseTable):
        table.refuse_without_product("the cuboid method")
        return
    for hierarchy in table.hierarchies:
        hierarchy.refuse_overlapping("the cuboid method")
    if method.non_additive:
        table.refuse_sparse("the cuboid method with counts that do not add up")
    if method.price.powers(table).size:
        table.refuse_sparse("a price by distances")
    segments = _segments(table, ())
    if segments.number > LARGEST:
        table.refuse_sparse(f"the cuboid method in more than {LARGEST} subtables")
    if any((boxes_of(table.occupied, segments, names).volumes > LARGEST).any() for names in segments.by_level()):
        table.refuse_sparse(f"the cuboid method in a subtable of more than {LARGEST} cells")


def _and_an_empty_one(task: SubtableTask, shape: tuple[int, ...]) -> SubtableTask:
    """What is known of occupied cells, and behind them of an empty one: nobody may hide it."""

    def more(numbers: npt.NDArray[Any], last: int = 0) -> npt.NDArray[Any]:
        return np.append(numbers, numbers.dtype.type(last))

    return replace(
        task, shape=shape, value=more(task.value), up=more(task.up), down=more(task.down), state=more(task.state),
        creator=more(task.creator, -1), cost=more(task.cost), needs=Asked(*(more(need) for need in task.needs)),
        person=more(task.person, -1),
    )  # fmt: skip


def _segments(table: Table, non_additive: Sequence[str]) -> Segments:
    """The subtables, and along classifications whose counts do not add up the tables of totals as well.

    In a table of totals a single contributor of the margin lies inside and is seen (Quaderverfahren, 2.1.2.2).
    """
    unknown = [n for n in non_additive if n not in table.by]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    return Segments.of(table.hierarchies, [n in non_additive for n in table.by])


def _creator(table: Table) -> Ints:
    if table.creator is None:
        return np.full(table.size, -1, dtype=np.int64)
    return np.where(table.status == Status.SECONDARY, table.creator, -1).reshape(-1)


def _task(table: Table, promise: Promise, method: Cuboids) -> SubtableTask:
    if promise.guard == "largest" or promise.coalitions:
        raise BadOption(
            "coalitions or largest contributors in subtables",
            hint="the cuboid method guards against single contributors only: use the method Moves.",
        )
    up, down = promise.knowledge.room(table)
    return SubtableTask(
        shape=table.shape, value=table.value.reshape(-1), up=up, down=down, state=state_of(table, method.zeros),
        creator=_creator(table), cost=prices(table, method), needs=Asked(*promise.needs(table)),
        barrier=barrier_signs(table, method.barriers), powers=method.price.powers(table),
        single_rule=guards_singles(table, promise), carry=method.carry,
        # without owners every cell has a single contributor of its own, as in the source
        person=persons_of(table) if owned(table) else np.arange(table.size),
    )  # fmt: skip


def guards_singles(table: Table, promise: Promise) -> bool:
    """Whether whoever is alone in a cell is guarded against, and known."""
    return promise.guard != "public" and (table.respondents is not None or table.frequency)


def state_of(table: Table, zeros: Zeros) -> npt.NDArray[np.uint8]:
    """What the engine may do with each cell."""
    status = table.status.reshape(-1)
    state = np.zeros(table.size, dtype=np.uint8)
    state[usable_cells(table, zeros)] |= USABLE
    state[(status == Status.PRIMARY) | (status == Status.SECONDARY)] |= HIDDEN
    state[status == Status.PRIMARY] |= PRIMARY
    state[alone_in(table)] |= SINGLE
    return state


def usable_cells(table: Table, zeros: Zeros) -> Bools:
    """Open cells that may be suppressed (flat)."""
    status, value = table.status.reshape(-1), table.value.reshape(-1)
    partner: Bools = (status == Status.OPEN) & ((value != 0) | (zeros == "allowed"))
    if zeros != "forbidden":
        partner |= status == Status.ZERO
    people = table.respondents
    if people is not None and people.public_count is not None:
        # whoever publishes its own value protects nobody
        partner &= ~people.all_public.reshape(-1)
    return partner


def _unprotected(table: Table, outcome: Outcome, hopeless: set[int], needed: Floats) -> tuple[Unprotected, ...]:
    found = []
    for cell, reached in sorted(outcome.failures.items()):
        at = table.place(cell)
        name = ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(at), strict=True))
        if cell in hopeless:
            why = "what is known beforehand is closer than the required range"
        elif reached > needed[cell]:
            why = "every cuboid that is wide enough holds single contributors or is too short on one side"
        else:
            why = "no cuboid of usable cells leaves a wide enough interval"
        found.append(Unprotected(cell=name, index=at, reached=reached, why=why))
    return tuple(found)


def _warn(table: Table, unprotected: Sequence[Unprotected], outcome: Outcome, non_additive: Sequence[str]) -> None:
    if not outcome.finished:
        warnings.warn(
            f"stopped after {outcome.passes} passes: some subtables are not secured", ProtectionWarning, stacklevel=3
        )
    if not table.additive_counts and not non_additive:
        warnings.warn(
            "contributor counts do not add up: name the classifications along which they do not with non_additive, "
            "or a respondent alone in a margin is not seen",
            ProtectionWarning,
            stacklevel=3,
        )
    if unprotected:
        warnings.warn(
            f"{len(unprotected)} {'cell' if len(unprotected) == 1 else 'cells'} cannot be protected as asked: "
            f"{listed([u.cell for u in unprotected])}",
            ProtectionWarning,
            stacklevel=3,
        )
    if any(h.depth > 2 for h in table.hierarchies) and (table.status == Status.PRIMARY).any():
        warnings.warn(
            "the table has subtotals: protection inside subtables is necessary, not sufficient; audit before release",
            ProtectionWarning,
            stacklevel=3,
        )
