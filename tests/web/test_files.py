"""Files come in whole or not at all, and only into the workspace."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from diskret.io.files import whole_file
from diskret.model.errors import BadOption
from diskret.web import examples
from diskret.web.incoming import incoming_file
from diskret.web.workbench import Workbench


def below(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


def test_an_uploaded_file_is_there_to_the_byte(page: TestClient, bench: Workbench) -> None:
    content = os.urandom(300_000)
    answer = page.put("/api/files/Umsätze 2026.parquet", content=content)
    assert answer.status_code == 201
    assert (bench.workspace.root / "Umsätze 2026.parquet").read_bytes() == content


def test_a_name_in_brackets_means_its_own_file(page: TestClient, bench: Workbench) -> None:
    (bench.workspace.root / "firms1.csv").write_text("other,n\nx,1\n")
    assert page.put("/api/files/firms[1].csv", content=b"region,n\nx,1\ny,2\n").status_code == 201
    found = page.get("/api/recognise", params={"file": "firms[1].csv"})
    assert found.status_code == 200, found.text
    assert [c["name"] for c in found.json()["columns"]] == ["region", "n"]
    (bench.workspace.root / "firms[1].csv").unlink()
    assert page.get("/api/recognise", params={"file": "firms[1].csv"}).status_code == 422


OUTSIDE = [
    "../out.csv", "..%2fout.csv", "%2e%2e/out.csv", "/etc/out.csv", "%2fetc%2fout.csv", "a/b.csv", ".hidden.csv",
    "..%5cout.csv", "x%00.csv", "%0ax.csv", "*.csv",
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_is_written_outside_the_workspace(
    page: TestClient, bench: Workbench, tmp_path: Path, name: str
) -> None:
    before = below(tmp_path)
    answer = page.put(f"/api/files/{name}", content=b"a,b\n1,2\n")
    assert answer.status_code in (404, 405, 422)
    assert below(tmp_path) == before


@pytest.mark.parametrize("name", ["a%0Ab.csv", "a.csv%0A", "%0Aa.csv", "a%0Db.csv"])
def test_a_name_of_several_lines_is_refused_in_words(page: TestClient, name: str) -> None:
    answer = page.put(f"/api/files/{name}", content=b"a,b\n1,2\n")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "W2")


def test_what_is_handed_in_is_for_its_owner_alone(page: TestClient, bench: Workbench) -> None:
    page.put("/api/files/new.csv", content=b"a,b\n1,2\n")
    examples.take("diagnoses", bench.workspace)
    root = bench.workspace.root
    taken = [root / "new.csv", *(p for p in (root / "examples").rglob("*") if p.is_file())]
    assert len(taken) > 1
    assert {oct(p.stat().st_mode & 0o777) for p in taken} == {"0o600"}


def test_of_two_files_that_come_at_once_under_one_new_name_the_second_is_refused(bench: Workbench) -> None:
    place = bench.workspace.new("new.csv")
    one, two = (incoming_file(place, bench.placing, replace=False) for _ in range(2))
    for block, content in ((one, "one"), (two, "two")):
        block.__enter__().write_text(content, encoding="utf-8")
    one.__exit__(None, None, None)
    with pytest.raises(BadOption, match=r"there is a file 'new\.csv' already"):
        two.__exit__(None, None, None)
    assert place.read_text(encoding="utf-8") == "one"
    assert {p.name for p in bench.workspace.root.iterdir()} == {"firms.csv", "new.csv"}


ASKED: list[tuple[str, str, bytes]] = [
    ("PUT", "/api/files/new.csv", b"a,b\n1,2\n"),
    ("PUT", "/api/draft", b'{"rules": {"min_count": 3}}'),
    ("POST", "/api/savejob", b'{"name": "new"}'),
    ("POST", "/api/plan/save", b'{"name": "new", "plan": {"n": [100], "shares": {"a": [0.5, 0.5]}}}'),
]


@pytest.mark.parametrize(("method", "path", "content"), ASKED)
def test_whoever_waits_for_a_disk_keeps_nobody_else_waiting(
    chosen: TestClient, monkeypatch: pytest.MonkeyPatch, method: str, path: str, content: bytes
) -> None:
    """The thread that hears all requests writes no file."""
    hearing: list[bool] = []

    @contextmanager
    def slow(place: Path, *, private: bool = False) -> Iterator[Path]:
        hearing.append(_hears_requests())
        with whole_file(place, private=private) as part:
            yield part
        hearing.append(_hears_requests())

    monkeypatch.setattr("diskret.web.incoming.whole_file", slow)
    monkeypatch.setattr("diskret.web.run_files.whole_file", slow)
    assert chosen.request(method, path, content=content).status_code in (200, 201)
    assert hearing == [False, False]


def _hears_requests() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def test_only_known_kinds_are_taken(page: TestClient) -> None:
    answer = page.put("/api/files/page.html", content=b"<script>")
    assert answer.json()["error"]["what"] == "files ending in .html are not taken"


def test_a_file_is_not_replaced_unless_asked_for(page: TestClient, bench: Workbench) -> None:
    before = (bench.workspace.root / "firms.csv").read_bytes()
    assert page.put("/api/files/firms.csv", content=b"other").status_code == 422
    assert (bench.workspace.root / "firms.csv").read_bytes() == before
    assert page.put("/api/files/firms.csv?replace=yes", content=b"other").status_code == 201
    assert (bench.workspace.root / "firms.csv").read_bytes() == b"other"


def test_too_large_a_file_is_refused_and_leaves_nothing(page: TestClient, bench: Workbench) -> None:
    before = below(bench.workspace.root)
    answer = page.put("/api/files/large.csv", content=b"x" * 1_000_001)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "W3"
    assert below(bench.workspace.root) == before


def test_a_sender_that_hides_how_much_it_sends_is_stopped_too(page: TestClient, bench: Workbench) -> None:
    before = below(bench.workspace.root)

    def parts() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 100_000

    answer = page.put("/api/files/large.csv", content=parts())
    assert answer.status_code == 413
    assert below(bench.workspace.root) == before


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "link.csv", "folder/secret.csv", "*.csv", ""])
@pytest.mark.parametrize("kind", ["recognise", "draft", "job"])
def test_nothing_outside_is_read_by_path_link_or_pattern(
    page: TestClient, bench: Workbench, tmp_path: Path, name: str, kind: str
) -> None:
    (tmp_path / "secret.csv").write_text("region,x\nN,4711\n", encoding="utf-8")
    (bench.workspace.root / "link.csv").symlink_to(tmp_path / "secret.csv")
    (bench.workspace.root / "folder").symlink_to(tmp_path)
    job = {"data": {"microdata": name}, "table": {"by": ["region"], "value": ["x"]}}
    if kind == "recognise":
        answer = page.get("/api/recognise", params={"file": name})
    elif kind == "draft":
        answer = page.put("/api/draft", json=job)
    else:
        (bench.workspace.root / "evil.toml").write_text(
            f'[data]\nmicrodata = "{name}"\n[table]\nby = ["region"]\nvalue = "x"\n', encoding="utf-8"
        )
        answer = page.post("/api/jobs/evil.toml")
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] in ("W2", "J1")
    assert "4711" not in answer.text


OTHER_PATHS = [
    {"classifications": {"region": {"hierarchy": "../h.csv"}}},
    {"suppression": {"previous": "../w.parquet"}},
    {"attack": {"external": "../x.csv"}},
    {"microdata": {"steps": [{"do": "recode", "column": "a", "file": "../m.csv"}]}},
    {"anonymise": {"checkpoint": "../c"}},
    {"output": {"publish": ["fine.csv", "../t.csv"]}},
    {"output": {"working": "/tmp/w.parquet"}},
    {"data": {"engine": "spark://elsewhere:7077"}},
    {"cell_key": {"key": "k", "p_table": "../p.csv"}},
    {"cell_key": {"key": "k", "small_values": "/etc/passwd"}},
    {"compare": {"p_table": "../p.csv"}},
    {"compare": {"files": ["../comparison.html"]}},
    {"compare": {"files": "../comparison.html"}},
    {"tables": {"one": {"data": {"microdata": "../secret.csv"}}}},
    {"tables": {"one": {"data": {"microdata": "firms.csv", "engine": "spark://elsewhere:7077"}}}},
    {"tables": {"one": {"classifications": {"region": {"hierarchy": "../h.csv"}}}}},
    {"tables": {"one": {"previous": "../w.parquet"}}},
    {"tables": {"one": {"output": {"publish": ["../t.csv"]}}}},
]


@pytest.mark.parametrize("part", OTHER_PATHS, ids=lambda p: next(iter(p)))
def test_no_part_of_a_job_leads_outside(page: TestClient, part: dict[str, Any]) -> None:
    answer = page.put("/api/draft", json={"data": {"microdata": "firms.csv"}} | part)
    assert answer.json()["error"]["code"] in ("W2", "O1")


@pytest.mark.parametrize("way", ["/api/jobs/", "/api/records/jobs/"])
def test_a_job_file_does_not_tell_whether_a_file_outside_exists(
    page: TestClient, bench: Workbench, tmp_path: Path, way: str
) -> None:
    (tmp_path / "secret.csv").write_text("region,x\nN,4711\n", encoding="utf-8")
    told = []
    for name in ("secret.csv", "absent.csv"):
        text = f'[data]\nmicrodata = "../{name}"\n[table]\nby = ["region"]\n'
        (bench.workspace.root / "evil.toml").write_text(text, encoding="utf-8")
        answer = page.post(f"{way}evil.toml")
        assert answer.json()["error"]["code"] == "W2"
        told.append(answer.text.replace(name, ""))
    assert told[0] == told[1]


def test_links_out_of_the_workspace_are_not_listed(page: TestClient, bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    (bench.workspace.root / "link.csv").symlink_to(tmp_path / "secret.csv")
    (bench.workspace.root / "page.html").write_text("no data", encoding="utf-8")
    assert [f["name"] for f in page.get("/api/files").json()["files"]] == ["firms.csv"]


def test_columns_are_recognised_with_a_first_job(page: TestClient) -> None:
    found = page.get("/api/recognise", params={"file": "firms.csv", "language": "de"}).json()
    assert [(c["name"], c["role"]) for c in found["columns"]] == [
        ("firm", "identifier"), ("industry", "classification"), ("region", "classification"), ("turnover", "value"),
    ]  # fmt: skip
    assert found["content"]["table"] == {"by": ["industry", "region"], "value": ["turnover"]}
    assert "verschiedene" in found["columns"][1]["why"]


def test_what_is_not_sure_and_dates_are_asked_about(page: TestClient) -> None:
    rows = ["V1;sold;paid;x"] + [
        f"{i % 4};{i % 28 + 1:02d}.0{i % 9 + 1}.2025;0{i % 9 + 1}/0{i % 7 + 1}/2025;{i}.5" for i in range(90)
    ]
    page.put("/api/files/sales.csv", content="\n".join(rows).encode())
    found = page.get("/api/recognise", params={"file": "sales.csv"}).json()
    unclear, sold, paid, value = found["columns"]
    assert (unclear["sure"], unclear["alternatives"]) == (False, ["value"])
    assert (sold["period"], sold["periods"]) == ("month", {"year": 1, "quarter": 3, "month": 9})
    assert (paid["sure"], paid["asks_order"]) == (False, True)
    assert (value["sure"], found["values"]) == (True, ["x"])
    assert found["content"]["classifications"] == {"sold": {"period": "month"}}
    page.put("/api/draft", json=found["content"])
    axis = page.get("/api/tables/draft").json()["axes"][1]
    assert axis["codes"][0] == "2025-01"


def test_german_text_with_decimal_commas_is_read_as_it_was_written(page: TestClient) -> None:
    rows = ["Land;Umsatz"] + [f"{land};{n},5" for n in range(1, 9) for land in ("Köln", "Jülich", "Bonn")]
    page.put("/api/files/umsatz.csv", content="\n".join(rows).encode("latin-1"))
    found = page.get("/api/recognise", params={"file": "umsatz.csv"}).json()
    assert found["content"]["data"] == {"microdata": "umsatz.csv", "decimal": ",", "encoding": "latin-1"}
    page.put("/api/draft", json=found["content"])
    page.put("/api/view", json={"internal": True})
    (axis,) = page.get("/api/tables/draft").json()["axes"]
    assert axis["codes"] == ["Bonn", "Jülich", "Köln", "Total"]
    asked = {"response": "Umsatz", "rows": "Land", "r": "0,3", "c": "0"}
    assert page.get("/api/tables/draft/cells", params=asked).json()["value"] == [[40.0], [120.0]]


def test_a_file_that_cannot_be_read_says_why(page: TestClient) -> None:
    page.put("/api/files/broken.parquet", content=b"no parquet")
    said = page.get("/api/recognise", params={"file": "broken.parquet"}).json()["error"]
    assert said["code"] == "T8"
    assert said["hint"]


@pytest.mark.parametrize("name", ["turnover", "diagnoses"])
def test_an_example_is_copied_and_chosen(page: TestClient, bench: Workbench, name: str) -> None:
    content = page.post(f"/api/examples/{name}").json()["content"]
    assert "publish" not in content.get("output", {})
    assert (bench.workspace.root / "examples").is_dir()
    marks = page.get("/api/draft/marks").json()
    assert all(each["status"]["primary"] > 0 for each in marks["tables"].values())


def test_there_is_no_other_example(page: TestClient) -> None:
    assert page.post("/api/examples/..%2fetc").status_code in (404, 422)
    assert page.post("/api/examples/nothing").json()["error"]["code"] == "O1"


TABLE = "[table]\nby = ['region']\n"


@pytest.mark.parametrize(
    ("section", "hint"),
    [
        (TABLE + "[perturbation]\nseed = 1", "diskret run"),
        (TABLE + "[cell_key]\nkey = 'x'", "diskret run"),
        (TABLE + "[rules]\nmin_count = 3\n[compare]", "diskret run"),
        ("[anonymise]\nattributes = ['region']\n[output]\nmicrodata = 'a.csv'", "page of records"),
    ],
)
def test_a_job_of_which_the_page_would_show_a_part_is_not_opened(
    page: TestClient, bench: Workbench, section: str, hint: str
) -> None:
    text = f"[data]\nmicrodata = 'firms.csv'\n{section}\n"
    (bench.workspace.root / "more.toml").write_text(text, encoding="utf-8")
    before = page.get("/api/draft").json()
    answer = page.post("/api/jobs/more.toml")
    assert answer.status_code == 422
    assert hint in answer.json()["error"]["hint"]
    assert page.get("/api/draft").json() == before


def test_numbers_beyond_measure_are_refused_as_such(page: TestClient) -> None:
    page.put(
        "/api/draft", json={"data": {"microdata": "firms.csv"}, "table": {"by": ["region"], "value": ["turnover"]}}
    )
    window = {"response": "turnover", "rows": "region", "r": "99999999999999999999"}
    assert page.get("/api/tables/draft/cells", params=window).json()["error"]["code"] == "O1"
    plan = {"n": [10**400], "shares": {"sex": ["0.5", "0.5"]}}
    assert page.post("/api/plan", json=plan).json()["error"]["code"] == "O1"
    page.put("/api/draft", json={"data": "x"})
    assert page.get("/api/recognise", params={"file": "firms.csv"}).status_code == 200


def test_the_first_rows_of_a_file_are_shown_with_the_rows_of_names_we_propose(page: TestClient) -> None:
    text = "Umsatz der Betriebe\n\nLand;Umsatz\nKöln;1,5\nBonn;2,5\n"
    page.put("/api/files/umsatz.csv", content=text.encode("windows-1252"))
    page.put("/api/rows", json={"rows": True})
    found = page.get("/api/preview", params={"file": "umsatz.csv"}).json()
    assert found == {
        "sheets": [], "sheet": "", "header": [3], "sure": True, "range": None,
        "rows": [["Umsatz der Betriebe", ""], ["", ""], ["Land", "Umsatz"], ["Köln", "1,5"], ["Bonn", "2,5"]],
    }  # fmt: skip


def test_rows_of_a_file_are_sent_to_a_tab_that_asked_for_them_and_to_no_other(page: TestClient) -> None:
    def rows(tab: str) -> Any:
        asked = page.get("/api/preview", params={"file": "firms.csv"}, headers={"x-diskret-tab": tab}).json()
        assert asked["header"] == [1]
        return asked["rows"]

    assert rows("one") is None
    page.put("/api/rows", json={"rows": True}, headers={"x-diskret-tab": "one"})
    assert rows("one")[0] == ["firm", "industry", "region", "turnover"]
    assert rows("two") is None
    page.put("/api/rows", json={"rows": "yes"}, headers={"x-diskret-tab": "one"})
    assert rows("one") is None


def test_metadata_beside_data_of_tau_argus_say_what_the_columns_are(page: TestClient) -> None:
    rda = "Region 1 2 99\n <RECODEABLE>\nSize 3 1\n <RECODEABLE>\nVar1 4 5\n <NUMERIC>\nW 9 3\n <WEIGHT>\n"
    page.put("/api/files/firms.asc", content="".join(f"0{r}{s} 10.5 1 \n" for r in "123" for s in "AB").encode())
    page.put("/api/files/firms.RDA", content=rda.encode())
    for name in ("firms.asc", "firms.RDA"):
        found = page.get("/api/recognise", params={"file": name}).json()
        assert found["content"]["data"] == {"microdata": "firms.asc", "metadata": "firms.RDA"}
        assert found["content"]["table"] == {"by": ["Region", "Size"], "value": ["Var1"], "weight": "W"}
        assert {c["why"] for c in found["columns"]} == {"as the metadata say"}
    page.put("/api/files/alone.rda", content=rda.encode())
    refused = page.get("/api/recognise", params={"file": "alone.rda"})
    assert (refused.status_code, "beside" in refused.json()["error"]["what"]) == (422, True)


def test_how_a_file_is_read_can_be_tried_before_it_is_chosen(page: TestClient) -> None:
    text = "Umsatz der Betriebe;\n;\nLand;Umsatz\n" + "Köln;1,5\nBonn;2,5\n" * 4
    page.put("/api/files/umsatz.csv", content=text.encode())

    def read(**reading: Any) -> Any:
        asked = {"file": "umsatz.csv", "reading": json.dumps(reading)}
        return page.get("/api/recognise", params=asked).json()

    found = read(header=3, decimal=",")
    assert [each["name"] for each in found["columns"]] == ["Land", "Umsatz"]
    assert found["content"]["data"] == {"microdata": "umsatz.csv", "header": 3, "decimal": ","}
    assert page.get("/api/draft").json()["content"] == {}
    for wrong in ({"header": 0}, {"decimal": "x"}, {"cells": "firms.csv"}, {"header": {"a": 1}}):
        assert read(**wrong)["error"]["code"] == "O1"
    assert page.get("/api/recognise", params={"file": "umsatz.csv", "reading": "[1]"}).json()["error"]["code"] == "O1"
