"""What the name of a column means, in German and English: the last word that means something decides.

Both languages put the head last: an *Umsatzgrößenklasse* is a class, an *employee_id* names employees. Words that say
little (code, number, class) leave it to the word before them: a *Kreisnummer* is a region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

Meaning = Literal[
    "industry", "region", "country", "postcode", "occupation", "goods", "consumption", "age", "sex", "size", "time",
    "trait", "class", "value", "ratio", "count", "weight", "identifier", "number", "holding", "status",
]  # fmt: skip

CLASSIFYING = frozenset(
    ("industry", "region", "country", "postcode", "occupation", "goods", "consumption", "age", "sex", "size", "time",
     "trait", "class")
)  # fmt: skip
"""Meanings of columns to classify by."""
VAGUE = frozenset(("class", "identifier", "number", "status"))
"""Meanings that leave it to the word before, if that classifies."""

WORDS: Mapping[Meaning, str] = {
    "industry": "wz nace isic naics sic industry industries branche branchen sector sektor wirtschaftszweig "
    "wirtschaftszweige wirtschaftsbereich wirtschaftsabschnitt gewerbezweig zweig abteilung",
    "region": "region regions ags ars nuts kreis kreise landkreis gemeinde bundesland land laender regierungsbezirk "
    "bezirk bezirke kommune stadtteil stadt ort county district municipality mun province provinz state city town "
    "urbrur geo fylke kommunenr gebiet raum location place",
    "country": "country countries nation staat staaten herkunftsland zielland bestimmungsland ursprungsland "
    "geburtsland partnerland iso2 iso3 continent",
    "postcode": "plz postleitzahl postcode zip zipcode",
    "occupation": "isco kldb beruf berufe berufsgruppe occupation occupations taetigkeit",
    "goods": "hs cn kn prodcom gp cpa sitc taric warennummer ware warenverzeichnis commodity commodities product "
    "produkt gueterverzeichnis gut gueter",
    "consumption": "coicop verwendungszweck",
    "age": "age ages alter altersjahr altersjahre lebensalter",
    "sex": "sex gender geschlecht",
    "size": "groessenklasse groessenklassen sizeclass beschaeftigtengroesse betriebsgroesse groesse size hsize",
    "time": "year years jahr jahre berichtsjahr erhebungsjahr geburtsjahr monat month berichtsmonat quartal quarter "
    "date datum tag day zeit time periode period zeitraum berichtszeitraum stichtag",
    "trait": "rechtsform familienstand marstat civil bildung education schulabschluss abschluss religion nationality "
    "nationalitaet staatsangehoerigkeit citizenship race ethnicity employed employment erwerbsstatus workclass "
    "contract vertrag roof walls water relat relationship haushaltstyp wohnform",
    "class": "class classes klasse klassen group groups gruppe gruppen kategorie category cat art typ type kind code "
    "codes schluessel kennzeichen level stufe form label bezeichnung flag",
    "value": "umsatz umsaetze turnover revenue revenues sales erloes erloese ertrag ertraege lohn loehne gehalt "
    "gehaelter wage wages salary salaries earnings verdienst einkommen income incomes inc betrag betraege amount "
    "amounts wert werte value values val menge mengen quantity quantities kosten cost costs expense expenses expend "
    "expenditure ausgaben ausgabe aufwand savings steuer steuern tax taxes investition investitionen investments "
    "assets capital kapital vermoegen profit gewinn verlust loss umsatzerloese wertschoepfung gva gdp bip price "
    "preis preise beschaeftigte beschaeftigten employees employee einwohner population bevoelkerung "
    "flaeche area hektar hours stunden export exporte exports import importe imports einfuhr ausfuhr produktion "
    "production output debt schulden payment payments zahlung zahlungen gewicht_kg kg tonnen tons liter eur euro teur "
    "meur usd mio mrd tsd fees gebuehren subventionen subsidies depreciation funds treasury",
    "ratio": "share shares rate rates ratio quote quoten anteil anteile prozent percent pct index indices mean average "
    "durchschnitt durchschnittlich mittelwert median standardabweichung",
    "count": "count counts n anzahl zahl freq freqs frequency frequenz haeufigkeit faelle fallzahl cases persons "
    "personen firms firmen betriebe units einheiten melder contributors respondents ant num_obs nobs",
    "weight": "weight weights wgt gewicht gewichte gewichtung hochrechnungsfaktor hochrechnung hrf afnlwgt "
    "gewichtungsfaktor",
    "identifier": "id ids identifier kennung kennziffer uuid lfdnr laufnummer record recno hid pid uid cid rowid "
    "identifikator ordnungsnummer betriebsnummer firm person unit key hhnum name names",
    "number": "nr no number nummer",
    "holding": "holding owner enterprise unternehmen konzern",
    "status": "status geheim",
}  # fmt: skip
MEANING: Mapping[str, Meaning] = {word: meaning for meaning, words in WORDS.items() for word in words.split()}
NO_HEADS = (
    "time",
    "date",
    "form",
    "kind",
    "rate",
    "state",
    "place",
    "area",
    "type",
    "cost",
    "loss",
    "unit",
    "firm",
    "code",
)
HEADS = tuple(sorted((word for word in MEANING if len(word) >= 4 and word not in NO_HEADS), key=len, reverse=True))
"""Words that German puts at the end of a longer one; English words end in some others by chance."""
EACH = ("je", "pro", "per")
TALLIES = ("anzahl", "zahl", "number", "count", "num")
_FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def words_of(name: str) -> list[str]:
    """The words of a name in small letters, without figures and umlauts.

    >>> words_of("WZ2008_Code"), words_of("IDunit"), words_of("Beschäftigte (insg.)"), words_of("eqIncome")
    (['wz', 'code'], ['id', 'unit'], ['beschaeftigte', 'insg'], ['eq', 'income'])
    """
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|^ID(?=[a-z])|(?<=[A-Z]{4})(?=ID$)", lambda m: f"{m[0]} ", name)
    return re.findall("[a-z]+", apart.lower().translate(_FOLDED))


def meaning_of(name: str) -> Meaning | None:
    """What a column of this name holds, if its words tell.

    >>> [meaning_of(n) for n in ("Umsatzgrößenklasse", "Kreis-Nr.", "employee_id", "turnover_2024", "V1")]
    ['size', 'region', 'identifier', 'value', None]
    >>> [meaning_of(n) for n in ("Anzahl Unternehmen", "Anzahl Beschäftigte", "income_class", "UTILITYID", "age group")]
    ['count', 'value', 'class', 'identifier', 'age']
    """
    words = words_of(name)
    found = [meaning for word in reversed(words) for meaning in _meanings(word)]
    if not found:
        return None
    if any(word in EACH for word in words[1:-1]) or (found[0] == "value" and "ratio" in found):
        return "ratio"
    if found[0] == "time" and "value" in found:  # the turnover of a year
        return "value"
    first = next((m for m in found if m in CLASSIFYING and m != "class"), None)
    if found[0] in VAGUE and first is not None and not (found[0] == "identifier" and found[-1] != first):
        return first
    if found[0] in ("holding", "identifier", "number") and any(word in TALLIES for word in words[:-1]):
        return "count"
    if "weight" in found and found[0] not in CLASSIFYING and found[-1] == "weight":
        return "weight"
    return found[0]


def _meanings(word: str) -> Iterator[Meaning]:
    """The meanings of a word, the head of a long one first."""
    for form in (word, word.removesuffix("s"), word.removesuffix("n"), word.removesuffix("en")):
        if form in MEANING:
            yield MEANING[form]
            return
    head = next((each for each in HEADS if word.endswith(each)), None)
    if head is not None:
        yield MEANING[head]
        yield from _meanings(word.removesuffix(head))
