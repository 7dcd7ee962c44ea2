"""Several groupings of the same codes: a tree, and further sums that are checked against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from diskret.model.errors import (
    BadOption,
    BrokenLevels,
    DiskretError,
    DuplicateCode,
    EmptyData,
    HierarchyCycle,
    listed,
)
from diskret.model.hierarchy_sources import tree_from_parents

Parents = tuple[int, ...]
Sums = list[tuple[str, list[str]]]
"""Every further sum with its parts."""


def overlapping(
    old: Sequence[str], groupings: Sequence[Parents], further: Iterable[Mapping[str, Sequence[str]]]
) -> tuple[tuple[str, ...], Parents, tuple[Parents, ...]]:
    """Codes with the parents of the first and of all further groupings; further sums stand before the total.

    ``groupings`` are those of the ``old`` codes, the tree first. In one grouping a code adds to one sum only, so sums
    with common parts come into different groupings.
    """
    tree, *known = groupings
    total = old[-1]
    sums = [each for parents in known for each in _sums(old, parents)]
    sums += [(str(code), [str(part) for part in parts]) for grouping in further for code, parts in grouping.items()]
    up = {part: code for code, parts in _sums(old, tree) for part in parts}
    first = [code for code in old if code in up]
    fresh = _after_their_parts(sums, {*first, total})
    codes = (*first, *fresh, total)
    _refuse_unknown_parts(sums, {*codes}, total)
    position = {code: i for i, code in enumerate(codes)}
    parents = tuple(position[up[code]] if code in up else -1 for code in codes)
    # sums of the tree come last: their further parts must be known before
    sums.sort(key=lambda each: position[each[0]] if each[0] in fresh else len(codes))
    _refuse_different_contents(sums, _contents(codes, parents, {*fresh}))
    return codes, parents, _apart(sums, position)


def restorable(codes: Sequence[str], groupings: Sequence[Parents], labels: Sequence[str]) -> bool:
    """Whether codes, parents and labels from a file are those of a hierarchy: made anew, they are the same.

    >>> restorable(["a", "b", "T"], [(2, 2, -1)], ["a", "b", "T"]), restorable(["a", "b", "T"], [(1, 2, -1)], ["a"])
    (True, False)
    """
    size = len(codes)
    lengths = {size, len(labels), *map(len, groupings)}
    if lengths != {size} or not size or not all(type(text) is str for text in (*codes, *labels)):
        return False
    if len(set(codes)) < size or any(type(p) is not int or not -1 <= p < size for each in groupings for p in each):
        return False
    tree, *further = groupings
    up = {code: codes[p] for code, p in zip(codes, tree, strict=True) if p >= 0}
    grown = [*(code for code in codes if code in up), codes[-1]]
    try:
        made, parents = tree_from_parents(up, codes[-1]) if up else (tuple(grown), (-1,))
        again = overlapping(codes, groupings, ()) if further else (made, parents, ())
    except DiskretError:
        return False
    first = len(grown) - 1
    last = size - 1
    # further sums stand between the tree and the total, which is the last of all
    at = {place: first_place for first_place, place in enumerate([*range(first), last])}
    fits = list(codes[:first]) == grown[:-1] and list(made) == grown and set(again[0]) == set(codes)
    return fits and [at.get(p, p) for p in (*tree[:first], tree[-1])] == list(parents) and _follow(further, first, last)


def _follow(further: Sequence[Parents], first: int, last: int) -> bool:
    """Whether sums outside the tree follow their parts, and no grouping needs a sum that a later one makes."""
    earliest: dict[int, int] = {}
    for number, parents in enumerate(further):
        for p in parents:
            if first <= p < last:
                earliest.setdefault(p, number)
    return all(
        (i < p or not first <= p < last) and earliest.get(i, 0) <= number
        for number, parents in enumerate(further)
        for i, p in enumerate(parents)
        if p >= 0
    )


def _sums(codes: Sequence[str], parents: Parents) -> Sums:
    found: dict[str, list[str]] = {}
    for code, parent in zip(codes, parents, strict=True):
        if parent >= 0:
            found.setdefault(codes[parent], []).append(code)
    return list(found.items())


def _apart(sums: Sums, position: Mapping[str, int]) -> tuple[Parents, ...]:
    """Groupings in which every code adds to one sum; none stands before those in which its parts are summed up."""
    groupings: list[list[int]] = []
    made: list[set[int]] = []
    earliest: dict[str, int] = {}
    for code, parts in sums:
        whole, at = position[code], [position[part] for part in parts]
        k = max(earliest.get(part, 0) for part in parts)
        while k < len(groupings) and (whole in made[k] or any(groupings[k][i] >= 0 for i in at)):
            k += 1
        if k == len(groupings):
            groupings.append([-1] * len(position))
            made.append(set())
        made[k].add(whole)
        for i in at:
            groupings[k][i] = whole
        earliest.setdefault(code, k)
    return tuple(map(tuple, groupings))


def _after_their_parts(sums: Sums, known: set[str]) -> dict[str, None]:
    """New sums so that each follows those it is made of (the first time it is said)."""
    waiting: dict[str, list[str]] = {}
    for code, parts in sums:
        if code not in known:
            waiting.setdefault(code, parts)
    place = {code: at for at, code in enumerate(waiting)}
    open_parts = {code: {part for part in parts if part in waiting} for code, parts in waiting.items()}
    above: dict[str, list[str]] = {}
    for code, inner in open_parts.items():
        for part in inner:
            above.setdefault(part, []).append(code)
    missing = {code: len(parts) for code, parts in open_parts.items()}
    order: dict[str, None] = {}
    ready = [code for code, number in missing.items() if not number]
    while ready:
        order |= dict.fromkeys(ready)
        reached = [code for part in ready for code in above.get(part, ())]
        for code in reached:
            missing[code] -= 1
        ready = sorted((code for code in dict.fromkeys(reached) if not missing[code]), key=place.__getitem__)
    if len(order) < len(waiting):
        raise HierarchyCycle(
            f"sums are part of themselves: {listed(code for code in waiting if code not in order)}",
            hint="take one of them out of the parts of another.",
        )
    return order


def _refuse_unknown_parts(sums: Sums, codes: set[str], total: str) -> None:
    for code, parts in sums:
        if not parts:
            raise EmptyData(f"the sum {code!r} has no parts", hint="name the codes that add up to it.")
        if total in parts:
            raise BadOption(f"the total {total!r} is a part of {code!r}", hint="the total is part of nothing.")
        unknown = [part for part in parts if part not in codes]
        if unknown:
            raise BadOption(
                f"{listed(unknown)} of {code!r} is neither a code of the first grouping nor a further sum",
                hint="say what it consists of: every code must be made of the finest ones of the first grouping.",
            )


def _contents(codes: Sequence[str], parents: Parents, fresh: set[str]) -> dict[str, set[str]]:
    """The finest codes of every code of the tree."""
    finest: dict[str, set[str]] = {c: set() for c in codes}
    sums = {codes[p] for p in parents if p >= 0} | fresh
    for i, code in enumerate(codes):
        at = i if code not in sums else -1
        while at >= 0:
            finest[codes[at]].add(code)
            at = parents[at]
    return finest


def _refuse_different_contents(sums: Sums, finest: dict[str, set[str]]) -> None:
    """Every sum must consist of the same finest codes by all groupings, each of them once."""
    for code, parts in sums:
        found: set[str] = set().union(*(finest[part] for part in parts))
        if sum(len(finest[part]) for part in parts) > len(found):
            raise DuplicateCode(
                f"parts of {code!r} overlap", hint="a code must not come twice into one sum, not even within another."
            )
        if finest[code] and finest[code] != found:
            raise BrokenLevels(
                f"{code!r} consists of other codes in another grouping: {listed(sorted(finest[code] ^ found))}",
                hint="give all its parts in every grouping, or another name.",
            )
        finest[code] = found
