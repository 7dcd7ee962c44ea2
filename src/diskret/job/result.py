"""What a job made, and what may be said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.cellkey.cell_key import KeyedNoise
from diskret.comparison.compare import Comparison
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.attack import PerturbationAttack
from diskret.perturbation.result import Perturbation
from diskret.risk.judgement import Attack
from diskret.rules.compare import RuleComparison
from diskret.safe.result import Anonymisation
from diskret.suppression.result import Suppression


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
    pools: Mapping[str, Table] = field(default_factory=dict)
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
        if any(each.too_close.any() for each in self.perturbation_attacks.values()):
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
