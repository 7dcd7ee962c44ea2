"""Log-additive noise: golden trace of the pairing, feasible mixtures, and what the noise keeps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import erf, exp, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.microdata import _noise_kernels as kernels
from diskret.microdata import _pairing_kernels
from diskret.microdata.correlation import checked, correlations, log_moments, nearest_with_diagonal
from diskret.microdata.mixture import Mixture, largest_ratio, mixture
from diskret.microdata.noise import noise_vectors, overlay
from diskret.microdata.pairing import pair_records
from diskret.model.errors import (
    BadOption,
    ConstantColumn,
    InfeasibleNoise,
    NegativeValue,
    NotPositiveDefinite,
    ProtectionWarning,
    TooFewUnits,
)

Golden = Callable[[str], Any]
PANEL = dk.NoiseOptions(unit="id", wave="year", nearest=True)


def firms(units: int, columns: int, seed: int = 0, gaps: float = 0.0) -> np.ndarray:
    """Correlated, skewed columns."""
    rng = np.random.default_rng(seed)
    x = np.exp(1.2 * rng.normal(size=(units, 1)) + 0.5 * rng.normal(size=(units, columns)) + 8)
    x[rng.random(x.shape) < gaps] = np.nan
    return x


def frame(x: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{k}": x[:, k] for k in range(x.shape[1])}


def matrix(records: Any) -> np.ndarray:
    return np.column_stack(list(records.values()))


# --- golden: the mixture ---------------------------------------------------------------------------------------------


def test_largest_feasible_shift_is_the_printed_one(golden: Golden) -> None:
    case = golden("panel/noise_mixture")["expected"]["example"]
    r = np.array(case["R"])
    assert round(largest_ratio(r) * case["s"], 8) == case["largest_feasible_f"]
    made = mixture(r, 0.105, case["s"])
    assert case["f_0_105_feasible"]
    assert kernels.eigen(made.covariance)[0].min() / case["s"] ** 2 > 0
    low = kernels.eigen(made.covariance)[0].min()
    assert low == pytest.approx(case["min_eigenvalue_at_f_0_105"], rel=1e-4)
    with pytest.raises(InfeasibleNoise):
        mixture(r, case["largest_feasible_f"] * 1.0001, case["s"])


def test_drawn_vectors_have_the_printed_correlations(golden: Golden) -> None:
    case = golden("panel/noise_mixture")["expected"]["example"]
    run = case["monte_carlo"]
    upper, lower = noise_vectors(
        mixture(np.array(case["R"]), run["f"], case["s"]), run["n"] // 2, np.random.default_rng(1)
    )
    u = np.concatenate([upper, lower])
    assert np.corrcoef(u.T) == pytest.approx(np.array(run["corr"]), abs=0.002)
    assert u.std(axis=0) == pytest.approx(run["sd"], abs=0.0005)
    assert u.mean(axis=0) == pytest.approx(run["mean"], abs=0.0005)


def test_the_shortcut_gives_the_wrong_correlation(golden: Golden) -> None:
    """(s^2 - f^2) R around each peak instead of s^2 R - f^2 J."""
    case = golden("panel/noise_mixture")["expected"]["example"]
    r, f, s = np.array(case["R"]), 0.09645405, case["s"]
    whole = f**2 + (s**2 - f**2) * r
    assert np.abs(whole / s**2 - r).max() > 0.05


def test_table_of_single_columns_is_the_printed_one(golden: Golden) -> None:
    rng = np.random.default_rng(5)
    for row in golden("panel/noise_mixture")["expected"]["single_column_table"]:
        f, sigma = row["f"], row["component_sd"]
        assert round(sqrt(f**2 + sigma**2), 6) == row["total_sd_s"]
        assert round(exp(sigma**2 / 2) * (exp(f) + exp(-f)) / 2, 4) == row["mean_factor"]
        below = [0.5 * (1 + erf((np.log(b) - m) / (sigma * sqrt(2)))) for b in (1.1, 0.9) for m in (f, -f)]
        share = (below[0] + below[1] - below[2] - below[3]) / 2
        assert share == pytest.approx(row["share_within_10_percent"], abs=1e-4)  # one is printed 0.4296, exact 0.42954
        made = mixture(np.ones((1, 1)), f, sqrt(f**2 + sigma**2))
        upper, lower = noise_vectors(made, 100_000, rng)
        change = np.abs(np.exp(np.concatenate([upper, lower])) - 1).mean()
        assert change == pytest.approx(row["mean_abs_relative_change"], abs=0.001)


def test_uncorrelated_columns_allow_a_shift_of_sd_over_root_m() -> None:
    for m in (2, 5, 9):
        assert largest_ratio(np.eye(m)) == pytest.approx(1 / np.sqrt(m))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.floats(0.05, 0.99))
def test_feasible_is_what_has_no_negative_eigenvalue(seed: int, columns: int, part: float) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(columns, columns + 2))
    r = np.atleast_2d(np.corrcoef(a))
    low = np.linalg.eigvalsh(r - part**2)[0]
    if abs(low) < 1e-6:
        return
    if low > 0:
        mixture(r, part, 1.0)
    else:
        with pytest.raises(InfeasibleNoise, match="negative eigenvalue"):
            mixture(r, part, 1.0)
        made = mixture(r, part, 1.0, nearest=True)
        assert np.linalg.eigvalsh(made.covariance)[0] > -1e-9
        assert np.diag(made.covariance) == pytest.approx(np.full(columns, 1 - part**2))
        assert made.deviation >= -low / columns - 1e-9


def test_an_infeasible_shift_is_told_with_what_is_feasible() -> None:
    with pytest.raises(InfeasibleNoise) as caught:
        mixture(np.eye(4), 0.1, 0.15)
    assert "at most 0.5000 times the sd" in caught.value.hint
    assert "at least 2.0000 times the shift" in caught.value.hint
    assert "0.15" not in str(caught.value)  # the parameters are secret


# --- golden: the pairing ---------------------------------------------------------------------------------------------


def trace(x: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> list[dict[str, Any]]:
    """The readable twin: the algorithm of the source, step by step."""
    left, changed = list(range(len(x))), x.copy()
    steps: list[dict[str, Any]] = []
    mean_of_file = x.mean(axis=0)

    def objective(trial: np.ndarray) -> float:
        return float((((trial - x).sum(axis=0) / mean_of_file) ** 2).sum())

    while len(left) >= 2:
        centroid = x[left].mean(axis=0)
        far = {r: float((((x[r] - centroid) / centroid) ** 2).sum()) for r in left}
        i = max(left, key=lambda r: (far[r], -r)) if len(left) > 2 else min(left)  # two are equally far
        near = {r: float((((x[r] - x[i]) / centroid) ** 2).sum()) for r in left if r != i}
        j = min(near, key=lambda r: (near[r], r))
        trials = []
        for u, v in ((upper, lower), (lower, upper)):
            trial = changed.copy()
            trial[i], trial[j] = x[i] * np.exp(u[len(steps)]), x[j] * np.exp(v[len(steps)])
            trials.append(trial)
        v1, v2 = map(objective, trials)
        changed = trials[v2 < v1]
        steps.append({"centroid": centroid, "far": far, "i": i, "near": near, "j": j, "v": (v1, v2), "turned": v2 < v1})
        left = [r for r in left if r not in (i, j)]
    return [*steps, {"anonymised": changed}]


def test_pairing_is_the_printed_one_step_by_step(golden: Golden) -> None:
    case = golden("panel/pairing_small")
    names = list(case["input"]["records"])
    x = np.array(list(case["input"]["records"].values()), dtype=float)
    upper = np.array([p["u_n"] for p in case["input"]["noise_pairs"]])
    lower = np.array([p["u_n_minus_1"] for p in case["input"]["noise_pairs"]])
    *steps, last = trace(x, upper, lower)
    for found, expected in zip(steps, case["expected"]["steps"], strict=True):
        assert found["centroid"] == pytest.approx(expected["centroid"], abs=1e-6)
        assert {names[r]: round(d, 6) for r, d in found["far"].items()} == expected["distance_to_centroid"]
        assert {names[r]: round(d, 6) for r, d in found["near"].items()} == expected["distance_to_i"]
        assert (names[found["i"]], names[found["j"]]) == (expected["record_i"], expected["record_j"])
        assert [round(v, 8) for v in found["v"]] == [expected["objective_v1"], expected["objective_v2"]]
        assert ["v1", "v2"][found["turned"]] == expected["chosen"]
    pairs = pair_records(x, "exact")
    assert [[names[i], names[j]] for i, j in pairs] == [
        [s["record_i"], s["record_j"]] for s in case["expected"]["steps"]
    ]
    done, turned = overlay(x, pairs, upper, lower)
    assert turned.tolist() == [s["chosen"] == "v2" for s in case["expected"]["steps"]]
    assert dict(zip(names, done.round(4).tolist(), strict=True)) == case["expected"]["anonymised"]
    assert last["anonymised"] == pytest.approx(done)
    assert x.sum(axis=0).tolist() == case["expected"]["sum_before"]
    assert done.sum(axis=0).round(4).tolist() == case["expected"]["sum_after"]


@given(st.integers(0, 2**32 - 1))
def test_kernels_agree_with_the_readable_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units, columns = int(rng.integers(2, 30)) // 2 * 2, int(rng.integers(1, 7))
    x = rng.lognormal(3, 1, size=(units, columns)) + 1
    upper, lower = rng.normal(0.1, 0.02, (units // 2, columns)), rng.normal(-0.1, 0.02, (units // 2, columns))
    *steps, last = trace(x, upper, lower)
    pairs = pair_records(x, "exact")
    assert pairs.tolist() == [[s["i"], s["j"]] for s in steps]
    assert overlay(x, pairs, upper, lower)[0] == pytest.approx(last["anonymised"])


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.5))
def test_distances_leave_gaps_out(seed: int, gaps: float) -> None:
    """The rest of a record stands for what is missing; without a common value two records are infinitely far."""
    x = firms(2, int(np.random.default_rng(seed).integers(1, 9)), seed, gaps)
    scale = np.random.default_rng(seed).random((x.shape[1],))
    parts = [float(((u - v) * s) ** 2) for u, v, s in zip(x[0], x[1], scale, strict=True) if u == u and v == v]
    expected = sum(parts) * x.shape[1] / len(parts) if parts else np.inf
    found = _pairing_kernels.distance(x[0], x[1], scale, len(parts) == x.shape[1])
    assert found == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["exact", "blocks"]), st.floats(0, 0.4))
def test_every_unit_is_in_one_pair(seed: int, how: Any, gaps: float) -> None:
    rng = np.random.default_rng(seed)
    x = firms(int(rng.integers(2, 90)), 3, seed, gaps)
    pairs = pair_records(x, how, block=16, first=10)
    units = pairs[pairs >= 0]
    assert np.array_equal(np.sort(units), np.arange(len(x)))
    assert (pairs[:, 1] < 0).sum() == len(x) % 2


def test_partners_are_similar_and_large_ones_come_first() -> None:
    x = firms(4000, 5)
    size = x.sum(axis=1)
    for how in ("exact", "blocks"):
        pairs = pair_records(x, how)
        ratio = np.abs(np.log(x[pairs[:, 0]] / x[pairs[:, 1]])).mean()
        assert ratio < 0.6 * np.abs(np.log(x / np.random.default_rng(0).permutation(x))).mean()
        assert size[pairs[:100]].mean() > 3 * size.mean()


def test_fast_pairing_keeps_means_as_well_as_exact_pairing() -> None:
    x = firms(3000, 8, seed=4)
    error = {}
    for how in ("none", "exact", "blocks"):
        runs, options = [], dk.NoiseOptions(pairing=how)
        for seed in range(6):
            done = dk.add_noise(frame(x), list(frame(x)), shift=0.08, sd=0.13, seed=seed, options=options)
            runs.append(np.abs(matrix(done.frame).mean(axis=0) / x.mean(axis=0) - 1).mean())
        error[how] = float(np.mean(runs))
    assert error["exact"] < error["none"] / 2
    assert error["blocks"] < error["none"] / 2
    assert error["blocks"] < 1.5 * error["exact"]


# --- what the noise keeps --------------------------------------------------------------------------------------------


def test_correlation_of_the_logs_is_kept_within_sampling_error() -> None:
    x = firms(20_000, 6, seed=2)
    r = np.corrcoef(np.log(x).T)
    for shift in (0.0, 0.1):
        done = dk.add_noise(frame(x), list(frame(x)), shift=shift, sd=0.15, seed=8)
        u = np.log(matrix(done.frame) / x)
        bound = 4 * (1 - r**2).max() / sqrt(len(x))
        assert np.abs(np.corrcoef(u.T) - r).max() < bound
        assert np.abs(np.corrcoef(np.log(x * np.exp(u)).T) - r).max() < bound
        assert u.std(axis=0) == pytest.approx(
            np.full(6, 0.15), rel=0.02
        )  # equal variance, whatever the column's spread
        assert np.abs(u.mean(axis=0)).max() < 4 * 0.15 / sqrt(len(x))


def test_most_values_of_the_mixture_change_by_a_minimum() -> None:
    x = firms(5000, 4)
    done = matrix(dk.add_noise(frame(x), list(frame(x)), shift=0.1, sd=0.12, seed=1).frame)
    plain = matrix(dk.add_noise(frame(x), list(frame(x)), sd=0.12, seed=1).frame)
    small = [float((np.abs(y / x - 1) < 0.03).mean()) for y in (done, plain)]
    assert small[0] < small[1] / 1.4


def test_a_record_is_enlarged_or_reduced_as_a_whole() -> None:
    x = firms(2000, 4)
    r = log_moments(x, list("abcd")).correlation
    f = 0.99 * largest_ratio(r) * 0.1
    u = np.log(matrix(dk.add_noise(frame(x), list(frame(x)), shift=f, sd=0.1, seed=1).frame) / x)
    assert (np.sign(u) == np.sign(u[:, :1])).all(axis=1).mean() > 0.9


def test_kim_winkler_has_proportional_covariance_and_biased_means() -> None:
    x = firms(50_000, 3, seed=6) ** np.array([0.5, 1.0, 1.5])
    done = dk.add_noise(frame(x), list(frame(x)), amount=0.2, seed=3)
    u = np.log(matrix(done.frame) / x)
    assert np.cov(u.T) == pytest.approx(0.2 * np.cov(np.log(x).T), rel=0.05)
    # E e^u = e^(variance / 2): the drawback the source names
    assert matrix(done.frame).mean(axis=0)[0] / x.mean(axis=0)[0] > 1.02


def test_zeros_and_absent_units_stay() -> None:
    panel = {
        "id": [1, 1, 2, 3, 3, 4, 5, 5, 6, 6],
        "year": [1, 2, 1, 1, 2, 2, 1, 2, 1, 2],
        "x": [10.0, 12, 0, 50, 45, 7, 99, 90, 33, None],
        "y": [1.0, 1.3, 2, 6, 4, 1, 9, 8, 3, 3.5],
    }
    done = dk.add_noise(panel, ["x", "y"], sd=0.1, seed=5, options=PANEL).frame
    assert done["x"][2] == 0
    assert np.isnan(done["x"][9])
    assert done.rows == 10
    assert done["id"].tolist() == panel["id"]
    assert (done["y"] != np.array(panel["y"])).all()


def test_a_unit_goes_the_same_way_in_all_waves() -> None:
    x = firms(600, 2, seed=9)
    waves = [x * w for w in (1.0, 1.1, 1.25)]
    panel = {
        "id": np.tile(np.arange(600), 3),
        "year": np.repeat([1, 2, 3], 600),
        "a": np.concatenate([w[:, 0] for w in waves]),
        "b": np.concatenate([w[:, 1] * np.exp(np.random.default_rng(1).normal(0, 0.02, 600)) for w in waves]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        done = dk.add_noise(panel, ["a", "b"], shift=0.08, sd=0.1, seed=5, options=PANEL).frame
    u = np.log(done["a"] / panel["a"]).reshape(3, 600)
    assert (np.sign(u) == np.sign(u[0])).all(axis=0).mean() > 0.98


def test_same_seed_same_bytes_other_seed_other_noise() -> None:
    x = frame(firms(300, 3))
    one, two, other = (dk.add_noise(x, list(x), sd=0.1, seed=s).frame for s in (4, 4, 5))
    assert all(np.array_equal(one[n], two[n]) for n in x)
    assert not np.array_equal(one["c0"], other["c0"])


# --- correlations with gaps ------------------------------------------------------------------------------------------


def test_pairwise_correlations_agree_with_pandas() -> None:
    import pandas as pd

    x = firms(500, 4, seed=3, gaps=0.2)
    expected = pd.DataFrame(np.log(x)).corr().to_numpy()
    assert correlations(np.log(x))[0] == pytest.approx(expected)
    complete = np.log(x[~np.isnan(x).any(axis=1)])
    assert log_moments(x, list("abcd"), "complete").correlation == pytest.approx(np.corrcoef(complete.T))


def test_moments_of_pairs_are_sums_over_the_rows_that_have_both() -> None:
    x = firms(40, 3, seed=5, gaps=0.3)
    for complete in (False, True):
        found = kernels.pair_moments(x, complete)
        for a, b in ((0, 0), (1, 0), (2, 1)):
            rows = [r for r in x if not np.isnan([r[a], r[b]]).any() and not (complete and np.isnan(r).any())]
            sums = [len(rows), *(sum(r[k] ** p for r in rows) for p in (1, 2) for k in (a, b))]
            assert found[a, b] == pytest.approx([*sums, sum(r[a] * r[b] for r in rows)])


def test_correlated_rows_are_products_with_the_root() -> None:
    rng = np.random.default_rng(1)
    drawn, root = rng.normal(size=(20, 4)), rng.normal(size=(4, 4))
    expected = [[sum(root[k, j] * row[j] for j in range(4)) for k in range(4)] for row in drawn]
    kernels.correlate(drawn, root)
    assert drawn == pytest.approx(np.array(expected))


def test_eigenvalues_agree_with_lapack() -> None:
    r = np.corrcoef(np.random.default_rng(0).normal(size=(12, 30)))
    values, vectors = kernels.eigen(r)
    assert np.sort(values) == pytest.approx(np.linalg.eigvalsh(r))
    assert (vectors * values) @ vectors.T == pytest.approx(r)


def test_impossible_correlations_are_refused_or_replaced_by_the_nearest() -> None:
    bad = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    with pytest.raises(NotPositiveDefinite, match=r"eigenvalue -0\.8"):
        checked(bad, nearest=False)
    near = checked(bad, nearest=True)
    assert np.linalg.eigvalsh(near)[0] > -1e-9
    rng = np.random.default_rng(0)
    for _ in range(200):  # no other correlation matrix is nearer
        other = np.corrcoef(rng.normal(size=(3, 4)))
        assert ((near - bad) ** 2).sum() <= ((other - bad) ** 2).sum() + 1e-6
    assert nearest_with_diagonal(near, np.ones(3)) == pytest.approx(near, abs=1e-6)


# --- refusals --------------------------------------------------------------------------------------------------------


def test_negative_values_are_refused_with_their_rows() -> None:
    with pytest.raises(NegativeValue) as caught:
        dk.add_noise({"profit": [10.0, -3.5, 7, 12]}, ["profit"], sd=0.1, seed=1)
    assert "rows 2" in caught.value.where
    assert "3.5" not in str(caught.value)


def test_constant_column_is_refused() -> None:
    with pytest.raises(ConstantColumn, match="'x'"):
        dk.add_noise({"x": [5.0] * 5, "y": [1.0, 2, 3, 4, 5]}, ["x", "y"], sd=0.1, seed=1)


def test_too_few_positive_values_are_refused() -> None:
    with pytest.raises(TooFewUnits, match="2 positive values"):
        dk.add_noise({"x": [5.0, 4.0, 0, 0]}, ["x"], sd=0.1, seed=1)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"sd": 0.1, "amount": 0.1}, {"sd": -1.0}, {"sd": 0.1, "shift": -0.1}, {"amount": 0.1, "shift": 0.1},
        {"sd": 0.1, "seed": -1}, {"sd": 0.1, "options": dk.NoiseOptions(unit="x")}, {"sd": float("nan")},
    ],
)  # fmt: skip
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        dk.add_noise({"x": [1.0, 2, 3, 4]}, ["x"], **{"seed": 1, **options})


@pytest.mark.parametrize("options", [{"pairing": "best"}, {"gaps": "none"}])
def test_unknown_ways_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption, match="is not known"):
        dk.NoiseOptions(**options)


def test_keywords_from_before_give_the_same_noise_with_a_warning() -> None:
    x = frame(firms(60, 3))
    now = dk.add_noise(x, list(x), sd=0.1, seed=1, options=dk.NoiseOptions(pairing="blocks")).frame
    with pytest.warns(DeprecationWarning, match=r"say options=NoiseOptions\(pairing=\.\.\.\)"):
        before = dk.add_noise(x, list(x), sd=0.1, seed=1, pairing="blocks").frame
    assert all(np.array_equal(now[name], before[name]) for name in x)


def test_a_shift_that_reaches_the_sd_is_refused() -> None:
    with pytest.raises(InfeasibleNoise, match="not below the sd"):
        dk.add_noise({"x": [1.0, 2, 3, 4]}, ["x"], sd=0.1, shift=0.1, seed=1)


def test_columns_that_only_move_against_each_other_allow_no_shift() -> None:
    frame = {"x": [1.0, 2, 4, 8], "y": [8.0, 4, 2, 1]}
    with pytest.raises(InfeasibleNoise, match="no noise has a shift"):
        dk.add_noise(frame, ["x", "y"], sd=0.1, shift=0.01, seed=1)


def test_a_unit_twice_in_a_wave_is_refused() -> None:
    panel = {"id": [1, 1, 2, 3], "year": [1, 1, 1, 1], "x": [1.0, 2, 3, 4]}
    with pytest.raises(BadOption, match="two records in one wave"):
        dk.add_noise(panel, ["x"], sd=0.1, seed=1, options=dk.NoiseOptions(unit="id", wave="year"))


def test_vectors_of_a_mixture_without_spread_are_the_peaks() -> None:
    upper, lower = noise_vectors(Mixture(shift=0.1, covariance=np.zeros((2, 2))), 3, np.random.default_rng(0))
    assert upper.tolist() == [[0.1, 0.1]] * 3
    assert lower.tolist() == [[-0.1, -0.1]] * 3
