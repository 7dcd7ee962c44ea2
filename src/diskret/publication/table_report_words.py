"""The words of a report on tables, in English and German."""

from __future__ import annotations

from collections.abc import Mapping

_EN = {
    "note": "This report shows no suppressed value and no secret parameter. It names protected cells that came close; "
    "keep it inside the house if nobody is to know why a cell is hidden.",
    "exposed note": "Internal: cells of this table can be computed back. Do not publish the table or this report.",
    "overview": "At a glance", "cells": "cells", "occupied": "occupied", "primary": "primary",
    "secondary": "secondary", "share": "suppressed",
    "safe": "{table}: attacked with a solver over the whole table, {n} sensitive cells against everybody and {of} "
    "insiders. Nothing is exposed.",
    "not safe": "{table}: attacked with a solver over the whole table, {n} sensitive cells against everybody and {of} "
    "insiders. Something is exposed or undecided: see below.",
    "not attacked": "{table}: not attacked with a solver. What is hidden may still be computable from sums.",
    "unprotected": "{table}: {n} cells could not be protected: {cells}.",
    "published": "Table: {name}", "part": "{n} of {of} cells, the coarsest levels; the published file holds all.",
    "across": "In the columns: {name}.",
    "where": "Where cells are suppressed", "by": "Suppressed cells by {name}", "of cells": "share of occupied cells",
    "where text": "Share of the occupied cells that is suppressed, for sensitive cells and their partners together.",
    "protection": "How it was protected", "what": "what", "rules": "primary rules",
    "secret": "Parameters of the rules and the ranges that must remain are secret and not shown.",
    "classification": "{codes} codes on {levels} levels below the total",
    "rule given": "marked beforehand",
    "rule minimum count": "minimum count", "rule dominance": "{pair} dominance", "by holdings": "by holdings",
    "asked guarantee": "protection", "asked knowledge": "an attacker knows",
    "asked insiders": "guarded against", "asked zeros": "zeros as partners", "asked barriers": "margins",
    "asked effort": "search", "asked source": "data",
    "guarantee audit": "moves over the whole table, attacked with a solver",
    "guarantee complete": "cuboids of the complete table", "guarantee subtables": "cuboids inside subtables",
    "knowledge positive": "that no value is negative", "knowledge none": "nothing beforehand",
    "knowledge relative": "every value to within an error", "knowledge intervals": "an interval for every cell",
    "insiders single": "everybody who is alone in a cell", "insiders none": "nobody from inside",
    "insiders largest": "the largest contributor of every hidden cell",
    "zeros marked": "those marked by the rules", "zeros allowed": "allowed", "zeros forbidden": "forbidden",
    "barriers on": "kept visible", "barriers off": "like all other cells",
    "barriers chosen": "chosen by classification",
    "effort quick": "quick", "effort default": "usual", "effort economy": "long",
    "source microdata": "microdata", "source cells": "list of cells", "source table": "working file",
    "attack": "Attack on the finished table",
    "attack text": "Every sensitive cell was attacked over the whole table: by everybody who reads it, and by insiders "
    "who know their own contribution. Moves re-checked in plain arithmetic settle most cells, linear programmes the "
    "rest.",
    "audit checked": "sensitive cells checked", "audit exposed": "exposed", "audit exactly": "of these exactly",
    "audit to insiders only": "of these to insiders only", "audit undecided": "undecided",
    "audit insiders": "insiders let loose", "audit settled without solver": "settled by re-checked moves",
    "audit linear programmes": "linear programmes", "audit lines breaking the rule": "lines breaking the rule together",
    "audit lines of zeros": "lines of zeros",
    "close": "{table}: protected with the least to spare, the closest first: {cells}.",
    "exposed cells": "{table}: exposed cells", "cell": "cell", "how": "can be computed", "who": "by",
    "proof": "follows from", "exact": "exactly", "near": "too closely", "everybody": "everybody",
    "audit names undecided": "{table}: the solver gave up on {cells}; do not treat them as safe.",
    "audit names lines": "{table}: hidden cells of these lines are exposed together: {cells}.",
    "care": "What deserves care",
}  # fmt: skip
_DE = {
    "note": "Dieser Bericht zeigt keinen gesperrten Wert und keinen geheimen Parameter. Er nennt geschützte Zellen mit "
    "knappem Schutz; er bleibt im Haus, wenn niemand wissen soll, warum eine Zelle gesperrt ist.",
    "exposed note": "Intern: Zellen dieser Tabelle lassen sich zurückrechnen. Tabelle und Bericht nicht "
    "veröffentlichen.",
    "overview": "Auf einen Blick", "cells": "Zellen", "occupied": "besetzt", "primary": "primär gesperrt",
    "secondary": "sekundär gesperrt", "share": "gesperrt",
    "safe": "{table}: mit einem Solver über die ganze Tabelle angegriffen, {n} geheim zu haltende Zellen gegen alle "
    "und {of} Insider. Nichts ist aufgedeckt.",
    "not safe": "{table}: mit einem Solver über die ganze Tabelle angegriffen, {n} geheim zu haltende Zellen gegen "
    "alle und {of} Insider. Etwas ist aufgedeckt oder unentschieden: siehe unten.",
    "not attacked": "{table}: nicht mit einem Solver angegriffen. Gesperrtes kann sich aus Summen noch errechnen "
    "lassen.",
    "unprotected": "{table}: {n} Zellen ließen sich nicht schützen: {cells}.",
    "published": "Tabelle: {name}",
    "part": "{n} von {of} Zellen, die gröbsten Ebenen; die veröffentlichte Datei enthält alle.",
    "across": "In den Spalten: {name}.",
    "where": "Wo Zellen gesperrt sind", "by": "Gesperrte Zellen nach {name}", "of cells": "Anteil besetzter Zellen",
    "where text": "Anteil der besetzten Zellen, der gesperrt ist: geheim zu haltende Zellen und ihre Partner zusammen.",
    "protection": "Wie geschützt wurde", "what": "was", "rules": "Primärregeln",
    "secret": "Parameter der Regeln und die Spannen, die bleiben müssen, sind geheim und nicht gezeigt.",
    "classification": "{codes} Schlüssel auf {levels} Ebenen unter der Summe",
    "rule given": "vorher gekennzeichnet",
    "rule minimum count": "Mindestfallzahl", "rule p%": "p-Prozent-Regel", "rule (p,q)": "(p,q)-Regel",
    "rule dominance": "{pair}-Dominanzregel", "by holdings": "nach Inhabern",
    "rule small cells": "kleine Fallzahlen", "rule small margin": "kleine Randsummen",
    "rule one category": "alles in einer Kategorie",
    "asked guarantee": "Schutz", "asked knowledge": "ein Angreifer weiß", "asked insiders": "geschützt gegen",
    "asked zeros": "Nullen als Partner", "asked barriers": "Randsummen", "asked effort": "Suche",
    "asked source": "Daten",
    "guarantee audit": "Zellverbünde über die ganze Tabelle, mit einem Solver angegriffen",
    "guarantee complete": "Quader der vollständigen Tabelle", "guarantee subtables": "Quader in Teiltabellen",
    "knowledge positive": "dass kein Wert negativ ist", "knowledge none": "vorher nichts",
    "knowledge relative": "jeden Wert bis auf einen Fehler", "knowledge intervals": "zu jeder Zelle ein Intervall",
    "insiders single": "alle, die in einer Zelle allein sind", "insiders none": "niemanden von innen",
    "insiders largest": "den Größten jeder gesperrten Zelle",
    "zeros marked": "die von den Regeln genannten", "zeros allowed": "erlaubt", "zeros forbidden": "verboten",
    "barriers on": "bleiben sichtbar", "barriers off": "wie alle anderen Zellen",
    "barriers chosen": "je Gliederung gewählt",
    "effort quick": "kurz", "effort default": "üblich", "effort economy": "lang",
    "source microdata": "Einzeldaten", "source cells": "Liste von Zellen", "source table": "Arbeitsdatei",
    "attack": "Angriff auf die fertige Tabelle",
    "attack text": "Jede geheim zu haltende Zelle wurde über die ganze Tabelle angegriffen: von allen, die sie lesen, "
    "und von Insidern, die ihren eigenen Beitrag kennen. Nachgerechnete Zellverbünde entscheiden die meisten Zellen, "
    "lineare Programme den Rest.",
    "audit checked": "geprüfte Zellen", "audit exposed": "aufgedeckt", "audit exactly": "davon genau",
    "audit to insiders only": "davon nur für Insider", "audit undecided": "unentschieden",
    "audit insiders": "angreifende Insider",
    "audit settled without solver": "durch nachgerechnete Verbünde entschieden",
    "audit linear programmes": "lineare Programme",
    "audit lines breaking the rule": "Zeilen, die zusammen die Regel verletzen",
    "audit lines of zeros": "Zeilen aus Nullen",
    "close": "{table}: am knappsten geschützt, die knappste zuerst: {cells}.",
    "exposed cells": "{table}: aufgedeckte Zellen", "cell": "Zelle", "how": "errechenbar", "who": "durch",
    "proof": "folgt aus", "exact": "genau", "near": "zu genau", "everybody": "alle",
    "audit names undecided": "{table}: Der Solver gab auf bei {cells}; sie gelten nicht als sicher.",
    "audit names lines": "{table}: Gesperrte Zellen dieser Zeilen sind zusammen aufgedeckt: {cells}.",
    "care": "Was Vorsicht verdient",
}  # fmt: skip
WORDS: Mapping[str, Mapping[str, str]] = {"en": _EN, "de": _DE}
