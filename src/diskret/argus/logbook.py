"""The logbook of a batch, as tau-ARGUS keeps it: what was done when. Parameters of safety rules are left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from diskret.io.arb_commands import Command, Remark, SafetyRule

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
COMMAND = re.compile(r'(?:"[^"]*"|(?!//).)*', re.DOTALL)
"""A line up to a remark at its end."""
Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Log:
    """Lines with the time at which they were written.

    >>> log = Log(lambda: datetime(2026, 3, 1, 9, 5, 7))
    >>> log.say("Table (1) written")
    >>> log.text()
    '01-mar-2026 09:05:07 : Table (1) written\\n'
    """

    clock: Clock = datetime.now
    lines: list[str] = field(default_factory=list)

    def say(self, words: str) -> None:
        """Write a line; further lines of it are indented."""
        now = self.clock()
        when = f"{now.day:02}-{MONTHS[now.month - 1]}-{now.year} {now:%H:%M:%S}"
        first, *more = words.split("\n")
        self.lines.append("\n".join([f"{when} : {first}", *(f"{' ' * (len(when) + 5)}{each}" for each in more)]))

    def command(self, command: Command) -> None:
        """Write that a command is done; remarks are left out: old parameters often stand in them."""
        if isinstance(command, Remark):
            return
        found = COMMAND.match(command.text)
        text = found[0].strip() if found else ""
        if isinstance(command, SafetyRule):
            text = re.sub(r"\([^()]*\)", "(...)", text)
        self.say(f"Command: {text}")

    def text(self) -> str:
        """All of it."""
        return "".join(f"{line}\n" for line in self.lines)
