"""Whether something may leave, and if not, why: the first line of every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diskret.model.words import words
from diskret.publication.sections import number_text

Reason = tuple[str, Mapping[str, Any]]
"""A key of the words, and what stands in its gaps."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What speaks against a release, and what to look at before it, independent of any language.

    >>> Verdict().words("en", internal=True), Verdict(against=(("alone", {"n": 3}),)).words("en", internal=True)
    ('May be released.', 'Not yet: 3 records are alone in their combination.')
    """

    against: tuple[Reason, ...] = ()
    look: tuple[Reason, ...] = ()
    """Nothing that forbids a release; somebody should have read it."""
    release: bool = True
    """Whether anything is to be released at all."""
    found: Reason | None = None
    """What an attack found where nothing speaks against a release, and against which cap: everybody may know it."""

    @property
    def ready(self) -> bool:
        """Whether nothing speaks against a release."""
        return self.release and not self.against

    def words(self, language: str, *, internal: bool) -> str:
        """In one line; the public one tells only what everybody may know: what was not done, never what was found."""
        say = words("verdict", language)
        if not self.release:
            return say["nothing"]
        if not self.against:
            found = "" if self.found is None else " " + _said(say, self.found, language)
            look = [_said(say, reason, language) for reason in self.look] if internal else []
            return (say["look"].format(what="; ".join(look)) if look else say["ready"]) + found
        if internal:
            reasons = [_said(say, reason, language) for reason in self.against]
        else:
            reasons = [say.get(f"public {key}", say["public"]) for key, _ in self.against]
        return say["not yet"].format(why="; ".join(dict.fromkeys(reasons)))

    def plain(self) -> dict[str, Any]:
        """As plain data, fit to be kept as JSON.

        >>> verdict = Verdict(against=(("not attacked", {"table": "x"}),))
        >>> Verdict.from_plain(verdict.plain()) == verdict
        True
        """
        both = {"against": self.against, "look": self.look, "found": () if self.found is None else (self.found,)}
        return {name: [[key, dict(gaps)] for key, gaps in each] for name, each in both.items()}

    @classmethod
    def from_plain(cls, given: Mapping[str, Sequence[Any]]) -> Verdict:
        """From what `plain` gave."""
        against, look, found = (
            tuple((str(key), dict(gaps)) for key, gaps in given.get(name, ())) for name in ("against", "look", "found")
        )
        for reason in (*against, *look, *found):
            _said(words("verdict", "en"), reason, "en")  # a damaged file must not pass for a verdict
        return cls(against=against, look=look, found=found[0] if found else None)


def _said(say: Mapping[str, str], reason: Reason, language: str) -> str:
    key, gaps = reason
    shown = {name: number_text(gap, language) if isinstance(gap, int) else gap for name, gap in gaps.items()}
    one = f"{key} one"
    return say[one if gaps.get("n") == 1 and one in say else key].format(**shown)
