"""The house: a file that says which records requests are answered from, by which rules, and beside which ledger.

It is a job file of a table with one more section, [house]: its data, classifications, rules and promise are those of
the house; `table.by` lists the columns that may be asked for and filtered by, `table.value` the values.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from diskret.job.form import Reads, Section
from diskret.job.loading import classified_source, hierarchies_of
from diskret.job.read import job_content, job_from
from diskret.job.rules import rules_of
from diskret.job.suppression import promise_of
from diskret.job.table_job import TableJob
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger, open_ledger
from diskret.model.errors import BadJob, listed
from diskret.model.spelling import nearest
from diskret.model.system import System
from diskret.requests.beside import House, judges_atoms
from diskret.requests.desk import Desk
from diskret.requests.output_rules import OutputRules
from diskret.requests.records import Records

Kind = TypeVar("Kind", bound=Section)


class HouseSection(Section):
    """What the house's tables count, where its ledger is, and what it asks of outputs."""

    ledger: str | None = Field(None, description="folder of the ledger; made if there is none")
    population: str = Field("", description="who is counted, such as 'firms with 20 or more persons'")
    period: str = Field("", description="when, such as 2024 or 2024-Q3")
    unit: str = Field("", description="unit of the values, such as EUR or '1000 EUR'")
    rounding: Literal["give", "propose", "never"] = Field(
        "propose",
        description="where nothing can be given exactly: rounded values are given, proposed to the house, or never",
    )
    units: int = Field(3, ge=1, description="fewest units behind any number of an output; secret")
    difference: int = Field(3, ge=1, description="fewest units in the difference of two groups; secret")
    degrees: int = Field(10, ge=1, description="fewest degrees of freedom that a model leaves")
    beyond: int = Field(5, ge=1, description="fewest units on either side of a percentile")
    same: int = Field(3, ge=1, description="fewest units that share an extreme value")
    r_squared: float = Field(0.99, gt=0, le=1, description="largest share of variance that a model may explain")


HouseFile = Annotated[str, Reads()]


@dataclass(frozen=True, eq=False, kw_only=True)
class Office:
    """A house as its file says it."""

    job: TableJob
    said: HouseSection
    here: Path

    @property
    def house(self) -> House:
        """Its rules and its promise."""
        asked = self.job.suppression
        # a promise does not depend on the table it is about, except for coalitions, which name cells
        promise = promise_of(self.job, System.of(["a"], [0.0], []))
        rules = rules_of(self.job)
        house = House(rules=rules, promise=promise, rounding=self.said.rounding)
        return house if asked is None else replace(house, method=asked.made())

    @property
    def output_rules(self) -> OutputRules:
        """What it asks of outputs."""
        return OutputRules(**{f.name: getattr(self.said, f.name) for f in fields(OutputRules)})

    @property
    def about(self) -> About:
        """What its tables count."""
        return About(population=self.said.population, period=self.said.period, unit=self.said.unit)

    def open_ledger(self) -> Ledger | None:
        """Its ledger, if it has one."""
        return None if self.said.ledger is None else open_ledger(self.here / self.said.ledger, create=True)

    def desk(self) -> Desk:
        """Where requests are answered; refused without records or a ledger."""
        ledger = self.open_ledger()
        if ledger is None or not self.job.data.microdata:
            raise BadJob(
                "requests are answered from records, beside a ledger", where=str(self.here),
                hint="give data.microdata and house.ledger.",
            )  # fmt: skip
        _refuse_unheeded(self.job, self.here)
        data, described = classified_source(self.job.data, self.job.classifications, self.here)
        trees = hierarchies_of(self.job, self.here, self.job.table.by, data, described)
        records = Records.of(data, self.job.table.by, self.job.table.value, trees)
        return Desk(records=records, house=self.house, about=self.about, ledger=ledger)


def read_house(path: str | Path) -> Office:
    """A house from its file; refuses with every mistake found."""
    content = job_content(path)
    said = section_from(HouseSection, content.pop("house", {}), f"{path}, [house]")
    if "output" not in content:
        content["output"] = {}
    job = job_from(content, str(path), Path(path).parent, TableJob)
    if not rules_of(job).rules:
        raise BadJob("a house without rules", where=str(path), hint="give [rules], such as min_count = 3.")
    if job.promise.keywords()["coalitions"]:
        raise BadJob(
            "a house with coalitions", where=str(path), hint="they name cells of one table; leave them out of a house."
        )
    return Office(job=job, said=said, here=Path(path).parent)


def _refuse_unheeded(job: TableJob, here: Path) -> None:
    """Refuse whatever requests would not heed: answers would be less safe, or of others, than the house says."""
    roles = ("weight", "holding", "shadow", "waiver", "request", "public")
    found = [f"table.{key}" for key in roles if getattr(job.table, key) is not None]
    for name, said in job.classifications.items():
        keys = ["recode", "levels", "missing", "subtotals"]
        keys += [key for key in ("without_code", "unknown") if getattr(said, key) != "refuse"]
        found += [f"classifications.{name}.{key}" for key in keys if getattr(said, key)]
    found += ["table.without_value"] if job.table.without_value != "refuse" else []
    found += [f"the rule {rule.name!r}" for rule in rules_of(job) if not judges_atoms(rule)]
    if found:
        raise BadJob(
            f"requests do not heed {listed(found)}", where=str(here),
            hint="every record is one unit and one respondent: give records in which that is so, with their final "
            "codes, and rules about numbers of units and contributions (min_count, dominance, p_percent, pq, "
            "small_cells).",
        )  # fmt: skip


def section_from(kind: type[Kind], content: Any, where: str) -> Kind:
    """A section from plain data; refuses with every mistake found."""
    try:
        return kind.model_validate(content)
    except ValidationError as e:
        lines = "".join(f"\n    {_said(kind, p)}" for p in e.errors(include_url=False, include_input=False)[:40])
        number = len(e.errors())
        raise BadJob(
            f"{number} mistake{'s' * (number > 1)} in the file{lines}", where=where,
            hint="the keys are explained in docs/requests.md.",
        ) from None  # fmt: skip


def _said(kind: type[Section], problem: Any) -> str:
    key = ".".join(map(str, problem["loc"])) or "(file)"
    if problem["type"] == "extra_forbidden":
        near = nearest(str(problem["loc"][-1]), list(kind.model_fields))
        return f"{key}: unknown key" + (f" (did you mean {near!r}?)" if near else "")
    if problem["type"] == "missing":
        field = kind.model_fields.get(str(problem["loc"][0]))
        return f"{key}: missing" + (f" ({field.description})" if field and len(problem["loc"]) == 1 else "")
    return f"{key}: {problem['msg'].removeprefix('Value error, ').replace('Input should be', 'should be')}"
