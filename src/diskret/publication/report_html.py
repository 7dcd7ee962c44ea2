"""A report as one HTML page that needs nothing else: the template shows the sections, plots stand inside the page."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from diskret.model.words import words
from diskret.publication.drawing import INK, Drawing, draw
from diskret.publication.report_head import ReportHead
from diskret.publication.sections import ReportChart, ReportSection, number_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LONG = 60
"""Longer tables are folded."""
BROAD = 300
"""Broader plots get a line of their own."""


def report_text(
    title: str, sections: Sequence[ReportSection], language: str = "en", head: ReportHead | None = None
) -> str:
    """The HTML of a report, with its mark.

    >>> "<h2 id='s1'>A &amp; B</h2>" in report_text("Panel", [ReportSection(title="A & B")])
    True
    """
    page = _templates()
    page.filters |= {"number": partial(number_text, language=language), "picture": _picture}
    page.filters["drawn"] = lambda plot: svg(draw(plot, language))
    say = words("report", language)
    return page.get_template("report.html").render(
        title=title,
        sections=sections,
        head=head or ReportHead(),
        language=language,
        say=say,
        long=LONG,
        broad=BROAD,
    )


def svg(drawing: Drawing, *, alone: bool = False) -> Markup:
    """A drawing as an SVG element for a page, or as a picture to stand alone."""
    from markupsafe import Markup

    return Markup(_templates().get_template("drawing.svg").render(drawing=drawing, ink=INK, alone=alone))


def _templates() -> Environment:
    """The templates; whatever the data say is escaped, wherever a template puts it."""
    from jinja2 import Environment, PackageLoader

    return Environment(loader=PackageLoader("diskret.publication"), autoescape=True)


def _picture(chart: ReportChart) -> str:
    """A chart of the plotting library as a picture to stand inside the page; nothing without the library."""
    try:
        import vl_convert
    except ImportError:
        return ""
    picture = _numbered(vl_convert.vegalite_to_svg(json.dumps(chart.spec)))
    return base64.b64encode(picture.encode("utf-8")).decode("ascii")


def _numbered(picture: str) -> str:
    """Names inside a picture counted from its own beginning: the program that draws counts on from plot to plot."""
    names = dict.fromkeys(re.findall(r"\b(?:gradient_|clip)\d+\b", picture))
    new = {name: f"{name.rstrip('0123456789')}{number}" for number, name in enumerate(names)}
    return re.sub(r"\b(?:gradient_|clip)\d+\b", lambda found: new[found[0]], picture)
