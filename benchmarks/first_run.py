"""What the first job on a machine costs: compiling included, and without it.

    python -m benchmarks.first_run [TIMES]

Runs `diskret run examples/turnover.toml` with an empty cache of compiled kernels, then again with the full one.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
RUN = "import sys; from diskret.cli import main; sys.argv = ['diskret', 'run', '-q', 'turnover.toml']; main()"


def seconds(folder: Path, cache: Path) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of one job, everything it started included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def main(times: int) -> None:
    """Print the best of several first runs, and of second runs."""
    found: dict[str, list[tuple[float, float]]] = {"first": [], "second": []}
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "examples"
            shutil.copytree(EXAMPLES, folder)
            for each in found.values():
                each.append(seconds(folder, Path(place) / "cache"))
    for name, each in found.items():
        print(
            f"{name} run: {min(cpu for cpu, _ in each):.1f} CPU s, {min(wall for _, wall in each):.1f} s by the clock"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
