"""What the user sees: a bar while it lasts, a summary when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from diskret.job.outcome import JobResult
    from diskret.model.errors import DiskretError
    from diskret.model.table import Table


def echo_json(plain: Any) -> None:
    """Print plain data as JSON."""
    import json

    typer.echo(json.dumps(plain, ensure_ascii=False, indent=2))


def cures(error: DiskretError) -> list[str]:
    """What cures an error, each as the line to add to the job file, or as an option of the command.

    >>> from diskret.model.errors import Cure, NotFinite
    >>> leave_out = Cure(key="table.without_value", value="leave out", label="leave those rows out")
    >>> cures(NotFinite("no number", cures=[leave_out]))
    ['  to leave those rows out: [table] without_value = "leave out"']
    """
    from diskret.io.toml import toml_key, toml_value

    lines = []
    for cure in error.cures:
        if cure.value is not None and cure.key.startswith("--"):
            lines.append(f"  to {cure.label}: {cure.key} {_typed_value(cure.value)}")
        elif cure.value is not None:
            *section, key = map(toml_key, cure.path)
            lines.append(f"  to {cure.label}: [{'.'.join(section)}] {key} = {toml_value(cure.value)}")
    return lines


def _typed_value(value: object) -> str:
    from diskret.model.places import typed

    return typed(",".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


@contextmanager
def cured_by_options(*names: str) -> Iterator[None]:
    """Errors inside are cured by options of the command: there is no job file yet to write anything into.

    >>> from diskret.model.errors import Cure, UnclearFile
    >>> try:
    ...     with cured_by_options("header"):
    ...         raise UnclearFile("", cures=[Cure(key="data.header", value=[4, 5], label="take these rows as names")])
    ... except UnclearFile as e:
    ...     print(*cures(e))
      to take these rows as names: --header 4,5
    """
    from diskret.model.errors import DiskretError

    try:
        yield
    except DiskretError as e:
        asked = {f"data.{name}": f"--{name}" for name in names}
        e.cures = tuple(replace(cure, key=asked.get(cure.key, cure.key)) for cure in e.cures)
        raise


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on standard error for whatever takes longer than a second."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    tasks: dict[str, Any] = {}
    start = time.monotonic()

    def say(what: str, done: int, of: int) -> None:
        if time.monotonic() - start < 1.0:
            return
        if not tasks:
            bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=of or None)
        bar.update(tasks[what], completed=done, total=of or None)

    try:
        yield say
    finally:
        if tasks:
            bar.stop()


def report(result: JobResult, quiet: bool, json: bool, show: bool, looks: Mapping[str, Any] | None = None) -> None:
    """Print what was done: counts, files, what deserves care; tables with the ``looks`` that `show` takes."""
    if json:
        echo_json(result.summary())
        return
    if quiet:
        return
    from rich.console import Console

    # Long lines stay whole, so that a path can be copied.
    console = Console(soft_wrap=True)
    if show:
        _show(console, list(result.tables.values()), looks or {})
    _show_tables(console, result.summary())
    _show_records(console, result)
    for file in result.files:
        console.print(f"wrote {file}", markup=False)
    for warning in result.warnings:
        Console(stderr=True, soft_wrap=True).print(f"care: {warning}", style="yellow", markup=False)


def _show_tables(console: Any, found: dict[str, Any]) -> None:
    from rich.markup import escape

    if found.get("read"):
        console.print("found in the data: " + ", ".join(f"{k} = {v!r}" for k, v in found["read"].items()), markup=False)
    for name, facts in found["tables"].items():
        statuses = ", ".join(f"{n:,} {s}" for s, n in facts["status"].items())
        console.print(f"[bold]{escape(name)}[/]: {facts['cells']:,} cells, {facts['occupied']:,} occupied: {statuses}")
        for rule, number in facts["rules"].items():
            console.print(f"  {number:,} by {rule}", markup=False)
        _show_price(console, facts)
        _show_attack(console, facts)
        _show_perturbation(console, facts)
    for name, facts in found.get("pools", {}).items():
        console.print(f"[bold]{escape(name)}[/] in all tables: {facts['cells']:,} cells, {facts['shared']:,} shared")
        _show_price(console, facts)
        _show_attack(console, facts)


def _show_records(console: Any, result: JobResult) -> None:
    """What was done with records, and what describes itself."""
    for step in (result.microdata or {}).get("steps", ()):
        console.print(f"{step['method']}: {step['records']:,} records", markup=False)
    for name, value in (result.microdata or {}).get("utility", {}).items():
        console.print(f"  {name}: {value:,}", markup=False)
    if result.anonymisation is not None:
        _show_anonymisation(console, result.anonymisation.summary())
    for each in (result.file_attack, result.attack, result.anonymity, result.risk, result.methods, result.comparison):
        if each is not None:
            console.print(str(each), markup=False)


def _show_price(console: Any, facts: dict[str, Any]) -> None:
    done = facts.get("suppression", {})
    gap, kept = done.get("gap"), done.get("consistency")
    if gap is not None and done["primary"]:  # where nothing has to be hidden there is nothing to be cheaper
        words = f"another pattern could save at most {100 * gap:.1f} % of its price" if gap else "no pattern is cheaper"
        console.print(f"  {words}", markup=False)
    if kept is not None and done["secondary"]:
        dearer = "" if kept["dearer"] is None else f", for {100 * kept['dearer']:.1f} % more"
        console.print(
            f"  {100 * kept['share']:.1f} % of the secondary cells were hidden last period too "
            f"({100 * kept['share without']:.1f} % without looking at it){dearer}",
            markup=False,
        )


def _show_attack(console: Any, facts: dict[str, Any]) -> None:
    attack = facts.get("suppression", {}).get("audit")
    if attack:
        lines = [f"{attack[name]} {name}" for name in ("lines breaking the rule", "lines of zeros") if name in attack]
        found = ", ".join([f"{attack['exposed']} exposed, {attack['undecided']} undecided", *lines])
        safe = attack["exposed"] + attack["undecided"] == 0 and not lines
        if safe and not attack["checked"]:  # nobody should take it for a verdict about a table without rules
            console.print("  no cell is primary: there was nothing to attack")
            return
        console.print(f"  attacked with a solver: {'nothing is exposed' if safe else found}")


def _show_perturbation(console: Any, facts: dict[str, Any]) -> None:
    done, attack = facts.get("perturbation"), facts.get("perturbation attack")
    if done:
        line = f"  {done['method']}: {done['changed']:,} cells changed, {done['sums changed']:,} of them sums"
        if "gap" in done:
            line += f"; another table could be nearer by {100 * done['gap']:.2g} % at most"
        console.print(line, markup=False)
    if attack:
        console.print(
            f"  attacked by somebody who knows the method: of {attack['attacked']:,} cells {attack['found exactly']:,} "
            f"found exactly, {attack['closer than demanded']:,} closer than demanded, direction known of "
            f"{attack['direction known']:,}; {attack['told by single contributors']:,} told by single contributors"
        )


def _show_anonymisation(console: Any, facts: dict[str, Any]) -> None:
    console.print(
        f"{facts['objects']:,} objects in {facts['rows']:,} combinations, each at least {facts['k']} times; "
        f"{facts['control tables']:,} control tables"
    )
    for dimension, bound in facts["largest deviation, at most"].items():
        console.print(f"  {dimension}-dimensional: largest deviation at most {bound}")


def _show(console: Any, tables: list[Table], looks: Mapping[str, Any]) -> None:
    from diskret.publication.text import columns_that_fit, show

    for table in tables:
        console.print(show(table, columns=columns_that_fit(table, console.width), **looks))
        console.print()
