"""A store with something of everything in a git repository, and what it answers: the oracle of the fault tests."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from graphmem import Memory, NotFound, Refused
from graphmem.kernel.embed.model import Embedder
from tests.features.learning.test_lessons import bug, verdict
from tests.repository import Repository
from tests.sample import START, Clock, contents, edge, failure, line, open_memory, pattern

LATER = START + timedelta(days=100)
DRAFT = re.compile(r".*\.(tmp|new)(\.(?!json)[a-z]+)?$")  # `.new.json` is of an undo note
COOKIE = "the session cookie needs SameSite none"
EVENTS = [verdict(bug("Payment retries are not idempotent"), bug("The log holds a secret"), run_id="run-2")]


def opened(folder: Path, embedder: Embedder | None = None) -> Memory:
    """Open the store at one moment: its answers depend on the time."""
    return open_memory(folder, embedder=embedder, clock=Clock(LATER, step=timedelta(0)))


def fill(folder: Path, embedder: Embedder | None = None) -> None:
    """Make the store: a commit, then some writes that are not committed."""
    repository = Repository(folder)
    with open_memory(folder, embedder=embedder) as memory:
        rows = [failure(f"f{n}", f"error {n} in module {n % 7}", fix=f"fix number {n}") for n in range(60)]
        rows += [pattern(f"p{n}") for n in range(20)]
        rows += [edge(f"pattern/p{n}", "solves", f"failure/f{n}") for n in range(20)]
        rows += [
            line(kind="experience", name=f"2026-11-0{n}_{name}", task_type="bug", description=f"fixed the {name}",
                 approach="read the log", outcome="success", confidence="low", lessons=[COOKIE])
            for n, name in enumerate(("login", "logout"), 1)
        ]  # fmt: skip
        memory.add_rows(rows)
        repository.commit("the memory")
        memory.lessons.learn([verdict(bug("The log holds a secret"), run_id="run-1")], run="run-1")
        memory.campaigns.create("add a page", name="page")
        done = {"campaign": "campaign/page", "objective": "write it", "status": "complete"}
        memory.add_rows([line(kind="task", name="page/001-write", **done)])
        memory.forget("f59", "gone")
        memory.sessions.work_on("add a page")
        memory.sessions.decide("use sqlite", reasoning="it is there")
        memory.types.add_entity("part")
        memory.types.add_relation("fits", sources=["part"], targets=["part", "failure"])
        memory.entities.add("part", "wheel")
        memory.relations.link("part/wheel", "fits", "failure/f0")
        memory.relations.link("failure/f1", "causes", "part/wheel")
        memory.failures.add("a last error of the disk", name="last")


def answers(memory: Memory) -> dict[str, str]:
    """Return what a store answers from its files, by question."""
    return {name: answer(ask, memory) for name, ask in QUESTIONS.items()}


def answer(ask: Callable[[Memory], str], memory: Memory) -> str:
    """Return the answer to a question, or why there is none."""
    try:
        return ask(memory)
    except (NotFound, Refused) as error:
        return error.message


QUESTIONS: dict[str, Callable[[Memory], str]] = {
    "list": lambda memory: memory.list(limit=1_000).model_dump_json(),
    "archived": lambda memory: memory.list(archived=True, limit=1_000).model_dump_json(),
    "get": lambda memory: memory.get("failure/f7").record.model_dump_json(),
    "solutions": lambda memory: memory.solutions("f9").model_dump_json(),
    "related": lambda memory: memory.related("failure/f11").model_dump_json(),
    "query": lambda memory: rounded(memory.query("error 5 in module 5").model_dump_json()),
    "stats": lambda memory: json.dumps(memory.stats().records),
    "types": lambda memory: memory.types.list().model_dump_json(),
}


def rounded(text: str) -> str:
    """Return JSON with five digits of each number: a vector's last ones depend on the texts that were read with it."""
    return re.sub(r"\d\.\d{6,}(?!e)", lambda found: f"{float(found[0]):.5f}", text)


def past(folder: Path) -> str:
    """Return what the store held at the commit."""
    with Memory(folder, at="HEAD", now=Clock(LATER, step=timedelta(0))) as memory:
        return memory.list(limit=1_000).model_dump_json()


def nodes(memory: Memory) -> object:
    """Return what the graph holds."""
    return memory.cypher("MATCH (n:Failure)<-[s:SOLVES]-(m) RETURN n.name, m.name ORDER BY n.name").rows


def clean(folder: Path, embedder: Embedder | None = None) -> dict[str, str]:
    """Return the answers of a store whose derived files are all made again."""
    shutil.rmtree(folder / ".graphmem/local")
    with opened(folder, embedder) as memory:
        return answers(memory)


def committed(folder: Path) -> Mapping[str, bytes]:
    """Return the committed files that hold something: a write may make one and leave it empty."""
    return {name: found for name, found in contents(folder).items() if found and not DRAFT.fullmatch(name)}


def rows(folder: Path) -> Mapping[str, list[bytes]]:
    """Return the lines of the data files in one order: a write brings them into it."""
    return {name: sorted(found.splitlines()) for name, found in committed(folder).items() if name.startswith("data/")}


def drafts(folder: Path) -> list[str]:
    """Return what an unfinished write left below a store."""
    store = folder / ".graphmem"
    return sorted(path.relative_to(store).as_posix() for path in store.rglob("*") if DRAFT.fullmatch(path.name))
