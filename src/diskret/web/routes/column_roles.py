"""What the columns of a file are: a proposal with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.io.structured import from_json
from diskret.job.data_section import READING, Data
from diskret.job.described import metadata_beside, recognise_described
from diskret.job.pivots import pivot_of
from diskret.job.questions import totals_asked
from diskret.job.recognise import Recognised, recognise
from diskret.job.recognition.column import Column
from diskret.model.databases import FILES as DATABASES
from diskret.model.databases import table_names
from diskret.model.errors import BadOption, TotalInData
from diskret.model.sheets import sheet_names
from diskret.model.source import EXCEL, file_source, open_source
from diskret.model.unpivot import unpivoted
from diskret.web.answers import Json, plain
from diskret.web.workbench import choice, workbench

READ = (*READING, "unpivot")


def columns(request: Request) -> Response:
    """The columns of a file of the workspace, and a first job for it."""
    bench, asked = workbench(request), request.query_params
    name = asked.get("file", "")
    if "reading" in asked:
        reading = _given_reading(asked["reading"], name)
    else:
        reading = _chosen_reading(choice(request).get()["content"].get("data"), name)
    if asked.get("sheet") and asked["sheet"] != reading.get("sheet"):  # another sheet is another table
        reading = {key: value for key, value in reading.items() if key not in ("header", "range")}
        reading["sheet"] = asked["sheet"]
    place = bench.workspace.path(name)
    found = bench.reading.do(recognised, place, reading, asked.get("kind"), where=name)
    content = found.columns.content(found.beside(name, found.file))
    content["data"] |= found.reading
    if found.metadata:
        content["data"]["metadata"] = found.beside(name, found.metadata)
    language = asked.get("language", "en")
    return Json(
        {
            "kind": found.columns.kind,
            "rows": found.columns.rows,
            "sheets": found.sheets,
            "columns": [_column(each, language) for each in found.columns.columns],
            "values": found.columns.named("value"),
            "content": content,
            "question": plain(found.question) if found.question is not None else None,
            "unpivot": found.unpivot,
        }
    )


def _column(column: Column, language: str) -> dict[str, Any]:
    """A column as the page shows it: what it is, why, how sure that is, and what else it could be."""
    return {
        "name": column.name, "role": column.role, "why": column.why(language), "prefixes": list(column.prefixes),
        "sure": column.sure, "alternatives": list(column.alternatives), "notes": list(column.notes),
        "period": column.period, "periods": dict(column.periods), "asks_order": column.reason == "order",
    }  # fmt: skip


def _chosen_reading(data: Any, name: str) -> dict[str, Any]:
    """How a file is read by the present choice, if it is about this file."""
    if not isinstance(data, dict) or name not in (data.get("microdata"), data.get("cells")):
        return {}
    return {key: data[key] for key in READ if key in data}


def _given_reading(text: str, name: str) -> dict[str, Any]:
    """How a file is to be read, said with the question: before it is chosen."""
    try:
        said = from_json(text)
        Data.model_validate({"microdata": name, **said})
    except (TypeError, ValueError):
        raise BadOption(
            "this is not how a file is read", where=name, hint="rows count from 1; a range is like B4:H120."
        ) from None
    return {key: value for key, value in said.items() if key in READ}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found in a file, and how it was read."""

    columns: Recognised
    reading: Mapping[str, Any]
    sheets: Sequence[str]
    question: TotalInData | None = None
    """What must be said about codes that look like totals."""
    unpivot: Mapping[str, Any] | None = None
    """Columns that could become rows: what `[data.unpivot]` would say, and why."""
    file: str
    """The name of the data file."""
    metadata: str = ""
    """The name of the file that describes it, beside it."""

    def beside(self, name: str, other: str) -> str:
        """A file beside the one the page asked about, as the page names it."""
        return (PurePosixPath(name).parent / other).as_posix()


def recognised(path: Path, reading: Mapping[str, Any], kind: Any) -> Found:
    """The columns of a file, and how it was read: as the user chose, or as was found."""
    said = {key: each for key, each in reading.items() if key != "unpivot"}
    if both := metadata_beside(path):
        data, metadata = both
        columns = recognise_described(data, metadata, **said)
        return Found(columns=columns, reading=reading, sheets=[], file=data.name, metadata=metadata.name)
    source: object = file_source(path, **said)
    if reading.get("unpivot"):
        source = unpivoted(source, **reading["unpivot"])
    relation = open_source(source)
    columns = recognise(relation, kind)
    parts = {**dict.fromkeys(EXCEL, sheet_names), **dict.fromkeys(DATABASES, table_names)}
    inside = parts.get(path.suffix.lower())
    sheets = inside(path) if inside else []
    pivot = pivot_of(relation, columns.named("value")) if not reading.get("unpivot") else None
    offered = {**pivot.content, "why": pivot.why, "sure": pivot.sure} if pivot is not None else None
    question = totals_asked(source, columns, names_only=True)
    return Found(columns=columns, reading=reading, sheets=sheets, file=path.name, question=question, unpivot=offered)


ROUTES = [Route("/api/recognise", columns, methods=["GET"])]
