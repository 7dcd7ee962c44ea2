"""The ledger on the command line: enter, list, show, check, ask."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app
from diskret.cli.show import echo_json

if TYPE_CHECKING:
    from diskret.ledger.about import About
    from diskret.ledger.ledger import Ledger

ledger_app = typer.Typer(help="Everything ever published, and new tables beside it.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")

Folder = Annotated[Path, typer.Option("--ledger", "-l", help="Folder of the ledger.")]
Counts = Annotated[
    Path | None, typer.Option("--about", help="TOML file that says what the table counts: population, period, ...")
]
Population = Annotated[str | None, typer.Option(help="Who is counted.")]
Period = Annotated[str | None, typer.Option(help="When, such as 2024, 2024-Q3 or 2024-07.")]
Unit = Annotated[str | None, typer.Option(help="Unit of the values, such as '1000 EUR'.")]
Fixed = Annotated[
    list[str] | None, typer.Option("--fixed", help="CLASSIFICATION=CODE that the table is about but does not show.")
]
Revises = Annotated[str | None, typer.Option(help="The entry whose values this table replaces.")]
Apart = Annotated[str | None, typer.Option(help="Why it has nothing to do with what the ledger knows.")]


@ledger_app.command()
def add(
    table: Annotated[Path, typer.Argument(help="Working file of a published table; with --published a CSV file.")],
    ledger: Folder,
    name: Annotated[str, typer.Option(help="What the table is called in proofs, such as 'Yearbook 2024 table 3'.")],
    about: Counts = None,
    population: Population = None,
    period: Period = None,
    unit: Unit = None,
    fixed: Fixed = None,
    revises: Revises = None,
    apart: Apart = None,
    published: Annotated[bool, typer.Option("--published", help="The table was made elsewhere.")] = False,
    by: Annotated[
        list[str] | None, typer.Option(help="Classification: COLUMN, or COLUMN=FILE; with --published.")
    ] = None,
    value: Annotated[str | None, typer.Option(help="Column of the values; with --published.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Remember a table as it was published; the first one makes the ledger."""
    from diskret.ledger.ledger import open_ledger
    from diskret.ledger.looking import line_of
    from diskret.publication.working import load_working

    said = _about(about, population, period, unit, fixed, revises, apart)
    opened = open_ledger(ledger, create=True)
    if published:
        entries = [opened.add_published(table, said, by=_trees(by or []), value=value or "", name=name)]
    else:
        tables = load_working(table)
        entries = [
            opened.add(each, said, name=name if len(tables) == 1 else f"{name} ({response})")
            for response, each in tables.items()
        ]
    if json:
        echo_json({"entries": [line_of(entry) for entry in entries]})
    elif not quiet:
        typer.echo(
            "\n".join(f"entered {entry.name!r} as number {entry.number}, hash {entry.hash}" for entry in entries)
        )


@ledger_app.command("list")
def listed(ledger: Folder, json: Json = False) -> None:
    """All entries, one line each; exit code 1 if anything is lost or was changed."""
    from diskret.ledger.looking import line_of

    opened = _opened(ledger)
    lines = [line_of(entry) for entry in opened.entries]
    if json:
        echo_json({"entries": lines, "flaws": list(opened.flaws)})
    else:
        for line in lines:
            by = " x ".join(line["by"])
            typer.echo(f"{line['number']:6} {line['on']} {line['name']}: {line['counts']}, {line['period']} by {by}")
        for flaw in opened.flaws:
            typer.echo(f"flaw: {flaw}")
    if opened.flaws:
        raise typer.Exit(EXPOSED)


@ledger_app.command()
def show(
    entry: Annotated[str, typer.Argument(help="Name or number of an entry.")], ledger: Folder, json: Json = False
) -> None:
    """An entry as it was published: what was hidden is shown to nobody."""
    from diskret.ledger.looking import shown_of

    opened = _opened(ledger)
    found = shown_of(opened, opened.entry(entry))
    if json:
        echo_json(found)
        return
    cells = found.pop("cells")
    typer.echo("\n".join(f"{key}: {said}" for key, said in found.items()))
    typer.echo(",".join(cells))
    for row in zip(*cells.values(), strict=True):
        typer.echo(
            ",".join("x" if each is None else f"{each:.10g}" if isinstance(each, float) else each for each in row)
        )


@ledger_app.command()
def check(
    table: Annotated[Path, typer.Argument(help="Working file of a table that is to be published.")],
    ledger: Folder,
    about: Counts = None,
    population: Population = None,
    period: Period = None,
    unit: Unit = None,
    fixed: Fixed = None,
    revises: Revises = None,
    apart: Apart = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show intervals; not for publication.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Attack a table together with everything published that is connected; exit code 1 if anything is exposed."""
    from diskret.publication.working import load_working

    said = _about(about, population, period, unit, fixed, revises, apart)
    opened = _opened(ledger)
    found = {response: opened.check(each, said, name=table.name) for response, each in load_working(table).items()}
    if json:
        echo_json({response: each.summary() for response, each in found.items()})
    elif not quiet:
        typer.echo("\n".join(f"{response}: {each.report(internal=internal)}" for response, each in found.items()))
    if not all(each.safe for each in found.values()):
        raise typer.Exit(EXPOSED)


@ledger_app.command()
def history(
    cell: Annotated[list[str], typer.Argument(help="The cell: CLASSIFICATION=CODE for all that are not the total.")],
    ledger: Folder,
    value: Annotated[str, typer.Option(help="Which value, where the ledger knows several.")] = "",
    json: Json = False,
) -> None:
    """Everything that was ever published about one cell, by what it counts."""
    from diskret.ledger.looking import history_of

    told = history_of(_opened(ledger), dict(_pair(each) for each in cell), value)
    if json:
        echo_json({"told": [each | _ends_of(each) for each in told]})
        return
    for each in told:
        shown = "hidden" if each["shown"] is None else f"{each['shown']:.10g}"
        ends = f" [{each['interval'][0]:.10g}; {each['interval'][1]:.10g}]" if "interval" in each else ""
        notes = f" ({', '.join(each['notes'])})" if "notes" in each else ""
        typer.echo(f"{each['on']} {each['name']}: {each['counts']} {shown}{ends}{notes}")


@ledger_app.command()
def verify(ledger: Folder, json: Json = False) -> None:
    """Hold every entry with all its numbers against its hash; exit code 1 if one was changed or is lost."""
    opened = _opened(ledger)
    flaws = opened.verify()
    if json:
        echo_json({"entries": len(opened.entries), "flaws": list(flaws), "last": opened.last_hash})
    else:
        typer.echo("\n".join([*flaws, f"{len(opened.entries)} entries, the last hash is {opened.last_hash}"]))
    if flaws:
        raise typer.Exit(EXPOSED)


def _ends_of(told: dict[str, Any]) -> dict[str, Any]:
    """An interval as JSON can say it: an end that nobody published is null."""
    return {"interval": [end if isfinite(end) else None for end in told["interval"]]} if "interval" in told else {}


def _opened(folder: Path) -> Ledger:
    from diskret.ledger.ledger import open_ledger

    return open_ledger(folder, read_only=True)


def _about(
    file: Path | None, population: str | None, period: str | None, unit: str | None, fixed: list[str] | None,
    revises: str | None, apart: str | None,
) -> About:  # fmt: skip
    """What a table counts, from a file and options; options come first."""
    from diskret.ledger.about import about_from

    said: dict[str, Any] = {
        "population": population, "period": period, "unit": unit, "revises": revises, "apart": apart,
        "fixed": dict(_pair(each) for each in fixed) if fixed else None,
    }  # fmt: skip
    return about_from(file, {key: each for key, each in said.items() if each is not None})


def _pair(text: str) -> tuple[str, str]:
    from diskret.model.errors import BadOption

    name, sign, code = text.partition("=")
    if not sign:
        raise BadOption(f"{text!r} is not CLASSIFICATION=CODE", hint="such as region=05.")
    return name, code


def _trees(by: list[str]) -> dict[str, Any]:
    """Classifications of a published file: COLUMN, or COLUMN=FILE with a hierarchy."""
    from diskret.io.hierarchies import read_hierarchy

    pairs = [each.partition("=") for each in by]
    return {name: read_hierarchy(file) if file else None for name, _, file in pairs}
