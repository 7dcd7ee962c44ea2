"""A plan written down is the same plan."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from diskret.job.plan import plan_from, read_plan, run_plan
from diskret.job.plan_write import plan_as_text

EXAMPLE = Path(__file__).parents[2] / "examples" / "risk" / "survey.toml"
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@st.composite
def plans(draw: Any) -> dict[str, Any]:
    def shares() -> Any:
        units = draw(st.lists(st.integers(1, 50), min_size=2, max_size=4))
        total = sum(units)
        parts = [round(10_000 * u / total) for u in units]
        parts[-1] += 10_000 - sum(parts)
        texts = [f"{p / 10_000:.4f}" for p in parts]
        if draw(st.booleans()):
            return texts
        return dict(
            zip(draw(st.lists(NAMES, min_size=len(texts), max_size=len(texts), unique=True)), texts, strict=True)
        )

    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    found: dict[str, Any] = {"n": draw(st.lists(st.integers(1, 5000), min_size=1, max_size=3))}
    found["shares"] = {name: shares() for name in names}
    if draw(st.booleans()):
        found |= {"tolerated": 0.125, "ordered": names[:1], "freely": names[1:2], "keep": names[2:]}
    return found


@settings(max_examples=40, deadline=None)
@given(plans())
def test_reading_what_was_written_gives_the_same_plan(content: dict[str, Any]) -> None:
    plan = plan_from(content, "here")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plan.toml"
        path.write_text(plan_as_text(plan), encoding="utf-8")
        again = read_plan(path)
    assert again.distributions() == plan.distributions()
    for key in ("n", "ordered", "freely", "keep", "tolerated"):
        assert getattr(again, key) == getattr(plan, key)


def test_the_example_written_down_gives_the_same_estimates(tmp_path: Path) -> None:
    plan = read_plan(EXAMPLE)
    (tmp_path / "again.toml").write_text(plan_as_text(plan), encoding="utf-8")
    assert run_plan(read_plan(tmp_path / "again.toml")).summary() == run_plan(plan).summary()
