"""`diskret audit` and `diskret verify` as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[..., Any]
JOB = """
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = "turnover"
[rules]
min_count = 3
{more}
[output]
working = "w.parquet"
"""


def job(folder: Path, more: str = "", output: str = "") -> str:
    (folder / "job.toml").write_text(JOB.format(more=more) + output, encoding="utf-8")
    return "job.toml"


def test_primary_cells_alone_are_exposed_and_the_exit_code_says_so(typed: Call, folder: Path) -> None:
    assert typed("run", job(folder)).code == 0
    done = typed("audit", "w.parquet")
    assert done.code == 1
    assert "can be computed exactly" in done.out
    assert "follows from" in done.out


def test_values_are_shown_only_on_request(typed: Call, folder: Path) -> None:
    typed("run", job(folder))
    assert "7919.73" not in typed("audit", "w.parquet").said
    assert "7919.73" in typed("audit", "w.parquet", "--internal").out


def test_a_protected_table_is_certified_and_the_certificate_verified(typed: Call, folder: Path) -> None:
    done = typed("run", job(folder, "[suppression]\n", 'certificate = "c.json"\n'))
    audited = typed("audit", "w.parquet", "--certificate", "again.json")
    # the example is tiny: what cannot be protected is named, and no certificate hides it
    assert (done.code == 0) == (audited.code == 0)
    for name in ("c.json", "again.json"):
        assert json.loads((folder / name).read_text(encoding="utf-8"))["format"].startswith("diskret certificate")
        verified = typed("verify", "w.parquet", name)
        assert verified.code == done.code
        assert ("the certificate holds" in verified.out) == (done.code == 0)


def test_a_certificate_of_another_table_does_not_hold(typed: Call, folder: Path) -> None:
    typed("run", job(folder, "[suppression]\n", 'certificate = "c.json"\n'))
    firms = (folder / "firms.csv").read_text(encoding="utf-8")
    (folder / "firms.csv").write_text(firms.replace("10.5", "11.5"), encoding="utf-8")
    typed("run", job(folder, "[suppression]\n"))
    done = typed("verify", "w.parquet", "c.json")
    assert done.code == 1
    assert "another table" in done.out


def test_a_file_that_is_no_certificate_is_refused(typed: Call, folder: Path) -> None:
    typed("run", job(folder, "[suppression]\n"))
    assert typed("verify", "w.parquet", "firms.csv").code == 2
    assert typed("verify", "w.parquet", "missing.json").code == 2


def test_a_certificate_without_an_audit_is_refused_before_work(typed: Call, folder: Path) -> None:
    done = typed("run", job(folder, "", 'certificate = "c.json"\n'))
    assert done.code == 2
    assert "there is no audit to certify" in done.err
    assert not (folder / "w.parquet").exists()


def test_unknown_insiders_are_refused(typed: Call, folder: Path) -> None:
    typed("run", job(folder, "[suppression]\n"))
    done = typed("audit", "w.parquet", "--insiders", "everybody")
    assert done.code == 2
    assert "single" in done.err


def test_a_coalition_is_named_by_codes(typed: Call, folder: Path) -> None:
    asked = '[suppression]\ncoalitions = [[{ region = "N", size = "large" }, { region = "S", size = "large" }]]\n'
    assert typed("run", job(folder, asked)).code in (0, 1)
    done = typed("run", job(folder, '[suppression]\ncoalitions = [[{ land = "N" }]]\n'))
    assert done.code == 2
    assert "land" in done.err


def test_a_certificate_must_prove_what_a_file_demands(typed: Call, folder: Path) -> None:
    typed("run", job(folder, "[suppression]\n", 'certificate = "c.json"\n'))
    (folder / "office.toml").write_text('[promise]\nguard = "public"\nlevels = false\n', encoding="utf-8")
    (folder / "more.toml").write_text("[promise]\nmin_relative_range = 1000.0\n", encoding="utf-8")
    (folder / "more.json").write_text('{"min_relative_range": "1000"}', encoding="utf-8")
    own = typed("verify", "w.parquet", "c.json")
    assert "by the certificate itself" in own.out
    demanded = typed("verify", "w.parquet", "c.json", "--promise", "office.toml")
    assert "demanded: Nobody who reads the published table can" in demanded.out
    for strong in ("more.toml", "more.json"):
        done = typed("verify", "w.parquet", "c.json", "--promise", strong)
        assert done.code == 1
        assert "1000" not in done.out
    assert "1000" in typed("verify", "w.parquet", "c.json", "--promise", "more.toml", "--internal").out
    assert typed("verify", "w.parquet", "c.json", "--promise", "job.toml").code == own.code
    for wrong in (
        ["--promise", "c.json"],
        ["--promise", "nothing.toml"],
        ["--promise", "office.toml", "--guard", "single"],
    ):
        assert typed("verify", "w.parquet", "c.json", *wrong).code == 2


def test_the_table_of_a_certificate_is_written_in_plain_json(typed: Call, folder: Path) -> None:
    """The plain form from the working file, and the one the job writes beside the certificate, are the same."""
    typed("run", job(folder, "[suppression]\n", 'certificate = "c.json"\nplain = "t.json"\n'))
    assert typed("plain", "w.parquet", "again.json").code == 0
    assert (folder / "t.json").read_bytes() == (folder / "again.json").read_bytes()
    refused = typed("run", job(folder, "", 'plain = "t.json"\n'))
    assert "there is no audit to check" in refused.err
