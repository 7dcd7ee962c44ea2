"""What contributors publish themselves is known to everybody: it leaves less room, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Promise, Roles, Status, Table, audit, methods, suppress, tabulate
from diskret.moves.persons import persons_of
from diskret.perturbation.leeway import Units, leeway_of
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
EXACT = Promise(levels=False)
CODES = "abcde"


def line(firms: Sequence[tuple[str, float, bool]], value: str | None = "x", **more: Any) -> Table:
    """Regions a to e with firms of some region and size, some of which publish."""
    rows = {"s": [f[0] for f in firms], "x": [f[1] for f in firms], "open": ["yes" if f[2] else "no" for f in firms]}
    return tabulate(rows, by={"s": Hierarchy.flat(CODES)}, value=value, roles=Roles(public="open"), **more)


FIRMS = [
    ("a", 40, False), ("a", 15, False), ("b", 20, True), ("b", 21, True), ("c", 200, False), ("c", 70, False),
    ("d", 300, False), ("d", 60, True),
]  # fmt: skip
"""726 - 270 - 360 - 41 = 55, and the 41 of b everybody can add up; e is empty."""


def test_a_cell_that_everybody_can_add_up_hides_no_other() -> None:
    table = line(FIRMS).with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    assert [(e.cell, e.by, e.lower, e.upper) for e in audit(table, EXACT).exposed] == [("s=a", "", 55.0, 55.0)]


@pytest.mark.parametrize("method", [methods.Moves(), methods.Optimal(), methods.Complete(), methods.Cuboids()])
def test_no_method_hides_in_vain_what_everybody_can_add_up(method: Any) -> None:
    table = line(FIRMS).with_status(Status.PRIMARY, [["a"]])
    done = suppress(table, EXACT, method)
    assert not done.table.hidden[1]
    assert audit(done.table, EXACT).safe
    # nor is a pattern left alone that counts on it
    given = suppress(table.with_status(Status.SECONDARY, [["b"]]), EXACT, method)
    assert audit(given.table, EXACT).safe


def test_a_partly_public_cell_cannot_fall_below_what_is_published() -> None:
    """Of the 10 of b firms publish 8: a can rise by 2 only, where 8.5 is demanded."""
    table = line(
        [("a", 30, False), ("a", 20, False), ("b", 8, True), ("b", 1, False), ("b", 1, False), ("c", 90, False)]
    )
    table = table.with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    table = replace(table, above=np.full(6, 8.5), below=np.zeros(6))
    report = audit(table, Promise(unions=False, guard="public"))
    assert [(e.cell, e.upper) for e in report.exposed] == [("s=a", 52.0)]
    unpublished = replace(table, respondents=replace(present(table.respondents), public_count=None, public_value=None))
    assert audit(unpublished, Promise(unions=False, guard="public")).safe


def test_where_contributions_may_be_negative_only_what_is_all_published_is_known() -> None:
    table = line(
        [("a", 30, False), ("a", -5, False), ("b", 8, True), ("b", 2, False), ("c", -9, True), ("c", 20, True)]
    )
    up, down = Knowledge.usual().room(table)
    assert up[:3].tolist() == [np.inf, np.inf, 0.0]
    assert down[:3].tolist() == [25.0, 10.0, 0.0]


def test_nobody_knows_of_an_empty_cell_that_it_is_empty() -> None:
    up, down = Knowledge.usual().room(line(FIRMS))
    assert (up[4], down[4]) == (np.inf, 0.0)


def test_the_rest_of_a_decimal_has_no_more_decimals() -> None:
    _, down = Knowledge.usual().room(line([("a", 0.1, True), ("a", 0.2, False), ("a", 0.3, False)]))
    assert down[0] == 0.5


def test_a_primary_cell_that_everybody_can_add_up_is_exposed() -> None:
    table = line(FIRMS).with_status(Status.PRIMARY, [["b"]])
    assert [(e.cell, e.exact) for e in audit(suppress(table, EXACT).table, EXACT).exposed] == [("s=b", True)]
    assert [u.cell for u in suppress(table, EXACT, methods.Complete()).unprotected] == ["s=b"]
    assert [u.cell for u in suppress(table, EXACT, methods.Cuboids()).unprotected] == ["s=b"]
    assert [u.cell for u in suppress(table, EXACT, methods.Optimal()).unprotected] == ["s=b"]


def test_the_only_one_who_does_not_publish_knows_the_cell() -> None:
    firms = [("a", 40, False), ("a", 15, False), ("b", 20, True), ("b", 21, False), ("c", 200, False), ("c", 70, False)]
    table = line(firms).with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    assert persons_of(table).tolist() == [-1, 1, -1, -1, -1, -1]
    assert [(e.cell, e.by) for e in audit(table, EXACT).exposed] == [("s=a", "who is alone in s=b")]


def test_persons_known_to_be_in_a_cell_are_counted_there() -> None:
    firms = [("a", 1, True), ("a", 1, False), ("a", 1, False), ("b", 1, True), ("b", 1, True), ("c", 1, False)]
    up, down = Knowledge.usual().room(line(firms, value=None))
    assert up.tolist() == [np.inf, 0.0, np.inf, np.inf, np.inf, np.inf]
    assert down.tolist() == [2.0, 0.0, 1.0, 0.0, 0.0, 3.0]


def test_errors_leave_out_what_is_known() -> None:
    table = line(FIRMS).with_status(Status.PRIMARY, [["a"]])
    units = Units.of(table)
    leeway = leeway_of(table, units, Promise(), None)
    assert (units.change(leeway.low)[[1, 3]].tolist(), leeway.high[1]) == ([0.0, -300.0], 0)
