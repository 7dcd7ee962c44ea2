"""Counts: the pattern of cuboids, repaired by moves until nothing is exposed, then thinned.

Small counts leave moves little room, and where zeros may be partners those found one by one hide several times the
cells that matched cuboids need (measured in docs/linked.md).
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from diskret.model.errors import ProtectionWarning
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.moves.insiders import insiders_of
from diskret.suppression.by_cuboids import by_cuboids
from diskret.suppression.by_moves import by_moves, warn_of
from diskret.suppression.by_turns import by_turns
from diskret.suppression.methods import Cuboids, Moves, Progress
from diskret.suppression.result import Suppression


def protect_counts(
    table: Table, promise: Promise, method: Moves = Moves(), progress: Progress | None = None
) -> Suppression:
    """Protect a frequency table, or a pool of them, over all of it.

    A single table is protected by moves alone as well, and the pattern with fewer cells is taken.
    """
    # coalitions are left out at first: cells of theirs that nobody knows are refused before any work
    insiders_of(table, promise)
    with warnings.catch_warnings():
        # what cuboids leave open is repaired, and what nothing can protect is said once
        warnings.simplefilter("ignore", ProtectionWarning)
        cuboids = Cuboids(cost=method.cost, zeros=method.zeros, barriers=method.barriers, thin=method.thin)
        # cuboids know single contributors only; against all others moves repair
        simply = replace(promise, guard="public" if promise.guard == "public" else "single", coalitions=())
        matchable = all(one.product for one, _ in table.linked.values())
        if table.linked and matchable:
            matched = by_turns(table, simply, cuboids).table
        else:
            matched = by_cuboids(table, simply, cuboids, progress).table if table.product else table
        done = _thinned(table, by_moves(matched, promise, method, progress=progress), method)
        if matched is not table and (done.unprotected or not table.linked):
            others = by_moves(table, promise, method, progress=progress)
            done = others if _hiding(others) <= _hiding(done) else done
    warn_of(done.unprotected)
    return replace(done, before=table)


def _thinned(table: Table, done: Suppression, method: Moves) -> Suppression:
    """The same pattern without cells nobody needs."""
    if not method.thin or done.unprotected:
        return done
    chosen = done.table.hidden.reshape(-1) & ~table.hidden.reshape(-1)
    fewer = by_moves(table, done.promise, method, usable=chosen)
    return done if fewer.unprotected or fewer.secondary.sum() > chosen.sum() else fewer


def _hiding(done: Suppression) -> tuple[int, int]:
    """What is left unprotected, then how many cells are hidden."""
    return len(done.unprotected), int(done.table.hidden.sum())
