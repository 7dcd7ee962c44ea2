"""Counts: the pattern of cuboids, repaired by moves until nothing is exposed, then thinned.

Small counts leave moves little room, and where zeros may be partners those found one by one hide several times the
cells that matched cuboids need (measured in docs/linked.md).
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from diskret.model.errors import ProtectionWarning
from diskret.model.pool import Pool
from diskret.model.table import Table
from diskret.suppression.by_cuboids import Settings, by_cuboids
from diskret.suppression.by_moves import Guarding, by_moves, warn_of
from diskret.suppression.by_turns import by_turns
from diskret.suppression.result import Suppression


def protect_counts(table: Table, settings: Settings, guarding: Guarding) -> Suppression:
    """Protect a frequency table, or a pool of them, over all of it.

    A single table is protected by moves alone as well, and the pattern with fewer cells is taken.
    """
    with warnings.catch_warnings():
        # what cuboids leave open is repaired, and what nothing can protect is said once
        warnings.simplefilter("ignore", ProtectionWarning)
        if isinstance(table, Pool):
            matched = by_turns(table, replace(settings, carry="off")).table
        else:
            matched = by_cuboids(table, settings).table
        done = _thinned(table, by_moves(matched, settings, guarding), settings, guarding)
        if done.unprotected or not isinstance(table, Pool):
            others = by_moves(table, settings, guarding)
            done = others if _hiding(others) <= _hiding(done) else done
    warn_of(done.unprotected)
    return replace(done, before=table)


def _thinned(table: Table, done: Suppression, settings: Settings, guarding: Guarding) -> Suppression:
    """The same pattern without cells nobody needs."""
    if not settings.thin or done.unprotected:
        return done
    chosen = done.table.hidden.reshape(-1) & ~table.hidden.reshape(-1)
    fewer = by_moves(table, settings, guarding, chosen)
    return done if fewer.unprotected or fewer.secondary.sum() > chosen.sum() else fewer


def _hiding(done: Suppression) -> tuple[int, int]:
    """What is left unprotected, then how many cells are hidden."""
    return len(done.unprotected), int(done.table.hidden.sum())
