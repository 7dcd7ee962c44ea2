"""Back to identifiers and quantities: every anonymous object gets one original record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, listed
from diskret.model.notebook import Told
from diskret.model.source import open_source
from diskret.safe import _rematch_kernels
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.control import KeyLevel, key_levels, parsed_level
from diskret.tabulation.combinations import record_codes


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Rematch(Told):
    """For every original record, in its order, the anonymous codes it now carries.

    ``level`` is how many columns of the priority order both agreed in when they met, ``equal`` in how many of them they
    agree at all.
    """

    codes: npt.NDArray[np.int32]
    level: Ints
    equal: Ints
    anonymous: Anonymisation = field(repr=False)
    source: object = field(repr=False)

    def join(self, columns: Sequence[str] | None = None) -> dict[str, npt.NDArray[Any]]:
        """The anonymous attributes beside other columns of the original records; all of them if none are named."""
        data = open_source(self.source)
        attributes = self.anonymous.attributes
        wanted = [c for c in data.columns if c not in attributes] if columns is None else list(columns)
        data.require(wanted)
        both = [c for c in wanted if c in attributes]
        if both:
            raise BadOption(f"{listed(both)} is anonymised", hint="the original codes must not stand beside it.")
        frame = self.anonymous.decoded(self.codes)
        if wanted:
            listing = ", ".join(data.column(c) for c in wanted)
            frame |= data.arrays(f"SELECT {listing} FROM {data.view}")
        data.connection.close()
        return frame

    def __str__(self) -> str:
        return f"{self.equal.size} records with the codes of anonymous objects, confidential"

    def summary(self) -> dict[str, Any]:
        """Records by the number of columns they keep: how well links survive."""
        columns = len(self.anonymous.attributes)
        kept = np.bincount(self.equal, minlength=1)
        return {"records": int(self.equal.size), "attributes": columns, "records by equal columns": kept.tolist()}


def rematch(original: object, anonymous: Anonymisation, priority: Sequence[str] | None = None) -> Rematch:
    """Assign the objects of an anonymous file to the original records, as alike as possible.

    ``priority`` orders attributes or key levels: what stands last is given up first. Attributes that are not named
    follow at the end. The result is confidential: it says what each record was turned into.

    >>> from diskret.safe.anonymise import anonymise
    >>> persons = {"sex": ["m", "w"] * 10, "age": ["old"] * 11 + ["young"] * 9, "income": list(range(20))}
    >>> pairs = rematch(persons, anonymise(persons, ["sex", "age"]), ["sex"])
    >>> [str(c) for c in pairs.join(["income"])], pairs.join()["income"][:3].tolist()
    (['sex', 'age', 'income'], [0, 1, 2])
    """
    levels = _ordered_levels(anonymous, priority or ())
    records = record_codes(original, by=anonymous.attributes)
    if len(records) != anonymous.objects:
        raise BadOption(
            f"the data have {len(records):,} records, the anonymous file {anonymous.objects:,} objects",
            hint="rematch with the data that were anonymised.",
        )
    objects = np.repeat(anonymous.codes, anonymous.frequency, axis=0)
    theirs, ours = (_columns(anonymous, codes, levels) for codes in (objects, records))
    order_a, order_b = np.lexsort(theirs.T[::-1]), np.lexsort(ours.T[::-1])
    partner, level, equal, place = np.empty((4, len(objects)), dtype=np.int64)
    _rematch_kernels.match(theirs[order_a], ours[order_b], partner, level, equal)
    place[order_b[partner]] = np.arange(len(objects))
    return Rematch(
        codes=objects[order_a[place]], level=level[place], equal=equal[place], anonymous=anonymous, source=original
    )


def _ordered_levels(anonymous: Anonymisation, priority: Sequence[str]) -> list[KeyLevel]:
    """The priority order, with the attributes that are not named at the end."""
    attributes = anonymous.attributes
    levels = [parsed_level(text, attributes) for text in priority]
    if len(set(levels)) < len(levels):
        raise BadOption("the priority order names a key level twice", hint="name each once.")
    named = {level.attribute for level in levels if level.level == 1}
    return levels + [parsed_level(name, attributes) for name in attributes if name not in named]


def _columns(
    anonymous: Anonymisation, codes: npt.NDArray[np.int32], levels: Sequence[KeyLevel]
) -> npt.NDArray[np.int32]:
    attributes, names = anonymous.attributes, list(anonymous.attributes)
    found = np.empty((len(codes), len(levels)), dtype=np.int32)
    for i, level in enumerate(levels):
        to = key_levels(level.attribute, attributes[level.attribute])[level]
        found[:, i] = to[codes[:, names.index(level.attribute)]]
    return found
