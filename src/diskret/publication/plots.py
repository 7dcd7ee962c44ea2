"""Plots. They need the extra ``plots`` (altair)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, MissingExtra
from diskret.rules.compare import RuleComparison

MOST_POINTS = 5000


def plot_comparison(comparison: RuleComparison, path: str | Path) -> None:
    """The rules' regions over the shares of the two largest contributors, with the cells of the table.

    All cells lie in the triangle 0 <= y <= x, x + y <= 1; each rule's border is a line, and what lies right of or above
    it is primary. The plot shows shares and borders: it is internal, not for publication.
    """
    save_chart(comparison_chart(comparison), path)


def save_chart(chart: Any, path: str | Path) -> None:
    """Write an altair chart; the ending chooses between .svg, .html and .png."""
    target = Path(path)
    with whole_file(target) as part:
        if target.suffix == ".html":
            part.write_text(chart.to_html(inline=True), encoding="utf-8")
        elif target.suffix in (".svg", ".png"):
            try:
                import vl_convert
            except ImportError as e:
                raise MissingExtra.needed("plots", f"a plot as {target.suffix}") from e
            if target.suffix == ".svg":
                part.write_text(vl_convert.vegalite_to_svg(chart.to_json()), encoding="utf-8")
            else:
                part.write_bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))
        else:
            hint = "choose .svg, .html or .png."
            raise BadOption(f"plots are not written as {target.suffix!r}", where=str(target), hint=hint)


def comparison_chart(comparison: RuleComparison) -> Any:
    """The chart behind `plot_comparison`, as an altair object."""
    try:
        import altair as alt
    except ImportError as e:
        raise MissingExtra.needed("plots", "a plot") from e
    x = alt.X("x:Q", title="share of the largest contributor", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("y:Q", title="share of the second largest", scale=alt.Scale(domain=[0, 0.5]))
    triangle = [{"x": 0.0, "y": 0.0, "o": 0}, {"x": 0.5, "y": 0.5, "o": 1}, {"x": 1.0, "y": 0.0, "o": 2}]
    layers = [alt.Chart(alt.Data(values=triangle)).mark_line(color="#888").encode(x=x, y=y, order="o:Q")]
    if comparison.shares is not None:
        layers.append(_points(alt, comparison, x, y))
    lines = [
        {"x": float(px), "y": float(py), "rule": name}
        for name, border in zip(comparison.names, comparison.borders, strict=True)
        if border is not None
        for px, py in border_line(*border)
    ]
    if lines:
        colour = alt.Color("rule:N", title="border of")
        layers.append(alt.Chart(alt.Data(values=lines)).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour))
    title = {"text": "Primary rules over the two largest shares", "subtitle": "internal: not for publication"}
    return alt.layer(*layers).properties(width=520, height=300, title=title)


def _points(alt: Any, comparison: RuleComparison, x: Any, y: Any) -> Any:
    """Cells as points by how many rules catch them; a large table is thinned evenly."""
    assert comparison.shares is not None
    hits = np.sum(comparison.caught, axis=0)[comparison.occupied]
    step = max(1, -(-len(hits) // MOST_POINTS))
    points = [
        {"x": float(a), "y": float(b), "caught": int(h)}
        for (a, b), h in zip(comparison.shares[::step], hits[::step], strict=True)
    ]
    shade = alt.Opacity("caught:O", title="rules that catch it", scale=alt.Scale(range=[0.25, 1]))
    return alt.Chart(alt.Data(values=points)).mark_circle(size=16, color="#444").encode(x=x, y=y, opacity=shade)


def border_line(a: float, b: float, c: float) -> list[tuple[float, float]]:
    """Where the border a x + b y = c crosses the triangle of possible shares.

    >>> border_line(1.0, 1.0, 0.9)   # (2,90): from equal shares down to the axis
    [(0.45, 0.45), (0.9, 0.0)]
    """
    on_diagonal = c / (a + b)
    points = [(on_diagonal, on_diagonal)] if on_diagonal <= 0.5 else []
    if not points and a != b:
        at = (c - b) / (a - b)  # crossing with x + y = 1
        if 0.5 <= at <= 1:
            points.append((at, 1 - at))
    if c / a <= 1:
        points.append((c / a, 0.0))
    return points
