"""A caller who may see some kinds and types only gets the answers of a store that never had the others."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphmemError, Memory, Refused
from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.output_problem import problem_in
from graphmem.core.records.candidates import queue_of
from graphmem.core.records.record_contract import GetRequest
from graphmem.kernel import dispatch
from graphmem.kernel.dispatch import OWNER, Caller
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.model.candidate import Candidate, candidate_id
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.store.runtime import Rights
from tests.repository import Repository
from tests.sample import data, open_memory

SEEN = frozenset({"pattern", "lesson", "service"})
READER = Caller(sees=SEEN, writes=frozenset())
ASKED: dict[str, list[dict[str, Any]]] = {
    "get": [{"ref": ref} for ref in ("pattern/calm", "calm", "failure/hush", "hush", "hush-2", "room/attic", "attic",
                                     "pattern/hus", "service/shop", "both")],
    "list": [{}, {"kind": "pattern"}, {"kind": "failure"}, {"kind": "service"}, {"kind": "room"}, {"kind": "rooms"},
             {"limit": 1}, {"tags": ["quiet"]}, {"sort": "cost"}],
    "query": [{"text": "hush"}, {"text": "a quiet place for the shop"}, {"text": "failure/hush"},
              {"text": "stay calm", "kinds": ["pattern"]}, {"text": "x", "kinds": ["room"]},
              {"text": "hush: the attic is locked", "candidates": True}],
    "related": [{"ref": "pattern/calm"}, {"ref": "failure/hush"}, {"ref": "service/shop", "max_hops": 3},
                {"ref": "pattern/calm", "types": ["hides"]}, {"ref": "pattern/calm", "types": ["serves"]}],
    "path": [{"source": "pattern/calm", "target": "pattern/both"}, {"source": "pattern/calm", "target": "failure/hush"},
             {"source": "pattern/calm", "target": "service/shop"}],
    "solutions": [{"ref": "failure/hush"}, {"ref": "hush"}],
    "names": [{}, {"prefix": "failure/"}, {"prefix": "h"}, {"prefix": "room"}, {"limit": 2}],
    "experiences.recall": [{}, {"task_type": "bug"}, {"tags": ["quiet"]}],
    "lessons.inject": [{}, {"domain": "shop"}],
    "match": [{}],
    "types.brief": [{}, {"budget": 60}],
    "similar": [{"text": "a quiet campaign"}],
    "types.list": [{}],
    "types.show": [{"name": name} for name in ("service", "serves", "room", "hides", "rom")],
    "cypher": [{"query": query} for query in (
        "MATCH (n) RETURN label(n) AS l, count(*) AS c ORDER BY l",
        "MATCH (a)-[r]->(b) RETURN a.name, label(r), b.name ORDER BY 1, 2, 3",
        "MATCH (r:Room) RETURN r.name", "MATCH (r:Rome) RETURN r.name", "MATCH (f:Failure) RETURN f.name",
        "MATCH (a)-[:HIDES]->(b) RETURN a.name", "MATCH (p:Pattern) RETURN p.ref, p.insight ORDER BY 1")],
    "cypher_named": [{"name": "failure/solutions", "parameters": {"ref": "failure/hush"}}, {"name": "failure/unsolved"},
                     {"name": "relation/neighbours", "parameters": {"ref": "pattern/both", "relation": "serves"}},
                     {"name": "relation/neighbours", "parameters": {"ref": "pattern/both", "relation": "hides"}}],
    "queries": [{}],
    "stats": [{}],
    "validate": [{}],
    "log": [{"ref": "pattern/calm"}, {"ref": "failure/hush"}],
    "diff": [{}],
    "context": [{"objective": "a quiet place for the shop"}, {"objective": "hush: the attic is locked"}],
    "prime": [{}],
    "stale": [{}],
}  # fmt: skip
OF_NOTHING_HIDDEN = ("lessons.inject", "queries", "validate", "stale")  # the two stores have the same of these
LOG = "hush: the attic is locked\n"


def fill(memory: Memory, *, everything: bool) -> None:
    """Fill a store; without everything, with what the reader may see only."""
    memory.types.add_entity("service", description="what runs")
    memory.types.add_relation("serves", sources=["service"], targets=["any"], description="for whom")
    memory.patterns.add("a noisy place", "stay calm", name="calm", tags=["quiet"])
    memory.patterns.add("both are noisy", "close the door", name="both")
    memory.lessons.add("never shout in the shop", type="preference", name="quiet", domain="shop")
    memory.entities.add("service", "shop")
    memory.relations.link("service/shop", "serves", "pattern/both")
    if everything:
        memory.types.add_entity("room", description="where it hides")
        memory.types.add_relation("hides", sources=["room"], targets=["failure"], description="what it has")
        memory.failures.add("hush: the attic is locked", name="hush", fix="the key is below the stone",
                            match="hush: .*", tags=["quiet"], cost=3.0)  # fmt: skip
        memory.failures.add("hush again in the cellar", name="both")
        memory.entities.add("room", "attic")
        memory.relations.link("room/attic", "hides", "failure/hush")
        memory.relations.link("pattern/calm", "solves", "failure/hush")
        memory.relations.link("pattern/both", "solves", "failure/hush")
        memory.experiences.add("bug", "a hushed bug", approach="listen", outcome="success", lessons=["listen"],
                               tags=["quiet"])  # fmt: skip
        memory.campaigns.create("a quiet campaign in the attic", name="attic")
        memory.campaigns.complete("attic", outcome="hushed")
        memory.feedback("failure/hush", helped=True, question="the shop is noisy")
        problem = problem_in("hush: the attic is locked")
        with queue_of(memory.store.client).changing() as queue:
            queue.add(Candidate(id=candidate_id(problem.key), keys=keys_of(problem), base=0.9,
                                failure={"trigger": problem.text}, sessions=("s1",)))  # fmt: skip


def answers(memory: Memory, caller: Caller, name: str) -> list[Any]:
    """Return what a caller gets from an operation: answers, or errors with their hints and details."""
    found: list[Any] = []
    for given in ASKED[name]:
        row = OPERATIONS[name]
        try:
            answer = dispatch.call(
                memory.store.runtime, caller, name, row.request(**given), LOG if row.stream is not None else None
            )
        except GraphmemError as error:
            found.append((given, error.code, error.message, error.hint, error.details))
            continue
        found.append((given, plain(answer.model_dump(mode="json") if hasattr(answer, "model_dump") else answer)))
    return found


def is_refused(answer: Sequence[Any]) -> bool:
    """Return whether an answer says that a kind of graphmem's own may not be read."""
    return answer[1] == "refused" and "may not read" in answer[2]


def plain(value: Any) -> Any:
    """Return an answer without what depends on the times and ids of two stores."""
    if isinstance(value, dict):
        left_out = ("created_at", "asked", "cursor", "mean_importance", "tokens", "access_count",
                    "last_accessed")  # fmt: skip
        if "record" in value and "relations" in value:  # the other store has no edge to what the caller may not see
            whole = [one for one in value["relations"] if "/" in one["from"] and "/" in one["to"]]
            value = value | {"relations": whole}
        return {key: plain(one) for key, one in value.items() if key not in left_out}
    if isinstance(value, str):
        return re.sub(r"--asked \w+| \((read|write|read, write)\)", "", value)
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def test_the_operations_that_can_be_limited_are_all_asked_here() -> None:
    assert {name for name, row in OPERATIONS.items() if row.scoped and row.effect == "read"} == ASKED.keys()


@pytest.fixture(params=["without a model", "with a model"])
def whole(request: pytest.FixtureRequest, tmp_path: Path, embedder: Embedder) -> Iterator[Memory]:
    """A store with everything, in a repository."""
    Repository(tmp_path / "whole")
    with open_memory(tmp_path / "whole", embedder=embedder if request.param == "with a model" else None) as memory:
        fill(memory, everything=True)
        yield memory


@pytest.mark.usefixtures("graph_written_here")
@pytest.mark.parametrize("sees", [SEEN, frozenset()])
@pytest.mark.slow
@pytest.mark.long
def test_a_caller_gets_the_answers_of_a_store_that_has_nothing_else(
    whole: Memory, tmp_path: Path, sees: frozenset[str]
) -> None:
    Repository(tmp_path / "part")
    with open_memory(tmp_path / "part", embedder=whole.store.client.embedder) as part:
        if sees:
            fill(part, everything=False)
        for name in ASKED:
            caller = Caller(sees=sees, writes=frozenset())
            found, owned = answers(whole, caller, name), answers(part, OWNER, name)
            assert found == answers(part, caller, name), name
            if name == "types.brief":  # which says of each type what the caller may do
                continue
            here = [one if is_refused(one) else whole_one for one, whole_one in zip(found, owned, strict=True)]
            assert found == here, name
            if name not in OF_NOTHING_HIDDEN:
                assert answers(whole, OWNER, name) != here, name


def test_an_operation_that_cannot_be_limited_is_refused_and_so_is_every_write(memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")
    for name, row in OPERATIONS.items():
        if not row.scoped:
            with pytest.raises(Refused, match=f"{name} cannot be limited to some kinds"):
                dispatch.call(memory.store.runtime, READER, name, row.request.model_construct())
    with pytest.raises(Refused, match="cannot write"), memory.store.runtime.client(Rights(SEEN)).writing():
        pass


def test_a_bad_line_of_a_file_that_a_caller_may_not_see_is_not_told(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        fill(memory, everything=True)
        for kind in ("failure", "pattern"):
            with data(tmp_path, kind).open("a") as file:
                file.write(json.dumps({"kind": kind, "name": "Bad Name", "trigger": "x"}) + "\n")
        request = OPERATIONS["list"].request()
        for caller, files in ((OWNER, ["failure", "pattern"]), (READER, ["pattern"])):
            notices = dispatch.call(memory.store.runtime, caller, "list", request).notices
            assert [re.findall(r"data/(\w+)\.ndjson", notice) for notice in notices] == [[file] for file in files]
        data(tmp_path, "failure").write_text("")
        data(tmp_path, "pattern").write_text("")
        dispatch.call(memory.store.runtime, READER, "list", request)
        assert dispatch.call(memory.store.runtime, OWNER, "list", request).notices == []  # none of another caller's


def test_what_changes_on_disk_and_in_another_process_is_seen_and_nothing_more(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, Memory(tmp_path) as other:
        fill(memory, everything=True)
        request = OPERATIONS["list"].request()
        assert dispatch.call(memory.store.runtime, READER, "list", request).total == 4
        other.patterns.add("a new one", "look", name="new")
        other.failures.add("a new failure", name="new")
        assert dispatch.call(memory.store.runtime, READER, "list", request).total == 5
        with pytest.raises(Refused, match="may not read 'failure'"):
            dispatch.call(memory.store.runtime, READER, "get", GetRequest(ref="failure/new"))


def told(memory: Memory, who: Caller | str, **asked: dict[str, Any] | str) -> str:
    """Return all that a caller, or one who may see a kind or two, is told by some operations; errors as a whole."""
    caller = who if isinstance(who, Caller) else Caller(sees=frozenset(who.split()), writes=frozenset())
    found: list[Any] = []
    for name, given in asked.items():
        row = OPERATIONS[name.replace("__", ".")]
        fields, lines = ({"verbose": True}, given) if isinstance(given, str) else (given, None)
        request = row.request(**fields)
        try:
            found.append(dispatch.call(memory.store.runtime, caller, row.name, request, lines).model_dump(mode="json"))
        except GraphmemError as error:
            found.append((error.code, error.message, error.hint, error.details))
    return json.dumps(found)


@pytest.fixture
def worked(tmp_path: Path) -> Iterator[Memory]:
    """A store, in a repository, whose records refer to records of other kinds by their fields."""
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.failures.add("the hushed attic", name="hush")
        memory.lessons.add("never shout", type="preference", name="quiet")
        memory.campaigns.create("move in", name="move")
        memory.campaigns.add_tasks("move", {"tasks": [{"seq": 1, "slug": "box", "objective": "carry the boxes"}]})
        memory.tasks.start("task/move/001-box")
        repository.commit("a task")
        memory.tasks.block("task/move/001-box", reason="it is locked", by=["failure/hush"])
        memory.sessions.decide("take the stairs", task="task/move/001-box", key="stairs")
        memory.sessions.note(used=["failure/hush"])
        memory.sessions.end()
        memory.events.add("deploy", subject="failure/hush", data={"place": "hushed"})
        memory.events.add("deploy", subject="lesson/quiet")
        memory.feedback("lesson/quiet", helped=True, task="task/move/001-box")
        memory.add_rows([b'{"kind":"run","run":"r1","seen":["lesson/quiet"],"at":"2026-10-01T00:00:00Z"}'])
        yield memory


@pytest.mark.long
@pytest.mark.usefixtures("graph_written_here")
def test_no_field_of_a_record_names_what_a_caller_may_not_see(worked: Memory) -> None:
    for kind in ("task", "session", "decision", "event", "run"):
        refs = [one.ref for one in worked.list(kind).results]
        assert refs
        nodes = {"query": "MATCH (n) RETURN n"}
        found = told(worked, kind, list={"kind": kind}, diff={}, cypher=nodes)
        found += "".join(told(worked, kind, get={"ref": ref}, log={"ref": ref}) for ref in refs)
        assert "hush" not in found
        assert "never-shout" not in found
        assert kind == "task" or "001-box" not in found
    assert "001-box" not in told(worked, "lesson", diff={})  # of a report, the task
    assert "001-box" in told(worked, "decision task", get={"ref": "decision/stairs"})
    assert "hush" in told(worked, "task failure", get={"ref": "task/move/001-box"})
    assert "never-shout" in told(worked, "event lesson", list={"kind": "event"})


HUSHED = "hush: the attic of 12 is locked"
MERGED = ('"action": "merged"', '"action": "updated"', '"merged": 1', '"updated": 1')
UNREAD: list[tuple[str, dict[str, Any] | str]] = [
    ("failures__add", {"trigger": HUSHED, "fix": "turn the key"}),
    ("failures__add", {"trigger": HUSHED, "dry_run": True}),
    ("failures__add", {"trigger": "something else", "name": "hush"}),
    ("failures__add", {"trigger": "something else", "name": "hush", "replace": True}),
    ("failures__add", {"trigger": "hush in the cellar"}),
    ("experiences__add", {"task_type": "bug", "description": "a dog barked", "approach": "listen",
                          "outcome": "success", "lessons": ["listen"], "confidence": "high"}),
    ("add_rows", '{"kind":"failure","trigger":"something else","name":"hush"}\n'),
    ("add_rows", '{"kind":"failure","trigger":"hush in the cellar"}\n'),
    ("add_rows", json.dumps({"kind": "failure", "trigger": HUSHED})),
    ("add_rows", '{"kind":"relation","from":"pattern/calm","type":"solves","to":"failure/hush"}\n'),
    ("add_rows", '{"kind":"feedback","ref":"failure/hush","helped":true}\n'),
    ("add_rows", '{"kind":"insight","category":"user_behavior","statement":"s","derived_from":["experience/hush"]}\n'),
    ("edit", {"ref": "failur/hush", "fields": {"fix": "x"}}),
]  # fmt: skip


@pytest.mark.parametrize("writes", ["failure experience pattern insight", None])
def test_a_write_tells_nothing_of_what_may_be_written_and_not_read(
    memory: Memory, tmp_path: Path, writes: str | None
) -> None:
    memory.failures.add(HUSHED, name="hush", fix="the key is below the stone")
    memory.failures.add("hush in the cellar", name="old-hush")
    memory.forget("failure/old-hush", "hushed up")
    memory.experiences.add("bug", "a hushed bug", approach="x", outcome="success", lessons=["y"], name="hush")
    memory.patterns.add("a noisy place", "stay calm", name="calm")
    whole = data(tmp_path, "failure").read_text()
    data(tmp_path, "lesson").write_text('{"kind":"lesson","name":"Bad Hush","text":"x"}\n')
    caller = Caller(sees=frozenset({"pattern"}), writes=None if writes is None else frozenset(writes.split()))
    for name, given in UNREAD:
        found = told(memory, caller, **{name: given})
        said = json.dumps(given) if isinstance(given, dict) else given
        for word in ("below the stone", "old-hush", "hushed", "Hush", "are 1", *MERGED):
            assert word in said or word not in found, (name, given, found)
    data(tmp_path, "failure").write_text('{"kind":"failure","name":"Bad Hush","trigger":"x"}\n')
    found = told(memory, caller, failures__add={"trigger": "quite another"})
    assert "a file that this caller may not read has bad lines" in found
    assert "Hush" not in found
    data(tmp_path, "failure").write_text(whole)
    found = told(memory, caller, add_rows=UNREAD[9][1])  # the edge may be written: one of its ends may
    assert ('"relations": 1' in found, "hush" in found) == (True, False)
    assert '"code": "dangling"' in told(memory, caller, add_rows=str(UNREAD[9][1]).replace("hush", "none"))
    assert "hush" in told(memory, caller, edit={"ref": "failur/hush", "fields": {}})
    assert "failure" not in told(memory, caller, edit={"ref": "failur/x", "fields": {}}).replace("failur/x", "")
    assert memory.get("failure/hush").record.model_dump()["helped"] == 0


def test_a_caller_with_a_scope_gets_no_subject_of_a_commit(tmp_path: Path) -> None:
    """A commit is of several records; also where the past is read."""
    repository, said = Repository(tmp_path), list[str]()
    with open_memory(tmp_path) as memory:
        memory.patterns.add("a noisy place", "stay calm", name="calm")
        memory.store.scopes.add("reader", read=["pattern"])
        repository.commit("Add Zorblatt customer")
        for sees, is_told in ((None, True), (frozenset({"pattern"}), False)):
            caller = Caller(sees=sees, writes=frozenset())
            (found,) = dispatch.call(memory.store.runtime, caller, "log", {"ref": "pattern/calm"}).results
            assert found.commit and ((found.subject == "Add Zorblatt customer") is is_told)
    for scope, is_told in (("", True), ("reader", False)):
        said.clear()
        with Memory(tmp_path, at="HEAD", scope=scope, on_message=said.append) as past:
            answer = past.list()
        assert ("Zorblatt" in f"{said} {answer.notices}") is is_told
        assert "as of commit" in f"{said}"
