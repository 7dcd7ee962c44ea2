"""The section [attack] of a job, and what it tells a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diskret.job.attack_job import risk_sections
from diskret.job.models import job_of
from diskret.job.read import job_from
from diskret.job.record_sections import AttackSection
from diskret.job.run import run_job


def test_sections_for_a_report_on_protected_records() -> None:
    generator = np.random.default_rng(1)
    original = {"industry": generator.choice(["20", "27"], 60), "turnover": generator.lognormal(5, 1, 60)}
    protected = original | {"turnover": original["turnover"] * np.exp(generator.normal(0, 0.1, 60))}
    asked = AttackSection(keys=["industry"], values=["turnover"])
    _, sections = risk_sections(asked, protected, original)
    assert [s["title"] for s in sections] == ["Attack by record linkage", "k-anonymity, l-diversity, t-closeness"]
    head, row = sections[0]["tables"][0]["head"], sections[0]["tables"][0]["rows"][0]
    assert head[:2] == ["industry", "checkable units"]
    assert all(isinstance(cell, str | int | float) for cell in row)
    assert "60 checkable" in sections[0]["text"]
    assert sections[0]["charts"][0]["spec"]["title"] == "Risk by combination"


def test_an_attack_without_keys_or_combinations(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,x\n1,10\n2,20\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id,x\n1,11\n2,19\n", encoding="utf-8")
    content = {"data": {"microdata": "a.csv"}, "attack": {"external": "b.csv", "values": "x", "unit": "id"}}
    result = run_job(job_from(content, "here", tmp_path), tmp_path)
    assert result.attack is not None
    assert result.attack.correct == 2
    assert result.attack.combinations == ()
    assert result.summary()["attack"]["correct"] == 2
    assert job_of(content).kind == "attack"
