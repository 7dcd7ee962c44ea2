"""Hierarchies from lookup tables, as offices keep them in Excel: every code in a row, beside it what it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from diskret.io.text import inside
from diskret.model.errors import BadOption, DuplicateCode, EmptyData, MissingCode
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.source import Relation, file_source, open_source
from diskret.model.tree_edits import relabel


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """Which columns of a table make a hierarchy: one of ``parent``, ``levels``, or labels that name sums.

    ``levels`` go from the coarsest to the finest; a blank means that a code has no sum on this level. With neither
    parent nor levels the labels tell what a code belongs to: parts with a ``separator`` between, or, without one,
    indented by blanks below their sums.
    """

    code: str
    parent: str | None = None
    levels: tuple[str, ...] = ()
    label: str | None = None
    separator: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.parent is not None and self.levels:
            raise BadOption("a lookup table has a parent and levels", hint="name one of the two.")
        if self.parent is None and not self.levels and self.label is None:
            raise BadOption("a lookup table has nothing above its codes", hint="name parent, levels or label.")

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return [name for name in (self.code, self.parent, *self.levels, self.label) if name is not None]


def read_lookup(
    path: str | Path, lookup: Lookup, *, total: str | None = None, labels: Mapping[str, str] | None = None
) -> Hierarchy:
    """The hierarchy in a lookup table: any file that data are read from.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "places.csv").write_text("Kreis;Land\\n05111;NRW\\n05112;NRW\\n11000;\\n")
    ...     read_lookup(Path(folder) / "places.csv", Lookup(code="Kreis", levels=("Land",))).codes
    ('05111', '05112', 'NRW', '11000', 'Total')
    """
    with inside(path):
        relation = open_source(file_source(Path(path), sheet=lookup.sheet))
        relation.require(lookup.columns)
        rows = relation.query(_sql(relation, lookup))
        if not rows:
            raise EmptyData("the table has no rows", hint="one code per row below the column names.")
        codes = [code for code, *_ in rows if code is not None]
        if len(codes) < len(rows):
            what = f"{len(rows) - len(codes)} rows have no code in column {lookup.code!r}"
            raise MissingCode(what, hint="fill the codes in, or take the rows out.")
        named = _labels(rows) if lookup.label else {}
        if lookup.parent is None and not lookup.levels:
            return Hierarchy.from_labels(named, separator=lookup.separator, total=total or TOTAL)
        above = [tuple(row[1:-1] if lookup.label else row[1:]) for row in rows]
        made = _tree(codes, above, total)
        return relabel(made, {code: label for code, label in named.items() if label.strip()} | dict(labels or {}))


def _sql(relation: Relation, lookup: Lookup) -> str:
    """The rows that are not blank, in their order: codes as codes, labels as they are written, with their blanks."""
    wanted = [relation.code(name) for name in lookup.columns[: -1 if lookup.label else None]]
    wanted += [f"coalesce(CAST({relation.column(lookup.label)} AS STRING), '')"] if lookup.label else []
    filled = " OR ".join(f"{relation.code(name)} IS NOT NULL" for name in lookup.columns)
    return f"SELECT {', '.join(wanted)} FROM {relation.view} WHERE {filled} ORDER BY {relation.row_number}"


Rows = list[tuple[str | None, ...]]


def _labels(rows: Rows) -> dict[str, str]:
    found: dict[str, str] = {}
    for code, *_, label in rows:
        assert code is not None
        assert label is not None
        if found.setdefault(code, label) != label:
            raise DuplicateCode(f"code {code!r} has two labels", hint="keep one of them.")
    return found


def _tree(codes: Sequence[str], above: Rows, total: str | None) -> Hierarchy:
    """Every code and every sum below the next sum above; what has the name of its own sum is this sum.

    The only top is the total unless another is named; several tops get one.
    """
    chains = [
        [each for each, _ in groupby([*filter(None, levels), code])] for code, levels in zip(codes, above, strict=True)
    ]
    pairs = dict.fromkeys(pair for chain in chains for pair in zip(chain[1:], chain, strict=False))
    parts = {part for part, _ in pairs}
    tops = [top for top in dict.fromkeys(chain[0] for chain in chains) if top not in parts]
    name = total or (tops[0] if len(tops) == 1 and pairs else TOTAL)
    return Hierarchy.from_parents([*pairs, *((top, name) for top in tops if top != name)], total=name)
