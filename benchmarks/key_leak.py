"""How much an attacker gains who uses that the keys of two parts add up to the key of their sum.

Lines of two parts, true counts geometric with mean 3, the attacker knows the distribution and the perturbation table.
He guesses the first part from its published count alone, from the line (true counts add up), and from the line with
keys: a guess at both parts says in which intervals their keys lie, and so how probable the noise of the sum is.
"""

from __future__ import annotations

import numpy as np

import diskret as dk

GRID = 512
SHARE = 0.25
Floats = np.ndarray


class Cover:
    """For a count and a deviation the keys that give it, as shares of the cells of a grid."""

    def __init__(self, p_table: dk.PTable) -> None:
        self.rows = p_table.rows()
        self.last = self.rows.cell.size - 1
        self.reach = int(p_table.most)
        self.known: dict[tuple[int, int], Floats] = {}

    def of(self, count: int, v: int) -> Floats:
        """Shares of the cells of the grid; all zero where the deviation does not occur."""
        place = (min(count, self.last), v)
        if place not in self.known:
            first, end = self.rows.start[place[0]], self.rows.start[place[0] + 1]
            at = np.flatnonzero(self.rows.deviation[first:end] == v)
            low = high = 0.0
            if at.size:
                e = int(at[0]) + first
                low, high = (self.rows.upper[e - 1] if e > first else 0.0), self.rows.upper[e]
            edges = np.arange(GRID + 1) / GRID
            self.known[place] = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0, None) * GRID
        return self.known[place]

    def published(self, count: int, key: float) -> int:
        """What a count with a key is published as."""
        first, end = self.rows.start[min(count, self.last)], self.rows.start[min(count, self.last) + 1]
        e = first + int(np.searchsorted(self.rows.upper[first:end], key, side="right"))
        return count + int(self.rows.deviation[min(e, end - 1)])


def guessed(p_table: dk.PTable, lines: int = 1500, seed: int = 1) -> tuple[float, float, float]:
    """Shares guessed right: from the cell, from the line, from the line with keys."""
    cover, dice = Cover(p_table), np.random.default_rng(seed)
    true = np.minimum(dice.geometric(SHARE, (lines, 2)) - 1, 30)
    key = np.where(true > 0, dice.random((lines, 2)), 0.0)
    right = np.zeros(3)
    for counts, keys in zip(true.tolist(), key.tolist(), strict=True):
        shown = [cover.published(c, k) for c, k in zip(counts, keys, strict=True)]
        whole = cover.published(sum(counts), sum(keys) % 1)
        right += [best == counts[0] for best in _best(cover, shown[0], shown[1], whole)]
    alone, line, with_keys = (right / lines).tolist()
    return alone, line, with_keys


def _best(cover: Cover, one: int, other: int, whole: int) -> list[int]:
    """The most probable first part in each of the three ways."""
    weights: list[dict[int, float]] = [{}, {}, {}]
    for a in range(max(0, one - cover.reach), one + cover.reach + 1):
        for b in range(max(0, other - cover.reach), other + cover.reach + 1):
            keys_a, keys_b, keys_sum = cover.of(a, one - a), cover.of(b, other - b), cover.of(a + b, whole - a - b)
            p = (1 - SHARE) ** (a + b) * keys_a.mean() * keys_b.mean()
            if p <= 0:
                continue
            added = np.fft.irfft(np.fft.rfft(_spread(a, keys_a)) * np.fft.rfft(_spread(b, keys_b)), GRID) / GRID
            for way, weight in enumerate((p, p * keys_sum.mean(), p * float((added * keys_sum).mean()))):
                weights[way][a] = weights[way].get(a, 0.0) + weight
    return [max(found, key=lambda a: found[a]) for found in weights]


def _spread(count: int, keys: Floats) -> Floats:
    """The density of a part's key; an empty part has the key 0."""
    if count == 0:
        nothing = np.zeros(GRID)
        nothing[0] = GRID
        return nothing
    return np.asarray(keys / keys.mean())


def leak() -> str:
    """Two usual designs."""
    parts = []
    for design in ({"deviation": 5, "variance": 2, "smallest": 3}, {"deviation": 2, "variance": 0.5}):
        alone, line, with_keys = guessed(dk.design_p_table(**design))
        said = f"{100 * alone:.0f} % from the cell, {100 * line:.0f} % from the line, {100 * with_keys:.0f} % with keys"
        parts.append(f"deviation {design['deviation']}, variance {design['variance']}: {said}")
    return "; ".join(parts)
