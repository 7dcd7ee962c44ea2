"""Files are written whole or not at all, together or not at all, by one process at a time."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskret.io import files
from diskret.io.files import all_or_none, whole_file
from diskret.model import private
from diskret.model.errors import CannotWrite


@pytest.fixture
def open_umask() -> Iterator[None]:
    """The umask of a careless machine: everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _written(folder: Path, names: list[str], text: str) -> None:
    with all_or_none() as meanwhile:
        for name in names:
            meanwhile(folder / name).write_text(text)


def stage_of_a_killed_run(folder: Path, contents: dict[str, str], *, moving: bool) -> Path:
    """The hidden folder that kill -9 leaves, before or while files were moved."""
    stage = folder / ".diskret.dead.part"
    (stage / files.FILES).mkdir(parents=True)
    (stage / private.LOCK).write_bytes(private._here())
    for name, text in contents.items():
        (stage / files.FILES / name).write_text(text)
    if moving:
        (stage / files.WHOLE).touch()
    return stage


@pytest.mark.usefixtures("open_umask")
def test_confidential_files_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    with whole_file(tmp_path / "work.parquet", private=True) as part:
        part.write_text("secret")
        assert mode(part.parent.parent) == 0o700
    with whole_file(tmp_path / "table.csv") as part:
        part.write_text("published")
    assert mode(tmp_path / "work.parquet") == 0o600
    assert mode(tmp_path / "table.csv") == 0o666


@pytest.mark.usefixtures("open_umask")
def test_a_confidential_file_stays_so_within_a_set(tmp_path: Path) -> None:
    with all_or_none() as meanwhile, whole_file(meanwhile(tmp_path / "work.parquet"), private=True) as part:
        part.write_text("secret")
    assert mode(tmp_path / "work.parquet") == 0o600


def test_two_runs_with_the_same_outputs_leave_the_files_of_one(tmp_path: Path) -> None:
    names = [f"{number}.csv" for number in range(12)]

    def run(whose: str) -> None:
        for _ in range(15):
            _written(tmp_path, names, whose)

    runs = [threading.Thread(target=run, args=(whose,)) for whose in ("one", "two", "three")]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert len({(tmp_path / name).read_text() for name in names}) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)


def test_what_a_killed_run_was_writing_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("old")
    stage = stage_of_a_killed_run(tmp_path, {"old.csv": "half", "new.csv": "half"}, moving=False)
    with whole_file(tmp_path / "other.csv") as part:
        part.write_text("other")
    assert not stage.exists()
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"old.csv": "old", "other.csv": "other"}


def test_a_run_killed_while_it_moved_its_files_is_finished_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("new")
    (tmp_path / "two.csv").write_text("old")
    stage = stage_of_a_killed_run(tmp_path, {"two.csv": "new", "three.csv": "new"}, moving=True)
    with whole_file(tmp_path / "other.csv") as part:
        part.write_text("other")
    assert not stage.exists()
    assert [(tmp_path / f"{n}.csv").read_text() for n in ("one", "two", "three")] == ["new", "new", "new"]


def test_what_was_written_after_a_killed_run_is_not_overwritten_by_it(tmp_path: Path) -> None:
    stage = stage_of_a_killed_run(tmp_path, {"two.csv": "new"}, moving=True)
    (tmp_path / "two.csv").write_text("by hand")
    later = (stage / files.WHOLE).stat().st_mtime_ns + 1_000_000_000
    os.utime(tmp_path / "two.csv", ns=(later, later))
    with whole_file(tmp_path / "other.csv") as part:
        part.write_text("other")
    assert (tmp_path / "two.csv").read_text() == "by hand"


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("error", [PermissionError(13, "no"), KeyboardInterrupt(), SystemExit(143)])
def test_if_one_file_cannot_take_its_place_the_others_go_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, links: bool
) -> None:
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("elsewhere")
    move = Path.replace

    def refused(self: Path, target: str | Path) -> Path:
        if self.name == "z.csv":
            raise error
        return move(self, target)

    def none(*_: object, **__: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(Path, "replace", refused)
    if not links:
        monkeypatch.setattr(os, "link", none)
    with pytest.raises((CannotWrite, KeyboardInterrupt, SystemExit)):
        _written(tmp_path, ["a.csv", "b.csv", "link.csv", "z.csv"], "new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "link.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"
    assert os.readlink(tmp_path / "link.csv") == "elsewhere"


def test_nobody_who_locks_the_folder_makes_a_run_wait(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # whoever may look into a folder may lock it
        writer = threading.Thread(target=_written, args=(tmp_path, ["a.csv"], "whole"), daemon=True)
        writer.start()
        writer.join(timeout=30)
        assert (tmp_path / "a.csv").read_text() == "whole"
    finally:
        os.close(handle)


@pytest.mark.parametrize("left", ["by a killed run", "open to others", "a link", "a pipe"])
def test_a_lock_file_that_is_there_already_stops_nobody(tmp_path: Path, left: str) -> None:
    lock = tmp_path / files.BUSY
    if left == "a link":
        (tmp_path / "elsewhere").touch()
        lock.symlink_to(tmp_path / "elsewhere")
    elif left == "a pipe":
        os.mkfifo(lock)
    else:
        lock.touch(mode=0o600 if left == "by a killed run" else 0o666)
    _written(tmp_path, ["a.csv", "b.csv"], "whole")
    assert (tmp_path / "b.csv").read_text() == "whole"
    assert lock.exists() == (left in ("a link", "a pipe")) or left == "open to others"
