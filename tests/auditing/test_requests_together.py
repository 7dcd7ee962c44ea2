"""Those who asked for protection, behind the hidden cells of a line taken together."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskret import Pool, Roles, Status, Table, audit, mark, rules, tabulate
from diskret.auditing.certificate import certificate_of
from tests.auditing.two_checkers import both


def traders(*, shadow: bool = False) -> Table:
    """A trader who asked, with 90 of 100 in a; three small ones in b; large ones in c."""
    firms = {
        "s": [*"aabbbccccc"], "x": [90, 10, 1, 1, 1, *[100] * 5], "y": [*[7] * 10],
        "q": ["", "1", *[""] * 8] if shadow else ["1", *[""] * 9],
    }  # fmt: skip
    roles = Roles(asked=("q", ["1"]), shadow="y" if shadow else None)
    return tabulate(firms, by={"s": None}, value="x", roles=roles)


def hiding(table: Table, *codes: str) -> Table:
    return table.with_status(Status.SECONDARY, [[code] for code in codes])


@pytest.mark.parametrize(("rule", "partner", "safe"), [
    (rules.Request(50), "b", False), (rules.Request(50), "c", True),
    (rules.Request(50, n=6), "b", False), (rules.Request(50, n=6), "c", True),
])  # fmt: skip
def test_who_asked_is_protected_in_the_sum_of_hidden_cells_too(
    rule: rules.Request, partner: str, safe: bool, tmp_path: Path
) -> None:
    table = hiding(mark(traders(), rule), partner)
    report = audit(table, certify=True)
    assert (report.unions == ()) == safe
    assert (both(table, certificate_of(report), tmp_path).unions == ()) == safe


def test_linked_tables_know_who_asked() -> None:
    marked = hiding(mark(traders(), rules.Request(50)), "b")
    other = Table.from_cells({"t": ["u", "v"], "x": [300, 303], "n": [5, 5]}, by={"t": None}, value="x", count="n")
    assert audit(Pool.of({"one": marked, "other": other})).unions


def test_requests_by_a_shadow_variable_are_not_compared_with_values(tmp_path: Path) -> None:
    table = hiding(mark(traders(shadow=True), rules.Request(40)), "b")
    report = audit(table, certify=True)
    assert report.unions == ()
    assert both(table, certificate_of(report), tmp_path).unions == ()
    other = Table.from_cells({"t": ["u", "v"], "x": [300, 303], "n": [5, 5]}, by={"t": None}, value="x", count="n")
    assert audit(Pool.of({"one": table, "other": other})).unions == ()
