"""Plots as a few lines, boxes and words: drawn once, written into a page as SVG or into a PDF.

No plotting library is needed. What differs is told by words and line styles, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Literal

from diskret.model.tolerances import POSITIVE
from diskret.publication.numbers import number_text

INK, FAINT, PAPER = "#1b1b1b", "#d0d0d0", "#ffffff"
COLOURS = ("#1f6f8b", "#d1495b", "#8a8a8a", "#edae49", "#4b3f72")
DASHES = ((), (6.0, 3.0), (2.0, 2.0), (8.0, 2.0, 2.0, 2.0), (1.0, 3.0))
WIDTH, HEIGHT = 620.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 46.0, 42.0
LETTER = 5.6
"""Width of a letter, roughly."""
Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
TICKS: Mapping[float, Anchor] = {0.0: "start", 0.25: "middle", 0.5: "middle", 0.75: "middle", 1.0: "end"}
"""Where along an axis of numbers they stand."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, kw_only=True)
class Path:
    """A line through points."""

    points: tuple[Point, ...]
    colour: str = INK
    width: float = 1.0
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Words:
    """A short text; ``anchor`` says which end stands at the point."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    size: float = 11.0


@dataclass(frozen=True, kw_only=True)
class Plot:
    """Bars or lines over one axis: plain data."""

    kind: Literal["bars", "lines", "steps"]
    title: str
    x: tuple[str | float, ...]
    """Names (bars) or numbers (lines)."""
    series: Mapping[str, Sequence[float | None]]
    x_title: str = ""
    y_title: str = ""
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Parts in the order they are drawn."""

    title: str
    words: str
    """What the plot shows, for those who do not see it."""
    parts: tuple[Box | Path | Words, ...]
    width: float = WIDTH
    height: float = HEIGHT


@dataclass
class _Canvas:
    """Where things come to stand."""

    plot: Plot
    top: float
    language: str = "en"
    parts: list[Box | Path | Words] = field(default_factory=list)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / self.top

    def number(self, value: float) -> str:
        return f"{self.plain(100 * value)} %" if self.plot.percent else self.plain(value)

    def plain(self, value: float) -> str:
        """A number in the language of the plot."""
        return number_text(value, self.language)

    def say(self, x: float, y: float, text: str, anchor: Anchor = "start", size: float = 11.0) -> None:
        self.parts.append(Words(x=x, y=y, text=text, anchor=anchor, size=size))

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, width: float, dash: Sequence[float] = ()
    ) -> None:
        self.parts.append(Path(points=tuple(points), colour=colour, width=width, dash=tuple(dash)))

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.parts.append(Box(x=x, y=y, width=width, height=height, colour=colour))


def draw(plot: Plot, language: str = "en") -> Drawing:
    """A plot with axes, a legend and words for those who do not see it.

    >>> drawing = draw(Plot(kind="bars", title="Cells", x=("a", "b"), series={"hidden": (1.0, 3.0)}))
    >>> drawing.words
    'Cells. hidden: a 1, b 3.'
    """
    highest = max((v for values in plot.series.values() for v in values if v is not None), default=1.0)
    canvas = _Canvas(plot, _nice_top(highest), language)
    _axes(canvas)
    (_bars if plot.kind == "bars" else _lines)(canvas)
    _legend(canvas)
    return Drawing(title=plot.title, words=_words(canvas), parts=tuple(canvas.parts))


def _nice_top(most: float) -> float:
    """The next round number.

    >>> _nice_top(0.37), _nice_top(83), _nice_top(0)
    (0.4, 100.0, 1.0)
    """
    if not isfinite(most) or most < POSITIVE:
        return 1.0
    size = 10.0 ** floor(log10(most))
    step = next(s for s in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if s * size >= most * (1 - 1e-12))
    return float(f"{step * size:.12g}")


def _axes(c: _Canvas) -> None:
    steps = 4
    for i in range(steps + 1):
        value = c.top * i / steps
        c.line(((LEFT, c.y(value)), (WIDTH - RIGHT, c.y(value))), FAINT if i else INK, 0.8)
        c.say(LEFT - 6, c.y(value) + 4, c.number(float(f"{value:.6g}")), "end")
    c.say(4, 14, c.plot.title, size=13)
    if c.plot.x_title:
        c.say(WIDTH - RIGHT, HEIGHT - 6, c.plot.x_title, "end")
    if c.plot.y_title:
        c.say(4, TOP - 14, c.plot.y_title)


def _bars(c: _Canvas) -> None:
    room = (WIDTH - LEFT - RIGHT) / max(1, len(c.plot.x))
    width = room * 0.74 / max(1, len(c.plot.series))
    every = max(1, round(max((len(str(x)) for x in c.plot.x), default=1) * LETTER / room + 0.45))
    for i, name in enumerate(c.plot.x):
        for k, values in enumerate(c.plot.series.values()):
            x, y = LEFT + room * (i + 0.13) + k * width, c.y(values[i] or 0.0)
            c.box(x, y, width * 0.96, max(0.0, c.y(0.0) - y), COLOURS[k % len(COLOURS)])
        if i % every == 0:
            c.say(LEFT + room * (i + 0.5), HEIGHT - BOTTOM + 15, str(name), "middle")


def _lines(c: _Canvas) -> None:
    numbers = [float(x) for x in c.plot.x]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    span = high - low or 1.0

    def at(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (x - low) / span

    for share, anchor in TICKS.items():
        x = low + span * share
        c.say(at(x), HEIGHT - BOTTOM + 15, c.plain(round(x) if span > 10 else x), anchor)
    for k, values in enumerate(c.plot.series.values()):
        known = [(at(x), c.y(v)) for x, v in zip(numbers, values, strict=True) if v is not None]
        points = _stairs(known) if c.plot.kind == "steps" else known
        if points:
            c.line(points, COLOURS[k % len(COLOURS)], 2.0, DASHES[k % len(DASHES)])


def _stairs(points: Sequence[Point]) -> list[Point]:
    """A line that keeps its height until the next point.

    >>> _stairs([(0, 5), (1, 3)])
    [(0, 5), (1, 5), (1, 3)]
    """
    corners = [[(after[0], before[1]), after] for before, after in pairwise(points)]
    return [*points[:1], *(point for corner in corners for point in corner)]


def _legend(c: _Canvas) -> None:
    if len(c.plot.series) < 2:
        return
    x = WIDTH - RIGHT
    for k, name in reversed(list(enumerate(c.plot.series))):
        x -= len(name) * LETTER + 8
        c.say(x, 14, name)
        colour = COLOURS[k % len(COLOURS)]
        if c.plot.kind == "bars":
            c.box(x - 14, 6, 10, 9, colour)
        else:
            c.line(((x - 24, 10), (x - 4, 10)), colour, 2.0, DASHES[k % len(DASHES)])
        x -= 30


def _words(c: _Canvas) -> str:
    """The numbers of bars, the ends of lines."""
    said = []
    for name, values in c.plot.series.items():
        shown = [(x, v) for x, v in zip(c.plot.x, values, strict=True) if v is not None]
        if c.plot.kind != "bars" and len(shown) > 2:
            shown = [shown[0], shown[-1]]
        texts = [f"{x if isinstance(x, str) else c.plain(x)} {c.number(float(f'{v:.4g}'))}" for x, v in shown[:40]]
        said.append(f"{name}: {', '.join(texts)}.")
    return " ".join([f"{c.plot.title}.", *said])
