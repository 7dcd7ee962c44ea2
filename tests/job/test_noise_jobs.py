"""Jobs with [cell_key] and [compare], and the commands that make such jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import BadJob


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keys = dk.draw_keys(60, 3)
    lines = ["region,turnover,rkey"]
    lines += [f"{'NNNSSW'[i % 6]},{(i % 7) * 10 + 3},{keys[i]:.15f}" for i in range(60)]
    (tmp_path / "firms.csv").write_text("\n".join(lines) + "\n")
    dk.write_p_table(dk.design_p_table(deviation=3, variance=1), tmp_path / "p.txt")
    return tmp_path


def run(folder: Path, **content: Any) -> Any:
    plain = {"data": {"microdata": "firms.csv"}, "table": {"by": ["region"]}} | content
    return run_job(job_from(plain, "test", folder), folder)


def test_a_job_publishes_counts_with_noise(folder: Path) -> None:
    result = run(folder, cell_key={"key": "rkey"}, output={"publish": ["out.csv"]})
    direct = dk.perturb_by_key(
        dk.tabulate(folder / "firms.csv", by={"region": None}, key="rkey"),
        dk.design_p_table(deviation=5, variance=2, smallest=3),
    )
    assert result.tables["count"].value.tolist() == direct.table.value.tolist()
    assert result.summary()["tables"]["count"]["noise"]["cells"] == 4
    assert (folder / "out.csv").exists()


def test_a_job_takes_the_p_table_of_a_file_and_scales_values(folder: Path) -> None:
    counts = run(folder, cell_key={"key": "rkey", "p_table": "p.txt"})
    assert np.abs(counts.noise["count"].deviation).max() <= 3
    values = run(
        folder, table={"by": ["region"], "value": "turnover"}, rules={"p_percent": 10}, cell_key={"key": "rkey"}
    )
    assert (values.noise["turnover"].deviation != 0).any()


def test_the_metadata_of_tau_argus_name_the_record_key(folder: Path) -> None:
    lines = (folder / "firms.csv").read_text().splitlines()[1:]
    (folder / "firms.dat").write_text("\n".join(line.replace(",", ";") for line in lines) + "\n")
    (folder / "firms.rda").write_text(
        '<SEPARATOR> ";"\nregion 1\n <RECODEABLE>\nturnover 4\n <NUMERIC>\nrkey 17\n <RECORDKEY>\n <DECIMALS> 15\n'
        ' <PFILE> "p.txt"\n'
    )
    described = run(folder, data={"microdata": "firms.dat", "metadata": "firms.rda"}, cell_key={"p_table": "p.txt"})
    named = run(folder, cell_key={"key": "rkey", "p_table": "p.txt"})
    assert described.tables["count"].value.tolist() == named.tables["count"].value.tolist()


def test_a_job_compares_methods(folder: Path) -> None:
    result = run(
        folder, rules={"small_cells": 3}, compare={"methods": ["cell key", "merging"], "files": ["m.csv", "m.html"]}
    )
    assert [m.method for m in result.methods.methods] == ["cell key", "merging"]
    assert [f.name for f in result.files] == ["m.csv", "m.html"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"cell_key": {}}, "cell_key.key"),
        ({"cell_key": {"key": "rkey"}, "suppression": {}}, "choose one of them"),
        ({"cell_key": {"key": "rkey"}, "perturbation": {}}, "choose one of them"),
        ({"cell_key": {"key": "rkey", "p_table": "q.txt"}}, "there is no file 'q.txt'"),
        ({"compare": {}}, "rules: missing"),
        ({"compare": {"files": ["m.xyz"]}, "rules": {"small_cells": 3}}, "m.xyz"),
        ({"compare": {"merge": "size"}, "rules": {"small_cells": 3}}, "no classification 'size'"),
        ({"compare": {}, "rules": {"small_cells": 3}, "output": {"publish": ["t.csv"]}}, r"compare\.files"),
        ({"compare": {"merge": "size"}, "suppression": {}}, "suppression: belongs to a job of kind 'table'"),
        ({"compare": {"methods": ["magic"]}, "rules": {"small_cells": 3}}, "compare.methods"),
        ({"compare": {"files": ["firms.csv"]}, "rules": {"small_cells": 3}}, "data.microdata too"),
    ],
)
def test_mistakes_are_named(folder: Path, content: dict[str, Any], words: str) -> None:
    with pytest.raises(BadJob, match=words):
        run(folder, **content)
