"""Files made wrong by the thousand: whatever is read is taken or refused in words, never more.

    python -m benchmarks.fuzz --inputs 10000 --seed 1 [--only xlsx,working]

Every input follows from the seed, its kind and its number. Children read them, so that a crash is counted and not
suffered. Outcomes: accepted (and used without trouble), refused (a `DiskretError`), traceback (any other exception),
crash (the child died), hang (more than 10 seconds of the processor, or a minute of waiting).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from typing import Any

from diskret.model.errors import DiskretError

SECONDS, PATIENCE = 10, 60
MEMORY = 3_000_000_000
"""Bytes that reading one input may take beyond what the child has when it starts."""
BAD = ("traceback", "crash", "hang")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What became of one input."""

    kind: str
    number: int
    outcome: str
    said: str = ""


def tried(kind: str, seed: int, number: int, folder: Path) -> Finding:
    """Make one input, read it and use it."""
    from benchmarks.fuzz_readers import READERS

    reader = READERS[kind]
    random = Random(f"{seed} {kind} {number}")
    sample = reader.make(folder)
    if number:
        sample.write_bytes(reader.mutate(sample.read_bytes(), random))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.use(sample)
    except DiskretError as e:
        return Finding(kind=kind, number=number, outcome="refused", said=e.code)
    except Exception as e:
        frames = [f for f in traceback.extract_tb(e.__traceback__) if "diskret" in f.filename or "tools" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        said = f"{type(e).__name__} at {place}: {str(e)[:120]!r}"
        return Finding(kind=kind, number=number, outcome="traceback", said=said)
    return Finding(kind=kind, number=number, outcome="accepted")


def _child(talk: Connection, seed: int) -> None:
    """Read whatever is sent, until nothing more comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    from benchmarks.fuzz_readers import READERS, compile_all

    compile_all()
    home = Path(tempfile.mkdtemp(prefix="fuzz-"))
    warm: set[str] = set()
    while (work := talk.recv()) is not None:
        kind, number = work
        if kind not in warm:  # compiled loops are read from disk: that is not the input's fault
            with tempfile.TemporaryDirectory(dir=home) as folder:
                READERS[kind].use(READERS[kind].make(Path(folder)))
            warm.add(kind)
            here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (here + MEMORY, resource.RLIM_INFINITY))
        talk.send("begun")
        with tempfile.TemporaryDirectory(dir=home) as folder:
            talk.send(tried(kind, seed, number, Path(folder)))
    shutil.rmtree(home, ignore_errors=True)


@dataclass
class Child:
    """A process that reads, what it reads, and since when."""

    seed: int
    work: tuple[str, int] | None = None
    process: Any = None
    talk: Any = None
    begun: float = 0.0
    used: float = 0.0

    def give(self, work: tuple[str, int] | None) -> None:
        """Let it read something, or end."""
        if self.process is None:
            context = get_context("spawn")
            self.talk, theirs = context.Pipe()
            self.process = context.Process(target=_child, args=(theirs, self.seed), daemon=True)
            self.process.start()
            theirs.close()
        self.work, self.begun, self.used = work, time.monotonic(), float("inf")
        self.talk.send(work)

    def begin(self) -> None:
        """Count from now."""
        self.begun, self.used = time.monotonic(), self.seconds()

    def seconds(self) -> float:
        """Seconds of the processor so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def late(self) -> bool:
        """Whether it has had more than its time."""
        try:
            return self.seconds() - self.used > SECONDS or time.monotonic() - self.begun > 5 * PATIENCE
        except (OSError, IndexError):
            return False

    def end(self) -> None:
        """Stop it in the middle."""
        self.process.kill()
        self.process.join()
        self.process = None


@dataclass
class Campaign:
    """All inputs, read by a few children."""

    seed: int
    children: int = 2
    found: list[Finding] = field(default_factory=list)

    def run(self, works: list[tuple[str, int]]) -> None:
        """Read them all."""
        todo = works[::-1]
        crew = [Child(self.seed) for _ in range(self.children)]
        while todo or any(child.work for child in crew):
            for child in crew:
                if child.work is None and todo:
                    child.give(todo.pop())
            wait([child.talk for child in crew if child.work], timeout=1)
            for child in crew:
                if child.work is not None:
                    self._look(child)
        for child in crew:
            if child.process is not None:
                child.give(None)
                child.process.join(10)

    def _look(self, child: Child) -> None:
        assert child.work is not None
        kind, number = child.work
        try:
            while child.work and child.talk.poll():
                said = child.talk.recv()
                if isinstance(said, Finding):
                    self._note(said, child)
                else:
                    child.begin()
        except (EOFError, OSError):
            child.process.join()
            said = Finding(kind=kind, number=number, outcome="crash", said=f"exit code {child.process.exitcode}")
            self._note(said, child)
            child.process = None
            return
        if child.work and child.late():
            self._note(Finding(kind=kind, number=number, outcome="hang"), child)
            child.end()

    def _note(self, finding: Finding, child: Child) -> None:
        self.found.append(finding)
        child.work = None
        if finding.outcome in BAD:
            print(f"{finding.outcome}: {finding.kind} {finding.number} {finding.said}", flush=True)


def main() -> int:
    from benchmarks.fuzz_readers import READERS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--children", type=int, default=2)
    given = parser.parse_args()
    kinds = given.only.split(",") if given.only else list(READERS)
    each = -(-given.inputs // len(kinds))
    campaign = Campaign(given.seed, given.children)
    begun = time.monotonic()
    # kind by kind: what was compiled for one stays warm
    campaign.run([(kind, number) for kind in kinds for number in range(1, each + 1)])
    print(f"{'kind':<16}{'inputs':>8}{'accepted':>10}{'refused':>9}{'traceback':>11}{'crash':>7}{'hang':>6}")
    for kind in kinds:
        counts = Counter(f.outcome for f in campaign.found if f.kind == kind)
        numbers = [counts[outcome] for outcome in ("accepted", "refused", *BAD)]
        print(
            f"{kind:<16}{sum(numbers):>8}{numbers[0]:>10}{numbers[1]:>9}{numbers[2]:>11}{numbers[3]:>7}{numbers[4]:>6}"
        )
    worst = Counter(f"{f.outcome} {f.kind}: {f.said}" for f in campaign.found if f.outcome in BAD)
    print(f"{len(campaign.found)} inputs with seed {given.seed} in {time.monotonic() - begun:.0f} s")
    for said, times in worst.most_common(40):
        print(f"{times:>5} {said}")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
