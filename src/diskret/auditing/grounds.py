"""What a promise asks of a table, from its plain form and in whole numbers: rooms and demands.

This is written for checking certificates and shares nothing with what protects and attacks (`moves.demands`): a mistake
made there must not be made here again. ``docs/certificate.md`` has the definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from diskret.auditing.plain import Plain, decimal
from diskret.model.promise import Promise

HIDDEN = ("primary", "secondary")
Room = int | None
"""In units of the grounds; None: without end."""
Reach = int | Fraction | None


class Impossible(Exception):
    """A promise that cannot be made about a table."""


class Demand(NamedTuple):
    """What a primary cell must keep, in units of the grounds."""

    longer: int
    """What its length must exceed,"""
    length: int
    """and reach;"""
    up: int
    """what its rise must reach,"""
    down: int
    """and its fall."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grounds:
    """Rooms of all cells and demands of the primary ones, as whole multiples of one over ``unit``."""

    unit: int
    value: list[int]
    up: list[Room]
    down: list[Room]
    hidden: list[int]
    demands: dict[int, Demand]
    whole: bool
    """Whether only whole steps count."""

    def keeps(self, cell: int, rise: Reach, fall: Reach, multiple: int = 1) -> bool:
        """Whether a primary cell keeps what is demanded, given how far it can rise and fall, a ``multiple`` of it."""
        longer, length, up, down = (amount * multiple for amount in self.demands[cell])
        both = None if rise is None or fall is None else rise + fall
        long = both is None or (both > longer and both >= length)
        return long and (rise is None or rise >= up) and (fall is None or fall >= down)


def grounds_of(plain: Plain, promise: Promise) -> Grounds:
    """What a promise asks of the plain form of a table; refuses what it cannot be made about with `Impossible`.

    >>> from diskret import Table
    >>> from diskret.auditing.plain import plain_table
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20.5, 70], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> found = grounds_of(plain_table(table), Promise(min_relative_range=0.55))
    >>> found.unit, found.demands[0].longer, found.up[0], found.down[0]
    (1000, 5500, None, 10000)
    """
    digits = _digits(plain, promise)
    value = whole(plain["value"], digits)
    hidden = [c for c, status in enumerate(plain["status"]) if status in HIDDEN]
    up, down = _rooms(plain, promise, digits, value)
    return Grounds(
        unit=10**digits, value=value, up=up, down=down, hidden=hidden, whole=plain["frequency"],
        demands=_demands(plain, promise, digits, value),
    )  # fmt: skip


def whole(texts: Iterable[str], digits: int) -> list[int]:
    """Decimals in units of their last possible digit.

    >>> whole(["0.5", "-12"], 2)
    [50, -1200]
    """
    found = []
    for text in texts:
        before, _, after = text.partition(".")
        found.append(int(before + after) * 10 ** (digits - len(after)))
    return found


def _digits(plain: Plain, promise: Promise) -> int:
    """Decimals that hold every amount, also shares of values."""
    columns: list[Any] = [plain[key] for key in ("value", "below", "above", "lower", "upper")]
    for people in (plain["respondents"], plain["holdings"]):
        if people is not None:
            columns += [people["public_value"], [x for row in people["largest"] or () for x in row]]
    given = max((_after(x) for column in columns for x in column or () if x is not None), default=0)
    known = promise.knowledge
    shares = max(_after(decimal(x)) for x in (promise.min_relative_range, known.error))
    return max(given + shares, *(_after(decimal(x)) for x in (promise.min_range or 0.0, known.absolute)))


def _after(text: str) -> int:
    point = text.find(".")
    return 0 if point < 0 else len(text) - point - 1


def _rooms(plain: Plain, promise: Promise, digits: int, value: list[int]) -> tuple[list[Room], list[Room]]:
    """How far above and below its value everybody thinks each cell possible."""
    kind, unit = promise.knowledge.kind, 10**digits
    up, down = _errors(plain, promise, digits, value)
    signs = kind == "positive" or plain["positive"] or (kind == "usual" and min(value) >= 0)
    if signs:
        down = [v if room is None else min(room, v) for room, v in zip(down, value, strict=True)]
    up, down = _without_public(plain, digits, value, up, down, signs)
    if any(room is not None and room < 0 for side in (up, down) for room in side):
        raise Impossible("what is assumed to be known beforehand is not true of every value")
    if plain["frequency"]:
        up, down = ([None if room is None else room // unit * unit for room in side] for side in (up, down))
    return up, down


def _errors(plain: Plain, promise: Promise, digits: int, value: list[int]) -> tuple[list[Room], list[Room]]:
    """What is known besides signs and public values."""
    known, size = promise.knowledge, len(value)
    nothing: list[Room] = [None] * size
    if known.kind == "relative":
        share, unit = whole([decimal(known.error)], digits)[0], 10**digits
        least = whole([decimal(known.absolute)], digits)[0]
        errors: list[Room] = [max(share * abs(v) // unit, least) for v in value]
        return errors, list(errors)
    if known.kind != "intervals":
        return nothing, list(nothing)
    if plain["lower"] is None and plain["upper"] is None:
        raise Impossible("the table has no prior intervals")
    ends = [_ends(plain[key], digits, size) for key in ("upper", "lower")]
    up = [None if end is None else end - v for end, v in zip(ends[0], value, strict=True)]
    down = [None if end is None else v - end for end, v in zip(ends[1], value, strict=True)]
    return up, down


def _ends(texts: Sequence[str | None] | None, digits: int, size: int) -> list[int | None]:
    return [None if text is None else whole([text], digits)[0] for text in texts or [None] * size]


def _without_public(
    plain: Plain, digits: int, value: list[int], up: list[Room], down: list[Room], signs: bool
) -> tuple[list[Room], list[Room]]:
    """The rooms left by what respondents publish themselves."""
    people = plain["respondents"]
    if people is None or people["public_count"] is None:
        return up, down
    count, public = people["count"], people["public_count"]
    if signs and people["absolute"] is None:
        share = None
        if people["public_value"] is not None:
            share = whole(people["public_value"], digits)
        elif plain["frequency"] and not plain["weighted"]:
            share = [n * 10**digits for n in public]
        if share is not None:
            rest = [max(v - s, 0) for v, s in zip(value, share, strict=True)]
            down = [r if room is None else min(room, r) for room, r in zip(down, rest, strict=True)]
    known = [0 < n <= p for n, p in zip(count, public, strict=True)]
    up, down = ([0 if k else room for k, room in zip(known, side, strict=True)] for side in (up, down))
    return up, down


def _demands(plain: Plain, promise: Promise, digits: int, value: list[int]) -> dict[int, Demand]:
    status, unit = plain["status"], 10**digits
    share = whole([decimal(promise.min_relative_range)], digits)[0]
    least = None if promise.min_range is None else whole([decimal(promise.min_range)], digits)[0]
    smallest = min((abs(v) for v, s in zip(value, status, strict=True) if v and s != "primary"), default=0)
    primary = [c for c, s in enumerate(status) if s == "primary"]
    above, below = (_levels(plain[key], primary, digits, promise.levels) for key in ("above", "below"))
    found = {}
    for c, a, b in zip(primary, above, below, strict=True):
        longer = share * abs(value[c]) // unit
        if least is not None:
            longer = max(longer, least)
        elif share and not value[c]:
            longer = smallest
        found[c] = Demand(longer, a + b, 0, 0) if promise.sliding else Demand(longer, 0, a, b)
    return found


def _levels(texts: Sequence[str] | None, cells: list[int], digits: int, asked: bool) -> list[int]:
    return [0] * len(cells) if texts is None or not asked else whole((texts[c] for c in cells), digits)
