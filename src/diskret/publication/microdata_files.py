"""Protected records, anonymous microdata and the report on their tables as files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.io.columns import FORMS, copy_columns
from diskret.io.files import whole_file
from diskret.model.engine import identifier, literal
from diskret.model.errors import BadOption
from diskret.publication.formulas import Formulas, refuse_unknown, spoken, spoken_column

if TYPE_CHECKING:
    from diskret.microdata.columns import Records
    from diskret.safe.anonymisation import Anonymisation
    from diskret.safe.rematch import Rematch

ENDINGS = tuple(FORMS)
INTERNAL = "internal: confidential"


def write_records(records: Records, path: str | Path, *, formulas: Formulas = "keep") -> None:
    """Write records as ``.csv`` (UTF-8, comma, decimal point, blank where missing) or ``.parquet``.

    Programs read records, so that texts stay as they are; ``formulas="escape"`` is for CSV that somebody opens in a
    spreadsheet.

    >>> import tempfile
    >>> from diskret.microdata.columns import Records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "firms.csv"
    ...     firms = Records(columns={"region": np.array(["05", None], dtype=object), "x": np.array([1.5, np.nan])})
    ...     write_records(firms, target)
    ...     print(target.read_text(encoding="utf-8"), end="")
    region,x
    05,1.5
    ,
    """

    def known(name: str, column: str) -> str:
        number = records[name].dtype.kind == "f"
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if number else column

    _copy(records, path, known, formulas=formulas)


def write_anonymous_file(
    done: Anonymisation, path: str | Path, *, counts: bool = False, formulas: Formulas = "keep"
) -> None:
    """One row per object, or with ``counts`` one row per combination and its frequency; .parquet or .csv.

    Rows stand in the order of their codes, which says nothing about the original order.
    """
    refuse_unknown(formulas)
    speaking: Formulas = formulas if Path(path).suffix.lower() == ".csv" else "keep"
    # positions go to the engine, which knows the codes: as many texts as there are combinations would be made before
    kept = done.frequency > 0
    frame = {f"c{i}": np.ascontiguousarray(done.codes[kept, i]) for i in range(len(done.attributes))}
    shown = []
    for i, (name, each) in enumerate(done.attributes.items()):
        texts = spoken_column(np.array(each.codes, dtype=object), speaking)
        listing = ", ".join("NULL" if text is None else literal(str(text)) for text in texts)
        shown.append(f"([{listing}])[c{i} + 1] AS {identifier(spoken([name], speaking)[0])}")
    frame["n"] = done.frequency[kept]
    if counts:
        more, source = f", n AS {identifier(done.frequency_name)}", "leaving"
    else:
        more, source = "", "(SELECT *, unnest(range(n)) FROM leaving)"
    with _leaving(path) as (part, ending):
        copy_columns(frame, f"SELECT {', '.join(shown)}{more} FROM {source}", part, ending=ending)


def write_rematched(pairs: Rematch, path: str | Path, *, formulas: Formulas = "keep") -> None:
    """Anonymous attributes beside the other columns of the records, in their order. Confidential."""
    attributes = set(pairs.anonymous.attributes)
    _copy(
        pairs.join(), path, lambda name, column: _as_text(column) if name in attributes else column,
        private=True, formulas=formulas,
    )  # fmt: skip


def write_quality(done: Anonymisation, path: str | Path) -> None:
    """The deviations of all control cells, counted, as data (.json) or to be read (.txt).

    Internal: with the file they can give small counts of the original back.
    """
    target = Path(path)
    if target.suffix == ".json":
        facts = {"for": INTERNAL, **done.internal_summary(), "quality": done.quality.summary()}
        text = json.dumps(facts, ensure_ascii=False, indent=2) + "\n"
    elif target.suffix == ".txt":
        head = f"{done.objects:,} objects, k = {done.k}, {len(done.control.tables)} control tables"
        text = f"{INTERNAL}\n{head}\n{done.quality}\n"
    else:
        raise BadOption(
            f"reports are not written as {target.suffix!r}", where=str(target), hint="choose .json or .txt."
        )
    with whole_file(target, private=True) as part:
        part.write_text(text, encoding="utf-8", newline="")


@contextmanager
def _leaving(path: str | Path, *, private: bool = False) -> Iterator[tuple[Path, str]]:
    """Where a file is written until it is whole, and its ending."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        hint = "choose .parquet or .csv."
        raise BadOption(f"microdata are not written as {target.suffix!r}", where=str(target), hint=hint)
    with whole_file(target, private=private) as part:
        yield part, ending


def _as_text(column: str) -> str:
    return f"CAST({column} AS VARCHAR)"


def _copy(
    frame: Mapping[str, Any],
    path: str | Path,
    shown: Callable[[str, str], str],
    *,
    chosen: list[str] | None = None,
    source: str = "leaving",
    private: bool = False,
    formulas: Formulas = "keep",
) -> None:
    """Write columns, all or the chosen ones, each as ``shown`` says by its name and by what the engine calls it."""
    refuse_unknown(formulas)
    ending = Path(path).suffix.lower()
    # plain names for the engine; the selection gives the columns their own again
    held = {name: f"c{number}" for number, name in enumerate(frame)}
    speaking: Formulas = formulas if ending == ".csv" else "keep"
    names = dict(zip(frame, spoken(frame, speaking), strict=True))
    parts = [
        f"{shown(name, held[name])} AS {identifier(names[name])}" for name in (frame if chosen is None else chosen)
    ]
    data = {held[name]: spoken_column(np.ascontiguousarray(column), speaking) for name, column in frame.items()}
    with _leaving(path, private=private) as (part, ending):
        copy_columns(data, f"SELECT {', '.join(parts)} FROM {source}", part, ending=ending)
