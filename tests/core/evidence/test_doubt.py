"""What speaks against relying on a record, and what that costs it in the order."""

from datetime import date

import pytest

from graphmem.constants import DOUBT_FACTOR, NOTE_CHARACTERS, STALE_FACTOR
from graphmem.core.evidence.citation_contract import Cited, Freshness
from graphmem.core.evidence.doubt import conditions_met, doubt_factor, doubts, freshness, is_doubted
from graphmem.core.evidence.doubt_contract import Doubt, Sign
from graphmem.kernel.model import Entity, Failure, Feedback, Lesson
from graphmem.kernel.model.proof import Proof
from graphmem.kernel.model.reports import open_disputes
from graphmem.kernel.versions import Used

TODAY = date(2026, 11, 23)
ROW = {"kind": "failure", "name": "a", "trigger": "it loops", "created_at": "2026-11-01T00:00:00.000Z"}


def failure(**fields: object) -> Failure:
    found = Failure.model_validate({**ROW, **fields})
    return found.model_copy(update={name: fields[name] for name in ("disputed",) if name in fields})


def signs(record: Failure, cites: tuple[Cited, ...] = (), **used: str) -> list[tuple[Sign, str]]:
    versions = {name: Used(name, frozenset({version})) for name, version in used.items()} or None
    return [
        (doubt.sign, doubt.text)
        for doubt in doubts(record, cites, versions, TODAY, None, (record.helped, record.failed), "linux")
    ]


def test_a_record_that_nothing_speaks_against_has_no_mark() -> None:
    assert signs(failure(versions={"x": "1.0"}, check_after="2026-11-23", helped=1, failed=1), x="1.0") == []
    entity = Entity.model_validate({"kind": "entity", "type": "tool", "name": "make", "created_at": ROW["created_at"]})
    assert doubts(entity, (), None, TODAY, None, (0, 0), "linux") == []


@pytest.mark.parametrize("state", ["fresh", "moved", "changed", "gone", "unknown"])
def test_code_that_changed_or_is_gone_is_a_mark(state: Freshness) -> None:
    cite = Cited(cite="a.py:f#0123456789abcdef", path="a.py", symbol="f", state=state, moved_to=None)
    expected = [("code", f"cites a.py:f ({state})")] if state in ("changed", "gone") else []
    assert signs(failure(), (cite,)) == expected


def test_packages_that_differ_are_in_one_clause_each_for_major_and_for_other_versions() -> None:
    record = failure(versions={"far": "1.0", "further": ["1.0", "2.0"], "near": "1.0", "same": "1.0", "unknown": "1"})
    assert signs(record, far="2.0", further="4.0", near="1.1", same="1.0") == [
        ("versions", "seen with far 1.0, here 2.0; further 1.0 and 2.0, here 4.0"),
        ("other_version", "seen with near 1.0, here 1.1; unknown 1, not among the project's packages"),
    ]


def test_conditions_that_hold_are_a_clause_each() -> None:
    cites = [
        Cited(cite=f"{path}#0123456789abcdef", path=path, symbol=None, state=state)
        for path, state in (("a.py", "fresh"), ("b.py", "changed"))
    ]
    versions = {name: Used(name, frozenset({"1.0"})) for name in ("flask", "far")}
    record = failure(versions={"far": "2.0", "flask": "1.0", "unknown": "1"}, tags=["Linux", "windows"])
    assert conditions_met(record, cites, versions, "linux") == [
        "cites a.py (fresh)", "flask 1.0, as here", "for Linux, as here",
    ]  # fmt: skip
    assert conditions_met(failure(), (), None, "linux") == []
    assert conditions_met(record, (), None, "darwin") == conditions_met(record, (), None, "freebsd") == []


def test_what_did_not_run_here_only_claims_to_be_proven() -> None:
    given = {"command": "make", "before": "1" * 40, "after": "2" * 40, "at": ROW["created_at"]}
    record = failure(proven=given)
    what = "2026-11-01: fails at 111111111111, passes at 222222222222"
    ran = {Proof.model_validate(given).to_trust}
    assert conditions_met(record, (), None, "linux") == [f"claims to be proven {what}"]
    assert conditions_met(record, (), None, "linux", ran) == [f"proven {what}"]
    record = failure(proven={**given, "without": "a.py\nb.py"})
    what = "2026-11-01: fails at 222222222222 without the change of a.py, b.py, passes with it"
    assert conditions_met(record, (), None, "linux", ran) == [f"claims to be proven {what}"]
    for damaged in ({"command": "make"}, {**given, "at": 3}, {**given, "after": "HEAD"}, "yes"):
        assert conditions_met(failure(proven=damaged), (), None, "linux", ran) == []


def test_a_dispute_says_when_and_why_as_far_as_that_is_known() -> None:
    row = {"kind": "feedback", "ref": "failure/a", "helped": False, "wrong": True, "at": "2026-11-02T00:00:00Z"}
    report = Feedback.model_validate({**row, "id": "1", "note": "x " * NOTE_CHARACTERS})
    (doubt,) = doubts(failure(disputed=2), (), None, TODAY, report, (0, 0), "linux")
    assert doubt.text.startswith("disputed 2 times, last on 2026-11-02: x x") and len(doubt.text) < NOTE_CHARACTERS + 50
    assert signs(failure(disputed=1)) == [("disputed", "disputed")]


def test_a_lesson_has_no_versions_and_is_doubted_all_the_same() -> None:
    row = {"kind": "lesson", "name": "a", "description": "ask first", "created_at": ROW["created_at"], "failed": 2}
    found = doubts(Lesson.model_validate(row), (), {}, TODAY, None, (0, 2), "linux")
    assert [doubt.text for doubt in found] == ["did not help in 2 of 2 reports"]


def test_a_dispute_is_open_until_what_the_record_says_is_edited() -> None:
    disputes = ["2026-11-02T00:00:00.000Z", "2026-11-04T00:00:00.000Z"]
    assert open_disputes({}, disputes) == 2
    assert open_disputes({"fix": "2026-11-03T00:00:00.000Z"}, disputes) == 1
    assert open_disputes({"fix": "2026-11-05T00:00:00.000Z"}, disputes) == 0
    assert open_disputes({"match": "2026-11-05T00:00:00.000Z"}, disputes) == 2
    assert open_disputes({"versions": "2026-11-05T00:00:00.000Z"}, disputes) == 2


@pytest.mark.parametrize(("sources", "times"), [([], "1 time"), (["ci#1"], "1 time"), (["ci#1", "ci#2"], "2 times")])
def test_a_flaky_failure_says_how_often_it_was_seen(sources: list[str], times: str) -> None:
    found = signs(failure(flaky=True, sources=sources))
    assert found == [("flaky", f"flaky: failed without a cause in the code {times}")]


def test_that_a_failure_is_flaky_is_shown_and_does_not_speak_against_its_fix() -> None:
    mark = Doubt(sign="flaky", text="")
    assert (mark.is_mark, is_doubted([mark]), doubt_factor([mark])) == (True, False, 1.0)


def test_marks_cost_a_little_cited_code_costs_half_and_a_note_nothing() -> None:
    marks = [Doubt(sign=sign, text="") for sign in ("disputed", "date", "versions", "failed", "other_version")]
    assert [doubt_factor([mark]) for mark in marks] == [DOUBT_FACTOR] * 3 + [1.0] * 2
    assert doubt_factor(marks) == pytest.approx(DOUBT_FACTOR**3)
    assert (freshness(marks), freshness([Doubt(sign="code", text="")])) == (1.0, STALE_FACTOR)
    assert [is_doubted([mark]) for mark in marks] == [True] * 4 + [False]


def test_a_record_for_another_platform_has_a_mark() -> None:
    assert signs(failure(tags=["windows", "slow"])) == [("platform", "for Windows, here Linux")]
    assert signs(failure(tags=["Linux", "windows"])) == signs(failure(tags=["slow"])) == []
