"""Types 2 to 4: one line per cell, for pivot tables, as code and value, and for the business statistics of Eurostat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table
from diskret.publication.argus.cells import (
    EMPTY,
    FREQUENCY,
    MANUAL,
    PROTECTED,
    REQUEST,
    RULE,
    SAFE,
    SAFE_BY_HAND,
    SECONDARY,
    SECONDARY_BY_HAND,
    ZERO,
    contributors_of,
    decimals_in,
    ranks_of,
    shadow_of,
    status_numbers,
)
from diskret.publication.argus.layout import END, Layout, Texts, numbers, wholes
from diskret.publication.argus.options import SafeFile
from diskret.publication.formulas import escaped

FLAGS = {SAFE: "V", SAFE_BY_HAND: "V", PROTECTED: "V", FREQUENCY: "A", EMPTY: "-"}
FLAGS |= {SECONDARY: "D", SECONDARY_BY_HAND: "D"}
ALTERED = {"rounded": "_Round", "adjusted": "_CTA"}


def records(
    layout: Layout, columns: Sequence[tuple[str, Texts]], by: Sequence[str], options: SafeFile, left: Bools | None
) -> Iterator[str]:
    """Codes and columns of every cell, with their names in the first line if they are asked for."""
    if options.format == "pivot" if options.names_first is None else options.names_first:
        yield _first_line([*by, *(name for name, _ in columns)], options)
    yield from layout.rows([*layout.codes(), *(column for _, column in columns)], ",", left)


def _first_line(names: Sequence[str], options: SafeFile) -> str:
    texts = [escaped(name.replace('"', "'")) for name in names]
    broken = [name for name in texts if re.search(r"[\r\n]" if options.quotes else r"[\r\n,]", name)]
    if broken:
        raise BadOption(
            f"columns {listed(broken)} cannot be named in the first line",
            hint="names have no line breaks, and without quotes no commas; or leave them out.",
        )
    return ",".join(f'"{text}"' if options.quotes else text for text in texts) + END


def with_status(layout: Layout, table: Table, name: str, options: SafeFile) -> list[tuple[str, Texts]]:
    """Every value, hidden or not, and its status as a number."""
    found = layout.order(status_numbers(table))
    values = dashed(numbers(layout.order(table.published_value), decimals_in(table, options)), found == EMPTY)
    return [(name, values), ("Status", wholes(found))]


def response_name(table: Table) -> str:
    """What the first line calls the values."""
    return "Freq" if table.frequency else table.response + ALTERED.get(table.altered, "")


def dashed(texts: Texts, empty: Bools) -> Texts:
    """The same column with a dash where there is nothing."""

    def column(cells: Any) -> list[str]:
        found = np.array(texts(cells), dtype=object)
        found[empty[cells]] = "-"
        shown: list[str] = found.tolist()
        return shown

    return column


def sbs(layout: Layout, table: Table, options: SafeFile) -> Iterator[str]:
    """Every cell somebody contributes to: its value, frequency and flag, and shares of the largest contributors.

    Flags: A too few contributors, B or C dominated by one or two, F caught by p%, D secondary, V open.
    """
    people = contributors_of(table, holding=table.holdings is not None)
    found = layout.order(status_numbers(table))
    ranks = ranks_of(table, people and people.judged) if table.judges else 0
    close = any(judge.name.startswith(("p%", "(p,q)")) for judge in table.judges)
    flags = _flags(ranks, close=close)[found]
    uncounted = people is None or not table.counted
    count = np.where(found == EMPTY, 0, 1) if people is None or uncounted else layout.order(people.count)
    unsafe = (found == RULE) | (found == REQUEST) | (found == ZERO) | (found == MANUAL)
    largest = None if people is None else people.judged.largest
    shares = _shares(layout, table, largest, ranks, close=close)
    values = dashed(numbers(layout.order(table.published_value), decimals_in(table, options)), found == EMPTY)

    def tail(cells: Any) -> list[str]:
        texts = flags[cells]
        for share in shares:
            said = [f",{x:.1f}" if told else "" for x, told in zip(share[cells], unsafe[cells], strict=True)]
            texts = texts + np.array(said, dtype=object)
        done: list[str] = texts.tolist()
        return done

    codes = layout.codes()
    if options.hierarchical_levels:
        codes = list(chain.from_iterable(zip(codes, layout.levels(), strict=True)))
    yield from layout.rows([*codes, values, wholes(count), tail], ",", found == EMPTY)


def _flags(ranks: int, *, close: bool) -> npt.NDArray[np.object_]:
    """Letters by the numbers of statuses."""
    flags = [FLAGS.get(number, "B") for number in range(EMPTY + 1)]
    flags[RULE] = "F" if close else "C" if ranks > 1 else "B"
    return np.array(flags, dtype=object)


def _shares(layout: Layout, table: Table, largest: Floats | None, ranks: int, *, close: bool) -> list[Floats]:
    """Percentages of the largest contributions: of the first two each for p%, else of those a rule adds up."""
    whole = layout.order(np.abs(shadow_of(table)))
    safe = np.where(whole == 0, 1.0, whole)
    none = np.zeros(whole.size)
    top = [layout.order(largest[..., j]) for j in range(min(ranks, 2))] if largest is not None else []
    first, second = (*top, none, none)[:2]
    if close:
        return [np.where(whole == 0, 0.0, 100.0 * each / safe) for each in (first, second)]
    return [np.where(whole == 0, 0.0, 100.0 * (first + second) / safe)]
