"""How loops are compiled: Python calls a `kernel`, kernels call a `part`, what is `inlined` is written into them.

Compiling is what the first table on a machine waits for. What a part would need to be called from Python, or from C, is
not made, and nothing but kernels is kept on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

from diskret.model.typing_once import answered_once

Decorator = Callable[[Callable[..., Any]], Any]

part: Decorator = numba.njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)
"""Compile what kernels share. Called from Python it fails; its ``py_func`` does not."""
inlined: Decorator = numba.njit(nogil=True, inline="always")
"""Write a few lines into every kernel that calls them."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop that Python calls, once per machine; every time where there is no folder to keep it in."""
    made = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
    if hasattr(made, "enable_caching"):  # numba may be switched off
        made._compiler.compile = answered_once()(made._compiler.compile)
        with suppress(RuntimeError):
            made.enable_caching()
        with suppress(RuntimeError):
            made._cache = _Warmed(function)
    return made


class _Warmed(caching.FunctionCache):  # type: ignore[misc]
    """What `diskret warm` left in a folder that nobody may write to now, as in an image; numba passes it by."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if getattr(numba.config, "CACHE_LOCATOR_CLASSES", ""):
            raise RuntimeError("somebody else says where kernels are kept")
        self._impl_class = _Reading
        super().__init__(function)
        if not Path(self.cache_path, f"{self._impl.filename_base}.nbi").exists():
            raise RuntimeError("not there")

    def save_overload(self, sig: Any, data: Any) -> None:
        """Nothing is kept."""


def _readable(locator: Any) -> Any:
    class Readable(locator):  # type: ignore[misc]
        def ensure_cache_path(self) -> None:
            if os.access(self.get_cache_path(), os.W_OK) or not os.path.isdir(self.get_cache_path()):
                raise OSError("numba takes care of this one")

    return Readable


class _Reading(caching.CompileResultCacheImpl):  # type: ignore[misc]
    # NUMBA_CACHE_DIR, and the folder beside the module
    _locator_classes = [_readable(each) for each in caching.CompileResultCacheImpl._locator_classes[:2]]  # noqa: RUF012
