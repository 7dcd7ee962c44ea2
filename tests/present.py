"""What a test knows to be there, although a type says that it may be missing."""

from __future__ import annotations

from typing import TypeVar

Thing = TypeVar("Thing")


def present(thing: Thing | None) -> Thing:
    """The thing itself; a failed test if it is missing."""
    assert thing is not None
    return thing
