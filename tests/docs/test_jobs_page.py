"""docs/jobs.md and docs/job.schema.json say what the models of a job file say."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from diskret.job.models import KINDS, job_of, job_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "jobs.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = job_schema()
AGAIN = "run `python docs/generate.py`"


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_model_is_explained_and_no_other() -> None:
    elsewhere = {kind.__name__ for kind in KINDS.values()} | {"ThinSection"}  # the keys of moves
    assert SCHEMA["$defs"].keys() - elsewhere == generator().HEADINGS.keys()


def test_every_key_stands_in_the_table_of_its_section() -> None:
    assert generator().page(PAGE, SCHEMA) == PAGE, AGAIN


def test_every_section_is_mentioned() -> None:
    assert all(f"`{key}`" in PAGE for kind in KINDS.values() for key in kind.model_fields)


def test_schema_is_up_to_date() -> None:
    assert (DOCS / "job.schema.json").read_text(encoding="utf-8") == generator().schema_text(SCHEMA), AGAIN


# --- examples --------------------------------------------------------------------------------------------------------


EXAMPLES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", EXAMPLES, ids=range(1, len(EXAMPLES) + 1))
def test_example_is_a_valid_job(text: str) -> None:
    job_of(tomllib.loads(text))
