"""One column: what it is, why, how sure that is, and what else it could be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from diskret.model.periods import Period

Role = Literal["classification", "value", "weight", "count", "status", "holding", "identifier", "other"]

WHY: Mapping[str, tuple[str, str]] = {
    "weight": ("named like a sampling weight", "heißt wie ein Hochrechnungsfaktor"),
    "holding": ("named like what joins records of one owner", "heißt wie das Merkmal, das Einheiten eines Inhabers verbindet"),  # noqa: E501
    "count": ("whole numbers, named like a number of contributors", "ganze Zahlen, heißt wie eine Fallzahl"),
    "frequency": ("whole numbers, named like a number of units", "ganze Zahlen, heißt wie eine Anzahl von Einheiten"),
    "status": ("holds words for the status of cells", "enthält Wörter für den Status von Zellen"),
    "codes": ("{codes} distinct codes in {rows} rows", "{codes} verschiedene Schlüssel in {rows} Zeilen"),
    "padded": ("{codes} numbers of equal length, some with a leading zero", "{codes} gleich lange Zahlen, manche mit führender Null"),  # noqa: E501
    "few": ("only {codes} distinct whole numbers: probably codes", "nur {codes} verschiedene ganze Zahlen: wohl Schlüssel"),  # noqa: E501
    "equal": ("{codes} whole numbers of equal length in {rows} rows: probably codes", "{codes} gleich lange ganze Zahlen in {rows} Zeilen: wohl Schlüssel"),  # noqa: E501
    "named": ("{codes} distinct codes, named like a classification", "{codes} verschiedene Schlüssel, heißt wie eine Gliederung"),  # noqa: E501
    "industry": ("{codes} codes of industries (NACE, WZ)", "{codes} verschiedene Schlüssel von Wirtschaftszweigen (WZ, NACE)"),  # noqa: E501
    "nuts": ("{codes} codes of regions (NUTS)", "{codes} verschiedene Schlüssel von Regionen (NUTS)"),
    "regions": ("{codes} German keys of regions (AGS)", "{codes} verschiedene amtliche Regionalschlüssel (AGS)"),
    "country": ("{codes} codes of countries (ISO 3166)", "{codes} verschiedene Schlüssel von Staaten (ISO 3166)"),
    "postcode": ("{codes} postcodes", "{codes} verschiedene Postleitzahlen"),
    "occupation": ("{codes} codes of occupations (ISCO, KldB)", "{codes} verschiedene Schlüssel von Berufen (KldB, ISCO)"),  # noqa: E501
    "goods": ("{codes} codes of goods (HS, CN)", "{codes} verschiedene Warennummern (HS, KN)"),
    "consumption": ("{codes} codes of purposes (COICOP)", "{codes} verschiedene Schlüssel von Verwendungszwecken (COICOP)"),  # noqa: E501
    "sex": ("codes of sexes", "Schlüssel des Geschlechts"),
    "classes": ("{codes} classes of sizes or ages", "{codes} Größen- oder Altersklassen"),
    "age": ("ages in {codes} years: classes of them make a better table", "Alter in {codes} Jahren: Altersklassen ergeben eine bessere Tabelle"),  # noqa: E501
    "year": ("{codes} years", "{codes} Jahre"),
    "numbers": ("numbers, {codes} distinct", "Zahlen, {codes} verschiedene"),
    "amounts": ("numbers, {codes} distinct, named like a value to add up", "Zahlen, {codes} verschiedene, heißt wie ein Wert zum Summieren"),  # noqa: E501
    "ratio": ("numbers, named like a share or mean: they add up to nothing", "Zahlen, heißt wie ein Anteil oder Mittelwert: ihre Summe sagt nichts"),  # noqa: E501
    "gaps": ("numbers, but {blanks} rows have none: say what becomes of them before adding up", "Zahlen, aber in {blanks} Zeilen fehlt sie: vor dem Summieren klären"),  # noqa: E501
    "signs": ("numbers with other signs beside or among them, {codes} distinct: say what they mean before adding up", "Zahlen mit anderen Zeichen dabei, {codes} verschiedene: vor dem Summieren klären"),  # noqa: E501
    "own": ("almost every row has its own: it names the rows", "fast jede Zeile hat einen eigenen: bezeichnet die Zeilen"),  # noqa: E501
    "counted": ("every row has its own whole number: it numbers the rows", "jede Zeile hat ihre eigene ganze Zahl: nummeriert die Zeilen"),  # noqa: E501
    "running": ("running whole numbers: they name households, firms or rows", "fortlaufende ganze Zahlen: bezeichnen Haushalte, Betriebe oder Zeilen"),  # noqa: E501
    "called": ("named like what names rows, {codes} distinct", "heißt wie eine Kennung, {codes} verschiedene"),
    "many": ("{codes} distinct texts are too many to classify by", "{codes} verschiedene Texte sind zu viele für eine Gliederung"),  # noqa: E501
    "label": ("the {codes} codes of another column in other words", "die {codes} Schlüssel einer anderen Spalte in anderen Worten"),  # noqa: E501
    "same": ("the same in all rows", "in allen Zeilen gleich"),
    "dates": ("dates or times, {codes} distinct: classified by {period}", "Zeitangaben, {codes} verschiedene: gegliedert nach {period}"),  # noqa: E501
    "order": ("dates in which day and month could change places, {codes} distinct: say which comes first", "Zeitangaben, in denen Tag und Monat vertauscht sein könnten, {codes} verschiedene: bitte angeben, was zuerst steht"),  # noqa: E501
    "empty": ("nothing in it", "leer"),
    "told": ("as the metadata say", "wie es die Metadaten sagen"),
}  # fmt: skip

NOTES: Mapping[str, tuple[str, str]] = {
    "zeros": ("leading zeros seem to be lost: 111 may mean 0111", "führende Nullen fehlen wohl: 111 kann 0111 bedeuten"),  # noqa: E501
    "ends": ("zeros at the end seem to be lost: 10.1 may mean 10.10", "Nullen am Ende fehlen wohl: 10.1 kann 10.10 bedeuten"),  # noqa: E501
    "number": ("the codes are stored as numbers: leading zeros, and zeros at the end, may be lost", "die Schlüssel sind als Zahlen gespeichert: führende Nullen und Nullen am Ende können fehlen"),  # noqa: E501
}  # fmt: skip
"""What a person should look at before codes are used."""

_PERIODS = {"year": "Jahr", "quarter": "Quartal", "month": "Monat"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: what it is, and why."""

    name: str
    role: Role
    reason: str
    codes: int
    """Distinct entries, roughly where there are many."""
    blanks: int
    rows: int
    prefixes: tuple[int, ...] = ()
    """Lengths of code prefixes that group the codes: a hierarchy may lie in them."""
    chosen: bool = True
    """Whether a first table should use it; a further classification may make the table too large."""
    sure: bool = True
    """Whether name and entries leave no doubt; otherwise a person should be asked."""
    alternatives: tuple[Role, ...] = ()
    """What else it could be."""
    notes: tuple[str, ...] = ()
    """Keys of what a person should look at."""
    periods: Mapping[Period, int] = field(default_factory=dict)
    """How many codes a column of dates makes by year, quarter and month."""
    period: Period | None = None
    """The one that is proposed."""
    rank: int = 0
    """Among the values: the highest is the one to add up."""

    def why(self, language: str = "en") -> str:
        """The reason in words, with what should be looked at.

        >>> Column(name="sex", role="classification", reason="codes", codes=2, blanks=0, rows=40).why("de")
        '2 verschiedene Schlüssel in 40 Zeilen'
        """
        german = language == "de"
        period = _PERIODS.get(self.period or "", "") if german else self.period
        words = WHY[self.reason][german].format(codes=self.codes, blanks=self.blanks, rows=self.rows, period=period)
        return "; ".join([words, *(NOTES[note][german] for note in self.notes)])

    @property
    def section(self) -> dict[str, object]:
        """What a job says of it as a classification."""
        return ({"period": self.period} if self.period else {}) | (
            {"prefixes": list(self.prefixes)} if self.prefixes else {}
        )
