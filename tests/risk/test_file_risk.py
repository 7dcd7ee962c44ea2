"""Individual risk, population uniques and special uniques: against sums, simulation and brute force."""

from __future__ import annotations

import itertools
import warnings
from math import factorial, lgamma, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import BadOption, NegativeValue, ProtectionWarning
from diskret.risk import _unique_kernels
from diskret.risk._class_kernels import expected_inverse
from diskret.risk.classes import Classes, Column, classes_of
from diskret.risk.special import special_uniques
from diskret.risk.uniqueness import Frequencies, ewens, frequencies, log_linear, pitman, poisson_gamma, zayatz


def inverse_by_summation(f: int, p: float) -> float:
    """E(1/F) for F - f negative binomial, term by term."""
    h = np.arange(f, int(f / p) + 20_000)
    chance = np.array([lgamma(x) for x in h]) - lgamma(f) - np.array([lgamma(x - f + 1) for x in h])
    return float((np.exp(chance + f * log(p) + (h - f) * np.log1p(-p)) / h).sum())


@pytest.mark.parametrize("f", [1, 2, 3, 5, 12, 1900, 2500])
@pytest.mark.parametrize("p", [0.05, 0.2, 0.49, 0.51, 0.9, 0.999])
def test_individual_risk_is_the_mean_of_the_inverse(f: int, p: float) -> None:
    assert expected_inverse(np.array([f]), np.array([p]))[0] == pytest.approx(inverse_by_summation(f, p), rel=1e-6)


@given(st.integers(1, 3000), st.floats(1e-4, 1.0))
def test_individual_risk_lies_between_the_share_and_one_over_f(f: int, p: float) -> None:
    risk = expected_inverse(np.array([f]), np.array([p]))[0]
    assert p / f * (1 - 1e-9) <= risk <= 1 / f * (1 + 1e-9)


FRANCONI = {
    "key1": [1, 1, 1, 3, 4, 4, 6, 1], "key2": [2, 2, 2, 3, 3, 3, 2, 2], "key3": [5, 1, 1, 1, 1, 1, 1, 5],
    "key4": [1, 1, 1, 5, 4, 1, 5, 1], "w": [18, 45.5, 39, 17, 541, 8, 5, 92],
}  # fmt: skip
"""The toy file of Franconi and Polettini, as sdcMicro carries it."""


def test_the_toy_file_of_franconi_and_polettini() -> None:
    found = dk.measure_risk(FRANCONI, keys=["key1", "key2", "key3", "key4"], weight="w", special=False)
    sizes = [2, 2, 2, 1, 1, 1, 1, 2]
    population = [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    by_hand = []
    for f, big in zip(sizes, population, strict=True):
        odds = (f / big) / (1 - f / big)
        by_hand.append(odds * log(big) if f == 1 else odds - odds**2 * log(big / 2))
    assert found.individual.risk == pytest.approx(by_hand)
    assert found.individual.risk.round(4).tolist()[3:7] == [0.1771, 0.0117, 0.2971, 0.4024]
    assert found.alone == 4


def test_without_weights_the_file_is_the_population() -> None:
    found = dk.measure_risk({"a": [1, 1, 2]}, keys=["a"])
    assert found.individual.risk.tolist() == [0.5, 0.5, 1.0]
    assert not found.uniques


def test_a_household_is_found_if_one_of_its_members_is() -> None:
    file = {"a": [1, 1, 2, 3], "home": ["x", "y", "x", "z"]}
    found = dk.measure_risk(file, keys=["a"], population=100, household="home").individual
    assert found.household is not None
    assert found.household[0] == found.household[2] == pytest.approx(1 - (1 - found.risk[0]) * (1 - found.risk[2]))
    assert found.household[3] == pytest.approx(found.risk[3])


# --- population uniques ----------------------------------------------------------------------------------------------


def sampled(sizes: np.ndarray, n: int, seed: int) -> tuple[Frequencies, int, Classes]:
    """Frequencies of a sample from a population with given class sizes, and its population uniques."""
    population = np.repeat(np.arange(sizes.size), sizes)
    drawn = np.random.default_rng(seed).choice(population, n, replace=False)
    ids, counts = np.unique(drawn, return_inverse=True, return_counts=True)[1:]
    classes = Classes(ids=ids, sizes=counts)
    return frequencies(classes, population.size), int((sizes == 1).sum()), classes


def restaurant(theta: float, alpha: float, n: int, seed: int) -> np.ndarray:
    """Class sizes of Pitman's process: a newcomer joins a class by its size, or opens one."""
    generator = np.random.default_rng(seed)
    sizes = [1]
    for i in range(1, n):
        new = (theta + alpha * len(sizes)) / (i + theta)
        if generator.random() < new:
            sizes.append(1)
        else:
            weights = np.array(sizes) - alpha
            sizes[generator.choice(len(sizes), p=weights / weights.sum())] += 1
    return np.array(sizes)


def test_pitman_finds_the_uniques_of_its_own_process() -> None:
    sample, true, _ = sampled(restaurant(50.0, 0.5, 8000, 3), 1600, 4)
    found = pitman(sample)
    assert found.population == pytest.approx(true, rel=0.15)
    assert found.parameters is not None
    assert found.parameters["alpha"] == pytest.approx(0.5, abs=0.1)


def test_ewens_finds_the_uniques_of_its_own_process() -> None:
    sample, true, _ = sampled(restaurant(300.0, 0.0, 8000, 5), 1600, 6)
    assert ewens(sample).population == pytest.approx(true, rel=0.15)
    assert pitman(sample).population == pytest.approx(ewens(sample).population, rel=0.1)


def test_poisson_gamma_finds_the_uniques_of_its_own_process() -> None:
    cells = 4000
    generator = np.random.default_rng(7)
    sizes = generator.poisson(generator.gamma(0.5, 20.0, cells))
    sample, true, _ = sampled(sizes, int(sizes.sum() // 5), 8)
    assert poisson_gamma(sample, cells).population == pytest.approx(true, rel=0.15)


def test_independent_keys_are_met_by_main_effects() -> None:
    generator = np.random.default_rng(9)
    n, fraction = 40_000, 0.1
    codes = [generator.choice(12, n, p=generator.dirichlet(np.ones(12))).astype(np.int32) for _ in range(4)]
    whole = classes_of([Column(codes=c, labels=np.arange(12).astype(object)) for c in codes])
    chosen = generator.choice(n, int(n * fraction), replace=False)
    columns = [Column(codes=c[chosen], labels=np.arange(12).astype(object)) for c in codes]
    classes = classes_of(columns)
    alone = classes.sizes[classes.ids] == 1
    in_population = whole.sizes[whole.ids[chosen]]
    found = log_linear(columns, classes, fraction)
    assert found.sample == pytest.approx((alone & (in_population == 1)).sum(), rel=0.2)
    assert found.matches == pytest.approx((1 / in_population[alone]).sum(), rel=0.15)
    assert log_linear(columns, classes, fraction, pairs=True).sample == pytest.approx(found.sample, rel=0.5)


def test_two_way_tables_see_what_main_effects_do_not() -> None:
    generator = np.random.default_rng(11)
    a = generator.integers(0, 30, 20_000)
    columns = {"a": a, "b": (a + generator.integers(0, 2, a.size)) % 30, "c": generator.integers(0, 8, a.size)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        found = dk.measure_risk({k: v[:2000] for k, v in columns.items()}, keys=list(columns), population=20_000)
    assert found.uniques["log-linear, two-way"].sample < found.uniques["log-linear, main effects"].sample


@given(st.lists(st.integers(1, 9), min_size=2, max_size=40), st.integers(2, 50))
def test_models_never_find_more_uniques_than_there_are(sizes: list[int], times: int) -> None:
    counts = np.array(sizes)
    sample = frequencies(Classes(ids=np.repeat(np.arange(counts.size), counts), sizes=counts), counts.sum() * times)
    for model in (ewens(sample), pitman(sample), zayatz(sample), poisson_gamma(sample, 10 * counts.size)):
        assert 0 <= model.sample <= sample.alone + 1e-9
        assert 0 <= model.population <= sample.population + 1e-6


def test_models_that_disagree_are_a_warning() -> None:
    generator = np.random.default_rng(13)
    columns = {k: generator.integers(0, 9, 400) for k in "abc"}
    with pytest.warns(ProtectionWarning, match="far apart"):
        dk.measure_risk(columns, keys=list("abc"), population=40_000)


# --- special uniques -------------------------------------------------------------------------------------------------


def minimal_by_brute_force(rows: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """For every record the sets of keys on which it is alone while on no smaller set it is."""
    keys = range(len(rows[0]))
    found = []
    for row in rows:
        sets: list[tuple[int, ...]] = []
        for size in range(1, len(rows[0]) + 1):
            for chosen in itertools.combinations(keys, size):
                alike = sum(all(other[k] == row[k] for k in chosen) for other in rows)
                if alike == 1 and not any(set(s) <= set(chosen) for s in sets):
                    sets.append(chosen)
        found.append(sets)
    return found


def columns_of(rows: list[tuple[int, ...]]) -> list[Column]:
    return [
        Column(codes=np.array(c, dtype=np.int32), labels=np.arange(10).astype(object)) for c in zip(*rows, strict=True)
    ]


@given(
    st.integers(1, 5).flatmap(lambda m: st.lists(st.tuples(*[st.integers(0, 2)] * m), min_size=2, max_size=25)),
)
def test_minimal_sample_uniques_equal_brute_force(rows: list[tuple[int, ...]]) -> None:
    columns, m = columns_of(rows), len(rows[0])
    found = special_uniques(columns, [str(i) for i in range(m)], classes_of(columns), 0.1)
    expected = minimal_by_brute_force(rows)
    by_size = [[sum(len(s) == size for s in sets) for size in range(1, m + 1)] for sets in expected]
    assert found.sets.tolist() == by_size
    assert found.score.tolist() == [sum(factorial(m - len(s)) for s in sets) for sets in expected]
    total = found.score.sum()
    for key in range(m):
        part = sum(factorial(m - len(s)) for sets in expected for s in sets if key in s)
        assert found.contribution[str(key)] == pytest.approx(part / total if total else 0.0)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=25), st.integers(1, 3))
def test_smaller_sets_are_found_alone_as_well(rows: list[tuple[int, ...]], largest: int) -> None:
    columns = columns_of(rows)
    names = ["a", "b", "c", "d"]
    all_sizes = special_uniques(columns, names, classes_of(columns), 0.1)
    some = special_uniques(columns, names, classes_of(columns), 0.1, largest)
    assert some.sets.tolist() == all_sizes.sets[:, :largest].tolist()


def test_dis_score_grows_with_the_score_and_stays_a_probability() -> None:
    generator = np.random.default_rng(1)
    rows = [tuple(int(x) for x in r) for r in generator.integers(0, 4, (200, 4))]
    columns = columns_of(rows)
    classes = classes_of(columns)
    found = special_uniques(columns, list("abcd"), classes, 0.05)
    alone, pairs = (classes.sizes == 1).sum(), (classes.sizes == 2).sum()
    assert found.dis == pytest.approx(alone * 0.05 / (alone * 0.05 + 2 * pairs * 0.95))
    order = np.argsort(found.score, kind="stable")
    assert (np.diff(found.dis_score[order]) >= -1e-15).all()
    assert ((found.dis_score >= 0) & (found.dis_score < 1)).all()
    assert ((found.dis_score > 0) == (found.score > 0)).all()


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=20), st.integers(1, 4))
def test_a_record_leaves_with_the_key_that_makes_it_alone(rows: list[tuple[int, ...]], largest: int) -> None:
    """Twin of the kernel: keys in ascending order, alone with the last of them and not before."""
    codes = np.array(rows, dtype=np.int32).T.copy()
    record, masks = _unique_kernels.first_uniques(codes, np.full(4, 3), largest)

    def alone(row: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
        return sum(all(other[k] == row[k] for k in chosen) for other in rows) == 1

    sets = [s for size in range(1, largest + 1) for s in itertools.combinations(range(4), size)]
    expected = {(r, s) for r, row in enumerate(rows) for s in sets if alone(row, s) and not alone(row, s[:-1])}
    found = [(int(r), tuple(k for k in range(4) if m >> k & 1)) for r, m in zip(record, masks, strict=True)]
    assert len(found) == len(set(found))
    assert set(found) == expected


@given(st.lists(st.lists(st.integers(1, 31), max_size=6, unique=True), max_size=5))
def test_a_set_is_minimal_if_it_holds_no_other(of_records: list[list[int]]) -> None:
    start = np.cumsum([0, *map(len, of_records)])
    masks = np.array([m for own in of_records for m in own], dtype=np.int64)
    expected = [not any(o != m and o & m == o for o in own) for own in of_records for m in own]
    assert _unique_kernels.minimal(start, masks).tolist() == expected


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "options", "kind", "says"),
    [
        ({"a": [1, 2], "w": [5.0, -1.0]}, {"weight": "w"}, NegativeValue, "zero or negative"),
        ({"a": [1, 2], "w": [5.0, None]}, {"weight": "w"}, BadOption, "missing"),
        ({"a": [1, 2], "w": [0.5, 0.5]}, {"weight": "w"}, BadOption, "less than the number of records"),
        ({"a": [1, 2]}, {"population": 1}, BadOption, "fewer units"),
        ({"a": [1, 2]}, {"largest": 2}, BadOption, "largest set"),
    ],
)
def test_refusals(data: Any, options: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        dk.measure_risk(data, keys=["a"], **options)
