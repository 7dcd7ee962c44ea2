"""Reading a job file: all mistakes at once, each with its key, what is allowed, and a hint."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args, overload

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from diskret.io.structured import from_json, from_toml
from diskret.io.text import inside, read_text
from diskret.job.form import SLASHES, Problem, Section, by_name, problems_of, sections_in
from diskret.job.models import JOB, KINDS, Job, split
from diskret.job.older import translated
from diskret.job.protection_sections import METHODS
from diskret.model.errors import BadJob
from diskret.model.opened import EXCEL, PARQUET
from diskret.model.places import typed
from diskret.model.spelling import nearest
from diskret.model.statistical import STATISTICAL

Kind = TypeVar("Kind", bound=Section)
DATA = EXCEL | PARQUET | STATISTICAL | {".csv", ".tsv", ".gz", ".zst"}
"""Endings of files of data."""
MOST_SHOWN = 40
"""Mistakes that are told at once."""
OTHER_FORM = "should be a valid "
"""How it begins what is said of a value that has not this form."""
BRANCH = re.compile(r"(int|bool|str|float)$|(list|dict|tuple|literal|function|constrained|nullable)[-\[]")
"""Names of the checking library for a branch where several forms are allowed."""


def read_job(path: str | Path) -> Job:
    """The job in a file, TOML or, as other programs write it, JSON."""
    return job_from(job_content(path), str(path), Path(path).parent)


def job_content(path: str | Path) -> dict[str, Any]:
    """What stands in a job file, not looked at yet."""
    _refuse_data(Path(path))
    text = read_text(path)
    if Path(path).suffix.lower() == ".json":
        return _content_of_json(text, str(path))
    try:
        with inside(path):
            return from_toml(text)
    except ValueError as e:
        said = str(e) if isinstance(e, tomllib.TOMLDecodeError) else "a number is too large"
        hint = (
            f"{SLASHES}." if re.search("Unescaped|hex value|scalar", said) else "text needs quotes; see docs/jobs.md."
        )
        raise BadJob(f"the job file is not valid TOML: {said}", where=str(path), hint=hint) from e


def _refuse_data(path: Path) -> None:
    """Refuse what by its ending is no job: beginners name their data, or a batch of tau-ARGUS."""
    ending = path.suffix.lower()
    if ending in DATA:
        hint = f"diskret init {typed(path.name)} writes a job for it, which you then run."
        raise BadJob("this is a file of data, not a job", where=str(path), hint=hint)
    if ending == ".arb":
        hint = f"diskret argus {typed(path.name)} runs it."
        raise BadJob("this is a batch of tau-ARGUS, not a job", where=str(path), hint=hint)


def _content_of_json(text: str, where: str) -> dict[str, Any]:
    try:
        with inside(where):
            content = from_json(text)
    except ValueError as e:
        raise BadJob("the job file is not valid JSON", where=where, hint="write it anew; see docs/jobs.md.") from e
    if not isinstance(content, dict):
        raise BadJob(
            "the job file is not a JSON object", where=where, hint='begin with {"data": ...}; see docs/jobs.md.'
        )
    return content


@overload
def job_from(content: dict[str, Any], where: str, folder: Path) -> Job: ...
@overload
def job_from(content: dict[str, Any], where: str, folder: Path, kind: type[Kind]) -> Kind: ...
def job_from(content: dict[str, Any], where: str, folder: Path, kind: type[Section] | None = None) -> Section:
    """A job from plain data, of any kind or of the one that is asked for; refuses with every mistake found."""
    today, moved = translated(content)
    own, problems = split(today)
    try:
        job = JOB.validate_python(own)
    except ValidationError as e:
        errors = e.errors(include_url=False, include_input=False)
        # a file of something else has thousands: those that are not shown need no hint
        found = _merged(_as_written([_problem(error) for error in errors[:MOST_SHOWN]], moved))
        raise _refusal([*problems, *found], where, more=len(errors) > MOST_SHOWN) from None
    if kind is not None and not isinstance(job, kind):
        wanted = kind.model_fields["kind"].default
        problems.append(Problem("kind", f"the job is of kind {job.kind!r}", f"one of kind {wanted!r} is needed here"))
    problems += _as_written(problems_of(job, folder), moved)
    if problems:
        raise _refusal(problems, where)
    return job


def _as_written(problems: Iterable[Problem], moved: Mapping[str, str]) -> list[Problem]:
    """Problems under the keys the user wrote, where those have moved."""
    return [replace(p, key=moved.get(p.key, p.key)) for p in problems]


def _refusal(problems: Sequence[Problem], where: str, more: bool = False) -> BadJob:
    number = f"{len(problems)} mistake{'s' if len(problems) > 1 else ''} in the job file"
    if more or len(problems) > MOST_SHOWN:
        number = "a great many mistakes in the job file, these among them"
    lines = "\n".join(f"    {p}" for p in problems[:MOST_SHOWN])
    return BadJob(f"{number}\n{lines}", where=where, hint="correct them and run again; docs/jobs.md lists every key.")


def _merged(problems: Iterable[Problem]) -> list[Problem]:
    """One problem per key: where several forms are allowed, pydantic complains once for each.

    Whoever chose one of the forms and gave a wrong number need not hear of the others.
    """
    by_key: dict[str, list[Problem]] = {}
    for p in problems:
        by_key.setdefault(p.key, []).append(p)
    merged = []
    for key, each in by_key.items():
        meant = [p for p in each if not p.what.startswith(OTHER_FORM)] or each
        merged.append(Problem(key, ", or ".join(p.what for p in meant), meant[-1].hint))
    return merged


def _problem(error: Any) -> Problem:
    """One pydantic error in our words."""
    path, sections, field = _traced([*error["loc"]], known=error["type"] != "extra_forbidden")
    key, hint = ".".join(path) or "(job)", (field.description or "") if field else ""
    match error["type"]:
        case "extra_forbidden":
            return Problem(key, *_unknown(path, sections))
        case "missing":
            return Problem(key, "missing", hint)
        case "union_tag_invalid" | "union_tag_not_found":
            return _untagged(path, sections)
    what = error["msg"].removeprefix("Value error, ").replace("Input should be", "should be")
    return Problem(key, re.sub(r" or instance of \w+", "", what.replace(" dictionary", " table")), hint)


def _untagged(path: list[str], sections: Sequence[type[Section]]) -> Problem:
    """Something of several kinds that says none of them: a job, a step, a method."""
    if not path:
        return Problem("kind", "is not a kind of job", f"one of {', '.join(KINDS)}")
    key, what = ("do", "is not a kind of step") if path[-1].isdigit() else ("method", "is not a method")
    return Problem(".".join((*path, key)), what, f"one of {', '.join(map(_tag, sections))}")


def _unknown(path: list[str], sections: Sequence[type[Section]]) -> tuple[str, str]:
    """What is said about an unknown key, and what it should have been."""
    owners = [repr(name) for name, section in METHODS.items() if path[-1] in section.model_fields]
    if owners and path[:-1] == ["suppression"]:
        return f"belongs to the method {' or '.join(owners)}", "leave it out, or change the method"
    keys = [name for section in sections for name in section.model_fields]
    near = nearest(path[-1], keys)
    return "unknown key", f"did you mean {near!r}?" if near else f"allowed: {', '.join(keys)}"


def _traced(loc: list[str | int], known: bool) -> tuple[list[str], list[type[Section]], FieldInfo | None]:
    """The key as the user wrote it, the sections it stands in, and its field if it is a ``known`` one."""
    path: list[str] = []
    sections: list[type[Section]] = [KINDS[str(loc[0])]] if loc else []
    field: FieldInfo | None = None
    free = False  # a name the user chose comes next
    last = None if known else len(loc) - 1
    for at, part in enumerate(map(str, loc[1:]), 1):
        inner = next((s.model_fields[part] for s in sections if part in s.model_fields), None)
        if free or isinstance(loc[at], int) or at == last:
            path.append(part)
            free = False
        elif inner is not None:
            path.append(part)
            field, sections, free = inner, list(sections_in(inner.annotation)), by_name(inner)
        elif not _is_branch(part, sections):
            path.append(part)
        else:
            sections = [s for s in sections if _tag(s) == part] or sections
    return path, sections, field


def _tag(section: type[Section]) -> str:
    """The kind of a step, or the method, which stands in the paths of the checking library and not in ours."""
    tagged = section.model_fields.get("do") or section.model_fields.get("method")
    return str([*get_args(tagged.annotation), ""][0]) if tagged else ""


def _is_branch(part: str, sections: Sequence[type[Section]]) -> bool:
    """Pydantic names the branch of a union inside the path; users know nothing of it."""
    return bool(BRANCH.match(part)) or any(part in (_tag(section), section.__name__) for section in sections)
