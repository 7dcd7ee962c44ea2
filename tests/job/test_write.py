"""A job written down is the same job: what the page saves, the command line repeats."""

import re
import tomllib
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from diskret.job import models
from diskret.job.models import Job
from diskret.job.paths import FILES
from diskret.job.read import read_job
from diskret.job.run import run_job
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
    inner = [m for f in metadata for m in (f.metadata if isinstance(f, FieldInfo) else [f])]
    least = max([m.ge for m in inner if isinstance(m, annotated_types.Ge)] + [0])
    most = min([m.le for m in inner if isinstance(m, annotated_types.Le)] + [10**6])
    above = [m.gt for m in inner if isinstance(m, annotated_types.Gt)]
    few = max([m.min_length for m in inner if isinstance(m, annotated_types.MinLen)] + [0])
    if origin is list:
        return st.lists(any_of(args[0]), min_size=few, max_size=3)
    if origin is tuple:
        return st.tuples(*(any_of(a) for a in args))
    if origin is dict:
        return st.dictionaries(any_of(args[0]), any_of(args[1]), max_size=2)
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(least, most)
    if kind is float:
        return st.floats(above[0], most, exclude_min=True) if above else st.floats(least, most)
    if kind is str:
        return TEXTS if not few else TEXTS.filter(len)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return any_model(kind)
    raise AssertionError(kind)


ONE_OF = {
    models.Data: ("microdata", "cells", "table"),
    models.Classification: ("hierarchy", "prefixes"),
    models.PramStep: ("keep", "matrix"),
}


@st.composite
def any_model(draw: Any, kind: type[BaseModel]) -> Any:
    """A section with some of its keys; where only one of several may be given, one is drawn."""
    content = {}
    group = ONE_OF.get(kind, ())
    chosen = draw(st.sampled_from(group)) if group else None
    for name, field in kind.model_fields.items():
        if name == chosen or (name not in group and (field.is_required() or draw(st.booleans()))):
            value = draw(any_of(field.annotation, tuple(field.metadata)))
            content[name] = value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
    if kind is models.RecodeStep:
        keep = draw(st.sampled_from(["mapping", "file"]))
        content = {k: v for k, v in content.items() if k not in {"mapping", "file", "hierarchy", "level"}}
        content[keep] = {"a": "b"} if keep == "mapping" else "x.csv"
    if kind is models.Data:
        content[chosen] = content[chosen] or "x.csv"
    try:
        return kind.model_validate(content)
    except ValidationError:
        return kind.model_validate(
            {k: v for k, v in content.items() if kind.model_fields[k].is_required() or k == chosen}
        )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_model(Job))
def test_reading_what_was_written_gives_the_same_job(job: Job) -> None:
    again = Job.model_validate(tomllib.loads(job_as_text(job)))
    assert again == job


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_written_down_runs_to_the_same_bytes(example: Path, tmp_path: Path) -> None:
    job = read_job(example)
    if job.anonymise is not None:
        job = job.model_copy(update={"anonymise": job.anonymise.model_copy(update={"effort": 0.05})})
    written = []
    for folder in ("one", "two"):
        output = {
            key: [f"{folder}/{Path(n).name}" for n in said] if isinstance(said, list) else f"{folder}/{Path(said).name}"
            for key in FILES["output"]
            if (said := getattr(job.output, key))
        }
        here = job.model_copy(update={"output": job.output.model_copy(update=output)})
        place = tmp_path / f"{folder}.toml"
        if folder == "one":
            result = run_job(moved(here, example.parent, tmp_path).model_copy(update={"output": here.output}), tmp_path)
        else:
            kept = moved(here, example.parent, tmp_path).model_copy(update={"output": here.output})
            write_job(kept, place)
            assert read_job(place) == kept
            result = run_job(read_job(place), place.parent)
        written.append({f.name: f.read_bytes() for f in result.files})
    assert written[0] == written[1]
    assert written[0]


# texts that are names, codes, conditions or words; whoever adds a text to a job says here or in FILES what it is
NO_FILES = {
    "Data": {"delimiter", "sheet", "engine"},
    "Classification": {"total", "lead", "missing"},
    "Output": {"mark", "title"},
    "TableOutput": {"mark", "title", "language"},
    "AttackSection": {"keys", "values", "names", "unit", "targets", "by", "classes", "engine"},
    "AnonymiseSection": {"attributes", "tables", "counters", "priority"},
    "CellKeySection": {"key"},
    "CompareSection": {"key", "merge"},
}


def test_every_key_that_names_a_file_is_known_as_one() -> None:
    """A key for a file that nobody told of would point nowhere after saving, and lead the page out of its workspace."""
    sections = {
        "data": models.Data, "classifications": models.Classification, "attack": models.AttackSection,
        "anonymise": models.AnonymiseSection, "output": models.Output, "cell_key": models.CellKeySection,
        "compare": models.CompareSection,
    }  # fmt: skip
    for name, section in sections.items():
        texts = {key for key, field in section.model_fields.items() if re.search(r"\bstr\b", repr(field.annotation))}
        assert texts - NO_FILES[section.__name__] == set(FILES[name]), name
    pool = {key for key in models.TableOutput.model_fields if key in FILES["output"]}
    assert {*models.TableOutput.model_fields} - pool == {*NO_FILES["TableOutput"], "counts"}


def test_the_tables_of_a_pool_move_with_their_job() -> None:
    content = {
        "tables": {"one": {
            "by": ["nace"], "data": {"cells": "one.csv"}, "previous": "last.parquet",
            "classifications": {"nace": {"hierarchy": "nace.hrc"}}, "output": {"publish": ["one.out.csv"]},
        }},
    }  # fmt: skip
    one = moved(Job.model_validate(content), "data", "jobs").tables["one"]
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
    job = moved(Job.model_validate(content), tmp_path / "data", tmp_path / "jobs")
    assert job.data.microdata == "../data/firms.csv"
    assert job.classifications["nace"].hierarchy == "nace.hrc"
    assert job.output.publish == ["../data/out/a.csv", "/elsewhere/b.csv"]
