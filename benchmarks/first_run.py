"""What the first job on a machine costs: compiling included, and without it.

    python -m benchmarks.first_run [TIMES]
    python -m benchmarks.first_run page
    python -m benchmarks.first_run kernels [KIND]

Runs `diskret run examples/turnover.toml` with an empty cache of compiled kernels, then again with the full one.
Bytecode is there, as an installer leaves it. ``page`` runs the same on the page, once after it has compiled in the
background and once as soon as the server answers. ``kernels`` says which functions are compiled for it (or for
`diskret warm KIND`): CPU seconds without and with what they call, dearest first; a function that is there twice has
two signatures.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
RUN = "import sys; from diskret.cli import main; sys.argv = ['diskret', 'run', '-q', 'turnover.toml']; main()"
PREPARE = (sys.executable, "-P", "-m", "diskret.job.prepare")
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


def installed(place: Path) -> dict[str, str]:
    """The environment of a program whose bytecode is there and whose kernels are kept in a folder of their own."""
    bytecode = place / "bytecode"
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": ""}
    code = "import compileall, diskret, sys; sys.exit(not compileall.compile_dir(diskret.__path__[0], quiet=2))"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return environment | {"NUMBA_CACHE_DIR": str(place / "cache")}


def seconds(folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of one job, everything it started included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


class Page:
    """A server, and what the page asks it."""

    def __init__(self, place: Path, environment: dict[str, str]) -> None:
        (place / "workspace").mkdir(exist_ok=True)
        words = ["-c", "from diskret.cli import main; main()", "serve", "--no-open", "--workspace", "workspace"]
        self.process = subprocess.Popen(
            [sys.executable, *words], cwd=place, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        said = ""
        while not (found := re.search(r"open http://(127\.0\.0\.1:\d+)/#token=(\S+)", said)):
            said += self.process.stdout.readline()
        self.host, self.cookie = found[1], ""
        self.ask("POST", "/api/session", {"token": found[2]})

    def ask(self, how: str, path: str, content: object = None) -> Any:
        """What the server answers."""
        line = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"origin": f"http://{self.host}", "content-type": "application/json", "cookie": self.cookie}
        line.request(how, path, json.dumps(content), headers)
        answer = line.getresponse()
        self.cookie = (answer.getheader("set-cookie") or self.cookie).split(";")[0]
        return json.loads(answer.read())

    def run(self) -> tuple[float, float]:
        """Seconds by the clock until the example is protected, and CPU seconds of the process that does it."""
        start = time.monotonic()
        self.ask("POST", "/api/examples/turnover")
        path = f"/api/runs/{self.ask('POST', '/api/runs', {})['id']}"
        while (status := self.ask("GET", path))["state"] == "running":
            time.sleep(0.02)
        assert status["state"] == "finished", status
        return time.monotonic() - start, status["cpu"]


def page() -> None:
    """Print how long the page's first result takes."""
    for prepared in (True, False):
        with tempfile.TemporaryDirectory() as place:
            environment, waited = installed(Path(place)), 0.0
            if prepared:
                start = time.monotonic()
                with subprocess.Popen([*PREPARE], env=environment, stdin=subprocess.PIPE) as preparing:
                    preparing.wait()
                waited = time.monotonic() - start
            began = time.monotonic()
            opened = Page(Path(place), environment)
            there = time.monotonic() - began
            first, second = opened.run(), opened.run()
            opened.process.terminate()
            opened.process.wait()
            how = f"after {waited:.1f} s of compiling in the background" if prepared else "at once"
            print(
                f"server answers after {there:.1f} s; asked {how} the first result takes {first[0]:.1f} s by the clock "
                f"({first[1]:.1f} CPU s), the second {second[0]:.1f} s ({second[1]:.1f} CPU s)"
            )


def main(times: int) -> None:
    """Print the best of several first runs, and of second runs."""
    found: dict[str, list[tuple[float, float]]] = {"first": [], "second": []}
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "examples"
            shutil.copytree(EXAMPLES, folder)
            environment = installed(Path(place))
            for each in found.values():
                each.append(seconds(folder, environment))
    for name, each in found.items():
        print(
            f"{name} run: {min(cpu for cpu, _ in each):.1f} CPU s, {min(wall for _, wall in each):.1f} s by the clock"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["page"]:
        page()
    elif sys.argv[1:2] == ["kernels"]:
        kernels(sys.argv[2] if len(sys.argv) > 2 else None)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
