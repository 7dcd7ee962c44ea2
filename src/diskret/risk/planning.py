"""Planning help: which levels to merge so that no more persons than tolerated can be singled out.

Step by step the merge with the largest fall of the estimate per lost level is taken, until the estimate is tolerable.
Nothing merges unless it is said that it may: levels of ordered attributes with their neighbours, those of attributes
named as free with any other. Whether female and male may become one is for people to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, prod
from typing import Any, Literal

import numpy as np

from diskret.model.errors import BadOption, listed
from diskret.model.notebook import Told
from diskret.risk.estimate import cell_products, expected_singles, percent_of
from diskret.risk.section import Section
from diskret.risk.shares import Block, Population, read_shares

By = Literal["orwell", "expected"]


@dataclass(frozen=True, kw_only=True)
class Merge:
    """One step: two levels of an attribute become one."""

    attribute: str
    levels: tuple[str, str]
    singles: float
    """Singly occupied cells estimated after it."""
    percent: int

    @property
    def label(self) -> str:
        """Name of the level that comes out."""
        return " + ".join(self.levels)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MergePlan(Told):
    """The steps of a plan, where they lead, and what would help instead."""

    n: int
    tolerated: float
    by: By
    before: float
    """Singly occupied cells estimated for the levels as given."""
    merges: tuple[Merge, ...]
    levels: Mapping[str, tuple[str, ...]]
    """Levels that remain, by attribute."""
    reached: bool
    persons_needed: int | None
    """How many persons would do without merging anything; None where that is not simply known."""

    def __str__(self) -> str:
        lines = [f"{self.n} persons, tolerated {100 * self.tolerated:g} %, before: {self._share(self.before)}"]
        lines += [f"  {m.attribute}: {m.label}: {self._share(m.singles)}" for m in self.merges]
        if not self.reached:
            lines.append("  not reached: nothing is left that may merge")
        if self.persons_needed is not None and (self.merges or not self.reached):
            lines.append(f"  instead of merging: {self.persons_needed:,} persons")
        return "\n".join(lines)

    def _share(self, singles: float) -> str:
        return f"{singles:.4g} alone, {percent_of(singles, self.n)} %"

    def section(self) -> Section:
        """What a report says about it."""
        rows = tuple((i, m.attribute, m.label, round(m.singles, 2), m.percent) for i, m in enumerate(self.merges, 1))
        text = f"{self.n} persons; tolerated are {100 * self.tolerated:g} percent. " + (
            "The levels as given are fine." if self.reached and not rows else
            "After these merges the estimate is tolerable." if self.reached else
            "The tolerated share is not reached by merging."
        )  # fmt: skip
        return Section(
            title="Levels to merge", text=text, columns=("step", "attribute", "merged", "alone", "percent"), rows=rows
        )


def plan_merges(
    shares: Mapping[Any, Any],
    *,
    n: int,
    tolerated: float,
    ordered: Sequence[str] = (),
    freely: Sequence[str] = (),
    keep: Sequence[str] = (),
    by: By = "orwell",
) -> MergePlan:
    """Which levels to merge so that at most a share ``tolerated`` of ``n`` persons is estimated to be alone.

    ``ordered`` names attributes whose levels merge with their neighbours, ``freely`` attributes whose levels may merge
    with any other. All others stay as they are, and those in ``keep`` whatever else is said. ``by`` is the estimate
    that counts: the ORWELL coefficient, or what sampling theory expects.

    >>> people = {"sex": [0.5, 0.5], "age": {"-20": 0.2, "20-40": 0.3, "41-60": 0.3, "61-": 0.2}}
    >>> print(plan_merges(people, n=100, tolerated=0.06, ordered=["age"]))
    100 persons, tolerated 6 %, before: 8 alone, 8 %
      age: 20-40 + 41-60: 5 alone, 5 %
      instead of merging: 134 persons
    """
    population = read_shares(shares)
    _refuse_bad_options(population, n, tolerated, [*ordered, *freely, *keep], by)
    both = [name for name in ordered if name in freely]
    if both:
        hint = "name each once: in ordered for neighbours only, in freely for any levels."
        raise BadOption(f"{listed(both)} both ordered and merged freely", hint=hint)
    reach = dict.fromkeys(ordered, 1) | {name: len(_levels(population)[name]) for name in freely}
    reach |= dict.fromkeys(keep, 0)
    before = now = _estimated(population, n, by)
    merges: list[Merge] = []
    while now > tolerated * n:
        best = min(
            ((_estimated(made, n, by, exactly=True), i, made, step)
             for i, (made, step) in enumerate(_candidates(population, reach))),
            key=lambda found: found[:2],
            default=None,
        )  # fmt: skip
        if best is None:
            break
        _, _, population, (attribute, pair) = best
        now = _estimated(population, n, by)
        merges.append(Merge(attribute=attribute, levels=pair, singles=now, percent=percent_of(now, n)))
    needed = ceil(before / tolerated) if by == "orwell" else None
    return MergePlan(
        n=int(n),
        tolerated=tolerated,
        by=by,
        before=before,
        merges=tuple(merges),
        levels=_levels(population),
        reached=now <= tolerated * n,
        persons_needed=needed,
    )


def _refuse_bad_options(population: Population, n: int, tolerated: float, named: Sequence[str], by: By) -> None:
    unknown = [name for name in named if name not in population.names]
    if unknown:
        raise BadOption(f"no attribute {listed(unknown)}", hint=f"there are {listed(population.names)}.")
    if not 0 < tolerated <= 1:
        raise BadOption("the tolerated share does not lie between 0 and 1", hint="give 0.05 for 5 percent.")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise BadOption("n is not a number of persons", hint="give a whole number from 1.")
    if by not in ("orwell", "expected"):
        raise BadOption(f"no estimate by {by!r} to plan with", hint="choose 'orwell' or 'expected'.")


def _estimated(population: Population, n: int, by: By, exactly: bool = False) -> float:
    """Singly occupied cells; the ORWELL coefficient is rounded half up, except for comparing merges exactly."""
    if by == "orwell":
        return population.orwell if exactly else floor(population.orwell + 0.5)
    found = expected_singles(cell_products(population), n)
    if found is None:
        cells = prod(b.shares.size for b in population.blocks)
        raise BadOption(f"{cells:,} cells are too many to expect over", hint="plan by='orwell'.")
    return found


def _levels(population: Population) -> dict[str, tuple[str, ...]]:
    return {name: b.levels[b.names.index(name)] for b in population.blocks for name in b.names}


def _candidates(
    population: Population, reach: Mapping[str, int]
) -> Iterator[tuple[Population, tuple[str, tuple[str, str]]]]:
    """Every population after one merge, with the attribute and the two levels.

    ``reach`` says how far apart two levels of an attribute may stand to be merged; attributes it lacks stay.
    """
    for at, block in enumerate(population.blocks):
        for axis, name in enumerate(block.names):
            size = len(block.levels[axis])
            for i in range(size):
                for j in range(i + 1, min(i + 1 + reach.get(name, 0), size)):
                    blocks = list(population.blocks)
                    blocks[at] = _merged(block, axis, i, j)
                    yield (
                        replace(population, blocks=tuple(blocks)),
                        (name, (block.levels[axis][i], block.levels[axis][j])),
                    )


def _merged(block: Block, axis: int, i: int, j: int) -> Block:
    shares = np.delete(block.shares, j, axis=axis)
    at = [slice(None)] * shares.ndim
    at[axis] = slice(i, i + 1)
    shares[tuple(at)] += np.take(block.shares, [j], axis=axis)
    own = block.levels[axis]
    names = tuple(f"{own[i]} + {own[j]}" if k == i else level for k, level in enumerate(own) if k != j)
    levels = (*block.levels[:axis], names, *block.levels[axis + 1 :])
    return Block(names=block.names, levels=levels, shares=shares)
