"""Tables from their cells: any source, sums computed or checked, contributors filled in."""

from __future__ import annotations

import copy
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, ProtectionWarning, Status, Table
from diskret.model import errors
from diskret.model.source import Delimited
from tests.present import present

REGION = Hierarchy.from_parents({"05111": "05", "05112": "05", "05": "DE", "11": "DE"})
CELLS = {"region": ["05111", "05112", "11"], "x": [1.5, 1234.25, 7.0], "n": [3, 4, 2]}
EXPECTED = [1.5, 1234.25, 1235.75, 7.0, 1242.75]


def parquet(folder: Path) -> Path:
    pl.DataFrame(CELLS).write_parquet(folder / "cells.parquet")
    return folder / "cells.parquet"


def csv(folder: Path) -> str:
    (folder / "cells.csv").write_text("region,x,n\n05111,1.5,3\n05112,1234.25,4\n11,7,2\n")
    return str(folder / "cells.csv")


def decimal_comma(folder: Path) -> Delimited:
    (folder / "cells.txt").write_text("05111\t1,5\t3\n05112\t1.234,25\t4\n 11 \t7\t2\n")
    return Delimited(path=folder / "cells.txt", delimiter="\t", decimal=",", names=("region", "x", "n"))


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict of lists": lambda _: CELLS,
    "dict of arrays": lambda _: {k: np.array(v) for k, v in CELLS.items()},
    "decimal numbers": lambda _: {**CELLS, "x": [Decimal("1.50"), Decimal("1234.25"), Decimal("7.00")]},
    "pandas": lambda _: pd.DataFrame(CELLS),
    "polars": lambda _: pl.DataFrame(CELLS),
    "arrow": lambda _: pa.table(CELLS),
    "parquet": parquet,
    "csv": csv,
    "text without header, decimal comma": decimal_comma,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_cells_give_the_same_table_from_any_source(kind: str, tmp_path: Path) -> None:
    source = SOURCES[kind](tmp_path)
    before = copy.deepcopy(source) if not isinstance(source, (str, Path, Delimited)) else None
    table = Table.from_cells(source, by={"region": REGION}, value="x", count="n")
    assert table.value.tolist() == EXPECTED
    assert table.count.tolist() == [3, 4, 7, 2, 9]
    assert table.decimals == 2
    table.value[:] = 0
    if isinstance(source, dict):
        assert all(list(source[k]) == list(present(before)[k]) for k in source)
    elif before is not None:
        assert before.equals(source)


def test_codes_of_a_text_file_keep_their_zeros(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("region,x\n01,1\n1,2\n001,4\n")
    table = Table.from_cells(path, by={"region": None}, value="x")
    assert table.by["region"].codes == ("001", "01", "1", "Total")
    assert table.value.tolist() == [4, 1, 2, 7]


def test_cells_not_listed_are_empty_and_sums_not_listed_are_computed() -> None:
    by = {"r": REGION, "s": Hierarchy.flat("mw")}
    table = Table.from_cells({"r": ["05111", "11"], "s": ["m", "w"], "x": [2, 5]}, by=by, value="x")
    filled = [tuple(at) for at in np.argwhere(table.value).tolist()]
    assert {table.codes(at): table.value[at] for at in filled} == {
        ("05111", "m"): 2, ("05111", "Total"): 2, ("05", "m"): 2, ("05", "Total"): 2,
        ("11", "w"): 5, ("11", "Total"): 5,
        ("DE", "m"): 2, ("DE", "w"): 5, ("DE", "Total"): 7,
    }  # fmt: skip


def test_the_total_may_have_any_name_in_flat_classifications() -> None:
    cells = {"s": ["m", "both", "w"], "x": [1, 3, 2]}
    assert Table.from_cells(cells, by={"s": None}, value="x", total="both").value.tolist() == [1, 2, 3]


def test_several_values_share_classifications_status_and_counts() -> None:
    cells = {"r": ["a", "b"], "x": [1, 2], "y": [0.5, 0.25], "n": [3, 4], "s": ["open", "primary"]}
    tables = Table.from_cells(cells, by={"r": None}, value=["x", "y"], count="n", status="s")
    assert [t.response for t in tables.values()] == ["x", "y"]
    assert [t.decimals for t in tables.values()] == [0, 2]
    x, y = tables["x"], tables["y"]
    assert np.shares_memory(x.count, y.count)
    assert np.shares_memory(x.status, y.status)
    assert x.by is y.by or x.by == y.by
    assert x.status.tolist() == [Status.OPEN, Status.PRIMARY, Status.OPEN]


# --- sums ------------------------------------------------------------------------------------------------------------


def test_a_tenth_and_two_tenths_equal_three_tenths() -> None:
    cells = {"r": ["a", "b", "Total"], "x": [0.1, 0.2, 0.3]}
    assert Table.from_cells(cells, by={"r": None}, value="x").value.tolist() == [0.1, 0.2, 0.3]


@settings(max_examples=30)
@given(units=st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=30), decimals=st.integers(0, 3))
def test_right_sums_of_decimals_are_never_refused_and_wrong_ones_always(units: list[int], decimals: int) -> None:
    by = {"r": Hierarchy.flat([str(i) for i in range(len(units))])}
    codes = [*by["r"].codes]
    right = [u / 10**decimals for u in [*units, sum(units)]]
    assert Table.from_cells({"r": codes, "x": right}, by=by, value="x").value.tolist() == right
    wrong = [*right[:-1], (sum(units) + 1) / 10**decimals]
    with pytest.raises(errors.WrongSum):
        Table.from_cells({"r": codes, "x": wrong}, by=by, value="x")


@settings(max_examples=30)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_sums_of_other_numbers_are_checked_to_twelve_digits(values: list[float]) -> None:
    by = {"r": Hierarchy.flat([str(i) for i in range(len(values))])}
    codes, size = [*by["r"].codes], sum(map(abs, values))
    table = Table.from_cells({"r": codes, "x": [*values, sum(values)]}, by=by, value="x")
    assert table.value[-1] == pytest.approx(sum(values), abs=1e-12 * size)
    with pytest.raises(errors.WrongSum):
        Table.from_cells({"r": codes, "x": [*values, sum(values) + 1e-9 * size + 1e-6]}, by=by, value="x")


def test_sums_beyond_the_exact_numbers_of_a_float_are_refused() -> None:
    with pytest.raises(errors.NotExact, match="beyond which whole numbers cannot be held exactly"):
        Table.from_cells({"r": ["a", "b"], "x": [2**53 - 1, 2**53 - 2]}, by={"r": None}, value="x")


def test_the_first_ten_wrong_sums_are_named() -> None:
    by = {"r": Hierarchy.from_parents({f"{i:02}x": f"{i:02}" for i in range(14)}, total="T")}
    cells = {"r": [c for i in range(14) for c in (f"{i:02}x", f"{i:02}")], "x": [c for _ in range(14) for c in (2, 3)]}
    with pytest.raises(errors.WrongSum) as caught:
        Table.from_cells(cells, by=by, value="x")
    message = str(caught.value)
    assert "14 sums" in message
    assert [f"r={i:02}:" in message for i in range(14)] == [True] * 10 + [False] * 4
    assert message.count("the parts add up to less, by about 30 %") == 10


def test_the_printed_investment_total_is_reported_or_tolerated(golden: Any) -> None:
    file = golden("rules/example1_magnitude_table")
    rows = Hierarchy.flat(file["rows"])
    for name in ("turnover", "investment"):
        cells = {"industry": rows.codes, name: [*file[name], file["totals_printed"][name]]}

        def table(tolerance: float = 0.0, cells: Any = cells, name: str = name) -> Table:
            return Table.from_cells(cells, by={"industry": rows}, value=name, tolerance=tolerance)

        if file["arithmetic"][f"{name}_sum"] == file["totals_printed"][name]:
            assert table().value[-1] == file["totals_printed"][name]
            continue
        off = file["arithmetic"]["investment_difference_to_printed"]
        with pytest.raises(errors.WrongSum, match="industry=Total"):
            table(tolerance=off - 1)
        with pytest.warns(ProtectionWarning, match="industry=Total"):
            assert table(tolerance=off).value[-1] == file["arithmetic"]["investment_sum"]


def test_rounding_residuals_of_the_printed_tables_are_found_cell_for_cell(golden: Any) -> None:
    file = golden("rules/illustrative_tables")
    printed = file["tables"][0]
    by = {
        "position": Hierarchy.flat(list(printed["rows"])[:-1], total="total"),
        "sex": Hierarchy.flat(["men", "women"]),
    }
    cells: dict[str, list[Any]] = {"position": [], "sex": [], "persons": []}
    for position, values in printed["rows"].items():
        for sex, value in zip(by["sex"].codes, values, strict=True):
            cells["position"].append(position)
            cells["sex"].append(sex)
            cells["persons"].append(value)
    with pytest.warns(ProtectionWarning, match="3 sums") as caught:
        table = Table.from_cells(cells, by=by, value="persons", frequency=True, tolerance=1)
    # the civil servants' row, the men's column, and the grand total that both feed
    named = ["position=civil servant, sex=Total", "position=total, sex=men", "position=total, sex=Total"]
    assert all(cell in str(caught[0].message) for cell in named)
    residuals = {r["where"]: r["parts_sum"] for r in file["expected"]["rounding_residuals"]}
    assert table.value[table.index("civil servant", "Total")] == residuals["civil servant row"]
    assert table.value[table.index("total", "men")] == residuals["men column"]


def test_the_printed_magnitude_table_adds_up_in_every_column(golden: Any) -> None:
    printed = golden("rules/illustrative_tables")["tables"][1]
    for at, column in enumerate(printed["columns"]):
        cells = {"industry": list(printed["rows"]), "x": [row[at] for row in printed["rows"].values()]}
        table = Table.from_cells(cells, by={"industry": None}, value="x", total="total")
        assert table.value[-1] == printed["rows"]["total"][at], column


# --- contributors, status, prior knowledge ---------------------------------------------------------------------------


def test_counts_that_do_not_add_up_are_kept_and_noticed() -> None:
    cells = {"r": ["a", "b", "Total"], "x": [1, 2, 3], "n": [3, 4, 6]}
    table = Table.from_cells(cells, by={"r": None}, value="x", count="n")
    assert table.count.tolist() == [3, 4, 6]
    assert not table.additive_counts
    assert Table.from_cells({**cells, "n": [3, 4, 7]}, by={"r": None}, value="x", count="n").additive_counts


def test_largest_contributions_of_missing_sums_come_from_the_finest_cells() -> None:
    by = {"r": Hierarchy.flat("ab"), "c": Hierarchy.flat("xy")}
    cells = {
        "r": ["a", "b", "a", "a"], "c": ["x", "x", "y", "Total"], "v": [10, 3, 4, 14], "n": [3, 3, 3, 6],
        "x1": [6, 2, 2, 6], "x2": [3, 1, 1, 3],
    }  # fmt: skip
    table = Table.from_cells(cells, by=by, value="v", count="n", largest=["x1", "x2"])
    # the given list of (a, Total) must not come in a second time beside the cells it is made of
    assert present(table.largest)[table.index("Total", "Total")].tolist() == [6, 3]
    assert present(table.largest)[table.index("Total", "x")].tolist() == [6, 3]


def test_given_largest_contributions_of_sums_are_kept() -> None:
    cells = {"r": ["a", "b", "Total"], "v": [5, 5, 10], "n": [2, 2, 3], "x1": [3, 3, 6], "x2": [2, 2, 2]}
    table = Table.from_cells(cells, by={"r": None}, value="v", count="n", largest=["x2", "x1"])
    assert present(table.largest).tolist() == [[3, 2], [3, 2], [6, 2]]  # one owner has a part in both


def test_status_is_read_by_word_number_or_foreign_letter() -> None:
    cells = {"r": list("abcdef"), "x": [1, 1, 0, 1, 1, 1], "s": ["primary", "2", "Structural-Zero", "u", None, " "]}
    table = Table.from_cells(cells, by={"r": None}, value="x", status="s", status_codes={"u": Status.NEVER})
    wanted = [Status.PRIMARY, Status.SECONDARY, Status.STRUCTURAL_ZERO, Status.NEVER, Status.OPEN, Status.OPEN]
    assert table.status.tolist() == [*wanted, Status.OPEN]


@pytest.mark.parametrize("status", ["structural zero", "zero"])
def test_a_cell_that_is_called_zero_is_zero(status: str) -> None:
    cells = {"r": ["a", "b"], "x": [1, 0], "s": [status, status]}
    with pytest.raises(errors.BadOption, match="status of a zero and another value: 'r=a'"):
        Table.from_cells(cells, by={"r": None}, value="x", status="s")


def test_cells_without_prior_knowledge_have_the_widest_interval() -> None:
    by = {"r": Hierarchy.flat("ab")}
    cells = {"r": ["a"], "x": [5], "lo": [4], "hi": [9], "w": [2.5]}
    given: dict[str, Any] = {"by": by, "value": "x", "lower": "lo", "upper": "hi", "weight": "w"}
    table = Table.from_cells(cells, **given)
    assert table.lower.tolist() == [4, -np.inf, -np.inf]
    assert table.upper.tolist() == [9, np.inf, np.inf]
    assert table.weight.tolist() == [2.5, 1, 1]
    assert Table.from_cells(cells, positive=True, **given).lower.tolist() == [4, 0, 0]
