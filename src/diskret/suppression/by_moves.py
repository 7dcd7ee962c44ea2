"""One run over a whole table: protecting moves by linear programmes, rerouted until they are cheap, then the audit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import attacked
from diskret.auditing.report import AuditReport
from diskret.auditing.spread import gathered, spread_moves, spread_report
from diskret.auditing.unions import cells_breaking
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import ProtectionWarning, listed
from diskret.model.merged import Merged, hidden_together, merged
from diskret.model.near import SMALL
from diskret.model.promise import Promise
from diskret.model.sparse import SparseTable
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.workers import Workers
from diskret.moves.cover import Cover
from diskret.moves.demands import Demands, demands_of
from diskret.moves.insiders import Insiders, insiders_of
from diskret.moves.move import Move, MoveSet
from diskret.moves.pattern import Pattern, build
from diskret.moves.router import Router
from diskret.moves.witnesses import search, witnesses
from diskret.suppression.by_cuboids import usable_cells
from diskret.suppression.methods import Moves, Progress
from diskret.suppression.objective import exact_prices, objective_of
from diskret.suppression.prices import Cost
from diskret.suppression.renewing import budget_for, renew, renewable
from diskret.suppression.rerouting import adds_up, over_hidden, reroute_cells, reroute_moves, shake_up
from diskret.suppression.result import Suppression, Unprotected

SWEEPS = 2
MOST_ROUNDS = 4
ROUTED = 300
"""Single cells are tried for as many programmes as the pattern took so far, and for at least so many."""
UNKNOWNS, ENOUGH, MORE = 100, 900_000, 4
"""In a product of trees programmes over hidden cells have at most so many unknowns in all, per cell of a small table;
of a large one that many, and some per cell. (Tuned on `h3` of the benchmarks: 5.07 M of value before, 4.78 M after 4 s,
4.69 M after 8 s with twice as many; a table in four classifications gained 2 %.)"""
SPARED = 900_000
"""Where moves are added up, so many in all. (On `h3` nearly all that can be had so: 4.52 M, where programmes alone gave
4.78 M.)"""
FEW = 1000
"""Cells of the neighbourhoods over which moves are routed then, whether hidden or not."""
ECONOMY = 12.0
"""Where the exact method does not help, economy goes on for this many times the programmes the pattern took,"""
AT_LEAST = 10_000
"""and for small tables for this many."""


def by_moves(
    table: Table, promise: Promise, method: Moves = Moves(), *, usable: Bools | None = None,
    start: Iterable[Move] = (), workers: Workers | None = None, progress: Progress | None = None,
) -> Suppression:  # fmt: skip
    """Protect against everybody who is guarded against, over the whole table, and attack the result.

    What is hidden already stays hidden and costs nothing, so this repairs any pattern. Where the hidden cells of a line
    together break the rules, the largest contributors of these cells are guarded against too, and all is done again.
    ``start`` are moves of this table to begin with; what they settle needs no others.
    """
    given = MoveSet.of(tuple(start))
    if isinstance(table, SparseTable):
        done = _protected_as_one(table, promise, method, usable, progress, workers, given)
    else:
        done = _protected(table, promise, method, usable, progress, workers, given)
        if done.unprotected and method.effort_for(table.size) != "quick" and not _hopeless(done, method, usable):
            # a demand for which no move was found may have been met all the same, before the pattern was made cheaper
            first = _protected(table, promise, replace(method, effort="quick"), usable, progress, workers, given)
            done = first if len(first.unprotected) < len(done.unprotected) else done
    warn_of(done.unprotected)
    return done


def _protected(
    table: Table, promise: Promise, method: Moves, usable: Bools | None, progress: Progress | None,
    workers: Workers | None, start: MoveSet,
) -> Suppression:  # fmt: skip
    chosen = usable_cells(table, method.zeros) if usable is None else usable
    suspected = np.zeros(table.size, dtype=np.bool_)
    demands = demands_of(table, promise)
    for _ in range(MOST_ROUNDS):
        among = table.hidden.reshape(-1) | chosen
        people = insiders_of(table, promise, among=among, largest_of=suspected if suspected.any() else None)
        pattern = routed(table, promise, method, demands, usable=chosen, people=people, start=start, progress=progress)
        status = table.status.reshape(-1).copy()
        status[pattern.added] = Status.SECONDARY
        protected = replace(table, status=status.reshape(table.shape))
        fresh = _breaking(protected, promise) & ~suspected
        if not fresh.any():
            break
        suspected |= fresh
        if isinstance(table, Merged):  # to begin anew would take as long as before, and most moves are good again
            start = pattern.cover.gathered()
    moves = pattern.cover.all()
    report = attacked(protected, promise, demands, moves=moves, workers=workers)
    unprotected = unprotected_of(report)
    cost = float(exact_prices(table, method)[pattern.added].sum())
    # what holds among few usable cells, without what is hopeless, or of more than was promised, is true of some only
    known = usable is None and not unprotected and not demands.stretched and pattern.bound is not None
    return Suppression(
        table=protected, before=table, promise=promise, moves=moves, unprotected=unprotected, notes=_notes(table),
        audit=report, cost=cost, bound=float(min(pattern.bound or 0.0, cost)) if known else None,
    )  # fmt: skip


def _hopeless(done: Suppression, method: Moves, usable: Bools | None) -> bool:
    """Whether everything that is exposed stays so with all cells hidden that may be: then no other pattern helps."""
    table, report = done.table, done.audit
    assert report is not None
    if report.undecided:
        return False
    chosen = usable_cells(done.before, method.zeros) if usable is None else usable
    exposed = np.zeros(table.size, dtype=np.bool_)
    exposed[[np.ravel_multi_index(each.index, table.shape) for each in report.exposed]] = True
    hidden = table.hidden.reshape(-1) | chosen
    status = np.where(exposed, Status.PRIMARY, np.where(hidden, Status.SECONDARY, table.status.reshape(-1)))
    asked = replace(table, status=status.astype(np.uint8).reshape(table.shape))
    return len({each.cell for each in attacked(asked, done.promise, explain=False).exposed}) == int(exposed.sum())


def _protected_as_one(
    table: SparseTable, promise: Promise, method: Moves, usable: Bools | None, progress: Progress | None,
    workers: Workers | None, start: MoveSet,
) -> Suppression:  # fmt: skip
    """Protect a sparse table with cells that are always equal as one; a hidden one hides all, and costs as much."""
    chosen = usable_cells(table, method.zeros) if usable is None else usable
    together = hidden_together(table, chosen)
    small = merged(together, exact_prices(together, method))
    alike = replace(method, cost=Cost(by="given"), barriers="off")
    everywhere = np.bincount(small.number_of, weights=~chosen, minlength=small.size) == 0
    free = everywhere & ~small.hidden
    done = _protected(small, promise, alike, free, progress, workers, gathered(small, start))
    assert done.audit is not None
    added = done.table.hidden[small.number_of] & ~together.hidden
    protected = replace(together, status=np.where(added, np.uint8(Status.SECONDARY), together.status))
    report = spread_report(replace(small, whole=protected), done.audit)
    return replace(
        done, table=protected, before=table, moves=spread_moves(small, done.moves), unprotected=unprotected_of(report),
        audit=report,
    )  # fmt: skip


def warn_of(unprotected: Sequence[Unprotected]) -> None:
    """Say which cells nothing can protect."""
    if unprotected:
        warnings.warn(
            f"{len(unprotected)} {'cell' if len(unprotected) == 1 else 'cells'} cannot be protected as asked: "
            f"{listed([u.cell for u in unprotected])}",
            ProtectionWarning,
            stacklevel=5,
        )


def _breaking(table: Table, promise: Promise) -> Bools:
    """Hidden cells of lines that break a rule together."""
    found = np.zeros(table.size, dtype=np.bool_)
    if promise.unions and table.respondents is not None and table.respondents.largest is not None:
        found[cells_breaking(table, table.equations())] = True
    return found


def routed(
    table: Table, promise: Promise, method: Moves, demands: Demands, *, usable: Bools, people: Insiders,
    start: MoveSet, progress: Progress | None = None,
) -> Pattern:  # fmt: skip
    """The pattern of moves: built, then made cheaper."""
    up, down = promise.knowledge.room(table)
    hidden = table.hidden.reshape(-1)
    cover = Cover(demands, people, up, down, table.shape, whole=table.frequency)
    if (table.status == Status.SECONDARY).any():
        # what is hidden already comes first: a safe pattern gets no further cell
        given = witnesses(table, demands, people, up, down, MoveSet.none())
        search(given)
        for kept in given.cover.moves.values():
            cover.add(kept)
    cover.take(start)
    aim = objective_of(table, method, usable)
    pattern = Pattern(cover, Router(table, hidden | usable, up, down), aim.price, hidden, aim.guide)
    say = progress or (lambda what, done, of: None)
    effort = method.effort_for(table.size)
    thin, long = method.thin and effort != "quick", effort == "economy"
    build(pattern, range(cover.ways.size), lambda done, of: say("protecting", done, of), thin, long)
    _make_cheaper(pattern, exact_prices(table, method), method, say)
    return pattern


def _make_cheaper(pattern: Pattern, price: Floats, method: Moves, say: Callable[[str, int, int], None]) -> None:
    """Reroute until the effort is spent; protection holds all the time."""
    end = np.inf if method.seconds is None else time.monotonic() + method.seconds
    effort = method.effort_for(pattern.hidden.size)
    if effort == "quick" or not method.thin:
        return
    # moves found without programmes count as if each had taken one
    built = max(pattern.router.programmes, len(pattern.cover.moves))

    def running(limit: float = np.inf, unknowns: float = np.inf) -> bool:
        router = pattern.router
        return router.programmes < limit and router.unknowns < unknowns and time.monotonic() < end

    if pattern.by_products:
        large = SPARED if adds_up(pattern) else ENOUGH + MORE * pattern.hidden.size
        small = min(UNKNOWNS * pattern.hidden.size, large)
        over_hidden(pattern, SMALL, lambda: running(unknowns=small), running)
        say("rerouting", SWEEPS, SWEEPS + 1)
        used = pattern.router.unknowns
        reroute_moves(pattern, FEW, lambda: running(unknowns=used + 0.1 * small))
    else:
        # in a large sparse table programmes save little, and there are many
        most = ENOUGH + MORE * pattern.hidden.size if isinstance(pattern.router.table, Merged) else np.inf
        for done in range(SWEEPS):
            reroute_moves(pattern, SMALL, lambda: running(unknowns=most))
            say("rerouting", done + 1, SWEEPS + 1)
        spent = pattern.router.programmes
        reroute_cells(pattern, SMALL, lambda: running(spent + max(built, ROUTED), most), {})
    if renewable(pattern):
        renew(pattern, price, budget_for(effort, int(pattern.added.sum())), running)
    elif effort == "economy":
        spent = pattern.router.programmes
        shake_up(pattern, SMALL, lambda: running(spent + max(ECONOMY * built, AT_LEAST)))
    say("rerouting", SWEEPS + 1, SWEEPS + 1)


def unprotected_of(report: AuditReport) -> tuple[Unprotected, ...]:
    """What an audit found exposed or could not decide."""
    found = [Unprotected(cell=e.cell, index=e.index, reached=e.upper - e.lower, why=_why(e.by)) for e in report.exposed]
    why = "the solver gave up: undecided"
    return (*found, *(Unprotected(cell=name, index=(), reached=np.nan, why=why) for name in report.undecided))


def _why(by: str) -> str:
    against = f" against {by.replace('who is', 'whoever is', 1)}" if by else ""
    return f"no further suppression was found that leaves a wide enough interval{against}"


def _notes(table: Table) -> tuple[str, ...]:
    return () if (table.status == Status.PRIMARY).any() else ("no cell is primary: nothing to protect",)
