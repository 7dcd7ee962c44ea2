"""Tables in memory: of the present choice (marked, not yet protected) and of finished runs."""

from __future__ import annotations

import json
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from diskret.job.cures import cures_for
from diskret.job.loading import load_tables, set_by_hand
from diskret.job.outcome import summary_of
from diskret.job.paths import paths_in
from diskret.job.read import job_from
from diskret.job.rules import missing_of, rules_of
from diskret.job.table_job import TableJob
from diskret.model.errors import ProtectionWarning, listed
from diskret.model.table import Table
from diskret.rules.mark import mark
from diskret.rules.rule import largest_needed
from diskret.suppression.result import Suppression
from diskret.web.reading import Reading
from diskret.web.run_folders import Runs
from diskret.web.table_runs import load, unprotected_table
from diskret.web.workspace import Workspace

T = TypeVar("T")
DRAFT = "draft"
MOST = 3
"""Tables of each kind kept in memory."""


def load_draft(content: dict[str, Any], root: Path, largest: int) -> tuple[dict[str, Table], tuple[str, ...]]:
    """The tables of a choice before marking, and what deserves care in its data."""
    job = job_from(content, "the page", root, TableJob)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtectionWarning)
        with cures_for(job, root):
            tables = load_tables(job, root, largest=largest)
    return tables, care_in(caught)


def care_in(caught: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """What deserves care, each once."""
    return tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, ProtectionWarning)))


@dataclass(frozen=True, eq=False)
class Marked:
    """The tables of the present choice, marked, and what deserves care."""

    tables: Mapping[str, Table]
    warnings: tuple[str, ...]

    @cached_property
    def unprotected(self) -> Mapping[str, Suppression]:
        """The tables as a protection that has not begun."""
        return {name: unprotected_table(t) for name, t in self.tables.items()}

    def facts(self) -> dict[str, Any]:
        """How many cells each rule marks: counts only."""
        return {"tables": {n: summary_of(t) for n, t in self.tables.items()}, "warnings": list(self.warnings)}


@dataclass
class Tables:
    """What is shown, made when it is asked for the first time."""

    workspace: Workspace
    runs: Runs
    reading: Reading
    locks: dict[bool, threading.RLock] = field(
        default_factory=lambda: {True: threading.RLock(), False: threading.RLock()}, repr=False
    )
    """One for finished runs and one for the present choice: large data being read keep no finished table waiting."""
    kept: dict[str, OrderedDict[str, Any]] = field(default_factory=dict, repr=False)

    def get(self, run: str) -> Mapping[str, Suppression]:
        """The tables of a run by its name."""
        with self.runs.result(run) as folder:
            return self._kept("run", run, lambda: self.reading.do(load, folder, where=run))

    def marked(self, content: Mapping[str, Any]) -> Marked:
        """The choice tabulated and marked; only the rules are applied again if nothing else has changed."""
        self.workspace.refuse_outside(content)
        given = {key: each for key, each in content.items() if key not in ("output", "suppression")}
        job = job_from(given, "the page", self.workspace.root, TableJob)
        ranked = largest_needed(rules_of(job)) if rules_of(job).rules else 0
        basis = {key: given.get(key) for key in ("data", "table", "classifications")}
        # what the rules want to know is tabulated with the values
        wanted = [max(ranked, 2), job.rules.weighs, job.rules.request is not None]
        names = list(paths_in(basis))
        files = self.workspace.state_of(basis, closely=True)
        base = json.dumps([basis, files, wanted], sort_keys=True)
        whole = json.dumps([base, given.get("rules"), given.get("status")], sort_keys=True)

        def make() -> Marked:
            read = (load_draft, given, self.workspace.root, max(ranked, 2))
            rows, found = self._kept("tables", base, lambda: self.reading.do(*read, where=listed(names)))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ProtectionWarning)
                made = {name: set_by_hand(table, job.status) for name, table in rows.items()}
                rules = rules_of(job, next(iter(made.values())).names)
                ordered = [n for n, c in job.classifications.items() if c.ordered]
                if rules.rules:
                    missing = missing_of(job, self.workspace.root, next(iter(made.values())).names)
                    said: dict[str, Any] = {"min_level": job.rules.min_level, "signed": job.rules.signed}
                    made = {n: mark(t, rules, ordered=ordered, missing=missing, **said) for n, t in made.items()}
            return Marked(made, tuple(dict.fromkeys((*found, *care_in(caught)))))

        return self._kept("marked", whole, make)

    def _kept(self, kind: str, key: str, make: Callable[[], T]) -> T:
        # one choice at a time: warnings are caught for the whole process
        with self.locks[kind == "run"]:
            shelf = self.kept.setdefault(kind, OrderedDict())
            if key not in shelf:
                shelf[key] = make()
            shelf.move_to_end(key)
            while len(shelf) > MOST:
                shelf.popitem(last=False)
            found: T = shelf[key]
            return found
