"""What cannot be audited is refused with words; what cannot be decided is never called safe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from diskret import Hierarchy, Knowledge, Promise, Status, Table, audit, methods, suppress
from diskret.auditing.attacker import Attacker, Found
from diskret.auditing.crowd import Crowd
from diskret.cli import app
from diskret.model.errors import BadOption, BadPriorKnowledge, DiskretError, UnknownCode
from diskret.model.lp import Answer, Programme, Start
from diskret.publication.working import save_working

SECRET = 712_345.0
PRIMARY, SECONDARY = Status.PRIMARY, Status.SECONDARY


def table() -> Table:
    cells = {"s": ["a", "b", "c"], "x": [SECRET, 20, 70]}
    return Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x").with_status(PRIMARY, [["a"]])


def wrong_prior() -> Table:
    return replace(table(), lower=table().value + 1, upper=table().value + 5)


def unfit() -> Table:
    return replace(table(), status=np.ones(3, dtype=np.uint8))


REFUSED: dict[str, tuple[Callable[[], object], type[DiskretError], str]] = {
    "a pattern of another table": (lambda: audit(unfit()), BadOption, "shape"),
    "a pattern of another table to repair": (lambda: suppress(unfit()), BadOption, "shape"),
    "prior bounds that are wrong": (
        lambda: audit(wrong_prior(), Promise(knowledge=Knowledge.intervals())), BadPriorKnowledge, "do not cover"
    ),
    "prior bounds that are wrong, to repair": (
        lambda: suppress(wrong_prior(), Promise(knowledge=Knowledge.intervals())),
        BadPriorKnowledge, "do not cover",
    ),
    "prior bounds that are missing": (
        lambda: audit(table(), Promise(knowledge=Knowledge.intervals())), BadOption, "no prior intervals"
    ),
    "a guard of no known kind": (lambda: audit(table(), Promise(guard="all")), BadOption, "guard 'all'"),  # type: ignore[arg-type]
    "intervals of no known kind": (lambda: audit(table(), intervals="all"), BadOption, "intervals 'all'"),  # type: ignore[arg-type]
    "an effort nobody knows": (lambda: methods.Moves(effort="much"), BadOption, "effort 'much'"),  # type: ignore[arg-type]
    "a coalition that knows nothing": (
        lambda: audit(table(), Promise(coalitions=((("a",),), ()))), BadOption, "coalition 2"
    ),
    "a coalition that knows no such cell": (
        lambda: audit(table(), Promise(coalitions=((("q",),),))), UnknownCode, "'q'"
    ),
    "largest contributors of an unknown size": (
        lambda: audit(table(), Promise(guard="largest")), BadOption, "without contributions"
    ),
    "largest contributors of an unknown size, to repair": (
        lambda: suppress(table(), Promise(guard="largest")), BadOption, "without contributions"
    ),
    "coalitions the cuboid method does not see": (
        lambda: suppress(table(), Promise(coalitions=((("b",),),)), methods.Cuboids()), BadOption, "in subtables"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused_with_a_hint_and_without_values(what: str) -> None:
    attempt, error, words = REFUSED[what]
    with pytest.raises(error) as refusal:
        attempt()
    assert words in str(refusal.value)
    assert refusal.value.hint
    for secret in (str(SECRET), str(int(SECRET)), "712,345"):
        assert secret not in str(refusal.value)


# --- a solver that gives up ------------------------------------------------------------------------------------------


def exposed_by_bounds() -> Table:
    """Cell (one; x) is at most 3, by bounds and not by equations alone: only a programme can say so."""
    by = {"r": Hierarchy.flat(["one", "two", "three"]), "c": Hierarchy.flat(["x", "y", "z"])}
    value = np.array([[2.0, 0.0, 1.0, 3.0], [0.0, 5.0, 4.0, 9.0], [9.0, 9.0, 9.0, 27.0], [11.0, 14.0, 14.0, 39.0]])
    status = np.zeros((4, 4), dtype=np.uint8)
    status[0:2, 0:3] = Status.SECONDARY
    status[0, 0] = Status.PRIMARY
    return Table(by, "x", value, status, below=np.full((4, 4), 1.0), above=np.full((4, 4), 2.0), positive=True)


@pytest.fixture
def gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def tired(self: Programme, start: Start = "last") -> Answer:
        self.answer = Answer.GAVE_UP
        return self.answer

    monkeypatch.setattr(Programme, "solve", tired)


def test_the_table_of_these_tests_needs_a_programme() -> None:
    report = audit(exposed_by_bounds())
    assert [(e.cell, e.lower, e.upper) for e in report.exposed] == [("r=one, c=x", 0.0, 2.0)]


@pytest.mark.usefixtures("gives_up")
def test_what_a_solver_gives_up_on_is_undecided_and_not_safe() -> None:
    report = audit(exposed_by_bounds(), intervals="primary")
    assert report.undecided == ("r=one, c=x",)
    assert not report.exposed
    assert not report.safe
    assert "nothing is exposed" not in report.report()
    assert "do not treat it as safe" in report.report()
    # how far up it can be, the equations alone say; how far down, nobody
    np.testing.assert_array_equal(report.intervals["r=one, c=x"], (np.nan, 2.0))


@pytest.mark.usefixtures("gives_up")
def test_the_command_says_so_by_its_exit_code(tmp_path: Path) -> None:
    save_working(exposed_by_bounds(), tmp_path / "table.parquet")
    result = CliRunner().invoke(app, ["audit", str(tmp_path / "table.parquet")])
    assert result.exit_code == 1
    assert "undecided: r=one, c=x" in result.output


def test_an_insider_on_whom_the_solver_gives_up_leaves_the_cell_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"s": ["a", "b", "c", "d"], "x": [10, 20, 30, 40], "n": [5, 5, 5, 5]}
    table = Table.from_cells(cells, by={"s": Hierarchy.flat("abcd")}, value="x", count="n")
    hidden = table.with_status(PRIMARY, [["a"]]).with_status(SECONDARY, [["b"], ["c"]])
    monkeypatch.setattr(Attacker, "farthest", lambda *_, **__: Found())
    report = audit(hidden, Promise(coalitions=((("b",), ("c",)),)))
    assert report.undecided == ("s=a",)
    assert not report.safe


def test_a_pattern_that_cannot_be_decided_is_named_as_unprotected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Crowd, "push", lambda *_: None)
    monkeypatch.setattr(Attacker, "farthest", lambda *_, **__: Found())
    table = exposed_by_bounds()
    shown = replace(table, status=np.where(table.status == PRIMARY, PRIMARY, Status.NEVER).astype(np.uint8))
    shown.status[0, 1], shown.status[1, 0], shown.status[1, 1] = SECONDARY, SECONDARY, SECONDARY
    with pytest.warns(match="cannot be protected"):
        result = suppress(shown)
    assert result.audit is not None
    assert not result.audit.safe
    assert [u.cell for u in result.unprotected] == ["r=one, c=x"]
