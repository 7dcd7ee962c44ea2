"""The records that requests are answered from: a code of every column for every record, and what it contributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.coded import coded_columns
from diskret.model.errors import BadOption, SumInRecords, UnknownCode, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import Relation, open_source
from diskret.requests.query import Query


@dataclass(frozen=True, eq=False, kw_only=True)
class Records:
    """Records as requests see them; every record is one unit, and one respondent.

    >>> Records.of({"region": list("aab"), "x": [1, 2, 3]}, ["region"], ["x"])
    Records: 3 units, 1 classification
    """

    codes: Mapping[str, tuple[str, ...]]
    """By column all codes that records have."""
    at: Mapping[str, Ints]
    """By column the number of the code of every record."""
    values: Mapping[str, Floats]
    trees: Mapping[str, Hierarchy]
    """How the codes of columns add up; columns without one add up to one total."""

    @classmethod
    def of(
        cls, data: Any, columns: Sequence[str], values: Sequence[str] = (),
        trees: Mapping[str, Hierarchy | None] | None = None,
    ) -> Records:  # fmt: skip
        """Read the columns of classifications and filters, and the values."""
        relation = open_source(data)
        relation.require([*columns, *values])
        relation.refuse_bad_numbers(list(values))
        if not columns and not values:
            raise BadOption("records without columns", hint="name classifications or values.")
        found = coded_columns(relation, columns)
        for name, column in found.items():
            if (column.index < 0).any():
                raise BadOption(
                    f"records without a code of {name!r}", where=relation.where,
                    hint="give them a code of their own: nobody could say whom a filter counts.",
                )  # fmt: skip
        codes = {name: column.codes for name, column in found.items()}
        at = {name: column.index for name, column in found.items()}
        numbers = _numbers_of(relation, values)
        blank = [name for name, column in numbers.items() if np.isnan(column).any()]
        if blank:
            raise BadOption(f"records without {listed(blank)}", where=relation.where, hint="fill in the numbers.")
        given = {name: tree for name, tree in (trees or {}).items() if tree is not None}
        for name, tree in given.items():
            unknown = [code for code in codes.get(name, ()) if code not in tree]
            if unknown:
                raise UnknownCode.in_column(name, unknown, tree.codes)
            sums = [code for code in codes.get(name, ()) if tree.index(code) in set(tree.parents)]
            if sums:
                raise SumInRecords(
                    f"records have the sums {listed(sums)} of {name!r} as their code", where=relation.where,
                    hint="give every record a finest code.",
                )  # fmt: skip
        return cls(codes=codes, at=at, values=numbers, trees=given)

    @property
    def size(self) -> int:
        """How many there are."""
        return next(iter((*self.at.values(), *self.values.values()))).size

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same records."""
        found = sha256()
        for name in sorted(self.codes):
            found.update(repr((name, self.codes[name])).encode())
            found.update(self.at[name].tobytes())
        for name in sorted(self.values):
            found.update(name.encode() + self.values[name].tobytes())
        return found.hexdigest()

    def tree(self, name: str) -> Hierarchy:
        """How the codes of a column add up."""
        if name not in self.codes:
            raise BadOption(f"no column {name!r} among what may be asked for", hint=f"there are {listed(self.codes)}.")
        return self.trees.get(name) or Hierarchy.flat(self.codes[name])

    def value(self, name: str | None) -> Floats:
        """What every record contributes: its value, or one unit."""
        if name is None:
            return np.ones(self.size)
        if name not in self.values:
            raise BadOption(f"no value {name!r}", hint=f"there are {listed(self.values) or 'counts only'}.")
        return self.values[name]

    def counted(self, query: Query) -> Bools:
        """Whom the filter of a request counts."""
        counted = np.ones(self.size, dtype=np.bool_)
        for name in query.filtered:
            self.tree(name)
            counted &= np.isin(np.array(self.codes[name], dtype=object), self.chosen(query, name))[self.at[name]]
        return counted

    def inside(self, name: str, codes: Sequence[str]) -> Bools:
        """Which of the codes that records have are among some codes, sums included."""
        tree = self.tree(name)
        unknown = [code for code in codes if code not in tree]
        if unknown:
            raise UnknownCode.in_column(name, unknown, tree.codes)
        places = np.array([tree.index(code) for code in self.codes[name]], dtype=np.int64)
        inside = np.zeros(len(self.codes[name]), dtype=np.bool_)
        for code in codes:
            inside |= below(tree, tree.index(code))[places]
        return inside

    def chosen(self, query: Query, name: str) -> list[str]:
        """The codes of a column, among those that records have, that a filter counts."""
        return [code for code, kept in zip(self.codes[name], self.kept(query, name), strict=True) if kept]

    def kept(self, query: Query, name: str) -> Bools:
        """Which of the codes that records have a filter counts."""
        inside = np.ones(len(self.codes[name]), dtype=np.bool_)
        if name in query.where:
            inside &= self.inside(name, query.where[name])
        if name in query.without:
            inside &= ~self.inside(name, query.without[name])
        if name in query.at_least:
            inside &= self._code_numbers(name) >= query.at_least[name]
        if name in query.at_most:
            inside &= self._code_numbers(name) <= query.at_most[name]
        return inside

    def _code_numbers(self, name: str) -> Floats:
        try:
            return np.array([float(code) for code in self.codes[name]])
        except ValueError:
            raise BadOption(f"column {name!r} has no numbers", hint="filter it by codes: where.") from None

    def __repr__(self) -> str:
        one = len(self.codes) == 1
        return f"Records: {self.size:,} units, {len(self.codes)} classification{'' if one else 's'}"


def _numbers_of(relation: Relation, values: Sequence[str]) -> dict[str, Floats]:
    """Columns of numbers; what is missing is not a number."""
    selected = [f"coalesce(CAST({relation.number(name)} AS DOUBLE), 'nan') AS v{i}" for i, name in enumerate(values)]
    read = relation.arrays(f"SELECT {', '.join(selected)} FROM {relation.view}") if selected else {}
    return {name: read[f"v{i}"] for i, name in enumerate(values)}


def leaf_places(tree: Hierarchy, called: Mapping[str, str], whole: Hierarchy, codes: Sequence[str]) -> Ints:
    """Where codes of records stand in a tree that is coarser than theirs and calls codes otherwise; -1: nowhere."""
    return np.array([_place(tree, called, whole, code) for code in codes], dtype=np.int64)


def _place(tree: Hierarchy, called: Mapping[str, str], whole: Hierarchy, code: str) -> int:
    at = whole.index(code)
    while whole.codes[at] not in called:
        at = int(whole.parents[at])
        if at < 0:
            return -1
    return tree.index(called[whole.codes[at]])


def below(tree: Hierarchy, code: int) -> Bools:
    """The codes that a code is made of, itself included."""
    inside = np.zeros(len(tree), dtype=np.bool_)
    inside[code] = True
    # sums stand after their parts
    for at in range(len(tree) - 1, -1, -1):
        parent = int(tree.parents[at])
        if parent >= 0 and inside[parent]:
            inside[at] = True
    return inside
