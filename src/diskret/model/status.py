"""What may happen to a cell, and what has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, listed, masked


class Status(IntEnum):
    """Status of one cell (Wertart). Only `PRIMARY` and `SECONDARY` cells are hidden from publication.

    >>> Status.from_text("Primary"), Status.PRIMARY.hidden, Status.ZERO.hidden
    (<Status.PRIMARY: 1>, True, False)
    """

    OPEN = 0
    """May be published, may be suppressed."""
    PRIMARY = 1
    """Sensitive by itself: a primary rule or the user marked it."""
    SECONDARY = 2
    """Suppressed so that a primary cell cannot be computed back."""
    NEVER = 3
    """Must be published (the user's wish); never a partner."""
    PUBLISHED = 4
    """Published in an earlier release; never a partner."""
    STRUCTURAL_ZERO = 5
    """Everybody knows it is zero; never a partner."""
    ZERO = 6
    """An empty or zero cell that may be suppressed as a partner."""

    @property
    def hidden(self) -> bool:
        """Whether the value is withheld."""
        return self in (Status.PRIMARY, Status.SECONDARY)

    @property
    def text(self) -> str:
        """The word used in files and messages."""
        return self.name.lower().replace("_", " ")

    @classmethod
    def from_text(cls, text: str) -> Status:
        """Read a status word, upper or lower case, or the number."""
        key = str(text).strip().lower().replace("-", " ").replace("_", " ")
        for status in cls:
            if key in (status.text, str(int(status))):
                return status
        raise BadOption(
            f"status {masked(str(text))!r} is not known",
            hint=f"one of {listed([s.text for s in cls])}, or a number 0 to {len(cls) - 1}.",
        )


MARKS = {Status.PRIMARY: "P", Status.SECONDARY: "S"}
"""What an internal view shows beside a suppressed cell; a published one shows one mark for both."""


CONFIDENTIALITY = {
    **dict.fromkeys("ACEGMNOTX", Status.PRIMARY), **dict.fromkeys("DS", Status.SECONDARY), "F": Status.OPEN,
}  # fmt: skip
"""Codes of CL_CONF_STATUS (SDMX): all that must not be published and is no secondary cell is primary."""
CONFIDENTIALITY_COLUMNS = ("conf_status", "obs_conf")
"""What SDMX calls the column that has them; elsewhere letters mean other things (S is safe in tau-ARGUS)."""


def refuse_false_zeros(
    status: npt.NDArray[np.uint8], value: Floats, names: Callable[[Bools], Sequence[str]], where: str = ""
) -> None:
    """Refuse cells that are called zero and are not: an attacker would be thought to know what is wrong."""
    false = ((status == Status.STRUCTURAL_ZERO) | (status == Status.ZERO)) & (value != 0)
    if false.any():
        raise BadOption(
            f"{int(false.sum())} cells have the status of a zero and another value: {listed(names(false))}",
            where=where,
            hint="give them another status, such as published, or correct their values.",
        )
