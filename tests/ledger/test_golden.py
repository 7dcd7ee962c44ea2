"""The linked scenarios of the literature, released one table after the other: Quaderverfahren chapter 6, and 003."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger
from diskret.model.errors import Contradiction

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def flat(name: str, values: dict[str, float], total: str = "Total", **status: str) -> dk.Table:
    cells = {name: list(values), "x": list(values.values()), "st": [status.get(f"_{c}", "open") for c in values]}
    tree = {name: dk.Hierarchy.flat(values, total=total)}
    return dk.Table.from_cells(cells, by=tree, value="x", status="st")


def counts(**fixed: str) -> About:
    return About(population="enterprises", period="2003", fixed=fixed)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return dk.open_ledger(tmp_path / "ledger", create=True)


def test_a_subtable_gives_away_the_hidden_total_and_what_it_protected(ledger: Ledger) -> None:
    """003, scenario 2: the total of the regions is the hidden 4523, and so 4522 is known."""
    said = golden("rules/linked_scenario2")
    values = said["table"] | {"4522": said["expected"]["value_4522_recovered"], "4523": said["subtable_total"]}
    main = flat("wz", values, _4522="primary", _4523="secondary")
    ledger.add(main, counts(), name="turnover by branch")
    below = flat("region", said["subtable"])
    found = ledger.check(below, counts(wz="4523"), name="branch 4523 by region")
    [leak] = found.audit.exposed
    assert (leak.cell, leak.exact, leak.lower) == ("wz=4522", True, said["expected"]["value_4522_recovered"])
    assert "turnover by branch" in leak.proof
    assert "branch 4523 by region" in leak.proof
    done = dk.suppress(below, ledger=ledger.about(counts(wz="4523")))
    hidden = done.table.name_cells(done.table.hidden)
    assert "region=Total" in hidden, "as printed: the total of the sub-table"
    assert len(hidden) == 2, "and one of its parts"


def test_the_last_state_completes_the_country(ledger: Ledger) -> None:
    """003, scenario 1: every state publishes a table of its own, and another shows Germany."""
    said = golden("rules/linked_scenario1")
    states = {row["unit"]: float(row["investment"] or 700_000) for row in said["table"][:-1]}
    tables = {s: flat("wz", {"4521": v, "4522": 5e6, "4523": 3e6}) for s, v in states.items()}
    berlin = "03 Berlin"
    tables[berlin] = tables[berlin].with_status("primary", [["4521"]])
    country = {"state": {"Germany": list(states)}}
    whole = {wz: float(sum(t.value[t.index(wz)] for t in tables.values())) for wz in ("4521", "4522", "4523")}
    about = About(population="enterprises", period="2003", fixed={"state": "Germany"}, groupings=country)
    ledger.add(flat("wz", whole), about, name="Germany")
    hidden = 0
    for state in (berlin, *(s for s in states if s != berlin)):
        alone = dk.suppress(tables[state]).table
        if state == list(states)[-1]:
            found = ledger.check(alone, counts(state=state), name=state)
            assert not found.safe, "the last one is left to hide something for Berlin"
        done = dk.suppress(tables[state], ledger=ledger.about(counts(state=state), state))
        hidden += int(done.table.hidden[done.table.index("4521")])
        ledger.add(done.table, counts(state=state), name=state)
    assert hidden >= said["expected"]["minimum_suppressed_parts_if_total_published"]


ROWS, COLUMNS = {3: (1, 2), 6: (4, 5), 7: (3, 6)}, {3: (1, 2), 6: (4, 5), 9: (7, 8), 10: (3, 6, 9)}
SOLUTION = {"X1": 15, "X2": 5, "X3": -10, "X4": 5, "X5": 0, "X6": 15, "X7": 15, "X8": 25, "X9": 10, "X10": 10}
PUBLIC = dk.Promise(guard="public", unions=False, knowledge=dk.Knowledge.none(), levels=False)
OF_FIGURE = About(
    population="enterprises", period="2003",
    groupings={
        "row": {f"r{w}": [f"r{p}" for p in parts] for w, parts in ROWS.items()},
        "column": {f"c{w}": [f"c{p}" for p in parts] for w, parts in COLUMNS.items()},
    },
)  # fmt: skip


def subtables(said: Any, also: Sequence[Sequence[int]] = ()) -> Iterator[tuple[str, dk.Table]]:
    """The subtables of figures 6.1 and 6.4, with the secrets and further cells hidden."""
    value, status = {}, {}
    for cell in said["table"]["cells"]:
        at = row, column = cell["coord"][0], cell["coord"][1]
        parts = cell["symbol"].split("+") if cell["value"] is None else []
        value[at] = sum(SOLUTION[p] for p in parts) if parts else cell["value"]
        status[at] = "primary" if parts else "secondary" if [row, column] in also else "open"
    for top, below in ROWS.items():
        for right, left in COLUMNS.items():
            cells = [(r, c) for r in (*below, top) for c in (*left, right)]
            table = dk.Table.from_cells(
                {
                    "row": [f"r{r}" for r, _ in cells], "column": [f"c{c}" for _, c in cells],
                    "x": [value[c] for c in cells], "st": [status[c] for c in cells],
                },
                by={
                    "row": dk.Hierarchy.flat([f"r{r}" for r in below], total=f"r{top}"),
                    "column": dk.Hierarchy.flat([f"c{c}" for c in left], total=f"c{right}"),
                },
                value="x", status="st",
            )  # fmt: skip
            yield f"subtable {top} {right}", table


def found_in(ledger: Ledger, said: Any, also: Sequence[Sequence[int]] = ()) -> set[str]:
    """The cells that are exposed while subtables are released one by one, each of them safe alone."""
    findings: set[str] = set()
    for name, table in subtables(said, also):
        assert dk.audit(table, PUBLIC).safe, "no subtable determines anything alone"
        found = ledger.check(table, OF_FIGURE, PUBLIC, name=name)
        assert not found.audit.undecided
        findings |= {e.cell for e in found.audit.exposed}
        ledger.add(table, OF_FIGURE, name=name)
    return findings


def test_subtables_that_are_safe_one_by_one_determine_two_cells_together(ledger: Ledger) -> None:
    """6.2.1, figure 6.1: every subtable is secure, all are matched, and X1 and X4 can be computed."""
    said = golden("quader/ch6-abb61-backcalculation-gap")
    findings = found_in(ledger, said)
    cells = {f"row=r{c['coord'][0]}, column=c{c['coord'][1]}": c["symbol"] for c in said["table"]["cells"]}
    assert {cells[each] for each in findings if each in cells} == set(said["expected"]["determined_by_check"])


@pytest.mark.parametrize(
    ("way", "key"),
    [
        ("zeros_not_suppressible", "new_suppressions"), ("zeros_suppressible", "new_suppressions"),
        ("zeros_suppressible", "equivalent_alternative"),
    ],
)  # fmt: skip
def test_the_gap_is_closed_by_what_the_complete_table_hides(ledger: Ledger, way: str, key: str) -> None:
    """6.2.2.1, figure 6.4: two sums more are hidden, or one zero, and the subtables give nothing away together."""
    said = golden("quader/ch6-abb64-gap-closed-in-complete-table")
    assert found_in(ledger, said, said["expected"][way][key]) == set()


def test_tables_of_one_space_overlap_where_their_fixed_codes_meet(ledger: Ledger) -> None:
    """6.1.2: regions by branch of one legal form, regions by legal form of one branch; both have one column."""
    said = golden("quader/ch6-612-overlap-region")
    assert said["expected"]["overlap_minimal_case"] == "{WZ_j} x {RF_k} x {R_1..R_n}"
    regions = ["R1", "R2", "R3"]
    one = {"R": regions * 2, "WZ": ["WZj"] * 3 + ["WZ2"] * 3, "x": [4, 6, 9, 7, 8, 2]}
    one["st"] = ["primary", "secondary", "open", "open", "open", "open"]
    other = {"R": regions * 2, "RF": ["RFk"] * 3 + ["RF2"] * 3, "x": [4, 6, 9, 1, 3, 5]}
    by_branch = dk.Table.from_cells(one, by={"R": None, "WZ": None}, value="x", status="st")
    ledger.add(by_branch, counts(RF="RFk"), name="table A")
    by_form = dk.Table.from_cells(other, by={"R": None, "RF": None}, value="x")
    found = ledger.check(by_form, counts(WZ="WZj"), name="table B")
    assert found.shown_hidden == ("R=R1, WZ=WZj, RF=RFk is sensitive and hidden in table A, and shown here",)
    both = {"R": "R3", "WZ": "WZj", "RF": "RFk", "period": "2003"}
    ledger.add(by_form.with_status("primary", [["R1", "RFk"], ["R2", "RFk"]]), counts(WZ="WZj"), name="table B")
    assert [each["name"] for each in ledger.history(both)] == ["table A", "table B"]
    changed = dk.Table.from_cells(other | {"x": [4, 6, 8, 1, 3, 5]}, by={"R": None, "RF": None}, value="x")
    with pytest.raises(Contradiction, match=r"4 cells of 'again' .* 'table A', 'table B'"):
        ledger.add(changed, counts(WZ="WZj"), name="again")


def test_the_example_table_released_strip_by_strip_is_as_safe_as_the_whole(ledger: Ledger) -> None:
    """6.2.2.2, figure 6.7: subtables released one by one beside the ledger make a table that is safe as a whole."""
    said = golden("quader/ch6-abb67-example-table-secured-as-complete-4d")
    trees = {each["name"]: each["tree"] for each in said["table"]["dimensions"]}
    value = {tuple(cell["coord"]): cell["value"] for cell in said["table"]["cells"]}
    primary = {tuple(each) for each in said["expected"]["primary"]}
    promise = dk.Promise(guard="public", unions=False, levels=False)
    hidden: set[tuple[str, ...]] = set()
    alone: set[tuple[str, ...]] = set()
    for top, below in reversed(trees["key1"].items()):
        for right, left in reversed(trees["key2"].items()):
            cells = [(r, c) for r in below for c in left]
            marked = dk.Table.from_cells(
                {
                    "key1": [r for r, _ in cells], "key2": [c for _, c in cells], "x": [value[at] for at in cells],
                },
                by={"key1": dk.Hierarchy.flat(below, total=top), "key2": dk.Hierarchy.flat(left, total=right)},
                value="x",
            )  # fmt: skip
            mine = [list(at) for at in primary if at[0] in (*below, top) and at[1] in (*left, right)]
            marked = marked.with_status("primary", mine)
            about = About(population="enterprises", period="2003", groupings=trees)
            done = dk.suppress(marked, promise, ledger=ledger.about(about))
            ledger.add(done.table, about, name=f"{top} {right}")
            own = dk.suppress(marked, promise).table
            hidden |= {done.table.codes(tuple(at)) for at in np.argwhere(done.table.hidden).tolist()}
            alone |= {own.codes(tuple(at)) for at in np.argwhere(own.hidden).tolist()}
    by = {name: dk.Hierarchy.from_parents({p: w for w, parts in t.items() for p in parts}) for name, t in trees.items()}
    inner = [at for at in value if at[0] not in trees["key1"] and at[1] not in trees["key2"]]
    whole = dk.Table.from_cells(
        {"key1": [r for r, _ in inner], "key2": [c for _, c in inner], "x": [value[at] for at in inner]},
        by=by, value="x",
    )  # fmt: skip
    for pattern, safe in ((hidden, True), (alone, False)):
        table = whole.with_status("secondary", [list(at) for at in pattern])
        assert dk.audit(table.with_status("primary", [list(at) for at in primary]), promise).safe is safe
