"""A reranker: a cross-encoder, which reads query and text together and says how well they fit, for few texts."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from graphmem.constants import EMBEDDING_BATCH
from graphmem.errors import Unavailable
from graphmem.kernel.embed.model import places
from graphmem.kernel.embed.transformer import load


class Reranker(Protocol):
    """A model that says how well texts fit a query."""

    name: str  # as the user says it

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, of any size: the higher, the better it fits; ``Unavailable`` if it cannot."""


class CrossEncoder:
    """
    A cross-encoder in a local folder, run by sentence-transformers.

    Args:
        folder: a model folder.
        name: what the model is called outside.

    Raises:
        Unavailable: the model cannot be loaded, or gives no single score.
    """

    def __init__(self, folder: Path, *, name: str) -> None:
        self.name = name
        if not _is_classifier(folder):
            raise Unavailable(f"{str(folder)!r} is not a reranker")
        self._model = load("CrossEncoder", folder)
        if self._model.num_labels != 1:
            raise Unavailable(f"{str(folder)!r} gives {self._model.num_labels} scores a text, not one")

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text; the part of a text that the model cannot hold is left out."""
        pairs = [(query, text) for text in texts]
        try:
            found = self._model.predict(pairs, batch_size=EMBEDDING_BATCH, show_progress_bar=False).tolist()
        except (IndexError, RuntimeError, ValueError) as error:
            raise Unavailable(f"the reranker {self.name!r} fails: {error}") from error
        if not all(map(math.isfinite, found)):
            raise Unavailable(f"the reranker {self.name!r} is damaged: its scores are not numbers")
        return [float(score) for score in found]


def _is_classifier(folder: Path) -> bool:
    """Return whether a model scores pairs: one that only embeds would be given a last layer of random weights."""
    try:
        found = json.loads((folder / "config.json").read_bytes()).get("architectures") or ()
    except (OSError, ValueError, AttributeError):
        return False
    return any(str(name).endswith("ForSequenceClassification") for name in found)


def find_reranker(name: str) -> tuple[Reranker | None, tuple[str, ...]]:
    """
    Return the reranker called ``name``, if it is of use, and what to report to the user once.

    Args:
        name: a folder, or a name of the hub; without a slash it is of "cross-encoder".
    """
    if "/" not in name and not Path(name).is_dir():
        name = f"cross-encoder/{name}"
    warnings: list[str] = []
    for folder in places(name, warnings):
        try:
            return CrossEncoder(folder, name=name), tuple(warnings)
        except Unavailable as error:
            warnings.append(error.message)
    return None, (*warnings, f"no usable reranker {name!r}: nothing is reranked")
