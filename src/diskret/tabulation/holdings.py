"""Holdings: several reporting units of one owner count as one contributor, in every cell they meet in.

A holding with one record is an ordinary contributor. A holding with several must be joined separately in each sum,
because its units meet in some sums and not in others; those holdings come sorted from the engine, and each is spread
over all the cells above its parts with what it contributes there in total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from diskret.model.arrays import Ints
from diskret.tabulation import _kernels
from diskret.tabulation.backend import Batch, kinds_asked, read_only
from diskret.tabulation.plan import Plan, Units

MOST_PAIRS = 1 << 20


def joined_holdings(parts: Iterator[Batch], plan: Plan, units: Sequence[Units]) -> Iterator[Batch]:
    """Batches of (cell, holding) contributions for all cells, sums included, from parts sorted by holding."""
    ancestors = _Ancestors(plan)
    for batch in _whole_holdings(parts):
        yield from _join(batch, plan, units, ancestors)


class _Ancestors:
    """Chains of all axes end to end, as the kernel wants them."""

    def __init__(self, plan: Plan) -> None:
        chains, starts, offsets, lengths = [], [], [], []
        done = codes = 0
        for hierarchy in plan.by.values():
            chain, start = hierarchy.ancestors
            chains.append(chain)
            starts.append(start + done)
            offsets.append(codes)
            lengths.append(np.diff(start))
            done += chain.size
            codes += start.size
        self.chains = np.concatenate(chains)
        self.starts = np.concatenate(starts)
        self.offsets = np.array(offsets, dtype=np.int64)
        self.lengths = lengths
        self.strides = np.array(plan.strides, dtype=np.int64)
        self.sizes = np.array(plan.shape, dtype=np.int64)

    def fan(self, cell: Ints) -> Ints:
        """How many cells each finest cell feeds, itself included."""
        fan = np.ones(cell.size, dtype=np.int64)
        for stride, size, lengths in zip(self.strides, self.sizes, self.lengths, strict=True):
            fan *= lengths[(cell // stride) % size]
        return fan


def _whole_holdings(parts: Iterator[Batch]) -> Iterator[Batch]:
    """Re-cut batches so that no holding is split between two."""
    waiting: list[Batch] = []
    for batch in parts:
        if not batch["number"].size:
            continue
        last = batch["number"][-1]
        cut = int(np.searchsorted(batch["number"], last))
        if cut:
            waiting.append({k: v[:cut] for k, v in batch.items()})
            yield _concatenated(waiting)
            waiting = []
        # A copy: the engine takes the memory of a batch back.
        waiting.append({k: v[cut:].copy() for k, v in batch.items()})
    if waiting:
        yield _concatenated(waiting)


def _concatenated(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return {k: np.concatenate([b[k] for b in batches]) for k in batches[0]}


def _join(batch: Batch, plan: Plan, units: Sequence[Units], ancestors: _Ancestors) -> Iterator[Batch]:
    """Join holding by holding, as many at a time as keep the work space small."""
    number = batch["number"]
    fan = ancestors.fan(batch["cell"])
    reached = np.cumsum(fan)
    ends = np.flatnonzero(np.append(number[1:] != number[:-1], True)) + 1
    start = 0
    while start < number.size:
        done = reached[start - 1] if start else 0
        fitting = ends[(ends > start) & (reached[ends - 1] - done <= MOST_PAIRS)]
        stop = int(fitting[-1]) if fitting.size else int(ends[ends > start][0])
        yield _joined({k: v[start:stop] for k, v in batch.items()}, fan[start:stop], plan, units, ancestors)
        start = stop


def _joined(batch: Batch, fan: Ints, plan: Plan, units: Sequence[Units], ancestors: _Ancestors) -> Batch:
    batch = read_only(batch)
    number, cell = batch["number"], batch["cell"]
    pairs = int(fan.sum())
    per_holding = np.add.reduceat(fan, np.flatnonzero(np.append(True, number[1:] != number[:-1])))
    slots = 1 << int(2 * per_holding.max() - 1).bit_length()
    key = np.zeros((slots, 2), dtype=np.int64)
    slot_of = np.empty(pairs, dtype=np.int64)
    out_cell, out_number = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int64)
    a = ancestors
    entries = _kernels.join_parts(
        number, cell, a.strides, a.chains, a.starts, a.offsets, np.empty(slots, dtype=np.int64), key, slot_of,
        out_cell, out_number,
    )  # fmt: skip

    def joined(amount: Ints) -> Ints:
        total = np.zeros(entries, dtype=np.int64)
        _kernels.add_parts(amount, fan, slot_of, total)
        return total

    result: Batch = {"cell": out_cell[:entries], "number": out_number[:entries]}
    for j, unit in enumerate(units if plan.values else ()):
        total, size = joined(batch[f"t{j}"]), joined(batch[f"x{j}"])
        result[f"t{j}"], result[f"x{j}"] = total, size
        if plan.weight:
            # The weight with which the holding's own sum gives its grossed-up sum.
            finer = 10.0 ** (unit.contribution - unit.total)
            result[f"w{j}"] = np.divide(np.abs(total) * finer, np.abs(size), out=np.ones(entries), where=size != 0)
    if plan.selective:
        result["protected"] = (joined(batch["protected"]) > 0).astype(np.int64)
    if plan.public:
        result["public"] = (joined(1 - batch["public"]) == 0).astype(np.int64)
    for name in kinds_asked(plan):
        result[name] = (joined(batch[name]) > 0).astype(np.int64)
    return result
