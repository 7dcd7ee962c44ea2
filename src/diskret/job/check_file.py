"""Outputs to be checked, as a file: what a research project hands in.

house = "house.toml"
who = "project 12"

[[output]]
name = "turnover by region"
kind = "table"
cells = "table1.csv"
by = ["region"]
value = "turnover"
count = "firms"
largest = ["largest", "second"]

[[output]]
name = "wages"
kind = "model"
units = 812
parameters = 14
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from diskret.io.files import whole_file
from diskret.io.hierarchies import read_hierarchy
from diskret.job.form import Names, Section
from diskret.job.house import HouseFile, Office, read_house, section_from
from diskret.job.read import job_content
from diskret.ledger.lock import alone_in
from diskret.model.errors import BadJob, UnreadableFile, listed
from diskret.model.table import Table
from diskret.requests.checking import Counted, OutputCheck, apart_in, check_outputs
from diskret.requests.outputs import Extreme, Group, Model, Output, Percentile, Picture, Statistic, TableOutput
from diskret.requests.register import Register


class Checked(Section):
    """What every output says of itself."""

    name: str = Field(min_length=1, description="name of the output")
    population: str = Field("", description="who is counted; that of the house if left out")
    period: str = Field("", description="when; that of the house if left out")
    where: dict[str, Names] = Field(default_factory=dict, description="by column the codes of those who are counted")
    at_least: dict[str, float] = Field(default_factory=dict, description="by column the smallest number counted")
    at_most: dict[str, float] = Field(default_factory=dict, description="by column the largest number counted")

    def group(self, office: Office) -> Group:
        """Who is counted."""
        return Group(
            population=self.population or office.said.population, period=self.period or office.said.period,
            where={k: tuple(v) for k, v in self.where.items()}, at_least=self.at_least, at_most=self.at_most,
        )  # fmt: skip


class CheckedTable(Checked):
    """A table with the number of units in every cell."""

    kind: Literal["table"] = Field(description="kind of the output")
    cells: str = Field(description="file with one row per cell: .csv, .parquet or .xlsx")
    by: list[str] = Field(min_length=1, description="columns that classify")
    value: str | None = Field(None, description="column of the values; none: the table counts units")
    count: str = Field(description="column with the number of units")
    largest: Names = Field(default_factory=list, description="columns with the largest contributions")
    status: str | None = Field(None, description="column that says which cells are hidden")
    unit: str | None = Field(None, description="unit of the values; that of the house if left out")
    hierarchies: dict[str, str] = Field(default_factory=dict, description="files of hierarchies, by classification")

    def output(self, office: Office, here: Path) -> Output:
        """As it is judged."""
        by = {name: read_hierarchy(here / self.hierarchies[name]) if name in self.hierarchies else None
              for name in self.by}  # fmt: skip
        table = Table.from_cells(
            here / self.cells, by=by, value=self.value or self.count, count=None if self.value is None else self.count,
            largest=list(self.largest), status=self.status, frequency=self.value is None,
        )  # fmt: skip
        unit = office.said.unit if self.unit is None else self.unit
        about = replace(
            office.about, value=self.value or "units", unit=unit if self.value else "",
            population=self.population or office.said.population, period=self.period or office.said.period,
        )  # fmt: skip
        filtered = self.where or self.at_least or self.at_most
        if filtered and not self.at_least and not self.at_most and all(len(c) == 1 for c in self.where.values()):
            about = replace(about, fixed={name: codes[0] for name, codes in self.where.items()})
            filtered = {}
        return TableOutput(name=self.name, group=self.group(office), table=table, about=None if filtered else about)


class CheckedStatistic(Checked):
    """A sum, mean, share, variance, correlation or index."""

    kind: Literal["statistic"] = Field(description="kind of the output")
    units: int = Field(ge=0, description="units behind it")
    largest: list[float] = Field(default_factory=list, description="largest contributions")
    total: float | None = Field(None, description="sum of all contributions")
    weighs: bool = Field(True, description="whether single contributions can dominate it")

    def output(self, office: Office, here: Path) -> Output:
        """As it is judged."""
        return Statistic(
            name=self.name, group=self.group(office), units=self.units, largest=tuple(self.largest), total=self.total,
            weighs=self.weighs,
        )  # fmt: skip


class CheckedPercentile(Checked):
    """A percentile."""

    kind: Literal["percentile"] = Field(description="kind of the output")
    at: float = Field(ge=0, le=100, description="which one; 50 is the median")
    units: int = Field(ge=0, description="units of the group")
    same: int = Field(1, ge=0, description="units with exactly this value")

    def output(self, office: Office, here: Path) -> Output:
        """As it is judged."""
        return Percentile(name=self.name, group=self.group(office), at=self.at, units=self.units, same=self.same)


class CheckedExtreme(Checked):
    """A smallest or largest value, or a range."""

    kind: Literal["extreme"] = Field(description="kind of the output")
    same: int = Field(1, ge=0, description="units with exactly this value")

    def output(self, office: Office, here: Path) -> Output:
        """As it is judged."""
        return Extreme(name=self.name, group=self.group(office), same=self.same)


class CheckedModel(Checked):
    """Coefficients of a model."""

    kind: Literal["model"] = Field(description="kind of the output")
    units: int = Field(ge=0, description="units it was fitted to")
    parameters: int = Field(ge=1, description="coefficients, the constant included")
    smallest: int | None = Field(None, ge=0, description="units behind the smallest category")
    only_categories: bool = Field(False, description="whether it is a table of means in other words")
    r_squared: float | None = Field(None, ge=0, le=1, description="share of variance explained")
    single_values: bool = Field(False, description="whether residuals or fitted values are among the output")

    def output(self, office: Office, here: Path) -> Output:
        """As it is judged."""
        return Model(
            name=self.name, group=self.group(office), units=self.units, parameters=self.parameters,
            smallest=self.smallest, only_categories=self.only_categories, r_squared=self.r_squared,
            single_values=self.single_values,
        )  # fmt: skip


class CheckedPicture(Checked):
    """A picture."""

    kind: Literal["picture"] = Field(description="kind of the output")
    smallest: int = Field(ge=0, description="units behind the smallest point, bar or area")

    def output(self, office: Office, here: Path) -> Output:
        """As it is judged."""
        return Picture(name=self.name, group=self.group(office), smallest=self.smallest)


AnyChecked = Annotated[
    CheckedTable | CheckedStatistic | CheckedPercentile | CheckedExtreme | CheckedModel | CheckedPicture,
    Field(discriminator="kind"),
]


class CheckFile(Section):
    """Everything `diskret check-output` needs to know."""

    house: HouseFile = Field(description="file of the house")
    who: str = Field("", description="who hands the outputs in, for the records")
    output: list[AnyChecked] = Field(min_length=1, description="the outputs")


def read_outputs(path: str | Path) -> CheckFile:
    """Outputs from their file; two of one name are refused."""
    found = section_from(CheckFile, job_content(path), str(path))
    names = [each.name for each in found.output]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise BadJob(f"outputs of one name: {listed(twice)}", where=str(path), hint="give each its own.")
    return found


def check_file(path: str | Path, records: str | Path | None = None, *, remember: bool = False) -> OutputCheck:
    """Judge the outputs of a file; with ``remember`` what is accepted is entered into the ledger of the house.

    ``records`` is a file that keeps what was handed in and what was said, for its owner alone.
    """
    asked, here = read_outputs(path), Path(path).parent
    office = read_house(here / asked.house)
    outputs = [each.output(office, here) for each in asked.output]
    ledger = office.open_ledger()
    register = None if ledger is None else Register(ledger.folder)
    if ledger is None or register is None:
        done = check_outputs(outputs, office.house, office.output_rules)
    else:
        register.place.mkdir(mode=0o700, exist_ok=True)
        with alone_in(register.place):
            entries = register.entries()
            earlier = [each for entry in entries for each in _groups(entry)]
            done = check_outputs(outputs, office.house, office.output_rules, ledger=ledger, earlier=earlier)
            if remember:
                number = len(entries) + 1
                for output in outputs:
                    if isinstance(output, TableOutput) and output.name in _accepted(done) and output.about is not None:
                        about = apart_in(ledger, output.table, output.about)
                        ledger.add(done.tables[output.name], about, name=f"output {number}: {output.name}")
                register.add(_kept(asked, done, here, [g for g in done.groups if _of(g, done)]), len(entries))
    if records is not None:
        said = _kept(asked, done, here, list(done.groups))
        with whole_file(records, private=True) as part:
            part.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="")
    return done


def _accepted(done: OutputCheck) -> set[str]:
    return {finding.name for finding in done.findings if finding.verdict == "accept"}


def _of(group: Counted, done: OutputCheck) -> bool:
    """Whether a group is shown by an output that was accepted as it is."""
    return any(group.where == name or group.where.endswith(f" of {name}") for name in _accepted(done))


def _kept(asked: CheckFile, done: OutputCheck, here: Path, groups: Sequence[Counted]) -> dict[str, Any]:
    """What is kept of a check."""
    files = {each.cells: sha256((here / each.cells).read_bytes()).hexdigest()
             for each in asked.output if isinstance(each, CheckedTable)}  # fmt: skip
    return {
        "on": datetime.now(UTC).date().isoformat(), "who": asked.who, "key": "", "data": "",
        "outputs": [each.model_dump(exclude_unset=True) for each in asked.output], "files": files, **done.summary(),
        "groups": [{"units": g.units, "where": g.where, "group": _plain(g.group)} for g in groups],
    }  # fmt: skip


def _plain(group: Group) -> dict[str, Any]:
    where = {name: list(codes) for name, codes in group.where.items()}
    return {
        "population": group.population, "period": group.period, "where": where, "at_least": dict(group.at_least),
        "at_most": dict(group.at_most),
    }  # fmt: skip


def _groups(entry: dict[str, Any]) -> list[Counted]:
    """The groups that an earlier check let through."""
    found = []
    try:
        for each in entry.get("groups", []):
            plain = each["group"]
            where = {name: tuple(codes) for name, codes in plain["where"].items()}
            found.append(Counted(group=Group(**{**plain, "where": where}), units=each["units"], where=each["where"]))
    except (LookupError, TypeError) as e:
        raise UnreadableFile("an earlier check cannot be read", hint="put the file back from a copy.") from e
    return found
