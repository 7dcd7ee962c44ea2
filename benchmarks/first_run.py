"""What the first job on a machine costs: compiling included, and without it.

    python -m benchmarks.first_run [TIMES]
    python -m benchmarks.first_run kernels [KIND]

Runs `diskret run examples/turnover.toml` with an empty cache of compiled kernels, then again with the full one. With
``kernels`` it says which functions are compiled for it (or for `diskret warm KIND`): CPU seconds without and with what
they call, dearest first; a function that is there twice has two signatures.
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
KERNELS = """
import sys, time
from numba.core import event
stack, found = [], []
class Heard(event.Listener):
    def on_start(self, event):
        stack.append([time.process_time(), 0.0])
    def on_end(self, event):
        start, inner = stack.pop()
        took = time.process_time() - start
        if stack:
            stack[-1][1] += took
        kernel = event.data["dispatcher"]
        found.append((took - inner, took, f"{kernel.__module__}.{kernel.__name__}"))
sys.argv = ["diskret", *sys.argv[1:]]
from diskret.cli import main
with event.install_listener("numba:compile", Heard()):
    try:
        main()
    except SystemExit:
        pass
for alone, all, name in sorted(found, reverse=True):
    print(f"{alone:6.2f} {all:6.2f}  {name}")
print(f"{sum(alone for alone, _, _ in found):6.2f} in all, {len(found)} functions")
"""


def kernels(kind: str | None) -> None:
    """Print what is compiled, function by function."""
    words = ["warm", "-q", kind] if kind else ["run", "-q", "turnover.toml"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "examples"
        shutil.copytree(EXAMPLES, folder)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(place) / "cache")}
        subprocess.run([sys.executable, "-c", KERNELS, *words], cwd=folder, env=environment, check=True)


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
    if sys.argv[1:2] == ["kernels"]:
        kernels(sys.argv[2] if len(sys.argv) > 2 else None)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
