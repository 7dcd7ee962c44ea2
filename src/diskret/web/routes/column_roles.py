"""What the columns of a file are: a proposal with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.pivots import pivot_of
from diskret.job.questions import totals_asked
from diskret.job.recognise import Recognised, recognise
from diskret.model.errors import TotalInData, UnreadableFile
from diskret.model.sheets import sheet_names
from diskret.model.source import EXCEL, file_source, open_source
from diskret.model.unpivot import unpivoted
from diskret.web.answers import Json, plain
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
    by, language = content["table"]["by"], asked.get("language", "en")
    columns = found.columns.columns
    prefixes = {c.name: {"prefixes": list(c.prefixes)} for c in columns if c.prefixes and c.name in by}
    return Json(
        {
            "kind": found.columns.kind,
            "rows": found.columns.rows,
            "sheets": found.sheets,
            "columns": [
                {"name": c.name, "role": c.role, "why": c.why(language), "prefixes": list(c.prefixes)} for c in columns
            ],
            "content": content | ({"classifications": prefixes} if prefixes else {}),
            "question": plain(found.question) if found.question is not None else None,
            "unpivot": found.unpivot,
        }
    )


def _chosen_reading(data: Any, name: str) -> dict[str, Any]:
    """How a file is read by the present choice, if it is about this file."""
    if not isinstance(data, dict) or name not in (data.get("microdata"), data.get("cells")):
        return {}
    return {key: data[key] for key in ("delimiter", "decimal", "encoding", "sheet", "unpivot") if key in data}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found in a file, and how it was read."""

    columns: Recognised
    reading: Mapping[str, Any]
    sheets: Sequence[str]
    question: TotalInData | None
    """What must be said about codes that look like totals."""
    unpivot: Mapping[str, Any] | None
    """Columns that could become rows: what `[data.unpivot]` would say, and why."""


def recognised(path: Path, reading: Mapping[str, Any], kind: Any) -> Found:
    """The columns of a file; a text that is not UTF-8 is read as older programs write it, and that is noted."""
    try:
        columns = recognise(_source(path, reading), kind)
    except UnreadableFile as e:
        if "UTF-8" not in e.what or "encoding" in reading:
            raise
        return recognised(path, {**reading, "encoding": "latin-1"}, kind)
    sheets = sheet_names(path) if path.suffix.lower() in EXCEL else []
    source = _source(path, {**reading, "decimal": columns.decimal})
    pivot = pivot_of(open_source(source), columns.named("value")) if not reading.get("unpivot") else None
    offered = {**pivot.content, "why": pivot.why, "sure": pivot.sure} if pivot is not None else None
    question = totals_asked(source, columns, names_only=True)
    return Found(columns=columns, reading=reading, sheets=sheets, question=question, unpivot=offered)


def _source(path: Path, reading: Mapping[str, Any]) -> object:
    """A file as the choice says that it is read."""
    source = file_source(path, **{key: each for key, each in reading.items() if key != "unpivot"})
    return unpivoted(source, **reading["unpivot"]) if reading.get("unpivot") else source


ROUTES = [Route("/api/recognise", columns, methods=["GET"])]
