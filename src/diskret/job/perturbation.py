"""The perturbation or rounding a job asks for."""

from __future__ import annotations

from collections.abc import Mapping

from diskret.job.form import RelativeKnowledge
from diskret.job.table_sections import PerturbationSection
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation
from diskret.perturbation.options import CuboidOptions
from diskret.perturbation.perturb import perturb
from diskret.perturbation.perturbation_attack import PerturbationAttack, attack_perturbed
from diskret.perturbation.rounding import round_table


def perturb_tables(asked: PerturbationSection | None, tables: Mapping[str, Table]) -> dict[str, Perturbation]:
    """Change every table of the job on its own; nothing if the job asks for no perturbation."""
    if asked is None:
        return {}
    if asked.method == "rounding":
        assert asked.base is not None
        return {
            name: round_table(table, asked.base, method=asked.rounding, seed=_seed(asked, number))
            for number, (name, table) in enumerate(tables.items())
        }
    options = CuboidOptions(
        max_relative_change=asked.max_relative_change, distribution=asked.distribution, min_count=asked.min_count
    )
    return {
        name: perturb(table, _promise(asked), options, seed=_seed(asked, number))
        for number, (name, table) in enumerate(tables.items())
    }


def attack_tables(asked: PerturbationSection | None, done: Mapping[str, Perturbation]) -> dict[str, PerturbationAttack]:
    """What somebody who knows the method finds out about the changed tables, if the job asks."""
    return {name: attack_perturbed(each) for name, each in done.items()} if asked is not None and asked.attack else {}


def _seed(asked: PerturbationSection, number: int) -> int | None:
    """Every table gets random numbers of its own: equal errors in two tables would tell of each other."""
    return None if asked.seed is None else asked.seed + number


def _promise(asked: PerturbationSection) -> Promise:
    said = asked.knowledge
    if isinstance(said, RelativeKnowledge):
        known = Knowledge.relative(said.relative, said.absolute)
    else:
        known = Knowledge(kind=said or "usual")
    return Promise(
        guard="single" if asked.single_contributors else "public", levels=asked.levels is not False, knowledge=known,
        min_relative_range=asked.min_relative_range, min_range=asked.min_range,
    )  # fmt: skip
