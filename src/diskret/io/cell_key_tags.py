"""What tau-ARGUS metadata say about cell-key noise: tags of the record key and of the numbers it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from diskret.model.errors import UnreadableFile

P_TABLES = {"PFILE": "counts", "PFILE_FREQ": "counts", "PFILE_CONT": "values", "PFILE_SEP": "small_values"}
"""Tags of the record key that name perturbation tables, and what these are for."""
P_TABLE_TAGS = {of: tag for tag, of in P_TABLES.items()}
TRUTHS = {"INCLUDEZEROS": "zeros", "PARITY": "parity", "SEPARATION": "separation"}
NOISE = {"CKM", "SCALING", *TRUTHS}
KINDS = "NTMDV"
MOST_RANKED = 100


@dataclass(frozen=True, kw_only=True)
class Noise:
    """How the values of one variable are changed by cell keys.

    >>> told = noise_told(Noise(), "CKM", ["T(3)"], "line 1")
    >>> noise_told(told, "SCALING", ["F(0.03,0.30,1000,3,0.5,0.2)"], "line 2").weights
    (1.0, 0.5, 0.2)
    """

    kind: str = "N"
    """What the noise is a share of: T the largest contributions, M their mean, D their range, V the value; N: none."""
    ranked: int = 1
    """How many of the largest contributions count."""
    zeros: bool = False
    """Whether records with the value zero count for the cell key."""
    parity: bool = False
    """Whether even and odd numbers of contributors have rows of their own in the perturbation table."""
    separation: bool = False
    """Whether very small values have a perturbation table of their own."""
    scaling: str = ""
    """F with a flex point, N without; empty: nothing said."""
    numbers: tuple[float, ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """How the largest contributions count, from 1 down."""
        return (1.0, *self.numbers[4 if self.scaling == "F" else 1 :])

    @property
    def shares(self) -> dict[str, float]:
        """The shares as `[cell_key]` of a job calls them."""
        if self.scaling == "F":
            large, small, flex_point, q = self.numbers[:4]
            return {"small": small, "large": large, "flex_point": flex_point, "q": q}
        return {"small": self.numbers[0], "large": self.numbers[0]} if self.scaling else {}


def noise_told(noise: Noise, tag: str, words: Sequence[str], where: str) -> Noise:
    """What is known of the noise of a variable after one more tag."""
    text = "".join(words).strip().upper()
    if tag in TRUTHS:
        if text not in ("Y", "N"):
            raise UnreadableFile(f"<{tag}> says neither Y nor N", where=where, hint=f"for example <{tag}> N.")
        given: dict[str, Any] = {TRUTHS[tag]: text == "Y"}
        return replace(noise, **given)
    kind, numbers = _called(tag, text, where)
    if tag == "CKM":
        ranked = numbers[0] if numbers else 1.0
        possible = ranked.is_integer() and 1 <= ranked <= MOST_RANKED and len(numbers) == (kind == "T")
        if kind not in [*KINDS] or not possible:
            raise UnreadableFile("<CKM> is not known", where=where, hint="N, M, D, V or T(number of contributions).")
        return replace(noise, kind=kind, ranked=int(ranked))
    others = noise.ranked - 1
    if kind not in ("F", "N") or len(numbers) != (4 if kind == "F" else 1) + others:
        raise UnreadableFile(
            "the numbers after <SCALING> do not fit the contributions of <CKM>",
            where=where,
            hint="F(share of large, share of small, flex point, steepness, weights) or N(share, weights), the weights "
            "of the second, third ... contribution.",
        )
    return replace(noise, scaling=kind, numbers=numbers)


def noise_lines(noise: Noise) -> list[str]:
    """The tags of a variable that say so.

    >>> noise_lines(Noise(kind="T", ranked=2, scaling="N", numbers=(0.3, 0.5)))[-1]
    '<SCALING> N(0.3,0.5)'
    """
    said = [f"<CKM> {noise.kind}" + (f"({noise.ranked})" if noise.kind == "T" else "")]
    if noise.kind != "N":
        said += [f"<{tag}> {'Y' if getattr(noise, field) else 'N'}" for tag, field in TRUTHS.items()]
    return said + ([f"<SCALING> {noise.scaling}({','.join(map(str, noise.numbers))})"] if noise.scaling else [])


def _called(tag: str, text: str, where: str) -> tuple[str, tuple[float, ...]]:
    """A letter and the numbers in brackets behind it."""
    kind, bracket, rest = text.partition("(")
    try:
        numbers = tuple(float(word) for word in rest.removesuffix(")").split(",")) if bracket else ()
        if not all(map(isfinite, numbers)):
            raise ValueError
    except ValueError:
        raise UnreadableFile(
            f"numbers are expected after <{tag}>", where=where, hint="with decimal points and commas between them."
        ) from None
    return kind.strip(), numbers
