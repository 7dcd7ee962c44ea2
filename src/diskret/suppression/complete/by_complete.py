"""One run over a table as if it had no subtotals: every cuboid holds over the whole table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from diskret.auditing.insiders import persons_of
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.by_cuboids import Settings, barrier_signs, prices, usable_cells
from diskret.suppression.complete.engine import CompleteTask, Cuboid, Search, in_turn, secure
from diskret.suppression.complete.space import IndexSpace
from diskret.suppression.complete.thinning import thinned
from diskret.suppression.moves import RoutedMoves
from diskret.suppression.result import Suppression, Unprotected

MOST_DEFORMATIONS = 3
"""More shifts of one cuboid than this are refused: their number explodes, and two already find nearly everything."""


def by_complete(
    table: Table, settings: Settings, deformations: int = 1, strands: bool = True, totals_last: bool = False,
    stages: int = 1,
) -> Suppression:  # fmt: skip
    """Protect every primary cell by cuboids of the fictitious complete table (Quaderverfahren, chapter 7).

    As in the source the total of a classification comes into a range together with the last level; with ``totals_last``
    it is a step of its own, as other sums are. That hides less of the values in two classifications, but more cells,
    and more of both in three or five. With two ``stages`` all cuboids inside lowest subtables come first (6.2.2.3).
    Both are measured in docs/complete.md.
    """
    if stages not in (1, 2):
        raise BadOption(f"{stages} stages", hint="1, or 2: lowest subtables first.")
    search = search_of(table, settings, deformations, strands, totals_last)
    task = search.task
    before = task.hidden.copy()
    protecting, failed = secure(search, in_turn(task), settings.progress, stages)
    if settings.thin:
        protecting = thinned(search, protecting, before)
    status = table.status.reshape(-1).copy()
    status[task.hidden & ~before] = Status.SECONDARY
    protected = replace(table, status=status.reshape(table.shape))
    unprotected = tuple(_unprotected(table, task, cell, deformations) for cell in failed)
    if unprotected:
        warnings.warn(
            f"{len(unprotected)} cells cannot be protected as asked: {listed([u.cell for u in unprotected])}; "
            f"{unprotected[0].why}",
            ProtectionWarning,
            stacklevel=4,
        )
    notes = () if task.primary.any() else ("no cell is primary: nothing to protect",)
    return Suppression(protected, moves_of(protecting), unprotected, 1, table, notes)


def search_of(
    table: Table, settings: Settings, deformations: int = 1, strands: bool = True, totals_last: bool = False
) -> Search:
    """The search for one table: its elementary indices and its cells as the kernels want them."""
    if not 0 <= deformations <= MOST_DEFORMATIONS:
        raise BadOption(
            f"{deformations} deformations per cuboid",
            hint=f"0 to {MOST_DEFORMATIONS}; where that does not do, guarantee='audit' needs no limit.",
        )
    if settings.carry != "off" or settings.cost.distance:
        raise BadOption("carry or distances with complete tables", hint="they belong to guarantee='subtables'.")
    spaces = [IndexSpace.of(h) for h in table.hierarchies]
    return Search(spaces, task_of(table, settings), deformations, strands, totals_last)


def task_of(table: Table, settings: Settings) -> CompleteTask:
    """The cells of a table, with the number of elementary indices in which each is a sum as its rank."""
    up, down = settings.knowledge.room(table)
    hidden = table.hidden.reshape(-1).copy()
    barriers = barrier_signs(table, settings.barriers)
    rank = np.zeros(table.shape)
    for axis, hierarchy in enumerate(table.hierarchies):
        across = [1] * len(table.shape)
        across[axis] = len(hierarchy)
        rank += barriers[axis] * sums_in(hierarchy).reshape(across)
    guarded = settings.single_contributors and (table.respondents is not None or table.frequency)
    return CompleteTask(
        shape=table.shape, primary=(table.status == Status.PRIMARY).reshape(-1),
        usable=usable_cells(table, settings.zeros) | hidden, hidden=hidden, unit=np.ones(table.size),
        rank=rank.reshape(-1), cost=prices(table, settings.cost), up=up, down=down,
        person=persons_of(table) if guarded else np.full(table.size, -1, dtype=np.int64),
        needs=settings.protection.needs(table), barriers=bool((barriers >= 0).all()),
    )  # fmt: skip


def sums_in(hierarchy: Hierarchy) -> Floats:
    """In how many elementary indices each code is a sum; a code without parts in none, whatever its level."""
    return np.where(hierarchy.is_leaf, 0, hierarchy.levels - 1).astype(np.float64)


def moves_of(protecting: Mapping[int, Sequence[Cuboid]]) -> RoutedMoves:
    """The cuboids as moves, each valid over the whole table."""
    cuboids = [c for several in protecting.values() for c in several]
    return RoutedMoves(
        np.append(0, np.cumsum([c.cells.size for c in cuboids])).astype(np.int64),
        np.concatenate([c.cells for c in cuboids]) if cuboids else np.empty(0, np.int64),
        np.concatenate([c.signs for c in cuboids]).astype(np.float64) if cuboids else np.empty(0),
        np.array([c.up for c in cuboids]),
        np.array([c.down for c in cuboids]),
        tuple(frozenset([c.pivot]) for c in cuboids),
    )


def _unprotected(table: Table, task: CompleteTask, cell: int, deformations: int) -> Unprotected:
    at = tuple(int(i) for i in np.unravel_index(cell, table.shape))
    need, below, above = (float(a[cell]) for a in task.needs)
    if task.up[cell] + task.down[cell] <= need or task.up[cell] < above or task.down[cell] < below:
        why = "what is known beforehand is closer than the required range"
    else:
        why = (
            f"no cuboid with at most {deformations} deformation{'' if deformations == 1 else 's'} protects it; "
            "allow more deformations, allow zeros as partners, or use guarantee='audit'"
        )
    return Unprotected(table.name_of(cell), at, np.nan, why)
