"""Making a pattern cheaper never costs protection, and more effort never costs more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskret import MinCount, PPercent, Promise, Table, mark
from diskret.model.promise import Guard
from diskret.moves.demands import demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.move import MoveSet
from diskret.moves.pattern import Pattern
from diskret.suppression.by_cuboids import usable_cells
from diskret.suppression.by_moves import routed
from diskret.suppression.methods import Effort, Moves
from diskret.suppression.objective import exact_prices
from diskret.suppression.rerouting import Ties, redo, reroute_cells, reroute_moves, shake_up
from tests import by_hand

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


def table(seed: int, axes: int = 2) -> Table:
    trees = (1, 2, 3) if axes == 3 else None
    return mark(by_hand.firms(seed, axes=axes, trees=trees).table, PPercent(15) | MinCount(2))


def pattern(seed: int, effort: Effort = "quick", guard: Guard = "single", axes: int = 2) -> Pattern:
    given = table(seed, axes)
    usable = usable_cells(given, "marked")
    promise = Promise(guard=guard)
    people = insiders_of(given, promise, among=given.hidden.reshape(-1) | usable)
    demands, nothing = demands_of(given, promise), MoveSet.none()
    return routed(given, promise, Moves(effort=effort), demands, usable=usable, people=people, start=nothing)


def cost(made: Pattern) -> float:
    return float(made.price[made.added].sum())


def asked_for(made: Pattern) -> float:
    """What was asked for to be little: the value alone; further cells count a little only where moves are rerouted."""
    return float(exact_prices(made.router.table, Moves())[made.added].sum())  # type: ignore[arg-type]


def unsettled(made: Pattern) -> set[int]:
    """Demands with somebody who can object."""
    return {d for d in range(made.cover.ways.size) if not made.cover.state(d).entirely}


def is_sound(made: Pattern) -> bool:
    """The books of the cover agree with the moves in it."""
    cells = {c for kept in made.cover.moves.values() for c in kept.cells.tolist()}
    through = {c: {n for n, kept in made.cover.moves.items() if c in kept.cells} for c in cells}
    settled = [sorted(n for n, k in made.cover.moves.items() if d in k.settles) for d in range(made.cover.ways.size)]
    return (
        set(np.flatnonzero(made.cover.in_use).tolist()) == cells
        and made.cover.through == through
        and [sorted(s) for s in made.cover.settled_by] == settled
    )


@pytest.mark.parametrize("insiders", ["single", "public"])
@pytest.mark.parametrize("seed", range(8))
def test_default_is_never_more_expensive_than_quick(seed: int, insiders: Any) -> None:
    quick, default = (pattern(seed, effort, insiders, axes=2 + seed % 2) for effort in ("quick", "default"))
    assert asked_for(default) <= asked_for(quick) * (1 + 1e-9)
    assert unsettled(default) == unsettled(quick)


@pytest.mark.parametrize("seed", range(3))
def test_economy_is_never_more_expensive_than_default(seed: int) -> None:
    default, economy = (pattern(seed, effort) for effort in ("default", "economy"))
    assert asked_for(economy) <= asked_for(default) * (1 + 1e-9)
    assert unsettled(economy) == unsettled(default)


@pytest.mark.parametrize("seed", range(8))
def test_every_step_keeps_what_is_settled_and_saves_what_it_says(seed: int) -> None:
    made = pattern(seed)
    before, open_before = cost(made), unsettled(made)
    saved = reroute_moves(made, np.inf)
    assert cost(made) == pytest.approx(before - saved)
    assert unsettled(made) == open_before
    assert is_sound(made)
    before, number = cost(made), int(made.added.sum())
    won = reroute_cells(made, np.inf, lambda: True, {})
    assert cost(made) <= before + 1e-9
    assert int(made.added.sum()) <= number or won == 0 or cost(made) < before
    assert unsettled(made) == open_before
    assert is_sound(made)
    prices, steps = made.price.copy(), iter(range(15))
    before = cost(made)
    shake_up(made, np.inf, lambda: next(steps, None) is not None)
    assert cost(made) <= before * (1 + 1e-6)
    assert (made.price == prices).all()
    assert unsettled(made) == open_before
    assert is_sound(made)


@pytest.mark.parametrize("seed", range(8))
def test_a_step_that_fails_leaves_everything_as_it_was(seed: int) -> None:
    made = pattern(seed)
    for number in sorted(made.cover.moves)[:5]:
        kept = made.cover.moves[number]
        # without all cells of the table there is no other way
        assert redo(made, [number], np.arange(made.price.size), np.inf) in (0.0, pytest.approx(0.0)) or (
            number not in made.cover.moves
        )
        if number in made.cover.moves:
            assert made.cover.moves[number] is kept
        assert is_sound(made)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_needed_cannot_be_done_without_among_hidden_cells(seed: int) -> None:
    made = pattern(seed)
    made.router = made.router.among(made.hidden | made.cover.in_use)
    ties = Ties(made.router.table.equations(made.router.movable), made.cover.ways.cell)
    needed = [cell for cell in np.flatnonzero(made.added).tolist() if ties.needed(cell)]
    assert all(redo(made, sorted(made.cover.through[cell]), np.array([cell]), np.inf) == 0 for cell in needed[:10])
    assert needed or not made.added.any()
    assert is_sound(made)
