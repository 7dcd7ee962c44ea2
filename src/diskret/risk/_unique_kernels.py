"""Minimal sample uniques: which sets of keys single a record out although no smaller set does. Plain arrays only."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part


@part
def _grown(array):
    more = np.empty(2 * array.size, array.dtype)
    more[: array.size] = array
    return more


@kernel
def first_uniques(codes, sizes, largest):
    """Pairs of record and key set (bits) where a record becomes alone while keys are added in ascending order.

    Records are kept in groups that agree on the keys so far; a further key splits each group by counting. Who is alone
    on some keys is alone on more of them, and leaves: it matches nobody any more.
    """
    keys, n = codes.shape
    records = np.empty((largest + 1, n), np.int32)
    ends = np.empty((largest + 1, n), np.int32)
    groups = np.zeros(largest + 1, np.int64)
    chosen = np.full(largest + 1, -1, np.int64)
    most = 1
    for k in range(keys):
        most = max(most, sizes[k])
    count = np.zeros(most, np.int32)
    place = np.zeros(most, np.int32)
    touched = np.empty(most, np.int32)
    found_record = np.empty(1024, np.int32)
    found_keys = np.empty(1024, np.int64)
    found = 0
    for i in range(n):
        records[0, i] = i
    if n > 1:
        ends[0, 0] = n
        groups[0] = 1
    depth = 0
    mask = np.int64(0)
    chosen[0] = -1
    while True:
        # the next key at this depth
        key = chosen[depth] + 1
        if depth == largest or key >= keys or groups[depth] == 0:
            if depth == 0:
                break
            depth -= 1
            mask &= ~(np.int64(1) << np.int64(chosen[depth]))
            continue
        chosen[depth] = key
        mask |= np.int64(1) << np.int64(key)
        start, filled, new_groups = 0, 0, 0
        for g in range(groups[depth]):
            end = ends[depth, g]
            different = 0
            for i in range(start, end):
                c = codes[key, records[depth, i]]
                if count[c] == 0:
                    touched[different] = c
                    different += 1
                count[c] += 1
            for t in range(different):
                c = touched[t]
                if count[c] > 1:
                    place[c] = filled
                    filled += count[c]
                    ends[depth + 1, new_groups] = filled
                    new_groups += 1
            for i in range(start, end):
                record = records[depth, i]
                c = codes[key, record]
                if count[c] == 1:
                    if found == found_record.size:
                        found_record = _grown(found_record)
                        found_keys = _grown(found_keys)
                    found_record[found] = record
                    found_keys[found] = mask
                    found += 1
                else:
                    records[depth + 1, place[c]] = record
                    place[c] += 1
            for t in range(different):
                count[touched[t]] = 0
            start = end
        groups[depth + 1] = new_groups
        depth += 1
        chosen[depth] = key
    return found_record[:found], found_keys[:found]


@kernel
def minimal(start, masks):
    """Whether a key set of a record holds no other of its sets; those of record r start at start[r]."""
    keep = np.ones(masks.size, np.bool_)
    for r in range(start.size - 1):
        for i in range(start[r], start[r + 1]):
            for j in range(start[r], start[r + 1]):
                if i != j and masks[j] & masks[i] == masks[j] and masks[j] != masks[i]:
                    keep[i] = False
                    break
    return keep
