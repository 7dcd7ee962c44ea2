"""The sections of a report on anonymous microdata (SAFE): what was kept, how far tables deviate, how it was found.

Numbers of cells by deviation tell nothing about a single cell: the report may leave with the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diskret.publication.drawing import Plot
from diskret.publication.report import ReportSection, ReportTable, number_text
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.deviations import QUANTILES, DeviationTable

MOST_ROWS = 40
MOST_MOMENTS = 300


def safe_sections(done: Anonymisation, language: str = "en") -> list[ReportSection]:
    """All sections."""
    say = WORDS[language]
    sections = [_overview(done, say, language), _attacker(done, say), _deviations(done, say, language)]
    course = course_plots(done, language)
    if course:
        sections.append(ReportSection(say["course"], (say["course text"],), plots=tuple(course)))
    return sections


def _overview(done: Anonymisation, say: Mapping[str, str], language: str) -> ReportSection:
    facts = done.summary()
    rows: list[tuple[str, Any]] = [
        (say["objects"], facts["objects"]), (say["k"], facts["k"]), (say["combinations"], facts["rows"]),
        (say["tables"], facts["control tables"]), (say["cells"], facts["control cells"]),
        (say["search"], say[f"search {done.search}"]),
        (say["complete"], say["yes"] if done.complete else say["no"]),
    ]  # fmt: skip
    attributes = tuple((n, len(h), h.depth) for n, h in done.attributes.items())
    maxima = ", ".join(
        say["bound"].format(d=d, n=number_text(t.cells, language), most=t.maximum)
        for d, t in done.quality.by_dimension.items()
    )
    text = (say["promise"].format(k=done.k), say["bounds"].format(bounds=maxima))
    tables = (
        ReportTable((say["what"], ""), tuple(rows)),
        ReportTable((say["attribute"], say["codes"], say["levels"]), attributes, say["attributes"]),
    )
    return ReportSection(say["overview"], text, tables)


def _attacker(done: Anonymisation, say: Mapping[str, str]) -> ReportSection:
    """What somebody finds who knows all attributes of a person: before, and at the most after."""
    rows = [(say[f"attack {key}"], *pair) for key, pair in attack_figures(done).items()]
    table = ReportTable((say["what"], say["before"], say["after"]), tuple(rows), right=(1, 2))
    return ReportSection(say["attack"], (say["attack text"],), (table,))


def attack_figures(done: Anonymisation) -> dict[str, tuple[float, float]]:
    """Objects that are alone or few, and how likely it is at the most to find one, before and after.

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
    tables, text, plots = [], [say["deviation text"]], []
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
    plots.append(Plot("bars", say["plot"], names, series, say["deviation"], say["share"], percent=True))
    return ReportSection(say["deviations"], tuple(text), tuple(tables), plots=tuple(plots))


def _shares(table: DeviationTable, most: int) -> tuple[float, ...]:
    rows = table.counts.sum(axis=1) / max(1, table.cells)
    return tuple(float(f"{rows[i]:.4f}") if i < rows.size else 0.0 for i in range(most))


def _table(table: DeviationTable, caption: str, say: Mapping[str, str]) -> ReportTable:
    weights = table.counts.shape[1]
    head = (say["deviation"], *(f"g = {g}" for g in range(weights)), say["all"])
    rows = [(i, *(int(n) for n in row), int(row.sum())) for i, row in enumerate(table.counts[:MOST_ROWS])]
    return ReportTable(head, tuple(rows), caption, tuple(range(weights + 2)))


def course_plots(done: Anonymisation, language: str = "en") -> list[Plot]:
    """How cases and bounds fell in the search, over the groups of rows tested (not over time: the same every time)."""
    say = WORDS[language]
    moments = list(done.history)
    if len(moments) < 2:
        return []
    step = max(1, len(moments) // MOST_MOMENTS)
    kept = moments[::step] + ([] if (len(moments) - 1) % step == 0 else moments[-1:])
    x = tuple(float(m.groups) for m in kept)
    dimensions = max(len(m.largest) for m in kept)
    bounds: dict[str, Sequence[float | None]] = {
        say["dimension"].format(d=d + 1): [float(m.largest[d]) if d < len(m.largest) else None for m in kept]
        for d in range(dimensions)
    }
    cases = [None if m.cases is None else float(m.cases) for m in kept]
    plots = [Plot("steps", say["bounds plot"], x, bounds, say["groups"], say["largest"])]
    if any(c is not None for c in cases):
        plots.append(Plot("lines", say["cases plot"], x, {say["cases"]: cases}, say["groups"], say["cells beyond"]))
    return plots


_EN = {
    "overview": "The anonymous file", "what": "what", "objects": "objects, as many as in the original",
    "k": "every combination occurs not at all or at least so many times",
    "combinations": "combinations that occur", "tables": "control tables", "cells": "control cells",
    "search": "search", "search ladder": "falling limits (ladder)", "search printed": "as printed",
    "complete": "search carried to its end", "yes": "yes", "no": "no: time was over, or it was stopped",
    "promise": "Every combination of the attributes occurs not at all or at least {k} times. Whatever is tabulated "
    "from the file is anonymous.",
    "bounds": "Largest deviations of the control tables from the original: {bounds}.",
    "bound": "{most} in {n} cells of dimension {d}",
    "attributes": "Attributes", "attribute": "attribute", "codes": "codes", "levels": "levels",
    "attack": "What an attacker finds", "before": "original", "after": "anonymous file, at most",
    "attack text": "Somebody who knows all attributes of a person looks for the combination in the file. In the "
    "anonymous file nobody is alone; and a combination that occurs need not hold the persons it held before.",
    "attack alone": "objects that are alone in their combination",
    "attack few": "objects in combinations of fewer than k",
    "attack highest": "highest probability of a right guess",
    "attack expected": "share of right guesses, if everybody is looked for",
    "deviations": "Deviations of the control tables", "deviation": "absolute deviation", "all": "cells",
    "deviation text": "Number of control cells by absolute deviation (rows) and weight class g (columns; large cells "
    "have larger classes).",
    "dimension": "dimension {d}", "plot": "Control cells by deviation", "share": "share of the cells",
    "statement": "Dimension {d}: mean deviation {mean}, largest {most}; {within}.",
    "within": "{share} of the cells deviate by at most {n}",
    "course": "The course of the search",
    "course text": "How the largest deviation of each dimension, and the number of cells beyond the limit being "
    "sought, fell with the groups of rows that were tested.",
    "bounds plot": "Largest deviation by dimension", "cases plot": "Cells beyond the limit being sought",
    "groups": "groups of rows tested", "largest": "largest deviation", "cases": "cells", "cells beyond": "cells",
}  # fmt: skip
_DE = {
    "overview": "Die anonyme Datei", "what": "was", "objects": "Objekte, so viele wie im Original",
    "k": "jede Kombination kommt gar nicht oder mindestens so oft vor",
    "combinations": "vorkommende Kombinationen", "tables": "Kontrolltabellen", "cells": "Kontrollzellen",
    "search": "Suche", "search ladder": "fallende Grenzen (Leiter)", "search printed": "wie gedruckt",
    "complete": "Suche zu Ende geführt", "yes": "ja", "no": "nein: Zeit abgelaufen oder angehalten",
    "promise": "Jede Kombination der Merkmale kommt gar nicht oder mindestens {k}-mal vor. Was aus der Datei "
    "ausgezählt wird, ist anonym.",
    "bounds": "Größte Abweichungen der Kontrolltabellen vom Original: {bounds}.",
    "bound": "{most} in {n} Zellen der Dimension {d}",
    "attributes": "Merkmale", "attribute": "Merkmal", "codes": "Schlüssel", "levels": "Ebenen",
    "attack": "Was ein Angreifer findet", "before": "Original", "after": "anonyme Datei, höchstens",
    "attack text": "Wer alle Merkmale einer Person kennt, sucht die Kombination in der Datei. In der anonymen Datei "
    "ist niemand allein; und eine vorkommende Kombination muss nicht die Personen enthalten, die sie vorher enthielt.",
    "attack alone": "Objekte, die in ihrer Kombination allein sind",
    "attack few": "Objekte in Kombinationen von weniger als k",
    "attack highest": "größte Wahrscheinlichkeit, richtig zu raten",
    "attack expected": "Anteil richtiger Zuordnungen, wenn nach allen gesucht wird",
    "deviations": "Abweichungen der Kontrolltabellen", "deviation": "absolute Abweichung", "all": "Zellen",
    "deviation text": "Anzahl der Kontrollzellen nach absoluter Abweichung (Zeilen) und Gewichtsklasse g (Spalten; "
    "große Zellen haben größere Klassen).",
    "dimension": "Dimension {d}", "plot": "Kontrollzellen nach Abweichung", "share": "Anteil der Zellen",
    "statement": "Dimension {d}: mittlere Abweichung {mean}, größte {most}; {within}.",
    "within": "{share} der Zellen weichen um höchstens {n} ab",
    "course": "Der Verlauf der Suche",
    "course text": "Wie die größte Abweichung jeder Dimension und die Zahl der Zellen jenseits der gesuchten Grenze "
    "mit den geprüften Gruppen von Zeilen fielen.",
    "bounds plot": "Größte Abweichung je Dimension", "cases plot": "Zellen jenseits der gesuchten Grenze",
    "groups": "geprüfte Gruppen von Zeilen", "largest": "größte Abweichung", "cases": "Zellen",
    "cells beyond": "Zellen",
}  # fmt: skip
WORDS: Mapping[str, Mapping[str, str]] = {"en": _EN, "de": _DE}
