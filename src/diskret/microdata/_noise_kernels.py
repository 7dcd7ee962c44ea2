"""Compiled loops of noise: correlations of columns with gaps, factors of matrices, correlated vectors.

Sums run in a fixed order, so that results do not depend on the number of threads as those of a BLAS do.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part


@kernel
def pair_moments(x, complete):
    """For every pair of columns over the rows that have both: count, sums, squares, product (columns near zero mean).

    With ``complete``, only rows without any gap count.
    """
    n, columns = x.shape
    moments = np.zeros((columns, columns, 6))
    have = np.empty(columns, dtype=np.int64)
    for r in range(n):
        present = 0
        for k in range(columns):
            if not np.isnan(x[r, k]):
                have[present] = k
                present += 1
        if complete and present < columns:
            continue
        for i in range(present):
            a = have[i]
            u = x[r, a]
            for j in range(i + 1):
                b = have[j]
                v = x[r, b]
                cell = moments[a, b]
                cell[0] += 1.0
                cell[1] += u
                cell[2] += v
                cell[3] += u * u
                cell[4] += v * v
                cell[5] += u * v
    return moments


@part
def _rotate(a, p, q, c, s):
    """Turn the columns p and q of a matrix into each other."""
    for k in range(a.shape[0]):
        u, w = a[k, p], a[k, q]
        a[k, p] = c * u - s * w
        a[k, q] = s * u + c * w


@part
def _is_diagonal(a):
    off = 0.0
    whole = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            whole += a[i, j] * a[i, j]
            if i != j:
                off += a[i, j] * a[i, j]
    return off <= 1e-28 * whole


@kernel
def eigen(matrix):
    """Eigenvalues and eigenvectors (columns) of a symmetric matrix by Jacobi rotations."""
    a = matrix.copy()
    n = a.shape[0]
    v = np.eye(n)
    for _ in range(60):
        if _is_diagonal(a):
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) <= 1e-300:
                    continue
                theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                sign = 1.0 if theta >= 0 else -1.0
                t = sign / (abs(theta) + np.sqrt(theta * theta + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                _rotate(a, p, q, c, t * c)
                _rotate(a.T, p, q, c, t * c)
                _rotate(v, p, q, c, t * c)
    return np.diag(a).copy(), v


@kernel
def correlate(normal, root):
    """Independent rows turned into rows with covariance root @ root.T, in place."""
    n, columns = normal.shape
    row = np.empty(columns)
    for r in range(n):
        for k in range(columns):
            row[k] = normal[r, k]
        for k in range(columns):
            total = 0.0
            for j in range(columns):
                total += root[k, j] * row[j]
            normal[r, k] = total
