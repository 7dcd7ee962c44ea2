"""What is to be tabulated from which columns, and in which units it is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import YES


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A column that is true where it holds one of the codes."""

    column: str
    codes: tuple[str, ...] = YES

    @classmethod
    def of(cls, given: str | tuple[str, Sequence[str]] | None) -> Flag | None:
        """A column name, or a column name with its codes.

        >>> Flag.of(("Request", ["1", "2"]))
        Flag(column='Request', codes=('1', '2'))
        """
        if given is None or isinstance(given, str):
            return None if given is None else cls(column=given)
        return cls(column=given[0], codes=tuple(str(c) for c in given[1]))

    @classmethod
    def each(cls, given: str | tuple[str, Sequence[str]] | None) -> tuple[Flag, ...]:
        """The same column for every code by itself: kinds of something.

        >>> [flag.codes for flag in Flag.each(("Request", ["1", "2"]))]
        [('1',), ('2',)]
        """
        found = cls.of(given)
        if found is None or isinstance(given, str):
            return () if found is None else (found,)
        return tuple(cls(column=found.column, codes=(code,)) for code in found.codes)


FRACTION = 10**15
"""Record keys that are fractions are counted in units of this part: doubles hold 15 decimals."""
MOST_KEYS = 2**53


@dataclass(frozen=True)
class RecordKey:
    """A column of random keys, one per record: what they add up to in a cell decides the cell's noise.

    Keys are fractions from 0 up to 1, or, with ``modulus``, whole numbers from 0 up to it (256, 2**32). A record keeps
    its key in all tables and all periods. ``zeros`` is whether records count whose value is zero: without them a table
    of turnover does not tell who reported a zero.

    >>> RecordKey("rkey").units, RecordKey("rkey", modulus=256).units
    (1000000000000000, 256)
    """

    column: str
    modulus: int | None = None
    zeros: bool = True

    def __post_init__(self) -> None:
        if self.modulus is not None and not 2 <= self.modulus <= MOST_KEYS:
            raise BadOption(f"record keys modulo {self.modulus}", hint="2 up to 2**53; leave it out for fractions.")

    @classmethod
    def of(cls, given: str | RecordKey | None) -> RecordKey | None:
        """A column name means fractions."""
        return cls(given) if isinstance(given, str) else given

    @property
    def units(self) -> int:
        """How many different keys there are."""
        return self.modulus or FRACTION


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One pass over the microdata: classifications, responses, and the roles of further columns."""

    by: Mapping[str, Hierarchy]
    values: tuple[str, ...]
    largest: int = 0
    weight: str | None = None
    holding: str | None = None
    waiver: Flag | None = None
    request: Flag | None = None
    public: Flag | None = None
    asked: tuple[Flag, ...] = ()
    """Who asked for protection, one flag for each kind of request."""
    key: RecordKey | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes per classification."""
        return tuple(len(h) for h in self.by.values())

    @property
    def cells(self) -> int:
        """Number of cells, sums included."""
        return prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance in the flat table between neighbouring codes of each classification."""
        return tuple(prod(self.shape[i + 1 :]) for i in range(len(self.shape)))

    @property
    def selective(self) -> bool:
        """Whether only some contributors need protection."""
        return self.waiver is not None or self.request is not None

    @property
    def keys(self) -> int:
        """How many cell keys there are: one, or one per response where zeros do not count."""
        if self.key is None:
            return 0
        return 1 if self.key.zeros else max(1, len(self.values))

    def leaves(self, name: str) -> tuple[list[str], Ints]:
        """Finest codes of a classification and where they stand on its axis."""
        hierarchy = self.by[name]
        positions = np.flatnonzero(hierarchy.is_leaf)
        return [hierarchy.codes[i] for i in positions], positions

    def columns(self) -> list[str]:
        """Every column the pass reads."""
        flags = [f.column for f in (self.waiver, self.request, self.public, *self.asked[:1]) if f is not None]
        keys = [self.key.column] if self.key is not None else []
        others = [c for c in (self.weight, self.holding) if c is not None]
        return [*self.by, *self.values, *others, *flags, *keys]


@dataclass(frozen=True, kw_only=True)
class Units:
    """Decimals in which one response is counted: contributions, and sums (finer where weights have decimals)."""

    contribution: int
    total: int
    exact: bool
    negative: bool
