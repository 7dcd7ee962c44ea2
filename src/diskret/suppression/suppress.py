"""Secondary suppression: hide further cells until no primary value can be computed more exactly than asked."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.cuboid import _kernels
from diskret.suppression.cuboid.engine import Outcome, Task, secure
from diskret.suppression.cuboid.subtables import Segments
from diskret.suppression.cuboid.thinning import thin as thin_pattern
from diskret.suppression.moves import Moves
from diskret.suppression.options import Cost
from diskret.suppression.result import Suppression, Unprotected
from diskret.suppression.time_series import consistency_of, weighed

Zeros = Literal["marked", "allowed", "forbidden"]
Barriers = Literal["on", "off"] | Mapping[str, int]
Progress = Callable[[str, int, int], None]


def suppress(
    table: Table,
    *,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    cost: Cost | None = None,
    zeros: Zeros = "marked",
    barriers: Barriers = "on",
    single_contributors: bool = True,
    non_additive: Sequence[str] = (),
    carry: Literal["off", "once", "always"] = "off",
    previous: Table | None = None,
    thin: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Suppression:
    """Protect the primary cells of a table by the cuboid method, subtable by subtable.

    ``protection`` says how wide an attacker's interval must stay, ``knowledge`` what he knows beforehand (left out:
    that values are positive, if they are). ``zeros`` says which zero cells may be partners: those marked, all, or none.
    ``barriers`` keep margins visible (per classification +1 avoid, -1 prefer, 0 neither). ``single_contributors``
    guards against respondents who are alone in a cell; ``non_additive`` names classifications along which counts do
    not add up. ``carry`` hands intervals from subtable to subtable. ``previous`` is last period's table, whose pattern
    is kept where that is cheap. ``thin`` opens secondaries again that turned out to be needed by nobody (not together
    with ``carry``).

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
    >>> result = suppress(Table.from_cells(cells, by={"s": None}, value="x", status="status"))
    >>> result.table.status.tolist(), result.interval("a")
    ([1, 2, 0, 0], (0.0, 30.0))
    """
    if previous is not None:
        cost = cost or Cost("log")  # the weights of the time series are made for classes, not for values
        return consistency_of(
            previous,
            lambda t: suppress(
                t, protection=protection, knowledge=knowledge, cost=cost, zeros=zeros, barriers=barriers,
                single_contributors=single_contributors, non_additive=non_additive, carry=carry, thin=thin,
                threads=threads, progress=progress,
            ),
            table,
            weighed(table, previous),
        )  # fmt: skip
    wanted = protection or Protection()
    nonnegative = table.positive or not (table.value < 0).any()
    known = knowledge or (Knowledge.positive() if nonnegative else Knowledge.none())
    task = _task(table, wanted, known, cost or Cost(), zeros, barriers, single_contributors, carry)
    primaries = np.flatnonzero(task.state & _kernels.PRIMARY)
    notes = [] if primaries.size else ["no cell is primary: nothing to protect"]
    notes += ["nothing is opened again where intervals are carried"] if thin and carry != "off" else []
    hopeless = primaries[task.up[primaries] + task.down[primaries] <= task.need[primaries]]
    segments = _segments(table, non_additive)
    outcome = secure(task, segments, threads or os.cpu_count() or 1, progress)
    moves = np.concatenate(outcome.moves) if outcome.moves else np.empty((0, 6))
    if thin and carry == "off" and len(moves):
        moves = thin_pattern(task, segments, moves, table.hidden.reshape(-1))
    status = table.status.copy().reshape(-1)
    status[(task.state & _kernels.HIDDEN > 0) & (status != Status.PRIMARY)] = Status.SECONDARY
    protected = replace(table, status=status.reshape(table.shape), creator=task.creator.reshape(table.shape))
    unprotected = _unprotected(table, outcome, {int(c) for c in hopeless})
    _warn(protected, unprotected, outcome, non_additive)
    return Suppression(protected, Moves.of(moves), unprotected, outcome.passes, table, tuple(notes))


def _segments(table: Table, non_additive: Sequence[str]) -> Segments:
    """The subtables, and along classifications whose counts do not add up the tables of totals as well.

    In a table of totals a single contributor of the margin lies inside and is seen (Quaderverfahren, 2.1.2.2).
    """
    unknown = [n for n in non_additive if n not in table.by]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    sums = [np.flatnonzero(~h.is_leaf).tolist() if n in non_additive else [] for n, h in table.by.items()]
    return Segments.of(table.hierarchies, sums)


def _creator(table: Table) -> npt.NDArray[np.int64]:
    if table.creator is None:
        return np.full(table.size, -1, dtype=np.int64)
    return np.where(table.status == Status.SECONDARY, table.creator, -1).reshape(-1)


def _task(
    table: Table, protection: Protection, knowledge: Knowledge, cost: Cost, zeros: Zeros, barriers: Barriers,
    single_contributors: bool, carry: str,
) -> Task:  # fmt: skip
    up, down = knowledge.room(table)
    need, need_down, need_up = protection.needs(table)
    prices = cost.of(table)
    if (prices < 0).any():
        where = listed(table.name_cells(prices.reshape(table.shape) < 0))
        raise BadOption("cells with a negative price", where=where, hint="weights are zero or more.")
    return Task(
        table.shape, table.value.reshape(-1), up, down, _state(table, zeros), _creator(table),
        prices, need, need_down, need_up, _barrier(table, barriers), cost.powers(table),
        single_contributors and (table.respondents is not None or table.frequency), carry,
    )  # fmt: skip


def _state(table: Table, zeros: Zeros) -> npt.NDArray[np.uint8]:
    """What the engine may do with each cell."""
    status, value = table.status.reshape(-1), table.value.reshape(-1)
    state = np.zeros(table.size, dtype=np.uint8)
    partner = (status == Status.OPEN) & ((value != 0) | (zeros == "allowed"))
    if zeros != "forbidden":
        partner |= status == Status.ZERO
    people = table.respondents
    if people is not None and people.public_count is not None:
        # whoever publishes its own value protects nobody
        partner &= ((people.public_count < people.count) | (people.count == 0)).reshape(-1)
    state[partner] |= _kernels.USABLE
    state[(status == Status.PRIMARY) | (status == Status.SECONDARY)] |= _kernels.HIDDEN
    state[status == Status.PRIMARY] |= _kernels.PRIMARY
    counts = table.respondents.count.reshape(-1) if table.respondents is not None else value
    if table.respondents is not None or table.frequency:
        state[counts == 1] |= _kernels.SINGLE
    return state


def _barrier(table: Table, barriers: Barriers) -> npt.NDArray[np.float64]:
    if isinstance(barriers, str):
        if barriers not in ("on", "off"):
            raise BadOption(f"barriers {barriers!r}", hint="'on', 'off', or +1, 0, -1 per classification.")
        return np.full(len(table.by), 1.0 if barriers == "on" else 0.0)
    unknown = [n for n in barriers if n not in table.by]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    return np.array([float(barriers.get(n, 0)) for n in table.names])


def _unprotected(table: Table, outcome: Outcome, hopeless: set[int]) -> tuple[Unprotected, ...]:
    found = []
    for cell, reached in sorted(outcome.failures.items()):
        at = tuple(int(i) for i in np.unravel_index(cell, table.shape))
        name = ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(at), strict=True))
        why = (
            "what is known beforehand is closer than the required range"
            if cell in hopeless
            else "no cuboid of usable cells leaves a wide enough interval"
        )
        found.append(Unprotected(name, at, reached, why))
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
            f"{len(unprotected)} cells cannot be protected as asked: {listed([u.cell for u in unprotected])}",
            ProtectionWarning,
            stacklevel=3,
        )
    if any(h.depth > 2 for h in table.hierarchies) and (table.status == Status.PRIMARY).any():
        warnings.warn(
            "the table has subtotals: protection inside subtables is necessary, not sufficient; audit before release",
            ProtectionWarning,
            stacklevel=3,
        )
