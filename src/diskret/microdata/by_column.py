"""Records larger than memory: columns are read, protected and written a few at a time, then put side by side.

What one part needs is in memory, nothing else. Parquet is made for it, column by column; text is read once per part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diskret.io.columns import FORMS, copy_columns
from diskret.io.files import whole_file
from diskret.microdata.columns import Protected, Records, read_records
from diskret.model.arrays import Ints
from diskret.model.engine import engine_path, identifier, literal
from diskret.model.errors import BadOption, listed
from diskret.model.private import private_folder
from diskret.model.source import open_source


@dataclass(frozen=True, kw_only=True)
class Part:
    """Columns that are protected together, and how.

    ``protect`` is given records of these columns and those ``beside`` them (such as a wave or a region), and gives back
    the same records protected. Columns beside are read, and stay as they are. ``numbers`` says whether the columns are
    read as numbers, or as codes; or which of them are.
    """

    columns: Sequence[str]
    protect: Callable[[Records], Protected]
    beside: Sequence[str] = ()
    numbers: bool | Sequence[str] = True

    def read_as_numbers(self) -> list[str]:
        """The columns that are read as numbers."""
        return list(self.columns) * self.numbers if isinstance(self.numbers, bool) else list(self.numbers)


def protect_by_column(
    source: object,
    target: str | Path,
    parts: Sequence[Part],
    *,
    numbers: Sequence[str] = (),
    dropped: Sequence[str] = (),
    order: Ints | None = None,
) -> tuple[Protected, ...]:
    """Protect a file part by part, and write all of it: ``.parquet`` or ``.csv``, columns and rows in their order.

    The result is the same as that of protecting all records at once, as long as no method looks at columns of two
    parts. What comes back are facts, without records. Columns in no part stay as they are (``numbers`` says which of
    them are numbers), or are ``dropped``; ``order`` says in which other order the rows are written. Parts lie on disk
    meanwhile, in a folder for their owner alone where TMPDIR says; there must be room for the file once more.

    >>> import tempfile
    >>> from diskret.microdata.microaggregation import microaggregate
    >>> firms = {"region": ["N", "S", "S"], "turnover": [10.0, 11, 12], "wages": [3.0, 1, 2]}
    >>> values = "turnover", "wages"
    >>> parts = [Part(columns=[c], protect=lambda records, c=c: microaggregate(records, [c])) for c in values]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = protect_by_column(firms, Path(folder) / "suf.csv", parts)
    ...     print((Path(folder) / "suf.csv").read_text(), end="")
    region,turnover,wages
    N,11.0,2.0
    S,11.0,2.0
    S,11.0,2.0
    """
    ending = Path(target).suffix.lower()
    if ending not in FORMS:
        hint = "choose .parquet or .csv."
        raise BadOption(f"microdata are not written as {Path(target).suffix!r}", where=str(target), hint=hint)
    relation = open_source(source)
    try:
        names, twice = relation.columns, _twice(parts)
        relation.require([*dropped, *numbers, *(name for part in parts for name in (*part.columns, *part.beside))])
        if twice:
            hint = "name each column in one part; one may do two things."
            raise BadOption(f"{listed(twice)} is in two parts", hint=hint)
    finally:
        relation.connection.close()
    changed = {name for part in parts for name in part.columns}
    leaving = [name for name in names if name not in dropped]
    as_they_are = [
        Part(columns=[name], protect=_untouched, numbers=name in numbers) for name in leaving if name not in changed
    ]
    place: dict[str, str] = {}
    folder, pieces, facts, rows = private_folder(), [], [], -1
    try:
        for number, part in enumerate([*parts, *as_they_are]):
            piece = folder.path / f"part{number}.parquet"
            kept = [name for name in part.columns if name in leaving]
            done, rows = _protected(source, part, kept, piece, rows, order)
            facts += [done] * (number < len(parts))
            place |= {name: f"p{number}.c{i}" for i, name in enumerate(kept)}
            pieces += [f"read_parquet({literal(engine_path(piece))}) AS p{number}"] * bool(kept)
        listing = ", ".join(f"{place[name]} AS {identifier(name)}" for name in leaving)
        with whole_file(target) as whole:
            copy_columns(None, f"SELECT {listing} FROM {' POSITIONAL JOIN '.join(pieces)}", whole, ending=ending)
    finally:
        folder.remove()
    return tuple(facts)


def _untouched(records: Records) -> Protected:
    return Protected(frame=records, method="")


def _protected(
    source: object, part: Part, kept: Sequence[str], piece: Path, rows: int, order: Ints | None
) -> tuple[Protected, int]:
    """One part read, protected and written; what is known about it without its records, and how many there are."""
    records = read_records(source, part.read_as_numbers(), only=[*part.columns, *part.beside])
    before, where = records.rows, records.where
    done = part.protect(records)
    if done.frame.rows != before or rows not in (-1, before):
        raise BadOption(
            "a part gave back other records than it was given", hint="coarsen by rows before, not in a part."
        )
    del records
    if kept:
        made = {f"c{i}": done.frame[name] for i, name in enumerate(kept)}
        made = made if order is None else {c: np.ascontiguousarray(values[order]) for c, values in made.items()}
        shown = ", ".join(
            f"CASE WHEN isnan({c}) THEN NULL ELSE {c} END AS {c}" if values.dtype.kind == "f" else c
            for c, values in made.items()
        )
        copy_columns(made, f"SELECT {shown} FROM leaving", piece)
    nothing = Records(columns={}, where=where)
    return Protected(frame=nothing, method=done.method, facts={**done.facts, "records": before}), before


def _twice(parts: Sequence[Part]) -> list[str]:
    every = [name for part in parts for name in part.columns]
    return sorted({name for name in every if every.count(name) > 1})
