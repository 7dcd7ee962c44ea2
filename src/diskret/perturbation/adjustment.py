"""Controlled tabular adjustment: the nearest additive table in which every primary value is far enough from its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, ChangeOutOfReach, ProtectionWarning, listed
from diskret.model.exact import exact
from diskret.model.given import refuse_no_promise, refuse_no_table
from diskret.model.promise import Promise
from diskret.model.rational import Exactly
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.demands import demands_of
from diskret.perturbation.adjusted_table import Adjustment
from diskret.perturbation.adjustment_room import Distance, Room, Steps, out_of_reach, room_of, told_beside
from diskret.perturbation.adjustment_search import Found, Stuck, search
from diskret.perturbation.changed_table import cleared

PROMISE = Promise()
Weights = Literal["value", "unit", "table"]
Way = Literal["up", "down"]
Directions = Literal["choose", "up", "down"] | Mapping[Sequence[str], Way]
WAYS = {"up": 1, "down": -1, "choose": 0}
SECONDS = 60.0
HAIR = Fraction(1, 2**49)


def adjust(
    table: Table,
    promise: Promise = PROMISE,
    *,
    distance: Distance = "L1",
    weights: Weights = "value",
    directions: Directions = "choose",
    whole: bool | None = None,
    seconds: float = SECONDS,
) -> Adjustment:
    """Change values so that every primary one lies outside its protection interval and all equations hold exactly.

    Every primary cell goes up by its upper level at least, or down by its lower one (what the ``promise`` demands, and
    always something); of all such tables the nearest is looked for. ``distance``: the sum of all changes, each times
    its weight ("L1"), or of their squares ("L2"). ``weights``: 1 over the value ("value"; zeros 1), the same for all
    ("unit"), or those of the table ("table"). ``directions``: chosen, all "up" or "down", or "up" and "down" by codes
    of cells, the others chosen. Positive values do not become negative; zeros that are not primary, cells that must be
    published or are, and prior bounds stay. ``whole`` keeps the decimals of the table (left out: if it has any). After
    ``seconds`` the best so far counts: ``lower_bound`` and ``gap`` say how much nearer another table could be.

    It takes a `Pool` and a `System` as well. It does not guard against somebody who knows the method and the levels, or
    who is alone in a cell: see docs/adjustment.md.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [100, 80, 90, 60], "st": ["primary", *["open"] * 3]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")
    >>> done = adjust(table, Promise(min_range=19))
    >>> done.table.value.tolist(), round(done.distance, 4), done.gap
    ([[110.0, 80.0, 190.0], [90.0, 60.0, 150.0], [200.0, 140.0, 340.0]], 0.2385, 0.0)
    """
    refuse_no_table(table, "adjustment")
    refuse_no_promise(promise)
    _refuse(table, promise, distance, weights, seconds)
    steps = Steps.of(table, whole=_whole(table, whole))
    room = room_of(table, promise, steps, distance, weights)
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    given = _given(table, primary, directions)
    _refuse_directions(table, room, primary, given)
    found = _found(table, room, primary, given, seconds)
    change = np.zeros(table.size, dtype=np.int64)
    change[room.equations.cells] = found.change
    _check(table, promise, steps, change)
    ways = np.zeros(table.size, dtype=np.int64)
    ways[primary] = found.directions
    least = np.zeros(table.size)
    least[primary] = np.where(found.directions > 0, room.up, room.down) / steps.scale
    told = _told(table, promise, room)
    said = {"distance": distance, "weights": weights, "directions": directions, "whole": steps.fine == 1}
    value = steps.moved(table.value.reshape(-1), change).reshape(table.shape)
    after = cleared(table, value, None, "adjusted")
    if steps.fine > 1 and steps.decimals is not None:
        after = _with_decimals(after, steps.decimals)
    return Adjustment(
        table=after,
        before=table, method="adjustment", seed=None, options=said, promise=promise, distance=room.cost(found.change),
        lower_bound=found.bound, directions=ways.reshape(table.shape), least=least.reshape(table.shape),
        finished=found.finished, told=told,
    )  # fmt: skip


def _with_decimals(table: Table, decimals: int) -> Table:
    """The same with more decimals, a pool with all its tables."""
    parts = {name: _with_decimals(each, decimals) for name, (each, _) in table.linked.items()}
    return replace(table.with_tables(parts), decimals=decimals).sealed()


def _told(table: Table, promise: Promise, room: Room) -> Ints:
    """Primary cells whose change somebody who is alone elsewhere computes at once; with a warning, if he is feared."""
    told = told_beside(table, room.equations)
    if told.size and promise.guard != "public":
        names = listed([table.name_of(int(c)) for c in told[:10]])
        warnings.warn(
            f"{told.size} primary cells: whoever is alone in a cell changed with them can compute their error: {names}",
            ProtectionWarning,
            stacklevel=3,
        )
    return told


def _refuse(table: Table, promise: Promise, distance: str, weights: str, seconds: float) -> None:
    """Everything that can be refused before work starts."""
    table.check_pattern()
    for name, given, known in (("distance", distance, get_args(Distance)), ("weights", weights, get_args(Weights))):
        if given not in known:
            raise BadOption(f"{name} {given!r}", hint=f"one of {', '.join(map(repr, known))}.")
    if isinstance(seconds, bool) or not seconds > 0:
        raise BadOption("the seconds of a search are a positive number", hint="60 is usual.")
    if promise.guard == "largest" or promise.coalitions:
        raise BadOption(
            "an adjusted table is not guarded against those who know cells",
            hint="guard='public' and no coalitions; or suppress the table.",
        )
    if table.altered:
        raise BadOption("the values of the table have been changed already", hint="adjust the original table, once.")


def _whole(table: Table, asked: bool | None) -> bool:
    """Whether values keep the decimals of the table."""
    if asked and table.decimals is None:
        raise BadOption("the values are not short decimals", hint="whole=False; or round them to decimals first.")
    if asked is False and table.frequency:
        raise BadOption("counts are whole numbers", hint="leave whole out.")
    return table.decimals is not None if asked is None else asked


def _given(table: Table, primary: Ints, directions: Directions) -> Ints:
    """Which way each primary cell must go: 1 up, -1 down, 0 either."""
    if isinstance(directions, str):
        if directions not in WAYS:
            raise BadOption(f"directions {directions!r}", hint="'choose', 'up', 'down', or 'up' and 'down' by cells.")
        return np.full(primary.size, WAYS[directions])
    given = np.zeros(primary.size, dtype=np.int64)
    for codes, way in directions.items():
        cell = int(np.ravel_multi_index(table.index(*codes), table.shape))
        at = np.flatnonzero(primary == cell)
        if not at.size or way not in ("up", "down"):
            raise BadOption(
                f"a direction {way!r} for {table.name_of(cell)}", hint="'up' or 'down', for primary cells alone."
            )
        given[at] = WAYS[way]
    return given


def _refuse_directions(table: Table, room: Room, primary: Ints, given: Ints) -> None:
    """Refuse directions for which cells have no room, whatever the others do."""
    can_fall, can_rise = room.possible
    stuck = primary[((given < 0) & ~can_fall) | ((given > 0) & ~can_rise)]
    if stuck.size:
        raise out_of_reach(table, stuck)


def _found(table: Table, room: Room, primary: Ints, given: Ints, seconds: float) -> Found:
    try:
        return search(room, given, seconds)
    except Stuck as e:
        if e.behind.size:
            raise out_of_reach(table, primary[e.behind]) from None
        raise ChangeOutOfReach(
            "no adjusted table was found in whole numbers of its decimals",
            where=f"{table.response!r}, {primary.size} primary cells",
            hint="give it more seconds, or whole=False; or suppress the table.",
        ) from None


def _check(table: Table, promise: Promise, steps: Steps, change: Ints) -> None:
    """Make sure in whole numbers and fractions, whatever a solver said: all sums hold, all primary cells moved."""
    everything = table.equations(np.ones(table.size, dtype=np.bool_))
    if Exactly(everything).sums(change).any():
        raise AssertionError("an adjusted table does not add up")
    # values that are no short decimals mean what they are near to
    demands, step = demands_of(table, promise), (1 if steps.decimals is not None else 1 + HAIR) / Fraction(steps.scale)
    moved = change[demands.cells].tolist()
    for by, down, up in zip(moved, demands.down.tolist(), demands.up.tolist(), strict=True):
        if by == 0 or (by > 0 and by * step < exact(up)) or (by < 0 and -by * step < exact(down)):
            raise AssertionError("an adjusted value lies inside its protection interval")
