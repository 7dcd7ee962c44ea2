"""What the noise of magnitudes may be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.cellkey._key_kernels import Shares
from diskret.model.errors import BadOption


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """How far the noise of a magnitude reaches: shares of the largest contributions, times a deviation of the p-table.

    A contribution x of up to ``flex_point`` is changed by ``small`` x, a very large one by ``large`` x, with a smooth
    passage of steepness ``q`` between; without a flex point always by ``small`` x. ``weights`` take the second, third
    ... largest contribution less and less. ``extra`` is added to the size of the first deviation in primary cells.
    ``separation`` is the value below which cells are treated like counts, by a table of their own; None puts it where
    both kinds of noise are equally large.
    """

    small: float = 0.3
    large: float = 0.03
    flex_point: float | None = None
    q: float = 3.0
    weights: tuple[float, ...] = (1.0, 0.5, 0.2)
    extra: float = 0.0
    separation: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.large <= self.small <= 1:
            raise BadOption("shares of the scaling", hint="0 < large <= small <= 1.")
        if self.flex_point is not None and self.flex_point <= 0:
            raise BadOption("the flex point must be positive", hint="leave it out for one share everywhere.")
        if not self.weights or self.weights[0] != 1 or list(self.weights) != sorted(self.weights, reverse=True):
            raise BadOption("weights of the scaling", hint="descending from 1, such as (1, 0.5, 0.2).")
        if min(self.weights) <= 0 or self.q < 1 or self.extra < 0:
            raise BadOption("parameters of the scaling", hint="weights over 0, q at least 1, extra at least 0.")

    def shares(self, separation: float = -1.0) -> Shares:
        """As the kernels take them."""
        point = self.flex_point or np.inf
        return Shares(self.small, self.large, point, self.q, np.array(self.weights), self.extra, separation)
