"""Run pycanon on a file: `python pycanon_peer.py FILE KEYS`, by the interpreter that has it; stands alone."""

from __future__ import annotations

import json
import resource
import sys
from importlib.metadata import version

import pandas as pd
from pycanon import anonymity


def main() -> None:
    """All measures, one after the other, as its users call them. Reading the file is not timed."""
    keys, sensitive = json.loads(sys.argv[2])
    data = pd.read_parquet(sys.argv[1])[[*keys, *sensitive]]
    start = resource.getrusage(resource.RUSAGE_SELF)
    k = anonymity.k_anonymity(data, keys)
    anonymity.alpha_k_anonymity(data, keys, sensitive)
    least = anonymity.l_diversity(data, keys, sensitive)
    anonymity.entropy_l_diversity(data, keys, sensitive)
    anonymity.recursive_c_l_diversity(data, keys, sensitive)
    t = anonymity.t_closeness(data, keys, sensitive)
    beta = anonymity.basic_beta_likeness(data, keys, sensitive)
    anonymity.enhanced_beta_likeness(data, keys, sensitive)
    delta = anonymity.delta_disclosure(data, keys, sensitive)
    used = resource.getrusage(resource.RUSAGE_SELF)
    quality = f"k {k}, l {least}, t {t:.4f}, beta {beta:.2f}, delta {delta:.4f}; version {version('pycanon')}"
    print(
        json.dumps(
            {
                "cpu": used.ru_utime + used.ru_stime - start.ru_utime - start.ru_stime,
                "peak": used.ru_maxrss / 1e6,
                "quality": quality,
            }
        )
    )


if __name__ == "__main__":
    main()
