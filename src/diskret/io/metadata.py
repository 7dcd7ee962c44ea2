"""What the columns of a tau-ARGUS data file are: where each stands, what it is for, how its codes add up."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from pathlib import Path, PureWindowsPath

from diskret.io.cell_key_tags import Noise
from diskret.io.hrc import read_codelist, read_hrc
from diskret.model.errors import MissingColumn, UnknownCode, UnreadableFile
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.places import no_such_file
from diskret.model.source import Delimited, FixedWidth
from diskret.model.statistical import Statistical

LONGEST = 200
"""Characters of a name that a message shows."""


class Role(StrEnum):
    """What a variable is for; the value is the tag that says so."""

    EXPLANATORY = "RECODEABLE"
    NUMERIC = "NUMERIC"
    WEIGHT = "WEIGHT"
    HOLDING = "HOLDING"
    REQUEST = "REQUEST"
    FREQUENCY = "FREQUENCY"
    MAXSCORE = "MAXSCORE"
    STATUS = "STATUS"
    LOWER_LEVEL = "LOWERPL"
    UPPER_LEVEL = "UPPERPL"
    COST = "COSTVAR"
    SHADOW = "SHADOW"
    RECORD_KEY = "RECORDKEY"


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One column: where it stands, what it is for, and how its codes add up."""

    name: str
    first: int | None = None
    """First character, from 1, in a fixed-width file."""
    width: int | None = None
    missing: tuple[str, ...] = ()
    """Codes that mean "unknown"; they add to the total directly."""
    roles: frozenset[Role] = frozenset()
    decimals: int = 0
    total: str = TOTAL
    codelist: str | None = None
    digits: tuple[int, ...] = ()
    """Digits of each level of a hierarchy that can be read off the codes: 3 1 1."""
    hierarchy: str | None = None
    """File of the hierarchy."""
    lead: str = "."
    """Lead string of that file; a point where the metadata do not say, as in tau-ARGUS."""
    request: tuple[str, ...] = ()
    """Codes of respondents who asked for protection."""
    distance: tuple[int, ...] = ()
    p_tables: Mapping[str, str] = field(default_factory=dict)
    """Of record keys: files of perturbation tables, for ``counts``, ``values`` and ``small_values``."""
    noise: Noise | None = None
    """How values are changed by cell keys, if anything is said about it."""

    @property
    def response(self) -> bool:
        """Whether this is a number to tabulate, and no cost, level or other companion of one."""
        return Role.NUMERIC in self.roles and self.roles <= {Role.NUMERIC, Role.EXPLANATORY}


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """The columns of one data file."""

    variables: tuple[Variable, ...]
    path: Path
    separator: str | None = None
    """None for fixed width."""
    tabular: bool = False
    """Whether the data are a list of cells, not microdata."""
    safe: str = "S"
    unsafe: str = "U"
    protect: str = "P"
    spss: bool = False
    """Whether the data are a file of SPSS, whose columns are known by their names."""
    ignored: tuple[str, ...] = ()
    """Tags that have no effect, such as <TRUNCABLE>: which digits of a code are left out a recoding says."""

    def variable(self, name: str) -> Variable:
        """The variable of a name, upper or lower case."""
        for variable in self.variables:
            if variable.name.lower() == name.lower():
                return variable
        raise MissingColumn.named([name], [v.name for v in self.variables], str(self.path))

    def having(self, role: Role) -> tuple[Variable, ...]:
        """The variables with a role, in file order."""
        return tuple(v for v in self.variables if role in v.roles)

    def file(self, reference: str) -> Path:
        """A file the metadata name, beside them or in a folder below; written on Windows, so case may not fit.

        Metadata are delivered, and must not choose what is read elsewhere. Of a path that leads elsewhere only the name
        of the file counts; a link that leads elsewhere is refused.
        """
        named = PureWindowsPath(reference)
        # a name of nothing but points is that of a folder, and no message lists what lies in it
        is_name = named.name.strip(". ") != ""
        inside = is_name and not named.anchor and ".." not in named.parts and "\0" not in reference
        here = self.path.parent
        candidates = [here.joinpath(*named.parts)] if inside else []
        for candidate in [*candidates, here / named.name] if is_name else []:
            if found := _there(candidate):
                if not Path(os.path.realpath(found)).is_relative_to(os.path.realpath(here)):
                    break
                return found
        else:
            if inside:
                raise no_such_file(here / named.name)
        raise UnreadableFile(
            f"the metadata name the file {reference[:LONGEST]!r}, which does not lie beside them",
            where=str(self.path),
            hint="put the file itself beside the metadata, and name it without folders.",
        )


def _there(candidate: Path) -> Path | None:
    """A file that is there, upper or lower case."""
    if os.path.isfile(candidate):
        return candidate
    beside = candidate.parent
    if os.path.isdir(beside):
        for name in sorted(os.listdir(beside)):
            if name.lower() == candidate.name.lower() and os.path.isfile(beside / name):
                return beside / name
    return None


def source(
    metadata: Metadata, data_path: str | Path, *, decimal: str | None = None, thousands: str | None = None,
    encoding: str | None = None,
) -> FixedWidth | Delimited | Statistical:  # fmt: skip
    """The data file as our readers take it: every variable a column, no header line.

    Numbers of fixed-width files have their decimal point written; ``<DECIMALS>`` does not move it. Of a file of SPSS
    (``<SPSS>``) the columns are known by their names, wherever the metadata put them.

    >>> size = Variable(name="Size", first=9, width=2)
    >>> source(Metadata(variables=(size,), path=Path("firms.rda")), "firms.asc").fields
    {'Size': (9, 2)}
    """
    if metadata.spss:
        return Statistical(path=Path(data_path), encoding=encoding)
    if metadata.separator is not None:
        names = tuple(v.name for v in metadata.variables)
        return Delimited(
            path=Path(data_path), delimiter=metadata.separator, decimal=decimal, thousands=thousands, names=names,
            encoding=encoding,
        )  # fmt: skip
    fields = {v.name: (v.first or 1, v.width or 1) for v in metadata.variables}
    return FixedWidth(path=Path(data_path), fields=fields, decimal=decimal, thousands=thousands, encoding=encoding)


def classification(
    metadata: Metadata, name: str, codes: Iterable[str], *, normalise: bool = False, missing: Iterable[str] = ()
) -> Hierarchy:
    """The hierarchy of a variable, given the codes in its data, with labels from its code list.

    From its ``.hrc`` file, from the digits of the codes, or else flat, in the order of ``codes``. A missing code that
    stands in the data and not in the hierarchy becomes a part of the total, the last; any other such code is refused.
    Codes of ``missing`` become parts whether or not the data have them, as in tau-ARGUS. With ``normalise`` the
    hierarchy is read as it looks.

    >>> nace = Variable(name="Nace", first=1, width=3, missing=("999",), digits=(2, 1))
    >>> firms = Metadata(variables=(nace,), path=Path("firms.rda"))
    >>> classification(firms, "nace", ["101", "102", "110", "999"]).codes
    ('101', '102', '10', '110', '11', '999', 'Total')
    """
    variable = metadata.variable(name)
    labels = read_codelist(metadata.file(variable.codelist)) if variable.codelist else {}
    found, missing = dict.fromkeys(code.strip() for code in codes), list(missing)
    for code in ("", variable.total):
        found.pop(code, None)
    regular = [c for c in found if c not in (*variable.missing, *missing)]
    known = _described(metadata, variable, regular, labels)
    known = known.normalised() if normalise else known
    unknown = [c for c in regular if c not in known]
    if unknown:
        raise UnknownCode.in_column(variable.name, unknown, known.codes)
    further = dict.fromkeys([*missing, *found])
    return with_parts(known, further, labels)


def with_parts(known: Hierarchy, codes: Iterable[str], labels: Mapping[str, str] | None = None) -> Hierarchy:
    """The hierarchy with further parts of its total, behind the others.

    >>> with_parts(Hierarchy.flat(["1", "2"]), ["99", "1"]).codes
    ('1', '2', '99', 'Total')
    """
    codes = [code for code in codes if code not in known]
    if not codes:
        return known
    pairs = [(c, known.codes[p]) for c, p in zip(known.codes, known.parents, strict=True) if p >= 0]
    known.refuse_overlapping("a hierarchy with codes for what is missing")
    return Hierarchy.from_parents(pairs + [(c, known.total) for c in codes], labels=labels or _labels(known))


def _labels(known: Hierarchy) -> dict[str, str]:
    return dict(zip(known.codes, known.labels, strict=True))


def _described(metadata: Metadata, variable: Variable, codes: list[str], labels: dict[str, str]) -> Hierarchy:
    """The hierarchy as the metadata describe it: a file, digits of the codes, or nothing."""
    if variable.hierarchy is not None:
        return read_hrc(metadata.file(variable.hierarchy), variable.lead, variable.total, labels)
    if any(variable.digits):
        lengths = [end for end, n in zip(accumulate(variable.digits), variable.digits, strict=True) if n]
        return Hierarchy.from_prefixes(codes, lengths, total=variable.total, labels=labels)
    return Hierarchy.flat(codes, total=variable.total, labels=labels)
