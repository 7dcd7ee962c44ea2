"""The moves of a finished run as a file of its folder: written, and read as if anybody had written it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.io.arrays import read_arrays
from diskret.model.arrays import Ints
from diskret.model.damage import reading
from diskret.model.status import Status
from diskret.moves.move import MoveSet
from diskret.suppression.result import Suppression

Array = npt.NDArray[Any]
KINDS = {f.name: "iu" for f in fields(MoveSet)} | {
    "coefficients": "f", "up": "f", "down": "f", "cuboids": "b", "before": "u",
}  # fmt: skip


def save_moves(done: Suppression, path: Path) -> None:
    """Write the moves, and the statuses before protection."""
    moves = {f.name: getattr(done.moves, f.name) for f in fields(MoveSet) if getattr(done.moves, f.name) is not None}
    with path.open("wb") as file:
        np.savez_compressed(file, before=done.before.status.astype(np.uint8), **moves)


def load_moves(path: Path, shape: tuple[int, ...]) -> tuple[MoveSet, Array]:
    """The moves over a table of this shape, and the statuses before protection; refuses what cannot be."""
    with reading(path, f"{path.name} does not hold the moves of its table"):
        found = read_arrays(path, KINDS)
        before = found.pop("before")
        known = {status.value for status in Status}
        if before.dtype != np.uint8 or before.shape != shape or not set(np.unique(before).tolist()) <= known:
            raise ValueError
        return _moves(found, before.size), before


def _moves(found: Mapping[str, Array], size: int) -> MoveSet:
    """Moves whose every number is what it must be."""
    cuboids = found["cuboids"]
    arrays = {name: array for name, array in found.items() if name != "cuboids"}
    if cuboids.shape != () or any(a.ndim != 1 for a in arrays.values()):
        raise ValueError
    moves = MoveSet(**arrays, cuboids=bool(cuboids))
    _refuse_wrong_parts(moves.start, moves.cells, size)
    _refuse_wrong_parts(moves.first_protected, moves.protected_cells, size)
    lengths = {len(moves), *(a.size for a in (moves.up, moves.down, moves.first_protected[1:]))}
    lengths |= set() if moves.subtable is None else {moves.subtable.size}
    if len(lengths) > 1 or moves.coefficients.size != moves.cells.size:
        raise ValueError
    if np.isnan(moves.up).any() or np.isnan(moves.down).any() or not np.isfinite(moves.coefficients).all():
        raise ValueError
    if np.unique(moves.number() * size + moves.cells).size != moves.cells.size:  # a move has a cell once
        raise ValueError
    return moves


def _refuse_wrong_parts(start: Ints, cells: Ints, size: int) -> None:
    """Refuse parts that do not lie end to end, and cells that are not in the table."""
    if start.size == 0 or start[0] != 0 or start[-1] != cells.size or (start[1:] < start[:-1]).any():
        raise ValueError
    if cells.size and not 0 <= cells.min() <= cells.max() < size:
        raise ValueError
