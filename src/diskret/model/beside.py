"""What a table is protected beside: a memory of what was published, as protecting sees it.

Protecting knows no ledger. It asks whatever remembers for the cells in whose place the table stands: its own, those of
everything published that is connected with it, and what adds up among all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from diskret.model.arrays import Ints
from diskret.model.promise import Promise

if TYPE_CHECKING:
    from diskret.model.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Beside:
    """The cells to be protected in the place of a table."""

    cells: Table
    """Those of the table and all that is connected; what is published already cannot be hidden."""
    own: Ints
    """For every cell of the table the one behind it."""
    promise: Promise
    """What is promised of them: the same, with what everybody knows besides as intervals."""
    given: Promise
    """The promise as it was given."""
    notes: tuple[str, ...] = ()
    """What the memory could not look at, in words."""
    nearly: bool = False
    """Whether some of what adds up was left out, so that a search is sooner done."""


class Memory(Protocol):
    """Whatever remembers what was published, and knows what the table counts."""

    def beside(self, table: Table, promise: Promise, *, nearly: bool = False) -> Beside:
        """The cells to be protected in the place of a table, with all that adds up, or ``nearly`` all."""
        ...

    def told_of(self, table: Table, beside: Beside, report: Any) -> Any:
        """What an audit says of the table alone, without what is exposed by published tables in any case.

        A table that exposes more, or holds sensitive cells that are exposed, is refused.
        """
        ...

    def withheld(self, table: Table, promise: Promise) -> Table | None:
        """A table of ratios or rounded values without those that tell too much; None for tables of plain values."""
        ...
