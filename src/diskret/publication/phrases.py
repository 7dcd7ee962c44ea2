"""German for reports on records: a phrase book over the finished sections.

Rooms below speak English only. What is not in the book stays as it is: names of columns, codes, numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from diskret.publication.report import Cell, ReportChart, ReportSection, ReportTable


def in_german(words: str) -> str:
    """A phrase in German, if the book knows it.

    >>> in_german("records in the source"), in_german("turnover, before"), in_german("05111")
    ('Datensätze in der Quelle', 'turnover, vorher', '05111')
    """
    if words in PHRASES:
        return PHRASES[words]
    for pattern, german in PATTERNS:
        found = pattern.fullmatch(words)
        if found:
            return german.format(**{k: _inner(v) for k, v in found.groupdict("").items()})
    return words


def _inner(words: str) -> str:
    """What stands inside a sentence: a phrase, a number with its decimal sign, or a name."""
    if re.fullmatch(r"\d[\d,]*([.]\d+)?", words):
        return words.translate(str.maketrans(",.", ".,"))
    return PHRASES.get(words, words)


def section_in_german(section: ReportSection) -> ReportSection:
    """A section with its title, texts, tables and charts in German."""
    return replace(
        section,
        title=in_german(section.title),
        text=tuple(_sentences(each) for each in section.text),
        tables=tuple(_table(each) for each in section.tables),
        charts=tuple(ReportChart(_spec(each.spec), in_german(each.caption)) for each in section.charts),
    )


def _sentences(text: str) -> str:
    """A paragraph as a whole, or sentence by sentence."""
    whole = in_german(text)
    if whole != text:
        return whole
    return " ".join(in_german(part) for part in re.split(r"(?<=[.]) ", text))


def _table(table: ReportTable) -> ReportTable:
    # the first column of a small table of facts names them; elsewhere codes of the user stand there
    rows = tuple((_fact(row[0]), *(_said(cell) for cell in row[1:])) for row in table.rows)
    return replace(table, head=tuple(in_german(h) for h in table.head), rows=rows, caption=in_german(table.caption))


def _fact(cell: Cell) -> Cell:
    return in_german(cell) if isinstance(cell, str) else cell


def _said(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    if cell in ("yes", "no", "none"):
        return PHRASES[cell]
    return re.sub(r"(groups split 2 to rest|groups at their mean|groups|variance lost|codes changed)\b", _one, cell)


def _one(found: re.Match[str]) -> str:
    return PHRASES[found[0]]


def _spec(spec: Any) -> Any:
    """The words of a chart; its data and field names stay."""
    if isinstance(spec, Mapping):
        return {k: v if k in ("field", "mark", "type") else _spec(v) for k, v in spec.items()}
    if isinstance(spec, list):
        return [_spec(each) for each in spec]
    return CHART_WORDS.get(spec, spec) if isinstance(spec, str) else spec


PHRASES: Mapping[str, str] = {
    "yes": "ja", "no": "nein", "none": "keine", "before": "vorher", "after": "nachher", "": "",
    "Scientific-use file": "Scientific-Use-File",
    "Internal: this report holds statistics of the original records. It is not for publication.":
        "Intern: Dieser Bericht enthält Statistiken der Originaldaten. Er ist nicht zur Veröffentlichung bestimmt.",
    "What was done": "Was getan wurde",
    "Parameters of the methods are secret and not shown.": "Parameter der Verfahren sind geheim und nicht gezeigt.",
    "information reduction": "Informationsreduktion", "records in the source": "Datensätze in der Quelle",
    "records not released": "nicht weitergegebene Datensätze", "columns dropped": "entfernte Spalten",
    "groups": "Gruppen", "variance lost": "verlorene Varianz", "groups split 2 to rest": "Gruppen 2 zu Rest geteilt",
    "groups at their mean": "Gruppen auf ihrem Mittelwert", "codes changed": "geänderte Schlüssel",
    "units": "Einheiten", "pairs": "Paare", "pairs turned": "gedrehte Paare", "units swapped": "getauschte Einheiten",
    "units at risk without a partner": "gefährdete Einheiten ohne Partner",
    "largest deviation of a correlation of the noise": "größte Abweichung einer Korrelation der Überlagerung",
    "two-peak mixture": "zwei Gipfel", "equal variance": "gleiche Varianz",
    "assignment": "gemeinsame Zuordnung", "single": "Einzelzuordnung", "fellegi_sunter": "Fellegi-Sunter",
    "targeted record swapping": "gezielter Datentausch", "post-randomisation": "Post-Randomisierung (PRAM)",
    "microaggregation (MDAV)": "Mikroaggregation (MDAV)",
    "microaggregation (fixed groups)": "Mikroaggregation (feste Gruppen)",
    "microaggregation (optimal groups)": "Mikroaggregation (optimale Gruppen)",
    "microaggregation (fixed groups, variance kept)": "Mikroaggregation (feste Gruppen, varianzerhaltend)",
    "microaggregation (optimal groups, variance kept)": "Mikroaggregation (optimale Gruppen, varianzerhaltend)",
    "Classes before and after": "Klassen vorher und nachher",
    "Records by class before and after information reduction; records not released count before only.":
        "Datensätze je Klasse vor und nach der Informationsreduktion; nicht weitergegebene zählen nur vorher.",
    "class": "Klasse", "records": "Datensätze", "measure": "Maß", "value": "Wert",
    "Utility in numbers": "Analysepotenzial in Zahlen",
    "Original and protected records compared, the same units in both.":
        "Originale und geschützte Datensätze im Vergleich, dieselben Einheiten in beiden.",
    "IL1s is the mean absolute change over the square root of 2 times the standard deviation. The Hellinger distance "
    "is 0 for equal distributions and 1 for disjoint ones. pMSE is 0 if a model cannot tell protected from original "
    "records and 0.25 if it always can; over chance, 1 is what a perfect model of the original would give.":
        "IL1s ist die mittlere absolute Änderung geteilt durch Wurzel 2 mal Standardabweichung. Die Hellinger-Distanz "
        "ist 0 für gleiche und 1 für getrennte Verteilungen. pMSE ist 0, wenn ein Modell geschützte und originale "
        "Datensätze nicht unterscheiden kann, und 0,25, wenn immer; über dem Zufall ist 1, was ein perfektes Modell "
        "des Originals gäbe.",
    "largest change of a mean": "größte Änderung eines Mittelwerts",
    "largest change of a variance": "größte Änderung einer Varianz",
    "largest change of a correlation": "größte Änderung einer Korrelation",
    "largest change of a correlation of logs": "größte Änderung einer Korrelation der Logarithmen",
    "IL1s": "IL1s", "largest Hellinger distance": "größte Hellinger-Distanz", "pMSE": "pMSE",
    "pMSE over chance": "pMSE über dem Zufall",
    "Means and variances": "Mittelwerte und Varianzen", "column": "Spalte", "mean before": "Mittel vorher",
    "change %": "Änderung %", "variance before": "Varianz vorher", "Hellinger": "Hellinger",
    "Correlations": "Korrelationen", "largest change": "größte Änderung", "mean change": "mittlere Änderung",
    "correlations of the values": "Korrelationen der Werte",
    "correlations of the logarithms": "Korrelationen der Logarithmen",
    "Regressions": "Regressionen",
    "Overlap of 95 % confidence intervals: 1 for equal ones, below 0 for disjoint ones.":
        "Überlappung der 95-%-Konfidenzintervalle: 1 für gleiche, unter 0 für getrennte.",
    "coefficient of": "Koeffizient von", "standard error": "Standardfehler", "overlap": "Überlappung",
    "Changed classes": "Geänderte Klassen", "Distributions": "Verteilungen",
    "Shares of records per class of values. Outer classes are open, no class has fewer than five records.":
        "Anteile der Datensätze je Wertklasse. Äußere Klassen sind offen, keine hat weniger als fünf Datensätze.",
    "Attack by record linkage": "Angriff durch Zusammenführen von Datensätzen",
    "checkable units": "prüfbare Einheiten", "correct": "richtig", "risk": "Risiko", "passes": "besteht",
    "k-anonymity, l-diversity, t-closeness": "k-Anonymität, l-Diversität, t-Closeness",
    "sensitive": "sensibel", "l distinct": "l verschieden", "l entropy": "l Entropie", "c recursive": "c rekursiv",
    "t equal": "t gleich", "t ordered": "t geordnet",
    "Risk of the file": "Risiko der Datei", "model": "Modell",
    "alone in the population": "allein in der Grundgesamtheit", "of them in the file": "davon in der Datei",
    "expected correct matches": "erwartete richtige Zuordnungen",
}  # fmt: skip

PATTERNS = [
    (re.compile(pattern), german)
    for pattern, german in (
        (r"(?P<name>.+), (?P<when>before|after)", "{name}, {when}"),
        (r"Change of (?P<what>.+)", "Änderung: {what}"),
        (r"(?P<name>.+) usable", "{name} verwertbar"),
        (r"at risk by (?P<name>.+)", "gefährdet nach {name}"),
        (r"log-additive noise \((?P<words>.+)\)", "log-additive Überlagerung ({words})"),
        (r"(?P<name>.+): Hellinger distance (?P<d>[\d.]+), (?P<c>[\d.]+) % of the codes changed",
         "{name}: Hellinger-Distanz {d}, {c} % der Schlüssel geändert"),
        (r"(?P<m>\w+): (?P<u>[\d,]+) external units, (?P<a>[\d,]+) assigned; (?P<c>[\d,]+) checkable, "
         r"(?P<r>[\d,]+) correct: true match rate (?P<t>[\d.]+), precision (?P<p>[\d.]+)[.]",
         "Verfahren {m}: {u} Einheiten der Zusatzdatei, {a} zugeordnet; {c} prüfbar, {r} richtig: Trefferquote {t}, "
         "Genauigkeit {p}."),
        (r"(?P<n>.+): (?P<c>[\d,]+) correct and within (?P<w>[\d.]+) %; mean perturbation (?P<p>[\d.]+) %, "
         r"(?P<u>[\d.]+) % of values usable[.]",
         "{n}: {c} richtig und bis auf {w} % genau; mittlere Störung {p} %, {u} % der Werte verwertbar."),
        (r"(?P<n>[\d,]+) combinations of (?P<by>.+): (?P<e>[\d,]+) above the cap of (?P<c>[\d.]+), highest risk "
         r"(?P<r>[\d.]+)[.]", "{n} Kombinationen von {by}: {e} über der Obergrenze {c}, höchstes Risiko {r}."),
        (r"(?P<r>[\d,]+) records fall into (?P<c>[\d,]+) classes of equal (?P<k>.+); the smallest has (?P<s>\d+), "
         r"(?P<a>[\d,]+) records are alone[.]",
         "{r} Datensätze fallen in {c} Klassen mit gleichen {k}; die kleinste hat {s}, {a} Datensätze sind allein."),
        (r"(?P<a>[\d,]+) records in classes below (?P<x>\d+), (?P<b>[\d,]+) records in classes below (?P<y>\d+), "
         r"(?P<c>[\d,]+) records in classes below (?P<z>\d+)[.]",
         "{a} Datensätze in Klassen unter {x}, {b} unter {y}, {c} unter {z}."),
    )
]  # fmt: skip

CHART_WORDS: Mapping[str, str] = {
    "before": "vorher", "after": "nachher", "checkable units": "prüfbare Einheiten",
    "Risk by combination": "Risiko je Kombination", "Records by individual risk": "Datensätze nach Einzelrisiko",
    "individual risk": "Einzelrisiko",
}  # fmt: skip
