"""Run microagg1d: `python microagg_peer.py VALUES METHOD STABLE`, by the interpreter that has it; nothing of diskret.

Prints as JSON what it took (CPU seconds, without compiling), its peak memory, and the sum of squares inside its groups.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib.metadata import version

import microagg1d
import numpy as np


def main() -> None:
    """Warm up, run timed, report."""
    values, method, stable = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    x = np.random.default_rng(0).lognormal(10, 2, size=values)
    microagg1d.univariate_microaggregation(x[:1000], 3, method=method, stable=stable)
    start = time.process_time()
    group = microagg1d.univariate_microaggregation(x, 3, method=method, stable=stable)
    means = np.bincount(group, weights=x) / np.bincount(group)
    new = means[group]
    used = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    inside = float(np.square(x - new).sum())
    print(json.dumps({"cpu": used, "peak": peak, "inside": inside, "version": version("microagg1d")}))


if __name__ == "__main__":
    main()
