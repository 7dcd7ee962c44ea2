"""The comparison: every method measured on the same table, by numbers that can be checked by hand."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.comparison import changing, hiding
from diskret.comparison.outcome import REAL, Outcome, additivity, measure
from diskret.model.errors import BadOption

EXAMPLES = Path(__file__).parents[2] / "examples"


def people(records: int = 400, seed: int = 2) -> dict[str, Any]:
    dice = np.random.default_rng(seed)
    return {
        "region": dice.choice(["N", "S", "W", "E"], records, p=[0.5, 0.3, 0.15, 0.05]),
        "age": dice.choice(["young", "middle", "old"], records, p=[0.5, 0.4, 0.1]),
        "income": np.round(dice.lognormal(3, 1.2, records)),
    }


BY: dict[str, dk.Hierarchy | None] = {"region": None, "age": dk.Hierarchy.flat(["young", "middle", "old"])}


@pytest.fixture(scope="module")
def counts() -> Any:
    return dk.compare_methods(people(150), by=BY, rules=dk.SmallCells(8))


@pytest.fixture(scope="module")
def sums() -> Any:
    return dk.compare_methods(people(150), by=BY, value="income", rules=dk.PPercent(40) | dk.MinCount(5))


# --- the measures ----------------------------------------------------------------------------------------------------


def small_table() -> dk.Table:
    cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "n": [1, 5, 20], "st": ["primary", "open", "open"]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", count="n", status="st", positive=True)
    return replace(table, below=np.array([2.0, 0, 0, 0]), above=np.array([2.0, 0, 0, 0]))


def outcome(shown: list[float], lower: float, upper: float, guess: float) -> Outcome:
    low, high = np.array([lower, 20, 70, 100.0]), np.array([upper, 20, 70, 100.0])
    guesses = (np.array([guess, 20, 70, 100]),)
    return Outcome(method="by hand", shown=np.array(shown), lower=low, upper=high, guesses=guesses)


def test_numbers_of_a_table_measured_by_hand() -> None:
    found = measure(outcome([np.nan, 22, 70, 100], 9, 13, 10.4), small_table(), 10)
    assert (found.cells, found.lost, found.primary) == (4, 1, 1)
    labels = {s.label: s for s in found.deviations}
    assert (labels["3-9"].mean_absolute, labels["3-9"].mean_relative) == (2, 0.1)
    assert (labels["1-2"].cells, labels["10-99"].largest) == (0, 0)
    assert found.overall.mean_absolute == pytest.approx(2 / 3)
    assert (found.sums, found.sums_off) == (0, 0)
    assert (found.exact, found.within, found.below_demand, found.guessed) == (0, 0, 1, 1)


@pytest.mark.parametrize(
    ("lower", "upper", "guess", "expected"),
    [
        (10, 10, 10, (1, 1, 1, 1)),
        (9.5, 10.9, 12, (0, 1, 1, 0)),
        (0, np.inf, np.nan, (0, 0, 0, 0)),
        (8, 12, 11.5, (0, 0, 0, 0)),
    ],
)
def test_what_an_attacker_has_is_told_apart(
    lower: float, upper: float, guess: float, expected: tuple[int, ...]
) -> None:
    found = measure(outcome([np.nan, 20, 70, 100], lower, upper, guess), small_table(), 10)
    assert (found.exact, found.within, found.below_demand, found.guessed) == expected


def test_lines_that_do_not_add_up_are_counted() -> None:
    table = small_table()
    assert additivity(table, np.array([10.0, 20, 70, 100])) == (1, 0)
    assert additivity(table, np.array([10.0, 20, 71, 100])) == (1, 1)
    assert additivity(table, np.array([np.nan, 20, 71, 100])) == (0, 0)


# --- the methods -----------------------------------------------------------------------------------------------------


def test_every_method_runs_or_says_why_not(counts: Any, sums: Any) -> None:
    from diskret.comparison.options import METHODS

    for found in (counts, sums):
        assert {m.method for m in found.methods} | set(found.refused) == set(METHODS)
        assert not found.refused


def test_truth_lies_within_what_the_attacker_calls_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of every method, on counts and values, with other seeds: an attacker who is certain is right."""
    from diskret.comparison import compare

    seen: list[tuple[Outcome, dk.Table]] = []

    def watched(result: Outcome, table: dk.Table, percent: float) -> Any:
        seen.append((result, table))
        return measure(result, table, percent)

    monkeypatch.setattr(compare, "measure", watched)
    for seed in range(2):
        options = dk.ComparisonOptions(seed=seed)
        dk.compare_methods(people(120, seed), by=BY, rules=dk.SmallCells(4), options=options)
        rules = dk.PPercent(20) | dk.MinCount(3)
        dk.compare_methods(people(120, seed), by=BY, value="income", rules=rules, options=options)
    assert len(seen) >= 30
    for result, table in seen:
        slack = 1e-7 * np.maximum(np.abs(table.value), 1)
        assert (result.lower <= table.value + slack).all(), result.method
        assert (result.upper >= table.value - slack).all(), result.method


def test_large_tables_of_counts_say_that_they_are_bounded_like_real_numbers(
    counts: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for room in (changing, hiding):
        monkeypatch.setattr(room, "IN_WHOLE", 0)
    methods = ("suppression", "intervals", "random rounding", "controlled rounding")
    found = dk.compare_methods(people(150), by=BY, rules=dk.SmallCells(8), methods=methods)
    for name in methods:
        assert REAL in found[name].notes
        assert REAL not in counts[name].notes
        assert (found[name].exact, found[name].below_demand) <= (counts[name].exact, counts[name].below_demand)
    dk.write_comparison(found, tmp_path / "methods.html", language="de")
    spoken = (tmp_path / "methods.html").read_text(encoding="utf-8")
    assert "wie reelle Zahlen" in spoken
    assert REAL not in spoken


def test_suppression_is_true_where_it_shows_and_keeps_what_the_rules_demand(counts: Any, sums: Any) -> None:
    for found in (counts, sums):
        hidden = found["suppression"]
        assert hidden.lost >= hidden.primary > 0
        assert hidden.overall.mean_absolute == 0
        assert (hidden.sums_off, hidden.exact, hidden.below_demand) == (0, 0, 0)


def test_intervals_take_nothing_of_the_protection(counts: Any, sums: Any) -> None:
    for found in (counts, sums):
        assert found["intervals"].lost == found["suppression"].lost
        assert found["intervals"].below_demand == 0


def test_noise_loses_no_cell_but_additivity(counts: Any) -> None:
    noisy = counts["cell key"]
    assert noisy.lost == 0
    assert noisy.sums_off > 0
    assert noisy.overall.largest <= 5
    assert any("one record more or less" in note for note in noisy.notes)


def test_merging_shows_true_values_of_fewer_cells(counts: Any) -> None:
    merged = counts["merging"]
    assert merged.lost > 0
    assert merged.overall.mean_absolute == 0
    assert merged.exact == 0


def test_safe_keeps_its_tables_additive(counts: Any) -> None:
    assert counts["SAFE"].sums_off == 0
    assert counts["SAFE"].lost == 0


def test_the_same_seed_gives_the_same_comparison() -> None:
    chosen = ["suppression", "cell key", "merging", "SAFE"]
    one, other = (
        dk.compare_methods(people(100), by=BY, rules=dk.SmallCells(4), methods=chosen).plain() for _ in range(2)
    )
    for each in (*one["methods"], *other["methods"]):
        each.pop("CPU seconds")
    assert one == other


def test_keys_of_the_file_are_used() -> None:
    data = people(100) | {"rkey": dk.draw_keys(100, 7)}
    own, drawn = (
        dk.compare_methods(data, by=BY, rules=dk.SmallCells(4), methods=["cell key"], key=key)["cell key"]
        for key in ("rkey", None)
    )
    assert own.deviations != drawn.deviations


def test_a_method_that_refuses_is_listed_with_its_reason() -> None:
    wrong = dk.design_p_table(deviation=5, variance=1, step=0.5, cells=(1, 5))
    found = dk.compare_methods(
        people(60),
        by=BY,
        rules=dk.SmallCells(3),
        methods=["cell key", "merging"],
        options=dk.ComparisonOptions(p_table=wrong),
    )
    assert list(found.refused) == ["cell key"]
    assert "O1" in found.refused["cell key"]
    assert "not run" in str(found)


def test_unknown_methods_and_impossible_settings_are_refused() -> None:
    with pytest.raises(BadOption, match="magic"):
        dk.compare_methods(people(20), by=BY, rules=dk.SmallCells(3), methods=["magic"])
    with pytest.raises(BadOption, match="percent"):
        dk.ComparisonOptions(percent=0)
    with pytest.raises(BadOption, match="compared"):
        dk.compare_methods(people(20), by=BY, rules=dk.SmallCells(3), methods=["cell key"])["SAFE"]


def test_older_names_mean_the_same_and_say_that_they_are_old() -> None:
    with pytest.warns(DeprecationWarning, match="ComparisonOptions"):
        older = dk.Settings(seed=3)
    with pytest.warns(DeprecationWarning, match="options"):
        old = dk.compare_methods(people(60), by=BY, rules=dk.SmallCells(3), methods=["cell key"], settings=older)
    new = dk.compare_methods(people(60), by=BY, rules=dk.SmallCells(3), methods=["cell key"], options=older)
    assert old["cell key"].deviations == new["cell key"].deviations
    with pytest.raises(TypeError, match="setting"):
        dk.compare_methods(people(60), by=BY, rules=dk.SmallCells(3), setting=older)


# --- files, jobs, commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".json", ".txt", ".html", ".svg", ".png"])
def test_the_comparison_is_written_in_every_form(counts: Any, ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"methods{ending}"
    dk.write_comparison(counts, target)
    if ending == ".csv":
        rows = list(csv.DictReader(target.read_text(encoding="utf-8").splitlines()))
        assert [r["method"] for r in rows] == [m.method for m in counts.methods]
        assert int(rows[0]["cells lost"]) == counts["suppression"].lost
    elif ending == ".json":
        assert json.loads(target.read_text(encoding="utf-8"))["methods"][0]["method"] == "suppression"
    elif ending == ".png":
        assert target.read_bytes()[:4] == b"\x89PNG"
    else:
        text = target.read_text(encoding="utf-8")
        assert "cell key" in text
        assert ending != ".html" or "Internal" in text


def test_other_endings_are_refused(counts: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="xyz"):
        dk.write_comparison(counts, tmp_path / "methods.xyz")


@pytest.mark.slow
def test_the_example_runs_and_writes_what_it_promises(tmp_path: Path) -> None:
    import shutil

    from diskret.job.read import read_job
    from diskret.job.run import run_job

    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("out"))
    here = tmp_path / "examples" / "methods"
    result = run_job(read_job(here / "compare.toml"), here)
    assert result.methods is not None
    assert {f.name for f in result.files} == {"methods.html", "methods.csv", "methods.svg"}
    assert all(f.stat().st_size > 0 for f in result.files)
    assert result.summary()["methods"]["primary"] > 0
