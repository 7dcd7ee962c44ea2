"""Columns of codes as whole numbers. The engine makes them, so that text never reaches Python row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.engine import readable

if TYPE_CHECKING:
    from diskret.model.source import Relation

MISSING = "(missing)"
"""The code of those that have none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Coded:
    """A column as numbered classes: the codes in order, and each record's position among them (-1: missing)."""

    codes: tuple[str, ...]
    index: Ints

    @property
    def frequencies(self) -> Ints:
        """Records of each class."""
        return np.bincount(self.index[self.index >= 0], minlength=len(self.codes))

    def counts(self) -> dict[str, int]:
        """Records by class, missing ones under their own name."""
        found = {c: int(n) for c, n in zip(self.codes, self.frequencies, strict=True)}
        without = int((self.index < 0).sum())
        return found | ({MISSING: without} if without else {})

    def column(self) -> npt.NDArray[Any]:
        """The codes as a column of text."""
        return np.array([*self.codes, None], dtype=object)[self.index]


def coded_columns(relation: Relation, names: Sequence[str]) -> dict[str, Coded]:
    """The classes of columns, in the order of their text; blanks are missing. The rows keep their order.

    >>> from diskret.model.source import open_source
    >>> found = coded_columns(open_source({"region": ["b", " a", None, "b"]}), ["region"])["region"]
    >>> found.codes, found.index.tolist()
    (('a', 'b'), [1, 0, -1, 1])
    """
    codes: dict[str, tuple[str, ...]] = {}
    selected = []
    for i, name in enumerate(dict.fromkeys(names)):
        code = relation.code(name)
        found = relation.arrays(f"SELECT DISTINCT {code} AS c FROM {relation.view} WHERE {code} IS NOT NULL")["c"]
        codes[name] = tuple(sorted(found.tolist()))
        if not codes[name]:
            selected.append(f"CAST(-1 AS BIGINT) AS c{i}")
            continue
        # an enumeration keeps records in their order, a join need not
        with readable(relation.where):
            relation.connection.register(f"coded_labels_{i}", {"c": np.array(codes[name], dtype=object)})
        relation.query(f"DROP TYPE IF EXISTS coded_{i}")
        relation.query(f"CREATE TYPE coded_{i} AS ENUM (SELECT c FROM coded_labels_{i} ORDER BY c)")
        selected.append(f"coalesce(CAST(enum_code(CAST({code} AS coded_{i})) AS BIGINT), -1) AS c{i}")
    if not selected:
        return {}
    numbers = relation.arrays(f"SELECT {', '.join(selected)} FROM {relation.view}")
    return {name: Coded(codes=found, index=numbers[f"c{i}"]) for i, (name, found) in enumerate(codes.items())}
