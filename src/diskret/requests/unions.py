"""Groups of atoms whose sum anybody can compute, and which break the house's rules only when taken together.

Every atom is judged, and whoever is in one is an attacker of the others. That is enough for rules that one insider can
break: the p% rule, a minimum count of 3, dominance of one. Four firms, each an atom of its own and none of them known
to another, are still too few for a minimum count of 5 if their sum can be computed. Such a group is a combination of
shown cells in which every atom counts once or not at all: a programme in whole numbers finds one, or that there is
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.exact import exact
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.model.rule import Rule
from diskret.requests.shown import Atoms
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.rule import AnyOf

NODES = 20_000
"""Nodes after which a programme gives up: then it is undecided, and nothing is given."""
NEAR = 1e-7
"""Up to which a combination of cells, which count every atom once or not at all, is a group."""
HAIR = 1e-6
"""Relative size of contributions from which on a rule is broken for sure."""
Rows = npt.NDArray[np.bool_]


class Undecided(Enum):
    """What is neither found nor shown not to be there."""

    GAVE_UP = "gave up"


def broken_union(rows: Rows, atoms: Atoms, rules: AnyOf) -> Bools | Undecided | None:
    """Atoms whose sum follows from shown cells (one row each) and which together break a rule; None if there are none.

    >>> rows = np.array([[True, True, True, True, True], [False, False, False, False, True]])
    >>> one = np.ones((5, 1))
    >>> atoms = Atoms(of=np.arange(5), first=np.arange(5), value=one[:, 0], count=np.ones(5, np.int64), largest=one,
    ...               absolute=one[:, 0], decimals=0)
    >>> broken_union(rows, atoms, AnyOf((MinCount(5),))).tolist()
    [True, True, True, True, False]
    >>> broken_union(rows, atoms, AnyOf((MinCount(3),))) is None
    True
    """
    several = [rule for rule in rules if takes_several(rule)]
    if not several or not rows.size:
        return None
    shown = np.unique(rows, axis=0)
    undecided = False
    for rule in several:
        found = _found(shown, atoms, rule)
        if isinstance(found, np.ndarray):
            return found
        undecided |= found is Undecided.GAVE_UP
    return Undecided.GAVE_UP if undecided else None


def computable(groups: Rows, shown: Rows) -> Bools:
    """Which groups of atoms are a combination of shown cells.

    >>> rows = np.array([[True, True, True], [True, False, False]])
    >>> computable(np.array([[False, True, True], [False, False, True]]), rows).tolist()
    [True, False]
    """
    if not len(groups) or not len(shown):
        return np.asarray(~groups.any(axis=1))
    wanted, given = groups.T.astype(np.float64), shown.T.astype(np.float64)
    weights, *_ = np.linalg.lstsq(given, wanted, rcond=None)
    return np.asarray((np.abs(given @ weights - wanted) < NEAR).all(axis=0))


def takes_several(rule: Rule) -> bool:
    """Whether it takes more than one insider to break a rule: then it is not enough that each is guarded against."""
    if isinstance(rule, MinCount):
        return rule.n > 3
    return isinstance(rule, Dominance | PPercent | PQ) and rule.n > 1


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What a group must satisfy: a row over atoms, known and protected contributions, and how much it may be."""

    atom: Floats
    known: Floats
    """Per contribution, as one of those that know each other."""
    target: Floats
    """Per contribution, as the one they want to know."""
    most: float
    knowing: int
    targets: int
    allowed: Bools
    """Atoms that may be in it."""


def _wanted(atoms: Atoms, rule: Rule, contributions: Floats) -> _Wanted:
    """A rule as a sum that is at most so much: of atoms, and of contributions that are singled out."""
    size, nothing = atoms.absolute, np.zeros(contributions.size)
    every = np.ones(atoms.size, dtype=np.bool_)
    hair = HAIR * max(float(size.max(initial=0.0)), 1e-300)
    if isinstance(rule, MinCount):
        counts = atoms.count.astype(np.float64)
        return _Wanted(counts, nothing, nothing, rule.n - 1.0, 0, 0, atoms.count < rule.n)
    if isinstance(rule, Dominance):
        share = float(exact(rule.k) / 100)
        return _Wanted(share * size, -contributions, nothing, -hair, rule.n, 0, every)
    assert isinstance(rule, PPercent | PQ)
    p = float(rule.fraction)
    return _Wanted(size, -contributions, -(1 + p) * contributions, -hair, rule.n, 1, every)


def _found(shown: Rows, atoms: Atoms, rule: Rule) -> Bools | Undecided | None:
    """Such a group: columns are atoms, weights of shown cells, who knows, who is to be known."""
    rank = atoms.largest.shape[1]
    contributions = atoms.largest.reshape(-1)
    there = np.flatnonzero(contributions > 0)
    owner, contributions = there // rank, contributions[there]
    wanted = _wanted(atoms, rule, contributions)
    k, m, c = atoms.size, len(shown), contributions.size
    knows, aims = k + m, k + m + c
    where: list[tuple[Ints, Ints, Floats]] = []
    cell, atom = np.nonzero(shown)
    # what shown cells add up to is the group
    where.append((atom, k + cell, np.ones(atom.size)))
    where.append((np.arange(k), np.arange(k), np.full(k, -1.0)))
    lower, upper = [np.zeros(k)], [np.zeros(k)]
    at = k
    # the rule is broken
    where.append((np.full(k, at), np.arange(k), wanted.atom))
    where.append((np.full(c, at), knows + np.arange(c), wanted.known))
    where.append((np.full(c, at), aims + np.arange(c), wanted.target))
    # somebody contributes something; so many know each other, and want to know so many
    where.append((np.full(k, at + 1), np.arange(k), (atoms.largest[:, 0] > 0).astype(np.float64)))
    where.append((np.full(c, at + 2), knows + np.arange(c), np.ones(c)))
    where.append((np.full(c, at + 3), aims + np.arange(c), np.ones(c)))
    lower.append(np.array([-np.inf, 1.0, 0.0, wanted.targets]))
    upper.append(np.array([wanted.most, np.inf, wanted.knowing, wanted.targets]))
    at += 4
    # nobody is both, and only those in the group are either
    where.append((at + np.arange(c), knows + np.arange(c), np.ones(c)))
    where.append((at + np.arange(c), aims + np.arange(c), np.ones(c)))
    where.append((at + np.arange(c), owner, np.full(c, -1.0)))
    lower.append(np.full(c, -np.inf))
    upper.append(np.zeros(c))
    row, column, value = (np.concatenate(each) for each in zip(*where, strict=True))
    order = np.lexsort((column, row))
    start = np.searchsorted(row[order], np.arange(at + c + 1))
    in_group = wanted.allowed & shown.any(axis=0)
    singled = np.full(2 * c, 1.0 if wanted.knowing else 0.0)
    programme = Programme(
        Matrix(start.astype(np.int64), column[order].astype(np.int64), value[order], by_rows=True),
        (np.concatenate(lower), np.concatenate(upper)),
        lower=np.concatenate([np.zeros(k), np.full(m, -np.inf), np.zeros(2 * c)]),
        upper=np.concatenate([in_group.astype(np.float64), np.full(m, np.inf), singled]),
        whole=np.concatenate([np.ones(k, np.bool_), np.zeros(m, np.bool_), np.ones(2 * c, np.bool_)]),
        way=Way(nodes=NODES),
    )  # fmt: skip
    answer = programme.solve()
    if answer is Answer.OPTIMAL:
        return np.asarray(programme.point[:k] > 0.5)
    return None if answer is Answer.INFEASIBLE else Undecided.GAVE_UP
