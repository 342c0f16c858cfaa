"""Impact: what the hooks put into sessions, which hints helped, what the answers to failures cost; numbers alone."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.constants import IMPACT_SESSIONS, RUN_DAYS
from graphmem.core.search.budget import tokens
from graphmem.doors.cli.app import run
from graphmem.kernel.machine import impact
from graphmem.kernel.machine.impact import SessionImpact
from tests.features.hooks.test_operations import ERROR, FAILED, bash, send
from tests.sample import START, Clock, open_memory, put_state


def known_in(folder: Path, clock: Clock | None = None) -> Memory:
    memory = open_memory(folder, clock=clock)
    memory.failures.add(ERROR, name="yaml", fix="pip install pyyaml")
    memory.patterns.add("a module is missing", "install it from the lock file", name="lock")
    memory.relations.link("lock", "solves", "yaml")
    return memory


def test_the_impact_of_the_hooks_is_what_they_answered(tmp_path: Path) -> None:
    with known_in(tmp_path) as memory:
        briefing = send(memory, "SessionStart").text
        answer = bash(memory, "pytest -q", fails=FAILED).text
        assert bash(memory, "make", fails="Exit code 2\nValueError: nothing is known of this").refs == []
        bash(memory, "pytest -q", fails=FAILED)  # the same failure again: nothing new is said
        bash(memory, "pytest -q")
        found = memory.impact()
        assert (found.sessions, found.under_way) == (1, 1)
        assert found.tokens.briefings == tokens(briefing)
        assert (found.failures, found.answered, found.answer_tokens) == (3, 1, tokens(answer))
        assert found.tokens.total >= found.tokens.briefings + found.answer_tokens
        assert (found.hints, found.used) == (1, 1)  # a failure and the pattern that solves it are one hint
        assert (found.helped, found.failed) == (0, 0)
        send(memory, "SessionEnd")
        after = memory.impact()
        assert (after.helped, after.under_way) == (1, 0)
        same = {"under_way": 1, "helped": 0}
        assert after.model_copy(update=same) == found


def test_each_session_counts_once_and_has_its_share(tmp_path: Path) -> None:
    with known_in(tmp_path) as memory:
        for session in ("a", "b"):
            send(memory, "SessionStart", session)
            bash(memory, "pytest -q", fails=FAILED, session="b")
        send(memory, "SessionEnd", "a")
        send(memory, "SessionEnd", "a")  # a client that is set up twice sends each event twice
        found = memory.impact()
        assert (found.sessions, found.under_way, found.answered) == (2, 1, 1)
        assert found.tokens.mean == found.tokens.total / 2
        assert found.tokens.most > found.tokens.median


def test_a_session_that_never_ended_stays_counted_when_it_is_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    with known_in(tmp_path, clock) as memory:
        send(memory, "SessionStart", "killed")
        before = memory.impact()
        clock.time += timedelta(days=RUN_DAYS + 1)
        send(memory, "SessionStart", "next")
        send(memory, "SessionEnd", "next")
        after = memory.impact()
        assert (after.sessions, after.under_way, after.since) == (2, 0, before.since)


def test_what_is_kept_of_sessions_is_numbers_and_bounded(tmp_path: Path) -> None:
    with known_in(tmp_path) as memory:
        bash(memory, "pytest -q", fails=FAILED)
        send(memory, "SessionEnd")
        state = memory.store.client.state
        row = (state.read("impact", "", json.loads) or [{}])[0]
        assert all(isinstance(value, int) for name, value in row.items() if name not in ("id", "at"))
        many = [SessionImpact(id=f"s{n}", at=START + timedelta(seconds=n)) for n in range(IMPACT_SESSIONS + 5)]
        with state.changing() as kept:
            impact.keep(kept, many)
        assert memory.impact().sessions == IMPACT_SESSIONS
        put_state(tmp_path, "impact", "", b"{bad")
        assert memory.impact().sessions == 0


def test_the_impact_is_told_in_ten_lines_or_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with known_in(tmp_path) as memory:
        assert run(["stats", "--impact"]) == 0
        assert capsys.readouterr().out.startswith("sessions          0\n")
        bash(memory, "pytest -q", fails=FAILED)
        bash(memory, "pytest -q")
    assert run(["stats", "--impact"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 10
    assert "hints used        1 (100%), credited by a command that passed" in lines
    assert "failures answered 1 (100%)" in lines
    assert run(["stats", "--impact", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answered"] == 1
    assert run(["stats", "--impact", "--objective", "a"]) == 2
    assert "a report of its own" in capsys.readouterr().err
