"""On a real Spark cluster, several worker processes, records come to the same end as on one machine, to the byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]
WORKS = ("combinations", "anonymous", "table", "anonymity", "attack", "grouped", "noise")


def test_workers_of_their_own_give_the_bytes_of_one_machine(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    program = Path(__file__).parents[1] / "on_local_cluster.py"
    ran = subprocess.run([sys.executable, str(program), str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["executors"] >= 2
    assert found["same"] == dict.fromkeys(WORKS, True)
