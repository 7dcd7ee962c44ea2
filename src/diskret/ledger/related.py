"""Which entries may be connected with a new one, by what they say of themselves: nothing else is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diskret.ledger.about import PERIOD
from diskret.ledger.codes import Scheme, codes_of
from diskret.ledger.entry import Entry
from diskret.ledger.ratios import under_subject

Place = tuple[tuple[str, str, str], int]
"""A subject and a period, as the set of the shortest periods in it; 0 for no period, which meets all."""


def related(entries: Sequence[Entry], new: Entry, periods: Scheme | None) -> list[Entry]:
    """Entries of the same subject whose periods hang together with the new one's, and those that ratios lead to.

    Cells of other periods, or that count something else, stand in no sum together; only published ratios connect them.
    Two quarters hang together by the year, if somebody shows that.
    """
    touched = [{*_touches(entry, periods)} for entry in entries]
    ratios = [places for entry, places in zip(entries, touched, strict=True) if entry.about.ratio is not None]
    left = set[Place]().union(*touched)
    waiting, reached = _touches(new, periods), set[Place]()
    while waiting:
        place = waiting.pop()
        if place in reached:
            continue
        reached.add(place)
        near = [other for other in left if meet(place, other)]
        left.difference_update(near)
        waiting += near
        waiting += [other for places in ratios if place in places for other in places]
    return [entry for entry, places in zip(entries, touched, strict=True) if places & reached]


def _touches(entry: Entry, scheme: Scheme | None) -> list[Place]:
    """The subjects and periods an entry says something about."""
    periods = periods_of(entry)
    places = [(entry.subject, period) for period in periods]
    if entry.about.ratio is not None:
        under = under_subject(entry)
        below = entry.about.ratio.under.get(PERIOD)
        places += [(under, period) for period in ([below] if below else periods)]
    return [(subject, _set(scheme, period)) for subject, period in places]


def _set(scheme: Scheme | None, period: str) -> int:
    return scheme.set_of(period) if scheme is not None and period else 0


def periods_of(entry: Entry) -> Sequence[str]:
    """The periods an entry says something about; an empty one if it says none."""
    return codes_of(PERIOD, entry.by[PERIOD]) if PERIOD in entry.by else [entry.about.codes.get(PERIOD, "")]


def all_periods(entry: Entry) -> Iterable[str]:
    """Every period an entry names, also those of what stands below the line of a ratio."""
    yield from (period for period in periods_of(entry) if period)
    if entry.about.ratio is not None and PERIOD in entry.about.ratio.under:
        yield entry.about.ratio.under[PERIOD]


def meet(one: Place, other: Place) -> bool:
    """Whether cells at two places may stand in one sum.

    >>> turnover = ("firms", "turnover", "EUR")
    >>> year, quarter, before = 0b1111, 0b0100, 0b10000
    >>> meet((turnover, year), (turnover, quarter)), meet((turnover, year), (turnover, before))
    (True, False)
    """
    return one[0] == other[0] and (not one[1] or not other[1] or bool(one[1] & other[1]))
