"""Lengths of code prefixes that group codes: a hierarchy may lie in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

MOST_DIGITS = 50
"""Longer beginnings of codes are proposed to nobody."""
_CODE = re.compile(r"[0-9A-Z]+([.\-/ ][0-9A-Z]+)*")


def prefix_levels(codes: Sequence[str], digits: Sequence[int] = (), least: float = 1.5) -> tuple[int, ...]:
    """Lengths of prefixes that group codes: the shortest ones at which new groups appear.

    Only lengths at which groups have several codes on average are proposed, and only for codes of digits and capital
    letters: words share beginnings by chance. Separators count as characters, and no prefix ends with one. The first
    digit alone hardly ever means something. A code may be as short as a group (a city that is its own district).
    ``digits`` are the numbers of letters and digits at which a known classification has its levels.

    >>> prefix_levels(["01101", "01102", "02101", "02102", "02103", "04"]), prefix_levels(["male", "mode", "bold"])
    ((2,), ())
    >>> prefix_levels(["10.11", "10.12", "10.71", "10.72", "25.11", "25.12"], digits=(2, 3, 4), least=1.1)
    (2, 4)
    """
    if len(codes) < 4 or not all(_CODE.fullmatch(c) for c in codes) or not any(map(str.isdigit, "".join(codes))):
        return ()
    if _sums_among(codes):
        return ()  # that is another kind of list
    levels: list[int] = []
    before = 1
    for length in _lengths(codes, digits):
        groups = len({c[:length] for c in codes})
        if groups >= least * before and len(codes) >= least * groups:
            levels.append(length)
            before = groups
    return tuple(levels)


def _lengths(codes: Sequence[str], digits: Sequence[int]) -> list[int]:
    """Lengths at which codes may be cut: where all have the same number of letters and digits, and none a separator."""
    shortest, longest = min(map(len, codes)), max(map(len, codes))
    start = 2 if not digits and all(c[0].isdigit() for c in codes) else 1
    # figures of several lengths have lost their leading zeros: 1 and 10 would fall into one group
    plain = all(c.isdecimal() and c[0] != "0" for c in codes)
    found = []
    for length in range(start, min(longest - 1, shortest, MOST_DIGITS) + 1):
        if plain and len({len(c) for c in codes if len(c) > length}) > 1:
            continue
        signs = {sum(map(str.isalnum, c[:length])) if c[length - 1].isalnum() else 0 for c in codes}
        if len(signs) == 1 and 0 not in signs and (not digits or signs <= {*digits}):
            found.append(length)
    return found


def _sums_among(codes: Sequence[str]) -> bool:
    """Whether some codes are beginnings of others, which then come next in their order."""
    return any(longer.startswith(short) for short, longer in pairwise(sorted(set(codes))))
