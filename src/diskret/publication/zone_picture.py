"""A picture of where zonings give small regions away: a map if the places of zones are known, else two columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diskret.io.files import whole_file
from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption, UnknownCode
from diskret.model.source import open_source
from diskret.publication.drawing import COLOURS, FAINT, INK, Box, Drawing, Point, Words
from diskret.publication.drawing import Path as Line
from diskret.publication.report_html import svg
from diskret.zoning.closing import around
from diskret.zoning.differences import Differences
from diskret.zoning.zones import FIRST, SECOND, Zoning

WIDTH, EDGE, TOP, STEP = 900.0, 40.0, 60.0, 16.0
MOST_LINES = 20_000
"""Overlaps drawn at most: more make a picture nobody can open."""
MOST_ROWS = 120
"""Zones in a column of a picture without places."""
MOST_NAMES = 80
INTERNAL = "internal: confidential"
Places = Mapping[str, Point]


def read_places(path: str | Path) -> dict[str, Point]:
    """Where zones are: a table with the columns ``code``, ``x`` and ``y``, for the zones of both zonings."""
    relation = open_source(path)
    relation.require(["code", "x", "y"])
    relation.refuse_bad_numbers(["x", "y"])
    rows = relation.query(
        f"SELECT {relation.code('code')}, {relation.number('x')}, {relation.number('y')} FROM {relation.view}"
    )
    return {str(code): (float(x), float(y)) for code, x, y in rows}


def draw_differences(found: Differences, places: Places | None = None) -> Drawing:
    """Zones and overlaps, with those that give something away drawn strongly.

    >>> from diskret.zoning import Zoning, find_differences
    >>> records = {"district": ["A"] * 7 + ["B"] * 6, "grid": ["1"] * 5 + ["2"] * 5 + ["3"] * 3}
    >>> draw_differences(find_differences(Zoning.of(records, "district", "grid"))).words
    'district and grid: 1 region with too few units. district A minus grid 1.'
    """
    zoning = found.zoning
    exposed = np.zeros(zoning.units.size, dtype=np.bool_)
    exposed[found.exposed] = True
    for each in found.list:
        exposed[each.overlaps] = True
    signs = _signs(found)
    if places is None:
        shown = np.flatnonzero(_between(zoning, exposed, signs))
    else:
        shown = np.arange(zoning.units.size)
        if shown.size > MOST_LINES:
            shown = np.flatnonzero(around(zoning, np.flatnonzero(exposed), 2))
    shown = shown[:MOST_LINES]
    at, height = _in_columns(zoning, shown) if places is None else _on_map(zoning, shown, places)
    parts: list[Box | Line | Words] = [Words(x=EDGE, y=20, text=f"{zoning.names[0]} and {zoning.names[1]}", size=14)]
    legend = "blue, +: totals added; red, -: totals taken away; thick lines: overlaps with too few units; "
    parts.append(Words(x=EDGE, y=38, text=f"{legend}{INTERNAL}"))
    strong = []
    for overlap in shown.tolist():
        ends = (at[(FIRST, int(zoning.first[overlap]))], at[(SECOND, int(zoning.second[overlap]))])
        if exposed[overlap]:
            strong.append(Line(points=ends, colour=COLOURS[3], width=4.0))
        else:
            parts.append(Line(points=ends, colour=FAINT, width=0.8))
    parts += strong
    named = sum(key in signs for key in at) <= MOST_NAMES
    for key, (x, y) in at.items():
        parts += _zone(zoning, key, x, y, signs.get(key, ""), named or places is None, places is None)
    said = " ".join(f"{each.describe().split(' = ')[0]}." for each in found.list[:10])
    regions = f"{len(found.list)} region{'s' if len(found.list) != 1 else ''} with too few units"
    title = f"{zoning.names[0]} and {zoning.names[1]}"
    return Drawing(title=title, words=f"{title}: {regions}. {said}".strip(), parts=tuple(parts), width=WIDTH,
                   height=height)  # fmt: skip


def write_zone_picture(found: Differences, path: str | Path, places: Places | None = None) -> None:
    """Write the picture as .svg, for its owner alone: it says where few units are."""
    if Path(path).suffix != ".svg":
        raise BadOption(f"a picture of zones as {Path(path).suffix!r}", where=str(path), hint="choose .svg.")
    with whole_file(path, private=True) as part:
        part.write_text(str(svg(draw_differences(found, places), alone=True)), encoding="utf-8", newline="")


Key = tuple[int, int]


def _zone(zoning: Zoning, key: Key, x: float, y: float, sign: str, named: bool, plain: bool) -> list[Box | Words]:
    """A zone as a box, zones of the second zoning narrow; those that take part with their sign and code."""
    which, zone = key
    colour = COLOURS[0] if sign == "+" else COLOURS[1] if sign else FAINT if which else "#9a9a9a"
    size = (9.0, 9.0) if which == FIRST else (5.0, 9.0)
    box = Box(x=x - size[0] / 2, y=y - size[1] / 2, width=size[0], height=size[1], colour=colour if sign else INK)
    if not sign:
        small = Box(x=x - 2, y=y - 2, width=4, height=4, colour=colour)
        return [small, Words(x=x + 7, y=y + 4, text=zoning.codes[which][zone], size=9.0)] if plain else [small]
    words = f"{sign} {zoning.codes[which][zone]}" if named else sign
    return [box, Words(x=x + 7, y=y + 4, text=words, size=9.0)]


def _between(zoning: Zoning, exposed: Bools, signs: Mapping[Key, str]) -> Bools:
    """Overlaps between zones that take part, or that hold a small region."""
    parts = []
    for which, zone_of in enumerate((zoning.first, zoning.second)):
        zones = np.zeros(len(zoning.codes[which]), dtype=np.bool_)
        zones[zone_of[exposed]] = True
        zones[[zone for each, zone in signs if each == which]] = True
        parts.append(zones[zone_of])
    both: Bools = parts[0] & parts[1]
    return both


def _signs(found: Differences) -> dict[Key, str]:
    """Whether the total of a zone is added or taken away; what does both is added."""
    zoning = found.zoning
    place = [{code: i for i, code in enumerate(codes)} for codes in zoning.codes]
    signs: dict[Key, str] = {}
    for each in found.list:
        for sign, zones in (("-", each.taken), ("+", each.added)):
            for name, code in zones:
                if name in zoning.names:
                    which = zoning.names.index(name)
                    signs[(which, place[which][code])] = sign
    return signs


def _keys(zoning: Zoning, shown: Ints) -> list[list[int]]:
    return [np.unique(zoning.first[shown]).tolist(), np.unique(zoning.second[shown]).tolist()]


def _in_columns(zoning: Zoning, shown: Ints) -> tuple[dict[Key, Point], float]:
    """Zones of the first zoning left, those of the second right."""
    keys = _keys(zoning, shown)
    rows = max([1, *map(len, keys)])
    step = STEP if rows <= MOST_ROWS else STEP * MOST_ROWS / rows
    at: dict[Key, Point] = {}
    for which, zones in enumerate(keys):
        space = step * rows / max(1, len(zones))
        at |= {(which, zone): (EDGE + 120 + which * 420, TOP + space * (i + 0.5)) for i, zone in enumerate(zones)}
    return at, TOP + step * rows + EDGE


def _on_map(zoning: Zoning, shown: Ints, places: Places) -> tuple[dict[Key, Point], float]:
    """Zones where they are, north above."""
    found: dict[Key, Point] = {}
    for which, zones in enumerate(_keys(zoning, shown)):
        unknown = [zoning.codes[which][zone] for zone in zones if zoning.codes[which][zone] not in places]
        if unknown:
            raise UnknownCode.in_column("code", unknown, list(places))
        found |= {(which, zone): places[zoning.codes[which][zone]] for zone in zones}
    if not found:
        return {}, TOP + EDGE
    points = np.array(list(found.values()))
    low, span = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-9)
    scale = (WIDTH - 2 * EDGE - 60) / span
    height = float(np.ptp(points[:, 1])) * scale
    at = {key: (EDGE + (x - low[0]) * scale, TOP + height - (y - low[1]) * scale) for key, (x, y) in found.items()}
    return at, TOP + height + EDGE
