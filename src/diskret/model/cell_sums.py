"""The sums of a list of cells: computed where they are missing, checked, replaced or kept where they are given."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Bools, Floats
from diskret.model.cell_columns import Frame
from diskret.model.cell_refusals import rounding_cures
from diskret.model.errors import NegativeValue, NotExact, NotFinite, ProtectionWarning, WrongSum, listed
from diskret.model.exact import (
    AMOUNTS,
    EXACT_LIMIT,
    beyond,
    decimals_of,
    from_units,
    most_units,
    short_decimals,
    to_units,
    zeros_of,
)
from diskret.model.gaps import NEGATIVE_ALLOWED


@dataclass(frozen=True, eq=False, kw_only=True)
class Summed:
    """The values of a list of cells with all sums true, their decimals, and all values as given where that differs."""

    value: Floats
    decimals: int | None
    given: Floats | None = None


def summed(frame: Frame, name: str, value: Floats) -> Summed:
    """Compute missing sums, check given ones: exactly for decimals, to 12 digits for other numbers."""
    _refuse_negative(frame, name, value)
    inner = frame.inner
    decimals = _exact_decimals(frame, name, value)
    if decimals is not None:
        units = to_units(np.where(inner, value, 0.0), decimals)
        rollup.add_up(units, frame.hierarchies)
        computed = from_units(units, decimals)
        off = to_units(value, decimals) != units
    else:
        computed = np.where(inner, value, 0.0)
        rollup.add_up(computed, frame.hierarchies)
        if float(np.abs(computed).max(initial=0.0)) >= EXACT_LIMIT:
            zeros = 10.0 ** zeros_of(value)
            computed = np.rint(computed / zeros) * zeros
        size = np.abs(np.where(inner, value, 0.0))
        rollup.add_up(size, frame.hierarchies)
        off = np.abs(value - computed) > 1e-12 * size
    if not np.isfinite(computed).all():
        raise NotFinite(f"sums of {name!r} are too large", where=frame.where, hint="use a larger unit.")
    wrong = off & frame.present & ~inner
    given = _settled(frame, name, value, computed, wrong) if wrong.any() else None
    return Summed(value=computed, decimals=decimals, given=given)


def _settled(frame: Frame, name: str, value: Floats, computed: Floats, wrong: Bools) -> Floats | None:
    """What becomes of sums that are not true: all values as given where they are kept, else None."""
    if frame.given.sums != "check":
        _refuse_lonely(frame, name, computed, wrong)
    if frame.given.sums == "keep":
        return _kept(frame, name, value, computed, wrong)
    what = "differed from their parts within the tolerance and were recomputed"
    if frame.given.sums == "compute":
        what = "are not the sums of their parts and are computed anew"
    elif (too_far := wrong & (np.abs(value - computed) > frame.given.tolerance * (1 + 1e-12))).any():
        _refuse_sums(frame, name, value, computed, too_far)
    told = f"{int(wrong.sum())} sums of {name!r} {what}: {listed(frame.name(wrong))}"
    warnings.warn(told, ProtectionWarning, stacklevel=5)
    return None


def _refuse_negative(frame: Frame, name: str, value: Floats) -> None:
    if frame.given.positive:
        negative = frame.present & (value < 0)
        if negative.any():
            number = int(negative.sum())
            raise NegativeValue(
                f"column {name!r} has {number} negative {'cell' if number == 1 else 'cells'} in a table declared "
                f"positive",
                where=f"{frame.where}: {listed(frame.name(negative))}",
                hint="declare positive = false, or correct the data.",
                cures=[NEGATIVE_ALLOWED],
                rows=frame.rows(negative),
            )


def _refuse_lonely(frame: Frame, name: str, computed: Floats, wrong: Bools) -> None:
    """Refuse sums of which no part is there: nothing can protect them, and computed anew they would be lost."""
    lonely = wrong & (computed == 0)
    if lonely.any():
        raise WrongSum(
            f"{int(lonely.sum())} sums of {name!r} have no parts in the list, or parts that add up to nothing",
            where=f"{frame.where}: {listed(frame.name(lonely))}",
            hint="give their parts, or a hierarchy that ends with them: what is protected is the sum of the parts.",
            rows=frame.rows(lonely),
        )


def _kept(frame: Frame, name: str, value: Floats, computed: Floats, wrong: Bools) -> Floats:
    """All values with the wrong sums as they are given."""
    warnings.warn(
        f"{int(wrong.sum())} sums of {name!r} are not the sums of their parts and are published as they are given: "
        f"{listed(frame.name(wrong))}; what is promised holds for the sums of the parts, and where a sum differs "
        "because a part is missing, the difference gives away its value",
        ProtectionWarning,
        stacklevel=6,
    )
    return np.where(wrong, value, computed)


def _exact_decimals(frame: Frame, name: str, value: Floats) -> int | None:
    """The decimals in which everything adds up exactly; None for measurements, decimals that do not are refused."""
    decimals = decimals_of(value)
    meant = short_decimals(value, AMOUNTS) if decimals is None else decimals
    finest = np.abs(np.where(frame.inner, value, 0.0))
    size = finest.copy()
    rollup.add_up(size, frame.hierarchies)
    most = float(size.max(initial=0.0))
    if meant is None or most * 10.0**meant < most_units(meant):
        return decimals
    if meant == 0 and most < most_units(1) * 10.0 ** zeros_of(value):
        return None  # whole numbers of millions or more, such as 12 * 10**15
    if meant <= AMOUNTS:
        if beyond(meant, float(finest.max(initial=0.0)), most):
            raise NotExact.sums(name, meant, most_units(meant) // 10**meant, frame.where)
        what = f"the sums of {name!r} are too large for its {meant} decimals and are not exact in the last ones"
        warnings.warn(what, ProtectionWarning, stacklevel=2)
    return None


def _refuse_sums(frame: Frame, name: str, value: Floats, computed: Floats, wrong: Bools) -> None:
    lines = []
    for at, cell in zip(np.argwhere(wrong)[:10], frame.name(wrong), strict=True):
        parts, given = computed[tuple(at)], value[tuple(at)]
        # The difference itself may be the value of a missing part: only its size relative to the sum is told.
        share = float(f"{100 * abs(parts - given) / max(abs(parts), abs(given)):.1g}")
        lines.append(f"{cell}: the parts add up to {'more' if parts > given else 'less'}, by about {share:g} %")
    number = int(wrong.sum())
    raise WrongSum(
        f"{number} sum of {name!r} does not equal its parts"
        if number == 1
        else f"{number} sums of {name!r} do not equal their parts",
        where=f"{frame.where}:\n    " + "\n    ".join(lines),
        hint="correct the cells, leave the sums out to have them computed, or allow rounding with tolerance=....",
        cures=rounding_cures(value, computed, wrong, frame.hierarchies),
        rows=frame.rows(wrong),
    )
