"""Reading a job file: all mistakes at once, each with its key, what is allowed, and a hint."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from diskret.io.text import read_text
from diskret.job.anonymise import ANONYMOUS_OUTPUTS, anonymise_problems
from diskret.job.models import STEPS, AttackSection, Job, MicrodataSection, RecodeStep
from diskret.job.noise import noise_problems
from diskret.job.pool import job_of, pool_problems
from diskret.job.problem import Problem
from diskret.model.errors import BadJob, BadOption, listed
from diskret.model.source import EXCEL
from diskret.model.status import Status
from diskret.publication.microdata_files import ENDINGS
from diskret.publication.publish import WRITERS
from diskret.publication.report_file import ENDINGS as REPORTS

MOST_LARGEST = 100


def read_job(path: str | Path) -> Job:
    """The job in a TOML file."""
    return job_from(job_content(path), str(path), Path(path).parent)


def job_content(path: str | Path) -> dict[str, Any]:
    """What stands in a job file, not looked at yet."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as e:
        said = str(e) if isinstance(e, tomllib.TOMLDecodeError) else "a number or a nesting beyond measure"
        raise BadJob(
            f"the job file is no valid TOML: {said}", where=str(path), hint="text needs quotes; see docs/jobs.md."
        ) from e


def job_from(content: dict[str, Any], where: str, folder: Path) -> Job:
    """A job from plain data; refuses with every mistake found."""
    nowhere = [Problem("data", "missing", "where the data are")] if not ({"data", "tables"} & {*content}) else []
    try:
        job = Job.model_validate(content)
    except ValidationError as e:
        raise _refusal([*nowhere, *_merged([_problem(error) for error in e.errors()])], where) from None
    problems = nowhere or list(dict.fromkeys(_further_problems(job, folder)))
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
    # a step of [microdata] stands with its kind in the path, which tells its keys; users count steps
    key = ".".join(p for i, p in enumerate(path) if not (path[:2] == ["microdata", "steps"] and i == 3)) or "(job)"
    field = _describe(path)
    kind = error["type"]
    if kind == "extra_forbidden":
        known = _keys(path[:-1])
        near = difflib.get_close_matches(path[-1], known, n=1)
        return Problem(key, "unknown key", f"did you mean {near[0]!r}?" if near else f"allowed: {', '.join(known)}")
    if kind == "missing":
        return Problem(key, "missing", field)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return Problem(f"{key}.do", "is no kind of step", f"one of {', '.join(STEPS)}")
    what = (
        error["msg"]
        .removeprefix("Value error, ")
        .replace("Input should be", "should be")
        .replace(" dictionary", " table")
    )
    return Problem(key, re.sub(r" or instance of \w+", "", what), field)


def _is_branch(part: str) -> bool:
    """Pydantic names the branch of a union inside the path; users know nothing of it."""
    return part in ("MinCountRule", "LineRule", "MarginRule", "FlagColumn", "RelativeKnowledge") or part.startswith(
        ("int", "bool", "str", "list[", "literal[", "function-", "constrained")
    )


def _model_at(path: Sequence[str]) -> type[BaseModel] | None:
    """The section a key path leads to."""
    model: Any = Job
    if path[:2] == ["microdata", "steps"] and len(path) > 2:
        model, path = STEPS[path[2]], path[3:]
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
    if path[:1] == ["tables"]:
        return ["tables", *_sections(path[2:])]
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
    if job.tables:
        yield from _pool(job, folder)
        return
    if "pool" in job.model_fields_set:
        yield Problem("pool", "goes only with [tables.NAME]", "a single table is no pool")
    yield from _of_one(job, folder)
    yield from _overwritten(job, folder)


def _pool(job: Job, folder: Path) -> Iterator[Problem]:
    """What is wrong with the pool, and with each of its tables as if it stood alone."""
    apart = [key for key in ("microdata", "attack", "anonymise") if getattr(job, key) is not None]
    for key in apart:
        yield Problem(key, "goes not with [tables.NAME]", "tables and records in two jobs")
    if apart:
        return
    yield from pool_problems(job, folder)
    for name, asked in job.tables.items():
        if asked.data is None and "data" not in job.model_fields_set:
            continue
        own = {"table", "output"} | ({"data"} if asked.data else set())
        for p in _of_one(job_of(job, name), folder):
            section, _, rest = p.key.partition(".")
            mine = section in own or (section == "classifications" and rest.split(".")[0] in asked.classifications)
            inner = rest if section == "table" else p.key
            yield Problem(f"tables.{name}.{inner}", p.what, p.hint) if mine else p
    runs = dict.fromkeys(n for t in job.tables.values() for n in (*(t.by or job.table.by), *t.fixed))
    listing = all(t.by or job.table.by for t in job.tables.values())
    everywhere = job.table.model_copy(update={"by": list(runs) if listing else []})
    yield from _suppression(job.model_copy(update={"table": everywhere}), folder)
    yield from _by_hand(job)
    if job.output.certificate:
        yield from _certificate(job)
    yield from _overwritten(job, folder)


def _of_one(job: Job, folder: Path) -> Iterator[Problem]:
    """What is wrong with a job about one table, or about records."""
    for key in ("microdata", "cells", "table", "metadata"):
        name = getattr(job.data, key)
        if name and not any(c in name for c in "*?[") and not os.path.exists(folder / name):
            yield Problem(
                f"data.{key}",
                f"there is no file {name!r}",
                f"looked in the folder of the job file{_near(folder / name)}",
            )
    file = job.data.microdata or job.data.cells or ""
    if job.data.sheet and Path(file).suffix.lower() not in EXCEL:
        yield Problem("data.sheet", "goes only with an Excel file", "name one in data.microdata or data.cells")
    if job.attack is not None:
        yield from _attack(job, job.attack, folder)
        if job.microdata is None:
            yield from _outputs(job, folder)
            return
    for name, each in job.classifications.items():
        if each.hierarchy and not os.path.exists(folder / each.hierarchy):
            yield Problem(
                f"classifications.{name}.hierarchy",
                f"there is no file {each.hierarchy!r}",
                _near(folder / each.hierarchy)[2:],
            )
        if job.anonymise and name not in job.anonymise.attributes:
            yield Problem(
                f"classifications.{name}", "is no attribute", f"attributes are {listed(job.anonymise.attributes)}"
            )
        if job.table.by and name not in job.table.by:
            yield Problem(f"classifications.{name}", "is not in table.by", f"table.by lists {listed(job.table.by)}")
    if job.microdata is not None:
        yield from _microdata(job, job.microdata, folder)
        yield from _outputs(job, folder)
        return
    if job.anonymise:
        yield from anonymise_problems(job, folder)
        return
    described = job.data.cells and job.data.metadata
    if not job.data.table and not job.table.by and not described:
        yield Problem("table.by", "missing", "columns that classify, in the order of the table")
    if job.data.cells and not job.table.value and not job.data.metadata:
        yield Problem("table.value", "missing", "column or columns with the values of the cells")
    for key in ("by", "value", "largest"):
        names = getattr(job.table, key)
        if len(set(names)) < len(names):
            yield Problem(f"table.{key}", "names a column twice", "name each once")
    yield from _misplaced(job)
    yield from _rules(job)
    yield from _suppression(job, folder)
    yield from noise_problems(job, folder)
    yield from _perturbation(job)
    yield from _by_hand(job)
    yield from _outputs(job, folder)


def _of_tables(job: Job, section: str, apart: str, instead: str) -> Iterator[Problem]:
    """What a job about records says although it is about tables."""
    for key in ("table", "rules", "suppression", "perturbation", "status", "classifications", "cell_key", "compare"):
        if key in job.model_fields_set:
            yield Problem(key, f"goes not with [{section}]", apart)
    for key in ("publish", "working", "tau_argus", "comparison"):
        if getattr(job.output, key):
            yield Problem(f"output.{key}", f"goes not with [{section}]", instead)


def _microdata(job: Job, asked: MicrodataSection, folder: Path) -> Iterator[Problem]:
    """What a job for records may not say, and what its steps need."""
    if not job.data.microdata:
        yield Problem("data.microdata", "missing", "a job with [microdata] reads records")
    yield from _of_tables(
        job, "microdata", "protect records and tables in two jobs", "name output.records and output.report"
    )
    random = any(step.do in ("noise", "swap", "pram") for step in asked.steps)
    if asked.seed is None and (random or asked.renumber):
        yield Problem("microdata.seed", "missing", "a long whole number, kept secret; the same one gives the same file")
    if (asked.wave is not None) and asked.unit is None:
        yield Problem("microdata.unit", "missing", "a panel with waves needs the column that joins a unit's records")
    changing = False
    for number, step in enumerate(asked.steps):
        key = f"microdata.steps.{number}"
        reducing = step.do in ("drop", "recode", "withhold", "release")
        if reducing and changing:
            yield Problem(key, f"{step.do!r} comes after a step that changes values", "take information away first")
        changing = changing or not reducing
        if step.do in ("microaggregate", "noise") and not (step.columns or asked.values):
            yield Problem(f"{key}.columns", "missing", "name columns here, or in microdata.values")
        if isinstance(step, RecodeStep):
            for name, file in (("file", step.file), ("hierarchy", step.hierarchy)):
                if file and not os.path.exists(folder / file):
                    yield Problem(f"{key}.{name}", f"there is no file {file!r}", _near(folder / file)[2:])
        if step.do == "noise" and (step.sd is None) == (step.amount is None):
            yield Problem(f"{key}.sd", "give exactly one of sd and amount", "sd is usual, amount the older baseline")


def _attack(job: Job, asked: AttackSection, folder: Path) -> Iterator[Problem]:
    """What a job that attacks records needs, and what it may not say."""
    if not job.data.microdata:
        yield Problem("data.microdata", "missing", "a job with [attack] reads the records that are to be released")
    yield from _of_tables(
        job, "attack", "attack records and make tables in two jobs", "name output.risks or output.risk_plot"
    )
    if job.microdata is not None and (asked.external or asked.original or asked.unit):
        yield Problem(
            "attack.external", "goes not with [microdata]", "the attacker then has the records before protection"
        )
    if asked.external is None and job.microdata is None:
        yield Problem("attack.external", "missing", "file the attacker has: .parquet or .csv")
    for key in ("external", "original"):
        name = getattr(asked, key)
        if name and not os.path.exists(folder / name):
            yield Problem(f"attack.{key}", f"there is no file {name!r}", _near(folder / name)[2:])
    if not asked.keys and not asked.values:
        yield Problem("attack.keys", "missing", "give keys that must agree, or values that should be close")
    if asked.unit and asked.aligned:
        yield Problem("attack.aligned", "goes not with unit", "both say who is who")
    for name in asked.names:
        if name not in (*asked.keys, *asked.values):
            yield Problem("attack.names", f"{name!r} is neither a key nor a value", "name columns of the released file")
    for name in asked.classes:
        if name not in asked.by:
            yield Problem("attack.classes", f"{name!r} is not in attack.by", f"attack.by lists {listed(asked.by)}")


def _suppression(job: Job, folder: Path) -> Iterator[Problem]:
    asked = job.suppression
    if asked is None:
        return
    if asked.previous and not os.path.exists(folder / asked.previous):
        yield Problem(
            "suppression.previous", f"there is no file {asked.previous!r}", _near(folder / asked.previous)[2:]
        )
    named = {
        "barriers": asked.barriers if isinstance(asked.barriers, dict) else (),
        "non_additive": asked.non_additive,
        "distance": asked.distance,
    }
    for key, names in named.items():
        for name in names if job.table.by else ():
            if name not in job.table.by:
                yield Problem(
                    f"suppression.{key}", f"no classification {name!r}", f"table.by lists {listed(job.table.by)}"
                )
    if asked.sliding and not asked.levels:
        yield Problem("suppression.sliding", "goes only with levels = true")


def _perturbation(job: Job) -> Iterator[Problem]:
    """What does not go with changed values."""
    if job.perturbation is None:
        return
    if job.suppression is not None:
        yield Problem("perturbation", "goes not with [suppression]", "values are hidden or changed, in two jobs")
    if job.output.intervals:
        yield Problem("output.intervals", "goes not with [perturbation]", "nothing is hidden")


def _misplaced(job: Job) -> Iterator[Problem]:
    """Keys that would be passed over in silence with this kind of data."""
    if job.data.table or (job.data.cells and job.data.metadata):
        whose = "working file" if job.data.table else "metadata"
        known = () if job.data.table else ("by", "value", "positive", "tolerance")
        for key in sorted(job.table.model_fields_set - {*known}):
            yield Problem(f"table.{key}", f"goes not with this data: the {whose} say{'s' * (whose[0] == 'w')} it")
        for name, each in job.classifications.items():
            for key in sorted(each.model_fields_set - {"ordered", "sensitive"}):
                yield Problem(
                    f"classifications.{name}.{key}",
                    f"goes not with this data: the {whose} say{'s' * (whose[0] == 'w')} it",
                )
        return
    only_cells = ("count", "largest", "status", "lower", "upper", "cost", "frequency", "tolerance")
    only_records = ("weight", "holding", "waiver", "request", "public")
    wrong = only_cells if job.data.microdata else only_records if job.data.cells else ()
    for key in wrong:
        if getattr(job.table, key):
            kind = "cells" if job.data.microdata else "microdata"
            yield Problem(f"table.{key}", f"goes only with data.{kind}")


def _rules(job: Job) -> Iterator[Problem]:
    levels = job.rules.counted_by if isinstance(job.rules.counted_by, list) else [job.rules.counted_by]
    if "holding" in levels and job.data.microdata and not job.table.holding:
        yield Problem(
            "rules.counted_by", "'holding' needs table.holding", "name the column that joins records of one owner"
        )
    for key in ("dominance", "p_percent", "pq"):
        if getattr(job.rules, key) and job.data.microdata and not job.table.value:
            yield Problem(f"rules.{key}", "needs table.value", "a frequency table has no contributions to compare")
    for n, k in job.rules.dominance:
        if not 1 <= n <= MOST_LARGEST or k >= 100:
            hint = f"n is 1 to {MOST_LARGEST}, k under 100 percent"
            yield Problem("rules.dominance", f"[{n}, ...] is no dominance rule", hint)


def _by_hand(job: Job) -> Iterator[Problem]:
    for number, each in enumerate(job.status):
        try:
            Status.from_text(each.status)
        except BadOption as e:
            yield Problem(f"status.{number}.status", e.what, e.hint.rstrip("."))


def _outputs(job: Job, folder: Path) -> Iterator[Problem]:
    for key in ANONYMOUS_OUTPUTS:
        if getattr(job.output, key):
            yield Problem(f"output.{key}", "goes only with [anonymise]")
    for name in job.output.publish:
        if Path(name).suffix.lower() not in WRITERS:
            yield Problem("output.publish", f"cannot write {name!r}", f"endings: {', '.join(WRITERS)}")
    if job.output.working and not job.output.working.endswith(".parquet"):
        yield Problem("output.working", f"cannot write {job.output.working!r}", "a working file ends in .parquet")
    if job.output.records and Path(job.output.records).suffix.lower() not in ENDINGS:
        yield Problem("output.records", f"cannot write {job.output.records!r}", f"endings: {', '.join(ENDINGS)}")
    if job.output.report and Path(job.output.report).suffix.lower() not in REPORTS:
        yield Problem("output.report", f"cannot write {job.output.report!r}", "a report ends in .html or .pdf")
    if job.output.report and job.microdata is None and job.attack is not None:
        yield Problem("output.report", "goes not with [attack] alone", "add [microdata], or name output.risks")
    if job.output.records and job.microdata is None:
        yield Problem("output.records", "goes only with [microdata]")
    if job.output.comparison and Path(job.output.comparison).suffix not in (".svg", ".html", ".png"):
        yield Problem("output.comparison", f"cannot write {job.output.comparison!r}", "endings: .svg, .html, .png")
    if job.output.certificate:
        yield from _certificate(job)
    for key, endings in (("risks", (".csv", ".json")), ("risk_plot", (".svg", ".html", ".png"))):
        name = getattr(job.output, key)
        if name and job.attack is None:
            yield Problem(f"output.{key}", "goes only with [attack]")
        elif name and Path(name).suffix not in endings:
            yield Problem(f"output.{key}", f"cannot write {name!r}", f"endings: {', '.join(endings)}")
    asked = [key for key in type(job.rules).model_fields if key != "counted_by" and getattr(job.rules, key)]
    if job.output.comparison and not asked:
        yield Problem("output.comparison", "there are no rules to compare", "name at least one under [rules]")


def _certificate(job: Job) -> Iterator[Problem]:
    if job.output.certificate and not job.output.certificate.endswith(".json"):
        yield Problem("output.certificate", f"cannot write {job.output.certificate!r}", "a certificate ends in .json")
    if job.suppression is None or job.suppression.guarantee != "audit":
        yield Problem(
            "output.certificate", "there is no audit to certify", "add [suppression]; its guarantee is 'audit'"
        )


def _inputs(job: Job) -> dict[str, str | None]:
    """Files a job reads, by their keys."""
    hierarchies = {f"classifications.{n}.hierarchy": c.hierarchy for n, c in job.classifications.items()}
    inputs = {f"data.{key}": getattr(job.data, key) for key in ("microdata", "cells", "table", "metadata")}
    if job.attack is not None:
        inputs |= {"attack.external": job.attack.external, "attack.original": job.attack.original}
    for name, asked in job.tables.items():
        one = {key: file for key, file in _inputs(job_of(job, name)).items() if file not in inputs.values()}
        inputs |= {f"tables.{name}.{key}": file for key, file in one.items()}
        inputs[f"tables.{name}.previous"] = asked.previous
    return inputs | hierarchies


def _overwritten(job: Job, folder: Path) -> Iterator[Problem]:
    """Outputs that would take the place of one another, or of what the job reads."""
    taken = {_place(folder / name): key for key, name in _inputs(job).items() if name}
    outputs = [("output.publish", name) for name in job.output.publish]
    single = ("working", "comparison", "certificate", "records", "report", "risks", "risk_plot", *ANONYMOUS_OUTPUTS)
    outputs += [(f"output.{key}", getattr(job.output, key)) for key in single]
    for name, asked in job.tables.items():
        outputs += [(f"tables.{name}.output.publish", file) for file in asked.output.publish]
        outputs += [(f"tables.{name}.output.working", asked.output.working or "")]
    outputs += [("compare.files", name) for name in (job.compare.files if job.compare else ())]
    for key, name in outputs:
        place = _place(folder / name) if name else ""
        other = taken.get(place)
        # A working file may be marked in its place: it loses nothing by it.
        if other and (not other.endswith("data.table") or key != other.replace("data.table", "output.working")):
            yield Problem(key, f"{name!r} is {other} too", "give every file its own name")
        if name:
            taken[place] = key


def _place(path: Path) -> str:
    """One name for one file, whatever way leads there."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return str(path)  # no path at all: refused elsewhere


def _near(path: Path) -> str:
    names = sorted(os.listdir(path.parent)) if os.path.isdir(path.parent) else []
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
