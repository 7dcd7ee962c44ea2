"""A code that was taken from the data and vanished is named nowhere for everybody: in no file, table, word or page."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli import app
from diskret.job.read import job_from
from diskret.job.run import run_job
from tests.leaks import Secrets

RARE = [f"Zwiebelfischerei{i:02}" for i in range(12)]
"""Codes of one person each: most of them vanish."""
PERSONS = {
    "job": ["baker"] * 30 + ["smith"] * 25 + RARE,
    "land": (["N", "E", "S", "W"] * 17)[:67],
    "sex": (["m", "w", "w"] * 23)[:67],
}
ATTRIBUTES = ["job", "land", "sex"]


def written(folder: Path) -> dict[str, Any]:
    """The persons as a file, and a job about them."""
    rows = zip(*PERSONS.values(), strict=True)
    (folder / "persons.csv").write_text("job,land,sex\n" + "".join(f"{','.join(row)}\n" for row in rows))
    return {
        "data": {"microdata": "persons.csv"}, "classifications": {"job": {"prefixes": [2]}},
        "anonymise": {"attributes": ATTRIBUTES, "effort": 0.05, "seed": 271828182845904},
    }  # fmt: skip


def told_by_a_job(folder: Path, output: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Everything that is for everybody after a job."""
    done = run_job(job_from(written(folder) | {"output": output}, "here", folder), folder)
    assert done.anonymisation is not None
    yield from ((file.name, file.read_bytes()) for file in done.files)
    yield "summary", json.dumps(done.summary()).encode()
    yield "warnings", "\n".join(done.warnings).encode()
    yield from told_by(done.anonymisation)


def told_by(anon: Any) -> Iterator[tuple[str, bytes]]:
    """What the result shows of itself, and every table made from it."""
    yield "in a word", repr(anon).encode()
    yield "in a notebook", anon._repr_html_().encode()
    yield "columns", json.dumps({name: column.tolist() for name, column in anon.shown().items()}).encode()
    for by in (["job"], ["job:2"], ["job", "sex"], ["land", "job", "sex"]):
        if by == ["job:2"] and anon.attributes["job"].depth < 3:
            continue
        table = anon.table(by)
        yield f"table {by}", f"{table!r} {table.codes} {[*map(list, table.frame.values())]}".encode()
    yield "the attack", dk.attack_anonymous(anon).report().encode()


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("report", ["r.html", "r.pdf"])
def test_no_file_and_no_word_names_a_code_that_vanished(tmp_path: Path, ending: str, report: str) -> None:
    everything = dict(told_by_a_job(tmp_path, {"microdata": f"a{ending}", "report": report, "language": "de"}))
    anon = everything["columns"].decode()
    gone = [code for code in RARE if code not in anon]
    assert gone  # otherwise nothing is tested
    secrets = Secrets.of([], gone)
    assert [leak for name, content in everything.items() for leak in secrets.found_in(name, content)] == []
    assert secrets.found_in("persons.csv", (tmp_path / "persons.csv").read_bytes())


def test_the_commands_name_none(tmp_path: Path) -> None:
    written(tmp_path)
    words = ["persons.csv", "-a", "job", "-a", "land", "-a", "sex"]
    with pytest.MonkeyPatch.context() as here:
        here.chdir(tmp_path)
        said = CliRunner().invoke(app, ["anonymise", *words, "--out", "a.csv", "--effort", "0.05"])
        attacked = CliRunner().invoke(
            app, ["attack-anonymous", "a.csv", "--original", *words, "--largest", "2", "--json"]
        )
    gone = [code for code in RARE if code not in (tmp_path / "a.csv").read_text(encoding="utf-8")]
    assert gone
    assert not [code for code in gone if code in said.output + attacked.output]
    assert (said.exit_code, attacked.exit_code) == (0, 0)


def test_codes_of_a_list_are_known_anyway() -> None:
    tree = dk.Hierarchy.flat(["baker", "smith", *RARE])
    given = dk.anonymise(PERSONS, {"job": tree, "sex": None}, seed=271828182845904)
    made = dk.anonymise(
        PERSONS, {"job": tree, "sex": None}, seed=271828182845904, options=dk.AnonymiseOptions(from_data=["job"])
    )
    assert {*given.table(["job"]).codes[0]} == {"baker", "smith", *RARE}
    assert {*made.table(["job"]).codes[0]} == {*made.frame["job"].tolist()}


def test_no_table_tells_how_many_codes_vanished() -> None:
    """The bound of a sum would be the number of parts times the bound of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anon = dk.anonymise(PERSONS, ATTRIBUTES, control=dk.Control(up_to=0, tables=[["job", "sex"]]), seed=3)
    assert anon.table(["sex"]).known == "not controlled"
    assert anon.table(["job", "sex"]).known == "controlled"
