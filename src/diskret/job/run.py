"""Running a job: read, tabulate, mark, write. The CLI and the page both call `run_job`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from diskret.auditing.certificate import certificate_of, write_certificate
from diskret.auditing.published_intervals import Intervals
from diskret.comparison.compare import Comparison
from diskret.io.cell_list import read_cell_list
from diskret.io.cell_list_writer import write_cell_list
from diskret.io.files import all_or_none
from diskret.io.hierarchies import read_hierarchy
from diskret.io.metadata import Metadata, classification, source
from diskret.io.rda import read_metadata
from diskret.job.anonymise import anonymise_file, write_anonymous
from diskret.job.attack import run_attack
from diskret.job.microdata import run_microdata
from diskret.job.models import FlagColumn, Job
from diskret.job.noise import RANKED, add_noise_by_key, record_key, run_compare
from diskret.job.perturbation import attack_tables, perturb_tables
from diskret.job.pool import pools_of, unpublished
from diskret.job.report import table_facts, write_table_report
from diskret.job.rules import rules_of
from diskret.job.suppression import intervals_of, suppress_tables
from diskret.model.cells import MISSING
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.pool import Pool
from diskret.model.source import file_source, open_source
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.attack import PerturbationAttack
from diskret.perturbation.cell_key import KeyedNoise
from diskret.perturbation.result import Perturbation
from diskret.publication.plots import plot_comparison
from diskret.publication.publish import publish
from diskret.publication.working import load_working, save_working
from diskret.risk.judgement import Attack
from diskret.rules.compare import RuleComparison, compare_rules
from diskret.rules.mark import mark
from diskret.rules.rule import largest_needed
from diskret.safe.history import Watch
from diskret.safe.result import Anonymisation
from diskret.suppression.result import Suppression
from diskret.tabulation.tabulate import Progress, tabulate


@dataclass(frozen=True, eq=False)
class JobResult:
    """What a job made: tables, files, and what deserves care."""

    tables: Mapping[str, Table]
    files: tuple[Path, ...]
    warnings: tuple[str, ...]
    comparison: RuleComparison | None = None
    suppressions: Mapping[str, Suppression] = field(default_factory=dict)
    microdata: Mapping[str, Any] | None = None
    attack: Attack | None = None
    anonymisation: Anonymisation | None = None
    pools: Mapping[str, Pool] = field(default_factory=dict)
    """Linked tables as one, by their response; then suppressions are those of the pools."""
    noise: Mapping[str, KeyedNoise] = field(default_factory=dict)
    methods: Comparison | None = None
    perturbations: Mapping[str, Perturbation] = field(default_factory=dict)
    perturbation_attacks: Mapping[str, PerturbationAttack] = field(default_factory=dict)

    @property
    def exposed(self) -> bool:
        """Whether an audit found cells that can be computed too closely, or an attack too many units."""
        if self.attack is not None and not self.attack.safe:
            return True
        return any(s.audit is not None and not s.audit.safe for s in self.suppressions.values())

    def summary(self) -> dict[str, Any]:
        """Counts and names only: fit to be printed or logged."""
        return (
            {
                "tables": {name: self._facts(name) for name in self.tables},
                **({} if self.microdata is None else {"microdata": dict(self.microdata)}),
                **({} if self.attack is None else {"attack": self.attack.summary()}),
                **({} if self.methods is None else {"methods": self.methods.plain()}),
                "files": [str(f) for f in self.files],
                "warnings": list(self.warnings),
            }
            | ({} if self.anonymisation is None else {"anonymisation": self.anonymisation.summary()})
            | ({"pools": {name: self._pool_facts(name) for name in self.pools}} if self.pools else {})
        )

    def _facts(self, name: str) -> dict[str, Any]:
        return summary_of(self.tables[name]) | ({} if self.pools else self._protected(name))

    def _pool_facts(self, name: str) -> dict[str, Any]:
        pool = self.pools[name]
        return {"cells": pool.size, "shared": int(pool.shared.sum())} | self._protected(name)

    def _protected(self, name: str) -> dict[str, Any]:
        protected = {"suppression": self.suppressions[name].summary()} if name in self.suppressions else {}
        if name in self.noise:
            protected["noise"] = self.noise[name].summary()
        if name in self.perturbations:
            protected["perturbation"] = self.perturbations[name].summary()
        if name in self.perturbation_attacks:
            protected["perturbation attack"] = self.perturbation_attacks[name].summary()
        return protected


def summary_of(table: Table) -> dict[str, Any]:
    """Cells of a table by status, and primary cells by rule."""
    hit = table.rule if table.rule is not None else None
    rules = {n: int((hit >> i & 1).sum()) for i, n in enumerate(table.rules)} if hit is not None else {}
    return {
        "cells": table.size,
        "occupied": int((~table.empty).sum()),
        "status": {s.text: int((table.status == s).sum()) for s in Status if (table.status == s).any()},
        "rules": {n: c for n, c in rules.items() if c},
    }


def run_job(
    job: Job, folder: str | Path, progress: Progress | None = None, *, write: bool = True, largest: int = 0,
    watch: Watch | None = None,
) -> JobResult:  # fmt: skip
    """Do what a job says; files named in it are looked for, and written, in ``folder``.

    ``largest`` keeps more largest contributions than the rules of the job need, for rules applied later. ``watch`` is
    told the course of a search for an anonymous file.
    """
    here = Path(folder)
    say = progress or (lambda what, done, of: None)
    if job.anonymise is not None:
        return _run_anonymise(job, here, progress, write, watch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtectionWarning)
        if job.microdata is not None:
            files, facts, attack = run_microdata(job, here, _source(job, here)[0], progress, write=write)
            return JobResult({}, files, _care(caught), microdata=facts, attack=attack)
        if job.attack is not None:
            say("attacking", 0, 1)
            files, attack = run_attack(job, here, _source(job, here)[0], write=write)
            return JobResult({}, files, _care(caught), attack=attack)
        if job.compare is not None:
            return _run_compare(job, here, progress, write, caught)
        if job.tables:
            return _run_pool(job, here, progress, write, largest, caught)
        tables = _marked(job, here, progress, largest)
        rules = rules_of(job, next(iter(tables.values())).names)
        suppressions = suppress_tables(job, here, tables, rules, progress)
        tables |= {name: done.table for name, done in suppressions.items()}
        comparison = None
        if job.output.comparison and rules.rules:
            comparison = compare_rules(next(iter(tables.values())), rules)
        say("changing", 0, 1)
        noise = add_noise_by_key(job, here, tables)
        tables |= {name: done.table for name, done in noise.items()}
        changed = perturb_tables(job.perturbation, tables)
        tables |= {name: done.table for name, done in changed.items()}
        attacks = attack_tables(job.perturbation, changed)
        if job.output.publish and not suppressions and any((t.status == Status.PRIMARY).any() for t in tables.values()):
            _warn_unprotected(tables)
        care = _said(caught)
        files = _write(job, here, tables, suppressions, comparison, say, care) if write else ()
    return JobResult(
        tables, files, _care(caught), comparison, suppressions, noise=noise, perturbations=changed,
        perturbation_attacks=attacks,
    )  # fmt: skip


def _run_compare(
    job: Job, here: Path, progress: Progress | None, write: bool, caught: list[warnings.WarningMessage]
) -> JobResult:
    """All methods on the microdata of a job."""
    data, described = _source(job, here)
    by = {name: _hierarchy(job, here, name, data, described) for name in job.table.by}
    files, methods = run_compare(job, here, data, by, rules_of(job, job.table.by), progress, write=write)
    return JobResult({}, files, _care(caught), methods=methods)


def _marked(job: Job, here: Path, progress: Progress | None, largest: int) -> dict[str, Table]:
    """The tables of a job with their statuses: set by hand, and by the rules."""
    say = progress or (lambda what, done, of: None)
    tables = load_tables(job, here, progress, largest)
    _refuse_unknown_responses(job, tables)
    tables = {name: set_by_hand(table, job) for name, table in tables.items()}
    rules = rules_of(job, next(iter(tables.values())).names)
    ordered = [n for n, c in job.classifications.items() if c.ordered]
    if rules.rules:
        for done, (name, table) in enumerate(list(tables.items())):
            say("marking", done, len(tables))
            tables[name] = mark(table, rules, ordered=ordered)
    return tables


def _run_pool(
    job: Job, here: Path, progress: Progress | None, write: bool, largest: int,
    caught: list[warnings.WarningMessage],
) -> JobResult:  # fmt: skip
    """Linked tables: marked one by one, protected together, written one by one."""

    def load(name: str, one: Job) -> dict[str, Table]:
        # what is out already was judged when it was published
        return load_tables(one, here, progress) if job.tables[name].published else _marked(one, here, progress, largest)

    pools: dict[str, Pool] = pools_of(job, here, load, set_by_hand)
    suppressions = suppress_tables(job, here, pools, rules_of(job), progress)
    pools |= {r: done.table for r, done in suppressions.items() if isinstance(done.table, Pool)}
    single = {r: pool.split() for r, pool in pools.items()}
    tables = {name: {r: tables[name] for r, tables in single.items()} for name in job.tables}
    asked = unpublished(job)
    if not suppressions and any(one.output.publish for one in asked.values()):
        _warn_unprotected({n: t for name in asked for n, t in _named(name, tables[name]).items()})
    files: list[Path] = []
    if write:
        found = {r: each.split() for r, each in intervals_of(job, pools).items()}
        with all_or_none() as meanwhile:
            for name, one in asked.items():
                intervals = {r: each[name] for r, each in found.items()}
                files += _write_tables(one, here, tables[name], intervals, meanwhile, progress)
            files += _write_certificate(job, here, suppressions, meanwhile)
    shown = {n: t for name, several in tables.items() for n, t in _named(name, several).items()}
    return JobResult(shown, tuple(files), _care(caught), suppressions=suppressions, pools=pools)


def _named(name: str, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables of one name; with its response where there are several."""
    return {name if len(tables) == 1 else f"{name}, {response}": table for response, table in tables.items()}


def _said(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, ProtectionWarning)))


def _care(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """What deserves care, once each; other warnings are passed on."""
    for other in caught:
        if not issubclass(other.category, ProtectionWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return _said(caught)


def _run_anonymise(job: Job, here: Path, progress: Progress | None, write: bool, watch: Watch | None) -> JobResult:
    """Microdata to an anonymous file, with its report."""
    assert job.anonymise is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtectionWarning)
        data, described = _source(job, here)
        by = {name: _hierarchy(job, here, name, data, described) for name in job.anonymise.attributes}
        done = anonymise_file(job, here, data, by, progress, watch)
        files = write_anonymous(job, here, data, done) if write else ()
    return JobResult({}, files, _care(caught), anonymisation=done)


def _warn_unprotected(tables: Mapping[str, Table]) -> None:
    without = [n for n, t in tables.items() if not (t.status == Status.SECONDARY).any()]
    if without:
        warnings.warn(
            f"{listed(without)}: primary cells are hidden, but nothing keeps them from being computed back from sums; "
            "do not release this table before secondary suppression",
            ProtectionWarning,
            stacklevel=2,
        )


def load_tables(job: Job, here: Path, progress: Progress | None = None, largest: int = 0) -> dict[str, Table]:
    """The tables of a job before marking: tabulated, built from cells, or loaded."""
    if job.data.table:
        return load_working(here / job.data.table)
    if job.data.cells and job.data.metadata:
        table = _cell_list(job, here)
        return {table.response: table}
    data, described = _source(job, here)
    by = {name: _hierarchy(job, here, name, data, described) for name in job.table.by}
    asked = job.table
    if job.data.cells:
        return Table.from_cells(
            data, by=by, value=list(asked.value), count=asked.count, largest=list(asked.largest), status=asked.status,
            lower=asked.lower, upper=asked.upper, weight=asked.cost, positive=asked.positive,
            frequency=asked.frequency, tolerance=asked.tolerance,
        )  # fmt: skip
    rules = rules_of(job)
    ranked = max(largest_needed(rules) if rules.rules else 2, RANKED if job.cell_key is not None else 0)
    missing = {n: c.missing for n, c in job.classifications.items() if c.missing is not None}
    made = tabulate(
        data, by=by, value=list(asked.value) or None,
        largest=max(largest, ranked), weight=asked.weight, holding=asked.holding,
        waiver=_flag(asked.waiver), request=_flag(asked.request), public=_flag(asked.public), missing=missing,
        positive=asked.positive, engine=job.data.engine, progress=progress, key=record_key(job, described),
    )  # fmt: skip
    return made if isinstance(made, dict) else {made.response: made}


def _cell_list(job: Job, here: Path) -> Table:
    """A list of cells as its metadata describe it."""
    assert job.data.cells
    assert job.data.metadata
    asked = job.table
    table = read_cell_list(
        here / job.data.cells, here / job.data.metadata, value=asked.value[0] if asked.value else None,
        positive=asked.positive, tolerance=asked.tolerance,
    )  # fmt: skip
    if asked.by and list(asked.by) != list(table.names):
        raise BadOption(
            f"table.by lists {listed(asked.by)}, the metadata {listed(table.names)}",
            where=str(here / job.data.metadata),
            hint="leave table.by out: a list of cells has all of its classifications.",
        )
    return table


def _source(job: Job, here: Path) -> tuple[Any, Metadata | None]:
    name = job.data.microdata or job.data.cells
    assert name is not None
    path = here / name
    if job.data.metadata:
        described = read_metadata(here / job.data.metadata)
        return source(described, path, decimal=job.data.decimal, encoding=job.data.encoding), described
    asked = job.data
    return file_source(
        path, delimiter=asked.delimiter, decimal=asked.decimal, encoding=asked.encoding, sheet=asked.sheet
    ), None


def source_of(job: Job, here: Path) -> Any:
    """The records or cells a job reads, for whoever opens them."""
    return _source(job, here)[0]


def _hierarchy(job: Job, here: Path, name: str, data: Any, described: Metadata | None) -> Hierarchy | None:
    said = job.classifications.get(name)
    if said is not None and said.hierarchy:
        return read_hierarchy(here / said.hierarchy, total=said.total, lead=said.lead)
    if said is not None and said.prefixes:
        return Hierarchy.from_prefixes(_codes(data, name), said.prefixes, total=said.total or TOTAL)
    if described is not None:
        return classification(described, name, _codes(data, name))
    if said is not None:
        total = said.total or TOTAL
        codes = [c for c in _codes(data, name, blanks=bool(job.data.microdata)) if c != total]
        if said.missing is not None:
            codes = [c for c in codes if c not in (MISSING, said.missing)] + [said.missing]
        return Hierarchy.flat(codes, total=total)
    return None


def _codes(data: Any, name: str, blanks: bool = False) -> list[str]:
    """Distinct codes of a column; with ``blanks`` records without a code get one of their own."""
    relation = open_source(data)
    relation.require([name])
    code = relation.code(name)
    found = relation.query(f"SELECT DISTINCT {code} FROM {relation.view} ORDER BY 1")
    codes = [c for (c,) in found if c is not None]
    return codes + [MISSING] if blanks and len(codes) < len(found) else codes


def _flag(given: str | FlagColumn | None) -> str | tuple[str, list[str]] | None:
    return (given.column, given.codes) if isinstance(given, FlagColumn) else given


def _refuse_unknown_responses(job: Job, tables: Mapping[str, Table]) -> None:
    unknown = [each.response for each in job.status if each.response is not None and each.response not in tables]
    if unknown:
        raise BadOption(f"status: no response {listed(unknown)}", hint=f"the table has {listed(tables)}.")


def set_by_hand(table: Table, job: Job) -> Table:
    """Statuses the job sets cell by cell."""
    status = table.status.copy()
    for each in job.status:
        unknown = [n for n in each.cell if n not in table.by]
        if unknown:
            raise BadOption(
                f"status: no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}."
            )
        if each.response in (None, table.response):
            at = table.index(*(each.cell.get(n, h.total) for n, h in table.by.items()))
            status[at] = Status.from_text(each.status)
    return replace(table, status=status) if job.status else table


def _write(
    job: Job, here: Path, tables: Mapping[str, Table], suppressions: Mapping[str, Suppression],
    comparison: RuleComparison | None, say: Progress, care: Sequence[str],
) -> tuple[Path, ...]:  # fmt: skip
    """Write everything a job asks for, or nothing."""
    asked = job.output
    intervals = intervals_of(job, tables) if asked.publish else {}
    with all_or_none() as meanwhile:
        files = _write_tables(job, here, tables, intervals, meanwhile, say)
        files += _write_certificate(job, here, suppressions, meanwhile)
        if asked.report:
            facts = table_facts(job, suppressions, warnings=care)
            write_table_report(job, tables, facts, meanwhile(here / asked.report))
            files.append(here / asked.report)
        if asked.comparison and comparison is not None:
            plot_comparison(comparison, meanwhile(here / asked.comparison))
            files.append(here / asked.comparison)
    return tuple(files)


def _write_tables(
    job: Job, here: Path, tables: Mapping[str, Table], intervals: Mapping[str, Intervals],
    meanwhile: Callable[[Path], Path], progress: Progress | None,
) -> list[Path]:  # fmt: skip
    """Tables over the same classifications: for the public, to go on with, and for tau-ARGUS."""
    asked, files = job.output, list[Path]()
    say = progress or (lambda what, done, of: None)
    for name in asked.publish:
        say("writing", len(files), len(asked.publish))
        publish(
            tables, meanwhile(here / name),
            mark=asked.mark, counts=asked.counts, title=asked.title, language=asked.language,
            intervals=intervals,
        )  # fmt: skip
        files.append(here / name)
    if asked.working:
        # intervals that are published are known from then on
        known = {name: intervals[name].known() if name in intervals else table for name, table in tables.items()}
        save_working(known, meanwhile(here / asked.working))
        files.append(here / asked.working)
    if asked.tau_argus:
        for name, table in tables.items():
            target = here / asked.tau_argus / re.sub(r"\W+", "_", name)
            files += [target.with_name(f.name) for f in write_cell_list(table, meanwhile(target))]
    return files


def _write_certificate(
    job: Job, here: Path, suppressions: Mapping[str, Suppression], meanwhile: Callable[[Path], Path]
) -> list[Path]:
    if not job.output.certificate:
        return []
    audits = {name: each.audit for name, each in suppressions.items()}
    certificates = {name: certificate_of(report) for name, report in audits.items() if report is not None}
    write_certificate(certificates, meanwhile(here / job.output.certificate))
    return [here / job.output.certificate]
