"""The models that the clients of one process share; each is loaded once, whichever thread asks first."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.embed.model import FoundModel
    from graphmem.embed.reranker import Reranker


class Models:
    """Loads the models that settings name, each once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.embedders: dict[str, FoundModel] = {}
        self.rerankers: dict[str, tuple[Reranker | None, Sequence[str]]] = {}

    def embedder(self, name: str, cache_folder: Path) -> "FoundModel":
        """Return the embedder that a setting names, with what to report about it."""
        from graphmem.embed.model import find_model  # noqa: PLC0415 - 15 ms that only a search by meaning pays

        with self.lock:
            if name not in self.embedders:
                self.embedders[name] = find_model(name, cache_folder=cache_folder)
            return self.embedders[name]

    def reranker(self, name: str) -> "tuple[Reranker | None, Sequence[str]]":
        """Return the reranker that a setting names, with what to report about it."""
        from graphmem.embed.reranker import find_reranker  # noqa: PLC0415 - numpy, then torch

        with self.lock:
            if name not in self.rerankers:
                self.rerankers[name] = find_reranker(name)
            return self.rerankers[name]
