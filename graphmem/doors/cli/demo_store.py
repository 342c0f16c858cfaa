"""The demo: a store of real data that ships with the package, and what `graphmem demo` shows with it."""

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import orjson
from pydantic import SerializeAsAny

from graphmem.api import Memory
from graphmem.core.records.record_contract import BulkAdded
from graphmem.errors import Refused
from graphmem.kernel.answer import Answer
from graphmem.kernel.ledger.files.layout import FOLDER, Layout
from graphmem.kernel.store.runtime import ALL
from graphmem.kernel.system import safe_files

FINISHED = "harden-login"
PLANNED = "protect-admin-console"

# Each thing that is shown: what it is for, and the command as it is typed.
SHOWN: tuple[tuple[str, str], ...] = (
    (
        "An error message is on the screen. What is it, and what helps?",
        "graphmem query 'S602 `subprocess` call with `shell=True` identified, security issue' --limit 3",
    ),
    (
        "Another one, from a type checker, as it was printed.",
        """graphmem query 'app.py:12: error: Item "None" of "User | None" has no attribute "email"  [union-attr]'"""
        " --limit 2",
    ),
    ("What solves a failure, strongest first.", "graphmem solutions failure/credential-stuffing --limit 5"),
    (
        "What a failure is related to: the tree of its strongest paths, each with the product of its weights.",
        "graphmem related failure/exponential-data-expansion --limit 10",
    ),
    ("Which finished work is like what is planned now.", f"graphmem similar {PLANNED}"),
    (
        "One question in Cypher: which causes of content spoofing have the most solutions?",
        "graphmem cypher \"MATCH (p:Pattern)-[:SOLVES]->(c:Failure)-[:CAUSES]->(f:Failure {name: 'content-spoofing'})"
        ' RETURN c.name, count(p) AS solutions ORDER BY solutions DESC, c.name"',
    ),
)

NEXT = (
    "graphmem query 'TEXT OF AN ERROR'",
    "graphmem related failure/session-hijacking --max-hops 3 --limit 20",
    "graphmem cypher --list",
    "graphmem --help",
)


class DemoStep(Answer):
    """One command of the demo with its answer."""

    command: str
    seconds: float
    answer: SerializeAsAny[Answer]


class Demonstrated(Answer):
    """What the demo made and showed; ``identical`` says that the files came back byte for byte."""

    path: str
    added: BulkAdded
    embedded: int
    steps: list[DemoStep]
    files: dict[str, str]  # committed file: SHA-256 after the rebuild
    identical: bool
    seconds: float


def shipped() -> Traversable:
    """Return the folder of the demo's data: rows, type files and the licences they come under."""
    return files("graphmem.doors.cli") / "demo_data"


def prepare(folder: Path) -> Path:
    """
    Make an empty store with the demo's types, and return its folder.

    Raises:
        Refused: there is a store already; the demo never writes into an existing memory.
    """
    layout = Layout(folder.expanduser().absolute())
    if layout.store.exists():
        raise Refused(f"{str(layout.root)!r} has a {FOLDER} already", hint="take an empty folder: graphmem demo FOLDER")
    made = Memory.init(layout.root, nested=True)
    for sort in ("entities", "relations"):
        for file in (shipped() / "types" / sort).iterdir():
            if file.name.endswith(".md"):
                safe_files.write(layout.types / sort / file.name, file.read_bytes())
    return Path(made.path)


def plant(memory: Memory) -> tuple[BulkAdded, int]:
    """Add the demo's rows and two campaigns, one of them finished; return what was added, and the texts embedded."""
    lines = [*(shipped() / "rows.ndjson").read_bytes().splitlines(), *map(orjson.dumps, _campaign_rows())]
    added: BulkAdded = memory.store.call("add_rows", lines, name="rows.ndjson")
    outcome = "Throttled, second factor for all; no account was taken over since"
    memory.campaigns.complete(FINISHED, outcome=outcome)
    return added, memory.store.client.embed_missing(seconds=ALL)


def _campaign_rows() -> Iterator[dict[str, object]]:
    """Yield two campaigns with their tasks: one that is done, one that resembles it and is planned."""
    objective = "Harden the login of the customer portal against password guessing and stolen passwords"
    yield {"kind": "campaign", "name": FINISHED, "objective": objective, "tags": ["demo"]}
    helped = ["pattern/implement-an-intelligent-password-throttling-mechanism"]
    factor = ["pattern/leverage-multi-factor-authentication-for-all-authentication"]
    blocked = ["failure/credential-stuffing"]
    yield task(
        FINISHED, "001-threats", "List how passwords are guessed", "spec", ["docs/threats.md"], status="complete"
    )
    yield task(
        FINISHED,
        "002-throttle",
        "Slow down repeated logins",
        "impl",
        ["app/login.py", "app/limits.py"],
        ["001-threats"],
        status="complete",
        utilized=helped,
        blocked_by=blocked,
    )
    yield task(
        FINISHED,
        "003-second-factor",
        "Ask for a second factor",
        "impl",
        ["app/login.py"],
        ["001-threats"],
        status="complete",
        utilized=factor,
    )
    objective = "Protect the login of the admin console against guessed and stolen passwords"
    yield {"kind": "campaign", "name": PLANNED, "objective": objective, "tags": ["demo"]}
    yield task(PLANNED, "001-threats", "List who may log in and from where", "spec", ["docs/threats.md"])
    yield task(
        PLANNED, "002-throttle", "Slow down repeated logins", "impl", ["app/login.py", "app/admin.py"], ["001-threats"]
    )
    yield task(PLANNED, "003-alarm", "Report logins from new places", "impl", ["app/alarm.py"], ["001-threats"])


def task(
    plan: str, name: str, objective: str, sort: str, delta: list[str], depends: list[str] | None = None, **more: object
) -> dict[str, object]:
    """Return a task as a row."""
    return {
        "kind": "task",
        "name": f"{plan}/{name}",
        "campaign": f"campaign/{plan}",
        "objective": objective,
        "type": sort,
        "delta": delta,
        "depends": [f"task/{plan}/{other}" for other in depends or ()],
        **more,
    }


def committed(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file that git would take, by its path below the store."""
    client = Layout(folder.expanduser().absolute()).store
    found = (path for folder in safe_files.walk(client) for path in safe_files.files(folder))
    return {
        path.relative_to(client).as_posix(): hashlib.sha256(safe_files.read(path)).hexdigest()
        for path in found
        if path.relative_to(client).parts[0] not in ("local", "state")
    }
