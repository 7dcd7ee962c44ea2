"""What cures an error: a choice that can be made in a job file, in Python or by a button of the page."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

BARE = re.compile(r'[^."\s]+')
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')


@dataclass(frozen=True, kw_only=True)
class Cure:
    """A key of a job and what to set it to.

    ``label`` says in a few English words what that does, so that "to ..." reads well; the page translates it. A
    ``value`` of None means that the user has to decide on the spot, such as to edit a hierarchy.

    >>> Cure(key=key_of("classifications", "region", "total"), value="All", label="take 'All' as total").path
    ('classifications', 'region', 'total')
    """

    key: str
    value: object
    label: str

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the key, the last being the one that is set."""
        return tuple(json.loads(part) if part.startswith('"') else part for part in PART.findall(self.key))


def key_of(*parts: str) -> str:
    """A key from its parts; a name with dots, quotes or blanks stands in quotes.

    >>> key_of("table", "without_value"), key_of("classifications", "size.2024", "total")
    ('table.without_value', 'classifications."size.2024".total')
    """
    return ".".join(part if BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in parts)
