"""SDMX in job files: what is missing is said before anything runs, and a job does what Python does."""

from __future__ import annotations

import stat
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.job.write import job_as_text
from diskret.model.errors import BadJob

CELLS = "nace,region,x,n\n" + "".join(
    f"{nace},{region},{10 * i + j}.5,{2 if i == j == 1 else 7}\n"
    for i, nace in enumerate("BCDE", start=1)
    for j, region in enumerate("NSW", start=1)
)
NAMED = {"dataflow": "ESTAT:SBS(1.0)", "dimensions": {"nace": "ACTIVITY"}, "constants": {"TIME_PERIOD": "2025"}}
JOB: dict[str, Any] = {
    "data": {"cells": "cells.csv"}, "table": {"by": ["nace", "region"], "value": ["x"], "count": "n"},
    "rules": {"min_count": 3}, "suppression": {},
}  # fmt: skip


def run(folder: Path, **output: Any) -> JobResult:
    (folder / "cells.csv").write_text(CELLS, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        return run_job(job_from(JOB | {"output": output}, "the test", folder), folder)


def test_a_job_publishes_and_transmits_what_python_does(tmp_path: Path) -> None:
    transmission = [{"file": "out/t.csv"}, {"file": "out/t.xml", "values": False}]
    done = run(
        tmp_path, publish=["out/p.sdmx.csv", "out/p.SDMX.xml"], sdmx=NAMED, transmission=transmission, date="2026-03-31"
    )
    table, named = done.tables["x"], dk.Sdmx(**NAMED)  # type: ignore[arg-type]
    dk.publish(table, tmp_path / "own.sdmx.csv", sdmx=named)
    dk.write_transmission(table, tmp_path / "own.csv", sdmx=named)
    for own, made in (("own.sdmx.csv", "p.sdmx.csv"), ("own.csv", "t.csv")):
        assert (tmp_path / own).read_bytes() == (tmp_path / "out" / made).read_bytes()
    assert "Prepared>2026-03-31T" in (tmp_path / "out/t.xml").read_text()
    for name in ("t.csv", "t.xml"):
        assert stat.S_IMODE((tmp_path / "out" / name).stat().st_mode) == 0o600
    assert [path.name for path in done.files] == ["p.sdmx.csv", "p.SDMX.xml", "t.csv", "t.xml"]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({"publish": ["p.sdmx.csv"]}, "output.sdmx: an SDMX file names its dataflow"),
        ({"transmission": [{"file": "t.csv"}]}, "output.sdmx: an SDMX file names its dataflow"),
        ({"publish": ["p.sdmx.csv"], "sdmx": {"dataflow": "SBS"}}, "output.sdmx: 'SBS' is not a dataflow"),
        ({"publish": ["p.sdmx.csv"], "sdmx": NAMED, "counts": True}, "output.sdmx.indicator: missing"),
        ({"publish": ["p.sdmx.csv"], "sdmx": {**NAMED, "dimensions": {"y": "Y"}}}, "no classification 'y'"),
        ({"publish": ["p.xml"], "sdmx": NAMED}, "cannot write 'p.xml'"),
        ({"transmission": [{"file": "t.parquet"}], "sdmx": NAMED}, "cannot write 't.parquet'"),
        ({"transmission": [{"file": "t.csv"}, {"file": "t.csv"}], "sdmx": NAMED}, "give every file its own name"),
    ],
)
def test_what_sdmx_lacks_is_said_before_anything_runs(output: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadJob) as refused:
        run(tmp_path, **output)
    assert words in str(refused.value)


def test_a_job_with_sdmx_is_written_as_text_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    output = {"publish": ["p.sdmx.csv"], "sdmx": NAMED, "transmission": [{"file": "t.xml", "values": False}]}
    job = job_from(JOB | {"output": output | {"sdmx": NAMED | {"constants": {"TIME_PERIOD": 2025}}}}, "t", tmp_path)
    assert tomllib.loads(job_as_text(job))["output"] == output


def test_tables_of_a_pool_share_what_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    pool = {
        "data": JOB["data"], "table": {"value": ["x"], "count": "n"}, "rules": JOB["rules"], "suppression": {},
        "tables": {
            "both": {"by": ["nace", "region"], "output": {"publish": ["both.sdmx.csv"]}},
            "one": {"by": ["region"], "data": {"cells": "regions.csv"}, "value": ["x"], "count": "n",
                    "output": {"publish": ["one.sdmx.csv"], "transmission": [{"file": "one.csv"}]}},
        },
        "output": {"sdmx": NAMED},
    }  # fmt: skip
    (tmp_path / "regions.csv").write_text("region,x,n\nN,106,23\nS,110,28\nW,114,28\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        run_job(job_from(pool, "the test", tmp_path), tmp_path)
    assert "ACTIVITY,region,TIME_PERIOD" in (tmp_path / "both.sdmx.csv").read_text()
    assert "ACTION,region,TIME_PERIOD" in (tmp_path / "one.sdmx.csv").read_text()
    wrong = pool | {"output": {"sdmx": {**NAMED, "dimensions": {"nacce": "ACTIVITY"}}}}
    with pytest.raises(BadJob, match="no classification 'nacce'"):
        job_from(wrong, "the test", tmp_path)
