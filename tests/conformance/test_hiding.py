"""What every method keeps to that hides cells: one line in `METHODS` and a new method goes through all of it.

A method may hide cells. It may not touch its input, change a value, open what was hidden, hide what must be published,
depend on anything but the cells, or promise less than it was asked for; and what it cannot do it refuses at once.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NoReturn

import numpy as np
import pytest

from diskret import Knowledge, MinCount, PPercent, Promise, ProtectionWarning, Status, Table, mark, methods, suppress
from diskret.model.errors import BadOption, DiskretError, UnknownCode
from diskret.suppression import by_moves
from diskret.suppression.methods import AnyMethod
from diskret.suppression.result import Suppression
from tests.frozen import content, frozen
from tests.worlds import KINDS, world


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """A method, what it can be given, and what it can promise."""

    method: AnyMethod
    kinds: tuple[str, ...] = KINDS
    promise: Promise = field(default_factory=Promise)
    cannot: tuple[Promise, ...] = ()
    """What it must refuse to promise."""


COALITION = Promise(coalitions=((("nobody asks",),),))
LARGEST = Promise(guard="largest")
EXACTLY = Promise(levels=False)
METHODS: dict[str, Hiding] = {
    "cuboids": Hiding(
        method=methods.Cuboids(), kinds=("table", "counts"), promise=EXACTLY, cannot=(COALITION, LARGEST)
    ),
    "cuboids as printed": Hiding(
        method=methods.Cuboids(thin=False), kinds=("table", "counts"), promise=EXACTLY, cannot=(COALITION, LARGEST)
    ),
    "tables in turn": Hiding(method=methods.Cuboids(), kinds=("pool",), promise=EXACTLY, cannot=(COALITION, LARGEST)),
    "complete": Hiding(
        method=methods.Complete(), kinds=("table", "counts"), promise=EXACTLY, cannot=(COALITION, LARGEST)
    ),
    "moves, quick": Hiding(method=methods.Moves(effort="quick")),
    "moves": Hiding(method=methods.Moves()),
    "moves, economy": Hiding(method=methods.Moves(effort="economy"), kinds=("table", "system")),
    "moves against ranges": Hiding(
        method=methods.Moves(), promise=Promise(min_relative_range=0.2, sliding=True, knowledge=Knowledge.relative(0.5))
    ),
    "optimum": Hiding(method=methods.Optimal(), cannot=(COALITION, LARGEST)),
}
CASES = [(name, kind) for name, each in METHODS.items() for kind in each.kinds]
every = pytest.mark.parametrize(("name", "kind"), CASES)
RULE = MinCount(2) | PPercent(10)


# --- cells -----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _few_programmes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Economy goes on for thousands of programmes on the smallest table: here for some hundred."""
    monkeypatch.setattr(by_moves, "AT_LEAST", 200)


@cache
def cells_of(kind: str) -> Table:
    """A small world: sensitive cells, some hidden before, some that must be published; nothing in it can be written."""
    given = world(kind, seed=2, secondary=0.1).cells
    return frozen(given)


def quietly(cells: Table, promise: Promise, method: AnyMethod) -> Suppression:
    """Run a method; what cannot be protected is another test's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return suppress(cells, promise, method)


@cache
def done(name: str, kind: str) -> Suppression:
    """One run for many claims."""
    return quietly(cells_of(kind), METHODS[name].promise, METHODS[name].method)


# --- what holds for every method -------------------------------------------------------------------------------------


@every
def test_the_input_stays_and_the_same_input_gives_the_same_bytes(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = done(name, kind)
    before = content(cells_of(kind))
    # once more as on a machine with one core, and as on one with two
    for cores in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process, cores=cores: range(cores), raising=False)
        again = quietly(cells_of(kind), METHODS[name].promise, METHODS[name].method)
        assert content(again.table) == content(first.table)
        assert content(again.moves) == content(first.moves)
    assert content(cells_of(kind)) == before


@pytest.mark.parametrize("kind", ["table", "counts"])
def test_threads_change_nothing(kind: str) -> None:
    one, two = (quietly(cells_of(kind), EXACTLY, methods.Cuboids(threads=n)) for n in (1, 2))
    assert content(one.table) == content(two.table)
    assert content(one.moves) == content(two.moves)


@every
def test_hidden_stays_hidden_and_what_must_be_published_stays(name: str, kind: str) -> None:
    cells, table = cells_of(kind), done(name, kind).table
    assert table.hidden[cells.hidden].all()
    assert np.array_equal(table.status == Status.PRIMARY, cells.status == Status.PRIMARY)
    for status in (Status.NEVER, Status.PUBLISHED):
        assert (table.status[cells.status == status] == status).all()
    changed = table.status != cells.status
    assert (table.status[changed] == Status.SECONDARY).all()


@every
def test_only_statuses_change(name: str, kind: str) -> None:
    cells, table = cells_of(kind), done(name, kind).table
    assert type(table) is type(cells)
    assert np.array_equal(table.value, cells.value)
    assert done(name, kind).before is cells


@every
def test_where_everything_must_be_published_nothing_is_hidden(name: str, kind: str) -> None:
    for status in (Status.NEVER, Status.PUBLISHED):
        shown = replace(cells_of(kind), status=np.full(cells_of(kind).shape, status, dtype=np.uint8))
        assert not quietly(shown, METHODS[name].promise, METHODS[name].method).table.hidden.any()


@every
def test_a_second_run_hides_nothing_more(name: str, kind: str) -> None:
    once = done(name, kind)
    twice = quietly(once.table, METHODS[name].promise, METHODS[name].method)
    assert np.array_equal(twice.table.status, once.table.status)


@every
def test_the_result_carries_the_promise_that_was_asked_for(name: str, kind: str) -> None:
    asked, result = METHODS[name].promise, done(name, kind)
    assert result.promise == asked
    if result.audit is not None:
        assert result.audit.promise == asked
        assert {u.cell for u in result.unprotected} == {e.cell for e in result.audit.exposed} | {
            *result.audit.undecided
        }


@every
def test_what_is_not_protected_is_said(name: str, kind: str) -> None:
    """One primary cell, and nothing else may be hidden."""
    cells = cells_of(kind)
    status = np.full(cells.size, Status.NEVER, dtype=np.uint8)
    status[int(np.argmax(cells.value.reshape(-1) > 1))] = Status.PRIMARY
    alone = replace(cells, status=status.reshape(cells.shape))
    with pytest.warns(ProtectionWarning):
        result = suppress(alone, METHODS[name].promise, METHODS[name].method)
    assert len(result.unprotected) == 1


# --- what cannot be done ---------------------------------------------------------------------------------------------


def no_work(*_: object) -> NoReturn:
    raise AssertionError("work was begun")


def refused(cells: Table, promise: Promise, method: AnyMethod, how: type[DiskretError] = BadOption) -> None:
    with pytest.raises(how) as told:
        suppress(cells, promise, method, progress=no_work)
    assert told.value.hint


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, k in CASES if METHODS[n].cannot])
def test_a_promise_that_cannot_be_kept_is_refused_at_once(name: str, kind: str) -> None:
    for promise in METHODS[name].cannot:
        refused(cells_of(kind), promise, METHODS[name].method)


UNFIT = [(n, k) for n, each in METHODS.items() for k in KINDS if "tables in turn" not in n and k not in each.kinds]


@pytest.mark.parametrize(("name", "kind"), UNFIT)
def test_cells_a_method_cannot_work_on_are_refused_at_once(name: str, kind: str) -> None:
    if "moves" in name or (kind == "pool" and "cuboids" in name):
        return  # only left out for the time it takes, or taken in turn
    refused(cells_of(kind), METHODS[name].promise, METHODS[name].method)


@pytest.mark.parametrize("kind", KINDS)
def test_a_coalition_of_unknown_cells_is_refused_at_once(kind: str) -> None:
    unknown = Promise(coalitions=((("nobody",) * len(cells_of(kind).names),),))
    refused(cells_of(kind), unknown, methods.Moves(), UnknownCode)
    refused(cells_of(kind), Promise(coalitions=((),)), methods.Moves())


@pytest.mark.parametrize("kind", ["system", "counts"])
def test_the_largest_contributor_of_cells_without_contributions_is_refused_at_once(kind: str) -> None:
    refused(cells_of(kind), LARGEST, methods.Moves())


WRONG: dict[str, Callable[[], AnyMethod]] = {
    "effort": lambda: methods.Moves(effort="lazy"),  # type: ignore[arg-type]
    "zeros": lambda: methods.Optimal(zeros="all"),  # type: ignore[arg-type]
    "deformations": lambda: methods.Complete(deformations=9),
    "stages": lambda: methods.Complete(stages=3),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG)
def test_options_that_make_no_sense_are_refused_when_they_are_made(what: str) -> None:
    with pytest.raises(BadOption) as told:
        WRONG[what]()
    assert told.value.hint


# --- with rules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n, each in METHODS.items() if "table" in each.kinds])
def test_a_sensitive_cell_that_must_be_published_is_named_in_a_warning(name: str) -> None:
    table = replace(cells_of("table"), status=np.zeros(cells_of("table").shape, dtype=np.uint8))
    cell = tuple(np.argwhere(mark(table, RULE, special_cases=False).status == Status.PRIMARY)[0].tolist())
    shown = table.with_status(Status.NEVER, [table.codes(cell)])
    with pytest.warns(ProtectionWarning, match="must be published"):
        marked = mark(shown, RULE)
    result = quietly(marked, METHODS[name].promise, METHODS[name].method)
    assert result.table.status[cell] == Status.NEVER
