"""Methods that change: everything is published, nothing is quite true, and what is certain is bounded."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from diskret.cellkey.cell_key import Scaling, perturb_by_key
from diskret.cellkey.cell_key_attack import attack_cell_keys
from diskret.comparison.outcome import Outcome, known_exactly, middle
from diskret.comparison.settings import Settings
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import ProtectionWarning
from diskret.model.table import Table
from diskret.perturbation.attack import attack_perturbed
from diskret.perturbation.bounds import tightened
from diskret.perturbation.perturb import perturb
from diskret.perturbation.result import Perturbation
from diskret.perturbation.rounding import round_table
from diskret.safe.anonymise import anonymise
from diskret.safe.control import Control
from diskret.safe.options import AnonymiseOptions
from diskret.safe.rematch import rematch
from diskret.tabulation.tabulate import tabulate

MOST_ATTACKED = 300
"""Primary cells that the attack on a changed table looks at, spread evenly."""


def by_cuboids(table: Table, settings: Settings) -> Outcome:
    """Primary values moved along cuboids; the attacker knows the moves and the limits of the errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        done = perturb(table, seed=settings.seed)
    notes = []
    if done.told.size:
        notes.append(f"{done.told.size} errors can be computed by whoever is alone in another changed cell")
    lower, upper = known_exactly(np.full(table.shape, np.nan), _positive(table))
    return _attacked("cuboid perturbation", done, lower, upper, notes)


def by_rounding(table: Table, settings: Settings, method: Literal["random", "controlled"]) -> Outcome:
    """All cells rounded; the attacker knows the base, and that true values add up."""
    base = settings.base_of(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        done = round_table(table, base, method=method, seed=settings.seed)
    notes = [f"base {base:g}"]
    if done.beyond.size:
        notes.append(f"{done.beyond.size} sums are a whole base or more away from their value")
    farthest = max(base, float(np.abs(done.change).max(initial=0.0)))
    lower, upper = done.table.value - farthest, done.table.value + farthest
    if _positive(table):
        lower = np.maximum(lower, 0.0)
    lower, upper = tightened(lower, upper, table.hierarchies, table.decimals)
    return _attacked(f"{method} rounding", done, lower, upper, notes)


def _attacked(method: str, done: Perturbation, lower: Floats, upper: Floats, notes: list[str]) -> Outcome:
    """What the attack on a changed table leaves of the bounds, where it looked."""
    found = attack_perturbed(done, most=MOST_ATTACKED)
    if found.cells.size < found.of:
        notes.append(f"{found.cells.size} of {found.of} primary cells were attacked; the others are bounded by sums")
    low, high = lower.reshape(-1).copy(), upper.reshape(-1).copy()
    low[found.cells] = np.maximum(low[found.cells], found.lower)
    high[found.cells] = np.minimum(high[found.cells], found.upper)
    lower, upper = low.reshape(lower.shape), high.reshape(upper.shape)
    shown = done.table.value
    return Outcome(method, shown, lower, upper, (shown, middle(lower, upper)), notes=tuple(notes))


def by_cell_key(table: Table, settings: Settings) -> Outcome:
    """Noise by cell keys; the attacker knows the perturbation table and the scaling, but no key."""
    p_table = settings.p_table_of(table.frequency)
    if table.frequency:
        noisy = perturb_by_key(table, p_table)
        shown = noisy.table.value
        found = attack_cell_keys(noisy)
        seen = f"one record more or less shows in a cell with probability {found.seen[0]:.2f} to {found.seen.max():.2f}"
        guesses = (found.line_best.astype(np.float64), found.best.astype(np.float64), shown)
        return Outcome("cell key", shown, found.lower, found.upper, guesses, notes=(seen,))
    scaling = settings.scaling or Scaling()
    noisy = perturb_by_key(table, p_table, scaling=scaling)
    shown = noisy.table.value
    if _positive(table):
        lower, upper = tightened(
            *_of_values(shown, p_table.most, scaling, table.decimals), table.hierarchies, table.decimals
        )
    else:
        # contributions of both signs may be far larger than what they add up to
        lower, upper = np.full(shown.shape, -np.inf), np.full(shown.shape, np.inf)
    return Outcome("cell key", shown, lower, upper, (shown, middle(lower, upper)))


def _positive(table: Table) -> bool:
    return table.positive or not bool((table.value < 0).any())


def _of_values(shown: Floats, most: float, scaling: Scaling, decimals: int | None) -> tuple[Floats, Floats]:
    """Bounds of values: noise reaches at most the largest share of the value, times the largest deviation."""
    share = scaling.small * (most + scaling.extra)
    rounding = 0.5 * 10.0**-decimals if decimals is not None else 0.0
    lower = np.where(shown > 0, np.maximum(shown - rounding, 0.0) / (1 + share), 0.0)
    upper = (shown + rounding) / (1 - share) if share < 1 else np.full(shown.shape, np.inf)
    return lower, upper


def by_safe(table: Table, records: Mapping[str, Any], settings: Settings) -> Outcome:
    """Anonymous microdata by SAFE, tabulated; the attacker knows the largest deviations, which are published."""
    by = dict(table.by)
    control = Control(up_to=min(3, len(by)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        options = AnonymiseOptions(time_limit=settings.time_limit)
        done = anonymise(records, by, control=control, k=settings.k, seed=settings.seed, options=options)
    notes = [] if done.complete else ["the search was stopped by the time limit: it could be better"]
    dimension = _dimensions(table)
    if table.frequency:
        shown = tabulate(done.frame, by=by).value
        reach = np.full(len(by) + 1, np.inf)
        reach[0] = 0.0
        for d, each in done.quality.by_dimension.items():
            reach[d] = each.maximum
        lower, upper = np.maximum(shown - reach[dimension], 0.0), shown + reach[dimension]
        lower, upper = tightened(lower, upper, table.hierarchies, table.decimals)
        return Outcome("SAFE", shown, lower, upper, (shown, middle(lower, upper)), notes=tuple(notes))
    notes.append("values stay with their records, which get the anonymous codes nearest to their own")
    joined = rematch(records, done).join([table.response])
    shown = tabulate(joined, by=by, value=table.response).value
    whole = np.where(dimension == 0, shown, np.nan)
    lower, upper = tightened(*known_exactly(whole, _positive(table)), table.hierarchies, table.decimals)
    return Outcome("SAFE", shown, lower, upper, (shown, middle(lower, upper)), notes=tuple(notes))


def _dimensions(table: Table) -> Ints:
    """In how many classifications a cell is no total."""
    found = np.zeros(table.shape, dtype=np.int64)
    for axis, hierarchy in enumerate(table.hierarchies):
        shape = [1] * len(table.shape)
        shape[axis] = len(hierarchy)
        found += (np.arange(len(hierarchy)) < len(hierarchy) - 1).astype(np.int64).reshape(shape)
    return found
