"""A number is what people write as one."""

from __future__ import annotations

import pytest

from diskret import tabulate
from diskret.model.errors import NotANumber


def test_months_written_with_an_underscore_are_no_number() -> None:
    with pytest.raises(NotANumber):
        tabulate({"region": ["N", "S"], "x": ["1_5", "6_9"]}, by={"region": None}, value="x")
