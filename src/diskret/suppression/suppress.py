"""Secondary suppression: hide further cells until no primary value can be computed more exactly than promised."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from diskret.model.beside import Memory
from diskret.model.errors import BadOption, LateTable, ProtectionWarning, listed
from diskret.model.given import refuse_no_promise, refuse_no_table, refuse_other
from diskret.model.memory import refuse_short
from diskret.model.promise import Promise
from diskret.model.scale import in_units
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.workers import Workers, workers_of
from diskret.moves.move import Move
from diskret.moves.persons import persons_of
from diskret.suppression.beside import protected_beside
from diskret.suppression.by_cuboids import by_cuboids
from diskret.suppression.by_moves import by_moves
from diskret.suppression.by_proof import by_proof
from diskret.suppression.by_turns import by_turns
from diskret.suppression.complete.by_complete import by_complete
from diskret.suppression.counts import protect_counts
from diskret.suppression.methods import AT_MOST, AnyMethod, Complete, Cuboids, Moves, Optimal, Progress
from diskret.suppression.objective import exact_prices, prices
from diskret.suppression.older import older_suppression
from diskret.suppression.prices import GIVEN, Cost
from diskret.suppression.result import Suppression
from diskret.suppression.time_series import followed, last_period

UNGUARDED = (
    "single contributors are not guarded against: whoever is alone in a hidden cell may compute another one exactly; "
    "promise guard='single' unless nobody is"
)


NO_DISTANCE = (
    "this method does not look at distances: cells cost the same wherever they are; the method Cuboids looks at them"
)
OF_SERIES = Cost(by="log")
"""What a hidden cell costs where last period counts as printed."""


def suppress(
    table: Table,
    promise: Promise = Promise(),
    method: AnyMethod = Moves(),
    *,
    previous: Table | Mapping[str, Table] | None = None,
    at_most: float = AT_MOST,
    engine: object = None,
    ledger: Memory | None = None,
    progress: Progress | None = None,
    **older: Any,
) -> Suppression:
    """Hide further cells so that nobody can compute a primary cell more closely than promised.

    `Moves` protects the whole table against everybody the promise names, and attacks the result with a solver;
    `Cuboids` secures every subtable on its own, as printed; `Complete` takes cuboids of the fictitious complete table;
    `Optimal` proves the cheapest pattern of a small table. A `Pool` is protected as a whole: with `Cuboids` its tables
    take turns as printed and an audit says what is left, with `Moves` all of them at once.

    ``previous`` is last period's table (or pool, or its tables by their names): its pattern is kept as far as that
    makes the result dearer by ``at_most`` this share; ``consistency`` of the result says what was tried. With ``inf``
    it may cost anything, and cuboids take the weights that are printed. ``engine``: a Spark session (or "spark") whose
    workers secure subtables and attack the result; they find the same as this machine. ``ledger`` is a ledger that
    knows what the table counts (``ledger.about(...)``): the table is protected beside everything published before, by
    cells of its own.

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
    >>> result = suppress(Table.from_cells(cells, by={"s": None}, value="x", status="status"))
    >>> result.table.status.tolist(), result.interval("a"), result.audit.safe
    ([1, 2, 0, 0], (0.0, 30.0), True)
    """
    refuse_no_table(table)
    if older or isinstance(method, str):
        table, promise, method = older_suppression(table, promise, method, older)
    refuse_no_promise(promise)
    refuse_other(method, AnyMethod, "a method", "methods are such as methods.Moves().")
    table.check_pattern()
    if method.zeros == "allowed":
        table.refuse_sparse("hiding any zero")
    printed = previous is not None and as_printed(method, at_most)
    if printed and method.cost is None:
        # the printed weights are made for classes, not for values
        method = replace(method, cost=OF_SERIES)
    method.price.check(table)
    if any(method.price.distance.values()) and not isinstance(method, Cuboids):
        warnings.warn(NO_DISTANCE, ProtectionWarning, stacklevel=2)
    audited = not isinstance(method, Cuboids | Complete)
    if audited and promise.guard == "public" and (persons_of(table)[table.hidden.reshape(-1)] >= 0).any():
        warnings.warn(UNGUARDED, ProtectionWarning, stacklevel=2)

    with workers_of(engine, getattr(method, "threads", None)) as workers:
        if ledger is not None:
            if previous is not None or not isinstance(method, Moves):
                raise BadOption("beside a ledger only the method Moves protects", hint="leave the other options out.")
            return protected_beside(table, promise, method, ledger, in_own_unit(partial(_protect, workers)), progress)
        protect: Protect = partial(_protect_pool if table.linked else _protect, workers)
        if previous is not None:
            protect = partial(followed, protect, last_period(table, previous, at_most, printed=printed))
        return in_own_unit(protect)(table, promise, method, progress).sealed()


def as_printed(method: AnyMethod, at_most: float) -> bool:
    """Whether last period counts as printed: by cuboids, whatever it costs."""
    return isinstance(method, Cuboids | Complete) and at_most == inf


Protect = Callable[[Table, Promise, Any, Progress | None], Suppression]


def in_own_unit(protect: Protect) -> Protect:
    """Protect a table in its own unit: the same cells are hidden whether it is written in cents or in millions."""

    def protected(table: Table, promise: Promise, method: Any, progress: Progress | None) -> Suppression:
        refuse_short(table.size, "protecting a table")
        same, asked, scale = in_units(table, promise)
        if same is table:
            return _priced(protect(table, promise, method, progress), method)
        if method.price.power == 0:
            # the logarithm of one more is another one in another unit
            same = replace(same, weight=prices(table, method).reshape(table.shape))
            done = protect(same, asked, replace(method, cost=replace(method.price, **GIVEN)), progress)
        else:
            done = protect(same, asked, method, progress)
        return _priced(done.written_in(table, promise, scale), method)

    return protected


def _priced(done: Suppression, method: AnyMethod) -> Suppression:
    """What came of it with its cost in the user's own prices; what is known of the cheapest one follows."""
    price = exact_prices(done.before, method).reshape(done.before.shape)
    new = float(price[done.secondary].sum())
    given = float(price[(done.table.status == Status.SECONDARY) & ~done.secondary].sum())
    if done.bound is None:
        return replace(done, cost=given + new)
    return replace(done, cost=given + new, bound=given + new * (done.bound / done.cost if done.cost > 0 else 1.0))


def _protect(
    workers: Workers, table: Table, promise: Promise, method: AnyMethod, progress: Progress | None,
    start: Iterable[Move] = (),
) -> Suppression:  # fmt: skip
    if isinstance(method, Optimal):
        return by_proof(table, promise, method, progress)
    if isinstance(method, Complete):
        table.refuse_without_product("a complete table")
        return by_complete(table, promise, method, progress=progress)
    if isinstance(method, Cuboids):
        return by_cuboids(table, promise, method, progress, workers)
    if table.frequency:
        return protect_counts(table, promise, method, progress)
    return by_moves(table, promise, method, start=start, workers=workers, progress=progress)


def _protect_pool(
    workers: Workers, pool: Table, promise: Promise, method: AnyMethod, progress: Progress | None,
    start: Iterable[Move] = (),
) -> Suppression:  # fmt: skip
    if isinstance(method, Complete):
        raise BadOption(
            "a pool as a complete table",
            hint="complete tables cannot be linked: use the method Moves for pools, or Cuboids as printed.",
        )
    if isinstance(method, Cuboids):
        done = by_turns(pool, promise, method)
    else:
        done = _protect(workers, pool, promise, method, progress, start)
    _refuse_late(pool, done)
    return done


def _refuse_late(pool: Table, done: Suppression) -> None:
    """A late table that needs cells of published tables cannot be released."""
    if pool.out and done.unprotected:
        late = [name for name in pool.linked if name not in pool.out]
        number = len(done.unprotected)
        raise LateTable(
            f"{listed(late)} cannot be protected by cells of its own: {number} "
            f"{'cell stays' if number == 1 else 'cells stay'} exposed",
            where=listed([u.cell for u in done.unprotected], most=10),
            hint="publish less detail in the late table; what is already published cannot be hidden any more.",
        )


def thin(
    table: Table,
    promise: Promise = Promise(),
    method: Moves = Moves(effort="economy"),
    *,
    progress: Progress | None = None,
    **older: Any,
) -> Suppression:
    """Open secondary cells again that the promise does not need, the most expensive first; nothing else is suppressed.

    For patterns from elsewhere: another program's, or last year's. Never exposes anything that was not exposed before.

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "secondary"]}
    >>> thin(Table.from_cells(cells, by={"s": None}, value="x", status="st")).table.status.tolist()
    [1, 2, 0, 0]
    """
    refuse_no_table(table)
    if older:
        effort = {"effort": "economy", "guarantee": "audit"}
        table, promise, chosen = older_suppression(table, promise, method, effort | older)
        method = chosen if isinstance(chosen, Moves) else method
    refuse_no_promise(promise)
    return in_own_unit(_thin)(table, promise, method, progress).sealed()


def _thin(table: Table, promise: Promise, method: Moves, progress: Progress | None) -> Suppression:
    given = table.status == Status.SECONDARY
    opened = replace(table, status=np.where(given, np.uint8(Status.OPEN), table.status))
    result = by_moves(opened, promise, method, usable=given.reshape(-1), progress=progress)
    # what could not be protected stays as it was: opening its partners would help nobody
    if result.unprotected:
        nothing = np.zeros(table.size, dtype=np.bool_)
        return by_moves(table, promise, method, usable=nothing, progress=progress)
    return replace(result, before=table)
