"""Which columns of the records play which part, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskret.model.gaps import Gaps, Without, WithoutValue
from diskret.tabulation.plan import RecordKey

FlagColumn = str | tuple[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The parts that columns play in `tabulate`, besides classifications and values.

    ``weight`` grosses a sample up; contributors are counted unweighted all the same. ``holding`` joins records of one
    owner into one contributor wherever they meet. ``waiver`` and ``request`` say whose contributions need no
    protection, or alone need it; ``public`` whose values are known anyway: each a column, or a column with the codes
    that mean yes. ``asked`` names who asked for protection for `rules.Request` alone: a column, or a column with a
    code for each kind of request. ``shadow`` is a column whose contributions the rules judge instead of those to the
    value. ``key`` is the column of record keys, whose sums modulo one become the cell keys of `perturb_by_key`.
    ``cost`` is a column that is added up to the prices of the cells, for ``Cost(by="given")``.
    """

    weight: str | None = None
    holding: str | None = None
    waiver: FlagColumn | None = None
    request: FlagColumn | None = None
    public: FlagColumn | None = None
    asked: FlagColumn | None = None
    shadow: str | None = None
    key: str | RecordKey | None = None
    cost: str | None = None


@dataclass(frozen=True, kw_only=True)
class TabulationOptions:
    """How `tabulate` reads records.

    ``missing`` names the code that records without one are counted under, per classification. Records without a
    number are refused, unless ``without_value`` is "zero" or "leave out"; records without a code, or with one that the
    hierarchy lacks, unless ``without_code`` or ``unknown`` says "leave out" for the classification. A warning counts
    them. ``totals`` names codes of which the data hold totals (with a hierarchy also of its sums): their rows are no
    records and must equal the sums of the records up to ``tolerance``; ``categories`` names codes that look like totals
    and are none. A table declared ``positive`` refuses negative values. With ``weighted_counts`` the weights themselves
    are added up too, for a minimum count of weights. With ``normalise`` codes that differ only in what cannot be seen
    are one: letters are composed, invisible characters go, blanks that do not break and runs of blanks become one
    blank, in the data, in hierarchies and in the names of columns. ``engine`` is "duckdb", "spark", a Spark session, or
    the URL of a Spark master; ``threads`` and ``memory_limit`` are for DuckDB. ``sparse`` is whether only occupied
    cells are held; None: where there are millions of possible cells and few records, or where not all fit the memory.
    """

    missing: Mapping[str, str] | None = None
    totals: Mapping[str, str | Sequence[str]] | None = None
    categories: Mapping[str, Sequence[str]] | None = None
    tolerance: float = 0.0
    without_value: WithoutValue = "refuse"
    without_code: Mapping[str, Without] | None = None
    unknown: Mapping[str, Without] | None = None
    positive: bool = False
    weighted_counts: bool = False
    normalise: bool = False
    engine: object = "duckdb"
    threads: int | None = None
    memory_limit: str = "2GB"
    sparse: bool | None = None

    @property
    def gaps(self) -> Gaps:
        """What becomes of records without a number or a code."""
        return Gaps(without_value=self.without_value, without_code=self.without_code or {}, unknown=self.unknown or {})
