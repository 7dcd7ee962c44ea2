"""Compiling asks numba once what an operator gives, not at every place it stands: a seventh of the first run is spared.

Every time it tries the same dozens of forms an operator has (of texts, lists, sets) before it comes to that of arrays,
and compares its options at every one. While a kernel is compiled, what was found for some types is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import functions


@contextmanager
def answered_once() -> Iterator[None]:
    """Keep what is found, for as long as this lasts."""
    answers: dict[Any, Any] = {}
    of_numba: Any = functions.BaseFunction
    # whoever else compiles waits, so that the last to come is the first to go
    with global_compiler_lock:
        asked = of_numba.get_call_type

        def once(function: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            key = function, context, args, tuple(kws.items())
            if key not in answers:
                answers[key] = asked(function, context, args, kws)
            return answers[key]

        of_numba.get_call_type = once
        try:
            yield
        finally:
            of_numba.get_call_type = asked
