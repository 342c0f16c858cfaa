"""txtai, hybrid: its BM25 and the given vectors, fused as it does by default."""

from collections.abc import Sequence
from pathlib import Path

from graphmem.benchmark.peers import Encode

NEEDS = "txtai"


class Peer:
    """An index of txtai, in memory."""

    def __init__(self, folder: Path, texts: Sequence[str], encode: Encode) -> None:
        from txtai import Embeddings  # noqa: PLC0415 - with torch

        def encode_all(given: Sequence[str]) -> list[list[float]]:
            return [encode(text).tolist() for text in given]

        self.index = Embeddings(method="external", transform=encode_all, hybrid=True, content=True)
        self.index.index((number, text or " ", None) for number, text in enumerate(texts))

    def search(self, text: str, limit: int) -> list[int]:
        """Return the places of the texts that it finds, best first."""
        return [int(row["id"]) for row in self.index.search(SQL, limit, parameters={"text": text})]


SQL = "SELECT id, score FROM txtai WHERE similar(:text)"
