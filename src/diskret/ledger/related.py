"""Which entries may be connected with a new one, by what they say of themselves: nothing else is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.ledger.about import PERIOD
from diskret.ledger.entry import Entry
from diskret.ledger.ratios import under_subject


def related(entries: Sequence[Entry], new: Entry) -> list[Entry]:
    """Entries of the same subject and overlapping periods, and those that ratios lead to.

    Cells of other periods, or that count something else, stand in no sum together; only published ratios connect them.
    """
    reached = set(_touches(new))
    left = list(entries)
    found: list[Entry] = []
    while True:
        near = [e for e in left if any(_meet(one, other) for one in _touches(e) for other in reached)]
        if not near:
            return sorted(found, key=lambda e: e.number)
        left = [e for e in left if e not in near]
        found += near
        for entry in near:
            if entry.about.ratio is not None:
                reached |= set(_touches(entry))


Place = tuple[tuple[str, str, str], str]
"""A subject and a period; an empty period meets all."""


def _touches(entry: Entry) -> list[Place]:
    """The subjects and periods an entry says something about."""
    periods = _periods(entry)
    places = [(entry.subject, period) for period in periods]
    if entry.about.ratio is not None:
        under = under_subject(entry)
        below = entry.about.ratio.under.get(PERIOD)
        places += [(under, period) for period in ([below] if below else periods)]
    return places


def _periods(entry: Entry) -> list[str]:
    if PERIOD in entry.by:
        hierarchy = entry.by[PERIOD]
        return [code for code in hierarchy.codes if code != hierarchy.total]
    return [entry.about.codes.get(PERIOD, "")]


def _meet(one: Place, other: Place) -> bool:
    """Whether cells at two places may stand in one sum.

    >>> turnover = ("firms", "turnover", "EUR")
    >>> _meet((turnover, "2024"), (turnover, "2024-Q3")), _meet((turnover, "2024"), (turnover, "2023"))
    (True, False)
    """
    return one[0] == other[0] and (not one[1] or not other[1] or one[1][:4] == other[1][:4])
