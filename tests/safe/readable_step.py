"""One step of the printed method, to be read: how a group of rows may change, and which change is carried out.

The readable twin of the compiled step. Symbols of the method: ZF2 the cases that are
left (phase 1) or the cells beyond their limit (phase 2), ZF3 the penalty for cells close to their limit, ZF4 the sum
of absolute deviations. A lower goal may get worse only if a higher one improves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

AT_LIMIT = 500
"""Penalty of a cell at its limit in phase 2."""


def is_case(x: int, k: int = 3) -> bool:
    """Whether a row with this frequency is still to be dealt with."""
    return 0 < x < k


def changes(x: int, k: int = 3, phase: int = 1) -> list[int]:
    """What may be added to a row's frequency, in the order in which it is tried; 0 apart.

    -1 and +1 always; the jumps to 0 and to k, so that a case goes in one step and an anonymous row need not pass
    through frequencies that are cases. In phase 2 only what leaves the row anonymous.

    >>> [changes(x) for x in (0, 1, 2, 3, 4)]
    [[1, 3], [-1, 1, 2], [-1, 1, -2], [-1, 1, -3], [-1, 1]]
    >>> [changes(x, phase=2) for x in (0, 3, 4)]
    [[3], [1, -3], [-1, 1]]
    >>> changes(2, k=4)
    [-1, 1, -2, 2]
    """
    tried = [-1, 1, *([-x, k - x] if 0 < x < k else [k] if x == 0 else [-k] if x == k else [])]
    return [d for d in dict.fromkeys(tried) if d and x + d >= 0 and (phase == 1 or not is_case(x + d, k))]


def penalty(deviation: int, limit: int, k: int = 3, phase: int = 1) -> int:
    """Penalty of a cell whose distance to its limit blocks a change: squares of what is missing.

    At a distance of k or more no change of one row is blocked. For k = 3 these are 9, 4, 1 at distance 0, 1, 2. In
    phase 2 they stand one further off, and a cell at its limit costs 500.

    >>> [penalty(f, 5) for f in range(6)], [penalty(f, 5, phase=2) for f in range(6)]
    ([0, 0, 0, 1, 4, 9], [0, 0, 1, 4, 9, 500])
    """
    distance = limit - abs(deviation)
    if phase == 1:
        return max(0, k - distance) ** 2
    return AT_LIMIT if distance <= 0 else max(0, k + 1 - distance) ** 2


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One combination of changes with its effect on the goals."""

    change: tuple[int, ...]
    exceeds: tuple[str, ...]
    """Touched cells that are beyond their limit afterwards; with any of them the variant is dropped."""
    cases: int
    penalty: int
    deviation: int

    @property
    def goals(self) -> tuple[int, int, int]:
        """Changes of ZF2, ZF3 and ZF4."""
        return self.cases, self.penalty, self.deviation


def variants(
    frequencies: Sequence[int], cells: Sequence[Sequence[str]], deviations: Mapping[str, int],
    limits: Mapping[str, int], *, k: int = 3, phase: int = 1,
) -> list[Variant]:  # fmt: skip
    """All combinations of changes of a group of rows, the first row slowest. Row 1 must change, the others may.

    ``cells`` are the control cells of each row, ``deviations`` and ``limits`` belong to the cells by name.
    """
    options = [changes(x, k, phase) + ([0] if i else []) for i, x in enumerate(frequencies)]
    return [_judged(change, frequencies, cells, deviations, limits, k, phase) for change in product(*options)]


def _judged(
    change: tuple[int, ...], frequencies: Sequence[int], cells: Sequence[Sequence[str]], deviations: Mapping[str, int],
    limits: Mapping[str, int], k: int, phase: int,
) -> Variant:  # fmt: skip
    net: dict[str, int] = {}
    for d, touched in zip(change, cells, strict=True):
        for cell in touched:
            net[cell] = net.get(cell, 0) + d
    moved = {cell: (deviations[cell], deviations[cell] + d, limits[cell]) for cell, d in net.items() if d}
    beyond = tuple(cell for cell, (_, after, limit) in moved.items() if abs(after) > limit)
    if phase == 1:
        cases = sum(is_case(x + d, k) - is_case(x, k) for x, d in zip(frequencies, change, strict=True))
    else:
        cases = sum((abs(after) > limit) - (abs(before) > limit) for before, after, limit in moved.values())
    prices = [penalty(after, lim, k, phase) - penalty(before, lim, k, phase) for before, after, lim in moved.values()]
    off = sum(abs(after) - abs(before) for before, after, _ in moved.values())
    return Variant(change=change, exceeds=beyond, cases=cases, penalty=sum(prices), deviation=off)


def decide(tried: Sequence[Variant]) -> Variant | None:
    """The variant to carry out: inside all limits, fewest cases, least penalty, least deviation, first in order.

    None if it improves nothing.
    """
    admissible = [v for v in tried if not v.exceeds]
    best = min(admissible, key=lambda v: v.goals, default=None)
    return best if best is not None and best.goals < (0, 0, 0) else None
