"""SAFE on a whole country's records: runs from file to file, kept and killed, and what they took (see census.py).

Figures stand in census.json, one entry per file, and census.md is written from them. CPU, wall and peak memory are of
everything: reading, counting, the search, the attack, writing; a run that was killed and went on adds up. Deviations
are those that `recount_files` finds in the two files on disk, which shares no code with the search, and they must be
those the search says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import diskret as dk
from benchmarks.__main__ import commit
from benchmarks.census import FOLDER, MUNICIPALITIES, attributes, name_of, persons
from benchmarks.recount import BORDERS, FileRecount, recount_files
from diskret.safe import checkpoint as checkpoints
from diskret.safe.anonymisation import Anonymisation

HERE = Path(__file__).parent
KEPT, SHOWN = HERE / "census.json", HERE / "census.md"
NOTED = 20.0
"""Seconds between two notes of what a run with a checkpoint has taken."""
Entry = dict[str, Any]


def run(given: argparse.Namespace, numbers: Sequence[int]) -> None:
    """What census.py was asked for."""
    if given.what == "show":
        _write(_known())
        return
    if given.what != "resume":
        print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|", flush=True)
    for number in numbers:
        if given.what == "resume":
            resume(number, given)
        elif given.what == "protect":
            protect(number, given)
        else:  # a process of its own, so that its peak of memory is its own
            found = _child("protect", number, given)
            print(found.stdout.splitlines()[-1], flush=True)


def _command(what: str, number: int, given: argparse.Namespace, folder: Path, *more: str) -> list[str]:
    """The same for another process."""
    options = ["--municipalities", str(given.municipalities), "--even", str(given.even)]
    options += ["--threads", str(given.threads)]
    options += ["--folder", str(folder), "--every", str(given.every), *more]
    return [sys.executable, "-m", "benchmarks.census", what, str(number), *options]


def _child(what: str, number: int, given: argparse.Namespace) -> subprocess.CompletedProcess[str]:
    command = _command(what, number, given, given.folder)
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=HERE.parent)


def _key(number: int, given: argparse.Namespace) -> str:
    """What a census and all files about it are called."""
    return f"{number}-{given.municipalities}" + (f"-even-{given.even:g}" if given.even else "")


def _source(number: int, given: argparse.Namespace) -> Path:
    """The file of persons; made by another process, whose memory is not counted."""
    if not (FOLDER / f"{name_of(number, given.municipalities, given.even)}.parquet").exists():
        _child("make", number, given)
    return persons(number, given.municipalities, given.even)


# --- one run ---------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Spent:
    """What a run has taken: in this process and, if it was killed and goes on, in those before."""

    file: Path | None
    """Where it is noted for the next process."""
    before: dict[str, float] = field(default_factory=lambda: {"cpu": 0.0, "wall": 0.0, "peak": 0.0, "processes": 0.0})
    begun: float = field(default_factory=time.monotonic)
    noted: float = -NOTED

    def now(self) -> dict[str, float]:
        """All of it so far."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        here = {"cpu": time.process_time(), "wall": time.monotonic() - self.begun, "processes": 1.0}
        return {name: self.before[name] + n for name, n in here.items()} | {"peak": max(peak, self.before["peak"])}

    def note(self) -> None:
        """Now and then, for the case that this process is killed."""
        if self.file is not None and time.monotonic() - self.noted >= NOTED:
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(self.now()), encoding="utf-8")
            part.replace(self.file)
            self.noted = time.monotonic()


def protect(number: int, given: argparse.Namespace) -> None:
    """SAFE on a generated census: from its file to an anonymous file, attacked, and counted again from that file."""
    from diskret.publication.microdata_files import write_anonymous_file

    source, folder = _source(number, given), given.folder
    target = folder / f"anonymous-{_key(number, given)}.parquet"
    kept = folder / f"{target.stem}.checkpoint" if given.checkpoint else None
    notes = kept.with_suffix(".spent") if kept is not None else None
    spent = Spent(file=notes)
    if notes is not None and notes.exists():
        spent.before = json.loads(notes.read_text(encoding="utf-8"))
    checkpoints.SAVE_EVERY = given.every
    load = os.getloadavg()[0]
    stages: list[tuple[str, float]] = []

    def say(what: str, done: int, of: int) -> None:
        spent.note()
        if not stages or stages[-1][0] != what:
            now = spent.now()
            stages.append((what, now["cpu"]))
            print(f"# {now['cpu']:8.0f} CPU s {now['wall']:8.0f} s  {what}", file=sys.stderr, flush=True)

    options = dk.AnonymiseOptions(threads=given.threads, progress=say, checkpoint=kept)
    done = dk.anonymise(source, attributes(given.municipalities), seed=1, options=options)
    say("attacking", 0, 1)
    found = dk.attack_anonymous(done)
    say("writing", 0, 1)
    write_anonymous_file(done, target)
    say("end", 1, 1)
    took = spent.now()
    if notes is not None:
        notes.unlink(missing_ok=True)
    again = recount_files(source, target, attributes(given.municipalities))
    _compare(again, done, number)
    entry: Entry = {
        "persons": number, "municipalities": given.municipalities, "even": given.even, "rows": len(done.original),
        "cells": done.control.size, "tables": len(done.control.tables),
        "deviations": list(again.largest), "attack": found.report().split(":")[0], "small counts": found.counts,
        "threads": given.threads, "CPU s": round(took["cpu"], 1), "wall s": round(took["wall"], 1),
        "peak GB": round(took["peak"], 2), "processes": int(took["processes"]), "load": round(load, 1),
        "checkpoint": given.checkpoint, "of which": _parts(stages), "sha256": _digest(target), "commit": commit(),
        "measured": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "by size": [[*at, n] for at, n in sorted(again.cells.items())],
    }  # fmt: skip
    _enter(_key(number, given), entry)
    print("| " + " | ".join(_row(entry)) + " |", flush=True)


def _compare(again: FileRecount, done: Anonymisation, number: int) -> None:
    """What the files on disk say and what the search said."""
    assert again.objects == (number, number), again.objects
    assert again.smallest >= done.k, again.smallest
    assert again.largest == tuple(done.quality.maxima.values()), (again.largest, done.quality.maxima)
    assert sum(again.cells.values()) == done.control.size
    assert again.rows == len(done.original)


def _parts(stages: Sequence[tuple[str, float]]) -> dict[str, float]:
    """CPU seconds by stage, of the last process."""
    parts: dict[str, float] = {}
    for (what, at), (_, until) in pairwise(stages):
        name = "ladder" if what.startswith("limits") else what
        parts[name] = round(parts.get(name, 0.0) + until - at, 1)
    return parts


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


# --- killed and started again ----------------------------------------------------------------------------------------


def resume(number: int, given: argparse.Namespace) -> None:
    """Kill a run with a checkpoint several times, let it end, and compare with one that nothing interrupted."""
    _source(number, given)
    name = f"anonymous-{_key(number, given)}.parquet"
    whole = given.folder / name
    if not whole.exists():
        print(f"# first without interruption, to {whole}", file=sys.stderr, flush=True)
        subprocess.run(_command("protect", number, given, given.folder), check=True, cwd=HERE.parent)
    apart = given.folder / "killed"
    apart.mkdir(exist_ok=True)
    kept = apart / f"{whole.stem}.checkpoint"
    for left in (apart / name, kept, kept.with_suffix(".spent")):
        left.unlink(missing_ok=True)
    command = _command("protect", number, given, apart, "--checkpoint")
    waits, killed = random.Random(number), 0
    while True:
        running = subprocess.Popen(command, cwd=HERE.parent, stdout=subprocess.DEVNULL)
        if killed < given.kills and _next_checkpoint(running, kept):
            time.sleep(waits.random() * given.every)
            if running.poll() is None:
                running.send_signal(signal.SIGKILL)
        if running.wait() == 0:
            break
        if running.returncode != -signal.SIGKILL:
            raise SystemExit(f"the run ended by itself with {running.returncode}")
        killed += 1
        print(f"# killed {killed} times", file=sys.stderr, flush=True)
    same = _digest(apart / name) == _digest(whole)
    print(f"{number:,} persons: killed {killed} times, {'the same bytes' if same else 'OTHER BYTES'}", flush=True)
    entries = _known()
    entry = entries[_key(number, given)]
    entry["killed"] = {"times": killed, "same": same, "commit": commit()}
    _write(entries)
    if not same:
        raise SystemExit(1)


def _next_checkpoint(running: subprocess.Popen[bytes], kept: Path) -> bool:
    """Wait until a run has written another checkpoint; false if it ended."""
    before = kept.stat().st_mtime_ns if kept.exists() else None
    while running.poll() is None:
        if kept.exists() and kept.stat().st_mtime_ns != before:
            return True
        time.sleep(0.2)
    return False


# --- what is written -------------------------------------------------------------------------------------------------

HEAD = (
    "persons", "combinations", "cells", "largest deviations in 1/2/3 dimensions", "means", "attack", "CPU s", "wall s",
    "peak GB", "CPU s by stage", "threads, load, processes", "killed", "commit, measured",
)  # fmt: skip


def _known() -> dict[str, Entry]:
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def _enter(name: str, entry: Entry) -> None:
    """One more finding; what is known of killed runs stays with the file it is about."""
    entries = _known()
    if entries.get(name, {}).get("sha256") == entry["sha256"] and "killed" in entries[name]:
        entry["killed"] = entries[name]["killed"]
    if entry["processes"] > 1 and name in entries:
        return  # a run that was killed on purpose: the other has the figures
    entries[name] = entry
    _write(entries)


def _write(entries: Mapping[str, Entry]) -> None:
    ordered = sorted(entries.items(), key=lambda each: (len(_kind(each[1])), _kind(each[1]), each[1]["persons"]))
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in ordered]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    SHOWN.write_text(text_of([entry for _, entry in ordered]), encoding="utf-8")


def _row(entry: Entry) -> list[str]:
    means = "/".join(f"{_mean(entry, d):.2f}" for d in range(1, len(entry["deviations"]) + 1))
    parts = ", ".join(f"{what} {seconds:.0f}" for what, seconds in entry["of which"].items())
    named = f"{entry['persons']:,}{_kind(entry)}"
    kills = entry.get("killed")
    said = "" if kills is None else f"{kills['times']} times, " + ("same bytes" if kills["same"] else "OTHER BYTES")
    return [
        named, f"{entry['rows']:,}", f"{entry['cells']:,}", "/".join(map(str, entry["deviations"])), means,
        f"{entry['attack']} ({entry['small counts']:,} small counts)", f"{entry['CPU s']:,.0f}",
        f"{entry['wall s']:,.0f}", f"{entry['peak GB']:.1f}", parts,
        f"{entry['threads']}, {entry['load']}, {entry['processes']}" + (", kept" if entry["checkpoint"] else ""),
        said, f"{entry['commit']}, {entry['measured']}",
    ]  # fmt: skip


def _kind(entry: Entry) -> str:
    """What makes a census differ from the usual one."""
    towns = "" if entry["municipalities"] == MUNICIPALITIES else f" in {entry['municipalities']:,} municipalities"
    even = entry.get("even", 0.0)
    return towns + (f", {even:.0%} of them with attributes that do not hang together" if even else "")


def _mean(entry: Entry, dimension: int) -> float:
    here = [(off, n) for d, _, off, n in entry["by size"] if d == dimension]
    return float(sum(off * n for off, n in here) / sum(n for _, n in here))


def text_of(entries: Sequence[Entry]) -> str:
    """The growth, and per file the deviations by size of the count."""
    said = [
        "# SAFE on a whole country",
        "Written by `python -m benchmarks.census protect N` (and `growth`, `resume`): a synthetic census of N persons "
        "made by hashing, 8 attributes with 11 key levels, all tables of one to three dimensions, k = 3, default "
        "search. From file to file: counting, search, attack, writing; CPU, wall and peak memory are of all of it. "
        "Load is that of the machine (2 cores) before the run, wall times depend on it. Deviations are counted again "
        "by DuckDB from the two files. Killed: with SIGKILL after a checkpoint, "
        "at a random moment, and started again; compared with the file of a run that nothing interrupted.",
        _table(HEAD, [_row(each) for each in entries]),
        "## Deviations by size of the count",
    ]
    for each in entries:
        said += [f"### {each['persons']:,} persons{_kind(each)}", _by_size(each)]
    return "\n\n".join(said) + "\n"


def _by_size(entry: Entry) -> str:
    """Cells, largest and mean deviation and shares within some, by dimension and class of the original count."""
    near = (0, 1, 2, 4, 8)
    rows = []
    for d in range(1, len(entry["deviations"]) + 1):
        for least, above in zip(BORDERS, (*BORDERS[1:], None), strict=True):
            here = [(off, n) for dim, size, off, n in entry["by size"] if (dim, size) == (d, least)]
            if not here:
                continue
            cells = sum(n for _, n in here)
            name = "0" if least == 0 else f"{least:,} and more" if above is None else f"{least:,} to {above - 1:,}"
            shares = [f"{sum(n for off, n in here if off <= most) / cells:.1%}" for most in near]
            mean = sum(off * n for off, n in here) / cells
            rows.append([str(d), name, f"{cells:,}", str(max(off for off, _ in here)), f"{mean:.2f}", *shares])
    head = ("dimensions", "original count", "cells", "largest", "mean", *(f"within {n}" for n in near))
    return _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])
