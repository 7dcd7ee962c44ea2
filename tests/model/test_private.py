"""What is spilled to disk is for its owner alone and does not outlive the process, not even a killed one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskret.model import private
from diskret.model.engine import connect
from diskret.model.errors import CannotWrite
from diskret.model.locks import locked
from diskret.model.private import folder_in, private_folder, sweep


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's temporary folder, empty and ours, as a process sees it that has just begun."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    private._sweep_once.cache_clear()
    yield tmp_path
    private._sweep_once.cache_clear()


def test_nobody_else_can_read_what_the_engine_spills(temporary: Path) -> None:
    before = os.umask(0)
    try:
        connection = connect(threads=1, memory_limit="20MB")
        connection.execute("CREATE TABLE t AS SELECT range AS x, repeat('secret', 20) || range AS s FROM range(400000)")
        spilled = [file for file in temporary.rglob("*") if file.is_file() and file.stat().st_size > 1000]
        assert spilled, "nothing was spilled: the test shows nothing"
        (folder,) = temporary.iterdir()
        assert all(file.is_relative_to(folder) for file in spilled)
        assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_spilled_records_go_with_the_connection(temporary: Path) -> None:
    connection = connect()
    assert list(temporary.iterdir())
    connection.close()
    del connection
    assert not list(temporary.iterdir())


def test_two_folders_never_have_the_name_of_a_process(temporary: Path) -> None:
    one, two = private_folder(), private_folder()
    assert one.path != two.path
    assert str(os.getpid()) not in one.path.name.split("-")


def test_the_next_start_removes_what_a_killed_process_left(temporary: Path) -> None:
    dead = temporary / "diskret-dead"
    dead.mkdir(mode=0o700)
    (dead / private.LOCK).write_bytes(private._here())
    (dead / "spilled.tmp").write_text("secret")
    living = private_folder()
    assert not dead.exists()
    assert living.path.exists()


def test_a_folder_in_use_is_not_swept(temporary: Path) -> None:
    living = folder_in(temporary, "diskret-", "")
    (living.path / "spilled.tmp").write_text("secret")
    sweep(temporary, "diskret-", "")
    assert (living.path / "spilled.tmp").exists()


def test_what_is_not_ours_is_not_swept(temporary: Path) -> None:
    (temporary / "diskret-notes").mkdir()
    (temporary / "diskret-notes" / "mine.txt").write_text("kept: there is no lock")
    elsewhere = temporary / "other"
    elsewhere.mkdir()
    (elsewhere / private.LOCK).touch()
    (temporary / "diskret-link").symlink_to(elsewhere)
    away = temporary / "diskret-away"
    away.mkdir()
    (away / private.LOCK).write_bytes(b"another machine")
    sweep(temporary, "diskret-", "")
    assert (temporary / "diskret-notes" / "mine.txt").exists()
    assert (elsewhere / private.LOCK).exists()
    assert away.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_folders_of_other_users_are_not_swept(temporary: Path) -> None:
    theirs = temporary / "diskret-theirs"
    theirs.mkdir()
    (theirs / private.LOCK).touch()
    os.chown(theirs, 12345, 12345)
    sweep(temporary, "diskret-", "")
    assert theirs.exists()


def test_a_folder_taken_before_it_was_locked_is_made_again(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def taken_once(lock: int, *, wait: bool) -> bool | None:
        tries.append(lock)
        if len(tries) == 1:
            (folder,) = temporary.iterdir()
            (folder / private.LOCK).unlink()
            folder.rmdir()
        return locked(lock, wait=wait)

    monkeypatch.setattr("diskret.model.private.locked", taken_once)
    made = private_folder()
    assert made.path.exists()
    assert len(tries) == 2


def test_a_folder_whose_removal_was_killed_is_still_swept(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = private_folder()
    (made.path / "a").write_text("secret")
    (made.path / "deep").mkdir()
    (made.path / "deep" / "b").write_text("secret")
    removed: list[str] = []
    monkeypatch.setattr("diskret.model.private.shutil.rmtree", lambda path, **_: removed.append(Path(path).name))
    made.remove()  # as far as it came
    monkeypatch.undo()
    assert removed == ["deep", made.path.name]
    assert (made.path / private.LOCK).exists()
    sweep(made.path.parent, "diskret-", "")
    assert not made.path.exists()


def test_a_forked_child_leaves_the_folder_of_its_parent(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = private_folder()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    made.remove()
    assert made.path.exists()


def test_a_temporary_folder_that_cannot_be_used_is_refused_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(CannotWrite, match="TMPDIR"):
        private_folder()
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert private_folder().path.parent == tmp_path
