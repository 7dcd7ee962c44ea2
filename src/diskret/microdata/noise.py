"""Noise on the log scale: every value of a record is multiplied by e^u.

Three ways: Kim and Winkler (2003), covariance of u proportional to that of the logarithms; equal variance in every
column with the correlations of the logarithms; and the same as a two-peak mixture, which changes most values by a
minimum amount. Zeros and missing values are not touched, so a unit absent in a wave stays absent.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from diskret.microdata import _noise_kernels as kernels
from diskret.microdata import _pairing_kernels as pairing_kernels
from diskret.microdata.columns import Protected, Records, generator, read_records
from diskret.microdata.correlation import TOGETHER, LogMoments, checked, log_moments, root
from diskret.microdata.mixture import Mixture, mixture
from diskret.microdata.options import NoiseOptions, Pairing
from diskret.microdata.pairing import pair_records
from diskret.microdata.panel import Wide, wide
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, NegativeValue, ProtectionWarning, TooFewUnits
from diskret.model.older import with_older

USUAL = NoiseOptions()


def add_noise(
    source: object,
    columns: Sequence[str],
    *,
    seed: int,
    sd: float | None = None,
    shift: float = 0.0,
    amount: float | None = None,
    options: NoiseOptions = USUAL,
    **older: Any,
) -> Protected:
    """Multiply the values of ``columns`` by e^u, u with mean zero.

    ``sd`` (s) is the standard deviation of u in every column, its correlations are those of the logarithms; ``shift``
    (f) above zero makes a mixture with peaks at plus and minus f. ``amount`` (a) instead of ``sd`` is the baseline of
    Kim and Winkler, covariance a times that of the logarithms. `NoiseOptions` says how records are paired, which
    columns make them a panel, and what happens to gaps; its keywords may still be given here for one version.
    Parameters and seed are secret; choose a long random seed.

    >>> firms = {"turnover": [1200.0, 1100, 310, 300, 95, 80], "wages": [300.0, 250, 90, 100, 20, 0]}
    >>> done = add_noise(firms, ["turnover", "wages"], shift=0.08, sd=0.1, seed=20260704)
    >>> (done.frame["turnover"] / np.array(firms["turnover"])).round(2).tolist()
    [0.91, 1.16, 1.01, 0.9, 0.93, 1.06]
    """
    options = with_older(options, older, "add_noise")
    refuse_bad_noise(columns, sd, shift, amount)
    generator(seed)
    records = read_records(source, columns)
    panel = wide(records, columns, options.unit, options.wave)
    _refuse_bad_values(records, columns, panel)
    moments = log_moments(panel.matrix, panel.names, options.gaps, records.where)
    correlation = checked(moments.correlation, options.nearest, records.where)
    noise = noise_of(moments, correlation, sd=sd, shift=shift, amount=amount, nearest=options.nearest)
    how: Pairing = "none" if amount is not None and options.pairing == "auto" else options.pairing
    new, facts = _overlaid(panel.matrix, noise, how, seed)
    deviation = max(noise.deviation, float(np.abs(correlation - moments.correlation).max()))
    if deviation > 0:
        facts["largest deviation of a correlation of the noise"] = round(deviation, 3)
        warnings.warn(
            "the correlations of the logarithms cannot all be kept with this noise; the nearest possible were taken",
            ProtectionWarning,
            stacklevel=2,
        )
    words = "Kim and Winkler" if amount is not None else "two-peak mixture" if shift else "equal variance"
    frame = records.with_columns(panel.long(new))
    return Protected(frame=frame, method=f"log-additive noise ({words})", facts=facts)


def noise_of(
    moments: LogMoments, correlation: Floats, *, sd: float | None, shift: float, amount: float | None, nearest: bool
) -> Mixture:
    """The noise that is asked for, for columns with these moments."""
    if amount is not None:
        return Mixture(shift=0.0, covariance=amount * correlation * moments.sd[:, None] * moments.sd[None, :])
    assert sd is not None
    return mixture(correlation, shift, sd, nearest)


def noise_vectors(noise: Mixture, number: int, numbers: np.random.Generator) -> tuple[Floats, Floats]:
    """Vectors of the upper and of the lower component, one of each per pair."""
    factor = root(noise.covariance)
    both = []
    for sign in (1.0, -1.0):
        drawn = numbers.standard_normal((number, len(factor)))
        kernels.correlate(drawn, factor)
        drawn += sign * noise.shift
        both.append(drawn)
    return both[0], both[1]


def overlay(matrix: Floats, pairs: Ints, upper: Floats, lower: Floats) -> tuple[Floats, Bools]:
    """Give the pairs their vectors, each the way round that keeps the means of the file best; and which turned."""
    means = np.nansum(matrix, axis=0) / len(matrix)
    weight = np.where(means != 0, 1.0 / np.where(means != 0, means, 1.0), 0.0)
    out = matrix.copy()
    turned = np.zeros(len(pairs), dtype=np.bool_)
    pairing_kernels.overlay(matrix, pairs, upper, lower, weight, turned, out)
    return out, turned


def apart(matrix: Floats, shift: float, factor: Floats, numbers: np.random.Generator) -> Floats:
    """Records with noise of their own, nobody's partner."""
    sign = np.where(numbers.random(len(matrix)) < 0.5, 1.0, -1.0)
    drawn = numbers.standard_normal(matrix.shape)
    kernels.correlate(drawn, factor)
    drawn += (sign * shift)[:, None]
    return np.where(matrix == 0, 0.0, matrix * np.exp(drawn))


def of_part(seed: int, number: int) -> np.random.Generator:
    """The random numbers of one part of the records, whoever draws them: parts can be drawn side by side."""
    return np.random.default_rng([seed, number]) if number else generator(seed)


def _overlaid(matrix: Floats, noise: Mixture, how: Pairing, seed: int) -> tuple[Floats, dict[str, object]]:
    if how == "none":
        factor = root(noise.covariance)
        parts = [matrix[at : at + TOGETHER] for at in range(0, len(matrix), TOGETHER)]
        drawn = [apart(part, noise.shift, factor, of_part(seed, number)) for number, part in enumerate(parts)]
        return np.concatenate(drawn), {"units": len(matrix)}
    numbers = generator(seed)
    pairs = pair_records(matrix, how)
    upper, lower = noise_vectors(noise, len(pairs), numbers)
    new, turned = overlay(matrix, pairs, upper, lower)
    return new, {"units": len(matrix), "pairs": int((pairs[:, 1] >= 0).sum()), "pairs turned": int(turned.sum())}


def refuse_bad_noise(columns: Sequence[str], sd: float | None, shift: float, amount: float | None) -> None:
    """Refuse noise that cannot be."""
    if not columns:
        raise BadOption("no column to add noise to", hint="name at least one.")
    if (sd is None) == (amount is None):
        raise BadOption("noise needs sd, or amount for the baseline of Kim and Winkler", hint="give one of the two.")
    if amount is not None and not (math.isfinite(amount) and amount > 0 and shift == 0):
        hint = "such as amount=0.1."
        raise BadOption("amount is a number above zero, and cannot be combined with a shift", hint=hint)


def _refuse_bad_values(records: Records, columns: Sequence[str], panel: Wide) -> None:
    for name in columns:
        what = f"column {name!r} has negative values, which have no logarithm"
        hint = "leave the column out of the noise, or protect it by microaggregation."
        records.refuse(records[name] < 0, what, hint, NegativeValue)
    refuse_few_positive(panel.names, (panel.matrix > 0).sum(axis=0).tolist(), records.where)


def refuse_few_positive(names: Sequence[str], positive: Sequence[int], where: str) -> None:
    """Refuse columns of which no correlation can be taken."""
    for name, number in zip(names, positive, strict=True):
        if number < 3:
            raise TooFewUnits(
                f"column {name!r} has {number} positive values, a correlation needs 3",
                where=where,
                hint="leave the column out of the noise, or drop it from the release.",
            )
