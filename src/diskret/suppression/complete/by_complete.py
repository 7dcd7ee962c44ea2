"""One run over a table as if it had no subtotals: every cuboid holds over the whole table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.moves.persons import persons_of
from diskret.suppression.by_cuboids import guards_singles, usable_cells
from diskret.suppression.complete.engine import CompleteTask, RankedMove, Search, in_turn, secure
from diskret.suppression.complete.space import IndexSpace
from diskret.suppression.complete.thinning import thinned
from diskret.suppression.methods import Complete, Method, Progress
from diskret.suppression.objective import barrier_signs, prices
from diskret.suppression.result import Suppression, Unprotected


def by_complete(
    table: Table, promise: Promise, method: Complete = Complete(), *, strands: bool = True,
    progress: Progress | None = None,
) -> Suppression:  # fmt: skip
    """Protect every primary cell by cuboids of the fictitious complete table (Quaderverfahren, chapter 7).

    As in the source the total of a classification comes into a range together with the last level; with ``totals_last``
    it is a step of its own, as other sums are. That hides less of the values in two classifications, but more cells,
    and more of both in three or five. With two ``stages`` all cuboids inside lowest subtables come first (6.2.2.3).
    Both are measured in docs/complete.md.
    """
    search = search_of(table, promise, method, strands=strands)
    task = search.task
    before = task.hidden.copy()
    protecting, failed = secure(search, in_turn(task), progress, method.stages)
    if method.thin:
        protecting = thinned(search, protecting, before)
    status = table.status.reshape(-1).copy()
    status[task.hidden & ~before] = Status.SECONDARY
    protected = replace(table, status=status.reshape(table.shape))
    unprotected = tuple(_unprotected(table, task, cell, method.deformations) for cell in failed)
    if unprotected:
        warnings.warn(
            f"{len(unprotected)} {'cell' if len(unprotected) == 1 else 'cells'} cannot be protected as asked: "
            f"{listed([u.cell for u in unprotected])}; {unprotected[0].why}",
            ProtectionWarning,
            stacklevel=4,
        )
    notes = () if task.primary.any() else ("no cell is primary: nothing to protect",)
    return Suppression(
        table=protected, before=table, promise=promise, moves=moves_of(protecting), unprotected=unprotected,
        notes=notes,
    )  # fmt: skip


def search_of(table: Table, promise: Promise, method: Complete, *, strands: bool = True) -> Search:
    """The search for one table: its elementary indices and its cells as the kernels want them."""
    if promise.guard == "largest" or promise.coalitions:
        raise BadOption(
            "coalitions or largest contributors with complete tables",
            hint="the cuboid method guards against single contributors only: use the method Moves.",
        )
    spaces = [IndexSpace.of(h) for h in table.hierarchies]
    return Search(
        spaces=spaces,
        task=task_of(table, promise, method),
        deformations=method.deformations,
        strands=strands,
        totals_last=method.totals_last,
    )


def task_of(table: Table, promise: Promise, method: Method) -> CompleteTask:
    """The cells of a table, with the number of elementary indices in which each is a sum as its rank."""
    up, down = promise.knowledge.room(table)
    hidden = table.hidden.reshape(-1).copy()
    barriers = barrier_signs(table, method.barriers)
    rank = np.zeros(table.shape)
    for axis, hierarchy in enumerate(table.hierarchies):
        across = [1] * len(table.shape)
        across[axis] = len(hierarchy)
        rank += barriers[axis] * sums_in(hierarchy).reshape(across)
    guarded = guards_singles(table, promise)
    return CompleteTask(
        shape=table.shape, primary=(table.status == Status.PRIMARY).reshape(-1),
        usable=usable_cells(table, method.zeros) | hidden, hidden=hidden, unit=np.ones(table.size),
        rank=rank.reshape(-1), cost=prices(table, method), up=up, down=down,
        person=persons_of(table) if guarded else np.full(table.size, -1, dtype=np.int64),
        needs=promise.needs(table), barriers=bool((barriers >= 0).all()),
    )  # fmt: skip


def sums_in(hierarchy: Hierarchy) -> Floats:
    """In how many elementary indices each code is a sum; a code without parts in none, whatever its level."""
    return np.where(hierarchy.is_leaf, 0, hierarchy.levels - 1).astype(np.float64)


def moves_of(protecting: Mapping[int, Sequence[RankedMove]]) -> MoveSet:
    """All moves that protect a pivot, each valid over the whole table."""
    moves = [(pivot, move) for pivot, several in protecting.items() for move in several]
    return MoveSet.of([move for _, move in moves], [[pivot] for pivot, _ in moves])


def _unprotected(table: Table, task: CompleteTask, cell: int, deformations: int) -> Unprotected:
    at = table.place(cell)
    need, below, above = (float(a[cell]) for a in task.needs)
    if task.up[cell] + task.down[cell] <= need or task.up[cell] < above or task.down[cell] < below:
        why = "what is known beforehand is closer than the required range"
    else:
        why = (
            f"no cuboid with at most {deformations} deformation{'' if deformations == 1 else 's'} protects it; "
            "allow more deformations, allow zeros as partners, or use the method Moves"
        )
    return Unprotected(cell=table.name_of(cell), index=at, reached=np.nan, why=why)
