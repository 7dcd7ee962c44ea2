"""A basis of all moves: complete, whole, and as good as programmes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from diskret import Hierarchy, Promise, Table, audit
from diskret.auditing import audit as attack
from diskret.auditing import basis as bases
from diskret.auditing.basis import Basis, basis_of
from diskret.auditing.elimination import determined, proportional
from diskret.model.contributors import Contributors
from diskret.model.equations import Equations
from diskret.model.rollup import add_up
from diskret.model.status import Status


def drawn(seed: int) -> Table:
    """A small table with subtotals and gaps, most of its occupied cells hidden."""
    rng = np.random.default_rng(seed)
    up = {f"{g}{i}": g for g in "ab" for i in range(3)} | {"a": "T", "b": "T"}
    by = {"r": Hierarchy.from_parents(up), "s": Hierarchy.flat([f"s{i}" for i in range(5)])}
    shape = tuple(len(h) for h in by.values())
    leaves = np.ix_(*(np.flatnonzero(h.is_leaf) for h in by.values()))
    count, value = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    count[leaves] = rng.integers(0, 4, count[leaves].shape)
    value[leaves] = count[leaves] * rng.integers(1, 30, count[leaves].shape)
    for each in (count, value):
        add_up(each, tuple(by.values()))
    hidden = (count > 0) & (rng.random(shape) < 0.8)
    status = np.where(hidden, Status.SECONDARY, Status.OPEN)
    status[hidden & (count < 3)] = Status.PRIMARY
    return Table(by, "x", value.astype(np.float64), status.astype(np.uint8), Contributors(count), positive=True)


def dense(system: Equations) -> np.ndarray:
    """The equations as a matrix."""
    matrix = np.zeros((system.rows, system.cells.size))
    matrix[system.row_of(), system.columns] = system.coefficients
    return matrix


def row(found: Basis, column: int) -> dict[int, int]:
    """An unknown as a combination of free ones."""
    part = slice(int(found.start[column]), int(found.start[column + 1]))
    return dict(zip(found.free[part].tolist(), found.times[part].tolist(), strict=True))


def by_hand(found: Basis, column: int, known: list[int]) -> dict[int, Fraction] | None:
    """The twin: a sum of moves that moves one unknown and leaves others alone; None if there is none."""
    rows = [row(found, each) for each in (column, *known)]
    candidates = sorted({f for each in rows for f in each}, key=lambda f: (len(found.moves[f].cells), f))
    pivots: list[tuple[int, list[Fraction], dict[int, Fraction]]] = []
    for f in candidates:
        parts, taken = [Fraction(each.get(f, 0)) for each in rows], {f: Fraction(1)}
        for at, others, also in pivots:
            times = parts[at] / others[at]
            parts = [x - times * y for x, y in zip(parts, others, strict=True)]
            taken = {g: taken.get(g, Fraction(0)) - times * also.get(g, Fraction(0)) for g in {**taken, **also}}
        at = next((i for i, x in enumerate(parts) if i and x), 0)
        if at:
            pivots.append((at, parts, taken))
        elif parts[0]:
            moved: dict[int, Fraction] = {}
            for g, times in taken.items():
                for cell, step in zip(found.moves[g].cells.tolist(), found.moves[g].coefficients.tolist(), strict=True):
                    moved[cell] = moved.get(cell, Fraction(0)) + times * int(step)
            return {cell: step for cell, step in moved.items() if step}
    return None


@pytest.mark.parametrize("seed", range(12))
def test_every_move_is_a_sum_of_the_basis_and_whoever_knows_cells_computes_what_depends_on_them(seed: int) -> None:
    table, rng = drawn(seed), np.random.default_rng(seed)
    system = table.equations()
    found, matrix, size = basis_of(table, system), dense(system), system.cells.size
    assert len(found.moves) == size - np.linalg.matrix_rank(matrix)
    assert found.complete
    assert (found.kinds() < 0).tolist() == determined(system).tolist()
    everybody = np.arange(size)
    assert proportional(system, everybody, found.kinds()).tolist() == proportional(system, everybody).tolist()
    unit = np.eye(size)
    asked = [
        np.sort(rng.choice(np.delete(everybody, column), int(rng.integers(0, 4)), replace=False))
        for column in everybody
    ]
    first = np.cumsum([0, *(known.size for known in asked)])
    fixed, moves, own = found.apart(everybody, first, np.concatenate(asked))
    assert own.tolist() == np.flatnonzero(~fixed).tolist()
    for column, known in enumerate(asked):
        before = np.vstack([matrix, unit[known]])
        free = np.linalg.matrix_rank(np.vstack([before, unit[column]])) > np.linalg.matrix_rank(before)
        assert free == ~fixed[column]
    for move, column in zip(moves, own.tolist(), strict=True):
        twin = by_hand(found, column, asked[column].tolist())
        assert twin is not None
        steps = dict(zip(move.cells.tolist(), move.coefficients.tolist(), strict=True))
        assert steps.keys() == twin.keys()
        assert len({Fraction(step) / twin[cell] for cell, step in steps.items()}) == 1
        assert np.gcd.reduce(np.abs(move.coefficients).astype(np.int64)) == 1
        x = np.zeros(size)
        x[np.searchsorted(system.cells, move.cells)] = move.coefficients
        assert x[column]
        assert not x[asked[column]].any()
        assert not (matrix @ x).any()


def test_sums_are_made_piece_by_piece_where_there_is_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    found = basis_of(drawn(5), drawn(5).equations())
    size = found.cells.size
    columns, first = np.arange(size - 1), np.arange(size)
    whole = found.apart(columns, first, columns + 1)
    monkeypatch.setattr(bases, "ROOM", 1)
    pieces = found.apart(columns, first, columns + 1)
    assert [each.tolist() for each in (whole[0], whole[2])] == [each.tolist() for each in (pieces[0], pieces[2])]
    assert whole[1].start.tolist() == pieces[1].start.tolist()
    assert whole[1].cells.tolist() == pieces[1].cells.tolist()


def test_what_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn(3)
    complete = basis_of(table, table.equations())
    monkeypatch.setattr(bases, "LONGEST", 1)
    short = basis_of(table, table.equations())
    assert 0 < short.whole.sum() < complete.whole.sum()
    for column in np.flatnonzero(short.whole).tolist():
        assert row(short, column) == row(complete, column)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("length", [0.0, 5.0])
def test_verdicts_are_those_of_programmes(seed: int, length: float, monkeypatch: pytest.MonkeyPatch) -> None:
    table, promise = drawn(seed), Promise(min_range=length)
    found = []
    for worth in (10**9, 1):
        monkeypatch.setattr(attack, "WORTH_A_BASIS", worth)
        report = audit(table, promise)
        found.append(([(e.index, e.by, e.exact, e.lower, e.upper) for e in report.exposed], report.undecided))
    assert found[0] == found[1]


def halved() -> Table:
    """A table of three classifications in which some of the shortest moves take one cell by half of another's step."""
    rng = np.random.default_rng(9)
    by = {name: Hierarchy.flat([f"{name}{i}" for i in range(6)]) for name in "rst"}
    shape = tuple(len(h) for h in by.values())
    leaves = np.ix_(*(np.flatnonzero(h.is_leaf) for h in by.values()))
    value, hidden = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    value[leaves] = rng.integers(1, 30, (6, 6, 6))
    hidden[leaves] = rng.random((6, 6, 6)) < 0.5
    add_up(value, tuple(by.values()))
    status = np.where(hidden, Status.SECONDARY, Status.OPEN).astype(np.uint8)
    return Table(by, "x", value.astype(np.float64), status, Contributors(value), positive=True)


def test_moves_with_halves_are_taken_twice_and_none_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = halved()
    system = table.equations()
    found, matrix = basis_of(table, system), dense(system)
    assert found.complete
    assert found.holds.all()
    moves = np.zeros((len(found.moves), system.cells.size))
    for number, move in enumerate(found.moves):
        moves[number, np.searchsorted(system.cells, move.cells)] = move.coefficients
    assert not (matrix @ moves.T).any()
    assert np.linalg.matrix_rank(moves) == len(moves) == system.cells.size - np.linalg.matrix_rank(matrix)
    monkeypatch.setattr(bases, "PARTS", 1)
    assert not basis_of(table, system).holds.all()
