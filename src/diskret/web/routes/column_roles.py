"""What the columns of a file are: a proposal with its reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.recognise import Recognised, recognise
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
    found = _recognised(place, reading, asked.get("kind"))
    content = found.content(name)
    content["data"] |= reading
    by, language = content["table"]["by"], asked.get("language", "en")
    prefixes = {c.name: {"prefixes": list(c.prefixes)} for c in found.columns if c.prefixes and c.name in by}
    return Json(
        {
            "kind": found.kind,
            "rows": found.rows,
            "sheets": sheet_names(place) if place.suffix.lower() in EXCEL else [],
            "columns": [
                {"name": c.name, "role": c.role, "why": c.why(language), "prefixes": list(c.prefixes)}
                for c in found.columns
            ],
            "content": content | ({"classifications": prefixes} if prefixes else {}),
        }
    )


def _chosen_reading(data: Any, name: str) -> dict[str, Any]:
    """How a file is read by the present choice, if it is about this file."""
    if not isinstance(data, dict) or name not in (data.get("microdata"), data.get("cells")):
        return {}
    return {key: data[key] for key in ("delimiter", "decimal", "encoding", "sheet") if key in data}


def _recognised(path: Path, reading: dict[str, Any], kind: Any) -> Recognised:
    """The columns; a text that is not UTF-8 is read as older programs write it, and that is noted in ``reading``."""
    try:
        return recognise(file_source(path, **reading), kind)
    except UnreadableFile as e:
        if "UTF-8" not in e.what or "encoding" in reading:
            raise
        reading["encoding"] = "latin-1"
        return recognise(file_source(path, **reading), kind)


ROUTES = [Route("/api/recognise", columns, methods=["GET"])]
