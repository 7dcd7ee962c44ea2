"""Draws docs/house.svg, the rooms in the order in which they may call each other: `python docs/house.py`.

The order is that of the contract in pyproject.toml; what a room does it says itself, in its `__init__.py`.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "house.svg"
FLOORS = {
    "doors": ("cli", "web", "argus", "job"),
    "what leaves": ("requests", "publication", "ledger", "comparison"),
    "records": ("risk", "safe", "microdata"),
    "changing values": ("cellkey", "perturbation"),
    "hiding and attacking": ("zoning", "suppression", "auditing", "moves"),
    "tables": ("rules", "tabulation"),
    "foundation": ("io", "model"),
}
COLOURS = ("#455a64", "#00796b", "#6a4c93", "#8d6e00", "#b23a48", "#1565c0", "#37474f")
WIDTH, ROW, LEFT, NAME, LETTERS = 980, 30, 190, 110, 100


def rooms() -> list[str]:
    """All rooms, those that call the others first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return [layer.removeprefix("diskret.") for layer in contracts[0]["layers"]]


def words_of(room: str) -> str:
    """What a room does, as it says itself, up to the first colon of a long sentence."""
    tree = ast.parse((ROOT / "src" / "diskret" / room / "__init__.py").read_text(encoding="utf-8"))
    first = (ast.get_docstring(tree) or "").splitlines()[0].rstrip(".")
    return first if len(first) <= LETTERS else first.partition(":")[0]


def picture() -> str:
    """The house as SVG."""
    lines, y = [], 14
    floor_of = {room: floor for floor, there in FLOORS.items() for room in there}
    last = ""
    for room in rooms():
        floor = floor_of.get(room, "")
        if floor != last:
            y += 10
            lines.append(_text(LEFT - 14, y + 19, floor, "end", "#607d8b"))
            last = floor
        colour = COLOURS[[*FLOORS, ""].index(floor) % len(COLOURS)]
        lines.append(f'<rect x="{LEFT}" y="{y}" width="{NAME}" height="{ROW - 4}" rx="4" fill="{colour}"/>')
        lines.append(_text(LEFT + NAME / 2, y + 18, room, "middle", "#fff", bold=True))
        lines.append(_text(LEFT + NAME + 14, y + 18, words_of(room), "start", "#263238"))
        y += ROW
    arrow = f'<path d="M 24 30 V {y - 26} m -6 -9 l 6 10 l 6 -10" stroke="#607d8b" stroke-width="2" fill="none"/>'
    lines += [arrow, _text(36, 34, "calls", "start", "#607d8b"), _text(36, 50, "only", "start", "#607d8b")]
    lines.append(_text(36, 66, "downwards", "start", "#607d8b"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{y + 8}" fill="#fff"/>', *lines, "</svg>"]) + "\n"


def _text(x: float, y: int, text: str, anchor: str, fill: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y}" text-anchor="{anchor}" font-size="12" fill="{fill}"{weight}>{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
