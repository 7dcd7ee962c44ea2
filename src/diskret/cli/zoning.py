"""Several zonings of the same units: what differences of unions give away, and how to close them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app
from diskret.cli.show import echo_json


@app.command()
def zonings(
    data: Annotated[Path, typer.Argument(help="Records with the codes of all zonings, or a table of overlaps.")],
    zone: Annotated[list[str], typer.Option("--zone", help="Column of a zoning; give two or more.")],
    units: Annotated[str | None, typer.Option(help="Column with the units of each overlap.")] = None,
    share: Annotated[
        str | None, typer.Option(help="Column with the share of the first zone that lies in the second.")
    ] = None,
    totals: Annotated[Path | None, typer.Option(help="Units of the first zones: columns code and units.")] = None,
    min_units: Annotated[int, typer.Option(min=1, help="Fewer units than this are too few; secret.")] = 3,
    close: Annotated[bool, typer.Option("--close", help="Say which zone totals to withhold.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for all that was found: .json; only its owner can read it.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Picture of where this is: .svg; only its owner can read it.")
    ] = None,
    places: Annotated[Path | None, typer.Option(help="Where zones are: columns code, x and y.")] = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show how many units are left.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find unions of zones whose difference leaves few units; exit code 1 if there are any that stay."""
    from diskret.model.errors import BadOption
    from diskret.publication.zone_picture import read_places, write_zone_picture
    from diskret.zoning.closing import close_differences
    from diskret.zoning.differences import find_differences
    from diskret.zoning.findings import plain_findings, plain_together, read_totals, write_findings
    from diskret.zoning.together import Combinations, find_together
    from diskret.zoning.zones import Zoning

    if len(set(zone)) < 2:
        raise BadOption("fewer than two zonings", hint="give --zone for each of them, such as --zone district.")
    if picture is not None and len(zone) > 2:
        raise BadOption("a picture of several pairs of zonings", hint="give two zonings for a picture.")
    if (units or share) and len(zone) > 2:
        raise BadOption("overlaps of more than two zonings", hint="give records, or one pair at a time.")
    known = None if totals is None else read_totals(totals)
    where = None if places is None else read_places(places)
    said: list[dict[str, Any]] = []
    lines: list[str] = []
    safe = True
    withheld: dict[str, list[str]] = {}
    for first, second in combinations(dict.fromkeys(zone), 2):
        zoning = Zoning.of(data, first, second, units=units, share=share, totals=known)
        found = find_differences(zoning, min_units)
        closed = close_differences(zoning, min_units) if close and not found.safe else None
        safe &= found.safe if closed is None else closed.safe
        if closed is not None:
            for name, zones in zip(zoning.names, closed.withheld, strict=True):
                withheld[name] = sorted({*withheld.get(name, ()), *zones})
        lines += [repr(zoning), found.report(internal)] + ([] if closed is None else [str(closed)])
        said.append(plain_findings(found, closed))
        if picture is not None:
            write_zone_picture(found, picture, where)
            lines.append(f"wrote {picture}")
    together: dict[str, Any] = {}
    if len(set(zone)) > 2:
        # what only three of them give away no pair shows
        left = find_together(Combinations.of(data, list(dict.fromkeys(zone)), withheld), min_units)
        safe &= left.safe
        lines.append(left.report())
        together = plain_together(left)
        said.append(together)
    if out is not None:
        write_findings(said, out)
        lines.append(f"wrote {out}")
    if json:
        pairs = [each for each in said if each is not together]
        told = {"safe": safe, "pairs": pairs if internal else [_without_units(each) for each in pairs]}
        echo_json(told | ({"together": together} if together else {}))
    elif not quiet:
        typer.echo("\n".join(lines))
    if not safe:
        raise typer.Exit(EXPOSED)


def _without_units(said: dict[str, Any]) -> dict[str, Any]:
    """What was found without numbers of units."""
    return said | {"differences": [{k: v for k, v in d.items() if k != "units"} for d in said["differences"]]}
