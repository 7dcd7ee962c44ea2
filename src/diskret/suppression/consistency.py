"""How far last period's pattern was kept, and at what price: what was tried, and which of it was taken."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A pattern that was tried: how many secondary cells it has, how many of them were hidden before, what it costs."""

    bonus: float
    """What cells that were open before cost more, in mean prices of a secondary cell; infinite: weights as printed."""
    secondary: int
    kept: int
    dearer: float
    """By which share it is dearer than the pattern that looks at this period alone."""

    @property
    def share(self) -> float:
        """Which share of the secondary cells was hidden before.

        >>> Attempt(bonus=1.0, secondary=4, kept=3, dearer=0.02).share
        0.75
        """
        return self.kept / self.secondary if self.secondary else 1.0


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """The curve of consistency against price, and the point that was taken: the most consistent one within at_most.

    >>> alone = Attempt(bonus=0.0, secondary=4, kept=2, dearer=0.0)
    >>> near = Attempt(bonus=1.0, secondary=4, kept=3, dearer=0.05)
    >>> far = Attempt(bonus=4.0, secondary=5, kept=5, dearer=0.3)
    >>> found = Consistency.of((alone, near, far), hidden_before=6, at_most=0.1)
    >>> found.taken.share, found.without.share, found.plain()["dearer"]
    (0.75, 0.5, 0.05)
    """

    hidden_before: int
    at_most: float
    attempts: tuple[Attempt, ...]
    """In the order in which they were tried; the first one does not look at last period."""
    chosen: int

    @classmethod
    def of(cls, attempts: tuple[Attempt, ...], *, hidden_before: int, at_most: float) -> Consistency:
        """The most consistent of the patterns that are not too dear; of several the cheapest."""
        fitting = [k for k, one in enumerate(attempts) if k == 0 or one.dearer <= at_most]
        best = max(fitting, key=lambda k: (attempts[k].share, -attempts[k].dearer, -k))
        return cls(hidden_before=hidden_before, at_most=at_most, attempts=attempts, chosen=best)

    @property
    def taken(self) -> Attempt:
        """The pattern that was taken."""
        return self.attempts[self.chosen]

    @property
    def without(self) -> Attempt:
        """The pattern that does not look at last period."""
        return self.attempts[0]

    def plain(self) -> dict[str, Any]:
        """Counts and shares alone: fit to be printed or logged."""
        return {
            "hidden before": self.hidden_before,
            "kept": self.taken.kept,
            "share": self.taken.share,
            "share without": self.without.share,
            "dearer": _finite(self.taken.dearer),
            "at most": _finite(self.at_most),
            "curve": [
                {"bonus": _finite(one.bonus), "share": one.share, "dearer": _finite(one.dearer)}
                for one in self.attempts
            ],
        }


def _finite(number: float) -> float | None:
    """What JSON can say."""
    return number if isfinite(number) else None
