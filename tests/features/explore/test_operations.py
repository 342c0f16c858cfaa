"""Exploration sessions: campaigns.md, section 3."""

import json
import subprocess
import sys
import tempfile
import threading
import time
from itertools import chain, combinations
from pathlib import Path
from typing import get_args

import pytest

from graphmem import BadInput, GraphmemError, Memory, NotFound, Refused, Usage
from graphmem.doors.cli.app import run
from graphmem.features.explore.operations import WaitResult, result_of
from graphmem.kernel.model.exploration import ExplorationMode
from tests.doors.service.project import Project
from tests.pace import patience
from tests.sample import contents, open_memory, put_state, state_of

MODES: tuple[ExplorationMode, ...] = get_args(ExplorationMode)
SETS = [set(found) for found in chain.from_iterable(combinations(MODES, size) for size in range(5))]


def session_with(memory: Memory, *modes: ExplorationMode) -> str:
    """Return a new session with a report of each of these modes."""
    session = memory.explorations.start().session
    for mode in modes:
        memory.explorations.report(session, mode, f"what was found of {mode}")
    return session


def sessions_of(folder: Path) -> dict[str, bytes]:
    """Return the sessions of a store as they are kept."""
    return state_of(folder).read_all("exploration", bytes)


# --- wait -------------------------------------------------------------------------------------------------------------


def expected(found: set[ExplorationMode], required: int) -> WaitResult:
    """Return what the specification says of a wait that ends with these reports."""
    if found == set(MODES):
        return "all_complete"
    if len(found) >= required or ("structure" in found and "delta" in found):
        return "quorum_met"
    return "quorum_failure" if found else "timeout"


@pytest.mark.parametrize("required", [1, 2, 3, 4])
def test_every_set_of_reports_ends_a_wait_as_specified(memory: Memory, required: int) -> None:
    for found in SETS:
        session = session_with(memory, *found)
        answer = memory.explorations.wait(session, required=required, timeout=0)
        assert answer.result == expected(found, required)
        assert answer.received == [mode for mode in MODES if mode in found]
        assert answer.missing == [mode for mode in MODES if mode not in found]
        goes_on = answer.result in ("timeout", "quorum_failure")
        assert result_of(found, required, is_over=False) == (None if goes_on else answer.result)


def test_three_of_four_are_enough_if_nothing_else_is_said(memory: Memory) -> None:
    assert memory.explorations.wait(session_with(memory, "structure", "pattern", "memory")).result == "quorum_met"
    assert memory.explorations.wait(session_with(memory, "structure", "delta")).result == "quorum_met"
    with_two = session_with(memory, "pattern", "delta")
    assert memory.explorations.wait(with_two, timeout=0.05, poll=0.01).result == "quorum_failure"


def test_a_wait_ends_as_soon_as_enough_is_reported(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, open_memory(tmp_path) as other:
        session = memory.explorations.start().session

        def report() -> None:
            time.sleep(0.2)
            for mode in ("structure", "delta"):
                other.explorations.report(session, mode, "found")

        reporter = threading.Thread(target=report)
        reporter.start()
        answer = memory.explorations.wait(session, timeout=min(60 * patience(), 3600), poll=0.05)
        reporter.join()
    assert (answer.result, answer.received) == ("quorum_met", ["structure", "delta"])
    assert answer.seconds < 3_600


def test_a_wait_takes_as_long_as_it_was_told_to(memory: Memory) -> None:
    session = memory.explorations.start().session
    began = time.monotonic()
    answer = memory.explorations.wait(session, timeout=0.3, poll=60)
    assert answer.result == "timeout"
    assert 0.3 <= answer.seconds <= time.monotonic() - began + 0.01


def test_a_report_after_the_wait_is_kept_and_marked_late(memory: Memory, tmp_path: Path) -> None:
    session = session_with(memory, "structure")
    assert memory.explorations.wait(session, timeout=0).result == "quorum_failure"
    assert memory.explorations.report(session, "delta", "came late").late
    kept = sessions_of(tmp_path)
    assert json.loads(kept[session])["reports"]["delta"]["late"] is True
    assert json.loads(kept[session])["reports"]["structure"]["late"] is False
    again = memory.explorations.wait(session, timeout=0)
    assert (again.result, again.received) == ("quorum_met", ["structure", "delta"])
    ref = memory.explorations.aggregate(session, "a login page").ref
    assert memory.get(ref).record.delta == "came late"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "given", [{"required": 0}, {"required": 5}, {"timeout": -1}, {"timeout": 3601}, {"poll": 0}, {"poll": 61}]
)
def test_a_wait_that_makes_no_sense_is_refused(memory: Memory, given: dict[str, int]) -> None:
    session = memory.explorations.start().session
    with pytest.raises(Usage, match="is out of bounds"):
        memory.explorations.wait(session, **given)


# --- report -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("session", ["", "nothing", "..", "../..", "a/b", "x" * 200, "\x00", "é"])
def test_a_session_that_is_unknown_is_refused_everywhere(memory: Memory, tmp_path: Path, session: str) -> None:
    memory.explorations.start()
    before = sessions_of(tmp_path)
    for ask in (
        lambda: memory.explorations.report(session, "delta", "x"),
        lambda: memory.explorations.wait(session, timeout=0),
        lambda: memory.explorations.aggregate(session, "x"),
    ):
        with pytest.raises(NotFound, match="no exploration session"):
            ask()
    assert sessions_of(tmp_path) == before


@pytest.mark.parametrize(
    ("mode", "text", "message"),
    [
        ("shape", "x", "unknown mode 'shape'"),
        ("delta", "", "the report on delta is empty"),
        ("delta", " \n\t", "the report on delta is empty"),
        ("delta", "é" * 8_193, "has 16,386 bytes"),
        ("delta", "half \ud800", "half a character"),
    ],
)
def test_a_report_that_does_not_check_out_is_refused(
    memory: Memory, tmp_path: Path, mode: ExplorationMode, text: str, message: str
) -> None:
    session = memory.explorations.start().session
    before = sessions_of(tmp_path)
    with pytest.raises(GraphmemError, match=message):
        memory.explorations.report(session, mode, text)
    assert sessions_of(tmp_path) == before


def test_a_report_of_the_greatest_size_is_kept_whatever_is_in_it(memory: Memory) -> None:
    session = memory.explorations.start().session
    for mode, text in (("structure", "\x01" * 16_384), ("delta", '"' * 16_384)):
        memory.explorations.report(session, mode, text)  # type: ignore[arg-type]
    ref = memory.explorations.aggregate(session, "an odd project").ref
    assert memory.get(ref).record.structure == "\x01" * 16_384  # type: ignore[union-attr]


def test_the_last_report_of_a_mode_counts(memory: Memory) -> None:
    session = session_with(memory, "structure")
    memory.explorations.report(session, "structure", "looked again")
    ref = memory.explorations.aggregate(session, "a login page").ref
    assert memory.get(ref).record.structure == "looked again"  # type: ignore[union-attr]


@pytest.mark.long
def test_reports_of_several_processes_are_all_kept(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        session = memory.explorations.start().session
        code = (
            "import sys; from graphmem import Memory; memory = Memory('.')\n"
            "for n in range(5): memory.explorations.report(sys.argv[1], sys.argv[2], f'{sys.argv[2]} {n}')"
        )
        writers = [
            subprocess.Popen([sys.executable, "-c", code, session, mode], cwd=tmp_path) for mode in MODES for _ in "ab"
        ]
        answer = memory.explorations.wait(session, required=4, timeout=min(60 * patience(), 3600), poll=0.02)
        assert [one.wait() for one in writers] == [0] * 8
        assert answer.received[:1] == ["structure"]
        assert memory.explorations.wait(session, timeout=0).result == "all_complete"
        record = memory.get(memory.explorations.aggregate(session, "a login page").ref).record
        assert [getattr(record, mode) for mode in MODES] == [f"{mode} 4" for mode in MODES]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"at": 1}', b"\x00" * 100])
def test_a_damaged_session_counts_as_missing(memory: Memory, tmp_path: Path, damage: bytes) -> None:
    session = session_with(memory, "structure", "delta")
    put_state(tmp_path, "exploration", session, damage)
    with pytest.raises(NotFound, match="no exploration session"):
        memory.explorations.wait(session, timeout=0)


# --- aggregate --------------------------------------------------------------------------------------------------------


def test_what_was_found_becomes_one_record_that_everything_finds(memory: Memory, tmp_path: Path) -> None:
    session = memory.explorations.start().session
    memory.explorations.report(session, "structure", "the login lives in auth/views.py")
    memory.explorations.report(session, "delta", "add a route for the identity provider")
    made = memory.explorations.aggregate(session, "add single sign-on")
    assert (made.ref, made.action) == ("exploration/add-single-sign-on", "created")
    (hit,) = memory.query("single sign-on", kinds=["exploration"]).results
    assert hit.ref == made.ref
    assert memory.query("identity provider route").results[0].ref == made.ref
    record = memory.get(made.ref).record
    assert (record.structure, record.delta) == (  # type: ignore[union-attr]
        "the login lives in auth/views.py",
        "add a route for the identity provider",
    )
    assert (record.pattern, record.memory) == (None, None)  # type: ignore[union-attr]
    found = memory.cypher("MATCH (e:Exploration) RETURN e.name, e.objective, e.session")
    assert found.rows == [["add-single-sign-on", "add single sign-on", session]]
    block = memory.context("add single sign-on")
    assert block.refs == [made.ref]
    assert [entry.section for entry in block.entries] == ["Explorations"]
    assert "## Explorations" in block.text
    assert "> structure: the login lives in auth/views.py" in block.text
    assert contents(tmp_path)["data/exploration.ndjson"].count(b"\n") == 1


def test_a_block_leaves_an_exploration_out_where_its_budget_is_short(memory: Memory) -> None:
    session = memory.explorations.start().session
    memory.explorations.report(session, "structure", "very long " * 1_000)
    ref = memory.explorations.aggregate(session, "add single sign-on").ref
    block = memory.context("add single sign-on", budget=500)
    assert [(one.ref, one.reason) for one in block.left_out] == [(ref, "budget")]


def test_the_same_aggregate_again_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    session = session_with(memory, *MODES)
    memory.explorations.aggregate(session, "a login page")
    before = contents(tmp_path)
    assert memory.explorations.aggregate(session, "a login page").action == "unchanged"
    assert contents(tmp_path) == before


def test_what_was_found_before_stays_as_an_alternate(memory: Memory) -> None:
    first = session_with(memory, "structure", "delta")
    ref = memory.explorations.aggregate(first, "a login page").ref
    second = memory.explorations.start().session
    memory.explorations.report(second, "structure", "it moved to web/")
    memory.explorations.report(second, "memory", "nothing known")
    made = memory.explorations.aggregate(second, "a login page")
    assert (made.ref, made.action) == (ref, "updated")
    record = memory.get(ref).record
    assert record.structure == "it moved to web/"  # type: ignore[union-attr]
    assert record.delta == "what was found of delta"  # type: ignore[union-attr]
    assert record.memory == "nothing known"  # type: ignore[union-attr]
    assert record.session == second  # type: ignore[union-attr]
    old = {(one.field, one.text) for one in record.alternates}
    assert ("structure", "what was found of structure") in old
    assert memory.list("exploration").total == 1


def test_there_is_no_record_of_nothing(memory: Memory, tmp_path: Path) -> None:
    session = memory.explorations.start().session
    before = contents(tmp_path)
    with pytest.raises(Refused, match="nothing was reported"):
        memory.explorations.aggregate(session, "a login page")
    memory.explorations.report(session, "delta", "x")
    with pytest.raises(BadInput, match="objective is empty"):
        memory.explorations.aggregate(session, "  ")
    assert contents(tmp_path) == before


# --- the command line -------------------------------------------------------------------------------------------------


def test_a_session_from_start_to_record_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    open_memory(tmp_path).close()
    monkeypatch.chdir(tmp_path)

    def answer(*words: str) -> dict[str, object]:
        assert run(["explore", *words, "--json"]) == 0
        found: dict[str, object] = json.loads(capsysbinary.readouterr().out)
        return found

    started = answer("start")
    session = str(started["session"])
    assert started == {"session": session, "modes": list(MODES)}
    (tmp_path / "found.md").write_text("auth/views.py\n")
    reported = answer("report", session, "structure", "found.md")
    assert reported == {"session": session, "mode": "structure", "late": False}
    waited = answer("wait", session, "--timeout", "0")
    assert waited.pop("seconds") is not None
    assert waited == {
        "session": session,
        "result": "quorum_failure",
        "received": ["structure"],
        "missing": ["pattern", "memory", "delta"],
    }
    assert answer("report", session, "delta", "found.md")["late"] is True
    assert answer("aggregate", session, "a login page")["ref"] == "exploration/a-login-page"
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert run(["explore", "report", session, "memory", "binary"]) == 3
    assert b"is not UTF-8" in capsysbinary.readouterr().err
    assert run(["explore", "report", session, "memory", "no-such-file"]) != 0


@pytest.mark.long
def test_a_wait_does_not_hold_the_service(tmp_path: Path) -> None:
    """It runs where it is typed, and the service answers others meanwhile."""
    (tmp_path / "project").mkdir()
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:  # the path of a socket is short
        project = Project(tmp_path / "project", Path(runtime))
        assert project.run("init").returncode == 0
        service = project.serve()
        try:
            session = project.run("explore", "start").stdout.strip()
            before = project.requests()
            assert project.run("explore", "wait", session, "--timeout", "0").stdout.splitlines()[0] == "timeout"
            assert project.requests() == before
            assert project.run("explore", "report", session, "delta", "-", input="x").stdout == "kept delta (late)\n"
            assert project.run("list").returncode == 0
            assert project.requests() == before + 1
        finally:
            service.terminate()
            service.wait()
