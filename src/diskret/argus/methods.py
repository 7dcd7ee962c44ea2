"""Methods of protection of a batch as sections of a job, and what their options mean here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from diskret.argus.rules import whole
from diskret.io.arb_commands import SpecifyTable, Suppress

OPTIMAL_MINUTES = 10
"""How long tau-ARGUS looks for an optimum where the batch does not say."""
COSTS = {"-1": "count", "-2": "unity"}
HIDING = ("GH", "MOD", "OPT", "NET")


@dataclass(frozen=True, kw_only=True)
class Protection:
    """The sections that protect, and what is said about them."""

    sections: dict[str, Any]
    words: tuple[str, ...] = ()


def protection(asked: Suppress, *, counts: bool = True) -> Protection:
    """What a method comes to, where rules count contributors or not; costs are added by the table.

    >>> protection(Suppress(line=1, text="", method="OPT", table=1, numbers=(2.0,))).sections["suppression"]
    {'method': 'optimal', 'seconds': 120}
    """
    if asked.method == "MOD":
        return _modular(asked, counts)
    makers = {"GH": _hypercube, "OPT": _optimal, "NET": _network, "RND": _rounding, "CTA": _adjustment}
    return makers[asked.method](asked) if asked.method in makers else Protection(sections={"cell_key": {}})


def _hiding(method: dict[str, Any], words: tuple[str, ...], unions: bool = False) -> Protection:
    promise = {"guard": "single", "unions": unions}
    who = "whoever is alone in a cell is guarded against in any case, as everybody is"
    return Protection(sections={"promise": promise, "suppression": method}, words=(*words, who))


def _hypercube(asked: Suppress) -> Protection:
    words: tuple[str, ...] = (
        "hypercubes become moves over the whole table, which hide less and are attacked afterwards",
    )
    if asked.numbers:
        percent = "the a-priori percentage, the size and the singleton option of hypercubes have no counterpart"
        words += (f"{percent}: nobody is assumed to know more than that no value is negative",)
    return _hiding({"method": "moves", "effort": "fitting"}, words)


def _modular(asked: Suppress, counts: bool) -> Protection:
    unions = counts and asked.number(3) != 0
    words: tuple[str, ...] = ("the modular method becomes moves over the whole table: no subtable is left to itself",)
    if asked.number(0) is not None:
        words += ("minutes per subtable have no counterpart: the table is protected in one go",)
    off = "minfreq is switched off" if counts else "minfreq compares with FREQ, and no rule is one"
    judged = "as hidden cells of a line together are checked (minfreq)" if unions else off
    words += (f"unions = {str(unions).lower()}: {judged}",)
    if asked.number(4) is not None:
        words += ("the largest scaled cost has no counterpart: costs are not scaled",)
    return _hiding({"method": "moves", "effort": "fitting"}, words, unions)


def _optimal(asked: Suppress) -> Protection:
    minutes = asked.number(0)
    minutes = minutes if minutes else OPTIMAL_MINUTES
    words = ("the cheapest pattern, proved if the time allows it; otherwise the best safe one that was found",)
    return _hiding({"method": "optimal", "seconds": whole(60 * minutes)}, words)


def _network(asked: Suppress) -> Protection:
    return _hiding(
        {"method": "moves", "effort": "fitting"},
        ("the network method becomes moves, which are not bound to two classifications",),
    )


def _rounding(asked: Suppress) -> Protection:
    section = {"method": "rounding", "base": whole(asked.number(0) or 0), "rounding": "controlled"}
    words: tuple[str, ...] = ()
    if len(asked.numbers) > 1:
        words = ("steps, time, partitions, stop rule and unit cost of the rounder have no counterpart",)
    return Protection(sections={"perturbation": section}, words=words)


def _adjustment(asked: Suppress) -> Protection:
    return Protection(sections={"adjustment": {}}, words=("the nearest table in which every primary is out of reach",))


# --- costs -----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Price:
    """What a hidden cell costs: a key of [suppression], and perhaps a column of the table."""

    cost: Any = None
    column: str | None = None
    words: list[str] = field(default_factory=list)


def price(asked: SpecifyTable, distances: dict[str, float], *, priced: bool = False) -> Price:
    """The costs of a table; ``distances`` are those its metadata give to classifications.

    With ``priced`` the data have prices, which count only where the table asks for them.

    >>> price(SpecifyTable(line=1, text="", by=("A",), response="X", cost="-2"), {}).cost
    'unity'
    """
    made, power = Price(), {"power": whole(asked.power)} if asked.power not in (None, 1.0) else {}
    if asked.cost == "-3":
        made.cost = {"by": "unity", "distance": distances}
        made.words.append("distances of the metadata are powers here: cells far from a primary cost more")
    elif asked.cost in COSTS:
        made.cost = {"by": COSTS[asked.cost], **power} if power else COSTS[asked.cost]
    else:
        if asked.cost and asked.cost.lower() != (asked.response or "").lower():
            made.column = asked.cost
        own = {"by": "given"} if made.column else {"by": "value", "weighted": False} if priced else {}
        made.cost = {"by": "value", **own, **power} if own or power else None
    return made
