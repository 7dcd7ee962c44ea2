"""All cells of a table in long form: one row per cell, one column per classification and per array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.status import Status
from diskret.model.table import Table

NUMBERS = ("absolute", "protected_count", "protected_largest", "public_count", "public_value", "owner", "weight")
"""What is known about the contributors of a cell besides their count and the largest."""


def long_columns(table: Table) -> dict[str, npt.NDArray[Any]]:
    """All cells in long form; see `Table.columns`."""
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.array(h.codes, dtype=object)[at]
        for (name, h), at in zip(table.by.items(), table.code_numbers, strict=True)
    }
    columns[table.response] = table.value.reshape(-1)
    taken = set(columns)

    def add(name: str, column: npt.NDArray[Any]) -> None:
        columns[name if name not in taken else f"{name} of the cell"] = column.reshape(-1)

    for prefix, people in (("", table.respondents), ("holding_", table.holdings)):
        if people is None:
            continue
        if table.counted:
            add(f"{prefix}count", people.count)
        for j in range(people.ranked):
            add(f"{prefix}largest_{j + 1}", people.largest[..., j])  # type: ignore[index]
        for name in NUMBERS:
            array = getattr(people, name)
            if array is not None:
                add(prefix + name, array)
    words = np.array([s.text for s in Status], dtype=object)
    add("status", words[table.status])
    if table.rule is not None:
        add("rules", rule_words(table))
    for name in ("below", "above", "lower", "upper", "weight", "key", "given"):
        array = getattr(table, name)
        if array is not None:
            add(name, array)
    return columns


def rule_words(table: Table) -> npt.NDArray[Any]:
    """Names of the rules that caught each cell, joined by a plus sign."""
    assert table.rule is not None
    bits, inverse = np.unique(table.rule.reshape(-1), return_inverse=True)
    words = [" + ".join(n for i, n in enumerate(table.rules) if int(b) >> i & 1) for b in bits]
    return np.array(words, dtype=object)[inverse.reshape(-1)]
