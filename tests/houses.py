"""One house with firms whose turnovers look like nothing else, and the outputs that a project hands in."""

from __future__ import annotations

import random
from pathlib import Path

from diskret.job import check_file

PERCENT = 13.37
"""The secret parameter of the house."""
HOUSE = f"""
[house]
ledger = "ledger"
population = "firms"
period = "2024"
unit = "EUR"
[data]
microdata = "people.csv"
[table]
by = ["region", "sector", "employees"]
value = ["turnover"]
[classifications.region]
prefixes = [1]
[rules]
min_count = 3
p_percent = {PERCENT}
"""
OUTPUTS = (check_file.__doc__ or "").partition("\n\n")[2] + '\n[[output]]\nname = "oldest"\nkind = "extreme"\n'
"""The example of the module, and an extreme value."""


def house_in(folder: Path, few: int = 2) -> Path:
    """The file of outputs, beside the house and all they read; ``few`` firms stand behind one cell of their table."""
    chance = random.Random(4)
    rows = [
        f"{chance.choice(['N1', 'N2', 'S1', 'S2'])},{chance.choice('ABC')},{chance.randint(1, 60)},"
        f"{chance.randrange(10_000_000, 99_999_999)}"
        for _ in range(50)
    ]
    (folder / "people.csv").write_text("region,sector,employees,turnover\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "house.toml").write_text(HOUSE, encoding="utf-8")
    (folder / "outputs.toml").write_text(OUTPUTS, encoding="utf-8")
    cells = f"a,100,9,30,20\nb,90,{few},30,20\nc,80,9,20,20\n"
    (folder / "table1.csv").write_text(f"region,turnover,firms,largest,second\n{cells}", encoding="utf-8")
    return folder / "outputs.toml"
