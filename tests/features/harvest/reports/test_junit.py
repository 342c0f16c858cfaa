"""JUnit XML of several runners, and what a stranger may put there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs.output_problem import problems
from graphmem.features.harvest.reports.junit import CUT_OFF, legal
from graphmem.features.harvest.reports.report import NO_NAME, NO_REASON, Unreadable
from tests.features.harvest.reports.reports import SAMPLES, WRITTEN, outcomes, read, written

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE testsuite [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""


@pytest.mark.parametrize(
    ("name", "counts", "failing"),
    [  # as in expected.json of the shared data
        ("dorny/python-xunit-pytest.xml", {"passed": 6, "failed": 2, "skipped": 2},
         ["tests.test_lib.test_always_fail", "tests.test_lib.test_error"]),
        ("dorny/surefire.xml", {"failed": 1, "skipped": 1},
         ["org.apache.pulsar.AddMissingPatchVersionTest.testVersionStrings"]),
        ("enricomi/pytest_junit.fail.xml", {"passed": 3, "failed": 1, "skipped": 1},
         ["test.test_spark.SparkTests.test_rsh_events"]),
        ("enricomi/no-attributes.xml", {"passed": 1, "failed": 2, "skipped": 1}, []),
    ],
)  # fmt: skip
def test_samples_have_the_counts_that_were_made_by_hand(name: str, counts: dict[str, int], failing: list[str]) -> None:
    report = read(SAMPLES / name)
    assert report.counts == counts
    assert [check for check, outcome in outcomes(report).items() if outcome == "failed"] == failing


def test_what_went_wrong_is_what_the_runner_prints_on_a_terminal() -> None:
    """Else `match` would not find it in the next log."""
    printed = {one.key for one in problems((SAMPLES / "pytest/console.txt").read_text())}
    found = [one.problem for one in read(SAMPLES / "pytest/junit.xml").results.values() if one.outcome == "failed"]
    assert [one.text.splitlines()[-1] for one in found if one is not None] == [
        "ModuleNotFoundError: No module named 'nothing_here'",
        "ValueError: the cart is empty: call open() first",
        "assert 1 == 2",
        "RuntimeError: no database at localhost",
        "RuntimeError: no database at the end",
    ]
    assert {one.key for one in found if one is not None} == printed


def test_a_report_without_names_says_what_it_lacks() -> None:
    report = read(SAMPLES / "enricomi/no-attributes.xml")
    assert (report.results, report.unread) == ({}, {NO_NAME: 4})


def test_a_report_that_is_cut_off_says_so() -> None:
    report = read(SAMPLES / "enricomi/pytest_corrupt-xml.xml")
    assert (report.counts, report.unread[CUT_OFF]) == ({"passed": 1}, 1)


def test_of_a_report_that_is_cut_off_the_whole_tests_count(tmp_path: Path) -> None:
    whole = '<testsuite><testcase name="a"><failure>ValueError: no price</failure></testcase><testcase name="b"/>'
    for rest in ('<testcase name="c"><failure message="KeyError: ca', '<testcase name="c">', "", "&#2", "<"):
        report = written(tmp_path / "a.xml", whole + rest)
        assert (report.counts, report.unread) == ({"failed": 1, "passed": 1}, {CUT_OFF: 1})


@pytest.mark.parametrize("sign", ["\x1b[31m", "&#27;[31m", "&#x1B;[31m", "&#x01b;[31m", "\x00"[1:] + "\x08", "&#0008;"])
def test_characters_that_xml_has_not_are_left_out(tmp_path: Path, sign: str) -> None:
    text = f'<testsuite><testcase name="a"><failure message="{sign}it is red">{sign}ValueError: no price</failure>'
    report = written(tmp_path / "a.xml", f"{text}</testcase></testsuite>")
    [one] = report.results.values()
    assert one.problem is not None and one.problem.text == "ValueError: no price"
    assert report.unread == {}


PIECES = ("a", "&", "#", "x", "1", "b", ";", "[", "3", "m", "\x1b", "&#27;", "&lt;", "&#233;")


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 9))
def test_a_document_in_pieces_is_the_whole_one(parts: list[str], size: int) -> None:
    data = "".join(parts).encode()
    pieces, left = b"", b""
    for start in range(0, len(data), size):
        piece, left = legal(left + data[start : start + size])
        pieces += piece
    assert pieces + legal(left, is_end=True)[0] == legal(data, is_end=True)[0]


def test_suites_in_suites_have_the_time_and_the_commit_of_the_innermost(tmp_path: Path) -> None:
    report = written(
        tmp_path / "a.xml",
        '<testsuites commit="aaaaaaa1" timestamp="2026-11-01T10:00:00+02:00"><testsuite>'
        '<testsuite timestamp="2026-11-02T10:00:00"><properties><property name="GIT_COMMIT" value="BBBBBBB2"/>'
        '<property name="base.sha" value="ddddddd4"/><property name="docker.sha" value="sha256:1"/>'
        '<property name="os.version" value="ccccccc3"/></properties><testcase name="a"/></testsuite>'
        '<testcase name="b" timestamp="soon"/></testsuite></testsuites>',
    )
    assert {name: (one.run.at, one.run.commit) for name, one in report.results.items()} == {
        "a": ("2026-11-02T10:00:00.000Z", "bbbbbbb2"),
        "b": ("2026-11-01T08:00:00.000Z", "aaaaaaa1"),
    }


def test_a_report_without_times_was_when_its_file_was_written(tmp_path: Path) -> None:
    report = written(tmp_path / "a.xml", '<testsuite commit="no hash"><testcase name="a"/></testsuite>')
    assert [(one.run.at, one.run.commit) for one in report.results.values()] == [(WRITTEN, "")]


def test_a_test_that_surefire_ran_again(tmp_path: Path) -> None:
    report = written(
        tmp_path / "a.xml",
        '<testsuite><testcase name="good"><flakyFailure message="no port" type="E"><stackTrace>'
        "java.net.BindException: no port</stackTrace><system-out>Error: another thing</system-out>"
        '</flakyFailure><system-out>text</system-out></testcase><testcase name="bad"><failure message="x">'
        "java.net.BindException: no port</failure><rerunFailure>again</rerunFailure></testcase></testsuite>",
    )
    assert outcomes(report) == {"good": "flaky", "bad": "failed"}
    assert [one.problem.text for one in report.results.values() if one.problem] == [
        "java.net.BindException: no port", "java.net.BindException: no port",
    ]  # fmt: skip
    said = " ".join(one.output for one in report.results.values())
    assert "again" not in said and "another" not in said


def test_of_one_name_the_worst_is_kept(tmp_path: Path) -> None:
    """Parameters of a test may share its name; that one of them passes does not make it flaky."""
    passed, failed = '<testcase name="a"/>', '<testcase name="a"><error type="E"/></testcase>'
    report = written(tmp_path / "a.xml", f"<testsuite>{passed}{failed}{passed}</testsuite>")
    assert (outcomes(report), report.counts) == ({"a": "failed"}, {"passed": 2, "failed": 1})


def test_a_failure_that_says_nothing_is_counted(tmp_path: Path) -> None:
    report = written(tmp_path / "a.xml", '<testsuite><testcase name="a"><failure/></testcase></testsuite>')
    assert (report.unread, report.results["a"].problem) == ({NO_REASON: 1}, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LAUGHS, "declares a document type"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>', "declares a document type"),
        ("<testsuite>" * 200, "more than 100 elements in each other"),
        (f'<testsuite><testcase name="{"a" * 3 * 2**20}"/></testsuite>', "a tag has more than"),
        ("<testsuite><testcase></testsuite>", "is not XML: mismatched tag in line 1"),
        ("<testsuite>\0</testsuite>", "is not XML: not well-formed"),
        ("<testsuite>\n<testcase name='a'>", "is cut off: no element found in line 2"),
        ("<project/>", "its root is 'project'"),
        ("<", "is cut off: unclosed token in line 1"),
    ],
)  # fmt: skip
def test_what_is_no_report_or_made_to_harm_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        written(tmp_path / "a.xml", text)


def test_a_text_without_end_is_not_kept(tmp_path: Path) -> None:
    said = f"E   ValueError: it is open\n{'x' * 2**22}"
    report = written(
        tmp_path / "a.xml", f'<testsuite><testcase name="a"><failure>{said}</failure></testcase></testsuite>'
    )
    [one] = report.results.values()
    assert (one.problem is not None and one.problem.text, len(one.output)) == ("ValueError: it is open", 20_000)


@pytest.mark.parametrize(
    "encoding", ["utf-7", "shift_jis", "nonsense", "rot13", "idna", "punycode", "base64", "undefined"]
)
def test_a_report_in_an_encoding_that_is_not_read_is_reported(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><testsuite><testcase name="t"/></testsuite>'.encode())
    with pytest.raises(Unreadable, match="encoding"):
        read(path)
