"""Small batches of tau-ARGUS that nobody tuned to: records, metadata, hierarchies and commands by a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

TREE = {"N": [" 1", " 2"], "S": ["10", "11"], "W": ["20"]}
"""A hierarchy of a file: sums as they are, the codes of records as wide as their column."""
METADATA = """H 1 2 {miss_h}
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "h.hrc"
  <HIERLEADSTRING> "@"
  <TOTCODE> "Total"
D 3 3 999
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2 0 0 0
  <TOTCODE> "Total"
F 6 2 {miss_f}
  <RECODEABLE>
  <TOTCODE> "Total"
K 8 1
  <RECODEABLE>
  <TOTCODE> "All"
Owner 9 3
  <HOLDING>
Request 12 1
  <REQUEST> "1" "2"
Wgt 13 4
  <DECIMALS> 1
  <WEIGHT>
X 17 9
  <NUMERIC>
  <DECIMALS> {decimals}
Y 26 9
  <NUMERIC>
"""
CODES = {
    "H": [code for codes in TREE.values() for code in codes],
    "D": ["101", "102", "201", "202"],
    "F": [" a", " b", "cc"],
    "K": ["p", "q"],
}
MISSING = {"H": "99", "D": "999", "F": "99"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A batch with the files it reads, by their names."""

    name: str
    files: dict[str, str]
    by: tuple[str, ...]
    rules: str
    method: str
    cost: str
    kinds: dict[str, int] = field(default_factory=dict)
    """Types of the files it writes before it protects."""

    def write(self, folder: Path) -> Path:
        """The files in a folder; gives the batch."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="ascii")
        return folder / "job.arb"


def case(seed: int) -> Case:
    """The batch of a seed: every fifth is about a list of cells."""
    return _of_cells(Random(seed), seed) if seed % 5 == 4 else _of_records(Random(seed), seed)


def _of_records(random: Random, seed: int) -> Case:
    decimals = random.choice([0, 0, 2])
    files = {
        "d.asc": "".join(_records(random, decimals)),
        "d.rda": METADATA.format(
            miss_h=random.choice(["99", "99 98", ""]), miss_f=random.choice(["99", ""]), decimals=decimals
        ),
        "h.hrc": "".join(f"{sum_}\n" + "".join(f"@{code}\n" for code in codes) for sum_, codes in TREE.items()),
    }
    if "H 1 2 99" not in files["d.rda"] or "F 6 2 99" not in files["d.rda"]:
        files["d.asc"] = "".join(_records(random, decimals, missing=False))  # no code means missing: none has it
    by = tuple(random.sample("HDFK", random.choice([1, 2, 2, 2, 3])))
    rules = _rules(random)
    shadow = random.choice(["", "", '"Y"'])
    cost = random.choice(["", "", '"X"', '"Y"', "-1", "-2"])
    method = random.choices(["MOD(1,5,1,1,1)", "MOD(1,5,0,0,0)", "MOD(1,5,1,1,0)", "OPT(1,1)"], [3, 3, 3, 1])[0]
    method = "OPT(1,1)" if len(by) == 1 else method  # the modular method of the peer has two variables at least
    kinds, writes = _writes(random, "holding" if _holds(rules) else "")
    lines = [
        '<OPENMICRODATA> "d.asc"', '<OPENMETADATA> "d.rda"',
        f'<SPECIFYTABLE> {"".join(chr(34) + name + chr(34) for name in by)}|"X"|{shadow}|{cost}',
        f"<SAFETYRULE> {rules}", "<READMICRODATA>",
        *(_recodes(random, by, files) if not _holds(rules) else ()), *_apriori(random, by, files),
        *writes, f"<SUPPRESS> {method}", '<WRITETABLE> (1,5,,"after.csv")',
    ]  # fmt: skip
    files["job.arb"] = "\n".join(lines) + "\n"
    return Case(name=f"{seed}", files=files, by=by, rules=rules, method=method, cost=cost or '"X"', kinds=kinds)


def _records(random: Random, decimals: int, *, missing: bool = True) -> Iterator[str]:
    owners = sorted(random.randrange(100) for _ in range(random.randrange(40, 240)))
    for owner in owners:
        codes = {name: random.choice(among) for name, among in CODES.items()}
        codes |= {name: code for name, code in MISSING.items() if missing and random.random() < 0.02}
        value = 0.0 if random.random() < 0.05 else random.lognormvariate(3, 1.5)
        other = int(random.lognormvariate(2, 1))
        weight = random.choice([1.0, 1.0, 1.5, 2.0, 3.5])
        request = random.choices("012", [8, 1, 1])[0]
        yield f"{''.join(codes.values())}{owner:3}{request}{weight:4.1f}{value:9.{decimals}f}{other:9}\n"


def _rules(random: Random) -> str:
    """Rules in combinations; of respondents, of holdings, with margins and ranges."""
    found: list[str] = []
    kind = random.choice(["P", "NK", "FREQ", "P+FREQ", "NK+FREQ", "P+NK", "REQ", "P2", "holding"])
    if "P" in kind and kind != "P2":
        found.append(random.choice(["P(10,1)", "P(20,1)", "P(15,2)", "P(10,50,1)"]))
    if kind == "P2":
        found += ["P(10,1)", "P(25,2)"]
    if "NK" in kind:
        found.append(random.choice(["NK(1,75)", "NK(2,80)", "NK(3,85)"]))
    if "FREQ" in kind:
        found.append(random.choice(["FREQ(3,30)", "FREQ(4,20)", "FREQ(2,10)"]))
    if kind == "REQ":
        found += ["P(20,1)", "REQ(30,20,2,10)"]
    if kind == "holding":
        found += random.choice(
            [["FREQ(3,20)", "FREQ(2,20)"], ["P(10,1)"] * 2 + ["P(20,1)"] * 2, ["NK(2,75)"] * 2 + ["NK(1,70)"] * 2]
        )
    found += ["ZERO(10)"] if random.random() < 0.2 else []
    found += ["WGT(1)"] if random.random() < 0.25 else []
    found += ["MIS(0)"] if random.random() < 0.3 else []
    found += ["MAN(30)"] if random.random() < 0.3 else []
    return "|".join(found)


def _holds(rules: str) -> bool:
    return rules.count("FREQ") > 1 or rules.count("P(") > 2 or rules.count("NK") > 2


def _writes(random: Random, holding: str) -> tuple[dict[str, int], list[str]]:
    """What is written before the table is protected."""
    five = random.choice(["", "SO+", "SE+", *(["HI+"] if holding else [])])
    kinds, lines = {"before.csv": 5}, [f'<WRITETABLE> (1,5,{five},"before.csv")']
    options: dict[int, Sequence[str]] = {
        1: ["", "QU-"],
        2: ["", "AS+", "SE+", "QU-", "FL-"],
        3: ["", "AS+", "SE+", "FL+", "QU-"],
        4: ["", "HL+", "QU-"],
    }
    for kind in random.sample(sorted(options), 2):
        name = f"type{kind}.csv"
        kinds[name] = kind
        lines.append(f'<WRITETABLE> (1,{kind},{random.choice(options[kind])},"{name}")')
    return kinds, lines


def _recodes(random: Random, by: Sequence[str], files: dict[str, str]) -> Iterator[str]:
    """Codes that are merged, or a level that is closed."""
    name = random.choice(by)
    if random.random() > 0.25:
        return
    if name in "HD":
        yield f"<RECODE> 1,{name},1"
    elif name == "F":
        files["f.grc"] = "x: a, b\ny:cc\n"
        yield '<RECODE> 1,F,"f.grc"'


def _apriori(random: Random, by: Sequence[str], files: dict[str, str]) -> Iterator[str]:
    """Statuses, costs and levels that are known of some cells."""
    if random.random() > 0.25 or "f.grc" in files:
        return
    lines = []
    for _ in range(random.randrange(1, 5)):
        cell = [random.choice([*CODES[name][:2], "All" if name == "K" else "Total"]).strip() for name in by]
        said = random.choice(["u", "s", "p", "w;5", "pl;3;4"])
        lines.append(";".join([*cell, said]))
    lines.sort(key=lambda line: line.count(";") > len(by))  # the first says how many codes there are
    files["x.hst"] = "\n".join(lines) + "\n"
    yield '<APRIORI> "x.hst",1,";",1,0'


# --- lists of cells --------------------------------------------------------------------------------------------------

CELLS = """   <SEPARATOR> ";"
H {missing}
    <RECODEABLE>
    <TOTCODE> "Total"
    <HIERARCHICAL>
    <HIERCODELIST> "h.hrc"
    <HIERLEADSTRING> "@"
F
    <RECODEABLE>
    <TOTCODE> "T"
X
    <NUMERIC>
    <DECIMALS> {decimals}
N
    <FREQUENCY>
{further}"""
FURTHER = {
    "tops": "Top1\n    <MAXSCORE>\nTop2\n    <MAXSCORE>\n", "status": "S\n    <STATUS>\n",
    "cost": "C\n    <NUMERIC> <COSTVAR>\n",
}  # fmt: skip


def _of_cells(random: Random, seed: int) -> Case:
    """A batch about a list of cells, with all its sums."""
    decimals = random.choice([0, 1])
    with_status = random.random() < 0.5
    with_cost = random.random() < 0.3
    further = ("" if with_status else FURTHER["tops"]) + (FURTHER["status"] if with_status else "")
    files = {
        "d.tab": "".join(_cells(random, decimals, status=with_status, cost=with_cost)),
        "d.rda": CELLS.format(
            missing=random.choice(['"99"', ""]), decimals=decimals,
            further=further + (FURTHER["cost"] if with_cost else ""),
        ),
        "h.hrc": "".join(f"{sum_}\n" + "".join(f"@{code}\n" for code in codes) for sum_, codes in TREE.items()),
    }  # fmt: skip
    rules = "" if with_status else random.choice(["P(10,1)", "NK(1,80)", "P(20,1)|FREQ(3,20)", "FREQ(4,30)"])
    cost = '"C"' if with_cost else random.choice(["", "-1", "-2"])
    method = random.choice(["MOD(1,5,1,1,1)", "MOD(1,5,1,1,0)", "OPT(1,1)"])
    kinds, writes = _writes(random, "")
    lines = [
        '<OPENTABLEDATA> "d.tab"', '<OPENMETADATA> "d.rda"', f'<SPECIFYTABLE> "H""F"|"X"||{cost}',
        f"<SAFETYRULE> {rules}", f"<READTABLE> {random.choice(['0', '1', '1T', '2'])}",
        *writes, f"<SUPPRESS> {method}", '<WRITETABLE> (1,5,,"after.csv")',
    ]  # fmt: skip
    files["job.arb"] = "\n".join(lines) + "\n"
    return Case(name=f"{seed}", files=files, by=("H", "F"), rules=rules, method=method, cost=cost, kinds=kinds)


def _cells(random: Random, decimals: int, *, status: bool, cost: bool) -> Iterator[str]:
    """Every cell with its contributors; sums where they are."""
    firms = [
        (random.choice(CODES["H"]), random.choice(["a", "bb", "ccc"]), round(random.lognormvariate(3, 1.5), decimals))
        for _ in range(random.randrange(20, 90))
    ]
    for h in ["Total", *TREE, *CODES["H"]]:
        for f in ["T", "a", "bb", "ccc"]:
            below = TREE.get(h, CODES["H"] if h == "Total" else [h])
            found = sorted((x for a, b, x in firms if a in below and f in (b, "T")), reverse=True)
            if not found:
                continue
            tops = [f"{x:.{decimals}f}" for x in (*found, 0.0)[:2]]
            inner = h in CODES["H"] and f != "T"
            letter = "U" if inner and random.random() < 0.15 else "S"
            fields = [f'"{h}"', f, f"{sum(found):.{decimals}f}", str(len(found)), *([letter] if status else tops)]
            yield ";".join([*fields, *([f"{len(found) + 1}"] if cost else [])]) + "\n"
