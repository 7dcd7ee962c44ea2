"""Last period's pattern at a stated price: kept as far as the user's own cost allows, and said."""

from __future__ import annotations

import json
from math import inf

import numpy as np
import pytest

import diskret as dk
from diskret.model.errors import BadOption
from diskret.suppression.methods import AnyMethod, Cuboids, Moves, Optimal

SIZE = 7


def year(seed: int, grown: float = 0.0) -> dk.Table:
    """A table of a year; a later one has the same primary cells and other values."""
    rng = np.random.default_rng(seed)
    value = np.ceil(np.exp(rng.normal(3.0, 1.0, (SIZE, SIZE))))
    primary = rng.random((SIZE, SIZE)) < 0.1
    if grown:
        value = np.ceil(value * np.exp(np.random.default_rng(seed + 900).normal(0.05, grown, value.shape)))
    codes = [f"{i}" for i in range(SIZE)]
    cells = {
        "r": [r for r in codes for _ in codes], "s": codes * SIZE, "x": value.reshape(-1),
        "status": ["primary" if p else "open" for p in primary.reshape(-1)],
    }  # fmt: skip
    return dk.Table.from_cells(cells, by={"r": None, "s": None}, value="x", status="status")


@pytest.mark.parametrize("method", [Moves(), Moves(cost=dk.Cost("unity")), Cuboids(), Optimal(seconds=1)])
def test_no_result_is_dearer_than_allowed(method: AnyMethod) -> None:
    with_it = without = 0.0
    for seed in range(2 if isinstance(method, Optimal) else 6):
        last = dk.suppress(year(seed), method=method).table
        now = year(seed, grown=0.4)
        free, kept = dk.suppress(now, method=method), dk.suppress(now, method=method, previous=last)
        assert kept.cost <= 1.1 * free.cost
        told = kept.consistency
        assert told is not None
        assert told.without.kept == (free.secondary & last.hidden).sum()
        assert told.taken.kept == (kept.secondary & last.hidden).sum()
        assert told.taken.share >= told.without.share
        assert kept.cost == pytest.approx(free.cost * (1 + told.taken.dearer))
        assert kept.table.weight is None
        with_it, without = with_it + told.taken.share, without + told.without.share
    assert with_it > without or method != Moves()


def test_what_may_cost_nothing_more_costs_nothing_more_and_what_may_cost_anything_keeps_most() -> None:
    last = dk.suppress(year(3)).table
    now = year(3, grown=0.6)
    free = dk.suppress(now)
    shares = []
    for at_most in (0.0, 0.1, inf):
        kept = dk.suppress(now, previous=last, at_most=at_most)
        assert kept.cost <= (1 + at_most) * free.cost
        assert kept.audit is not None
        assert kept.audit.safe
        assert kept.consistency is not None
        shares.append(kept.consistency.taken.share)
    assert shares == sorted(shares)
    with pytest.raises(BadOption, match=r"at most -1 dearer"):
        dk.suppress(now, previous=last, at_most=-1)


def test_the_summary_tells_shares_and_no_price() -> None:
    now = year(5, grown=0.3)
    kept = dk.suppress(now, previous=dk.suppress(year(5)).table, at_most=inf)
    said = kept.summary()["consistency"]
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["at most"] is None
    assert [point["bonus"] for point in said["curve"]] == [0.0, 100.0]
    assert "cost" not in kept.summary()


def test_the_unit_of_a_table_does_not_matter_for_what_its_pattern_costs() -> None:
    table = year(2)
    cents = dk.Table(table.by, "x", table.value * 1000, table.status, positive=True)
    for cost in (dk.Cost(), dk.Cost(per_cell=2.0), dk.Cost(power=0.5), dk.Cost("log")):
        one, other = (dk.suppress(each, method=Moves(cost=cost)) for each in (table, cents))
        assert (one.table.status == other.table.status).all()
    logarithm = dk.suppress(cents, method=Moves(cost=dk.Cost(power=0)))
    assert logarithm.cost == pytest.approx(np.log1p(cents.value[logarithm.secondary]).sum())


def test_a_price_per_cell_hides_fewer_cells() -> None:
    def hidden(cost: dk.Cost) -> int:
        return sum(int(dk.suppress(year(seed), method=Moves(cost=cost)).secondary.sum()) for seed in range(8))

    assert hidden(dk.Cost(per_cell=20.0)) < hidden(dk.Cost())
