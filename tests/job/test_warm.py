"""Whatever jobs need can be compiled beforehand, and it is said what was done and where it is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from diskret.job import warm
from diskret.job.models import TOLD_BY, kind_of
from diskret.model.errors import BadOption

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = """
import sys, warnings
from pathlib import Path
from diskret.job.prepare import compiling_said
from diskret.job.read import read_job
from diskret.job.run import run_job
compiled = []
warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    with compiling_said(lambda: compiled.append(Path(name).name)):
        run_job(read_job(name), Path(name).parent, write=False)
print(compiled)
"""

LARGE = """
from dataclasses import replace
import numpy as np
import diskret as dk
from diskret.job.prepare import compiling_said
rng = np.random.default_rng(1)
sizes = {"r": 40, "s": 20, "t": 10}
codes = {name: [f"{i:02d}" for i in range(size)] for name, size in sizes.items()}
at = np.indices(tuple(sizes.values())).reshape(3, -1)
cells = {name: np.array(codes[name])[at[i]].tolist() for i, name in enumerate(codes)}
cells["v"] = np.ceil(rng.lognormal(4, 1, at.shape[1])).tolist()
table = dk.Table.from_cells(cells, by={n: dk.Hierarchy.flat(c) for n, c in codes.items()}, value="v", positive=True)
hidden = rng.permutation(at.shape[1])[:3000]
table = table.with_status(dk.Status.PRIMARY, [[cells[n][i] for n in codes] for i in hidden.tolist()])
level = np.where(table.hidden, np.ceil(table.value / 5), 0.0)
table = replace(table, below=level, above=level)
compiled = []
with compiling_said(lambda: compiled.append("table")):
    done = dk.suppress(table, dk.Promise(guard="public"))
print(compiled)
"""


def test_every_kind_of_job_is_done_once() -> None:
    assert {*warm.jobs()} == {"table", *TOLD_BY.values()}
    for kind, contents in warm.jobs().items():
        assert {kind_of(content) for content in contents} == {kind}


def test_what_is_there_is_not_compiled_again() -> None:
    warm.warm(["risk"])
    again = warm.warm(["risk"])
    assert again.compiled == 0
    assert again.kinds == ("risk",)
    assert again.place is not None
    assert again.place.is_dir()


def test_another_kind_is_refused() -> None:
    with pytest.raises(BadOption, match="no kind of job 'tables'"):
        warm.warm(["tables"])


@pytest.mark.slow
def test_after_it_nothing_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = "from diskret.cli import main; main()"
    subprocess.run([sys.executable, "-c", command, "warm", "-q"], check=True)
    names = [
        "turnover.toml",
        "diagnoses.toml",
        "care.toml",
        "linked/pool.toml",
        "methods/compare.toml",
        "risk/attack.toml",
    ]
    jobs = [str(EXAMPLES / name) for name in names]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *jobs], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_nor_for_patterns_of_thousands_of_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    subprocess.run([sys.executable, "-c", "from diskret.cli import main; main()", "warm", "-q", "table"], check=True)
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
