"""What is published beside an anonymous file, and what an attacker knows: the terms of an attack on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from diskret.model.errors import BadOption

if TYPE_CHECKING:
    from diskret.safe.anonymisation import Anonymisation


@dataclass(frozen=True, kw_only=True)
class Published:
    """Figures that are published beside an anonymous file; what is None is not.

    ``largest`` is how far control tables deviate at most, by dimension (every table of more dimensions than named has
    none). ``deviations`` are numbers of control cells by absolute deviation, 0 first, by dimension. ``uniques`` is how
    many combinations held one object.

    >>> Published(largest={1: 2, 2: 2}).bound(2)
    2
    """

    largest: Mapping[int, int] = field(default_factory=dict)
    deviations: Mapping[int, Sequence[int]] = field(default_factory=dict)
    uniques: int | None = None

    def __post_init__(self) -> None:
        if any(each < 0 for each in self.largest.values()):
            raise BadOption("the largest deviation is below 0", hint="for example largest={1: 2, 2: 2}.")

    @classmethod
    def report(cls, anon: Anonymisation) -> Published:
        """What the public report tells."""
        return cls(largest=anon.bounds)

    @classmethod
    def everything(cls, anon: Anonymisation) -> Published:
        """What the internal report tells of deviations: to see what it would give away."""
        tables = anon.quality.by_dimension
        counts = {d: tuple(int(n) for n in t.counts.sum(axis=1)) for d, t in tables.items()}
        return cls(largest=anon.quality.maxima, deviations=counts, uniques=int((anon.original == 1).sum()))

    def bound(self, dimension: int) -> int | None:
        """How far tables of a dimension deviate at most, as far as it is told."""
        told = [self.largest[dimension]] if dimension in self.largest else []
        if dimension in self.deviations:
            cells = np.flatnonzero(self.deviations[dimension])
            told.append(int(cells.max(initial=0)))
        return min(told, default=None)

    @property
    def counted(self) -> bool:
        """Whether more is told than bounds."""
        return bool(self.deviations) or self.uniques is not None


@dataclass(frozen=True, kw_only=True)
class FileKnowledge:
    """What an attacker knows beside the file, the method and the figures.

    The attacker knows the lists of codes that were given, and all codes the file shows; ``listed`` says of which
    attributes the list is known, if not of all that were given, and ``codes`` names further codes, by attribute.
    ``existed`` says whether the attacker knows that every combination of the file occurred in the original: this is
    so by default unless fictitious ones were added. ``tables`` are control tables whose original counts are known from
    elsewhere, each by its key levels.
    ``records`` are persons the attacker knows: data with the attributes.
    """

    listed: Sequence[str] | None = None
    codes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    existed: bool | None = None
    tables: Sequence[Sequence[str]] = ()
    records: object = None
