"""Frequency rules: the printed cases cell for cell, and lines of any table against a slow twin."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy, OneCategory, Roles, SmallCells, SmallMargin, Status, Table, mark
from diskret.model import errors

Golden = Callable[[str], Any]
CASES = [
    "frequency_case1_margin_two",
    "frequency_case2_one_category",
    "frequency_case3_question",
    "example2_frequency_table",
]


def printed(file: Any) -> Table:
    by = {"line": Hierarchy.flat(file["rows"]), "category": Hierarchy.flat(file["columns"])}
    at = list(itertools.product(file["rows"], file["columns"]))
    cells = {"line": [r for r, _ in at], "category": [c for _, c in at], "n": np.array(file["values"]).reshape(-1)}
    table = Table.from_cells(cells, by=by, value="n", frequency=True, positive=True)
    assert table.value[:-1, -1].tolist() == file["row_totals"]
    assert table.value[-1, :-1].tolist() == file["column_totals"]
    assert table.value[-1, -1] == file["grand_total"]
    return table


def caught(table: Table, rule: Any) -> list[list[str]]:
    return [list(table.codes(tuple(at))) for at in np.argwhere(rule.judge(table).primary).tolist()]


@pytest.mark.parametrize("case", CASES)
def test_printed_cases_are_judged_cell_for_cell(case: str, golden: Golden) -> None:
    file = golden(f"rules/{case}")
    table, expected = printed(file), file["expected"]
    assert caught(table, SmallMargin()) == [cell for line in expected["margin_1_or_2"] for cell in line["cells"]]
    assert caught(table, OneCategory()) == [
        [line["line"], line["category"]] for line in expected["all_in_one_category"]
    ]
    assert caught(table, SmallCells(3)) == expected["blanket_cells_1_or_2"]
    marked = mark(table, SmallMargin() | OneCategory(), special_cases=False)
    primary = [list(marked.codes(at)) for at, _ in marked.marks()]
    assert primary == expected.get("primary_cells", expected.get("primary"))


def test_the_margin_of_two_stays_published_and_its_zeros_may_be_partners(golden: Golden) -> None:
    table = printed(golden("rules/example2_frequency_table"))
    marked = mark(table, SmallMargin(), special_cases=False)
    line = marked.status[marked.by["line"].index("helping family member")].tolist()
    assert line == [Status.ZERO, Status.PRIMARY, Status.PRIMARY, Status.ZERO, Status.OPEN]


def test_zeros_of_a_line_in_one_category_may_be_partners(golden: Golden) -> None:
    table = printed(golden("rules/frequency_case2_one_category"))
    marked = mark(table, OneCategory(), special_cases=False)
    assert marked.status[2].tolist() == [Status.ZERO, Status.ZERO, Status.PRIMARY, Status.ZERO, Status.OPEN]


def test_only_sensitive_attributes_are_looked_at(golden: Golden) -> None:
    table = printed(golden("rules/frequency_case1_margin_two"))
    assert caught(table, SmallMargin(sensitive=("line",))) == []
    assert caught(table, SmallMargin(sensitive=("category",))) == [["non-EU foreign", "I"], ["non-EU foreign", "II"]]
    table = printed(golden("rules/frequency_case2_one_category"))
    assert caught(table, OneCategory(sensitive=("line",))) == []
    assert caught(table, OneCategory(sensitive=("category",))) == [["non-EU foreign", "III"]]


def test_an_unknown_sensitive_attribute_is_refused(golden: Golden) -> None:
    table = printed(golden("rules/frequency_case1_margin_two"))
    with pytest.raises(errors.BadOption, match="'nationality'"):
        SmallMargin(sensitive=("nationality",)).judge(table)


def test_a_magnitude_table_without_counts_has_no_units() -> None:
    table = Table.from_cells({"s": ["a"], "x": [1]}, by={"s": None}, value="x")
    with pytest.raises(errors.BadOption, match="frequency table"):
        SmallCells().judge(table)


def test_a_sample_is_judged_by_its_respondents_not_its_grossed_up_numbers() -> None:
    from diskret import tabulate

    data = {"s": ["a", "b", "b", "b"], "w": [500.0, 1.0, 1.0, 0.5]}
    table = tabulate(data, by={"s": None}, roles=Roles(weight="w"))
    assert SmallCells(3).judge(table).primary.tolist() == [True, False, False]


def test_a_sum_with_one_part_offers_no_choice_of_categories() -> None:
    by = {"r": Hierarchy.from_parents({"city": "county", "county": "state", "other": "state"})}
    table = Table.from_cells({"r": ["city", "other"], "n": [7, 9]}, by=by, value="n", frequency=True)
    assert not OneCategory().judge(table).primary.any()


def test_small_cells_under_one_are_refused() -> None:
    with pytest.raises(errors.BadOption):
        SmallCells(0)


# --- any table against lines walked one by one -----------------------------------------------------------------------

Counts = dict[tuple[str, ...], int]


def lines(table: Table, counts: Counts, axis: int) -> list[tuple[int, dict[tuple[str, ...], int]]]:
    """Every line along one axis: its margin, and its cells by code."""
    others = [h.codes for i, h in enumerate(table.hierarchies) if i != axis]
    hierarchy = table.hierarchies[axis]
    found = []
    for rest in itertools.product(*others):

        def cell(code: str, rest: tuple[str, ...] = rest) -> tuple[str, ...]:
            return (*rest[:axis], code, *rest[axis:])

        found += [
            (counts[cell(total)], {cell(part): counts[cell(part)] for part in hierarchy.parts(total)})
            for total in hierarchy.codes
            if hierarchy.parts(total)
        ]
    return found


@given(data=st.data())
def test_line_rules_in_three_dimensions_equal_walking_every_line(data: st.DataObject, small_trees: Any) -> None:
    by = {name: Hierarchy.from_parents(data.draw(small_trees)) for name in "abc"}
    leaves = [[c for c in h.codes if not h.parts(c)] for h in by.values()]
    inner = list(itertools.product(*leaves))
    numbers = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=len(inner), max_size=len(inner)))
    cells = {name: [at[i] for at in inner] for i, name in enumerate(by)} | {"n": numbers}
    table = Table.from_cells(cells, by=by, value="n", frequency=True)
    counts = {table.codes(at): int(table.value[at]) for at in np.ndindex(table.shape)}
    names = data.draw(st.sampled_from([None, ("a",), ("b", "c")]))
    small, alone, small_zeros, alone_zeros = set(), set(), set(), set()
    for axis, name in enumerate(by):
        if names is not None and name not in names:
            continue
        for margin, line in lines(table, counts, axis):
            occupied = {cell for cell, n in line.items() if n}
            if margin in (1, 2):
                small |= occupied
                small_zeros |= line.keys() - occupied
            if len(occupied) == 1 and len(line) > 1:
                alone |= occupied
                alone_zeros |= line.keys() - occupied

    def at(chosen: np.ndarray) -> set[tuple[str, ...]]:
        return {table.codes(tuple(i)) for i in np.argwhere(chosen).tolist()}

    margin_verdict, category_verdict = SmallMargin(sensitive=names).judge(table), OneCategory(names).judge(table)
    assert at(margin_verdict.primary) == small
    assert at(category_verdict.primary) == alone
    assert at(margin_verdict.partners) == small_zeros  # type: ignore[arg-type]
    assert at(category_verdict.partners) == alone_zeros  # type: ignore[arg-type]
    small_counts = {cell for cell, n in counts.items() if n in (1, 2)}
    assert at(SmallCells(3, margins=True).judge(table).primary) == small_counts
    totals = [h.total for h in table.hierarchies]
    inside = {cell for cell in small_counts if not any(c == t for c, t in zip(cell, totals, strict=True))}
    assert at(SmallCells(3).judge(table).primary) == inside
