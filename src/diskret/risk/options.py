"""How a file is attacked by record linkage, and what is still acceptable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from diskret.model.errors import BadOption, listed

LinkageMethod = Literal["assignment", "single", "fellegi_sunter"]
METHODS = ("assignment", "single", "fellegi_sunter")
Scale = Literal["log", "standard", "rank"]
SCALES = ("log", "standard", "rank")
OPTIMAL_UP_TO = 1000
"""Largest block that is assigned optimally; larger ones are auctioned."""


@dataclass(frozen=True, kw_only=True)
class LinkageOptions:
    """How `attack` links two files and judges what it finds.

    ``aligned`` says that the records of all files stand in the same order, instead of a column that says who is who.
    ``targets`` are the values the attacker wants to learn (by default those he links by). ``by`` forms the combinations
    whose risk must not exceed ``cap``: columns of the original or external file, a number column with the lower limits
    of its classes (by default the keys). A value is usable if it is off by at most ``usable_within``.

    ``method`` is "assignment" (one to one, all units at once; blocks of more than ``optimal_up_to`` records by
    auction), "single" (every unit on its own) or "fellegi_sunter" (needs the extra ``linkage``). ``scale`` says how
    values are compared: "log", "standard" or "rank" (not on Spark); equal values are told apart by chance (``seed``).
    On a Spark ``engine`` (as in `tabulate`) blocks are attacked where the records are. The outcome is the same, but who
    was taken for whom stays there: ``partner``, ``distance`` and ``candidates`` are empty.
    """

    aligned: bool = False
    targets: Sequence[str] | None = None
    by: Sequence[str] | Mapping[str, Sequence[float] | None] | None = None
    method: LinkageMethod = "assignment"
    scale: Scale = "log"
    usable_within: float = 0.10
    cap: float = 0.5
    optimal_up_to: int = OPTIMAL_UP_TO
    engine: object = "duckdb"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadOption(f"no attack by {self.method!r}", hint=f"one of {listed(METHODS)}.")
        if not self.usable_within >= 0:
            raise BadOption("usable_within is negative", hint="give 0.1 for values within 10 percent.")
        if not 0 <= self.cap <= 1:
            raise BadOption("the cap does not lie between 0 and 1", hint="give 0.5 for one half.")
        if self.optimal_up_to < 0:
            raise BadOption("optimal_up_to is negative", hint="give the largest block to be assigned optimally, or 0.")
        if self.engine != "duckdb" and self.scale == "rank" and self.method != "fellegi_sunter":
            raise BadOption("ranks are not taken on Spark", hint='say scale="log" or "standard" there.')
