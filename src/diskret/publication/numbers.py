"""Numbers as they leave: with the decimals the data have, never with what binary fractions add to them."""

from __future__ import annotations

import re

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.exact import AMOUNTS, from_units
from diskret.model.tolerances import EXACT_LIMIT

NUMBER = re.compile(r"(?P<sign>-?)(?P<whole>[0-9]+)(?P<rest>(?:[.][0-9]+)?)")
SWAPPED = str.maketrans(",.", ".,")
NOISE = 1e-12
"""What adding up binary fractions leaves behind, relative to a value: given sums may be off by as much, too."""
CLEAR = 1e-3
"""Nearer than this to a whole number of units; further off a number means other digits."""


def meant_decimals(values: Floats) -> int | None:
    """Decimals of amounts that were added up as binary fractions elsewhere; None where the values are no such sums.

    >>> meant_decimals(np.array([10256319.389999999, 0.1 + 0.2])), meant_decimals(np.array([1 / 3]))
    (2, None)
    """
    size = np.abs(values)
    largest = float(size.max(initial=0.0))
    for decimals in range(AMOUNTS + 1):
        units = values * 10.0**decimals
        if not largest * 10.0**decimals < EXACT_LIMIT / 8:
            return None
        near = np.minimum(NOISE * size * 10.0**decimals, CLEAR)
        if (np.abs(units - np.rint(units)) <= near).all():
            return decimals
    return None


def to_decimals(values: Floats, decimals: int | None) -> Floats:
    """The doubles nearest to the decimals that the values mean.

    >>> to_decimals(np.array([10256319.389999999, np.nan]), 2).tolist()
    [10256319.39, nan]
    """
    return values if decimals is None else from_units(np.rint(values * 10.0**decimals), decimals)


def number_words(values: Floats, decimals: int | None, point: str = ".") -> list[str]:
    """Numbers as text that means them exactly: all with their decimals, or each as short as it can be; no exponents.

    >>> number_words(np.array([0.5, 12.25]), 2), number_words(np.array([1 / 3, 2.0, 1e-7, 1e22]), None, ",")
    (['0.50', '12.25'], ['0,3333333333333333', '2', '0,0000001', '10000000000000000000000'])
    """
    write = _shortest if decimals is None else f"{{:.{decimals}f}}".format
    found = list(map(write, values.tolist()))
    return found if point == "." else [word.replace(".", point) for word in found]


def number_text(number: float, language: str = "en") -> str:
    """A number for the eye: groups of three digits, four leading ones of a fraction, no exponents.

    >>> number_text(12345), number_text(0.123456, "de"), number_text(12345, "de")
    ('12,345', '0,1235', '12.345')
    >>> number_text(12345678.9), number_text(0.00000012345), number_text(2.50)
    ('12,350,000', '0.0000001235', '2.5')
    """
    if isinstance(number, int) or not np.isfinite(number):
        return grouped(f"{number}", language)
    return grouped(np.format_float_positional(float(f"{number:.4g}"), trim="-"), language)


def grouped(text: str, language: str = "en") -> str:
    """The text of a number with groups of three digits and the signs of the language; other texts as they are.

    >>> grouped("-1234567.50", "de"), grouped("1234", "en"), grouped("x", "de")
    ('-1.234.567,50', '1,234', 'x')
    """
    found = NUMBER.fullmatch(text)
    if not found:
        return text
    shown = f"{found['sign']}{int(found['whole']):,}{found['rest']}"
    return shown.translate(SWAPPED) if language == "de" else shown


def _shortest(number: float) -> str:
    text = repr(number)
    return np.format_float_positional(number, trim="-") if "e" in text else text.removesuffix(".0")
