"""Every fix of a failure is shown, whatever a merge set aside; retrieval.md, section 6."""

import pytest

from graphmem import Memory
from graphmem.core.evidence.fixes import fixes
from graphmem.doors.cli.app import run
from graphmem.kernel.model import Failure
from graphmem.kernel.model.record import Alternate
from tests.sample import START, data, failure, write

ERROR = "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379"
RESTART, COMPOSE = "restart the laptop", "docker compose up -d redis"


@pytest.fixture
def twice(memory: Memory) -> Memory:
    """A failure that was added twice, with two fixes."""
    memory.failures.add(ERROR, name="redis", fix=RESTART)
    assert memory.failures.add(f"{ERROR} ", fix=COMPOSE).set_aside
    return memory


def test_every_answer_that_shows_a_failure_shows_its_other_fixes(
    twice: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    both = {RESTART, COMPOSE}
    assert {fix.text for fix in twice.query(ERROR).results[0].fixes} == both
    assert {fix.text for fix in twice.match([ERROR.encode()]).results[0].fixes} == both
    assert {fix.text for fix in twice.solutions("redis").fixes} == both
    assert {fix.text for fix in twice.get("redis").fixes} == both
    (entry,) = twice.context(ERROR).entries
    assert {fix.text for fix in entry.fixes} == both
    assert f"> fix: {RESTART}" in entry.text and f"> fix: {COMPOSE}" in entry.text
    ran = twice.ran(["pytest"], status=1, log=[ERROR.encode()])
    assert ran.log is not None and {fix.text for fix in ran.log.results[0].fixes} == both
    folder = str(twice.store.client.root)
    for command in (["query", ERROR], ["solutions", "redis"], ["get", "redis"]):
        assert run(["--dir", folder, *command]) == 0
        out = capsys.readouterr().out
        assert RESTART in out and COMPOSE in out, command


def test_what_helped_is_first_then_the_newest(twice: Memory) -> None:
    assert [fix.is_current for fix in twice.solutions("redis").fixes] == [True, False]
    twice.feedback("redis", helped=False)
    assert [fix.text for fix in twice.solutions("redis").fixes] == [RESTART, COMPOSE]
    twice.feedback("redis", helped=True)
    assert [fix.help_ratio for fix in twice.solutions("redis").fixes] == pytest.approx([2 / 3, 1 / 3])


def test_a_newer_fix_does_not_get_the_good_name_of_an_older_one(twice: Memory) -> None:
    """A report counts for the fix that was the first to try when it was made."""
    twice.feedback("redis", helped=True)
    twice.feedback("redis", helped=True)
    twice.failures.add(ERROR, fix="reinstall everything")
    shown = twice.query(ERROR).results[0].fixes
    assert [(fix.text, fix.is_current) for fix in shown] == [
        (COMPOSE, False), ("reinstall everything", True), (RESTART, False)
    ]  # fmt: skip
    assert [fix.help_ratio for fix in shown] == pytest.approx([3 / 4, 1 / 2, 1 / 2])
    record = twice.get("redis").record
    assert isinstance(record, Failure)
    assert (record.helped, [other.helped for other in record.alternates if other.text == COMPOSE]) == (2, [2])
    assert b'"helped":2' not in data(twice.store.client.root, "failure").read_bytes()


def test_a_fix_that_a_merge_set_aside_is_first_where_it_is_newer(memory: Memory) -> None:
    aside = [
        {"field": "fix", "text": COMPOSE, "at": "2026-12-01T00:00:00.000Z"},
        {"field": "fix", "text": "wait", "at": "2026-10-01T00:00:00.000Z"},
        {"field": "fix", "text": "pray"},
    ]
    write(data(memory.store.client.root, "failure"), failure("redis", ERROR, fix=RESTART, alternates=aside))
    assert [fix.text for fix in memory.get("redis").fixes] == [COMPOSE, RESTART, "wait", "pray"]


def test_a_failure_whose_fix_was_taken_away_still_has_the_others() -> None:
    made = Failure(
        kind="failure", name="a", created_at=START, trigger="t", alternates=(Alternate(field="fix", text="b"),)
    )
    assert [(fix.text, fix.at, fix.is_current) for fix in fixes(made)] == [("b", None, False)]


def test_the_same_fix_again_is_one(memory: Memory) -> None:
    memory.failures.add(ERROR, name="redis", fix=RESTART)
    memory.failures.add(ERROR, fix=RESTART)
    assert [fix.text for fix in memory.get("redis").fixes] == [RESTART]


def test_a_trigger_that_was_set_aside_is_found_like_the_current_one(memory: Memory) -> None:
    aside = [
        {"field": "trigger", "text": "OSError: the quokka left the building"},
        {"field": "match", "text": r"quokka \d+ left"},
    ]
    write(data(memory.store.client.root, "failure"), failure("a", "something else entirely", alternates=aside))
    (hit,) = memory.query("OSError: the quokka left the building").results
    assert hit.factors.exact == 1.0
    assert [hit.ref for hit in memory.query("why is there a quokka").results] == ["failure/a"], "by its words"
    for line, by in (
        ("E   OSError: the quokka left the building", "line"),
        ("the quokka 7 left", "match"),
        ("fatal error OSError: the quokka left the building.", "signature"),
    ):
        assert [(hit.ref, hit.by) for hit in memory.match([line.encode()]).results] == [("failure/a", by)], line
