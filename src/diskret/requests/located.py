"""Tables of a ledger over the records of a house: which record is counted in which of their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diskret.ledger.about import PERIOD, About
from diskret.ledger.codes import Scheme, sums_in
from diskret.ledger.entry import Entry, EntryCells
from diskret.ledger.ledger import Ledger
from diskret.model.arrays import Bools, Floats
from diskret.model.exact import apart
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.requests.shown import ALL, Axis, Shown, atoms_of, members, name_of_set, named_trees

COUNT = "units"
"""The value of tables that count."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Located:
    """What was released of the same units and the same value."""

    shown: tuple[Shown, ...]
    beyond: tuple[str, ...]
    """Entries that the records cannot tell, or not all of it, or not truly: other periods, rates, classifications they
    do not have, other values than theirs."""


def located(ledger: Ledger, records: Records, base: About, value: str | None) -> Located:
    """All entries of a ledger that count the same, over the records."""
    shown, beyond = [], []
    about = of_value(base, value)
    subject = (about.population, about.value, about.scale[1])
    for entry in ledger.entries:
        same_period = entry.about.period == base.period or PERIOD in entry.by
        if entry.subject != subject and entry.about.ratio is None:
            continue
        if entry.subject != subject or not same_period:
            # rates and other periods may say something about this one: quarters add up to years
            beyond.append(entry.name)
            continue
        cells = ledger.cells(entry)
        found = None
        if entry.about.ratio is None:
            found = _over(entry, cells, records, ledger.schemes, base.period, about.scale[0])
        told = None if found is None else _as_told(found, entry, cells, records.value(value), about.scale[0])
        if told is not None:
            shown.append(told)
        if told is None or told.changed is not None or PERIOD in entry.by:
            beyond.append(entry.name)
    return Located(shown=tuple(shown), beyond=tuple(beyond))


def of_value(base: About, value: str | None) -> About:
    """What a table counts whose value is asked for."""
    return replace(base, value=value or COUNT, unit=base.unit if value else "")


def _over(
    entry: Entry, cells: EntryCells, records: Records, schemes: Mapping[str, Scheme], period: str, scale: float
) -> Shown | None:
    """An entry over the records; nothing if its classifications are not columns of theirs."""
    codes = {name: code for name, code in entry.about.codes.items() if name != PERIOD}
    named = [name for name in (*entry.by, *codes) if name != PERIOD and not _of_one_number(name, entry)]
    if any(name not in records.codes or name not in schemes for name in named):
        return None
    counted = np.ones(records.size, dtype=np.bool_)
    for name, code in codes.items():
        inside = _inside(schemes[name], [code], records.codes[name])
        if inside is None:
            return None
        counted &= inside[0][records.at[name]]
    axes = []
    for name, hierarchy in entry.by.items():
        if name == PERIOD:
            continue
        if _of_one_number(name, entry):
            every = np.ones((len(hierarchy), 1), dtype=np.bool_)
            axes.append(Axis.of(name, hierarchy.codes, hierarchy.total, every, np.zeros(records.size, dtype=np.int64)))
            continue
        inside = _inside(schemes[name], hierarchy.codes, records.codes[name])
        if inside is None:
            return None
        axes.append(Axis.of(name, hierarchy.codes, hierarchy.total, inside, records.at[name]))
        # whoever is in none of its codes is not counted
        anywhere: Bools = np.asarray(inside.any(axis=0))
        counted &= anywhere[records.at[name]]
    opened = np.zeros(tuple(len(axis.codes) for axis in axes), dtype=np.bool_)
    there: Bools = np.ones(cells.size, dtype=np.bool_)
    places = []
    for at, (name, hierarchy) in zip(cells.at, entry.by.items(), strict=True):
        if name == PERIOD:
            there &= at == hierarchy.index(period) if period in hierarchy else False
        else:
            places.append(at)
    vague = np.isfinite(cells.lower) | np.isfinite(cells.upper)
    rows = np.flatnonzero(there & ~cells.hidden & ~vague)
    opened[tuple(at[rows] for at in places)] = True
    bounds = np.full(opened.shape, -np.inf), np.full(opened.shape, np.inf)
    rows = np.flatnonzero(there & vague)
    for bound, said in zip(bounds, (cells.lower, cells.upper), strict=True):
        bound[tuple(at[rows] for at in places)] = said[rows] / scale
    return Shown(axes=tuple(axes), counted=counted, open=opened, title=entry.name, bounds=bounds if rows.size else None)


def _of_one_number(name: str, entry: Entry) -> bool:
    """Whether a classification is that of an answer that has none: a single number."""
    return name == ALL and name in entry.by and set(entry.by[name].codes) == {ALL, entry.by[name].total}


def _inside(scheme: Scheme, codes: Sequence[str], of: Sequence[str]) -> Bools | None:
    """Which codes of records (columns) are part of which codes (rows); nothing where one is only in part."""
    if any(code not in scheme for code in (*codes, *of)):
        return None
    found = np.zeros((len(codes), len(of)), dtype=np.bool_)
    for row, code in enumerate(codes):
        own = scheme.set_of(code)
        for column, part in enumerate(of):
            theirs = scheme.set_of(part)
            if theirs & own and theirs & ~own:
                return None
            found[row, column] = bool(theirs & own)
    return found


def _as_told(shown: Shown, entry: Entry, cells: EntryCells, value: Floats, scale: float) -> Shown:
    """An entry with the cells that have another value now than it says, beyond rounding and intervals."""
    atoms = atoms_of([shown], value, 1)
    sums = np.where(members(shown, atoms), atoms.value, 0.0).sum(axis=1).reshape(shown.shape)
    near, changed = apart(sums.reshape(-1)).reshape(shown.shape), np.zeros(shown.shape, dtype=np.bool_)
    if shown.bounds is not None:
        changed |= (sums < shown.bounds[0] - near) | (sums > shown.bounds[1] + near)
    if PERIOD not in entry.by:
        seen = ~cells.hidden & ~np.isfinite(cells.lower)
        at = tuple(each[seen] for each in cells.at)
        changed[at] |= np.abs(sums[at] * scale - cells.shown[seen]) > near[at] * scale
    if not changed.any():
        return shown
    # what was told of its values then is the ledger's
    return replace(shown, bounds=None, changed=changed)


def about_of(base: About, records: Records, query: Query) -> About:
    """What the answer to a request counts: its filter as codes, each with what it is made of."""
    about = of_value(base, query.value)
    fixed, groupings, totals = dict(base.fixed), dict(base.groupings), dict(base.totals)
    for name in query.filtered:
        tree = records.tree(name)
        groups = {whole: list(parts) for whole, parts in sums_in(tree)}
        totals.setdefault(name, tree.total)
        chosen = records.chosen(query, name)
        if name not in query.by and len(chosen) < len(records.codes[name]):
            code = _code(records, name, chosen)
            if code not in tree:
                groups[code] = list(chosen)
            fixed[name] = code
        groupings[name] = {**groupings.get(name, {}), **groups}
    for name, (_, called) in named_trees(records, query).items():
        tree = records.tree(name)
        totals.setdefault(name, tree.total)
        known, among = np.array(records.codes[name], dtype=object), records.kept(query, name)
        # what a filter leaves of a sum is a code of its own
        left = {label: code for code, label in called.items() if label not in tree}
        parts = {label: known[records.inside(name, [code]) & among].tolist() for label, code in left.items()}
        if parts:
            groupings[name] = {**groupings.get(name, {}), **parts}
    return replace(about, fixed=fixed, groupings=groupings, totals=totals)


def _code(records: Records, name: str, chosen: Sequence[str]) -> str:
    """The code of a tree that counts whom a filter counts; else a name made of its codes."""
    tree = records.tree(name)
    wanted = np.isin(np.array(records.codes[name], dtype=object), list(chosen))
    if len(chosen) == 1:
        return chosen[0]
    for code in tree.codes:
        if (records.inside(name, [code]) == wanted).all():
            return code
    return name_of_set(list(chosen))
