"""How times are written."""

from __future__ import annotations


def seconds(number: float) -> str:
    """Two digits after the point, more for what is shorter than a tenth of a second."""
    return f"{number:.2f}" if number >= 0.1 else f"{number:.4f}" if number else "0"
