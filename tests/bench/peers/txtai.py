"""txtai, hybrid: its BM25 and the given vectors, fused as it does by default."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from tests.bench.peers import Encode, Search

NEEDS = "txtai"
INSTALL = "pip install 'txtai>=9.14'"
SQL = "SELECT id, score FROM txtai WHERE similar(:text)"


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """Yield the search of an index of txtai, in memory."""
    from txtai import Embeddings

    def encode_all(given: Sequence[str]) -> list[list[float]]:
        return [encode(text).tolist() for text in given]

    with closing(Embeddings(method="external", transform=encode_all, hybrid=True, content=True)) as index:
        index.index((number, text or " ", None) for number, text in enumerate(texts))

        def search(text: str, limit: int) -> list[int]:
            return [int(row["id"]) for row in index.search(SQL, limit, parameters={"text": text})]

        yield search
