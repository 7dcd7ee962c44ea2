"""What the columns of a file are: a proposal with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.recognise import Recognised, recognise
from diskret.job.recognition.column import Column
from diskret.model.errors import UnreadableFile
from diskret.model.sheets import sheet_names
from diskret.model.source import EXCEL, file_source
from diskret.web.answers import Json
from diskret.web.workbench import workbench


def columns(request: Request) -> Response:
    """The columns of a file of the workspace, and a first job for it."""
    bench, asked = workbench(request), request.query_params
    name = asked.get("file", "")
    reading = _chosen_reading(bench.drafts.get()["content"].get("data"), name)
    if asked.get("sheet"):
        reading["sheet"] = asked["sheet"]
    place = bench.workspace.path(name)
    found = bench.reading.do(recognised, place, reading, asked.get("kind"), where=name)
    content = found.columns.content(name)
    content["data"] |= found.reading
    language = asked.get("language", "en")
    return Json(
        {
            "kind": found.columns.kind,
            "rows": found.columns.rows,
            "sheets": found.sheets,
            "columns": [_column(each, language) for each in found.columns.columns],
            "values": found.columns.named("value"),
            "content": content,
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
    return {key: data[key] for key in ("delimiter", "decimal", "encoding", "sheet") if key in data}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found in a file, and how it was read."""

    columns: Recognised
    reading: Mapping[str, Any]
    sheets: Sequence[str]


def recognised(path: Path, reading: Mapping[str, Any], kind: Any) -> Found:
    """The columns of a file; a text that is not UTF-8 is read as older programs write it, and that is noted."""
    try:
        columns = recognise(file_source(path, **reading), kind)
    except UnreadableFile as e:
        if "UTF-8" not in e.what or "encoding" in reading:
            raise
        return recognised(path, {**reading, "encoding": "latin-1"}, kind)
    sheets = sheet_names(path) if path.suffix.lower() in EXCEL else []
    return Found(columns=columns, reading=reading, sheets=sheets)


ROUTES = [Route("/api/recognise", columns, methods=["GET"])]
