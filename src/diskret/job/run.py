"""Running a job: read, tabulate, mark, protect, write. The CLI and the page both call `run_job`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from diskret.io.files import all_or_none
from diskret.job.anonymise import anonymise_file, write_anonymous
from diskret.job.attack import run_attack
from diskret.job.care import unguarded, unmarked
from diskret.job.loading import described_source, hierarchy_of, load_tables, set_by_hand
from diskret.job.microdata import run_microdata
from diskret.job.models import Job
from diskret.job.noise import add_noise_by_key, run_compare
from diskret.job.outputs import write_certificates, write_job_files, write_tables
from diskret.job.perturbation import attack_tables, perturb_tables
from diskret.job.pool import pools_of, unpublished
from diskret.job.result import JobResult
from diskret.job.rules import rules_of
from diskret.job.suppression import intervals_of, suppress_tables
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.table import Table
from diskret.rules.compare import compare_rules
from diskret.rules.mark import mark
from diskret.safe.history import Watch
from diskret.tabulation.tabulate import Progress


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
            files, facts, attack = run_microdata(job, here, described_source(job, here)[0], progress, write=write)
            return JobResult({}, files, _care(caught), microdata=facts, attack=attack)
        if job.attack is not None:
            say("attacking", 0, 1)
            files, attack = run_attack(job, here, described_source(job, here)[0], write=write)
            return JobResult({}, files, _care(caught), attack=attack)
        if job.compare is not None:
            return _run_compare(job, here, progress, write, caught)
        if job.tables:
            return _run_pool(job, here, progress, write, largest, caught)
        tables = _marked(job, here, progress, largest)
        rules = rules_of(job, next(iter(tables.values())).names)
        suppressions = suppress_tables(job, here, tables, progress)
        tables |= {name: done.table for name, done in suppressions.items()}
        comparison = None
        if job.output.comparison and rules.rules:
            comparison = compare_rules(next(iter(tables.values())), rules)
        say("changing", 0, 1)
        if _leaving(job) and not _changes_all(job):
            _warn(unmarked(tables))
        noise = add_noise_by_key(job, here, tables)
        tables |= {name: done.table for name, done in noise.items()}
        changed = perturb_tables(job.perturbation, tables)
        tables |= {name: done.table for name, done in changed.items()}
        attacks = attack_tables(job.perturbation, changed)
        if _leaving(job) and not suppressions:
            _warn(unguarded(tables))
        care = _said(caught)
        files = write_job_files(job, here, tables, suppressions, comparison, say, care) if write else ()
    return JobResult(
        tables, files, _care(caught), comparison, suppressions, noise=noise, perturbations=changed,
        perturbation_attacks=attacks,
    )  # fmt: skip


def _run_compare(
    job: Job, here: Path, progress: Progress | None, write: bool, caught: list[warnings.WarningMessage]
) -> JobResult:
    """All methods on the microdata of a job."""
    data, described = described_source(job, here)
    by = {name: hierarchy_of(job, here, name, data, described) for name in job.table.by}
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

    pools: dict[str, Table] = dict(pools_of(job, here, load, set_by_hand))
    suppressions = suppress_tables(job, here, pools, progress)
    pools |= {r: done.table for r, done in suppressions.items()}
    single = {r: pool.split() for r, pool in pools.items()}
    tables = {name: {r: tables[name] for r, tables in single.items()} for name in job.tables}
    asked = unpublished(job)
    if not suppressions and any(one.output.publish for one in asked.values()):
        _warn(unguarded({n: t for name in asked for n, t in _named(name, tables[name]).items()}))
    files: list[Path] = []
    if write:
        found = {r: each.split() for r, each in intervals_of(job, pools).items()}
        with all_or_none() as meanwhile:
            for name, one in asked.items():
                intervals = {r: each[name] for r, each in found.items()}
                files += write_tables(one, here, tables[name], intervals, meanwhile, progress)
            files += write_certificates(job, here, suppressions, meanwhile)
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
        data, described = described_source(job, here)
        by = {name: hierarchy_of(job, here, name, data, described) for name in job.anonymise.attributes}
        done = anonymise_file(job, here, data, by, progress, watch)
        files = write_anonymous(job, here, data, done) if write else ()
    return JobResult({}, files, _care(caught), anonymisation=done)


def _leaving(job: Job) -> bool:
    """Whether a job writes something that may leave the house."""
    return bool(job.output.publish or job.output.report)


def _changes_all(job: Job) -> bool:
    """Whether a job changes values that no rule has marked, too."""
    return job.cell_key is not None or (job.perturbation is not None and job.perturbation.method == "rounding")


def _warn(care: Iterable[str]) -> None:
    for words in care:
        warnings.warn(words, ProtectionWarning, stacklevel=2)


def _refuse_unknown_responses(job: Job, tables: Mapping[str, Table]) -> None:
    unknown = [each.response for each in job.status if each.response is not None and each.response not in tables]
    if unknown:
        raise BadOption(f"status: no response {listed(unknown)}", hint=f"the table has {listed(tables)}.")
