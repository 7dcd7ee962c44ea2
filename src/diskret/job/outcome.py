"""What a run of a job is told, what it made, and what may be said about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskret.model.arrays import Floats
from diskret.model.errors import ProtectionWarning
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.origin import Origin
from diskret.rules.compare import RuleComparison
from diskret.suppression.result import Suppression
from diskret.tabulation.tabulate import Progress

if TYPE_CHECKING:
    from diskret.cellkey.cell_key import KeyedNoise
    from diskret.comparison.compare import Comparison
    from diskret.perturbation.changed_table import Perturbation
    from diskret.perturbation.perturbation_attack import PerturbationAttack
    from diskret.risk.anonymity import Anonymity
    from diskret.risk.judgement import Attack
    from diskret.risk.measure import FileRisk
    from diskret.safe.anonymisation import Anonymisation
    from diskret.safe.file_attack import FileAttack
    from diskret.safe.history import Watch


@dataclass(frozen=True, kw_only=True, eq=False)
class Running:
    """What a job is told when it runs: where its files are, whom to tell, and whether to write."""

    here: Path
    progress: Progress | None = None
    write: bool = True
    largest: int = 0
    """More largest contributions than the rules of the job need, for rules applied later."""
    watch: Watch | None = None
    """Told the course of a search for an anonymous file."""
    caught: list[warnings.WarningMessage] = field(default_factory=list)
    """Warnings of this run so far."""
    prices: dict[str, Floats] = field(default_factory=dict)
    """Prices that files give to cells, by response."""
    origin: Origin = field(default_factory=Origin)
    """What the run reads, for the head of its reports."""

    def say(self, what: str, done: int, of: int) -> None:
        """Tell the progress, if anybody listens."""
        if self.progress is not None:
            self.progress(what, done, of)

    def warn(self, words: Iterable[str]) -> None:
        """Tell what deserves care."""
        for each in words:
            warnings.warn(each, ProtectionWarning, stacklevel=2)

    def said(self) -> tuple[str, ...]:
        """What deserves care so far, once each."""
        own = [str(w.message) for w in self.caught if issubclass(w.category, ProtectionWarning)]
        return tuple(dict.fromkeys(own))


@dataclass(frozen=True, kw_only=True, eq=False)
class JobResult:
    """What a job made: tables, files, and what deserves care."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    comparison: RuleComparison | None = None
    suppressions: Mapping[str, Suppression] = field(default_factory=dict)
    microdata: Mapping[str, Any] | None = None
    attack: Attack | None = None
    anonymisation: Anonymisation | None = None
    file_attack: FileAttack | None = None
    """What an attacker learns of the anonymous file."""
    pools: Mapping[str, Table] = field(default_factory=dict)
    """Linked tables as one, by their response; then suppressions are those of the pools."""
    noise: Mapping[str, KeyedNoise] = field(default_factory=dict)
    methods: Comparison | None = None
    anonymity: Anonymity | None = None
    risk: FileRisk | None = None
    perturbations: Mapping[str, Perturbation] = field(default_factory=dict)
    perturbation_attacks: Mapping[str, PerturbationAttack] = field(default_factory=dict)
    read: Mapping[str, Any] = field(default_factory=dict)
    """What was found of how the data are to be read, by the keys of a job."""
    prices: dict[str, Floats] = field(default_factory=dict)
    """Prices that files give to cells, by response."""
    origin: Origin = field(default_factory=Origin)
    """What was read."""

    @property
    def exposed(self) -> bool:
        """Whether an audit found cells that can be computed too closely, or an attack too many units."""
        if any(each is not None and not each.safe for each in (self.attack, self.file_attack)):
            return True
        if any(each.too_close.any() for each in self.perturbation_attacks.values()):
            return True
        return any(s.audit is not None and not s.audit.safe for s in self.suppressions.values())

    @property
    def stopped(self) -> bool:
        """Whether the user ended a search, of which the best so far was kept."""
        return self.anonymisation is not None and self.anonymisation.stopped

    def summary(self) -> dict[str, Any]:
        """Counts and names only: fit to be printed or logged."""
        found = {
            "tables": {name: self._facts(name) for name in self.tables},
            "microdata": self.microdata,
            "attack": self.attack and self.attack.summary(),
            "anonymity": self.anonymity and {"k": self.anonymity.k, "alone": self.anonymity.alone},
            "risk": self.risk and {"records": self.risk.records, "alone": self.risk.alone},
            "methods": self.methods and self.methods.plain(),
            "files": [str(f) for f in self.files],
            "warnings": list(self.warnings),
            "anonymisation": self.anonymisation and self.anonymisation.summary(),
            "file attack": self.file_attack and {"safe": self.file_attack.safe, "at least": self.file_attack.least},
            "read": dict(self.read) or None,
            "pools": {name: self._pool_facts(name) for name in self.pools} or None,
        }
        return {key: each for key, each in found.items() if each is not None}

    def _facts(self, name: str) -> dict[str, Any]:
        return summary_of(self.tables[name]) | ({} if self.pools else self._protected(name))

    def _pool_facts(self, name: str) -> dict[str, Any]:
        pool = self.pools[name]
        return {"cells": pool.size, "shared": int(pool.shared.sum())} | self._protected(name)

    def _protected(self, name: str) -> dict[str, Any]:
        done: dict[str, Mapping[str, Any]] = {
            "suppression": self.suppressions, "noise": self.noise, "perturbation": self.perturbations,
            "perturbation attack": self.perturbation_attacks,
        }  # fmt: skip
        return {what: each[name].summary() for what, each in done.items() if name in each}


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
