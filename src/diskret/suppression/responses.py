"""Several responses over the same cells: one leads, and its pattern is passed on to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.model.errors import BadOption, SharedCellsDiffer, listed
from diskret.model.pool import Pool
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import suppress

SHOWN = (Status.NEVER, Status.PUBLISHED)


def follow(leading: Table, others: Mapping[str, Table], **options: Any) -> dict[str, Suppression]:
    """Hide in every other response what the leading one hides, and further cells only where that is not enough.

    ``leading`` is a protected table or pool, ``others`` stand on the same cells. A cell that is primary for another
    response stays so; to have one pattern for all, mark it in the leading table as well (see `leading_of`). Options are
    those of `suppress`; everything is audited over the whole table.

    >>> cells = {"s": ["a", "b", "c", "d"], "x": [10, 20, 70, 5], "y": [1, 2, 9, 4], "st": ["primary", *["open"] * 3]}
    >>> tables = Table.from_cells(cells, by={"s": None}, value=["x", "y"], status="st")
    >>> leading = suppress(tables["x"], guarantee="audit").table
    >>> follow(leading, {"y": tables["y"]})["y"].table.status.tolist() == leading.status.tolist()
    True
    """
    result = {}
    for name, table in others.items():
        _refuse_other_cells(leading, name, table)
        wrong = leading.hidden & np.isin(table.status, SHOWN)
        if wrong.any():
            raise SharedCellsDiffer(
                f"{int(wrong.sum())} cells that {leading.response!r} hides must stay open in {name!r}",
                where=listed(table.name_cells(wrong)),
                hint="a pattern is passed on as a whole: open these cells in the leading one, or let them be hidden.",
            )
        inherited = leading.hidden & (table.status != Status.PRIMARY)
        given = replace(table, status=np.where(inherited, np.uint8(Status.SECONDARY), table.status))
        done = suppress(given, guarantee="audit", **options)
        result[name] = replace(done, before=table)
    return result


def leading_of(leading: Table, others: Mapping[str, Table]) -> Table:
    """The leading table with every cell primary that is primary for any response.

    >>> cells = {"s": ["a", "b"], "x": [10, 20], "st": ["open", "primary"]}
    >>> one = Table.from_cells(cells, by={"s": None}, value="x")
    >>> leading_of(one, {"y": Table.from_cells(cells, by={"s": None}, value="x", status="st")}).status.tolist()
    [0, 1, 0]
    """
    status = leading.status
    for name, table in others.items():
        _refuse_other_cells(leading, name, table)
        status = np.where(table.status == Status.PRIMARY, np.uint8(Status.PRIMARY), status)
    return replace(leading, status=status)


def _refuse_other_cells(leading: Table, name: str, table: Table) -> None:
    same = leading.shape == table.shape and leading.names == table.names
    if isinstance(leading, Pool) or isinstance(table, Pool):
        same &= isinstance(leading, Pool) and isinstance(table, Pool) and leading.space.codes == table.space.codes
    else:
        same = same and leading.by == table.by
    if not same:
        raise BadOption(
            f"{name!r} stands on other cells than the leading response {leading.response!r}",
            hint="a pattern can be passed on only between tables (or pools) over the same classifications.",
        )
