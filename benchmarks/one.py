"""`python -m benchmarks.one CASE`: run one case here and print what it took as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time

from benchmarks.cases import CASES


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Prepare, warm up, run, report."""
    case = CASES[sys.argv[1]]
    case.prepare()
    start = cpu()
    case.warm()
    compile_seconds = cpu() - start
    start, wall = cpu(), time.perf_counter()
    quality = case.run()
    found = {
        "CPU s": f"{cpu() - start:.2f}",
        "wall s": f"{time.perf_counter() - wall:.2f}",
        "peak GB": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}",
        "compile s": f"{compile_seconds:.2f}",
        "quality": quality,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
