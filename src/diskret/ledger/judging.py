"""Which derived cells are sensitive, and who is behind them.

Nobody marked a cell that was never published. How many are behind it follows from what adds up. Of the largest among
them it is known that they are not larger than the largest of the sum the cell is part of, without those that are seen
in other parts: the rules judge the worst that may be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.ledger.connecting import Connected
from diskret.ledger.solving import solved
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.hierarchy import Hierarchy
from diskret.model.rule import Rule
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.mark import mark
from diskret.rules.rule import AnyOf

FEW = 3
"""Where no rule was said, cells of fewer contributors are sensitive."""
ALONE = 2
"""Where rules were said, they judge; but cells of fewer contributors are sensitive by any rules."""


def judged(found: Connected, judges: Sequence[Rule]) -> tuple[Contributors | None, Ints, Floats, Floats]:
    """Contributors of all cells, the derived cells that are sensitive, and levels of all cells."""
    nodes = found.nodes
    below, above = np.zeros(found.size), np.zeros(found.size)
    below[: nodes.size], above[: nodes.size] = nodes.below, nodes.above
    count = _counts(found)
    derived = np.arange(found.size) >= nodes.size
    derived[found.difference] = False
    derived[[*found.relations.parts]] = True
    # what is shown openly is no more sensitive at another time
    known = ~np.isnan(nodes.shown)
    derived[[part for part, cell in found.relations.once.items() if cell < nodes.size and known[cell]]] = False
    asked = np.flatnonzero(derived & found.inside & ~np.isnan(count) & (count > 0))
    value = np.array(found.relations.value)
    asked = asked[~np.isnan(value[asked])]
    primary = asked[count[asked] < (ALONE if judges else FEW)]
    if judges and asked.size:
        caught, down, up = _by_rules(value[asked], count[asked], _largest(found, asked, value, count), judges)
        below[asked[caught]], above[asked[caught]] = down[caught], up[caught]
        primary = np.union1d(primary, asked[caught])
    if not (~np.isnan(count)).any():
        return None, primary, below, above
    people = np.where(np.isnan(count), 2, np.maximum(count, 0)).astype(np.int64)
    nobody = np.setdiff1d(found.difference, [*found.relations.parts])
    people[nobody] = 2
    return Contributors(people), primary, below, above


def _counts(found: Connected) -> Floats:
    """Contributors of every cell, undefined where it does not follow."""
    count = np.full(found.size, np.nan)
    told = found.nodes.count >= 0
    count[: found.nodes.size][told] = found.nodes.count[told]
    # differences have nobody behind them, and stand for no other cell's contributors
    count[np.setdiff1d(found.difference, [*found.relations.parts])] = 0.0
    sums = np.array(found.relations.axis, dtype=np.int64) >= 0
    lengths = np.diff(found.start)
    entry = sums[np.repeat(np.arange(lengths.size), lengths)]
    start = np.append(0, np.cumsum(lengths[sums])).astype(np.int64)
    return solved(count, start, found.cell[entry], found.coefficient[entry], 0, least=0.0)


def _by_rules(value: Floats, count: Floats, largest: Floats, judges: Sequence[Rule]) -> tuple[Bools, Floats, Floats]:
    """What the rules say of cells as a table of their own."""
    names = [str(i) for i in range(value.size)]
    total = float(value.sum())
    tops = np.sort(largest, axis=0)[::-1]
    most = np.concatenate([tops[:1, :1], tops[1:2, :1], np.zeros((largest.shape[1], 1))])[: largest.shape[1], 0]
    table = Table(
        by={"cell": Hierarchy.flat(names)}, response="value", value=np.append(value, total),
        status=np.zeros(value.size + 1, dtype=np.uint8),
        respondents=Contributors(
            np.append(count, count.sum()).astype(np.int64), largest=np.vstack([largest, most[None, :]])
        ),
        decimals=None,
    )  # fmt: skip
    marked = mark(table, AnyOf(tuple(judges)), special_cases=False)
    caught: Bools = marked.status[:-1] == Status.PRIMARY
    levels = [np.zeros(value.size) if each is None else each[:-1] for each in (marked.below, marked.above)]
    return caught, levels[0], levels[1]


ROUNDS = 4


def _largest(found: Connected, asked: Ints, value: Floats, count: Floats) -> Floats:
    """The largest contributions that derived cells may have at most, by the sums they stand in, again and again."""
    ranks = max(2, found.nodes.largest.shape[1])
    told = np.zeros(found.size, dtype=np.bool_)
    told[: found.nodes.size] = ~np.isnan(found.nodes.largest).all(axis=1) if found.nodes.largest.shape[1] else False
    most = np.repeat(np.where(np.isnan(value), np.inf, np.maximum(value, 0.0))[:, None], ranks, axis=1)
    for rank in range(found.nodes.largest.shape[1]):
        most[: found.nodes.size, rank] = np.fmin(most[: found.nodes.size, rank], found.nodes.largest[:, rank])
    rows = [
        found.cell[found.start[row] : found.start[row + 1]].tolist()
        for row in np.flatnonzero(np.array(found.relations.axis, dtype=np.int64) >= 0).tolist()
    ]
    for _ in range(ROUNDS):
        before = most.copy()
        for whole, *parts in (cells for cells in rows if not told[cells].all()):
            _narrow(most, told, whole, parts)
        if (before == most).all():
            break
    found_largest = most[asked]
    # together they contribute no more than there is, and no more of them than there are
    found_largest = np.where(np.arange(ranks)[None, :] < count[asked][:, None], found_largest, 0.0)
    taken = np.cumsum(found_largest, axis=1) - found_largest
    result: Floats = np.clip(found_largest, 0.0, np.maximum(value[asked][:, None] - taken, 0.0))
    return result


def _narrow(most: Floats, told: Bools, whole: int, parts: list[int]) -> None:
    """What a sum says of the largest in its parts, and they of the largest in it."""
    for part in parts:
        if not told[part]:
            others = [other for other in parts if other != part and told[other]]
            most[part] = np.minimum(most[part], _left(most[whole], most[others].reshape(-1)))
    if not told[whole]:
        together = np.sort(most[parts].reshape(-1))[::-1][: most.shape[1]]
        most[whole] = np.minimum(most[whole], together)


def _left(whole: Floats, taken: Floats) -> Floats:
    """The largest of a sum without those that stand in other parts; beyond, the last one known bounds all.

    >>> _left(np.array([90.0, 50.0]), np.array([90.0, 5.0])).tolist()
    [50.0, 50.0]
    """
    left = [x for x in whole.tolist() if not np.isnan(x)]
    smallest = left[-1]
    for x in taken.tolist():
        if x in left:
            left.remove(x)
    return np.array((left + [smallest] * whole.size)[: whole.size])
