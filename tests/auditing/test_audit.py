"""The attacker finds what can be found, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import highspy
import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Promise, Status, Table, audit, methods, suppress
from diskret.model import rollup
from tests.printed import ReadPrinted

GOLDEN = Path(__file__).parents[1] / "golden"


# --- printed counter-examples ---------------------------------------------------------------------------------------


def test_cox_counter_example_gives_away_exactly_one_cell(printed: ReadPrinted) -> None:
    p = printed("ch1-cox-counterexample")
    table = p.table.with_status(Status.PRIMARY, [list(c) for c in p.expected_unknowns()])
    report = audit(table, Promise(knowledge=Knowledge.none()))
    assert [(e.cell, e.lower, e.upper, e.exact) for e in report.exposed] == [("district=3, group=C", 115, 115, True)]


def test_matched_subtables_of_figure_6_1_give_two_values_away() -> None:
    content = json.loads((GOLDEN / "quader" / "ch6-abb61-backcalculation-gap.json").read_text(encoding="utf-8"))
    structure = content["table"]["structure"]
    by = {
        "row": Hierarchy.from_levels([str(i) for i in range(1, 8)], [1, 1, 2, 1, 1, 2, 3]),
        "col": Hierarchy.from_levels([str(i) for i in range(1, 11)], [1, 1, 2, 1, 1, 2, 1, 1, 2, 3]),
    }
    assert by["row"].parts("7") == tuple(str(i) for i in structure["row_children"]["7"])
    # any values that fit the published ones will do: X1 = 15 and X4 = 5 follow, the others are chosen
    x2, x5 = -3.0, 4.0
    x3 = 10 - 15 - x2
    x6 = 20 - 5 - x5
    x7, x8, x9, x10 = 20 - x2, 15 - x3, 10 - x5, 25 - x6
    inner = {(1, 1): 15, (1, 4): x2, (1, 7): x3, (2, 1): 5, (2, 5): x5, (2, 8): x6, (4, 4): x7, (4, 7): x8}
    inner |= {(5, 5): x9, (5, 8): x10}
    value = np.zeros((7, 10))
    for (r, c), x in inner.items():
        value[r - 1, c - 1] = x
    rollup.add_up(value, list(by.values()))
    status = np.zeros(value.shape, dtype=np.uint8)
    for cell in content["table"]["cells"]:
        at = (cell["coord"][0] - 1, cell["coord"][1] - 1)
        if cell["status"] == "secret":
            status[at] = Status.PRIMARY
        elif cell["value"] is not None and cell["status"] == "open":
            assert cell["value"] == value[at]
    report = audit(Table(by, "x", value, status), Promise(knowledge=Knowledge.none()))
    found = {e.cell: e.lower for e in report.exposed}
    assert set(found.values()) == {15.0, 5.0}
    assert {"row=1, col=1", "row=2, col=1"} <= set(found)
    assert all(e.exact for e in report.exposed)


def test_intervals_of_the_printed_frequency_example() -> None:
    content = json.loads((GOLDEN / "rules" / "example2_frequency_table.json").read_text(encoding="utf-8"))
    rows, columns = content["rows"], content["columns"]
    cells = {
        "position": [r for r in rows for _ in columns],
        "status": columns * len(rows),
        "persons": [n for line in content["values"] for n in line],
    }
    by = {"position": Hierarchy.flat(rows), "status": Hierarchy.flat(columns)}
    table = Table.from_cells(cells, by=by, value="persons", frequency=True)
    primary = table.with_status(Status.PRIMARY, content["expected"]["primary"])
    assert {(e.lower, e.upper) for e in audit(primary).exposed} == {(1.0, 1.0)}
    hidden = primary.with_status(Status.SECONDARY, content["expected"]["secondary"])
    report = audit(hidden, intervals="hidden")
    assert report.safe
    for each in content["expected"]["ranges_after_secondary"]:
        name = f"position={each['cell'][0]}, status={each['cell'][1]}"
        assert report.intervals[name] == pytest.approx(tuple(each["range"]))


def test_attacker_intervals_of_appendix_a_3(printed: ReadPrinted) -> None:
    p = printed("appA-3-example-table-q299")
    pattern = [list(c) for c in p.expected("secondary_non_negative")]
    report = audit(
        p.table.with_status(Status.SECONDARY, pattern), Promise(knowledge=Knowledge.positive()), intervals="primary"
    )
    said = p.content["expected"]["derived_attacker_intervals"]["non_negative_pattern_non_negative_user"]
    for each in said:
        name = f"key1={each['coord'][0]}, key2={each['coord'][1]}"
        assert report.intervals[name] == pytest.approx(tuple(each["interval"]), abs=1e-4)


def test_linked_part_table_gives_the_hidden_value_back() -> None:
    """Scenario 2 of the rules: the sub-table's total is a cell of the table."""
    content = json.loads((GOLDEN / "rules" / "linked_scenario2.json").read_text(encoding="utf-8"))
    expected = content["expected"]
    tree = Hierarchy.from_nested(
        {"all": {"4521": None, "4522": None, "4523": list(content["subtable"]), "4524": None, "4525": None}}
    )
    values = {"4522": expected["value_4522_recovered"], **content["subtable"]}
    values |= {k: v for k, v in content["table"].items() if v is not None}
    cells = {"wz": list(values), "x": list(values.values())}
    table = Table.from_cells(cells, by={"wz": tree}, value="x")
    assert table.value[table.index("all")] == content["table_total"]
    hidden = table.with_status(Status.PRIMARY, [["4522"]]).with_status(Status.SECONDARY, [["4523"]])
    assert [(e.lower, e.exact) for e in audit(hidden).exposed] == [(34200.0, True)]
    repaired = suppress(hidden)
    assert repaired.audit is not None
    assert repaired.audit.safe
    assert repaired.secondary.any()


# --- against an independent solver ----------------------------------------------------------------------------------


def independent_interval(table: Table, cell: tuple[int, ...]) -> tuple[float, float]:
    """One programme per side over the values themselves, equations written out by hand."""
    hidden = [tuple(at) for at in np.argwhere(table.hidden).tolist()]
    place = {at: i for i, at in enumerate(hidden)}
    ends = []
    for sense in (1.0, -1.0):
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        for at in hidden:
            model.addVar(0.0, highspy.kHighsInf)
            model.changeColCost(place[at], sense if at == cell else 0.0)
        for axis, hierarchy in enumerate(table.hierarchies):
            for top, parts in enumerate(hierarchy.part_index):
                if not parts.size:
                    continue
                others = [range(n) for a, n in enumerate(table.shape) if a != axis]
                for rest in np.ndindex(*[len(o) for o in others]):
                    line = [(*rest[:axis], int(i), *rest[axis:]) for i in (*parts, top)]
                    factor = [1.0] * len(parts) + [-1.0]
                    known = -sum(f * table.value[at] for f, at in zip(factor, line, strict=True) if at not in place)
                    unknown = [(place[at], f) for f, at in zip(factor, line, strict=True) if at in place]
                    if unknown:
                        index, coefficient = zip(*unknown, strict=True)
                        model.addRow(known, known, len(index), np.array(index, dtype=np.int32), np.array(coefficient))
        model.run()
        status = model.getModelStatus()
        ends.append(
            sense * model.getInfo().objective_function_value if status == highspy.HighsModelStatus.kOptimal else np.inf
        )
    return ends[0], ends[1]


def random_table(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    trees = [
        Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "T", "b": "T", "c": "T"}),
        Hierarchy.flat(["x", "y", "z"]),
        Hierarchy.flat(["1", "2"]),
    ][: int(rng.integers(1, 4))]
    shape = tuple(len(h) for h in trees)
    value = np.where(rollup.inner_cells(trees), rng.integers(0, 30, shape), 0).astype(float)
    rollup.add_up(value, trees)
    status = np.where((rng.random(shape) < 0.12) & (value > 0), Status.PRIMARY, Status.OPEN).astype(np.uint8)
    return Table({f"d{i}": h for i, h in enumerate(trees)}, "x", value, status, positive=True)


@pytest.mark.parametrize("seed", range(25))
def test_exact_intervals_equal_those_of_an_independent_solver(seed: int) -> None:
    table = random_table(seed)
    more = np.random.default_rng(seed + 1000).random(table.shape) < 0.35
    status = np.where(more & (table.status == Status.OPEN) & (table.value > 0), Status.SECONDARY, table.status)
    table = replace(table, status=status.astype(np.uint8))
    report = audit(table, intervals="primary")
    exposed = {e.index for e in report.exposed}
    for at in map(tuple, np.argwhere(table.status == Status.PRIMARY).tolist()):
        name = ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(at), strict=True))
        low, high = independent_interval(table, at)
        assert report.intervals[name] == pytest.approx((low, high), abs=1e-5)
        assert (at in exposed) == (high - low < 1e-6)


@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(s, marks=pytest.mark.slow) for s in range(12, 25))])
def test_repaired_tables_keep_every_range_asked_for(seed: int) -> None:
    table = random_table(seed)
    wanted = Promise(min_relative_range=0.5, levels=False)
    result = suppress(table, wanted, methods.Moves(zeros="allowed"))
    named = {u.index for u in result.unprotected}
    for at in map(tuple, np.argwhere(table.status == Status.PRIMARY).tolist()):
        low, high = independent_interval(result.table, at)
        assert (high - low > 0.5 * table.value[at]) == (at not in named)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
def test_a_secondary_that_is_opened_again_is_caught_whenever_it_exposes_something() -> None:
    caught = 0
    for seed in range(40):
        table = suppress(random_table(seed)).table
        for at in map(tuple, np.argwhere(table.status == Status.SECONDARY).tolist()[:4]):
            status = table.status.copy()
            status[at] = Status.OPEN
            opened = replace(table, status=status)
            exposed = {e.index for e in audit(opened).exposed}
            for p in map(tuple, np.argwhere(opened.status == Status.PRIMARY).tolist()):
                low, high = independent_interval(opened, p)
                assert (p in exposed) == (high - low < 1e-6)
            caught += bool(exposed)
    assert caught > 20
