"""Microaggregation and noise of columns on a Spark session: values are changed where they are, as one machine does it.

Functions have the names and the meaning of those that work here, and give a frame of the session. What comes back to
this machine is small: how many values lie between which, where a column can be cut, and moments. Parameters and seed
go to the workers inside code, never into a plan.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, Literal

import numpy as np

from diskret.microdata import _noise_kernels as noise_kernels
from diskret.microdata import cuts as cuts_module
from diskret.microdata.columns import generator
from diskret.microdata.correlation import (
    TOGETHER,
    LogMoments,
    checked,
    checked_moments,
    from_moments,
    logarithms,
    refuse_few,
    root,
)
from diskret.microdata.cuts import certain_cut, looked_at, window
from diskret.microdata.microaggregation import group_stretch, refuse_bad_grouping
from diskret.microdata.noise import apart, noise_of, of_part, refuse_bad_noise, refuse_few_positive
from diskret.microdata.options import Gaps
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, NegativeValue, TooFewUnits
from diskret.model.exact_sums import ExactSum, exact_sum
from diskret.model.kept import refuse_lost
from diskret.model.spark_session import python_of_workers
from diskret.tabulation.spark_backend import SparkRelation, open_spark, said
from diskret.tabulation.spark_records import Columns, doubles, gathered, numbered

VIEW = "diskret_microdata"
ROWS_TOGETHER = 1 << 18
"""Values that go to a worker together to be put in order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FarProtected:
    """Protected records of a session, in the order they came, and what may be told of the protecting."""

    frame: Any
    """A Spark frame, which works when it is written or looked at."""
    method: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Counts and names only: fit to be printed or logged."""
        return {"method": self.method, **self.facts}


def microaggregate(
    source: object,
    columns: Sequence[str],
    *,
    engine: object,
    m: int | None = None,
    method: Literal["optimal", "fixed"] = "optimal",
    keep_variance: bool = False,
    wave: str | None = None,
) -> FarProtected:
    """Microaggregate columns as `diskret.microaggregate` does, on the Spark session ``engine``.

    Every column is put in order there, cut where cutting loses nothing, and grouped stretch by stretch. ``mdav``, which
    compares whole records, is not done there. Nothing warns of groups that could not keep their variance. A session
    that is started here stays open, for the frame that is given back.
    """
    size = m if m is not None else 4 if keep_variance else 3
    refuse_bad_grouping(size, method, keep_variance, columns)
    if method not in ("optimal", "fixed"):
        raise BadOption(f"method {method!r} is not known on Spark", hint="'optimal' or 'fixed'.")
    with _opened(source, engine, columns) as data:
        if wave is not None:
            _refuse_blank(data, wave)
        changed = []
        for place, name in enumerate(columns):
            how = _Grouping(m=size, fixed=method == "fixed", keep_variance=keep_variance, place=place)
            changed.append(_grouped(data, name, wave, how))
        frame = _with_columns(data, columns, changed)
    words = f"microaggregation ({'fixed groups' if method == 'fixed' else 'optimal groups'}"
    return FarProtected(frame=frame, method=f"{words}{', variance kept' * keep_variance})")


def add_noise(
    source: object,
    columns: Sequence[str],
    *,
    engine: object,
    seed: int,
    sd: float | None = None,
    shift: float = 0.0,
    amount: float | None = None,
    gaps: Gaps = "pairwise",
    nearest: bool = False,
) -> FarProtected:
    """Multiply values by e^u as `diskret.add_noise` does with ``pairing="none"``, on the Spark session ``engine``.

    Records are not paired there: pairs are made over the whole file, one after the other. The means of the values are
    then too large by about half the variance of u.
    """
    refuse_bad_noise(columns, sd, shift, amount)
    generator(seed)
    with _opened(source, engine, columns) as data:
        moments = _moments(data, columns, gaps)
        correlation = checked(moments.correlation, nearest, data.where)
        noise = noise_of(moments, correlation, sd=sd, shift=shift, amount=amount, nearest=nearest)
        secret = _Noise(shift=noise.shift, factor=root(noise.covariance), seed=seed)
        schema = "n bigint" + "".join(f", m{i} double" for i in range(len(columns)))
        work = _as_arrow(partial(_overlaid, noise=secret))
        made = _blocks(data, columns).groupBy("block").applyInArrow(work, schema)
        frame = _with_columns(data, columns, [made])
    words = "Kim and Winkler" if amount is not None else "two-peak mixture" if shift else "equal variance"
    return FarProtected(frame=frame, method=f"log-additive noise ({words})")


@contextmanager
def _opened(source: object, engine: object, columns: Sequence[str]) -> Iterator[SparkRelation]:
    """The records on the session; their columns checked."""
    opened = open_spark(source, engine, VIEW)
    data = opened.data
    assert isinstance(data, SparkRelation)
    try:
        data.require(list(columns))
        with python_of_workers(opened.session):
            data.refuse_bad_numbers(list(columns), blanks=True)
            refuse_lost(data, list(columns))
            yield data
    finally:  # the session stays: the frame that is given back still reads the records
        opened.drop_views()


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class _Noise:
    """What nobody may know; it has no words for itself."""

    shift: float
    factor: Floats
    seed: int


def _refuse_blank(data: SparkRelation, wave: str) -> None:
    data.require([wave])
    blank = int(data.query(f"SELECT count(*) FROM {data.view} WHERE {data.code(wave)} IS NULL")[0][0])
    if blank:
        hint = "say for every record to which wave it belongs."
        raise BadOption(f"column {wave!r} is blank in {blank:,} records", where=data.where, hint=hint)


def _number(data: SparkRelation, name: str) -> str:
    return f"CAST({data.number(name)} AS DOUBLE)"


def _as_arrow(work: Callable[[Any], Mapping[str, Any]]) -> Callable[[Any], Any]:
    """Work on the sorted records of a group, as the session calls it."""

    def called(table: Any) -> Any:
        import pyarrow as pa

        made = work(table.combine_chunks().sort_by("n"))
        return pa.table({name: pa.array(column) for name, column in made.items()})

    return called


def _with_columns(data: SparkRelation, columns: Sequence[str], changed: Sequence[Any]) -> Any:
    """The records with changed columns, in their order; zeros and gaps have no new value and stay what they are."""
    listing = {
        f"c{i}": _number(data, name) if name in columns else data.column(name) for i, name in enumerate(data.types)
    }
    kinds = {name: "double" if name in columns else kind for name, kind in data.types.items()}
    schema = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds.values()))
    frame = numbered(data, listing, schema, _as_it_is)
    for each in changed:
        frame = frame.join(each, on="n", how="left")
    frame = frame.orderBy("n")
    place = {name: i for i, name in enumerate(columns)}
    from pyspark.sql import functions as f

    shown = [
        (f.coalesce(f.col(f"m{place[name]}"), f.col(f"c{i}")) if name in place else f.col(f"c{i}")).alias(name)
        for i, name in enumerate(data.types)
    ]
    return frame.select(*shown)


def _as_it_is(number: Ints, columns: Columns) -> Columns:
    return columns


# --- groups ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Grouping:
    """How the values of a column are grouped."""

    m: int
    fixed: bool
    keep_variance: bool
    place: int
    """Which of the changed columns it is."""


def _grouped(data: SparkRelation, name: str, wave: str | None, how: _Grouping) -> Any:
    """The new values of a column by number: put in order bucket by bucket, cut, grouped stretch by stretch."""
    value, waves = _number(data, name), "''" if wave is None else data.code(wave)
    usable = f"{value} IS NOT NULL AND NOT isnan({value}) AND {value} <> 0"
    used = f"(SELECT {waves} AS w, {value} AS x FROM {data.view} WHERE {usable}) AS u"
    sizes = {
        w: (int(n), float(most)) for w, n, most in data.query(f"SELECT w, count(*), max(abs(x)) FROM {used} GROUP BY w")
    }
    for n, _ in sizes.values():
        if n < how.m:
            raise TooFewUnits.in_column(name, n, how.m, data.where)
    bounds = _bounds(data, used, max((n for n, _ in sizes.values()), default=0))
    found = numbered(
        data, {"w": waves, "x": value}, "w string, x double, bucket int", partial(_bucketed, bounds=bounds)
    )
    found = found.where("bucket >= 0")
    counts = said(data.where, found.groupBy("w", "bucket").count().collect)
    begins: dict[tuple[str, int], int] = {}
    at: dict[str, int] = {}
    for w, bucket, count in sorted(map(tuple, counts)):
        begins[w, bucket] = at.get(w, 0)
        at[w] = begins[w, bucket] + count
    placed = found.groupBy("w", "bucket").applyInArrow(
        _as_arrow(partial(_placed, begins=begins)), "n bigint, w string, x double, at bigint"
    )
    cuts = _cuts(data, placed, {w: n for w, (n, _) in sizes.items()}, how)
    parts = placed.mapInArrow(partial(_in_parts, cuts=cuts), "n bigint, w string, x double, at bigint, part int")
    work = _as_arrow(partial(_group, most={w: most for w, (_, most) in sizes.items()}, how=how))
    return parts.groupBy("w", "part").applyInArrow(work, f"n bigint, m{how.place} double")


def _bounds(data: SparkRelation, used: str, largest: int) -> dict[str, Floats]:
    """By wave what lies between the buckets: about equally many values in each."""
    steps = max(1, -(-largest // ROWS_TOGETHER))
    if steps == 1:
        return {}
    shares = ", ".join(repr(i / steps) for i in range(1, steps))
    found = data.query(f"SELECT w, approx_percentile(x, array({shares})) FROM {used} GROUP BY w")
    return {w: np.unique(np.array(values, dtype=np.float64)) for w, values in found}


def _bucketed(number: Ints, columns: Columns, bounds: Mapping[str, Floats]) -> dict[str, Any]:
    values, waves = doubles(columns["x"]), columns["w"]
    bucket = np.zeros(number.size, dtype=np.int32)
    for w, between in bounds.items():
        rows = np.array([each == w for each in waves.to_pylist()])
        bucket[rows] = np.searchsorted(between, values[rows], side="right")
    bucket[np.isnan(values) | (values == 0)] = -1
    return {"w": waves, "x": values, "bucket": bucket}


def _placed(table: Any, begins: Mapping[tuple[str, int], int]) -> dict[str, Any]:
    """Values of a bucket in their order, equal ones in that of the file, with their places in the column."""
    first = begins[table.column("w")[0].as_py(), table.column("bucket")[0].as_py()]
    values = doubles(table.column("x"))
    order = np.argsort(values, kind="stable")
    made = {name: table.column(name).combine_chunks().take(order) for name in ("n", "w")}
    return {**made, "x": values[order], "at": first + np.arange(order.size)}


def _cuts(data: SparkRelation, placed: Any, sizes: Mapping[str, int], how: _Grouping) -> dict[str, Ints]:
    """By wave the places at which a column is cut, the first and the last left out."""
    stretch, wide = cuts_module.STRETCH, window(how.m)
    if how.fixed:
        begins = {w: np.arange(stretch, n, stretch) for w, n in sizes.items()}
        return {w: sizes[w] % how.m + -(-(at - sizes[w] % how.m) // how.m) * how.m for w, at in begins.items()}
    looked = {w: looked_at(n, how.m) for w, n in sizes.items()}
    if not any(each.size for each in looked.values()):
        return {w: np.zeros(0, dtype=np.int64) for w in sizes}
    some = placed.where(f"at >= {stretch} AND at % {stretch} < {wide}").selectExpr(
        "*", f"CAST(at DIV {stretch} AS INT) AS place"
    )
    work = _as_arrow(partial(_looked, m=how.m, wide=wide))
    found = some.groupBy("w", "place").applyInArrow(work, "w string, cut bigint")
    made: dict[str, list[int]] = {w: [] for w in sizes}
    for w, cut in said(data.where, found.collect):
        if cut >= 0:
            made[w].append(int(cut))
    return {w: np.array(sorted(each), dtype=np.int64) for w, each in made.items()}


def _looked(table: Any, m: int, wide: int) -> dict[str, Any]:
    ordered = table.sort_by("at")
    begin = ordered.column("at")[0].as_py()
    cut = certain_cut(doubles(ordered.column("x")), m) if ordered.num_rows == wide else -1
    return {"w": [ordered.column("w")[0].as_py()], "cut": [begin + cut if cut >= 0 else -1]}


def _in_parts(batches: Iterator[Any], cuts: Mapping[str, Ints]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        at, waves = batch.column("at").to_numpy(), batch.column("w").to_pylist()
        part = np.zeros(at.size, dtype=np.int32)
        for w, places in cuts.items():
            rows = np.array([each == w for each in waves], dtype=np.bool_)
            part[rows] = np.searchsorted(places, at[rows], side="right")
        yield pa.record_batch([*batch.columns, pa.array(part)], names=[*batch.schema.names, "part"])


def _group(table: Any, most: Mapping[str, float], how: _Grouping) -> dict[str, Any]:
    ordered = table.sort_by("at")
    ascending = np.ascontiguousarray(doubles(ordered.column("x")))
    size = most[ordered.column("w")[0].as_py()]
    new = group_stretch(ascending, how.m, size, fixed=how.fixed, keep_variance=how.keep_variance)
    return {"n": ordered.column("n"), f"m{how.place}": new}


# --- noise -----------------------------------------------------------------------------------------------------------


def _moments(data: SparkRelation, columns: Sequence[str], gaps: Gaps) -> LogMoments:
    """Moments of the logarithms: means added up exactly, products block by block."""
    values = {f"x{i}": _number(data, name) for i, name in enumerate(columns)}
    asked = [f"count(CASE WHEN {x} < 0 THEN 1 END), count(CASE WHEN {x} > 0 THEN 1 END)" for x in values.values()]
    whole = " AND ".join(f"{x} > 0" for x in values.values())
    found = data.query(f"SELECT {', '.join(asked)}, count(CASE WHEN {whole} THEN 1 END) FROM {data.view}")[0]
    for name, negative in zip(columns, found[:-1:2], strict=True):
        if negative:
            what = f"column {name!r} has negative values, which have no logarithm"
            hint = "leave the column out of the noise, or protect it by microaggregation."
            raise NegativeValue(what, where=data.where, hint=hint)
    refuse_few_positive(columns, [int(n) for n in found[1:-1:2]], data.where)
    if gaps == "complete":
        refuse_few(int(found[-1]), data.where)
    sums = reduce(_added, gathered(data, values, _log_sums, _added))
    work = _as_arrow(partial(_products, means=np.array([each.mean for each in sums]), complete=gaps == "complete"))
    blocks = said(data.where, _blocks(data, columns).groupBy("block").applyInArrow(work, "made binary").collect)
    return checked_moments(from_moments([pickle.loads(bytes(row["made"])) for row in blocks]), columns, data.where)


def _log_sums(columns: Columns) -> list[ExactSum]:
    logs = [logarithms(doubles(column)) for column in columns.values()]
    return [exact_sum(each[~np.isnan(each)]) for each in logs]


def _added(one: list[ExactSum], two: list[ExactSum]) -> list[ExactSum]:
    return [a + b for a, b in zip(one, two, strict=True)]


def _blocks(data: SparkRelation, columns: Sequence[str]) -> Any:
    """The values with their numbers, and the block of records that are worked on together."""
    values = {f"x{i}": _number(data, name) for i, name in enumerate(columns)}
    work = partial(_in_blocks, together=TOGETHER)
    return numbered(data, values, "block bigint, " + ", ".join(f"{name} double" for name in values), work)


def _in_blocks(number: Ints, columns: Columns, together: int) -> dict[str, Any]:
    return {"block": number // together, **columns}


def _matrix(table: Any) -> Floats:
    return np.column_stack([doubles(table.column(name)) for name in table.column_names if name.startswith("x")])


def _products(table: Any, means: Floats, complete: bool) -> dict[str, Any]:
    return {"made": [pickle.dumps(noise_kernels.pair_moments(logarithms(_matrix(table)) - means, complete))]}


def _overlaid(table: Any, noise: _Noise) -> dict[str, Any]:
    number, matrix = table.column("n"), _matrix(table)
    drawn = of_part(noise.seed, table.column("block")[0].as_py())
    new = apart(matrix, noise.shift, noise.factor, drawn)
    return {"n": number, **{f"m{i}": np.ascontiguousarray(new[:, i]) for i in range(new.shape[1])}}
