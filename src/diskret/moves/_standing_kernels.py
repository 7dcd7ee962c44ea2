"""Kernel: all sums above some cells of a product of trees that are asked for."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel


@kernel
def wanted_above(who, cells, strides, chains, starts, offsets, wanted, keys):
    """Numbers (who times cells plus cell) of all wanted cells at or above the cells given; returns how many.

    ``chains`` and ``starts`` hold every code of every axis with the sums above it end to end, ``offsets`` says where
    each axis begins. As many as fit are written into ``keys``: ask once with none to know how many there are.
    """
    axes, found = strides.size, 0
    first, length, digit = np.zeros(axes, np.int64), np.zeros(axes, np.int64), np.zeros(axes, np.int64)
    for i in range(cells.size):
        rest = cells[i]
        for a in range(axes):
            code = rest // strides[a]
            rest -= code * strides[a]
            first[a] = starts[offsets[a] + code]
            length[a] = starts[offsets[a] + code + 1] - first[a]
            digit[a] = 0
        a = 0
        while a >= 0:
            at = 0
            for b in range(axes):
                at += chains[first[b] + digit[b]] * strides[b]
            if wanted[at]:
                if found < keys.size:
                    keys[found] = who[i] * wanted.size + at
                found += 1
            a = axes - 1
            while a >= 0:
                digit[a] += 1
                if digit[a] < length[a]:
                    break
                digit[a] = 0
                a -= 1
    return found
