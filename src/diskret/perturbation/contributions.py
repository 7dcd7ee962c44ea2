"""Interval protection of single contributions (Quaderverfahren, 4.2): the table with one breakdown more.

Every cell is broken down into its largest contribution, the second largest and the rest. The published table is the
total of this breakdown. Everything below it is hidden anyway; the cuboids that protect it say what must be hidden in
the published table, and no primary rule is needed. The p% rule comes out of it by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Floats
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, NegativeValue, listed
from diskret.model.framed import Frame, Framed
from diskret.model.hierarchy import Hierarchy
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.methods import Cuboids
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import suppress

NAME = "contribution"
LAYERS = ("largest", "second largest", "rest")
PUBLISHED = "publication"


@dataclass(frozen=True, eq=False, kw_only=True)
class ContributionProtection(Framed):
    """A table whose contributions are protected, and the suppression of its breakdown that says so (confidential)."""

    table: Table
    extended: Suppression

    def shown(self, *, internal: bool = False) -> Frame:
        """The protected table in long form."""
        table = replace(self.table, seal="") if self.extended.exposed else self.table
        return table.shown(internal=internal)


def with_contributions(table: Table) -> Table:
    """The table with a further classification: largest contribution, second largest, rest, and their total.

    Finest cells are broken down, and each layer is summed like the table itself. All contributions are primary and
    count as single contributors, so that each is protected against the others; the published cells start open.

    >>> cells = {"s": ["A", "B"], "x": [1002, 4], "n": [2, 2], "x1": [1000, 3], "x2": [2, 1]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    >>> with_contributions(table).value.tolist()
    [[1000.0, 3.0, 1003.0], [2.0, 1.0, 3.0], [0.0, 0.0, 0.0], [1002.0, 4.0, 1006.0]]
    """
    people = table.respondents
    if people is None or people.largest is None or people.ranked < 2:
        raise BadOption(
            "the table does not know its two largest contributions",
            hint="tabulate with largest=2, or name two columns.",
        )
    if NAME in table.by:
        raise BadOption(f"the table has a classification {NAME!r} already", hint="rename it.")
    if (table.value < 0).any():
        raise NegativeValue(
            "contributions are protected in tables without negative values only",
            where=listed(table.name_cells(table.value < 0)),
            hint="use a primary rule, or prior intervals and suppress.",
        )
    inner = rollup.inner_cells(table.hierarchies)
    first, second = (np.where(inner, people.largest[..., k], 0.0) for k in (0, 1))
    rest = np.where(inner, table.value, 0.0) - first - second
    if table.decimals is not None:
        rest = np.round(rest, table.decimals)
    layers = [_summed(layer, table) for layer in (first, second, rest)]
    value = np.stack([*layers, table.value])
    contribution = value != 0
    contribution[-1] = False
    count = np.where(contribution, 1, 0)
    count[-1] = people.count
    opened = np.where(table.hidden, np.uint8(Status.OPEN), table.status)
    status = np.where(contribution, np.uint8(Status.PRIMARY), np.uint8(Status.OPEN))
    status[-1] = opened
    by = {NAME: Hierarchy.flat(LAYERS, total=PUBLISHED), **table.by}
    # contributors of a breakdown by contributors do not add up, and are not meant to
    return Table(by, table.response, value, status, Contributors(count), decimals=table.decimals, positive=True)


def _summed(layer: Floats, table: Table) -> Floats:
    """A layer added up like the table, in whole units where it has short decimals."""
    scale = 10.0 ** (table.decimals or 0)
    cells = np.rint(layer * scale).astype(np.int64) if table.decimals is not None else layer.copy()
    rollup.add_up(cells, table.hierarchies)
    summed: Floats = cells / scale
    return summed


def suppress_contributions(
    table: Table, *, min_relative_range: float, relative_error: float | None = None
) -> ContributionProtection:
    """Hide what single contributions need to be protected, without any primary rule.

    ``min_relative_range`` (q) is asked for every contribution; below 1 is enough. ``relative_error`` (f) is how closely
    everybody knows all values beforehand (None: only that they are not negative, which leaves dominated cells open).
    With f up to 1 this hides every cell that the p% rule catches with p = q / (2 f), see `p_of`.

    >>> cells = {"s": ["A", "B", "C"], "x": [1000, 900, 800], "n": [3, 9, 9]}
    >>> cells |= {"x1": [950, 300, 250], "x2": [40, 200, 200]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    >>> done = suppress_contributions(table, min_relative_range=0.1, relative_error=0.5)
    >>> done.table.hidden.tolist()
    [True, False, False, True]
    """
    if not min_relative_range > 0:
        raise BadOption("a minimum range of nothing", hint="a share of the contribution, such as 0.5.")
    known = Knowledge.positive() if relative_error is None else Knowledge.relative(relative_error)
    promise = Promise(min_relative_range=min_relative_range, levels=False, knowledge=known)
    done = suppress(with_contributions(table), promise, Cuboids())
    status = np.where(done.table.hidden[-1], np.uint8(Status.SECONDARY), table.status)
    # a seal the table had was one of another pattern
    hidden = replace(table, status=status, seal="")
    return ContributionProtection(table=hidden if done.exposed else hidden.sealed(), extended=done)


def span(own: float, other: float, relative_error: float) -> float:
    """Range of a cuboid whose classes have these smallest values, if every value is known to within an error f.

    Up to f = 1 it is 2 f times the smaller one; beyond, values are known not to be negative as well.

    >>> span(100, 10, 0.5), span(1000, 101, 11), span(34, 256, 4)
    (10.0, 1101.0, 170.0)
    """
    f, below = relative_error, min(relative_error, 1.0)
    return float(min(f * own, below * other) + min(below * own, f * other))


def p_of(min_relative_range: float, relative_error: float, ratio: float | None = None) -> float:
    """The p of the p% rule that follows from q and f: q / (2 f) up to f = 1, q / (1 + f) beyond: (14) and (15).

    (15) holds only while f is at most ``ratio``, the larger over the smaller class minimum of a cuboid; given, it takes
    the place of a larger f.

    >>> p_of(0.1, 0.5), p_of(0.3, 2.0), round(p_of(1.2, 11, 1000 / 101), 3)
    (0.1, 0.09999999999999999, 0.11)
    """
    f = relative_error
    if f <= 1:
        return min_relative_range / (2 * f)
    return min_relative_range / (1 + (f if ratio is None else min(f, ratio)))
