"""Transcripts of every client are read to the same events, and found at their usual places."""

import contextlib
import hashlib
import os
import sqlite3
import tracemalloc
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest

from graphmem.errors import BadInput, Unavailable
from graphmem.features.harvest.transcripts import session
from graphmem.features.harvest.transcripts.places import READERS, TranscriptFile, given, reader_of, usual
from graphmem.features.harvest.transcripts.session import (
    MOST_CALLS,
    MOST_GIVEN,
    MOST_PATH,
    MOST_TIME,
    SessionEvents,
    Skips,
    time_text,
)
from graphmem.kernel.model.transcript import FileEdit, FileRead, Message, RanCommand, TranscriptEvent
from graphmem.kernel.system.foreign_sqlite import ForeignDatabase

DATA = Path(__file__).parents[3] / "data" / "sessions"
SHARED = Path(__file__).parents[5] / "shared" / "data" / "importers" / "transcripts"


def events_of(path: Path, skips: Skips | None = None) -> dict[str, list[TranscriptEvent]]:
    """Return the events of the sessions of a file, by their ids."""
    read = READERS[reader_of(path)]
    return {found.session: list(found.events) for found in read(path, Counter() if skips is None else skips)}


def counted(events: list[TranscriptEvent]) -> Counter[str]:
    found: Counter[str] = Counter()
    for event in events:
        if isinstance(event, RanCommand):
            found["commands_refused_or_skipped" if event.is_refused else "commands"] += 1
            found["failed"] += bool(event.status) and not event.is_refused
        elif isinstance(event, FileEdit):
            found["edits" if event.is_done else "edits_refused" if event.is_refused else "edits_failed"] += 1
        elif isinstance(event, FileRead):
            found["reads"] += 1
        else:
            found["prompts" if event.by == "person" else "said"] += 1
    return +found


def loaded(sql: Path, folder: Path) -> Path:
    """Return a database made of statements."""
    path = folder / f"{sql.stem}.db"
    connection = sqlite3.connect(path)
    connection.executescript(sql.read_text())
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize(
    ("file", "reader", "name", "counts"),
    [
        ("claude-code.jsonl", "claude-code", "3de15637-3629-4423-bfe4-8b85e135c885",
         {"commands": 3, "failed": 1, "edits": 2, "edits_failed": 1, "reads": 2, "prompts": 1, "said": 8}),
        ("codex.jsonl", "codex", "abc", {"commands": 2, "failed": 1, "edits": 2, "prompts": 1}),
        ("codex-history.jsonl", "codex-history", "hist-abc", {"prompts": 1}),
        ("gemini.json", "gemini", "faff42ab-6ea5-4f78-b8c4-f7dd6272af08",
         {"prompts": 2, "edits": 1, "reads": 1, "said": 2}),
        ("gemini-set.jsonl", "gemini", "reg-gem-set-001", {"prompts": 1, "said": 1}),
        ("cursor.jsonl", "cursor", "cursor", {"prompts": 1, "said": 1}),
        ("copilot.jsonl", "copilot", "7cf44517-55ca-435c-893a-3fde1973a44e", {"prompts": 1, "said": 1}),
        ("deepseek.jsonl", "deepseek", "session-eaf5c9ac-0e47-4d2f-b982-8bae306062d1",
         {"prompts": 1, "reads": 1, "said": 2}),
        ("pi.jsonl", "pi", "reg-pi-001", {"prompts": 1, "said": 1}),
        ("roo/api_conversation_history.json", "roo", "roo", {"prompts": 1, "said": 1}),
        (".aider.chat.history.md", "aider", "2026-07-17 09:00:00", {"prompts": 1, "said": 1}),
        ("opencode.sql", "opencode", "s1", {"commands": 2, "failed": 1, "reads": 1}),
        ("opencode-patch.sql", "opencode", "s1", {"commands": 2, "edits": 1}),
    ],
)  # fmt: skip
def test_a_transcript_is_read(tmp_path: Path, file: str, reader: str, name: str, counts: Mapping[str, int]) -> None:
    path = loaded(DATA / file, tmp_path) if file.endswith(".sql") else DATA / file
    assert reader_of(path) == reader
    skips: Skips = Counter()
    found = events_of(path, skips)
    assert list(found) == [name]
    assert counted(found[name]) == counts
    assert not skips
    assert [event.number for event in found[name]] == list(range(len(found[name])))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the checkout")
def test_every_shared_transcript_has_the_counts_that_a_right_reader_arrives_at(tmp_path: Path) -> None:
    wrong = {}
    for name, expected in orjson.loads((SHARED / "expected.json").read_bytes()).items():
        path = loaded(SHARED / name, tmp_path) if name.endswith(".sql") else SHARED / name
        (found,) = (Counter(counted(events)) for events in events_of(path).values())
        names = ("prompts", "commands", "failed", "edits", "edits_failed", "commands_refused_or_skipped")
        if bad := {key: (found[key], expected[key]) for key in names if found[key] != expected.get(key, found[key])}:
            wrong[name] = bad
    assert wrong == {}


def test_the_status_and_the_folder_of_a_command_are_known() -> None:
    found = events_of(DATA / "claude-code.jsonl")["3de15637-3629-4423-bfe4-8b85e135c885"]
    failed = next(event for event in found if isinstance(event, RanCommand) and event.status)
    assert (failed.status, failed.folder) == (1, "/home/dev/wks/dev3/improve-status-cmd-output")
    assert failed.output.startswith("[fmt] $ gofmt")
    (test, listing) = (event for event in events_of(DATA / "codex.jsonl")["abc"] if isinstance(event, RanCommand))
    assert (test.status, test.command, test.folder) == (2, "go test ./...", "/w/app")
    assert listing.status is None  # its result is not in the transcript


def claude(*rows: Mapping[str, object]) -> bytes:
    lines = [{"sessionId": "s", "cwd": "/p", "timestamp": "2026-01-01T00:00:00Z", **row} for row in rows]
    return b"\n".join(orjson.dumps(line) for line in lines)


def call(
    name: str, given: Mapping[str, object], result: Mapping[str, object], **beside: object
) -> list[dict[str, object]]:
    return [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": name, "input": given}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", **result}]}, **beside},
    ]


@pytest.mark.parametrize(
    ("result", "beside", "status", "is_refused"),
    [
        ({"content": "ok"}, {}, 0, False),
        ({"content": "Exit code 3\nno", "is_error": True}, {}, 3, False),
        ({"content": [{"type": "text", "text": "Exit code x\nno"}], "is_error": True}, {}, 1, False),
        ({"content": "The user doesn't want to proceed with this", "is_error": True}, {}, 1, True),
        ({"content": "cut"}, {"toolUseResult": {"interrupted": True}}, None, False),
    ],
)
def test_how_a_command_of_claude_code_ended(
    tmp_path: Path, result: dict[str, object], beside: dict[str, object], status: int | None, is_refused: bool
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(claude(*call("Bash", {"command": "make"}, result, **beside)))
    ((event,),) = events_of(path).values()
    assert isinstance(event, RanCommand)
    assert (event.status, event.is_refused) == (status, is_refused)


def test_the_commit_that_a_command_made_is_known(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(claude(*call("Bash", {"command": "git commit -m x"}, {"content": "[main 1a2b3c4] x\n 1 file"})))
    ((event,),) = events_of(path).values()
    assert isinstance(event, RanCommand)
    assert event.commit == "1a2b3c4"


def test_what_no_person_wrote_is_no_prompt(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    texts = ["<command-name>/clear</command-name>", "[Request interrupted by user]", "fix it", "  "]
    rows = [{"type": "user", "message": {"content": text}} for text in texts]
    meta = [{"type": "user", "isMeta": True, "message": {"content": "not a person"}}]
    path.write_bytes(
        claude(*rows, *meta, {"type": "user", "isSidechain": True, "message": {"content": "for a sub agent"}})
    )
    ((event,),) = events_of(path).values()
    assert getattr(event, "text", "") == "fix it"


def test_an_edit_of_several_parts_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    path.write_bytes(claude(*call("MultiEdit", {"file_path": "/p/x.py", "edits": edits}, {"content": "done"})))
    ((event,),) = events_of(path).values()
    assert isinstance(event, FileEdit)
    assert (event.removed, event.added) == ("a\nc", "b\nd")


def test_lines_that_cannot_be_read_are_counted_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MOST_LINE", 2_000)
    path = tmp_path / "a.jsonl"
    good = claude({"type": "user", "message": {"content": "fix it"}})
    path.write_bytes(b"\n".join([good, b"{broken", b"[1, 2]", b"", b'"' + b"x" * 9_000 + b'"', good, good[:40]]))
    skips: Skips = Counter()
    ((*events,),) = events_of(path, skips).values()
    assert len(events) == 2
    assert skips == {
        "a line is not JSON": 1, "a line is not an object": 1, "a line is too long": 1, "a line is cut off": 1,
    }  # fmt: skip


def test_a_document_that_is_damaged_or_too_large_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "session-x.json"
    path.write_text('{"sessionId": "x", "messages": [')
    skips: Skips = Counter()
    assert events_of(path, skips) == {}
    monkeypatch.setattr(session, "MOST_DOCUMENT", 10)
    assert events_of(path, skips) == {}
    assert skips == {"the file is not JSON": 1, "the file is too large": 1}


def test_a_database_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"SQLite format 3\x00 but no more")
    with pytest.raises(BadInput, match=r"a\.db cannot be read as a database"):
        events_of(path)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with pytest.raises(Unavailable), ForeignDatabase(link) as database:
        list(database.rows("session", ("id",), ("id",)))


def test_files_of_no_known_form_are_named_as_such(tmp_path: Path) -> None:
    for name, content in (("a.json", b"{}"), ("b.jsonl", b'{"a": 1}\nx\n'), ("c.jsonl", b""), ("d.txt", b"\x00\xff")):
        (tmp_path / name).write_bytes(content)
        assert reader_of(tmp_path / name) == ""
    assert reader_of(tmp_path / "missing") == ""
    assert [found.reader for found in given(tmp_path / "a.json")] == [""]
    assert list(given(tmp_path)) == []


def put(path: Path, source: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((DATA / source).read_bytes())


def test_the_usual_places_of_all_clients_are_looked_at(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    root.mkdir()
    put(home / ".claude/projects/-p/3de1.jsonl", "claude-code.jsonl")
    put(home / ".codex/sessions/2026/07/31/rollout-x.jsonl", "codex.jsonl")
    digest = hashlib.sha256(str(root).encode()).hexdigest()
    put(home / f".gemini/tmp/{digest}/chats/session-x.json", "gemini.json")
    put(home / ".gemini/tmp/other/chats/session-y.json", "gemini.json")
    (home / ".gemini/tmp/other/.project_root").write_text("/elsewhere\n")
    put(
        home / f".cursor/projects/{str(root).strip('/').replace('/', '-').replace('_', '-')}/agent-transcripts/a.jsonl",
        "cursor.jsonl",
    )
    put(home / ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/17/api_conversation_history.json",
        "roo/api_conversation_history.json")  # fmt: skip
    put(home / ".copilot/session-state/7cf4/events.jsonl", "copilot.jsonl")
    put(home / ".pi/agent/sessions/p/a.jsonl", "pi.jsonl")
    put(root / ".aider.chat.history.md", ".aider.chat.history.md")
    (home / ".local/share/opencode").mkdir(parents=True)
    loaded(DATA / "opencode.sql", home / ".local/share/opencode")
    (home / ".claude/projects/-p/link.jsonl").symlink_to(home / ".codex/sessions/2026/07/31/rollout-x.jsonl")
    found = {file.reader: file.folder for file in usual(home, {}, [root]) if file.path.name != "session-y.json"}
    assert found == {
        "claude-code": "", "codex": "", "gemini": str(root), "cursor": str(root), "roo": "", "copilot": "", "pi": "",
        "aider": str(root), "opencode": "",
    }  # fmt: skip
    assert [file.folder for file in usual(home, {}, [root]) if file.path.name == "session-y.json"] == ["/elsewhere"]
    moved = {"CODEX_HOME": str(home / "moved"), "CLAUDE_CONFIG_DIR": str(home / "moved"), "XDG_DATA_HOME": str(home)}
    assert {file.reader for file in usual(home, moved, [])} == {"gemini", "cursor", "roo", "copilot", "pi"}


@pytest.mark.parametrize(
    ("value", "text"),
    [("2026", "2026"), (1767323045, "2026-01-02T03:04:05.000Z"), (1767323045123, "2026-01-02T03:04:05.123Z"),
     (True, ""), (None, ""), (-1, ""), (10**15, "")],
)  # fmt: skip
def test_times_are_texts(value: object, text: str) -> None:
    assert time_text(value) == text


def test_half_a_sign_that_a_client_cut_off_loses_no_line(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    row = b'{"type":"user","sessionId":"s1","cwd":"/p","message":{"content":"cut \\ud83d here, whole \\ud83d\\ude00"}}'
    path.write_bytes(row + b"\n")
    skips = Skips()
    (events,) = events_of(path, skips).values()
    assert [event.text for event in events if isinstance(event, Message)] == ["cut \ufffd here, whole \U0001f600"]
    assert skips == {}


def test_a_status_that_is_no_number_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "Exit code \u00b2\nbad", "is_error": True}
    rows = [{"type": "assistant", "message": {"content": [use]}}, {"type": "user", "message": {"content": [result]}}]
    path.write_bytes(b"\n".join(orjson.dumps({"sessionId": "s1", **row}) for row in rows))
    (events,) = events_of(path).values()
    assert [event.status for event in events if isinstance(event, RanCommand)] == [1]


def test_calls_that_never_return_and_long_fields_are_bounded() -> None:
    made = SessionEvents()
    for number in range(3 * MOST_CALLS):
        made.called(f"t{number}", "", "Bash", {"command": "x" * (2 * MOST_GIVEN)})
    events = list(made.rest())
    assert len(events) == MOST_CALLS
    assert all(isinstance(event, RanCommand) and len(event.command) == MOST_GIVEN for event in events)
    made.called("e", "", "Edit", {"file_path": "p" * (2 * MOST_PATH), "old_string": "a", "new_string": "b"})
    assert [len(event.file) for event in made.returned("e", "") if isinstance(event, FileEdit)] == [MOST_PATH]
    assert time_text("2" * 1_000) == "2" * MOST_TIME


@pytest.mark.parametrize("kind", [[], {}, 3, None])
def test_a_file_whose_type_is_no_text_is_of_no_known_form(tmp_path: Path, kind: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(orjson.dumps({"type": kind, "sessionId": "s"}))
    assert reader_of(path) == ""


def test_a_command_of_codex_that_goes_on_has_no_status(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    call = {"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": '{"cmd": "make serve"}'}
    said = "Chunk ID: 1\nProcess running with session ID 7\nOutput:\nlistening"
    output = {"type": "function_call_output", "call_id": "c", "output": said}
    items = ({"type": "response_item", "payload": one} for one in (call, output))
    rows = [{"type": "session_meta", "payload": {"id": "s"}}, *items]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    ((event,),) = events_of(path).values()
    assert isinstance(event, RanCommand)
    assert event.status is None


def test_the_edits_of_cursor_and_the_statuses_of_copilot_are_known(tmp_path: Path) -> None:
    made = session.SessionEvents()
    made.called("a", "", "StrReplace", {"path": "a.py", "old_string": "x", "new_string": "y"})
    made.called("b", "", "bash", {"command": "make"})
    (edit,) = made.returned("a", "done")
    (run,) = made.returned("b", "no rule\n<exited with exit code 2>")
    assert isinstance(edit, FileEdit)
    assert isinstance(run, RanCommand)
    assert (edit.added, run.status) == ("y", 2)


def test_a_later_line_of_gemini_replaces_a_message_and_a_file_of_any_size_takes_little_memory(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}
    done = {**call, "status": "error", "result": [{"functionResponse": {"response": {"output": "exit code: 2"}}}]}
    message = {"id": "m1", "type": "gemini", "content": "I build it", "timestamp": "2026-01-05T10:00:00Z"}
    path = tmp_path / "chat.jsonl"
    head = {"sessionId": "g1", "projectHash": "x", "startTime": "2026-01-05T10:00:00Z"}
    more = [{"id": f"n{number}", "type": "user", "content": "x" * 4_000} for number in range(5_000)]
    lines = [head, {**message, "toolCalls": [call]}, *more, {**message, "toolCalls": [done]}]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    tracemalloc.start()
    failed = [
        event
        for session in READERS["gemini"](path, Counter())
        for event in session.events
        if isinstance(event, RanCommand)
    ]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(event.command, event.status) for event in failed] == [("make", 2)]
    assert most < path.stat().st_size / 4


def test_the_files_of_an_older_opencode_are_read_and_their_state_is_that_of_all(tmp_path: Path) -> None:
    def put_json(path: Path, value: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(value))

    storage = tmp_path / "opencode/storage"
    session = storage / "session/p1/ses_1.json"
    put_json(session, {"id": "ses_1", "projectID": "p1", "directory": "/shop", "time": {"created": 1767323045000}})
    put_json(storage / "message/ses_1/msg_1.json", {"id": "msg_1", "role": "user"})
    put_json(storage / "part/msg_1/prt_1.json", {"type": "text", "text": "make it pass"})
    put_json(storage / "message/ses_1/msg_2.json", {"id": "msg_2", "role": "assistant"})
    state = {"input": {"command": "go test"}, "output": "FAIL", "metadata": {"exit": 1}, "status": "completed"}
    put_json(storage / "part/msg_2/prt_2.json", {"type": "tool", "tool": "bash", "callID": "c1", "state": state})
    put_json(storage / "part/msg_2/prt_3.json", {"type": "tool", "tool": "edit", "callID": "c2", "state": {
        "input": {"filePath": "/shop/a.go", "oldString": "a", "newString": "b"}, "status": "completed"}})  # fmt: skip
    (storage / "part/msg_2/prt_4.json").write_bytes(b"{cut")
    (file,) = (file for file in usual(tmp_path, {"XDG_DATA_HOME": str(tmp_path)}, []))
    assert (file.path, file.client, reader_of(session)) == (session, "opencode", "opencode-files")
    skips: Skips = Counter()
    (found,) = READERS["opencode-files"](session, skips)
    prompt, command, edit = found.events
    assert isinstance(prompt, Message)
    assert isinstance(command, RanCommand)
    assert isinstance(edit, FileEdit)
    assert (found.session, found.folder, prompt.by) == ("ses_1", "/shop", "person")
    assert (command.command, command.status, command.folder, edit.file) == ("go test", 1, "/shop", "/shop/a.go")
    assert skips == {"the file is not JSON": 1}
    before = file.state()
    os.utime(storage / "part/msg_2", ns=(2**61, 2**61))
    assert file.state() != before


def test_a_database_that_its_program_has_open_is_read_with_its_newest_rows(tmp_path: Path) -> None:
    path = loaded(DATA / "opencode.sql", tmp_path)
    file = TranscriptFile(path, "opencode")
    with contextlib.closing(sqlite3.connect(path)) as program:
        program.execute("PRAGMA journal_mode = WAL")
        program.execute("SELECT count(*) FROM session").fetchone()
        before = file.state()
        program.execute("INSERT INTO session (id, directory, time_created) VALUES ('s2', '/new', 9)")
        program.commit()
        assert file.state() != before
        assert {session.session for session in READERS["opencode"](path, Counter())} == {"s1", "s2"}
