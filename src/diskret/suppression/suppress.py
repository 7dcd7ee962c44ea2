"""Secondary suppression: hide further cells until no primary value can be computed more exactly than asked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.protection import Knowledge, Protection
from diskret.model.table import Table
from diskret.suppression.by_cuboids import Barriers, Progress, Settings, Zeros, by_cuboids, prices, state_of
from diskret.suppression.cuboid import _kernels
from diskret.suppression.options import Cost
from diskret.suppression.repair import repair
from diskret.suppression.result import Suppression, Unprotected
from diskret.suppression.time_series import consistency_of, weighed

Guarantee = Literal["subtables", "audit"]


def suppress(
    table: Table,
    *,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    guarantee: Guarantee = "subtables",
    cost: Cost | None = None,
    zeros: Zeros = "marked",
    barriers: Barriers = "on",
    single_contributors: bool = True,
    non_additive: Sequence[str] = (),
    carry: Literal["off", "once", "always"] = "off",
    previous: Table | None = None,
    thin: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Suppression:
    """Protect the primary cells of a table by the cuboid method.

    ``protection`` says how wide an attacker's interval must stay, ``knowledge`` what he knows beforehand (left out:
    that values are positive, if they are). ``guarantee``: "subtables" secures every subtable on its own, as the method
    is printed; "audit" attacks the whole table with a solver and repairs until nothing is exposed. ``zeros`` says
    which zero cells may be partners: those marked, all, or none. ``barriers`` keep margins visible (per classification
    +1 avoid, -1 prefer, 0 neither). ``single_contributors`` guards against respondents who are alone in a cell;
    ``non_additive`` names classifications along which counts do not add up. ``carry`` hands intervals from subtable to
    subtable. ``previous`` is last period's table, whose pattern is kept where that is cheap. ``thin`` opens
    secondaries again that turned out to be needed by nobody (not together with ``carry``).

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
    >>> result = suppress(Table.from_cells(cells, by={"s": None}, value="x", status="status"))
    >>> result.table.status.tolist(), result.interval("a")
    ([1, 2, 0, 0], (0.0, 30.0))
    """
    if guarantee not in ("subtables", "audit"):
        raise BadOption(f"guarantee {guarantee!r}", hint="'subtables' or 'audit'.")
    nonnegative = table.positive or not (table.value < 0).any()
    settings = Settings(
        protection or Protection(),
        knowledge or (Knowledge.positive() if nonnegative else Knowledge.none()),
        # the weights of a time series are made for classes, not for values
        cost or Cost("value" if previous is None else "log"),
        zeros, barriers, single_contributors, tuple(non_additive), carry, thin, threads, progress,
    )  # fmt: skip
    protect = _audited if guarantee == "audit" else by_cuboids
    if previous is None:
        return protect(table, settings)
    return consistency_of(previous, lambda t: protect(t, settings), table, weighed(table, previous))


def _audited(table: Table, settings: Settings) -> Suppression:
    """Cuboids against exact computation first, then the audit of the whole table and its repair.

    Cuboids know only their subtable, so wide intervals are better left to the repair, which sees all equations.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)  # the audit says what is really exposed
        first = by_cuboids(table, replace(settings, protection=Protection()))
    usable = state_of(table, settings.zeros) & _kernels.USABLE > 0
    price = prices(table, settings.cost)
    mean = float(price[usable].mean()) if usable.any() else 1.0
    say = settings.progress or (lambda what, done, of: None)
    say("auditing", 0, 1)
    protected, report, _ = repair(
        first.table, usable, 1.0 + price / max(mean, 1e-300), settings.protection, settings.knowledge
    )
    say("auditing", 1, 1)
    exposed = [
        Unprotected(e.cell, e.index, e.upper - e.lower, "no further suppression leaves a wide enough interval")
        for e in report.exposed
    ]
    exposed += [Unprotected(name, (), np.nan, "the solver gave up: undecided") for name in report.undecided]
    if exposed:
        warnings.warn(
            f"{len(exposed)} cells cannot be protected as asked: {listed([u.cell for u in exposed])}",
            ProtectionWarning,
            stacklevel=3,
        )
    return replace(first, table=protected, unprotected=tuple(exposed), audit=report)
