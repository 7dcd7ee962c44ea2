"""Insiders who are asked together: what none of them can exclude with all they know, nobody finds out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from diskret.auditing import inside
from diskret.auditing.verdicts import Verdict

ONE = Verdict(safe=True)


@dataclass
class Asked:
    """A case in which some insiders find the target out, and some are not decided; rooms are who knows them."""

    exposing: set[int]
    open: set[int] = field(default_factory=set)
    together: set[frozenset[int]] = field(default_factory=set)
    """Groups that find it out together, though none of them does alone."""
    calls: int = 0
    named: list[int] = field(default_factory=list)
    undecided: set[int] = field(default_factory=set)
    rooms: frozenset[int] = frozenset()
    columns: tuple[int, ...] = (0,)

    class table:  # noqa: N801
        frequency = False

    def verdict(self, target: int, rooms: frozenset[int], counts: bool) -> Verdict:
        self.calls += 1
        if rooms & self.open:
            return Verdict()
        return Verdict(exposed=True) if rooms & self.exposing or any(g <= rooms for g in self.together) else ONE

    def note(self, column: int, points: tuple[Any, ...]) -> None:
        pass

    def expose(self, target: int, found: Verdict, rooms: frozenset[int], who: int) -> None:
        self.named.append(who)


def judged(case: Asked, people: int) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside, "_with_knowledge", lambda case, rooms, who: rooms | {who})
        return inside._judge_together(case, 0, list(range(people)))  # type: ignore[arg-type]


def test_forty_insiders_who_find_nothing_out_take_one_verdict() -> None:
    case = Asked(exposing=set())
    assert judged(case, 40)
    assert case.calls == 1


@pytest.mark.parametrize("exposing", [{0}, {7}, {39}, {3, 4}, {30, 12, 38}])
def test_the_first_who_finds_it_out_is_named(exposing: set[int]) -> None:
    case = Asked(exposing=exposing)
    assert not judged(case, 40)
    assert case.named == [min(exposing)]
    assert case.calls <= 14


def test_who_only_together_would_find_it_out_does_not() -> None:
    case = Asked(exposing=set(), together={frozenset({1, 2}), frozenset({5, 30})})
    assert judged(case, 40)
    assert not case.named


def test_what_is_left_open_of_one_does_not_stop_the_others() -> None:
    case = Asked(exposing={9}, open={2})
    assert not judged(case, 10)
    assert (case.named, case.undecided) == ([9], {0})
