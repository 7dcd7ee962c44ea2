"""A job file as typed models: data, classifications, table, rules, output.

Every field says in its description what it is for; the same words are the hint of an error and stand in the published
JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from diskret.job.noise_models import CellKeySection, CompareSection, PerturbationSection
from diskret.job.section import Names, RelativeKnowledge, Section

AtLeastOne = Annotated[int, Field(ge=1)]
CountedBy = Literal["respondent", "holding"]


class Data(Section):
    """Where the data are."""

    microdata: str | None = Field(
        None, description="file with one record per row: .parquet, .csv, .xlsx, or .asc with metadata"
    )
    cells: str | None = Field(None, description="file with one row per cell: .parquet, .csv, .xlsx, .tab with metadata")
    table: str | None = Field(None, description="working file written by an earlier run")
    metadata: str | None = Field(None, description="tau-ARGUS .rda that describes the file")
    delimiter: str | None = Field(None, description="separator of a text file, found by itself if left out")
    decimal: Literal[".", ","] = Field(".", description="decimal sign of a text file")
    encoding: Literal["utf-8", "latin-1", "utf-16"] = Field("utf-8", description="encoding of a text file")
    sheet: str | None = Field(None, description="sheet of a .xlsx file; the first if left out")
    engine: str = Field("duckdb", description="'duckdb', 'spark', or the URL of a Spark master")

    @model_validator(mode="after")
    def _one_source(self) -> Data:
        given = [n for n in ("microdata", "cells", "table") if getattr(self, n)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of microdata, cells, table (given: {', '.join(given) or 'none'})")
        return self


class Classification(Section):
    """How the codes of one column add up; with nothing said, all of them add up to one total."""

    hierarchy: str | None = Field(None, description="file: .hrc, .csv with code and parent or level, or .json")
    prefixes: list[int] | None = Field(None, description="lengths of the code prefixes that are sums, such as [2, 3]")
    total: str | None = Field(
        None, min_length=1, description="code of the total where the codes name none; 'Total' if left out"
    )
    lead: str = Field("@", description="lead string of a .hrc file")
    missing: str | None = Field(None, description="code under which records without one are counted")
    ordered: bool = Field(False, description="whether the codes are ordered classes, such as sizes")
    sensitive: bool | None = Field(None, description="whether frequency rules look along this classification")

    @model_validator(mode="after")
    def _one_way(self) -> Classification:
        if self.hierarchy and self.prefixes:
            raise ValueError("give either hierarchy or prefixes")
        return self


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
    status: str | None = Field(None, description="column with the status of each cell (cells)")
    lower: str | None = Field(None, description="column with the smallest value an attacker thinks possible (cells)")
    upper: str | None = Field(None, description="column with the largest value an attacker thinks possible (cells)")
    cost: str | None = Field(None, description="column with the price of suppressing a cell (cells)")
    weight: str | None = Field(None, description="column with sampling weights (microdata)")
    holding: str | None = Field(None, description="column that joins records of one owner (microdata)")
    waiver: str | FlagColumn | None = Field(None, description="column: agreed to publication (microdata)")
    request: str | FlagColumn | None = Field(None, description="column: asked for protection (microdata)")
    public: str | FlagColumn | None = Field(None, description="column: publishes its own value (microdata)")
    positive: bool = Field(False, description="refuse negative values")
    frequency: bool = Field(False, description="the values are counts of units (cells)")
    tolerance: float = Field(0.0, ge=0, description="difference up to which given sums are corrected (cells)")


class MinCountRule(Section):
    """Minimum count."""

    n: int = Field(3, ge=1, description="fewest contributors of an open cell")
    zeros: bool = Field(False, description="whether cells with value zero count too")


class LineRule(Section):
    """A rule over lines of a frequency table."""

    sensitive: list[str] | None = Field(None, description="classifications to look along; all if left out")


class MarginRule(LineRule):
    """A rule over lines with a small margin."""

    most: int = Field(2, ge=1, description="largest margin that is sensitive")


Percent = Annotated[float, Field(gt=0)]


class Rules(Section):
    """Primary rules; a cell is primary if any of them catches it."""

    min_count: AtLeastOne | MinCountRule | None = Field(
        None, description="fewest contributors of an open cell, such as 3"
    )
    dominance: list[tuple[int, Percent]] = Field(default_factory=list, description="pairs [n, k], such as [[1, 85]]")
    p_percent: Percent | None = Field(None, description="p of the p% rule, such as 10")
    pq: tuple[Percent, Percent] | None = Field(None, description="p and q of the (p,q) rule, such as [5, 50]")
    small_cells: int | None = Field(None, ge=1, description="smallest count that may be shown, such as 3")
    small_margin: bool | MarginRule = Field(False, description="lines with a margin of 1 or 2")
    one_category: bool | LineRule = Field(False, description="lines with all units in one category")
    counted_by: list[CountedBy] | CountedBy = Field("respondent", description="'respondent', 'holding', or both")


class SuppressionSection(Section):
    """Secondary suppression. The ranges are secret, like the parameters of the rules."""

    guarantee: Literal["audit", "complete", "subtables"] = Field(
        "audit",
        description="attack the whole table with a solver and repair, protect it by cuboids of the complete table, "
        "or secure every subtable on its own",
    )
    deformations: int = Field(1, ge=0, le=3, description="with complete: how often a cuboid may be shifted")
    totals_last: bool = Field(False, description="with complete: whether totals come in only after all other sums")
    stages: Literal[1, 2] = Field(1, description="with complete: 2 if cuboids inside lowest subtables come first")
    min_relative_range: float = Field(0.0, ge=0, description="interval over value must be greater, such as 0.5")
    min_range: float | None = Field(None, ge=0, description="smallest interval of zero and tiny values")
    levels: bool | None = Field(
        None,
        description="whether intervals must reach as far as the primary rules demand; left out: not with subtables",
    )
    sliding: bool = Field(False, description="with levels: only the length of the interval counts")
    knowledge: Literal["none", "positive", "intervals"] | RelativeKnowledge | None = Field(
        None, description="what an attacker knows; left out: that values are positive, if they are"
    )
    zeros: Literal["marked", "allowed", "forbidden"] = Field("marked", description="which zero cells may be suppressed")
    barriers: Literal["on", "off"] | dict[str, int] = Field(
        "on", description="keep margins visible; or per classification 1 avoid, -1 prefer, 0 neither"
    )
    single_contributors: bool = Field(True, description="guard against respondents who are alone in a cell")
    largest_contributors: bool = Field(
        False, description="with an audit: guard against the largest contributor of every hidden cell as well"
    )
    coalitions: list[list[dict[str, str]]] = Field(
        default_factory=list,
        description="with an audit: cells somebody knows together, each by its codes; totals may be left out",
    )
    effort: Literal["quick", "default", "economy"] = Field(
        "default", description="with an audit: how long to look for a cheaper pattern"
    )
    seconds: float | None = Field(
        None, gt=0, description="with an audit: stop looking for a cheaper pattern after this time"
    )
    non_additive: Names = Field(default_factory=list, description="classifications along which counts do not add up")
    cost: Literal["value", "log", "count", "unity"] = Field("value", description="what a suppressed cell costs")
    distance: dict[str, float] = Field(default_factory=dict, description="powers: cells far from the primary cost more")
    carry: Literal["off", "once", "always"] = Field("off", description="hand intervals from subtable to subtable")
    previous: str | None = Field(None, description="working file of the last period, whose pattern is kept if cheap")
    thin: bool = Field(True, description="open secondaries again that nobody needs")
    leading: str | None = Field(None, description="response whose pattern is passed on to all others")


class DropStep(Section):
    """Remove columns."""

    do: Literal["drop"]
    columns: Names = Field(description="columns that are not released")


class RecodeStep(Section):
    """Put coarser classes in the place of codes; give mapping, file, or hierarchy with level."""

    do: Literal["recode"]
    column: str = Field(description="column with the codes")
    mapping: dict[str, str] | None = Field(None, description="class of every code")
    file: str | None = Field(None, description="the same as a .csv file with the columns code and class")
    hierarchy: str | None = Field(
        None, description="hierarchy file: .hrc, .csv with code and parent or level, or .json"
    )
    level: int | None = Field(None, ge=1, description="with hierarchy: level that takes the place of codes below it")
    prefix: int | None = Field(None, ge=1, description="look up only so many first characters of a code")
    removed: Names = Field(default_factory=list, description="codes whose units are not released")

    @model_validator(mode="after")
    def _one_way(self) -> RecodeStep:
        if sum(given is not None for given in (self.mapping, self.file, self.hierarchy)) != 1:
            raise ValueError("give exactly one of mapping, file, hierarchy")
        if (self.hierarchy is None) != (self.level is None):
            raise ValueError("hierarchy and level go together")
        return self


class WithholdStep(Section):
    """Blank values of units under a condition."""

    do: Literal["withhold"]
    columns: Names = Field(description="columns that are blanked")
    where: str = Field(description="condition, such as 'employees >= 1000'")
    decides: Literal["unit", "record"] = Field(
        "unit", description="whether a unit is judged over all of its waves, or every record on its own"
    )


class ReleaseStep(Section):
    """Release only units under a condition."""

    do: Literal["release"]
    where: str = Field(description="condition, such as 'employees < 250'")
    decides: Literal["unit", "record"] = Field(
        "unit", description="whether a unit is judged over all of its waves, or every record on its own"
    )


class MicroaggregateStep(Section):
    """Microaggregation."""

    do: Literal["microaggregate"]
    columns: Names = Field(default_factory=list, description="columns to group; microdata.values if left out")
    m: int | None = Field(None, ge=2, description="fewest units of a group: 3, or 4 with keep_variance, if left out")
    method: Literal["optimal", "fixed", "mdav"] = Field("optimal", description="how groups are made")
    keep_variance: bool = Field(False, description="two values per group that keep its mean and variance")
    pooled: bool = Field(False, description="group all waves together instead of each on its own")


class NoiseStep(Section):
    """Log-additive noise. Its numbers are secret."""

    do: Literal["noise"]
    columns: Names = Field(default_factory=list, description="columns to change; microdata.values if left out")
    sd: float | None = Field(None, gt=0, description="standard deviation of the noise in every column, such as 0.12")
    shift: float = Field(0.0, ge=0, description="distance of the two peaks from zero, below sd; 0 for one peak")
    amount: float | None = Field(None, gt=0, description="instead of sd: covariance as a share of that of the logs")
    pairing: Literal["auto", "exact", "blocks", "none"] = Field("auto", description="how similar units are paired")
    gaps: Literal["pairwise", "complete"] = Field("pairwise", description="which records count for a correlation")
    nearest: bool = Field(False, description="take the nearest possible correlations where those wanted are impossible")


class SwapStep(Section):
    """Targeted record swapping."""

    do: Literal["swap"]
    regions: Names = Field(description="columns that are swapped, from the coarsest region to the finest")
    risk: Names = Field(description="columns whose rare combinations are at risk")
    similar: list[list[str]] = Field(description="columns on which partners agree; further lists if there is nobody")
    k: int = Field(3, ge=2, description="fewest records that share region and risk columns")
    rate: float = Field(0.0, ge=0, le=1, description="share of all units that is swapped at least")
    household: str | None = Field(None, description="column that joins the records of a household")


class PramStep(Section):
    """Post-randomisation. Give keep or matrix."""

    do: Literal["pram"]
    columns: Names = Field(description="columns with codes to change")
    keep: float | None = Field(None, ge=0, le=1, description="probability that a code is left to itself, such as 0.9")
    matrix: dict[str, dict[str, float]] | None = Field(None, description="probability of every change, by code")
    invariant: bool = Field(True, description="follow a matrix by its reversal, so that frequencies are kept")
    within: Names = Field(default_factory=list, description="columns inside whose classes codes change")

    @model_validator(mode="after")
    def _one_way(self) -> PramStep:
        if (self.keep is None) == (self.matrix is None):
            raise ValueError("give exactly one of keep, matrix")
        return self


MicrodataStep = Annotated[
    DropStep | RecodeStep | WithholdStep | ReleaseStep | MicroaggregateStep | NoiseStep | SwapStep | PramStep,
    Field(discriminator="do"),
]
STEPS: dict[str, type[Section]] = {
    "drop": DropStep, "recode": RecodeStep, "withhold": WithholdStep, "release": ReleaseStep,
    "microaggregate": MicroaggregateStep, "noise": NoiseStep, "swap": SwapStep, "pram": PramStep,
}  # fmt: skip


class RegressionSection(Section):
    """A regression that is estimated before and after."""

    response: str = Field(description="column to be explained")
    on: Names = Field(description="columns that explain it")
    logs: bool = Field(True, description="whether all of them enter as logarithms")


class MicrodataSection(Section):
    """A scientific-use file: steps in order, and what is compared in the report."""

    values: Names = Field(default_factory=list, description="columns with numbers: what steps change, and is compared")
    classes: Names = Field(default_factory=list, description="columns with codes that are compared")
    unit: str | None = Field(None, description="column that joins the waves of a unit")
    wave: str | None = Field(None, description="column that says to which wave a record belongs")
    seed: int | None = Field(None, ge=0, description="start of the random numbers; long, and secret")
    renumber: bool = Field(True, description="whether units get new random numbers and the records their order")
    steps: list[MicrodataStep] = Field(description="what is done, in order", min_length=1)
    regressions: list[RegressionSection] = Field(default_factory=list, description="regressions that are compared")


class AttackSection(Section):
    """An attack on the records by linking them with an external file about the same units."""

    external: str | None = Field(None, description="file the attacker has: .parquet, .csv or .xlsx")
    keys: Names = Field(default_factory=list, description="columns that must agree, such as region and industry")
    values: Names = Field(default_factory=list, description="columns that should be close")
    names: dict[str, str] = Field(default_factory=dict, description="name in the external file, where it has another")
    unit: Names = Field(default_factory=list, description="column or columns that say who is who in both files")
    aligned: bool = Field(False, description="whether both files hold the same units in the same order")
    original: str | None = Field(None, description="file before protection, by which values are judged")
    targets: Names = Field(default_factory=list, description="values the attacker wants; those he links by if left out")
    by: Names = Field(default_factory=list, description="columns that form combinations; the keys if left out")
    classes: dict[str, list[float]] = Field(
        default_factory=dict, description="lower limits of classes of a number column in by, such as [20, 50, 250]"
    )
    method: Literal["assignment", "single", "fellegi_sunter"] = Field(
        "assignment", description="all units one to one, every unit on its own, or by probabilities"
    )
    scale: Literal["log", "standard", "rank"] = Field("log", description="scale on which values are compared")
    usable_within: float = Field(0.1, ge=0, description="largest relative deviation of a value that is still of use")
    cap: float = Field(0.5, ge=0, le=1, description="highest risk of a combination that is tolerated")
    engine: str = Field("duckdb", description="for fellegi_sunter: 'duckdb', 'spark', or the URL of a Spark master")


class PrintedSection(Section):
    """Options of the printed search."""

    start: tuple[int, int] = Field((2, 2), description="limits at the start, one- and multi-dimensional cells")
    distance: int = Field(2, ge=0, description="how far the two limits may come apart")
    targets: tuple[int, int] = Field((2, 2), description="limits the second phase aims at")
    most_violations: int = Field(1000, ge=1, description="cells that may lie beyond limits just lowered")
    expected: list[float] = Field(
        [0.05, 0.03, 0.03, 0.01], description="share of cases a pass must remove, per selection technique 0 to 3"
    )
    rare: float = Field(0.01, ge=0, le=1, description="share of cases up to which technique 3 looks at all rows")
    part: int = Field(2000, ge=4, description="rows by which the file grows")
    almost: float = Field(0.05, ge=0, le=1, description="share of a part's rows that may be cases when it grows")
    group: Literal[3, 4] = Field(3, description="rows that change together")


class AnonymiseSection(Section):
    """Microdata in which every combination occurs not at all or at least k times (SAFE)."""

    attributes: list[str] = Field(min_length=1, description="categorical columns, the most important first")
    k: int = Field(3, ge=2, le=100, description="fewest objects of a combination that occurs")
    up_to: int = Field(3, ge=0, description="control all tables up to this dimension")
    tables: list[list[str]] = Field(default_factory=list, description='further control tables, [["region:2", "age"]]')
    counters: dict[str, Names] = Field(
        default_factory=dict, description="counter columns of larger units, with the attributes of the unit"
    )
    weights: Literal[0, 1, 2] | list[AtLeastOne] = Field(
        0, description="larger deviations for large cells: variant 1 or 2, or the counts from which one more is allowed"
    )
    fictitious: int | str = Field(0, description="rows that do not occur: how many, or a file with such rows")
    search: Literal["ladder", "printed"] = Field("ladder", description="how new frequencies are searched for")
    effort: float = Field(1.0, gt=0, description="more or fewer groups tested (ladder)")
    limits: list[int] | None = Field(None, description="largest deviations to stop at, by dimension from 1 (ladder)")
    printed: PrintedSection | None = Field(None, description="options of the printed search")
    seed: int = Field(1, ge=0, lt=2**31, description="the same seed gives the same file")
    time_limit: float | None = Field(None, gt=0, description="seconds after which the best file so far is taken")
    checkpoint: str | None = Field(None, description="file to go on from after an interruption; confidential (ladder)")
    priority: list[str] = Field(default_factory=list, description="order for rematching; what stands last goes first")


class CellStatus(Section):
    """A cell that gets its status by hand."""

    cell: dict[str, str] = Field(description="one code per classification; the total where one is left out")
    status: str = Field(description="open, primary, secondary, never, published, structural zero or zero")
    response: str | None = Field(None, description="only for this value column")
    table: str | None = Field(None, description="only in this table of a pool; left out: in all that show the cell")


class Output(Section):
    """What is written. Paths are relative to the job file."""

    publish: Names = Field(default_factory=list, description="files for the public: .csv .parquet .xlsx .json .px")
    working: str | None = Field(None, description="working file with all values, to go on with; confidential")
    certificate: str | None = Field(
        None, description="certificate of the audit that diskret verify checks, .json; confidential"
    )
    tau_argus: str | None = Field(None, description="folder for a tau-ARGUS cell list with hierarchies; confidential")
    comparison: str | None = Field(None, description="plot of the rules' regions, .svg .html .png; confidential")
    risks: str | None = Field(None, description="risk of every combination (attack), .csv or .json; confidential")
    risk_plot: str | None = Field(None, description="the same as a plot, .svg .html .png; confidential")
    microdata: str | None = Field(None, description="anonymous microdata, .parquet or .csv")
    quality: str | None = Field(None, description="report on the deviations of control tables, .json or .txt")
    deviations: str | None = Field(None, description="plot of these deviations, .svg .html .png")
    rematched: str | None = Field(
        None, description="anonymous attributes beside the other columns of the records, .parquet or .csv; confidential"
    )
    mark: str = Field("x", description="what stands for a suppressed value")
    counts: bool = Field(False, description="whether contributor counts are published too")
    intervals: bool = Field(False, description="whether bounds are published too, where complete cuboids allow it")
    title: str = Field("", description="title of the table")
    language: Literal["en", "de"] = Field("en", description="language of legend and report")
    records: str | None = Field(None, description="protected records (microdata): .csv or .parquet")
    report: str | None = Field(
        None, description="report in itself, .html or .pdf; without suppressed values; internal with [microdata]"
    )


class TableOutput(Section):
    """What is written of one table of a pool. What is not said here is said in `[output]`."""

    publish: Names = Field(default_factory=list, description="files for the public: .csv .parquet .xlsx .json .px")
    working: str | None = Field(None, description="working file with all values, to go on with; confidential")
    tau_argus: str | None = Field(None, description="folder for a tau-ARGUS cell list with hierarchies; confidential")
    mark: str = Field("x", description="what stands for a suppressed value")
    counts: bool = Field(False, description="whether contributor counts are published too")
    title: str = Field("", description="title of the table")
    language: Literal["en", "de"] = Field("en", description="language of the legend")


class PoolTable(TableSection):
    """One table of a pool: the keys of `[table]` for this table, and how it stands in the pool."""

    data: Data | None = Field(None, description="data of this table; `[data]` and `[table]` if left out")
    classifications: dict[str, Classification] = Field(
        default_factory=dict, description="how codes add up in this table; `[classifications.NAME]` if left out"
    )
    fixed: dict[str, str] = Field(
        default_factory=dict, description="codes at which the table stands in classifications it does not run over"
    )
    published: bool = Field(False, description="whether the table is out already: nothing in it can change")
    previous: str | None = Field(None, description="working file of the last period, whose pattern is kept if cheap")
    output: TableOutput = Field(default_factory=lambda: TableOutput(), description="what is written of this table")


class PoolSection(Section):
    """How the tables of a pool belong together, beyond the cells they share."""

    over: Names = Field(
        default_factory=list, description="classifications along which whole tables add up, such as states"
    )


class Job(Section):
    """Everything `diskret run` needs to know."""

    data: Data = Field(default_factory=Data.model_construct)
    classifications: dict[str, Classification] = Field(default_factory=dict)
    table: TableSection = Field(default_factory=lambda: TableSection())
    tables: dict[str, PoolTable] = Field(default_factory=dict, description="linked tables, protected together")
    pool: PoolSection = Field(default_factory=lambda: PoolSection(), description="how linked tables add up")
    rules: Rules = Field(default_factory=lambda: Rules())
    suppression: SuppressionSection | None = Field(None, description="secondary suppression; none if left out")
    perturbation: PerturbationSection | None = Field(None, description="change values instead of hiding them")
    microdata: MicrodataSection | None = Field(None, description="protect records instead of a table")
    attack: AttackSection | None = Field(None, description="attack records instead of making a table")
    anonymise: AnonymiseSection | None = Field(None, description="anonymous microdata instead of a table")
    cell_key: CellKeySection | None = Field(None, description="cell-key noise instead of suppression")
    compare: CompareSection | None = Field(None, description="all methods side by side instead of a table")
    status: list[CellStatus] = Field(default_factory=list)
    output: Output = Field(default_factory=lambda: Output())
