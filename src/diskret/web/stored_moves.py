"""The moves of a finished run as a file, looked at before anything trusts their positions. Confidential."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.io.arrays import Array, read_arrays
from diskret.model.damage import reading
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.move import MoveSet

Statuses = npt.NDArray[np.uint8]
KINDS = {f.name: "iu" for f in fields(MoveSet)} | {"up": "f", "down": "f", "coefficients": "iuf", "cuboids": "b"}


def save_moves(moves: MoveSet, before: Statuses, path: Path) -> None:
    """Write moves, and the statuses of before they were made."""
    arrays = {f.name: getattr(moves, f.name) for f in fields(MoveSet) if getattr(moves, f.name) is not None}
    with path.open("wb") as file:
        np.savez_compressed(file, before=before.astype(np.uint8), **arrays)


def load_moves(folder: Path, name: str, table: Table) -> tuple[MoveSet, Statuses]:
    """The moves that protect a table, and its statuses before."""
    with reading(folder / str(name), "the moves of the run are damaged", "delete the run, and start it again."):
        if Path(name).name != name:
            raise ValueError("a file elsewhere")
        arrays = read_arrays(folder / name, KINDS | {"before": "u"})
        before = arrays.pop("before")
        given: dict[str, Any] = arrays | {"cuboids": bool(arrays["cuboids"])}
        moves = MoveSet(**given)
        if before.shape != table.shape or before.dtype != np.uint8 or (before >= len(Status)).any():
            raise ValueError("statuses of another table")
        if not _fit(moves, table.size):
            raise ValueError("moves of another table")
        return moves, before


def _fit(moves: MoveSet, size: int) -> bool:
    """Whether all positions are inside the table, and every move has what it needs."""
    many = moves.start.size - 1
    numbers = (moves.up, moves.down, moves.coefficients)
    return (
        many >= 0
        and _parts(moves.start, moves.cells.size)
        and _parts(moves.first_protected, moves.protected_cells.size)
        and moves.first_protected.size == many + 1
        and all(_inside(cells, size) for cells in (moves.cells, moves.protected_cells))
        and moves.coefficients.shape == moves.cells.shape
        and moves.up.shape == moves.down.shape == (many,)
        and (moves.subtable is None or moves.subtable.shape == (many,))
        and not any(np.isnan(each).any() for each in numbers)
        and bool(np.isfinite(moves.coefficients).all())
        and np.unique(moves.number() * size + moves.cells).size == moves.cells.size  # a move has a cell once
    )


def _parts(start: Array, size: int) -> bool:
    """Whether an array says where the parts of another begin, one more at the end."""
    right = start.ndim == 1 and start.size > 0 and start[0] == 0 and start[-1] == size
    return bool(right and (start[1:] >= start[:-1]).all())


def _inside(cells: Array, size: int) -> bool:
    return cells.ndim == 1 and bool(((cells >= 0) & (cells < size)).all())
