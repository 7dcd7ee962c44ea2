"""MDAV: microaggregation of whole records, for comparison with the univariate methods."""

from __future__ import annotations

import numpy as np

from diskret.microdata._mdav_kernels import mdav
from diskret.model.arrays import Floats


def mdav_values(matrix: Floats, m: int) -> tuple[Floats, int]:
    """Every record replaced by the mean of its group of m to 2m - 1 similar ones, and the number of groups.

    Distances are between columns standardised to variance one; constant columns do not count.

    >>> values, groups = mdav_values(np.array([[1.0, 1], [2, 2], [3, 3], [10, 10], [11, 11], [12, 12]]), 3)
    >>> values[:, 0].tolist(), groups
    ([2.0, 2.0, 2.0, 11.0, 11.0, 11.0], 2)
    """
    sd = matrix.std(axis=0)
    scaled = (matrix - matrix.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    group, groups = mdav(np.ascontiguousarray(scaled), m)
    members = np.bincount(group, minlength=groups)
    out = np.empty_like(matrix)
    for k in range(matrix.shape[1]):
        out[:, k] = (np.bincount(group, weights=matrix[:, k], minlength=groups) / members)[group]
    return out, int(groups)
