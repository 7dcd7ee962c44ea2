"""What tau-ARGUS says about cells: letters and numbers of their statuses, protection levels, costs. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, NotFinite
from diskret.model.exact import decimals_of
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.argus.options import SafeFile
from diskret.publication.numbers import meant_decimals

SAFE, RULE, REQUEST, FREQUENCY, ZERO, MANUAL, PROTECTED, SECONDARY, EMPTY = 1, 3, 4, 5, 6, 9, 10, 11, 14
SAFE_BY_HAND, SECONDARY_BY_HAND = 2, 12
"""Of cells whose status no rule found: it was given."""
NUMBERS = {
    Status.OPEN: SAFE,
    Status.PRIMARY: MANUAL,
    Status.SECONDARY: SECONDARY,
    Status.NEVER: PROTECTED,
    Status.PUBLISHED: PROTECTED,
    Status.STRUCTURAL_ZERO: PROTECTED,
    Status.ZERO: SAFE,
}
LETTERS = {SAFE: "S", SAFE_BY_HAND: "S", SECONDARY: "M", SECONDARY_BY_HAND: "M", PROTECTED: "P", EMPTY: "E"}
"""Every other number is that of an unsafe cell, U."""
CAUGHT = {"zero": ZERO, "minimum count": FREQUENCY, "small": FREQUENCY, "request": REQUEST, "given": MANUAL}
"""Numbers of cells caught by a rule whose name begins so; by any other, such as p%: 3. The last that applies counts,
as tau-ARGUS asks dominance first, then requests, then frequencies, then zeros."""
ORDER = (MANUAL, ZERO, FREQUENCY, REQUEST, RULE)
TENTH = 0.1


def status_numbers(table: Table) -> Ints:
    """The status of every cell as tau-ARGUS numbers it: 1 safe, 3 to 9 unsafe, 10 protected, 11 secondary, 14 empty.

    Where every status was given and no rule looked for any, 2 and 12 stand for 1 and 11.

    >>> cells = {"s": ["a", "b", "c"], "x": [3, 0, 4], "n": [1, 0, 9], "st": ["primary", "open", "secondary"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", status="st")
    >>> status_numbers(table).tolist()
    [9, 14, 12, 2]
    """
    found = np.array([NUMBERS[status] for status in Status])[table.status]
    primary = table.status == Status.PRIMARY
    if table.rule is not None:
        kinds = [_kind(name) for name in table.rules]
        for kind in ORDER:
            bits = sum(1 << i for i, each in enumerate(kinds) if each == kind)
            found[primary & (table.rule & np.uint32(bits) > 0)] = kind
    found[vacant(table) & (found == SAFE)] = EMPTY
    if given_statuses(table):
        found[found == SAFE], found[found == SECONDARY] = SAFE_BY_HAND, SECONDARY_BY_HAND
    return found


def given_statuses(table: Table) -> bool:
    """Whether every status was given, and no rule looked for any."""
    return all(_kind(name) == MANUAL for name in table.rules)


def _kind(rule: str) -> int:
    return next((number for begin, number in CAUGHT.items() if rule.startswith(begin)), RULE)


def status_letters(numbers: Ints) -> npt.NDArray[np.object_]:
    """Letters of an intermediate file."""
    return np.array([LETTERS.get(number, "U") for number in range(EMPTY + 1)], dtype=object)[numbers]


def decimals_in(table: Table, options: SafeFile) -> int | None:
    """Decimals of all values of a file: as asked for, or those the values have."""
    return options.decimals if options.decimals is not None else own_decimals(table)


def own_decimals(table: Table) -> int | None:
    """Decimals the values have; None if they are no decimals."""
    found = decimals_of(table.value)
    return meant_decimals(table.value) if found is None else found


@dataclass(frozen=True, eq=False, kw_only=True)
class Levels:
    """How far below and above its value an attacker's interval must reach, for every cell."""

    below: Floats
    above: Floats


def levels_of(table: Table, decimals: int | None, version: int) -> Levels:
    """Protection levels as tau-ARGUS writes them: at least one unit of the last decimal wherever there is a value.

    Cells that are safe because a file says so have none in version 4.
    Version 3 lets no lower level reach quite down to the smallest value possible, and gives empty cells one unit
    above.
    """
    unit = 0.0 if decimals is None else 10.0**-decimals
    some = table.value != 0
    below, above = (
        np.where(some, np.maximum(0.0 if level is None else level, unit), 0.0 if level is None else level)
        for level in (table.below, table.above)
    )
    if version > 3 and table.rules and given_statuses(table):
        safe = table.status != Status.PRIMARY
        below, above = np.where(safe, 0.0, below), np.where(safe, 0.0, above)
    if version == 3:
        above = np.maximum(above, unit)
        room = table.value - lowest(table)
        below = np.where(below + TENTH * unit > room, np.maximum(room - TENTH * unit, 0.0), below)
    refuse_infinite(below, above)
    return Levels(below=below, above=above)


def lowest(table: Table) -> float:
    """The smallest value tau-ARGUS thinks possible: nothing, or well below the smallest value."""
    return min(0.0, 1.5 * float(table.value.min(initial=0.0)))


def highest(table: Table) -> float:
    """The largest value tau-ARGUS thinks possible."""
    return max(0.0, 1.5 * float(table.value.max(initial=0.0)))


def costs_of(table: Table, options: SafeFile) -> Floats:
    """What suppressing a cell costs: as the options say, or its weight, or its value; an empty one nothing."""
    if options.price is not None:
        return np.where(vacant(table), 0.0, options.price.of(table).reshape(table.shape))
    return np.abs(table.value) if table.weight is None else table.weight


def contributors_of(table: Table, *, holding: bool) -> Contributors | None:
    """Respondents or holdings as the rules see them; none where nobody counted them."""
    if holding and table.holdings is None:
        raise BadOption("the table has no holdings", hint="name the column that joins records of one owner.")
    found = table.holdings if holding else table.respondents
    return None if found is None else found.judged


def shadow_of(table: Table) -> Floats:
    """What the rules judge: the shadow variable, or the values."""
    people = table.respondents
    return table.value if people is None or people.shadow_absolute is None else people.shadow_absolute


def ranks_of(table: Table, people: Contributors | None) -> int:
    """How many largest contributions a file shows: those the rules look at, or all where no rules are known."""
    if people is None:
        return 0
    asked = [judge.largest for judge in table.judges]
    return min(people.ranked, max(asked)) if asked else people.ranked


def refuse_infinite(*arrays: npt.NDArray[np.float64]) -> None:
    """Refuse numbers that no file of tau-ARGUS can hold."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise NotFinite("the table has undefined or infinite numbers", hint="tau-ARGUS cannot read them.")


def vacant(table: Table) -> Bools:
    """Cells nobody contributes to; where contributors were not counted, a zero is a number like any other.

    Of changed values every zero counts: who contributes would tell true zeros from those that were made.

    >>> cells = {"s": ["a", "b"], "x": [0, 4], "n": [0, 9]}
    >>> known = Table.from_cells(cells, by={"s": None}, value="x", count="n")
    >>> unknown = Table.from_cells(cells, by={"s": None}, value="x")
    >>> vacant(known).tolist(), vacant(unknown).tolist()
    ([True, False, False], [False, False, False])
    """
    if table.altered:
        zero: Bools = table.value == 0
        return zero
    counted = table.frequency or table.respondents is not None
    return table.empty if counted else np.zeros(table.shape, np.bool_)


def nothing_there(table: Table) -> Bools:
    """Cells that show a dash: nobody contributes to them, and they hide nothing."""
    found: Bools = vacant(table) & ~table.hidden
    return found
