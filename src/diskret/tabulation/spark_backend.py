"""Microdata on a Spark cluster: the same statements, run where the data live; only finest cells come back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diskret.model.arrays import Ints
from diskret.model.delimited import look
from diskret.model.engine import connect
from diskret.model.errors import BadOption, EmptyData, MissingExtra, UnreadableFile, masked
from diskret.model.gaps import KEPT, NUMBERED
from diskret.model.places import files_fitting, plain_file, refuse_address
from diskret.model.sheets import Workbook, unique_names
from diskret.model.source import (
    TEXT,
    Delimited,
    FixedWidth,
    Layer,
    Normalised,
    Parquet,
    Relation,
    file_source,
    layers_of,
)
from diskret.model.spark_session import session_of
from diskret.model.spelling import plain
from diskret.model.statistical import Statistical
from diskret.model.unpivot import Unpivoted, unpivot_plan
from diskret.tabulation.backend import RECORDS, RECORDS_NUMBERED, Batch

VIEW = "diskret_data"


@dataclass
class SparkRelation(Relation):
    """A view in a Spark session."""

    quote: str = "`"
    row_number: str = "(monotonically_increasing_id() + 1)"
    spellings: dict[str, dict[str, str]] | None = None
    """By column the codes that do not look as they are written, and how they look; None where they stay as they are."""

    def code(self, name: str) -> str:
        """A column as classification codes; Spark composes no letters, so every different code is looked at here."""
        code = super().code(name)
        if self.spellings is None or not self.is_text(name):
            return code
        if name not in self.spellings:
            found = [c for (c,) in self.query(f"SELECT DISTINCT {code} FROM {self.view}") if c is not None]
            self.spellings[name] = {c: plain(c) for c in found if plain(c) != c}
        pairs = ", ".join(f"{_text(c)}, {_text(look)}" for c, look in self.spellings[name].items())
        return f"nullif(coalesce(try_element_at(map({pairs}), {code}), {code}), '')" if pairs else code

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a small result."""
        return [tuple(row) for row in said(self.where, lambda: self.connection.sql(sql).collect())]


class SparkBackend:
    """Runs statements in a Spark session; stops the session at the end only if it was started here."""

    aggregates = True

    def __init__(self, session: Any, data: Relation, own: bool, views: Sequence[str] = (VIEW,)) -> None:
        self.session = session
        self.data = data
        self.own = own
        self.kept: list[Any] = []
        self.views = [*views, KEPT, NUMBERED, RECORDS, RECORDS_NUMBERED]

    def lookup(self, name: str, codes: Sequence[str], positions: Ints) -> None:
        """Make a small table of codes and positions."""
        rows = list(zip(codes, positions.tolist(), strict=True))
        self.session.createDataFrame(rows, "code string, position bigint").createOrReplaceTempView(name)
        self.views.append(name)

    def keep(self, name: str, sql: str) -> None:
        """Keep the result of a statement under a name."""
        frame = said(self.data.where, lambda: self.session.sql(sql).persist())
        self.kept.append(frame)
        frame.createOrReplaceTempView(name)
        self.views.append(name)

    def batches(self, sql: str) -> Iterator[Batch]:
        """The columns of a result in one batch: finest cells, not records."""
        table = said(self.data.where, lambda: self.session.sql(sql).toArrow())
        yield {name: table.column(name).to_numpy() for name in table.column_names}

    def drop_views(self) -> None:
        """Take our names out of the session; frames made from them go on working."""
        for view in self.views:
            self.session.catalog.dropTempView(view)

    def close(self) -> None:
        """Give kept results and views back; stop the session if it was started here."""
        for frame in self.kept:
            frame.unpersist()
        self.drop_views()
        if self.own:
            self.session.stop()


def open_spark(source: object, engine: object, view: str = VIEW) -> SparkBackend:
    """A backend for "spark" (the active session, or a local one), a session, or a master URL; files by views."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as e:
        raise MissingExtra.needed("spark", "engine='spark'") from e
    session, own = session_of(SparkSession, engine)
    layers, source = layers_of(source)
    views = [view]
    try:
        frame, where, decimal = _frame(session, source)
        if not frame.head(1):
            raise EmptyData("there are no rows", where=where, hint="a table needs at least one row of data.")
        thousands = getattr(source, "thousands", None)
        data = _viewed(frame, SparkRelation(session, view, {}, where, decimal, thousands=thousands))
        for layer in layers:
            views.append(f"{view}_{len(views)}")
            data = _layered(replace(data, view=views[-1]), data, layer)
    except BaseException:
        SparkBackend(session, SparkRelation(session, view, {}, ""), own, views).close()
        raise
    return SparkBackend(session, data, own, views)


def _viewed(frame: Any, data: SparkRelation) -> SparkRelation:
    """A frame under the name of a relation's view."""
    frame.createOrReplaceTempView(data.view)
    return replace(data, types={field.name: field.dataType.simpleString() for field in frame.schema.fields})


def _layered(new: SparkRelation, data: SparkRelation, layer: Layer) -> SparkRelation:
    """The data as one more layer around them says."""
    if isinstance(layer, Normalised):
        frame = data.connection.table(data.view)
        return _viewed(frame.toDF(*unique_names([plain(n) for n in frame.columns])), replace(new, spellings={}))
    if isinstance(layer, Unpivoted):
        return _viewed(_unpivoted(data, layer), new)
    names = {name: f"`{name.replace('`', '``')}`" for name in data.columns}
    shown = ", ".join(f"{sql} AS {names[name]}" for name, sql in layer.columns(data).items())
    return _viewed(data.connection.sql(f"SELECT {shown} FROM {data.view}"), new)


def _unpivoted(data: SparkRelation, asked: Unpivoted) -> Any:
    frame = data.connection.table(data.view)
    kept, kind = unpivot_plan(data, asked)
    if kind == "VARCHAR":
        frame = frame.withColumns({name: frame[f"`{name}`"].cast("string") for name in asked.columns})
    names = [[f"`{name}`" for name in each] for each in (kept, asked.columns)]
    return said(data.where, lambda: frame.unpivot(*names, asked.into, asked.value))


def _frame(session: Any, source: object) -> tuple[Any, str, str | None]:
    """The source as a Spark frame, how to speak of it, and its decimal sign."""
    if hasattr(source, "createOrReplaceTempView"):
        return source, "the Spark frame", "."
    if isinstance(source, str):
        refuse_address(source)
    if isinstance(source, str | Path):
        source = file_source(Path(source))
    if isinstance(source, FixedWidth | Workbook | Statistical):
        kinds = {FixedWidth: "fixed-width files", Workbook: "workbooks", Statistical: "files of statistical programs"}
        raise BadOption(
            f"{kinds[type(source)]} are not read by Spark",
            where=str(source.path),
            hint="use engine='duckdb', or convert to Parquet.",
        )
    if isinstance(source, Delimited | Parquet):
        return _file(session, source)
    import pyarrow as pa

    if isinstance(source, Mapping):
        table = pa.table({str(k): pa.array(v) for k, v in source.items()})
    elif hasattr(source, "__arrow_c_stream__"):
        table = pa.table(source)
    else:
        table = pa.Table.from_pandas(source)
    where = f"the {type(source).__name__}"
    return said(where, lambda: session.createDataFrame(_plain(table))), where, "."


def _file(session: Any, source: Delimited | Parquet) -> tuple[Any, str, str | None]:
    path, places = source.path, _places(source.path)
    if source.hive:
        raise BadOption(
            "folders are not read as columns on Spark",
            where=str(path),
            hint='give the frame: spark.read.option("basePath", ...).',
        )
    # Without this option folders called name=code would change the columns.
    reader = session.read.option("recursiveFileLookup", "true")
    if isinstance(source, Parquet):
        return said(str(path), lambda: reader.parquet(*places)), str(path), source.decimal
    if path.suffix.lower() not in TEXT:
        raise BadOption(f"Spark cannot read {path.suffix!r} files here", where=str(path), hint="give .parquet or .csv.")
    encoding, delimiter = _seen(source)
    # Text stays text: a code 05111 keeps its zero.
    reader = reader.option("header", "true").option("inferSchema", "false").option("encoding", encoding)
    if delimiter:
        reader = reader.option("delimiter", delimiter)
    return said(str(path), lambda: reader.csv(places)), str(path), source.decimal


def _seen(source: Delimited) -> tuple[str, str | None]:
    """Encoding and separator, found in the first file if it lies here; what Spark would misread is refused."""
    encoding, delimiter = source.encoding or "utf-8", source.delimiter
    found = [source.path] if os.path.isfile(source.path) else [f for f in files_fitting(source.path) if f.is_file()]
    is_odd = source.header not in (None, (1,))
    if found:
        text = look(connect(), replace(source, path=plain_file(found[0])))
        encoding, delimiter = text.encoding, text.delimiter
        is_odd = is_odd or text.skipped > 0 or text.notes > 0
    if is_odd or encoding in ("windows-1252", "cp850"):
        raise BadOption(
            "titles, notes and the encodings windows-1252 and cp850 are not read by Spark",
            where=str(source.path),
            hint="use engine='duckdb', or convert to Parquet.",
        )
    return encoding, delimiter


def _places(path: Path) -> list[str]:
    """Files and folders of this machine by names that mean nothing else; other names are left to the cluster."""
    if os.path.isdir(path):
        found = [path]
    elif os.path.lexists(path):
        found = [plain_file(path)]
    elif fitting := files_fitting(path):
        found = [plain_file(each) for each in fitting]
    else:
        return [str(path)]
    return [re.sub(r"([\\{}\[\]*?,^])", r"\\\1", os.path.abspath(each)) for each in found]


def _plain(table: Any) -> Any:
    """An Arrow table with text as plain text: Spark takes neither the string views of polars nor dictionaries."""
    import pyarrow as pa

    fields = []
    for f in table.schema:
        kind = f.type.value_type if pa.types.is_dictionary(f.type) else f.type
        fields.append(f.with_type(pa.string() if pa.types.is_string_view(kind) else kind))
    return table.cast(pa.schema(fields))


def _text(text: str) -> str:
    """A text in the SQL of Spark, which knows escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def said(where: str, work: Any) -> Any:
    """Run something on the cluster; its complaints become ours."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return work()
    except (PySparkException, Py4JError) as e:
        first = masked(str(e).strip().splitlines()[0], most=300)
        raise UnreadableFile(
            f"Spark cannot do this: {first}", where=where, hint="is the data complete and readable?"
        ) from e
