"""Files in which hardly two objects share a combination begin as mixtures of frequencies."""

from __future__ import annotations

from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from diskret import AnonymiseOptions, LadderSearch, anonymise
from diskret.model.errors import ProtectionWarning, UnreadableFile
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.chance import generator
from diskret.safe.control import Control, control_tables
from diskret.safe.control_cells import control_cells
from diskret.safe.mixtures import Mixtures, are_needed, between
from diskret.tabulation.combinations import count_combinations
from tests.safe.conftest import killed_after

SIZES = {"a": 9, "b": 8, "c": 7, "d": 6}
Floats = npt.NDArray[np.float64]
BRIEF: dict[str, Any] = {"search": LadderSearch(effort=0.05), "seed": 9}


def strangers(n: int = 700) -> dict[str, Any]:
    """Persons whose attributes do not hang together."""
    random = np.random.default_rng(4)
    return {name: random.choice(np.array([f"{name}{i}" for i in range(k)]), n) for name, k in SIZES.items()}


@pytest.fixture(scope="module")
def sparse() -> dict[str, Any]:
    return strangers()


def mixtures_of(data: dict[str, Any], k: int) -> Mixtures:
    found = count_combinations(data, by=dict.fromkeys(data))
    assert are_needed(found.frequency)
    return Mixtures.of(found.frequency, control_cells(found, control_tables(Control(), found.by)), k, None)


def slopes(size: Floats, settled: float, border: float) -> tuple[Floats, Floats]:
    """The first and second derivative of d^2 / 2 + r d^6 / 6 / border^4, a square again from 3 borders on.

    r rises to 11 as rows settle, most of it in the end. Looked up in a table, in the middle of steps of a power of two.
    """
    step = 1 / 4096
    while step <= 4 * border / 512 - 1 / 4096:
        step *= 2
    middle = (np.floor(size / step) + 0.5) * step
    beyond = settled * (1 + 10 * settled**16) * np.minimum(np.abs(middle) / border, 3) ** 4
    return middle * (1 + beyond), 1 + 5 * beyond


@pytest.mark.parametrize("k", [2, 3, 5])
def test_each_row_takes_the_mean_that_a_readable_sweep_gives_it(k: int) -> None:
    """Shares fall with exp(-price / warmth), a price is that of the cells with this row at one frequency.

    Cells are as the slopes of their price say, of which the row feels a part; then a step of Newton's method.
    """
    data = {name: column.tolist() + column[:1].tolist() * 12 for name, column in strangers(60).items()}
    mixtures = mixtures_of(data, k)
    cells, frequency = mixtures.cells, mixtures.original
    row_cells = cells.number.astype(np.int64)
    for done in range(0, 24, 4):  # later a last digit of one row would change the next row altogether
        mixtures.spread //= 1 + done % 8  # as if most rows held one frequency, so that the steep price is seen as well
        mean = mixtures.mean / 4096
        own = 0.35 + 0.65 * (done / 39) ** 4
        below = frequency[frequency < k]
        settled = 1 - min(1.0, mixtures.spread / 4096 / float((below * (k - below)).sum()))
        border = max(4 * k / 3, 1.4 * float(np.sqrt(((mixtures.deviation / 4096) ** 2).sum() / cells.size)))
        _, stiff = slopes(mixtures.deviation[cells.occurring] / 4096, settled, border)
        cold, spread = 1 / (mixtures.warmth * stiff.mean()), 0.0
        mixtures.sweep(done, 40, done)
        for j in generator(done, "mixtures").permutation(frequency.size).tolist():
            off = np.bincount(row_cells.ravel(), weights=np.repeat(mean, row_cells.shape[1]), minlength=cells.size)
            first, second = slopes((off - cells.original)[row_cells[j]], settled, border)
            felt = own * second.sum()
            pull = first.sum() - felt * mean[j]
            x0 = int(frequency[j])
            values = np.array([0, *range(k, k + 8)] if x0 < k + 4 else list(range(x0 - 4, x0 + 5)))
            price = pull * values + felt * values**2 / 2
            share = np.array([exp(-cold * (each - price.min())) for each in price])
            wanted = float((share * values).sum() / share.sum())
            variance = float((share * values**2).sum() / share.sum()) - wanted**2
            spread += variance
            mean[j] += (wanted - mean[j]) / (1 + cold * variance * (second.sum() - felt))
        assert mixtures.mean / 4096 == pytest.approx(mean, abs=0.05)
        assert mixtures.spread / 4096 == pytest.approx(spread, rel=0.02)


def test_warmth_keeps_the_spread_on_its_way_down(sparse: dict[str, Any]) -> None:
    """Steadily, so that no row settles long before the others can answer."""
    mixtures = mixtures_of(sparse, 3)
    begun = between(mixtures.original, 3)
    for done in range(100):
        mixtures.sweep(done, 100, done)
        if done in (40, 50, 60, 70):
            assert mixtures.spread / begun == pytest.approx((1 - done / 99 / 0.9) ** 2, abs=0.15)
    assert mixtures.spread < begun / 1000


def test_means_add_up_to_what_the_cells_deviate_by(sparse: dict[str, Any]) -> None:
    """To the last unit, so that an interrupted run goes on with the very same numbers."""
    mixtures = mixtures_of(sparse, 3)
    for i in range(6):
        mixtures.sweep(i, 6, i)
    again = Mixtures.of(mixtures.original, mixtures.cells, 3, mixtures.mean, mixtures.warmth, mixtures.spread)
    assert np.array_equal(again.deviation, mixtures.deviation)
    assert mixtures.deviation[:-1].any()
    x = mixtures.frequencies()
    assert int(x.sum()) == 700
    assert not ((x > 0) & (x < 3)).any()


def test_a_file_of_strangers_comes_closer_than_by_moves_of_three_rows(
    sparse: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def squares(done: Anonymisation) -> float:
        return float((done.deviations**2).mean())

    by_mixtures = anonymise(sparse, list(sparse), seed=1, search=LadderSearch(effort=0.1))
    monkeypatch.setattr("diskret.safe.mixtures.SINGLE", 0)
    by_moves = anonymise(sparse, list(sparse), seed=1, search=LadderSearch(effort=0.1))
    assert squares(by_mixtures) < squares(by_moves)
    assert max(by_mixtures.limits) <= max(by_moves.limits)


@pytest.mark.parametrize("at", [2, 9, 16])
def test_a_run_killed_among_its_mixtures_goes_on_to_the_same_file(
    sparse: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    file = tmp_path / "run.checkpoint"
    whole = anonymise(sparse, list(sparse), **BRIEF)
    with killed_after(at, monkeypatch):
        anonymise(sparse, list(sparse), **BRIEF, options=AnonymiseOptions(checkpoint=file, threads=1))
    assert ("mean" in np.load(file).files) == (at < 14)
    resumed = anonymise(sparse, list(sparse), **BRIEF, options=AnonymiseOptions(checkpoint=file, threads=2))
    assert np.array_equal(resumed.frequency, whole.frequency)


def test_a_checkpoint_with_means_that_cannot_be_is_refused(
    sparse: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.checkpoint"
    options = AnonymiseOptions(checkpoint=file, steps=4, threads=1)
    monkeypatch.setattr("diskret.safe.ladder.LEGS", (1.0,))
    with pytest.warns(ProtectionWarning, match="after step 4"):
        anonymise(sparse, list(sparse), **BRIEF, options=options)
    kept = dict(np.load(file))
    with file.open("wb") as damaged:
        np.savez(damaged, **{**kept, "mean": kept["mean"] - 2**50})
    with pytest.raises(UnreadableFile, match="not a checkpoint"):
        anonymise(sparse, list(sparse), **BRIEF, options=AnonymiseOptions(checkpoint=file))


@pytest.mark.filterwarnings("ignore:the search was cut short")
def test_a_limit_in_steps_repeats_the_file(sparse: dict[str, Any]) -> None:
    """Whatever stage it ends in."""
    for steps in (90, 400, 900):
        files = [
            anonymise(sparse, list(sparse), seed=6, options=AnonymiseOptions(steps=steps, threads=threads))
            for threads in (1, 2)
        ]
        assert files[0].steps == files[1].steps >= steps
        assert np.array_equal(files[0].frequency, files[1].frequency)
        assert int(files[0].distinct["frequency"].min()) >= 3
