"""Plots stay on their paper, and say in words what they show."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from diskret.publication.drawing import HEIGHT, WIDTH, Box, Path, Plot, draw
from diskret.publication.report_html import svg

VALUES = st.floats(0, 1e9, allow_nan=False)


@st.composite
def plots(draw_: Any) -> Plot:
    kind = draw_(st.sampled_from(["bars", "lines", "steps"]))
    size = draw_(st.integers(1, 30))
    names = tuple(f"code {i}" for i in range(size)) if kind == "bars" else tuple(float(i * i) for i in range(size))
    gaps = VALUES if kind == "bars" else st.one_of(st.none(), VALUES)
    series = {
        f"series {k}": tuple(draw_(st.lists(gaps, min_size=size, max_size=size)))
        for k in range(draw_(st.integers(1, 4)))
    }
    return Plot(
        kind=kind, title="Title <&>", x=names, series=series, x_title="x", y_title="y", percent=draw_(st.booleans())
    )


@settings(max_examples=60, deadline=None)
@given(plots(), st.sampled_from(["en", "de"]))
def test_everything_drawn_lies_on_the_paper(plot: Plot, language: str) -> None:
    drawing = draw(plot, language)
    for part in drawing.parts:
        if isinstance(part, Box):
            assert part.x >= 0
            assert part.x + part.width <= WIDTH + 1
            assert part.y >= 0
            assert part.y + part.height <= HEIGHT
        elif isinstance(part, Path):
            assert all(-1 <= x <= WIDTH + 1 and 0 <= y <= HEIGHT for x, y in part.points)
    page = svg(drawing)
    assert page.count("<svg") == 1
    assert "Title &lt;&amp;&gt;" in page
    assert "<script" not in page


def test_the_highest_bar_belongs_to_the_highest_value() -> None:
    drawing = draw(Plot(kind="bars", title="Cells", x=("a", "b", "c"), series={"hidden": (1.0, 3.0, 2.0)}))
    heights = [p.height for p in drawing.parts if isinstance(p, Box)]
    assert heights[1] == max(heights)
    assert heights[0] * 3 == heights[1] or abs(heights[0] * 3 - heights[1]) < 1e-6
    assert drawing.words == "Cells. hidden: a 1, b 3, c 2."
