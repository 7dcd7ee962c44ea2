"""A scientific-use file larger than memory: which columns the steps of a job need together, and the file they give."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from diskret.io.files import all_or_none
from diskret.job.loading import described_source
from diskret.job.microdata import changed, reducing_steps, seed_of
from diskret.job.outcome import JobResult, Running
from diskret.job.record_sections import (
    MicroaggregateStep,
    MicrodataSection,
    NoiseStep,
    PramStep,
    SwapStep,
)
from diskret.microdata.by_column import Part, protect_by_column
from diskret.microdata.coarsening import Drop, Recode, Step, coarsen
from diskret.microdata.columns import Protected, Records, generator, read_records
from diskret.microdata.panel import renumbering
from diskret.microdata.pram import randomise
from diskret.model.arrays import Ints
from diskret.model.errors import MissingColumn
from diskret.model.source import open_source

if TYPE_CHECKING:
    from diskret.job.records_job import RecordsJob

Protecting = Callable[[Records], Protected]


@dataclass(frozen=True, kw_only=True)
class _Change:
    """What one step does to columns that it needs together, and which others it looks at."""

    columns: tuple[str, ...]
    beside: tuple[str, ...]
    protect: Protecting


def protect_large(job: RecordsJob, running: Running) -> JobResult:
    """Protect and write the file a few columns at a time; the bytes are those of a job that has all of it in memory."""
    asked = job.microdata
    source, _ = described_source(job.data, running.here)
    relation = open_source(source)
    names, where = relation.columns, relation.where
    rows = int(relation.query(f"SELECT count(*) FROM {relation.view}")[0][0])
    relation.connection.close()
    steps = reducing_steps(asked, running.here, source)
    dropped = [name for step in steps if isinstance(step, Drop) for name in step.columns]
    changes = list(_changes(asked, steps, dropped, rows))
    gone = [name for each in changes[len(steps) :] for name in (*each.columns, *each.beside) if name in dropped]
    if gone:
        raise MissingColumn.named(gone, [name for name in names if name not in dropped], where)
    order = None
    if asked.renumber:
        joining = [name for name in (asked.unit, asked.wave) if name]
        first = read_records(source, only=joining) if joining else Records(columns={"row": np.empty(rows, np.bool_)})
        new, order = renumbering(first, asked.unit, asked.wave, seed_of(asked, len(asked.steps)))
        if asked.unit and asked.unit not in dropped:
            changes.append(_Change(columns=(asked.unit,), beside=(), protect=partial(_renamed, asked.unit, new)))
    numbers = [name for name in asked.values if name not in dropped]
    parts = _together(changes, names, asked.values)
    running.say("protecting by column", 0, 1)
    with tempfile.TemporaryDirectory() as nowhere, all_or_none() as meanwhile:
        assert job.output.records
        file = running.here / job.output.records
        target = meanwhile(file) if running.write else Path(nowhere) / file.name
        done = protect_by_column(source, target, parts, numbers=numbers, dropped=dropped, order=order)
    told = [each.summary() for each in done if each.method]
    return JobResult(files=(file,) if running.write else (), microdata={"records": rows, "steps": told})


def _changes(asked: MicrodataSection, steps: Sequence[Step], dropped: Sequence[str], rows: int) -> Iterator[_Change]:
    """What the steps change, a column at a time where the method allows."""
    for reducing in steps:
        if isinstance(reducing, Recode):
            yield _Change(columns=(reducing.column,), beside=(), protect=partial(_coarser, reducing))
        else:
            yield _Change(columns=(), beside=(), protect=_untouched)
    for number, step in enumerate(asked.steps):
        seed = seed_of(asked, number)
        if isinstance(step, MicroaggregateStep | NoiseStep):
            columns = list(step.columns) or [name for name in asked.values if name not in dropped]
            apart = isinstance(step, MicroaggregateStep) and step.method != "mdav"
            for each in [[name] for name in columns] if apart else [columns]:
                beside: tuple[str, ...] = ()
                alone = step.model_copy(update={"columns": each})
                if isinstance(step, NoiseStep):
                    beside = (asked.unit, asked.wave) if asked.unit and asked.wave else ()
                elif asked.wave and not step.pooled:
                    beside = (asked.wave,)
                yield _Change(columns=tuple(each), beside=beside, protect=partial(_step, asked, alone, seed))
        elif isinstance(step, SwapStep):
            others = [*step.risk, *(name for listing in step.similar for name in listing), step.household or ""]
            seen = tuple(name for name in dict.fromkeys(others) if name and name not in step.regions)
            yield _Change(columns=tuple(step.regions), beside=seen, protect=partial(_step, asked, step, seed))
        elif isinstance(step, PramStep):
            for place, name in enumerate(step.columns):
                randomised = partial(_randomised, step, name, seed, place * rows)
                yield _Change(columns=(name,), beside=tuple(step.within), protect=randomised)


def _step(
    asked: MicrodataSection, step: MicroaggregateStep | NoiseStep | SwapStep, seed: int, records: Records
) -> Protected:
    return changed(asked, step, records, seed)


def _coarser(step: Recode, records: Records) -> Protected:
    return Protected(frame=coarsen(records, [step]).frame, method="coarsening")


def _untouched(records: Records) -> Protected:
    return Protected(frame=records, method="")


def _randomised(step: PramStep, name: str, seed: int, before: int, records: Records) -> Protected:
    """One column of several; the random numbers of those before it are left out."""
    numbers = generator(seed)
    bits = numbers.bit_generator
    assert isinstance(bits, np.random.PCG64)
    bits.advance(before)
    return randomise(records, [name], numbers, step.keep, step.matrix, step.invariant, step.within)


def _renamed(unit: str, new: Ints, records: Records) -> Protected:
    return Protected(frame=records.with_columns({unit: new}), method="")


def _together(changes: Sequence[_Change], names: Sequence[str], values: Sequence[str]) -> list[Part]:
    """Parts of columns: what one step changes, or changes and another looks at, is protected together, in order."""
    ever = {name for each in changes for name in each.columns}
    group = {name: {name} for name in ever}
    for each in changes:
        joined = set().union(*(group[name] for name in (*each.columns, *each.beside) if name in ever))
        group |= dict.fromkeys(joined, joined)
    parts, seen = [], set[str]()
    for name in names:
        if name not in ever or name in seen:
            continue
        columns = [other for other in names if other in group[name]]
        seen |= {*columns}
        own = [each for each in changes if group[name] & {*each.columns}]
        beside = [other for other in names if any(other in each.beside for each in own) and other not in columns]
        numbers = [other for other in (*columns, *beside) if other in values]
        work = partial(_one_after_the_other, [each.protect for each in own])
        parts.append(Part(columns=columns, beside=beside, numbers=numbers, protect=work))
    return parts


def _one_after_the_other(works: Sequence[Protecting], records: Records) -> Protected:
    method: list[str] = []
    facts: dict[str, object] = {}
    for work in works:
        done = work(records)
        records = done.frame
        method += [done.method] * bool(done.method)
        facts |= done.facts
    return Protected(frame=records, method=", ".join(method), facts=facts)
