"""Proofs of what can be computed: readable, exact, and checked by other means."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import highspy
import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Status, Table
from diskret.auditing.proof import Proof, line_name, proof_of
from diskret.model import rollup
from diskret.model.equations import Equations, equations_of
from tests.printed import ReadPrinted

GOLDEN = Path(__file__).parents[1] / "golden"


def rooms(table: Table, system: Equations, knowledge: Knowledge) -> tuple[np.ndarray, np.ndarray]:
    up, down = knowledge.room(table)
    return up[system.cells], down[system.cells]


def column_of(table: Table, system: Equations, *codes: str) -> int:
    flat = int(np.ravel_multi_index(table.index(*codes), table.shape))
    return int(np.flatnonzero(system.cells == flat)[0])


def named_row_and_column(table: Table) -> Table:
    return replace(table, by=dict(zip(("row", "column"), table.hierarchies, strict=True)))


def computed_value(table: Table, system: Equations, proof: Proof) -> Fraction:
    """What an outsider gets from the combination: published numbers only, line by line."""
    value, hidden = table.value.reshape(-1), set(system.cells.tolist())
    result = Fraction(0)
    for row, multiplier in proof.equations:
        axis, top = int(system.axis[row]), int(system.sum_cell[row])
        at = list(np.unravel_index(top, table.shape))
        line = [(top, -1)]
        for part in table.hierarchies[axis].part_index[int(at[axis])]:
            at[axis] = part
            line.append((int(np.ravel_multi_index(at, table.shape)), 1))
        published = sum(f * Fraction(value[cell]) for cell, f in line if cell not in hidden)
        result -= multiplier * published
    return result


# --- printed examples -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize("knowledge", [Knowledge.none(), Knowledge.positive()])
def test_cox_counter_example_reads_as_it_is_printed(printed: ReadPrinted, upward: bool, knowledge: Knowledge) -> None:
    p = printed("ch1-cox-counterexample")
    table = p.table.with_status(Status.PRIMARY, [list(c) for c in p.expected_unknowns()])
    system = equations_of(table)
    up, down = rooms(table, system, knowledge)
    proof = proof_of(system, up, down, column_of(table, system, "3", "C"), upward, 0.0)
    assert proof is not None
    assert proof.text(named_row_and_column(table), system) == "row 2 + row 3 - column B - column D"
    assert proof.text(table, system) == "district 2 + district 3 - group B - group D"
    assert proof.holds(system, up, down)
    assert computed_value(table, system, proof) == p.content["expected"]["recomputed_value"] == 115


def test_figure_6_1_is_proven_across_its_subtables() -> None:
    content = json.loads((GOLDEN / "quader" / "ch6-abb61-backcalculation-gap.json").read_text(encoding="utf-8"))
    by = {
        "row": Hierarchy.from_levels([str(i) for i in range(1, 8)], [1, 1, 2, 1, 1, 2, 3]),
        "column": Hierarchy.from_levels([str(i) for i in range(1, 11)], [1, 1, 2, 1, 1, 2, 1, 1, 2, 3]),
    }
    inner = {(1, 1): 15, (1, 4): -3, (1, 7): -2, (2, 1): 5, (2, 5): 4, (2, 8): 11, (4, 4): 23, (4, 7): 17}
    inner |= {(5, 5): 6, (5, 8): 14}
    value = np.zeros((7, 10))
    for (r, c), x in inner.items():
        value[r - 1, c - 1] = x
    rollup.add_up(value, list(by.values()))
    secret = [c["coord"] for c in content["table"]["cells"] if c["status"] == "secret"]
    table = Table(by, "x", value, np.zeros(value.shape, dtype=np.uint8))
    table = table.with_status(Status.PRIMARY, [[str(i) for i in at] for at in secret])
    system = equations_of(table)
    up, down = rooms(table, system, Knowledge.none())
    said = content["expected"]["determined_by_check"]
    for codes, symbol in ((("1", "1"), "X1"), (("2", "1"), "X4"), (("1", "3"), "X1"), (("2", "3"), "X4")):
        proof = proof_of(system, up, down, column_of(table, system, *codes), True, 0.0)
        assert proof is not None
        assert not proof.bounds
        assert computed_value(table, system, proof) == said[symbol]
    first = proof_of(system, up, down, column_of(table, system, "1", "3"), True, 0.0)
    assert first is not None
    # the printed derivation: rows 1 and 4 less columns 4 and 7, with the subtotals on the way
    assert first.text(table, system) == (
        "(row 1 through column 6, 9) + (row 4 through column 6, 9) - (column 4 through row 3, 6)"
        " - (column 7 through row 3, 6)"
    )
    for codes in (("1", "4"), ("5", "8")):
        assert proof_of(system, up, down, column_of(table, system, *codes), True, 0.0) is None


# --- names ----------------------------------------------------------------------------------------------------------


def small(status: dict[tuple[str, ...], Status], **names: Hierarchy) -> Table:
    shape = tuple(len(h) for h in names.values())
    value = np.where(rollup.inner_cells(list(names.values())), 10.0 + np.arange(np.prod(shape)).reshape(shape), 0.0)
    rollup.add_up(value, list(names.values()))
    table = Table(names, "x", value, np.zeros(shape, dtype=np.uint8), positive=True)
    for codes, given in status.items():
        table = table.with_status(given, [codes])
    return table


def test_lines_are_named_by_what_is_fixed() -> None:
    region, sector = (
        Hierarchy.flat(["05", "06"]),
        Hierarchy.from_parents({"C1": "C", "C2": "C", "C": "all", "D": "all"}),
    )
    table = small({("05", "C"): Status.PRIMARY}, region=region, sector=sector)
    system = equations_of(table)
    found = {line_name(table, system, r) for r in range(system.rows)}
    assert found == {"region 05", "region 05 within sector C", "sector C"}
    cube = small({("05", "C", "m"): Status.PRIMARY}, region=region, sector=sector, sex=Hierarchy.flat("mw"))
    system = equations_of(cube)
    found = {line_name(cube, system, r) for r in range(system.rows)}
    assert found == {
        "(region 05, sex m)", "(region 05, sex m within sector C)", "(sector C, sex m)", "(region 05, sector C)"
    }  # fmt: skip
    line = small({("C1",): Status.PRIMARY, ("C2",): Status.SECONDARY}, sector=sector)
    system = equations_of(line)
    assert [line_name(line, system, r) for r in range(system.rows)] == ["parts of sector C"]


def test_bounds_are_named_with_their_reason() -> None:
    table = small({("a", "x"): Status.PRIMARY, ("a", "y"): Status.SECONDARY}, row=Hierarchy.flat("ab"),
                  column=Hierarchy.flat("xyz")).with_status(Status.SECONDARY, ["bx", "by"])  # fmt: skip
    system = equations_of(table)
    column = column_of(table, system, "a", "x")
    size = system.cells.size
    positive = rooms(table, system, Knowledge.positive())
    proof = proof_of(system, *positive, column, True, 1e6)
    assert proof is not None
    assert proof.text(table, system) == "row a, because (row a; column y) cannot be negative"
    assert proof.reach == Fraction(table.value[table.index("a", "y")])
    down = proof_of(system, *positive, column, False, 1e6)
    assert down is not None
    assert down.text(table, system) == "because (row a; column x) cannot be negative"
    narrow = np.full(size, 0.3)
    proof = proof_of(system, np.full(size, np.inf), narrow, column, True, 0.3)
    assert proof is not None
    assert proof.reach == Fraction(3, 10)
    assert proof.text(table, system) == "row a, because (row a; column y) cannot be smaller than known"
    proof = proof_of(system, narrow, np.full(size, np.inf), column, True, 0.3)
    assert proof is not None
    assert proof.text(table, system) == "because (row a; column x) cannot be larger than known"


def test_multipliers_other_than_one_are_printed_and_long_proofs_cut() -> None:
    table = small({("a",): Status.PRIMARY, ("b",): Status.SECONDARY}, s=Hierarchy.flat("abc"))
    system = replace(equations_of(table), coefficients=np.array([2.0, 3.0]))
    proof = proof_of(system, np.full(2, np.inf), np.array([10.0, 11.0]), 0, True, 16.5)
    assert proof is not None
    assert proof.reach == Fraction(33, 2)
    assert proof.text(table, system) == "1/2 x parts of s Total, because (s b) cannot be negative"
    square = small({("a", "x"): Status.PRIMARY}, row=Hierarchy.flat("ab"), column=Hierarchy.flat("xy"))
    square = square.with_status(Status.SECONDARY, ["ay", "bx", "by"])
    twice = tuple((r, Fraction(2)) for r in range(4))
    four = Proof(column=0, upward=True, equations=twice, bounds=(), reach=Fraction(0))
    text = four.text(square, equations_of(square), most=2)
    assert text == "2 x column x + 2 x column y ... (2 more lines)"


# --- random tables --------------------------------------------------------------------------------------------------


def random_table(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    trees = [
        Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "T", "b": "T", "c": "T"}),
        Hierarchy.flat(["x", "y", "z"]),
        Hierarchy.flat(["1", "2"]),
    ][: int(rng.integers(1, 4))]
    shape = tuple(len(h) for h in trees)
    value = np.where(rollup.inner_cells(trees), rng.integers(0, 300, shape), 0) / 10
    rollup.add_up(value, trees)
    value = np.round(value, 1)
    hidden = (rng.random(shape) < rng.choice([0.3, 0.5, 0.7])) & (value > 0)
    status = np.where(hidden, Status.PRIMARY, Status.OPEN).astype(np.uint8)
    return Table({f"d{i}": h for i, h in enumerate(trees)}, "x", value, status, positive=True)


def farthest(system: Equations, up: np.ndarray, down: np.ndarray, column: int, sign: float) -> float:
    """An independent programme over all unknowns, one row at a time."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    for c in range(system.cells.size):
        model.addVar(-min(down[c], highspy.kHighsInf), min(up[c], highspy.kHighsInf))
        model.changeColCost(c, -sign if c == column else 0.0)
    for r in range(system.rows):
        line = slice(system.start[r], system.start[r + 1])
        index = system.columns[line].astype(np.int32)
        model.addRow(0.0, 0.0, index.size, index, system.coefficients[line])
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return float("inf")
    return -float(model.getInfo().objective_function_value)


def proves(proof: Proof, system: Equations, up: np.ndarray, down: np.ndarray) -> bool:
    """Written-out check: target minus combination, unknown by unknown, against the bounds in decimals."""
    sign = 1 if proof.upward else -1
    total = Fraction(0)
    for column in range(system.cells.size):
        left = Fraction(int(column == proof.column))
        for row, multiplier in proof.equations:
            for e in range(system.start[row], system.start[row + 1]):
                left -= multiplier * Fraction(system.coefficients[e]) * int(system.columns[e] == column)
        if left:
            room = float(up[column] if sign * left > 0 else down[column])
            if room == float("inf"):
                return False
            total += abs(left) * Fraction(str(room))
    return total <= proof.reach


@pytest.mark.parametrize("seed", range(30))
def test_every_end_of_every_interval_has_a_proof(seed: int) -> None:
    table = random_table(seed)
    system = equations_of(table)
    knowledge = [Knowledge.none(), Knowledge.positive(), Knowledge.relative(0.5)][seed % 3]
    up, down = rooms(replace(table, positive=knowledge.kind == "positive"), system, knowledge)
    for column in range(min(system.cells.size, 12)):
        for upward in (True, False):
            reach = farthest(system, up, down, column, 1.0 if upward else -1.0)
            proof = proof_of(system, up, down, column, upward, reach)
            assert (proof is None) == (reach == float("inf"))
            if proof is None:
                assert proof_of(system, up, down, column, upward, 1e9) is None
                continue
            assert float(proof.reach) == pytest.approx(reach, abs=1e-6)
            assert proves(proof, system, up, down)
            assert proof.holds(system, up, down)
            assert not re.search(r"\d\.\d", proof.text(table, system))
            if reach > 0.5:
                assert proof_of(system, up, down, column, upward, 0.9 * reach) is None


def test_a_proof_that_was_changed_does_not_hold() -> None:
    table = random_table(7)
    system = equations_of(table)
    up, down = rooms(table, system, Knowledge.positive())
    checked = 0
    for column in range(system.cells.size):
        proof = proof_of(system, up, down, column, True, 1e9)
        if proof is None or not proof.equations or not proof.reach:
            continue
        (row, multiplier), *rest = proof.equations
        assert proof.holds(system, up, down)
        assert not replace(proof, equations=((row, multiplier + 1), *rest)).holds(system, up, down)
        assert not replace(proof, reach=proof.reach - Fraction(1, 100)).holds(system, up, down)
        assert not proof.holds(system, up, down + 0.1)
        checked += 1
    assert checked > 3
