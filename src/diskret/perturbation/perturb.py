"""Value perturbation: primary values are moved by random errors along cuboids, and every sum stays true."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ChangeOutOfReach, ProtectionWarning, listed
from diskret.model.protection import Knowledge, Protection
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation, cleared
from diskret.perturbation.cuboids import move_cells
from diskret.perturbation.given_moves import move_along, moves_of
from diskret.perturbation.leeway import Units, leeway_of, nonnegative
from diskret.perturbation.options import CuboidOptions, with_older
from diskret.perturbation.seeds import seeded
from diskret.perturbation.taken_moves import NOTHING
from diskret.suppression.result import Suppression


def perturb(
    table: Table,
    options: CuboidOptions | None = None,
    *,
    seed: int | None = None,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    along: Suppression | None = None,
    **older: Any,
) -> Perturbation:
    """Change every primary value by a random error that keeps all sums of the table true.

    A primary cell is moved along a cuboid: with it goes one partner per classification (or none, then the sums above it
    change too), and one error is added to, or taken from, all cells of the cuboid. Whole numbers stay whole, positive
    values do not become negative, zeros stay zero, and cells that must be published or are published stay as they are.
    The change is at least what ``protection`` demands (left out: the levels of the primary rules, or any change).
    ``knowledge`` is what everybody knows beforehand; no changed value contradicts it. ``along`` takes the moves of a
    suppression instead of searching; for a `Pool` there is no other way. ``seed`` left out is drawn afresh. The
    `CuboidOptions` say how large errors are and against whom they are guarded; their names as keywords of their own
    (``older``) are deprecated.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [100, 80, 90, 1], "st": ["primary", *["open"] * 3]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")
    >>> perturb(table, seed=3).table.value.tolist()
    [[104.0, 76.0, 180.0], [86.0, 5.0, 91.0], [190.0, 81.0, 271.0]]
    """
    chosen = with_older(options, older)
    _refuse(table, chosen.min_count, along)
    seed, rng = seeded(seed)
    wanted = protection or Protection(levels=table.below is not None)
    known = knowledge or (Knowledge.positive() if nonnegative(table) else Knowledge.none())
    units = Units.of(table)
    leeway = leeway_of(table, units, wanted, known, chosen.max_relative_change)
    count = NOTHING if chosen.min_count is None else table.count.reshape(-1).copy()
    if along is not None:
        found = move_along(leeway, moves_of(along), rng, chosen.sd_share)
    else:
        found = move_cells(table, leeway, rng, chosen, count)
    if found.failed.size:
        raise _out_of_reach(table, found.failed, rebooking=chosen.min_count is not None)
    if found.told.size:
        names = listed([table.name_of(int(c)) for c in found.told[:10]])
        warnings.warn(
            f"{found.told.size} primary cells: whoever is alone in a cell changed with them can compute their error: "
            + names,
            ProtectionWarning,
            stacklevel=2,
        )
    said = {"protection": wanted, "knowledge": known, "along": along is not None, **vars(chosen)}
    counts = None if chosen.min_count is None else count.reshape(table.shape)
    changed = cleared(table, units.moved(table, leeway.change), counts, "perturbed")
    return Perturbation(
        table=changed, before=table, method="cuboids", seed=seed, options=said, moves=found.moves, told=found.told
    )


def _refuse(table: Table, min_count: int | None, along: Suppression | None) -> None:
    """Everything about the table that can be refused before work starts."""
    table.check_pattern()
    if table.altered:
        raise BadOption("the values of the table have been changed already", hint="perturb the original table, once.")
    if not table.product and along is None:
        raise BadOption(
            f"a {table.kind} without moves",
            hint="perturb(pool, along=suppress(pool, guarantee='audit')) moves all its tables.",
        )
    if along is not None and along.table.shape != table.shape:
        raise BadOption("the suppression is not one of this table", hint="suppress the table that is perturbed.")
    if min_count is not None and (along is not None or not table.additive_counts or table.respondents is None):
        raise BadOption(
            "contributors cannot be rebooked here",
            hint="rebooking needs a table with counts that add up, and no along=....",
        )


def _out_of_reach(table: Table, failed: Ints, *, rebooking: bool) -> ChangeOutOfReach:
    names = [table.name_of(int(c)) for c in np.sort(failed)]
    return ChangeOutOfReach(
        f"{failed.size} primary cell{'s' * (failed.size > 1)} cannot be changed as much as the rule demands"
        + " and rebooked" * rebooking,
        where=listed(names, most=50),
        hint="fewer cells with the status never or published, weaker prior knowledge, a smaller demand"
        + " or no minimum count" * rebooking
        + "; or suppress them.",
    )
