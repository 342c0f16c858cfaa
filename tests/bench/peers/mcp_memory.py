"""The reference memory server of MCP, a program of npm: it finds what holds the whole query, in no order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.mcp import server
from tests.bench.peers import Encode, Search

if TYPE_CHECKING:
    from tests.bench.calls import Call, Notes

NEEDS = "mcp-server-memory"
INSTALL = "npm install -g @modelcontextprotocol/server-memory"


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """Yield the search of a server with an entity for each text; it has no use for vectors."""
    with server([NEEDS], {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}) as memory:
        entities = [
            {"name": str(number), "entityType": "memory", "observations": [text]} for number, text in enumerate(texts)
        ]
        memory.call("create_entities", entities=entities)

        def search(text: str, limit: int) -> list[int]:
            return [int(entity["name"]) for entity in memory.call("search_nodes", query=text)["entities"][:limit]]

        yield search


@contextmanager
def calls(folder: Path, notes: "Notes") -> "Iterator[dict[str, Call]]":
    """Yield the calls of a server; it has no vectors, and of what is around a note it knows the next alone."""
    with server([NEEDS], {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}) as memory:

        def add(name: str, text: str) -> None:
            entity = {"name": name, "entityType": "memory", "observations": [text]}
            memory.call("create_entities", entities=[entity])

        def link(*pairs: tuple[int, int]) -> None:
            edges = [{"from": f"f{a}", "relationType": "causes", "to": f"f{b}"} for a, b in pairs]
            memory.call("create_relations", relations=edges)

        entities = [
            {"name": f"f{number}", "entityType": "memory", "observations": [text]}
            for number, text in enumerate(notes.texts)
        ]
        memory.call("create_entities", entities=entities)
        link(*notes.edges)
        yield {
            "add": lambda n: add(f"n{n}", notes.new[n]),
            "link": lambda n: link(notes.new_edges[n]),
            "query": lambda n: memory.call("search_nodes", query=notes.texts[n].split()[0]),
        }
