"""Rounding to multiples of a base: each cell on its own, at random without bias, or controlled so that sums hold."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Literal

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.exact import exact
from diskret.model.given import refuse_no_table
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation, cleared
from diskret.perturbation.controlled import controlled
from diskret.perturbation.leeway import NOTHING, Units, finest_cells
from diskret.perturbation.seeds import seeded

Method = Literal["controlled", "random", "deterministic"]


def round_table(
    table: Table, base: float, *, method: Method = "controlled", seed: int | None = None, keep_total: bool = False
) -> Perturbation:
    """Round every cell to a multiple of ``base``.

    "deterministic" rounds to the nearest multiple (halves away from zero), "random" up or down by chance so that the
    expected value is the true one; both treat every cell on its own, and sums no longer hold. "controlled" chooses for
    every cell one of the two multiples next to it so that all sums hold exactly: multiples of the base stay, zeros stay
    zero. A table of one or two classifications and small tables are solved exactly; where a large one of three or more
    finds no such rounding, finest cells are next to their value, all sums hold, and the sums that are a base or more
    away are named in a `ProtectionWarning` and in ``beyond``. A `Pool` is rounded as one.
    ``keep_total`` asks that the total of everything goes to its nearest multiple.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "n": [1, 4, 3, 2]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="n", frequency=True)
    >>> round_table(table, 5, seed=1).table.value.tolist()
    [[0.0, 5.0, 5.0], [5.0, 0.0, 5.0], [5.0, 5.0, 10.0]]
    """
    refuse_no_table(table, "rounding")
    if method not in ("controlled", "random", "deterministic"):
        raise BadOption(f"method {method!r}", hint="'controlled', 'random' or 'deterministic'.")
    if table.altered:
        raise BadOption("the values of the table have been changed already", hint="round the original table, once.")
    units, step = _base(table, base)
    value = _in_units(table, units)
    multiple = np.floor_divide(value, step)
    rest = value - multiple * step
    seed, rng = seeded(seed)
    beyond = NOTHING
    if method == "deterministic":
        up = 2 * rest > step
        up |= (2 * rest == step) & (value > 0)
    elif method == "random":
        up = rng.random(rest.size) * step < rest
    else:
        up, beyond = controlled(table, multiple, rest, step, rng, keep_total)
    rounded = (multiple + up) * step / units.scale
    if beyond.size:
        warnings.warn(
            f"{beyond.size} sums are a base or more away from their value: no rounding next to all values was found: "
            + listed([table.name_of(int(c)) for c in beyond[:10]]),
            ProtectionWarning,
            stacklevel=2,
        )
    changed = cleared(table, rounded.reshape(table.shape), None, "rounded")
    options = {"base": base, "rounding": method, "keep_total": keep_total}
    return Perturbation(
        table=changed, before=table, method=f"{method} rounding", seed=seed, options=options, beyond=beyond
    )


def _base(table: Table, base: float) -> tuple[Units, int]:
    """The base in units of the table."""
    if isinstance(base, bool) or not isinstance(base, Real) or not base > 0 or not np.isfinite(base):
        raise BadOption("the base of rounding is a positive number", hint="3, 5 and 10 are usual for counts.")
    units = Units.of(table)
    step = exact(base) * exact(units.scale) if units.decimals is not None else exact(round(base * units.scale))
    if step.denominator != 1 or step < 2:
        raise BadOption(
            f"the base {base:g} is not at least two units of the last decimal of the values",
            hint="a base that is a multiple of the last decimal, and more than one of it.",
        )
    return units, int(step)


def _in_units(table: Table, units: Units) -> Ints:
    """Values in units (flat); where values are not short decimals the sums are made of their parts in units."""
    value = units.whole(table.value.reshape(-1))
    if units.decimals is None:
        if not table.by:
            raise BadOption(
                f"the values of the {table.kind} are not short decimals", hint="round them to decimals first."
            )
        parts = np.where(finest_cells(table), value, 0).reshape(table.shape)
        rollup.add_up(parts, table.hierarchies)
        value = parts.reshape(-1)
    return value
