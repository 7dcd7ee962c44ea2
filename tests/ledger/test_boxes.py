"""Cells that overlap in several classifications at once: what no line says is found, too."""

from __future__ import annotations

from pathlib import Path

import pytest

import diskret as dk
from diskret.ledger import boxes
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger

GROUPINGS = {"region": {"DE": ["a", "b", "c"], "ab": ["a", "b"]}, "kind": {"all": ["k", "l", "m"], "kl": ["k", "l"]}}


def number(
    ledger: Ledger, region: str, kind: str, value: float, count: int, *, add: bool = True
) -> dk.ledger.LedgerCheck:
    """One published number of a region and a kind."""
    cells = {"what": ["all firms"], "x": [value], "n": [count]}
    table = dk.Table.from_cells(cells, by={"what": None}, value="x", count="n")
    about = About(population="firms", period="2024", fixed={"region": region, "kind": kind}, groupings=GROUPINGS)
    found = ledger.check(table, about)
    if add:
        ledger.add(table, about, name=f"{region} {kind}")
    return found


@pytest.mark.parametrize("most", [boxes.MOST_PARTS, 0])
def test_what_a_box_leaves_beside_cells_on_no_common_line_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Two regions of two kinds together, and three of the four cells in them: the fourth is one firm."""
    monkeypatch.setattr(boxes, "MOST_PARTS", most)
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    for region, kind, value, count in (("ab", "kl", 100, 16), ("a", "k", 30, 5), ("b", "k", 20, 5)):
        assert number(ledger, region, kind, value, count).safe
    found = number(ledger, "a", "l", 40, 5, add=False)
    assert [each.cell.partition(",")[0] for each in found.audit.exposed], found.report()


def test_values_of_a_day_overlap_on_no_two_days(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    cells = {"region": ["a", "b"], "x": [10, 20], "n": [5, 5]}
    table = dk.Table.from_cells(cells, by={"region": None}, value="x", count="n")
    for period in ("2024", "2024-Q1"):
        about = About(population="firms", period=period, stock=True)
        ledger.add(table, about, name=period)
    assert ledger.check(table, About(population="firms", period="2024-Q2", stock=True)).safe
