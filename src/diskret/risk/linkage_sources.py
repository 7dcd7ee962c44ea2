"""What an attack by linkage is asked: the files, the columns they have in common, and what the outcome is judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, NothingToLink, listed
from diskret.model.source import Relation
from diskret.risk.classes import Column, keys_given
from diskret.risk.options import LinkageOptions

Names = Sequence[str] | Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A column that both files have, under its name in each."""

    released: str
    external: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
    """The files of an attack, and the columns by which records are linked and told apart."""

    anonymous: object
    external: object
    original: object
    keys: Sequence[Pair]
    values: Sequence[Pair]
    unit: Sequence[str]
    by: Sequence[str] | Mapping[str, Sequence[float] | None]
    """Columns that form combinations, in the file that says what is true."""

    def by_names(self) -> tuple[str, ...]:
        """The columns that form combinations."""
        return tuple(self.by)

    def limits(self) -> dict[str, Sequence[float] | None]:
        """The same with the lower limits of their classes."""
        return dict(self.by) if isinstance(self.by, Mapping) else dict.fromkeys(self.by)

    def check(self, released: Relation, known: Relation, truth: Relation, options: LinkageOptions) -> dict[str, str]:
        """Refuse files without what the attack needs; the values an attacker wants, by their names in both files."""
        pairs = [*self.keys, *self.values]
        released.require([p.released for p in pairs])
        missing = [p.external for p in pairs if p.external not in known.types]
        if len(missing) == len(pairs):
            raise NothingToLink(
                f"the external file has none of the columns {listed(missing)}",
                where=known.where,
                hint=f"it has {listed(known.columns, most=20)}; map names with keys={{'region': 'bundesland'}}.",
            )
        known.require([p.external for p in pairs])
        asked = options.targets
        wanted = [p.released for p in self.values] if asked is None else keys_given(asked, "targets")
        outside = {p.released: p.external for p in self.values}
        true_names = wanted if self.original is not None else [outside.get(name, name) for name in wanted]
        released.require(wanted)
        truth.require([*true_names, *self.limits()])
        for relation in (released, known, *([truth] if self.original is not None else [])):
            relation.require(list(self.unit))
        return dict(zip(wanted, true_names, strict=True))

    def nobody(self, released: str, known: str) -> NothingToLink:
        """Nobody of one file is in the other."""
        return NothingToLink(
            f"no unit of the external file is in the released one by {listed(self.unit)}",
            where=f"{released}, {known}",
            hint="without common units no attack can succeed; is the column coded alike in both?",
        )


def asked_for(
    anonymous: object, external: object, original: object, keys: Names, values: Names, unit: Sequence[str],
    by: Sequence[str] | Mapping[str, Sequence[float] | None] | None,
) -> Asked:  # fmt: skip
    """The same from what a caller gives: one name for both files or two, combinations of the keys if none are named."""
    key_pairs, value_pairs = _pairs(keys), _pairs(values)
    if not key_pairs and not value_pairs:
        raise BadOption("neither keys nor values to link by", hint='give keys=["region"] or values=["turnover"].')
    if by is None:
        by = [p.external if original is None else p.released for p in key_pairs]
    return Asked(
        anonymous=anonymous, external=external, original=original, keys=key_pairs, values=value_pairs, unit=unit, by=by
    )


def _pairs(names: Names) -> list[Pair]:
    if isinstance(names, Mapping):
        return [Pair(released=str(a), external=str(b)) for a, b in names.items()]
    return [Pair(released=n, external=n) for n in (keys_given(names) if len(names) else [])]


def size_classes(values: Floats, edges: list[float], name: str) -> Column:
    """Numbers in classes with these lower limits.

    >>> size_classes(np.array([5.0, 20, np.nan]), [20], "staff").codes.tolist()
    [0, 1, -1]
    """
    if not edges or any(b <= a for a, b in pairwise(edges)):
        raise BadOption(f"the class limits of {name!r} do not ascend", hint="give lower limits such as [20, 50, 250].")
    codes = np.searchsorted(np.array(edges, dtype=np.float64), values, side="right").astype(np.int32)
    codes[np.isnan(values)] = -1
    names = [f"under {edges[0]:g}", *(f"{a:g} to under {b:g}" for a, b in pairwise(edges)), f"{edges[-1]:g} and more"]
    return Column(codes=codes, labels=np.array(names, dtype=object))
