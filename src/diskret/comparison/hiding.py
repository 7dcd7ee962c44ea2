"""Methods that hide: suppression, published intervals, merging. What is published is true; the rest is attacked."""

from __future__ import annotations

import numpy as np

from diskret.auditing.audit import exact_intervals
from diskret.auditing.published_intervals import publishable_intervals
from diskret.comparison.options import ComparisonOptions
from diskret.comparison.outcome import IN_WHOLE, REAL, Outcome, known_exactly, middle, without_care
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.bounds import tightened
from diskret.perturbation.leeway import nonnegative
from diskret.perturbation.merging import Merging, propose_merging
from diskret.rules.rule import AnyOf, Rule
from diskret.suppression.methods import Moves
from diskret.suppression.suppress import suppress

MOST_ATTACKED = 300
"""Primary cells up to which a solver finds the exact interval of each; beyond, sums are used over and over."""


def suppressed(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The table with a pattern that an audit found safe, and what the audit says otherwise."""
    with without_care():
        done = suppress(table, method=Moves(zeros="allowed" if table.frequency else "marked"))
    notes = []
    if done.unprotected:
        notes.append(f"{len(done.unprotected)} primary cells cannot be protected by suppression")
    if done.audit is not None and not done.audit.safe:
        notes.append("the audit found cells exposed or could not decide")
    return done.table, tuple(notes)


def by_suppression(table: Table, hidden: Table, notes: tuple[str, ...]) -> Outcome:
    """Marks in the place of values; the attacker solves for them."""
    shown = np.where(hidden.hidden, np.nan, table.value)
    lower, upper = tightened(*known_exactly(shown, nonnegative(table)), table.hierarchies, table.decimals)
    lower, upper, more = _attacked(hidden, Knowledge.usual(), lower, upper)
    return Outcome(
        method="suppression", shown=shown, lower=lower, upper=upper, guesses=(middle(lower, upper),),
        notes=(*notes, *more),
    )  # fmt: skip


def by_intervals(table: Table, hidden: Table, notes: tuple[str, ...]) -> Outcome:
    """The same pattern, with intervals where they may be published; the attacker knows them too."""
    found = publishable_intervals(hidden)
    shown = np.where(hidden.hidden, np.nan, table.value)
    lower, upper = known_exactly(shown, nonnegative(table))
    lower, upper = np.fmax(lower, found.lower), np.fmin(upper, found.upper)
    lower, upper = tightened(lower, upper, table.hierarchies, table.decimals)
    known = found.known() if found.count else hidden
    lower, upper, more = _attacked(known, Knowledge.intervals() if found.count else Knowledge.usual(), lower, upper)
    given = f"{found.count} of {int(hidden.hidden.sum())} hidden cells may have an interval"
    return Outcome(
        method="intervals", shown=shown, lower=lower, upper=upper, guesses=(middle(lower, upper),),
        interval_only=found.count, notes=(given, *notes, *more),
    )  # fmt: skip


def _attacked(
    hidden: Table, knowledge: Knowledge, lower: Floats, upper: Floats
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Exact intervals of the primary cells by the solver, where they are not too many."""
    primary = np.flatnonzero(hidden.status == Status.PRIMARY)
    if not primary.size:
        return lower, upper, ()
    if primary.size > MOST_ATTACKED:
        return lower, upper, (f"intervals of more than {MOST_ATTACKED} primary cells are bounded from outside",)
    whole = hidden.size <= IN_WHOLE
    ends = exact_intervals(hidden, Promise(guard="public", knowledge=knowledge), whole=whole)
    low, high = lower.reshape(-1).copy(), upper.reshape(-1).copy()
    low[primary], high[primary] = np.fmax(low[primary], ends[0]), np.fmin(high[primary], ends[1])
    return low.reshape(lower.shape), high.reshape(upper.shape), (REAL,) if hidden.frequency and not whole else ()


# --- merging ---------------------------------------------------------------------------------------------------------


def best_merging(table: Table, rules: Rule | AnyOf, options: ComparisonOptions) -> Merging:
    """The merging of the classification asked for, or of the one that leaves the fewest primaries at the least loss."""
    names = [options.merge] if options.merge is not None else list(table.names)
    with without_care():
        found = [propose_merging(table, n, rules, ordered=n in options.ordered) for n in names]
    if not found:
        raise BadOption("nothing to merge", hint="the table has no classification.")
    return min(found, key=lambda m: (int((m.after.status == Status.PRIMARY).sum()), m.loss))


def by_merging(table: Table, rules: Rule | AnyOf, options: ComparisonOptions) -> Outcome:
    """Fewer categories, all of them true; what is left primary is hidden and nothing protects it."""
    merging = best_merging(table, rules, options)
    axis = table.names.index(merging.classification)
    old, new = table.by[merging.classification], merging.hierarchy
    left = merging.after.status == Status.PRIMARY
    after = np.moveaxis(np.where(left, np.nan, merging.after.value), axis, 0)
    shown = np.full((len(old), *after.shape[1:]), np.nan)
    for code in new.codes:
        if code in old:
            shown[old.index(code)] = after[new.index(code)]
    wide, rows = _with_groups(old, merging)
    known = np.full((len(wide), *after.shape[1:]), np.nan)
    known[rows] = shown
    for code in new.codes:
        if code not in old:
            known[wide.index(code)] = after[new.index(code)]
    hierarchies = [wide if a == axis else h for a, h in enumerate(table.hierarchies)]
    lower, upper = tightened(
        *known_exactly(np.moveaxis(known, 0, axis), nonnegative(table)), hierarchies, table.decimals
    )
    lower, upper = (np.moveaxis(np.moveaxis(b, axis, 0)[rows], 0, axis) for b in (lower, upper))
    notes = [f"merges {merging.classification}: {len(old)} codes become {len(new)}"]
    if not merging.removed:
        count = int(left.sum())
        notes.append(f"{count} primary cells stay and would still have to be suppressed; here only they are hidden")
    return Outcome(
        method="merging", shown=np.moveaxis(shown, 0, axis), lower=lower, upper=upper, guesses=(middle(lower, upper),),
        notes=tuple(notes), off=0,
    )  # fmt: skip


def _with_groups(old: Hierarchy, merging: Merging) -> tuple[Hierarchy, Ints]:
    """The old classification with the groups as further sums, and where its codes stand in it."""
    group_of: dict[str, str] = {}
    for group in merging.groups:
        first = group[0]
        while first not in merging.recode:
            first = old.parts(first)[0]
        name = merging.recode[first]
        if name not in old:
            group_of |= dict.fromkeys(group, name)
    pairs = []
    for code, parent in zip(old.codes, old.parents, strict=True):
        if parent < 0:
            continue
        above = old.codes[parent]
        if code in group_of:
            pairs.append((group_of[code], above))
            above = group_of[code]
        pairs.append((code, above))
    wide = Hierarchy.from_parents(list(dict.fromkeys(pairs)))
    return wide, np.array([wide.index(c) for c in old.codes], dtype=np.int64)
