"""The attack on an anonymous file by somebody who knows the method, the code lists and what is published with it.

He knows that the original is some file over the known codes, with as many objects, whose control tables deviate from
those of the anonymous file by no more than is published, and usually that every combination he sees occurred. What he
can say for certain about a count of the original is between which numbers it lies in all of these files.

Most counts are settled by moving objects: if every table may deviate by b, up to b objects of the anonymous file may
have been anywhere else, so that a count may be b more or less, as far as there are objects to move. The others are
looked at one by one, in programmes. Of more than ``MOST_LOOKED_AT`` of them a sample is drawn; the rest is undecided,
and the finding says how many were not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.model.given import By, classifications
from diskret.model.hierarchy import Hierarchy
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.control import Control, ControlTable, control_tables, key_levels, parsed_level
from diskret.safe.control_cells import ControlCells, control_cells
from diskret.safe.places import places_in, rows_in
from diskret.safe.possible import Possible, Walked, all_rows
from diskret.safe.published import FileKnowledge, Published
from diskret.tabulation.combinations import Combinations, count_combinations

MOST_ROWS = 4_000
"""Combinations of the known codes up to which all of them are taken into account."""
NEAR = 250
"""Combinations taken into account around one count, where all are too many."""
MOST_LOOKED_AT = 500
"""Counts looked at in programmes; of more a sample of so many, and the rest stays undecided."""
SAMPLE = 20
"""The seed of that sample: the same counts every time. A sample of one's own file need not be kept secret."""
SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Told:
    """A count of the original that an attacker can narrow down. Confidential."""

    codes: tuple[str, ...]
    """Of the combination, or of the cell of a control table."""
    by: str
    values: tuple[int, ...]
    """Those that are possible, in order."""

    @property
    def possible(self) -> str:
        """The values as words."""
        return ", ".join(map(str, self.values))


@dataclass(frozen=True, eq=False, kw_only=True)
class FileAttack:
    """What an attacker learns about the small counts of the original: combinations and control cells with 1 to k - 1.

    A count is ``safe`` if at least ``least`` values stay possible, which as many originals show; ``exposed`` if fewer
    do, which is proved; ``undecided`` if neither was found.
    """

    k: int
    least: int
    counts: int
    """Small counts of the original."""
    safe_counts: int
    exposed: tuple[Told, ...] = field(repr=False)
    undecided: int
    passed_over: int = 0
    """How many of the undecided were not looked at: too many were left for programmes, which saw a sample."""
    originals: int | None = None
    """How many originals are possible, where all were visited."""
    known: tuple[str, ...] = ()
    """What the attacker was taken to know beside the file and the method."""

    @property
    def pinned(self) -> int:
        """Small counts that can be computed exactly."""
        return sum(len(each.values) == 1 for each in self.exposed)

    @property
    def safe(self) -> bool:
        """Whether every small count was shown to be safe."""
        return not self.exposed and not self.undecided

    def summary(self) -> dict[str, Any]:
        """Counts only: for the house, because they tell how many small counts there are."""
        return {
            "small counts": self.counts, "at least": self.least, "safe": self.safe_counts,
            "exposed": len(self.exposed), "pinned": self.pinned, "undecided": self.undecided,
            "not looked at": self.passed_over, "possible originals": self.originals, "known": list(self.known),
        }  # fmt: skip

    def report(self, *, internal: bool = False) -> str:
        """In words; the internal form names the counts that are exposed."""
        if self.safe:
            return f"safe: every small count of the original may have at least {self.least} values"
        if self.exposed:
            said = f"not safe: fewer than {self.least} values are possible for {len(self.exposed):,} small counts"
            said += f" ({self.pinned:,} exactly known); undecided: {self.undecided:,}"
        else:
            said = f"not shown to be safe: {self.undecided:,} of {self.counts:,} small counts are undecided"
        if self.passed_over:
            said += f", of which {self.passed_over:,} were not looked at: a sample of {MOST_LOOKED_AT:,} was"
        if internal:
            lines = [f"  {' x '.join(t.codes)} ({t.by}): {t.possible}" for t in self.exposed[:SHOWN]]
            said = "\n".join([said, *lines])
        return said

    def __str__(self) -> str:
        return self.report()


def attack_anonymous(
    file: object,
    published: Published | None = None,
    knowledge: FileKnowledge | None = None,
    *,
    original: object = None,
    attributes: By | None = None,
    control: Control | None = None,
    k: int = 3,
    least: int | None = None,
) -> FileAttack:
    """Find out which small counts of the original an attacker can narrow down who knows the method.

    ``file`` is what `anonymise` gave back, or any anonymous file; then ``original``, ``attributes`` and ``control`` say
    by which records, columns and tables it is judged. ``published`` is what is told beside the file: by default what
    the public report tells, nothing for another's file. ``least`` is how many values must stay possible for every count
    of the original from 1 to k - 1 (a combination or a cell of a control table): k if left out.

    >>> from diskret.safe.anonymise import anonymise
    >>> firms = {"industry": ["D.10.1", "D.10.2", "D.10.3"] + ["D.11.1"] * 5}
    >>> found = attack_anonymous(anonymise(firms, ["industry"], seed=1))
    >>> print(found)
    safe: every small count of the original may have at least 3 values
    """
    case = _case(file, original, attributes, control, k)
    told = published or (Published.report(file) if isinstance(file, Anonymisation) else Published())
    asked = case.k if least is None else least
    if asked < 2:
        raise BadOption(f"least = {asked}", hint="how many values must stay possible: 2 or more.")
    run = _Run(case=case, told=told, knowledge=knowledge or FileKnowledge(), least=asked)
    return run.attacked()


@dataclass(frozen=True, eq=False, kw_only=True)
class _Case:
    """Both files over the same combinations."""

    by: Mapping[str, Hierarchy]
    codes: npt.NDArray[np.int32]
    """In their order."""
    before: Ints
    after: Ints
    cells: ControlCells
    k: int
    listed: frozenset[str]
    fictitious: bool

    @property
    def tables(self) -> tuple[ControlTable, ...]:
        """The control tables."""
        return self.cells.tables


def _case(file: object, original: object, attributes: By | None, control: Control | None, k: int) -> _Case:
    if isinstance(file, Anonymisation):
        return _Case(
            by=file.attributes, codes=file.codes, before=file.original, after=file.frequency, cells=file.control,
            k=file.k, listed=file.listed, fictitious=file.fictitious,
        )  # fmt: skip
    if original is None or attributes is None:
        hint = "say attack_anonymous(file, original=..., attributes=[...]), or hand in what anonymise gave back."
        raise BadOption("original and attributes are missing", hint=hint)
    asked = classifications(attributes)
    before = count_combinations(original, by=asked, categorical=True)
    after = count_combinations(file, by=before.by)
    if before.objects != after.objects:
        hint = "an anonymous file has as many objects as its original."
        raise BadOption(f"{after.objects:,} objects, in the original {before.objects:,}", hint=hint)
    both, at = np.unique(np.concatenate([before.codes, after.codes]), axis=0, return_inverse=True)
    at = at.reshape(-1)
    held = np.zeros((2, len(both)), dtype=np.int64)
    held[0, at[: len(before)]], held[1, at[len(before) :]] = before.frequency, after.frequency
    found = Combinations(by=before.by, codes=both.astype(np.int32), frequency=held[0])
    return _Case(
        by=before.by, codes=found.codes, before=held[0], after=held[1], k=k, fictitious=False,
        cells=control_cells(found, control_tables(control or Control(), before.by)),
        listed=frozenset(name for name, given in asked.items() if given is not None),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Target:
    """A small count: a combination (no table) or a cell of a control table, by a row that is in it."""

    row: int
    table: int | None


@dataclass(eq=False, kw_only=True)
class _Run:
    """An attack and what it has found."""

    case: _Case
    told: Published
    knowledge: FileKnowledge
    least: int

    def attacked(self) -> FileAttack:
        """Settle what moving objects settles, then look at the rest, or at a sample of it."""
        count, rows, cells = self._left_by_moving()
        left = rows.size + cells.size
        codes = self._known_codes() if left else []
        size = float(np.prod([float(each.size) for each in codes]))
        whole = self._possible(all_rows(codes), complete=True) if left and size <= MOST_ROWS else None
        walked = whole.walked(self.least) if whole is not None else None
        if walked is not None:
            seen = left
        elif self.told.counted or (self.knowledge.tables and whole is None):
            seen = 0  # programmes know of bounds only
        else:
            seen = min(left, MOST_LOOKED_AT)
        targets = self._targets(rows, cells, seen)
        exposed, undecided = self._looked_at(targets, whole, walked)
        undecided += left - seen
        return FileAttack(
            k=self.case.k, least=self.least, counts=count, safe_counts=count - len(exposed) - undecided,
            exposed=tuple(exposed), undecided=undecided, passed_over=left - seen if seen else 0,
            originals=None if walked is None else walked.originals, known=tuple(self._known()),
        )  # fmt: skip

    def _known(self) -> list[str]:
        """What the attacker knows, in words."""
        known = [f"deviations of at most {b} in dimension {d}" for d, b in sorted(self.told.largest.items())]
        known += ["numbers of cells by deviation"] if self.told.deviations else []
        known += ["the number of uniques"] if self.told.uniques is not None else []
        known += ["every combination of the file occurred"] if self._existed else []
        known += [f"the counts of {' x '.join(table)}" for table in self.knowledge.tables]
        return known + (["some persons"] if self.knowledge.records is not None else [])

    @property
    def _existed(self) -> bool:
        said = self.knowledge.existed
        return not self.case.fictitious if said is None else said

    # --- moving objects ----------------------------------------------------------------------------------------------

    @cached_property
    def _low(self) -> Ints:
        """The least each combination held, as far as the attacker knows."""
        low = (self.case.after > 0).astype(np.int64) if self._existed else np.zeros_like(self.case.after)
        if self.knowledge.records is None:
            return low
        known = count_combinations(self.knowledge.records, by=self.case.by)
        at = rows_in(self.case.codes, known.codes)
        there = at >= 0
        low[at[there]] = np.maximum(low[at[there]], known.frequency[there])
        return low

    def _left_by_moving(self) -> tuple[int, Ints, Ints]:
        """How many small counts there are; rows and cells still open when b objects may have been anywhere else."""
        case = self.case
        rows = np.flatnonzero((case.before > 0) & (case.before < case.k))
        cells = np.flatnonzero((case.cells.original > 0) & (case.cells.original < case.k))
        bounds = [self.told.bound(max(t.dimension, 1)) for t in case.tables]
        b = min((each for each in bounds if each is not None), default=int(case.after.sum()))
        spare = case.after - self._low
        left_rows, left_cells = rows, cells
        if not (self.knowledge.tables or self.told.counted or (spare < 0).any()):
            in_cells = case.cells.deviation(spare) + case.cells.original
            left_rows, left_cells = (
                at[np.minimum(b, held) + np.minimum(b, int(spare.sum()) - held) + 1 < self.least]
                for at, held in ((rows, spare[rows]), (cells, in_cells[cells]))
            )
        return rows.size + cells.size, left_rows, left_cells

    def _targets(self, rows: Ints, cells: Ints, number: int) -> list[_Target]:
        """So many of the rows and cells: all, or a sample; cells with the first row that is in them."""
        drawn = np.random.default_rng(SAMPLE).choice(rows.size + cells.size, number, replace=False)
        found = [_Target(row=int(j), table=None) for j in rows[np.sort(drawn[drawn < rows.size])]]
        wanted, of = cells[np.sort(drawn[drawn >= rows.size]) - rows.size], self.case.cells
        table = np.searchsorted(of.first, wanted, side="right") - 1
        for t in np.unique(table).tolist():
            here = of.occurring[wanted[table == t]]
            place = places_in(of.places, t, of.places_size)
            inside = np.flatnonzero(np.isin(place, here))
            first = np.unique(place[inside], return_index=True)[1]
            found += [_Target(row=int(j), table=t) for j in inside[first]]
        return found

    # --- programmes --------------------------------------------------------------------------------------------------

    def _looked_at(
        self, targets: list[_Target], whole: Possible | None, walked: Walked | None
    ) -> tuple[list[Told], int]:
        """Exposed counts, and the number of undecided ones."""
        exposed: list[Told] = []
        undecided = 0
        for each in targets:
            here = whole if whole is not None else self._possible(self._around(each), complete=False)
            rows = self._rows_of(each, here)
            if not rows.any():  # nobody who does not know its codes can name it
                continue
            values = self._values(here, rows) if walked is None else _met(each, here, walked, rows)
            if not values:
                undecided += 1
            elif len(values) < self.least:
                exposed.append(self._told(each, tuple(values)))
        return exposed, undecided

    def _values(self, here: Possible, rows: Bools) -> Sequence[int]:
        """The values these rows may have; none if as many as wanted were neither seen nor proved impossible."""
        if self.told.counted or (self.knowledge.tables and not here.complete):
            return ()
        low, high = here.limits(rows)
        if high - low + 1 < self.least:
            return range(low, high + 1)
        up = here.point(rows, True, low)
        down = here.point(rows, False, high)
        if up is None or down is None or up - down + 1 < self.least:
            return ()
        seen = [down, up]  # there may be gaps between them
        for value in range(down + 1, up):
            if len(seen) == self.least:
                break
            seen += [value] * here.holds(rows, value)
        return seen if len(seen) == self.least else ()

    def _possible(self, codes: npt.NDArray[np.int32], *, complete: bool) -> Possible:
        case = self.case
        at = rows_in(case.codes, codes)
        there = at >= 0
        published, low = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
        published[there], low[there] = case.after[at[there]], self._low[at[there]]
        known = self._known_tables(codes) if complete else {}
        return Possible.of(case.by, codes, published, low, case.tables, self.told, known, complete=complete)

    def _known_tables(self, codes: npt.NDArray[np.int32]) -> dict[int, Ints]:
        """The original counts the attacker has from elsewhere, row by row."""
        found: dict[int, Ints] = {}
        wanted = [frozenset(parsed_level(text, self.case.by) for text in each) for each in self.knowledge.tables]
        for t, table in enumerate(self.case.tables):
            if frozenset(table.levels) not in wanted or table.counter is not None:
                continue
            both = np.concatenate([self.case.codes, codes])
            held = np.concatenate([self.case.before, np.zeros(len(codes), dtype=np.int64)])
            cells = control_cells(Combinations(by=self.case.by, codes=both, frequency=held), [table])
            found[t] = cells.original[cells.number[len(self.case.codes) :, 0].astype(np.int64)]
        if len(found) < len(wanted):
            raise BadOption("a known table is not controlled", where="knowledge.tables", hint="name control tables.")
        return found

    def _rows_of(self, target: _Target, here: Possible) -> Bools:
        """The rows whose sum is the small count."""
        case, mine = self.case, self.case.codes[target.row]
        if target.table is None:
            return np.asarray((here.codes == mine).all(axis=1), dtype=np.bool_)
        table, names = case.tables[target.table], list(case.by)
        same = np.ones(len(here.codes), dtype=np.bool_)
        for level in table.levels:
            axis = names.index(level.attribute)
            to = key_levels(level.attribute, case.by[level.attribute])[level]
            same &= to[here.codes[:, axis]] == to[mine[axis]]
        if table.counter is not None:
            same &= here.codes[:, names.index(table.counter)] == case.by[table.counter].index("1")
        return same

    @cached_property
    def _occupied(self) -> Ints:
        """Rows with an object to spare, those with many first."""
        held = np.flatnonzero(self.case.after > 1)
        return held[np.argsort(-self.case.after[held], kind="stable")]

    def _around(self, target: _Target) -> npt.NDArray[np.int32]:
        """Combinations near a small count: alike ones that occur, and those one code away from them and from it."""
        case, occupied = self.case, self._occupied
        mine = case.codes[target.row]
        alike = np.zeros(occupied.size, dtype=np.int16)
        for a, code in enumerate(mine):
            alike += self._occupied_codes[a] == code
        near, most = np.empty(0, dtype=np.int64), NEAR // (2 * mine.size)
        for same in range(mine.size, -1, -1):  # the most alike, and of these those that hold most
            near = np.append(near, occupied[np.flatnonzero(alike == same)[: most - near.size]])
            if near.size == most:
                break
        rows = [mine, *case.codes[near]]
        for a in range(mine.size):
            for row in case.codes[near]:
                one, other = row.copy(), mine.copy()
                one[a], other[a] = mine[a], row[a]
                rows += [one, other]
        return np.unique(np.array(rows, dtype=np.int32), axis=0)

    @cached_property
    def _occupied_codes(self) -> npt.NDArray[np.int32]:
        """Their codes, attribute by attribute."""
        return np.ascontiguousarray(self.case.codes[self._occupied].T)

    def _known_codes(self) -> list[Ints]:
        """The codes an attacker knows, per attribute: lists that were given, and what the file shows."""
        found, known = [], self.case.listed if self.knowledge.listed is None else {*self.knowledge.listed}
        for axis, (name, hierarchy) in enumerate(self.case.by.items()):
            seen = np.unique(self.case.codes[self.case.after > 0, axis])
            more = [hierarchy.index(code) for code in self.knowledge.codes.get(name, ()) if code in hierarchy]
            listed = np.flatnonzero(hierarchy.is_leaf) if name in known else seen
            found.append(np.unique(np.concatenate([seen, listed, np.array(more, dtype=np.int64)])).astype(np.int64))
        return found

    def _told(self, target: _Target, values: tuple[int, ...]) -> Told:
        case = self.case
        if target.table is None:
            names = tuple(case.by)
            code = tuple(str(case.by[name].codes[i]) for name, i in zip(names, case.codes[target.row], strict=True))
            return Told(codes=code, by=" x ".join(names), values=values)
        table, code_of = case.tables[target.table], []
        for level in table.levels:
            hierarchy = case.by[level.attribute]
            to = key_levels(level.attribute, hierarchy)[level]
            mine = case.codes[target.row, list(case.by).index(level.attribute)]
            code_of.append(str(hierarchy.codes[to[mine]]))
        return Told(codes=tuple(code_of), by=str(table), values=values)


def _met(target: _Target, here: Possible, walked: Walked, rows: Bools) -> list[int]:
    """The values a count has in all possible originals, in order; none if there is no original."""
    first = int(np.flatnonzero(rows)[0])
    met = walked.rows[first] if target.table is None else walked.cells[int(here.cells.number[first, target.table])]
    return sorted(met[met >= 0].tolist())
