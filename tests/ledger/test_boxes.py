"""Cells that overlap in several classifications at once: what no line says is found, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import diskret as dk
from diskret.ledger import boxes, solving
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger
from diskret.model.arrays import Bools, Floats
from diskret.model.status import Status

GROUPINGS = {
    "region": {"DE": ["a", "b", "c"], "ab": ["a", "b"], "bc": ["b", "c"]},
    "kind": {"all": ["k", "l", "m"], "kl": ["k", "l"]},
}


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


@pytest.mark.parametrize("most", [boxes.MOST_GRID, 0])
def test_what_a_box_leaves_beside_cells_on_no_common_line_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Two regions of two kinds together, and three of the four cells in them: the fourth is one firm."""
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    for region, kind, value, count in (("ab", "kl", 100, 16), ("a", "k", 30, 5), ("b", "k", 20, 5)):
        assert number(ledger, region, kind, value, count).safe
    monkeypatch.setattr(boxes, "MOST_GRID", most)
    found = number(ledger, "a", "l", 40, 5, add=False)
    assert [each.cell.partition(",")[0] for each in found.audit.exposed], found.report()


class _Original:
    """Values of finest cells that nobody publishes, and sums over boxes of them that are."""

    def __init__(self, folder: Path, seed: int, axes: Sequence[str]) -> None:
        self.random = np.random.default_rng(seed)
        self.codes = {axis: [f"{axis[0]}{i}" for i in range(self.random.integers(2, 7 - len(axes)))] for axis in axes}
        self.shape = tuple(map(len, self.codes.values()))
        lively = self.random.random(self.shape) > 0.25
        self.values: Floats = np.where(lively, self.random.integers(1, 30, self.shape), 0).astype(np.float64)
        self.ledger = dk.open_ledger(folder / "ledger", create=True)
        self.seen: list[Bools] = []

    def box(self) -> tuple[Bools, About, dk.Table]:
        """The sum over some codes of every classification, as a table."""
        some = {
            axis: sorted(self.random.permutation(len(codes))[: self.random.integers(1, len(codes) + 1)].tolist())
            for axis, codes in self.codes.items()
        }
        inside = np.zeros(self.shape, dtype=np.bool_)
        inside[np.ix_(*some.values())] = True
        named = {axis: [self.codes[axis][i] for i in own] for axis, own in some.items()}
        about = About(
            population="firms", period="2024", fixed={axis: "+".join(own) for axis, own in named.items()},
            groupings={
                axis: {"+".join(own): own for own in (named[axis], codes) if len(own) > 1}
                for axis, codes in self.codes.items()
            },
            totals={axis: "+".join(codes) for axis, codes in self.codes.items()},
        )  # fmt: skip
        cells = {"what": ["firms"], "x": [float(self.values[inside].sum())]}
        return inside, about, dk.Table.from_cells(cells, by={"what": None}, value="x")

    def publish(self) -> None:
        """One more sum."""
        inside, about, table = self.box()
        if not any((inside == other).all() for other in self.seen):
            self.ledger.add(table, about, name=f"table {len(self.seen)}")
            self.seen.append(inside)

    def ends(self, inside: Bools) -> tuple[float, float]:
        """Between which values the sum over a box lies, for whoever thinks of all finest cells."""
        rows = np.array([other.reshape(-1) for other in self.seen], dtype=np.float64)
        known = rows @ self.values.reshape(-1)
        cost = inside.reshape(-1).astype(np.float64)
        least, most = (linprog(sign * cost, A_eq=rows, b_eq=known, method="highs") for sign in (1, -1))
        return float(least.fun), -float(most.fun) if most.status == 0 else np.inf


@pytest.mark.parametrize("seed", range(8))
def test_the_attack_beside_a_ledger_is_that_on_all_finest_cells(tmp_path: Path, seed: int) -> None:
    """Whatever boxes were published: a hidden one lies between the same values, but for what is rounded."""
    original = _Original(tmp_path, seed, ("region", "kind", "size")[: 2 + seed % 2])
    for _ in range(7):
        original.publish()
    inside, about, table = original.box()
    while any((inside == other).all() for other in original.seen):
        inside, about, table = original.box()
    hidden = replace(table, status=np.full_like(table.status, Status.PRIMARY))
    _, link = original.ledger.link(hidden, about)
    assert not link.notes
    found = dk.audit(link.cells, intervals="primary").intervals
    least, most = original.ends(inside)
    # values that nobody told are rounded to whole ones
    assert any(
        least - 1e-6 <= low <= least + 2 and (most == high or most - 2 <= high <= most + 1e-6)
        for low, high in found.values()
    ), (found, least, most)


def test_a_total_around_pairs_of_classifications_is_said_to_be_made_of_them_once(tmp_path: Path) -> None:
    """One region by one kind, this kind by one size, this size by the region, and everything: a hidden total."""
    axes = {"region": ["a", "b"], "kind": ["k", "l"], "size": ["s", "t"]}
    said = {axis: {axis: codes} for axis, codes in axes.items()}
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)

    def asked(value: float, status: str, *some: str) -> tuple[dk.Table, About]:
        cells = {"what": ["firms"], "x": [value], "st": [status]}
        table = dk.Table.from_cells(cells, by={"what": None}, value="x", status="st")
        fixed = {axis: axes[axis][0] for axis in some}
        return table, About(
            population="firms", period="2024", fixed=fixed, groupings=said, totals={axis: axis for axis in axes}
        )

    for value, *some in ((30, "region", "kind"), (25, "kind", "size"), (28, "region", "size")):
        table, about = asked(float(value), "open", *map(str, some))
        ledger.add(table, about, name=" ".join(map(str, some)))
    table, about = asked(60.0, "open")
    _, link = ledger.link(replace(table, status=np.full_like(table.status, Status.PRIMARY)), about)
    start, cells = link.cells.row_cells
    assert all(np.unique(own).size == own.size for own in np.split(cells, start[1:-1]))
    # what all three have in common is 25 at most, and 5 and 3 are left beside it
    assert list(dk.audit(link.cells, intervals="primary").intervals.values()) == [(33.0, np.inf)]


def test_what_follows_since_others_are_nothing_is_judged(tmp_path: Path) -> None:
    """Nobody is in region a of either kind, so region c is as much as a and c, and what is left of b and c is b."""
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    region = {"DE": ["a", "b", "c"], "ab": ["a", "b"], "ac": ["a", "c"], "bc": ["b", "c"]}
    kinds = {"all": ["k", "l"]}

    def about(region_code: str, kind: str) -> About:
        fixed = {"region": region_code} | ({"kind": kind} if kind else {})
        said = {"region": region, "kind": kinds}
        return About(population="firms", period="2024", fixed=fixed, groupings=said, totals={"kind": "all"})

    def table(value: float, count: int) -> dk.Table:
        cells = {"what": ["firms"], "x": [value], "n": [count]}
        return dk.Table.from_cells(cells, by={"what": None}, value="x", count="n")

    for code, kind, value, count in (("ab", "k", 0, 0), ("a", "l", 0, 0), ("bc", "", 57, 8)):
        assert ledger.check(table(value, count), about(code, kind)).safe
        ledger.add(table(value, count), about(code, kind), name=f"{code} {kind}")
    found = ledger.check(table(30.0, 6), about("ac", ""))
    assert not found.safe, found.report()
    assert "region=b" in found.report()


@pytest.mark.parametrize("total", [True, False])
def test_what_follows_from_several_sums_together_is_judged(tmp_path: Path, total: bool) -> None:
    """All regions, a and c, b and c; or every two of them: a is two firms, and no sum alone says it."""
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    said = {"region": {"DE": ["a", "b", "c"], "ab": ["a", "b"], "bc": ["b", "c"], "ac": ["a", "c"]}}
    first = ("DE", 105, 20) if total else ("ab", 88, 5)
    checks = []
    for code, value, count in (first, ("ac", 55, 17), ("bc", 67, 18)):
        cells = {"what": ["firms"], "x": [value], "n": [count]}
        table = dk.Table.from_cells(cells, by={"what": None}, value="x", count="n")
        about = About(population="firms", period="2024", fixed={"region": code}, groupings=said)
        checks.append(ledger.check(table, about))
        ledger.add(table, about, name=code)
    assert [each.safe for each in checks] == [True, True, False]
    assert "region=a" in checks[-1].report()


def test_what_is_too_much_to_solve_together_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two of three regions, and no time to solve for the single ones."""
    monkeypatch.setattr(solving, "MOST_WORK", 0)
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    said = {"region": {"ab": ["a", "b"], "bc": ["b", "c"], "ac": ["a", "c"], "DE": ["a", "b", "c"]}}
    for code, value in (("ab", 88), ("ac", 55), ("bc", 67)):
        table = dk.Table.from_cells({"what": ["firms"], "x": [value]}, by={"what": None}, value="x")
        about = About(population="firms", period="2024", fixed={"region": code}, groupings=said)
        found = ledger.check(table, about)
        ledger.add(table, about, name=code)
    assert not found.safe
    assert "overlap" in found.notes[0]


def test_what_is_not_followed_up_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions by kinds, kinds by sizes and sizes by regions tell more together than their common sums do."""
    axes = {"region": "ab", "kind": "kl", "size": "st"}
    trees = {axis: dk.Hierarchy.flat(codes) for axis, codes in axes.items()}
    pairs = [("region", "kind"), ("kind", "size"), ("size", "region")]
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    checks = []
    values = np.arange(1.0, 9.0).reshape(2, 2, 2)
    for one, other in pairs:
        sums = values.sum(axis=3 - [*axes].index(one) - [*axes].index(other))
        sums = sums if [*axes].index(one) < [*axes].index(other) else sums.T
        cells = {one: list(axes[one] * 2), other: [code for code in axes[other] for _ in range(2)]}
        cells["x"] = sums.T.reshape(-1).tolist()
        table = dk.Table.from_cells(cells, by={one: trees[one], other: trees[other]}, value="x")
        about = About(population="firms", period="2024", totals={axis: tree.total for axis, tree in trees.items()})
        checks.append((table, about))
        ledger.add(table, about, name=f"{one} {other}")
    table, about = checks[0]
    assert ledger.check(table, about).safe
    monkeypatch.setattr(boxes, "MOST_GRID", 3)
    found = ledger.check(table, about)
    assert not found.safe
    assert "overlap" in found.notes[0]
    with pytest.warns(dk.ProtectionWarning, match="overlap"):
        dk.suppress(replace(table, status=np.zeros_like(table.status)), ledger=ledger.about(about, "again"))


def test_classifications_that_hang_together_by_a_third_tell_nothing_of_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regions by kinds, and kinds by sizes: nothing is taken apart, and nothing left."""
    monkeypatch.setattr(boxes, "MOST_GRID", 0)
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    for one, codes in (("region", "abc"), ("size", "stu")):
        cells = {one: list(codes * 2), "kind": [kind for kind in "kl" for _ in range(3)], "x": [1, 2, 3, 4, 5, 6]}
        table = dk.Table.from_cells(cells, by={one: dk.Hierarchy.flat(codes), "kind": None}, value="x")
        about = About(population="firms", period="2024")
        assert ledger.check(table, about).safe
        ledger.add(table, about, name=one)


def test_a_revision_leaves_the_overlaps_of_before_and_after(tmp_path: Path) -> None:
    """What was found out from values before a revision stays found out after it."""
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    for region, kind, value, count in (("ab", "kl", 100, 16), ("a", "k", 30, 5), ("b", "k", 20, 5)):
        number(ledger, region, kind, value, count)
    cells = {"what": ["all firms"], "x": [101], "n": [16]}
    table = dk.Table.from_cells(cells, by={"what": None}, value="x", count="n")
    about = About(
        population="firms", period="2024", fixed={"region": "ab", "kind": "kl"}, groupings=GROUPINGS, revises="ab kl"
    )
    ledger.add(table, about, name="ab kl, revised")
    found = number(ledger, "a", "l", 40, 5, add=False)
    assert not found.safe, found.report()


def test_what_nobody_revised_has_changed_where_a_revision_leaves_no_room_for_it(tmp_path: Path) -> None:
    """Two of four cells come to more than all four after the revision: they were smaller then, and nothing is amiss."""
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    for region, kind, value in (("ab", "kl", 100), ("a", "k", 30), ("bc", "k", 60)):
        number(ledger, region, kind, value, 9)
    table = dk.Table.from_cells({"what": ["all firms"], "x": [25], "n": [9]}, by={"what": None}, value="x", count="n")
    about = About(
        population="firms", period="2024", fixed={"region": "ab", "kind": "kl"}, groupings=GROUPINGS,
        revises="ab kl",
    )  # fmt: skip
    assert ledger.check(table, about).safe


def test_what_is_shown_openly_is_not_found_out_where_it_overlaps_a_revised_cell(tmp_path: Path) -> None:
    """Two firms whose turnover a house shows: it does so still when all firms together were revised."""
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    for region, kind, value, count in (("ab", "kl", 100, 16), ("a", "k", 30, 2)):
        number(ledger, region, kind, value, count)
    cells = {"what": ["all firms"], "x": [101], "n": [16]}
    table = dk.Table.from_cells(cells, by={"what": None}, value="x", count="n")
    about = About(
        population="firms", period="2024", fixed={"region": "ab", "kind": "kl"}, groupings=GROUPINGS, revises="ab kl"
    )
    found = ledger.check(table, about)
    assert found.safe, found.report()


def test_values_of_a_day_overlap_on_no_two_days(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    cells = {"region": ["a", "b"], "x": [10, 20], "n": [5, 5]}
    table = dk.Table.from_cells(cells, by={"region": None}, value="x", count="n")
    for period in ("2024", "2024-Q1"):
        about = About(population="firms", period=period, stock=True)
        ledger.add(table, about, name=period)
    assert ledger.check(table, About(population="firms", period="2024-Q2", stock=True)).safe


def test_rules_judge_what_is_left_of_two_firms(tmp_path: Path) -> None:
    """Cells of two firms may be shown by this house's rule, also where they are what is left; a single firm never."""
    for firms, safe in ((2, True), (1, False)):
        ledger = dk.open_ledger(tmp_path / f"ledger {firms}", create=True)
        for code, value, count in (("DE", 100, 12), ("ab", 60, 12 - firms)):
            cells = {"what": ["firms"], "x": [value], "n": [count]}
            table = dk.Table.from_cells(cells, by={"what": None}, value="x", count="n")
            marked = dk.mark(table, dk.rules.MinCount(2))
            about = About(population="firms", period="2024", fixed={"region": code}, groupings=GROUPINGS)
            found = ledger.check(marked, about)
            ledger.add(marked, about, name=code)
        assert found.safe is safe, found.report()
