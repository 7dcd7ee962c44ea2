"""Every safety rule of tau-ARGUS has its key in a job file, and marks what the same rule marks in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.job.read import job_from
from diskret.job.rules import rules_of
from diskret.job.run import run_job
from diskret.job.table_job import TableJob
from diskret.model.errors import BadJob

FIRMS = """region,owner,x,y,w,req
N,K,90,5,2.5,1
N,K,6,30,1,
N,L,4,25,1,2
S,M,50,1,1,2
S,O,49,60,1,
S,P,1,2,1,1
9,Q,7,9,1,
W,R,0,3,1,
"""
RDA = """region 1 1 "9"
 <RECODEABLE>
x 2 3
 <NUMERIC>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "firms.rda").write_text(RDA)
    rows = [line.split(",") for line in FIRMS.splitlines()[1:]]
    (tmp_path / "firms.asc").write_text("".join(f"{row[0]}{row[2]:>3}\n" for row in rows))
    return tmp_path


def job(rules: dict[str, Any], classifications: dict[str, Any] | None = None, **table: Any) -> dict[str, Any]:
    return {
        "data": {"microdata": "firms.csv"}, "table": {"by": ["region"], "value": "x", **table}, "rules": rules,
        "classifications": classifications or {},
    }  # fmt: skip


def primary(content: dict[str, Any], folder: Path) -> list[str]:
    table = run_job(job_from(content, "job", folder, TableJob), folder).tables["x"]
    return [name.removeprefix("region=") for name in table.name_cells(table.hidden)]


def rules(**asked: Any) -> list[object]:
    return list(rules_of(TableJob.model_validate(job(asked, holding="owner", request="req"))))


def test_each_key_is_the_rule_of_the_same_name() -> None:
    r = dk.rules
    assert rules(p_percent={"p": 20, "n": 2}) == [r.PPercent(20.0, n=2)]
    assert rules(p_percent=[5, {"p": 20, "n": 2}]) == [r.PPercent(5.0), r.PPercent(20.0, n=2)]
    assert rules(pq={"p": 20, "q": 50, "n": 2}) == [r.PQ(20.0, 50.0, n=2)]
    assert rules(pq=[{"p": 20, "q": 50}, {"p": 9, "q": 90, "n": 3}]) == [r.PQ(20.0, 50.0), r.PQ(9.0, 90.0, n=3)]
    assert rules(zeros=10, given=20) == [r.ZeroCells(10.0), r.Given(20.0)]
    assert rules(request={"percent": [20, 30], "n": 3, "margin": 10}) == [r.Request((20.0, 30.0), 3, 10.0)]
    assert rules(min_count={"n": 3, "margin": 30, "weighted": True}, missing="safe") == [
        r.MinCount(3, margin=30.0, weighted=True)
    ]
    assert rules(p_percent=10, holding={"p_percent": 5, "min_count": 2, "dominance": [[2, 80]]}) == [
        r.PPercent(10.0), r.MinCount(2, counted_by="holding"), r.Dominance(2, 80.0, "holding"),
        r.PPercent(5.0, "holding"),
    ]  # fmt: skip


def test_holdings_have_parameters_of_their_own(folder: Path) -> None:
    asked: dict[str, Any] = {"min_count": {"n": 2, "margin": 0}}
    assert primary(job(asked), folder) == ["9"]
    asked["holding"] = {"min_count": {"n": 3, "margin": 0}}
    assert primary(job(asked, holding="owner"), folder) == ["9", "N"]


def test_requests_and_zeros_and_the_shadow_variable(folder: Path) -> None:
    who = {"column": "req", "codes": ["1", "2"]}
    assert primary(job({"request": {"percent": [80, 40]}}, request=who), folder) == ["N", "S"]
    assert primary(job({"request": {"percent": [95, 60]}}, request=who), folder) == []
    assert primary(job({"zeros": 5}), folder) == ["W"]
    assert primary(job({"dominance": [[1, 85]]}), folder) == ["9", "N"]
    assert primary(job({"dominance": [[1, 85]]}, shadow="y"), folder) == ["9", "S", "W"]


def test_weights_count_only_where_that_is_asked(folder: Path) -> None:
    assert "N" in primary(job({"min_count": {"n": 4}}, weight="w"), folder)
    assert "N" not in primary(job({"min_count": {"n": 4, "weighted": True}}, weight="w"), folder)


def test_missing_codes_are_safe_if_the_job_says_so(folder: Path) -> None:
    asked = {"min_count": 2}
    assert primary(job(asked), folder) == ["9"]
    assert primary(job(asked, {"region": {"missing_codes": "9"}}), folder) == ["9"]
    assert primary(job(asked | {"missing": "safe"}), folder) == ["9"]
    assert primary(job(asked | {"missing": "safe"}, {"region": {"missing_codes": "9"}}), folder) == []


def test_missing_codes_of_the_metadata_are_known(folder: Path) -> None:
    told: dict[str, Any] = {
        "data": {"microdata": "firms.asc", "metadata": "firms.rda"}, "table": {"by": ["region"], "value": "x"}
    }  # fmt: skip
    assert primary(told | {"rules": {"min_count": 2}}, folder) == ["9"]
    assert primary(told | {"rules": {"min_count": 2, "missing": "safe"}}, folder) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (job({"request": {"percent": 20}}), "rules.request: needs table.request"),
        (job({"holding": {"p_percent": 5}}), "rules.holding: needs table.holding"),
        (job({"min_count": {"weighted": True}}), "rules.min_count.weighted: needs table.weight"),
        (
            job({"counted_by": "holding", "holding": {"p_percent": 5}}, holding="owner"),
            "cannot be combined with counted",
        ),
        (job({"p_percent": {"p": 5, "n": 100}}), "too many contributors who work together"),
        (job({"zeros": 0}, value=[]), "rules.zeros: needs table.value"),
        (job({"zeros": -1}), "rules.zeros"),
        (job({"missing": "maybe"}), "rules.missing"),
    ],
)
def test_what_a_rule_lacks_is_said_before_anything_runs(content: dict[str, Any], words: str, folder: Path) -> None:
    with pytest.raises(BadJob, match=words):
        job_from(content, "job", folder, TableJob)
