"""The printed tables, and one of them with numbers."""

from __future__ import annotations

import numpy as np
import pytest

from diskret import Hierarchy, Status, Table
from tests.printed import ReadFile
from tests.printed import printed as printed
from tests.printed import printed_file as printed_file
from tests.printed import printed_vectors as printed_vectors


@pytest.fixture(scope="module")
def gap(printed_file: ReadFile) -> Table:
    """Figure 6.1 with numbers: what is secret is chosen so that everything adds up."""
    said = printed_file("ch6-abb64-gap-closed-in-complete-table")["table"]
    x = {"X1": 15, "X2": -3, "X3": -2, "X4": 5, "X5": 7, "X6": 8, "X7": 23, "X8": 17, "X9": 3, "X10": 17}
    by = {
        "row": Hierarchy.from_nested({"7": {"3": ["1", "2"], "6": ["4", "5"]}}),
        "col": Hierarchy.from_nested({"10": {"3": ["1", "2"], "6": ["4", "5"], "9": ["7", "8"]}}),
    }
    value, status = np.zeros((7, 10)), np.zeros((7, 10), dtype=np.uint8)
    for cell in said["cells"]:
        at = tuple(h.index(str(c)) for h, c in zip(by.values(), cell["coord"], strict=True))
        value[at] = sum(x[s] for s in cell["symbol"].split("+")) if cell["value"] is None else cell["value"]
        status[at] = Status.PRIMARY if cell["status"] == "secret" else Status.OPEN
    table = Table(by, "x", value, status)
    for axis, hierarchy in enumerate(table.hierarchies):
        for code, parts in enumerate(hierarchy.part_index):
            if parts.size:
                assert (value.take(parts, axis).sum(axis) == value.take(code, axis)).all()
    return table
