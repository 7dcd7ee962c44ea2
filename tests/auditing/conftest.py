"""The printed tables, shared with the tests of suppression."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).parents[1] / "suppression" / "conftest.py"
_spec = importlib.util.spec_from_file_location("printed_tables", _PATH)
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
sys.modules["printed_tables"] = _module
_spec.loader.exec_module(_module)
printed = _module.printed
