"""A move counts only if it holds: whoever tampers with one is not believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, MinCount, Promise, Status, Table, audit, mark, suppress
from diskret.moves import recheck
from diskret.moves.move import Move, MoveSet
from diskret.moves.recheck import hold
from tests import by_hand
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


def moved(cells: Any, amounts: Any) -> Move:
    return Move(cells=np.array(cells, dtype=np.int64), coefficients=np.array(amounts, dtype=np.float64))


def protected(seed: int) -> tuple[Table, MoveSet]:
    case = by_hand.firms(seed, axes=2, decimals=seed % 3)
    result = suppress(mark(case.table, MinCount(3)))
    return result.table, result.moves


@pytest.mark.parametrize("seed", range(6))
def test_all_moves_of_a_pattern_hold(seed: int) -> None:
    table, moves = protected(seed)
    assert moves
    good, whole = hold(table, moves)
    assert good.all()
    assert (whole.coefficients == moves.coefficients).all(), "they are made of whole numbers already"


@pytest.mark.parametrize("seed", range(6))
def test_tampered_moves_are_refused(seed: int) -> None:
    table, moves = protected(seed)
    step = 10.0 ** -present(table.decimals)
    opened = np.flatnonzero(~table.hidden.reshape(-1))
    for move in moves:
        cells, amounts = move.cells, move.coefficients
        k = seed % cells.size
        changed = amounts.copy()
        changed[k] += step if changed[k] != -step else -step
        elsewhere = cells.copy()
        elsewhere[k] = opened[seed % opened.size]
        tampered = [
            moved(np.delete(cells, k), np.delete(amounts, k)),
            moved(cells, changed),
            moved(elsewhere, amounts),
            moved(np.append(cells, opened[0]), np.append(amounts, step)),
        ]
        assert not hold(table, MoveSet.of(tampered))[0].any()


def exposed_cell() -> Table:
    """One hidden cell in a line: its value follows; elsewhere cells that move freely."""
    by = {"r": Hierarchy.flat(["one", "two", "three"]), "c": Hierarchy.flat(["x", "y", "z"])}
    value = np.array([[5.0, 7.0, 9.0], [4e9, 4e9, 1.0], [4e9, 4e9, 1.0]])
    value = np.pad(value, ((0, 1), (0, 1)))
    value[:, -1], value[-1] = value.sum(1), value.sum(0)
    value[-1, -1] = value[:3, :3].sum()
    status = np.zeros((4, 4), dtype=np.uint8)
    status[0, 0], status[1:3, 0:2] = Status.PRIMARY, Status.SECONDARY
    return Table(by, "x", value, status, positive=True)


FORGED = {
    "a cell named twice": ([0, 0], [1.0, -1.0]),
    "an error behind large amounts": ([0, 4, 5, 8, 9], [1.0, 2e9 + 0.5, -2e9 - 0.5, -2e9 - 0.5, 2e9 + 0.5]),
    "no number": ([0, 4], [np.nan, np.nan]),
    "infinite": ([0, 4], [np.inf, np.inf]),
    "no cell of the table": ([0, 99], [1.0, -1.0]),
    "a negative position": ([0, -1], [1.0, -1.0]),
    "amounts that overflow": ([0, 4, 5, 8], [2.0**62] * 4),
    "nothing moves": ([0], [0.0]),
    "an amount that rounds to nothing": ([0], [1e-9]),
    "no cells": ([], []),
}


@pytest.mark.parametrize("how", FORGED)
def test_forged_witnesses_prove_nothing(how: str) -> None:
    move, table = moved(*FORGED[how]), exposed_cell()
    good = moved([4, 5, 8, 9], [1.0, -1.0, -1.0, 1.0])
    assert hold(table, MoveSet.of([good, move, good]))[0].tolist() == [True, False, True]
    assert [e.cell for e in audit(table, moves=MoveSet.of([move])).exposed] == ["r=one, c=x"]


def test_many_moves_are_checked_part_by_part_by_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    table, moves = protected(1)
    k = len(moves) // 2
    wrong = replace(moves, coefficients=moves.coefficients.copy())
    wrong.coefficients[wrong.start[k]] *= 3
    every = moves.and_also(wrong).and_also(MoveSet.of([moved([], [])]))
    expected = hold(table, every)[0]
    assert np.flatnonzero(~expected).tolist() == [len(moves) + k, 2 * len(moves)]
    monkeypatch.setattr(recheck, "MANY", 0)
    for cells in (1, 7, 10_000):
        monkeypatch.setattr(recheck, "AT_ONCE", cells)
        assert hold(table, every)[0].tolist() == expected.tolist()


def test_half_a_person_is_no_witness_in_a_frequency_table() -> None:
    """Three cells in a triangle of sums can move by halves only if one of them moves by a whole."""
    by = {"s": Hierarchy.flat(["a", "b", "c"])}
    value = np.array([1.0, 1.0, 1.0, 3.0])
    table = Table(by, "n", value, np.array([1, 2, 0, 0], dtype=np.uint8), frequency=True, positive=True)
    table = replace(table, lower=value - 0.5, upper=value + 0.5)
    from diskret import Knowledge

    halves = MoveSet.of([moved([0, 1], [0.5, -0.5])])
    assert hold(table, halves)[0].all()
    report = audit(table, Promise(guard="public", knowledge=Knowledge.intervals()), moves=halves)
    assert [(e.lower, e.upper) for e in report.exposed] == [(1.0, 1.0)]
