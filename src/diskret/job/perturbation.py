"""The perturbation, rounding or adjustment a job asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from diskret.job.form import RelativeKnowledge
from diskret.job.suppression import promise_of
from diskret.job.table_sections import AdjustmentSection, PerturbationSection
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.table import Table

if TYPE_CHECKING:
    from diskret.job.suppression import Protecting
    from diskret.perturbation.adjusted_table import Adjustment
    from diskret.perturbation.changed_table import Perturbation
    from diskret.perturbation.perturbation_attack import PerturbationAttack


def perturb_tables(asked: PerturbationSection | None, tables: Mapping[str, Table]) -> dict[str, Perturbation]:
    """Change every table of the job on its own; nothing if the job asks for no perturbation."""
    if asked is None:
        return {}
    from diskret.perturbation.options import CuboidOptions
    from diskret.perturbation.perturb import perturb
    from diskret.perturbation.rounding import round_table

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


def adjust_tables(job: Protecting, tables: Mapping[str, Table]) -> dict[str, Adjustment]:
    """Adjust every table or pool of the job on its own; nothing if the job asks for no adjustment."""
    asked = job.adjustment
    if asked is None:
        return {}
    from diskret.perturbation.adjustment import adjust

    said = {key: getattr(asked, key) for key in ("distance", "weights", "directions", "whole", "seconds")}
    return {name: adjust(table, promise_of(job, table), **said) for name, table in tables.items()}


def attack_tables(
    asked: PerturbationSection | AdjustmentSection | None, done: Mapping[str, Perturbation]
) -> dict[str, PerturbationAttack]:
    """What somebody who knows the method finds out about the changed tables, if the job asks."""
    if asked is None or not asked.attack:
        return {}
    from diskret.perturbation.perturbation_attack import attack_perturbed

    return {name: attack_perturbed(each) for name, each in done.items()}


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
