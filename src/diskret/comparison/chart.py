"""The comparison as a plot: what is lost, how far values are off, and what an attacker gets, method by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diskret.comparison.outcome import Measured

COLOURS = ["#7a1f2b", "#d1495b", "#edae49", "#9fc5d1"]


def comparison_chart(measured: Sequence[Measured], percent: float) -> dict[str, Any]:
    """Three panels of bars as plain Vega-Lite; shares only."""
    order = [m.method for m in measured]
    lost = [{"method": m.method, "share": m.lost / m.cells if m.cells else 0.0} for m in measured]
    off = [
        {"method": m.method, "size": s.label, "deviation": s.mean_relative}
        for m in measured
        for s in m.deviations[:-1]
        if s.mean_relative is not None
    ]
    names = ["known exactly", f"known within {percent:g} %", "below demand", f"guessed within {percent:g} %"]
    sizes = [s.label for s in measured[0].deviations[:-1]] if measured else []
    return {
        "title": "Methods side by side",
        "resolve": {"scale": {"color": "independent"}},
        "hconcat": [
            _bars(lost, order, "share", "cells lost", None, None),
            _bars(off, order, "deviation", "mean relative deviation by contributors", "size", sizes),
            _bars(_attacks(measured, names), order, "share", "primary cells an attacker gets", "what", names),
        ],
    }


def _attacks(measured: Sequence[Measured], names: Sequence[str]) -> list[dict[str, Any]]:
    """What an attacker gets, as shares of the primary cells."""
    fields = list(enumerate(zip(names, ("exact", "within", "below_demand", "guessed"), strict=True)))
    return [
        {"method": m.method, "what": name, "share": m.share(field), "at": i}
        for m in measured
        for i, (name, field) in fields
    ]


def _bars(
    values: list[dict[str, Any]], order: list[str], field: str, title: str, colour: str | None, domain: list[str] | None
) -> dict[str, Any]:
    encoding: dict[str, Any] = {
        "y": {"field": "method", "type": "nominal", "sort": order, "axis": {"title": None}},
        "x": {"field": field, "type": "quantitative", "axis": {"title": title, "format": "%"}},
    }
    if colour:
        scale = {"domain": domain, "range": COLOURS}
        encoding["yOffset"] = {"field": colour, "type": "nominal", "sort": domain, "scale": {"domain": domain}}
        encoding["color"] = {
            "field": colour, "type": "nominal", "sort": domain, "scale": scale,
            "legend": {"title": None, "orient": "bottom", "columns": 2},
        }  # fmt: skip
    return {
        "data": {"values": values},
        "mark": {"type": "bar", **({} if colour else {"color": "#1f6f8b"})},
        "width": 190,
        "height": {"step": 9 if colour else 36},
        "encoding": encoding,
    }
