"""Random small microdata over random hierarchies, against the slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy, Roles, TabulationOptions, tabulate
from tests import grouped
from tests.present import present


def leaves(parents: dict[str, str]) -> list[str]:
    return sorted(set(parents) - set(parents.values()))


def decimal(unscaled: st.SearchStrategy[int], decimals: int) -> st.SearchStrategy[float]:
    return unscaled.map(lambda n: n / 10**decimals)


@given(data=st.data())
def test_any_microdata_add_up_like_the_reference(data: st.DataObject, small_trees: Any, tools: Any) -> None:
    parents = {"a": data.draw(small_trees), "b": data.draw(small_trees)}
    places = data.draw(st.sampled_from([0, 1, 2, 3]))
    negative = data.draw(st.booleans())
    record = st.fixed_dictionaries(
        {
            "a": st.sampled_from(leaves(parents["a"])),
            "b": st.sampled_from(leaves(parents["b"])),
            "x": decimal(st.integers(-(10**6) if negative else 0, 10**6), places),
            "weight": decimal(st.integers(0, 50), 1),
            "owner": st.sampled_from(["p", "q", None]),
            "waived": st.sampled_from(["1", "0"]),
            "asked": st.sampled_from(["1", "0"]),
            "open": st.sampled_from(["1", "0", "0"]),
        }
    )
    records = data.draw(st.lists(record, min_size=1, max_size=14))
    options: dict[str, Any] = {
        "value": data.draw(st.sampled_from(["x", None])),
        "largest": data.draw(st.integers(1, 4)),
    }
    roles = {"weight": "weight", "holding": "owner"}
    flags = {"waiver": ("waived", ["1"]), "request": ("asked", ["1"]), "public": ("open", ["1"])}
    options |= {role: given for role, given in {**roles, **flags}.items() if data.draw(st.booleans())}
    columns = {name: [r[name] for r in records] for name in records[0]}
    by = {name: Hierarchy.from_parents(pairs) for name, pairs in parents.items()}
    table = tabulate(columns, by=by, **grouped.tabulated(**options))
    tools.same(table, tools.reference(records, parents, **options), close="weight" in options and "holding" in options)


@given(values=st.lists(st.floats(-1e8, 1e8), min_size=1, max_size=10))
def test_numbers_that_are_no_decimals_add_up_to_a_billionth_of_a_unit_each(values: list[float]) -> None:
    table = tabulate({"r": ["a"] * len(values), "x": values}, by={"r": None}, value="x", largest=1)
    resolution = max(1e-9, 1e-14 * max(1.0, sum(map(abs, values))))
    assert table.value[-1] == pytest.approx(sum(values), abs=len(values) * resolution)
    assert present(table.largest)[-1, 0] == pytest.approx(max(map(abs, values)), abs=resolution)


@given(
    cents=st.lists(st.integers(-(10**13), 10**13), min_size=1, max_size=40),
    decimals=st.sampled_from([0, 1, 2]),
)
def test_sums_of_decimals_are_the_float_nearest_to_the_exact_sum(cents: list[int], decimals: int) -> None:
    values = [c / 10**decimals for c in cents]
    table = tabulate({"r": ["a"] * len(values), "x": values}, by={"r": None}, value="x")
    assert table.value.tolist() == [sum(cents) / 10**decimals] * 2


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    assert tabulate({"r": ["a", "b"], "x": [0.1, 0.2]}, by={"r": None}, value="x").value[-1] == 0.3


def test_a_single_contributor_is_its_own_largest_whatever_its_weight(tools: Any) -> None:
    data = {"r": ["a"], "x": [10.0], "w": [2.5]}
    table = tabulate(data, by={"r": None}, value="x", roles=Roles(weight="w"), largest=4)
    assert table.value[0] == 25
    assert table.count[0] == 1
    assert present(table.largest)[0].tolist() == [10, 10, 5, 0]


def test_a_holding_may_weigh_no_decimal_number() -> None:
    data = {"r": ["a"] * 3, "x": [10, 20, 10], "w": [1, 2, 1], "owner": ["h", "h", None]}
    table = tabulate(data, by={"r": None}, value="x", roles=Roles(weight="w", holding="owner"), largest=2)
    # own sum 30 stands for 50: one unit of 30, two thirds of another, then a third of the 10
    assert present(present(table.holdings).largest)[0].tolist() == pytest.approx([30, 30 * 2 / 3 + 10 / 3], rel=1e-14)


def test_cells_nobody_contributes_to_are_there_and_empty() -> None:
    by = {"r": Hierarchy.flat("abc")}
    table = tabulate({"r": ["b"], "x": [4]}, by=by, value="x")
    assert table.empty.tolist() == [True, False, True, False]


def test_a_zero_contribution_is_a_contributor() -> None:
    table = tabulate({"r": ["a", "a"], "x": [0, 7]}, by={"r": None}, value="x")
    assert table.count[0] == 2
    assert present(table.largest)[0].tolist() == [7, 0]


def test_progress_reaches_the_number_of_records() -> None:
    said: list[tuple[str, int, int]] = []
    data = {"r": np.array(["a", "b"] * 500, dtype=object), "x": np.arange(1000)}
    tabulate(data, by={"r": None}, value="x", progress=lambda *step: said.append(step))
    assert ("reading records", 1000, 1000) in said
    assert said[-1] == ("adding up", 1, 1)


def test_roles_and_options_one_by_one_still_work() -> None:
    data = {"r": ["a", "b"], "x": [1, 2], "w": [2, 3], "owner": ["k", "k"]}
    roles, options = Roles(weight="w", holding="owner"), TabulationOptions(positive=True)
    new = tabulate(data, by={"r": None}, value="x", roles=roles, options=options)
    with pytest.warns(DeprecationWarning, match="is deprecated: say ") as said:
        old = tabulate(data, by={"r": None}, value="x", weight="w", holding="owner", positive=True)
    assert [str(each.message).split(": say ")[1] for each in said] == [
        "roles=Roles(weight=..., holding=...)",
        "options=TabulationOptions(positive=...)",
    ]
    assert old.value.tolist() == new.value.tolist()
    assert (old.weighted, old.positive) == (new.weighted, new.positive) == (True, True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wieght'"):
        tabulate(data, by={"r": None}, value="x", wieght="w")
