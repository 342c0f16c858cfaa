"""mem0 without a language model: texts as they are (``infer=False``), its local vector store, its ranking."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.peers import Encode, Search

NEEDS = "mem0"
INSTALL = "pip install 'mem0ai>=2.2'"
OWNER = {"user_id": "benchmark"}
SILENT = {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}  # a client is made, and never asked


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """Yield the search of a store of mem0."""
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

        def search(text: str, limit: int) -> list[int]:
            found = memory.search(text, filters=OWNER, top_k=limit, threshold=0.0)["results"]
            return [row["metadata"]["place"] for row in found]

        yield search
