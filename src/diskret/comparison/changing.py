"""Methods that change: everything is published, nothing is quite true, and what is certain is bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from diskret.cellkey.cell_key import perturb_by_key
from diskret.cellkey.cell_key_attack import attack_cell_keys
from diskret.cellkey.options import Scaling
from diskret.comparison.options import ComparisonOptions
from diskret.comparison.outcome import IN_WHOLE, REAL, Outcome, known_exactly, middle, without_care
from diskret.model.arrays import Floats, Ints
from diskret.model.table import Table
from diskret.perturbation.bounds import tightened
from diskret.perturbation.changed_table import Perturbation
from diskret.perturbation.leeway import nonnegative
from diskret.perturbation.perturb import perturb
from diskret.perturbation.perturbation_attack import attack_perturbed
from diskret.perturbation.rounding import round_table
from diskret.safe.anonymise import anonymise
from diskret.safe.control import Control
from diskret.safe.options import AnonymiseOptions
from diskret.safe.rematch import rematch
from diskret.tabulation.options import TabulationOptions
from diskret.tabulation.tabulate import tabulate

MOST_ATTACKED = 300
"""Primary cells that the attack on a changed table looks at, spread evenly."""


def by_cuboids(table: Table, options: ComparisonOptions) -> Outcome:
    """Primary values moved along cuboids; the attacker knows the moves and the limits of the errors."""
    with without_care():
        done = perturb(table, seed=options.seed)
    notes = []
    if done.told.size:
        notes.append(f"{done.told.size} errors can be computed by whoever is alone in another changed cell")
    lower, upper = known_exactly(np.full(table.shape, np.nan), nonnegative(table))
    return _attacked("cuboid perturbation", done, lower, upper, notes)


def by_rounding(table: Table, options: ComparisonOptions, method: Literal["random", "controlled"]) -> Outcome:
    """All cells rounded; the attacker knows the base, and that true values add up."""
    base = options.base_of(table)
    with without_care():
        done = round_table(table, base, method=method, seed=options.seed)
    notes = [f"base {base:g}"]
    if done.beyond.size:
        notes.append(f"{done.beyond.size} sums are a whole base or more away from their value")
    farthest = max(base, float(np.abs(done.change).max(initial=0.0)))
    lower, upper = done.table.value - farthest, done.table.value + farthest
    if nonnegative(table):
        lower = np.maximum(lower, 0.0)
    lower, upper = tightened(lower, upper, table.hierarchies, table.decimals)
    return _attacked(f"{method} rounding", done, lower, upper, notes)


def _attacked(method: str, done: Perturbation, lower: Floats, upper: Floats, notes: list[str]) -> Outcome:
    """What the attack on a changed table leaves of the bounds, where it looked."""
    whole = done.before.size <= IN_WHOLE
    found = attack_perturbed(done, most=MOST_ATTACKED, whole=whole)
    if done.moves is None and done.before.frequency and not whole:
        notes.append(REAL)
    if found.cells.size < found.of:
        notes.append(f"{found.cells.size} of {found.of} primary cells were attacked; the others are bounded by sums")
    lower, upper = lower.copy(), upper.copy()
    lower.reshape(-1)[found.cells] = np.maximum(lower.reshape(-1)[found.cells], found.lower)
    upper.reshape(-1)[found.cells] = np.minimum(upper.reshape(-1)[found.cells], found.upper)
    return _outcome(method, done.table.value, (lower, upper), notes)


def _outcome(method: str, shown: Floats, bounds: tuple[Floats, Floats], notes: Sequence[str] = ()) -> Outcome:
    """Everything is shown; the attacker guesses what he sees, or the middle of what is possible."""
    return Outcome(
        method=method, shown=shown, lower=bounds[0], upper=bounds[1], guesses=(shown, middle(*bounds)),
        notes=tuple(notes),
    )  # fmt: skip


def by_cell_key(table: Table, options: ComparisonOptions) -> Outcome:
    """Noise by cell keys; the attacker knows the perturbation table and the scaling, but no key."""
    p_table = options.p_table_of(table.frequency)
    if table.frequency:
        noisy = perturb_by_key(table, p_table)
        shown = noisy.table.value
        found = attack_cell_keys(noisy)
        seen = f"one record more or less shows in a cell with probability {found.seen[0]:.2f} to {found.seen.max():.2f}"
        guesses = (found.line_best.astype(np.float64), found.best.astype(np.float64), shown)
        return Outcome(
            method="cell key", shown=shown, lower=found.lower, upper=found.upper, guesses=guesses, notes=(seen,)
        )
    scaling = options.scaling or Scaling()
    shown = perturb_by_key(table, p_table, scaling=scaling).table.value
    # contributions of both signs may be far larger than what they add up to
    bounds = np.full(shown.shape, -np.inf), np.full(shown.shape, np.inf)
    if nonnegative(table):
        bounds = tightened(*_of_values(shown, p_table.most, scaling, table.decimals), table.hierarchies, table.decimals)
    return _outcome("cell key", shown, bounds)


def _of_values(shown: Floats, most: float, scaling: Scaling, decimals: int | None) -> tuple[Floats, Floats]:
    """Bounds of values: noise reaches at most the largest share of the value, times the largest deviation."""
    share = scaling.small * (most + scaling.extra)
    rounding = 0.5 * 10.0**-decimals if decimals is not None else 0.0
    lower = np.where(shown > 0, np.maximum(shown - rounding, 0.0) / (1 + share), 0.0)
    upper = (shown + rounding) / (1 - share) if share < 1 else np.full(shown.shape, np.inf)
    return lower, upper


def by_safe(table: Table, records: Mapping[str, Any], options: ComparisonOptions) -> Outcome:
    """Anonymous microdata by SAFE, tabulated; the attacker knows the largest deviations, which are published."""
    by = dict(table.by)
    # what looks like a total was asked about when the table was made
    judged = TabulationOptions(categories={name: hierarchy.codes for name, hierarchy in by.items()})
    control = Control(up_to=min(3, len(by)))
    with without_care():
        done = anonymise(
            records, by, control=control, k=options.k, seed=options.seed,
            options=AnonymiseOptions(time_limit=options.time_limit),
        )  # fmt: skip
    notes = [] if done.complete else ["the search was stopped by the time limit: it could be better"]
    dimension = _dimensions(table)
    if table.frequency:
        shown = tabulate(done.frame, by=by, options=judged).value
        reach = np.full(len(by) + 1, np.inf)
        reach[0] = 0.0
        for d, each in done.quality.by_dimension.items():
            reach[d] = each.maximum
        bounds = np.maximum(shown - reach[dimension], 0.0), shown + reach[dimension]
    else:
        notes.append("values stay with their records, which get the anonymous codes nearest to their own")
        joined = rematch(records, done).join([table.response])
        shown = tabulate(joined, by=by, value=table.response, options=judged).value
        bounds = known_exactly(np.where(dimension == 0, shown, np.nan), nonnegative(table))
    return _outcome("SAFE", shown, tightened(*bounds, table.hierarchies, table.decimals), notes)


def _dimensions(table: Table) -> Ints:
    """In how many classifications a cell is not a total."""
    found: Ints = sum(at < size - 1 for at, size in zip(np.indices(table.shape), table.shape, strict=True))
    return found
