"""Value perturbation: primary values are moved by random errors along cuboids, and every sum stays true."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, ChangeOutOfReach, ProtectionWarning, listed
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.cuboids import move_cells
from diskret.perturbation.demands import Task, Units, task_of
from diskret.perturbation.given_moves import GivenMoves, move_along, moves_of
from diskret.perturbation.moves import CuboidMoves
from diskret.perturbation.result import Perturbation
from diskret.perturbation.seeds import seeded
from diskret.suppression.result import Suppression

Distribution = Literal["uniform", "normal"]
SD_SHARE = 0.5
"""Standard deviation of normal errors, as a share of the largest change: they are cut at two of them."""
ALTERED = "perturbed"


def perturb(
    table: Table,
    method: Literal["cuboid"] = "cuboid",
    *,
    seed: int | None = None,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    max_relative_change: float | None = 0.5,
    distribution: Distribution = "uniform",
    min_count: int | None = None,
    single_contributors: bool = True,
    along: Suppression | None = None,
) -> Perturbation:
    """Change every primary value by a random error that keeps all sums of the table true.

    A primary cell is moved along a cuboid: with it goes one partner per classification (or none, then the sums above it
    change too), and one error is added to, or taken from, all cells of the cuboid. Whole numbers stay whole, positive
    values do not become negative, zeros stay zero, and cells that must be published or are published stay as they are.
    The change is at least what ``protection`` demands (left out: the levels of the primary rules, or any change), and
    at most ``max_relative_change`` of the value or twice the demand (None: as far as the cuboid goes).
    ``knowledge`` is what everybody knows beforehand; no changed value contradicts it. ``min_count`` rebooks
    contributors along the cuboids, so that no primary cell is left with fewer. With ``single_contributors`` a primary
    cell gets a second, independent error where whoever is alone in another cell could compute the first. ``along``
    takes the moves of a suppression instead of searching; for a `Pool` there is no other way. ``seed`` left out is
    drawn afresh.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [100, 80, 90, 1], "st": ["primary", *["open"] * 3]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")
    >>> perturb(table, seed=3).table.value.tolist()
    [[104.0, 76.0, 180.0], [86.0, 5.0, 91.0], [190.0, 81.0, 271.0]]
    """
    _refuse(table, method, max_relative_change, distribution, min_count, along)
    seed, rng = seeded(seed)
    wanted = protection or Protection(levels=table.below is not None)
    nonnegative = table.positive or not (table.value < 0).any()
    known = knowledge or (Knowledge.positive() if nonnegative else Knowledge.none())
    units = Units.of(table)
    task = task_of(table, units, wanted, known, max_relative_change)
    count = table.count.reshape(-1).copy() if min_count is not None else np.empty(0, dtype=np.int64)
    share = SD_SHARE if distribution == "normal" else 0.0
    told = np.empty(0, dtype=np.int64)
    moves: CuboidMoves | GivenMoves
    if along is not None:
        moves, failed = move_along(task, moves_of(along), rng, share)
    else:
        found = move_cells(
            table, task, rng, sd_share=share, count=count, least=min_count or 0, singles=single_contributors
        )
        moves, failed, told = found.moves, found.failed, found.told
    if failed.size:
        raise _out_of_reach(table, failed, min_count)
    if told.size:
        warnings.warn(
            f"{told.size} primary cells: whoever is alone in a cell changed with them can compute their error: "
            + listed([table.name_of(int(c)) for c in told[:10]]),
            ProtectionWarning,
            stacklevel=2,
        )
    options = {
        "protection": wanted, "knowledge": known, "max_relative_change": max_relative_change,
        "distribution": distribution, "min_count": min_count, "single_contributors": single_contributors,
    }  # fmt: skip
    return Perturbation(_changed(table, units, task, count), table, "cuboids", seed, options, moves, told)


def _refuse(
    table: Table, method: str, most: float | None, distribution: str, min_count: int | None, along: Suppression | None
) -> None:
    """Everything that can be refused before work starts."""
    if method != "cuboid":
        raise BadOption(f"method {method!r}", hint="'cuboid'; to round use round_table.")
    if distribution not in ("uniform", "normal"):
        raise BadOption(f"distribution {distribution!r}", hint="'uniform' or 'normal'.")
    if most is not None and not most > 0:
        raise BadOption(f"largest relative change {most:g}", hint="more than 0, such as 0.5; None for no limit.")
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
    if min_count is not None:
        if min_count < 1:
            raise BadOption(f"minimum count {min_count}", hint="at least 1; 3 is usual.")
        if along is not None or not table.additive_counts or table.respondents is None:
            raise BadOption(
                "contributors cannot be rebooked here",
                hint="rebooking needs a table with counts that add up, and no along=....",
            )


def _out_of_reach(table: Table, failed: Ints, min_count: int | None) -> ChangeOutOfReach:
    names = [table.name_of(int(c)) for c in np.sort(failed)]
    rebooking = " and rebooked" if min_count is not None else ""
    return ChangeOutOfReach(
        f"{failed.size} primary cell{'s' * (failed.size > 1)} cannot be changed as much as the rule demands{rebooking}",
        where=listed(names, most=50),
        hint="fewer cells with the status never or published, weaker prior knowledge, a smaller demand"
        + (" or no minimum count" if min_count is not None else "")
        + "; or suppress them.",
    )


def _changed(table: Table, units: Units, task: Task, count: Ints) -> Table:
    """The table that may leave: changed values, contributor counts, and nothing that tells which cells are primary."""
    value = units.moved(table, task.change)
    return cleared(table, value, count.reshape(table.shape) if count.size else None, ALTERED)


def cleared(table: Table, value: Floats, count: Ints | None, altered: str) -> Table:
    """A table with other values, without anything that was concluded from the old ones."""
    parts = {
        name: cleared(each, value[cells].reshape(each.shape), None, altered)
        for name, (each, cells) in table.linked.items()
    }
    table = table.with_tables(parts)
    people = None
    if table.respondents is not None and not table.frequency:
        people = Contributors(table.respondents.count if count is None else count)
    status = np.where(table.hidden | (table.status == Status.ZERO), np.uint8(Status.OPEN), table.status)
    return replace(
        table, value=value + 0.0, status=status, respondents=people, rules=(), altered=altered, holdings=None,
        rule=None, below=None, above=None, lower=None, upper=None, weight=None, creator=None, key=None,
        judges=(),
    )  # fmt: skip
