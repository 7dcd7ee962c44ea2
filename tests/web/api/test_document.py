"""The OpenAPI document is valid, made of the models of a job, and says what the server does."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from diskret.job.form import Writes, file_mark, sections_in
from diskret.job.models import KINDS, job_schema
from diskret.web.api.document import document
from diskret.web.api.routes import ROUTES

ROOT = Path(__file__).parents[3]
jsonschema = pytest.importorskip("jsonschema")
validator = pytest.importorskip("openapi_spec_validator")


def test_the_document_is_valid_openapi() -> None:
    validator.validate(document())


def test_the_published_document_is_that_of_the_code() -> None:
    said = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    assert said == document(), "run docs/generate.py"


def test_every_path_is_described_and_no_other() -> None:
    told = {(method.upper(), path) for path, methods in document()["paths"].items() for method in methods}
    asked = {(m, r.path.replace("{name:any}", "{name}")) for r in ROUTES for m in (r.methods or ()) if m != "HEAD"}
    assert told == asked


def test_the_document_describes_jobs_as_the_schema_of_jobs_does() -> None:
    found = json.loads(json.dumps(document()["components"]["schemas"]).replace("#/components/schemas/", "#/$defs/"))
    schema = job_schema()
    assert {key: found[key] for key in schema["$defs"]} == schema["$defs"]
    assert found["Job"]["anyOf"] == schema["anyOf"]
    assert found["Asked"]["properties"]["job"] == {"$ref": "#/$defs/Job"}


def fits(answer: Any, model: str) -> None:
    schemas = document()["components"]["schemas"]
    whole = {"components": {"schemas": schemas}, "$ref": f"#/components/schemas/{model}"}
    jsonschema.Draft202012Validator(whole).validate(answer)


def test_answers_are_what_the_document_says(program: TestClient) -> None:
    fits(program.get("/v1/about").json(), "About")
    fits(program.get("/v1/files").json(), "WorkspaceFiles")
    job = {"data": {"microdata": "firms.csv"}, "table": {"by": ["industry"]}, "rules": {"min_count": 3},
           "suppression": {}, "output": {"publish": "t.csv", "working": "w.parquet"}}  # fmt: skip
    asked = {"job": job, "name": "one"}
    fits(asked, "Asked")
    run = program.post("/v1/runs", json=asked).json()
    fits(run, "Run")
    fits(program.get(f"/v1/runs/{run['id']}", params={"wait": 60}).json(), "Run")
    fits(program.get("/v1/runs").json(), "Runs")
    fits(program.post("/v1/runs", json={"job": {"data": {"cells": "no.csv"}}}).json(), "Refusal")
    fits(program.get("/v1/runs/none").json(), "Refusal")
    assert program.get("/v1/openapi.json").json() == document()
    assert program.get("/v1/job.schema.json").json() == job_schema()


def test_every_output_is_for_everybody_or_called_confidential() -> None:
    """What the interface lets out is what its section marks; the words for users say the same."""

    def inside(section: Any) -> set[Any]:
        found = {section}
        for field in section.model_fields.values():
            for each in sections_in(field.annotation):
                if each not in found:
                    found |= inside(each)
        return found

    seen = 0
    for kind in KINDS.values():
        for section in inside(kind):
            for name, field in section.model_fields.items():
                mark = file_mark(field)
                if isinstance(mark, Writes) and section.__name__ != "SafeFileSection":
                    words = field.description or ""
                    assert mark.public != ("confidential" in words or "internal" in words), (section, name)
                    seen += mark.public
    assert seen >= 4


def jobs_in_examples() -> list[Path]:
    return sorted((ROOT / "examples").rglob("*.toml"))


@pytest.mark.parametrize("path", jobs_in_examples(), ids=lambda path: path.name)
def test_every_example_fits_the_schema_that_editors_check_by(path: Path) -> None:
    content = json.loads(json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), default=str))
    if "data" in content or "tables" in content:  # others are plans of surveys
        jsonschema.Draft202012Validator(job_schema()).validate(content)


def test_the_schema_finds_what_editors_should_underline() -> None:
    check = jsonschema.Draft202012Validator(job_schema())
    job = {"data": {"microdata": "f.csv"}, "table": {"by": ["a"]}, "suppression": {}}
    assert check.is_valid(job)
    assert check.is_valid(job | {"suppression": {"method": "cuboids", "carry": "once"}})
    assert not check.is_valid(job | {"suppression": {"method": "cubes"}})
    assert not check.is_valid(job | {"rulez": {}})
    assert not check.is_valid(job | {"table": {"by": ["a"], "valeu": "x"}})
    assert not check.is_valid({"table": {"by": ["a"]}})
