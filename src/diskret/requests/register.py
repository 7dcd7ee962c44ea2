"""The register of requests: one file each, for its owner alone, each with the hash of the one before."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.io.structured import from_json
from diskret.model.errors import DamagedLedger

FOLDER = "requests"
LAST = "last"


@dataclass(frozen=True, eq=False)
class Register:
    """What was asked of a ledger, and what was said.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     register = Register(Path(place))
    ...     register.add({"asked": "turnover by region"})["number"], len(register.entries())
    (1, 1)
    """

    folder: Path

    @property
    def place(self) -> Path:
        """Where its files are."""
        return self.folder / FOLDER

    def entries(self) -> list[dict[str, Any]]:
        """All of them in order; refused if one is lost or was changed."""
        found: list[dict[str, Any]] = []
        before = ""
        newest, its_hash = self._last
        paths = sorted(self.place.glob("*.json")) if self.place.is_dir() else []
        for number, path in enumerate(paths, 1):
            text = path.read_bytes()
            try:
                entry = from_json(text.decode("utf-8"))
                fits = entry["number"] == number and entry["previous"] == before and path.stem == f"{number:06d}"
            except (ValueError, LookupError, TypeError):
                fits = False
            if not fits:
                raise _changed(number, path)
            before = sha256(text).hexdigest()
            found.append(entry)
            if number == newest and before != its_hash:
                raise _changed(number, path)
        if len(found) < newest:
            raise _changed(newest, self.place)
        if len(found) > newest + 1:  # there may be one more, if its writer was killed before saying so
            raise DamagedLedger(
                "what says how many requests there are is lost or was changed", where=str(self.place / LAST),
                hint="put the file back from a copy.",
            )  # fmt: skip
        return found

    @property
    def _last(self) -> tuple[int, str]:
        """The number and the hash of the newest one when it was written: no later one would miss it."""
        path = self.place / LAST
        if not path.is_file():
            return 0, ""
        try:
            said = from_json(path.read_text(encoding="utf-8"))
            return int(said["number"]), str(said["hash"])
        except (OSError, ValueError, LookupError, TypeError) as e:
            raise DamagedLedger("what says how many requests there are cannot be read", where=str(path),
                                hint="put the file back from a copy.") from e  # fmt: skip

    def add(self, said: Mapping[str, Any], earlier: int | None = None) -> dict[str, Any]:
        """Remember one more; the caller is alone in the register, and may say how many there are."""
        self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(self.place, 0o700)
        number = 1 + (len(self.entries()) if earlier is None else earlier)
        last = self.place / f"{number - 1:06d}.json"
        previous = sha256(last.read_bytes()).hexdigest() if number > 1 else ""
        entry = {"number": number, "previous": previous, **said}
        text = json.dumps(entry, ensure_ascii=False, indent=1) + "\n"
        told = json.dumps({"number": number, "hash": sha256(text.encode()).hexdigest()}) + "\n"
        with whole_file(self.place / f"{number:06d}.json", private=True) as part:
            part.write_text(text, encoding="utf-8", newline="")
        with whole_file(self.place / LAST, private=True) as part:
            part.write_text(told, encoding="utf-8", newline="")
        return entry


def _changed(number: int, path: Path) -> DamagedLedger:
    return DamagedLedger(
        f"request {number} is lost or was changed", where=str(path), hint="put the file back from a copy."
    )
