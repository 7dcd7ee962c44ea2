"""A table as plain JSON: everything a promise depends on, for checkers that share no code with diskret. Confidential.

The format is described in ``docs/certificate.md``. Numbers are decimals in quotes, so that every reader means the same
number and a hash of the text is a hash of the table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.io.files import whole_file
from diskret.model.arrays import Floats, Ints
from diskret.model.cells import Cells
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption
from diskret.model.exact import exact
from diskret.model.grid import digits_of, whole
from diskret.model.rule import Rule
from diskret.model.status import Status
from diskret.rules.further import Request
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent

FORMAT = "diskret plain table 1"
NOTE = "confidential: hidden values, contributions and parameters of rules"

Plain = dict[str, Any]


def write_plain(tables: Cells | Mapping[str, Cells], path: str | PathLike[str]) -> None:
    """Write one or several tables as plain JSON for ``tools/check_certificate.py``, whole or not at all. Confidential.

    >>> import tempfile
    >>> from diskret import Table
    >>> table = Table.from_cells({"s": ["m", "w"], "x": [0.5, 2]}, by={"s": None}, value="x")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plain(table, Path(folder) / "table.json")
    ...     json.loads((Path(folder) / "table.json").read_text())["tables"]["x"]["value"]
    ['0.5', '2', '2.5']
    """
    several = tables if isinstance(tables, Mapping) else {tables.response: tables}
    content = {"format": FORMAT, "note": NOTE, "tables": {name: plain_table(each) for name, each in several.items()}}
    with whole_file(Path(path), private=True) as part:
        part.write_text(json.dumps(content), encoding="utf-8", newline="")


def hash_of(plain: Plain) -> str:
    """The name a certificate knows a table by: the SHA-256 of its plain form, written in one way only.

    >>> hash_of({"b": 1, "a": ["x"]})[:12]
    '9bfce180614e'
    """
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def plain_table(table: Cells) -> Plain:
    """Everything a promise about a table depends on, as plain data."""
    table.refuse_sparse("a certificate")
    judged_by_shadow = any(p is not None and p.shadow_absolute is not None for p in (table.respondents, table.holdings))
    judges = [each for each in table.judges if not (isinstance(each, Request) and judged_by_shadow)]
    rules = [each for each in map(_rule, judges) if each is not None]
    asked = any(isinstance(each, Request) for each in judges)
    ranks = max([1, *(rule.largest for rule in table.judges)])
    words = np.array([status.text for status in Status])
    return {
        "response": table.response,
        "frequency": table.frequency,
        "positive": table.positive,
        "weighted": table.weighted,
        **(_trees(table) if table.by else _equations(table)),
        "value": _decimals(table.value),
        "status": words[table.status.reshape(-1)].tolist(),
        "below": _column(table.below),
        "above": _column(table.above),
        "lower": _ends(table.lower),
        "upper": _ends(table.upper),
        "respondents": _people(table.respondents, ranks, asked=asked),
        "holdings": _people(table.holdings, ranks, asked=asked),
        "rules": rules,
    }


def _trees(table: Cells) -> Plain:
    classifications = [
        {"name": name, "codes": list(h.codes), "groupings": [list(parents) for parents in (h.parents, *h.further)]}
        for name, h in table.by.items()
    ]
    return {"classifications": classifications, "cells": None, "equations": None}


def _equations(table: Cells) -> Plain:
    """Codes and equations of cells that are no product."""
    named = [table.codes((cell,)) for cell in range(table.size)]
    numbers: list[dict[str, int]] = [{} for _ in table.names]
    cells = [
        [known.setdefault(code, len(known)) for known, code in zip(numbers, codes, strict=True)] for codes in named
    ]
    system = table.equations(np.ones(table.size, dtype=np.bool_))
    start, times = system.start.tolist(), np.rint(system.coefficients).astype(np.int64).tolist()
    members, sums = system.cells[system.columns].tolist(), system.sum_cell.tolist()
    rows = [
        {"sum": total, "cells": members[begin:end], "times": times[begin:end]}
        for total, begin, end in zip(sums, start[:-1], start[1:], strict=True)
    ]
    named_by = [
        {"name": name, "codes": list(known), "groupings": []} for name, known in zip(table.names, numbers, strict=True)
    ]
    return {"classifications": named_by, "cells": cells, "equations": rows}


def _people(people: Contributors | None, ranks: int, *, asked: bool) -> Plain | None:
    if people is None:
        return None
    largest = None if people.largest is None else _lists(people.largest[..., :ranks])
    return {
        "count": people.count.reshape(-1).tolist(),
        "largest": largest,
        "absolute": _column(people.absolute),
        "protected_count": _counts(people.protected_count),
        "protected_largest": _column(people.protected_largest),
        "public_count": _counts(people.public_count),
        "public_value": _column(people.public_value),
        "owner": _counts(getattr(people, "owner", None)),
        # only where a rule asks for it, as in plain files of earlier versions
        **({"asked": _lists(people.asked)} if asked and people.asked is not None else {}),
    }


def _lists(numbers: Floats) -> list[list[str]]:
    """Several numbers of every cell."""
    flat, each = _decimals(numbers), numbers.shape[-1]
    return [flat[i : i + each] for i in range(0, len(flat), each)]


def _rule(rule: Rule) -> Plain | None:
    """A rule that can judge hidden cells taken together; the others have nothing to do with the promise."""
    match rule:
        case MinCount(weighted=True):
            return None
        case MinCount():
            own: Plain = {"n": rule.n, "zeros": rule.zeros}
        case Dominance():
            own = {"n": rule.n, "k": str(exact(rule.k))}
        case PPercent():
            own = {"p": str(exact(rule.p)), **_together(rule.n)}
        case PQ():
            own = {"p": str(exact(rule.p)), "q": str(exact(rule.q)), **_together(rule.n)}
        case Request():
            own = {"percents": [str(exact(each)) for each in rule.percents], "fewest": rule.n}
        case _:
            return None
    kind = next(each.__name__ for each in (MinCount, Dominance, PPercent, PQ, Request) if isinstance(rule, each))
    return {"kind": kind, **own, "counted_by": rule.counted_by}


def _together(n: int) -> dict[str, int]:
    """How many work together; that nobody does goes without saying, as in plain files of earlier versions."""
    return {"n": n} if n > 1 else {}


def _counts(numbers: Ints | None) -> list[int] | None:
    return None if numbers is None else numbers.reshape(-1).tolist()


def _column(numbers: Floats | None) -> list[str] | None:
    return None if numbers is None else _decimals(numbers)


def _ends(numbers: Floats | None) -> list[str | None] | None:
    """Ends of prior intervals; None where there is none."""
    if numbers is None:
        return None
    flat = numbers.reshape(-1)
    finite = np.isfinite(flat)
    texts: Sequence[str] = _decimals(np.where(finite, flat, 0.0))
    return [text if known else None for text, known in zip(texts, finite.tolist(), strict=True)]


def _decimals(numbers: Floats) -> list[str]:
    """The decimals that numbers mean."""
    flat = numbers.reshape(-1)
    if not np.isfinite(flat).all():
        raise BadOption("a value of the table is missing or infinite", hint="give every cell a number.")
    digits = digits_of(flat)
    if digits is None:
        return [decimal(number) for number in flat.tolist()]
    # most cells have no levels and the same few numbers
    distinct, place = np.unique(whole(flat, digits), return_inverse=True)
    texts = np.array([_text(int(steps), digits) for steps in distinct], dtype=object)
    return texts[place].tolist()  # type: ignore[no-any-return]


def _text(steps: int, digits: int) -> str:
    """A whole number of steps of 10**-digits as a decimal."""
    if not digits:
        return str(steps)
    text = str(abs(steps)).zfill(digits + 1)
    return _short(f"{'-' if steps < 0 else ''}{text[:-digits]}.{text[-digits:]}")


def _short(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def decimal(number: float) -> str:
    """The decimal a number means, in the one way it is written: neither exponent nor zeros that say nothing.

    >>> decimal(0.1), decimal(1e22), decimal(-2.0), decimal(-0.0)
    ('0.1', '10000000000000000000000', '-2', '0')
    """
    if not np.isfinite(number):
        raise BadOption("a value of the table is missing or infinite", hint="give every cell a number.")
    return _short(format(Decimal(repr(float(number))), "f"))
