"""Chapter 4.2 of the Quaderverfahren: interval protection of contributions, and the p% rule that follows from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import (
    Hierarchy,
    Knowledge,
    PPercent,
    Promise,
    ProtectionWarning,
    Table,
    mark,
    methods,
    suppress,
)
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, NegativeValue
from diskret.moves.move import Move, MoveSet
from diskret.perturbation.contributions import (
    ContributionProtection,
    p_of,
    span,
    suppress_contributions,
    with_contributions,
)
from diskret.perturbation.perturbation_attack import steps_within

Golden = Callable[[str], Any]


def table_of(contributions: list[list[int]]) -> Table:
    """A table of one classification from the single contributions of its cells."""
    by = {"s": Hierarchy.flat([f"c{i}" for i in range(len(contributions))])}
    every = [*contributions, [x for cell in contributions for x in cell]]
    value = np.array([sum(c) for c in every], dtype=float)
    top = [(sorted(c, reverse=True) + [0, 0])[:2] for c in every]
    people = Contributors(np.array([len(c) for c in every]), np.array(top, dtype=float))
    return Table(by, "x", value, np.zeros(len(every), dtype=np.uint8), people, positive=True)


def protected(table: Table, q: float, f: float | None) -> ContributionProtection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return suppress_contributions(table, min_relative_range=q, relative_error=f)


def test_printed_ranges_and_effective_p(golden: Golden) -> None:
    for row in golden("quader/ch4-p-rule-range-vectors")["expected"]["vectors"]:
        own, other, pivot = row["min_pivot_class"], row["min_other_class"], row["pivot"]
        reached = span(own, other, row["f"])
        assert reached == pytest.approx(row["range"])
        assert reached / pivot == pytest.approx(row["relative_range"])
        assert (reached > row["q"] * pivot + 1e-9) == row["accepted"]
        ratio = max(own, other) / min(own, other)
        assert p_of(row["q"], row["f"], ratio) == pytest.approx(row["p_effective"])


def test_printed_example_beyond_one_hundred_percent(golden: Golden) -> None:
    """Rest over pivot is more than p, yet the cuboid is too narrow: the formula does not apply, the range decides."""
    said = golden("quader/ch4-4-2-3-2-relative-error-above-one")
    f, q, expected = said["parameters"]["f"], said["parameters"]["q"], said["expected"]
    table = table_of([[1000, 500, 60, 41], [3, 1, 1]])
    extended = with_contributions(table)
    largest, rest = (extended.index(layer, "c0") for layer in ("largest", "rest"))
    assert extended.value[rest] == 101
    cells = [extended.index(layer, code) for layer in ("largest", "rest") for code in ("c0", "Total")]
    flat = np.array([np.ravel_multi_index(c, extended.shape) for c in cells])
    up, down = Knowledge.relative(f).room(extended)
    moves = MoveSet.of([Move(cells=flat, coefficients=np.array([1.0, 1.0, -1.0, -1.0]))])
    fall, rise = (float(end[0]) for end in steps_within(moves, up, down))
    assert rise - fall == expected["range"]
    assert (rise - fall) / extended.value[largest] == expected["relative_range"]
    assert p_of(q, f) == pytest.approx(expected["p"])
    assert extended.value[rest] / 1000 > p_of(q, f)
    assert not rise - fall > q * 1000
    assert protected(table, q, f).table.hidden[0]


@pytest.mark.parametrize("name", ["positive-table", "estimate-intervals"])
def test_printed_breakdown(golden: Golden, name: str) -> None:
    """Figure 4.1 from its publication table: the same layers, and the same cells stay open."""
    said = golden(f"quader/ch4-abb4-1-{name}")
    table = with_contributions(table_of([[1000, 2], [3, 1]]))
    for cell in said["table"]["cells"]:
        layer, code = cell["coord"]
        layer = {"second": "second largest"}.get(layer, layer)
        at = table.index(layer, {"A": "c0", "B": "c1", "total": "Total"}[code])
        assert table.value[at] == cell["value"]
    known = Knowledge.positive()
    if name == "estimate-intervals":
        from dataclasses import replace

        small = table.value <= 10
        table = replace(table, lower=np.where(small, 0.0, 500.0), upper=np.where(small, 10.0, 2000.0))
        known = Knowledge.intervals()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        done = suppress(
            table, Promise(levels=False, min_relative_range=said["parameters"]["q"], knowledge=known), methods.Cuboids()
        )
    still = [table.codes((3, i))[1] for i in range(3) if not done.table.hidden[3, i]]
    assert still == (["Total"] if name == "positive-table" else [])


cells = st.lists(st.lists(st.integers(1, 400), min_size=1, max_size=6), min_size=3, max_size=7)


@settings(max_examples=80)
@given(cells, st.sampled_from([(0.5, 0.1), (1.0, 0.3), (0.3, 0.2)]))
def test_p_rule_follows_up_to_one_hundred_percent(
    contributions: list[list[int]], parameters: tuple[float, float]
) -> None:
    """Every cell the p% rule with p = q/(2f) catches is hidden, and so is every cell of fewer than three."""
    f, q = parameters
    table = table_of(contributions)
    hidden = protected(table, q, f).table.hidden[:-1]
    p = 100 * p_of(q, f)
    caught = mark(table, PPercent(p), special_cases=False).hidden[:-1]
    assert hidden[caught].all()
    assert hidden[table.count[:-1] < 3].all()


@settings(max_examples=80)
@given(cells, st.sampled_from([(2.0, 0.3), (4.0, 1.5), (11.0, 1.2)]))
def test_effective_p_rule_follows_beyond_one_hundred_percent(
    contributions: list[list[int]], parameters: tuple[float, float]
) -> None:
    """Beyond f = 1 the p that counts depends on the cuboid: rest against the largest contribution."""
    f, q = parameters
    table = table_of(contributions)
    hidden = protected(table, q, f).table.hidden
    for i, given_ in enumerate(contributions):
        first, *others = sorted(given_, reverse=True)
        rest = sum(others[1:])
        if span(first, rest, f) < q * first:
            assert hidden[i]
            if rest:
                assert rest / first < p_of(q, f, max(first, rest) / min(first, rest)) + 1e-12


def test_without_knowledge_of_shares_dominated_sums_stay_open() -> None:
    """Figure 4.1: every contribution has its range, but 99.4 % of the open total are one contribution."""
    table = table_of([[1000, 2], [3, 1]])
    assert protected(table, 0.5, None).table.hidden.tolist() == [True, True, False]


def test_refusals() -> None:
    with pytest.raises(BadOption, match="two largest"):
        with_contributions(Table.from_cells({"s": ["a"], "x": [1]}, by={"s": None}, value="x"))
    with pytest.raises(BadOption, match="nothing"):
        suppress_contributions(table_of([[1, 2]]), min_relative_range=0)
    people = Contributors(np.array([2, 2]), np.array([[3.0, 2.0], [3.0, 2.0]]))
    negative = Table({"s": Hierarchy.flat("a")}, "x", np.array([-1.0, -1.0]), np.zeros(2, np.uint8), people)
    with pytest.raises(NegativeValue):
        with_contributions(negative)
