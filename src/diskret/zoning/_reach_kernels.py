"""Kernel: how far the amounts of single overlaps may move while every published total stays (bounded maximum flows)."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel


@kernel
def slacks(tail, head, amount, start, at, arcs, limits, down, seen, found):
    """How far each of some arcs may rise (or, if ``down``, fall), up to its limit; ``found`` gets that.

    Arcs run from ``tail`` to ``head`` and carry an ``amount``, which others may take over as long as every node keeps
    what comes in less what goes out: arcs may rise without end and fall to zero. ``start`` and ``at`` list the arcs of
    every node. The nodes reached last from the arc's own end are marked in ``seen``: of an arc below its limit they are
    one side of the narrowest cut.
    """
    nodes, now = start.size - 1, amount.copy()
    stamp, turn = np.zeros(nodes, np.int64), 0
    way, queue = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    touched = np.zeros(tail.size, np.int64)
    for k in range(arcs.size):
        own = arcs[k]
        if down:
            source, target = tail[own], head[own]
        else:
            source, target = head[own], tail[own]
        pushed, many = 0, 0
        while pushed < limits[k]:
            turn += 1
            first, last = 0, 1
            queue[0] = source
            stamp[source] = turn
            while first < last and stamp[target] != turn:
                node = queue[first]
                first += 1
                for i in range(start[node], start[node + 1]):
                    arc = at[i]
                    if arc == own:
                        continue
                    if tail[arc] == node:
                        other = head[arc]
                    elif now[arc] > 0:
                        other = tail[arc]
                    else:
                        continue
                    if stamp[other] != turn:
                        stamp[other] = turn
                        way[other] = arc
                        queue[last] = other
                        last += 1
            if stamp[target] != turn:
                break
            room = limits[k] - pushed
            node = target
            while node != source:
                arc = way[node]
                if head[arc] == node:
                    node = tail[arc]
                else:
                    room = min(room, now[arc])
                    node = head[arc]
            node = target
            while node != source:
                arc = way[node]
                if now[arc] == amount[arc] and many < touched.size:
                    touched[many] = arc
                    many += 1
                if head[arc] == node:
                    now[arc] += room
                    node = tail[arc]
                else:
                    now[arc] -= room
                    node = head[arc]
            pushed += room
        found[k] = pushed
        if many == touched.size:
            now[:] = amount
        for i in range(many):
            now[touched[i]] = amount[touched[i]]
    for node in range(nodes):
        seen[node] = stamp[node] == turn and turn > 0
