"""`python -m benchmarks.one CASE`: run one case here and print what it took as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from statistics import median

from benchmarks.cases import CASES
from benchmarks.times import seconds


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Prepare, warm up, run, report."""
    warnings.simplefilter("ignore")
    case = CASES[sys.argv[1]]
    case.prepare()
    start = cpu()
    case.warm()
    compile_seconds = cpu() - start
    cpus, walls = [], []
    result = None
    for _ in range(case.repeats):
        start, wall = cpu(), time.perf_counter()
        result = case.run()
        cpus.append(cpu() - start)
        walls.append(time.perf_counter() - wall)
    found = {
        "CPU s": seconds(median(cpus)),
        "wall s": seconds(median(walls)),
        "peak GB": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}",
        "compile s": f"{compile_seconds:.2f}",
    }
    quality = case.judge(result)
    found |= {"quality": quality} if isinstance(quality, str) else dict(quality)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
