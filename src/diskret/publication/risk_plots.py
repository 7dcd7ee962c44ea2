"""Plots of risk: a chart as plain Vega-Lite becomes a file. Needs the extra ``plots``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, MissingExtra
from diskret.risk.estimate import Reidentifiable

INTERNAL = "internal: not for publication"


def plot_estimate(estimate: Reidentifiable, path: str | Path) -> None:
    """The share of re-identifiable persons over N by every estimator, as .svg, .html or .png.

    Nothing has been collected yet, so there is nothing confidential about it.
    """
    save_chart(estimate.chart(), path, internal=False)


def save_chart(chart: Mapping[str, Any], path: str | Path, *, internal: bool = True) -> None:
    """Write a Vega-Lite chart as .svg, .html or .png; charts of records are marked as internal."""
    target = Path(path)
    if target.suffix not in (".svg", ".html", ".png"):
        hint = "choose .svg, .html or .png."
        raise BadOption(f"plots are not written as {target.suffix!r}", where=str(target), hint=hint)
    try:
        import vl_convert
    except ImportError as e:
        raise MissingExtra.needed("plots", f"a plot as {target.suffix}") from e
    title = {"text": chart["title"], "subtitle": INTERNAL} if internal else chart["title"]
    text = json.dumps({**chart, "title": title})
    with whole_file(target) as part:
        if target.suffix == ".svg":
            part.write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8")
        elif target.suffix == ".html":
            part.write_text(vl_convert.vegalite_to_html(text, bundle=True), encoding="utf-8")
        else:
            part.write_bytes(vl_convert.vegalite_to_png(text, scale=2))
