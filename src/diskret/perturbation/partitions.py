"""Partitions of a few things into groups at the least cost, where a group is expensive, cheap or impossible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations

import numpy as np

Group = tuple[int, ...]
Cost = Callable[[Sequence[Group]], list[float]]
"""Costs of many groups at once; infinite where a group is impossible."""

MOST_INTERVALS = 60_000
SMALL = 7
"""Things of two groups that are partitioned anew over all subsets."""
FEW = 12
LITTLE = 1e-12


def best_intervals(n: int, cost: Cost) -> list[Group]:
    """The cheapest partition into groups of neighbours, by dynamic programming; the whole must be possible.

    >>> best_intervals(4, lambda groups: [float("inf") if g == (1,) else len(g) ** 2 for g in groups])
    [(0, 1), (2,), (3,)]
    """
    longest = n if n * (n + 1) // 2 <= MOST_INTERVALS else max(2, MOST_INTERVALS // n)
    spans = [tuple(range(a, b)) for a in range(n) for b in range(a + 1, min(n, a + longest) + 1)]
    if longest < n:
        spans.append(tuple(range(n)))
    priced = dict(zip(spans, cost(spans), strict=True))
    best: list[tuple[float, list[Group]]] = [(0.0, [])]
    for end in range(1, n + 1):
        options = [(best[g[0]][0] + priced[g], g) for a in range(end) if (g := tuple(range(a, end))) in priced]
        # at equal cost the last group is the shorter one
        price, group = min(options, key=lambda o: (o[0], len(o[1])))
        best.append((price, [*best[group[0]][1], group]))
    return best[n][1]


def best_partition(n: int, cost: Cost) -> list[Group]:
    """The cheapest partition of all, over all subsets.

    >>> best_partition(3, lambda groups: [float("inf") if g == (0,) else float(len(g) * g[-1]) for g in groups])
    [(0, 1), (2,)]
    """
    subsets = [_things(mask) for mask in range(1, 1 << n)]
    priced = [np.inf, *cost(subsets)]
    best = [0.0] + [np.inf] * ((1 << n) - 1)
    last = [0] * (1 << n)
    for mask in range(1, 1 << n):
        for group in _groups_with_lowest(mask):
            price = priced[group] + best[mask ^ group]
            if price < best[mask]:
                best[mask], last[mask] = price, group
    groups, mask = [], (1 << n) - 1
    if not np.isfinite(best[mask]):
        return [tuple(range(n))]
    while mask:
        groups.append(_things(last[mask]))
        mask ^= last[mask]
    return sorted(groups)


def _things(mask: int) -> Group:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def _groups_with_lowest(mask: int) -> Iterator[int]:
    """All subsets of a set that hold its lowest member, the largest first."""
    lowest = mask & -mask
    rest = sub = mask ^ lowest
    while sub:
        yield sub | lowest
        sub = (sub - 1) & rest
    yield lowest


def good_partition(n: int, cost: Cost) -> list[Group]:
    """A good partition of many things: impossible groups join the partner that costs least, then things move.

    >>> good_partition(4, lambda groups: [float("inf") if g == (3,) else sum(g) * len(g) for g in groups])
    [(0, 3), (1,), (2,)]
    """
    single: list[Group] = [(i,) for i in range(n)]
    bad = tuple(g[0] for g, p in zip(single, cost(single), strict=True) if not np.isfinite(p))
    together = [g for g in single if g[0] not in bad] + ([bad] if bad else [])
    found = [_improved(_joined(start, cost), cost) for start in (single, sorted(together))]
    return min(found, key=lambda groups: sum(cost(groups)))


def _joined(groups: list[Group], cost: Cost) -> list[Group]:
    """Groups joined until none is impossible."""
    while len(groups) > 1:
        alone = dict(zip(groups, cost(groups), strict=True))
        bad = [g for g, p in alone.items() if not np.isfinite(p)]
        if not bad:
            break
        pairs = [(b, g) for b in bad for g in groups if g != b]
        joined = np.array(cost([_join(b, g) for b, g in pairs]))
        saved = np.array([alone[g] for _, g in pairs])
        extra = joined - np.where(np.isfinite(saved), saved, 0.0)
        # the impossible group with the cheapest way out; if no pair is possible, the first pair
        one, other = pairs[int(np.argmin(extra)) if np.isfinite(extra).any() else 0]
        groups = sorted([g for g in groups if g not in (one, other)] + [_join(one, other)])
    return groups


def _improved(groups: list[Group], cost: Cost) -> list[Group]:
    """Part small groups anew, and move single things to other groups, as long as that is cheaper."""
    settled: set[tuple[Group, ...]] = set()
    while True:
        groups = _parted_anew(groups, cost, settled)
        better = _one_moved(groups, cost)
        if better is None:
            return groups
        groups = better


def _parted_anew(groups: list[Group], cost: Cost, settled: set[tuple[Group, ...]]) -> list[Group]:
    """Groups, up to three at a time, whose things are partitioned again until that is no cheaper.

    What is ``settled`` was looked at before.
    """
    changed = True
    while changed:
        changed = False
        together = 3 if len(groups) <= FEW else 2
        for chosen in chain.from_iterable(combinations(groups, k) for k in range(1, together + 1)):
            if chosen in settled or not _worth_parting(chosen):
                continue
            found = _best_of(tuple(sorted(i for g in chosen for i in g)), cost)
            if sum(cost(found)) < sum(cost(chosen)) - LITTLE:
                groups = sorted([g for g in groups if g not in chosen] + found)
                changed = True
                break
            settled.add(chosen)
    return groups


def _worth_parting(chosen: tuple[Group, ...]) -> bool:
    """Few enough things to compare all partitions, and not single ones, which have nothing to gain."""
    return len(chosen) < sum(map(len, chosen)) <= SMALL


def _best_of(things: Group, cost: Cost) -> list[Group]:
    """The best partition of some things."""

    def named(groups: Sequence[Group]) -> list[Group]:
        return [tuple(things[i] for i in g) for g in groups]

    return named(best_partition(len(things), lambda groups: cost(named(groups))))


def _one_moved(groups: list[Group], cost: Cost) -> list[Group] | None:
    """The best move of one thing to another group, or out of its own; None where none is cheaper."""
    price = dict(zip(groups, cost(groups), strict=True)) | {(): 0.0}
    tries = [(g, other, i) for g in groups if len(g) > 1 for i in g for other in [*groups, ()] if other != g]
    if not tries:
        return None
    moved = [(tuple(j for j in g if j != i), _join(other, (i,))) for g, other, i in tries]
    without, with_it = cost([one for one, _ in moved]), cost([other for _, other in moved])
    with np.errstate(invalid="ignore"):
        gain = np.array([price[g] + price[other] for g, other, _ in tries]) - without - with_it
    gain[~np.isfinite(gain)] = -np.inf
    at = int(np.argmax(gain))
    if not gain[at] > LITTLE:
        return None
    return sorted([x for x in groups if x not in tries[at][:2]] + list(moved[at]))


def _join(one: Group, other: Group) -> Group:
    return tuple(sorted(one + other))
