"""Answering a request: the table as asked, a reduced one, or a refusal, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.exact import decimals_of
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.requests.beside import Beside, House, beside_released
from diskret.requests.differing import differing
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.requests.rounding import rounded_beside, rounded_table
from diskret.requests.shown import ALL, Shown, shown_by, trees_of

Kind = Literal["table", "reduced", "refused"]
MOST_HIDDEN = 0.5
"""Share of the occupied cells up to which a table is given as it is asked for, with cells hidden."""
MOST_TRIED = 8
"""Coarser tables that are tried at most."""
PUBLIC = (
    "what is not given could reveal something about single respondents, alone or together with tables that are already "
    "published"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What somebody who asks is given, and why not more."""

    kind: Kind
    asked: Query
    given: Query | None
    """The request that is answered: the one asked, or a coarser one."""
    table: Table | None
    """The table with its statuses; confidential, like every table: publish it."""
    reasons: tuple[str, ...]
    """Why cells are hidden, or everything is: internal."""
    rounded: float = 0.0
    """The multiple to which the values of the table are rounded; 0: they are exact."""
    kept: Table | None = None
    """Of a rounded table the same with its true values, for the ledger."""
    shown: Shown | None = None
    """What will be known of it from now on."""
    earlier: str = ""
    """The name of the earlier answer to the same question that was given again."""

    @property
    def words(self) -> tuple[str, ...]:
        """What whoever asks is told."""
        if self.kind == "table":
            return ()
        said = [PUBLIC]
        if self.given is not None and self.rounded:
            said.insert(0, f"given instead: {self.given.words()}, rounded to {_base(self.rounded)}")
        elif self.given is not None and self.given != self.asked:
            said.insert(0, f"given instead: {self.given.words()}")
        return tuple(said)

    def report(self, *, internal: bool = False) -> str:
        """In words, for whoever asks; with ``internal`` for the house."""
        lines = [f"{self.asked.words()}: {SAID[self.kind]}"]
        if self.earlier:
            lines.append(f"  the same as {self.earlier}")
        lines += [f"  {each}" for each in self.words]
        if internal:
            lines += [f"  internal: {each}" for each in self.reasons]
        return "\n".join(lines)

    def summary(self) -> dict[str, Any]:
        """As plain data, without any value."""
        told: dict[str, Any] = {"answer": self.kind, "asked": self.asked.to_dict(), "said": list(self.words)}
        if self.given is not None:
            told["given"] = self.given.to_dict()
        if self.table is not None:
            told |= {"cells": self.table.size, "hidden": int(self.table.hidden.sum())}
        told |= {"rounded": self.rounded} if self.rounded else {}
        return told | ({"earlier": self.earlier} if self.earlier else {})

    def __str__(self) -> str:
        return self.report()


def _base(base: float) -> str:
    """A multiple in words.

    >>> _base(10000.0)
    '10,000'
    """
    return f"{base:,.10g}"


SAID = {"table": "given as asked", "reduced": "a reduced table is given", "refused": "refused"}


def answer(
    records: Records, query: Query, house: House, released: Sequence[Shown] = (), *, reduce: bool = True
) -> Answer:
    """Answer a request from records beside everything that was released.

    Nothing that was released is hidden any more; only cells of the new table are. With ``reduce`` coarser tables are
    tried where more than half of the occupied cells would be hidden, and rounded values where nothing else is left.

    >>> from diskret import rules
    >>> firms = {"region": list("AAAABBBBC"), "x": [5, 6, 7, 8, 5, 6, 7, 8, 9]}
    >>> records = Records.of(firms, ["region"], ["x"])
    >>> house = House(rules=rules.MinCount(3) | rules.PPercent(10))
    >>> first = answer(records, Query(by=("region",), value="x"), house)
    >>> first.kind, first.table.name_cells(first.table.hidden)
    ('reduced', ['region=B', 'region=C'])
    >>> answer(records, Query(value="x", without={"region": ("C",)}), house, [first.shown]).kind
    'refused'
    """
    frequency, contributions = query.value is None, records.value(query.value)
    reasons: list[str] = []
    best: tuple[float, Query, Beside] | None = None
    first: Beside | None = None
    for tried in [query, *(_coarser(records, query) if reduce else ())]:
        new = shown_by(records, tried)
        found = beside_released(released, new, contributions, house, frequency=frequency)
        if not found.safe:
            found = _all_hidden(released, found, contributions, house, frequency)
        share = _hidden_share(found)
        if first is None:
            first = found
            reasons += _reasons(found, released, contributions, house, frequency)
        fresh = not found.hidden.all() and bool((~found.hidden & (found.count > 0)).any())
        if found.safe and fresh and (best is None or share < best[0]):
            best = (share, tried, found)
        if best is not None and best[0] <= MOST_HIDDEN:
            break
    if best is None:
        assert first is not None
        return _instead(records, query, first, released, house if reduce else replace(house, rounding="never"), reasons)
    _, given, found = best
    kind: Kind = "table" if given == query and not found.hidden.any() else "reduced"
    shown = replace(found.table, open=~found.hidden.reshape(found.table.shape))
    return Answer(
        kind=kind,
        asked=query,
        given=given,
        table=_table(given, trees_of(records, given), found),
        reasons=tuple(reasons),
        shown=shown,
    )


def _instead(
    records: Records, query: Query, found: Beside, released: Sequence[Shown], house: House, reasons: Sequence[str]
) -> Answer:
    """A refusal that says whether rounded values could be given; or these, if the house gives them."""
    refused = Answer(kind="refused", asked=query, given=None, table=None, reasons=tuple(reasons))
    frequency = query.value is None
    if house.rounding == "never" or found.revised:
        return refused
    rounded = rounded_beside(released, found, records.value(query.value), house, frequency=frequency)
    if rounded is None:
        return refused
    if house.rounding == "propose":
        return replace(
            refused, reasons=(*reasons, f"could be given instead: the same, rounded to {_base(rounded.base)}")
        )
    kept = _table(query, trees_of(records, query), replace(found, hidden=rounded.hidden))
    return Answer(
        kind="reduced", asked=query, given=query, table=rounded_table(kept, rounded.base), reasons=tuple(reasons),
        rounded=rounded.base, kept=kept, shown=rounded.shown,
    )  # fmt: skip


def _all_hidden(
    released: Sequence[Shown], found: Beside, contributions: Floats, house: House, frequency: bool
) -> Beside:
    """A table of which only what is out already is shown: it tells nothing new."""
    return replace(found, hidden=~found.known & (found.count > 0), safe=bool(found.known.any()))


def _hidden_share(found: Beside) -> float:
    occupied = found.count > 0
    return float(found.hidden[occupied].mean()) if occupied.any() else 0.0


def _coarser(records: Records, query: Query) -> Iterator[Query]:
    """Requests for less: one level less of a classification, or one classification less; the finest first."""
    tried = 0
    sizes = {name: len(records.tree(name)) for name in query.by}
    for name in sorted(query.by, key=lambda n: -sizes[n]):
        tree = records.tree(name)
        deep = int(tree.levels[-1] - tree.levels.min())
        for level in range(min(deep, query.levels.get(name, deep)) - 1, 0, -1):
            if tried < MOST_TRIED:
                tried += 1
                yield replace(query, levels={**query.levels, name: level})
    for name in sorted(query.by, key=lambda n: -sizes[n]):
        if len(query.by) > 1 and tried < MOST_TRIED:
            tried += 1
            levels = {n: level for n, level in query.levels.items() if n != name}
            yield replace(query, by=tuple(n for n in query.by if n != name), levels=levels)


def _reasons(
    found: Beside, released: Sequence[Shown], contributions: Floats, house: House, frequency: bool
) -> list[str]:
    """Why cells of the table as asked are hidden."""
    said = []
    alone = int(found.sensitive.sum())
    if alone:
        said.append(f"{alone} cells are sensitive by themselves: {_named(found, found.sensitive)}")
    rest = found.hidden & ~found.sensitive
    if rest.any():
        said.append(f"{int(rest.sum())} cells could be used to compute sensitive ones: {_named(found, rest)}")
    said += differing(released, found.table, contributions, house, frequency=frequency)
    if found.revised:
        said.append("records were revised: with this table the change of published cells could be computed")
    if not found.safe:
        said.append("nothing of it can be shown beside what is already published")
    return said


def _named(found: Beside, cells: Bools, most: int = 6) -> str:
    names = [found.table.cell_name(int(cell)) for cell in np.flatnonzero(cells)[:most]]
    more = int(cells.sum()) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")


def _table(query: Query, trees: Mapping[str, Hierarchy], found: Beside) -> Table:
    """The answer as a table."""
    value, count, hidden, caught = found.value, found.count, found.hidden, found.sensitive & found.hidden
    if not query.by:
        # one number is a part and its total
        value, count = np.repeat(value, 2), np.repeat(count, 2)
        hidden, caught = np.repeat(hidden, 2), np.repeat(caught, 2)
    status = np.where(hidden, np.where(caught, np.uint8(Status.PRIMARY), np.uint8(Status.SECONDARY)), np.uint8(0))
    return answer_table(query, trees, value, count, status.astype(np.uint8))


def answer_table(
    query: Query, trees: Mapping[str, Hierarchy], value: Floats, count: Ints, status: npt.NDArray[np.uint8]
) -> Table:
    """The table of an answer, sealed: it was protected and attacked beside everything released."""
    by = trees or {ALL: Hierarchy.flat([ALL])}
    shape = tuple(len(tree) for tree in by.values())
    return Table(
        by=by, response=query.value or "units", value=value.reshape(shape), status=status.reshape(shape),
        respondents=Contributors(count.reshape(shape)), decimals=decimals_of(value), frequency=query.value is None,
        positive=bool((value >= 0).all()), rules=("the rules of the house",),
    ).sealed()  # fmt: skip
