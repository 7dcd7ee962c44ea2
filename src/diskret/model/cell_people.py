"""Who stands behind the cells of a list: counts, largest contributions and owners, with missing sums filled in."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Floats, Ints
from diskret.model.cell_columns import Frame
from diskret.model.contributors import Contributors, least_count
from diskret.model.errors import NegativeValue, ProtectionWarning, listed
from diskret.model.exact import EXACT_LIMIT


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """What a list says about contributors."""

    known: Contributors | None = None
    additive: bool = True
    """Whether the counts add up."""
    counted: bool = True
    """Whether there are counts."""

    def behind(self, value: Floats, shadow: Floats | None = None) -> Contributors | None:
        """Who stands behind the cells of one value; without counts as many as the largest contributions allow.

        With a ``shadow`` variable the largest contributions are contributions to it.
        """
        known, seen = self.known, value if shadow is None else shadow
        if known is None or known.largest is None:
            return known
        if not self.counted:
            # whoever stands behind a value need not contribute to the shadow
            count = np.maximum(least_count(np.abs(seen), known.largest), value != 0)
            known = replace(known, count=count)
        if shadow is None:
            return known
        return replace(
            known, largest=None, shadow_largest=known.largest, shadow_absolute=np.abs(shadow),
            shadow_total=shadow if (shadow < 0).any() else None,
        )  # fmt: skip


def people_of(frame: Frame) -> People:
    """Counts, largest contributions and owners with missing sums filled in."""
    given = frame.given
    if given.count is None and not given.largest:
        return People()
    counts, additive = _counts(frame)
    largest = _largest(frame)
    owner = _owners(frame)
    if owner is not None and largest is not None:
        # whoever contributes most to a sum that is not given does so in one of its finest cells
        passed_on = np.where(frame.inner, owner, -1)
        rollup.pass_owner_on(passed_on, largest, frame.hierarchies)
        owner = np.where(frame.present, owner, passed_on)
    owner = None if owner is None else np.where(counts > 0, owner, -1)
    known = Contributors(counts, largest, owner=owner)
    return People(known=known, additive=additive, counted=given.count is not None)


def _counts(frame: Frame) -> tuple[Ints, bool]:
    """Numbers of contributors, and whether they add up."""
    name = frame.given.count
    if name is None:
        return np.zeros(frame.shape, dtype=np.int64), True
    raw = frame.column(name)
    odd = (raw < 0) | (raw != np.rint(raw)) | (raw > EXACT_LIMIT)
    if odd.any():
        bad = frame.spread(odd.astype(np.float64)) > 0
        raise NegativeValue(
            f"column {name!r} holds counts that are negative, impossibly large or not whole numbers",
            where=f"{frame.where}: {listed(frame.name(bad))}",
            hint="count contributors, unweighted, in whole numbers.",
            rows=frame.rows(bad),
        )
    counts = frame.spread(raw).astype(np.int64)
    computed = np.where(frame.inner, counts, 0)
    rollup.add_up(computed, frame.hierarchies)
    additive = not ((counts != computed) & frame.present).any()
    return np.where(frame.present, counts, computed), additive


def _largest(frame: Frame) -> Floats | None:
    """Lists of largest contributions, descending; sums that are not given, or without any, get those of their parts."""
    if not frame.given.largest:
        return None
    stacked = np.stack([frame.spread(np.abs(frame.column(c))) for c in frame.given.largest], axis=-1)
    given_lists = -np.sort(-stacked, axis=-1)
    # From the finest cells only: a given sum merged along one axis would come in again along the other.
    largest = np.where(frame.inner[..., None], given_lists, 0.0)
    rollup.merge_largest(largest, frame.hierarchies)
    return np.where((given_lists[..., 0] > 0)[..., None], given_lists, largest)


def _owners(frame: Frame) -> Ints | None:
    """Who contributes most to each cell, by numbers in the order of the cells that do not tell the names; blank: -1."""
    if frame.given.owner is None:
        return None
    data, position = frame.data, frame.position
    names = data.arrays(f"SELECT coalesce({data.code(frame.given.owner)}, '') AS o FROM {data.view}")["o"]
    owner = np.full(frame.shape, -1, dtype=np.int64)
    order = np.argsort(position)
    distinct, first, number = np.unique(names[order], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    place[distinct == ""] = -1
    owner.reshape(-1)[position[order]] = place[number.reshape(-1)]
    return owner


def warn_of_unranked(frame: Frame, people: Contributors | None, name: str, value: Floats) -> None:
    """Name the cells of which no contribution is known: rules about concentration see nobody there."""
    judged = None if people is None else people.judged.largest
    if judged is None:
        return
    nobody = frame.inner & (value != 0) & (judged[..., 0] == 0)
    if nobody.any():
        warnings.warn(
            f"{int(nobody.sum())} cells of {name!r} have a value and no largest contribution, so that rules about "
            f"concentration consider them safe: {listed(frame.name(nobody))}",
            ProtectionWarning,
            stacklevel=4,
        )
