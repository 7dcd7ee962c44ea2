"""Thinning opens what protection does not need, and the optimum is a yardstick."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from diskret import (
    DiskretError,
    MinCount,
    PPercent,
    Promise,
    ProtectionWarning,
    Status,
    Table,
    audit,
    mark,
    methods,
    suppress,
    thin,
)
from diskret.suppression.prices import Cost
from tests import by_hand


def marked(seed: int) -> Table:
    return mark(by_hand.firms(seed, axes=2, empty=0.1).table, MinCount(3) | PPercent(10), special_cases=False)


def quietly(function: Any, *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return function(*arguments, **options)


@pytest.mark.parametrize("seed", range(12))
def test_thinning_only_opens_and_exposes_nothing_new(seed: int) -> None:
    table = marked(seed)
    everything = table.status.copy()
    everything[(table.status == Status.OPEN) & (table.value != 0)] = Status.SECONDARY
    given = Table(**{**vars(table), "status": everything})
    before = {(e.cell, e.by) for e in audit(given).exposed}
    result = quietly(thin, given)
    opened = (given.status == Status.SECONDARY) & (result.table.status == Status.OPEN)
    assert ((result.table.status == given.status) | opened).all()
    assert {(e.cell, e.by) for e in audit(result.table).exposed} <= before
    if not before and (table.status == Status.PRIMARY).any():
        assert opened.any()


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_safe_and_never_more_expensive_than_the_pattern_by_moves(seed: int) -> None:
    table = marked(seed)
    price = Cost("value").of(table).reshape(table.shape)
    quick = quietly(suppress, table)
    best = quietly(suppress, table, method=methods.Optimal(seconds=20))
    assert {e.cell for e in audit(best.table).exposed} == {e.cell for e in audit(quick.table).exposed}
    assert price[best.secondary].sum() <= price[quick.secondary].sum() + 1e-9
    if not quick.unprotected:
        assert best.bound is not None
        assert best.bound <= best.cost == price[best.secondary].sum()


def test_the_optimum_knows_single_contributors_only() -> None:
    with pytest.raises(DiskretError, match="single contributors only"):
        suppress(marked(0), Promise(guard="largest"), methods.Optimal())


def test_leaving_single_contributors_out_is_said_aloud() -> None:
    table = next(t for t in map(marked, range(20)) if (t.count[t.hidden] == 1).any())
    with pytest.warns(ProtectionWarning, match="single contributors are not guarded against"):
        suppress(table, Promise(guard="public"))
