"""The OpenAPI document of the interface, made of the models of its answers and of a job."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import diskret
from diskret.job.models import job_schema
from diskret.web.answers import KINDS
from diskret.web.api import forms

PLACE = "#/components/schemas/{model}"
MEDIA = {
    **KINDS, ".arrow": "application/vnd.apache.arrow.stream", ".parquet": "application/vnd.apache.parquet",
    ".sdmx.csv": "application/vnd.sdmx.data+csv", ".sdmx.xml": "application/vnd.sdmx.structurespecificdata+xml",
    ".dta": "application/x-stata-dta", ".sav": "application/x-spss-sav", ".xpt": "application/x-sas-xport",
}  # fmt: skip
ANY_FILE = "application/octet-stream"
ANSWERS = (
    forms.About, forms.WorkspaceFiles, forms.Taken, forms.Removed, forms.Run, forms.Runs, forms.Refusal, forms.Asked,
)  # fmt: skip
REFUSALS = {
    "401": "the token is missing or wrong",
    "403": "a page in a browser asks",
    "413": "more is sent than is taken",
    "421": "another name is used than 127.0.0.1 or localhost with the port",
    "422": "refused: what is wrong, and what to do",
    "500": "a mistake in diskret",
}


def media_of(name: str) -> str:
    """What a file is, by its ending.

    >>> media_of("table.arrow"), media_of("table.sdmx.csv"), media_of("table.px")
    ('application/vnd.apache.arrow.stream', 'application/vnd.sdmx.data+csv', 'application/octet-stream')
    """
    lower = name.lower()
    ending = next((each for each in sorted(MEDIA, key=len, reverse=True) if lower.endswith(each)), "")
    return MEDIA.get(ending) or mimetypes.types_map.get(Path(lower).suffix, ANY_FILE)


def document() -> dict[str, Any]:
    """The whole document, as plain data."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "diskret",
            "version": diskret.__version__,
            "summary": "Protect tables and microdata: hand in a file, run a job, fetch what may be published.",
            "description": "Opened by `diskret serve --api` on this machine. What is said in docs/api.md.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:{port}", "variables": {"port": {"default": "8765"}}}],
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas() -> dict[str, Any]:
    job = {key: each for key, each in job_schema(PLACE).items() if key != "$schema"}
    parts = job.pop("$defs")
    _, own = models_json_schema([(each, "serialization") for each in ANSWERS], ref_template=PLACE)
    made = {**parts, **own["$defs"], "Job": job}
    made["Asked"]["properties"]["job"] = {"$ref": PLACE.format(model="Job")}
    return dict(sorted(made.items()))


@dataclass(frozen=True, kw_only=True)
class _Operation:
    """What is asked under a path by a method."""

    name: str
    words: str
    gives: type[BaseModel] | str
    """The model of the answer, or the media type of a file."""
    status: str = "200"
    given: tuple[dict[str, Any], ...] = ()
    body: type[BaseModel] | str | None = None
    missing: bool = False
    """Whether what is asked for may not be there."""

    def plain(self) -> dict[str, Any]:
        refusals = {code: _answer(words, forms.Refusal) for code, words in REFUSALS.items()}
        refusals |= {"404": _answer("there is no such run or file", forms.Refusal)} if self.missing else {}
        made: dict[str, Any] = {"operationId": self.name, "summary": self.words}
        if self.given:
            made["parameters"] = list(self.given)
        if self.body is not None:
            made["requestBody"] = {"required": True, "content": _content(self.body)}
        return made | {"responses": dict(sorted({self.status: _answer(self.words, self.gives), **refusals}.items()))}


def _paths() -> dict[str, Any]:
    run, file = _in_path("run", "a run by its id"), _in_path("name", "a file by its name")
    seconds = {"type": "integer", "minimum": 0, "maximum": 60, "default": 0}
    wait = _in_query("wait", seconds, "seconds to wait for its end")
    replace = _in_query("replace", {"type": "string", "enum": ["yes", "no"]}, "whether an older file gives way")
    every: dict[str, dict[str, _Operation]] = {
        "/v1/about": {"get": _Operation(name="about", words="Who answers", gives=forms.About)},
        "/v1/openapi.json": {"get": _Operation(name="openapi", words="This document", gives="application/json")},
        "/v1/job.schema.json": {
            "get": _Operation(name="jobSchema", words="The JSON Schema of a job", gives="application/json"),
        },
        "/v1/files": {
            "get": _Operation(name="listFiles", words="Files of the workspace", gives=forms.WorkspaceFiles),
        },
        "/v1/files/{name}": {
            "put": _Operation(
                name="putFile", words="Hand in a file", gives=forms.Taken, status="201", given=(file, replace),
                body=ANY_FILE,
            ),
            "delete": _Operation(
                name="removeFile", words="Remove a file", gives=forms.Removed, given=(file,), missing=True
            ),
        },
        "/v1/runs": {
            "get": _Operation(name="listRuns", words="All runs of programs", gives=forms.Runs),
            "post": _Operation(name="startRun", words="Do a job", gives=forms.Run, status="201", body=forms.Asked),
        },
        "/v1/runs/{run}": {
            "get": _Operation(
                name="getRun", words="How far a run is", gives=forms.Run, given=(run, wait), missing=True
            ),
            "delete": _Operation(
                name="deleteRun", words="Remove a run with its files", gives=forms.Removed, given=(run,), missing=True
            ),
        },
        "/v1/runs/{run}/cancel": {
            "post": _Operation(name="cancelRun", words="End a run", gives=forms.Run, given=(run,), missing=True),
        },
        "/v1/runs/{run}/files/{name}": {
            "get": _Operation(
                name="getFile", words="A file for everybody", gives=ANY_FILE, given=(run, file), missing=True
            ),
        },
    }  # fmt: skip
    return {path: {method: each.plain() for method, each in methods.items()} for path, methods in every.items()}


def _answer(words: str, gives: type[BaseModel] | str) -> dict[str, Any]:
    return {"description": words, "content": _content(gives)}


def _content(form: type[BaseModel] | str) -> dict[str, Any]:
    if isinstance(form, str):
        return {form: {"schema": {"type": "object"}} if form == "application/json" else {}}
    return {"application/json": {"schema": {"$ref": PLACE.format(model=form.__name__)}}}


def _in_path(name: str, words: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "description": words, "schema": {"type": "string"}}


def _in_query(name: str, schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": words, "schema": schema}
