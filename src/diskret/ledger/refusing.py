"""Why a table cannot be protected beside what is published, and what could be released instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport, Exposure
from diskret.ledger.linked import Linked
from diskret.ledger.smallest import smallest
from diskret.model.arrays import Bools, Ints
from diskret.model.closing import Closing, close_codes, close_levels, closed
from diskret.model.errors import listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.widening import distances

MOST_REASONS = 3
"""Cells for which it is said which published ones are to blame."""
MOST_PUBLISHED = 400
"""Of more published cells around one only the nearest are looked at, and those of a proof."""
MOST_ATTACKS = 300
"""Attacks with only some cells published, after which it is left open whether fewer would do."""


@dataclass(frozen=True, kw_only=True)
class Blame:
    """Published cells that expose another one, none of which could be missing."""

    cells: tuple[str, ...]
    """In words; empty where none were found."""
    smallest: bool
    """Whether it is known that no smaller set of published cells exposes it."""


def blamed(cells: Linked, found: AuditReport, exposure: Exposure) -> Blame:
    """The smallest set of published cells that exposes a cell; where the search gives up, an irreducible one."""
    target = exposure.index[0]
    far = distances(cells, np.array([target]), cells.hidden)

    def exposed(known: Ints) -> bool:
        return bool(audit(_with_known(cells, target, known), found.promise).open)

    for chosen in (_proving(cells, found, target), far < cells.size):
        published = np.flatnonzero(chosen & (cells.status == Status.PUBLISHED))
        # what stands farther away is left out first: what remains is near the cell, and easier to follow
        published = published[np.argsort(-far[published], kind="stable")][-MOST_PUBLISHED:]
        if exposed(published):
            known = _needed(exposed, published)
            every = np.flatnonzero((far < cells.size) & (cells.status == Status.PUBLISHED))
            near = every[np.argsort(-far[every], kind="stable")][-MOST_PUBLISHED:]
            few, proved = smallest(exposed, np.union1d(near, known), known, MOST_ATTACKS)
            few = few[np.argsort(-far[few], kind="stable")]
            names = tuple(cells.source_name(int(cell)) for cell in few)
            return Blame(cells=names, smallest=proved and near.size == every.size)
    return Blame(cells=(), smallest=False)


def _proving(cells: Linked, found: AuditReport, target: int) -> Bools:
    """The published cells that stand in the equations of a proof."""
    leaves = [n for proof in found.proofs if proof.cell == target for n in proof.tree if len(n) == 3]
    rows = sorted({row for _, used, _ in leaves for row in used})
    return cells.open_cells_of(cells.equations().axis[rows].tolist())


def _with_known(cells: Linked, target: int, known: Ints) -> Linked:
    """The same system with only some cells published and one that must be kept."""
    status = np.full(cells.size, Status.SECONDARY, dtype=np.uint8)
    status[target] = Status.PRIMARY
    status[known] = Status.PUBLISHED
    return replace(cells, status=status)


def _needed(exposed: Callable[[Ints], bool], cells: Ints) -> Ints:
    """An irreducible part of some cells with which something is exposed: halves are left out, then single ones."""
    step = max(1, cells.size // 2)
    while True:
        at = 0
        while at < cells.size:
            fewer = np.delete(cells, slice(at, at + step))
            if exposed(fewer):
                cells = fewer
            else:
                at += step
        if step == 1:
            return cells
        step = max(1, step // 2)


def coarser(table: Table, lost: Sequence[int] = ()) -> Iterator[tuple[str, Table]]:
    """The same table with less detail, in words.

    First without the parts of the sums that ``lost`` cells are a part of, then without the finest codes of a
    classification, at last without a whole one.
    """
    if not table.product or table.sparse:
        return
    deep = {name: tree for name, tree in table.by.items() if tree.depth > 2 and not tree.overlapping}
    for name, tree in deep.items():
        above = _above(tree, {table.codes(table.place(cell))[table.names.index(name)] for cell in lost})
        if above:
            yield f"{name} without the parts of {listed(above)}", _closed(table, name, close_codes(tree, above))
    for name, tree in deep.items():
        yield f"{name} without its finest codes", _closed(table, name, close_levels(tree, tree.depth - 2))
    for name in table.by if len(table.by) > 1 else ():
        yield f"without {name}", _without(table, name)


def _above(tree: Hierarchy, codes: Collection[str]) -> list[str]:
    """The sums right above some codes; none if one of them is the total, or all that has parts is among them.

    >>> _above(Hierarchy.from_nested({"DE": {"N": ["a", "b"], "S": ["c", "d"]}}), {"a", "b"})
    ['N']
    """
    above = {tree.parents[tree.index(code)] for code in codes if code != tree.total}
    summed = {parent for parent in tree.parents if parent >= 0}
    top = len(tree) - 1
    return [] if top in above or above >= summed - {top} else [tree.codes[i] for i in sorted(above)]


def _closed(table: Table, name: str, closing: Closing) -> Table:
    """The table with one classification closed."""
    with warnings.catch_warnings(action="ignore"):  # statuses of what is left out do not matter here
        return closed(table, {name: closing})


def _without(table: Table, name: str) -> Table:
    """The totals along a classification."""
    axis = list(table.by).index(name)

    def taken(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        result: npt.NDArray[Any] = np.take(array, -1, axis=axis)
        return result

    fields: dict[str, Any] = {
        field: None if getattr(table, field) is None else taken(getattr(table, field))
        for field in (
            "value",
            "status",
            "rule",
            "below",
            "above",
            "lower",
            "upper",
            "weight",
            "creator",
            "key",
            "given",
        )
    }
    by: dict[str, Hierarchy] = {n: h for n, h in table.by.items() if n != name}
    for level in ("respondents", "holdings"):
        people = getattr(table, level)
        fields[level] = None if people is None else people.each(taken)
    return replace(table, by=by, seal="", **fields)
