"""Where the default search stands, and a long run on disk: whole or not at all, refused for other data or options.

When a run is kept follows from the time; what comes of it does not: from whichever moment a run goes on, it goes on in
the same way.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from diskret.io.arrays import read_arrays
from diskret.io.files import tidy, whole_file
from diskret.io.structured import from_json
from diskret.model.arrays import Ints
from diskret.model.damage import reading
from diskret.model.errors import BadOption, DiskretError
from diskret.safe._mixture_kernels import UNIT
from diskret.safe.chance import BITS

ARRAYS = ("x", "best", "kept", "weight", "mean")
STAGES = ("mix", "anneal", "ladder", "polish", "done")
SAVE_EVERY = 60.0
"""Seconds between two files on disk, at least."""
SHARE = 0.01
"""The share of the time that may go into either way of keeping a run: after what took long, it waits longer."""
LONGEST = 1_000_000
"""Characters of what a checkpoint says about itself."""
MOST = 2**60
"""No run counts as far."""


@dataclass(kw_only=True)
class LadderState:
    """Everything a run needs to go on exactly as if it had not been interrupted."""

    seed: int
    x: npt.NDArray[np.int32]
    best: npt.NDArray[np.int32]
    leg: int = 0
    """A search within a limit goes several times from its start to polish, each time with more effort."""
    stage: str = "anneal"
    round: int = 0
    """Sweeps of mixtures and rounds of groups so far, which are the steps of a run; with the seed they fix all random
    numbers to come."""
    rounds: int = 0
    groups: int = 0
    sweep: int = 0
    rung: tuple[int, ...] = ()
    reached: tuple[int, ...] = ()
    failed: tuple[tuple[int, ...], ...] = ()
    spent: int = 0
    climbed: int = 0
    kept: npt.NDArray[np.int32] | None = None
    """The best file of earlier legs, and the limits it keeps."""
    kept_within: tuple[int, ...] = ()
    weight: npt.NDArray[np.float32] | None = None
    mean: Ints | None = None
    """The means of mixtures; how warm they are, and how far they spread."""
    warmth: float = 0.0
    spread: int = 0

    def moment(self) -> LadderState:
        """The same as it stands now: a round changes these arrays, the others are never written into."""
        weight = None if self.weight is None else self.weight.copy()
        return replace(self, x=self.x.copy(), weight=weight, mean=None if self.mean is None else self.mean.copy())


@dataclass(kw_only=True)
class Keeper:
    """Keeps where a run stands: in memory, for a run that is interrupted in the middle of a round, and on disk.

    Both wait so long that they take a small ``SHARE`` of the time, however large the file is.
    """

    path: str | Path
    mark: str
    last: LadderState
    _remember: float = 0.0
    """When the next moment is remembered, and when the next one goes to disk."""
    _write: float = field(default_factory=lambda: time.monotonic() + SAVE_EVERY)

    def keep(self, now: LadderState) -> None:
        """Called between two rounds."""
        begun = time.monotonic()
        if begun < min(self._remember, self._write):
            return
        self.last = now.moment()
        ended = time.monotonic()
        self._remember = ended + (ended - begun) / SHARE
        if begun >= self._write:
            self.write()
            ended = time.monotonic()
            self._write = ended + max(SAVE_EVERY, (ended - begun) / SHARE)

    def write(self) -> None:
        """The moment that was remembered last."""
        save_checkpoint(self.path, self.last, self.mark)

    def done(self) -> None:
        """Nothing is to be gone on with."""
        Path(self.path).unlink(missing_ok=True)


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
    with whole_file(path, private=True) as part, part.open("wb") as file:
        np.savez(file, head=np.array(json.dumps({"mark": mark, **plain})), **arrays)


@dataclass(frozen=True, kw_only=True)
class RunSize:
    """What a run is about: whatever a checkpoint says must fit it."""

    seed: int | None
    """None if the checkpoint is to say it."""
    rows: int
    objects: int
    k: int
    cells: int
    legs: int
    dimensions: int
    """The largest dimension of a control table."""


def load_checkpoint(path: str | Path, mark: str, size: RunSize) -> LadderState | None:
    """Where an interrupted run stood; None if there is no such file."""
    tidy(Path(path).parent)  # a run killed while it wrote here
    if not Path(path).exists():
        return None
    with reading(path, "this is not a checkpoint of a run", "name another file, or remove it to start again."):
        most = 4 * max(2 * size.rows, size.cells + 1, LONGEST)
        kinds = {"head": "U", "x": "i", "best": "i", "kept": "i", "weight": "f", "mean": "i"}
        arrays = read_arrays(path, kinds, most)
        text = str(arrays.pop("head"))
        text.encode()
        head: dict[str, Any] = from_json(text)
        whose = head.pop("mark")
        head.pop("least", None)  # earlier versions kept it
        head |= {name: tuple(head[name]) for name in ("rung", "reached", "kept_within")}
        head["failed"] = tuple(map(tuple, head["failed"]))
        given: dict[str, Any] = head | arrays
        state = LadderState(**given)
        if whose == mark and not _fits(state, size):
            raise ValueError("numbers that this run cannot have")
    if whose != mark or size.seed not in (None, state.seed):
        raise BadOption(
            "the checkpoint belongs to other data or options",
            where=str(path),
            hint="run with the same data, attributes, control tables, k, weights, seed and search, or remove the file.",
        )
    return state


def seed_of(path: str | Path) -> int | None:
    """The seed of an interrupted run; None if there is no such file, or what is there is none (which is told later)."""
    try:
        head = from_json(str(read_arrays(path, {"head": "U"}, 4 * LONGEST)["head"]))
        return int(head["seed"])
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, DiskretError):
        return None


def _fits(state: LadderState, size: RunSize) -> bool:
    """Whether a run can have stood so: compiled loops trust every number."""
    counters = (state.leg, state.round, state.rounds, state.groups, state.sweep, state.spent, state.climbed)
    limits = [each for each in (state.rung, state.reached, state.kept_within, *state.failed) if each]
    files = [state.x, state.best] if state.kept is None else [state.x, state.best, state.kept]
    return (
        state.stage in STAGES
        and type(state.seed) is int
        and 0 <= state.seed < 1 << BITS
        and all(type(each) is int and 0 <= each < MOST for each in counters)
        and state.leg < size.legs
        and (state.kept is None) == (not state.kept_within)
        and all(len(each) == size.dimensions for each in limits)
        and all(type(each) is int and 0 <= each <= size.objects for limit in limits for each in limit)
        and all(state.failed)
        and bool(state.rung or state.stage != "ladder")
        and bool(state.reached or state.stage in ("mix", "anneal"))
        and all(_is_file(each, size) for each in files)
        and (state.weight is None or _are_weights(state.weight, size))
        and (state.mean is None or (_are_means(state.mean, size) and _are_warm(state)))
    )


def _is_file(x: npt.NDArray[Any], size: RunSize) -> bool:
    """Whether frequencies are those of an anonymous file with as many objects."""
    right = x.dtype == np.int32 and x.shape == (size.rows,) and bool(((x == 0) | (x >= size.k)).all())
    return right and int(x.sum(dtype=np.int64)) == size.objects


def _are_weights(weight: npt.NDArray[Any], size: RunSize) -> bool:
    """Whether every cell has a weight, and what is not controlled has none."""
    right = weight.dtype == np.float32 and weight.shape == (size.cells + 1,)
    return right and bool(np.isfinite(weight).all() and (weight[:-1] >= 0).all() and weight[-1] == 0)


def _are_means(mean: npt.NDArray[Any], size: RunSize) -> bool:
    """Whether every row has a mean that one of that many objects can have."""
    right = mean.dtype == np.int64 and mean.shape == (size.rows,)
    return right and bool((mean >= 0).all() and (mean <= 2 * UNIT * (size.objects + size.k)).all())


def _are_warm(state: LadderState) -> bool:
    """Whether mixtures can be as warm and spread as far."""
    warm = type(state.warmth) is float and 0 < state.warmth < MOST
    return warm and type(state.spread) is int and 0 <= state.spread < MOST
