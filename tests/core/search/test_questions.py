"""What a report says was asked: it counts for questions like that one, and for no others."""

from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Memory, NotFound, Usage
from graphmem.constants import ASKED_BYTES
from tests.sample import START, Clock, open_memory, put_state, state_of

IMPORT = "the import of the package fails after the upgrade"
DISK = "the nightly backup stops because the disk is full"


@pytest.fixture
def two(memory_with_model: Memory) -> Memory:
    """Two memories that a question about an upgrade finds, equally good but for what is reported."""
    memory_with_model.failures.add("the import of a package fails after an upgrade of pip", name="pip", dedup=False)
    memory_with_model.failures.add("the import of a package fails after an upgrade of uv", name="uv", dedup=False)
    memory_with_model.failures.add("the disk of the backup server is full every night", name="disk", dedup=False)
    return memory_with_model


def order(memory: Memory, text: str) -> list[str]:
    return [hit.record.name for hit in memory.query(text).results]


def test_what_helped_is_higher_for_a_question_like_the_one_it_helped_with(two: Memory) -> None:
    last = order(two, IMPORT)[1]
    two.feedback(last, helped=True, question=IMPORT)
    first = two.query(IMPORT).results[0]
    assert first.record.name == last
    assert first.factors.help_ratio > 1
    assert first.factors.moved["help_ratio"] == 1


def test_what_did_not_help_is_lower_for_a_question_like_that(two: Memory) -> None:
    first = order(two, IMPORT)[0]
    two.feedback(first, helped=False, question=IMPORT)
    assert order(two, IMPORT)[0] != first


def test_a_report_without_a_question_counts_a_little_for_every_question(two: Memory) -> None:
    last = order(two, IMPORT)[1]
    two.feedback(last, helped=True)
    without = {hit.record.name: hit.factors.help_ratio for hit in two.query(IMPORT).results}[last]
    two.feedback(last, helped=True, question=IMPORT)
    assert 1 < without < {hit.record.name: hit.factors.help_ratio for hit in two.query(IMPORT).results}[last]


def test_a_report_says_nothing_about_a_question_unlike_its_own(two: Memory) -> None:
    before = [hit.score for hit in two.query(IMPORT).results]
    for _ in range(50):
        two.feedback("uv", helped=True, question=DISK)
    assert [hit.score for hit in two.query(IMPORT).results] == pytest.approx(before, rel=1e-4)


@pytest.mark.long
def test_what_helped_is_found_for_a_like_question_that_shares_no_word_with_it(memory_with_model: Memory) -> None:
    for number in range(150):
        memory_with_model.failures.add(f"importing package number {number} fails", name=f"p{number}", dedup=False)
    memory_with_model.failures.add("wrong interpreter selected", name="interpreter", dedup=False)
    assert "interpreter" not in order(memory_with_model, IMPORT)
    memory_with_model.feedback("interpreter", helped=True, question=IMPORT)
    found = {hit.record.name: hit for hit in memory_with_model.query(IMPORT, limit=1000).results}
    assert found["interpreter"].factors.help_ratio > 1
    assert "failure/interpreter" in memory_with_model.context(IMPORT, budget=100_000).refs


def test_what_helped_with_the_very_same_question_is_known(memory_with_model: Memory) -> None:
    text = "why does the deploy say no"
    memory_with_model.failures.add("the token of the registry has expired", name="token")
    assert not memory_with_model.query(text).known
    memory_with_model.feedback("token", helped=True, asked=memory_with_model.query(text).asked)
    answer = memory_with_model.query(text)
    assert (answer.results[0].record.name, answer.known) == ("token", True)
    memory_with_model.feedback("token", helped=False, question=text)
    memory_with_model.feedback("token", helped=False, question=text)
    assert not memory_with_model.query(text).known


def test_the_answer_names_its_question_for_a_report(two: Memory) -> None:
    answer = two.query(IMPORT)
    assert answer.asked
    two.feedback("uv", helped=True, asked=answer.asked)
    (report,) = two.store.client.catalog.reports_with_texts().values()
    assert report.question == IMPORT
    assert two.query(IMPORT).asked == answer.asked


def test_a_context_names_its_objective_and_a_log_the_line_that_a_failure_was_found_by(two: Memory) -> None:
    block = two.context(IMPORT)
    two.feedback("uv", helped=True, asked=block.asked, task="ci/1")
    two.failures.add("boom: it broke", name="boom")
    two.failures.add("bang: it fell over", name="bang")
    log = two.match("boom: it broke\nbang: it fell over\n")
    two.feedback("bang", helped=True, asked=log.asked, task="ci/1")
    asked = {report.ref: report.question for report in two.store.client.catalog.reports_with_texts().values()}
    bang = two.get("bang").record.key_ref
    assert set(asked.values()) == {IMPORT, "bang: it fell over"}
    assert asked[bang] == "bang: it fell over"


def test_a_run_that_passes_reports_with_the_line_that_failed(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom: it broke", name="boom", fix="mend it")
    memory.ran(["make"], status=1, log="boom: it broke\n")
    (tmp_path / "fixed.py").touch()
    assert memory.ran(["make"], status=0).helped == ["failure/boom"]
    (report,) = memory.store.client.catalog.reports_with_texts().values()
    assert report.question == "boom: it broke"


def test_what_was_asked_is_kept_for_thirty_days(tmp_path: Path) -> None:
    clock = Clock(step=timedelta(0))
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("boom", name="boom")
        asked = memory.query("what broke").asked
        clock.time = START + timedelta(days=30)
        memory.feedback("boom", helped=True, asked=asked)
        clock.time = START + timedelta(days=31)
        with pytest.raises(NotFound, match="in the last 30 days"):
            memory.feedback("boom", helped=True, asked=asked)


def test_a_report_has_a_question_or_the_id_of_one(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    with pytest.raises(Usage, match="a question or the id of one"):
        memory.feedback("boom", helped=True, question="what broke", asked="0123456789ab")
    with pytest.raises(NotFound, match="'0123456789ab' was asked here"):
        memory.feedback("boom", helped=True, asked="0123456789ab")
    with pytest.raises(BadInput, match=r"feedback field 'question' has 2,049 bytes"):
        memory.feedback("boom", helped=True, question="x" * 2049)
    assert not memory.store.client.catalog.report_count()


def test_a_report_again_without_a_question_keeps_the_one_that_it_had(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    memory.feedback("boom", helped=True, task="ci/1", question="what broke")
    assert memory.feedback("boom", helped=True, task="ci/1").action == "unchanged"
    assert memory.feedback("boom", helped=False, task="ci/1").action == "updated"
    (report,) = memory.store.client.catalog.reports_with_texts().values()
    assert (report.helped, report.question) == (False, "what broke")


def test_a_batch_has_questions(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    asked = memory.query("what broke").asked
    rows = [{"ref": "boom", "helped": True, "asked": asked}, {"ref": "boom", "helped": False, "question": "another"}]
    assert memory.store.feedback_rows([orjson.dumps(row) for row in rows]).created == 2
    assert {report.question for report in memory.store.client.catalog.reports_with_texts().values()} == {
        "what broke",
        "another",
    }


def test_without_a_model_a_report_counts_for_the_same_question(memory: Memory) -> None:
    memory.failures.add("the import fails after the upgrade of pip", name="pip", dedup=False)
    memory.failures.add("the import fails after the upgrade of uv", name="uv", dedup=False)
    last = order(memory, "the import fails")[1]
    memory.feedback(last, helped=True, question="the import fails")
    assert order(memory, "the import fails")[0] == last


def test_a_question_that_no_report_asks_any_more_has_no_vector(two: Memory) -> None:
    two.feedback("uv", helped=True, task="ci/1", question=DISK)
    two.query(IMPORT)
    count = "SELECT count(*) FROM question"
    assert two.store.client.catalog.connection.execute(f"{count} WHERE vector IS NOT NULL").fetchone() == (1,)
    two.store.purge(["uv"], yes=True)
    assert two.store.client.catalog.connection.execute(count).fetchone() == (0,)


def test_a_purge_takes_its_texts_out_of_the_questions_and_notes_of_other_reports(
    memory: Memory, tmp_path: Path
) -> None:
    memory.failures.add("token xyzzy-1234567 was refused", name="secret")
    memory.failures.add("the login fails", name="login")
    memory.feedback("login", helped=True, question="log: token xyzzy-1234567 was refused, what now")
    memory.feedback("login", helped=False, wrong=True, note="the token xyzzy-1234567 was refused again")
    memory.store.purge(["secret"], yes=True)
    assert memory.get("login").record.disputed == 1  # type: ignore[union-attr]  # a failure
    assert memory.get("login").record.helped == 1  # type: ignore[union-attr]  # a failure
    held = [path for path in tmp_path.rglob("*") if path.is_file() and b"xyzzy-1234567" in path.read_bytes()]
    assert held == []


def test_no_more_than_some_mebibytes_of_questions_are_kept(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="boom")
        for number in range(16):
            put_state(tmp_path, "asked", f"old-{number}", b"x" * (ASKED_BYTES // 10))
        assert memory.query("boom again").asked is not None
        for _ in range(16):
            memory.query("boom once more")
            put_state(tmp_path, "event", "another", bytes(_))
        kept = state_of(tmp_path).read_all("asked", bytes)
        assert 0 < sum(map(len, kept.values())) <= ASKED_BYTES
        assert len(memory.query("boom again").results) == 1


def test_the_past_is_asked_without_a_trace(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="boom")
        folder = tmp_path / ".graphmem/state"
        folder.chmod(0o500)
        assert memory.query("boom").results
