"""Secondary suppression: hide further cells until no primary value can be computed more exactly than asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from diskret.auditing.insiders import Kind, persons_of
from diskret.model.errors import BadOption, LateTable, ProtectionWarning, listed
from diskret.model.pool import Pool
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.rule import AnyOf, Rule
from diskret.suppression.by_cuboids import Barriers, Progress, Settings, Zeros, by_cuboids
from diskret.suppression.by_moves import Effort, Guarding, by_moves
from diskret.suppression.by_proof import by_proof
from diskret.suppression.by_turns import by_turns, leaning
from diskret.suppression.complete.by_complete import by_complete
from diskret.suppression.counts import protect_counts
from diskret.suppression.options import Cost
from diskret.suppression.result import Suppression
from diskret.suppression.time_series import consistency_of, weighed

Guarantee = Literal["subtables", "complete", "audit"]
UNGUARDED = (
    "single contributors are not guarded against: whoever is alone in a hidden cell may compute another one exactly; "
    "leave single_contributors on unless nobody is"
)


def suppress(
    table: Table,
    *,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    guarantee: Guarantee = "subtables",
    method: Literal["moves", "optimal"] = "moves",
    cost: Cost | None = None,
    zeros: Zeros = "marked",
    barriers: Barriers = "on",
    single_contributors: bool = True,
    largest_contributors: bool = False,
    coalitions: Sequence[Iterable[Sequence[str]]] = (),
    rule: Rule | AnyOf | None = None,
    non_additive: Sequence[str] = (),
    carry: Literal["off", "once", "always"] = "off",
    previous: Table | Mapping[str, Table] | None = None,
    thin: bool = True,
    effort: Effort = "default",
    seconds: float | None = None,
    threads: int | None = None,
    deformations: int = 1,
    totals_last: bool = False,
    stages: int = 1,
    progress: Progress | None = None,
) -> Suppression:
    """Hide further cells so that no primary cell can be computed more closely than asked.

    ``protection`` says how wide an attacker's interval must stay, ``knowledge`` what he knows beforehand (left out:
    that values are positive, if they are). ``guarantee``: "subtables" secures every subtable on its own by the cuboid
    method, as it is printed; "complete" protects the whole table by cuboids of the fictitious complete table; "audit"
    protects the whole table by moves, against everybody and every single contributor, and attacks the result with a
    solver. For the last two ``protection``, left out, asks for the levels of the primary rules.
    ``zeros`` says which zero cells may be partners: those marked, all, or none. ``barriers`` keep margins visible (per
    classification +1 avoid, -1 prefer, 0 neither). ``single_contributors`` guards against respondents who are alone in
    a cell; ``non_additive`` names classifications along which counts do not add up. ``previous`` is last period's
    table, whose pattern is kept where that is cheap. A `Pool` is protected as a whole: with "subtables" its tables take
    turns as printed and an audit says what is left, "audit" moves through all of them at once; ``previous`` is then
    last period's pool, or its tables by their names.
    ``thin`` opens secondaries again that nobody needs.

    Only with "subtables": ``carry`` hands intervals from subtable to subtable (without ``thin``), ``threads``. Only
    with "complete": a cuboid is shifted at most ``deformations`` times; ``totals_last`` takes totals in only after all
    other sums; with two ``stages`` cuboids inside lowest subtables come first.

    Only with "audit": ``largest_contributors`` guards against the largest contributor of every hidden cell as well,
    ``coalitions`` against those who know several cells together (lists of cells by their codes); ``rule`` is a primary
    rule that the hidden cells of a line must not break together; ``effort`` says how long to look for cheaper patterns
    ("quick", "default", "economy"), ``seconds`` ends that early. ``method="optimal"`` proves the cheapest pattern of a
    small table, or how far it may be off: a yardstick, within ``seconds`` (60 if left out).

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
    >>> result = suppress(Table.from_cells(cells, by={"s": None}, value="x", status="status"))
    >>> result.table.status.tolist(), result.interval("a")
    ([1, 2, 0, 0], (0.0, 30.0))
    """
    if guarantee not in ("subtables", "complete", "audit"):
        raise BadOption(f"guarantee {guarantee!r}", hint="'subtables', 'complete' or 'audit'.")
    if method not in ("moves", "optimal") or (method == "optimal" and guarantee != "audit"):
        raise BadOption(f"method {method!r} with guarantee {guarantee!r}", hint="'optimal' needs guarantee='audit'.")
    if effort not in ("quick", "default", "economy"):
        raise BadOption(f"effort {effort!r}", hint="'quick', 'default' or 'economy'.")
    if zeros not in ("marked", "allowed", "forbidden"):
        raise BadOption(f"zeros {zeros!r}", hint="'marked', 'allowed' or 'forbidden'.")
    table.check_pattern()
    audited = guarantee == "audit"
    if not audited and (coalitions or largest_contributors):
        raise BadOption(
            "coalitions or largest contributors without the guarantee 'audit'",
            hint="the cuboid method guards against single contributors only: set guarantee='audit'.",
        )
    nonnegative = table.positive or not (table.value < 0).any()
    settings = Settings(
        protection or Protection(levels=guarantee != "subtables" and table.below is not None),
        knowledge or (Knowledge.positive() if nonnegative else Knowledge.none()),
        # the weights of a time series are made for classes, not for values
        cost or Cost("value" if previous is None else "log"),
        zeros, barriers, single_contributors, tuple(non_additive), carry, thin, threads, progress,
    )  # fmt: skip
    kind: Kind = "largest" if largest_contributors else "single" if single_contributors else "none"
    guarding = Guarding(kind, tuple(coalitions), rule, effort if thin else "quick", seconds)
    if audited and kind == "none" and (persons_of(table)[table.hidden.reshape(-1)] >= 0).any():
        warnings.warn(UNGUARDED, ProtectionWarning, stacklevel=2)

    def protect(given: Table) -> Suppression:
        if isinstance(given, Pool):
            return _refuse_late(given, _protect_pool(given, settings, guarding, guarantee, method))
        if method == "optimal":
            return by_proof(given, settings, guarding)
        if guarantee == "complete":
            return by_complete(given, settings, deformations, totals_last=totals_last, stages=stages)
        if not audited:
            return by_cuboids(given, settings)
        return (protect_counts if given.frequency else by_moves)(given, settings, guarding)

    if previous is None:
        return protect(table)
    return consistency_of(previous, protect, table, weighed(table, previous))


def _protect_pool(
    pool: Pool, settings: Settings, guarding: Guarding, guarantee: Guarantee, method: str
) -> Suppression:  # fmt: skip
    if guarantee == "complete":
        raise BadOption(
            "a pool with the guarantee 'complete'",
            hint="complete tables know no other tables: use guarantee='audit' for pools, or 'subtables' as printed.",
        )
    if guarantee == "subtables":
        return by_turns(pool, settings)
    protect = by_proof if method == "optimal" else protect_counts if pool.frequency else by_moves
    if isinstance(settings.barriers, str):
        return protect(pool, settings, guarding)
    done = protect(leaning(pool, settings.barriers), replace(settings, barriers="on"), guarding)
    return replace(done, table=replace(done.table, weight=pool.weight), before=pool)


def _refuse_late(pool: Pool, done: Suppression) -> Suppression:
    """A late table that needs cells of published tables cannot be released."""
    if pool.published and done.unprotected:
        late = [name for name in pool.tables if name not in pool.published]
        raise LateTable(
            f"{listed(late)} cannot be protected by cells of its own: {len(done.unprotected)} cells stay exposed",
            where=listed([u.cell for u in done.unprotected], most=10),
            hint="publish less detail in the late table; what is out already cannot be hidden any more.",
        )
    return done


def thin(
    table: Table,
    *,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    cost: Cost | None = None,
    single_contributors: bool = True,
    effort: Effort = "economy",
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Suppression:
    """Open secondary cells again that protection does not need, dearest first; nothing else is suppressed.

    For patterns from elsewhere: another program's, or last year's. Never exposes anything that was not exposed before;
    the options are those of `suppress`.

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "secondary"]}
    >>> thin(Table.from_cells(cells, by={"s": None}, value="x", status="st")).table.status.tolist()
    [1, 2, 0, 0]
    """
    given = table.status == Status.SECONDARY
    opened = replace(table, status=np.where(given, np.uint8(Status.OPEN), table.status))
    nonnegative = table.positive or not (table.value < 0).any()
    settings = Settings(
        protection or Protection(levels=table.below is not None),
        knowledge or (Knowledge.positive() if nonnegative else Knowledge.none()),
        cost or Cost(),
        progress=progress,
    )
    guarding = Guarding("single" if single_contributors else "none", effort=effort, seconds=seconds)
    result = by_moves(opened, settings, guarding, given.reshape(-1))
    # what could not be protected stays as it was: opening its partners would help nobody
    if result.unprotected:
        return by_moves(table, settings, guarding, np.zeros(table.size, dtype=np.bool_))
    return replace(result, before=table)
