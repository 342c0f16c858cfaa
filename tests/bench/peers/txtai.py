"""txtai, hybrid: its BM25 and the given vectors, fused as it does by default."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.peers import Encode, Search

if TYPE_CHECKING:
    from tests.bench.calls import Call, Notes

NEEDS = "txtai"
INSTALL = "pip install 'txtai>=9.14'"
SQL = "SELECT id, score FROM txtai WHERE similar(:text)"


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """Yield the search of an index of txtai, in memory."""
    with filled(texts, encode) as index:

        def search(text: str, limit: int) -> list[int]:
            return [int(row["id"]) for row in index.search(SQL, limit, parameters={"text": text})]

        yield search


@contextmanager
def calls(folder: Path, notes: "Notes") -> "Iterator[dict[str, Call]]":
    """Yield the calls of an index of txtai; it is in memory alone, and has no relations."""
    with filled(notes.texts, notes.encode) as index:
        yield {
            "add": lambda n: index.upsert([(f"n{n}", notes.new[n], None)]),
            "query": lambda n: index.search(SQL, 10, parameters={"text": notes.texts[n]}),
        }


@contextmanager
def filled(texts: Sequence[str], encode: Encode) -> Iterator[Any]:
    """Yield an index of txtai with texts in it."""
    from txtai import Embeddings

    def encode_all(given: Sequence[str]) -> list[list[float]]:
        return [encode(text).tolist() for text in given]

    with closing(Embeddings(method="external", transform=encode_all, hybrid=True, content=True)) as index:
        index.index((number, text or " ", None) for number, text in enumerate(texts))
        yield index
