"""A promise in one paragraph, English and German."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

WIDTH = 116


def promise_in_words(promise: Mapping[str, Any], language: str, *, internal: bool) -> str:
    """What the fields of a promise say, as one paragraph."""
    say = _DE if language == "de" else _EN
    known = promise["knowledge"]
    ranges = [say[key].format(n=f"{promise[key]:g}" if internal else say["secret"]) for key in _ranges(promise)]
    demand = "sliding" if promise["levels"] and promise["sliding"] else "levels" if promise["levels"] else "exact"
    sentences = [
        say["nobody"].format(
            who=say[promise["guard"]],
            others=say["coalitions"].format(n=len(promise["coalitions"])) if promise["coalitions"] else "",
            demand=say[demand],
            ranges="".join(ranges),
        ),
        say[known["kind"]].format(
            error=f"{100 * known['error']:g} %" if internal else say["secret"],
            absolute=f"{known['absolute']:g}" if internal else say["secret"],
        ),
        say["unions"] if promise["unions"] else say["no unions"],
    ]
    return fill(" ".join(sentences), WIDTH)


def _ranges(promise: Mapping[str, Any]) -> list[str]:
    return [key for key in ("min_relative_range", "min_range") if promise[key]]


_EN = {
    "nobody": "Nobody who reads the published table{who}{others} can narrow a primary cell down further than "
    "{demand}{ranges}.",
    "public": "",
    "single": ", and nobody who is alone in one of its cells,",
    "largest": ", nobody who is alone in one of its cells, and no largest contributor of a hidden cell",
    "coalitions": ", nor any of {n} named coalitions",
    "levels": "the primary rules allow: its interval reaches as far above and below the value as they demand, and it "
    "is never a single number",
    "sliding": "the primary rules allow: its interval is as long as both of their levels together, and it is never a "
    "single number",
    "exact": "to an interval: it is never a single number",
    "min_relative_range": "; the interval over the value is greater than {n}",
    "min_range": "; the interval is at least {n} long",
    "secret": "a secret number",
    "usual": "Everybody is taken to know that no value is negative, if none is.",
    "none": "Nobody is taken to know anything beforehand, not even signs.",
    "positive": "Everybody is taken to know that no value is negative.",
    "relative": "Everybody is taken to know every value to within {error}, small ones to within {absolute}.",
    "intervals": "Everybody is taken to know an interval for every cell beforehand.",
    "unions": "The hidden cells of a line taken together do not break the primary rules either.",
    "no unions": "Nothing is promised about the hidden cells of a line taken together.",
}
_DE = {
    "nobody": "Niemand, der die veröffentlichte Tabelle liest{who}{others}, kann eine primär gesperrte Zelle enger "
    "eingrenzen als {demand}{ranges}.",
    "public": "",
    "single": ", auch niemand, der allein hinter einer Zelle steht",
    "largest": ", auch niemand, der allein hinter einer Zelle steht, und kein größter Beitragender einer gesperrten "
    "Zelle",
    "coalitions": ", auch keine der {n} genannten Koalitionen",
    "levels": "die Primärregeln erlauben: Ihr Intervall reicht so weit über und unter den Wert, wie sie verlangen, und "
    "ist nie eine einzelne Zahl",
    "sliding": "die Primärregeln erlauben: Ihr Intervall ist so lang wie ihre beiden Abstände zusammen und nie eine "
    "einzelne Zahl",
    "exact": "auf ein Intervall: Es ist nie eine einzelne Zahl",
    "min_relative_range": "; das Intervall ist im Verhältnis zum Wert länger als {n}",
    "min_range": "; das Intervall ist mindestens {n} lang",
    "secret": "eine geheime Zahl",
    "usual": "Es wird angenommen, dass jeder weiß, dass kein Wert negativ ist, falls keiner es ist.",
    "none": "Es wird angenommen, dass niemand vorher etwas weiß, auch keine Vorzeichen.",
    "positive": "Es wird angenommen, dass jeder weiß, dass kein Wert negativ ist.",
    "relative": "Es wird angenommen, dass jeder jeden Wert auf {error} genau kennt, kleine auf {absolute}.",
    "intervals": "Es wird angenommen, dass jeder für jede Zelle vorher ein Intervall kennt.",
    "unions": "Auch zusammengenommen verletzen die gesperrten Zellen einer Zeile die Primärregeln nicht.",
    "no unions": "Über die gesperrten Zellen einer Zeile zusammengenommen wird nichts versprochen.",
}
