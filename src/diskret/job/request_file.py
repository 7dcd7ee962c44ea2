"""A request as a file: who asks for which table.

house = "house.toml"
who = "project 12"
by = ["region"]
value = "turnover"

[where]
sector = ["C"]

[at_least]
employees = 50
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from diskret.io.files import all_or_none
from diskret.job.form import Names, Section
from diskret.job.house import HouseFile, Office, read_house, section_from
from diskret.job.read import job_content
from diskret.publication.publish import publish
from diskret.requests.answering import Answer
from diskret.requests.query import Query


class RequestFile(Section):
    """Everything `diskret ledger answer` needs to know."""

    house: HouseFile = Field(description="file of the house")
    who: str = Field("", description="who asks, for the register")
    by: list[str] = Field(default_factory=list, description="classifications; none for a single number")
    value: str | None = Field(None, description="column to add up; none for a count of units")
    where: dict[str, Names] = Field(default_factory=dict, description="by column the codes of those who are counted")
    without: dict[str, Names] = Field(default_factory=dict, description="by column the codes of those left out")
    at_least: dict[str, float] = Field(default_factory=dict, description="by column the smallest number counted")
    at_most: dict[str, float] = Field(default_factory=dict, description="by column the largest number counted")
    levels: dict[str, int] = Field(
        default_factory=dict, description="by classification how many levels below the total are shown"
    )
    reduce: bool = Field(True, description="whether a coarser table may be given")
    output: str | None = Field(None, description="file for the answer: .csv .parquet .xlsx .json and others")

    def query(self) -> Query:
        """What is asked for."""
        filters = {name: {k: tuple(v) for k, v in getattr(self, name).items()} for name in ("where", "without")}
        return Query(
            by=tuple(self.by), value=self.value, **filters, at_least=self.at_least, at_most=self.at_most,
            levels=self.levels,
        )  # fmt: skip


def read_request(path: str | Path) -> RequestFile:
    """A request from its file."""
    return section_from(RequestFile, job_content(path), str(path))


def answer_file(path: str | Path, out: str | Path | None = None) -> tuple[Answer, tuple[Path, ...]]:
    """Answer a request, remember it, and write the table for whoever asked; gives the files written.

    The answer is remembered before it is written: what nobody wrote may have been seen.
    """
    asked = read_request(path)
    here = Path(path).parent
    return answered(asked, read_house(here / asked.house), out or (here / asked.output if asked.output else None))


def answered(asked: RequestFile, office: Office, out: str | Path | None = None) -> tuple[Answer, tuple[Path, ...]]:
    """The same from what is said."""
    done = office.desk().answer(asked.query(), who=asked.who, reduce=asked.reduce)
    if out is None or done.table is None:
        return done, ()
    with all_or_none() as meanwhile:
        publish(done.table, meanwhile(out))
    return done, (Path(out),)


def request_content(query: Query, house: str, who: str = "") -> dict[str, Any]:
    """What stands in the file of a request."""
    return {"house": house, **({"who": who} if who else {}), **query.to_dict()}
