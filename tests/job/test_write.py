"""A job written down is the same job: what the page saves, the command line repeats."""

import re
import tomllib
from datetime import date
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from diskret.job.anonymise_job import AnonymiseJob
from diskret.job.compare_job import CompareJob
from diskret.job.data_section import Data
from diskret.job.form import Reads, Writes, file_mark, named_files, sections_in
from diskret.job.models import KINDS, Job, job_of
from diskret.job.paths import paths_in
from diskret.job.pool_job import PoolJob
from diskret.job.read import read_job
from diskret.job.record_sections import PramStep, RecodeStep
from diskret.job.run import run_job
from diskret.job.table_job import TableJob
from diskret.job.table_sections import Classification
from diskret.job.write import job_as_text, moved, write_job

# the panel's data are made by a script, and a plan is no job
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def any_of(kind: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values of an annotation, within its limits where they are plain."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return any_of(args[0], (*args[1:], *metadata))
    if origin in (Union, UnionType):
        return st.one_of([any_of(a, metadata) for a in args if a is not NoneType])
    if origin is Literal:
        return st.sampled_from(args)
    inner: list[Any] = [m for f in metadata for m in (f.metadata if isinstance(f, FieldInfo) else [f])]
    least = max([0, *_limits(inner, annotated_types.Ge, "ge")])
    most = min([10**6, *_limits(inner, annotated_types.Le, "le")])
    above = _limits(inner, annotated_types.Gt, "gt")
    few = max([0, *_limits(inner, annotated_types.MinLen, "min_length")])
    if origin is list:
        return st.lists(any_of(args[0]), min_size=few, max_size=3)
    if origin is tuple:
        return st.tuples(*(any_of(a) for a in args))
    if origin is dict:
        return st.dictionaries(any_of(args[0]), any_of(args[1]), min_size=few, max_size=2)
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(least, most)
    if kind is float:
        return st.floats(above[0], most, exclude_min=True) if above else st.floats(least, most)
    if kind is date:
        return st.dates()
    if kind is str:
        return TEXTS if not few else TEXTS.filter(len)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return any_model(kind)
    raise AssertionError(kind)


def _limits(metadata: list[Any], kind: type, name: str) -> list[Any]:
    """The limits of one kind that an annotation sets."""
    return [getattr(m, name) for m in metadata if isinstance(m, kind)]


ONE_OF = {
    Data: ("microdata", "cells", "table"),
    Classification: ("hierarchy", "prefixes"),
    PramStep: ("keep", "matrix"),
}


@st.composite
def any_model(draw: Any, kind: type[BaseModel]) -> Any:
    """A section with some of its keys; where only one of several may be given, one is drawn."""
    content: dict[Any, Any] = {}
    group = ONE_OF.get(kind, ())
    chosen = draw(st.sampled_from(group)) if group else None
    for name, field in kind.model_fields.items():
        if name == chosen or (name not in group and (field.is_required() or draw(st.booleans()))):
            value = draw(any_of(field.annotation, tuple(field.metadata)))
            content[name] = value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
    if kind is RecodeStep:
        keep = draw(st.sampled_from(["mapping", "file"]))
        content = {k: v for k, v in content.items() if k not in {"mapping", "file", "hierarchy", "level"}}
        content[keep] = {"a": "b"} if keep == "mapping" else "x.csv"
    if kind is Data:
        content[chosen] = content[chosen] or "x.csv"
    try:
        return kind.model_validate(content)
    except ValidationError:
        return kind.model_validate(
            {k: v for k, v in content.items() if kind.model_fields[k].is_required() or k == chosen}
        )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(list(KINDS.values())).flatmap(any_model))
def test_reading_what_was_written_gives_the_same_job(job: Job) -> None:
    again = type(job).model_validate(tomllib.loads(job_as_text(job)))
    assert again == job


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_written_down_runs_to_the_same_bytes(example: Path, tmp_path: Path) -> None:
    job = read_job(example)
    if isinstance(job, AnonymiseJob):
        job = job.model_copy(update={"anonymise": job.anonymise.model_copy(update={"effort": 0.05})})
    written = []
    for folder in ("one", "two"):
        assert not isinstance(job, CompareJob)
        output: dict[str, Any] = {
            key: [f"{folder}/{Path(n).name}" for n in said] if isinstance(said, list) else f"{folder}/{Path(said).name}"
            for key, field in type(job.output).model_fields.items()
            if file_mark(field) and (said := getattr(job.output, key))
        }
        here = job.model_copy(update={"output": job.output.model_copy(update=output)})
        place = tmp_path / f"{folder}.toml"
        if folder == "one":
            one = moved(here, example.parent, tmp_path)
            result = run_job(one.model_copy(update={"output": here.output}), tmp_path)
        else:
            kept = moved(here, example.parent, tmp_path).model_copy(update={"output": here.output})
            write_job(kept, place)
            assert read_job(place) == kept
            result = run_job(read_job(place), place.parent)
        written.append({f.name: f.read_bytes() for f in result.files})
    assert written[0] == written[1]
    assert written[0]


# texts that are names, codes, conditions or words; whoever adds a text to a job says here what it is, or marks the key
NO_FILES = {
    "Data": {"delimiter", "sheet", "engine", "decimal", "encoding", "range"},
    "Unpivot": {"columns", "into", "value"},
    "Classification": {"total", "lead", "missing", "missing_codes", "subtotals", "categories"},
    "AttackSection": {"keys", "values", "names", "unit", "targets", "by", "classes", "engine"},
    "AnonymiseSection": {"attributes", "tables", "counters", "priority"},
    "CellKeySection": {"key"},
    "CompareSection": {"key", "merge"},
    "TableOutput": {"mark", "title"},
    "PoolOutput": {"mark", "title"},
    "PoolTableOutput": {"mark", "title"},
    "RecordsOutput": {"title"},
    "AnonymiseOutput": {"title"},
    "AttackOutput": {"title"},
}


def test_every_key_that_names_a_file_is_known_as_one() -> None:
    """A key for a file that nobody told of would point nowhere after saving, and lead the page out of its workspace."""
    found, left = set(), list[Any](KINDS.values())
    while left:
        section = left.pop()
        found.add(section)
        inner = {s for field in section.model_fields.values() for s in sections_in(field.annotation)}
        left += inner - found
    for section in found:
        texts = {key for key, field in section.model_fields.items() if re.search(r"\bstr\b", repr(field.annotation))}
        files = {key for key, field in section.model_fields.items() if file_mark(field)}
        if section.__name__ in NO_FILES:
            assert texts - files <= NO_FILES[section.__name__], section


def test_every_file_of_a_job_is_found_in_its_plain_content() -> None:
    content = {
        "data": {"microdata": "a.csv", "metadata": "a.rda"},
        "microdata": {"steps": [{"do": "recode", "column": "x", "file": "x.csv"}], "seed": 1},
        "output": {"records": "out.csv", "report": "out.html", "title": "T"},
    }
    job = job_of(content)
    assert {name for _, name, _ in named_files(job)} == {*paths_in(content)}
    assert {type(mark) for _, _, mark in named_files(job)} == {Reads, Writes}


def test_the_tables_of_a_pool_move_with_their_job() -> None:
    content = {
        "tables": {"one": {
            "by": ["nace"], "data": {"cells": "one.csv"}, "previous": "last.parquet",
            "classifications": {"nace": {"hierarchy": "nace.hrc"}}, "output": {"publish": ["one.out.csv"]},
        }},
    }  # fmt: skip
    job = moved(job_of(content), "data", "jobs")
    assert isinstance(job, PoolJob)
    one = job.tables["one"]
    assert one.data is not None
    assert one.by == ["nace"]
    assert [one.data.cells, one.previous, one.classifications["nace"].hierarchy, *one.output.publish] == [
        "../data/one.csv", "../data/last.parquet", "../data/nace.hrc", "../data/one.out.csv"
    ]  # fmt: skip


def test_paths_lead_to_the_same_files_from_another_folder(tmp_path: Path) -> None:
    content = {
        "data": {"microdata": "firms.csv"}, "table": {"by": ["nace"]},
        "classifications": {"nace": {"hierarchy": str(tmp_path / "jobs" / "nace.hrc")}},
        "output": {"publish": ["out/a.csv", "/elsewhere/b.csv"]},
    }  # fmt: skip
    job = moved(job_of(content), tmp_path / "data", tmp_path / "jobs")
    assert isinstance(job, TableJob)
    assert job.data.microdata == "../data/firms.csv"
    assert job.classifications["nace"].hierarchy == "nace.hrc"
    assert job.output.publish == ["../data/out/a.csv", "/elsewhere/b.csv"]
