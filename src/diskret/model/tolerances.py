"""Every tolerance that means the same in several modules: its name, its size, and where it comes from."""

from __future__ import annotations

from typing import Final

SOLVER: Final = 1e-7
"""What a linear programme may be off by, relative to the numbers in it (at least to 1): the tolerance up to which the
solver keeps equations and bounds. What it says about a limit that is nearer than this, it does not know."""

ROUNDING: Final = 1e-9
"""What some thousand additions of doubles lose at most, relative to the numbers added, with room to spare: 2**-53 is
about 1e-16. Less than this is nothing; who asks for an amount asks for this much more, so as not to miss it."""

HAIR: Final = 1e-12
"""What a few operations on doubles lose at most, relative to their size."""

WHOLE: Final = 1e-6
"""How far from a whole number a solver's value may lie to be taken for one: the solver's own tolerance for whole
numbers. What was rounded counts only after it was checked again in whole numbers."""

EXACT_LIMIT: Final = 2**53
"""Whole numbers up to this are exact in a double."""

POSITIVE: Final = 1e-300
"""A divisor that may be zero is at least this, the smallest power of ten whose inverse is a double with some room."""
