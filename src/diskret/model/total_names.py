"""Codes that are called like a total, in the languages of offices: what a name tells, and how surely."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable
from typing import Literal

from diskret.model.errors import ProtectionWarning, listed

Named = Literal["surely", "perhaps"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SURE = _words(
    "insgesamt gesamt gesamtsumme gesamtergebnis gesamtzahl gesamtwert zusammen summe zwischensumme teilsumme endsumme "
    "total totals grandtotal subtotal subtotals totaux soustotal totale totali subtotale totales totalt totalsumma "
    "delsumma totaal subtotaal eindtotaal generaltotal"
)
"""Words that make a total of a name that begins or ends with them."""
ALONE = _words(
    "all alle alles alla allen sum sums summa suma somme somma insg overall ensemble samtliga tutti tutte tous toutes "
    "todos todas"
)
"""Words that make a total of a name if there is no other."""
PERHAPS = _words("t tt tot som ges zus zz zzz zzzz ergebnis")
"""Words that mean something else as well: T is a section of NACE, tot is German for dead, ZZ an unknown country."""
NOT = _words(
    "other others rest remaining without except excluding excl non not no ubrige ubrigen sonstige sonstiges sonstigen "
    "andere anderes anderen ohne ausser nicht autre autres sans hors otro otros otra otras sin resto altro altri altre "
    "senza ovriga andra utan overige andere zonder"
)
"""Words that make a category of what is named like a total: all other countries."""
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def named_total(code: str) -> Named | None:
    """How surely a name is that of a total; case, blanks, punctuation, accents and signs of footnotes do not matter.

    >>> [named_total(name) for name in ("Insgesamt 1)", "I n s g e s a m t", "Grand Total", "NRW zusammen", "_T")]
    ['surely', 'surely', 'surely', 'surely', 'surely']
    >>> [named_total(n) for n in ("T", "Tot.", "all other countries", "Gesamtschule", "05111")]
    ['perhaps', 'perhaps', None, None, None]
    """
    if code.isdecimal() or len(code) > 200:
        return None
    if code.strip().casefold() == "_t":
        return "surely"
    plain = "".join(c for c in unicodedata.normalize("NFKD", code.casefold()) if not unicodedata.combining(c))
    words = re.findall(r"[^\W\d_]+", plain)
    if not words or NOT.intersection(words):
        return None
    joined = "".join(words)
    if words[0] in SURE or words[-1] in SURE or joined in SURE or joined in ALONE:
        return "surely"
    return "perhaps" if joined in PERHAPS or words[-1] == "ergebnis" else None


def among_letters(code: str, others: list[str]) -> bool:
    """Whether a letter stands among its neighbours in the alphabet, as T does in NACE, but not beside M and F.

    >>> among_letters("T", ["S", "U"]), among_letters("T", ["F", "M"])
    (True, False)
    """
    at = ALPHABET.find(code)
    return len(code) == 1 and at >= 0 and bool({ALPHABET[at - 1 : at], ALPHABET[at + 1 : at + 2]}.intersection(others))


def warn_of_totals(name: str, codes: Iterable[str]) -> None:
    """Warn of codes of records that are named like totals, where there is nothing to check them by.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     warn_of_totals("region", ["N", "S", "Total"])
    >>> print(said[0].message)
    'Total' in column 'region' is named like a total: leave its rows out if they are totals and not records
    """
    found = [code for code in codes if named_total(code) == "surely"]
    if found:
        are = "are named like totals" if len(found) > 1 else "is named like a total"
        what = f"{listed(found)} in column {name!r} {are}: leave its rows out if they are totals and not records"
        warnings.warn(what, ProtectionWarning, stacklevel=3)
