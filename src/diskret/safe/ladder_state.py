"""Where the default search stands: everything a run needs to go on exactly as if it had not been interrupted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt


@dataclass
class LadderState:
    """Stage, random numbers used, frequencies, and the best file so far."""

    seed: int
    x: npt.NDArray[np.int32]
    best: npt.NDArray[np.int32]
    stage: str = "anneal"
    round: int = 0
    """Rounds of groups so far; with the seed it fixes all random numbers to come."""
    rounds: int = 0
    groups: int = 0
    sweep: int = 0
    rung: tuple[int, ...] = ()
    reached: tuple[int, ...] = ()
    failed: tuple[tuple[int, ...], ...] = ()
    spent: int = 0
    climbed: int = 0
    least: int = -1
    weight: npt.NDArray[np.float32] | None = None

    def copy(self) -> LadderState:
        """The same with arrays of its own."""
        weight = None if self.weight is None else self.weight.copy()
        return replace(self, x=self.x.copy(), best=self.best.copy(), weight=weight)
