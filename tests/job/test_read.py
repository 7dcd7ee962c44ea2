"""A job file is refused with all its mistakes at once, each with its key, what is allowed, and what to do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from diskret.job.read import job_content, job_from, read_job
from diskret.job.table_job import TableJob
from diskret.job.table_sections import FlagColumn
from diskret.model.errors import BadJob, EmptyData, TooLarge, UnreadableFile

GOOD = """
[data]
microdata = "firms.csv"
[table]
by = ["region"]
value = "turnover"
"""


def refusal(folder: Path, text: str) -> str:
    (folder / "job.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadJob) as caught:
        read_job(folder / "job.toml")
    assert caught.value.code == "J1"
    assert caught.value.where == str(folder / "job.toml")
    assert "docs/jobs.md" in caught.value.hint
    return str(caught.value)


def line_of(message: str, key: str) -> str:
    """What the message says about one key; exactly one line does."""
    (found,) = [line.strip() for line in message.splitlines() if line.strip().startswith(f"{key}: ")]
    return found


# --- what is accepted ------------------------------------------------------------------------------------------------


def test_a_column_alone_means_a_list_of_one(folder: Path) -> None:
    text = GOOD + '[output]\npublish = "a.csv"\n'
    job = TableJob.model_validate(tomllib.loads(text))
    assert (job.table.value, job.output.publish) == (["turnover"], ["a.csv"])


def test_a_flag_is_a_column_or_a_column_with_the_codes_that_mean_yes() -> None:
    content = tomllib.loads(GOOD)
    content["table"] |= {"waiver": "agreed", "request": {"column": "asked", "codes": "1"}}
    table = TableJob.model_validate(content).table
    assert table.waiver == "agreed"
    assert table.request == FlagColumn(column="asked", codes=["1"])


def test_with_nothing_said_there_are_no_rules_and_no_outputs(folder: Path) -> None:
    (folder / "job.toml").write_text(GOOD, encoding="utf-8")
    job = read_job(folder / "job.toml")
    assert isinstance(job, TableJob)
    assert job.rules.min_count is None
    assert job.output.publish == []


def test_a_pattern_of_files_need_not_be_one_file(folder: Path) -> None:
    (folder / "job.toml").write_text(GOOD.replace("firms.csv", "firm*.csv"), encoding="utf-8")
    assert job_from(job_content(folder / "job.toml"), "here", folder, TableJob).data.microdata == "firm*.csv"


def test_a_job_file_in_latin_1_is_read(folder: Path) -> None:
    (folder / "job.toml").write_bytes((GOOD + '[output]\ntitle = "Umsätze"\n').encode("latin-1"))
    assert job_from(job_content(folder / "job.toml"), "here", folder, TableJob).output.title == "Umsätze"


# --- mistakes the types find -----------------------------------------------------------------------------------------


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    message = refusal(
        folder,
        """
        surplus = 1
        [data]
        microdata = "firms.csv"
        decimal = ";"
        [table]
        by = "region"
        positiv = true
        [rules]
        min_count = "three"
        p_percent = -1
        dominance = [[1]]
        small_margin = "yes please"
        counted_by = "owner"
        [[status]]
        cell = {region = "N"}
        [output]
        language = "fr"
        """,
    )
    assert "11 mistakes in the job file" in message
    assert line_of(message, "surplus").startswith("surplus: unknown key (allowed: kind, data, classifications, table")
    assert "should be '.' or ','" in line_of(message, "data.decimal")
    assert "should be a valid list (columns that classify" in line_of(message, "table.by")
    assert line_of(message, "table.positiv") == "table.positiv: unknown key (did you mean 'positive'?)"
    assert "should be a valid integer" in line_of(message, "rules.min_count")
    assert "should be greater than 0 (p of the p% rule" in line_of(message, "rules.p_percent")
    assert "missing (pairs [n, k]" in line_of(message, "rules.dominance.0.1")
    assert "bool" in line_of(message, "rules.small_margin")
    assert "'respondent' or 'holding'" in line_of(message, "rules.counted_by")
    assert "missing (open, primary" in line_of(message, "status.0.status")
    assert "'en' or 'de'" in line_of(message, "output.language")


@pytest.mark.parametrize(
    ("text", "key", "guess"),
    [
        (GOOD.replace("[data]", "[dat]"), "dat", "did you mean 'data'?"),
        (GOOD.replace("microdata", "mikrodata"), "data.mikrodata", "did you mean 'microdata'?"),
        (GOOD + "[rules]\nmincount = 3\n", "rules.mincount", "did you mean 'min_count'?"),
        (GOOD + "[rules]\nmin_count = {m = 3}\n", "rules.min_count.m", "allowed: n, zeros"),
        (GOOD + "[rules]\none_category = {sensitiv = []}\n", "rules.one_category.sensitiv", "mean 'sensitive'?"),
        (GOOD + "[classifications.region]\nprefix = [2]\n", "classifications.region.prefix", "mean 'prefixes'?"),
        (GOOD + '[[status]]\ncell = {}\nstate = "open"\n', "status.0.state", "did you mean 'status'?"),
        (GOOD + '[table.waiver]\ncolumn = "w"\ncode = "1"\n', "table.waiver.code", "did you mean 'codes'?"),
        (GOOD + "[output]\ncolour = 1\n", "output.colour", "allowed: publish, working"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_named_with_the_nearest_known_one(folder: Path, text: str, key: str, guess: str) -> None:
    line = line_of(refusal(folder, text), key)
    assert "unknown key" in line
    assert guess in line


def test_messages_know_nothing_of_how_the_job_is_checked(folder: Path) -> None:
    """No class names, no branches of unions, no words of the checking library."""
    wrong = {"waiver": "3", "min_count": "[]", "small_margin": "3", "p_percent": "{}", "pq": "1", "cell": "1"}
    message = refusal(
        folder,
        GOOD
        + f"waiver = {wrong['waiver']}\n[rules]\nmin_count = []\nsmall_margin = 3\np_percent = {{}}\npq = 1\n"
        + '[[status]]\ncell = 1\nstatus = "open"\n',
    )
    for word in ("MinCountRule", "LineRule", "FlagColumn", "pydantic", "Input", "dictionary", "function-", "instance"):
        assert word not in message


@pytest.mark.parametrize("given", ["", 'microdata = "firms.csv"\ncells = "firms.csv"\n'])
def test_exactly_one_kind_of_data_is_given(folder: Path, given: str) -> None:
    message = refusal(folder, f'[data]\n{given}[table]\nby = ["region"]\n')
    assert "exactly one of microdata, cells, table" in line_of(message, "data")


def test_a_classification_is_a_file_or_prefixes_not_both(folder: Path) -> None:
    message = refusal(folder, GOOD + '[classifications.region]\nhierarchy = "a.hrc"\nprefixes = [1]\n')
    assert "either hierarchy or prefixes" in line_of(message, "classifications.region")


# --- mistakes the types cannot find ----------------------------------------------------------------------------------

FURTHER = {
    "a file that is not there": (
        GOOD.replace("firms.csv", "firm.csv"), "data.microdata", "there is no file 'firm.csv'",
        "did you mean 'firms.csv'?",
    ),
    "a hierarchy that is not there": (
        GOOD + '[classifications.region]\nhierarchy = "firms.cvs"\n', "classifications.region.hierarchy",
        "there is no file 'firms.cvs'", "did you mean 'firms.csv'?",
    ),
    "metadata that are not there": (
        GOOD.replace("[table]", 'metadata = "firms.rda"\n[table]'), "data.metadata", "there is no file 'firms.rda'", "",
    ),
    "a path that is none": (
        GOOD.replace("firms.csv", "firms\\u0000.csv"), "data.microdata", "there is no file", "",
    ),
    "a name longer than names can be": (GOOD.replace("firms", "f" * 5000), "data.microdata", "there is no file", ""),
    "a classification that is not tabulated": (
        GOOD + "[classifications.size]\n", "classifications.size", "is not in table.by", "table.by lists 'region'",
    ),
    "no classification": (GOOD.replace('"region"', ""), "table.by", "missing", "columns that classify"),
    "cells without a value": (
        '[data]\ncells = "firms.csv"\n[table]\nby = ["region"]\n', "table.value", "missing", "the values of the cells",
    ),
    "a classification twice": (
        GOOD.replace('["region"]', '["region", "region"]'), "table.by", "names a column twice", "each once",
    ),
    "a value twice": (
        GOOD.replace('"turnover"', '["turnover", "turnover"]'), "table.value", "names a column twice", "each once",
    ),
    "counts with microdata": (GOOD + 'count = "n"\n', "table.count", "belongs to data.cells", ""),
    "weights with cells": (
        GOOD.replace("microdata", "cells") + 'weight = "w"\n', "table.weight", "belongs to data.microdata", "",
    ),
    "a value with a working file": (
        '[data]\ntable = "firms.csv"\n[table]\nvalue = "x"\n', "table.value", "the working file says it", "",
    ),
    "a hierarchy with a working file": (
        '[data]\ntable = "firms.csv"\n[classifications.region]\nprefixes = [1]\n', "classifications.region.prefixes",
        "the working file says it", "",
    ),
    "counts with metadata": (
        '[data]\ncells = "firms.csv"\nmetadata = "firms.csv"\n[table]\ncount = "n"\n', "table.count",
        "the metadata say it", "",
    ),
    "holdings nobody names": (
        GOOD + '[rules]\nmin_count = 3\ncounted_by = "holding"\n', "rules.counted_by", "'holding' needs table.holding",
        "joins records of one owner",
    ),
    "a comparison of contributions where nothing is contributed": (
        GOOD.replace('value = "turnover"', "") + "[rules]\np_percent = 10\n", "rules.p_percent", "needs table.value",
        "frequency table",
    ),
    "dominance of nobody": (
        GOOD + "[rules]\ndominance = [[0, 85]]\n", "rules.dominance", "is not a dominance rule", "n is 1 to 100",
    ),
    "dominance of a whole economy": (
        GOOD + "[rules]\ndominance = [[10000000, 85]]\n", "rules.dominance", "is not a dominance rule", "n is 1 to 100",
    ),
    "dominance over everything": (
        GOOD + "[rules]\ndominance = [[1, 100]]\n", "rules.dominance", "is not a dominance rule", "k under 100 percent",
    ),
    "a status nobody knows": (
        GOOD + '[[status]]\ncell = {}\nstatus = "hidden"\n', "status.0.status", "status 'hidden' is not known",
        "'primary'",
    ),
    "a published format nobody knows": (
        GOOD + '[output]\npublish = ["a.csv", "a.docx"]\n', "output.publish", "cannot write 'a.docx'", ".xlsx",
    ),
    "a working file that is none": (
        GOOD + '[output]\nworking = "a.csv"\n', "output.working", "cannot write 'a.csv'", "endings: .parquet",
    ),
    "a plot that is none": (
        GOOD + '[rules]\nmin_count = 3\n[output]\ncomparison = "a.csv"\n', "output.comparison", "cannot write 'a.csv'",
        ".svg",
    ),
    "a plot of no rules": (
        GOOD + '[output]\ncomparison = "a.svg"\n', "output.comparison", "no rules to compare", "[rules]",
    ),
    "an output over the data": (
        GOOD + '[output]\npublish = "out/../firms.csv"\n', "output.publish", "is data.microdata too", "its own name",
    ),
    "an output over the working file it is made from": (
        '[data]\ntable = "firms.csv"\n[output]\npublish = "firms.csv"\n', "output.publish", "is data.table too",
        "its own name",
    ),
    "an output over a hierarchy": (
        GOOD + '[classifications.region]\nhierarchy = "firms.csv"\n[output]\npublish = "firms.csv"\n', "output.publish",
        "is classifications.region.hierarchy too", "its own name",
    ),
    "two outputs of one name": (
        GOOD + '[output]\npublish = ["a.csv", "./a.csv"]\n', "output.publish", "is output.publish too", "its own name",
    ),
    "a confidential file where the public one goes": (
        GOOD + '[output]\npublish = "a.parquet"\nworking = "a.parquet"\n', "output.working", "is output.publish too",
        "its own name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FURTHER)
def test_refused_before_any_work_starts(folder: Path, mistake: str) -> None:
    text, key, what, hint = FURTHER[mistake]
    line = line_of(refusal(folder, text), key)
    assert what in line
    assert hint in line


def test_further_mistakes_are_told_at_once_too(folder: Path) -> None:
    text = GOOD.replace("firms", "frims").replace("[table]", 'metadata = "x.rda"\n[table]')
    assert "3 mistakes" in refusal(folder, text + '[output]\npublish = "a.doc"\n')


def test_a_working_file_may_be_marked_in_its_place(folder: Path) -> None:
    (folder / "w.parquet").touch()
    job = job_from({"data": {"table": "w.parquet"}, "output": {"working": "w.parquet"}}, "here", folder, TableJob)
    assert job.output.working == "w.parquet"


# --- files that are no job files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[data]\nmicrodata = firms.csv\n", "line 2"),
        ("[data\n", "line 1"),
        ('[data]\nmicrodata = "a"\nmicrodata = "b"\n', "line 3"),
        ("a = " + "9" * 5000, "too large"),
    ],
)
def test_broken_toml_is_refused_with_its_line(folder: Path, text: str, said: str) -> None:
    message = refusal(folder, text)
    assert "not valid TOML" in message
    assert said in message


def test_toml_nested_beyond_the_limit_is_refused(folder: Path) -> None:
    (folder / "job.toml").write_text("a = " + "[" * 5000, encoding="utf-8")
    with pytest.raises(TooLarge, match="the limit 'depth' is 100"):
        read_job(folder / "job.toml")


def test_a_job_file_that_is_missing_is_refused_with_the_files_that_are_there(folder: Path) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read_job(folder / "jib.toml")
    assert "firms.csv" in caught.value.hint


def test_an_empty_job_file_and_a_folder_are_refused(folder: Path) -> None:
    (folder / "job.toml").touch()
    with pytest.raises(EmptyData):
        read_job(folder / "job.toml")
    with pytest.raises(UnreadableFile):
        read_job(folder)


# --- paths as they are written on Windows -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["data\\firms.csv", "C:\\new\\turnover.csv", "C:\\data\\firms.csv", "C:\\Users\\x.csv"]
)
def test_a_path_with_backslashes_in_double_quotes_is_refused_with_what_to_write(folder: Path, path: str) -> None:
    for text in (GOOD.replace("firms.csv", path), f'{GOOD}[output]\npublish = "{path}"\n'):
        (folder / "job.toml").write_text(text, encoding="utf-8")
        with pytest.raises(BadJob, match=r"write / in paths, or put them in 'single quotes'"):
            read_job(folder / "job.toml")
