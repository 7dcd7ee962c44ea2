"""Running a batch: its jobs one after another, as far as they are all possible; the command line and Python call it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from diskret import __version__
from diskret.argus.course import interactive
from diskret.argus.explain import job_files
from diskret.argus.logbook import Log
from diskret.argus.translate import Translated, Translation, translate
from diskret.io.arb import read_batch
from diskret.io.arb_commands import Solver
from diskret.io.files import whole_file
from diskret.job.models import Job
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import BadOption, DiskretError, UnclearFile
from diskret.tabulation.tabulate import Progress


@dataclass(frozen=True, kw_only=True, eq=False)
class ArgusResult:
    """What a batch made: the results of its jobs in their order, its files, and what was said."""

    results: tuple[JobResult, ...] = ()
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    """Where files were found and written, where that is not as the batch says; what has no counterpart."""
    interactive: bool = False
    """Whether the batch goes on at the screen."""
    log: Log = field(default_factory=Log)

    @property
    def exposed(self) -> bool:
        """Whether an audit found something exposed."""
        return any(each.exposed for each in self.results)


def run_argus(path: str | Path, *, out: str | Path | None = None, progress: Progress | None = None) -> ArgusResult:
    """Do what a tau-ARGUS batch file says. What it asks and cannot have is named before anything runs.

    Files that are not where the batch says are looked for beside it; outputs go to ``out``, or where the batch says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     here = Path(folder)
    ...     _ = (here / "firms.asc").write_text("A1 10\\nA2 20\\nB1 30\\nB2 40\\nB2 50\\nA1  5\\nA1  7\\n")
    ...     _ = (here / "firms.rda").write_text("R 1 1\\n<RECODEABLE>\\nS 2 1\\n<RECODEABLE>\\nX 4 2\\n<NUMERIC>\\n")
    ...     lines = ['<OPENMICRODATA> "F:/old/firms.asc"', '<OPENMETADATA> "firms.rda"', '<SPECIFYTABLE> "R""S"|"X"']
    ...     _ = (here / "job.arb").write_text("\\n".join([*lines, "<SAFETYRULE> FREQ(2,10)", "<READMICRODATA>"]))
    ...     done = run_argus(here / "job.arb")
    >>> done.results[0].summary()["tables"]["X"]["rules"], done.notes
    ({'minimum count': 2}, ("'F:/old/firms.asc' is not there: 'firms.asc' beside the batch is read instead",))
    """
    made = _translated(path, out)
    checked = [(each, _checked(made, each)) for each in made.jobs]
    log = Log()
    results = _run(made, checked, log, progress)
    files = tuple(dict.fromkeys(file for each in results for file in each.files)) + _written(made, log)
    return ArgusResult(
        results=results, files=files, notes=_notes(made), interactive=interactive(made.batch) is not None, log=log
    )


def explain_argus(path: str | Path, *, out: str | Path | None = None, force: bool = False) -> tuple[Path, ...]:
    """Write the job files that do what a batch does, with a comment for every line of it; nothing is run.

    They go beside the batch, or into ``out``; existing ones are only replaced by ``force``.
    """
    made = _translated(path, out)
    for each in made.jobs:
        _checked(made, each)
    folder = Path(out) if out is not None else made.batch.path.parent
    texts = job_files(made, folder)
    there = [name for name in texts if os.path.exists(folder / name)]
    if there and not force:
        raise BadOption(
            f"the job file {there[0]!r} exists already",
            where=str(folder),
            hint="choose another folder with out=... or --out, or replace it with force=True or --force.",
        )
    for name, text in texts.items():
        with whole_file(folder / name, private=True) as part:  # the parameters of the rules are in it
            part.write_text(text, encoding="utf-8", newline="")
    return tuple(folder / name for name in texts)


def _translated(path: str | Path, out: str | Path | None) -> Translation:
    return translate(read_batch(path), Path(out) if out is not None else None)


def _checked(made: Translation, job: Translated) -> Job:
    """A job of the batch, or the refusal that names its lines."""
    lines = sorted({each.line for each in job.said})
    where = f"{made.batch.path}, lines {', '.join(map(str, lines))}"
    return job_from(dict(job.content), where, made.batch.path.parent)


def _run(
    made: Translation, checked: list[tuple[Translated, Job]], log: Log, progress: Progress | None
) -> tuple[JobResult, ...]:
    """Every job at its line, with the commands logged in their order."""
    log.say(f"Log for batch run: {made.batch.path.name}")
    for words in _notes(made):
        log.say(words)
    at: dict[int, list[tuple[Translated, Job]]] = {}
    for pair in checked:
        at.setdefault(pair[0].step.at, []).append(pair)
    results: list[JobResult] = []
    for command in made.batch.commands:
        log.command(command)
        for each, job in at.get(command.line, ()):
            with _at(f"{made.batch.path}, line {command.line}"):
                done = _done(made, each, job, progress)
            results.append(done)
            _tell(log, each, done)
    log.say(f"End of batch run: {made.batch.path.name}")
    return tuple(results)


def _done(made: Translation, each: Translated, job: Job, progress: Progress | None) -> JobResult:
    """One job; numbers that all look like 1.234 have decimals, for tau-ARGUS knows no sign between thousands."""
    try:
        return run_job(job, made.batch.path.parent, progress)
    except UnclearFile as e:
        decimal = {"data.decimal": ".", "data.thousands": ","}.get(e.cures[0].key if e.cures else "")
        if decimal is None or "data" not in each.content:
            raise
    made.places.say(f"numbers with three digits after a {decimal!r} are taken as decimals, as by tau-ARGUS")
    content = {**each.content, "data": {**each.content["data"], "decimal": decimal}}
    return run_job(job_from(content, str(made.batch.path), made.batch.path.parent), made.batch.path.parent, progress)


@contextlib.contextmanager
def _at(place: str) -> Iterator[None]:
    """Say in every error of the block which line of the batch it is about."""
    try:
        yield
    except DiskretError as e:
        e.where = f"{e.where}; {place}" if e.where else place
        raise


def _tell(log: Log, job: Translated, done: JobResult) -> None:
    """What a job did, in numbers of cells and names of files."""
    for name, facts in done.summary()["tables"].items():
        counts = ", ".join(f"{n:,} {status}" for status, n in facts["status"].items())
        log.say(f"Table {'0' if len(job.step.tables) > 1 else job.step.tables[0].number} ({name}): {counts}")
    for words in done.warnings:
        log.say(words)
    for file in done.files:
        log.say(f"written: {file.name}")


def _notes(made: Translation) -> tuple[str, ...]:
    solvers = [each for each in made.batch.commands if isinstance(each, Solver)]
    said = [f"line {each.line}: our own solver is used, not {each.name}" for each in solvers]
    return (*made.places.notes, *said)


def _written(made: Translation, log: Log) -> tuple[Path, ...]:
    """Logbook and version, if the batch asks for them."""
    version = f"diskret version: {__version__}; build: 0\n"
    wanted = {made.logbook: log.text(), made.version: version}
    texts = {made.batch.path.parent / name: text for name, text in wanted.items() if name is not None}
    for file, text in texts.items():
        # warnings name cells, and so tell which are sensitive
        with whole_file(file, private=True) as part:
            part.write_text(text, encoding="utf-8", newline="")
    return tuple(texts)
