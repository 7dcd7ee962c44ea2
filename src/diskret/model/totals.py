"""Totals that stand among the codes of a classification: found by their names and by arithmetic, and asked about.

A total that is taken for one more category doubles every sum above it and lifts small counts over their minimum, and
no audit can notice. So nothing is made of data with codes that are named like a total, or that equal the sum of their
siblings (`hidden_sums`), before somebody has said what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cures import Cure, key_of
from diskret.model.errors import TotalInData, listed
from diskret.model.hidden_sums import ENOUGH, Found, Numbers, Siblings, Sum, hidden_sums, step_of
from diskret.model.hierarchy import Hierarchy
from diskret.model.total_names import Named, among_letters, named_total

SHAPES = {re.compile(r"00+|_+|-+|\*+"): 2.0, re.compile(r"0"): 4.0, re.compile(r"9+"): 6.0}
"""Codes that look like a total already, and the bits that suffice for them."""
CHUNK = 1 << 20
"""Numbers looked at in one go."""
MOST = 1 << 21
"""Numbers of a classification looked at; of larger tables only some combinations are."""
MOST_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A code that looks like a total, and why."""

    classification: str
    code: str
    named: bool = False
    others: int = 0
    """How many others it is the sum of; 0 if arithmetic does not say so."""
    equal: int = 0
    looked: int = 0
    """In how many combinations of the other classifications it is that sum, and in how many it occurs."""
    exact: bool = True
    """Whether it is that to the last unit."""
    parts: tuple[str, ...] = ()
    """What a subtotal is the sum of; empty for a total of all its siblings."""
    prefix: bool = False
    """Whether a subtotal is the beginning of its parts."""

    @property
    def why(self) -> str:
        """The reason in words."""
        reasons = ["is named like one"] if self.named else []
        if self.others:
            whose = "codes that begin with it" if self.prefix else "codes beside it" if self.parts else "others"
            count = f"{self.others} {whose}" if self.parts else f"the {self.others} {whose}"
            equals = "equals" if self.exact else "equals, up to rounding or mistakes,"
            reasons.append(f"{equals} the sum of {count} in {self.equal} of {self.looked} combinations")
        return " and ".join(reasons)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What the codes of a table are judged by.

    ``numbers`` are dense arrays with all sums filled: values, counts. ``occurs`` tells of every classification which of
    its codes are in the data, ``order`` the positions of its codes in the order of the file, or None.
    ``categories`` are codes of which the user has said that they are no totals.
    """

    by: Mapping[str, Hierarchy]
    occurs: Mapping[str, Bools]
    numbers: Sequence[Numbers] = ()
    order: Callable[[str], Sequence[int] | None] = lambda name: None
    categories: Mapping[str, Sequence[str]] | None = None


def refuse_totals(looked: Looked, where: str) -> None:
    """Refuse codes that look like totals and about which nothing was said, all at once, with the answers."""
    found = suspects(looked)
    if found:
        raise total_question(found, where)


def suspects(looked: Looked) -> list[Suspect]:
    """All codes that look like totals, without those the user has called categories.

    >>> region = Hierarchy.flat(["N", "S", "W", "00"])
    >>> x = np.array([1234567, 2345678, 3456789, 7037034, 14074068])
    >>> [s.why for s in suspects(Looked(by={"r": region}, numbers=[x], occurs={"r": region.is_leaf}))]
    ['equals the sum of the 3 others in 1 of 1 combinations']
    """
    steps = [step_of(numbers) for numbers in looked.numbers]
    found: list[Suspect] = []
    for axis, (name, hierarchy) in enumerate(looked.by.items()):
        said = {*(looked.categories or {}).get(name, ())}
        for parts in hierarchy.part_index:
            asked = looked.occurs[name][parts] & hierarchy.is_leaf[parts]
            if parts.size > 1 and asked.any():
                group = _Group(looked=looked, axis=axis, parts=parts, steps=steps)
                judged = (_judged(group, at) for at in np.flatnonzero(asked).tolist())
                found += [s for s in judged if s is not None and s.code not in said]
    return found


class _Group:
    """The parts of one sum of a classification, with what arithmetic tells of them; looked at once."""

    def __init__(self, *, looked: Looked, axis: int, parts: Ints, steps: Sequence[float]) -> None:
        hierarchies = list(looked.by.values())
        self.name = list(looked.by)[axis]
        self.codes = [hierarchies[axis].codes[i] for i in parts]
        self.labels = [hierarchies[axis].labels[i] for i in parts]
        self.names = [_name_of(c, label) for c, label in zip(self.codes, self.labels, strict=True)]
        self.sums: dict[int, Sum] = {}
        self.totals: dict[int, Sum] = {}
        self.counted = bool(looked.numbers)
        if len(self.codes) < 3 and not any(self.names):
            return
        others = [np.flatnonzero(h.is_leaf) for i, h in enumerate(hierarchies) if i != axis]
        shape = tuple(len(h) for h in hierarchies)
        order = _order_of(parts, looked.order(self.name)) if looked.numbers else None
        for numbers, step in zip(looked.numbers, steps, strict=True):
            moved = np.moveaxis(numbers.reshape(shape), axis, 0)
            rows = partial(_rows, moved, parts, _some(parts.size, others))
            margin = moved[(parts, *(-1 for _ in others))].astype(np.float64)
            self._add(hidden_sums(Siblings(codes=self.codes, rows=rows, margin=margin, step=step, order=order)))

    def _add(self, found: Found) -> None:
        """Keep of every code where it equals a sum most surely."""
        for kept, fresh in ((self.sums, found.sums), (self.totals, found.totals)):
            for each in fresh:
                if each.at not in kept or each.bits > kept[each.at].bits:
                    kept[each.at] = each


def _name_of(code: str, label: str) -> Named | None:
    return named_total(code) or (named_total(label) if label != code else None)


def _order_of(parts: Ints, order: Sequence[int] | None) -> list[int] | None:
    """The places of some codes among themselves in the order of the file; those that do not occur come last."""
    if order is None:
        return None
    place = {position: i for i, position in enumerate(parts.tolist())}
    first = [place[position] for position in order if position in place]
    return first + sorted({*place.values()} - {*first})


def _some(size: int, others: Sequence[Ints]) -> list[Ints]:
    """Combinations that are looked at: all, or of the longest classification every so many codes."""
    some = list(others)
    combinations = int(np.prod([leaves.size for leaves in some], dtype=np.int64))
    if size * combinations > MOST:
        longest = max(range(len(some)), key=lambda i: some[i].size)
        some[longest] = some[longest][:: -(-size * combinations // MOST)]
    return some


def _rows(moved: Numbers, parts: Ints, others: Sequence[Ints]) -> Iterator[Floats]:
    """The numbers of some codes, a row each, over the finest combinations of the other classifications."""
    if not others:
        yield moved[parts].reshape(-1, 1).astype(np.float64)
        return
    width = parts.size * int(np.prod([leaves.size for leaves in others[1:]], dtype=np.int64))
    step = max(1, CHUNK // max(1, width))
    for start in range(0, others[0].size, step):
        block = moved[np.ix_(parts, others[0][start : start + step], *others[1:])]
        yield block.reshape(parts.size, -1).astype(np.float64)


def _judged(group: _Group, at: int) -> Suspect | None:
    """What is said against one code."""
    code, named, total = group.codes[at], group.names[at], group.totals.get(at)
    found = group.sums.get(at)
    if found is None and total is not None and _is_total(code, named, total):
        found = total
    if found is None and not _named(group, at, named, total):
        return None
    if found is None:
        return Suspect(classification=group.name, code=code, named=True)
    return Suspect(
        classification=group.name, code=code, named=named is not None, others=found.others, equal=found.equal,
        looked=found.looked, exact=found.exact, parts=tuple(group.codes[i] for i in found.parts), prefix=found.prefix,
    )  # fmt: skip


def _is_total(code: str, named: Named | None, total: Sum) -> bool:
    """Whether it is no chance that a code equals the sum of the others."""
    enough = next((bits for shape, bits in SHAPES.items() if shape.fullmatch(code)), ENOUGH)
    often = 2 * total.equal >= total.looked
    return total.bits >= enough or (named is not None and often)


def _named(group: _Group, at: int, named: Named | None, total: Sum | None) -> bool:
    """Whether a name alone makes a total; one that may mean something else needs numbers, or none that deny it."""
    if named != "perhaps":
        return named is not None
    if group.counted:
        return total is not None and 2 * total.equal >= total.looked
    others = group.codes[:at] + group.codes[at + 1 :]
    return group.codes[at].upper() in ("T", "TT") and not among_letters(group.codes[at], others)


def total_question(found: Sequence[Suspect], where: str) -> TotalInData:
    """The question whether codes are totals, with the answers."""
    lines = [f"{s.code!r} in {s.classification!r} {s.why}" for s in found[:MOST_SHOWN]]
    more = [f"and {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
    first = next((s for s in found if not s.parts), found[0])
    name, code = first.classification, first.code
    what = f"{len(found)} codes look like totals" if len(found) > 1 else f"code {code!r} looks like a total"
    answer = (
        f"totals={{{name!r}: {code!r}}} takes its rows as given totals and checks them"
        if not first.parts
        else f"a hierarchy of {name!r} takes them as sums of their parts and checks them"
    )
    question = TotalInData(
        f"{what}, and would be counted twice as one more category",
        where="\n    ".join([f"{where}:", *lines, *more]),
        hint=f"say what it is: {answer}, categories={{{name!r}: {_short(found, name)}}} keeps it as a category.",
        cures=[cure for each in dict.fromkeys(s.classification for s in found) for cure in _answers(each, found)],
    )
    question.suspects = tuple(found)
    return question


def _short(found: Sequence[Suspect], name: str) -> str:
    return f"[{listed([s.code for s in found if s.classification == name])}]"


def _answers(name: str, found: Sequence[Suspect]) -> list[Cure]:
    """What can be said of the suspects of one classification: of its total, of its subtotals, or that they are none."""
    own = [s for s in found if s.classification == name]
    codes = [s.code for s in own]
    cures = [
        Cure(key=key_of("classifications", name, "total"), value=s.code, label="take it as the total")
        for s in own
        if not s.parts
    ][:1]
    lengths = sorted({len(s.code) for s in own if s.prefix})
    if lengths:
        key = key_of("classifications", name, "prefixes")
        cures.append(Cure(key=key, value=lengths, label="take the first characters of the codes as subtotals"))
    label = "keep it as a category" if len(codes) == 1 else "keep them as categories"
    return [*cures, Cure(key=key_of("classifications", name, "categories"), value=codes, label=label)]
