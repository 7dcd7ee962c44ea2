"""How new frequencies are searched for (the default search, the printed method), and how a run is carried out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from diskret.model.errors import BadOption
from diskret.safe.history import Watch

Progress = Callable[[str, int, int], None]


def silent(what: str, done: int, of: int) -> None:
    """Progress that nobody follows."""


@dataclass(frozen=True, kw_only=True)
class AnonymiseOptions:
    """How a file is read and a search is run; `anonymise` says what is sought.

    ``missing`` names the code that stands for a blank, per attribute. ``from_data`` are attributes whose hierarchies
    were made of the codes of the data: a code that vanishes is then named to nobody. ``fictitious`` adds rows that do
    not occur: data with such rows, or how many to make. ``time_limit`` (seconds) ends the search with the best
    anonymous file so far, where a step ends: the same number of ``steps`` as a limit gives the same file on any
    machine. A first short search is always carried to its end. With a ``checkpoint`` the ladder search can be
    interrupted and goes on where it stood when called again. ``watch`` is told every moment of the search: cases and
    bounds. ``engine``, ``threads`` and ``memory_limit`` as in `tabulate`; the result is the same for any number of
    threads.
    """

    missing: Mapping[str, str] | None = None
    from_data: Collection[str] = ()
    fictitious: object = None
    time_limit: float | None = None
    steps: int | None = None
    checkpoint: str | Path | None = None
    engine: object = "duckdb"
    threads: int | None = None
    memory_limit: str = "2GB"
    progress: Progress | None = None
    watch: Watch | None = None


@dataclass(frozen=True, kw_only=True)
class LadderSearch:
    """The default search: a rounded start or mixtures, annealing, a ladder of falling limits, polish.

    ``effort`` multiplies the number of groups tested. ``limits`` are the largest deviations to stop at, from
    one-dimensional cells up (the last holds for all higher dimensions); left out, the ladder goes down as far as the
    effort reaches, but not below k - 1, so that a cell of k may still hold a single object, nor below ``one_way`` for
    one-dimensional cells where none of them is small. The file is then drawn at random among those within the limits:
    deviations below this floor are not made smaller. ``orders`` sort orders per last attribute supply neighbours up to
    ``reach`` rows away.
    ``swaps`` is the share of groups that try a swap between four rows before a move of three.
    """

    effort: float = 1.0
    limits: tuple[int, ...] | None = None
    one_way: int = 1
    orders: int = 3
    reach: int = 2
    swaps: float = 0.6

    def __post_init__(self) -> None:
        if not self.effort > 0:
            raise BadOption("effort must be above 0", hint="1 is the default; 0.1 is quick, 10 thorough.")
        if self.limits is not None and (not self.limits or min(self.limits) < 0):
            raise BadOption("limits are largest deviations, 0 or more", hint="for example (1, 2, 2).")
        if self.one_way < 0:
            raise BadOption("one_way is a largest deviation, 0 or more", hint="1 is the default.")
        if not 0 <= self.swaps <= 1:
            raise BadOption("swaps is a share", hint="0 to 1; 0.6 is the default.")
        if not 1 <= self.orders <= 64 or not 1 <= self.reach <= 100:
            raise BadOption("orders is 1 to 64, reach 1 to 100", hint="3 and 2 are the defaults.")


@dataclass(frozen=True, kw_only=True)
class PrintedSearch:
    """The method as printed: phase 1 removes the cases inside limits, phase 2 lowers the limits.

    ``start`` are the limits at the start for one- and for multi-dimensional cells, ``distance`` how far they may come
    apart. ``targets`` are the limits phase 2 aims at, ``most_violations`` how many cells may exceed limits it has
    just lowered. ``expected`` is the share of cases a pass must remove, per selection technique 0 to 3; technique 3 is
    used where no more than ``rare`` of all rows are cases. ``part`` rows are added when no more than ``almost`` of a
    part are cases. ``group`` rows change together: 3 or 4.
    """

    start: tuple[int, int] = (2, 2)
    distance: int = 2
    targets: tuple[int, int] = (2, 2)
    most_violations: int = 1000
    expected: tuple[float, float, float, float] = (0.05, 0.03, 0.03, 0.01)
    rare: float = 0.01
    part: int = 2000
    almost: float = 0.05
    group: int = 3

    def __post_init__(self) -> None:
        shares = all(0 <= share <= 1 for share in (self.almost, self.rare))
        if not len(self.start) == len(self.targets) == 2 or min(*self.start, *self.targets, self.distance) < 0:
            raise BadOption("start and targets are two limits, 0 or more", hint="for example start = [2, 2].")
        if len(self.expected) != 4 or not all(0 < e <= 1 for e in self.expected):
            raise BadOption("expected is one share per technique 0 to 3", hint="above 0, at most 1.")
        if self.group not in (3, 4):
            raise BadOption(f"groups of {self.group} rows", hint="3 or 4.")
        if self.part < self.group or not shares or self.most_violations < 1:
            raise BadOption(
                "part is a number of rows, almost and rare are shares, most_violations is 1 or more",
                hint="part = 2000, almost = 0.05, rare = 0.01 and most_violations = 1000 are the defaults.",
            )


SearchOptions = LadderSearch | PrintedSearch


def chosen_search(given: str | SearchOptions) -> SearchOptions:
    """A search by its name, or as it is.

    >>> chosen_search("printed").group
    3
    """
    if not isinstance(given, str):
        return given
    if given not in ("ladder", "printed"):
        raise BadOption(f"search = {given!r}", hint="'ladder' (the default) or 'printed'.")
    return LadderSearch() if given == "ladder" else PrintedSearch()
