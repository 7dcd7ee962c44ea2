"""Records larger than memory: columns are read, protected and written a few at a time, then put side by side.

What one part needs is in memory, nothing else. Parquet is made for it, column by column; text is read once per part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diskret.io.columns import FORMS, copy_columns
from diskret.io.files import whole_file
from diskret.microdata.columns import Protected, Records, read_records
from diskret.model.engine import engine_path, identifier, literal, readable
from diskret.model.errors import BadOption, listed
from diskret.model.private import private_folder
from diskret.model.source import open_source


@dataclass(frozen=True, kw_only=True)
class Part:
    """Columns that are protected together, and how.

    ``protect`` is given records of these columns and those ``beside`` them (such as a wave or a region), and gives back
    the same records protected. Columns beside are read, and stay as they are. ``numbers`` says whether the columns are
    read as numbers, or as codes.
    """

    columns: Sequence[str]
    protect: Callable[[Records], Protected]
    beside: Sequence[str] = ()
    numbers: bool = True


def protect_by_column(source: object, target: str | Path, parts: Sequence[Part]) -> tuple[Protected, ...]:
    """Protect a file part by part, and write all of it: ``.parquet`` or ``.csv``, columns and rows in their order.

    The result is the same as that of protecting all records at once, as long as no method looks at columns of two
    parts. What comes back are facts, without records. Parts lie on disk meanwhile, in a folder for their owner alone
    where TMPDIR says; there must be room for the file once more.

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
    names, twice = relation.columns, _twice(parts)
    relation.require([name for part in parts for name in (*part.columns, *part.beside)])
    if twice:
        raise BadOption(f"{listed(twice)} is in two parts", hint="name each column in one part; one may do two things.")
    kept = [name for name in names if not any(name in part.columns for part in parts)]
    place = {name: f"k.c{i}" for i, name in enumerate(kept)}
    folder = private_folder()
    try:
        pieces, facts, rows = [], [], -1
        if kept:
            piece = folder.path / "kept.parquet"
            shown = ", ".join(f"{relation.column(name)} AS c{i}" for i, name in enumerate(kept))
            with readable(relation.where):
                relation.connection.execute("SET threads = 1")
                relation.query(f"COPY (SELECT {shown} FROM {relation.view}) TO {_text(piece)} (FORMAT parquet)")
            pieces.append(f"read_parquet({_text(piece)}) AS k")
        for number, part in enumerate(parts):
            piece = folder.path / f"part{number}.parquet"
            done, rows = _protected(source, part, piece, rows)
            facts.append(done)
            place |= {name: f"p{number}.c{i}" for i, name in enumerate(part.columns)}
            pieces.append(f"read_parquet({_text(piece)}) AS p{number}")
        listing = ", ".join(f"{place[name]} AS {identifier(name)}" for name in names)
        with whole_file(target) as whole:
            copy_columns(None, f"SELECT {listing} FROM {' POSITIONAL JOIN '.join(pieces)}", whole, ending=ending)
    finally:
        relation.connection.close()
        folder.remove()
    return tuple(facts)


def _protected(source: object, part: Part, piece: Path, rows: int) -> tuple[Protected, int]:
    """One part read, protected and written; what is known about it without its records, and how many there are."""
    columns = list(part.columns)
    records = read_records(source, columns if part.numbers else (), only=[*columns, *part.beside])
    before, where = records.rows, records.where
    done = part.protect(records)
    if done.frame.rows != before or rows not in (-1, before):
        raise BadOption(
            "a part gave back other records than it was given", hint="coarsen by rows before, not in a part."
        )
    del records
    made = {f"c{i}": done.frame[name] for i, name in enumerate(columns)}
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


def _text(path: Path) -> str:
    return literal(engine_path(path))
