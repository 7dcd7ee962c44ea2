"""Firms as an office has them and as it would release them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Firms = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture(scope="session")
def firms() -> Firms:
    """Makes a released file with noisy values and the external file, in different orders."""

    def make(n: int = 400, noise: float = 0.05, seed: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
        generator = np.random.default_rng(seed)
        employees = np.exp(generator.normal(4, 1.2, n)).round() + 1
        values = np.exp(generator.normal(0, 0.6, (n, 3))) * employees[:, None] * 50
        region = np.where(generator.random(n) < 0.8, "West", "East").astype(object)
        industry = generator.choice(["20", "27", "36"], n).astype(object)
        order = generator.permutation(n)
        shifted = values * np.exp(generator.normal(0, noise, values.shape))
        external = {"unit": np.arange(n), "region": region, "industry": industry, "employees": employees}
        external |= {f"x{j}": values[:, j] for j in range(3)}
        released = {"unit": np.arange(n)[order], "region": region[order], "industry": industry[order]}
        released |= {"employees": employees[order], **{f"x{j}": shifted[order, j] for j in range(3)}}
        return released, external

    return make
