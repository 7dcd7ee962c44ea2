"""Loops of record linkage: nearest records by a tree, optimal and greedy one-to-one assignment. Plain arrays only.

Records of both files are sorted by block; block b of a file stands from start[b] to start[b + 1]. Keys are codes, -1
where a file withholds them: a withheld key goes with every code.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import inlined, kernel, part

LEAF = 16
FAR = np.inf


@inlined
def _apart(a, b, a_keys, b_keys):
    """Squared distance of two records, over the values both have; infinite if a key or every value forbids it."""
    for k in range(a_keys.size):
        if a_keys[k] >= 0 and b_keys[k] >= 0 and a_keys[k] != b_keys[k]:
            return FAR
    total, present = 0.0, 0
    for v in range(a.size):
        gap = a[v] - b[v]
        if gap == gap:
            total += gap * gap
            present += 1
    if present == a.size:
        return total
    if present == 0:
        return FAR
    return total * a.size / present


@inlined
def _offer(distance, record, best, where, row, k):
    """Keep the k nearest; who came first stays first where distances are equal."""
    if distance >= best[row, k - 1]:
        return
    at = k - 1
    while at > 0 and best[row, at - 1] > distance:
        best[row, at] = best[row, at - 1]
        where[row, at] = where[row, at - 1]
        at -= 1
    best[row, at] = distance
    where[row, at] = record


@part
def _select(order, low, high, middle, points, axis):
    """Puts the record of rank ``middle`` along an axis in its place, smaller ones before it."""
    high -= 1
    while low < high:
        pivot = points[order[(low + high) // 2], axis]
        i, j = low, high
        while i <= j:
            while points[order[i], axis] < pivot:
                i += 1
            while points[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                swap = order[i]
                order[i] = order[j]
                order[j] = swap
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@part
def _build(order, low, high, points, axes, splits):
    """A balanced tree over order[low:high]; node i has children 2i+1 and 2i+2, segments are halved."""
    nodes = np.empty((64, 3), np.int64)
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, low, high
    top = 1
    while top:
        top -= 1
        node, first, last = nodes[top, 0], nodes[top, 1], nodes[top, 2]
        if last - first <= LEAF:
            axes[node] = -1
            continue
        axis, widest = 0, -1.0
        for v in range(points.shape[1]):
            least, most = points[order[first], v], points[order[first], v]
            for i in range(first + 1, last):
                x = points[order[i], v]
                least, most = min(least, x), max(most, x)
            if most - least > widest:
                axis, widest = v, most - least
        middle = (first + last) // 2
        _select(order, first, last, middle, points, axis)
        axes[node] = axis
        splits[node] = points[order[middle], axis]
        nodes[top, 0], nodes[top, 1], nodes[top, 2] = 2 * node + 1, first, middle
        nodes[top + 1, 0], nodes[top + 1, 1], nodes[top + 1, 2] = 2 * node + 2, middle, last
        top += 2


@part
def _query(point, own_keys, order, low, high, points, keys, axes, splits, best, where, row, k):
    nodes = np.empty((64, 3), np.int64)
    bounds = np.empty(64)
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, low, high
    bounds[0] = 0.0
    top = 1
    while top:
        top -= 1
        if bounds[top] >= best[row, k - 1]:
            continue
        node, first, last = nodes[top, 0], nodes[top, 1], nodes[top, 2]
        if axes[node] < 0:
            for i in range(first, last):
                record = order[i]
                distance = _apart(point, points[record], own_keys, keys[record])
                if distance < FAR:
                    _offer(distance, record, best, where, row, k)
            continue
        middle = (first + last) // 2
        gap = point[axes[node]] - splits[node]
        far = max(bounds[top], gap * gap)
        near = bounds[top]
        # the nearer half is looked at first: it is pushed last
        left_near = gap < 0
        for turn in range(2):
            left = (turn == 1) == left_near
            nodes[top, 0] = 2 * node + 1 if left else 2 * node + 2
            nodes[top, 1] = first if left else middle
            nodes[top, 2] = middle if left else last
            bounds[top] = near if turn == 1 else far
            top += 1


@kernel
def nearest(a_points, a_keys, a_start, b_points, b_keys, b_start, k, gaps):
    """For every record of b the k nearest compatible records of a in its block, and their squared distances.

    ``gaps`` says of every block whether values are missing: then every pair of it is compared, else a tree is used.
    """
    best = np.full((b_points.shape[0], k), FAR)
    where = np.full((b_points.shape[0], k), -1, np.int64)
    order = np.arange(a_points.shape[0])
    longest = 1
    for block in range(a_start.size - 1):
        longest = max(longest, a_start[block + 1] - a_start[block])
    size = 1
    while size * LEAF < 2 * longest:
        size *= 2
    axes = np.full(4 * size, -1, np.int64)
    splits = np.zeros(4 * size)
    for block in range(a_start.size - 1):
        low, high = a_start[block], a_start[block + 1]
        if low == high or b_start[block] == b_start[block + 1]:
            continue
        if not gaps[block]:
            _build(order, low, high, a_points, axes, splits)
        for row in range(b_start[block], b_start[block + 1]):
            if gaps[block]:
                for record in range(low, high):
                    distance = _apart(b_points[row], a_points[record], b_keys[row], a_keys[record])
                    if distance < FAR:
                        _offer(distance, record, best, where, row, k)
            else:
                _query(
                    b_points[row], b_keys[row], order, low, high, a_points, a_keys, axes, splits, best, where, row, k
                )
    return where, best


@kernel
def assign(cost):
    """Optimal assignment of rows to columns (no more rows than columns) by shortest augmenting paths."""
    rows, columns = cost.shape
    u, v = np.zeros(rows), np.zeros(columns)
    column_of = np.full(rows, -1, np.int64)
    row_of = np.full(columns, -1, np.int64)
    before = np.empty(columns, np.int64)
    length = np.empty(columns)
    open_columns = np.empty(columns, np.int64)
    done_rows = np.zeros(rows, np.bool_)
    done_columns = np.zeros(columns, np.bool_)
    for start in range(rows):
        done_rows[:] = False
        done_columns[:] = False
        length[:] = np.inf
        left = columns
        for c in range(columns):
            open_columns[c] = columns - 1 - c
        row, shortest, sink = start, 0.0, -1
        while sink < 0:
            done_rows[row] = True
            lowest, at = np.inf, -1
            for i in range(left):
                c = open_columns[i]
                reach = shortest + cost[row, c] - u[row] - v[c]
                if reach < length[c]:
                    length[c] = reach
                    before[c] = row
                if length[c] < lowest or (length[c] == lowest and row_of[c] < 0):
                    lowest, at = length[c], i
            shortest = lowest
            c = open_columns[at]
            if row_of[c] < 0:
                sink = c
            else:
                row = row_of[c]
            done_columns[c] = True
            left -= 1
            open_columns[at] = open_columns[left]
        u[start] += shortest
        for r in range(rows):
            if done_rows[r] and r != start:
                u[r] += shortest - length[column_of[r]]
        for c in range(columns):
            if done_columns[c]:
                v[c] -= shortest - length[c]
        c = sink
        while True:
            r = before[c]
            row_of[c] = r
            c, column_of[r] = column_of[r], c
            if r == start:
                break
    return column_of


@kernel
def assign_blocks(a_points, a_keys, a_start, b_points, b_keys, b_start, limit):
    """Optimal one-to-one assignment in every block with at most ``limit`` records on either side.

    Gives for every record of b its partner in a, -1 where it has none (its block is larger, or nothing matches it).
    """
    partner = np.full(b_points.shape[0], -1, np.int64)
    for block in range(a_start.size - 1):
        low, high = a_start[block], a_start[block + 1]
        first, last = b_start[block], b_start[block + 1]
        many, few = high - low, last - first
        if many == 0 or few == 0 or many > limit or few > limit:
            continue
        turned = few > many
        cost = np.empty((many, few)) if turned else np.empty((few, many))
        largest = 0.0
        for i in range(few):
            for j in range(many):
                distance = _apart(b_points[first + i], a_points[low + j], b_keys[first + i], a_keys[low + j])
                if distance < FAR:
                    largest = max(largest, distance)
                if turned:
                    cost[j, i] = distance
                else:
                    cost[i, j] = distance
        forbidden = (largest + 1.0) * (min(many, few) + 1)
        for i in range(cost.shape[0]):
            for j in range(cost.shape[1]):
                if cost[i, j] == FAR:
                    cost[i, j] = forbidden
        found = assign(cost)
        for i in range(cost.shape[0]):
            if cost[i, found[i]] < forbidden:
                if turned:
                    partner[first + found[i]] = low + i
                else:
                    partner[first + i] = low + found[i]
    return partner


@kernel
def auction(where, cost, records, step, most):
    """Rows bid for their candidates (nearest first) until nobody is outbid: nearly the smallest total cost.

    A row bids for the record that costs it least, price included, as much as leaves it no worse than its second choice,
    plus a step. Records beyond its candidates cost at least as much as the last of them: whoever would have to pay
    more gives up and waits for the next round. Gives for every row its record or -1.
    """
    rows, k = where.shape
    price = np.zeros(records)
    owner = np.full(records, -1, np.int64)
    partner = np.full(rows, -1, np.int64)
    queue = np.arange(rows)
    head, waiting, bids = 0, rows, 0
    while waiting > 0 and bids < most:
        row = queue[head]
        head = (head + 1) % rows
        waiting -= 1
        best, second, at, last = np.inf, np.inf, -1, 0.0
        for c in range(k):
            record = where[row, c]
            if record < 0:
                break
            last = cost[row, c]
            if last >= second and where[row, k - 1] >= 0:  # candidates are sorted and prices never negative
                last = cost[row, k - 1]
                break
            whole = last + price[record]
            if whole < best:
                second = best
                best, at = whole, record
            elif whole < second:
                second = whole
        if at < 0:
            continue
        elsewhere = last + step if where[row, k - 1] >= 0 else 2 * last + 50 * step
        if best > elsewhere:
            continue
        price[at] += min(second, elsewhere) - best + step
        bids += 1
        before = owner[at]
        owner[at] = row
        partner[row] = at
        if before >= 0:
            partner[before] = -1
            queue[(head + waiting) % rows] = before
            waiting += 1
    return partner


@kernel
def greedy(order, rows, records, taken_rows, taken_records, partner):
    """Go through pairs in the given order; a pair is made where both are still free."""
    made = 0
    for p in range(order.size):
        row, record = rows[order[p]], records[order[p]]
        if not taken_rows[row] and not taken_records[record]:
            taken_rows[row] = True
            taken_records[record] = True
            partner[row] = record
            made += 1
    return made


@kernel
def best_pairs(own, own_points, start, other, points, block, levels, weights, least, record, weight):
    """For every external unit the records of its block with the highest weights; among equal ones the nearest.

    A pair weighs what the levels of its values weigh; a missing value weighs nothing. Pairs below ``least`` are none.
    """
    wanted, values = record.shape[1], own.shape[1]
    gap = np.empty(wanted)
    for i in range(other.shape[0]):
        held = 0
        for j in range(start[block[i]], start[block[i] + 1]):
            total = 0.0
            for v in range(values):
                left, right = own[j, v], other[i, v]
                apart, larger = abs(left - right), max(abs(left), abs(right))
                if apart == apart:
                    at = levels.size
                    while at > 0 and apart <= levels[at - 1] * larger:
                        at -= 1
                    total += weights[v, at]
            if total < least or (held == wanted and total < weight[i, wanted - 1]):
                continue
            distance = 0.0
            for v in range(values):
                if own_points[j, v] == own_points[j, v] and points[i, v] == points[i, v]:
                    distance += (own_points[j, v] - points[i, v]) ** 2
            at = min(held, wanted - 1)
            if held == wanted and total == weight[i, at] and distance >= gap[at]:
                continue
            while at > 0 and (weight[i, at - 1] < total or (weight[i, at - 1] == total and gap[at - 1] > distance)):
                record[i, at], weight[i, at], gap[at] = record[i, at - 1], weight[i, at - 1], gap[at - 1]
                at -= 1
            record[i, at], weight[i, at], gap[at] = j, total, distance
            held = min(held + 1, wanted)
