"""What many moves settle, and where all demands stand, as arrays: nothing here looks at single demands in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.moves import _cover_kernels


class Settled(Mapping[int, frozenset[int]]):
    """What one of many moves settles: demands, and where the objectors of each begin and end among all of them."""

    __slots__ = ("_found", "demands", "ends", "who")

    def __init__(self, demands: Ints, ends: Ints, who: Ints) -> None:
        self.demands, self.ends, self.who = demands, ends, who
        self._found: dict[int, frozenset[int]] | None = None

    def __getitem__(self, demand: int) -> frozenset[int]:
        if self._found is None:  # whoever asks for one asks for others
            ends = (self.ends - self.ends[0]).tolist()
            who = self.who[self.ends[0] : self.ends[-1]].tolist()
            parts = (frozenset(who[a:b]) for a, b in pairwise(ends))
            self._found = dict(zip(self.demands.tolist(), parts, strict=True))
        return self._found[demand]

    def __iter__(self) -> Iterator[int]:
        return iter(self.demands.tolist())

    def __len__(self) -> int:
        return int(self.demands.size)


class Rows(NamedTuple):
    """What moves settle, a row for every move and demand."""

    ends: Ints
    """Where the rows of each move end."""
    doubtful: Bools
    """Moves with a tie, about which only whole numbers can tell: their rows do not count."""
    demands: Ints
    last: Ints
    """Where the objectors of each row end."""
    who: Ints

    @classmethod
    def of(cls, settles: Iterable[Mapping[int, frozenset[int]]]) -> Rows:
        """From what single moves settle."""
        parts = [_as_arrays(each) for each in settles]
        nothing = np.empty(0, np.int32)
        return cls(
            np.cumsum([demands.size for demands, _, _ in parts], dtype=np.int64),
            np.zeros(len(parts), dtype=np.bool_),
            np.concatenate([nothing, *(demands for demands, _, _ in parts)]),
            np.cumsum(np.concatenate([np.empty(0, np.int64), *(numbers for _, numbers, _ in parts)])),
            np.concatenate([nothing, *(who for _, _, who in parts)]),
        )

    def some(self, kept: Bools) -> Iterator[Settled | None]:
        """What each of some moves settles, None for doubtful ones; nothing of the others stays in memory."""
        rows, numbers = np.diff(self.ends, prepend=0), np.diff(self.last, prepend=0)
        chosen = np.repeat(kept, rows)
        demands, who = self.demands[chosen], self.who[np.repeat(chosen, numbers)]
        ends = np.append(0, np.cumsum(numbers[chosen]))
        last = np.cumsum(rows[kept]).tolist()
        for begin, end, doubtful in zip([0, *last], last, self.doubtful[kept].tolist(), strict=False):
            yield None if doubtful else Settled(demands[begin:end], ends[begin : end + 1], who)


def _as_arrays(settles: Mapping[int, frozenset[int]]) -> tuple[Ints, Ints, Ints]:
    """Demands, how many object to each, and all of these."""
    if isinstance(settles, Settled):
        ends = settles.ends
        return settles.demands, np.diff(ends), settles.who[ends[0] : ends[-1]]
    numbers = np.array([len(each) for each in settles.values()], dtype=np.int64)
    who = [person for each in settles.values() for person in each]
    return np.array(list(settles), dtype=np.int32), numbers, np.array(who, dtype=np.int32)


class Standing(NamedTuple):
    """Where all demands stand."""

    settled: Bools
    """Which are settled, if only against the public."""
    entirely: Bools
    """Which are settled against everybody."""


class Ledger:
    """Who is left that can object, for every demand, after all moves that were noted down."""

    def __init__(self, demands: int, insiders: int) -> None:
        self._left = np.stack([np.zeros(demands, np.int64), np.full(demands, -1, np.int64)], axis=1)
        self._pool, self._used = np.empty(1024, np.int32), 0
        self._heard = np.zeros(insiders + 1, dtype=np.int64)

    @property
    def standing(self) -> Standing:
        """Where all demands stand."""
        number = self._left[:, 1]
        return Standing(number >= 0, number == 0)

    def left(self, demand: int) -> list[int]:
        """Who can object to all moves of a demand; nobody if it has none."""
        first, number = self._left[demand].tolist()
        return sorted(set(self._pool[first : first + max(number, 0)].tolist()))

    def note(self, rows: Rows, own: Ints | None = None) -> Bools:
        """Which moves are worth keeping, one after the other; these are noted down, except for doubtful ones.

        If every move was made for a demand of its ``own``, it is worth keeping while that one is not settled entirely.
        """
        asked = np.full(rows.ends.size, -1, dtype=np.int64) if own is None else own
        state = self._left, self._pool, self._used, self._heard
        kept, self._pool, self._used = _cover_kernels.sift(asked, *rows, *state)
        found: Bools = kept
        return found
