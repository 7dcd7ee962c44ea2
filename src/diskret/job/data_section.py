"""The section of a job that says where its data are, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from diskret.job.form import InFile, Problem, Reads, Section
from diskret.model.databases import FILES as DATABASES
from diskret.model.databases import is_server
from diskret.model.errors import BadOption
from diskret.model.sheet import Box
from diskret.model.sheets import header_rows
from diskret.model.source import EXCEL, PARQUET

HeaderRow = Annotated[int, Field(ge=1, le=1_000_000)]
DataFile = Annotated[str | None, Reads(pattern=True)]


READING = ("delimiter", "decimal", "thousands", "encoding", "sheet", "header", "range", "hive")
"""Keys that say how a file is read."""


class Unpivot(Section):
    """A wide file, with one column per code, as a long one: the names of columns become codes."""

    columns: list[str] = Field(min_length=2, description="columns whose names are codes")
    into: str = Field(min_length=1, description="name of the classification whose codes are the names of the columns")
    value: str = Field(min_length=1, description="name of the column that gets their entries")


class Data(Section):
    """Where the data are."""

    microdata: DataFile = Field(
        None, description="file with one record per row: .parquet, .csv, .xlsx, or .asc with metadata"
    )
    cells: DataFile = Field(None, description="file with one row per cell: .parquet, .csv, .xlsx, .tab with metadata")
    table: Annotated[str | None, Reads(pattern=True, replaced_by="output.working")] = Field(
        None, description="working file written by an earlier run"
    )
    metadata: InFile = Field(None, description="tau-ARGUS .rda that describes the file")
    delimiter: str | None = Field(None, description="separator of a text file; detected if left out")
    decimal: Literal[".", ","] | None = Field(
        None, description="decimal sign of numbers in text; detected where it is certain, asked for where it is not"
    )
    thousands: Literal[".", ",", " ", "'", "\u202f"] | None = Field(
        None, description="sign between thousands of numbers in text; detected if left out"
    )
    encoding: Literal["utf-8", "latin-1", "windows-1252", "cp850", "utf-16"] | None = Field(
        None, description="encoding of a text file; detected if left out"
    )
    sheet: str | None = Field(
        None, description="sheet of a workbook (if left out, the first that is not hidden), or table of a database"
    )
    header: HeaderRow | list[HeaderRow] | None = Field(
        None, description="row or rows that hold the names, from 1, such as 4 or [4, 5]; detected if left out"
    )
    range: str | None = Field(None, description="cells of a workbook in which the table lies, such as 'B4:H120'")
    normalise: bool = Field(
        False, description="whether codes that differ only in invisible ways count as one, in data and hierarchies"
    )
    hive: bool = Field(
        False, description="whether folders called name=code in the path of .parquet and text files become columns, too"
    )
    unpivot: Unpivot | None = Field(None, description="columns of a wide file that become rows")
    engine: str = Field("duckdb", description="'duckdb', 'spark', or the URL of a Spark master")

    @model_validator(mode="after")
    def _one_source(self) -> Data:
        given = [n for n in ("microdata", "cells", "table") if getattr(self, n)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of microdata, cells, table (given: {', '.join(given) or 'none'})")
        return self

    @property
    def described(self) -> bool:
        """Whether a working file or metadata say what the columns are."""
        return bool(self.table or (self.cells and self.metadata))

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        file = self.microdata or self.cells or ""
        ending = Path(file).suffix.lower()
        if self.sheet and not (is_server(file) or ending in {*EXCEL, *DATABASES}):
            yield Problem("sheet", "needs a workbook or a database", "name one in data.microdata or data.cells")
        if self.range and ending not in EXCEL:
            yield Problem("range", "needs a workbook", "name one in data.microdata or data.cells")
        yield from self._layout_problems(ending)
        if self.normalise and self.table:
            yield Problem("normalise", "a working file is taken as it is", "normalise what it was made of")
        if self.unpivot and (self.table or self.metadata):
            yield Problem("unpivot", "a working file or metadata say what the columns are", "leave it out")
        if self.unpivot and len({*self.unpivot.columns}) < len(self.unpivot.columns):
            yield Problem("unpivot.columns", "names a column twice", "name each once")

    def _layout_problems(self, ending: str) -> Iterator[Problem]:
        for key, check in (("header", header_rows), ("range", Box.of)):
            try:
                check(getattr(self, key)) if getattr(self, key) is not None else None
            except BadOption as e:
                yield Problem(key, e.what, e.hint)
        if self.header is not None and (self.metadata or ending in PARQUET):
            yield Problem("header", "the columns have their names already", "leave header out")
        if self.decimal is not None and self.decimal == self.thousands:
            yield Problem("thousands", "is the decimal sign as well", "name two different signs")
