"""One call, all methods: the same microdata protected in every way, measured side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from diskret.cellkey.cell_key import draw_keys
from diskret.comparison import changing, hiding
from diskret.comparison.chart import comparison_chart
from diskret.comparison.outcome import Measured, Outcome, measure, plain_rows
from diskret.comparison.settings import METHODS, Settings
from diskret.model.errors import BadOption, DiskretError, ProtectionWarning, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import open_source
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.mark import mark
from diskret.rules.rule import AnyOf, Rule, largest_needed
from diskret.tabulation.options import Roles
from diskret.tabulation.plan import RecordKey
from diskret.tabulation.tabulate import Progress, tabulate

KEY = "diskret_record_key"
RANKED = 3
"""Largest contributions that the noise of magnitudes looks at."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods side by side. Internal: the numbers are no values, but they tell where each method is weak."""

    table: Table
    methods: tuple[Measured, ...]
    refused: Mapping[str, str]
    """Methods that could not be run, and why."""
    settings: Settings

    def __getitem__(self, method: str) -> Measured:
        for each in self.methods:
            if each.method == method:
                return each
        raise BadOption(f"{method!r} was not compared", hint=f"compared were {listed(m.method for m in self.methods)}.")

    def plain(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "response": self.table.response,
            "cells": self.table.size,
            "primary": int((self.table.status == Status.PRIMARY).sum()),
            "percent": self.settings.percent,
            "methods": [m.plain() for m in self.methods],
            "refused": dict(self.refused),
        }

    def rows(self) -> list[Mapping[str, Any]]:
        """One flat row per method, for a file."""
        return plain_rows(self.methods)

    def overview(self) -> tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]:
        """The table that a report shows: head and rows."""
        p = f"{self.settings.percent:g} %"
        head = (
            "method", "cells lost", "with interval", "mean deviation", "mean relative deviation %", "sums off",
            "primary known exactly", f"known within {p}", "below demand", f"guessed within {p}", "CPU s",
        )  # fmt: skip
        rows: list[tuple[str | int | float | None, ...]] = []
        for m in self.methods:
            relative = m.overall.mean_relative
            rows.append(
                (m.method, m.lost, m.interval_only, _short(m.overall.mean_absolute),
                 None if relative is None else round(100 * relative, 2), f"{m.sums_off} of {m.sums}", m.exact, m.within,
                 m.below_demand, m.guessed, round(m.seconds, 2))
            )  # fmt: skip
        return head, rows

    def chart(self) -> dict[str, Any]:
        """Loss and protection of every method as a Vega-Lite chart."""
        return comparison_chart(self.methods, self.settings.percent)

    def sections(self) -> list[dict[str, Any]]:
        """What a report shows, as plain sections."""
        head, rows = self.overview()
        p = self.settings.percent
        text = [
            f"The same microdata, {int((~self.table.empty).sum()):,} occupied cells, protected by every method. The "
            "attacker knows the method and its parameters, sees everything published, and knows that true values add "
            "up.",
            "Known exactly: only one value fits. Known within: every value that fits is that close. Below demand: the "
            "interval of what fits reaches less far than the primary rule demands. Guessed within: the best guess is "
            f"that close ({p:g} %), but he cannot tell for which cells. Suppression and merging publish true values or "
            "none; their loss is what is missing.",
        ]
        notes = [[m.method, note] for m in self.methods for note in m.notes]
        notes += [[name, f"not run: {why}"] for name, why in self.refused.items()]
        sizes = [
            [m.method, s.label, s.cells, s.mean_absolute, None if s.mean_relative is None else 100 * s.mean_relative,
             s.largest]
            for m in self.methods
            for s in m.deviations
        ]  # fmt: skip
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

    def __str__(self) -> str:
        head, rows = self.overview()
        texts = [head, *[tuple("-" if c is None else str(c) for c in row) for row in rows]]
        wide = [max(len(t[i]) for t in texts) for i in range(len(head))]
        lines = ["  ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(t, wide, strict=True)))
                 for t in texts]  # fmt: skip
        primary = int((self.table.status == Status.PRIMARY).sum())
        lines.append(f"{int((~self.table.empty).sum())} occupied cells, {primary} of them primary")
        lines += [f"{m.method}: {note}" for m in self.methods for note in m.notes]
        lines += [f"{name}: not run, {why}" for name, why in self.refused.items()]
        return "\n".join(lines)


def compare_methods(
    microdata: object,
    *,
    by: Mapping[str, Hierarchy | None],
    value: str | None = None,
    rules: Rule | AnyOf,
    key: str | RecordKey | None = None,
    methods: Sequence[str] = METHODS,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Protect the same microdata by every method and report protection and loss side by side.

    ``by``, ``value`` and ``key`` are as in `tabulate`; without a key column keys are drawn. ``rules`` say which cells
    are primary. ``methods`` chooses some of suppression, intervals, cuboid perturbation, random rounding, controlled
    rounding, cell key, merging, SAFE; ``settings`` are their parameters. The attacker knows the method and its
    parameters, sees everything published, and knows that true values add up. A method that cannot protect the table is
    listed with its reason. The records are held in memory.

    >>> from diskret import SmallCells
    >>> people = {"region": ["N"] * 40 + ["S"] * 20 + ["W"] * 3, "sex": ["m", "w", "w"] * 21}
    >>> found = compare_methods(people, by={"region": None, "sex": None}, rules=SmallCells(3),
    ...                         methods=["suppression", "cell key", "merging"])
    >>> [(m.method, m.lost, m.exact, m.sums_off > 0) for m in found.methods]
    [('suppression', 6, 0, False), ('cell key', 0, 0, True), ('merging', 6, 0, False)]
    """
    chosen = settings or Settings()
    unknown = [m for m in methods if m not in METHODS]
    if unknown or not methods:
        raise BadOption(f"methods {listed(unknown)}" if unknown else "no methods", hint=f"choose of {listed(METHODS)}.")
    say = progress or (lambda what, done, of: None)
    records, keyed = _records(microdata, by, value, key, chosen.seed)
    ranked = max(RANKED, largest_needed(rules))
    table = tabulate(records, by=dict(by), value=value, largest=ranked, roles=Roles(key=keyed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        marked = mark(table, rules, ordered=chosen.ordered, special_cases=False)
    work = _work(marked, records, rules, chosen)
    found: list[Measured] = []
    refused: dict[str, str] = {}
    for number, name in enumerate(m for m in METHODS if m in methods):
        say(f"comparing: {name}", number, len(methods))
        try:
            started = time.process_time()
            outcome = work[name]()
            outcome = outcome if outcome.seconds else replace(outcome, seconds=time.process_time() - started)
        except DiskretError as e:
            refused[name] = f"[{e.code}] {e.what}"
            continue
        found.append(measure(outcome, marked, chosen.percent))
    return Comparison(marked, tuple(found), refused, chosen)


def _work(
    table: Table, records: Mapping[str, Any], rules: Rule | AnyOf, settings: Settings
) -> dict[str, Callable[[], Outcome]]:
    """What to do for every method; the pattern of suppression is made once for both that use it."""
    patterns: list[tuple[Table, tuple[str, ...], float]] = []

    def pattern() -> tuple[Table, tuple[str, ...], float]:
        if not patterns:
            started = time.process_time()
            patterns.append((*hiding.suppressed(table), time.process_time() - started))
        return patterns[0]

    def hidden(method: Callable[[Table, Table, tuple[str, ...]], Outcome]) -> Outcome:
        pattern_table, notes, seconds = pattern()
        started = time.process_time()
        outcome = method(table, pattern_table, notes)
        return replace(outcome, seconds=seconds + time.process_time() - started)

    return {
        "suppression": lambda: hidden(hiding.by_suppression),
        "intervals": lambda: hidden(hiding.by_intervals),
        "cuboid perturbation": lambda: changing.by_cuboids(table, settings),
        "random rounding": lambda: changing.by_rounding(table, settings, "random"),
        "controlled rounding": lambda: changing.by_rounding(table, settings, "controlled"),
        "cell key": lambda: changing.by_cell_key(table, settings),
        "merging": lambda: hiding.by_merging(table, rules, settings),
        "SAFE": lambda: changing.by_safe(table, records, settings),
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
        parts = [f"{data.code(name)} AS {data.column(name)}" for name in by]
        parts += [f"CAST({data.number(name)} AS DOUBLE) AS {data.column(name)}" for name in numbers]
        found = data.arrays(f"SELECT {', '.join(parts)} FROM {data.view}")
    finally:
        data.connection.close()
    if given is not None:
        return found, given
    found[KEY] = draw_keys(len(next(iter(found.values()))), seed)
    return found, RecordKey(KEY)


def _short(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")
