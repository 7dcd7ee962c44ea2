"""Statements about single cells, set in a table after its rules: statuses, protection levels and prices by hand."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.io.hst import Apriori, Errors, Wrong, lines_of
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.given import refuse_no_table, refuse_other
from diskret.model.grid import level_of
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.spelling import visible
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.mark import verdicts

WORDS = ("s", "u", "p", "m", "c", "pl")
SAFE, UNSAFE, NEVER, SECONDARY, COST, LEVELS = range(len(WORDS))
REFUSED = 255
_O, _P, _S, _N, _OUT, _SZ, _Z = (int(status) for status in Status)
BECOMES = np.array(
    [
        [_O, _O, _O, _O, _OUT, _SZ, _Z],
        [_P, _P, _P, REFUSED, REFUSED, REFUSED, _P],
        [_N, REFUSED, REFUSED, _N, _OUT, _SZ, _N],
        [_S, REFUSED, _S, REFUSED, REFUSED, REFUSED, _S],
    ],
    dtype=np.uint8,
)
"""What a status becomes by s, u, p and m, one column per status. What tau-ARGUS refuses is refused: that would publish
a sensitive cell in passing, or hide one that must be shown."""


def apply_apriori(
    table: Table, said: Apriori, *, expand: bool = False, errors: Errors = "refuse", prices: Floats | None = None
) -> Table:
    """The table with what an a-priori file says about its cells; the file overrules the rules the table was marked by.

    With ``expand`` a statement holds for all cells that are the same because a sum has a single part. Lines about
    unknown codes, and statements a cell's status does not allow, are refused; with ``errors="ignore"`` they are counted
    in a `ProtectionWarning`. So are sensitive cells that the file opens. Costs are prices of cells as they stand beside
    ``prices`` (left out: those of the table, or else its values): take them with ``Cost(by="given")``.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from diskret.io.hst import read_apriori
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "own.hst").write_text("a;u\\na;pl;2;3\\n;p\\n")
    ...     marked = apply_apriori(table, read_apriori(Path(folder) / "own.hst"))
    >>> marked.status.tolist(), marked.below.tolist(), marked.above.tolist()
    ([1, 0, 0, 3], [2.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0])
    """
    refuse_no_table(table, "an apriori file")
    refuse_other(said, Apriori, "an a-priori file", "read one: read_apriori(path).")
    if errors not in ("refuse", "ignore"):
        raise BadOption(f"errors {errors!r}", hint="'refuse' or 'ignore'.")
    if len(said.codes) != len(table.names):
        raise BadOption(
            f"the a-priori file has {len(said.codes)} codes in a line, the table {len(table.names)} classifications",
            where=said.path,
            hint=f"every line names {listed(table.names)}; read_apriori(classifications=...) says how many.",
        )
    work = _Work.on(table)
    cells, statement, unknown = _cells(table, said, expand)
    wrong = [*said.wrong, *unknown, *work.all(said, cells, statement)]
    if wrong:
        _tell(sorted(set(wrong)), said, errors)
    if expand:
        _tell_expanded(table, said, cells, statement)
    return work.table(said, cells, statement, prices)


def _tell(wrong: list[Wrong], said: Apriori, errors: Errors) -> None:
    """Refuse lines, or say that they are passed over."""
    if errors == "refuse":
        raise BadOption(
            wrong[0].why,
            where=f"{said.path}, {lines_of(wrong)}",
            hint="correct them, or have such lines passed over with errors = 'ignore'.",
        )
    warnings.warn(
        f"{len(wrong)} lines of {said.name} are passed over ({lines_of(wrong)}); the first: {wrong[0].why}",
        ProtectionWarning,
        stacklevel=3,
    )


# --- which cells -----------------------------------------------------------------------------------------------------


def _cells(table: Table, said: Apriori, expand: bool) -> tuple[Ints, Ints, list[Wrong]]:
    """Cells (flat) with the statement each is about, in the order of the lines, and lines with unknown codes."""
    found = [_places(h, codes) for h, codes in zip(table.hierarchies, said.codes, strict=True)]
    places = np.array(found, dtype=np.int64).reshape(len(table.shape), len(said))
    known = (places >= 0).all(axis=0)
    wrong = list(_unknown(table, said, places))
    statement = np.flatnonzero(known)
    places = places[:, known]
    if expand:
        statement, places = _expanded(table, statement, places)
    cells: Ints = np.asarray(np.ravel_multi_index(tuple(places), table.shape), dtype=np.int64)
    return cells, statement, wrong


def _places(hierarchy: Hierarchy, codes: tuple[str, ...]) -> Ints:
    """Positions of codes, -1 where there is none; a total is its code in upper or lower case, or nothing."""
    place = {code: _place(hierarchy, code) for code in dict.fromkeys(codes)}
    return np.array([place[code] for code in codes], dtype=np.int64)


def _place(hierarchy: Hierarchy, code: str) -> int:
    if code in hierarchy:
        return hierarchy.index(code)
    return len(hierarchy) - 1 if code.lower() in ("", hierarchy.total.lower(), TOTAL.lower()) else -1


def _unknown(table: Table, said: Apriori, places: Ints) -> Iterator[Wrong]:
    for axis, (name, codes) in enumerate(zip(table.names, said.codes, strict=True)):
        for statement in np.flatnonzero(places[axis] < 0).tolist():
            why = f"code {visible(codes[statement][:80])} of {name!r} is not in the table"
            yield Wrong(int(said.lines[statement]), why)


def _expanded(table: Table, statement: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Every statement once for each cell that is the same one."""
    members = [_same(h) for h in table.hierarchies]
    sizes = np.array([size[at] for (_, _, size), at in zip(members, places, strict=True)])
    times = sizes.prod(axis=0)
    which = np.repeat(np.arange(statement.size), times)
    number = np.arange(which.size) - np.repeat(np.cumsum(times) - times, times)
    result = np.empty((places.shape[0], which.size), dtype=np.int64)
    for axis, (order, start, _) in enumerate(members):
        many = sizes[axis][which]
        result[axis] = order[start[places[axis][which]] + number % many]
        number //= many
    return statement[which], result


def _same(hierarchy: Hierarchy) -> tuple[Ints, Ints, Ints]:
    """Codes in groups of those that are the same since a sum has one part: their order, starts and sizes per code."""
    group = np.arange(len(hierarchy))
    for parents in hierarchy.groupings:
        parts = np.bincount(parents[parents >= 0], minlength=len(hierarchy))
        alone = np.flatnonzero((parents >= 0) & (parts[parents] == 1))
        for code, whole in zip(alone[::-1].tolist(), parents[alone[::-1]].tolist(), strict=True):
            if group[code] == code:  # sums come first: nothing has joined it yet
                group[code] = group[whole]
            else:
                group[group == group[code]] = group[whole]
    _, number, size = np.unique(group, return_inverse=True, return_counts=True)
    start = np.cumsum(size) - size
    return np.argsort(number, kind="stable"), start[number], size[number]


def _tell_expanded(table: Table, said: Apriori, cells: Ints, statement: Ints) -> None:
    times = np.bincount(statement, minlength=len(said))
    if (times > 1).any():
        more = np.zeros(table.size, dtype=np.bool_)
        more[cells[times[statement] > 1]] = True
        warnings.warn(
            f"{int((times > 1).sum())} lines of {said.name} hold for all cells that are the same because a sum has a "
            f"single part: {listed(table.name_cells(more.reshape(table.shape)))}",
            ProtectionWarning,
            stacklevel=3,
        )


# --- what becomes of them --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class _Work:
    """The cells (flat) while statements are set, one after the other."""

    before: Table
    status: npt.NDArray[np.uint8]
    given: Bools
    """Cells set unsafe by hand."""
    price: Floats
    """Prices by hand, nan elsewhere."""
    levels: Floats
    """Protection levels by hand, below and above, nan elsewhere."""
    vacant: Bools
    """Cells nobody contributes to: nothing in them could be unsafe."""

    @classmethod
    def on(cls, table: Table) -> _Work:
        nobody = table.empty.reshape(-1) if table.respondents is not None else np.zeros(table.size, dtype=np.bool_)
        given = np.zeros(table.size, np.bool_) if table.rule is None else table.rule.reshape(-1) & 1 > 0
        return cls(
            before=table, status=table.status.reshape(-1).copy(), given=given, price=np.full(table.size, np.nan),
            levels=np.full((2, table.size), np.nan), vacant=nobody,
        )  # fmt: skip

    def all(self, said: Apriori, cells: Ints, statement: Ints) -> list[Wrong]:
        """Set all statements: the first about every cell, then the second, and so on; gives those refused."""
        word = np.array([WORDS.index(w) for w in said.words], dtype=np.int64)[statement]
        order = np.argsort(cells, kind="stable")
        fresh = np.append(True, np.diff(cells[order]) != 0) if cells.size else np.empty(0, np.bool_)
        first = np.maximum.accumulate(np.where(fresh, np.arange(cells.size), 0))
        turn = np.arange(cells.size) - first
        by_turn = np.argsort(turn, kind="stable")
        ends = np.cumsum(np.bincount(turn)) if cells.size else np.empty(0, np.int64)
        wrong: list[Wrong] = []
        for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            now = order[by_turn[begin:end]]
            numbers = (said.first[statement[now]], said.second[statement[now]])
            bad = now[self._set(cells[now], word[now], *numbers)]
            wrong += [self._why(int(cells[i]), said, int(statement[i])) for i in bad.tolist()]
        return wrong

    def _set(self, cells: Ints, word: Ints, first: Floats, second: Floats) -> Bools:
        """Set one statement per cell; which are refused."""
        old = self.status[cells]
        named = word <= SECONDARY
        new = np.where(named, BECOMES[np.minimum(word, SECONDARY), old], old)
        hides = (word == UNSAFE) | (word == SECONDARY)
        bad: Bools = (new == REFUSED) | (hides & self.vacant[cells]) | ((word == LEVELS) & (old != Status.PRIMARY))
        self.status[cells[named & ~bad]] = new[named & ~bad]
        self.given[cells[(word == UNSAFE) & ~bad]] = True
        self.given[cells[word == SAFE]] = False
        self.levels[:, cells[(word == SAFE) | (word == UNSAFE)]] = np.nan
        self.price[cells[word == COST]] = first[word == COST]
        exact = (word == LEVELS) & ~bad
        self.levels[:, cells[exact]] = first[exact], second[exact]
        return bad

    def _why(self, cell: int, said: Apriori, statement: int) -> Wrong:
        word, name = said.words[statement], self.before.name_of(cell)
        why = f"{word!r} does not fit the {Status(int(self.status[cell])).text} cell {name}"
        if word == "pl":
            why = f"protection levels belong to unsafe cells, not to {name}"
        elif self.vacant[cell] and word in "um":
            why = f"nobody contributes to the cell {name}: {word!r} does not fit it"
        return Wrong(int(said.lines[statement]), why)

    def table(self, said: Apriori, cells: Ints, statement: Ints, prices: Floats | None) -> Table:
        """The table as it is now; says what deserves care."""
        table, shape = self.before, self.before.shape
        was = table.status.reshape(-1) == Status.PRIMARY
        primary = self.status == Status.PRIMARY
        opened = was & ~primary
        if opened.any():
            warnings.warn(
                f"{int(opened.sum())} sensitive cells are not protected because {said.name} says so: "
                + listed(table.name_cells(opened.reshape(shape))),
                ProtectionWarning,
                stacklevel=3,
            )
        changed: dict[str, Any] = {"status": self.status.reshape(shape), "seal": ""}
        if table.rule is not None:
            bits = np.where(opened, np.uint32(0), table.rule.reshape(-1)) & ~np.uint32(1)
            changed["rule"] = (bits | (self.given & primary)).astype(np.uint32).reshape(shape)
        now = replace(table, **changed)
        changed |= self._protection(now, opened, primary & ~was, said.name)
        if (~np.isnan(self.price)).any():
            base = prices if prices is not None else table.weight if table.weight is not None else np.abs(table.value)
            changed["weight"] = np.where(np.isnan(self.price), base.reshape(-1), self.price).reshape(shape)
        return replace(table, **changed)

    def _protection(self, now: Table, opened: Bools, fresh: Bools, file: str) -> dict[str, Floats]:
        """Levels by hand; else those the rules have for cells set by hand; none for what was opened."""
        needed = _needed(now, fresh)
        by_hand = ~np.isnan(self.levels[0])
        if not (by_hand.any() or needed.any()) and now.below is None and now.above is None:
            return {}
        found: dict[str, Floats] = {}
        lower = np.zeros(now.size, dtype=np.bool_)
        for side, name in enumerate(("below", "above")):
            level = getattr(now, name)
            old = np.zeros(now.size) if level is None else np.where(opened, 0.0, level.reshape(-1))
            ruled = np.where(fresh, np.maximum(old, needed), old)
            lower |= by_hand & (self.levels[side] < ruled)
            found[name] = np.where(by_hand, self.levels[side], ruled).reshape(now.shape)
        if lower.any():
            warnings.warn(
                f"{int(lower.sum())} sensitive cells get smaller protection levels from {file} than rules demand: "
                + listed(now.name_cells(lower.reshape(now.shape))),
                ProtectionWarning,
                stacklevel=4,
            )
        return found


def _needed(table: Table, fresh: Bools) -> Floats:
    """How far the table's rules want intervals of cells set unsafe by hand to reach (flat)."""
    needed = np.zeros(table.shape)
    if fresh.any():
        for verdict in verdicts(table, table.judges):
            if verdict.needed is not None:
                np.maximum(needed, verdict.needed, out=needed, where=verdict.primary & fresh.reshape(table.shape))
    return level_of(needed, table.value).reshape(-1)
