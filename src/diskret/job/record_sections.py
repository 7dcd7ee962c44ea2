"""The sections of a job about records: scientific-use files, attacks, anonymous files, all methods side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from diskret.job.form import PLOTS, InFile, Names, Problem, Reads, Section, Writes, named
from diskret.job.output_sections import REPORT, Dated, FormulasInFile, Language, Reports
from diskret.job.table_sections import AtLeastOne
from diskret.model.errors import BadOption, listed
from diskret.publication.comparison_files import ENDINGS as COMPARISONS
from diskret.publication.microdata_files import ENDINGS as RECORDS

if TYPE_CHECKING:
    from diskret.safe.options import SearchOptions


class DropStep(Section):
    """Remove columns."""

    do: Literal["drop"]
    columns: Names = Field(description="columns that are not released")


class RecodeStep(Section):
    """Put coarser classes in the place of codes; give mapping, file, or hierarchy with level."""

    do: Literal["recode"]
    column: str = Field(description="column with the codes")
    mapping: dict[str, str] | None = Field(None, description="class of every code")
    file: InFile = Field(None, description="the same as a .csv file with the columns code and class")
    hierarchy: InFile = Field(
        None, description="hierarchy file: .hrc, .csv or .xlsx with code and parent or level, or .json"
    )
    level: int | None = Field(None, ge=1, description="with hierarchy: level that takes the place of codes below it")
    prefix: int | None = Field(None, ge=1, description="look up only this many first characters of a code")
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

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        both = (self.sd is None) == (self.amount is None)
        return named((both, "sd", "give exactly one of sd and amount", "sd is usual, amount the older baseline"))


class SwapStep(Section):
    """Targeted record swapping."""

    do: Literal["swap"]
    regions: Names = Field(description="columns that are swapped, from the coarsest region to the finest")
    risk: Names = Field(description="columns whose rare combinations are at risk")
    similar: list[list[str]] = Field(
        description="columns on which partners agree; further lists are tried if there is no partner"
    )
    k: int = Field(3, ge=2, description="fewest records that share region and risk columns")
    rate: float = Field(0.0, ge=0, le=1, description="least share of all units that is swapped")
    household: str | None = Field(None, description="column that joins the records of a household")


class PramStep(Section):
    """Post-randomisation. Give keep or matrix."""

    do: Literal["pram"]
    columns: Names = Field(description="columns with codes to change")
    keep: float | None = Field(None, ge=0, le=1, description="probability that a code stays as it is, such as 0.9")
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
REDUCING = (DropStep, RecodeStep, WithholdStep, ReleaseStep)
"""Steps that take information away; they come before those that change values."""


class RegressionSection(Section):
    """A regression that is estimated before and after."""

    response: str = Field(description="column to be explained")
    on: Names = Field(description="columns that explain it")
    logs: bool = Field(True, description="whether all of them enter as logarithms")


class MicrodataSection(Section):
    """A scientific-use file: steps in order, and what is compared in the report."""

    values: Names = Field(
        default_factory=list, description="columns with numbers, which steps change and the report compares"
    )
    classes: Names = Field(default_factory=list, description="columns with codes that are compared")
    unit: str | None = Field(None, description="column that joins the waves of a unit")
    wave: str | None = Field(None, description="column that says to which wave a record belongs")
    seed: int | None = Field(None, ge=0, description="start of the random numbers; long, and secret")
    renumber: bool = Field(True, description="whether units get new random numbers and the records their order")
    by_column: bool = Field(
        False, description="read, protect and write a few columns at a time, for files larger than memory; nothing is "
        "compared then"
    )  # fmt: skip
    steps: list[MicrodataStep] = Field(description="what is done, in order", min_length=1)
    regressions: list[RegressionSection] = Field(default_factory=list, description="regressions that are compared")

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        random = self.renumber or any(isinstance(step, NoiseStep | SwapStep | PramStep) for step in self.steps)
        long = "a long whole number, kept secret; the same one gives the same file"
        panel = "a panel with waves needs the column that joins a unit's records"
        yield from named(
            (self.seed is None and random, "seed", "missing", long),
            (self.wave is not None and self.unit is None, "unit", "missing", panel),
        )
        yield from self._not_by_column() if self.by_column else ()
        changing = False
        for number, step in enumerate(self.steps):
            key, reducing = f"steps.{number}", isinstance(step, REDUCING)
            late = f"{step.do!r} comes after a step that changes values"
            grouping = isinstance(step, MicroaggregateStep | NoiseStep) and not (step.columns or self.values)
            yield from named(
                (reducing and changing, key, late, "take information away first"),
                (grouping, f"{key}.columns", "missing", "name columns here, or in microdata.values"),
            )
            changing = changing or not reducing

    def _not_by_column(self) -> Iterator[Problem]:
        """What needs more than a few columns at a time."""
        yield from named(
            (self.regressions, "regressions", "cannot be combined with by_column", "nothing is compared then"),
            (self.classes, "classes", "cannot be combined with by_column", "nothing is compared then"),
        )
        for number, step in enumerate(self.steps):
            rows = isinstance(step, WithholdStep | ReleaseStep) or (isinstance(step, RecodeStep) and step.removed)
            if rows:
                hint = "units are chosen by several columns: do it in a job before"
                yield Problem(f"steps.{number}", f"{step.do!r} of units cannot be combined with by_column", hint)


class AttackSection(Section):
    """An attack on the records by linking them with an external file about the same units."""

    external: InFile = Field(None, description="file the attacker has: .parquet, .csv or .xlsx")
    keys: Names = Field(default_factory=list, description="columns that must agree, such as region and industry")
    values: Names = Field(default_factory=list, description="columns that should be close")
    names: dict[str, str] = Field(default_factory=dict, description="name in the external file, where it has another")
    unit: Names = Field(default_factory=list, description="column or columns that say who is who in both files")
    aligned: bool = Field(False, description="whether both files hold the same units in the same order")
    original: InFile = Field(None, description="file before protection, by which values are judged")
    targets: Names = Field(
        default_factory=list, description="values the attacker wants; if left out, those used for linking"
    )
    by: Names = Field(default_factory=list, description="columns that form combinations; the keys if left out")
    classes: dict[str, list[float]] = Field(
        default_factory=dict, description="lower limits of classes of a number column in by, such as [20, 50, 250]"
    )
    method: Literal["assignment", "single", "fellegi_sunter"] = Field(
        "assignment", description="all units one to one, every unit on its own, or by probabilities"
    )
    scale: Literal["log", "standard", "rank"] = Field("log", description="scale on which values are compared")
    usable_within: float = Field(0.1, ge=0, description="largest relative deviation at which a value is still of use")
    cap: float = Field(0.5, ge=0, le=1, description="highest risk of a combination that is tolerated")
    engine: str = Field("duckdb", description="'duckdb', 'spark', or the URL of a Spark master")

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        nothing = "give keys that must agree, or values that should be close"
        yield from named(
            (not self.keys and not self.values, "keys", "missing", nothing),
            (self.unit and self.aligned, "aligned", "cannot be combined with unit", "both say who is who"),
        )
        for name in sorted(self.names.keys() - {*self.keys, *self.values}):
            yield Problem("names", f"{name!r} is neither a key nor a value", "name columns of the released file")
        for name in sorted(self.classes.keys() - {*self.by}):
            yield Problem("classes", f"{name!r} is not in attack.by", f"attack.by lists {listed(self.by)}")


class RiskSection(Section):
    """What an attacker may know of records, and what the file stands for."""

    keys: Names = Field(min_length=1, description="columns an attacker may know")
    sensitive: Names = Field(default_factory=list, description="columns the attacker wants to learn")
    others_known: bool = Field(False, description="whether the attacker also knows the other sensitive columns")
    weight: str | None = Field(None, description="column with sampling weights")
    population: float | None = Field(None, gt=0, description="number of units the file stands for, without weights")
    household: str | None = Field(None, description="column that joins the records of a household")
    special: bool = Field(True, description="whether special uniques are looked for")
    largest: int | None = Field(None, ge=1, description="largest sets of keys in which special uniques are looked for")


class PrintedSection(Section):
    """Options of the printed search."""

    start: tuple[int, int] = Field((2, 2), description="limits at the start, one- and multi-dimensional cells")
    distance: int = Field(2, ge=0, description="how far apart the two limits may be")
    targets: tuple[int, int] = Field((2, 2), description="limits the second phase aims at")
    most_violations: int = Field(1000, ge=1, description="cells that may exceed limits just lowered")
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
    fictitious: Annotated[int | str, Reads()] = Field(
        0, description="rows that do not occur: how many, or a file with such rows"
    )
    search: Literal["ladder", "printed"] = Field("ladder", description="how new frequencies are searched for")
    effort: float = Field(1.0, gt=0, description="more or fewer groups tested (ladder)")
    limits: list[int] | None = Field(None, description="largest deviations to stop at, by dimension from 1 (ladder)")
    printed: PrintedSection | None = Field(None, description="options of the printed search")
    seed: int | None = Field(
        None, ge=0, lt=2**63, description="start of the random numbers; long, and secret; left out: drawn"
    )
    time_limit: float | None = Field(None, gt=0, description="seconds after which the best file so far is taken")
    steps: int | None = Field(None, ge=1, description="the same limit in steps, which any machine repeats")
    checkpoint: Annotated[str | None, Reads(present=False)] = Field(
        None, description="file to go on from after an interruption; confidential (ladder)"
    )
    priority: list[str] = Field(default_factory=list, description="order for rematching; what stands last goes first")

    def options(self) -> SearchOptions:
        """The search with its options."""
        from diskret.safe.options import LadderSearch, PrintedSearch

        if self.search == "ladder":
            return LadderSearch(effort=self.effort, limits=None if self.limits is None else tuple(self.limits))
        given: dict[str, Any] = {} if self.printed is None else self.printed.model_dump()
        if "expected" in given:
            given["expected"] = tuple(given["expected"])
        return PrintedSearch(**given)

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        if len({*self.attributes}) < len(self.attributes):
            yield Problem("attributes", "names a column twice", "name each once")
        others = ("printed",) if self.search == "ladder" else ("effort", "limits", "checkpoint")
        for key in sorted(self.model_fields_set.intersection(others)):
            yield Problem(key, f"cannot be combined with search = {self.search!r}")
        try:
            self.options()
        except BadOption as e:
            yield Problem("search", e.what, e.hint)
        for counter, of in self.counters.items():
            unknown = [name for name in (counter, *of) if name not in self.attributes]
            if unknown:
                yield Problem("counters", f"{listed(unknown)} is not an attribute", "add it to attributes")


class FileAttackSection(Section):
    """The attack on an anonymous file by somebody who knows the method, the code lists and the public report."""

    least: int | None = Field(
        None, ge=2, description="how many values must stay possible for a count of 1 to k - 1; k if left out"
    )
    existed: bool | None = Field(
        None, description="whether the attacker knows that every combination of the file occurred in the original; "
        "left out: unless fictitious rows were added"
    )  # fmt: skip
    known_tables: list[list[str]] = Field(
        default_factory=list, description='control tables whose original counts the attacker has, [["region", "sex"]]'
    )
    codes: dict[str, Names] = Field(
        default_factory=dict,
        description="codes the attacker knows in addition to given lists and what the file shows, by attribute",
    )
    records: InFile = Field(None, description="persons the attacker knows: .parquet, .csv or .xlsx with the attributes")


Method = Literal[
    "suppression", "intervals", "cuboid perturbation", "random rounding", "controlled rounding", "cell key", "merging",
    "SAFE",
]  # fmt: skip


class CompareSection(Section):
    """All methods on the same microdata, side by side, instead of a table."""

    methods: list[Method] = Field(default_factory=list, description="methods to compare; all if left out")
    percent: float = Field(10.0, gt=0, le=100, description="how close an attacker must come, in percent")
    seed: int = Field(1, ge=0, description="start of the random numbers")
    base: float | None = Field(None, gt=0, description="base of rounding")
    key: str | None = Field(None, description="column of record keys; drawn if left out")
    p_table: InFile = Field(None, description="file of the perturbation table of the cell key")
    k: int = Field(3, ge=2, le=100, description="fewest objects of a combination (SAFE)")
    merge: str | None = Field(None, description="classification to merge; the best one if left out")
    files: Annotated[Names, Writes(COMPARISONS)] = Field(
        default_factory=list, description="files to write: .csv .json .txt .html .svg .png; internal"
    )
    language: Language = Field("en", description="language of the report (.html)")


class RiskFiles(Section):
    """What is written of the risks an attack found."""

    risks: Annotated[str | None, Writes((".csv", ".json"))] = Field(
        None, description="risk of every combination (attack), .csv or .json; confidential"
    )
    risk_plot: Annotated[str | None, PLOTS] = Field(
        None, description="the same as a plot, .svg .html .png; confidential"
    )
    formulas: FormulasInFile = None


class AttackOutput(Dated, RiskFiles):
    """What is written of an attack. Paths are relative to the job file."""

    internal_report: Annotated[str | None, REPORT] = Field(
        None, description="self-contained report, .html or .pdf; confidential"
    )
    title: str = Field("", description="title of the report")
    language: Language = Field("en", description="language of the report")


class RiskOutput(Dated):
    """What is written about risk. Paths are relative to the job file."""

    internal_report: Annotated[str | None, REPORT] = Field(
        None, description="self-contained report, .html or .pdf; confidential"
    )
    title: str = Field("", description="title of the report")
    language: Language = Field("en", description="language of the report")


class RecordsOutput(Reports, Dated, RiskFiles):
    """What is written of a scientific-use file. Paths are relative to the job file."""

    records: Annotated[str | None, Writes(RECORDS, any_case=True, public=True)] = Field(
        None, description="protected records: .csv or .parquet"
    )
    title: str = Field("", description="title of the report")
    language: Language = Field("en", description="language of the report")


class AnonymiseOutput(Reports, Dated):
    """What is written of an anonymous file. Paths are relative to the job file."""

    microdata: Annotated[str | None, Writes((".parquet", ".csv"), any_case=True, public=True)] = Field(
        None, description="anonymous microdata, .parquet or .csv"
    )
    quality: Annotated[str | None, Writes((".json", ".txt"))] = Field(
        None, description="deviations of the control tables, .json or .txt; confidential"
    )
    deviations: Annotated[str | None, PLOTS] = Field(
        None, description="plot of these deviations, .svg .html .png; confidential"
    )
    rematched: Annotated[str | None, Writes((".parquet", ".csv"), any_case=True)] = Field(
        None, description="anonymous attributes beside the other columns of the records, .parquet or .csv; confidential"
    )
    formulas: FormulasInFile = None
    title: str = Field("", description="title of the report")
    language: Language = Field("en", description="language of the report")
