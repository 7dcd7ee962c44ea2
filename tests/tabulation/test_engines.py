"""One suite for both engines: every cell equals a slow reference, and the engines agree in every bit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Roles, TabulationOptions, tabulate
from tests import grouped
from tests.present import present

REGION = {
    "05111": "051", "05112": "051", "05113": "051", "051": "05", "05200": "05", "05": "DE",
    "09161": "09", "09162": "09", "09": "DE", "11": "DE",
}  # fmt: skip
FINEST = ["05111", "05112", "05113", "05200", "09161", "09162", "11"]
NACE = {"B": "All", "C": "All", "F": "All"}


def microdata(records: int = 70, seed: int = 1) -> list[dict[str, Any]]:
    """Firms with every role a column can have; ties, zeros, giants and dwarfs among them."""
    dice = random.Random(seed)
    return [
        {
            "region": dice.choice(FINEST),
            "place": dice.choice([*FINEST, None]),
            "nace": dice.choice("BBBCF"),
            "turnover": dice.choice([0, 1, 5, 5, 40, 1000, dice.randrange(10**7)]),
            "wages": dice.randrange(10**6) / 100,
            "profit": dice.choice([-1, 1]) * dice.randrange(10**5) / 10,
            "weight": dice.choice([1.0, 1.0, 1.5, 2.4, 3.7, 0.5]),
            "owner": dice.choice([None, None, "a", "b", "c", "d e", "f"]),
            "waived": dice.choice(["yes", "no", "no"]),
            "asked": dice.choice(["0", "1", "2", "9"]),
            "open": dice.choice([0, 0, 0, 1]),
        }
        for _ in range(records)
    ]


WAIVER = {"waiver": ("waived", ["yes"])}
REQUEST = {"request": ("asked", ["1", "2"])}
PUBLIC = {"public": ("open", ["1"])}
SCENARIOS: dict[str, dict[str, Any]] = {
    "plain value": {"value": "turnover"},
    "decimals": {"value": "wages"},
    "negative values": {"value": "profit"},
    "largest 1": {"value": "turnover", "largest": 1},
    "largest 3": {"value": "wages", "largest": 3},
    "largest 4 of negative values": {"value": "profit", "largest": 4},
    "no largest": {"value": "turnover", "largest": 0},
    "weights": {"value": "turnover", "weight": "weight", "largest": 3},
    "weights on negative decimals": {"value": "profit", "weight": "weight"},
    "holdings": {"value": "turnover", "holding": "owner", "largest": 3},
    "holdings with negative values": {"value": "profit", "holding": "owner"},
    "weights and holdings": {"value": "turnover", "weight": "weight", "holding": "owner", "largest": 3},
    "waivers": {"value": "wages", **WAIVER},
    "requests": {"value": "wages", **REQUEST},
    "public contributors": {"value": "profit", "largest": 3, **PUBLIC},
    "everything": {"value": "profit", "weight": "weight", "holding": "owner", **WAIVER, **REQUEST, **PUBLIC},
    "frequency": {},
    "frequency with roles": {"holding": "owner", **WAIVER, **PUBLIC},
    "weighted frequency": {"weight": "weight"},
    "weighted frequency of holdings": {"weight": "weight", "holding": "owner"},
}  # fmt: skip


def columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [r[name] for r in records] for name in records[0]}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_cell_equals_the_slow_reference(scenario: str, engine: Any, tools: Any) -> None:
    options, records = SCENARIOS[scenario], microdata()
    by = {"region": Hierarchy.from_parents(REGION), "nace": Hierarchy.from_parents(NACE)}
    table = tabulate(columns(records), by=by, **grouped.tabulated(engine=engine, **options))
    expected = tools.reference(records, {"region": REGION, "nace": NACE}, **options)
    tools.same(table, expected, close="weight" in options and "holding" in options)
    if engine != "duckdb":
        tools.identical(table, tabulate(columns(records), by=by, **grouped.tabulated(**options)))


def test_records_without_a_code_count_under_the_named_one(engine: Any, tools: Any) -> None:
    records, missing = microdata(), {"place": "11"}
    assert any(r["place"] is None for r in records)
    by = {"place": Hierarchy.from_parents(REGION)}
    table = tabulate(columns(records), by=by, value="wages", options=TabulationOptions(missing=missing, engine=engine))
    tools.same(table, tools.reference(records, {"place": REGION}, value="wages", missing=missing))


def test_records_without_a_code_get_their_own_line_where_the_data_make_the_classification(
    engine: Any, tools: Any
) -> None:
    records = microdata()
    table = tabulate(columns(records), by={"place": None}, value="wages", options=TabulationOptions(engine=engine))
    flat = dict.fromkeys([*FINEST, "(missing)"], "Total")
    tools.same(table, tools.reference(records, {"place": flat}, value="wages", missing={"place": "(missing)"}))


def test_a_named_code_for_missing_ones_works_without_a_hierarchy_too(engine: Any, tools: Any) -> None:
    records, missing = microdata(), {"place": "11"}
    table = tabulate(
        columns(records), by={"place": None}, value="wages", options=TabulationOptions(missing=missing, engine=engine)
    )
    assert "(missing)" not in table.by["place"]
    tools.same(
        table, tools.reference(records, {"place": dict.fromkeys(FINEST, "Total")}, value="wages", missing=missing)
    )


def test_several_values_in_one_pass_equal_single_passes_and_share_their_counts(engine: Any, tools: Any) -> None:
    data, by = columns(microdata()), {"region": Hierarchy.from_parents(REGION), "nace": None}
    together = tabulate(data, by=by, value=["turnover", "profit"], largest=3, options=TabulationOptions(engine=engine))
    assert list(together) == ["turnover", "profit"]
    assert np.shares_memory(together["turnover"].count, together["profit"].count)
    for name, table in together.items():
        tools.identical(table, tabulate(data, by=by, value=name, largest=3))


def test_three_classifications_add_up_along_each(engine: Any, tools: Any) -> None:
    records = microdata(40)
    parents = {"nace": NACE, "region": REGION, "waived": {"yes": "Total", "no": "Total"}}
    by = {name: Hierarchy.from_parents(pairs) for name, pairs in parents.items()}
    table = tabulate(
        columns(records), by=by, value="profit", roles=Roles(holding="owner"), options=TabulationOptions(engine=engine)
    )
    tools.same(table, tools.reference(records, parents, value="profit", holding="owner"))


def test_names_and_codes_with_quotes_blanks_and_dots_are_only_text(engine: Any) -> None:
    data = {'my "re`gion". x': ["O'Hara", ' "b" ', "O'Hara"], "x y": [1.5, 2.0, 4.0], "SELECT": ["h", "h", "i"]}
    table = tabulate(
        data,
        by={'my "re`gion". x': None},
        value="x y",
        roles=Roles(holding="SELECT"),
        options=TabulationOptions(engine=engine),
    )
    cells = {table.codes(at): table.value[at] for at in np.ndindex(table.shape)}
    assert cells == {("O'Hara",): 5.5, ('"b"',): 2.0, ("Total",): 7.5}
    assert present(table.holdings).count[-1] == 2


def test_numeric_codes_read_as_their_digits_and_not_a_number_is_no_code(engine: Any) -> None:
    data = {"region": np.array([1.0, 2.0, 2.0, 2.5]), "x": np.array([1, 2, 3, 4])}
    table = tabulate(data, by={"region": None}, value="x", options=TabulationOptions(engine=engine))
    assert table.by["region"].codes == ("1", "2", "2.5", "Total")
    assert table.value.tolist() == [1, 5, 4, 10]


def test_unknown_owners_are_never_one_owner(engine: Any) -> None:
    import polars as pl

    nan = float("nan")
    frame = pl.DataFrame({"r": ["a"] * 4, "x": [1, 2, 3, 4], "owner": [nan, nan, 7.0, 7.0]})
    table = tabulate(
        frame, by={"r": None}, value="x", roles=Roles(holding="owner"), options=TabulationOptions(engine=engine)
    )
    assert present(table.holdings).count.tolist() == [3, 3]


def test_what_the_table_says_about_itself(engine: Any) -> None:
    data, by = columns(microdata()), {"nace": None}

    def made(**options: Any) -> tuple[Any, ...]:
        table = tabulate(data, by=by, **grouped.tabulated(engine=engine, **options))
        return table.response, table.decimals, table.frequency, table.positive, table.weighted

    assert made(value="profit") == ("profit", 1, False, False, False)
    assert made(value="turnover", weight="weight") == ("turnover", 1, False, True, True)
    assert made() == ("count", 0, True, True, False)
    assert made(weight="weight") == ("weighted count", 1, True, True, True)
