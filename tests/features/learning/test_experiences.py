"""Experiences taken in and promoted, and what pruning archives."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import BadInput, Memory, Refused
from graphmem.core.evidence.score import importance
from graphmem.core.records.record_contract import Changed
from graphmem.kernel.model import Experience, Insight
from graphmem.kernel.model.experience import Outcome
from graphmem.kernel.model.reports import help_ratio
from tests.pace import examples
from tests.sample import START, Clock, contents, open_memory


def row(day: int, slug: str, lesson: str = "test first", **fields: Any) -> bytes:
    when = START + timedelta(days=day)
    return orjson.dumps({
        "kind": "experience", "name": f"{when:%Y-%m-%d}_{slug}", "task_type": "bug", "description": slug,
        "approach": "a", "outcome": "success", "lessons": [lesson], "created_at": when, **fields,
    })  # fmt: skip


def add(memory: Memory, description: str, **fields: Any) -> Experience:
    record = memory.experiences.add(
        "bug", description, approach="looked", outcome="success", lessons=["test first"], **fields
    ).record
    assert isinstance(record, Experience)
    return record


def test_an_experience_is_named_by_its_day_and_a_second_one_by_its_content(memory: Memory) -> None:
    assert add(memory, "Login loops").ref == "experience/2026-11-01_login-loops"
    other = memory.experiences.add("bug", "Login loops!", approach="another", outcome="failure", lessons=["look twice"])
    assert other.ref.startswith("experience/2026-11-01_login-loops-")
    assert len(other.ref) == len("experience/2026-11-01_login-loops-") + 6


def test_the_same_words_on_another_day_or_with_another_approach_are_another_experience(tmp_path: Path) -> None:
    clock = Clock()

    def learned(memory: Memory, approach: str, outcome: Outcome, lesson: str) -> Changed:
        return memory.experiences.add("bug", "Login loops", approach=approach, outcome=outcome, lessons=[lesson])

    with open_memory(tmp_path, clock=clock) as memory:
        first = learned(memory, "traced the cookie", "failure", "check the cookie first")
        assert learned(memory, "traced the cookie", "failure", "check the cookie first").action == "unchanged"
        other = learned(memory, "read the log", "success", "read the log before the code")
        assert other.ref.startswith(f"{first.ref}-")
        clock.back(timedelta(days=-7))
        later = learned(memory, "traced the cookie", "success", "check the cookie first")
        assert later.ref == "experience/2026-11-08_login-loops"
        assert [one.action for one in (first, other, later)] == ["created"] * 3
        assert memory.list("experience").total == 3
        kept = memory.get(first.ref).record
        assert isinstance(kept, Experience)
        assert (kept.outcome, kept.lessons) == ("failure", ("check the cookie first",))


def test_promotion_counts_each_day_of_a_bug_that_comes_back(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        add(memory, "Login loops")
        add(memory, "Logout hangs")
        assert memory.experiences.promote().promotions == []  # one day may be chance
        clock.back(timedelta(days=-7))
        add(memory, "Login loops")
        (found,) = memory.experiences.promote().promotions
        assert len(found.experiences) == 3


def test_while_there_are_few_each_has_low_confidence(memory: Memory) -> None:
    found = [add(memory, f"task {number}", confidence="high").confidence for number in range(12)]
    assert found == ["low"] * 10 + ["high"] * 2


def test_over_two_hundred_the_oldest_of_low_confidence_is_archived(memory: Memory) -> None:
    memory.add_rows([row(day, f"t{day}", confidence="high" if day < 5 else "medium" if day < 20 else "low")
                     for day in range(200)])  # fmt: skip
    add(memory, "one more", confidence="medium")
    assert memory.list("experience").total == 200
    assert [found.ref for found in memory.list("experience", archived=True).results] == ["experience/2026-11-21_t20"]


def test_the_reason_of_an_archived_experience_is_its_confidence(memory: Memory) -> None:
    memory.add_rows([row(day, f"t{day}", confidence="medium" if day == 9 else "high") for day in range(200)])
    add(memory, "one more", confidence="high")
    (gone,) = memory.list("experience", archived=True).results
    assert gone.record.archive_reason == "the oldest of medium confidence, over the bound of 200"


def test_a_new_experience_does_not_exceed_the_bound_where_it_is_the_one_of_least_confidence(memory: Memory) -> None:
    memory.add_rows([row(day, f"t{day}", confidence="medium" if day == 9 else "high") for day in range(200)])
    made = add(memory, "one more", confidence="low")
    assert (made.archived_at, memory.list("experience").total) == (None, 200)


def test_recall_offers_the_newest_of_the_type_or_tag(memory: Memory) -> None:
    assert memory.experiences.recall(task_type="bug").experiences == []
    memory.add_rows(
        [row(day, f"t{day}", f"lesson {day}", outcome="failure" if day == 7 else "success") for day in range(8)]
    )
    found = memory.experiences.recall(task_type="bug")
    assert [one.record.name[11:] for one in found.experiences] == ["t7", "t6", "t5", "t4", "t3"]
    assert [one.text for one in found.lessons] == ["lesson 6", "lesson 5", "lesson 4", "lesson 3", "lesson 7"]


COOKIE = "the session cookie needs SameSite none"


def test_promotion_shows_first_then_writes_and_again_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    memory.add_rows([row(0, "login", COOKIE), row(1, "logout", "session cookie needs SameSite None"), row(2, "other")])
    before = contents(tmp_path)
    shown = memory.experiences.promote()
    assert contents(tmp_path) == before
    assert [(one.action, one.category, one.experiences) for one in shown.promotions] == [
        ("created", "recurring_issue", ["experience/2026-11-01_login", "experience/2026-11-02_logout"])
    ]
    assert memory.experiences.promote(yes=True).promotions == shown.promotions
    assert memory.experiences.promote(yes=True).promotions == []
    rows = memory.cypher(
        "MATCH (i:Insight)-[:DERIVED_FROM]->(e:Experience) RETURN i.occurrences, i.confidence, e.name"
    ).rows
    assert sorted(rows) == [[2, "low", "2026-11-01_login"], [2, "low", "2026-11-02_logout"]]
    memory.add_rows([row(day, f"more{day}", COOKIE) for day in range(3, 9)])
    assert [
        (one.action, one.occurrences, one.confidence) for one in memory.experiences.promote(yes=True).promotions
    ] == [("updated", 8, "high")]
    memory.forget(shown.promotions[0].ref)
    assert memory.experiences.promote(yes=True).promotions == []


def test_an_insight_by_hand_needs_two_days_and_two_tasks(memory: Memory) -> None:
    memory.add_rows([row(0, "login"), row(0, "logout"), row(1, "login"), row(2, "other")])
    say = memory.insights.add
    for refs in (["experience/2026-11-01_login"], ["experience/2026-11-01_login", "experience/2026-11-01_logout"],
                 ["experience/2026-11-01_login", "experience/2026-11-02_login"]):  # fmt: skip
        with pytest.raises(Refused):
            say("codebase_insight", "src/api is generated", derived_from=refs)
    with pytest.raises(BadInput):
        say("codebase_insight", "src/api is generated", derived_from=["experience/2026-11-01_login", "experience/none"])
    made = say("codebase_insight", "src/api is generated", derived_from=["2026-11-01_login", "2026-11-03_other"]).record
    assert isinstance(made, Insight)
    assert made.derived_from == ("experience/2026-11-01_login", "experience/2026-11-03_other")


# --- pruning -------------------------------------------------------------------------------------------------------


def failures(memory: Memory, number: int) -> None:
    for n in range(number):
        memory.failures.add(f"error {n} in module {n}", name=f"f{n:02}", cost=float(n), dedup=False)


def test_pruning_archives_exactly_what_its_preview_said_the_least_important_first(memory: Memory) -> None:
    failures(memory, 6)
    memory.patterns.add("when", "do", name="p")
    memory.relations.link("p", "solves", "f00")
    preview = memory.store.prune(max_failures=4)
    assert [found.ref for found in preview.records] == ["failure/f00", "failure/f01"]
    assert memory.list("failure").total == 6
    done = memory.store.prune(max_failures=4, yes=True)
    assert [found.ref for found in done.records] == [found.ref for found in preview.records]
    assert memory.list("failure").total == 4
    assert memory.cypher("MATCH ()-[s:SOLVES]->() RETURN s.weight").rows == []
    assert memory.store.validate().ok
    assert memory.restore("f00").action == "restored"
    assert memory.cypher("MATCH ()-[s:SOLVES]->() RETURN s.weight").rows == [[1.5]]


def test_what_is_old_and_worth_next_to_nothing_goes(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        failures(memory, 3)
        clock.time += timedelta(days=120)
        memory.failures.add("a fresh one that helped nobody", name="fresh")
        for _ in range(20):
            memory.feedback("fresh", helped=False)
        memory.feedback("f01", helped=True)
        assert [found.ref for found in memory.store.prune(yes=True).records] == ["failure/f00", "failure/f02"]
        assert {found.ref for found in memory.list("failure").results} == {"failure/f01", "failure/fresh"}


def test_pruning_leaves_what_is_sure(memory: Memory) -> None:
    memory.add_rows([row(day, f"t{day}", confidence="high") for day in range(205)])
    assert memory.store.prune(yes=True).records == []


@settings(max_examples=examples(60))
@given(
    st.floats(0, 1e6),
    st.floats(-400, 4000),
    st.floats(0, 4000),
    st.integers(0, 10_000),
    st.integers(0, 999),
    st.integers(0, 999),
)
def test_importance_never_rises_with_age_also_of_the_future(
    value: float, age: float, more: float, accesses: int, helped: int, failed: int
) -> None:
    younger, older = (importance(value, START - timedelta(days=days), START, accesses, helped, failed)
                      for days in (age, age + more))  # fmt: skip
    assert 0 <= older <= younger
    assert 0 < help_ratio(helped, failed) < 1
