"""Whether a table is held by its occupied cells, and which these are."""

from __future__ import annotations

from math import prod

import numpy as np

from diskret.model.errors import TableTooLarge
from diskret.model.memory import free_memory, refuse_short, refuse_too_large
from diskret.model.occupied import Occupied, countable
from diskret.tabulation.backend import Backend, finest_places_sql
from diskret.tabulation.ground import Ground, Held, Whole
from diskret.tabulation.plan import Plan

MANY = 4_000_000
"""Tables with fewer possible cells are held whole."""
MOSTLY = 4
"""A table is mostly empty if it has this many times the cells that all its records can fill."""


def held_sparsely(engine: Backend, plan: Plan, asked: bool | None, numbers: int) -> bool:
    """Whether only occupied cells are held; refuses what cannot be held at all. ``numbers`` are kept per cell."""
    hierarchies = tuple(plan.by.values())
    if asked is not False and not countable(hierarchies):
        raise TableTooLarge(
            f"the classifications have {plan.cells:.2g} combinations, more than can be numbered",
            where=" x ".join(f"{n} {len(h)}" for n, h in plan.by.items()),
            hint="use coarser hierarchies or fewer classifications.",
        )
    if asked is None:
        asked = plan.cells > MANY and _mostly_empty(engine, plan, numbers)
    if not asked:
        refuse_too_large(plan.by, numbers)
    return asked


def _mostly_empty(engine: Backend, plan: Plan, numbers: int) -> bool:
    """Whether all records together can fill only few of the cells, or not all cells fit the memory."""
    free = free_memory()
    if free is not None and 8 * numbers * plan.cells > free:
        return True
    ((records,),) = engine.data.query(f"SELECT count(*) FROM {engine.data.view}")
    each = prod(int(np.diff(h.ancestors[1]).max()) for h in plan.by.values())
    return MOSTLY * int(records) * each <= plan.cells


def ground_of(engine: Backend, plan: Plan, sparse: bool, numbers: int) -> Ground:
    """The cells that records are added up in."""
    hierarchies = tuple(plan.by.values())
    if not sparse:
        return Whole(hierarchies)
    places = [batch["cell"].copy() for batch in engine.batches(finest_places_sql(engine.data, plan))]
    finest = np.concatenate([*places, np.empty(0, dtype=np.int64)])
    occupied = Occupied.of(hierarchies, finest[finest >= 0])
    refuse_short(occupied.size, "adding up the occupied cells", 8 * numbers)
    return Held(occupied)
