"""From microdata to a table with all its sums."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Floats
from diskret.model.coded import MISSING
from diskret.model.errors import BadOption, NotExact, ProtectionWarning, UnknownCode
from diskret.model.exact import EXACT_LIMIT, beyond, most_units
from diskret.model.gaps import Gaps, Measured, refuse_both, refuse_numbers, without_gaps
from diskret.model.given import By, classifications, refuse_other, whole
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.kept import refuse_lost
from diskret.model.older import with_older
from diskret.model.other_totals import warn_of_total_rows
from diskret.model.source import Relation, normalised
from diskret.model.sparse import SparseTable
from diskret.model.spelling import plain
from diskret.model.table import Table
from diskret.tabulation import backend as sql
from diskret.tabulation.accumulate import Level, in_floats, in_fractions
from diskret.tabulation.backend import Backend, Batch
from diskret.tabulation.duckdb_backend import DuckDBBackend
from diskret.tabulation.given_totals import (
    Totals,
    asking_first,
    check_given,
    records_only,
    refuse_total_codes,
    totals_of,
)
from diskret.tabulation.ground import Ground, Held
from diskret.tabulation.holdings import joined_holdings
from diskret.tabulation.judged import judged_by, with_shadow
from diskret.tabulation.options import Roles, TabulationOptions
from diskret.tabulation.plan import Flag, Plan, RecordKey, Units
from diskret.tabulation.refusals import refuse_bad_keys, refuse_codes, refuse_negative, refuse_outline
from diskret.tabulation.sparseness import ground_of, held_sparsely

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""
SHARED = "diskret_shared_holdings"
MOST_DIGITS = 15
COUNTED = Units(contribution=0, total=0, exact=True, negative=False)
"""Numbers of records."""


@overload
def tabulate(
    source: object, *, by: By, value: str | None = None, largest: int = 2,
    roles: Roles = Roles(), options: TabulationOptions = TabulationOptions(), progress: Progress | None = None,
    **older: Any,
) -> Table: ...  # fmt: skip
@overload
def tabulate(
    source: object, *, by: By, value: Sequence[str], largest: int = 2,
    roles: Roles = Roles(), options: TabulationOptions = TabulationOptions(), progress: Progress | None = None,
    **older: Any,
) -> dict[str, Table]: ...  # fmt: skip
def tabulate(
    source: object,
    *,
    by: By,
    value: str | Sequence[str] | None = None,
    largest: int = 2,
    roles: Roles = Roles(),
    options: TabulationOptions = TabulationOptions(),
    progress: Progress | None = None,
    **older: Any,
) -> Table | dict[str, Table]:
    """Add microdata up to all sums of their classifications.

    ``by`` maps columns to hierarchies (None: flat, from the data), or names columns that are all flat. ``value`` is the
    column to add up, several columns for several tables in one pass, or None for a frequency table. ``largest`` is how
    many largest contributions the rules need. ``roles`` names the columns of weights, owners, waivers and record keys.
    Roles and options may still be given one by one (``older``), until version 1.0.

    >>> firms = {"region": ["N", "N", "S"], "turnover": [10.5, 2.0, 7.25]}
    >>> table = tabulate(firms, by={"region": None}, value="turnover")
    >>> table.value.tolist(), table.count.tolist(), table.largest.tolist()
    ([12.5, 7.25, 19.75], [2, 1, 3], [[10.5, 2.0], [7.25, 0.0], [10.5, 7.25]])
    """
    by = classifications(by)
    older_roles, older_options = _parted(older)
    roles = with_older(roles, older_roles, "tabulate", "roles")
    options = with_older(options, older_options, "tabulate")
    _refuse_nothing(by, value, largest)
    if roles.cost is not None:
        plain_roles = replace(roles, cost=None)
        made = partial(tabulate, source, by=by, largest=largest, roles=plain_roles, options=options, progress=progress)
        return _with_prices(made, value, roles.cost)
    say = progress or (lambda what, done, of: None)
    values = () if value is None else (value,) if isinstance(value, str) else tuple(value)
    values = with_shadow(values, roles)
    missing, totals = options.missing or {}, totals_of(options.totals, by)
    if options.normalise:
        by = {name: hierarchy and hierarchy.normalised() for name, hierarchy in by.items()}
        source, missing = normalised(source), {name: plain(code) for name, code in missing.items()}
        totals = {name: tuple(map(plain, codes)) for name, codes in totals.items()}
    gaps = options.gaps
    refuse_both(missing, gaps)
    engine = _open(source, options)
    try:
        engine.data.require([*by, *values, *([roles.weight] if roles.weight else [])])
        engine.data = _without_gaps(engine, gaps, by, values, roles)
        given = records_only(engine, totals)
        plan = _plan(engine, by, values, largest, roles, missing, totals)
        sparse = held_sparsely(engine, plan, options.sparse, _numbers_per_cell(plan))
        _look_elsewhere(engine.data, plan)
        with asking_first(engine, plan, options.categories):
            if plan.key is not None:
                refuse_bad_keys(engine, plan.key)
            records, units = _profile(engine, plan, options.positive)
        ground = ground_of(engine, plan, sparse, _numbers_per_cell(plan))
        respondents, holdings = _accumulate(engine, plan, units, ground, records, say)
        weights = _weights(engine, plan, ground, records, say) if options.weighted_counts else None
        refuse_total_codes(engine, plan, respondents, options.categories)
        tables = _tables(plan, units, respondents, holdings, options.positive)
        if given is not None:
            check_given(given, plan, tables, ground, options.tolerance)
        tables = judged_by(tables, value, roles.shadow, weights)
        if isinstance(value, str) or value is None:
            return tables[0]
        return {table.response: table for table in tables}
    finally:
        engine.close()


def _with_prices(made: Callable[..., Any], value: str | Sequence[str] | None, cost: str) -> Table | dict[str, Table]:
    """Tables whose cells cost what a column adds up to, in one pass if there is anything else to add up."""
    if value is None:
        counts: Table = made(value=None)
        return replace(counts, weight=np.abs(made(value=cost).value))
    values = [value] if isinstance(value, str) else list(value)
    tables = made(value=list(dict.fromkeys([*values, cost])))
    priced = {name: replace(tables[name], weight=np.abs(tables[cost].value)) for name in values}
    return priced[value] if isinstance(value, str) else priced


def _weights(engine: Backend, plan: Plan, ground: Ground, records: int, say: Progress) -> Floats | None:
    """What the weights of the records of each cell add up to."""
    if plan.weight is None:
        return None
    counted = Plan(by=plan.by, values=(), weight=plan.weight)
    _, units = _profile(engine, counted, False)
    total = _accumulate(engine, counted, units, ground, records, say)[0].responses[0].total
    assert total is not None
    return in_floats(total, units[0].total).reshape(ground.shape)


def _parted(older: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Older keywords that name columns, and the others."""
    names = {each.name for each in fields(Roles)}
    roles = {name: given for name, given in older.items() if name in names}
    return roles, {name: given for name, given in older.items() if name not in names}


def _refuse_nothing(by: Mapping[str, Hierarchy | None], value: object, largest: int) -> None:
    if not by:
        raise BadOption("a table needs at least one classification", hint="fill by=....")
    refuse_other(
        value, (str, Sequence, type(None)), "the name of a column", "value names the column to add up, or several."
    )
    whole("largest", largest, 0, "how many largest contributions to keep: 0 or more.")


def _open(source: object, options: TabulationOptions) -> Backend:
    if options.engine == "duckdb":
        return DuckDBBackend.open(source, options.threads, options.memory_limit)
    from diskret.tabulation.spark_backend import open_spark

    return open_spark(source, options.engine)


def _without_gaps(
    engine: Backend, gaps: Gaps, by: Mapping[str, Hierarchy | None], values: tuple[str, ...], roles: Roles
) -> Relation:
    """The records that are tabulated."""

    def lookup(name: str, codes: Sequence[str]) -> None:
        engine.lookup(name, codes, np.arange(len(codes)))

    return without_gaps(engine.data, gaps, _measured(values, roles.weight), by, lookup)


def _measured(values: tuple[str, ...], weight: str | None) -> Measured:
    return Measured(row=(*values, *([weight] if weight else [])), zero=values)


def _plan(
    engine: Backend, by: Mapping[str, Hierarchy | None], values: tuple[str, ...], largest: int, roles: Roles,
    missing: Mapping[str, str], totals: Totals = MappingProxyType({}),
) -> Plan:  # fmt: skip
    """Check the columns, make flat classifications from the data, and put the codes where the engine finds them."""
    draft = Plan(
        by={}, values=values, largest=largest, weight=roles.weight, holding=roles.holding,
        waiver=Flag.of(roles.waiver), request=Flag.of(roles.request), public=Flag.of(roles.public),
        asked=Flag.each(roles.asked), key=RecordKey.of(roles.key),
    )  # fmt: skip
    engine.data.require([*by, *draft.columns()])
    flat = partial(_from_data, engine, missing, totals)
    plan = replace(draft, by={name: hierarchy or flat(name) for name, hierarchy in by.items()})
    for axis, (name, hierarchy) in enumerate(plan.by.items()):
        warn_of_spellings(name, hierarchy.codes, hierarchy.labels)
        codes, positions = plan.leaves(name)
        blank = missing.get(name)
        if blank is not None:
            if blank not in codes:
                raise UnknownCode.in_column(name, [blank], codes)
            # one place for blanks: a second one would count their records twice
            own = [i for i, code in enumerate(codes) if code != MISSING]
            positions = np.append(positions[own], positions[codes.index(blank)])
            codes = [*(codes[i] for i in own), MISSING]
        engine.lookup(sql.lookup_name(axis), codes, positions)
    return plan


def _from_data(engine: Backend, missing: Mapping[str, str], totals: Totals, name: str) -> Hierarchy:
    """The codes that occur, under one total; records without a code get one of their own, unless they have one."""
    data = engine.data
    found = data.query(f"SELECT DISTINCT {data.code(name)} AS c FROM {data.view} ORDER BY 1")
    codes = sorted((c for (c,) in found if c is not None), key=str)
    if len(codes) < len(found) and name not in missing:
        refuse_outline(data, name)
        codes.append(MISSING)
    elif len(codes) < len(found) and missing[name] not in codes:
        codes.append(missing[name])
    known = set(codes)
    labels = {code: label for code, label in data.labels.get(name, {}).items() if code in known}
    own = totals[name][0] if totals.get(name) else TOTAL if TOTAL not in codes else f"{TOTAL} {name}"
    return Hierarchy.flat(codes, total=own, labels=labels)


def _look_elsewhere(data: Relation, plan: Plan) -> None:
    """Warn of totals in columns that the table does not show; Spark would have to begin a job for it."""
    used = {*plan.by, *plan.values, plan.weight, plan.holding}
    if type(data) is Relation:
        warn_of_total_rows(data, [name for name in data.columns if name not in used])


def _numbers_per_cell(plan: Plan) -> int:
    levels = 2 if plan.holding else 1
    ranked = plan.largest * (2 if plan.weight else 1)
    return max(1, len(plan.values)) * (1 + (1 + ranked) * levels) + levels + 1 + plan.keys


def _profile(engine: Backend, plan: Plan, positive: bool) -> tuple[int, list[Units]]:
    """Refuse bad numbers; find the decimals in which everything adds up exactly."""
    where = engine.data.where
    records, *row = engine.data.query(sql.profile_sql(engine.data, plan))[0]
    each = 5 + len(sql.DECIMALS_TRIED)
    names = [*plan.values, *([plan.weight] if plan.weight else [])]
    found = {name: row[i * each : (i + 1) * each] for i, name in enumerate(names)}
    if any(bad for bad, *_ in found.values()):
        refuse_numbers(engine.data, _measured(plan.values, plan.weight))
    if any(digits for _, digits, *_ in found.values()):
        refuse_lost(engine.data, names)
    refuse_negative(engine, plan, found, positive)
    if plan.weight is None:
        return int(records), [_units(name, found[name], 0, False, where) for name in plan.values]
    if not plan.values:
        return int(records), [_units(plan.weight, found[plan.weight], 0, True, where)]
    digits = _decimals(found[plan.weight])
    return int(records), [_units(name, found[name], digits, True, where) for name in plan.values]


def _decimals(column: list[Any]) -> int | None:
    """Fewest decimals tried that hold the whole column."""
    return next((d for d, fits in zip(sql.DECIMALS_TRIED, column[5:], strict=True) if fits), None)


def _units(name: str, column: list[Any], weight_decimals: int | None, weighted: bool, where: str) -> Units:
    """Units fine enough to be exact, coarse enough that all sums stay below 2**53.

    Sums that are grossed up are estimates and may be rounded; others must be exact.
    """
    decimals = _decimals(column)
    bound = int(column[3] or 0) + 1
    # A product of two decimals is rounded to its units in floating point: leave it some bits.
    limit = EXACT_LIMIT // 16 if weighted else most_units(decimals or 0)
    room = len(str(limit // bound)) - 1 if bound <= limit else -len(str(bound // limit))
    if decimals is None or weight_decimals is None:
        # no short decimals: as fine as the sums allow
        digits = min(room, MOST_DIGITS)
        return Units(contribution=digits, total=digits, exact=False, negative=bool(column[2] < 0))
    fine, finer = decimals, decimals + weight_decimals
    if not weighted and beyond(fine, column[4], bound):
        raise NotExact.sums(name, fine, limit // 10**fine, where)
    if fine > room:  # what only the weights have beyond that is no amount anybody reported
        warnings.warn(
            f"the sums of {name!r} are too large for its {fine} decimals and are rounded to {room}",
            ProtectionWarning,
            stacklevel=4,
        )
    return Units(
        contribution=min(fine, room), total=min(finer, room), exact=finer <= room, negative=bool(column[2] < 0)
    )


def _accumulate(
    engine: Backend, plan: Plan, units: list[Units], ground: Ground, records: int, say: Progress
) -> tuple[Level, Level | None]:
    statement = sql.records_sql(engine.data, plan, units)
    respondents = Level.empty(plan, units, ground, totals=True)
    holdings = Level.empty(plan, units if plan.values else [], ground, totals=False) if plan.holding else None
    if plan.holding:
        engine.keep(SHARED, sql.shared_holdings_sql(engine.data, plan.holding))
        statement = sql.numbered_records_sql(statement, SHARED, plan)
    if engine.aggregates:
        _add_cells(respondents, holdings, engine, plan, statement)
    else:
        _add_records(respondents, holdings, engine, plan, statement, records, say)
    say("adding up", 0, 1)
    respondents.roll_up()
    if holdings is not None:
        holdings.roll_up()
    say("adding up", 1, 1)
    if holdings is not None:
        shared = engine.batches(sql.holding_parts_sql(statement, plan))
        for done, batch in enumerate(joined_holdings(shared, plan, units), start=1):
            holdings.add_records(batch)
            say("joining holdings", done, 0)
    return respondents, holdings


def _add_records(
    respondents: Level, holdings: Level | None, engine: Backend, plan: Plan, statement: str, records: int, say: Progress
) -> None:
    done = 0
    for batch in _known(engine, plan, engine.batches(statement)):
        respondents.add_records(batch)
        if holdings is not None:
            lone = batch["number"] == 0
            holdings.add_records({name: column[lone] for name, column in batch.items()})
        done += batch["cell"].size
        say("reading records", done, records)


def _add_cells(respondents: Level, holdings: Level | None, engine: Backend, plan: Plan, statement: str) -> None:
    for batch in _known(engine, plan, engine.batches(sql.finest_cells_sql(statement, plan))):
        respondents.add_cells(batch)
    if holdings is not None:
        lone = f"SELECT * FROM ({statement}) AS l WHERE number = 0"
        for batch in engine.batches(sql.finest_cells_sql(lone, plan)):
            holdings.add_cells(batch)


def _known(engine: Backend, plan: Plan, batches: Iterator[Batch]) -> Iterator[Batch]:
    """Pass batches on; refuse when a record fits no finest cell."""
    stray = False
    for batch in batches:
        if batch["cell"].size and int(batch["cell"].min()) < 0:
            stray = True
        elif not stray:
            yield batch
    if stray:
        refuse_codes(engine, plan)


def _tables(plan: Plan, units: list[Units], respondents: Level, holdings: Level | None, positive: bool) -> list[Table]:
    """One table per response."""
    units_of_keys = plan.key.units if plan.key is not None else 1
    ground = respondents.ground
    keys = [in_fractions(each, units_of_keys).reshape(ground.shape) for each in respondents.keys]

    def table(j: int, name: str) -> Table:
        """One response; without values the (weighted) number of records."""
        people, total = respondents.contributors(j), respondents.responses[j].total if respondents.responses else None
        unit = units[j] if total is not None else COUNTED
        numbers = (
            people.count.astype(np.float64) if total is None else in_floats(total, unit.total).reshape(ground.shape)
        )
        make = partial(SparseTable, occupied=ground.occupied) if isinstance(ground, Held) else Table
        return make(
            by=dict(plan.by), response=name, value=numbers, status=np.zeros(ground.shape, dtype=np.uint8),
            respondents=people, holdings=holdings.contributors(j) if holdings else None,
            decimals=max(unit.total, 0) if unit.exact else None,
            positive=positive or not plan.values or not unit.negative, frequency=not plan.values,
            weighted=plan.weight is not None, key=keys[min(j, len(keys) - 1)] if keys else None,
        )  # fmt: skip

    if not plan.values:
        return [table(0, "weighted count" if plan.weight else "count")]
    return [table(j, name) for j, name in enumerate(plan.values)]
