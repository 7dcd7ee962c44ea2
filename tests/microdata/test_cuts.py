"""A long column is cut only where a best grouping of the whole column cuts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from diskret.microdata import cuts
from diskret.microdata.microaggregation import optimal_starts
from diskret.model.arrays import Floats, Ints


def within(values: Floats, starts: Ints) -> Fraction:
    """The squared deviations inside the groups, in fractions."""
    ends = [*starts.tolist()[1:], values.size]
    total = Fraction(0)
    for first, end in zip(starts.tolist(), ends, strict=True):
        group = [Fraction(x) for x in values[first:end].tolist()]
        total += sum((x * x for x in group), Fraction(0)) - sum(group, Fraction(0)) ** 2 / len(group)
    return total


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("kind", ["skewed", "few values", "evenly spaced", "rounded"])
def test_stretches_lose_nothing(kind: str, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(m)
    n = 1500
    values = np.sort({
        "skewed": np.exp(random.normal(8, 2, n)),
        "few values": random.integers(1, 40, n).astype(np.float64),
        "evenly spaced": np.arange(1.0, n + 1),
        "rounded": np.exp(random.normal(3, 1, n)).round(),
    }[kind])  # fmt: skip
    whole = optimal_starts(values, m)
    monkeypatch.setattr(cuts, "STRETCH", 350)
    apart = optimal_starts(values, m)
    assert within(values, apart) == within(values, whole)
    sizes = np.diff([*apart.tolist(), n])
    assert sizes.min() >= m
    assert sizes.max() < 2 * m
    if kind == "skewed":
        assert cuts.cuts_of(values, m).size == 5  # both ends and three cuts
