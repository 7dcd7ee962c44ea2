"""Partitions of a few things into groups at the least cost, where a group is dear, cheap or impossible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    subsets = [tuple(i for i in range(n) if mask >> i & 1) for mask in range(1, 1 << n)]
    priced = [np.inf, *cost(subsets)]
    best = [0.0] + [np.inf] * ((1 << n) - 1)
    last = [0] * (1 << n)
    for mask in range(1, 1 << n):
        lowest = mask & -mask
        rest = mask ^ lowest
        sub = rest
        while True:
            group = sub | lowest
            price = priced[group] + best[mask ^ group]
            if price < best[mask]:
                best[mask], last[mask] = price, group
            if sub == 0:
                break
            sub = (sub - 1) & rest
    groups, mask = [], (1 << n) - 1
    if not np.isfinite(best[mask]):
        return [tuple(range(n))]
    while mask:
        groups.append(tuple(i for i in range(n) if last[mask] >> i & 1))
        mask ^= last[mask]
    return sorted(groups)


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
        prices = cost(groups)
        bad = [g for g, p in zip(groups, prices, strict=True) if not np.isfinite(p)]
        if not bad:
            break
        # the impossible group with the cheapest way out; if no pair is possible, any pair of the first
        pairs = [(b, g) for b in bad for g in groups if g != b]
        joined = cost([_join(b, g) for b, g in pairs])
        alone = dict(zip(groups, prices, strict=True))
        extra = [p - (alone[g] if np.isfinite(alone[g]) else 0.0) for p, (_, g) in zip(joined, pairs, strict=True)]
        at = int(np.argmin(extra))
        if not np.isfinite(extra[at]):
            at = next(i for i, (b, _) in enumerate(pairs) if b == bad[0])
        one, other = pairs[at]
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

    What is ``settled`` was looked at before; single things that are possible have nothing to gain.
    """
    while True:
        together = 3 if len(groups) <= FEW else 2
        for chosen in chain.from_iterable(combinations(groups, k) for k in range(1, together + 1)):
            things = tuple(sorted(i for g in chosen for i in g))
            if len(things) > SMALL or len(things) == len(chosen) or chosen in settled:
                continue

            def of_these(parts: Sequence[Group], things: Group = things) -> list[float]:
                return cost([tuple(things[i] for i in g) for g in parts])

            found = [tuple(things[i] for i in g) for g in best_partition(len(things), of_these)]
            if sum(cost(found)) < sum(cost(chosen)) - LITTLE:
                groups = sorted([g for g in groups if g not in chosen] + found)
                break
            settled.add(chosen)
        else:
            return groups


def _one_moved(groups: list[Group], cost: Cost) -> list[Group] | None:
    """The best move of one thing to another group, or out of its own; None where none is cheaper."""
    prices = dict(zip(groups, cost(groups), strict=True))
    tries = [(g, other, i) for g in groups if len(g) > 1 for i in g for other in [*groups, ()] if other != g]
    if not tries:
        return None
    without = cost([tuple(j for j in g if j != i) for g, _, i in tries])
    with_it = cost([_join(other, (i,)) for _, other, i in tries])
    gain = [
        prices[g] + (prices[other] if other else 0.0) - a - b
        for (g, other, _), a, b in zip(tries, without, with_it, strict=True)
    ]
    at = int(np.argmax([x if np.isfinite(x) else -np.inf for x in gain]))
    if not gain[at] > LITTLE or not np.isfinite(gain[at]):
        return None
    g, other, i = tries[at]
    changed = [tuple(j for j in g if j != i), _join(other, (i,))]
    return sorted([x for x in groups if x not in (g, other)] + changed)


def _join(one: Group, other: Group) -> Group:
    return tuple(sorted(one + other))
