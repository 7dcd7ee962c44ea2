"""The attack on counts with cell-key noise by somebody who knows the perturbation table, but no key.

Four ways to go about it. Asking again and averaging gives nothing: the same cell has the same noise. One cell alone:
the posterior of its true count, with a prior the attacker learns from the table itself. A sum with its parts: true
counts add up, perturbed ones do not, so every line tells more than its cells do. Two tables that differ by one record:
if any cell of the difference changes, the record is there, with certainty; that is the price of the same noise for the
same cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.cellkey import _key_kernels as kernels
from diskret.cellkey.cell_key import KeyedNoise
from diskret.cellkey.p_table import PTable
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption
from diskret.model.notebook import Told
from diskret.model.table import Table
from diskret.perturbation.bounds import tightened

LEARNED = 64
"""Counts up to which the attacker learns how frequent they are; larger ones are all alike to him."""
ROUNDS = 300
SURE = 0.95


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CellKeyAttack(Told):
    """What the attacker makes of every cell. Secret, like the original."""

    table: Table
    lower: Floats
    """Smallest true count that fits everything published."""
    upper: Floats
    best: Ints
    """The most probable true count, looking at the cell alone."""
    confidence: Floats
    """Its probability."""
    line_best: Ints
    """The same looking at the lines of the cell; where several lines tell something, the one that tells most."""
    line_confidence: Floats
    seen: Floats
    """Probability that taking one record out of a count of 1, 2, 3, ... shows; the last one for all larger counts."""
    original: Table | None = None

    @property
    def exact(self) -> Bools:
        """Cells whose true count is certain, though it may be any."""
        found: Bools = self.upper - self.lower < 0.5
        return found

    def summary(self, small: int = 3) -> dict[str, Any]:
        """Counts of cells; what was right only where the original is known. Small counts are below ``small``."""
        said: dict[str, Any] = {
            "cells": self.table.size,
            "certain": int(self.exact.sum()),
            "certain, published above 0": int((self.exact & (self.table.value > 0)).sum()),
            f"guessed with {SURE:.0%} from the cell": int((self.confidence >= SURE).sum()),
            f"guessed with {SURE:.0%} from its lines": int((self.line_confidence >= SURE).sum()),
            "one record seen by differencing, count 1": float(self.seen[0]),
            "one record seen by differencing, large counts": float(self.seen[-1]),
        }
        if self.original is None:
            return said
        true = np.rint(self.original.value).astype(np.int64)
        few = (true > 0) & (true < small)
        for name, where in (("all", np.ones(true.shape, dtype=np.bool_)), (f"counts 1 to {small - 1}", few)):
            n = max(1, int(where.sum()))
            said[f"{name}: cells"] = int(where.sum())
            said[f"{name}: share guessed right from the cell"] = float((self.best == true)[where].sum() / n)
            said[f"{name}: share guessed right from its lines"] = float((self.line_best == true)[where].sum() / n)
            sure = where & (self.line_confidence >= SURE)
            said[f"{name}: sure and right"] = int((sure & (self.line_best == true)).sum())
            said[f"{name}: sure and wrong"] = int((sure & (self.line_best != true)).sum())
            said[f"{name}: certain"] = int((self.exact & where).sum())
        return said

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {fact:.3f}" if isinstance(fact, float) else f"{name}: {fact:,}"
            for name, fact in self.summary().items()
        )


def attack_cell_keys(noisy: KeyedNoise | Table, p_table: PTable | None = None) -> CellKeyAttack:
    """Attack published counts, knowing the perturbation table. With a `KeyedNoise` the guesses are judged as well.

    >>> from diskret import Roles, design_p_table, draw_keys, perturb_by_key, tabulate
    >>> people = {"region": ["N"] * 5 + ["S"] * 2, "rkey": draw_keys(7, seed=1)}
    >>> counts = tabulate(people, by={"region": None}, roles=Roles(key="rkey"))
    >>> noise = perturb_by_key(counts, design_p_table(deviation=2, variance=1))
    >>> found = attack_cell_keys(noise)
    >>> noise.table.value.tolist(), found.lower.tolist(), found.upper.tolist()
    ([6.0, 1.0, 6.0], [4.0, 1.0, 5.0], [7.0, 3.0, 8.0])
    """
    table = noisy.table if isinstance(noisy, KeyedNoise) else noisy
    known = p_table or (noisy.p_table if isinstance(noisy, KeyedNoise) else None)
    if known is None:
        raise BadOption("the attack needs the perturbation table", hint="give p_table=....")
    if not table.frequency or not known.counts or table.weighted:
        raise BadOption("the attack is about counts of records", hint="give an unweighted frequency table.")
    shown = np.rint(table.value).astype(np.int64)
    rows, reach = transitions(known)
    low, high = possible(shown, rows, reach)
    low, high = tightened(low, high, table.hierarchies, decimals=0)
    prior = learned_prior(shown, rows, reach)
    best, confidence = _single(shown, prior, rows, reach)
    line_best, line_confidence = _lines(table, shown, prior, rows, reach, best, confidence)
    original = noisy.original if isinstance(noisy, KeyedNoise) else None
    return CellKeyAttack(
        table=table, lower=low, upper=high, best=best, confidence=confidence, line_best=line_best,
        line_confidence=line_confidence, seen=seen_by_differencing(known), original=original,
    )  # fmt: skip


def transitions(p_table: PTable) -> tuple[Floats, int]:
    """Probabilities as a dense array: row i, column v + reach."""
    rows, reach = p_table.rows(), int(p_table.most)
    dense = np.zeros((rows.cell.size, 2 * reach + 1))
    for r in range(rows.cell.size):
        v, p = rows.row(r)
        dense[r, np.rint(v).astype(np.int64) + reach] = p
    return dense, reach


def _behind(shown: Ints, rows: Floats, reach: int) -> Iterator[tuple[Ints, Floats]]:
    """Every true count that may be behind each published one, with the probability that it is published so."""
    for v in range(-reach, reach + 1):
        true = shown - v
        yield true, np.where(true >= 0, rows[np.clip(true, 0, rows.shape[0] - 1), v + reach], 0.0)


def possible(shown: Ints, rows: Floats, reach: int) -> tuple[Floats, Floats]:
    """Smallest and largest true count behind every published one."""
    low, high = np.full(shown.shape, np.inf), np.full(shown.shape, -np.inf)
    for true, p in _behind(shown, rows, reach):
        low = np.where(p > 0, np.minimum(low, true), low)
        high = np.where(p > 0, np.maximum(high, true), high)
    if not np.isfinite(low).all():
        raise BadOption(
            "the table holds counts that the perturbation table cannot make", hint="is it the table that was used?"
        )
    return low, high


def learned_prior(shown: Ints, rows: Floats, reach: int) -> Floats:
    """How frequent true counts are, from the published ones, by expectation maximisation; the last for all larger.

    The noise mixes neighbouring counts in a known way, so their true frequencies can be estimated however wrong each
    single count is. Smoothing after every step keeps the estimate from following chance.
    """
    top = LEARNED + reach
    last = rows.shape[0] - 1
    mixing = np.zeros((LEARNED + 1, top + 1))
    for i in range(LEARNED + 1):
        for v in range(-reach, reach + 1):
            if i + v >= 0:
                mixing[i, i + v] = rows[min(i, last), v + reach]
    observed = np.bincount(shown[shown <= top].reshape(-1), minlength=top + 1).astype(np.float64)
    prior = np.full(LEARNED + 1, 1.0 / (LEARNED + 1))
    for _ in range(ROUNDS):
        expected = prior @ mixing
        share = np.divide(observed, expected, out=np.zeros(top + 1), where=expected > 0)
        prior = prior * (mixing @ share)
        if prior.sum() <= 0:
            return np.ones(LEARNED + 1)
        prior = _smoothed(prior / prior.sum())
    # estimated frequencies of exactly zero would be certainty where there is none
    floor: Floats = np.maximum(prior, 1e-6)
    return floor


def _smoothed(prior: Floats) -> Floats:
    """Neighbouring counts lent to each other; zeros are a matter of their own."""
    padded = np.concatenate([prior[1:2], prior[1:], prior[-1:]])
    smooth = prior.copy()
    smooth[1:] = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    return smooth


def _single(shown: Ints, prior: Floats, rows: Floats, reach: int) -> tuple[Ints, Floats]:
    """The most probable true count of every cell by itself, and its probability."""
    best, top, whole = np.zeros(shown.shape, dtype=np.int64), np.full(shown.shape, -1.0), np.zeros(shown.shape)
    for true, chance in _behind(shown, rows, reach):
        p = chance * prior[np.clip(true, 0, prior.size - 1)]
        best = np.where(p > top, true, best)
        top = np.maximum(top, p)
        whole += p
    return best, np.divide(top, whole, out=np.zeros(shown.shape), where=whole > 0)


def _lines(
    table: Table, shown: Ints, prior: Floats, rows: Floats, reach: int, best: Ints, confidence: Floats
) -> tuple[Ints, Floats]:
    """The best guess over all lines in which a cell is a part."""
    best, confidence = best.copy(), confidence.copy()
    for axis, hierarchy in enumerate(table.hierarchies):
        moved = np.moveaxis(shown, axis, -1)
        best_here, sure_here = np.moveaxis(best, axis, -1), np.moveaxis(confidence, axis, -1)
        for parent, at in enumerate(hierarchy.part_index):
            if not at.size:
                continue
            parts = np.ascontiguousarray(moved[..., at].reshape(-1, at.size))
            total = np.ascontiguousarray(moved[..., parent].reshape(-1))
            found, sure = np.zeros(parts.shape, dtype=np.int64), np.zeros(parts.shape)
            kernels.family_posteriors(parts, total, prior, rows, reach, found, sure)
            shape = (*moved.shape[:-1], at.size)
            better = sure.reshape(shape) > sure_here[..., at]
            best_here[..., at] = np.where(better, found.reshape(shape), best_here[..., at])
            sure_here[..., at] = np.where(better, sure.reshape(shape), sure_here[..., at])
    return best, confidence


def seen_by_differencing(p_table: PTable) -> Floats:
    """The probability that two published counts differ when one has a record more: counts of 1, 2, ..., and larger.

    Both cells have keys of their own. Without the record they would be the same cell, with the same noise: any
    difference proves that the record is there.

    >>> from diskret import design_p_table
    >>> seen_by_differencing(design_p_table(deviation=5, variance=2, smallest=3)).round(2).tolist()
    [0.33, 0.56, 0.61, 0.74, 0.8, 0.83, 0.83, 0.82, 0.82]
    """
    rows, _ = transitions(p_table)
    last = rows.shape[0] - 1
    found = []
    for n in range(1, last + 2):
        larger, smaller = rows[min(n, last)], rows[min(n - 1, last)]
        # published alike: n + v = n - 1 + w, so w = v + 1
        found.append(1.0 - float(larger[:-1] @ smaller[1:]))
    return np.array(found)
