"""The models that the clients of one process share; each is loaded once, whichever thread asks first."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.kernel.settings.config import Embedding

if TYPE_CHECKING:
    from graphmem.kernel.embed.model import FoundModel
    from graphmem.kernel.embed.reranker import Reranker


class Models:
    """Loads the models that settings name, each once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.embedders: dict[tuple[str, str, int], FoundModel] = {}
        self.rerankers: dict[str, tuple[Reranker | None, Sequence[str]]] = {}

    def embedder(self, setting: Embedding, cache_folder: Path) -> "FoundModel":
        """Return the embedder that the settings name, with what to report about it."""
        from graphmem.kernel.embed.model import find_model  # noqa: PLC0415 - 15 ms that only a search by meaning pays

        name, endpoint, dimensions = key = (setting.model, setting.endpoint, setting.dimensions)
        with self.lock:
            if key not in self.embedders:
                self.embedders[key] = find_model(
                    name, cache_folder=cache_folder, endpoint=endpoint, dimensions=dimensions
                )
            return self.embedders[key]

    def reranker(self, name: str) -> "tuple[Reranker | None, Sequence[str]]":
        """Return the reranker that a setting names, with what to report about it."""
        from graphmem.kernel.embed.reranker import find_reranker  # noqa: PLC0415 - numpy, then torch

        with self.lock:
            if name not in self.rerankers:
                self.rerankers[name] = find_reranker(name)
            return self.rerankers[name]
