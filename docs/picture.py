"""Draws docs/table.svg, the picture in the README, from the example job: `python docs/picture.py`."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.model.status import Status

ROOT = Path(__file__).parent.parent
ROW, COLUMN, FIRST = 26, 96, 200
COLOURS = {Status.PRIMARY: "#c0392b", Status.SECONDARY: "#d68910"}


PICTURE = ROOT / "docs" / "table.svg"


def picture() -> str:
    """Rows: industries; columns: one region with its districts, and the country."""
    job = read_job(ROOT / "examples" / "turnover.toml")
    table = run_job(job, ROOT / "examples", write=False).tables["turnover"]
    industry, region = table.hierarchies
    columns = [region.index(code) for code in (*region.parts("03"), "03", region.total)]
    lines = []
    for j, at in enumerate(columns):
        lines.append(_text(FIRST + (j + 1) * COLUMN - 12, 24, region.labels[at], "end", bold=True))
    for i, code in enumerate(industry.codes):
        y = 24 + (i + 1) * ROW
        bold = not industry.is_leaf[i]
        if bold:
            lines.append(
                f'<rect x="0" y="{y - 18}" width="{FIRST + len(columns) * COLUMN}" height="{ROW}" fill="#f4f6f7"/>'
            )
        lines.append(_text(12 + 14 * (industry.depth - int(industry.levels[i])), y, code, "start", bold))
        for j, at in enumerate(columns):
            x = FIRST + (j + 1) * COLUMN
            status = Status(int(table.status[i, at]))
            if status.hidden:
                place = f'x="{x - 78}" y="{y - 15}" width="68" height="20" rx="4"'
                lines.append(f'<rect {place} fill="{COLOURS[status]}" opacity="0.85"/>')
                lines.append(_text(x - 44, y, status.text, "middle", fill="#fff", size=11))
            else:
                lines.append(_text(x - 12, y, f"{table.value[i, at]:,.0f}", "end", bold))
    width, height = FIRST + len(columns) * COLUMN + 8, 24 + (len(industry) + 1) * ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *lines, "</svg>"]) + "\n"


def _text(x: int, y: int, text: str, anchor: str, bold: bool = False, fill: str = "#1b2631", size: int = 13) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{weight}>{escape(text)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
