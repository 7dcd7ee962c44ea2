"""The sections of a job about primary rules. Their parameters are secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from diskret.job.form import Problem, Section

AtLeastOne = Annotated[int, Field(ge=1)]
CountedBy = Literal["respondent", "holding"]
MOST_LARGEST = 100


class MinCountRule(Section):
    """Minimum count."""

    n: int = Field(3, ge=1, description="fewest contributors of an open cell")
    zeros: bool = Field(False, description="whether cells with value zero count too")
    margin: float | None = Field(
        None, ge=0, description="how far intervals reach below and above the value, in percent of it; secret"
    )
    weighted: bool = Field(False, description="whether a respondent counts as often as its weight says (microdata)")


Percent = Annotated[float, Field(gt=0)]


class PPercentRule(Section):
    """p% with several contributors who work together."""

    p: Percent = Field(description="p of the p% rule, such as 10")
    n: int = Field(1, ge=1, description="contributors who work together to estimate another one")


class PQRule(Section):
    """(p,q) with several contributors who work together."""

    p: Percent = Field(description="p of the (p,q) rule, such as 5")
    q: Percent = Field(description="q of the (p,q) rule, such as 50")
    n: int = Field(1, ge=1, description="contributors who work together to estimate another one")


class RequestRule(Section):
    """Protection on request."""

    percent: float | tuple[float, float] = Field(
        description="share of the cell, in percent, above which a contributor who asked is protected; two numbers for "
        "two kinds of requests"
    )
    n: int = Field(0, ge=0, description="fewest contributors of an open cell in which somebody asked; 0 for any number")
    margin: float = Field(
        0.0, ge=0, description="how far intervals reach below and above the value, in percent of it; secret"
    )


class LineRule(Section):
    """A rule over lines of a frequency table."""

    sensitive: list[str] | None = Field(None, description="classifications to look along; all if left out")


class MarginRule(LineRule):
    """A rule over lines with a small margin."""

    most: int = Field(2, ge=1, description="largest margin that is sensitive")


class ContributionRules(Section):
    """Rules that count or compare contributors."""

    min_count: AtLeastOne | MinCountRule | None = Field(
        None, description="fewest contributors of an open cell, such as 3"
    )
    dominance: list[tuple[int, Percent]] = Field(default_factory=list, description="pairs [n, k], such as [[1, 85]]")
    p_percent: Percent | PPercentRule | list[Percent | PPercentRule] | None = Field(
        None, description="p of the p% rule, such as 10; { p = 10, n = 2 } against two contributors who work together"
    )
    pq: tuple[Percent, Percent] | PQRule | list[PQRule] | None = Field(
        None, description="p and q of the (p,q) rule, such as [5, 50]; or { p = 5, q = 50, n = 2 }"
    )
    request: RequestRule | None = Field(None, description="protection on request, for those that table.request names")

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        for n, k in self.dominance:
            if not 1 <= n <= MOST_LARGEST or k >= 100:
                hint = f"n is 1 to {MOST_LARGEST}, k under 100 percent"
                yield Problem("dominance", f"[{n}, ...] is not a dominance rule", hint)
        for key in ("p_percent", "pq"):
            if any(each.n >= MOST_LARGEST for each in self.several(key) if isinstance(each, PPercentRule | PQRule)):
                yield Problem(key, "too many contributors who work together", f"n is under {MOST_LARGEST}")

    @property
    def weighs(self) -> bool:
        """Whether the weights of respondents are to be added up."""
        return isinstance(self.min_count, MinCountRule) and self.min_count.weighted

    def several(self, key: str) -> list[Any]:
        """What a key says of one rule, or of several."""
        said = getattr(self, key)
        return said if isinstance(said, list) else [] if said is None else [said]


class Rules(ContributionRules):
    """Primary rules; a cell is primary if any of them catches it."""

    zeros: float | None = Field(
        None,
        ge=0,
        description="zeros with contributors are primary; the number says how far above zero intervals must reach; "
        "secret",
    )
    given: float | None = Field(
        None,
        ge=0,
        description="margin of cells that are primary by hand or by file and have no levels, in percent; secret",
    )
    min_level: float = Field(
        0.0, ge=0, description="smallest level of a primary cell that is not zero, in units of the value; secret"
    )
    signed: bool = Field(
        False,
        description="where contributions are negative: whether the largest, by size, are compared with the value "
        "itself, as in tau-ARGUS, instead of the sum of all sizes",
    )
    first_level: bool = Field(
        False,
        description="whether a cell that several rules catch has the level of the first, as in tau-ARGUS (dominance "
        "and p%, requests, counts, zeros), instead of the largest",
    )
    missing: Literal["judged", "safe"] = Field(
        "judged", description="cells with a missing code: 'judged' like all others, or 'safe' whatever they hold"
    )
    holding: ContributionRules | None = Field(
        None, description="rules with parameters of their own for holdings, beside those for respondents"
    )
    small_cells: int | None = Field(None, ge=1, description="smallest count that may be shown, such as 3")
    small_margin: bool | MarginRule = Field(False, description="lines with a margin of 1 or 2")
    one_category: bool | LineRule = Field(False, description="lines with all units in one category")
    counted_by: list[CountedBy] | CountedBy = Field("respondent", description="'respondent', 'holding', or both")

    @property
    def asked(self) -> list[str]:
        """The keys of the rules that are asked for."""
        quiet = ("counted_by", "missing", "given", "min_level", "signed", "first_level")
        said = {key: getattr(self, key) for key in type(self).model_fields if key not in quiet}
        return [key for key, rule in said.items() if rule is not None and rule is not False and rule != []]

    @property
    def levels(self) -> list[CountedBy]:
        """Whose contributions are counted, each once."""
        return list(dict.fromkeys(self.counted_by if isinstance(self.counted_by, list) else [self.counted_by]))

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        yield from super().problems()
        if self.holding is not None and "holding" in self.levels:
            hint = "counted_by = 'holding' is for the same parameters"
            yield Problem("holding", "cannot be combined with counted_by = 'holding'", hint)
