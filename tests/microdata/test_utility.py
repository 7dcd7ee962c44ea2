"""What protection costs, measured: against formulas written out, and against other programs where they exist."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.microdata.columns import read_records
from diskret.microdata.distribution import FEWEST, distribution, hellinger
from diskret.microdata.propensity import propensity
from diskret.model.errors import BadOption


def firms(n: int = 2000, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    staff = np.exp(3 + base + 0.3 * rng.normal(size=n))
    return {
        "staff": staff,
        "turnover": np.exp(5 + 1.1 * np.log(staff) + 0.4 * rng.normal(size=n)),
        "region": rng.choice(np.array(["E", "W"], dtype=object), n),
    }


def test_unchanged_records_cost_nothing() -> None:
    x = firms()
    found = dk.measure_utility(x, x, ["staff", "turnover"], classes=["region"], regressions=[EQUATION])
    summary = found.summary()
    assert summary.pop("records") == 2000
    assert max(summary.values()) < 1e-12
    assert found.regressions[0].overlap == pytest.approx([1.0, 1.0])


EQUATION = dk.Regression(response="turnover", on=("staff",))


def test_il1s_is_the_formula() -> None:
    x, y = firms(), {**firms(), "staff": firms()["staff"] * 1.1}
    found = dk.measure_utility(x, y, ["staff"]).columns[0]
    expected = np.abs(y["staff"] - x["staff"]).mean() / (np.sqrt(2) * x["staff"].std())
    assert found.il1s == pytest.approx(expected)
    assert found.mean_change == pytest.approx(0.1)
    assert found.variance_change == pytest.approx(0.21)


def test_regression_agrees_with_least_squares() -> None:
    x = firms()
    for logs in (True, False):
        found = dk.measure_utility(
            x, x, ["staff"], regressions=[dk.Regression(response="turnover", on=("staff",), logs=logs)]
        )
        a, b = (np.log(x[n]) if logs else x[n] for n in ("staff", "turnover"))
        design = np.column_stack([np.ones(a.size), a])
        beta, rss, *_ = np.linalg.lstsq(design, b, rcond=None)
        errors = np.sqrt(rss[0] / (a.size - 2) * np.diag(np.linalg.inv(design.T @ design)))
        assert found.regressions[0].before == pytest.approx(beta)
        assert found.regressions[0].error_before == pytest.approx(errors)


def test_noise_moves_coefficients_less_than_their_errors_and_mdav_shrinks_variance() -> None:
    x = firms()
    noisy = dk.add_noise(x, ["staff", "turnover"], sd=0.05, seed=1).frame
    rough = dk.microaggregate(x, ["staff", "turnover"], m=50, method="mdav").frame
    one, two = (dk.measure_utility(x, y, ["staff", "turnover"], regressions=[EQUATION]) for y in (noisy, rough))
    assert one.regressions[0].overlap.min() > 0.8
    assert two.columns[0].variance_change < -0.05
    assert two.propensity.pmse > one.propensity.pmse


def test_correlation_change_is_the_largest_entry() -> None:
    x = firms()
    y = {**x, "turnover": x["turnover"][::-1]}
    found = dk.measure_utility(x, y, ["staff", "turnover"])
    before, after = (np.corrcoef(f["staff"], f["turnover"])[0, 1] for f in (x, y))
    assert found.correlation_change == pytest.approx(abs(after - before))


def test_classes_are_compared_by_their_codes() -> None:
    x = {"r": ["a", "a", "b", "b"], "n": [1.0, 2, 3, 5]}
    y = {"r": ["a", "b", "b", "c"], "n": [1.0, 2, 3, 5]}
    found = dk.measure_utility(x, y, ["n"], classes=["r"]).classes[0]
    assert found.changed == 0.5
    assert found.hellinger == pytest.approx(np.sqrt(1 - np.sqrt(0.5 * 0.25) - np.sqrt(0.5 * 0.5)))


@given(st.lists(st.integers(0, 50), min_size=2, max_size=8), st.lists(st.integers(0, 50), min_size=2, max_size=8))
def test_hellinger_is_a_distance_between_zero_and_one(p: list[int], q: list[int]) -> None:
    n = min(len(p), len(q))
    p, q = p[:n], q[:n]
    assert 0 <= hellinger(p, q) <= 1 + 1e-12
    assert hellinger(p, q) == pytest.approx(hellinger(q, p))
    assert hellinger(p, p) == 0


# --- propensity ------------------------------------------------------------------------------------------------------


def test_two_samples_of_one_population_have_a_ratio_around_two() -> None:
    ratios = [
        propensity(read_records(firms(seed=s)), read_records(firms(seed=s + 100)), ["staff", "turnover"]).ratio
        for s in range(20)
    ]
    assert 1.3 < np.mean(ratios) < 2.7


def test_a_large_file_is_judged_by_evenly_spread_records(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = read_records(firms()), read_records(firms()).with_columns({"staff": firms()["staff"] * 1.05})
    whole = propensity(x, y, ["staff"]).pmse
    monkeypatch.setattr("diskret.microdata.propensity.MOST_RECORDS", 500)
    assert propensity(x, y, ["staff"]).pmse == pytest.approx(whole, rel=0.5)
    assert propensity(x, x, ["staff"]).pmse < 1e-12


def test_what_can_be_told_apart_has_the_largest_score() -> None:
    x = read_records(firms())
    y = x.with_columns({"staff": x["staff"] * 1e6})
    assert propensity(x, y, ["staff"]).pmse == pytest.approx(0.25, abs=0.01)
    assert propensity(x, x, ["staff"], ["region"]).pmse == pytest.approx(0, abs=1e-12)


# --- plots show no single unit ---------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
def test_no_bar_stands_for_fewer_than_five_units(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    x = rng.lognormal(3, 2, n)
    found = distribution("x", x, x * 1.1)
    if found is None:
        return
    assert len(found.edges) == len(found.before) + 1 == len(found.after) + 1
    assert sum(found.before) == pytest.approx(1, abs=1e-4)
    for shares in (found.before, found.after):
        assert min(shares) * n >= FEWEST - 0.01
    assert list(found.edges) == sorted(found.edges)


def test_classes_alone_can_be_compared_and_nothing_cannot() -> None:
    frame = {"r": ["a", "b"] * 10}
    assert dk.measure_utility(frame, frame, [], classes=["r"]).summary()["largest Hellinger distance"] == 0
    with pytest.raises(BadOption, match="nothing to compare"):
        dk.measure_utility(frame, frame, [])


def test_files_with_different_records_are_refused() -> None:
    with pytest.raises(BadOption, match="has 2 records, the protected file 1"):
        dk.measure_utility({"x": [1.0, 2]}, {"x": [1.0]}, ["x"])
