"""Who stands behind the cells: how many contributors, the largest of them, and which of them matter to the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.grid import difference


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
    owner: Ints | None = None
    """Who contributes most to each cell, public contributors left out: numbers that only compare, equal ones mean the
    same owner of this table. -1 where there is nobody, or it is not known."""
    asked: Floats | None = None
    """Largest contribution among those who asked for protection, for each kind of request along one further axis."""
    weight: Floats | None = None
    """Sum of the sampling weights, where somebody asked for it."""
    shadow_largest: Floats | None = None
    """The largest contributions to a shadow variable, which the rules judge instead of those to the value."""
    shadow_absolute: Floats | None = None
    """Sum of the absolute contributions to the shadow variable; None where there is none."""
    shadow_total: Floats | None = None
    """Sum of the contributions to the shadow variable; None where none of them is negative."""

    @property
    def ranked(self) -> int:
        """How many largest contributions are known per cell."""
        return 0 if self.largest is None else int(self.largest.shape[-1])

    @property
    def judged(self) -> Contributors:
        """The contributors as the rules see them: by what they contribute to the shadow variable, if there is one."""
        if self.shadow_absolute is None:
            return self
        return replace(self, largest=self.shadow_largest, absolute=self.shadow_absolute)

    def signed(self, value: Floats) -> Contributors:
        """The contributors with what they contribute in total in the place of the sum of its sizes.

        >>> Contributors(np.array([2]), absolute=np.array([9.0])).signed(np.array([1.0])).absolute.tolist()
        [1.0]
        """
        if self.shadow_absolute is None:
            return replace(self, absolute=value)
        return self if self.shadow_total is None else replace(self, shadow_absolute=self.shadow_total)

    @property
    def others(self) -> Ints:
        """Number of contributors who do not publish their value.

        >>> Contributors(np.array([3, 2]), public_count=np.array([1, 2])).others.tolist()
        [2, 0]
        """
        return self.count if self.public_count is None else np.maximum(self.count - self.public_count, 0)

    @property
    def all_public(self) -> Bools:
        """Cells that everybody can add up from what their contributors publish; an empty cell is none."""
        result: Bools = (self.count > 0) & (self.others == 0)
        return result

    def each(self, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Contributors:
        """The same with every array changed, such as taken apart or put into another shape."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        changed: dict[str, Any] = {name: None if a is None else change(a) for name, a in arrays.items()}
        return Contributors(**changed)

    def at(self, cell: tuple[int, ...]) -> dict[str, Any]:
        """Everything known about one cell, as plain numbers.

        >>> Contributors(np.array([3])).at((0,))
        {'count': 3}
        """
        arrays = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: a[cell].tolist() for name, a in arrays.items() if a is not None}


def few_numbers(owner: Ints) -> Ints:
    """Numbers of owners, counted anew if they are far larger than there are cells; they only compare.

    >>> few_numbers(np.array([10**15, -1, 7, 10**15])).tolist(), few_numbers(np.array([3, -1])).tolist()
    ([2, -1, 1, 2], [3, -1])
    """
    flat = owner.reshape(-1)
    if flat.max(initial=-1) < 8 * flat.size:
        return flat
    known, place = np.unique(flat, return_inverse=True)
    return np.where(known[place] >= 0, place, -1)


def least_count(size: Floats, largest: Floats) -> Ints:
    """The fewest contributors there can be: those among the largest, and one more where these do not make up the cell.

    >>> least_count(np.array([5.0, 7.0, 9.0, 0.0]), np.array([[5.0, 0.0], [4.0, 3.0], [4.0, 3.0], [0.0, 0.0]])).tolist()
    [1, 2, 3, 0]
    """
    rest = size
    for k in range(largest.shape[-1]):
        rest = difference(rest, largest[..., k])
    result: Ints = (largest > 0).sum(axis=-1) + (rest > 0)
    return result
