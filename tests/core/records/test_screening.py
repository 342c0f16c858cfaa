"""No secret gets into the files: refused where somebody saves it, redacted where nobody chose the text, reported."""

import json
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args

import pytest

from graphmem import BadInput, Memory, Refused
from graphmem.core.records.screening import NAMED
from graphmem.doors.cli.app import run
from graphmem.errors import GraphmemError
from graphmem.kernel.answer import Answer
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Failure
from tests.operations import METHODS, REQUESTS
from tests.sample import CREATED, START, contents, data, failure, line, open_memory, put_state, state_of, trust_all
from tests.secret_samples import KINDS, Maker

PHRASE, SECRET = KINDS["github classic"](Maker(1))
OLD_PHRASE, OLD_SECRET = KINDS["gitlab"](Maker(2))
VERDICT = {"type": "review.verdict", "findings": [{"severity": "high", "text": "the lock is not released"}]}

# Arguments of each operation that writes what a caller says; a new operation belongs here or below.
WRITES: Mapping[str, Mapping[str, Any]] = {
    "failures.add": {"trigger": "the disk is full"},
    "patterns.add": {"trigger": "disks", "insight": "clean them"},
    "entities.add": {"type_name": "service", "name": "mail"},
    "lessons.add": {"description": "clean disks"},
    "lessons.learn": {"events": [json.dumps(VERDICT).encode()]},
    "lessons.decay": {"run": "r-2"},
    "experiences.add": {
        "task_type": "bug", "description": "a fix", "approach": "read", "outcome": "success", "lessons": ["look"],
    },
    "insights.add": {"category": "codebase_insight", "statement": "look first", "derived_from": ["one", "two"]},
    "sessions.start": {},
    "sessions.work_on": {"description": "the disks"},
    "sessions.decide": {"decision": "clean them"},
    "sessions.constrain": {"constraint": "never on Friday"},
    "sessions.prefer": {},
    "sessions.note": {},
    "relations.link": {"source": "failure/boom", "kind": "causes", "target": "failure/bong"},
    "campaigns.create": {"objective": "clean disks"},
    "campaigns.add_tasks": {"ref": "plan", "plan": [{"seq": 7, "objective": "begin"}]},
    "campaigns.merge_plan": {"ref": "plan", "plan": [{"seq": 7, "objective": "begin"}]},
    "campaigns.complete": {"ref": "plan"},
    "tasks.complete": {"ref": "plan/001"},
    "tasks.block": {"ref": "plan/001", "reason": "the disk is full"},
    "tasks.reopen": {"ref": "plan/001"},
    "inbox.add": {"content": "look at the disks"},
    "inbox.finish": {"id": "item"},
    "events.add": {"type": "review.verdict"},
    "explorations.report": {"session": "exploring", "mode": "delta", "text": "a new disk"},
    "explorations.aggregate": {"session": "exploring", "objective": "disks"},
    "runs.set": {"fields": {"next_step": "clean"}},
    "runs.done": {"step": "clean"},
    "runs.change": {"action": "add", "file": "clean"},
    "runs.require": {"step": "build", "skip": True},
    "runs.begin": {"plan": {"chunks": [{"id": "c1"}]}},
    "runs.checkpoint": {},
    "types.add_entity": {"name": "team"},
    "scopes.add": {"name": "clerk"},
    "types.add_relation": {"name": "owns", "sources": ["service"], "targets": ["service"]},
    "add_rows": {"lines": [failure("more")]},
    "edit": {"ref": "boom"},
    "rename": {"ref": "boom", "name": "bang"},
    "forget": {"ref": "boom"},
    "supersede": {"old": "boom", "new": "bong"},
    "feedback": {"ref": "boom", "helped": True},
    "feedback_rows": {"lines": [b'{"ref": "failure/boom", "helped": true}']},
}  # fmt: skip
# These keep texts that nobody chose: of a log, of a question.
UNATTENDED = ("query", "context", "match", "ran", "hook")
# These write no text of the caller's into the store: they read, name what is there, or write elsewhere.
OTHERS = frozenset({
    "init", "lessons.inject", "experiences.recall", "experiences.promote", "sessions.show", "sessions.end",
    "relations.unlink", "campaigns.ready", "campaigns.status", "campaigns.propagate", "campaigns.replan_input",
    "tasks.start", "tasks.show", "phases.status", "phases.can", "phases.move", "phases.reset", "phases.duration",
    "works.start", "works.branch", "works.list", "works.show", "works.next", "works.advance", "works.abandon",
    "works.finish", "works.verify", "snapshots.show", "snapshots.diff",
    "stages.begin", "stages.run", "stages.end", "stages.retry",
    "items.add", "items.list", "items.show", "items.action", "items.wont_fix", "items.resolve", "items.reject",
    "inbox.items", "inbox.take", "inbox.dismiss", "events.list",
    "explorations.wait", "runs.chunk", "runs.resume",
    "types.show", "types.rename", "types.drop", "types.brief", "scopes.show",
    "get", "list", "pin", "unpin", "restore", "purge", "undo", "prune", "related", "split", "embed.change",
    "vacuum", "reset", "dump",
    "path", "solutions", "similar", "cypher", "cypher_named", "log", "why", "view", "diff", "check", "export",
    "rebuild", "doctor",
    "trust", "observe", "imports.file", "extractors.add", "extractors.run",
    "stats", "verify_loop", "names", "prime",
    "imports.sessions", "candidates.prove", "candidates.accept", "candidates.review",
    "candidates.show", "candidates.dismiss", "imports.notes", "imports.git", "imports.ci", "imports.all",
    "user.promote", "user.adopt", "config", "schema", "sync", "ledger.move", "team.init", "team.grant", "team.revoke",
    "team.upgrade",
    "graph.push", "cypher_projects",
})  # fmt: skip
# How a parameter that is no text is given a text.
SPOILT: Mapping[str, Callable[[str], Any]] = {
    "plan": lambda text: [{"seq": 8, "objective": "more", "delta": [text]}],
    "fields": lambda text: {"fix": text},
    "data": lambda text: {"note": text},
    "versions": lambda text: {"flask": text},
    "events": lambda text: [json.dumps({**VERDICT, "findings": [{"severity": "high", "text": text}]}).encode()],
}
OF_A_RUN: Mapping[str, Callable[[str], Any]] = {
    "runs.begin.plan": lambda text: {"chunks": [{"id": "c1", "name": text}]},
    "runs.set.fields": lambda text: {"agent_outputs": {"plan": {"summary": text}}},
}
LINES: Mapping[str, Callable[[str], list[bytes]]] = {
    "add_rows": lambda text: [failure("fine"), failure("more", fix=text)],
    "feedback_rows": lambda text: [json.dumps({"ref": "failure/boom", "helped": True, "note": text}).encode()],
}
INPUT_NAMES = ("lessons.learn", "add_rows", "feedback_rows")  # whose `name` is only in messages


def is_text(annotation: object) -> bool:
    """Return whether a parameter takes texts of any form."""
    return annotation is str or any(map(is_text, get_args(annotation)))


def ways() -> Iterator[tuple[str, str]]:
    """Yield every parameter by which a text comes in."""
    for operation in WRITES:
        for name, field in REQUESTS[operation].model_fields.items():
            is_one = name in SPOILT or is_text(field.annotation)
            if is_one and name not in NAMED and not (operation in INPUT_NAMES and name == "name"):
                yield operation, name
        if operation in LINES:
            yield operation, "lines"
    yield "lessons.learn", "events"


def spoilt(operation: str, name: str, text: str) -> dict[str, Any]:
    """Return the arguments of an operation with a text in one of them."""
    given = dict(WRITES[operation])
    if name == "lines":
        return {**given, name: LINES[operation](text)}
    if name in SPOILT:
        return {**given, name: OF_A_RUN.get(f"{operation}.{name}", SPOILT[name])(text)}
    field = REQUESTS[operation].model_fields[name]
    is_many = any("tuple" in str(part) for part in (field.annotation, *get_args(field.annotation)))
    return {**given, name: [text] if is_many else text}


def call(memory: Memory, operation: str, given: Mapping[str, Any]) -> Answer:
    """Call an operation by its name."""
    answer: Answer = attrgetter(METHODS[operation])(memory)(**given)
    return answer


def holds(folder: Path, secret: str) -> list[str]:
    """Return the files below the store that hold a text; also in lower case, as names have it."""
    files = [path for path in (folder / ".graphmem").rglob("*") if path.is_file()]
    return [path.name for path in files if secret.lower().encode() in path.read_bytes().lower()]


def said(error: GraphmemError) -> str:
    """Return all that an error says."""
    return f"{error.message} {error.hint} {json.dumps(error.details, default=str)}"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as made:
        made.failures.add("the first thing broke", name="boom", fix="mend it", dedup=False)
        made.failures.add("another one is gone", name="bong", dedup=False)
        made.types.add_entity("service")
        begin(made)
        yield made


def begin(memory: Memory) -> None:
    """Make a campaign with a task that is under way, and an exploration."""
    put_state(memory.store.client.root, "exploration", "exploring", json.dumps({"started_at": CREATED}).encode())
    memory.explorations.report("exploring", "structure", "two disks")
    memory.campaigns.create("a plan of work", name="plan")
    memory.campaigns.add_tasks("plan", [{"seq": 1, "objective": "the first step"}])
    memory.tasks.start("plan/001")


def configured(folder: Path, secrets: str, told: list[str] | None = None) -> Memory:
    """Return the memory of a folder whose project has the setting."""
    memory = open_memory(folder, said=told)
    config = folder / ".graphmem" / "config.toml"
    config.write_text(f'format = 1\n[store]\nsecrets = "{secrets}"\n')
    return memory


def expose(folder: Path, old: str, new: str) -> None:
    """Put a secret into a data file, as an editor or a merge does."""
    path = data(folder, "failure")
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))


def test_every_operation_is_known_to_write_texts_or_not_to() -> None:
    """An operation without a line here is one whose texts nobody looked at."""
    assert {*WRITES, *UNATTENDED} | OTHERS == set(REQUESTS), "a line in WRITES, UNATTENDED or OTHERS of this module"


@pytest.mark.parametrize(("operation", "name"), [*ways()])
def test_a_secret_is_refused_at_every_way_in(memory: Memory, tmp_path: Path, operation: str, name: str) -> None:
    before = contents(tmp_path)
    with pytest.raises(Refused) as refused:
        call(memory, operation, spoilt(operation, name, PHRASE))
    assert "github-token" in said(refused.value)
    assert SECRET not in said(refused.value)
    assert contents(tmp_path) == before
    assert holds(tmp_path, SECRET) == []


@pytest.mark.parametrize(("operation", "name"), [*ways()])
def test_where_the_setting_is_redact_a_secret_is_in_no_file(tmp_path: Path, operation: str, name: str) -> None:
    told: list[str] = []
    with configured(tmp_path, "redact", told) as memory:
        memory.failures.add("the first thing broke", name="boom", dedup=False)
        memory.failures.add("another one is gone", name="bong", dedup=False)
        memory.types.add_entity("service")
        begin(memory)
        try:
            answer = call(memory, operation, spoilt(operation, name, PHRASE))
        except GraphmemError as error:  # a name that is no slug, a time that is none: as without a secret
            assert SECRET not in said(error)
            assert "looks like it holds a secret" not in error.message
        else:
            assert SECRET not in answer.model_dump_json()
            assert any("redacted what looks like a secret: github-token" in text for text in told)
        assert holds(tmp_path, SECRET) == []


@pytest.mark.parametrize("setting", ["refuse", "redact"])
def test_what_is_kept_of_a_log_or_a_question_has_no_secret(tmp_path: Path, setting: str) -> None:
    log = [b"E   ValueError: the first thing broke with " + SECRET.encode(), b"1 failed"]
    with configured(tmp_path, setting) as memory:
        memory.failures.add("ValueError: the first thing broke with *", name="boom", match="the first thing broke")
        found = memory.query(f"the first thing broke: {PHRASE}")
        assert "question: redacted what looks like a secret: github-token" in found.notices
        memory.context(f"the first thing broke: {PHRASE}")
        assert memory.match(log).results
        memory.feedback("boom", helped=True, asked=found.asked)
        failed = memory.ran(["make"], status=1, log=log, task=f"t-{SECRET}")
        assert failed.log is not None and failed.log.results
        assert holds(tmp_path, SECRET) == []
        memory.edit("boom", {"fix": "begin again"})
        memory.ran(["make"], status=1, log=log)
        (tmp_path / "fixed.py").touch()
        assert memory.ran(["make"], status=0, task=f"t-{SECRET}").helped == ["failure/boom"]
        memory.ran(["other"], status=1, log=[b"E   OSError: cannot read " + SECRET.encode(), b"1 failed"])
        assert holds(tmp_path, SECRET) == []


def test_what_an_older_version_kept_of_a_question_is_redacted_when_it_becomes_a_report(
    memory: Memory, tmp_path: Path
) -> None:
    asked = memory.query("the first thing broke").asked
    assert asked is not None
    kept = state_of(tmp_path).read("asked", asked, bytes.decode)
    assert kept is not None
    put_state(tmp_path, "asked", asked, kept.replace("first thing", SECRET).encode())
    assert memory.feedback("boom", helped=True, asked=asked).notices
    assert SECRET not in data(tmp_path, "feedback").read_text()


def test_what_an_older_version_kept_of_a_log_is_redacted_when_it_becomes_a_report(
    memory: Memory, tmp_path: Path
) -> None:
    memory.failures.add("OSError: the disk is full", name="disk", fix="clean it", dedup=False)
    memory.ran(["make"], status=1, log=[b"E   OSError: the disk is full", b"1 failed"])
    ((key, kept),) = state_of(tmp_path).read_all("ran", bytes.decode).items()
    put_state(tmp_path, "ran", key, kept.replace("OSError: the disk", SECRET).encode())
    (tmp_path / "fixed.py").touch()
    assert memory.ran(["make"], status=0).helped == ["failure/disk"]
    assert SECRET not in data(tmp_path, "feedback").read_text()


def test_the_ledger_refuses_what_a_use_case_let_through(memory: Memory, tmp_path: Path) -> None:
    made = Failure(kind="failure", name="x", created_at=START, trigger=PHRASE)
    with pytest.raises(Refused, match="github-token"), memory.store.client.writing():
        memory.store.client.ledger.commit([entry(made, frozenset())])
    assert holds(tmp_path, SECRET) == []


def test_in_bulk_a_secret_is_named_by_its_line_and_nothing_is_written(memory: Memory, tmp_path: Path) -> None:
    before = contents(tmp_path)
    rows = [failure("a"), failure("b", fix=PHRASE), line(kind="event", id="e", type="t", data={"api_key": SECRET})]
    with pytest.raises(BadInput) as refused:
        memory.add_rows(rows)
    found: Any = refused.value.details["findings"]
    assert [(one["line"], one["code"]) for one in found] == [(2, "secret"), (3, "secret")]
    assert "data.api_key" in found[1]["message"]
    assert SECRET not in said(refused.value)
    assert contents(tmp_path) == before


def test_a_secret_behind_escapes_of_json_is_seen(memory: Memory) -> None:
    hidden = "".join(f"\\u{ord(character):04x}" for character in SECRET)
    with pytest.raises(BadInput, match="github-token"):
        memory.add_rows([b'{"kind":"failure","trigger":"%b"}' % hidden.encode()])


def test_what_is_left_aside_in_bulk_is_left_without_its_secret(memory: Memory, tmp_path: Path) -> None:
    answer = memory.add_rows([failure("fine"), failure("b", fix=PHRASE), b"no row"], skip_invalid=True)
    assert answer.created == 1
    rejects = (tmp_path / ".graphmem" / "state" / "rejects.ndjson").read_text()
    assert "[redacted:github-token]" in rejects and "no row" in rejects
    assert holds(tmp_path, SECRET) == []


def test_what_a_key_of_an_object_calls_a_password_is_one(memory: Memory) -> None:
    with pytest.raises(BadInput, match="password"):
        memory.add_rows([line(kind="event", id="e", type="t", data={"db": {"password": "Tr0ub4dor99"}})])


def test_redaction_of_a_bulk_row_makes_its_name_too(tmp_path: Path) -> None:
    with configured(tmp_path, "redact") as memory:
        memory.add_rows([line(kind="failure", trigger=PHRASE, created_at=CREATED)], dedup=True)
        (found,) = memory.list("failure").results
        assert "redacted" in found.ref
    assert holds(tmp_path, SECRET) == []


def test_where_secrets_are_allowed_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_STORE_SECRETS", "allow")
    with open_memory(tmp_path) as memory:
        assert memory.failures.add(PHRASE).notices == []
        memory.query(PHRASE)
        assert holds(tmp_path, SECRET) != []
        assert memory.store.validate().findings == []


def test_a_project_lets_secrets_in_only_where_you_trust_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    with configured(tmp_path, "allow") as memory:
        with pytest.raises(Refused, match="github-token"):
            memory.failures.add(PHRASE)
        assert memory.store.trust().settings == {"store.secrets": "allow"}
        assert trust_all(memory).trusted
        assert memory.failures.add(PHRASE).action == "created"


def test_validate_reports_a_secret_that_is_in_a_file_and_does_not_show_it(memory: Memory, tmp_path: Path) -> None:
    expose(tmp_path, "mend it", OLD_PHRASE)
    kind = tmp_path / ".graphmem" / "types" / "entities" / "service.md"
    kind.write_text(f"{kind.read_text()}\n{OLD_PHRASE}\n")
    found = [one for one in memory.store.validate().findings if one.code == "secret"]
    assert [(one.file, one.severity) for one in found] == [
        ("types/entities/service.md", "warning"), ("data/failure.ndjson", "warning"),
    ]  # fmt: skip
    rows = data(tmp_path, "failure").read_text().splitlines()
    assert found[1].line is not None and OLD_SECRET in rows[found[1].line - 1]
    assert found[0].line is not None and OLD_SECRET in kind.read_text().splitlines()[found[0].line - 1]
    assert found[1].message == "fix looks like it holds a secret: gitlab-token"
    assert OLD_SECRET not in "".join(one.model_dump_json() for one in memory.store.doctor().findings)


def test_a_type_file_that_is_too_large_stops_no_check(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / ".graphmem" / "types" / "entities" / "huge.md").write_text("x" * 100_000)
    assert [one.code for one in memory.store.validate().findings] == ["bad_type"]


def test_a_record_that_holds_a_secret_can_be_changed_taken_out_and_destroyed(memory: Memory, tmp_path: Path) -> None:
    expose(tmp_path, "mend it", OLD_PHRASE)
    assert memory.edit("boom", tag=["disk"]).action == "updated"
    assert memory.relations.link("boom", "causes", "bong").action == "created"
    assert memory.failures.add("the first thing broke", fix="another way").action == "updated"
    with pytest.raises(Refused, match="github-token"):
        memory.edit("boom", {"fix": PHRASE})
    assert memory.forget("boom").action == "archived"
    memory.undo(1)
    memory.store.purge(["boom"], yes=True)
    assert holds(tmp_path, OLD_SECRET) == []


def test_the_command_line_shows_no_secret_that_it_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_memory(tmp_path).close()
    monkeypatch.chdir(tmp_path)
    assert run(["add", "failure", "--trigger", PHRASE, "--json"]) == 3
    assert run(["add", "failure", "--trigger", "x", "--name", SECRET]) == 3
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    error = json.loads(told.err.splitlines()[0])["error"]
    assert (error["code"], error["details"]) == (
        "refused", {"code": "secret", "field": "trigger", "rule": "github-token"},
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_every_kind_is_refused_and_is_kept_of_no_event(memory: Memory, tmp_path: Path, kind: str) -> None:
    """It is in the output of a command, in its words, in a prompt and in a question: nothing of it is in a file."""
    phrase, secret = KINDS[kind](Maker(12))
    with pytest.raises(Refused, match="looks like it holds a secret"):
        memory.failures.add(f"it fails: {phrase}")
    memory.store.hook(
        "claude-code", json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": phrase})
    )
    failed = {"tool_name": "Bash", "tool_input": {"command": phrase}, "error": f"Exit code 1\nKeyError: {phrase}"}
    memory.store.hook("claude-code", json.dumps({"hook_event_name": "PostToolUseFailure", "session_id": "s", **failed}))
    memory.query(f"the first thing broke: {phrase}")
    memory.context(f"the first thing broke: {phrase}")
    memory.ran([phrase], status=1, log=f"E   KeyError: {phrase}\n1 failed".encode().splitlines())
    parts = [part for part in secret.split() if len(part) >= 8]  # PRIVATE is a word
    assert parts and [name for part in parts for name in holds(tmp_path, part)] == []
