"""The printed tables, shared with the tests of suppression."""

from __future__ import annotations

from tests.printed import printed as printed
