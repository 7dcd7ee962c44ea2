"""Which released cells differ from a new one by so few units that the difference is sensitive itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.model.arrays import Floats
from diskret.requests.shown import Shown, atoms_of, members
from diskret.rules.frequency import SmallCells
from diskret.rules.magnitude import MinCount

MOST = 3


def differing(
    released: Sequence[Shown], new: Shown, contributions: Floats, house: object, *, frequency: bool = False
) -> list[str]:
    """In words, for the house: pairs of a new cell and a released one, one inside the other, with a small difference.

    Larger combinations are found by the attack; pairs are what people understand.
    """
    least = _least(house)
    if least < 2 or not released:
        return []
    atoms = atoms_of([*released, new], contributions, 1)
    own = members(new, atoms)
    units = own @ atoms.count
    said: list[str] = []
    for table in released:
        rows = members(table, atoms)[table.open.reshape(-1)]
        both = own.astype(np.int64) @ (rows * atoms.count).T.astype(np.int64)
        theirs = rows @ atoms.count
        inside = (both == units[:, None]) | (both == theirs[None, :])
        apart = np.abs(units[:, None] - theirs[None, :])
        found = np.argwhere(inside & (both > 0) & (apart > 0) & (apart < least))
        for mine, other in found[:1].tolist():
            where = int(np.flatnonzero(table.open.reshape(-1))[other])
            where_said = f"{table.cell_name(where)} of {table.title or 'a table'}"
            said.append(f"{new.cell_name(mine)} differs by too few units from {where_said}")
        if len(said) >= MOST:
            break
    return said


def _least(house: object) -> int:
    rules = getattr(house, "rules", ())
    return max((rule.n for rule in rules if isinstance(rule, SmallCells | MinCount)), default=0)
