"""How loops are compiled: a `kernel` is called from Python, a `part` from kernels only.

Compiling is what the first table on a machine waits for. What a part would need to be called from Python, or from C, is
not made, and nothing but kernels is kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Decorator = Callable[[Callable[..., Any]], Any]

kernel: Decorator = numba.njit(cache=True, nogil=True, no_cfunc_wrapper=True)
"""Compile a loop that Python calls, once per machine."""
part: Decorator = numba.njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)
"""Compile what kernels share. Called from Python it fails; its ``py_func`` does not."""
