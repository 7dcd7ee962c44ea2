"""A certificate proves what was promised about one table, and nothing else."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diskret import MinCount, PPercent, ProtectionWarning, Status, Table, audit, mark, suppress, verify
from diskret.auditing.certificate import (
    Certificate,
    certificate_of,
    fingerprint,
    read_certificate,
    verify_tables,
    write_certificate,
)
from diskret.model.errors import BadOption, UnreadableFile
from diskret.moves.move import MoveSet
from tests import by_hand


def protected(seed: int) -> Table:
    table = mark(by_hand.firms(seed, axes=2).table, MinCount(3) | PPercent(10), special_cases=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return suppress(table).table


def certified(table: Table) -> Certificate:
    return certificate_of(audit(table, certify=True))


@pytest.mark.parametrize("seed", range(8))
def test_a_certificate_of_an_untouched_table_proves_every_cell_it_promises(seed: int) -> None:
    table = protected(seed)
    report = audit(table, certify=True)
    found = verify(table, certificate_of(report))
    assert found.same_table
    assert found.broken_moves == 0
    # what is not proven by moves is exposed, and the certificate says so
    assert found.proven + len(found.open) == found.checked
    assert set(found.exposed) == {e.cell for e in report.exposed}
    assert found.holds == (report.safe and not found.open)


@pytest.mark.parametrize("what", ["value", "status", "count", "hierarchy"])
def test_any_change_of_the_table_is_noticed(what: str) -> None:
    table = protected(1)
    certificate = certified(table)
    if what == "value":
        value = table.value.copy()
        value[(0,) * value.ndim] += 1
        other = replace(table, value=value)
    elif what == "status":
        other = replace(table, status=np.where(table.status == Status.SECONDARY, np.uint8(0), table.status))
    elif what == "count":
        assert table.respondents is not None
        other = replace(table, respondents=replace(table.respondents, count=table.respondents.count + 1))
    else:
        name, tree = next(iter(table.by.items()))
        renamed = replace(tree, codes=("another", *tree.codes[1:]))
        other = replace(table, by={**table.by, name: renamed})
    assert fingerprint(other) != fingerprint(table)
    assert not verify(other, certificate).holds
    assert "another table" in verify(other, certificate).report()


def test_a_tampered_move_is_refused_and_its_cell_no_longer_proven() -> None:
    table = next(t for t in map(protected, range(20)) if certified(t).moves)
    certificate = certified(table)
    move = certificate.moves[0]
    changed = move.coefficients * np.where(np.arange(move.cells.size) == 0, 2.0, 1.0)
    forged = replace(certificate, moves=MoveSet.of([replace(move, coefficients=changed)]))
    found = verify(table, forged)
    assert found.broken_moves == 1
    assert not found.holds
    assert found.open


def test_a_certificate_survives_its_file(tmp_path: Path) -> None:
    table = protected(2)
    certificate = certified(table)
    path = tmp_path / "c.json"
    write_certificate({"x": certificate}, path)
    again = read_certificate(path)["x"]
    assert verify(table, again) == verify(table, certificate)
    assert again.promise == certificate.promise
    assert verify_tables({"x": table}, {"x": again})["x"].same_table


@pytest.mark.parametrize("content", ["", "[]", '{"format": "something else"}', '{"format": "diskret certificate 2"}'])
def test_what_is_no_certificate_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableFile, match="not a certificate"):
        read_certificate(path)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_certificate(tmp_path / "nothing.json")


def test_every_table_needs_a_certificate_of_its_own() -> None:
    table = protected(3)
    with pytest.raises(BadOption, match="wages"):
        verify_tables({"wages": table}, {"turnover": certified(table)})


def test_the_words_of_a_verification_hold_no_values() -> None:
    table = protected(4)
    words = verify(table, certified(table)).report() + json.dumps(verify(table, certified(table)).summary())
    hidden = {f"{v:g}" for v in np.abs(table.value[table.hidden]).tolist() if v > 999}
    assert not any(v in words for v in hidden)


def test_a_line_of_hidden_zeros_is_not_certified() -> None:
    """No primary cell is exposed, but everybody sees that two hidden counts are zero: the audit says so, and no move
    can prove the opposite."""
    cells = {"s": list("aabb"), "t": list("uvuv"), "n": [0, 0, 5, 7], "st": ["secondary", "secondary", "open", "open"]}
    table = Table.from_cells(cells, by={"s": None, "t": None}, value="n", status="st", frequency=True)
    report = audit(table)
    assert report.zeros
    assert not report.safe
    found = verify(table, certificate_of(report))
    assert not found.holds
    assert "all zero" in found.report()
