"""Tables made from plain lists of contributions, one list per cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from diskret import Hierarchy, Roles, Table, tabulate


def table_of(cells: Sequence[Sequence[float]], largest: int = 4, **roles: Sequence[Sequence[Any]]) -> Table:
    """Cells 'c0', 'c1', ... from their contributions; ``roles`` are further columns, such as weight or waiver."""
    by = {"cell": Hierarchy.flat([f"c{i}" for i in range(len(cells))])}
    columns: dict[str, list[Any]] = {
        "cell": [f"c{i}" for i, contributions in enumerate(cells) for _ in contributions],
        "x": [x for contributions in cells for x in contributions],
    }
    for role, given in roles.items():
        columns[role] = [entry for entries in given for entry in entries]
    named: dict[str, Any] = {role: role for role in roles}
    table: Table = tabulate(columns, by=by, value="x", largest=largest, roles=Roles(**named))
    return table


@pytest.fixture(scope="session")
def cells_of() -> Callable[..., Table]:
    return table_of
