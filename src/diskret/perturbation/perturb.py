"""Value perturbation: primary values are moved by random errors along cuboids, and every sum stays true."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ChangeOutOfReach, ProtectionWarning, listed
from diskret.model.given import refuse_no_promise, refuse_no_table
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation, cleared
from diskret.perturbation.cuboids import move_cells
from diskret.perturbation.given_moves import move_along, moves_of
from diskret.perturbation.leeway import NOTHING, Units, leeway_of
from diskret.perturbation.options import CuboidOptions, older_perturbation
from diskret.perturbation.seeds import seeded
from diskret.suppression.result import Suppression

PROMISE, OPTIONS = Promise(), CuboidOptions()


def perturb(
    table: Table,
    promise: Promise = PROMISE,
    options: CuboidOptions = OPTIONS,
    *,
    seed: int | None = None,
    along: Suppression | None = None,
    **older: Any,
) -> Perturbation:
    """Change every primary value by a random error that keeps all sums of the table true.

    A primary cell is moved along a cuboid: with it goes one partner per classification (or none, then the sums above it
    change too), and one error is added to, or taken from, all cells of the cuboid. Whole numbers stay whole, positive
    values do not become negative, zeros stay zero, and cells that must be published or are published stay as they are.
    The change is at least what the ``promise`` demands (the levels of the primary rules, and always some change), and
    no changed value contradicts what everybody knows beforehand. A primary cell gets a second, independent error where
    somebody who is alone in another cell could compute the first, unless the promise guards against the public only.
    The ``options`` say how large errors are. ``along`` takes the moves of a suppression instead of searching; for a
    `Pool` there is no other way. ``seed`` left out is drawn afresh. Keywords from before (``older``) are deprecated.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [100, 80, 90, 1], "st": ["primary", *["open"] * 3]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")
    >>> perturb(table, seed=3).table.value.tolist()
    [[104.0, 76.0, 180.0], [86.0, 5.0, 91.0], [190.0, 81.0, 271.0]]
    """
    refuse_no_table(table, "perturbation")
    if older or isinstance(promise, str):
        promise, options = older_perturbation(table, promise, options, older)
    refuse_no_promise(promise)
    _refuse(table, promise, options, along)
    seed, rng = seeded(seed)
    units = Units.of(table)
    leeway = leeway_of(table, units, promise, options.max_relative_change)
    count = NOTHING if options.min_count is None else table.count.reshape(-1).copy()
    if along is not None:
        found = move_along(leeway, moves_of(along), rng, options.sd_share)
    else:
        found = move_cells(table, leeway, rng, options, count, guarded=promise.guard != "public")
    if found.failed.size:
        raise _out_of_reach(table, found.failed, rebooking=options.min_count is not None)
    if found.told.size:
        names = listed([table.name_of(int(c)) for c in found.told[:10]])
        warnings.warn(
            f"{found.told.size} primary cells: whoever is alone in a cell changed with them can compute their error: "
            + names,
            ProtectionWarning,
            stacklevel=2,
        )
    said = {"promise": promise, "along": along is not None, **vars(options)}
    counts = None if options.min_count is None else count.reshape(table.shape)
    changed = cleared(table, units.moved(table, leeway.change), counts, "perturbed")
    return Perturbation(
        table=changed, before=table, method="cuboids", seed=seed, options=said, moves=found.moves, step=found.step,
        told=found.told,
    )  # fmt: skip


def _refuse(table: Table, promise: Promise, options: CuboidOptions, along: Suppression | None) -> None:
    """Everything that can be refused before work starts."""
    table.check_pattern()
    if promise.guard == "largest" or promise.coalitions:
        raise BadOption(
            "changed values are guarded against whoever is alone in a cell, not against others who know cells",
            hint="guard='single' or 'public' and no coalitions; or suppress the table.",
        )
    if table.altered:
        raise BadOption("the values of the table have been changed already", hint="perturb the original table, once.")
    if not table.product and along is None:
        raise BadOption(
            f"a {table.kind} without moves",
            hint="perturb(pool, along=suppress(pool)) moves all its tables.",
        )
    if along is not None and along.table.shape != table.shape:
        raise BadOption("the suppression is not one of this table", hint="suppress the table that is perturbed.")
    rebooked = options.min_count is not None
    if rebooked and (along is not None or not table.additive_counts or table.respondents is None):
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
