"""The printed tables of Rauterberg's article, cell for cell, and the audit of its recommended estimator."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.model.arrays import Ints
from diskret.risk.estimate import Reidentifiable, degrees_of_freedom, percent_of
from diskret.risk.shares import Population, read_shares
from diskret.risk.worst_case import _rows, _whole

PRINTED = {"FG": "degrees_of_freedom", "RT": "truncated", "RR": "rounded", "OR": "orwell"}
TABLES = (1, 2, 3, 5, 6, 8, 9)
"""Tables 4 and 7 are lost: their shares cannot be read."""
BY_SEX = [("sex", "education"), ("sex", "age")]


@pytest.fixture(scope="module")
def tables(golden: Callable[[str], Any]) -> dict[int, Any]:
    return {t["table"]: t for t in golden("deanon/tables_1_9")["tables"]}


@pytest.fixture(scope="module")
def audit(golden: Callable[[str], Any]) -> Any:
    return golden("deanon/worst_case_audit")


def estimates(table: Any) -> Reidentifiable:
    return dk.estimate_reidentifiable(table["distribution"], n=[row["N"] for row in table["rows"]])


@pytest.mark.parametrize("number", TABLES)
def test_every_estimate_of_a_table_is_the_exact_recomputation(tables: dict[int, Any], number: int) -> None:
    found = estimates(tables[number])
    for row in tables[number]["rows"]:
        for short, name in PRINTED.items():
            estimate = found.at(row["N"])
            assert (estimate.singles[name], estimate.percent(name)) == (row[short]["EZ"], row[short]["DA"])


def test_printed_numbers_are_reproduced_except_known_misprints(tables: dict[int, Any]) -> None:
    counted = {"reproduced": 0, "differs": 0}
    for number in TABLES:
        found = estimates(tables[number])
        for row in tables[number]["rows"]:
            for short, name in PRINTED.items():
                for kind, mine in (("EZ", found.at(row["N"]).singles[name]), ("DA", found.at(row["N"]).percent(name))):
                    status = row[short][f"status_{kind}"]
                    if status in counted:
                        counted[status] += 1
                        assert (row[short][f"printed_{kind}"] == mine) == (status == "reproduced")
                        assert status == "reproduced" or row[short][f"cause_{kind}"]
    assert counted == {"reproduced": 410, "differs": 29}


@pytest.mark.parametrize("number", TABLES)
def test_effective_levels_and_their_product(tables: dict[int, Any], number: int) -> None:
    found = estimates(tables[number])
    assert list(found.effective_levels.values()) == pytest.approx(tables[number]["A"], abs=1e-6)
    assert found.orwell == pytest.approx(tables[number]["ORWELL"], abs=1e-6)


def test_unit_vectors(golden: Callable[[str], Any]) -> None:
    expected = golden("deanon/formula_vectors")["expected"]
    for each in expected["uncertainty"]:
        block = read_shares({"q": each["p"]}).blocks[0]
        assert block.uncertainty / np.log(2) == pytest.approx(each["U_bits"], abs=1e-6)
        assert block.effective_levels == pytest.approx(each["A"], abs=1e-6)
    assert all(degrees_of_freedom(e["n"]) == e["EZ_FG"] for e in expected["degrees_of_freedom"])
    assert all(percent_of(e["EZ"], e["N"]) == e["DA"] for e in expected["da"])


def worst(tables: dict[int, Any], row: Any, fixed: list[tuple[str, str]]) -> tuple[int, int]:
    found = dk.estimate_reidentifiable(tables[row["table"]]["distribution"], n=row["N"], worst=True, fixed=fixed)
    case = found.at(row["N"]).worst
    assert case is not None
    assert case.proven
    return case.most, case.fewest


def compare_with_audit(tables: dict[int, Any], rows: list[Any]) -> set[tuple[str, int, int]]:
    """Asserts the extremes of every row; gives the cases where the ORWELL coefficient is below the true maximum."""
    below = set()
    for row in rows:
        for name, fixed in (("margins_by_sex", BY_SEX), ("oneway_margins", [])):
            most, fewest = worst(tables, row, fixed)
            assert (most, fewest) == (row[f"max_singles_{name}"], row[f"min_singles_{name}"]), (row["table"], row["N"])
            if most > row["EZ_OR"]:
                below.add((name, row["table"], row["N"]))
    return below


def test_orwell_is_no_upper_bound(tables: dict[int, Any], audit: Any) -> None:
    below = compare_with_audit(tables, [r for r in audit["rows"] if r["table"] in (5, 6, 8)])
    for name, expected in (("margins_by_sex", "by_sex"), ("oneway_margins", "oneway")):
        found = {b[1:] for b in below if b[0] == name}
        assert found == {tuple(x) for x in audit["expected"][f"OR_below_true_maximum_{expected}"]}


@pytest.mark.slow
def test_worst_case_of_more_even_shares(tables: dict[int, Any], audit: Any) -> None:
    assert not compare_with_audit(tables, [r for r in audit["rows"] if r["table"] in (1, 2, 3)])


def filling_is_possible(filling: Ints, population: Population, margins: list[tuple[str, ...]]) -> bool:
    """Whether a filling keeps the margins, rounded up or down."""
    groups, low, high = _rows(population, _whole(population), int(filling.sum()), margins)
    return all(a <= filling.reshape(-1)[line].sum() <= b for line, a, b in zip(groups, low, high, strict=True))


def test_witness_has_more_singles_than_the_estimate(audit: Any, tables: dict[int, Any]) -> None:
    witness = audit["witness"]
    filling = np.array(witness["education_by_age_counts"])
    population = read_shares({k: v for k, v in tables[8]["distribution"].items() if k != "sex"})
    assert filling_is_possible(filling, population, [("education",), ("age",)])
    assert (filling == 1).sum() == witness["singles"] > witness["EZ_OR"]


def test_shares_are_taken_as_printed() -> None:
    as_printed = dk.estimate_reidentifiable(
        {"sex": [0.5, 0.5], "school": [0.33] * 3, "age": [0.4, 0.3, 0.2, 0.1]}, n=10
    )
    thirds = {"sex": [0.5, 0.5], "school": [Fraction(1, 3)] * 3, "age": [0.4, 0.3, 0.2, 0.1]}
    assert as_printed.at(10).singles["rounded"] == 6
    assert dk.estimate_reidentifiable(thirds, n=10).at(10).singles["rounded"] == 12


def test_only_the_orwell_coefficient_is_anchored() -> None:
    nothing = dk.estimate_reidentifiable({"sex": [1.0]}, n=40).at(40)
    assert nothing.share("orwell") == nothing.by_guessing
    assert [nothing.singles[n] for n in ("degrees_of_freedom", "truncated", "rounded")] == [0, 0, 0]
