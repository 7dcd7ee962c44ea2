"""What could be given rounded where nothing can be given exactly: every rounded value says between which ends one lies.

A rounded value is an interval that everybody knows. Cells that are sensitive by themselves are not given, not even
rounded. The others are rounded to ever smaller powers of ten, as long as the attack on all tables finds nothing
exposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.table import Table
from diskret.requests.beside import Beside, House, beside_released, of_values
from diskret.requests.shown import Shown
from diskret.requests.unions import takes_several

FINEST = 10.0
"""The smallest multiple that is tried."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Rounded:
    """A table that may be given rounded."""

    base: float
    """The multiple its values are rounded to."""
    hidden: Bools
    """Cells that are not given (flat)."""
    shown: Shown
    """What will be known of it."""


def rounded_beside(
    released: Sequence[Shown], found: Beside, contributions: Floats, house: House, *, frequency: bool
) -> Rounded | None:
    """The table with its values rounded as little as is safe beside everything released; None if that is nowhere.

    Where several firms together may break a rule of the house nothing is rounded: groups of firms are looked for in
    exact sums only.

    >>> from diskret import rules
    >>> from diskret.requests import Query, Records
    >>> from diskret.requests.shown import shown_by
    >>> firms = {"region": list("AAAABBBBC"), "x": [500, 600, 700, 800, 500, 600, 700, 800, 90]}
    >>> records, house = Records.of(firms, ["region"], ["x"]), House(rules=rules.MinCount(3) | rules.PPercent(10))
    >>> total = shown_by(records, Query(value="x"))
    >>> rest = beside_released([total], shown_by(records, Query(value="x", without={"region": ("C",)})),
    ...                        records.value("x"), house)
    >>> rounded_beside([total], rest, records.value("x"), house, frequency=False).base
    100.0
    """
    if not frequency and any(takes_several(rule) for rule in of_values(house.rules)):
        return None
    kept = (found.count > 0) & ~found.sensitive
    most = float(np.abs(found.value[kept]).max(initial=0.0))
    if most < FINEST:
        return None
    best = None
    # the coarsest one first: where not even that is safe, nothing is
    base = 10.0 ** int(np.log10(most) + 1e-12)
    while base >= FINEST:
        tried = _bounded(found, kept, base)
        if not beside_released([*released, tried], _nothing(tried), contributions, house, frequency=frequency).safe:
            break
        best = Rounded(base=base, hidden=~kept & (found.count > 0), shown=tried)
        base /= 10
    return best


def _bounded(found: Beside, kept: Bools, base: float) -> Shown:
    """What rounding to a multiple tells of a table."""
    shape = found.table.shape
    near = nearest(found.value, base)
    lower = np.where(kept, near - base / 2, -np.inf).reshape(shape)
    upper = np.where(kept, near + base / 2, np.inf).reshape(shape)
    return replace(found.table, open=np.zeros(shape, dtype=np.bool_), bounds=(lower, upper))


def nearest(value: Floats, base: float) -> Floats:
    """Values as multiples of a base."""
    result: Floats = np.rint(value / base) * base + 0.0
    return result


def _nothing(like: Shown) -> Shown:
    """A table that counts nobody: what is attacked is what is out."""
    return Shown(axes=(), counted=np.zeros_like(like.counted), open=np.ones((), dtype=np.bool_))


def rounded_table(table: Table, base: float) -> Table:
    """The table for whoever asked: rounded values in the place of true ones, sealed."""
    value = np.where(table.hidden, 0.0, nearest(table.value.reshape(-1), base).reshape(table.shape))
    return replace(table, value=value, respondents=None, decimals=0, altered="rounded", seal="").sealed()
