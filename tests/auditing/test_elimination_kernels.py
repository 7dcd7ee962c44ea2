"""Sparse elimination modulo a prime: the compiled loops say what a dense matrix of whole numbers says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.auditing import _elimination_kernels as kernels
from diskret.model.arrays import Ints

P = 10_007
Matrix = list[list[int]]


def sparse(matrix: Matrix) -> tuple[Ints, Ints, Ints]:
    """Where rows begin, their columns, their values."""
    entries = [[(c, x) for c, x in enumerate(row) if x] for row in matrix]
    start = np.cumsum([0, *map(len, entries)])
    flat = [pair for row in entries for pair in row]
    return start, *np.array(flat, dtype=np.int64).reshape(-1, 2).T.copy()


def echelon(matrix: Matrix) -> Matrix:
    """The readable twin: the reduced echelon form modulo the prime, rows of zeros left out."""
    rows, done = [[x % P for x in row] for row in matrix], 0
    for column in range(len(matrix[0])):
        found = next((r for r in range(done, len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        inverse = pow(rows[done][column], -1, P)
        rows[done] = [x * inverse % P for x in rows[done]]
        for r, row in enumerate(rows):
            if r != done:
                rows[r] = [(x - row[column] * y) % P for x, y in zip(row, rows[done], strict=True)]
        done += 1
    return rows[:done]


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Mostly zeros and ones, as in equations of tables; at times negative or large numbers."""
    size, rows = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    number = st.sampled_from([0, 0, 0, 1, 1, -1, 2, P - 1])
    return draw(st.lists(st.lists(number, min_size=size, max_size=size), min_size=rows, max_size=rows))


@given(matrices())
def test_the_rows_with_pivots_say_the_same_as_all_rows(matrix: Matrix) -> None:
    size = len(matrix[0])
    column, start, length, pool_column, pool_value = kernels.eliminate(*sparse(matrix), size, P)
    rows = [[0] * size for _ in column]
    for row, begin, n in zip(rows, start, length, strict=True):
        for entry in range(begin, begin + n):
            row[pool_column[entry]] = int(pool_value[entry])
    assert echelon(rows) == echelon(matrix) if rows else echelon(matrix) == []
    assert len(set(column.tolist())) == len(rows) == len(echelon(matrix))
    for number, (row, pivot) in enumerate(zip(rows, column.tolist(), strict=True)):
        assert row[pivot] == 1
        assert all(later[pivot] == 0 for later in rows[number + 1 :])


@given(matrices(), st.integers(0, 2**32))
def test_chosen_numbers_are_completed_to_solutions(matrix: Matrix, seed: int) -> None:
    size = len(matrix[0])
    eliminated = kernels.eliminate(*sparse(matrix), size, P)
    chosen = np.random.default_rng(seed).integers(0, P, (size, 2))
    vectors = chosen.copy()
    vectors[eliminated[0]] = 0
    kernels.substitute_back(*eliminated, vectors, P)
    free = sorted(set(range(size)) - set(eliminated[0].tolist()))
    assert vectors[free].tolist() == chosen[free].tolist()
    for row in matrix:
        for v in range(2):
            assert sum(x * int(y) for x, y in zip(row, vectors[:, v], strict=True)) % P == 0


@given(st.lists(st.tuples(st.integers(0, P - 1), st.integers(0, P - 1)), min_size=1))
def test_a_ratio_times_the_first_is_the_second(pairs: list[tuple[int, int]]) -> None:
    found = kernels.ratios(np.array(pairs, dtype=np.int64), P).tolist()
    for (first, second), ratio in zip(pairs, found, strict=True):
        if first:
            assert ratio * first % P == second
        else:
            assert ratio == (P if second else 0)


@pytest.mark.parametrize(("base", "exponent"), [(0, 0), (0, 5), (2, 10), (P - 1, 3), (123_456, P - 2), (P, 1)])
def test_powers_modulo_the_prime(base: int, exponent: int) -> None:
    assert kernels.power(base, exponent, P) == pow(base, exponent, P)
