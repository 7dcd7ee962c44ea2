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
from diskret.auditing.insiders import Kind, insiders_of
from diskret.auditing.targets import targets_of
from diskret.auditing.witnesses import witnesses
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.pool import Pool
from diskret.model.protection import Knowledge
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.by_cuboids import Settings, by_cuboids
from diskret.suppression.by_moves import unprotected_of
from diskret.suppression.moves import RoutedMoves
from diskret.suppression.result import Suppression

MOST_PASSES = 50
"""Statuses settle in a few passes; carried intervals may shrink for long."""
HAIR = 1e-9


def by_turns(pool: Pool, settings: Settings) -> Suppression:
    """Let the tables take turns until no shared cell changes any more, then attack the whole pool."""
    carrying = settings.carry != "off"
    _refuse_unknown(
        pool, [*(settings.barriers if isinstance(settings.barriers, Mapping) else ()), *settings.non_additive]
    )
    status = pool.status.copy()
    up, down = (room.copy() for room in settings.knowledge.room(pool))
    turns = {name: _in_pool(pool, name) for name in pool.tables if name not in pool.published}
    inside = replace(settings, knowledge=Knowledge.intervals()) if carrying else settings
    passes, changed, notes = 0, True, []
    while changed and passes < MOST_PASSES:
        changed = False
        passes += 1
        for name, table in turns.items():
            cells = pool.cells_of[name]
            given = _with_pattern(table, status[cells].reshape(table.shape))
            if carrying:
                # narrower intervals concern everything that is hidden, whenever it was
                given = replace(_known(given, up[cells], down[cells]), creator=None)
            with warnings.catch_warnings():
                # what single tables leave open the audit of the pool finds
                warnings.simplefilter("ignore", ProtectionWarning)
                done = by_cuboids(given, _of_table(inside, given))
            turns[name] = done.table
            fresh = cells[done.table.hidden.reshape(-1) & ~given.hidden.reshape(-1)]
            status[fresh] = Status.SECONDARY
            changed |= bool(pool.shared[fresh].any())
            if carrying:
                changed |= _carry(done, cells, pool.shared[cells], up, down)
    if changed:
        notes.append(f"intervals still shrink after {passes} passes: some tables may not be matched")
    return _attacked(pool, replace(pool, status=status), settings, passes, tuple(notes))


def _in_pool(pool: Pool, name: str) -> Table:
    """A table with what the pool knows about its cells: levels, prior knowledge and weights of shared cells."""
    table, cells = pool.tables[name], pool.cells_of[name]
    arrays = {f: getattr(pool, f) for f in ("below", "above", "lower", "upper", "weight")}
    known: dict[str, Any] = {f: a[cells].reshape(table.shape) for f, a in arrays.items() if a is not None}
    return replace(table, creator=None, **known)


def leaning(pool: Pool, barriers: Mapping[str, int]) -> Pool:
    """A pool whose sums of a classification with a barrier weigh twice as much, of one that is preferred half."""
    _refuse_unknown(pool, barriers)
    factor = np.ones(pool.size)
    for name, sign in barriers.items():
        axis = pool.names.index(name)
        codes = pool.space.codes[axis]
        sums = {c for t in pool.tables.values() if name in t.by for c in t.by[name].codes if t.by[name].parts(c)}
        factor *= np.where(np.array([c in sums for c in codes])[pool.space.at[axis]], 2.0**sign, 1.0)
    return replace(pool, weight=factor if pool.weight is None else pool.weight * factor)


def _refuse_unknown(pool: Pool, names: Iterable[str]) -> None:
    unknown = [n for n in names if n not in pool.names]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the pool has {listed(pool.names)}.")


def _of_table(settings: Settings, table: Table) -> Settings:
    """What is said about the classifications a table runs over."""
    barriers = settings.barriers
    if not isinstance(barriers, str):
        barriers = {n: sign for n, sign in barriers.items() if n in table.by}
    return replace(settings, barriers=barriers, non_additive=tuple(n for n in settings.non_additive if n in table.by))


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
        at = tuple(int(i) for i in np.unravel_index(cell, table.shape))
        reached = done.interval(*table.codes(at))
        if reached is None:
            continue
        value, mine = float(table.value[at]), int(cells[cell])
        hair = HAIR * max(1.0, abs(value))
        shrank |= bool(reached[1] - value < up[mine] - hair or value - reached[0] < down[mine] - hair)
        up[mine], down[mine] = min(up[mine], reached[1] - value), min(down[mine], value - reached[0])
    return shrank


def _attacked(
    before: Pool, protected: Pool, settings: Settings, passes: int, notes: tuple[str, ...]
) -> Suppression:  # fmt: skip
    """What the audit says about the finished pool, by what is known from outside."""
    kind: Kind = "single" if settings.single_contributors else "none"
    report = audit(
        protected, protection=settings.protection, knowledge=settings.knowledge, insiders=kind,
        certify=True,
    )  # fmt: skip
    up, down = settings.knowledge.room(protected)
    people = insiders_of(protected, kind)
    pattern = witnesses(protected, targets_of(protected, settings.protection), people, up, down, report.moves)
    left = unprotected_of(report)
    if left:
        warnings.warn(
            f"matching the tables was not enough for {len(left)} cells: {listed([u.cell for u in left])}; "
            "use guarantee='audit'",
            ProtectionWarning,
            stacklevel=4,
        )
    return Suppression(protected, RoutedMoves.of(pattern.cover), left, passes, before, notes, audit=report)
