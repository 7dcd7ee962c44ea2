"""Several responses over the same cells: one leads and passes its pattern on, or they are protected jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats
from diskret.model.contributors import Contributors, few_numbers
from diskret.model.errors import BadOption, SharedCellsDiffer, WrongSum, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import suppress

LEVELS = {"below": 0.0, "above": 0.0, "lower": -np.inf, "upper": np.inf, "weight": 1.0}
"""What a table may say about every cell, and what it means where a table says nothing."""
SHOWN = (Status.NEVER, Status.PUBLISHED)


def follow(leading: Table, others: Mapping[str, Table], **options: Any) -> dict[str, Suppression]:
    """Hide in every other response what the leading one hides, and further cells only where that is not enough.

    ``leading`` is a protected table or pool, ``others`` stand on the same cells. A cell that is primary for another
    response stays so; to have one pattern for all, mark it in the leading table as well (see `leading_of`). Options are
    those of `suppress`.

    >>> cells = {"s": ["a", "b", "c", "d"], "x": [10, 20, 70, 5], "y": [1, 2, 9, 4], "st": ["primary", *["open"] * 3]}
    >>> tables = Table.from_cells(cells, by={"s": None}, value=["x", "y"], status="st")
    >>> leading = suppress(tables["x"]).table
    >>> follow(leading, {"y": tables["y"]})["y"].table.status.tolist() == leading.status.tolist()
    True
    """
    result = {}
    for name, table in others.items():
        done = suppress(inherited(leading, name, table), **options)
        result[name] = replace(done, before=table)
    return result


def inherited(leading: Table, name: str, table: Table) -> Table:
    """Another response with the pattern of the leading one."""
    _refuse_other_cells(leading, name, table)
    wrong = leading.hidden & np.isin(table.status, SHOWN)
    if wrong.any():
        raise SharedCellsDiffer(
            f"{int(wrong.sum())} cells that {leading.response!r} hides must stay open in {name!r}",
            where=listed(table.name_cells(wrong)),
            hint="a pattern is passed on as a whole: open these cells in the leading one, or let them be hidden.",
        )
    fresh = leading.hidden & (table.status != Status.PRIMARY)
    return replace(table, status=np.where(fresh, np.uint8(Status.SECONDARY), table.status))


def leading_of(leading: Table, others: Mapping[str, Table]) -> Table:
    """The leading table with every cell primary that is primary for any response.

    >>> cells = {"s": ["a", "b"], "x": [10, 20], "st": ["open", "primary"]}
    >>> one = Table.from_cells(cells, by={"s": None}, value="x")
    >>> leading_of(one, {"y": Table.from_cells(cells, by={"s": None}, value="x", status="st")}).status.tolist()
    [0, 1, 0]
    """
    status = leading.status
    for name, table in others.items():
        _refuse_other_cells(leading, name, table)
        status = np.where(table.status == Status.PRIMARY, np.uint8(Status.PRIMARY), status)
    return replace(leading, status=status)


def _refuse_other_cells(leading: Table, name: str, table: Table) -> None:
    if not leading.same_cells(table):
        raise BadOption(
            f"{name!r} is not about the same cells as the leading response {leading.response!r}",
            hint="a pattern can be passed on only between tables (or pools) over the same classifications.",
        )


def jointly(parts: Mapping[str, Table], whole: Table, *, name: str = "response") -> Table:
    """Responses that add up to another one as a single table: the response is one more classification.

    So the equation between them (wages and other costs are costs) is seen by audit and suppression; `apart` gives the
    single responses back.

    >>> cells = {"s": ["a", "b"], "wages": [1, 2], "other": [3, 5], "costs": [4, 7]}
    >>> tables = Table.from_cells(cells, by={"s": None}, value=["wages", "other", "costs"])
    >>> joint = jointly({"wages": tables["wages"], "other": tables["other"]}, tables["costs"])
    >>> joint.names, joint.shape, list(apart(joint))
    (('s', 'response'), (3, 3), ['wages', 'other', 'costs'])
    """
    whole.refuse_sparse("a joint table")
    _refuse_apart(parts, whole, name)
    tables = [*parts.values(), whole]
    decimals = [t.decimals for t in tables if t.decimals is not None]
    levels: dict[str, Any] = {f: _stacked([getattr(t, f) for t in tables], nothing) for f, nothing in LEVELS.items()}
    return Table(
        {**whole.by, name: Hierarchy.flat(parts, total=whole.response)},
        "value",
        np.stack([t.value for t in tables], axis=-1),
        np.stack([t.status for t in tables], axis=-1),
        _people([t.respondents for t in tables], tables),
        _people([t.holdings for t in tables], tables),
        decimals=max(decimals) if len(decimals) == len(tables) else None,
        positive=all(t.positive for t in tables),
        weighted=any(t.weighted for t in tables),
        # whoever reports several responses is counted in each
        additive_counts=False,
        counted=all(t.counted for t in tables),
        **levels,
    )


def _refuse_apart(parts: Mapping[str, Table], whole: Table, name: str) -> None:
    """Refuse responses that do not make up one table."""
    for part, table in parts.items():
        _refuse_other_cells(whole, part, table)
    if not whole.by or name in whole.by or len({whole.response, *parts}) <= len(parts):
        raise BadOption(
            f"responses {listed([*parts, whole.response])} along {name!r} cannot stand in one table",
            hint="single tables, different responses, and a name no classification has.",
        )
    off = np.abs(sum(t.value for t in parts.values()) - whole.value) > ROUNDING * np.maximum(1.0, np.abs(whole.value))
    if off.any():
        raise WrongSum(
            f"{listed(parts)} do not add up to {whole.response!r} in {int(off.sum())} cells",
            where=listed(whole.name_cells(off)),
            hint="give all responses that are added, and no other.",
        )


def apart(joint: Table) -> dict[str, Table]:
    """The single responses of a table made by `jointly`, each with its own pattern."""
    *others, name = joint.by
    result = {}
    for at, code in enumerate(joint.by[name].codes):
        people = {
            level: known.each(lambda array, at=at: array[..., at])
            for level in ("respondents", "holdings")
            if (known := getattr(joint, level)) is not None
        }
        levels: dict[str, Any] = {f: None if getattr(joint, f) is None else getattr(joint, f)[..., at] for f in LEVELS}
        one = replace(
            joint, by={n: joint.by[n] for n in others}, response=code, value=joint.value[..., at],
            status=joint.status[..., at], creator=None, additive_counts=True, **people, **levels,
        )  # fmt: skip
        # protected together, each may leave
        result[code] = one.sealed() if joint.seal_holds else one
    return result


def _people(levels: Sequence[Contributors | None], tables: Sequence[Table]) -> Contributors | None:
    """Contributors of several responses along one more axis: how many, what is public, and who is behind it.

    Numbers of owners compare within a response; that somebody alone is the same in all of them the counts say.
    """
    known = [people for people in levels if people is not None]
    if len(known) < len(levels):
        return None
    zero = np.zeros(known[0].count.shape)

    def stacked(arrays: Sequence[npt.NDArray[Any] | None], otherwise: Sequence[npt.NDArray[Any]]) -> Any:
        if all(a is None for a in arrays):
            return None
        return np.stack([b if a is None else a for a, b in zip(arrays, otherwise, strict=True)], axis=-1)

    nobody = [zero.astype(np.int64)] * len(known)
    owners, end = [], 0
    for people in known:
        owner = None if people.owner is None else few_numbers(people.owner).reshape(people.owner.shape)
        owners.append(None if owner is None else np.where(owner < 0, -1, owner + end))
        end += 0 if owner is None else int(owner.max(initial=-1)) + 1
    return Contributors(
        count=np.stack([p.count for p in known], axis=-1),
        absolute=stacked([p.absolute for p in known], [np.abs(t.value) for t in tables]),
        public_count=stacked([p.public_count for p in known], nobody),
        public_value=stacked([p.public_value for p in known], [zero] * len(known)),
        owner=stacked(owners, [each - 1 for each in nobody]),
    )


def _stacked(arrays: Sequence[Floats | None], nothing: float) -> Floats | None:
    """Arrays of several responses along one more axis; None where no response has one."""
    shapes = [a.shape for a in arrays if a is not None]
    if not shapes:
        return None
    return np.stack([np.full(shapes[0], nothing) if a is None else a for a in arrays], axis=-1)
