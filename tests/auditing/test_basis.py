"""A basis of all moves: complete, whole, and as good as programmes."""

from __future__ import annotations

import numpy as np
import pytest

from diskret import Hierarchy, Promise, Table, audit
from diskret.auditing import audit as attack
from diskret.auditing import basis as bases
from diskret.auditing.basis import basis_of
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
    for column in range(size):
        known = np.sort(rng.choice(np.delete(np.arange(size), column), int(rng.integers(0, 4)), replace=False))
        before = np.vstack([matrix, unit[known]])
        free = np.linalg.matrix_rank(np.vstack([before, unit[column]])) > np.linalg.matrix_rank(before)
        move = found.apart(column, known)
        assert (move is not None) == free
        if move is not None:
            x = np.zeros(size)
            x[np.searchsorted(system.cells, move[0])] = move[1]
            assert x[column]
            assert not x[known].any()
            assert not (matrix @ x).any()


def test_what_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn(3)
    complete = basis_of(table, table.equations())
    monkeypatch.setattr(bases, "LONGEST", 1)
    short = basis_of(table, table.equations())
    assert 0 < short.whole.sum() < complete.whole.sum()
    for column in np.flatnonzero(short.whole).tolist():
        assert short.row(column) == complete.row(column)


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
