"""Plots as files: charts as plain Vega-Lite become .svg, .html or .png. They need the extra ``plots``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, MissingExtra
from diskret.rules.compare import RuleComparison

if TYPE_CHECKING:
    from diskret.risk.estimate import Reidentifiable
    from diskret.safe.deviations import Quality

MOST_POINTS = 5000
INTERNAL = "internal: confidential"
ENDINGS = (".svg", ".html", ".png")
Chart = dict[str, Any]


def save_chart(chart: Mapping[str, Any], path: str | Path, *, internal: bool = True) -> None:
    """Write a Vega-Lite chart as .svg, .html or .png; charts of records are marked as internal."""
    target = Path(path)
    if target.suffix not in ENDINGS:
        hint = "choose .svg, .html or .png."
        raise BadOption(f"plots are not written as {target.suffix!r}", where=str(target), hint=hint)
    try:
        import vl_convert
    except ImportError as e:
        raise MissingExtra.needed("plots", f"a plot as {target.suffix}") from e
    marked = {"title": {"text": chart["title"], "subtitle": INTERNAL}} if internal else {}
    text = json.dumps({**chart, **marked})
    with whole_file(target, private=internal) as part:
        if target.suffix == ".svg":
            part.write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8", newline="")
        elif target.suffix == ".html":
            part.write_text(vl_convert.vegalite_to_html(text, bundle=True), encoding="utf-8", newline="")
        else:
            part.write_bytes(vl_convert.vegalite_to_png(text, scale=2))


def plot_estimate(estimate: Reidentifiable, path: str | Path) -> None:
    """The share of re-identifiable persons over N by every estimator.

    Nothing has been collected yet, so there is nothing confidential about it.
    """
    save_chart(estimate.chart(), path, internal=False)


def plot_comparison(comparison: RuleComparison, path: str | Path) -> None:
    """The rules' regions over the shares of the two largest contributors, with the cells of the table.

    All cells lie in the triangle 0 <= y <= x, x + y <= 1; each rule's border is a line, and what lies right of or above
    it is primary. The plot shows shares and borders: it is internal, not for publication.
    """
    save_chart(comparison_chart(comparison), path)


def plot_deviations(runs: Mapping[str, Quality], path: str | Path) -> None:
    """Share of the control cells by absolute deviation, one panel per dimension, one colour per run.

    Internal: with the file, shares of cells can give small counts of the original back.
    """
    save_chart({"title": "Deviations of the control tables", **deviation_chart(runs)}, path)


def comparison_chart(comparison: RuleComparison) -> Chart:
    """The chart behind `plot_comparison`."""
    triangle = [{"x": 0.0, "y": 0.0, "o": 0}, {"x": 0.5, "y": 0.5, "o": 1}, {"x": 1.0, "y": 0.0, "o": 2}]
    order = {"order": {"field": "o", "type": "quantitative"}}
    layers = [_layer(triangle, {"type": "line", "color": "#888"}, order)]
    if comparison.shares is not None:
        layers.append(_points(comparison))
    lines = [
        {"x": float(px), "y": float(py), "rule": name}
        for name, border in zip(comparison.names, comparison.borders, strict=True)
        if border is not None
        for px, py in border_line(*border)
    ]
    if lines:
        colour = {"color": {"field": "rule", "type": "nominal", "title": "border of"}}
        layers.append(_layer(lines, {"type": "line", "strokeWidth": 2}, colour))
    return {"title": "Primary rules over the two largest shares", "width": 520, "height": 300, "layer": layers}


def _points(comparison: RuleComparison) -> Chart:
    """Cells as points by how many rules catch them; a large table is thinned evenly."""
    assert comparison.shares is not None
    hits = np.sum(comparison.caught, axis=0)[comparison.occupied]
    step = max(1, -(-len(hits) // MOST_POINTS))
    points = [
        {"x": float(a), "y": float(b), "caught": int(h)}
        for (a, b), h in zip(comparison.shares[::step], hits[::step], strict=True)
    ]
    shade = {"field": "caught", "type": "ordinal", "title": "rules that catch it", "scale": {"range": [0.25, 1]}}
    return _layer(points, {"type": "circle", "size": 16, "color": "#444"}, {"opacity": shade})


def _layer(values: list[dict[str, Any]], mark: Chart, more: Chart) -> Chart:
    """Something over the shares of the two largest contributors."""
    axes = (("x", "share of the largest contributor", 1), ("y", "share of the second largest", 0.5))
    encoding = {
        axis: {"field": axis, "type": "quantitative", "title": title, "scale": {"domain": [0, most]}}
        for axis, title, most in axes
    }
    return {"data": {"values": values}, "mark": mark, "encoding": encoding | more}


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


def deviation_chart(runs: Mapping[str, Quality]) -> Chart:
    """The chart behind `plot_deviations`."""
    values = [
        {"run": name, "dimension": f"{d}-dimensional", "deviation": i, "share": float(n) / max(1, table.cells)}
        for name, quality in runs.items()
        for d, table in quality.by_dimension.items()
        for i, n in enumerate(table.counts.sum(axis=1))
    ]
    bars = {
        "x": {"field": "deviation", "type": "ordinal", "title": "absolute deviation"},
        "xOffset": {"field": "run", "type": "nominal"},
        "y": {"field": "share", "type": "quantitative", "title": "share of the cells", "axis": {"format": "%"}},
        "color": {"field": "run", "type": "nominal", "title": "run"},
    }
    return {
        "data": {"values": values},
        "facet": {"column": {"field": "dimension", "type": "nominal", "title": None}},
        "spec": {"mark": "bar", "width": 180, "height": 160, "encoding": bars},
        "resolve": {"scale": {"x": "independent"}},
    }
