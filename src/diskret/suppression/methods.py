"""How a table is protected: every method with the options it has, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from diskret.model.errors import BadOption
from diskret.model.options import option
from diskret.suppression.prices import Cost

Zeros = Literal["marked", "allowed", "forbidden"]
Barriers = Literal["on", "off"] | Mapping[str, int]
Effort = Literal["quick", "default", "economy", "fitting"]
FITTING = 2_500
"""Cells up to which a fitting effort is that of economy: beyond, that takes minutes where many cells are primary."""
Progress = Callable[[str, int, int], None]
AT_MOST = 0.1
"""By which share keeping last period's pattern may make a result dearer, unless said otherwise."""
MOST_DEFORMATIONS = 3
"""More shifts of one cuboid than this are refused: their number explodes, and two already find nearly everything."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """What all methods can be told: which cells may be hidden, and what they cost."""

    cost: Cost | None = option(None, "what a hidden cell costs; left out: its value")
    zeros: Zeros = option("marked", "which zero cells may be hidden: marked, allowed (all), forbidden (none)")
    barriers: Barriers = option("on", "keep margins visible: on, off, or per classification 1 avoid, -1 prefer, 0")

    def __post_init__(self) -> None:
        if self.zeros not in ("marked", "allowed", "forbidden"):
            raise BadOption(f"zeros {self.zeros!r}", hint="'marked', 'allowed' or 'forbidden'.")

    @property
    def price(self) -> Cost:
        """What a hidden cell costs."""
        return self.cost or Cost()


@dataclass(frozen=True, kw_only=True)
class Moves(Method):
    """Protecting moves over the whole table, found by linear programmes and rerouted; the result is attacked.

    >>> Moves(effort="quick").effort
    'quick'
    """

    effort: Effort = option(
        "default",
        "how long to look for a cheaper pattern: quick, default, economy, or fitting: economy for small tables",
    )
    seconds: float | None = option(
        None, "stop looking for a cheaper pattern after this time; results then depend on the machine"
    )
    thin: bool = option(True, "whether to look for a cheaper pattern")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.effort not in get_args(Effort):
            raise BadOption(f"effort {self.effort!r}", hint="'quick', 'default', 'economy' or 'fitting'.")

    def effort_for(self, cells: int) -> Effort:
        """The effort for a table of so many cells.

        >>> [Moves(effort="fitting").effort_for(cells) for cells in (400, 100_000)]
        ['economy', 'default']
        """
        return self.effort if self.effort != "fitting" else "economy" if cells <= FITTING else "default"


@dataclass(frozen=True, kw_only=True)
class Cuboids(Method):
    """The cuboid method as printed: every subtable on its own. Necessary where there are subtotals, not sufficient."""

    thin: bool = option(True, "open secondaries again that nobody needs")
    non_additive: tuple[str, ...] = option((), "classifications along which contributor counts do not add up")
    carry: Literal["off", "once", "always"] = option("off", "hand intervals on from subtable to subtable")
    threads: int | None = option(None, "subtables secured in parallel; left out: as many as there are cores it may use")


@dataclass(frozen=True, kw_only=True)
class Complete(Method):
    """Cuboids of the fictitious complete table: each holds over the whole table (Quaderverfahren, chapter 7)."""

    thin: bool = option(True, "open secondaries again that nobody needs")
    deformations: int = option(1, "how often a cuboid may be shifted, 0 to 3")
    totals_last: bool = option(False, "whether totals come in only after all other sums")
    stages: Literal[1, 2] = option(1, "2 if cuboids inside lowest subtables come first")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stages not in (1, 2):
            raise BadOption(f"{self.stages} stages", hint="1, or 2: lowest subtables first.")
        if not 0 <= self.deformations <= MOST_DEFORMATIONS:
            raise BadOption(
                f"{self.deformations} deformations per cuboid",
                hint=f"0 to {MOST_DEFORMATIONS}; where that is not enough, the method Moves needs no limit.",
            )
        if self.price.distance:
            raise BadOption("distances with complete tables", hint="they belong to the method Cuboids.")


@dataclass(frozen=True, kw_only=True)
class Optimal(Method):
    """The cheapest pattern of a small table, proved, or a cheap one and how far it may be off: a yardstick."""

    seconds: float = option(60.0, "how long to look for the proof")
    effort: Effort = option("default", "effort of the pattern the search starts with")


AnyMethod = Moves | Cuboids | Complete | Optimal
