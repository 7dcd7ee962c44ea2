"""What equations alone give away: modular elimination says the same as fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy, Status, Table
from diskret.auditing import elimination
from diskret.auditing.elimination import determined, proportional
from diskret.model.equations import Equations, equations_of
from tests.printed import ReadPrinted


def system_of(rows: list[list[int]]) -> Equations:
    """A system from written-out rows."""
    matrix = np.array(rows, dtype=float).reshape(len(rows), -1)
    row, column = np.nonzero(matrix)
    start = np.searchsorted(row, np.arange(len(rows) + 1))
    nothing = np.zeros(len(rows), dtype=np.int64)
    return Equations(np.arange(matrix.shape[1]), start, column, matrix[row, column], nothing, nothing)


def dense(system: Equations) -> list[list[Fraction]]:
    matrix = [[Fraction(0)] * system.cells.size for _ in range(system.rows)]
    for r, c, f in zip(system.row_of(), system.columns, system.coefficients, strict=True):
        matrix[r][c] += Fraction(f)
    return matrix


def null_space(matrix: list[list[Fraction]], size: int) -> list[list[Fraction]]:
    """The readable twin: a basis of the null space by Gauss and Jordan in fractions, one vector per free column."""
    rows = [line[:] for line in matrix]
    pivots: list[int] = []
    for column in range(size):
        at = len(pivots)
        found = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for r, line in enumerate(rows):
            if r != at and line[column]:
                rows[r] = [x - line[column] * y for x, y in zip(line, rows[at], strict=True)]
        pivots.append(column)
    basis = []
    for free in sorted(set(range(size)) - set(pivots)):
        vector = [Fraction(int(c == free)) for c in range(size)]
        for row, column in zip(rows, pivots, strict=False):
            vector[column] = -row[free]
        basis.append(vector)
    return basis


def proportional_by_fractions(basis: list[list[Fraction]], holder: int, other: int) -> bool:
    a, b = [v[holder] for v in basis], [v[other] for v in basis]
    minors = (a[i] * b[j] - a[j] * b[i] for i in range(len(basis)) for j in range(i))
    return any(a) and any(b) and not any(minors)


@st.composite
def patterns(draw: st.DrawFn, small_trees: st.SearchStrategy[dict[str, str]]) -> Equations:
    """Random hidden cells of a random hierarchical table of one to three dimensions."""
    trees = [Hierarchy.from_parents(draw(small_trees)) for _ in range(draw(st.integers(1, 3)))]
    shape = tuple(len(h) for h in trees)
    share = draw(st.sampled_from([0.2, 0.4, 0.6, 0.9]))
    hidden = np.random.default_rng(draw(st.integers(0, 2**32))).random(shape) < share
    value = np.zeros(shape)
    table = Table({f"d{i}": h for i, h in enumerate(trees)}, "x", value, value.astype(np.uint8))
    return equations_of(table, hidden)


@given(data=st.data())
def test_determined_unknowns_and_pairs_are_those_of_exact_fractions(
    data: st.DataObject, small_trees: st.SearchStrategy[dict[str, str]]
) -> None:
    system = data.draw(patterns(small_trees))
    size = system.cells.size
    basis = null_space(dense(system), size)
    fixed = determined(system)
    assert fixed.tolist() == [not any(v[c] for v in basis) for c in range(size)]
    holders = np.arange(0, size, 2)
    expected = [
        (h, o) for h in map(int, holders) for o in range(size) if o != h and proportional_by_fractions(basis, h, o)
    ]
    assert [tuple(pair) for pair in proportional(system, holders).tolist()] == expected


@given(data=st.data())
def test_a_holder_computes_what_the_equations_fix_once_his_cell_is_known(
    data: st.DataObject, small_trees: st.SearchStrategy[dict[str, str]]
) -> None:
    system = data.draw(patterns(small_trees))
    size = system.cells.size
    fixed = determined(system)
    for holder in range(min(size, 6)):
        knows = determined(system, np.array([holder]))
        computed = np.flatnonzero(knows & ~fixed & (np.arange(size) != holder))
        assert proportional(system, np.array([holder]))[:, 1].tolist() == computed.tolist()


def test_coalition_knows_more_than_each_of_its_members() -> None:
    """Three hidden cells in a line: one of them tells nothing, two tell the third."""
    system = system_of([[1, 1, 1]])
    assert not determined(system).any()
    assert determined(system, np.array([0])).tolist() == [True, False, False]
    assert determined(system, np.array([0, 1])).all()
    assert proportional(system, np.arange(3)).size == 0


@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=6))
def test_any_small_whole_coefficients_will_do(rows: list[list[int]]) -> None:
    system = system_of(rows)
    basis = null_space(dense(system), 5)
    assert determined(system).tolist() == [not any(v[c] for v in basis) for c in range(5)]


def test_unlucky_primes_are_noticed() -> None:
    """Coefficients that vanish modulo a drawn prime: the prime loses rank, or an unknown its freedom."""
    for p, _ in islice(elimination._primes(), 3):
        assert determined(system_of([[p, 0], [0, 1]])).all()
        assert determined(system_of([[p, 1]])).tolist() == [False, False]
        assert proportional(system_of([[1, p, 1]]), np.array([0])).size == 0
        assert proportional(system_of([[1, p]]), np.array([1])).tolist() == [[1, 0]]


def test_primes_are_primes_and_as_many_as_the_size_demands() -> None:
    drawn = [p for p, _ in islice(elimination._primes(), 8)]
    assert drawn == [p for p, _ in islice(elimination._primes(), 8)]
    assert len(set(drawn)) == 8
    for p in drawn:
        assert 2**30 < p < 2**31
        assert all(p % d for d in range(2, int(p**0.5) + 1))
    nothing = np.zeros(0, dtype=np.int64)
    few = elimination._needed(np.zeros(1, dtype=np.int64), nothing, nothing, 0, chances=1)
    start = np.arange(0, 300_003, 3)
    columns, values = np.arange(300_000) % 70_000, np.ones(300_000, dtype=np.int64)
    many = elimination._needed(start, columns, values, 70_000, chances=70_000)
    assert few == 2
    # by hand: 70,000 columns with 4 or 5 ones, 74,000 bits, 2,500 bad primes of 50 million, 70,000 chances
    one = 4 * 74_000 / 30 / 50_697_537
    assert 70_000 * one**many < 2**-50 < 70_000 * one ** (many - 1)


def test_cox_counter_example_is_computable_and_nothing_else(printed: ReadPrinted) -> None:
    p = printed("ch1-cox-counterexample")
    table = p.table.with_status(Status.PRIMARY, [list(c) for c in p.expected_unknowns()])
    system = equations_of(table)
    names = table.name_cells(table.hidden)
    assert [names[c] for c in np.flatnonzero(determined(system))] == ["district=3, group=C"]
    one, two = names.index("district=1, group=A"), names.index("district=2, group=B")
    told = {(names[h], names[o]) for h, o in proportional(system, np.array([one, two]))}
    assert told == {
        ("district=1, group=A", f"district={d}, group={g}") for d, g in ("1C", "4A", "4C")
    } | {("district=2, group=B", f"district={d}, group={g}") for d, g in ("2D", "3B", "3D")}  # fmt: skip


def test_empty_systems_have_an_answer() -> None:
    table = Table.from_cells({"s": ["a"], "x": [1]}, by={"s": None}, value="x")
    system = equations_of(table)
    assert determined(system).size == 0
    assert proportional(system, np.zeros(0, dtype=np.int64)).shape == (0, 2)
    assert determined(system_of([[0, 1]])).tolist() == [False, True]


def test_fractional_coefficients_are_refused() -> None:
    system = system_of([[1, 1]])
    half = Equations(system.cells, system.start, system.columns, system.coefficients / 2, system.axis, system.sum_cell)
    with pytest.raises(ValueError, match="whole numbers"):
        determined(half)
