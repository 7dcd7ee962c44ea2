"""Changing a tree of codes by hand: move codes, group them under a new sum, dissolve, merge, rename, remove sums.

Every function takes a hierarchy and gives a new one, so that whatever comes out is a hierarchy: no code stands in it
twice, nothing is part of itself. A code together with what stands below it counts once: of several codes that are
moved, those below others come along with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from diskret.model.errors import BadOption, DuplicateCode, listed
from diskret.model.hierarchy import Hierarchy

Parts = dict[str, list[str]]
"""Every code with its parts, in order."""


def place(tree: Hierarchy, codes: Sequence[str], under: str, before: str | None = None) -> Hierarchy:
    """Codes as parts of a sum, before one of its parts or behind all of them; a code the tree lacks is added.

    >>> region = Hierarchy.from_nested({"DE": {"N": ["n1", "n2"], "S": ["s1"]}})
    >>> place(region, ["n2", "s2"], "S", before="s1").parts("S")
    ('n2', 's2', 's1')
    """
    parts, moved = _parts(tree), dict.fromkeys(_topmost(tree, codes))
    tree.index(under)
    if under in moved or _is_below(tree, under, moved):
        raise BadOption(f"{under!r} would be part of itself", hint="choose a sum outside of what is moved.")
    follows = parts[under][parts[under].index(before) :] if before in parts[under] else []
    behind = next((code for code in follows if code not in moved), None)
    _take_out(parts, tree, list(moved))
    at = parts[under].index(behind) if behind is not None else len(parts[under])
    parts[under][at:at] = moved
    return _built(tree, parts)


def group(tree: Hierarchy, codes: Sequence[str], name: str, label: str | None = None) -> Hierarchy:
    """Codes under a new sum, which takes the place of the first of them.

    >>> group(Hierarchy.flat(["a", "b", "c"]), ["a", "b"], "A").parts("Total")
    ('A', 'c')
    """
    _refuse_used(tree, name)
    parts, moved = _parts(tree), _topmost(tree, codes)
    if not moved:
        raise BadOption("no code is chosen", hint="choose the codes that belong together.")
    first = moved[0]
    under = _parent(tree, first) if first in tree else tree.total
    siblings = parts[under]
    at = sum(code not in moved for code in siblings[: siblings.index(first)]) if first in siblings else None
    _take_out(parts, tree, moved)
    siblings = parts[under]
    siblings.insert(len(siblings) if at is None else at, name)
    parts[name] = list(moved)
    return _built(tree, parts, {name: label} if label else {})


def dissolve(tree: Hierarchy, sums: Sequence[str]) -> Hierarchy:
    """The tree without some sums: their parts take their places.

    >>> dissolve(Hierarchy.from_nested({"T": {"A": ["a", "b"], "c": None}}), ["A"]).parts("T")
    ('a', 'b', 'c')
    """
    parts = _parts(tree)
    _refuse_partless(tree, parts, sums)
    above = {part: up for up, below in parts.items() for part in below}
    for name in dict.fromkeys(sums):
        up, below = above[name], parts.pop(name)
        at = parts[up].index(name)
        parts[up][at : at + 1] = below
        above |= dict.fromkeys(below, up)
    return _built(tree, parts)


def merge(tree: Hierarchy, sums: Sequence[str]) -> Hierarchy:
    """Several sums as one: the first of them gets the parts of all.

    >>> merge(Hierarchy.from_nested({"T": {"A": ["a"], "B": ["b"], "c": None}}), ["A", "B"]).parts("A")
    ('a', 'b')
    """
    parts, chosen = _parts(tree), list(dict.fromkeys(sums))
    _refuse_partless(tree, parts, chosen)
    if len(chosen) < 2 or _topmost(tree, chosen) != chosen:
        raise BadOption(
            "only sums beside each other become one", hint="choose two sums of which none is part of another."
        )
    first, *others = chosen
    found = [part for other in others for part in parts.pop(other)]
    parts = {code: [part for part in below if part not in others] for code, below in parts.items()}
    parts[first] += found
    return _built(tree, parts)


def rename(tree: Hierarchy, code: str, to: str) -> Hierarchy:
    """The tree with another name for a code; a label of its own stays.

    >>> rename(Hierarchy.flat(["a"]), "Total", "All").codes
    ('a', 'All')
    """
    tree.index(code)
    _refuse_used(tree, to)
    return Hierarchy.restored(
        [to if each == code else each for each in tree.codes],
        tree.parents,
        [to if each == code == label else label for each, label in zip(tree.codes, tree.labels, strict=True)],
        tree.further,
    )


def relabel(tree: Hierarchy, labels: Mapping[str, str]) -> Hierarchy:
    """The tree with other labels for some codes; an empty one means that the code is its own label.

    >>> relabel(Hierarchy.flat(["a", "b"]), {"a": "men"}).labels
    ('men', 'b', 'Total')
    """
    for code in labels:
        tree.index(code)
    named = {code: " ".join(label.split()) or code for code, label in labels.items()}
    known = zip(tree.codes, tree.labels, strict=True)
    return Hierarchy(tree.codes, tree.parents, tuple(named.get(code, label) for code, label in known), tree.further)


def remove(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """The tree without some codes and all that stands below them.

    >>> remove(Hierarchy.from_nested({"T": {"A": ["a", "b"], "c": None}}), ["A"]).codes
    ('c', 'T')
    """
    parts, gone = _parts(tree), _topmost(tree, codes)
    for code in gone:
        tree.index(code)
    _take_out(parts, tree, gone)
    waiting = gone
    for code in waiting:  # grows while it is walked
        waiting += parts.pop(code)
    return _built(tree, parts)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How the codes of a tree and those of the data fit together."""

    missing: tuple[str, ...]
    """Codes of the data that the tree lacks."""
    without_data: tuple[str, ...]
    """Finest codes of the tree that the data do not have."""
    sums: tuple[str, ...]
    """Codes of the data that are sums of the tree: for records a mistake, for cells given sums."""


def fit(tree: Hierarchy, codes: Collection[str]) -> Fit:
    """Compare a tree with the codes of the data.

    >>> fit(Hierarchy.from_nested({"T": {"A": ["a", "b"]}}), ["a", "A", "c"])
    Fit(missing=('c',), without_data=('b',), sums=('A',))
    """
    there, finest = set(codes), {code for code, below in _parts(tree).items() if not below}
    return Fit(
        missing=tuple(code for code in codes if code not in tree),
        without_data=tuple(code for code in tree.codes if code in finest and code not in there),
        sums=tuple(code for code in codes if code in tree and code not in finest),
    )


# --- inside ----------------------------------------------------------------------------------------------------------


def _parts(tree: Hierarchy) -> Parts:
    tree.refuse_overlapping("changing a tree by hand")
    parts: Parts = {code: [] for code in tree.codes}
    for code, parent in zip(tree.codes, tree.parents, strict=True):
        if parent >= 0:
            parts[tree.codes[parent]].append(code)
    return parts


def _parent(tree: Hierarchy, code: str) -> str:
    return tree.codes[tree.parents[tree.index(code)]]


def _built(tree: Hierarchy, parts: Parts, labels: Mapping[str, str] | None = None) -> Hierarchy:
    """The tree of these parts, with the labels it had."""
    known = dict(zip(tree.codes, tree.labels, strict=True)) | dict(labels or {})
    pairs = ((part, code) for code, below in parts.items() for part in below)
    return Hierarchy.from_parents(pairs, labels=known)


def _topmost(tree: Hierarchy, codes: Iterable[str]) -> list[str]:
    """The chosen codes without those that stand below other chosen ones; never the total."""
    chosen = dict.fromkeys(codes)
    if tree.total in chosen:
        raise BadOption(f"{tree.total!r} is the total", hint="everything adds up to it; it can only be renamed.")
    return [code for code in chosen if code not in tree or not _is_below(tree, code, chosen)]


def _is_below(tree: Hierarchy, code: str, chosen: Collection[str]) -> bool:
    """Whether a code stands below one of others."""
    at = tree.parents[tree.index(code)]
    while at >= 0 and tree.codes[at] not in chosen:
        at = tree.parents[at]
    return at >= 0


def _take_out(parts: Parts, tree: Hierarchy, codes: Sequence[str]) -> None:
    """Codes away from where they stand, with their own parts kept; those the tree lacks have none yet."""
    moved = set(codes)
    for up in {_parent(tree, code) for code in codes if code in tree}:
        parts[up] = [part for part in parts[up] if part not in moved]
    for code in codes:
        parts.setdefault(code, [])


def _refuse_used(tree: Hierarchy, name: str) -> None:
    if not name or name != " ".join(name.split()) or not name.isprintable():
        raise BadOption(
            "the name of a code is empty, or has blanks outside or twice", hint="give it a name of one line."
        )
    if name in tree:
        raise DuplicateCode(f"code {name!r} is in the hierarchy already", hint="give every code its own name.")


def _refuse_partless(tree: Hierarchy, parts: Parts, sums: Sequence[str]) -> None:
    bare = [name for name in sums if name == tree.total or not parts.get(name)]
    if bare:
        raise BadOption(f"{listed(bare)}: the total, or without parts", hint="choose sums below the total.")
