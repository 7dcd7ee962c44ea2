"""The linked scenarios of the literature, released one table after the other: Quaderverfahren chapter 6, and 003."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger

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


def test_subtables_that_are_safe_one_by_one_determine_two_cells_together(ledger: Ledger) -> None:
    """6.2.1, figure 6.1: every subtable is secure, all are matched, and X1 and X4 can be computed."""
    said = golden("quader/ch6-abb61-backcalculation-gap")
    solution = {"X1": 15, "X2": 5, "X3": -10, "X4": 5, "X5": 0, "X6": 15, "X7": 15, "X8": 25, "X9": 10, "X10": 10}
    value, secret = {}, {}
    for cell in said["table"]["cells"]:
        row, column = cell["coord"]
        parts = cell["symbol"].split("+") if cell["value"] is None else []
        value[row, column] = sum(solution[p] for p in parts) if parts else cell["value"]
        secret[row, column] = cell["symbol"] if parts else ""
    rows, columns = {3: (1, 2), 6: (4, 5), 7: (3, 6)}, {3: (1, 2), 6: (4, 5), 9: (7, 8), 10: (3, 6, 9)}
    promise = dk.Promise(guard="public", unions=False, knowledge=dk.Knowledge.none(), levels=False)
    groups = {"row": {f"r{w}": [f"r{p}" for p in parts] for w, parts in rows.items()}} | {
        "column": {f"c{w}": [f"c{p}" for p in parts] for w, parts in columns.items()}
    }
    about = About(population="enterprises", period="2003", groupings=groups)
    findings: set[str] = set()
    for top, below in rows.items():
        for right, left in columns.items():
            cells = [(r, c) for r in (*below, top) for c in (*left, right)]
            table = dk.Table.from_cells(
                {
                    "row": [f"r{r}" for r, _ in cells], "column": [f"c{c}" for _, c in cells],
                    "x": [value[c] for c in cells], "st": ["primary" if secret[c] else "open" for c in cells],
                },
                by={
                    "row": dk.Hierarchy.flat([f"r{r}" for r in below], total=f"r{top}"),
                    "column": dk.Hierarchy.flat([f"c{c}" for c in left], total=f"c{right}"),
                },
                value="x", status="st",
            )  # fmt: skip
            assert dk.audit(table, promise).safe, "no subtable determines anything alone"
            found = ledger.check(table, about, promise, name=f"subtable {top} {right}")
            findings |= {e.cell for e in found.audit.exposed}
            ledger.add(table, about, name=f"subtable {top} {right}")
    shown = {symbol for (r, c), symbol in secret.items() if f"row=r{r}, column=c{c}" in findings}
    assert shown == set(said["expected"]["determined_by_check"])
