"""The promise: who is guarded against, what must stay uncertain, what an attacker knows, which unions must hold.

One value, carried whole by everything that protects, attacks, explains, certifies or reports, so that no two of them
can mean different things.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from textwrap import fill
from typing import Any, Literal

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.cells import Cells
from diskret.model.errors import BadOption, listed
from diskret.model.knowledge import Knowledge
from diskret.model.options import option
from diskret.model.status import Status
from diskret.model.words import number_in, words

Guard = Literal["public", "single", "largest"]
GUARDS: tuple[Guard, ...] = ("public", "single", "largest")
"""From the weakest to the strongest."""
Coalitions = tuple[tuple[tuple[str, ...], ...], ...]
FARTHEST = 1e200
"""Ranges beyond this are no numbers any more in steps of the table."""
WIDTH = 116
"""Characters of a line of the promise in words."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What is kept about every primary cell, against whom. The ranges are secret, like the parameters of the rules.

    >>> print(Promise())
    Nobody who reads the published table, and nobody who is alone in one of its cells, can narrow a primary cell down
    further than the primary rules allow: its interval reaches as far above and below the value as they demand (a
    minimum count: by its margin), and it is never a single number. Everybody is assumed to know that no value is
    negative, if none is. The hidden cells of a line taken together do not break the primary rules either.
    >>> Promise().covers(Promise(guard="public")), Promise.from_dict(Promise().to_dict()) == Promise()
    (True, True)
    """

    guard: Guard = option(
        "single", "against whom besides everybody: public (nobody else), single (whoever is alone in a cell), "
        "largest (the largest contributor of every hidden cell as well)"
    )  # fmt: skip
    coalitions: Coalitions = option(
        (), "groups of cells (by their codes) that somebody knows together, one for each coalition"
    )
    levels: bool = option(True, "whether intervals reach as far below and above the value as the primary rules demand")
    sliding: bool = option(False, "whether only the sum of both levels counts, and the value may lie anywhere")
    min_relative_range: float = option(
        0.0, "the length of the interval divided by the value must be greater than this", secret=True
    )
    min_range: float | None = option(None, "the same in absolute terms, for zero and tiny values", secret=True)
    knowledge: Knowledge = option(make=Knowledge.usual, description="what an attacker knows beforehand")
    unions: bool = option(
        True, "whether the hidden cells of a line, taken together, must not break the rules the table was marked by"
    )

    def __post_init__(self) -> None:
        if self.guard not in GUARDS:
            raise BadOption(f"guard {self.guard!r}", hint=f"one of {listed(GUARDS)}.")
        # whatever is not a finite range from 0 on, also one from a damaged file, would ask for nothing
        if not all(0 <= each < np.inf for each in (self.min_relative_range, self.min_range or 0)):
            raise BadOption("a negative minimum range", hint="0 asks only that no value can be computed exactly.")
        if not all(isinstance(each, bool) for each in (self.levels, self.sliding, self.unions)):
            raise BadOption("levels, sliding or unions neither true nor false", hint="give True or False.")
        cells = tuple(tuple(tuple(codes) for codes in known) for known in self.coalitions)
        object.__setattr__(self, "coalitions", cells)

    def asks(self, table: Cells) -> tuple[Floats, Floats, Floats, Bools]:
        """Per cell how long the interval must be, how far down and up it must reach, and where "longer" is "as long".

        A range must be exceeded, levels need only be reached (flat arrays).
        """
        value = np.abs(table.value).reshape(-1)
        need = self.min_relative_range * value
        if self.min_range is not None:
            need = np.maximum(need, self.min_range)
        elif self.min_relative_range > 0:
            need = np.where(value == 0, _smallest(table), need)
        nothing, never = np.zeros(value.size), np.zeros(value.size, dtype=np.bool_)
        levels = (table.below, table.above) if self.levels else (None, None)
        below, above = (nothing if level is None else level.reshape(-1) for level in levels)
        if not all((each <= FARTHEST).all() for each in (need, below, above)):
            raise BadOption("a range or protection level is beyond all numbers", hint="use a larger unit.")
        if not self.levels:
            return need, nothing, nothing, never
        if self.sliding:
            return np.maximum(need, below + above), nothing, nothing, below + above > need
        return need, below, above, never

    def needs(self, table: Cells) -> tuple[Floats, Floats, Floats]:
        """The same for searches that compare doubles: a range to exceed, and how far down and up (flat arrays)."""
        length, below, above, reached = self.asks(table)
        # "reach" allows equality where a range wants more: ask for a hair less
        return np.where(reached, length * (1 - 1e-8), length), below * (1 - 1e-12), above * (1 - 1e-12)

    def covers(self, other: Promise) -> bool:
        """Whether keeping this promise keeps the other one as well."""
        return (
            GUARDS.index(self.guard) >= GUARDS.index(other.guard)
            # a coalition that knows more is not asked about what it knows: only the same one covers
            and set(self.coalitions) >= set(other.coalitions)
            and self.knowledge.covers(other.knowledge)
            and self.unions >= other.unions
            and self._reaches(other)
        )

    def _reaches(self, other: Promise) -> bool:
        """Whether the intervals of this promise are at least as wide."""
        levels = not other.levels or (self.levels and (other.sliding or not self.sliding))
        if other.min_range is None:
            # without an absolute range a zero needs the smallest value of the table
            absolute = self.min_range is None or other.min_relative_range == 0
        else:
            absolute = (self.min_range or 0.0) >= other.min_range
        return levels and absolute and self.min_relative_range >= other.min_relative_range

    def describe(self, language: str = "en", *, internal: bool = False, table: Cells | None = None) -> str:
        """In one paragraph of plain words; ranges and errors as numbers only if ``internal``.

        With a ``table`` also what it says about those behind its cells, or does not say.
        """
        say = words("promise", language)

        def told(number: float, form: str = "{:g}") -> str:
            return number_in(form.format(number), language) if internal else say["secret"]

        demand = "exact" if not self.levels else "sliding" if self.sliding else "levels"
        ranges = {"min_relative_range": self.min_relative_range, "min_range": self.min_range}
        who = say["coalitions"].format(n=len(self.coalitions)) if self.coalitions else ""
        longer = "".join(say[name].format(n=told(length)) for name, length in ranges.items() if length)
        known = self.knowledge
        sentences = (
            say["nobody"].format(
                who=say[self.guard] + who, pause="," if say[self.guard] + who else "", demand=say[demand], ranges=longer
            ),
            say[known.kind].format(error=told(100 * known.error, "{:g} %")),
            *([say["small ones"].format(absolute=told(known.absolute))] if known.absolute else []),
            say["unions" if self.unions else "no unions"],
            *([] if table is None else [self.assumed(table, language)]),
        )
        return fill(" ".join(sentences), WIDTH)

    def assumed(self, table: Cells, language: str = "en") -> str:
        """What attackers are assumed to know about those behind the cells of a table, in plain words.

        >>> from diskret import Table
        >>> table = Table.from_cells({"s": ["a"], "x": [1], "n": [1]}, by={"s": None}, value="x", count="n")
        >>> print(fill(Promise().assumed(table), 100))
        The table does not say who is behind its cells: two cells of one owner count as two owners. No
        respondent is assumed to publish values of its own.
        """
        say, people = words("promise", language), table.respondents
        said = [] if self.guard == "public" else [say[f"owners {_owners(table)}"]]
        known = people is not None and people.public_count is not None
        return " ".join([*said, say["public known" if known else "public unknown"]])

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ranges included: confidential."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Promise:
        """From plain data; refuses what is not part of a promise."""
        unknown = [name for name in plain if name not in {f.name for f in fields(cls)}]
        if unknown:
            raise BadOption(
                f"a promise with {listed(unknown)}", hint=f"it has {listed([f.name for f in fields(cls)])}."
            )
        given = dict(plain)
        if isinstance(given.get("knowledge"), Mapping):
            given["knowledge"] = Knowledge(**given["knowledge"])
        return cls(**given)


def _owners(table: Cells) -> str:
    """Whom a table knows behind its cells."""
    if table.holdings is not None and table.holdings.owner is not None:
        return "holdings"
    if table.respondents is None:
        return "unknown" if table.frequency or table.holdings is not None else "uncounted"
    if not table.counted:
        return "least"
    return "unknown" if table.respondents.owner is None else "respondents"


def _smallest(table: Cells) -> float:
    """For zero pivots: the smallest value that is neither zero nor primary."""
    chosen = (table.value != 0) & (table.status != Status.PRIMARY)
    return float(np.abs(table.value[chosen]).min()) if chosen.any() else 0.0
