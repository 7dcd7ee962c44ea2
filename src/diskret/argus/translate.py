"""A batch as jobs: every step becomes plain data that a job file could say; every line is accounted for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from diskret.argus.course import Mistake, Step, course_of
from diskret.argus.files import safe_file
from diskret.argus.methods import HIDING, price, protection
from diskret.argus.places import Places
from diskret.argus.table import TableOfBatch
from diskret.argus.work import Content, Made, Said, Work
from diskret.io.arb import refused
from diskret.io.arb_commands import Batch, Logbook, Named, Suppress, VersionInfo, WriteTable
from diskret.io.metadata import Role


@dataclass(frozen=True, kw_only=True)
class Translated:
    """One job of a batch."""

    content: Content
    said: tuple[Said, ...]
    step: Step


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A batch as jobs, in their order, with what is said about places."""

    batch: Batch
    jobs: tuple[Translated, ...]
    places: Places
    logbook: str | None = None
    version: str | None = None


def translate(batch: Batch, out: Path | None = None) -> Translation:
    """Translate a batch; whatever it asks and cannot have is named in one refusal, with its lines."""
    course = course_of(batch)
    work = Work(places=Places(here=batch.path.parent, out=out))
    jobs = [_job(work, step) for step in course.steps]
    for words in course.said:
        work.places.say(words)
    logbook, version = (_named_once(work, batch, kind) for kind in (Logbook, VersionInfo))
    mistakes = sorted({*course.mistakes, *work.mistakes, *_overwriting(work, batch)})
    if mistakes:
        raise refused(batch.path, mistakes)
    return Translation(batch=batch, jobs=tuple(jobs), places=work.places, logbook=logbook, version=version)


def _job(work: Work, step: Step) -> Translated:
    """One step as a job."""
    made = _pool(work, step) if len(step.tables) > 1 else _single(work, step)
    return Translated(content=made.content, said=tuple(made.said), step=step)


def _single(work: Work, step: Step) -> Made:
    """A job of one table."""
    (asked,) = step.tables
    made = Made()
    found = TableOfBatch.of(work, asked)
    made.content = {"data": found.data(work, made), "table": found.table(work, made)}
    if classifications := found.classifications(work, made):
        made.content["classifications"] = classifications
    if rules := found.rules(made):
        made.content["rules"] = rules
    if apriori := found.apriori(work, made):
        made.content["apriori"] = apriori
    _protect(work, made, step, [found])
    if output := _output(work, made, step, found, "output"):
        made.content["output"] = output
    return made


def _pool(work: Work, step: Step) -> Made:
    """A job of linked tables."""
    made = Made()
    tables: dict[str, Content] = {}
    found = [TableOfBatch.of(work, asked) for asked in step.tables]
    given = any(asked.apriori for asked in step.tables)
    every = [each.rules(made, f"tables.{each.asked.name}", given=given) for each in found]
    for each, rules in zip(found, every, strict=True):
        section = f"tables.{each.asked.name}"
        own = each.table(work, made, section)
        tables[each.asked.name] = {"data": each.data(work, made, section), **own}
        if classifications := each.classifications(work, made, section):
            tables[each.asked.name]["classifications"] = classifications
        if rules != every[0]:
            tables[each.asked.name]["rules"] = rules
        if output := _output(work, made, step, each, f"{section}.output"):
            tables[each.asked.name]["output"] = output
    places = [own["data"] for own in tables.values()]
    if all(each == places[0] for each in places):
        made.content["data"] = places[0]
        tables = {name: {k: v for k, v in own.items() if k != "data"} for name, own in tables.items()}
    made.content["tables"] = tables
    if every[0]:
        made.content["rules"] = every[0]
    apriori = [{"table": t.asked.name, **each} for t in found for each in t.apriori(work, made)]
    if apriori:
        made.content["apriori"] = apriori
    _protect(work, made, step, found)
    return made


def _protect(work: Work, made: Made, step: Step, tables: Sequence[TableOfBatch]) -> None:
    """The sections that protect, with their costs."""
    asked, table = step.suppress, tables[0]
    if asked is None:
        return
    found = protection(asked, counts=any(each.judged.counts for each in tables))
    cost = price(table.asked.specified, table.distances(), priced=table.priced)
    made.content |= found.sections
    if asked.method in HIDING and cost.cost is not None:
        made.content["suppression"] = {**found.sections["suppression"], "cost": cost.cost}
    if asked.method == "CKM":
        made.content["cell_key"] = _cell_key(work, asked, table)
    if asked.method == "RND" and not (asked.number(0) or 0) > 0:
        work.wrong(asked, "rounding has no base", "name one after the table: RND(1,5).")
    section = next(each for each in ("promise", "perturbation", "adjustment", "cell_key") if each in made.content)
    made.note(section, asked, *found.words, *cost.words)


def _cell_key(work: Work, asked: Suppress, table: TableOfBatch) -> Content:
    """Keys and perturbation tables: those of the batch, or of the metadata."""
    content: Content = {}
    keys = table.metadata.having(Role.RECORD_KEY) if table.metadata else ()
    if not keys:
        work.wrong(asked, "the metadata name no record key", "mark its column with <RECORDKEY>.")
    if table.judged.holdings:
        work.wrong(
            asked, "cell keys and rules for holdings", "neither tau-ARGUS nor diskret has cell keys of holdings."
        )
    for key, file in zip(("p_table", "small_values"), asked.files, strict=False):
        if file:
            content[key] = work.reads(asked, file)
    if asked.extra is not None:
        content["extra"] = asked.extra
    return content


def _output(work: Work, made: Made, step: Step, table: TableOfBatch, section: str) -> Content:
    """The files that are written of a table; of two with one name the later stays."""
    found: dict[str, Content] = {}
    for each in step.writes:
        if each.table == table.asked.number:
            made.note(f"{section}.safe_files", each)
            file = work.writes(each, each.file)
            found[file] = {"file": file, **_format(work, step, each), **table.layout}
    # the page beside a file has its name with another ending: there, too, the later stays
    last = {Path(file).with_suffix(""): file for file in found}
    for file, content in found.items():
        if last[Path(file).with_suffix("")] != file:
            content["report"] = False
    # tau-ARGUS writes a table that nothing protects; here that is said in the job and in the file
    bare = {"unprotected": True} if found and step.suppress is None else {}
    return {**bare, "safe_files": list(found.values())} if found else {}


def _format(work: Work, step: Step, asked: WriteTable) -> Content:
    content, wrong = safe_file(asked, step.suppress)
    if wrong:
        work.wrong(asked, *wrong)
    return content


def _named_once(work: Work, batch: Batch, kind: type[Named]) -> str | None:
    """Where the file of the last command of a kind goes, if there is one."""
    found = [each for each in batch.commands if isinstance(each, kind)]
    if not found:
        return None
    return work.writes(found[-1], found[-1].file)


def _overwriting(work: Work, batch: Batch) -> Iterator[Mistake]:
    """Files to write that would take the place of one that is read, or of the batch."""
    here = work.places.here
    read = {os.path.realpath(here / name) for name in work.read} | {os.path.realpath(batch.path)}
    for command, file in work.written:
        if os.path.realpath(here / file) in read:
            yield command.line, f"{file!r} would be overwritten, which the batch reads", "choose another name."
