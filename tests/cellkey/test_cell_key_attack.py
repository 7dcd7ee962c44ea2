"""The attack on cell-key counts: posteriors by Bayes' rule, lines by enumeration, certainty that never errs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.cellkey import _key_kernels as kernels
from diskret.cellkey.cell_key_attack import (
    learned_prior,
    possible,
    seen_by_differencing,
    transitions,
)
from diskret.model.errors import BadOption
from diskret.perturbation.bounds import tightened

P = dk.design_p_table(deviation=2, variance=0.8)
ROWS, REACH = transitions(P)


def published(count: int, v: int) -> float:
    return float(ROWS[min(count, ROWS.shape[0] - 1), v + REACH]) if abs(v) <= REACH else 0.0


def noisy_table(seed: int, records: int = 300) -> Any:
    dice = np.random.default_rng(seed)
    tree = dk.Hierarchy.from_nested({"All": {"N": ["N1", "N2", "N3"], "S": ["S1", "S2"]}})
    data = {
        "region": dice.choice(["N1", "N2", "N3", "S1", "S2"], records),
        "age": dice.integers(0, 12, records).astype(str),
        "rkey": dk.draw_keys(records, seed),
    }
    return dk.perturb_by_key(dk.tabulate(data, by={"region": tree, "age": None}, roles=dk.Roles(key="rkey")), P)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=4), st.integers(0, 20), st.integers(0, 99))
def test_a_line_is_judged_as_by_listing_all_true_counts(parts: list[int], off: int, seed: int) -> None:
    """The readable twin: every combination of true counts, weighed by prior and noise."""
    prior = np.random.default_rng(seed).random(12) + 0.05
    total = max(0, sum(parts) + off % 7 - 3)
    best, confidence = np.zeros((1, len(parts)), dtype=np.int64), np.zeros((1, len(parts)))
    kernels.family_posteriors(np.array([parts]), np.array([total]), prior, ROWS, REACH, best, confidence)
    weights: list[dict[int, float]] = [{} for _ in parts]
    ranges = [range(max(0, j - REACH), j + REACH + 1) for j in parts]
    for true in itertools.product(*ranges):
        p = published(sum(true), total - sum(true))
        for i, j in zip(true, parts, strict=True):
            p *= published(i, j - i) * prior[min(i, prior.size - 1)]
        for k, i in enumerate(true):
            weights[k][i] = weights[k].get(i, 0.0) + p
    for k, found in enumerate(weights):
        whole = sum(found.values())
        if whole == 0:
            assert confidence[0, k] == 0
            continue
        assert confidence[0, k] == pytest.approx(max(found.values()) / whole, rel=1e-9)
        assert found[int(best[0, k])] == pytest.approx(max(found.values()), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_called_certain_is_true(seed: int) -> None:
    noisy = noisy_table(seed)
    found = dk.attack_cell_keys(noisy)
    true = noisy.original.value
    assert (found.lower <= true).all()
    assert (found.upper >= true).all()
    assert (found.upper - found.lower).min() >= 0


def test_sums_narrow_what_a_cell_alone_leaves_open() -> None:
    noisy = noisy_table(1)
    found = dk.attack_cell_keys(noisy)
    low, high = possible(np.rint(noisy.table.value).astype(np.int64), ROWS, REACH)
    assert ((found.upper - found.lower) < (high - low)).any()


def posterior(shown: int) -> dict[int, float]:
    """The probability of every true count behind a published one, all counts being alike."""
    weights = {
        i: float(ROWS[min(i, ROWS.shape[0] - 1), shown - i + REACH])
        for i in range(max(0, shown - REACH), shown + REACH + 1)
    }
    return {i: w / sum(weights.values()) for i, w in weights.items() if w > 0}


def test_the_posterior_is_what_a_long_run_shows() -> None:
    """Draw true counts, perturb them, look at those published as 3."""
    dice = np.random.default_rng(4)
    true = dice.integers(0, 12, 400_000)
    rows = P.rows()
    noise = np.empty(true.size)
    kernels.deviations_of_counts(true, dice.random(true.size), rows.start, rows.upper, rows.deviation, noise)
    behind = true[true + noise == 3]
    for count, p in posterior(3).items():
        assert (behind == count).mean() == pytest.approx(p, abs=4 * np.sqrt(0.25 / behind.size))


def test_the_attacker_learns_how_frequent_small_counts_are() -> None:
    dice = np.random.default_rng(9)
    true = dice.poisson(2.5, 200_000)
    rows = P.rows()
    noise = np.empty(true.size)
    kernels.deviations_of_counts(true, dice.random(true.size), rows.start, rows.upper, rows.deviation, noise)
    prior = learned_prior((true + noise).astype(np.int64), ROWS, REACH)
    real = np.bincount(true, minlength=prior.size)[:8] / true.size
    assert np.abs(prior[:8] / prior.sum() - real).max() < 0.05


def test_one_record_more_shows_as_often_as_computed() -> None:
    """Two tables that differ by one record, keys drawn again and again."""
    seen = seen_by_differencing(P)
    cells = 40_000
    rows = P.rows()
    for count in (1, 2, 5):
        keys = dk.draw_keys(cells * count, seed=count).reshape(cells, count)
        one, other = np.empty(cells), np.empty(cells)
        for n, out in ((count, one), (count - 1, other)):
            key = keys[:, :n].sum(axis=1) % 1 if n else np.zeros(cells)
            kernels.deviations_of_counts(np.full(cells, n), key, rows.start, rows.upper, rows.deviation, out)
        differs = (count + one != count - 1 + other).mean()
        assert differs == pytest.approx(seen[min(count, seen.size) - 1], abs=4 * np.sqrt(0.25 / cells))


def test_without_the_record_nothing_differs_so_a_difference_is_proof() -> None:
    data: dict[str, Any] = {"s": ["a"] * 5 + ["b"] * 4, "t": ["x"] * 9, "rkey": dk.draw_keys(9, 3)}
    table = dk.perturb_by_key(dk.tabulate(data, by={"s": None}, roles=dk.Roles(key="rkey")), P).table
    only_a = {name: column[:5] for name, column in data.items()}
    again = dk.perturb_by_key(dk.tabulate(only_a, by={"s": None}, roles=dk.Roles(key="rkey")), P).table
    assert table.value[0] == again.value[0] == again.value[-1]


def test_guesses_from_single_cells_are_as_good_as_they_claim() -> None:
    """Confidence is calibrated: of all guesses with a confidence, that share is right."""
    claimed, right = [], []
    for seed in range(12):
        noisy = noisy_table(seed, records=400)
        found = dk.attack_cell_keys(noisy)
        claimed.append(found.confidence.mean())
        right.append((found.best == noisy.original.value).mean())
    assert np.mean(right) == pytest.approx(np.mean(claimed), abs=0.06)


def test_the_report_counts_what_was_right_where_the_original_is_known() -> None:
    noisy = noisy_table(2)
    with_original, without = dk.attack_cell_keys(noisy).summary(), dk.attack_cell_keys(noisy.table, P).summary()
    assert without.items() <= with_original.items()
    assert with_original["all: cells"] == noisy.table.size
    assert "sure and wrong" in str(dk.attack_cell_keys(noisy))


def test_other_tables_are_refused() -> None:
    noisy = noisy_table(2)
    with pytest.raises(BadOption, match="perturbation table"):
        dk.attack_cell_keys(noisy.table)
    values = dk.Table.from_cells({"s": ["a"], "x": [1.5]}, by={"s": None}, value="x")
    with pytest.raises(BadOption, match="counts"):
        dk.attack_cell_keys(values, P)
    other = dk.design_p_table(deviation=5, variance=3, smallest=3)
    with pytest.raises(BadOption, match="cannot make"):
        dk.attack_cell_keys(noisy.table, other)


@given(st.data())
def test_bounds_keep_every_true_table(data: Any) -> None:
    dice = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    rows_, columns = dk.Hierarchy.from_nested({"A": {"B": ["x", "y"], "z": None}}), dk.Hierarchy.flat(["p", "q", "r"])
    inner: dict[str, list[Any]] = {"r": [], "c": [], "v": []}
    for r, c in itertools.product(("x", "y", "z"), ("p", "q", "r")):
        inner["r"].append(r)
        inner["c"].append(c)
        inner["v"].append(float(dice.integers(0, 9)))
    value = dk.Table.from_cells(inner, by={"r": rows_, "c": columns}, value="v").value
    low = value - dice.integers(0, 4, value.shape)
    high = np.where(dice.random(value.shape) < 0.2, np.inf, value + dice.integers(0, 4, value.shape))
    new_low, new_high = tightened(low, high, [rows_, columns])
    assert (new_low <= value + 1e-9).all()
    assert (new_high >= value - 1e-9).all()
    assert (new_low >= low).all()
    assert (new_high <= high).all()
