"""A word of warning where codes look alike and are not equal, or hold what nobody sees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from diskret.model.errors import ProtectionWarning, listed
from diskret.model.spelling import alike, invisible, visible

CURE = "write them alike in data and hierarchies, or set normalise = true"


def warn_of_spellings(name: str, codes: Iterable[str], labels: Iterable[str] = ()) -> None:
    """Warn of codes of a classification that differ only in what cannot be seen, and of invisible characters.

    Labels are only looked through for marks that turn the direction of writing: soft hyphens and joiners belong there.

    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     warn_of_spellings("city", ["Bonn", "Bonn\\u00a0"])
    >>> print(said[0].message)
    codes of 'city' look alike but are counted separately: 'Bonn' and 'Bonn\\xa0'; write them alike in data and hierarchies, or set normalise = true
    """  # noqa: E501
    there = list(codes)
    groups = alike(there)
    if groups:
        shown = [" and ".join(map(visible, group)) for group in groups]
        more = f" (and {len(groups) - 5} more)" if len(groups) > 5 else ""
        _warn(f"codes of {name!r} look alike but are counted separately: {', '.join(shown[:5])}{more}; {CURE}")
    lone = {code for group in groups for code in group}
    unseen = [code for code in invisible(there) if code not in lone]
    if unseen:
        _warn(f"codes of {name!r} hold invisible characters: {listed(unseen, most=5)}; {CURE}")
    turned = [label for label in invisible(labels, turning=True) if label not in {*there}]
    if turned:
        _warn(f"labels of {name!r} hold marks that change the direction of writing: {listed(turned, most=5)}; {CURE}")


def _warn(what: str) -> None:
    warnings.warn(what, ProtectionWarning, stacklevel=4)
