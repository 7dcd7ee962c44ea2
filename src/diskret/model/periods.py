"""Dates as codes of years, quarters or months, in SQL that DuckDB and Spark both understand.

A column of dates, or of texts and numbers that mean dates, becomes codes such as 2025, 2025-Q1 and 2025-03: the first
four characters are the year, so that prefixes put years above. An entry is read in one way only; where day and month
could change places, nobody guesses.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from diskret.model.cures import Cure, key_of
from diskret.model.errors import BadOption, ProtectionWarning, listed

if TYPE_CHECKING:
    from diskret.model.source import Relation

Period = Literal["year", "quarter", "month"]
Order = Literal["day first", "month first"]
PERIODS: tuple[Period, ...] = ("year", "quarter", "month")
GRAINS = (*PERIODS, "day")
DATES = ("DATE", "TIMESTAMP")
"""How the types of dates begin."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One way to write dates: a pattern, and which group of it is what."""

    pattern: str
    year: int
    quarter: int = 0
    month: int = 0
    day: int = 0

    @property
    def grain(self) -> str:
        """The finest that is written."""
        return "day" if self.day else "month" if self.month else "quarter" if self.quarter else "year"

    def fits(self, text: str) -> bool:
        """Whether a text is written so.

        >>> [form.fits("31.12.2024") for form in FORMS].index(True), SLASHED.fits("3/4/2025")
        (2, True)
        """
        return re.search(self.pattern, text) is not None

    def read(self, text: str) -> dict[Period, str] | None:
        """The codes of the periods of a date, as far as they are written; None for what is no date of this form.

        >>> FORMS[2].read("31.12.2024"), FORMS[2].read("30.02.2024"), FORMS[5].read("2025Q1")
        ({'year': '2024', 'quarter': '2024-Q4', 'month': '2024-12'}, None, {'year': '2025', 'quarter': '2025-Q1'})
        """
        found = re.search(self.pattern, text)
        if found is None:
            return None
        year, month, day = found[self.year], int(found[self.month] if self.month else 1), found[self.day or 0]
        try:
            date(int(year), month, int(day) if self.day else 1)
        except ValueError:
            return None
        codes: dict[Period, str] = {"year": year}
        if self.quarter or self.month:
            codes["quarter"] = f"{year}-Q{found[self.quarter] if self.quarter else (month + 2) // 3}"
        return codes | ({"month": f"{year}-{month:02d}"} if self.month else {})

    def part(self, text: str, group: int) -> str:
        """One group as SQL, NULL where the text is written in another way."""
        return f"nullif(regexp_extract({text}, '{self.pattern}', {group}), '')"


# No backslashes: Spark takes them for escapes.
_YEAR, _MONTH = "((?:1[6-9]|2[01])[0-9]{2})", "(0[1-9]|1[0-2])"
_TIME = "(?:[ T][0-9].*)?$"
FORMS = (
    Form(pattern=f"^([0-9]{{4}})[-/.]([0-9]{{1,2}})[-/.]([0-9]{{1,2}}){_TIME}", year=1, month=2, day=3),
    Form(pattern=f"^{_YEAR}{_MONTH}(0[1-9]|[12][0-9]|3[01])$", year=1, month=2, day=3),
    Form(pattern=f"^([0-9]{{1,2}})[.] ?([0-9]{{1,2}})[.] ?([0-9]{{4}}){_TIME}", year=3, month=2, day=1),
    Form(pattern=f"^{_YEAR}[-/ ]?[Mm]?{_MONTH}$", year=1, month=2),
    Form(pattern=f"^(0?[1-9]|1[0-2])[./-]{_YEAR}$", year=2, month=1),
    Form(pattern=f"^{_YEAR}[-/ ]?[QqKk]([1-4])$", year=1, quarter=2),
    Form(pattern=f"^[Qq]([1-4])[-/ ]?{_YEAR}$", year=2, quarter=1),
    Form(pattern=f"^([1-4])[.]? ?(?:Quartal|Quarter|Vj[.]?|Q) ?{_YEAR}$", year=2, quarter=1),
    Form(pattern=f"^{_YEAR}$", year=1),
)
"""Ways that can be read in one way only."""
SLASHED = Form(pattern=f"^([0-9]{{1,2}})[/-]([0-9]{{1,2}})[/-]([0-9]{{4}}){_TIME}", year=3)
"""Day and month, or month and day: the entries must tell, or the user."""
DAY_FIRST = Form(pattern=SLASHED.pattern, year=3, month=2, day=1)
MONTH_FIRST = Form(pattern=SLASHED.pattern, year=3, month=1, day=2)


ORDERS: Mapping[str, Form] = {"day first": DAY_FIRST, "month first": MONTH_FIRST}


def period_code(text: str, period: Period, forms: Sequence[Form]) -> str:
    """The code of the period of a date as SQL; NULL for what is no date of these forms, or too coarse."""
    codes = [_code(text, period, form) for form in forms if GRAINS.index(form.grain) >= GRAINS.index(period)]
    return f"coalesce({', '.join([*codes, 'NULL'])})"


def _code(text: str, period: Period, form: Form) -> str:
    year = form.part(text, form.year)
    if form.quarter:
        return year if period == "year" else f"{year} || '-Q' || {form.part(text, form.quarter)}"
    if not form.month:
        return year
    month = f"lpad({form.part(text, form.month)}, 2, '0')"
    day = f"lpad({form.part(text, form.day)}, 2, '0')" if form.day else "'01'"
    quarter = f"CAST(floor((CAST({month} AS INT) + 2) / 3) AS INT)"
    code = {
        "year": year,
        "quarter": f"{year} || '-Q' || CAST({quarter} AS STRING)",
        "month": f"{year} || '-' || {month}",
    }
    # a day that the calendar does not have is no date
    return f"CASE WHEN TRY_CAST({year} || '-' || {month} || '-' || {day} AS DATE) IS NOT NULL THEN {code[period]} END"


def slashed_sql(text: str) -> list[str]:
    """How many entries leave day and month to the reader, and the largest first and second number of them."""
    parts = [f"max(CAST({SLASHED.part(text, group)} AS INT))" for group in (1, 2)]
    return [f"count({SLASHED.part(text, 1)})", *parts]


def order_told(slashed: int, first: int | None, second: int | None) -> Form | None:
    """How entries with slashes are read, if they tell: a number above 12 is a day.

    >>> order_told(3, 31, 12) == DAY_FIRST, order_told(3, 12, 31) == MONTH_FIRST, order_told(3, 12, 12)
    (True, True, None)
    """
    if not slashed or (first or 0) <= 12 >= (second or 0):
        return None
    return DAY_FIRST if (first or 0) > 12 else MONTH_FIRST


@dataclass(frozen=True, kw_only=True)
class InPeriods:
    """Any source with columns of dates as codes of periods."""

    source: object
    periods: Mapping[str, Period]
    orders: Mapping[str, Order] = field(default_factory=dict)

    def columns(self, data: Relation) -> dict[str, str]:
        """The columns of the view as SQL, once every entry of the dates is one."""
        data.require(list(self.periods))
        codes = {name: self._read(data, name, period) for name, period in self.periods.items()}
        return {name: codes.get(name, data.column(name)) for name in data.columns}

    def _read(self, data: Relation, name: str, period: Period) -> str:
        if "TIME ZONE" in data.types[name].upper():
            warnings.warn(
                f"column {name!r} holds moments with a time zone: they are counted on the days they have in UTC, where "
                "midnight in Berlin is still the day before; give dates without a zone to count local days",
                ProtectionWarning,
                stacklevel=2,
            )
        text = data.code(name)
        forms = self._forms(data, name, period)
        code = period_code(text, period, forms)
        wrong = f"{text} IS NOT NULL AND {code} IS NULL"
        bad = data.query(f"SELECT count(*) FROM {data.view} WHERE {wrong}")[0][0]
        if not bad:
            return code
        rows = data.rows_where(lambda _: wrong)
        where = f"{data.where}, rows {listed(rows[:10])}"
        finest = max((GRAINS.index(form.grain) for form in forms), default=len(GRAINS))
        if finest < GRAINS.index(period):
            grain = GRAINS[finest]
            key = key_of("classifications", name, "period")
            raise BadOption(
                f"column {name!r} holds {grain}s, no {period}s", where=where, hint=f'say period = "{grain}".',
                cures=[Cure(key=key, value=grain, label=f"classify by {grain}")], rows=rows,
            )  # fmt: skip
        raise BadOption(
            f"column {name!r} has {bad} {'entry that is not a date' if bad == 1 else 'entries that are not dates'}",
            where=where,
            hint="dates such as 2025-03-31, 31.03.2025, 2025-03 or 2025-Q1 are read; leave period out to take the "
            "entries as codes.",
            rows=rows,
        )

    def _forms(self, data: Relation, name: str, period: Period) -> list[Form]:
        """The ways in which dates of a column are written."""
        text = data.code(name)
        counts = [f"count({form.part(text, form.year)})" for form in FORMS]
        row: Sequence[Any] = data.query(f"SELECT {', '.join([*counts, *slashed_sql(text)])} FROM {data.view}")[0]
        found = [form for form, n in zip(FORMS, row, strict=False) if n]
        slashed, first, second = row[len(FORMS) :]
        if not slashed:
            return found
        told = ORDERS.get(self.orders.get(name, "")) or order_told(slashed, first, second)
        if told is None and period != "year":
            raise BadOption(
                f"column {name!r}: is the day or the month written first? Every date can be read both ways",
                where=data.where,
                hint=f'say dates = "day first" or "month first" for {name!r}; years need no answer.',
                cures=[
                    Cure(key=key_of("classifications", name, "dates"), value=order, label=f"read the {order}")
                    for order in ("day first", "month first")
                ],
            )
        return [*found, told or SLASHED]


def in_periods(source: object, periods: Mapping[str, Period], orders: Mapping[str, Order] | None = None) -> object:
    """A source whose dates are years, quarters or months; whatever reads a source reads it.

    ``orders`` says whether "day first" or "month first" is meant in dates such as 3/4/2025 that do not tell.

    >>> from diskret import Hierarchy, tabulate
    >>> sales = in_periods({"day": ["2024-12-31", "2025-01-01", "2025-02-28"], "x": [1, 2, 4]}, {"day": "month"})
    >>> months = tabulate(sales, by={"day": None}, value="x")
    >>> months.by["day"].codes, months.value.tolist()
    (('2024-12', '2025-01', '2025-02', 'Total'), [1.0, 2.0, 4.0, 7.0])
    >>> years = Hierarchy.from_prefixes(["2024-12", "2025-01", "2025-02"], [4])
    >>> tabulate(sales, by={"day": years}, value="x").value.tolist()
    [1.0, 1.0, 2.0, 4.0, 6.0, 7.0]
    """
    for name, period in periods.items():
        if period not in PERIODS:
            raise BadOption(f"period {period!r} of column {name!r}", hint=f"one of {listed(PERIODS)}.")
    return InPeriods(source=source, periods=dict(periods), orders=dict(orders or {})) if periods else source
