"""Options that describe themselves: the same fields are Python's keywords, keys of a job, and fields of a form."""

from __future__ import annotations

from dataclasses import MISSING, field
from typing import Any


def option(default: Any = MISSING, description: str = "", *, make: Any = MISSING, secret: bool = False) -> Any:
    """A field of an options dataclass, with the sentence that explains it; ``make`` makes a default that is mutable.

    A ``secret`` one is not shown when the options are printed.

    >>> from dataclasses import dataclass, fields
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Options:
    ...     passes: int = option(3, "how often to look again")
    >>> Options().passes, fields(Options)[0].metadata["description"]
    (3, 'how often to look again')
    """
    said = {"description": description}
    if make is not MISSING:
        return field(default_factory=make, metadata=said, repr=not secret)
    return field(default=default, metadata=said, repr=not secret)
