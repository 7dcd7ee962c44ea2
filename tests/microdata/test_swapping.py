"""Targeted record swapping: what stays exactly as it was, who moves, and who cannot."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.microdata._swap_kernels import pair_targets
from diskret.model.errors import BadOption, ProtectionWarning


def people(n: int = 600, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    county = rng.integers(0, 12, n)
    return {
        "state": [f"s{c // 4}" for c in county],
        "county": [f"c{c}" for c in county],
        "age": rng.choice(["y", "m", "o"], n, p=[0.5, 0.4, 0.1]).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "job": rng.choice(list("abcdef"), n, p=[0.5, 0.3, 0.1, 0.06, 0.03, 0.01]).tolist(),
    }


def counts(frame: Any, *names: str) -> Counter[Any]:
    return Counter(zip(*(np.asarray(frame[n], dtype=object).tolist() for n in names), strict=True))


OPTIONS: dict[str, Any] = {"risk": ["age", "sex", "job"], "similar": [["age", "sex"]], "seed": 1}


def test_tables_without_region_and_of_region_by_agreement_stay_exactly() -> None:
    before = people(3000)
    after = dk.swap_records(before, ["state", "county"], **OPTIONS, k=3, rate=0.1).frame
    assert counts(before, "age", "sex", "job") == counts(after, "age", "sex", "job")
    assert counts(before, "state", "county", "age", "sex") == counts(after, "state", "county", "age", "sex")
    assert counts(before, "county", "job") != counts(after, "county", "job")


def test_every_unit_at_risk_moves_over_the_border_of_its_level() -> None:
    before = people(seed=2)
    done = dk.swap_records(before, ["state", "county"], **OPTIONS, k=3)
    after, cells = done.frame, counts(before, "state", "county", "age", "sex", "job")
    top = counts(before, "state", "age", "sex", "job")
    for i, key in enumerate(zip(*(before[n] for n in ("state", "county", "age", "sex", "job")), strict=True)):
        if top[key[0], *key[2:]] < 3:
            assert after["state"][i] != before["state"][i]
        elif cells[key] < 3:
            assert after["county"][i] != before["county"][i]
    assert done.facts["units at risk without a partner"] == 0


def test_partners_stay_inside_the_higher_region_if_they_can() -> None:
    before = people(3000, seed=3)
    after = dk.swap_records(before, ["state", "county"], **OPTIONS, k=2).frame
    moved = np.array(before["county"]) != after["county"]
    crossed = np.array(before["state"]) != after["state"]
    assert moved.sum() > 0
    assert crossed.sum() < moved.sum() / 2


@given(st.integers(0, 2**32 - 1))
def test_kernel_agrees_with_its_readable_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, keys, areas = int(rng.integers(1, 60)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    key = np.concatenate([rng.integers(0, keys, n), np.arange(keys)])
    area, n = rng.integers(0, areas, n + keys), n + keys
    order = rng.permutation(n)
    pool = order[np.argsort(key[order], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(key))])
    targets, most = rng.permutation(n)[: int(rng.integers(0, n + 1))], int(rng.integers(0, n))
    partner, expected = np.full(n, -1), np.full(n, -1)
    made = pair_targets(targets, most, key, area, pool, start, partner)
    for t in targets:
        free = [u for u in pool if key[u] == key[t] and expected[u] < 0 and area[u] != area[t]]
        if expected[t] < 0 and free and (expected >= 0).sum() < 2 * most:
            expected[t], expected[free[0]] = free[0], t
    assert partner.tolist() == expected.tolist()
    assert made == (partner >= 0).sum() // 2


def test_rate_is_reached() -> None:
    before = people(2000)
    done = dk.swap_records(before, ["county"], **OPTIONS, k=2, rate=0.4)
    assert done.facts["units swapped"] == 800


def test_households_move_as_a_whole() -> None:
    rng = np.random.default_rng(1)
    size = rng.integers(1, 4, 200)
    house = np.repeat(np.arange(200), size)
    county = np.repeat(rng.integers(0, 5, 200), size)
    frame = {"h": house, "county": county, "job": rng.choice(list("abcd"), house.size), "kind": ["x"] * house.size}
    done = dk.swap_records(
        frame, ["county"], risk=["job"], similar=[["kind"]], k=8, rate=0.3, household="h", seed=2
    ).frame
    assert (done["county"] != county).any()
    for h in range(200):
        assert len(set(done["county"][house == h].tolist())) == 1
    assert counts(done, "county") == counts(frame, "county")  # households of one size change places


def test_a_unit_without_a_partner_is_told() -> None:
    frame = {"r": ["N", "N", "S"], "age": ["o", "y", "y"], "job": ["a", "b", "b"]}
    with pytest.warns(ProtectionWarning, match="1 units at risk found no partner"):
        done = dk.swap_records(frame, ["r"], risk=["age"], similar=[["age"]], k=2, seed=1)
    assert done.frame["r"][0] == "N"


def test_the_next_list_of_agreement_is_used() -> None:
    frame = {"r": ["N", "S"], "age": ["o", "y"], "sex": ["f", "f"]}
    done = dk.swap_records(frame, ["r"], risk=["age"], similar=[["age", "sex"], ["sex"]], k=2, seed=1)
    assert done.frame["r"].tolist() == ["S", "N"]


def test_same_seed_same_file() -> None:
    one, two = (dk.swap_records(people(3000), ["county"], **OPTIONS, rate=0.2).frame["county"] for _ in range(2))
    assert one.tolist() == two.tolist()


def test_impossible_options_are_refused() -> None:
    frame = people(20)
    for options in (
        {"risk": [], "similar": [["age"]]}, {"risk": ["age"], "similar": []},
        {"risk": ["age"], "similar": [["age"]], "k": 1}, {"risk": ["age"], "similar": [["age"]], "rate": 2},
    ):  # fmt: skip
        with pytest.raises(BadOption):
            dk.swap_records(frame, ["county"], seed=1, **options)
    mixed = {"h": [1, 1], "r": ["N", "S"], "age": ["o", "o"]}
    with pytest.raises(BadOption, match="differs inside a household"):
        dk.swap_records(mixed, ["r"], risk=["age"], similar=[["age"]], household="h", seed=1)
