"""mem0 without a language model: texts as they are (``infer=False``), its local vector store, its ranking."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.peers import Encode, Search

if TYPE_CHECKING:
    from tests.bench.calls import Call, Notes

NEEDS = "mem0"
INSTALL = "pip install 'mem0ai>=2.2'"
OWNER = {"user_id": "benchmark"}
SILENT = {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}  # a client is made, and never asked


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """Yield the search of a store of mem0."""
    with filled(folder, texts, encode) as memory:

        def search(text: str, limit: int) -> list[int]:
            found = memory.search(text, filters=OWNER, top_k=limit, threshold=0.0)["results"]
            return [row["metadata"]["place"] for row in found]

        yield search


@contextmanager
def calls(folder: Path, notes: "Notes") -> "Iterator[dict[str, Call]]":
    """Yield the calls of a store of mem0; it has no relations."""
    with filled(folder, notes.texts, notes.encode) as memory:
        yield {
            "add": lambda n: memory.add(notes.new[n], **OWNER, metadata={"place": n}, infer=False),
            "query": lambda n: memory.search(notes.texts[n], filters=OWNER, top_k=10, threshold=0.0),
        }


@contextmanager
def filled(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Any]:
    """Yield a store of mem0 with texts in it."""
    os.environ.update(SILENT, MEM0_DIR=str(folder))
    from mem0 import Memory
    from mem0.embeddings.mock import MockEmbeddings

    class Given(MockEmbeddings):  # type: ignore[misc]
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            vector: list[float] = encode(text).tolist()
            return vector

    place = {"path": str(folder / "qdrant"), "embedding_model_dims": len(encode("")), "on_disk": True}
    store = {"provider": "qdrant", "config": place}
    with Memory.from_config({"vector_store": store, "history_db_path": str(folder / "history.db")}) as memory:
        memory.embedding_model = Given()
        for number, text in enumerate(texts):
            memory.add(text, **OWNER, metadata={"place": number}, infer=False)
        yield memory
