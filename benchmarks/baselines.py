"""Simple ways to k-anonymous microdata, to be beaten."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.safe.start import with_total

MOST_GREEDY = 6_000
"""Objects up to which groups are made greedily; beyond, along the sort order."""


def tripled(frequency: Any, k: int = 3) -> Any:
    """Every k-th object k times."""
    objects = np.repeat(np.arange(frequency.size), frequency)
    chosen = np.bincount(objects[k // 2 :: k], minlength=frequency.size) * k
    return with_total(chosen, int(frequency.sum()), k)


def grouped(codes: Any, frequency: Any, k: int = 3) -> Any:
    """k-member grouping: rare objects in groups of k that are alike; all get the row of the member in the middle.

    Greedy where that is affordable: the next group starts far from the last, its members are nearest to its first.
    """
    x = frequency.copy()
    case = np.flatnonzero((x > 0) & (x < k))
    objects = np.repeat(case, x[case])
    x[case] = 0
    if objects.size <= MOST_GREEDY:
        left = np.ones(objects.size, dtype=bool)
        at = codes[objects]
        last, groups = at[0], 0
        while left.sum() >= k:
            index = np.flatnonzero(left)
            first = index[np.argmax((at[index] != last).sum(axis=1))]
            near = index[np.argsort((at[index] != at[first]).sum(axis=1), kind="stable")[:k]]
            left[near] = False
            apart = (at[near][:, None] != at[near][None]).sum(axis=(1, 2))
            middle = np.flatnonzero(apart == apart.min())
            x[objects[near[middle[groups % middle.size]]]] += k
            groups += 1
            last = at[first]
    else:
        full = objects.size // k * k
        np.add.at(x, objects[k // 2 : full : k], k)
    return with_total(x, int(frequency.sum()), k)


def suppressed(codes: Any, frequency: Any, k: int = 3) -> Any:
    """Local suppression: rare rows lose one attribute after the other, the one with most codes first.

    Gives the codes with -1 for what is suppressed.
    """
    left = codes.copy()
    order = np.argsort([-np.unique(c).size for c in codes.T])
    for attribute in order:
        _, group = np.unique(left, axis=0, return_inverse=True)
        rare = np.bincount(group, weights=frequency)[group] < k
        left[rare, attribute] = -1
    return left


def suppressed_deviation(cells: Any, codes: Any, left: Any, frequency: Any, names: list[str]) -> Any:
    """Objects missing from each control cell because one of its attributes is suppressed."""
    missing = np.zeros(cells.size + 1, dtype=np.int64)
    for t, table in enumerate(cells.tables):
        axes = [names.index(level.attribute) for level in table.levels]
        gone = (left[:, axes] < 0).any(axis=1)
        np.add.at(missing, cells.number[gone, t], frequency[gone])
    return missing[:-1]
