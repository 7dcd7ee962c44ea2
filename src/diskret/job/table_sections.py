"""The sections of a job about tables: what is tabulated, by which rules it is marked, how it is protected and written.

Every field says in its description what it is for; the same words are the hint of an error and stand in the published
JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field, model_validator

from diskret.job.data_section import Data
from diskret.job.form import InFile, Names, Problem, RelativeKnowledge, Section
from diskret.job.output_sections import PoolTableOutput
from diskret.job.rule_sections import AtLeastOne as AtLeastOne
from diskret.job.rule_sections import Rules as Rules
from diskret.model.cell_columns import GivenSums
from diskret.model.errors import BadOption
from diskret.model.gaps import Without, WithoutValue
from diskret.model.periods import Order, Period
from diskret.model.status import Status


class Classification(Section):
    """How the codes of one column add up; with nothing said, all of them add up to one total."""

    hierarchy: InFile = Field(None, description="file: .hrc, .csv or .xlsx with code and parent or level, or .json")
    prefixes: list[int] | None = Field(None, description="lengths of the code prefixes that are sums, such as [2, 3]")
    period: Period | None = Field(
        None,
        description="a date is classified by its 'year', 'quarter' or 'month' (codes such as 2025, 2025-Q1, 2025-03); "
        "prefixes = [4] puts years above",
    )
    dates: Order | None = Field(
        None, description="'day first' or 'month first' in dates such as 3/4/2025 where the entries do not show which"
    )
    total: str | None = Field(
        None,
        min_length=1,
        description="code of the total; rows of the data with this code are given totals, which are checked but "
        "not counted; 'Total' if left out",
    )
    subtotals: list[str] = Field(
        default_factory=list,
        description="codes of sums of the hierarchy that some records have: such rows are checked but not "
        "counted (microdata)",
    )
    categories: list[str] = Field(
        default_factory=list, description="codes that look like totals, by name or because they add up, but are not"
    )
    recode: InFile = Field(
        None, description="file of a recoding, .grc: codes that are merged, or sums of a hierarchy that are closed"
    )
    levels: int | None = Field(
        None, ge=1, description="how many levels below the total the table shows; finer codes are closed"
    )
    lead: str = Field("@", description="lead string of a .hrc file")
    missing: str | None = Field(None, description="code under which rows without a code are counted")
    missing_codes: Names = Field(
        default_factory=list,
        description="codes that stand for an unknown category (see rules.missing); those of the metadata if left out. "
        "With metadata, those named here are shown even if no record has them",
    )
    without_code: Without = Field("refuse", description="rows without a code: 'refuse' or 'leave out'")
    unknown: Without = Field("refuse", description="rows with a code the hierarchy lacks: 'refuse' or 'leave out'")
    ordered: bool = Field(False, description="whether the codes are ordered classes, such as sizes")
    sensitive: bool | None = Field(None, description="whether frequency rules look along this classification")

    @model_validator(mode="after")
    def _one_way(self) -> Classification:
        if self.hierarchy and self.prefixes:
            raise ValueError("give either hierarchy or prefixes")
        if self.recode and self.levels:
            raise ValueError("give either recode or levels")
        if self.dates and not self.period:
            raise ValueError("dates needs a period: year, quarter or month")
        if self.missing is not None and self.without_code != "refuse":
            raise ValueError("give either missing or without_code")
        return self


def gaps_of_tables(said: Mapping[str, Classification]) -> Iterator[Problem]:
    """Rows that only a job of a table, or of linked tables, leaves out."""
    for name, each in said.items():
        for key in ("without_code", "unknown"):
            if getattr(each, key) != "refuse":
                hint = "correct the data, or name the code for records without one: missing = ..."
                yield Problem(f"classifications.{name}.{key}", "belongs to a job of a table", hint)
        for key in each.saying("recode", "levels"):
            yield Problem(f"classifications.{name}.{key}", "belongs to a job of a table", "give a coarser hierarchy")


class FlagColumn(Section):
    """A column that is true where it holds one of the codes."""

    column: str = Field(description="name of the column")
    codes: Names = Field(description="codes that mean yes")


class TableSection(Section):
    """What is tabulated, and the roles of further columns."""

    by: list[str] = Field(default_factory=list, description="columns that classify, in the order of the table")
    value: Names = Field(default_factory=list, description="column or columns to add up; none for a frequency table")
    count: str | None = Field(None, description="column with contributor counts (cells)")
    largest: Names = Field(default_factory=list, description="columns with the largest contributions (cells)")
    owner: str | None = Field(None, description="column that says who contributes most to each cell (cells)")
    status: str | None = Field(None, description="column with the status of each cell (cells)")
    below: str | None = Field(
        None, description="column with the distance that intervals must reach below the value of a primary cell (cells)"
    )
    above: str | None = Field(
        None, description="column with the distance that intervals must reach above the value of a primary cell (cells)"
    )
    lower: str | None = Field(None, description="column with the smallest value an attacker thinks possible (cells)")
    upper: str | None = Field(None, description="column with the largest value an attacker thinks possible (cells)")
    cost: str | None = Field(
        None,
        description="column with the price of suppressing a cell; prices of records are added up",
    )
    weight: str | None = Field(None, description="column with sampling weights (microdata)")
    holding: str | None = Field(None, description="column that joins records of one owner (microdata)")
    shadow: str | None = Field(
        None,
        description="column whose contributions the rules judge instead of those to the value; in a list of cells, the "
        "largest contributions are those to it",
    )
    waiver: str | FlagColumn | None = Field(None, description="column that says who agreed to publication (microdata)")
    request: str | FlagColumn | None = Field(
        None,
        description="column that says who asked for protection (microdata); with rules.request it is for that "
        "rule alone, and each code is a kind of its own",
    )
    public: str | FlagColumn | None = Field(
        None, description="column that says who publishes their own value (microdata)"
    )
    positive: bool = Field(False, description="refuse negative values")
    frequency: bool = Field(False, description="the values are counts of units (cells)")
    without_value: WithoutValue = Field(
        "refuse", description="rows in which a value has no number: 'refuse', 'zero' or 'leave out'"
    )
    tolerance: float = Field(0.0, ge=0, description="difference up to which given sums are corrected")
    sparse: bool | None = Field(
        None,
        description="whether only occupied cells are held; left out: if most of millions of cells are empty "
        "(microdata)",
    )
    statuses: bool = Field(
        True,
        description="whether statuses and protection levels named in the metadata of tau-ARGUS count; false: "
        "only the rules decide (cells)",
    )
    sums: GivenSums = Field(
        "check",
        description="given sums that are wrong: 'check' refuses them, 'compute' computes them anew, 'keep' "
        "publishes them as they are given and protects the sums of the parts (cells)",
    )

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        for key in ("by", "value", "largest"):
            if len({*getattr(self, key)}) < len(getattr(self, key)):
                yield Problem(key, "names a column twice", "name each once")


class PerturbationSection(Section):
    """Changing values instead of hiding them. Everything here is secret, the seed above all."""

    method: Literal["cuboid", "rounding"] = Field(
        "cuboid", description="move primary values along cuboids, or round all values"
    )
    seed: int | None = Field(None, ge=0, description="start of the random numbers; long, and secret; left out: drawn")
    min_relative_range: float = Field(
        0.0, ge=0, description="cuboid: twice the change divided by the value must be greater than this"
    )
    min_range: float | None = Field(None, ge=0, description="cuboid: the same for zero and tiny values, absolute")
    levels: bool | None = Field(
        None, description="cuboid: change as much as the primary rules demand; left out: if they demand something"
    )
    max_relative_change: float | None = Field(
        0.5, gt=0, description="cuboid: largest change divided by the value, unless more is demanded"
    )
    distribution: Literal["uniform", "normal"] = Field("uniform", description="cuboid: distribution of the errors")
    min_count: int | None = Field(None, ge=1, description="cuboid: rebook contributors up to this count, such as 3")
    single_contributors: bool = Field(
        True, description="cuboid: a second error where somebody alone in a cell could compute the first"
    )
    knowledge: Literal["none", "positive", "intervals"] | RelativeKnowledge | None = Field(
        None, description="cuboid: what everybody knows; left out: that values are positive, if they are"
    )
    base: float | None = Field(None, gt=0, description="rounding: values become multiples of it, such as 5")
    rounding: Literal["controlled", "random", "deterministic"] = Field(
        "controlled", description="rounding: so that sums hold, at random without bias, or to the nearest multiple"
    )
    attack: bool = Field(False, description="attack the changed table as somebody who knows the method, and report it")

    @model_validator(mode="after")
    def _needs(self) -> PerturbationSection:
        if (self.method == "rounding") != (self.base is not None):
            raise ValueError("rounding needs a base, and only rounding has one")
        return self


class AdjustmentSection(Section):
    """Adjusting values instead of hiding them: the nearest table outside all protection intervals. Secret."""

    distance: Literal["L1", "L2"] = Field(
        "L1", description="what is minimised: the sum of weighted changes, or of squares"
    )
    weights: Literal["value", "unit", "table"] = Field(
        "value", description="what a change costs: 1 over the value, the same for all, or the costs of the table"
    )
    directions: Literal["choose", "up", "down"] = Field(
        "choose", description="which way primary cells go; whoever knows the method knows directions that are given"
    )
    whole: bool | None = Field(None, description="keep the decimals of the table; left out: if it has any")
    seconds: float = Field(60.0, gt=0, description="how long to look for the nearest table")
    attack: bool = Field(False, description="attack the adjusted table as somebody who knows the method, and report it")


class CellKeySection(Section):
    """Cell-key noise instead of suppression. Keys, perturbation table and shares are secret."""

    key: str | None = Field(
        None, description="column of record keys (microdata); that of the metadata (<RECORDKEY>) if left out"
    )
    modulus: int | None = Field(None, ge=2, description="modulus of whole keys, such as 256; none for fractions")
    zeros: bool = Field(True, description="whether records with the value zero count for the key")
    p_table: InFile = Field(None, description="file of the perturbation table; designed if left out")
    deviation: float = Field(5, gt=0, description="largest deviation of a designed table")
    variance: float | None = Field(
        None, gt=0, description="variance of a designed table; if left out, 2 for counts and 1 for values"
    )
    smallest: int = Field(3, ge=1, description="smallest positive count that is published")
    stay: float | None = Field(None, ge=0, lt=1, description="probability that a count is published as it is")
    small: float = Field(0.3, gt=0, le=1, description="share of small contributions by which values change")
    large: float = Field(0.03, gt=0, le=1, description="the same for very large contributions, with flex_point")
    flex_point: float | None = Field(
        None, gt=0, description="contribution up to which the share is that of small contributions"
    )
    q: float = Field(3.0, ge=1, description="how steeply the share falls beyond flex_point")
    weights: list[float] = Field([1.0, 0.5, 0.2], description="how the largest contributions count, from 1 down")
    extra: float = Field(0.0, ge=0, description="added to the deviation of primary cells")
    small_values: InFile = Field(None, description="file of the perturbation table for very small values")


class CellStatus(Section):
    """A cell that gets its status by hand."""

    cell: dict[str, str] = Field(description="one code per classification; the total where one is left out")
    status: str = Field(description="open, primary, secondary, never, published, structural zero or zero")
    response: str | None = Field(None, description="only for this value column")
    table: str | None = Field(None, description="only in this table of a pool; left out: in all that show the cell")

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        try:
            Status.from_text(self.status)
        except BadOption as e:
            yield Problem("status", e.what, e.hint.rstrip("."))


class PoolTable(TableSection):
    """One table of a pool: the keys of `[table]` for this table, and how it stands in the pool."""

    data: Data | None = Field(None, description="data of this table; `[data]` and `[table]` if left out")
    classifications: dict[str, Classification] = Field(
        default_factory=dict, description="how codes add up in this table; `[classifications.NAME]` if left out"
    )
    fixed: dict[str, str] = Field(
        default_factory=dict, description="code of the table in each classification that it does not show"
    )
    rules: Rules | None = Field(None, description="rules of this table; `[rules]` if left out")
    published: bool = Field(
        False, description="whether the table is already published, so that nothing in it can change"
    )
    previous: InFile = Field(None, description="working file of the last period; its pattern is kept if that is cheap")
    output: PoolTableOutput = Field(
        default_factory=lambda: PoolTableOutput(), description="files that are written for this table"
    )


class PoolSection(Section):
    """How the tables of a pool belong together, beyond the cells they share."""

    over: Names = Field(
        default_factory=list, description="classifications along which whole tables add up, such as states"
    )
