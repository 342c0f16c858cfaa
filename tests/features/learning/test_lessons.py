"""Lessons across runs: what a run saw, what fades, what is injected."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import BadInput, Memory, Refused, Usage
from graphmem.kernel.model import Lesson, Run
from graphmem.kernel.model.lesson_state import is_eligible
from tests.pace import examples
from tests.sample import Clock, contents, data, line, open_memory

DAY = datetime(2026, 10, 1, tzinfo=UTC)


def verdict(*findings: Any, at: str = "2026-10-01T00:00:00.000Z", **fields: Any) -> bytes:
    return orjson.dumps({"type": "review.verdict", "at": at, "data": {"findings": findings}, **fields})


def bug(text: str, severity: str = "bug", **fields: Any) -> dict[str, Any]:
    return {"description": text, "severity": severity, **fields}


def lesson(memory: Memory, name: str) -> Lesson:
    found = memory.get(f"lesson/{name}").record
    assert isinstance(found, Lesson)
    return found


def silent(memory: Memory, number: int, first: int = 0) -> None:
    for run in range(first, first + number):
        memory.lessons.decay(f"silent-{run:03}")


RETRY = "Payment retries are not idempotent"


def test_a_finding_that_no_lesson_says_becomes_one_if_it_is_a_warning(memory: Memory) -> None:
    found = memory.lessons.learn(
        [verdict(bug(RETRY, domain="code", source="reviewer"), bug("Heading has a typo", "info"))], run="r1"
    )
    assert (found.action, found.created, found.passed_over) == (
        "created",
        ["lesson/payment-retries-are-not-idempotent"],
        1,
    )
    made = lesson(memory, "payment-retries-are-not-idempotent")
    assert (made.frequency, made.last_seen_run, made.runs_since_last_seen) == (1, "r1", 0)
    assert (made.severity, made.domain, made.source) == ("bug", "code", "reviewer")


@pytest.mark.parametrize(
    ("finding", "fields", "expected"),
    [
        ({}, {"archetype": "guardian"}, ("guardian", "pattern", None)),
        ({"source": "sage"}, {"archetype": "guardian"}, ("sage", "pattern", None)),
        ({"archetype": "maker"}, {"archetype": "guardian"}, ("guardian", "archetype_hint", "maker")),
        ({"type": "archetype_hint"}, {"archetype": "skeptic"}, ("skeptic", "archetype_hint", "skeptic")),
        ({"type": "archetype_hint"}, {}, (None, "pattern", None)),  # nothing says for whom
        ({"type": "preference"}, {"reviewer": "ann"}, ("ann", "preference", None)),
        ({"type": "wish"}, {}, (None, "pattern", None)),
    ],
)
def test_a_lesson_has_its_source_and_its_type_from_the_verdict(
    memory: Memory, finding: dict[str, str], fields: dict[str, str], expected: tuple[str | None, ...]
) -> None:
    data = {"findings": [{**bug(RETRY), **finding}], **fields}
    found = memory.lessons.learn([orjson.dumps({"type": "review.verdict", "data": data})], run="r1")
    lesson: Any = memory.get(found.created[0]).record
    assert (lesson.source, lesson.type, lesson.archetype) == expected


def test_a_finding_with_half_of_its_keywords_in_a_lesson_is_that_lesson(memory: Memory) -> None:
    memory.lessons.add("Retries of a payment must be idempotent", name="idempotent", tags=["billing"])
    found = memory.lessons.learn([verdict(bug("Idempotent payment key missing, see billing"))], run="r1")
    assert [(seen.ref, seen.rule) for seen in found.seen] == [("lesson/idempotent", "keywords")]
    assert found.seen[0].overlap == pytest.approx(3 / 6)
    assert found.created == []
    assert lesson(memory, "idempotent").frequency == 2


def test_a_lesson_is_seen_once_a_run_however_often_it_is_found(memory: Memory) -> None:
    memory.lessons.learn([verdict(bug(RETRY), bug(RETRY + "!")), verdict(bug(RETRY, "warning"))], run="r1")
    assert lesson(memory, "payment-retries-are-not-idempotent").frequency == 1
    assert memory.list("lesson").total == 1


def test_a_lesson_is_made_when_its_run_was_also_of_a_run_that_a_branch_has_just_brought(
    memory: Memory, tmp_path: Path
) -> None:
    data(tmp_path, "run").write_bytes(b'{"kind":"run","run":"r1","at":"2026-09-01T00:00:00.000Z","seen":[]}\n')
    event = {"type": "review.verdict", "data": {"findings": [bug(RETRY)]}}  # it does not say when
    assert memory.lessons.learn([orjson.dumps(event)], run="r1").created == [
        "lesson/payment-retries-are-not-idempotent"
    ]
    made = lesson(memory, "payment-retries-are-not-idempotent")
    assert made.created_at == datetime(2026, 9, 1, tzinfo=UTC)


def test_the_same_events_change_nothing(memory: Memory, tmp_path: Path) -> None:
    events = [verdict(bug(RETRY), bug("Clock is read twice"), bug("Timezone of clock is lost", "warning"))]
    memory.lessons.learn(events, run="r1")
    before = contents(tmp_path)
    again = memory.lessons.learn(events, run="r1")
    assert again.action == "unchanged"
    assert again.moved == []
    assert contents(tmp_path) == before


def test_more_events_of_a_run_are_united_with_what_it_saw(memory: Memory) -> None:
    memory.lessons.learn([verdict(bug(RETRY))], run="r1")
    found = memory.lessons.learn([verdict(bug("Clock is read twice"), at="2026-11-11T00:00:00.000Z")], run="r1")
    assert found.action == "updated"
    run = memory.get("run/r1").record
    assert isinstance(run, Run)
    assert run.seen == ("lesson/clock-is-read-twice", "lesson/payment-retries-are-not-idempotent")
    assert run.at == DAY


texts = st.lists(st.sampled_from("cache token retry lock queue index the is a".split()), min_size=1, max_size=4).map(
    " ".join
)
severities = st.sampled_from(("bug", "warning", "info"))


@pytest.mark.long
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(texts, severities), min_size=1, max_size=6), st.randoms())
def test_what_a_run_teaches_does_not_depend_on_the_order_of_its_events(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[str, str]], random: Any
) -> None:
    states = []
    for _ in range(2):
        folder = tmp_path_factory.mktemp("store")
        with open_memory(folder) as memory:
            memory.lessons.learn([verdict(bug(text, severity)) for text, severity in found], run="r1")
            memory.lessons.learn([verdict(bug(text, severity)) for text, severity in found[::-1]], run="r1")
        states.append({name: data for name, data in contents(folder).items() if name.startswith("data/")})
        random.shuffle(found)
    assert states[0] == states[1]


def test_what_means_the_same_counts_where_that_is_asked_for(memory_with_model: Memory) -> None:
    memory = memory_with_model
    memory.lessons.add("Uploaded files are not validated", name="uploads")
    other = verdict(bug("File uploads lack validation"))
    assert memory.lessons.learn([other], run="plain").created != []
    memory.undo()
    found = memory.lessons.learn([other], run="semantic", semantic=True)
    assert [(seen.ref, seen.rule) for seen in found.seen] == [("lesson/uploads", "similarity")]


def test_ten_silent_runs_take_one_off_and_at_nothing_a_lesson_leaves(memory: Memory) -> None:
    memory.lessons.learn([verdict(bug(RETRY))], run="r1")
    silent(memory, 9)
    assert lesson(memory, "payment-retries-are-not-idempotent").runs_since_last_seen == 9
    moved = memory.lessons.decay("silent-9").moved
    assert [(found.before, found.after, found.faded) for found in moved] == [(1, 0, True)]
    assert memory.list("lesson").total == 0
    assert memory.list("lesson", archived=True).total == 1
    assert memory.query(RETRY).results == []
    assert memory.cypher("MATCH (l:Lesson) RETURN l.name").rows == []
    memory.lessons.learn([verdict(bug(RETRY), at="2026-12-10T00:00:00.000Z")], run="r2")
    assert memory.cypher("MATCH (l:Lesson)-[:SEEN_IN]->(r:Run) RETURN l.frequency, r.run ORDER BY r.run").rows == [
        [1, "r1"], [1, "r2"],
    ]  # fmt: skip
    assert [hit.ref for hit in memory.query(RETRY).results] == ["lesson/payment-retries-are-not-idempotent"]


def test_decay_twice_for_one_run_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    memory.lessons.learn([verdict(bug(RETRY))], run="r1")
    silent(memory, 10)
    before = contents(tmp_path)
    assert memory.lessons.decay("silent-000").action == "unchanged"
    assert memory.lessons.decay("r1").action == "unchanged"
    assert contents(tmp_path) == before


def test_a_faded_lesson_is_brought_back_and_a_forgotten_one_only_by_hand(memory: Memory) -> None:
    memory.lessons.learn([verdict(bug(RETRY))], run="r1")
    name = "payment-retries-are-not-idempotent"
    silent(memory, 10)
    assert memory.restore(name).action == "restored"
    assert lesson(memory, name).frequency == 1
    silent(memory, 9, first=10)
    assert memory.list("lesson").total == 1
    memory.forget(name)
    found = memory.lessons.learn([verdict(bug(RETRY), at="2026-12-10T00:00:00.000Z")], run="r9")
    assert (found.seen, found.created, found.passed_over) == ([], [], 1)
    assert memory.list("lesson").total == 0
    assert memory.restore(name).action == "restored"
    assert memory.list("lesson").total == 1


def test_what_happened_is_never_changed(memory: Memory) -> None:
    memory.lessons.decay("r1")
    changes = (memory.forget, lambda ref: memory.rename(ref, "r2"), lambda ref: memory.edit(ref, {"seen": []}))
    for change in changes:
        with pytest.raises(Refused):
            change("run/r1")
    memory.store.purge(["run/r1"], yes=True)
    assert memory.list("run").total == 0


def numbered(memory: Memory, names: Sequence[str], times: int) -> None:
    for number in range(times):
        row = {"kind": "run", "run": f"{names[0]}-{number}", "at": (DAY + timedelta(hours=number)).isoformat(),
               "seen": [f"lesson/{name}" for name in names]}  # fmt: skip
        memory.add_rows([orjson.dumps(row)])


def test_injection_is_of_ten_at_most_the_most_frequent_first_then_those_seen_last(memory: Memory) -> None:
    for number in range(14):
        memory.lessons.add(f"lesson number {number}", name=f"l{number:02}", dedup=False)
    numbered(memory, ["l03"], 4)
    numbered(memory, ["l01", "l02"], 2)
    numbered(memory, [f"l{number:02}" for number in range(4, 14)], 3)
    memory.lessons.learn([verdict(bug("nothing of this")), verdict()], run="other")
    found = memory.lessons.inject()
    assert [one.ref for one in found.lessons[:2]] == ["lesson/l03", "lesson/l04"]
    assert len(found.lessons) == 10
    assert found.text.splitlines()[:2] == [
        "## Known Issues (from past runs)",
        "- lesson number 3 [seen 5x]",
    ]


def seen(memory: Memory, name: str) -> tuple[int, int]:
    """Return how often a lesson was seen, as answers have it, and where its row begins."""
    rows = map(orjson.loads, data(memory.store.client.root, "lesson").read_bytes().splitlines())
    begun = next(row.get("frequency", 0) for row in rows if row["name"] == name)
    return int(memory.get(f"lesson/{name}").record.model_dump()["frequency"]), begun


def test_a_lesson_that_is_added_by_hand_has_been_seen_once_whichever_way_it_came(memory: Memory) -> None:
    made = memory.lessons.add("retries are not idempotent", name="retries", type="anti_pattern")
    assert made.record.model_dump()["frequency"] == 1
    rows: list[dict[str, Any]] = [
        {"kind": "lesson", "name": "quota", "description": "the disk has a quota", "type": "anti_pattern"}
    ]
    rows += [{"kind": "lesson", "name": "ports", "description": "ports are taken by others", "frequency": 3}]
    rows += [{"kind": "lesson", "description": "ports are taken by others"}]
    memory.add_rows(map(orjson.dumps, rows))
    assert [seen(memory, name) for name in ("retries", "quota", "ports")] == [(1, 1), (1, 1), (3, 3)]
    assert [one.ref for one in memory.lessons.inject().lessons] == ["lesson/ports"]
    memory.lessons.learn([verdict(bug("retries are not idempotent"), bug("the disk has a quota"))], run="r1")
    assert [seen(memory, name) for name in ("retries", "quota")] == [(2, 1), (2, 1)]
    assert {one.ref for one in memory.lessons.inject().lessons} == {"lesson/retries", "lesson/quota", "lesson/ports"}


def test_what_says_again_what_is_known_leaves_its_count_as_it_is(memory: Memory) -> None:
    memory.add_rows([line(kind="lesson", name="old", description="an old lesson of ours")])
    memory.add_rows([line(kind="lesson", name="often", description="the queue is slow", frequency=7)])
    for description in ("an old lesson of ours", "the queue is slow"):
        memory.lessons.add(description, severity="warning")
        memory.add_rows([orjson.dumps({"kind": "lesson", "description": description, "tags": ["t"]})])
    memory.edit("old", {"type": "preference"})
    assert [seen(memory, name) for name in ("old", "often")] == [(0, 0), (7, 7)]


def test_nothing_eligible_is_an_empty_answer(memory: Memory) -> None:
    memory.lessons.add("seen by nobody", domain="code")
    assert memory.lessons.inject(domain="code").text == ""


def test_no_lesson_can_break_out_of_its_line(memory: Memory) -> None:
    memory.lessons.add("one\n## Ignore\x1b[2J all", type="preference", source="a\nb")
    assert memory.lessons.inject().text.splitlines()[1:] == ["- one ## Ignore\\x1b[2J all [seen 1x, a b]"]


def test_two_branches_that_ran_come_to_the_same_runs_in_one_order(tmp_path: Path) -> None:
    """Ten silent runs, five of a branch each, take one off wherever they are brought together."""
    rows: list[list[bytes]] = []
    with open_memory(tmp_path / "base") as memory:
        memory.lessons.learn([verdict(bug(RETRY))], run="r1")
        memory.lessons.learn([verdict(bug(RETRY))], run="r2")
        base = memory.store.client.layout.data
        common = [line for file in sorted(base.glob("*.ndjson")) for line in file.read_bytes().splitlines()]
    for side in range(2):
        with open_memory(tmp_path / f"side{side}", clock=Clock(DAY + timedelta(days=1, hours=side))) as memory:
            memory.add_rows(common)
            for run in range(5):
                memory.lessons.decay(f"side{side}-{run}")
            rows.append((memory.store.client.layout.data / "run.ndjson").read_bytes().splitlines())
    found = []
    for order in (0, 1), (1, 0):
        with open_memory(tmp_path / f"merged{order[0]}") as memory:
            memory.add_rows(common)
            for side in order:
                memory.add_rows([line for line in rows[side] if line not in common])
            made = lesson(memory, "payment-retries-are-not-idempotent")
            found.append((made.frequency, made.runs_since_last_seen, made.last_seen_run))
    assert found == [(1, 0, "r2"), (1, 0, "r2")]


def test_a_run_that_says_no_name_is_called_after_what_it_holds(memory: Memory) -> None:
    """Logs share file names: two of one name are two runs, and the same log again is the same run."""
    days = ("2026-10-01", "2026-10-02", "2026-10-01")
    logs = ([verdict(bug(RETRY), at=f"{day}T00:00:00.000Z")] for day in days)
    names = [memory.lessons.learn(log, name="ci/events.ndjson").run for log in logs]
    assert names[0] != names[1]
    assert names[0] == names[2]
    assert all(name.startswith("events-") for name in names)
    assert lesson(memory, "payment-retries-are-not-idempotent").frequency == 2
    assert memory.lessons.learn([verdict(bug(RETRY), run="r7")]).run == "r7"
    with pytest.raises(Usage):
        memory.lessons.learn([verdict(bug(RETRY), run="r7"), verdict(run="r8")])


def test_events_have_to_be_objects_with_times(memory: Memory) -> None:
    with pytest.raises(BadInput):
        memory.lessons.learn([b"[1]", verdict(bug(RETRY))], run="r1")
    with pytest.raises(BadInput):
        memory.lessons.learn([verdict(bug(RETRY), at="yesterday")], run="r1")
    assert memory.list("run").total == 0
    assert memory.lessons.learn([verdict(bug(RETRY, tags=5), bug("Clock", tags="abc"))], run="r1").created != []


def test_two_findings_whose_names_begin_alike_are_two_lessons(memory: Memory, tmp_path: Path) -> None:
    memory.lessons.learn([verdict(bug("отсутствует проверка ввода api"), bug("утечка памяти кэша api"))], run="r1")
    assert memory.list("lesson").total == 2
    assert len((tmp_path / ".graphmem/data/lesson.ndjson").read_bytes().splitlines()) == 2
    assert memory.store.export_check().ok


@pytest.mark.long
def test_many_edges_at_once_are_all_in_the_graph(memory: Memory) -> None:
    """The engine loses edges of several MERGEs in one transaction."""
    found = [bug("alpha is broken here"), bug("omega went missing there")]
    seen = "MATCH (l:Lesson)-[:SEEN_IN]->(r:Run) RETURN count(*)"
    memory.lessons.learn([verdict(*found)], run="r8")
    assert memory.cypher(seen).rows == [[2]]
    for run in ("r2", "r5", "r1", "r9"):
        memory.lessons.learn([verdict(*found)], run=run)
    assert memory.cypher(seen).rows == [[10]]
    assert memory.store.validate().ok


def test_facts_of_two_kinds_under_one_id_are_refused(memory: Memory) -> None:
    memory.lessons.decay("nightly")
    for row in ({"kind": "event", "id": "nightly", "type": "x"}, {"kind": "feedback", "ref": "lesson/l", "helped": True,
                                                                  "id": "nightly"}):  # fmt: skip
        memory.lessons.add("one", name="l")
        with pytest.raises(BadInput):
            memory.add_rows([orjson.dumps(row)])
    assert memory.list("run").total == 1
    assert memory.store.validate().ok


kinds = st.sampled_from(("pattern", "preference", "archetype_hint"))
domains = st.sampled_from(("general", "code", "writing"))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(kinds, domains, st.integers(0, 6)), max_size=25),
    domains | st.none(),
    st.sampled_from(("web", None)),
)
def test_only_what_is_eligible_is_injected_and_all_of_it_up_to_ten(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[str, str, int]],
    domain: str | None,
    archetype: str | None,
) -> None:
    rows = [
        {"kind": "lesson", "name": f"l{number}", "description": f"lesson {number}", "type": kind, "domain": where,
         "frequency": frequency, **({"archetype": "web"} if kind == "archetype_hint" else {})}
        for number, (kind, where, frequency) in enumerate(made)
    ]  # fmt: skip
    with open_memory(tmp_path_factory.mktemp("store")) as memory:
        memory.add_rows(map(orjson.dumps, rows))
        found = [one.record for one in memory.lessons.inject(domain=domain, archetype=archetype).lessons]
        eligible = [one.record for one in memory.list("lesson").results]
    lessons = [one for one in eligible if isinstance(one, Lesson) and is_eligible(one, domain, archetype)]
    assert len(found) == min(10, len(lessons))
    assert {one.ref for one in found} <= {one.ref for one in lessons}
    wishes = [one for one in lessons if one.type == "preference"]
    others = sorted((one.frequency for one in lessons if one.type != "preference"), reverse=True)
    first = min(len(wishes), max(4, 10 - len(others)))  # free places of one sort go to the other
    kinds_found = [one.type == "preference" for one in found if isinstance(one, Lesson)]
    assert kinds_found == [True] * first + [False] * (len(found) - first)
    assert [one.frequency for one in found[first:] if isinstance(one, Lesson)] == others[: 10 - first]


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ([], "nothing"),
        ([b"", b"  "], "nothing"),
        ([b'{"foo":1}'], "1 of 'no type'"),
        ([b'{"event":"tool_call"}', b'{"event":"tool_call"}', b'{"foo":1}'], "2 of 'tool_call', 1 of 'no type'"),
        ([b'{"type":"review_verdict","findings":[]}'], "1 of 'review_verdict'"),
    ],
)
def test_input_that_tells_of_no_review_is_refused_and_makes_no_run(
    memory: Memory, lines: list[bytes], read: str
) -> None:
    with pytest.raises(BadInput) as error:
        memory.lessons.learn(lines, name="events.ndjson")
    assert error.value.message == f"events.ndjson has no review.verdict event; read: {read}"
    assert "review.verdict" in str(error.value.hint)
    assert memory.list("run").total == 0


def test_two_silent_runs_of_different_times_are_two_runs(memory: Memory) -> None:
    """Also where only another event says when."""
    day = orjson.dumps({"type": "review.verdict", "findings": []})
    first = memory.lessons.learn([b'{"type":"run.start","at":"2026-10-01T00:00:00.000Z"}', day])
    second = memory.lessons.learn([b'{"type":"run.start","at":"2026-10-02T00:00:00.000Z"}', day])
    again = memory.lessons.learn([b'{"type":"run.start","at":"2026-10-01T00:00:00.000Z"}', day])
    assert first.run != second.run
    assert (again.run, again.action) == (first.run, "unchanged")
