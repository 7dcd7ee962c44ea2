"""Reading a job file: all mistakes at once, each with its key, what is allowed, and a hint."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from diskret.io.text import read_text
from diskret.job.models import Job
from diskret.model.errors import BadJob, listed
from diskret.publication.publish import WRITERS


@dataclass(frozen=True)
class Problem:
    """One mistake in a job file."""

    key: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.what}" + (f" ({self.hint})" if self.hint else "")


def read_job(path: str | Path) -> Job:
    """The job in a TOML file."""
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise BadJob(
            f"the job file is no valid TOML: {e}", where=str(path), hint="text needs quotes; see docs/jobs.md."
        ) from e
    return job_from(content, str(path), Path(path).parent)


def job_from(content: dict[str, Any], where: str, folder: Path) -> Job:
    """A job from plain data; refuses with every mistake found."""
    try:
        job = Job.model_validate(content)
    except ValidationError as e:
        raise _refusal(_merged([_problem(error) for error in e.errors()]), where) from None
    problems = list(_further_problems(job, folder))
    if problems:
        raise _refusal(problems, where)
    return job


def _refusal(problems: Sequence[Problem], where: str) -> BadJob:
    number = f"{len(problems)} mistake{'s' if len(problems) > 1 else ''} in the job file"
    lines = "\n".join(f"    {p}" for p in problems)
    return BadJob(f"{number}\n{lines}", where=where, hint="correct them and run again; docs/jobs.md lists every key.")


def _merged(problems: Sequence[Problem]) -> list[Problem]:
    """One problem per key: where several forms are allowed, pydantic complains once for each."""
    merged: dict[str, Problem] = {}
    for p in problems:
        before = merged.get(p.key)
        merged[p.key] = p if before is None else Problem(p.key, f"{before.what}, or {p.what}", p.hint)
    return list(merged.values())


def _problem(error: Any) -> Problem:
    """One pydantic error in our words."""
    path = [str(p) for p in error["loc"] if not _is_branch(str(p))]
    key = ".".join(path) or "(job)"
    field = _describe(path)
    kind = error["type"]
    if kind == "extra_forbidden":
        known = _keys(path[:-1])
        near = difflib.get_close_matches(path[-1], known, n=1)
        return Problem(key, "unknown key", f"did you mean {near[0]!r}?" if near else f"allowed: {', '.join(known)}")
    if kind == "missing":
        return Problem(key, "missing", field)
    what = (
        error["msg"]
        .removeprefix("Value error, ")
        .replace("Input should be", "should be")
        .replace(" dictionary", " table")
    )
    return Problem(key, re.sub(r" or instance of \w+", "", what), field)


def _is_branch(part: str) -> bool:
    """Pydantic names the branch of a union inside the path; users know nothing of it."""
    return part in ("MinCountRule", "LineRule", "FlagColumn") or part.startswith(
        ("int", "bool", "str", "list[", "literal[", "function-", "constrained")
    )


def _model_at(path: Sequence[str]) -> type[BaseModel] | None:
    """The section a key path leads to."""
    model: Any = Job
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = model.model_fields.get(part)
            if field is None:
                return None
            inner = [field.annotation, *getattr(field.annotation, "__args__", ())]
            model = next((m for m in inner if isinstance(m, type) and issubclass(m, BaseModel)), None)
        elif model is None:
            return None
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def _sections(path: Sequence[str]) -> Sequence[str]:
    """The path without names the user chose (classifications) and positions in lists."""
    if path[:1] == ["classifications"]:
        return ["classifications", *path[2:]]
    return [p for p in path if not p.isdigit()]


def _keys(path: Sequence[str]) -> list[str]:
    model = _model_at(_sections(path))
    return list(model.model_fields) if model else []


def _describe(path: Sequence[str]) -> str:
    parts = _sections(path)
    model = _model_at(parts[:-1]) if parts else None
    field = model.model_fields.get(parts[-1]) if model else None
    return field.description or "" if field else ""


def _further_problems(job: Job, folder: Path) -> Iterator[Problem]:
    """What the types cannot say: files that are missing, keys that do not go together."""
    for key in ("microdata", "cells", "table", "metadata"):
        name = getattr(job.data, key)
        if name and not any(c in name for c in "*?[") and not (folder / name).exists():
            yield Problem(
                f"data.{key}",
                f"there is no file {name!r}",
                f"looked in the folder of the job file{_near(folder / name)}",
            )
    for name, each in job.classifications.items():
        if each.hierarchy and not (folder / each.hierarchy).exists():
            yield Problem(
                f"classifications.{name}.hierarchy",
                f"there is no file {each.hierarchy!r}",
                _near(folder / each.hierarchy)[2:],
            )
        if job.table.by and name not in job.table.by:
            yield Problem(f"classifications.{name}", "is not in table.by", f"table.by lists {listed(job.table.by)}")
    if not job.data.table and not job.table.by:
        yield Problem("table.by", "missing", "columns that classify, in the order of the table")
    if job.data.cells and not job.table.value and not job.data.metadata:
        yield Problem("table.value", "missing", "column or columns with the values of the cells")
    yield from _misplaced(job)
    yield from _outputs(job)


def _misplaced(job: Job) -> Iterator[Problem]:
    only_cells = ("count", "largest", "status", "lower", "upper", "cost", "frequency", "tolerance")
    only_records = ("weight", "holding", "waiver", "request", "public")
    wrong = only_cells if job.data.microdata else only_records if job.data.cells else ()
    for key in wrong:
        if getattr(job.table, key):
            kind = "cells" if job.data.microdata else "microdata"
            yield Problem(f"table.{key}", f"goes only with data.{kind}")
    levels = job.rules.counted_by if isinstance(job.rules.counted_by, list) else [job.rules.counted_by]
    if "holding" in levels and job.data.microdata and not job.table.holding:
        yield Problem(
            "rules.counted_by", "'holding' needs table.holding", "name the column that joins records of one owner"
        )
    for n, k in job.rules.dominance:
        if n < 1 or k >= 100:
            yield Problem("rules.dominance", f"[{n}, ...] is no dominance rule", "n is 1 or more, k under 100 percent")


def _outputs(job: Job) -> Iterator[Problem]:
    for name in job.output.publish:
        if Path(name).suffix.lower() not in WRITERS:
            yield Problem("output.publish", f"cannot write {name!r}", f"endings: {', '.join(WRITERS)}")
    if job.output.working and not job.output.working.endswith(".parquet"):
        yield Problem("output.working", f"cannot write {job.output.working!r}", "a working file ends in .parquet")
    if job.output.comparison and Path(job.output.comparison).suffix not in (".svg", ".html", ".png"):
        yield Problem("output.comparison", f"cannot write {job.output.comparison!r}", "endings: .svg, .html, .png")


def _near(path: Path) -> str:
    names = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
