"""The attack: what counts as a hit, who is found, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.model.errors import BadOption, MissingColumn, MissingExtra, NothingToLink, ProtectionWarning
from diskret.risk import _linkage_kernels, fellegi_sunter
from diskret.risk.judgement import Combination, is_usable
from tests import grouped

KEYS, VALUES = ["region", "industry"], ["x0", "x1", "x2"]
Firms = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


# --- the rules of the cost-structure panel ---------------------------------------------------------------------------


def test_usability_of_an_assigned_value(golden: Callable[[str], Any]) -> None:
    for each in golden("panel/risk_rules")["expected"]["usability"]:
        assert is_usable(np.array([each["released"]], float), np.array([each["original"]], float))[0] == each["usable"]


@pytest.mark.parametrize("true", [0.7, 30.0, 70.0, 1.1e9, -50.0])
def test_exactly_ten_percent_is_usable_whatever_the_last_bits_say(true: float) -> None:
    assert is_usable(np.array([true * 1.1, true * 0.9]), np.array([true, true])).all()
    assert not is_usable(np.array([true * 1.1001]), np.array([true])).any()


def test_risk_of_combinations(golden: Callable[[str], Any]) -> None:
    for each in golden("panel/risk_rules")["expected"]["risk_cells"]:
        cell = Combination(
            codes=tuple(each["cell"].split("/")),
            units=each["checkable_units"],
            correct=each["correct_assignments"],
            usable={"turnover": each["usable_correct"]},
        )
        assert cell.risk == each["risk"]
        assert (cell.risk <= 0.5) == each["passes"]


def constructed(cell: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Files in which exactly the given number of units is found, and of those the given number is usable."""
    units, correct, usable = cell["checkable_units"], cell["correct_assignments"], cell["usable_correct"]
    ids = np.arange(units)
    true = 1000.0 * 3.0**ids
    released = true * np.where(ids < usable, 1.05, 1.3)
    decoys = true[correct:]
    released[correct:] *= 1e60  # far from the truth, where a record of somebody else stands
    rows = units + decoys.size
    values = np.concatenate([released, decoys])
    return {"id": np.arange(rows), "k": ["a"] * rows, "x": values}, {"id": ids, "k": ["a"] * units, "x": true}


def test_golden_combinations_through_the_whole_attack(golden: Callable[[str], Any]) -> None:
    for each in golden("panel/risk_rules")["expected"]["risk_cells"]:
        found = dk.attack(*constructed(each), keys=["k"], values=["x"], unit="id")
        (cell,) = found.combinations
        assert (cell.units, cell.correct, cell.usable["x"]) == (
            each["checkable_units"], each["correct_assignments"], each["usable_correct"],
        )  # fmt: skip
        assert cell.risk == each["risk"]
        assert found.safe == each["passes"]


# --- who is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["assignment", "single"])
def test_unprotected_values_give_everybody_away(firms: Firms, method: Any) -> None:
    released, external = firms(noise=0.0)
    found = dk.attack(
        released, external, keys=KEYS, values=VALUES, unit="unit", options=dk.LinkageOptions(method=method)
    )
    assert found.true_match_rate == found.precision == 1.0
    assert found.usable == dict.fromkeys(VALUES, 400)
    assert found.perturbation == dict.fromkeys(VALUES, 0.0)
    assert not found.safe


def test_more_noise_finds_fewer(firms: Firms) -> None:
    rates = []
    for noise in (0.02, 0.2, 1.0):
        released, external = firms(noise=noise)
        rates.append(dk.attack(released, external, keys=KEYS, values=VALUES, unit="unit").true_match_rate)
    assert rates[0] > rates[1] > rates[2]


def test_mean_perturbation_and_usable_values_are_of_true_pairs(firms: Firms) -> None:
    released, external = firms(noise=0.15)
    found = dk.attack(released, external, keys=KEYS, values=["x0"], unit="unit")
    order = np.argsort(released["unit"])
    change = np.abs(released["x0"][order] / external["x0"] - 1)
    assert found.perturbation["x0"] == pytest.approx(change.mean())
    assert found.usable_values["x0"] == pytest.approx((change <= 0.1).mean())
    hits = released["unit"][found.partner] == external["unit"]
    assert found.correct == hits.sum()
    assert found.usable["x0"] == (hits & (change <= 0.1)).sum()


def test_keys_alone_find_one_of_a_block_by_chance() -> None:
    n, blocks = 3000, 30
    keys = np.repeat(np.arange(blocks), n // blocks)
    file = {"id": np.arange(n), "k": keys}
    found = dk.attack(file, file, keys=["k"], unit="id", options=dk.LinkageOptions(method="assignment"))
    assert found.assigned == n
    assert 5 <= found.correct <= 60  # one per block on average, though both files have the same order


def test_aligned_files_need_no_names(firms: Firms) -> None:
    released, external = firms()
    order = np.argsort(released["unit"])
    by_order = {k: np.asarray(v)[order] for k, v in released.items() if k != "unit"}
    one = dk.attack(released, external, keys=KEYS, values=VALUES, unit="unit")
    other = dk.attack(by_order, external, keys=KEYS, values=VALUES, options=dk.LinkageOptions(aligned=True))
    assert one.correct == pytest.approx(other.correct, abs=4)  # ties may fall differently
    assert one.checkable == other.checkable


def test_units_that_are_not_in_the_file_cannot_be_found(firms: Firms) -> None:
    released, external = firms(noise=0.0)
    fewer = {k: np.asarray(v)[:100] for k, v in released.items()}
    found = dk.attack(fewer, external, keys=KEYS, values=VALUES, unit="unit")
    assert (found.units, found.checkable) == (400, 100)
    assert found.assigned <= 100
    single = dk.attack(
        fewer, external, keys=KEYS, values=VALUES, unit="unit", options=dk.LinkageOptions(method="single")
    )
    assert single.correct == 100
    assert single.precision == pytest.approx(0.25)


def test_without_knowing_who_is_who_nothing_is_judged(firms: Firms) -> None:
    released, external = firms()
    one = {k: np.asarray(v)[:1] for k, v in external.items()}
    found = dk.attack(released, one, keys=KEYS, values=VALUES, options=dk.LinkageOptions(method="single"))
    assert found.assigned == 1
    assert found.candidates.shape[1] > 1
    assert not found.truth_known
    assert not found.safe
    assert "not known" in str(found)


def test_a_region_withheld_for_large_units_agrees_with_every_region(firms: Firms) -> None:
    released, external = firms(noise=0.0)
    withheld = released | {"region": np.where(released["employees"] >= 150, None, released["region"])}
    found = dk.attack(withheld, external, keys=KEYS, values=VALUES, unit="unit")
    assert found.true_match_rate == 1.0
    assert found.blocks == 3


def test_other_names_in_the_external_file(firms: Firms) -> None:
    released, external = firms()
    renamed = {{"region": "land", "x0": "umsatz"}.get(k, k): v for k, v in external.items()}
    one = dk.attack(released, external, keys=["region"], values=["x0"], unit="unit")
    other = dk.attack(released, renamed, keys={"region": "land"}, values={"x0": "umsatz"}, unit="unit")
    assert (other.partner == one.partner).all()
    assert other.by == ("land",)


def test_values_are_judged_by_the_original_file(firms: Firms) -> None:
    released, original = firms(noise=0.02)
    generator = np.random.default_rng(4)
    bought = {k: v for k, v in original.items() if k != "x2"}
    bought = bought | {"x0": original["x0"] * np.exp(generator.normal(0, 0.3, 400))}  # an external file has errors
    found = dk.attack(
        released, bought, keys=KEYS, values=["x0", "x1"], unit="unit", original=original,
        options=dk.LinkageOptions(targets=["x2"], by={"region": None, "employees": [20, 50, 250]}),
    )  # fmt: skip
    assert list(found.usable) == ["x2"]
    assert found.usable_values["x2"] > 0.99
    assert found.by == ("region", "employees")
    assert {c.codes[1] for c in found.combinations} == {"under 20", "20 to under 50", "50 to under 250", "250 and more"}
    assert sum(c.units for c in found.combinations) == found.checkable


def test_the_value_that_tells_most_counts() -> None:
    assert Combination(codes=("a",), units=10, correct=5, usable={"x": 1, "y": 4}).risk == 0.4
    assert Combination(codes=("a",), units=10, correct=5, usable={}).risk == 0.5


def test_the_riskiest_combinations_come_first(firms: Firms) -> None:
    found = dk.attack(*firms(noise=0.1), keys=KEYS, values=VALUES, unit="unit")
    risks = [c.risk for c in found.combinations]
    assert risks == sorted(risks, reverse=True)
    assert {c.codes for c in found.exceeding} == {c.codes for c in found.combinations if c.risk > 0.5}
    section = found.section()
    assert len(section.rows[0]) == len(section.columns)


def test_same_seed_same_result_and_any_kind_of_source(firms: Firms, tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    released, external = firms(n=150)
    pl.DataFrame(released).write_csv(tmp_path / "released.csv")
    pl.DataFrame(external).write_parquet(tmp_path / "external.parquet")
    one = dk.attack(released, external, keys=KEYS, values=VALUES, unit="unit")
    for a, b in (
        (tmp_path / "released.csv", tmp_path / "external.parquet"),
        (pd.DataFrame(released), pl.DataFrame(external)),
    ):
        assert (dk.attack(a, b, keys=KEYS, values=VALUES, unit="unit").partner == one.partner).all()


def test_blocks_that_are_too_large_to_assign_optimally_are_a_warning(firms: Firms) -> None:
    with pytest.warns(ProtectionWarning, match="assigned by auction"):
        dk.attack(
            *firms(n=50), keys=["region"], values=["x0"], unit="unit", options=dk.LinkageOptions(optimal_up_to=10)
        )


# --- Fellegi and Sunter ----------------------------------------------------------------------------------------------


def test_probabilities_find_what_distances_find(firms: Firms) -> None:
    released, external = firms(n=300, noise=0.02)
    found = dk.attack(
        released, external, keys=KEYS, values=VALUES, unit="unit", options=dk.LinkageOptions(method="fellegi_sunter")
    )
    used = found.partner[found.partner >= 0]
    assert used.size == np.unique(used).size
    assert found.true_match_rate > 0.95
    assert found.near >= found.correct


def test_the_best_pairs_are_the_best_of_all_pairs() -> None:
    """The compiled loop against all pairs, weighed and sorted one by one; some values missing, many weights equal."""
    random = np.random.default_rng(8)
    n, values, wanted = 60, 2, 4
    own, other = (np.exp(random.normal(0, 0.3, (n, values))).round(1) for _ in range(2))
    own[::9, 0] = np.nan
    points, other_points = own * 2, other * 2
    block, start = np.repeat([0, 1, 2], 20), np.array([0, 20, 40, 60])
    levels, weights = np.array([0.01, 0.1]), np.array([[4.0, 2, -3], [5.0, 1, -2]])
    record, weight = np.full((n, wanted), -1, np.int64), np.full((n, wanted), -np.inf)
    _linkage_kernels.best_pairs(
        own, points, start, other, other_points, block, levels, weights, -1.0, record, weight
    )  # fmt: skip

    def weighed(i: int, j: int) -> tuple[float, float]:
        total = gap = 0.0
        for v in range(values):
            if np.isnan(own[j, v]):
                continue
            apart, larger = abs(own[j, v] - other[i, v]), max(abs(own[j, v]), abs(other[i, v]))
            total += weights[v, next((at for at, most in enumerate(levels) if apart <= most * larger), 2)]
            gap += (points[j, v] - other_points[i, v]) ** 2
        return total, gap

    for i in range(n):
        every = [(*weighed(i, j), j) for j in range(start[block[i]], start[block[i] + 1])]
        best = sorted(((-total, gap, j) for total, gap, j in every if total >= -1), key=lambda each: each[:2])[:wanted]
        assert [-total for total, *_ in best] == weight[i, : len(best)].tolist()
        gaps = {j: gap for _, gap, j in every}
        assert [gap for _, gap, _ in best] == pytest.approx([gaps[int(j)] for j in record[i, : len(best)]])
        assert (record[i, len(best) :] == -1).all()


def test_probabilities_need_the_extra(firms: Firms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splink", None)
    with pytest.raises(MissingExtra, match="linkage"):
        dk.attack(
            *firms(n=20), keys=KEYS, values=VALUES, unit="unit", options=dk.LinkageOptions(method="fellegi_sunter")
        )


def test_pairs_weighed_by_us_are_those_that_splink_weighs(firms: Firms, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled loop and splink give every pair the same weight, and everybody the same partner."""
    pytest.importorskip("splink")
    released, external = firms(n=120, noise=0.1)
    options = dk.LinkageOptions(method="fellegi_sunter")
    here = dk.attack(released, external, keys=["region"], values=VALUES, unit="unit", options=options)
    by_splink = partial(fellegi_sunter.link_by_probability, compiled=False)
    monkeypatch.setattr(fellegi_sunter, "link_by_probability", by_splink)
    there = dk.attack(released, external, keys=["region"], values=VALUES, unit="unit", options=options)
    assert (here.partner >= 0).sum() > 60
    assert here.partner.tolist() == there.partner.tolist()
    assert here.candidates.tolist() == there.candidates.tolist()


@pytest.mark.slow
@pytest.mark.spark
def test_spark_and_duckdb_make_the_same_pairs(firms: Firms, spark: Any) -> None:
    released, external = firms(n=80, noise=0.05)
    options: dict[str, Any] = {"keys": ["region"], "values": ["x0", "x1"], "unit": "unit", "method": "fellegi_sunter"}
    here = dk.attack(released, external, **grouped.attacked(**options))
    there = dk.attack(released, external, **grouped.attacked(engine="spark", **options))
    assert (here.partner == there.partner).mean() > 0.97  # parameters agree up to the order of summation


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"keys": [], "values": []}, BadOption, "neither keys nor values"),
        ({"keys": ["town"]}, MissingColumn, "no column 'town'"),
        (
            {"keys": {"region": "land"}, "values": {"x0": "umsatz"}},
            NothingToLink,
            "none of the columns 'land', 'umsatz'",
        ),
        ({"keys": ["region"], "values": {"x0": "umsatz"}}, MissingColumn, "no column 'umsatz'"),
        ({"keys": {"region": "industry"}}, NothingToLink, "no code of key 'region' in common"),
        ({"keys": ["region"], "values": ["industry_text"]}, MissingColumn, "industry_text"),
        ({"keys": ["region"], "method": "magic"}, BadOption, "no attack by 'magic'"),
        ({"keys": ["region"], "values": ["x0"], "scale": "cubic"}, BadOption, "no scale"),
        ({"keys": ["region"], "cap": 2}, BadOption, "cap"),
        ({"keys": ["region"], "unit": "unit", "aligned": True}, BadOption, "both say"),
        ({"keys": ["region"], "engine": "spark", "scale": "rank"}, BadOption, "ranks are not taken on Spark"),
        ({"keys": ["region"], "unit": "industry"}, BadOption, "more than once"),
        ({"keys": ["region"], "method": "fellegi_sunter"}, BadOption, "no values to compare"),
        ({"keys": ["region"], "values": ["x0"], "unit": "unit", "by": {"employees": [5, 5]}}, BadOption, "ascend"),
        ({"keys": ["region"], "by": ["town"]}, MissingColumn, "town"),
    ],
)
def test_refusals(firms: Firms, options: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        dk.attack(*firms(n=30), **grouped.attacked(**options))


def test_files_about_different_units_are_refused(firms: Firms) -> None:
    released, external = firms(n=30)
    with pytest.raises(NothingToLink, match="no unit of the external file"):
        dk.attack(released, external | {"unit": external["unit"] + 1000}, keys=KEYS, values=VALUES, unit="unit")
    short = {k: np.asarray(v)[:10] for k, v in released.items()}
    with pytest.raises(BadOption, match="same number of records"):
        dk.attack(short, external, keys=KEYS, values=VALUES, options=dk.LinkageOptions(aligned=True))


def test_messages_name_no_unit(firms: Firms) -> None:
    released, external = firms(n=30)
    named = [f"ACME {i % 20}" for i in range(30)]
    with pytest.raises(BadOption) as caught:
        dk.attack(released | {"name": named}, external | {"name": named}, keys=KEYS, values=VALUES, unit="name")
    assert "ACME" not in str(caught.value)


def test_options_one_by_one_still_work(firms: Firms) -> None:
    files = firms(n=30)
    new = dk.attack(*files, keys=KEYS, values=VALUES, unit="unit", options=dk.LinkageOptions(method="single", cap=0.2))
    with pytest.warns(DeprecationWarning, match=r"say options=LinkageOptions\(method=..., cap=...\)"):
        old = dk.attack(*files, keys=KEYS, values=VALUES, unit="unit", method="single", cap=0.2)
    assert old.summary() == new.summary()
