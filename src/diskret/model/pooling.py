"""Making a pool: labelling cells over the publication space, comparing shared ones, collecting all equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors, few_numbers
from diskret.model.equations import Equations
from diskret.model.errors import (
    BadOption,
    LateTable,
    NothingShared,
    SharedCellsDiffer,
    TableTooLarge,
    UnknownCode,
    WrongSum,
    listed,
)
from diskret.model.hierarchy import Hierarchy
from diskret.model.memory import refuse_short
from diskret.model.pool import Pool
from diskret.model.rule import distinct_rules
from diskret.model.status import Status
from diskret.model.system import Space
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING

Fixed = Mapping[str, Mapping[str, str]]
RANK = (
    Status.OPEN,
    Status.ZERO,
    Status.STRUCTURAL_ZERO,
    Status.NEVER,
    Status.PUBLISHED,
    Status.SECONDARY,
    Status.PRIMARY,
)
"""Of two statuses of one cell the later one counts."""
OUT = (Status.NEVER, Status.PUBLISHED, Status.STRUCTURAL_ZERO)
"""What everybody sees or knows; no table may hide it."""


@dataclass(frozen=True, eq=False)
class _Axis:
    """One classification over all tables."""

    name: str
    number: dict[str, int]
    """Every code with its number."""
    groupings: tuple[tuple[str, Hierarchy], ...]
    """Different hierarchies, each with the first table that has it."""
    top: str
    """The total; empty where there is none or several."""

    @classmethod
    def of(cls, name: str, tables: Mapping[str, Table], fixed: Fixed, over: Mapping[str, Hierarchy]) -> _Axis:
        groupings = _groupings(name, tables, over)
        codes = dict.fromkeys(code for _, h in groupings for code in h.codes)
        given = [f[name] for f in fixed.values() if name in f]
        warn_of_spellings(name, dict.fromkeys([*codes, *given]))
        unknown = [code for code in given if code not in codes]
        if unknown and groupings:
            raise UnknownCode.in_column(name, unknown, tuple(codes))
        number = {code: i for i, code in enumerate(codes | dict.fromkeys(given))}
        return cls(name, number, groupings, _top([h for _, h in groupings]))

    def numbers(self, table: str, given: Table, fixed: Fixed) -> Ints:
        """Numbers of the codes a table shows on this axis; one where it does not run."""
        if self.name in given.by:
            if self.name in fixed.get(table, {}):
                raise BadOption(
                    f"table {table!r} is classified by {self.name!r} and fixed there too", hint="leave one out."
                )
            return np.array([self.number[c] for c in given.by[self.name].codes], dtype=np.int64)
        code = fixed.get(table, {}).get(self.name, self.top)
        if not code:
            raise BadOption(
                f"table {table!r} is not classified by {self.name!r}, which has no single total",
                hint="say with fixed={table: {classification: code}} which code the table shows.",
            )
        return np.array([self.number[code]], dtype=np.int64)


def _groupings(
    name: str, tables: Mapping[str, Table], over: Mapping[str, Hierarchy]
) -> tuple[tuple[str, Hierarchy], ...]:  # fmt: skip
    """The different hierarchies of a classification, each with the first table that has it."""
    sources = {t: table.by[name] for t, table in tables.items() if name in table.by}
    sources |= {"over": over[name]} if name in over else {}
    seen: dict[tuple[object, ...], tuple[str, Hierarchy]] = {}
    for source, h in sources.items():
        seen.setdefault((h.codes, h.parents, h.further), (source, h))
    return tuple(seen.values())


def _top(hierarchies: Sequence[Hierarchy]) -> str:
    """The one code that is a total and never a part; empty where there is none or several."""
    parts = {code for h in hierarchies for code in h.codes[:-1]}
    tops = {h.total for h in hierarchies} - parts
    return tops.pop() if len(tops) == 1 else ""


def pooled(
    tables: Mapping[str, Table], fixed: Fixed, over: Mapping[str, Hierarchy], published: tuple[str, ...]
) -> Pool:
    """See `Pool.of`."""
    _refuse(tables, fixed, published)
    names = tuple(dict.fromkeys([n for t in tables.values() for n in t.by] + [n for f in fixed.values() for n in f]))
    axes = [_Axis.of(name, tables, fixed, over) for name in names]
    sizes = [len(axis.number) for axis in axes]
    refuse_short(sum(t.size for t in tables.values()), "linking tables")
    if prod(sizes) > 2**62:
        raise TableTooLarge("the publication space of the pool is too large", hint="make several pools.")
    keys = {t: _keys(t, table, axes, sizes, fixed) for t, table in tables.items()}
    every, first = np.unique(np.concatenate(list(keys.values())), return_index=True)
    cells_of = {t: np.searchsorted(every, key) for t, key in keys.items()}
    space = Space(
        names, tuple(tuple(axis.number) for axis in axes), tuple(axis.top for axis in axes),
        tuple(np.unravel_index(every, sizes)),
    )  # fmt: skip
    value = np.concatenate([t.value.reshape(-1) for t in tables.values()])[first]
    system, named = _system(axes, sizes, every)
    _refuse_unlinked(cells_of, system, every.size)
    _compare_values(tables, cells_of, value, space)
    _check_sums(system, value, space)
    return Pool(
        by={}, value=value, status=_status(tables, cells_of, published, space), space=space, system=system, axes=named,
        tables=dict(tables), cells_of=cells_of, published=published,
        **_people_behind(tables, cells_of, value), **_rules(tables, cells_of, every.size),
        **_levels(tables, cells_of, every.size), **_said(list(tables.values())),
    )  # fmt: skip


def _people_behind(tables: Mapping[str, Table], cells_of: Mapping[str, Ints], value: Floats) -> dict[str, Any]:
    places = list(cells_of.values())
    return {
        "respondents": _people([t.respondents for t in tables.values()], places, value),
        "holdings": _people([t.holdings for t in tables.values()], places, value),
    }


def _rules(tables: Mapping[str, Table], cells_of: Mapping[str, Ints], size: int) -> dict[str, Any]:
    """Which rules judged the tables; bits of cells mean something only where all tables number the rules alike."""
    judges = distinct_rules(judge for t in tables.values() for judge in t.judges)
    names = {t.rules for t in tables.values()}
    if len(names) > 1:
        return {"judges": judges}
    bits = [(t.rule, cells_of[n]) for n, t in tables.items()]
    return {"judges": judges, "rules": names.pop(), "rule": _joined(bits, size, np.bitwise_or, 0, np.uint32)}


def _levels(tables: Mapping[str, Table], cells_of: Mapping[str, Ints], size: int) -> dict[str, Any]:
    """The largest levels and weights, and what is known from any table."""
    how = {"below": (np.maximum, 0.0), "above": (np.maximum, 0.0), "upper": (np.minimum, np.inf)}
    joined: dict[str, Any] = {"lower": _lower(tables, cells_of, size)}
    for field, (join, nothing) in (how | {"weight": (np.maximum, 0.0)}).items():
        arrays = [(getattr(t, field), cells_of[n]) for n, t in tables.items()]
        joined[field] = _joined(arrays, size, join, nothing, np.float64)
    if joined["weight"] is not None:
        # a table without weights weighs nothing anew: its own cells keep their prices
        weighed = np.zeros(size, dtype=np.bool_)
        weighed[np.concatenate([cells_of[n] for n, t in tables.items() if t.weight is not None])] = True
        joined["weight"] = np.where(weighed, joined["weight"], 1.0)
    return joined


def _said(tables: Sequence[Table]) -> dict[str, Any]:
    """What is said about all values of the tables."""
    return {
        "response": tables[0].response,
        "frequency": tables[0].frequency,
        "decimals": reduce(_least, (t.decimals for t in tables)),
        "positive": all(t.positive for t in tables),
        "weighted": any(t.weighted for t in tables),
        "additive_counts": all(t.additive_counts for t in tables),
        "counted": all(t.counted for t in tables),
    }


def _refuse(tables: Mapping[str, Table], fixed: Fixed, published: tuple[str, ...]) -> None:
    if len(tables) < 2:
        raise BadOption(f"a pool of {len(tables)} tables", hint="two or more; a single table needs no pool.")
    unknown = [t for t in (*fixed, *published) if t not in tables]
    if unknown:
        raise BadOption(f"no table {listed(unknown)} in the pool", hint=f"it has {listed(tables)}.")
    if len({t.response for t in tables.values()}) > 1 or len({t.frequency for t in tables.values()}) > 1:
        raise BadOption(
            f"tables of different responses: {listed(dict.fromkeys(t.response for t in tables.values()))}",
            hint="one pool per response; hand the pattern of the leading one on with follow(...).",
        )


def _keys(name: str, table: Table, axes: Sequence[_Axis], sizes: Sequence[int], fixed: Fixed) -> Ints:
    """Place of every cell of a table in the publication space."""
    # the table's own axes stand in its own order; those it does not run over have one code
    shape = [len(table.by[n]) for n in table.by]
    key = np.zeros(table.size, dtype=np.int64)
    at = dict(zip(table.by, np.unravel_index(np.arange(table.size), shape), strict=True))
    for i, axis in enumerate(axes):
        numbers = axis.numbers(name, table, fixed)
        key += (numbers[at[axis.name]] if axis.name in at else numbers[0]) * prod(sizes[i + 1 :])
    return key


def _system(axes: Sequence[_Axis], sizes: Sequence[int], every: Ints) -> tuple[Equations, tuple[tuple[str, str], ...]]:
    """Every sum of every grouping, for all cells that show it and whose parts are all in the pool."""
    row_sum, row_axis, lengths, columns, signs = [], [], [], [], []
    named: list[tuple[str, str]] = []
    for i, axis in enumerate(axes):
        stride = prod(sizes[i + 1 :])
        here = every // stride % sizes[i]
        order = np.argsort(here, kind="stable")
        begin = np.searchsorted(here[order], np.arange(sizes[i] + 1))
        seen: set[tuple[int, ...]] = set()
        for source, hierarchy in axis.groupings:
            named.append((axis.name, source))
            for code, parts in _sums(hierarchy):
                whole, below = axis.number[code], tuple(sorted(axis.number[p] for p in parts))
                if (whole, *below) in seen:
                    continue
                seen.add((whole, *below))
                sums = order[begin[whole] : begin[whole + 1]]
                wanted = every[sums][:, None] + (np.array(below) - whole) * stride
                at = np.minimum(np.searchsorted(every, wanted), every.size - 1)
                complete = (every[at] == wanted).all(axis=1)
                sums, at = sums[complete], at[complete]
                row_sum.append(sums)
                row_axis.append(np.full(sums.size, len(named) - 1))
                lengths.append(np.full(sums.size, len(below) + 1))
                columns.append(np.column_stack([at, sums]).reshape(-1))
                signs.append(np.tile(np.append(np.ones(len(below)), -1.0), sums.size))
    start = np.append(0, np.cumsum(np.concatenate(lengths))).astype(np.int64)
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    column, sign = np.concatenate(columns).astype(np.int64), np.concatenate(signs)
    order = np.lexsort((column, row))
    return (
        Equations(
            np.arange(every.size), start, column[order], sign[order],
            np.concatenate(row_axis).astype(np.int64), np.concatenate(row_sum).astype(np.int64),
        ),
        tuple(named),
    )  # fmt: skip


def _sums(hierarchy: Hierarchy) -> list[tuple[str, list[str]]]:
    found = []
    for parents in (hierarchy.parents, *hierarchy.further):
        parts: dict[int, list[str]] = {}
        for code, parent in zip(hierarchy.codes, parents, strict=True):
            if parent >= 0:
                parts.setdefault(parent, []).append(code)
        found += [(hierarchy.codes[whole], below) for whole, below in sorted(parts.items())]
    return found


def _refuse_unlinked(cells_of: Mapping[str, Ints], system: Equations, size: int) -> None:
    """Every table must share a cell with another, or stand in an equation with its cells."""
    row = system.row_of()
    alone = []
    for name, cells in cells_of.items():
        mine, others = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        mine[cells] = True
        for other, theirs in cells_of.items():
            others[theirs] |= other != name
        rows = np.bincount(row, weights=mine[system.columns], minlength=system.rows) > 0
        foreign = np.bincount(row, weights=others[system.columns], minlength=system.rows) > 0
        if not (mine & others).any() and not (rows & foreign).any():
            alone.append(name)
    if alone:
        raise NothingShared(
            f"tables {listed(alone)} share no cell with any other table of the pool",
            hint="name classifications and codes alike in all tables, say with fixed=... what a table is about, or "
            "protect these tables on their own.",
        )


def _compare_values(tables: Mapping[str, Table], cells_of: Mapping[str, Ints], value: Floats, space: Space) -> None:
    differs = np.zeros(value.size, dtype=np.bool_)
    for name, table in tables.items():
        mine = value[cells_of[name]]
        off = np.abs(table.value.reshape(-1) - mine) > ROUNDING * np.maximum(1.0, np.abs(mine))
        differs[cells_of[name][off]] = True
    if differs.any():
        number = int(differs.sum())
        raise SharedCellsDiffer(
            f"{number} shared {'cell has' if number == 1 else 'cells have'} different values in different tables",
            where=listed([space.name_of(int(c)) for c in np.flatnonzero(differs)], most=10),
            hint="tables of one pool must come from the same data; correct them, or the codes.",
        )


def _check_sums(system: Equations, value: Floats, space: Space) -> None:
    """What adds up in one table must add up in all others."""
    largest = np.zeros(system.rows)
    np.maximum.at(largest, system.row_of(), np.abs(value[system.columns]))
    wrong = np.abs(system.times(value)) > 1e-7 * np.maximum(1.0, largest)
    if wrong.any():
        raise WrongSum(
            f"{int(wrong.sum())} sums of the pool do not add up across its tables",
            where=listed([space.name_of(int(c)) for c in system.sum_cell[wrong]], most=10),
            hint="codes of one name must mean the same in all tables: rename what differs.",
        )


def _status(
    tables: Mapping[str, Table], cells_of: Mapping[str, Ints], published: tuple[str, ...], space: Space
) -> npt.NDArray[np.uint8]:
    """One status per cell; refuses cells that one table hides and another shows for good."""
    size = space.at[0].size
    place = np.zeros(len(Status), dtype=np.int64)
    place[list(RANK)] = np.arange(len(RANK))
    rank, shown = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    late, seen = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    for name, table in tables.items():
        status = table.status.reshape(-1)
        np.maximum.at(rank, cells_of[name], place[status])
        shown[cells_of[name][np.isin(status, OUT)]] = True
        if name in published:
            hidden = table.hidden.reshape(-1)
            seen[cells_of[name][~hidden]] = True
        else:
            late[cells_of[name][table.hidden.reshape(-1)]] = True
    found = np.array(RANK, dtype=np.uint8)[rank]
    hidden = (found == Status.PRIMARY) | (found == Status.SECONDARY)
    if (late & seen).any():
        number = int((late & seen).sum())
        raise LateTable(
            f"{number} cell that must be hidden is open in a published table"
            if number == 1
            else f"{number} cells that must be hidden are open in a published table",
            where=listed([space.name_of(int(c)) for c in np.flatnonzero(late & seen)], most=10),
            hint="leave these cells out of the late table, or do not publish it.",
        )
    if (hidden & shown).any():
        number = int((hidden & shown).sum())
        raise SharedCellsDiffer(
            f"{number} {'cell is' if number == 1 else 'cells are'} hidden in one table and known from another",
            where=listed([space.name_of(int(c)) for c in np.flatnonzero(hidden & shown)], most=10),
            hint="a cell has one status in all tables: open it, or hide it everywhere.",
        )
    found[seen & ~hidden] = Status.PUBLISHED
    return found


def _joined(
    parts: Sequence[tuple[npt.NDArray[np.generic] | None, Ints]], size: int, how: np.ufunc, nothing: float, dtype: type
) -> npt.NDArray[np.generic] | None:
    """One array over the pool from those of the tables that have it."""
    if all(array is None for array, _ in parts):
        return None
    result: npt.NDArray[np.generic] = np.full(size, nothing, dtype=dtype)
    for array, cells in parts:
        if array is not None:
            result[cells] = how(result[cells], array.reshape(-1))
    return result


def _lower(tables: Mapping[str, Table], cells_of: Mapping[str, Ints], size: int) -> Floats | None:
    """Prior lower bounds; where one table has some, nobody forgets about the others that no value is negative."""
    if all(t.lower is None for t in tables.values()):
        return None
    result = np.full(size, -np.inf)
    for name, table in tables.items():
        known = table.lower
        if known is None and not (table.value < 0).any():
            known = np.zeros(table.shape)
        if known is not None:
            result[cells_of[name]] = np.maximum(result[cells_of[name]], known.reshape(-1))
    return result


def _people(
    parts: Sequence[Contributors | None], cells_of: Sequence[Ints], value: Floats
) -> Contributors | None:  # fmt: skip
    """Everything known about contributors; where tables disagree the cautious side.

    That is the smaller count, so that nobody alone is missed, and more who need protection or shield nobody.
    """
    known = [(people, cells) for people, cells in zip(parts, cells_of, strict=True) if people is not None]
    if not known:
        return None
    most, size = np.iinfo(np.int64).max, value.size
    count = np.full(size, most, dtype=np.int64)
    for people, cells in known:
        count[cells] = np.minimum(count[cells], people.count.reshape(-1))
    # cells of tables without counts: nobody is known to be alone there
    count[count == most] = 2
    # of a table that knows fewer the others count as nothing: rules of its own look at no more than it knows
    every = len(known) == len(parts) and all(people.ranked for people, _ in known)
    ranked = max(people.ranked for people, _ in known) if every else 0
    largest = np.zeros((size, ranked)) if ranked else None
    if largest is not None:
        for people, cells in known:
            assert people.largest is not None
            own = people.largest.reshape(cells.size, -1)
            largest[cells, : people.ranked] = np.maximum(largest[cells, : people.ranked], own)

    def most_of(field: str, otherwise: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        """The largest over the tables; where a table does not know, ``otherwise`` holds."""
        if otherwise is None or all(getattr(people, field) is None for people, _ in known):
            return None
        result = np.zeros_like(otherwise)
        told = np.zeros(size, dtype=np.bool_)
        for people, cells in known:
            own = getattr(people, field)
            found = otherwise[cells] if own is None else own.reshape(-1)
            result[cells] = np.maximum(result[cells], found)
            told[cells] = True
        return np.where(told, result, otherwise)

    nobody = np.zeros(size, dtype=np.int64)
    return Contributors(
        count, largest, absolute=most_of("absolute", np.abs(value)),
        protected_count=most_of("protected_count", count),
        protected_largest=most_of("protected_largest", None if largest is None else largest[:, 0]),
        public_count=most_of("public_count", nobody), public_value=most_of("public_value", nobody.astype(np.float64)),
        owner=_owners(known, size), asked=_asked(known, size),
    )  # fmt: skip


def _asked(known: Sequence[tuple[Contributors, Ints]], size: int) -> Floats | None:
    """The largest contributions of those who asked for protection, of any table that knows them."""
    # contributions to a shadow variable do not compare with the values of the pool
    known = [(people, cells) for people, cells in known if people.shadow_absolute is None]
    told = [(people.asked, cells) for people, cells in known if people.asked is not None]
    if not told:
        return None
    found = np.zeros((size, max(asked.shape[-1] for asked, _ in told)))
    for asked, cells in told:
        kinds = asked.shape[-1]
        found[cells, :kinds] = np.maximum(found[cells, :kinds], asked.reshape(-1, kinds))
    return found


def _owners(known: Sequence[tuple[Contributors, Ints]], size: int) -> Ints | None:
    """One number for every owner of the pool.

    Numbers of different tables do not compare: nobody says that the tables were made together. Two numbers mean the
    same owner where they own the same cell, and nobody else contributes as much to it.
    """
    if all(people.owner is None for people, _ in known):
        return None
    owner, sure = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    same: list[tuple[Ints, Ints]] = []
    end = 0
    for people, cells in known:
        if people.owner is None:
            continue
        numbers = few_numbers(people.owner)
        mine = np.where(numbers >= 0, numbers + end, -1)
        clear = _clear(people)
        end = max(end, int(mine.max(initial=-1)) + 1)
        both = (owner[cells] >= 0) & (mine >= 0) & sure[cells] & clear
        same.append((owner[cells[both]], mine[both]))
        fresh = (mine >= 0) & ((owner[cells] < 0) | (clear & ~sure[cells]))
        owner[cells[fresh]], sure[cells[fresh]] = mine[fresh], clear[fresh]
    return _joined_numbers(owner, np.concatenate([a for a, _ in same]), np.concatenate([b for _, b in same]), end)


def _clear(people: Contributors) -> Bools:
    """Cells in which one contributor is alone, or contributes more than any other."""
    clear: Bools = people.others.reshape(-1) == 1
    if people.largest is not None and people.ranked > 1:
        clear = clear | (people.largest[..., 0] > people.largest[..., 1]).reshape(-1)
    return clear


def _joined_numbers(owner: Ints, one: Ints, other: Ints, end: int) -> Ints:
    """Numbers below ``end`` with those joined that mean the same owner."""
    number = np.arange(max(end, 1))  # nobody (-1) looks up a number, too, which is not taken
    while True:
        before = number.copy()
        np.minimum.at(number, one, number[other])
        np.minimum.at(number, other, number[one])
        # whoever was joined takes the number of whom he was joined with
        number = number[number]
        if (number == before).all():
            return np.where(owner >= 0, number[owner], -1)


def _least(one: int | None, other: int | None) -> int | None:
    """Decimals that hold the values of both."""
    return None if one is None or other is None else max(one, other)
