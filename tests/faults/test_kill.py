"""``kill -9`` while a command works: all of its write is there or nothing, and a clean rebuild answers the same."""

import contextlib
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

import orjson
import pytest

from graphmem import GraphmemError, Memory
from tests.faults import whole
from tests.forked import processes
from tests.repository import Repository
from tests.sample import edge, failure, trust_all

pytestmark = [pytest.mark.process, pytest.mark.long]
KILLS, SEED = (int(part) for part in os.environ.get("GRAPHMEM_TEST_COMMAND_KILLS", "1 1").split())
MOST_TRIES = 8  # of a kill that is to come before the end of its command
NAME = "project"  # of the folder: ids of reports hold it

Command = Callable[[Memory], object]


def accept(memory: Memory) -> None:
    """Accept the fix pair of the transcript, unless that was done before."""
    for one in memory.candidates.review().candidates:
        memory.candidates.accept(one.id)


WRITES: dict[str, Command] = {
    "add": lambda memory: memory.failures.add("a new error", name="new", fix="x" * 3_000),
    "add --ndjson": lambda memory: memory.add_rows(
        [failure(f"n{n}") for n in range(200)] + [edge(f"failure/n{n}", "causes", "failure/f0") for n in range(50)]
    ),
    "edit": lambda memory: memory.edit("f1", {"fix": "another fix"}),
    "rename": lambda memory: memory.rename("f1", "renamed"),
    "forget": lambda memory: memory.forget("f2", "it is gone"),
    "restore": lambda memory: memory.restore("f59"),
    "supersede": lambda memory: memory.supersede("f3", "f4", "the same"),
    "purge --yes": lambda memory: memory.store.purge(["f1"], yes=True),
    "undo": lambda memory: memory.undo(),
    "link": lambda memory: memory.relations.link("failure/f5", "causes", "failure/f6"),
    "unlink": lambda memory: memory.relations.unlink("pattern/p1", "solves", "failure/f1"),
    "feedback": lambda memory: memory.feedback("f7", helped=True),
    "learn": lambda memory: memory.lessons.learn(whole.EVENTS, run="run-2"),
    "decay": lambda memory: memory.lessons.decay("run-3"),
    "promote --yes": lambda memory: memory.experiences.promote(yes=True),
    "prune --yes": lambda memory: memory.store.prune(max_failures=40, yes=True),
    "session task": lambda memory: memory.sessions.work_on("another task"),
    "session decide": lambda memory: memory.sessions.decide("use kuzu", reasoning="it is there too"),
    "session end": lambda memory: memory.sessions.end(),
    "campaign create": lambda memory: memory.campaigns.create("add another page", name="other"),
    "campaign add-tasks": lambda memory: memory.campaigns.add_tasks(
        "page", [{"seq": 2, "slug": "b", "objective": "b"}]
    ),
    "campaign complete": lambda memory: memory.campaigns.complete("page", outcome="it is there", status="partial"),
    "type add": lambda memory: memory.types.add_entity("place"),
    "type rename --yes": lambda memory: memory.types.rename("part", "piece", yes=True),
    "type drop --yes": lambda memory: memory.types.drop("part", yes=True),
    "extract add": lambda memory: memory.store.extractors.add("python"),
    "extract run": lambda memory: (trust_all(memory), memory.store.extractors.run(["tags"])),
    "import": lambda memory: memory.imports.file(memory.store.client.root / "issues.jsonl"),
    "import sessions": lambda memory: memory.imports.sessions(
        paths=[memory.store.client.root / "session.jsonl"], any_project=True
    ),
    "import git": lambda memory: memory.imports.git(),
    "import notes": lambda memory: memory.imports.notes(paths=[memory.store.client.root / "AGENTS.md"]),
    "import ci": lambda memory: memory.imports.ci(paths=[memory.store.client.root / "report.xml"]),
    "review accept": accept,
    "review dismiss": lambda memory: memory.candidates.dismiss(memory.candidates.review().candidates[0].id),
    "export": lambda memory: memory.store.export(),
    "resolve": lambda memory: memory.store.resolve(),
    "split": lambda memory: memory.store.split("failure"),
    "split --files 1": lambda memory: memory.store.split("failure", 1),
    "reset --yes": lambda memory: memory.store.reset(yes=True),
    "vacuum": lambda memory: memory.store.vacuum(),
    "init": lambda memory: Memory.init(memory.store.client.root),
    "doctor --fix": lambda memory: memory.store.doctor(fix=True),
    "doctor --fix of a type": lambda memory: memory.store.doctor(fix=True),
    "rebuild": lambda memory: memory.store.rebuild(embed=False),
}
HARVEST = ("import sessions", "import git", "import notes", "import ci", "review accept", "review dismiss")
READS: dict[str, Callable[[Path], object]] = {  # of a store without local/
    "first list": lambda folder: first(folder, lambda memory: memory.list()),
    "first query": lambda folder: first(folder, lambda memory: memory.query("error 5 in module 5")),
    "first query with a model": lambda folder: first(folder, lambda memory: memory.query("error 5"), has_model=True),
    "first cypher": lambda folder: first(folder, whole.nodes),
    "first list --at": lambda folder: first(folder, lambda memory: whole.past(folder)),
    "first match": lambda folder: first(folder, lambda memory: memory.match([b"Error: error 5 in module 5\n"])),
}


def first(folder: Path, ask: Command, *, has_model: bool = False) -> None:
    """Ask a store without derived files."""
    if has_model:
        os.environ.pop("GRAPHMEM_EMBEDDING_MODEL", None)
        with Memory(folder) as memory:
            ask(memory)
    else:
        with whole.opened(folder) as memory:
            ask(memory)


def prepare(name: str, folder: Path) -> None:
    """Bring a copy of the store into the state in which a command has work to do."""
    store = folder / ".graphmem"
    if name in READS:
        shutil.rmtree(store / "local")
    elif name == "extract run":
        (store / "extractors").mkdir()
        (store / "extractors/tags.md").write_text("---\ncommand: [cat, found]\nwrites: [part, causes]\n---\n")
        rows = [{"kind": "entity", "type": "part", "name": f"s{n}"} for n in range(100)]
        edges = [{"kind": "edge", "from": f"part/s{n}", "type": "causes", "to": "failure/f0"} for n in range(100)]
        (folder / "found").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in [*rows, *edges]))
    elif name == "import":
        issues = [{"id": f"i-{n}", "title": f"issue {n}", "status": "open", "issue_type": "task"} for n in range(200)]
        needs = [{"depends_on_id": "i-0", "type": sort} for sort in ("blocks", "related")]
        (folder / "issues.jsonl").write_bytes(
            b"".join(orjson.dumps({**issue, "dependencies": needs}) + b"\n" for issue in issues)
        )
    elif name in HARVEST:
        prepare_harvest(name, folder)
    elif name == "split --files 1":
        with whole.opened(folder) as memory:
            memory.store.split("failure", 256)
    elif name == "export":
        path = store / "data/failure.ndjson"
        path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    elif name == "resolve":
        path = store / "data/pattern.ndjson"
        lines = path.read_bytes().splitlines(keepends=True)
        ours = lines[0].replace(b"do p0", b"do ours")
        path.write_bytes(b"<<<<<<< HEAD\n" + ours + b"=======\n" + lines[0] + b">>>>>>> b\n" + b"".join(lines[1:]))
    elif name in ("init", "doctor --fix"):
        (store / ".gitignore").unlink()
        (store / "schema.json").write_text("{}\n")
    elif name == "doctor --fix of a type":
        (store / "types/entities/part.md").unlink()


def prepare_harvest(name: str, folder: Path) -> None:
    """Put in what an import of candidates reads."""
    if name in ("import sessions", "review accept"):
        most = 200 if name == "import sessions" else 1
        (folder / "session.jsonl").write_bytes(b"".join(map(transcript, range(most))))
        if name == "review accept":
            with whole.opened(folder) as memory:
                WRITES["import sessions"](memory)
    elif name == "import git":
        repository = Repository(folder)
        for number in range(20):
            repository.commit(f"Fix it\n\n    ValueError: no file {number:x} of {'abcdefghijklmnopqrst'[number]}\n")
    elif name in ("import notes", "review dismiss"):
        rules = "".join(f"- Never use the function f{number} in tests, it is slow\n" for number in range(200))
        (folder / "AGENTS.md").write_text(rules)
        if name == "review dismiss":
            with whole.opened(folder) as memory:
                memory.imports.notes(paths=[folder / "AGENTS.md"])
    elif name == "import ci":
        case = '<testcase name="t{0}"><failure message="ValueError: no {0} file">at {0}</failure></testcase>'
        cases = "".join(case.format(f"n{number}x") for number in range(200))
        (folder / "report.xml").write_text(f"<testsuite>{cases}</testsuite>")


def transcript(number: int) -> bytes:
    """Return a session in which a linter failed, a file was edited, and the linter passed."""

    def lines() -> Iterator[dict[str, object]]:
        word = "".join("abcdefghij"[int(digit)] for digit in str(number))
        base = {"sessionId": f"s{number}", "cwd": "/shop", "timestamp": "2026-01-05T10:00:00Z"}
        calls = [
            (
                "Bash",
                {"command": "golangci-lint run | tail -5"},
                f"a.go:1:1: the {word} is used badly ({word}check)\n1 issues:",
            ),
            ("Edit", {"file_path": "/shop/a.go", "old_string": "a", "new_string": "b"}, "done"),
            ("Bash", {"command": "golangci-lint run | tail -5"}, "0 issues."),
        ]
        for place, (tool, given, result) in enumerate(calls):
            use = {"type": "tool_use", "id": f"t{number}-{place}", "name": tool, "input": given}
            yield {**base, "type": "assistant", "message": {"content": [use]}}
            done = {"type": "tool_result", "tool_use_id": f"t{number}-{place}", "content": result}
            yield {**base, "type": "user", "message": {"content": [done]}}

    return b"".join(orjson.dumps(line) + b"\n" for line in lines())


def work(name: str, folder: Path, said: Connection) -> None:
    """Open the store, say so, do one command and say so."""
    os.environ["GRAPHMEM_EMBEDDING_MODEL"] = "none"
    if name in READS:
        said.send_bytes(b"begin")
        READS[name](folder)
    else:
        with whole.opened(folder) as memory:
            if name != "resolve":
                memory.list(limit=1)
            said.send_bytes(b"begin")
            WRITES[name](memory)
    said.send_bytes(b"end")


def run(name: str, folder: Path, after_s: float | None) -> tuple[bool, float]:
    """Do a command in a process that is killed after some seconds; return whether it had ended, and its seconds."""
    ours, theirs = processes.Pipe(duplex=False)
    child = processes.Process(target=work, args=(name, folder, theirs))
    child.start()
    theirs.close()
    assert ours.recv_bytes() == b"begin"
    begin = time.monotonic()
    if after_s is not None:
        while time.monotonic() - begin < after_s:  # a sleep is too coarse for a command of some milliseconds
            time.sleep(0)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid or 0, signal.SIGKILL)
    try:
        has_ended = ours.recv_bytes() == b"end"
    except EOFError:
        has_ended = False
    seconds = time.monotonic() - begin
    child.join(60)
    return has_ended, seconds


REPEATED = (
    "export",
    "resolve",
    "init",
    "doctor --fix",
    "doctor --fix of a type",
    "review accept",
)  # several steps, each of them whole: a second run finishes them
PREPARED = ("extract run", "import", "split --files 1", *HARVEST)  # it finds another store than the others
OF_THE_GRAPH = ("rebuild", "first cypher")  # the next command at the graph removes a draft of it

TYPICAL = {  # of each sort some; a run of all tests has the other ones
    "add", "add --ndjson", "edit", "rename", "type rename --yes", "purge --yes", "undo", "link", "lesson learn",
    "session decide", "resolve", "split", "doctor --fix", "rebuild", "extract run", "import", "first list",
    "first cypher", "first list --at",
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a store holds at some point, the candidates that wait, and what an ``undo`` makes of it."""

    files: Mapping[str, bytes]
    waiting: Sequence[str]
    answers: Mapping[str, str]
    undone: Mapping[str, list[bytes]] | str  # the rows, or why not


def outcome(name: str, folder: Path) -> Outcome:
    """Look at a store after a command, and check that all is well and goes on working."""
    with whole.opened(folder) as memory:
        if name in REPEATED:
            WRITES[name](memory)
        checked = memory.store.validate()
        assert checked.ok, checked.findings
        waiting = sorted(one.id for one in memory.candidates.review(limit=1_000).candidates)
        files, rows, answers = whole.committed(folder), whole.rows(folder), whole.answers(memory)
        memory.failures.add("an error after that", name="after")
        if name in OF_THE_GRAPH:
            assert len(memory.cypher("MATCH (n:Failure)<-[s:SOLVES]-(m) RETURN n.name").rows) == 20
        if name == "first list --at":
            whole.past(folder)
        assert whole.drafts(folder) == []
        memory.undo()
        assert whole.rows(folder) == rows
        try:
            memory.undo()
            undone: Mapping[str, list[bytes]] | str = whole.rows(folder)
        except GraphmemError as error:
            undone = type(error).__name__
        shown = whole.answers(memory)
    assert whole.clean(folder) == shown
    return Outcome(files, waiting, answers, undone)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kill") / NAME
    whole.fill(folder)
    return folder


@pytest.fixture(scope="module")
def untouched(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What the store holds that no command has changed, for those that need no preparation."""
    return outcome("add", shutil.copytree(project, tmp_path_factory.mktemp("untouched") / NAME))


@pytest.mark.parametrize(
    "name", [name if name in TYPICAL else pytest.param(name, marks=pytest.mark.long) for name in (*WRITES, *READS)]
)
def test_a_command_that_is_killed_has_written_all_or_nothing(
    project: Path, untouched: Outcome, tmp_path: Path, name: str
) -> None:
    def copied(place: str) -> Path:
        made = shutil.copytree(project, tmp_path / place / NAME)
        prepare(name, made)
        return made

    done, chance = copied("done"), random.Random(f"{name} {SEED}")
    has_ended, seconds = run(name, done, None)
    assert has_ended
    is_plain = name in WRITES and name not in (*REPEATED, *PREPARED, *OF_THE_GRAPH)
    before, after = untouched if is_plain else outcome(name, copied("before")), outcome(name, done)
    assert name not in HARVEST or name in REPEATED or before.waiting != after.waiting
    for number in range(KILLS):
        after_s, has_ended, tries = chance.random() * seconds, True, 0
        while has_ended:  # a kill that came too late shows nothing: the next one comes earlier
            assert tries < MOST_TRIES, f"kill {number}: the command ended before each of {tries} kills"
            folder = copied(f"killed-{number}-{tries}")
            has_ended, _ = run(name, folder, after_s)
            found = outcome(name, folder)
            if name == "purge --yes" and found.files == before.files:  # it forgets the writes before it first
                found = replace(found, undone=before.undone)
            assert found in ((after,) if has_ended else (before, after)), f"kill {number} after {after_s} s"
            shutil.rmtree(folder.parent)
            after_s, tries = after_s / 2, tries + 1
