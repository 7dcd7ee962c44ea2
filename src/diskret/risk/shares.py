"""Shares of a population over its attributes: exact, checked, independent of each other or given by joint tables.

Shares are taken as printed: 0.33 is 33/100, not a third. Expectations that lie on a boundary, such as
0.5 * 0.5 * 0.4 * 10 = 1, are then decided exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import exp, log, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption, BadShares, listed
from diskret.model.exact import short_decimal

Exact = npt.NDArray[np.object_]
MOST_JOINT_CELLS = 2_000_000
MOST_OFF = Fraction(2, 100)
NEGLIGIBLE = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """Attributes whose joint shares are known; attributes of different blocks are independent.

    ``levels`` holds the labels of each attribute, ``shares`` one exact number per combination of levels.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    shares: Exact

    def margin(self, names: Sequence[str]) -> Exact:
        """Shares over some of the attributes, in the order asked for."""
        kept = [self.names.index(n) for n in names]
        rest = tuple(i for i in range(len(self.names)) if i not in kept)
        summed = self.shares.sum(axis=rest) if rest else self.shares
        order = np.argsort(np.argsort(kept))
        return np.transpose(summed, order) if len(kept) > 1 else summed

    @property
    def uncertainty(self) -> float:
        """U = - sum p ln p, with 0 ln 0 = 0 (formula 13, here with base e)."""
        return -sum(float(p) * log(p) for p in self.shares.reshape(-1) if p > 0)

    @property
    def effective_levels(self) -> float:
        """A = exp U, the number of combinations used on average (formulas 14 and 15)."""
        return exp(self.uncertainty)


@dataclass(frozen=True, eq=False, kw_only=True)
class Population:
    """Independent blocks of attributes."""

    blocks: tuple[Block, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes, in the order they were given."""
        return tuple(n for b in self.blocks for n in b.names)

    @property
    def levels(self) -> dict[str, int]:
        """How many levels of each attribute have a share above zero."""
        return {n: int((b.margin([n]) > 0).sum()) for b in self.blocks for n in b.names}

    @property
    def orwell(self) -> float:
        """The ORWELL coefficient: product of the effective levels (formula 17)."""
        return prod(b.effective_levels for b in self.blocks)


def read_shares(given: Mapping[Any, Any]) -> Population:
    """Shares as a user writes them; refuses what does not sum to one.

    A key is the name of an attribute, with a list of shares or a dict from level to share. A tuple of names stands for
    a joint table: nested lists, or a dict from tuples of levels to shares. Tables that have attributes in common are
    joined so that nothing else is assumed than what they say (largest entropy).

    >>> people = read_shares({"sex": [0.5, 0.5], ("age", "school"): [[0.1, 0.3], [0.4, 0.2]]})
    >>> people.levels, round(people.orwell, 2)
    ({'sex': 2, 'age': 2, 'school': 2}, 7.19)
    """
    if not isinstance(given, Mapping) or not given:
        raise BadShares("there are no shares", hint='give them as {"sex": [0.5, 0.5], "age": [0.4, 0.3, 0.2, 0.1]}.')
    return Population(blocks=_joined([_block(key, shares) for key, shares in given.items()]))


def exact(number: Any, where: str) -> Fraction:
    """A share as printed.

    >>> exact(0.33, "")
    Fraction(33, 100)
    """
    try:
        share = number if isinstance(number, Fraction) else Fraction(short_decimal(str(number)))
    except ValueError:
        raise BadShares("a share is not a number", where=where, hint="give shares such as 0.25.") from None
    if share < 0:
        raise BadShares("a share is negative", where=where, hint="shares lie between 0 and 1.")
    return share


def _block(key: Any, given: Any) -> Block:
    names = (key,) if isinstance(key, str) else tuple(str(k) for k in key)
    where = " x ".join(names)
    if len(set(names)) < len(names):
        raise BadShares("an attribute is listed twice in one table", where=where, hint="name each once.")
    if isinstance(given, Mapping):
        levels, shares = _from_cells(names, given, where)
    else:
        shares = _from_lists(given, len(names), where)
        levels = tuple(tuple(str(i + 1) for i in range(size)) for size in shares.shape)
    _refuse_wrong_sum(shares, where)
    return Block(names=names, levels=levels, shares=shares)


def _from_lists(given: Any, axes: int, where: str) -> Exact:
    try:
        array = np.array(given, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != axes or not array.size or any(isinstance(x, list | tuple) for x in array.reshape(-1)):
        form = "a list of shares" if axes == 1 else f"lists in lists, {axes} deep, all of the same length"
        raise BadShares("the shares have the wrong form", where=where, hint=f"give {form}.")
    return _array([exact(x, where) for x in array.reshape(-1)], array.shape)


def _from_cells(names: tuple[str, ...], given: Mapping[Any, Any], where: str) -> tuple[Any, Exact]:
    keys = _level_tuples(names, given, where)
    levels = tuple(tuple(dict.fromkeys(str(k[i]) for k in keys)) for i in range(len(names)))
    shares = _array([Fraction(0)] * prod(map(len, levels)), tuple(map(len, levels)))
    place = [{level: at for at, level in enumerate(each)} for each in levels]
    for key, share in zip(keys, given.values(), strict=True):
        shares[tuple(place[i][str(k)] for i, k in enumerate(key))] += exact(share, where)
    return levels, shares


def _level_tuples(names: tuple[str, ...], given: Mapping[Any, Any], where: str) -> list[tuple[Any, ...]]:
    """The keys of a mapping: one level of every attribute."""
    keys = [(k,) if len(names) == 1 and not isinstance(k, tuple) else k for k in given]
    if not keys or any(not isinstance(k, tuple) or len(k) != len(names) for k in keys):
        hint = f"its keys are tuples of {len(names)} levels." if len(names) > 1 else "its keys are levels."
        raise BadShares("the shares have the wrong form", where=where, hint=hint)
    return keys


def _array(numbers: Sequence[Fraction], shape: tuple[int, ...]) -> Exact:
    made = np.empty(len(numbers), dtype=object)
    made[:] = numbers
    return made.reshape(shape)


def rounding(shares: Exact) -> Fraction:
    """How far a sum of shares may be off because each was rounded to its last printed decimal.

    >>> rounding(np.array([Fraction(33, 100)] * 3, dtype=object))
    Fraction(3, 200)
    """
    decimals = max(_decimals(p) for p in shares.reshape(-1))
    return max(NEGLIGIBLE, min(MOST_OFF, Fraction(shares.size, 2 * 10**decimals)))


def _decimals(share: Fraction) -> int:
    """Decimals a share was printed with; many for one that is not a decimal fraction."""
    return next((d for d in range(18) if (share * 10**d).denominator == 1), 18)


def _refuse_wrong_sum(shares: Exact, where: str) -> None:
    total = sum(shares.reshape(-1), Fraction(0))
    if abs(total - 1) > rounding(shares):
        raise BadShares(
            f"the shares sum to {float(total):.6g}, not to 1",
            where=where,
            hint="correct them, or add the level that is missing; only rounding of the last decimal is passed over.",
        )


# --- joint tables that have attributes in common ---------------------------------------------------------------------


def _joined(blocks: list[Block]) -> tuple[Block, ...]:
    """Blocks without common attributes: what overlaps becomes one block."""
    done: list[Block] = []
    while blocks:
        together, blocks = blocks[:1], blocks[1:]
        while near := _sharing(blocks, together):
            together += near
            blocks = [b for b in blocks if b not in near]
        done.append(together[0] if len(together) == 1 else _join(together))
    return tuple(done)


def _sharing(blocks: list[Block], together: list[Block]) -> list[Block]:
    """The blocks that have an attribute in common with some of those together."""
    names = {n for b in together for n in b.names}
    return [b for b in blocks if names & set(b.names)]


def _join(tables: list[Block]) -> Block:
    names = tuple(dict.fromkeys(n for t in tables for n in t.names))
    levels = {n: t.levels[t.names.index(n)] for t in reversed(tables) for n in t.names}
    where = ", ".join(" x ".join(t.names) for t in tables)
    _refuse_other_levels(tables, levels, where)
    aligned = [_aligned(t, names, levels) for t in tables]
    _refuse_contradiction(tables, aligned, names, where)
    shape = tuple(len(levels[n]) for n in names)
    in_turn = _in_turn(tables, aligned, names)
    shares = _fitted(aligned, shape) if in_turn is None else np.broadcast_to(in_turn, shape).copy()
    return Block(names=names, levels=tuple(levels[n] for n in names), shares=shares)


def _refuse_other_levels(tables: list[Block], levels: Mapping[str, tuple[str, ...]], where: str) -> None:
    for table in tables:
        for name, own in zip(table.names, table.levels, strict=True):
            if set(own) != set(levels[name]):
                raise BadShares(
                    f"attribute {name!r} has different levels in two tables", where=where, hint="use the same levels."
                )
    cells = prod(map(len, levels.values()))
    if cells > MOST_JOINT_CELLS:
        raise BadOption(
            f"the joint tables make {cells:,} cells together",
            where=where,
            hint=f"at most {MOST_JOINT_CELLS:,}; leave a table out, or use fewer levels.",
        )


def _in_turn(tables: list[Block], aligned: list[Exact], names: tuple[str, ...]) -> Exact | None:
    """The joint shares, each table given what it has in common with an earlier one; None if they close a circle."""
    joint, known = aligned[0], [set(tables[0].names)]
    for table, shares in zip(tables[1:], aligned[1:], strict=True):
        shared = set().union(*known) & set(table.names)
        if not any(shared <= earlier for earlier in known):
            return None
        rest = tuple(i for i, n in enumerate(names) if n not in shared)
        joint = joint * _ratio(shares, shares.sum(axis=rest, keepdims=True))
        known.append(set(table.names))
    return joint


def _aligned(table: Block, names: tuple[str, ...], levels: Mapping[str, tuple[str, ...]]) -> Exact:
    """A table's shares with one axis per attribute of all tables, length one where it says nothing."""
    shares = table.shares
    for axis, (name, own) in enumerate(zip(table.names, table.levels, strict=True)):
        shares = np.take(shares, [own.index(level) for level in levels[name]], axis=axis)
    order = sorted(range(len(table.names)), key=lambda i: names.index(table.names[i]))
    shares = np.transpose(shares, order)
    return shares.reshape(tuple(len(levels[n]) if n in table.names else 1 for n in names))


def _ratio(part: Exact, whole: Exact) -> Exact:
    divide = np.frompyfunc(lambda a, b: a / b if b else Fraction(0), 2, 1)
    made: Exact = divide(part, whole)
    return made


def _refuse_contradiction(tables: list[Block], aligned: list[Exact], names: tuple[str, ...], where: str) -> None:
    for i, a in enumerate(tables):
        for j, b in enumerate(tables[:i]):
            shared = set(a.names) & set(b.names)
            rest = tuple(k for k, n in enumerate(names) if n not in shared)
            if not shared:
                continue
            one, other = (t.sum(axis=rest, keepdims=True) for t in (aligned[i], aligned[j]))
            apart = max(abs(one - other).reshape(-1))
            if apart > rounding(a.shares) + rounding(b.shares):
                raise BadShares(
                    f"two tables give different shares of {listed(sorted(shared))}",
                    where=where,
                    hint=f"they differ by up to {float(apart):.3g}; take both from the same population.",
                )


def _fitted(aligned: list[Exact], shape: tuple[int, ...]) -> Exact:
    """Iterative proportional fitting where the tables close a circle."""
    targets = [a.astype(np.float64) for a in aligned]
    joint = np.full(shape, 1.0 / prod(shape))
    for _ in range(500):
        before = joint
        for target in targets:
            rest = tuple(i for i, size in enumerate(target.shape) if size == 1 and shape[i] > 1)
            now = joint.sum(axis=rest, keepdims=True)
            joint = joint * np.divide(target, now, out=np.zeros(now.shape), where=now > 0)
        if np.abs(joint - before).max() < 1e-14:
            break
    return _array([Fraction(float(x)) for x in joint.reshape(-1)], shape)


def all_shares(population: Population) -> Exact:
    """The joint shares of all attributes; only for small cases."""
    parts = [b.shares for b in population.blocks]
    return reduce(np.multiply.outer, parts)
