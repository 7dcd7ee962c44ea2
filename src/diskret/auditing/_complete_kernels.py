"""All complete cuboids of hidden cells, and how far each carries its corners."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel


@kernel
def widest(start, codes, usable, parent, offset, strides, up, down, rise, fall):
    """For every cell the farthest any complete cuboid of its subtable carries it (into ``rise`` and ``fall``).

    ``start`` says where the cells of each subtable begin in ``codes``. A pivot and a diametral cell differ in every
    classification; the other corners mix their codes. A corner changes like the pivot if the classifications in which
    it differs bring an even number of changes of sign: part against part changes it, part against sum does not.
    Returns the number of cuboids.
    """
    axes = codes.shape[1]
    corners = 1 << axes
    cell = np.empty(corners, dtype=np.int64)
    sign = np.empty(corners, dtype=np.int64)
    found = 0
    for group in range(start.size - 1):
        for i in range(start[group], start[group + 1]):
            for j in range(i + 1, start[group + 1]):
                apart = True
                cell[0], sign[0] = 0, 1
                for a in range(axes):
                    apart = apart and codes[i, a] != codes[j, a]
                if not apart:
                    continue
                size = 1
                for a in range(axes):
                    g, d = codes[i, a], codes[j, a]
                    across = 1 if parent[offset[a] + g] == d or parent[offset[a] + d] == g else -1
                    for k in range(size):
                        cell[size + k] = cell[k] + d * strides[a]
                        sign[size + k] = sign[k] * across
                        cell[k] += g * strides[a]
                    size *= 2
                forth, back = np.inf, np.inf
                for k in range(corners):
                    if not usable[cell[k]]:
                        forth, back = 0.0, 0.0
                        break
                    higher, lower = up[cell[k]], down[cell[k]]
                    if sign[k] < 0:
                        higher, lower = lower, higher
                    forth, back = min(forth, higher), min(back, lower)
                if forth + back <= 0.0:
                    continue
                found += 1
                for k in range(corners):
                    higher, lower = (forth, back) if sign[k] > 0 else (back, forth)
                    rise[cell[k]] = max(rise[cell[k]], higher)
                    fall[cell[k]] = max(fall[cell[k]], lower)
    return found
