"""Files as offices have them end in the table that is meant, or in a question whose answer leads there.

Nothing is silently wrong: a job that finishes, from `init` or on the page, has exactly the cells, sums and counts that
`tests.conformance.awkward` worked out without diskret.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from diskret.io.structured import from_toml
from diskret.job.cures import with_cure
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.job.template import job_text
from diskret.model.cures import Cure
from diskret.model.errors import DiskretError
from diskret.web.answers import plain
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.conformance.awkward import FILES, Awkward, Codes
from tests.web import case

MOST_QUESTIONS = 6
ANY = "any"
PROTECTED = ("insgesamt.csv", "summe.csv", "pivot.xlsx", "wz.csv", "windows.csv", "firmen.sav")
"""Files whose tables are protected and attacked as well."""
ALL = ""
"""Stands for the sum over a classification."""
Cells = dict[Codes, tuple[float, int | None]]
Writer = Callable[[Path], Awkward]


class Asked(Exception):
    """A question, or a warning beside a table: what a person is told instead of a finished table."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        super().__init__(said["what"])
        self.said = said


@dataclass(frozen=True, kw_only=True)
class Made:
    """A table as it came out, its codes below the sums and its sums over everything."""

    by: Codes
    cells: Cells
    warnings: tuple[str, ...] = field(default=())


def expected(file: Awkward) -> Cells:
    """The whole table: every cell and every sum over one classification or more."""
    found: dict[Codes, tuple[float, int | None]] = {}
    for codes, value in file.cells.items():
        for at in product(*((code, ALL) for code in codes)):
            before, counted = found.get(at, (0.0, 0))
            count = None if file.counts is None else (counted or 0) + file.counts[codes]
            found[at] = (before + value, count)
    return found


def is_meant(file: Awkward, made: Made) -> bool:
    """Whether a table is the one that is meant, up to the order of its classifications and cells that are empty."""
    if sorted(made.by) != sorted(file.by):
        return False
    order = [made.by.index(name) for name in file.by]
    theirs = {tuple(at[i] for i in order): each for at, each in made.cells.items()}
    ours = expected(file)
    if any(value or count for at, (value, count) in theirs.items() if at not in ours):
        return False
    return all(
        at in theirs
        and np.isclose(theirs[at][0], value, rtol=1e-12)
        and (None in (count, theirs[at][1]) or count == theirs[at][1])
        for at, (value, count) in ours.items()
    )


def answer(file: Awkward, said: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """What the office says to a question: a cure that is offered, or a key that the words name."""
    assert len(given) < MOST_QUESTIONS, said
    open_ones = {key: value for key, value in file.answers.items() if key not in given}
    for cure in said["cures"]:
        if cure["key"] in open_ones and cure["value"] == open_ones[cure["key"]]:
            return given | {cure["key"]: cure["value"]}
    words = f"{said['what']} {said['hint']}"
    for key, value in open_ones.items():
        if key.split(".")[-1] in words:
            return given | {key: value}
    raise AssertionError(f"no way out of {said} with {open_ones}")


def goes_through(file: Awkward, attempt: Callable[[dict[str, Any]], Made]) -> None:
    """Ends in the table that is meant; every question on the way is one that the office can answer."""
    given: dict[str, Any] = {}
    while True:
        made, said = tried(attempt, given)
        if made is not None and is_meant(file, made):
            break
        assert said, ("silently wrong", made, expected(file))
        if file.refused and made is None and said["code"]:
            assert file.refused in (ANY, said["code"])
            return
        given = answer(file, said, given)
    assert not file.refused, "it is read rightly now: say so"


def tried(attempt: Callable[[dict[str, Any]], Made], given: dict[str, Any]) -> tuple[Made | None, Mapping[str, Any]]:
    """A table with what is warned of, or a question."""
    try:
        made = attempt(given)
    except Asked as question:
        return None, question.said
    warned = " ".join(each for each in made.warnings if "no rule was applied" not in each)
    return made, {"cures": [], "what": warned, "hint": "", "code": ""} if warned else {}


def with_answers(content: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in said.items():
        content = with_cure(content, Cure(key=key, value=value, label=""))
    return content


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Answers about how the file is read: they change what its columns are."""
    return {key.removeprefix("data."): value for key, value in given.items() if key.startswith("data.")}


# --- the command line ------------------------------------------------------------------------------------------------


def by_command(file: Awkward, given: dict[str, Any]) -> Made:
    """`diskret init`, the answers of the office, `diskret run`."""
    folder = file.path.parent
    try:
        reading = {key: v for key, v in reading_of(given).items() if key not in ("unpivot", "normalise", "metadata")}
        content = from_toml(job_text(file.path, folder, reading))
        content = with_answers(content, {**file.given, **given})
        if content.get("rules", {}).get("min_count"):
            content["rules"] = {"min_count": 3}
        protected = file.path.name in PROTECTED  # the same for all of them, and slow
        if not protected:
            del content["suppression"], content["promise"]
        result = run_job(job_from(content, "job.toml", folder), folder, write=protected)
    except DiskretError as e:
        raise Asked(plain(e)) from e
    (table,) = result.tables.values()
    below = [[i for i, leaf in enumerate(h.is_leaf) if leaf] for h in table.by.values()]
    cells: Cells = {}
    for at in product(*([*rows, len(h) - 1] for rows, h in zip(below, table.by.values(), strict=True))):
        codes = tuple(ALL if i == len(h) - 1 else h.codes[i] for i, h in zip(at, table.by.values(), strict=True))
        count = None if table.respondents is None else int(table.respondents.count[at])
        cells[codes] = (float(table.value[at]), count)
    return Made(by=tuple(table.names), cells=cells, warnings=result.warnings)


@pytest.mark.parametrize("write", FILES, ids=lambda f: f.__name__)
def test_a_file_goes_through_init_and_run_or_is_asked_about(write: Writer, tmp_path: Path) -> None:
    file = write(tmp_path)
    goes_through(file, lambda given: by_command(file, given))


# --- the page --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    made = Workbench.at(tmp_path_factory.mktemp("workspace"), case.PORT, reading=Here())
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(bench: Workbench) -> TestClient:
    page = TestClient(make_app(bench, most_upload=1_000_000), base_url=case.ORIGIN, headers={"origin": case.ORIGIN})
    page.post("/api/session", json={"token": bench.sessions.token})
    page.put("/api/view", json={"internal": True})
    return page


def ask(page: TestClient, address: str, **params: str) -> dict[str, Any]:
    """An answer of the server; a refusal is a question."""
    got = page.get(address, params=params)
    said: dict[str, Any] = got.json()
    if got.status_code != 200:
        raise Asked(said["error"])
    return said


def on_page(page: TestClient, file: Awkward, given: dict[str, Any]) -> Made:
    """Choose the file, take what is proposed, answer, look at the table."""
    reading = {key: v for key, v in reading_of(given).items() if key != "normalise"}
    proposed = ask(page, "/api/recognise", file=file.path.name, reading=json.dumps(reading))
    content = with_answers(proposed["content"], {**file.given, **given})
    asks = proposed.get("question")
    if asks and not any(cure["key"] in given for cure in asks["cures"]):
        raise Asked(asks)
    if (pivot := proposed.get("unpivot")) and "data.unpivot" not in given:
        raise Asked({"code": "", "what": pivot["why"], "hint": "unpivot", "cures": []})
    put = page.put("/api/draft", json=content)
    if put.status_code != 200:
        raise Asked(put.json()["error"])
    marks = ask(page, "/api/draft/marks")
    return seen(page, ask(page, "/api/tables/draft"), tuple(marks["warnings"]))


def seen(page: TestClient, shown: dict[str, Any], warnings: tuple[str, ...]) -> Made:
    """The table by its windows, as the grid asks for them."""
    axes = shown["axes"]
    places = [[i for i in range(len(a["codes"])) if i not in a["parents"]] for a in axes]
    places = [[*below, len(a["codes"]) - 1] for below, a in zip(places, axes, strict=True)]
    first, *others = range(len(axes))
    cells: Cells = {}
    response = shown["responses"][0]["name"]
    for rest in product(*(places[i] for i in others)):
        at = ",".join(map(str, (0, *rest)))
        rows = ",".join(map(str, places[first]))
        given = {"response": response, "rows": axes[first]["name"], "r": rows, "c": "0", "at": at}
        window = ask(page, "/api/tables/draft/cells", **given)
        for i, (value,) in zip(places[first], window["value"], strict=True):
            codes = (ALL if j == len(a["codes"]) - 1 else a["codes"][j] for a, j in zip(axes, (i, *rest), strict=True))
            cells[tuple(codes)] = (value, None)
    return Made(by=tuple(a["name"] for a in axes), cells=cells, warnings=warnings)


@pytest.mark.parametrize("write", FILES, ids=lambda f: f.__name__)
def test_a_file_goes_through_the_page_or_is_asked_about(write: Writer, bench: Workbench, page: TestClient) -> None:
    file = write(bench.workspace.root)
    page.put("/api/draft", json={})
    goes_through(file, lambda given: on_page(page, file, given))
