"""What has to be asked about a file before a job can be made of it: totals among its codes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from diskret.job.recognise import Kind, Recognised
from diskret.model.errors import DiskretError, ProtectionWarning, TotalInData
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import Relation, open_source
from diskret.model.table import Table
from diskret.model.totals import Looked, refuse_totals
from diskret.tabulation.tabulate import tabulate


def totals_asked(source: object, found: Recognised, *, names_only: bool = False) -> TotalInData | None:
    """The question about codes of the proposed table that look like totals, if there are any.

    With ``names_only`` records are not added up for it, which takes as long as tabulating them.

    >>> from diskret.job.recognise import recognise
    >>> cells = {"region": ["N", "S", "Insgesamt"], "x": [70.5, 30, 100.5]}
    >>> [cure.value for cure in totals_asked(cells, recognise(cells)).cures]
    ['Insgesamt', ['Insgesamt']]
    """
    asked: dict[str, Any] = found.content("")["table"]
    by: dict[str, Hierarchy | None] = dict.fromkeys(asked["by"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)  # the job says them when it runs
            _look(source, found.kind, asked, by, names_only)
    except TotalInData as question:
        return question
    except DiskretError:
        return None  # something else is wrong with the data, which is said when they are used
    return None


def _look(source: object, kind: Kind, asked: dict[str, Any], by: dict[str, Hierarchy | None], names_only: bool) -> None:
    if kind == "cells":
        Table.from_cells(source, by=by, value=asked["value"], count=asked.get("count"))
    elif names_only or not by:
        _by_names(open_source(source), list(by))
    else:
        tabulate(source, by=by, value=asked.get("value"), largest=0)


def _by_names(data: Relation, names: list[str]) -> None:
    by = {}
    for name in names:
        found = data.query(f"SELECT DISTINCT {data.code(name)} FROM {data.view}")
        by[name] = Hierarchy.flat(sorted(code for (code,) in found if code is not None), total="\0")
    refuse_totals(Looked(by=by, occurs={n: np.ones(len(h), np.bool_) for n, h in by.items()}), data.where)
