"""How much a file may hold before it is refused: far more than honest files have, far less than crafted ones cost.

A small file can unpack to gigabytes, nest a million lists or name a cell in the last row of the largest sheet. Whoever
has an honest file beyond a limit raises it in the environment, which Python, jobs, the command line and the page read
alike: ``DISKRET_LIMITS="rows=2000000000,text=5000000"``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from functools import cache

from diskret.model.errors import BadOption, TooLarge, listed
from diskret.model.options import option

VARIABLE = "DISKRET_LIMITS"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest numbers that are read."""

    rows: int = option(50_000_000, "rows, lines or codes of a file that is read whole, entries of a list")
    columns: int = option(16_384, "columns of a workbook, variables of metadata, classifications of a table")
    cells: int = option(50_000_000, "filled cells of a workbook")
    text: int = option(1_000_000, "characters of one text: a code, a label, a cell")
    depth: int = option(100, "lists and tables inside each other, levels of a hierarchy")
    bytes: int = option(2_000_000_000, "bytes of a file that is read whole, packed or unpacked")
    unpacked: int = option(200, "bytes that one byte of a packed file may unpack to, beyond its first 5 million")


def limits() -> Limits:
    """The limits that hold now: the usual ones, but for those that the environment raises or lowers.

    >>> limits().columns
    16384
    """
    return _read(os.environ.get(VARIABLE, ""))


@cache
def _read(text: str) -> Limits:
    """Limits as they stand in the environment.

    >>> _read("depth=500, text=9").depth
    500
    """
    known = [f.name for f in fields(Limits)]
    given: dict[str, int] = {}
    for part in filter(str.strip, text.split(",")):
        name, _, number = (word.strip() for word in part.partition("="))
        digits = number.replace("_", "")
        if name not in known or not (digits.isascii() and digits.isdecimal() and 0 < len(digits) <= 18 and int(digits)):
            raise BadOption(
                f"{part.strip()[:80]!r} is not a limit",
                where=f"the environment variable {VARIABLE}",
                hint=f"write name=number, with commas between; names are {listed(known)}.",
            )
        given[name] = int(digits)
    return replace(Limits(), **given)


def refuse_more(limit: str, found: int, what: str, where: str = "") -> None:
    """Refuse ``found`` of something if that is more than a limit; ``what`` is said with the number in its gap.

    >>> refuse_more("columns", 3, "the sheet has {} columns")
    """
    most: int = getattr(limits(), limit)
    if found > most:
        raise TooLarge.over(limit, most, what.format(f"{found:,}"), where)
