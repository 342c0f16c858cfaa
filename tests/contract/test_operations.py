"""The table of operations: what a row says of an operation is so, in every front end."""

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from graphmem import Failure, GraphmemError, Memory, ReadOnly
from graphmem.doors.cli.app import command_line
from graphmem.doors.cli.verbs import VERBS
from graphmem.doors.service.caller import HERE
from graphmem.kernel import dispatch, registry
from graphmem.kernel.dispatch import Caller, lines_of
from graphmem.kernel.ledger.files.layout import Look
from graphmem.kernel.ledger.files.place import FilePlace
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.registry import OPERATIONS, READ
from graphmem.kernel.request import NoParameters
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system.lock import locked
from tests.doors.http.test_fuzz import REAL
from tests.generate_docs import ANSWERS
from tests.operations import METHODS, NOUNS, ROWS
from tests.repository import Repository
from tests.sample import contents, open_memory

# Operations whose command is not called by the last word of their name.
COMMANDS = {
    "experiences.recall": "experience", "experiences.promote": "experience insights", "cypher_named": "cypher",
    "cypher_projects": "cypher", "verify_loop": "verify-loop", "lessons.inject": "lesson inject",
    "observe": "campaign learn",
}  # fmt: skip
PREVIEWS: dict[str, dict[str, Any]] = {
    "failures.add": {"trigger": "it went boom again", "dry_run": True},
    "patterns.add": {"trigger": "after a release", "insight": "rest", "dry_run": True},
    "entities.add": {"type_name": "service", "name": "other", "dry_run": True},
    "lessons.add": {"description": "never hurry", "dry_run": True},
    "experiences.add": {"task_type": "bug", "description": "another", "approach": "think", "outcome": "success",
                        "lessons": ["think"], "dry_run": True},
    "insights.add": {"category": "debugging", "statement": "think first", "derived_from": [], "dry_run": True},
    "edit": {"ref": "failure/boom", "fields": {"fix": "duck"}, "dry_run": True},
    "purge": {"refs": ["failure/boom"]},
    "prune": {"max_failures": 1},
    "types.rename": {"old": "service", "new": "component"},
    "types.drop": {"name": "service"},
    "reset": {},
    "vacuum": {"dry_run": True},
    "ledger.move": {"to": "branch", "dry_run": True},
    "sync": {"dry_run": True},
    "experiences.promote": {},
    "doctor": {},
    "trust": {},
    "extractors.run": {"names": ["none"], "dry_run": True},
    "imports.sessions": {"dry_run": True},
    "imports.notes": {"dry_run": True},
    "imports.git": {"dry_run": True},
    "imports.all": {"dry_run": True},
    "imports.ci": {"paths": ["none.xml"], "dry_run": True},
    "candidates.accept": {"at_least": "proven", "dry_run": True},
    "candidates.prove": {"id": "c0"},
    "imports.file": {"path": "none.jsonl", "dry_run": True},
    "works.next": {"peek": True},
    "works.abandon": {"ref": "none"},
}  # fmt: skip
# Refused in an empty memory without a repository.
REFUSED_HERE = (
    "insights.add",
    "doctor",
    "extractors.run",
    "imports.file",
    "imports.git",
    "imports.ci",
    "candidates.prove",
    "sync",
    "works.next",
    "works.abandon",
)
# These open their moments themselves, for before or in between they wait without the lock of the store: for a model, a
# program, a log, a regular expression, the lock of another file. Any other row gets its moment from dispatch.
OPENING = frozenset({
    "failures.add", "patterns.add", "entities.add", "lessons.add", "lessons.learn", "experiences.add",
    "experiences.promote", "insights.add", "campaigns.create", "tasks.start", "tasks.complete", "tasks.block",
    "query", "context", "similar", "stats", "add_rows", "feedback_rows", "match", "ran", "hook", "edit", "observe",
    "log", "why", "view", "diff", "check", "cypher", "cypher_named", "rebuild", "vacuum", "validate", "doctor", "trust",
    "events.add", "sync", "ledger.move", "graph.push", "cypher_projects",
    "explorations.start", "explorations.report", "explorations.wait", "extractors.run", "imports.file", "embed.status",
    "embed.change",
    "runs.show", "runs.set", "runs.done", "runs.change", "runs.require", "runs.begin", "runs.chunk", "runs.checkpoint",
    "runs.end", "runs.resume",
    "imports.sessions", "candidates.review", "candidates.show", "candidates.accept", "candidates.dismiss",
    "candidates.prove", "candidates.check_proofs", "imports.notes", "imports.git", "imports.ci", "imports.all",
    "config", "solutions", "user.promote", "user.adopt",
    "works.start", "works.branch", "works.next", "stages.begin", "stages.run", "stages.end",
    "works.finish", "works.verify", "snapshots.list", "snapshots.show", "snapshots.diff",
})  # fmt: skip
# These write more than rows, and take it in.
REWRITING = ("types.add_entity", "types.add_relation", "scopes.add", "export", "resolve")


def call(memory: Memory, name: str, given: dict[str, Any]) -> Any:
    """Call an operation by its name."""
    method: Any = attrgetter(METHODS[name])(memory)
    row = OPERATIONS[name]
    if row.stream is not None:
        given = {**given, row.stream: list(lines_of(given[row.stream]))}
    return method(**given)


def test_every_operation_is_a_function_that_takes_its_request_and_returns_its_answer() -> None:
    for name, row in OPERATIONS.items():
        hints = typing.get_type_hints(row.function)
        assert hints["return"] == row.answer, name
        parameters = inspect.signature(row.function).parameters.values()
        taken = [hints[one.name] for one in parameters if one.default is one.empty]  # the rest is of other use cases
        if row.needs_store:
            moment = Snapshot if row.effect == READ or row.previews else Writing
            assert taken.pop(0) is (Client if name in OPENING else moment), name
        given: list[Any] = [Iterable[bytes]] if row.stream else []
        given += [] if row.request is NoParameters else [row.request]
        assert len(taken) == len(given), name
        assert all(one == other or issubclass(one, other) for one, other in zip(given, taken, strict=True)), name


def test_a_feature_names_the_operations_of_its_modules() -> None:
    """An operation that is not named would have no module, and is found by nothing."""
    assert len(ROWS) == len(OPERATIONS)
    assert registry._loaded.keys() == OPERATIONS.keys()


def test_every_operation_is_a_method_of_the_memory_and_no_method_is_something_else(memory: Memory) -> None:
    names = registry.methods().keys()
    assert {*registry.methods().values()} == OPERATIONS.keys()
    assert all(callable(attrgetter(name)(memory)) for name in names)
    owners = {"": Memory, **{noun: type(attrgetter(noun)(memory)) for noun in NOUNS}}
    methods = {
        f"{noun}.{method}".removeprefix(".")
        for noun, owner in owners.items()
        for method, value in vars(owner).items()
        if not method.startswith("_") and not isinstance(value, cached_property)
    }
    assert methods == names


def test_the_shape_of_every_answer_is_in_the_reference() -> None:
    printed = [*ANSWERS.values(), Sequence[str], EntityType | RelationType]  # `names` is for shells; `type show`
    assert [name for name, row in OPERATIONS.items() if row.answer not in printed] == []


def test_an_edit_takes_fields_as_keywords_too(memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")
    memory.edit("boom", {"fix": "duck", "cost": 1.0}, fix="run", tag=["loud"])
    record = memory.get("boom").record
    assert isinstance(record, Failure)
    assert (record.fix, record.cost, record.tags) == ("run", 1.0, ("loud",))
    with pytest.raises(GraphmemError, match="fields is 'oops'"):
        memory.edit("boom", "oops")  # type: ignore[arg-type]


def test_decisions_and_constraints_have_an_add_of_their_own(memory: Memory) -> None:
    assert memory.decisions.add("use the new cart", reasoning="it is faster").ref.startswith("decision/")
    assert memory.constraints.add("never on a friday").ref.startswith("constraint/")


def test_a_caller_who_may_only_read_gets_answers_and_previews_and_writes_nothing(memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")
    reader, before = Caller(may=READ), contents(memory.store.client.root)
    for name, row in OPERATIONS.items():
        if row.effect == READ or row.previews is not None:
            continue
        with pytest.raises(ReadOnly, match=f"{name} writes, and this caller may only read"):
            dispatch.call(memory.store.runtime, reader, name, row.request.model_construct())
    for name, given in PREVIEWS.items():
        row = OPERATIONS[name]
        real = {**given, str(row.previews): row.previews != "dry_run"}
        with pytest.raises(ReadOnly):
            dispatch.call(memory.store.runtime, reader, name, row.request.model_construct(**real))
    with carried_out(RequestUnderWay("one")) as asked:
        for name in ("list", "status", "stats", "prune"):
            dispatch.call(memory.store.runtime, reader, name, {})
    assert not asked.is_written  # a reader cannot fill the place where the requests of writers are kept
    assert contents(memory.store.client.root) == before


@pytest.mark.long
def test_what_reads_changes_no_file_and_every_answer_has_its_type(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        repository.commit("the empty memory")
        for name, given in (REAL | {name: {"ref": "failure/boom"} for name in ("log", "why")}).items():
            row, before = OPERATIONS[name], contents(tmp_path)
            answer = call(memory, name, given)
            if isinstance(row.answer, type) and issubclass(row.answer, BaseModel):
                assert type(answer) is row.answer, name
            else:
                TypeAdapter(row.answer).validate_python(answer)
            request = row.request.model_validate({key: one for key, one in given.items() if key != row.stream})
            if row.only_reads(request):
                assert contents(tmp_path) == before, name


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done to the store: a moment of it is read, it is held to be written, its files are looked at."""
    done: list[str] = []

    def noted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            done.append(name)
            return method(*args, **named)

        return run

    monkeypatch.setattr(Client, "unchanging", noted("read", Client.unchanging))
    monkeypatch.setattr(Client, "writing", noted("written", Client.writing))
    monkeypatch.setattr(FilePlace, "changed_files", noted("looked", FilePlace.changed_files))
    return done


@pytest.mark.long
def test_a_use_case_that_takes_a_snapshot_is_one_moment_and_one_look_at_the_files(
    tmp_path: Path, done: list[str]
) -> None:
    """Whatever an operation is made of: all of it sees the same records."""
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        repository.commit("the empty memory")
        for name, given in (REAL | {name: {"ref": "failure/boom"} for name in ("log", "why")}).items():
            row = OPERATIONS[name]
            done.clear()
            call(memory, name, given)
            if row.needs_store and name not in OPENING:
                request = row.request.model_validate({key: one for key, one in given.items() if key != row.stream})
                moment = "read" if row.only_reads(request) else "written"
                assert sorted(done) == sorted([moment, "looked", *["looked"] * (name in REWRITING)]), name


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("query", {"text": "it went boom"}),
        ("context", {"objective": "it went boom"}),
        ("similar", {"text": "a faster shop"}),
        ("stats", {"objective": "it went boom"}),
    ],
)
def test_a_question_is_answered_from_one_moment(
    memory: Memory, done: list[str], name: str, given: dict[str, Any]
) -> None:
    memory.failures.add("it went boom", name="boom")
    done.clear()
    call(memory, name, given)
    assert sorted(done) == ["looked", "read"]


def test_a_preview_changes_nothing_and_waits_for_no_writer(tmp_path: Path) -> None:
    assert PREVIEWS.keys() == {name for name, row in OPERATIONS.items() if row.previews}
    with_dry_run = {name for name, row in OPERATIONS.items() if "dry_run" in row.request.model_fields}
    assert with_dry_run == {name for name, row in OPERATIONS.items() if row.previews == "dry_run"}
    with open_memory(tmp_path) as memory:
        memory.types.add_entity("service")
        memory.failures.add("it went boom", name="boom")
        memory.failures.add("it went bang", name="bang")
        before = contents(tmp_path)
        for name, given in PREVIEWS.items():
            if name in REFUSED_HERE:
                continue
            assert OPERATIONS[name].only_reads(OPERATIONS[name].request.model_validate(given)), name
            with locked(memory.store.client.ledger.files.lock, timeout_s=0):
                call(memory, name, given)
            assert contents(tmp_path) == before, name


def test_what_can_be_asked_of_the_past_has_a_command_that_takes_a_commit() -> None:
    of_the_past = {name for name, row in OPERATIONS.items() if row.past}
    commands = {verb: command_line().get_command(None, verb) for verb in VERBS}
    commands["lesson inject"] = commands["lesson"].commands["inject"]
    with_commit = {verb for verb, one in commands.items() if any("--at" in option.opts for option in one.params)}
    assert {COMMANDS.get(name, name) for name in of_the_past} == with_commit
    assert all(OPERATIONS[name].effect == READ for name in of_the_past)


@pytest.mark.parametrize("name", [name for name, row in OPERATIONS.items() if row.at_home])
def test_what_belongs_to_the_caller_s_machine_is_not_run_by_a_service(name: str) -> None:
    noun, _, verb = name.rpartition(".")
    nouns = {
        "explorations": "explore", "extractors": "extract", "embed": "embed", "imports": "import",
        "candidates": "review", "ledger": "ledger", "team": "team", "graph": "graph",
        "works": "work", "stages": "stage",
    }  # fmt: skip
    command = nouns.get(noun, COMMANDS.get(name, verb))
    option = {"check_proofs": "--prove", "cypher_projects": "--projects"}.get(verb, "")
    assert command.split()[0] in VERBS
    assert not HERE.isdisjoint((command.split()[-1], verb, option))


@pytest.mark.parametrize(
    ("name", "given", "looks"),
    [
        ("list", {}, 1),
        ("query", {"text": "it went boom"}, 1),
        ("context", {"objective": "it went boom"}, 1),
        ("similar", {"text": "a faster shop"}, 1),
        ("sessions.start", {"task": "mend it"}, 1),
        ("sessions.decide", {"decision": "use the new cart"}, 1),
        ("failures.add", {"trigger": "another error"}, 1),
        ("tasks.start", {"ref": "shop/001"}, 2),  # before the lock is taken, and under it
        ("tasks.block", {"ref": "shop/001", "reason": "it went boom"}, 2),
    ],
)
def test_a_call_looks_at_the_files_once_and_a_writer_that_reads_first_once_more_under_the_lock(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, Any], looks: int
) -> None:
    memory.failures.add("it went boom", name="boom")
    memory.campaigns.create("a faster shop", name="shop")
    memory.campaigns.add_tasks("shop", [{"seq": 1, "slug": "measure", "objective": "measure it"}])
    memory.query("boom")
    counted, changed_files = [], FilePlace.changed_files

    def count(self: FilePlace, look: Look | None = None, *, is_thorough: bool = False) -> list[str]:
        counted.append(name)
        return changed_files(self, look, is_thorough=is_thorough)

    monkeypatch.setattr(FilePlace, "changed_files", count)
    call(memory, name, given)
    assert len(counted) == looks
