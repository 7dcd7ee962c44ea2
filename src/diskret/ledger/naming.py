"""Names of cells that are put beside each other: by what they count, and what they do not share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from diskret.ledger.codes import Scheme
from diskret.ledger.connecting import Connected
from diskret.model.arrays import Ints
from diskret.model.system import Space

VALUE = "value"


def space_of(found: Connected, kept: Ints, subjects: Mapping[tuple[str, str, str], int]) -> Space:
    """Codes of all classifications and the cells by their codes; what all cells share is not said of each."""
    ordinary = kept < found.key.shape[0]
    key = np.where(ordinary[:, None], found.key[np.minimum(kept, found.key.shape[0] - 1)], 0)
    names: list[str] = []
    codes: list[tuple[str, ...]] = []
    tops: list[str] = []
    at: list[Ints] = []
    for i, axis in enumerate(found.rows.axes, start=1):
        used, own = np.unique(key[:, i], return_inverse=True)
        scheme, sets = found.sets.schemes[axis], found.sets.sets(axis)
        words = distinct_words(scheme, axis, [sets[n] for n in used.tolist()])
        names.append(axis)
        codes.append(words)
        at.append(own.astype(np.int64))
        tops.append(words[0] if len(words) == 1 or 0 in used[:1] else "")
    kinds = _kinds(found, kept, key[:, 0], subjects)
    distinct = tuple(dict.fromkeys(kinds))
    place = {kind: i for i, kind in enumerate(distinct)}
    names.append("what")
    codes.append(distinct)
    tops.append(VALUE if VALUE in distinct else "")
    at.append(np.array([place[kind] for kind in kinds], dtype=np.int64))
    return Space(tuple(names), tuple(codes), tuple(tops), tuple(at))


def distinct_words(scheme: Scheme, axis: str, sets: Sequence[int]) -> tuple[str, ...]:
    """Sets in words, those that would be called alike by all that is in them."""
    words = [scheme.words(own) or f"all of {axis}" for own in sets]
    times = Counter(words)
    return tuple(
        word if times[word] == 1 else f"{{{', '.join(scheme.members(own))}}}"
        for word, own in zip(words, sets, strict=True)
    )


def _kinds(found: Connected, kept: Ints, subject: Ints, subjects: Mapping[tuple[str, str, str], int]) -> list[str]:
    """What every cell is: a value, of one or several variables, or a difference and of what; versions are numbered."""
    several = np.unique(subject).size > 1
    told = {number: each[1] if several else VALUE for each, number in subjects.items()}
    kinds = []
    for cell, number in zip(kept.tolist(), subject.tolist(), strict=True):
        if cell >= found.key.shape[0]:
            kinds.append(found.relations.differences[cell][2])
            continue
        version = int(found.nodes.version[cell]) if cell < found.nodes.size else 0
        kinds.append(told[number] if not version else f"{told[number]}, revision {version}")
    return kinds
