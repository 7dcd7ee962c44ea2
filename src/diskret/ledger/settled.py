"""Moves that protect cells of entries, kept so that a later check need not look for them again.

They are proposals: whoever attacks checks each of them in whole numbers and believes none. What is lost here costs time
only. A cell goes by a number made of what it counts; if that changes, because a code was taken apart, its moves are
not found any more. Moves that use differences, such as what rounding leaves, are not kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from diskret.io.columns import copy_columns
from diskret.io.files import whole_file
from diskret.ledger.connecting import Connected
from diskret.ledger.linked import Linked
from diskret.model.arrays import Ints
from diskret.model.engine import connect, file_listing, readable
from diskret.model.errors import DiskretError
from diskret.moves.move import MoveSet

Identities = npt.NDArray[np.int64]
COLUMNS = {"move": "<i8", "cell": "<i8", "coefficient": "<f8", "up": "<f8", "down": "<f8"}


def identities_of(found: Connected, kept: Ints, subjects: Sequence[tuple[str, str, str]]) -> Identities:
    """A number for every cell, made of what it counts; 0 for differences."""
    ordinary = kept < found.key.shape[0]
    key = found.key[np.where(ordinary, kept, 0)]
    numbers = np.array([_number("subject", *subject) for subject in subjects], dtype=np.uint64)[key[:, 0]]
    for i, axis in enumerate(found.rows.axes, start=1):
        scheme = found.sets.schemes[axis]
        words = [
            _number(axis, *(["everything"] if own == scheme.whole else sorted(scheme.members(own))))
            for own in found.sets.sets(axis)
        ]
        # axes that only other entries know add nothing where everything is meant
        told = np.array([0 if own == scheme.whole else w for own, w in zip(found.sets.sets(axis), words, strict=True)])
        numbers = numbers + told.astype(np.uint64)[key[:, i]]
    version = np.zeros(kept.size, dtype=np.uint64)
    nodes = kept < found.nodes.size
    version[nodes] = found.nodes.version[kept[nodes]]
    numbers = numbers + version * np.uint64(_number("version"))
    return np.where(ordinary, numbers, np.uint64(0)).view(np.int64)


def _number(*words: str) -> int:
    return int.from_bytes(blake2b("\0".join(words).encode(), digest_size=8).digest(), "little")


def keep_moves(folder: Path, entry: int, cells: Linked, moves: MoveSet) -> None:
    """Keep the moves that protect what an entry is connected with."""
    number, own = moves.number(), cells.identity[moves.cells.astype(np.int64)]
    odd = np.unique(number[own == 0])
    chosen = ~np.isin(number, odd)
    if not chosen.any():
        return
    columns = {
        "move": number[chosen], "cell": own[chosen], "coefficient": moves.coefficients[chosen].astype(np.float64),
        "up": moves.up[number[chosen]], "down": moves.down[number[chosen]],
    }  # fmt: skip
    (folder / "settled").mkdir(mode=0o700, exist_ok=True)
    with whole_file(folder / "settled" / f"{entry:06d}.parquet", private=True) as part:
        copy_columns(columns, "SELECT * FROM leaving", part)


def kept_moves(folder: Path, entries: Sequence[int], cells: Linked) -> MoveSet:
    """The moves of some entries whose cells are all there; none where nothing was kept."""
    files = [f for n in entries if (f := folder / "settled" / f"{n:06d}.parquet").exists()]
    order = np.argsort(cells.identity, kind="stable")
    known = cells.identity[order]
    found = MoveSet.none()
    for file in files:
        with contextlib.suppress(DiskretError, OSError, KeyError, ValueError):
            found = found.and_also(_read(file, known, order))
    return found


def _read(file: Path, known: Identities, order: Ints) -> MoveSet:
    with connect(threads=1) as connection, readable(str(file)):
        rows = connection.execute(f"SELECT * FROM read_parquet({file_listing([file])})").fetchnumpy()
    columns = {name: np.ma.getdata(rows[name]).astype(kind) for name, kind in COLUMNS.items()}
    at = np.minimum(np.searchsorted(known, columns["cell"]), known.size - 1)
    here = known[at] == columns["cell"]
    _, begin, number = np.unique(columns["move"], return_index=True, return_inverse=True)
    whole = np.bincount(number, weights=~here) == 0
    chosen = whole[number]
    start = np.append(0, np.cumsum(np.bincount(number)[whole])).astype(np.int64)
    return MoveSet(
        start=start, cells=order[at[chosen]], coefficients=columns["coefficient"][chosen],
        up=columns["up"][begin[whole]], down=columns["down"][begin[whole]],
        first_protected=np.zeros(start.size, dtype=np.int64), protected_cells=np.empty(0, np.int64),
    )  # fmt: skip
