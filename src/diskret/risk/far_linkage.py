"""The attack by linkage on a Spark session: blocks are attacked where they are, only what was found comes back.

Records of one block go to one worker, which links them with the code that links them here. Which combinations of keys
there are, and which of them may agree, is small, and decided here. Everything a worker needs to know of the whole file
(centre and spread of the values) is added up exactly, and every record has the number it has here: so the outcome is
the same.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, NothingToLink, listed
from diskret.model.exact_sums import ExactSum, exact_sum
from diskret.model.kept import refuse_lost
from diskret.model.spark_session import python_of_workers
from diskret.model.total_names import warn_of_totals
from diskret.risk.classes import Column, label_of
from diskret.risk.judgement import Attack, Seen, Tally, judged, tally
from diskret.risk.linkage import JITTER, Links, Side, blocks_of, link, spread_of
from diskret.risk.linkage_sources import Asked, size_classes
from diskret.risk.options import LinkageOptions
from diskret.tabulation.spark_backend import SparkRelation, open_spark, said
from diskret.tabulation.spark_records import Columns, doubles, gathered, numbered, places

MOST_TOGETHER = 1_000_000
"""Records of both files that go to a worker at once, where blocks are not larger."""
PARTS_EACH = 4
NUMBERS = {"TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "FLOAT"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Blocks:
    """Which combination of key codes lies in which block, and which blocks go to one worker together."""

    place: tuple[Mapping[Any, int], ...]
    """By key the number of every code, as it is read."""
    block: Mapping[tuple[int, ...], int]
    share: Ints
    count: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Points:
    """How values become points: the scale, its centre and spread, and the seed of what tells equal values apart."""

    scale: str
    centre: Floats
    spread: Floats
    seed: int = field(repr=False)
    before: int = 0
    """Draws that belong to the other file."""

    def of(self, number: Ints, values: Floats) -> Floats:
        """The points of records with these numbers, as `scaled` and `jittered` make them of all records at once."""
        points = (_transformed(values, self.scale) - self.centre) / self.spread
        points = points if points.shape[1] else np.zeros((len(points), 1))
        width = points.shape[1]
        ends = np.flatnonzero(np.diff(number, prepend=-2, append=-2) != 1)
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            bits = np.random.PCG64(self.seed)
            bits.advance(self.before + int(number[first]) * width)
            points[first:last] += np.random.Generator(bits).uniform(-JITTER, JITTER, (last - first, width))
        return points


def attack_there(asked: Asked, options: LinkageOptions) -> Attack:
    """The attack on files that a session reads, judged as `attack` judges it here; nobody's partner comes back."""
    with ExitStack() as stack:
        opened = open_spark(asked.anonymous, options.engine, "diskret_released")
        stack.callback(opened.close)
        session = opened.session
        stack.enter_context(python_of_workers(session))

        def also(source: object, view: str) -> SparkRelation:
            more = open_spark(source, session, view)
            stack.callback(more.close)
            return _relation(more.data)

        released, known = _relation(opened.data), also(asked.external, "diskret_known")
        truth = None if asked.original is None else also(asked.original, "diskret_truth")
        counted, blocks = _counted(released, known, truth, asked, options)
    nobody = np.zeros(0, dtype=np.int64)
    links = Links(
        partner=nobody, distance=np.zeros(0), candidates=np.zeros((0, 0), dtype=np.int64), blocks=blocks,
        optimal=counted.optimal,
    )  # fmt: skip
    return judged(counted, links, options, by=asked.by_names(), known=bool(asked.unit) or options.aligned)


def _relation(data: object) -> SparkRelation:
    assert isinstance(data, SparkRelation)
    return data


def _counted(
    released: SparkRelation, known: SparkRelation, truth: SparkRelation | None, asked: Asked, options: LinkageOptions
) -> tuple[Tally, int]:
    """What was found of all units, and in how many blocks."""
    targets = asked.check(released, known, known if truth is None else truth, options)
    rows = _refuse_misaligned(released, known, truth) if options.aligned else _rows(released)
    blocks = _blocks(released, known, asked)
    points = _points(released, known, asked, options)
    own = _side(released, [p.released for p in asked.keys], [p.released for p in asked.values], {}, blocks, points)
    beyond = _of_the_other(points, rows * max(1, len(asked.values)))
    judging = _judging(known if truth is None else truth, list(targets.values()), asked)
    more = _identities(known, asked.unit) | (judging if truth is None else {})
    units = _side(known, [p.external for p in asked.keys], [p.external for p in asked.values], more, blocks, beyond)
    units = _with_truth(units, released, truth, asked, options, targets, judging)
    plain = replace(options, engine="spark", seed=0)  # neither a session nor a seed has anything to do there
    work = partial(
        _linked, keys=len(asked.keys), targets=tuple(targets), limits=asked.limits(), options=plain,
        known=bool(asked.unit) or options.aligned,
    )  # fmt: skip
    both = own.groupBy("share").cogroup(units.groupBy("share"))

    def attacked(left: Any, right: Any) -> Any:
        import pyarrow as pa

        return pa.table({"made": pa.array([pickle.dumps(work(left, right))], pa.binary())})

    found = said(known.where, both.applyInArrow(attacked, "made binary").collect)
    counted = reduce(operator.add, (pickle.loads(bytes(row["made"])) for row in found), Tally())
    if asked.unit and not counted.checkable:
        raise asked.nobody(released.where, known.where)
    return counted, blocks.count


def _rows(data: SparkRelation) -> int:
    return int(data.query(f"SELECT count(*) FROM {data.view}")[0][0])


def _refuse_misaligned(released: SparkRelation, known: SparkRelation, truth: SparkRelation | None) -> int:
    sizes = [_rows(each) for each in (released, known, truth) if each is not None]
    if len({*sizes}) > 1:
        raise BadOption(
            f"aligned files have the same number of records, not {listed(sorted({*sizes}))}",
            hint="name the column that says who is who with unit=..., or give files in the same order.",
        )
    return sizes[0]


# --- blocks ----------------------------------------------------------------------------------------------------------


def _code(data: SparkRelation, name: str) -> str:
    """A column of codes in SQL: numbers as they are, since they are named here."""
    return data.column(name) if data.types[name].upper() in NUMBERS else data.code(name)


def _blocks(released: SparkRelation, known: SparkRelation, asked: Asked) -> Blocks:
    if not asked.keys:
        return Blocks(place=(), block={(): 0}, share=np.zeros(1, dtype=np.int64), count=1)
    names = [p.released for p in asked.keys], [p.external for p in asked.keys]
    found = [_combinations(data, each) for data, each in zip((released, known), names, strict=True)]
    place, sides = [], []
    for i, pair in enumerate(asked.keys):
        labels = [{row[i]: label_of(row[i]) for row in rows} for rows in found]
        of_file = [sorted({x for x in each.values() if x is not None}) for each in labels]
        if all(of_file) and not {*of_file[0]} & {*of_file[1]}:
            raise NothingToLink(
                f"the files have no code of key {pair.released!r} in common",
                where=f"{released.where}, {known.where}",
                hint="code the key alike in both, or leave it out.",
            )
        every = sorted({*of_file[0], *of_file[1]})
        warn_of_spellings(pair.released, every)
        warn_of_totals(pair.released, every)
        number = {label: at for at, label in enumerate(every)}
        place.append({raw: -1 if x is None else number[x] for each in labels for raw, x in each.items()})
        sides.append([
            Column(codes=np.array([place[-1][row[i]] for row in rows], dtype=np.int32), labels=np.array(every, object))
            for rows in found
        ])  # fmt: skip
    own, other, count = blocks_of([a for a, _ in sides], [b for _, b in sides])
    size = np.zeros(count)
    block: dict[tuple[int, ...], int] = {}
    for side, (rows, ids) in enumerate(zip(found, (own, other), strict=True)):
        np.add.at(size, ids, [row[-1] for row in rows])
        block |= {tuple(int(pair[side].codes[at]) for pair in sides): int(b) for at, b in enumerate(ids)}
    workers = int(released.connection.sparkContext.defaultParallelism)
    together = min(MOST_TOGETHER, max(1.0, float(size.sum()) / (PARTS_EACH * workers)))
    share = np.floor((np.cumsum(size) - size / 2) / together).astype(np.int64)
    return Blocks(place=tuple(place), block=block, share=share, count=count)


def _combinations(data: SparkRelation, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The combinations of codes of a file, and how many records have each."""
    codes = [_code(data, name) for name in names]
    listing = ", ".join(f"{sql} AS k{i}" for i, sql in enumerate(codes))
    return data.query(f"SELECT *, count(*) FROM (SELECT {listing} FROM {data.view}) AS r GROUP BY ALL")


# --- values ----------------------------------------------------------------------------------------------------------


def _transformed(values: Floats, scale: str) -> Floats:
    return np.arcsinh(values) if scale == "log" else values


def _number(data: SparkRelation, name: str) -> str:
    return f"CAST({data.number(name)} AS DOUBLE)"


def _matrix(columns: Columns, prefix: str, rows: int) -> Floats:
    found = [doubles(column) for name, column in columns.items() if name.startswith(prefix)]
    return np.stack(found, axis=1) if found else np.zeros((rows, 0))


def _points(released: SparkRelation, known: SparkRelation, asked: Asked, options: LinkageOptions) -> Points:
    """The scale of the values, from those of the released file."""
    pairs = asked.values
    for data, names in ((released, [p.released for p in pairs]), (known, [p.external for p in pairs])):
        data.refuse_bad_numbers(names, blanks=True)
        refuse_lost(data, names)
    width = len(pairs)
    if not width:
        return Points(scale=options.scale, centre=np.zeros(0), spread=np.ones(0), seed=options.seed)
    columns = {f"v{i}": _number(released, p.released) for i, p in enumerate(pairs)}
    none: list[tuple[ExactSum, float]] = [(ExactSum(), 0.0)] * width
    first = reduce(_added, gathered(released, columns, partial(_sums, scale=options.scale), _added), none)
    centre = np.array([total.mean for total, _ in first])
    squared = partial(_sums, scale=options.scale, centre=centre)
    second = reduce(_added, gathered(released, columns, squared, _added), none)
    spread = spread_of([total for total, _ in second], np.array([size for _, size in first]))
    return Points(scale=options.scale, centre=centre, spread=spread, seed=options.seed)


def _of_the_other(points: Points, draws: int) -> Points:
    """The same scale for the other file, whose draws come later."""
    return replace(points, before=draws)


def _sums(columns: Columns, scale: str, centre: Floats | None = None) -> list[tuple[ExactSum, float]]:
    """Of every column the sum of its values, or of squared deviations from a centre, and the largest absolute value."""
    made = []
    with np.errstate(all="ignore"):
        for i, column in enumerate(columns.values()):
            values = _transformed(doubles(column), scale)
            values = values[~np.isnan(values)]
            size = float(np.abs(values).max(initial=0.0))
            made.append((exact_sum(values if centre is None else (values - centre[i]) ** 2), size))
    return made


def _added(one: list[tuple[ExactSum, float]], two: list[tuple[ExactSum, float]]) -> list[tuple[ExactSum, float]]:
    return [(a + b, max(x, y)) for (a, x), (b, y) in zip(one, two, strict=True)]


# --- records as they go to the workers -------------------------------------------------------------------------------


def _side(
    data: SparkRelation, keys: Sequence[str], values: Sequence[str], more: Mapping[str, tuple[str, str]],
    blocks: Blocks, points: Points,
) -> Any:  # fmt: skip
    """The records of a file with their share, block, codes of keys and points, and ``more`` columns (type and SQL)."""
    columns = {f"k{i}": _code(data, name) for i, name in enumerate(keys)}
    columns |= {f"v{i}": _number(data, name) for i, name in enumerate(values)}
    columns |= {name: sql for name, (_, sql) in more.items()}
    schema = ["share bigint", "block bigint", *(f"k{i} int" for i in range(len(keys)))]
    schema += [f"p{i} double" for i in range(max(1, len(values)))]
    schema += [f"{name} {kind}" for name, (kind, _) in more.items()]
    return numbered(data, columns, ", ".join(schema), partial(_placed, blocks=blocks, points=points, more=tuple(more)))


def _placed(number: Ints, columns: Columns, blocks: Blocks, points: Points, more: Sequence[str]) -> dict[str, Any]:
    codes = np.zeros((number.size, len(blocks.place)), dtype=np.int32)
    for i, place in enumerate(blocks.place):
        codes[:, i] = places(columns[f"k{i}"], place)
    block = np.zeros(number.size, dtype=np.int64)
    if blocks.place:
        shapes, index = np.unique(codes, axis=0, return_inverse=True)
        block = np.array([blocks.block[tuple(shape)] for shape in shapes.tolist()], np.int64)[index.reshape(-1)]
    made = points.of(number, _matrix(columns, "v", number.size))
    found: dict[str, Any] = {"share": blocks.share[block], "block": block}
    found |= {f"k{i}": codes[:, i] for i in range(codes.shape[1])}
    found |= {f"p{i}": np.ascontiguousarray(made[:, i]) for i in range(made.shape[1])}
    return found | {name: columns[name] for name in more}


def _identities(data: SparkRelation, unit: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Columns that say who somebody is; refused where they name somebody twice."""
    if not unit:
        return {}
    listing = ", ".join(f"{data.code(name)} AS i{i}" for i, name in enumerate(unit))
    filled = " AND ".join(f"i{i} IS NOT NULL" for i in range(len(unit)))
    counts = f"SELECT count(*) AS c FROM (SELECT {listing} FROM {data.view}) AS r WHERE {filled} GROUP BY " + ", ".join(
        f"i{i}" for i in range(len(unit))
    )
    again = data.query(f"SELECT coalesce(sum(c - 1), 0) FROM ({counts}) AS g")[0][0]
    if again:
        raise BadOption(
            f"{listed(unit)} names {int(again):,} units more than once",
            where=data.where,
            hint="give one row per unit; in a panel a unit is named by two columns, such as unit and year.",
        )
    return {f"i{i}": ("string", data.code(name)) for i, name in enumerate(unit)}


def _judging(data: SparkRelation, names: Sequence[str], asked: Asked) -> dict[str, tuple[str, str]]:
    """True values, and the columns that form combinations."""
    limits = asked.limits()
    data.require([*names, *limits])
    numbers = [*names, *(name for name, edges in limits.items() if edges is not None)]
    data.refuse_bad_numbers(numbers, blanks=True)
    refuse_lost(data, numbers)
    made = {f"o{i}": ("double", _number(data, name)) for i, name in enumerate(names)}
    for i, (name, edges) in enumerate(limits.items()):
        kind = data.types[name] if data.types[name].upper() in NUMBERS else "string"
        made[f"g{i}"] = (kind, _code(data, name)) if edges is None else ("double", _number(data, name))
    return made


def _passed(data: SparkRelation, more: Mapping[str, tuple[str, str]]) -> Any:
    """The numbers of the records with some columns as they are."""
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in more.items())
    return numbered(data, {name: sql for name, (_, sql) in more.items()}, schema, partial(_as_they_are))


def _as_they_are(number: Ints, columns: Columns) -> Columns:
    return columns


def _with_truth(
    units: Any, released: SparkRelation, truth: SparkRelation | None, asked: Asked, options: LinkageOptions,
    targets: Mapping[str, str], judging: Mapping[str, tuple[str, str]],
) -> Any:  # fmt: skip
    """The units beside their true records: the row ``r``, values as released, and what an original says is true."""
    if not asked.unit and not options.aligned:
        return units
    names = [f"i{i}" for i in range(len(asked.unit))] or ["n"]
    released.refuse_bad_numbers(list(targets), blanks=True)
    theirs = {f"t{i}": ("double", _number(released, name)) for i, name in enumerate(targets)}
    found = _passed(released, _identities(released, asked.unit) | theirs)
    found = found.withColumn("r", found["n"])
    units = units.join(found if options.aligned else found.drop("n"), on=names, how="left")
    if truth is None:
        return units
    true = _passed(truth, {**_identities(truth, asked.unit), **judging})
    true = true.withColumn("s", true["n"])
    return units.join(true if options.aligned else true.drop("n"), on=names, how="left")


# --- on a worker -----------------------------------------------------------------------------------------------------


def _linked(
    left: Any, right: Any, keys: int, targets: Sequence[str], limits: Mapping[str, Sequence[float] | None],
    options: LinkageOptions, known: bool,
) -> Tally:  # fmt: skip
    """Link the blocks of a share, and judge what was found."""
    (a, a_block, record), (b, b_block, _) = _taken(left, keys), _taken(right, keys)
    _, ids = np.unique(np.concatenate([a_block, b_block]), return_inverse=True)
    count = int(ids.max(initial=-1)) + 1
    blocks = ids[: a_block.size], ids[a_block.size :], count
    one_to_one = options.method == "assignment"
    found = link(a, b, blocks, one_to_one=one_to_one, optimal_up_to=options.optimal_up_to)
    rows = np.append(record, -1)
    links = Links(
        partner=rows[found.partner], distance=found.distance, candidates=rows[found.candidates], blocks=count,
        optimal=found.optimal,
    )  # fmt: skip
    units = _sorted(right)
    nowhere = np.full(len(b.points), -1, dtype=np.int64)
    if not known:
        empty = {name: (np.full(nowhere.size, np.nan),) * 2 for name in targets}
        groups = {name: Column(codes=nowhere.astype(np.int32), labels=np.array([], object)) for name in limits}
        seen = Seen(record=nowhere, judged=nowhere >= 0, values=empty, groups=groups)
        return tally(links, seen, options.usable_within)
    true = _numbers(units, "r")
    in_truth = _numbers(units, "s") if "s" in units.column_names else np.arange(nowhere.size)
    seen = Seen(
        record=true,
        judged=(true >= 0) & (in_truth >= 0),
        values={n: (doubles(units.column(f"t{i}")), doubles(units.column(f"o{i}"))) for i, n in enumerate(targets)},
        groups={name: _group(units.column(f"g{i}"), name, edges) for i, (name, edges) in enumerate(limits.items())},
    )
    return tally(links, seen, options.usable_within)


def _sorted(table: Any) -> Any:
    return table.combine_chunks().sort_by("n")


def _taken(table: Any, keys: int) -> tuple[Side, Ints, Ints]:
    """The records of a share in their order: as a side of the linkage, with their blocks and numbers."""
    ordered = _sorted(table)
    names = [name for name in ordered.column_names if name.startswith("p")]
    points = [doubles(ordered.column(name)) for name in names]
    codes = [ordered.column(f"k{i}").to_numpy().astype(np.int32) for i in range(keys)]
    rows = ordered.num_rows
    side = Side(
        points=np.stack(points, axis=1) if points else np.zeros((rows, 1)),
        keys=np.stack(codes, axis=1) if codes else np.zeros((rows, 0), np.int32),
    )
    block, number = (ordered.column(name).to_numpy().astype(np.int64) for name in ("block", "n"))
    return side, block, number


def _numbers(table: Any, name: str) -> Ints:
    found: npt.NDArray[np.int64] = table.column(name).combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def _group(column: Any, name: str, edges: Sequence[float] | None) -> Column:
    if edges is not None:
        return size_classes(doubles(column), list(edges), name)
    entries = column.combine_chunks().dictionary_encode().dictionary.to_pylist()
    labels = sorted({x for x in map(label_of, entries) if x is not None})
    number = {label: at for at, label in enumerate(labels)}
    place = {raw: number.get(label_of(raw) or "", -1) for raw in entries}
    return Column(codes=places(column.combine_chunks(), place).astype(np.int32), labels=np.array(labels, object))
