"""Any other model, through sentence-transformers: slow to start (6 s CPU), but it knows every architecture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.constants import EMBEDDING_BATCH
from graphmem.errors import Unavailable
from graphmem.kernel.embed.encoder import Matrix, Vector

_CHUNK = 16 * EMBEDDING_BATCH  # texts that sentence-transformers holds at a time, and sorts by length


class TransformerEncoder:
    """
    A model in a local folder, run by sentence-transformers; code that comes with a model is never run.

    Args:
        folder: a model folder.
        name: what the model is called outside.
        fingerprint: the identity of the model, see ``graphmem.kernel.embed.model.fingerprint``.

    Raises:
        Unavailable: sentence-transformers is not installed or cannot load the folder.
    """

    def __init__(self, folder: Path, *, name: str, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._model = load("SentenceTransformer", folder)
        self.dimensions: int = self._model.get_embedding_dimension()

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """
        Return a vector for each text, in the order of ``texts``, with the model's prompt for documents.

        Args:
            texts: may be empty, and so may each text.

        Returns:
            float32, shape ``(len(texts), dimensions)``, unit rows, also of a model that does not normalise.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _CHUNK):
            chunk = list(texts[start : start + _CHUNK])
            vectors[start : start + len(chunk)] = self._model.encode_document(
                chunk, batch_size=EMBEDDING_BATCH, show_progress_bar=False, normalize_embeddings=True
            )
        return vectors

    def encode_query(self, text: str) -> Vector:
        """Return the vector of one text, with the model's prompt for queries: float32, unit length."""
        return np.asarray(
            self._model.encode_query(text, show_progress_bar=False, normalize_embeddings=True), dtype=np.float32
        )


def load(kind: str, folder: Path) -> Any:
    """
    Return the model in a folder, as the class of sentence-transformers with this name; its code is never run.

    Raises:
        Unavailable: sentence-transformers is not installed or cannot load the folder.
    """
    try:
        import sentence_transformers  # noqa: PLC0415 - with torch, 6 s CPU
        from safetensors import SafetensorError  # noqa: PLC0415
        from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415
    except ImportError as error:
        raise Unavailable(
            f"sentence-transformers cannot be imported ({error}): pip install 'graphmem[models]'"
        ) from error
    disable_progress_bar()  # loading takes a moment only, and standard error is the user's
    try:
        return getattr(sentence_transformers, kind)(str(folder), local_files_only=True, trust_remote_code=False)
    except (
        AttributeError,
        ImportError,
        KeyError,
        OSError,
        RuntimeError,
        SafetensorError,
        TypeError,
        ValueError,
    ) as error:
        raise Unavailable(f"sentence-transformers cannot load {str(folder)!r}: {error}") from error
