"""Little memory and full disks: how runs end. Never asserted; anything but 0 (done) and 2 (refused in words) is a flaw.

``python -m benchmarks.scarce`` runs table and SAFE jobs under limits on addresses (``ulimit -v``) from far too little
to plenty, and, for root, with outputs and spilled records on a disk of 400 KB.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROWS = 1_000_000
LIMITS = (300, 500, 700, 1000, 1500, 2000, 2200, 2400, 2600, 2700, 2800, 2900, 3000, 3500, 4000)
TABLE = """[data]
microdata = "DATA"
[table]
by = ["a", "b", "c"]
value = "x"
[rules]
min_count = 3
[suppression]
method = "cuboids"
[output]
publish = ["t.csv", "t.parquet"]
working = "w.parquet"
"""
SAFE = """[data]
microdata = "DATA"
[anonymise]
attributes = ["a", "c"]
[output]
microdata = "anonymous.csv"
"""
JOBS = {"cuboids": TABLE, "safe": SAFE}
RUN = "from diskret.cli import main; main()"
SPILL = """
import sys
from diskret import Roles, TabulationOptions, tabulate
from diskret.model.errors import DiskretError
try:
    tabulate(sys.argv[1], by={"a": None}, value="x", roles=Roles(holding="h"),
             options=TabulationOptions(memory_limit="40MB", threads=1))
except DiskretError as e:
    sys.exit(f"{e}")
"""


def records(folder: Path) -> Path:
    """A file of records that is large enough to spill."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, n, ROWS) for n in (60, 40, 20, 1000, ROWS // 2)]
    path = folder / "records.csv"
    np.savetxt(path, np.stack(columns, axis=1), fmt=["%d"] * 5, delimiter=",", header="a,b,c,x,h", comments="")
    return path


@contextlib.contextmanager
def small_disk(size: str = "400k") -> Iterator[Path]:
    """A disk of a given size, for root."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)


def ended(program: str, *words: str, megabytes: int | None = None, temporary: str | None = None) -> str:
    """How a run ended: its exit code, and the first line it said."""

    def limit() -> None:
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    known = dict(os.environ) | ({"TMPDIR": temporary} if temporary else {})
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=300, env=known,
            preexec_fn=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "no end in 300 s"
    said = (done.stderr.strip().splitlines() or [""])[0]
    return f"{done.returncode:4d}  {said[:110]}"


def main() -> None:
    """Print how each run ended."""
    with tempfile.TemporaryDirectory() as place:
        data = records(Path(place))
        for name, text in JOBS.items():
            job = Path(place) / f"{name}.toml"
            job.write_text(text.replace("DATA", str(data)))
            for megabytes in LIMITS:
                print(
                    f"{name:8s} {megabytes:5d} MB {ended(RUN, 'run', '-q', str(job), megabytes=megabytes)}", flush=True
                )
        if os.geteuid() == 0:
            with small_disk() as disk:
                for name, text in JOBS.items():
                    (disk / "job.toml").write_text(text.replace("DATA", str(data)))
                    print(f"{name:8s} small disk {ended(RUN, 'run', '-q', str(disk / 'job.toml'))}")
                print(f"spilling small disk {ended(SPILL, str(data), temporary=str(disk))}")


if __name__ == "__main__":
    main()
