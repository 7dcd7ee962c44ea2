"""A job is of one kind: its sections tell which, and what belongs to another kind is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diskret.job.models import KINDS, TOLD_BY, job_of, job_schema, kind_of
from diskret.job.read import job_from
from diskret.job.table_job import TableJob
from diskret.job.write import job_as_text
from diskret.model.errors import BadJob

TABLE: dict[str, Any] = {"data": {"microdata": "firms.csv"}, "table": {"by": ["region"]}}


def refusal(folder: Path, content: dict[str, Any]) -> str:
    with pytest.raises(BadJob) as caught:
        job_from(content, "here", folder)
    return str(caught.value)


@pytest.mark.parametrize(("section", "kind"), TOLD_BY.items())
def test_a_section_tells_the_kind(section: str, kind: str) -> None:
    assert kind_of(TABLE | {section: {}}) == kind
    assert kind_of(TABLE) == "table"


def test_the_kind_may_be_said_and_is_written_down_then(folder: Path) -> None:
    said = job_from({"kind": "table", **TABLE}, "here", folder)
    assert isinstance(said, TableJob)
    assert 'kind = "table"' in job_as_text(said)
    assert "kind" not in job_as_text(job_from(TABLE, "here", folder))
    assert job_of(said.model_dump(exclude_unset=True)) == said


def test_a_kind_that_does_not_exist_is_named_with_those_that_do(folder: Path) -> None:
    message = refusal(folder, {"kind": "tables", **TABLE})
    assert "kind: is not a kind of job (one of table, pool, records, anonymise, attack, risk, compare)" in message


def test_what_is_said_wins_over_the_sections(folder: Path) -> None:
    message = refusal(folder, TABLE | {"kind": "table", "compare": {}})
    assert "compare: belongs to a job of kind 'compare' (this job is of kind 'table', as it says itself" in message


def test_foreign_sections_and_outputs_are_named_together_with_all_other_mistakes(folder: Path) -> None:
    content = TABLE | {
        "attack": {"external": "nowhere.csv"},
        "rules": {"min_count": 3},
        "output": {"publish": "t.csv", "risks": "r.txt"},
    }
    message = refusal(folder, content)
    assert "6 mistakes" in message
    for said in (
        "table: belongs to a job of kind 'table' or 'pool' or 'compare' (this job is of kind 'attack', as it has [att",
        "rules: belongs to a job of kind",
        "output.publish: belongs to a job of kind 'table' (this job is of kind 'attack', as it has [attack]; it writ",
        "attack.external: there is no file 'nowhere.csv'",
        "attack.keys: missing",
        "output.risks: cannot write 'r.txt' (endings: .csv, .json)",
    ):  # fmt: skip
        assert said in message


@pytest.mark.parametrize("section", ["perturbation", "cell_key", "compare"])
def test_a_pool_does_not_pass_over_what_it_cannot_do(folder: Path, section: str) -> None:
    message = refusal(folder, TABLE | {"tables": {"one": {}, "two": {}}, section: {}})
    assert f"{section}: belongs to a job of kind" in message


def test_a_place_that_needs_a_table_refuses_another_kind(folder: Path) -> None:
    content = {"data": {"microdata": "firms.csv"}, "anonymise": {"attributes": ["region"]}}
    with pytest.raises(BadJob, match="kind: the job is of kind 'anonymise'"):
        job_from(content, "here", folder, TableJob)


def test_one_schema_offers_every_kind_once() -> None:
    schema = job_schema()
    assert len(schema["anyOf"]) == len(KINDS)
    for kind, model in KINDS.items():
        assert schema["$defs"][model.__name__]["properties"]["kind"]["const"] == kind
