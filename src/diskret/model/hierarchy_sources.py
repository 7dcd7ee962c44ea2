"""Reading trees of codes: each function takes one notation and gives codes (sums after their parts) and parents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diskret.model.errors import (
    BadOption,
    BrokenLevels,
    DuplicateCode,
    EmptyData,
    HierarchyCycle,
    TwoParents,
    listed,
)

Tree = tuple[tuple[str, ...], tuple[int, ...]]
MOST_OF_A_CYCLE = 10
"""Codes of a cycle that a message shows."""


def tree_from_parents(pairs: Mapping[str, str] | Iterable[tuple[str, str]], total: str | None) -> Tree:
    """Order child-to-parent pairs; refuse two parents, cycles and several tops without a common total."""
    parent: dict[str, str] = {}
    for child, top in pairs.items() if isinstance(pairs, Mapping) else pairs:
        child, top = str(child), str(top)
        if parent.setdefault(child, top) != top:
            raise TwoParents(
                f"code {child!r} has two parents, {parent[child]!r} and {top!r}",
                hint="a code adds to one sum of a grouping; give further groupings with Hierarchy.from_groupings.",
            )
    if not parent:
        raise EmptyData("the hierarchy has no codes", hint="give at least one child-to-parent pair.")
    tops = [c for c in dict.fromkeys(parent.values()) if c not in parent]
    _refuse_cycles(parent)
    if total is not None and tops != [total]:
        if total in parent:
            raise BadOption(f"the total {total!r} is a part of {parent[total]!r}", hint="choose another name.")
        parent.update((c, total) for c in tops if c != total)
        tops = [total]
    if len(tops) > 1:
        raise BrokenLevels(
            f"{len(tops)} codes have no parent: {listed(tops)}",
            hint="a table has one total per classification; name it with total=..., or add the missing pairs.",
        )
    return _in_order(tops[0], parent)


def _refuse_cycles(parent: Mapping[str, str]) -> None:
    done: set[str] = set()
    for start in parent:
        path: dict[str, None] = {}
        code = start
        while code in parent and code not in done:
            if code in path:
                loop = [repr(c) for c in [*list(path)[list(path).index(code) :], code]]
                shown = loop if len(loop) <= MOST_OF_A_CYCLE else [*loop[: MOST_OF_A_CYCLE - 2], "...", loop[-1]]
                raise HierarchyCycle(
                    f"codes are part of themselves: {' -> '.join(shown)}",
                    hint="remove one of these child-to-parent pairs.",
                )
            path[code] = None
            code = parent[code]
        done.update(path)


def _in_order(top: str, parent: Mapping[str, str]) -> Tree:
    """All codes below ``top``, parts before their sum, siblings in the order they were given."""
    parts: dict[str, list[str]] = {}
    for child, up in parent.items():
        parts.setdefault(up, []).append(child)
    order: list[str] = []
    stack = [(top, False)]
    while stack:
        code, expanded = stack.pop()
        if expanded or code not in parts:
            order.append(code)
        else:
            stack.append((code, True))
            stack.extend((c, False) for c in reversed(parts[code]))
    position = {c: i for i, c in enumerate(order)}
    return tuple(order), tuple(position[parent[c]] if c in parent else -1 for c in order)


def tree_from_levels(codes: Sequence[str], levels: Sequence[int]) -> Tree:
    """Read a level list: a code of level L is the sum of all pending codes of level L-1 before it."""
    names = [str(c) for c in codes]
    if not names:
        raise EmptyData("the hierarchy has no codes", hint="give at least one code with its level.")
    if len(names) != len(levels):
        raise BrokenLevels(f"{len(names)} codes but {len(levels)} levels", hint="give one level per code.")
    _refuse_duplicates(names)
    parents = [-1] * len(names)
    pending: dict[int, list[int]] = {}
    for i, level in enumerate(levels):
        # nothing of a lower level waits than the last code: whatever was below it has found its sum
        before = levels[i - 1] if i else level
        if level < 1 or before < level - 1:
            stuck = names[pending[before][0]] if before < level - 1 else names[i]
            raise BrokenLevels(
                f"code {names[i]!r} of level {level} leaves {stuck!r} without a sum on the next level",
                where=f"code number {i + 1}",
                hint="sums follow their parts and each level is one above its parts; check order and levels.",
            )
        for child in pending.pop(level - 1, []):
            parents[child] = i
        pending.setdefault(level, []).append(i)
    tops = [names[i] for waiting in pending.values() for i in waiting]
    if len(tops) > 1:
        raise BrokenLevels(
            f"{len(tops)} codes add to nothing: {listed(tops)}",
            hint="the list must end with one total on the highest level.",
        )
    return tuple(names), tuple(parents)


def tree_from_prefixes(codes: Iterable[str], lengths: Sequence[int], total: str) -> Tree:
    """Sums are the prefixes of the given lengths; a code no longer than a length skips it."""
    if any(n < 1 for n in lengths) or list(lengths) != sorted(set(lengths)):
        raise BadOption(f"prefix lengths {list(lengths)} do not ascend from 1", hint="for example [2, 3].")
    names = sorted({str(c) for c in codes})
    if not names:
        raise EmptyData("the hierarchy has no codes", hint="give the finest codes.")
    if total in names:
        raise DuplicateCode(f"the total {total!r} is one of the codes", hint="choose another name with total=....")
    parent: dict[str, str] = {}
    for code in names:
        up = total
        for n in lengths:
            if n < len(code):
                parent[code[:n]] = up
                up = code[:n]
        parent[code] = up
    if total in parent:
        raise DuplicateCode(f"the total {total!r} is one of the sums", hint="choose another name with total=....")
    return _in_order(total, parent)


def tree_from_nested(nested: Mapping[str, Any]) -> Tree:
    """Nested dicts; lists of codes or ``None`` end a branch."""
    if len(nested) != 1:
        raise BrokenLevels(f"{len(nested)} outermost keys", hint="nest everything under one total: {'Total': {...}}.")
    parent: dict[str, str] = {}
    (outermost, below), *_ = nested.items()
    total = str(outermost)
    stack: list[tuple[str, Any]] = [(total, below)]
    while stack:
        up, inner = stack.pop()
        parts = inner.items() if isinstance(inner, Mapping) else [(c, None) for c in inner or ()]
        for name, deeper in parts:
            code = str(name)
            if code in parent or code == total:
                raise DuplicateCode(
                    f"code {code!r} is listed twice", hint="give every code of a hierarchy its own name."
                )
            parent[code] = up
            stack.append((code, deeper))
    return _in_order(total, parent)


def tree_flat(codes: Iterable[str], total: str) -> Tree:
    """Codes in the given order, then their total."""
    names = [str(c) for c in codes]
    _refuse_duplicates([*names, total])
    return (*names, total), (*([len(names)] * len(names)), -1)


def _refuse_duplicates(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DuplicateCode(f"code {name!r} is listed twice", hint="give every code of a hierarchy its own name.")
        seen.add(name)


def tree_from_paths(labels: Mapping[str, str], separator: str, total: str) -> tuple[Tree, dict[str, str]]:
    """Labels that name what a code belongs to (Bayern: Oberbayern: Ebersberg), and what is left of them as labels.

    A sum that is the whole label of one code has this code, any other its own path as its code.
    """
    if not separator.strip():
        raise BadOption("labels have no separator", hint="give what stands between their parts, such as ': '.")
    mark = separator.strip()
    paths = {str(c): tuple(filter(None, (p.strip() for p in label.split(mark)))) for c, label in labels.items()}
    nameless = [code for code, path in paths.items() if not path]
    if nameless:
        raise BadOption(f"codes {listed(nameless)} have no label", hint="give every code one.")
    times = Counter(paths.values())
    codes = {path: code for code, path in paths.items() if times[path] == 1}
    made = {path[:depth] for path in paths.values() for depth in range(1, len(path))} - codes.keys()
    taken = sorted({separator.join(path) for path in made} & paths.keys())
    if taken:
        raise DuplicateCode(
            f"labels name sums {listed(taken)}, which are codes",
            hint="the label of a code that is a sum is the name of this sum.",
        )
    parent: dict[str, str] = {}
    names: dict[str, str] = {}
    for code, path in paths.items():
        up = total
        for depth in range(1, len(path)):
            above = codes.get(path[:depth], separator.join(path[:depth]))
            _hang(parent, above, up, total)
            names.setdefault(above, path[depth - 1])
            up = above
        _hang(parent, code, up, total)
        names[code] = path[-1]
    if not parent:
        raise EmptyData("the hierarchy has no codes", hint="give the finest codes with their labels.")
    _refuse_cycles(parent)
    return _in_order(total, parent), names


def _hang(parent: dict[str, str], code: str, up: str, total: str) -> None:
    if code in (total, up):
        raise DuplicateCode(f"code {code!r} is a code and a sum of itself", hint="choose another name with total=....")
    if parent.setdefault(code, up) != up:
        raise TwoParents(f"code {code!r} has two parents, {parent[code]!r} and {up!r}", hint="correct its label.")


def tree_from_indents(labels: Mapping[str, str], total: str) -> tuple[Tree, dict[str, str]]:
    """Labels in which a part stands further right than the sum before it, and the labels without their blanks."""
    parent: dict[str, str] = {}
    above: list[tuple[int, str]] = [(-1, total)]
    for number, (given, label) in enumerate(labels.items(), start=1):
        code, indent = str(given), len(label) - len(label.lstrip())
        last = above[-1][0]
        while above[-1][0] > indent:
            above.pop()
        if last > indent != above[-1][0]:
            raise BrokenLevels(
                f"the label of {code!r} begins between two levels",
                where=f"code number {number}",
                hint="let all parts of one sum begin at the same place.",
            )
        if above[-1][0] == indent:
            above.pop()
        if code == total:
            raise DuplicateCode(f"the total {total!r} is one of the codes", hint="choose another name with total=....")
        parent[code] = above[-1][1]
        above.append((indent, code))
    if not parent:
        raise EmptyData("the hierarchy has no codes", hint="give the codes with their labels, sums before their parts.")
    return _in_order(total, parent), {str(code): label.strip() or str(code) for code, label in labels.items()}


def without_single_parts(codes: Sequence[str], parents: Sequence[int]) -> Tree:
    """The tree without sums of one part, which say the same as their part; if that is the total, the part goes."""
    below = [0] * len(codes)
    for p in parents:
        below[p] += p >= 0
    total = len(codes) - 1
    skipped = [n == 1 for n in below]
    only = total
    while below[only] == 1 and below[only := parents.index(only)] > 0:
        skipped[only] = True
    parent: dict[str, str] = {}
    for i, code in enumerate(codes[:-1]):
        if not skipped[i]:
            up = parents[i]
            while skipped[up] and up != total:
                up = parents[up]
            parent[code] = codes[up]
    return _in_order(codes[-1], parent)
