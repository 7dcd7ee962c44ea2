"""Where the default search stands, and a long run on disk: whole or not at all, refused for other data or options."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, UnreadableFile
from diskret.model.places import plain_file

ARRAYS = ("x", "best", "weight")


@dataclass(kw_only=True)
class LadderState:
    """Everything a run needs to go on exactly as if it had not been interrupted."""

    seed: int
    x: npt.NDArray[np.int32]
    best: npt.NDArray[np.int32]
    stage: str = "anneal"
    round: int = 0
    """Rounds of groups so far; with the seed it fixes all random numbers to come."""
    rounds: int = 0
    groups: int = 0
    sweep: int = 0
    rung: tuple[int, ...] = ()
    reached: tuple[int, ...] = ()
    failed: tuple[tuple[int, ...], ...] = ()
    spent: int = 0
    climbed: int = 0
    weight: npt.NDArray[np.float32] | None = None

    def copy(self) -> LadderState:
        """The same with arrays of its own."""
        weight = None if self.weight is None else self.weight.copy()
        return replace(self, x=self.x.copy(), best=self.best.copy(), weight=weight)


def run_mark(*parts: object) -> str:
    """What a run depends on, in a few characters."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return digest.hexdigest()


def save_checkpoint(path: str | Path, state: LadderState, mark: str) -> None:
    """Write where a run stands. The file holds frequencies of rows, not the rows: confidential like the data."""
    plain = {f.name: getattr(state, f.name) for f in fields(state) if f.name not in ARRAYS}
    arrays = {name: getattr(state, name) for name in ARRAYS if getattr(state, name) is not None}
    with whole_file(path) as part, part.open("wb") as file:
        np.savez_compressed(file, head=np.array(json.dumps({"mark": mark, **plain})), **arrays)


def load_checkpoint(path: str | Path, mark: str) -> LadderState | None:
    """Where an interrupted run stood; None if there is no such file."""
    if not Path(path).exists():
        return None
    try:
        with np.load(plain_file(path), allow_pickle=False) as stored:
            head: dict[str, Any] = json.loads(str(stored["head"]))
            arrays = {name: stored[name] for name in ARRAYS if name in stored}
        whose = head.pop("mark")
        head.pop("least", None)  # earlier versions kept it
        head |= {name: tuple(head[name]) for name in ("rung", "reached")}
        head["failed"] = tuple(map(tuple, head["failed"]))
        state = LadderState(**head, **arrays)
    except (OSError, ValueError, LookupError, TypeError, zipfile.BadZipFile) as e:
        raise UnreadableFile(
            "this is not a checkpoint of a run", where=str(path), hint="name another file, or remove it to start again."
        ) from e
    if whose != mark:
        raise BadOption(
            "the checkpoint belongs to other data or options",
            where=str(path),
            hint="run with the same data, attributes, control tables, k, weights, seed and search, or remove the file.",
        )
    return state
