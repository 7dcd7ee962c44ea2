"""The sections of a report on anonymous microdata (SAFE): what was kept, how far tables deviate, how it was found.

What leaves with the file is made from the file, and from the largest deviations, never told closer than the floor.
Numbers of cells by deviation, means, uniques of the original and the course of the search are internal: together with
the file they can give small counts of the original back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.model.words import words
from diskret.publication.drawing import Plot
from diskret.publication.sections import ReportSection, ReportTable, number_text

if TYPE_CHECKING:
    from diskret.safe.anonymisation import Anonymisation
    from diskret.safe.deviations import DeviationTable
    from diskret.safe.file_attack import FileAttack
    from diskret.safe.history import Moment

MOST_MOMENTS = 300
MOST_EXPOSED = 50
"""Exposed counts that are named."""


def safe_sections(
    done: Anonymisation, found: FileAttack, language: str = "en", *, internal: bool = False
) -> list[ReportSection]:
    """All sections; for everybody the first alone, without numbers of the original."""
    say = words("safe_report", language)
    if not internal:
        return [_public(done, say)]
    sections = [_overview(done, say, language), _attacker(done, found, say), _deviations(done, say, language)]
    course = course_plots(done, language)
    if course:
        sections.append(ReportSection(title=say["course"], text=(say["course text"],), plots=tuple(course)))
    return sections


def _public(done: Anonymisation, say: Mapping[str, str]) -> ReportSection:
    """What every reader of the file can count, and the promises."""
    occurs = done.codes[done.frequency > 0]
    rows = (
        (say["objects"], done.objects), (say["k"], done.k), (say["combinations"], len(occurs)),
        (say["tables"], len(done.control.tables)),
    )  # fmt: skip
    occurring = tuple((name, int(np.unique(occurs[:, a]).size)) for a, name in enumerate(done.attributes))
    bounds = ", ".join(say["public bound"].format(d=d, most=most) for d, most in done.bounds.items())
    tables = (
        ReportTable(head=(say["what"], ""), rows=rows),
        ReportTable(head=(say["attribute"], say["occurring"]), rows=occurring, caption=say["attributes"]),
    )
    text = (say["promise"].format(k=done.k), say["public bounds"].format(bounds=bounds))
    return ReportSection(title=say["overview"], text=text, tables=tables)


def _overview(done: Anonymisation, say: Mapping[str, str], language: str) -> ReportSection:
    facts = done.internal_summary()
    rows: list[tuple[str, Any]] = [
        (say["objects"], facts["objects"]), (say["k"], facts["k"]), (say["combinations"], facts["rows"]),
        (say["tables"], facts["control tables"]), (say["cells"], facts["control cells"]),
        (say["search"], say[f"search {done.search}"]),
        (say["complete"], say["yes"] if done.complete else say["no"]), (say["steps"], done.steps),
        (say["seed"], str(done.seed)),
    ]  # fmt: skip
    attributes = tuple((n, len(h), h.depth) for n, h in done.attributes.items())
    maxima = ", ".join(
        say["bound"].format(d=d, n=number_text(t.cells, language), most=t.maximum)
        for d, t in done.quality.by_dimension.items()
    )
    text = (say["promise"].format(k=done.k), say["bounds"].format(bounds=maxima))
    tables = (
        ReportTable(head=(say["what"], ""), rows=tuple(rows)),
        ReportTable(head=(say["attribute"], say["codes"], say["levels"]), rows=attributes, caption=say["attributes"]),
    )
    return ReportSection(title=say["overview"], text=text, tables=tables)


def _attacker(done: Anonymisation, found: FileAttack, say: Mapping[str, str]) -> ReportSection:
    """What somebody finds who knows all attributes of a person, before and at most after; and who knows the method."""
    rows = [(say[f"attack {key}"], *pair) for key, pair in attack_figures(done).items()]
    table = ReportTable(head=(say["what"], say["before"], say["after"]), rows=tuple(rows), right=(1, 2))
    exposed = [(" x ".join(t.codes), t.by, t.possible) for t in found.exposed[:MOST_EXPOSED]]
    counts = (
        (say["small counts"], found.counts), (say["small safe"], found.safe_counts),
        (say["small exposed"].format(least=found.least), len(found.exposed)), (say["small pinned"], found.pinned),
        (say["small undecided"], found.undecided),
        *([(say["small passed over"], found.passed_over)] if found.passed_over else []),
    )  # fmt: skip
    tables = [table, ReportTable(head=(say["what"], ""), rows=counts, caption=say["small caption"])]
    if exposed:
        head = (say["combination"], say["in table"], say["possible"])
        tables.append(ReportTable(head=head, rows=tuple(exposed), caption=say["exposed caption"]))
    text = (say["attack text"], say["small text"].format(least=found.least, k=done.k))
    return ReportSection(title=say["attack"], text=text, tables=tuple(tables))


def attack_figures(done: Anonymisation) -> dict[str, tuple[float, float]]:
    """Objects that are alone or few, and how likely it is at most to find one, before and after.

    After anonymising these are upper bounds: a combination that occurs need not hold the objects it held before.
    """
    found: dict[str, list[float]] = {"alone": [], "few": [], "highest": [], "expected": []}
    for frequency in (done.original, done.frequency):
        occurs = frequency[frequency > 0]
        found["alone"].append(int((occurs == 1).sum()))
        found["few"].append(int(occurs[occurs < done.k].sum()))
        found["highest"].append(float(1 / occurs.min()) if occurs.size else 0.0)
        found["expected"].append(float(occurs.size / max(1, int(occurs.sum()))))
    return {key: (before, after) for key, (before, after) in found.items()}


def _deviations(done: Anonymisation, say: Mapping[str, str], language: str) -> ReportSection:
    from diskret.safe.deviations import QUANTILES

    tables, text = [], [say["deviation text"]]
    by_dimension = done.quality.by_dimension
    for d, table in by_dimension.items():
        tables.append(_table(table, say["dimension"].format(d=d), say))
        within = ", ".join(
            say["within"].format(share=f"{q:.0%}".replace("%", " %"), n=table.quantile(q)) for q in QUANTILES
        )
        mean = f"{table.mean:.2f}".replace(".", "," if language == "de" else ".")
        text.append(say["statement"].format(d=d, mean=mean, most=table.maximum, within=within))
    most = max((t.counts.shape[0] for t in by_dimension.values()), default=1)
    series = {say["dimension"].format(d=d): _shares(t, most) for d, t in by_dimension.items()}
    names = tuple(str(i) for i in range(most))
    plot = Plot(
        kind="bars",
        title=say["plot"],
        x=names,
        series=series,
        x_title=say["deviation"],
        y_title=say["share"],
        percent=True,
    )
    return ReportSection(title=say["deviations"], text=tuple(text), tables=tuple(tables), plots=(plot,))


def _shares(table: DeviationTable, most: int) -> tuple[float, ...]:
    rows = table.counts.sum(axis=1) / max(1, table.cells)
    return tuple(float(f"{rows[i]:.4f}") if i < rows.size else 0.0 for i in range(most))


def _table(table: DeviationTable, caption: str, say: Mapping[str, str]) -> ReportTable:
    weights = table.counts.shape[1]
    head = (say["deviation"], *(f"g = {g}" for g in range(weights)), say["all"])
    rows = [(i, *(int(n) for n in row), int(row.sum())) for i, row in enumerate(table.counts)]
    return ReportTable(head=head, rows=tuple(rows), caption=caption, right=tuple(range(weights + 2)))


def _thinned(moments: list[Moment]) -> list[Moment]:
    """Some hundred moments of a search, the first and the last among them."""
    step = max(1, len(moments) // MOST_MOMENTS)
    return moments[::step] + ([] if (len(moments) - 1) % step == 0 else moments[-1:])


def course_plots(done: Anonymisation, language: str = "en") -> list[Plot]:
    """How cases and bounds fell in the search, over the groups of rows tested (not over time: the same every time)."""
    say = words("safe_report", language)
    kept = _thinned(list(done.history))
    if len(kept) < 2:
        return []
    axis: dict[str, Any] = {"x": tuple(float(m.groups) for m in kept), "x_title": say["groups"]}
    bounds = {
        say["dimension"].format(d=d + 1): [float(m.largest[d]) if d < len(m.largest) else None for m in kept]
        for d in range(max(len(m.largest) for m in kept))
    }
    plots = [Plot(kind="steps", title=say["bounds plot"], series=bounds, y_title=say["largest"], **axis)]
    cases = {say["cases"]: [None if m.cases is None else float(m.cases) for m in kept]}
    if any(m.cases is not None for m in kept):
        plots.append(Plot(kind="lines", title=say["cases plot"], series=cases, y_title=say["cells beyond"], **axis))
    return plots
