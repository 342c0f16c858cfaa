"""The reference memory server of MCP, a program of npm: it finds what holds the whole query, in no order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.mcp import server
from tests.bench.peers import Encode, Search

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
