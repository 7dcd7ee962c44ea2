"""Who stands behind the cells: how many contributors, the largest of them, and which of them matter to the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diskret.model.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Contributors:
    """Arrays over the cells of a table, on one level of counting (respondents, or holdings).

    Contributions are taken by their absolute size. In a weighted sample ``largest`` counts population units: a
    respondent with weight 2.4 stands for 2.4 units of its own size.
    """

    count: Ints
    """Number of contributors, never weighted."""
    largest: Floats | None = None
    """The n largest contributions of each cell, descending, along one further axis."""
    absolute: Floats | None = None
    """Sum of the absolute contributions; None where it equals the value."""
    protected_count: Ints | None = None
    """Contributors who need protection (who asked for it, or gave no waiver); None means all."""
    protected_largest: Floats | None = None
    """Largest contribution among those who need protection."""
    public_count: Ints | None = None
    """Contributors who publish their value themselves and therefore shield nobody."""
    public_value: Floats | None = None
    """Sum of the absolute contributions of those; with it ``largest`` ranks only the others."""

    @property
    def ranked(self) -> int:
        """How many largest contributions are known per cell."""
        return 0 if self.largest is None else int(self.largest.shape[-1])

    def at(self, cell: tuple[int, ...]) -> dict[str, Any]:
        """Everything known about one cell, as plain numbers.

        >>> import numpy as np
        >>> Contributors(np.array([3])).at((0,))
        {'count': 3}
        """
        arrays = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: a[cell].tolist() for name, a in arrays.items() if a is not None}
