"""Distinct combinations of codes with their frequency, counted where the microdata are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.coded import MISSING
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import Relation
from diskret.model.total_names import warn_of_totals
from diskret.tabulation import backend as sql
from diskret.tabulation.options import Roles, TabulationOptions
from diskret.tabulation.plan import Plan
from diskret.tabulation.refusals import refuse_codes
from diskret.tabulation.tabulate import Progress, _open, _plan

MOST_NUMBERS = 1000
"""Different whole numbers up to which a column without a hierarchy may be a classification."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Combinations:
    """Every combination that occurs: one row each, the position of its code per attribute, and how often it occurs."""

    by: Mapping[str, Hierarchy]
    codes: npt.NDArray[np.int32]
    frequency: Ints

    def __len__(self) -> int:
        return self.frequency.size

    @property
    def objects(self) -> int:
        """Number of records counted."""
        return int(self.frequency.sum())


def count_combinations(
    source: object, *, by: Mapping[str, Hierarchy | None], missing: Mapping[str, str] | None = None,
    engine: object = "duckdb", threads: int | None = None, memory_limit: str = "2GB",
    progress: Progress | None = None, categorical: bool = False,
) -> Combinations:  # fmt: skip
    """Count the distinct combinations of some columns, in the order of their codes.

    ``by``, ``missing`` and ``engine`` as in `tabulate`. With ``categorical`` a column without a hierarchy that holds
    measurements is refused.

    >>> found = count_combinations({"sex": list("mwm"), "age": ["old"] * 3}, by={"sex": None, "age": None})
    >>> found.codes.tolist(), found.frequency.tolist()
    ([[0, 0], [1, 0]], [2, 1])
    """
    say = progress or (lambda what, done, of: None)
    opened = _open(source, TabulationOptions(engine=engine, threads=threads, memory_limit=memory_limit))
    try:
        opened.data.require(list(by))
        if categorical:
            _refuse_quantitative(opened.data, [name for name, hierarchy in by.items() if hierarchy is None])
        plan = _plan(opened, by, (), 0, Roles(), missing or {})
        for name in plan.by:
            warn_of_totals(name, plan.leaves(name)[0])
        say("counting combinations", 0, 1)
        columns, frequency = _counted(opened, plan)
    finally:
        opened.close()
    order = np.lexsort(columns[::-1])
    codes = np.stack(columns, axis=1, dtype=np.int32, casting="same_kind")[order]
    say("counting combinations", 1, 1)
    return Combinations(by=dict(plan.by), codes=codes, frequency=frequency[order])


def _counted(opened: sql.Backend, plan: Plan) -> tuple[list[Ints], Ints]:
    """The positions of every combination, one array per classification, and how often it occurs."""
    parts = list(opened.batches(sql.combinations_sql(opened.data, plan)))
    columns = [np.concatenate([p[f"p{i}"] for p in parts]) for i in range(len(plan.by))]
    if any(int(column.min()) < 0 for column in columns):
        refuse_codes(opened, plan)
    return columns, np.concatenate([p["n"] for p in parts]).astype(np.int64)


def record_codes(source: object, *, by: Mapping[str, Hierarchy]) -> npt.NDArray[np.int32]:
    """The position of every record's codes, in the order of the records.

    >>> record_codes({"sex": ["w", "m"]}, by={"sex": Hierarchy.flat("mw")}).tolist()
    [[1], [0]]
    """
    opened = _open(source, TabulationOptions())
    try:
        blanks = {name: MISSING for name, hierarchy in by.items() if MISSING in hierarchy}
        plan = _plan(opened, by, (), 0, Roles(), blanks)
        parts = list(opened.batches(sql.record_codes_sql(opened.data, plan)))
        number = np.concatenate([p["n"] for p in parts])
        codes = np.empty((number.size, len(by)), dtype=np.int32)
        for i in range(len(by)):
            codes[number - 1, i] = np.concatenate([p[f"p{i}"] for p in parts])
        if codes.size and int(codes.min()) < 0:
            refuse_codes(opened, plan)
    finally:
        opened.close()
    return codes


def _refuse_quantitative(data: Relation, names: list[str]) -> None:
    """Refuse columns of numbers with decimals, or of more different numbers than any classification has codes."""
    for name in names:
        if data.types[name].startswith(("DATE", "TIME")):  # codes such as 2026-11-18
            continue
        number, code = f"CAST({data.number(name)} AS DOUBLE)", data.code(name)
        (bad, broken, different), *_ = data.query(
            f"SELECT count(CASE WHEN {code} IS NOT NULL AND {number} IS NULL THEN 1 END), "
            f"count(CASE WHEN {number} <> floor({number}) THEN 1 END), count(DISTINCT {code}) FROM {data.view}"
        )
        if bad == 0 and (broken > 0 or different > MOST_NUMBERS):
            what = "numbers with decimals" if broken else f"{different:,} different numbers"
            raise BadOption(
                f"column {name!r} holds {what}, so it looks quantitative",
                where=data.where,
                hint="class it first and give the classes, or give a hierarchy that lists its codes.",
            )
