"""Changed values have no intervals: the published number is not the true one."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskret import Promise, Table, adjust, publish, round_table
from diskret.model.errors import BadOption
from diskret.perturbation.changed_table import Perturbation


def table() -> Table:
    cells = {"s": [*"abc"], "x": [13, 21, 34], "st": ["primary", "open", "open"]}
    return Table.from_cells(cells, by="s", value="x", status="st")


@pytest.mark.parametrize("changed", [adjust(table(), Promise(guard="public")), round_table(table(), 5)], ids=str)
def test_changed_values_leave_without_intervals(changed: Perturbation, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="whose values were changed"):
        publish(changed, tmp_path / "x.csv", intervals=True)
    assert not list(tmp_path.iterdir())
