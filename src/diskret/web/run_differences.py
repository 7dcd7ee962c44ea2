"""Two runs side by side, with what their audits found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.model.errors import BadOption
from diskret.model.table import Table
from diskret.suppression.difference import RunFacts, compare_suppressions
from diskret.suppression.result import Suppression

MOST_CELLS = 500
Findings = Mapping[str, Any]


def axes_of(table: Table) -> list[dict[str, str]]:
    """The classifications of a table, each with a short hash of its codes: runs with the same can be compared.

    >>> table = Table.from_cells({"s": ["a", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    >>> axes_of(table) == axes_of(table), [each["name"] for each in axes_of(table)]
    (True, ['s'])
    """
    return [
        {
            "name": name,
            "codes": hashlib.sha256(json.dumps([h.codes, h.labels, h.parents, h.further]).encode()).hexdigest()[:16],
        }
        for name, h in table.by.items()
    ]


def compared(
    one: Mapping[str, Suppression], two: Mapping[str, Suppression], audits: tuple[Findings, Findings], *, internal: bool
) -> list[dict[str, Any]]:
    """One comparison per response both runs have."""
    both = [name for name in one if name in two]
    if not both:
        raise BadOption("the runs have no table in common", hint="compare runs over the same data.")
    found = []
    for name in both:
        difference = compare_suppressions(one[name], two[name])
        difference = replace(
            difference,
            one=_attacked(difference.one, audits[0].get(name)),
            two=_attacked(difference.two, audits[1].get(name)),
        )
        shape = one[name].table.shape
        cells = {
            f"index only {which}": [[int(i) for i in np.unravel_index(c, shape)] for c in only[:MOST_CELLS]]
            for which, only in (("one", difference.only_one), ("two", difference.only_two))
        }
        found.append(difference.plain(internal=internal) | cells)
    return found


def _attacked(facts: RunFacts, audit: Findings | None) -> RunFacts:
    if audit is None:
        return facts
    closest, times = audit.get("closest"), audit.get("times")
    call = None if closest is None or times is None else (closest, times)
    return replace(facts, audit=audit["summary"], closest=call)
