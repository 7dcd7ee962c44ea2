"""Compiled loop of record swapping: a partner for every target."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part


@part
def _free_from(at, end, pool, partner):
    """The first free unit of the pool from a position on."""
    while at < end and partner[pool[at]] >= 0:
        at += 1
    return at


@part
def _elsewhere_from(at, end, pool, partner, area, here):
    """The first free unit from a position on that lives in another area."""
    while at < end and (partner[pool[at]] >= 0 or area[pool[at]] == here):
        at += 1
    return at


@kernel
def pair_targets(targets, most, key, area, pool, start, partner):
    """Give each target the first free unit of its pool that lives in another area, until ``most`` pairs are made.

    ``pool`` lists units sorted by key, inside a key in the order of preference; those of key c stand at
    start[c]..start[c + 1]. ``partner`` is -1 for free units. Returns how many pairs were made.
    """
    head = start[:-1].copy()
    # the first free unit that does not live where the head does: the answer for targets that live there
    second = start[:-1].copy()
    home = np.full(head.size, -1, dtype=np.int64)
    made = 0
    for t in targets:
        if partner[t] >= 0:
            continue
        if made == most:
            break
        c = key[t]
        end = start[c + 1]
        at = head[c] = _free_from(head[c], end, pool, partner)
        if at == end:
            continue
        here = area[pool[at]]
        if here == area[t]:
            at = _elsewhere_from(second[c] if home[c] == here else at, end, pool, partner, area, here)
            second[c], home[c] = at, here
        if at < end:
            partner[t] = pool[at]
            partner[pool[at]] = t
            made += 1
    return np.int64(made)
