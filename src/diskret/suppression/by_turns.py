"""A pool as printed: one table after the other, each by the cuboid method, until a pass sets nothing new.

Status keys are shared at once. From the second pass on only what other tables have hidden meanwhile is protected: a
secondary that a table set itself is protected by the cuboid it was set for (the rule against over-suppression). Where
intervals are carried they shrink whenever they were set, so everything is looked at in every pass. Such matching is
necessary, not sufficient, so the audit of the whole pool has the last word.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING
from diskret.moves.witnesses import cover_of
from diskret.suppression.by_cuboids import by_cuboids
from diskret.suppression.by_moves import unprotected_of
from diskret.suppression.methods import Cuboids
from diskret.suppression.result import Suppression

MOST_PASSES = 50
"""Statuses settle in a few passes; carried intervals may shrink for long."""


def by_turns(pool: Table, promise: Promise, method: Cuboids = Cuboids()) -> Suppression:
    """Let the tables take turns until no shared cell changes any more, then attack the whole pool."""
    carrying = method.carry != "off"
    _refuse_unknown(pool, [*(method.barriers if isinstance(method.barriers, Mapping) else ()), *method.non_additive])
    status = pool.status.copy()
    up, down = (room.copy() for room in promise.knowledge.room(pool))
    turns = {name: _in_pool(pool, name) for name in pool.linked if name not in pool.out}
    inside = replace(promise, knowledge=Knowledge.intervals()) if carrying else promise
    shared = pool.shared
    passes, changed, notes = 0, True, []
    while changed and passes < MOST_PASSES:
        changed = False
        passes += 1
        for name, table in turns.items():
            cells = pool.linked[name][1]
            given = _with_pattern(table, status[cells].reshape(table.shape))
            if carrying:
                # narrower intervals concern everything that is hidden, whenever it was
                given = replace(_known(given, up[cells], down[cells]), creator=None)
            with warnings.catch_warnings():
                # what single tables leave open the audit of the pool finds
                warnings.simplefilter("ignore", ProtectionWarning)
                done = by_cuboids(given, inside, _of_table(method, given))
            turns[name] = done.table
            fresh = cells[done.table.hidden.reshape(-1) & ~given.hidden.reshape(-1)]
            status[fresh] = Status.SECONDARY
            changed |= bool(shared[fresh].any())
            if carrying:
                changed |= _carry(done, cells, shared[cells], up, down)
    if changed:
        notes.append(f"intervals still shrink after {passes} passes: some tables may not be matched")
    return _attacked(pool, replace(pool, status=status), promise, passes, tuple(notes))


def _in_pool(pool: Table, name: str) -> Table:
    """A table with what the pool knows about its cells: levels, prior knowledge and weights of shared cells."""
    table, cells = pool.linked[name]
    arrays = {f: getattr(pool, f) for f in ("below", "above", "lower", "upper", "weight")}
    known: dict[str, Any] = {f: a[cells].reshape(table.shape) for f, a in arrays.items() if a is not None}
    return replace(table, creator=None, **known)


def _refuse_unknown(pool: Table, names: Iterable[str]) -> None:
    unknown = [n for n in names if n not in pool.names]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the pool has {listed(pool.names)}.")


def _of_table(method: Cuboids, table: Table) -> Cuboids:
    """What is said about the classifications a table runs over."""
    barriers = method.barriers
    if not isinstance(barriers, str):
        barriers = {n: sign for n, sign in barriers.items() if n in table.by}
    return replace(method, barriers=barriers, non_additive=tuple(n for n in method.non_additive if n in table.by))


def _with_pattern(table: Table, status: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> Table:
    """A table with what the others have hidden; nobody there knows yet who protects it."""
    creator = np.full(table.shape, -1, dtype=np.int64) if table.creator is None else table.creator
    known = table.status == Status.SECONDARY
    return replace(table, status=status, creator=np.where(known, creator, -1))


def _known(table: Table, up: Floats, down: Floats) -> Table:
    """A table with prior knowledge from the others."""
    value = table.value.reshape(-1)
    return replace(table, lower=(value - down).reshape(table.shape), upper=(value + up).reshape(table.shape))


def _carry(done: Suppression, cells: Ints, shared: Bools, up: Floats, down: Floats) -> bool:
    """An interval reached in one table is prior knowledge in the others, by intersection; whether any shrank."""
    table, shrank = done.table, False
    for cell in np.flatnonzero(shared & table.hidden.reshape(-1)).tolist():
        at = table.place(cell)
        reached = done.interval(*table.codes(at))
        if reached is None:
            continue
        value, mine = float(table.value[at]), int(cells[cell])
        hair = ROUNDING * max(1.0, abs(value))
        shrank |= bool(reached[1] - value < up[mine] - hair or value - reached[0] < down[mine] - hair)
        up[mine], down[mine] = min(up[mine], reached[1] - value), min(down[mine], value - reached[0])
    return shrank


def _attacked(before: Table, protected: Table, promise: Promise, passes: int, notes: tuple[str, ...]) -> Suppression:
    """What the audit says about the finished pool, by what is known from outside."""
    report = audit(protected, promise, certify=True)
    left = unprotected_of(report)
    if left:
        warnings.warn(
            f"matching the tables was not enough for {len(left)} cells: {listed([u.cell for u in left])}; "
            "use the method Moves",
            ProtectionWarning,
            stacklevel=4,
        )
    moves = cover_of(protected, promise, report.moves).all()
    return Suppression(
        table=protected, before=before, promise=promise, moves=moves, unprotected=left,
        passes=passes, notes=notes, audit=report,
    )  # fmt: skip
