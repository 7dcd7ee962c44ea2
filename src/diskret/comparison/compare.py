"""One call, all methods: the same microdata protected in every way, measured side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy.typing as npt

from diskret.cellkey.cell_key import draw_keys
from diskret.comparison import changing, hiding
from diskret.comparison.chart import comparison_chart
from diskret.comparison.options import METHODS, ComparisonOptions
from diskret.comparison.outcome import Measured, Outcome, measure, plain_rows, without_care
from diskret.model.engine import identifier
from diskret.model.errors import BadOption, DiskretError, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.notebook import as_html, paragraphs, rows_html
from diskret.model.sheets import unique_names
from diskret.model.source import open_source
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.mark import mark
from diskret.rules.rule import AnyOf, Rule, largest_needed
from diskret.tabulation.options import Roles, TabulationOptions
from diskret.tabulation.plan import RecordKey
from diskret.tabulation.tabulate import Progress, tabulate

KEY = "diskret_record_key"
RANKED = 3
"""Largest contributions that the noise of magnitudes looks at."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison:
    """Methods side by side. Internal: the numbers are not values, but they tell where each method is weak."""

    table: Table
    methods: tuple[Measured, ...]
    refused: Mapping[str, str]
    """Methods that could not be run, and why."""
    options: ComparisonOptions

    def __getitem__(self, method: str) -> Measured:
        for each in self.methods:
            if each.method == method:
                return each
        raise BadOption(f"{method!r} was not compared", hint=f"compared were {listed(m.method for m in self.methods)}.")

    @property
    def primary(self) -> int:
        """Primary cells of the table."""
        return int((self.table.status == Status.PRIMARY).sum())

    def plain(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "response": self.table.response,
            "cells": self.table.size,
            "primary": self.primary,
            "percent": self.options.percent,
            "methods": [m.plain() for m in self.methods],
            "refused": dict(self.refused),
        }

    def rows(self) -> list[Mapping[str, Any]]:
        """One flat row per method, for a file."""
        return plain_rows(self.methods)

    def overview(self) -> tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]:
        """The table that a report shows: head and rows."""
        p = f"{self.options.percent:g} %"
        head = (
            "method", "cells lost", "with interval", "mean deviation", "mean relative deviation %", "sums off",
            "primary known exactly", f"known within {p}", "below demand", f"guessed within {p}", "CPU s",
        )  # fmt: skip
        rows: list[tuple[str | int | float | None, ...]] = [
            (m.method, m.lost, m.interval_only, _rounded(m.overall.mean_absolute, ".4g"),
             _rounded(_percent(m.overall.mean_relative), ".2f"), f"{m.sums_off} of {m.sums}", m.exact, m.within,
             m.below_demand, m.guessed, round(m.seconds, 2))
            for m in self.methods
        ]  # fmt: skip
        return head, rows

    def chart(self) -> dict[str, Any]:
        """Loss and protection of every method as a Vega-Lite chart."""
        return comparison_chart(self.methods, self.options.percent)

    def sections(self) -> list[dict[str, Any]]:
        """What a report shows, as plain sections."""
        head, rows = self.overview()
        p = self.options.percent
        text = [
            f"The same microdata, {int((~self.table.empty).sum()):,} occupied cells, protected by every method. The "
            "attacker knows the method and its parameters, sees everything published, and knows that true values add "
            "up.",
            "Known exactly: only one value fits. Known within: every value that fits is that close. Below demand: the "
            "interval of what fits reaches less far than the primary rule demands. Guessed within: the best guess is "
            f"that close ({p:g} %), but the attacker cannot tell for which cells. Suppression and merging publish true "
            "values or "
            "none; their loss is what is missing.",
        ]
        notes = [[m.method, note] for m in self.methods for note in m.notes]
        notes += [[name, f"not run: {why}"] for name, why in self.refused.items()]
        sizes = [
            [m.method, s.label, s.cells, s.mean_absolute, _percent(s.mean_relative), s.largest]
            for m in self.methods
            for s in m.deviations
        ]
        columns = ["method", "contributors", "cells", "mean absolute", "mean relative %", "largest"]
        return [
            {
                "title": "Methods side by side",
                "text": text,
                "tables": [{"head": head, "rows": rows}],
                "charts": [{"spec": self.chart(), "caption": "Shares of occupied cells and of primary cells"}],
            },
            {
                "title": "Deviations by cell size",
                "text": "Published cells against the original, by their number of contributors.",
                "tables": [{"head": columns, "rows": sizes}],
            },
            {"title": "What to know about each", "tables": [{"head": ["method", "note"], "rows": notes}]},
        ]

    def _repr_html_(self) -> str:
        head, rows = self.overview()
        texts = [[("-" if entry is None else str(entry), "") for entry in row] for row in rows]
        return as_html(repr(self), rows_html(head, texts), paragraphs(self._below()))

    def __str__(self) -> str:
        head, rows = self.overview()
        lines = _aligned([head, *[tuple("-" if c is None else str(c) for c in row) for row in rows]])
        return "\n".join([*lines, *self._below()])

    def __repr__(self) -> str:
        return f"Comparison({', '.join(m.method for m in self.methods)})"

    def _below(self) -> list[str]:
        """What is said about all methods and each."""
        lines = [f"{int((~self.table.empty).sum())} occupied cells, {self.primary} of them primary"]
        lines += [f"{m.method}: {note}" for m in self.methods for note in m.notes]
        return lines + [f"{name}: not run, {why}" for name, why in self.refused.items()]


def compare_methods(
    microdata: object,
    *,
    by: Mapping[str, Hierarchy | None],
    value: str | None = None,
    rules: Rule | AnyOf,
    key: str | RecordKey | None = None,
    methods: Sequence[str] = METHODS,
    options: ComparisonOptions | None = None,
    progress: Progress | None = None,
    **older: Any,
) -> Comparison:
    """Protect the same microdata by every method and report protection and loss side by side.

    ``by``, ``value`` and ``key`` are as in `tabulate`; without a key column keys are drawn. ``rules`` say which cells
    are primary. ``methods`` chooses some of suppression, intervals, cuboid perturbation, random rounding, controlled
    rounding, cell key, merging, SAFE; ``options`` are their parameters (as ``settings`` they are deprecated). The
    attacker knows the method and its parameters, sees everything published, and knows that true values add up. A method
    that cannot protect the table is listed with its reason. The records are held in memory.

    >>> from diskret import SmallCells
    >>> people = {"region": ["N"] * 40 + ["S"] * 20 + ["W"] * 3, "sex": ["m", "w", "w"] * 21}
    >>> found = compare_methods(people, by={"region": None, "sex": None}, rules=SmallCells(3),
    ...                         methods=["suppression", "cell key", "merging"])
    >>> [(m.method, m.lost, m.exact, m.sums_off > 0) for m in found.methods]
    [('suppression', 6, 0, False), ('cell key', 0, 0, True), ('merging', 6, 0, False)]
    """
    chosen = _with_older(options, older)
    _refuse_unknown(methods)
    say = progress or (lambda what, done, of: None)
    records, keyed = _records(microdata, by, value, key, chosen.seed)
    ranked = max(RANKED, largest_needed(rules))
    judged = TabulationOptions(categories=chosen.categories)
    table = tabulate(records, by=dict(by), value=value, largest=ranked, roles=Roles(key=keyed), options=judged)
    with without_care():
        marked = mark(table, rules, ordered=chosen.ordered, special_cases=False)
    work = _work(marked, records, rules, chosen)
    found: list[Measured] = []
    refused: dict[str, str] = {}
    for number, name in enumerate(m for m in METHODS if m in methods):
        say(f"comparing: {name}", number, len(methods))
        try:
            found.append(measure(_timed(work[name]), marked, chosen.percent))
        except DiskretError as e:
            refused[name] = f"[{e.code}] {e.what}"
    return Comparison(table=marked, methods=tuple(found), refused=refused, options=chosen)


def _refuse_unknown(methods: Sequence[str]) -> None:
    unknown = [m for m in methods if m not in METHODS]
    if unknown or not methods:
        raise BadOption(f"methods {listed(unknown)}" if unknown else "no methods", hint=f"choose of {listed(METHODS)}.")


def _with_older(options: ComparisonOptions | None, older: Mapping[str, Any]) -> ComparisonOptions:
    """The options, also as ``settings``, the name they had before."""
    if set(older) - {"settings"}:
        raise TypeError(f"compare_methods() got an unexpected keyword argument {min(set(older) - {'settings'})!r}")
    if older:
        warnings.warn(
            "compare_methods(settings=...) is deprecated: it is options=...", DeprecationWarning, stacklevel=3
        )
    return options or older.get("settings") or ComparisonOptions()


def _timed(method: Callable[[], Outcome]) -> Outcome:
    """The outcome of a method with the seconds it took, unless it knows them itself."""
    started = time.process_time()
    outcome = method()
    return outcome if outcome.seconds else replace(outcome, seconds=time.process_time() - started)


def _work(
    table: Table, records: Mapping[str, Any], rules: Rule | AnyOf, options: ComparisonOptions
) -> dict[str, Callable[[], Outcome]]:
    """What to do for every method; the pattern of suppression is made once for both that use it."""

    @cache
    def pattern() -> tuple[Table, tuple[str, ...], float]:
        started = time.process_time()
        return *hiding.suppressed(table), time.process_time() - started

    def hidden(method: Callable[[Table, Table, tuple[str, ...]], Outcome]) -> Outcome:
        pattern_table, notes, seconds = pattern()
        started = time.process_time()
        outcome = method(table, pattern_table, notes)
        return replace(outcome, seconds=seconds + time.process_time() - started)

    return {
        "suppression": lambda: hidden(hiding.by_suppression),
        "intervals": lambda: hidden(hiding.by_intervals),
        "cuboid perturbation": lambda: changing.by_cuboids(table, options),
        "random rounding": lambda: changing.by_rounding(table, options, "random"),
        "controlled rounding": lambda: changing.by_rounding(table, options, "controlled"),
        "cell key": lambda: changing.by_cell_key(table, options),
        "merging": lambda: hiding.by_merging(table, rules, options),
        "SAFE": lambda: changing.by_safe(table, records, options),
    }


def _records(
    microdata: object, by: Mapping[str, Hierarchy | None], value: str | None, key: str | RecordKey | None, seed: int
) -> tuple[dict[str, npt.NDArray[Any]], RecordKey]:
    """The columns all methods need, in memory; with keys drawn where there are none."""
    given = RecordKey.of(key)
    data = open_source(microdata)
    try:
        numbers = [c for c in (value, given.column if given else None) if c is not None]
        data.require([*by, *numbers])
        data.refuse_bad_numbers(numbers)
        parts = [f"{data.code(name)} AS {identifier(name)}" for name in by]
        parts += [f"CAST({data.number(name)} AS DOUBLE) AS {identifier(name)}" for name in numbers]
        found = data.arrays(f"SELECT {', '.join(parts)} FROM {data.view}")
    finally:
        data.connection.close()
    if given is not None:
        return found, given
    *_, name = unique_names([*found, KEY])
    found[name] = draw_keys(len(next(iter(found.values()))), seed)
    return found, RecordKey(name)


def _aligned(texts: Sequence[Sequence[str]]) -> list[str]:
    """Rows of texts in columns, the first to the left."""
    wide = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join([f"{first:<{wide[0]}}", *(f"{c:>{w}}" for c, w in zip(rest, wide[1:], strict=True))])
        for first, *rest in texts
    ]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _rounded(number: float | None, form: str) -> float | None:
    return None if number is None else float(f"{number:{form}}")
