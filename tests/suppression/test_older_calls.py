"""Calls as they were before there were promises and methods: they work, warn, and give the same patterns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from diskret import (
    Cost,
    Knowledge,
    PPercent,
    Promise,
    Protection,
    ProtectionWarning,
    Table,
    audit,
    mark,
    methods,
    suppress,
    thin,
)
from diskret.model.errors import BadOption
from diskret.suppression.methods import AnyMethod
from tests import by_hand

EXACTLY = Promise(levels=False, unions=False)
OLDER: dict[str, tuple[dict[str, Any], Promise, AnyMethod]] = {
    "subtables": ({"guarantee": "subtables"}, EXACTLY, methods.Cuboids()),
    "subtables as printed": ({"thin": False, "carry": "once"}, EXACTLY, methods.Cuboids(thin=False, carry="once")),
    "nobody is alone": (
        {"single_contributors": False, "threads": 1},
        Promise(guard="public", levels=False, unions=False), methods.Cuboids(threads=1),
    ),
    "complete": (
        {"guarantee": "complete", "protection": Protection(0.2), "deformations": 0},
        Promise(levels=False, min_relative_range=0.2, unions=False), methods.Complete(deformations=0),
    ),
    "audit": ({"guarantee": "audit"}, Promise(unions=False), methods.Moves()),
    "audit with ranges": (
        {"guarantee": "audit", "protection": Protection(0.3, min_range=2.0), "knowledge": Knowledge.relative(0.6),
         "cost": Cost("unity"), "effort": "quick"},
        Promise(levels=False, min_relative_range=0.3, min_range=2.0, knowledge=Knowledge.relative(0.6), unions=False),
        methods.Moves(cost=Cost("unity"), effort="quick"),
    ),
    "audit against more": (
        {"guarantee": "audit", "largest_contributors": True, "coalitions": [[("x", "l")]]},
        Promise(guard="largest", coalitions=((("x", "l"),),), unions=False), methods.Moves(),
    ),
    "optimal": (
        {"guarantee": "audit", "method": "optimal", "seconds": 20.0, "rule": PPercent(15)},
        Promise(), methods.Optimal(seconds=20.0),
    ),
}  # fmt: skip


def table_of(seed: int) -> Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return mark(by_hand.firms(seed, trees=(1, 3)).table, PPercent(15))


@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
@pytest.mark.parametrize("how", OLDER)
def test_older_keywords_warn_and_give_the_same_pattern(how: str) -> None:
    keywords, promise, method = OLDER[how]
    for seed in range(4):
        with pytest.warns(DeprecationWarning, match="give a promise and a method"):
            before = suppress(table_of(seed), **keywords)
        now = suppress(table_of(seed), promise, method)
        assert np.array_equal(before.table.status, now.table.status)
        assert before.promise == now.promise
        assert before.unprotected == now.unprotected


@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
def test_older_attacks_and_second_looks_warn_and_say_the_same() -> None:
    for seed in range(4):
        table = by_hand.hide(table_of(seed), seed, 0.2, 0.4)
        for insiders, guard in (("none", "public"), ("single", "single"), ("largest", "largest")):
            with pytest.warns(DeprecationWarning, match="give a promise"):
                before = audit(table, insiders=insiders, knowledge=Knowledge.positive())
            now = audit(table, Promise(guard=guard, knowledge=Knowledge.positive(), unions=False))  # type: ignore[arg-type]
            assert before.plain() == now.plain()
            assert before.promise == now.promise
        with pytest.warns(DeprecationWarning, match="give a promise and a method"):
            thinned = thin(table, single_contributors=True, effort="quick")
        again = thin(table, Promise(unions=False), methods.Moves(effort="quick"))
        assert np.array_equal(thinned.table.status, again.table.status)


WRONG: dict[str, dict[str, Any]] = {
    "guarantee": {"guarantee": "best"},
    "method": {"guarantee": "audit", "method": "magic"},
    "optimal": {"guarantee": "subtables", "method": "optimal"},
}


@pytest.mark.parametrize("what", WRONG)
def test_words_that_never_were_are_refused(what: str) -> None:
    with pytest.raises(BadOption, match=what), pytest.warns(DeprecationWarning, match="give a promise"):
        suppress(table_of(1), **WRONG[what])


def test_a_keyword_that_never_was_is_an_error_as_in_any_call() -> None:
    with pytest.raises(TypeError, match="colour"):
        suppress(table_of(1), colour="red")
