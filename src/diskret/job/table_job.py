"""A job that makes a table, or goes on with one: tabulate, mark, hide or change values, write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from diskret.io.files import all_or_none
from diskret.io.rda import read_metadata
from diskret.job.apriori import AprioriFile, set_beforehand
from diskret.job.cell_keys import add_noise_by_key, as_told
from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.ledger_section import LedgerSection, enter_tables
from diskret.job.loading import found_reading, load_tables, set_by_hand
from diskret.job.outcome import JobResult, Running
from diskret.job.output_sections import PoolOutput, TableOutput
from diskret.job.outputs import write_certificates, write_tables
from diskret.job.perturbation import adjust_tables, attack_tables, perturb_tables
from diskret.job.protection_sections import PromiseSection, SuppressionSection
from diskret.job.release_warnings import unguarded, unmarked
from diskret.job.report import table_facts, write_table_report
from diskret.job.rules import missing_of, rules_of
from diskret.job.safe_file_section import unfit
from diskret.job.sdmx_section import sdmx_problems
from diskret.job.suppression import intervals_of, suppress_tables
from diskret.job.table_sections import (
    AdjustmentSection,
    CellKeySection,
    CellStatus,
    Classification,
    PerturbationSection,
    Rules,
    TableSection,
)
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table
from diskret.publication.doors import Result
from diskret.publication.plots import plot_comparison
from diskret.rules.compare import compare_rules
from diskret.rules.mark import mark

ONLY_CELLS = ("count", "largest", "owner", "status", "below", "above", "lower", "upper", "frequency", "sums")
ONLY_RECORDS = ("weight", "holding", "waiver", "request", "public")
PROTECTING = {
    "suppression": "hides values", "perturbation": "changes values", "adjustment": "changes values",
    "cell_key": "changes values",
}  # fmt: skip


class TableJob(Section):
    """A table, with one value or several: made of records or cells, or an earlier one; marked, protected, written."""

    kind: Literal["table"] = Field("table", description="kind of the job; recognised by its sections if left out")
    data: Data = Field(description="where the data are")
    classifications: dict[str, Classification] = Field(default_factory=dict)
    table: TableSection = Field(default_factory=lambda: TableSection())
    rules: Rules = Field(default_factory=lambda: Rules())
    promise: PromiseSection = Field(default_factory=lambda: PromiseSection(), description="what is kept, against whom")
    suppression: SuppressionSection | None = Field(None, description="secondary suppression; none if left out")
    perturbation: PerturbationSection | None = Field(None, description="change values instead of hiding them")
    adjustment: AdjustmentSection | None = Field(None, description="the nearest table outside protection intervals")
    cell_key: CellKeySection | None = Field(None, description="cell-key noise instead of suppression")
    status: list[CellStatus] = Field(default_factory=list)
    apriori: list[AprioriFile] = Field(
        default_factory=list, description="files about single cells, which overrule the rules"
    )
    ledger: LedgerSection | None = Field(None, description="protect beside everything published, and remember")
    output: TableOutput = Field(default_factory=lambda: TableOutput())

    # --- what is wrong -----------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[Problem]:
        """Keys that do not fit the data, or one another."""
        yield from self._columns()
        yield from self._misplaced()
        yield from self._rules()
        yield from unknown_classifications(self.suppression, self.table.by)
        yield from self._protection()
        yield from self._ledger()
        yield from self._outputs()

    def _columns(self) -> Iterator[Problem]:
        """What a table needs, and classifications it does not have."""
        unnamed = not self.data.described and not self.table.by
        valueless = self.data.cells and not self.table.value and not self.data.metadata
        yield from named(
            (unnamed, "table.by", "missing", "columns that classify, in the order of the table"),
            (valueless, "table.value", "missing", "column or columns with the values of the cells"),
        )
        for name in self.classifications if self.table.by else ():
            if name not in self.table.by:
                hint = f"table.by lists {listed(self.table.by)}"
                yield Problem(f"classifications.{name}", "is not in table.by", hint)

    def _misplaced(self) -> Iterator[Problem]:
        """Keys that would be passed over in silence with this kind of data."""
        if self.data.described:
            yield from self._said_elsewhere()
            return
        wrong, where = (ONLY_CELLS, "cells") if self.data.microdata else (ONLY_RECORDS, "microdata")
        for key in self.table.saying(*wrong):
            yield Problem(f"table.{key}", f"belongs to data.{where}", "the data of this job are of another kind")
        for key in self.table.saying("statuses"):
            yield Problem(f"table.{key}", "belongs to cells with metadata", "leave it out; table.status names a column")
        for name, each in self.classifications.items() if self.data.cells else ():
            if each.subtotals:
                hint = "cells of sums that the hierarchy has are checked without it"
                yield Problem(f"classifications.{name}.subtotals", "belongs to data.microdata", hint)

    def _said_elsewhere(self) -> Iterator[Problem]:
        """Keys whose answers a working file or metadata hold."""
        whose = "working file says" if self.data.table else "metadata say"
        known = set() if self.data.table else {"by", "value", "shadow", "positive", "tolerance", "sums", "statuses"}
        ours = {"ordered", "sensitive", "missing_codes"} | (set() if self.data.table else {"recode", "levels"})
        keys = [f"table.{key}" for key in sorted(self.table.model_fields_set - known)]
        for name, each in self.classifications.items():
            said = sorted(each.model_fields_set - ours)
            keys += [f"classifications.{name}.{key}" for key in said]
        yield from (Problem(key, f"cannot be combined with this data: the {whose} it", "leave it out") for key in keys)

    def _noise(self, here: Path) -> CellKeySection | None:
        """What is asked of cell keys, by the job or by its metadata."""
        described = self.cell_key is not None and self.data.microdata and self.data.metadata
        told = read_metadata(here / described) if described else None
        return as_told(self.cell_key, told, self.table.value)

    def _rules(self) -> Iterator[Problem]:
        """Rules that need what records without this column do not tell."""
        if not self.data.microdata:
            return
        asked, holdings, owner = self.rules, self.rules.holding, "name the column that joins records of one owner"
        requests = asked.request is not None or (holdings is not None and holdings.request is not None)
        weighted = [each for each in (asked, holdings) if each is not None and each.weighs]
        yield from named(
            (
                "holding" in asked.levels and not self.table.holding,
                "rules.counted_by", "'holding' needs table.holding", owner,
            ),
            (holdings is not None and not self.table.holding, "rules.holding", "needs table.holding", owner),
            (
                requests and not self.table.request,
                "rules.request", "needs table.request", "name the column of those who asked for protection",
            ),
            (
                weighted and not self.table.weight,
                "rules.min_count.weighted", "needs table.weight", "name the column of sampling weights",
            ),
        )  # fmt: skip
        compared = [key for key in asked.asked if key in ("dominance", "p_percent", "pq", "request", "zeros")]
        for key in () if self.table.value else compared:
            yield Problem(f"rules.{key}", "needs table.value", "a frequency table has no contributions to compare")

    def _protection(self) -> Iterator[Problem]:
        """One way of protection, with what it needs."""
        first, *others = [key for key in PROTECTING if getattr(self, key) is not None] or [""]
        for key in others:
            hint = f"[{first}] {PROTECTING[first]}, [{key}] {PROTECTING[key]}: choose one of them"
            yield Problem(key, f"cannot be combined with [{first}]", hint)
        if self.cell_key is not None:
            keyless = self.data.microdata and not self.cell_key.key and not self.data.metadata
            yield from named(
                (keyless, "cell_key.key", "missing", "column of record keys"),
                (self.data.cells, "cell_key", "cannot be combined with data.cells", "cell keys are made of records"),
            )

    def _ledger(self) -> Iterator[Problem]:
        """A ledger beside which nothing would be protected: the table would be entered unseen."""
        if self.ledger is None:
            return
        method = "moves" if self.suppression is None else self.suppression.method
        yield from named(
            (
                self.suppression is None,
                "suppression", "missing", "it protects the table beside the ledger, and hides no more than is needed",
            ),
            (method != "moves", "suppression.method", "beside a ledger only 'moves' protects", "leave it out"),
        )  # fmt: skip

    def _outputs(self) -> Iterator[Problem]:
        """Outputs about what the job does not do."""
        changing = next((key for key in ("perturbation", "adjustment") if getattr(self, key) is not None), "")
        bounds = self.output.intervals and changing
        yield from named(
            (bounds, "output.intervals", f"cannot be combined with [{changing}]", "nothing is hidden"),
            (
                self.output.comparison and not self.rules.asked,
                "output.comparison", "there are no rules to compare", "name at least one under [rules]",
            ),
        )  # fmt: skip
        several = len(self.table.value) > 1 and self.output.apriori
        yield from named((several, "output.apriori", "is about one value", "make one job for each of them"))
        yield from without_subject(self.output, self.suppression)
        changes = next((key for key in PROTECTING if key != "suppression" and getattr(self, key) is not None), "")
        holdings = bool(self.table.holding) or not self.data.microdata
        yield from unfit(self.output.safe_files, self.table.value, self.table.by, changes, holdings=holdings)
        yield from sdmx_problems(self.output, self.table.by, len(self.table.value))

    # --- what is done ------------------------------------------------------------------------------------------------

    def run(self, running: Running) -> JobResult:
        """Marked, protected, written."""
        tables = self.marked(running)
        suppressions = suppress_tables(self, running, tables)
        tables |= {name: done.table for name, done in suppressions.items()}
        first = next(iter(tables.values()))
        comparison = compare_rules(first, first.judges) if self.output.comparison and first.judges else None
        running.say("changing", 0, 1)
        if not self.changes_all:
            self._warn(running, unmarked(tables))
        noise = add_noise_by_key(self._noise(running.here), running.here, tables)
        tables |= {name: done.table for name, done in noise.items()}
        changed = perturb_tables(self.perturbation, tables) | adjust_tables(self, tables)
        tables |= {name: done.table for name, done in changed.items()}
        attacks = attack_tables(self.perturbation or self.adjustment, changed)
        if not suppressions:
            self._warn(running, unguarded(tables))
        done = JobResult(
            tables=tables, comparison=comparison, suppressions=suppressions, noise=noise, perturbations=changed,
            perturbation_attacks=attacks, read=found_reading(self.data, running.here),
        )  # fmt: skip
        return replace(done, files=self._written(running, done)) if running.write else done

    def _warn(self, running: Running, words: Iterable[str]) -> None:
        """Tell what needs a second look, if anything may leave the office."""
        if self.output.leaves or self.output.reports:
            running.warn(words)

    def marked(self, running: Running) -> dict[str, Table]:
        """The tables with their statuses: set by hand, and by the rules."""
        tables = load_tables(self, running.here, running.progress, running.largest)
        self._refuse_unknown_responses(tables)
        tables = {name: set_by_hand(table, self.status) for name, table in tables.items()}
        rules = rules_of(self, next(iter(tables.values())).names)
        ordered = [n for n, c in self.classifications.items() if c.ordered]
        missing = missing_of(self, running.here, next(iter(tables.values())).names)
        for done, (name, table) in enumerate(list(tables.items()) if rules.rules else ()):
            running.say("marking", done, len(tables))
            tables[name] = mark(
                table, rules, ordered=ordered, missing=missing, min_level=self.rules.min_level,
                signed=self.rules.signed, first_level=self.rules.first_level,
            )  # fmt: skip
        for name, table in list(tables.items()) if self.apriori else ():
            tables[name], prices = set_beforehand(table, self.apriori, running.here)
            running.prices.update({} if prices is None else {name: prices})
        return tables

    @property
    def changes_all(self) -> bool:
        """Whether values are changed that no rule has marked, too."""
        return self.cell_key is not None or (self.perturbation is not None and self.perturbation.method == "rounding")

    def _refuse_unknown_responses(self, tables: Mapping[str, Table]) -> None:
        unknown = [each.response for each in self.status if each.response is not None and each.response not in tables]
        if unknown:
            raise BadOption(f"status: no response {listed(unknown)}", hint=f"the table has {listed(tables)}.")

    def _written(self, running: Running, done: JobResult) -> tuple[Path, ...]:
        """Everything the job asks for, or nothing."""
        asked, here = self.output, running.here
        intervals = intervals_of(self, done.tables, running.progress) if asked.publish else {}
        with all_or_none() as meanwhile:
            results: dict[str, Result] = {**done.suppressions, **done.noise, **done.perturbations}
            files = write_tables(
                asked, running, done.tables, intervals, meanwhile, suppressed=bool(done.suppressions), results=results
            )
            files += write_certificates(asked, here, done.suppressions, meanwhile)
            bare = [] if self.changes_all else [n for n, each in done.perturbations.items() if each.before.unmarked]
            facts = table_facts(self, done.suppressions, warnings=running.said(), summary=done.summary(), unmarked=bare)
            for name, internal in asked.reports:
                write_table_report(
                    asked, done.tables, facts, meanwhile(here / name), internal=internal, origin=running.origin
                )
                files.append(here / name)
            if asked.comparison and done.comparison is not None:
                plot_comparison(done.comparison, meanwhile(here / asked.comparison))
                files.append(here / asked.comparison)
            if self.output.leaves:
                enter_tables(self.ledger, here, done.tables, done.suppressions, _data_of(running))
        return tuple(files)


def _data_of(running: Running) -> str:
    """By which hash the data are known, where that was asked for."""
    files = () if running.origin is None else running.origin.files
    return ", ".join(hashed for _, hashed in files)


def unknown_classifications(asked: SuppressionSection | None, by: Sequence[str]) -> Iterator[Problem]:
    """Classifications that [suppression] names and the table does not have."""
    for key, names in asked.classifications.items() if asked and by else ():
        for name in names:
            if name not in by:
                yield Problem(f"suppression.{key}", f"no classification {name!r}", f"table.by lists {listed(by)}")


def without_subject(output: PoolOutput, asked: SuppressionSection | None) -> Iterator[Problem]:
    """A certificate without the audit it is about or a table to check it by, digits of intervals without intervals."""
    audited = asked is not None and asked.method not in ("cuboids", "complete")
    hint = "add [suppression]; its method is 'moves'"
    rounded = output.interval_digits is not None and not output.intervals
    return named(
        (output.certificate and not audited, "output.certificate", "there is no audit to certify", hint),
        (output.plain and not audited, "output.plain", "there is no audit to check", hint),
        (rounded, "output.interval_digits", "there are no intervals to widen", "add intervals = true"),
    )
