"""A release in long form as columns: one row per cell, as files for programs hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release

PUBLISHED, SUPPRESSED = "published", "suppressed"


@dataclass(frozen=True, eq=False, kw_only=True)
class Texts:
    """A column of texts, each of few different ones: which of them stands in every row."""

    name: str
    different: tuple[str, ...]
    at: Ints

    @property
    def longest(self) -> int:
        """Bytes of the longest text that stands in a row."""
        return max((len(self.different[i].encode()) for i in np.unique(self.at).tolist()), default=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Numbers:
    """A column of numbers; undefined (NaN) where hidden."""

    name: str
    values: Floats
    whole: bool


def long_columns(release: Release, options: Publication) -> Iterator[Texts | Numbers]:
    """Codes, labels, values, and for each value a column that says published, suppressed, or how it was changed."""
    names = iter(release.long_names(labels=options.labels, statuses=True))
    positions = release.positions(slice(0, release.size))
    for _, axis, texts in release.columns_of_codes(labels=options.labels):
        yield Texts(name=next(names), different=tuple(texts), at=np.asarray(positions[axis], dtype=np.int64))
    for measure in release.measures:
        yield from _of_measure(measure, names)


def _of_measure(measure: Measure, names: Iterator[str]) -> Iterator[Texts | Numbers]:
    values = np.where(measure.hidden, np.nan, measure.value)  # they are undefined already: twice is sure
    yield Numbers(name=next(names), values=values, whole=measure.is_count)
    if measure.is_count:
        return
    words = (measure.altered or PUBLISHED, SUPPRESSED)
    yield Texts(name=next(names), different=words, at=measure.hidden.astype(np.int64))


def notes(release: Release, options: Publication) -> Sequence[str]:
    """What a reader must know about tables that nothing protects."""
    return [options.words[each] for each in release.care]
