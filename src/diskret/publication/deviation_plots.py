"""Plots of deviations: how many control cells deviate by how much, for one run or several. Need the extra ``plots``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.model.errors import MissingExtra
from diskret.publication.plots import save_chart
from diskret.safe.deviations import Quality


def plot_deviations(runs: Mapping[str, Quality], path: str | Path) -> None:
    """Share of the control cells by absolute deviation, one panel per dimension, one colour per run.

    The plot shows shares of cells only and may be published.
    """
    save_chart(deviation_chart(runs), path)


def deviation_chart(runs: Mapping[str, Quality]) -> Any:
    """The chart behind `plot_deviations`, as an altair object."""
    try:
        import altair as alt
    except ImportError as e:
        raise MissingExtra.needed("plots", "a plot") from e
    values = [
        {"run": name, "dimension": f"{d}-dimensional", "deviation": i, "share": float(n) / max(1, table.cells)}
        for name, quality in runs.items()
        for d, table in quality.by_dimension.items()
        for i, n in enumerate(table.counts.sum(axis=1))
    ]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X("deviation:O", title="absolute deviation"),
            xOffset="run:N",
            y=alt.Y("share:Q", title="share of the cells", axis=alt.Axis(format="%")),
            color=alt.Color("run:N", title="run"),
        )
        .properties(width=180, height=160)
        .facet(column=alt.Column("dimension:N", title=None))
        .resolve_scale(x="independent")
    )
