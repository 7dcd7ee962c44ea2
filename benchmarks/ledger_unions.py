"""`python -m benchmarks.ledger_unions [--worlds 160] [--regions 5] [--kinds 4] [--tables 6]`: tables by random unions.

Firms stand in regions and kinds. Every table shows them by unions of regions and of kinds that were drawn anew, or by
unions of regions of one union of kinds, so that cells overlap in both classifications as much as can be. Tables are
protected and published beside a ledger. Then a reader who shares no code with the package takes all published numbers,
with one unknown for every region and kind, and asks scipy's solver how small and how large each sensitive cell may be,
and whether a single region and kind with one or two firms is known. ``--alone`` protects every table on its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

import diskret as dk
from diskret.ledger import About, Ledger
from diskret.model.errors import DiskretError
from diskret.model.status import Status
from diskret.rules import MinCount, PPercent

RULE = MinCount(3) | PPercent(10)
HAIR = 1e-6
Inside = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Secret:
    """A sensitive cell: where it is, its value, and how near nobody may come."""

    inside: Inside
    value: float
    below: float
    above: float


@dataclass(eq=False)
class World:
    """Firms, and what was published of them."""

    value: npt.NDArray[np.float64]
    count: npt.NDArray[np.int64]
    firms: list[tuple[int, int, float]]
    shown: list[tuple[Inside, float]] = field(default_factory=list)
    secrets: dict[bytes, Secret] = field(default_factory=dict)
    refused: int = 0


def world_of(random: np.random.Generator, regions: int, kinds: int) -> World:
    """Up to three firms in most places."""
    firms = [
        (region, kind, float(np.rint(random.lognormal(3, 1.5)) + 1))
        for region in range(regions)
        for kind in range(kinds)
        if random.random() > 0.15
        for _ in range(random.integers(1, 4))
    ]
    value, count = np.zeros((regions, kinds)), np.zeros((regions, kinds), dtype=np.int64)
    for region, kind, each in firms:
        value[region, kind] += each
        count[region, kind] += 1
    return World(value, count, firms)


def unions(random: np.random.Generator, size: int) -> list[list[int]]:
    """Some numbers in random groups."""
    of = random.integers(0, random.integers(1, size + 1), size)
    return [np.flatnonzero(of == group).tolist() for group in np.unique(of)]


def code(axis: str, own: list[int]) -> str:
    """A union of codes by its name."""
    return "+".join(f"{axis[0]}{i}" for i in own)


def release(world: World, random: np.random.Generator, ledger: Ledger, number: int, alone: bool) -> None:
    """One more table."""
    sizes = dict(zip(("region", "kind"), world.value.shape, strict=True))
    groups = {axis: unions(random, size) for axis, size in sizes.items()}
    if len(groups["region"]) == 1:
        return
    fixed: dict[str, list[int]] = {}
    if random.random() < 1 / 3 or len(groups["kind"]) == 1:
        fixed["kind"] = groups["kind"][random.integers(len(groups["kind"]))]
        groups["kind"] = [fixed["kind"]]
    named = {axis: {code(axis, own): own for own in groups[axis]} for axis in groups}
    name_of = {axis: {i: name for name, own in named[axis].items() for i in own} for axis in groups}
    by = {axis: dk.Hierarchy.flat([*names], total=f"all {axis}") for axis, names in named.items() if axis not in fixed}
    data: dict[str, list[Any]] = {axis: [] for axis in (*by, "x")}
    for region, kind, each in world.firms:
        if kind in name_of["kind"]:
            own = {"region": name_of["region"][region], "kind": name_of["kind"][kind], "x": each}
            for key in data:
                data[key].append(own[key])
    if not data["x"]:
        return
    marked = dk.mark(dk.tabulate(data, by=by, value="x"), RULE)
    about = About(
        population="firms", value="x", period="2024", unit="EUR",
        fixed={axis: code(axis, own) for axis, own in fixed.items()},
        groupings={
            axis: {
                **{name: [code(axis, [i]) for i in own] for name, own in named[axis].items() if len(own) > 1},
                f"all {axis}": [code(axis, [i]) for i in range(sizes[axis])],
            }
            for axis in sizes
        },
        totals={axis: f"all {axis}" for axis in sizes},
    )  # fmt: skip
    try:
        table = dk.suppress(marked, ledger=None if alone else ledger.about(about, f"table {number}")).table
    except DiskretError:
        world.refused += 1
        return
    if not alone:
        ledger.add(table, about, name=f"table {number}")
    for cell in range(table.size):
        codes = dict(zip(table.names, table.codes(table.place(cell)), strict=True))
        part: list[list[int]] = [
            named[axis][codes[axis]] if codes.get(axis) in named[axis] else fixed.get(axis, [*range(size)])
            for axis, size in sizes.items()
        ]
        inside = np.zeros(world.value.shape, dtype=np.bool_)
        inside[np.ix_(*part)] = True
        value = float(world.value[inside].sum())
        if not table.hidden.reshape(-1)[cell]:
            world.shown.append((inside, value))
        elif table.status.reshape(-1)[cell] == Status.PRIMARY:
            levels = (0.0 if each is None else float(each.reshape(-1)[cell]) for each in (table.below, table.above))
            below, above = levels
            world.secrets.setdefault(inside.tobytes(), Secret(inside=inside, value=value, below=below, above=above))


def found_out(world: World) -> tuple[int, int, int]:
    """Sensitive cells that are known exactly and too closely, and single places of one or two firms that are known."""
    if not world.shown:
        return 0, 0, 0
    rows = np.array([inside.reshape(-1) for inside, _ in world.shown], dtype=np.float64)
    rows, first = np.unique(rows, axis=0, return_index=True)
    known = np.array([value for _, value in world.shown])[first]

    def ends(inside: Inside) -> tuple[float, float]:
        cost = inside.reshape(-1).astype(np.float64)
        least, most = (linprog(sign * cost, A_eq=rows, b_eq=known, method="highs") for sign in (1, -1))
        assert least.status == 0, least.message
        return float(least.fun), -float(most.fun) if most.status == 0 else np.inf

    exact = close = lone = 0
    for secret in world.secrets.values():
        least, most = ends(secret.inside)
        hair = HAIR * max(1.0, secret.value)
        if most - least < hair:
            exact += 1
        elif least > secret.value - secret.below + hair or most < secret.value + secret.above - hair:
            close += 1
    for place in np.argwhere((world.count > 0) & (world.count < 3)).tolist():
        inside = np.zeros(world.value.shape, dtype=np.bool_)
        inside[tuple(place)] = True
        least, most = ends(inside)
        lone += most - least < HAIR * max(1.0, float(world.value[tuple(place)]))
    return exact, close, lone


def main() -> None:
    """Release, read, count."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--worlds", type=int, default=160)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--regions", type=int, default=5)
    asked.add_argument("--kinds", type=int, default=4)
    asked.add_argument("--tables", type=int, default=6)
    asked.add_argument("--alone", action="store_true")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    start = time.process_time()
    told = dict.fromkeys(("secrets", "exact", "too close", "single places", "numbers", "refused"), 0)
    for seed in range(given.first, given.first + given.worlds):
        random = np.random.default_rng(seed)
        world = world_of(random, given.regions, given.kinds)
        with tempfile.TemporaryDirectory() as place:
            ledger = dk.open_ledger(Path(place) / "ledger", create=True)
            for number in range(given.tables):
                release(world, random, ledger, number, given.alone)
        exact, close, lone = found_out(world)
        if (exact or close or lone) and not given.alone:
            print(f"world {seed}: {exact} exact, {close} too close, {lone} single places", flush=True)
        more = (len(world.secrets), exact, close, lone, len(world.shown), world.refused)
        told = {key: before + each for (key, before), each in zip(told.items(), more, strict=True)}
    print(f"{given.worlds} worlds: {told} in {time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
