"""Perturbation tables: designed by maximal entropy, checked, written and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret.cellkey.p_table_design import maximal_entropy, possible_variances
from diskret.model.errors import BadOption, BadPTable

SHARED = Path(__file__).parents[3] / "shared" / "data" / "tables" / "tau-argus"

# Rows of public tables made by the R package ptable: deviation 7, variance 4, no ones and twos; and with half of the
# counts left as they are: deviation 5, variance 3.
PRINTED = {
    1: (
        {-1: 0.775078851, 2: 0.087364373, 3: 0.050756103, 4: 0.032338588, 5: 0.02259606, 6: 0.01731503,
         7: 0.014550994}
    ),
    4: (
        {-4: 0.118838085, -1: 0.250647151, 0: 0.250647151, 1: 0.17746362, 2: 0.109976685, 3: 0.056573376,
         4: 0.024157042, 5: 0.008562402, 6: 0.002519229, 7: 0.000615261}
    ),
    10: (
        {-7: 0.000442322, -6: 0.00223758, -5: 0.008820728, -4: 0.027096704, -3: 0.064865644, -2: 0.121003855,
         -1: 0.17590164, 0: 0.199263054, 1: 0.17590164, 2: 0.121003855, 3: 0.064865644, 4: 0.027096704,
         5: 0.008820728, 6: 0.00223758, 7: 0.000442322}
    ),
}  # fmt: skip
STAYING = {-3: 0.09063278, -2: 0.09217047, -1: 0.09217047, 0: 0.5, 1: 0.07126272, 2: 0.05759409, 3: 0.04378668,
           4: 0.03131516, 5: 0.02106764}  # fmt: skip


def entropy(p: np.ndarray) -> float:
    some = p[p > 0]
    return float(-(some * np.log(some)).sum())


def as_dict(table: dk.PTable, r: int) -> dict[float, float]:
    v, p = table.rows().row(r)
    return {float(a): float(b) for a, b in zip(v, p, strict=True) if b > 0}


@pytest.mark.parametrize("count", PRINTED)
def test_the_design_gives_the_printed_rows(count: int) -> None:
    table = dk.design_p_table(deviation=7, variance=4, smallest=3)
    assert as_dict(table, count) == pytest.approx(PRINTED[count], abs=1e-9)


def test_the_design_gives_the_printed_row_where_half_of_the_counts_stay() -> None:
    table = dk.design_p_table(deviation=5, variance=3, smallest=3, stay=0.5)
    assert as_dict(table, 6) == pytest.approx(STAYING, abs=2e-8)


deviations = st.lists(st.integers(-6, 6), min_size=3, max_size=11, unique=True).map(sorted)


@settings(max_examples=60, deadline=None)
@given(deviations, st.floats(0.05, 0.95))
def test_a_designed_row_meets_the_optimality_conditions(points: list[int], where: float) -> None:
    """A distribution of the form exp(a + b v + c v^2) that meets the constraints has maximal entropy, and no other."""
    v = np.array(points, dtype=np.float64)
    low, high = possible_variances(v)
    assume(np.isfinite(low) and high > low)
    wanted = low + where * (high - low)
    p = maximal_entropy(v, wanted)
    assert p.min() > 0
    units = np.array([1.0, abs(v).max(), abs(v).max() ** 2])
    assert [p.sum(), p @ v, p @ v**2] / units == pytest.approx([1.0, 0.0, wanted] / units, abs=1e-9)
    form = np.stack([np.ones(v.size), v, v**2], axis=1)
    left_over = np.log(p) - form @ np.linalg.lstsq(form, np.log(p), rcond=None)[0]
    assert np.abs(left_over).max() < 1e-6 * max(1.0, np.abs(np.log(p)).max())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
def test_no_other_monotone_distribution_has_more_entropy(label: int, where: float, seed: int) -> None:
    """Against random points of the feasible set: vertices of it by linear programming, mixed at random."""
    v = np.arange(-min(label, 4), 5.0)
    low, high = possible_variances(v)
    wanted = low + where * (high - low)
    try:
        p = maximal_entropy(v, wanted, monotone=True)
    except BadPTable:
        assume(False)
    rising = np.flatnonzero(v[1:] <= 0)
    assert (np.diff(p)[rising] >= -1e-9).all()
    dice = np.random.default_rng(seed)
    others = [q for _ in range(6) if (q := _vertex(v, wanted, dice.normal(size=v.size))) is not None]
    assume(len(others) > 0)
    for share in (0.01, 0.3, 1.0):
        mix = dice.dirichlet(np.ones(len(others))) @ np.array(others)
        q = (1 - share) * p + share * mix
        assert entropy(q) <= entropy(p) + 1e-7


def _vertex(v: np.ndarray, variance: float, cost: np.ndarray) -> np.ndarray | None:
    """A distribution with the same moments, monotone up to zero, of least cost: an independent solver finds it."""
    import highspy

    lp = highspy.Highs()
    lp.silent()
    p = [lp.addVariable(0, 1, obj=float(c)) for c in cost]
    lp.addConstr(sum(p) == 1)
    lp.addConstr(sum(float(a) * x for a, x in zip(v, p, strict=True)) == 0)
    lp.addConstr(sum(float(a * a) * x for a, x in zip(v, p, strict=True)) == variance)
    for k in range(v.size - 1):
        if v[k + 1] <= 0:
            lp.addConstr(p[k + 1] - p[k] >= 0)
    lp.run()
    found = np.array(lp.getSolution().col_value)
    return found if lp.getModelStatus() == highspy.HighsModelStatus.kOptimal else None


def test_designed_tables_are_unbiased_keep_zeros_and_leave_small_values_out() -> None:
    table = dk.design_p_table(deviation=6, variance=3, smallest=3)
    rows = table.rows()
    assert np.abs(rows.mean).max() < 1e-9
    assert rows.variance[1:] == pytest.approx(3.0)
    results = table.cell + table.deviation
    assert results.min() == 0
    assert not np.isin(results, (1, 2)).any()
    assert as_dict(table, 0) == {0.0: 1.0}


def test_one_variance_per_row() -> None:
    table = dk.design_p_table(deviation=5, variance=(2.5, 2.0, 1.0), smallest=3)
    assert table.rows().variance[1:] == pytest.approx([2.5, 2.0] + [1.0] * 6)


def test_a_row_nothing_can_fill_is_refused_with_what_is_possible() -> None:
    with pytest.raises(BadPTable, match="row 1") as refused:
        dk.design_p_table(deviation=5, variance=1, smallest=3)
    assert "from 2 to 5" in refused.value.hint


@pytest.mark.parametrize(
    "options",
    [{"deviation": 0}, {"deviation": 5, "step": 0.3}, {"stay": 1.0}, {"smallest": 0}, {"variance": -1},
     {"cells": (2, 1)}],
)  # fmt: skip
def test_impossible_designs_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        dk.design_p_table(**options)


BAD = {
    "rows that do not sum to one": ([0, 1, 1], [0, -1, 1], [1, 0.5, 0.4], "row '1' .* does not sum to one"),
    "zeros that become positive": ([0, 0, 1], [0, 1, 0], [0.9, 0.1, 1], "row '0' .* turns zeros positive"),
    "negative results": ([0, 1, 1], [0, -2, 2], [1, 0.5, 0.5], "makes values negative"),
    "negative probabilities": ([0, 1, 1, 1], [0, -1, 0, 1], [1, 0.6, -0.2, 0.6], "below 0"),
    "a deviation twice": ([0, 1, 1], [0, 1, 1], [1, 0.5, 0.5], "twice"),
    "no row of zero": ([1, 1], [-1, 1], [0.5, 0.5], "no row for 0"),
    "undefined numbers": ([0, 1, 1], [0, -1, 1], [1, float("nan"), 0.5], "undefined"),
    "nothing": ([], [], [], "no rows"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_perturbation_table_is_refused(what: str) -> None:
    i, v, p, words = BAD[what]
    with pytest.raises(BadPTable, match=words):
        dk.PTable.of(i, v, p)


def test_a_biased_table_deserves_care() -> None:
    with pytest.warns(dk.ProtectionWarning, match="biased"):
        dk.PTable.of([0, 1, 1], [0, -1, 2], [1, 0.5, 0.5])


@pytest.mark.parametrize(
    "options",
    [{"deviation": 7, "variance": 4, "smallest": 3}, {"deviation": 5, "variance": 1, "step": 0.5, "cells": (1, 5)}],
)  # fmt: skip
def test_a_written_table_reads_back_bit_by_bit(options: dict[str, Any], tmp_path: Path) -> None:
    table = dk.design_p_table(**options)
    dk.write_p_table(table, tmp_path / "p.txt")
    again = dk.read_p_table(tmp_path / "p.txt")
    for name in ("cell", "deviation", "p", "upper"):
        assert getattr(table, name).tobytes() == getattr(again, name).tobytes(), name
    assert table.kind == again.kind


SPELLINGS = {
    "tau-ARGUS": "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n",
    "quoted names": '"i";"j";"p";"v";"p_ij_ub"\n0;0;1;0;1\n1;0;5.0E-01;-1;0.5\n1;2;0.5;1;1\n\n',
    "other names": "i;j;p_ij;v;p_ij_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n",
    "types": "i;j;p;v;p_int_ub;type\n0;0;1;0;1;all\n1;0;0.5;-1;0.5;all\n1;2;0.5;1;1;all\n",
    "commas, no cumulated column": "i,j,p,v\n0,0,1,0\n1,0,0.5,-1\n1,2,0.5,1\n",
    "decimal commas": "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0,5;-1;0,5\n1;2;0,5;1;1\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_the_format_reads_the_same(spelling: str, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(SPELLINGS[spelling])
    table = dk.read_p_table(tmp_path / "p.txt")
    assert as_dict(table, 1) == {-1.0: 0.5, 1.0: 0.5}
    assert table.counts


def test_cumulated_probabilities_are_taken_from_the_file(tmp_path: Path) -> None:
    """p has been rounded for printing, the column of tau-ARGUS decides: so the noise is the same as there."""
    (tmp_path / "p.txt").write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5000004\n1;2;0.5;1;1\n")
    assert dk.read_p_table(tmp_path / "p.txt").rows().upper.tolist() == [1.0, 0.5000004, 1.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("i;j;p\n0;0;1\n", "no column v"),
        ("i;j;p;v\n0;0;1;0\n1;x;1;0\n", "is not a number"),
        ("i;j;p;v\n0;0;1;0\n1;2;1;0\n", "not i \\+ v"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.2\n1;2;0.5;1;1\n", "do not fit p|does not fit p|cumulated"),
    ],
)
def test_broken_files_are_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(BadPTable, match=words):
        dk.read_p_table(tmp_path / "p.txt")


PUBLIC: dict[str, tuple[dict[str, Any], float]] = {
    "cellkey-frequency/tau_testW_ptable.txt": ({"deviation": 7, "variance": 4, "smallest": 3}, 1e-8),
    "cellkey-frequency/20160511_szenario_5a.txt": ({"deviation": 5, "variance": 2.001, "smallest": 3}, 2e-6),
    "cellkey-magnitude/ptab_freq.txt": ({"deviation": 5, "variance": 3, "smallest": 3, "stay": 0.5}, 3e-8),
    "cellkey-magnitude/ptab_savings_all.txt": ({"deviation": 5, "variance": 1, "step": 0.5, "cells": (1, 5)}, 5e-8),
}


@pytest.mark.skipif(not SHARED.exists(), reason="the public files are not here")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_tables_read_write_and_are_reproduced_by_the_design(name: str, tmp_path: Path) -> None:
    options, close = PUBLIC[name]
    table = dk.read_p_table(SHARED / name)
    dk.write_p_table(table, tmp_path / "p.txt")
    assert dk.read_p_table(tmp_path / "p.txt").upper.tobytes() == table.upper.tobytes()
    own = dk.design_p_table(**options)
    assert own.rows().cell.tolist() == table.rows().cell.tolist()
    for r in range(own.rows().cell.size):
        assert as_dict(own, r) == pytest.approx(as_dict(table, r), abs=close)
