"""A pool as printed: one table after the other, each by the cuboid method, until a pass sets nothing new.

Status keys are shared at once. From the second pass on only what other tables have hidden meanwhile is protected: a
secondary that a table set itself is protected by the cuboid it was set for (the rule against over-suppression). Such
matching is necessary, not sufficient, so the audit of the whole pool has the last word.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.insiders import Kind, insiders_of
from diskret.auditing.targets import targets_of
from diskret.auditing.witnesses import witnesses
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.pool import Pool
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.by_cuboids import Settings, by_cuboids
from diskret.suppression.by_moves import unprotected_of
from diskret.suppression.moves import RoutedMoves
from diskret.suppression.result import Suppression


def by_turns(pool: Pool, settings: Settings) -> Suppression:
    """Let the tables take turns until no shared cell changes any more, then attack the whole pool."""
    if settings.carry != "off":
        raise BadOption(
            "intervals are not carried between the tables of a pool", hint="use guarantee='audit', which needs none."
        )
    status = pool.status.copy()
    turns = {name: replace(pool.tables[name], creator=None) for name in pool.tables if name not in pool.published}
    passes, changed = 0, True
    while changed:
        changed = False
        passes += 1
        for name, table in turns.items():
            cells = pool.cells_of[name]
            given = _with_pattern(table, status[cells].reshape(table.shape))
            with warnings.catch_warnings():
                # what single tables leave open the audit of the pool finds
                warnings.simplefilter("ignore", ProtectionWarning)
                done = by_cuboids(given, settings).table
            turns[name] = done
            fresh = cells[done.hidden.reshape(-1) & ~given.hidden.reshape(-1)]
            status[fresh] = Status.SECONDARY
            changed |= bool(pool.shared[fresh].any())
    return _attacked(pool, replace(pool, status=status), settings, passes)


def _with_pattern(table: Table, status: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> Table:
    """A table with what the others have hidden; nobody there knows yet who protects it."""
    creator = np.full(table.shape, -1, dtype=np.int64) if table.creator is None else table.creator
    known = table.status == Status.SECONDARY
    return replace(table, status=status, creator=np.where(known, creator, -1))


def _attacked(before: Pool, protected: Pool, settings: Settings, passes: int) -> Suppression:
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
    return Suppression(protected, RoutedMoves.of(pattern.cover), left, passes, before, audit=report)
