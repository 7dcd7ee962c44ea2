"""What the published equations alone give away, decided without any tolerance.

An unknown can be computed exactly, whatever the bounds, if and only if it is zero in every vector of the null space of
the equations (deviations that nobody can see). The null space is found by sparse elimination modulo a prime, and random
vectors of it are drawn: an unknown that is zero in all of them is determined, two unknowns that keep one ratio in all
of them determine each other.

How sure is that? An unknown that is not determined is a free column beside some largest non-zero minor D of the
equations, and a prime that does not divide D keeps it free: rank and freedom survive (two free columns likewise). By
Hadamard's inequality D has at most b bits, so at most b/30 of the 50,697,537 primes between 2^30 and 2^31 are bad; a
random vector is zero, or two keep a ratio, by chance with probability below 2^-29. Primes that lose rank or freedom
against others are seen and replaced. So an error needs every prime kept to be bad, and as many are kept as make that
less likely than 2^-50 for all unknowns (all pairs of unknowns) together. Draws have fixed seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import log2

import numpy as np

from diskret.auditing import _elimination_kernels as kernels
from diskret.model.arrays import Bools, Ints
from diskret.model.equations import Equations

PRIMES = 50_697_537
"""How many primes lie between 2^30 and 2^31."""
ERROR = -50
"""Error probability, as a power of two."""
WITNESSES = (2, 3, 5, 7)
"""Bases that decide primality of all numbers below 3,215,031,751."""


def determined(system: Equations, also_known: Ints | None = None) -> Bools:
    """Which unknowns the equations alone fix: their values can be computed exactly, whatever the bounds.

    ``also_known`` are columns an insider knows; they count as determined themselves.

    >>> from diskret import Hierarchy, Table
    >>> from diskret.model.equations import equations_of
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> system = equations_of(Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st"))
    >>> determined(system).tolist(), determined(system, np.array([0])).tolist()
    ([False, False], [True, True])
    """
    size = system.cells.size
    free = np.zeros(size, dtype=np.bool_)
    for _, vectors in _null_vectors(system, also_known, chances=size):
        free |= (vectors != 0).any(axis=1)
    return ~free


def proportional(system: Equations, holders: Ints, kind: Ints | None = None) -> Ints:
    """Which other unknowns the holder of one unknown can compute exactly: pairs (holder column, other column).

    Both ways are exact: a pair is listed if and only if the other unknown is a fixed multiple of the holder's plus what
    is published. Unknowns that everybody can compute are not listed (see `determined`). Pairs stand in the order
    of holders, then of columns. ``kind`` says which unknowns determine each other, if that is known already: a number
    each, -1 for those that everybody can compute.

    >>> from diskret import Hierarchy, Table
    >>> from diskret.model.equations import equations_of
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> system = equations_of(Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st"))
    >>> proportional(system, np.array([0])).tolist()
    [[0, 1]]
    """
    kind = _classes(system) if kind is None else kind
    order = np.argsort(kind, kind="stable")
    holders = holders[kind[holders] >= 0]
    begin = np.searchsorted(kind[order], kind[holders], side="left")
    number = np.searchsorted(kind[order], kind[holders], side="right") - begin
    first = np.cumsum(number) - number
    within = np.arange(number.sum()) - np.repeat(first, number)
    other = order[np.repeat(begin, number) + within]
    pairs: Ints = np.stack([np.repeat(holders, number), other], axis=1)
    others: Ints = pairs[pairs[:, 0] != pairs[:, 1]]
    return others


def _classes(system: Equations) -> Ints:
    """A number per unknown: equal where unknowns determine each other, -1 where they are determined anyway."""
    size = system.cells.size
    free = np.zeros(size, dtype=np.bool_)
    kind = np.zeros(size, dtype=np.int64)
    for p, vectors in _null_vectors(system, None, chances=size * size):
        free |= (vectors != 0).any(axis=1)
        ratio = kernels.ratios(vectors, p)
        # one number for "same so far and same ratio now": kinds stay below size, ratios below 2^31 + 1
        _, kind = np.unique(kind * (p + 1) + ratio, return_inverse=True)
    return np.where(free, kind, -1)


def echelon(system: Equations) -> tuple[int, tuple[Ints, Ints, Ints, Ints, Ints]]:
    """A prime, and the equations in echelon form modulo it: pivots in order, each with its row."""
    p, _ = next(_primes())
    return p, kernels.eliminate(*_without(system, None), system.cells.size, p)


def _null_vectors(system: Equations, known: Ints | None, chances: int) -> list[tuple[int, Ints]]:
    """Two random null vectors for each of several primes: enough primes for ``chances`` possible errors."""
    start, columns, values = _without(system, known)
    size = system.cells.size
    needed = _needed(start, columns, values, size, chances)
    best = (-1, -1)
    kept: list[tuple[int, Ints]] = []
    for p, rng in islice(_primes(), 2 * needed):
        pivots = kernels.eliminate(start, columns, values, size, p)
        vectors = rng.integers(0, p, (size, 2))
        if known is not None:
            vectors[known] = 0
        kernels.substitute_back(*pivots, vectors, p)
        seen = pivots[0].size, int((vectors != 0).any(axis=1).sum())
        if seen > best:
            best, kept = seen, []
        if seen == best:
            kept.append((p, vectors))
        if len(kept) == needed:
            return kept
    raise ArithmeticError(f"{2 * needed} primes disagree about {system.rows} equations")


def _without(system: Equations, known: Ints | None) -> tuple[Ints, Ints, Ints]:
    """Rows of whole numbers, columns ascending, without the known columns."""
    values = np.rint(system.coefficients).astype(np.int64)
    if not np.array_equal(values, system.coefficients):
        raise ValueError("equations with coefficients that are not whole numbers")
    row = system.row_of()
    order = np.lexsort((system.columns, row))
    if known is not None:
        hidden = np.ones(system.cells.size, dtype=np.bool_)
        hidden[known] = False
        order = order[hidden[system.columns[order]]]
    start = np.searchsorted(row[order], np.arange(system.rows + 1))
    return start.astype(np.int64), system.columns[order], values[order]


def _needed(start: Ints, columns: Ints, values: Ints, size: int, chances: int) -> int:
    """How many primes to draw: Hadamard's bound over rows or over columns, whichever is less."""
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    squares = (values * values).astype(np.float64)
    norms = np.bincount(row, squares, start.size - 1), np.bincount(columns, squares, size)
    bits = min(0.5 * float(np.log2(np.maximum(n, 1.0)).sum()) for n in norms)
    # up to as many primes again may be replaced: at most 4^k choices of the k that are kept
    one = 4 * (bits / 30 / PRIMES + 2.0**-29)
    if one >= 0.5:
        raise ValueError("a system far too large for 31-bit primes")
    return max(2, int(np.ceil((ERROR - log2(max(chances, 1))) / log2(one))))


def _primes() -> Iterator[tuple[int, np.random.Generator]]:
    """Different primes between 2^30 and 2^31, each with its own source of random numbers."""
    drawn: set[int] = set()
    rng = np.random.default_rng(20_240_229)
    while True:
        p = int(rng.integers(2**30, 2**31)) | 1
        if p not in drawn and _is_prime(p):
            drawn.add(p)
            yield p, np.random.default_rng(p)


def _is_prime(n: int) -> bool:
    """Miller and Rabin, decisive below 3,215,031,751 with the bases used.

    >>> [n for n in range(3, 60, 2) if _is_prime(n)]
    [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]
    """
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in WITNESSES:
        x = pow(base, odd, n)
        if x in (0, 1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True
