"""The system that is attacked and protected in the place of a new table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.ledger.connecting import Connected, least_of
from diskret.ledger.fitting import fitted
from diskret.ledger.judging import judged
from diskret.ledger.linked import Linked
from diskret.ledger.naming import space_of
from diskret.ledger.settled import identities_of
from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.exact import decimals_of
from diskret.model.rule import Rule, distinct_rules
from diskret.model.status import Status

Told = tuple[tuple[int, str], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Made:
    """A system, and what was found while it was made; see `Link`."""

    cells: Linked
    own: Ints
    shown_hidden: Told
    hidden_shown: Told
    connected: tuple[int, ...]
    untold: int
    fits: bool
    derived: int
    left: int
    ratio_rows: dict[int, int]


def system_of(found: Connected, subjects: dict[tuple[str, str, str], int], judges: tuple[Rule, ...]) -> Made:
    """Everything that is connected, as cells and equations that can be attacked."""
    kept = np.flatnonzero(found.inside)
    place = np.full(found.size, -1, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    value = np.array(found.relations.value)
    status, shown_hidden, hidden_shown = _statuses(found)
    lower, upper = _bounds(found)
    people, primary, below, above = judged(found, judges)
    status[primary] = Status.PRIMARY
    start, cells, factor, told = _rows(found, place)
    sources = tuple(entry.name for entry, _ in found.given)
    shown_by = _shown_by(found, place)
    frequency = (
        all(entry.frequency for entry, _ in found.given) and set(found.difference.tolist()) <= found.relations.parts
    )
    untold = int(np.isnan(value[kept[kept < found.nodes.size]]).sum())
    differences = kept >= found.key.shape[0]
    give = differences & ~np.isin(kept, [*found.relations.parts])
    own, upper[kept], fits = fitted(value[kept], (lower[kept], upper[kept]), (start, cells, factor), give)
    # what cells have in common is not less than nothing, unless something contradicts something
    parts = np.isin(kept, [*found.relations.parts])
    fits &= bool((own[parts] >= lower[kept][parts]).all())
    # what was revised in one place and not in another may leave less than nothing for what nobody published
    lower[kept], upper[kept] = np.minimum(lower[kept], own), np.maximum(upper[kept], own)
    system = Linked(
        by={}, response=found.given[-1][0].response, value=own, status=status[kept],
        respondents=None if people is None else people.each(lambda a: a[kept]),
        below=below[kept], above=above[kept], lower=lower[kept], upper=upper[kept],
        decimals=decimals_of(own), frequency=frequency, judges=distinct_rules(judges),
        space=space_of(found, kept, subjects), system=_equations(start, cells, factor, kept.size),
        axes=tuple(("", "") for _ in told), sources=sources, shown_by=shown_by, told=told,
        differences=differences,
        identity=identities_of(found, kept, list(subjects)), row_cells=(start, cells),
    )  # fmt: skip
    of_row = found.nodes.of_row
    near = (of_row >= 0) & found.inside[np.maximum(of_row, 0)] & (found.rows.entry < len(sources) - 1)
    return Made(
        cells=system, own=np.where(found.own >= 0, place[np.maximum(found.own, 0)], -1),
        shown_hidden=shown_hidden, hidden_shown=hidden_shown, untold=untold, fits=fits,
        ratio_rows=_ratio_rows(found),
        connected=tuple(np.unique(found.rows.entry[near]).tolist()),
        left=int(found.inside[found.left].sum()),
        derived=int(((kept >= found.nodes.size) & (kept < found.key.shape[0])).sum()),
    )  # fmt: skip


def _ratio_rows(found: Connected) -> dict[int, int]:
    """The equations that say a ratio of the newest entry, by their numbers in the system."""
    rows = np.flatnonzero(found.told).tolist()
    return {i: found.ratio_of[row] for i, row in enumerate(rows) if row in found.ratio_of}


def _rows(found: Connected, place: Ints) -> tuple[Ints, Ints, Floats, tuple[str, ...]]:
    """The equations that are connected: where each begins, cells, coefficients, what those say that are no sums."""
    lengths = np.diff(found.start)
    entry = found.told[np.repeat(np.arange(lengths.size), lengths)]
    start = np.append(0, np.cumsum(lengths[found.told])).astype(np.int64)
    told = tuple(found.relations.told[i] for i in np.flatnonzero(found.told).tolist())
    return start, place[found.cell[entry]], found.coefficient[entry], told


def _equations(start: Ints, cells: Ints, factor: Floats, size: int) -> Equations:
    """Rows with their cells in order; in each the sum comes first."""
    lengths = np.diff(start)
    order = np.lexsort((cells, np.repeat(np.arange(lengths.size), lengths)))
    sums = cells[start[:-1]].astype(np.int64)
    return Equations(np.arange(size), start, cells[order], factor[order], np.arange(lengths.size), sums)


def _statuses(found: Connected) -> tuple[npt.NDArray[np.uint8], Told, Told]:
    """What may happen to each cell, and what the new table and older ones tell of each other's sensitive cells."""
    nodes, rows = found.nodes, found.rows
    old = (rows.entry < len(found.given) - 1) & (nodes.of_row >= 0)
    exactly = ~np.isnan(rows.shown) & ~np.isfinite(rows.lower)
    shown_by = _first(found, old & exactly)
    hidden_by = _first(found, old & np.isnan(rows.shown) & (rows.status == Status.PRIMARY))
    status = np.full(found.size, Status.SECONDARY, dtype=np.uint8)
    known = ~np.isnan(nodes.shown)
    status[: nodes.size] = np.where(nodes.primary, Status.PRIMARY, Status.SECONDARY)
    status[: nodes.size][known] = np.where(shown_by >= 0, Status.PUBLISHED, Status.OPEN)[known]
    shown_hidden, hidden_shown = [], []
    _, given = found.given[-1]
    names = [entry.name for entry, _ in found.given]
    for i in np.flatnonzero(found.own >= 0).tolist():
        node = int(found.own[i])
        if not np.isnan(given.shown[i]) and hidden_by[node] >= 0:
            shown_hidden.append((i, names[hidden_by[node]]))
            # what is sensitive stays so: whoever protects the table hides it
            status[node] = Status.PUBLISHED if shown_by[node] >= 0 else Status.PRIMARY
        if given.status[i] == Status.PRIMARY and np.isnan(given.shown[i]) and shown_by[node] >= 0:
            hidden_shown.append((i, names[shown_by[node]]))
    return status, tuple(shown_hidden), tuple(hidden_shown)


def _first(found: Connected, rows: npt.NDArray[np.bool_]) -> Ints:
    """For every node the first entry among some rows that has it; -1 for none."""
    first = np.full(found.nodes.size, -1, dtype=np.int64)
    at = np.flatnonzero(rows)[::-1]
    first[found.nodes.of_row[at]] = found.rows.entry[at]
    return first


def _bounds(found: Connected) -> tuple[Floats, Floats]:
    """What everybody knows of every cell: what was published besides, and that values are not negative."""
    lower, upper = np.full(found.size, -np.inf), np.full(found.size, np.inf)
    nodes = found.nodes
    lower[: nodes.size], upper[: nodes.size] = nodes.lower, nodes.upper
    lower[: found.key.shape[0]] = np.maximum(lower[: found.key.shape[0]], least_of(found.given))
    for cell, (least, most, _) in found.relations.differences.items():
        lower[cell], upper[cell] = least, most
    return lower, upper


def _shown_by(found: Connected, place: Ints) -> dict[int, list[int]]:
    """Of every cell that is published the entries that show it."""
    rows, nodes = found.rows, found.nodes
    at = np.flatnonzero((nodes.of_row >= 0) & ~np.isnan(rows.shown))
    at = at[place[nodes.of_row[at]] >= 0]
    shown: dict[int, list[int]] = {}
    for node, entry in zip(place[nodes.of_row[at]].tolist(), rows.entry[at].tolist(), strict=True):
        shown.setdefault(node, []).append(entry)
    return shown
