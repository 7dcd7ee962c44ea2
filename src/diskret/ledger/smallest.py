"""The smallest set of published cells from which something follows: no smaller one does, anywhere among them.

Leaving out cells one by one ends at a set that no part of is enough; there may be smaller sets elsewhere. So sets are
looked for from the other side. Wherever the thing does not follow, one of the cells that are missing there is needed:
every set from which it follows has a cell in common with what is missing. The smallest set that meets all that was
found to be missing so far is tried; where it is not enough, more that is missing is found. Once it is enough, it is a
smallest one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.lp import Answer, Matrix, Programme, Way

Follows = Callable[[Ints], bool]
NODES = 2_000
"""Nodes after which a programme for the smallest set that meets all gives up."""


class _Tired(Exception):
    """Enough was tried."""


def smallest(follows: Follows, cells: Ints, known: Ints, most: int) -> tuple[Ints, bool]:
    """A smallest part of some cells from which something follows, and whether it is known that none is smaller.

    It follows from more cells wherever it follows from fewer; ``known`` are some from which it does. It is asked for at
    most so many times; what it follows from by then is given.

    >>> follows = lambda some: {1, 2, 3} <= {*some.tolist()} or {4, 5} <= {*some.tolist()}
    >>> found, proved = smallest(follows, np.arange(9), np.array([1, 2, 3]), 100)
    >>> found.tolist(), proved
    ([4, 5], True)
    """
    left = most

    def asked(some: Ints) -> bool:
        nonlocal left
        if not left:
            raise _Tired
        left -= 1
        return follows(np.sort(some))

    missing: list[Ints] = []
    try:
        while True:
            least = _meeting(missing, cells)
            if least is None:
                return known, False
            if least.size >= known.size:
                return known, True
            if asked(least):
                return least, True
            missing.append(_missing(asked, least, cells[~np.isin(cells, least)]))
    except _Tired:
        return known, False


def _missing(asked: Follows, some: Ints, others: Ints) -> Ints:
    """Cells without which it does not follow from all others, none of which may be missing from the rest."""
    if not asked(np.append(some, others)):
        return others[:0]
    if others.size == 1:
        return others
    half = others.size // 2
    one = _missing(asked, some, others[:half])
    some = np.append(some, others[:half][~np.isin(others[:half], one)])
    return np.append(one, _missing(asked, some, others[half:]))


def _meeting(sets: list[Ints], cells: Ints) -> Ints | None:
    """As few cells as can be that have one in common with each of some sets."""
    if not sets:
        return cells[:0]
    used = np.unique(np.concatenate(sets))
    start = np.append(0, np.cumsum([each.size for each in sets])).astype(np.int64)
    at = np.searchsorted(used, np.concatenate(sets))
    size = used.size
    programme = Programme(
        Matrix(start, at, np.ones(at.size), by_rows=True), (np.ones(len(sets)), np.full(len(sets), np.inf)),
        lower=np.zeros(size), upper=np.ones(size), cost=np.ones(size), whole=True, way=Way(nodes=NODES),
    )  # fmt: skip
    return used[programme.point > 0.5] if programme.solve() is Answer.OPTIMAL else None
