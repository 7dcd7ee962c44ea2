"""Methods that promise the whole table: their verdict is what an attacker with another solver finds out.

The attacker of `tests.worlds` shares no code with the package: equations from codes, persons from counts, programmes
of its own. Whoever joins `PROMISING` is compared with him cell by cell, on every kind of cells.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
import pytest

from diskret import Knowledge, Promise, ProtectionWarning, audit, methods, suppress, verify
from diskret.auditing.certificate import certificate_of
from diskret.auditing.report import AuditReport, Exposure
from diskret.moves import pattern
from diskret.suppression.methods import AnyMethod
from tests.worlds import KINDS, World, world

PROMISING: dict[str, AnyMethod] = {
    "moves, quick": methods.Moves(effort="quick"),
    "moves": methods.Moves(),
    "optimum": methods.Optimal(seconds=20),
}
PROMISES: dict[str, Promise] = {
    "the usual": Promise(),
    "against everybody": Promise(guard="public", levels=False),
    "ranges": Promise(levels=False, min_relative_range=0.4, min_range=2.0),
    "ranges of zeros": Promise(min_relative_range=0.3),
    "sliding": Promise(sliding=True, knowledge=Knowledge.relative(0.6, 1.0)),
    "prior intervals": Promise(knowledge=Knowledge.intervals()),
    "nothing known": Promise(knowledge=Knowledge.none(), min_range=3.0),
}
LARGEST = Promise(guard="largest")
SEEDS = range(3)


@pytest.fixture(autouse=True)
def searched_both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few demands do without the compiled search for products; with every other seed they count as many."""
    given = getattr(request.node, "callspec", None)
    if given is not None and given.params.get("seed", 0) % 2:
        monkeypatch.setattr(pattern, "MANY", 0)


def exposed(of: World, found: Collection[Exposure]) -> set[int]:
    return {int(np.ravel_multi_index(e.index, of.cells.shape)) for e in found}


def agree(given: World, promise: Promise, report: AuditReport) -> None:
    """The same cells, exposed to the same: to everybody, or to somebody only."""
    everybody, anybody = given.exposed(promise)
    assert not report.undecided
    assert exposed(given, [e for e in report.exposed if not e.by]) == everybody
    assert exposed(given, report.exposed) == anybody
    assert report.safe == (not anybody and not report.zeros and not report.unions)


def coalition(given: World) -> Promise:
    """Somebody knows two of the hidden cells."""
    known = tuple(given.cells.codes(tuple(i.tolist())) for i in np.argwhere(given.cells.hidden)[:2])
    return Promise(coalitions=(known,))


CASES = [(kind, name) for kind in KINDS for name in (*PROMISES, "a coalition")]
CASES += [(kind, "the largest") for kind in ("table", "groupings", "pool")]  # contributions are known of these only


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_an_audit_finds_what_another_solver_finds(kind: str, name: str) -> None:
    for seed in SEEDS:
        given = world(kind, seed, negative=seed % 2 == 1 and kind != "counts")
        promise = coalition(given) if name == "a coalition" else (PROMISES | {"the largest": LARGEST})[name]
        report = audit(given.cells, promise)
        agree(given, promise, report)
        found = verify(given.cells, certificate_of(report), promise)
        assert found.holds <= report.safe


@pytest.mark.parametrize("method", PROMISING)
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_method_leaves_unprotected_another_solver_finds_and_nothing_else(kind: str, method: str) -> None:
    # every method meets half of the promises, on every kind of cells
    first = (list(PROMISING).index(method) + KINDS.index(kind)) % 2
    for seed, promise in list(enumerate(PROMISES.values()))[first::2]:
        given = world(kind, seed, negative=seed % 3 == 1 and kind != "counts", secondary=0.05)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            done = suppress(given.cells, promise, PROMISING[method])
        after = given.showing(done.table)
        _, anybody = after.exposed(promise)
        assert {u.cell for u in done.unprotected} == {done.table.name_of(cell) for cell in anybody}
        assert done.audit is not None
        agree(after, promise, done.audit)


@pytest.mark.parametrize("kind", ["table", "groupings", "pool"])
def test_nobody_large_finds_anything_out_that_is_not_said(kind: str) -> None:
    for seed in SEEDS:
        given = world(kind, seed, negative=seed % 2 == 1, secondary=0.05)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            done = suppress(given.cells, LARGEST)
        _, anybody = given.showing(done.table).exposed(LARGEST)
        assert {u.cell for u in done.unprotected} == {done.table.name_of(cell) for cell in anybody}


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_add_up(kind: str) -> None:
    """The attacker's own equations hold, and no cell is left out of them."""
    for seed in SEEDS:
        given = world(kind, seed)
        assert all(sum(f * given.value[c] for c, f in e.items()) == 0 for e in given.equations)
        rows = np.zeros((len(given.equations), given.value.size))
        for number, equation in enumerate(given.equations):
            rows[number, [*equation]] = [*equation.values()]
        theirs = given.cells.equations(np.ones(given.value.size, dtype=np.bool_))
        matrix = np.zeros((theirs.rows, given.value.size))
        matrix[theirs.row_of(), theirs.columns] = theirs.coefficients
        both = np.linalg.matrix_rank(np.vstack([rows, matrix]))
        assert np.linalg.matrix_rank(rows) == both == np.linalg.matrix_rank(matrix)
