"""The sections of a report on scientific-use files: what was done, classes, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from diskret.microdata.coarsening import Coarsened
from diskret.microdata.columns import Protected, Records
from diskret.microdata.distribution import Distribution
from diskret.microdata.regression import Coefficients
from diskret.microdata.utility import ClassUtility, Utility
from diskret.publication.sections import Cell, ReportChart, ReportSection, ReportTable


def protection_section(coarsened: Coarsened, steps: Sequence[Protected]) -> ReportSection:
    """What was done, without the parameters, which are secret."""
    gone = int((~coarsened.kept).sum())
    rows: list[tuple[Cell, ...]] = [("records in the source", len(coarsened.kept)), ("records not released", gone)]
    rows.append(("columns dropped", ", ".join(coarsened.dropped) or "none"))
    tables = [ReportTable(head=("information reduction", ""), rows=tuple(rows))]
    tables += [ReportTable(head=(step.method, ""), rows=tuple(_facts(step.facts))) for step in steps]
    text = "Parameters of the methods are secret and not shown."
    return ReportSection(title="What was done", text=(text,), tables=tuple(tables))


def public_section(released: Records, coarsened: Coarsened, steps: Sequence[Protected]) -> ReportSection:
    """What others may know of a scientific-use file: what they see in it, and the names of the methods."""
    methods = ["information reduction"] if coarsened.dropped or not coarsened.kept.all() or coarsened.after else []
    methods += [step.method for step in steps]
    rows: tuple[tuple[Cell, ...], ...] = (("records", released.rows), ("columns", ", ".join(released)))
    tables = (
        ReportTable(head=("the file", ""), rows=rows),
        ReportTable(head=("methods, in their order",), rows=tuple((name,) for name in dict.fromkeys(methods))),
    )
    text = "Parameters of the methods are secret and not shown."
    return ReportSection(title="What was done", text=(text,), tables=tables)


def _facts(facts: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for name, fact in facts.items():
        if isinstance(fact, Mapping):
            rows.append(
                (name, ", ".join(f"{k} {v:,}" if isinstance(v, int) else f"{k} {v:.3g}" for k, v in fact.items()))
            )
        else:
            rows.append((name, fact if isinstance(fact, str | int | float) else str(fact)))
    return rows


def classes_section(coarsened: Coarsened) -> ReportSection:
    """Frequency of every class before and after coarsening."""
    tables = []
    for name in coarsened.after:
        for when, counts in (("before", coarsened.before[name]), ("after", coarsened.after[name])):
            rows = tuple((code, counts[code]) for code in _in_order(counts))
            tables.append(ReportTable(head=("class", "records"), rows=rows, caption=f"{name}, {when}"))
    text = "Records by class before and after information reduction; records not released count before only."
    return ReportSection(title="Classes before and after", text=(text,), tables=tuple(tables))


def _in_order(codes: Iterable[str]) -> list[str]:
    """Numbers by size, before other codes."""
    return sorted(codes, key=lambda c: (not c.isdigit(), int(c) if c.isdigit() else 0, c))


def utility_sections(utility: Utility) -> list[ReportSection]:
    """What protection costs: measures, means and variances, correlations, regressions, distributions."""
    sections = [_measures(utility)]
    if utility.columns:
        sections += [_moments(utility), _correlations(utility)]
    if utility.regressions:
        tables = tuple(_coefficients(each) for each in utility.regressions)
        text = "Overlap of 95 % confidence intervals: 1 for equal ones, below 0 for disjoint ones."
        sections.append(ReportSection(title="Regressions", text=(text,), tables=tables))
    if utility.classes:
        tables = tuple(_class(each) for each in utility.classes)
        sections.append(ReportSection(title="Changed classes", tables=tables))
    charts = tuple(_histogram(c.distribution) for c in utility.columns if c.distribution is not None)
    if charts:
        text = "Shares of records per class of values. Outer classes are open, no class has fewer than five records."
        sections.append(ReportSection(title="Distributions", text=(text,), charts=charts))
    return sections


def _measures(utility: Utility) -> ReportSection:
    text = (
        "Original and protected records compared, the same units in both.",
        "IL1s is the mean absolute change over the square root of 2 times the standard deviation. The Hellinger "
        "distance is 0 for equal distributions and 1 for disjoint ones. pMSE is 0 if a model cannot tell protected "
        "from original records and 0.25 if it always can; over chance, 1 is what a perfect model of the original would "
        "give.",
    )
    rows = tuple((name, value) for name, value in utility.summary().items())
    table = ReportTable(head=("measure", "value"), rows=rows)
    return ReportSection(title="Utility in numbers", text=text, tables=(table,))


def _moments(utility: Utility) -> ReportSection:
    head = ("column", "mean before", "after", "change %", "variance before", "after", "change %", "IL1s", "Hellinger")
    rows = tuple(
        (c.name, *c.mean, _percent(c.mean_change), *c.variance, _percent(c.variance_change), c.il1s, c.hellinger)
        for c in utility.columns
    )
    return ReportSection(title="Means and variances", tables=(ReportTable(head=head, rows=rows),))


def _percent(share: float) -> float | None:
    return round(100 * share, 3) if np.isfinite(share) else None


def _correlations(utility: Utility) -> ReportSection:
    names = [c.name for c in utility.columns]
    head = ("", "largest change", "mean change")
    rows = []
    charts = []
    for words, (before, after) in (
        ("correlations of the values", utility.correlation),
        ("correlations of the logarithms", utility.log_correlation),
    ):
        change = np.abs(after - before)[np.tril_indices(len(names), -1)]
        known = change[~np.isnan(change)]
        rows.append((words, float(known.max()) if known.size else 0.0, float(known.mean()) if known.size else 0.0))
        charts.append(_heat_map(f"Change of {words}", names, after - before))
    table = ReportTable(head=head, rows=tuple(rows))
    return ReportSection(title="Correlations", tables=(table,), charts=tuple(charts) if len(names) > 1 else ())


def _coefficients(found: Coefficients) -> ReportTable:
    rows = tuple(
        (name, *(float(v) for v in values))
        for name, *values in zip(
            found.names, found.before, found.error_before, found.after, found.error_after, found.overlap, strict=True
        )
    )
    head = ("coefficient of", "before", "standard error", "after", "standard error", "overlap")
    return ReportTable(head=head, rows=rows, caption=found.regression.text)


def _class(found: ClassUtility) -> ReportTable:
    every = _in_order(found.before | found.after)
    rows = tuple((code, found.before.get(code, 0), found.after.get(code, 0)) for code in every)
    caption = (
        f"{found.name}: Hellinger distance {found.hellinger:.4f}, {100 * found.changed:.1f} % of the codes changed"
    )
    return ReportTable(head=("class", "before", "after"), rows=rows, caption=caption)


def _histogram(found: Distribution) -> ReportChart:
    values = [
        {"from": low, "to": high, "share": share, "file": file}
        for file, shares in (("before", found.before), ("after", found.after))
        for low, high, share in zip(found.edges[:-1], found.edges[1:], _density(found, shares), strict=True)
    ]
    scale: dict[str, Any] = {"type": "log"} if found.logarithmic else {"zero": False}
    axis = {"title": None, "format": "~s"}
    spec = {
        "data": {"values": values},
        "mark": {"type": "rect", "opacity": 0.45},
        "width": 210,
        "height": 90,
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "scale": scale, "axis": axis},
            "x2": {"field": "to"},
            "y": {"field": "share", "type": "quantitative", "axis": {"title": None, "labels": False, "ticks": False}},
            "y2": {"datum": 0},
            "color": {
                "field": "file", "type": "nominal", "legend": {"title": None, "orient": "top"},
                "scale": {"domain": ["before", "after"], "range": ["#1f6f8b", "#d1495b"]},
            },
        },
    }  # fmt: skip
    return ReportChart(spec=spec, caption=found.name)


def _density(found: Distribution, shares: Sequence[float]) -> list[float]:
    """Share per width, so that joined classes do not look fuller than they are."""
    edges = np.log10(found.edges) if found.logarithmic else np.array(found.edges)
    width = np.diff(edges)
    return [float(f"{s / w:.4g}") if w > 0 else 0.0 for s, w in zip(shares, width, strict=True)]


def _heat_map(caption: str, names: Sequence[str], change: Any) -> ReportChart:
    values: list[dict[str, Any]] = [
        {"a": a, "b": b, "change": round(float(change[i, j]), 4)}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if j < i and not np.isnan(change[i, j])
    ]
    most = max((abs(v["change"]) for v in values), default=0.0) or 0.01
    axis = {"title": None, "labelFontSize": 7}
    spec = {
        "data": {"values": values},
        "mark": "rect",
        "width": 230,
        "height": 230,
        "encoding": {
            "x": {"field": "b", "type": "nominal", "sort": list(names), "axis": axis},
            "y": {"field": "a", "type": "nominal", "sort": list(names), "axis": axis},
            "color": {
                "field": "change", "type": "quantitative", "legend": {"title": None},
                "scale": {"scheme": "redblue", "domain": [-most, most]},
            },
        },
    }  # fmt: skip
    return ReportChart(spec=spec, caption=caption)
